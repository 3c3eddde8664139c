"""Verdicts, methods and notes of tests, by families and simultaneous intervals; and figures."""

import math
import warnings

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison, evaluation

import rankgain as rg
from rankgain.comparison import tables
from rankgain.comparison.difference import decided_alone

pytestmark = pytest.mark.usefixtures("backend")


def shifted(queries, *shifts, seed=0):
    """Runs that differ from the first by so much on average."""
    random = np.random.default_rng(seed)
    base = random.random(queries) * 0.4 + 0.3
    return {f"r{run}": base + shift + random.normal(0, 0.1, queries) for run, shift in enumerate(shifts)}


def of(differences, **options):
    return against_nothing(differences, metric="rr").test(**options)


def of_shifted(queries, *shifts, metric="cg", baseline=None, **options):
    return comparison(shifted(queries, *shifts), metric=metric).test(baseline, **options)


def of_values(runs, baseline=None, margin=None, **options):
    values = {name: dict(enumerate(column)) for name, column in runs.items()}
    return rg.compare(runs=values, metrics="score", values=True, **options).test(baseline, margin=margin)


def of_two_metrics(**options):
    """Of which one has no value for a quarter of the queries."""
    runs = {
        name: {"cg": values, "rr": [*[math.nan] * 15, *values[15:]]} for name, values in shifted(60, 0.0, 0.1).items()
    }
    return comparison(runs).test(**options)


