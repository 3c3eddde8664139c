"""What a test refuses, each with its sentence."""

import math

import numpy as np
import pytest
from support.made_runs import comparison, evaluation

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

RUNS = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.1, 0.2]}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"baseline": "c"}, ValueError, "^baseline: there is no run 'c'; there are: a, b$"),
        ({"metrics": "map"}, ValueError, "^metrics: map was not evaluated; there are: ndcg$"),
        ({"metrics": []}, ValueError, "^metrics is empty: name at least one, or None for all$"),
        ({"method": "wilcoxon"}, ValueError, "^method must be 'randomization' or 'exact' or 't', not 'wilcoxon'$"),
        ({"correction": "tukey"}, ValueError, "^correction must be one of 'max-t', 'holm', 'bh' or None, not 'tukey'$"),
        ({"family": "both"}, ValueError, "^family must be 'metric' or 'all', not 'both'$"),
        ({"intervals": "all"}, ValueError, "^intervals must be 'single' or 'simultaneous', not 'all'$"),
        (
            {"margin": -0.1},
            ValueError,
            "^margin must be finite and at least 0, not -0.1: it is how much worse is still",
        ),
        ({"margin": math.inf}, ValueError, "^margin must be finite and at least 0, not inf"),
        ({"margin": 10**400}, ValueError, "^margin must be finite and at least 0, not 1000"),
        ({"margin": "much"}, TypeError, "^margin must be a number, not str$"),
        ({"level": 95}, ValueError, "^level must be between 0 and 1, such as 0.95, not 95$"),
        ({"flips": 0}, ValueError, "^flips must be from 1 to 100000000, not 0$"),
        ({"flips": 99.0}, TypeError, "^flips must be an integer, not float$"),
        ({"flips": 10}, ValueError, "^flips=10 cannot show anything at level=0.95: needs flips=19 or more$"),
        ({"seed": 2**64}, ValueError, "^seed must be from 0 to 18446744073709551615, not 18446744073709551616$"),
        ({"seed": -1}, ValueError, "^seed must be from 0 to 18446744073709551615, not -1$"),
        ({"seed": None}, TypeError, "^seed must be an integer, not NoneType$"),
        ({"threads": 0}, ValueError, "^threads must be from 1 to 256, not 0$"),
        ({"queries": "all"}, ValueError, "^queries must be 'same' or 'common', not 'all'$"),
    ],
)
def test_options(options, error, message):
    with pytest.raises(error, match=message):
        comparison(RUNS).test(**options)


def test_one_run():
    with pytest.raises(ValueError, match=r"^there is one run: a test needs two or more$"):
        comparison({"a": [0.1, 0.2]}).test()


@pytest.mark.parametrize(("values", "there"), [([0.5], "one"), ([math.nan], "none")])
def test_too_few_queries(values, there):
    message = f"^ndcg: a test needs at least 2 queries that have a value in all runs, and there is {there}$"
    with pytest.raises(ValueError, match=message):
        comparison({"a": values, "b": values}).test()


def test_other_queries():
    runs = rg.Comparison(
        {"a": evaluation([0.1, 0.2, 0.3, 0.4], ["q1", "q2", "q3", "q17"]), "b": evaluation([0.5, 0.4], ["q2", "q1"])}
    )
    message = (
        r"^run 'b' lacks 2 queries that 'a' has \(first: 'q3'\): evaluate rankings with missing='zero', or "
        r"take queries='common'$"
    )
    with pytest.raises(ValueError, match=message):
        runs.test()
    tests = runs.test(queries="common")
    found = tests["ndcg", "b", "a"]
    assert (tests.queries, tests.left_out) == (2, 2)
    assert "queries evaluated: 2, left out: 2" in tests.table()
    assert found.difference == pytest.approx((0.4 - 0.1 + 0.5 - 0.2) / 2)
    with pytest.raises(ValueError, match=r"run 'a' lacks 1 query that 'b' has .first: 'q9'."):
        rg.Comparison({"a": evaluation([0.1], ["q1"]), "b": evaluation([0.5, 0.4], ["q1", "q9"])}).test()
    with pytest.raises(ValueError, match=r"^queries: the runs have no query in common$"):
        rg.Comparison({"a": evaluation([0.1], ["q1"]), "b": evaluation([0.5], ["q9"])}).test(queries="common")


def test_no_value_in_one_run():
    runs = rg.Comparison(
        {
            "a": evaluation([0.1, math.nan, math.nan, 0.4], ["q1", "q2", "q3", "q4"]),
            "b": evaluation([0.1, math.nan, 0.2, 0.5], ["q1", "q2", "q3", "q4"]),
        }
    )
    message = r"^ndcg: run 'a' has no value \(NaN\) for query 'q3', and run 'b' has one"
    with pytest.raises(ValueError, match=message):
        runs.test()
    tests = runs.test(queries="common")
    assert (tests["ndcg", "b", "a"].queries, tests.left_out) == (2, 2)


def test_no_value_in_any_run_is_left_out():
    runs = {"a": [0.1, math.nan, 0.3], "b": [0.2, math.nan, 0.1]}
    tests = comparison(runs).test()
    assert (tests.queries, tests.left_out) == (2, 1)
    assert comparison(runs).per_query("ndcg", "b", "a")[0][0] == 0


def test_an_infinite_value():
    with pytest.raises(ValueError, match=r"^ndcg: run 'b', query 1: the value is infinite: it has no mean$"):
        comparison({"a": [0.1, 0.2], "b": [0.1, math.inf]}).test()


def test_exact_with_too_many_queries():
    random = np.random.default_rng(0)
    message = (
        "^method='exact': ndcg: 'b' and 'a' differ in 50 queries, and all sign vectors can be enumerated for at most 44"
    )
    with pytest.raises(ValueError, match=message):
        comparison({"a": random.random(50), "b": random.random(50)}).test(method="exact")


def test_t_without_scipy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.special", None)
    with pytest.raises(ImportError, match=r"^method='t' needs SciPy: pip install 'rankgain\[stats\]'$"):
        comparison(RUNS).test(method="t")


def test_unknown_pairs_and_metrics():
    tests = comparison(RUNS).test()
    with pytest.raises(KeyError, match=r"not tested: a key is \(metric, run, baseline\), such as \('ndcg', 'b', 'a'\)"):
        tests["ndcg", "a", "b"]
    with pytest.raises(KeyError, match=r"ap was not tested; there are: ndcg"):
        tests.tied_with_best("ap")


def test_too_few_flips_for_a_family():
    random = np.random.default_rng(0)
    runs = {f"r{run}": random.random(30) for run in range(5)}
    assert (
        "too few flips for 10 comparisons: needs flips=2000"
        in comparison(runs).test(correction="holm", flips=999).table()
    )
    assert "needs flips" not in comparison(runs).test(correction="holm", flips=1999).table()
    assert "needs flips" not in comparison(runs).test(flips=999).table()
    exact = comparison({name: own[:10] for name, own in runs.items()}).test(correction="holm", flips=999)
    assert "needs flips" not in exact.table()
