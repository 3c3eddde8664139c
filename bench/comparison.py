"""How often do confidence intervals and families of tests err on simulated data whose true values are known?

Each row shows the observed error rate and its upper limit: the nominal rate plus a margin that chance alone exceeds in
about 1 of 10,000 such simulations. The exact guarantees are tested in tests/comparison.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain.results.intervals import interval_of_sum, mean_interval

ALPHA = 0.05
Draw = Callable[[Any, int], Any]
# Distributions of the values of one run, each with its true mean.
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
# Distributions of the differences between two runs, each with mean 0.
DIFFERENCES: dict[str, Draw] = {
    "symmetric": lambda random, n: random.normal(0, 0.2, n),
    "half ties": lambda random, n: random.normal(0, 0.2, n) * (random.random(n) < 0.5),
    "few large gains": lambda random, n: np.where(random.random(n) < 0.1, 0.45, -0.05) * random.uniform(0.5, 1.5, n),
}


def show(title: str, errs: Callable[[int, int], bool], queries: tuple[int, ...], cases: int, share: float) -> None:
    """Print a row for each number of queries, with the share of the random cases in which `errs` returns True."""
    most = share + 3.9 * math.sqrt(share * (1 - share) / cases)
    rows = []
    for number in queries:
        rate = sum(errs(number, seed) for seed in range(cases)) / cases
        target, met = (f"≤ {most:.3f}", rate <= most) if share else ("", None)
        rows.append(harness.Row(title, f"{number} queries", f"{rate:.4f}", None, f"({cases:,} cases)", target, met))
    harness.show(rows)


def tests_of(values: Any, seed: int) -> list[rg.Difference]:
    """Test all pairs of runs; `values` is a matrix with a row per query and a column per run."""
    runs = {f"r{run}": dict(enumerate(column)) for run, column in enumerate(values.T.tolist())}
    return list(rg.compare(runs, metrics="score", values=True).test(flips=999, seed=seed).values())


def mean_is_missed(draw: Draw, mean: float, queries: int, seed: int) -> bool:
    low, high = mean_interval(draw(np.random.default_rng(seed), queries), 0.0, 1.0, 0.95)
    return not low <= mean <= high


def clustered_mean_is_missed(queries: int, seed: int) -> bool:
    """Whether the interval misses the mean if each cluster has 1 to 9 queries that are alike."""
    random = np.random.default_rng(seed)
    sizes, centres = random.integers(1, 10, queries), random.beta(1, 3, queries)
    values = random.random(sizes.sum()) < np.repeat(centres, sizes)
    result = rg.from_ranked(values[:, None].astype(float)).evaluate("success")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few clusters are a warning
        low, high = result.interval("success", clusters=np.repeat(np.arange(queries), sizes))
    return not low <= 0.25 <= high


def sum_is_missed(draw: Draw, mean: float, queries: int, seed: int) -> bool:
    total = float(draw(np.random.default_rng(seed), queries).sum())
    low, high = interval_of_sum(total / queries, queries, "mean", "rr", 0.95)
    return not low <= mean <= high


def mean_of_means_is_decided(sizes: tuple[int, ...], queries: int, seed: int) -> bool:
    """Whether two runs without a difference differ in the mean over groups, which have unequal sizes and spreads."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), np.array(sizes) * queries)
    runs = {"a": np.zeros(len(groups)), "b": random.normal(0, 0.1 + 0.2 * groups)}
    values = {name: dict(enumerate(run.tolist())) for name, run in runs.items()}
    compared = rg.compare(values, metrics="score", values=True).groups(groups, flips=999, seed=seed)
    return bool(compared.test_of_means("score", "b", "a").p <= ALPHA)


def difference_is_missed(draw: Draw, queries: int, seed: int) -> bool:
    differences = draw(np.random.default_rng(seed), queries)
    (its,) = tests_of(np.column_stack([np.zeros(queries), differences]), seed)
    return not its.low <= 0.0 <= its.high


def something_is_found(queries: int, seed: int) -> bool:
    """Whether a test finds a difference between runs with equal means, drawn from Bernoulli(0.1) and Beta(1, 9)."""
    random = np.random.default_rng(seed)
    hits = (random.random((queries, 3)) < 0.1).astype(float)
    return any(its.decided for its in tests_of(np.hstack([hits, random.beta(1, 9, (queries, 3))]), seed))


def bench(scale: harness.Scale) -> None:
    cases = {"smoke": 5, "usual": 1000, "full": 4000}[scale]
    for kind, (draw, mean) in VALUES.items():
        show(f"Curve.interval that misses: {kind}", partial(mean_is_missed, draw, mean), (10, 50, 200), cases, ALPHA)
        show(f"Summary.interval that misses: {kind}", partial(sum_is_missed, draw, mean), (10, 50, 200), cases, ALPHA)
    show("Evaluation.interval that misses, clusters", clustered_mean_is_missed, (5, 10, 20, 50), cases, ALPHA)
    for sizes in ((1, 1, 1), (1, 4), (1, 2, 8)):
        title = f"mean of means that is decided, groups {':'.join(map(str, sizes))}"
        show(title, partial(mean_of_means_is_decided, sizes), (5, 10, 50), cases, 0.0)
    for kind, draw in DIFFERENCES.items():
        share = 0.0 if kind == "few large gains" else ALPHA  # guaranteed only for symmetric differences
        title = f"intervals that miss, differences: {kind}"
        show(title, partial(difference_is_missed, draw), (10, 20, 50, 200), cases, share)
    show("false findings of max-T, 6 runs of unequal shapes", something_is_found, (20, 50, 200), cases, 0.0)
