"""What is refused, and in which words; what only looks odd, and works; and that neither changes what it was given.

The tables hold calls: `test_refused` and `test_works` run each of them on each backend.
"""

import datetime
import math
import os
import re
from collections import Counter, OrderedDict, defaultdict
from contextlib import chdir
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from support.cases import (
    GOOD,
    HUGE,
    Case,
    check_each,
    each,
    evaluated,
    masked,
    named,
    passing,
    plain,
    snapshot,
    table,
    works,
)
from support.marks import in_one_case

import rankgain as rg

nan, inf = math.nan, math.inf
SECOND = 1 / math.log2(3)  # the discount of rank 2
HALF = (1 + SECOND) / 2  # of ranks 1 and 2, tied


class Fails:
    """A number that cannot become a float, and a gain that cannot be had."""

    def __init__(self, error):
        self.error = error

    def __float__(self, *grades):
        raise self.error

    __call__ = __float__


ranked, scored, matched = map(evaluated, (rg.from_ranked, rg.from_scores, rg.from_qrels))


def files(qrels=b"q 0 d 1\n", run=b"q Q0 d 1 2.5 t\n", **options):
    Path("qrels.txt").write_bytes(qrels)
    Path("run.txt").write_bytes(run)
    return evaluated(rg.read_trec)("qrels.txt", Path("run.txt"), **options)


def asked(name, **options):
    return ranked([2, 1], metrics=["rr", rg.metric(name, **options) if options else name])


def beside(value):
    """Zeros in the shape of the value, as far as it has one."""
    try:
        return [[0] * len(row) for row in value]
    except TypeError:
        return [0] * getattr(value, "size", len(value) if isinstance(value, (list, tuple)) else 1)


FUNCTIONS = [rg.cg, rg.dcg, rg.ndcg, rg.reciprocal_rank, rg.mean_ndcg, rg.mrr, rg.idcg]
TAKERS = {  # by the name of the argument
    "relevance": [*FUNCTIONS[:-1], ranked],
    "judged": [
        rg.idcg,
        named("ndcg judged", lambda value: rg.ndcg(beside(value), judged=value)),
        named("from_ranked judged", lambda value: ranked(beside(value), judged=value)),
        named("from_scores judged", lambda value: scored(beside(value), beside(value), judged=value)),
    ],
    "y_true": [named("from_scores y_true", lambda value: scored(value, beside(value)))],
    "y_score": [named("from_scores y_score", lambda value: scored(beside(value), value))],
}
ALL_TAKERS = [function for functions in TAKERS.values() for function in functions]
NO_LISTS = [
    (TypeError, "{}", ..., {1, 2}, {0: 1}, len, iter([1]), (n for n in [1]), map(float, [1])),
    (TypeError, "", "12", b"12"),
    (TypeError, "real numbers", np.array(["1"]), np.array([b"1"]), np.array([1j]), np.array(["2020"], dtype="M8[Y]")),
    (ValueError, "dimension", 5, np.array(5), [[[1]]], np.ones((1, 1, 1)), np.ones((1, 1, 1), dtype=object)),
    (ValueError, "query 1 | dimension", [[1], [1, [2]]], [[1, 2], np.ones((1, 1))]),
    (TypeError, "query 1 | an array of numbers", [[1, 2], 3], [[1, 2], "12"], [[1], None], [[1], {1: 2}]),
    (TypeError, "query 0 | an array of numbers", [1, [2, 3]]),
    (TypeError, "position 0 | a number, not str", ["1", "2"], ["", 1]),
    (TypeError, "position 1 | a number, not str", [1, "2"], np.array([1, "2"], dtype=object)),
    (TypeError, "position 1 | a number, not NoneType", [1, None], np.array([1, None])),
    (TypeError, "position 1 | a number", [1, 2j], [1, {2}], [1, datetime.date(2020, 1, 1)], [1, Fails(ValueError())]),
    (TypeError, "query 1 | position 1 | a number", [[1, 2], [1, "2"]], [[1], [1, "2"]], [[1, 2], [1, None]]),
    (ValueError, "position 1 | too large", [1, HUGE], np.array([1, -HUGE])),
    (ValueError, "query 1 | position 1 | too large", [[1, 2], [1, HUGE]], [[1], [1, HUGE]]),
    (TypeError, "position 1 | a number, not complex128", [1.0, np.complex128(1)]),
    (ValueError, "masked", masked(0, 1), [masked(0, 1), masked(0)], [masked(0, 0), masked(0, 1)], [1.0, np.ma.masked]),
]
BAD_GRADES = [
    (ValueError, "NaN | finite", nan, np.float32(nan), Decimal("NaN")),
    (ValueError, "infinite | finite", inf, -inf, Decimal("-Infinity")),
    (ValueError, "negative | give 0", -1, -1e-30, -(2**63), -(2**70)),
]
BAD_SCORES = [(ValueError, "the score is NaN | -inf", nan, np.float32(nan), Decimal("NaN"))]
PLACES = [  # lists that hold the offender at position 1, of the only query or of query 1
    ("position 1", lambda bad: [1, bad, 2]),
    ("position 1", lambda bad: np.array([1, bad, 2], dtype="g" if abs(bad) != 1 else "i1")),
    ("query 1 | position 1", lambda bad: [[1, 1, 2], [1, bad, 2]]),
    ("query 1 | position 1", lambda bad: [[1, 2], [1, bad, 2], []]),
    ("query 1 | position 1", lambda bad: np.array([[1, 1, 2], [1, bad, 2]], dtype="f4", order="F")),
    ("query 1 | position 1", lambda bad: np.array([[1, 9, 1, 9, 2], [1, 9, bad, 9, 2]], dtype=">f8")[:, ::2]),
]
FLAT = [  # element 3 of five
    ("query 1 | position 1 | element 3", {"group_sizes": [2, 3]}),
    ("query 'b' | position 1 | element 3", {"group_sizes": [2, 0, 3], "query_ids": ["a", "", "b"]}),
    ("query 9 | position 1 | element 3", {"qid": [7, 7, 9, 9, 9]}),
    ("query 'a' | position 2 | element 3", {"qid": list("abaac")}),
    ("query 0 | position 3", {}),
]


