"""Record batches and options that are rejected."""

import datetime
import math
from decimal import Decimal

import pyarrow as pa
import pytest

import rankgain as rg
from rankgain import batches as functions

nan = math.nan
LABELLED = {"query_id": ["q", "q", "q", "r"], "label": [1, 0, 2, 1], "score": [0.5, 1.0, 0.25, 2.0]}


def evaluate_batches(columns, metrics=("ndcg",), judgments=None, **options):
    given = {"judgments": judgments, "options": functions.BatchOptions(**options)}
    return [*functions.evaluate_batches(in_batches(columns), *metrics, **given)]


def summarize_batches(columns, metrics=("ndcg",), judgments=None, **options):
    given = {"judgments": judgments, "options": functions.BatchOptions(**options)}
    return functions.summarize_batches(in_batches(columns), *metrics, **given).mean()


def in_batches(columns):
    """Convert a dict of columns to two record batches; return any other value unchanged.

    The first batch ends within a query.
    """
    return pa.table(columns).to_batches(max_chunksize=2) if isinstance(columns, dict) else columns


BOTH = [evaluate_batches, summarize_batches]


@pytest.mark.parametrize("row", [
    ("did you mean 'ndcg'", ValueError, {"metrics": ["ndgc"]}),
    ("no metric was requested", ValueError, {"metrics": []}),
    ("ties must be one of", ValueError, {"ties": "random"}),
    ("missing must be 'zero' or 'skip'", ValueError, {"missing": "drop"}),
    ("duplicates must be 'error' or 'first'", ValueError, {"duplicates": "last"}),
    ("validate must be 'judged' or 'full'", ValueError, {"validate": "all"}),
    ("unknown tool", ValueError, {"like": "solr"}),
    ("threads must be from 1", ValueError, {"threads": 0}),
    ("rows must be a positive integer, not 0", ValueError, {"rows": 0}),
    ("judgments must be what rankgain.judgments returns, not dict", TypeError, {"judgments": {"q": {"d": 1}}}),
])  # fmt: skip
def test_batches_reject_an_option(rejects, row):
    message, error, options = row
    for function in BOTH:
        rejects(error, message, function, LABELLED, **options)


def test_options_of_another_kind_are_rejected(rejects):
    message = "options must be a BatchOptions, not dict: BatchOptions(ties='docid')"
    for function in (functions.evaluate_batches, functions.summarize_batches):
        rejects(TypeError, message, function, pa.table(LABELLED), "ndcg", options={"ties": "docid"})