RISING = [0.5, 0.25, 0.25, 0.5, 0.1, 0.2, 0.3, 0.0]
UNDECIDED = [0.5, -0.25, 0.25, -0.5, 0.1, 0.2, -0.3, 0.4]
NOT_EQUAL = "This does not show that the runs are equal."
ALIKE = {name: [0.25, 0.75] * 10 for name in "abc"}
FEW = "with few queries, rare large differences may be missing"
VERDICTS = {  # tests, texts in their verdicts, and texts that are absent
    "better": (
        lambda: of(RISING),
        "rr: run is better than zero by 0.2625 (95% interval +0.1167 to +0.4167, p = 0.0156, 7 queries better, 0 w",
        f"{NOT_EQUAL} | adjusted",
    ),
    "worse": (
        lambda: of([-value for value in RISING]),
        "run is worse than zero by 0.2625 (95% interval -0.4167 to -0.1",
    ),
    "one query": (lambda: of([0.1] + [-0.5] * 19), "1 query better, 19 worse"),
    "small p": (lambda: of([0.5 + 0.01 * row for row in range(20)]), "p < 0.0001"),
    "small difference": (
        lambda: of(0.00002 + 0.000001 * np.arange(20)),
        "better than zero by 0.000030 (95% interval +0.00002 | +0.000030 +0.00002",
    ),
    "lower is better": (
        lambda: of_values({"a": [0.5] * 8, "b": [0.75] * 8}, higher_is_better=False),
        "b is worse than a by 0.2500 (95% interval +0.2500 to +0.2500, p = 0.0078, 0 queries better, 8 worse; lower is",
    ),
    "no direction": (
        lambda: of_values({"a": [1.0] * 8, "b": [2.0] * 8, "c": [3.0] * 8}, higher_is_better=None),
        "score: neither higher nor lower is better, so there is no | b scored 1.0000 higher than a ( | ). "
        "Neither higher nor lower is better, so there is no verdict.",
        "Best mean | Letters at a mean",
    ),
    "not decided": (
        lambda: of(UNDECIDED),
        f"rr: not decided. run scored 0.0500 higher than zero, but differences from -0. | {NOT_EQUAL} A new test with "
        "8 such queries would detect a true difference of 0. | with 80% power (uncorrected).",
    ),
    "too few for the power": (lambda: of(UNDECIDED[:7]), NOT_EQUAL, "A new test"),
    "too few for any p": (
        lambda: of([0.1, 0.2, 0.3, 0.4, 0.5]),
        "Five queries that differ cannot show a difference at 0.05: no p below 0.0625 is possible.",
    ),
    "just enough for p": (lambda: of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), "run is better than zero", "cannot show"),
    "too few clusters": (
        lambda: of([0.1, 0.2, 0.3, 0.4], clusters=list("xxyz")),
        "Three clusters that differ cannot show a difference at 0.05: no p below 0.25 is possible",
    ),
    "no interval": (  # all sign vectors of six are too few for Bonferroni's share of two comparisons
        lambda: comparison({"a": [0.0] * 6, "b": [0.5] * 5 + [-0.1], "c": [0.5] * 6}, metric="cg").test(
            "a", correction="holm", intervals="simultaneous"
        ),
        f"cg: not decided. b scored 0.4000 higher than a (p = 0.0625, no interval). {NOT_EQUAL} | c scored 0.5000 "
        "higher than a: decided alone (p = 0.0312), not among 2 comparisons (adjusted p = 0.0625)",
    ),
    "margin": (
        lambda: of_shifted(60, 0.0, 0.0, metric="ap", margin=0.1),
        "r1 is not worse than r0 by more than 0.1 (one-sided p < 0.0001; 60 of 60 queries differ). | "
        "ap: r1 and r0 are less than 0.1 apart (one-sided p",
    ),
    "small margin": (
        lambda: of_shifted(60, 0.0, 0.0, metric="ap", margin=0.001),
        "ap: it is not shown that r1 is at most 0.001 worse than r0 (one-sided p = 0.",
    ),
    "margin without bound": (
        lambda: of_shifted(60, 0.0, 0.0, metric="dcg", margin=0.1),
        "dcg: the margin 0.1 is not tested: the metric has no upper bound.",
    ),
    "margin without bound of all pairs": (
        lambda: of_shifted(60, 0.0, 0.0, 0.0, metric="dcg", margin=0.1, flips=99),
        "dcg: the margin 0.1 is not tested: the metric has no upper bound.",
        "not worse by | not shown",
    ),
    "margin of values": (
        lambda: of_values({"a": [0.5] * 8, "b": [0.75] * 8}, higher_is_better=False, margin=0.1),
        "score: the margin 0.1 is not tested: the metric has no upper bound.",
    ),
    "margin from a baseline": (
        lambda: of_shifted(60, 0.0, 0.01, -0.2, metric="ap", baseline="r0", margin=0.1, level=0.9),
        "not worse than r0 by more than 0.1: r1. | not shown to be at most 0.1 worse than r0: r2. | ; one-sided tests "
        "of the margin 0.1 at 0.05, corrected by Holm; rankgain",
    ),
    "margin of all pairs": (
        lambda: of_shifted(60, 0.0, 0.01, -0.2, metric="ap", margin=0.1, correction=None),
        "not worse by more than 0.1: r1 than r0. | not shown to be at most 0.1 worse: r2 than r0, r2 than r1. | margin "
        "0.1 at 0.025; rankgain | 3 comparisons: not corrected",
    ),
    "simultaneous": (
        lambda: of_shifted(40, 0.0, 0.1, 0.2, flips=99, intervals="simultaneous"),
        "intervals are simultaneous (single-step max-T), and exclude 0 exactly if the",
        "intervals are not adjusted",
    ),
    "simultaneous by Bonferroni": (
        lambda: of_shifted(40, 0.0, 0.1, 0.2, flips=999, intervals="simultaneous", correction="holm"),
        "intervals are simultaneous (Bonferroni): one may contain 0 although",
    ),
    "false discovery rate": (
        lambda: of_shifted(60, 0.0, 0.1, 0.2, correction="bh", flips=999),
        "false discovery rate, not family-wise",
    ),
    "random flips": (
        lambda: of_shifted(60, 0.0, 0.1, 0.2, flips=999, seed=3),
        "Two-sided paired sign-flip randomization test of the mean difference over 60 queries, 999 random flips, seed "
        "3; 95% intervals by inverting the test; corrected for the 3 comparisons of each metric (max-T, step-down, "
        f"family-wise); rankgain {rg.__version__}. | exact for 24 or fewer queries that differ, else 999 flips, seed "
        "3; two-sided | last digit varies with the seed | intervals are not adjusted | p adjusted better/same/worse",
        FEW,
    ),
    "exact but for intervals and max-T": (
        lambda: of_shifted(20, 0.0, 0.05, 0.1, flips=999, seed=3),
        "p exact (all sign vectors), intervals and max-T from 999 random flips, seed 3, where they cannot be counted",
    ),
    "exact but for intervals": (
        lambda: of_shifted(20, 0.0, 0.05, flips=999, seed=3),
        "p exact (all sign vectors), intervals from 999 random flips, seed 3, where they cannot be counted",
    ),
    "exact": (lambda: of_shifted(12, 0.0, 0.05, 0.1, flips=999), ", exact (all sign vectors);"),
    "few queries": (lambda: of_shifted(49, 0.0, 0.1, flips=99), FEW),
    "geometric mean": (lambda: of_shifted(60, 0.0, 0.1, metric="gm_ap", flips=99), "mean logarithm"),
    "metrics of different queries": (
        lambda: of_two_metrics(flips=99),
        "two metrics, tested separately: not corrected for that | r1 compared with r0: 45 to 60 queries, paired | "
        f"over 45 to 60 queries, | queries evaluated, by metric: 45 to 60, left out: 0 to 15 | {FEW}",
    ),
    "weights and clusters": (
        lambda: of_shifted(60, 0.0, 0.0, clusters=np.arange(60) // 3, weights=[1, 2, 3] * 20, flips=999),
        "r1 compared with r0: 60 queries in 20 clusters, paired | A new test with 20 such clusters would detect | the "
        "weighted mean difference over 60 queries in 20 clusters (one sign per cluster) | queries of one cluster share "
        f"one sign | cg: queries are weighted, and carry as much information as | {FEW} | 24 or fewer clusters that",
    ),
    "undecided with one large difference": (
        lambda: of([0.01, -0.02, 0.01, -0.02, 0.01, -0.01, 0.9, -0.01]),
        "",
        "without query",
    ),
    "no decisive query": (lambda: of([0.2, 0.3, 0.25, 0.2, 0.3, 0.2, 0.25, 0.3, 0.2]), "", "without query"),
    "decisive query": (
        lambda: of([0.2, 0.3, 0.25, 0.2, 0.4, 0.2]),
        "rr: without query 4 the difference of run to zero would be +0.2300, not +0.2583, and it would not be decided",
    ),
    "decisive query in clusters": (  # without it, one of six clusters has the other sign
        lambda: of([0.9, -0.2, *[0.1] * 10], clusters=np.arange(12) // 2, weights=[2, *[1] * 11]),
        "rr: without query 0 the difference of run to zero would be +0.0727, not +0.2000, and it would not be decided",
    ),
    "decisive query of three runs": (
        lambda: comparison({"a": [0.0] * 7, "b": [0.1, 0.1, 0.1, 0.1, 0.1, 0.2, -0.05], "c": [0.5] * 7}).test(),
        "ndcg: without query 5 the difference of b to a would be +0.0750, not +0.0929, and it would not be decided",
        "of c to",
    ),
    "too many differences": (
        lambda: of_shifted(12, *[0.1 * run for run in range(8)], flips=99),
        "with more than 20 differences, decisive queries are not searched",
    ),
    "one better than all": (lambda: of_shifted(60, 0.0, 0.01, 0.4, flips=99), "cg: r2 is better than every other run."),
    "one that is not told apart": (lambda: of_shifted(60, 0.0, 0.01, 0.01, flips=99), "not told apart from it: "),
    # "wild" is not told apart from "low", which "even" is better than.
    "two of the best mean": (
        lambda: comparison({"even": [1.0] * 10, "wild": [0.0, 2.0] * 5, "low": [0.9] * 10}, metric="cg").test(),
        "cg: even and wild have the best mean; not told apart from at least one of them: low.",
    ),
    "four of the best mean": (
        lambda: comparison(ALIKE | {"d": [0.0, 0.5] * 10, "e": [0.5, 0.5] * 10}).test(flips=99),
        "ndcg: a, b, c and e have the best mean.",
    ),
    "all of one mean": (lambda: comparison(ALIKE).test(), "ndcg: all runs have the same mean."),
    "all as the baseline": (lambda: comparison(ALIKE).test("a"), "ndcg: the same as a for every query: b, c."),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict_sentences(name):
    make, expected, *unexpected = VERDICTS[name]
    tests = make()
    sentences = [*tests.verdicts(), *(pair.verdict() for pair in tests.values()), tests.methods(), tests.table()]
    text = " ".join(" ".join(sentences).split())
    assert [part for part in expected.split(" | ") if part not in text] == [], text
    assert [part for part in " | ".join(unexpected).split(" | ") if part and part in text] == [], text


@pytest.mark.parametrize("queries", range(2, 60, 7))
@pytest.mark.parametrize("seed", range(3))
def test_inconclusive_never_reads_as_equal(queries, seed):
    random = np.random.default_rng(seed)
    for its in comparison({"a": random.random(queries), "b": random.random(queries)}).test(flips=199).values():
        verdict = its.verdict()
        assert ("not decided" in verdict) == (not its.decided)
        assert ("This does not show that the runs are equal." in verdict) == (not its.decided)


def test_family_of_all_metrics_is_corrected_together():
    random = np.random.default_rng(0)
    runs = {
        name: {"ndcg": random.random(40), "cg": random.random(40) * 9, "ap": [math.nan, *random.random(39)]}
        for name in "abc"
    }
    each = comparison(runs).test(flips=999)
    tests = comparison(runs).test(flips=999, family="all")
    assert {its.comparisons for its in each.values()} == {3}
    assert {its.comparisons for its in tests.values()} == {9}
    assert {its.queries for its in tests.values()} == {39}
    assert "for the 9 comparisons of all metrics (max-T, step-down, family-wise)" in tests.table()
    assert "left out: 1" in tests.table()


def test_all_pairs_are_tested_and_the_best_named():
    tests = comparison(shifted(60, 0.0, 0.01, 0.4), metric="cg").test(flips=999)
    assert [key[1:] for key in tests] == [("r1", "r0"), ("r2", "r0"), ("r2", "r1")]
    assert tests.tied_with_best("cg") == ["r2"]
    assert VERDICTS["two of the best mean"][0]().tied_with_best("cg") == ["even", "wild", "low"]


def test_weighted_means_are_labelled():
    """A difference of logarithms is not one of geometric means, nor a mean one of sums."""
    runs = shifted(20, 0.0, 0.1, 0.2)
    for metric, name in (("gm_ap", "gm_ap (mean log2)"), ("num_rel_ret", "num_rel_ret (mean)")):
        pair = comparison({run: runs[run] for run in ("r0", "r1")}, metric=metric).test(flips=99)
        assert pair[metric, "r1", "r0"].verdict().startswith(f"{name}: ")
        tests = comparison(runs, metric=metric).test(flips=99)
        assert tests.matrix()[0] == ["", "run", "gm_ap" if metric == "gm_ap" else name]
        assert tables.differences(tests, 9).rows[1][0] == name
        assert all(line.startswith(f"{name}: ") for line in tests.verdicts())
        assert tests.columns()["metric"] == [metric] * 3


def test_paper_table_has_geometric_means():
    """As the table of the comparison, not their logarithms."""
    runs = comparison(shifted(20, 0.0, 0.1, 0.2), metric="gm_ap")
    means = [f"{values['gm_ap']:.4f}" for values in runs.aggregate().values()]
    assert [row[2][:6] for row in runs.test(flips=99).matrix()[1:]] == means


@pytest.mark.parametrize("family", ["metric", "all"])
@pytest.mark.parametrize("options", [{}, {"correction": None}, {"method": "t"}, {"intervals": "simultaneous"}])
def test_decisive_queries_are_those_without_which_the_verdict_changes(options, family):
    """Of decided differences; by testing again without the query that contributes most."""
    if "method" in options:
        pytest.importorskip("scipy")
    named = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        values = random.normal(0.0, 0.12, (3, 2, 10)) + np.array([0.0, 0.09, 0.15])[:, None, None] + 0.4
        runs = {
            name: dict(zip(("ndcg", "ap"), values_by_query, strict=True))
            for name, values_by_query in zip("abc", values, strict=True)
        }
        tests = comparison(runs).test(flips=399, family=family, **options)
        notes = [note for note in tests.notes() if "without query" in note]
        expected = []
        for (metric, run, baseline), pair in tests.items():
            differences = (runs[run][metric] - runs[baseline][metric]) * math.copysign(1.0, pair.difference)
            query = int(np.argmax(differences))
            rest = {
                name: {key: np.delete(values_by_query, query) for key, values_by_query in by.items()}
                for name, by in runs.items()
            }
            again = comparison(rest).test(flips=399, family=family, **options)[metric, run, baseline]
            if pair.decided and not again.decided:
                expected.append(f"{metric}: without query {query} the difference of {run} to {baseline} would be ")
        assert [note[: len(start)] for note, start in zip(notes, expected, strict=True)] == expected
        named += len(notes)
    assert named > 3


@pytest.mark.slow
def test_figures_of_tests_are_drawn():
    pytest.importorskip("matplotlib")
    tests = comparison(shifted(300, 0.0, 0.1, 0.2)).test(flips=199)
    assert len(tests.plot().axes) == 1
    assert len(tests.plot("scatter", "ndcg").axes) == 3
    assert len(tests.plot("intervals").axes) == 1
    with pytest.raises(ValueError, match=r"^kind must be 'intervals' or 'scatter', not 'pie'$"):
        tests.plot("pie")
    with pytest.raises(KeyError, match=r"ap was not tested"):
        tests.plot(metric="ap")


def test_merged_evaluation_is_tested_like_the_whole():
    parts = evaluation([0.1, 0.2], ["a", "b"]).merge(evaluation([0.3], ["c"]))
    assert rg.Comparison({"x": parts, "y": evaluation([0.2, 0.3, 0.4], ["c", "a", "b"])}).test().queries == 3


def test_means_within_rounding_are_equal():
    base = np.random.default_rng(5).random(12)
    moved = base + [0.2, -0.2] * 6
    tests = comparison({"a": base, "b": moved}).test()
    pair = tests["ndcg", "b", "a"]
    assert pair.mean != pair.baseline_mean
    assert pair.difference == 0.0
    assert pair.verdict().startswith("ndcg: not decided. b and a have the same mean, but differences from -0.1333 to ")
    assert "without query" not in tests.table()


def test_differences_decided_without_correction_only_are_noted():
    tests = comparison(shifted(40, *[0.0] * 16, seed=3), metric="cg").test(flips=999)
    alone = [its for its in tests.values() if decided_alone(its) and not its.decided]
    assert len(alone) > 3
    verdicts = " ".join(tests.verdicts())
    assert all(f"{its.run} scored" in verdicts or f"{its.run} against {its.baseline}" in verdicts for its in alone)


@pytest.mark.slow
def test_figures_of_names_that_the_font_lacks_give_no_warning():
    """No warning of matplotlib's, and names that differ stay so."""
    pytest.importorskip("matplotlib")
    names = "bm25 \U0001f600", "bm25 \U0001f680", "\u65e5\u672c"
    tests = comparison(dict(zip(names, shifted(20, 0.0, 0.1, 0.2).values(), strict=True))).test(names[0], flips=99)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = [tests.plot(kind) for kind in ("intervals", "scatter")]
        assert all(figure._repr_png_() for figure in figures)
    labels = [label.get_text() for label in figures[0].axes[0].get_yticklabels()]
    assert labels == [
        "bm25 \\U0001f680",
        "\\u65e5\\u672c",
    ]
