"""The interface between a table and `Frame`: column names, and columns by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from rankgain.scalars import Array, Bools


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
        """An array or list of numbers, or ids. `where` names the column in errors. `nulls`: nulls become any number."""

    def present(self, name: Any) -> Bools | None:
        """The rows in which a column is not null; None: all rows."""
        return None

    def is_numeric(self, name: Any) -> bool | None:
        """Whether a column holds numbers; None if only its values show it."""
        return None

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:  # noqa: B027  # for files only
        """Read columns of ids and of numbers in one pass."""

    def complete(self) -> bool:
        """Add names that only later rows have; False if there are none."""
        return False

    def integers(self, name: Any) -> Array | None:
        """A column of `text_ids` as integers if every id survives the round trip, else None."""
        return None
