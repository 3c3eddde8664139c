"""Summaries hold exact sums, so merging the parts of any partition gives the same sums."""

import json
import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import in_one_case

import rankgain as rg
from rankgain.metrics.exact import exact_sum, rounded, rounded_mean
from rankgain.results.evaluation import Evaluation
from rankgain.results.intervals import beta_quantile, interval_of_sum

TINY = 5e-324
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
METRICS = "ndcg@10", "rr", "num_rel", "gm_ap"


def evaluation(values, metric="cg"):
    values = np.array(values, dtype=np.float64)
    return Evaluation({metric: values}, range(len(values)), None, None, None, "python", (len(values), *[0] * 6))


def true_sum(values):
    return sum(map(Fraction, values), Fraction(0))


@given(st.lists(numbers | st.sampled_from([TINY, -TINY, 2.2e-308, 1.7e308, -1.7e308, 0.0, -0.0, 1.0, 0.1])))
def test_exact_sum_rounds_like_fsum(values):
    exact = exact_sum(np.array(values, dtype=np.float64))
    assert Fraction(exact, 1 << 1074) == true_sum(values)
    try:
        expected = math.fsum(values)
    except OverflowError:
        return
    assert rounded(exact) == expected
    if values:
        assert rounded_mean(exact, len(values)) == expected / len(values)


def test_exact_sum_of_many_values():
    rng = np.random.default_rng(1)
    values = rng.random(200_001) * 10.0 ** rng.integers(-320, 300, 200_001)
    values[::7] *= -1
    assert rounded(exact_sum(values)) == math.fsum(values.tolist())
    assert exact_sum(values) == exact_sum(values[::-1]) == exact_sum(values[:70_000]) + exact_sum(values[70_000:])


@pytest.mark.parametrize(
    "values",
    [[1.7e308] * 3, [1.7e308, 1.7e308, -1.7e308], [-1.7e308] * 2, [1.7e308, TINY], [1.7e308] * 2 + [-1e308] * 5],
)
def test_mean_where_fsum_overflows(values):
    """The mean is the rounded exact sum divided by the count, in any order of the values.

    If the sum overflows, the mean is the rounded exact mean.
    """
    true = true_sum(values)
    try:
        expected = float(true) / len(values)
    except OverflowError:
        expected = float(true / len(values))
    assert evaluation(values).summary().mean("cg") == expected
    assert evaluation(values).mean("cg") == evaluation(values[::-1]).mean("cg") == expected


def test_summary_of_infinite_values():
    """Values may be infinite, for example with `empty=inf`."""
    summary = evaluation([math.inf, 1.0, -1.7e308]).summary()
    assert summary.mean("cg") == math.inf == summary.merge(evaluation([-1.7e308] * 9).summary()).mean("cg")
    assert evaluation([-math.inf, 1.7e308, 1.7e308]).summary().mean("cg") == -math.inf


def test_merged_summaries_of_any_partition_have_the_bits_of_fsum():
    rng = random.Random(7)
    for _ in range(300):
        count = rng.randrange(1, 60)
        scale = 10.0 ** rng.randrange(-320, 300)
        values = [rng.choice([rng.random(), rng.random() * scale, TINY, 0.0, 1.0, math.nan]) for _ in range(count)]
        whole = evaluation(values).summary()
        order = rng.sample(values, count)
        cuts = sorted(rng.randrange(count + 1) for _ in range(rng.randrange(8)))
        parts = [
            evaluation(order[start:stop]).summary() for start, stop in zip([0, *cuts], [*cuts, count], strict=True)
        ]
        while len(parts) > 1:  # merge two random parts
            first, second = (parts.pop(rng.randrange(len(parts))) for _ in range(2))
            parts.append(first.merge(second))
        assert parts == [whole]
        counted = [value for value in values if value == value]
        if counted:
            assert parts[0].mean("cg") == math.fsum(counted) / len(counted)
        else:
            assert math.isnan(parts[0].mean("cg"))


