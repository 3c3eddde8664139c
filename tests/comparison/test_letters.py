"""Letters: two runs share one exactly where the test does not tell them apart."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_runs import comparison

from rankgain.comparison.tables import letters_of


def shared(letters, one, other):
    return bool(set(parts(letters[one])) & set(parts(letters[other])))


def parts(text):
    return re.findall(r"[a-z]\d*", text)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n * (n - 1) // 2)))))
def test_any_relation(given):
    count, chosen = given
    runs = [f"r{run}" for run in range(count)]
    pairs = [frozenset(pair) for pair in itertools.combinations(runs, 2)]
    apart = {pair for number, pair in enumerate(pairs) if number in chosen}
    letters = letters_of(runs, apart)
    assert all(letters.values())
    for pair in pairs:
        assert shared(letters, *pair) == (pair not in apart)


def test_runs_that_differ_by_their_distance_have_letters_in_a_row():
    runs = list("uvwxyz")
    apart = {frozenset((a, b)) for a, b in itertools.combinations(runs, 2) if abs(ord(a) - ord(b)) > 2}
    assert letters_of(runs, apart) == {"u": "a", "v": "ab", "w": "abc", "x": "bcd", "y": "cd", "z": "d"}
    assert letters_of(runs, set()) == dict.fromkeys(runs, "a")
    everyone = {frozenset(pair) for pair in itertools.combinations(runs, 2)}
    assert letters_of(runs, everyone) == dict(zip(runs, "abcdef", strict=True))


@pytest.mark.usefixtures("backend")
def test_those_of_a_comparison():
    random = np.random.default_rng(0)
    base = random.random(60) * 0.3
    runs = {name: base + shift + random.normal(0, 0.02, 60) for name, shift in (("lo", 0.1), ("mid", 0.1), ("hi", 0.5))}
    both = {name: {"cg": own, "unjudged@10": own} for name, own in runs.items()}
    tests = comparison(both).test(flips=999)
    for metric in ("cg", "unjudged@10"):
        letters = tests.letters(metric)
        for key, its in tests.items():
            if key[0] == metric:
                assert shared(letters, its.run, its.baseline) != its.decided
    assert next(iter(tests.letters("unjudged@10").values())) == "a"
    assert next(iter(tests.letters("unjudged@10"))) == "hi"


@pytest.mark.usefixtures("backend")
def test_the_table_for_papers():
    """The best is marked, and letters name whom a run is better than, with and without a baseline."""
    random = np.random.default_rng(0)
    base = random.random(60) * 0.3
    runs = {name: base + shift + random.normal(0, 0.02, 60) for name, shift in (("lo", 0.1), ("mid", 0.1), ("hi", 0.5))}
    both = comparison({name: {"cg": own, "unjudged@10": own} for name, own in runs.items()})
    tests = both.test(flips=999)
    means = {name: f"{own.mean():.4f}" for name, own in runs.items()}
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


@pytest.mark.usefixtures("backend")
def test_the_table_for_papers_of_many_runs():
    random = np.random.default_rng(0)
    tests = comparison({f"r{run}": random.random(20) + run for run in range(50)}, metric="cg").test(flips=99)
    assert len(tests.matrix()) == 51
    assert {row[0] for row in tests.matrix()} == {""}
    assert "… and 10 more runs: matrix() has all" in tests.table()
    assert "Letters at a mean" not in tests.table()
    assert "No letters, which name at most 15 runs: the differences say" in tests.table()
