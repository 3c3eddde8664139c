"""Frames, recommendations and prepared judgments."""

import collections
import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import rankgain as rg
from support.cases import (
    GOOD,
    HUGE,
    Case,
    each,
    masked,
    named,
    passing,
    refused,
)
from support.public_calls import evaluated

nan, inf = math.nan, math.inf
framed, recommended = map(evaluated, (rg.from_frames, rg.from_recommendations))
SECOND = 1 / math.log2(3)


# frames

QRELS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
RUN = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
LIBRARIES = {
    "lists": dict,
    "pandas": pd.DataFrame,
    "polars": lambda held: pl.DataFrame(held, strict=False),
    "Arrow": pa.table,
}
DATES = [datetime.datetime(2020, 1, 1)] * 3
NULLS = None, nan, pd.NA, pd.NaT


def sides(library, argument, column, values):
    """The call with other values in a column of one side."""
    make, held = LIBRARIES[library], {"qrels_df": dict(QRELS), "run_df": dict(RUN)}
    held[argument][column] = values
    return [make(held[side]) for side in held]


IDS = [(argument, column) for argument in ("qrels_df", "run_df") for column in ("query_id", "doc_id")]
NUMBERS = [("qrels_df", "relevance"), ("run_df", "score")]


def column_cases():
    for library in LIBRARIES:
        for argument, column in IDS:
            where = f"{argument}: column {column!r}"
            for values, row in [(["a", None, "b"], 1), ([None, "a", "b"], 0), (["a", "b", None], 2), ([None] * 3, 0)]:
                parts = f"{where}, row {row} | null | drop"
                yield Case(ValueError, parts, framed, *sides(library, argument, column, values))
            for values in ([1.0, 2.0, 3.0], [1.5, nan, 2]):
                made = sides(library, argument, column, values)
                yield Case(TypeError, f"{where} | float | {'all int' if library == 'lists' else 'text'}", framed, *made)
            for values in (DATES, [[1], [2], [3]], [{"a": 1}] * 3):
                yield Case(TypeError, where, framed, *sides(library, argument, column, values))
            large = sides(library, argument, column, np.array([1, 2, 2**63], dtype="u8"))
            yield Case(ValueError, f"{where}, row 2 | signed 64-bit | text", framed, *large)
        for argument, column in NUMBERS:
            where, noun = f"{argument}: column {column!r}", {"score": "score", "relevance": "grade"}[column]
            for values in (["1", "2", "3"], ["", "", ""], DATES, [b"1"] * 3, [[1], [2], [3]], [{"a": 1}] * 3):
                kind = ValueError if values == [[1], [2], [3]] and library in ("lists", "pandas") else TypeError
                yield Case(kind, where, framed, *sides(library, argument, column, values))
            made = sides(library, argument, column, [1, nan, 2.5])
            parts = f"{argument}: query 'q', document 'b' | the {noun} is NaN"
            yield Case(ValueError, parts, framed, *made)
            made = sides(library, argument, column, [1, None, 2])
            if library == "lists":
                yield Case(ValueError, f"{where}, row 1 | null", framed, *made)
            else:
                yield Case(ValueError, parts if library == "pandas" else f"{where}, row 1 | null", framed, *made)
            made = sides(library, argument, column, [1, inf, -inf])
            if column == "relevance":
                yield Case(ValueError, f"{argument}: query 'q', document 'b' | the grade is infinite", framed, *made)
        for argument, name in [("qrels_df", "judged"), ("run_df", "full")]:
            made = sides(library, argument, "doc_id", ["x", "x", "c"])
            parts = f"{argument}: query 'q', document 'x' | repeats an earlier one | keep one"
            yield Case(ValueError, parts, framed, *made, validate=name)
        made = sides(library, "run_df", "doc_id", ["a", "a", "c"])
        yield Case(ValueError, "run_df: query 'q', document 'a' (row 1) | repeats an earlier one", framed, *made)
        for ids, kind in [([1, 2, 3], "int"), ([b"a", b"b", b"c"], "bytes")]:
            made = sides(library, "run_df", "doc_id", ids)
            yield Case(ValueError, f"str in qrels_df and {kind} in run_df | one type", framed, *made)
            made = sides(library, "run_df", "query_id", ids)
            yield Case(ValueError, f"no query in common: str in qrels_df, {kind} in run_df", framed, *made)
        made = sides(library, "run_df", "query_id", ["x", "y", "x"])
        yield Case(ValueError, "qrels_df and run_df have no query in common", framed, *made)
        make, empty = LIBRARIES[library], {name: [] for name in [*QRELS, "score"]}
        for pair in [(make(empty), make(RUN)), (make(QRELS), make(empty)), (make(empty), make(empty))]:
            yield Case(ValueError, "qrels_df and run_df have no query in common", framed, *pair)
        pair = make(QRELS), make(RUN)
        yield Case(ValueError, "qrels_df has no column 'nope' | query_id, doc_id, relevance", framed, *pair, doc="nope")
        for role in ("score", "rank"):
            parts = "run_df has no column 'nope' | there are: query_id, doc_id, score"
            yield Case(ValueError, parts, framed, *pair, **{role: "nope"})
        yield Case(ValueError, "run_df has no column 'x'", framed, *pair, query=("query_id", "x"))
        yield Case(ValueError, "score or rank, not both", framed, *pair, score="score", rank="score")
        lacks = "run_df has no ROLE column (expected {}) | found {}): pass {}="
        for role, customary in [("query", "query_id, qid"), ("doc", "doc_id, docno"), ("score", "score")]:
            name = {"query": "query_id", "doc": "doc_id"}.get(role, role)
            there = ", ".join(column for column in RUN if column != name)
            parts = lacks.replace("ROLE", role).replace("{})", customary, 1).format(there, role)
            yield Case(ValueError, parts, framed, pair[0], make({n: c for n, c in RUN.items() if n != name}))
        yield Case(ValueError, "found none): pass query=", framed, make({}), pair[1])


