"""Means by a judge of all queries, corrected by a judge of few: estimates, tests, gates, output and what is refused."""

import io
import json
import math
import pickle
import random
from functools import cache

import numpy as np
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.cli import main
from rankgain.comparison.aligned import Sample
from rankgain.comparison.estimates import corrected_differences, estimated
from rankgain.comparison.testing import Options
from rankgain.metrics.metric import parse

pytestmark = pytest.mark.usefixtures("backend")


def collection(queries=60, names=("main", "change"), seed=1):
    """Return the judgments of a human and of a judge that errs at random, and runs of which the later are better."""
    generator = np.random.default_rng(seed)
    human, llm, runs = {}, {}, {name: {} for name in names}
    for query in (f"q{number:03}" for number in range(queries)):
        grades = generator.choice(4, 12, p=[0.6, 0.2, 0.12, 0.08])
        wrong = generator.random(12) < 0.35
        labels = np.where(wrong, np.clip(grades + generator.choice([-1, 1], 12), 0, 3), grades)
        difficulty = generator.random()
        for number, name in enumerate(names):
            scores = grades * (1 - difficulty) + generator.normal(0, 2.4 - 1.7 * number / (len(names) - 1), 12)
            runs[name][query] = {f"d{row}": float(score) for row, score in enumerate(scores)}
        human[query] = {f"d{row}": int(grade) for row, grade in enumerate(grades)}
        llm[query] = {f"d{row}": int(label) for row, label in enumerate(labels)}
    return human, llm, runs


HUMAN, LLM, RUNS = collection()
FEW = {query: HUMAN[query] for query in random.Random(0).sample(sorted(HUMAN), 20)}

NUMBERED = dict(enumerate(FEW.values())), {name: dict(enumerate(run.values())) for name, run in RUNS.items()}


def corrected(human=FEW, llm=LLM, runs=RUNS, metrics="ndcg@5", **options):
    return rg.compare(llm, runs, metrics).corrected_by(human, **options)


@pytest.fixture
def usual(backend):
    return _usual(backend)


@cache
def _usual(backend):
    """Compute `corrected()` once per backend."""
    return corrected()


def values_of(human, runs=RUNS, metric="ndcg@5"):
    return {name: result[metric] for name, result in rg.compare(human, runs, metric).items()}


def estimate(first, every, rows, metric="ndcg@5"):
    """Return the estimate of values by query, given in a column for each run."""
    ((_, record),) = parse(metric)
    runs = [f"r{number}" for number in range(every.shape[1])]
    samples = (Sample(record, runs, range(len(each)), each) for each in (first, every))
    return estimated(metric, *samples, rows, rows.tolist(), every)


def differences_in(estimate):
    fixed = "randomization", None, "metric", "single", 0.95, None, 999, 0, "same", 1
    return corrected_differences(estimate, Options(None, (estimate.metric,), *fixed))


def test_the_estimate_is_the_formula_of_the_docstring():
    human, llm = values_of(FEW)["main"], dict(zip(LLM, values_of(LLM)["main"], strict=True))
    labelled, every = [llm[query] for query in FEW], [*llm.values()]
    n, whole = len(labelled), len(every)
    slopes = []
    for left_out in range(n):
        x, y = (np.delete(np.array(each) - np.mean(each), left_out) for each in (labelled, human))
        slopes.append(min(max(float(x @ y / (x @ x)), 0), 1))
    mean_all, slope = np.mean(every), np.mean(slopes)
    others, draw = [query for query in LLM if query not in FEW], random.Random(0).random
    groups = [[query] for query in FEW]
    for number, query in enumerate(sorted(others, key=lambda _: draw())):
        groups[number % n].append(query)
    values = [
        y + each * (mean_all - x) + n / whole * slope * sum(llm[query] - mean_all for query in group)
        for x, y, each, group in zip(labelled, human, slopes, groups, strict=True)
    ]
    rows = np.array([[*LLM].index(query) for query in FEW])
    result = estimate(np.array(human)[:, None], np.array(every)[:, None], rows)
    assert result.values[:, 0] == pytest.approx(np.array(values))
    mean = corrected().means[0]
    assert (mean.run, mean.llm, mean.human) == ("main", pytest.approx(mean_all), pytest.approx(np.mean(human)))
    assert (mean.corrected, mean.slope) == (pytest.approx(np.mean(values)), pytest.approx(slope))
    assert mean.correlation == pytest.approx(np.corrcoef(human, labelled)[0, 1])


