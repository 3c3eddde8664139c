"""What a team meets in its first week with a gate: the files, the call, the exit status and the text."""

import json

import pytest

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")

# The ranks of the relevant document in the runs before and after the change, by query; 0: the query is missing from the
# run; None: there is no file. Then the options, the exit status, and texts that are printed.
SITUATIONS = {
    "better": ([2] * 12, [1] * 12, [], 0, "Gate passed: | rr: change is better than main by 0.5000 (95% interval"),
    "worse": (
        [1] * 12,
        [2] * 12,
        [],
        3,
        "Gate failed: | rr: change is worse than main by 0.5000 (95% interval -0.5000",
    ),
    "undecided": ([1, 2] * 10, [2, 1] * 10, [], 0, "Gate undecided: | 20 queries can detect a true difference of"),
    "undecided, strict": (
        [1, 2] * 10,
        [2, 1] * 10,
        ["--strict"],
        3,
        "Failed: strict. | Without any effect, rr fails in about 98% of builds.",
    ),
    "the same": ([1, 2] * 6, [1, 2] * 6, [], 0, "Gate passed: | rr: no value changed; are the files the same?"),
    "missing": ([1] * 12, [1] * 10 + [0] * 2, [], 3, "change returns nothing for 2 queries that main has: q10, q11:"),
    "missing, skipped": (
        [1] * 12,
        [1] * 10 + [0] * 2,
        ["--missing", "skip", "--queries", "common"],
        3,
        "change returns nothing for 2 queries that main has: q10, q11: failed. | rr: no value changed.",
    ),
    "missing in both": ([1] * 10 + [0], [1] * 10 + [0], [], 0, "Neither run returns anything for 1 query: q10."),
    "all missing": ([1] * 12, [0] * 12, [], 1, "rankgain: error: "),
    "five queries": (
        [1] * 5,
        [4] * 5,
        [],
        0,
        "Five queries that differ cannot show a difference at 0.05, so this test",
    ),
    "five queries, guarded": (
        [1] * 5,
        [4] * 5,
        ["--max-drop", "0.02"],
        3,
        "rr: the mean is worse by 0.7500, more than the max drop of 0.02 (no interval): failed. | No metric can be",
    ),
    "five of many queries": (
        [1] * 40,
        [4] * 5 + [1] * 35,
        ["--max-loss", "0.5:2"],
        3,
        "rr: 5 of 40 queries lose more than 0.5 (allowed: 2): failed.",
    ),
    "a share of the queries": (
        [1] * 40,
        [4] * 5 + [1] * 35,
        ["--max-loss", "0.5:12.5%"],
        0,
        "rr: 5 of 40 queries lose more than 0.5 (allowed: 12.5%).",
    ),
    "margin 2": (
        [1] * 30,
        [4] * 30,
        ["--margin", "2"],
        1,
        "margin must be below 1.0000, the most that rr of 'main' can",
    ),
    "within the margin": (
        [1, 2] * 40,
        [1, 2] * 39 + [2, 1],
        ["--margin", "0.1"],
        0,
        "rr: change is not worse than main by more than 0.1 (95% interval -0.0147 to +0.0147, one-sided p < 0.0001).",
    ),
    "a group": (
        [1] * 10 + [2] * 30,
        [2] * 10 + [1] * 30,
        ["--groups", "groups.tsv"],
        3,
        "rr, group first: change is worse than main by 0.5000 in 10 queries",
    ),
    "lower is better": (
        [1] * 12,
        [3] * 12,
        ["-m", "unjudged@2"],
        3,
        "unjudged@2: change is worse than main by 0.5000 (95% interval +0.5000 to +0.5000",
    ),
    "floor": ([2] * 12, [2] * 12, ["-m", "ndcg>=0.9"], 3, "ndcg: the mean 0.6309297535714575 is below the limit 0.9:"),
    "two floors": ([2] * 12, [2] * 12, ["-m", "ndcg>=0.9", "-m", "ndcg>=0.8"], 2, "ndcg has two limits, 0.9 and 0.8"),
    "first run": (None, [1] * 12, [], 1, "main.txt: No such file or directory"),
    "guard without gate": ([1] * 12, [1] * 12, None, 2, "argument --max-drop: only allowed with argument --gate"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, ranks):
    """Write a run with the relevant document `a` at the given rank, and judged and unjudged documents."""
    lines = []
    for query, rank in enumerate(ranks):
        documents = ["b", "x", "c", "d"]
        documents.insert(rank - 1, "a")
        found = enumerate(documents[:4], 1) if rank else ()
        lines += [f"q{query} Q0 {document} {position} {9 - position} t\n" for position, document in found]
    path.write_text("".join(lines))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_gate_in_the_situations_of_a_first_week(folder, capsys, situation):
    before, after, options, status, texts = SITUATIONS[situation]
    for name, ranks in (("main", before), ("change", after)):
        if ranks is not None:
            write(folder / f"{name}.txt", ranks)
    queries = range(len(after))
    (folder / "qrels.txt").write_text("".join(f"q{query} 0 a 1\nq{query} 0 b 0\n" for query in queries))
    (folder / "groups.tsv").write_text("".join(f"q{query}\t{'first' if query < 10 else 'rest'}\n" for query in queries))
    call = ["compare", "qrels.txt", "main.txt", "change.txt", *(["--max-drop", "1"] if options is None else ["--gate"])]
    metric = [] if "-m" in (options or []) else ["-m", "rr"]
    try:
        exit_status = main([*call, *metric, *(options or [])])
    except SystemExit as error:
        exit_status = error.code
    printed = capsys.readouterr()
    assert exit_status == status, printed
    shown = " ".join((printed.out + printed.err).split())
    for text in texts.split(" | "):
        assert text in shown, shown


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("columns", [("relevant", "retrieved"), ("gold", "hits")])
@pytest.mark.parametrize(("after", "status"), [(["a", "b"], 0), (["b", "a"], 3), (None, 3)])
def test_gate_takes_tables_with_a_row_per_query(folder, capsys, columns, after, status):
    for name, found in (("main", ["a", "b"]), ("change", after)):
        rows = [dict(zip(("id", *columns), (f"q{query}", ["a"], found), strict=True)) for query in range(8)]
        rows[0][columns[1]] = ["a", "b"]  # a run that returns nothing has no column
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    named = [] if columns[0] == "relevant" else ["--relevant", columns[0], "--retrieved", columns[1]]
    assert main(["compare", "main.jsonl", "change.jsonl", "-m", "rr", "--gate", *named]) == status
    assert capsys.readouterr().err.startswith("Gate ")


@pytest.mark.needs("pyarrow")
def test_gate_rejects_tables_that_judge_differently(folder, capsys):
    for name in "ab":
        rows = [{"id": f"q{query}", "relevant": ["a", "b"], "retrieved": ["a"]} for query in range(8)]
        rows[3]["relevant"] = ["b", "c"] if name == "b" else ["b", "a"]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["compare", "a.jsonl", "b.jsonl", "--gate"]) == 1
    assert "query 'q3': a and b have different relevant documents or grades: " in (error := capsys.readouterr().err)
    assert "pass --truths own if each has its own" in error
    assert main(["compare", "a.jsonl", "b.jsonl", "--truths", "own"]) == 0
    assert "each run by its own truth" in capsys.readouterr().out


