"""Invalid arguments that accompany labels and scores: sizes, ids, judged sets, masks and lists of the wrong length."""

import math
from decimal import Decimal

import numpy as np
import pytest
from support.evaluating import FUNCTIONS, THRESHOLDED, evaluate_ranked, evaluate_scores
from support.rejections import masked

import rankgain as rg

nan = math.nan
THREE, TWO = ([1, 0, 1], [1, 2, 3]), [[1, 0], [1]]
MISSING = np.float64("nan"), np.datetime64("NaT", "s"), Decimal("sNaN")


@pytest.mark.parametrize("row", [
    ("y_true has 2 documents…y_score has 3", ValueError, [1, 0], [1, 2, 3]),
    ("query 1…y_true has 1 documents…y_score has 2", ValueError, [[1, 2], [1]], [[1, 2], [1, 2]]),
    ("query 0…y_true has 2 documents…y_score has 3", ValueError, np.ones((2, 2)), np.ones((2, 3))),
    ("y_true has one list…y_score has 1 lists", ValueError, [1], [[1]]),
    ("y_true has 2 lists…y_score has one list", ValueError, np.ones((2, 2)), np.ones(4)),
])  # fmt: skip
def test_from_scores_rejects_sides_of_other_shapes(rejects, row):
    message, error, *sides = row
    rejects(error, message, evaluate_scores, *sides)


@pytest.mark.parametrize("queries", [{"group_sizes": [3]}, {"qid": [1, 1, 1]}], ids=["group_sizes", "qid"])
def test_from_scores_by_query_rejects_shapes(rejects, queries):
    rejects(ValueError, "y_true has 2 documents…y_score has 3", evaluate_scores, [1, 0], [1, 2, 3], **queries)
    rejects(ValueError, "y_true…1 dimension…unequal", evaluate_scores, TWO, TWO, **queries)
    matrices, message = [np.ones((1, 3))] * 2, "y_true must have 1 dimension"
    for part in ("group_sizes=", "mask=", "2 dim"):
        rejects(ValueError, f"{message}…{part}", evaluate_scores, *matrices, **queries)


def test_from_scores_rejects_sizes_that_contradict_ids(rejects, gives):
    gives([[0.5, 1.0]], evaluate_scores, [0, 1, 1], [3, 2, 1], metrics=["rr"], group_sizes=[2, 0, 1], qid=list("aab"))
    for sizes, message in [
        (
            [1, 2],
            "the queries have 1, 2 documents by group_sizes, and 2, 1 by qid: leave group_sizes out, or write df.",
        ),
        ([3], "3 documents by group_sizes, and 2, 1 by qid"),
        ([2, 1, 1], "group_sizes add up to 4"),
    ]:
        rejects(ValueError, message, evaluate_scores, *THREE, group_sizes=sizes, qid=list("aab"))
    message = "1, 2 documents by group_sizes, and 2, 1 by qid, in scattered rows: leave group_sizes out"
    rejects(ValueError, message, evaluate_scores, *THREE, group_sizes=[1, 2], qid=list("aba"))


@pytest.mark.parametrize("row", [
    ("add up to…3 documents", ValueError, [2], np.array([2], dtype=">u2"), (1, 3), [], np.zeros(0, dtype=int)),
    ("add up to 18446744073709551619", ValueError, [2**62] * 4 + [3], np.array([2**63, 2**63, 3], dtype="u8")),
    ("position 1…negative", ValueError, [4, -1], [3, -(2**63), 2**62, 2**62]),
    ("dimension", ValueError, [[2, 1]], [[2], [1, 1]], 3),
    ("masked", ValueError, masked(0, 1)),
    ("must hold integers", TypeError, [2.0, 1.0], [2, nan], [True, True, True]),
    ("number", TypeError, [2, None], ["2", "1"], {1, 2}),
])  # fmt: skip
def test_from_scores_rejects_group_sizes(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, f"group_sizes…{message}", evaluate_scores, *THREE, group_sizes=value)


@pytest.mark.parametrize("row", [
    ("shape…3 documents…one id for each", ValueError,
     [1, 1], [], [1] * 4, np.ones((1, 3)), np.ones((3, 1)), 5),
    ("position 1…NaN", ValueError, [1, nan, 1], ["a", nan, None], np.array([1, nan, 1], dtype="f2")),
    ("position 1…NaN or missing", ValueError, *([1, missing, 1] for missing in MISSING)),
    ("masked", ValueError, masked(0, 1, 0)),
    ("position 0…hashable", TypeError, np.array([{}, {}, {}]), [[1], [1], [2]], [[1], [1, 2], [2]]),
])  # fmt: skip
def test_from_scores_rejects_qid(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, f"qid…{message}", evaluate_scores, *THREE, qid=value)


