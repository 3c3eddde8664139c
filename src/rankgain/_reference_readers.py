"""The specification: every kernel over dicts, ids and bytes, in plain Python. The compiled half is `_readers`.

As in `_reference`, what is wrong comes back as an offence: (code, query, position in the query's dict) from dicts,
(code, line, field), both from 0, from files.
"""

from itertools import groupby
from numbers import Integral

from rankgain._codes import (
    CHANGED,
    DOCID,
    DUPLICATE,
    FEW_FIELDS,
    GRADE_TYPE,
    INFINITE_GRADE,
    MIXED_IDS,
    NAN_GRADE,
    NAN_SCORE,
    NOT_A_NUMBER,
    OTHER_IDS,
    SCORE_TYPE,
    STABLE,
)
from rankgain._reference_ordering import place
from rankgain.scalars import real


def id_kind(identifier):
    """What an id can be compared with: one of str, bytes, int, or its own type."""
    for kind, base in ((str, str), (bytes, bytes), (Integral, int)):
        if isinstance(identifier, kind):
            return base
    return type(identifier)


def _comparable(some, others):
    return id_kind(next(iter(some))) is id_kind(next(iter(others)))


def highest_first(ids):
    """The ids in descending order (str by code point, bytes by byte, int numerically); None where they have none."""
    kinds = set(map(id_kind, ids))
    return sorted(ids, reverse=True) if len(kinds) == 1 and kinds <= {str, bytes, int} else None


def _read_truth(truth, size):
    """The grades by document, or (code, position)."""
    grades = {}
    for position, (document, value) in enumerate(list(truth.items())):
        grade = real(value)
        if len(truth) != size:  # reading a number may run foreign code
            return CHANGED, -1
        if grade is None:
            return GRADE_TYPE, position
        if grade != grade:
            return NAN_GRADE, position
        if grade in (float("inf"), float("-inf")):
            return INFINITE_GRADE, position
        grades[document] = grade
    return grades


def _read_run(run, size):
    """The scores by document, or (code, position)."""
    scores = {}
    for position, (document, value) in enumerate(list(run.items())):
        score = real(value)
        if len(run) != size:
            return CHANGED, -1
        if score is None:
            return SCORE_TYPE, position
        if score != score:
            return NAN_SCORE, position
        scores[document] = score
    return scores


def _order(scores, grades, ties, depth, is_hit):
    """The documents highest score first, ties by the policy; None where ids cannot be compared and must be."""
    ordered = []
    for _, group in groupby(sorted(scores, key=lambda document: -scores[document]), key=scores.get):
        documents = list(group)
        if (
            ties == DOCID
            and len(documents) > 1
            and len(ordered) < depth
            and any(is_hit(grades.get(document)) for document in documents)
        ):
            documents = highest_first(documents)
            if documents is None:
                return None
        ordered += documents
    return ordered


def hits_matched(
    truths, runs, depth, zeros, ties, hit_offsets, hit_grade, hit_first, hit_last, grade_offsets, grades_out
):
    """The hits of runs (dicts of scores by document) against truths (dicts of grades), and the judged grades.

    A negative grade is pooled but unjudged: no hit, and not among the judged grades.
    """
    count = judged = 0
    hit_offsets[0] = grade_offsets[0] = 0

    def is_hit(grade):
        return grade is not None and (grade > 0.0 or (zeros and grade == 0.0))

    sizes = [(len(truth), len(run)) for truth, run in zip(truths, runs, strict=True)]
    for query, (truth, run) in enumerate(zip(truths, runs, strict=True)):
        if (len(truth), len(run)) != sizes[query]:
            return CHANGED, query, -1
        grades = _read_truth(truth, sizes[query][0])
        if type(grades) is tuple:
            return grades[0], query, grades[1]
        scores = _read_run(run, sizes[query][1])
        if type(scores) is tuple:
            return scores[0], query, scores[1]
        if grades and scores and grades.keys().isdisjoint(scores) and not _comparable(grades, scores):
            return OTHER_IDS, query, -1
        order = _order(scores, grades, ties, depth, is_hit)
        if order is None:
            return MIXED_IDS, query, -1
        resolved = ties in (STABLE, DOCID)
        ordered_scores = [scores[document] for document in order]
        ordered_grades = [grades.get(document) for document in order]
        for grade, first, last in place(ordered_scores, ordered_grades, depth, zeros, resolved):
            hit_grade[count], hit_first[count], hit_last[count] = grade, first, last
            count += 1
        hit_offsets[query + 1] = count
        for grade in grades.values():
            if grade >= 0.0:
                grades_out[judged] = grade
                judged += 1
        grade_offsets[query + 1] = judged
    return None


def decimal(field):
    """The number as `float()` reads it, but without underscores; else None."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def scan_run(data, table):
    """Fill {query: {document: score}} from lines `query Q0 document rank score tag`."""
    return _scan(data, table, 6, None, 4)


def scan_qrels(data, table):
    """Fill {query: {document: grade}} from lines `query iteration document grade`."""
    return _scan(data, table, 4, 4, 3)


def _scan(data, table, least, most, value_field):
    for number, line in enumerate(data.split(b"\n")):
        fields = line.split()
        if not fields:
            continue
        if len(fields) < least or (most is not None and len(fields) > most):
            return FEW_FIELDS, number, len(fields)
        value = decimal(fields[value_field])
        if value is None:
            return NOT_A_NUMBER, number, value_field
        if value != value:
            return (NAN_SCORE if most is None else NAN_GRADE), number, value_field
        if most is not None and value in (float("inf"), float("-inf")):
            return INFINITE_GRADE, number, value_field
        documents = table.setdefault(fields[0], {})
        if fields[2] in documents:
            return DUPLICATE, number, 2
        documents[fields[2]] = value
    return None
