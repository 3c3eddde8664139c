"""Properties of every test: p-values agree with intervals, and irrelevant changes affect neither."""

import math

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison
from support.marks import in_one_case, quick_first

from rankgain.comparison.difference import direction
from rankgain.comparison.power import hedges
from rankgain.comparison.significance import exact_p

pytestmark = pytest.mark.usefixtures("backend")


def values(random, queries, kind):
    """Draw differences like those of metrics: continuous, tied, often zero, or skewed."""
    if kind == "continuous":
        return random.normal(random.normal(0, 0.1), 0.2, queries)
    if kind == "P@10":
        return (random.integers(0, 11, queries) - random.integers(0, 11, queries)) / 10
    if kind == "zeros":
        return random.normal(0.1, 0.3, queries) * (random.random(queries) < 0.5)
    if kind == "RR":
        return 1 / random.integers(1, 11, queries) - 1 / random.integers(1, 11, queries)
    return np.where(random.random(queries) < 0.2, 0.5, -0.1) * random.random(queries)


KINDS = "continuous", "P@10", "zeros", "RR", "skewed"


def agree(seed, queries, level, flips):
    random = np.random.default_rng(seed)
    differences = values(random, queries, KINDS[seed % len(KINDS)])
    differences = differences + random.choice([0.0, 0.05, 0.1, 0.2])
    pair = against_nothing(differences.tolist()).test(level=level, flips=flips, seed=seed)["cg", "run", "zero"]
    assert pair.low <= pair.high
    assert pair.decided == (not pair.low <= 0.0 <= pair.high), (seed, queries, level, pair)
    return pair.decided


@pytest.mark.parametrize("queries", [6, 8, 12, 20, 50])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("seeds", quick_first([range(15), range(1000, 1800)]), ids=len)
def test_interval_excludes_0_where_p_is_small(queries, level, seeds):
    seen = {agree(seed, queries, level, 199 if seed < 1000 else 999 if seed % 4 else 499) for seed in seeds}
    assert seen == ({False} if 2.0 ** (1 - queries) > 1 - level else {True, False})


@in_one_case("seed", range(10))
@pytest.mark.parametrize("queries", [10, 30, 70])
def test_swapped_runs_negate_the_difference(seed, queries):
    random = np.random.default_rng(seed)
    runs = {"a": random.random(queries), "b": random.random(queries) ** 1.2}
    one = comparison(runs).test("a", flips=999, margin=0.05)["ndcg", "b", "a"]
    other = comparison(runs).test("b", flips=999, margin=0.05)["ndcg", "a", "b"]
    assert (one.p, one.low, one.high, one.difference) == (other.p, -other.high, -other.low, -other.difference)
    assert (one.better, one.same, one.worse) == (other.worse, other.same, other.better)
    assert one.equivalent_p == other.equivalent_p
    assert (one.not_worse_p, one.effect) != (other.not_worse_p, other.effect)


@pytest.mark.parametrize("power", [-30, -3, 2, 40])
@pytest.mark.parametrize("queries", [12, 40])
def test_scaling_by_a_power_of_two_scales_the_bits(queries, power):
    random = np.random.default_rng(power + 100)
    runs = {"a": random.random(queries), "b": random.random(queries)}
    one = comparison(runs, metric="dcg").test(flips=999)["dcg", "b", "a"]
    scaled = {name: values * 2.0**power for name, values in runs.items()}
    other = comparison(scaled, metric="dcg").test(flips=999)["dcg", "b", "a"]
    assert (other.p, other.low, other.high) == (one.p, one.low * 2.0**power, one.high * 2.0**power)
    assert (other.effect, other.sd) == (one.effect, one.sd * 2.0**power)


@pytest.mark.parametrize("queries", [15, 20, 60])
def test_further_runs_and_metrics_do_not_change_p(queries):
    """For metrics bounded by 1, every bit of the p-value stays the same."""
    random = np.random.default_rng(queries)
    runs = {name: {metric: random.random(queries) for metric in ("ndcg", "ap")} for name in "abc"}
    few = {name: {"ndcg": runs[name]["ndcg"]} for name in "ab"}
    one = comparison(few).test("a", flips=999)["ndcg", "b", "a"]
    other = comparison(runs).test("a", flips=999)["ndcg", "b", "a"]
    expected = one._replace(adjusted=0, comparisons=0)
    assert repr(other._replace(adjusted=0, comparisons=0, correction="")) == repr(expected)
    assert other.adjusted >= other.p
    alone = comparison(runs).test("a", flips=999, correction=None, metrics="ndcg")["ndcg", "b", "a"]
    assert repr(alone._replace(comparisons=1)) == repr(one)


