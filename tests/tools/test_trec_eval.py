"""Compare the output of `rankgain trec_eval` byte for byte with that of trec_eval, and check the exit statuses."""

import gzip
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import GOLDEN
from support.marks import in_one_case, quick_first
from support.strategies import examples

from rankgain.cli import main
from rankgain.tools import trec_eval

OPTIONS = {
    "plain": ["-q", "-m", "all_trec"],
    "c": ["-q", "-c", "-m", "all_trec"],
    "c-l2": ["-qc", "-l", "2", "-m", "all_trec"],
    "c-M20": ["-qcM20", "-m", "all_trec"],
    "c-J": ["-q", "-c", "-J", "-mall_trec"],
    "params": ["-c", "-m", "ndcg.1=3,2=7,3=15,4=31", "-m", "ndcg_cut.3,7", "-m", "P.4", "-m", "set_F.2"],
}
QUICK = ["a.v9.plain.txt", "a.v10.c.txt", "b.v9.c-l2.txt", "b.v10.c-M20.txt", "c.v9.c-J.txt", "b.v10.params.txt"]
FILES = sorted(path.name for path in GOLDEN.glob("*.v*.txt"))


def corpus(name):
    return [str(GOLDEN / f"{name}.{side}") for side in ("qrels", "run")]


def called(name):
    """Return the corpus and the arguments that produced a golden file."""
    which, release, options, _ = name.split(".")
    return which, ["--release", release[1:], *OPTIONS[options]]


def golden(name):
    return (GOLDEN / name).read_text(encoding="utf-8")


@pytest.fixture
def run(capsys):
    """Return a function that runs the command and returns its standard output, or its standard error if it fails."""

    def call(*arguments, status=0, notes=None):
        assert main(["trec_eval", *map(str, arguments)]) == status
        out, err = capsys.readouterr()
        if status:
            assert out == ""
            assert err.startswith("rankgain trec_eval: error: ")
            return err
        assert notes is None or [line.removeprefix("rankgain trec_eval: note: ") for line in err.splitlines()] == notes
        return out

    return call


