"""pandas Series and other single columns whose values are lists of ids."""

import pickle
from math import log2

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


IN_ANOTHER_ORDER = (
    "the labels of {0} and {1} are the same in another order (…): pass {0}.to_numpy() and {1}.to_numpy() if both are "
    "in the same order, or {1}.loc[{0}.index] if the labels say which belong together"
)


@pytest.mark.parametrize("first", [0, 4])
def test_integer_labels_in_another_order_may_be_positions(rejects, first):
    labels = [first, first + 1, first + 2]
    relevant, recommended = (pd.Series([*side.values()], index=labels) for side in (RELEVANT, RECOMMENDED))
    shuffled = recommended.iloc[[2, 0, 1]]
    message = IN_ANOTHER_ORDER.format("relevant", "recommended")
    rejects(ValueError, message, rg.from_recommendations, relevant, shuffled)
    message = IN_ANOTHER_ORDER.format("truth", "run")
    rejects(ValueError, message, rg.evaluate, relevant, shuffled, "rr")
    rejects(ValueError, message, rg.evaluate, rg.judgments(relevant), shuffled, "rr")
    rejects(ValueError, f"run 'a': {message}", rg.compare, relevant, {"a": shuffled})
    right = dict(zip(labels, BY_NAME.values(), strict=True))
    assert rr(relevant, shuffled.loc[relevant.index]) == right
    assert [*rr(relevant.to_numpy(), recommended.to_numpy()).values()] == [*BY_NAME.values()]


@pytest.mark.parametrize("ids", [1, 2000])  # read as dicts, and as columns
def test_what_was_assumed_is_kept_under_other_rules(backend, ids):
    lists = pd.Series([["a", *map(str, range(ids))], ["a"], []])
    rankings = rg.from_recommendations(pd.Series([["a"], ["b"], ["c"]], index=[7, 2, 5]), lists)
    assumed = rankings.evaluate("rr").assumed
    assert "were paired by position" in assumed[0]
    assert rankings.under(missing="skip").evaluate("rr").assumed == assumed
    assert rankings.evaluate("rr", like="trec_eval").assumed == assumed
    assert rankings.evaluate("ndcg", like="ranx").assumed == assumed


def test_a_default_index_beside_other_labels_goes_by_position(backend):
    held_out = pd.Series([*RELEVANT.values()], index=[7, 2, 5])
    lists = pd.Series([*RECOMMENDED.values()])
    note = "truth and run have different labels ({}): their rows were paired by position"
    result = rg.evaluate(held_out, lists, "rr")
    assert result.to_dict() == {7: {"rr": 0.5}, 2: {"rr": 1.0}, 5: {"rr": 0.0}}
    assert result.assumed == (note.format("7, 2, 5 and 0, 1, 2"),)
    assert result.assumed[0] in repr(result)
    backwards = rg.evaluate(lists, held_out, "rr")
    assert (backwards.query_ids, backwards.assumed) == ([7, 2, 5], (note.format("0, 1, 2 and 7, 2, 5"),))
    compared = rg.compare(held_out, {"a": lists}, "rr")
    assert compared["a"].to_dict() == result.to_dict()
    assert result.assumed[0] in compared.table()
    prepared = pickle.loads(pickle.dumps(rg.judgments(held_out)))
    assert rg.evaluate(prepared, lists, "rr").assumed == result.assumed
    rankings = rg.from_recommendations(held_out, lists)
    note = result.assumed[0].replace("truth and run", "relevant and recommended")
    assert rankings.under(missing="skip").evaluate("rr").assumed == (note,)


def test_frames_of_ids_are_matched_as_series_are(rejects):
    names = pd.Index([*RELEVANT], name="user")
    truth, run = pd.DataFrame([[1], [2], [3]], index=names), pd.DataFrame([[9, 1], [2, 8], [7, 9]], index=names)
    expected = dict(zip(names, [0.5, 1.0, 0.0], strict=True))
    for relevant in (truth, truth[0].map(lambda item: [item])):
        for recommended in (run, run.iloc[::-1]):
            result = rg.from_recommendations(relevant, recommended).evaluate("rr").to_dict()
            assert {query: values["rr"] for query, values in result.items()} == expected
    bare = [side.reset_index(drop=True) for side in (truth, run)]
    message = IN_ANOTHER_ORDER.format("relevant", "recommended")
    rejects(ValueError, message, rg.from_recommendations, bare[0], bare[1].iloc[::-1])
    fewer = rg.from_recommendations(truth, run.iloc[1:]).evaluate("rr")
    assert (fewer.query_ids, fewer["rr"].tolist(), fewer.counts["missing"]) == ([*names], [0.0, 1.0, 0.0], 1)


