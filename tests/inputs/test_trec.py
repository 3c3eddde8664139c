"""TREC files from any source and in any valid spelling give the same values as dicts, and errors name the line."""

import errno
import gzip
import io
import json
import math
import os
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from threading import Thread
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.engine import scanned
from support.evaluating import evaluate_lines
from support.marks import in_one_case, quick_first
from support.memory import measured
from support.strategies import examples

import rankgain as rg
from rankgain import _backend, _codes
from rankgain.data import files as read_files
from rankgain.data import lines as read_lines
from rankgain.data.judgments import judgment_sets
from rankgain.errors import quoted
from rankgain.rankings import sizes_of

METRICS = ["ndcg", "ndcg@2", "dcg(gain=exponential)@3", "rr@3", "rr(rel=2)", "rr(rel=0)@2"]
TIES = ["docid", "average", "stable", "best", "worst"]
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
RUN = b"q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.9 t\nq2 Q0 d1 1 1 t\n"
SCATTERED = b"q1 Q0 d1 1 0.5 t\nq2 Q0 d1 1 1 t\nq1 Q0 d2 2 0.9 t\n"
RR = [0.5, 1.0]  # reciprocal ranks of both runs

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders there")


# Sources of the files


class Trickle:
    """A file whose only method is `read`, which returns a few bytes at a time."""

    def __init__(self, data, most):
        self._left, self._most = data, most

    def read(self, size=-1):
        size = min(size if size >= 0 else self._most, self._most)
        data, self._left = self._left[:size], self._left[size:]
        return data


class Generous(Trickle):
    """A file whose `read` returns more bytes than requested."""

    def read(self, size=-1):
        return super().read(33)


class Wrapped:
    """A file wrapped as tqdm wraps it: `read` is replaced, and other attributes are those of the file."""

    def __init__(self, file):
        self._file = file
        self.taken = 0

    def read(self, *sizes):
        data = self._file.read(*sizes)
        self.taken += len(data)
        return data

    def __getattr__(self, name):
        return getattr(self._file, name)


def members(data):
    """Compress the data into a gzip file with several members."""
    return b"".join(gzip.compress(data[at : at + 20], 1) for at in range(0, len(data), 20)) or gzip.compress(b"")


def in_folder(name, data):
    path = Path(name)
    path.write_bytes(data)
    return path


CARRIERS = {
    "path": lambda name, data: in_folder(name, data),
    "text path": lambda name, data: str(in_folder(name, data)),
    "gzip": lambda name, data: in_folder(name, gzip.compress(data, 1)),
    "members": lambda name, data: in_folder(name, members(data)),
    "BytesIO": lambda name, data: io.BytesIO(data),
    "gzip in BytesIO": lambda name, data: io.BytesIO(members(data)),
    "GzipFile": lambda name, data: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data, mtime=0))),
    "wrapped": lambda name, data: Wrapped(io.BytesIO(data)),
    "one byte": lambda name, data: Trickle(data, 1),
    "few bytes": lambda name, data: Trickle(data, 50),
    "members, one byte": lambda name, data: Trickle(members(data), 1),
    "generous": lambda name, data: Generous(data, 33),
    "members, generous": lambda name, data: Generous(members(data), 33),
}
carriers = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=CARRIERS)
blocks = in_one_case("block", [1, 2, 17, 18, 40, 1 << 20])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def reciprocal_ranks(qrels, run, **options):
    return rg.read_trec(qrels, run, **options).evaluate("rr")["rr"].tolist()


def seen(result):
    """Return the contents of an Evaluation for comparison."""
    vectors = {str(metric): vector.tobytes() for metric, vector in result.items()}
    return list(result.query_ids), vectors, result.counts


