"""Run the examples in the docstrings; test_pages.py runs the examples on the documentation pages."""

import doctest
import importlib.util
import pkgutil
from pathlib import Path

import pytest
from support.examples import FLAGS, Parser
from support.marks import in_one_case

import rankgain

pytestmark = pytest.mark.usefixtures("backend")

# Compiled modules, and modules that cannot be imported without matplotlib or a compiler.
LEFT_OUT = ["rankgain._compiled.", "rankgain.results.plotting", "rankgain.comparison.plotting"]
LEFT_OUT += ["rankgain.spark"]  # needs a Spark session; tests/spark runs its examples
LEFT_OUT += ["rankgain.tools.pyinstaller.hook-rankgain"]  # run by PyInstaller
LEFT_OUT += [] if importlib.util.find_spec("torchmetrics") else ["rankgain.torchmetrics"]
LEFT_OUT += [] if importlib.util.find_spec("pyarrow") else ["rankgain.batches"]
LEFT_OUT += [] if importlib.util.find_spec("rankgain._compiled.walk") else ["rankgain.capi"]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(rankgain.__path__, "rankgain.")
    if not module.name.startswith(tuple(LEFT_OUT))
]


def docstrings(name, **options):
    """Return the doctests of a module, including public classes whose `__module__` is the package."""
    module, finder = importlib.import_module(name), doctest.DocTestFinder(**options)
    tests = finder.find(module)
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == "rankgain" and f"class {value.__name__}" in source(module):
            tests += finder.find(value, module=False, globs=dict(vars(module)))
    return tests


def source(module):
    file = getattr(module, "__file__", None) or ""
    return Path(file).read_text(encoding="utf-8") if file.endswith(".py") else ""


@in_one_case("name", MODULES)
def test_docstring_examples_run(name, monkeypatch):
    # For each docstring, doctest would ask for the time of every source file that a traceback has shown.
    monkeypatch.setattr("linecache.checkcache", lambda filename=None: None)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in docstrings(name, parser=Parser()):
        assert runner.run(test).failed == 0


def test_docstring_examples_are_collected():
    examples = {name: sum(len(test.examples) for test in docstrings(name, exclude_empty=True)) for name in MODULES}
    assert examples["rankgain.functions"] >= 9
    assert examples["rankgain.results.evaluation"] >= 9
    assert sum(examples.values()) > 30
