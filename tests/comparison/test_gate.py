"""The gate decides whether a change passes, fails or stays undecided; the command line reports the decision."""

import json
import math
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT
from support.made_runs import comparison
from support.marks import in_one_case

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")


def reciprocal_ranks(ranks):
    """Return rankings with one relevant document per query at the given rank; rank 0 leaves the document out."""
    lists = [[0] * (rank - 1) + [1] if rank else [0] for rank in ranks]
    return rg.from_ranked(lists, judged=[[1, 0, 0, 0]] * len(ranks))


def compared_runs(after, before=None):
    """Compare a change with a run that has every relevant document at rank 2, or at the given ranks."""
    runs = {"main": reciprocal_ranks(before or [2] * len(after)), "change": reciprocal_ranks(after)}
    return rg.compare(runs, metrics="rr")


def compared(after, before=None, **options):
    return compared_runs(after, before).test(**options)


NOISE = [1, 0] * 10  # the reciprocal rank rises or falls by 0.5


@in_one_case(
    ("after", "options", "status"),
    [
        ([3] * 8, {}, "failed"),
        ([1] * 8, {}, "passed"),
        ([2] * 8, {}, "passed"),
        (NOISE, {}, "undecided"),
        (NOISE, {"strict": True}, "failed"),
        (NOISE, {"margin": 0.4}, "passed"),
        (NOISE, {"margin": 0.01}, "undecided"),
        (NOISE, {"margin": 0.01, "strict": True}, "failed"),
        ([3] * 8, {"margin": 0.05}, "failed"),
        ([3] * 20, {"margin": 0.2}, "passed"),  # shown to be worse, but not by more than the margin
        ([1] * 8, {"margin": 0.05}, "passed"),
        ([1] * 6 + [2] * 4, {"margin": 0.01}, "passed"),  # shown to be better; the margin cannot be shown
        ([1] * 8, {"floors": {"rr": 1.01}}, "failed"),
        ([1] * 8, {"floors": {"rr": 1.0}}, "passed"),
    ],
)
def test_gate_decides(after, options, status):
    gate = compared(after).gate(**options)
    assert gate.status == status, gate.reasons
    assert gate.passed is (status != "failed")


@pytest.mark.options("Tests.gate", "margin")
def test_gate_takes_the_margin_of_the_test_unless_another_one_is_given():
    (passed,) = compared(NOISE).gate(margin=0.4).reasons
    assert passed.startswith(
        "rr: change is not worse than main by more than 0.4 (95% interval -0.2500 to +0.2500, one-sided p = 0.0"
    )
    tests = compared(NOISE, margin=0.4)
    assert tests.gate().reasons == [passed]
    assert tests.gate(margin=None).status == tests.gate(margin=0.01).status == "undecided"


def test_a_p_value_below_the_last_decimal_is_not_shown_as_0():  # 2 of 2^20 sign vectors
    assert compared([3] * 20).gate().reasons == [
        "rr: change is worse than main by 0.1667 (95% interval -0.1667 to -0.1667, p < 0.0001): failed."
    ]
    (reason,) = compared([1] * 20).gate().reasons
    assert reason.endswith(", p < 0.0001).")


def test_unchanged_values_are_named():
    assert compared([2] * 8).gate().reasons == ["rr: no value changed; are the files the same?"]


def test_an_undecided_gate_names_the_difference_that_it_detects_and_the_queries_it_needs():
    (reason,) = compared(NOISE).gate(margin=0.01).reasons
    assert "20 queries can detect a true difference of 0.3380 with 80% power. It is not shown to be at most" in reason
    assert reason.endswith(
        "at most 0.01 worse (one-sided p = 0.5000). About 20759 queries would be needed for a margin of 0.01."
    )
    assert compared_runs(NOISE).queries_needed("rr", "change", "main", margin=0.01) == 20759


