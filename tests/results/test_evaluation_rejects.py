"""Arguments that Evaluations reject: weights, names, parts to merge, and queries to select."""

import math

import numpy as np
import pytest

import rankgain as rg

nan, inf = math.nan, math.inf
QRELS = RUN = {"a": {"d": 1}, "b": {"d": 1}}
RESULT = rg.from_qrels(QRELS, RUN).evaluate("rr")
COMPARISON = rg.Comparison({"one": RESULT})


@pytest.mark.parametrize("row", [
    ("weights has 1 numbers, and there are 2 queries: give one per query", ValueError, [1]),
    ("weights: position 0, query 'a': a weight must be a number, not list", TypeError, [[1, 2], [3, 4]]),
    ("weights: position 1, query 'b': a weight must be a number, not str", TypeError, [1, "2"]),
    ("weights: position 1, query 'b': a weight must be finite and not negative, not -1.0", ValueError, [1, -1]),
    ("position 1, query 'b':…not nan", ValueError, [1, nan]),
    ("position 0, query 'a':…not inf", ValueError, [inf, 1]),
    ("weights are all 0: give at least one query a positive weight", ValueError, [0, 0]),
    ("weights: query 'b' has no weight; give it one, or 0 to leave it out", ValueError, {"a": 1}),
    ("position 1, query 'b': a weight must be a number, not NoneType", TypeError, {"a": 1, "b": None}),
    ("weights must hold one number per query, or be a mapping by query id, not int", TypeError, 3),
    ("weights must hold one number per query,…not ndarray", TypeError, np.array(3)),
    ("weights must hold one number per query,…not str", TypeError, "12"),
    ("weights must hold one number per query,…not set", TypeError, {1, 2}),
])  # fmt: skip
def test_means_reject_weights(rejects, row):
    message, error, weights = row
    for method in (RESULT.mean, RESULT.aggregate, RESULT.flat, COMPARISON.means, COMPARISON.aggregate):
        rejects(error, message, method, weights=weights)


def test_means_reject_a_metric_that_was_not_evaluated(rejects):
    for method in (RESULT.mean, RESULT.aggregate, RESULT.summary().mean):
        rejects(KeyError, "ap was not evaluated; there are: rr", method, "ap")


@pytest.mark.parametrize("names", ["x", None], ids=str)
def test_flat_rejects_names(rejects, names):
    rejects(ValueError, "names must be 'asked' or 'safe'", RESULT.flat, names=names)


def single(*metrics, names=None, ties="docid", missing="zero"):
    """Return the evaluation of a single query named 'x'."""
    sides = {"x": {"d": 1}}, {"x": {"d": 1}}
    return rg.from_qrels(*sides, ties=ties, query_ids=names, missing=missing).evaluate(*metrics or ["rr"])


UNNAMED = rg.from_ranked([[1]]).evaluate("rr")


@pytest.mark.parametrize("row", [
    ("others[0] must be an Evaluation, not dict", TypeError, {"rr": [1.0]}),
    ("others[0] must be an Evaluation, not list; pass them one by one: merge(*parts)", TypeError, [single()]),
    ("others[0] lacks the metric rr, unlike the first", ValueError, single("cg")),
    ("others[0] has the metric cg, unlike the first", ValueError, single("rr", "cg")),
    ("others[0] has ties='stable', the first has 'docid'", ValueError, single(ties="stable")),
    ("others[0] has missing='skip', the first has 'zero'", ValueError, single(missing="skip")),
    ("others: query 'a' is in 2 of the evaluations", ValueError, single(names=["a"])),
    ("others[0] has ties=None, the first has 'docid'", ValueError, UNNAMED),
])  # fmt: skip
def test_merge_rejects_other_evaluations(rejects, row):
    message, error, other = row
    rejects(error, message, RESULT.merge, other)


def test_merge_rejects_ids_beside_positions(rejects):
    named = rg.from_ranked([[1]], query_ids=["a"]).evaluate("rr")
    message = "others: some queries have ids and some only positions: give query_ids"
    rejects(ValueError, message, named.merge, UNNAMED)


def test_merge_of_a_list_is_answered_by_the_line_to_write(rejects):
    rejects(TypeError, "parts[0].merge(*parts[1:])", rg.Evaluation.merge, [UNNAMED])


@pytest.mark.parametrize("row", [
    ("query 'x' was not evaluated", KeyError, ["x"]),
    ("repeats an earlier id", ValueError, ["a", "a"]),
    ("a mask of 1, and there are 2", ValueError, [True]),
    ("a mask or ids", TypeError, "ab", 7),
])  # fmt: skip
def test_subset_rejects_queries(rejects, row):
    message, error, *values = row
    for queries in values:
        rejects(error, message, RESULT.subset, queries)


ALIKE = [rg.metric("dcg", gain=gain) for gain in (lambda grades: grades, lambda grades: grades * 2)]


def test_summary_rejects_two_metrics_of_one_name(rejects):
    rejects(ValueError, "two metrics are both called", rg.from_qrels(QRELS, RUN).evaluate(*ALIKE).summary)
