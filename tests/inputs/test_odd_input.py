"""Unusual input that is accepted: empty lists, extreme numbers, ids of several types, and arrays of every layout."""

import math
from ast import literal_eval
from collections import Counter, OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import chain
from types import MappingProxyType

import numpy as np
import pytest
from support.evaluating import (
    FUNCTIONS,
    OF_ONE_ARGUMENT,
    evaluate_lines,
    evaluate_qrels,
    evaluate_ranked,
    evaluate_scores,
)
from support.marks import in_one_case
from support.rejections import plain, snapshot

import rankgain as rg

nan, inf = math.nan, math.inf
SECOND = 1 / math.log2(3)  # the discount of rank 2
HALF = (1 + SECOND) / 2  # mean discount of a tie at ranks 1 and 2
GOOD, NONE = {"q": {"d": 1}}, {"q": {}}


def typed(value):
    return f"{type(value).__name__} {value}"[:40]


# fmt: off
EXTREMES = [  # grades, scores, expected nDCG
    ([0, 1], [inf, -inf], SECOND), ([0, 1], [inf, inf], HALF), ([1, 0], [-inf] * 2, HALF), ([1, 0], [-0.0, 0.0], HALF),
    ([0, 1], [2**63 - 1, -(2**63)], SECOND), ([0, 1], [-(2**63), 2**64 - 1], 1.0), ([0, 1], [2**200, 0.5], SECOND),
    ([0, 1], [2**63 - 1, 2**63 - 2], HALF), ([0, 1], [True, False], SECOND), ([2**63 - 1, 0], [0, 1], SECOND),
    ([0, 1], np.array([1, 2**64 - 1], dtype="u8"), 1.0), ([0, 1], np.array([200, 100], dtype="u1"), SECOND),
    ([1e308, 1e308], [1, 2], 1.0), ([5e-324, -0.0], [2, 1], 1.0), ([0, 2**70], [2, 1], SECOND),
    ([Decimal("1.5"), True, Fraction(1, 2)], [3, Fraction(5, 2), Decimal(2)], 1.0),
]
MIXED = [  # judged, returned, expected nDCG; ids of several types are refused only if a tie must be broken
    ({1: 1}, {1: 1, "2": 2}, SECOND), ({"a": 0}, {"a": 1, 2: 1}, 0.0), ({"a": 1}, {"b": 1, 2: 1}, 0.0),
    ({1: 1}, {np.int64(1): 1, 2**80: 1}, SECOND), ({"a": 1}, {"a": 1, np.str_("b"): 1}, SECOND),
]
RUNS = [b"q Q0 d 1 inf t", b"q Q0 d 1 -inf t\r\n", b"\n \t\nq  Q0\td 1 1e999 t", b"q Q0 d x -1 t\r\n\r\n"]
# fmt: on


@pytest.mark.parametrize("empty", [[], (), np.zeros(0), np.zeros(0, dtype=object), range(0)], ids=typed)
def test_an_empty_list_is_worth_nothing(gives, empty):
    for function in [*FUNCTIONS, rg.idcg]:
        gives(0.0, function, empty)
    gives([], rg.gain, empty)
    gives([[0.0]] * 3, evaluate_scores, empty, empty)


@pytest.mark.parametrize(
    ("empty", "queries"), [([[]], 1), ([[], []], 2), (np.zeros((3, 0)), 3), (np.zeros((0, 5)), 0), ([()], 1)], ids=typed
)
def test_empty_lists_are_worth_nothing(gives, empty, queries):
    for function in [*FUNCTIONS, rg.idcg]:
        mean = 0.0 if queries else nan
        gives(mean if function in (rg.mean_ndcg, rg.mrr) else [0.0] * queries, function, empty)
    gives([[0.0] * queries] * 3, evaluate_ranked, empty, judged=empty)
    gives([[0.0] * queries] * 3, evaluate_scores, empty, empty)


def test_queries_without_documents(gives):
    for options, values in [({"group_sizes": []}, []), ({"qid": []}, []), ({"group_sizes": [0, 0]}, [0.0, 0.0])]:
        gives([values] * 3, evaluate_scores, [], [], **options)
    for sides in [(NONE, NONE), (NONE, GOOD), (GOOD, NONE)]:
        gives([[0.0]] * 3, evaluate_qrels, *sides)


def test_documents_of_queries_that_only_one_side_has_are_not_read(gives):
    gives([[1.0]] * 3, evaluate_qrels, {**GOOD, "r": {"d": "x"}}, {**GOOD, "s": {"d": "x"}}, missing="skip")


@pytest.mark.parametrize("k", [1, 10**9, 2**48, np.int64(3), np.uint8(3), None], ids=typed)
def test_any_positive_cutoff_is_accepted(gives, k):
    for function in (rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.reciprocal_rank, rg.mean_ndcg, rg.mrr):
        gives(1.0, function, [1], k=k)


