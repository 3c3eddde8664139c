"""The command line: its output and exit statuses."""

import contextlib
import csv
import io
import itertools
import json
import os
import re
import shlex
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.marks import quick_first

import rankgain as rg
from rankgain.cli import main, reading
from rankgain.results.peers import PEERS

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\nq3 0 d1 0\n"
RUN = "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.9 t\nq3 Q0 d1 1 1 t\nq9 Q0 d1 1 1 t\n"


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "qrels.txt", tmp_path / "run.txt"
    for path, text in zip(paths, (QRELS, RUN), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


@pytest.fixture
def runs(files, tmp_path):
    """Return the paths of the qrels and two runs. The second run ranks better and contains all queries."""
    path = tmp_path / "other.run.gz.txt"
    path.write_text("q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.5 t\nq2 Q0 d1 1 1 t\nq3 Q0 d1 1 1 t\n")
    return [*files, str(path)]


def printed(capsys, *arguments, status=0):
    assert main(arguments) == status
    out, err = capsys.readouterr()
    return out if status == 0 else err


def test_eval_prints_a_table(files, capsys, backend):
    out = printed(capsys, "eval", *files, "-m", "ndcg@10", "-m", "mrr:rel=2@10")
    assert out == (
        "metric          mean\n"
        "------------  ------\n"
        "ndcg@10       0.1599\n"
        "mrr:rel=2@10  0.1667\n"
        "\n"
        "queries evaluated: 3\n"
        "missing from the run: 1 (counted as 0)\n"
        "without judgments: 1 (left out)\n"
        "nothing relevant: 1\n"
        f"ties: docid   backend: {backend}\n"
    )


def test_eval_prints_each_query(files, capsys):
    out = printed(capsys, "eval", *files, "-m", "rr", "--per-query", "--missing", "skip")
    assert out.splitlines()[:5] == ["query      rr", "-----  ------", "q1     0.5000", "q3     0.0000", "mean   0.2500"]
    assert "missing from the run: 1 (left out)" in out


def test_eval_prints_json(files, capsys, backend):
    out = printed(capsys, "eval", *files, "-m", "rr(empty=nan)", "--json", "--per-query", "--ties", "average")
    assert json.loads(out) == {
        "mean": {"rr(empty=nan)": 0.25},
        "counts": {"queries": 3, "missing": 1, "unjudged": 1, "empty": 1},
        "ties": "average",
        "missing": "zero",
        "backend": backend,
        "version": rg.__version__,
        "judged_share": 1.0,
        "queries": {"q1": {"rr(empty=nan)": 0.5}, "q2": {"rr(empty=nan)": 0.0}, "q3": {"rr(empty=nan)": None}},
    }


def test_eval_compares_several_runs(runs, capsys, backend):
    out = printed(capsys, "eval", *runs, "-m", "mrr", "-m", "cg@1")
    assert out == (
        "metric     run  other.run.gz\n"
        "------  ------  ------------\n"
        "mrr     0.1667        0.6667*\n"
        "cg@1    0.0000        1.0000*\n"
        "\n"
        "*: the best\n"
        "queries evaluated: 3\n"
        "missing from the run: run 1 (counted as 0), other.run.gz 0\n"
        "without judgments: run 1 (left out), other.run.gz 0\n"
        "nothing relevant: 1\n"
        f"ties: docid   backend: {backend}\n"
    )


def test_several_runs_per_query(runs, capsys, backend):
    out = printed(capsys, "eval", *runs, "-m", "mrr(empty=nan)", "-m", "cg", "--per-query", "--missing", "skip")
    assert out.startswith(
        "query  run           mrr(empty=nan)       cg\n"
        "-----  ------------  --------------  -------\n"
        "q1     run                  0.5000   2.0000\n"
        "q1     other.run.gz         1.0000   2.0000\n"
        "q3     run                     nan   0.0000\n"
        "q3     other.run.gz            nan   0.0000\n"
        "q2     other.run.gz         1.0000   1.0000\n"
        "mean   run                  0.5000   1.0000\n"
        "mean   other.run.gz         1.0000   1.0000\n"
        "\nno best is marked: the runs answered different queries\nqueries evaluated: run 2, other.run.gz 3\n"
    )


def test_json_of_several_runs(runs, capsys, backend):
    both = json.loads(printed(capsys, "eval", *runs, "--json", "--per-query"))
    assert both.keys() == {"runs", "version"}
    assert list(both["runs"]) == ["run", "other.run.gz"]
    for name, path in zip(both["runs"], runs[1:], strict=True):
        alone = json.loads(printed(capsys, "eval", runs[0], path, "--json", "--per-query"))
        assert both["runs"][name] | {"version": rg.__version__} == alone


def test_eval_prints_csv(runs, capsys, backend):
    options = ["-m", "ndcg@10", "-m", "rr(rel=1,empty=nan)@5", "--csv"]
    out = printed(capsys, "eval", *runs, *options)
    ndcg, other = (rg.read_trec(runs[0], run).evaluate("ndcg@10") for run in runs[1:])
    assert out == (
        'run,ndcg@10,"rr(rel=1,empty=nan)@5"\r\n'
        f"run,{ndcg.mean('ndcg@10')!r},0.25\r\n"
        f"other.run.gz,{other.mean('ndcg@10')!r},1.0\r\n"
    )
    rows = list(csv.reader(io.StringIO(printed(capsys, "eval", *runs, *options, "--per-query"), newline="")))
    assert rows[0] == ["run", "query", "ndcg@10", "rr(rel=1,empty=nan)@5"]
    assert [row[:2] for row in rows[1:]] == [
        [run, query] for run in ("run", "other.run.gz") for query in ("q1", "q2", "q3")
    ]
    assert rows[1][2:] == [repr(ndcg["ndcg@10"].tolist()[0]), "0.5"]
    assert rows[3][2:] == ["0.0", ""]


def test_eval_prints_lines_of_trec_eval(runs, capsys, backend):
    options = ["-m", "recip_rank", "-m", "ndcg_cut_10", "--trec"]
    all_of_run = "recip_rank            \tall\t0.1667\nndcg_cut_10           \tall\t0.1599\n"
    assert printed(capsys, "eval", *runs[:2], *options) == all_of_run
    lines = printed(capsys, "eval", *runs, *options, "--per-query").splitlines()
    assert len(lines) == 2 * 9
    assert [lines[0], lines[9]] == [
        "runid                 \tall\trun",
        "runid                 \tall\tother.run.gz",
    ]
    assert lines[1:3] == ["recip_rank            \tq1\t0.5000", "ndcg_cut_10           \tq1\t0.4796"]
    assert lines[7:9] == all_of_run.splitlines()


def test_query_called_all_is_printed(tmp_path, capsys):
    for name, line in (("qrels", "all 0 d 1\n"), ("run", "all Q0 d 1 1 t\n")):
        (tmp_path / name).write_text(line)
    out = printed(capsys, "eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "rr", "--trec", "--per-query")
    assert out == "rr                    \tall\t1.0000\n" * 2


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["bm25.txt"], ["bm25"]),
        (["a/bm25.run.gz", "b/dense.txt"], ["bm25", "dense"]),
        (["a/bm25.txt", "b/bm25.txt", "c/dense.txt"], ["a/bm25.txt", "b/bm25.txt", "dense"]),
        (["x", "x.gz", "y"], ["x", "x.gz", "y"]),
        (["x", "x.txt", "d/x.txt.txt"], ["x", "x.txt", "d/x.txt.txt"]),
        (["-", "a"], ["stdin", "a"]),
        ([".hidden", "d/.gz"], [".hidden", "d/.gz"]),
    ],
)
def test_runs_are_named_by_their_files(paths, names):
    assert reading.run_names(paths) == names


