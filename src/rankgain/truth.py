"""Judgments: truth prepared once, whatever form it came in, for any number of runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from rankgain import _backend, _codes
from rankgain.batch import Batch, Hits, Needs, make_batch
from rankgain.errors import Fault, Offence, check, located, refusal
from rankgain.groups import Groups
from rankgain.ids import Column, Ids, Rows, column_of, ids_of, python_ids, rows_of
from rankgain.lists import Floats, Ints, to_float64
from rankgain.rankings import TIES, Rankings, check_missing, check_query_ids

EARLIER = "the document stands in an earlier place"


class Judgments:
    """Judged documents with their grades, by query; made by `rankgain.judgments`, read once, good for any run.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the results.
    offsets : ndarray of int64
        Where the documents of each query start; one more for the end.
    grades : ndarray of float64
        One a document; below 0: pooled but unjudged.
    pooled : bool
        Whether there are such.
    """

    def __init__(
        self,
        name: str,
        query_ids: Sequence[Any],
        offsets: Ints,
        grades: Floats,
        *,
        documents: list[Any] | None = None,
        ids: Ids | None = None,
        fault: Fault = None,
        detail: object = "",
    ) -> None:
        """`documents` or `ids`: what was judged, one a grade. `fault`: what was found wrong while reading it."""
        self.name = name
        self.query_ids = query_ids
        self.offsets = offsets
        self.grades = grades
        lowest, highest = grades.min(initial=0.0), grades.max(initial=0.0)  # NaN where one is
        self.pooled = bool(lowest < 0.0)
        self.fault = fault or self._look_through(bool(np.isfinite(lowest) and np.isfinite(highest)), ids)
        self._detail = detail
        if documents is not None:
            self.documents = documents
        if ids is not None:
            self.ids = ids

    def _look_through(self, finite: bool, ids: Ids | None) -> Fault:
        """What is wrong with the grades, or with ids that no dict has kept apart."""
        found: list[Fault] = []
        if not finite:
            row = int(np.argmin(np.isfinite(self.grades)))
            query = int(np.searchsorted(self.offsets, row, side="right")) - 1
            code = _codes.NAN_GRADE if np.isnan(self.grades[row]) else _codes.INFINITE_GRADE
            found.append((code, query, row - int(self.offsets[query])))
        if ids is not None:
            found.append(_backend.columns.repeated(*ids.take(slice(None)).buffers(), self.offsets))
        return min(filter(None, found), key=lambda fault: fault[1:], default=None)

    def __len__(self) -> int:
        return len(self.query_ids)

    def __repr__(self) -> str:
        return f"<Judgments of {len(self)} queries, {len(self.grades)} documents>"

    @cached_property
    def documents(self) -> list[Any]:
        """The documents as Python holds them."""
        return python_ids(self.ids.take(slice(None)), self.ids.kind)

    @cached_property
    def ids(self) -> Ids:
        """The documents as a column."""
        try:
            return ids_of(self.documents[: len(self.grades)])  # what is wrong ends the documents, without a grade
        except Offence as offence:
            query = int(np.searchsorted(self.offsets, offence.position, side="right")) - 1
            document = self.documents[offence.position]
            where = f"{self.name}: query {self.query_ids[query]!r}, document {document!r}"
            raise refusal(offence.code, where, offence.detail) from None

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """The rows of queries, one after the other, and their offsets; −1 is a query of no documents."""
        return rows_of(self.offsets[:-1], self.offsets[1:], queries)

    def check(self) -> Judgments:
        """Itself, if nothing is wrong with it."""
        if self.fault is not None:
            code, query, position = self.fault
            raise self.refusal(f"query {self.query_ids[query]!r}", query, Offence(code, 0, position))
        return self

    def refusal(self, query_name: str, query: int, offence: Offence) -> Exception:
        """What is wrong with a query of it, in words."""
        where, detail = f"{self.name}: {query_name}", offence.detail or self._detail
        start, stop = int(self.offsets[query]), int(self.offsets[query + 1])
        judged = np.flatnonzero(self.grades[start:stop] >= 0.0)
        if offence.gain is not None:
            offence = located(offence, self.grades[start:stop][judged])
            where, detail = f"{where}, document {self.documents[start + judged[offence.position]]!r}", offence.detail
        elif offence.position >= 0:
            document = self.documents[start + offence.position]
            where = f"{where}, document {document!r}"
            detail = EARLIER if offence.code & ~_codes.IN_JUDGED == _codes.DUPLICATE else detail
        return refusal(offence.code, where, detail)


def of_dicts(
    queries: Sequence[Any], truth: Iterable[Mapping[Any, float]], name: str, only: Container[Any] | None = None
) -> Judgments:
    """The judgments in dicts of grades by document; what stands under other queries than `only` is not looked at."""
    truths = list(truth)
    if only is not None:
        truths = [own if query in only else {} for query, own in zip(queries, truths, strict=True)]
    truths = [own if type(own) is dict else dict(own) for own in truths]
    documents: list[Any] = []
    grades, offsets = np.empty(sum(map(len, truths))), np.empty(len(truths) + 1, dtype=np.int64)
    fault, detail = _backend.readers.read_judged(truths, documents, grades, offsets), ""
    if fault is not None and fault[2] >= 0:
        document, value = next(islice(truths[fault[1]].items(), fault[2], None))
        detail = "an int beyond float64" if type(value) is int else type(value).__name__
        documents.append(document)
    return Judgments(name, queries, offsets, grades[: offsets[-1]], documents=documents, fault=fault, detail=detail)


def of_ids(name: str, groups: Groups, documents: Ids, grades: Column) -> Judgments:
    """The judgments in columns, a row each."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    ids = column_of(documents.take(rows), documents.kind)
    return Judgments(name, groups.names, offsets, to_float64(grades[rows]), ids=ids)


