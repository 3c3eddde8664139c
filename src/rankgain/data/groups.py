"""The rows of each query in a table, in whatever order they come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.data.ids import Ids, Rows, pick, python_ids, rows_of
from rankgain.data.ragged import offsets_of
from rankgain.scalars import Array, Int32s, Ints

CHUNK = 1 << 18  # ids numbered at a time: so many that a query is split among few chunks


class QueryRows:
    """The queries of a table, in the order of their first appearance, and the rows of each."""

    def __init__(self, names: Sequence[Any], firsts: Ints, lasts: Ints, order: Ints | None = None) -> None:
        """Query i has the rows firsts[i] … lasts[i] − 1 or, if its rows are scattered, those entries of `order`."""
        self.names = names
        self.firsts = firsts
        self.lasts = lasts
        self._order = order
        self.scattered = order is not None

    @classmethod
    def of(cls, queries: Ids, begins: Ints | None = None, count: int = 0) -> QueryRows:
        """From the query id of each row, or of each run of rows: the run begins at `begins`, of `count` rows in all."""
        if begins is None and queries.kind == "int":
            return cls._of_integers(queries.take(slice(None)).data)
        names: dict[Any, int] = {}
        chunks = [_number_runs(queries, start, names) for start in range(0, len(queries), CHUNK)]
        number = np.concatenate([np.empty(0, np.int32), *(numbers for numbers, _ in chunks)])
        row = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in chunks)])
        del chunks
        starts_run = np.diff(number, prepend=-1) != 0  # a run may continue in the next chunk
        number, row = number[starts_run], row[starts_run]
        row = row if begins is None else begins[row]
        ends = np.append(row[1:], len(queries) if begins is None else count)
        if len(row) == len(names):
            return cls(list(names), row, ends)
        sizes = np.bincount(number, weights=ends - row, minlength=len(names)).astype(np.int64)
        offsets = offsets_of(sizes)
        numbers = np.repeat(number, ends - row)
        return cls(list(names), offsets[:-1], offsets[1:], order_of(numbers, offsets[:-1]))

    @classmethod
    def _of_integers(cls, ids: Array) -> QueryRows:
        firsts, sizes, numbers = numbers_of_integers(ids)
        names = ids[firsts].tolist()
        if numbers is None:
            return cls(names, firsts, firsts + sizes)
        offsets = offsets_of(sizes)
        return cls(names, offsets[:-1], offsets[1:], order_of(numbers, offsets[:-1]))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        return dict(zip(self.names, range(len(self)), strict=True))

    def find(self, names: Sequence[Any]) -> Ints:
        """The number of each query, −1 if it has no rows."""
        if isinstance(self.names, range) and names == self.names:
            return np.arange(len(names))
        return np.fromiter(map(self.numbers.get, names, repeat(-1)), np.int64, len(names))

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """The rows of queries, one query after the other, and their offsets; −1 stands for a query without rows."""
        rows, offsets = rows_of(self.firsts, self.lasts, queries)
        return (rows if self._order is None else self._order[rows]), offsets

    def sizes(self, queries: Ints) -> Ints:
        return (self.lasts[queries] - self.firsts[queries]) * (queries >= 0) if len(self) else np.zeros_like(queries)


def numbers_of_integers(ids: Array) -> tuple[Ints, Ints, Int32s | None]:
    """Where each integer first appears, how many rows it has, and the number of each row; None if none is scattered."""
    ids = np.require(ids, np.int32 if ids.dtype == np.int32 else np.int64, ("C", "A"))
    numbers = np.empty(len(ids), dtype=np.int32)
    # As long as they could become; the system provides memory only where something is written.
    firsts, sizes = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
    count, scattered = _backend.columns.number_integers(ids.view(np.uint8), len(ids), numbers, firsts, sizes)
    return firsts[:count].copy(), sizes[:count].copy(), numbers if scattered else None


def order_of(numbers: Int32s, begins: Ints) -> Ints:
    """The rows sorted by number; those of number i begin at begins[i]."""
    order = np.empty(len(numbers), dtype=np.int64)
    _backend.columns.order_rows(numbers, begins.copy(), order)
    return order


def _number_runs(queries: Ids, start: int, names: dict[Any, int]) -> tuple[Int32s, Ints]:
    """The number of each run of equal ids in a chunk, and where it begins; new ids are added to `names`."""
    count = min(CHUNK, len(queries) - start)
    keys = queries.take(slice(start, start + count))
    rows, numbers, firsts = (np.empty(count, dtype=np.int64) for _ in range(3))
    runs, different = _backend.columns.number_ids(*keys.buffers(), count, rows, numbers, firsts)
    new_names = python_ids(pick(keys, firsts[:different]), queries.kind)
    number_of = np.array([names.setdefault(name, len(names)) for name in new_names], dtype=np.int32)
    return number_of[numbers[:runs]], rows[:runs] + start
