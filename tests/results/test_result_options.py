"""Options of Evaluations and Summaries: weights in each form, single metrics, and selected queries."""

import numpy as np
import pytest
from support.small_rankings import QRELS, RUN

import rankgain as rg

# Weights of the queries q, r and s. Their reciprocal ranks are 1/4, 1 and 0; they have 5, 2 and 0 documents.
BY_QUERY = {"q": 3, "r": 0, "s": 1}
WEIGHTS = {
    "list": [3.0, 0.0, 1.0],
    "array": np.array([3.0, 0.0, 1.0], "f4"),
    "dict": BY_QUERY,
    "larger dict": BY_QUERY | {"another": 9},
}
weights = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


def evaluation(*metrics):
    return rg.from_qrels(QRELS, RUN).evaluate(*metrics)


def mean(*args, **options):
    return evaluation("rr", "num_ret").mean(*args, **options)


def aggregate(*args, **options):
    return evaluation("rr", "num_ret").aggregate(*args, **options)


def flat(**options):
    return evaluation("rr", "num_ret").flat(**options)


@pytest.mark.options("Evaluation.mean", "weights")
@pytest.mark.options("Evaluation.aggregate", "weights")
@pytest.mark.options("Evaluation.flat", "weights")
@weights
def test_weights_apply_to_means(check_option, weights):
    """In `aggregate` and `flat`, counts are summed rather than averaged."""
    check_option(mean, "weights", weights, {"rr": 3 / 16, "num_ret": 15 / 4})
    check_option(aggregate, "weights", weights, {"rr": 3 / 16, "num_ret": 15.0})
    check_option(flat, "weights", weights, {"rr": 3 / 16, "num_ret": 15.0})
    for function in (mean, aggregate):
        check_option(function, "weights", weights, 3 / 16, "rr")


@pytest.mark.options("Evaluation.mean", "metric")
@pytest.mark.options("Evaluation.aggregate", "metric")
@pytest.mark.options("Summary.mean", "metric")
def test_a_single_metric_gives_a_number(check_option):
    def summary_mean(**options):
        return evaluation("rr", "num_ret").summary().mean(**options)

    for function in (mean, aggregate, summary_mean):
        check_option(function, "metric", "rr", 5 / 12)
    check_option(aggregate, "metric", "num_ret", 7.0)


@pytest.mark.options("Evaluation.flat", "names")
def test_flat_writes_safe_names(check_option):
    def flat(**options):
        return rg.from_qrels({"q": {"a": 1}}, {"q": {"b": 1}}).evaluate("ndcg@2").flat(**options)

    check_option(flat, "names", "safe", {"ndcg_at_2": 0.0})


@pytest.mark.options("Evaluation.subset", "queries")
def test_subset_takes_ids_or_a_mask(check_option):
    def subset(queries=("q", "r")):
        return evaluation("rr").subset(queries)

    for queries, values in (
        (["s", "q"], [0.0, 1 / 4]),
        ([True, False, True], [1 / 4, 0.0]),
        (np.array([False, True, False]), [1.0]),
    ):
        check_option(subset, "queries", queries, [values])


@pytest.mark.options("Comparison.means", "weights")
@pytest.mark.options("Comparison.aggregate", "weights")
@weights
def test_weights_apply_to_the_means_of_a_comparison(check_option, weights):
    runs = {"one": RUN, "other": {"q": {"x": 2.0, "a": 1.0}}}
    for method in (rg.Comparison.means, rg.Comparison.aggregate):

        def means(method=method, **options):
            return method(rg.compare(QRELS, runs, ["rr"]), **options)

        check_option(means, "weights", weights, {"one": {"rr": 3 / 16}, "other": {"rr": 3 / 8}})


def compared_means(qrels, runs, **options):
    return rg.compare(qrels, runs, ["rr"], **options).means()


@pytest.mark.options("compare", "ties")
def test_compare_orders_by_a_tie_policy(check_option):
    runs = {"one": {"q": {"b": 1.0, "a": 1.0}}, "other": {"q": {"a": 1.0, "c": 1.0}}}
    for ties, one, other in [("average", 3 / 4, 3 / 4), ("stable", 1 / 2, 1.0), ("best", 1.0, 1.0)]:
        check_option(compared_means, "ties", ties, {"one": {"rr": one}, "other": {"rr": other}}, {"q": {"a": 1}}, runs)


@pytest.mark.options("compare", "missing", "queries")
def test_compare_chooses_queries(check_option):
    run, qrels = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    values = {"one": {"rr": 1.0}, "other": {"rr": 1.0}}
    check_option(compared_means, "missing", "skip", values, qrels, {"one": run, "other": run})
    runs = {"one": {**run, "r": {"b": 1.0}}, "other": run}
    check_option(compared_means, "queries", "common", values, qrels, runs, missing="skip")
