"""`from_rows`, and `evaluate` with a single table: each row is a query, and columns hold lists of ids."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.marks import in_one_case
from support.table_files import WRITERS, json_lines

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend", "own_folder")

ROWS = [
    {"id": "a", "relevant": ["x", "y"], "retrieved": ["q", "x", "z"]},
    {"id": "b", "relevant": ["w"], "retrieved": ["w"]},
    {"id": "c", "relevant": [], "retrieved": ["w"]},
    {"id": "d", "relevant": None, "retrieved": ["w"]},
    {"id": "e", "relevant": ["k"], "retrieved": None},
    {"id": "f", "relevant": ["k"], "retrieved": []},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def typed(lists, text):
    arrays = [pa.array(COLUMNS["id"], text), pa.array(COLUMNS["relevant"], lists(text))]
    return pa.table([*arrays, pa.array(COLUMNS["retrieved"], pa.list_(text))], names=[*COLUMNS])


def sliced():
    """Return the rows in three chunks, each a slice of a longer table."""
    table = pa.concat_tables([typed(pa.list_, pa.string())] * 2).combine_chunks()
    return pa.concat_tables([table.slice(6, 2), table.slice(2, 1), table.slice(9, 3)])


TABLES = {
    "records": lambda: ROWS,
    "columns": lambda: COLUMNS,
    "arrow": lambda: typed(pa.list_, pa.string()),
    "large arrow": lambda: typed(pa.large_list, pa.large_string()),
    "arrow views": lambda: typed(pa.list_view, pa.string_view()),
    "dictionary": lambda: typed(pa.list_, pa.dictionary(pa.int8(), pa.string())),
    "chunks": sliced,
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas of Arrow": lambda: typed(pa.list_, pa.string()).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas of arrays": lambda: typed(pa.list_, pa.string()).to_pandas(),
    "polars": lambda: pl.DataFrame(COLUMNS),
    **dict.fromkeys(("parquet", "arrow file", "json lines", "json array", "json lines, gzip")),
}


def write(kind, rows):
    WRITERS[{"arrow file": "arrow"}.get(kind, kind)](Path("rows"), rows)
    return "rows"


@pytest.fixture(params=TABLES)
def table(request):
    make = TABLES[request.param]
    return write(request.param, ROWS) if make is None else make()


def test_a_row_per_query_in_every_kind_of_table(table):
    result = rg.from_rows(table).evaluate("rr", "recall@2")
    assert result.query_ids == ["a", "b", "c", "e", "f"]
    assert result["rr"].tolist() == [0.5, 1, 0, 0, 0]
    assert result["recall@2"].tolist() == [0.5, 1, 0, 0, 0]
    assert result.counts == {"queries": 5, "missing": 1, "unjudged": 1, "empty": 1}


def by_query(rows, **options):
    result = rg.from_rows(rows, **options).evaluate("rr")
    return dict(zip(result.query_ids, result["rr"].tolist(), strict=True))


@pytest.mark.options("from_rows", "missing", "query_ids")
def test_queries_without_results_are_left_out_or_renamed(table):
    assert by_query(table, missing="skip") == {"a": 0.5, "b": 1.0, "c": 0.0, "f": 0.0}
    assert by_query(table, query_ids=range(5)) == {0: 0.5, 1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}


@pytest.mark.options("from_rows", "query", "relevant", "retrieved")
def test_columns_are_chosen_by_name():
    row = {"query": 1, "q": 2, "relevant": ["x"], "gold": ["y"], "retrieved": ["y", "z", "x"], "hits": ["x"]}
    rows = [row]
    assert by_query(rows) == {1: 1 / 3}
    named = ("query", "q", {2: 1 / 3}), ("relevant", "gold", {1: 1.0}), ("retrieved", "hits", {1: 1.0})
    for role, column, expected in named:
        for kind in (rows, pd.DataFrame(rows), pl.DataFrame(rows), {name: [value] for name, value in row.items()}):
            assert by_query(kind, **{role: column}) == expected, role


@pytest.mark.options("from_rows", "validate", "duplicates")
@pytest.mark.parametrize(("retrieved", "options", "expected"), [
    (["q", "q", "x"], {}, 1 / 3),
    (["q", "q", "x"], {"duplicates": "first"}, 0.5),
    (["q", "q", "x"], {"validate": "full"}, "query 'a', document 'q' .position 1.: the document repeats"),
    (["q", "x", "x"], {}, "query 'a', document 'x' .position 2.: the document repeats"),
    (["q", "x", "x"], {"duplicates": "first"}, 0.5),
], ids=["unjudged", "unjudged, first", "unjudged, full", "judged", "judged, first"])  # fmt: skip
def test_repeated_documents_of_a_row(retrieved, options, expected):
    rows = [{"id": "a", "relevant": ["x"], "retrieved": retrieved}]
    if isinstance(expected, float):
        assert by_query(rows, **options) == {"a": expected}
    else:
        with pytest.raises(ValueError, match=expected):
            by_query(rows, **options)


def test_evaluate_takes_one_table_and_metrics(table):
    result = rg.evaluate(table, "rr", "recall@2", missing="skip")
    assert result.query_ids == ["a", "b", "c", "f"]
    assert result["rr"].tolist() == [0.5, 1, 0, 0]
    assert rg.evaluate(table, ["rr"])["rr"].tolist() == [0.5, 1, 0, 0, 0]


TEXTS = {
    "question_id": ["k2", "k1"],
    "prompt_id": [7, 3],
    "question": ["why?", "how?"],
    "query": ["why", "how"],
    "user_input": ["Why?", "How?"],
}
LISTS = {"relevant": [["x"], ["y"]], "retrieved": [["x"], ["z", "y"]]}
MAKERS = {
    "columns": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "records": lambda columns: pa.table(columns).to_pylist(),
    "json lines": lambda columns: write("json lines", pa.table(columns).to_pylist()),
    "parquet": lambda columns: write("parquet", pa.table(columns).to_pylist()),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_queries_are_named_by_the_first_usual_column_of_distinct_values(make):
    columns = LISTS | dict(reversed(TEXTS.items()))
    for name, values in TEXTS.items():
        result = rg.evaluate(make(columns), "rr")
        assert result.to_dict() == {values[0]: {"rr": 1.0}, values[1]: {"rr": 0.5}}
        assert result.assumed == ()
        columns[name] = [values[0]] * 2  # repeats no longer name queries
    result = rg.evaluate(make(columns), "rr")
    assert [*result.query_ids] == [0, 1]
    assert result.assumed == (
        f"{table_name(make)}: queries are numbered by row, since 'question_id' has repeats or nulls",
    )
    assert result.assumed[0] in repr(result)


def table_name(make):
    return "rows" if make in (MAKERS["json lines"], MAKERS["parquet"]) else "table"


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nulls_do_not_name_queries(make):
    result = rg.evaluate(make(LISTS | {"question_id": ["a", None], "question": ["why?", "how?"]}), "rr")
    assert result.query_ids == ["why?", "how?"]


@pytest.mark.parametrize("name", ["ticket_id", "caseId", "CaseID", "uuid"])
def test_another_column_that_may_name_queries_is_named_in_the_result(name):
    result = rg.evaluate(LISTS | {name: ["a", "b"]}, "rr")
    assert [*result.query_ids] == [0, 1]
    assert result.assumed == (f"table: queries are numbered by row; if {name!r} names them, pass query={name!r}",)
    assert rg.evaluate(LISTS | {name: ["a", "b"]}, "rr", query=name).assumed == ()


@pytest.mark.parametrize("name", ["trace_id", "runId", "session_id", "message-id", "conversation_id", "answer", "paid"])
def test_ids_that_are_new_in_each_run_and_texts_are_never_named(name):
    result = rg.evaluate(LISTS | {name: ["a", "b"]}, "rr")
    assert ([*result.query_ids], result.assumed) == ([0, 1], ())


def test_a_column_in_another_role_names_no_query():
    table = {"question": ["x", "y"], "retrieved": LISTS["retrieved"]}
    assert [*rg.evaluate(table, "rr", relevant="question").query_ids] == [0, 1]


def test_the_order_of_a_log_does_not_matter():
    questions = [f"question {number}" for number in range(40)]
    rows = [{"question": text, "relevant": [text], "retrieved": [text]} for text in questions]
    worse = [row | {"retrieved": ["?", row["question"]]} for row in rows]
    comparison = rg.compare({"old": rg.from_rows(worse), "new": rg.from_rows(rows[::-1])}, metrics=["rr"])
    assert (comparison["new"]["rr"] - comparison["old"]["rr"]).tolist() == [0.5] * 40


GRADED = [
    {"question": "why?", "relevant": {"x": 2, "y": 1}, "retrieved": ["q", "x", "z"]},
    {"question": "why?", "relevant": {"w": 0.5}, "retrieved": ["w"]},
]


def maps():
    relevant = pa.array([list(row["relevant"].items()) for row in GRADED], pa.map_(pa.string(), pa.float64()))
    return pa.table({"relevant": relevant, "retrieved": [row["retrieved"] for row in GRADED]})


@pytest.mark.parametrize(
    "kind", ["records", "maps", "structs", "polars", "pandas", "json lines", "parquet", "json array"]
)
def test_relevant_may_be_grades_by_id(kind):
    tables = {"records": lambda: GRADED, "maps": maps, "structs": lambda: pa.Table.from_pylist(GRADED)}
    tables |= {"polars": lambda: pl.DataFrame(GRADED), "pandas": lambda: pd.DataFrame(GRADED)}
    result = rg.evaluate(tables[kind]() if kind in tables else write(kind, GRADED), "ndcg")
    assert list(result.query_ids) == [0, 1]  # questions may repeat, so they are not used as ids
    assert result["ndcg"].tolist() == [0.4796249331362629, 1]


class Chunks:
    """A stream of a table's record batches, with their order and empty ones as they are."""

    def __init__(self, *tables):
        self.reader = pa.RecordBatchReader.from_batches(
            tables[0].schema, [batch for table in tables for batch in table.to_batches() or [empty(table.schema)]]
        )

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


