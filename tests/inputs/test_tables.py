"""Table files and records are accepted like frames; their format is recognised by content, and ids stay as written."""

import gzip
import io
import json
import math
import os
import sys
import threading
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.marks import in_one_case
from support.sides import qrels_lines, run_lines
from support.table_files import WRITERS, json_lines

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend", "own_folder")

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0, "d1": 2.5}}
EXPECTED = [0.4796249331362629, 0.6309297535714575]  # 2/log2(3) / (2 + 1/log2(3)) and 1/log2(3)


def records(side, value, text='a, "b"\nc'):
    """Return one row per document, with a text that must be quoted in CSV."""
    return [
        {"query_id": query, "passage": text, "doc_id": document, value: number}
        for query, documents in side.items()
        for document, number in documents.items()
    ]


JUDGED, RETURNED = records(QRELS, "relevance"), records(RUN, "score")


def ndcg(truth, run, **rules):
    return rg.evaluate(truth, run, "ndcg@10", **rules)["ndcg@10"].tolist()


@pytest.fixture(params=WRITERS)
def files(request):
    """Write the qrels and the run to files whose names do not indicate their format."""
    paths = Path("qrels.txt"), Path("run.txt")
    for path, rows in zip(paths, (JUDGED, RETURNED), strict=True):
        WRITERS[request.param](path, rows)
    return paths


def test_table_files_are_frames_in_all_four_functions(files):
    qrels, run = files
    assert ndcg(qrels, run) == EXPECTED
    assert rg.from_frames(qrels, str(run)).evaluate("ndcg@10")["ndcg@10"].tolist() == EXPECTED
    assert ndcg(rg.judgments(str(qrels)), run) == EXPECTED
    assert rg.compare(qrels, {"a": run, "b": RUN}, "ndcg@10")["a"]["ndcg@10"].tolist() == EXPECTED


def test_table_files_match_every_other_form(files):
    qrels, run = files
    Path("t.qrels").write_bytes(qrels_lines(QRELS))
    Path("t.run").write_bytes(run_lines(RUN))
    for truth in (qrels, QRELS, JUDGED, "t.qrels", pd.DataFrame(JUDGED)):
        for returned in (run, RUN, RETURNED, "t.run", pl.DataFrame(RETURNED)):
            assert ndcg(truth, returned) == EXPECTED


@in_one_case("kind", ["parquet", "arrow", "csv"])
@in_one_case("grade", [math.nan, math.inf])
def test_bad_grades_in_the_second_query_are_rejected(rejects, kind, grade):
    rows = records({"q1": {"d1": 2.0, "d3": 1.0}, "q2": {"d1": 1.0, "d7": grade}}, "relevance")
    WRITERS[kind](Path("qrels"), rows)
    message = f"qrels…query 'q2', document 'd7' (row 3)…the grade is {'NaN' if grade != grade else 'infinite'}"
    rejects(ValueError, message, ndcg, "qrels", RUN)
    rejects(ValueError, message, ndcg, "qrels", RUN, missing="skip")


def test_open_table_files_are_read_from_where_they_stand(files):
    with files[0].open("rb") as qrels, files[1].open("rb") as run:
        assert ndcg(qrels, io.BytesIO(run.read())) == EXPECTED
    ahead = io.BytesIO(b"....." + files[1].read_bytes())
    ahead.seek(5)
    assert ndcg(QRELS, ahead) == EXPECTED


def test_standard_input_is_recognised(files, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(files[1].read_bytes())))
    assert ndcg(files[0], "-") == EXPECTED


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("content", ["table", "trec"])
def test_a_pipe_is_read_once(files, content):
    data = files[1].read_bytes() if content == "table" else run_lines(RUN)
    Path("pipe").unlink(missing_ok=True)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(data), daemon=True)
    writer.start()
    assert ndcg(files[0], "pipe") == EXPECTED
    writer.join()


def test_trec_files_are_recognised_whatever_their_name():
    Path("run.csv").write_bytes(b"\n# a comment\n" + run_lines(RUN))
    Path("qrels.json").write_bytes(gzip.compress(qrels_lines(QRELS)))
    assert ndcg("qrels.json", "run.csv") == EXPECTED


def test_trec_files_may_have_commas_in_ids():
    Path("qrels").write_bytes(qrels_lines({"q": {"a,b": 1}}))
    Path("run").write_bytes(run_lines({"q": {"a,b": 1.0}}))
    assert ndcg("qrels", "run") == [1.0]


