"""What does averaging over ties cost, against their input order?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import contest
import dense_scores
import groups
from dense_scores import PLAIN, TIED

import rankgain as rg

AT_MOST = {PLAIN: 1.2, TIED: 1.5}


def evaluate(grades: Any, scores: Any, sizes: Any, ties: str) -> Any:
    return rg.from_scores(grades, scores, group_sizes=sizes, ties=ties).evaluate("ndcg@10")["ndcg@10"]


def contend(title: str, grades: Any, scores: Any, sizes: Any, variant: str, scale: contest.Scale) -> None:
    run = partial(evaluate, grades, scores, sizes)
    averaged = contest.Contender(partial(run, "average"), at_most=AT_MOST[variant])
    stable = contest.Contender(partial(run, "stable"))
    if variant == TIED:  # they differ then
        averaged, stable = averaged._replace(values=None), stable._replace(values=None)
    contenders = {"rankgain, ties stable": stable, "rankgain, ties averaged": averaged}
    contest.hold(f"{title}, ndcg@10, {variant.replace(PLAIN, 'no ties')}", contenders, scale)


def bench(scale: contest.Scale) -> None:
    queries, documents, many = (20, 100, 50) if scale == "smoke" else (1000, 1000, 30_000)
    for variant in AT_MOST:
        grades, scores = dense_scores.make(queries, documents, variant)
        contend(f"{queries:,} × {documents:,}", grades, scores, None, variant, scale)
        sizes, flat_grades, flat_scores = groups.make(many, "float32", variant)
        contend(f"{many:,} groups of 120", flat_grades, flat_scores, sizes, variant, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
