"""Recommended and relevant ids that are rejected, and unusual ids that are accepted."""

import collections
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.evaluating import evaluate_recommendations
from support.marks import in_one_case
from support.rejections import masked

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400
NULLS = None, nan, pd.NA, pd.NaT
TWO = [["a", "b"], ["b"]]

RECOMMENDED = [  # in messages, {type} stands for the type of the value
    ("must hold lists of ids, best first…not {type}", TypeError, "abc", 5, None, {1, 2}, np.array(1), len),
    ("not csr_matrix: relevant ids come first: write from_rec", TypeError, sparse.csr_matrix([[0, 1]])),
    ("1 or 2 dimensions, not 3", ValueError, np.ones((1, 1, 1), dtype=int)),
    ("query 0: must be a list of ids, best first, not", TypeError, *([v] for v in (None, 2.5, {1, 2}, {1: 2}))),
    ("query 0: must be a list of ids, best first, not range", TypeError, [range(3)]),
    ("query 1: must be a list of ids, best first, not str", TypeError, [["a"], "ab"], [["a"], "ab", 5]),
    ("query 1: must be a list of ids, best first, not an array of 2", ValueError, [[1], np.ones((1, 1), int)]),
    ("query 0: must be a list of ids, best first, not an array of 0", ValueError, [np.array(1)]),
    ("masked", ValueError, masked(0, 1), [masked(0, 1)], np.ma.masked_array([[1, 2]], [[0, 1]])),
    ("query 1, position 1…all int, and this one is int", TypeError, [["a"], ["b", 1]], [["a"], ("b", np.int8(1))]),
    ("query 1, position 1…all int, and this one is str", TypeError, [[1], [2, "1"]]),
    ("query 0, position 1…all int, and this one is float", TypeError, [[1, 2.5]], [[1, 2.0], [1]]),
    ("query 0, position 0…all int, and this one is float", TypeError, [[1.0]]),
    ("must hold lists of ids, best first…not ndarray of float64", TypeError, np.ones((2, 2)), np.ones(2)),
    ("must hold lists of ids, best first…not ndarray of complex128", TypeError, np.array([[1j]])),
    ("pair of ids and scores…recommended[0]", TypeError,
     (np.ones((2, 3), int), np.ones((2, 3))), (np.ones(3, "i4"), np.ones(3))),
    ("pair of ids and scores…recommended[1]", TypeError, (np.ones((2, 3)), np.ones((2, 3), "u8"))),
    ("query 0, position 1…all int, and this one is list", TypeError, ["ab", ["a"]], [["a", ["b"]]]),
    ("query 1, position 1…null", ValueError,
     *([["a"], ["b", null, "c"]] for null in NULLS), *([[1], [2, null, 3]] for null in NULLS)),
    ("query 1, position 0…null", ValueError, [[], [None, "a"], ["b"]]),
    ("query 1, position 1…lone surrogate", ValueError, [["a"], ["b", "\ud800"]]),
    ("query 1, position 1…signed 64-bit", ValueError, [[1], [2, 2**63]], [[1], [2, -(2**63) - 1]], [[], [2, HUGE]],
     np.array([[1, 2], [3, 2**63]], dtype="u8")),
]  # fmt: skip
RELEVANT = [  # relevant ids for two users whose recommended ids are text
    ("must hold for each user a set or list of ids…not {type}", TypeError,
     None, 5, "ab", {1}, np.ones((2, 2))),
    ("must have 1 or 2 dimensions, not 3", ValueError, np.ones((1, 1, 1), int)),
    ("masked", ValueError, masked(0, 1)),
    ("query 1: must be a set or list of ids", TypeError, *([["a"], v] for v in ("ab", None, 5, range(2), iter([])))),
    ("query 1: must be a set or list…not deque", TypeError, [["a"], collections.deque("a")]),
    ("query 1: must be a set or list…not Judgments", TypeError, [["a"], rg.judgments([["a"]])]),
    ("query 1: must be a set or list…array of 2 dimensions", ValueError, [["a"], np.array([["a"]])]),
    ("query 1 has masked", ValueError, [["a"], masked(0, 1)]),
    ("all mappings from id to grade, or all sets", TypeError, [{"a": 1}, ["a"]], [["a"], {"a": 1}]),
    ("query 1, document 'a'…repeats an earlier one", ValueError, [["a"], ["b", "a", "a"]], [[], np.array(["a"] * 2)]),
    ("query 1, document 'a'…grade is NaN", ValueError, [{"a": 1}, {"b": 1, "a": nan}]),
    ("query 1, document 'a'…grade is infinite", ValueError, [{"a": 1}, {"b": 1, "a": -inf}]),
    ("query 1, document 'a'…a number", TypeError, *([{"a": 1}, {"a": v}] for v in ("1", None, [1], 1j))),
    ("query 1, document 'a'…too large for float64", ValueError, [{"a": 1}, {"a": HUGE}]),
    ("query 1, document 2…and this one is int", TypeError, [["a"], ["a", 2]], [{"a": 1}, {"b": 1, 2: 1}]),
    ("query 1, document ['b']…and this one is list", TypeError, [["a"], ["a", ["b"]]]),
    ("query 1, document None…null", ValueError, [["a"], ["a", None, "b"]]),
    ("query 1, document '\\ud800'…lone surrogate", ValueError, [["a"], ["a", "\ud800"]]),
    ("int in relevant and str in recommended; convert", ValueError, [[1], [2]], sparse.csr_array(np.eye(2))),
    ("bytes in relevant and str in recommended", ValueError, [[b"a"], [b"b"]]),
    ("recommended has 2 users, and relevant has 3", ValueError, [["a"]] * 3, [{}] * 3),
    ("recommended has 2 users, and relevant has 1", ValueError, ["b"]),
    ("relevant has keys and recommended has none…query_ids", ValueError, {"x": ["a"], "y": ["b"]}),
    ("a set or list of ids", TypeError, ["b", {"c"}]),
    # reading stops at the first error
    ("query 0, document…NaN", ValueError, [{"a": nan}, {2: nan}]),
    ("query 1, document…NaN", ValueError, [{"a": 1}, {2: nan}]),
]  # fmt: skip


