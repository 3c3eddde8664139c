"""The record of what a caller gave: its kind, its data, and the name that errors begin with."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import rankgain as rg
from rankgain.data.given import recognise

DICTS, COLUMNS = {"q": {"d": 1}}, {"query_id": ["q"], "doc_id": ["d"]}
RECORDS = [{"query_id": "q", "doc_id": "d"}]
RESPONSE = {"q": {"hits": {"hits": [{"_id": "d", "_score": 2.0}]}}}
STREAM = pa.table(COLUMNS).to_reader()


@pytest.mark.parametrize(("kind", "values"), [
    ("judgments", [rg.judgments(DICTS)]),
    ("dicts", [DICTS, {}, {"hits": {"d": 1}}, {"q": {"hits": 1}}, RESPONSE, {"query": {"d": 1}}]),
    ("keyed", [{"q": ["d"]}, {"q": {"d"}}, {"q": "d"}, {"query": ["d"], "rank": ["e"]}]),
    ("table", [COLUMNS, *(frame(COLUMNS) for frame in (pd.DataFrame, pl.DataFrame, pa.table)), STREAM]),
    ("table", [RECORDS, iter(RECORDS)]),
    ("sparse", [csr_array([[1, 0]])]),
    ("series", [pd.Series([1])]),
    ("array", [np.ones(2), pl.Series([1]), pa.chunked_array([[1]]), memoryview(b"a")]),
    ("lists", [[1, 0], ([1], [2]), [], [{"d": 1}], iter([1])]),
    ("other", [None, 5, b"d", {"d"}]),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_kinds(kind, values):
    for value in values:
        given = recognise(value, "truth")
        assert (given.kind, given.argument, given.name) == (kind, "truth", "truth"), value
        assert recognise(given, "qrels") is given


def test_files_are_recognised_by_content(tmp_path):
    path = tmp_path / "given"
    for kind, text in [
        ("trec", "q 0 d 1\n"),
        ("dicts", json.dumps(DICTS)),
        ("table", "query_id,doc_id\nq,d\n"),
        ("keyed", json.dumps({"q": ["d"]})),
        ("lists", json.dumps([["d"]])),
    ]:
        path.write_text(text)
        given = recognise(path, "truth")
        assert (given.kind, given.argument) == (kind, "truth")
        assert given.name == ("truth" if kind == "trec" else str(path))
    beir = tmp_path / "beir"
    beir.write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    assert [recognise(beir, "truth", is_truth=is_truth).kind for is_truth in (True, False)] == ["trec", "table"]
    assert recognise("no such file", "qrels", opens=False).kind == "trec"


def test_named_columns_make_a_table():
    columns = {"query": "q", "doc": "d"}
    assert recognise({"q": [1], "d": [2]}, "run", columns).kind == "table"
    assert recognise({"q": [1]}, "run", columns).kind == "keyed"
    assert recognise({"q": [1]}, "run", columns, is_table=True).kind == "table"
    assert recognise({"q": {"a": 1}, "d": {"a": 1}}, "run", columns).kind == "dicts"
    assert recognise([{"q": 1, "d": 2}], "run", columns).kind == "table"


@pytest.mark.parametrize(("values", "given"), [
    ("integers", [[1, 0], [[1], [True]], np.array([1]), [np.int64(1)]]),
    ("fractions", [[1, 0.5], [[1], [np.float32(2)]], np.array([1.0])]),
    ("nothing", [[], ()]),
    ("ids", [DICTS, {"q": ["d"]}, [{"d"}, ["e"]], csr_array([[1]]), rg.judgments(DICTS)]),
    ("other", [["d"], [1, "d"], np.array(["d"]), None]),
], ids=["integers", "fractions", "nothing", "ids", "other"])  # fmt: skip
def test_values(values, given):
    for value in given:
        assert recognise(value, "run").values == values, value


def test_a_stream_of_rows_is_read_once():
    table = pa.table({"query_id": ["a"], "relevant": [["x"]], "retrieved": [["x", "y"]]})
    assert rg.evaluate(table.to_reader(), "rr").mean() == {"rr": 1.0}
