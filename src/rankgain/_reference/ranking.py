"""Reference implementation: order the documents of a query by score, and find the ranks of tied documents."""

import math
from ctypes import c_float
from itertools import groupby
from typing import NamedTuple

from rankgain._codes import AVERAGE, DOCID, MIXED_IDS, STABLE, WORST
from rankgain._reference.numbers import Refused
from rankgain._reference.query import HitGroup
from rankgain.scalars import NON_RELEVANT, id_kind


class RankingRules(NamedTuple):
    """Rules that order the documents of a query, and select the documents that count (see `rankgain.data.rules`).

    `ties`: the policy for equal scores; `single`: whether scores are compared as float32. Only the first `depth` ranks
    count. With `judged_only`, only the judged documents at these ranks count, and only the first `condensed_depth` of
    them. With `scored_only`, the documents that are left are the judged ones; only the first `scored_depth` of them
    count. All depths are unlimited unless every document has a unique rank; otherwise it would be undefined which of
    several tied documents to keep.
    """

    ties: int
    single: bool
    depth: int
    judged_only: bool
    condensed_depth: int
    scored_only: bool
    scored_depth: int


class QueryDocuments(NamedTuple):
    """The documents of one query in input order, and the grades of all judged documents.

    `ids` is None if the form has no ids, and `scores` is None if the documents are in rank order. A grade is None if
    the document is unjudged, and negative if the document was pooled but not judged.
    """

    ids: list | None
    scores: list[float] | None
    grades: list[float | None]
    judged: list[float]


def find_hits(documents, rules, depth, lowest):
    """Return the tie groups that contain hits and start within the top `depth` ranks.

    Hits are documents with a grade above `lowest`. The highest score comes first. Documents with equal scores form one
    group unless the rules order them: in input order (STABLE) or by id, highest first (DOCID).
    """
    grades, groups, rank = documents.grades, [], 1
    for members in _by_score(documents.scores, len(grades), rules.single):
        if rank > depth:
            break
        hits = _graded_above(lowest, grades, members)
        if hits and len(members) > 1 and rules.ties in (STABLE, DOCID):
            ordered = _in_order(documents.ids, members, rules.ties)
            rank_of = {index: hit_rank for hit_rank, index in enumerate(ordered, rank)}
            ranked = sorted((rank_of[index], grades[index]) for index in hits)
            groups += [HitGroup(hit_rank, hit_rank, [grade]) for hit_rank, grade in ranked if hit_rank <= depth]
        elif hits:
            highest_first = sorted((grades[index] for index in hits), reverse=True)
            groups.append(HitGroup(rank, rank + len(members) - 1, highest_first))
        rank += len(members)
    return groups


def _graded_above(lowest, grades, members):
    """Return the members of a tie group that have a grade above `lowest`."""
    return [index for index in members if grades[index] is not None and grades[index] > lowest]


def _by_score(scores, count, single):
    """Yield lists of the positions of documents with equal scores, highest score first.

    Without scores, each list has one position.
    """
    if scores is None:
        return ([index] for index in range(count))
    if single:
        scores = [c_float(score).value for score in scores]
    order = sorted(range(count), key=lambda index: -scores[index])
    return (list(tied) for _, tied in groupby(order, scores.__getitem__))


def _in_order(ids, members, ties):
    """Order the documents of a tie group as they are given (STABLE) or by id, highest first (DOCID).

    Ids of type str are ordered by code point, bytes by byte, and int numerically. Ids that are not all str, all bytes
    or all int are refused.
    """
    if ties == STABLE:
        return members
    kinds = {id_kind(ids[index]) for index in members}
    if len(kinds) > 1 or not kinds <= {str, bytes, int}:
        raise Refused(MIXED_IDS)
    return sorted(members, key=ids.__getitem__, reverse=True)


def keep(returned, groups, rules):
    """Remove the documents that do not count, and move up the documents below them.

    Return the new length of the list and the tie groups that remain.
    """
    returned, groups = min(returned, rules.depth), [group for group in groups if group.first <= rules.depth]
    if not rules.judged_only:
        return returned, groups
    judged, above = [], 0
    for group in groups:
        grades = [grade for grade in group.grades if grade >= 0.0]
        if grades:
            judged.append(HitGroup(above + 1, above + len(grades), grades))
        above += len(grades)
    return min(above, rules.condensed_depth), [group for group in judged if group.first <= rules.condensed_depth]


def judge_scored(returned, groups):
    """Return all returned documents as tie groups and their grades, which replace the judged ones.

    Documents that are not in the groups have grade 0. They are tied only with each other, so each has its own rank.
    """
    every, grades = [], []
    for group in groups:
        every += [HitGroup(rank, rank, [0.0]) for rank in range(len(grades) + 1, group.first)]
        every.append(group._replace(grades=group.grades + [0.0] * (group.size - len(group.grades))))
        grades += [0.0] * (group.first - 1 - len(grades)) + every[-1].grades
    every += [HitGroup(rank, rank, [0.0]) for rank in range(len(grades) + 1, returned + 1)]
    return every, grades + [0.0] * (returned - len(grades))


def judged_share(documents, rules, depth):
    """Return the share of judged documents among the first `depth`, which is the value of judged@k.

    It is NaN if no document was returned, or if the order of tied documents matters and they cannot be ordered.
    """
    ranks = min(len(documents.grades), rules.depth, depth)
    grades, count, left = documents.grades, 0, ranks
    for members in _by_score(documents.scores, len(grades), rules.single):
        if left <= 0:
            break
        judged = _graded_above(NON_RELEVANT, grades, members)
        if judged and len(members) > left:
            count += _judged_within(documents.ids, members, judged, left, rules.ties)
        else:
            count += len(judged)
        left -= len(members)
    return count / ranks if ranks else math.nan


def _judged_within(ids, members, judged, ranks, ties):
    """Return how many judged documents of a tie group have one of its first `ranks` ranks, or NaN if it is unknown."""
    if ties == AVERAGE:
        return len(judged) * ranks / len(members)
    if ties == WORST:
        return max(0, ranks - (len(members) - len(judged)))
    if ties in (STABLE, DOCID):
        try:
            return len(set(judged).intersection(_in_order(ids, members, ties)[:ranks]))
        except Refused:
            return math.nan
    return min(len(judged), ranks)


def grade_counts(grades, depth):
    """Count how often each grade occurs among the `depth` highest grades; return (grade, count) pairs, highest first.

    −0.0 counts as 0.0.
    """
    highest = sorted((grade + 0.0 for grade in grades), reverse=True)[: min(depth, len(grades))]
    return [(grade, len(list(same))) for grade, same in groupby(highest)]