def test_corrected_values_have_the_spread_of_the_estimate():
    """Two runs share most of their variance, so that the slope of each is not that of their difference."""
    generator = np.random.default_rng(0)
    estimates, errors = [], []
    for _ in range(300):
        human = generator.normal(0, 0.25, (300, 1)) + generator.normal(0, 0.2, (300, 2))
        every = human + generator.normal(0, 0.1, (300, 2))
        rows = generator.choice(300, 30, replace=False)
        differences = np.subtract(*estimate(human[rows], every, rows).values.T)
        estimates.append(differences.mean())
        errors.append(differences.var(ddof=1) / 30)
    assert np.std(estimates) / math.sqrt(np.mean(errors)) == pytest.approx(1.0, abs=0.08)  # 4 % is one standard error


def test_the_interval_of_a_mean_is_the_hull_of_three_by_student():
    special = pytest.importorskip("scipy.special")
    human, llm = (np.array([1.0, 1, 1, 1, 0, 1, 1, 0.5, 1, 1]), np.array([1.0, 1, 1, 0, 0, 1, 1, 1, 1, 1]))
    every = np.concatenate([llm, np.full(30, 0.75)])[:, None]
    result = estimate(human[:, None], every, np.arange(10))
    v, slope = result.values[:, 0], result.slopes[0]
    assert 0 < slope < 1
    agree, commonest = 8 / 10, 7 / 10  # h = l eight times; h − slope · l is 1 − slope seven times
    reach = max(slope * agree**2, commonest**2)
    ends = []
    for values in (v, [*v, v.mean() - reach], [*v, v.mean() + reach]):
        half = special.stdtrit(9, 0.975) * np.std(values, ddof=1) / math.sqrt(len(values))
        ends += [np.mean(values) - half, np.mean(values) + half]
    assert result.interval(0, 0.95) == (pytest.approx(max(min(ends), 0)), pytest.approx(min(max(ends), 1)))


def test_judgments_equal_to_the_humans_give_the_humans_means():
    mean_of_all = rg.compare(HUMAN, RUNS, "ndcg@5").means()
    for few in (FEW, HUMAN):
        result = corrected(few, HUMAN)
        for each in result.means:
            assert each.corrected == pytest.approx(mean_of_all[each.run]["ndcg@5"], abs=1e-12)
            assert each.low <= each.corrected <= each.high
        assert not result.test().warnings
        assert "Partial" not in result.table()


def test_all_queries_labelled_is_the_test_of_the_humans():
    result = corrected(HUMAN)
    pair, plain = (
        each["ndcg@5", "change", "main"] for each in (result.test(), rg.compare(HUMAN, RUNS, "ndcg@5").test())
    )
    assert repr(pair) == repr(plain)
    assert [each.slope for each in result.means] == [0, 0]
    assert "of 60" not in result.table() + result.test().table()
    assert "prediction" not in result.test().methods()


def test_a_constant_added_to_the_cheap_judge_changes_no_estimate():
    generator = np.random.default_rng(0)
    every, rows = generator.random((50, 2)), np.arange(0, 50, 3)
    first = every[rows] * 0.7 + 0.3 * generator.random((len(rows), 2))
    np.testing.assert_allclose(estimate(first, every, rows).values, estimate(first, every + 0.25, rows).values)


def test_swapped_runs_negate_the_difference():
    pair = corrected().test()["ndcg@5", "change", "main"]
    other = corrected(runs=dict(reversed(RUNS.items()))).test()["ndcg@5", "main", "change"]
    assert (other.difference, other.low, other.high) == (-pair.difference, -pair.high, -pair.low)
    assert (other.p, other.better, other.same, other.worse) == (pair.p, pair.worse, pair.same, pair.better)


def test_a_further_run_changes_no_other_run():
    more = {**RUNS, "third": {query: {"d0": 1.0} for query in LLM}}
    assert corrected(runs=more).means[:2] == corrected().means
    assert corrected(runs={"main": RUNS["main"]}).means == corrected().means[:1]


