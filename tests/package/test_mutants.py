"""The lists of mutants fit the sources; whether the tests notice them is for `.ci/deep mutants`."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from support import mutants, places

pytestmark = pytest.mark.checkout


@pytest.fixture(scope="module")
def listed():
    return list(mutants.listed())


def test_those_that_stand_alone_name_tests_that_there_are(listed):
    for mutant in listed:
        assert bool(mutant.tests and mutant.backend) == (mutant.edit is None), mutant
    for test in {test for mutant in listed for test in mutant.tests.split()}:
        file, *names = mutants.file_of(test).split("::")
        text = Path(mutants.ROOT, "tests", file).read_text()
        assert all(re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE) for name in names), test


def test_there_are_some_of_each_layer(listed):
    files = {mutant.file for mutant in listed}
    assert len(listed) >= 300
    kernels = {f"_compiled/{name}" for name in ("program.pxi", "walk.pyx", "lists.pxi", "ordering.pxi")}
    assert files >= {*kernels, "metrics/program.py", "data/source.py", "metrics/table.py"}
    assert {name.split("/")[0] for name in files} >= {"_reference", "inputs"}


def test_equivalent_ones_can_be_drawn():
    unknown = set(mutants.equivalents()) - set(map(str, mutants.candidates()))
    assert not unknown, "the sources have changed: these are no mutants of them"


def test_all_stand_in_one_text(listed):
    """Each is one of its file that are switched on when it runs; what they stand in is still Python."""
    together = [mutant for mutant in listed if mutant.edit]
    together += mutants.drawn(1, 500, [], together)
    edits = defaultdict(list)
    for number, mutant in enumerate(together):
        edits[mutant.file].append((number, mutant.edit))
    for file, numbered in edits.items():
        text = places.switched(mutants.source(file), numbered)
        assert all(f"rankgain_mutant({number})" in text for number, _ in numbered)
        if file.endswith(".py"):
            ast.parse(text)


SOURCE = """\
def first(values, least=0):
    for index, value in enumerate(values):
        if value >= least and index not in skipped:
            return index + 1
    return -1
"""
COMPILED = """\
cdef struct Row:
    double values[2]

cdef Py_ssize_t rank(const double* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t most = <Py_ssize_t>n - 1
    return &scores[most] - scores
"""


def drawn(text, compiled):
    return {places.described(text, line, edit) for line, edit in places.edits(text, compiled)}


def test_what_is_drawn():
    assert drawn(SOURCE, False) == {
        "def first(values, least={0 → 1}):",
        "if value {>= → >} least and index not in skipped:",
        "if value >= least {and → or} index not in skipped:",
        "if value >= least and index {not → } in skipped:",
        "return index {+ → -} 1",
        "return index + {1 → 2}",
        "{return index + 1 → pass}",
        "return {- → +}1",
        "return -{1 → 2}",
        "{return -1 → pass}",
    }


def test_what_is_drawn_of_the_compiled_half():
    """Neither types nor addresses nor sizes."""
    assert drawn(COMPILED, True) == {
        "cdef Py_ssize_t most = <Py_ssize_t>n {- → +} 1",
        "cdef Py_ssize_t most = <Py_ssize_t>n - {1 → 2}",
        "return &scores[most] {- → +} scores",
        "{return &scores[most] - scores → pass}",
    }


@pytest.mark.parametrize("chosen", range(11))
def test_one_acts_at_a_time(chosen):
    numbered = [(number, edit) for number, (_, edit) in enumerate(places.edits(SOURCE, False), 1)]
    names = {"skipped": {2}, "rankgain_mutant": lambda number: number == chosen}
    exec(places.switched(SOURCE, numbered), names)
    asked = [([5, 0], 5), ([5, 6, 7], 7), ([1, 2, 9], 8), ([-1],), ([0],)]
    answers = [names["first"](*own) for own in asked]
    assert (answers == [1, -1, -1, -1, 1]) == (chosen == 0)
