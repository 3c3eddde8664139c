"""Queries that are keys of several columns, columns named by integers, and the runs in one table or file."""

import csv
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import rankgain as rg
from rankgain.batches import BatchOptions, evaluate_batches, summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

KEY = ["session", "type"]
QRELS = {"session": ["a", "a", "b"], "type": [1, 2, 1], "page": ["x", "y", "z"], "grade": [1, 2, 1]}
RUN = {
    "session": ["a", "a", "b", "a", "b"],
    "type": [1, 2, 1, 1, 2],
    "page": ["x", "y", "z", "w", "y"],
    "points": [1.0, 1.0, 1.0, 2.0, 3.0],
}
NAMES = {"query": KEY, "doc": "page", "relevance": "grade", "score": "points"}
EXPECTED = {("a", 1): {"rr": 0.5}, ("a", 2): {"rr": 1.0}, ("b", 1): {"rr": 1.0}}


def records(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


FRAMES = [dict, records, pd.DataFrame, pl.DataFrame, pa.table]


def in_file(table, folder, name):
    path = folder / name
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table(table), path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([table, *zip(*table.values(), strict=True)])
    return path


@pytest.mark.parametrize("frame", FRAMES)
def test_key_of_several_columns(frame):
    result = rg.evaluate(frame(QRELS), frame(RUN), "rr", **NAMES)
    assert result.to_dict() == EXPECTED
    assert result.query_ids == [("a", 1), ("a", 2), ("b", 1)]
    assert rg.evaluate(rg.judgments(frame(QRELS), query=KEY, doc="page"), frame(RUN), "rr", query=KEY, doc="page",
                       score="points").to_dict() == EXPECTED  # fmt: skip
    judged = {key: {page: 1} for key, page in zip(EXPECTED, "xyz", strict=True)}
    assert rg.evaluate(judged, frame(RUN), "rr", query=KEY, doc="page", score="points").to_dict() == EXPECTED
    assert rg.compare(frame(QRELS), {"a": frame(RUN)}, ["rr"], **NAMES)["a"].to_dict() == EXPECTED
    similar = rg.similarity(frame(RUN), frame(RUN), "overlap@1", query=KEY, doc="page", score="points")
    assert similar.query_ids == [*EXPECTED, ("b", 2)]


@pytest.mark.parametrize("qrels", ["dict", "q.csv", "q.parquet"])
@pytest.mark.parametrize("run", ["dict", "r.csv", "r.parquet"])
def test_keys_of_files_have_the_types_of_the_other_side(qrels, run, tmp_path):
    truth = QRELS if qrels == "dict" else in_file(QRELS, tmp_path, qrels)
    returned = RUN if run == "dict" else in_file(RUN, tmp_path, run)
    result = rg.evaluate(truth, returned, "rr", **NAMES)
    assert [*result["rr"]] == [0.5, 1.0, 1.0]
    text = qrels == "q.csv" and run == "r.csv"  # two files without types keep text
    assert result.query_ids == [(session, str(kind) if text else kind) for session, kind in EXPECTED]


def test_keys_are_told_apart_by_each_part():
    """Unlike joined texts, ("a", "bc") and ("ab", "c") differ; so do keys of three columns."""
    truth = {"p": ["a", "ab"], "q": ["bc", "c"], "s": [1, 1], "doc_id": ["x", "y"], "relevance": [1, 1]}
    run = {"p": ["ab", "a"], "q": ["c", "bc"], "s": [1, 1], "doc_id": ["y", "x"], "score": [1.0, 1.0]}
    assert rg.evaluate(truth, run, "rr", query=["p", "q"]).mean("rr") == 1.0
    assert rg.evaluate(truth, run, "rr", query=["q", "p", "s"]).query_ids == [("bc", "a", 1), ("c", "ab", 1)]
    assert rg.evaluate(truth, run, "rr", query=["p"]).query_ids == ["a", "ab"]
    renamed = {"u": run["p"], "v": run["q"], "doc_id": run["doc_id"], "score": run["score"]}
    assert rg.evaluate(truth, renamed, "rr", query=(["p", "q"], ["u", "v"])).mean("rr") == 1.0


def test_key_in_one_table_and_in_rows():
    both = QRELS | {"points": [1.0, 2.0, 3.0]}
    assert rg.evaluate(both, "rr", **NAMES).query_ids == [*EXPECTED]
    labels = {name: values for name, values in both.items() if name != "page"}
    assert rg.from_frames(labels, query=KEY, relevance="grade", score="points").evaluate("rr").query_ids == [*EXPECTED]
    rows = {"session": ["a", "a"], "type": [1, 2], "gold": [["x"], ["y"]], "found": [["x"], ["z", "y"]]}
    for result in (
        rg.from_rows(rows, query=KEY, relevant="gold", retrieved="found").evaluate("rr"),
        rg.evaluate(rows, "rr", query=KEY, relevant="gold", retrieved="found"),
    ):
        assert result.to_dict() == {("a", 1): {"rr": 1.0}, ("a", 2): {"rr": 0.5}}
    with pytest.raises(ValueError, match=r"query \('a', 1\) repeats that of row 0"):
        rg.from_rows(rows | {"type": [1, 1]}, query=KEY, relevant="gold", retrieved="found")


def test_key_in_record_batches():
    table = pa.table(QRELS | {"points": [1.0, 2.0, 3.0]})
    options = BatchOptions(**NAMES)
    (batch,) = evaluate_batches(table.to_batches(max_chunksize=1), "rr", options=options)
    assert batch.column("query_id").to_pylist() == [{"session": session, "type": kind} for session, kind in EXPECTED]
    judged = rg.judgments(QRELS, query=KEY, doc="page")
    assert summarize_batches(table, "rr", judgments=judged, options=options).mean("rr") == 1.0
    other = [table, pa.table(table.to_pydict() | {"type": ["1", "2", "1"]})]
    with pytest.raises(ValueError, match="holds str and str, but str and int in earlier batches"):
        [*evaluate_batches(other, "rr", options=options)]


@pytest.mark.parametrize("frame", FRAMES)
def test_pair_that_may_be_a_key(frame):
    pair = NAMES | {"query": ("session", "type")}
    for call in (
        lambda: rg.evaluate(frame(QRELS), frame(RUN), "rr", **pair),
        lambda: rg.compare(frame(QRELS), {"a": frame(RUN)}, ["rr"], **pair),
        lambda: rg.compare(frame(QRELS), frame(RUN | {"run": ["a"] * 5}), ["rr"], run="run", **pair),
    ):
        with pytest.raises(ValueError, match=r"which both have both columns: for one key of the two, write ") as error:
            call()
        names = eval(f"dict({re.search(r'write (query=[^;]*);', str(error.value))[1]})")
        assert rg.evaluate(frame(QRELS), frame(RUN), "rr", **NAMES | names).to_dict() == EXPECTED
    other = {name: values for name, values in QRELS.items() if name != "type"}
    texts = RUN | {"type": ["a", "a", "b", "a", "b"]}
    assert rg.evaluate(frame(other), frame(texts), "rr", **pair).query_ids == ["a", "b"]
    both = frame(QRELS | {"points": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"is one: name one column, or the list \['session', 'type'\] for one key"):
        rg.evaluate(both, "rr", **pair)
    with pytest.raises(ValueError, match=r"for one key of several columns, write query=\['session', 'type'\]"):
        rg.judgments(QRELS, query=("session", "type"), doc="page")


def test_keys_are_rejected(rejects):
    def evaluate(**names):
        return rg.evaluate(QRELS, RUN, "rr", **NAMES | names)

    for names in ([], ["session", "session"]):
        rejects(TypeError, f"query must be a list of different columns, not {names}", evaluate, query=names)
    rejects(TypeError, "doc must be the name of a column, or a pair", evaluate, doc=["page", "type"])
    rejects(TypeError, "doc must be the name of one column", rg.judgments, QRELS, query=KEY, doc=["page", "type"])
    message = "truth has no column 'kind'; there are: session"
    rejects(ValueError, message, rg.judgments, QRELS, query=["session", "kind"], doc="page")
    table = {"session": ["a"], "item": [1], "relevance": [1]}
    message = "query='item' names the column that would also be the doc"
    rejects(ValueError, message, rg.judgments, table, query=["session", "item"])
    rejects(ValueError, "(str, int) in truth, (str, str) in run; truth has ('a', 1)", rg.evaluate,
            QRELS, RUN | {"type": list("12112")}, "rr", **NAMES)  # fmt: skip


def test_keys_as_text():
    result = rg.evaluate(QRELS, RUN, "rr", **NAMES)
    assert (
        result.to_polars()["query_id"].to_list() == result.to_arrow()["query_id"].to_pylist() == ["a,1", "a,2", "b,1"]
    )
    assert result.to_pandas().index.tolist() == [*EXPECTED]
    assert "rr of query a,1" in str(rg.from_frames(QRELS, RUN, **NAMES).calculation("rr", ("a", 1)))


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda rows: {name: [row[name] for row in rows] for name in range(3)}])
def test_columns_named_by_integers(frame):
    run = frame([["q", "x", 1.0], ["q", "y", 2.0]])
    assert rg.evaluate({"q": {"x": 1}}, run, "rr", query=0, doc=1, score=2)["rr"].tolist() == [0.5]
    assert rg.evaluate({"q": {"x": 1}}, run, "rr", query=np.int64(0), doc=1, score=2)["rr"].tolist() == [0.5]
    truth = frame([["q", "x", 3]])
    assert rg.evaluate(truth, run, "rr", query=0, doc=1, relevance=2, score=2)["rr"].tolist() == [0.5]
    assert rg.judgments(truth, query=0, doc=1, relevance=2).query_ids == ["q"]


