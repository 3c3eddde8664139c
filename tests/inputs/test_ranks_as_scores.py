"""The warning about ranks that are passed as scores, which would reverse the ranking."""

import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.batches import BatchOptions, summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
FRAMES = [dict, pd.DataFrame, pl.DataFrame, pa.table]


def run(ranks, name="rank"):
    return {"query_id": ["q", "r", "q", "q"], "doc_id": ["a", "a", "b", "c"], name: ranks}


def calls(frame, ranks, name="rank"):
    side, labels = run(ranks, name), {"qid": [1, 2, 1, 1], "label": [1, 0, 2, 0], name: ranks}
    qrels = frame(QRELS)
    yield lambda: rg.from_frames(qrels, frame(side), score=name)
    yield lambda: rg.evaluate(qrels, frame(side), "rr", score=name)
    yield lambda: rg.compare(qrels, {"run": frame(side)}, ["rr"], score=name)
    yield lambda: rg.from_frames(frame(labels), score=name)
    if frame is pa.table:
        together = pa.table({"label": [0, 0, 0, 0]} | side).sort_by("query_id")
        options, returned = BatchOptions(score=name), pa.table(side).sort_by("query_id")
        yield lambda: summarize_batches(together, "rr", options=options)
        yield lambda: summarize_batches(returned, "rr", judgments=rg.judgments(QRELS), options=options)


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize(
    ("ranks", "name"), [([1, 1, 3, 2], "rank"), ([2.0, 0.0, 0.0, 1.0], "Ranking"), ([2, 1, 1, 3], "position")]
)
def test_ranks_as_scores_are_warned_of(frame, ranks, name):
    for call in calls(frame, ranks, name):
        with pytest.warns(
            UserWarning, match=f"score='{name}': the column holds the ranks .*: write rank='{name}'"
        ) as record:
            call()
        assert [warning.filename for warning in record] == [__file__]


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize(
    ("ranks", "name"),
    [
        ([1, 1, 2, 3], "order"),
        ([0.3, 0.4, 0.9, 0.8], "rank"),  # percentile ranks
        ([1, 1, 2, 4], "rank"),
        ([1, 0, 2, 3], "rank"),
        ([1, 1, 1, 2], "rank"),
        ([-1, -1, -2, -3], "rank"),
    ],
)
def test_other_scores_are_not_warned_of(frame, ranks, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls(frame, ranks, name):
            call()


def test_ranks_of_one_document_per_query_are_not_warned_of():
    one = {"query_id": ["q", "r"], "doc_id": ["a", "a"], "rank": [1, 1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rg.from_frames(QRELS, one, score="rank")
        rg.from_frames(QRELS, run([1, 1, 2, 3]), rank="rank")
        rg.from_frames(QRELS, run([1, 1, 2, 3]))
        nothing = {name: [] for name in one}
        rg.from_frames({"qid": [], "label": [], "rank": []}, score="rank")
        with pytest.raises(ValueError, match="no query in common"):
            rg.from_frames(QRELS, nothing, score="rank")


def test_only_the_first_100_queries_are_looked_at():
    queries = [query for query in range(101) for _ in range(2)]
    ranks = [1, 2] * 100 + [7, 9]
    frame = {"qid": queries, "label": [1, 0] * 101, "rank": ranks}
    with pytest.warns(UserWarning, match="holds the ranks"):
        rg.from_frames(frame, score="rank")
    frame["rank"][198] = 3
    rg.from_frames(frame, score="rank")