def test_identical_runs_do_not_differ():
    random = np.random.default_rng(0)
    scores = random.random(40)
    tests = comparison({"a": scores, "again": scores, "other": random.random(40)}).test(flips=999)
    same = tests["ndcg", "again", "a"]
    assert (same.p, same.adjusted, same.low, same.high) == (1.0, 1.0, -math.inf, math.inf)
    assert math.isnan(same.effect)
    assert same.verdict() == "ndcg: again and a have the same value for every query."
    one, other = tests["ndcg", "other", "a"], tests["ndcg", "other", "again"]
    assert repr(one._replace(baseline="again")) == repr(other)


@pytest.mark.parametrize("flips", [999, 9999])
def test_randomization_p_is_near_the_exact_p(flips):
    """For many seeds, p lies within five standard deviations of the exact p, even where rounding could break ties."""
    random = np.random.default_rng(9)
    differences = (random.integers(0, 11, 30) - random.integers(0, 9, 30)) / 10
    exact = exact_p(np.rint(differences * 2**39))
    for seed in range(20):
        # More than 24 queries differ, so p is estimated from random flips.
        pair = against_nothing(differences.tolist()).test(flips=flips, seed=seed)["cg", "run", "zero"]
        assert pair.method == "randomization"
        assert abs(pair.p - exact) < 5 * math.sqrt(exact * (1 - exact) / flips) + 1 / flips


@pytest.mark.parametrize("queries", [10, 40])
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.1])
def test_the_margin_agrees_with_the_interval(queries, margin):
    """A run is "not worse" only if the interval lies above −margin, and "equivalent" only if it lies within ±margin."""
    seen = set()
    for seed in range(40):
        random = np.random.default_rng(seed)
        runs = {"a": random.random(queries), "b": np.clip(random.random(queries) * 0.2 + 0.4, 0, 1)}
        runs["b"] = runs["a"] * 0.8 + runs["b"] * 0.2 + 0.03 * random.normal()
        pair = comparison(runs).test(margin=margin, flips=499)["ndcg", "b", "a"]
        assert pair.low > -margin or not pair.not_worse
        assert -margin < pair.low <= pair.high < margin or not pair.equivalent
        seen.add((pair.not_worse, pair.low > -margin))
    assert (True, True) in seen


def test_direction_of_the_metric_decides_the_verdict():
    random = np.random.default_rng(5)
    runs = {"a": random.random(40) / 2 + 0.5, "b": random.random(40) / 4}
    pair = comparison(runs, metric="unjudged@10").test(margin=0.05)["unjudged@10", "b", "a"]
    assert pair.difference < 0
    assert pair.better == 40
    assert direction(pair) == 1
    assert "b is better than a by" in pair.verdict()
    assert pair.not_worse
    assert not comparison(runs, metric="unjudged@10").test("b", margin=0.05)["unjudged@10", "a", "b"].not_worse


@pytest.mark.parametrize("queries", [12, 20, 40])
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("seeds", quick_first([range(6), range(6, 18)]), ids=len)
def test_simultaneous_intervals_agree_with_adjusted_p(queries, level, seeds):
    """Simultaneous intervals agree with p-values from single-step max-T, with or without weights and clusters."""
    seen = set()
    for seed in seeds:
        random = np.random.default_rng(seed)
        values = random.normal(0.4, 0.15, (queries, 1)) + random.normal(0, 0.1, (queries, 4)) + [0, 0, 0.08, 0.15]
        runs = comparison({f"r{run}": values[:, run] for run in range(4)}, metric="cg")
        options = {"weights": random.random(queries), "clusters": np.arange(queries) // 2} if seed % 3 == 0 else {}
        tests = runs.test(intervals="simultaneous", level=level, flips=499, seed=seed, **options)
        step_down = runs.test(level=level, flips=499, seed=seed, **options)
        for key, its in tests.items():
            assert its.decided == (not its.low <= 0.0 <= its.high)
            assert its.low <= step_down[key].low
            assert its.high >= step_down[key].high
            assert its.adjusted >= its.p
            seen.add(its.decided)
    assert seen == {True, False}


def test_effect_size_of_three_queries():
    """Hedges' g is d times 1 − 3 / (4·2 − 1), since three queries have 2 degrees of freedom."""
    assert hedges(0.5, 0.25, 3) == pytest.approx(2.0 * (1 - 3 / 7))
    assert math.isnan(hedges(0.5, 0.25, 2))


@pytest.mark.parametrize("numbers", [5, 65])
def test_number_of_pairs_per_pass_does_not_change_p(monkeypatch, numbers):
    """One limit is too small for a single pair per pass, and the other allows two of the six pairs."""
    random = np.random.default_rng(1)
    runs = comparison({name: random.random(30) for name in "abcd"})
    expected = runs.test(flips=99, margin=0.01)  # without a margin, some numbers are NaN
    monkeypatch.setattr("rankgain.comparison.significance.NUMBERS", numbers)
    assert dict(runs.test(flips=99, margin=0.01)) == dict(expected)
