"""What rankings say against a difference: unjudged documents that differ between runs, and the order of ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.comparison.difference import Difference, signed
from rankgain.inputs.ranked import from_ranked
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.families import NON_RELEVANT
from rankgain.metrics.metric import Metric, aggregator, better, parse
from rankgain.metrics.program import hits_of
from rankgain.metrics.table import TABLE
from rankgain.rankings import Rankings, parts_of
from rankgain.results.evaluation import same_ids
from rankgain.results.text import printable
from rankgain.scalars import Bools, Floats

NOTABLE = 0.02  # by so much judged@k differs between two runs before it is worth a line
ROUNDING = 1e-12
MOST_QUERIES = 100_000  # whose lists are made anew, which takes microseconds each


class Remarks:
    """The rankings behind a comparison, evaluated for what they say about its differences."""

    def __init__(self, rankings: Mapping[str, Rankings], threads: int) -> None:
        self._rankings, self._threads = rankings, threads

    def about(self, its: Difference, query_ids: Sequence[Any], weights: Floats | None) -> Iterator[str]:
        """A sentence for each thing that speaks against this difference, of the queries that were tested."""
        if its.run in self._rankings and its.baseline in self._rankings:
            own = [self._rankings[name] for name in (its.baseline, its.run)]
            yield from _unjudged(its, [_Tested(rankings, query_ids, weights, self._threads) for rankings in own])
            yield from _ties(its, [_Tested(rankings, query_ids, weights, self._threads) for rankings in own])


class _Tested(NamedTuple):
    """One of the two runs, and which of its queries were tested."""

    rankings: Rankings
    query_ids: Sequence[Any]
    weights: Floats | None
    threads: int

    def values(self, rankings: Rankings, metric: str | Metric) -> Floats:
        """Those of the queries that were tested."""
        result = rankings.evaluate(metric, threads=self.threads)
        vector = result[metric]
        if same_ids(result.query_ids, self.query_ids):
            return vector
        places = {query: row for row, query in enumerate(result.query_ids)}
        return vector[[places[query] for query in self.query_ids]]

    def mean(self, rankings: Rankings, metric: str | Metric) -> float:
        """As in the test: the mean, or the geometric mean; of a sum the mean as well."""
        own = geometric_mean if aggregator(metric) is geometric_mean else mean
        return own(self.values(rankings, metric), self.weights)


def _unjudged(its: Difference, runs: Sequence[_Tested]) -> Iterator[str]:
    ((_, record),) = parse(its.metric)
    judged, relevant = Metric("judged", record.k), Metric("precision", record.k)
    shares, graded = [], False
    for own in runs:
        share = own.values(own.rankings, judged)
        graded = graded or bool(np.any(share != own.values(own.rankings, relevant)))
        shares.append(mean(share, own.weights))
    # Where only relevant documents are judged, nothing is known about the others.
    if abs(shares[0] - shares[1]) < NOTABLE or not graded:
        return
    means = [own.mean(own.rankings.limited(judged_only=True), its.metric) for own in runs]
    way = "higher" if means[1] > means[0] else "lower"
    run, metric = printable(its.run), printable(its.metric)
    yield (
        f"{judged!s} is {shares[0]:.4f} for {printable(its.baseline)} and {shares[1]:.4f} for {run}: unjudged "
        f"documents count as not relevant here. Over judged documents only, {run} scores "
        f"{abs(means[1] - means[0]):.4f} {way} in {metric}; the truth may lie between. "
        f"{_bounds(its, record, runs)}Judge more before you decide."
    )


def _bounds(its: Difference, record: Metric, runs: Sequence[_Tested]) -> str:
    """What the difference can be where unjudged documents may be relevant; nothing where their ranks are not known."""
    found = []
    for own in runs:
        if own.rankings.ties not in (None, "stable", "docid") or len(own.rankings) > MOST_QUERIES:
            return ""
        try:
            ends = own.mean(own.rankings, its.metric), own.mean(_all_relevant(own.rankings, record.k), its.metric)
        except ValueError:  # the metric, or its gain, has no value for such lists
            return ""
        found.append((min(ends), max(ends)))
    base, run = found
    return (
        "With all of them taken as relevant (of the highest grade) or as not, in either run, the difference lies "
        f"between {signed(run[0] - base[1])} and {signed(run[1] - base[0])}. "
    )


def _all_relevant(rankings: Rankings, k: int | None) -> Rankings:
    """The first k documents of each query, those that are not judged with the highest grade of all."""
    depth = UNLIMITED if k is None else k
    lists: list[Floats] = []
    judged: list[Floats] = []
    unknown: list[Bools] = []
    for found in hits_of(*parts_of(rankings), depth, NON_RELEVANT, UNLIMITED):
        for query in range(found.queries):
            hits = slice(*found.offsets[query : query + 2])
            own = np.full(min(int(found.returned[query]), depth), np.nan)
            inside = found.first[hits] <= len(own)
            own[found.first[hits][inside] - 1] = found.grade[hits][inside]
            known = slice(*found.judged_offsets[query : query + 2])
            lists.append(own)
            unknown.append(np.isnan(own))
            judged.append(np.repeat(found.judged_grade[known], found.judged_count[known]))
    highest = max((float(own.max(initial=0.0)) for own in judged), default=0.0) or 1.0
    for own, gone in zip(lists, unknown, strict=True):
        own[gone] = highest
    whole = [
        np.append(own, np.full(np.count_nonzero(gone), highest)) for own, gone in zip(judged, unknown, strict=True)
    ]
    return from_ranked(lists, judged=whole, query_ids=rankings.query_ids)


def _ties(its: Difference, runs: Sequence[_Tested]) -> Iterator[str]:
    ((_, record),) = parse(its.metric)
    ends = []
    for own in runs:
        if own.rankings.ties is None or TABLE[record.name].unaveraged or not better(its.metric):
            return
        try:
            average = own.rankings.under(ties="average")
            ends.append([own.mean(average.under(ties=ties), its.metric) for ties in ("worst", "best")])
        except ValueError:  # a file that cannot be read again
            return
    base, run = ends
    low, high = run[0] - base[1], run[1] - base[0]
    spread = (run[1] - run[0]) + (base[1] - base[0])
    if spread > ROUNDING and its.difference != 0.0 and low <= 0.0 <= high:
        yield (
            f"the order of tied documents alone could turn the difference of {printable(its.run)} to "
            f"{printable(its.baseline)} in {printable(its.metric)}: it lies between {signed(low)} and "
            f"{signed(high)}; see tie_spread."
        )