def test_summary_has_the_means_of_the_evaluation(backend):
    result = rg.from_ranked([[1, 0], [0, 1, 2], [0, 0], [1, 1]]).evaluate(
        *METRICS, rg.metric("ndcg", k=1, empty=math.nan)
    )
    summary = result.summary()
    assert summary.counts == result.counts
    assert summary.metrics == (*METRICS, "ndcg(empty=nan)@1")
    assert summary.aggregate() == {str(key): value for key, value in result.aggregate().items()}
    assert summary.mean() == {str(key): value for key, value in result.mean().items()}
    record = rg.metric("ndcg", k=1, empty=math.nan)
    assert summary.mean(record) == result.mean(record)
    assert (summary.backend, summary.versions) == (backend, (rg.__version__,))
    assert repr(summary).splitlines()[0] == f"<Summary: 4 queries, backend={backend!r}; 1 empty>"
    assert "<table>" in summary._repr_html_()


@given(st.lists(numbers | st.just(math.nan), max_size=20), st.sampled_from(["cg", "num_rel", "gm_ap"]))
def test_json_keeps_every_bit(values, metric):
    summary = evaluation(values, metric).summary()
    assert rg.Summary.from_json(summary.to_json()) == summary
    assert pickle.loads(pickle.dumps(summary)) == summary
    state = json.loads(summary.to_json())  # a string survives JSON readers that parse numbers as float64
    assert isinstance(state["metrics"][metric]["sum"], str)


def test_sums_in_json_are_hexadecimal_strings_of_any_size():
    summary = evaluation([-1.5, math.inf, 1.0]).summary()
    assert rg.Summary.from_json(summary.to_json()).mean("cg") == math.inf
    assert json.loads(evaluation([-TINY] * 31).summary().to_json())["metrics"]["cg"]["sum"] == "-0x1f"


def test_merge_unites_versions_and_backends():
    parts = [
        rg.Summary.from_json(json.dumps(SUMMARY | {"backend": backend, "versions": [version]}))
        for backend, version in (("python", "0.3"), ("compiled", "0.2"), ("python", "0.2"))
    ]
    first = parts[0].merge(parts[1], parts[2])
    assert first == parts[2].merge(parts[0].merge(parts[1]))
    assert (first.backend, first.versions) == ("compiled+python", ("0.2", "0.3"))


def weighted(values, weights, metric="gauc"):
    values, weights = np.array(values, dtype=np.float64), np.array(weights, dtype=np.float64)
    counts = len(values), *[0] * 6
    return Evaluation({metric: values}, range(len(values)), None, None, None, "python", counts, {"num_ret": weights})


def test_merged_weighted_means_of_any_partition_are_equal():
    """Weighted values are rounded individually, as in `Evaluation.mean`, and then added exactly."""
    rng = random.Random(11)
    for _ in range(300):
        count = rng.randrange(1, 40)
        values = [rng.choice([rng.random(), 1 / 3, 0.0, math.nan]) for _ in range(count)]
        weights = [float(rng.choice([0, 1, 3, rng.randrange(1 << 53)])) for _ in range(count)]
        whole = weighted(values, weights)
        cut = rng.randrange(count + 1)
        parts = [weighted(values[part], weights[part]).summary() for part in (slice(cut, None), slice(cut))]
        merged = parts[0].merge(rg.Summary.from_json(parts[1].to_json()))
        assert merged == whole.summary()
        np.testing.assert_equal(merged.mean("gauc"), whole.mean("gauc"))
        np.testing.assert_equal(merged.aggregate(), whole.aggregate())


def test_summary_weights_queries_like_the_evaluation(backend):
    rankings = rg.from_scores([[0, 1, 2], [1, 0, 0], [0, 0, 1]], [[0.3, 0.9, 0.1], [0.8, 0.1, 0.2], [0.3, 0.2, 0.1]])
    result = rankings.evaluate("gauc", "auc", rg.metric("gauc", empty=math.nan))
    some = result.subset([2, 0]).summary().merge(result.subset([1]).summary())
    assert some.mean() == {str(key): value for key, value in result.mean().items()}
    assert some.counts == {"queries": 3}
    state = json.loads(result.summary().to_json())["metrics"]
    assert state["gauc"]["aggregator"] == "weighted_mean"
    assert state["gauc"]["weights"] == hex(9 << 1074)
    assert "weights" not in state["auc"]


