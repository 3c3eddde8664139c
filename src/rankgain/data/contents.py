"""Convert an argument to data: files and records to tables, and objects from other tools to dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgain.data.column_names import default_columns, is_pandas
from rankgain.data.detect import is_file, recognised
from rankgain.data.forms import plain
from rankgain.data.tables.records import Records
from rankgain.errors import quoted


def contents(
    value: Any,
    argument: str,
    query: str | None = None,
    doc: str | None = None,
    *,
    beir: bool = False,
    by_query: bool = False,
) -> Any:
    """Return the table, dicts or lists that a value contains.

    For a TREC file, return an input that reads it from the beginning. `query`, `doc`: the keys of records, if the
    caller named them. `beir`: whether a table with BEIR's header is read as a TREC file, as it is for judgments.
    `by_query`: whether records are always read as a table.
    """
    if type(value) is dict:
        return plain(value)
    if is_pandas(value):  # `getattr` on a frame is slow, because it searches the columns
        return value
    if is_file(value):
        kind, head, value = recognised(value, argument, beir=beir)
        if kind is None:
            return value
        from rankgain.data.tables.files import read_table  # deferred, to keep `import rankgain` fast

        argument, value = read_table(kind, head, value, argument)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
        return Records(value, argument) if by_query else _records(value, argument, query, doc)
    return plain(value)


def _records(rows: Any, argument: str, query: str | None, doc: str | None) -> Any:
    """Return the rows as a table if the first row has a query and a document.

    Otherwise, return them unchanged: they are read as one dict of grades per query.
    """
    first = rows[0]
    columns = default_columns(first)
    if (query in first if query else "query" in columns) and (doc in first if doc else "doc" in columns):
        return Records(rows, argument)
    if any(isinstance(value, (str, bytes)) for value in first.values()):
        raise TypeError(
            f"{argument}: row 0 has the keys {', '.join(map(quoted, first))}, which are no columns of queries and "
            "documents: name these with query= and doc="
        )
    return rows