def test_the_verdict_of_a_gate_stands_in_the_report_and_in_json(folder, capsys):
    pytest.importorskip("jinja2")
    write(folder / "main.txt", [1] * 12)
    write(folder / "change.txt", [2] * 12)
    (folder / "qrels.txt").write_text("".join(f"q{query} 0 a 1\n" for query in range(12)))
    call = ["compare", "qrels.txt", "main.txt", "change.txt", "--gate", "-m", "rr", "--report", "report.html"]
    assert main([*call, "--json", "--strict", "--margin", "0.02", "--max-loss", "0.6:1%"]) == 3
    page = (folder / "report.html").read_text()
    gate = json.loads(capsys.readouterr().out)["gate"]
    assert "<strong>Gate failed: change compared with main.</strong>" in page
    assert all(reason in page for reason in gate["reasons"])
    assert (gate["strict"], gate["level"], gate["margin"]) == (True, 0.95, 0.02)
    assert gate["max_loss"] == {"rr": [0.6, 0.01]}
    assert (gate["metrics"][0]["queries"], gate["metrics"][0]["sd"]) == (12, 0.0)
    assert gate["metrics"][0]["not_worse_p"] == 1.0


def test_a_report_takes_a_gate(folder):
    pytest.importorskip("jinja2")
    runs = rg.compare({"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}, metrics="rr")
    tests = runs.test()
    runs.report("report.html", tests, gate=tests.gate())
    assert "<strong>Gate failed: change compared with main.</strong>" in (folder / "report.html").read_text()
    runs.report("report.html", tests)
    assert "Gate" not in (folder / "report.html").read_text()
