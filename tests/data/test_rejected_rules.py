"""Rules, limits and other requests that rankings reject because of their values or because of the input data."""

import math

import pytest
from support.evaluating import METRICS

import rankgain as rg

QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}
RUN = {"q": {"a": 0.5, "b": 1.0, "x": 0.25}, "r": {"a": 0.5, "b": 0.5}}
RANKED, SCORED, MATCHED = rg.from_ranked([1, 0]), rg.from_scores([1, 0], [1, 0]), rg.from_qrels(QRELS, RUN)
LISTS = rg.from_recommendations([{1}, {1}], [[1], [2]])
PRESENT = rg.from_qrels({"q": {"d": 1}, "r": {"d": 1}}, {"q": {"d": 1}}, query_ids=["n"], missing="skip")


@pytest.mark.parametrize("row", [
    ("in rank order, without scores", RANKED, {"ties": "stable"}),
    ("in rank order, without scores", RANKED, {"score_bits": 32}),
    ("do not record which queries the run lacks", RANKED, {"missing": "skip"}),
    ("in rank order, without scores", LISTS, {"ties": "best"}),
    ("needs document ids, and bare scores have none", SCORED, {"ties": "docid"}),
    ("ties must be one of", SCORED, {"ties": "random"}),
    ("do not record which queries the run lacks", SCORED, {"missing": "zero"}),
    ("score_bits must be 64 or 32, not 16", SCORED, {"score_bits": 16}),
    ("missing must be 'zero' or 'skip'", MATCHED, {"missing": "leave"}),
    ("query_ids named only the queries that the run has", PRESENT, {"missing": "zero"}),
    ("missing: only queries with scored documents are left", MATCHED.limited(scored_only=True), {"missing": "zero"}),
])  # fmt: skip
def test_under_rejects_rules(rejects, row):
    message, rankings, rules = row
    rejects(ValueError, message, rankings.under, **rules)


def test_tie_spread_rejects_rankings_without_scores(rejects):
    message = "tie_spread: these rankings were given in rank order, without scores"
    rejects(ValueError, message, RANKED.tie_spread, "rr")


def test_tie_spread_rejects_metrics(rejects):
    rejects(ValueError, "no metric was requested", MATCHED.tie_spread)
    rejects(ValueError, "unknown metric 'nonsense'", MATCHED.tie_spread, "nonsense")
    rejects(KeyError, "rr@77 was not evaluated", MATCHED.tie_spread("ndcg").affected, "rr@77")


@pytest.mark.parametrize("row", [
    ("depth must be a positive integer", ValueError, 0, -1),
    ("depth must be a positive integer", TypeError, 1.5, "3", True),
])  # fmt: skip
def test_limited_rejects_a_depth(rejects, row):
    message, error, *values = row
    for depth in values:
        rejects(error, message, MATCHED.limited, depth=depth)


@pytest.mark.parametrize("option", ["judged_only", "scored_only"])
def test_limited_rejects_a_flag(rejects, option):
    rejects(TypeError, f"{option} must be True or False, not 'yes'", MATCHED.limited, **{option: "yes"})


def test_limited_rejects_rankings_without_scored_documents(rejects):
    rankings = rg.from_qrels({"q": {"a": 1}}, {"q": {}})
    rejects(ValueError, "qrels and run have no query in common", rankings.limited, scored_only=True)


def evaluate_limited(qrels, run, **limits):
    return rg.from_qrels(qrels, run).limited(**limits).evaluate(*METRICS)


@pytest.mark.parametrize("limits", [{"depth": 1}, {"judged_only": True}], ids=["depth", "judged_only"])
def test_limited_reads_the_documents_that_it_leaves_out(rejects, limits):
    bad = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0, "b": math.nan}}
    rejects(ValueError, "run: query 'r', document 'b': the score is NaN", evaluate_limited, QRELS, bad, **limits)
    bad = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0, "b": math.inf}}
    rejects(ValueError, "qrels: query 'r', document 'b': the grade is infinite", evaluate_limited, bad, RUN, **limits)


def test_scored_documents_have_no_judgments_by_subtopic(rejects):
    judged = rg.judgments({"q": {"1": {"a": 1}, "2": {"b": 1}}}, subtopic=True)
    rankings = rg.from_qrels(judged, {"q": {"a": 1.0}}).limited(scored_only=True)
    rejects(
        ValueError,
        "alpha_ndcg@10: scored_only does not apply to judgments by subtopic",
        rankings.evaluate,
        "alpha_ndcg@10",
    )
    assert rankings.evaluate("ndcg").mean("ndcg") == 1.0
