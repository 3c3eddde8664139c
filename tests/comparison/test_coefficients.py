"""Coefficients of agreement: worked values, and scikit-learn and SciPy on random tables."""

import math

import numpy as np
import pytest

from rankgain.comparison.coefficients import (
    count_grades,
    kappa,
    kappa_interval,
    moments,
    quadratic_kappa,
    tau_b,
)
from rankgain.results.intervals import student_quantile


def nominal(first, second, grades=4):
    one, other = np.asarray(first), np.asarray(second)
    return float(kappa(count_grades(one, other, grades, np.zeros(len(one), dtype=np.int64), 1).sum(axis=0)))


def quadratic(first, second):
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return float(quadratic_kappa(moments(one, other, np.zeros(len(one), dtype=np.int64), 1).sum(axis=0)))


def test_kappa_of_a_table():
    assert float(kappa(np.array([20.0, 5.0, 10.0, 15.0]))) == pytest.approx(0.4, abs=1e-15)


def test_kappas_of_four_labels():
    first, second = [2, 0, 2, 1], [2, 0, 1, 1]
    assert nominal(first, second) == pytest.approx(7 / 11, abs=1e-15)
    assert quadratic(first, second) == pytest.approx(0.8, abs=1e-15)
    assert quadratic([1, 0, 1, 0], [1, 0, 0, 0]) == pytest.approx(0.5, abs=1e-15)
    assert quadratic([1, 0, 1, 1], [1, 0, 1, 1]) == 1.0


def test_quadratic_weights_are_those_of_the_grades_not_of_their_positions():
    assert quadratic([0, 1, 3, 0, 3], [0, 3, 1, 0, 3]) == pytest.approx(0.5652173913043479, abs=1e-15)


def test_kappa_of_one_grade_is_undefined():
    assert math.isnan(nominal([1, 1], [1, 1]))
    assert math.isnan(quadratic([0, 0, 0], [0, 0, 0]))


@pytest.mark.needs("sklearn", "scipy")
@pytest.mark.parametrize("tables", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_coefficients_equal_those_of_sklearn_and_scipy(tables):
    from scipy.stats import kendalltau
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(0)
    for _ in range(tables):
        first, second = random.integers(0, 4, (2, random.integers(5, 60)))
        if len({*first, *second}) > 1:
            expected = [cohen_kappa_score(first, second, labels=range(4), weights=w) for w in (None, "quadratic")]
            assert [nominal(first, second), quadratic(first, second)] == pytest.approx(expected, abs=2e-15)
        assert tau_b(first, second) == pytest.approx(kendalltau(first, second)[0], abs=2e-15, nan_ok=True)


def test_tau_b_of_rankings_with_ties():
    means = np.array([0.50, 0.45, 0.40, 0.35, 0.30, 0.25]), np.array([0.60, 0.60, 0.60, 0.40, 0.30, 0.20])
    assert tau_b(*means) == pytest.approx(0.8944271909999159, abs=1e-15)
    assert tau_b(*(mean[::-1] for mean in means)) == tau_b(*means)  # the order of the runs does not matter
    assert math.isnan(tau_b(np.ones(3), np.arange(3.0)))


@pytest.mark.needs("scipy")
def test_student_quantiles_equal_those_of_scipy():
    from scipy.stats import t

    for level, degrees in ((0.95, 9), (0.95, 49), (0.99, 4), (0.8, 1000)):
        assert student_quantile(level, degrees) == pytest.approx(t.ppf((1 + level) / 2, degrees), rel=1e-10)


def sums(queries, wrong):
    """Return the sums of queries with 10 documents, half relevant, of which the second judge misses some."""
    first = np.tile([1.0, 0.0], 5 * queries)
    second = first.copy()
    query = np.repeat(np.arange(queries), 10)
    second[::10] = np.where(np.arange(queries) < wrong, 0.0, second[::10])
    return moments(first, second, query, queries)


def test_the_interval_leaves_out_one_query_at_a_time():
    parts = sums(25, 10)
    whole = float(quadratic_kappa(parts.sum(axis=0)))
    scaled = [math.atanh(float(quadratic_kappa(np.delete(parts, row, axis=0).sum(axis=0)))) for row in range(25)]
    error = math.sqrt(24 / 25 * sum((each - sum(scaled) / 25) ** 2 for each in scaled))
    half = 2.0638985616280205 * error  # the 97.5% quantile of Student's t with 24 degrees of freedom
    expected = [math.tanh(math.atanh(whole) + sign * half) for sign in (-1, 1)]
    assert kappa_interval(parts, quadratic_kappa, 0.95) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("queries", "wrong"),
    [
        pytest.param(19, 8, id="fewer than 20 queries"),
        pytest.param(30, 0, id="kappa is 1"),
        pytest.param(30, 1, id="kappa is 1 without one query"),
        pytest.param(30, 30, id="all queries are alike"),
    ],
)
def test_there_is_no_interval(queries, wrong):
    assert all(map(math.isnan, kappa_interval(sums(queries, wrong), quadratic_kappa, 0.95)))
