"""Convert objects of other tools to dicts or columns.

These are Qrels and Run from ranx, and named tuples from ir_measures and ir_datasets. None of these tools is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgain.data.column_names import DEFAULT_COLUMNS


def is_of_ranx(value: Any) -> bool:
    """Return whether the value is a Qrels or Run from ranx."""
    return type(value).__module__.partition(".")[0] == "ranx" and hasattr(value, "to_dict")


def is_tuple_record(value: Any) -> bool:
    """Return whether the value is a named tuple with a query and a document."""
    return {"query_id", "doc_id"} <= {*getattr(value, "_fields", ())}


def columns_of_tuples(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Convert named tuples to columns."""
    others = "relevance", "score", *DEFAULT_COLUMNS["subtopic"]
    names = ["query_id", "doc_id", *(name for name in others if hasattr(rows[0], name))]
    return {name: [getattr(row, name) for row in rows] for name in names}