def line_read_otherwise(ranks_of, run):
    """Name the first line with which the ranks are not those of the documents in the lines up to it."""
    scores, judged = {}, {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    lines = run.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        query, _, document, _, score, _ = line.decode().split()
        scores.setdefault(query, {})[document] = float(score)
        if ranks_of(b"".join(lines[:number])) != rg.from_qrels(judged, scores).evaluate("rr")["rr"].tolist():
            return f"line {number} is read otherwise: {line!r}"
    return "each line is read as it is if no line follows"


@carriers
@pytest.mark.parametrize("run", quick_first([SCATTERED, RUN]), ids=["scattered", "together"])
@blocks
def test_files_of_every_kind_are_read_alike(backend, monkeypatch, carrier, run, block):
    def ranks_of(run):
        return reciprocal_ranks(carrier("qrels", QRELS), carrier("run", run))

    monkeypatch.setattr(read_files, "BLOCK", block)
    ranks = ranks_of(run)
    assert ranks == RR, f"rr by query: {ranks}, expected {RR}; {line_read_otherwise(ranks_of, run)}"
    assert reciprocal_ranks(rg.judgments(carrier("qrels", QRELS)), carrier("run", run)) == RR


@pytest.mark.parametrize("run", [b"q1 Q0 d1 1 1 t\n", b"q1 Q0 d1 1 1 t\nq2 Q0 d 1 1 t\nq1 Q0 d 1 0 t\n"])
def test_open_gzip_file_of_few_bytes_is_read(backend, run):
    """The only size available from the system is that of the compressed file."""
    with gzip.open("run.gz", "wb", 0) as file:
        file.write(run)
    assert os.path.getsize("run.gz") > len(run)
    with gzip.open("run.gz") as file:
        assert reciprocal_ranks(io.BytesIO(QRELS), file) == [1.0, 0.0]
        assert not file.closed


@pytest.mark.parametrize("run", [RUN, SCATTERED], ids=["together", "scattered"])
@pytest.mark.parametrize("buffering", [0, -1])
def test_open_file_is_read_from_its_position(backend, run, buffering):
    Path("run").write_bytes(b"this is no run\n" + run)
    with open("run", "rb", buffering=buffering) as file:
        file.seek(15)
        assert reciprocal_ranks(io.BytesIO(QRELS), file) == RR
        assert not file.closed


def test_file_without_a_name_is_named_by_its_argument(backend):
    Path("file").write_bytes(b"q")
    packed = io.BytesIO(gzip.compress(b"q"))
    for nameless in (io.BytesIO(b"q"), packed, gzip.GzipFile(fileobj=packed)):  # the name of the GzipFile is ""
        packed.seek(0)
        with pytest.raises(ValueError, match=r"^run: line 1: expected .*, found 1"):
            rg.read_trec(io.BytesIO(QRELS), nameless)
    with pytest.raises(ValueError, match=r"^run: line 1: "), os.fdopen(os.open("file", os.O_RDONLY), "rb") as file:
        rg.read_trec(io.BytesIO(QRELS), file)
    with os.scandir(b".") as entries, pytest.raises(ValueError, match=r"^\.[/\\\\]file: line 1: "):
        rg.read_trec(io.BytesIO(QRELS), next(entries))


@posix
@pytest.mark.parametrize("run", [RUN, SCATTERED], ids=["together", "scattered"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, members])
def test_named_pipes_are_read(backend, run, pack):
    os.mkfifo("pipe")

    def write():
        with open("pipe", "wb", buffering=0) as pipe:
            for at in range(len(pack(run))):
                pipe.write(pack(run)[at : at + 1])

    writer = Thread(target=write)
    writer.start()
    assert reciprocal_ranks(io.BytesIO(QRELS), "pipe") == RR
    writer.join()


@pytest.mark.parametrize("pack", quick_first([gzip.compress, bytes]))
@pytest.mark.parametrize("run", quick_first([SCATTERED, RUN]), ids=["scattered", "together"])
@pytest.mark.parametrize("how", quick_first(["pipe", "file", "file from the middle"]))
@pytest.mark.parametrize("side", quick_first(["run", "qrels"]))
def test_standard_input_is_read(backend, pack, run, how, side):
    Path("qrels").write_bytes(QRELS)
    Path("run").write_bytes(run)
    command = [sys.executable, "-m", "rankgain", "eval", "qrels", "run", "--json", "--per-query", "-m", "rr"]
    command[command.index(side)] = "-"
    data = pack(Path(side).read_bytes())
    options = {"capture_output": True, "env": os.environ | {"RANKGAIN_BACKEND": backend}}
    if how == "pipe":
        result = subprocess.run(command, input=data, **options)
    else:
        Path("input").write_bytes(b"no line\n" * (how != "file") + data)
        with open("input", "rb", buffering=0) as file:
            file.seek(8 * (how != "file"))
            result = subprocess.run(command, stdin=file, **options)
    assert result.stderr == b""
    output = json.loads(result.stdout)
    assert [output["queries"][query]["rr"] for query in ("q1", "q2")] == RR
    assert output["backend"] == backend


def test_missing_standard_input_is_rejected(backend, monkeypatch):
    with pytest.raises(ValueError, match="cannot both be standard input"):
        rg.read_trec("-", "-")
    for absent in (None, io.StringIO("")):
        monkeypatch.setattr(sys, "stdin", absent)
        with pytest.raises(ValueError, match="qrels is standard input"):
            rg.read_trec("-", "run")
        with pytest.raises(ValueError, match="run is standard input"):
            rg.read_trec(io.BytesIO(QRELS), "-")


# Valid spellings of lines

SPACES = [b" ", b"\t", b"  ", b"\x0b", b" \x0c", b"\r", b" \t "]
NOISE = [b"", b"# q1 0 d1 1", b"\t#", b" \t", b"\r", b"#\x00\xff", b"#q1 Q0 d1 1 1 t"]
queries = st.sampled_from([b"q1", b"q2", b"q10", "é".encode(), b"q\xff", b"q#", b"301", b"q\x00"])
words = st.sampled_from([b"d1", b"d2", b"d10", b"d", "é".encode(), "\U0001f600".encode(), b"\xff", b"\xff\xfe", b"#d"])
grades = st.integers(-1, 3) | st.sampled_from([0.5, 2.25])
scores = st.integers(-1, 2) | st.floats(allow_nan=False)


def rows(values, least=0):
    rows = st.lists(st.tuples(queries, words, values), min_size=least, max_size=25, unique_by=lambda row: row[:2])
    return st.tuples(rows, st.booleans()).map(lambda drawn: drawn[0] if drawn[1] else together(drawn[0]))


def together(rows):
    """Return the rows sorted so that each query is contiguous."""
    order = list(dict.fromkeys(query for query, _, _ in rows))
    return sorted(rows, key=lambda row: order.index(row[0]))


def dicts(rows):
    """Return the rows as dicts of dicts; document ids stay bytes, since ids are compared as bytes."""
    table = {}
    for query, document, value in rows:
        table.setdefault(query.decode("utf-8", "surrogateescape"), {})[document] = float(value)
    return table


class Writer:
    """Write rows as lines in randomly chosen valid spellings."""

    def __init__(self, seed, numbers=("{!r}", "{:.17g}", "{:+}", "{:.20e}")):
        self._random = random.Random(seed)
        self._numbers = numbers

    def _line(self, *fields):
        pick = self._random.choice
        line = b"".join(field + pick(SPACES) for field in fields)
        return pick([b"", b"", pick(SPACES)]) + (line if self._random.random() < 0.5 else line.rstrip())

    def _number(self, value):
        return self._random.choice(self._numbers).format(value).encode()

    def line(self, row, is_run):
        query, document, value = row
        if not is_run:
            return self._line(query, b"0", document, self._number(value))
        return self._line(query, b"Q0", document, b"1", self._number(value), b"tag")

    def text(self, lines):
        """Join lines with blank lines and comments in between; return the text and the number of each line."""
        texts, numbers, count = [b"\xef\xbb\xbf"] if self._random.random() < 0.2 else [], [], 0
        for line in lines:
            while self._random.random() < 0.2:
                texts.append(self._random.choice(NOISE) + b"\n")
                count += 1
            count += 1
            numbers.append(count)
            texts.append(line + b"\n")
        data = b"".join(texts)
        return data.removesuffix(b"\n") if self._random.random() < 0.3 else data, numbers

    def carry(self, name, data):
        return self._random.choice([*CARRIERS.values()])(name, data)


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 200)