@pytest.fixture
def files(tmp_path):
    """Return a function that writes the qrels and the run, given as text or bytes, to files."""

    def write(qrels, run):
        paths = tmp_path / "qrels.txt", tmp_path / "run.txt"
        for path, content in zip(paths, (qrels, run), strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [str(path) for path in paths]

    return write


def lines_of(scores, query="q", tag="t"):
    return "".join(f"{query} Q0 {document} 0 {score} {tag}\n" for document, score in scores.items())


# Output


def test_golden_files_are_complete():
    assert len(FILES) == 31


@pytest.mark.parametrize("name", quick_first(sorted(FILES, key=QUICK.__contains__, reverse=True), len(QUICK)))
def test_output_equals_the_golden_files(backend, run, name):
    which, arguments = called(name)
    assert run(*arguments, *corpus(which)) == golden(name)


def test_release_10_is_the_default(run):
    assert run("-q", "-c", "-m", "all_trec", *corpus("a")) == golden("a.v10.c.txt")


@pytest.mark.parametrize("name", quick_first(["a.v9.c-M20.txt", "a.v10.c-J.txt"]))
@pytest.mark.parametrize("where", quick_first(["compressed", "qrels", "scattered", "plain"], 2))
def test_standard_input_is_read(name, where):
    """Standard input may be the qrels or the run. The run may be compressed, and its lines may be in any order."""
    which, arguments = called(name)
    files = corpus(which)
    side = int(where != "qrels")
    text = Path(files[side]).read_bytes()
    files[side] = "-"
    if where == "scattered":
        lines = text.splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        text = b"".join(lines)
    text = gzip.compress(text) if where == "compressed" else text
    command = [sys.executable, "-m", "rankgain", "trec_eval", *arguments, *files]
    result = subprocess.run(command, input=text, capture_output=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().replace("\r\n", "\n") == golden(name)


def test_ids_are_printed_unchanged_in_byte_order(files):
    queries = [b"\xff", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbd", b"z", b"\xe9", b"\xc3\xa9", b"a"]
    paths = files(
        b"".join(query + b" 0 d\xff 1\n" for query in queries),
        b"".join(query + b" Q0 d\xff 1 1 run\xfe\n" for query in queries),
    )
    command = [sys.executable, "-m", "rankgain", "trec_eval", "-q", "-m", "recip_rank", "-m", "runid", *paths]
    result = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "latin-1"})
    name = b"recip_rank            \t"
    assert result.stdout.replace(b"\r\n", b"\n") == b"".join(
        [name + query + b"\t1.0000\n" for query in sorted(queries)]
        + [b"runid                 \tall\trun\xfe\n", name + b"all\t1.0000\n"]
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n  \n# this is the end of the run\n", "\r\n"])
def test_runid_is_that_of_the_last_line(run, files, end):
    paths = files("q 0 d 1\n", lines_of({"x": 3}, tag="first") + "q Q0 d 1 1 last" + end)
    assert run("-m", "runid", *paths) == "runid                 \tall\tlast\n"


def test_ranks_and_tags_are_ignored_without_a_word(run, files):
    """Here the ranks repeat between two tags, as in a file of two runs, and the scores rise with the ranks."""
    lines = [f"q Q0 {doc} {rank} {score} {tag}" for tag, docs in (("a", "dex"), ("b", "fgy")) for rank, (doc, score) in
             enumerate(zip(docs, (0.1, 0.5, 0.9), strict=True), 1)]  # fmt: skip
    qrels = "q 0 e 1\n"
    out = run("-m", "recip_rank", *files(qrels, "\n".join(lines)), notes=[])
    assert out == "recip_rank            \tall\t0.2500\n"  # y and x have 0.9, g and e 0.5; ties: higher ids first
    twice = "\n".join([*lines, "q Q0 e 4 0.1 b"])
    assert "line 7, field 3: 'e' already appears" in run(*files(qrels, twice), status=2)


def test_official_measures_are_the_default(run):
    lines = run(*corpus("b")).splitlines()
    assert lines == run("-m", "official", *corpus("b")).splitlines()
    assert [lines[0], lines[-1]] == ["runid                 \tall\ttag", "P_1000                \tall\t0.0100"]
    assert len(lines) == 10 + 11 + 9


@pytest.mark.parametrize(
    "arguments",
    quick_first(
        [
            ["-l2", "-M20", "-c", "-q", "-m", "P.5,10"],
            ["-qcl2", "-M", "20", "-mP.10,5"],
            ["--level_for_rel=2", "--Max_retrieved_per_topic", "20", "--complete_rel", "--query", "--measure=P.5,10"],
            ["-q", "-R", "qrels", "-Ttrec_results", "-c", "-l", "1", "-l", "2", "-M20", "-m", "P.5,10", "-m", "P"],
        ]
    ),
)
def test_options_are_parsed_like_getopt(run, arguments):
    expected = run("-q", "-c", "-l", "2", "-M", "20", "-m", "P.5,10", *corpus("a"))
    assert expected.startswith("P_5                   \tq0-474354\t")
    assert len(expected.splitlines()) == 2 * 12
    qrels, path = corpus("a")
    assert run(*arguments, qrels, path) == expected
    assert run(qrels, *arguments, path) == run(qrels, path, *arguments) == expected


def test_depths_and_cutoffs_beyond_any_list(run):
    expected = run("-m", "ndcg", "-m", "ndcg_cut.1000000", *corpus("a"))
    printed = run("-M", str(10**17), "-m", "ndcg", "-m", f"ndcg_cut.{10**17}", *corpus("a"))
    assert printed.replace(str(10**17), "1000000").split() == expected.split()


def test_option_n_prints_no_summary(run):
    whole = run("-q", "-m", "all_trec", *corpus("b"))
    assert run("-qn", "-m", "all_trec", *corpus("b")) == "".join(
        line for line in whole.splitlines(keepends=True) if "\tall\t" not in line
    )
    assert run("-n", "-m", "all_trec", *corpus("b")) == ""


@pytest.mark.parametrize("release", [9, 10])
def test_scores_are_compared_in_the_width_of_the_release(run, files, release):
    paths = files("q 0 d 1\n", lines_of({"d": 16777216.4, "e": 16777216.3}))
    value = {9: "0.5000", 10: "1.0000"}[release]
    assert run("--release", release, "-m", "recip_rank", *paths) == f"recip_rank            \tall\t{value}\n"


def test_utility_counts_the_collection(run, files):
    paths = files("q 0 d 1\nq 0 e 1\n", lines_of({"d": 2, "x": 1}))
    assert run("-N", 10, "-m", "utility.0,0,1,0.5", *paths) == "utility_0,0,1,0.5     \tall\t4.5000\n"


def test_utility_of_missing_queries(run, files):
    """The utility of a missing query is 0, although none of its relevant documents is returned."""
    paths = files("p 0 d 1\nq 0 d 1\nq 0 e 1\n", lines_of({"d": 2, "x": 1}))
    assert run("-c", "-m", "utility.0,0,1,0", *paths) == "utility_0,0,1,0       \tall\t0.5000\n"


def test_sums_have_the_order_of_trec_eval(run, files):
    """With another order, a mean halfway between two numbers with four digits could be rounded differently."""
    rng, mean = random.Random(1), None
    while mean is None:
        ranks = [rng.choice([1, 2, 4, 5, 8, 10, 20, 25, 40]) for _ in range(32)]
        total = 0.0
        for rank in ranks:
            total += 1 / rank
        if f"{total / 32:6.4f}" != f"{math.fsum(1 / rank for rank in ranks) / 32:6.4f}":
            mean = f"{total / 32:6.4f}"
    queries = [f"q{number:02}" for number in range(32)]
    paths = files(
        "".join(f"{query} 0 d 1\n" for query in reversed(queries)),
        "".join(
            lines_of({**{f"x{rank_before}": 100 - rank_before for rank_before in range(rank - 1)}, "d": 1}, query)
            for query, rank in zip(queries, ranks, strict=True)
        ),
    )
    assert run("-m", "recip_rank", *paths) == f"recip_rank            \tall\t{mean}\n"


@pytest.mark.parametrize(
    ("returned", "relevant", "both", "printed"), [(9, 55, 7, "0.2187"), (6, 58, 5, "0.1563"), (20, 44, 1, "0.0313")]
)
def test_set_f_is_rounded_like_trec_eval(run, files, returned, relevant, both, printed):
    """The value 2·7 / (9 + 55) = 0.21875 is exact, but trec_eval's arithmetic is off by one bit."""
    paths = files(
        "".join(f"q 0 {'d' if number < both else 'n'}{number} 1\n" for number in range(relevant)),
        lines_of({f"{'d' if number < both else 'x'}{number}": -number for number in range(returned)}),
    )
    assert run("-m", "set_F", *paths) == f"set_F                 \tall\t{printed}\n"


def test_11pt_avg_is_rounded_like_trec_eval(run, files):
    """Adding the precisions from recall 1 down to recall 0 gives 0.06875 and not a slightly smaller number."""
    ranks = [8, 15, 20, 59, 64]
    paths = files(
        "".join(f"q 0 d{number} 1\n" for number in [*ranks, *range(101, 106)]),
        lines_of({f"{'d' if rank in ranks else 'x'}{rank}": -rank for rank in range(1, 65)}),
    )
    assert run("-m", "11pt_avg", *paths) == "11pt_avg              \tall\t0.0688\n"


@pytest.mark.both
@examples(0.3)
@given(
    data=st.data(),
    options=st.lists(st.sampled_from(["-c", "-J", "-n", "-M2", "-l2", "-N9", "--release=9"]), unique=True),
)
def test_both_backends_print_the_same(on_both, tmp_path_factory, data, options):
    queries, documents = st.sampled_from(["q", "é", "Q"]), st.sampled_from("abcdefgh")
    pairs = st.dictionaries(st.tuples(queries, documents), st.integers(-2, 11), min_size=1)
    folder = tmp_path_factory.mktemp("both")
    qrels, run = folder / "qrels", folder / "run"
    lines = [f"{query} 0 {document} {grade}\n" for (query, document), grade in data.draw(pairs).items()]
    qrels.write_text("".join(lines), encoding="utf-8")
    lines = [f"{query} 0 {document} 0 {score} t\n" for (query, document), score in data.draw(pairs).items()]
    run.write_text("".join(lines), encoding="utf-8")
    compiled, python = on_both(lambda: trec_eval.main(["-qm", "all_trec", *options, str(qrels), str(run)]))
    assert compiled == python
    assert compiled[0] in (0, 7)


# Defects of trec_eval


def test_release_10_continues_with_missing_queries(run):
    """Queries that the run lacks do not change the output for the other queries."""
    note = (
        "the run lacks 1 of the queries of the qrels, which are left out; trec_eval 10 ends there with status 4; "
        "-c counts them as 0"
    )
    out = run("-q", "-m", "map", *corpus("a"), notes=[note])
    assert out == run("-q", "-m", "map", "--release", "9", *corpus("a"), notes=[])
    missing = {"".join(line.split()[1:2]) for line in golden("a.v10.c.txt").splitlines()} - {
        line.split()[1] for line in out.splitlines()
    }
    assert missing == {"q4-657201"}


def test_gains_that_differ_by_less_than_1_are_ordered(run, files):
    paths = files("q 0 a 3\nq 0 b 2\nq 0 c 1\n", lines_of({"a": 3, "b": 2, "c": 1}))
    for table in ("1=0.2,2=0.5,3=0.9", "3=2.5,2=1.9,1=1.2"):
        note = f"ndcg_{table}: some gains differ by less than 1, and trec_eval does not order them"
        assert run("-m", f"ndcg.{table}", *paths, notes=[note]) == f"{f'ndcg_{table}':<22}\tall\t1.0000\n"
    assert run("-m", "ndcg.1=1,2=2.5,3=7", *paths, notes=[]).endswith("1.0000\n")


def test_rbp_divides_gains_by_the_highest(run, files):
    note = (
        "{}: gains are divided by the highest of each query, with bounds that trec_eval 10 never sets; "
        "the published RBP counts relevant documents: rankgain eval -m rbp"
    )
    graded = files("q 0 a 1\nq 0 b 4\nq 0 c 2\n", lines_of({"a": 3, "b": 2}))
    value = 0.5 * (1 / 4 + 0.5)
    assert (
        run("-m", "rbp.p=0.5", *graded, notes=[note.format("rbp_p=0.5")])
        == f"rbp_p=0.5             \tall\t{value:.4f}\n"
    )
    value = 0.5 * (1 / 16 + 0.5 * 4 / 16)  # the highest grade in the parameters counts, even if no document has it
    assert run("-m", "rbp.p=0.5,9=16", *graded) == f"rbp_p=0.5,9=16        \tall\t{value:.4f}\n"
    binary = files("q 0 a 1\nq 0 b 0\n", lines_of({"a": 3, "b": 2}))
    assert run("-m", "rbp", "-m", "rbp_resid", *binary, notes=[note.format("rbp")]) == (
        "rbp                   \tall\t0.1000\nrbp_resid             \tall\t0.0000\n"
    )


def test_fractional_grades_are_read(run, files):
    paths = files("q 0 a 0.5\nq 0 b 1\n", lines_of({"a": 3, "b": 2}))
    note = "the qrels hold grades with a fraction, which counts here; trec_eval cuts it off"
    value = (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3))
    assert run("-m", "ndcg", *paths, notes=[note]) == f"ndcg                  \tall\t{value:.4f}\n"


def test_undefined_means_are_noted(run):
    note = "iprec_at_recall and 11pt_avg are 0 / 0 for queries of which -J left nothing, and so are their means"
    run("-J", "-m", "11pt_avg", "-m", "iprec_at_recall", *corpus("c"), notes=[note])
    run("-J", "-m", "map", *corpus("c"), notes=[])


def test_num_rel_is_summed(run):
    note = "num_rel: with -c the sum over all queries counts all grades from 1 on, whatever -l says"
    run("-c", "-l2", "-m", "num_rel", *corpus("b"), notes=[note])
    for arguments in (["-l2"], ["-c"], ["-cnq", "-l2"]):
        run(*arguments, "-m", "num_rel", *corpus("b"), notes=[])


def test_first_parameters_of_a_measure_apply(run):
    note = "-m P.10: trec_eval uses only the first parameters of a measure: P.5"
    expected = run("-m", "P.5", *corpus("b"))
    assert run("-m", "P.5", "-m", "P.10", "-m", "P", "-m", "P.5", *corpus("b"), notes=[note]) == expected
    assert "\nP_10 " not in run("-m", "all_trec", "-m", "P.5", *corpus("b"))


# Exit statuses and errors


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["-m", "nope"], 1, "unsupported measure 'nope'"),
        (["-m", "ndcg_cut_10"], 1, "unsupported measure 'ndcg_cut_10'; write 'ndcg_cut.10'"),
        (["-m", "P.0"], 2, "a cut-off must be a positive integer, not '0'"),
        (["--release", "8"], 1, "--release must be 9 or 10, not '8'"),
        (["--release", "11"], 1, "--release must be 9 or 10, not '11'"),
        (["-l", "x"], 1, "-l must be an integer of at least 0, not 'x'"),
        (["-l", "-1"], 1, "-l must be an integer of at least 0, not '-1'"),
        (["-M", "0"], 1, "-M must be an integer of at least 1, not '0'"),
        (["-Z", "z"], 1, "-Z z is an option of trec_eval that rankgain lacks"),
        (["-R", "prefs"], 1, "-R prefs is an option of trec_eval that rankgain lacks"),
        (["-x"], 1, "option -x not recognized\nusage: rankgain trec_eval"),
        (["-l"], 1, "option -l requires argument\nusage: rankgain trec_eval"),
        (["third"], 1, "give a qrels file and a run file; one of them may be -\nusage: rankgain trec_eval"),
    ],
)
def test_usage_errors_are_reported(run, arguments, status, message):
    files = corpus("b") if arguments != ["-l"] else []
    assert message in run(*files, *arguments, status=status)


