"""What the command line shows: usage, advice in words for a shell, tables that fit the terminal."""

import io
import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
from support.sides import qrels_lines, run_lines

import rankgain as rg
from rankgain.cli import main
from rankgain.results import text
from rankgain.tools.wording import IN_SHELL, in_shell

COMMANDS = "eval", "compare", "diff", "agreement", "explain", "metrics", "completion", "trec_eval"


def usage_error(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "usage", "error"),
    [
        (["eval", "--sep", ","], "rankgain eval [options] QRELS RUN", "unrecognized arguments: --sep"),
        (["eval", "--nope"], "rankgain eval [options] QRELS RUN", "unrecognized arguments: --nope"),
        (["eval", "--per-qeury"], "rankgain eval [options] QRELS RUN", "--per-qeury; did you mean --per-query?"),
        (["compare", "--corection=bh"], "rankgain compare [options] QRELS RUN RUN", "did you mean --correction?"),
        (["completion", "z"], "rankgain completion [options] SHELL", "argument shell: invalid choice: 'z'"),
        (
            ["eval", "--like", "rnx"],
            "rankgain eval [options] QRELS RUN",
            "argument --like: unknown tool 'rnx' (did you",
        ),
        (["diff", "-m", "ap"], "rankgain diff [options] OLD NEW", "rankgain eval QRELS RUN -m ap; two runs have"),
        (["eval", "--threads", "x"], "rankgain eval [options] QRELS RUN", "must be a whole number, not 'x'"),
        (["explain", "nope"], "rankgain explain [options] METRIC QRELS RUN", "unknown metric 'nope'"),
        (["metrics", "a", "b"], "rankgain metrics [options] NAME", "unknown metric 'a'"),
        (["ealv"], "rankgain [options] COMMAND", "did you mean 'eval'?"),
        (["--nope", "trec_eval"], "rankgain [options] COMMAND", "unrecognized arguments: --nope"),
    ],
)
def test_one_line_of_usage_precedes_an_error(capsys, arguments, usage, error):
    first, second = usage_error(capsys, *arguments)
    assert first == f"usage: {usage}"
    assert error in second


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "give a command"),
        (["--nope"], "unrecognized arguments: --nope"),
        (["--verison"], "unrecognized arguments: --verison; did you mean --version?"),
    ],
)
def test_commands_are_shown_if_none_is_given(capsys, arguments, error):
    *lines, last = usage_error(capsys, *arguments)
    assert {*COMMANDS} <= {line.split()[0] for line in lines if line.startswith("    ")}
    assert last == f"rankgain: error: {error}"


@pytest.mark.parametrize("command", ["", "diff", "trec_eval"])
def test_help_is_a_command(capsys, command):
    shown = set()
    for arguments in (["help", *command.split()], [*command.split(), "--help"]):
        with pytest.raises(SystemExit, match="0"):
            sys.exit(main(arguments))
        shown.add(capsys.readouterr().out)
    (text,) = shown
    assert text.startswith(f"usage: rankgain {command}".strip() + " [")


# Advice


def saved(save, *values):
    file = io.BytesIO()
    save(file, *values)
    return file.getvalue()


WRONG = {
    "LETOR": b"1 qid:1 1:0.5 2:0.3\n0 qid:1 1:0.2\n",
    "ColBERT": b"1 2 3 4.5\n1 3 4 2.5\n",
    "SASRec": b"1 2\n1 3\n",
    "ratings": b"1 2 3\n1 4 5\n",
    "times": b"1\t10\t3\t881250949\n1\t11\t3\t881250950\n",
    "LightGCN": b"0 1 2 3 4 5 6 7\n1 2 3 4\n",
    "npy": saved(np.save, np.zeros(3)),
    "npz": saved(np.savez, np.zeros(3)),
    "pickle": b"\x80\x04\x95\x05",
    "workbook": b"PK\x03\x04" + b"." * 26 + b"xl/x",
    "dict": b'{"query": {"0": "q"}, "doc": {"0": "d"}}',
    "numbers": b"[1, 2, 3]",
    "lists": b'{"q": ["d"], "r": ["e"]}',
    "floats": b'{"q": {"d": 1.5}}',
    "several runs": b"query_id,doc_id,score,system\nq,d,1,a\nq,d,2,b\n",
    "several tags": b"q Q0 d 1 1 t\nq Q0 d 1 1 u\n",
    "no scores": b"query_id,doc_id,relevance\nq,d,1\n",
    "numbered": b"1 0 d 1\n",
    "one subtopic": b"q 0 d 1\nr 0 e 1\n",
    "descending": b"q Q0 d 1 1 t\nq Q0 e 2 2 t\nq Q0 f 3 3 t\n",
}
PYTHON = re.compile(
    r"rankgain\.\w|pandas|numpy\.|pathlib|\w\([\w ]*[,)=]|\w=['\"\w]|\bfrom_\w|UserWarning|\{q: |query_ids|\w\['"
)


