"""The table for papers: a row per run, with the best mean marked and letters for the runs that it is better than."""

import re

import numpy as np
import pytest
from support.made_runs import comparison

pytestmark = pytest.mark.usefixtures("backend")


def test_paper_table_marks_the_best_and_names_the_beaten():
    """With and without a baseline."""
    random = np.random.default_rng(0)
    base = random.random(60) * 0.3
    runs = {name: base + shift + random.normal(0, 0.02, 60) for name, shift in (("lo", 0.1), ("mid", 0.1), ("hi", 0.5))}
    both = comparison({name: {"cg": values, "unjudged@10": values} for name, values in runs.items()})
    tests = both.test(flips=999)
    means = {name: f"{values.mean():.4f}" for name, values in runs.items()}
    best = min(runs, key=lambda name: runs[name].mean())
    star = {name: "*" if name == best else " " for name in runs}
    assert tests.matrix() == [
        ["", "run", "cg", "unjudged@10"],
        ["a", "lo", f"{means['lo']}   ", f"{means['lo']}{star['lo']}c"],
        ["b", "mid", f"{means['mid']}   ", f"{means['mid']}{star['mid']}c"],
        ["c", "hi", f"{means['hi']}*ab", f"{means['hi']}  "],
    ]
    table = " ".join(tests.table().split())
    assert "Best mean of each metric marked *" in table
    assert "Letters at a mean name the runs that this run is better than (adjusted p ≤ 0.05)" in table
    assert f"| c | hi | **{means['hi']}**<sup>ab</sup> | {means['hi']} |" in tests.to_markdown()
    assert f"c & hi & \\textbf{{{means['hi']}}} & \\textsuperscript{{ab}} & {means['hi']} & \\\\" in tests.to_latex()
    assert f"<b>{means['hi']}</b><sup>ab</sup>" in tests._repr_html_()
    assert "(adjusted p $\\leq$ 0.05).}" in tests.to_latex()
    assert re.search(r" & \$-\$0\.\d{4} to ", tests.to_latex())
    assert "\\caption{Two-sided paired sign-flip randomization test" in tests.to_latex()
    against = both.test("lo", flips=999)
    assert against.matrix()[0:2] == [["", "run", "cg", "unjudged@10"], ["a", "lo", *against.matrix()[1][2:]]]
    assert against.matrix()[3] == ["", "hi", f"{means['hi']}*a", f"{means['hi']} "]


def test_paper_table_of_many_runs_has_no_letters():
    random = np.random.default_rng(0)
    tests = comparison({f"r{run}": random.random(20) + run for run in range(50)}, metric="cg").test(flips=99)
    assert len(tests.matrix()) == 51
    assert {row[0] for row in tests.matrix()} == {""}
    assert "… and 10 more runs: matrix() has all" in tests.table()
    assert "Letters at a mean" not in tests.table()
    assert "No letters, which name at most 15 runs: the differences say" in tests.table()
