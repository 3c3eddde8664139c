"""SciPy and statsmodels give the same values for the tests that they implement."""

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_1samp, ttest_rel
from support.made_runs import comparison

from rankgain.comparison.significance import benjamini_hochberg, holm

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("queries", [5, 8, 12])
def test_exact_p_equals_scipy(queries):
    for seed in range(3):
        random = np.random.default_rng(seed)
        one, other = random.random(queries), random.random(queries)
        pair = comparison({"a": one, "b": other}).test()["ndcg", "b", "a"]
        theirs = permutation_test(
            (other, one), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert pair.p == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("queries", [2, 5, 50, 400])
def test_t_test_equals_scipy(queries):
    random = np.random.default_rng(queries)
    one, other = random.random(queries), random.random(queries)
    theirs = ttest_rel(other, one)
    pair = comparison({"a": one, "b": other}).test(method="t", level=0.9)["ndcg", "b", "a"]
    assert pair.p == pytest.approx(theirs.pvalue, rel=1e-7)
    ends = theirs.confidence_interval(0.9)
    assert (pair.low, pair.high) == pytest.approx((ends.low, ends.high), rel=1e-7)
    assert pair.method == "t"


def test_t_test_without_spread_equals_scipy():
    runs = {"a": [0.5, 0.5, 0.5], "b": [0.75, 0.75, 0.75], "c": [0.5, 0.5, 0.5]}
    tests = comparison(runs).test("a", method="t", margin=0.1)
    assert (tests["ndcg", "b", "a"].p, tests["ndcg", "c", "a"].p) == (0.0, 1.0)
    assert tests["ndcg", "c", "a"].not_worse_p == pytest.approx(0.9**3)
    assert (tests["ndcg", "c", "a"].low, tests["ndcg", "b", "a"].low) == (-np.inf, 0.25)
    assert tests["ndcg", "b", "a"].not_worse
    assert tests.options.correction == "holm"


def test_margin_by_t_test_equals_scipy():
    random = np.random.default_rng(0)
    runs = {"a": random.random(30), "b": random.random(30)}
    runs["c"] = np.where(np.arange(30) < 20, runs["a"], runs["b"])
    for run, baseline, equal in (("b", "a", 0), ("a", "b", 0), ("c", "a", 20)):
        pair = comparison(runs).test(baseline, method="t", margin=0.1, correction=None)["ndcg", run, baseline]
        d, ties = runs[run] - runs[baseline], (equal / 30) ** 2
        above, below = (
            max(
                ttest_1samp(sample, -0.1, alternative="greater").pvalue
                for sample in (sign * d, np.append(sign * d, -max(ties, (-sign * d).max())))
            )
            for sign in (1, -1)
        )
        assert (pair.not_worse_p, pair.equivalent_p) == pytest.approx((above, max(above, below)), rel=1e-6)


def test_corrections_equal_statsmodels():
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    p = np.random.default_rng(0).random(40) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], rel=1e-12)
