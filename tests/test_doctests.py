"""The examples of the docstrings and of the README, run as they stand."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import rankgain

pytestmark = pytest.mark.usefixtures("backend")

MODULES = [
    module.name
    for module in pkgutil.walk_packages(rankgain.__path__, "rankgain.")
    if not module.name.rpartition(".")[2].startswith(("_kernels", "_ordering", "_readers"))
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


@pytest.mark.checkout
def test_readme():
    readme = Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = {
        name: sum(len(test.examples) for test in finder.find(importlib.import_module(name))) for name in MODULES
    }
    assert examples["rankgain.functions"] >= 9
    assert sum(examples.values()) > 30
