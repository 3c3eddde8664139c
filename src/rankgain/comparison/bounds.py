"""Bounds on the difference between two runs, over all possible judgments of the unjudged documents.

The bounds for a query hold whatever the grades of the unjudged documents of both runs are, from 0 to the highest grade.
Both runs have the same ideal, which includes these documents. A document that both runs returned is treated as two
documents, so the bounds may be wider than necessary, but never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.inputs.ranked import from_ranked
from rankgain.metrics.discounts import NO_DISCOUNT
from rankgain.metrics.gains import Gain
from rankgain.metrics.metric import Metric
from rankgain.metrics.program import chunk_hits
from rankgain.rankings import Rankings, parts_of
from rankgain.scalars import NON_RELEVANT, Floats, Ints, to_intp

# Metrics that are not divided by an ideal, and whose value never falls if a grade rises.
_MONOTONE = "cg", "dcg", "precision", "rbp", "rr", "success"
_PROGRESS = 1e-14  # smaller improvements of a bound are rounding errors


class Ranked(NamedTuple):
    """One query of a run.

    `ranks` and `grades`: those of the returned documents that are judged; `returned`: the number of returned documents;
    `judged`: all judged grades.
    """

    ranks: Ints
    grades: Floats
    returned: int
    judged: Floats

    @property
    def unjudged(self) -> Ints:
        """The ranks of the returned documents that are not judged."""
        return np.setdiff1d(np.arange(1, self.returned + 1), self.ranks, assume_unique=True)

    @property
    def n_unjudged(self) -> int:
        return self.returned - len(self.ranks)


class Layer(NamedTuple):
    """The gains between two levels, and how much they can contribute to the difference between two runs.

    The contribution depends on the number m of unjudged documents with a gain above these levels. The difference is at
    most the sum of `width` times `most[m]` over all layers, divided by the sum of `width` times `ideal[m]`.
    """

    width: float
    most: Floats
    ideal: Floats


def ranked_queries(rankings: Rankings) -> list[Ranked] | None:
    """Return the documents and grades of each query, or None if ranks depend on ties."""
    if rankings.ties not in (None, "stable", "docid"):
        return None
    queries: list[Ranked] = []
    for chunk in chunk_hits(*parts_of(rankings), UNLIMITED, NON_RELEVANT, UNLIMITED):
        for query in range(chunk.queries):
            hits = slice(*chunk.offsets[query : query + 2])
            grades = slice(*chunk.judged_offsets[query : query + 2])
            ranks = chunk.first[hits].copy()
            judged = np.repeat(chunk.judged_grade[grades], to_intp(chunk.judged_count[grades]))
            queries.append(Ranked(ranks, chunk.grade[hits].copy(), int(chunk.returned[query]), judged))
    return queries


def difference_bounds(
    metric: Metric, run: Sequence[Ranked], baseline: Sequence[Ranked], highest: float
) -> tuple[Floats, Floats] | None:
    """Return lower and upper bounds on the difference for each query, or None if none are known for the metric."""
    if metric.above < 0:  # with `rel=0` every judged document is relevant, whatever its grade
        return None
    if metric.name in _MONOTONE and metric.empty == 0.0 and _simple(metric.gain):
        run_low, run_high = _extremes(metric, run, highest)
        low, high = _extremes(metric, baseline, highest)
        return run_low - high, run_high - low
    layers_of = _layers_of(metric)
    if layers_of is None or math.isnan(metric.empty):
        return None
    pairs = list(zip(run, baseline, strict=True))
    high = np.array([_largest_quotient(layers_of(one, other, highest)) for one, other in pairs])
    low = np.array([-_largest_quotient(layers_of(other, one, highest)) for one, other in pairs])
    return low, high


def _simple(gain: Gain) -> bool:
    return gain.kind in ("linear", "exponential", "relevant")


def _extremes(metric: Metric, queries: Sequence[Ranked], highest: float) -> tuple[Floats, Floats]:
    """Return two values: with grade 0 for all unjudged documents, and with the highest grade for all of them."""
    ends = []
    for grade in (0.0, highest):
        lists = []
        for query in queries:
            graded = np.full(query.returned, grade)
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
            return lambda run, baseline, highest: _by_gain(
                run, baseline, metric.gain, highest, lambda ranks: discount.to_cutoff(ranks, depth)
            )
    if metric.name == "recall":
        return lambda run, baseline, highest: _by_gain(
            run, baseline, relevant, highest, lambda ranks: (np.arange(1, ranks + 1) <= depth).astype(float), whole=True
        )
    if metric.name == "ap":
        return lambda run, baseline, highest: [_of_precisions(run, baseline, relevant, highest, depth)]
    return None


def _by_gain(
    run: Ranked,
    baseline: Ranked,
    gain: Gain,
    highest: float,
    discounts_of: Callable[[int], Floats],
    whole: bool = False,
) -> list[Layer]:
    """Return the layers of a discounted sum of gains that is divided by the same sum for the ideal list.

    With `whole`, the divisor is the sum of the gains of all judged documents. Between two levels of gain, a document
    counts in full or not at all, as in a binary metric whose relevant documents are those above the level.
    """
    free = run.n_unjudged + baseline.n_unjudged
    discounts = discounts_of(max(run.returned, baseline.returned, len(run.judged) + free) + 1)
    gains, run_gains, baseline_gains = map(gain.apply, (run.judged, run.grades, baseline.grades))
    top = float(gain.apply(np.array([highest]))[0])
    levels = np.unique(np.concatenate([gains, [top]]))
    levels = levels[(levels > 0) & (levels <= top)]
    # The difference is largest if the relevant unjudged documents are those with the largest discounts in the run.
    added = np.zeros(free + 1)
    largest_first = np.sort(discounts[run.unjudged - 1])[::-1]
    added[1 : len(largest_first) + 1] = np.cumsum(largest_first)
    added[len(largest_first) + 1 :] = added[len(largest_first)]
    ideal = np.concatenate([[0.0], np.cumsum(np.ones(len(discounts)) if whole else discounts)])
    layers, below = [], 0.0
    for level in levels.tolist():
        judged = float(
            discounts[run.ranks[run_gains >= level] - 1].sum()
            - discounts[baseline.ranks[baseline_gains >= level] - 1].sum()
        )
        relevant = int((gains >= level).sum())
        layers.append(Layer(level - below, judged + added, ideal[relevant : relevant + free + 1]))
        below = level
    return layers


def _of_precisions(run: Ranked, baseline: Ranked, gain: Gain, highest: float, depth: int) -> Layer:
    """Return the layer of AP, which has the sum of precisions for each number of relevant unjudged documents.

    The unjudged documents at the first ranks are taken to be the relevant ones.
    """
    free = run.n_unjudged + baseline.n_unjudged if highest > gain.level else 0
    hits, baseline_hits = (
        np.sort(each.ranks[(gain.apply(each.grades) > 0) & (each.ranks <= depth)]) for each in (run, baseline)
    )
    judged = float(
        (np.arange(1, len(hits) + 1) / hits).sum() - (np.arange(1, len(baseline_hits) + 1) / baseline_hits).sum()
    )
    unjudged = run.unjudged
    unjudged = unjudged[unjudged <= depth][:free]
    above = np.searchsorted(hits, unjudged)
    # A relevant document adds the precision at its own rank, and it raises the precision of each hit at a lower rank r
    # by 1 / r.
    later = np.concatenate([np.cumsum((1.0 / hits)[::-1])[::-1], [0.0]])
    added = np.cumsum((above + np.arange(1, len(unjudged) + 1)) / unjudged + later[above])
    most = np.full(free + 1, judged + (float(added[-1]) if len(added) else 0.0))
    most[: len(added) + 1] = judged + np.concatenate([[0.0], added])
    relevant = int((gain.apply(run.judged) > 0).sum())
    return Layer(1.0, most, relevant + np.arange(free + 1.0))


def _largest_quotient(layers: Sequence[Layer]) -> float:
    """Return the largest quotient that can be reached by choosing a number of documents for each layer.

    This is Dinkelbach's method (1967): q is the largest quotient if and only if no choice has a numerator above q times
    its denominator. Since numerator and denominator are sums over layers, the choice that exceeds q most is made layer
    by layer. The quotient of that choice is the next q, until q no longer grows.
    """
    if not layers or all(layer.ideal[0] == 0.0 for layer in layers):
        # No document is known to be relevant, so all layers are equal. If there is no document at all, the values of
        # both runs are 0.
        quotients = [float((layer.most[1:] / layer.ideal[1:]).max(initial=0.0)) for layer in layers]
        return max(quotients, default=0.0)
    largest = _quotient(layers, [0] * len(layers))
    while True:
        chosen = [int(np.argmax(layer.most - largest * layer.ideal)) for layer in layers]
        larger = _quotient(layers, chosen)
        if larger <= largest + _PROGRESS:
            return max(larger, largest)
        largest = larger


def _quotient(layers: Sequence[Layer], chosen: Sequence[int]) -> float:
    pairs = list(zip(layers, chosen, strict=True))
    ideal = sum(layer.width * float(layer.ideal[count]) for layer, count in pairs)
    return sum(layer.width * float(layer.most[count]) for layer, count in pairs) / ideal