@given(rows(grades, 1), rows(scores), seeds, sizes, st.sampled_from(TIES), st.sampled_from(["zero", "skip"]))
def test_files_equal_dicts(backend, judged, returned, seed, block, ties, missing):
    writer = Writer(seed)
    qrels, run = dicts(judged), dicts(returned)
    data = [
        writer.text([writer.line(row, is_run) for row in rows])[0] for is_run, rows in enumerate((judged, returned))
    ]
    files = [writer.carry(name, content) for name, content in zip(("qrels", "run"), data, strict=True)]
    with patch.object(read_files, "BLOCK", block):
        if not qrels.keys() & run.keys():
            with pytest.raises(ValueError, match="have no query in common"):
                rg.read_trec(*files, ties=ties, missing=missing)
            return
        rankings = rg.read_trec(*files, ties=ties, missing=missing)
    expected = rg.from_qrels(qrels, run, ties=ties, missing=missing)
    assert sizes_of(rankings).tolist() == sizes_of(expected).tolist()
    assert seen(rankings.evaluate(*METRICS)) == seen(expected.evaluate(*METRICS))


def broken(row, how, side):
    """Return an invalid line and the part of the error message after the line number."""
    query, document, _ = row
    text = document.decode("utf-8", "surrogateescape")
    start = b" ".join([query, b"Q0", document])
    return {
        ("few", "run"): (start + b" 1 2.5", ": expected 6 fields (query, Q0, document, rank, score, tag), found 5"),
        ("word", "run"): (start + b"\t1\t2x\ttag", ", field 5: '2x' is not a number"),
        ("NaN", "run"): (start + b" 1 -nan tag", ", field 5: the score is NaN; "),
        ("again", "run"): (start + b" 1 7 tag", f", field 3: {text!r} already appears in an earlier line of "),
        ("few", "qrels"): (start, ": expected 4 fields (query, iteration, document, grade), found 3"),
        ("word", "qrels"): (start + b" 2x", ", field 4: '2x' is not a number"),
        ("NaN", "qrels"): (start + b" inf", ", field 4: the grade is infinite"),
        ("again", "qrels"): (start + b" 1", f", field 3: {text!r} already appears in an earlier line of "),
    }[how, side]


@pytest.mark.parametrize("side", ["run", "qrels"])
@given(rows(grades, 1), rows(scores, 1), seeds, sizes, st.sampled_from(["few", "word", "NaN", "again"]), st.data())
def test_error_names_the_line(backend, side, judged, returned, seed, block, how, data):
    writer = Writer(seed)
    lines = {
        name: [writer.line(row, name == "run") for row in rows] for name, rows in (("qrels", judged), ("run", returned))
    }
    side_rows = returned if side == "run" else judged
    row = data.draw(st.integers(0, len(side_rows) - 1))
    insert_at = data.draw(st.integers(row + 1, len(side_rows)))
    line, message = broken(side_rows[row], how, side)
    lines[side].insert(insert_at, line)
    texts = {name: writer.text(written) for name, written in lines.items()}
    with patch.object(read_files, "BLOCK", block), pytest.raises(ValueError, match=f"{side}: line") as caught:
        rg.read_trec(*(writer.carry(name, text) for name, (text, _) in texts.items()))
    assert str(caught.value).startswith(f"{side}: line {texts[side][1][insert_at]}{message}")


def test_queries_without_judged_documents_are_evaluated(backend):
    truth = rg.judgments({"q1": {}, "q2": {"d1": 1}})
    assert reciprocal_ranks(truth, in_folder("run", RUN)) == [0.0, 1.0]


def test_only_ascii_white_space_separates_fields(backend):
    qrels, run = ("q\u00a01 0 d\u2003 1\x1c\n", "q\u00a01 Q0 d\u2003 1 1 t\x85\n")
    with pytest.raises(ValueError, match=r"qrels: line 1, field 4: '1\\x1c' is not a number"):
        rg.read_trec(io.BytesIO(qrels.encode()), io.BytesIO(run.encode()))
    rankings = rg.read_trec(io.BytesIO(qrels.replace("\x1c", "").encode()), io.BytesIO(run.encode()))
    assert list(rankings.query_ids) == ["q\u00a01"]
    assert rankings.evaluate("rr")["rr"].tolist() == [1.0]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@in_one_case("text", [b"", b"q", b"\xef\xbb", b"#", b"\n"])
