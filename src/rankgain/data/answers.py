"""Read the answers of search engines and retrievers as runs, in the order of their hits. No client is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, starmap
from operator import ge, le
from typing import Any, NamedTuple

from rankgain.data.column_names import default_columns
from rankgain.errors import quoted

# Fields by which the answer to one query is recognised, and those by which a file of answers is.
ANSWER_FIELDS = frozenset(("hits", "matches", "ids", "error", "result", "candidates"))
FILE_FIELDS = ANSWER_FIELDS | {"responses", "details"}


class Answers(NamedTuple):
    """The run in the answers to several queries.

    `run`: a dict from queries to documents, with scores that preserve their order; or, if the answers do not name their
    queries, a list of lists of documents. `assumed`: assumptions, in words. `unnamed`: the expression for the list of
    answers that do not name their queries.
    """

    run: Any
    assumed: tuple[str, ...]
    unnamed: str = ""


def run_of_answers(value: Any, name: str) -> Answers | None:
    """Return the run in the answers to several queries, or None if the value is none. `name`: what errors call it."""
    value = _body(value)
    if isinstance(value, Mapping):
        if isinstance(answers := value.get("responses"), list):  # of `_msearch`
            return Answers(*_read(enumerate(answers), name), f"{name}['responses']")
        if isinstance(answers := value.get("details"), Mapping) and "metric_score" in value:  # of `_rank_eval`
            _refuse_failures(value.get("failures"), name)
            return _by_query(answers, name)
        if _is_of_chroma(value):
            rows = ([{"id": identifier} for identifier in row] for row in value["ids"])
            return Answers(*_read(enumerate(rows), name), f"{name}['ids']")
        if "candidates" in value:
            return run_of_answers([value], name)
        if hits_of(value) is not None:
            raise TypeError(f"{name} is the answer to one query: write {{query: {name}}}")
        return _by_query(value, name) if hits_of(next(iter(value.values()), None)) is not None else None
    if not isinstance(value, list):
        return None
    first = next((answer for answer in value if not (isinstance(answer, list) and not answer)), None)
    if isinstance(_field(first, "candidates"), list):  # of RankLLM
        queries = [_field(_field(answer, "query"), "qid") for answer in value]
        if None not in queries:
            return _by_query(_distinct(queries, value, name), name)
    if isinstance(first, Mapping) and "query" in default_columns(first):
        return None  # a table whose rows name their queries
    hits = hits_of(first)
    if hits is not None and (not hits or _fields_of(hits[0]) is not None):
        return Answers(*_read(enumerate(value), name), name)
    fields = _fields_of(first)
    if fields is not None and _field(first, fields[1]) is not None:
        raise TypeError(f"{name} has the hits of one query: write {{query: {name}}}")
    return None


def hits_of(answer: Any) -> list[Any] | None:
    """Return the hits in the answer to one query, best first; None if the value is no answer.

    These are responses to Elasticsearch's and OpenSearch's `_search`, of their `_rank_eval` for a query, Qdrant's
    `query_points`, Pinecone's and Chroma's `query`, results of RankLLM, and lists of hits: mappings with an id, pairs
    of id and score, nodes of LlamaIndex, and documents of haystack and LangChain.
    """
    answer = _body(answer)
    if isinstance(answer, Mapping):
        if isinstance(answer.get("error"), Mapping) and answer.keys() <= {"error", "status"}:
            reason = answer["error"].get("reason", answer["error"])
            raise ValueError(f"run: an answer is an error: {quoted(reason)}: search again, or leave that query out")
        result = answer.get("result")  # of Qdrant's REST interface
        hits = result if isinstance(result, list) else answer.get("hits", answer.get("matches"))
        hits = hits.get("hits") if isinstance(hits, Mapping) else hits
        if isinstance(result, Mapping) and "points" in result:
            _refuse_scroll("next_page_offset" in result)
            hits = result["points"]
        if "ids" in answer:
            hits = _of_chroma(answer) if "distances" in answer or "metadatas" in answer else hits
        hits = answer["candidates"] if "candidates" in answer and "query" in answer else hits
    else:
        if type(answer) is tuple and len(answer) == 2 and isinstance(answer[0], list):
            _refuse_scroll(hasattr(next(iter(answer[0]), None), "payload"))
        names = "points", "matches", "candidates"
        hits = next((getattr(answer, name) for name in names if hasattr(answer, name)), answer)
    if not isinstance(hits, list) or (hits and isinstance(hits[0], (str, int, float))):
        return None
    if hits and isinstance(hits[0], Mapping) and isinstance(hits[0].get("hit"), Mapping):
        return [hit["hit"] for hit in hits]  # of `_rank_eval`
    return hits if hits is not answer or (hits and _fields_of(hits[0]) is not None) else None


def _body(answer: Any) -> Any:
    """Return what Elasticsearch's client wraps in an object."""
    return getattr(answer, "body", answer)


def _refuse_scroll(is_scroll: bool) -> None:
    if is_scroll:
        raise ValueError(
            "run: Qdrant's scroll returns points in the order of their ids, which is no ranking: call query_points"
        )


def _is_of_chroma(answer: Mapping[Any, Any]) -> bool:
    """Return whether an answer is of Chroma's `query` for several texts."""
    ids = answer.get("ids")
    return (
        "distances" in answer and isinstance(ids, list) and len(ids) != 1 and all(isinstance(row, list) for row in ids)
    )


