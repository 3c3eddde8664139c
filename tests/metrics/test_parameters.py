"""Parameters that are rejected as soon as they are given: cut-offs, thresholds, gains, discounts and fixed choices."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support.evaluating import evaluate_frames, evaluate_qrels, evaluate_recommendations, evaluate_scores
from support.marks import in_one_case
from support.rejections import masked

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400
RELEVANT = rg.precision, rg.recall, rg.average_precision, rg.hit_rate
FUNCTIONS = rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.mean_ndcg, rg.reciprocal_rank, rg.mrr
TAKES = {
    "k": [*FUNCTIONS, *RELEVANT],
    "rel": [rg.reciprocal_rank, rg.mrr, *RELEVANT],
    "empty": [rg.ndcg, rg.mean_ndcg],
    "gain": [rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.mean_ndcg],
    "discount": [rg.dcg, rg.idcg, rg.ndcg, rg.mean_ndcg],
    "ideal": [rg.ndcg, rg.mean_ndcg],
}
NO_NUMBERS = "1", "x", b"1", True, np.True_, 1j, np.complex128(1), [1], np.array([1])
REJECTED = {  # for each parameter: message ({type} stands for the type of the value), exception, values
    "k": [
        ("k must be a positive integer", ValueError, 0, -1, np.int64(-3), -(2**2000)),
        ("k must be at most 2**48, not…leave it out, or pass None", ValueError,
         2**48 + 1, np.int64(2**62), 2**63 - 1, 2**63, 2**2000),
        ("k must be a positive integer…{type}", TypeError,
         2.5, 3.0, nan, True, False, np.True_, "5", [5], 1j, Fraction(3)),
    ],
    "rel": [
        ("rel must be…a number", TypeError, *NO_NUMBERS),
        ("rel must be…finite", ValueError, inf, -inf, nan, HUGE),
    ],
    "empty": [
        ("empty must be…a number", TypeError, *NO_NUMBERS),
        ("empty must be…finite", ValueError, inf, -inf, HUGE),
    ],
    "gain": [
        ("gain…'linear'…'exponential'…mapping", ValueError, "exp", ""),
        ("gain…; did you mean 'exponential'?", ValueError, "exp", "Exp"),
        ("gain…mapping…{type}", TypeError, 5, b"linear", {1, 2}),
        ("gain…grade 1.0…finite and not negative", ValueError, {1: -1}, {1: inf}, {1: nan}, {1: HUGE}, [0, -2]),
        ("gain…finite and not negative", ValueError, {0: -1}, {-1: 1}, {nan: 1}),
        ("gain…numbers", TypeError,
         {"a": 1}, {1: None}, {1: 1j}, [[1, 2]], {1: "3"}, {"1": 3}, {1: np.complex128(3)}),
        ("gain…must be…mapping or sequence…ndarray", TypeError, np.array(3), np.ones((2, 2))),
    ],
    "discount": [
        ("discount…log2…zipf…jarvelin:b", ValueError, "ln", "log2:3", ""),
        ("discount…jarvelin…b > 1", ValueError,
         *(f"jarvelin:{base}" for base in ("1", "0.5", "x", "", "nan", "inf", "-2"))),
        ("discount: position 1…finite and not negative", ValueError, [1, -0.5, 0], [1, nan], [1, inf]),
        ("discount…dimension", ValueError, 5, [[1, 1], [1, 1]]),
        ("discount…masked", ValueError, masked(0, 1)),
        ("discount: position 1…a number", TypeError, [1, "1"], [1, None], [1, 2j]),
        ("discount…{type}", TypeError, {1: 1}, {1, 2}, len, ...),
    ],
    "ideal": [
        ("ideal must be 'judged' or 'returned'", ValueError,
         "judge", "JUDGED", 1, b"judged", ["judged"], np.array(["judged", "returned"])),
    ],
}  # fmt: skip
ROWS = [(parameter, row) for parameter, rows in REJECTED.items() for row in rows]


@in_one_case(("parameter", "row"), ROWS)
def test_functions_reject_a_parameter(rejects, parameter, row):
    message, error, *values = row
    for value in values:
        expected = message.format(type=type(value).__name__)
        for function in TAKES[parameter]:
            rejects(error, expected, function, [3, 0, 2], **{parameter: value})
        rejects(error, expected, rg.metric, "rr" if parameter == "rel" else "ndcg", **{parameter: value})


@pytest.mark.parametrize(("parameter", "row"), [row for row in ROWS if row[0] in ("gain", "discount")])
def test_gain_and_discount_reject_a_kind(rejects, parameter, row):
    message, error, *values = row
    for value in values:
        function, given = (rg.gain, [3, 0, 2]) if parameter == "gain" else (rg.discount, 3)
        rejects(error, message.format(type=type(value).__name__), function, given, kind=value)


@pytest.mark.parametrize("row", [
    ("n must be", ValueError, -1, 10**15, 2**100),
    ("n must be…{type}", TypeError, 2.0, True, np.True_, "3", None),
])  # fmt: skip
def test_discount_rejects_a_number_of_ranks(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, message.format(type=type(value).__name__), rg.discount, value)


@pytest.mark.parametrize("values", [[7, nan], [7, -1, 1], np.array([7, inf])], ids=["NaN", "negative", "infinite"])
def test_the_first_invalid_grade_is_named(rejects, values):
    """The error names the first invalid grade, whatever the reason; here, the grade has no gain."""
    for function in (rg.cg, rg.dcg, rg.ndcg, rg.mean_ndcg, rg.idcg):
        argument = "judged" if function is rg.idcg else "relevance"
        rejects(ValueError, f"{argument}: position 0…no entry for", function, values, gain={1: 1})


FORMS = [(evaluate_scores, [1, 0], [0.5, 0.25]), (evaluate_qrels, *[{"q": {"d": 1}}] * 2), (rg.read_trec, "q", "r")]


@pytest.mark.parametrize("ties", ["avg", "AVERAGE", None, 1, ["stable"], np.array(["best", ""])], ids=str)
def test_constructors_reject_a_tie_policy(rejects, ties):
    for function, *sides in FORMS:
        rejects(ValueError, "ties must be one of…'average'…'stable'…'worst'", function, *sides, ties=ties)


def test_bare_scores_reject_ties_by_docid(rejects):
    rejects(ValueError, "ties='docid'…ids…choose another", evaluate_scores, [1, 0], [0.5, 0.25], ties="docid")


@pytest.mark.parametrize("missing", ["no", "", None, True, ["zero"]], ids=str)
def test_constructors_reject_missing(rejects, missing):
    columns = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}, {"query_id": ["q"], "doc_id": ["d"], "score": [1]}
    calls = [*FORMS[1:], (evaluate_frames, *columns), (evaluate_recommendations, [["a"]], [["a"]])]
    for function, *sides in calls:
        rejects(ValueError, "missing must be 'zero' or 'skip'", function, *sides, missing=missing)