def test_beir_and_ms_marco_files_are_recognised():
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t1\nq2\td7\t1\n")
    Path("run.tsv").write_text("q1\td2\t1\nq1\td1\t2\nq2\td1\t1\nq2\td7\t2\n")
    assert ndcg("qrels.tsv", "run.tsv") == EXPECTED
    assert rg.from_frames("qrels.tsv", RETURNED).evaluate("ndcg@10")["ndcg@10"].tolist() == EXPECTED


def test_json_documents_by_query():
    Path("qrels.json").write_text(json.dumps(QRELS))
    Path("run.json").write_text(json.dumps(RUN, indent=2))
    Path("ids.json").write_text(json.dumps({"q1": ["d2", "d1", "d9"], "q2": ["d1", "d7"]}))
    Path("relevant.json").write_text(json.dumps([["d1", "d3"], ["d7"]]))
    assert ndcg("qrels.json", "run.json") == EXPECTED
    assert ndcg("qrels.json", "ids.json") == EXPECTED
    assert rg.evaluate("relevant.json", [["d9"], ["d7"]], "rr")["rr"].tolist() == [0, 1]


# Ids


def test_ids_of_delimited_files_stay_as_they_are_written():
    ids = ["001", "1", "NA", "null", "2020-01-01", "12345678901234567890", "true", "1e3", " x"]
    Path("qrels.csv").write_text("qid,docno,rel\n" + "".join(f"NaN,{each},1\n" for each in ids))
    truth = rg.judgments("qrels.csv")
    assert truth.query_ids == ["NaN"]
    assert ndcg(truth, {"NaN": dict.fromkeys(ids, 1.0)}) == [1.0]


@pytest.mark.parametrize("kind", ["frame", "dicts", "lists", "parquet"])
def test_text_ids_become_integers_where_the_other_side_has_integers(kind):
    Path("side.csv").write_text("user_id,item_id,rating,score\n1,10,1,0.5\n1,20,0,0.7\n2,30,1,0.1\n")
    rows = [(1, 10, 0.5), (1, 20, 0.7), (2, 30, 0.1)]
    table = pa.table(dict(zip(("user_id", "item_id", "score"), zip(*rows, strict=True), strict=True)))
    pyarrow.parquet.write_table(table, "side.parquet")
    run = {
        "frame": table,
        "dicts": {1: {10: 0.5, 20: 0.7}, 2: {30: 0.1}},
        "lists": {1: [20, 10], 2: [30]},
        "parquet": "side.parquet",
    }[kind]
    result = rg.evaluate("side.csv", run, "rr")
    assert result.query_ids == [1, 2]
    assert result["rr"].tolist() == [0.5, 1]
    if kind != "lists":
        truth = {1: {10: 1, 20: 0}, 2: {30: 1}}
        assert rg.evaluate(truth, "side.csv", "rr").query_ids == [1, 2]
        assert rg.evaluate(rg.judgments(truth), "side.csv", "rr")["rr"].tolist() == [0.5, 1]


def test_text_ids_become_integers_in_ties():
    Path("run.csv").write_text("q,d,score\n1,9,1\n1,10,1\n")
    names = {"query": ("q", "q"), "doc": ("d", "d")}
    truth = {"q": [1], "d": [10], "rel": [1]}
    assert rg.from_frames(truth, "run.csv", **names).evaluate("rr")["rr"].tolist() == [1.0]
    truth = {"q": ["1"], "d": ["10"], "rel": [1]}
    assert rg.from_frames(truth, "run.csv", **names).evaluate("rr")["rr"].tolist() == [0.5]


def test_text_ids_that_do_not_survive_stay_text(rejects):
    Path("run.csv").write_text("qid,docno,score\n1,010,1\n")
    rejects(ValueError, "document ids are int in truth and str in run.csv", rg.evaluate, {1: {10: 1}}, "run.csv", "rr")
    Path("run.csv").write_text("qid,docno,score\n01,10,1\n")
    rejects(ValueError, "no query in common", rg.evaluate, {1: {10: 1}}, "run.csv", "rr")


def test_judgments_of_a_delimited_file_survive_pickling(tmp_path):
    import pickle

    Path("qrels.csv").write_text("qid,docno,rel\n1,10,1\n")
    truth = pickle.loads(pickle.dumps(rg.judgments("qrels.csv")))
    assert rg.evaluate(truth, {1: {10: 1.0}}, "rr").query_ids == [1]


# Columns


def test_texts_are_not_read(tmp_path):
    """Columns that are not needed may hold invalid text."""
    Path("run.csv").write_bytes(b"qid,docno,score,passage\nq1,d1,0.9,\xff\xfe\n")
    assert ndcg({"q1": {"d1": 1}}, "run.csv") == [1.0]
    Path("run.jsonl").write_text(
        '{"qid": "q1", "docno": "d1", "score": 1, "n": 1}\n{"qid": "q1", "docno": "d2", "score": 2, "n": "x"}\n'
    )
    assert ndcg({"q1": {"d2": 1}}, "run.jsonl") == [1.0]


