"""Reference implementation of the kernels that process dicts and lists of Python objects.

Errors are returned as (code, query, position in the query's dict).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from math import floor
from typing import Any

from rankgain._codes import ALL_SIGNS, CHANGED, EMPTY_TEXT, LARGE_ID, LONE_SURROGATE, REGULAR_SCORES, SHORT_QUERY
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats, Ints, encoded_id, id_error, id_kind, read_truth


def as_runs(
    users: Sequence[Any], recommended: list[Any], relevant: list[Any], most: int
) -> tuple[dict[Any, dict[Any, float]], JudgmentDicts | list[Any], int] | None:
    """Convert lists of recommended ids to one run per user, in which the first id has the highest score. Also convert
    the relevant ids to judgments, unless they are dicts. The last value is SHORT_QUERY if a text may hold several ids,
    otherwise 0.

    Return None if the other checks are needed, or columns, which report errors. This is the case if there are more than
    `most` ids, if a list repeats an id or ends with padding, if ids are empty or have mixed or unsupported types, or if
    `relevant` contains neither dicts nor collections of ids.
    """
    kinds = {*map(type, relevant)}
    if not {*map(type, recommended)} <= {list, tuple}:
        return None
    if not (kinds == {dict} or kinds <= {set, frozenset, list, tuple}):
        return None
    ids = [*_ids_of([*recommended, *relevant])]
    if len(ids) > most or {*map(type, ids)} not in ({str}, {bytes}, {int}) or not any(recommended):
        return None
    for identifier in ids:
        if type(identifier) is int and not -(2**63) <= identifier < 2**63:
            return None
        if not identifier and type(identifier) is not int:
            return None
        if type(identifier) is str and not _is_utf8(identifier):
            return None
    runs = [{identifier: -float(position) for position, identifier in enumerate(row)} for row in recommended]
    truths = relevant if kinds == {dict} else [dict.fromkeys(row, 1.0) for row in relevant]
    sizes = [*map(len, runs), *map(len, truths)]
    if sizes != [*map(len, recommended), *map(len, relevant)]:
        return None
    if any(row[-1] == -1 for row in [*recommended, *relevant] if row and type(row) in (list, tuple)):
        return None
    signs = SHORT_QUERY if min(sizes) < 2 and type(ids[0]) is str else 0
    return dict(zip(users, runs, strict=True)), truths if kinds == {dict} else JudgmentDicts(truths), signs


def _ids_of(rows):
    """Yield the ids of all rows. The ids are incomplete if another thread changes a set meanwhile."""
    with suppress(RuntimeError):
        yield from chain.from_iterable(rows)


def _is_utf8(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def pack_integers(rows: list[Collection[Any]], numbers: Ints) -> ErrorCode:
    """Write the integer ids of all rows to `numbers`, and return the first error. The error is CHANGED if the number of
    ids differs from the length of `numbers`."""
    position = -1
    for position, value in enumerate(_ids_of(rows)):
        if position == len(numbers):
            return CHANGED, 0, position
        if id_kind(value) is not int:
            return id_error(value, position)
        if not -(2**63) <= value < 2**63:
            return LARGE_ID, 0, position
        numbers[position] = value
    return None if position + 1 == len(numbers) else (CHANGED, 0, position + 1)


def pack_ids(rows: list[Collection[Any]], text: bool, ends: Ints) -> tuple[bytes, ErrorCode]:
    """Return the concatenated ids of all rows and the first error, if any. The end of each id is written to `ends`.

    All ids must be str if `text` is set, otherwise bytes. The error is CHANGED if the number of ids differs from the
    length of `ends`.
    """
    packed, position = bytearray(), -1
    for position, value in enumerate(_ids_of(rows)):
        if position == len(ends):
            return b"", (CHANGED, 0, position)
        if not isinstance(value, str if text else bytes):
            return b"", id_error(value, position)
        data = encoded_id(value) if text else value
        if data is None:
            return b"", (LONE_SURROGATE, 0, position)
        packed += data
        ends[position] = len(packed)
    return (bytes(packed), None) if position + 1 == len(ends) else (b"", (CHANGED, 0, position + 1))


def signs_of(queries: dict[Any, Any], names: frozenset[str], fields: tuple[str, ...], /) -> int:
    """Return the signs in a dict of dicts that something may be wrong, as flags.

    `names`: keys of columns, which several queries do not have. `fields`: keys by which the answer of a search engine
    is recognised, which the first query does not have.
    """
    queries = queries.copy()  # another thread may change it
    if not queries or any(type(documents) is not dict for documents in queries.values()):
        return ALL_SIGNS
    first = next(iter(queries.values()))
    if (len(queries) > 1 and not names.isdisjoint(queries)) or any(field in first for field in fields):
        return ALL_SIGNS
    signs = EMPTY_TEXT if "" in queries else 0
    for documents in queries.values():
        signs |= EMPTY_TEXT if "" in documents else 0
        scores = list(islice(documents.copy().values(), 2))
        if len(scores) < 2:
            signs |= SHORT_QUERY | REGULAR_SCORES
        elif {*map(type, scores)} <= {int, float} and (scores[1] == scores[0] or scores[1] == scores[0] + 1):
            signs |= REGULAR_SCORES
    return signs


def runs_of(run: dict[Any, Any], queries: Sequence[Any], /) -> list[dict[Any, float]] | None:
    """Return the dicts of the queries, or None if a query is missing or has no dict."""
    runs = list(map(run.get, queries))
    return runs if {*map(type, runs)} <= {dict} else None


class JudgmentDicts:
    """Judged documents and their grades, read from one mapping per query and stored one query after the other.

    `error_code` is the first error, at which reading stops. `unusual_grades` states whether any grade is negative or a
    fraction, and `has_non_relevant` whether any is 0 or negative.
    """

    documents: list[Any]
    error_code: ErrorCode
    total: int
    unusual_grades: bool
    has_non_relevant: bool

    def __init__(self, mappings: list[Mapping[Any, float]], /) -> None:
        truths = [truth if type(truth) is dict else dict(truth) for truth in mappings]
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
        self.unusual_grades = any(grade < 0.0 or grade != floor(grade) for grade in self._grades)
        self.has_non_relevant = any(grade <= 0.0 for grade in self._grades)

    @staticmethod
    def of(documents: list[Any], offsets: Ints, grades: Floats, /) -> JudgmentDicts:
        """Create an instance from documents, offsets and grades."""
        self = JudgmentDicts([])
        self.documents, self._grades, self._offsets = documents, grades.tolist(), offsets.tolist()
        self.total = len(self._grades)
        return self

    def arrays(self, /) -> tuple[bytes, bytes]:
        """Return the offsets and the grades as two bytes objects."""
        return array("q", self._offsets).tobytes(), array("d", self._grades).tobytes()

    def of_query(self, number):
        """Return the documents of a query and their grades."""
        rows = slice(*self._offsets[number : number + 2])
        return self.documents[rows], self._grades[rows]