MIXED = [
    (TypeError, "row 1 | all str, all bytes or all int | int", ["a", 1, "b"]),
    (TypeError, "row 1 | all str, all bytes or all int | str", [1, "a", 2]),
    (TypeError, "row 2 | all str, all bytes or all int | bytes", ["a", "b", b"c"]),
    (TypeError, "row 1 | all str, all bytes or all int | float", [1, 2.5, 3]),
    (TypeError, "row 0 | all str, all bytes or all int | tuple", [(1, 2), (3, 4), (1, 2)]),
    (ValueError, "row 1 | null", *(["a", null, "b"] for null in NULLS), *([1, null, 3] for null in NULLS)),
    (ValueError, "row 0 | null", *([null, "a", "b"] for null in NULLS)),
    (ValueError, "row 1 | lone surrogate | encode", ["a", "\ud800", "b"], ["a", "\udcc3\udca9", "b"]),
    (ValueError, "row 1 | signed 64-bit", [1, 2**63, 3], [1, -(2**63) - 1, 3], [1, HUGE, 3]),
]
NO_COLUMNS = [
    (TypeError, "must be a list or an array of 1 dimension, not {}", "abc", 5, None, {0: 1}, {"a"}),
    (ValueError, "1 dimension, not an array of 0 dimensions", np.array(1.0)),
    (TypeError, "1 dimension, not generator", (n for n in "abc")),
    (ValueError, "1 dimension, not an array of 2 dimensions", np.ones((3, 2), dtype=int)),
    (ValueError, "masked", masked(0, 1, 0)),
]
NO_FRAMES = [
    (TypeError, "pandas, polars or Arrow table, or a mapping of columns, not {}", 5, [[1]], iter([]), ...),
    (TypeError, "not {}", rg.judgments, pa.array([1])),
    (TypeError, "LazyFrame | collect() it first", pl.LazyFrame(QRELS)),
    (ValueError, "column (expected", pd.Series([1]), pl.Series([1]), GOOD, pa.chunked_array([[1]])),
]
NO_PAIRS = [(TypeError, "must be the name of a column, or | pair of names", 5, ("a",), ("a", "b", "c"), ["a", "b"])]


