"""A run as a dict of dicts, as the engine walks over it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rankgain._codes import DICTS, OTHER_IDS
from rankgain.data.judgments import JudgedSource, Truth, as_dict, of_dicts, types, what_it_is
from rankgain.data.source import Chunk
from rankgain.errors import InputError, refusal
from rankgain.scalars import Ints

Run = Mapping[Any, Mapping[Any, float]]

_DICT, _NONE = frozenset((dict,)), type(None)


def mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of mappings, not {type(value).__name__}")
    if _DICT.issuperset(map(type, value.values())):
        return value
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            kind = type(documents).__name__
            raise TypeError(f"{name}: query {query!r}: must be a mapping by document, not {kind}")
    return value


class DictSource(JudgedSource):
    """A run of dicts."""

    most = 1 << 17  # some milliseconds, in which nothing else of Python runs and Ctrl-C is not heard

    def __init__(
        self,
        truth: Truth,
        run: Run,
        missing: str,
        query_ids: Iterable[Hashable] | None = None,
        unread: Mapping[Any, Mapping[Any, float]] | None = None,
        name: str = "run",
    ) -> None:
        """`unread`: the qrels of which the truth holds but the queries that the run has."""
        found: list[Any] = list(map(run.get, truth.query_ids))
        common: Sequence[int] | None = None
        if _NONE in map(type, found):
            common = [number for number, own in enumerate(found) if own is not None]
        super().__init__(truth, name, run, common, missing, query_ids)
        self._run = run
        self._unread = unread
        if common is not None:
            found = [own or {} for own in found if missing == "zero" or own is not None]
        self._runs = found

    def under_missing(self, missing: str) -> DictSource:
        truth, unread = self._truth, self._unread if missing == "skip" else None
        if missing == "zero" and self._unread is not None:  # what was skipped counts now
            truth = of_dicts(list(self._unread), self._unread.values(), truth.name)
        return DictSource(truth, self._run, missing, self._names_under(missing), unread, self._run_name)

    @property
    def sizes(self) -> Ints:
        return np.fromiter(map(len, self._runs), np.int64, len(self._runs))

    @property
    def longest(self) -> int:
        if len(self._runs) == 1:
            return max(len(self._runs[0]), int(self._truth.judged.total))
        return super().longest

    @property
    def load(self) -> int:
        return sum(map(len, self._runs)) + int(self._truth.judged.total)

    def chunk(self, start: int, stop: int) -> Chunk:
        return DICTS, start, stop, self._truth.judged, None if self._numbers is None else self._common, self._runs

    def run_refusal(self, query: int, error: InputError) -> Exception:
        run = as_dict(self._runs[query])
        where, detail = f"{self._run_name}: {self.query_name(query)}", error.detail
        if error.code == OTHER_IDS:
            first = int(self._truth.offsets[self._number(query)])
            detail = types(self._truth.documents[first : first + 1], run, (self._truth.name, self._run_name))
        elif error.position >= 0:
            document, value = next(islice(run.items(), error.position, None))
            where, detail = f"{where}, document {document!r}", what_it_is(value)
        return refusal(error.code, where, detail)
