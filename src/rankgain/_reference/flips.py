"""Sums over random sign flips, which are the basis of the tests, intervals and corrections in comparisons of runs.

Each flip has one random sign per query, shared by all runs and metrics. Values are integers stored as float64. Their
sums stay below 2^53, so the sums are exact in any order of additions.
"""

import numpy as np

from rankgain.scalars import Floats, Ints, splitmix64

_GOLDEN = 0x9E3779B97F4A7C15
LOWER = (1 << 64) - 1
_AT_ONCE = 4096  # number of flips per pass, chosen so that the sums stay in the cache


def words(seed, block, flips):
    """Return a word of signs for each flip. The word has one bit for each of the 64 queries from 64·block on, and a
    query is flipped if its bit is 1."""
    base = splitmix64(np.array([(seed + _GOLDEN * (block + 1)) & LOWER], dtype=np.uint64))
    return splitmix64(base + np.uint64(_GOLDEN) * (np.asarray(flips, dtype=np.uint64) + np.uint64(1)))


def subsets(rows):
    """Return the sums of all subsets of up to eight rows. Row i is in subset e if bit i of e is 1."""
    table = np.zeros((1, rows.shape[1]))
    for row in rows:
        table = np.concatenate([table, table + row])
    return table


def sums(values: Floats, seed: int, start: int, stop: int, out: Floats, flipped: Floats, /) -> None:
    """For each flip b, write the sum of each column over the flipped queries to out[column, b], and the number of
    flipped queries to flipped[b].

    The shape of `values` is queries × columns, and that of `out` is columns × flips. Only the flips from `start` to
    `stop` are written.
    """
    queries = len(values)
    for first in range(start, stop, _AT_ONCE):
        last = min(first + _AT_ONCE, stop)
        totals, count = np.zeros((last - first, values.shape[1])), np.zeros(last - first)
        for block in range(-(-queries // 64)):
            left = queries - 64 * block
            signs = words(seed, block, np.arange(first, last)) & np.uint64((1 << min(left, 64)) - 1)
            count += np.bitwise_count(signs)
            for byte in range(-(-min(left, 64) // 8)):
                row = 64 * block + 8 * byte
                subset = (signs >> np.uint64(8 * byte) & np.uint64(255)).astype(np.intp)
                totals += subsets(values[row : row + 8]).take(subset, axis=0)
        out[:, first:last], flipped[first:last] = totals.T, count


def column(sums, number):
    """Return the sums of the differences between a run and the first run. The sums are 0 for the first run, which has
    no column."""
    return sums[number] if number >= 0 else np.zeros(sums.shape[1])


def exceed(
    sums: Floats,
    left: Ints,
    right: Ints,
    totals: Floats,
    queries: float,
    reached: Floats,
    scales: Floats,
    limits: Floats,
    start: int,
    stop: int,
    counts: Ints,
    joint: Ints,
    /,
) -> None:
    """For each pair of columns, count the flips from `start` to `stop` that are at least as extreme as the observation.

    Let T = total − 2 · (right − left). `counts` counts the flips with |T| ≥ reached. `joint` counts the flips for which
    this pair or any later pair has (|T| + queries) · scale ≥ limit. This is the max-T procedure if the pairs are in
    descending order of the observed statistic (Westfall & Young 1993).
    """
    for first in range(start, stop, _AT_ONCE):
        part = sums[:, first : min(first + _AT_ONCE, stop)]
        highest = np.full(part.shape[1], -1.0)
        for pair in reversed(range(len(left))):
            size = np.abs(totals[pair] - 2.0 * (column(part, right[pair]) - column(part, left[pair])))
            highest = np.maximum(highest, (size + queries) * scales[pair])
            counts[pair] += np.count_nonzero(size >= reached[pair])
            joint[pair] += np.count_nonzero(highest >= limits[pair])


def bounds(
    sums: Floats,
    flipped: Floats,
    left: Ints,
    right: Ints,
    totals: Floats,
    queries: float,
    whole: float,
    rank: int,
    start: int,
    stop: int,
    low: Floats,
    high: Floats,
    /,
) -> None:
    """Compute the ends of the interval of differences that the test does not reject. The ends are order statistics of
    means over subsets of the queries (Hartigan 1969).

    `flipped` is the number or the total weight of the queries flipped by each flip, and `whole` is that of all queries.
    Each flip gives two means: that of the flipped queries and that of the remaining queries. `low` is the rank-th
    smallest mean, minus one unit per query, and `high` is the rank-th largest mean, plus one unit per query. If there
    are fewer means than `rank`, the end is infinite. Flips of all queries or of none are left out.
    """
    parts = (flipped > 0) & (flipped < whole)
    some, rest = flipped[parts], whole - flipped[parts]
    for pair in range(start, stop):
        differences = (column(sums, right[pair]) - column(sums, left[pair]))[parts]
        for sign, ends in ((1.0, low), (-1.0, high)):
            signed = sign * differences
            means = [(signed - queries) / some, (sign * totals[pair] - signed - queries) / rest]
            ends[pair] = sign * smallest(np.concatenate(means), rank)


def smallest(values, rank):
    return np.partition(values, rank - 1)[rank - 1] if rank <= len(values) else -np.inf
