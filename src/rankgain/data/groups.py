"""Find the rows of each query in a table, where the rows of a query need not be contiguous."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.data.ids import Ids, Keys, Rows, python_ids, row_numbers, rows_of
from rankgain.data.ragged import offsets_of
from rankgain.scalars import Array, Bools, Int32s, Ints, to_intp

NUMBERED_AT_ONCE = 1 << 18  # number of ids per chunk; large, because few queries should be split between chunks


class NumberedIds:
    """Text ids that are numbered in order of first appearance."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._count = 0
        self._text = np.zeros(256, dtype=np.uint8)
        self._bounds = np.zeros(32 + 1, dtype=np.int64)
        self._slots = np.zeros(2 * 32 + 1, dtype=np.int64)

    @property
    def names(self) -> list[Any]:
        """The distinct ids as Python objects, by number."""
        bounds = self._bounds[: self._count + 1]
        return python_ids(Keys(self._text, bounds[:-1], bounds[1:]), self._kind)

    def add(self, keys: Keys) -> tuple[Ints, Ints]:
        """Add ids that are new. For each run of equal ids in `keys`, return the id's number and the run's first row."""
        count, done, runs = len(keys.starts), 0, 0
        numbers, rows, total = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), self._count
        while done < count:
            starts, ends, table = keys.starts[done:], keys.ends[done:], (self._text, self._bounds, self._slots)
            read, more, total = _backend.columns.number_ids(
                keys.data, starts, ends, *table, total, rows[runs:], numbers[runs:]
            )
            rows[runs : runs + more] += done
            done, runs = done + read, runs + more
            if total == len(self._bounds) - 1:
                self._bounds = np.append(self._bounds, np.zeros(total, dtype=np.int64))
                self._slots = np.zeros(4 * total + 1, dtype=np.int64)  # the kernel rebuilds the table
            elif done < count:
                more_text = len(self._text) + int(ends[read] - starts[read])
                self._text = np.append(self._text, np.zeros(more_text, dtype=np.uint8))
        self._count = total
        return numbers[:runs], rows[:runs]


