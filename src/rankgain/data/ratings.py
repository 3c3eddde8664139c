"""Read the ratings in requests to `_rank_eval` and in judgment lists of OpenSearch as judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgain.errors import quoted
from rankgain.scalars import decimal

# The fields by which requests and judgment lists are recognised.
RATING_FIELDS = REQUESTS, LIST = "requests", "judgmentRatings"


def judgments_of_ratings(value: Any, name: str) -> dict[Any, dict[Any, float]] | None:
    """Return the grades by query and document in requests of `_rank_eval`, or in a judgment list of OpenSearch.

    A judgment list may be the body of the request that imports it, or the answer that returns it. Return None if the
    value is none of these. `name`: what errors call it.
    """
    value = getattr(value, "body", value)
    if isinstance(value, Mapping):
        value = _of_answer(value, name)
        value = value.get(REQUESTS, value.get(LIST))
        if isinstance(value, Mapping):  # OpenSearch 3.0
            value = [{"query": query, "ratings": ratings} for query, ratings in value.items()]
    if not isinstance(value, list) or not value:
        return None
    key = next((key for key in ("id", "query") if _has_ratings(value[0], key)), None)
    if key is None:
        return None
    judged: dict[Any, dict[Any, float]] = {}
    for number, each in enumerate(value):
        if not _has_ratings(each, key):
            raise TypeError(f"{name}: item {number} must have {key!r} and a list of 'ratings', as the first one has")
        if each[key] in judged:
            raise ValueError(f"{name}: query {quoted(each[key])} comes twice; join its ratings")
        judged[each[key]] = _grades(each["ratings"], f"{name}: query {quoted(each[key])}")
    return judged


def _of_answer(value: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    """Return the judgment list in an answer of OpenSearch, or anything else unchanged."""
    hits = value.get("hits")
    hits = hits.get("hits") if isinstance(hits, Mapping) else None
    if not isinstance(hits, list):
        return value
    lists = [hit["_source"] for hit in hits if isinstance(hit, Mapping) and LIST in (hit.get("_source") or ())]
    if len(lists) > 1:
        raise ValueError(f"{name} has {len(lists)} judgment lists: pass one, {name}['hits']['hits'][0]['_source']")
    return lists[0] if lists else value


def _has_ratings(item: Any, key: str) -> bool:
    return isinstance(item, Mapping) and key in item and isinstance(item.get("ratings"), list)


def _grades(ratings: list[Any], where: str) -> dict[Any, float]:
    grades: dict[Any, float] = {}
    for position, rating in enumerate(ratings):
        document = rating.get("_id", rating.get("docId")) if isinstance(rating, Mapping) else None
        if document is None or "rating" not in rating:
            raise ValueError(f"{where}, rating {position}: it must have a 'rating', and an '_id' or a 'docId'")
        if document in grades:
            raise ValueError(f"{where}, rating {position}: {quoted(document)} repeats an earlier one; keep one of them")
        given = rating["rating"]  # OpenSearch stores text
        grade = decimal(given.encode()) if isinstance(given, str) else given
        if grade is None:
            raise ValueError(f"{where}, rating {position}: {quoted(given)} is not a number")
        grades[document] = grade
    return grades
