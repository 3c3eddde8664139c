"""How long does nDCG at 10 take of a matrix of scores?"""

from __future__ import annotations

import sys

import contest
import numpy as np
import numpy.typing as npt

import rankgain as rg

SHAPES = [(1000, 1000), (10_000, 100), (100, 10_000)]
Grades = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make(queries: int, documents: int) -> tuple[Grades, Floats]:
    """One document in ten is relevant, with grades 1 to 4; the scores are all different."""
    rng = np.random.default_rng(20240229)
    grades = np.zeros((queries, documents), dtype=np.int64)
    relevant = documents // 10
    grades[:, :relevant] = rng.integers(1, 5, (queries, relevant))
    return rng.permuted(grades, axis=1), rng.random((queries, documents))


def numpy_argsort(grades: Grades, scores: Floats, k: int) -> Floats:
    discount = 1 / np.log2(np.arange(2, k + 2))
    dcg = np.take_along_axis(grades, np.argsort(-scores, axis=1)[:, :k], axis=1) @ discount
    return dcg / (-np.sort(-grades, axis=1)[:, :k] @ discount)


def numpy_argpartition(grades: Grades, scores: Floats, k: int) -> Floats:
    discount = 1 / np.log2(np.arange(2, k + 2))
    top = np.argpartition(scores, -k, axis=1)[:, -k:]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    dcg = np.take_along_axis(grades, np.take_along_axis(top, order, axis=1), axis=1) @ discount
    return dcg / (np.sort(np.partition(grades, -k, axis=1)[:, -k:], axis=1)[:, ::-1] @ discount)


def contend(queries: int, documents: int, scale: contest.Scale) -> None:
    grades, scores = make(queries, documents)
    contenders = {
        'rankgain from_scores(…).evaluate("ndcg@10")': contest.Contender(
            lambda: rg.from_scores(grades, scores).evaluate("ndcg@10"), lambda answer: answer["ndcg@10"]
        ),
        "NumPy argpartition": contest.Contender(lambda: numpy_argpartition(grades, scores, 10)),
        "NumPy argsort": contest.Contender(lambda: numpy_argsort(grades, scores, 10)),
    }
    if metrics := contest.peer("sklearn.metrics"):
        contenders |= {
            "scikit-learn ndcg_score(k=10, ignore_ties=True)": contest.Contender(
                lambda: metrics.ndcg_score(grades, scores, k=10, ignore_ties=True)
            ),
            "scikit-learn ndcg_score(k=10)": contest.Contender(lambda: metrics.ndcg_score(grades, scores, k=10)),
        }
    contest.hold(f"{queries} queries x {documents} documents, ndcg@10", contenders, scale)


def bench(scale: contest.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
        contend(queries, documents, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
