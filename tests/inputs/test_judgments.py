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
    ("truth must hold for each user…not {type}", TypeError, None, 5, b"file", iter([]), len),
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
    ("pair of ids and scores…recommended[0]", TypeError, rg.evaluate, sparse.csr_array(PAIR[0]), PAIR, "rr"),
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