def object_cases():
    def put(argument, column, make=dict):
        def call(values):
            held = {"qrels_df": dict(QRELS), "run_df": dict(RUN)}
            held[argument][column] = values
            return framed(*(make(side) for side in held.values()))

        return named(f"{argument} {column}", call)

    for make in (dict, lambda held: pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in held.items()})):
        for argument, column in IDS:
            yield from each(MIXED, f"{argument}: column {column!r}", put(argument, column, make))
    for argument, column in [*IDS, *NUMBERS]:
        yield from each(NO_COLUMNS, f"{argument}: column {column!r}", put(argument, column))
    for argument, column in NUMBERS:
        bad = [
            (ValueError, "row 1 | null", [1, None, 2]),
            (TypeError, "position 1: must be a number, not", [1, "2", 3], [1, 2j, 3], [1, {}, 2]),
            (ValueError, "position 1 | too large", [1, HUGE, 2]),
            (TypeError, "must hold numbers; cast", np.array([1j, 2, 3]), np.array(["1", "2", "3"])),
        ]
        yield from each(bad, f"{argument}: column {column!r}", put(argument, column))
    message = "pass relevance=, as relevance='score' if those are grades"
    yield Case(
        ValueError, message, framed, {"query_id": QRELS["query_id"], "doc_id": QRELS["doc_id"], "score": [1, 2, 1]}, RUN
    )
    yield Case(ValueError, "qrels_df has scores and run_df has grades: are they swapped?", framed, RUN, QRELS)
    frame = pd.DataFrame({"doc_id": ["d"], "relevance": [1]}, index=["q"])
    message = "found doc_id, relevance; its index has no name: frame.rename_axis"
    yield Case(ValueError, message, rg.judgments, frame, doc="doc_id")
    message = "found doc_id, relevance): pass query="
    yield Case(ValueError, message, rg.judgments, frame.reset_index(drop=True), doc="doc_id")
    for scores in ([nan, 1.0, 0.5], [1.0, nan, 0.5], [nan, nan, 0.5]):
        twice = {"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "score": scores}
        yield Case(ValueError, "the score is NaN", framed, QRELS, twice, duplicates="first")
    sizes = "run_df: the columns are of different lengths | 'query_id': 3 | 'doc_id': 2"
    yield Case(ValueError, sizes, framed, QRELS, {**RUN, "doc_id": ["a", "b"]})
    yield from each(NO_FRAMES, "qrels_df", passing("qrels_df", framed, run_df=RUN))
    yield from each(NO_FRAMES, "run_df", passing("run_df", framed, QRELS))
    yield Case(TypeError, "qrels_df must be", framed, None)
    for name in ("query", "doc"):
        yield from each(NO_PAIRS, name, passing(name, framed, QRELS, RUN))
    rows, names = [[1, 2, 2, 3]], ["query_id", "doc_id", "doc_id", "relevance"]
    for frame in (pd.DataFrame(rows, columns=names), pa.table([[1], [2], [2], [3]], names=names)):
        yield Case(ValueError, "qrels_df has 2 columns called 'doc_id'; rename", framed, frame, RUN)
    truth = rg.judgments(GOOD)
    yield Case(TypeError, "run_df must be | not Judgments", framed, QRELS, truth)
    yield Case(TypeError, "qrels_df is Judgments | give run_df", framed, truth)
    for ids, kind in [({"a": 1, 2: 1}, "int"), ({(1,): 1}, "tuple")]:
        yield Case(TypeError, f"truth: query 'q', document | all int, and this one is {kind}", framed, *(
            rg.judgments({"q": ids}), RUN
        ))  # fmt: skip
    for options, parts in [({"ties": "x"}, "ties must"), ({"missing": "x"}, "missing"), ({"validate": 1}, "validate")]:
        yield Case(ValueError, parts, framed, QRELS, RUN, **options)
    for names in (["x"], ["x", "y", "z"]):
        yield Case(ValueError, "query_ids has | 2 queries", framed, QRELS, RUN, query_ids=names)
    missing = pd.Series(["a", None], dtype="string")
    yield Case(ValueError, "qid: position 1: the id is NaN or missing", rg.from_scores, [1, 2], [1, 2], qid=missing)
    category = pd.Series(["a", None, "b"], dtype="category")
    yield Case(
        ValueError, "run_df: column 'doc_id', row 1 | null", framed, QRELS, pd.DataFrame({**RUN, "doc_id": category})
    )
    category = pd.Series(pd.Categorical.from_codes([0, 1, 0], [1.5, 2.5]))
    parts = "run_df: column 'doc_id', categories holds float64"
    yield Case(TypeError, parts, framed, QRELS, pd.DataFrame({**RUN, "doc_id": category}))
    for dtype in ("Int64", "Float64", "boolean"):
        numbers = pd.Series([1, None, 0], dtype=dtype)
        parts = "run_df: column 'score', row 1 | null"
        yield Case(ValueError, parts, framed, QRELS, pd.DataFrame({**RUN, "score": numbers}))
    side = {"qid": [2, 1, 2], "label": [1, 1, 1], "score": [1.0, 2.0, 3.0]}
    for name, bad, words in [("label", nan, "grade is NaN"), ("label", -1, "negative"), ("score", nan, "score is NaN")]:
        for make in LIBRARIES.values():
            held = make({**side, name: [1.0, 2.0, bad]})
            yield Case(
                ValueError, f"qrels_df: column {name!r}: query 2, position 1 (element 2) | {words}", framed, held
            )
    yield Case(ValueError, "ties='docid' needs document ids", framed, side, ties="docid")
    yield Case(ValueError, "query_ids has 1 ids", framed, side, query_ids=["a"])
    yield Case(ValueError, "label' must have 1 dimension", framed, {**side, "label": [[1], [1], [1]]})
    yield Case(
        ValueError,
        "truth: query 'q', document 'a' | NaN",
        rg.judgments,
        pd.DataFrame({**QRELS, "relevance": [nan, 1, 1]}),
    )
    yield Case(ValueError, "truth has no column 'x'", rg.judgments, QRELS, doc="x")


# Arrow


def side(column, array):
    held = {
        "qid": ["q"] * len(array),
        "doc_id": pa.array(map(str, range(len(array)))),
        "label": range(len(array)),
        "score": range(len(array)),
    }
    return pa.table({**held, column: array})


UNSUPPORTED = [
    pa.array([[1]] * 3), pa.array([{"a": 1}] * 3), pa.array([[(1, 2)]] * 3, pa.map_(pa.int8(), pa.int8())),
    pa.array([Decimal(1)] * 3), pa.array(DATES), pa.array([datetime.date(2020, 1, 1)] * 3),
    pa.array([datetime.timedelta(1)] * 3), pa.RunEndEncodedArray.from_arrays([3], [1]),
    pa.UnionArray.from_sparse(pa.array([0] * 3, pa.int8()), [pa.array([1, 2, 3])]),
]  # fmt: skip
UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * 3, pa.binary(16)))


