"""Reference implementation: read the documents of each query from every form of `Source` except a matrix.

These functions reject NaN scores and invalid grades in lists. In a run in columns, they reject a judged document that
appears twice in a query and, with `check_all`, any document that appears twice. They also reject a run in dicts whose
ids cannot match those of the judgments because the types differ. The error names the first invalid position. Lists of
grades have no ids, and a dict cannot repeat an id. Judgments and TREC files were already checked when they were read:
see `rankgain.data.judgments` and `rankgain.data.lines`.
"""

from rankgain._codes import CHANGED, DUPLICATE, NAN_SCORE, OTHER_IDS
from rankgain._reference.columns import rows_of_ids
from rankgain._reference.numbers import Refused, check_grade, check_grades, list_of
from rankgain._reference.ranking import QueryDocuments
from rankgain.scalars import id_kind, read_scores


def read_lists(queries, grades, offsets, columns, scores, judged, judged_offsets, judged_columns):
    """Read grades that are in rank order or have scores. By default, the judged grades of a query are the grades of its
    list."""
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
            try:
                check_grades(judged_grades)
            except Refused as refused:
                raise refused.in_judged() from None
        yield QueryDocuments(None, query_scores, query_grades, judged_grades)


def read_dicts(queries, judged, numbers, runs):
    """Match runs, given as dicts from document to score, with the judged documents and grades.

    All sizes are recorded before any dict is read. Reading a number or an id may run the caller's code. A dict whose
    size changes meanwhile is rejected.
    """
    sizes = [len(runs[query]) for query in queries]
    for query, size in zip(queries, sizes, strict=True):
        run = runs[query]
        if len(run) != size:
            raise Refused(CHANGED)
        scores = read_scores(run, size)
        if type(scores) is tuple:
            raise Refused(*scores)
        documents, judged_grades = judged.of_query(query if numbers is None else numbers[query])
        grades = dict.fromkeys(scores)
        for document, grade in zip(documents, judged_grades, strict=True):
            if document in grades:
                grades[document] = grade
        if len(run) != size:
            raise Refused(CHANGED)
        types_differ = documents and scores and id_kind(documents[0]) is not id_kind(next(iter(scores)))
        if types_differ and scores.keys().isdisjoint(documents):
            raise Refused(OTHER_IDS)
        yield QueryDocuments(list(scores), list(scores.values()), list(grades.values()), without_pooled(judged_grades))


def read_columns(queries, *columns):
    """Match the ids of returned documents with the ids and grades of judged documents.

    A judged document that is returned twice is rejected. With `check_all`, this also holds for unjudged documents.
    """
    judged, run, check_all = columns[:7], columns[7:14], columns[14]
    for query in queries:
        judged_ids, judged_grades = _rows_of_query(query, *judged)
        grade_of = dict(zip(judged_ids, judged_grades, strict=True))
        ids, scores = _rows_of_query(query, *run)
        seen = set()
        for position, document in enumerate(ids):
            if scores is not None and scores[position] != scores[position]:
                raise Refused(NAN_SCORE, position)
            if document in seen and (check_all or document in grade_of):
                raise Refused(DUPLICATE, position)
            seen.add(document)
        yield QueryDocuments(ids, scores, [grade_of.get(document) for document in ids], without_pooled(judged_grades))


def _rows_of_query(query, width, data, starts, ends, first, last, values):
    """Return the ids in rows first[query] … last[query] − 1, and their grades or scores. Scores are None for documents
    in rank order."""
    rows = slice(int(first[query]), int(last[query]))
    ids = rows_of_ids(width, data, starts, ends, rows.start, rows.stop)
    return ids, None if values is None else values[rows].tolist()


def without_pooled(grades):
    """Return the grades without negative grades, which mark documents that were pooled but not judged."""
    return [grade for grade in grades if grade >= 0.0]