@pytest.mark.parametrize("name", WRONG)
def test_messages_show_no_python(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for path, data in (("q", qrels_lines({"q": {"d": 1}})), ("r", run_lines({"q": {"d": 1.0}})), ("w", WRONG[name])):
        (tmp_path / path).write_bytes(data)
    for command in (
        *(
            ["eval", "q", "w"],
            ["eval", "w", "r"],
            ["eval", "w"],
            ["eval", "--subtopics", "w", "r"],
            ["trec_eval", "q", "w"],
        ),
        *(["compare", "q", "r", "w"], ["diff", "r", "w"], ["agreement", "q", "w"]),
    ):
        with suppress(SystemExit), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            main(command)
        for message in (capsys.readouterr().err, *(in_shell(str(each.message)) for each in caught)):
            assert not PYTHON.search(message), message


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_output_shows_no_python(capsys, tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 2, (8, 120)).tolist()
    qrels = qrels_lines({f"q{q}": dict(enumerate(row)) for q, row in enumerate(grades)})
    for name in ("q", "other"):
        (tmp_path / name).write_bytes(qrels)
    runs = [f"r{number}" for number in range(50)]
    for run in runs:
        scores = {f"q{q}": dict(enumerate(rng.random(120).tolist())) for q in range(8)}
        (tmp_path / run).write_bytes(run_lines(scores))
    many = ["compare", "q", *runs, "-m", "rr", "--flips", "199"]  # tables are cut, and some runs have no letters
    gate = ["compare", "q", "r0", "r1", "-m", "rr", "-m", "ap", "--gate"]
    commands = [many, [*many, "--all-pairs"], [*many, "--all-pairs", "--correction", "holm"]]
    if form != "latex":
        commands += [gate, [*gate, "--max-drop", "0.01", "--max-loss", "0.3:1"], ["agreement", "q", "other"]]
    if form == "text":
        commands.append(["diff", "r0", "r1"])
    for command in commands:
        main([*command, *([] if form == "text" else [f"--{form}"])])
        shown = "".join(capsys.readouterr())
        assert not re.search(rf"{PYTHON.pattern}|\w\(\)|\w=|[a-z]_[a-z]", shown.replace(r"\_", " ")), shown
    main(["explain", "ndcg", "q", "r0"])
    assert "The ranks after 100 are not shown; a higher limit shows more." in capsys.readouterr().out


REMARKED = {
    "table": (
        "query_id,doc_id,rank,score\n" + "".join(f"{q},d{d},{d},0.{d}\n" for q in "pq" for d in range(1, 4)),
        "scores were taken, as trec_eval does; --rank rank takes the ranks",
    ),
    "answers": (
        json.dumps({q: {"hits": {"hits": [{"_id": f"d{d}", "_score": d % 3} for d in range(1, 4)]}} for q in "pq"}),
        "in 2 of 2 queries; the order of the hits was taken",
    ),
    "ranks": (
        "".join(f"{q}\td{d}\t{9 - d}\n" for q in "pq" for d in range(1, 4)),
        "separate the fields by tabs, under a header query_id, doc_id, score",
    ),
}


@pytest.mark.parametrize("kind", REMARKED)
def test_remarks_on_files_show_no_python(capsys, tmp_path, monkeypatch, kind):
    if kind == "table":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    content, remark = REMARKED[kind]
    (tmp_path / "q").write_bytes(qrels_lines({q: {"d1": 1, "d2": 0} for q in "pq"}))
    (tmp_path / "r").write_bytes(run_lines({q: {"d1": 1.0, "d2": 0.5} for q in "pq"}))
    (tmp_path / "file").write_text(content)
    for command in (
        *(["eval", "q", "file", *more] for more in ([], ["--json"], ["--tie-spread"], ["--judged-only"])),
        *(["compare", "q", "r", "file", *more] for more in ([], ["--json"])),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert main(command) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert remark in shown, command
        assert not PYTHON.search(shown), shown


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["compare", "q", "r", "s", "--flips", "5"],
            "--flips 5 cannot show anything at --level 0.95: needs --flips 19 or more",
        ),
        (["eval", "q", "r", "-m", "alpha_ndcg"], "alpha_ndcg needs judgments by subtopic: --subtopics"),
        (["explain", "rr", "q", "r", "--limit", "0"], "limit must be a positive integer, not 0"),
    ],
)
def test_advice_for_a_shell_names_options(capsys, tmp_path, monkeypatch, arguments, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_bytes(qrels_lines({"q": {"d": 1}}))
    for run in "rs":
        (tmp_path / run).write_bytes(run_lines({"q": {"d": 1.0}}))
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"rankgain: error: {error}\n"


def test_advice_for_a_shell_says_what_to_write(capsys, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(qrels_lines({"q": {"d": 1}}))
    for data, advice in (
        (WRONG["ColBERT"], "wrote, separate the fields by tabs, under a header query_id, doc_id, rank, score"),
        (WRONG["npy"], "is a NumPy array: write what it holds as lines of TREC, CSV or JSON"),
    ):
        run.write_bytes(data)
        assert main(["eval", str(qrels), str(run)]) == 1
        assert capsys.readouterr().err.endswith(f"{advice}\n")


def test_warnings_are_lines(capsys, tmp_path):
    paths = tmp_path / "qrels", tmp_path / "run"
    for path, data in zip(paths, (qrels_lines({"q": {"d": 1}}), WRONG["descending"]), strict=True):
        path.write_bytes(data)
    command = [sys.executable, "-m", "rankgain", "eval", *map(str, paths)]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"rankgain: warning: {paths[1]}: the scores rise with the rank in every query")


def test_patterns_of_advice_match_what_python_says():
    """Each pattern matches an error of this package; a pattern that matches none is stale."""
    with_letters = r"[A-Za-z_]{4,}"
    folder = os.path.dirname(rg.__file__)
    sources = ""
    for root, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".py") and file != "wording.py":
                with open(os.path.join(root, file), encoding="utf-8") as opened:
                    sources += opened.read()
    for pattern, _ in IN_SHELL:
        assert all(word in sources for word in re.findall(with_letters, pattern)), pattern
    assert in_shell("nothing to reword") == "nothing to reword"


