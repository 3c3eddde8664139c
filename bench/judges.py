"""How often do intervals of kappa cover, and how often does `agreement` name a run that a judge shifts?

These are the tables about two judges in docs/statistics.md. A sample has human grades, the labels of a second judge,
and six systems of different quality. The "honest" judge errs at random; "lenient" also raises a third of the grades;
"favours" gives high grades to much of what the last system returns.
"""

from __future__ import annotations

from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain.comparison.coefficients import kappa_interval, moments, quadratic_kappa

DOCUMENTS, SYSTEMS, RELEVANT = 30, 6, 2
JUDGES = "honest", "lenient", "favours"


def judged(queries: int, judge: str, random: Any) -> tuple[Any, Any, list[Any]]:
    """Return the grades by both judges and the scores of the systems, for each query and document."""
    shape = queries, DOCUMENTS
    grades = random.choice(4, shape, p=[0.6, 0.2, 0.12, 0.08])
    difficulty = random.beta(2, 5, (queries, 1))  # the share of wrong labels differs between queries
    labels = np.where(random.random(shape) < difficulty, grades + random.choice([-1, 1], shape), grades).clip(0, 3)
    scores = [grades + random.normal(0, 2.6 - 0.25 * system, shape) for system in range(SYSTEMS)]
    if judge == "lenient":
        labels = np.where(random.random(shape) < 1 / 3, labels + 1, labels).clip(0, 3)
    if judge == "favours":
        first = np.argsort(np.argsort(-scores[-1], axis=1), axis=1) < 10
        labels = np.where(first & (random.random(shape) < 0.3), 3, labels)
    return grades, labels, scores


def by_query(grades: Any, labels: Any) -> Any:
    """Return the sums by query that kappa needs."""
    query = np.repeat(np.arange(len(grades)), DOCUMENTS)
    first, second = ((each.ravel() >= RELEVANT).astype(float) for each in (grades, labels))
    return moments(first, second, query, len(grades))


def coverage(judge: str, queries: int, samples: int) -> Any:
    """Return the share of samples whose interval of kappa covers the kappa of many queries."""
    random = np.random.default_rng(queries)
    truth = float(quadratic_kappa(by_query(*judged(100_000, judge, random)[:2]).sum(axis=0)))
    intervals = [
        kappa_interval(by_query(*judged(queries, judge, random)[:2]), quadratic_kappa, 0.95) for _ in range(samples)
    ]
    return np.mean([low <= truth <= high for low, high in intervals])


def named(judge: str, queries: int, samples: int) -> Any:
    """Return the share of samples in which a run is named, and is named as shifted beyond what its mean explains."""
    random = np.random.default_rng(queries)
    results = []
    for _ in range(samples):
        grades, labels, scores = judged(queries, judge, random)
        first, second = (dict(enumerate(map(dict, map(enumerate, each.tolist())))) for each in (grades, labels))
        runs = {f"s{n}": dict(enumerate(map(dict, map(enumerate, each.tolist())))) for n, each in enumerate(scores)}
        shifted = rg.agreement(first, second, runs, "ndcg@10", threshold=RELEVANT).runs["ndcg@10"].shifted
        results.append((bool(shifted), any(run.beyond for run in shifted)))
    return np.mean(results, axis=0)


def bench(scale: harness.Scale) -> None:
    samples = {"smoke": 2, "usual": 200, "full": 1000}[scale]
    for judge in JUDGES[:2]:
        covered = (coverage(judge, queries, 10 * samples) for queries in (20, 50))
        print(f"intervals of kappa that cover, {judge}, 20 and 50 queries:", *(f"{share:.1%}" for share in covered))
    for judge in JUDGES:
        cells = (named(judge, queries, samples) for queries in (20, 50))
        shares = (f"{named_at_all:.0%} and {beyond:.0%};" for named_at_all, beyond in cells)
        print(f"a run is named, and named as beyond, {judge}, 20 and 50 queries:", *shares)