@pytest.mark.parametrize(
    ("power", "level", "z"), [(0.8, 0.95, (0.8416212, 1.9599640)), (0.9, 0.9, (1.2815516, 1.6448536))]
)
@pytest.mark.options("Comparison.queries_needed", "difference", "margin", "power", "level")
def test_queries_needed_for_a_margin_is_the_smallest_number(rejects, power, level, z):
    """The differences are 0.5 and -0.5, so the largest loss is 0.5."""
    sd, loss, margin = 0.5 * math.sqrt(20 / 19), 0.5, 0.03

    def enough(n):
        error = math.sqrt(n * (sd**2 + margin**2) + (loss - margin) ** 2)
        return n * margin - (loss - margin) - z[0] * sd * math.sqrt(n) >= z[1] * error

    needed = compared_runs(NOISE).queries_needed("rr", "change", "main", margin=margin, power=power, level=level)
    assert enough(needed)
    assert not enough(needed - 1)


def test_queries_needed_for_a_margin_where_no_query_differs():
    assert compared_runs([2] * 10).queries_needed("rr", "change", "main", margin=0.02) == 183  # 0.98^183 < 0.025


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either the difference to detect or the margin to show"),
        ({"difference": 0.1, "margin": 0.1}, "give either the difference to detect or the margin to show"),
        ({"margin": 0}, "margin must be finite and not 0, not 0"),
        ({"margin": -0.1}, "margin must be finite and at least 0, not -0.1"),
        ({"margin": 0.6}, "margin must be below 0.5000, the most that rr of 'main' can lose, not 0.6"),
    ],
)
def test_queries_needed_rejects_margins(rejects, options, message):
    rejects(ValueError, message, compared_runs(NOISE).queries_needed, "rr", "change", "main", **options)


def test_a_gate_with_enough_queries_says_that_the_change_looks_worse():
    noise = np.random.default_rng(0).normal(0, 0.05, 200)
    tests = given(np.full(200, 0.5), 0.494 + noise - noise.mean())
    (reason,) = tests.gate(margin=0.012).reasons
    assert (
        "200 queries are enough for a margin of 0.012 and a change without effect; this one looks worse by 0.0060."
        in reason
    )


def test_any_metric_fails_the_gate_and_failures_come_first():
    ranked = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}
    gate = rg.compare(ranked, metrics=["success@2", "rr"]).test().gate()
    assert gate.status == "failed"
    assert [reason.partition(":")[0] for reason in gate.reasons] == ["rr", "success@2"]


def test_lower_is_better_for_some_metrics():
    runs = {"main": dict.fromkeys(range(8), 0.1), "change": dict.fromkeys(range(8), 0.2)}
    tests = rg.compare(runs, values=True, metrics="fpr", higher_is_better=False).test()
    assert tests.gate().status == "failed"
    assert tests.gate().worst[0].difference == pytest.approx(0.1)


def test_gate_lists_the_largest_losses():
    tests = compared([2, 0, 4, 1, *[2] * 6])
    assert [(loss.query, loss.before, loss.after) for loss in tests.gate(worst=2).worst] == [
        (1, 0.5, 0),
        (2, 0.5, 0.25),
    ]
    assert tests.gate(worst=0).worst == []
    assert len(tests.gate().worst) == 2  # queries that improved are not listed


def test_gate_fails_if_the_run_lacks_queries():
    qrels = {f"q{number}": {"d": 1} for number in range(8)}
    whole = {query: {"d": 1.0} for query in qrels}
    part = {query: run for query, run in whole.items() if query != "q3"}
    runs = rg.compare(qrels, {"main": whole, "change": part}, ["rr"])
    named = "change returns nothing for 1 query that main has: q3: failed."
    assert runs.test().gate().reasons[0] == named
    assert rg.compare(qrels, {"main": part, "change": whole}, ["rr"]).test().gate().status == "undecided"
    assert pickle.loads(pickle.dumps(runs)).test().gate().reasons[0] == named
    assert pickle.loads(pickle.dumps(runs.test())).gate().reasons[0] == named
    skipped = rg.compare(qrels, {"main": whole, "change": part}, ["rr"], missing="skip").test(queries="common").gate()
    assert skipped.reasons == [named, "rr: no value changed."]


