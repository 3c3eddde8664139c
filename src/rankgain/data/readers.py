"""The interface between a table and `Frame`: column names, and columns by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from rankgain.scalars import Array, Bools, Ints


class ListColumn(NamedTuple):
    """Lists as slices of one column of ids: row i has the ids firsts[i] … lasts[i] − 1, unless it is null.

    `present`: False for rows that are null. `grades`: a number for each id, if the rows are mappings.
    """

    present: Bools
    firsts: Ints
    lasts: Ints
    ids: Any
    grades: Any = None

    def by_query(self, queries: Sequence[Any] | None) -> tuple[Sequence[Any], Ints, Ints]:
        """The queries of the rows that are not null, with the bounds of their lists; `queries`: None to number them."""
        rows = np.flatnonzero(self.present)
        if len(rows) == len(self.present):
            return range(len(rows)) if queries is None else queries, self.firsts, self.lasts
        names = rows.tolist() if queries is None else [queries[row] for row in rows.tolist()]
        return names, self.firsts[rows], self.lasts[rows]


def content_of(values: Iterable[Any]) -> str:
    """The kind of values in a column, by the first that is not null: "lists", "mappings", "ids" or "other"."""
    value = next((value for value in values if value is not None and not _is_nan(value)), None)
    if isinstance(value, Mapping):
        return "mappings"
    if isinstance(value, (list, tuple, Set, np.ndarray)):
        return "lists"
    return "ids" if isinstance(value, (str, bytes, int, np.integer)) else "other"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def refuse_nested(where: str, item: Any) -> None:
    """Refuse lists whose first item is a list, a pair or a mapping."""
    if isinstance(item, Mapping):
        key = next(
            (name for name in ("id", "doc_id", "document_id", "chunk_id") if name in item), next(iter(item), "id")
        )
        raise TypeError(f"{where} holds lists of mappings, not of ids: write [item[{key!r}] for item in row]")
    if isinstance(item, (list, tuple)):
        raise TypeError(
            f"{where} holds lists of lists, not of ids: write [item[0] for item in row], or dict(row) for pairs of id "
            "and grade"
        )


class Reader(ABC):
    """A table whose columns are read by name.

    `names`: the columns that are known. `title`: the name of the table in errors; "" if the argument names it.
    `text_ids`: whether ids are text because the format has no types, so that they may stand for integers.
    """

    names: list[Any]
    title = ""
    remark = ""  # the end of the list of columns in errors
    text_ids = False

    @abstractmethod
    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        """An array or list of numbers, or a column of ids; `where` names it in errors.

        `nulls`: nulls become an arbitrary number.
        """

    def present(self, name: Any) -> Bools | None:
        """A mask of the rows in which a column is not null; None if no row is null."""
        return None

    def is_numeric(self, name: Any) -> bool | None:
        """Whether a column holds numbers; None if only the values would tell."""
        return None

    def content(self, name: Any) -> str:
        """The kind of values in a column: "lists", "mappings", "ids" or "other"."""
        return content_of(self.column(name, ""))

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn | list[Any]:
        """The lists or mappings in a column, None for null. `single`: whether a row may hold a bare id instead."""
        return [None if value is None or _is_nan(value) else value for value in self.column(name, where)]

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:  # noqa: B027  # for files only
        """Read columns of ids and of numbers in one pass."""

    def complete(self) -> bool:
        """Add the names that occur only in later rows; return whether there are any."""
        return False

    def integers(self, name: Any) -> Array | None:
        """A column of `text_ids` as integers, if that is lossless; else None."""
        return None