def empty(schema):
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


@pytest.mark.parametrize("make", [maps, lambda: pa.Table.from_pylist(GRADED)], ids=["maps", "structs"])
@in_one_case("order", ["full nulls", "nulls full", "full empty", "empty full", "full nulls empty full"])
def test_batches_of_nulls_keep_the_grades_of_others(make, order):
    full = make()
    nulls = full.set_column(
        full.column_names.index("relevant"), "relevant", pa.nulls(2, full.schema.field("relevant").type)
    )
    parts = {"full": full, "nulls": nulls, "empty": full[:0]}
    rankings = rg.from_rows(Chunks(*(parts[name] for name in order.split())))
    assert rankings.evaluate("ndcg")["ndcg"].tolist() == [0.4796249331362629, 1] * order.count("full")


def test_maps_in_parquet():
    pyarrow.parquet.write_table(maps(), "rows")
    assert rg.evaluate("rows", "ndcg")["ndcg"].tolist() == [0.4796249331362629, 1]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_relevant_may_be_one_id_if_it_is_named(make, rejects):
    table = make({"relevant": ["x", "w"], "retrieved": [["x"], ["y", "w"]]})
    assert rg.evaluate(table, "rr", relevant="relevant")["rr"].tolist() == [1, 0.5]
    rejects(
        ValueError, "no column of relevant ids in lists…pass relevant='relevant' if it holds ids", rg.from_rows, table
    )


