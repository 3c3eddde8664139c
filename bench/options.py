"""What does an option cost: ties averaged, further metrics in the same call, a second thread?"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import groups
import harness
import scores
from scores import PLAIN, TIED

import rankgain as rg

MANY = ("ndcg@1", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg@100", "rr@100")
BUSY = 2.0  # seconds of a turn, which lasts at least half of it
LITTLE = 0.0005  # seconds of work in a call


def evaluate(data: dict[str, Any], *metrics: str, key: str, ties: str = "average", threads: int = 1) -> Any:
    return rg.from_scores(**data, ties=ties).evaluate(*metrics, threads=threads)[key]


def ties(title: str, data: dict[str, Any], variant: str, scale: harness.Scale) -> None:
    values, at_most = (None, 1.5) if variant == TIED else (harness.vectors, 1.2)
    stable, averaged = (partial(evaluate, data, "ndcg@10", key="ndcg@10", ties=rule) for rule in ("stable", "average"))
    contenders = {
        "rankgain, ties stable": harness.Contender(stable, values),
        "rankgain, ties averaged": harness.Contender(averaged, values, at_most=at_most),
    }
    harness.hold(f"{title}, ndcg@10, {variant.replace(PLAIN, 'no ties')}", contenders, scale)


def metrics(title: str, data: dict[str, Any], scale: harness.Scale) -> None:
    contenders = {
        "rankgain, ndcg@100": partial(evaluate, data, "ndcg@100", key="ndcg@100"),
        "rankgain, ndcg@1, 5, 10, 20, 100 and rr@100": harness.Contender(
            partial(evaluate, data, *MANY, key="ndcg@100"), at_most=1.3
        ),
    }
    harness.hold(f"{title}, many metrics", contenders, scale)


def threads(title: str, data: dict[str, Any], scale: harness.Scale) -> None:
    one, two = (harness.Contender(partial(evaluate, data, "ndcg", key="ndcg", threads=count)) for count in (1, 2))
    contenders = {"rankgain, threads=2": two, "rankgain, threads=1": one._replace(at_least=1.6)}
    harness.hold(f"{title}, ndcg, kept busy", contenders, scale, turn=BUSY)


def threads_for_little(scale: harness.Scale) -> None:
    """So many queries that they take one thread about so long."""
    queries, seconds = 1, 0.0
    while seconds < LITTLE * 0.7:
        queries *= 2
        call = partial(evaluate, dense(queries, 100), "ndcg", key="ndcg")
        seconds = min(seconds_of(call) for _ in range(5))
    contenders = {
        "rankgain, threads=1": call,
        "rankgain, threads=2": harness.Contender(partial(call, threads=2), at_most=1.1),
    }
    harness.hold("a small call, ndcg", contenders, scale)


def seconds_of(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def dense(queries: int, documents: int, variant: str = PLAIN) -> dict[str, Any]:
    return dict(zip(("y_true", "y_score"), scores.make(queries, documents, variant), strict=True))


def grouped(queries: int, variant: str = PLAIN) -> dict[str, Any]:
    return dict(zip(("group_sizes", "y_true", "y_score"), groups.make(queries, "float32", variant), strict=True))


def bench(scale: harness.Scale) -> None:
    queries, documents, many = (20, 100, 50) if scale == "smoke" else (1000, 1000, 30_000)
    matrix, lists = f"{queries:,} × {documents:,}", f"{many:,} groups of 120"
    for variant in (PLAIN, TIED):
        ties(matrix, dense(queries, documents, variant), variant, scale)
        ties(lists, grouped(many, variant), variant, scale)
    metrics(matrix, dense(queries, documents), scale)
    metrics(lists, grouped(many), scale)
    threads(f"{queries // 10:,} × {documents * 10:,}", dense(queries // 10, documents * 10), scale)
    threads(lists, grouped(many), scale)
    threads_for_little(scale)
