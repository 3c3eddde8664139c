"""Weighted queries, and clusters of dependent queries, which have one sign per cluster."""

import itertools
import math

import numpy as np
import pytest
from support.made_runs import against_best, against_nothing, comparison, evaluation
from support.marks import quick_first

import rankgain as rg
from rankgain.comparison.testing import sample_of

pytestmark = pytest.mark.usefixtures("backend")


def by_hand(differences, weights, clusters, level):
    """Compute (p, low, high) by enumerating all sign vectors; this is exact because all numbers are dyadic."""
    sums, wholes = (np.bincount(clusters, weights=values) for values in (np.multiply(differences, weights), weights))
    bits = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
    part, whole = bits @ sums, bits @ wholes
    inside = (bits.any(axis=1)) & (~bits.all(axis=1))
    means, rank = np.sort(part[inside] / whole[inside]), int((1 - level) * len(bits)) // 2
    reached = np.abs(sums.sum() - 2 * part) >= np.abs(sums.sum())
    return reached.mean(), means[rank - 1], means[-rank]


def dyadic_data(seed, queries, clusters=None):
    """Draw differences with ties and zeros, weights, and cluster labels.

    The numbers are dyadic rationals, which the grid represents exactly.
    """
    random = np.random.default_rng(seed)
    differences = random.integers(-8, 17, queries) / 16 * (random.random(queries) < 0.8)
    labels = random.permutation(np.arange(queries) % (clusters or queries))
    return differences.tolist(), (random.integers(1, 9, queries) / 8).tolist(), labels.tolist()


def the_test(differences, **options):
    return against_best(differences).test(**options)["ndcg", "run", "best"]


