"""With several baselines, each remaining run is compared with each baseline in every output."""

import json

import numpy as np
import pytest
from support.made_runs import comparison

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")

BASES = ["b", "a"]
VALUES = {
    name: np.random.default_rng(position).random(30) * 0.5 + 0.1 * position for position, name in enumerate("abcd")
}
RUNS = comparison({name: {"ndcg@10": values, "ap": values[::-1]} for name, values in VALUES.items()})


def test_each_remaining_run_is_compared_with_each_baseline():
    tests = RUNS.test(BASES, metrics="ap", flips=999)
    assert [key[1:] for key in tests] == [("c", "b"), ("d", "b"), ("c", "a"), ("d", "a")]
    assert tests.options.baseline == ("b", "a")
    assert {pair.comparisons for pair in tests.values()} == {4}
    again = RUNS.test((name for name in ["b", "a", "b"]), metrics="ap", flips=999)
    assert again.table() == tests.table()


def test_p_is_adjusted_over_the_comparisons_with_all_baselines():
    """p-values and intervals equal those for each baseline alone; Holm's correction is recomputed from the p-values."""
    tests = RUNS.test(BASES, flips=999, correction="holm")
    single = [RUNS.test(base, flips=999, correction="holm") for base in BASES]
    for metric in ("ndcg@10", "ap"):
        keys = [key for key in tests if key[0] == metric]
        for key in keys:
            one = next(part for part in single if key in part)[key]
            assert (tests[key].p, tests[key].low, tests[key].high) == (one.p, one.low, one.high)
        ordered, largest = sorted(keys, key=lambda key: tests[key].p), 0.0
        for position, key in enumerate(ordered):
            largest = max(largest, min(1.0, (len(keys) - position) * tests[key].p))
            assert tests[key].adjusted == pytest.approx(largest)
    joint = RUNS.test(BASES, flips=999)
    alone = rg.Comparison({name: RUNS[name] for name in "acd"}).test("a", flips=999)
    assert all(joint[key].adjusted >= pair.adjusted for key, pair in alone.items())


def test_one_baseline_in_a_list_is_that_baseline():
    one, listed = RUNS.test("b", flips=99), RUNS.test(["b"], flips=99)
    assert listed.options == one.options
    assert listed.table() == one.table()


@pytest.mark.parametrize(
    ("message", "baseline"),
    [
        ("baseline: there is no run 'x'; there are: a, b, c, d", ["a", "x"]),
        ("baseline: there is no run 1; there are: a, b, c, d", 1),
        ("baseline is empty: name at least one run", []),
        ("baseline: all runs are baselines, which leaves none to compare", "abcd"),
    ],
)
def test_wrong_baselines_are_refused(message, baseline):
    with pytest.raises(ValueError, match=message):
        RUNS.test(list(baseline) if baseline == "abcd" else baseline)


def test_several_baselines_are_named_in_text_tables_and_exports():
    tests = RUNS.test(BASES, flips=999)
    text = tests.table()
    assert text.startswith("2 runs compared with b and a: 30 queries, paired")
    assert "metric   run  minus    mean     mean  difference" in text
    assert "\nndcg@10 vs b: " in text
    assert "\nap vs a: better than a: " in text
    assert "adjusted for 4 comparisons of each metric (max-T)" in text
    assert [row[0] for row in tests.matrix()] == ["", "b", "a", "", ""]
    assert tests.matrix()[4][2].endswith("*ab")
    few = RUNS.test(BASES, metrics="ap", flips=999).verdicts()
    assert any(line.startswith("ap: d is better than a by ") for line in few)
    assert "| ndcg@10 | c | b |" in tests.to_markdown()
    assert "bm25" not in tests.to_latex()
    assert "b\\textsuperscript{a}" in tests.to_latex()
    assert "ndcg@10 & c & b & " in tests.to_latex()
    assert tests.columns()["baseline"] == ["b", "b", "a", "a"] * 2
    margins = RUNS.test(BASES, flips=999, margin=0.1).verdicts()
    assert sum(" vs a: " in line and "by more than 0.1" in line for line in margins) == 2


def test_groups_take_several_baselines():
    groups = RUNS.groups(["x", "y"] * 15, BASES, metrics="ap", flips=999)
    assert "d compared with b, ap, by group" in groups.table()
    assert "d compared with a, ap, by group" in groups.table()


def test_report_draws_the_best_remaining_run_against_each_baseline(tmp_path):
    pytest.importorskip("jinja2")
    values = comparison(
        {f"r{position}": {"ap": vector + position} for position, vector in enumerate([VALUES["a"]] * 8)}
    )
    values.report(tmp_path / "page.html", values.test(["r7", "r0"], flips=99))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "6 runs compared with r7 and r0" in page
    assert "for each metric, the best other run and r7 and r0." in page
    assert "ap: r6 minus r7" in page
    assert "ap: r6 minus r0" in page
    assert "ap: r5 minus r0" not in page


def test_gate_refuses_several_baselines():
    with pytest.raises(ValueError, match="a gate compares one new run with one baseline"):
        RUNS.test(BASES, flips=99).gate()


def test_compare_takes_the_option_baseline_repeatedly(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"q{row} 0 a 1\n" for row in range(12)))
    for name in "xyz":
        lines = (f"q{row} Q0 {'ba'[name == 'z']} 1 1 t\n" for row in range(12))
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    command = ["compare", "qrels", "x.txt", "y.txt", "z.txt", "-m", "rr", "--baseline", "y"]
    assert main([*command, "--baseline", "x", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["options"]["baseline"] == ["y", "x"]
    assert [(each["run"], each["baseline"]) for each in content["differences"]] == [("z", "y"), ("z", "x")]
    assert main([*command, "--baseline", "x"]) == 0
    assert capsys.readouterr().out.startswith("z compared with y and x: 12 queries, paired")
    with pytest.raises(SystemExit):
        main([*command, "--baseline", "x", "--baseline", "z"])
    assert "argument --baseline: all runs are baselines" in capsys.readouterr().err


def test_rankings_take_several_baselines():
    runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8), "c": rg.from_ranked([[1, 1]] * 8)}
    assert [key[1:] for key in rg.compare(runs, metrics="rr").test(["a", "b"])] == [("c", "a"), ("c", "b")]
