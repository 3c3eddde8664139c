"""How far missing judgments can move the difference between two runs.

The extremes are taken per query, over all grades (from 0 to the highest) of the unjudged documents of both runs. Both
runs share one ideal, to which these documents are added as well. Documents that both runs returned are treated as
different ones, so that the bounds may be wider than necessary, but never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.inputs.ranked import from_ranked
from rankgain.metrics.discounts import NO_DISCOUNT, Discount
from rankgain.metrics.gains import Gain
from rankgain.metrics.metric import Metric
from rankgain.metrics.program import hits_of
from rankgain.rankings import Rankings, parts_of
from rankgain.scalars import NON_RELEVANT, Floats, Ints

MONOTONE = "cg", "dcg", "precision", "rbp", "rr", "success"  # metrics without an ideal that a higher grade never lowers
EXACT = 1e-14


class Ranked(NamedTuple):
    """A query of a run: the ranks and grades of the judged documents, the other ranks, and all grades of the query."""

    ranks: Ints
    grades: Floats
    unknown: Ints
    judged: Floats


class Layer(NamedTuple):
    """The contribution of gains between two levels to a difference, by the number of documents that reach them.

    If m unjudged documents do, the difference is at most the sum over layers of `width` times `most[m]`, divided by
    that of `width` times `ideal[m]`.
    """

    width: float
    most: Floats
    ideal: Floats


def ranked_queries(rankings: Rankings) -> list[Ranked] | None:
    """The documents and grades of each query; None if ranks depend on ties."""
    if rankings.ties not in (None, "stable", "docid"):
        return None
    queries: list[Ranked] = []
    for found in hits_of(*parts_of(rankings), UNLIMITED, NON_RELEVANT, UNLIMITED):
        for query in range(found.queries):
            hits = slice(*found.offsets[query : query + 2])
            known = slice(*found.judged_offsets[query : query + 2])
            ranks = found.first[hits].copy()
            unknown = np.setdiff1d(np.arange(1, int(found.returned[query]) + 1), ranks)
            judged = np.repeat(found.judged_grade[known], found.judged_count[known])
            queries.append(Ranked(ranks, found.grade[hits].copy(), unknown, judged))
    return queries


def difference_bounds(
    metric: Metric, run: Sequence[Ranked], baseline: Sequence[Ranked], highest: float
) -> tuple[Floats, Floats] | None:
    """The least and the largest difference of each query; None if no bound is known for the metric."""
    if metric.above < 0:  # by `rel=0` each document counts once it is judged, whatever its grade
        return None
    if metric.name in MONOTONE and metric.empty == 0.0 and _simple(metric.gain):
        run_low, run_high = _extremes(metric, run, highest)
        low, high = _extremes(metric, baseline, highest)
        return run_low - high, run_high - low
    layers_of = _layers_of(metric)
    if layers_of is None or math.isnan(metric.empty):
        return None
    pairs = list(zip(run, baseline, strict=True))
    high = np.array([_largest(layers_of(own, other, highest)) for own, other in pairs])
    low = np.array([-_largest(layers_of(other, own, highest)) for own, other in pairs])
    return low, high


def _simple(gain: Gain) -> bool:
    return gain.kind in ("linear", "exponential", "relevant")


def _extremes(metric: Metric, queries: Sequence[Ranked], highest: float) -> tuple[Floats, Floats]:
    """The values if all unjudged documents have grade 0, and if all have the highest grade."""
    ends = []
    for grade in (0.0, highest):
        lists = []
        for query in queries:
            graded = np.full(len(query.ranks) + len(query.unknown), grade)
            graded[query.ranks - 1] = query.grades
            lists.append(graded)
        ends.append(from_ranked(lists).evaluate(metric)[metric])
    return ends[0], ends[1]


Layers = Callable[[Ranked, Ranked, float], list[Layer]]


def _layers_of(metric: Metric) -> Layers | None:
    depth = metric.depth
    relevant = Gain.relevant(metric.above)
    if metric.name in ("ndcg", "ncg") and metric.ideal == "judged":
        discount = metric.discount if metric.name == "ndcg" else NO_DISCOUNT
        if _simple(metric.gain) and discount.non_increasing:
            return lambda own, other, highest: _by_gain(
                own, other, metric.gain, highest, lambda most: _worth(discount, most, depth)
            )
    if metric.name == "recall":
        return lambda own, other, highest: _by_gain(
            own, other, relevant, highest, lambda most: (np.arange(1, most + 1) <= depth).astype(float), whole=True
        )
    if metric.name == "ap":
        return lambda own, other, highest: [_of_precisions(own, other, relevant, highest, depth)]
    return None


def _worth(discount: Discount, most: int, depth: int) -> Floats:
    """The discount of each of the first ranks: 0 below the cut-off."""
    worth = np.zeros(most)
    table = discount.table(most)[: min(most, depth)]
    worth[: len(table)] = table
    return worth


def _by_gain(
    own: Ranked, other: Ranked, gain: Gain, highest: float, worth_of: Callable[[int], Floats], whole: bool = False
) -> list[Layer]:
    """Layers of a discounted sum of gains, divided by that of the ideal list, or (whole) by the gains of all judged."""
    free = len(own.unknown) + len(other.unknown)
    deepest = max(
        (int(ranks.max(initial=0)) for ranks in (own.ranks, own.unknown, other.ranks, other.unknown)), default=0
    )
    worth = worth_of(max(deepest, len(own.judged) + free) + 1)
    gains, own_gains, other_gains = gain.apply(own.judged), gain.apply(own.grades), gain.apply(other.grades)
    top = float(gain.apply(np.array([highest]))[0])
    levels = np.unique(np.concatenate([gains, [top]]))
    levels = levels[(levels > 0) & (levels <= top)]
    added = np.zeros(free + 1)
    weights = np.sort(worth[own.unknown - 1])[::-1]
    added[1 : len(weights) + 1] = np.cumsum(weights)
    added[len(weights) + 1 :] = added[len(weights)]
    ideal = np.concatenate([[0.0], np.cumsum(np.ones(len(worth)) if whole else worth)])
    layers, below = [], 0.0
    for level in levels.tolist():
        fixed = float(
            worth[own.ranks[own_gains >= level] - 1].sum() - worth[other.ranks[other_gains >= level] - 1].sum()
        )
        reached = int((gains >= level).sum())
        layers.append(Layer(level - below, fixed + added, ideal[reached : reached + free + 1]))
        below = level
    return layers


def _of_precisions(own: Ranked, other: Ranked, gain: Gain, highest: float, depth: int) -> Layer:
    """The layer of AP: the sum of precisions, with relevant documents as high as possible, by their number."""
    free = (len(own.unknown) + len(other.unknown)) if highest > gain.level else 0
    hits = np.sort(own.ranks[(gain.apply(own.grades) > 0) & (own.ranks <= depth)])
    against = np.sort(other.ranks[(gain.apply(other.grades) > 0) & (other.ranks <= depth)])
    fixed = float((np.arange(1, len(hits) + 1) / hits).sum() - (np.arange(1, len(against) + 1) / against).sum())
    unknown = own.unknown[own.unknown <= depth][:free]
    above = np.searchsorted(hits, unknown)
    later = np.concatenate([np.cumsum((1.0 / hits)[::-1])[::-1], [0.0]])
    added = np.cumsum((above + np.arange(1, len(unknown) + 1)) / unknown + later[above])
    most = np.full(free + 1, fixed + (float(added[-1]) if len(added) else 0.0))
    most[: len(added) + 1] = fixed + np.concatenate([[0.0], added])
    relevant = int((gain.apply(own.judged) > 0).sum())
    return Layer(1.0, most, relevant + np.arange(free + 1.0))


def _largest(layers: Sequence[Layer]) -> float:
    """The largest quotient, by Dinkelbach's method; each layer takes the number of documents that is best for it."""
    if not layers or all(layer.ideal[0] == 0.0 for layer in layers):
        # No document is known to be relevant, so that all layers are equal; with none at all both runs have 0.
        ratios = [float((layer.most[1:] / layer.ideal[1:]).max(initial=0.0)) for layer in layers]
        return max(ratios, default=0.0)
    largest = _quotient(layers, [0] * len(layers))
    while True:
        better = _quotient(layers, [int(np.argmax(layer.most - largest * layer.ideal)) for layer in layers])
        if better <= largest + EXACT:
            return max(better, largest)
        largest = better


def _quotient(layers: Sequence[Layer], taken: Sequence[int]) -> float:
    pairs = list(zip(layers, taken, strict=True))
    ideal = sum(layer.width * float(layer.ideal[count]) for layer, count in pairs)
    return sum(layer.width * float(layer.most[count]) for layer, count in pairs) / ideal