def both_sides(column, array):
    """The same table as qrels and as run: one table alone may have nulls."""
    return [side(column, array)] * 2


def arrow_cases():
    for column in ("qid", "doc_id", "label", "score"):
        where = f"{'run' if column == 'score' else 'qrels'}_df: column {column!r}"
        for array in UNSUPPORTED:
            yield Case(TypeError, f"{where} is of Arrow's type | cast it", framed, *both_sides(column, array))
        yield Case(ValueError, f"{where}, row 0 | null", framed, *both_sides(column, pa.nulls(3)))
        kind = pa.string() if column in ("qid", "doc_id") else pa.float32()
        for size in (3, 9, 20):  # the null stands in a later chunk, which begins inside of a byte of the bitmap
            values = pa.array(["1", None, "2", "3"] * size if kind == pa.string() else [1, None, 2, 3] * size, kind)
            parts = pa.chunked_array([values.slice(2, 3), values.slice(4 * size - 2, 2), values.slice(4 * size - 5)])
            yield Case(ValueError, f"{where}, row {3 + 2 + 2} | null", framed, *both_sides(column, parts))
        for array in (pa.array(["a", "b"]), pa.array([1, 2]), pa.array([1.5, 2.5])):
            for codes in ([0, 1, None], [None, 0, 0]):
                coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), array)
                parts = f"{where}, row {codes.index(None)} | null"
                yield Case(ValueError, parts, framed, *both_sides(column, coded))
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
        yield Case(ValueError, f"{where}, categories, row 1 | null", framed, *both_sides(column, coded))
    for column in ("qid", "doc_id"):
        parts = pa.chunked_array([pa.array([1, 2], pa.uint64()), pa.array([3, 2**63], pa.uint64())])
        yield Case(ValueError, f"column {column!r}, row 3 | signed 64-bit", framed, side(column, parts))
        yield Case(TypeError, f"column {column!r} holds float16", framed, side(column, pa.array(np.ones(3, "f2"))))
        yield Case(TypeError, f"column {column!r} holds bool", framed, side(column, pa.array([True, False])))
    row = {"qid": "q", "label": 1, "score": 2.0}
    yield Case(ValueError, "row 1 | null", framed, pa.chunked_array([pa.array([row, None, row])]))


# recommendations

