"""How often comparisons err, over simulated data whose truth is known: coverage, false findings, bounds.

Each row has the share that was found, and what it may be at most (or at least): the nominal share, and what chance adds
in 1 of 10,000 such simulations.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain.comparison.bounds import difference_bounds, ranked_queries
from rankgain.metrics.metric import parse

ALPHA = 0.05
SHIFTS = {"no run differs": (0, 0, 0, 0, 0), "two differ": (0, 0, 0, 0.06, 0.1), "all differ": (0, 0.1, 0.2, 0.3, 0.4)}
BOUNDED = (
    "ndcg@5",
    "ndcg(gain=exponential)",
    "recall@5",
    "recall",
    "map",
    "precision@5",
    "rr",
    "success@5",
    "dcg@5",
    "rbp",
)
Draw = Callable[[Any, int], Any]
# Values of one run, and their true mean.
VALUES: dict[str, tuple[Draw, float]] = {
    "success, 1 query in 20": (lambda random, n: (random.random(n) < 0.05).astype(float), 0.05),
    "success, 19 in 20": (lambda random, n: (random.random(n) < 0.95).astype(float), 0.95),
    "RR, 1 query in 10": (
        lambda random, n: np.where(random.random(n) < 0.1, 1 / random.integers(1, 11, n), 0.0),
        0.1 * float(np.mean(1 / np.arange(1.0, 11.0))),
    ),
    "AP, skewed": (lambda random, n: random.beta(0.3, 3, n), 0.3 / 3.3),
    "nDCG, symmetric": (lambda random, n: random.beta(4, 4, n), 0.5),
}
# Differences of two runs, of mean 0.
DIFFERENCES: dict[str, Draw] = {
    "symmetric": lambda random, n: random.normal(0, 0.2, n),
    "half ties": lambda random, n: random.normal(0, 0.2, n) * (random.random(n) < 0.5),
    "few large gains": lambda random, n: np.where(random.random(n) < 0.1, 0.45, -0.05) * random.uniform(0.5, 1.5, n),
}


def compared(values: Any) -> rg.Comparison:
    """Runs of a matrix, queries × runs."""
    runs = {f"r{run}": dict(enumerate(column)) for run, column in enumerate(values.T.tolist())}
    return rg.compare(runs, metrics="score", values=True)


def show(title: str, found: dict[str, tuple[int, int]], share: float | None) -> None:
    """A row for each: how many of how many; missed where that is more than chance makes of the share."""
    rows = []
    for name, (count, cases) in found.items():
        most = None if share is None else share + 3.9 * math.sqrt(share * (1 - share) / cases)
        target = "" if most is None else f"≤ {most:.3f}"
        met = None if most is None else count / cases <= most
        rows.append(harness.Row(title, name, f"{count / cases:.4f}", None, f"({cases:,} cases)", target, met))
    harness.show(rows)


def intervals(cases: int) -> None:
    """How often the interval of a difference misses it: only where differences are symmetric is 5% promised."""
    for kind, draw in DIFFERENCES.items():
        found = {}
        for queries in (10, 20, 50, 200):
            missed = 0
            for seed in range(cases):
                differences = draw(np.random.default_rng(seed), queries)
                (its,) = compared(np.column_stack([np.zeros(queries), differences])).test(flips=999, seed=seed).values()
                missed += not its.low <= 0.0 <= its.high
            found[f"{queries} queries"] = missed, cases
        show(f"intervals that miss, differences: {kind}", found, None if kind == "few large gains" else ALPHA)


def families(cases: int) -> None:
    """How often a family has a false finding, and its simultaneous intervals miss a true difference."""
    for kind, shifts in SHIFTS.items():
        found = {f"false finding, {word}": 0 for word in ("max-t", "holm")}
        found |= {"simultaneous intervals that miss": 0}
        contradicting = 0
        for seed in range(cases):
            random = np.random.default_rng(seed)
            runs = compared(random.normal(0.4, 0.15, (30, 1)) + np.array(shifts) + random.normal(0, 0.1, (30, 5)))
            for correction in ("max-t", "holm"):
                tests = runs.test(flips=999, seed=seed, correction=correction)
                found[f"false finding, {correction}"] += any(
                    its.decided and not truth(its, shifts) for its in tests.values()
                )
            tests = runs.test(flips=999, seed=seed, intervals="simultaneous")
            ends = list(tests.values())
            found["simultaneous intervals that miss"] += any(
                not its.low <= truth(its, shifts) <= its.high for its in ends
            )
            contradicting += any(its.decided == (its.low <= 0.0 <= its.high) for its in ends)
        title = f"5 runs, 10 comparisons, 30 queries: {kind}"
        show(title, {name: (count, cases) for name, count in found.items()}, ALPHA)
        show(title, {"families where p and simultaneous intervals contradict": (contradicting, cases)}, 0.0)


def truth(its: rg.Difference, shifts: tuple[float, ...]) -> float:
    return shifts[int(its.run[1])] - shifts[int(its.baseline[1])]


def skewed_families(cases: int) -> None:
    """What is promised of symmetric differences only: equal means of other shapes, Bernoulli(0.1) and Beta(1, 9)."""
    found = {}
    for queries in (20, 50, 200):
        false = 0
        for seed in range(cases):
            random = np.random.default_rng(seed)
            hits = (random.random((queries, 3)) < 0.1).astype(float)
            tests = compared(np.hstack([hits, random.beta(1, 9, (queries, 3))])).test(flips=999, seed=seed)
            false += any(its.decided for its in tests.values())
        found[f"{queries} queries"] = false, cases
    show("false findings of max-T, 6 runs of unequal shapes", found, None)


def curves(cases: int) -> None:
    """How often the interval of one run's mean misses it."""
    from rankgain.results.intervals import mean_interval

    for kind, (draw, mean) in VALUES.items():
        found = {}
        for queries in (10, 50, 200):
            missed = 0
            for seed in range(cases):
                low, high = mean_interval(draw(np.random.default_rng(seed), queries), 0.0, 1.0, 0.95)
                missed += not low <= mean <= high
            found[f"{queries} queries"] = missed, cases
        show(f"Curve.interval that misses: {kind}", found, ALPHA)


