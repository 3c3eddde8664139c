"""The table for papers has a row per run, marks the best mean, and shows by letters which runs each run beats."""

import re

import numpy as np
import pytest
from support.made_runs import comparison

pytestmark = pytest.mark.usefixtures("backend")


def test_paper_table_marks_the_best_and_names_the_beaten():
    """The best run and the runs that each run beats are marked, with and without a baseline."""
    random = np.random.default_rng(0)
    base = random.random(60) * 0.3
    runs = {name: base + shift + random.normal(0, 0.02, 60) for name, shift in (("lo", 0.1), ("mid", 0.1), ("hi", 0.5))}
    both = comparison({name: {"cg": values, "unjudged@10": values} for name, values in runs.items()})
    tests = both.test(flips=999)
    means = {name: f"{values.mean():.4f}" for name, values in runs.items()}
    lowest = {"lo": " ", "mid": " "} | {min(("lo", "mid"), key=lambda name: runs[name].mean()): "*"}
    assert tests.matrix() == [
        ["", "run", "cg", "unjudged@10"],
        ["a", "lo", means["lo"], f"{means['lo']}{lowest['lo']}c"],
        ["b", "mid", means["mid"], f"{means['mid']}{lowest['mid']}c"],
        ["c", "hi", f"{means['hi']}*ab", means["hi"]],
    ]
    table = tests.to_markdown().replace("\n", " ")
    assert "Best mean of each metric in bold (lower is better: unjudged@10)" in table
    assert "Letters at a mean name the runs that this run is better than (adjusted p ≤ 0.05)" in table
    assert f"| c | hi | **{means['hi']}**<sup>ab</sup> | {means['hi']} |" in tests.to_markdown()
    assert f" & \\textbf{{{means['hi']}}} & \\textsuperscript{{ab}} \\\\" in tests.to_latex()
    four = comparison(runs | {"top": base + 0.9}, metric="cg").test(flips=999)
    assert f"<b>{(base + 0.9).mean():.4f}</b><sup>a–c</sup>" in four._repr_html_()
    assert "(adjusted p $\\leq$ 0.05).}" in tests.to_latex()
    assert re.search(r" & \$-\$0\.\d{4}, ", tests.to_latex())
    assert "the same and worse. Two-sided paired sign-flip randomization test" in tests.to_latex()
    against = both.test("lo", flips=999)
    assert against.matrix()[0:2] == [["", "run", "cg", "unjudged@10"], ["a", "lo", *against.matrix()[1][2:]]]
    assert against.matrix()[3] == ["", "hi", f"{means['hi']}*a", means["hi"]]


def test_paper_table_of_many_runs_has_no_letters():
    random = np.random.default_rng(0)
    tests = comparison({f"r{run}": random.random(20) + run for run in range(50)}, metric="cg").test(flips=99)
    assert len(tests.matrix()) == 51
    assert {row[0] for row in tests.matrix()} == {""}
    assert "… and 10 more runs: the CSV and JSON forms have all" in tests.table()
    assert "Letters at a mean" not in tests.table()
    assert "10 more runs. Best mean of each metric in bold. No letters, which name at most 15 runs." in tests.to_latex()
    assert "No letters, which name at most 15 runs: the CSV and JSON forms have the differences" in tests.table()


@pytest.mark.parametrize(
    ("runs", "baseline", "heads"),
    [
        (2, None, "metric r0 r1 difference"),
        (2, "r1", "metric r1 r0 difference"),
        (3, None, "metric run minus mean mean difference"),
        (3, "r0", "metric run mean difference"),
        (4, "r0", "metric run mean difference"),
        (4, None, "run cg"),
    ],
)
def test_one_table_is_printed(runs, baseline, heads):
    """For all pairs of more than three runs, the table for papers is printed; otherwise, the table of differences."""
    random = np.random.default_rng(0)
    values = {f"r{run}": random.random(20) / 2 for run in range(runs)}
    tests = comparison(values, metric="cg").test(baseline, flips=99)
    title, table, *_ = tests.table().split("\n\n")
    assert title.endswith(": 20 queries, paired")
    assert " ".join(table.split()).startswith(heads)
    assert len([block for block in tests.table().split("\n\n") if "---" in block]) == 1
    assert "effect" not in tests.table()
    best = max(values, key=lambda name: values[name].mean())
    assert f"{values[best].mean():.4f}*" in table
    assert tests._repr_html_().count("<table") == 1


def test_printed_table_names_each_metric_once_and_marks_the_best_means():
    runs = {f"r{run}": {"cg": [0.1 * run] * 8, "ap": [0.1 * run] * 8} for run in range(3)}
    tests = comparison(runs).test("r0")
    _, table, *_ = tests.table().split("\n\n")
    assert [line.split()[:3] for line in table.splitlines()[2:]] == [
        ["cg", "r0", "0.0000"],
        ["r1", "0.1000", "+0.1000"],
        ["r2", "0.2000*", "+0.2000"],
        ["ap", "r0", "0.0000"],
        ["r1", "0.1000", "+0.1000"],
        ["r2", "0.2000*", "+0.2000"],
    ]
