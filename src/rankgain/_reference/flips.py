"""Sums over random sign flips, from which every test, interval and correction of a comparison is computed.

Each flip has one random sign per query, shared by all runs and metrics. Values are integers in float64 whose sums stay
below 2^53, so that they are exact in any order of additions.
"""

import numpy as np

from rankgain.scalars import Floats, Ints, splitmix64

GOLDEN = 0x9E3779B97F4A7C15
LOWER = (1 << 64) - 1
AT_ONCE = 4096  # flips per pass, so that the sums stay in the cache


def words(seed, block, flips):
    """The signs of 64 queries from 64·block on, one word per flip; a query is flipped if its bit is 1."""
    base = splitmix64(np.array([(seed + GOLDEN * (block + 1)) & LOWER], dtype=np.uint64))
    return splitmix64(base + np.uint64(GOLDEN) * (np.asarray(flips, dtype=np.uint64) + np.uint64(1)))


def subsets(rows):
    """The sums of all subsets of up to eight rows: row i is in subset e if bit i of e is 1."""
    table = np.zeros((1, rows.shape[1]))
    for row in rows:
        table = np.concatenate([table, table + row])
    return table


def sums(values: Floats, seed: int, start: int, stop: int, out: Floats, flipped: Floats, /) -> None:
    """Write to out[column, b] the sum of a column over the queries that flip b flips, and to flipped[b] their number.

    values: queries × columns; out: columns × flips. Only the flips from start to stop are written.
    """
    queries = len(values)
    for first in range(start, stop, AT_ONCE):
        last = min(first + AT_ONCE, stop)
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
    """The sums of a run minus the first run; 0 for the first run, which has no column."""
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
    """Count, for each pair of columns, the flips from start to stop that are at least as extreme as the observation.

    T = total − 2 · (right − left). counts: |T| ≥ reached. joint: (|T| + queries) · scale ≥ limit for this or
    any later pair, which is max-T if the pairs are in descending order of the observed statistic (Westfall & Young
    1993).
    """
    for first in range(start, stop, AT_ONCE):
        part = sums[:, first : min(first + AT_ONCE, stop)]
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
    """The ends of the interval of the differences that the test does not reject. They are order statistics of the means
    of subsets of the queries (Hartigan 1969).

    flipped: the number, or the total weight, of the queries that each flip flips; whole: the same for all queries.
    Each flip gives two means: of the flipped queries and of the others. low: the rank-th smallest mean, minus one unit
    per query; high: the rank-th largest, plus one unit per query; infinite if there are fewer means than that. Flips
    of all queries or of none are left out.
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