# Width


def fitted_lines(monkeypatch, columns, *arguments, **keywords):
    monkeypatch.setenv("COLUMNS", str(columns))
    with text.fitted():
        return text.text_table(*arguments, **keywords)


TEXTS = [["name", "note"], ["a", "one two three four five six seven"], ["bc", "short"]]
NUMBERS = [["run", "ndcg@10", "mrr@10", "map"], ["bm25", "0.1234", "0.5", "0.25"], ["dense", "0.2", "0.75", "1.0"]]


def test_last_column_is_wrapped(monkeypatch):
    assert fitted_lines(monkeypatch, 24, TEXTS, names=2) == [
        "name  note",
        "----  ------------------",
        "a     one two three four",
        "      five six seven",
        "bc    short",
    ]
    assert fitted_lines(monkeypatch, 39, TEXTS, names=2) == text.text_table(TEXTS, names=2)
    assert len(fitted_lines(monkeypatch, 38, TEXTS, names=2)) == 5


def test_columns_of_numbers_are_printed_in_parts(monkeypatch):
    marks = {(2, 1): "*", (2, 3): "*"}
    lines = fitted_lines(monkeypatch, 23, NUMBERS, marks=marks)
    assert [line.split() for line in lines] == [
        ["run", "ndcg@10", "mrr@10"],
        ["-----", "-------", "------"],
        ["bm25", "0.1234", "0.5"],
        ["dense", "0.2*", "0.75"],
        [],
        ["run", "map"],
        ["-----", "----"],
        ["bm25", "0.25"],
        ["dense", "1.0*"],
    ]
    assert max(map(len, lines)) <= 23
    whole = fitted_lines(monkeypatch, 0, NUMBERS, marks=marks)
    assert fitted_lines(monkeypatch, max(map(len, whole)), NUMBERS, marks=marks) == whole
    assert fitted_lines(monkeypatch, 1, NUMBERS)[0].split() == ["run", "ndcg@10"]


def test_calculation_shows_the_ideal_ranking_below_the_list(monkeypatch):
    calculation = rg.from_ranked([[0, 2, 1]]).calculation("ndcg@3", 0)
    wide = repr(calculation).splitlines()
    monkeypatch.setenv("COLUMNS", "60")
    narrow = repr(calculation).splitlines()
    assert max(map(len, wide)) > 60 >= max(map(len, narrow))
    heads = [line.split() for line in narrow if line.startswith("rank")]
    assert [*heads[0], *heads[1][1:]] == wide[1].split()
    assert heads[1][:2] == ["rank", "ideal"]


def test_part_ends_with_its_last_value(monkeypatch):
    rows = [["rank", "document", "ideal"], ["1", "a", "b"], ["2", "c", ""]]
    assert fitted_lines(monkeypatch, 15, rows, names=0, rule=False) == [
        "rank  document",
        "   1         a",
        "   2         c",
        "",
        "rank  ideal",
        "   1      b",
    ]