def test_labels_that_name_queries_and_overlap_are_keys():
    fewer = {name: ids for name, ids in RECOMMENDED.items() if name != "bob"} | {"dan": ["a"]}
    result = rg.from_recommendations(series(RELEVANT), series(fewer)).evaluate("rr")
    assert result.to_dict() == {"ann": {"rr": 0.5}, "bob": {"rr": 0.0}, "cem": {"rr": 0.0}}
    assert result.counts == {"queries": 3, "missing": 1, "unjudged": 1, "empty": 0}
    relevant, recommended = (pd.Series([["a"], ["b"]], index=pd.Index(ids, name="user")) for ids in ([1, 2], [2, 3]))
    assert rr(relevant, recommended) == {1: 0.0, 2: 0.0}


def test_other_two_indexes_are_errors(rejects):
    message = "the labels of relevant and recommended differ (…): pass relevant.to_numpy() and recommended.to_numpy()"
    relevant = pd.Series([["a"], ["b"]], index=[1, 2])
    for labels in ([2, 3], [5, 6], ["ann", "bob"], [1, 1]):
        recommended = pd.Series([["a"], ["b"]], index=labels)
        for pair in ((relevant, recommended), (recommended, relevant)):
            rejects(ValueError, message, rg.from_recommendations, *pair)
    named = pd.Series([["a"], ["b"]], index=pd.Index(["ann", "ann"], name="user"))
    rejects(ValueError, "('ann', 'ann' and 1, 2)", rg.from_recommendations, named, relevant)
    rejects(ValueError, message, rg.from_recommendations, pd.Series([["a"]] * 3), relevant)
    message = (
        "recommended: the label 'ann' of the Series appears twice; write .reset_index(drop=True) for both if their "
        "rows are in the same order, or .to_dict() for both"
    )
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


LABELS, SCORES = [0, 1, 2, 0], [0.9, 0.8, 0.1, 0.3]
FLAT = {"ndcg": (1 / log2(3) + 2 / log2(5)) / (2 + 1 / log2(3))}  # by position: grades 0, 1, 0, 2 in rank order
BOTH_LINES = "pass y_true.to_numpy() and y_score.to_numpy() if both are in the same order, or y_score.loc[y_true.index]"


def flat(index, other=None, order=(0, 1, 2, 3)):
    """Return the labels, and the scores with another index in another order of rows."""
    return pd.Series(LABELS, index=index), pd.Series(SCORES, index=index if other is None else other).iloc[[*order]]


def of_scores(*args, **options):
    result = rg.from_scores(*args, **options).evaluate("ndcg")
    if not options and not isinstance(args[0], pd.DataFrame):
        assert rg.evaluate(*args, "ndcg") == result
    return result


@pytest.mark.parametrize("labels", [range(4), [3, 1, 2, 0], ["p", "p", "q", "q"], [7, 7, 7, 7]])
def test_equal_labels_of_scores_go_by_position(labels):
    result = of_scores(*flat(labels))
    assert result.mean() == pytest.approx(FLAT)
    assert result.assumed == ()


@pytest.mark.parametrize("index", [pd.Index([4, 5, 6, 7], name="row"), pd.Index([*"abcd"]), pd.Index([0.5, 1, 2, 3])])
def test_scores_are_matched_by_name(index):
    assert of_scores(*flat(index, order=(2, 0, 3, 1))).mean() == pytest.approx(FLAT)


def test_integer_labels_of_scores_in_another_order_are_an_error(rejects):
    for first in (0, 5):
        y_true, y_score = flat(range(first, first + 4), order=(2, 0, 3, 1))
        message = f"the labels of y_true and y_score are the same in another order (…): {BOTH_LINES}"
        rejects(ValueError, message, rg.from_scores, y_true, y_score)
        rejects(ValueError, message, rg.evaluate, y_true, y_score, "ndcg")
        assert of_scores(y_true, y_score.loc[y_true.index]).mean() == pytest.approx(FLAT)
        assert of_scores(y_true.to_numpy(), y_score.to_numpy()).mean() != pytest.approx(FLAT)


def test_a_split_beside_fresh_predictions_goes_by_position():
    result = of_scores(*flat([8, 3, 11, 5], range(4)))
    assert result.mean() == pytest.approx(FLAT)
    note = "y_true and y_score have different labels (8, 3, 11, … and 0, 1, 2, …): their rows were paired by position"
    assert result.assumed == (note,)
    assert of_scores(*flat(range(4), [8, 3, 11, 5])).mean() == pytest.approx(FLAT)


def test_other_labels_of_scores_are_errors(rejects):
    message = f"the labels of y_true and y_score differ (…): {BOTH_LINES}"
    for one, other in (([1, 2, 3, 4], [2, 3, 4, 5]), ([*"abcd"], [*"bcde"]), ([*"aabb"], [*"bbaa"])):
        rejects(ValueError, message, rg.from_scores, *flat(one, other))


def test_lengths_come_before_labels(rejects):
    rejects(
        ValueError, "query 0: y_true has 4 documents, and y_score has 1", rg.from_scores, *flat([*"abcd"], order=[0])
    )


