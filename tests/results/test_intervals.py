"""Intervals for the mean of bounded values, and quantiles of the beta distribution."""

import itertools
import json
import math

import numpy as np
import pytest
from support.marks import in_one_case, quick_first
from support.sides import qrels_lines, run_lines

import rankgain as rg
from rankgain.cli import main
from rankgain.results.intervals import beta_quantile, beta_share, mean_interval

SIZES = 0.01, 0.5, 1.0, 3.0, 60.0, 5e5


@in_one_case(("a", "b"), [*itertools.product(SIZES, repeat=2)])
def test_beta_quantile_equals_scipy(a, b):
    beta = pytest.importorskip("scipy.stats").beta
    for share in (0.005, 0.025, 0.5, 0.975):
        expected = beta.ppf(share, a, b)
        assert beta_quantile(share, a, b) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert beta_share(expected, a, b) == pytest.approx(beta.cdf(expected, a, b), rel=1e-7, abs=1e-9)
    assert beta_share(0.0, a, b) == 0.0
    assert beta_share(1.0, a, b) == 1.0


# Intervals of one run


def of_values(values, metric="ndcg", **options):
    """Return the interval for the mean of a metric, given lists that produce these values."""
    lists = [[1.0] if value == 1 else [0.0, 1.0] if value else [0.0] for value in values]
    return rg.from_ranked(lists).evaluate(metric).interval(metric, **options)


def test_interval_is_that_of_the_curve():
    rankings = rg.from_ranked([[0, 1, 2], [2, 0, 1], [0, 0, 0], [1, 0, 0]])
    result = rankings.evaluate("ndcg@2", "rr@3", "dcg@3")
    for metric, k, options in (("ndcg", 2, {}), ("rr", 3, {"level": 0.8}), ("dcg", 3, {"highest": 4})):
        curve = rankings.curve(metric, [k]).interval(**options)
        assert list(result.interval(f"{metric}@{k}", **options)) == curve[:, 0].tolist()
    low, high = result.interval("ndcg@2")
    assert 0 < low < result.mean("ndcg@2") < high < 1


@pytest.mark.parametrize("hits", [0, 3, 5])
def test_interval_of_hits_is_clopper_and_pearsons(hits):
    expected = pytest.importorskip("scipy.stats").binomtest(hits, 5).proportion_ci(0.95, "exact")
    assert of_values([1] * hits + [0] * (5 - hits), "success") == pytest.approx(tuple(expected), abs=1e-9)


def test_queries_without_a_value_do_not_count_and_missing_ones_count_0():
    assert of_values([1, 1, 0], "ndcg(empty=nan)") == of_values([1, 1])
    qrels, run = {q: {"d": 1} for q in "abc"}, {"a": {"d": 1.0}, "b": {"d": 1.0}}
    result = rg.from_qrels(qrels, run).evaluate("rr")
    assert result.interval("rr") == of_values([1, 1, 0], "rr")
    assert all(map(math.isnan, of_values([0], "ndcg(empty=nan)")))


def test_empty_values_beyond_1_widen_the_bounds():
    _, high = of_values([0, 1], "ndcg(empty=3)")
    assert 2 < high <= 3
    low, _ = of_values([0, 1], "ndcg(empty=-1)")
    assert -1 <= low < 0


def test_interval_of_a_geometric_mean_is_that_of_the_logarithms():
    result = rg.from_ranked([[1, 0], [0, 1], [0, 0]]).evaluate("gm_ap")
    low, high = result.interval("gm_ap")
    logs = np.log2([1.0, 0.5, 1e-5])
    expected = mean_interval(logs, math.log2(1e-5), 0.0, 0.95)
    assert [low, high] == pytest.approx([2 ** expected[0], 2 ** expected[1]])
    assert low < result.aggregate("gm_ap") < high


@pytest.mark.parametrize("queries", quick_first([5, 20]))
def test_interval_rarely_misses_the_true_mean(queries):
    """The interval rarely misses the true mean reciprocal rank if about half of the queries have the value 0."""
    random, cases, missed = np.random.default_rng(queries), 100, 0
    truth = 0.5 * np.mean(1 / np.arange(1.0, 6.0))
    for _ in range(cases):
        relevant = (np.arange(1, 6) == random.integers(1, 6, queries)[:, None]) & (random.random(queries) < 0.5)[
            :, None
        ]
        low, high = rg.from_ranked(relevant.astype(float)).evaluate("rr").interval("rr")
        missed += not low <= truth <= high
    assert missed <= 0.05 * cases


