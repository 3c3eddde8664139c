"""Tests of differences: the sums of sign flips, whole tests, and what others take; CPU time.

scipy's permutation tests are timed at few resamples of one pair, and multiplied: the table says so.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import contest
import numpy as np

import rankgain as rg
from rankgain import _backend
from rankgain.comparison.significance import Flips, facts
from rankgain.comparison.testing import columns_of, pairs_of

METRICS = "ndcg@10", "ap", "rr@10", "precision@10", "recall@100"
CHUNK = 1000  # flips of the contender in C at once, which is what it likes best
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


def library() -> Any:
    """flips_tables.c, compiled for this machine; None without a compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    target = Path(tempfile.mkdtemp()) / "flips_tables.so"
    source = Path(__file__).with_name("flips_tables.c")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target)).flips


def by_c(function: Any, values: Any, count: int) -> Any:
    whole = np.ascontiguousarray(values, dtype=np.int64)
    queries, columns = whole.shape
    sums, flipped = np.empty((count, columns), dtype=np.int64), np.empty(count, dtype=np.int64)
    number = ctypes.c_int64
    for first in range(0, count, CHUNK):
        last = min(first + CHUNK, count)
        function(
            whole.ctypes.data_as(ctypes.c_void_p),
            number(queries),
            number(columns),
            ctypes.c_uint64(0),
            number(first),
            number(last),
            sums[first:last].ctypes.data_as(ctypes.c_void_p),
            flipped[first:last].ctypes.data_as(ctypes.c_void_p),
        )
    return sums


def by_rankgain(values: Any, count: int) -> Any:
    sums, flipped = np.empty((values.shape[1], count)), np.empty(count)
    _backend.flips.sums(values, 0, 0, count, sums, flipped)
    return sums


def by_matmul(values: Any, count: int) -> Any:
    """NumPy's own random signs, and a product of matrices a chunk."""
    random, chunk = np.random.default_rng(0), 1000
    return np.concatenate(
        [
            random.integers(0, 2, (min(chunk, count - b), len(values))).astype(float) @ values
            for b in range(0, count, chunk)
        ]
    )


