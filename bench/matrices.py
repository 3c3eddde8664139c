"""How long do metrics of a score matrix and sparse held-out items take, compared with one pass over the scores?"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import harness
import numpy as np

import rankgain as rg
from rankgain import _backend


class Data(NamedTuple):
    test: Any
    scores: Any
    train: Any


def make(users: int, items: int, held_out: int, seen: int, dtype: Any, trained: bool) -> Data | None:
    """Make normally distributed scores, and sparse matrices of held-out and seen items; return None without SciPy.

    If `trained`, the scores of held-out items are 2.5 higher, and the scores of seen items are 3 higher.
    """
    scipy: Any = harness.library("scipy.sparse")
    if not scipy:
        return None
    rng = np.random.default_rng(20240229)
    scores, sides = rng.standard_normal((users, items), dtype=dtype), []
    for count, more in ((held_out, 2.5), (seen, 3.0)):
        columns = np.concatenate([np.sort(rng.choice(items, count, replace=False)) for _ in range(users)])
        offsets = np.arange(users + 1) * count
        sides.append(scipy.csr_array((np.ones(users * count), columns, offsets), shape=(users, items)))
        scores[np.repeat(np.arange(users), count), columns] += more * trained
    return Data(sides[0], scores, sides[1])


def use_cpu(level: str | None) -> None:
    if _backend.name == "compiled":
        importlib.import_module("rankgain._compiled.walk").use_cpu(level)


def ours(data: Data, metrics: tuple[str, ...], threads: int = 1) -> Any:
    return rg.from_scores(data.test, data.scores, exclude=data.train).evaluate(*metrics, threads=threads)


def cut_first(data: Data, k: int, top: Callable[[Any, int], Any]) -> Any:
    """Compute nDCG@k without rankgain: mask seen items, select and sort the top k, and look up their labels."""
    scores, labels = data.scores.copy(), data.test.toarray()
    scores[data.train.toarray() != 0] = -np.inf
    discounts = 1 / np.log2(np.arange(2, k + 2))
    gains = np.take_along_axis(labels, top(scores, k), axis=1)
    allowed = (labels != 0) & (data.train.toarray() == 0)
    ideals = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(allowed.sum(axis=1), k)]
    return np.divide(gains @ discounts, ideals, out=np.zeros(len(gains)), where=ideals > 0)


def numpy_top(scores: Any, k: int) -> Any:
    top = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1)


def torch_top(torch: Any, scores: Any, k: int) -> Any:
    return torch.topk(torch.from_numpy(scores), k).indices.numpy()


LEVELS = ("avx2", "baseline")


def passes(
    title: str, data: Data, metrics: tuple[str, ...], most: tuple[float | None, ...], scale: harness.Scale
) -> None:
    """Compare the CPU time with that of `scores.max()`; `most` has the highest allowed ratio for each CPU level."""
    for level, limit in zip(LEVELS, most, strict=True):
        use_cpu(level)
        contenders = {
            f"rankgain, {level}": harness.Contender(partial(ours, data, metrics)),
            "limit: scores.max()": harness.Contender(
                data.scores.max, None, at_least=None if limit is None else 1 / limit
            ),
        }
        harness.hold(title, contenders, scale, clock=time.process_time)
    use_cpu(None)


def peers(title: str, data: Data, k: int, scale: harness.Scale) -> None:
    contenders = {
        "rankgain": harness.Contender(partial(ours, data, (f"ndcg@{k}",))),
        "NumPy argpartition, argsort and look-up": harness.Contender(
            partial(cut_first, data, k, numpy_top), at_least=14
        ),
    }
    if torch := harness.peer("torch"):
        contenders["torch.topk and look-up"] = harness.Contender(partial(cut_first, data, k, partial(torch_top, torch)))
    harness.hold(title, contenders, scale, clock=time.process_time)


def bench(scale: harness.Scale) -> None:
    smoke = scale == "smoke"
    three = "ndcg@10", "recall@10", "mrr@10"
    cases = [
        ((300, 20_000, 10, 50), ("ndcg@20",), (2.0, 2.6)),
        ((20, 1_000_000, 100, 1_000), ("ndcg@100",), (2.0, 2.3)),
        ((10_000, 1_000, 5, 20), three, (7.0, 8.0)),
        ((10_000, 1_000, 5, 20), (*three, "mrr"), (9.0, None)),
        ((300, 20_000, 10, 50), ("auc", "map"), (11.0, None)),
    ]
    for (users, items, held_out, seen), metrics, most in cases:
        for dtype in (np.float32, np.float64):
            for trained in (False, True):
                data = make(3 if smoke else users, items, held_out, seen, dtype, trained)
                if data is None:
                    return
                kind = f"{np.dtype(dtype)}, {'trained' if trained else 'random'}"
                title = f"{users:,} × {items:,}, {held_out} held out, {seen} seen, {', '.join(metrics)}, {kind}"
                passes(title, data, metrics, most, scale)
                if metrics == ("ndcg@20",) and dtype is np.float32:
                    peers(title, data, 20, scale)
    if scale == "full" and (data := make(3_000, 20_000, 10, 50, np.float32, True)):
        contenders = {
            "rankgain, two threads": harness.Contender(partial(ours, data, ("ndcg@20",), 2)),
            "rankgain, one thread": harness.Contender(partial(ours, data, ("ndcg@20",)), at_least=1 / 0.6),
        }
        harness.hold("3,000 × 20,000, ndcg@20", contenders, scale)