def test_query_ids_in_a_series_are_matched_too(rejects):
    y_true, y_score = flat([*"abcd"], order=(3, 2, 1, 0))
    qid = pd.Series([1, 1, 2, 2], index=[*"abcd"])
    expected = of_scores(LABELS, SCORES, qid=[1, 1, 2, 2])
    assert of_scores(y_true, y_score, qid=qid.sample(frac=1, random_state=0)) == expected
    message = "the labels of y_true and y_score are in another order, and {} has none"
    rejects(ValueError, message.format("qid"), rg.from_scores, y_true, y_score, qid=[1, 1, 2, 2])
    rejects(ValueError, message.format("group_sizes"), rg.from_scores, y_true, y_score, group_sizes=[2, 2])
    message = "the labels of y_score and qid are in another order, and y_true has none"
    rejects(ValueError, message, rg.from_scores, LABELS, y_score, qid=qid)
    assert of_scores(y_true, SCORES, qid=[1, 1, 2, 2]) == expected  # only one side has labels
    assert of_scores(y_true, y_score.loc[y_true.index], group_sizes=pd.Series([2, 2], index=[1, 2]))[
        "ndcg"
    ].tolist() == (expected["ndcg"].tolist())


def test_frames_of_scores_are_matched_by_row_and_column(rejects):
    users, items = pd.Index(["u", "v"], name="user"), pd.Index([3, 1, 2], name="item")
    y_true = pd.DataFrame([[0, 1, 2], [1, 0, 0]], index=users, columns=items)
    y_score = pd.DataFrame([[0.9, 0.1, 0.5], [0.2, 0.4, 0.3]], index=users, columns=items)
    expected = of_scores(y_true.to_numpy(), y_score.to_numpy())
    assert of_scores(y_true, y_score) == of_scores(y_true, y_score.iloc[::-1, [2, 0, 1]]) == expected
    mask = np.ones((2, 3), dtype=bool)
    assert of_scores(y_true, y_score, mask=mask) == expected
    message = "the labels of y_true and y_score are in another order, and mask has none"
    rejects(ValueError, message, rg.from_scores, y_true, y_score.iloc[::-1], mask=mask)
    bare = y_score.rename_axis(columns=None).iloc[:, [2, 0, 1]]
    message = "pass y_true.to_numpy() and y_score.to_numpy() if both are in the same order, or y_score[y_true.columns]"
    rejects(ValueError, message, rg.from_scores, y_true, bare)
    assert of_scores(y_true, bare[y_true.columns]) == expected
    numbered = of_scores(y_true, y_score.set_axis(range(3), axis=1))
    assert numbered == expected
    assert numbered.assumed[0].startswith("the columns of y_true and those of y_score have different labels")


def test_series_of_lists_of_scores_are_matched_too(rejects):
    y_true = pd.Series([[0, 1], [1, 0, 2]], index=[*"uv"])
    y_score = pd.Series([[0.2, 0.1], [0.3, 0.2, 0.1]], index=[*"uv"])
    assert of_scores(y_true, y_score.iloc[::-1]) == of_scores(y_true.tolist(), y_score.tolist())


@pytest.mark.parametrize("names", [["query_id", "doc_id"], ["user", "item"]])
def test_an_index_of_queries_and_documents_is_read_as_a_frame(names, rejects):
    pairs = [("a", "x"), ("a", "y"), ("b", "z")]
    truth = pd.Series([1, 0, 1], index=pd.MultiIndex.from_tuples(pairs, names=names))
    run = pd.Series([0.2, 0.9, 0.5], index=truth.index).iloc[[2, 0, 1]]
    expected = rg.evaluate({"a": {"x": 1, "y": 0}, "b": {"z": 1}}, {"a": {"x": 0.2, "y": 0.9}, "b": {"z": 0.5}}, "rr")
    assert rg.evaluate(truth, run, "rr").to_dict() == expected.to_dict()
    assert rg.evaluate(truth.rename("rating"), run.rename("score"), "rr").to_dict() == expected.to_dict()
    assert rg.compare(truth, {"a": run}, "rr")["a"].to_dict() == expected.to_dict()
    assert rg.from_frames(truth.rename("rating"), run).evaluate("rr").to_dict() == expected.to_dict()
    message = (
        "y_true is a Series with an index of queries and documents: write from_frames(y_true, y_score), or pass "
        "qid=y_true.index.get_level_values(0)"
    )
    rejects(TypeError, message, rg.from_scores, truth, run)
    result = rg.from_scores(truth, run.loc[truth.index], qid=truth.index.get_level_values(0)).evaluate("rr")
    assert result.to_dict() == expected.to_dict()


@pytest.mark.parametrize("column", [pd.Series, pl.Series, lambda values: pa.chunked_array([values])])
def test_a_column_is_what_it_holds(column):
    relevant, recommended = column([["a"], ["b"]]), column([["x", "a"], ["b"]])
    assert rr(relevant, recommended) == {0: 0.5, 1: 1.0}
    truth = rg.judgments(relevant)
    assert rg.evaluate(truth, recommended, "rr").to_dict() == {0: {"rr": 0.5}, 1: {"rr": 1.0}}
    numbers = column([0, 1, 1]), column([0.5, 0.9, 0.1])
    assert rg.evaluate(*numbers, "rr")["rr"].tolist() == [1.0]
