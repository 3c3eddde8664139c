"""Recognise the form of judgments or a run; no other module does.

`plain` converts the objects of other tools to dicts or columns: ranx's Qrels and Run; the named tuples of ir_measures
and ir_datasets; Elasticsearch's responses to `_search` by query. None of these tools is imported.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from rankgain.data.arrays import array_of, is_array
from rankgain.data.column_names import default_columns, is_pandas, is_series
from rankgain.data.readers import Reader
from rankgain.errors import changed, quoted

MOST_NAMES = 256  # a mapping with more keys has queries as keys, not columns


def form_of(value: Any, name: str, *, named: Collection[Any] = ()) -> str:
    """The form of a value: a "file", a "frame", "dicts" by query, or "lists" for anything else.

    `named`: the columns that the caller named. A mapping with all of them is a frame, unless its values are mappings.
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
    """Whether the value is a single column: a Series of pandas or polars, or a chunked array of pyarrow."""
    if is_pandas(value):
        return False
    return is_series(value) or (hasattr(value, "__array__") and (hasattr(value, "dtype") or hasattr(value, "type")))


def content(value: Any) -> str:
    """The content of arrays and lists: "whole numbers", "fractions", "nothing" or "other"; "other" for other values."""
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
    """The object of another tool as dicts by query or as columns; any other value unchanged."""
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
    """Whether the value is ranx's Qrels or Run."""
    return type(value).__module__.partition(".")[0] == "ranx" and hasattr(value, "to_dict")


def _is_record(value: Any) -> bool:
    return {"query_id", "doc_id"} <= {*getattr(value, "_fields", ())}


def _columns(records: Any) -> dict[str, list[Any]]:
    """The columns of named tuples."""
    rows = list(records)
    names = ["query_id", "doc_id", *(name for name in ("relevance", "score") if hasattr(rows[0], name))]
    return {name: [getattr(row, name) for row in rows] for name in names}


def _hits(response: Any) -> Any:
    """The hits in a response of `_search`; None if the value is not one."""
    response = getattr(response, "body", response)  # Elasticsearch's client wraps responses in a class
    outer = response.get("hits") if isinstance(response, Mapping) else None
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    return hits if isinstance(hits, list) else None


def _holds_responses(value: Mapping[Any, Any]) -> bool:
    return _hits(next(iter(value.values()), None)) is not None


def _of_responses(responses: Mapping[Any, Any]) -> dict[Any, dict[Any, float]]:
    """The score of each hit by query and document; hits of a sorted search, which have no scores, keep their order."""
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
