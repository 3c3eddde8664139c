"""Files of other tools are named for what they are, and errors say what to write instead."""

import pathlib
import pickle
import re
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.marks import in_one_case

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS, RUN = "1 0 10 1\n1 0 11 1\n2 0 10 1\n", "1 Q0 10 1 0.5 t\n2 Q0 10 1 0.5 t\n"
MOVIES = "".join(f"{user}\t{item}\t{1 + user * item % 5}\t{881250949 + item}\n" for user in (1, 2) for item in (10, 11))


@pytest.fixture
def write(tmp_path):
    def write(text, name="file"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def sides(write):
    return write(QRELS, "qrels"), write(RUN, "run")


def error_of(call):
    with pytest.raises(ValueError, match=r".") as error:
        call()
    return str(error.value)


def line_in(message):
    """Return the expression of an error that says what to pass."""
    return re.search(r"pass (pandas\.read_csv.*?\)|\{.*\})(?: to |$)", message)[1]


def test_ratings_with_times(write, sides):
    path = write(MOVIES)
    for call in (lambda: rg.evaluate(path, sides[1], "rr"), lambda: rg.read_trec(path, sides[1])):
        message = error_of(call)
        assert "field 4 holds times, not grades: all are at least 10^8" in message
    frame = eval(line_in(message), {"pandas": pd})
    scores = frame.rename(columns={"rating": "score"})
    assert rg.from_frames(frame, scores).evaluate("rr").mean("rr") == 1.0
    mixed = write(MOVIES + "3 0 10 1\n")
    assert rg.read_trec(mixed, write("3 Q0 10 1 0.5 t\n", "r")).evaluate("rr").mean("rr") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["1 10 3", "1 11 7", "1 12 3", "2 10 1"], "query '1' has a rank twice"),
        (["1 10 1", "2 10 4", "2 11 4"], "query '2' has a rank twice"),
    ],
)
def test_counts_in_place_of_ranks(write, sides, lines, reason):
    for call in (rg.read_trec, lambda *sides: rg.evaluate(*sides, "rr")):
        message = error_of(lambda call=call: call(sides[0], write("\n".join(lines))))
        assert f"field 3 does not hold ranks: {reason}; if it holds scores" in message
    frame = eval(line_in(message), {"pandas": pd})
    qrels = pd.read_csv(sides[0], sep=" ", names=["query_id", "iteration", "doc_id", "relevance"])
    assert rg.from_frames(qrels, frame).evaluate("rr").query_ids == [1, 2]


@pytest.mark.parametrize(
    "lines",
    [
        ["1 10 1", "1 11 2", "2 10 1"],
        ["1 10 2", "1 11 1", "2 10 1"],
        ["1 10 5", "1 11 7", "2 10 4", "2 11 9"],  # below documents that were filtered out
        ["1 10 3", "1 11 2", "2 10 1", "2 11 2"],
        ["1 10 0", "1 11 1"],
    ],
)
def test_ranks_in_any_order_are_read(write, sides, lines):
    assert rg.read_trec(sides[0], write("\n".join(lines))).evaluate("rr").query_ids == ["1", "2"]


def test_remark_on_ranks_that_may_be_counts(write, sides):
    path = write("1 10 13\n1 11 7\n2 10 5\n2 11 2\n3 10 1")
    result = rg.read_trec(sides[0], path).evaluate("rr")
    assert result["rr"].tolist() == [1.0, 0.5]
    (remark,) = result.assumed
    assert (
        "field 3 was read as ranks, which neither start at 1 nor rise in 2 of 3 queries; if it holds scores" in remark
    )
    frame = eval(line_in(remark), {"pandas": pd})
    assert rg.from_frames({"query_id": [1], "doc_id": [10], "relevance": [1]}, frame).evaluate("rr").mean("rr") == 1.0


