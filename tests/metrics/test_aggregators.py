"""The mean of many values equals the mean computed with `math.fsum`, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankgain.metrics.aggregators import MANY, mean

LARGEST, TINY = 1.7976931348623157e308, 5e-324
hard = st.sampled_from(
    [LARGEST, -LARGEST, 2.0**1000, TINY, -TINY, 2.0**-950, 1.0, 2.0**-53, 1 / 3, 0.0, -0.0, math.nan]
)


def by_fsum(values):
    terms = [value for value in values if not math.isnan(value)]
    return math.fsum(terms) / len(terms) if terms else math.nan


@pytest.mark.parametrize(
    ("values", "expected"), [([0.5, 0.25], 0.375), ([1.0, math.nan, 0.0], 0.5), ([0.1] * 10, 0.1)], ids=str
)
def test_mean_of_few_values_is_their_sum_over_their_number(values, expected):
    assert mean(np.array(values)) == expected


@given(
    st.lists(hard | st.floats(0, 1) | st.floats(allow_infinity=False), min_size=1, max_size=40),
    st.integers(MANY + 1, 40_000),
    st.integers(0, 2**32),
)
@example([0.1, TINY, 1e16, -1e16], 40_000, 1)
@example([math.nan], MANY + 1, 1)
def test_mean_of_many_values_equals_fsum(drawn, size, seed):
    values = np.random.default_rng(seed).choice(drawn, size)
    try:
        expected = by_fsum(values)
    except OverflowError:
        values = values * 2.0**-64
        expected = by_fsum(values)
    result = mean(values)
    assert result == expected or (math.isnan(result) and math.isnan(expected))


@pytest.mark.parametrize("size", [2, MANY + 1])
def test_mean_of_infinities_equals_fsum(size):
    values = np.linspace(0.0, 1.0, size)
    values[0] = math.inf
    assert mean(values) == math.inf
    assert mean(-values) == -math.inf
    values[1] = -math.inf
    with pytest.raises(ValueError, match="inf"):
        mean(values)


@pytest.mark.parametrize("size", [4, 2 * MANY])
def test_sums_beyond_float64_have_a_mean(size):
    assert mean(np.full(size, 1e308)) == 1e308


def test_weights_of_undefined_values_do_not_count():
    values, weights = np.array([1.0, math.nan, 0.5, 0.25]), np.array([3e-323, 1.0, 1e-323, 0.0])
    assert mean(values, weights) == 0.875
