"""The list of mutants fits the sources; whether they are caught is for `.ci/deep mutants`."""

import re
from pathlib import Path

import pytest
from support import mutants
from support.marks import in_one_case

pytestmark = pytest.mark.checkout
LIST = list(mutants.mutants())


@in_one_case("mutant", LIST)
def test_each_stands_once_in_its_file(mutant):
    mutants.mutated(mutants.source(mutants.ROOT, mutant).read_text(), mutant)


def test_each_names_tests_that_there_are():
    for test in {test for mutant in LIST for test in mutant.tests.split()}:
        file, *names = mutants.file_of(test).split("::")
        text = Path(mutants.ROOT, "tests", file).read_text()
        assert all(re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE) for name in names), test


def test_there_are_some_of_each_layer():
    files = {mutant.file for mutant in LIST}
    assert len(LIST) >= 300
    kernels = {f"_compiled/{name}" for name in ("program.pxi", "walk.pyx", "lists.pxi", "ordering.pxi")}
    assert files >= {*kernels, "metrics/program.py", "data/source.py", "metrics/table.py"}
    assert {name.split("/")[0] for name in files} >= {"_reference", "inputs"}