def test_integer_ids():
    rows = [{"qid": 7, "relevant": [3, 4], "retrieved": [6, 3, 8, 4, 5]}, {"qid": 2, "relevant": [], "retrieved": []}]
    for table in (rows, write("json lines", rows), pd.DataFrame(rows), pa.Table.from_pylist(rows)):
        result = rg.from_rows(table).evaluate("ndcg@5")
        assert result.query_ids == [7, 2]
        assert result["ndcg@5"].tolist() == [0.6509209298071326, 0]


def test_columns_by_keyword():
    rows = [{"who": "ann", "gold": ["a"], "hits": ["b", "a"], "retrieved": ["a"]}]
    for table in (rows, pd.DataFrame(rows), write("json lines", rows)):
        result = rg.evaluate(table, "rr", query="who", relevant="gold", retrieved="hits")
        assert (result.query_ids, result["rr"].tolist()) == (["ann"], [0.5])


@pytest.mark.parametrize("names", [
    ("retrieved_ids", "relevant_ids"), ("recommended", "expected_ids"), ("retrievedIds", "relevantIds"),
    ("retrieved_context_ids", "reference_context_ids"), ("recommended_ids", "relevant"),
])  # fmt: skip
def test_usual_names_of_columns(names):
    rows = [{"question": "why?", names[0]: ["b", "a"], names[1]: ["a"], "response": "because"}]
    assert rg.evaluate(rows, "rr")["rr"].tolist() == [0.5]


def test_options_of_rows(rejects):
    rows = [{"id": "q", "relevant": ["a"], "retrieved": ["b", "b", "a", "a"]}]
    rejects(ValueError, "query 'q', document 'a'…repeats an earlier one", rg.evaluate, rows, "rr")
    assert rg.evaluate(rows, "rr", duplicates="first")["rr"].tolist() == [0.5]
    once = [{"id": "q", "relevant": ["a"], "retrieved": ["b", "b", "a"]}]
    assert rg.evaluate(once, "rr", query_ids=["new"]).query_ids == ["new"]
    rejects(ValueError, "document 'b'", rg.evaluate, once, "rr", validate="full")
    rejects(ValueError, "missing must be", rg.from_rows, once, missing="no")


