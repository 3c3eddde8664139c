"""Fuzz qrels and runs as dicts and as columns, with valid and invalid ids, grades and scores."""

from collections import OrderedDict
from fractions import Fraction
from types import MappingProxyType

import numpy as np

import rankgain as rg
from fuzz.metrics import draw_metrics, vectors_of
from fuzz.numbers import number

TIES = ["docid", "average", "stable", "best", "worst"]
IDS = [
    ["d1", "d2", "d10", "é", "", "d" * 9, "\uffff", "\U00010000", "z", "d\0"],
    [1, 2, 10, -3, 255, 2**62, 2**63 - 1, -(2**63), 7, 0],
    [b"d1", b"d2", b"", b"\xff" * 9, b"\0", b"d"],
    ["d1", 1, b"d1", (1, 2), 2.5, True, "\ud800", 2**70, None, np.int64(7), frozenset()],
]
ODD = [None, "1", 10**400, 2**70, 1j, True, np.float32(0.5), np.int8(2), Fraction(1, 3), np.array(2.0), b"1", []]
KINDS = [dict, dict, dict, OrderedDict, MappingProxyType]
BAD_KINDS = [list, lambda side: None]


def value(draw):
    """Draw a number; occasionally it has an unusual type or is not a number."""
    return draw.mostly([number], [lambda draw: draw.of(ODD)])(draw)


def documents(draw, ids):
    drawn = {draw.of(ids): value(draw) for _ in range(draw.below(12) or 3)}
    more = draw.mostly([0], [70], 8)  # occasionally many documents, with ties
    return {index if ids is IDS[1] else f"x{index * 7 % more}": index % 5 for index in range(more)} | drawn


def side(draw, ids, queries):
    return {query: documents(draw, ids) for query in queries if draw.below(8) < 7}


def columns(side, score, ids, shift):
    """Return qrels or a run as columns, with the rows rotated by `shift`."""
    rows = [(query, *row) for query, documents_of_query in side.items() for row in documents_of_query.items()]
    rows = rows[shift:] + rows[:shift]
    column_lists = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    if ids is IDS[1]:
        column_lists[1] = np.array(column_lists[1])
    return dict(zip(("query_id", "doc_id", score), column_lists, strict=True))


def call(draw):
    ties, missing, validate = draw.of(TIES), draw.of(["zero", "skip"]), draw.of(["judged", "full"])
    metrics, ids = draw_metrics(draw, ties), draw.mostly(IDS[:3], IDS, 32)
    queries = ["q1", "q2", "q3", 4][: 1 + draw.below(4)]
    qrels, run = side(draw, ids, queries), side(draw, draw.mostly([ids], IDS), queries)
    form, shift, bits = draw.below(4), draw.below(9), draw.of([64, 32])
    kind = draw.mostly(KINDS, BAD_KINDS)

    def rankings():
        if form == 0:
            sides = columns(qrels, "relevance", ids, shift), columns(run, "score", ids, shift // 2)
            return rg.from_frames(*sides, ties=ties, missing=missing, validate=validate)
        truth = kind({query: kind(documents_of_query) for query, documents_of_query in qrels.items()})
        returned = kind({query: kind(documents_of_query) for query, documents_of_query in run.items()})
        return rg.from_qrels(rg.judgments(truth) if form == 1 else truth, returned, ties=ties, missing=missing)

    return lambda: vectors_of(rankings().under(score_bits=bits), metrics)
