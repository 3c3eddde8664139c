"""How long does nDCG of a score matrix take, at 10 and without a cut-off, and how long for relevance in rank order?"""

from __future__ import annotations

from functools import partial
from typing import Any

import harness
import numpy as np
import numpy.typing as npt

import rankgain as rg
from rankgain import sklearn as dropin

SKLEARN, TORCH, ARGSORT = "scikit-learn ndcg_score", "torch topk and gather", "NumPy argsort and take_along_axis"
SORT = "limit: np.sort of the scores alone"
# Keys: queries and documents. Values: target ratios of other times to rankgain's, at 10 and without a cut-off.
SHAPES: dict[tuple[int, int], tuple[dict[str, float], dict[str, float]]] = {
    (10_000, 100): ({SKLEARN: 70, TORCH: 3}, {ARGSORT: 4}),
    (1000, 1000): ({SKLEARN: 90, TORCH: 3}, {ARGSORT: 3, SORT: 1}),
    (100, 10_000): ({SKLEARN: 180, TORCH: 4}, {ARGSORT: 5, SORT: 1}),
    (10, 1_000_000): ({SKLEARN: 400, TORCH: 4}, {ARGSORT: 6, SORT: 1}),
}
SLOW = 10_000  # number of documents from which scikit-learn is left out if there is no cut-off
PLAIN, ALL, TIED = "one document in ten relevant", "every document relevant", "a third of the scores tied"
Grades = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make(queries: int, documents: int, variant: str = PLAIN) -> tuple[Grades, Floats]:
    """Make grades and scores. Relevant documents have grades from 1 to 4.

    The scores are distinct, except that in the variant TIED about a third of them are rounded so that they tie.
    """
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


def contend(queries: int, documents: int, k: int | None, variant: str, scale: harness.Scale) -> None:
    grades, scores = make(queries, documents, variant)
    metric = f"ndcg@{k}" if k else "ndcg"
    metrics = harness.peer("sklearn.metrics") if k or documents < SLOW else None
    contenders: dict[str, Any] = {
        "rankgain": lambda: rg.from_scores(grades, scores).evaluate(metric),
        "rankgain.sklearn ndcg_score": partial(dropin.ndcg_score, grades, scores, k=k),
    }
    if metrics:
        contenders[SKLEARN] = partial(metrics.ndcg_score, grades, scores, k=k)
    if variant != TIED:
        if torch := harness.peer("torch"):
            contenders[TORCH] = partial(torch_topk, torch, torch.from_numpy(grades), torch.from_numpy(scores), k)
        if k:
            contenders["NumPy argpartition"] = partial(numpy_argpartition, grades, scores, k)
        contenders[ARGSORT] = partial(numpy_argsort, grades, scores, k)
    if not k:
        contenders[SORT] = partial(np.sort, scores)
    contenders["limit: reading as many bytes"] = harness.reading(grades.nbytes + scores.nbytes)
    targets = SHAPES.get((queries, documents), ({}, {}))[k is None] if variant == PLAIN else {}
    title = f"{queries:,} × {documents:,}, {metric}, {variant}"
    rivals = {name: harness.Contender.of(name, given) for name, given in contenders.items()}
    rivals = {name: contender._replace(at_least=targets.get(name)) for name, contender in rivals.items()}
    harness.hold(title, rivals, scale)
    if metrics or harness.serve:
        calls = {name: partial(run, ignore_ties=True) for name, run in contenders.items() if "ndcg_score" in name}
        harness.hold(f"{title}, ignore_ties=True", calls, scale)


def ranked(queries: int, documents: int, scale: harness.Scale) -> None:
    relevance, _ = make(queries, documents)
    top, whole = discounts(documents, 10), discounts(documents, None)
    shape = f"ranked, {queries:,} × {documents:,}"
    contenders = {
        "rankgain dcg(relevance, k=10)": partial(rg.dcg, relevance, k=10),
        "NumPy relevance[:, :10] @ discounts": harness.Contender(lambda: relevance[:, :10] @ top, at_least=1),
        "limit: reading as many bytes": harness.reading(relevance[:, :10].nbytes),
    }
    harness.hold(f"{shape}, dcg@10", contenders, scale)

    def sort_and_dot() -> Floats:
        return (relevance @ whole) / (-np.sort(-relevance, axis=1) @ whole)

    contenders = {
        "rankgain ndcg(relevance)": partial(rg.ndcg, relevance),
        "NumPy sort and dot": harness.Contender(sort_and_dot, at_least=3),
        "limit: reading as many bytes": harness.reading(relevance.nbytes),
    }
    harness.hold(f"{shape}, ndcg", contenders, scale)


def bench(scale: harness.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else [(10_000, 100), (1000, 1000)]:
        ranked(queries, documents, scale)
    for k in (10, None):
        for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
            for variant in (PLAIN, ALL, TIED):
                if variant == PLAIN or documents <= 1000 or scale == "full":
                    contend(queries, documents, k, variant, scale)
