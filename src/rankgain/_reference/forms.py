"""The specification: the documents of the queries of a chunk, in each form in which a Source has them.

Invalid documents are refused here, at the first position: see `Refused`.
"""

from rankgain._codes import CHANGED, DUPLICATE, NAN_SCORE, OTHER_IDS
from rankgain._reference.columns import rows_of_ids
from rankgain._reference.numbers import Refused, check_grade, list_of
from rankgain._reference.ranking import Documents
from rankgain.scalars import id_kind, read_scores


def read_lists(queries, lowest, grades, offsets, columns, scores, judged, judged_offsets, judged_columns):
    """Grades in rank order or beside scores. A query's judged grades are its own grades unless they are given."""
    for query in queries:
        query_grades = list_of(grades, offsets, columns, query)
        query_scores = None if scores is None else list_of(scores, offsets, columns, query)
        for position, grade in enumerate(query_grades):
            if query_scores is not None and query_scores[position] != query_scores[position]:
                raise Refused(NAN_SCORE, position)
            check_grade(grade, position)
        judged_grades = query_grades
        if judged is not None:
            judged_grades = list_of(judged, judged_offsets, judged_columns, query)
            for position, grade in enumerate(judged_grades):
                try:
                    check_grade(grade, position)
                except Refused as refused:
                    raise refused.in_judged() from None
        yield Documents(None, query_scores, query_grades, judged_grades)


def read_dicts(queries, lowest, judged, numbers, runs):
    """Dicts of scores by document against judged documents and their grades.

    The sizes of the dicts are taken before any is read. A dict that changes meanwhile, since reading a number or an id
    may run the caller's code, is refused.
    """
    sizes = [len(runs[query]) for query in queries]
    for query, size in zip(queries, sizes, strict=True):
        run = runs[query]
        if len(run) != size:
            raise Refused(CHANGED, -1)
        scores = read_scores(run, size)
        if type(scores) is tuple:
            raise Refused(*scores)
        documents, judged_grades = judged.of_query(query if numbers is None else numbers[query])
        grades = dict.fromkeys(scores)
        for document, grade in zip(documents, judged_grades, strict=True):
            if grade > lowest and document in grades:
                grades[document] = grade
        if len(run) != size:
            raise Refused(CHANGED, -1)
        types_differ = documents and scores and id_kind(documents[0]) is not id_kind(next(iter(scores)))
        if types_differ and scores.keys().isdisjoint(documents):
            raise Refused(OTHER_IDS, -1)
        yield Documents(list(scores), list(scores.values()), list(grades.values()), _without_pooled(judged_grades))


def read_columns(queries, lowest, *columns):
    """Ids with scores, or in rank order, against judged ids and their grades.

    A judged document that is returned twice is refused; with `check_all`, any document. No judged id occurs twice.
    """
    *judged_ids, judged_first, judged_last, grades = columns[:7]
    *run_ids, run_first, run_last, scores, check_all = columns[7:]
    for query in queries:
        start, stop = int(judged_first[query]), int(judged_last[query])
        judged_grades = grades[start:stop].tolist()
        grade_of = dict(zip(rows_of_ids(*judged_ids, start, stop), judged_grades, strict=True))
        start, stop = int(run_first[query]), int(run_last[query])
        ids = rows_of_ids(*run_ids, start, stop)
        query_scores = None if scores is None else scores[start:stop].tolist()
        seen = set()
        for position, document in enumerate(ids):
            if query_scores is not None and query_scores[position] != query_scores[position]:
                raise Refused(NAN_SCORE, position)
            if document in seen and (check_all or document in grade_of):
                raise Refused(DUPLICATE, position)
            seen.add(document)
        yield Documents(ids, query_scores, [grade_of.get(document) for document in ids], _without_pooled(judged_grades))


def _without_pooled(grades):
    """Without the grades below 0, of documents that were pooled but not judged."""
    return [grade for grade in grades if grade >= 0.0]
