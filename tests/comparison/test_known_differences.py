"""Results agree with textbooks, with other programs, and with the enumeration of all sign vectors."""

import itertools
import math

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison
from support.marks import in_one_case

from rankgain import _backend
from rankgain.comparison.power import detectable, queries_needed

pytestmark = pytest.mark.usefixtures("backend")

# Darwin's maize data: Fisher (1935), The Design of Experiments, section 21.
MAIZE = 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48
# Sakai, Laboratory Experiments in Information Retrieval, table 5.1.
X = 0.7, 0.3, 0.2, 0.6, 0.4, 0.4, 0.0, 0.7, 0.1, 0.3, 0.5, 0.4, 0.0, 0.6, 0.5, 0.3, 0.1, 0.5, 0.2, 0.1
Y = 0.5, 0.1, 0.0, 0.2, 0.4, 0.3, 0.0, 0.5, 0.3, 0.3, 0.4, 0.4, 0.1, 0.4, 0.2, 0.1, 0.1, 0.6, 0.3, 0.2
Z = 0.0, 0.0, 0.2, 0.1, 0.3, 0.3, 0.1, 0.2, 0.4, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1, 0.5, 0.4, 0.3


def the_test(differences, **options):
    (pair,) = against_nothing(differences).test(**options).values()
    return pair


def test_randomization_test_of_darwins_maize():
    pytest.importorskip("scipy")
    pair = the_test(MAIZE)
    assert (pair.p, pair.method, pair.flips) == (1726 / 32768, "exact", 0)
    by_t = the_test(MAIZE, method="t")
    assert by_t.p == pytest.approx(0.049702944021800866, rel=1e-12)
    assert by_t.decided
    assert not pair.decided


@pytest.mark.parametrize("values", [[0.25] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]])
def test_a_p_value_equal_to_alpha_is_decided(values):
    """Of five differences of one sign, two of 32 sign vectors are as extreme: p is 1/16 exactly."""
    at, below = (the_test(values, method="exact", level=1 - alpha) for alpha in (1 / 16, 1 / 16 - 2**-50))
    assert at.p == below.p == 1 / 16
    assert at.decided
    assert not below.decided
    # The sign of a query is the same in both comparisons, so the correction leaves 2 of 64 sign vectors.
    runs = comparison({"zero": [0.0] * 6, "run": [0.5] * 6, "other": [0.25] * 6})
    pairs = runs.test("zero", level=1 - 1 / 32).values()
    assert [(pair.adjusted, pair.decided) for pair in pairs] == [(1 / 32, True)] * 2


@pytest.mark.parametrize(
    ("first", "second", "p", "low", "high"),
    [
        (X, Y, 2160 / 2**15, 0.0, 0.15),
        (X, Z, 18954 / 2**17, -1 / 35, 0.23),
        (Y, Z, 40864 / 2**16, -0.05, 0.10),
    ],
)
def test_randomization_test_of_sakais_table(first, second, p, low, high):
    runs = comparison({"first": first, "second": second})
    pair = runs.test("second", method="exact")["ndcg", "first", "second"]
    assert pair.p == p
    assert pair.low == pytest.approx(low, abs=1e-10)
    assert pair.high == pytest.approx(high, abs=1e-10)
    assert pair.decided == (not pair.low <= 0 <= pair.high)


def test_t_test_of_sakais_table():
    pytest.importorskip("scipy")
    pair = comparison({"y": Y, "x": X}).test(method="t")["ndcg", "x", "y"]
    assert round(pair.difference, 4) == 0.0750
    assert round(pair.sd, 4) == 0.1585
    assert round(pair.p, 5) == 0.04780
    assert (round(pair.low, 4), round(pair.high, 4)) == (0.0008, 0.1492)
    assert round(pair.effect, 4) == 0.4542


def test_exact_test_of_binary_values_is_mcnemars():
    """For success@k, the exact test is McNemar's test."""
    runs = {"a": [0.0] * 15 + [1.0] * 5 + [0.0, 1.0] * 15, "b": [1.0] * 15 + [0.0] * 5 + [0.0, 1.0] * 15}
    pair = comparison(runs, metric="success@5").test()["success@5", "b", "a"]
    assert pair.p == 0.04138946533203125
    assert (pair.better, pair.same, pair.worse) == (15, 30, 5)


def test_rounding_errors_do_not_decide_sign_vectors():
    runs = {"a": [0.3, 0.1, 0.5, 0.2], "b": [0.1 + 0.2, 0.1, 0.5, 0.4]}
    pair = comparison(runs).test()["ndcg", "b", "a"]
    assert (pair.better, pair.same, pair.worse) == (1, 3, 0)


# Comparison with all sign vectors


