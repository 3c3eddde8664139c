"""Check that the compiled and pure-Python backends return the same bits and raise the same errors.

The inputs here would take the plain reference implementation of the tests too long.
"""

import math
import struct
from decimal import Decimal
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.differences import vector_differences
from support.marks import in_one_case
from support.sides import columns, qrels_lines, run_lines
from support.strategies import (
    TIES,
    cutoffs,
    discounts,
    examples,
    fall,
    gains,
    named_gains,
    rels,
    requested_metric,
    requests,
)

import rankgain as rg
from rankgain import _backend
from rankgain.data.groups import NumberedIds, QueryRows
from rankgain.data.ids import ids_of, python_ids
from rankgain.data.ragged import NATIVE
from rankgain.metrics.discounts import Discount
from rankgain.metrics.metric import cut_off
from rankgain.metrics.table import TABLE

pytestmark = pytest.mark.both


def outcome(function):
    """Return the bits of the result, or the type and text of the exception raised."""
    try:
        result = function()
    except Exception as error:
        return type(error), str(error)
    if isinstance(result, float):
        return struct.pack("d", result)
    if isinstance(result, np.ndarray):
        return result.tobytes()
    return {str(name): vector.tobytes() for name, vector in result.items()}, result.counts


def vectors_of(result):
    """Return the values in an outcome by metric, or None if it is an exception."""
    if isinstance(result, bytes):
        return {"result": np.frombuffer(result)}
    return {name: np.frombuffer(data) for name, data in result[0].items()} if isinstance(result[0], dict) else None


def disagreement(*results):
    """Return the lines that say how two outcomes differ: both errors, or the first metrics and values."""
    sides, vectors = ("compiled", "python"), list(map(vectors_of, results))
    if any(values is None for values in vectors):
        texts = [
            f"{result[0].__name__}: {result[1]}" if vectors_of(result) is None else "no error" for result in results
        ]
        return [f"{side}: {text}" for side, text in zip(sides, texts, strict=True)]
    return vector_differences(*vectors, sides=sides) or [f"counts: compiled {results[0][1]}, python {results[1][1]}"]


def agree(on_both, function):
    __tracebackhide__ = True
    compiled, python = on_both(lambda: outcome(function))
    if compiled != python:
        raise AssertionError("\n".join(["the backends differ", *disagreement(compiled, python)]))
    return compiled