def test_files_and_options_in_any_order(runs, capsys):
    expected = printed(capsys, "eval", *runs, "-m", "mrr", "-m", "cg")
    qrels, run, other = runs
    assert printed(capsys, "eval", qrels, "-m", "mrr", run, "-m", "cg", other) == expected
    assert printed(capsys, "eval", "-m", "mrr", qrels, run, "--ties", "docid", other, "-m", "cg") == expected


def test_eval_of_the_sample(capsys, backend):
    out = printed(capsys, "eval", "--sample")
    assert "ndcg@10  0.5314\nmrr@10   0.7369\n" in out
    assert "missing from the run: 1 (counted as 0)" in out


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("q1 Q0 d1 1 0.5\n", "run.txt: line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 5"),
        ("query,doc,score\nq1,d1,0.5\n", "found query, doc, score): pass --doc doc"),
        ("q1 Q0 d1 1 0.5 t\nq1 Q0 d1 1 0.4 t\n", "keep one of them (in a run, --duplicates first does)"),
        ("q7 Q0 d1 1 0.5 t\n", "run.txt have no query in common"),
        ("", "run.txt have no query in common"),
    ],
)
def test_input_errors_are_printed_in_one_line(files, run, message, capsys, backend):
    with open(files[1], "w") as file:
        file.write(run)
    error = printed(capsys, "eval", *files, status=1)
    assert error.startswith("rankgain: error: ")
    assert message in error
    assert error.count("\n") == 1


