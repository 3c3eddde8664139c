"""Convert objects of other tools to dicts or columns.

These are Qrels and Run from ranx, named tuples from ir_measures and ir_datasets, and mappings from queries to the
answers of search engines and retrievers. None of these tools is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, starmap
from operator import ge, le
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


def hits_of(answer: Any) -> list[Any] | None:
    """Return the hits in the answer of a search engine or a retriever, best first; None if the value is none.

    These are responses to Elasticsearch's and OpenSearch's `_search`, Qdrant's `query_points`, Pinecone's and Chroma's
    `query`, and lists of hits: mappings with an id, pairs of id and score, nodes of LlamaIndex, and documents of
    haystack and LangChain.
    """
    answer = getattr(answer, "body", answer)  # Elasticsearch's client wraps each response in an object
    if isinstance(answer, Mapping):
        hits = answer.get("hits", answer.get("matches"))
        hits = hits.get("hits") if isinstance(hits, Mapping) else hits
        hits = _of_chroma(answer["ids"]) if "ids" in answer and "distances" in answer else hits
    else:
        hits = next((getattr(answer, name) for name in ("points", "matches") if hasattr(answer, name)), answer)
    if not isinstance(hits, list):
        return None
    return hits if hits is not answer or (hits and _fields_of(hits[0]) is not None) else None


def _of_chroma(ids: Any) -> Any:
    """Return the hits of Chroma's `query` for one text, as mappings."""
    if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], list):
        return [{"id": identifier} for identifier in ids[0]]
    raise ValueError("run: an answer of Chroma has several queries: write dict(zip(queries, answer['ids']))")


def _fields_of(hit: Any) -> tuple[Any, Any] | None:
    """Return the keys or attributes of a hit that hold its id and its score, or None if the value is not a hit."""
    if isinstance(hit, Mapping):
        return next((pair for pair in (("_id", "_score"), ("id", "score")) if pair[0] in hit), None)
    if type(hit) is tuple:
        return (0, 1) if len(hit) == 2 and type(hit[1]) is float and isinstance(hit[0], (str, int)) else None
    if hasattr(hit, "node_id"):
        return "node_id", "score"
    is_hit = hasattr(hit, "id") and any(hasattr(hit, name) for name in ("score", "page_content"))
    return ("id", "score") if is_hit else None


def _read(hit: Any, field: Any) -> Any:
    if isinstance(hit, Mapping):
        return hit.get(field)
    return hit[field] if type(field) is int else getattr(hit, field, None)


def run_of_answers(answers: Mapping[Any, Any]) -> tuple[dict[Any, dict[Any, float]], tuple[str, ...]]:
    """Map each query to its hits with scores that preserve their order; also return what was assumed, in words."""
    run: dict[Any, dict[Any, float]] = {}
    scored = disordered = 0
    line = ""
    for query, answer in answers.items():
        hits = hits_of(answer)
        if hits is None and not (isinstance(answer, (list, tuple)) and not answer):
            raise TypeError(f"run: query {quoted(query)}: must be an answer with hits, such as a response of _search")
        ranks: dict[Any, float] = run.setdefault(query, {})
        scores = []
        for position, hit in enumerate(hits or ()):
            fields = _fields_of(hit)
            identifier = None if fields is None else _read(hit, fields[0])
            where = f"run: query {quoted(query)}, hit {position}"
            if fields is None or identifier is None:
                name = "_id" if isinstance(hit, Mapping) else "id"
                raise ValueError(f"{where}: it has no {name}; keep the ids of hits")
            if identifier in ranks:
                raise ValueError(f"{where}: the document {quoted(identifier)} repeats an earlier one; keep one of them")
            ranks[identifier] = -float(position)
            states_order = isinstance(hit, Mapping) and not {"sort", "rank"}.isdisjoint(hit)
            scores.append(None if states_order else _read(hit, fields[1]))
            line = line or _line(hit, fields)
        if len(scores) > 2 and None not in scores:
            scored += 1
            disordered += not _is_monotone(scores)
    if 2 * disordered <= scored:
        return run, ()
    remark = f"run: the scores of the hits neither fall nor rise in {disordered} of {scored} queries"
    return run, (f"{remark}; the order of the hits was taken. To rank by score, write {line} for each query",)


def _is_monotone(scores: Sequence[Any]) -> bool:
    return any(all(starmap(order, pairwise(scores))) for order in (ge, le))


def _line(hit: Any, fields: tuple[Any, Any]) -> str:
    if type(hit) is tuple:
        return "dict(hits)"
    read = ["hit[{!r}]" if isinstance(hit, Mapping) else "hit.{}"] * 2
    identifier, score = (text.format(field) for text, field in zip(read, fields, strict=True))
    return f"{{{identifier}: {score} for hit in hits}}"
