"""Letters: two runs share one exactly where the test does not tell them apart."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_runs import comparison

from rankgain.comparison.letters import letters_of


def shared(letters, one, other):
    return bool(set(parts(letters[one])) & set(parts(letters[other])))


def parts(text):
    import re

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


def test_more_letters_than_there_are():
    runs = [f"r{run}" for run in range(60)]
    letters = letters_of(runs, {frozenset(pair) for pair in itertools.combinations(runs, 2)})
    assert [letters["r0"], letters["r25"], letters["r26"], letters["r59"]] == ["a", "z", "a1", "h2"]


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
    assert tests.matrix()[1][0] == "hi"
    assert tests.matrix(2)[0] == ["run", "cg", "unjudged@10"]
    assert len(tests.matrix(2)) == 3
    assert "runs that share a letter are not told apart" in tests.table()
    assert "runs that share a letter are not told apart" in tests.to_markdown()
    assert tests.to_latex().count("tabular") == 4
    assert "not told apart" in tests._repr_html_()
    against = comparison(both).test("lo", flips=999)
    assert against.matrix() == []
    assert "share a letter" not in against.table()
    with pytest.raises(ValueError, match=r"^letters are for all pairs: test without a baseline$"):
        against.letters("cg")
    with pytest.raises(KeyError, match="ap was not tested"):
        tests.letters("ap")
