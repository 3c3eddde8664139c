"""`rankgain diff`: the printed text, the gate and its statuses, files, and usage errors."""

import json

import pytest

from rankgain.cli import main

OLD = "q1 a 3,q1 b 2,q1 c 1,q2 d 2,q2 e 1,q3 f 1"
NEW = "q1 a 3,q1 c 2,q1 x 1,q2 d 2,q2 e 1,q4 g 1"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("old.txt", OLD), ("new.txt", NEW), ("same.txt", OLD)):
        rows = (line.split() for line in lines.split(","))
        (tmp_path / name).write_text("".join(f"{query} Q0 {d} 0 {score} t\n" for query, d, score in rows))
    (tmp_path / "qrels.txt").write_text("q1 0 b 1\nq1 0 c 0\n")
    return tmp_path


def test_text(backend, files, capsys):
    assert (
        main(["diff", "old.txt", "new.txt", "--qrels", "qrels.txt", "--to-judge", "judge.txt", "-m", "overlap@2"]) == 0
    )
    out = capsys.readouterr().out
    first = "3 queries; ties: docid; only in old: 1 (counted as 0), only in new: 1 (left out: new to the set, or old "
    assert out.splitlines()[0] == first + "returned nothing)"
    assert out.splitlines()[3].startswith("overlap@2  0.5000  ")
    assert [line.split() for line in out.splitlines()[7:10]] == [
        ["entered", "1", "1", "0"],
        ["left", "2", "2", "1"],
        ["moved", "1", "1", "1"],
    ]
    assert out.splitlines()[11:] == [
        "most changed  overlap@2",
        "------------  ---------",
        "q3               0.0000",
        "  left: f (1)",
        "q1               0.5000",
        "  entered: x (3)",
        "  left: b (2)",
        "  moved: c (3 → 2)",
        "",
        "judge next: f for q3 (no longer returned, weight 1.000), x for q1 (rank 3, weight 0.500)",
    ]
    assert (files / "judge.txt").read_text() == "q3 0 f\nq1 0 x\n"


def test_json(backend, files, capsys):
    assert main(["diff", "old.txt", "new.txt", "--json", "-m", "overlap@2>=0.4", "--gate", "-k", "2"]) == 3
    content = json.loads(capsys.readouterr().out)
    assert content["counts"]["only_in_new"] == 1
    assert content["metrics"]["overlap@2"]["mean"] == 0.5
    assert content["queries"]["q1"] == {"overlap@2": 0.5}
    assert content["gate"] == {
        "passed": False,
        "reasons": ["new returns nothing for 1 query for which old does: q3"],
    }
    assert {row["doc_id"] for row in content["changes"]} == {"b", "c", "f"}


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_gate(backend, files, capsys, missing):
    assert main(["diff", "old.txt", "same.txt", "-m", "rbo@10>=1", "--gate", "--missing", missing]) == 0
    assert capsys.readouterr().err == "Gate passed.\n"
    assert main(["diff", "old.txt", "new.txt", "-m", "rbo@10>=0.99", "--gate", "--missing", missing]) == 3
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "Gate failed."
    assert err[1].startswith("rbo@10: the mean is 0.")
    assert err[1].endswith(", below 0.99")
    assert err[2] == "new returns nothing for 1 query for which old does: q3"
    assert main(["diff", "old.txt", "new.txt", "-m", "rbo@10>=0.1", "--gate", "--missing", missing]) == 3
    assert "below" not in capsys.readouterr().err


USAGE = {
    "one file": (["old.txt"], "give the old and the new run file"),
    "no floor": (["old.txt", "new.txt", "--gate"], "give a floor, as in -m 'rbo@10>=0.8'"),
    "no gate": (["old.txt", "new.txt", "-m", "rbo@10>=0.8"], "only allowed with argument --gate"),
    "quality": (["old.txt", "new.txt", "-m", "ndcg@10"], "ndcg@10 needs judgments"),
    "no cut-off": (["old.txt", "new.txt", "-m", "overlap"], "overlap needs a cut-off: overlap@10"),
    "floors": (["old.txt", "new.txt", "-m", "rbo@5,10>=0.8", "--gate"], "give one cut-off for a floor"),
    "k": (["old.txt", "new.txt", "-k", "0"], "argument -k: must be 1 or more"),
    "worst": (["old.txt", "new.txt", "--worst", "-1"], "argument --worst: must be 0 or more"),
    "overwrites": (["old.txt", "new.txt", "--to-judge", "old.txt"], "is one of the inputs, and would be overwritten"),
}


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_usage_errors(files, capsys, arguments, message):
    with pytest.raises(SystemExit) as raised:
        main(["diff", *arguments])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


def test_input_errors(files, capsys):
    assert main(["diff", "old.txt", "new.txt", "--score", "s"]) == 1
    assert "names a column, and old is not a table" in capsys.readouterr().err
    (files / "old.txt").write_text("q1 Q0 a 0 1 t\nq1 Q0 a 0 1 t\n")
    assert main(["diff", "old.txt", "new.txt"]) == 1
    assert "old.txt: line 2, field 3: 'a' already appears" in capsys.readouterr().err


def test_what_was_assumed_about_ranks_is_stated(backend, files, capsys):
    (files / "ranks.txt").write_text("1 a 1\n1 b 2\n2 a 1\n2 b 2\n")
    (files / "counts.txt").write_text("1 a 13\n1 b 7\n2 a 5\n2 b 2\n")
    remark = (
        "counts.txt: field 3 was read as ranks, which neither start at 1 nor rise in 2 of 2 queries; if it holds "
        "scores, separate the fields by tabs, under a header query_id, doc_id, score"
    )
    assert main(["diff", "ranks.txt", "counts.txt"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == remark
    assert main(["diff", "ranks.txt", "counts.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == [remark]