@pytest.mark.parametrize("seeds", quick_first([range(3), range(3, 8)]), ids=len)
@pytest.mark.parametrize(
    ("weighted", "queries", "clusters", "level", "options"),
    [
        (True, 8, None, 0.95, {}),
        (False, 20, 8, 0.95, {}),
        (True, 20, 8, 0.95, {}),
        (False, 17, None, 0.9, {}),  # some differences are 0
        (True, 40, 18, 0.9, {"method": "exact", "flips": 99}),  # more sign vectors than are enumerated by default
    ],
)
def test_exact_test_of_clusters_enumerates_sign_vectors(seeds, weighted, queries, clusters, level, options):
    for seed in seeds:
        differences, weights, labels = dyadic_data(seed, queries, clusters)
        if weighted:
            options = options | {"weights": weights}
        if clusters:
            options = options | {"clusters": labels}
        pair = the_test(differences, level=level, **options)
        p, low, high = by_hand(differences, weights if weighted else [1.0] * queries, labels, level)
        assert (pair.p, pair.method, pair.clusters) == (p, "exact", clusters or queries)
        assert (pair.low, pair.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def share_below(differences, weights, margin):
    """Return the share of all subsets, including the empty one, whose weighted mean is at most −margin."""
    parts = np.array(list(itertools.product((0.0, 1.0), repeat=len(weights))))
    return float((parts @ (weights * (differences + margin)) <= 1e-9).mean())


@pytest.mark.parametrize("options", [{}, {"method": "exact", "flips": 99}])
@pytest.mark.parametrize("margin", [0.05, 0.3])
@pytest.mark.parametrize(
    ("queries", "zeros", "weighted"), quick_first([(8, 1, False), (8, 5, True), (17, 10, False)], quick=2)
)
@pytest.mark.parametrize("is_worse", [False, True])
def test_margin_by_all_sign_vectors(margin, options, queries, zeros, weighted, is_worse):
    """The p-value is the larger of two: one for these queries, and one with an added query.

    The added query is worse by the squared share of ties, or by the largest loss of a query.
    """
    differences, weights, _ = dyadic_data(3, queries)
    differences = np.array(differences)
    if is_worse:  # all queries are worse by more than the margin, so the full subset counts, too
        differences = -(1 + np.abs(differences)) / 2
    differences[:zeros] = 0.0
    weights = np.array(weights) if weighted else np.ones(queries)
    pair = the_test(differences.tolist(), weights=weights if weighted else None, margin=margin, **options)
    ties = (weights[differences == 0.0].sum() / weights.sum()) ** 2

    def one_sided(sign):
        loss = max(ties, (-sign * differences * weights).max() / weights.mean())
        added = np.append(sign * differences, -loss), np.append(weights, weights.mean())
        return max(share_below(sign * differences, weights, margin), share_below(*added, margin))

    worse, better = one_sided(1), one_sided(-1)
    assert (pair.not_worse_p, pair.equivalent_p) == (worse, max(worse, better))


@pytest.mark.parametrize(("weighted", "zeros"), [(False, 6), (True, 3)])
def test_margin_by_random_flips_is_near_the_exact_one(weighted, zeros):
    """With 18 queries that differ and some that do not, p lies within five standard deviations of the exact p."""
    random = np.random.default_rng(0)
    differences = [*random.normal(0.0, 0.05, 18), *[0.0] * zeros]
    options = {"margin": 0.02, "weights": random.integers(1, 4, 18 + zeros) if weighted else None, "flips": 9999}
    exact, by_flips = (the_test(differences, method=method, **options) for method in ("exact", "randomization"))
    assert (exact.flips, by_flips.flips) == (0, 9999)
    for p, estimate in ((exact.not_worse_p, by_flips.not_worse_p), (exact.equivalent_p, by_flips.equivalent_p)):
        assert 0.005 < p < 0.5
        assert abs(estimate - p) < 5 * math.sqrt(p * (1 - p) / 9999)


@pytest.mark.parametrize("method", ["randomization", "t"])
@pytest.mark.parametrize(("queries", "margin", "p"), [(6, 0.05, 0.95**6), (30, 0.2, 0.8**30), (6, 0.0, 1.0)])
def test_margin_where_no_query_differs(method, queries, margin, p):
    """p is the probability that no query differs if a share `margin` of all queries were worse by 1."""
    if method == "t":
        pytest.importorskip("scipy")
    pair = the_test([0.0] * queries, margin=margin, method=method)
    assert pair.not_worse_p == pair.equivalent_p == pytest.approx(p, rel=1e-12)
    if method != "t":
        in_clusters = the_test([0.25, -0.25] * queries, margin=margin, clusters=np.arange(2 * queries) // 2)
        assert in_clusters.not_worse_p == pair.not_worse_p


@pytest.mark.parametrize("metric", ["cg", "dcg@10", "num_ret"])
def test_margin_is_not_tested_without_a_largest_difference(metric):
    pair = against_nothing([0.5] * 8, metric=metric).test(margin=0.1)[metric, "run", "zero"]
    assert math.isnan(pair.not_worse_p)
    assert math.isnan(pair.equivalent_p)
    assert not pair.not_worse
    assert not pair.equivalent


def test_margin_of_a_geometric_mean_is_one_of_logarithms():
    """The largest possible difference is the one between 1 and 10^-5."""
    pair = against_best([0.0] * 8, metric="gm_ap").test(margin=1.0)["gm_ap", "run", "best"]
    assert pair.not_worse_p == pytest.approx((1 - 1 / math.log2(1e5)) ** 8)


def test_margin_of_several_runs_leaves_out_metrics_without_one():
    """Holm's correction counts only the comparisons that are tested."""
    random = np.random.default_rng(1)
    runs = comparison({name: {"cg": random.random(30), "ap": random.random(30)} for name in "abc"})
    one, both = (
        runs.test("a", margin=0.2, flips=999, correction="holm", family="all", metrics=metrics)
        for metrics in ("ap", None)
    )
    alone = runs.test("a", margin=0.2, flips=999, correction=None, metrics="ap")
    least = min(alone["ap", run, "a"].not_worse_p for run in "bc")
    assert min(one["ap", run, "a"].not_worse_p for run in "bc") == 2 * least
    for run in "bc":
        assert both["ap", run, "a"].not_worse_p == one["ap", run, "a"].not_worse_p
        assert math.isnan(both["cg", run, "a"].not_worse_p)


@pytest.mark.parametrize("queries", [12, 20, 60])
@pytest.mark.parametrize("weight", [1, 4, 0.125])
def test_equal_weights_and_single_clusters_do_not_change_p(queries, weight):
    random = np.random.default_rng(queries)
    runs = comparison({name: random.random(queries) for name in "abc"})
    plain = runs.test(flips=999, margin=0.05)
    assert repr(dict(runs.test(flips=999, margin=0.05, clusters=range(queries)))) == repr(dict(plain))
    for key, pair in runs.test(flips=999, margin=0.05, weights=[weight] * queries).items():
        expected = plain[key]
        assert pair[:13] == expected[:13]
        assert pair._replace(sd=0, effect=0, detectable=0) == expected._replace(sd=0, effect=0, detectable=0)
        assert (pair.sd, pair.effect, pair.detectable) == pytest.approx(
            (expected.sd, expected.effect, expected.detectable)
        )


@pytest.mark.parametrize("queries", [14, 60])
def test_whole_weights_are_queries_of_one_cluster(queries):
    """A query of weight 3 counts like three queries with a common sign."""
    random = np.random.default_rng(queries)
    differences, times = random.normal(0.05, 0.2, queries), random.integers(1, 4, queries, np.intp)
    weighted = the_test(differences, weights=times, flips=999)
    repeated = the_test(
        np.repeat(differences, times), clusters=np.repeat(np.arange(queries), times), flips=999, level=0.95
    )
    assert repeated.p == weighted.p
    assert repeated.low == pytest.approx(weighted.low, abs=1e-9)
    assert repeated.high == pytest.approx(weighted.high, abs=1e-9)
    assert repeated.difference == pytest.approx(weighted.difference)


@pytest.mark.parametrize("seeds", quick_first([range(12), range(12, 40)]), ids=len)
@pytest.mark.parametrize("queries", [8, 24, 50])
def test_weighted_interval_excludes_0_where_p_is_small(seeds, queries):
    for seed in seeds:
        differences, weights, labels = dyadic_data(seed, queries, queries // 2)
        for options in ({"weights": weights}, {"clusters": labels}, {"weights": weights, "clusters": labels}):
            pair = the_test(differences, **options, flips=199, level=0.9, margin=0.05)
            assert pair.decided == (not pair.low <= 0.0 <= pair.high)
            assert pair.low > -0.05 or not pair.not_worse
        assert pair.low <= pair.difference <= pair.high


@pytest.mark.parametrize("options", [{}, {"method": "exact"}, {"intervals": "simultaneous"}])
@pytest.mark.parametrize("clusters", [3, 10, 40])
def test_no_interval_where_no_sign_vector_changes_the_sum(clusters, options):
    """There is no interval if the sums of all clusters are 0, however many queries there are."""
    pair = the_test([0.25, -0.25] * clusters, clusters=np.arange(2 * clusters) // 2, **options)
    assert (pair.p, pair.low, pair.high) == (1.0, -math.inf, math.inf)
    assert math.isnan(pair.detectable)
    assert ("; p = 1.0000, no interval." in pair.verdict()) == (clusters > 3)
    assert "would detect" not in pair.verdict()
    equal = the_test([0.0] * clusters, **options)
    assert (equal.p, equal.low, equal.high) == (1.0, -math.inf, math.inf)


def test_dependent_queries_do_not_count_twice():
    """Ten queries repeated five times leave a difference undecided that fifty independent queries would decide."""
    differences = [0.3, -0.1, 0.2, 0.4, -0.2, 0.1, 0.3, -0.1, 0.2, -0.1]
    assert the_test(differences * 5, flips=999).decided
    pair = the_test(differences * 5, clusters=[*range(10)] * 5, flips=999)
    once = the_test(differences, flips=999)
    assert not pair.decided
    assert (pair.p, pair.clusters, pair.queries) == (once.p, 10, 50)
    assert pair.detectable == pytest.approx(once.detectable)
    assert (pair.low, pair.high) == pytest.approx((once.low, once.high), abs=1e-9)


def test_max_t_with_weights_corrects_margins_and_families():
    random = np.random.default_rng(1)
    runs = comparison({name: {m: random.random(40) for m in ("ndcg", "ap")} for name in "abcd"})
    options = {"weights": random.random(40), "clusters": np.arange(40) // 2, "flips": 999, "margin": 0.1}
    for family, correction in itertools.product(("metric", "all"), ("max-t", "holm", "bh", None)):
        tests = runs.test("a", family=family, correction=correction, **options)
        for its in tests.values():
            assert its.adjusted >= its.p
            assert its.clusters == 20
    alone = runs.test("a", metrics="ap", correction=None, **options)
    for key in alone:
        assert alone[key]._replace(comparisons=0) == runs.test("a", correction=None, **options)[key]._replace(
            comparisons=0
        )


@pytest.mark.parametrize("power", [-1060, -900, 3, 900, 1020])
def test_only_the_ratio_of_weights_matters(power):
    random = np.random.default_rng(2)
    differences, weights = random.normal(size=50), random.integers(1, 9, 50).astype(float)
    runs, labels = against_nothing(differences), list("xy" * 25)

    def results(weights):
        groups = runs.groups(labels, weights=weights, flips=499)
        (key,) = groups.overall
        needed = runs.queries_needed(*key, difference=0.5, weights=weights)
        pair = groups.overall[key]
        return pair.p, pair.low, pair.high, pair.sd, groups.differ_p(*key), groups.mean_of_means(*key), needed

    assert results(weights) == results(weights * 2.0**power)


def test_weights_apply_by_id_to_common_queries():
    weights = {"q1": 2, "q2": 0, "q3": 1, "q4": 1, "q5": 3}
    runs = rg.Comparison(
        {
            "a": evaluation([0.1, 0.2, math.nan, 0.4, 0.5], ["q1", "q2", "q3", "q4", "q5"]),
            "b": evaluation([0.9, 0.7, math.nan, 0.5], ["q5", "q4", "q3", "q2"]),
        }
    )
    tests = runs.test(queries="common", weights=weights, clusters={q: q for q in weights})
    pair = tests["ndcg", "b", "a"]
    assert (tests.queries, tests.left_out) == (2, 3)
    assert pair.difference == pytest.approx((1 * (0.7 - 0.4) + 3 * (0.9 - 0.5)) / 4)
    assert pair.mean == pytest.approx((0.7 + 3 * 0.9) / 4)
    assert sample_of(tests, "ndcg").weights.tolist() == [0.25, 0.75]  # the weights are scaled by a power of two


def test_weights_multiply_those_of_the_metric():
    """For GAUC, the tested means are those that the table shows."""
    random = np.random.default_rng(0)
    sizes = random.integers(5, 30, 30, np.intp)
    labels, ids = random.integers(0, 2, sizes.sum()), np.repeat(np.arange(30), sizes)
    runs = rg.compare(
        {
            name: rg.from_scores(labels, labels * boost + random.random(len(labels)), qid=ids)
            for name, boost in (("a", 0.1), ("b", 0.3))
        },
        metrics=["gauc", "auc"],
    )
    tests = runs.test(flips=999)
    for metric in ("gauc", "auc"):
        means = runs.aggregate()
        assert tests[metric, "b", "a"].mean == pytest.approx(means["b"][metric], abs=1e-12)
    weights = random.random(30)
    means, tests_of_both = runs.aggregate(weights=weights), runs.test(flips=999, weights=weights)
    assert tests_of_both["gauc", "b", "a"].mean == pytest.approx(means["b"]["gauc"], abs=1e-12)
    assert "gauc: queries are weighted, and carry as much information as" in " ".join(tests.notes())
    with pytest.raises(ValueError, match=r"^family='all': auc and gauc weigh queries differently: test them sep"):
        runs.test(flips=999, family="all")
    with pytest.raises(ValueError, match=r"^gauc weighs queries, and method='t' takes no weights"):
        runs.test(method="t")


def test_groups_are_tested_with_weights_and_clusters():
    """Each group is tested like a comparison of its queries alone; the overall mean uses the weights of the groups."""
    random = np.random.default_rng(0)
    runs = comparison({"a": random.random(24), "b": random.random(24)}, metric="cg")
    labels, weights, clusters = ["short"] * 12 + ["long"] * 12, random.integers(1, 9, 24), np.arange(24) // 2
    groups = runs.groups(labels, weights=weights, clusters=clusters, flips=999)
    key = "cg", "b", "a"
    means = []
    for label, rows in (("short", slice(0, 12)), ("long", slice(12, 24))):
        part = comparison({name: by_metric["cg"][rows] for name, by_metric in runs.items()}, metric="cg")
        alone = part.test(weights=weights[rows], clusters=clusters[rows], flips=999)[key]
        assert groups.tests[label][key].p == alone.p
        assert groups.tests[label][key].difference == pytest.approx(alone.difference)
        means.append(alone.difference)
    assert groups.mean_of_means(*key) == pytest.approx(np.mean(means))
    even = weights / np.repeat([weights[:12].sum(), weights[12:].sum()], 12)
    expected = runs.test(weights=even, clusters=clusters, flips=999)[key]
    of_means = groups.test_of_means(*key)
    assert (of_means.p, of_means.low, of_means.high) == (expected.p, expected.low, expected.high)
    assert of_means.difference == pytest.approx(np.mean(means))
    shares = weights[:12].sum() / weights.sum(), weights[12:].sum() / weights.sum()
    assert groups.overall[key].difference == pytest.approx(np.dot(shares, means))
    assert 0 < groups.differ_p(*key) <= 1


def test_groups_with_clusters_are_tested_by_clusters():
    """Repeated queries count once, and no test is possible if every cluster spans two groups."""
    random = np.random.default_rng(1)
    differences, labels = random.normal(0.05, 0.2, 16), ["x"] * 8 + ["y"] * 8
    once = against_nothing(differences).groups(labels, flips=99)
    five = against_nothing(np.repeat(differences, 5)).groups(
        np.repeat(labels, 5), clusters=np.repeat(np.arange(16), 5), flips=99
    )
    key = "cg", "run", "zero"
    assert five.differ_p(*key) == pytest.approx(once.differ_p(*key), abs=1e-3)
    across = against_nothing(differences).groups(labels, clusters=[*range(8)] * 2, flips=99)
    assert math.isnan(across.differ_p(*key))
    assert "a cluster has queries of several groups" in across.verdicts(*key)[0]


@pytest.mark.options("Comparison.queries_needed", "weights", "clusters")
def test_queries_needed_with_weights_and_clusters():
    differences = [0.3, -0.1, 0.2, 0.4, -0.2, 0.1, 0.3, -0.1, 0.2, -0.1]
    pair = "cg", "run", "zero"
    once = against_nothing(differences).queries_needed(*pair, difference=0.05)
    runs = against_nothing(differences * 5)
    assert runs.queries_needed(*pair, difference=0.05, clusters=[*range(10)] * 5) == once
    assert runs.queries_needed(*pair, difference=0.05) < once
    # Half of the queries have almost no weight, so twice as many queries are needed.
    few = against_nothing(differences * 2)
    weighted = few.queries_needed(*pair, difference=0.05, weights=[1] * 10 + [1e-9] * 10)
    assert weighted == pytest.approx(2 * once, abs=2)
