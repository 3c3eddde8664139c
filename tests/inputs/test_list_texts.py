"""Errors if ids are expected but the input holds lists stored as text, as in a CSV file."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg

NO_COMMAS = "store lists in parquet or JSON, or split each text into ids"
TEXTS = [
    (["[3, 4]", "[9]"], "convert each with json.loads"),
    (['["a", "b"]', "[]"], "convert each with json.loads"),
    (["[9]", "['a', 'b']"], "convert each with ast.literal_eval"),
    (["[1 2 3]", "[4 5]"], NO_COMMAS),
    (["[1, 2, ..., 9]", "[4]"], NO_COMMAS),
    (["[5]"], NO_COMMAS),
]


@pytest.mark.parametrize(("texts", "advice"), TEXTS)
def test_text_of_lists_is_refused(rejects, texts, advice):
    message = f"holds lists as text, {texts[0]!r}, not ids: {advice}"
    lists = [["a"], ["b"]][: len(texts)]
    for column in (list, pd.Series, pl.Series, tuple):
        rejects(ValueError, f"relevant {message}", rg.from_recommendations, column(texts), lists)
        rejects(ValueError, f"truth {message}", rg.judgments, column(texts))
        rejects(ValueError, f"truth {message}", rg.evaluate, column(texts), {"q": {"d": 1.0}}, "rr")
    by_user = dict(zip("uv", texts, strict=False))
    rejects(ValueError, f"relevant {message}", rg.from_recommendations, by_user, lists)
    rejects(ValueError, f"recommended {message}", rg.from_recommendations, {"a"}, texts)
    rejects(ValueError, f"run {message}", rg.evaluate, {"a"}, texts, "rr")


def test_text_of_a_list_in_a_mapping_is_refused(rejects):
    message = "must be a list of ids, best first, not str: the text of a list; convert each with json.loads"
    rejects(TypeError, f"recommended: query 'u': {message}", rg.from_recommendations, {"u": ["a"]}, {"u": "[1, 2]"})
    two = [["a"], ["b"]], [["a"], "[1, 2]"]
    rejects(TypeError, f"recommended: query 1: {message}", rg.from_recommendations, *two)
    message = "relevant: query 1: must be a set or list of ids, or a mapping to grades, not str: the text of a list; "
    rejects(TypeError, message, rg.from_recommendations, [["a"], "[1, 2]"], [["a"], ["b"]])


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_documents_may_not_hold_lists_as_text(rejects, frame):
    lists = frame({"user_id": [1, 2], "item_id": ["[3, 4]", "[9]"], "score": [1.0, 2.0]})
    rows = frame({"user_id": [1, 2], "item_id": ["3", "9"], "score": [1.0, 2.0], "rating": [1, 1]})
    message = (
        "column 'item_id', which must have a row per document, holds lists as text, '[3, 4]', not ids: convert each "
        "with json.loads"
    )
    rejects(ValueError, f"run_df: {message}", rg.from_frames, rows, lists)
    rejects(ValueError, f"qrels_df: {message}", rg.from_frames, lists, rows, relevance="score")
    rejects(ValueError, f"truth: {message}", rg.judgments, lists, relevance="score")


@pytest.mark.usefixtures("backend")
def test_titles_in_brackets_are_ids():
    titles = ["[REC]", "Alien"]
    assert rg.from_recommendations({"Alien"}, titles).evaluate("rr")["rr"].tolist() == [0.5]
    assert rg.from_recommendations(titles, [["[REC]"], ["[REC]"]]).evaluate("rr")["rr"].tolist() == [1.0, 0.0]
    frame = {"user_id": [1, 1], "item_id": titles, "score": [2.0, 1.0], "rating": [0, 1]}
    assert rg.from_frames(frame, frame).evaluate("rr")["rr"].tolist() == [0.5]
