"""Options of gradients, objectives and training metrics, tested without a training library."""

import math

import numpy as np
import pytest
from support import textbook
from support.effects import UNCHANGED
from support.small_rankings import metrics_of_scores
from support.training import (
    GRADES,
    SCORES,
    SIZES,
    catboost_metric,
    lambda_rank,
    lightgbm_metric,
    lightgbm_objective,
    xgboost_metric,
    xgboost_objective,
)

import rankgain as rg

CALLS = {
    "lambdarank": rg.lambdarank,
    "LambdaRank": lambda_rank,
    "lightgbm_objective": lightgbm_objective,
    "xgboost_objective": xgboost_objective,
}
ARRAYS = "lambdarank", "LambdaRank"  # functions that take arrays of labels and scores
TIED = [0.5, 0.25, 0.5, 1.0, 1.0]
GAIN = {0: 0.5, 1: 1, 2: 7}
VECTOR = [1.0, 0.5, 0.25]
USUAL = "ndcg(gain=exponential)@2"
METRICS = {  # metrics, and their options in the textbook
    "ndcg@1": {"k": 1, "gain": "linear"},
    "ndcg(gain=exponential)@1": {"k": 1},
    "ndcg(gain=exponential,discount=zipf)@2": {"worth_of_rank": "zipf"},
    "pairwise@2": {"pairwise": True},
    "PAIRWISE": {"pairwise": True, "k": None},
    rg.metric("ndcg", k=2, gain=GAIN): {"gain": GAIN},
    rg.metric("ndcg", k=2, gain=np.sqrt): {"gain": math.sqrt},
    rg.metric("ndcg", k=2, gain="exponential", discount=VECTOR): {"worth_of_rank": VECTOR},
}
BESIDE = [(USUAL, {}), *[*METRICS.items()][-5:]]  # metrics with which the other options are tested


def gradients(labels=GRADES, scores=SCORES, sizes=SIZES, k=2, **options):
    """Return the textbook's gradients and hessians of all queries."""
    gradient, hessian, start = [], [], 0
    for size in sizes:
        part = slice(start, start + size)
        parts = textbook.lambdarank(labels[part], scores[part], k, **options)
        gradient, hessian, start = gradient + parts[0], hessian + parts[1], start + size
    return [gradient, hessian]


def weighted(sides, weights, hessian_factor=1.0):
    return [
        [value * weight * factor for value, weight in zip(side, weights, strict=True)]
        for side, factor in zip(sides, (1.0, hessian_factor), strict=True)
    ]


def expected(call, weights=(1.0,) * 5, **options):
    """Return the expected gradients and hessians.

    The hessians of XGBoost's objective are twice those of the other functions.
    """
    options = {"discount": "cut" if call in ARRAYS else "full", **options}
    return weighted(gradients(**options), weights, 2.0 if call == "xgboost_objective" else 1.0)


def flat(call, scores=SCORES):
    """Return the arguments for two queries with three and two documents."""
    if call in ARRAYS:
        return {"y_true": GRADES, "y_score": scores, "group_sizes": SIZES}
    return {"scores": scores}


def calls(*options, of=tuple(CALLS)):
    return pytest.mark.parametrize(
        "call", [pytest.param(call, marks=pytest.mark.options(call, *options)) for call in of]
    )


@calls("metric")
def test_gradients_follow_a_metric(check_option, call):
    for metric, options in METRICS.items():
        check_option(CALLS[call], "metric", metric, expected(call, **options), **flat(call))


@calls("sigma")
def test_gradients_follow_sigma(check_option, call):
    for metric, options in BESIDE:
        given = {**flat(call), "metric": metric}
        for sigma in (2.0, 0.5, np.float32(0.25)):
            check_option(CALLS[call], "sigma", sigma, expected(call, sigma=float(sigma), **options), **given)
        for sigma in (1e-100, 1e-9):
            values = expected(call, sigma=sigma, normalize="score", **options)
            check_option(CALLS[call], "sigma", sigma, values, **given, normalize="score")


@calls("normalize")
def test_gradients_are_normalised(check_option, call):
    for metric, options in BESIDE:
        for normalize in ("score", "query", ["score"], None, ()):
            values = expected(call, normalize=normalize or (), **options)
            check_option(CALLS[call], "normalize", normalize, values, **flat(call), metric=metric)


@calls("ties")
def test_gradients_average_ties(check_option, call):
    for metric, options in BESIDE:
        if not options.get("pairwise"):
            values = expected(call, ties="average", scores=TIED, **options)
            check_option(CALLS[call], "ties", "average", values, **flat(call, TIED), metric=metric)


@calls("discount")
def test_gradients_cut_the_discount_or_not(check_option, call):
    discount = "full" if call in ARRAYS else "cut"
    values = expected(call, discount=discount, k=1)
    check_option(CALLS[call], "discount", discount, values, **flat(call), metric="ndcg(gain=exponential)@1")


@calls("threads")
def test_gradients_are_the_same_with_threads(check_option, call):
    for metric, _ in BESIDE:
        check_option(CALLS[call], "threads", 2, UNCHANGED, **flat(call, TIED), metric=metric)


