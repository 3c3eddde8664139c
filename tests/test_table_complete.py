"""What must be said in two places is said in both: fails on whatever a change forgot."""

import ast
import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType

import metric_table
import pytest
import textbook
from wheels import ROOT

import rankgain as rg
from rankgain import _backend, _codes, errors
from rankgain.definitions import TABLE
from rankgain.metrics import parse

PACKAGE = Path(rg.__file__).parent
REFERENCES = {
    compiled: [python for other, python in _backend.PARTS.values() if other == compiled]
    for compiled in _backend.COMPILED
}


def stubs(module):
    """The functions and methods that the stub of a compiled module declares, with the names of their parameters."""
    tree = ast.parse((PACKAGE / f"{module.rpartition('.')[2]}.pyi").read_text())
    bodies = {"": tree.body} | {f"{node.name}.": node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    return {
        prefix + node.name: [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        for prefix, body in bodies.items()
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
    }


def signatures(module, names):
    held = import_module(module)
    return {name: list(inspect.signature(attrgetter(name)(held)).parameters) for name in names}


def public(module):
    """The functions, and the methods of the classes, that a compiled module holds."""
    for name, value in vars(module).items():
        if isinstance(value, BuiltinFunctionType) and value.__module__ == module.__name__:
            yield name
        elif isinstance(value, type) and value.__module__ == module.__name__:
            methods = [method for method, its in vars(value).items() if callable(its) and not method.startswith("__")]
            yield from (f"{name}.{method}" for method in methods)


@pytest.mark.parametrize("compiled", _backend.COMPILED)
def test_the_reference_has_every_function(compiled):
    declared = stubs(compiled)
    assert declared
    held = {}
    for python in REFERENCES[compiled]:
        module = import_module(python)
        held |= signatures(python, [name for name in declared if hasattr(module, name.partition(".")[0])])
    assert held == declared


@pytest.mark.both
@pytest.mark.parametrize("compiled", _backend.COMPILED)
def test_the_extension_has_what_its_stub_declares_and_no_more(compiled):
    declared = stubs(compiled)
    assert signatures(compiled, declared) == declared
    assert set(public(import_module(compiled))) <= set(declared)


@pytest.mark.checkout
def test_cython_names_the_same_numbers():
    source = (ROOT / "src" / "rankgain" / "_codes.pxd").read_text()
    said = dict(re.findall(r"^    ([A-Z_0-9]+) = (\d+)$", source, re.MULTILINE))
    ours = {name: str(value) for name, value in vars(_codes).items() if name.isupper() and name != "UNLIMITED"}
    assert said == ours


def test_every_offence_is_worded():
    first, last = _codes.NAN_GRADE, _codes.ABOVE_MAX_GRADE
    codes = {value for name, value in vars(_codes).items() if name.isupper()}
    offences = set(range(first, last + 1))
    assert codes >= set(range(first, last + 1))
    assert errors._TEXTS.keys() == offences
    assert max(offences) < _codes.IN_JUDGED


def test_every_metric_has_what_a_metric_needs():
    for name, row in TABLE.items():
        assert name == row.name
        for text in (row.title, row.source, row.formula):
            assert text, name
        for alias in (name, *row.aliases):
            if row.cuts:
                assert next(parse(f"{alias}@3"))[1] == rg.metric(name, k=3)
            else:
                assert next(parse(alias))[1] == rg.metric(name)
                with pytest.raises(TypeError, match="no cut-off"):
                    next(parse(f"{alias}@3"))
        document = textbook.Doc("d", 2, 1.0)
        ties = "stable" if row.unaveraged else "average"
        value = textbook.metric(name, [document], ties=ties)
        assert 0 <= value <= row.highest
        assert rg.from_scores([2], [1.0], ties=ties).evaluate(name)[name].tolist() == [value]
        assert row.formula, name


@pytest.mark.checkout
def test_every_metric_stands_in_the_readme_and_every_public_name():
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert metric_table.page() in readme  # else: python tests/metric_table.py
    for name in set(rg.__all__) - {"__version__"}:
        assert name in readme, name


@pytest.mark.parametrize("name", [name for name in rg.__all__ if callable(getattr(rg, name))])
def test_every_public_name_is_documented(name):
    text = inspect.getdoc(getattr(rg, name)) or ""
    assert text
    if inspect.isfunction(getattr(rg, name)):
        assert "Examples\n--------\n>>> " in text


def test_the_version_stands_in_one_more_place():
    from importlib.metadata import version

    assert rg.__version__ == version("rankgain")