RESULT = rg.from_ranked([[2, 1], [0, 1]]).evaluate("dcg", "num_ret", "ndcg", "rr", "utility")
SCORES = rg.compare({"a": {"q": 0.5}, "b": {"q": 0.7}}, metrics="mine", values=True)["a"]


@in_one_case("row", [
    ("ap was not evaluated", KeyError, "ap", {}),
    ("level must be between 0 and 1", ValueError, "ndcg", {"level": 1}),
    ("level must be a number, not str", TypeError, "ndcg", {"level": "0.9"}),
    ("dcg has no upper bound: give highest=, the largest value that a query can have", ValueError, "dcg", {}),
    ("highest: a query has the value 2.6309297535714578 of dcg, which is not from 0 to 2: give a bound that no query",
     ValueError, "dcg", {"highest": 2}),
    ("highest must be a number, not str", TypeError, "dcg", {"highest": "9"}),
    ("highest must be above 0, not 0", ValueError, "dcg", {"highest": 0}),
    ("highest must be finite, not inf", ValueError, "dcg", {"highest": math.inf}),
    ("lowest must be a number, not str", TypeError, "ndcg", {"lowest": "9"}),
    ("lowest must be finite, not nan", ValueError, "ndcg", {"lowest": math.nan}),
    ("lowest must be below 1, not 1.5", ValueError, "ndcg", {"lowest": 1.5}),
    ("highest must be above 3, not 2", ValueError, "utility", {"lowest": 3, "highest": 2}),
    ("lowest: a query has the value 0.0 of utility, which is not from 0.5 to 2: give a bound that no query can exceed",
     ValueError, "utility", {"lowest": 0.5, "highest": 2}),
    ("utility has no lower or upper bound: give lowest= and highest=, the smallest and largest value that a query can",
     ValueError, "utility", {}),
    ("utility has no lower bound: give lowest=, the smallest value that a query can have", ValueError, "utility",
     {"highest": 2}),
    ("num_ret is a count, which is summed over queries", ValueError, "num_ret", {"highest": 9}),
    ("weights has 1 numbers, and there are 2 queries", ValueError, "rr", {"weights": [1]}),
    ("weights: query 1 has no weight; give it one, or 0 to leave it out", ValueError, "rr", {"weights": {0: 1}}),
    ("clusters has 1 labels, and there are 2 queries", ValueError, "rr", {"clusters": ["a"]}),
    ("clusters: 1 query has no cluster (first: 1): give each one a label", ValueError, "rr", {"clusters": {0: "a"}}),
    ("clusters must be a mapping from query to cluster, or hold one label per query", TypeError, "rr",
     {"clusters": "ab"}),
])  # fmt: skip
def test_interval_rejects(rejects, row):
    message, error, metric, options = row
    rejects(error, message, RESULT.interval, metric, **options)


def test_values_of_other_tools_need_a_bound(rejects):
    rejects(ValueError, "mine has no lower or upper bound", SCORES.interval, "mine")
    lower = rg.compare({"a": {"q": 0.5}, "b": {"q": 0.7}}, metrics="mine", values=True, higher_is_better=False)["a"]
    rejects(ValueError, "mine has no lower bound", lower.interval, "mine", highest=1)
    low, high = SCORES.interval("mine", lowest=0, highest=1)
    assert low < 0.5 < high


def test_lower_bound_below_0_widens_the_interval():
    result = rg.from_ranked([[0, 0], [1, 1], [1, 0]]).evaluate("utility")
    assert result["utility"].tolist() == [-2.0, 2.0, 0.0]
    low, high = mean_interval(np.array([0.25, 0.75, 0.5]), 0.0, 1.0, 0.95)
    assert result.interval("utility", lowest=-4, highest=4) == pytest.approx((8 * low - 4, 8 * high - 4))


VALUES = [1, 0.6, 0, 0.6, 0, 1, 1, 0, 0]  # 0.6 stands for the nDCG of [0, 1]
SECOND = 1 / math.log2(3)


@pytest.mark.options("Evaluation.interval", "weights")
def test_weights_are_those_of_the_mean():
    weights = [3.0, 1, 1, 2, 1, 1, 2, 1, 0]
    expected = mean_interval(np.array([1, SECOND, 0, SECOND, 0, 1, 1, 0]), 0.0, 1.0, 0.95, np.array(weights[:-1]))
    assert of_values(VALUES, weights=weights) == pytest.approx(expected, rel=1e-12)
    assert of_values(VALUES, weights=dict(enumerate(weights))) == of_values(VALUES, weights=weights)
    assert of_values(VALUES, weights=[5e307 * weight for weight in weights]) == pytest.approx(expected, rel=1e-12)
    assert of_values(VALUES) != pytest.approx(expected, abs=1e-3)