def test_more_than_one_metric_and_lower_is_better():
    result = corrected(metrics=["ndcg@5", "unjudged@5", "rr"])
    assert [(str(each.metric), each.run) for each in result.means[::2]] == [
        ("ndcg@5", "main"), ("unjudged@5", "main"), ("rr", "main")
    ]  # fmt: skip
    assert [*result.test(metrics="rr")] == [("rr", "change", "main")]


# Differences


def changed_by_the_cheap_judge_only(share, shift=0.3, queries=200, labelled=40, seed=0):
    """Return an estimate of two runs that are equal to humans, and that the other judge tells apart in some queries."""
    generator = np.random.default_rng(seed)
    human = generator.beta(2, 2, queries)
    judge = np.clip(human + generator.normal(0, 0.1, queries), 0, 1)
    raised = np.where(generator.random(queries) < share, np.clip(judge + shift, 0, 1), judge)
    rows = generator.choice(queries, labelled, replace=False)
    first = np.column_stack([human, human])[rows]
    return estimate(first, np.column_stack([judge, raised]), rows)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.1, 0.3])
def test_runs_that_are_equal_to_humans_are_not_decided(share):
    for seed in range(3):
        (pair,) = differences_in(changed_by_the_cheap_judge_only(share, seed=seed)).values()
        assert not pair.decided
        assert pair.low <= 0 <= pair.high
        assert pair.unchanged is (share == 0)


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [10, 40])
def test_runs_that_are_equal_on_average_are_rarely_decided(labelled):
    generator, decided = np.random.default_rng(labelled), 0
    for _ in range(300):
        human = np.clip(generator.beta(2, 2, (200, 1)) + generator.normal(0, 0.2, (200, 2)), 0, 1)
        judge = np.clip(human + generator.normal(0, 0.1, (200, 2)) + [0, 0.2], 0, 1)
        rows = generator.choice(200, labelled, replace=False)
        (pair,) = differences_in(estimate(human[rows], judge, rows)).values()
        decided += pair.decided
    assert decided <= 25  # 15 are expected; more than 25 in 0.5 % of such tests


def test_p_and_interval_are_those_of_one_query_more():
    result = changed_by_the_cheap_judge_only(0.5, shift=0.1, labelled=12, seed=4)
    (pair,) = differences_in(result).values()
    second, differences = result.second, result.values[:, 1] - result.values[:, 0]
    assert pair.differing == int((second[:, 0] != second[:, 1]).sum()) == 8
    reach = (1 - 8 / 12) ** 2
    p, ends = [], []
    for more in ([], [differences.mean() - reach], [differences.mean() + reach]):
        values = np.array([*differences, *more])
        chosen = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
        p.append(np.mean(np.abs(values.sum() - 2 * chosen @ values) >= abs(values.sum()) - 1e-9))
        means = np.sort(chosen[1:] @ values / chosen[1:].sum(axis=1))
        rank = int(0.05 * len(chosen)) // 2  # all subsets of queries, as in the notes of `Comparison.test`
        ends.append((means[rank - 1], means[-rank]))
    assert (pair.difference < 0, p[2] > p[0]) == (True, True)
    assert pair.p == pytest.approx(p[2])
    assert (pair.low, pair.high) == (pytest.approx(ends[1][0]), pytest.approx(ends[2][1]))
    assert (ends[1][0] < ends[0][0], ends[2][1] > ends[0][1]) == (True, True)


def test_too_few_labelled_queries_with_a_difference_decide_nothing():
    generator = np.random.default_rng(0)
    every = generator.random((40, 1)) * 0.1 + np.array([0.0, 0.0])
    every[::2, 1] += 0.9
    rows = np.arange(10)
    (pair,) = differences_in(estimate(every[rows], every, rows)).values()
    assert (pair.differing, pair.p, pair.decided) == (5, 2.0**-4, False)
    assert pair.low <= 0.0


def test_counts_are_of_the_judges_and_not_of_corrected_values():
    first = np.array([[0.5, 0.5, 0.5, 0.2, 0.9, 0.3, 0.3, 0.3, 0.3, 0.3], [0.5, 0.6, 0.5, 0.1, 0.9, *[0.3] * 5]]).T
    every = np.concatenate([first, [[0.5, 0.7], [0.5, 0.4], [0.5, 0.5]]])
    every[2, 1] = 0.4  # only the second judge sees this difference
    (pair,) = differences_in(estimate(first, every, np.arange(10))).values()
    assert (pair.better, pair.same, pair.worse, pair.differing, pair.queries) == (2, 8, 3, 3, 10)
    assert pair.p >= 2.0 ** (1 - 3)
    assert math.isnan(pair.effect + pair.sd)
    assert pair.verdict().startswith("ndcg@5: inconclusive for r1 vs r0; only 3 of the 10 labelled queries differ.")


