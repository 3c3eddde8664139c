"""Public docstrings have the required sections, and the lists in them match the tables."""

import ast
import inspect
import re
from contextlib import suppress
from importlib.util import find_spec
from operator import attrgetter
from textwrap import dedent
from typing import get_args

import pytest
from support import metric_table
from support.marks import in_one_case
from support.public_names import public_objects

import rankgain as rg
from rankgain import batches, choices
from rankgain.metrics.aggregators import geometric_mean, mean, total
from rankgain.metrics.table import TABLE
from rankgain.results.export import Frames
from rankgain.results.peers import PEERS
from rankgain.results.text import Tables
from rankgain.tools.scorers import Scorer

# Functions that raise no errors of their own.
NEVER_RAISE = {"pytrec_eval.compute_aggregated_measure", "Tests.rows", "Tests.matrix"}
CALLED_BY_LIBRARIES = {"Scorer.get_metadata_routing"}


def documented():
    """Yield (qualified name, object) pairs of all public functions, classes, methods and properties."""
    objects = public_objects() | {"Scorer": Scorer, "Frames": Frames, "Tables": Tables}
    for name, value in objects.items():
        if not callable(value):
            continue
        yield name, value
        if isinstance(value, type):
            for method, member in vars(value).items():
                member = inspect.unwrap(member.__func__) if isinstance(member, (staticmethod, classmethod)) else member
                if method[:1] != "_" and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"{name}.{method}", member


CHOICES = {name for name, kind in vars(choices).items() if get_args(kind)} - {"Peer", "PeerOrOwn"}
PUBLIC = {name: value for name, value in documented() if name not in CALLED_BY_LIBRARIES}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}


def sections(value):
    """Return the sections of a docstring by title, in order. The text before the first title has the key ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(text):
    """Return the entries of a section as (head, text) pairs."""
    matches = re.findall(r"^(\S.*)\n((?:(?:[ ]+.*)?\n?)*)", text, re.MULTILINE)
    return [(head, body.strip()) for head, body in matches]


# Checks of numpydoc that public docstrings need not pass. The checks in OF_FUNCTIONS apply only to functions.
NOT_ASKED = {"ES01", "SA01", "SA03", "PR04", "PR09", "RT02"}
OF_FUNCTIONS = {"EX01", "PR01"}


@pytest.mark.checkout
@pytest.mark.needs("numpydoc")
@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_follows_numpydoc(name):
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import validate

    left_out = NOT_ASKED if name in FUNCTIONS else NOT_ASKED | OF_FUNCTIONS
    errors = [error for error in validate(get_doc_object(PUBLIC[name]))["errors"] if error[0] not in left_out]
    refused = [("PR01", f"Parameters {{'{taken}'}} not documented") for taken in ("*more", "*scores")]
    assert [error for error in errors if error not in refused] == []


@in_one_case("name", [*FUNCTIONS, "batches.BatchOptions"])
def test_docstring_states_optional_parameters_and_choices(name):
    function = PUBLIC[name]
    parameters = inspect.signature(function).parameters
    assert "unknown" not in parameters
    for head, _ in entries(sections(function).get("Parameters", "")):
        for parameter in (parameters[own.lstrip("*")] for own in head.partition(" : ")[0].split(", ")):
            if parameter.default is None:
                assert "optional" in head or " or None" in head, head
            elif parameter.default is not parameter.empty:
                assert "default" in head, head
                if "default " in head:
                    assert eval(head.partition("default ")[2], vars(batches)) == parameter.default, head
            for kind in CHOICES & {*re.findall(r"\w+", str(function.__annotations__[parameter.name]))}:
                listed = re.findall(r"[\w-]+", re.search(r"\{(.*)\}", head)[1])
                assert set(listed) == set(map(str, get_args(getattr(choices, kind)))), head


@in_one_case("name", FUNCTIONS)
def test_docstring_states_when_each_error_is_raised(name):
    parts = sections(FUNCTIONS[name])
    tree = ast.parse(dedent(inspect.getsource(FUNCTIONS[name])))
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(tree))
    if (raises or "Parameters" in parts) and name not in NEVER_RAISE:
        assert "Raises" in parts
    for head, text in entries(parts.get("Raises", "")):
        assert re.fullmatch(r"[A-Z]\w*Error(, [A-Z]\w*Error)*", head), head
        assert re.match(r"(If|In|When)\b", text), text


def resolved(other, name):
    """Look up a See Also name in the package, in the documented class or its module, and among all modules."""
    module = inspect.getmodule(PUBLIC[name])
    for scope in (rg, getattr(rg, name.partition(".")[0], None), module):
        with suppress(AttributeError):
            return attrgetter(other.removeprefix("rankgain."))(scope)
    return find_spec(other)


@in_one_case("name", PUBLIC)
def test_see_also_names_what_exists(name):
    for head, _ in entries(sections(PUBLIC[name]).get("See Also", "")):
        for other in head.partition(" : ")[0].split(", "):
            assert resolved(other, name), other


def test_lists_of_metrics_are_those_of_the_table():
    assert metric_table.lists() in inspect.getdoc(rg.metric)  # if this fails, run docs/generate.py


def test_aggregate_names_each_metric_that_is_not_averaged():
    text = inspect.getdoc(rg.Evaluation.aggregate)
    for name, row in TABLE.items():
        assert row.aggregator in (mean, total, geometric_mean), "say in aggregate's docstring what this does"
        assert (f"``{name}``" in text) == (row.aggregator is not mean), name


def test_evaluate_names_each_peer():
    text = sections(rg.Rankings.evaluate)["Parameters"].partition("like : ")[2].partition("given : ")[0]
    assert re.findall(r'``"([^"]+)"``', text) == list(PEERS)