@pytest.mark.parametrize("value", [1e300, -1e300, math.inf])
def test_weighted_sums_that_may_overflow_are_rejected(value):
    with pytest.raises(ValueError, match=r"gauc: a value times its weight is beyond 9e\+279"):
        weighted([1.0, value], [1, 2]).summary()


def test_merge_of_an_unknown_count_is_unknown():
    result = rg.from_ranked([[1, 0], [0, 0]]).evaluate("rr")
    whole, some = result.summary(), result.subset([1]).summary()
    assert some.counts == {"queries": 1}
    for merged in (whole.merge(some), some.merge(whole)):
        assert merged.counts == {"queries": 3}
        assert rg.Summary.from_json(merged.to_json()) == merged
        assert repr(merged).splitlines()[0].startswith("<Summary: 3 queries, backend=")


def test_skipped_queries_may_outnumber_counted_ones():
    state = SUMMARY | {"counts": {"queries": 1, "missing": 2}, "missing": "skip"}
    assert rg.Summary.from_json(json.dumps(state)).counts["missing"] == 2


@pytest.mark.parametrize("gain", [{1: 3}, [0, 3], np.sqrt])
def test_summary_of_metrics_without_a_string_is_printed(gain):
    """Metrics with custom gains have names that cannot be parsed, but their summaries can be printed."""
    metrics = rg.metric("ndcg", k=2, gain=gain), rg.metric("cg", gain=gain)
    summary = rg.from_ranked([[1, 0]]).evaluate(*metrics).summary()
    texts = list(map(str, metrics))
    assert all(text in print_of(summary) for text in texts for print_of in (repr, type(summary)._repr_html_))


def test_different_metrics_of_one_name_are_not_merged():
    one, other = (rg.metric("dcg", gain=gain) for gain in (lambda grades: grades, lambda grades: grades * 2))
    rankings = rg.from_ranked([[1, 0]])
    first, second = (rankings.evaluate(metric).summary() for metric in (one, other))
    for some in (first, first.merge(first), first.merge(rg.Summary.from_json(first.to_json()))):
        assert some.merge(first).mean(one) == 1.0
        with pytest.raises(ValueError, match=r"others\[0\] has another metric of the name dcg\(gain=<lambda>\): give"):
            some.merge(second)
    # JSON stores only the name of the metric.
    assert rg.Summary.from_json(first.to_json()).merge(second).counts["queries"] == 2
    with pytest.raises(ValueError, match=r"others\[1\] has another metric"):
        rg.Summary.from_json(first.to_json()).merge(first, second)
    text, record = (rankings.evaluate(metric).summary() for metric in ("ndcg@5", rg.metric("ndcg", k=5)))
    assert text.merge(record) == record.merge(text)


@pytest.mark.filterwarnings("error")
def test_weights_up_to_the_largest_float():
    rankings = rg.from_scores([[0, 1, 2], [1, 0, 0], [1, 0, 1]], [[0.3, 0.9, 0.1], [0.8, 0.1, 0.2], [0.3, 0.2, 0.1]])
    result = rankings.evaluate("gauc")
    for weights in ([1e308] * 3, [1e308, 0.5e308, 0.0]):
        small = [weight / 1e308 for weight in weights]
        assert result.mean("gauc", weights=weights) == pytest.approx(result.mean("gauc", weights=small), rel=1e-15)
        assert result.aggregate("gauc", weights=weights) == result.mean("gauc", weights=weights)


# Rejected JSON and rejected parts

SUMMARY = {
    "summary": 1,
    "metrics": {"rr": {"aggregator": "mean", "count": 1, "sum": "0x1"}},
    "counts": {"queries": 1, "missing": 0, "unjudged": 0, "empty": 0},
    "ties": None,
    "missing": None,
    "like": None,
    "backend": "python",
    "versions": ["0.1.0"],
}
TIES = "ties must be one of 'average', 'stable', 'docid', 'best', 'worst', not "


def of_metric(aggregator="mean", **state):
    return {"metrics": {"rr": {"aggregator": aggregator, **state}}}


