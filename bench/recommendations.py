"""How long do nDCG@100 and reciprocal rank take for recommended ids and held-out ids?"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

import harness
import numpy as np

import rankgain as rg


def make(users: int, items: int, recommended: int, held_out: int) -> tuple[Any, list[Any]]:
    """Make a matrix of recommended ids, and about `held_out` held-out ids per user, some of which are recommended."""
    rng = np.random.default_rng(20240229)
    matrix = np.empty((users, recommended), dtype=np.int32)
    relevant = []
    for user in range(users):
        matrix[user] = list(dict.fromkeys(rng.integers(0, items, 2 * recommended).tolist()))[:recommended]
        ids = np.concatenate([matrix[user, rng.integers(0, recommended, 3)], rng.integers(0, items, held_out - 3)])
        relevant.append(np.unique(ids))
    return matrix, relevant


def numpy_loop(matrix: Any, relevant: list[Any]) -> list[list[float]]:
    """Compute nDCG and reciprocal rank with a NumPy loop over the users."""
    discounts = 1 / np.log2(np.arange(2, matrix.shape[1] + 2))
    ideals = np.cumsum(discounts)
    ndcg, rr = [], []
    for row, ids in zip(matrix, relevant, strict=True):
        hits = np.isin(row, ids)
        ndcg.append(float(discounts[hits].sum() / ideals[min(len(ids), len(row)) - 1]))
        rr.append(1 / (int(hits.argmax()) + 1) if hits.any() else 0.0)
    return [ndcg, rr]


def plain_loop(lists: list[list[Any]], sets: list[set[Any]], discounts: list[float]) -> list[list[float]]:
    ndcg, rr = [], []
    for row, ids in zip(lists, sets, strict=True):
        ranks = [rank for rank, item in enumerate(row) if item in ids]
        ideal = sum(discounts[: len(ids)])
        ndcg.append(sum([discounts[rank] for rank in ranks]) / ideal)
        rr.append(1 / (ranks[0] + 1) if ranks else 0.0)
    return [ndcg, rr]


class Stored:
    """A stand-in for a model of the implicit library; it recommends the ids in the rows of a matrix."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def recommend(self, users: Any, _items: Any, **_options: Any) -> tuple[Any, None]:
        return self._matrix[users[0] : users[-1] + 1], None


METRICS = "ndcg@100", "rr"


def ours(recommended: Any, relevant: Any) -> harness.Contender:
    return harness.Contender(
        lambda: rg.from_recommendations(relevant=relevant, recommended=recommended).evaluate(*METRICS)
    )


def sparse_of(relevant: list[Any], items: int) -> Any:
    """Return the held-out ids as a sparse matrix, or None if SciPy is not installed."""
    scipy: Any = harness.library("scipy.sparse")
    offsets = np.cumsum([0, *map(len, relevant)])
    csr = (np.ones(int(offsets[-1])), np.concatenate(relevant), offsets)
    return scipy and scipy.csr_matrix(csr, shape=(len(relevant), items))


def matrices(matrix: Any, relevant: list[Any], items: int, scale: harness.Scale) -> None:
    contenders = {}
    sparse = sparse_of(relevant, items)
    if sparse is not None:
        contenders["rankgain, a matrix against a sparse matrix"] = ours(matrix, sparse)
    contenders["rankgain, a matrix against judgments"] = ours(matrix, rg.judgments([ids.tolist() for ids in relevant]))
    contenders["NumPy isin, a user at a time"] = lambda: numpy_loop(matrix, relevant)
    title = f"{len(matrix)} users, 100 of 50,000 items, 20 held out"
    harness.hold(title, contenders, scale)
    implicit: Any = harness.peer("implicit.evaluation")
    if implicit and sparse is not None:
        rank, options = implicit.ranking_metrics_at_k, {"K": 100, "show_progress": False, "num_threads": 1}
        call = partial(rank, Stored(matrix), sparse, sparse, **options)
        # The implicit library always computes precision, MAP, nDCG and AUC. It has no reciprocal rank.
        contenders = {
            "rankgain, nDCG and reciprocal rank": ours(matrix, sparse)._replace(values=itemgetter("ndcg@100")),
            "implicit, its four metrics": harness.Contender(call, itemgetter("ndcg"), at_least=8),
        }
        harness.hold(f"{title}, sparse", contenders, scale)


def collections(lists: list[list[Any]], sets: list[set[Any]], kind: str, scale: harness.Scale) -> None:
    discounts = (1 / np.log2(np.arange(2, 102))).tolist()
    by_user = [{f"{user}": ids for user, ids in enumerate(side)} for side in (lists, sets)]
    contenders = {
        "rankgain, lists against sets": ours(lists, sets),
        "rankgain, the same in dicts by user": ours(*by_user),
        "plain Python loop over lists and sets": lambda: plain_loop(lists, sets, discounts),
    }
    harness.hold(f"{len(lists)} users, ids that are {kind}", contenders, scale)


def bench(scale: harness.Scale) -> None:
    users, items = {"smoke": 50, "usual": 10_000, "full": 100_000}[scale], 50_000
    matrix, relevant = make(users, items, 100, 20)
    matrices(matrix, relevant, items, scale)
    lists, sets = matrix[:10_000].tolist(), [set(ids.tolist()) for ids in relevant[:10_000]]
    collections(lists, sets, "int", scale)
    lists, sets = [list(map(str, ids)) for ids in lists], [set(map(str, ids)) for ids in sets]
    collections(lists, sets, "str", scale)