BAD_LISTS = [
    (TypeError, "must hold lists of ids, best first | not {}", "abc", 5, None, {1, 2}, iter([[1]]), np.array(1), len),
    (TypeError, "not csr_matrix: relevant ids come first: write from_rec", sparse.csr_matrix([[0, 1]])),
    (ValueError, "1 or 2 dimensions, not 3", np.ones((1, 1, 1), dtype=int)),
    (TypeError, "query 0: must be a list of ids, best first, not", *([v] for v in (None, 2.5, {1, 2}, {1: 2}))),
    (TypeError, "query 0: must be a list of ids, best first, not range", [range(3)]),
    (TypeError, "query 1: must be a list of ids, best first, not str", [["a"], "ab"], [["a"], "ab", 5]),
    (ValueError, "query 1: must be a list of ids, best first, not an array of 2", [[1], np.ones((1, 1), int)]),
    (ValueError, "query 0: must be a list of ids, best first, not an array of 0", [np.array(1)]),
    (ValueError, "masked", masked(0, 1), [masked(0, 1)], np.ma.masked_array([[1, 2]], [[0, 1]])),
    (TypeError, "query 1, position 1 | all int, and this one is int", [["a"], ["b", 1]], [["a"], ("b", np.int8(1))]),
    (TypeError, "query 1, position 1 | all int, and this one is str", [[1], [2, "1"]]),
    (TypeError, "query 0, position 1 | all int, and this one is float", [[1, 2.5]], [[1, 2.0], [1]]),
    (TypeError, "query 0, position 0 | all int, and this one is float", [[1.0]]),
    (TypeError, "must hold lists of ids, best first | not ndarray of float64", np.ones((2, 2)), np.ones(2)),
    (TypeError, "must hold lists of ids, best first | not ndarray of complex128", np.array([[1j]])),
    (TypeError, "pair of ids and scores | recommended[0]", (np.ones((2, 3), int), np.ones((2, 3)))),
    (TypeError, "pair of ids and scores | recommended[0]", (np.ones(3, "i4"), np.ones(3))),
    (TypeError, "pair of ids and scores | recommended[1]", (np.ones((2, 3)), np.ones((2, 3), "u8"))),
    (TypeError, "query 0, position 1 | all int, and this one is list", ["ab", ["a"]], [["a", ["b"]]]),
    (ValueError, "query 1, position 1 | null", *([["a"], ["b", null]] for null in NULLS)),
    (ValueError, "query 1, position 1 | null", *([[1], [2, null]] for null in NULLS)),
    (ValueError, "query 1, position 0 | null", [[], [None, "a"], ["b"]]),
    (ValueError, "query 1, position 1 | lone surrogate", [["a"], ["b", "\ud800"]]),
    (ValueError, "query 1, position 1 | signed 64-bit", [[1], [2, 2**63]], [[1], [2, -(2**63) - 1]], [[], [2, HUGE]]),
    (ValueError, "query 1, position 1 | signed 64-bit", np.array([[1, 2], [3, 2**63]], dtype="u8")),
]  # fmt: skip
BAD_RELEVANT = [  # for two users with ids that are text
    (TypeError, "must hold for each user a set or list of ids | not {}", None, 5, "ab", {1}, iter([]), np.ones((2, 2))),
    (ValueError, "must have 1 or 2 dimensions, not 3", np.ones((1, 1, 1), int)),
    (ValueError, "masked", masked(0, 1)),
    (TypeError, "query 1: must be a set or list of ids", *([["a"], v] for v in ("ab", None, 5, range(2), iter([])))),
    (TypeError, "query 1: must be a set or list | not deque", [["a"], collections.deque("a")]),
    (TypeError, "query 1: must be a set or list | not Judgments", [["a"], rg.judgments([["a"]])]),
    (ValueError, "query 1: must be a set or list | array of 2 dimensions", [["a"], np.array([["a"]])]),
    (ValueError, "query 1 has masked", [["a"], masked(0, 1)]),
    (TypeError, "all mappings from id to grade, or all sets", [{"a": 1}, ["a"]], [["a"], {"a": 1}]),
    (ValueError, "query 1, document 'a' | repeats an earlier one", [["a"], ["b", "a", "a"]], [[], np.array(["a"] * 2)]),
    (ValueError, "query 1, document 'a' | grade is NaN", [{"a": 1}, {"b": 1, "a": nan}]),
    (ValueError, "query 1, document 'a' | grade is infinite", [{"a": 1}, {"b": 1, "a": -inf}]),
    (TypeError, "query 1, document 'a' | a number", *([{"a": 1}, {"a": v}] for v in ("1", None, [1], 1j))),
    (ValueError, "query 1, document 'a' | too large for float64", [{"a": 1}, {"a": HUGE}]),
    (TypeError, "query 1, document 2 | and this one is int", [["a"], ["a", 2]], [{"a": 1}, {"b": 1, 2: 1}]),
    (TypeError, "query 1, document ['b'] | and this one is list", [["a"], ["a", ["b"]]]),
    (ValueError, "query 1, document None | null", [["a"], ["a", None]]),
    (ValueError, "query 1, document '\\ud800' | lone surrogate", [["a"], ["a", "\ud800"]]),
    (ValueError, "int in relevant and str in recommended | one type", [[1], [2]], sparse.csr_array(np.eye(2))),
    (ValueError, "bytes in relevant and str in recommended", [[b"a"], [b"b"]]),
    (ValueError, "recommended has 2 users, and relevant has 3", [["a"]] * 3, [{}] * 3),
    (ValueError, "relevant has keys and recommended has none | query_ids", {"x": ["a"], "y": ["b"]}),
]  # fmt: skip