def test_metric_that_weights_queries_has_a_weighted_interval():
    lists = [[0, 1], [1, 0, 0], [0, 1, 0, 1], [1, 0], [1, 0], [0, 0, 1], [1, 1, 0], [0, 1], [1, 0, 1]]
    result, weights = rg.from_ranked(lists).evaluate("gauc", "auc", "num_ret"), np.arange(9, 18)
    assert result.interval("gauc") == result.interval("auc", weights=result["num_ret"])
    assert result.interval("gauc", weights=weights) == result.interval("auc", weights=result["num_ret"] * weights)


@pytest.mark.options("Evaluation.interval", "clusters")
def test_clusters_count_as_their_weighted_means():
    clusters = list("abcdefgah")
    means = np.array([0.5, SECOND, 0, SECOND, 0, 1, 1, 0])
    expected = mean_interval(means, 0.0, 1.0, 0.95, np.array([2.0, 1, 1, 1, 1, 1, 1, 1]))
    assert of_values(VALUES, clusters=clusters) == pytest.approx(expected)
    assert of_values(VALUES, clusters=dict(enumerate(clusters))) == of_values(VALUES, clusters=clusters)
    means[0], weights = 2 / 3, np.array([3.0, 1, 1, 1, 1, 1, 1, 1])
    both = of_values(VALUES, weights=[2, 1, 1, 1, 1, 1, 1, 1, 1], clusters=clusters)
    assert both == pytest.approx(mean_interval(means, 0.0, 1.0, 0.95, weights))
    assert of_values(VALUES, clusters=range(9)) == pytest.approx(of_values(VALUES))
    assert of_values(VALUES * 3, clusters=[*range(9)] * 3) == pytest.approx(of_values(VALUES))  # repeats add nothing


def test_queries_that_do_not_count_leave_their_clusters():
    values, clusters = [0, *VALUES[:4], 0, *VALUES[4:]], list("xabcdaefghi")  # the second 0 is in the cluster a
    of_others = of_values(VALUES, weights=[1, 1, 1, 1, 1, 1, 1, 1, 1], clusters=list("abcdefghi"))
    weights = [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    assert of_values(values, weights=weights, clusters=clusters) == pytest.approx(of_others)
    defined = [value for value in VALUES if value]
    kept = [label for label, value in zip("abcdefghi", VALUES, strict=True) if value]
    with pytest.warns(UserWarning, match="as few as 5.0 clusters"):
        assert of_values(VALUES, "ndcg(empty=nan)", clusters=list("abcdefghi")) == of_values(defined, clusters=kept)


def test_clusters_of_a_geometric_mean_count_as_means_of_the_logarithms():
    values, clusters = [1, 0.6, 1, 0.6, 1, 1, 0.6, 1], [0, 1, 2, 3, 4, 5, 0, 6]
    logs, weights = np.array([-0.5, -1, 0, -1, 0, 0, 0]), np.array([2.0, 1, 1, 1, 1, 1, 1])
    low, high = mean_interval(logs, math.log2(1e-5), 0.0, 0.95, weights)
    assert of_values(values, "gm_ap", clusters=clusters) == pytest.approx((2**low, 2**high))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": list("aabbccdde")}, "interval of ndcg: there are as few as 4.8 clusters of equal weight; with"),
        ({"weights": [9] + [1] * 8}, "interval of ndcg: there are as few as 3.2 queries of equal weight; with fewer"),
    ],
)
def test_few_clusters_are_a_warning(options, message):
    with pytest.warns(UserWarning, match=message):
        of_values(VALUES, **options)


@pytest.mark.slow
def test_interval_of_clusters_rarely_misses_the_true_mean():
    """A hundred users, whose queries are alike, have 1 to 5 queries; without `clusters`, 1 interval in 3 misses."""
    random, cases, missed, missed_without = np.random.default_rng(0), 300, 0, 0
    for _ in range(cases):
        sizes, hits = random.integers(1, 6, 20, dtype=np.intp), random.random(20) < 0.3
        result = rg.from_ranked(np.repeat(hits, sizes)[:, None].astype(float)).evaluate("success")
        low, high = result.interval("success", clusters=np.repeat(range(20), sizes))
        missed += not low <= 0.3 <= high
        low, high = result.interval("success")
        missed_without += not low <= 0.3 <= high
    assert missed <= 0.05 * cases < missed_without


