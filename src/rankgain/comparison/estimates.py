"""Estimate what a judge of few queries would say about all, with the help of a judge of all (prediction-powered).

This is the regression estimator of survey sampling, with a slope for each run that leaves the query out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain.comparison.aligned import Aligned, Sample
from rankgain.comparison.difference import RANDOM, CorrectedDifference, Difference, alpha_of
from rankgain.comparison.margins import largest_difference
from rankgain.comparison.significance import largest_p
from rankgain.comparison.testing import Options, adjusted_for, differences_of
from rankgain.metrics.aggregators import mean
from rankgain.metrics.metric import Metric, better
from rankgain.results.intervals import bounds_of, student_quantile
from rankgain.scalars import Bools, Floats, Ints, to_intp

LEAST_LABELLED = 10  # with fewer labelled queries, a slope says nothing
_EQUAL = 1e-12  # two values that differ by no more are equal; also the least variation from which a slope is computed
DIGITS = 9  # numbers that agree in so many decimal places are equal, if they are computed in different ways
_BLOCK = 16  # number of pairs whose flips are in memory at a time
_ZERO = "zero"


class Estimate(NamedTuple):
    """The values of one metric by two judges, and the corrected values of the labelled queries.

    `first`: the values by the judge of few queries, with a row per labelled query and a column per run. `every`: those
    by the judge of all queries. `rows`: the labelled queries in `every`. `values`: the corrected values, whose mean is
    the estimate. `slopes`: for each run, the weight of a value by the second judge.
    """

    metric: str | Metric
    record: Metric
    runs: list[str]
    query_ids: Sequence[Any]
    first: Floats
    every: Floats
    rows: Ints
    values: Floats
    slopes: Floats

    @property
    def second(self) -> Floats:
        """The second judge's values for the labelled queries."""
        return self.every[self.rows]

    @property
    def labelled(self) -> int:
        return len(self.first)

    @property
    def queries(self) -> int:
        return len(self.every)

    @property
    def is_complete(self) -> bool:
        """Whether all queries are labelled, so that nothing is estimated."""
        return self.labelled == self.queries

    def sample(self) -> Sample:
        """Return the corrected values as a sample to test."""
        return Sample(self.record, self.runs, self.query_ids, self.values)

    def interval(self, run: int, level: float) -> tuple[float, float]:
        """Return the confidence interval for the corrected mean of a run, by Student's t.

        It also covers the intervals with one query more, on which the second judge errs in either direction: the more
        often the judges agree, or the less the residuals vary, the less the labelled queries say about such errors.
        """
        values, first, second = self.values[:, run], self.first[:, run], self.second[:, run]
        lowest, highest = bounds_of(self.metric)
        agree = float(np.mean(np.abs(first - second) <= _EQUAL))
        residuals = np.round(first - self.slopes[run] * second, DIGITS)
        commonest = float(np.unique(residuals, return_counts=True)[1].max()) / self.labelled
        offset = max(float(self.slopes[run]) * agree**2, commonest**2) * (highest - lowest)
        centre, quantile = mean(values), student_quantile(level, self.labelled - 1)
        ends = []
        for more in ([], [centre - offset], [centre + offset]):
            extended = np.append(values, more)
            half = quantile * float(extended.std(ddof=1)) / math.sqrt(len(extended))
            ends.append((float(extended.mean()) - half, float(extended.mean()) + half))
        return max(min(low for low, _ in ends), lowest), min(max(high for _, high in ends), highest)

    def correlation(self, run: int) -> float:
        """Return the correlation of the two judges' values for the labelled queries; NaN if either is constant."""
        first, second = (each[:, run] - each[:, run].mean() for each in (self.first, self.second))
        below = math.sqrt(float(first @ first) * float(second @ second))
        return float(first @ second) / below if below > _EQUAL else math.nan

    def of_difference(self, run: str, baseline: str) -> tuple[Floats, Floats, Floats]:
        """Return for a pair: the first judge's difference and the weighted second's, by labelled query; that of all."""
        after, before = self.runs.index(run), self.runs.index(baseline)
        weighted = self.every[:, after] * self.slopes[after] - self.every[:, before] * self.slopes[before]
        return self.first[:, after] - self.first[:, before], weighted[self.rows], weighted


def estimated(
    metric: str | Metric, first: Sample, second: Sample, rows: Ints, query_ids: Sequence[Any], every: Floats
) -> Estimate:
    """Correct the values of each run by itself, so that a further run changes no other run's estimate.

    `first`: the values of the labelled queries; `rows`: where these are in `every`, the values by the second judge.
    """
    unit = _units(rows, len(every))
    columns = [
        _corrected(np.ascontiguousarray(one), np.ascontiguousarray(other), rows, unit)
        for one, other in zip(first.values.T, every.T, strict=True)
    ]
    values = np.column_stack([column for column, _ in columns])
    slopes = np.array([slope for _, slope in columns])
    return Estimate(metric, second.record, second.runs, query_ids, first.values, every, rows, values, slopes)


def _units(rows: Ints, queries: int) -> Ints:
    """Assign each query to a labelled one: that query itself, or one at random for the same number of queries each."""
    from random import Random  # whose numbers are the same everywhere

    unit = np.zeros(queries, dtype=np.int64)
    unit[rows] = np.arange(len(rows))
    others = np.delete(np.arange(queries), rows)
    draw = Random(0).random
    order = np.argsort([draw() for _ in range(len(others))], kind="stable")
    unit[others[order]] = np.arange(len(others)) % len(rows)
    return unit


