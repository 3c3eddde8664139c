"""The specification: dicts and the objects in them to hits and judged grades, in plain Python.

What is wrong with what is read comes back as a fault: (code, query, position in the query's dict).
"""

from ctypes import c_float
from itertools import groupby

from rankgain._codes import (
    CHANGED,
    DOCID,
    GRADE_TYPE,
    INFINITE_GRADE,
    LARGE_ID,
    LONE_SURROGATE,
    MIXED_IDS,
    NAN_GRADE,
    NAN_SCORE,
    OTHER_IDS,
    SCORE_TYPE,
    STABLE,
)
from rankgain._reference import Refused
from rankgain._reference_ordering import count_grades, place
from rankgain.scalars import id_fault, id_kind, real


def _encoded(text):
    """The bytes of which `bytes.decode("utf-8", "surrogateescape")` makes the id again; None where there are none."""
    try:
        return str.encode(text)
    except UnicodeEncodeError:
        pass
    try:
        data = str.encode(text, "utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return data if data.decode("utf-8", "surrogateescape") == text else None


def pack_integers(values, numbers):
    """The ids, all integers, as int64; the offence, or None."""
    for position, value in enumerate(values):
        if id_kind(value) is not int:
            return id_fault(value, position)
        if not -(2**63) <= value < 2**63:
            return LARGE_ID, 0, position
        numbers[position] = value
    return None


def pack_ids(values, text, ends):
    """The ids, all str (`text`) or all bytes, one after the other, and where each ends; with the offence, or None."""
    packed = bytearray()
    for position, value in enumerate(values):
        if not isinstance(value, str if text else bytes):
            return b"", id_fault(value, position)
        data = _encoded(value) if text else value
        if data is None:
            return b"", (LONE_SURROGATE, 0, position)
        packed += data
        ends[position] = len(packed)
    return bytes(packed), None


def highest_first(ids):
    """The ids in descending order (str by code point, bytes by byte, int numerically); None where they have none."""
    kinds = set(map(id_kind, ids))
    return sorted(ids, reverse=True) if len(kinds) == 1 and kinds <= {str, bytes, int} else None


def read_judged(truths, documents, grades, offsets):
    """Read dicts of grades by document, one a query: the documents, their grades, and the offsets of the queries.

    What follows an offence is not read.
    """
    sizes = [len(truth) for truth in truths]
    offsets[:] = 0
    for query, truth in enumerate(truths):
        fault = _read_truth(truth, sizes[query], documents, grades)
        if fault is not None:
            return fault[0], query, fault[1]
        offsets[query + 1 :] = len(documents)
    return None


def _read_truth(truth, size, documents, grades):
    if len(truth) != size or len(documents) + size > len(grades):
        return CHANGED, -1
    before = len(documents)
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
        grades[before + position] = grade
        documents.append(document)
    return None


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


def find_in_dicts(chunk, number, rules, judged_depth, depth, lowest):
    """The length, the hits and the judged grades of a query: a run (a mapping of scores by document) against truth.

    `numbers`: which query of the truth each is, None where that is the same; `sizes`: of the runs, before any was read.
    """
    documents, offsets, grades, numbers, runs, sizes, begin = chunk
    run, size = runs[number], sizes[number - begin]
    run = run if type(run) is dict else dict(run)
    if len(run) != size:
        raise Refused(CHANGED, -1)
    scores = _read_run(run, size)
    if type(scores) is tuple:
        raise Refused(*scores)
    if rules.single:
        scores = {document: c_float(score).value for document, score in scores.items()}
    place_in_truth = number if numbers is None else numbers[number]
    start, stop = offsets[place_in_truth : place_in_truth + 2].tolist()
    known = grades[start:stop].tolist()
    truth = dict(zip(documents[start:stop], known, strict=True))
    apart = truth and scores and truth.keys().isdisjoint(scores)
    if apart and id_kind(documents[start]) is not id_kind(next(iter(scores))):
        raise Refused(OTHER_IDS, -1)

    def is_hit(grade):
        return grade is not None and grade > lowest

    order = _order(scores, truth, rules.ties, depth, is_hit)
    if order is None:
        raise Refused(MIXED_IDS, -1)
    in_order = [scores[document] for document in order], [truth.get(document) for document in order]
    judged = [grade for grade in known if grade >= 0.0]
    hits = place(*in_order, depth, lowest, rules.ties in (STABLE, DOCID))
    return size, hits, count_grades(judged, judged_depth)
