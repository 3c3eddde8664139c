"""How often intervals and families of tests err, over simulated data whose truth is known.

Each row has the observed share, and what it may be at most: the nominal share, and what chance adds in 1 of
10,000 such simulations. What tests promise exactly is held by tests/comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain.results.intervals import mean_interval

ALPHA = 0.05
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


def show(title: str, errs: Callable[[int, int], bool], queries: tuple[int, ...], cases: int, share: float) -> None:
    """A row for each number of queries: in what share of the cases, each of another seed, it errs."""
    most = share + 3.9 * math.sqrt(share * (1 - share) / cases)
    rows = []
    for number in queries:
        rate = sum(errs(number, seed) for seed in range(cases)) / cases
        target, met = (f"≤ {most:.3f}", rate <= most) if share else ("", None)
        rows.append(harness.Row(title, f"{number} queries", f"{rate:.4f}", None, f"({cases:,} cases)", target, met))
    harness.show(rows)


def tests_of(values: Any, seed: int) -> list[rg.Difference]:
    """The runs of a matrix, queries × runs, against each other."""
    runs = {f"r{run}": dict(enumerate(column)) for run, column in enumerate(values.T.tolist())}
    return list(rg.compare(runs, metrics="score", values=True).test(flips=999, seed=seed).values())


def mean_is_missed(draw: Draw, mean: float, queries: int, seed: int) -> bool:
    low, high = mean_interval(draw(np.random.default_rng(seed), queries), 0.0, 1.0, 0.95)
    return not low <= mean <= high


def difference_is_missed(draw: Draw, queries: int, seed: int) -> bool:
    differences = draw(np.random.default_rng(seed), queries)
    (its,) = tests_of(np.column_stack([np.zeros(queries), differences]), seed)
    return not its.low <= 0.0 <= its.high


def something_is_found(queries: int, seed: int) -> bool:
    """Of equal means and unequal shapes, Bernoulli(0.1) and Beta(1, 9)."""
    random = np.random.default_rng(seed)
    hits = (random.random((queries, 3)) < 0.1).astype(float)
    return any(its.decided for its in tests_of(np.hstack([hits, random.beta(1, 9, (queries, 3))]), seed))


def bench(scale: harness.Scale) -> None:
    cases = {"smoke": 5, "usual": 1000, "full": 4000}[scale]
    for kind, (draw, mean) in VALUES.items():
        show(f"Curve.interval that misses: {kind}", partial(mean_is_missed, draw, mean), (10, 50, 200), cases, ALPHA)
    for kind, draw in DIFFERENCES.items():
        share = 0.0 if kind == "few large gains" else ALPHA  # only where differences are symmetric is it promised
        title = f"intervals that miss, differences: {kind}"
        show(title, partial(difference_is_missed, draw), (10, 20, 50, 200), cases, share)
    show("false findings of max-T, 6 runs of unequal shapes", something_is_found, (20, 50, 200), cases, 0.0)