@in_one_case("row", [  # error message, change to SUMMARY
    ("format 2, and this release reads 1", {"summary": 2}),
    ("unknown aggregator 'median'", of_metric("median", count=1, sum="0x1")),
    ("a count must be an integer of at least 0", of_metric(count=-1, sum="0x1")),
    ("invalid literal", of_metric(count=1, sum="x")),
    ("it lacks 'sum'", of_metric(count=1)),
    ("a count must be an integer of at least 0, not 1.0", {"counts": {"queries": 1.0}}),
    ("it lacks 'queries'", {"counts": {}}),
    ("rr has values of 2 queries, and there", of_metric(count=2, sum="0x1")),
    ("rr has a sum without values", of_metric(count=0, sum="0x1")),
    ("rr has a sum", of_metric("geometric_mean", count=0, sum="0x0", sum_log2="0x1")),
    ("negative weights", of_metric("weighted_mean", count=1, sum="0x1", weights="-0x1")),
    ("2 empty queries, of 1", {"counts": {"queries": 1, "empty": 2}}),
    ("2 missing queries, of 1", {"counts": {"queries": 1, "missing": 2}, "missing": "zero"}),
    ("missing and unjudged queries, but no rule", {"counts": {"queries": 1, "missing": 2}}),
    ("missing and unjudged queries, but no rule", {"counts": {"queries": 1, "unjudged": 2}}),
    (f"{TIES}3", {"ties": 3}),
    (f"{TIES}'banana'", {"ties": "banana"}),
    ("missing must be 'zero' or 'skip', not 'banana'", {"missing": "banana"}),
    ("like='banana': unknown tool", {"like": "banana"}),
    ("like must be the name of a tool, not int 3", {"like": 3}),
    ("not iterable", {"versions": 3}),
])  # fmt: skip
def test_from_json_rejects_a_state(rejects, row):
    message, change = row
    message = f"this is not the JSON of a Summary:…{message}"
    rejects(ValueError, message, rg.Summary.from_json, json.dumps(SUMMARY | change))


@pytest.mark.parametrize("text", ["", "[]", "3", "null", b"{}", "{", "[" * 100_000], ids=lambda text: str(text)[:9])
def test_from_json_rejects_other_text(rejects, text):
    rejects(ValueError, "this is not the JSON of a Summary", rg.Summary.from_json, text)