@pytest.mark.options("Evaluation.interval", "level", "lowest", "highest")
def test_interval_options(check_option):
    result = rg.from_ranked([[1.0], [0.0], [1.0]]).evaluate("ndcg")
    low, high = mean_interval(np.array([1.0, 0.0, 1.0]), 0.0, 1.0, 0.5)
    check_option(of_values, "level", 0.5, (low, high), [1, 0, 1])
    low, high = mean_interval(np.array([1.0, 0.0, 1.0]), 0.0, 2.0, 0.95)
    check_option(result.interval, "highest", 2, (low, high), "ndcg")
    low, high = mean_interval(np.array([1.0, 0.0, 1.0]), -1.0, 1.0, 0.95)
    check_option(result.interval, "lowest", -1, (low, high), "ndcg")


# The command line


@pytest.fixture
def files(tmp_path):
    qrels, run = {q: {"d": 1} for q in ("a", "b", "c")}, {"a": {"d": 1.0}, "b": {"x": 2.0, "d": 1.0}}
    (tmp_path / "qrels").write_bytes(qrels_lines(qrels))
    (tmp_path / "run").write_bytes(run_lines(run))
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


def shell(capsys, *arguments, status=0):
    assert main(["eval", "--interval", *arguments]) == status
    return "".join(capsys.readouterr())


def test_eval_shows_the_interval_of_each_mean(capsys, files):
    result = rg.read_trec(*files).evaluate("rr", "dcg", "ndcg(empty=nan)")
    low, high = result.interval("rr", 0.9)
    text = shell(capsys, *files, "-m", "rr", "--level", "0.9")
    lines = text.splitlines()
    assert lines[0].split() == ["metric", "mean", "90%", "interval"]
    assert lines[2] == f"rr      0.5000  {low:.4f} to {high:.4f}"
    assert "interval: of the mean over queries like these; queries that count: 3" in lines
    assert "missing from the run: 1 (counted as 0)" in lines
    content = json.loads(shell(capsys, *files, "-m", "rr", "-m", "dcg", "--highest", "5", "--json"))
    ends = {key: result.interval(key, highest=5 if key == "dcg" else None) for key in ("rr", "dcg")}
    assert content["low"] == {key: low for key, (low, _) in ends.items()}
    assert content["high"] == {key: high for key, (_, high) in ends.items()}
    assert content["level"] == 0.95
    head, row = shell(capsys, *files, "-m", "rr", "--csv").splitlines()
    assert head == "run,rr,rr low,rr high"
    assert [float(cell) for cell in row.split(",")[1:]] == [0.5, *ends["rr"]]


def test_eval_names_how_many_queries_count_for_each_metric(capsys, tmp_path, files):
    (tmp_path / "qrels").write_bytes(qrels_lines({"a": {"d": 1}, "b": {"x": 0}}))
    text = shell(capsys, *files, "-m", "rr", "-m", "rr(empty=nan)")
    assert "queries that count: rr 2, rr(empty=nan) 1" in text
    text = shell(capsys, *files, "-m", "rr(empty=nan,rel=2)")
    assert text.splitlines()[2].split() == ["rr(empty=nan,rel=2)", "nan", "-"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--interval", "q", "r", "s"], "argument --interval: needs one run; for several, see rankgain compare"),
        (["--interval", "q", "r", "--trec"], "argument --interval: not allowed with argument --trec"),
        (["--interval", "q", "r", "--per-query"], "argument --interval: not allowed with argument --per-query"),
        (["--interval", "q", "r", "--tie-spread"], "argument --interval: not allowed with argument --tie-spread"),
        (["--highest", "3", "q", "r"], "argument --highest: only allowed with argument --interval"),
        (["--lowest", "3", "q", "r"], "argument --lowest: only allowed with argument --interval"),
    ],
)
def test_eval_refuses_intervals(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in "qrs":
        (tmp_path / name).touch()
    with pytest.raises(SystemExit) as stopped:
        main(["eval", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_eval_needs_the_bound_of_a_metric_without_one(capsys, files):
    text = shell(capsys, *files, "-m", "dcg", status=1)
    assert text.startswith("rankgain: error: dcg has no upper bound: give --highest, ")
    text = shell(capsys, *files, "-m", "utility", status=1)
    assert text.startswith("rankgain: error: utility has no lower or upper bound: give --lowest and --highest, ")
    ends = rg.read_trec(*files).evaluate("utility").interval("utility", lowest=-2, highest=2)
    metrics = "-m", "ndcg", "-m", "utility"  # the bounds of nDCG do not change
    content = json.loads(shell(capsys, *files, *metrics, "--lowest", "-2", "--highest", "2", "--json"))
    assert (content["low"]["utility"], content["high"]["utility"]) == ends
    assert content["low"]["ndcg"] == rg.read_trec(*files).evaluate("ndcg").interval("ndcg")[0]