def tables(count: int) -> Iterator[tuple[str, float, float, float]]:
    """Random judgments and runs, and the differences under random judgments of what the runs have and is not judged."""
    for seed in range(count):
        random = np.random.default_rng(seed)
        documents = [f"d{number}" for number in range(random.integers(1, 25))]
        runs = [random.permutation(documents)[: random.integers(0, len(documents) + 1)].tolist() for _ in range(2)]
        judged = {d: int(random.integers(0, 4)) for d in [*documents, "x"] if random.random() < 0.4} or {"x": 1}
        unknown = sorted({d for own in runs for d in own} - judged.keys())
        metric = BOUNDED[seed % len(BOUNDED)]
        ((_, record),) = parse(metric)
        scored = [{"q": {d: float(-rank) for rank, d in enumerate(own)}} for own in runs]
        own, other = (ranked_queries(rg.from_qrels({"q": judged}, run)) for run in scored)
        assert own is not None
        assert other is not None
        ends = difference_bounds(record, own, other, 3.0)
        assert ends is not None
        for _ in range(5):
            share = random.random()
            full = judged | {d: int(random.integers(1, 4)) for d in unknown if random.random() < share}
            values = [rg.from_qrels({"q": full}, run).evaluate(metric)[metric][0] for run in scored]
            yield metric, float(ends[0][0]), float(values[0] - values[1]), float(ends[1][0])


def bounds(count: int) -> None:
    """Bounds for documents that are not judged: none may be violated."""
    violated = {metric: [0, 0] for metric in BOUNDED}
    for metric, low, found, high in tables(count):
        violated[metric][0] += not low - 1e-12 <= found <= high + 1e-12
        violated[metric][1] += 1
    show(f"violated bounds, {count:,} random tables", {name: (v[0], v[1]) for name, v in violated.items()}, 0.0)


def bench(scale: harness.Scale) -> None:
    cases = {"smoke": 5, "usual": 1000, "full": 4000}[scale]
    bounds(50 if scale == "smoke" else 10_000)
    curves(cases)
    intervals(cases)
    families(cases)
    skewed_families(cases)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, bench))
