"""Frames, recommendations and judgments that only look odd, and work."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy import sparse
from support.cases import (
    check_each,
    table,
    works,
)
from support.refusals.columns import LIBRARIES, QRELS, RUN, framed, recommended

import rankgain as rg

nan, inf = math.nan, math.inf
SECOND = 1 / math.log2(3)


def legal_cases():
    for make in LIBRARIES.values():
        made = make(QRELS), make({**RUN, "score": [-inf, inf, 0.0]})
        yield works([[(1 / math.log2(3) + 2) / (2 + 1 / math.log2(3)), 0.0]], framed, *made, metrics=["ndcg"])
        empty = make({"qid": [], "label": [], "score": []})
        yield works([[]], framed, empty, metrics=["ndcg"])
        ranks = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [0, 1], "rank": [2, 1]})
        yield works([[1.0]], framed, ranks, metrics=["ndcg"])
        points = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [0, 1], "points": [2, 1]})
        yield works([[0.5]], framed, points, score="points", metrics=["rr"])
        negative = make({"qid": [5, 5], "doc_id": ["a", "b"], "label": [-1, 1], "score": [2, 1]})
        yield works([[0.5]], framed, negative, metrics=["rr"])
        extra = make({**RUN, "query_id": ["q", "x", "x"]})  # r lacks a run, x lacks truth
        yield works([[1.0, 0.0]], framed, make(QRELS), extra, metrics=["rr"])
        yield works([[1.0]], framed, make(QRELS), extra, metrics=["rr"], missing="skip")
    for numbers in (
        [Decimal(1), Fraction(1, 2), True],
        np.array([1, 0.5, True], dtype=object),
        np.array([2, 1, 0], ">f2"),
    ):
        yield works([[0.5, 1.0]], framed, QRELS | {"relevance": [0, 2, 1]}, {**QRELS, "score": numbers}, metrics=["rr"])
    beside = {**RUN, "embedding": np.ones((3, 8)), "notes": "nothing that is read"}
    yield works([[1.0, 0.0]], framed, QRELS, beside, metrics=["rr"])
    for ids in (["\udcff", "é", "z"], ["a\0", "a", ""], [b"\xff", b"", b"\0"], [2**63 - 1, -(2**63), 0]):
        held = {"query_id": ids, "doc_id": ids, "relevance": [1, 1, 1], "score": [1, 2, 3]}
        yield works([[1.0, 1.0, 1.0]], framed, held, metrics=["rr"])
    yield works([[0.0, 0.0]], recommended, [["a"], []], [[], []], metrics=["rr"])
    yield works([[0.0, 0.0]], recommended, [[1], [2]], np.zeros((2, 0), int), metrics=["rr"])
    yield works([[0.0, 1.0]], recommended, [[1], [1]], np.array([[-1, 1], [1, -1]]), metrics=["rr"])
    yield works([[1.0, 0.0]], recommended, {"a": [1], "c": [1]}, {"b": [2], "a": [1]}, metrics=["rr"])
    yield works([[1.0]], recommended, {"a": [1], "c": [1]}, {"b": [2], "a": [1]}, metrics=["rr"], missing="skip")
    yield works([[0.5]], recommended, [{1}], [[2, 2, 1][1:]], metrics=["rr"])
    yield works([[SECOND]], recommended, [{"a": 1, "b": -1}], [["x", "a"]], metrics=["ndcg"])
    yield works(
        [[1.0, 0.0]],
        recommended,
        sparse.csr_array(([1], ([0], [2**40])), (2, 2**40 + 1)),
        [[2**40], [5]],
        metrics=["rr"],
    )


@table(legal_cases())
def test_works(on_both, cases):
    on_both(lambda: check_each(cases))


def test_users_that_are_missing_are_counted(backend):
    sides = {"a": [1], "c": [1]}, {"a": [1], "x": [2], "y": [2]}
    for missing, queries in [("zero", 2), ("skip", 1)]:
        result = rg.from_recommendations(*sides, missing=missing).evaluate("rr")
        assert result.counts == {"queries": queries, "missing": 1, "unjudged": 2, "empty": 0}
        assert list(result.query_ids) == ["a", "c"][:queries]