def test_texts_shorter_than_a_byte_order_mark_are_read(backend, mark, pack, text):
    """No byte is lost, and the byte order mark is never part of an id."""
    fields = len(text.split()) * (text != b"#")
    message = f"run: line 1: expected 6 fields .*, found {fields}$" if fields else "no query in common"
    with pytest.raises(ValueError, match=message):
        rg.read_trec(io.BytesIO(QRELS), io.BytesIO(pack(mark + text)))
    assert list(rg.judgments(io.BytesIO(pack(mark + QRELS))).query_ids) == ["q1", "q2"]


# fmt: off
NUMBERS = [
    "0", "-0", "+0", "1", "-1", "+1", "007", "1.", ".5", "-.5", "+.5e1", "1e3", "1E+3", "1e-3", "123456789012345",
    "1234567890123456", "9007199254740993", "9007199254740992.5", "18446744073709551615", "18446744073709551616",
    "0.1", "0.30000000000000004", "1.7976931348623157e308", "5e-324", "2.4703282292062327e-324", "1e999", "-1e999",
    "1e-999", "inf", "-Inf", "+infinity", "INFINITY", "1" * 400, "0." + "3" * 400, "0" * 50 + "1.5", "1" + "0" * 25,
    "0.000000000000000000000000001", "12.345678901234567", "999999999999999.9", "9999999999999999999",
    "4503599627370496.5", "4503599627370497.5", "9007199254740991.5", "0.9999999999999999999", "0.5000000000000001",
    "12.1234567", "1.12345678", "-1234567.8", "1234567.", "1.00000000000000011102230246251565404236",
]
NO_NUMBERS = [
    "", "-", "+", ".", "-.", "e", "e5", "1e", "1e+", "--1", "+-1", "1.2.3", "1..2", "0x10", "0x1p3", "1_000", "1,5",
    "1f", "1d", "infin", "in", "1\x00", "\x001", "１", "1" * 400 + "x", "0b1", "1e5.0", "1/2", "1:.5", "1.5:", "$1",
    "true", "None",
]
# fmt: on


@in_one_case("text", NUMBERS)
def test_numbers_are_read_like_float(backend, text):
    """A number in a file equals `float()` of its text, both as a score and as a grade."""
    number = float(text)
    run = f"q1 Q0 low 1 {text} t\nq1 Q0 d1 1 {number!r} t\n"  # for equal scores, the higher id comes first
    assert reciprocal_ranks(io.BytesIO(b"q1 0 d1 1"), io.BytesIO(run.encode()), ties="worst") == [0.5]
    assert reciprocal_ranks(io.BytesIO(b"q1 0 d1 1"), io.BytesIO(run.encode()), ties="best") == [1.0]
    qrels = io.BytesIO(f"q1 0 d1 {text}\nq1 0 d2 1\n".encode())
    if number in (float("inf"), float("-inf")):
        with pytest.raises(ValueError, match="qrels: line 1, field 4: the grade is infinite"):
            rg.read_trec(qrels, io.BytesIO(run.encode()))
    else:
        truth = rg.judgments(qrels)
        assert str(judgment_sets(truth).grades.tolist()) == str([number, 1.0])


@in_one_case("text", NO_NUMBERS[1:])
def test_invalid_numbers_are_rejected(backend, text):
    for name, line, field in [("qrels", "q1 0 d1 {}\n", 4), ("run", "q1 Q0 d1 1 {} t\n", 5)]:
        sides = {"qrels": io.BytesIO(QRELS), "run": io.BytesIO(RUN), name: io.BytesIO(line.format(text).encode())}
        with pytest.raises(ValueError, match=f"{name}: line 1, field {field}: ") as caught:
            rg.read_trec(**sides)
        assert f"{quoted(text)} is not a number" in str(caught.value)


@pytest.mark.both
@given(st.floats(0, 1e18, allow_subnormal=False), st.integers(15, 21), st.booleans())
@example(4503599627370496.0, 19, True)
def test_decimals_are_rounded_correctly(on_both, number, digits, between):
    """Decimals are rounded correctly even next to the midpoint of two floats, where the last digit decides."""
    exact = Decimal(number)
    if between:
        exact = (exact + Decimal(math.nextafter(number, math.inf))) / 2
    text = f"{exact:f}"[:digits]
    compiled, python = on_both(lambda: scanned(read_lines.RUN, f"q Q0 d 1 {text} t\nq Q0 e 1 -{text} t".encode()))
    assert compiled == python
    assert f"[{float(text)!r}, {-float(text)!r}]" in python


@st.composite
def mutated(draw):
    """Draw a file in which a few bytes are changed, dropped, doubled or moved."""
    data = bytearray(
        draw(st.sampled_from([QRELS, RUN, SCATTERED, b"", b"#\n" + RUN * 2, QRELS.replace(b"\n", b"\r\n")]))
    )
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(data)))
        stop = at + draw(st.integers(0, 4))
        data[at:stop] = draw(
            st.binary(max_size=3) | st.sampled_from([b"\n", b" ", b"#", b"\x00", b"1e5", data[at : at + 9]])
        )
    return bytes(data)


