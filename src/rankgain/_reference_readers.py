"""The specification: dicts and the objects in them to hits and judged grades, in plain Python.

What is wrong with what is read comes back as a fault: (code, query, position in the query's dict).
"""

from array import array
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


def encoded(text):
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


def as_runs(recommended, relevant, most):
    """Lists of ids as runs, in which the first has the highest score, and what is relevant as dicts of grades.

    None where there are more ids than `most`, an id that stands twice in a list, ids of several types or of such as
    columns could not hold, and where what is relevant is neither dicts nor sets.
    """
    kinds = {*map(type, relevant)}
    if not {*map(type, recommended)} <= {list, tuple} or not (kinds == {dict} or kinds <= {set, frozenset}):
        return None
    ids = [identifier for row in [*recommended, *relevant] for identifier in row]
    if len(ids) > most or {*map(type, ids)} not in ({str}, {bytes}, {int}) or not any(recommended):
        return None
    for identifier in ids:
        if type(identifier) is int and not -(2**63) <= identifier < 2**63:
            return None
        if type(identifier) is str and not _is_utf8(identifier):
            return None
    runs = [{identifier: -float(place) for place, identifier in enumerate(row)} for row in recommended]
    if list(map(len, runs)) != list(map(len, recommended)):
        return None
    return runs, relevant if kinds == {dict} else [dict.fromkeys(row, 1.0) for row in relevant]


def _is_utf8(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
        data = encoded(value) if text else value
        if data is None:
            return b"", (LONE_SURROGATE, 0, position)
        packed += data
        ends[position] = len(packed)
    return bytes(packed), None


def highest_first(ids):
    """The ids in descending order (str by code point, bytes by byte, int numerically); None where they have none."""
    kinds = set(map(id_kind, ids))
    return sorted(ids, reverse=True) if len(kinds) == 1 and kinds <= {str, bytes, int} else None


class Judged:
    """Documents with their grades, one query after the other, as dicts of grades by document hold them.

    `fault`: what was found wrong with one; what follows it is not read.
    """

    def __init__(self, truths, /):
        self.documents, self.fault, self._grades, self._offsets = [], None, [], [0]
        sizes = [len(truth) for truth in truths]
        for query, truth in enumerate(truths):
            grades = []
            fault = self.fault or read_truth(truth, sizes[query], self.documents, grades)
            if fault is None:
                self._grades += grades
            elif self.fault is None:
                self.fault = fault[0], query, fault[1]
            self._offsets.append(len(self._grades))
        self.total = len(self._grades)

    @staticmethod
    def of(documents, offsets, grades, /):
        """What columns held."""
        self = Judged([])
        self.documents, self._grades, self._offsets = documents, grades.tolist(), offsets.tolist()
        self.total = len(self._grades)
        return self

    def arrays(self, /):
        """Offsets and grades, as bytes."""
        return array("q", self._offsets).tobytes(), array("d", self._grades).tobytes()

    def of_query(self, number):
        """The documents of a query with their grades."""
        own = slice(*self._offsets[number : number + 2])
        return self.documents[own], self._grades[own]


def read_truth(truth, size, documents, grades):
    """Append the documents of a dict and their grades; (code, position) of what is wrong, or None."""
    if len(truth) != size:
        return CHANGED, -1
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
        grades.append(grade)
        documents.append(document)
    return None


def read_scores(run, size):
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
    judged, numbers, runs, sizes, begin = chunk
    run, size = runs[number], sizes[number - begin]
    run = run if type(run) is dict else dict(run)
    if len(run) != size:
        raise Refused(CHANGED, -1)
    scores = read_scores(run, size)
    if type(scores) is tuple:
        raise Refused(*scores)
    if rules.single:
        scores = {document: c_float(score).value for document, score in scores.items()}
    documents, known = judged.of_query(number if numbers is None else numbers[number])
    truth = dict(zip(documents, known, strict=True))
    apart = truth and scores and truth.keys().isdisjoint(scores)
    if apart and id_kind(documents[0]) is not id_kind(next(iter(scores))):
        raise Refused(OTHER_IDS, -1)

    def is_hit(grade):
        return grade is not None and grade > lowest

    order = _order(scores, truth, rules.ties, depth, is_hit)
    if order is None:
        raise Refused(MIXED_IDS, -1)
    in_order = [scores[document] for document in order], [truth.get(document) for document in order]
    hits = place(*in_order, depth, lowest, rules.ties in (STABLE, DOCID))
    return size, hits, count_grades([grade for grade in known if grade >= 0.0], judged_depth)
