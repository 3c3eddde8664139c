"""Options of functions that read columns, for each kind of frame: column names, ties, ranks, duplicates, query ids."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.evaluating import evaluate_frames
from support.sides import columns
from support.small_rankings import METRICS, QRELS, RUN, joined, metrics_of_qrels, metrics_of_scores

import rankgain as rg

FRAMES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
LABELS, SCORES = [[1, 0, 2], [1]], [[0.5, 1.0, 0.25], [2.0]]  # labels and scores in the same rows of one frame
# Columns with the customary names, which are ignored if other columns are named explicitly.
DECOYS = {"query_id": "no", "doc_id": "no", "relevance": 9, "score": 0.0}
RANKS = {query: {doc: rank for rank, doc in enumerate(scores, 1)} for query, scores in RUN.items()}
BY_RANK = {query: {doc: -rank for doc, rank in ranks.items()} for query, ranks in RANKS.items()}


def with_decoys(frame):
    size = len(next(iter(frame.values())))
    return frame | {name: [decoy] * size for name, decoy in DECOYS.items() if name not in frame}


def each_named(names):
    """Yield each option, the column name that it takes, and the other options."""
    for name, column in names.items():
        yield name, column, {other: value for other, value in names.items() if other != name}


@pytest.mark.options("from_frames", "query", "doc", "relevance", "score")
@frames
def test_from_frames_reads_columns_by_name(check_option, frame):
    qrels, run = frame(with_decoys(columns(QRELS, "Q", "D", "R"))), frame(with_decoys(columns(RUN, "q", "d", "s")))
    names = {"query": ("Q", "q"), "doc": ("D", "d"), "relevance": "R", "score": "s"}
    for truth in (qrels, rg.judgments(QRELS)):
        for name, column, others in each_named(names):
            if name != "relevance" or truth is qrels:
                check_option(evaluate_frames, name, column, metrics_of_qrels(), truth, run, metrics=METRICS, **others)


@pytest.mark.options("from_frames", "query", "relevance", "score")
@frames
def test_from_frames_reads_columns_of_one_frame_by_name(check_option, frame):
    table = {"id": list("qqqr"), "mark": joined(LABELS), "mine": joined(SCORES)}
    table |= {"query": list("xxyy"), "label": [0] * 4, "score": [1.0] * 4}
    values = metrics_of_scores(LABELS, SCORES)
    for name, column, others in each_named({"query": "id", "relevance": "mark", "score": "mine"}):
        check_option(evaluate_frames, name, column, values, frame(table), None, metrics=METRICS, **others)


@pytest.mark.options("from_frames", "ties")
@frames
def test_from_frames_orders_by_a_tie_policy(check_option, frame):
    sides = frame(columns(QRELS)), frame(columns(RUN, value="score"))
    for ties in ("average", "stable", "best", "worst"):
        check_option(evaluate_frames, "ties", ties, metrics_of_qrels(ties=ties), *sides, metrics=METRICS)
    scores = [[0.5] * 3, [2.0]]
    table = frame({"query": list("qqqr"), "label": joined(LABELS), "score": joined(scores)})
    for ties in ("stable", "best", "worst"):
        values = metrics_of_scores(LABELS, scores, ties=ties)
        check_option(evaluate_frames, "ties", ties, values, table, None, metrics=METRICS)


@pytest.mark.options("from_frames", "missing", "query_ids")
@frames
def test_from_frames_skips_missing_queries_and_takes_ids(check_option, frame):
    sides = frame(columns(QRELS)), frame(columns(RUN, value="score"))
    check_option(evaluate_frames, "missing", "skip", metrics_of_qrels(missing="skip"), *sides, metrics=METRICS)

    def evaluate_by_query(*sides, **options):
        return rg.from_frames(*sides, **options).evaluate("rr").to_dict()

    values = {"x": {"rr": 1 / 4}, "y": {"rr": 1.0}, "z": {"rr": 0.0}}
    check_option(evaluate_by_query, "query_ids", "xyz", values, *sides)


@pytest.mark.options("from_frames", "rank")
@frames
def test_from_frames_orders_by_rank(check_option, frame):
    run = frame(columns(RANKS, value="r") | {"score": [0.0] * 8})
    values = metrics_of_qrels(run=BY_RANK)
    check_option(evaluate_frames, "rank", "r", values, frame(columns(QRELS)), run, metrics=METRICS)


@pytest.mark.options("from_frames", "duplicates")
@frames
def test_from_frames_takes_the_first_of_duplicates(check_option, frame):
    """The row with the highest score or the lowest rank counts, wherever it is."""
    rows = [
        ({}, RUN, "score", 0.25, 0),
        ({}, RUN, "score", 0.25, 8),
        ({"rank": "r"}, RANKS, "r", 9, 0),
    ]
    for given, run, name, worse, position in rows:
        repeated = columns(run, value=name)
        for column, value in zip(repeated.values(), ("q", "c", worse), strict=True):
            column.insert(position, value)
        values = metrics_of_qrels(run=BY_RANK if given else RUN)
        sides = frame(columns(QRELS)), frame(repeated)
        check_option(evaluate_frames, "duplicates", "first", values, *sides, metrics=METRICS, **given)


@pytest.mark.options("judgments", "query", "doc", "relevance")
@frames
def test_judgments_reads_columns_by_name(check_option, frame):
    def evaluate_judgments(truth, **names):
        return rg.from_qrels(rg.judgments(truth, **names), RUN).evaluate(*METRICS)

    truth = frame(with_decoys(columns(QRELS, "Q", "D", "R")))
    for name, column, others in each_named({"query": "Q", "doc": "D", "relevance": "R"}):
        check_option(evaluate_judgments, name, column, metrics_of_qrels(), truth, **others)