def test_line_for_columns_named_by_integers():
    run = pd.DataFrame([["q", "x", 1.0]])
    with pytest.raises(ValueError, match="pass the number of the column, such as query=0"):
        rg.evaluate({"q": {"x": 1}}, run, "rr")


def test_columns_under_other_names():
    table = {"who": [1, 2], "gold": [["u"], ["v"]], "got": [["u"], ["w", "v"]]}
    assert rg.evaluate(table, "rr", query="who", relevant="gold", retrieved="got")["rr"].tolist() == [1.0, 0.5]
    log = {"who": [1, 1, 2], "clicked": [0, 1, 1], "logit": [0.3, 0.2, 0.1]}
    assert rg.evaluate(log, "rr", query="who", relevance="clicked", score="logit")["rr"].tolist() == [0.5, 1.0]
    with pytest.raises(TypeError, match="evaluate needs truth and a run"):
        rg.evaluate(log, "rr", query="nobody")


RUNS = {name: values * 2 for name, values in RUN.items()} | {
    "points": [*RUN["points"], 4.0, 3.0, 2.0, 1.0, 0.0],
    "system": ["first"] * 5 + ["second"] * 5,
    "seed": [7] * 5 + [8] * 5,
}


def of_runs():
    for name in ("first", "second"):
        rows = [row for row, system in enumerate(RUNS["system"]) if system == name]
        yield name, {column: [values[row] for row in rows] for column, values in RUNS.items()}


