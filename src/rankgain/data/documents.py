"""The documents of one query with their ids, as needed to explain a value. The engine does not need the ids."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from rankgain.data.rules import Rules


class TieGroup(NamedTuple):
    """The positions of documents that share the ranks first … last, or a single position if the rules break ties."""

    first: int
    last: int
    positions: list[int]


class Documents(NamedTuple):
    """The returned documents of a query, by their positions in the input, and the judged documents.

    `groups`: the positions in rank order, without documents that the rules exclude. `ids`: None if documents have no
    ids. `scores`: None if documents were given in rank order. `grades`: one per returned document; it is None if the
    document is unjudged, and negative if the document is pooled but unjudged. `judged`: the grades of all judged
    documents. `judged_ids`: the ids or positions of the judged documents, if known. `positions`: the position of each
    returned document in the input, before a mask left documents out, if known.
    """

    groups: list[TieGroup]
    ids: list[Any] | None
    scores: list[float] | None
    grades: list[float | None]
    judged: list[float]
    judged_ids: list[Any] | None
    positions: list[int] | None = None


def documents_of_ids(
    rules: Rules, ids: list[Any], scores: list[float] | None, judged: dict[Any, float], keys: list[Any] | None = None
) -> Documents:
    """Return the documents of a query with ids. `keys`: the keys that break ties by id; by default, the ids."""
    grades = [judged.get(document) for document in ids]
    groups = tie_groups(rules, scores, grades, ids if keys is None else keys)
    return Documents(groups, ids, scores, grades, list(judged.values()), list(judged))


def tie_groups(
    rules: Rules, scores: list[float] | None, grades: list[float | None], keys: list[Any] | None = None
) -> list[TieGroup]:
    """Return the documents as tie groups in rank order, in the same order as `_reference.ranking`."""
    members: list[list[int]] = [[position] for position in range(len(grades))]
    if scores is not None:
        with np.errstate(over="ignore"):
            compared = np.array(scores, dtype=np.float32 if rules.score_bits == 32 else np.float64).tolist()
        order = sorted(range(len(grades)), key=lambda position: -compared[position])
        members = [list(tied) for _, tied in groupby(order, compared.__getitem__)]
        if rules.ties in (None, "stable", "docid"):
            members = [[position] for tied in members for position in _ordered(rules, tied, keys)]
    groups = [group for group in _with_ranks(members) if group.first <= rules.depth]
    if not rules.judged_only:
        return groups
    judged = [[position for position in group.positions if is_judged(grades[position])] for group in groups]
    return [group for group in _with_ranks(judged) if group.first <= rules.condensed_depth]


def judged_as_scored(documents: Documents, rules: Rules) -> Documents:
    """Return the documents of a query with the documents that count as the judged ones, if the rules say so."""
    if not rules.scored_only:
        return documents
    grades: list[float | None] = [grade if is_judged(grade) else 0.0 for grade in documents.grades]
    scored = [position for group in documents.groups for position in group.positions]
    return documents._replace(
        groups=[group for group in documents.groups if group.first <= rules.scored_depth],
        grades=grades,
        judged=[grades[position] or 0.0 for position in scored],
        judged_ids=scored if documents.ids is None else [documents.ids[position] for position in scored],
    )


def is_judged(grade: float | None) -> TypeGuard[float]:
    return grade is not None and grade >= 0.0


def _ordered(rules: Rules, tied: list[int], keys: list[Any] | None) -> list[int]:
    """Sort tied documents by id if the rules require it.

    Ids of mixed types are left unsorted; where the order matters, the engine refuses them.
    """
    if rules.ties != "docid" or keys is None or len(tied) == 1:
        return tied
    try:
        return sorted(tied, key=keys.__getitem__, reverse=True)
    except TypeError:
        return tied


def _with_ranks(members: list[list[int]]) -> list[TieGroup]:
    groups, rank = [], 1
    for positions in filter(None, members):
        groups.append(TieGroup(rank, rank + len(positions) - 1, positions))
        rank += len(positions)
    return groups