def test_columns_are_named_by_keywords(files):
    run = [{"topic": row["query_id"], "key": row["doc_id"], "points": row["score"]} for row in RETURNED]
    json_lines(Path("run.jsonl"), run)
    options = {"query": ("query_id", "topic"), "doc": ("doc_id", "key"), "score": "points"}
    for truth in (files[0], JUDGED, pd.DataFrame(JUDGED)):
        for named in ("run.jsonl", run, pd.DataFrame(run)):
            assert ndcg(truth, named, **options) == EXPECTED
            assert rg.from_frames(truth, named, **options).evaluate("ndcg@10")["ndcg@10"].tolist() == EXPECTED


def test_lines_longer_than_a_block():
    rows = [dict(row, passage="x" * 3_000_000) for row in RETURNED[:2]] + RETURNED[2:]
    json_lines(Path("run.jsonl"), rows)
    WRITERS["csv"](Path("run.csv"), rows)
    assert ndcg(QRELS, "run.jsonl") == ndcg(QRELS, "run.csv") == EXPECTED


def test_columns_that_only_later_lines_have():
    rows = [{"query_id": "q", "text": "x" * 1000}] * 100 + [{"query_id": "q", "doc_id": "d", "score": 1.0}]
    json_lines(Path("late.jsonl"), rows)
    with pytest.raises(ValueError, match="null"):
        ndcg({"q": {"d": 1}}, "late.jsonl")


# Qrels and run in one table


def both_sides():
    """Return rows: d1 is judged and returned, d3 only judged, d2 only returned; q3 has no grades and q4 no scores."""
    rows = [
        {"query_id": "q1", "doc_id": "d1", "relevance": 2, "score": 0.9},
        {"query_id": "q1", "doc_id": "d3", "relevance": 1},
        {"query_id": "q1", "doc_id": "d2", "score": 1.4},
        {"query_id": "q3", "doc_id": "d2", "score": 1.4},
        {"query_id": "q4", "doc_id": "d9", "relevance": 1},
    ]
    return rows


@in_one_case("kind", ["records", "columns", "pandas", "polars", "arrow", *WRITERS])
def test_one_table_with_nulls_holds_both_sides(kind):
    rows = both_sides()
    table = {name: [row.get(name) for row in rows] for name in rows[0]}
    frames = {"records": lambda: rows, "columns": lambda: table, "pandas": lambda: pd.DataFrame(rows)}
    frames |= {"polars": lambda: pl.DataFrame(table), "arrow": lambda: pa.table(table)}
    if kind in WRITERS:
        WRITERS[kind](Path("both"), rows)
    rankings = rg.from_frames(frames[kind]() if kind in frames else "both")
    result = rankings.evaluate("ndcg@10")
    assert result.query_ids == ["q1", "q4"]
    assert result["ndcg@10"].tolist() == [EXPECTED[0], 0]
    assert result.counts == {"queries": 2, "missing": 1, "unjudged": 1, "empty": 0}


# Records


def test_records_have_the_keys_of_all():
    rows = [{"qid": "q", "docno": "a", "rel": 1}, {"docno": "b", "qid": "q", "rel": 0, "more": 1}]
    assert ndcg(rows, {"q": {"b": 2.0, "a": 1.0}}) == [0.6309297535714575]
    late = [{"qid": "q", "docno": "a"}, {"qid": "q", "docno": "b", "score": 1}]
    with pytest.raises(ValueError, match="row 0: the value is null"):
        ndcg({"q": {"b": 1}}, late)


def test_dicts_of_grades_by_position_stay_what_they_are():
    assert rg.evaluate([{"a": 1, "b": 2}], [["b", "a"]], "ndcg")["ndcg"].tolist() == [1.0]


# Errors