def test_a_metric_that_is_the_name_of_a_file_is_a_path():
    Path("rr").write_text("q Q0 a 1 1.0 run\n")
    assert rg.evaluate({"q": {"a": 1}}, "rr", "ndcg")["ndcg"].tolist() == [1]
    Path("rr").unlink()


def test_one_frame_with_labels_and_scores():
    log = {"qid": [1, 1], "label": [0, 2], "score": [0.2, 0.9]}
    for table in (
        log,
        pd.DataFrame(log),
        [dict(zip(log, row, strict=True)) for row in zip(*log.values(), strict=True)],
    ):
        assert rg.evaluate(table, "ndcg@10")["ndcg@10"].tolist() == [1]


REJECTED = [
    (ValueError, "table: column 'id', row 1: query 'a' repeats that of row 0; write one row per query",
     [{"id": "a", "relevant": ["x"], "retrieved": ["x"]}, {"id": "a", "relevant": ["x"], "retrieved": ["x"]}]),
    (ValueError, "table: column 'id', row 1: the value is null",
     [{"id": "a", "relevant": ["x"], "retrieved": ["x"]}, {"relevant": ["x"], "retrieved": ["x"]}]),
    (TypeError, "table: column 'relevant' holds lists of mappings, not of ids: write [item['doc_id'] for item in row]",
     [{"relevant": [{"doc_id": "x", "text": "…"}], "retrieved": ["x"]}]),
    (TypeError, "table: column 'relevant' holds lists of lists, not of ids: write [item[0] for item in row], or dict",
     [{"relevant": [["x", 2]], "retrieved": ["x"]}]),
    (ValueError, "no column of retrieved ids in lists…pass retrieved='contexts' if it holds ids",
     [{"relevant": ["x"], "contexts": ["a text"]}]),
    (ValueError, "no column of relevant ids in lists…pass relevant='ground_truth' if it holds ids",
     [{"ground_truth": ["x"], "retrieved": ["x"]}]),
    (ValueError, "table has no column 'hits'", [{"relevant": ["x"], "retrieved": ["x"]}], {"retrieved": "hits"}),
    (TypeError, "table: column 'retrieved': query 1: must be a list of ids, best first, not int",
     [{"relevant": ["x"], "retrieved": ["x"]}, {"relevant": ["x"], "retrieved": 3}]),
    (TypeError, "table: column 'retrieved': query 0, position 1: ids must be all str",
     [{"relevant": ["x"], "retrieved": ["x", 3]}]),
    (ValueError, "the document ids are int in table: column 'relevant' and str in table: column 'retrieved'",
     [{"relevant": [1], "retrieved": ["x"]}]),
    (TypeError, "row 1 must be a mapping", [{"relevant": ["x"], "retrieved": ["x"]}, 5]),
]  # fmt: skip


@in_one_case(("error", "message", "rows", "options"), [(*row, {})[:4] for row in REJECTED])
def test_from_rows_rejects(rejects, error, message, rows, options):
    rejects(error, message, rg.from_rows, rows, **options)


@pytest.mark.parametrize(("error", "message", "lines"), [
    (TypeError, "rows: column 'retrieved': query 1: must be a list of ids, best first, not str",
     [{"retrieved": ["x"]}, {"retrieved": "x"}]),
    (TypeError, "rows: column 'retrieved': query 1, position 0: ids must be all str, all bytes or all int",
     [{"retrieved": ["x"]}, {"retrieved": [3]}]),
    (TypeError, "rows: column 'retrieved': query 1, position 1: ids must be all str, all bytes or all int",
     [{"retrieved": ["x"]}, {"retrieved": ["x", 3]}]),
    (ValueError, "rows: column 'retrieved', row 1, position 1: the value is null",
     [{"retrieved": ["x"]}, {"retrieved": ["x", None, "y"]}]),
])  # fmt: skip
def test_json_lines_with_other_lists_are_refused_by_row(rejects, error, message, lines):
    json_lines(Path("rows"), [{"relevant": ["x"], **line} for line in lines])
    rejects(error, message, rg.evaluate, "rows", "rr")