def test_results_fit_only_what_is_shown(monkeypatch, capsys, tmp_path):
    """`table` and files do not depend on the terminal; `repr` and standard output do."""
    result = rg.from_ranked([[0, 1]]).evaluate("rr", "cg@1")
    comparison = rg.Comparison({f"a run with a long name {number}": result for number in range(5)})
    table = comparison.table()
    assert repr(comparison) == table
    monkeypatch.setenv("COLUMNS", "60")
    assert comparison.table() == table
    assert max(map(len, repr(comparison).splitlines())) <= 60
    path = tmp_path / "out"
    for arguments, columns in ((["metrics"], 80), (["metrics"], 0)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(arguments) == 0
        widest = max(map(len, capsys.readouterr().out.splitlines()))
        assert widest > 118 if columns == 0 else widest <= 80
    for columns in ("30", "0"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["eval", "--sample", "-m", "ndcg@10", "-m", "ap", "--per-query", "-o", str(path)]) == 0
        assert max(map(len, path.read_text().splitlines())) > 30


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("columns", [80, 200])
def test_tables_fit_a_terminal(columns):
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "rankgain", "metrics"]
    with subprocess.Popen(command, stdout=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # the process has ended
            pass
    os.close(ours)
    assert process.returncode == 0
    widest = max(map(len, shown.decode().splitlines()))
    assert widest <= 80 if columns == 80 else widest > 118


def test_tables_in_a_pipe_are_not_fitted():
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "rankgain", "metrics"]
    piped = subprocess.run(command, capture_output=True, env=environment, check=True, text=True).stdout
    assert max(map(len, piped.splitlines())) > 118


def test_columns_are_aligned_by_display_width():
    """East Asian characters take two columns, and combining ones none."""
    rows = [["name", "value"], ["検索", "0.5"], ["e\u0301", "0.25"], ["abcd", "1.0"]]
    assert text.text_table(rows) == [
        "name  value",
        "----  -----",
        "検索    0.5",
        "e\u0301      0.25",
        "abcd    1.0",
    ]
    assert [text.display_width(each) for each in ("", "ab", "検索", "ｱ", "e\u0301", "→")] == [0, 2, 4, 1, 1, 1]


@pytest.mark.needs("tqdm")
def test_total_of_a_progress_bar_does_not_change(capsys, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(qrels_lines({"q": {"d": 1}}))
    run.write_bytes(run_lines({f"q{number}": {"d": 1.0} for number in range(20_000)} | {"q": {"d": 1.0}}))
    assert main(["eval", str(qrels), str(run), "--progress"]) == 0
    totals = set(re.findall(r"run: .*?/(\S+) \[", capsys.readouterr().err))
    assert totals == {f"{os.path.getsize(run) / 1024:.0f}k"}


# Completion

COMPLETED = [
    ("rankgain e", {"eval", "explain"}),
    ("rankgain eval --like trec", {"trec_eval-9", "trec_eval-10"}),
    ("rankgain explain ndcg --like rankg", {"rankgain"}),
    ("rankgain eval --sample -m ndcg_r", {"ndcg_rel", "ndcg_rel_ia"}),
    ("rankgain explain strec", {"strecall"}),
    ("rankgain diff --metric over", {"overlap"}),
    ("rankgain eval qrels.txt bm", {"bm25.txt"}),
    ("rankgain compare --groups bm", {"bm25.txt"}),
    ("rankgain eval --ties d", {"docid"}),
    ("rankgain completion z", {"zsh"}),
]


@pytest.mark.needs("shtab")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no bash")
def test_bash_completes_commands_options_metrics_tools_and_files(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "bm25.txt").touch()
    lines = ["source ./script"]
    for line, _ in COMPLETED:
        *_, before, word = line.split()
        count = len(line.split()) - 1
        lines.append(f"COMP_WORDS=({line}); COMP_CWORD={count}; COMPREPLY=()")
        lines.append(f'_shtab_rankgain rankgain {word} {before}; echo "${{COMPREPLY[*]}}"')
    shown = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, cwd=tmp_path, text=True, check=True)
    assert [{*line.split()} for line in shown.stdout.splitlines()] == [words for _, words in COMPLETED]


@pytest.mark.needs("shtab")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("ndcg_rel", "torchmetrics", "rbo_ext", "--per-query"))


def test_completion_without_shtab_names_the_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    message = "rankgain completion: shtab is not installed: pip install 'rankgain[completion]'"
    assert capsys.readouterr().err == f"rankgain: error: {message}\n"