REJECTED = [
    ("no query column…found q, d…is the first line data? Then add a header", "q,d,s\nx,y,1\n"),
    ("no query column…found q1, d1, 0.5…is the first line data?", "q1,d1,0.5\nq1,d2,0.4\n"),
    ("file: column 'score', row 1: 'x' is not a number", "qid,docno,score\nq,a,1\nq,b,x\n"),
    ("file: column 'score', row 1: the value is null", "qid,docno,score\nq,a,1\nq,b,\n"),
    ("file: column 'docno', row 1: the value is null", "qid,docno,score\nq,a,1\nq,,2\n"),
    ("file: column 'score', row 1: '1_0' is not a number", "qid,docno,score\nq,a,1\nq,b,1_0\n"),
    ("file: row 1: it has 2 fields, and the header has 3: 'q,b'", "qid,docno,score\nq,a,1\nq,b\n"),
    ("file has 2 columns called 'qid'; rename all but one", "qid,qid,docno,score\nq,q,a,1\n"),
    ("file has 2 columns called 'score'; rename all but one", "qid,docno,score,score\nq,a,1,2\n"),
    ("file: line 1: position 3: the key 'score' repeats an earlier one",
     '{"qid": "q", "docno": "a", "score": 1, "score": 2}\n'),
    ("file…no query in common: file is empty", "qid,docno,score\n"),
    ("file: line 2 is not valid JSON", '{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno"\n'),
    ("file: column 'score', row 1: the value is null",
     '{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b"}\n'),
    ("file: column 'qid', row 1: the id does not fit in a signed 64-bit integer; convert the ids of both sides to text",
     '{"qid": 1, "docno": "a", "score": 1}\n{"qid": 123456789012345678901, "docno": "a", "score": 2}\n'),
    ("file is not valid JSON", '{"q": {"d": 1}, '),
    ("file holds a table by column; write it by row: frame.to_json(path, orient='records', lines=True)",
     json.dumps({"qid": {"0": "q"}, "docno": {"0": "a"}, "score": {"0": 1}})),
    ("file is an empty list", "[]"),
    ("file: pyarrow cannot read this parquet file", "PAR1 cut"),
]  # fmt: skip


MISTYPED = [
    ("file: column 'score': position 1: must be a number, not str",
     '{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": "x"}\n'),
    ("file: column 'docno', row 1: ids must be all str, all bytes or all int, and this one is int",
     '{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": 7, "score": 2}\n'),
    ("file: row 1 must be a mapping, as row 0 is, not list: [1]", '{"qid": "q", "docno": "a", "score": 1}\n[1]\n'),
]  # fmt: skip


@in_one_case(
    ("error", "message", "content"), [(ValueError, *row) for row in REJECTED] + [(TypeError, *row) for row in MISTYPED]
)
def test_an_invalid_table_is_refused_by_file_column_and_row(rejects, error, message, content):
    Path("file").write_text(content)
    rejects(error, message, rg.evaluate, {"q": {"a": 1}}, "file", "rr")


def test_numbers_are_those_that_python_reads():
    Path("run.csv").write_text("qid,docno,score\nq,a, +2.5\nq,b,1e400\nq,c,0.5\n")
    assert rg.evaluate({"q": {"a": 1}}, "run.csv", "rr")["rr"].tolist() == [0.5]


def test_text_that_is_not_utf8_is_refused(rejects):
    Path("file").write_bytes(b"qid,docno,score\nq,\xff,1\n")
    rejects(ValueError, "file: the text is not UTF-8; convert it", rg.evaluate, {"q": {"a": 1}}, "file", "rr")


def test_a_truncated_parquet_file_is_refused(rejects):
    WRITERS["parquet"](Path("file"), RETURNED)
    Path("file").write_bytes(Path("file").read_bytes()[:-30])
    rejects(ValueError, "file: pyarrow cannot read this parquet file", rg.evaluate, QRELS, "file", "rr")


def test_records_of_other_keys_are_refused(rejects):
    rows = [{"question": "why?", "passage": "because"}]
    message = "truth: row 0 has the keys 'question', 'passage', which are no columns of queries and documents: name"
    rejects(TypeError, message, rg.judgments, rows)
    rejects(
        TypeError,
        "row 1 must be a mapping, as row 0 is, not list: [1]",
        rg.judgments,
        [{"qid": "q", "docno": "a", "rel": 1}, [1]],
    )


def test_a_row_with_neither_grade_nor_score_is_refused(rejects):
    rows = [*both_sides(), {"query_id": "q1", "doc_id": "d8"}]
    rejects(ValueError, "qrels_df: row 5: both 'relevance' and 'score' are null", rg.from_frames, rows)


def test_a_side_of_nulls_is_refused(rejects):
    rows = [{"query_id": "q", "doc_id": "d", "relevance": 1, "score": None}]
    rejects(ValueError, "qrels_df: column 'score' holds only nulls, so no document is returned", rg.from_frames, rows)


def test_trec_files_are_rejected_as_frames(rejects):
    Path("qrels").write_bytes(qrels_lines(QRELS))
    rejects(
        TypeError, "qrels_df must be…not str; for TREC files there is rankgain.read_trec", rg.from_frames, "qrels", RUN
    )