@pytest.mark.options("compare", "run")
@pytest.mark.parametrize("frame", [*FRAMES, "r.csv", "r.parquet"])
def test_runs_of_one_table(frame, tmp_path):
    table = in_file(RUNS, tmp_path, frame) if isinstance(frame, str) else frame(RUNS)
    expected = rg.compare(QRELS, dict(of_runs()), ["rr", "ndcg@10"], **NAMES)
    comparison = rg.compare(QRELS, table, ["rr", "ndcg@10"], run="system", **NAMES)
    assert comparison.to_dict() == expected.to_dict()
    assert [*comparison] == ["first", "second"]
    by_seed = rg.compare(QRELS, table, ["rr"], run="seed", **NAMES)
    assert by_seed.means() == {
        "7": {"rr": comparison["first"].mean("rr")},
        "8": {"rr": comparison["second"].mean("rr")},
    }


def test_options_of_runs_of_one_table():
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    table = {
        "query_id": ["q", "q", "q", "q", "r", "q"],
        "doc_id": ["a", "b", "a", "c", "b", "a"],
        "score": [1.0, 1.0, 1.0, 1.0, 1.0, 0.5],
        "system": ["x", "x", "y", "y", "y", "y"],
    }
    with pytest.raises(ValueError, match="run 'y': runs: query 'q', document 'a' \\(row 5\\)"):
        rg.compare(qrels, table, ["rr"], run="system")
    options = {"run": "system", "duplicates": "first"}
    means = rg.compare(qrels, table, ["rr"], **options).means()
    assert means == {"x": {"rr": 0.25}, "y": {"rr": 0.75}}
    worst = rg.compare(qrels, table, ["rr"], ties="best", missing="skip", **options).means()
    assert worst == {"x": {"rr": 1.0}, "y": {"rr": 1.0}}
    rising = {name: [values[row] for row in (0, 1, 2, 3)] for name, values in table.items()}
    rising |= {"score": [1.0, 2.0, 2.0, 1.0], "rank": [1, 2, 1, 2]}
    assert rg.compare(qrels, rising, ["rr"], run="system", rank="rank").means() == {"x": {"rr": 0.5}, "y": {"rr": 0.5}}


