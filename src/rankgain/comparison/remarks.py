"""Warnings about differences: unjudged documents that differ between runs, and the order of ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from rankgain.comparison.aligned import Sample
from rankgain.comparison.bounds import Ranked, difference_bounds, ranked_queries
from rankgain.comparison.difference import Difference, places_of, signed
from rankgain.comparison.testing import Tested, sample_of
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.metric import Metric, aggregator, better, parse
from rankgain.metrics.table import TABLE
from rankgain.rankings import Rankings
from rankgain.results.evaluation import same_ids
from rankgain.results.text import printable
from rankgain.scalars import Floats

GAPS = " (without queries for which it returned nothing)"
NOTABLE = 0.02  # the smallest difference in judged@k that is worth a warning
ROUNDING = 1e-12
BETWEEN = "; the truth may lie between."  # if no bounds are known
MOST_BOUNDED = 20_000  # queries, summed over differences; with more, no bounds are computed


def remarks(tests: Tested, rankings: Mapping[str, Rankings]) -> Iterator[str]:
    """Yield a sentence for each reason to doubt a difference, over the queries that were tested.

    The rankings behind the comparison are evaluated again to find out.
    """
    bounded = sum(pair.queries for pair in tests.values()) <= MOST_BOUNDED
    for metric in tests.options.metrics:
        runs = _Runs(rankings, metric, sample_of(tests, metric), tests.options.threads)
        for pair in tests.values():
            if pair.metric == metric and pair.run in rankings and pair.baseline in rankings:
                yield from _unjudged(pair, runs, bounded)
                yield from _ties(pair, runs)


class _Runs:
    """What the warnings need to know about each run by one metric, over the queries that were tested."""

    def __init__(self, rankings: Mapping[str, Rankings], metric: str | Metric, sample: Sample, threads: int) -> None:
        self._rankings, self._threads = rankings, threads
        self._query_ids, self._weights = sample.query_ids, sample.weights
        self.metric = metric
        ((_, self.record),) = parse(metric)
        self.judged = Metric("judged", self.record.k)
        # Each run is evaluated once, however many runs it is compared with.
        self.share, self.condensed = cache(self._share), cache(self._condensed)
        self.tied, self.queries = cache(self._tied), cache(self._queries)

    def mean(self, values: Floats) -> float:
        """The mean, or the geometric mean, as in the test; for a summed metric the mean too."""
        own = geometric_mean if aggregator(self.metric) is geometric_mean else mean
        return own(values, self._weights)

    def _values(self, rankings: Rankings, metric: str | Metric) -> Floats:
        result = rankings.evaluate(metric, threads=self._threads)
        places = self._places(result.query_ids)
        return result[metric] if places is None else result[metric][places]

    def _places(self, query_ids: Sequence[Any]) -> list[int] | None:
        """The positions of the tested queries; None if all queries were tested, in this order."""
        if same_ids(query_ids, self._query_ids):
            return None
        places = {query: row for row, query in enumerate(query_ids)}
        return [places[query] for query in self._query_ids]

    def _share(self, run: str) -> tuple[float, bool, bool]:
        """The mean judged@k, whether any judged document is not relevant, and whether some queries returned nothing.

        Queries that returned nothing do not count in the mean.
        """
        rankings, k = self._rankings[run], self.record.k
        share, precision = self._values(rankings, self.judged), self._values(rankings, Metric("precision", k))
        returned = self._values(rankings, Metric("num_ret"))
        seen = returned if k is None else np.minimum(returned, k)
        graded = bool(np.any(share * seen - precision * (seen if k is None else k) > 0.5))
        own = np.flatnonzero(returned)
        if not len(own):
            return 1.0, graded, True
        weights = None if self._weights is None else self._weights[own]
        return mean(share[own], weights), graded, len(own) < len(returned)

    def _condensed(self, run: str) -> float:
        """The mean of the metric over judged documents only."""
        return self.mean(self._values(self._rankings[run].limited(judged_only=True), self.metric))

    def _tied(self, run: str) -> tuple[float, float] | None:
        """The means with the worst and the best order of ties; None if they are unknown."""
        rankings = self._rankings[run]
        if rankings.ties is None or TABLE[self.record.name].unaveraged or not better(self.metric):
            return None
        try:
            average = rankings.under(ties="average")
            worst, best = (self.mean(self._values(average.under(ties=ties), self.metric)) for ties in ("worst", "best"))
        except ValueError:  # a file that cannot be read again
            return None
        return worst, best

    def _queries(self, run: str) -> list[Ranked] | None:
        queries = ranked_queries(self._rankings[run])
        if queries is None:
            return None
        places = self._places(self._rankings[run].query_ids)
        return queries if places is None else [queries[place] for place in places]

    def bounds(self, run: str, baseline: str) -> tuple[float, float] | None:
        """The bounds of the difference if unjudged documents may be relevant; None if no bounds are known."""
        own, other = self.queries(run), self.queries(baseline)
        if own is None or other is None or aggregator(self.metric) is geometric_mean:
            return None
        highest = max((float(query.judged.max(initial=0.0)) for query in own), default=0.0) or 1.0
        found = difference_bounds(self.record, own, other, highest)
        return None if found is None else (self.mean(found[0]), self.mean(found[1]))


def _unjudged(pair: Difference, runs: _Runs, bounded: bool) -> Iterator[str]:
    (base, base_graded, base_gaps), (share, graded, gaps) = runs.share(pair.baseline), runs.share(pair.run)
    # If only relevant documents are judged, unjudged ones are simply not relevant.
    if abs(share - base) < NOTABLE or not (base_graded or graded):
        return
    rest = runs.condensed(pair.run) - runs.condensed(pair.baseline)
    way = f"{abs(rest):.4f} {'higher' if rest > 0 else 'lower'} than" if rest else "as much as"
    run, baseline, metric = printable(pair.run), printable(pair.baseline), printable(pair.metric)
    yield (
        f"{runs.judged!s} is {base:.4f} for {baseline}{GAPS * base_gaps} and {share:.4f} for {run}{GAPS * gaps}: "
        f"unjudged documents count as not relevant here. Over judged documents only, {run} scores {way} "
        f"{baseline} in {metric}{_bounds(pair, runs) if bounded else BETWEEN} Judge more before you decide."
    )


def _bounds(pair: Difference, runs: _Runs) -> str:
    found = runs.bounds(pair.run, pair.baseline)
    if found is None:
        return BETWEEN
    return (
        ". If the unjudged documents that either run returned had any grades up to the highest, the difference would "
        f"lie between {signed(found[0])} and {signed(found[1])}."
    )


def _ties(pair: Difference, runs: _Runs) -> Iterator[str]:
    base, run = runs.tied(pair.baseline), runs.tied(pair.run)
    if base is None or run is None:
        return
    low, high = run[0] - base[1], run[1] - base[0]
    spread = (run[1] - run[0]) + (base[1] - base[0])
    if spread > ROUNDING and pair.difference != 0.0 and low <= 0.0 <= high:
        yield (
            f"the order of tied documents alone could turn the difference of {printable(pair.run)} to "
            f"{printable(pair.baseline)} in {printable(pair.metric)}: it lies between "
            f"{signed(low, places_of(pair))} and {signed(high, places_of(pair))}; see tie_spread."
        )
