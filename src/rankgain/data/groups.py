"""The rows of each query in a table, found once, in whatever order they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.data.ids import Ids, Rows, pick, python_ids, rows_of
from rankgain.data.ragged import offsets_of
from rankgain.scalars import Array, Int32s, Ints

CHUNK = 1 << 18  # ids that are numbered together: enough that each query comes up only a few times


class Groups:
    """The queries of a table, in the order of their first appearance, and the rows of each."""

    def __init__(self, names: Sequence[Any], firsts: Ints, lasts: Ints, order: Ints | None = None) -> None:
        """Rows first … last − 1 or, if the rows of a query are scattered, places in an `order` of them."""
        self.names = names
        self.firsts = firsts
        self.lasts = lasts
        self._order = order
        self.apart = order is not None

    @classmethod
    def of(cls, queries: Ids, begins: Ints | None = None, count: int = 0) -> Groups:
        """By the id of each row, or of each run of rows: `begins` says where those begin, `count` how many rows are."""
        if begins is None and queries.kind == "int":
            return cls._of_integers(queries.take(slice(None)).data)
        names: dict[Any, int] = {}
        found = [_number(queries, start, names) for start in range(0, len(queries), CHUNK)]
        number = np.concatenate([np.empty(0, np.int32), *(pair[0] for pair in found)])
        row = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in found)])
        del found
        news = np.diff(number, prepend=-1) != 0  # a run may go on in the next chunk
        number, row = number[news], row[news]
        row = row if begins is None else begins[row]
        ends = np.append(row[1:], len(queries) if begins is None else count)
        if len(row) == len(names):
            return cls(list(names), row, ends)
        sizes = np.bincount(number, weights=ends - row, minlength=len(names)).astype(np.int64)
        offsets = offsets_of(sizes)
        each = np.repeat(number, ends - row)
        return cls(list(names), offsets[:-1], offsets[1:], order_of(each, offsets[:-1]))

    @classmethod
    def _of_integers(cls, ids: Array) -> Groups:
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

    @property
    def known(self) -> Collection[Any]:
        """The queries, to be asked whether one is among them."""
        return self.names if isinstance(self.names, range) else self.numbers

    def find(self, names: Sequence[Any]) -> Ints:
        """The number of each query, −1 if it is not here."""
        if isinstance(self.names, range) and names == self.names:
            return np.arange(len(names))
        return np.fromiter(map(self.numbers.get, names, repeat(-1)), np.int64, len(names))

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """The rows of queries, one query after the other, and their offsets; −1 is a query of no rows."""
        rows, offsets = rows_of(self.firsts, self.lasts, queries)
        return (rows if self._order is None else self._order[rows]), offsets

    def sizes(self, queries: Ints) -> Ints:
        return (self.lasts[queries] - self.firsts[queries]) * (queries >= 0) if len(self) else np.zeros_like(queries)


def numbers_of_integers(ids: Array) -> tuple[Ints, Ints, Int32s | None]:
    """Where each integer first appears, how many rows it has, and the number of each row; None: they are together."""
    ids = np.require(ids, np.int32 if ids.dtype == np.int32 else np.int64, ("C", "A"))
    numbers = np.empty(len(ids), dtype=np.int32)
    # As long as they could get; memory that is not written is not taken.
    firsts, sizes = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
    count, apart = _backend.columns.number_integers(ids.view(np.uint8), len(ids), numbers, firsts, sizes)
    return firsts[:count].copy(), sizes[:count].copy(), numbers if apart else None


def order_of(numbers: Int32s, begins: Ints) -> Ints:
    """The rows of each number together, from where they begin."""
    order = np.empty(len(numbers), dtype=np.int64)
    _backend.columns.order_rows(numbers, begins.copy(), order)
    return order


def _number(queries: Ids, start: int, names: dict[Any, int]) -> tuple[Int32s, Ints]:
    """The number of each run of one id in a chunk, and where it begins; `names` takes the ids that are new."""
    count = min(CHUNK, len(queries) - start)
    keys = queries.take(slice(start, start + count))
    rows, numbers, firsts = (np.empty(count, dtype=np.int64) for _ in range(3))
    runs, different = _backend.columns.number_ids(*keys.buffers(), count, rows, numbers, firsts)
    known = [names.setdefault(name, len(names)) for name in python_ids(pick(keys, firsts[:different]), queries.kind)]
    return np.array(known, dtype=np.int32)[numbers[:runs]], rows[:runs] + start
