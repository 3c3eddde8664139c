"""The command line with table files: `eval`, `compare`, column options, a single table, and standard input."""

import io
import json
import sys
from pathlib import Path

import pytest
from support.sides import qrels_lines, run_lines
from support.table_files import WRITERS, json_lines

from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend", "own_folder")

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0}}
RR = {"q1": 0.5, "q2": 1}


def records(side, query="qid", doc="docno", value="score"):
    return [{query: q, doc: d, value: number} for q, documents in side.items() for d, number in documents.items()]


@pytest.fixture
def printed(capsys):
    def run(*arguments, status=0):
        if status == 2:
            with pytest.raises(SystemExit, match="2"):
                main([*arguments])
        else:
            assert main([*arguments]) == status
        out = capsys.readouterr()
        return out.err if status else out.out

    return run


def values(printed, *arguments):
    """Return the reciprocal ranks that `eval` prints, by query."""
    out = json.loads(printed("eval", *arguments, "-m", "rr", "--per-query", "--json"))
    return {query: metrics["rr"] for query, metrics in out["queries"].items()}


@pytest.fixture(params=WRITERS)
def files(request):
    for name, rows in {"qrels": records(QRELS, value="rel"), "run": records(RUN)}.items():
        WRITERS[request.param](Path(name), rows)
    Path("t.qrels").write_bytes(qrels_lines(QRELS))
    Path("t.run").write_bytes(run_lines(RUN))


def test_eval_reads_table_files(printed, files):
    assert (
        values(printed, "qrels", "run") == values(printed, "qrels", "t.run") == values(printed, "t.qrels", "run") == RR
    )
    out = printed("eval", "qrels", "run", "t.run", "-m", "rr", "--csv")
    assert out.splitlines()[1:] == ["run,0.75", "t,0.75"]


def test_compare_reads_table_files(printed, files):
    assert json.loads(printed("compare", "qrels", "run", "t.run", "-m", "rr", "--json"))


def test_standard_input_may_be_a_table(printed, files, monkeypatch):
    for name, arguments in {"run": ("qrels", "-"), "qrels": ("-", "run")}.items():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
        assert values(printed, *arguments) == RR


def test_options_reach_runs_in_tables(printed):
    WRITERS["csv"](Path("qrels"), records({"q": {"a": 1}, "r": {"a": 1}}, value="rel"))
    WRITERS["csv"](Path("run"), records({"q": {"a": 1.0, "b": 1.0}}))
    assert values(printed, "qrels", "run") == {"q": 0.5, "r": 0}
    assert values(printed, "qrels", "run", "--ties", "stable", "--missing", "skip") == {"q": 1}
    rows = [*records({"q": {"b": 3.0, "a": 2.0}}), {"qid": "q", "docno": "b", "score": 1.0}]
    WRITERS["csv"](Path("run"), [*rows, {"qid": "q", "docno": "a", "score": 1.0}])
    assert "keep one of them (in a run, --duplicates first does)" in printed("eval", "qrels", "run", status=1)
    assert values(printed, "qrels", "run", "--duplicates", "first", "--threads", "2") == {"q": 0.5, "r": 0}
    WRITERS["json array"](Path("run"), records({"q": {"a": 1.0 + 1e-9, "b": 1.0}}))
    assert values(printed, "qrels", "run") == {"q": 1, "r": 0}
    assert values(printed, "qrels", "run", "--like", "trec_eval-9") == {"q": 0.5}  # "b" is first as float32


def test_options_name_columns(printed):
    json_lines(Path("qrels"), records(QRELS, "topic", "key", "gain_of"))
    json_lines(Path("run"), records(RUN, "t", "k", "points"))
    names = ["--query", "topic", "--query", "t", "--doc", "key", "--doc", "k", "--relevance", "gain_of"]
    assert values(printed, "qrels", "run", *names, "--score", "points") == RR
    ranks = {query: {d: n for n, d in enumerate(documents, 1)} for query, documents in RUN.items()}
    json_lines(Path("run"), records(ranks, "t", "k", "place"))
    assert values(printed, "qrels", "run", *names, "--rank", "place") == RR
    json_lines(Path("run"), records(RUN, "topic", "key", "score"))
    assert values(printed, "qrels", "run", "--query", "topic", "--doc", "key", "--relevance", "gain_of") == RR