def list_cases():
    for part, functions in TAKERS.items():
        yield from each(NO_LISTS, part, *functions)
        for expected, words, *values in BAD_SCORES if part == "y_score" else BAD_GRADES:
            for bad in values:
                yield from each([(expected, f"{at} | {words}", hold(bad)) for at, hold in PLACES], part, *functions)
                sides = [[1, 1, 1, bad, 2], range(5)][:: -1 if part == "y_score" else 1]
                for at, options in FLAT if part in ("y_true", "y_score") else ():
                    yield Case(expected, f"{part} | {at} | {words}", scored, *sides, **options)
        if part != "judged":
            yield from (Case(TypeError, f"{part} | NoneType", function, None) for function in functions)
    yield from each([(TypeError, "", None, len), (ValueError, "", [-1], [[1], [2, 3]])], "relevance", rg.gain)
    large = np.array([np.finfo(np.longdouble).max])
    if large[0] > np.finfo(np.float64).max:
        yield Case(ValueError, "y_true | position 0 | infinite", scored, large, [1])
        yield Case(ValueError, "relevance | position 0 | infinite", rg.gain, large)
        yield Case(ValueError, "discount | position 0 | finite", rg.discount, 1, large)
        yield Case(ValueError, "position 0 | gain | finite", rg.dcg, [1], gain=lambda x: x * large)


BAD_CALLABLES = [
    (TypeError, "one number per grade", lambda x: x[1:], lambda x: 1.0, lambda x: None, lambda x: x + 0j),
    (TypeError, "one number per grade", lambda x: x.astype(object), lambda x: np.array(["1"] * len(x))),
]


