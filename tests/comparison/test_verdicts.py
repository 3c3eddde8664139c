"""What is said: the sentences word for word, families, simultaneous intervals, and notes."""

import math
import warnings

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison, evaluation

import rankgain as rg
from rankgain.comparison import tables
from rankgain.comparison.difference import decided_alone, p_phrase
from rankgain.comparison.sentences import influence

pytestmark = pytest.mark.usefixtures("backend")


def shifted(queries, *shifts, seed=0):
    """Runs that differ from the first by so much on average."""
    random = np.random.default_rng(seed)
    base = random.random(queries) * 0.4 + 0.3
    return {f"r{run}": base + shift + random.normal(0, 0.1, queries) for run, shift in enumerate(shifts)}


def unwrapped(tests):
    return " ".join(tests.table().split())


def influence_of(tests):
    return influence(tests, ("rr", "run", "zero"))


def the_sentence(differences, **options):
    return against_nothing(differences, metric="rr").test(**options)["rr", "run", "zero"].verdict()


def test_decided():
    sentence = the_sentence([0.5, 0.25, 0.25, 0.5, 0.1, 0.2, 0.3, 0.0])
    assert sentence == (
        "rr: run is better than zero by 0.2625 (95% interval +0.1167 to +0.4167, p = 0.0156, 7 queries better, "
        "0 worse)."
    )
    assert "run is worse than zero by 0.2625 (95% interval -0.4167 to -0.1167" in the_sentence(
        [-0.5, -0.25, -0.25, -0.5, -0.1, -0.2, -0.3, 0.0]
    )
    assert "1 query better, 19 worse" in the_sentence([0.1] + [-0.5] * 19)


def test_a_verdict_says_where_lower_is_better():
    values = {"a": dict.fromkeys(range(8), 0.5), "b": dict.fromkeys(range(8), 0.75)}
    tests = rg.compare(values, metrics="seconds", values=True, higher_is_better=False).test()
    assert tests.verdicts() == [
        "seconds: b is worse than a by 0.2500 (95% interval +0.2500 to +0.2500, p = 0.0078, 0 queries better, 8 worse; "
        "lower is better)."
    ]


def test_a_small_p():
    assert "p < 0.0001" in the_sentence([0.5 + 0.01 * row for row in range(20)])


def test_not_decided():
    sentence = the_sentence([0.5, -0.25, 0.25, -0.5, 0.1, 0.2, -0.3, 0.4])
    assert sentence.startswith("rr: not decided. run scored 0.0500 higher than zero, but differences from -0.")
    assert "are compatible with these queries (95% interval). This does not show that the runs are equal. " in sentence
    assert "A new test with 8 such queries would detect a true difference of 0." in sentence
    assert sentence.endswith(" with 80% power (uncorrected).")
    few = the_sentence([0.5, -0.25, 0.25, -0.5, 0.1, 0.2, -0.3])
    assert few.endswith("This does not show that the runs are equal.")


@pytest.mark.parametrize("queries", range(2, 60, 7))
@pytest.mark.parametrize("seed", range(3))
def test_not_decided_never_reads_as_equal(queries, seed):
    random = np.random.default_rng(seed)
    for its in comparison({"a": random.random(queries), "b": random.random(queries)}).test(flips=199).values():
        said = its.verdict()
        assert ("not decided" in said) == (not its.decided)
        assert ("This does not show that the runs are equal." in said) == (not its.decided)


def test_the_margin():
    runs = shifted(60, 0.0, 0.0)
    found = comparison(runs, metric="cg").test(margin=0.1)["cg", "r1", "r0"]
    assert f"cg: r1 is not worse than r0 by more than 0.1 (one-sided {p_phrase(found.not_worse_p)})." in (
        found.verdict()
    )
    assert "cg: r1 and r0 are less than 0.1 apart (one-sided p" in found.verdict()
    found = comparison(runs, metric="cg").test(margin=0.001)["cg", "r1", "r0"]
    assert f"cg: it is not shown that r1 is at most 0.001 worse than r0 (one-sided p = {found.not_worse_p:.4f})." in (
        found.verdict()
    )