def test_differences_of_queries_without_labels_count_as_differences():
    first, every = np.full((10, 2), 0.5), np.full((20, 2), 0.5)
    first[:5] = every[:5] = 0.25
    every[-1, 1] = 1.0
    (pair,) = differences_in(estimate(first, every, np.arange(10))).values()
    assert (pair.unchanged, pair.decided) == (False, False)
    assert "only 0 of the 10 labelled queries differ" in pair.verdict()


@pytest.mark.parametrize("correction", ["max-t", "holm", "bh", None])
@pytest.mark.options("Corrected.test", "correction")
def test_adjusted_p_is_never_below_p(correction):
    human, llm, runs = collection(30, ("a", "b", "c", "d"))
    tests = corrected(dict([*human.items()][:12]), llm, runs).test(correction=correction, flips=999)
    assert len(tests) == 6
    assert all(pair.adjusted >= pair.p if correction else pair.adjusted == pair.p for pair in tests.values())
    assert any(pair.adjusted > pair.p for pair in tests.values()) is (correction is not None)


@pytest.mark.options("Corrected.test", "baseline", "metrics", "flips", "seed", "threads")
def test_the_test_takes_the_options_of_other_tests():
    human, llm, runs = collection(40, ("a", "b", "c"))
    result = corrected(dict([*human.items()][:20]), llm, runs, ["ndcg@5", "rr"])
    tests = result.test("b", metrics="rr", flips=499, seed=3)
    assert [*tests] == [("rr", "a", "b"), ("rr", "c", "b")]
    assert {pair.flips for pair in tests.values()} == {499}
    assert tests.options.seed == 3
    assert repr([*tests.values()]) == repr([*result.test("b", metrics="rr", flips=499, seed=3, threads=2).values()])
    assert tests.columns()["low"] != result.test("b", metrics="rr", flips=499, seed=4).columns()["low"]


@pytest.mark.options("Comparison.corrected_by", "level")
def test_the_level_is_that_of_means_and_differences():
    wide, narrow = corrected(level=0.99), corrected(level=0.8)
    assert all(one.low < other.low < other.high < one.high for one, other in zip(wide.means, narrow.means, strict=True))
    assert wide.test()["ndcg@5", "change", "main"].low < narrow.test()["ndcg@5", "change", "main"].low
    assert "99% interval" in wide.table()


@pytest.mark.options("Corrected.queries_needed", "power")
def test_queries_needed_is_the_formula_of_the_docstring():
    human, llm, runs = collection(200)
    few = dict([*human.items()][:40])
    result = corrected(few, llm, runs)
    h, every = ([each[name] for name in RUNS] for each in (values_of(few, runs), values_of(llm, runs)))
    slopes = [each.slope for each in result.means]
    every = slopes[1] * every[1] - slopes[0] * every[0]
    residuals = h[1] - h[0] - every[:40]
    for power, z in ((0.8, 1.959964 + 0.8416212), (0.5, 1.959964)):
        room = (0.1 / z) ** 2 - every.var(ddof=1) / 200
        needed = result.queries_needed("ndcg@5", "change", "main", 0.1, power=power)
        assert needed == max(math.ceil(residuals.var(ddof=1) / room), 10)
    with pytest.raises(ValueError, match="not with 200 queries judged by llm: their own spread is too large"):
        result.queries_needed("ndcg@5", "change", "main", 0.001)
    with pytest.raises(KeyError, match="unknown run 'x'"):
        result.queries_needed("ndcg@5", "x", "main", 0.1)
    with pytest.raises(KeyError, match="rr was not evaluated"):
        result.queries_needed("rr", "change", "main", 0.1)


# Judgments that lack documents


