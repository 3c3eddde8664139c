"""What rankings say against a difference: unjudged documents that differ between runs, and the order of ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rankgain.comparison.difference import Difference, signed
from rankgain.metrics.metric import Metric, aggregator, better, parse
from rankgain.metrics.table import TABLE
from rankgain.rankings import Rankings
from rankgain.results.text import printable

NOTABLE = 0.02  # by so much judged@k differs between two runs before it is worth a line
ROUNDING = 1e-12


class Remarks:
    """The rankings behind a comparison, evaluated once for what they say about its differences."""

    def __init__(self, rankings: Mapping[str, Rankings], metrics: list[str | Metric], threads: int) -> None:
        self._rankings, self._metrics, self._threads = rankings, metrics, threads

    def about(self, its: Difference) -> Iterator[str]:
        """A sentence for each thing that speaks against this difference."""
        if its.run in self._rankings and its.baseline in self._rankings:
            yield from self._unjudged(its)
            yield from self._ties(its)

    def _unjudged(self, its: Difference) -> Iterator[str]:
        ((_, record),) = parse(its.metric)
        judged, relevant = Metric("judged", record.k), Metric("precision", record.k)
        shares, graded = {}, False
        for name in (its.baseline, its.run):
            result = self._rankings[name].evaluate(judged, relevant, threads=self._threads)
            shares[name] = result.mean(judged)
            graded = graded or bool(np.any(result[judged] != result[relevant]))
        base, share = shares.values()
        # Where only relevant documents are judged, nothing is known about the others.
        if abs(base - share) < NOTABLE or not graded:
            return
        condensed = {
            name: self._rankings[name].limited(judged_only=True).evaluate(its.metric, threads=self._threads)
            for name in (its.baseline, its.run)
        }
        means = [aggregator(its.metric)(result[its.metric], None) for result in condensed.values()]
        way = "higher" if means[1] > means[0] else "lower"
        run, metric = printable(its.run), printable(its.metric)
        yield (
            f"{judged!s} is {base:.4f} for {printable(its.baseline)} and {share:.4f} for {run}: unjudged documents "
            f"count as not relevant here. Over judged documents only, {run} scores {abs(means[1] - means[0]):.4f} "
            f"{way} in {metric}; the truth may lie between. Judge more before you decide."
        )

    def _ties(self, its: Difference) -> Iterator[str]:
        ((_, record),) = parse(its.metric)
        ends = {}
        for name in (its.baseline, its.run):
            rankings = self._rankings[name]
            if rankings.ties is None or TABLE[record.name].unaveraged or not better(its.metric):
                return
            try:
                average = rankings.under(ties="average")
                ends[name] = [
                    average.under(ties=ties).evaluate(its.metric, threads=self._threads).mean(its.metric)
                    for ties in ("worst", "best")
                ]
            except ValueError:  # a file that cannot be read again
                return
        base, run = ends.values()
        low, high = run[0] - base[1], run[1] - base[0]
        spread = (run[1] - run[0]) + (base[1] - base[0])
        if spread > ROUNDING and its.difference != 0.0 and low <= 0.0 <= high:
            yield (
                f"the order of tied documents alone could turn the difference of {printable(its.run)} to "
                f"{printable(its.baseline)} in {printable(its.metric)}: it lies between {signed(low)} and "
                f"{signed(high)}; see tie_spread."
            )