def test_gate_names_queries_that_both_runs_lack():
    qrels = {f"q{number}": {"d": 1} for number in range(8)}
    part = {query: {"d": 1.0} for query in qrels if query not in ("q3", "q5")}
    runs = {"main": part, "change": part | {"q3": {}}}
    gate = rg.compare(qrels, runs, ["rr"]).test().gate()
    assert gate.reasons[0] == "Neither run returns anything for 2 queries: q3, q5."
    assert gate.status == "passed"


def test_gate_fails_if_evaluations_lack_more_queries():
    """Evaluations state how many queries are missing, but not which."""
    qrels = {f"q{number}": {"d": 1} for number in range(10)}
    whole = {query: {"d": 1.0} for query in qrels}
    runs = {"main": 1, "change": 3}
    results = {name: rg.evaluate(qrels, dict(list(whole.items())[lacking:]), "rr") for name, lacking in runs.items()}
    failed, *_ = rg.compare(results).test().gate().reasons
    assert failed == "change returns nothing for at least 2 queries that main has (missing: change 3, main 1): failed."
    both = rg.compare({"main": results["change"], "change": results["change"]}).test().gate()
    assert both.status == "passed"
    assert both.reasons[0] == "Missing: change 3, main 3; evaluations do not say whether these are the same queries."


@pytest.mark.parametrize("when", ["compare", "test"])
def test_gate_fails_if_values_lack_queries(when):
    whole = dict.fromkeys(range(10), 0.5)
    runs = {"main": whole, "change": dict(list(whole.items())[2:])}
    common = {"queries": "common"}
    values = rg.compare(runs, values=True, metrics="score", **(common if when == "compare" else {}))
    tests = values.test(**({} if when == "compare" else common))
    assert tests.left_out == 2
    for each in (tests, pickle.loads(pickle.dumps(tests))):
        assert each.gate().reasons[0] == "change returns nothing for 2 queries that main has: 0, 1: failed."


# Guards


BREAKS = [1] * 5 + [2] * 5, [0] * 5 + [2] * 5  # five queries lose everything


@pytest.mark.options("Tests.gate", "max_drop", "max_loss")
@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        ({}, "undecided", "at 0.05, so this test cannot fail: set a max drop or a max loss."),
        ({"max_drop": 0.02}, "failed", "more than the max drop of 0.02 (95% interval -1.0000 to 0.0000): failed."),
        ({"max_drop": {"rr": 0.5}}, "undecided", "rr: the mean is worse by 0.5000, within the max drop of 0.5 (95%"),
        ({"max_loss": 1}, "undecided", "rr: no query loses more than 1."),
        ({"max_loss": 0.5}, "failed", "rr: 5 of 10 queries lose more than 0.5 (allowed: none): failed."),
        ({"max_loss": (0.5, 4)}, "failed", "rr: 5 of 10 queries lose more than 0.5 (allowed: 4): failed."),
        ({"max_loss": (0.5, np.int64(5))}, "undecided", "rr: 5 of 10 queries lose more than 0.5 (allowed: 5)."),
        ({"max_loss": {"rr": (0.5, 0.5)}}, "undecided", "rr: 5 of 10 queries lose more than 0.5 (allowed: 50%)."),
        ({"max_loss": (0.5, 0.49)}, "failed", "lose more than 0.5 (allowed: 49%): failed."),
    ],
)  # fmt: skip
def test_guards_fail_where_no_test_can(options, status, text):
    before, after = BREAKS
    gate = compared(after, before).gate(**options)
    assert gate.status == status
    assert any(text in reason for reason in gate.reasons), gate.reasons
    assert gate.rates[0] == "No metric can be shown to be worse at 0.05, since fewer than 6 queries or clusters differ."


