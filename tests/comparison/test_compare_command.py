"""The command `rankgain compare`: its output formats, groups, baselines and errors."""

import bz2
import csv
import gzip
import html
import io
import json
import lzma
import sys

import pytest

from rankgain import cli
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = range(12)
    (tmp_path / "qrels.txt").write_text("".join(f"q{row} 0 a{row} 1\nq{row} 0 b{row} 0\n" for row in rows))
    first = "".join(f"q{row} Q0 b{row} 1 2 t\nq{row} Q0 a{row} 2 1 t\n" for row in rows)
    second = "".join(f"q{row} Q0 a{row} 1 2 t\nq{row} Q0 b{row} 2 1 t\n" for row in rows)
    (tmp_path / "bm25.txt").write_text(first)
    (tmp_path / "dense.txt").write_text(second)
    (tmp_path / "other.txt").write_text(first.replace("q0 Q0 b0 1 2", "q0 Q0 b0 1 0"))
    (tmp_path / "kinds.tsv").write_text("".join(f"q{row}\t{'ab'[row % 2]}\n" for row in rows) + "q99\tz\n\n")
    return ["qrels.txt", "bm25.txt", "dense.txt"]


def run(capsys, *arguments):
    status = main(["compare", *arguments])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def test_compare_prints_text(capsys, files):
    text = run(capsys, *files, "-m", "rr", "--margin", "0.1")
    assert text.startswith("dense compared with bm25: 12 queries, paired\n\nmetric    bm25   dense  difference")
    assert text.endswith(
        "\n\nrr: dense is better than bm25 by +0.5000 (95% +0.5000 to +0.5000).\n"
        "rr: dense is not worse than bm25 by more than 0.1 (one-sided p = 0.0002; 12 of 12 queries differ). With 12 "
        "queries, a\n  total failure of up to 26.5% of all queries can go unseen, which alone exceeds the margin.\n"
        "Sign flips (all, exact); 12 queries, none missing.\n"
        "With few queries, rare large differences may be missing.\n"
    )


def test_compare_prints_further_notes_if_verbose(capsys, files):
    text = run(capsys, *files, "-m", "rr", "--groups", "kinds.tsv")
    verbose = run(capsys, *files, "-m", "rr", "--groups", "kinds.tsv", "--verbose")
    assert verbose.startswith(text)
    further = verbose.removeprefix(text)
    assert further.startswith("\nExact if differences are symmetric about their mean;")
    assert "Whether groups differ: Welch's W" in further
    assert "rankgain" in further.splitlines()[-1]


def test_report_shows_the_command(capsys, files, tmp_path):
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    run(capsys, *files, "-m", "rr", "-m", "ap(rel=2)", "--flips", "199", "--report", str(page))
    command = "rankgain compare qrels.txt bm25.txt dense.txt -m rr -m 'ap(rel=2)' --flips 199 --report page.html<br>"
    assert f"Command: {command}" in html.unescape(page.read_text(encoding="utf-8"))


def test_compare_against_a_baseline(capsys, files):
    assert run(capsys, *files, "-m", "rr", "--baseline", "dense").startswith("bm25 compared with dense")
    several = run(capsys, *files, "other.txt", "-m", "rr", "--correction", "holm")
    assert several.startswith("2 runs compared with bm25")
    assert "adjusted for 2 comparisons (Holm); 12 queries, none missing." in several
    assert run(capsys, *files, "other.txt", "-m", "rr", "--all-pairs").startswith("3 runs, all pairs")


def test_compare_prints_json(capsys, files):
    result = json.loads(run(capsys, *files, "-m", "rr", "--json", "--groups", "kinds.tsv", "--seed", "7"))
    (row,) = result["differences"]
    assert (row["run"], row["p"], row["decided"], row["margin"]) == ("dense", 2 / 4096, True, None)
    assert {label: pairs[0]["queries"] for label, pairs in result["groups"].items()} == {"a": 6, "b": 6}
    assert result["options"]["seed"] == 7
    assert result["groups_differ"][0]["p"] == 1.0


def test_compare_prints_csv(capsys, files):
    rows = list(csv.DictReader(io.StringIO(run(capsys, *files, "-m", "rr", "--csv", "--groups", "kinds.tsv"))))
    assert [row["group"] for row in rows] == ["", "a", "b"]
    assert float(rows[0]["p"]) == 2 / 4096
    assert (float(rows[0]["difference"]), rows[0]["margin"]) == (0.5, "")
    rows = list(csv.DictReader(io.StringIO(run(capsys, *files, "-m", "rr", "--csv", "--baseline", "dense"))))
    assert float(rows[0]["difference"]) == -0.5


