"""Recognise the form of judgments or a run.

`plain` converts objects from other tools to dicts or columns: Qrels and Run from ranx, named tuples from ir_measures
and ir_datasets, and mappings from queries to Elasticsearch's `_search` responses. None of these tools is imported.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from rankgain.data.arrays import array_of, is_array
from rankgain.data.column_names import DEFAULT_COLUMNS, default_columns, is_pandas, is_series
from rankgain.data.tables.readers import Reader
from rankgain.errors import changed, quoted

MOST_NAMES = 256  # the keys of a larger mapping are queries, not column names


def form_of(value: Any, name: str, *, named: Collection[Any] = ()) -> str:
    """Return the form of a value: "file", "frame", "dicts" (a mapping of mappings), or "lists" for anything else.

    `named`: the columns that the caller named. A mapping that has all these columns is a frame, unless its values are
    mappings.
    """
    if isinstance(value, Mapping):
        try:
            if {"query", "doc"} <= default_columns(islice(value, MOST_NAMES)).keys():
                return "frame"
            if all(issubclass(kind, Mapping) for kind in {*map(type, value.values())}):
                return "dicts"
        except RuntimeError as error:
            raise changed(error, name) from None
        return "frame" if named and all(column in value for column in named) else "lists"
    if isinstance(value, Reader):
        return "frame"
    if is_pandas(value) or hasattr(value, "__arrow_c_stream__") or hasattr(value, "collect"):
        return "lists" if _is_column(value) else "frame"
    return "file" if isinstance(value, (str, os.PathLike)) or hasattr(value, "read") else "lists"


def _is_column(value: Any) -> bool:
    """Return whether the value is a single column: a pandas or polars Series, or a pyarrow ChunkedArray."""
    if is_pandas(value):
        return False
    return is_series(value) or (hasattr(value, "__array__") and (hasattr(value, "dtype") or hasattr(value, "type")))


def content(value: Any) -> str:
    """Return what an array or a list contains: "whole numbers", "fractions", "nothing" or "other".

    For a value that is neither an array nor a list, return "other".
    """
    if isinstance(value, (list, tuple)):
        kinds = {content(row) if isinstance(row, (list, tuple)) or is_array(row) else _content_of(row) for row in value}
        return next(
            (kind for kind in ("other", "fractions", "whole numbers") if kind in kinds),
            "whole numbers" if value else "nothing",
        )
    if not is_array(value) or hasattr(value, "tocsr"):
        return "other"
    array = array_of(value, "run")
    if array is None or array.dtype.kind == "O":
        return "other" if array is None else content(array.tolist())
    return {"f": "fractions", "i": "whole numbers", "u": "whole numbers", "b": "whole numbers"}.get(
        array.dtype.kind, "other"
    )


def _content_of(item: Any) -> str:
    if isinstance(item, float):
        return "fractions"
    return "whole numbers" if isinstance(item, int) else "other"


def plain(value: Any) -> Any:
    """Convert an object from another tool to dicts or columns; return any other value unchanged."""
    if type(value) is dict:
        for first in value.values():
            if type(first) is dict and "hits" not in first:
                return value
            break
    if isinstance(value, Mapping):
        return _of_responses(value) if _holds_responses(value) else value
    if is_of_ranx(value):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return _columns(value) if len(value) and _is_record(value[0]) else value
    if isinstance(value, Iterator) and not hasattr(value, "read") and not hasattr(value, "__arrow_c_stream__"):
        first = next(value, None)
        if first is None:
            return value
        rest = chain([first], value)
        return _columns(rest) if _is_record(first) else list(rest)
    return value


def is_of_ranx(value: Any) -> bool:
    """Return whether the value is a Qrels or Run from ranx."""
    return type(value).__module__.partition(".")[0] == "ranx" and hasattr(value, "to_dict")


def _is_record(value: Any) -> bool:
    return {"query_id", "doc_id"} <= {*getattr(value, "_fields", ())}


def _columns(records: Any) -> dict[str, list[Any]]:
    """Convert named tuples to columns."""
    rows = list(records)
    others = "relevance", "score", *DEFAULT_COLUMNS["subtopic"]
    names = ["query_id", "doc_id", *(name for name in others if hasattr(rows[0], name))]
    return {name: [getattr(row, name) for row in rows] for name in names}


def _hits(response: Any) -> Any:
    """Return the hits in a response to `_search`, or None if the value is not such a response."""
    response = getattr(response, "body", response)  # Elasticsearch's client wraps each response in an object
    outer = response.get("hits") if isinstance(response, Mapping) else None
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    return hits if isinstance(hits, list) else None


def _holds_responses(value: Mapping[Any, Any]) -> bool:
    return _hits(next(iter(value.values()), None)) is not None


def _of_responses(responses: Mapping[Any, Any]) -> dict[Any, dict[Any, float]]:
    """Map each query to the scores of its hits by document.

    Hits from a sorted search have no scores, and receive scores that preserve their order.
    """
    run: dict[Any, dict[Any, float]] = {}
    for query, response in responses.items():
        hits = _hits(response)
        if hits is None:
            raise TypeError(f"run: query {quoted(query)}: must be a response of _search, as the first one is")
        for position, hit in enumerate(hits):
            if "_id" not in hit:
                raise ValueError(f"run: query {quoted(query)}, hit {position}: it has no _id; do not filter that out")
        scored = all(hit.get("_score") is not None for hit in hits)
        run[query] = {hit["_id"]: hit["_score"] if scored else -position for position, hit in enumerate(hits)}
    return run
