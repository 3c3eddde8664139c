"""The sign-flip test on integers, for many pairs at once: p-values, intervals that agree with them, and max-T.

The notes of `Comparison.test` define p and the interval. Each query, or cluster of queries, has one random sign per
flip, shared by all runs, metrics and pairs. A cluster is a row with the sums of its queries and their total weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.metrics.aggregators import effective
from rankgain.scalars import Array, Bools, Floats, Ints
from rankgain.threads import run_chunks

MOST_BITS = 40  # maximum number of fraction bits in a value on the grid
SIGNIFICAND = 52  # number of bits available for a sum
ENUMERATED = 16  # maximum number of rows for which all sign vectors are used instead of random flips
EXACT_BY_DEFAULT, EXACT_REQUESTED = 24, 44  # limits on nonzero differences for an exact p (default, on request)
SUBSETS, SUBSETS_REQUESTED = 1 << 16, 1 << 22  # limits on distinct subsets for an exact interval (default, on request)
MOST_ZEROS = 1000  # maximum number of zero differences, which keeps binomial coefficients small
_ROUNDING = 1e-6  # absolute tolerance for (1 − level) · (flips + 1)
_CHUNK = 1 << 14  # number of flips per thread task
_PAIRS = 64  # number of pairs per thread task when intervals are computed
MOST_FLIPS = 10**8
_SUMS = 1 << 24  # maximum number of sums of flips in memory when many columns are flipped
NUMBERS = 1 << 21  # maximum number of differences in memory at a time


def unit_exponent(largest: float, queries: int, bounded: bool) -> int:
    """Return the base-2 logarithm of the finest grid unit for which the sum over all queries is below 2^53 units."""
    exponent = 1 if bounded else math.frexp(largest)[1]
    return exponent - min(MOST_BITS, SIGNIFICAND - (queries - 1).bit_length())


Pair = tuple[float, float]


class DifferenceColumns(NamedTuple):
    """Integers on the grid: each run except the first has a column, with its values minus those of the first run.

    The columns of the metrics are concatenated. A pair is the difference of two columns, `right` minus `left`. The
    number −1 stands for the first run of a metric, which has no column.
    """

    values: Floats  # rows × columns; each row is a query or a cluster of queries, and has one sign
    left: Ints
    right: Ints
    weights: Floats | None = None  # integers; None if all weights are equal
    sizes: Floats | float = 1.0  # the number of queries in each row

    def of(self, chosen: Array) -> DifferenceColumns:
        return self._replace(left=self.left[chosen], right=self.right[chosen])

    @property
    def slack(self) -> float:
        """The largest possible rounding error of a sum of differences: one unit per query."""
        return float(np.broadcast_to(self.sizes, len(self.values)).sum())

    @property
    def whole(self) -> float:
        """The total weight of all rows."""
        return float(len(self.values) if self.weights is None else self.weights.sum())

    def differences(self, start: int, stop: int) -> Floats:
        """Return the differences of the pairs start … stop − 1, one row per pair."""
        return self._of_runs(self.right[start:stop]) - self._of_runs(self.left[start:stop])

    def _of_runs(self, numbers: Ints) -> Floats:
        rows = self.values.T[numbers]
        rows[numbers < 0] = 0.0
        return rows


class Facts(NamedTuple):
    """Facts about the differences of the pairs. Each array has one number per pair, in units of the grid."""

    totals: Floats
    norms: Floats  # the square root of the sum of squares, which flips do not change
    nonzero: Ints  # the number of differences that exceed the possible rounding error
    equal: Floats  # the share of the total weight that belongs to rows without a difference

    def of(self, pairs: Ints) -> Facts:
        """Return the facts about the given pairs, in the given order."""
        return Facts(self.totals[pairs], self.norms[pairs], self.nonzero[pairs], self.equal[pairs])

    @property
    def scales(self) -> Floats:
        """The factors that make the sums of different pairs comparable; 0 for a pair without differences."""
        return ratios(1.0, self.norms)


def ratios(values: Floats | float, norms: Floats) -> Floats:
    """Divide values by norms; the result is 0 where the norm is 0."""
    quotients: Floats = np.divide(values, norms, out=np.zeros(len(norms)), where=norms > 0)
    return quotients


def facts(columns: DifferenceColumns) -> Facts:
    """Compute the facts about all pairs."""
    weights = np.ones(len(columns.values)) if columns.weights is None else columns.weights
    totals: list[float] = []
    norms: list[float] = []
    nonzero: list[Ints] = []
    equal: list[Floats] = []
    for rows in _blocks(columns):
        differ = not_zero(rows, columns.sizes)
        nonzero.append(differ.sum(axis=1))
        equal.append(~differ @ weights / columns.whole)
        totals += rows.sum(axis=1).tolist()
        norms += [math.sqrt(math.fsum(squares.tolist())) for squares in rows * rows]
    return Facts(np.array(totals), np.array(norms), np.concatenate(nonzero), np.concatenate(equal))


def inner_norms(columns: DifferenceColumns) -> Floats:
    """Return the norms of the differences after subtracting their mean."""
    weights = np.ones(len(columns.values)) if columns.weights is None else columns.weights
    norms: list[Floats] = []
    for rows in _blocks(columns):
        centred = rows - weights * (rows.sum(axis=1, keepdims=True) / columns.whole)
        norms.append(np.where(np.ptp(rows / weights, axis=1) > 0, np.sqrt((centred * centred).sum(axis=1)), 0.0))
    return np.concatenate(norms)


def _blocks(columns: DifferenceColumns) -> Iterator[Floats]:
    """Yield the differences of all pairs in blocks, whose size is limited by `NUMBERS`."""
    pairs, step = len(columns.left), max(NUMBERS // len(columns.values), 1)
    for start in range(0, pairs, step):
        yield columns.differences(start, min(start + step, pairs))


def not_zero(differences: Floats, sizes: Floats | float = 1.0) -> Bools:
    """Return a mask of the differences (or sums of `sizes` differences) that exceed rounding errors."""
    nonzero: Bools = np.abs(differences) > sizes
    return nonzero


def spreads(columns: DifferenceColumns, weights: Floats | None) -> Floats:
    """Return the standard deviation of the differences of each pair.

    With weights, the number of queries is replaced by their `effective` number.
    """
    deviations: list[Floats] = []
    for rows in _blocks(columns):
        if weights is None:
            centred = rows - rows.mean(axis=1, keepdims=True)
            variances = (centred * centred).sum(axis=1) / (rows.shape[1] - 1)
        else:
            shares, count = weights / weights.sum(), effective(weights)
            centred = rows - (rows * shares).sum(axis=1, keepdims=True)
            variances = (centred * centred * shares).sum(axis=1) * (count / (count - 1) if count > 1 else math.nan)
        deviations.append(np.where(not_zero(rows).any(axis=1), np.sqrt(variances), 0.0))
    return np.concatenate(deviations)


def clustered_spreads(columns: DifferenceColumns) -> Floats:
    """Return the standard deviation of the clusters' contributions: √clusters times the standard error of the mean."""
    count = len(columns.values)
    return inner_norms(columns) / math.sqrt(count - 1) * (count / columns.whole)


