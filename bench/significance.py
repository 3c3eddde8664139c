"""How much CPU time do significance tests and their sums of sign flips take, compared with SciPy and NumPy?

SciPy's permutation test is timed with few resamples of one pair. The time is then multiplied, as the table states.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain import _backend
from rankgain.comparison.aligned import align
from rankgain.comparison.testing import columns_of, pairs_of

METRICS = "ndcg@10", "ap", "rr@10", "precision@10", "recall@100"


def make(queries: int, runs: int) -> rg.Comparison:
    """Make runs with mostly distinct values; each query is equally hard in all runs."""
    random = np.random.default_rng(0)
    hardness = random.normal(0.5, 0.12, queries)

    def evaluation(run: int) -> rg.Evaluation:
        noise = (random.normal(0.002 * run, 0.1, queries) for _ in METRICS)
        values = {metric: np.clip(hardness + some, 0.001, 0.999) for metric, some in zip(METRICS, noise, strict=True)}
        return rg.Evaluation(values, range(queries), None, None, None, rg.backend, (queries, *[0] * 6))

    return rg.Comparison({f"run{run}": evaluation(run) for run in range(runs)})


def by_rankgain(values: Any, flips: int) -> Any:
    sums, flipped = np.empty((values.shape[1], flips)), np.empty(flips)
    _backend.flips.sums(values, 0, 0, flips, sums, flipped)
    return sums


def by_matmul(values: Any, flips: int) -> Any:
    """Draw random signs with NumPy, and sum the flipped differences with a matrix product."""
    return np.random.default_rng(0).integers(0, 2, (flips, len(values))).astype(float) @ values


def scipys_test(comparison: rg.Comparison, few: int) -> Callable[[], Any]:
    from scipy.stats import permutation_test

    differences = comparison["run1"]["ndcg@10"] - comparison["run0"]["ndcg@10"]
    options: Any = {"permutation_type": "samples", "vectorized": True, "batch": 100, "n_resamples": few}
    return partial(permutation_test, (differences,), np.mean, **options)


def bench(scale: harness.Scale) -> None:
    smoke = scale == "smoke"
    queries, flips, few = (100, 500, 20) if smoke else (6980, 99_999, 500)
    comparison = make(queries, 10)
    two = rg.Comparison({name: comparison[name] for name in ("run0", "run1")})
    columns = columns_of(align(comparison, METRICS, "same").samples, pairs_of(list(comparison), None))[0].values
    columns = np.ascontiguousarray(np.concatenate([columns, columns[:, :5]], axis=1))
    sums = harness.Contender(partial(by_rankgain, columns, flips), lambda sums: sums.sum(axis=1))
    matmul = harness.Contender(partial(by_matmul, columns, few), None, at_least=5, times=flips / few)
    hold = partial(harness.hold, scale=scale, clock=time.process_time)
    title = f"{queries:,} queries × {columns.shape[1]} columns × {flips:,} flips, sums"
    hold(title, {"rankgain, the sums": sums, f"NumPy, matmul (from {few} flips)": matmul})
    scipy = scipys_test(comparison, few) if harness.peer("scipy") else None
    tests = {
        "225 pairs": (partial(comparison.test, flips=flips), 225, 1000),
        "one pair": (partial(two.test, metrics="ndcg@10", flips=flips), 1, 300),
    }
    for title, (test, pairs, at_least) in tests.items():
        contenders = {"rankgain, test()": harness.Contender(test, None)}
        if scipy:
            times = pairs * flips / few
            contenders["scipy permutation_test"] = harness.Contender(scipy, None, at_least=at_least, times=times)
        hold(f"{title}, {flips:,} flips; scipy from {few} resamples of one pair", contenders)
