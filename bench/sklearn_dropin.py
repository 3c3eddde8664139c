"""How long do scikit-learn's own calls take with the functions that take the place of its?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import contest
import dense_scores
from dense_scores import PLAIN, TIED

import rankgain as rg
from rankgain import sklearn

# queries x documents: how many times as long scikit-learn shall take, at 10 with ties averaged and ignored, then whole
SHAPES = {
    (1, 100): (2, 2, 2, 2),
    (10_000, 100): (40, 4, 30, 3),
    (1000, 1000): (60, 20, 15, 5),
    (100, 10_000): (120, 40, 20, 8),
}
IGNORED = "ignore_ties=True"


def contend(title: str, function: str, arguments: tuple[Any, ...], scale: contest.Scale, **options: Any) -> None:
    at_least = options.pop("at_least", None)
    contenders = {"rankgain.sklearn": contest.Contender(partial(getattr(sklearn, function), *arguments, **options))}
    if metrics := contest.peer("sklearn.metrics"):
        run = partial(getattr(metrics, function), *arguments, **options)
        contenders["scikit-learn"] = contest.Contender(run, at_least=at_least)
    if function == "ndcg_score" and not options["ignore_ties"]:
        metric = f"ndcg@{options['k']}" if options["k"] else "ndcg"
        run = partial(from_scores, *arguments, metric)
        contenders["rankgain from_scores, which takes infinite scores"] = contest.Contender(run)
    contest.hold(title, contenders, scale)


def from_scores(grades: Any, scores: Any, metric: str) -> float:
    return rg.from_scores(grades, scores).evaluate(metric).mean(metric)


def bench(scale: contest.Scale) -> None:
    for (queries, documents), targets in {(20, 100): (None,) * 4}.items() if scale == "smoke" else SHAPES.items():
        name = f"scikit-learn's ndcg_score, {queries:,} × {documents:,}"
        plain, tied = (dense_scores.make(queries, documents, variant) for variant in (PLAIN, TIED))
        for k, (averaged, ignored) in {10: targets[:2], None: targets[2:]}.items():
            at = f"k={k}"
            contend(f"{name}, {at}", "ndcg_score", plain, scale, k=k, ignore_ties=False, at_least=averaged)
            contend(f"{name}, {at}, {IGNORED}", "ndcg_score", plain, scale, k=k, ignore_ties=True, at_least=ignored)
        contend(f"{name}, k=10, {TIED}", "ndcg_score", tied, scale, k=10, ignore_ties=False)
        contend(f"{name}, k=10, {TIED}, {IGNORED}", "ndcg_score", tied, scale, k=10, ignore_ties=True)
    losses = plain[0] - 1, plain[1]
    contend(f"{name.replace('ndcg', 'dcg')}, negative grades", "dcg_score", losses, scale, k=10, ignore_ties=False)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
