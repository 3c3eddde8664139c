"""The gate decides whether a change passes, fails or stays undecided; the command line reports the decision."""

import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")


def reciprocal_ranks(ranks):
    """Return rankings with one relevant document per query at the given rank; rank 0 leaves the document out."""
    lists = [[0] * (rank - 1) + [1] if rank else [0] for rank in ranks]
    return rg.from_ranked(lists, judged=[[1, 0, 0, 0]] * len(ranks))


def compared(after):
    """Test a change against a run that has every relevant document at rank 2."""
    runs = {"main": reciprocal_ranks([2] * len(after)), "change": reciprocal_ranks(after)}
    return rg.compare(runs, metrics="rr").test()


NOISE = [1, 0] * 10  # the reciprocal rank rises or falls by 0.5


@pytest.mark.parametrize(
    ("after", "options", "status"),
    [
        ([3] * 8, {}, "failed"),
        ([1] * 8, {}, "passed"),
        ([2] * 8, {}, "passed"),
        (NOISE, {}, "undecided"),
        (NOISE, {"strict": True}, "failed"),
        (NOISE, {"margin": 0.5}, "passed"),
        (NOISE, {"margin": 0.01}, "undecided"),
        (NOISE, {"margin": 0.01, "strict": True}, "failed"),
        ([3] * 8, {"margin": 0.05}, "failed"),
        ([3] * 20, {"margin": 0.2}, "passed"),  # shown to be worse, but not by more than the margin
        ([1] * 8, {"floors": {"rr": 1.01}}, "failed"),
        ([1] * 8, {"floors": {"rr": 1.0}}, "passed"),
    ],
)
def test_gate_decides(after, options, status):
    gate = compared(after).gate(**options)
    assert gate.status == status, gate.reasons
    assert gate.passed is (status != "failed")


def test_gate_does_not_need_the_margin_of_the_test():
    assert compared(NOISE).gate(margin=0.5).reasons == [
        "rr: change is not worse than main by more than 0.5 (95% interval -0.2500 to +0.2500, p = 1.0000)."
    ]


def test_a_p_value_below_the_last_decimal_is_not_shown_as_0():  # 2 of 2^20 sign vectors
    assert compared([3] * 20).gate().reasons == ["rr: change is worse than main by 0.1667 (p < 0.0001): failed."]
    (reason,) = compared([1] * 20).gate().reasons
    assert reason.endswith(", p < 0.0001).")


def test_unchanged_values_are_named():
    assert compared([2] * 8).gate().reasons == ["rr: no value changed; are the files the same?"]


def test_an_undecided_gate_names_the_difference_that_it_detects_and_the_queries_it_needs():
    (reason,) = compared(NOISE).gate(margin=0.01).reasons
    assert "It is not shown to be at most 0.01 worse. 20 queries can detect a true difference of" in reason
    assert reason.endswith("queries would be needed for a margin of 0.01.")


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
    gate = rg.compare(qrels, {"main": whole, "change": part}, ["rr"]).test().gate()
    assert gate.reasons[0] == "change returns nothing for 1 query that main has: q3: failed."
    assert rg.compare(qrels, {"main": part, "change": whole}, ["rr"]).test().gate().status == "undecided"


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
    rejects(ValueError, "floors: the limit of rr must be finite", fine.gate, floors={"rr": math.nan})
    rejects(ValueError, "margin must be finite and at least 0", fine.gate, margin=-0.1)
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
    assert "rr: bad is worse than base by 0.5000 (p = 0.0005): failed." in err
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
    command = re.search(r"- run: (rankgain compare .+)", page)[1].replace(
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