def test_a_guard_that_fails_stands_before_passes_and_other_failures():
    gate = compared([3] * 20).gate(margin=0.2, max_drop=0.1, max_loss=0.1, floors={"rr": 0.9})
    assert gate.status == "failed"
    assert "more than the max drop of 0.1" in gate.reasons[0]
    assert "lose more than 0.1 (allowed: none)" in gate.reasons[1]
    assert "limit 0.9" in gate.reasons[2]
    assert "not worse" in gate.reasons[3]


def given(before, after, metric="ndcg", **options):
    return comparison({"main": before, "change": after}, metric=metric).test(**options)


def test_more_than_a_limit_is_more_than_rounding():
    tests = given([0.5] * 8, [0.48] * 8)  # 0.5 - 0.48 > 0.02 in floats
    assert 0.5 - 0.48 > 0.02
    gate = tests.gate(max_drop=0.02, max_loss=0.02)
    assert not any("max drop" in reason and "failed" in reason for reason in gate.reasons)
    assert given([0.5] * 8, [0.48 - 1e-9] * 8).gate(max_drop=0.02, max_loss=0.02).reasons[:2] == [
        "ndcg: the mean is worse by 0.020000001, more than the max drop of 0.02 (95% interval -0.0200 to -0.0200): "
        "failed.",
        "ndcg: 8 of 8 queries lose more than 0.02 (allowed: none): failed.",
    ]


def test_guards_follow_the_direction_the_weights_and_the_unit_of_the_metric():
    lower = given([0.1] * 8, [0.4] * 8, "unjudged@10").gate(max_drop=0.2, max_loss=0.2)
    assert [reason.endswith("failed.") for reason in lower.reasons] == [True] * 3
    assert given([0.4] * 8, [0.1] * 8, "unjudged@10").gate(max_drop=0.0, max_loss=0.0).status == "passed"
    half = [0.5] * 8, [0.0] + [0.5] * 7
    assert "worse by 0.0625" in given(*half).gate(max_drop=0.01).reasons[0]
    assert "worse by 0.2500" in given(*half, weights=[7, *[1] * 7]).gate(max_drop=0.01).reasons[0]
    unbounded = given([50.0] * 8, [40.0] * 8, "dcg").gate(max_drop=9, max_loss=(9, 8))
    assert "worse by 10.0000, more than the max drop of 9" in unbounded.reasons[0]
    geometric = given([0.5] * 8, [0.25] * 8, "gm_ap").gate(max_drop=0.2, max_loss=0.25, worst=1)
    assert "gm_ap: the mean is worse by 0.2500, more than the max drop of 0.2" in geometric.reasons[0]
    assert "gm_ap: no query loses more than 0.25." in geometric.reasons
    assert geometric.worst[0][2:] == (0.5, 0.25, -0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_drop": True}, "max_drop must be a number, not bool"),
        ({"max_drop": -0.1}, "max_drop must be at least 0, not -0.1: it is how much worse the mean may be"),
        ({"max_drop": math.inf}, "max_drop must be finite, not inf"),
        ({"max_drop": {"ndcg": 0.1}}, "max_drop: ndcg was not tested; there are: rr"),
        ({"max_loss": (0.5, 1.0)}, "max_loss: a share of the queries must be at least 0 and below 1, not 1.0"),
        ({"max_loss": (0.5, -1)}, "max_loss: the number of queries must be at least 0, not -1"),
        ({"max_loss": (0.5, True)}, "max_loss: the number of queries must be an int or a share, not bool"),
        ({"max_loss": (0.5, 1, 2)}, "max_loss must be a loss, or a loss and the queries that may exceed it"),
        ({"max_loss": {"rr": "x"}}, "max_loss['rr'] must be a number, not str"),
    ],
)  # fmt: skip
def test_gate_rejects_guards(rejects, options, message):
    kind = TypeError if "must be a number" in message or "an int or" in message else ValueError
    rejects(kind, message, compared(NOISE).gate, **options)


