"""pandas Series and other single columns whose values are lists of ids."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

RELEVANT = {"ann": ["a"], "bob": ["b", "c"], "cem": ["d"]}
RECOMMENDED = {"ann": ["x", "a"], "bob": ["c", "b"], "cem": ["y", "z"]}
BY_NAME = {"ann": 0.5, "bob": 1.0, "cem": 0.0}


def series(lists, name=None):
    return pd.Series([*lists.values()], index=pd.Index([*lists], name=name), dtype=object)


def rr(relevant, recommended):
    """Return the reciprocal ranks by query, after checking that each function gives the same values."""
    result = rg.from_recommendations(relevant, recommended).evaluate("rr").to_dict()
    assert rg.evaluate(relevant, recommended, "rr").to_dict() == result
    assert rg.evaluate("rr", truth=relevant, run=recommended).to_dict() == result
    return {query: values["rr"] for query, values in result.items()}


def test_lists_by_group_are_matched_by_label():
    log = pd.DataFrame({"user": ["bob", "ann", "bob", "cem"], "item": ["b", "a", "c", "d"]})
    lists = log.groupby("user", sort=False)["item"].agg(list)
    assert rr(lists, series(RECOMMENDED, "user")) == BY_NAME
    assert rr(lists, series(RECOMMENDED)) == BY_NAME
    assert rr(lists.sample(frac=1, random_state=0), lists) == {"ann": 1.0, "bob": 1.0, "cem": 1.0}


def test_equal_labels_are_matched_by_position():
    assert rr(series(RELEVANT, "user"), series(RECOMMENDED, "user")) == BY_NAME
    ordered = [pd.Series([*side.values()]) for side in (RELEVANT, RECOMMENDED)]
    assert rr(*ordered) == {0: 0.5, 1: 1.0, 2: 0.0}
    filtered = [side.set_axis([2, 5, 7]) for side in ordered]
    assert rr(*filtered) == {2: 0.5, 5: 1.0, 7: 0.0}
    repeated = [side.set_axis(["p", "p", "q"]) for side in ordered]
    assert rr(*repeated) == {0: 0.5, 1: 1.0, 2: 0.0}


def test_integer_labels_in_another_order_are_matched_by_label():
    relevant, recommended = (pd.Series([*side.values()], index=[4, 5, 6]) for side in (RELEVANT, RECOMMENDED))
    assert rr(relevant, recommended.iloc[[2, 0, 1]]) == {4: 0.5, 5: 1.0, 6: 0.0}
    prepared = rg.judgments(relevant.reset_index(drop=True))
    shuffled = recommended.reset_index(drop=True).iloc[[2, 0, 1]]
    assert rg.evaluate(prepared, shuffled, "rr").to_dict() == {0: {"rr": 0.5}, 1: {"rr": 1.0}, 2: {"rr": 0.0}}


def test_labels_that_name_queries_and_overlap_are_keys():
    fewer = {name: ids for name, ids in RECOMMENDED.items() if name != "bob"} | {"dan": ["a"]}
    result = rg.from_recommendations(series(RELEVANT), series(fewer)).evaluate("rr")
    assert result.to_dict() == {"ann": {"rr": 0.5}, "bob": {"rr": 0.0}, "cem": {"rr": 0.0}}
    assert result.counts == {"queries": 3, "missing": 1, "unjudged": 1, "empty": 0}
    relevant, recommended = (pd.Series([["a"], ["b"]], index=pd.Index(ids, name="user")) for ids in ([1, 2], [2, 3]))
    assert rr(relevant, recommended) == {1: 0.0, 2: 0.0}


def test_other_two_indexes_are_errors(rejects):
    advice = "write .reset_index(drop=True) for both if their rows are in the same order, or .to_dict() for both"
    relevant = pd.Series([["a"], ["b"]])
    for labels in ([1, 2], [5, 6], ["ann", "bob"]):
        recommended = pd.Series([["a"], ["b"]], index=labels)
        for pair in ((relevant, recommended), (recommended, relevant)):
            message = f"relevant and recommended are Series with different labels (…): {advice}"
            rejects(ValueError, message, rg.from_recommendations, *pair)
    named = pd.Series([["a"], ["b"]], index=pd.Index(["ann", "ann"], name="user"))
    rejects(ValueError, "('ann', 'ann' and 0, 1)", rg.from_recommendations, named, relevant)
    message = f"recommended: the label 'ann' of the Series appears twice; {advice}"
    rejects(ValueError, message, rg.from_recommendations, {"ann": ["a"]}, named)


def test_a_series_beside_lists_is_matched_by_position():
    relevant, recommended = series(RELEVANT, "user"), series(RECOMMENDED, "user")
    assert rr(relevant, [*RECOMMENDED.values()]) == BY_NAME
    assert rr([*RELEVANT.values()], recommended) == BY_NAME
    assert rr(rg.judgments([*RELEVANT.values()]), recommended) == BY_NAME
    assert rr(relevant, pl.Series([*RECOMMENDED.values()])) == BY_NAME
    assert rg.from_recommendations(relevant, [*RECOMMENDED.values()], query_ids="xyz").query_ids == ["x", "y", "z"]
    numbers = pd.Series([[1], [2, 3]], index=["ann", "bob"])
    result = rg.from_recommendations(numbers, np.array([[7, 1], [2, 3]])).evaluate("rr").to_dict()
    assert result == {"ann": {"rr": 0.5}, "bob": {"rr": 1.0}}


def test_a_series_beside_a_mapping_is_matched_by_key(rejects):
    backwards = dict(reversed(RELEVANT.items()))
    assert rr(backwards, series(RECOMMENDED)) == BY_NAME
    assert rr(series(backwards), RECOMMENDED) == BY_NAME
    assert rr(rg.judgments(backwards), series(RECOMMENDED)) == BY_NAME
    assert rr(rg.judgments(series(backwards)), series(RECOMMENDED)) == BY_NAME
    scores = {name: {document: -rank for rank, document in enumerate(ids)} for name, ids in RECOMMENDED.items()}
    assert rg.evaluate(series(backwards), scores, "rr").to_dict() == {name: {"rr": rr} for name, rr in BY_NAME.items()}
    message = "no query in common: str in relevant, int in recommended"
    rejects(ValueError, message, rg.from_recommendations, RELEVANT, pd.Series([*RECOMMENDED.values()]))


def test_one_relevant_id_per_label():
    relevant = pd.Series(["a", "b"], index=["ann", "bob"])
    assert rr(relevant, pd.Series([["b"], ["x", "a"]], index=["bob", "ann"])) == {"ann": 0.5, "bob": 1.0}
    assert rg.judgments(relevant).query_ids == ["ann", "bob"]


def test_a_series_of_ids_is_the_list_of_one_user():
    relevant, recommended = pd.Series(["a"], index=[7]), pd.Series(["x", "a"], index=[3, 4])
    assert rg.from_recommendations(relevant, recommended).evaluate("rr").to_dict() == {0: {"rr": 0.5}}


def test_scores_in_series_are_matched_by_position():
    labels, scores = pd.Series([0, 1], index=["a", "b"]), pd.Series([0.5, 0.9], index=["b", "a"])
    assert rg.from_scores(labels, scores).evaluate("rr")["rr"].tolist() == [1.0]
    assert rg.evaluate(labels, scores, "rr")["rr"].tolist() == [1.0]


@pytest.mark.parametrize("column", [pd.Series, pl.Series, lambda values: pa.chunked_array([values])])
def test_a_column_is_what_it_holds(column):
    relevant, recommended = column([["a"], ["b"]]), column([["x", "a"], ["b"]])
    assert rr(relevant, recommended) == {0: 0.5, 1: 1.0}
    truth = rg.judgments(relevant)
    assert rg.evaluate(truth, recommended, "rr").to_dict() == {0: {"rr": 0.5}, 1: {"rr": 1.0}}
    numbers = column([0, 1, 1]), column([0.5, 0.9, 0.1])
    assert rg.evaluate(*numbers, "rr")["rr"].tolist() == [1.0]
