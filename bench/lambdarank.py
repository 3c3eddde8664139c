"""How long does a call for LambdaRank's gradients take, compared with LightGBM's own objective and with NumPy?"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import harness
import numpy as np
import numpy.typing as npt

import rankgain as rg

Floats = npt.NDArray[np.float64]
DOCUMENTS = 120
# cut-off: the target for the ratio of LightGBM's time to rankgain's
CASES = {10: 3.0, 30: 2.8}
BY_NUMPY, THREADS = 25.0, 1.7
# A tree with two leaves on a single binary feature keeps all work other than the gradients to a minimum.
PARAMETERS = {"num_leaves": 2, "max_bin": 2, "min_data_in_leaf": 1, "num_threads": 1, "verbose": -1}
PARAMETERS |= {"feature_pre_filter": False}


def make(queries: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Make labels (about half of them 0), scores and group sizes."""
    rng = np.random.default_rng(20240229)
    shape = queries * DOCUMENTS
    labels = rng.choice(5, shape, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(np.float64)
    return labels, rng.normal(size=shape), np.full(queries, DOCUMENTS)


def by_numpy(labels: Floats, scores: Floats, k: int) -> Floats:
    """Compute the gradients query by query, with matrices that hold all document pairs of one query."""
    worth = 1 / np.log2(np.arange(2, DOCUMENTS + 2))
    gradients = np.empty(len(labels))
    for start in range(0, len(labels), DOCUMENTS):
        query = slice(start, start + DOCUMENTS)
        gain = np.exp2(labels[query]) - 1
        ideal = np.sort(gain)[::-1][:k] @ worth[:k]
        order = np.argsort(-scores[query], kind="stable")
        gain, score = gain[order], scores[query][order]
        gap, score_gap = gain[:k, None] - gain, score[:k, None] - score
        pull = np.abs(gap) * (worth[:k, None] - worth) / ideal / (0.01 + np.abs(score_gap))
        pull *= np.sign(gap) / (1 + np.exp(np.sign(gap) * score_gap))
        pull *= np.arange(DOCUMENTS) > np.arange(k)[:, None]
        gradient = pull.sum(axis=0)
        gradient[:k] -= pull.sum(axis=1)
        total = 2 * np.abs(pull).sum()
        gradients[start + order] = gradient * (np.log2(1 + total) / total)
    return gradients


def per_query(gradient: Floats) -> Floats:
    """Sum the absolute gradients of each query, since relative differences between gradients near 0 say nothing."""
    return np.abs(gradient).reshape(-1, DOCUMENTS).sum(axis=1)


def against_numpy(queries: int, k: int, scale: harness.Scale) -> None:
    labels, scores, sizes = make(queries)
    calls = [rg.lightgbm_objective(f"ndcg(gain=exponential)@{k}", threads=threads) for threads in (1, 2)]
    runs = [partial(call, labels, scores, None, sizes) for call in calls]
    one, two = (harness.Contender(run, lambda answer: per_query(answer[0])) for run in runs)
    numpy = harness.Contender(lambda: by_numpy(labels, scores, k), per_query, at_least=BY_NUMPY)
    title = f"gradients, {queries:,} groups of {DOCUMENTS}, k={k}"
    harness.hold(title, {"rankgain": one, "NumPy, query by query": numpy}, scale, clock=time.process_time)
    threads = {"rankgain": one, "rankgain, two threads": two._replace(at_most=1 / THREADS)}
    harness.hold(f"{title}, wall time", threads, scale)


def against_lightgbm(lightgbm: Any, queries: int, k: int, scale: harness.Scale) -> None:
    """Time rounds of training in which nearly all the work is the objective; the limit shows the remaining work."""
    labels, scores, sizes = make(queries)
    features = (np.random.default_rng(1).random((len(labels), 1)) < 0.5).astype(np.float32)

    def booster(objective: str, **parameters: Any) -> Any:
        data = lightgbm.Dataset(features, labels, group=sizes, init_score=scores)
        return lightgbm.Booster(PARAMETERS | {"objective": objective} | parameters, data.construct())

    theirs, ours, none = booster("lambdarank", lambdarank_truncation_level=k), booster("none"), booster("none")
    objective = rg.lightgbm_objective(f"ndcg(gain=exponential)@{k}")
    given = np.ones((2, len(labels)), np.float32)
    contenders = {
        "rankgain's objective": harness.Contender(partial(ours.update, fobj=objective), None),
        "LightGBM's objective": harness.Contender(theirs.update, None, at_least=CASES[k]),
        "limit: no objective, gradients that are given": partial(none.update, fobj=lambda *_: given),
    }
    title = f"a round of LightGBM, {queries:,} groups of {DOCUMENTS}, k={k}"
    theirs.update()
    ours.update(fobj=objective)
    leaves = [model.predict(np.array([[0.0], [1.0]])) for model in (theirs, ours)]
    if not np.allclose(*leaves, rtol=1e-4, atol=1e-7):  # LightGBM looks up sigmoids in a table
        raise harness.DifferentAnswer(f"{title}: its first tree has the leaves {leaves[0]}, and ours {leaves[1]}")
    harness.hold(title, contenders, scale, clock=time.process_time)


def bench(scale: harness.Scale) -> None:
    lightgbm = harness.peer("lightgbm")
    for k in CASES:
        against_numpy(40 if scale == "smoke" else 3_000, k, scale)
        if lightgbm:
            against_lightgbm(lightgbm, 40 if scale == "smoke" else 30_000, k, scale)