def _corrected(first: Floats, every: Floats, rows: Ints, unit: Ints) -> tuple[Floats, float]:
    """Return the corrected values of a run, and its mean slope.

    The slope of a query leaves the query out, and is between 0 and 1. The last term has the mean 0; it adds what the
    query and those assigned to it contribute to the second judge's mean, so that the values are independent of each
    other and have the variance of the estimate, also that of the difference of two runs.
    """
    count, total = len(first), len(every)
    if count == total:
        return first, 0.0
    second = every[rows]
    centred = second - second.mean()
    products, squares = centred * (first - first.mean()), centred * centred
    below = squares.sum() - squares
    slopes = np.divide(products.sum() - products, below, out=np.zeros(count), where=below > _EQUAL).clip(0.0, 1.0)
    slope = float(slopes.mean())
    deviations = np.bincount(to_intp(unit), weights=every - every.mean(), minlength=count)
    sampling = count / total * slope * deviations
    corrected: Floats = first + slopes * (every.mean() - second) + sampling
    return corrected, slope


# Tests


def corrected_differences(estimate: Estimate, options: Options) -> dict[Any, Difference]:
    """Test the differences of corrected values.

    No corrected difference is 0, so a sign-flip test alone decides falsely where few queries differ. The test is made
    again with one query more, against the difference by z² times the largest possible difference, z being the share of
    the labelled queries on which neither judge sees a difference. The larger p counts, and p is at least the smallest
    that the queries with a difference could show.
    """
    aligned = Aligned(estimate.query_ids, {estimate.metric: estimate.sample()}, {})
    pairs = differences_of(aligned, options)
    if estimate.is_complete:
        return dict(pairs)
    seen = [_Seen(estimate, pair) for pair in pairs.values()]
    extended = _with_one_more(estimate, list(pairs.values()), [each.offset for each in seen], options)
    guarded = [_guarded(*each) for each in zip(pairs.values(), seen, extended, strict=True)]
    p, joint = (np.array(each) for each in zip(*((pair.p, pair.adjusted) for pair in guarded), strict=True))
    adjusted = adjusted_for(p, joint, options.correction)
    return {
        key: pair._replace(adjusted=value) for key, pair, value in zip(pairs, guarded, adjusted.tolist(), strict=True)
    }


class _Seen:
    """What the two judges see of the difference between two runs, in values that are not corrected."""

    def __init__(self, estimate: Estimate, pair: Difference) -> None:
        after, before = estimate.runs.index(pair.run), estimate.runs.index(pair.baseline)
        first, every = (each[:, after] - each[:, before] for each in (estimate.first, estimate.every))
        direction = _signs(every)
        differ: Bools = (_signs(first) != 0) | (direction[estimate.rows] != 0)
        direction[estimate.rows] = np.where(_signs(first) != 0, _signs(first), direction[estimate.rows])
        self.differing = int(np.count_nonzero(differ))
        self.better, self.worse = (
            int(np.count_nonzero(direction == way * (better(estimate.record) or 1))) for way in (1, -1)
        )
        self.queries = estimate.queries
        self.offset = (1.0 - self.differing / estimate.labelled) ** 2 * largest_difference(estimate.metric)


def _signs(differences: Floats) -> Floats:
    signs: Floats = np.where(np.abs(differences) > _EQUAL, np.sign(differences), 0.0)
    return signs


def _with_one_more(
    estimate: Estimate, pairs: Sequence[Difference], offsets: Sequence[float], options: Options
) -> list[tuple[Difference, Difference]]:
    """Test each pair with one query more, whose difference is lower, or higher, than the mean by the pair's offset."""
    alone, results = options._replace(baseline=_ZERO, correction=None), []
    for start in range(0, len(pairs), _BLOCK):
        columns = [np.zeros(estimate.labelled + 1)]
        for pair, offset in zip(pairs[start : start + _BLOCK], offsets[start : start + _BLOCK], strict=True):
            differences = estimate.sample().differences(pair.run, pair.baseline)
            columns += [np.append(differences, differences.mean() + way * offset) for way in (-1.0, 1.0)]
        names = [_ZERO, *map(str, range(len(columns) - 1))]
        sample = Sample(estimate.record, names, range(len(columns[0])), np.column_stack(columns))
        tested = [*differences_of(Aligned(sample.query_ids, {estimate.metric: sample}, {}), alone).values()]
        results += list(zip(tested[::2], tested[1::2], strict=True))
    return results


def _guarded(pair: Difference, seen: _Seen, extended: tuple[Difference, Difference]) -> CorrectedDifference:
    """Return the difference with the larger p, the wider interval and the counts of the judges."""
    lower, higher = extended
    least = min(2.0 ** (1 - seen.differing), 1.0)
    p = max(pair.p, (lower if pair.difference > 0.0 else higher).p, least)
    low, high = min(pair.low, lower.low), max(pair.high, higher.high)
    if math.isfinite(low) and math.isfinite(high):  # otherwise, there is no interval
        largest = largest_difference(pair.metric)
        low, high = max(low, -largest), min(high, largest)
    if p > largest_p(alpha_of(pair), pair.flips):
        low, high = min(low, 0.0), max(high, 0.0)
    shift = seen.offset / (pair.queries + 1)
    return CorrectedDifference(*pair)._replace(
        p=p,
        low=low,
        high=high,
        better=seen.better,
        same=seen.queries - seen.better - seen.worse,
        worse=seen.worse,
        differing=seen.differing,
        detectable=max(pair.detectable, lower.detectable + shift, higher.detectable + shift),
        method=RANDOM,
        effect=math.nan,
        sd=math.nan,
    )
