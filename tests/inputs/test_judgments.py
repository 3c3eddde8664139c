"""Truth that `judgments` rejects, and calls that reject prepared judgments."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from support.evaluating import (
    evaluate_frames,
    evaluate_qrels,
    evaluate_ranked,
    evaluate_recommendations,
    evaluate_scores,
)

import rankgain as rg

nan = math.nan
COLUMNS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
RUN = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
TRUTH = rg.judgments({"q": {"d": 1}})
BROKEN = sparse.csr_matrix(np.array([[0, 1, 2], [3, 0, 0]]))
BROKEN.indptr = np.array((0, 9, 3), "i4")
UNNAMED = pd.DataFrame({"doc_id": ["d"], "relevance": [1]}, index=["q"])


@pytest.mark.parametrize("row", [
    ("truth must hold for each user…not {type}", TypeError, None, 5, b"file", len),
    ("truth must be a pandas, polars or Arrow table…{type}…collect() it first", TypeError, pl.LazyFrame(COLUMNS)),
    ("truth: query 'q': must be", TypeError, {"q": None}, {"q": 2.5}),
    ("truth: query 'q', document 'd'…NaN", ValueError, {"q": {"d": nan}}),
    ("truth: query 'q', document 'd'…a number", TypeError, {"q": {"d": "1"}}, {"q": {"d": [1]}}),
    ("truth: query 'q', document 'd'…earlier", ValueError, {"q": ["d", "d"]}),
    ("truth is a broken sparse matrix", ValueError, BROKEN),
    ("absent", FileNotFoundError, "absent.txt"),
    ("truth: query 'q', document 'a'…NaN", ValueError, pd.DataFrame({**COLUMNS, "relevance": [nan, 1, 1]})),
    # the error names the lowest position
    ("truth: query 'q', document 'a'…earlier", ValueError,
     pd.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "relevance": [1, 1, nan]})),
])  # fmt: skip
def test_judgments_rejects_truth(rejects, row):
    message, error, *values = row
    for value in values:
        rejects(error, message.format(type=type(value).__name__), rg.judgments, value)


@pytest.mark.parametrize("row", [
    ("truth has no column 'x'", COLUMNS, "x"),
    ("found doc_id, relevance; its index has no name: frame.rename_axis", UNNAMED, "doc_id"),
    ("found doc_id, relevance): pass query=", UNNAMED.reset_index(drop=True), "doc_id"),
])  # fmt: skip
def test_judgments_names_columns_that_are_absent(rejects, row):
    message, frame, doc = row
    rejects(ValueError, message, rg.judgments, frame, doc=doc)


PAIR = np.ones((1, 2), int), np.ones((1, 2))


@pytest.mark.parametrize("row", [
    ("run must be a mapping", TypeError, evaluate_qrels, {"q": {"d": 1}}, TRUTH),
    ("recommended must hold lists", TypeError, evaluate_recommendations, [["d"]], TRUTH),
    ("run_df must be…not Judgments", TypeError, evaluate_frames, COLUMNS, TRUTH),
    ("qrels_df is Judgments…give run_df", TypeError, evaluate_frames, TRUTH),
    ("y_true…Judgments", TypeError, evaluate_scores, TRUTH, [1]),
    ("relevance…Judgments", TypeError, evaluate_ranked, TRUTH),
    ("other types…str in truth, int in run", ValueError, evaluate_qrels, TRUTH, {"q": {1: 1}}),
    ("has keys…query_ids", ValueError, evaluate_recommendations, TRUTH, [["d"]]),
    ("truth and run_df have no query in common", ValueError,
     evaluate_frames, TRUTH, {**RUN, "query_id": ["x"] * 3}),
    ("truth and recommended have no query in common", ValueError, evaluate_recommendations, TRUTH, {"x": ["d"]}),
    ("pair of ids and scores…run[0]", TypeError, rg.evaluate, sparse.csr_array(PAIR[0]), PAIR, "rr"),
    ("document 2: ids must be…all int, and this one is int", TypeError,
     evaluate_frames, rg.judgments({"q": {"a": 1, 2: 1}}), RUN),
    ("document (1,): ids must be…all int, and this one is tuple", TypeError,
     evaluate_frames, rg.judgments({"q": {(1,): 1}}), RUN),
])  # fmt: skip
def test_prepared_judgments_are_rejected(rejects, row):
    message, error, function, *given = row
    rejects(error, message, function, *given)


def test_prepared_judgments_are_no_grades_beside_lists(rejects):
    rejects(TypeError, "judged…Judgments", evaluate_scores, [[1]], [[1]], judged=TRUTH)
    rejects(TypeError, "judged…Judgments", evaluate_ranked, [[1]], judged=TRUTH)


QRELS = {f"q{number}": {"a": 1, "b": number % 3, f"c{number}": 2} for number in range(8)}
FEW_RUN = {"q6": {"c6": 3.0, "x": 2.0, "a": 1.0}, "unjudged": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}


def one_of_many(form, judged, **options):
    if form == "qrels":
        return rg.from_qrels(judged, FEW_RUN, **options)
    if form == "frames":
        rows = [(query, doc, score) for query, scores in FEW_RUN.items() for doc, score in scores.items()]
        return rg.from_frames(
            judged, dict(zip(("query_id", "doc_id", "score"), zip(*rows, strict=True), strict=True)), **options
        )
    lists = {query: [*scores] for query, scores in FEW_RUN.items()}
    return rg.from_recommendations(judged, lists, **options)


@pytest.mark.parametrize("form", ["qrels", "frames", "recommendations"])
def test_few_of_many_judged_queries_are_those_of_the_run(form):
    """The order, the counts and the values are those of `missing="zero"`, without the queries that the run lacks."""
    for judged in [rg.judgments(QRELS)] + [QRELS] * (form != "frames"):
        skipped, whole = (one_of_many(form, judged, missing=missing) for missing in ("skip", "zero"))
        result, expected = skipped.evaluate("ndcg", "bpref"), whole.evaluate("ndcg", "bpref")
        assert list(result.query_ids) == ["q2", "q6"]
        assert result.to_dict() == {query: expected.to_dict()[query] for query in ("q2", "q6")}
        assert (result.counts["missing"], result.counts["unjudged"]) == (6, 1)
        assert skipped.left_out == whole.left_out
        assert skipped.under(missing="zero").evaluate("ndcg", "bpref") == expected
        assert whole.under(missing="skip").evaluate("ndcg", "bpref") == result
        named = one_of_many(form, judged, missing="skip", query_ids=["two", "six"])
        assert named.evaluate("ndcg")["ndcg"].tolist() == result["ndcg"].tolist()
        assert list(named.query_ids) == ["two", "six"]


def test_few_queries_that_are_not_judged_are_rejected(rejects):
    judged = rg.judgments(QRELS)
    message = "truth and run have no query in common"
    rejects(ValueError, message, rg.from_qrels, judged, {"z": {"a": 1.0}}, missing="skip")
    message = "the document ids are str in truth and int in recommended"
    rejects(ValueError, message, rg.from_recommendations, judged, {"q1": [1, 2]}, missing="skip")
    message = "recommended: query 'q1', document 'a' (position 1)"

    def evaluated(rows):
        return rg.from_recommendations(judged, rows, missing="skip").evaluate("rr")

    rejects(ValueError, message, evaluated, {"q1": ["a", "a"]})