def gain_cases():
    """Gains, and discounts, that fail on what they meet."""
    lacks, large = "gain has no entry for the grade 3.0 | add", "too large | gain='exponential' | below 1024"
    three, metrics = [[1], [1, 3]], ["rr", rg.metric("ndcg", gain={1: 1})]
    yield Case(ValueError, f"relevance: position 2 | {lacks}", rg.gain, [0, 2, 3], {1: 1, 2: 3})
    yield Case(ValueError, f"relevance: position 2 | {lacks}", rg.dcg, [0, 2, 3], gain=[0, 1, 3])
    yield Case(ValueError, f"relevance | query 1 | position 1 | {lacks}", rg.ndcg, three, gain={1: 1})
    yield Case(ValueError, f"judged | query 1 | position 1 | {lacks}", rg.ndcg, [[], []], judged=three, gain={1: 1})
    yield Case(ValueError, f"judged: query 1, position 1 | {lacks}", ranked, [[], []], judged=three, metrics=metrics)
    yield Case(ValueError, f"relevance: query 1, position 1 | {lacks}", ranked, three, metrics=metrics)
    yield Case(ValueError, f"y_true: query 1, position 1 | {lacks}", scored, three, three, metrics=metrics)
    yield Case(ValueError, f"qrels: query 'q', document 'd' | {lacks}", matched, {"q": {"d": 3}}, GOOD, metrics=metrics)
    for grade in (1024, 1e300, 2**62):
        lists, metrics = [[1], [1, grade]], ["cg", "dcg(gain=exponential)@2"]
        yield Case(ValueError, f"relevance | position 1 | {large}", rg.gain, [1, grade], "exponential")
        yield Case(ValueError, f"relevance | position 1 | {large}", rg.dcg, [1, grade], gain="exponential")
        yield Case(ValueError, f"judged | query 1 | position 1 | {large}", rg.idcg, lists, gain="exponential")
        yield Case(ValueError, f"relevance: query 1, position 1 | {large}", ranked, lists, metrics=metrics)
    yield Case(ValueError, f"qrels.txt: query 'q' | 'd' | {large}", files, b"q 0 d 1024\n", metrics=metrics)
    yield from each(BAD_CALLABLES, "gain | callable", passing("gain", rg.dcg, [1]), passing("gain", asked, "ndcg"))
    for gain, gave in [(np.negative, "-2.0"), (lambda x: x + inf, "inf")]:
        parts = f"relevance | gain gave {gave} for the grade | finite and not negative"
        yield Case(ValueError, f"{parts} | position 0", rg.dcg, [2, 1], gain=gain)
        yield Case(ValueError, f"{parts} | query 0", ranked, [2, 1], metrics=[rg.metric("dcg", gain=gain)])
    fails = Fails(KeyError("what foreign code raises comes out as it is"))
    calls = [(rg.dcg, [1, fails]), (ranked, [[fails], [1]]), (asked, rg.metric("dcg", gain=fails))]
    calls += [(matched, {"q": {"d": fails}}, GOOD), (matched, GOOD, {"q": {"d": fails}})]
    yield from (Case(KeyError, "comes out as it is", *call) for call in calls)
    yield Case(ValueError, "judged | query 1 | not finite", rg.idcg, [[1], [1023.9] * 9], gain="exponential")
    yield Case(ValueError, "relevance | query 1 | not finite", ranked, [[1], [1e308] * 9], metrics=["rr", "dcg"])
    for short in ([], [1], [1, 0.5]):
        parts, lists = f"discount holds {len(short)} ranks", [[], [1, 2, 0]]
        yield Case(ValueError, parts, rg.discount, 3, short)
        parts = f"query 1 | {parts} | 3 are needed | longer discount or a smaller k"
        yield Case(ValueError, parts, ranked, lists, metrics=[rg.metric("dcg", discount=short)])
        yield from (Case(ValueError, parts, call, lists, discount=short) for call in (rg.dcg, rg.idcg, rg.ndcg))


BAD_SIZES = [  # for three documents
    (ValueError, "add up to | 3 documents", [2], np.array([2], dtype=">u2"), (1, 3), [], np.zeros(0, dtype=int)),
    (ValueError, "add up to 18446744073709551619", [2**62] * 4 + [3], np.array([2**63, 2**63, 3], dtype="u8")),
    (ValueError, "position 1 | negative", [4, -1], [3, -(2**63), 2**62, 2**62]),
    (ValueError, "dimension", [[2, 1]], [[2], [1, 1]], 3),
    (ValueError, "masked", masked(0, 1)),
    (TypeError, "must hold integers", [2.0, 1.0], [2, nan], [True, True, True]),
    (TypeError, "number", [2, None], ["2", "1"], {1, 2}),
]
BAD_QIDS = [  # for three documents
    (ValueError, "shape | 3 documents | one id for each", [1, 1], [], [1] * 4, np.ones((1, 3)), np.ones((3, 1)), 5),
    (ValueError, "position 1 | NaN", [1, nan, 1], [None, nan, "a"], np.array([1, nan, 1], dtype="f2")),
    (ValueError, "masked", masked(0, 1, 0)),
    (TypeError, "position 0 | hashable", np.array([{}, {}, {}]), [[1], [1], [2]], [[1], [1, 2], [2]]),
]
BAD_IDS = [  # for two queries
    (ValueError, "2 queries", [], ["a"], ["a", "b", "c"], "abc", range(3)),
    (ValueError, "position 1 | second time", ["a", "a"], [1, 1.0], (1, True), np.array([1, 1])),
    (TypeError, "one id per query | {}", 5, True),
    (TypeError, "one id per query", np.array(5)),
    (TypeError, "position 0 | hashable", [[1], [2]], np.ones((2, 2))),
]
BAD_JUDGED = [  # for two queries
    (ValueError, "lists | has 2 | one list of grades per query", [[1]], [1, 0], [], [[1]] * 3, np.ones((0, 2))),
]
MISFITS = [
    ([1, 0], [1, 2, 3], "y_true has 2 documents | y_score has 3"),
    ([[1, 2], [1]], [[1, 2], [1, 2]], "query 1 | y_true has 1 documents | y_score has 2"),
    (np.ones((2, 2)), np.ones((2, 3)), "query 0 | y_true has 2 documents | y_score has 3"),
    ([1], [[1]], "y_true has one list | y_score has 1 lists"),
    (np.ones((2, 2)), np.ones(4), "y_true has 2 lists | y_score has one list"),
]


