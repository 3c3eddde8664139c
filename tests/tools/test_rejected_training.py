"""Arguments that gradients and training metrics reject: options, metrics, documents, and data sets of CatBoost."""

import math
from importlib.util import find_spec

import numpy as np
import pytest
from support.training import (
    GRADES,
    SCORES,
    catboost_metric,
    lambda_rank,
    lightgbm_metric,
    lightgbm_objective,
    scorer,
    xgboost_metric,
    xgboost_objective,
)

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400


def lambdarank(y_true=GRADES, y_score=SCORES, **options):
    return rg.lambdarank(y_true, y_score, **options)


ARRAYS, GRADIENTS = [lambdarank, lambda_rank], [lambdarank, lambda_rank, lightgbm_objective, xgboost_objective]
METRICS = [lightgbm_metric, xgboost_metric]


def changed(values, index, value):
    return [*values[:index], value, *values[index + 1 :]]


# options other than the metric


@pytest.mark.parametrize("row", [
    ("sigma must be above 0 and finite, from 1e-100 to 1e100", ValueError, "sigma",
     0, -1.0, 9.9e-101, 1.1e100, nan, inf, HUGE, 10**5000),
    ("sigma must be a number", TypeError, "sigma", "1", None, True, np.True_, 1j, [1]),
    ("discount must be 'cut' or 'full'", ValueError, "discount", "log2", None, ["cut"]),
    ("ties must be 'stable' or 'average'", ValueError, "ties", "best", None, 1),
    ("normalize must be 'score' or 'query'", ValueError, "normalize", "scores", ["query", "x"]),
    ("normalize must be 'score', 'query', a sequence", TypeError, "normalize", 1, {"score": 1}),
])  # fmt: skip
def test_gradients_reject_an_option(rejects, row):
    message, error, option, *values = row
    for function in GRADIENTS:
        for value in values:
            rejects(error, message, function, **{option: value})


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients_reject_nan(rejects, function):
    labels, scores = ("y_true", "y_score") if function in ARRAYS else ("labels", "scores")
    for name, message, bad in (
        (labels, "y_true: query 0, position 2…the grade is NaN", changed(GRADES, 2, nan)),
        (scores, "y_score: query 0, position 2…the score is NaN", changed(SCORES, 2, nan)),
    ):
        for values in (bad, np.array(bad, "f4")):
            rejects(ValueError, message, function, **{name: values})


@pytest.mark.parametrize(
    ("function", "name", "there"),
    [
        (lambdarank, "sample_weight", "5 documents"),
        (lightgbm_objective, "weight", "5 documents"),
        (xgboost_objective, "weight", "2 queries"),
    ],
    ids=["lambdarank", "lightgbm", "xgboost"],
)
def test_gradients_reject_weights(rejects, function, name, there):
    message = f"{name} has 4 weights, and there are {there}"
    rejects(ValueError, message, function, **{name: [1.0] * 4})
    for value in (nan, inf, -1.0, -inf):
        weights = changed([1.0] * int(there[0]), 1, value)
        rejects(ValueError, f"{name}: position 1…finite and not negative", function, **{name: weights})


# metrics


@pytest.mark.parametrize("row", [
    ("metric must be an nDCG", ValueError, "rr"),
    ("one cut-off", ValueError, "ndcg_cut.5,10"),
    ("k must be a positive integer", ValueError, "pairwise@0"),
    ("a metric is a string", TypeError, 3),
    ("must not rise with the rank", ValueError, rg.metric("ndcg", discount=[0.5, 1, 1, 1, 1])),
    ("discount has 1 ranks…longer discount", ValueError, rg.metric("ndcg", discount=[1.0])),
    ("y_true: query 0, position 2…2.0", ValueError, rg.metric("ndcg", gain={1: 1})),
    ("is not finite", ValueError, rg.metric("ndcg", gain={1: 5e-324, 2: 5e-324})),
])  # fmt: skip
def test_gradients_reject_a_metric(rejects, row):
    message, error, metric = row
    for function in GRADIENTS:
        rejects(error, message, function, metric=metric)


def test_a_full_discount_needs_a_rank_per_document(rejects):
    short = rg.metric("ndcg", k=2, discount=[1, 0.5])
    for function in GRADIENTS:
        rejects(ValueError, "discount has 2 ranks…are needed", function, metric=short, discount="full")


@pytest.mark.parametrize("function", ARRAYS)
def test_grades_without_a_gain_are_named(rejects, function):
    queries, table = {"group_sizes": [2, 3]}, rg.metric("ndcg", gain={1: 1, 2: 1})
    message, labels = "y_true: query 1, position 2 (element 4):…3.0", changed(GRADES, 4, 3)
    rejects(ValueError, message, function, labels, metric=table, **queries)
    in_ideal = rg.metric("ndcg", k=1, gain={1: 1, 2: 1})  # the ideal list does not contain the grade
    message, labels = "y_true: query 1, position 2 (element 4):…0.5", changed(GRADES, 4, 0.5)
    rejects(ValueError, message, function, labels, metric=in_ideal, **queries)
    # a gain that depends on the other grades of the query
    by_query = rg.metric("ndcg", gain=lambda grades: grades - 3.0 * (grades > 1) * (len(grades) > 3))
    message = "y_true: query 1, position 0 (element 2):…gain"
    rejects(ValueError, message, function, [0, 1, 2, 0, 1], metric=by_query, **queries)


# documents