TRUTH, IN_RUN = "truth", "run"
LAYOUTS = {
    "LightGCN": (TRUTH, "0 10 11\n1 10 12\n", "found 3; if it has ratings"),
    "LightGCN, longer": (TRUTH, "1 10 11 12\n2 10\n", "found 2; if it has interactions"),
    "LightGCN, lists": (TRUTH, "1 10 11 12 13\n2 10\n", "found 5; if it has a list of items per user"),
    "LightGCN as run": (IN_RUN, "1 10 11 12 13\n2 10\n", "if it has a list of items per user, as LightGCN reads"),
    "SASRec": (TRUTH, "1 10\n1 11\n", "found 2; if it has interactions, as SASRec reads them, pass pandas.read_csv"),
    "SASRec with tabs": (TRUTH, "1\t10\n1\t11\n", "line 1: if it has interactions, as SASRec reads them"),
    "LETOR": (TRUTH, "2 qid:1 1:0.03 2:0.5 #docid = GX1\n", "the file has labels and features, as LETOR, but no"),
    "LETOR of two features": (TRUTH, "2 qid:1 1:0.03 2:0.5\n", "field 4: '2:0.5' is not a number; the file has labels"),
    "LETOR as run": (IN_RUN, "2 qid:1 1:0.03 2:0.5\n", "sklearn.datasets.load_svmlight_file"),
    "ColBERT": (IN_RUN, "1\t10\t1\t23.5\n1\t11\t2\t22.1\n", "found 4; if it is a ranking that ColBERT wrote, pass"),
    "ColBERT without ranks": (IN_RUN, "1\t10\t-1\n", "line 1, field 3: a rank must not be negative; ColBERT writes -1"),
    "ColBERT, later": (IN_RUN, "1\t10\t1\n1\t11\t-1\n", "line 2, field 3: a rank must not be negative"),
    "decimal comma": (IN_RUN, "1 Q0 10 1 0,5 t\n", "line 1: a number has a decimal comma: write a point, as by tr"),
    "decimal comma, qrels": (TRUTH, "1 0 10 0,5\n", "line 1: a number has a decimal comma"),
    "decimal comma, later": (IN_RUN, RUN + "2 Q0 11 1 0,5 t\n", "line 3, field 5: '0,5' is not a number; a number has"),
    "decimal comma, CSV": (
        IN_RUN,
        "qid;docid;score\n1;10;0,5\n",
        "row 0: '0,5' is not a number; a number has a decimal",
    ),
    "commas": (IN_RUN, "1,Q0,10,1,0.5,t\n", "line 1: the fields are separated by commas, and the file has no header"),
    "commas, qrels": (TRUTH, "1,0,10,1\n", "the fields are separated by commas, and the file has no header"),
    "commas and blanks": (IN_RUN, "1, Q0, 10, 1, 0.5, t\n", "is text with commas between its fields: write blanks"),
    "commas and blanks, qrels": (TRUTH, "1, 0, 10, 1\n", "is text with commas between its fields: write blanks"),
    "CR": (IN_RUN, RUN.replace("\n", "\r"), "line 1: expected 6 fields (…), found 12; the lines end with CR alone"),
    "CR, qrels": (TRUTH, QRELS.replace("\n", "\r"), "the lines end with CR alone: convert them, as by tr"),
    "CR, CSV": (IN_RUN, "qid,docid,score\r1,10,0.5\r", "line 1: the lines end with CR alone"),
    "a long header": (
        IN_RUN,
        f"qid,docid,score,{'x' * 140000}\n1,10,1,1\n",
        "line 1: the names of the columns cannot be",
    ),
    "underscore": (TRUTH, "1 0 10 1_0\n", "line 1, field 4: '1_0' is not a number"),
    "underscore, CSV": (TRUTH, "qid,docid,relevance\n1,10,1_0\n", "column 'relevance', row 0: '1_0' is not a number"),
    "Git LFS": (TRUTH, "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "is a pointer of Git LFS"),
    "HTML": (TRUTH, "<!DOCTYPE html>\n<html>\n", "is an HTML page instead of the file: download the raw file"),
    "HTML with a comma": (TRUTH, "\n<html lang='en' data='a,b'>\n", "is an HTML page instead of the file"),
    "pickle": (TRUTH, pickle.dumps({"q": {"d": 1}}), "is a pickle: pass pickle.load(open(path, 'rb'))"),
    "pickle, protocol 2": (TRUTH, pickle.dumps({"q": {"d": 1}}, 2), "is a pickle: pass pickle.load"),
}


@in_one_case("name", LAYOUTS)
def test_layouts_of_other_tools(write, sides, name):
    side, text, message = LAYOUTS[name]
    path = write(text)
    error = error_of(lambda: rg.evaluate(*((path, sides[1]) if side == TRUTH else (sides[0], path)), "rr"))
    assert re.search(re.escape(message).replace("…", ".*"), error)
    assert "\n" not in error
    if message.startswith("is "):
        assert message in error_of(lambda: rg.from_frames(path, path))
        assert message in error_of(lambda: rg.read_trec(sides[0], path))


@pytest.mark.parametrize("text", [QRELS, "q1 0 d1 1\n"])
def test_swapped_files_are_still_named(write, sides, text):
    assert error_of(lambda: rg.read_trec(sides[0], write(text))).endswith("found 4; are qrels and run swapped?")


def test_arrays_and_workbooks(write, sides, tmp_path):
    array, archive, workbook = (tmp_path / f"a.{kind}" for kind in ("npy", "npz", "xlsx"))
    np.save(array, np.zeros((2, 2)))
    np.savez(archive, scores=np.zeros(2))
    with zipfile.ZipFile(workbook, "w") as parts:
        parts.writestr("[Content_Types].xml", "<Types/>")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as parts:
        parts.writestr("run.txt", RUN)
    for path, message in [
        (array, "is a NumPy array: pass numpy.load(path)"),
        (archive, "is a NumPy archive: pass an array of numpy.load(path)"),
        (workbook, "is an Excel workbook: pass pandas.read_excel(path)"),
        (tmp_path / "a.zip", "is a zip archive: extract the file"),
    ]:
        assert message in error_of(lambda path=path: rg.evaluate(path, sides[1], "rr"))


def test_the_lines_for_other_layouts_work(write):
    lists, pairs, ranking = (
        write("1 10 11 12 13\n2 10\n"),
        write("1 10\n1 11\n", "pairs"),
        write("1\t10\t1\t2.5\n", "c"),
    )
    truth = eval(line_in(error_of(lambda: rg.judgments(lists))), {"pathlib": pathlib})
    assert rg.evaluate(truth, {"1": ["10"], "2": ["11"]}, "rr").mean("rr") == 0.5
    frame = eval(line_in(error_of(lambda: rg.judgments(pairs))), {"pandas": pd})
    run = eval(line_in(error_of(lambda: rg.read_trec(write(QRELS, "q"), ranking))), {"pandas": pd})
    assert rg.evaluate(frame, run, "rr").mean("rr") == 1.0


STRINGS = pa.list_(pa.string())
COLUMNS = {
    "map": (pa.map_(pa.string(), pa.float64()), [("a", 1.0)]),
    "struct": (pa.struct([("a", pa.float64()), ("b", pa.float64())]), {"a": 1.0, "b": None}),
    "empty struct": (pa.struct([]), {}),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("batches", [["v", ""], ["", "v"], ["v", "00"], ["00", "v"], ["v0", "00", ""]])
def test_batches_of_nulls_and_empty_batches(kind, batches, tmp_path):
    dtype, value = COLUMNS[kind]
    schema = pa.schema([("id", pa.string()), ("relevant", dtype), ("retrieved", STRINGS)])
    rows = [[value if each == "v" else None for each in batch] for batch in batches]
    parts = [
        pa.record_batch(
            [
                pa.array([f"q{number}-{row}" for row in range(len(values))], pa.string()),
                pa.array(values, dtype),
                pa.array([["a"]] * len(values), STRINGS),
            ],
            schema=schema,
        )
        for number, values in enumerate(rows)
    ]
    result = rg.evaluate(pa.Table.from_batches(parts, schema), "rr")
    assert result["rr"].tolist() == [0.0 if kind == "empty struct" else 1.0]
    assert result.counts["unjudged"] == "".join(batches).count("0")