# Groups


@pytest.mark.options("Tests.gate", "groups", "strict", "floors", "worst")
def test_a_group_that_is_worse_fails_beside_a_better_mean():
    before, after = [1] * 20 + [2] * 60 + [2], [2] * 20 + [1] * 60 + [2]
    labels = ["a"] * 20 + ["b"] * 60 + ["c"]
    tests = compared(after, before)
    assert tests.gate().status == "passed"
    gate = tests.gate(groups=labels)
    assert gate.reasons[0] == (
        "rr, group a: change is worse than main by 0.5000 in 20 queries (95% interval -0.5000 to -0.5000, p < 0.0001 "
        "adjusted for 2 groups): failed."
    )
    assert gate.rates == [
        "Without any effect, a metric fails in up to about 5% of builds, or in more if groups are small and skewed."
    ]
    assert tests.gate(groups=labels, margin=0.6).status == "passed"
    same = tests.gate(groups=dict.fromkeys(range(81), "all"))
    assert "rr: none of 1 group is decided worse." in same.reasons
    few = tests.gate(groups=["a"] * 5 + ["b"] * 76)
    assert "rr: none of 1 group is decided worse; 1 group with fewer than 6 queries untested." in few.reasons


def test_groups_of_a_gate_are_corrected_by_single_step_max_t(rejects):
    """The adjusted p equals that of all sign vectors of 12 queries."""
    random = np.random.default_rng(2)
    before, losses = np.full(12, 0.5), random.integers(0, 8, 12) / 16
    after = before - np.where(np.arange(12) < 6, losses + 1 / 16, 0.2 * losses - 0.05)
    signs = 1 - 2 * (np.arange(4096)[:, None] >> np.arange(12) & 1)
    differences = after - before
    parts = [differences * (np.arange(12) // 6 == part) for part in range(2)]
    flipped = np.max([np.abs(signs @ part) / np.linalg.norm(part) for part in parts], axis=0)
    p = np.mean(flipped >= abs(parts[0].sum()) / np.linalg.norm(parts[0]) - 1e-9)
    gate = given(before, after).gate(groups=list("aaaaaabbbbbb"), margin=None)
    assert any(f"p = {p:.4f} adjusted for 2 groups" in reason for reason in gate.reasons)
    rejects(ValueError, "groups has 1 labels, and there are 12 queries", given(before, after).gate, groups=["a"])


def test_a_group_in_one_cluster_is_not_tested():
    clusters = [0] * 10 + list(range(1, 21))
    tests = given([0.5] * 30, [0.4] * 10 + [0.6] * 20, clusters=clusters)
    assert "ndcg: none of 1 group is decided worse; 1 group with" in " ".join(
        tests.gate(groups=clusters[:10] + [9] * 20).reasons
    )


# Rates


def test_a_strict_gate_states_how_often_it_fails():
    assert compared(NOISE).gate(strict=True).rates == ["Without any effect, rr fails in about 98% of builds."]
    assert compared(NOISE).gate(strict=True, margin=0.1).rates == [
        "Without any effect, rr fails in about 91% of builds."
    ]
    assert compared(NOISE).gate(max_drop=0.02).rates == [
        "Without any effect, a metric fails in about 2.5% of builds.",
        "Without any effect, rr loses more than the max drop of 0.02 in about 43% of builds.",
    ]


def test_a_margin_that_failures_could_hide_in_is_followed_by_a_sentence():
    random = np.random.default_rng(0)
    before = random.random(30) * 0.1 + 0.5
    gate = given(before, before + random.normal(0, 0.005, 30), margin=0.02).gate()
    hidden = (
        "With 30 queries, a total failure of up to 11.6% of all queries can go unseen, which alone exceeds the margin."
    )
    assert gate.reasons[0].endswith(f"). {hidden}")
    before = random.random(200) * 0.1 + 0.5
    assert hidden[:5] not in given(before, before + random.normal(0, 0.005, 200), margin=0.02).gate().reasons[0]


def test_gate_to_dict_is_json():
    content = json.loads(json.dumps(compared([3] * 8).gate(floors={"rr": 0.3}).to_dict(), allow_nan=False))
    assert content["status"] == "failed"
    assert content["floors"] == {"rr": 0.3}
    assert content["metrics"][0]["p"] == 2 / 2**8


def test_gate_rejects_what_cannot_be_decided(rejects):
    three = rg.compare({name: rg.from_ranked([[1, 0]] * 8) for name in "abc"}, metrics="rr").test()
    rejects(ValueError, "a gate compares one new run with one baseline, and 3 runs were tested", three.gate)
    two = {"a": rg.from_ranked([[1, 0]] * 8), "b": rg.from_ranked([[0, 1]] * 8)}
    counts = rg.compare(two, metrics="num_ret").test()
    rejects(ValueError, "num_ret cannot decide a gate, since neither higher nor lower is better", counts.gate)
    sums = rg.compare(two, metrics="dcg").test()
    rejects(ValueError, "margin: dcg has no upper bound", sums.gate, margin=0.1)
    fine = rg.compare(two, metrics="rr").test()
    rejects(ValueError, "floors: ndcg was not tested; there are: rr", fine.gate, floors={"ndcg": 0.3})
    rejects(ValueError, "floors['rr'] must be finite, not nan", fine.gate, floors={"rr": math.nan})
    rejects(TypeError, "floors['rr'] must be a number, not bool", fine.gate, floors={"rr": True})
    rejects(ValueError, "margin must be finite and at least 0", fine.gate, margin=-0.1)
    for margin in (1, 2):
        rejects(
            ValueError, "margin must be below 1.0000, the most that rr of 'a' can lose, not", fine.gate, margin=margin
        )
    rejects(ValueError, "worst must be from 0", fine.gate, worst=-1)


# The command line


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write qrels, a baseline run, and runs for which the gate passes, fails and stays undecided."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{number}" for number in range(12)]
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n{query} 0 b 0\n" for query in queries))
    first, second = "{0} Q0 a 1 2 t\n{0} Q0 b 2 1 t\n", "{0} Q0 b 1 2 t\n{0} Q0 a 2 1 t\n"
    mixed = [second, second, *[first, second] * 5]
    runs = {"base": mixed, "good": [first] * 12, "bad": [second] * 12, "even": mixed[::-1]}
    for name, texts in runs.items():
        lines = "".join(text.format(query) for text, query in zip(texts, queries, strict=True))
        (tmp_path / f"{name}.txt").write_text(lines)
    return tmp_path


def gated(capsys, run, *options):
    status = main(["compare", "qrels.txt", "base.txt", f"{run}.txt", "--gate", "-m", "rr", *options])
    return status, *capsys.readouterr()


@pytest.mark.parametrize(("run", "status", "verdict"), [("good", 0, "passed"), ("even", 0, "undecided")])
def test_compare_gate_passes(capsys, files, run, status, verdict):
    exit_status, out, err = gated(capsys, run)
    assert (exit_status, err.splitlines()[0]) == (status, f"Gate {verdict}: {run} compared with base.")
    assert out.startswith(f"Gate {verdict}: ")


def test_compare_gate_fails_with_status_3(capsys, files):
    before = "q0 Q0 a 1 2 t\n"
    (files / "base.txt").write_text("".join(before.replace("q0", f"q{n}") for n in range(12)))
    status, out, err = gated(capsys, "bad", "--worst", "1", "-o", "gate.txt")
    assert (status, out) == (3, "")
    assert "rr: bad is worse than base by 0.5000 (95% interval -0.5000 to -0.5000, p = 0.0005): failed." in err
    assert "largest losses" in (files / "gate.txt").read_text()


def test_compare_gate_takes_limits(capsys, files):
    assert gated(capsys, "good", "-m", "ndcg@10>=0.9")[0] == 0
    status, _, err = gated(capsys, "even", "-m", "ndcg@10>=0.9")
    assert status == 3
    assert "below the limit 0.9: failed." in err


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_compare_gate_prints_other_forms(capsys, files, form):
    status, out, _ = gated(capsys, "good", f"--{form}")
    assert status == 0
    assert ("Gate passed" in out) if form == "markdown" else json.loads(out)["gate"]["status"] == "passed"


@pytest.mark.both
def test_compare_json_is_the_same_on_both_backends(capsys, files, on_both):
    compiled, python = on_both(lambda: gated(capsys, "even", "--json"))
    assert compiled == python


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--all-pairs"], "argument --all-pairs: not allowed with argument --gate"),
        (["--csv"], "argument --csv: not allowed with argument --gate"),
        (["-m", "num_ret"], "num_ret cannot decide a gate"),
        (["-m", "dcg", "--margin", "0.1"], "margin: dcg has no upper bound"),
        (["-m", "ndcg@10>0.4"], "write a limit as ndcg@10>=NUMBER"),
        (["-m", "ndcg@10>=x"], "write a limit as ndcg@10>=NUMBER"),
        (["--worst", "-1"], "argument --worst: must be 0 or more, not -1"),
    ],
)
def test_compare_gate_rejects(capsys, files, options, message):
    with pytest.raises(SystemExit) as raised:
        gated(capsys, "good", *options)
    assert raised.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("options", [["--strict"], ["--worst", "3"], ["-m", "ndcg>=0.3"]])