class QueryRows:
    """The queries of a table, in order of first appearance, and the rows of each query."""

    def __init__(self, names: Sequence[Any], firsts: Ints, lasts: Ints, order: Ints | None = None) -> None:
        """Set the rows of the queries: query i has rows firsts[i] … lasts[i] − 1.

        With `order`, these are positions in `order`, and query i has rows order[firsts[i]] … order[lasts[i] − 1].
        `order` is required if the rows of a query are not contiguous.
        """
        self.names = names
        self.firsts = firsts
        self.lasts = lasts
        self._order = order
        self.scattered = order is not None

    @classmethod
    def of(cls, queries: Ids, begins: Ints | None = None, count: int = 0) -> QueryRows:
        """Group rows by query. `queries` has the query id of each row or, with `begins`, of each run of rows.

        `begins` has the first row of each run, and `count` is the total number of rows.
        """
        if begins is None and queries.kind == "int":
            return cls._of_integers(queries.take(slice(None)).data)
        numbered = NumberedIds(queries.kind)
        number, row = np.empty(len(queries), dtype=np.int32), np.empty(len(queries), dtype=np.int64)
        count_runs = 0
        for start in range(0, len(queries), NUMBERED_AT_ONCE):
            numbers, rows = numbered.add(queries.take(slice(start, start + NUMBERED_AT_ONCE)))
            again = int(count_runs > 0 and numbers[0] == number[count_runs - 1])  # a run continues in the next chunk
            runs = slice(count_runs, count_runs + len(numbers) - again)
            number[runs], row[runs] = numbers[again:], rows[again:] + start
            count_runs = runs.stop
        number, row = number[:count_runs], row[:count_runs]
        names = numbered.names
        del numbered
        row = row if begins is None else begins[row]
        ends = np.append(row[1:], len(queries) if begins is None else count)
        if len(row) == len(names):
            return cls(names, row, ends)
        lengths = np.subtract(ends, row, out=ends)  # in place, since there may be as many runs as rows
        del row
        offsets = offsets_of(np.bincount(number, weights=lengths, minlength=len(names)).astype(np.int64))
        return cls(names, offsets[:-1], offsets[1:], order_of(np.repeat(number, to_intp(lengths)), offsets[:-1]))

    @classmethod
    def _of_integers(cls, ids: Array) -> QueryRows:
        firsts, sizes, numbers = numbers_of_integers(ids)
        names = ids[firsts].tolist()
        if numbers is None:
            return cls(names, firsts, firsts + sizes)
        offsets = offsets_of(sizes)
        return cls(names, offsets[:-1], offsets[1:], order_of(numbers, offsets[:-1]))

    @classmethod
    def joint(cls, columns: Sequence[QueryRows]) -> QueryRows:
        """Group rows by the values of several columns; the names are tuples of these values."""
        groups, *others = columns
        names = [(name,) for name in groups.names]
        for column in others:
            count = len(column)
            groups = cls._of_integers(groups.by_row() * count + column.by_row())
            names = [(*names[code // count], column.names[code % count]) for code in groups.names]
        return cls(names, groups.firsts, groups.lasts, groups._order)

    def __len__(self) -> int:
        return len(self.names)

    def by_row(self) -> Ints:
        """Return the index of each row's query, if every row has one."""
        rows, offsets = self.rows(np.arange(len(self)))
        queries = np.empty(int(offsets[-1]), dtype=np.int64)
        queries[rows] = np.repeat(np.arange(len(self)), to_intp(np.diff(offsets)))
        return queries

    @cached_property
    def numbers(self) -> dict[Any, int]:
        return dict(zip(self.names, range(len(self)), strict=True))

    def find(self, names: Sequence[Any]) -> Ints:
        """Return the index of each named query, or −1 if the query has no rows."""
        if isinstance(self.names, range) and names == self.names:
            return np.arange(len(names))
        return np.fromiter(map(self.numbers.get, names, repeat(-1)), np.int64, len(names))

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """Return the rows of the given queries, one query after another, and the offsets of the queries.

        The index −1 stands for a query without rows.
        """
        rows, offsets = rows_of(self.firsts, self.lasts, queries)
        return (rows if self._order is None else self._order[rows]), offsets

    def ends(self, query: int) -> tuple[int, int]:
        """Return the first and the last row of a query that has rows."""
        first, last = int(self.firsts[query]), int(self.lasts[query]) - 1
        return (first, last) if self._order is None else (int(self._order[first]), int(self._order[last]))

    def non_empty(self) -> QueryRows:
        """Keep only the queries that have rows."""
        present = np.flatnonzero(self.lasts > self.firsts)
        if len(present) == len(self):
            return self
        names = [self.names[query] for query in present.tolist()]
        return QueryRows(names, self.firsts[present], self.lasts[present], self._order)

    def where(self, mask: Bools | None) -> QueryRows:
        """Keep only the rows for which a mask is True, and the queries that have such rows; None keeps all rows."""
        if mask is None:
            return self
        rows, offsets = self.rows(np.arange(len(self)))
        chosen = mask[rows]
        sizes = np.diff(offsets_of(chosen)[offsets])
        ends = offsets_of(sizes[sizes > 0])
        names = [name for name, size in zip(self.names, sizes.tolist(), strict=True) if size]
        return QueryRows(names, ends[:-1], ends[1:], row_numbers(rows)[chosen])

    def sizes(self, queries: Ints) -> Ints:
        return (self.lasts[queries] - self.firsts[queries]) * (queries >= 0) if len(self) else np.zeros_like(queries)


def numbers_of_integers(ids: Array) -> tuple[Ints, Ints, Int32s | None]:
    """Number the distinct integers in order of first appearance.

    Return the first row and the number of rows of each distinct integer, and for each row, the number of its integer.
    The last array is None if the rows of each integer are contiguous.
    """
    ids = np.require(ids, np.int32 if ids.dtype == np.int32 else np.int64, ("C", "A"))
    numbers = np.empty(len(ids), dtype=np.int32)
    # The lengths are upper bounds. Memory pages that are never written take no memory.
    firsts, sizes = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
    count, scattered = _backend.columns.number_integers(ids.view(np.uint8), len(ids), numbers, firsts, sizes)
    return firsts[:count].copy(), sizes[:count].copy(), numbers if scattered else None


def order_of(numbers: Int32s, begins: Ints) -> Ints:
    """Return the rows, stably sorted by number. The rows with number i begin at position begins[i]."""
    order = np.empty(len(numbers), dtype=np.int64)
    _backend.columns.order_rows(numbers, begins.copy(), order)
    return order