def _of_chroma(answer: Mapping[Any, Any]) -> Any:
    """Return the hits of Chroma's `query` for one text, as mappings."""
    ids = answer["ids"]
    if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], list):
        return [{"id": identifier} for identifier in ids[0]]
    if _is_of_chroma(answer):
        raise ValueError("run: an answer of Chroma has several queries: write dict(zip(queries, answer['ids']))")
    raise ValueError("run: Chroma's get returns documents in no order, which is no ranking: call query")


def _refuse_failures(failures: Any, name: str) -> None:
    """Refuse an answer of `_rank_eval` that lacks queries that failed, which would count as missing."""
    if isinstance(failures, Mapping) and failures:
        query, reason = next(iter(failures.items()))
        raise ValueError(
            f"{name}: _rank_eval failed for {len(failures)} of the queries, such as {quoted(query)}: {quoted(reason)}; "
            f"search again, or pass {name}['details'], in which they are missing"
        )


def _distinct(queries: Sequence[Any], answers: Sequence[Any], name: str) -> dict[Any, Any]:
    by_query = dict(zip(queries, answers, strict=True))
    if len(by_query) < len(queries):
        query = next(query for row, query in enumerate(queries) if query in queries[:row])
        raise ValueError(f"{name}: query {quoted(query)} comes twice; keep one answer per query")
    return by_query


def _fields_of(hit: Any) -> tuple[Any, Any] | None:
    """Return the keys or attributes of a hit that hold its id and its score, or None if the value is not a hit."""
    if isinstance(hit, Mapping):
        return next((pair for pair in _NAMES if pair[0] in hit), None)
    if isinstance(hit, tuple):  # a row of a table may be a named tuple
        return (
            (0, 1)
            if type(hit) is tuple and len(hit) == 2 and type(hit[1]) is float and isinstance(hit[0], (str, int))
            else None
        )
    for pair in (("node_id", "score"), ("docid", "score")):
        if hasattr(hit, pair[0]):
            return pair
    is_record = hasattr(hit, "payload") and hasattr(hit, "id") and not hasattr(hit, "score")
    _refuse_scroll(is_record)
    is_hit = hasattr(hit, "id") and any(hasattr(hit, name) for name in ("score", "page_content"))
    return ("id", "score") if is_hit else None


_NAMES = ("_id", "_score"), ("id", "score"), ("docid", "score")


def _field(value: Any, field: Any) -> Any:
    """Return a field of a mapping, a tuple or an object, or None if it does not exist."""
    if isinstance(value, Mapping):
        return value.get(field)
    return value[field] if type(field) is int else getattr(value, field, None)


def _by_query(answers: Mapping[Any, Any], name: str) -> Answers:
    lists, assumed = _read(answers.items(), name)
    ranks = ({document: -float(position) for position, document in enumerate(ids)} for ids in lists)
    return Answers(dict(zip(answers, ranks, strict=True)), assumed)


def _read(answers: Iterable[tuple[Any, Any]], name: str) -> tuple[list[list[Any]], tuple[str, ...]]:
    """Return the documents of each query in the order of its hits; also return what was assumed, in words."""
    lists: list[list[Any]] = []
    scored = disordered = 0
    line = ""
    for query, answer in answers:
        hits = hits_of(answer)
        if hits is None and not (isinstance(answer, (list, tuple)) and not answer):
            raise TypeError(
                f"{name}: query {quoted(query)}: must be an answer with hits, such as a response of _search"
            )
        ids: dict[Any, None] = {}
        scores = []
        for position, hit in enumerate(hits or ()):
            fields = _fields_of(hit)
            identifier = None if fields is None else _field(hit, fields[0])
            where = f"{name}: query {quoted(query)}, hit {position}"
            if fields is None or identifier is None:
                key = "_id" if isinstance(hit, Mapping) else "id"
                raise ValueError(f"{where}: it has no {key}; keep the ids of hits")
            if identifier in ids:
                raise ValueError(f"{where}: the document {quoted(identifier)} repeats an earlier one; keep one of them")
            ids[identifier] = None
            states_order = isinstance(hit, Mapping) and not {"sort", "rank"}.isdisjoint(hit)
            scores.append(None if states_order else _field(hit, fields[1]))
            line = line or _line(hit, fields)
        lists.append([*ids])
        if len(scores) > 2 and None not in scores:
            scored += 1
            disordered += not _is_monotone(scores)
    if 2 * disordered <= scored:
        return lists, ()
    remark = f"{name}: the scores of the hits neither fall nor rise in {disordered} of {scored} queries"
    return lists, (f"{remark}; the order of the hits was taken. To rank by score, write {line} for each query",)


def _is_monotone(scores: Sequence[Any]) -> bool:
    return any(all(starmap(order, pairwise(scores))) for order in (ge, le))


def _line(hit: Any, fields: tuple[Any, Any]) -> str:
    if type(hit) is tuple:
        return "dict(hits)"
    read = ["hit[{!r}]" if isinstance(hit, Mapping) else "hit.{}"] * 2
    identifier, score = (text.format(field) for text, field in zip(read, fields, strict=True))
    return f"{{{identifier}: {score} for hit in hits}}"
