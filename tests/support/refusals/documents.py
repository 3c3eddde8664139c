"""Documents with ids: dicts of dicts, and files."""

import datetime
import io
import math
import os
from decimal import Decimal
from pathlib import Path

import numpy as np

import rankgain as rg
from support.cases import GOOD, HUGE, Case, each, named, passing, refused
from support.refusals.lists import MISSING, Fails, files, matched

nan, inf = math.nan, math.inf
# fmt: off
BAD_VALUES = [  # as grade and as score
    (TypeError, "a number, not {}; convert text first: float(value), or frame", "1", b"1"),
    (TypeError, "a number, not {}", bytearray(b"1"), np.str_("1"), None, 1j, [1], np.array([1]), np.ones(2),
     datetime.timedelta(1), np.datetime64("2020"), np.complex128(1), np.ma.masked, Decimal("sNaN"),
     object(), Fails(ValueError("no"))),
    (ValueError, "the number is too large for float64", HUGE),
    (ValueError, "NaN", nan, np.float32(nan), Decimal("NaN")),
]
APART = [  # no query in common
    ({}, {}), ({}, GOOD), (GOOD, {}), (GOOD, {"x": {"d": 1}}), ({"q": {}}, {"x": {}}),
    (GOOD, {b"q": {"d": 1}}, "str in qrels | bytes in run"), ({1: {}}, {"1": {"d": 1}}, "int in qrels | str in run"),
]
# fmt: on


def dict_cases():
    in_qrels = named("qrels", lambda value: matched({"p": {"d": 1}, "q": {"c": 1, "d": value}}, GOOD))
    in_run = named("run", lambda value: matched({**GOOD, "p": {"d": 1}}, {"p": {"d": 1}, "q": {"c": 1, "d": value}}))
    infinite = [(ValueError, "infinite | finite", inf, -inf, np.float32(inf), Decimal("Infinity"))]
    yield from each(BAD_VALUES + infinite, "qrels | query 'q', document 'd'", in_qrels)
    yield from each(BAD_VALUES, "run | query 'q', document 'd'", in_run)
    bad = [(TypeError, "must be a mapping of mappings | {}", None, [], "q", 5, [("q", {"d": 1})], {"q"})]
    yield from each(bad, "qrels", passing("qrels", matched, run=GOOD))
    yield from each(bad, "run", passing("run", matched, GOOD))
    bad = [(TypeError, "mapping | {}", None, [("d", 1)], "d", 1, {"d"})]
    yield from each(bad, "qrels | query 'r'", named("qrels", lambda value: matched({**GOOD, "r": value}, GOOD)))
    yield from each(bad, "run | query 'r'", named("run", lambda value: matched(GOOD, {**GOOD, "r": value})))
    for qrels, run, *more in APART:
        for missing in ("zero", "skip"):
            parts = " | ".join(["qrels and run have no query in common", *more])
            yield Case(ValueError, parts, matched, qrels, run, missing=missing)
    for missing in (nan, *MISSING):
        parts = "qrels | position 1 | the id is NaN or missing"
        yield Case(ValueError, parts, matched, {"a": {"d": 1}, missing: {"d": 1}}, {"a": {"d": 1}})
    frame = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}
    for value, name in [
        (frame, "from_frames"), ("qrels.txt", "read_trec"), ([["a"]], "from_recommendations"),
        ({"q": ["a"]}, "from_recommendations"),
    ]:  # fmt: skip
        yield from refused("from_qrels", "qrels", [value], TypeError, f"rankgain.{name}(")
        yield from refused("from_qrels", "run", [value], TypeError, f"rankgain.{name}(")
    for left, right in [(1, "1"), ("1", 1), ("1", b"1")]:
        parts = f"query 'q' | ids are of other types | {type(left).__name__} in qrels | {type(right).__name__} in run"
        yield Case(ValueError, parts, matched, {"q": {left: 1}, "p": {"d": 1}}, {"q": {right: 1}, "p": {"d": 1}})
    tied = "run | query 'q' | documents of equal score | all str, all bytes or all int | ties='average'"
    for ids in [(1, "2"), ("1", b"2"), ((1,), (2,)), (1.5, 2.5), (None, "a"), (1, 2.5)]:
        yield Case(TypeError, tied, matched, {"q": {ids[0]: 1}}, {"q": dict.fromkeys(ids, 1)})
    yield Case(TypeError, tied, matched, {"q": {1: 1, 3: 1}}, {"q": {1: 0, "2": 0, 3: 5}}, metrics=["ndcg@2"])


class Reads:
    """A file whose `read` gives what it must not."""

    def __init__(self, given):
        self.given = given

    def read(self, size):
        return self.given


def file_cases():
    """Of lines inputs/test_trec.py says what is wrong with them."""
    yield Case(ValueError, "qrels.txt: line 1, field 4", files, b"q 0 d x\nq 0\n", b"q\n")  # the first of three
    for sides in [(b"",), (b"q 0 d 1", b""), (b"\n \r\n",), (b"", b"\n"), (b"Q 0 d 1",)]:
        yield Case(ValueError, "qrels.txt and run.txt | no query in common", files, *sides)
    # Else the first line of the second file would be a part of the tag, and its document would be lost.
    joined = [b"q Q0 d 1 2.5 tq Q0 e 1 2.5 t\n", b"q Q0 d 1 2.5 a tag\n"]
    yield from refused("read_trec", "run", joined, ValueError, "run.txt: line 1: expected 6 fields | joined here")
    message = "qrels.txt: line 1: expected 4 fields | found 7; | joined here"
    yield from refused("read_trec", "qrels", [b"q 0 d 1q 0 e 1\n"], ValueError, message)
    yield Case(FileNotFoundError, "absent.txt", rg.read_trec, "absent.txt", "run.txt")
    yield Case(FileNotFoundError, "absent.txt", rg.read_trec, os.devnull, Path("absent.txt"))
    closed = io.BytesIO()
    closed.close()
    for name, options in [("qrels", {"run": "run.txt"}), ("run", {"qrels": os.devnull})]:
        for given in ("text", None, bytearray(b"q"), 5):
            message = f"{name} must be opened in binary mode: its read() returned {type(given).__name__}"
            yield from refused("read_trec", name, [Reads(given)], TypeError, message)
        yield from refused("read_trec", name, [closed], ValueError, f"{name}: the file is closed; open it anew")
        yield from refused(
            "read_trec", name, ["a\0b"], ValueError, f"{name}: the path 'a\\x00b' holds a null character"
        )
        yield from each(
            [(TypeError, "{}", None, 5, GOOD)], f"{name} must be a path", passing(name, rg.read_trec, **options)
        )


def rows():
    yield from dict_cases()
    yield from file_cases()