def broken(indptr=(0, 2, 3), indices=(1, 2, 0), data=(1.0, 2.0, 3.0)):
    matrix = sparse.csr_matrix(np.array([[0, 1, 2], [3, 0, 0]]))
    matrix.indptr, matrix.indices, matrix.data = np.array(indptr, "i4"), np.array(indices, "i4"), np.array(data)
    return matrix


def recommendation_cases():
    yield from each(BAD_LISTS, "recommended", named("recommended", lambda value: recommended([["a"]] * 2, value)))
    two = [["a", "b"], ["b"]]
    yield from each(BAD_RELEVANT, "relevant", named("relevant", lambda value: recommended(value, two)))
    for given in ("ab", {"a"}, {"a": 1}, 5):
        yield Case(TypeError, "recommended: query 'u': must be a list", recommended, {"u": ["a"]}, {"u": given})
    yield Case(TypeError, "relevant: query 'u': must be a set", recommended, {"u": 2.5}, {"u": ["a"]})
    for given, relevant in [
        ([], []),
        (np.zeros((0, 3), int), []),
        ([[]], {"u": []}),
        ({}, {}),
        ({"u": ["a"]}, {"v": ["a"]}),
        ({"u": [1]}, [[1]]),
    ]:
        options = {"query_ids": ["x"]} if relevant == {"u": []} else {}
        yield Case(
            ValueError, "relevant and recommended have no query in common", recommended, relevant, given, **options
        )
    yield Case(ValueError, "int in relevant, str in recommended", recommended, [["a"]], {"u": ["a"]})
    twice = [([["a", "a"]], [["a"]], {}), ([["b", "b"]], [["a"]], {"validate": "full"}), (["c", "c"], ["c"], {})]
    for given, relevant, options in twice:
        parts = (
            f"recommended: query 0, document {np.ravel(given)[0].item()!r} (position 1) | repeats an earlier | keep one"
        )
        yield Case(ValueError, parts, recommended, relevant, given, **options)
    for names, parts in [(["x"], "2 queries"), (["x", "x"], "repeats an earlier id"), (["x", "y", "z"], "2 queries")]:
        yield Case(ValueError, f"query_ids | {parts}", recommended, [["a"], ["b"]], two, query_ids=names)
        yield Case(ValueError, f"query_ids | {parts}", recommended, {"x": ["a"], "y": ["b"]}, two, query_ids=names)
    yield Case(TypeError, "query_ids", recommended, [["a"], ["b"]], two, query_ids=5)
    yield Case(ValueError, "missing must", recommended, [["a"], ["b"]], two, missing="x")
    yield Case(ValueError, "validate must", recommended, [["a"], ["b"]], two, validate=["full"])
    for call in (recommended, framed, rg.read_trec):
        yield Case(ValueError, "duplicates must be 'error' or 'first'", call, QRELS, RUN, duplicates=True)
    items = [[1, 2], [0]]
    for indptr in [(0, 99, 100), (0, 2**31 - 1, 3), (0, 2, 1), (-5, 2, 3), (1, 2, 3), (0, 2, 4), ()]:
        yield Case(ValueError, "relevant is a broken sparse matrix", recommended, broken(indptr), items)
    yield Case(ValueError, "relevant is a broken sparse matrix", recommended, broken(data=[1.0]), items)
    yield Case(ValueError, "relevant is a broken sparse matrix", recommended, broken(indices=[1]), items)
    yield Case(
        ValueError, "relevant: query 0, document 1 | repeats an earlier", recommended, broken(indices=[1, 1, 0]), items
    )
    for column in (-1, 2, 100):
        parts = "relevant is a broken | : its indices point outside its 2 columns"
        yield Case(ValueError, parts, recommended, sparse.csr_array(([1.0], [column], [0, 1, 1]), (2, 2)), items)
    yield Case(ValueError, "relevant: query 1, document 0 | NaN", recommended, broken(data=[1, 2, nan]), items)
    for dtype in (complex, object):
        parts = f"relevant must hold real numbers, not {np.dtype(dtype)}"
        yield Case(TypeError, parts, recommended, broken(data=np.ones(3, dtype)), items)
    yield Case(ValueError, "recommended has 2 users, and relevant has 1", recommended, ["b"], two)
    yield Case(TypeError, "a set or list of ids", recommended, ["b", {"c"}], two)
    yield Case(ValueError, "recommended has 1 users, and relevant has 2", recommended, broken(), [[1]])
    for relevant in [[{"a": nan}, {2: nan}], [{"a": 1}, {2: nan}]]:  # reading ends at what is wrong
        parts = f"relevant: query {int(relevant[0]['a'] == 1)}, document | NaN"
        yield Case(ValueError, parts, recommended, relevant, two)
    wrong = pd.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "relevance": [1, 1, nan]})
    yield Case(ValueError, "truth: query 'q', document 'a' | earlier", rg.judgments, wrong)  # the lowest position


