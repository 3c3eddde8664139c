"""Padding at the ends of lists of ids, and 0 as padding of ids, labels and scores."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

METRICS = "ndcg", "rr", "recall@3", "precision@5"
PADDING = {"int": [-1, None, math.nan, np.int64(-1), pd.NA], "str": ["", None, math.nan, np.str_(""), pd.NA]}


def dict_of(lists):
    return {f"u{user}": list(items) for user, items in enumerate(lists)}


def rows_of(relevant, recommended, table):
    pairs = zip(relevant, recommended, strict=True)
    return rg.from_rows(table([{"relevant": truth, "retrieved": run} for truth, run in pairs]))


def matrix(lists, padding):
    longest = max(map(len, lists)) + 1
    return [[*items, *[padding] * (longest - len(items))] for items in lists]


def of_frame(lists):
    """Return a frame whose missing ids are those that pandas fills in."""
    return pd.DataFrame(matrix(lists, None)).convert_dtypes()


LISTS = {
    "lists": list,
    "tuples": lambda lists: tuple(map(tuple, lists)),
    "arrays": lambda lists: [np.array(items, dtype=object) for items in lists],
}
MATRICES = {
    "−1": lambda lists: np.array(matrix(lists, -1)),
    "rows of −1": lambda lists: [np.array(row) for row in matrix(lists, -1)],
    "NaN": lambda lists: np.array(matrix(lists, math.nan), dtype=np.float64),
    "rows of NaN": lambda lists: [np.array(row, dtype=np.float64) for row in matrix(lists, math.nan)],
    "a frame": of_frame,
    "pyarrow": lambda lists: pa.array(matrix(lists, None)),
    "polars": lambda lists: pl.Series(matrix(lists, None)),
}
TABLES = {"records": list, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pylist}
ids = st.lists(st.integers(1, 9), unique=True, min_size=1, max_size=6)


@given(st.data(), st.lists(st.tuples(ids, ids), min_size=1, max_size=4), st.sampled_from(["int", "str"]))
def test_padded_lists_equal_qrels(data, users, kind):
    convert = int if kind == "int" else "item {}".format
    relevant, recommended = ([[*map(convert, side[part])] for side in users] for part in (0, 1))
    qrels = {user: dict.fromkeys(items, 1) for user, items in dict_of(relevant).items()}
    run = {user: {item: -rank for rank, item in enumerate(items)} for user, items in dict_of(recommended).items()}
    expected = rg.from_qrels(qrels, run).evaluate(*METRICS)

    def padded(lists):
        return [items + data.draw(st.lists(st.sampled_from(PADDING[kind]), max_size=3)) for items in lists]

    truth, lists = padded(relevant), padded(recommended)
    forms = {name: rg.from_recommendations(form(truth), form(lists)) for name, form in LISTS.items()}
    forms["dicts"] = rg.from_recommendations(dict_of(truth), dict_of(lists))
    forms["judgments"] = rg.from_recommendations(rg.judgments(truth), lists)
    for name, form in MATRICES.items():
        if kind == "int" or "pad" in name or name in ("a frame", "pyarrow", "polars"):
            forms[f"matrix, {name}"] = rg.from_recommendations(form(relevant), form(recommended))
    filled = matrix(relevant, PADDING[kind][0]), matrix(recommended, None)
    forms |= {f"table, {name}": rows_of(*filled, table) for name, table in TABLES.items()}
    for name, rankings in forms.items():
        result = rankings.evaluate(*METRICS)
        assert {metric: result[metric].tolist() for metric in METRICS} == {
            metric: expected[metric].tolist() for metric in METRICS
        }, name
    documents = rg.similarity(lists, recommended, "jaccard@9")
    assert documents["jaccard@9"].tolist() == [1.0] * len(users)


def test_padding_of_a_single_list_and_of_one_id_per_user():
    assert rg.from_recommendations([3, -1], [1, 3, -1, -1]).evaluate("recall", "precision").mean() == {
        "recall": 1.0,
        "precision": 0.5,
    }
    for relevant in ([3, -1], np.array([3, -1]), ["3", ""]):
        lists = [["3", ""], [""]] if isinstance(relevant[0], str) else [[3, -1], [-1]]
        result = rg.from_recommendations(relevant, lists).evaluate("recall")
        assert result["recall"].tolist() == [1.0, 0.0]
        assert result.counts["empty"] == 1
    assert rg.from_recommendations([[(1, 2), None]], [[(1, 2), None]]).evaluate("precision").mean("precision") == 1.0


def test_only_the_end_of_a_list_is_padding(rejects):
    message = "query 0, position 1: the {}; drop such ids: only at the end of a list are they padding"
    for value, what in ((None, "value is null"), (math.nan, "value is null"), ("", "id is an empty text")):
        rejects(
            ValueError, f"recommended: {message.format(what)}", rg.from_recommendations, [["a"]], [["b", value, "a"]]
        )
        for table in TABLES.values() if not isinstance(value, float) else ():
            rows = table([{"relevant": ["a"], "retrieved": ["b", value, "a"]}])
            rejects(ValueError, f"position 1: the {what}; drop such ids", rg.from_rows, rows)
    assert rg.from_recommendations([[-1, 3]], [[-1, 4]]).evaluate("rr")["rr"].tolist() == [1.0]
    assert rg.from_recommendations([{-1}], [[4, -2]]).evaluate("precision")["precision"].tolist() == [0.0]


def padded_with_zeros(rng, rows=30, length=10):
    recommended = np.zeros((rows, length), dtype=np.int64)
    for row in recommended:
        size = rng.integers(5, length)
        row[:size] = rng.permutation(np.arange(1, 50))[:size]
    return recommended, [[int(item)] for item in recommended[:, 1]]


ZERO = "0 is the last id of 30 of 30 rows and no other id; if 0 is padding, pass "


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame, "table", "arrow"])
def test_zeros_at_the_ends_of_most_rows_are_named(form):
    recommended, relevant = padded_with_zeros(np.random.default_rng(0))

    def rankings(lists):
        if not isinstance(form, str):
            return rg.from_recommendations(relevant, lists if isinstance(lists, list) else form(lists))
        rows = [{"relevant": truth, "retrieved": list(run)} for truth, run in zip(relevant, lists, strict=True)]
        return rg.from_rows(rows if form == "table" else pa.Table.from_pylist(rows))

    (remark,) = rankings(recommended).evaluate("precision").assumed[-1:]
    assert ZERO in remark
    line = remark.partition("pass ")[2].removesuffix(" of each row")
    without = [eval(line, {"row": row}) for row in recommended.tolist()]
    result = rankings(without).evaluate("precision")
    assert not any(ZERO in each for each in result.assumed)
    assert result["precision"].tolist() == [1 / np.count_nonzero(row) for row in recommended]


@pytest.mark.parametrize("change", ["first", "few rows", "once", "one truth"])
def test_zero_is_an_item_otherwise(change):
    recommended, relevant = padded_with_zeros(np.random.default_rng(0))
    match change:
        case "first":
            recommended[3] = [0, *range(1, 10)]
        case "few rows":
            recommended, relevant = recommended[:19], relevant[:19]
        case "once":  # an item that is last in each list
            recommended = np.hstack([np.arange(1, 241).reshape(30, 8), np.zeros((30, 1), dtype=np.int64)])
        case "one truth":  # 0 is relevant for a user whose list does not end with zeros
            relevant[3], recommended[3] = [0], range(1, 11)
    assert not any("0 is the last" in each for each in evaluate(relevant, recommended).assumed)
    if change == "one truth":
        relevant[3] = {0}
        assert not any("0 is the last" in each for each in evaluate(list(map(set, relevant)), recommended).assumed)


def test_zeros_that_repeat_are_named_as_padding(rejects):
    advice = "; if 0 is padding, pass [id for id in row if id != 0] of each row"
    rejects(ValueError, f"relevant: query 0, document 0: …{advice}", evaluate, [[3, 0, 0]], [[3]])
    rejects(ValueError, f"recommended: query 0, document 0 (position 2): …{advice}", evaluate, [[3, 0]], [[3, 0, 0]])


def evaluate(relevant, recommended):
    return rg.from_recommendations(relevant, recommended).evaluate("rr")


def logits(rng):
    scores, labels = np.zeros((30, 8)), np.zeros((30, 8))
    for row in range(30):
        size = rng.integers(3, 8)
        scores[row, :size] = -1 - rng.random(size)
        labels[row, rng.integers(size)] = 1
    scores[0, 5:] = 0
    return labels, scores


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, np.float32, pd.DataFrame])
def test_labels_and_logits_padded_with_zeros_are_named(form):
    y_true, y_score = map(form, logits(np.random.default_rng(0)))
    result = rg.from_scores(y_true, y_score).evaluate("rr")
    line = result.assumed[-1].partition("pass ")[2]
    assert line == "mask=np.asarray(y_score) != 0"
    masked = rg.from_scores(y_true, y_score, mask=eval(line.removeprefix("mask="), {"np": np, "y_score": y_score}))
    assert masked.evaluate("rr").assumed == ()
    assert masked.evaluate("rr").mean("rr") > result.mean("rr")


@pytest.mark.parametrize("change", ["few", "positive", "elsewhere", "labelled", "once"])
def test_zero_scores_are_scores_otherwise(change):
    labels, scores = logits(np.random.default_rng(0))
    match change:
        case "few":
            labels, scores = labels[:19], scores[:19]
        case "positive":
            scores = -scores
        case "elsewhere":
            scores[0, 0] = 0
        case "labelled":
            labels[:, -1] = 1
        case "once":
            scores[:, :-1] = -1
    assert rg.from_scores(labels, scores).evaluate("rr").assumed == ()


def test_nan_at_the_end_of_ids_makes_them_no_scores():
    nan = math.nan
    assert rg.similarity([[1, 2], [3, nan]], [[1, 2], [3]], "jaccard@2")["jaccard@2"].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="may be labels and scores"):  # not scores without a word
        rg.evaluate([[1], [3]], [[1, 2], [3, nan]], "rr")
