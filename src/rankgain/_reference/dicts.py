"""The specification: dicts and the objects in them to hits and judged grades, in plain Python.

What is wrong with what is read comes back as an error code: (code, query, position in the query's dict).
"""

from __future__ import annotations

from array import array
from ctypes import c_float
from itertools import groupby
from typing import Any

from rankgain._codes import (
    CHANGED,
    DOCID,
    LARGE_ID,
    LONE_SURROGATE,
    MIXED_IDS,
    OTHER_IDS,
    STABLE,
)
from rankgain._reference.numbers import Refused
from rankgain._reference.ordering import count_grades, place
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats, Ints, encoded, id_error, id_kind, read_scores, read_truth


def as_runs(
    recommended: list[Any], relevant: list[Any], most: int
) -> tuple[list[dict[Any, float]], list[dict[Any, float]]] | None:
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


def pack_integers(values: list[Any], numbers: Ints) -> ErrorCode:
    """The ids, all integers, as int64; the error, or None."""
    for position, value in enumerate(values):
        if id_kind(value) is not int:
            return id_error(value, position)
        if not -(2**63) <= value < 2**63:
            return LARGE_ID, 0, position
        numbers[position] = value
    return None


def pack_ids(values: list[Any], text: bool, ends: Ints) -> tuple[bytes, ErrorCode]:
    """The ids, all str (`text`) or all bytes, one after the other, and where each ends; with the error, or None."""
    packed = bytearray()
    for position, value in enumerate(values):
        if not isinstance(value, str if text else bytes):
            return b"", id_error(value, position)
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


class JudgmentDicts:
    """Documents with their grades, one query after the other, as dicts of grades by document hold them.

    `error_code`: what was found wrong with one; what follows it is not read.
    """

    documents: list[Any]
    error_code: ErrorCode
    total: int

    def __init__(self, truths: list[dict[Any, float]], /) -> None:
        self.documents, self.error_code, self._grades, self._offsets = [], None, [], [0]
        sizes = [len(truth) for truth in truths]
        for query, truth in enumerate(truths):
            grades = []
            error_code = self.error_code or read_truth(truth, sizes[query], self.documents, grades)
            if error_code is None:
                self._grades += grades
            elif self.error_code is None:
                self.error_code = error_code[0], query, error_code[1]
            self._offsets.append(len(self._grades))
        self.total = len(self._grades)

    @staticmethod
    def of(documents: list[Any], offsets: Ints, grades: Floats, /) -> JudgmentDicts:
        """What columns held."""
        self = JudgmentDicts([])
        self.documents, self._grades, self._offsets = documents, grades.tolist(), offsets.tolist()
        self.total = len(self._grades)
        return self

    def arrays(self, /) -> tuple[bytes, bytes]:
        """Offsets and grades, as bytes."""
        return array("q", self._offsets).tobytes(), array("d", self._grades).tobytes()

    def of_query(self, number):
        """The documents of a query with their grades."""
        own = slice(*self._offsets[number : number + 2])
        return self.documents[own], self._grades[own]


def _order(scores, grades, ties, depth):
    """The documents highest score first, ties by the policy; None where ids cannot be compared and must be."""
    ordered = []
    for _, group in groupby(sorted(scores, key=lambda document: -scores[document]), key=scores.get):
        documents = list(group)
        if (
            ties == DOCID
            and len(documents) > 1
            and len(ordered) < depth
            and any(grades[document] is not None for document in documents)
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
    if len(run) != size:
        raise Refused(CHANGED, -1)
    scores = read_scores(run, size)
    if type(scores) is tuple:
        raise Refused(*scores)
    if rules.single:
        scores = {document: c_float(score).value for document, score in scores.items()}
    documents, known = judged.of_query(number if numbers is None else numbers[number])
    found = dict.fromkeys(scores)  # the grades of hits
    for document, grade in zip(documents, known, strict=True):
        if grade > lowest and document in found:
            found[document] = grade
    if len(run) != size:  # comparing ids may run foreign code
        raise Refused(CHANGED, -1)
    apart = documents and scores and id_kind(documents[0]) is not id_kind(next(iter(scores)))
    if apart and scores.keys().isdisjoint(documents):
        raise Refused(OTHER_IDS, -1)
    order = _order(scores, found, rules.ties, depth)
    if order is None:
        raise Refused(MIXED_IDS, -1)
    in_order = [scores[document] for document in order], [found[document] for document in order]
    hits = place(*in_order, depth, lowest, rules.ties in (STABLE, DOCID))
    return size, hits, count_grades([grade for grade in known if grade >= 0.0], judged_depth)
