"""What are two threads worth, where there is work for a second and where there is hardly any?"""

from __future__ import annotations

import inspect
import sys
import time
from functools import partial
from typing import Any

import contest
import dense_scores
import groups

import rankgain as rg

BUSY = 2.0  # seconds of a turn, which lasts at least half of it
LITTLE = 0.0005  # seconds of work in a call


def known() -> bool:
    return "threads" in inspect.signature(rg.Rankings.evaluate).parameters


def evaluate(rankings: Any, threads: int) -> Any:
    return rankings.evaluate("ndcg", threads=threads)["ndcg"]


def little() -> Any:
    """So many rows that they take one thread about so long."""
    queries, seconds = 1, 0.0
    while seconds < LITTLE * 0.7:
        queries *= 2
        rankings = rg.from_scores(*dense_scores.make(queries, 100))
        seconds = min(_seconds(rankings) for _ in range(5))
    return rankings


def _seconds(rankings: Any) -> float:
    start = time.perf_counter()
    evaluate(rankings, 1)
    return time.perf_counter() - start


def bench(scale: contest.Scale) -> None:
    if not known():
        contest.note("threads: skipped, for evaluate does not take them")
        return
    queries, documents, many = (20, 100, 50) if scale == "smoke" else (100, 10_000, 30_000)
    sizes, grades, scores = groups.make(many, "float64")
    work = {
        f"{queries:,} × {documents:,}, ndcg, kept busy": rg.from_scores(*dense_scores.make(queries, documents)),
        f"{many:,} groups of 120, ndcg, kept busy": rg.from_scores(grades, scores, group_sizes=sizes),
    }
    for title, rankings in work.items():
        contenders = {
            "rankgain, threads=2": contest.Contender(partial(evaluate, rankings, 2)),
            "rankgain, threads=1": contest.Contender(partial(evaluate, rankings, 1), at_least=1.6),
        }
        contest.hold(title, contenders, scale, turn=BUSY)
    rankings = little()
    contenders = {
        "rankgain, threads=1": contest.Contender(partial(evaluate, rankings, 1)),
        "rankgain, threads=2": contest.Contender(partial(evaluate, rankings, 2), at_most=1.1),
    }
    contest.hold("a small call, ndcg", contenders, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
