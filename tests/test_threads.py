"""The number of threads changes neither bits nor errors, and no process hangs after a fork."""

import gc
import math
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from support.differences import vector_differences
from support.marks import freed_at_once, quick_first
from support.threaded import QUERIES, evaluated, from_scores, scores
from support.training import (
    GRADES,
    SCORES,
    catboost_metric,
    lambda_rank,
    lightgbm_metric,
    lightgbm_objective,
    xgboost_metric,
    xgboost_objective,
)

import rankgain as rg
from rankgain import threads as threading_of
from rankgain.threads import run_chunks


@pytest.fixture(autouse=True)
def many_chunks(monkeypatch):
    monkeypatch.setattr("rankgain.data.source.CHUNK", 64)


def from_dicts():
    rng = np.random.default_rng(1)
    qrels = {str(q): {str(d): int(rng.integers(0, 3)) for d in rng.integers(0, 30, 9)} for q in range(QUERIES)}
    run = {str(q): {str(d): float(rng.integers(0, 9)) for d in range(30)} for q in range(QUERIES)}
    return rg.from_qrels(qrels, run)


def from_matrix():
    rng = np.random.default_rng(2)
    return rg.from_recommendations(
        [{int(i) for i in rng.integers(0, 50, 5)}] * QUERIES,
        rng.permuted(np.tile(np.arange(50), (QUERIES, 1)), axis=1)[:, :20],
    )


@pytest.mark.parametrize("make", [from_scores, from_dicts, from_matrix])
@pytest.mark.parametrize("threads", quick_first([3, np.int64(2), 2, 16, 256], 2))
def test_any_number_of_threads_gives_the_same_bits(backend, make, threads):
    rankings = make()
    metrics = "ndcg@10", "ndcg(gain=exponential)", "rr"
    one, many = rankings.evaluate(*metrics), rankings.evaluate(*metrics, threads=threads)
    assert many.counts == one.counts
    assert not vector_differences(many, one, sides=(f"{threads} threads", "1 thread"))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_lowest_invalid_query_is_named(backend, threads):
    grades, keys, sizes = scores()
    starts = np.append(0, np.cumsum(sizes))
    for query in (100, 70, 40):
        query += int(np.flatnonzero(sizes[query:])[0])
        keys[starts[query]] = np.nan
        with pytest.raises(ValueError, match=f"^y_score: query {query}, position 0 "):
            rg.from_scores(grades, keys, group_sizes=sizes).evaluate("ndcg", threads=threads)


def test_threads_run_chunks_at_the_same_time():
    """The two chunks wait for each other, so a single thread would never finish."""
    meeting = threading.Barrier(2, timeout=30)
    assert run_chunks([(0, 1), (1, 2)], lambda start, stop: (meeting.wait() >= 0, stop), 2) == [(True, 1), (True, 2)]


def test_no_chunk_starts_after_an_error():
    begun = []

    def work(start, stop):
        begun.append(start)
        if start == 2:
            raise ValueError(start)

    with pytest.raises(ValueError, match="2"):
        run_chunks([(number, number + 1) for number in range(1000)], work, 1)
    assert begun == [0, 1, 2]


def test_error_of_the_first_chunk_is_raised(monkeypatch):
    late = threading.Event()

    def work(start, stop):
        if start == 0:
            assert late.wait(30)
        if start == 1:
            late.set()
        raise ValueError(f"chunk {start}")

    with pytest.raises(ValueError, match="chunk 0"):
        run_chunks([(0, 1), (1, 2)], work, 2)


@pytest.mark.parametrize("method", quick_first(multiprocessing.get_all_start_methods()))
def test_threads_work_after_a_fork_of_multiprocessing(method):
    expected = evaluated(0)  # starts a thread pool, whose threads do not exist in a forked process
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(evaluated, range(6)).get(60) == [expected] * 6


@freed_at_once
@pytest.mark.parametrize("threads", quick_first([2, 1]))
def test_error_does_not_reference_the_arrays_of_its_chunk(backend, threads):
    """A reference cycle would keep the arrays in memory until the garbage collector runs."""
    rankings = rg.from_ranked([[1.0] * 64, [math.nan] * 64])
    gc.collect()
    gc.freeze()  # the collector can skip objects that already exist
    gc.disable()
    try:
        with suppress(ValueError):
            rankings.evaluate("ndcg", threads=threads)
        assert gc.collect() == 0
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_during_evaluation_does_not_hang():
    code = """
import os, sys, threading
import numpy as np
import rankgain as rg
rankings = rg.from_scores(np.ones((400, 1000)), np.random.default_rng(0).random((400, 1000)))
rankings.evaluate("ndcg", threads=3)  # whatever is imported, for a fork in the middle of that would wait for ever
stop = threading.Event()
def busy():
    while not stop.is_set():
        rankings.evaluate("ndcg", threads=3)
worker = threading.Thread(target=busy)
worker.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        ok = rankings.evaluate("ndcg", threads=3).mean("ndcg") == 1.0
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
worker.join()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], timeout=100, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("chunks", "threads", "helpers"), [(1, 8, 0), (2, 8, 1), (5, 3, 2), (5, 1, 0), (0, 4, 0)])
def test_number_of_helpers_is_limited_by_threads_and_chunks(monkeypatch, chunks, threads, helpers):
    """The caller's thread counts as one of the threads."""
    submitted = []

    class Pool(ThreadPoolExecutor):
        def submit(self, *work):
            submitted.append(work)
            return super().submit(*work)

    with Pool(8) as pool:
        monkeypatch.setattr(threading_of, "_executor", lambda: pool)
        assert run_chunks([(0, chunk) for chunk in range(chunks)], lambda _, stop: stop, threads) == [*range(chunks)]
    assert len(submitted) == helpers


SCORED = rg.from_scores([[1, 0, 2]], [[0.5, 0.25, 0.125]])
QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 0.5}}
WITH_THREADS = {
    rg.evaluate: [QRELS, RUN, "ndcg"],
    SCORED.evaluate: ["ndcg"],
    SCORED.tie_spread: ["ndcg"],
    rg.read_trec: [os.devnull, os.devnull],
    rg.lambdarank: [GRADES, SCORES],
    lambda_rank: [],
    lightgbm_objective: [],
    xgboost_objective: [],
    lightgbm_metric: [],
    xgboost_metric: [],
    catboost_metric: [],
}


@pytest.mark.parametrize("row", [
    ("threads must be from 1 to 256, not {value}", ValueError, 0, -1, 257),
    ("threads must be an integer, not {type}", TypeError, True, 2.0, 1.5, Fraction(2), "2", None),
])  # fmt: skip
def test_numbers_of_threads_are_rejected(rejects, row):
    message, error, *values = row
    for threads in values:
        expected = message.format(value=threads, type=type(threads).__name__)
        for function, given in WITH_THREADS.items():
            rejects(error, expected, function, *given, threads=threads)
