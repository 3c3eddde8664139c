"""The command line: what it prints, and how it ends."""

import json
import subprocess
import sys

import pytest

import rankgain as rg
from rankgain.cli import main

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\nq3 0 d1 0\n"
RUN = "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.9 t\nq3 Q0 d1 1 1 t\nq9 Q0 d1 1 1 t\n"


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "qrels.txt", tmp_path / "run.txt"
    for path, text in zip(paths, (QRELS, RUN), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def printed(capsys, *arguments, status=0):
    assert main(arguments) == status
    out, err = capsys.readouterr()
    return out if status == 0 else err


def test_the_table(files, capsys, backend):
    out = printed(capsys, "eval", *files, "-m", "ndcg@10", "-m", "mrr:rel=2@10")
    assert out == (
        "metric          mean\n"
        "------------  ------\n"
        "ndcg@10       0.1599\n"
        "mrr:rel=2@10  0.1667\n"
        "\n"
        "queries evaluated: 3\n"
        "missing from the run: 1 (counted as 0)\n"
        "without judgements: 1 (left out)\n"
        "nothing relevant: 1\n"
        f"ties: docid   backend: {backend}\n"
    )


def test_per_query(files, capsys):
    out = printed(capsys, "eval", *files, "-m", "rr", "--per-query", "--missing", "skip")
    assert out.splitlines()[:5] == ["query      rr", "-----  ------", "q1     0.5000", "q3     0.0000", "mean   0.2500"]
    assert "missing from the run: 1 (left out)" in out


def test_json(files, capsys, backend):
    out = printed(capsys, "eval", *files, "-m", "rr(empty=nan)", "--json", "--per-query", "--ties", "average")
    assert json.loads(out) == {
        "mean": {"rr(empty=nan)": 0.25},
        "counts": {"queries": 3, "missing": 1, "unjudged": 1, "empty": 1},
        "ties": "average",
        "missing": "zero",
        "backend": backend,
        "version": rg.__version__,
        "queries": {"q1": {"rr(empty=nan)": 0.5}, "q2": {"rr(empty=nan)": 0.0}, "q3": {"rr(empty=nan)": None}},
    }


def test_the_sample(capsys, backend):
    out = printed(capsys, "eval", "--sample")
    assert "ndcg@10  0.5314\nmrr@10   0.7369\n" in out
    assert "missing from the run: 1 (counted as 0)" in out


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("q1 Q0 d1 1 0.5\n", "run.txt: line 1: 5 fields, and there must be 6 fields"),
        ("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 1 x t\n", "run.txt: line 2, field 5: 'x' is not a number"),
        ("q1 Q0 d1 1 0.5 t\nq1 Q0 d1 1 0.5 t\n", "run.txt: line 2, field 3: 'd1' stands in an earlier line"),
        ("q7 Q0 d1 1 0.5 t\n", "run.txt have no query in common"),
        ("", "run.txt have no query in common"),
    ],
)
def test_errors_of_the_input(files, run, message, capsys, backend):
    with open(files[1], "w") as file:
        file.write(run)
    error = printed(capsys, "eval", *files, status=1)
    assert error.startswith("rankgain: error: ")
    assert message in error
    assert error.count("\n") == 1


def test_files_that_cannot_be_read(files, tmp_path, capsys):
    absent = str(tmp_path / "absent")
    assert (
        printed(capsys, "eval", files[0], absent, status=1) == f"rankgain: error: {absent}: No such file or directory\n"
    )
    assert printed(capsys, "eval", str(tmp_path), files[1], status=1).startswith(f"rankgain: error: {tmp_path}: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval"], "give a qrels file and a run file, or --sample"),
        (["eval", "one"], "give a qrels file and a run file, or --sample"),
        (["eval", "--sample", "one", "two"], "give a qrels file and a run file, or --sample"),
        (["eval", "--sample", "-m", "ndgc@10"], "did you mean 'ndcg'?"),
        (["eval", "--sample", "-m", "ndcg@0"], "k must be a positive integer"),
        (["eval", "--sample", "--ties", "random"], "invalid choice: 'random'"),
        ([], "COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_wrong_calls(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err


def test_ids_that_are_not_utf8_go_out_as_they_came_in(files):
    for path in files:
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(content.replace(b"q1", b"q\xe9"))
    result = subprocess.run([sys.executable, "-m", "rankgain.cli", "eval", *files, "--per-query"], capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"q\xe9" in result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are broken in another way there")
def test_a_reader_that_goes_away_is_no_error(files):
    command = [sys.executable, "-m", "rankgain.cli", "eval", *files, "--per-query"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_the_version_says_what_computes(capsys, backend):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"rankgain {rg.__version__} (backend: {backend}")
    assert ("slower" in out or "RANKGAIN_BACKEND" in out) == (backend == "python")
