"""What do further cut-offs and metrics cost, in the same call?"""

from __future__ import annotations

import sys
from typing import Any

import contest
import dense_scores
import groups

import rankgain as rg

METRICS = ("ndcg@1", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg@100", "rr@100")


def contend(title: str, grades: Any, scores: Any, sizes: Any, scale: contest.Scale) -> None:
    def contender(*metrics: str) -> contest.Contender:
        return contest.Contender(
            lambda: rg.from_scores(grades, scores, group_sizes=sizes).evaluate(*metrics),
            lambda answer: answer["ndcg@100"],
        )

    contenders = {
        "rankgain, ndcg@100": contender("ndcg@100"),
        "rankgain, ndcg@1, 5, 10, 20, 100 and rr@100": contender(*METRICS)._replace(at_most=1.3),
    }
    contest.hold(f"{title}, many metrics", contenders, scale)


def bench(scale: contest.Scale) -> None:
    queries, documents, many = (20, 100, 50) if scale == "smoke" else (1000, 1000, 30_000)
    contend(f"{queries:,} × {documents:,}", *dense_scores.make(queries, documents), None, scale)
    sizes, grades, scores = groups.make(many, "float32")
    contend(f"{many:,} groups of 120", grades, scores, sizes, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
