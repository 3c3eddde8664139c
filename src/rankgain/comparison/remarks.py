"""Warnings about differences: unequal weights, skewness, decisive queries, unjudged documents, and ties."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankgain.comparison.aligned import Aligned, Sample
from rankgain.comparison.bounds import Ranked, difference_bounds
from rankgain.comparison.difference import EXACT, RANDOM, Difference, alpha_of, decimals_of, started, subject
from rankgain.comparison.evidence import MOST_BOUNDED, RETURNED, WITHOUT_UNJUDGED, Evidence, Rule, shares_of
from rankgain.comparison.power import skewness
from rankgain.comparison.testing import Tested, differences_of, sample_of
from rankgain.metrics.aggregators import FEWEST_EFFECTIVE, effective, geometric_mean, mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.evaluation import same_ids
from rankgain.results.text import Block, Table, printable, signed
from rankgain.scalars import Floats

NOTABLE = 0.02  # the smallest difference in judged@k that causes a warning
WEIGHTS, SKEWED, DECISIVE, OF_UNJUDGED, OF_TIES = "weights", "skewed", "one query", "unjudged", "ties"
PARTIAL = "partial judgments"  # of corrected values
MEANING = {
    WEIGHTS: f"with fewer than {FEWEST_EFFECTIVE} queries of equal weight, p and interval are not reliable.",
    SKEWED: "the largest differences of single queries point the other way; if such queries are rare, there may be too "
    "few of them, and the decision false.",
    DECISIVE: "the decision depends on this query.",
    OF_UNJUDGED: "such documents count as not relevant. 'judged only' is the difference without them, 'at most' its "
    "range over all grades they may have. Without these judgments the size is unknown.",
    PARTIAL: "documents that only one judge has judged count as not relevant for the other. Judge them first.",
    OF_TIES: "the order of tied documents alone could turn the difference; the tie spread shows by how much.",
}
JUDGE_MORE = "Judge more before you decide"
MOST_WARNINGS = 10  # maximum number of rows in the printed table; further rows are only counted
FEWEST_SKEWED, MOST_SKEWED = 30, 0.15  # minimum number of signs, and maximum of skewness / √signs
_ROUNDING = 1e-12
MOST_SEARCHED = 20  # maximum number of differences to search for a single decisive query
# The factor by which p can rise if a query is left out. For a single test, it is at most 2, because each sign vector
# that is extreme without the query remains extreme for one of the two signs of the query. The higher value allows for
# corrections and clusters.
MOST_RISE = 4


class Remark(NamedTuple):
    """A reason to doubt one difference or, if there is no pair, all differences in a metric."""

    kind: str
    metric: str | Metric
    pair: Difference | None
    finding: str
    judge_more: bool = False

    def runs(self) -> str:
        return "" if self.pair is None else f"{printable(self.pair.run)} vs {printable(self.pair.baseline)}"

    def sentence(self) -> str:
        """Return the full text of the warning."""
        about = ", ".join(part for part in (printable(subject(self.metric)), self.runs()) if part)
        advice = f" {JUDGE_MORE}." if self.judge_more else ""
        return f"{self.kind}: {about}: {self.finding}. {started('', MEANING[self.kind])}{advice}"


def warning_blocks(remarks: Sequence[Remark]) -> Iterator[Block]:
    """Yield a table of the first warnings, and an explanation of each kind of warning."""
    if not remarks:
        return
    shown = remarks[:MOST_WARNINGS]
    rows = [["warning", "metric", "runs", "finding"]]
    rows += [[each.kind, subject(each.metric), each.runs(), each.finding] for each in shown]
    more = len(remarks) - len(shown)
    yield Table(rows, [f"… and {more} more warnings"] if more else (), names=4)
    yield [f"{kind}: {MEANING[kind]}{_advice(kind, shown)}" for kind in dict.fromkeys(each.kind for each in shown)]


def _advice(kind: str, remarks: Sequence[Remark]) -> str:
    concerned = [each for each in remarks if each.kind == kind]
    judge_more = [each for each in concerned if each.judge_more]
    if not judge_more:
        return ""
    names = ", ".join(f"{each.runs()} in {printable(each.metric)}" for each in judge_more)
    return f" {JUDGE_MORE}{'' if len(judge_more) == len(concerned) else f' on {names}'}."


def remarks(tests: Tested, evidence: Mapping[str, Evidence]) -> Iterator[Remark]:
    """Yield the reasons to doubt the differences, judging by the queries that were tested.

    `evidence`: the runs behind the comparison that are available, which may be evaluated again.
    """
    for metric in tests.options.metrics:
        sample = sample_of(tests, metric)
        few = list(_few(metric, sample))
        yield from few or (line for pair in tests.values() if pair.metric == metric for line in _skewed(pair, sample))
    if len(tests) <= MOST_SEARCHED:
        yield from _decisive(tests)
    bounded = sum(pair.queries for pair in tests.values()) <= MOST_BOUNDED
    for metric in tests.options.metrics:
        sample, threads = sample_of(tests, metric), tests.options.threads
        runs = {name: _Run(each, metric, sample, threads) for name, each in evidence.items()}
        for pair in tests.values():
            if pair.metric == metric and pair.run in runs and pair.baseline in runs:
                run, baseline = runs[pair.run], runs[pair.baseline]
                if run.record.name not in WITHOUT_UNJUDGED:
                    yield from _unjudged(pair, run, baseline, bounded)
                yield from _ties(pair, run, baseline)


def _few(metric: str | Metric, sample: Sample) -> Iterator[Remark]:
    if sample.weights is not None and effective(sample.weights) < FEWEST_EFFECTIVE:
        yield Remark(WEIGHTS, metric, None, f"as much information as {effective(sample.weights):.1f} queries")


def _skewed(pair: Difference, sample: Sample) -> Iterator[Remark]:
    """Warn if a difference is statistically significant, but points away from the long tail of the differences.

    In simulations without a true difference, this warning was given for 74 to 90% of the false decisions. With fewer
    signs, the sample is not informative; in that case, a note in every test says so.
    """
    if not pair.decided or pair.clusters < FEWEST_SKEWED:
        return
    differences = sample.differences(pair.run, pair.baseline)
    if not (differences * pair.difference < 0.0).any():  # no query points the other way
        return
    skew = skewness(differences, sample.weights, sample.clusters)
    if -skew * math.copysign(1.0, pair.difference) / math.sqrt(pair.clusters) > MOST_SKEWED:
        unit = "queries" if pair.clusters == pair.queries else "clusters"
        yield Remark(SKEWED, pair.metric, pair, f"skewness {skew:+.2f} over {pair.clusters} {unit}")


def _decisive_row(pair: Difference, sample: Sample) -> int | None:
    """Return the row of the query that contributes most to a decided difference; None if no query can be decisive."""
    if not pair.decided or not pair.difference or len(sample.values) < 3:
        return None
    contributions = sample.differences(pair.run, pair.baseline) * math.copysign(1.0, pair.difference)
    if sample.weights is not None:
        contributions = contributions * sample.weights
    if MOST_RISE * pair.adjusted <= alpha_of(pair) and contributions.sum() > contributions.max():
        return None
    return int(np.argmax(contributions))


def _decisive(tests: Tested) -> Iterator[Remark]:
    """Warn if omitting one query would make a decided difference undecided or reverse its sign."""
    # The keys are (metric, query), because one test serves all pairs in a family.
    without: dict[tuple[Any, Any], Tested | None] = {}
    for key, pair in tests.items():
        sample = sample_of(tests, key[0])
        row = _decisive_row(pair, sample)
        if row is None:
            continue
        query = sample.query_ids[row]
        same = key[0] if tests.options.family == "metric" else None, query
        if same not in without:
            without[same] = _without(tests, key[0], query)
        rest = without[same]
        if rest is not None and not (rest[key].decided and rest[key].difference * pair.difference > 0):
            undecided = "" if rest[key].decided else ", inconclusive"
            finding = f"without query {printable(query)}: {signed(rest[key].difference, decimals_of(pair))}{undecided}"
            yield Remark(DECISIVE, pair.metric, pair, finding)


def _without(tests: Tested, metric: str | Metric, query: Any) -> Tested | None:
    """Repeat the tests in the family of a metric without one query; return None if only one cluster would be left."""
    options = tests.options
    metrics = options.metrics if options.family == "all" else (metric,)
    samples = {}
    for key in metrics:
        sample = sample_of(tests, key)
        samples[key] = sample.only(np.array([other != query for other in sample.query_ids]))
    clusters = samples[metric].clusters
    if clusters is not None and len(set(clusters.tolist())) < 2:
        return None
    method = RANDOM if options.method == EXACT else options.method  # this method is also exact if few queries differ
    options = options._replace(method=method, metrics=metrics, margin=None)
    rest = Aligned(samples[metric].query_ids, samples, {})
    return Tested(differences_of(rest, options), rest, options)


class _Run:
    """A run that is evaluated with one metric over the tested queries. Its values are computed on first use."""

    def __init__(self, evidence: Evidence, metric: str | Metric, sample: Sample, threads: int) -> None:
        self._evidence, self._threads = evidence, threads
        self._query_ids, self._weights = sample.query_ids, sample.weights
        self.metric, self.record = metric, sample.record
        self.judged, self._precision = shares_of(self.record)

    def mean(self, values: Floats) -> float:
        """Return the geometric mean if the metric is averaged that way, and the arithmetic mean otherwise."""
        average = geometric_mean if aggregator(self.record) is geometric_mean else mean
        return average(values, self._weights)

    def _values(self, metric: str | Metric, rule: Rule = "as given") -> Floats:
        result = self._evidence.evaluation(metric, rule, self._threads)
        return (result if same_ids(result.query_ids, self._query_ids) else result.subset(self._query_ids))[metric]

    @cached_property
    def share(self) -> tuple[float, bool, bool]:
        """The mean judged@k, whether any judged document is not relevant, and whether some queries returned nothing.

        Queries that returned nothing do not count in the mean.
        """
        k = self.record.k
        share, precision, returned = map(self._values, (self.judged, self._precision, RETURNED))
        seen = returned if k is None else np.minimum(returned, k)
        graded = bool(np.any(share * seen - precision * (seen if k is None else k) > 0.5))
        rows = np.flatnonzero(returned)
        if not len(rows):
            return 1.0, graded, True
        weights = None if self._weights is None else self._weights[rows]
        return mean(share[rows], weights), graded, len(rows) < len(returned)

    @cached_property
    def condensed(self) -> float:
        """The mean of the metric after unjudged documents are removed from the rankings."""
        return self.mean(self._values(self.metric, "judged only"))

    @cached_property
    def tied(self) -> tuple[float, float] | None:
        """The means with the worst and the best order of tied documents; None if unknown."""
        if not self._evidence.may_be_tied(self.record):
            return None
        try:
            worst, best = self._values(self.metric, "worst"), self._values(self.metric, "best")
        except ValueError:  # the rankings are limited to a depth, which these rules cannot follow
            return None
        return self.mean(worst), self.mean(best)

    @cached_property
    def queries(self) -> list[Ranked] | None:
        """The returned documents and grades of the tested queries; None if ranks depend on ties."""
        by_id = self._evidence.queries
        return None if by_id is None else [by_id[query] for query in self._query_ids]


def _unjudged(pair: Difference, run: _Run, baseline: _Run, bounded: bool) -> Iterator[Remark]:
    (share, graded, gaps), (base, base_graded, base_gaps) = run.share, baseline.share
    # If the judgments contain only relevant documents, unjudged documents are not relevant.
    if abs(share - base) < NOTABLE or not (base_graded or graded):
        return
    where = " of nonempty lists" if gaps or base_gaps else ""
    rest = signed(run.condensed - baseline.condensed)
    finding = f"{run.judged!s} {share:.4f} vs {base:.4f}{where}; judged only {rest}"
    ends = _bounds(run, baseline) if bounded else None
    if ends is None:
        yield Remark(OF_UNJUDGED, pair.metric, pair, finding)
    else:
        low, high = ends
        finding += f"; at most {signed(low)} to {signed(high)}"
        yield Remark(OF_UNJUDGED, pair.metric, pair, finding, judge_more=low <= 0.0 <= high)


def _bounds(run: _Run, baseline: _Run) -> tuple[float, float] | None:
    """Return the range of the difference if unjudged documents may have any grade up to the highest.

    Return None if the range is unknown.
    """
    queries, base_queries = run.queries, baseline.queries
    if queries is None or base_queries is None or aggregator(run.record) is geometric_mean:
        return None
    highest = max((float(query.judged.max(initial=0.0)) for query in queries), default=0.0) or 1.0
    bounds = difference_bounds(run.record, queries, base_queries, highest)
    return None if bounds is None else (run.mean(bounds[0]), run.mean(bounds[1]))


def _ties(pair: Difference, run: _Run, baseline: _Run) -> Iterator[Remark]:
    if run.tied is None or baseline.tied is None:
        return
    (lowest, highest), (base_lowest, base_highest) = sorted(run.tied), sorted(baseline.tied)
    low, high = lowest - base_highest, highest - base_lowest
    spread = (highest - lowest) + (base_highest - base_lowest)
    if spread > _ROUNDING and pair.difference != 0.0 and low <= 0.0 <= high:
        decimals = decimals_of(pair)
        yield Remark(OF_TIES, pair.metric, pair, f"{signed(low, decimals)} to {signed(high, decimals)}")