@pytest.mark.parametrize(
    ("call", "option"),
    [
        *(pytest.param(call, "sample_weight", marks=pytest.mark.options(call, "sample_weight")) for call in ARRAYS),
        pytest.param("lightgbm_objective", "weight", marks=pytest.mark.options("lightgbm_objective", "weight")),
    ],
)
def test_gradients_are_weighted_by_document(check_option, call, option):
    for weights in (
        [2.0, 0.0, 1.0, 3.0, 0.5],
        [0.0] * 5,
        np.array([1, 2, 3, 4, 5], "i4"),
        np.array([1, 0, 3, 0, 5], "f4"),
    ):
        values = expected(call, [float(weight) for weight in weights])
        check_option(CALLS[call], option, weights, values, **flat(call), metric=USUAL)


@pytest.mark.options("xgboost_objective", "weight")
def test_xgboost_objective_weights_queries(check_option):
    """Weights of queries are divided by their mean, unless all of them are 0."""
    for weights, relative in [
        ([3.0, 1.0], [1.5] * 3 + [0.5] * 2),
        ([0.0, 3.0], [0.0] * 3 + [2.0] * 2),
        ([0.0, 0.0], [0.0] * 5),
    ]:
        values = expected("xgboost_objective", relative, gain="exponential")
        check_option(xgboost_objective, "weight", weights, values, metric=USUAL)


@calls("group_sizes", "qid", of=ARRAYS)
def test_gradients_of_queries_in_another_form(check_option, call):
    sides = {"y_true": GRADES, "y_score": SCORES}
    for sizes in (SIZES, np.array(SIZES, "u1")):
        check_option(CALLS[call], "group_sizes", sizes, gradients(), **sides, metric=USUAL)
    check_option(CALLS[call], "qid", [7, 7, 7, 9, 9], gradients(), **sides, metric=USUAL)
    order = [3, 0, 4, 1, 2]
    mixed = {"y_true": [GRADES[at] for at in order], "y_score": np.array([SCORES[at] for at in order], "f4")}
    values = [[side[at] for at in order] for side in gradients()]
    for qid in (list("babaa"), np.array([9, 7, 9, 7, 7]), np.array(list("babaa"))):
        check_option(CALLS[call], "qid", qid, values, **mixed, metric=USUAL)


@calls("mask", of=ARRAYS)
def test_gradients_leave_out_masked_documents(check_option, call):
    labels, scores = [[1, 0, 2], [0, 3, 1]], [[0.5, 0.25, 0.125], [1.0, 9.0, 0.5]]
    mask = [[True, True, True], [True, False, True]]
    values = [[side[:3], [side[3], 0.0, side[4]]] for side in gradients()]
    for form in (list, np.array):
        sides = {"y_true": form(labels), "y_score": form(scores)}
        check_option(CALLS[call], "mask", form(mask), values, **sides, metric=USUAL)
        sides = {"y_true": np.ravel(labels), "y_score": np.ravel(scores)}
        joined = [[*rows[0], *rows[1]] for rows in values]
        check_option(CALLS[call], "mask", np.ravel(form(mask)), joined, **sides, group_sizes=[3, 3], metric=USUAL)


def mean_rr(ties="average", weights=(1.0, 1.0)):
    values = metrics_of_scores([GRADES[:3], GRADES[3:]], [TIED[:3], TIED[3:]], ties=ties)[2]
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def check_callbacks(check_option, option, value, mean):
    check_option(lightgbm_metric, option, value, [["rr_rankgain", mean, True]], metrics=["rr"], scores=TIED)
    check_option(xgboost_metric, option, value, [["rr_rankgain", mean]], metrics=["rr"], scores=TIED)
    check_option(catboost_metric, option, value, [mean, 1.0], metric="rr", scores=TIED)


@pytest.mark.options("lightgbm_metric", "ties")
@pytest.mark.options("xgboost_metric", "ties")
@pytest.mark.options("catboost_metric", "ties")
def test_metrics_of_trainers_order_by_a_tie_policy(check_option):
    for ties in ("stable", "best", "worst"):
        if mean_rr(ties) != mean_rr():
            check_callbacks(check_option, "ties", ties, mean_rr(ties))


def test_metrics_of_trainers_weight_queries(check_option):
    """The weight of a query is the mean weight of its documents. For XGBoost, weights may also be given per query."""
    for weights, of_queries in (([1, 2, 3, 0, 0], (2, 0)), (np.array([0, 3, 0, 4, 2], "f4"), (1, 3))):
        check_callbacks(check_option, "weight", weights, mean_rr(weights=of_queries))
    for weights in ([1.0, 3.0], [0.0, 3.0]):
        values = [["rr_rankgain", mean_rr(weights=weights)]]
        check_option(xgboost_metric, "weight", weights, values, metrics=["rr"], scores=TIED)


@pytest.mark.options("xgboost_metric", "per_query")
def test_xgboost_metric_evaluates_one_query_for_its_ranker(check_option):
    one = {"labels": GRADES[:3], "scores": TIED[:3], "sizes": SIZES[:1]}
    check_option(xgboost_metric, "per_query", True, 1.0, metrics=["rr"], **one)


@pytest.mark.options("lightgbm_metric", "threads")
@pytest.mark.options("xgboost_metric", "threads")
@pytest.mark.options("catboost_metric", "threads")
def test_metrics_of_trainers_are_the_same_with_threads(check_option):
    for function in (lightgbm_metric, xgboost_metric, catboost_metric):
        check_option(function, "threads", 2, UNCHANGED)


@pytest.mark.options("catboost_metric", "otherwise")
def test_catboost_metric_gives_otherwise_for_unknown_sets(check_option):
    given = {"sets": (([2, 0, 1, 0, 1], SIZES),), "metric": "rr", "labels": GRADES}
    for value in (0.25, 0):
        check_option(catboost_metric, "otherwise", value, [float(value), 1.0], **given)
