"""Verdicts, methods, notes and figures of tests, for all families and for simultaneous intervals."""

import math
import warnings

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison, evaluation
from support.marks import in_one_case, quick_first

import rankgain as rg
from rankgain.comparison import tables
from rankgain.comparison.difference import decided_alone

pytestmark = pytest.mark.usefixtures("backend")


def shifted(queries, *shifts, seed=0):
    """Return runs whose means differ from that of the first run by the given shifts."""
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
    """Test two metrics, one of which has no value for a quarter of the queries."""
    runs = {
        name: {"cg": values, "rr": [*[math.nan] * 15, *values[15:]]} for name, values in shifted(60, 0.0, 0.1).items()
    }
    return comparison(runs).test(**options)


RISING = [0.5, 0.25, 0.25, 0.5, 0.1, 0.2, 0.3, 0.0]
UNDECIDED = [0.5, -0.25, 0.25, -0.5, 0.1, 0.2, -0.3, 0.4]
NOT_EQUAL = "This does not show that they are equal."
MANY_NOT_EQUAL = "Inconclusive differences do not show that runs are equal."
ALIKE = {name: [0.25, 0.75] * 10 for name in "abc"}
FEW = "With few queries, rare large differences may be missing."
NOT_ADJUSTED = "Intervals are not adjusted: "
VERDICTS = {  # tests, the texts in their verdicts, and the texts that must be absent
    "better": (
        lambda: of(RISING),
        "rr: run is better than zero by +0.2625 (95% +0.1167 to +0.4167).",
        f"{NOT_EQUAL} | adjusted",
    ),
    "worse": (
        lambda: of([-value for value in RISING]),
        "run is worse than zero by 0.2625 (95% -0.4167 to -0.1167).",
    ),
    "small p": (lambda: of([0.5 + 0.01 * row for row in range(20)]), "<0.0001"),
    "small difference": (
        lambda: of(0.00002 + 0.000001 * np.arange(20)),
        "better than zero by +0.000030 (95% +0.00002 | +0.000030 +0.00002",
    ),
    "lower is better": (
        lambda: of_values({"a": [0.5] * 8, "b": [0.75] * 8, "c": [0.25] * 8}, "a", higher_is_better=False),
        "b is worse than a by 0.2500 (95% +0.2500 to +0.2500; lower is better). | c is better than a by -0.2500 (95% "
        "-0.2500 to -0.2500; lower is better). | Best mean of each metric marked * (lower is better: score)",
    ),
    "lower is better, of many": (
        lambda: of_values({f"r{run}": [0.1 * run] * 8 for run in range(5)}, higher_is_better=False),
        "score (lower is better): r0 is better than every other run.",
    ),
    "lower is better, of many against one": (
        lambda: of_values({f"r{run}": [0.1 * run] * 8 for run in range(9)}, "r7", higher_is_better=False),
        "score (lower is better): better than r7: r0, r1, r2, r3, r4, r5, r6. Worse than r7: r8.",
    ),
    "no direction": (
        lambda: of_values({"a": [1.0] * 8, "b": [2.0] * 8, "c": [3.0] * 8}, higher_is_better=None),
        "b vs a: +1.0000 (95% +1.0000 to +1.0000); neither higher nor lower is better.",
        "Best mean | Letters at a mean",
    ),
    "no direction of many": (
        lambda: of_values({name: [float(row)] * 8 for row, name in enumerate("abcde")}, higher_is_better=None),
        "score: neither higher nor lower is better, so there is no verdict.",
        "Best mean | Letters at a mean | nconclusive differences",
    ),
    "inconclusive": (
        lambda: of(UNDECIDED),
        f"rr: inconclusive for run vs zero; differences from -0.2750 to +0.3667 fit these queries. {NOT_EQUAL} | "
        "rr, run vs zero: a new test with 8 such queries would detect a true difference of 0. | "
        "with 80% power (uncorrected).",
    ),
    "decided first": (
        lambda: of_shifted(60, 0.0, 0.01, 0.4, baseline="r0", flips=999),
        "r2 is better than r0 by +0.3731 (95% +0.3319 to +0.4144). cg: inconclusive for r1 vs r0; ",
    ),
    "too few for the power": (lambda: of(UNDECIDED[:7]), NOT_EQUAL, "a new test"),
    "too few for any p": (
        lambda: of([0.1, 0.2, 0.3, 0.4, 0.5]),
        f"rr: inconclusive for run vs zero; five queries that differ cannot show a difference at 0.05. {NOT_EQUAL}",
    ),
    "too few for any p at a level": (
        lambda: of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], level=0.99),
        "seven queries that differ cannot show a difference at 0.01.",
    ),
    "too few for any p of three runs": (
        lambda: of_shifted(5, 0.0, 0.3, 0.6, baseline="r0"),
        "cg: inconclusive for r1 vs r0; five queries that differ cannot show a difference at 0.05.",
    ),
    "too few for any p of many runs": (
        lambda: of_shifted(5, *[0.1 * run for run in range(8)]),
        "cg: r7 has the best mean. Inconclusive: r6, r5, r4, r3, r2, r0, r1 vs r7. Too few queries differ for a "
        f"decision at 0.05. | {MANY_NOT_EQUAL}",
    ),
    "too few that differ of some runs": (
        lambda: comparison(
            {"a": [0.0] * 9, "b": [0.5] * 5 + [0.0] * 4} | {f"r{run}": [0.1 * run + 0.1] * 9 for run in range(6)}
        ).test("a"),
        "Inconclusive: b. Too few queries differ for a decision at 0.05: b.",
    ),
    "just enough for p": (lambda: of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), "run is better than zero", "cannot show"),
    "just enough for p at a level": (
        lambda: of([0.1, 0.2, 0.3, 0.4, 0.5], level=0.9),
        "better than zero",
        "cannot show",
    ),
    "too few clusters": (
        lambda: of([0.1, 0.2, 0.3, 0.4], clusters=list("xxyz")),
        "three clusters cannot show a difference at 0.05.",
    ),
    "clusters whose sums cancel": (
        lambda: of([0.1, -0.1, 0.3, -0.3, 0.2, -0.2], clusters=list("xxyyzz")),
        "three clusters cannot show a difference at 0.05.",
        "that differ",
    ),
    "many clusters whose sums cancel": (
        lambda: of([0.1, -0.1] * 8, clusters=np.arange(16) // 2),
        f"rr: inconclusive for run vs zero; p = 1.0000, no interval. {NOT_EQUAL}",
        "cannot show",
    ),
    "no interval": (  # with six queries, Bonferroni's level for two comparisons cannot be reached
        lambda: comparison({"a": [0.0] * 6, "b": [0.5] * 5 + [-0.1], "c": [0.5] * 6}, metric="cg").test(
            "a", correction="holm", intervals="simultaneous"
        ),
        "cg: inconclusive for b vs a; p = 0.0625, no interval. | cg: inconclusive for c vs a; decided alone (p = "
        f"0.0312), not among 2 comparisons (adjusted p = 0.0625). | {MANY_NOT_EQUAL}",
        f"{NOT_ADJUSTED} | Decided alone, but not among",
    ),
    "margin": (
        lambda: of_shifted(60, 0.0, 0.0, metric="ap", margin=0.1),
        "r1 is not worse than r0 by more than 0.1 (one-sided p < 0.0001; 60 of 60 queries differ), and they are less "
        "than 0.1 apart.",
    ),
    "margin on one side": (
        lambda: of_shifted(60, 0.0, 0.05, metric="ap", margin=0.05),
        "r1 is not worse than r0 by more than 0.05 (one-sided p",
        "apart",
    ),
    "small margin": (
        lambda: of_shifted(60, 0.0, 0.0, metric="ap", margin=0.001),
        "it is not shown that r1 is at most 0.001 worse than r0 (one-sided p = 0. | ; 60 of 60 queries differ).",
        "apart",
    ),
    "margin without bound": (
        lambda: of_shifted(60, 0.0, 0.0, metric="dcg", margin=0.1),
        "the margin 0.1 is not tested: the metric has no upper bound.",
    ),
    "margin without bound of many pairs": (
        lambda: of_shifted(60, *[0.0] * 5, metric="dcg", margin=0.1, flips=99),
        "dcg: the margin 0.1 is not tested: the metric has no upper bound.",
        "not worse by | not shown",
    ),
    "margin of values": (
        lambda: of_values({"a": [0.5] * 8, "b": [0.75] * 8}, higher_is_better=False, margin=0.1),
        "the margin 0.1 is not tested: the metric has no upper bound.",
    ),
    "margin from a baseline": (
        lambda: of_shifted(60, 0.0, 0.01, -0.2, metric="ap", baseline="r0", margin=0.1, level=0.9),
        "r1 is not worse than r0 by more than 0.1 (adjusted one-sided p < | and they are less than 0.1 apart. | it is "
        "not shown that r2 is at most 0.1 worse than r0 | ; one-sided tests of the margin 0.1 at 0.05, corrected by "
        "Holm; rankgain",
    ),
    "margin of many from a baseline": (
        lambda: of_shifted(60, 0.0, 0.01, -0.2, *[0.3] * 5, metric="ap", baseline="r0", margin=0.1),
        "ap: not worse than r0 by more than 0.1: r1, r3, r4, r5, r6, r7. Less than 0.1 apart: r1. Not shown to be at "
        "most 0.1 worse than r0: r2.",
    ),
    "margin of all pairs": (
        lambda: of_shifted(60, 0.0, 0.01, -0.2, *[0.0] * 2, metric="ap", margin=0.1, correction=None),
        "ap: not worse by more than 0.1: r1 vs r0, | Less than 0.1 apart: r1 vs r0, | Not shown to be at most 0.1 "
        "worse: r2 vs r0, r2 vs r1. | margin 0.1 at 0.025; rankgain | not adjusted for 10 comparisons",
    ),
    "simultaneous": (
        lambda: of_shifted(40, 0.0, 0.1, 0.2, flips=99, intervals="simultaneous"),
        "adjusted for 3 comparisons (max-T, simultaneous intervals); | simultaneous (single-step max-T); corrected",
        f"{NOT_ADJUSTED} | Intervals by Bonferroni",
    ),
    "simultaneous by Bonferroni": (
        lambda: of_shifted(40, 0.0, 0.1, 0.2, flips=999, intervals="simultaneous", correction="holm"),
        "Intervals by Bonferroni may contain 0 although the difference is decided. | simultaneous (Bonferroni); "
        "corrected",
    ),
    "false discovery rate": (
        lambda: of_shifted(60, 0.0, 0.1, 0.2, correction="bh", flips=999),
        "(Benjamini-Hochberg: false discovery rate) | false discovery rate, not family-wise",
    ),
    "random flips": (
        lambda: of_shifted(60, 0.0, 0.1, 0.2, flips=999, seed=3),
        "Two-sided paired sign-flip randomization test of the mean difference over 60 queries, 999 random flips, seed "
        "3; 95% intervals by inverting the test; corrected for the 3 comparisons of each metric (max-T, step-down, "
        f"family-wise); rankgain {rg.__version__}. | Sign flips (999, seed 3), adjusted for 3 comparisons (max-T); 60 "
        "queries, none missing. | The last digit of p, "
        "and of the ends of the interval, varies with the seed | p adjusted better/same/worse",
        f"{FEW} | {NOT_ADJUSTED}",
    ),
    "exact but for intervals and max-T": (
        lambda: of_shifted(20, 0.0, 0.05, 0.1, flips=999, seed=3),
        "p exact (all sign vectors), intervals and max-T from 999 random flips, seed 3, where they cannot be counted | "
        "Sign flips (p exact; intervals and max-T from 999, seed 3), adjusted",
    ),
    "exact but for intervals": (
        lambda: of_shifted(20, 0.0, 0.05, flips=999, seed=3),
        "p exact (all sign vectors), intervals from 999 random flips, seed 3, where they cannot be counted | Sign "
        "flips (p exact; intervals from 999, seed 3); 20 queries, none missing.",
    ),
    "exact for one of two": (
        lambda: comparison({"a": [0.0] * 60, "b": [0.1] * 60, "c": [0.1] * 9 + [0.0] * 51}).test("a", flips=999),
        "Sign flips (999, seed 0; p exact where few differ), adjusted for 2 comparisons (max-T); | p exact if at most "
        "24 queries differ, all other p and the intervals from 999 random flips",
    ),
    "exact": (
        lambda: of_shifted(12, 0.0, 0.05, 0.1, flips=999),
        ", exact (all sign vectors); | Sign flips (all, exact), adjusted for 3 comparisons (max-T); 12 queries",
    ),
    "few queries": (lambda: of_shifted(49, 0.0, 0.1, flips=99), FEW),
    "geometric mean": (lambda: of_shifted(60, 0.0, 0.1, metric="gm_ap", flips=99), "mean logarithm"),
    "metrics of different queries": (
        lambda: of_two_metrics(flips=99),
        "Sign flips (99, seed 0), metrics tested separately; 45 to 60 queries, 0 to 15 left out, none missing. | The "
        "metrics are tested separately, without correction for that; | r1 compared with r0: 45 to 60 queries, paired | "
        f"over 45 to 60 queries, | {FEW}",
    ),
    "weights and clusters": (
        lambda: of_shifted(60, 0.0, 0.0, clusters=np.arange(60) // 3, weights=[1, 2, 3] * 20, flips=999),
        "r1 compared with r0: 60 queries in 20 clusters, paired | ; 60 queries in 20 clusters, weighted, none missing. "
        "| a new test with 20 such clusters would detect | the weighted mean difference over 60 queries in 20 clusters "
        "(one sign per cluster) | Queries of one cluster share one sign | cg: queries are weighted, and carry as much "
        f"information as | {FEW}",
    ),
    "undecided with one large difference": (
        lambda: of([0.01, -0.02, 0.01, -0.02, 0.01, -0.01, 0.9, -0.01]),
        "",
        "without query",
    ),
    "no decisive query": (lambda: of([0.2, 0.3, 0.25, 0.2, 0.3, 0.2, 0.25, 0.3, 0.2]), "", "without query"),
    "decisive query": (
        lambda: of([0.2, 0.3, 0.25, 0.2, 0.4, 0.2]),
        "one query rr run vs zero without query 4: +0.2300, inconclusive | one query: the decision depends on this "
        "query.",
    ),
    "decisive query in clusters": (  # without this query, one of six clusters has the other sign
        lambda: of([0.9, -0.2, *[0.1] * 10], clusters=np.arange(12) // 2, weights=[2, *[1] * 11]),
        "one query rr run vs zero without query 0: +0.0727, inconclusive",
    ),
    "decisive query of three runs": (
        lambda: comparison({"a": [0.0] * 7, "b": [0.1, 0.1, 0.1, 0.1, 0.1, 0.2, -0.05], "c": [0.5] * 7}).test(),
        "one query ndcg b vs a without query 5: +0.0750, inconclusive",
        "one query ndcg c",
    ),
    "too many differences": (
        lambda: of_shifted(12, *[0.1 * run for run in range(8)], flips=99),
        "With more than 20 differences, decisive queries are not searched.",
    ),
    "one better than all": (
        lambda: of_shifted(60, *[0.0] * 4, 0.4, flips=99),
        "cg: r4 is better than every other run.",
    ),
    "one best mean": (
        lambda: of_shifted(60, 0.0, 0.01, 0.01, 0.01, 0.01, flips=99),
        f"has the best mean. Inconclusive: | {MANY_NOT_EQUAL}",
    ),
    # "wild" is not shown to differ from the low runs, although "even" is better than they are.
    "two of the best mean": (
        lambda: comparison(
            {"even": [1.0] * 10, "wild": [0.0, 2.0] * 5} | {f"low{run}": [0.9 - 0.1 * run] * 10 for run in range(3)},
            metric="cg",
        ).test(),
        "cg: even and wild have the best mean. Inconclusive: low0, low1, low2 vs at least one of them.",
    ),
    "four of the best mean": (
        lambda: comparison(ALIKE | {"d": [0.0, 0.5] * 10, "e": [0.5, 0.5] * 10}).test(flips=99),
        "ndcg: a, b, c and e have the best mean.",
    ),
    "all of one mean": (
        lambda: comparison(ALIKE | {name: [0.25, 0.75] * 10 for name in "de"}).test(),
        "ndcg: all runs have the same mean.",
        "nconclusive",
    ),
    "all as the baseline": (
        lambda: comparison(ALIKE).test("a"),
        "b and a have the same value for every query. | c and a have the same value for every query.",
    ),
    "many as the baseline": (
        lambda: comparison({name: [0.25, 0.75] * 10 for name in "abcdefgh"}).test("a"),
        "ndcg: the same as a for every query: b, c, d, e, f, g, h.",
        "Too few queries",
    ),
}


@in_one_case("name", VERDICTS)
def test_verdict_sentences(name):
    make, expected, *unexpected = VERDICTS[name]
    tests = make()
    lines = *tests.verdicts(), *tests.notes(), *(pair.verdict() for pair in tests.values())
    text = " ".join(" ".join([*lines, tests.methods(), tests.table()]).split())
    assert [part for part in expected.split(" | ") if part not in text] == [], text
    assert [part for part in " | ".join(unexpected).split(" | ") if part and part in text] == [], text


@pytest.mark.parametrize(
    ("runs", "baseline", "metrics", "lines"),
    [
        (4, None, 1, 7),
        (5, None, 1, 2),
        (7, "r0", 1, 7),
        (8, "r0", 1, 2),
        (4, "r0", 2, 7),
        (5, "r0", 2, 3),
        (2, None, 9, 10),
    ],
)
def test_up_to_six_differences_have_a_sentence_each(runs, baseline, metrics, lines):
    """With more than six differences, each metric has a sentence. The last line covers inconclusive ones."""
    random = np.random.default_rng(0)
    names = "cg", "ap", "rr", "ndcg", "precision", "recall", "rbp", "err", "success"
    values = {f"r{run}": {name: random.random(20) for name in names[:metrics]} for run in range(runs)}
    verdicts = comparison(values).test(baseline, flips=99).verdicts()
    assert len(verdicts) == lines
    assert verdicts[-1] == MANY_NOT_EQUAL
    assert all(line.partition(":")[0] in values["r0"] for line in verdicts[:-1])


@in_one_case("queries", range(2, 60, 7))
@pytest.mark.parametrize("seed", range(3))
def test_inconclusive_never_reads_as_equal(queries, seed):
    random = np.random.default_rng(seed)
    for its in comparison({"a": random.random(queries), "b": random.random(queries)}).test(flips=199).values():
        verdict = its.verdict()
        assert ("inconclusive" in verdict) == (not its.decided)
        assert (NOT_EQUAL in verdict) == (not its.decided)


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
    assert "adjusted for 9 comparisons (max-T); 39 queries, 1 left out, none missing." in tests.table()
    assert "the 9 comparisons of all metrics (max-T, step-down, family-wise);" in tests.methods()


def test_all_pairs_are_tested_and_the_best_named():
    tests = comparison(shifted(60, 0.0, 0.01, 0.4), metric="cg").test(flips=999)
    assert [key[1:] for key in tests] == [("r1", "r0"), ("r2", "r0"), ("r2", "r1")]
    assert tests.tied_with_best("cg") == ["r2"]
    assert VERDICTS["two of the best mean"][0]().tied_with_best("cg") == ["even", "wild", "low0", "low1", "low2"]


def test_weighted_means_are_labelled():
    """Labels distinguish differences of logarithms from differences of geometric means, and means from sums.

    Sentences state differences of geometric means.
    """
    runs = shifted(20, 0.0, 0.1, 0.2)
    for metric, name in (("gm_ap", "gm_ap (mean log2)"), ("num_rel_ret", "num_rel_ret (mean)")):
        pair = comparison({run: runs[run] for run in ("r0", "r1")}, metric=metric).test(flips=99)
        sentence = "gm_ap: " if metric == "gm_ap" else f"{name}: "
        assert pair[metric, "r1", "r0"].verdict().startswith(sentence)
        tests = comparison(runs, metric=metric).test(flips=99)
        assert tests.matrix()[0] == ["", "run", "gm_ap" if metric == "gm_ap" else name]
        assert tables.differences(tests, "text", 9).rows[1][0] == name
        many = comparison(shifted(20, *[0.1 * run for run in range(8)]), metric=metric).test("r0", flips=99)
        assert many.verdicts()[0].startswith(f"{name}: ")
        assert tests.columns()["metric"] == [metric] * 3


def test_sentences_state_differences_of_geometric_means():
    """The difference is that of the geometric means, and the interval contains 0 if that of the logarithms does."""
    runs = shifted(20, 0.0, 0.1)
    tests = comparison(runs, metric="gm_ap").test()
    pair = tests["gm_ap", "r1", "r0"]
    means = [math.exp(np.mean(np.log(runs[name]))) for name in ("r0", "r1")]
    low, high = (means[0] * (2**end - 1) for end in (pair.low, pair.high))
    assert (
        pair.verdict() == f"gm_ap: r1 is better than r0 by +{means[1] - means[0]:.4f} (95% +{low:.4f} to +{high:.4f})."
    )
    assert f"{pair.difference:+.4f}" in tests.table()
    margin = comparison(runs, metric="gm_ap").test(margin=1)["gm_ap", "r1", "r0"].verdict()
    assert "r1 is not worse than r0 by more than 1 (log2) (one-sided p < 0.0001" in margin


def test_interval_of_a_decided_difference_shows_no_0():
    """An end that rounds to 0 is printed with an exponent if 0 is outside the interval, and as 0 if it is inside."""
    values = np.array([0.1, 0.03, 0.02, 0.01, 0.02, 0.0])
    for shift, low in ((1e-9, "+9.9e-10"), (0.0, "0.0000")):
        tests = against_nothing(values + shift, metric="ndcg").test()
        assert tests["ndcg", "run", "zero"].decided == (shift > 0)
        assert f"{low} to +" in tests.table()
        assert f"(95% {low} to +" in tests.verdicts()[0] or not shift


def test_a_margin_is_claimed_only_for_metrics_that_are_tested():
    runs = {name: {"dcg": values, "ap": values} for name, values in shifted(60, 0.0, 0.0).items()}
    both, none = (comparison(runs).test(margin=0.1, metrics=metrics) for metrics in (None, "dcg"))
    assert "; one-sided tests of the margin 0.1 in ap at 0.025; " in both.methods()
    assert "margin" not in none.methods()


def test_paper_table_has_geometric_means():
    """The paper table shows geometric means, like the table of the comparison, rather than their logarithms."""
    runs = comparison(shifted(20, 0.0, 0.1, 0.2), metric="gm_ap")
    means = [f"{values['gm_ap']:.4f}" for values in runs.aggregate().values()]
    assert [row[2][:6] for row in runs.test(flips=99).matrix()[1:]] == means


@pytest.mark.parametrize("family", ["metric", "all"])
@pytest.mark.parametrize("options", [{}, {"correction": None}, {"method": "t"}, {"intervals": "simultaneous"}])
@pytest.mark.parametrize("seeds", quick_first([range(6), range(12)]), ids=len)
def test_decisive_queries_are_those_without_which_the_verdict_changes(options, family, seeds):
    """A decided difference is tested again without the query that contributes most."""
    if "method" in options:
        pytest.importorskip("scipy")
    named = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        values = random.normal(0.0, 0.12, (3, 2, 10)) + np.array([0.0, 0.09, 0.15])[:, None, None] + 0.4
        runs = {
            name: dict(zip(("ndcg", "ap"), values_by_query, strict=True))
            for name, values_by_query in zip("abc", values, strict=True)
        }
        tests = comparison(runs).test(flips=399, family=family, **options)
        notes = [warning for warning in tests.warnings if "without query" in warning]
        expected = []
        for (metric, run, baseline), pair in tests.items():
            if not pair.decided:
                continue
            differences = (runs[run][metric] - runs[baseline][metric]) * math.copysign(1.0, pair.difference)
            query = int(np.argmax(differences))
            rest = {
                name: {key: np.delete(values_by_query, query) for key, values_by_query in by.items()}
                for name, by in runs.items()
            }
            again = comparison(rest).test(flips=399, family=family, **options)[metric, run, baseline]
            if not again.decided:
                expected.append(f"one query: {metric}, {run} vs {baseline}: without query {query}: ")
        assert [note[: len(start)] for note, start in zip(notes, expected, strict=True)] == expected
        named += len(notes)
    assert named > len(seeds) // 4


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
    assert pair.verdict().startswith("ndcg: inconclusive for b vs a; differences from -0.1333 to ")
    assert tests.warnings == []


def test_differences_decided_without_correction_only_are_noted():
    """Differences that are decided only without correction are counted in the table and listed in the notes."""
    runs = comparison(shifted(40, *[0.0] * 16, seed=3), metric="cg")
    tests = runs.test(flips=999)
    alone = [its for its in tests.values() if decided_alone(its) and not its.decided]
    assert len(alone) > 3
    (note,) = (note for note in tests.notes() if note.startswith("Decided alone, but not among 120 comparisons: "))
    assert all(f"{its.run} vs {its.baseline} in cg" in note for its in alone)
    assert NOT_ADJUSTED not in tests.table()  # the table has no intervals
    against = runs.test("r4", flips=999)
    alone = [its for its in against.values() if decided_alone(its) and not its.decided]
    assert len(alone) > 1
    assert f"{NOT_ADJUSTED}0 lies outside those of {len(alone)} inconclusive differences." in against.table()
    one = against_nothing([0.1] * 7 + [-0.25], metric="cg").test(level=0.5)
    assert NOT_ADJUSTED not in one.table()


@pytest.mark.slow
def test_figures_of_names_that_the_font_lacks_give_no_warning():
    """Matplotlib gives no warning, and different names get different labels."""
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