# Rows with document ids, rows without document ids, and a row of another query.
JOINED = {"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2], "score": [3.0, 2.0, 1.0]}
SIDES = {"qid": [1, 1, 2], "label": [0, 3, 1], "score": [2.0, 1.0, 1.0]}
FOLLOWING = {"query_id": [3], "doc_id": ["z"], "relevance": [1], "score": [1.0]}


@pytest.mark.parametrize("row", [
    ("batches…: column 'query_id', row 1: the value is null; drop such rows", JOINED | {"query_id": [1, None, 2]}),
    ("column 'doc_id', row 0: the value is null; drop such rows", JOINED | {"doc_id": ["a", "b", None]}),
    ("row 1: both 'relevance' and 'score' are null; drop such rows",
     JOINED | {"relevance": [1, None, 2], "score": [1.0, None, 1.0]}),
    ("run: query 1, document 'b': the score is NaN; use -inf", JOINED | {"score": [1.0, nan, 1.0]}),
    ("qrels: query 1, document 'b': the grade is NaN", JOINED | {"relevance": [1.0, nan, 1.0]}),
    ("qrels: query 1, document 'a': the document repeats an earlier one of the", JOINED | {"doc_id": ["a", "a", "c"]}),
    ("batches: query 1 comes again after others;…: sort by query first", JOINED | {"query_id": [1, 2, 1]}),
    ("column 'qid', row 1: the value is null", SIDES | {"qid": [1, None, 2]}),
    ("column 'label', row 1: the value is null", SIDES | {"label": [0, None, 1]}),
    ("column 'score', row 1: the value is null", SIDES | {"score": [2.0, None, 1.0]}),
])  # fmt: skip
def test_rows_are_rejected(rejects, row):
    message, columns = row
    for function in BOTH:
        for size in (1, 2, 100):
            rejects(ValueError, message, function, columns, rows=size)


@pytest.mark.parametrize("row", [
    ("batches: item 1 has no column 'score'; there are: query_id, doc_id", ValueError,
     pa.table(FOLLOWING).drop_columns("score")),
    ("batches: item 1 has 2 columns called 'score'; rename", ValueError,
     pa.Table.from_arrays([pa.array([1])] * 5, [*FOLLOWING, "score"])),
    ("batches: item 1: column 'query_id' holds str, but int in earlier batches: convert them to one type", ValueError,
     pa.table(FOLLOWING | {"query_id": ["3"]})),
    ("batches: item 1: column 'doc_id' holds bytes, but str in earlier batches", ValueError,
     pa.table(FOLLOWING | {"doc_id": [b"3"]})),
    ("batches: item 1: column 'query_id', row 0: the id does not fit in a signed 64-bit integer", ValueError,
     pa.table(FOLLOWING | {"query_id": pa.array([2**63], pa.uint64())})),
    ("batches: item 1 must be an Arrow record batch or table, not str", TypeError, "rows"),
])  # fmt: skip
def test_batches_that_do_not_follow_the_first_are_rejected(rejects, row):
    message, error, second = row
    for function in BOTH:
        rejects(error, message, function, [pa.table(JOINED), second])


@pytest.mark.parametrize("row", [
    ("batches must be an iterable of Arrow record batches, not str", TypeError, "rows.parquet", {}),
    ("batches must be an iterable of Arrow record batches, not int", TypeError, 3, {}),
    ("batches has no query column (expected query_id,…pass query=", ValueError, pa.table({"a": [1]}), {}),
    ("batches has no column 'rating'; there are: query_id, doc_id", ValueError,
     pa.table(JOINED), {"relevance": "rating"}),
    ("the query ids are int in judgments, str in batches; convert those", ValueError,
     {"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}, {"judgments": rg.judgments({1: {"a": 1}})}),
    ("the document ids are str in judgments and int in run; convert those", ValueError,
     {"query_id": [1], "doc_id": [1], "score": [1.0]}, {"judgments": rg.judgments({1: {"a": 1}})}),
])  # fmt: skip
def test_batches_are_rejected(rejects, row):
    message, error, columns, options = row
    for function in BOTH:
        rejects(error, message, function, columns, **options)


def test_text_that_is_not_utf8_is_rejected(rejects):
    text = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    message = "batches: the column of queries is broken: its text is not UTF-8"
    rejects(ValueError, message, evaluate_batches, JOINED | {"query_id": text})


UNSUPPORTED = [
    pa.array([[1]] * 3), pa.array([{"a": 1}] * 3), pa.array([[(1, 2)]] * 3, pa.map_(pa.int8(), pa.int8())),
    pa.array([Decimal(1)] * 3), pa.array([datetime.datetime(2020, 1, 1)] * 3),
    pa.array([datetime.date(2020, 1, 1)] * 3), pa.array([datetime.timedelta(1)] * 3),
    pa.RunEndEncodedArray.from_arrays([3], [1]),
]  # fmt: skip
UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * 3, pa.binary(16)))


@pytest.mark.parametrize("column", ["qid", "doc_id", "label", "score"])
def test_columns_of_other_types_are_rejected(rejects, column):
    is_id = column in ("qid", "doc_id")
    others = [pa.array([1.0, 2.0, 3.0])] if is_id else [pa.array(list("123")), UUIDS]
    columns = {"qid": ["q"] * 3, "doc_id": list("012"), "label": range(3), "score": range(3)}
    for array in [*UNSUPPORTED, *others]:
        for function in BOTH:
            message = f"batches: column '{column}'…cast"
            rejects(TypeError, message, function, pa.table(columns | {column: array}))
