"""What does a call of a C function cost beside its work, and what is a second thread of a compiled loop worth?"""

from __future__ import annotations

import importlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import harness
import numpy as np
import numpy.typing as npt
from scores import ALL, PLAIN, make

import rankgain as rg

K = 10
BUSY = 0.5  # seconds of a turn, which lasts at least half of it


def compiled(folder: str) -> Any:
    """The loops of c_loops.pyx against the rankgain that is imported; None, and why, where they cannot be compiled."""
    try:
        import pyximport

        importlib.import_module("rankgain.capi")
        hooks = pyximport.install(build_dir=folder, setup_args={"include_dirs": [rg.get_include()]})
        try:
            return importlib.import_module("c_loops")
        finally:
            pyximport.uninstall(*hooks)
    except ImportError as error:
        print(f"C functions: skipped ({error})")
        return None


def filling(queries: int, loop: Any, *arguments: Any, at_most: float | None = None) -> harness.Contender:
    """One that writes the values of the queries behind its arguments; what counts is one query."""
    out = np.full(queries, np.nan)
    return harness.Contender(partial(loop, *arguments, out), lambda _: out, at_most=at_most, times=1 / queries)


def calls_beside_work(loops: Any, queries: int, scale: harness.Scale) -> None:
    discount = rg.discount(K)
    for title, documents, at_most in ((f"10 grades, {ALL}", 10, 3.0), ("1 grade", 1, None), ("none", 0, None)):
        lists = make(queries, documents, ALL)[0].astype(np.float64)
        contenders = {
            "limit: the loop inlined, nothing checked": filling(queries, loops.dcg_inlined, lists, K, discount),
            "rankgain_dcg, cimported": filling(queries, loops.dcg_cimported, lists, K, at_most=at_most),
        }
        harness.hold(f"a call from C, DCG of {title}", contenders, scale)


def two_threads(loops: Any, queries: int, scale: harness.Scale) -> None:
    labels, scores = make(queries, 100, PLAIN)
    rankings = rg.from_scores(labels, scores)
    labels = labels.astype(np.float64)

    def halves(out: npt.NDArray[np.float64]) -> None:
        parts = slice(queries // 2), slice(queries // 2, None)
        list(pool.map(lambda part: loops.ndcg_from_scores(labels[part], scores[part], K, out[part]), parts))

    with ThreadPoolExecutor(2) as pool:
        contenders = {
            "rankgain, the C function": filling(queries, loops.ndcg_from_scores, labels, scores, K),
            "rankgain, the C function, two threads": filling(queries, halves, at_most=1 / 1.7),
            "rankgain, evaluate, two threads": harness.Contender(
                partial(rankings.evaluate, f"ndcg@{K}", threads=2), times=1 / queries
            ),
        }
        title = f"{queries:,} × 100, ndcg@{K} of scores in C, kept busy"
        harness.hold(title, contenders, scale, turn=BUSY)


def bench(scale: harness.Scale) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        loops = compiled(folder)
        if loops:
            queries = 20 if scale == "smoke" else 1000
            calls_beside_work(loops, queries, scale)
            two_threads(loops, 10 * queries, scale)
