"""Truth and runs that `evaluate` rejects because their form is unknown or ambiguous."""

import numpy as np
import pytest

import rankgain as rg

QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 1.0}}
COLUMNS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
NO_METRIC = "no metric was requested: rankgain.evaluate(truth, run, 'ndcg@10')"
SWAPPED = "relevant ids come first: write from_recommendations(relevant, rec"
PAIRS = "tuple in run; of (id, score) pairs, best first, pass the ids: [id for id, _ in pairs]"
IDS_AND_SCORES = np.array([[5, 6]]), np.array([[0.5, 0.25]])  # the arrays that implicit's recommend() returns
UNNAMED_HIT = {"q": {"hits": {"hits": [{"_id": "d1", "_score": 2.0}, {"_score": 1.0}]}}}


@pytest.mark.parametrize("row", [
    ("needs truth and a run", TypeError, QRELS),
    (NO_METRIC, TypeError, QRELS, RUN),
    ("evaluate needs truth and a run: rankgain.evaluate(truth, run, 'ndcg@10')", TypeError, QRELS, "ndcg@10"),
    ("run is Judgments, which are truth: truth comes first", TypeError, RUN, rg.judgments(QRELS), "rr"),
    ("not int: write a cut-off in it, 'ndcg@5'", TypeError, QRELS, RUN, [5, 10]),
    ("table has no relevance column (expected relevance", ValueError, COLUMNS, "ndcg@10"),
    (f"run: query 'u': must be a list of ids, best first, not set: {SWAPPED}", TypeError,
     {"u": ["a"]}, {"u": {"a"}}, "ndcg"),
    (f"a list of ids, best first, not dict: {SWAPPED}", TypeError,
     {"u": ["a"]}, {"u": {"a": 1}, "v": ["a"]}, "ndcg"),
    (PAIRS, ValueError, {"u": {"a"}}, {"u": [("a", 9), ("b", 1)]}, "ndcg"),
    (PAIRS, ValueError, [{"a"}], [[("a", 9), ("b", 1)]], "ndcg"),
    ("call their method evaluate", TypeError, QRELS, rg.from_qrels(QRELS, RUN), "mrr"),
    ("truth is empty", ValueError, [], [], "rr"),
    ("run is empty: …write [[] for _ in truth]", ValueError, [[1, 0]], [], "rr"),
    ("truth has 0", ValueError, [], [[1, 0]], "rr"),
    ("run: query 'q', hit 1: it has no _id", ValueError, {"q": {"d1": 1}}, UNNAMED_HIT, "rr"),
    ("run is a pair of ids and scores: give the ids alone, run[0]", TypeError, [[5]], IDS_AND_SCORES, "mrr"),
    ("unknown metric 'ngcd@10'", ValueError, "no such file", "nor this one", "ngcd@10"),
])  # fmt: skip
def test_evaluate_rejects_sides(rejects, row):
    message, error, *given = row
    rejects(error, message, rg.evaluate, *given)


@pytest.mark.parametrize("truth", [{0: [5]}, {0: {5: 1}}, [{5}], rg.judgments([{5}])], ids=lambda v: type(v).__name__)
def test_evaluate_rejects_ids_beside_scores(rejects, truth):
    message = "pair of ids and scores: give the ids alone, run[0]"
    rejects(TypeError, message, rg.evaluate, truth, IDS_AND_SCORES, "mrr")


@pytest.mark.parametrize(
    ("truth", "run"),
    [
        ([1, 0], [2, 1]),
        ([[1, 0]], [[2, 1]]),
        ([[1, 0], [1]], [[2, 1], [3]]),
        (np.array([[1, 0]]), np.array([[2, 1]])),
        ([np.array([1, 0])], [np.array([2, 1])]),
        ([[1.0, 0.0]], [[2, 1]]),
        ([True, False], [2, 1]),
        ([[1, 0]], [[]]),
    ],
    ids=["lists", "nested", "unequal", "matrices", "arrays", "floats", "booleans", "empty run"],
)
def test_evaluate_rejects_labels_and_scores_that_may_be_ids(rejects, truth, run):
    rejects(TypeError, "from_scores(…from_recommendations(…from_ranked(", rg.evaluate, truth, run, "ndcg")


def test_from_qrels_rejects_a_hit_without_id(rejects):
    rejects(ValueError, "run: query 'q', hit 1: it has no _id", rg.from_qrels, QRELS, UNNAMED_HIT)


def test_evaluate_names_the_keywords_that_are_neither_truth_nor_run(rejects):
    message = "needs truth and a run, not y_true=, y_score=: rankgain.evaluate(truth, run, 'ndcg@10')"
    rejects(TypeError, message, rg.evaluate, "ndcg", y_true=[[1, 0]], y_score=[[0.5, 0.2]])