def test_compare_rejects_options_of_a_gate_without_it(capsys, files, options):
    with pytest.raises(SystemExit) as raised:
        main(["compare", "qrels.txt", "base.txt", "good.txt", *options])
    assert raised.value.code == 2
    assert "only allowed with argument --gate" in capsys.readouterr().err


def test_gate_equals_the_test_of_one_metric_without_correction():
    rng = np.random.default_rng(5)
    values = {name: dict(enumerate(rng.uniform(size=40))) for name in ("main", "change")}
    tests = rg.compare(values, values=True, metrics="ndcg").test()
    assert tests.gate().differences[0].p == next(iter(tests.values())).p


@pytest.mark.checkout
@pytest.mark.parametrize(("run", "status"), [("good", 0), ("bad", 3), ("even", 0)])
def test_the_workflow_of_the_page_gates_a_change(files, run, status):
    page = (ROOT / "docs" / "how-to" / "continuous-integration.md").read_text(encoding="utf-8")
    command = re.search(r"run: (rankgain compare .+)", page)[1].replace(
        "rankgain", f'"{sys.executable}" -m rankgain', 1
    )
    (files / "base.txt").rename("main.txt")
    if run == "bad":
        (files / "main.txt").write_text("".join(f"q{number} Q0 a 1 2 t\n" for number in range(12)))
    (files / f"{run}.txt").rename("change.txt")
    environment = os.environ | {"GITHUB_STEP_SUMMARY": "summary.md"}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Gate " in (files / "summary.md").read_text()


@pytest.mark.checkout
@pytest.mark.parametrize(("lost", "status"), [(0, 0), (1, 3)])
def test_the_page_gates_a_change_without_judgments(files, lost, status):
    page = (ROOT / "docs" / "how-to" / "continuous-integration.md").read_text(encoding="utf-8")
    command = re.search(r"^rankgain (diff .+)", page, flags=re.MULTILINE)[1]
    (files / "base.txt").rename("main.txt")
    lines = (files / "main.txt").read_text().splitlines(keepends=True)
    unchanged = [line for line in lines if not lost or line.split()[0] != lines[-1].split()[0]]
    (files / "change.txt").write_text("".join(unchanged))
    command = f'"{sys.executable}" -m rankgain {command}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
