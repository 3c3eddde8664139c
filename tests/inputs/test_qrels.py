"""Dicts of dicts that are rejected as qrels or as a run."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pytest
from support.evaluating import evaluate_qrels

nan, inf, HUGE = math.nan, math.inf, 10**400
GOOD = {"q": {"d": 1}}


class NotConvertible:
    """A number whose conversion to float raises an error."""

    def __float__(self):
        raise ValueError("no")


NUMBERS = [  # used as a grade and as a score; in messages, {type} stands for the type of the value
    ("a number, not {type}; convert numbers in text first, float(value) or frame", TypeError, "1", b"1"),
    ("a number, not {type}", TypeError, bytearray(b"1"), np.str_("1"), None, 1j, [1], np.array([1]), np.ones(2),
     datetime.timedelta(1), np.datetime64("2020"), np.complex128(1), np.ma.masked, Decimal("sNaN"),
     object(), NotConvertible()),
    ("the number is too large for float64", ValueError, HUGE),
    ("NaN", ValueError, nan, np.float32(nan), Decimal("NaN")),
]  # fmt: skip
INFINITE = ("infinite…finite", ValueError, inf, -inf, np.float32(inf), Decimal("Infinity"))


@pytest.mark.parametrize("row", [*NUMBERS, INFINITE])
def test_qrels_reject_a_grade(rejects, row):
    message, error, *values = row
    for value in values:
        expected = f"qrels: query 'q', document 'd'…{message.format(type=type(value).__name__)}"
        rejects(error, expected, evaluate_qrels, {"p": {"d": 1}, "q": {"c": 1, "d": value}}, GOOD)


@pytest.mark.parametrize("row", NUMBERS)
def test_run_rejects_a_score(rejects, row):
    message, error, *values = row
    for value in values:
        expected = f"run: query 'q', document 'd'…{message.format(type=type(value).__name__)}"
        run = {"p": {"d": 1}, "q": {"c": 1, "d": value}}
        rejects(error, expected, evaluate_qrels, {**GOOD, "p": {"d": 1}}, run)


@pytest.mark.parametrize("value", [None, [], "q", 5, [("q", {"d": 1})], {"q"}], ids=str)
def test_sides_must_be_mappings_of_mappings(rejects, value):
    message = f"must be a mapping of mappings…{type(value).__name__}"
    rejects(TypeError, f"qrels {message}", evaluate_qrels, value, GOOD)
    rejects(TypeError, f"run {message}", evaluate_qrels, GOOD, value)


@pytest.mark.parametrize("value", [None, [("d", 1)], "d", 1, {"d"}], ids=str)
def test_documents_of_a_query_must_be_a_mapping(rejects, value):
    message = f"query 'r'…mapping…{type(value).__name__}"
    rejects(TypeError, f"qrels: {message}", evaluate_qrels, {**GOOD, "r": value}, GOOD)
    rejects(TypeError, f"run: {message}", evaluate_qrels, GOOD, {**GOOD, "r": value})


@pytest.mark.parametrize(
    ("value", "constructor"),
    [
        ({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}, "from_frames"),
        ("qrels.txt", "read_trec"),
        ([["a"]], "from_recommendations"),
        ({"q": ["a"]}, "from_recommendations"),
    ],
    ids=["columns", "path", "lists", "mapping of lists"],
)
def test_other_forms_are_answered_by_their_constructor(rejects, value, constructor):
    rejects(TypeError, f"rankgain.{constructor}(", evaluate_qrels, value, GOOD)
    rejects(TypeError, f"rankgain.{constructor}(", evaluate_qrels, GOOD, value)


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("row", [
    ("empty", {}, {}), ("empty", {}, GOOD), ("empty", GOOD, {}),
    ("common", GOOD, {"x": {"d": 1}}), ("common", {"q": {}}, {"x": {}}),
    ("str in qrels…bytes in run", GOOD, {b"q": {"d": 1}}),
    ("int in qrels…str in run", {1: {}}, {"1": {"d": 1}}),
])  # fmt: skip
def test_sides_need_a_query_in_common(rejects, row, missing):
    why, qrels, run = row
    rejects(ValueError, f"qrels and run have no query in …{why}", evaluate_qrels, qrels, run, missing=missing)


@pytest.mark.parametrize("query", [nan, np.float64("nan"), np.datetime64("NaT", "s")], ids=["nan", "float64", "NaT"])
def test_qrels_reject_a_missing_query_id(rejects, query):
    message = "qrels: position 1: the id is NaN or missing"
    rejects(ValueError, message, evaluate_qrels, {"a": {"d": 1}, query: {"d": 1}}, {"a": {"d": 1}})


@pytest.mark.parametrize(("judged", "returned"), [(1, "1"), ("1", 1), ("1", b"1")], ids=["int", "str", "bytes"])
def test_document_ids_of_other_types_are_rejected(rejects, judged, returned):
    message = f"query 'q'…ids are of other types…{type(judged).__name__} in qrels…{type(returned).__name__} in run"
    sides = {"q": {judged: 1}, "p": {"d": 1}}, {"q": {returned: 1}, "p": {"d": 1}}
    rejects(ValueError, message, evaluate_qrels, *sides)


TIED = "run: query 'q'…documents of equal score…all str, all bytes or all int…ties='average'"


@pytest.mark.parametrize("ids", [(1, "2"), ("1", b"2"), ((1,), (2,)), (1.5, 2.5), ("a", None), (1, 2.5)], ids=str)
def test_tied_documents_need_ids_of_one_type(rejects, ids):
    rejects(TypeError, TIED, evaluate_qrels, {"q": {ids[0]: 1}}, {"q": dict.fromkeys(ids, 1)})


def test_tied_documents_at_the_cutoff_need_ids_of_one_type(rejects):
    sides = {"q": {1: 1, 3: 1}}, {"q": {1: 0, "2": 0, 3: 5}}
    rejects(TypeError, TIED, evaluate_qrels, *sides, metrics=["ndcg@2"])