def test_the_margin_of_several():
    tests = comparison(shifted(60, 0.0, 0.01, -0.2), metric="cg").test("r0", margin=0.1)
    said = tests.verdicts()
    assert "cg: not worse than r0 by more than 0.1: r1." in said
    assert "cg: not shown to be at most 0.1 worse than r0: r2." in said
    said = comparison(shifted(60, 0.0, 0.01, -0.2), metric="cg").test(margin=0.1).verdicts()
    assert "cg: not worse by more than 0.1: r1 than r0." in said
    assert "cg: not shown to be at most 0.1 worse: r2 than r0, r2 than r1." in said


def test_p_is_shown_adjusted_where_there_are_several():
    for runs in (2, 3, 4):
        tests = comparison(shifted(20, *[0.0] * runs), metric="cg").test("r0", flips=99)
        assert ("adjusted" in tables.differences(tests, 9).rows[0]) == (runs > 2)


def test_decided_alone():
    tests = comparison(shifted(40, *[0.0] * 5, seed=3), metric="cg").test(flips=999)
    alone = [its for its in tests.values() if decided_alone(its) and not its.decided]
    assert alone
    assert f"decided alone (p = {alone[0].p:.4f}), not among 10 comparisons (adjusted p = " in alone[0].verdict()
    assert any("decided alone" in line for line in tests.verdicts())


def test_families_of_all_metrics():
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


def test_simultaneous_intervals_are_wider():
    runs = shifted(40, 0.0, 0.1, 0.2)
    one = comparison(runs, metric="cg").test(flips=9999)
    all_ = comparison(runs, metric="cg").test(flips=9999, intervals="simultaneous")
    for key, its in all_.items():
        assert its.low < one[key].low
        assert its.high > one[key].high
        assert its.p == one[key].p
    assert "intervals are simultaneous (single-step max-T), and exclude 0 exactly if the" in unwrapped(all_)
    holm = comparison(runs, metric="cg").test(flips=9999, intervals="simultaneous", correction="holm")
    assert "intervals are simultaneous (Bonferroni): one may contain 0 although" in unwrapped(holm)
    assert "intervals are not adjusted" in unwrapped(one)


def test_no_interval():
    """Of six queries, all sign vectors are too few for Bonferroni's share of two comparisons."""
    runs = {"a": [0.0] * 6, "b": [0.5] * 5 + [-0.1], "c": [0.5] * 6}
    tests = comparison(runs, metric="cg").test("a", correction="holm", intervals="simultaneous")
    assert tests["cg", "b", "a"].verdict() == (
        "cg: not decided. b scored 0.4000 higher than a (p = 0.0625, no interval). This does not show that the runs "
        "are equal."
    )


def test_all_pairs_and_the_best():
    tests = comparison(shifted(60, 0.0, 0.01, 0.4), metric="cg").test(flips=999)
    assert [key[1:] for key in tests] == [("r1", "r0"), ("r2", "r0"), ("r2", "r1")]
    assert tests.tied_with_best("cg") == ["r2"]
    assert "cg: r2 is better than every other run." in tests.verdicts()
    # Of two with the best mean, "wild" is not told apart from "low", which "even" is better than.
    runs = {"even": [1.0] * 10, "wild": [0.0, 2.0] * 5, "low": [0.9] * 10}
    shared = comparison(runs, metric="cg").test()
    assert shared.tied_with_best("cg") == ["even", "wild", "low"]
    assert "cg: even and wild have the best mean; not told apart from at least one of them: low." in shared.verdicts()
    near = comparison(shifted(60, 0.0, 0.01, 0.01), metric="cg").test(flips=999)
    assert "not told apart from it: " in near.table()


def test_notes():
    runs = shifted(60, 0.0, 0.1)
    table = comparison({name: {"cg": own, "dcg": own} for name, own in runs.items()}).test(flips=999, seed=5).table()
    table = " ".join(table.split())
    for line in (
        "p: sign-flip randomization, exact for 24 or fewer queries that differ, else 999 flips, seed 5; two-sided",
        "interval: the differences that the same test does not reject; the last digit varies with the seed",
        "two metrics, tested separately: not corrected for that; decide by the metric you named first",
        "both are exact if differences are symmetric about their mean; otherwise approximate",
        "the interval is for other queries like these, on this collection and these judgments",
        "queries evaluated: 60, left out: 0, backend: ",
    ):
        assert line in table
    assert "with few queries" not in table
    assert "with few queries, rare large differences may be missing" in unwrapped(
        comparison(shifted(49, 0.0, 0.1)).test()
    )
    several = comparison(shifted(60, 0.0, 0.1, 0.2))
    assert "false discovery rate, not family-wise" in unwrapped(several.test(correction="bh", flips=999))
    assert "3 comparisons: not corrected" in several.test(correction=None, flips=999).table()
    assert "mean logarithm" in comparison(shifted(60, 0.0, 0.1), metric="gm_ap").test(flips=999).table()


