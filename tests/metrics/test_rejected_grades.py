"""Grades and judged sets that metrics reject: grades that are missing, have no gain, exceed the scale or overflow."""

import math

import numpy as np
import pytest
from support.evaluating import evaluate_qrels, evaluate_ranked, evaluate_scores
from support.marks import in_one_case

import rankgain as rg
from rankgain.metrics.families import Needs
from rankgain.metrics.table import QUOTIENT, RATIO, TABLE


def compares_with_judged(row):
    """Return whether a term of the metric reads judged grades beside another one, which may lack them."""
    terms = row.terms(rg.metric(row.name))
    return len(terms) > 1 and any(term.needs.judged_depth != Needs().judged_depth for term in terms)


# Fall-out compares the documents judged not relevant; see `test_judged_that_lacks_grades_of_a_gain`.
BY_JUDGED = [name for name, row in TABLE.items() if compares_with_judged(row) and name != "fallout"]
WITHOUT_JUDGED = [name for name in TABLE if name not in BY_JUDGED]
# Shares of an ideal reject lists better than the ideal ranking; the others reject more relevant documents than judged.
BY_NUMBER = [name for name in BY_JUDGED if TABLE[name].combination not in (RATIO, QUOTIENT)]
LACKING = "judged lacks grades that the returned list has"
FAR_DOWN = [[0] * 30 + [1, 1]]  # the relevant documents are at deep ranks, so they add little to the value


@in_one_case("name", BY_JUDGED)
def test_metrics_reject_judged_that_lacks_grades(rejects, name):
    for judged in ([[1], [3]], [[1], [1]]):
        rejects(ValueError, f"query 1: {LACKING}", evaluate_ranked, [[1], [3, 3]], judged=judged, metrics=[name])


@pytest.mark.parametrize("name", BY_NUMBER)
def test_metrics_count_the_relevant_documents_that_judged_lacks(rejects, name):
    for judged in ([[1, 0]], [[0]]):
        rejects(ValueError, f"query 0: {LACKING}", evaluate_ranked, FAR_DOWN, judged=judged, metrics=[name])
    if not TABLE[name].unaveraged:
        sides = FAR_DOWN, [[0.5] * 32]
        rejects(ValueError, f"query 0: {LACKING}", evaluate_scores, *sides, judged=[[1]], metrics=[name])


@in_one_case("name", WITHOUT_JUDGED)
def test_metrics_without_judged_accept_what_it_lacks(backend, name):
    lacking = rg.from_ranked([[1], [3, 3]], judged=[[1], [3]]).evaluate(name)[name][1]
    alone = rg.from_ranked([3, 3], judged=[3]).evaluate(name)[name][0]
    assert lacking == alone, f"{name}: {lacking} beside another query, {alone} alone"


@in_one_case("name", BY_NUMBER)
def test_metrics_accept_judged_that_has_the_relevant_documents(backend, name):
    """Relevant documents at deep ranks must be judged even if they add little to the value."""
    rg.from_ranked(FAR_DOWN, judged=[[1, 0, 1]]).evaluate(name)
    if TABLE[name].cuts:
        rg.from_ranked(FAR_DOWN, judged=[[1, 0]]).evaluate(rg.metric(name, k=31))


def test_judged_that_lacks_grades_of_a_gain(rejects):
    for name in ("ndcg_rel", "r_ndcg"):
        rejects(ValueError, f"query 1: {LACKING}", evaluate_ranked, [[1], [3]], judged=[[1], [2]], metrics=[name])
    rejects(ValueError, LACKING, evaluate_ranked, [[0, 0, 1]], judged=[[0, 1]], metrics=["fallout"])
    for function in (rg.recall, rg.average_precision):
        for judged in ([1], [1, 0]):
            rejects(ValueError, LACKING, function, [1, 1, 1], judged=judged)


@pytest.mark.parametrize("name", ["ndcg", "ndcg_rel", "r_ndcg", "g", "ncg", "idcg"])
def test_judged_grades_without_a_gain_are_named(rejects, name):
    for gain, message in (("exponential", "too large for gain='exponential'"), ({1: 1}, "no entry for")):
        metrics, message = [rg.metric(name, gain=gain)], f"judged: query 1, position 1…{message}"
        rejects(ValueError, message, evaluate_ranked, [[1], [1]], judged=[[1], [1, 2000]], metrics=metrics)


