"""Warnings about differences: few effective queries, skewness, unjudged documents, and the order of ties."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from rankgain.comparison.aligned import Sample
from rankgain.comparison.bounds import Ranked, difference_bounds, ranked_queries
from rankgain.comparison.difference import Difference, places_of, signed, subject
from rankgain.comparison.power import skewness
from rankgain.comparison.significance import effective
from rankgain.comparison.testing import Tested, sample_of
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.metric import Metric, aggregator, better, parse
from rankgain.metrics.table import TABLE
from rankgain.rankings import Rankings
from rankgain.results.evaluation import same_ids
from rankgain.results.text import printable
from rankgain.scalars import Floats

GAPS = " (without queries for which it returned nothing)"
NOTABLE = 0.02  # the smallest difference in judged@k that causes a warning
# Metrics that do not treat unjudged documents as not relevant, but ignore them or count them separately.
WITHOUT_UNJUDGED = (
    *("bpref", "gm_bpref", "fallout", "rbp_residual", "judged", "unjudged"),
    *("idcg", "num_ret", "num_rel", "num_nonrel_judged_ret", "num_q"),
)
FEWEST_EFFECTIVE = 6  # queries of equal weight; fewer cannot show a difference at 0.05
FEWEST_SKEWED, MOST_SKEWED = 30, 0.15  # minimum of signs for the check of skewness / √signs, and the limit
ROUNDING = 1e-12
BETWEEN = "; the truth may lie between."  # if no bounds are known
MOST_BOUNDED = 20_000  # queries, summed over differences; with more, no bounds are computed


def remarks(tests: Tested, rankings: Mapping[str, Rankings]) -> Iterator[str]:
    """Yield a sentence for each reason to doubt a difference, over the queries that were tested.

    The rankings behind the comparison, if there are any, are evaluated again.
    """
    for metric in tests.options.metrics:
        sample = sample_of(tests, metric)
        few = list(_few(metric, sample))
        yield from few or (line for pair in tests.values() if pair.metric == metric for line in _skewed(pair, sample))
    bounded = sum(pair.queries for pair in tests.values()) <= MOST_BOUNDED
    for metric in tests.options.metrics:
        sample, threads = sample_of(tests, metric), tests.options.threads
        runs = {name: _Run(each, metric, sample, threads) for name, each in rankings.items()}
        for pair in tests.values():
            if pair.metric == metric and pair.run in runs and pair.baseline in runs:
                run, baseline = runs[pair.run], runs[pair.baseline]
                if run.record.name not in WITHOUT_UNJUDGED:
                    yield from _unjudged(pair, run, baseline, bounded)
                yield from _ties(pair, run, baseline)


def _few(metric: str | Metric, sample: Sample) -> Iterator[str]:
    if sample.weights is not None and effective(sample.weights) < FEWEST_EFFECTIVE:
        yield (
            f"{printable(metric)}: the weights leave as much information as {effective(sample.weights):.1f} queries of "
            f"equal weight; with fewer than {FEWEST_EFFECTIVE}, p and interval are not reliable."
        )


def _skewed(pair: Difference, sample: Sample) -> Iterator[str]:
    """Warn if a decided difference points away from the long tail of the differences.

    In simulations with no true difference, this warned in 74 to 90% of the false decisions. With fewer signs the sample
    is not informative, and every test has a note on that.
    """
    if not pair.decided or pair.clusters < FEWEST_SKEWED:
        return
    skew = skewness(sample.differences(pair.run, pair.baseline), sample.weights, sample.clusters)
    if -skew * math.copysign(1.0, pair.difference) / math.sqrt(pair.clusters) > MOST_SKEWED:
        unit = "queries" if pair.clusters == pair.queries else "clusters"
        yield (
            f"{printable(subject(pair.metric))}: the difference of {printable(pair.run)} to {printable(pair.baseline)} "
            f"is decided, but the largest differences of single {unit} point the other way (skewness {skew:+.2f}). If "
            f"such {unit} are rare, {pair.clusters} {unit} contain too few of them, and the decision may be false."
        )


class _Run:
    """A run by one metric, over the tested queries: the values that warnings need, computed on first use."""

    def __init__(self, rankings: Rankings, metric: str | Metric, sample: Sample, threads: int) -> None:
        self._rankings, self._threads = rankings, threads
        self._query_ids, self._weights = sample.query_ids, sample.weights
        self.metric = metric
        ((_, self.record),) = parse(metric)
        self.judged = Metric("judged", self.record.k)

    def mean(self, values: Floats) -> float:
        """The mean or the geometric mean, as in the test; the mean also for a metric that is summed."""
        average = geometric_mean if aggregator(self.metric) is geometric_mean else mean
        return average(values, self._weights)

    def _values(self, rankings: Rankings, metric: str | Metric) -> Floats:
        result = rankings.evaluate(metric, threads=self._threads)
        return (result if same_ids(result.query_ids, self._query_ids) else result.subset(self._query_ids))[metric]

    @cached_property
    def share(self) -> tuple[float, bool, bool]:
        """The mean judged@k, whether any judged document is not relevant, and whether some queries returned nothing.

        Queries that returned nothing do not count in the mean.
        """
        k = self.record.k
        share, precision, returned = (
            self._values(self._rankings, metric) for metric in (self.judged, Metric("precision", k), Metric("num_ret"))
        )
        seen = returned if k is None else np.minimum(returned, k)
        graded = bool(np.any(share * seen - precision * (seen if k is None else k) > 0.5))
        rows = np.flatnonzero(returned)
        if not len(rows):
            return 1.0, graded, True
        weights = None if self._weights is None else self._weights[rows]
        return mean(share[rows], weights), graded, len(rows) < len(returned)

    @cached_property
    def condensed(self) -> float:
        """The mean of the metric over judged documents only."""
        return self.mean(self._values(self._rankings.limited(judged_only=True), self.metric))

    @cached_property
    def tied(self) -> tuple[float, float] | None:
        """The means with the worst and the best order of ties; None if they are unknown."""
        if self._rankings.ties is None or TABLE[self.record.name].unaveraged or not better(self.metric):
            return None
        try:
            average = self._rankings.under(ties="average")
            worst, best = (self.mean(self._values(average.under(ties=ties), self.metric)) for ties in ("worst", "best"))
        except ValueError:  # a run from a file that cannot be read again
            return None
        return worst, best

    @cached_property
    def queries(self) -> list[Ranked] | None:
        """The documents and grades of the tested queries; None if ranks depend on ties."""
        queries = ranked_queries(self._rankings)
        if queries is None:
            return None
        by_id = dict(zip(self._rankings.query_ids, queries, strict=True))
        return [by_id[query] for query in self._query_ids]


def _unjudged(pair: Difference, run: _Run, baseline: _Run, bounded: bool) -> Iterator[str]:
    (share, graded, gaps), (base, base_graded, base_gaps) = run.share, baseline.share
    # If only relevant documents are judged, unjudged documents are not relevant.
    if abs(share - base) < NOTABLE or not (base_graded or graded):
        return
    rest = run.condensed - baseline.condensed
    way = f"{abs(rest):.4f} {'higher' if rest > 0 else 'lower'} than" if rest else "as much as"
    name, base_name, metric = printable(pair.run), printable(pair.baseline), printable(pair.metric)
    yield (
        f"{run.judged!s} is {base:.4f} for {base_name}{GAPS * base_gaps} and {share:.4f} for {name}{GAPS * gaps}: "
        f"unjudged documents count as not relevant here. Over judged documents only, {name} scores {way} "
        f"{base_name} in {metric}{_bounds(run, baseline) if bounded else BETWEEN} Judge more before you decide."
    )


def _bounds(run: _Run, baseline: _Run) -> str:
    """A clause with the bounds on the difference if unjudged documents may be relevant, or without if unknown."""
    queries, base_queries = run.queries, baseline.queries
    if queries is None or base_queries is None or aggregator(run.metric) is geometric_mean:
        return BETWEEN
    highest = max((float(query.judged.max(initial=0.0)) for query in queries), default=0.0) or 1.0
    bounds = difference_bounds(run.record, queries, base_queries, highest)
    if bounds is None:
        return BETWEEN
    low, high = map(run.mean, bounds)
    return (
        ". If the unjudged documents that either run returned had any grades up to the highest, the difference would "
        f"lie at most between {signed(low)} and {signed(high)}."
    )


def _ties(pair: Difference, run: _Run, baseline: _Run) -> Iterator[str]:
    if run.tied is None or baseline.tied is None:
        return
    (lowest, highest), (base_lowest, base_highest) = sorted(run.tied), sorted(baseline.tied)
    low, high = lowest - base_highest, highest - base_lowest
    spread = (highest - lowest) + (base_highest - base_lowest)
    if spread > ROUNDING and pair.difference != 0.0 and low <= 0.0 <= high:
        yield (
            f"the order of tied documents alone could turn the difference of {printable(pair.run)} to "
            f"{printable(pair.baseline)} in {printable(pair.metric)}: it lies between "
            f"{signed(low, places_of(pair))} and {signed(high, places_of(pair))}; see tie_spread."
        )
