"""Truth: judged documents prepared once, whatever form they came in, for any number of runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Self

import numpy as np

from rankgain import _backend, _codes
from rankgain.data.groups import Groups
from rankgain.data.ids import Column, Ids, Rows, column_of, ids_of, python_ids, rows_of
from rankgain.data.ragged import to_float64
from rankgain.data.source import Source, check_query_ids
from rankgain.errors import Fault, Offence, located, refusal
from rankgain.scalars import Floats, Ints

EARLIER = "the document stands in an earlier place"


_DICT = frozenset((dict,))


class Judgments:
    """Judged documents with their grades, by query; made by `rankgain.judgments`, read once, good for any run.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the results.
    """

    __module__ = "rankgain"
    __slots__ = ("_truth",)

    def __init__(self, truth: Truth) -> None:
        self._truth = truth

    @property
    def query_ids(self) -> Sequence[Any]:
        """The queries, in the order of the results.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.judgments({"q1": {"d1": 2}}).query_ids
        ['q1']
        """
        return self._truth.query_ids

    def __getstate__(self) -> dict[str, Any]:
        truth = self._truth.check()
        state = {"name": truth.name, "query_ids": truth.query_ids, "offsets": truth.offsets, "grades": truth.grades}
        return state | {"documents": truth.documents}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fields = {name: state[name] for name in ("offsets", "grades", "documents", "ids") if name in state}
        self._truth = Truth(state["name"], state["query_ids"]).with_columns(**fields)

    def __len__(self) -> int:
        return len(self._truth)

    def __repr__(self) -> str:
        return f"<Judgments of {len(self)} queries, {len(self._truth.documents)} documents>"


def truth_of(judgments: Judgments) -> Truth:
    """What Judgments hold."""
    return judgments._truth


class Truth:
    """Judged documents: where those of each query start, a grade one, and `documents` as Python holds them or `ids`.

    `fault` is what was found wrong while they were read.
    """

    fault: Fault = None
    detail: object = ""  # of the fault
    _judged: Any = None

    def __init__(self, name: str, query_ids: Sequence[Any]) -> None:
        """With one of the methods below."""
        self.name = name
        self.query_ids = query_ids

    def with_dicts(self, judged: Any) -> Truth:
        """What was read of dicts."""
        self._judged = judged
        self.fault = judged.fault
        return self

    def with_columns(
        self, offsets: Ints, grades: Floats, *, ids: Ids | None = None, documents: list[Any] | None = None
    ) -> Truth:
        """Where the documents of each query start, their grades, and what they are."""
        self.offsets = offsets
        self.grades = grades
        if documents is not None:
            self.documents = documents
        if ids is not None:
            self.ids = ids
            self.fault = self._look_through(ids)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What a backend made of dicts is of that alone."""
        state = {name: value for name, value in vars(self).items() if name != "_judged"}
        if self._judged is not None:
            state |= {"offsets": self.offsets, "grades": self.grades, "documents": self.documents}
        return state

    @property
    def judged(self) -> Any:
        """What dicts are read against, by the backend that is in use."""
        kind, held = _backend.dicts.Judged, self._judged
        if type(held) is not kind:
            held = self._judged = kind.of(self.documents, self.offsets, self.grades)
        return held

    @cached_property
    def offsets(self) -> Ints:
        """Where the documents of each query start; one more for the end."""
        return np.frombuffer(self._judged.arrays()[0], dtype=np.int64)

    @cached_property
    def grades(self) -> Floats:
        """One per document; below 0: pooled but unjudged."""
        return np.frombuffer(self._judged.arrays()[1], dtype=np.float64)

    def _look_through(self, ids: Ids) -> Fault:
        """What is wrong with grades that nothing has looked at, or with ids that no dict has kept apart."""
        found: list[Fault] = []
        lowest, highest = self.grades.min(initial=0.0), self.grades.max(initial=0.0)  # NaN where one is
        if not (np.isfinite(lowest) and np.isfinite(highest)):
            row = int(np.argmin(np.isfinite(self.grades)))
            query = int(np.searchsorted(self.offsets, row, side="right")) - 1
            code = _codes.NAN_GRADE if np.isnan(self.grades[row]) else _codes.INFINITE_GRADE
            found.append((code, query, row - int(self.offsets[query])))
        found.append(_backend.columns.repeated(*ids.take(slice(None)).buffers(), self.offsets))
        return min(filter(None, found), key=lambda fault: fault[1:], default=None)

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def documents(self) -> list[Any]:
        """The documents as Python holds them."""
        if "ids" not in vars(self):
            return self._judged.documents  # type: ignore[no-any-return]
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

    def check(self) -> Self:
        """Itself, if nothing is wrong with it."""
        if self.fault is not None:
            code, query, position = self.fault
            raise self.refusal(f"query {self.query_ids[query]!r}", query, Offence(code, 0, position))
        return self

    def refusal(self, query_name: str, query: int, offence: Offence) -> Exception:
        """What is wrong with a query of it, in words."""
        where, detail = f"{self.name}: {query_name}", offence.detail or self.detail
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
) -> Truth:
    """The judgments in dicts of grades by document; what stands under other queries than `only` is not looked at."""
    truths: list[Any] = list(truth)
    if only is not None:
        truths = [own if query in only else {} for query, own in zip(queries, truths, strict=True)]
    if not _DICT.issuperset(map(type, truths)):
        truths = [own if type(own) is dict else dict(own) for own in truths]
    held = Truth(name, queries).with_dicts(_backend.dicts.Judged(truths))
    if held.fault is not None and held.fault[2] >= 0:
        document, value = next(islice(truths[held.fault[1]].items(), held.fault[2], None))
        held.detail = what_it_is(value)
        held.documents.append(document)
    return held