def test_keys_of_several_columns(printed):
    def keyed(side, value):
        rows = records(side, "session", "page", value)
        return [row | {"session": row["session"][0], "type": row["session"][1]} for row in rows]

    WRITERS["csv"](Path("qrels"), keyed({("a", 1): {"x": 1}, ("a", 2): {"y": 1}}, "rel"))
    WRITERS["csv"](Path("run"), keyed({("a", 1): {"y": 2.0, "x": 1.0}, ("a", 2): {"y": 1.0}}, "score"))
    names = "qrels", "run", "--query", "session,type", "--doc", "page"
    assert values(printed, *names) == {"a,1": 0.5, "a,2": 1}
    assert "\ta,1\t0.5000" in printed("eval", *names, "-m", "rr", "--per-query", "--trec")
    assert 'run,"a,1",0.5' in printed("eval", *names, "-m", "rr", "--per-query", "--csv")
    assert "rr of query a,1: 0.5000" in printed("explain", "rr", *names, "--query-id", "a,1")
    assert "rr of query a,1: 0.5000" in printed("explain", "rr", *names)
    WRITERS["csv"](Path("other"), keyed({("a", 1): {"x": 1.0}, ("a", 2): {"y": 1.0}}, "score"))
    Path("labels").write_text("a,1\tfirst\na,2\tsecond\n")
    out = printed("compare", "qrels", "run", "other", *names[2:], "-m", "rr", "--groups", "labels")
    assert [line.split()[:2] for line in out.splitlines() if line.startswith(("first", "second"))] == [
        ["first", "1"],
        ["second", "1"],
    ]
    error = printed("eval", "qrels", "run", "--query", "session", "--query", "type", "--doc", "page", status=1)
    assert error.startswith("rankgain: error: --query session --query type names a column of qrels and one of run, ")
    assert "for one key of the two, write --query session,type; if" in error


def test_runs_of_one_file(printed):
    WRITERS["csv"](Path("qrels"), records(QRELS, value="rel"))
    rows = [row | {"system": name} for name in ("x", "y") for row in records(RUN)]
    WRITERS["csv"](Path("runs"), rows)
    Path("t.run").write_bytes(b"".join(run_lines(RUN).replace(b" t\n", tag + b"\n") for tag in (b" A", b" B")))
    assert printed("eval", "qrels", "runs", "--run", "system", "-m", "rr", "--csv").split() == [
        "run,rr",
        "x,0.75",
        "y,0.75",
    ]
    assert printed("eval", "qrels", "t.run", "runs", "--run", "tag", "-m", "rr", status=1).endswith(
        "runs has no column 'tag'; there are: qid, docno, score, system\n"
    )
    for path, column in (("runs", "system"), ("t.run", "tag")):
        error = printed("eval", "qrels", path, "-m", "rr", status=1)
        assert error.endswith(f"to compare them, write rankgain compare QRELS FILE --run {column}\n")
        out = json.loads(printed("compare", "qrels", path, "--run", column, "-m", "rr", "--json"))
        assert len(out["differences"]) == 1
        assert printed("compare", "qrels", path, "--run", column, "-m", "rr", "--gate", status=0)
    WRITERS["csv"](Path("again"), rows)
    error = printed("eval", "qrels", "runs", "again", "--run", "system", status=1)
    assert error == "rankgain: error: two files have a run called 'x'\n"
    WRITERS["csv"](Path("single"), rows[:4])
    error = printed("compare", "qrels", "single", "--run", "system", status=2)
    assert "argument --run: system names a single run, 'x': give two or more" in error
    error = printed("compare", "qrels", "runs", "--run", "system", "--baseline", "z", status=2)
    assert "argument --baseline: there is no run 'z'; there are: x, y" in error
    assert "argument --interval: needs one run" in printed(
        "eval", "qrels", "runs", "--run", "system", "--interval", status=2
    )
    assert "argument --run: give a file of qrels" in printed("eval", "runs", "--run", "system", status=2)


