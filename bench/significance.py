"""Tests of differences: the sums of sign flips, whole tests, and what others take; CPU time.

scipy's permutation tests are timed at few resamples of one pair, and multiplied: the table says so.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np

import rankgain as rg
from rankgain import _backend
from rankgain.comparison.aligned import align
from rankgain.comparison.significance import Flips, facts
from rankgain.comparison.testing import columns_of, pairs_of

METRICS = "ndcg@10", "ap", "rr@10", "precision@10", "recall@100"
CHUNK = 1000  # flips of a contender in C or NumPy at once, which is what that in C likes best
PAIRS = 225  # of 10 runs, in 5 metrics


def make(queries: int, runs: int, metrics: tuple[str, ...]) -> rg.Comparison:
    """Runs whose values are nearly all different, of the same hardness of queries."""
    random = np.random.default_rng(0)
    hardness = random.normal(0.5, 0.12, queries)
    ids = range(queries)

    def values(run: int) -> Any:
        return np.clip(hardness + random.normal(0.002 * run, 0.1, queries), 0.001, 0.999)

    return rg.Comparison(
        {
            f"run{run}": rg.Evaluation(
                {metric: values(run) for metric in metrics}, ids, None, None, None, rg.backend, (queries, 0, 0, 0)
            )
            for run in range(runs)
        }
    )


def columns_for(comparison: rg.Comparison, metrics: tuple[str, ...]) -> Any:
    """What is flipped: the differences of all pairs."""
    return columns_of(align(comparison, metrics, "same").samples, pairs_of(list(comparison), None))[0]


def library() -> Any:
    """flips_tables.c, compiled for this machine; None without a compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    target = Path(tempfile.mkdtemp()) / "flips_tables.so"
    source = Path(__file__).with_name("flips_tables.c")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
    function = ctypes.CDLL(str(target)).flips
    array, number = np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS"), ctypes.c_int64
    function.argtypes = [array, number, number, ctypes.c_uint64, number, number, array, array]
    return function


def by_c(function: Any, values: Any, count: int) -> Any:
    whole = np.ascontiguousarray(values, dtype=np.int64)
    sums, flipped = np.empty((count, whole.shape[1]), dtype=np.int64), np.empty(count, dtype=np.int64)
    for first in range(0, count, CHUNK):
        last = min(first + CHUNK, count)
        function(whole, *whole.shape, 0, first, last, sums[first:last], flipped[first:last])
    return sums


def by_rankgain(values: Any, count: int) -> Any:
    sums, flipped = np.empty((values.shape[1], count)), np.empty(count)
    _backend.flips.sums(values, 0, 0, count, sums, flipped)
    return sums


def by_matmul(values: Any, count: int) -> Any:
    """NumPy's own random signs, and a product of matrices a chunk."""
    random = np.random.default_rng(0)
    chunks = (min(CHUNK, count - first) for first in range(0, count, CHUNK))
    return np.concatenate([random.integers(0, 2, (size, len(values))).astype(float) @ values for size in chunks])


def bench(scale: harness.Scale) -> None:
    smoke = scale == "smoke"
    queries, flips = (100, 500) if smoke else (6980, 99_999)
    comparison = make(queries, 10, METRICS)
    columns = columns_for(comparison, METRICS)
    wide = np.ascontiguousarray(np.concatenate([columns.values, columns.values[:, :5]], axis=1))
    hold = partial(harness.hold, scale=scale, clock=time.process_time)
    sums = {
        "rankgain, the sums": harness.Contender(partial(by_rankgain, wide, flips), lambda own: own.sum(axis=1)),
        "NumPy, matmul (from 500 flips)": part(partial(by_matmul, wide, 500), flips / 500, 5),
    }
    if function := library():
        most = {"avx2": 1.3}.get(_backend.cpu or "", 2.2)
        least = None if rg.backend == "python" else 1 / most
        plain = harness.Contender(partial(by_c, function, wide, flips), lambda own: own.sum(axis=0), at_least=least)
        sums["flips_tables.c"] = plain
    else:
        harness.note("flips_tables.c: skipped, for there is no compiler")
    hold(f"{queries:,} queries × {wide.shape[1]} columns × {flips:,} flips, sums", sums)
    tests = {
        "rankgain, the sums": harness.Contender(partial(by_rankgain, columns.values, flips), None),
        "rankgain, test() of 225 pairs": harness.Contender(partial(comparison.test, flips=flips), None, at_most=3.0),
    }
    hold(f"10 runs × 5 metrics, {queries:,} queries, {flips:,} flips", tests)
    against_scipy(hold, comparison, flips, 20 if smoke else 500)
    large(hold, smoke)


def part(run: Callable[[], Any], times: float, at_least: float) -> harness.Contender:
    return harness.Contender(run, None, at_least=at_least, times=times)


def against_scipy(hold: Callable[..., Any], comparison: rg.Comparison, flips: int, few: int) -> None:
    paired, one_sample = (None, None) if harness.peer("scipy") is None else scipys(comparison, few)
    two = rg.Comparison({name: comparison[name] for name in ("run0", "run1")})
    tests = {
        "225 pairs": (partial(comparison.test, flips=flips), PAIRS, (1000, 100)),
        "one pair": (partial(two.test, metrics="ndcg@10", flips=flips), 1, (300, 100)),
    }
    for title, (test, pairs, least) in tests.items():
        contenders = {"rankgain, test()": harness.Contender(test, None)}
        if paired and one_sample:
            times = pairs * flips / few
            contenders["scipy permutation_test"] = part(paired, times, least[0])
            contenders["scipy, its one-sample form"] = part(one_sample, times, least[1])
        hold(f"{title}, {flips:,} flips; scipy from {few} resamples of one pair", contenders)


def scipys(comparison: rg.Comparison, few: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from scipy.stats import permutation_test

    first, second = (comparison[name]["ndcg@10"] for name in ("run0", "run1"))
    test = partial(permutation_test, permutation_type="samples", vectorized=True, batch=100, n_resamples=few)

    def mean_of(x: Any, y: Any, axis: int) -> Any:
        return np.mean(x - y, axis=axis)

    return partial(test, (second, first), mean_of), partial(test, (second - first,), np.mean)


def large(hold: Callable[..., Any], smoke: bool) -> None:
    """Many pairs, and many queries."""
    runs, flips = (10, 999) if smoke else (100, 99_999)
    comparison = make(50, runs, ("ndcg@10",))
    columns = columns_for(comparison, ("ndcg@10",))

    def adjusted() -> Any:
        return Flips(columns, flips, 0, 1).exceeded(columns, facts(columns), joint=True)

    many = make(1000 if smoke else 1_000_000, 2, ("ndcg@10",))
    most = (60.0, 60.0, 60.0) if rg.backend == "python" else (1.0, 5.0, 1.5)
    contenders = {
        "rankgain, p and adjusted": harness.Contender(adjusted, None, within=most[0]),
        "rankgain, test(), with intervals": harness.Contender(
            partial(comparison.test, flips=flips), None, within=most[1]
        ),
    }
    hold(f"{runs} runs × 50 queries, {len(columns.left):,} pairs, {flips:,} flips", contenders)
    flips = min(flips, 9_999)
    contenders = {"rankgain, test()": harness.Contender(partial(many.test, flips=flips), None, within=most[2])}
    hold(f"2 runs × 10^6 queries, {flips:,} flips", contenders)