BAD_TRUTHS = [
    (TypeError, "truth must hold for each user | not {}", None, 5, b"file", iter([]), len),
    (TypeError, "truth must be a pandas, polars or Arrow table | {} | collect() it first", pl.LazyFrame(QRELS)),
    (TypeError, "truth: query 'q': must be", {"q": None}, {"q": 2.5}),
    (ValueError, "truth: query 'q', document 'd' | NaN", {"q": {"d": nan}}),
    (TypeError, "truth: query 'q', document 'd' | a number", {"q": {"d": "1"}}, {"q": {"d": [1]}}),
    (ValueError, "truth: query 'q', document 'd' | earlier", {"q": ["d", "d"]}),
    (ValueError, "truth is a broken sparse matrix", broken((0, 9, 3))),
    (FileNotFoundError, "absent", "absent.txt"),
]  # fmt: skip


def judgment_cases():
    yield from each(BAD_TRUTHS, "", rg.judgments)
    truth = rg.judgments(GOOD)
    yield Case(TypeError, "run must be a mapping", evaluated(rg.from_qrels), GOOD, truth)
    yield Case(TypeError, "recommended must hold lists", recommended, [["d"]], truth)
    yield Case(ValueError, "other types | str in truth, int in run", evaluated(rg.from_qrels), truth, {"q": {1: 1}})
    yield Case(ValueError, "has keys | query_ids", recommended, truth, [["d"]])
    for call in (rg.from_scores, rg.from_ranked):
        yield Case(TypeError, "Judgments", call, truth, *([[1]] if call is rg.from_scores else []))
        yield Case(TypeError, "judged | Judgments", call, *[[[1]]] * (1 + (call is rg.from_scores)), judged=truth)
    pair = np.ones((1, 2), int), np.ones((1, 2))
    yield Case(TypeError, "pair of ids and scores | recommended[0]", rg.evaluate, sparse.csr_array(pair[0]), pair, "rr")
    yield Case(ValueError, "truth and run_df have no query in common", framed, truth, {**RUN, "query_id": ["x"] * 3})
    yield Case(ValueError, "truth and recommended have no query in common", recommended, truth, {"x": ["d"]})


BATCHES = [
    ("metrics", ["ndgc"], ValueError, "did you mean 'ndcg'"),
    ("metrics", [], ValueError, "no metric was requested"),
    ("ties", "random", ValueError, "ties must be one of"),
    ("missing", "drop", ValueError, "missing must be 'zero' or 'skip'"),
    ("duplicates", "last", ValueError, "duplicates must be 'error' or 'first'"),
    ("validate", "all", ValueError, "validate must be 'judged' or 'full'"),
    ("like", "solr", ValueError, "unknown tool"),
    ("threads", 0, ValueError, "threads must be from 1"),
    ("rows", 0, ValueError, "rows must be a positive integer, not 0"),
    ("judgments", GOOD, TypeError, "judgments must be what rankgain.judgments returns, not dict"),
    ("columns", "rows.parquet", TypeError, "batches must be an iterable of Arrow record batches, not str"),
    ("columns", 3, TypeError, "batches must be an iterable of Arrow record batches, not int"),
]