def without(judgments, share, run="change", k=5):
    """Return judgments without a share of the documents that a run ranks first."""
    generator, result = random.Random(0), {}
    for query, grades in judgments.items():
        first = sorted(RUNS[run][query], key=RUNS[run][query].get)[-k:]
        result[query] = {doc: g for doc, g in grades.items() if doc not in first or generator.random() > share}
    return result


def test_partial_judgments_are_stated_and_leave_the_gate_undecided():
    result = corrected(without(FEW, 0.12))
    assert "judged by human  by llm" in result.table()
    caveat = "judged@5 of change is 0.93 by human and 1.00 by llm"
    assert caveat in result.table().replace("\n  ", " ")
    tests = result.test()
    assert caveat in tests.verdicts()[0]
    assert tests.warnings[0].startswith(
        "partial judgments: ndcg@5, change vs main: judged@5 of change is 0.93 by human"
    )
    gate = tests.gate(floors={"ndcg@5": 0.99}, max_drop=0.0)
    assert (gate.status, len(gate.reasons)) == ("undecided", 1)
    assert gate.reasons[0].startswith("ndcg@5: undecided, since human has not judged what llm has. Partial")
    assert tests.gate(strict=True).status == "failed"


def test_a_tenth_is_the_limit():
    lacking = {query: {doc: grade for doc, grade in FEW[query].items() if doc != "d0"} for query in [*FEW][:10]}
    runs = {
        name: {query: {"d0": 2.0, **dict.fromkeys(["d1", "d2", "d3", "d4"], 1.0)} for query in LLM} for name in RUNS
    }
    with pytest.raises(ValueError, match=r"judged@5 of main is 0\.90 by human and 1\.00 by llm"):
        corrected({**FEW, **lacking}, runs=runs)
    few = dict([*lacking.items()][:9])
    assert "judged@5 of main is 0.91 by human" in corrected({**FEW, **few}, runs=runs).table().replace("\n  ", " ")


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_judgments_that_lack_a_tenth_are_refused(share):
    with pytest.raises(ValueError, match=r"judged@5 of (main|change) is 0\.\d\d by human and 1\.00 by llm.*to_judge"):
        corrected(without(FEW, share))


def test_documents_to_judge_come_from_changes():
    human = without(FEW, 0.5)
    first = rg.changes(*RUNS.values(), k=5, truth=human).to_judge()
    judged = {query: {**human[query], **{doc: HUMAN[query][doc] for q, doc in first if q == query}} for query in human}
    assert rg.changes(*RUNS.values(), k=5, truth=judged).to_judge() != first


def test_metrics_that_ignore_unjudged_documents_have_no_caveat():
    result = corrected(without(FEW, 0.5), metrics="bpref")
    assert math.isnan(result.means[0].judged_human)
    assert "Partial" not in result.table()


# The gate


@pytest.mark.parametrize(
    ("runs", "options", "status"),
    [
        (RUNS, {}, "passed"),
        (RUNS, {"floors": {"ndcg@5": 0.99}}, "failed"),
        (RUNS, {"floors": {"ndcg@5": 0.2}}, "passed"),
        ({"main": RUNS["change"], "change": RUNS["main"]}, {}, "failed"),
        ({"main": RUNS["main"], "change": dict(RUNS["main"])}, {}, "passed"),
        ({"main": RUNS["main"], "change": {**RUNS["main"], "q000": {"d0": 1.0}}}, {}, "undecided"),
        ({"main": RUNS["main"], "change": {**RUNS["main"], "q000": {"d0": 1.0}}}, {"strict": True}, "failed"),
        ({"main": RUNS["change"], "change": RUNS["main"]}, {"max_drop": 0.9}, "failed"),
    ],
)
def test_gate_decides_by_the_corrected_mean(runs, options, status):
    gate = corrected(runs=runs).test(flips=999).gate(**options)
    assert gate.status == status, gate.reasons
    assert not gate.worst
    assert not [line for line in gate.rates if "of builds" in line]


def test_max_drop_limits_the_corrected_mean():
    result = corrected(runs={"main": RUNS["change"], "change": RUNS["main"]})
    drop = result.means[0].corrected - result.means[1].corrected
    reasons = result.test(flips=999).gate(max_drop=0.01).reasons
    assert f"the mean is worse by {drop:.4f}, more than the max drop of 0.01" in reasons[0]


