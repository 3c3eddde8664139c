"""The tool that draws mutants, and its list of those that cannot be; what the tests notice: `.ci/deep mutants`."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from support import mutants, places

pytestmark = pytest.mark.checkout


def test_the_list_fits_the_sources_and_names_tests_that_there_are():
    listed = list(mutants.listed())
    assert all(mutant.backend for mutant in listed)
    assert {mutant.file.endswith(".h") or mutant.backend == mutants.SANITIZED for mutant in listed} == {True}
    for test in {test for mutant in listed for test in mutant.tests.split()}:
        file, *names = mutants.file_of(test).split("::")
        text = Path(mutants.ROOT, "tests", file).read_text()
        assert all(re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE) for name in names), test


def test_all_stand_in_one_text():
    """Each is one of its file that are switched on when it runs; what they stand in is still Python."""
    edits = defaultdict(list)
    for number, mutant in enumerate(mutants.drawn("1", 500, [])):
        edits[mutant.file].append((number, mutant.edit))
    for file, numbered in edits.items():
        text = places.switched(mutants.source(file), numbered)
        assert all(f"rankgain_mutant({number})" in text for number, _ in numbered)
        if file.endswith(".py"):
            ast.parse(text)


SOURCE = """\
def first(values, least=1):
    for index in range(least, len(values)):
        if values[index] >= least and index not in skipped[least:]:
            return max(index, least, key=abs)
    return -1
"""
COMPILED = """\
cdef struct Row:
    double values[2]

cdef Py_ssize_t rank(const double* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t most = <Py_ssize_t>n - 1
    return &scores[most] - least(scores, n)
"""


def drawn(text, compiled):
    return {places.described(text, line, edit) for line, edit in places.edits(text, compiled)}


def test_what_is_drawn():
    assert drawn(SOURCE, False) == {
        "def first(values, least={1 → 2}):",
        "def first(values, least={1 → 0}):",
        "for index in range({least → least + 1}, len(values)):",
        "for index in range({least → least - 1}, len(values)):",
        "for index in range(least, {len(values) → len(values) + 1}):",
        "for index in range(least, {len(values) → len(values) - 1}):",
        "if values[index] {>= → >} least and index not in skipped[least:]:",
        "if values[index] >= least {and → or} index not in skipped[least:]:",
        "if values[index] >= least and index {not → } in skipped[least:]:",
        "if values[index] >= least and index not in skipped[{least → least + 1}:]:",
        "if values[index] >= least and index not in skipped[{least → least - 1}:]:",
        "return max(index, least{, key=abs → })",
        "{return max(index, least, key=abs) → pass}",
        "return {- → +}1",
        "return -{1 → 2}",
        "return -{1 → 0}",
        "{return -1 → pass}",
    }


def test_what_is_drawn_of_the_compiled_half():
    """Neither types nor addresses nor sizes."""
    assert drawn(COMPILED, True) == {
        "cdef Py_ssize_t most = <Py_ssize_t>n {- → +} 1",
        "cdef Py_ssize_t most = <Py_ssize_t>n - {1 → 2}",
        "cdef Py_ssize_t most = <Py_ssize_t>n - {1 → 0}",
        "return &scores[most] {- → +} least(scores, n)",
        "return &scores[most] - least({scores, n → n, scores})",
        "{return &scores[most] - least(scores, n) → pass}",
    }


@pytest.mark.parametrize("chosen", range(18))
def test_one_acts_at_a_time(chosen):
    numbered = [(number, edit) for number, (_, edit) in enumerate(places.edits(SOURCE, False), 1)]
    assert len(numbered) == 17
    names = {"skipped": [3, 5, -1], "rankgain_mutant": lambda number: number == chosen}
    exec(places.switched(SOURCE, numbered), names)

    def found(*asked):
        try:
            return names["first"](*asked)
        except IndexError:
            return "beyond"

    asked = {
        ((2, -3, -1, -2, -1),): -1,
        ((3, 2, -3),): 1,
        ((3, -3, 1), 1): 2,
        ((0, -2), -1): -1,
        ((-2, 0, -3, 4),): 3,
        ((-2, 4, 4, 2, 4), -1): 1,
        ((-2, -2, -2, 4), -1): 3,
    }
    assert ([found(*own) for own in asked] == list(asked.values())) == (chosen == 0)
