"""Bounds for unjudged documents hold for all possible judgments, and some judgments nearly attain them."""

import itertools

import numpy as np
import pytest
from support.marks import in_one_case, quick_first

import rankgain as rg
from rankgain.comparison.bounds import difference_bounds, ranked_queries
from rankgain.metrics.metric import parse

pytestmark = pytest.mark.usefixtures("backend")

METRICS = (
    "ndcg@2", "ndcg", "ndcg(gain=exponential)@3", "ndcg(discount=zipf)", "ncg@2", "recall@2", "recall",
    "recall(rel=2)@3", "map", "ap@2", "ap(rel=2)", "precision@2", "precision", "rr", "rr@2", "success@2", "dcg@3",
    "cg", "rbp",
)  # fmt: skip


def bounds(metric, truth, runs, highest):
    ((_, record),) = parse(metric)
    first, second = (ranked_queries(rg.from_qrels(truth, run)) for run in runs)
    return [ends[0] for ends in difference_bounds(record, first, second, highest)]


def ranked(documents):
    return {"q": {document: float(-position) for position, document in enumerate(documents)}}


def difference(metric, truth, runs):
    values = [rg.from_qrels({"q": truth}, run).evaluate(metric)[metric][0] for run in runs]
    return values[0] - values[1]


def check_within(ends, metric, judged, runs, grades):
    """Check that the difference is within the bounds if the unjudged documents have these grades."""
    __tracebackhide__ = True
    low, high = ends
    result = difference(metric, judged | grades, runs)
    assert low - 1e-12 <= result <= high + 1e-12, (
        f"{metric}: the difference {result} is not within {low} to {high}\n"
        f"judged {judged}, then {grades}\nruns {[[*run['q']] for run in runs]}"
    )


def drawn(random, most):
    """Draw the judgments of a query and two runs; return them with the unjudged documents."""
    documents = [f"d{number}" for number in range(most)]
    runs = [ranked(random.permutation(documents)[: random.integers(0, most + 1)].tolist()) for _ in range(2)]
    judged = {d: int(random.integers(0, 3)) for d in [*documents, "x", "y"] if random.random() < 0.5}
    unknown = sorted({d for run in runs for d in run["q"]} - set(judged))
    return judged or {"x": 1}, runs, unknown


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cases", quick_first([4, 40]))
def test_bounds_contain_every_judgment_of_small_cases(metric, cases):
    random = np.random.default_rng(len(metric))
    for _ in range(cases):
        judged, runs, unknown = drawn(random, 4)
        ends = bounds(metric, {"q": judged}, runs, 2.0)
        for grades in itertools.product((0, 1, 2), repeat=len(unknown)):
            check_within(ends, metric, judged, runs, dict(zip(unknown, grades, strict=True)))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cases", quick_first([3, 60]))
def test_bounds_contain_random_judgments_of_large_cases(metric, cases):
    random = np.random.default_rng(7 + cases)
    for _ in range(cases):
        judged, runs, unknown = drawn(random, 30)
        ends = bounds(metric, {"q": judged}, runs, 2.0)
        for _ in range(10):
            share = random.random()
            grades = np.where(random.random(len(unknown)) < share, random.choice([1, 2, 2]), 0).tolist()
            check_within(ends, metric, judged, runs, dict(zip(unknown, grades, strict=True)))


@pytest.mark.parametrize("metric", ["ndcg@3", "recall@3", "ap", "precision@3", "rr", "dcg@3"])
def test_the_bounds_are_reached_where_no_document_is_shared(metric):
    judged, runs = {"a": 2, "b": 0, "x": 2}, [ranked("ucav"), ranked("bwz")]
    low, high = bounds(metric, {"q": judged}, runs, 2.0)
    unknown = sorted(set("ucvwz"))
    differences = [
        difference(metric, judged | dict(zip(unknown, grades, strict=True)), runs)
        for grades in itertools.product((0, 1, 2), repeat=len(unknown))
    ]
    assert high == pytest.approx(max(differences))
    assert low == pytest.approx(min(differences))


def test_bounds_of_fully_judged_lists_are_the_difference():
    judged, runs = {"a": 2, "b": 0, "c": 1}, [ranked("abc"), ranked("bca")]
    for metric in METRICS:
        low, high = bounds(metric, {"q": judged}, runs, 2.0)
        assert low == pytest.approx(high)
        assert low == pytest.approx(difference(metric, judged, runs))


@in_one_case(
    "metric",
    [
        *("f@3", "bpref", "err@3", "ndcg(ideal=returned)@3", "rr(empty=nan)", "capped_recall@2", "r_precision"),
        *("p(rel=0)@3", "rr(rel=0)", "success(rel=0)@2", "recall(rel=0)@2", "ap(rel=0)"),
    ],
)
def test_metrics_without_bounds_have_none(metric):
    runs = [ranked("ab"), ranked("bc")]
    ((_, record),) = parse(metric)
    first, second = (ranked_queries(rg.from_qrels({"q": {"a": 1}}, run)) for run in runs)
    assert difference_bounds(record, first, second, 1.0) is None
    assert ranked_queries(rg.from_qrels({"q": {"a": 1}}, runs[0], ties="average")) is None