def shape_cases():
    three, two = ([1, 0, 1], [1, 2, 3]), [[1, 0], [1]]
    for grades, scores, parts in MISFITS:
        yield Case(ValueError, parts, scored, grades, scores)
    for options in ({"group_sizes": [3]}, {"qid": [1, 1, 1]}):
        yield Case(ValueError, "y_true has 2 documents | y_score has 3", scored, [1, 0], [1, 2, 3], **options)
        yield Case(ValueError, "y_true | 1 dimension | unequal", scored, two, two, **options)
    yield Case(ValueError, "group_sizes or qid, not both", scored, *three, group_sizes=[3], qid=[1, 1, 1])
    yield from each(BAD_SIZES, "group_sizes", passing("group_sizes", scored, *three))
    yield from each(BAD_QIDS, "qid", passing("qid", scored, *three))
    for name, rows in [("query_ids", BAD_IDS), ("judged", BAD_JUDGED)]:
        yield from each(rows, name, passing(name, ranked, two), passing(name, scored, *three, qid=[1, 2, 2]))
    yield from each(BAD_JUDGED, "judged", passing("judged", rg.ndcg, two), passing("judged", rg.mean_ndcg, two))
    lacks = "judged lacks grades | DCG exceeds the ideal | all judged documents"
    for options in ({}, {"gain": "exponential"}, {"k": 1}, {"gain": {1: 1, 2: 3}}, {"discount": [1, 0.5]}):
        for judged in ([[1], [1, 1]], [[1], []]):
            metrics = [rg.metric("ndcg", **options)]
            yield Case(ValueError, f"query 1 | {lacks}", rg.ndcg, [[1], [2, 1]], judged=judged, **options)
            yield Case(ValueError, f"query 1 | {lacks}", ranked, [[1], [2, 1]], judged=judged, metrics=metrics)
    yield Case(ValueError, f"query 'b' | {lacks}", scored, [1, 2, 1], [1, 2, 3], qid=list("aba"), judged=[[1, 1], [1]])


