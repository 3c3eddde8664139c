"""Error rates and coverage, counted over many simulated data sets, lie within binomial limits at a level of 1e-4."""

import math

import numpy as np
import pytest
from support.made_runs import comparison

from rankgain.comparison.significance import DifferenceColumns, Flips, facts

ALPHA = 0.05


def within(count, cases, share=ALPHA):
    """Return whether a count is within limits that it exceeds by chance once in 10,000 cases."""
    return abs(count - cases * share) <= 3.9 * math.sqrt(cases * share * (1 - share)) + 1


def ndcg_like(random, queries, runs):
    """Draw the values of runs: the difficulty of each query plus noise, so that differences are symmetric."""
    hardness = random.normal(0.5, 0.15, (queries, 1))
    return np.clip(hardness + random.normal(0, 0.1, (queries, runs)), 0, 1)


@pytest.mark.parametrize("queries", [2, 5, 8, 11])
def test_p_is_never_too_small(queries):
    """For every attainable α, the share of a data set's sign vectors with p ≤ α is at most α."""
    random = np.random.default_rng(queries)
    for kind in (random.normal(size=queries), random.integers(0, 3, queries).astype(float)):
        sizes = np.rint(np.abs(kind) * 2**30)
        signs = 1 - 2 * (np.arange(2**queries)[:, None] >> np.arange(queries) & 1)
        values = np.ascontiguousarray((signs * sizes).T)
        columns = DifferenceColumns(values, np.full(2**queries, -1), np.arange(2**queries))
        flips = Flips(columns, 99, 0, 1)
        counts, _ = flips.exceeded(columns, facts(columns), joint=False)
        p = counts / flips.total
        assert all((p <= alpha).mean() <= alpha for alpha in np.unique(p))


@pytest.mark.slow
@pytest.mark.parametrize("queries", [20, 50, 200])
def test_error_rate_and_coverage_are_nominal(queries):
    cases, n_decided, covered = 1000, 0, 0
    for seed in range(cases):
        values = ndcg_like(np.random.default_rng(seed), queries, 2)
        pair = comparison({"a": values[:, 0], "b": values[:, 1]}).test(flips=999, seed=seed)["ndcg", "b", "a"]
        n_decided += pair.decided
        covered += pair.low <= 0.0 <= pair.high
    assert within(n_decided, cases)
    assert n_decided + covered == cases


@pytest.mark.slow
@pytest.mark.parametrize(("correction", "most"), [("max-t", 0.062), ("holm", 0.05)])
def test_family_wise_error_is_controlled(correction, most):
    """Six equally good runs, one of which is noisier, form 15 pairs."""
    cases, n_decided = 600, 0
    for seed in range(cases):
        random = np.random.default_rng(seed)
        values = ndcg_like(random, 50, 6)
        values[:, 5] = np.clip(values[:, 5] + random.normal(0, 0.2, 50), 0, 1)
        tests = comparison({f"r{run}": values[:, run] for run in range(6)}, metric="dcg").test(
            correction=correction, flips=999, seed=seed
        )
        n_decided += any(pair.decided for pair in tests.values())
    assert n_decided <= cases * most + 3.9 * math.sqrt(cases * most)


@pytest.mark.slow
@pytest.mark.parametrize(("queries", "clusters"), [(30, None), (60, 20)])
def test_p_is_uniform_where_nothing_differs(queries, clusters):
    """The p-values fill ten bins evenly, for independent queries and for clusters of dependent queries."""
    cases = 1000
    p_values = np.empty(cases)
    for seed in range(cases):
        random = np.random.default_rng(seed)
        values = ndcg_like(random, queries, 2)
        labels = None
        if clusters is not None:  # the queries of a cluster share an effect
            labels = np.arange(queries) % clusters
            values = np.clip(values + random.normal(0, 0.1, (clusters, 2))[labels], 0, 1)
        runs = comparison({"a": values[:, 0], "b": values[:, 1]})
        p_values[seed] = runs.test(flips=999, seed=seed, clusters=labels)["ndcg", "b", "a"].p
    bins = np.histogram(p_values, bins=10, range=(0, 1))[0]
    assert all(within(count, cases, 0.1) for count in bins.tolist()), bins


@pytest.mark.slow
def test_dependent_queries_inflate_the_error_without_clusters():
    """Without clusters, a nominal error rate of 5% rises above 15%."""
    cases, n_decided = 300, {"with": 0, "without": 0}
    for seed in range(cases):
        random = np.random.default_rng(seed)
        labels = np.repeat(np.arange(12), 5)
        values = ndcg_like(random, 60, 2) + random.normal(0, 0.15, (12, 2))[labels]
        runs = comparison({"a": values[:, 0], "b": values[:, 1]}, metric="cg")
        n_decided["without"] += runs.test(flips=499, seed=seed)["cg", "b", "a"].decided
        n_decided["with"] += runs.test(flips=499, seed=seed, clusters=labels)["cg", "b", "a"].decided
    assert within(n_decided["with"], cases)
    assert n_decided["without"] > 0.15 * cases


@pytest.mark.slow
def test_weighted_intervals_have_nominal_coverage():
    cases, covered = 600, 0
    for seed in range(cases):
        random = np.random.default_rng(seed)
        values = ndcg_like(random, 40, 2)
        its = comparison({"a": values[:, 0], "b": values[:, 1]}).test(
            flips=999, seed=seed, weights=random.integers(1, 6, 40)
        )["ndcg", "b", "a"]
        covered += its.low <= 0.0 <= its.high
    assert within(cases - covered, cases)


@pytest.mark.slow
def test_equal_groups_are_rarely_found_different():
    """The groups have 10 and 40 queries, and the standard deviation is three times as high in the small group."""
    cases, n_different = 200, 0
    labels = ["small"] * 10 + ["large"] * 40
    for seed in range(cases):
        random = np.random.default_rng(seed)
        differences = random.normal(0, 0.1, 50) * np.where(np.arange(50) < 10, 3, 1)
        groups = comparison({"a": np.zeros(50), "b": differences}, metric="cg").groups(labels, flips=99, seed=seed)
        n_different += groups.differ_p("cg", "b", "a") <= ALPHA
    assert within(n_different, cases)


@pytest.mark.slow
@pytest.mark.parametrize("shifts", [(0, 0, 0, 0, 0), (0, 0, 0, 0.06, 0.1), (0, 0.1, 0.2, 0.3, 0.4)])
def test_simultaneous_intervals_cover_all_true_differences(shifts):
    """The intervals cover all true differences, whether no runs, some runs or all runs differ."""
    cases, missed = 400, 0
    for seed in range(cases):
        random = np.random.default_rng(seed)
        values = random.normal(0.4, 0.15, (30, 1)) + np.array(shifts) + random.normal(0, 0.1, (30, 5))
        runs = comparison({f"r{run}": values[:, run] for run in range(5)}, metric="cg")
        tests = runs.test(flips=999, seed=seed, intervals="simultaneous")
        truth = {(run, base): shifts[int(run[1])] - shifts[int(base[1])] for _, run, base in tests}
        missed += any(not its.low <= truth[key[1:]] <= its.high for key, its in tests.items())
    assert missed <= cases * ALPHA + 3.9 * math.sqrt(cases * ALPHA)
