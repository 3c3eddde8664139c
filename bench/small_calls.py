"""How long does a call for a single query take in each form of input, and how long does the import take?

Ratios compare CPU times. The input is made beforehand; each call makes Rankings from it and evaluates them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from math import log2
from operator import mul
from typing import Any

import dicts
import harness
import numpy as np
import numpy.typing as npt
import recommendations

import rankgain as rg
from rankgain import pytrec_eval as ours
from rankgain.sklearn import ndcg_score

GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
DISCOUNTS = [1 / log2(rank + 1) for rank in range(1, 101)]
TOP = np.array(DISCOUNTS[:10])
LOOP, NUMPY = "plain Python loop", "NumPy three lines"


def plain_loop(grades: Sequence[int]) -> float:
    dcg = ideal = 0.0
    for rank, (grade, best) in enumerate(zip(grades, sorted(grades, reverse=True), strict=True), 1):
        discount = log2(rank + 1)
        dcg += grade / discount
        ideal += best / discount
    return dcg / ideal if ideal else 0.0


def plain_table(grades: Sequence[int]) -> float:
    """Compute nDCG with precomputed discounts, for lists no longer than the table of discounts."""
    ideal = sum(map(mul, sorted(grades, reverse=True), DISCOUNTS))
    return sum(map(mul, grades, DISCOUNTS)) / ideal if ideal else 0.0


def numpy_lines(grades: npt.ArrayLike) -> Any:
    gains = np.asarray(grades)
    discount = 1 / np.log2(np.arange(2, len(gains) + 2))
    return (gains @ discount) / (np.sort(gains)[::-1] @ discount)


def numpy_scores(grades: Any, scores: Any) -> Any:
    """Compute nDCG@10 in three lines of NumPy, with precomputed discounts."""
    ranked = grades[np.argsort(-scores)][:10]
    discount = TOP[: len(ranked)]
    return (ranked @ discount) / (np.sort(grades)[::-1][:10] @ discount)


def evaluated(make: Any, *data: Any, metrics: tuple[str, ...] = ("ndcg@10",), **named: Any) -> Any:
    return list(make(*data, **named).evaluate(*metrics).values())


def one_query(documents: int) -> tuple[dicts.Qrels, dicts.Run]:
    rng = np.random.default_rng(documents)
    names = [f"d{number}" for number in range(documents)]
    judged = names[:: max(1, documents // 10)]
    qrels = {"q1": {name: int(grade) for name, grade in zip(judged, rng.integers(0, 3, len(judged)), strict=True)}}
    return qrels, {"q1": dict(zip(names, rng.random(documents).tolist(), strict=True))}


def contend(
    title: str, mine: Any, peer: str, theirs: Any, at_most: float, scale: harness.Scale, values: Any = np.asarray
) -> None:
    """Compare a call of rankgain with a call of a peer; rankgain may take at most `at_most` times as long."""
    contenders = {"rankgain": harness.Contender(mine, values)}
    if theirs:
        contenders[peer] = harness.Contender(theirs, values, at_least=1 / at_most)
    harness.hold(title, contenders, scale, clock=time.process_time)


def bench_forms(scale: harness.Scale) -> None:
    rng = np.random.default_rng(1)
    for documents, dict_limit, id_limit in ((10, 1.5, 3.0), (100, 0.8, 2.5)):
        grades, scores = rng.integers(0, 4, documents), rng.random(documents)
        call = partial(evaluated, rg.from_scores, grades, scores)
        three_lines = partial(numpy_scores, grades, scores)
        title = f"from_scores, {documents} documents"
        contend(title, call, NUMPY, three_lines, 1.0, scale, lambda vectors: np.reshape(vectors, -1))
        qrels, run = one_query(documents)
        call = partial(evaluated, rg.from_qrels, qrels, run, metrics=("ndcg@10", "rr"))
        loop = partial(dicts.plain_loop, qrels, run, 10)
        contend(f"from_qrels, {documents} documents", call, LOOP, loop, dict_limit, scale)
        ids = rng.permutation(1000)[:documents].tolist()
        relevant = {*rng.permutation(1000)[:10].tolist(), ids[3]}
        call = partial(
            evaluated, rg.from_recommendations, relevant=[relevant], recommended=[ids], metrics=("ndcg@100", "rr")
        )
        loop = partial(recommendations.plain_loop, [ids], [relevant], DISCOUNTS)
        contend(f"from_recommendations, {documents} ids", call, LOOP, loop, id_limit, scale)


def evaluator_call(module: Any, reused: bool, qrels: dicts.Qrels, run: dicts.Run, measures: set[str]) -> Any:
    """Return a call that evaluates the run, with a reused or a new evaluator; None if the module is not installed."""
    if module is None:
        return None
    if reused:
        return partial(module.RelevanceEvaluator(qrels, measures).evaluate, run)
    return lambda: module.RelevanceEvaluator(qrels, measures).evaluate(run)


def bench_dropins(scale: harness.Scale) -> None:
    modules = ours, harness.peer("pytrec_eval")
    for reused, name, measures, limits in (
        (True, "ndcg_cut.10", {"ndcg_cut.10"}, (0.6, 0.35, 0.2)),
        (True, "BEIR's measures", dicts.BEIR, (1.0, 0.6, 0.35)),
        (False, "ndcg_cut.10", {"ndcg_cut.10"}, (0.2, 0.2)),
        (False, "ndcg", {"ndcg"}, (0.6, 0.5)),
    ):
        for documents, limit in zip((10, 100, 1000), limits, strict=False):
            mine, theirs = (evaluator_call(module, reused, *one_query(documents), measures) for module in modules)
            evaluator = "reused evaluator" if reused else "new evaluator per call"
            title = f"pytrec_eval's drop-in, {evaluator}, {name}, {documents} documents"
            contend(title, mine, "pytrec_eval", theirs, limit, scale, dict)
    sklearn = harness.peer("sklearn.metrics")
    rng = np.random.default_rng(2)
    for documents in (10, 100):
        rows = rng.integers(0, 4, (1, documents)), rng.random((1, documents))
        title = f"rankgain.sklearn.ndcg_score, a row of {documents}"
        theirs = sklearn and partial(sklearn.ndcg_score, *rows)
        contend(title, partial(ndcg_score, *rows), "scikit-learn", theirs, 0.02, scale)


def bench_lists(scale: harness.Scale) -> None:
    array = np.array(GRADES)
    on_list = {
        "rankgain ndcg(list)": partial(rg.ndcg, GRADES),
        "plain Python, logarithms made beforehand": partial(plain_table, GRADES),
        LOOP: harness.Contender(partial(plain_loop, GRADES), at_least=2),
        NUMPY: partial(numpy_lines, GRADES),
    }
    on_array = {
        "rankgain ndcg(array)": partial(rg.ndcg, array),
        "plain Python loop over array.tolist()": lambda: plain_loop(array.tolist()),
        NUMPY: harness.Contender(partial(numpy_lines, array), at_least=5),
    }
    harness.hold("ndcg of a list of 10", on_list, scale, clock=time.process_time)
    harness.hold("ndcg of an int64 array of 10", on_array, scale, clock=time.process_time)
    lists = np.random.default_rng(3).integers(0, 4, (1000, 100)).tolist()
    title = "ndcg of 1000 lists of 100 in one call"
    contend(title, partial(rg.ndcg, lists), "a loop of ndcg(list)", lambda: list(map(rg.ndcg, lists)), 0.8, scale)


def bench_start(scale: harness.Scale) -> None:
    """Time the start of a process; the warm-up run writes the byte code."""

    def process(statement: str) -> harness.Contender:
        return harness.Contender(partial(harness.process, sys.executable, "-c", statement), None)

    contenders = {
        "import numpy": process("import numpy"),
        "rankgain, import rankgain": process("import rankgain")._replace(at_most=1.1),
        "limit: a process that imports nothing": process("pass"),
    }
    harness.hold("start of a process", contenders, scale, turn=0.5)


def bench(scale: harness.Scale) -> None:
    bench_start(scale)
    bench_lists(scale)
    bench_forms(scale)
    bench_dropins(scale)