scores_of_any_sort = st.from_regex(rb"[+-]?[0-9]{0,21}(\.[0-9]{0,21})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
scores_of_any_sort |= st.sampled_from(
    [b"nan", b"inf", b"-Infinity", b"x", b"1_0", b"-", b".", b"1e", b"0x1", "١".encode(), b"-0"]
)
# Numbers are read eight bytes at a time, but only if eight bytes remain in the data.
decimals_near_the_end = st.builds(
    lambda whole, fraction, sign, form, tag: f"q Q0 d 1 {sign}{form.format(whole, fraction)} {'t' * tag}".encode(),
    st.integers(0, 10**10).map(str),
    st.integers(0, 10**10).map(str) | st.just(""),
    st.sampled_from(["", "-"]),
    st.sampled_from(["{}.{}", "{0}", ".{1}", "{}.{}.", "{}x{}", "{}. {}", "{}.{}e5", "{}-{}", "{}/{}", "{}:{}"]),
    st.integers(0, 9),
)


@pytest.mark.both
@examples(4)
@given(
    mutated()
    | st.binary(max_size=60)
    | scores_of_any_sort.map(lambda score: b"q Q0 d 1 " + score + b" t")
    | decimals_near_the_end
)
def test_scanners_of_both_backends_agree(on_both, data):
    for form in (read_lines.RUN, read_lines.QRELS, read_lines.MSMARCO_RUN, read_lines.BEIR_QRELS):
        compiled, python = on_both(lambda form=form: scanned(form, data))
        assert compiled == python


@pytest.mark.both
@given(mutated(), mutated(), sizes)
def test_files_of_any_bytes_give_equal_results_on_both_backends(on_both, qrels, run, block):
    """Values and error messages are the same for any bytes, block size and number of threads."""

    def outcome(threads):
        try:
            return seen(rg.read_trec(io.BytesIO(qrels), io.BytesIO(run), threads=threads).evaluate(*METRICS))
        except ValueError as error:
            return str(error)

    whole = on_both(lambda: outcome(1))
    with patch.object(read_files, "BLOCK", block):
        parts = [result for threads in (1, 2, 4) for result in on_both(lambda: outcome(threads))]  # noqa: B023
    assert whole[0] == whole[1]
    assert parts == parts[:1] * 6
    # The block size may change which of several errors is raised, but not whether an error is raised.
    assert isinstance(parts[0], str) == isinstance(whole[0], str)
    assert parts[0] == whole[0] or isinstance(whole[0], str)


def shuffled(data):
    lines = data.splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    return b"".join(lines)


# Errors while reading files


@carriers
@pytest.mark.parametrize("run", quick_first([SCATTERED, RUN]), ids=["scattered", "together"])
def test_files_are_closed_after_an_error(backend, monkeypatch, carrier, run):
    opened = []

    def recorded(*args, **options):
        opened.append(open(*args, **options))  # noqa: SIM115
        return opened[-1]

    monkeypatch.setattr(read_files, "open", recorded, raising=False)
    monkeypatch.setattr(read_files, "BLOCK", 20)
    with pytest.raises(ValueError, match=r"run: line 4, field 3: 'd2' already appears in an earlier line"):
        rg.read_trec(carrier("qrels", QRELS), carrier("run", run + b"q1 Q0 d2 1 1 t"))
    assert all(file.closed for file in opened)


PACKED = gzip.compress(RUN, mtime=0)


@in_one_case("carrier", ["path", "BytesIO", "few bytes"])
@pytest.mark.parametrize(
    "data",
    [PACKED[:size] for size in (2, 3, 9, 10, 11, len(PACKED) - 9, len(PACKED) - 8, len(PACKED) - 1)]
    + [PACKED + PACKED[:2], PACKED + PACKED[:-1], PACKED + b"q1 Q0 d3 1 1 t\n", PACKED[:-8] + bytes(8)]
    + [PACKED[:15] + b"\xff\xff\xff" + PACKED[18:], b"\x1f\x8b\x00" + PACKED[3:]],
    ids=[
        *(f"cut at {size}" for size in ("2", "3", "9", "10", "11", "-9", "-8", "-1")),
        "head of a member behind",
        "cut member behind",
        "text behind",
        "no checksum",
        "damaged block",
        "unknown method",
    ],
)
def test_damaged_gzip_is_rejected(backend, monkeypatch, carrier, data):
    monkeypatch.setattr(read_files, "BLOCK", 20)
    with pytest.raises(ValueError, match="run: the gzip data are damaged or cut off") as caught:
        rg.read_trec(io.BytesIO(QRELS), CARRIERS[carrier]("run", data))
    assert type(caught.value) is ValueError
    with pytest.raises(ValueError, match=r"^(truth|qrels): the gzip data are damaged"):
        rg.judgments(CARRIERS[carrier]("qrels", data))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_file_that_becomes_shorter_is_rejected(backend, monkeypatch, pack):
    """A truncated file is refused even if it ends after a complete line."""

    class Shrinking(io.FileIO):
        def read(self, size=-1):
            data = super().read(size)
            os.truncate(self.name, len(data))
            return data

    monkeypatch.setattr(read_files, "BLOCK", 5)
    Path("run").write_bytes(pack(RUN))
    with Shrinking("run", "rb") as file:
        message = rf"run became shorter while it was read: \d+ bytes of {len(pack(RUN))}"
        with pytest.raises(ValueError, match=message):
            rg.read_trec(io.BytesIO(QRELS), file)


@pytest.mark.parametrize("after", [0, 2, 5, 100])
@pytest.mark.parametrize("run", [RUN, members(RUN)])
def test_exception_of_read_is_raised_unchanged(backend, monkeypatch, after, run):
    """An exception from `read` is raised unchanged, except that an OSError receives the file name."""

    class Failing(Trickle):
        def read(self, size=-1):
            data = super().read(size)
            if len(self._left) <= len(run) - after or not data:
                raise self.error
            return data

    monkeypatch.setattr(read_files, "BLOCK", 20)
    for error in (OSError(errno.EIO, "Input/output error"), OSError("odd"), KeyError("x"), KeyboardInterrupt()):
        file = Failing(run, 1)
        file.error = error
        with pytest.raises(type(error)) as caught:
            rg.read_trec(io.BytesIO(QRELS), file)
        assert caught.value is error
        if isinstance(error, OSError):
            assert str(error) == ("odd" if error.errno is None else f"[Errno {errno.EIO}] Input/output error: 'run'")


@pytest.mark.parametrize("wrong", [b"", b"q1 Q0\n"])
@pytest.mark.usefixtures("backend")
def test_path_that_becomes_shorter_is_rejected_after_the_lines_that_were_read(monkeypatch, wrong):
    text = RUN + wrong + b"# a comment\n" * 60 + b"q1 Q0 d9"
    run = in_folder("run", text)
    size_of = read_files._size
    monkeypatch.setattr(read_files, "_size", lambda file: (size_of(file) or -5) + 5)
    message = "run: line 4: expected 6 fields" if wrong else f"run became shorter .*: {len(text)} bytes of"
    with pytest.raises(ValueError, match=message):
        rg.read_trec(io.BytesIO(QRELS), run)


# Memory use


def long_run(queries, documents):
    body = b"".join(b"%%(q)s Q0 D%d %d %.3f tag\n" % (i * 7919 % 99991, i, 1 / i) for i in range(1, documents + 1))
    return b"".join(body % {b"q": b"q%d" % query} for query in range(queries))


@pytest.mark.parametrize("change", [bytes, lambda run: shuffled(run)], ids=["together", "scattered"])
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("pack", quick_first([bytes, gzip.compress]))
def test_memory_is_the_text_and_100_bytes_per_line(monkeypatch, change, threads, pack):
    """While a run is read, its text, the columns and the runs of rows exist once, whatever the number of threads."""
    monkeypatch.setattr(read_files, "BLOCK", 1 << 14)
    monkeypatch.setattr(read_lines, "LINE", 1 << 14)
    lines, qrels = 300 * 50, rg.judgments(io.BytesIO(b"q0 0 D7919 1\n"))
    text = change(long_run(300, 50))
    run = in_folder("run", pack(text))
    rankings, peak = measured(lambda: rg.read_trec(qrels, run, threads=threads))
    assert rankings.evaluate("rr").mean() == {"rr": 1.0}
    per_line = 100 if _backend.name == "compiled" else 300  # the reference splits the text into lines
    assert peak < 1.13 * len(text) + per_line * lines + 200_000


@pytest.mark.slow
@pytest.mark.parametrize("together", [True, False])
def test_many_queries_are_matched(backend, together):
    """A run may have more queries than the initial capacity of the table of names."""
    names = [b"query-%d" % number for number in range(1500)]
    lines = [(name, b"d%d" % number) for name in names for number in range(3)]
    if not together:
        random.Random(1).shuffle(lines)
    run = b"".join(b"%s Q0 %s 0 %s t\n" % (*line, line[1][1:]) for line in lines)
    qrels = b"".join(b"%s 0 d%d 1\n" % (name, number % 3) for number, name in enumerate(names))
    assert reciprocal_ranks(io.BytesIO(qrels), io.BytesIO(run)) == [1 / (3 - number % 3) for number in range(1500)]


@pytest.mark.parametrize("run", [RUN, SCATTERED], ids=["together", "scattered"])
def test_ids_of_equal_hashes_are_compared(backend, monkeypatch, run):
    """If hashes are equal, the reader compares the ids themselves."""
    looked = []
    repeated = read_lines._backend.columns.repeated

    def suspicious(data, starts, ends, offsets):
        if len(starts):  # these ids are from the qrels
            return repeated(data, starts, ends, offsets)
        looked.append(len(offsets))
        return (_codes.DUPLICATE, 0, 1) if len(offsets) > 1 else None

    monkeypatch.setattr(read_lines._backend.columns, "repeated", suspicious)
    monkeypatch.setattr(read_files, "BLOCK", 20)
    assert reciprocal_ranks(io.BytesIO(QRELS), io.BytesIO(run)) == RR
    assert len(looked) > 2
    with pytest.raises(ValueError, match="run: line 4, field 3: 'd1' already appears in an earlier line"):
        rg.read_trec(io.BytesIO(QRELS), io.BytesIO(run + b"q1 Q0 d1 1 1 t"))


# Typical lines, and any number of threads

parts = st.sampled_from([" "] * 30 + ["  ", "\t", "\r", "\x0b", "\x0c", "\xa0", "\x01", "\x1f", "\n", ""])
fields = st.sampled_from(
    ["q1", "q2", "q1 more", "#q", "Q0", "doc-12", "documents", "1", "tag", "7.5", "-12.25", "x" * 40]
)
odd = st.from_regex(r"[-+]?[0-9]{0,9}[.e/:]?[0-9]{0,9}", fullmatch=True)
numbers = st.integers(-(10**6), 10**6).map(lambda number: str(number / 1000)) | odd


@st.composite
def six_fields(draw):
    """Draw six fields, usually separated by a space; the fifth is usually a number."""
    texts = [draw(fields) for _ in range(4)] + [draw(numbers), draw(fields)]
    return "".join(text + draw(parts) for text in texts[:5]) + texts[5]


@pytest.mark.both
@given(st.lists(six_fields(), min_size=1, max_size=4), st.sampled_from([0, 30, 64]))
@example(["q1 Q0  d1 1 0.5"], 64)
@example([" q1 Q0 d1 1 0.5"], 64)
@example(["#q1 Q0 d1 1 0.5 t"], 64)
@example(["q1 Q0 d1\t1 0.5 t", "q1 Q0 d1 1\t0.5 t", "q1 Q0 d1 1 0.5\tt"], 64)
def test_lines_scanned_together_equal_the_reference(on_both, texts, more):
    """If at least 64 bytes remain, compiled code scans a line in one step and parses the number as one word."""
    for text in ["\n".join(texts), *texts]:
        data = (text + "\n" * more).encode()
        compiled, python = on_both(lambda data=data: scanned(read_lines.RUN, data))
        assert compiled == python


@pytest.mark.parametrize("change", [bytes, lambda run: shuffled(run)], ids=["together", "scattered"])
@pytest.mark.parametrize("threads", quick_first([4, 2, np.int64(256)]))
def test_parts_scanned_by_several_threads_give_the_same_result(backend, monkeypatch, change, threads):
    """Each thread scans a part that ends with a line; blank lines and comments may precede its rows."""
    monkeypatch.setattr(read_files, "BLOCK", 1000)
    lines = change(long_run(60, 30) + long_run(1, 300).replace(b"q0", b"long")).splitlines(keepends=True)
    run = in_folder("run", b"".join(b"\n# q1 Q0\n" * (number % 50 == 7) + line for number, line in enumerate(lines)))
    qrels = b"".join(b"q%d 0 D%d 1\n" % (q, i * 7919 % 99991) for q in range(60) for i in {q // 2 + 1, 7, 99})
    qrels += b"long 0 D7919 1\n"
    one, many = (rg.read_trec(io.BytesIO(qrels), run, threads=threads) for threads in (1, threads))
    assert seen(many.evaluate(*METRICS)) == seen(one.evaluate(*METRICS))
    assert sizes_of(many).tolist() == sizes_of(one).tolist() == [30] * 60 + [300]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(
    "later", [b"q1 Q0 d1 1 x t\n", b"q1 Q0\n", b"q1 Q0 d1 1 nan t\n", None], ids=["text", "short line", "NaN", "none"]
)
def test_first_error_of_the_file_is_raised(backend, monkeypatch, threads, later):
    """The first error in the file is raised even if the next block has already been read and scanned."""
    lines = long_run(4, 30).splitlines(keepends=True)
    assert len(b"".join(lines[:31])) < 1000 < len(b"".join(lines[:44]))

    class File(Trickle):
        def read(self, size=-1):
            if later is None and len(self._left) <= len(run) - 1000:
                raise OSError(errno.EIO, "broken")
            return super().read(size)

    monkeypatch.setattr(read_files, "BLOCK", 1000)
    lines[44] = later or lines[44]
    for twice in (False, True):
        lines[5] = lines[4] if twice else lines[5]
        run = b"".join(lines)
        message = "run: line 6, field 3: 'D" if twice else "broken" if later is None else "run: line 45[:,] "
        with pytest.raises((ValueError, OSError), match=message):
            rg.read_trec(io.BytesIO(QRELS), File(run, 1000), threads=threads)


# Long lines


@given(st.data())
def test_long_lines_are_read_like_short_ones(backend, data):
    """Long lines are read correctly even if the reader skips part of them."""
    tags = [b"t" * data.draw(st.integers(1, 99)) for _ in range(12)]
    lines = [
        data.draw(st.sampled_from([b" ", b"", b"#" + b"c" * 90 + b" #"])) + (b" " * data.draw(st.integers(1, 40))).join(
            [b"q%d" % (number // 3), b"Q0", b"d%d" % number, b"%d" % (12 - number), b"%d" % (number % 4), tags[number]]
        ) + data.draw(st.sampled_from([b"\n", b" \n", b" " * 70 + b"\r\n"]))
        for number in range(12)
    ]  # fmt: skip
    qrels = [
        b"q%d%s0 d%d 1%s\n" % (n // 3, b" " * data.draw(st.integers(1, 90)), n, b" " * 50) for n in range(0, 12, 2)
    ]
    qrels.insert(data.draw(st.integers(0, 6)), b" #" + b"y" * 99 + b"\n")

    def seen():
        rankings = rg.read_trec(io.BytesIO(b"".join(qrels)), io.BytesIO(b"".join(lines)), threads=threads)
        return rankings.evaluate("rr", "ap", "num_ret"), rankings.left_out

    threads = data.draw(st.sampled_from([1, 2]))
    expected = seen()
    with patch.object(read_lines, "LINE", 42), patch.object(read_files, "BLOCK", data.draw(st.integers(5, 200))):
        assert seen() == expected


@pytest.mark.parametrize("block", [30, 1 << 10])
def test_field_beyond_the_limit_is_rejected(backend, monkeypatch, block):
    """The error is the same for any block boundaries, but an earlier error in the line is raised first."""
    monkeypatch.setattr(read_lines, "LINE", 60)
    monkeypatch.setattr(read_files, "BLOCK", block)
    with pytest.raises(ValueError, match=r"^run: line 2, field 3: the field has more than 60 bytes; give shorter ids$"):
        rg.read_trec(io.BytesIO(QRELS), io.BytesIO(b"q1 Q0 d1 1 1 t\nq1 Q0 " + b"d" * 200 + b" 1 1 t\n"))
    longest = b"d" * 60
    lines = b"q1 0 " + longest + b" 1\n", b"q1 Q0 " + longest + b" 1 1 t\n"
    assert rg.read_trec(*map(io.BytesIO, lines)).evaluate("rr").mean() == {"rr": 1.0}
    with pytest.raises(ValueError, match=r"^truth: line 3, field 1: the field has more than 60 bytes"):
        rg.judgments(io.BytesIO(b"q 0 d 1\n\n" + b"q" * 200 + b" 0 d 1\n"))
    with pytest.raises(ValueError, match=r"^run: line 1: expected .*, found 1"):
        rg.read_trec(io.BytesIO(QRELS), io.BytesIO(b"q1\nq1 Q0 " + b"d" * 200 + b" 1 1 t\n"))
    with pytest.raises(ValueError, match=r"^run: line 1: expected 6 fields .*, found \d+"):
        rg.read_trec(io.BytesIO(QRELS), io.BytesIO(b"q1 Q0 d 1 1 t more" + b" more" * 90 + b"\n"))


@pytest.mark.parametrize("block", [1 << 16, 3 << 20])
def test_id_of_the_longest_length_is_read(backend, monkeypatch, block):
    monkeypatch.setattr(read_files, "BLOCK", block)
    longest = b"d" * (1 << 20)
    run = b"q1 Q0 " + longest + b" 1 1 t" + b" " * (1 << 21) + b"\n"  # makes blocks end within the line
    qrels = b"q1 0 " + longest + b" 1\n"
    assert rg.read_trec(*map(io.BytesIO, (qrels, run))).evaluate("rr").mean() == {"rr": 1.0}
    for files, name in (
        ((qrels.replace(b" 1\n", b"d 1\n"), run), "qrels"),
        ((qrels, run.replace(b"Q0 ", b"Q0 d")), "run"),
    ):
        with pytest.raises(ValueError, match=f"^{name}: line 1, field 3: the field has more than 1048576 bytes"):
            rg.read_trec(*map(io.BytesIO, files))


# Rejected files


@pytest.mark.parametrize(
    ("qrels", "run"),
    [(b"", b""), (b"q 0 d 1", b""), (b"\n \r\n", b""), (b"", b"\n"), (b"Q 0 d 1", b"q Q0 d 1 2.5 t\n")],
    ids=["empty", "empty run", "blank qrels", "blank run", "other ids"],
)
@pytest.mark.usefixtures("own_folder")
def test_files_without_a_query_in_common_are_rejected(rejects, qrels, run):
    rejects(ValueError, "qrels.txt and run.txt…no query in common", evaluate_lines, qrels, run)


@pytest.mark.usefixtures("own_folder")
def test_the_first_wrong_line_is_named(rejects):
    rejects(ValueError, "qrels.txt: line 1, field 4", evaluate_lines, b"q 0 d x\nq 0\n", b"q\n")


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("row", [
    ("qrels.txt: line 1, field 4: the grade is NaN", b"q 0 d nan\n", b"q Q0 d 1 2.5 t\n"),
    ("qrels.txt: line 1, field 4: the grade is infinite", b"q 0 d -inf\n", b"q Q0 d 1 2.5 t\n"),
    ("qrels.txt: line 3, field 4: the grade is NaN", b"q 0 d 1\nq 0 e 1\nr 0 d nan\n", b"q Q0 d 1 2.5 t\n"),
    ("run.txt: line 2, field 5: the score is NaN; use -inf", b"q 0 d 1\n", b"q Q0 d 1 2.5 t\nq Q0 e 2 nan t\n"),
])  # fmt: skip
def test_infinite_and_nan_numbers_are_rejected(rejects, row):
    message, qrels, run = row
    rejects(ValueError, message, evaluate_lines, qrels, run)


@pytest.mark.usefixtures("own_folder")
def test_lines_of_two_files_joined_without_a_line_break_are_rejected(rejects):
    """If the joined line were accepted, the first document of the second file would end up in a tag."""
    qrels, message = b"q 0 d 1\n", "run.txt: line 1: expected 6 fields…joined here"
    rejects(ValueError, message, evaluate_lines, qrels, b"q Q0 d 1 2.5 tq Q0 e 1 2.5 t\n")
    message = "qrels.txt: line 1: expected 4 fields…found 7;…joined here"
    rejects(ValueError, message, evaluate_lines, b"q 0 d 1q 0 e 1\n", b"q Q0 d 1 2.5 t\n")


@pytest.mark.usefixtures("own_folder")
def test_absent_files_are_named(rejects):
    rejects(FileNotFoundError, "absent.txt", rg.read_trec, "absent.txt", "run.txt")
    rejects(FileNotFoundError, "absent.txt", rg.read_trec, os.devnull, Path("absent.txt"))


class Reads:
    """A file whose `read` returns a given value."""

    def __init__(self, value):
        self.value = value

    def read(self, size):
        return self.value


@pytest.mark.parametrize("side", ["qrels", "run"])
def test_read_trec_rejects_other_objects(rejects, side):
    sides = {"qrels": os.devnull, "run": "run.txt"}
    closed = io.BytesIO()
    closed.close()
    for value in ("text", None, bytearray(b"q"), 5):
        message = f"{side} must be opened in binary mode: its read() returned {type(value).__name__}"
        rejects(TypeError, message, rg.read_trec, **sides | {side: Reads(value)})
    for value in (None, 5, {"q": {"d": 1}}):
        rejects(TypeError, f"{side} must be a path…{type(value).__name__}", rg.read_trec, **sides | {side: value})
    rejects(ValueError, f"{side}: the file is closed; open it again", rg.read_trec, **sides | {side: closed})
    message = f"{side}: the path 'a\\x00b' has a null character"
    rejects(ValueError, message, rg.read_trec, **sides | {side: "a\0b"})