@pytest.mark.parametrize(
    ("ties", "ndcg", "rr"), [("average", HALF, 0.75), ("stable", 1.0, 1.0), ("worst", SECOND, 0.5)]
)
def test_cutoff_beyond_the_list_has_no_effect(gives, ties, ndcg, rr):
    for k in (10**9, 2**48):
        metrics = [rg.metric("ndcg", k=k), rg.metric("rr", k=k)]
        gives([[ndcg], [rr]], evaluate_scores, [1, 0], [7, 7], ties=ties, metrics=metrics)


def test_grades_below_the_cutoff_are_not_read(gives):
    gives(1.0, rg.dcg, [1, nan, -1], k=1)
    gives(1.0, rg.dcg, [1, 7], k=1, gain={1: 1})


def erase(grades):
    grades[:] = 0.0
    return grades


@pytest.mark.parametrize("grades", [np.array([3.0, 1.0]), np.array([[3.0, 1.0]])], ids=["one list", "matrix"])
def test_a_gain_that_writes_writes_to_a_copy(gives, grades):
    gives([[0.0]], evaluate_ranked, grades, metrics=[rg.metric("dcg", gain=erase)])
    gives((grades * 0).tolist(), rg.gain, grades, erase)
    gives(0.0, rg.mean_ndcg, grades, judged=grades, gain=erase)


def test_exponential_gain_of_a_large_grade(gives):
    gives(math.exp2(1023.9) - 1, rg.dcg, [1023.9], gain="exponential")


@pytest.mark.parametrize(("grades", "scores", "ndcg"), EXTREMES, ids=str)
def test_extreme_scores_and_grades(gives, grades, scores, ndcg):
    gives([[ndcg]], evaluate_scores, grades, scores, metrics=["ndcg"])


ONES = 1, True, np.True_, np.int64(1), np.float32(1), np.float64(1), Decimal(1), Fraction(1), np.array(1)


@pytest.mark.parametrize("value", ONES, ids=typed)
def test_qrels_accept_numbers_of_any_type(gives, value):
    gives([[1.0]] * 3, evaluate_qrels, {"q": {"d": value}}, {"q": {"d": value}})


@pytest.mark.parametrize("value", [-inf, -(2**63), -(2**70), -1, Decimal("-Infinity")], ids=str)
def test_qrels_accept_negative_scores_and_grades(gives, value):
    gives([[SECOND], [SECOND], [0.5]], evaluate_qrels, GOOD, {"q": {"e": 1, "d": value}})
    if -inf < value:  # a negative grade: the document was pooled but not judged
        sides = {"q": {"d": 1, "e": value}}, {"q": {"e": 1, "d": 0}}
        gives([[SECOND]], evaluate_qrels, *sides, metrics=["ndcg"])


def test_stable_ties_follow_the_order_of_the_mapping(gives):
    moved = OrderedDict(a=1, b=1)
    moved.move_to_end("a")
    gives([[0.5]], evaluate_qrels, {"q": {"a": 1}}, {"q": moved}, ties="stable", metrics=["rr"])


@pytest.mark.parametrize(
    ("ties", "value"), [("average", HALF), ("stable", 1.0), ("best", 1.0), ("worst", SECOND)], ids=str
)
def test_ids_of_several_types_may_tie_where_ids_do_not_break_ties(gives, ties, value):
    gives([[value]], evaluate_qrels, {"q": {1: 1}}, {"q": {1: 1, "2": 1}}, ties=ties, metrics=["ndcg"])


@pytest.mark.parametrize(("judged", "returned", "value"), MIXED, ids=str)
def test_ids_of_several_types_are_accepted_where_no_tie_must_be_broken(gives, judged, returned, value):
    gives([[value]], evaluate_qrels, {"q": judged}, {"q": returned}, metrics=["ndcg"])


def test_ids_of_several_types_may_tie_below_the_cutoff(gives):
    gives([[1.0]], evaluate_qrels, {"q": {1: 1, 3: 1}}, {"q": {1: 0, "2": 0, 3: 5}}, metrics=["ndcg@1"])


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("grade", ["1", "1.5", "+1", "1e0", ".5", "5.", "0.12345678901234567890"])
def test_files_accept_grades_as_python_writes_them(gives, grade):
    qrels, run = b"q 0 d " + grade.encode(), b"q Q0 d 1 2.5 t\n"
    gives([[1.0]], evaluate_lines, qrels, run, metrics=["ndcg"])


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("run", RUNS, ids=["infinite", "minus infinite", "blank lines", "text for a rank"])
def test_files_accept_odd_lines(gives, run):
    gives([[1.0]], evaluate_lines, b"\r\nq 0 d 1\r\n\nq 0 e 0", run, metrics=["ndcg"])


GRADES = [[3.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]]
DTYPES = [*"?bBhHiIqQefdg", ">f2", ">f4", ">f8", ">i2", ">i8", ">u4"]
LAYOUTS = {
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "strided": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "reversed": lambda array: array[:, ::-1].copy()[:, ::-1],
    "Fortran": np.asfortranarray,
    "unaligned": lambda array: np.frombuffer(b"-" + array.tobytes(), array.dtype, offset=1).reshape(array.shape),
    "unmasked": np.ma.masked_array,
    "tuples": lambda array: tuple(map(tuple, array.tolist())),
    "rows": list,
    "objects": lambda array: array.astype(object),
}


