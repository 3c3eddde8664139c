"""Sign-flip sums equal those of a short Python implementation, on both backends and with any number of threads."""

import importlib

import numpy as np
import pytest
from support.marks import in_one_case

from rankgain.comparison import significance

LOWER = (1 << 64) - 1


def splitmix64(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & LOWER
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & LOWER
    return z ^ (z >> 31)


def textbook(values, seed, flips):
    """For each flip, yield the sum over the flipped queries and their number."""
    for flip in flips:
        signs = [
            splitmix64(
                splitmix64(seed + 0x9E3779B97F4A7C15 * (query // 64 + 1) & LOWER) + 0x9E3779B97F4A7C15 * (flip + 1)
                & LOWER
            )
            >> query % 64
            & 1
            for query in range(len(values))
        ]
        flipped = [row for row, sign in zip(values, signs, strict=True) if sign]
        yield [sum(column) for column in zip(*flipped, strict=True)] if flipped else [0] * len(values[0]), len(flipped)


def whole_numbers(queries, columns, seed=0):
    return np.random.default_rng(seed).integers(-(2**40), 2**40, (queries, columns)).astype(np.float64)


def kernel(name):
    return importlib.import_module(f"rankgain.{'_compiled' if name == 'compiled' else '_reference'}.flips")


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 9, 13, 17])
@in_one_case("queries", [1, 7, 8, 9, 63, 64, 65, 100])
def test_flip_sums_equal_the_textbook(backend, queries, columns):
    values = whole_numbers(queries, columns)
    out, flipped = np.full((columns, 30), np.nan), np.full(30, np.nan)
    kernel(backend).sums(values, 2**64 - 3, 0, 30, out, flipped)
    expected = list(textbook(values.astype(np.int64).tolist(), 2**64 - 3, range(30)))
    assert out.T.tolist() == [sums for sums, _ in expected]
    assert flipped.tolist() == [count for _, count in expected]


def test_flip_sums_of_many_flips(backend):
    values = whole_numbers(70, 3)
    out, flipped = np.empty((3, 5000)), np.empty(5000)
    for start, stop in ((0, 17), (17, 2100), (2100, 5000)):
        kernel(backend).sums(values, 5, start, stop, out, flipped)
    for flip, (sums, count) in zip(
        (0, 16, 17, 2099, 2100, 4999), textbook(values, 5, (0, 16, 17, 2099, 2100, 4999)), strict=False
    ):
        assert out[:, flip].tolist() == sums
        assert flipped[flip] == count


@pytest.mark.both
@pytest.mark.parametrize(("queries", "runs", "flips"), [(17, 3, 999), (50, 9, 5001), (300, 2, 2049), (6, 4, 700)])
def test_flips_have_the_same_bits_on_both_backends_threads_and_cpu_levels(on_both, cpu, queries, runs, flips):
    """Sums, counts and bounds have the same bits for each backend, CPU level and number of threads."""
    values = np.random.default_rng(queries).integers(0, 2**40, (queries, runs)).astype(np.float64)
    pairs = [(run, base) for base in range(runs) for run in range(base + 1, runs)]
    left = np.array([base - 1 for _, base in pairs])
    right = np.array([run - 1 for run, _ in pairs])
    columns = significance.DifferenceColumns(np.ascontiguousarray(values[:, 1:] - values[:, :1]), left, right)
    totals = significance.facts(columns)

    def everything(threads):
        computed = significance.Flips(columns, flips, 3, threads)
        return [
            computed.sums.tolist(),
            computed.flipped.tolist(),
            *(counts.tolist() for counts in computed.exceeded(columns, totals, joint=True)),
            *(ends.tolist() for ends in computed.bounds(columns, totals.totals, np.full(len(pairs), 99))),
        ]

    first, *others = [result for threads in (1, 2, 7) for result in on_both(lambda n=threads: everything(n))]
    assert all(other == first for other in others)


@pytest.mark.parametrize("rank", [1, 2, 30, 61, 62, 63])
def test_flip_bounds_with_ties_and_too_few_means(backend, rank):
    """Bounds are order statistics of the means, many of which are equal; flipping all queries or none gives no mean."""
    sums = np.array([[0.0, 4.0, 4.0, -4.0, 8.0, 0.0, 4.0, 12.0] * 4])
    flipped = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 1.0, 3.0] * 4)
    flipped[5] = flipped[7] = 1.0
    low, high = np.empty(1), np.empty(1)
    given = sums, flipped, np.array([-1]), np.array([0]), np.array([12.0]), 3.0, 3.0
    kernel(backend).bounds(*given, rank, 0, 1, low, high)
    means = []
    for total, count in zip(sums[0].tolist(), flipped.tolist(), strict=True):
        if 0 < count < 3:
            means += [(total, count), (12.0 - total, 3 - count)]
    if rank > len(means):
        assert (low[0], high[0]) == (-np.inf, np.inf)
    else:
        assert low[0] == sorted((total - 3) / count for total, count in means)[rank - 1]
        assert high[0] == sorted((total + 3) / count for total, count in means)[-rank]
