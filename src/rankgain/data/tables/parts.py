"""Cut a stream of record batches into parts that consist of whole queries."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankgain.data.groups import QueryRows
from rankgain.data.ids import DictionaryIds, Ids, Keys, column_of, join, row_numbers
from rankgain.data.ragged import offsets_of, to_float64
from rankgain.data.tables.frame import Frame
from rankgain.errors import quoted
from rankgain.scalars import Bools, Floats


class TablePart(NamedTuple):
    """Rows of a table by query, as columns.

    `documents`: their ids, or None if they have none. `values`: the columns relevance and score, as far as they exist.
    `given`: which rows have a relevance and which have a score, if rows may lack one. `kind`: the type of the query ids
    in the table.
    """

    groups: QueryRows
    documents: Any
    values: Mapping[str, Floats]
    given: Mapping[str, Bools | None] = {}
    kind: Any = None

    @property
    def size(self) -> int:
        return int(self.groups.lasts[-1]) if len(self.groups) else 0

    def rows(self, start: int, stop: int) -> TablePart:
        """Return rows start … stop − 1, if the rows of each query are consecutive."""
        if not start and stop >= self.size:
            return self
        rows, names, firsts, lasts = slice(start, stop), self.groups.names, self.groups.firsts, self.groups.lasts
        chosen = slice(int(np.searchsorted(lasts, start, "right")), int(np.searchsorted(firsts, stop)))
        bounds = (np.clip(bounds[chosen], start, min(stop, self.size)) - start for bounds in (firsts, lasts))
        documents = None if self.documents is None else _sliced(self.documents, rows)
        values = {role: column[rows] for role, column in self.values.items()}
        given = {role: None if mask is None else mask[rows] for role, mask in self.given.items()}
        return TablePart(QueryRows(names[chosen], *bounds), documents, values, given, self.kind)

    def where(self, role: str) -> TablePart:
        """Return only the rows that have a value for a role."""
        return self._replace(groups=self.groups.where(self.given.get(role)))


def _sliced(ids: Ids, rows: slice) -> Ids:
    """Return the ids in a slice of rows, without the text of other rows."""
    if isinstance(ids, DictionaryIds):
        return DictionaryIds(ids.codes[rows], ids.dictionary, ids.where)
    data, starts, ends = ids.take(rows)
    if len(starts):
        first = int(starts.min())
        data, starts, ends = data[first : int(ends.max())], starts - first, ends - first
    return column_of(Keys(data, starts, ends), ids.kind)


def part_of(frame: Frame, names: Mapping[str, Any], kind: Any = None) -> TablePart:
    """Read a table, given the column name of each role: query_id, doc_id, relevance and score.

    If the table has all of them, a row may lack either a grade or a score.
    """
    groups = frame.queries(names["query_id"])
    documents = frame.ids(names["doc_id"]) if "doc_id" in names else None
    roles = [role for role in ("relevance", "score") if role in names]
    nulls = len(names) == 4
    values = {role: to_float64(frame.numbers(names[role], nulls=nulls)[:]) for role in roles}
    given = {role: frame.present(names[role]) for role in roles} if nulls else {}
    judged, returned = (given.get(role) for role in ("relevance", "score"))
    if judged is not None and returned is not None and not np.all(present := judged | returned):
        where = f"{frame.argument}: row {int(np.argmin(present))}"
        raise ValueError(f"{where}: both {names['relevance']!r} and {names['score']!r} are null; drop such rows")
    return TablePart(groups, documents, values, given, kind)


def whole_queries(
    parts: Iterable[TablePart], rows: int, where: str = "batches", advice: str = "sort by query first"
) -> Iterator[TablePart]:
    """Join and cut parts at queries, so that each has about `rows` rows or consists of one longer query."""
    pending: list[TablePart] = []
    seen: set[Any] = set()
    size = 0
    for part in _pieces(parts, min(int(rows), sys.maxsize), where, advice):
        if not part.size:
            pending = pending or [part]
            continue
        if size and size + part.size > rows:
            cut = int(part.groups.firsts[-1])  # the first row of the last query
            if cut or pending[-1].groups.names[-1] != part.groups.names[0]:
                yield _joined([*pending, part.rows(0, cut)] if cut else pending, seen, where, advice)
                pending, size, part = [], 0, part.rows(cut, part.size)
        pending, size = pending if size else [], size + part.size
        pending.append(part)
    if pending:
        yield _joined(pending, seen, where, advice)


def _pieces(parts: Iterable[TablePart], rows: int, where: str, advice: str) -> Iterator[TablePart]:
    """Split parts into pieces of at most `rows` rows."""
    for part in parts:
        groups = part.groups
        if groups.scattered:
            rows_by_query, offsets = groups.rows(np.arange(len(groups)))
            order = row_numbers(rows_by_query)
            spans = order[offsets[1:] - 1] + 1 - order[offsets[:-1]]
            raise _repeated(groups.names[int(np.argmax(spans != np.diff(offsets)))], where, advice)
        for start in range(0, max(part.size, 1), rows):
            yield part.rows(start, start + rows)


def _joined(parts: list[TablePart], seen: set[Any], where: str, advice: str) -> TablePart:
    """Join parts, of which one may end within the first query of the next, and add their queries to `seen`."""
    names: list[Any] = []
    sizes: list[int] = []
    for part in parts:
        more = (part.groups.lasts - part.groups.firsts).tolist()
        continues = bool(names and more and part.groups.names[0] == names[-1])
        if continues:
            sizes[-1] += more[0]
        names += part.groups.names[continues:]
        sizes += more[continues:]
    for name in names:
        if name in seen:
            raise _repeated(name, where, advice)
        seen.add(name)
    offsets = offsets_of(np.array(sizes, dtype=np.int64))
    groups, first = QueryRows(names, offsets[:-1], offsets[1:]), parts[0]
    if len(parts) == 1:
        return first._replace(groups=groups)
    documents = None if first.documents is None else join([part.documents for part in parts])
    values = {role: np.concatenate([part.values[role] for part in parts]) for role in first.values}
    given = {role: np.concatenate([_mask(part, role) for part in parts]) for role in first.given}
    kind = first.kind if all(part.kind == first.kind for part in parts) else None
    return TablePart(groups, documents, values, given, kind)


def _mask(part: TablePart, role: str) -> Bools:
    mask = part.given[role]
    return np.ones(part.size, dtype=np.bool_) if mask is None else mask


def _repeated(query: Any, where: str, advice: str) -> ValueError:
    return ValueError(
        f"{where}: query {quoted(query)} comes again after others; the rows of a query must be consecutive: {advice}"
    )