wild = st.floats(width=64) | st.sampled_from([1024.0, 1023.5, 1e308, -0.0, 5e-324])
any_grades = st.lists(st.integers(0, 5).map(float) | wild, max_size=9)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 11),
    st.integers(0, 90),
    cutoffs,
    named_gains,
    discounts,
    rels,
    st.sampled_from([*sorted(map(str, NATIVE)), "int16", ">f8", "bool"]),
    st.booleans(),
)
def test_matrices_of_any_type(on_both, seed, rows, ranks, k, gain, discount, rel, dtype, broken):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, rng.choice([2, 5, 9, 100]), (rows, ranks)).astype(dtype)
    if broken and matrix.size and matrix.dtype.kind in "if":
        matrix.flat[rng.integers(matrix.size)] = rng.choice([-1, np.nan, np.inf]) if matrix.dtype.kind == "f" else -1
    agree(on_both, lambda: rg.dcg(matrix, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.idcg(matrix, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.ndcg(matrix, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.ndcg(matrix, k=k, judged=matrix[:, ::-1], ideal="returned"))
    agree(on_both, lambda: rg.reciprocal_rank(matrix, k=k, rel=rel))
    agree(on_both, lambda: rg.from_ranked(matrix).evaluate("ndcg@3", "rr"))
    scores, wider = rng.integers(0, 3, (rows, ranks)) / 2.0, rng.integers(0, 9, (rows, ranks + 3))
    looks = "dcg@3", "rr@5", "idcg@4", "judged@2", "bpref", "num_ret"
    agree(on_both, lambda: rg.from_ranked(matrix, judged=wider).evaluate(*looks, "infap"))
    agree(on_both, lambda: rg.from_scores(matrix, scores, judged=wider).evaluate(*looks))


@given(
    any_grades, any_grades, cutoffs, named_gains | st.sampled_from([{1: 2}, [0.5, 1]]), discounts, st.booleans(), rels
)
def test_functions_agree(on_both, relevance, more, k, gain, discount, cut, rel):
    judged = None if cut else relevance + more
    agree(on_both, lambda: rg.gain(relevance, gain))
    agree(on_both, lambda: rg.dcg(relevance, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.idcg(relevance, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.ndcg(relevance, k=k, gain=gain, discount=discount, judged=judged))
    agree(on_both, lambda: rg.ndcg(relevance, k=k, gain=gain, discount=discount, judged=more))
    agree(on_both, lambda: rg.ndcg([relevance, more], k=k, judged=[more, relevance], ideal="returned", empty=0.5))
    agree(on_both, lambda: rg.reciprocal_rank(relevance, k=k, rel=rel))
    agree(on_both, lambda: rg.reciprocal_rank([relevance, more], k=k, rel=rel))
    agree(on_both, lambda: rg.cg([relevance, more], k=k, gain=gain))


DTYPES = [*"dfeg?bBhHiIlLqQO", ">i8", ">f4"]
SHAPES = {
    "contiguous": lambda array: array,
    "every other": lambda array: np.repeat(array, 2)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "a column": lambda array: np.stack([array, array], axis=1)[:, 0],
    "a field": lambda array: np.rec.fromarrays([np.zeros(len(array), "b"), array], names="pad,value")["value"],
    "read-only": lambda array: np.broadcast_to(array, array.shape),
    "a list": lambda array: array.tolist(),
    "a tuple": lambda array: tuple(array.tolist()),
    "scalars": lambda array: list(array),
}
of_any_length = st.lists(st.integers(0, 3), max_size=9) | st.sampled_from([63, 64, 65, 1024, 1025]).map(
    lambda n: [i * 7 % 4 for i in range(n)]
)


@given(of_any_length, st.sampled_from(DTYPES), st.sampled_from(list(SHAPES)), cutoffs, st.none() | st.just(-1))
def test_one_list_of_any_numbers(on_both, grades, dtype, shape, k, bad):
    """Grades of any type give the same value as the same grades converted to floats."""
    if bad is not None and np.dtype(dtype).kind in "if" and grades:
        grades = [*grades[:-1], bad]
    if np.dtype(dtype).itemsize == 8 and grades:
        grades = [*grades, 2**53 + 1]  # not representable in float64
    relevance = SHAPES[shape](np.array(grades, dtype=dtype))
    as_floats = np.array(grades, dtype=dtype).astype(float).tolist()
    for function in (rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.reciprocal_rank):
        value = agree(on_both, lambda function=function: function(relevance, k=k))
        assert value == outcome(lambda function=function: function(as_floats, k=k))
        if isinstance(value, bytes):
            assert value == outcome(lambda function=function: function([as_floats, [1.0]], k=k)[0].item())


@in_one_case("shape", ["contiguous", "backwards", "a list", "a tuple"])
@pytest.mark.parametrize("dtype", "df?bBhHiIlLqQ")
def test_short_lists_go_straight_through_a_door(on_both, dtype, shape):
    def values(n):
        door = _backend.lists.ListFunctions(False, Discount.of("log2").table(n), 1, 2.0, n, False, 0.0, 1.0)
        grades = SHAPES[shape](np.ones(n, dtype=dtype))
        if dtype == "?" and isinstance(grades, (list, tuple)):
            grades = [1] * n  # the single-list functions accept int, not bool
        return [getattr(door, name)(grades) for name in ("dcg", "idcg", "ndcg", "rr")]

    for n in (1, 64, 65, 1024):
        compiled, python = on_both(lambda n=n: values(n))
        assert compiled == python
        assert None not in compiled
    assert on_both(lambda: values(1025)) == [[None] * 4] * 2


# Lists of metrics that limit how many returned and judged documents they read. Some read only relevant documents, some
# read all judged documents, and some also read pooled documents.
depths = st.integers(1, 12).map("@{}".format) | st.just("")
looks = st.builds(
    lambda depth, judged_depth, counts: [f"dcg{depth}", f"rr{depth}", f"idcg{judged_depth}", *counts],
    depths,
    depths,
    depths.map(lambda depth: [f"judged{depth}"]) | st.sampled_from([[], ["bpref"], ["infap"]]),
)
graded = st.builds(
    lambda k, gain: [rg.metric("ndcg", k=k, gain=gain), rg.metric("rr", k=k), rg.metric("rr", rel=0), "dcg"],
    cutoffs,
    gains,
)
many = st.lists(requests(), min_size=1, max_size=12)
rules = st.tuples(cutoffs, st.booleans(), st.sampled_from([None, 32]))


def limited(rankings, depth, judged_only, bits):
    """Limit the rankings as given, leaving out limits that their tie policy does not allow."""
    if rankings.ties not in (None, "stable", "docid"):
        depth = None
    if rankings.ties is not None and bits is not None:
        rankings = rankings.under(score_bits=bits)
    return rankings.limited(depth=depth, judged_only=judged_only) if depth or judged_only else rankings


def metrics_of(drawn, known, ties):
    """Return the drawn metrics that the tie policy accepts, leaving out discount vectors, which may be too short."""
    if not isinstance(drawn[0], tuple):
        return [metric for metric in drawn if ties != "average" or metric != "infap"]
    drawn = [one for one in drawn if ties != "average" or not TABLE[one[0]].unaveraged]
    drawn = [(name, {k: v for k, v in parameters.items() if type(v) is not list}) for name, parameters in drawn]
    return [requested_metric(one, known)[0] for one in drawn] or ["num_ret"]


@st.composite
def corpora(draw, longest):
    """Draw grades, scores and judged grades for a few queries, with various kinds of ties.

    Also return the numbers of documents and the valid grades. Occasionally a value is invalid.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 5, 40, 70, 300, longest]), min_size=1, max_size=6))
    n = sum(sizes)
    levels = draw(st.sampled_from([1, 2, 7, 1000, 10**9]))
    scores = rng.integers(0, levels, n) / 7.0 - draw(st.sampled_from([0, 1]))
    scores[rng.random(n) < draw(st.sampled_from([0, 0.1]))] = -np.inf
    shape = draw(st.sampled_from(["as drawn", "rising", "falling", "float32"]))
    if shape == "float32":
        scores = scores.astype(np.float32)
    elif shape != "as drawn":
        scores = np.sort(scores)[:: 1 if shape == "rising" else -1].copy()
    share = draw(st.sampled_from([0.02, 0.3, 1.0]))
    grades = np.where(rng.random(n) < share, rng.integers(0, 5, n), 0).astype(float)
    if draw(st.booleans()):
        grades *= rng.choice([1.0, 0.37, 30.0], n)
    grades = grades.astype(draw(st.sampled_from([np.float64, np.float64, np.float32, np.int64, np.int32, np.uint8])))
    known = set(grades.tolist())
    ends = np.cumsum(sizes)[:-1]
    if draw(st.booleans()):
        judged = [np.append(row, [0, *row[:3]]).astype(row.dtype) for row in np.split(grades, ends)]
    else:
        judged = [np.append(row[::2], 3).astype(row.dtype) for row in np.split(grades, ends)]  # lacks some grades
    bad = draw(st.sampled_from([None, None, None, "grade", "score", "both", "judged"]))
    if bad in ("grade", "both") and n and grades.dtype != np.uint8:
        grades[rng.integers(n)] = -1
    if bad in ("score", "both") and n:
        scores[rng.integers(n)] = np.nan
    if bad == "judged" and grades.dtype != np.uint8:
        judged[-1][-1] = -1
    return grades, scores, sizes, judged, known


@examples(3)
@given(
    st.tuples(corpora(300), many) | st.tuples(corpora(900), looks),
    st.sampled_from([None, *TIES]),
    st.booleans(),
    st.booleans(),
    rules,
)
def test_metrics_agree(on_both, corpus_and_metrics, ties, with_judged, flat, limits):
    (grades, scores, sizes, judged, known), drawn = corpus_and_metrics
    metrics, ends = metrics_of(drawn, known, ties), np.cumsum(sizes)[:-1]
    given = {"judged": judged if with_judged else None}

    def rankings():
        if ties is None:
            return rg.from_ranked(np.split(grades, ends), **given)
        if flat:
            return rg.from_scores(grades, scores, group_sizes=sizes, ties=ties, **given)
        return rg.from_scores(np.split(grades, ends), np.split(scores, ends), ties=ties, **given)

    agree(on_both, lambda: rankings().evaluate(*metrics, "judged@3", threads=3))
    agree(on_both, lambda: limited(rankings(), *limits).evaluate(*metrics))


@in_one_case("ties", [None, *TIES])
@pytest.mark.parametrize("name", TABLE)
def test_each_of_the_family(on_both, name, ties):
    """The backends agree at every cut-off, even if all documents of a list or of a tie group are relevant."""
    rng = np.random.default_rng(list(TABLE).index(name))
    sizes = [0, 1, 2, 3, 5, 8, 13, 40]
    lists = [rng.integers(low, 5, size) for size in sizes for low in (0, 0, 1, 4)]
    judged = [np.append(row, [4, 0, 1][: number % 4]) for number, row in enumerate(lists)]
    rankings = rg.from_ranked(lists, judged=judged)
    if ties is not None:
        scores = [rng.integers(0, rng.integers(1, 5), len(row)) for row in lists]
        rankings = rg.from_scores(lists, scores, judged=judged, ties=ties)
    row = TABLE[name]
    options = [{"k": k} for k in (None, *range(1, 42))] if row.cuts else [{}]
    options += [{"rel": 0}, {"rel": 2}, {"rel": 9}, {"ideal": "returned"}, {"empty": 0.5}]
    options += [{"gain": {0: 2, 1: 5, 2: 1, 3: 0, 4: 0}}, {"gain": {0: 4, 1: 2, 2: 9, 3: 9, 4: 1}}]  # not monotonic
    metrics = [rg.metric(name, **option) for option in options if {*option} <= {"k", *row.takes}]
    if ties != "average" or not row.unaveraged:
        agree(on_both, lambda: rankings.evaluate(*metrics))


@examples(2.5)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 3, 50, 10**6]),
    st.sampled_from([*TIES, "docid"]),
    st.sampled_from(["d{}".format, lambda number: (number - 128) * 2**55]),
    many,
)
def test_long_dicts_and_columns(on_both, seed, levels, ties, identifier, drawn):
    """The backends agree on fractional grades, pooled and unjudged documents, and a query missing from the run."""
    rng = np.random.default_rng(seed)
    scale = rng.choice([1.0, 0.37])
    qrels, run = {}, {}
    for query, n in zip("abc", rng.choice([0, 1, 20, 200], 3), strict=True):
        returned = map(identifier, rng.permutation(300)[:n].tolist())
        run[query] = {
            document: float(score) for document, score in zip(returned, rng.integers(0, levels, n), strict=False)
        }
        judged = map(identifier, rng.permutation(300)[: rng.choice([1, 60])].tolist())
        qrels[query] = {document: int(rng.integers(-2, 5)) * scale for document in judged}
    del run[rng.choice(["b", "c"])]
    metrics = metrics_of(drawn, {grade for side in qrels.values() for grade in side.values() if grade >= 0}, ties)
    rankings = rg.from_qrels(qrels, run, ties=ties)
    by_dicts = agree(on_both, lambda: rankings.evaluate(*metrics))
    agree(on_both, lambda: rankings.limited(judged_only=True).evaluate(*metrics))
    frames = columns(qrels), columns(run, value="score")
    if frames[1]["doc_id"]:
        frames[1]["score"] = np.array(frames[1]["score"], np.float32)
        assert agree(on_both, lambda: rg.from_frames(*frames, ties=ties).evaluate(*metrics))[0] == by_dicts[0]


hostile = st.sampled_from([0.0, 1.0, 2.0, 4.0, 0.5, 5e-324, 2.3e-308, 1e-300, 1e16, 1e17, 3e17, 1e300, 5e307, 1.7e308])
hostile |= st.sampled_from([0, 1, 3]) | wild | st.sampled_from([3.9, 4.1, 53.0, 64.0, 1023.0])


@examples(4)
@given(st.lists(st.lists(hostile, max_size=7), min_size=1, max_size=3), st.sampled_from([None, *TIES]), many, st.data())
def test_the_family_of_hostile_grades(on_both, lists, ties, drawn, data):
    """The backends agree on overflow, subnormal and very large grades, and judged sets that lack returned grades."""
    known = {grade for row in lists for grade in row if np.isfinite(grade) and grade >= 0}
    known = known if data.draw(st.booleans()) else {4.0}
    judged = data.draw(st.none() | st.just([[*row, 1.0] for row in lists]) | st.just([[1.0] for _ in lists]))
    drawn = [(n, {k: v for k, v in parameters.items() if k != "max_grade"}) for n, parameters in drawn]
    known = {grade for grade in known if grade < 1024.0}
    metrics = metrics_of(drawn, known, ties)

    def evaluated():
        if ties is None:
            return rg.from_ranked(lists, judged=judged).evaluate(*metrics)
        scores = [[position % 2 for position in range(len(row))] for row in lists]
        return rg.from_scores(lists, scores, judged=judged, ties=ties).evaluate(*metrics)

    with np.errstate(all="ignore"):
        agree(on_both, evaluated)


KINDS = ["d1", "d2", "d10", "é", "", "\ud800", "z", "y", 1, 2, -3, b"d1", (1, 2), 2.5]
values = st.sampled_from([0, 1, 2, 3, 0.5, -1, 1.0, np.float32(0.5), np.int64(2), True, 2**70])
bad_values = st.sampled_from(["x", None, float("nan"), float("inf"), 10**400, 1j, np.float64("nan")])


@st.composite
def dicts(draw):
    def documents(of):
        return st.dictionaries(of, values, max_size=12)

    one_kind = st.sampled_from([i for i in KINDS if isinstance(i, str)])
    side = st.dictionaries(st.sampled_from("abc"), documents(one_kind) | documents(st.sampled_from(KINDS)), max_size=3)
    qrels, run = draw(side), draw(side)
    if draw(st.integers(0, 3)) == 0 and qrels:
        query = draw(st.sampled_from(sorted(qrels)))
        (qrels if draw(st.booleans()) else run).setdefault(query, {})["bad"] = draw(bad_values)
    return qrels, run


@given(dicts(), st.sampled_from([*TIES, "docid"]), graded, st.sampled_from(["zero", "skip"]))
def test_qrels_agree(on_both, sides, ties, metrics, missing):
    agree(on_both, lambda: rg.from_qrels(*sides, ties=ties, missing=missing).evaluate(*metrics))


class Score(float):
    """A float whose methods run Python code."""

    def __float__(self):
        return 1.0 - float.__float__(self)


NUMBERS = [float, int, bool, np.bool_, np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint64]
NUMBERS += [Decimal, Fraction, Score, lambda number: 2**1000 * int(number), lambda number: np.array(number)]


@pytest.mark.parametrize("number", NUMBERS)
@in_one_case("ties", ["docid", "stable", "average"])
def test_numbers_of_any_type(on_both, number, ties):
    """A number of any type gives the same result as the number converted to a float."""

    def evaluated(make):
        side = {f"d{index}": make(value) for index, value in enumerate([1, 0, 1, 1, 0, 1] * 5)}
        return agree(
            on_both, lambda: rg.from_qrels({"q": side}, {"q": {"x": 1} | side}, ties=ties).evaluate("dcg", "rr")
        )

    assert evaluated(number) == evaluated(lambda value: float(number(value)))


@pytest.mark.parametrize("other", [np.int64, float, Fraction, lambda number: f"d{number}", lambda number: (number,)])
@pytest.mark.parametrize("side", ["qrels", "run"])
@in_one_case("odd", [{3}, {7}, set(range(12))])
def test_ties_of_ids_of_other_types(on_both, other, side, odd):
    """The backends agree on ids that are equal across types and on ids that cannot be compared."""
    sides = {"qrels": dict.fromkeys([3, 5, 8], 1), "run": dict.fromkeys(range(12), 1.0)}
    sides[side] = {other(number) if number in odd else number: value for number, value in sides[side].items()}
    agree(on_both, lambda: rg.from_qrels({"q": sides["qrels"]}, {"q": sides["run"]}).evaluate("dcg", "rr"))


@pytest.mark.parametrize("grades", [[-0.0, 1.0, 0.0, -0.0], [0.0, -0.0, 9.5], [-0.0], [1e6, -0.0, 0.5]])
def test_grades_of_minus_zero(on_both, grades):
    """A callable gain may distinguish −0.0 from 0.0, but it receives judged grades of −0.0 as 0.0."""
    signs = {"gain": lambda grades: np.copysign(1.0, grades) + 2.0}
    metrics = [rg.metric(name, k=k, **signs) for name in ("dcg", "idcg") for k in (None, 1, 2)]
    documents = dict(zip("abcd", grades, strict=False))
    agree(on_both, lambda: rg.from_ranked([grades]).evaluate(*metrics))
    agree(on_both, lambda: rg.from_qrels({"q": documents}, {"q": documents}).evaluate(*metrics))
    for ties in TIES:
        agree(on_both, lambda ties=ties: rg.from_scores([grades], [[1.0] * len(grades)], ties=ties).evaluate(*metrics))


@pytest.mark.slow
def test_discounts_beyond_the_table(on_both):
    """The table of discounts ends at rank 65,536; deeper discounts are computed on demand, with the same bits."""
    relevance = np.zeros(70_000)
    relevance[[3, 65_535, 65_536, 69_999]] = 1, 2, 3, 4
    for discount in ("log2", "zipf", "jarvelin:3"):
        value = agree(on_both, lambda kind=discount: rg.dcg(relevance, discount=kind))
        by_rank = rg.discount(70_000, discount)
        total = sum((relevance[i] * by_rank[i] for i in (3, 65_535, 65_536, 69_999)), 0.0)
        assert struct.unpack("d", value)[0] == total
        scored = rg.from_scores(relevance, -np.arange(70_000.0))
        metric = rg.metric("dcg", discount=discount)
        agree(on_both, lambda rankings=scored, requested=metric: rankings.evaluate(requested))
        assert scored.evaluate(metric)[metric][0] == total
        ideal = agree(on_both, lambda kind=discount: rg.idcg(np.ones(70_000), discount=kind))
        assert struct.unpack("d", ideal)[0] == np.cumsum(by_rank)[-1]


@pytest.mark.parametrize("kind", ["log2", "zipf", "jarvelin:10"])
def test_tables_do_not_depend_on_earlier_requests(on_both, kind):
    for depth in (1, 5000, 3):
        compiled, python = on_both(lambda depth=depth: Discount.of(kind).table(cut_off(depth))[:depth].tolist())
        assert compiled == python == rg.discount(depth, kind).tolist()


# ids in columns

texts = st.sampled_from(
    ["", "d", "d1", "d10", "d2", "d" * 8, "d" * 9, "d" * 40, "d" * 40 + "1", "é", "\uffff", "\U00010000", "\0", "d\0"]
) | st.text(max_size=20, alphabet=st.characters(exclude_categories=["Cs"]))
BY_KIND = {
    "text": texts | st.sampled_from(["d\udcff", "d" * 400]),  # "\udcff" stands for a byte that is not valid UTF-8
    "bytes": st.sampled_from([b"", b"\0", b"d", b"\xff" * 8, b"\x80"]) | st.binary(max_size=12),
    "ints": st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 2**62, 255, 256]) | st.integers(-(2**63), 2**63 - 1),
}
columns_of_ids = st.sampled_from(list(BY_KIND)).flatmap(lambda kind: st.lists(BY_KIND[kind], max_size=30))


@given(columns_of_ids, st.lists(st.integers(0, 30), max_size=4), st.integers(1, 30))
def test_the_kernels_over_ids(on_both, ids, ends, share):
    """Ids are packed, numbered and checked for repeats; `share` limits the number of different ids."""
    ids = [ids[i % share] for i in range(len(ids))] + ids[:1] * 2
    offsets = np.array(sorted({0, len(ids), *(min(end, len(ids)) for end in ends)}))

    def results():
        keys = ids_of(ids).take(slice(None))
        numbered = NumberedIds(ids_of(ids).kind)
        runs = [numbered.add(keys), numbered.add(keys)] if len(keys.starts) else []
        return (
            python_ids(keys, ids_of(ids).kind),
            [(numbers.tolist(), rows.tolist(), list(numbered.names)) for numbers, rows in runs],
            _backend.columns.repeated(*keys.buffers(), offsets),
        )

    compiled, python = on_both(results)
    assert compiled == python
    packed, runs, _ = python
    assert packed == ids
    for numbers, rows, names in runs:
        assert names == list(dict.fromkeys(ids))
        assert [ids[row] for row in rows] == [names[number] for number in numbers]
    assert list(QueryRows.of(ids_of(ids)).names) == list(dict.fromkeys(ids))


@given(st.lists(BY_KIND["ints"], min_size=1, max_size=8), st.lists(st.integers(0, 7), max_size=40), st.booleans())
def test_rows_of_queries_by_integers(on_both, different, positions, narrow):
    """Queries are ordered by their first rows, and rows keep their order within a query, for all integer ids."""
    ids = np.array([different[position % len(different)] for position in positions], dtype=np.int64)
    ids = ids.astype(np.int32) if narrow else ids
    labels = np.arange(len(ids), dtype=np.float64)  # distinct labels, so that the DCG depends on the order of the rows
    rows = {}
    for identifier, label in zip(ids.tolist(), labels.tolist(), strict=True):
        rows.setdefault(identifier, []).append(label)
    compiled, python = on_both(lambda: rg.from_scores(labels, -labels, qid=ids).evaluate("dcg").to_dict())
    assert compiled == python == {query: {"dcg": rg.dcg(query_labels)} for query, query_labels in rows.items()}


@pytest.mark.both
def test_many_integers_are_numbered(on_both):
    """Numbering is correct while the hash table grows, even if many ids have the same low bits."""
    rng = np.random.default_rng(5)
    for ids in (np.arange(5000), np.arange(5000) << 40, rng.integers(-(2**63), 2**63 - 1, 5000)):
        scattered = rng.permutation(np.repeat(ids, 3))
        compiled, python = on_both(
            lambda qid=scattered: rg.from_scores(qid % 5, qid % 7, qid=qid).evaluate("num_ret", "cg").to_dict()
        )
        assert compiled == python
        expected = {query: {"num_ret": 3.0, "cg": 3.0 * (query % 5)} for query in scattered.tolist()}
        assert list(python.items()) == list(expected.items())


@st.composite
def tables(draw):
    """Draw qrels and a run as rows of (query, document, number), with ids of one type and occasional invalid rows."""
    kind = draw(st.sampled_from(list(BY_KIND)))
    documents = draw(st.lists(BY_KIND[kind], min_size=1, max_size=40, unique=True))
    queries = draw(st.lists(BY_KIND[kind], min_size=1, max_size=4, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    offenders = draw(st.sampled_from([False, False, False, True]))

    def rows(share, numbers, bad):
        triples = [
            (q, d, numbers()) for q in range(len(queries)) for d in range(len(documents)) if rng.random() < share
        ]
        if offenders and triples:
            row = triples[rng.integers(len(triples))]
            number = numbers() if rng.random() < 0.5 else bad
            triples.insert(rng.integers(len(triples) + 1), (row[0], row[1], number))
        if draw(st.booleans()):
            triples = [triples[position] for position in rng.permutation(len(triples))]
        return [(queries[q], documents[d], float(v)) for q, d, v in triples]

    qrels = rows(draw(st.sampled_from([0.1, 0.5, 1.0])), lambda: rng.integers(-1, 4), np.nan)
    return qrels, rows(draw(st.sampled_from([0.5, 1.0])), lambda: rng.integers(levels) - 1.0, np.nan)


def as_dicts(rows):
    side = {}
    for query, document, number in rows:
        side.setdefault(query, {})[document] = number
    return side


@examples(2.5)
@given(
    tables(),
    st.sampled_from([*TIES, "docid"]),
    st.sampled_from(["judged", "full"]),
    st.sampled_from(["skip", "zero"]),
    rules,
    looks | graded,
)
def test_documents_with_ids_agree(on_both, sides, ties, validate, missing, limits, drawn):
    """The backends agree on columns of every type, and columns without repeated ids give the same values as dicts."""
    metrics, options = metrics_of(drawn, (), ties), {"ties": ties, "missing": missing}

    def evaluated(make, *sides, **options):
        return agree(on_both, lambda: limited(make(*sides, **options), *limits).evaluate(*metrics))

    frames = [
        {name: [row[part] for row in rows] for part, name in enumerate(("query_id", "doc_id", value))}
        for rows, value in zip(sides, ("relevance", "score"), strict=True)
    ]
    from_columns = evaluated(rg.from_frames, *frames, validate=validate, **options)
    qrels, run = map(as_dicts, sides)
    documents = {document for rows in sides for _, document, _ in rows}
    not_utf8 = any("\udcff" in str(document) for document in documents)
    of_dicts = evaluated(rg.from_qrels, qrels, run, **options)
    if isinstance(from_columns[0], dict) and validate == "full" and not not_utf8:
        assert of_dicts == from_columns
    evaluated(rg.from_qrels, dict(reversed(qrels.items())), run | {"another": {}}, **options)
    recommended = {query: list(scores) for query, scores in run.items()}
    evaluated(rg.from_recommendations, qrels, recommended, validate=validate)
    evaluated(rg.from_recommendations, [*qrels.values()], [*recommended.values()], validate=validate)
    if {*map(type, documents)} == {int}:
        lines = qrels_lines(qrels), run_lines(run)
        evaluated(lambda **options: rg.read_trec(*map(BytesIO, lines), **options), **options)


recommended_ids = st.lists(st.integers(-2, 6), max_size=6)
relevant_ids = st.lists(st.integers(-2, 6), max_size=4) | st.dictionaries(
    st.integers(-2, 6), st.sampled_from([0, 1, 2, -1])
)


@given(
    st.lists(recommended_ids, max_size=3),
    st.lists(relevant_ids, max_size=3),
    st.sampled_from(["judged", "full"]),
    cutoffs,
)
def test_recommendations_agree(on_both, recommended, relevant, validate, k):
    metrics = [rg.metric("ndcg", k=k, gain=fall), rg.metric("rr", k=k), rg.metric("rr", rel=0), "ndcg"]
    agree(on_both, lambda: rg.from_recommendations(relevant, recommended, validate=validate).evaluate(*metrics))
    matrix = np.array([[*items, *[-1] * 6][:6] for items in recommended]).reshape(len(recommended), 6)
    agree(on_both, lambda: rg.from_recommendations(relevant, matrix, validate=validate).evaluate(*metrics))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 3, 40, 3000]),
    st.sampled_from([("i4", "i4"), ("i4", "i8"), ("i8", "i4"), ("i8", "i8"), ("u2", "i8")]),
    st.sampled_from([1, 2**16, 2**31 - 1]),
    st.sampled_from(["judged", "full"]),
    st.sampled_from([None, "recommended", "relevant"]),
)
def test_numbers_agree(on_both, seed, held_out, dtypes, step, validate, repeats):
    """The backends agree on 32-bit and 64-bit ids, sorted or unsorted, with or without a repeated id."""
    rng = np.random.default_rng(seed)
    step = min(step, (np.iinfo(min(dtypes, key=lambda dtype: int(dtype[1]))).max - 1) // 6000) or 1
    matrix = np.array([rng.permutation(6000)[:50] for _ in range(3)])
    truth = np.array([rng.permutation(6000)[:held_out] for _ in range(3)]).reshape(3, held_out)
    if rng.random() < 0.5:
        truth.sort()
    if repeats == "relevant" and held_out:
        truth[1, -1] = truth[1, rng.integers(held_out)]
    if repeats == "recommended":
        matrix[2, rng.integers(25, 50)] = matrix[2, rng.integers(25)]
    matrix, truth = ((ids * step).astype(dtype) for ids, dtype in zip((matrix, truth), dtypes, strict=True))
    expected = agree(
        on_both, lambda: rg.from_recommendations(truth, matrix, validate=validate).evaluate("ndcg", "rr@20")
    )
    lists = truth.tolist(), matrix.tolist()
    if isinstance(expected[0], dict):
        sets = list(map(set, lists[0])), lists[1]
        for sides in (lists, sets, (sets[0], tuple(map(tuple, lists[1]))), (rg.judgments(truth), lists[1])):
            rankings = rg.from_recommendations(*sides, validate=validate)
            assert agree(on_both, lambda rankings=rankings: rankings.evaluate("ndcg", "rr@20")) == expected


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([math.nan, -math.inf, 1.0, 2.0])), max_size=5),
        min_size=1,
    ),
    st.sampled_from([str, ord, lambda name: "long " * 9 + name]),
)
def test_one_row_per_id_remains(on_both, queries, identifier):
    """For each repeated id, the row with the highest score is kept, or the first such row if scores are tied.

    NaN still raises an error.
    """
    rows = [(query, identifier(name), score) for query, documents in enumerate(queries) for name, score in documents]
    run = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=False))
    truth = rg.judgments({query: {identifier(name): ord(name) for name in "abc"} for query in range(len(queries))})
    if not rows:
        return
    result = agree(
        on_both, lambda: rg.from_frames(truth, run, duplicates="first", ties="stable").evaluate("dcg", "num_ret")
    )
    best_rows = {}
    for query, document, score in rows:
        of_query = best_rows.setdefault(query, {})
        if document not in of_query or score > of_query[document]:
            of_query.pop(document, None)
            of_query[document] = score
    if any(math.isnan(score) for _, _, score in rows):
        assert "is NaN" in result[1]
    else:
        assert result == outcome(lambda: rg.from_qrels(truth, best_rows, ties="stable").evaluate("dcg", "num_ret"))


@given(
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1)) | st.sets(st.integers(0, 9)) | st.tuples(st.just(2**63)))
    | st.lists(st.lists(st.text(max_size=9)) | st.sets(st.just("\ud800") | st.just("é\udcff"))),
    st.sampled_from([True, np.int64(1), 1.0, "1", b"1", None]),
)
def test_rows_of_ids_are_packed(on_both, rows, odd):
    ids = [value for row in rows for value in row]
    for lists in (rows, [*rows, [odd]]):
        for count in {0, len(ids), len(ids) + 1}:

            def packed(lists=lists, count=count):
                numbers, ends = np.zeros((2, count), dtype=np.int64)
                error_code = _backend.dicts.pack_integers(lists, numbers)
                data, text_error = _backend.dicts.pack_ids(lists, True, ends)
                return error_code or numbers.tolist(), text_error or (data, ends.tolist())

            compiled, python = on_both(packed)
            assert compiled == python
    if {*map(type, ids)} == {int} and 2**63 not in ids:
        numbers = np.zeros(len(ids), np.int64)
        assert _backend.dicts.pack_integers(rows, numbers) is None
        assert numbers.tolist() == ids