@in_one_case("seed", range(12))
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_holds_the_margins_that_the_exact_test_does_not_reject(seed, level):
    """The exact test does not reject just inside each end of the interval, and rejects just outside it."""
    random = np.random.default_rng(seed)
    whole = random.integers(-20, 30, 9 + seed % 3)
    interval = the_test(whole.tolist(), level=level)

    def p_of(theta):
        left = [int(value) - theta for value in whole]
        extreme = sum(
            abs(sum(sign * value for sign, value in zip(signs, left, strict=True))) >= abs(sum(left)) - 1e-9
            for signs in itertools.product((1, -1), repeat=len(left))
        )
        return extreme / 2 ** len(left)

    for end, outward in ((interval.low, -1), (interval.high, 1)):
        if math.isfinite(end):
            assert p_of(end + outward * 1e-6) <= 1 - level < p_of(end - outward * 1e-6)
        else:
            assert 2.0 ** (1 - len(whole)) > 1 - level


@pytest.mark.parametrize("queries", [10, 30])
def test_max_t_of_known_values(queries):
    """Max-T uses all sign vectors or, for many queries, random sign vectors together with the observed signs."""
    random = np.random.default_rng(4)
    runs, flips = 4, 99
    values = random.integers(0, 10, (queries, runs)) / 16
    values[:, 3] = np.minimum(values[:, 3] + 0.25, 1)
    tests = comparison({f"run{run}": values[:, run] for run in range(runs)}).test(flips=flips, seed=5)
    pairs = [(run, base) for base in range(runs) for run in range(base + 1, runs)]
    differences = np.stack([values[:, run] - values[:, base] for run, base in pairs])
    norms = np.sqrt((differences**2).sum(axis=1))
    totals = differences.sum(axis=1)
    if queries == 10:
        statistics = np.array(list(itertools.product((1, -1), repeat=queries))) @ differences.T
    else:
        flipped, sums = np.empty(flips), np.empty((len(pairs), flips))
        _backend.flips.sums(np.ascontiguousarray(differences.T), 5, 0, flips, sums, flipped)
        statistics = np.vstack([totals, totals - 2 * sums.T])
    statistics, observed = np.abs(statistics) / norms, np.abs(totals) / norms
    order = np.argsort(-observed, kind="stable")
    least = 0.0
    for position, pair in enumerate(order):
        left = order[position:]
        least = max(least, float((statistics[:, left].max(axis=1) >= observed[pair] - 1e-9).mean()))
        run, base = pairs[pair]
        assert tests["ndcg", f"run{run}", f"run{base}"].adjusted == least


# Power, compared with statsmodels' TTestPower


def test_detectable_difference_of_known_values():
    peer = {10: 0.996, 20: 0.660, 50: 0.4042, 200: 0.1991}
    ours = {queries: detectable(1.0, queries, 0.05) for queries in peer}
    assert {n: round(value, 3 if n < 50 else 4) for n, value in ours.items()} == {
        10: 0.986,
        20: 0.659,
        50: 0.404,
        200: 0.1991,
    }
    for queries, value in peer.items():
        assert ours[queries] == pytest.approx(value, rel=0.011)
    assert math.isnan(detectable(1.0, 7, 0.05))
    assert math.isnan(detectable(1.0, 10, 1e-8))


@pytest.mark.parametrize(("effect", "queries"), [(0.1, 787), (0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)])
def test_queries_needed_of_known_values(effect, queries):
    assert queries_needed(1.0, effect, 0.05, 0.8) == queries
    assert queries_needed(1.0, 10.0, 0.05, 0.8) == 6


def test_small_differences_beside_large_values_are_counted():
    """Both runs have the value 2^45 for one query, but differences of 2 on the other queries still count."""
    runs = {"a": [2.0**45, *[0.0] * 19], "b": [2.0**45, *[2.0] * 19]}
    pair = comparison(runs, metric="dcg").test(method="exact")["dcg", "b", "a"]
    assert (pair.better, pair.same, pair.p) == (19, 1, 2.0**-18)
    assert pair.difference == pytest.approx(1.9, rel=1e-3)  # a difference between means above 2^40


def test_interval_of_random_flips_is_made_of_order_statistics():
    """With 999 random flips, the interval ends at the 50th smallest and 50th largest mean of a part of the queries."""
    differences, flips = np.random.default_rng(6).normal(0.05, 0.2, 30), 999
    sums, flipped = np.empty((1, flips)), np.empty(flips)
    _backend.flips.sums(np.ascontiguousarray(differences[:, None]), 5, 0, flips, sums, flipped)
    means = np.sort(np.concatenate([sums[0] / flipped, (differences.sum() - sums[0]) / (30 - flipped)]))
    pair = the_test(differences.tolist(), flips=flips, seed=5)
    assert pair.low == pytest.approx(means[49], abs=1e-9)
    assert pair.high == pytest.approx(means[-50], abs=1e-9)
