"""Column names passed as keywords to `evaluate`, `compare` and `judgments`."""

import pandas as pd
import polars as pl
import pytest
from support.sides import columns

import rankgain as rg

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0}}
LISTS = {"q1": ["d2", "d1", "d9"], "q2": ["d7"]}
EXPECTED = rg.from_qrels(QRELS, RUN).evaluate("ndcg").to_dict()
TRUTH, SCORES = columns(QRELS, "user", "film", "gain"), columns(RUN, "user", "film", "model")
NAMES = {"query": "user", "doc": "film"}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_each_side_takes_its_columns(frame, tmp_path):
    truth, run = frame(TRUTH), frame(SCORES)
    trec = tmp_path / "run.txt"
    trec.write_text(
        "".join(f"{q} Q0 {d} 0 {score} t\n" for q, documents in RUN.items() for d, score in documents.items())
    )
    for call in (
        lambda: rg.evaluate(truth, RUN, "ndcg", **NAMES, relevance="gain"),
        lambda: rg.evaluate(truth, LISTS, "ndcg", **NAMES, relevance="gain"),
        lambda: rg.evaluate(truth, LISTS, "ndcg", **NAMES, relevance="gain", validate="full"),
        lambda: rg.evaluate(truth, trec, "ndcg", **NAMES, relevance="gain"),
        lambda: rg.evaluate(QRELS, run, "ndcg", **NAMES, score="model"),
        lambda: rg.evaluate(rg.judgments(QRELS), run, "ndcg", **NAMES, score="model", ties="stable"),
        lambda: rg.evaluate(truth, run, "ndcg", **NAMES, relevance="gain", score="model"),
        lambda: rg.evaluate(truth, run, "ndcg", query="user", doc=("film", "film"), relevance="gain", score="model"),
        lambda: rg.compare(truth, {"run": RUN}, ["ndcg"], **NAMES, relevance="gain")["run"],
        lambda: rg.compare(QRELS, {"other": RUN, "run": run}, ["ndcg"], **NAMES, score="model")["run"],
        lambda: rg.compare(truth, {"run": run}, ["ndcg"], **NAMES, relevance="gain", score="model")["run"],
    ):
        assert call().to_dict() == EXPECTED
    records = [dict(zip(TRUTH, row, strict=True)) for row in zip(*TRUTH.values(), strict=True)]
    assert rg.evaluate(records, run, "ndcg", **NAMES, relevance="gain", score="model").to_dict() == EXPECTED
    compared = rg.compare(records, {"run": run}, ["ndcg"], **NAMES, relevance="gain", score="model")
    assert compared["run"].to_dict() == EXPECTED
    ranks = frame({name: SCORES[name] for name in ("user", "film")} | {"place": [1, 2, 3, 1]})
    assert rg.evaluate(QRELS, ranks, "ndcg", **NAMES, rank="place").to_dict() == EXPECTED
    assert rg.evaluate(LISTS, ranks, "rr", **NAMES, rank="place")["rr"].tolist() == [1.0, 1.0]


@pytest.mark.usefixtures("backend")
def test_a_mapping_is_a_table_only_if_it_has_the_named_columns():
    lists = {"user": ["d1"], "film": ["d2"]}
    table = {"person": ["user", "film"], "what": ["d1", "d9"], "model": [1.0, 2.0]}
    names = {"query": "person", "doc": "what", "score": "model"}
    assert rg.evaluate(lists, table, "rr", **names)["rr"].tolist() == [1.0, 0.0]
    assert rg.compare(lists, {"a": table}, ["rr"], **names)["a"]["rr"].tolist() == [1.0, 0.0]


def test_columns_of_a_side_other_than_a_table_are_refused(rejects, tmp_path):
    message = "{}= names a column of {}, which is not a table: leave it out"
    truth, run = pd.DataFrame(TRUTH), pd.DataFrame(SCORES)
    relevance, score, rank = (message.format(*pair) for pair in [
        ("relevance", "truth"), ("score", "the run"), ("rank", "the run")
    ])  # fmt: skip
    rejects(TypeError, relevance, rg.evaluate, QRELS, run, "ndcg", **NAMES, score="model", relevance="gain")
    rejects(TypeError, relevance, rg.evaluate, QRELS, RUN, "ndcg", relevance="gain")
    rejects(TypeError, score, rg.evaluate, truth, RUN, "ndcg", **NAMES, relevance="gain", score="model")
    rejects(TypeError, rank, rg.evaluate, truth, LISTS, "ndcg", **NAMES, relevance="gain", rank="model")
    rejects(TypeError, f"run 'a': {score}", rg.compare, truth, {"a": RUN}, ["rr"], **NAMES, relevance="gain", score="s")
    neither = "query= names a column, and neither truth nor the run is a table: leave it out"
    rejects(TypeError, neither, rg.evaluate, QRELS, RUN, "ndcg", query="user")
    rejects(TypeError, neither, rg.evaluate, QRELS, LISTS, "ndcg", **NAMES)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n")
    for truth in (qrels, QRELS, [["d1"], ["d2"]]):
        for name in ("query", "doc", "relevance"):
            message = f"{name}= names a column, and truth is not a table: leave it out"
            rejects(TypeError, message, rg.judgments, truth, **{name: "x"})