@pytest.mark.parametrize(("form", "begin"), [("markdown", "| metric | bm25 | dense |"), ("latex", "\\begin{table}")])
def test_compare_prints_tables(capsys, files, form, begin):
    assert run(capsys, *files, f"--{form}", "--groups", "kinds.tsv", "-o", "table") == ""
    with open("table", encoding="utf-8") as file:
        assert file.read().startswith(begin)


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_compare_takes_the_options_of_tables(capsys, files, form):
    options = ["--digits=1", "--percent", "--caption=Runs", "--label=tab:x", "--part=matrix", "--groups=kinds.tsv"]
    text = run(capsys, *files, "-m", "rr", f"--{form}", *options)
    assert "100.0" in text
    assert "100.00" not in text
    assert "adjusted" not in text
    assert text.count("Runs") == text.count("tab:x") == 1
    assert "+50.0" in text.split("by kinds" if "by kinds" in text else "by ")[1]  # the table of groups


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (["--baseline", "x"], 2, "argument --baseline: there is no run 'x'; there are: bm25, dense"),
        (["--baseline", "dense", "--all-pairs"], 2, "argument --all-pairs: not allowed with argument --baseline"),
        (["--digits", "3"], 2, "argument --digits: only allowed with argument --markdown or --latex"),
        (["--part", "matrix", "--csv"], 2, "argument --part: only allowed with argument --markdown or --latex"),
        (["--digits", "16", "--latex"], 2, "argument --digits must be from 0 to 15, not 16"),
        (["--label", "a b", "--latex"], 2, "argument --label must consist of ASCII letters"),
        (["--verbose", "--json"], 2, "argument --verbose: not allowed with argument --json"),
        (["bm25.txt"], 2, "bm25.txt is given twice"),
        (["-o", "bm25.txt"], 2, "--output bm25.txt is one of the inputs, and would be overwritten"),
        (["--report", "qrels.txt"], 2, "--report qrels.txt is one of the inputs, and would be overwritten"),
        (["--margin", "-1"], 1, "margin must be finite and at least 0"),
        (["--flips", "0"], 1, "flips must be from 1 to"),
        (["--groups", "qrels.txt"], 1, "qrels.txt:1: a line must be query, tab, group, not 'q0 0 a0 1'"),
        (["--groups", "twice.tsv"], 1, "twice.tsv:2: query 'q0' has two groups, 'a' and 'b'"),
        (["--groups", "few.tsv"], 1, "by: 11 queries have no group"),
        (["--groups", "none.tsv"], 1, "none.tsv: No such file"),
    ],
)
def test_compare_rejects_usage(capsys, files, more, status, message):
    with open("twice.tsv", "w") as file:
        file.write("q0\ta\nq0\tb\n")
    with open("few.tsv", "w") as file:
        file.write("q0\ta\n")
    try:
        exit_status = main(["compare", *files, *more])
    except SystemExit as error:
        exit_status = error.code
    assert exit_status == status
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "option", "package"),
    [
        ("jinja2", ["--report", "page.html"], "jinja2 is not installed: pip install 'rankgain[report]'"),
        ("scipy.special", ["--method", "t"], "scipy is not installed: pip install 'rankgain[stats]'"),
    ],
)
def test_missing_extras_are_reported_before_runs_are_read(capsys, files, monkeypatch, module, option, package):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(cli.reading, "rankings_of", None)
    assert main(["compare", *files, *option]) == 1
    assert capsys.readouterr().err == f"rankgain: error: {option[0]}{' t' * (option[0] == '--method')}: {package}\n"


def test_compare_prints_the_queries_that_differ(capsys, files):
    with open("dense.txt", encoding="utf-8") as file:
        shorter = "".join(line for line in file if not line.startswith("q3 "))
    with open("dense.txt", "w", encoding="utf-8") as file:
        file.write(shorter)
    assert main(["compare", *files, "-m", "rr", "--missing", "skip"]) == 1
    error = capsys.readouterr().err
    assert "run 'dense' lacks 1 query that 'bm25' has (first: 'q3')" in error
    assert "with --missing zero, or take --queries common" in error
    assert "11 queries, 1 left out, missing: dense 1 (left out)." in run(
        capsys, *files, "-m", "rr", "--missing", "skip", "--queries", "common"
    )


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_groups_weights_and_clusters_may_be_compressed(capsys, files, pack):
    with open("kinds.tsv", "rb") as plain, open("packed.tsv", "wb") as packed:
        packed.write(pack(plain.read().translate(bytes.maketrans(b"abz", b"123"))))
    for option in ("--groups", "--clusters", "--weights"):
        text = run(capsys, *files, "-m", "rr", option, "packed.tsv")
        assert text != run(capsys, *files, "-m", "rr")
    with open("packed.tsv", "wb") as packed:
        packed.write(pack(b"q0\ta\r\n\r\nq1 b\r\n"))
    assert main(["compare", *files, "-m", "rr", "--groups", "packed.tsv"]) == 1
    assert "packed.tsv:3: a line must be query, tab, group, not 'q1 b'" in capsys.readouterr().err


def test_compare_reads_weights_and_clusters(capsys, files):
    with open("weights.tsv", "w", encoding="utf-8") as file:
        file.write("".join(f"q{row}\t{0 if row else 2}\n" for row in range(11)) + "q11\t1\n")
    options = "-m", "rr", "--weights", "weights.tsv"
    assert "as much information as 1.8 queries" in run(capsys, *files, *options)
    assert "carry as much information as 1.8 of equal weight" in run(capsys, *files, *options, "--verbose")
    assert "12 queries in 2 clusters" in run(capsys, *files, "-m", "rr", "--clusters", "kinds.tsv")
    with open("weights.tsv", "a", encoding="utf-8") as file:
        file.write("q99\tmuch\n")
    assert main(["compare", *files, *options]) == 1
    assert "weights.tsv: query 'q99': a weight must be a number, not 'much'" in capsys.readouterr().err
