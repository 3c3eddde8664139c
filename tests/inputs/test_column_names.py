"""Columns are recognised by name, and the error for a missing column suggests names."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.marks import in_one_case
from support.sides import columns

import rankgain as rg
from rankgain.batches import summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0}}
EXPECTED = rg.from_qrels(QRELS, RUN).evaluate("ndcg@10", "mrr").to_dict()
FRAMES = [dict, pd.DataFrame, pl.DataFrame, pa.table]
MEANINGLESS = [7, 8, 9, 10]


def means_of(qrels, run, **names):
    """Yield the result of each function that recognises columns by name."""
    yield rg.from_frames(qrels, run, **names).evaluate("ndcg@10", "mrr").to_dict()
    yield rg.evaluate(qrels, run, "ndcg@10", "mrr", **names).to_dict()
    yield rg.evaluate(rg.judgments(qrels), run, "ndcg@10", "mrr", **names).to_dict()


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize(
    "names",
    [
        {"query_id": "qid", "doc_id": "docno"},
        {"qid": "query", "docno": "docid"},  # column names of PyTerrier's frames
        {"query_id": "query-id", "doc_id": "doc-id"},
        {"user": "UserId", "item": "itemID"},
    ],
)
def test_exact_names_come_in_order_and_before_other_spellings(frame, names):
    (query, other_query), (doc, other_doc) = names.items()
    qrels = {other_query: [1, 2, 3], other_doc: [7, 8, 9]} | columns(QRELS, query, doc)
    run = {other_query: [1, 2, 3, 4], other_doc: MEANINGLESS} | columns(RUN, query, doc, "score")
    assert list(means_of(frame(qrels), frame(run))) == [EXPECTED] * 3


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize(
    "doc", ["movie_id", "productId", "document_id", "documentId", "passage_id", "pid", "chunk_id", "chunkID"]
)
def test_names_of_documents(frame, doc):
    qrels, run = columns(QRELS, "query_id", doc), columns(RUN, "query_id", doc, "score")
    assert list(means_of(frame(qrels), frame(run))) == [EXPECTED] * 3


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize("name", ["prediction", "predicted_rating", "predictedRating"])
def test_predictions_are_scores_if_they_are_numbers(frame, name):
    qrels, run = columns(QRELS), columns(RUN, value=name)
    assert list(means_of(frame(qrels), frame(run))) == [EXPECTED] * 3
    ranked = run | {name: ["an", "answer", "in", "words"], "rank": [1, 2, 3, 1]}
    assert list(means_of(frame(qrels), frame(ranked))) == [EXPECTED] * 3
    assert list(means_of(frame(qrels), frame(run | {"score": [0.0] * 4}), score=name)) == [EXPECTED] * 3
    unscored = {column: values for column, values in ranked.items() if column != "rank"}
    with pytest.raises(ValueError, match=r"run_df has no score column \(expected score, prediction, .*, or rank, "):
        rg.from_frames(frame(qrels), frame(unscored))


@pytest.mark.parametrize("frame", FRAMES)
def test_positions_are_ranks(frame):
    run = columns(RUN) | {"position": [1, 2, 3, 1]}
    del run["relevance"]
    assert list(means_of(frame(columns(QRELS)), frame(run))) == [EXPECTED] * 3
    clicks = frame({"user_id": ["q1", "q1"], "item_id": ["d1", "d2"], "position": [4, 2]})
    assert rg.judgments(clicks).query_ids == ["q1"]  # each click counts as a grade of 1, without a warning


def test_names_in_record_batches():
    rows = pa.table({"qid": [1, 1, 2, 2], "label": [0, 1, 2, 0], "prediction": [0.3, 0.9, 0.1, 0.7]})
    assert round(summarize_batches(rows, "ndcg@10").mean("ndcg@10"), 4) == 0.8155


MISSING = [
    ("no query column (…; found question, doc_id, score): pass query='question'", "question", "doc_id", "score"),
    ("no query column (…): pass query='customer'", "customer", "doc_id", "score"),
    ("no query column (…): pass query='search_term'", "search_term", "doc_id", "score"),
    ("no query column (…; found a, doc_id, score): pass query=", "a", "doc_id", "score"),
    ("no doc column (…; found query_id, doc, score): pass doc='doc'", "query_id", "doc", "score"),
    ("no doc column (…): pass doc='ProductCode'", "query_id", "ProductCode", "score"),
    ("no doc column (expected doc_id, docno, …, chunk_id; found …): pass doc=", "query_id", "b", "score"),
    ("no score column (…; found …, similarity): pass score='similarity'", "query_id", "doc_id", "similarity"),
    ("no score column (…): pass rank='rank_at'", "query_id", "doc_id", "rank_at"),
    ("no score column (…): pass score= or, if lower is better, rank=", "query_id", "doc_id", "value"),
]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_missing_columns_are_errors_that_end_with_the_likeliest(rejects, frame):
    for message, *names in MISSING:
        run = frame(columns(RUN, *names))
        rejects(ValueError, f"run_df has {message}", rg.from_frames, columns(QRELS), run)
    message = "qrels_df has no relevance column (…): pass relevance=, as relevance='score' if those are grades"
    rejects(
        ValueError, message, rg.from_frames, frame(columns(QRELS, value="score")), frame(columns(RUN, value="score"))
    )
