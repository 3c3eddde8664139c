"""The interface through which `Frame` reads a table: column names, and columns by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from rankgain.data.advice.foreign import is_plain_number
from rankgain.scalars import Array, Bools, Ints


class ListColumn(NamedTuple):
    """Lists stored as slices of one column of ids. Row i has ids firsts[i] … lasts[i] − 1, unless the row is null.

    `present`: False for rows that are null. `grades`: a number for each id, if the rows are mappings.
    """

    present: Bools
    firsts: Ints
    lasts: Ints
    ids: Any
    grades: Any = None

    def by_query(self, queries: Sequence[Any] | None) -> tuple[Sequence[Any], Ints, Ints]:
        """Return the queries of the rows that are not null, and the bounds of their lists.

        If `queries` is None, the queries are numbered.
        """
        rows = np.flatnonzero(self.present)
        if len(rows) == len(self.present):
            return range(len(rows)) if queries is None else queries, self.firsts, self.lasts
        names = rows.tolist() if queries is None else [queries[row] for row in rows.tolist()]
        return names, self.firsts[rows], self.lasts[rows]


def content_of(values: Iterable[Any]) -> str:
    """Return the kind of values in a column: "lists", "mappings", "ids" or "other".

    The first value that is not null decides.
    """
    value = next((value for value in values if value is not None and not _is_nan(value)), None)
    if isinstance(value, Mapping):
        return "mappings"
    if isinstance(value, (list, tuple, Set, np.ndarray)):
        return "lists"
    return "ids" if isinstance(value, (str, bytes, int, np.integer)) else "other"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def refuse_nested(where: str, item: Any) -> None:
    """Refuse lists of lists, pairs or mappings, judging by an item of the first list."""
    if isinstance(item, Mapping):
        key = next(
            (name for name in ("id", "doc_id", "document_id", "chunk_id") if name in item), next(iter(item), "id")
        )
        raise TypeError(f"{where} holds lists of mappings, not of ids: write [item[{key!r}] for item in row]")
    if isinstance(item, (list, tuple)):
        is_pair = len(item) == 2 and is_plain_number(item[1]) and not is_plain_number(item[0])
        advice = (
            "[item[0] for item in row], or dict(row) for pairs of id and grade"
            if is_pair
            else "[id for group in row for id in group]"
        )
        raise TypeError(f"{where} holds lists of lists, not of ids: write {advice}")


class Reader(ABC):
    """A table whose columns are read by name.

    `names`: the columns that are known. `title`: the name of the table in errors, or "" to use the argument's name.
    `text_ids`: whether ids are text only because the format has no types, so that they may represent integers.
    """

    names: list[Any]
    title = ""
    remark = ""  # appended to the list of columns in errors
    text_ids = False

    @abstractmethod
    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        """Return an array or list of numbers, or a column of ids. `where` names the column in errors.

        `nulls`: whether nulls become an arbitrary number instead of an error.
        """

    def present(self, name: Any) -> Bools | None:
        """Return a mask of the rows in which a column is not null, or None if no row is null."""
        return None

    def is_numeric(self, name: Any) -> bool | None:
        """Return whether a column holds numbers, or None if this cannot be known without reading the values."""
        return None

    def content(self, name: Any) -> str:
        """Return the kind of values in a column: "lists", "mappings", "ids" or "other"."""
        return content_of(self.column(name, ""))

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn | list[Any]:
        """Return the lists or mappings in a column, with None for null.

        `single`: whether a row may hold a single id instead.
        """
        return [None if value is None or _is_nan(value) else value for value in self.column(name, where)]

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:  # noqa: B027  # for files only
        """Read columns of ids and of numbers in one pass."""

    def complete(self) -> bool:
        """Add column names that occur only in later rows; return whether there are any."""
        return False

    def by_query(self, query: Any, column: Any, argument: str) -> str:
        """Return the expression that maps each query to its list in a column, for a table with a row per query."""
        rows = self.rows_of(argument)
        if not rows:
            return f"dict(zip({argument}[{query!r}], {argument}[{column!r}]))"
        return f"{{row[{query!r}]: row[{column!r}] for row in {rows}}}"

    def rows_of(self, argument: str) -> str:
        """Return the expression for the rows of the table that the caller passed, or "" for a table of columns."""
        return ""

    def values_of_lines(self) -> Any:
        """Return the objects in a file of JSON lines, or the only one; None for other tables."""
        return None

    def integers(self, name: Any) -> Array | None:
        """Return a column of `text_ids` as integers, or None if the conversion would not be lossless."""
        return None
