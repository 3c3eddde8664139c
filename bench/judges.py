"""How often do intervals of kappa and of corrected means cover, and how often are runs named or decided falsely?

These are the tables about two judges in docs/statistics.md. A sample has human grades, the labels of a second judge,
and systems of different quality. The "honest" judge errs at random; "lenient" also raises a third of the grades;
"favours" gives high grades to much of what the last system returns; the labels of "useless" are those of another query;
"rare" repeats the human, but gives 5 % of the queries the highest grade throughout.
"""

from __future__ import annotations

from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain.comparison.aligned import Sample
from rankgain.comparison.coefficients import kappa_interval, moments, quadratic_kappa
from rankgain.comparison.estimates import Estimate, corrected_differences, estimated
from rankgain.comparison.testing import Options
from rankgain.metrics.metric import parse
from rankgain.results.intervals import student_quantile

DOCUMENTS, SYSTEMS, RELEVANT = 30, 6, 2
JUDGES = "honest", "lenient", "favours"
CORRECTED = "honest", "lenient", "useless", "rare"
QUERIES, LABELLED = 500, (10, 20, 50)  # how many queries the second judge and the human judge


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
    if judge == "useless":
        labels = random.permutation(labels)
    if judge == "rare":
        labels = np.where(random.random((queries, 1)) < 0.05, 3, grades)
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


def values(grades: Any, scores: list[Any]) -> Any:
    """Return nDCG@10 of each query, in a column for each system."""
    return np.column_stack([rg.from_scores(grades, each).evaluate("ndcg@10")["ndcg@10"] for each in scores])


def estimate_of(first: Any, every: Any, labelled: int, random: Any, name: str = "ndcg@10") -> Estimate:
    """Label a random sample of the queries. `first`, `every`: the values of all queries by both judges."""
    rows = random.choice(len(every), labelled, replace=False)
    runs = [f"s{number}" for number in range(every.shape[1])]
    ((_, record),) = parse(name)
    samples = (Sample(record, runs, range(len(each)), each) for each in (first[rows], every))
    return estimated(name, *samples, rows, rows.tolist(), every)


def test_of(estimate: Estimate) -> Any:
    """Test the difference of the first two runs."""
    chosen = "randomization", "max-t", "metric", "single", 0.95, None, 999, 0, "same", 1
    (pair,) = corrected_differences(estimate, Options("s0", (estimate.metric,), *chosen)).values()
    return pair


def corrected(judge: str, samples: int) -> Any:
    """Return for each number of labelled queries: coverage, width and decisions, corrected and by humans alone."""
    random = np.random.default_rng(CORRECTED.index(judge))
    truth = values(*judged(20_000, "honest", random)[::2]).mean(axis=0)
    results: dict[int, list[Any]] = {labelled: [] for labelled in LABELLED}
    for _ in range(samples):
        grades, labels, scores = judged(QUERIES, judge, random)
        first, every = (values(each, [scores[0], scores[2]]) for each in (grades, labels))
        for labelled in LABELLED:
            estimate = estimate_of(first, every, labelled, random)
            low, high = estimate.interval(0, 0.95)
            alone = estimate.first[:, 0]
            half = student_quantile(0.95, labelled - 1) * alone.std(ddof=1) / np.sqrt(labelled)
            of_all = estimate_of(estimate.first, estimate.first, labelled, random)
            pair, by_humans = test_of(estimate), test_of(of_all)
            covers = [low <= truth[0] <= high, abs(alone.mean() - truth[0]) <= half]
            difference = truth[2] - truth[0]
            covers += [each.low <= difference <= each.high for each in (pair, by_humans)]
            results[labelled].append([*covers, high - low, 2 * half, pair.decided, by_humans.decided])
    return {labelled: np.mean(each, axis=0) for labelled, each in results.items()}


def changed(labelled: int, share: float, samples: int) -> float:
    """Return how often runs are decided to differ that differ in a share of the queries, by the second judge alone."""
    random, decided = np.random.default_rng(labelled), 0
    for _ in range(samples):
        human = random.beta(2, 2, QUERIES)
        judge = np.clip(human + random.normal(0, 0.1, QUERIES), 0, 1)
        raised = np.where(random.random(QUERIES) < share, np.clip(judge + 0.3, 0, 1), judge)
        pair = test_of(estimate_of(np.column_stack([human, human]), np.column_stack([judge, raised]), labelled, random))
        decided += pair.decided
    return decided / samples


def raised(labelled: int, samples: int) -> float:
    """Return how often runs that are equal on average are decided to differ, if the second judge raises one by 0.2.

    Both find the same queries hard.
    """
    random, decided = np.random.default_rng(labelled), 0
    for _ in range(samples):
        human = np.clip(random.beta(2, 2, (QUERIES, 1)) + random.normal(0, 0.2, (QUERIES, 2)), 0, 1)
        judge = np.clip(human + random.normal(0, 0.1, (QUERIES, 2)), 0, 1)
        judge[:, 1] = np.clip(judge[:, 1] + 0.2, 0, 1)
        decided += test_of(estimate_of(human, judge, labelled, random)).decided
    return decided / samples


def binary(labelled: int, samples: int) -> tuple[float, float]:
    """Return how often the interval of success@1 covers 0.95, and how often its width is 0."""
    random, ends = np.random.default_rng(labelled), []
    for _ in range(samples):
        human = (random.random((QUERIES, 1)) < 0.95).astype(float)
        judge = np.where(random.random((QUERIES, 1)) < 0.05, 1 - human, human)
        ends.append(estimate_of(human, judge, labelled, random, "success@1").interval(0, 0.95))
    low, high = np.transpose(ends)
    return float(np.mean((low <= 0.95) & (high >= 0.95))), float(np.mean(low == high))


def bench(scale: harness.Scale) -> None:
    samples = {"smoke": 2, "usual": 200, "full": 1000}[scale]
    for judge in CORRECTED:
        for labelled, row in corrected(judge, samples).items():
            covers, alone, covers_difference, difference_alone, width, width_alone, decided, decided_alone = row
            print(
                f"corrected, {judge}, {labelled} of {QUERIES} labelled: mean covered {covers:.1%}, width {width:.3f} "
                f"(humans alone {alone:.1%}, {width_alone:.3f}); difference covered {covers_difference:.1%}, decided "
                f"{decided:.0%} ({difference_alone:.1%}, {decided_alone:.0%})"
            )
    for labelled in (10, 100):
        shares = (changed(labelled, share, samples) for share in (0.02, 0.05, 0.1))
        print(f"few queries changed, falsely decided, {labelled} labelled:", *(f"{share:.1%}" for share in shares))
    shares = (raised(labelled, samples) for labelled in LABELLED)
    print("one of two equal runs raised, falsely decided, 10, 20, 50 labelled:", *(f"{share:.1%}" for share in shares))
    for labelled in LABELLED:
        covered, empty = binary(labelled, samples)
        print(f"success@1 of 0.95, {labelled} labelled: covered {covered:.1%}, interval of width 0 {empty:.1%}")
    for judge in JUDGES[:2]:
        covered = (coverage(judge, queries, 10 * samples) for queries in (20, 50))
        print(f"intervals of kappa that cover, {judge}, 20 and 50 queries:", *(f"{share:.1%}" for share in covered))
    for judge in JUDGES:
        cells = (named(judge, queries, samples) for queries in (20, 50))
        shares = (f"{named_at_all:.0%} and {beyond:.0%};" for named_at_all, beyond in cells)
        print(f"a run is named, and named as beyond, {judge}, 20 and 50 queries:", *shares)
