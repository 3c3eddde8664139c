"""Read a list of mappings, one per row, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from rankgain.data.tables.readers import Reader, content_of
from rankgain.errors import quoted
from rankgain.scalars import Bools, without_none


class Records(Reader):
    """A table of records (mappings). The keys are the columns, and an absent key is null."""

    def __init__(self, rows: Sequence[Mapping[Any, Any]], title: str = "") -> None:
        self.names = list(rows[0]) if rows else []
        self.title = title
        self.rows = rows
        self._completed = False

    def complete(self) -> bool:
        if self._completed:
            return False
        self._completed = True
        known = len(self.names)
        self.check("")
        self.names = list(dict.fromkeys(chain(self.names, chain.from_iterable(self.rows))))
        return len(self.names) > known

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        column = self.values(name, where)
        return [0.0 if value is None else value for value in column] if nulls else column

    def present(self, name: Any) -> Bools | None:
        return without_none(self.values(name, ""))

    def content(self, name: Any) -> str:
        return content_of(row.get(name) for row in self.rows if isinstance(row, Mapping))

    def rows_of(self, argument: str) -> str:
        return argument

    def values(self, name: Any, where: str) -> list[Any]:
        """Return the values of a column, with None where the key is absent."""
        try:
            return list(map(itemgetter(name), self.rows))
        except (LookupError, TypeError):
            self.check(where)
            return [row.get(name) for row in self.rows]

    def check(self, where: str) -> None:
        """Raise an error for a row that is not a mapping."""
        for number, row in enumerate(self.rows):
            if not isinstance(row, Mapping):
                raise TypeError(
                    f"{self.title or where.partition(': column')[0] or 'records'}: row {number} must be a mapping, as "
                    f"row 0 is, not {type(row).__name__}: {quoted(row)}"
                )
