"""Options of the drop-in replacements for scikit-learn and pytrec_eval."""

import math

import numpy as np
import pytest
from support import textbook
from support.small_rankings import documents

import rankgain as rg
from rankgain import pytrec_eval, sklearn

LABELS, SCORES = [[1, 0, 2], [0, 1, 0]], [[0.5, 0.25, 0.125], [1.0, 0.5, 0.25]]
FUNCTIONS = {"dcg": sklearn.dcg_score, "ndcg": sklearn.ndcg_score}


def values(name, k=None):
    sides = zip(LABELS, SCORES, strict=True)
    return [textbook.metric(name, documents(*query), ties="average", k=k) for query in sides]


def both(*options):
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=pytest.mark.options(f"{name}_score", *options)) for name in FUNCTIONS]
    )


@both("k", "sample_weight")
def test_scores_are_cut_and_weighted(check_option, name):
    for form in (list, np.array, lambda rows: np.array(rows, "f4")):
        sides = form(LABELS), form(SCORES)
        for k in (1, 2):
            check_option(FUNCTIONS[name], "k", k, sum(values(name, k)) / 2, *sides)
            for weights in ([1.0, 3.0], [0, 1], np.array([2, 0.5])):
                mean = np.average(values(name, k), weights=weights).item()
                check_option(FUNCTIONS[name], "sample_weight", weights, mean, *sides, k=k)


@both("ignore_ties")
def test_ignored_ties_have_the_order_of_scikit_learn(check_option, name):
    """scikit-learn reverses an argsort, which puts the later of two tied documents first."""
    tied, in_order = [[0.5, 0.5, 0.25], [1.0, 0.5, 0.25]], [[0, 1, 2], [0, 1, 0]]
    mean = sum(map(getattr(rg, name), in_order)) / 2
    for form in (list, np.array):
        check_option(FUNCTIONS[name], "ignore_ties", True, mean, form(LABELS), form(tied))


@pytest.mark.options("dcg_score", "log_base")
def test_dcg_score_takes_the_base_of_the_logarithm(check_option):
    mean = sum(value / math.log(2) for value in values("dcg")) / 2
    for base in (math.e, np.float64(math.e)):
        for form in (list, np.array):
            check_option(sklearn.dcg_score, "log_base", base, mean, form(LABELS), form(SCORES))


def evaluate_with_pytrec_eval(qrels, run, **options):
    return pytrec_eval.RelevanceEvaluator(qrels, ["recip_rank"], **options).evaluate(run)


@pytest.mark.options("pytrec_eval", "relevance_level", "release", "judged_docs_only_flag")
def test_pytrec_eval_applies_an_option(check_option):
    sides = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 0.5, "x": 0.25}, "r": {"a": 0.5}}
    lost = {"q": {"recip_rank": 0.0}, "r": {"recip_rank": 0.0}}
    check_option(evaluate_with_pytrec_eval, "relevance_level", 2, lost, *sides)
    sides = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "x": 16777216.0}}  # equal when rounded to float32
    check_option(evaluate_with_pytrec_eval, "release", 10, {"q": {"recip_rank": 1.0}}, *sides)
    sides = {"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}
    check_option(evaluate_with_pytrec_eval, "judged_docs_only_flag", True, {"q": {"recip_rank": 0.5}}, *sides)