def seconds(call: Callable[[], Any]) -> float:
    """Of CPU, the median of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return sorted(times)[1]


def limit(title: str, name: str, took: float, most: float) -> None:
    contest.show([contest.Row(title, name, contest.duration(took), took / most, "", f"≤ {most:g} s", took <= most)])


def bench(scale: contest.Scale) -> None:
    smoke = scale == "smoke"
    queries, flips = (100, 500) if smoke else (6980, 99_999)
    comparison = make(queries, 10, METRICS)
    aligned = {metric: np.column_stack([run[metric] for run in comparison.values()]) for metric in METRICS}
    pairs = pairs_of(list(comparison), None)
    columns, _ = columns_of(aligned, METRICS, pairs)
    wide = np.ascontiguousarray(np.concatenate([columns.values, columns.values[:, :5]], axis=1))
    size = f"{queries:,} queries × {wide.shape[1]} columns × {flips:,} flips"
    function = library()
    if function is None:
        contest.note("flips_tables.c: skipped, for there is no compiler")
    most = {"avx2": 1.3}.get(_backend.cpu or "", 2.2)
    whole = None if rg.backend == "python" else most
    sums = {
        "flips_tables.c": contest.Contender(partial(by_c, function, wide, flips), lambda own: own.sum(axis=0)),
        "rankgain, the sums": contest.Contender(
            partial(by_rankgain, wide, flips), lambda own: own.sum(axis=1), at_most=whole
        ),
    }
    if function is not None:
        contest.hold(f"{size}, sums", sums, scale, clock=time.process_time)
    test = partial(comparison.test, flips=flips)
    tests = {
        "rankgain, the sums": contest.Contender(partial(by_rankgain, columns.values, flips), None),
        "rankgain, test() of 225 pairs": contest.Contender(test, None, at_most=3.0),
    }
    contest.hold(f"10 runs × 5 metrics, {queries:,} queries, {flips:,} flips", tests, scale, clock=time.process_time)
    others(comparison, columns.values, flips, smoke)
    large(smoke)


def others(comparison: rg.Comparison, values: Any, flips: int, smoke: bool) -> None:
    """scipy and NumPy against test()."""
    if contest.peer("scipy") is None:
        return
    from scipy.stats import permutation_test

    first, second = (comparison[name]["ndcg@10"] for name in ("run0", "run1"))
    few = 20 if smoke else 500

    def mean_of(x: Any, y: Any, axis: int) -> Any:
        return np.mean(x - y, axis=axis)

    def paired() -> Any:
        given = {"permutation_type": "samples", "vectorized": True, "batch": 100}
        return permutation_test((second, first), mean_of, n_resamples=few, **given)

    def one_sample() -> Any:
        given = {"permutation_type": "samples", "vectorized": True, "batch": 100}
        return permutation_test((second - first,), np.mean, n_resamples=few, **given)

    two = rg.Comparison({name: comparison[name] for name in ("run0", "run1")})
    family = seconds(partial(comparison.test, flips=flips))
    pair = seconds(partial(two.test, metrics="ndcg@10", flips=flips))
    kernel = seconds(partial(by_rankgain, values, flips))
    times = {"paired": seconds(paired) * flips / few, "one": seconds(one_sample) * flips / few}
    matmul = seconds(partial(by_matmul, values, few)) * flips / few
    if smoke:
        return
    told = f"(from {few} resamples of one pair)"
    rows = [
        contest.Row("against others, CPU", "rankgain, test() of 225 pairs", contest.duration(family)),
        other(f"scipy permutation_test, 225 pairs {told}", times["paired"] * PAIRS, family, 1000),
        other(f"scipy, its one-sample form, 225 pairs {told}", times["one"] * PAIRS, family, 100),
        other("NumPy, matmul for the sums alone (from 500 flips), against rankgain's sums", matmul, kernel, 5),
    ]
    contest.show(rows)
    rows = [
        contest.Row("against others, one pair, CPU", "rankgain, test() of one pair", contest.duration(pair)),
        other(f"scipy permutation_test {told}", times["paired"], pair, 300),
        other(f"scipy, its one-sample form {told}", times["one"], pair, 100),
    ]
    contest.show(rows)


def other(name: str, took: float, ours: float, least: float) -> contest.Row:
    ratio = took / ours
    return contest.Row("against others, CPU", name, contest.duration(took), ratio, "", f"≥ {least:g}", ratio >= least)


def large(smoke: bool) -> None:
    """Many pairs, and many queries."""
    runs, flips = (10, 999) if smoke else (100, 99_999)
    comparison = make(50, runs, ("ndcg@10",))
    values = {"ndcg@10": np.column_stack([run["ndcg@10"] for run in comparison.values()])}
    columns, _ = columns_of(values, ("ndcg@10",), pairs_of(list(comparison), None))

    def adjusted() -> Any:
        return Flips(columns, flips, 0, 1).exceeded(columns, facts(columns), joint=True)

    most = (60.0, 60.0, 60.0) if rg.backend == "python" else (1.0, 5.0, 1.5)
    took = seconds(adjusted), seconds(partial(comparison.test, flips=flips))
    many = make(1000 if smoke else 1_000_000, 2, ("ndcg@10",))
    long = seconds(partial(many.test, flips=min(flips, 9_999)))
    if smoke:
        print("significance: run")
        return
    title = f"{runs} runs × 50 queries, {len(columns.left):,} pairs, {flips:,} flips"
    limit(title, "p and adjusted", took[0], most[0])
    limit(title, "test(), with intervals", took[1], most[1])
    limit("2 runs × 10^6 queries, 9,999 flips", "test()", long, most[2])


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
