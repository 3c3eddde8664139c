"""The specification: the documents of each query of a chunk, read from the form in which a Source holds them.

What is wrong with them is refused here, at the first position: see `Refused`.
"""

from rankgain._codes import CHANGED, DUPLICATE, IN_JUDGED, NAN_SCORE, OTHER_IDS
from rankgain._reference.columns import rows_of_ids
from rankgain._reference.numbers import Refused, grade_code, list_of
from rankgain._reference.ranking import Documents
from rankgain.scalars import id_kind, read_scores


def read_lists(chunk, query, lowest):
    """A list of grades, in rank order or beside scores. The judged grades are its own unless they are given."""
    grades, offsets, columns, scores, judged, judged_offsets, judged_columns = chunk
    returned = list_of(grades, offsets, columns, query)
    scores = None if scores is None else list_of(scores, offsets, columns, query)
    for position, grade in enumerate(returned):
        if scores is not None and scores[position] != scores[position]:
            raise Refused(NAN_SCORE, position)
        _check_grade(grade, position)
    if judged is None:
        return Documents(None, scores, returned, returned)
    known = list_of(judged, judged_offsets, judged_columns, query)
    for position, grade in enumerate(known):
        _check_grade(grade, position, IN_JUDGED)
    return Documents(None, scores, returned, known)


def _check_grade(grade, position, where=0):
    code = grade_code(grade)
    if code:
        raise Refused(code + where, position)


def read_dicts(chunk, query, lowest):
    """A dict of scores by document against judged documents and their grades.

    The sizes of the dicts were taken before any was read: what changes meanwhile, since a number or an id of the
    caller's may run any code, is refused.
    """
    judged, numbers, runs, sizes, begin = chunk
    run, size = runs[query], sizes[query - begin]
    if len(run) != size:
        raise Refused(CHANGED, -1)
    scores = read_scores(run, size)
    if type(scores) is tuple:
        raise Refused(*scores)
    documents, known = judged.of_query(query if numbers is None else numbers[query])
    grades = dict.fromkeys(scores)
    for document, grade in zip(documents, known, strict=True):
        if grade > lowest and document in grades:
            grades[document] = grade
    if len(run) != size:
        raise Refused(CHANGED, -1)
    apart = documents and scores and id_kind(documents[0]) is not id_kind(next(iter(scores)))
    if apart and scores.keys().isdisjoint(documents):
        raise Refused(OTHER_IDS, -1)
    return Documents(list(scores), list(scores.values()), list(grades.values()), _judged(known))


def read_columns(chunk, query, lowest):
    """Ids with scores, or in rank order, against judged ids and their grades.

    A judged document that is returned twice is refused; `whole`: any document. No judged id occurs twice.
    """
    *judged_ids, judged_first, judged_last, grades = chunk[:7]
    *run_ids, run_first, run_last, scores, whole = chunk[7:]
    start, stop = int(judged_first[query]), int(judged_last[query])
    known = grades[start:stop].tolist()
    grade_of = dict(zip(rows_of_ids(*judged_ids, start, stop), known, strict=True))
    start, stop = int(run_first[query]), int(run_last[query])
    ids = rows_of_ids(*run_ids, start, stop)
    scores = None if scores is None else scores[start:stop].tolist()
    seen = set()
    for position, document in enumerate(ids):
        if scores is not None and scores[position] != scores[position]:
            raise Refused(NAN_SCORE, position)
        if document in seen and (whole or document in grade_of):
            raise Refused(DUPLICATE, position)
        seen.add(document)
    return Documents(ids, scores, [grade_of.get(document) for document in ids], _judged(known))


def _judged(grades):
    return [grade for grade in grades if grade >= 0.0]