# fmt: off
BAD_VALUES = [  # as grade and as score
    (TypeError, "a number, not {}", "1", b"1", bytearray(b"1"), np.str_("1"), None, 1j, [1], np.array([1]), np.ones(2),
     datetime.timedelta(1), np.datetime64("2020"), np.complex128(1), np.ma.masked, Decimal("sNaN"),
     object(), Fails(ValueError("no"))),
    (TypeError, "an int beyond float64", HUGE),
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
    for left, right in [(1, "1"), ("1", 1), ("1", b"1")]:
        parts = f"query 'q' | ids are of other types | {type(left).__name__} in qrels | {type(right).__name__} in run"
        yield Case(ValueError, parts, matched, {"q": {left: 1}, "p": {"d": 1}}, {"q": {right: 1}, "p": {"d": 1}})
    tied = "run | query 'q' | documents of equal score | all str, all bytes or all int | ties='average'"
    for ids in [(1, "2"), ("1", b"2"), ((1,), (2,)), (1.5, 2.5), (None, "a"), (1, 2.5)]:
        yield Case(TypeError, tied, matched, {"q": {ids[0]: 1}}, {"q": dict.fromkeys(ids, 1)})
    yield Case(TypeError, tied, matched, {"q": {1: 1, 3: 1}}, {"q": {1: 0, "2": 0, 3: 5}}, metrics=["ndcg@2"])


BAD_QRELS = [  # the last line of a file
    (": | fields, and there must be 4 fields", b"q 0 d", b"q", b"q 0 d 1 x", b"q 0 d 1 2\r"),
    (", field 4 | x' is not a number", b"q 0 d x", b"q 0 d 0x"),
    (", field 4 | is not a number", b"q 0 d 1_0", b"q 0 d 0x1", "q 0 d \u0661".encode(), b"q 0 d \xff", b"q 0 d 1\x00"),
    (", field 4 | NaN | finite", b"q 0 d nan", b"q 0 d -NaN"),
    (", field 4 | infinite | finite", b"q 0 d inf", b"q 0 d -Infinity", b"q 0 d 1e400"),
    (", field 3 | 'first' | earlier line", b"q 0 first 1", b"q\t0\tfirst 2"),
]
BAD_RUN = [
    (
        ValueError,
        "line 2: | fields, and | 6 fields",
        b"q Q0 d 1 2.5 t u",
        b"q Q0 d 1 2.5",
        b"q 0 d 1",
        b"q 0 d 1\r\n\r\nq Q0 e 1 1",
    ),
    (ValueError, "line 2, field 5 | is not a number", b"q Q0 d 1 x t", b"q Q0 d 1 1_0 t", b"q Q0 d 1 1e t"),
    (ValueError, "line 2, field 5 | NaN | -inf", b"q Q0 d 1 nan t", b"q Q0 d 1 NaN t\nq"),
    (ValueError, "line 3, field 3 | 'first' | earlier line", b"r Q0 d 1 1 t\nq Q0 first 2 2 t"),
]


def file_cases():
    for start, end, place in [(b"q 0 first 1\n", b"\n", "line 2"), (b"q 0 first 1\r\n \t\n\r\n", b"", "line 4")]:
        for parts, *lines in BAD_QRELS:
            yield from (Case(ValueError, f"qrels.txt | {place}{parts}", files, start + line + end) for line in lines)
    yield from each(BAD_RUN, "run.txt", named("run", lambda line: files(run=b"q Q0 first 1 2.5 t\n" + line)))
    yield Case(ValueError, "qrels.txt: line 1, field 4", files, b"q 0 d x\nq 0\n", b"q\n")  # the first of three
    for sides in [(b"",), (b"q 0 d 1", b""), (b"\n \r\n",), (b"", b"\n"), (b"Q 0 d 1",)]:
        yield Case(ValueError, "qrels.txt and run.txt | no query in common", files, *sides)
    yield Case(FileNotFoundError, "absent.txt", rg.read_trec, "absent.txt", "run.txt")
    yield Case(FileNotFoundError, "absent.txt", rg.read_trec, os.devnull, Path("absent.txt"))
    for name, options in [("qrels", {"run": "run.txt"}), ("run", {"qrels": os.devnull})]:
        yield from each(
            [(TypeError, "{}", None, 5, GOOD)], f"{name} must be a path", passing(name, rg.read_trec, **options)
        )


def grid(*changes):
    """700 queries of 200 documents, hence three chunks; changes are (query, position, number)."""
    numbers = np.ones((700, 200))
    for query, position, value in changes:
        numbers[query, position] = value
    return numbers


def order_cases():
    """Several offenders: the lowest query is named, then the lowest position."""
    ones, falling = [[1, 1]] * 6, [[2, 1]] * 6
    truth = [[1, 1], [1, 1], [1], [1, 1], [1, 1], [1, 1]]  # query 2 lacks a grade
    for query, parts in [(5, "y_true: query 2: judged lacks"), (2, "y_score: query 2, position 1"), (1, "query 1")]:
        scores = [*falling[:query], [1, nan], *falling[query + 1 :]]
        yield Case(ValueError, parts, scored, ones, scores, judged=truth)
    for call in (ranked, rg.ndcg):
        yield Case(ValueError, "query 2: judged lacks", call, [*ones[:5], [nan, 1]], judged=truth)
        yield Case(ValueError, "judged: query 1, position 0", call, ones, judged=[[1, 1], [-1], *truth[2:]])
        yield Case(ValueError, "relevance: query 0, position 1", call, [[1, nan]], judged=[[nan]])
    yield Case(ValueError, "position 1", rg.dcg, [1, 7, nan], gain={1: 1})
    metrics = ["rr", rg.metric("dcg", gain={1: 1})]
    yield Case(ValueError, "position 0", scored, [3, 7], [1, 2], metrics=metrics)
    yield Case(ValueError, "document 'c'", matched, {"q": {"b": 1, "c": 2, "d": 3}}, GOOD, metrics=metrics)
    yield Case(ValueError, "query 1, position 1: gain has no", ranked, [[1], [1, 7], [nan]], metrics=metrics)
    yield Case(ValueError, "query 1 | too large", ranked, [[1], [1025], [nan]], metrics=["cg", "dcg(gain=exponential)"])
    yield Case(ValueError, "query 1: discount holds", rg.ndcg, [[1], [2, 1], [nan]], discount=[1])
    yield Case(ValueError, "query 1 | not finite", rg.cg, [[1], [1e308] * 2, [nan]])
    yield Case(ValueError, "y_true: query 0, position 0", scored, [[inf, 1]], [[1, nan]])
    yield Case(ValueError, "y_score: query 0, position 0", scored, [[1, -1]], [[nan, 1]])
    yield Case(ValueError, "y_true: query 5 | element 2", scored, [1, -1, nan, 1], range(4), qid=[5, 6, 5, 6])
    yield Case(TypeError, "qrels | document 'b'", matched, {"q": {"a": 1, "b": None, "c": nan}}, {"q": {"a": nan}})
    yield Case(ValueError, "run: query 'q' | 'a'", matched, {"q": {"a": 1}, "r": {"a": None}}, {"q": {"a": nan}})
    yield Case(TypeError, "qrels: query 'q' | 'a'", matched, {"q": {"a": ""}, "r": {"a": 1}}, {"r": {"a": nan}})
    lists, gaps = grid((400, 30, nan), (400, 4, -1), (690, 0, inf)), grid((400, 199, 7), (690, 0, nan))
    for call in (rg.cg, rg.ndcg, rg.mrr, ranked):
        yield from (Case(ValueError, "query 400, position 4", call, form) for form in (lists, [*lists]))
    for call in (rg.ndcg, ranked):
        for query, parts in [(690, "query 350: judged lacks"), (340, "query 340, position 3 | NaN")]:
            judged = [np.ones(3 if row == 350 else 200) for row in range(700)]
            yield Case(ValueError, parts, call, grid((query, 3, nan)), judged=judged)
    yield Case(ValueError, "query 400, position 199 | gain", rg.dcg, gaps, gain={1: 1})
    yield Case(ValueError, "query 400, position 199 | gain", ranked, gaps, metrics=metrics)
    sides = grid((400, 9, nan), (690, 0, -1)), grid((400, 8, nan), (399, 0, -inf), (1, 1, inf))
    for dtype in ("f4", "f8"):
        yield Case(ValueError, "y_score: query 400, position 8", scored, *(side.astype(dtype) for side in sides))
    flat, columns = [side.ravel() for side in sides], np.tile(np.arange(200), 700)
    yield Case(ValueError, "query 400, position 8 (element 80008)", scored, *flat, group_sizes=[200] * 700)
    yield Case(ValueError, "y_true: query 0, position 690 (element 138000)", scored, *flat, qid=columns)
    for low, high, kind, parts in [(1, 2, ValueError, "run: query 1, document 9"), (2, 1, TypeError, "qrels: query 1")]:
        qrels, run = ({query: dict.fromkeys(range(n), 1) for query in range(3)} for n in (9, 33_000))
        run[low][9], qrels[high][8] = nan, "x"
        yield Case(kind, parts, matched, qrels, run)


SECTIONS = list_cases, gain_cases, shape_cases, dict_cases, file_cases, order_cases
REFUSED = [case for section in SECTIONS for case in section()]


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    with chdir(tmp_path_factory.mktemp("files")):
        yield


@table(REFUSED)
def test_refused(on_both, cases):
    compiled, *python = on_both(lambda: check_each(cases, snapshot))
    assert python in ([], [compiled])


def test_a_folder_is_no_file(backend, tmp_path):
    with pytest.raises(OSError, match=re.escape(tmp_path.name)):
        rg.read_trec(tmp_path, tmp_path)


# fmt: off
ENDS = [  # grades, scores, nDCG
    ([0, 1], [inf, -inf], SECOND), ([0, 1], [inf, inf], HALF), ([1, 0], [-inf] * 2, HALF), ([1, 0], [-0.0, 0.0], HALF),
    ([0, 1], [2**63 - 1, -(2**63)], SECOND), ([0, 1], [-(2**63), 2**64 - 1], 1.0), ([0, 1], [2**200, 0.5], SECOND),
    ([0, 1], [2**63 - 1, 2**63 - 2], HALF), ([0, 1], [True, False], SECOND), ([2**63 - 1, 0], [0, 1], SECOND),
    ([0, 1], np.array([1, 2**64 - 1], dtype="u8"), 1.0), ([0, 1], np.array([200, 100], dtype="u1"), SECOND),
    ([1e308, 1e308], [1, 2], 1.0), ([5e-324, -0.0], [2, 1], 1.0), ([0, 2**70], [2, 1], SECOND),
    ([Decimal("1.5"), True, Fraction(1, 2)], [3, Fraction(5, 2), Decimal(2)], 1.0),
]
MIXED = [  # judged and returned: ids of several types are refused only where a tie must be broken
    ({1: 1}, {1: 1, "2": 2}, SECOND), ({"a": 0}, {"a": 1, 2: 1}, 0.0), ({"a": 1}, {"b": 1, 2: 1}, 0.0),
    ({1: 1}, {np.int64(1): 1, 2**80: 1}, SECOND), ({"a": 1}, {"a": 1, np.str_("b"): 1}, SECOND),
]
RUNS = [b"q Q0 d 1 inf t", b"q Q0 d 1 -inf t\r\n", b"\n \t\nq  Q0\td 1 1e999 t", b"q Q0 d x -1 t\r\n\r\n"]
# fmt: on


def erase(grades):
    grades[:] = 0.0
    return grades


def legal_cases():
    for empty in ([], (), np.zeros(0), np.zeros(0, dtype=object), range(0)):
        yield from (works(0.0, function, empty) for function in FUNCTIONS)
        yield from (works([], rg.gain, empty), works([[0.0]] * 3, scored, empty, empty))
    for empty, queries in [([[]], 1), ([[], []], 2), (np.zeros((3, 0)), 3), (np.zeros((0, 5)), 0), ([()], 1)]:
        for function in FUNCTIONS:
            mean = 0.0 if queries else nan
            yield works(mean if function in (rg.mean_ndcg, rg.mrr) else [0.0] * queries, function, empty)
        yield works([[0.0] * queries] * 3, ranked, empty, judged=empty)
        yield works([[0.0] * queries] * 3, scored, empty, empty)
    for options, values in [({"group_sizes": []}, []), ({"qid": []}, []), ({"group_sizes": [0, 0]}, [0.0, 0.0])]:
        yield works([values] * 3, scored, [], [], **options)
    none, unread = {"q": {}}, ({**GOOD, "r": {"d": "x"}}, {**GOOD, "s": {"d": "x"}})
    yield from (works([[0.0]] * 3, matched, *sides) for sides in [(none, none), (none, GOOD), (GOOD, none)])
    yield works([[1.0]] * 3, matched, *unread, missing="skip")
    for function in FUNCTIONS:
        for k in (1, 10**9, 2**63 - 1, 2**63, 2**2000, np.int64(3), np.uint8(3), None):
            yield works(1.0, function, [1], k=k)
    for k in (10**9, 2**63 - 2, 2**63 - 1, 2**2000):
        metrics = [rg.metric("ndcg", k=k), rg.metric("rr", k=k)]
        for ties, ndcg, rr in [("average", HALF, 0.75), ("stable", 1.0, 1.0), ("worst", SECOND, 0.5)]:
            yield works([[ndcg], [rr]], scored, [1, 0], [7, 7], ties=ties, metrics=metrics)
    yield works(1.0, rg.dcg, [1, nan, -1], k=1)
    yield works(1.0, rg.dcg, [1, 7], k=1, gain={1: 1})
    for grades in (np.array([3.0, 1.0]), np.array([[3.0, 1.0]])):  # a gain that writes writes to a copy
        yield works([[0.0]], ranked, grades, metrics=[rg.metric("dcg", gain=erase)])
        yield works((grades * 0).tolist(), rg.gain, grades, erase)
        yield works(0.0, rg.mean_ndcg, grades, judged=grades, gain=erase)
    yield works(math.exp2(1023.9) - 1, rg.dcg, [1023.9], gain="exponential")
    yield from (works([[value]], scored, *sides, metrics=["ndcg"]) for *sides, value in ENDS)
    for value in (1, True, np.True_, np.int64(1), np.float32(1), np.float64(1), Decimal(1), Fraction(1), np.array(1)):
        yield works([[1.0]] * 3, matched, {"q": {"d": value}}, {"q": {"d": value}})
    for value in (-inf, -(2**63), -(2**70), -1, Decimal("-Infinity")):
        yield works([[SECOND], [SECOND], [0.5]], matched, GOOD, {"q": {"e": 1, "d": value}})
        if -inf < value:  # as a grade: pooled but unjudged
            yield works([[SECOND]], matched, {"q": {"d": 1, "e": value}}, {"q": {"e": 1, "d": 0}}, metrics=["ndcg"])
    moved = OrderedDict(a=1, b=1)
    moved.move_to_end("a")
    yield works([[0.5]], matched, {"q": {"a": 1}}, {"q": moved}, ties="stable", metrics=["rr"])
    for ties, value in [("average", HALF), ("stable", 1.0), ("best", 1.0), ("worst", SECOND)]:
        yield works([[value]], matched, {"q": {1: 1}}, {"q": {1: 1, "2": 1}}, ties=ties, metrics=["ndcg"])
    yield from (works([[v]], matched, {"q": judged}, {"q": run}, metrics=["ndcg"]) for judged, run, v in MIXED)
    yield works([[1.0]], matched, {"q": {1: 1, 3: 1}}, {"q": {1: 0, "2": 0, 3: 5}}, metrics=["ndcg@1"])
    for text in (b"1", b"1.5", b"+1", b"1e0", b".5", b"5.", b"0.12345678901234567890"):
        yield works([[1.0]], files, b"q 0 d " + text, metrics=["ndcg"])
    yield from (works([[1.0]], files, b"\r\nq 0 d 1\r\n\nq 0 e 0", run, metrics=["ndcg"]) for run in RUNS)


@table(legal_cases())
def test_works(on_both, cases):
    on_both(lambda: check_each(cases, snapshot))


GRADES = [[3.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]]
DTYPES = [*"?bBhHiIqQefdg", ">f2", ">f4", ">f8", ">i2", ">i8", ">u4"]
LAYOUTS = {
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "strided": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "reversed": lambda array: array[:, ::-1].copy()[:, ::-1],
    "Fortran": np.asfortranarray,
    "unmasked": np.ma.masked_array,
    "tuples": lambda array: tuple(map(tuple, array.tolist())),
    "rows": list,
    "objects": lambda array: array.astype(object),
}


@in_one_case("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_array_equals_plain_lists(backend, dtype, layout):
    array = np.array(GRADES).astype(dtype)
    odd, expected = LAYOUTS[layout](array), array.astype(float).tolist()
    row, before = odd[0], snapshot(odd)
    for taker in [rg.gain, *ALL_TAKERS]:
        assert repr(plain(taker(odd))) == repr(plain(taker(expected)))
        assert repr(plain(taker(row))) == repr(plain(taker(expected[0])))
    sizes = np.array([3, 1], dtype=dtype if dtype in "bBhHiIqQ" else ">u2")
    for groups in ({"group_sizes": sizes}, {"qid": [2, 1, 2, 2]}):
        assert plain(scored(row, row, **groups)) == plain(scored(expected[0], expected[0], **groups))
    assert snapshot(odd) == before


@pytest.mark.both
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_unaligned_arrays(on_both, dtype):
    odd = np.frombuffer(b"-" + np.array(GRADES[0], dtype=dtype).tobytes(), dtype=dtype, offset=1)
    for taker in ALL_TAKERS:
        assert on_both(lambda taker=taker: plain(taker(odd))) == [plain(taker(GRADES[0]))] * 2


@pytest.mark.both
@pytest.mark.parametrize("shell", [MappingProxyType, OrderedDict, Counter, partial(defaultdict, int)])
def test_every_mapping(on_both, shell):
    sides = [{"q": shell({"d": 1, "e": grade})} for grade in (2, 0)]
    before = snapshot(sides)
    assert on_both(lambda: plain(matched(*sides))) == [plain(matched(*({"q": dict(side["q"])} for side in sides)))] * 2
    assert snapshot(sides) == before


@pytest.mark.parametrize("ids", [[1, "a", 1], [-1, 2**63, 2**63 + 1], ["a", "a\0", "b"], [(1, 2), (3, 4), (1, 2)]])
def test_qids_stay_what_they_are(backend, ids):
    names = rg.from_scores([1, 0, 1], [1, 2, 3], qid=ids).query_ids
    assert [*map(repr, names)] == [*map(repr, dict.fromkeys(ids))]


@pytest.mark.both
@pytest.mark.parametrize(
    "kind", ["i1", "u2", "i4", ">i4", "i8", ">i8", "u4", "u8", "f8", "bool", "U3", "M8[s]", "strided", "O"]
)
@pytest.mark.parametrize("places", [[0, 0, 1, 2, 2], [1, 0, 2, 0, 1], [2, 2, 1, 0, 0]])
def test_qids_of_every_type(on_both, kind, places):
    """Together and apart, sorted and not: each query has its documents, in their order."""
    ids = np.repeat(places, 2)[::2] if kind == "strided" else np.array(places).astype(kind)
    if kind == "u8":
        ids += np.uint64(2**63)
    rows = {}
    for row, identifier in enumerate(ids.tolist()):
        rows.setdefault(identifier, []).append(row)
    scores = [0.5, 0.4, 0.3, 0.2, 0.1]
    expected = [rg.dcg([row + 1 for row in own]) for own in rows.values()]
    for found in on_both(lambda: rg.from_scores([1, 2, 3, 4, 5], scores, qid=ids).evaluate("dcg")):
        assert [*map(repr, found.query_ids)] == [*map(repr, rows)]
        assert found["dcg"].tolist() == expected


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("missing", [math.nan, np.float64("nan"), np.datetime64("NaT", "s")])
def test_an_id_that_is_missing_is_refused_wherever_ids_are_given(missing):
    where = r"position 1: the id is NaN or missing"
    with pytest.raises(ValueError, match=f"^query_ids: {where}"):
        rg.from_ranked([[1], [0]], query_ids=["a", missing])
    with pytest.raises(ValueError, match=f"^qid: {where}"):
        rg.from_scores([1, 0], [0.5, 0.5], qid=["a", missing])
    with pytest.raises(ValueError, match=f"^qrels: {where}"):
        rg.from_qrels({"a": {"d": 1}, missing: {"d": 1}}, {"a": {"d": 1.0}})
