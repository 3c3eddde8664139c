"""Documents that are returned twice, ids that are tuples, and leave-one-out truth."""

import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
TWICE = {"q1": ["x", "a", "x", "b", "a"], "q2": ["d", "d", "c"]}
ONCE = {"q1": ["x", "a", "b"], "q2": ["d", "c"]}
METRICS = "ndcg", "ap", "rr", "num_ret", "recall@3"


def vectors(rankings):
    return {metric: vector.tolist() for metric, vector in rankings.evaluate(*METRICS).items()}


EXPECTED = vectors(rg.from_recommendations(ONCE, QRELS))


def table(scores, shuffled):
    rows = [(query, doc, -place) for query, own in TWICE.items() for place, doc in enumerate(own)]
    if shuffled:
        rows = [rows[place] for place in (5, 4, 0, 7, 2, 1, 6, 3)]
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    return columns if scores else columns | {"rank": [-score for score in columns.pop("score")]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("scores", [False, True])
def test_frames_keep_the_highest_score(frame, shuffled, scores):
    run = frame(table(scores, shuffled))
    truth = rg.judgments(QRELS)
    held = rg.from_frames(truth, run, duplicates="first")
    assert vectors(held) == EXPECTED
    assert vectors(held.under(missing="skip")) == EXPECTED
    with pytest.raises(ValueError, match="repeats an earlier one"):
        rg.from_frames(truth, run).evaluate("rr")


@pytest.mark.parametrize("scores", [[math.nan, 1.0, 0.5], [1.0, math.nan, 0.5], [math.nan, math.nan, 0.5]])
def test_a_repeated_document_without_a_score_is_refused(scores):
    run = {"query_id": ["q1"] * 3, "doc_id": ["a", "a", "b"], "score": scores}
    with pytest.raises(ValueError, match="is NaN"):
        rg.from_frames(rg.judgments(QRELS), run, duplicates="first").evaluate("rr")


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("score_bits", [64, 32])
def test_files_keep_the_highest_score(shuffled, score_bits):
    columns = table(True, shuffled)
    lines = zip(columns["query_id"], columns["doc_id"], columns["score"], strict=True)
    text = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in lines).encode()
    truth = rg.judgments(QRELS)
    held = rg.read_trec(truth, io.BytesIO(text), duplicates="first", score_bits=score_bits)
    assert vectors(held) == EXPECTED
    assert vectors(held.under(ties="average")) == EXPECTED
    with pytest.raises(ValueError, match="stands in an earlier line"):
        rg.read_trec(truth, io.BytesIO(text))


def test_a_run_of_msmarco():
    text = "".join(f"{query}\t{doc}\t{rank}\n" for query, own in TWICE.items() for rank, doc in enumerate(own, 1))
    held = rg.read_trec(rg.judgments(QRELS), io.BytesIO(text.encode()), duplicates="first")
    assert vectors(held) == EXPECTED


def test_against_plain_python():
    rng = np.random.default_rng(0)
    for _ in range(30):
        matrix = rng.integers(0, 12, (20, 15))
        relevant = [set(rng.integers(0, 12, 3).tolist()) for _ in range(20)]
        once = [list(dict.fromkeys(row)) for row in matrix.tolist()]
        found = rg.from_recommendations(matrix, relevant, duplicates="first")
        assert vectors(found) == vectors(rg.from_recommendations(once, relevant))


def of_tuples(ids):
    return [(identifier, 0) for identifier in ids]


def test_ids_that_are_tuples():
    """A document and its chunk."""
    run, twice = ({query: of_tuples(own) for query, own in held.items()} for held in (ONCE, TWICE))
    truth = {query: {(doc, 0): grade for doc, grade in own.items()} for query, own in QRELS.items()}
    assert vectors(rg.from_recommendations(run, truth)) == EXPECTED
    assert vectors(rg.from_recommendations(list(run.values()), list(truth.values()))) == EXPECTED
    assert vectors(rg.from_recommendations(list(run.values()), truth, query_ids=["q1", "q2"])) == EXPECTED
    assert vectors(rg.from_recommendations(run, rg.judgments(truth))) == EXPECTED
    assert vectors(rg.from_recommendations(twice, truth, duplicates="first")) == EXPECTED | {}
    sets = rg.from_recommendations(run, {query: set(own) for query, own in truth.items()}).evaluate("rr")
    assert sets["rr"].tolist() == EXPECTED["rr"]
    scored = {query: {doc: -place for place, doc in enumerate(own)} for query, own in run.items()}
    assert vectors(rg.from_qrels(truth, scored)) == EXPECTED
    assert rg.evaluate(truth, run, "rr")["rr"].tolist() == EXPECTED["rr"]
    with pytest.raises(ValueError, match=r"query 'q1', document \('a', 0\) .*repeats an earlier one"):
        rg.from_recommendations(twice, truth)
    rg.from_recommendations({"q1": of_tuples("xxa"), "q2": []}, truth)  # not judged
    with pytest.raises(ValueError, match=r"document \('x', 0\)"):
        rg.from_recommendations({"q1": of_tuples("xxa"), "q2": []}, truth, validate="full")
    with pytest.raises(TypeError, match="position 1: an id must be hashable"):
        rg.from_recommendations({"q1": [("a", 0), ["b"]]}, truth)


def test_tuples_are_judged_per_user():
    a, b = of_tuples("ab")
    assert rg.from_recommendations([[a], [b, a, a]], [{a}, {b}]).evaluate("rr")["rr"].tolist() == [1.0, 1.0]
    assert rg.from_recommendations({"u": [a], "v": [a, a]}, {"u": {a}}).evaluate("rr")["rr"].tolist() == [1.0]
    with pytest.raises(ValueError, match="repeats an earlier one"):
        rg.from_recommendations([[a], [b, b]], [{a}, {b}])
    assert rg.from_recommendations([[], []], [{a}, {b}]).evaluate("rr")["rr"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "relevant",
    [
        np.array([3, 7, -1]),
        np.array([3, 7, -1], dtype=np.int32),
        [3, 7, 99],
        [np.int64(3), 7, 99],
        {0: 3, 1: 7, 2: 99},
        [{3}, {7}, {99}],
    ],
)
def test_leave_one_out(relevant):
    recommended = np.array([[1, 3, 2], [7, 1, 2], [4, 5, 6]])
    rows = dict(enumerate(recommended.tolist())) if isinstance(relevant, dict) else recommended
    result = rg.from_recommendations(rows, relevant).evaluate("rr", "hit@3")
    assert result["rr"].tolist() == [0.5, 1.0, 0.0]
    judged = rg.from_recommendations(rows, rg.judgments(relevant)).evaluate("rr")
    assert judged["rr"].tolist() == [0.5, 1.0, 0.0]


def test_leave_one_out_of_text():
    recommended = {"ann": ["a", "b"], "bob": ["c", "d"]}
    assert rg.from_recommendations(recommended, {"ann": "b", "bob": "c"}).evaluate("rr")["rr"].tolist() == [0.5, 1.0]
    rows = list(recommended.values())
    for relevant in (["b", "c"], ("b", "c"), np.array(["b", "c"]), np.array(["b", "c"], dtype=object)):
        assert rg.from_recommendations(rows, relevant).evaluate("rr")["rr"].tolist() == [0.5, 1.0]
    with pytest.raises(ValueError, match="recommended has 2 users, and relevant has 1"):
        rg.from_recommendations(rows, ["b"])
    with pytest.raises(TypeError, match="a set or list of ids"):
        rg.from_recommendations(rows, ["b", {"c"}])
