"""Facts that are stated in two places must agree; a test fails if a change misses one of the places."""

import inspect
import re
from importlib import import_module
from types import BuiltinFunctionType, FunctionType

import pytest
from support import ROOT, textbook

import rankgain as rg
from rankgain import _backend, _codes, errors
from rankgain._reference.program import TERM_FUNCTIONS
from rankgain.metrics import families as terms
from rankgain.metrics.metric import parse
from rankgain.metrics.table import TABLE
from rankgain.results import calculation

# Term families that a calculation can show
SHOWN = {*calculation.TERMS, *calculation.OVER_RANKS, *calculation.OVER_IDEAL}
OF_THE_CPU = {"use_cpu", "lanes"}  # only compiled loops depend on the CPU


def signatures(module):
    """Yield the public functions and methods of a module in either backend, with their parameters."""
    for name, value in vars(module).items():
        if name[:1] == "_" or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, (FunctionType, BuiltinFunctionType)):
            yield name, list(inspect.signature(value).parameters)
        elif isinstance(value, type):
            methods = {method: its for method, its in vars(value).items() if method[:1] != "_"}
            for method in (method for method, its in methods.items() if callable(its) or isinstance(its, staticmethod)):
                yield f"{name}.{method}", list(inspect.signature(getattr(value, method)).parameters)


@pytest.mark.both
@pytest.mark.parametrize("compiled", _backend.COMPILED)
def test_reference_has_every_function_of_the_kernels(compiled):
    parts = [part for part in _backend.COMPILED_PARTS if _backend.module_of(part, "compiled") == compiled]
    reference = {
        name: parameters
        for part in parts
        for name, parameters in signatures(import_module(_backend.module_of(part, "python")))
    }
    ours = {name: names for name, names in signatures(import_module(compiled)) if name not in OF_THE_CPU}
    assert ours
    assert {name: reference.get(name) for name in ours} == ours


@pytest.mark.checkout
def test_cython_names_the_same_numbers():
    source = (ROOT / "src" / "rankgain" / "_codes.pxd").read_text()
    in_cython = dict(re.findall(r"^    ([A-Z_0-9]+) = (\d+)$", source, re.MULTILINE))
    ours = {name: str(value) for name, value in vars(_codes).items() if name.isupper() and name != "UNLIMITED"}
    assert in_cython == ours


def families():
    """Return the names of the term families in the order of their codes; the gain families follow in the module."""
    names = list(vars(_codes))
    return names[names.index("DISCOUNTED_SUM") : names.index("NO_GAIN")]


@pytest.mark.checkout
@pytest.mark.parametrize("family", families())
def test_family_of_terms_is_complete(family):
    """A family needs a Term, a reference function, a branch in the kernel, a metric that uses it, and a description."""
    kernel = (ROOT / "src" / "rankgain" / "_compiled" / "program.pxi").read_text()
    code = getattr(_codes, family)
    used = {term.family for name, row in TABLE.items() for term in row.terms(rg.metric(name))}
    missing = [
        where
        for where, present in {
            f"a function {family.lower()} in metrics/families.py": callable(getattr(terms, family.lower(), None)),
            f"a registered function {family.lower()} in _reference": code in TERM_FUNCTIONS,
            f"a branch for {family} in compute_term of _compiled/program.pxi": f"term.family == {family}" in kernel,
            "a row of metrics/table.py that uses it": code in used,
            "its words in TERMS of results/calculation.py, or OVER_RANKS": code in SHOWN,
        }.items()
        if not present
    ]
    assert not missing


def test_every_error_code_has_a_message():
    names = list(vars(_codes))
    codes = [getattr(_codes, name) for name in names[names.index("NAN_GRADE") : names.index("IN_JUDGED")]]
    assert codes == list(range(1, len(codes) + 1))
    assert errors._TEXTS.keys() == set(codes)
    assert max(codes) < _codes.IN_JUDGED


def test_every_metric_is_complete():
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


def test_version_is_the_same_in_both_places():
    from importlib.metadata import version

    assert rg.__version__ == version("rankgain")