class Flips:
    """Sign flips: for each flip, the sums of all columns over the queries whose sign it changes.

    The flips are random or, if there are few queries, all possible flips. The flip that changes no sign always counts:
    `extra` is 1 for random flips, to which it is added, and 0 for all possible flips, which include it.
    """

    def __init__(self, columns: DifferenceColumns, count: int, seed: int, threads: int) -> None:
        rows, width = columns.values.shape
        self.slack, self.whole = columns.slack, columns.whole
        self.threads = threads
        self.extra = int(rows > ENUMERATED)
        self.count = count if self.extra else 1 << rows
        # The weights become an additional column.
        values = columns.values if columns.weights is None else np.column_stack([columns.values, columns.weights])
        if self.extra:
            values = np.ascontiguousarray(values)
            sums, flipped = np.empty((values.shape[1], self.count)), np.empty(self.count)
            kernel = _backend.flips.sums
            run_chunks(
                self._chunks(_CHUNK), lambda start, stop: kernel(values, seed, start, stop, sums, flipped), threads
            )
        else:
            sums, flipped = _all_subsets(values)
        self.sums, self.flipped = sums[:width], flipped if columns.weights is None else sums[width]
        self.parts_missing = int(np.count_nonzero((self.flipped == 0) | (self.flipped == self.whole)))

    def _chunks(self, size: int) -> list[tuple[int, int]]:
        return [(start, min(start + size, self.count)) for start in range(0, self.count, size)]

    @property
    def total(self) -> int:
        """The denominator of a p-value."""
        return self.count + self.extra

    def exceeded(
        self, columns: DifferenceColumns, facts: Facts, joint: bool, sizes: Floats | None = None
    ) -> tuple[Ints, Ints]:
        """For each pair, count the flips that are at least as extreme as the observation.

        Also return the joint counts for max-T: the flips in which this pair or any later pair has a statistic at least
        as extreme as the observation. `sizes`: thresholds to use instead of the observed sums.
        """
        pairs = len(columns.left)
        scales = facts.scales if joint else np.zeros(pairs)
        limits = self.limits(facts) if joint else np.zeros(pairs)
        kernel = _backend.flips.exceed
        thresholds = (np.abs(facts.totals) if sizes is None else sizes) - 2.0 * self.slack

        def work(start: int, stop: int) -> tuple[Ints, Ints]:
            single, joint_counts = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
            arguments = self.sums, columns.left, columns.right, facts.totals, self.slack
            kernel(*arguments, thresholds, scales, limits, start, stop, single, joint_counts)
            return single, joint_counts

        counts = run_chunks(self._chunks(_CHUNK), work, self.threads)
        single, joint_counts = (np.sum([chunk[column] for chunk in counts], axis=0) for column in (0, 1))
        return single + self.extra, joint_counts + self.extra

    def limits(self, facts: Facts) -> Floats:
        """Return the threshold of each pair. Flips whose largest statistic reaches the threshold count as extreme."""
        return np.where(facts.norms > 0, (np.abs(facts.totals) - self.slack) * facts.scales, 0.0)

    def largest(self, columns: DifferenceColumns, facts: Facts) -> Floats:
        """For each flip, return the largest statistic of all pairs, as required by single-step max-T.

        The maximum also covers the differences after their mean is subtracted, because differences far from 0 are more
        strongly correlated than their errors.
        """
        means, inner = facts.totals / self.whole, ratios(1.0, inner_norms(columns))
        pairs = list(zip(columns.left, columns.right, facts.totals, facts.scales, means, inner, strict=True))

        def work(start: int, stop: int) -> Floats:
            highest, count = np.full(stop - start, -1.0), self.flipped[start:stop]
            for left, right, total, scale, mean, inner_scale in pairs:
                flipped = self._column(right)[start:stop] - self._column(left)[start:stop]
                np.maximum(highest, (np.abs(total - 2.0 * flipped) + self.slack) * scale, out=highest)
                np.maximum(highest, np.abs(2.0 * (flipped - count * mean)) * inner_scale, out=highest)
            return highest

        return np.concatenate(run_chunks(self._chunks(_CHUNK), work, self.threads))

    def bounds(self, columns: DifferenceColumns, totals: Floats, allowed: Ints) -> tuple[Floats, Floats]:
        """Return the smallest and the largest mean difference that the test does not reject, in units of the grid.

        `allowed`: for each pair, the largest number of extreme sign vectors with which the hypothesis is rejected; a
        sign vector is extreme if its result is at least as extreme as the observation.
        """
        pairs = len(columns.left)
        low, high = np.full(pairs, -np.inf), np.full(pairs, np.inf)
        ranks = (allowed - self.parts_missing + 1 - self.extra).tolist()
        arguments = self.sums, self.flipped, columns.left, columns.right, totals, self.slack, self.whole

        def work(start: int, stop: int) -> None:
            for pair in range(start, stop):
                if ranks[pair] >= 1:
                    _backend.flips.bounds(*arguments, ranks[pair], pair, pair + 1, low, high)

        run_chunks([(start, min(start + _PAIRS, pairs)) for start in range(0, pairs, _PAIRS)], work, self.threads)
        return low, high

    def shares_below(self, left: int, right: int, total: float, margin: float, sign: float, limits: Pair) -> Pair:
        """Like `Subsets.shares_below`, but for a pair of columns.

        Each flip yields two subsets: the rows whose sign it changes, and all other rows.
        """
        sums = sign * (self._column(right) - self._column(left)) + margin * self.flipped
        whole = sign * total + margin * self.whole

        def share(limit: float) -> float:
            count = np.count_nonzero(sums <= limit) + np.count_nonzero(sums >= whole - limit)
            return (int(count) + self.extra * ((limit >= 0.0) + (whole <= limit))) / (2 * self.total)

        return share(limits[0]), share(limits[1])

    def _column(self, number: int) -> Floats:
        return self.sums[number] if number >= 0 else np.zeros(self.count)


