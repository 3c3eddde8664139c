"""Invalid numbers in lists of relevance, judged grades, labels and scores are rejected."""

import datetime
import math
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from support.evaluating import FUNCTIONS, OF_ONE_ARGUMENT, evaluate_scores
from support.marks import in_one_case
from support.rejections import masked

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400


class NotConvertible:
    """A number that raises an error when it is converted to a float."""

    def __float__(self):
        raise ValueError


NO_LISTS = [
    ("{type}", TypeError, ..., {1, 2}, {0: 1}, len, iter([1]), (n for n in [1]), map(float, [1])),
    ("real numbers, not <U2", TypeError, "12"),
    ("real numbers, not |S2", TypeError, b"12"),
    ("real numbers", TypeError, np.array(["1"]), np.array([b"1"]), np.array([1j]), np.array(["2020"], dtype="M8[Y]")),
    ("dimension", ValueError, 5, np.array(5), [[[1]]], np.ones((1, 1, 1)), np.ones((1, 1, 1), dtype=object)),
    ("query 1…dimension", ValueError, [[1], [1, [2]]], [[1, 2], np.ones((1, 1))]),
    ("query 1…an array of numbers", TypeError, [[1, 2], 3], [[1, 2], "12"], [[1], None], [[1], {1: 2}]),
    ("query 0…an array of numbers", TypeError, [1, [2, 3]]),
    ("position 0…a number, not str; convert numbers in text first, float(value)", TypeError, ["1", "2"], ["", 1]),
    ("position 1…a number, not str", TypeError, [1, "2"], np.array([1, "2"], dtype=object)),
    ("position 1…a number, not NoneType", TypeError, [1, None], np.array([1, None])),
    ("position 1…must be a number", TypeError, [1, Decimal("sNaN")]),
    ("position 1…a number", TypeError, [1, 2j], [1, {2}], [1, datetime.date(2020, 1, 1)], [1, NotConvertible()]),
    ("query 1…position 1…a number", TypeError, [[1, 2], [1, "2"]], [[1], [1, "2"]], [[1, 2], [1, None]]),
    ("position 1…too large", ValueError, [1, HUGE], np.array([1, -HUGE])),
    ("query 1…position 1…too large", ValueError, [[1, 2], [1, HUGE]], [[1], [1, HUGE]]),
    ("position 1…a number, not complex128", TypeError, [1.0, np.complex128(1)]),
    ("masked", ValueError,
     masked(0, 1), [masked(0, 1), masked(0)], [masked(0, 0), masked(0, 1)], [1.0, np.ma.masked]),
    ("query 1…masked", ValueError, [[1, 2], [1, np.ma.masked]]),
]  # fmt: skip


@pytest.mark.parametrize("argument", OF_ONE_ARGUMENT)
@in_one_case("row", NO_LISTS)
def test_functions_reject_other_types(rejects, argument, row):
    message, error, *values = row
    for function, value in product(OF_ONE_ARGUMENT[argument], values):
        rejects(error, f"{argument}…{message.format(type=type(value).__name__)}", function, value)


@pytest.mark.parametrize("argument", ["relevance", "y_true", "y_score"])
def test_functions_reject_none(rejects, argument):
    for function in OF_ONE_ARGUMENT[argument]:
        rejects(TypeError, f"{argument}…NoneType", function, None)


def test_gain_rejects_invalid_relevance(rejects):
    for value in (None, len):
        rejects(TypeError, f"relevance…{type(value).__name__}", rg.gain, value)
    rejects(ValueError, "relevance: position 0…negative", rg.gain, [-1])
    rejects(ValueError, "relevance…lists of unequal length", rg.gain, [[[1]], [[2, 3]]])


GRADES = [
    ("NaN…finite", ValueError, nan, np.float32(nan), Decimal("NaN")),
    ("infinite…finite", ValueError, inf, -inf, Decimal("-Infinity")),
    ("negative…give 0", ValueError, -1, -1e-30, -(2**63), -(2**70)),
]
SCORES = [("the score is NaN…-inf", ValueError, nan, np.float32(nan), Decimal("NaN"))]
CONTENTS = [(argument, row) for argument in OF_ONE_ARGUMENT for row in (SCORES if argument == "y_score" else GRADES)]
LISTS = [  # the invalid number is at position 1, either of the only query or of query 1
    ("position 1", lambda bad: [1, bad, 2]),
    ("position 1", lambda bad: np.array([1, bad, 2], dtype="g" if abs(bad) != 1 else "i1")),
    ("query 1, position 1", lambda bad: [[1, 1, 2], [1, bad, 2]]),
    ("query 1, position 1", lambda bad: [[1, 2], [1, bad, 2], []]),
    ("query 1, position 1", lambda bad: np.array([[1, 1, 2], [1, bad, 2]], dtype="f4", order="F")),
    ("query 1, position 1", lambda bad: np.array([[1, 9, 1, 9, 2], [1, 9, bad, 9, 2]], dtype=">f8")[:, ::2]),
]


@pytest.mark.parametrize(("argument", "row"), CONTENTS)
def test_functions_reject_an_invalid_number(rejects, argument, row):
    message, error, *values = row
    for function, value, (position, form) in product(OF_ONE_ARGUMENT[argument], values, LISTS):
        rejects(error, f"{argument}…{position}…{message}", function, form(value))


@in_one_case(("argument", "row"), [one for one in CONTENTS if one[0] in ("y_true", "y_score")])
@pytest.mark.parametrize(
    ("position", "queries"),
    [
        ("query 1, position 1 (element 3)", {"group_sizes": [2, 3]}),
        ("query 'b', position 1 (element 3)", {"group_sizes": [2, 0, 3], "query_ids": ["a", "c", "b"]}),
        ("query 9, position 1 (element 3)", {"qid": [7, 7, 9, 9, 9]}),
        ("query 'a', position 2 (element 3)", {"qid": list("abaac")}),
        ("query 0, position 3", {}),
    ],
    ids=["group_sizes", "query_ids", "qid", "scattered", "one-query"],
)
def test_scores_name_the_element_of_a_flat_array(rejects, argument, row, position, queries):
    message, error, *values = row
    for value in values:
        sides = {"y_true": range(5), "y_score": range(5), argument: [1, 1, 1, value, 2]}
        rejects(error, f"{argument}: {position}…{message}", evaluate_scores, **sides, **queries)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_relevance_reject_labels_and_scores(rejects, function):
    message = f"{function.__name__}() takes relevance in rank order…rankgain.from_scores(y_true, y_score)"
    if function is rg.ndcg:
        message += "…rankgain.sklearn.ndcg_score(y_true, y_score)"
    rejects(TypeError, message, function, [0, 1], [0.2, 0.9])


LARGE = np.array([np.finfo(np.longdouble).max])

if LARGE[0] > np.finfo(np.float64).max:

    def test_numbers_beyond_float64_are_infinite(rejects):
        rejects(ValueError, "y_true: query 0, position 0…infinite", evaluate_scores, LARGE, [1])
        rejects(ValueError, "relevance: position 0…infinite", rg.gain, LARGE)
        rejects(ValueError, "discount: position 0…finite", rg.discount, 1, LARGE)
        rejects(ValueError, "position 0…gain…finite", rg.dcg, [1], gain=lambda grades: grades * LARGE)
