"""How long does nDCG at 10 take of a matrix of scores, ties averaged?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import contest
import numpy as np
import numpy.typing as npt

import rankgain as rg

# queries x documents: how many times as long scikit-learn and torch shall take
SHAPES = {(10_000, 100): (70, 3), (1000, 1000): (90, 3), (100, 10_000): (180, 4), (10, 1_000_000): (400, 4)}
PLAIN, ALL, TIED = "one document in ten relevant", "every document relevant", "a third of the scores tied"
Grades = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make(queries: int, documents: int, variant: str = PLAIN) -> tuple[Grades, Floats]:
    """Grades 1 to 4 where relevant; the scores are all different, or a third of them about three to a group."""
    rng = np.random.default_rng(20240229)
    grades = np.zeros((queries, documents), dtype=np.int64)
    relevant = documents if variant == ALL else documents // 10
    grades[:, :relevant] = rng.integers(1, 5, (queries, relevant))
    scores = rng.random((queries, documents))
    if variant == TIED:
        scores = np.where(rng.random(scores.shape) < 1 / 3, np.floor(scores * relevant) / relevant, scores)
    return rng.permuted(grades, axis=1), scores


def discounts(documents: int, k: int | None) -> Floats:
    return 1 / np.log2(np.arange(2, min(k or documents, documents) + 2))


def numpy_argsort(grades: Grades, scores: Floats, k: int | None) -> Floats:
    discount = discounts(grades.shape[1], k)
    dcg = np.take_along_axis(grades, np.argsort(-scores, axis=1)[:, :k], axis=1) @ discount
    return dcg / (-np.sort(-grades, axis=1)[:, :k] @ discount)


def numpy_argpartition(grades: Grades, scores: Floats, k: int) -> Floats:
    discount = discounts(grades.shape[1], k)
    top = np.argpartition(scores, -k, axis=1)[:, -k:]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    dcg = np.take_along_axis(grades, np.take_along_axis(top, order, axis=1), axis=1) @ discount
    return dcg / (np.sort(np.partition(grades, -k, axis=1)[:, -k:], axis=1)[:, ::-1] @ discount)


def torch_topk(torch: Any, grades: Any, scores: Any, k: int | None) -> Any:
    k = k or grades.shape[1]
    discount = torch.from_numpy(discounts(grades.shape[1], k))
    dcg = grades.gather(1, scores.topk(k).indices).double() @ discount
    return dcg / (grades.topk(k).values.double() @ discount)


def ours(grades: Grades, scores: Floats, metric: str) -> contest.Contender:
    return contest.Contender(lambda: rg.from_scores(grades, scores).evaluate(metric), lambda answer: answer[metric])


def contend(queries: int, documents: int, variant: str, scale: contest.Scale) -> None:
    grades, scores = make(queries, documents, variant)
    theirs, torchs = SHAPES.get((queries, documents), (None, None)) if variant == PLAIN else (None, None)
    contenders = {"rankgain": ours(grades, scores, "ndcg@10")}
    if metrics := contest.peer("sklearn.metrics"):
        run = partial(metrics.ndcg_score, grades, scores, k=10)
        contenders["scikit-learn ndcg_score"] = contest.Contender(run, at_least=theirs)
    if variant != TIED:
        if torch := contest.peer("torch"):
            run = partial(torch_topk, torch, torch.from_numpy(grades), torch.from_numpy(scores), 10)
            contenders["torch topk and gather"] = contest.Contender(run, at_least=torchs)
        contenders["NumPy argpartition"] = contest.Contender(lambda: numpy_argpartition(grades, scores, 10))
        contenders["NumPy argsort"] = contest.Contender(lambda: numpy_argsort(grades, scores, 10))
    contenders["limit: reading as many bytes"] = contest.reading(grades.nbytes + scores.nbytes)
    contest.hold(f"{queries:,} × {documents:,}, ndcg@10, {variant}", contenders, scale)


def bench(scale: contest.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
        for variant in (PLAIN, ALL, TIED):
            contend(queries, documents, variant, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