def what_it_is(value: Any) -> str:
    """What stands where a number should, in words."""
    return "an int beyond float64" if type(value) is int else type(value).__name__


def of_ids(name: str, groups: Groups, documents: Ids, grades: Column) -> Truth:
    """The judgments in columns, a row each."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    ids = column_of(documents.take(rows), documents.kind)
    return Truth(name, groups.names).with_columns(offsets, to_float64(grades[rows]), ids=ids)


def as_dict(documents: Mapping[Any, float]) -> dict[Any, float]:
    return documents if type(documents) is dict else dict(documents)


class JudgedSource(Source):
    """A run, in whatever form, against judged documents."""

    has_ids = True
    part = False  # of larger data: then to have no query in common is no error

    def __init__(
        self,
        truth: Truth,
        run_name: str,
        run_queries: Collection[Any],
        common: Sequence[int] | Ints | None,
        missing: str,
        query_ids: Iterable[Hashable] | None,
    ) -> None:
        """`common`: the numbers of the truth's queries that the run has; None: all."""
        queries = len(truth.query_ids)
        found = queries if common is None else len(common)
        if not found and not self.part:
            names = truth.name, run_name
            differ = types(truth.query_ids, run_queries, names)
            raise ValueError(f"{names[0]} and {names[1]} have no query in common{differ and ': ' + differ}")
        self._truth = truth
        self._run_name = run_name
        self._common = common
        self.missing = missing
        self.left_out = queries - found, len(run_queries) - found
        # which query of the truth each one is; None: the same
        self._numbers = None if missing == "zero" or found == queries else np.asarray(common, dtype=np.int64)
        own = truth.query_ids
        own = own[:] if self._numbers is None else [own[number] for number in self._numbers.tolist()]
        self._named = query_ids is not None
        if query_ids is not None:
            own = check_query_ids(query_ids, len(own))
        elif type(own) is not range and not _PLAIN_NAMES.issuperset(map(type, own)):  # the truth has each but once
            own = check_query_ids(own, len(own))
        self.query_ids = own
        if truth.fault is not None:
            self.broken = self._broken(truth.fault)

    def _place(self, number: int) -> int | None:
        """Where a query of the truth stands among those that are evaluated."""
        if self._numbers is None:
            return number
        place = int(np.searchsorted(self._numbers, number))
        return place if place < len(self._numbers) and self._numbers[place] == number else None

    def _number(self, query: int) -> int:
        """Which query of the truth one is."""
        return query if self._numbers is None else int(self._numbers[query])

    def _numbers_of(self, start: int, stop: int) -> Ints:
        return np.arange(start, stop) if self._numbers is None else self._numbers[start:stop]

    def _names_under(self, missing: str) -> list[Any] | None:
        """The caller's names under another rule for queries that the run lacks; None: those of the truth."""
        if not self._named:
            return None
        if missing == "zero" and self.left_out[0]:
            raise ValueError("missing='zero': query_ids named only the queries that the run has")
        kept = range(len(self.query_ids)) if missing == "zero" or self._common is None else self._common
        return [self.query_ids[int(number)] for number in kept]

    @property
    def judged_sizes(self) -> Ints:
        sizes = np.diff(self._truth.offsets)
        return sizes if self._numbers is None else sizes[self._numbers]

    @property
    def loads(self) -> Ints:
        return self.sizes + self.judged_sizes

    @property
    def load(self) -> int:
        return int(self.loads.sum())

    @property
    def longest(self) -> int:
        return max(int(self.sizes.max(initial=0)), int(self.judged_sizes.max(initial=0)))

    def room(self, start: int, stop: int) -> tuple[int, int]:
        judged = int(self.judged_sizes[start:stop].sum())
        return judged, judged

    def judged(self, start: int, stop: int) -> tuple[Rows, Ints, Floats]:
        """The rows of what is judged of the queries start … stop − 1, their offsets, and the grades."""
        rows, offsets = self._truth.rows(self._numbers_of(start, stop))
        return rows, offsets, self._truth.grades[rows]

    def _broken(self, fault: tuple[int, ...]) -> tuple[int, Exception]:
        """The query whose judgements are no good, and what to raise when it is come to."""
        code, number, position = fault
        place = self._place(number)
        if place is None:
            self._truth.check()
        assert place is not None
        offence = Offence(code + _codes.IN_JUDGED, place, position)
        return place, self._truth.refusal(self.query_name(place), number, offence)

    def refusal(self, query: int, offence: Offence) -> Exception:
        if offence.code in _IN_RUN and offence.gain is None:
            return self.run_refusal(query, offence)
        return self._truth.refusal(self.query_name(query), self._number(query), offence)

    @abstractmethod
    def run_refusal(self, query: int, offence: Offence) -> Exception:
        """What is wrong with the run, in words."""


_PLAIN_NAMES = frozenset((str, bytes, int))


def common_queries(queries: Sequence[Any], run_queries: Collection[Any]) -> Ints:
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