def test_a_file_of_one_line(rejects):
    """The single object in a file is read as a row unless it holds columns or documents by query."""
    json_lines(Path("rows"), [{"relevant": ["x"], "retrieved": ["y", "x"]}])
    assert rg.evaluate("rows", "rr")["rr"].tolist() == [0.5]
    json_lines(Path("rows"), [{"relevant": [["x"], ["z"]], "retrieved": [["y", "x"], ["z"]]}])
    assert rg.evaluate("rows", "rr")["rr"].tolist() == [0.5, 1]
    json_lines(Path("rows"), [{"relevant": [["x", 2]], "retrieved": ["x"]}])
    rejects(TypeError, "rows: column 'relevant' holds lists of lists, not of ids", rg.evaluate, "rows", "rr")


def test_other_files_are_refused(rejects):
    Path("rows").write_text("id,relevant,retrieved\na,x,x\n")
    rejects(ValueError, "rows has no query column", rg.evaluate, "rows", "rr")
    rejects(TypeError, "rows: column 'relevant' holds text: a delimited file has no lists; write parquet or JSON lines",
            rg.evaluate, "rows", "rr", retrieved="retrieved", relevant="relevant")  # fmt: skip
    Path("rows").write_text("q Q0 a 1 1.0 run\n")
    rejects(ValueError, "rows is a TREC file, which holds qrels or a run: give both files", rg.evaluate, "rows", "rr")
    Path("rows").write_text(json.dumps({"q": {"a": 1}}))
    rejects(TypeError, "evaluate needs truth and a run", rg.evaluate, "rows", "rr")
    rejects(TypeError, "evaluate needs truth and a run", rg.evaluate, {"q": {"a": 1}}, "rr")
    rejects(TypeError, "no metric was requested", rg.evaluate, {"q": {"a": 1}}, {"q": {"a": 1}})
    rejects(TypeError, "must be a pandas, polars", rg.from_rows, np.arange(3))


FRAMES = {"records": list, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table.from_pylist}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("returned", ["a", 7])
def test_a_column_of_single_ids_is_no_ranking(rejects, frame, returned):
    """Each query has a list of returned ids; a single id would be a list of one, or a row per document."""
    table = frame([{"query": "q1", "relevant": ["a"], "retrieved": returned}])
    rejects(ValueError, "'retrieved' holds no lists: write a list of ids per query", rg.from_rows, table)
    message = "must hold lists of ids"
    if frame in (list, pd.DataFrame):
        message = f"query 'q1': must be a list of ids, best first, not {type(returned).__name__}"
    rejects(TypeError, f"column 'retrieved'…{message}", rg.from_rows, table, retrieved="retrieved")
    rejects(TypeError, f"column 'retrieved'…{message}", rg.evaluate, table, "rr", retrieved="retrieved")
    single = frame([{"query": "q1", "relevant": "a", "retrieved": ["b", "a"]}])
    assert rg.from_rows(single, relevant="relevant").evaluate("rr").to_dict() == {"q1": {"rr": 0.5}}


def as_maps(rows):
    """Return an Arrow table with maps, where `pyarrow.Table.from_pylist` makes structs."""
    texts = pa.map_(pa.string(), pa.string())
    return pa.table(
        {
            name: pa.array([list(value.items())], texts) if isinstance(value, dict) else [value]
            for name, value in rows[0].items()
        }
    )


NO_NUMBERS = {
    **dict.fromkeys((list, pd.DataFrame), "query 'q1', document 'a': the grade must be a number, not str; convert"),
    **dict.fromkeys((pl.DataFrame, pa.Table.from_pylist), "grades by id, and the field 'a' holds no numbers"),
    as_maps: "must hold numbers as the values of its maps",
}


@pytest.mark.parametrize("frame", [*FRAMES.values(), as_maps], ids=[*FRAMES, "arrow maps"])
def test_maps_with_values_in_text_are_refused(rejects, frame):
    """Grades are numbers; a ranking is a list, not a map of scores."""
    table = frame([{"query": "q1", "relevant": {"a": "2", "b": "1"}, "retrieved": ["a", "b"]}])
    rejects(TypeError, f"column 'relevant'…{NO_NUMBERS[frame]}", rg.evaluate, table, "rr")
    table = frame([{"query": "q1", "relevant": ["a"], "retrieved": {"a": "0.5", "b": "1.5"}}])
    message = "a list of ids, best first, not dict" if frame in (list, pd.DataFrame) else "must hold lists of ids"
    rejects(TypeError, f"column 'retrieved'…{message}", rg.from_rows, table, retrieved="retrieved")