def as_dict(documents: Mapping[Any, float]) -> dict[Any, float]:
    return documents if type(documents) is dict else dict(documents)


class Judged(Rankings):
    """Rankings of a run, in whatever form, against judgments."""

    has_ids = True

    def __init__(
        self,
        truth: Judgments,
        run_name: str,
        run_queries: Collection[Any],
        *,
        ties: str | None,
        missing: str,
        query_ids: Iterable[Hashable] | None,
        common: list[int] | None = None,
    ) -> None:
        """`common`: the numbers of the truth's queries that the run has, where they are known."""
        found = _common(truth.query_ids, run_queries) if common is None else np.array(common, dtype=np.int64)
        if not len(found):
            names = truth.name, run_name
            differ = types(truth.query_ids, run_queries, names)
            raise ValueError(f"{names[0]} and {names[1]} have no query in common{differ and ': ' + differ}")
        self._truth = truth
        self._run_name = run_name
        self._found = found
        super().__init__((), ties=ties, left_out=(len(truth) - len(found), len(run_queries) - len(found)))
        self.choose(missing, query_ids)

    def choose(self, missing: str, query_ids: Iterable[Hashable] | None) -> None:
        """Which queries are evaluated, by the rule for those that the run lacks, and what they are called."""
        truth, found = self._truth, self._found
        self._queries = np.arange(len(truth)) if missing == "zero" else found
        if truth.fault is not None and truth.fault[1] not in self._queries:
            truth.check()
        own = truth.query_ids[:] if missing == "zero" else [truth.query_ids[number] for number in found.tolist()]
        if query_ids is not None:
            own = check_query_ids(query_ids, len(own))
        elif not isinstance(own, range) and not {*map(type, own)} <= {str, bytes, int}:  # the truth has each but once
            own = check_query_ids(own, len(own))
        self.query_ids, self.missing = own, missing
        self._named = query_ids is not None

    def under(self, *, ties: str | None = None, missing: str | None = None, score_bits: int | None = None) -> Rankings:
        other = super().under(ties=ties, score_bits=score_bits)
        assert isinstance(other, Judged)
        if missing is not None and check_missing(missing) != self.missing:
            names = None
            if self._named and missing == "zero" and len(self._found) < len(self._truth):
                raise ValueError("missing='zero': query_ids named only the queries that the run has")
            if self._named:
                names = [self.query_ids[number] for number in (self._found if missing == "skip" else range(len(self)))]
            other.choose(missing, names)
        return other

    @property
    def sizes(self) -> Ints:
        return self.returned(0, len(self))

    @abstractmethod
    def returned(self, start: int, stop: int) -> Ints:
        """How many documents each of the queries start … stop − 1 returned."""

    @property
    def loads(self) -> Ints:
        return self.sizes + self.judged_sizes

    @property
    def judged_sizes(self) -> Ints:
        return np.diff(self._truth.offsets)[self._queries]

    @abstractmethod
    def hits(
        self, start: int, stop: int, rows: Rows, offsets: Ints, grades: Floats, needs: Needs
    ) -> tuple[Hits, Fault]:
        """The hits of the queries start … stop − 1, given their judged rows and grades, and what is wrong."""

    def batch(self, start: int, stop: int, needs: Needs) -> Batch:
        rows, offsets = self._truth.rows(self._queries[start:stop])
        grades = self._truth.grades[rows]
        hits, fault = self.hits(start, stop, rows, offsets, grades, needs)
        check(self._truth_fault(start, stop), fault)
        if self._truth.pooled:
            judged = grades >= 0.0
            grades, offsets = grades[judged], np.append(0, np.cumsum(judged))[offsets]
        ties = TIES[self.ties or "stable"]
        return make_batch(self.returned(start, stop), hits, None, (grades, offsets), needs, ties)

    def _truth_fault(self, start: int, stop: int) -> Fault:
        if self._truth.fault is None:
            return None
        code, query, position = self._truth.fault
        place = int(np.searchsorted(self._queries, query))
        return (code + _codes.IN_JUDGED, place - start, position) if start <= place < stop else None

    def refusal(self, query: int, offence: Offence) -> Exception:
        if offence.code in _IN_RUN and offence.gain is None:
            return self.run_refusal(query, offence)
        return self._truth.refusal(self.query_name(query), int(self._queries[query]), offence)

    @abstractmethod
    def run_refusal(self, query: int, offence: Offence) -> Exception:
        """What is wrong with the run, in words."""


def _common(queries: Sequence[Any], run_queries: Collection[Any]) -> Ints:
    """Which of the queries are in the run."""
    if isinstance(run_queries, range) and queries == run_queries:
        return np.arange(len(queries))
    return np.flatnonzero(np.fromiter(map(run_queries.__contains__, queries), np.bool_, len(queries)))


_IN_RUN = {
    _codes.NAN_SCORE,
    _codes.SCORE_TYPE,
    _codes.MIXED_IDS,
    _codes.OTHER_IDS,
    _codes.CHANGED,
    _codes.DUPLICATE,
}


def types(truth: Collection[Any], run: Collection[Any], names: tuple[str, str]) -> str:
    """The types of the ids on both sides, where they differ, or which side has none."""
    for side, name in zip((truth, run), names, strict=True):
        if not len(side):
            return f"{name} is empty"
    kinds = [type(next(iter(side))).__name__ for side in (truth, run)]
    return f"{kinds[0]} in {names[0]}, {kinds[1]} in {names[1]}" if len(set(kinds)) == 2 else ""