def test_gate_asks_the_other_judge_for_queries_without_answers():
    lost = next(query for query in LLM if query not in FEW)
    runs = {"main": RUNS["main"], "change": {query: run for query, run in RUNS["change"].items() if query != lost}}
    tests = corrected(runs=runs).test(flips=999)
    for each in (tests, pickle.loads(pickle.dumps(tests))):
        gate = each.gate()
        assert gate.status == "failed"
        assert gate.reasons[0] == f"change returns nothing for 1 query that main has: {lost}: failed."


def test_unchanged_and_few_changed_queries_have_sentences_of_their_own():
    same = corrected(runs={"main": RUNS["main"], "change": dict(RUNS["main"])}).test()
    assert same.gate().reasons == ["ndcg@5: no value changed; are the files the same?"]
    assert same.verdicts() == ["ndcg@5: change and main have the same value for every query."]
    few = [*FEW][:3]
    turned = {query: {doc: -score for doc, score in RUNS["main"][query].items()} for query in few}
    gate = corrected(runs={"main": RUNS["main"], "change": RUNS["main"] | turned}).test().gate()
    assert gate.reasons[0].endswith(
        "Only 3 of the 20 labelled queries differ, so this test cannot fail: set a max drop."
    )
    assert gate.rates[0].endswith("since fewer than 6 labelled queries differ.")


# Input and output


@pytest.mark.options("Comparison.corrected_by", "names")
def test_output_of_an_example():
    lines = corrected().table().splitlines()
    assert lines[0] == "ndcg@5 as estimated for human judges: 20 of 60 queries have human judgments"
    assert lines[2].endswith("llm alone  human alone  corrected      95% interval")
    assert lines[7].startswith("One point by llm counts 0.")
    assert lines[9] == (
        "Valid if the 20 queries are a random sample of the 60 and human judged every document that the runs return."
    )
    assert (
        corrected(names=("Ann", "gpt"))
        .table()
        .startswith("ndcg@5 as estimated for Ann: 20 of 60 queries have judgments by Ann")
    )
    tests = corrected().test()
    assert tests.table().startswith("change compared with main: 20 labelled of 60 queries, paired")
    assert "Estimated for human judges. Valid if the 20 queries are a random sample" in tests.table()
    assert tests.methods().splitlines()[2].startswith("The values are estimated for human judges: prediction-powered (")
    assert not [line for line in tests.notes() if "xact" in line]


def test_columns_have_a_row_for_each_metric_and_run():
    columns = corrected(metrics=["ndcg@5", "rr"]).columns()
    assert columns["metric"] == ["ndcg@5", "ndcg@5", "rr", "rr"]
    assert columns["run"] == ["main", "change"] * 2
    assert columns["judged_human"].tolist() == columns["judged_llm"].tolist() == [1, 1, 1, 1]
    assert "| run | llm alone | human alone | corrected | 95% interval |" in corrected().to_markdown()


def test_results_pickle():
    result = corrected()
    copy = pickle.loads(pickle.dumps(result))
    assert copy.table() == result.table()
    assert copy.test(flips=999).table() == result.test(flips=999).table()


def test_a_comparison_of_the_same_runs_may_stand_for_the_judgments():
    by_judgments = corrected().means
    assert rg.compare(LLM, RUNS, "ndcg@5").corrected_by(rg.compare(FEW, RUNS, "ndcg@5")).means == by_judgments
    assert corrected(rg.judgments(FEW)).means == by_judgments
    each = ({name: rg.evaluate(truth, run, "ndcg@5") for name, run in RUNS.items()} for truth in (LLM, FEW))
    llm, few = map(rg.compare, each)
    means = llm.corrected_by(few).means
    assert [mean[:9] for mean in means] == [mean[:9] for mean in by_judgments]
    assert math.isnan(means[0].judged_llm)
    with pytest.raises(TypeError, match=r"give a Comparison of the same runs, compare\(human, runs, metrics\)"):
        llm.corrected_by(FEW)
    with pytest.raises(TypeError, match="are not at hand"):
        pickle.loads(pickle.dumps(rg.compare(LLM, RUNS, "ndcg@5"))).corrected_by(FEW)