def test_standard_input_twice_is_rejected(run):
    assert "one of them may be -" in run("-", "-", status=1)
    assert "give a qrels file and a run file" in run(status=1)


@pytest.mark.parametrize(
    ("qrels", "lines", "status", "message"),
    [
        (
            "q 0 d 1\n",
            "q Q0 d 1 1\n",
            2,
            "run.txt: line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 5",
        ),
        ("q 0 d 1\n", "q Q0 d 1 x t\n", 2, "run.txt: line 1, field 5: 'x' is not a number"),
        ("q 0 d nan\n", "q Q0 d 1 1 t\n", 2, "NaN"),
        ("q 0 d 1\n", "p Q0 d 1 1 t\n", 7, "run.txt have no query in common"),
        ("q 0 d 1\n", "", 7, "run.txt have no query in common"),
        ("", "q Q0 d 1 1 t\n", 7, "run.txt have no query in common"),
    ],
)
@in_one_case("options", [[], ["-c"], ["--release", "9"]])
def test_invalid_files_are_reported(backend, run, files, qrels, lines, status, message, options):
    error = run(*options, *files(qrels, lines), status=status)
    assert message in error
    assert error.count("\n") == 1


def test_unreadable_files_are_reported(run, files, tmp_path):
    qrels, path = files("q 0 d 1\n", lines_of({"d": 1}))
    absent = str(tmp_path / "absent")
    for pair in ((qrels, absent), (absent, path)):
        assert run(*pair, status=2) == f"rankgain trec_eval: error: {absent}: No such file or directory\n"
    assert str(tmp_path) in run(qrels, tmp_path, status=2)


def test_help_and_version_are_printed(capsys):
    assert main(["trec_eval", "-h"]) == 0
    out, err = capsys.readouterr()
    assert "--Max_retrieved_per_topic num" in out
    assert " rbp_resid unj\nNicknames: official set all_trec" in out
    assert err == ""
    assert main(["trec_eval", "--release", "9", "--version"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("trec_eval version 9.0.8 (rankgain ")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "trec_eval's options" in capsys.readouterr().out


@pytest.mark.usefixtures("backend")
def test_interpolated_precision_of_a_list_whose_only_document_is_removed(tmp_path):
    """Release 9 prints NaN at recall 0 for a query whose only document is removed."""
    (tmp_path / "qrels").write_text("q 0 d 1\np 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 x 1 1 t\np Q0 d 1 1 t\n")
    options = ["--release", "9", "-q", "-J", "-m", "iprec_at_recall"]
    status, text = trec_eval.main([*options, str(tmp_path / "qrels"), str(tmp_path / "run")])
    assert status == 0
    assert "iprec_at_recall_0.00  \tq\t  -nan\niprec_at_recall_0.10  \tq\t0.0000\n" in text
    assert "iprec_at_recall_0.00  \tall\t  -nan\n" in text