def test_summaries_reject_others(rejects):
    rankings = rg.from_qrels({"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1}, "b": {"d": 1}})
    summary = rankings.evaluate("rr").summary()
    state = json.loads(summary.to_json())
    state["metrics"]["rr"]["aggregator"] = "total"
    rejects(TypeError, "others[0] must be a Summary, not str", summary.merge, "x")
    rejects(ValueError, "others[0] lacks the metric rr", summary.merge, rankings.evaluate("ap").summary())
    message, average = "others[0] has ties='average', the first has 'docid'", rankings.under(ties="average")
    rejects(ValueError, message, summary.merge, average.evaluate("rr").summary())
    message = "others[0] has the total of rr, the first the mean"
    rejects(ValueError, message, summary.merge, rg.Summary.from_json(json.dumps(state)))


# Intervals from sums


def summary_of(lists, *metrics):
    return rg.from_ranked(lists).evaluate(*metrics).summary()


@pytest.mark.parametrize("hits", [0, 3, 7])
def test_interval_of_hits_is_that_of_the_evaluation(hits):
    result = rg.from_ranked([[1]] * hits + [[0]] * (7 - hits)).evaluate("success", "gm_ap")
    for level in (0.5, 0.95):
        assert result.summary().interval("success", level) == pytest.approx(result.interval("success", level), abs=2e-9)
        # AP is 1 or 0, and 0 counts as 0.00001, the lower bound
        assert result.summary().interval("gm_ap", level) == pytest.approx(result.interval("gm_ap", level), rel=1e-7)


def test_interval_from_a_sum_contains_that_of_the_values():
    result = rg.from_ranked([[0, 0, 1], [1, 0, 0], [0, 1, 0]] * 5).evaluate("rr", "gm_ap", "dcg", "utility")
    first, second = result.subset(range(8)).summary(), result.subset(range(8, 15)).summary()
    for metric, bounds in (
        ("rr", {}),
        ("gm_ap", {}),
        ("dcg", {"highest": 2}),
        ("utility", {"lowest": -3, "highest": 3}),
    ):
        low, high = first.merge(second).interval(metric, **bounds)
        inner = result.interval(metric, **bounds)
        assert low < inner[0] < inner[1] < high
        assert rg.Summary.from_json(result.summary().to_json()).interval(metric, **bounds) == (low, high)


@pytest.mark.slow
@pytest.mark.parametrize("low", [0.0, 0.3, 0.5])
def test_interval_from_a_sum_covers_the_mean_of_two_values(low):
    """The exact coverage over populations of two values, at both sides of each end, is at least the level."""
    queries = 12
    sums = [(queries - hits) * low + hits for hits in range(queries + 1)]
    ends = [interval_of_sum(total / queries, queries, "mean", "rr", 0.95) for total in sums]
    for mean in (end + side for pair in ends for end in pair for side in (-1e-7, 1e-7)):
        share = (mean - low) / (1 - low)
        if 0 < share < 1:
            covered = [hits for hits, (least, most) in enumerate(ends) if least <= mean <= most]
            assert sum(math.comb(queries, h) * share**h * (1 - share) ** (queries - h) for h in covered) >= 0.95 - 1e-6


@pytest.mark.options("Summary.interval", "level", "lowest", "highest")
def test_interval_from_a_sum_takes_options(check_option):
    summary = summary_of([[1, 0], [1, 0], [0, 0]], "rr")  # 2 hits of 3; from -1 to 1: 2.5; from 0 to 2: 1
    for name, value, hits, width in (("level", 0.9, 2, 1), ("lowest", -1, 2.5, 2), ("highest", 2, 1, 2)):
        error, least = (0.05 if name == "level" else 0.025), (-1 if name == "lowest" else 0)
        ends = beta_quantile(error, hits, 4 - hits), beta_quantile(1 - error, hits + 1, 3 - hits)
        expected = [least + width * end for end in ends]
        check_option(lambda **options: list(summary.interval("rr", **options)), name, value, expected)


def test_interval_of_no_values_is_nan():
    assert all(map(math.isnan, summary_of([[0]], "rr(empty=nan)").interval("rr(empty=nan)")))


def test_interval_of_a_metric_that_no_text_names():
    metric = rg.metric("ndcg", gain=lambda grades: 3.0 * grades)
    summary = summary_of([[1, 2], [2, 1], [2, 0]], metric)
    assert 0 < summary.interval(metric)[0] < 1
    read = rg.Summary.from_json(summary.to_json())
    assert read.interval(metric, lowest=0, highest=1) == summary.interval(metric)
    with pytest.raises(ValueError, match="has no lower or upper bound: give lowest= and highest="):
        read.interval(metric)
    by_grade = rg.metric("ndcg", gain={1: 3, 2: 7})
    summary = summary_of([[1, 2], [2, 1], [2, 0]], by_grade)
    assert rg.Summary.from_json(summary.to_json()).interval(str(by_grade)) == summary.interval(by_grade)


@pytest.mark.parametrize(("message", "error", "metric", "options"), [
    ("ap was not evaluated", KeyError, "ap", {}),
    ("level must be between 0 and 1", ValueError, "rr", {"level": 0}),
    ("num_rel is a count, which is summed over queries", ValueError, "num_rel", {}),
    ("gauc is a weighted mean, whose interval needs all values: use Evaluation.interval", ValueError, "gauc", {}),
    ("cg has no upper bound: give highest=, the largest value that a query can have", ValueError, "cg", {}),
    ("highest: the mean of cg is 2.0, which is not from 0 to 1.5: give a bound that no query can exceed", ValueError,
     "cg", {"highest": 1.5}),
    ("lowest: the mean of cg is 2.0, which is not from 3 to 9", ValueError, "cg", {"lowest": 3, "highest": 9}),
    ("lowest must be a number, not str", TypeError, "rr", {"lowest": "0"}),
])  # fmt: skip
def test_interval_from_a_sum_rejects(rejects, message, error, metric, options):
    summary = summary_of([[2, 1], [0, 1]], "rr", "num_rel", "cg", "gauc")
    rejects(error, message, summary.interval, metric, **options)