@pytest.mark.parametrize("name", ["cg", "dcg", "ndcg", "ndcg_rel", "r_ndcg", "g"])
def test_returned_grades_without_a_gain_are_named(rejects, name):
    message = "relevance: query 0, position 1: gain has no entry for the grade 5.0"
    metrics = [rg.metric(name, gain={1: 1})]
    rejects(ValueError, message, evaluate_ranked, [[1, 5]], judged=[[1, 1]], metrics=metrics)


@pytest.mark.parametrize(
    "metric", [rg.metric("ndcg", gain={1: 2}), rg.metric("ndcg", k=2, gain={1: 2, 3: 4})], ids=["ndcg", "ndcg@2"]
)
def test_the_grade_without_a_gain_is_named(rejects, metric):
    message = "relevance: query 0, position 0: gain has no entry for the grade 2.0"
    rejects(ValueError, message, evaluate_ranked, [[2, 1]], metrics=[metric])
    message = "judged: query 0, position 1: gain has no entry for the grade 0.5"
    rejects(ValueError, message, evaluate_ranked, [[1, 0]], judged=[[1, 0.5]], metrics=[metric])


def evaluate_under(qrels, run, metrics):
    return rg.from_qrels(qrels, run).under().evaluate(*metrics)


def evaluate_limited(qrels, run, metrics):
    return rg.from_qrels(qrels, run).limited(depth=1, judged_only=True).evaluate(*metrics)


@pytest.mark.parametrize("metric", ["err", "err@1", "nerr", "nerr@1"])
def test_grades_above_the_scale_are_rejected(rejects, metric):
    advice, metrics = "and max_grade is 4; give a larger max_grade", [metric]
    message = f"relevance: query 1, position 2: the grade is 5, {advice}"
    rejects(ValueError, message, evaluate_ranked, [[1, 4], [0, 3, 5, 9]], metrics=metrics)
    message = f"judged: query 0, position 2: the grade is 6, {advice}"
    rejects(ValueError, message, evaluate_ranked, [[1]], judged=[[1, 2, 6]], metrics=metrics)
    message = f"y_true: query 1, position 0: the grade is 4.5, {advice}"
    rejects(ValueError, message, evaluate_scores, [[1, 4], [4.5, 3]], [[1, 1], [1, 1]], metrics=metrics)
    message = f"qrels: query 'b', document 'y': the grade is 5, {advice}"
    sides = {"a": {"x": 4}, "b": {"w": -1, "x": 1, "y": 5}}, {"a": {"x": 1.0}, "b": {"x": 1.0}}
    for function in (evaluate_qrels, evaluate_under, evaluate_limited):
        rejects(ValueError, message, function, *sides, metrics=metrics)


@pytest.mark.parametrize("name", ["dcg", "ndcg", "ndcg_rel", "r_ndcg"])
def test_discounts_that_are_too_short_are_rejected(rejects, name):
    metrics, message = [rg.metric(name, discount=[1.0, 0.5])], "query 1: discount has 2 ranks, and…are needed; give a"
    sides = {"relevance": [[1, 1], [1, 0, 0, 1, 0]], "judged": [[1, 1], [1, 1]]}
    rejects(ValueError, f"{message} longer", evaluate_ranked, **sides, metrics=metrics)


def test_the_ideal_needs_a_rank_per_judged_document(rejects):
    metrics = [rg.metric("ndcg", discount=[1.0, 0.5, 0.25])]
    message = "discount has 3 ranks, and 4 are needed"
    rejects(ValueError, message, evaluate_ranked, [[1, 1, 1]], judged=[[1] * 4], metrics=metrics)


@pytest.mark.parametrize(
    ("coefficients", "query"), [((1e308, 0, 0, 0), 1), ((1e308, 0, 0, 1e308), 0), ((-1e308, -1e308, 0, 0), 1)], ids=str
)
def test_a_utility_that_overflows_is_rejected(rejects, coefficients, query):
    metrics = [rg.metric("utility", coefficients=coefficients, collection=10)]
    message = f"query {query}: the sum of the gains"
    rejects(ValueError, message, evaluate_ranked, [[1], [1, 1, 1, 0, 0, 0]], metrics=metrics)


@pytest.mark.parametrize("gain", [lambda grades: grades * math.nan, np.negative], ids=["NaN", "negative"])
def test_a_gain_of_nan_or_below_0_is_rejected(rejects, gain):
    metrics = [rg.metric("cg", gain=gain)]
    message = "relevance: query 0, position 0: gain returned"
    rejects(ValueError, message, evaluate_ranked, [3, 0, 2], metrics=metrics)
