"""Tables with one row per document that are passed as a matrix or as lists."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg

TRUTH = {"user_id": [1, 1, 2, 3], "item_id": [3, 4, 9, 7]}
RUN = {"user_id": [1, 1, 2, 3], "item_id": [4, 5, 1, 8]}
MESSAGE = "is a table with the columns 'user_id' and 'item_id': write from_frames(qrels_df, run_df), or evaluate("


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_table_of_users_and_items_is_rejected_as_matrix(rejects, frame):
    truth, run = frame(TRUTH), frame(RUN)
    rejects(TypeError, f"recommended {MESSAGE}", rg.from_recommendations, truth, run)
    rejects(TypeError, f"relevant {MESSAGE}", rg.from_recommendations, truth, [[1], [2]])
    rejects(TypeError, f"recommended {MESSAGE}", rg.from_recommendations, [[1], [2]], run)
    if frame is not dict:
        rejects(TypeError, f"y_true {MESSAGE}", rg.from_scores, truth, run)
        rejects(TypeError, f"relevance {MESSAGE}", rg.from_ranked, run)
        rejects(TypeError, f"relevance {MESSAGE}", rg.ndcg, run)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_other_frames_are_matrices(frame):
    ids, relevant = np.array([[6, 3, 8], [1, 2, -1]]), [{3}, {2}]
    result = rg.from_recommendations(relevant, frame(ids)).evaluate("rr")
    assert result["rr"].tolist() == [0.5, 0.5]
    assert rg.from_recommendations(relevant, frame({"item_id": [3, 4]})).evaluate("rr")["rr"].tolist() == [1.0, 0.0]
    scores = frame({"relevance": [1.0, 0.0], "score": [0.0, 1.0]})
    assert rg.ndcg(scores).tolist() == pytest.approx([1.0, 0.6309297535714575])


@pytest.mark.usefixtures("backend")
def test_users_may_have_the_names_of_columns():
    lists = {"user": ["a"], "rank": ["b"]}
    assert rg.from_recommendations(lists, lists).evaluate("rr")["rr"].tolist() == [1.0, 1.0]
