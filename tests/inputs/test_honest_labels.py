"""Honest ids, scores and sizes of groups, drawn 300 times, raise no alarm about texts, zeros and orders of sizes."""

import warnings

import numpy as np
import pandas as pd
import pytest

import rankgain as rg

pytestmark = pytest.mark.slow
DRAWS, QUERIES = 300, 24


def without_alarm(make, evaluate, seed):
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(DRAWS):
            assumed = evaluate(*make(rng)).evaluate("rr").assumed
            assert not any("0 is the last" in each or "end with 0" in each for each in assumed)


def texts(rng, of_item, *, found=0.5, returned=8, judged=1):
    """Judged and returned items of each query, as text; `found`: how often a judged item is returned."""
    relevant, recommended = [], []
    for _ in range(QUERIES):
        items = rng.choice(900, judged + returned, replace=False).tolist()
        truth, run = items[:judged], items[judged:]
        if rng.random() < found:
            run[rng.integers(len(run))] = truth[0]
        relevant.append([of_item(item) for item in truth])
        recommended.append([of_item(item) for item in run])
    return relevant, recommended


def code(item):
    """A code of one to three levels, most of them several, such as "4", "4 7" and "4 7 2"."""
    digits = [f"{level}{(item // 10**level) % 10}" for level in range(3)]
    return " ".join(digits[: 1 + item % 3])


TEXTS = {
    "numbers": str,
    "titles with a year": lambda item: f"Film {item} ({1900 + item % 100})",
    "passages": lambda item: f"{item // 5} p{item % 5}",
    "pairs": lambda item: f"{item},{item * 7 % 900}",
    "times": lambda item: f"2024-05-{item % 28 + 1:02} 10:{item % 60:02}:{item // 60:02}",
    "versions": lambda item: f"v{item} build {item}",
    "one returned passage": lambda item: f"{item // 5} p{item % 5}",
    "codes of levels": code,  # most like several ids: codes of one level are ids, too, and parts of others
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_of_one_id(kind):
    options = {"returned": 1} if kind.startswith("one") else {"found": 0.8} if "levels" in kind else {}

    def evaluate(relevant, recommended):
        return rg.from_recommendations(relevant, recommended, duplicates="first")

    without_alarm(lambda rng: texts(rng, TEXTS[kind], **options), evaluate, [*TEXTS].index(kind))


def items(rng, kind):
    recommended = [(rng.permutation(40)[: rng.integers(4, 9)] + 1).tolist() for _ in range(QUERIES)]
    relevant = [[int(rng.integers(1, 41))] for _ in range(QUERIES)]
    match kind:
        case "0 anywhere":
            recommended = [rng.permutation(20)[:8].tolist() for _ in range(QUERIES)]
        case "0 first":
            recommended = [[0, *row] for row in recommended]
        case "whole catalogue":
            recommended = [rng.permutation(6).tolist() for _ in range(QUERIES)]
        case "0 is relevant":
            relevant[0], recommended = [0], [[*row, 0] for row in recommended]
        case "padded with −1":
            recommended = [[*row, *[-1] * (8 - len(row))] for row in recommended]
        case "0 is last":  # most like padding: an item that all lists end with
            recommended = [[*row, 0] for row in recommended]
        case "0 is last in a matrix":
            recommended = np.array([[*row[:4], 0] for row in recommended])
    return relevant, recommended


ITEMS = [
    *("from 1", "0 anywhere", "0 first", "whole catalogue", "0 is relevant", "padded with −1", "0 is last"),
    "0 is last in a matrix",
]


@pytest.mark.parametrize("kind", ITEMS)
def test_items_called_0(kind):
    without_alarm(lambda rng: items(rng, kind), rg.from_recommendations, ITEMS.index(kind))


def scored(rng, kind):
    labels = (rng.random((QUERIES, 8)) < 0.2).astype(np.float64)
    scores = rng.normal(size=labels.shape) - 3
    match kind:
        case "one decimal":
            scores = np.round(scores + 2.5, 1)
        case "sparse":  # scores of words, of which many documents have none, best first
            scores = -np.sort(-np.maximum(scores + 3, 0), axis=1)
        case "clipped":
            scores = np.minimum(scores + 3, 0)
        case "clipped, worst first":
            scores = np.sort(np.minimum(scores + 3.5, 0), axis=1)
            labels[:, -1] = rng.random(QUERIES) < 0.5
        case "own document first":
            scores[:, 0] = labels[:, 0] = 0
        case "own document last":  # most like padding: distances, negated, of which the last is 0
            scores[:, -1] = labels[:, -1] = 0
        case "lists":
            return [row[: 3 + n % 5] for n, row in enumerate(labels)], [
                row[: 3 + n % 5] for n, row in enumerate(scores)
            ]
    return labels, scores


SCORED = [
    *("logits", "one decimal", "sparse", "clipped", "clipped, worst first", "own document first"),
    *("own document last", "lists"),
]


@pytest.mark.parametrize("kind", SCORED)
def test_scores_of_0(kind):
    without_alarm(lambda rng: scored(rng, kind), rg.from_scores, SCORED.index(kind))


def sized(rng, kind):
    sizes = rng.permutation(np.arange(2, 12))
    match kind:
        case "equal":
            sizes = np.full(10, 5)
        case "top 5":
            sizes = np.minimum(sizes, 5)
        case "sorted by size":
            sizes = np.sort(sizes)[::-1]
    names = np.sort(rng.permutation(99)[:10]) if kind in ("by label", "sorted by size") else rng.permutation(99)[:10]
    qid = pd.Series(np.repeat(names, sizes), name="qid")
    counted = {
        "array": lambda: sizes,
        "list": sizes.tolist,
        "size": lambda: qid.groupby(qid, sort=False).size(),
        "by label": lambda: qid.value_counts().sort_index(),
        "sorted by size": lambda: qid.value_counts().sort_index(),
    }.get(kind, lambda: qid.value_counts(sort=False))
    return rng.random(len(qid)), rng.random(len(qid)), counted()


# Most like value_counts(): "by appearance", the same call that keeps the order of the documents.
SIZED = ["array", "list", "size", "by label", "sorted by size", "equal", "top 5", "by appearance"]


@pytest.mark.parametrize("kind", SIZED)
def test_sizes_of_groups(kind):
    def evaluate(labels, scores, sizes):
        return rg.from_scores(labels, scores, group_sizes=sizes)

    without_alarm(lambda rng: sized(rng, kind), evaluate, SIZED.index(kind))