def test_a_query_without_a_value_is_left_out_for_both_judges():
    metric = rg.metric("ndcg", k=5, empty=math.nan)
    first = next(iter(FEW))
    few = {**FEW, first: dict.fromkeys(FEW[first], 0)}
    result = corrected(few, metrics=[metric])
    assert (result.labelled, result.queries) == (19, 59)
    rest = {query: grades for query, grades in LLM.items() if query != first}
    others = {query: grades for query, grades in few.items() if query != first}
    assert [mean[2:] for mean in corrected(others, rest).means] == [mean[2:] for mean in result.means]


@in_one_case(
    ("human", "options", "message"),
    [
        (dict([*FEW.items()][:9]), {}, "9 queries judged by both human and llm have a value of ndcg@5.* needs 10"),
        ({**FEW, "new": {"d0": 1}}, {}, "1 query judged by human is not judged by llm .first: 'new'."),
        (FEW, {"metrics": "num_rel_ret"}, "num_rel_ret is not the mean over queries"),
        (FEW, {"metrics": "gm_map"}, "gm_map is not the mean over queries"),
        (FEW, {"metrics": "dcg@5"}, "dcg@5 has no upper bound"),
        (FEW, {"names": ("a", "a")}, "names must be two different texts"),
        (FEW, {"level": 1}, "level must be between 0 and 1"),
        (rg.compare(FEW, RUNS, "rr"), {}, "the metric 'rr' is evaluated by human and not by llm"),
        (rg.compare(FEW, RUNS, ["ndcg@5", "rr"]), {}, "the metric 'rr' is evaluated by human and not by llm"),
        (rg.compare(FEW, {"main": RUNS["main"]}, "ndcg@5"), {}, "run 'change' is evaluated by llm and not by human"),
        (rg.compare(*NUMBERED, "ndcg@5"), {}, "int in human, str in llm; convert those in human to text"),
    ],
)
def test_what_cannot_be_corrected_is_refused(human, options, message):
    with pytest.raises(ValueError, match=message):
        corrected(human, **options)


def test_weights_values_and_removed_documents_are_refused():
    values = {name: dict.fromkeys(LLM, 0.5) for name in RUNS}
    with pytest.raises(ValueError, match="my score was computed elsewhere"):
        rg.compare(values, metrics="my score", values=True).corrected_by(FEW)
    with pytest.raises(ValueError, match="human: unjudged documents were removed from the runs"):
        rg.compare(LLM, RUNS, "ndcg@5", judged_only=True).corrected_by(FEW)
    with pytest.raises(TypeError, match="names must be two texts"):
        corrected(names="ab")


def test_what_the_judgments_do_not_fit_is_said_of_them(tmp_path):
    with pytest.raises(ValueError, match="human: truth: query 'q', document 'd0': the grade is NaN"):
        corrected({"q": {"d0": math.nan}})
    with pytest.raises(TypeError, match="human: truth"):
        corrected(5)
    lines = "".join(f"{query} Q0 d0 1 1.0 x\n" for query in LLM).encode()
    stream = rg.compare(LLM, {"main": io.BytesIO(lines)}, "rr")
    with pytest.raises(ValueError, match="run 'main': an open file cannot be read once for each judge: give its path"):
        stream.corrected_by(FEW)
    (tmp_path / "main.run").write_bytes(lines)
    assert rg.compare(LLM, {"main": tmp_path / "main.run"}, "rr").corrected_by(FEW).runs == ["main"]


@pytest.mark.parametrize(
    "name", ["margin", "weights", "clusters", "queries", "method", "family", "intervals", "groups"]
)
def test_options_that_are_not_valid_are_refused_with_the_reason(name, usual):
    with pytest.raises(ValueError, match=f"^{name}: .*: leave it out$"):
        usual.test(**{name: 1})


@pytest.mark.parametrize("options", [{"margin": 0.1}, {"max_loss": 0.1}, {"groups": {}}, {"worst": 3}])
def test_options_of_a_gate_that_are_not_valid_are_refused(options, usual):
    with pytest.raises(ValueError, match=f"^{next(iter(options))}: .*: leave it out$"):
        usual.test(flips=99).gate(**options)


def test_values_of_single_queries_are_not_shown(tmp_path, usual):
    tests = usual.test(flips=99)
    with pytest.raises(ValueError, match="corrected ones are not what people would judge"):
        rg.compare(LLM, RUNS, "ndcg@5").report(tmp_path / "page.html", tests)
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="corrected values of single queries"):
        tests.plot("scatter")
    assert tests.plot().axes
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        usual.test(colour=1)


