"""Fuzz the functions that take lists or arrays of numbers or ids."""

import numpy as np

import rankgain as rg
from fuzz.metrics import draw_metrics, parameters, vectors_of
from fuzz.numbers import container, number, numbers

TIES = ["average", "stable", "best", "worst"]
BAD_TIES = ["docid", "first", None]
FUNCTIONS = {
    "cg": ("k", "gain"),
    "dcg": ("k", "gain", "discount"),
    "idcg": ("k", "gain", "discount"),
    "ndcg": ("k", "gain", "discount", "ideal", "empty"),
    "mean_ndcg": ("k", "gain", "discount", "ideal", "empty"),
    "reciprocal_rank": ("k", "rel"),
    "mrr": ("k", "rel"),
}


def lists(draw, rows=None):
    """Draw lists of unequal length, or a matrix."""
    rows = draw.below(6) if rows is None else rows
    if draw.below(3):
        return [container(draw, numbers(draw)) for _ in range(rows)]
    columns = draw.below(9)
    return np.reshape(container(draw, [number(draw) for _ in range(columns)] * rows), (rows, columns))


def one_or_many(draw):
    return container(draw, numbers(draw)) if draw.below(2) else lists(draw)


def draw_judged(draw, relevance):
    """Draw judged grades, which may lack returned grades; occasionally the number of queries differs, too."""
    form = draw.below(8)
    if form < 3:
        return relevance
    if form < 5 and all(map(np.ndim, relevance)):
        return [[*row, *extra] for row, extra in zip(relevance, lists(draw, len(relevance)), strict=True)]
    return lists(draw, len(relevance)) if form < 7 else one_or_many(draw)


def function(draw):
    name = draw.of(list(FUNCTIONS))
    given = parameters(draw, FUNCTIONS[name])
    relevance = one_or_many(draw)
    if "ndcg" in name and draw.below(2):
        given["judged"] = draw_judged(draw, relevance)
    return lambda: getattr(rg, name)(relevance, **given)


def gain(draw):
    relevance, given = one_or_many(draw), parameters(draw, ["gain"])
    return lambda: rg.gain(relevance, given.get("gain", "linear"))


def ranked(draw):
    metrics, relevance = draw_metrics(draw, None), lists(draw)
    judged = None if draw.below(2) else draw_judged(draw, relevance)
    return lambda: vectors_of(rg.from_ranked(relevance, judged=judged), metrics)


def scores(draw):
    ties = draw.mostly(TIES, BAD_TIES)
    metrics, form = draw_metrics(draw, ties), draw.below(4)
    sizes = draw.many(lambda draw: draw.below(9), 3)
    grades, given = numbers(draw), {}
    count = len(grades)
    values = ([number(draw) for _ in range(min(count, 12))] * count)[:count]
    if form == 1:
        given["group_sizes"] = [*sizes, count - sum(sizes)] if sum(sizes) <= count else [count]
    elif form == 2:
        given["qid"] = container(draw, ([*sizes, 0] * count)[:count])
    elif form == 3:
        grades, values, count = [grades, grades[::-1]], [values, values], 0
    if draw.below(4) == 3:
        given["judged"] = draw_judged(draw, [grades])
    if count:
        grades, values = container(draw, grades), container(draw, values)
    bits = draw.mostly([64], [32])
    return lambda: vectors_of(rg.from_scores(grades, values, ties=ties, **given).under(score_bits=bits), metrics)


IDS = [
    [0, 1, 2, 3, 4, 5, 6, 7, -1],
    [1, 2**31, 2**62, 2**63 - 1, -(2**63), 7, 255, 256],
    ["a", "b", "", "é", "d" * 9, "d\0", "d"],
    [b"a", b"b", b"", b"\0", b"\xff" * 9],
    [1, "a", b"a", True, 1.0, None, 2**63, (1,), "\ud800"],
]


def recommendations(draw):
    metrics, validate = draw_metrics(draw, None), draw.of(["judged", "full"])
    ids = draw.of(IDS)
    others = draw.mostly([ids], IDS)
    users = draw.below(4)
    rows = [draw.many(lambda draw: draw.of(ids), 9) for _ in range(users)]
    form, dtype = draw.below(5), draw.of(["i8", "i4", "u1", "i2"])
    if draw.below(2):
        truth = [set(draw.many(lambda draw: draw.of(others), 5)) for _ in range(users)]
    else:
        truth = [{one: number(draw) for one in draw.many(lambda draw: draw.of(others), 5)} for _ in range(users)]
    if form == 1 and ids is IDS[0]:
        rows = np.array([[*one, *[-1] * 9][:9] for one in rows]).reshape(users, 9).astype(dtype)
    elif form == 2:
        rows, truth = dict(zip("abcd", rows, strict=False)), dict(zip("bcda", truth, strict=False))
    elif form == 3 and ids is IDS[0]:
        rows = [np.array(one, dtype="i8").astype(dtype) for one in rows]
    elif form == 4:
        truth = list(map(list, truth))
    return lambda: vectors_of(rg.from_recommendations(truth, rows, validate=validate), metrics)


def text(draw):
    """Return a call that evaluates a metric given as a string of arbitrary characters."""
    metric, relevance = draw.rest().decode("latin-1"), [[0, 2, 1, 0], [], [0, 1]]
    return lambda: dict(rg.from_ranked(relevance).evaluate(metric))


def call(draw):
    return draw.of([function, scores, ranked, recommendations, scores, function, gain, text])(draw)