def test_methods():
    tests = comparison(shifted(60, 0.0, 0.1, 0.2)).test(flips=999, seed=3)
    assert tests.methods() == (
        "Two-sided paired sign-flip randomization test of the mean difference over 60 queries, 999 random flips, seed "
        "3;\n95% intervals by inverting the test; corrected for the 3 comparisons of each metric (max-T, step-down, "
        f"family-wise); rankgain {rg.__version__}."
    )


def test_numbers_of_another_mean_than_that_of_the_metric_say_so():
    """A difference of logarithms is not one of geometric means, nor a mean one of sums."""
    runs = shifted(20, 0.0, 0.1, 0.2)
    for metric, name in (("gm_ap", "gm_ap (mean log2)"), ("num_rel_ret", "num_rel_ret (mean)")):
        pair = comparison({run: runs[run] for run in ("r0", "r1")}, metric=metric).test(flips=99)
        assert pair[metric, "r1", "r0"].verdict().startswith(f"{name}: ")
        tests = comparison(runs, metric=metric).test(flips=99)
        assert tests.matrix()[0] == ["", "run", name]
        assert tables.differences(tests, 9).rows[1][0] == name
        assert all(line.startswith(f"{name}: ") for line in tests.verdicts())
        assert tests.columns()["metric"] == [metric] * 3


def test_metrics_of_different_queries():
    """How many were tested, and the note on few queries, hold for every metric."""
    runs = {name: {"cg": own, "rr": [*[math.nan] * 15, *own[15:]]} for name, own in shifted(60, 0.0, 0.1).items()}
    tests = comparison(runs).test(flips=99)
    table = tests.table()
    assert table.startswith("r1 compared with r0: 45 to 60 queries, paired\n")
    assert "difference over 45 to 60 queries, " in tests.methods()
    assert "queries evaluated, by metric: 45 to 60, left out: 0 to 15, backend: " in table
    assert "with few queries, rare large differences may be missing" in tests.notes()


def test_methods_tell_of_the_margin():
    runs = shifted(60, 0.0, 0.1, 0.2)
    said = comparison(runs).test("r0", flips=99, margin=0.02, level=0.9).methods()
    assert "; one-sided tests of the margin 0.02 at 0.05, corrected by Holm; rankgain" in said
    assert "margin 0.02 at 0.025; rankgain" in comparison(runs).test(flips=99, margin=0.02, correction=None).methods()


def test_one_query_that_decides():
    tests = against_nothing([0.01, -0.02, 0.01, -0.02, 0.01, -0.01, 0.9, -0.01], metric="rr").test()
    line = "rr: without query 6 the difference of run to zero would be -0.0043, not +0.1087"
    assert influence_of(tests) == line
    assert line in unwrapped(tests)
    steady = against_nothing([0.2, 0.3, 0.25, 0.2, 0.3, 0.2, 0.25, 0.3, 0.2], metric="rr").test()
    assert influence_of(steady) is None
    verge = against_nothing([0.2, 0.3, 0.25, 0.2, 0.3, 0.2], metric="rr").test()
    assert influence_of(verge).endswith(", and it would be not decided")


def test_one_query_that_decides_students_t():
    pytest.importorskip("scipy")
    tests = against_nothing([0.2, 0.3, 0.25, 0.2, 0.3, -0.25], metric="rr").test(method="t")
    assert influence_of(tests).endswith("would be +0.2500, not +0.1667, and it would be decided")


