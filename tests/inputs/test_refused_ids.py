"""Empty ids, and keys that JSON documents have twice, are refused with the query and the position."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg
from rankgain import pytrec_eval

EMPTY = "the id is an empty text; drop such "


def evaluate(truth, run):
    return rg.evaluate(truth, run, "rr")


def test_empty_ids_in_dicts_and_lists_are_refused(rejects):
    good, run = {"p": {"x": 1}, "q": {"d": 1, "e": 0}}, {"p": {"x": 1.0}, "q": {"d": 2.0, "e": 1.0}}
    documents, queries = {"p": {"x": 1}, "q": {"d": 1, "": 0}}, {"p": {"x": 1}, "": {"d": 1}}
    rejects(ValueError, f"truth: query 'q', position 1: {EMPTY}ids", evaluate, documents, run)
    rejects(ValueError, f"run: query 'q', position 1: {EMPTY}ids", evaluate, good, documents)
    rejects(ValueError, f"truth: position 1: {EMPTY}queries", evaluate, queries, run)
    rejects(ValueError, f"run: position 1: {EMPTY}queries", evaluate, good, queries)
    rejects(ValueError, f"truth: query 'q', position 1: {EMPTY}ids", rg.judgments, documents)
    rejects(ValueError, f"old: query 'q', position 1: {EMPTY}ids", rg.similarity, documents, run, "rbo@5")
    by_subtopic = {"q": {"s": {"d": 1, "": 1}}}
    rejects(ValueError, f"truth: query 'q', subtopic 's': {EMPTY}ids", rg.judgments, by_subtopic, subtopic=True)
    lists = {"p": ["x"], "q": ["", "d"]}
    many = [f"d{number}" for number in range(2000)]
    for items in (lists, {"p": ["x"], "q": (np.str_(""), "d")}, {"p": many, "q": ["", "d"]}):
        message = f"query 'q', position 0: {EMPTY}ids: only at the end of a list are they padding"
        rejects(ValueError, f"recommended: {message}", rg.from_recommendations, good, items)
        rejects(ValueError, f"query 'q', document '': {EMPTY}ids", rg.judgments, items)
    rejects(
        ValueError, f"relevant: query 'q', position 0: {EMPTY}ids", rg.from_recommendations, {"q": {""}}, {"q": ["d"]}
    )
    rejects(ValueError, f"recommended: position 0: {EMPTY}queries", rg.from_recommendations, good, {"": ["d"], "p": []})
    rejects(ValueError, "qid: position 1: the id is an empty text", rg.from_scores, [1, 0], [0.1, 0.2], qid=["a", ""])
    rejects(ValueError, "query_ids: position 0: the id is an", rg.from_ranked, [[1], [0]], query_ids=["", "a"])


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with Arrow": lambda table: pd.DataFrame(table).astype({"doc_id": "string[pyarrow]"}),
    "categories": lambda table: pd.DataFrame(table).astype({"doc_id": "category", "query_id": "category"}),
    "polars": pl.DataFrame,
    "polars categories": lambda table: pl.DataFrame(table).with_columns(pl.col("doc_id").cast(pl.Categorical)),
    "pyarrow": pa.table,
    "pyarrow in parts": lambda table: pa.concat_tables([pa.table(table).slice(0, 1), pa.table(table).slice(1)]),
    "columns": dict,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_empty_ids_in_frames_are_refused(rejects, frame):
    make = FRAMES[frame]
    qrels = {"query_id": ["q", "q"], "doc_id": ["d", "e"], "relevance": [1, 0]}
    run = {"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, 2.0]}
    for name, other in (("doc_id", ["d", ""]), ("query_id", ["q", ""])):
        message = f"column {name!r}, row 1: {EMPTY}rows"
        rejects(ValueError, f"truth: {message}", evaluate, make(qrels | {name: other}), make(run))
        rejects(ValueError, f"run: {message}", evaluate, make(qrels), make(run | {name: other}))
    tagged = make(run | {"tag": ["", "b"]})  # other columns may have empty texts
    assert evaluate(make(qrels), tagged)["rr"].tolist() == [0.5]


@pytest.mark.usefixtures("backend")
def test_empty_ids_are_read_as_pytrec_eval_reads_them():
    evaluator = pytrec_eval.RelevanceEvaluator({"": {"": 1}}, {"recip_rank"})
    assert evaluator.evaluate({"": {"": 1.0, "d": 2.0}}) == {"": {"recip_rank": 0.5}}


TWICE = {
    '{"q1": {"d1": 1}, "q2": {"d1": 1, "d2": 0, "d1": 0}}': "query 'q2': position 2: the key 'd1' repeats",
    '{"q1": {"d1": 1}, "q1": {"d2": 1}}': "position 1: the key 'q1' repeats an earlier one",
    '{"q1": ["d1"], "q2": ["d1"], "q1": ["d2"]}': "position 2: the key 'q1' repeats an earlier one",
    '[{"query_id": "q", "doc_id": "d", "doc_id": "e", "relevance": 1}]': "row 0: position 2: the key 'doc_id' repeats",
    '{"qid": "q", "docid": "d", "rel": 1}\n{"qid": "q", "docid": "e", "rel": 1, "docid": "f"}\n': (
        "line 2: position 3: the key 'docid' repeats"
    ),
    '{"id": "a", "relevant": {"d": 1, "d": 2}, "retrieved": ["d"]}\n{"id": "b", "relevant": {}, "retrieved": []}': (
        "line 1: column 'relevant': position 1: the key 'd' repeats"
    ),
}


@pytest.mark.parametrize("text", TWICE)
def test_json_objects_with_a_key_twice_are_refused(tmp_path, rejects, text):
    path = tmp_path / "table.json"
    path.write_text(text)
    sides = (path, "rr") if "retrieved" in text else (path, {"q1": {"d1": 1.0}, "q": {"d": 1.0}}, "rr")
    rejects(ValueError, f"table.json: {TWICE[text]}", rg.evaluate, *sides)
