"""Lists of numbers and what stands beside them: contents, shapes, gains, and which of several errors is named."""

import datetime
import math
from decimal import Decimal

import numpy as np

import rankgain as rg
from support.cases import GOOD, HUGE, Case, each, masked, named, passing, refused
from support.public_calls import evaluated, read_trec

nan, inf = math.nan, math.inf


class Fails:
    """A number that cannot become a float, and a gain that cannot be had."""

    def __init__(self, error):
        self.error = error

    def __float__(self, *grades):
        raise type(self.error)(*self.error.args)  # anew, for an exception keeps where it was raised

    __call__ = __float__


ranked, scored, matched = map(evaluated, (rg.from_ranked, rg.from_scores, rg.from_qrels))


files = evaluated(read_trec)


def asked(name, **options):
    return ranked([2, 1], metrics=["rr", rg.metric(name, **options) if options else name])


def beside(value):
    """Zeros in the shape of the value, as far as it has one; an iterator is not touched."""
    try:
        len(value)
        return [[0] * len(row) for row in value]
    except TypeError:
        return [0] * getattr(value, "size", len(value) if isinstance(value, (list, tuple)) else 1)


RELEVANT = [rg.precision, rg.recall, rg.average_precision, rg.hit_rate]
FUNCTIONS = [rg.cg, rg.dcg, rg.ndcg, rg.reciprocal_rank, rg.mean_ndcg, rg.mrr, rg.idcg]
TAKERS = {  # by the name of the argument
    "relevance": [*FUNCTIONS[:-1], *RELEVANT, ranked],
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
    (TypeError, "position 0 | a number, not str; convert text first: float(value)", ["1", "2"], ["", 1]),
    (TypeError, "position 1 | a number, not str", [1, "2"], np.array([1, "2"], dtype=object)),
    (TypeError, "position 1 | a number, not NoneType", [1, None], np.array([1, None])),
    (TypeError, "position 1 | must be a number", [1, Decimal("sNaN")]),
    (TypeError, "position 1 | a number", [1, 2j], [1, {2}], [1, datetime.date(2020, 1, 1)], [1, Fails(ValueError())]),
    (TypeError, "query 1 | position 1 | a number", [[1, 2], [1, "2"]], [[1], [1, "2"]], [[1, 2], [1, None]]),
    (ValueError, "position 1 | too large", [1, HUGE], np.array([1, -HUGE])),
    (ValueError, "query 1 | position 1 | too large", [[1, 2], [1, HUGE]], [[1], [1, HUGE]]),
    (TypeError, "position 1 | a number, not complex128", [1.0, np.complex128(1)]),
    (ValueError, "masked", masked(0, 1), [masked(0, 1), masked(0)], [masked(0, 0), masked(0, 1)], [1.0, np.ma.masked]),
    (ValueError, "query 1 | masked", [[1, 2], [1, np.ma.masked]]),
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
    for function in TAKERS["relevance"][:-1]:
        parts = f"{function.__name__}() takes relevance in rank order | rankgain.from_scores(y_true, y_score)"
        parts += " | rankgain.sklearn.ndcg_score(y_true, y_score)" if function is rg.ndcg else ""
        yield Case(TypeError, parts, function, [0, 1], [0.2, 0.9])
    large = np.array([np.finfo(np.longdouble).max])
    if large[0] > np.finfo(np.float64).max:
        yield Case(ValueError, "y_true | position 0 | infinite", scored, large, [1])
        yield Case(ValueError, "relevance | position 0 | infinite", rg.gain, large)
        yield Case(ValueError, "discount | position 0 | finite", rg.discount, 1, large)
        yield Case(ValueError, "position 0 | gain | finite", rg.dcg, [1], gain=lambda x: x * large)


BAD_CALLABLES = [
    (TypeError, "one number per grade", lambda x: x[1:], lambda x: 1.0, lambda x: None, lambda x: x + 0j),
    (TypeError, "one number per grade", lambda x: x.astype(object), lambda x: np.array(["1"] * len(x))),
    (ValueError, "masked elements", lambda x: np.ma.masked_array(x, x > 0)),
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
        parts = f"relevance | gain returned {gave} for the grade | finite and not negative"
        yield Case(ValueError, f"{parts} | position 0", rg.dcg, [2, 1], gain=gain)
        yield Case(ValueError, f"{parts} | query 0", ranked, [2, 1], metrics=[rg.metric("dcg", gain=gain)])
    fails = Fails(KeyError("what foreign code raises comes out as it is"))
    calls = [(rg.dcg, [1, fails]), (ranked, [[fails], [1]]), (asked, rg.metric("dcg", gain=fails))]
    calls += [(matched, {"q": {"d": fails}}, GOOD), (matched, GOOD, {"q": {"d": fails}})]
    yield from (Case(KeyError, "comes out as it is", *call) for call in calls)
    yield Case(ValueError, "judged | query 1 | not finite", rg.idcg, [[1], [1023.9] * 9], gain="exponential")
    yield Case(ValueError, "relevance | query 1 | not finite", ranked, [[1], [1e308] * 9], metrics=["rr", "dcg"])
    for short in ([], [1], [1, 0.5]):
        parts, lists = f"discount has {len(short)} ranks", [[], [1, 2, 0]]
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
MISSING = np.float64("nan"), np.datetime64("NaT", "s")
BAD_QIDS = [  # for three documents
    (ValueError, "shape | 3 documents | one id for each", [1, 1], [], [1] * 4, np.ones((1, 3)), np.ones((3, 1)), 5),
    (ValueError, "position 1 | NaN", [1, nan, 1], [None, nan, "a"], np.array([1, nan, 1], dtype="f2")),
    (ValueError, "position 1 | NaN or missing", *([1, missing, 1] for missing in (*MISSING, Decimal("sNaN")))),
    (ValueError, "masked", masked(0, 1, 0)),
    (TypeError, "position 0 | hashable", np.array([{}, {}, {}]), [[1], [1], [2]], [[1], [1, 2], [2]]),
]
BAD_IDS = [  # for two queries
    (ValueError, "2 queries", [], ["a"], ["a", "b", "c"], "abc", range(3)),
    (ValueError, "position 1 | NaN or missing", *(["a", missing] for missing in (*MISSING, Decimal("sNaN")))),
    (ValueError, "position 1 | repeats an earlier id", ["a", "a"], [1, 1.0], (1, True), np.array([1, 1])),
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
        yield Case(
            ValueError, "y_true | 1 dimension | group_sizes= | mask= | 2 dim", scored, *[np.ones((1, 3))] * 2, **options
        )
    yield Case(ValueError, "group_sizes or qid, not both", scored, *three, group_sizes=[3], qid=[1, 1, 1])
    yield from each(BAD_SIZES, "group_sizes", passing("group_sizes", scored, *three))
    yield from each(BAD_QIDS, "qid", passing("qid", scored, *three))
    for name, rows in [("query_ids", BAD_IDS), ("judged", BAD_JUDGED)]:
        yield from each(rows, name, passing(name, ranked, two), passing(name, scored, *three, qid=[1, 2, 2]))
    yield from each(
        BAD_JUDGED, "judged", *(passing("judged", call, two) for call in (rg.ndcg, rg.mean_ndcg, *RELEVANT))
    )
    lacks = "judged lacks grades | DCG exceeds the ideal | all judged documents"
    falling = {"discount": [1, 0.5]}, {"discount": [1, 1]}
    for options in ({}, {"gain": "exponential"}, {"k": 1}, {"gain": {1: 1, 2: 3}}, *falling):
        for judged in ([[1], [1, 1]], [[1], []]):
            metrics = [rg.metric("ndcg", **options)]
            yield Case(ValueError, f"query 1 | {lacks}", rg.ndcg, [[1], [2, 1]], judged=judged, **options)
            yield Case(ValueError, f"query 1 | {lacks}", ranked, [[1], [2, 1]], judged=judged, metrics=metrics)
    yield Case(ValueError, f"query 'b' | {lacks}", scored, [1, 2, 1], [1, 2, 3], qid=list("aba"), judged=[[1, 1], [1]])


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
    # All terms before any figure: the grade that has no gain, not the ideal that nDCG exceeds.
    large, between = "query 0, position 0 | too large", ["ndcg", "dcg(gain=exponential)"]
    for order in (between, between[::-1]):
        yield Case(ValueError, large, ranked, [[2000, 3]], judged=[[1]], metrics=order)
    yield Case(ValueError, "query 1 | too large", ranked, [[1], [1025], [nan]], metrics=["cg", "dcg(gain=exponential)"])
    yield Case(ValueError, "query 1: discount has", rg.ndcg, [[1], [2, 1], [nan]], discount=[1])
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


def mask_cases():
    """Masks that are none; padding that no mask takes out; and what is left, which is named by its place before."""
    labels = np.array([[0, 2, 1, -100], [1, 0, -100, -100]])
    mask, sides = labels >= 0, {"y_true": labels, "y_score": np.ones((2, 4))}
    message = "mask must hold booleans, True for a document, not int64: pass mask=(mask != 0)"
    yield from refused("from_scores", "mask", [labels], TypeError, message, **sides)
    shapes = [mask[:, :3], mask[:1], mask.ravel()]
    message = "mask must have the shape of y_true: one boolean for each document"
    yield from refused("from_scores", "mask", shapes, ValueError, message, **sides)
    yield from refused("from_scores", "mask", ["yes"], TypeError, "mask must hold real numbers", **sides)
    calls = "cg dcg ndcg mean_ndcg reciprocal_rank mrr precision recall average_precision hit_rate from_ranked"
    message = "query 0, position 3: the grade is negative | mask=labels >= 0"
    yield from refused(calls, "relevance", [labels, labels.astype("f4"), labels.tolist()], ValueError, message)
    yield from refused("from_scores", "y_true", [labels], ValueError, message, y_score=sides["y_score"])
    message = "query 0, position 1 (element 2): the grade is negative"
    yield from refused(calls, "relevance", [np.array([[1, -100, -1]])], ValueError, message, mask=[[True, False, True]])
    given = {"mask": [True, False, True, True], "gain": {1: 3, 2: 7}}
    message = "position 2 (element 3): | no entry for the grade 9"
    yield from refused("cg dcg ndcg mean_ndcg", "relevance", [[1, -1, 2, 9]], ValueError, message, **given)
    sides = {"y_true": [[1, 1, 1]], "mask": [[True, False, True]]}
    message = "y_score: query 0, position 1 (element 2): the score is NaN"
    yield from refused("from_scores", "y_score", [[[1.0, 2.0, nan]]], ValueError, message, **sides)


def rows():
    for section in (list_cases, gain_cases, shape_cases, order_cases, mask_cases):
        yield from section()