@pytest.mark.parametrize("function", ARRAYS)
@pytest.mark.parametrize("row", [
    ("y_true: query 1, position 1 (element 3):…negative", "y_true", changed(GRADES, 3, -1)),
    ("y_true: query 0, position 0…NaN", "y_true", changed(GRADES, 0, nan)),
    ("y_true: query 1, position 2…infinite", "y_true", changed(GRADES, 4, inf)),
    ("y_true: query 1, position 2…below 1024", "y_true", changed(GRADES, 4, 1024)),
    ("y_score: query 1, position 1 (element 3)…NaN", "y_score", changed(SCORES, 3, nan)),
    ("y_score: query 1, position 1…only -inf", "y_score", changed(SCORES, 3, inf)),
])  # fmt: skip
def test_gradients_name_the_query_of_a_document(rejects, function, row):
    message, argument, values = row
    rejects(ValueError, message, function, **{argument: values}, group_sizes=[2, 3])


@pytest.mark.parametrize("function", ARRAYS)
def test_gradients_reject_documents(rejects, function):
    message, scores = "y_score: query 'b', position 1", changed(SCORES, 3, inf)
    rejects(ValueError, message, function, y_score=scores, qid=list("aabbb"))
    rejects(ValueError, "5 documents, and y_score has 4", function, y_score=SCORES[:4])
    rejects(TypeError, "y_score: position 0: must be a number", function, y_score=list("abcde"))
    rejects(ValueError, "add up to 4", function, group_sizes=[2, 2])
    rejects(ValueError, "group_sizes and qid disagree", function, group_sizes=[3, 2], qid=list("aabbb"))


@pytest.mark.parametrize("function", ARRAYS)
def test_gradients_reject_padding_and_masks(rejects, function):
    padded = {"y_true": [[1, 0], [1, -100]], "y_score": [[0.1, 0.2], [0.1, 0.2]]}
    rejects(ValueError, "y_true: query 1, position 1:…mask=labels >= 0", function, **padded)
    rejects(ValueError, "mask must have the shape of y_true", function, **padded, mask=[True, False])
    rejects(TypeError, "mask must hold booleans", function, mask=[1, 0, 1, 0, 1])


# metrics for training libraries


@pytest.mark.parametrize("row", [
    ("did you mean 'ndcg@10'", "metrics", ["ndgc@10"]),
    ("no metric was requested", "metrics", ()),
    ("two metrics would both be logged as 'ndcg@5_rankgain'", "metrics", ["ndcg@5", "ndcg @5"]),
    ("ties='docid' needs document ids", "ties", "docid"),
    ("y_true: query 1, position 0 (element 3):…negative", "labels", changed(GRADES, 3, -1)),
    ("y_score: query 0, position 0…NaN", "scores", [nan] * 5),
    ("y_score must have 1 dimension with group_sizes=", "scores", np.ones((5, 2))),
])  # fmt: skip
def test_metrics_of_trainers_reject_an_argument(rejects, row):
    message, argument, value = row
    for function in METRICS:
        rejects(ValueError, message, function, **{argument: value})


@pytest.mark.parametrize("row", [
    ("did you mean 'ndcg@10'", ValueError, "metric", "ndgc@10"),
    ("CatBoost takes one metric, but 'ndcg_cut.5,10' stands for 2", ValueError, "metric", "ndcg_cut.5,10"),
    ("ties='docid' needs document ids", ValueError, "ties", "docid"),
    ("CatBoost passes no groups: pass each set…(labels, group_sizes)", ValueError, "sets", []),
    ("sets[0] must be a Pool or a pair (labels, group_sizes), not ndarray", TypeError, "sets", [np.array([1, 0])]),
    ("sets[1]: group_sizes add up to 3, but there are 2 labels", ValueError, "sets", [([1], [1]), ([1, 0], [3])]),
    ("sets[1] has the labels of an earlier set", ValueError, "sets", [([1, 0], [2]), ([1, 0], [1, 1])]),
    ("otherwise must be None or a finite number", ValueError, "otherwise", nan),
    ("otherwise must be None or a finite number", ValueError, "otherwise", inf),
    ("otherwise must be None or a finite number", ValueError, "otherwise", "0"),
])  # fmt: skip
def test_catboost_metric_rejects_an_argument(rejects, row):
    message, error, argument, value = row
    rejects(error, message, catboost_metric, **{argument: value})


if find_spec("sklearn"):

    @pytest.mark.parametrize("row", [
        ("unknown metric 'nonsense'", ValueError, {"metric": "nonsense"}),
        ("one metric, not 2: pass a dict", ValueError, {"metric": "ndcg_cut.5,10"}),
        ("a metric is a string", TypeError, {"metric": None}),
        ("qid must be a column of X…not list", TypeError, {"qid": [1, 1, 2]}),
        ("qid must be a column of X…not bool", TypeError, {"qid": True}),
        ("needs document ids", ValueError, {"ties": "docid"}),
        ("ties must be one of", ValueError, {"ties": "no"}),
        ("y_score…NaN", ValueError, {"scores": [0.5, 0.25, nan, 1.0, 0.5]}),
        ("qid…5 documents", ValueError, {"ids": [7, 7, 9]}),
    ])  # fmt: skip
    def test_scorer_rejects_an_argument(rejects, row):
        message, error, options = row
        rejects(error, message, scorer, **options)

    def test_scorer_rejects_two_metrics(rejects):
        rejects(TypeError, "one metric, not 2: pass a dict", rg.scorer, "ndcg@10", "mrr", qid=0)