@pytest.mark.parametrize("row", [
    ("2 queries", ValueError, [], ["a"], ["a", "b", "c"], "abc", range(3)),
    ("position 1…NaN or missing", ValueError, *(["a", missing] for missing in MISSING)),
    ("position 1…repeats an earlier id", ValueError, ["a", "a"], [1, 1.0], (1, True), np.array([1, 1])),
    ("one id per query…int", TypeError, 5),
    ("one id per query…bool", TypeError, True),
    ("one id per query", TypeError, np.array(5)),
    ("position 0…hashable", TypeError, [[1], [2]], np.ones((2, 2))),
])  # fmt: skip
def test_constructors_reject_query_ids(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, f"query_ids…{message}", evaluate_ranked, TWO, query_ids=value)
        rejects(error, f"query_ids…{message}", evaluate_scores, *THREE, qid=[1, 2, 2], query_ids=value)


@pytest.mark.parametrize("judged", [[[1]], [1, 0], [], [[1]] * 3, np.ones((0, 2))], ids=["1", "flat", "0", "3", "0×2"])
def test_judged_needs_a_list_per_query(rejects, judged):
    message = "judged has…lists…has 2…one list of grades per query"
    for function in (rg.ndcg, rg.mean_ndcg, *THRESHOLDED, evaluate_ranked):
        rejects(ValueError, message, function, TWO, judged=judged)
    rejects(ValueError, message, evaluate_scores, *THREE, qid=[1, 2, 2], judged=judged)


LACKS = "judged lacks grades…DCG exceeds the ideal…all judged documents"


@pytest.mark.parametrize("options", [
    {}, {"gain": "exponential"}, {"k": 1}, {"gain": {1: 1, 2: 3}}, {"discount": [1, 0.5]}, {"discount": [1, 1]},
], ids=str)  # fmt: skip
def test_ndcg_rejects_judged_that_lacks_grades(rejects, options):
    for judged in ([[1], [1, 1]], [[1], []]):
        rejects(ValueError, f"query 1: {LACKS}", rg.ndcg, [[1], [2, 1]], judged=judged, **options)
        metrics = [rg.metric("ndcg", **options)]
        rejects(ValueError, f"query 1: {LACKS}", evaluate_ranked, [[1], [2, 1]], judged=judged, metrics=metrics)


def test_judged_that_lacks_grades_is_named_by_its_query_id(rejects):
    sides, judged = ([1, 2, 1], [1, 2, 3]), [[1, 1], [1]]
    rejects(ValueError, f"query 'b': {LACKS}", evaluate_scores, *sides, qid=list("aba"), judged=judged)


# Masks

LABELS = np.array([[0, 2, 1, -100], [1, 0, -100, -100]], dtype=np.int64)
MASK, SIDES = LABELS >= 0, {"y_true": LABELS, "y_score": np.ones((2, 4))}


@pytest.mark.parametrize("row", [
    ("mask must hold booleans, True for a document, not int64: pass mask=(mask != 0)", TypeError, LABELS),
    ("mask must have the shape of y_true: one boolean for each document", ValueError,
     MASK[:, :3], MASK[:1], MASK.ravel()),
    ("mask must hold real numbers", TypeError, "yes"),
])  # fmt: skip
def test_from_scores_rejects_a_mask(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, message, evaluate_scores, **SIDES, mask=value)


@pytest.mark.parametrize("function", [*FUNCTIONS, evaluate_ranked])
def test_padding_without_a_mask_is_answered_by_the_mask(rejects, function):
    for labels in (LABELS, LABELS.astype("f4"), LABELS.tolist()):
        message = "query 0, position 3: the grade is negative…mask=labels >= 0"
        rejects(ValueError, f"relevance: {message}", function, labels)
        rejects(ValueError, f"y_true: {message}", evaluate_scores, labels, SIDES["y_score"])


@pytest.mark.parametrize("function", [*FUNCTIONS, evaluate_ranked])
def test_the_first_element_that_the_mask_does_not_take_out_is_named(rejects, function):
    """The error gives the position among the unmasked elements and among all elements."""
    message = "relevance: query 0, position 1 (element 2): the grade is negative"
    rejects(ValueError, message, function, np.array([[1, -100, -1]]), mask=[[True, False, True]])


def test_masked_gains_and_scores_name_the_element(rejects):
    given = {"mask": [True, False, True, True], "gain": {1: 3, 2: 7}}
    for function in (rg.cg, rg.dcg, rg.ndcg, rg.mean_ndcg):
        message = "relevance: position 2 (element 3):…no entry for the grade 9"
        rejects(ValueError, message, function, [1, -1, 2, 9], **given)
    message, mask = "y_score: query 0, position 1 (element 2): the score is NaN", [[True, False, True]]
    rejects(ValueError, message, evaluate_scores, [[1, 1, 1]], [[1.0, 2.0, nan]], mask=mask)