def trec(lines):
    return io.BytesIO("\n".join(lines).encode())


LINES = [
    f"q{query} Q0 {doc} {rank} {score} {tag}"
    for tag, docs in (("bm25", "abc"), ("dense", "cba"))
    for query in (1, 2)
    for rank, (doc, score) in enumerate(zip(docs, (0.9, 0.5, 0.1), strict=True), 1)
]
LONG = "x" * 80  # lines that are read by another way than short ones


@pytest.mark.parametrize(
    "lines", [LINES, LINES[::-1], [f"{line}{LONG}\r" for line in ("", "# remark", *LINES) if line]]
)
def test_runs_of_one_file(lines):
    comparison = rg.compare({"q1": {"a": 1}, "q2": {"b": 1}}, trec(lines), ["rr"], run="tag")
    means = {name.removesuffix(LONG): means["rr"] for name, means in comparison.means().items()}
    assert means == {"bm25": 0.75, "dense": (1 / 3 + 1 / 2) / 2}


def test_runs_are_rejected(rejects):
    qrels = {"q1": {"a": 1}}

    def compare(runs, run, **names):
        return rg.compare(qrels, runs, ["rr"], run=run, **names)

    rejects(ValueError, "run='system': the lines of a TREC file name their run in the tag: write run='tag'",
            lambda: compare(trec(LINES), "system"))  # fmt: skip
    rejects(
        ValueError, "three fields, query, document and rank, and so no tags", lambda: compare(trec(["q1 a 1"]), "tag")
    )
    rejects(TypeError, "run='tag' names the runs in one table or TREC file, not in dict: leave it out",
            compare, {"a": {"q1": {"a": 1.0}}}, "tag")  # fmt: skip
    rejects(TypeError, "run must be the name of a column of the table of runs, or 'tag'", compare, RUNS, ["a", "b"])
    rejects(TypeError, "run='a' takes truth and a table of runs: write compare(truth, table, run='a')",
            lambda: rg.compare(RUNS, run="a"))  # fmt: skip
    table = {"query_id": ["q1"], "doc_id": ["a"], "score": [1.0], "system": ["x"]}
    rejects(ValueError, "runs has no column 'sistem'; there are: query_id", compare, table, "sistem")
    rejects(ValueError, "run='doc_id' names the column that would also be the doc", compare, table, "doc_id")
    rejects(TypeError, "relevance= names a column of truth, which is not a table", compare, table, "system",
            relevance="score")  # fmt: skip
    rejects(ValueError, "has no rows, and so no runs", compare, {name: [] for name in table}, "system")
    twice = [*LINES, LINES[0]]
    rejects(ValueError, "run 'bm25': runs: query 'q1', document 'a' (row 12): the document repeats",
            lambda: compare(trec(twice), "tag"))  # fmt: skip
    assert rg.compare(qrels, trec(twice), ["rr"], run="tag", duplicates="first").means()["bm25"] == {"rr": 1.0}


def test_rising_scores_of_one_of_several_runs():
    rising = [line.replace("0.9", "0.0") for line in LINES[:3]]
    with pytest.warns(UserWarning, match="the scores rise with the rank in every query") as record:
        rg.compare(
            {"q1": {"a": 1}}, trec([*[line.replace("0.5", "0.05") for line in rising], *LINES[6:]]), ["rr"], run="tag"
        )
    assert len(record) == 1