@in_one_case("row", RECOMMENDED)
def test_from_recommendations_rejects_recommended(rejects, row):
    message, error, *values = row
    for value in values:
        expected = f"recommended…{message.format(type=type(value).__name__)}"
        rejects(error, expected, evaluate_recommendations, [["a"]] * 2, value)


@in_one_case("row", RELEVANT)
def test_from_recommendations_rejects_relevant(rejects, row):
    message, error, *values = row
    for value in values:
        expected = message.format(type=type(value).__name__)
        expected = expected if "recommended" in message else f"relevant…{expected}"
        rejects(error, expected, evaluate_recommendations, value, TWO)


def test_lists_by_user_are_rejected_by_key(rejects):
    for value in ("ab", {"a"}, {"a": 1}, 5):
        message = "recommended: query 'u': must be a list"
        rejects(TypeError, message, evaluate_recommendations, {"u": ["a"]}, {"u": value})
    rejects(TypeError, "relevant: query 'u': must be a set", evaluate_recommendations, {"u": 2.5}, {"u": ["a"]})


@pytest.mark.parametrize("row", [
    ([], [], {}), ([], np.zeros((0, 3), int), {}), ({"u": []}, [[]], {"query_ids": ["x"]}), ({}, {}, {}),
    ({"v": ["a"]}, {"u": ["a"]}, {}),
], ids=["lists", "matrix", "query_ids", "mappings", "keys"])  # fmt: skip
def test_sides_need_a_user_in_common(rejects, row):
    relevant, recommended, options = row
    message = "relevant and recommended have no query in common"
    rejects(ValueError, message, evaluate_recommendations, relevant, recommended, **options)


def test_users_of_other_types_are_named(rejects):
    rejects(ValueError, "int in relevant, str in recommended", evaluate_recommendations, {0: ["a"]}, {"u": ["a"]})


@pytest.mark.parametrize("row", [
    ("'a'", [["a"]], [["a", "a"]], {}), ("'b'", [["a"]], [["b", "b"]], {"validate": "full"}),
    ("'c'", ["c"], ["c", "c"], {}),
])  # fmt: skip
def test_recommended_ids_that_repeat_are_rejected(rejects, row):
    document, relevant, recommended, options = row
    message = f"recommended: query 0, document {document} (position 1)…repeats an earlier…keep one"
    rejects(ValueError, message, evaluate_recommendations, relevant, recommended, **options)


@pytest.mark.parametrize("row", [
    ("query_ids…2 queries", ValueError, {"query_ids": ["x"]}),
    ("query_ids…repeats an earlier id", ValueError, {"query_ids": ["x", "x"]}),
    ("query_ids…2 queries", ValueError, {"query_ids": ["x", "y", "z"]}),
    ("query_ids", TypeError, {"query_ids": 5}),
    ("missing must", ValueError, {"missing": "x"}),
    ("validate must", ValueError, {"validate": ["full"]}),
    ("duplicates must be 'error' or 'first'", ValueError, {"duplicates": True}),
])  # fmt: skip
def test_from_recommendations_rejects_an_option(rejects, row):
    message, error, options = row
    rejects(error, message, evaluate_recommendations, [["a"], ["b"]], TWO, **options)
    if error is ValueError and "query_ids" in options:
        rejects(error, message, evaluate_recommendations, {"x": ["a"], "y": ["b"]}, TWO, **options)


# Sparse matrices