@pytest.mark.slow
def test_pictures():
    pytest.importorskip("matplotlib")
    tests = comparison(shifted(300, 0.0, 0.1, 0.2)).test(flips=199)
    assert len(tests.plot().axes) == 3
    assert len(tests.plot("scatter", "ndcg").axes) == 3
    assert len(tests.plot("intervals").axes) == 1
    axes = tests.plot("differences", "ndcg").axes[0]
    assert axes.get_xlabel() == "300 queries, sorted, 2 to a bar"
    shown = next(iter(tests.values()))
    assert [line.get_ydata() for line in axes.lines] == [[shown.difference] * 2, [0.0] * 2]
    with pytest.raises(ValueError, match=r"^kind must be 'differences' or 'intervals' or 'scatter', not 'pie'$"):
        tests.plot("pie")
    with pytest.raises(KeyError, match=r"ap was not tested"):
        tests.plot(metric="ap")


def test_an_evaluation_merged_of_parts_is_tested_as_one():
    parts = evaluation([0.1, 0.2], ["a", "b"]).merge(evaluation([0.3], ["c"]))
    assert rg.Comparison({"x": parts, "y": evaluation([0.2, 0.3, 0.4], ["c", "a", "b"])}).test().queries == 3


def test_a_small_difference_is_not_printed_as_zero():
    values = 0.00002 + 0.000001 * np.arange(20)
    sentence = the_sentence(values.tolist())
    assert "run is better than zero by 0.000030 (95% interval +0.00002" in sentence
    assert "+0.000030  +0.00002" in against_nothing(values, metric="rr").test().table()


def test_equal_means_have_no_best():
    runs = {name: [0.25, 0.75] * 10 for name in "abc"}
    assert comparison(runs).test().verdicts() == ["ndcg: all runs have the same mean."]
    assert comparison(runs).test("a").verdicts() == ["ndcg: the same as a for every query: b, c."]
    two = comparison(runs | {"d": [0.0, 0.5] * 10, "e": [0.5, 0.5] * 10}).test()
    assert "ndcg: a, b, c and e have the best mean." in two.verdicts()


def test_means_that_only_rounding_sets_apart_are_the_same():
    base = np.random.default_rng(5).random(12)
    moved = base + [0.2, -0.2] * 6
    tests = comparison({"a": base, "b": moved}).test()
    pair = tests["ndcg", "b", "a"]
    assert pair.mean != pair.baseline_mean
    assert pair.difference == 0.0
    assert pair.verdict().startswith("ndcg: not decided. b and a have the same mean, but differences from -0.1333 to ")
    assert influence(tests, ("ndcg", "b", "a")) is None


def test_methods_of_what_is_exact_in_part():
    """p is counted, and intervals and max-T are drawn: flips and seed are told."""
    runs = shifted(20, 0.0, 0.05, 0.1)
    said = comparison(runs).test(flips=999, seed=3).methods()
    assert "p exact (all sign vectors), intervals and max-T from 999 random flips, seed 3, where they cannot be" in said
    pair = comparison({name: runs[name] for name in ("r0", "r1")}).test(flips=999, seed=3).methods()
    assert "p exact (all sign vectors), intervals from 999 random flips, seed 3, where they cannot be counted" in pair
    few = comparison({name: own[:12] for name, own in runs.items()}).test(flips=999, seed=3).methods()
    assert ", exact (all sign vectors);" in few


def test_what_is_decided_alone_is_told_of_many_comparisons():
    tests = comparison(shifted(40, *[0.0] * 16, seed=3), metric="cg").test(flips=999)
    alone = [its for its in tests.values() if decided_alone(its) and not its.decided]
    assert len(alone) > 3
    said = " ".join(tests.verdicts())
    assert all(f"{its.run} scored" in said or f"{its.run} against {its.baseline}" in said for its in alone)


@pytest.mark.slow
def test_pictures_of_names_that_the_font_lacks():
    """No warning of matplotlib's, and names that differ stay so."""
    pytest.importorskip("matplotlib")
    names = "bm25 \U0001f600", "bm25 \U0001f680", "\u65e5\u672c"
    tests = comparison(dict(zip(names, shifted(20, 0.0, 0.1, 0.2).values(), strict=True))).test(names[0], flips=99)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = [tests.plot(kind) for kind in ("differences", "intervals", "scatter")]
        assert all(figure._repr_png_() for figure in figures)
    labels = [label.get_text() for label in figures[1].axes[0].get_yticklabels()]
    assert labels == [
        "bm25 \\U0001f680",
        "\\u65e5\\u672c",
    ]