# Relevance and scores beside ids, and a document without; beside those of another query, which follows.
JOINED = {"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2], "score": [3.0, 2.0, 1.0]}
SIDES = {"qid": [1, 1, 2], "label": [0, 3, 1], "score": [2.0, 1.0, 1.0]}
FOLLOWING = {"query_id": [3], "doc_id": ["z"], "relevance": [1], "score": [1.0]}
BAD_BATCHES = [
    (JOINED | {"query_id": [1, None, 2]}, "batches: query None, document 'b': the query is null; drop such rows"),
    (JOINED | {"doc_id": ["a", "b", None]}, "qrels: query 2, document None: the document is null"),
    (JOINED | {"relevance": [1, None, 2], "score": [1.0, None, 1.0]},
     "batches: query 1, document 'b': both relevance and score are null"),
    (JOINED | {"score": [1.0, nan, 1.0]}, "run: query 1, document 'b': the score is NaN; use -inf"),
    (JOINED | {"relevance": [1.0, nan, 1.0]}, "qrels: query 1, document 'b': the grade is NaN"),
    (JOINED | {"doc_id": ["a", "a", "c"]}, "qrels: query 1, document 'a': the document repeats an earlier one of the"),
    (JOINED | {"query_id": [1, 2, 1]}, "batches: query 1 comes again after others; | : sort by query first"),
    (SIDES | {"qid": [1, None, 2]}, "batches: query None: the query is null"),
    (SIDES | {"label": [0, None, 1]}, "batches: query 1: the relevance is null"),
    (SIDES | {"score": [2.0, None, 1.0]}, "batches: query 1: the score is null"),
]  # fmt: skip
APART = [  # batches that do not go together
    (pa.table(FOLLOWING).drop_columns("score"), "item 1 has no column 'score'; there are: query_id, doc_id"),
    (pa.Table.from_arrays([pa.array([1])] * 5, [*FOLLOWING, "score"]), "item 1 has 2 columns called 'score'; rename"),
    (pa.table(FOLLOWING | {"query_id": ["3"]}),
     "item 1: column 'query_id' holds str, but int in earlier batches: convert them to one type"),
    (pa.table(FOLLOWING | {"doc_id": [b"3"]}), "item 1: column 'doc_id' holds bytes, but str in earlier batches"),
    (pa.table(FOLLOWING | {"query_id": pa.array([2**63], pa.uint64())}), "the query has other types in later batches"),
    (pa.table(FOLLOWING | {"score": [2**53 + 1]}), "the score has other types in later batches, and no common one"),
]  # fmt: skip


def batch_cases():
    calls = "evaluate_batches summarize_batches"
    for name, value, error, message in BATCHES:
        yield from refused(calls, name, [value], error, message)
    for columns, message in BAD_BATCHES:
        for size in (1, 2, 100):
            yield from refused(calls, "columns", [columns], ValueError, message, rows=size)
    for second, message in APART:
        yield from refused(calls, "columns", [[pa.table(JOINED), second]], ValueError, f"batches: {message}")
    message = "batches: item 1 must be an Arrow record batch or table, not str"
    yield from refused(calls, "columns", [[pa.table(JOINED), "rows"]], TypeError, message)
    message = "batches has no query column (expected query_id, | pass query="
    yield from refused(calls, "columns", [pa.table({"a": [1]})], ValueError, message)
    message = "batches has no column 'rating'; there are: query_id, doc_id"
    yield from refused(calls, "relevance", ["rating"], ValueError, message, columns=pa.table(JOINED))
    message = "batches: the column of queries is broken: its text is not UTF-8"
    text = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    yield from refused("summarize_batches", "columns", [JOINED | {"query_id": text}], ValueError, message)
    for ids, message in [
        ({"query_id": ["1"], "doc_id": ["a"]}, "the query ids are int in judgments, str in batches: convert them to"),
        ({"query_id": [1], "doc_id": [1]}, "the document ids are str in judgments and int in run: convert them to one"),
    ]:
        judged = {"judgments": rg.judgments({1: {"a": 1}})}
        yield from refused(calls, "columns", [ids | {"score": [1.0]}], ValueError, message, **judged)
    for column in ("qid", "doc_id", "label", "score"):
        is_id = column in ("qid", "doc_id")
        must = "ids must be text, bytes or integers" if is_id else "it must hold numbers"
        others = [pa.array([1.0, 2.0, 3.0])] if is_id else [pa.array(list("123")), UUIDS]
        tables = [side(column, array) for array in [*UNSUPPORTED[:-1], *others]]  # of unions pyarrow says nothing
        yield from refused(calls, "columns", tables, TypeError, f"batches: column '{column}' is | ; {must}: cast it")


def rows():
    yield from batch_cases()
    alike = [rg.metric("cg", gain=gain) for gain in (lambda grades: grades, lambda grades: 2 * grades)]
    message = (
        "two metrics are both called cg(gain=<lambda>), and a frame needs distinct names: evaluate them separately"
    )
    given = {"runs": {"one": {"q": {"a": 1.0}}}, "qrels": {"q": {"a": 1}}}
    yield from refused("Comparison.to_pandas", "metrics", [alike], ValueError, message, **given)
    for section in (column_cases, object_cases, arrow_cases, recommendation_cases, judgment_cases):
        yield from section()
