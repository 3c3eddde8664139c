"""How long do nDCG at 100 and reciprocal rank take of recommended ids against held-out ones?"""

from __future__ import annotations

import sys
from typing import Any

import contest
import numpy as np

import rankgain as rg


def make(users: int, items: int, recommended: int, held_out: int) -> tuple[Any, list[Any]]:
    """A matrix of ids, and about so many held-out ids of each user, some of them recommended."""
    rng = np.random.default_rng(20240229)
    matrix = np.empty((users, recommended), dtype=np.int32)
    relevant = []
    for user in range(users):
        matrix[user] = rng.choice(items, recommended, replace=False)
        own = np.concatenate([matrix[user, rng.integers(0, recommended, 3)], rng.integers(0, items, held_out - 3)])
        relevant.append(np.unique(own))
    return matrix, relevant


def numpy_loop(matrix: Any, relevant: list[Any]) -> list[list[float]]:
    """A user at a time, as it is often written."""
    discounts = 1 / np.log2(np.arange(2, matrix.shape[1] + 2))
    ideals = np.cumsum(discounts)
    ndcg, rr = [], []
    for row, own in zip(matrix, relevant, strict=True):
        hits = np.isin(row, own)
        ndcg.append(float(discounts[hits].sum() / ideals[min(len(own), len(row)) - 1]))
        rr.append(1 / (int(hits.argmax()) + 1) if hits.any() else 0.0)
    return [ndcg, rr]


def plain_loop(lists: list[list[int]], sets: list[set[int]], discounts: list[float]) -> list[list[float]]:
    ndcg, rr = [], []
    for row, own in zip(lists, sets, strict=True):
        ranks = [rank for rank, item in enumerate(row) if item in own]
        ideal = sum(discounts[: len(own)])
        ndcg.append(sum([discounts[rank] for rank in ranks]) / ideal)
        rr.append(1 / (ranks[0] + 1) if ranks else 0.0)
    return [ndcg, rr]


def bench(scale: contest.Scale) -> None:
    users = {"smoke": 50, "usual": 10_000, "full": 100_000}[scale]
    matrix, relevant = make(users, 50_000, 100, 20)
    metrics = ("ndcg@100", "rr")
    sets = [set(own.tolist()) for own in relevant]
    lists, discounts = matrix.tolist(), (1 / np.log2(np.arange(2, 102))).tolist()
    scipy: Any = contest.peer("scipy.sparse")
    contenders = {}
    if scipy:
        offsets = np.cumsum([0, *map(len, relevant)])
        held = (np.ones(int(offsets[-1])), np.concatenate(relevant), offsets)
        sparse = scipy.csr_matrix(held, shape=(users, 50_000))
        contenders["rankgain, a matrix against a sparse matrix"] = contest.Contender(
            lambda: rg.from_recommendations(matrix, sparse).evaluate(*metrics), lambda answer: list(answer.values())
        )
    truth = rg.judgments(sets)
    contenders |= {
        "rankgain, a matrix against judgments": contest.Contender(
            lambda: rg.from_recommendations(matrix, truth).evaluate(*metrics), lambda answer: list(answer.values())
        ),
        "rankgain, lists against sets": contest.Contender(
            lambda: rg.from_recommendations(lists, sets).evaluate(*metrics), lambda answer: list(answer.values())
        ),
        "plain Python loop over lists and sets": contest.Contender(lambda: plain_loop(lists, sets, discounts)),
        "NumPy isin, a user at a time": contest.Contender(lambda: numpy_loop(matrix, relevant)),
    }
    contest.hold(f"{users} users, 100 of 50,000 items, 20 held out", contenders, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