def single_step(columns: DifferenceColumns, count: int, seed: int, threads: int) -> Floats:
    """Return the p-value of each pair, corrected by single-step max-T.

    The flips of a few pairs are in memory at a time; all of them use the same signs.
    """
    observed, step = facts(columns), max(_SUMS // count, 1)
    largest: Floats | float = 0.0
    for start in range(0, len(columns.left), step):
        block = columns._replace(values=np.ascontiguousarray(columns.values[:, start : start + step]))
        flips = Flips(block, count, seed, threads)
        for number, sums in enumerate(flips.sums, start):
            sizes = np.abs(observed.totals[number] - 2.0 * sums) + flips.slack
            largest = np.maximum(largest, sizes * observed.scales[number])
    below = np.searchsorted(np.sort(largest), flips.limits(observed))
    p: Floats = (flips.total - below) / flips.total
    return p


def _all_subsets(values: Floats) -> tuple[Floats, Floats]:
    """Return the sums of the columns over all subsets of the queries, and the size of each subset."""
    sums = np.zeros((values.shape[1], 1))
    for row in values:
        sums = np.concatenate([sums, sums + row[:, None]], axis=1)
    return np.ascontiguousarray(sums), np.bitwise_count(np.arange(sums.shape[1])).astype(np.float64)


def threshold(alpha: float, total: int, random: bool) -> int:
    """Return the number of extreme sign vectors, out of `total`, up to which the hypothesis is rejected."""
    share = Fraction(alpha) * total
    return math.floor(share + Fraction(_ROUNDING) if random else share)


def largest_p(alpha: float, flips: int) -> float:
    """Return the largest p-value at which the hypothesis is rejected.

    This is alpha, plus the tolerance of `threshold` if the flips are random.
    """
    return alpha + (_ROUNDING / (flips + 1) if flips else 0.0)


# Exact tests


def exact_p(differences: Floats, sizes: Floats | float = 1.0) -> float:
    """Return the two-sided p-value over all sign vectors.

    The algorithm is meet-in-the-middle: it combines the sums over all subsets of each half of the differences. `sizes`:
    the number of queries that each difference sums.
    """
    nonzero = differences[not_zero(differences, sizes)]
    rows, total = np.abs(nonzero.astype(np.int64)), int(nonzero.sum())
    excess = abs(total) - 2 * int(np.broadcast_to(sizes, len(differences)).sum())
    if excess <= 0:
        return 1.0
    bound = (int(rows.sum()) - excess) // 2
    half = len(rows) // 2
    one, other = _sorted_sums(rows[:half]), _sorted_sums(rows[half:])
    count = int(np.searchsorted(other, bound - one, side="right").sum())
    return 2 * count / (1 << len(rows))


def _sorted_sums(sizes: Ints) -> Ints:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
    return np.sort(sums)


class Subsets:
    """The sums and weights of all subsets of the rows, and the number of subsets with each sum and weight.

    Without weights, differences of zero are interchangeable, and only their number in a subset matters.
    """

    def __init__(self, differences: Floats, columns: DifferenceColumns) -> None:
        signs = len(differences)
        self._slack, self._whole, self._total = columns.slack, columns.whole, 1 << signs
        if columns.weights is None:
            rows = differences[not_zero(differences)]
            sums, weights = _all_subsets(rows[:, None])
        else:
            rows = differences
            sums, _ = _all_subsets(np.column_stack([rows, columns.weights]))
            weights = sums[1]
        zeros = signs - len(rows)
        self._sums = np.repeat(sums[0], zeros + 1)
        self._weights = (weights[:, None] + np.arange(zeros + 1)).ravel()
        self._counts = np.tile(_binomials(zeros, signs), len(sums[0])) if zeros else None  # None: one subset per entry

    def bound(self, sign: float, alpha: float) -> float:
        """Return the lower end of the interval if the sign is 1, and the negative of the upper end if it is −1."""
        rank = threshold(alpha, self._total, random=False) // 2
        if rank < 1:
            return -math.inf
        proper = (self._weights > 0) & (self._weights < self._whole)
        means = (sign * self._sums[proper] - self._slack) / self._weights[proper]
        if self._counts is None:
            return float(np.partition(means, rank - 1)[rank - 1])
        order = np.argsort(means)
        cumulated = np.cumsum(self._counts[proper][order])
        return float(means[order[int(np.searchsorted(cumulated, rank))]])

    def shares_below(self, margin: float, sign: float, limits: Pair) -> Pair:
        """For each limit, return the share of subsets whose sum is at most the limit.

        The margin is added to each row before the sums are computed.
        """
        sums = sign * self._sums + margin * self._weights

        def share(limit: float) -> float:
            below = sums <= limit
            return int(np.count_nonzero(below) if self._counts is None else self._counts[below].sum()) / self._total

        return share(limits[0]), share(limits[1])


@lru_cache(64)
def _binomials(zeros: int, queries: int) -> Array:
    """Return the numbers of ways to choose 0, 1, … of `zeros` items, as Python integers if 64 bits may not suffice."""
    dtype = np.int64 if queries < 63 else np.object_
    return np.array([math.comb(zeros, chosen) for chosen in range(zeros + 1)], dtype=dtype)


def countable(nonzero: int, columns: DifferenceColumns, most: int) -> bool:
    """Return whether at most `most` distinct subsets have to be enumerated."""
    signs = len(columns.values)
    nonzero = nonzero if columns.weights is None else signs
    zeros = signs - nonzero
    return zeros <= MOST_ZEROS and nonzero < most.bit_length() and (zeros + 1) << nonzero <= most


# Corrections of p-values, except max-T, which needs the flips (see `Flips.exceeded`)


def holm(p: Floats) -> Floats:
    """Apply Holm's step-down correction (Holm 1979), which controls the family-wise error rate under any dependence."""
    order = np.argsort(p, kind="stable")
    remaining = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(remaining * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Apply the step-up correction of Benjamini and Hochberg (1995), which controls the false discovery rate."""
    order = np.argsort(p, kind="stable")[::-1]
    rank = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate(len(p) / rank * p[order]), 1.0)
    return adjusted


# Student's t


def student() -> Any:
    """Return the module with SciPy's special functions, which include the distribution of Student's t."""
    try:
        return import_module("scipy.special")
    except ImportError:
        raise ImportError("method='t' needs SciPy: pip install 'rankgain[stats]'") from None
