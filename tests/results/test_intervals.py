"""The interval of a mean of bounded values: the beta distribution that it is made of."""

import itertools

import pytest

from rankgain.results.intervals import beta_quantile, beta_share

SIZES = 0.01, 0.5, 1.0, 3.0, 60.0, 5e5


@pytest.mark.parametrize(("a", "b"), [*itertools.product(SIZES, repeat=2)])
def test_beta_is_that_of_scipy(a, b):
    beta = pytest.importorskip("scipy.stats").beta
    for share in (0.005, 0.025, 0.5, 0.975):
        expected = beta.ppf(share, a, b)
        assert beta_quantile(share, a, b) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert beta_share(expected, a, b) == pytest.approx(beta.cdf(expected, a, b), rel=1e-7, abs=1e-9)
    assert beta_share(0.0, a, b) == 0.0
    assert beta_share(1.0, a, b) == 1.0