def test_messages_name_options_of_the_shell(files, capsys):
    with open(files[1], "w") as file:
        file.write("q1 Q0 d1 1 0.5 t\nq1 Q0 d1 1 0.4 t\nq2 Q0 d4 1 0.4 t\n")
    assert "num_ret  2.0" in printed(capsys, "eval", *files, "-m", "num_ret", "--duplicates", "first")
    arguments = ["-m", "infap", "--ties", "average", "--duplicates", "first"]
    error = printed(capsys, "eval", *files, *arguments, status=1)
    assert "infap has no value for --ties average: " in error
    assert error.endswith("; order ties another way, such as --ties stable\n")
    broken = f"{files[1]} ties='x' twice"
    with open(broken, "w") as file:
        file.write("q1\n")
    assert "ties='x' twice: line 1: " in printed(capsys, "eval", files[0], broken, status=1)


def test_unreadable_files_are_reported(files, tmp_path, capsys):
    absent = str(tmp_path / "absent")
    assert (
        printed(capsys, "eval", files[0], absent, status=1) == f"rankgain: error: {absent}: No such file or directory\n"
    )
    assert printed(capsys, "eval", str(tmp_path), files[1], status=1).startswith(f"rankgain: error: {tmp_path}: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval"], "give a qrels file and a run file, one table that holds both, or --sample"),
        (["eval", "--sample", "one", "two"], "give a qrels file and a run file, one table that holds both, or"),
        (["eval", "one", "two", "two"], "two is given twice"),
        (["eval", "one", "one"], "one is given twice"),
        (["eval", "-m", "ndcg@10", "map", "one", "two"], "there is no file map; to evaluate this metric too, repeat"),
        (["compare", "one", "two", "three", "-m", "rr", "err@5"], "repeat the option: -m err@5"),
        (["compare", "one", "two"], "give a qrels file and two or more run files"),
        (["eval", "one", "two", "--three"], "unrecognized arguments: --three"),
        (["eval", "--sample", "--json", "--csv"], "not allowed with argument --json"),
        (["eval", "--sample", "--trec", "--csv"], "not allowed with argument --trec"),
        (["eval", "--sample", "--tie-spread", "--trec"], "argument --tie-spread: not allowed with argument --trec"),
        (["eval", "--sample", "-m", "ndgc@10"], "did you mean 'ndcg@10'?"),
        (["eval", "--sample", "-m", "ndcg@0"], "k must be a positive integer"),
        (["eval", "--sample", "--ties", "random"], "invalid choice: 'random'"),
        (["eval", "--sample", "-o", ""], "argument -o/--output: the path is empty"),
        (["compare", "-o", ""], "argument -o/--output: the path is empty"),
        (["compare", "--report", ""], "argument --report: the path is empty"),
        ([], "COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["eval", "--sample", "--metrics", "ndcg"], "did you mean --metric?"),
        (["eval", "--sample", "--thread=2x", "--outpt=x"], "threads"),
        (["eval", "--sample", "--ties", "docids"], "did you mean 'docid'?"),
        (["eval", "--sample", "--like", "xgbost"], "did you mean 'xgboost'?"),
        (["evaluate", "--sample"], "did you mean 'eval'?"),
    ],
)
def test_usage_errors_are_reported(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err


def command(*arguments):
    return [sys.executable, "-m", "rankgain", "eval", *arguments]


@pytest.mark.parametrize("form", quick_first(["json", "csv", "trec", "text"]))
@pytest.mark.parametrize("encoding", quick_first(["latin-1", "utf-8"]))
def test_ids_are_printed_byte_by_byte(files, tmp_path, form, encoding):
    """The printed bytes do not depend on the locale or on whether the output goes to a file."""
    query = b"%s%%{\xe9\xc3\xa9"
    for path in files:
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(content.replace(b"q1", query))
    call = command(*files, "--per-query", "-m", "rr", *([] if form == "text" else [f"--{form}"]))
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    result = subprocess.run(call, capture_output=True, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    escaped = {"json": b"%s%%{\\udce9\\u00e9", "text": b"%s%%{\\udce9\xc3\xa9"}  # undecodable bytes are escaped
    shown = escaped.get(form, query)
    assert shown in result.stdout
    output = tmp_path / "out"
    assert subprocess.run([*call, "-o", str(output)], capture_output=True, env=environment).stdout == b""
    assert output.read_bytes() == result.stdout
    assert (b"\r\n" in output.read_bytes()) == (form == "csv")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are broken in another way there")
@pytest.mark.parametrize("form", quick_first([[], ["--json"], ["--csv"], ["--trec"]]))
def test_closed_pipe_is_accepted(files, form):
    with subprocess.Popen(
        command(*files, "--per-query", *form), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


# With and without Python's buffering of standard output.
buffering = pytest.mark.parametrize("unbuffered", ["", "1"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@buffering
def test_full_disk_is_reported_in_one_line(files, unbuffered):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        result = subprocess.run(command(*files), stdout=full, stderr=subprocess.PIPE, env=environment)
    message = b"rankgain: error: standard output: No space left on device\n"
    assert (result.returncode, result.stderr) == (1, message)


LIMITED = """
import resource, sys
from rankgain.cli import command
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))  # as if so much room were left
sys.exit(command())
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("resource") is None, reason="no limits can be set")
@pytest.mark.parametrize("call", [["eval", "--per-query"], ["trec_eval", "-q"]])
@buffering
def test_disk_that_becomes_full_is_an_error(tmp_path, call, unbuffered):
    paths = [tmp_path / "qrels", tmp_path / "run"]
    for path, line in zip(paths, ("q{} 0 d 1\n", "q{} Q0 d 1 1 t\n"), strict=True):
        path.write_text("".join(map(line.format, range(5000))))
    arguments, environment = [*call, *map(str, paths)], os.environ | {"PYTHONUNBUFFERED": unbuffered}
    whole = subprocess.run([sys.executable, "-m", "rankgain", *arguments], capture_output=True, check=True).stdout
    limited = [sys.executable, "-c", LIMITED, *arguments]
    with open(tmp_path / "out", "wb") as output:
        result = subprocess.run(limited, stdout=output, stderr=subprocess.PIPE, env=environment)
    assert (result.returncode, result.stderr) == (1, b"rankgain: error: standard output: File too large\n")
    assert (tmp_path / "out").read_bytes() == whole[:10_000]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes it in another way there")
def test_closed_standard_output_is_an_error(files):
    closed = [sys.executable, "-c", "import os, sys; os.close(1); os.execv(sys.executable, sys.orig_argv[3:])"]
    result = subprocess.run([*closed, *command(*files)], stderr=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (1, b"rankgain: error: standard output: Bad file descriptor\n")


# --output


def test_output_goes_to_a_file(runs, tmp_path, capsys):
    output = tmp_path / "out.json"
    expected = printed(capsys, "eval", *runs, "--json")
    assert printed(capsys, "eval", *runs, "--json", "--output", str(output)) == ""
    assert output.read_text() == expected
    output.write_text("old")
    assert printed(capsys, "eval", *runs, "-o", str(output)) == ""
    assert output.read_text() == printed(capsys, "eval", *runs)
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions there")
def test_output_has_the_permissions_of_open(files, tmp_path, capsys):
    plain, output = tmp_path / "plain", tmp_path / "out"
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            plain.write_text("")
            printed(capsys, "eval", *files, "-o", str(output))
        finally:
            os.umask(before)
        assert output.stat().st_mode == plain.stat().st_mode
        output.unlink()
        plain.unlink()
    output.write_text("old")
    output.chmod(0o640)
    printed(capsys, "eval", *files, "-o", str(output))
    assert stat.S_IMODE(output.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_output_through_a_link_leaves_the_link(files, tmp_path, capsys):
    folder = tmp_path / "folder"
    folder.mkdir()
    link, target = tmp_path / "link", folder / "target"
    target.write_text("old")
    link.symlink_to(target)
    printed(capsys, "eval", *files, "-o", str(link))
    assert link.is_symlink()
    assert target.read_text().startswith("metric")
    assert os.listdir(folder) == ["target"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_output_is_written_completely_or_not_at_all(files, tmp_path, capsys, monkeypatch, failing, error):
    output = tmp_path / "out"
    output.write_text("old")

    def fail(*arguments):
        assert len(os.listdir(tmp_path)) == 4  # the temporary file is in the same folder
        raise error

    monkeypatch.setattr(os, failing, fail)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            main(["eval", *files, "-o", str(output)])
    else:
        message = printed(capsys, "eval", *files, "-o", str(output), status=1)
        assert message == f"rankgain: error: {output}: No space left on device\n"
    assert output.read_text() == "old"
    assert len(os.listdir(tmp_path)) == 3


def test_output_is_unchanged_after_an_input_error(files, tmp_path, capsys):
    output = tmp_path / "out"
    output.write_text("old")
    with open(files[1], "a") as file:
        file.write("q1 Q0 d7 1 high t\n")
    assert "is not a number" in printed(capsys, "eval", *files, "-o", str(output), status=1)
    assert output.read_text() == "old"


def test_output_that_cannot_be_written_is_refused_before_any_work(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("rankgain.cli.evaluate.named_rankings", lambda *_: pytest.fail("worked"))
    absent = str(tmp_path / "absent" / "out")
    error = printed(capsys, "eval", *files, "-o", absent, status=1)
    assert error == f"rankgain: error: {absent}: No such file or directory\n"
    error = printed(capsys, "eval", *files, "-o", str(tmp_path), status=1)
    assert error == f"rankgain: error: {tmp_path}: Is a directory\n"
    monkeypatch.setattr(os, "access", lambda path, mode: path == str(tmp_path.resolve()))  # root may write anywhere
    (tmp_path / "out").write_text("old")
    error = printed(capsys, "eval", *files, "-o", str(tmp_path / "out"), status=1)
    assert error == f"rankgain: error: {tmp_path / 'out'}: Permission denied\n"


def test_output_over_an_input_is_refused(runs, tmp_path, capsys):
    (tmp_path / "link").hardlink_to(runs[2])
    before = [Path(path).read_text() for path in runs]
    for output in (runs[0], runs[2], str(tmp_path / "link"), os.path.join(tmp_path, ".", "run.txt")):
        with pytest.raises(SystemExit) as caught:
            main(["eval", *runs, "-o", output])
        assert caught.value.code == 2
        assert f"--output {output} is one of the inputs, and would be overwritten" in capsys.readouterr().err
    assert [Path(path).read_text() for path in runs] == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_output_into_a_pipe(files, tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    with subprocess.Popen(command(*files, "-o", pipe), stderr=subprocess.PIPE) as process:
        with open(pipe) as file:
            assert file.read().startswith("metric")
        assert process.wait() == 0
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


# Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.skipif(find_spec("tqdm") is None, reason="tqdm is not installed")
def test_progress_bar_is_written_to_a_terminal(files, capsys, monkeypatch):
    quiet = printed(capsys, "eval", *files)
    monkeypatch.setattr(reading, "LARGE", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert printed(capsys, "eval", *files) == quiet
    for name in ("qrels.txt", "run.txt"):
        assert f"\r{name}: " in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert printed(capsys, "eval", files[0], "-") == quiet


def test_bar_is_shown_on_a_terminal_only(files, monkeypatch):
    monkeypatch.setattr(reading, "LARGE", sum(map(os.path.getsize, files)) - 1)
    tqdm = SimpleNamespace(tqdm=object())
    monkeypatch.setitem(sys.modules, "tqdm", tqdm)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert reading.progress_bar(files) is tqdm.tqdm
    assert reading.progress_bar([*files, "-", "absent"]) is tqdm.tqdm
    assert reading.progress_bar(files[:1]) is None
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert reading.progress_bar(files) is None
    monkeypatch.setitem(sys.modules, "tqdm", tqdm)
    for stderr in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stderr)
        assert reading.progress_bar(files) is None


def test_standard_output_may_be_any_object(files, capsys, monkeypatch):
    out = io.StringIO()
    with monkeypatch.context() as changed:
        changed.setattr(sys, "stdout", out)
        assert main(["eval", *files, "-m", "rr", "--json"]) == 0
    assert out.getvalue() == printed(capsys, "eval", *files, "-m", "rr", "--json")


def test_version_states_the_backend(capsys, backend):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"rankgain {rg.__version__} (backend: {backend}")
    assert ("slower" in out or "RANKGAIN_BACKEND" in out) == (backend == "python")


# Standard output and standard error that are closed or redirected


def in_a_shell(command, folder):
    """Run a command line in a shell, and return its exit status and standard output."""
    program = f"{shlex.quote(sys.executable)} -m rankgain"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.run(
        ["sh", "-c", command.replace("rankgain", program)],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    return process.returncode, process.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_notes_and_errors_do_not_reach_standard_output(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 t\n")
    note = "rankgain trec_eval -m ndcg.1=0.2,2=0.5 qrels run"
    assert in_a_shell(note + " 2>&1 >/dev/null", tmp_path)[1].startswith("rankgain trec_eval: note: ")
    assert in_a_shell(note + " 2>&-", tmp_path) == in_a_shell(note, tmp_path) != (0, "")
    for command, status in (
        ("trec_eval qrels none", 2),
        ("eval qrels none", 1),
        ("eval --none", 2),
        ("trec_eval -v", 0),
    ):
        assert in_a_shell(f"rankgain {command} 2>&-", tmp_path) == (status, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", quick_first(["--help", "--version", "eval --help", "trec_eval --help"], 2))
@pytest.mark.parametrize("where", quick_first(["/dev/full", "&-"]))
def test_help_that_cannot_be_written_is_an_error(command, where, tmp_path):
    assert in_a_shell(f"rankgain {command}", tmp_path)[0] == 0
    assert in_a_shell(f"rankgain {command} >{where}", tmp_path)[0] == 1


@pytest.mark.parametrize("option", ["-J", "--judged-only"])
def test_judged_only_removes_unjudged_documents(tmp_path, capsys, option):
    paths = [tmp_path / name for name in ("qrels", "one", "two")]
    texts = "{0} 0 a 1\n{0} 0 b 0\n", "{0} Q0 x 1 3 t\n{0} Q0 a 2 2 t\n", "{0} Q0 a 1 1 t\n"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text.format("q") + text.format("r"))
    files = [*map(str, paths)]
    for command, given, value in (("eval", files[:2], "0.5000"), ("compare", files, "0.5000")):
        assert main([command, *given, "-m", "rr"]) == 0
        assert value in capsys.readouterr().out
        assert main([command, *given, "-m", "rr", option]) == 0
        assert value not in capsys.readouterr().out


def test_worst_lists_queries_by_metric_and_run(tmp_path, capsys):
    paths = [tmp_path / name for name in ("qrels", "one", "two")]
    texts = "q 0 a 1\nr 0 a 1\n", "q Q0 x 1 3 t\nq Q0 a 2 2 t\nr Q0 a 1 1 t\n", "q Q0 a 1 1 t\n"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    files = [*map(str, paths)]
    assert main(["eval", *files[:2], "-m", "rr", "-m", "recall@1", "--worst", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] + lines[2:4] == ["query      rr", "-----  ------", "q      0.5000", ""]
    assert "q        0.0000" in lines
    assert main(["eval", *files, "-m", "rr", "--worst", "1"]) == 0
    out = capsys.readouterr().out
    assert "rr of one" in out
    assert re.search(r"rr of two\n.*\nr +0\.0000", out)


@pytest.mark.parametrize("given", ["--per-query", "--tie-spread", "--interval", "--json", "--csv", "--trec"])
def test_worst_is_a_list_of_its_own(capsys, given):
    with pytest.raises(SystemExit):
        main(["eval", "--sample", "--worst", "3", given])
    assert f"argument --worst: not allowed with argument {given}" in capsys.readouterr().err


@pytest.mark.needs("pyarrow")
def test_explain_takes_a_table_with_a_row_per_query(tmp_path, capsys):
    table = tmp_path / "rows.jsonl"
    table.write_text('{"query": "q", "gold": ["a", "b"], "got": ["c", "a"]}\n')
    assert main(["explain", "recall", str(table), "--relevant", "gold", "--retrieved", "got"]) == 0
    out = capsys.readouterr().out
    assert "1 / 2 = 0.5000" in out
    assert "not returned: b (1)." in out


def test_share_of_judged_documents_is_stated(tmp_path, capsys):
    """It is stated at the deepest cut-off, unless the qrels name only relevant documents or the rules are a tool's."""
    paths = [tmp_path / name for name in ("qrels", "one", "two")]
    texts = "{0} 0 a 1\n{0} 0 b 0\n", "{0} Q0 x 1 3 t\n{0} Q0 a 2 2 t\n", "{0} Q0 a 1 1 t\n"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text.format("q") + text.format("r"))
    files = [*map(str, paths)]

    def stated(*arguments):
        assert main([*arguments]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "of the documents" in line]

    where = "of the documents, in lists that are not empty"
    assert stated("eval", *files[:2], "-m", "rr") == [f"judged@10: 0.50 {where}"]
    assert stated("eval", *files[:2], "-m", "rr@1", "-m", "recall") == [f"judged@1: 0.00 {where}"]
    for command in ("eval", "compare"):
        assert stated(command, *files, "-m", "rr@5") == [f"judged@5: one 0.50, two 1.00 {where}"]
    for option in (["-J"], ["--like", "sklearn"], ["--given", "scored"], ["--json"], ["--csv"]):
        assert stated("eval", *files[:2], "-m", "ndcg", *option) == []
    paths[0].write_text("q 0 a 1\nr 0 a 2\n")
    assert stated("eval", *files[:2], "-m", "rr") == []


def test_notes_of_explain_hold_no_python(capsys):
    for metric, tool in itertools.product(("ndcg@10", "ap", "rr"), PEERS):
        with contextlib.suppress(SystemExit):
            main(["explain", metric, "--like", tool])
        assert not re.search(r"rankgain\.\w+\(", capsys.readouterr().out)