# The command


@pytest.fixture
def files(tmp_path):
    def qrels(name, judgments):
        lines = (f"{query} 0 {doc} {grade}\n" for query, docs in judgments.items() for doc, grade in docs.items())
        (tmp_path / name).write_text("".join(lines))
        return str(tmp_path / name)

    paths = [qrels("llm.qrels", LLM)]
    for name, run in RUNS.items():
        lines = (f"{query} Q0 {doc} 0 {score!r} x\n" for query, docs in run.items() for doc, score in docs.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
        paths.append(str(tmp_path / f"{name}.run"))
    return paths, qrels("human.qrels", FEW)


def test_command_prints_means_and_tests(files, capsys, usual):
    paths, human = files
    assert main(["compare", *paths, "--human", human, "-m", "ndcg@5", "--flips", "999"]) == 0
    expected = usual
    assert capsys.readouterr().out == f"{expected.table()}\n\n{expected.test('main', flips=999).table()}\n"


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_command_has_other_forms(files, capsys, form, usual):
    paths, human = files
    assert main(["compare", *paths, "--human", human, "-m", "ndcg@5", "--flips", "999", f"--{form}"]) == 0
    text = capsys.readouterr().out
    tests = usual.test("main", flips=999)
    if form == "json":
        content = json.loads(text)
        assert content["means"][1] == json.loads(json.dumps(usual.means[1]._asdict() | {"metric": "ndcg@5"}))
        assert content["differences"][0]["p"] == tests["ndcg@5", "change", "main"].p
        assert (content["labelled"], content["queries"]) == (20, 60)
    elif form == "csv":
        assert len(text.splitlines()) == 2
        assert f",{tests['ndcg@5', 'change', 'main'].difference!r}," in text
    else:
        means, differences = (getattr(each, f"to_{form}")() for each in (usual, tests))
        assert text.strip() == f"{means}\n{differences}".strip()


def test_command_gates(files, capsys):
    (llm, main_run, change), human = files
    shared = ["--human", human, "--gate", "--flips", "999"]
    assert main(["compare", llm, main_run, change, *shared, "-m", "ndcg@5>=0.2"]) == 0
    assert capsys.readouterr().out.count("Gate passed") == 1
    assert main(["compare", llm, change, main_run, *shared, "-m", "ndcg@5", "--max-drop", "0.01"]) == 3
    assert "more than the max drop of 0.01" in capsys.readouterr().err
    assert main(["compare", llm, main_run, change, *shared[:2], "-m", "rr", "--flips", "99", "--verbose"]) == 0
    assert "prediction-powered" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        ["--margin", "0.1"], ["--gate", "--max-loss", "0.1"], ["--gate", "--worst", "3"], ["--groups", "x"],
        ["--weights", "x"], ["--clusters", "x"], ["--method", "exact"], ["--family", "all"], ["-J"],
        ["--intervals", "simultaneous"], ["--report", "x.html"], ["--queries", "common"],
    ],
)  # fmt: skip
def test_command_refuses_what_is_not_valid(files, capsys, options):
    paths, human = files
    with pytest.raises(SystemExit):
        main(["compare", *paths, "--human", human, *options])
    assert "not allowed with argument --human" in capsys.readouterr().err


def test_command_shows_how_to_find_what_to_judge(files, capsys):
    paths, human = files
    with open(human, "w") as file:
        file.writelines(
            f"{query} 0 {doc} {grade}\n" for query in FEW for doc, grade in without(FEW, 0.5)[query].items()
        )
    for metric, depth in (("ndcg@5", " -k 5"), ("ndcg", "")):
        assert main(["compare", *paths, "--human", human, "-m", metric]) == 1
        advice = f"judge the documents of rankgain diff OTHER main{depth} --qrels HUMAN --to-judge FILE first"
        assert advice in capsys.readouterr().err


def test_command_refuses_standard_input_and_tables(files, capsys, monkeypatch):
    paths, human = files
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(SystemExit):
        main(["compare", *paths[:2], "-", "--human", human])
    assert "standard input cannot be read once for each judge" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", *paths, "--human", human, "--relevant", "x"])
    assert "give the judgments and the runs in separate files" in capsys.readouterr().err
