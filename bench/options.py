"""How do averaged ties, further metrics in the same call, and a second thread affect the time?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import groups
import harness
import scores
from scores import PLAIN, TIED

import rankgain as rg

# Each dict holds two ways to evaluate: their names and their options.
TIES: dict[str, Any] = {"ties stable": {"ties": "stable"}, "ties averaged": {}}
METRICS: dict[str, Any] = {
    "ndcg@100": {"metrics": ["ndcg@100"]},
    "ndcg@1, 5, 10, 20, 100 and rr@100": {
        "metrics": ["ndcg@1", "ndcg@5", "ndcg@10", "ndcg@20", "rr@100", "ndcg@100"],
    },
}
THREADS: dict[str, Any] = {"threads=1": {"metrics": ["ndcg"]}, "threads=2": {"metrics": ["ndcg"], "threads": 2}}
BUSY = 2.0  # target length of a turn in seconds; a turn lasts at least half as long


def evaluate(data: dict[str, Any], metrics: tuple[str, ...] = ("ndcg@10",), ties: str = "average", threads: int = 1):
    """Evaluate all metrics, and return the values of the last one."""
    return rg.from_scores(**data, ties=ties).evaluate(*metrics, threads=threads)[metrics[-1]]


def contend(
    title: str,
    data: dict[str, Any],
    ways: dict[str, Any],
    at_most: float,
    scale: harness.Scale,
    values: Callable[[Any], Any] | None = harness.vectors,
    turn: float = harness.TURN,
) -> None:
    """Compare two ways to evaluate; the second may take at most `at_most` times as long as the first."""
    contenders = {
        f"rankgain, {name}": harness.Contender(partial(evaluate, data, **way), values, at_most=at_most)
        for name, way in ways.items()
    }
    harness.hold(title, contenders, scale, turn=turn)


def dense(queries: int, documents: int, variant: str = PLAIN) -> dict[str, Any]:
    return dict(zip(("y_true", "y_score"), scores.make(queries, documents, variant), strict=True))


def grouped(queries: int, variant: str = PLAIN) -> dict[str, Any]:
    return dict(zip(("group_sizes", "y_true", "y_score"), groups.make(queries, "float32", variant), strict=True))


def bench(scale: harness.Scale) -> None:
    queries, documents, many = (20, 100, 50) if scale == "smoke" else (1000, 1000, 30_000)
    matrix, lists = f"{queries:,} × {documents:,}", f"{many:,} groups of 120"
    for variant, name, at_most, values in ((PLAIN, "no ties", 1.2, harness.vectors), (TIED, TIED, 1.5, None)):
        contend(f"{matrix}, ndcg@10, {name}", dense(queries, documents, variant), TIES, at_most, scale, values)
        contend(f"{lists}, ndcg@10, {name}", grouped(many, variant), TIES, at_most, scale, values)
    contend(f"{lists}, many metrics", grouped(many), METRICS, 1.3, scale)
    contend(f"{lists}, ndcg, kept busy", grouped(many), THREADS, 1 / 1.6, scale, turn=BUSY)
    contend("a small call, ndcg", dense(queries, documents // 10), THREADS, 1.1, scale)  # takes half a millisecond