def test_several_tables_with_a_row_per_query(printed):
    for name, ids in {"a": ["x", "y"], "b": ["y", "x"], "c": ["z", "x"]}.items():
        json_lines(Path(name), [{"id": query, "relevant": ["x"], "retrieved": ids} for query in "pq"])
    out = json.loads(printed("compare", "a", "b", "c", "-m", "rr", "--json"))
    assert [(row["run"], row["baseline"]) for row in out["differences"]] == [("b", "a"), ("c", "a")]


def test_one_table_suffices(printed):
    rows = [{"qid": "q", "docno": "a", "rel": 1}, {"qid": "q", "docno": "b", "score": 2}]
    WRITERS["parquet"](Path("both"), [*rows, {"qid": "q", "docno": "c", "rel": 1, "score": 1}])
    assert values(printed, "both") == {"q": 0.5}
    WRITERS["parquet"](Path("log"), [{"qid": "q", "label": 0, "score": 1}, {"qid": "q", "label": 1, "score": 1}])
    assert values(printed, "log") == {"q": 0.75}  # the mean over the two orders of the tied documents
    assert values(printed, "log", "--ties", "stable") == {"q": 0.5}
    json_lines(Path("rows"), [{"id": "q", "relevant": ["a"], "retrieved": ["b", "a"], "hits": ["a"]}])
    assert values(printed, "rows") == {"q": 0.5}
    assert values(printed, "rows", "--retrieved", "hits", "--relevant", "relevant", "--query", "id") == {"q": 1}


def test_json_documents_by_query(printed):
    Path("qrels.json").write_text(json.dumps(QRELS))
    Path("run.json").write_text(json.dumps(RUN))
    Path("ids.json").write_text(json.dumps({query: list(documents) for query, documents in RUN.items()}))
    assert values(printed, "qrels.json", "run.json") == values(printed, "qrels.json", "ids.json") == RR


WRONG_CALLS = [
    ("argument --query: names a column of a table, and TREC files have none", "t.qrels", "t.run", "--query", "x"),
    ("argument --score: names a column of a table, and TREC files have none", "t.qrels", "t.run", "--score", "x"),
    ("argument --doc: give it once, or twice", "qrels", "run", *["--doc", "x"] * 3),
    ("argument --retrieved: names a column of lists in one table", "qrels", "run", "--retrieved", "x"),
    ("give a qrels file and a run file, one table that holds both, or --sample", "t.run"),
]


@pytest.mark.parametrize(("message", "arguments"), [(row[0], row[1:]) for row in WRONG_CALLS])
@pytest.mark.parametrize("files", ["csv"], indirect=True)
def test_wrong_options_of_tables_are_usage_errors(printed, files, message, arguments):
    assert message in printed("eval", *arguments, status=2)


@pytest.mark.parametrize("files", ["csv"], indirect=True)
def test_wrong_contents_are_errors_of_one_line_and_leave_no_output(printed, files):
    assert "qrels has no column 'x'; there are: qid, docno, rel" in printed(
        "eval", "qrels", "run", "--query", "x", status=1
    )
    Path("bad").write_text("qid,docno,score\nq1,d1,x\n")
    error = printed("eval", "qrels", "bad", "-o", "out", status=1)
    assert error == "rankgain: error: bad: column 'score', row 0: 'x' is not a number\n"
    assert not Path("out").exists()


def test_without_pyarrow_one_line_says_what_to_install(printed, monkeypatch):
    WRITERS["csv"](Path("qrels"), records(QRELS, value="rel"))
    Path("t.run").write_bytes(run_lines(RUN))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert printed("eval", "qrels", "t.run", "-m", "rr", status=1) == (
        "rankgain: error: pyarrow is not installed: pip install 'rankgain[arrow]'\n"
    )
