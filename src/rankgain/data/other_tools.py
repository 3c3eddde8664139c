"""Convert objects of other tools to dicts or columns.

These are Qrels and Run from ranx, named tuples from ir_measures and ir_datasets, and mappings from queries to
Elasticsearch's `_search` responses. None of these tools is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgain.data.column_names import DEFAULT_COLUMNS
from rankgain.errors import quoted


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


def _hits(response: Any) -> Any:
    """Return the hits in a response to `_search`, or None if the value is not such a response."""
    response = getattr(response, "body", response)  # Elasticsearch's client wraps each response in an object
    outer = response.get("hits") if isinstance(response, Mapping) else None
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    return hits if isinstance(hits, list) else None


def holds_responses(value: Mapping[Any, Any]) -> bool:
    """Return whether the first value of a mapping is a response to `_search`."""
    return _hits(next(iter(value.values()), None)) is not None


def run_of_responses(responses: Mapping[Any, Any]) -> dict[Any, dict[Any, float]]:
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