@cache
def of_lists(taker, backend, lists):
    return repr(plain(taker(literal_eval(lists))))


@in_one_case("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_array_equals_plain_lists(backend, dtype, layout):
    array = np.array(GRADES).astype(dtype)
    odd, expected = LAYOUTS[layout](array), array.astype(float).tolist()
    row, before = odd[0], snapshot(odd)
    for taker in [rg.gain, *chain(*OF_ONE_ARGUMENT.values())]:
        assert repr(plain(taker(odd))) == of_lists(taker, backend, repr(expected))
        assert repr(plain(taker(row))) == of_lists(taker, backend, repr(expected[0]))
    sizes = np.array([3, 1], dtype=dtype if dtype in "bBhHiIqQ" else ">u2")
    for groups in ({"group_sizes": sizes}, {"qid": [2, 1, 2, 2]}):
        assert plain(evaluate_scores(row, row, **groups)) == plain(evaluate_scores(expected[0], expected[0], **groups))
    assert snapshot(odd) == before


@pytest.mark.both
@pytest.mark.parametrize("shell", [MappingProxyType, OrderedDict, Counter, partial(defaultdict, int)])
def test_qrels_accept_every_mapping(on_both, shell):
    sides = [{"q": shell({"d": 1, "e": grade})} for grade in (2, 0)]
    before = snapshot(sides)
    assert (
        on_both(lambda: plain(evaluate_qrels(*sides)))
        == [plain(evaluate_qrels(*({"q": dict(side["q"])} for side in sides)))] * 2
    )
    assert snapshot(sides) == before


@pytest.mark.parametrize("ids", [[1, "a", 1], [-1, 2**63, 2**63 + 1], ["a", "a\0", "b"], [(1, 2), (3, 4), (1, 2)]])
def test_qids_are_returned_unchanged(backend, ids):
    names = rg.from_scores([1, 0, 1], [1, 2, 3], qid=ids).query_ids
    assert [*map(repr, names)] == [*map(repr, dict.fromkeys(ids))]


@pytest.mark.both
@pytest.mark.parametrize(
    "kind", ["i1", "u2", "i4", ">i4", "i8", ">i8", "u4", "u8", "f8", "bool", "U3", "M8[s]", "strided", "O"]
)
@in_one_case("numbers", [[0, 0, 1, 2, 2], [1, 0, 2, 0, 1], [2, 2, 1, 0, 0]])
def test_qids_of_every_type_group_documents(on_both, kind, numbers):
    """The documents of each query stay in their original order, whether the rows are contiguous or interleaved."""
    ids = np.repeat(numbers, 2)[::2] if kind == "strided" else np.array(numbers).astype(kind)
    if kind == "u8":
        ids += np.uint64(2**63)
    rows = {}
    for row, identifier in enumerate(ids.tolist()):
        rows.setdefault(identifier, []).append(row)
    scores = [0.5, 0.4, 0.3, 0.2, 0.1]
    expected = [rg.dcg([row + 1 for row in documents]) for documents in rows.values()]
    for result in on_both(lambda: rg.from_scores([1, 2, 3, 4, 5], scores, qid=ids).evaluate("dcg")):
        assert [*map(repr, result.query_ids)] == [*map(repr, rows)]
        assert result["dcg"].tolist() == expected


COLUMN = np.array([[0], [1], [0], [2]])


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (
            lambda: rg.from_scores(COLUMN, COLUMN / 2),
            r"y_score has the shape \(4, 1\).*\.ravel\(\) both, and give qid=",
        ),
        (
            lambda: rg.LambdaRank()(COLUMN, COLUMN / 2),
            r"y_score has the shape \(4, 1\).*4 queries of one document each",
        ),
        (lambda: rg.mrr(COLUMN), r"relevance has the shape \(4, 1\).*relevance\.squeeze\(-1\)"),
        (lambda: rg.mean_ndcg(COLUMN), r"relevance has the shape \(4, 1\)"),
    ],
    ids=["from_scores", "LambdaRank", "mrr", "mean_ndcg"],
)
def test_matrix_of_one_column_warns(call, advice):
    """The warning about a matrix with one column, as returned by models with one logit, points to the caller's line."""
    with pytest.warns(UserWarning, match=advice) as heard:
        call()
    assert [warning.filename for warning in heard] == [__file__]


@pytest.mark.filterwarnings("error")
def test_one_query_and_flat_arrays_do_not_warn():
    """There is no warning for a single query, for lists of one document each, or for flat arrays."""
    for grades in (COLUMN[:1], COLUMN.tolist(), COLUMN[:0], COLUMN.reshape(2, 2)):
        rg.from_scores(grades, grades).evaluate("rr")
        rg.mrr(grades)
    rg.from_scores(COLUMN.ravel(), COLUMN.ravel(), group_sizes=[1] * 4)
    with pytest.raises(ValueError, match=r"relevance must have 1 or 2 dimensions, not 3; \.squeeze\(-1\) drops"):
        rg.mrr(COLUMN[None])
    with pytest.raises(ValueError, match=r"1 or 2 dimensions, not 3$"):
        rg.mrr(np.ones((2, 2, 2)))
