"""Frames of every library: which columns are accepted and which are rejected."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.evaluating import evaluate_frames
from support.marks import in_one_case
from support.rejections import masked

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400
QRELS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
RUN = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
LIBRARIES = {
    "lists": dict,
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "Arrow": pa.table,
}
IDS = [(argument, column) for argument in ("qrels_df", "run_df") for column in ("query_id", "doc_id")]
NUMBERS = [("qrels_df", "relevance"), ("run_df", "score")]
DATES = [datetime.datetime(2020, 1, 1)] * 3
NULLS = None, nan, pd.NA, pd.NaT

in_each_library = pytest.mark.parametrize("library", LIBRARIES)
of_ids = pytest.mark.parametrize(("argument", "column"), IDS)
of_numbers = pytest.mark.parametrize(("argument", "column"), NUMBERS)


def frames(make, argument, column, values):
    """Return both frames after replacing the values of one column."""
    columns = {"qrels_df": dict(QRELS), "run_df": dict(RUN)}
    columns[argument][column] = values
    return [make(side) for side in columns.values()]


# Rejected columns in frames of each library


@in_each_library
@of_ids
def test_columns_of_ids_are_rejected(rejects, library, argument, column):
    def check(error, message, values):
        sides = frames(LIBRARIES[library], argument, column, values)
        rejects(error, f"{argument}: column {column!r}{message}", evaluate_frames, *sides)

    for values, row in [(["a", None, "b"], 1), ([None, "a", "b"], 0), (["a", "b", None], 2), ([None] * 3, 0)]:
        check(ValueError, f", row {row}…null…drop", values)
    for values in ([1.0, 2.0, 3.0], [1.5, nan, 2]):
        check(TypeError, "…all int…float" if library == "lists" else "…float…text", values)
    for values in (DATES, [[1], [2], [3]], [{"a": 1}] * 3):
        check(TypeError, "", values)
    check(ValueError, ", row 2…signed 64-bit…text", np.array([1, 2, 2**63], dtype="u8"))


@in_each_library
@of_numbers
def test_columns_of_numbers_are_rejected(rejects, library, argument, column):
    def check(error, message, values):
        sides = frames(LIBRARIES[library], argument, column, values)
        rejects(error, message, evaluate_frames, *sides)

    where, noun = f"{argument}: column {column!r}", "score" if column == "score" else "grade"
    for values in (["1", "2", "3"], ["", "", ""], DATES, [b"1"] * 3, [{"a": 1}] * 3):
        check(TypeError, where, values)
    check(ValueError if library in ("lists", "pandas") else TypeError, where, [[1], [2], [3]])
    is_nan = f"{argument}: query 'q', document 'b'…the {noun} is NaN"
    check(ValueError, is_nan, [1, nan, 2.5])
    check(ValueError, is_nan if library == "pandas" else f"{where}, row 1…null", [1, None, 2])
    in_the_second_query = f"{argument}: query 'r', document '{'a' if noun == 'grade' else 'c'}' (row 2): the {noun} is"
    check(ValueError, f"{in_the_second_query} NaN", [1.0, 2.0, nan])
    if noun == "grade":
        check(ValueError, f"{argument}: query 'q', document 'b'…the grade is infinite", [1, inf, -inf])
        check(ValueError, f"{in_the_second_query} infinite", [1, 2, -inf])


@in_each_library
def test_documents_that_repeat_are_rejected(rejects, library):
    for argument, validate in [("qrels_df", "judged"), ("run_df", "full")]:
        sides = frames(LIBRARIES[library], argument, "doc_id", ["x", "x", "c"])
        message = f"{argument}: query 'q', document 'x'…repeats an earlier one…keep one"
        rejects(ValueError, message, evaluate_frames, *sides, validate=validate)
    sides = frames(LIBRARIES[library], "run_df", "doc_id", ["a", "a", "c"])
    rejects(ValueError, "run_df: query 'q', document 'a' (row 1)…repeats an earlier one", evaluate_frames, *sides)


@in_each_library
def test_ids_of_other_types_are_rejected(rejects, library):
    for ids, kind in [([1, 2, 3], "int"), ([b"a", b"b", b"c"], "bytes")]:
        sides = frames(LIBRARIES[library], "run_df", "doc_id", ids)
        rejects(ValueError, f"str in qrels_df and {kind} in run_df…convert those in", evaluate_frames, *sides)
        sides = frames(LIBRARIES[library], "run_df", "query_id", ids)
        rejects(ValueError, f"no query in common: str in qrels_df, {kind} in run_df", evaluate_frames, *sides)


@in_each_library
def test_frames_need_a_query_in_common(rejects, library):
    make, message = LIBRARIES[library], "qrels_df and run_df have no query in common"
    rejects(ValueError, message, evaluate_frames, *frames(make, "run_df", "query_id", ["x", "y", "x"]))
    empty = {name: [] for name in [*QRELS, "score"]}
    for qrels, run in [(empty, RUN), (QRELS, empty), (empty, empty)]:
        rejects(ValueError, message, evaluate_frames, make(qrels), make(run))


@in_each_library
def test_columns_that_are_absent_are_named(rejects, library):
    make = LIBRARIES[library]
    qrels, run = sides = make(QRELS), make(RUN)
    message = "qrels_df has no column 'nope'…query_id, doc_id, relevance"
    rejects(ValueError, message, evaluate_frames, *sides, doc="nope")
    for role in ("score", "rank"):
        message = "run_df has no column 'nope'…there are: query_id, doc_id, score"
        rejects(ValueError, message, evaluate_frames, *sides, **{role: "nope"})
    rejects(ValueError, "run_df has no column 'x'", evaluate_frames, *sides, query=("query_id", "x"))
    rejects(ValueError, "score or rank, not both", evaluate_frames, *sides, score="score", rank="score")
    for role, expected, lacking in [
        ("query", "query_id, qid", "query_id"),
        ("doc", "doc_id, docno", "doc_id"),
        ("score", "score", "score"),
    ]:
        rest = {name: values for name, values in RUN.items() if name != lacking}
        message = f"run_df has no {role} column (expected {expected}…found {', '.join(rest)}): pass {role}="
        rejects(ValueError, message, evaluate_frames, qrels, make(rest))
    rejects(ValueError, "found none): pass query=", evaluate_frames, make({}), run)


@in_each_library
@pytest.mark.parametrize("row", [
    ("grade is NaN", "label", nan), ("negative", "label", -1), ("score is NaN", "score", nan),
])  # fmt: skip
def test_labels_beside_scores_are_rejected_by_element(rejects, library, row):
    message, column, value = row
    table = {"qid": [2, 1, 2], "label": [1, 1, 1], "score": [1.0, 2.0, 3.0], column: [1.0, 2.0, value]}
    message = f"qrels_df: column {column!r}: query 2, position 1 (element 2)…{message}"
    rejects(ValueError, message, evaluate_frames, LIBRARIES[library](table))


# Rejected columns of Python objects


@pytest.mark.parametrize("make", [dict, lambda side: pd.DataFrame(side, dtype=object)], ids=["lists", "pandas"])
@of_ids
@in_one_case("row", [
    ("row 1…all str, all bytes or all int…int", TypeError, ["a", 1, "b"]),
    ("row 1…all str, all bytes or all int…str", TypeError, [1, "a", 2]),
    ("row 2…all str, all bytes or all int…bytes", TypeError, ["a", "b", b"c"]),
    ("row 1…all str, all bytes or all int…float", TypeError, [1, 2.5, 3]),
    ("row 0…all str, all bytes or all int…tuple", TypeError, [(1, 2), (3, 4), (1, 2)]),
    ("row 1…null", ValueError, *(["a", null, "b"] for null in NULLS), *([1, null, 3] for null in NULLS)),
    ("row 0…null", ValueError, *([null, "a", "b"] for null in NULLS)),
    ("row 1…lone surrogate…encode", ValueError, ["a", "\ud800", "b"], ["a", "\udcc3\udca9", "b"]),
    ("row 1…signed 64-bit", ValueError, [1, 2**63, 3], [1, -(2**63) - 1, 3], [1, HUGE, 3]),
])  # fmt: skip
def test_ids_of_several_types_are_rejected(rejects, make, argument, column, row):
    message, error, *values = row
    for ids in values:
        sides = frames(make, argument, column, ids)
        rejects(error, f"{argument}: column {column!r}, {message}", evaluate_frames, *sides)


@pytest.mark.parametrize(("argument", "column"), [*IDS, *NUMBERS])
@in_one_case("row", [
    ("must be a list or an array of 1 dimension, not {type}", TypeError, "abc", 5, None, {0: 1}, {"a"}),
    ("1 dimension, not an array of 0 dimensions", ValueError, np.array(1.0)),
    ("1 dimension, not generator", TypeError, (n for n in "abc")),
    ("1 dimension, not an array of 2 dimensions", ValueError, np.ones((3, 2), dtype=int)),
    ("masked", ValueError, masked(0, 1, 0)),
])  # fmt: skip
def test_columns_must_be_lists(rejects, argument, column, row):
    message, error, *values = row
    for value in values:
        sides = frames(dict, argument, column, value)
        expected = message.format(type=type(value).__name__)
        rejects(error, f"{argument}: column {column!r}…{expected}", evaluate_frames, *sides)


@of_numbers
@pytest.mark.parametrize("row", [
    ("row 1…null", ValueError, [1, None, 2]),
    ("position 1: must be a number, not", TypeError, [1, "2", 3], [1, 2j, 3], [1, {}, 2]),
    ("position 1…too large", ValueError, [1, HUGE, 2]),
    ("must hold numbers; cast", TypeError, np.array([1j, 2, 3]), np.array(["1", "2", "3"])),
])  # fmt: skip
def test_columns_of_objects_must_hold_numbers(rejects, argument, column, row):
    message, error, *values = row
    for value in values:
        sides = frames(dict, argument, column, value)
        rejects(error, f"{argument}: column {column!r}…{message}", evaluate_frames, *sides)


# Rejected frames


@pytest.mark.parametrize("row", [
    ("pandas, polars or Arrow table, or a mapping of columns, not {type}", TypeError,
     5, [[1]], ...),
    ("not {type}", TypeError, rg.judgments, pa.array([1])),
    ("LazyFrame…collect() it first", TypeError, pl.LazyFrame(QRELS)),
    ("column (expected", ValueError,
     pd.Series([1]), pl.Series([1]), {"q": {"d": 1}}, pa.chunked_array([[1]])),
])  # fmt: skip
def test_from_frames_rejects_other_types(rejects, row):
    message, error, *values = row
    for value in values:
        expected = message.format(type=type(value).__name__)
        rejects(error, f"qrels_df…{expected}", evaluate_frames, value, RUN)
        rejects(error, f"run_df…{expected}", evaluate_frames, QRELS, value)


def test_from_frames_rejects_none(rejects):
    rejects(TypeError, "qrels_df must be", evaluate_frames, None)


@pytest.mark.parametrize("names", [5.0, ("a",), ("a", "b", "c"), {"a"}], ids=str)
def test_from_frames_rejects_names_of_columns(rejects, names):
    for role in ("query", "doc"):
        message = f"{role} must be the name of a column,…or a pair of names"
        rejects(TypeError, message, evaluate_frames, QRELS, RUN, **{role: names})
    message = "doc must be the name of a column, or a pair of names"
    rejects(TypeError, message, evaluate_frames, QRELS, RUN, doc=["doc_id", "query_id"])


def test_from_frames_rejects_columns_of_the_same_name(rejects):
    rows, names = [[1, 2, 2, 3]], ["query_id", "doc_id", "doc_id", "relevance"]
    for frame in (pd.DataFrame(rows, columns=names), pa.table([[1], [2], [2], [3]], names=names)):
        rejects(ValueError, "qrels_df has 2 columns called 'doc_id'; rename", evaluate_frames, frame, RUN)


def test_from_frames_rejects_columns_of_other_lengths(rejects):
    message = "run_df: the columns are of different lengths…'query_id': 3…'doc_id': 2"
    rejects(ValueError, message, evaluate_frames, QRELS, {**RUN, "doc_id": ["a", "b"]})


def test_from_frames_rejects_frames_for_each_other(rejects):
    scored = {"query_id": QRELS["query_id"], "doc_id": QRELS["doc_id"], "score": [1, 2, 1]}
    rejects(ValueError, "pass relevance=, as relevance='score' if those are grades", evaluate_frames, scored, RUN)
    message = "qrels_df has scores or ranks and run_df has none: are they swapped?"
    rejects(ValueError, message, evaluate_frames, RUN, QRELS)
    reco = {"user_id": [1, 1], "item_id": [5, 6], "rank": [1, 2]}
    rejects(ValueError, message, evaluate_frames, reco, {"user_id": [1], "item_id": [6]})
    rejects(ValueError, message, evaluate_frames, reco, {"user_id": [1], "item_id": [6], "weight": [3]})


@pytest.mark.parametrize("row", [
    ("ties must", {"ties": "x"}), ("missing", {"missing": "x"}), ("validate", {"validate": 1}),
    ("query_ids has…2 queries", {"query_ids": ["x"]}), ("query_ids has…2 queries", {"query_ids": ["x", "y", "z"]}),
    ("duplicates must be 'error' or 'first'", {"duplicates": True}),
])  # fmt: skip
def test_from_frames_rejects_an_option(rejects, row):
    message, options = row
    rejects(ValueError, message, evaluate_frames, QRELS, RUN, **options)


def test_from_frames_of_labels_and_scores_rejects_an_option(rejects):
    table = {"qid": [2, 1, 2], "label": [1, 1, 1], "score": [1.0, 2.0, 3.0]}
    rejects(ValueError, "ties='docid' needs document ids", evaluate_frames, table, ties="docid")
    rejects(ValueError, "query_ids has 1 ids", evaluate_frames, table, query_ids=["a"])
    matrix = table | {"label": [[1], [1], [1]]}
    rejects(ValueError, "label' must have 1 dimension", evaluate_frames, matrix)


@pytest.mark.parametrize("scores", [[nan, 1.0, 0.5], [1.0, nan, 0.5], [nan, nan, 0.5]], ids=str)
def test_scores_of_dropped_duplicates_must_be_numbers(rejects, scores):
    run = {"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "score": scores}
    rejects(ValueError, "the score is NaN", evaluate_frames, QRELS, run, duplicates="first")


def test_columns_of_pandas_with_nulls_are_rejected(rejects):
    category = pd.Series(["a", None, "b"], dtype="category")
    run, message = pd.DataFrame({**RUN, "doc_id": category}), "run_df: column 'doc_id', row 1…null"
    rejects(ValueError, message, evaluate_frames, QRELS, run)
    category = pd.Series(pd.Categorical.from_codes([0, 1, 0], [1.5, 2.5]))
    run, message = pd.DataFrame({**RUN, "doc_id": category}), "run_df: column 'doc_id', categories holds float64"
    rejects(TypeError, message, evaluate_frames, QRELS, run)
    for dtype in ("Int64", "Float64", "boolean"):
        run = pd.DataFrame({**RUN, "score": pd.Series([1, None, 0], dtype=dtype)})
        rejects(ValueError, "run_df: column 'score', row 1…null", evaluate_frames, QRELS, run)
    missing = pd.Series(["a", None], dtype="string")
    rejects(ValueError, "qid: position 1: the id is NaN or missing", rg.from_scores, [1, 2], [1, 2], qid=missing)


# Rejected Arrow columns


def with_column(column, array):
    """Return a table of labels and scores for one query, with `array` as one of the columns."""
    columns = {
        "qid": ["q"] * len(array),
        "doc_id": pa.array(map(str, range(len(array)))),
        "label": range(len(array)),
        "score": range(len(array)),
    }
    return pa.table({**columns, column: array})


UNSUPPORTED = [
    pa.array([[1]] * 3), pa.array([{"a": 1}] * 3), pa.array([[(1, 2)]] * 3, pa.map_(pa.int8(), pa.int8())),
    pa.array([Decimal(1)] * 3), pa.array(DATES), pa.array([datetime.date(2020, 1, 1)] * 3),
    pa.array([datetime.timedelta(1)] * 3), pa.RunEndEncodedArray.from_arrays([3], [1]),
    pa.UnionArray.from_sparse(pa.array([0] * 3, pa.int8()), [pa.array([1, 2, 3])]),
]  # fmt: skip


@pytest.mark.parametrize("column", ["qid", "doc_id", "label", "score"])
def test_columns_of_arrow_are_rejected(rejects, column):
    def check(error, message, array):
        where = f"{'run' if column == 'score' else 'qrels'}_df: column {column!r}"
        table = with_column(column, array)
        # The table is passed twice because nulls are allowed if a single table holds both qrels and run.
        rejects(error, f"{where}{message}", evaluate_frames, table, table)

    for array in UNSUPPORTED:
        check(TypeError, " is of Arrow's type…cast it", array)
    check(ValueError, ", row 0…null", pa.nulls(3))
    texts, numbers = ["1", None, "2", "3"], [1, None, 2, 3]
    for size in (3, 9, 20):  # the null is in a later chunk, whose validity bitmap starts in the middle of a byte
        values = pa.array(texts * size) if column in ("qid", "doc_id") else pa.array(numbers * size, pa.float32())
        chunks = pa.chunked_array([values.slice(2, 3), values.slice(4 * size - 2, 2), values.slice(4 * size - 5)])
        check(ValueError, f", row {3 + 2 + 2}…null", chunks)
    for categories in (pa.array(["a", "b"]), pa.array([1, 2]), pa.array([1.5, 2.5])):
        for codes in ([0, 1, None], [None, 0, 0]):
            array = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), categories)
            check(ValueError, f", row {codes.index(None)}…null", array)
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    check(ValueError, ", categories, row 1…null", array)


@pytest.mark.parametrize("column", ["qid", "doc_id"])
def test_ids_of_arrow_are_rejected(rejects, column):
    chunks = pa.chunked_array([pa.array([1, 2], pa.uint64()), pa.array([3, 2**63], pa.uint64())])
    message = f"column {column!r}, row 3…signed 64-bit"
    rejects(ValueError, message, evaluate_frames, with_column(column, chunks))
    for array, kind in ((pa.array(np.ones(3, "f2")), "float16"), (pa.array([True, False]), "bool")):
        rejects(TypeError, f"column {column!r} holds {kind}", evaluate_frames, with_column(column, array))


def test_arrow_structs_with_nulls_are_rejected(rejects):
    row = {"qid": "q", "label": 1, "score": 2.0}
    rejects(ValueError, "row 1…null", evaluate_frames, pa.chunked_array([pa.array([row, None, row])]))


# Accepted frames


@in_each_library
def test_frames_of_each_library_are_accepted(gives, library):
    make, second = LIBRARIES[library], 1 / math.log2(3)
    sides = make(QRELS), make({**RUN, "score": [-inf, inf, 0.0]})
    gives([[(second + 2) / (2 + second), 0.0]], evaluate_frames, *sides, metrics=["ndcg"])
    gives([[]], evaluate_frames, make({"qid": [], "label": [], "score": []}), metrics=["ndcg"])
    ranks = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [0, 1], "rank": [2, 1]})
    gives([[1.0]], evaluate_frames, ranks, metrics=["ndcg"])
    named = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [0, 1], "value": [2, 1]})
    gives([[0.5]], evaluate_frames, named, score="value", metrics=["rr"])
    negative = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [-1, 1], "score": [2, 1]})
    gives([[0.5]], evaluate_frames, negative, metrics=["rr"])
    extra = make({**RUN, "query_id": ["q", "x", "x"]})  # query r is missing from the run, and x from the qrels
    gives([[1.0, 0.0]], evaluate_frames, make(QRELS), extra, metrics=["rr"])
    gives([[1.0]], evaluate_frames, make(QRELS), extra, metrics=["rr"], missing="skip")


@pytest.mark.parametrize(
    "scores",
    [[Decimal(1), Fraction(1, 2), True], np.array([1, 0.5, True], dtype=object), np.array([2, 1, 0], ">f2")],
    ids=["list", "objects", "float16"],
)
def test_scores_of_any_type_are_accepted(gives, scores):
    qrels = QRELS | {"relevance": [0, 2, 1]}
    gives([[0.5, 1.0]], evaluate_frames, qrels, {**QRELS, "score": scores}, metrics=["rr"])


def test_columns_that_are_not_read_may_hold_anything(gives):
    run = {**RUN, "embedding": np.ones((3, 8)), "notes": "nothing that is read"}
    gives([[1.0, 0.0]], evaluate_frames, QRELS, run, metrics=["rr"])


@pytest.mark.parametrize(
    "ids",
    [["\udcff", "é", "z"], ["a\0", "a", "\0"], [b"\xff", b"a", b"\0"], [2**63 - 1, -(2**63), 0]],
    ids=["surrogates", "nulls", "bytes", "integers"],
)
def test_ids_of_any_contents_are_accepted(gives, ids):
    table = {"query_id": ids, "doc_id": ids, "relevance": [1, 1, 1], "score": [1, 2, 3]}
    gives([[1.0, 1.0, 1.0]], evaluate_frames, table, metrics=["rr"])