def matrix(indptr=(0, 2, 3), indices=(1, 2, 0), data=(1.0, 2.0, 3.0)):
    result = sparse.csr_matrix(np.array([[0, 1, 2], [3, 0, 0]]))
    result.indptr, result.indices, result.data = np.array(indptr, "i4"), np.array(indices, "i4"), np.array(data)
    return result


def outside(column):
    return sparse.csr_array(([1.0], [column], [0, 1, 1]), (2, 2))


BROKEN = "relevant is a broken sparse matrix"


@pytest.mark.parametrize("row", [
    (BROKEN, ValueError, *(matrix(indptr) for indptr in [
        (0, 99, 100), (0, 2**31 - 1, 3), (0, 2, 1), (-5, 2, 3), (1, 2, 3), (0, 2, 4), (),
    ]), matrix(data=[1.0]), matrix(indices=[1])),
    ("relevant is a broken…: its indices point outside its 2 columns", ValueError,
     outside(-1), outside(2), outside(100)),
    ("relevant: query 0, document 1…repeats an earlier", ValueError, matrix(indices=[1, 1, 0])),
    ("relevant: query 1, document 0…NaN", ValueError, matrix(data=[1, 2, nan])),
    ("relevant must hold real numbers, not complex128", TypeError, matrix(data=np.ones(3, complex))),
    ("relevant must hold real numbers, not object", TypeError, matrix(data=np.ones(3, object))),
])  # fmt: skip
def test_sparse_matrices_are_rejected(rejects, row):
    message, error, *values = row
    for relevant in values:
        rejects(error, message, evaluate_recommendations, relevant, [[1, 2], [0]])


def test_sparse_matrices_need_a_row_per_user(rejects):
    rejects(ValueError, "recommended has 1 users, and relevant has 2", evaluate_recommendations, matrix(), [[1]])


# Accepted ids


@pytest.mark.parametrize("row", [
    ([0.0, 0.0], [["a"], []], [[], []], {}),
    ([0.0, 0.0], [[1], [2]], np.zeros((2, 0), int), {}),
    ([0.0, 1.0], [[1], [1]], np.array([[-1, 1], [1, -1]]), {}),
    ([1.0, 0.0], {"a": [1], "c": [1]}, {"b": [2], "a": [1]}, {}),
    ([1.0], {"a": [1], "c": [1]}, {"b": [2], "a": [1]}, {"missing": "skip"}),
    ([0.5], [{1}], [[2, 1]], {}),
    ([1.0, 0.0], sparse.csr_array(([1], ([0], [2**40])), (2, 2**40 + 1)), [[2**40], [5]], {}),
], ids=["no ids", "no columns", "padding", "missing", "skipped", "set", "wide matrix"])  # fmt: skip
def test_odd_recommendations_are_accepted(gives, row):
    values, relevant, recommended, options = row
    gives([values], evaluate_recommendations, relevant, recommended, metrics=["rr"], **options)


def test_negative_grades_of_relevant_ids_are_unjudged(gives):
    gives([[1 / math.log2(3)]], evaluate_recommendations, [{"a": 1, "b": -1}], [["x", "a"]], metrics=["ndcg"])


@pytest.mark.parametrize(("missing", "queries"), [("zero", 2), ("skip", 1)])
def test_users_that_are_missing_are_counted(backend, missing, queries):
    sides = {"a": [1], "c": [1]}, {"a": [1], "x": [2], "y": [2]}
    result = rg.from_recommendations(*sides, missing=missing).evaluate("rr")
    assert result.counts == {"queries": queries, "missing": 1, "unjudged": 2, "empty": 0}
    assert list(result.query_ids) == ["a", "c"][:queries]


def test_many_relevant_ids_of_few_recommended_ones(gives):
    """If either side has many ids, columns are used instead of dicts."""
    gives([[1 / 2], [1 / 5000]], evaluate_recommendations, [[*range(5000)]], [[-1, 7]], metrics=["rr", "recall"])


def test_iterators_of_lists_are_read(backend):
    rankings = rg.from_recommendations(iter([{"a"}, {"b"}]), iter([["x", "a"], ["b"]]))
    assert rankings.evaluate("rr")["rr"].tolist() == [0.5, 1.0]


def test_errors_name_the_argument_of_the_call(rejects, tmp_path):
    rejects(ValueError, "run has 1 users, and truth has 2", rg.evaluate, [{"a"}, {"b"}], [["a"]], "rr")
    rejects(ValueError, "truth has keys and run has none", rg.evaluate, {"q": ["a"]}, [["a"]], "rr")
    file = tmp_path / "run.json"
    file.write_text('{"q": ["a", "a"]}')
    rejects(ValueError, f"{file}: query 'q', document 'a' (position 1)", rg.evaluate, {"q": ["a"]}, file, "rr")
    rejects(ValueError, "run is empty: …write {query: [] for query in truth}", rg.evaluate, {"q": ["a"]}, [], "rr")
