"""Gaffke's bound against closed forms: powers, the beta distribution, and exact rational probabilities."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import quick_first

from rankgain.results import gaffke
from rankgain.results.gaffke import lower_bound
from rankgain.results.intervals import beta_quantile, beta_share, mean_interval

LEVELS = 0.5, 0.9, 0.95, 0.99, 0.999


@pytest.mark.parametrize("queries", [1, 30, 100, 1000, 7000])
def test_bound_of_ones_is_a_power(queries):
    for share in (1e-9, 0.0005, 0.025, 0.25, 0.4999):
        assert lower_bound(np.ones(queries), share) == pytest.approx(share ** (1 / queries), rel=2e-9)
        assert lower_bound(np.zeros(queries), share) == 0.0


@pytest.mark.parametrize("queries", quick_first([1, 2, 100, 7000, 300_000], 3))
def test_interval_of_hits_is_clopper_and_pearsons(queries):
    for hits in {0, 1, queries // 50, queries // 2, queries - 1, queries}:
        values = np.repeat([1.0, 0.0], [hits, queries - hits])
        for level in LEVELS:
            share = (1 - level) / 2
            low = beta_quantile(share, hits, queries - hits + 1) if hits else 0.0
            high = beta_quantile(1 - share, hits + 1, queries - hits) if hits < queries else 1.0
            assert mean_interval(values, 0.0, 1.0, level) == pytest.approx((low, high), abs=2e-9)


def exact_share(values, weights, t):
    """Return P(Σ w (y − t) E ≤ 0) as a fraction; no two of the w (y − t) may be equal."""
    appended = sum(weight * weight for weight in weights) / sum(weights)
    slopes = [weight * (y - t) for y, weight in zip([*values, 0], [*weights, appended], strict=True)]
    shares = [
        math.prod(slope / (slope - other) for other in slopes[:index] + slopes[index + 1 :])
        for index, slope in enumerate(slopes)
    ]
    assert sum(shares) == 1
    return sum(share for share, slope in zip(shares, slopes, strict=True) if slope < 0)


WEIGHTED = st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 1000)), min_size=1, max_size=12)


@given(rows=WEIGHTED, share=st.sampled_from([0.005, 0.025, 0.1, 0.25, 0.49]), weighted=st.booleans())
def test_bound_is_the_exact_quantile(rows, share, weighted):
    values = [Fraction(value, 10**6) + Fraction(index, 10**12) for index, (value, _) in enumerate(rows)]  # distinct
    weights = [Fraction(weight if weighted else 1) for _, weight in rows]
    arrays = np.array(values, dtype=float), np.array(weights, dtype=float)
    bound = lower_bound(arrays[0], share, arrays[1] if weighted else None)
    below, above = (exact_share(values, weights, Fraction(bound * factor)) for factor in (1 - 1e-7, 1 + 1e-7))
    assert below <= share <= above


def test_bound_does_not_depend_on_the_order():
    random = np.random.default_rng(0)
    values, weights, order = random.beta(0.3, 3, 300).round(2), random.integers(1, 4, 300) / 3, random.permutation(300)
    assert lower_bound(values, 0.025) == lower_bound(values[order], 0.025)
    assert lower_bound(values, 0.025, weights) == lower_bound(values[order], 0.025, weights[order])


def test_equal_weights_change_nothing():
    values = np.random.default_rng(0).random(50)
    assert lower_bound(values, 0.025, np.full(50, 7.0)) == pytest.approx(lower_bound(values, 0.025), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 8.0, 1e300])
def test_bound_scales_with_the_values(scale):
    values = np.array([0.1, 0.5, 0.5, 0.9])
    assert lower_bound(values * scale, 0.025) == pytest.approx(lower_bound(values, 0.025) * scale)


def test_bound_of_many_queries_rounds_values_down(monkeypatch):
    values = np.random.default_rng(0).beta(0.3, 3, 5000)
    exact = lower_bound(values, 0.025)
    monkeypatch.setattr(gaffke, "MANY_VALUES", 4999)
    assert exact - 2.0**-14 <= lower_bound(values, 0.025) < exact
    high = 1.0 - lower_bound(1.0 - values, 0.025)
    monkeypatch.undo()
    assert 1.0 - lower_bound(1.0 - values, 0.025) < high


def coverages(queries, low, high, level):
    """Yield the exact coverage for populations of the values `low` and `high`, at both sides of each of its jumps."""
    ends = [
        mean_interval(np.repeat([high, low], [hits, queries - hits]), 0.0, 1.0, level) for hits in range(queries + 1)
    ]
    for end in sorted({end for pair in ends for end in pair if low < end < high}):
        for mean in (end - 1e-7, end + 1e-7):
            share = (mean - low) / (high - low)
            hits = [number for number, (least, most) in enumerate(ends) if least <= mean <= most]
            if 0 < share < 1 and hits:
                first, last = hits[0], hits[-1]
                assert hits == [*range(first, last + 1)]
                beyond = 1 - beta_share(1 - share, queries - last, last + 1) if last < queries else 0.0
                below = beta_share(1 - share, queries - first + 1, first) if first else 0.0
                yield 1.0 - beyond - below


@pytest.mark.parametrize("queries", quick_first([2, 5, 17, 50, 100]))
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.3, 1.0), (0.0, 0.2), (0.45, 0.55)])
def test_coverage_over_two_values_is_at_least_the_level(queries, low, high):
    for level in (0.9, 0.95, 0.99):
        assert min(coverages(queries, low, high, level), default=1.0) >= level - 1e-6
