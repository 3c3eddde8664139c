"""Null query and document ids in each form of input; null ids in columns are part of the tests of frames."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg
from rankgain import pytrec_eval

NULL = "the value is null; drop such "


@pytest.mark.parametrize(
    "column",
    [list, tuple, pd.Series, pl.Series, pa.array, lambda values: np.array(values, dtype=object)],
    ids=["list", "tuple", "pandas", "polars", "Arrow", "objects"],
)
def test_qid_may_not_be_null(rejects, column):
    for values, position in [(["a", None, "a"], 1), ([None, "a", "b"], 0), ([2, None, 2], 1)]:
        message = f"qid: position {position}: the id is "
        rejects(ValueError, message, rg.from_scores, [1, 0, 1], [0.1, 0.2, 0.3], qid=column(values))


def evaluate(constructor, *sides):
    return constructor(*sides).evaluate("rr")


@pytest.mark.parametrize("null", [None, math.nan], ids=str)
def test_documents_in_judgments_may_not_be_null(rejects, null):
    for judged, message in [
        ({null: 1}, f"query 'q', document {null!r}: {NULL}"),
        ({"a": 1, null: 0, "b": math.nan}, f"query 'q', document {null!r}: {NULL}"),
        ({"a": np.float32(2), "b": math.nan, null: 1}, "query 'q', document 'b': the grade is NaN"),
    ]:
        qrels = {"p": {"a": 1}, "q": judged}
        rejects(ValueError, f"qrels: {message}", evaluate, rg.from_qrels, qrels, {"q": {"a": 1.0}})
        rejects(ValueError, f"truth: {message}", rg.judgments, qrels)
        rejects(ValueError, message, evaluate, rg.from_recommendations, qrels, {"q": ["a"]})
        rejects(ValueError, message, pytrec_eval.RelevanceEvaluator, qrels, {"map"})
    for ids in ({null, "a"}, [null, "a"], ["a", null, "b"], [null, (1, 2)]):
        message = f"truth: query 'q', document {null!r}: {NULL}"
        rejects(ValueError, message, rg.judgments, {"q": ids})


def test_recommended_ids_may_not_be_null(rejects):
    for ids, message in [
        ([None, "a"], f"query 'q', position 0: {NULL}"),
        (["a", math.nan, "b"], f"query 'q', position 1: {NULL}"),
        ([(1, 2), None, (3, 4)], "query 'q', position 1: the id is None"),
    ]:
        rejects(ValueError, f"recommended: {message}", rg.from_recommendations, {"q": [(1, 2)]}, {"q": ids})


def test_queries_may_not_be_null(rejects):
    for null, message in [(None, "the id is None"), (math.nan, "the id is NaN or missing")]:
        names = ["a", null]
        rejects(ValueError, f"query_ids: position 1: {message}", rg.from_ranked, [[1], [0]], query_ids=names)
        side = {"a": {"d": 1}, null: {"d": 1}}
        rejects(ValueError, f"qrels: position 1: {message}", rg.from_qrels, side, side)
        side = {"a": ["d"], null: ["d"]}
        rejects(ValueError, f"relevant: position 1: {message}", rg.from_recommendations, side, side)
