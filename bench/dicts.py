"""How long do nDCG@10 and reciprocal rank take for qrels and a run in dicts? How fast is the pytrec_eval drop-in?"""

from __future__ import annotations

import random
from functools import partial
from math import log2
from typing import Any

import harness

import rankgain as rg
from rankgain import pytrec_eval as dropin

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
MEASURES = {"ndcg_cut.10", "recip_rank"}
CUTOFFS = "1,3,5,10,100,1000"
BEIR = {f"{measure}.{CUTOFFS}" for measure in ("map_cut", "ndcg_cut", "recall", "P")}


def make(queries: int, documents: int, judged: int, grades: tuple[int, ...], first: int = 0) -> tuple[Qrels, Run]:
    """Make qrels and a run in descending order of score.

    About 80 % of the judged documents are in the run, more often at early ranks than at late ones. The scores of a
    query are distinct multiples of 2 ** -16 below 16. They are exact in float32, so they stay distinct in pytrec_eval,
    which converts scores to float32.
    """
    rng = random.Random(20240229 + first)
    qrels: Qrels = {}
    run: Run = {}
    for query in range(first, first + queries):
        numbers = rng.sample(range(1, 8_841_824), documents + judged)
        scores = sorted(rng.sample(range(1, 2**20), documents), reverse=True)
        run[f"{query}"] = {f"D{number}": score / 2**16 for number, score in zip(numbers, scores, strict=False)}
        judgments: dict[str, int] = {}
        while len(judgments) < judged:
            position = (
                int(documents * rng.random() ** 3) if rng.random() < 0.8 else rng.randrange(documents, len(numbers))
            )
            judgments[f"D{numbers[position]}"] = rng.choice(grades)
        qrels[f"{query}"] = judgments
    return qrels, run


def shuffled(run: Run) -> Run:
    rng = random.Random(1)
    return {query: dict(rng.sample(list(documents.items()), len(documents))) for query, documents in run.items()}


def plain_loop(qrels: Qrels, run: Run, k: int) -> list[list[float]]:
    discounts = [1 / log2(rank + 1) for rank in range(1, k + 1)]
    ndcg, rr = [], []
    for query, judged in qrels.items():
        documents = run[query]
        ranked = sorted(documents, key=documents.__getitem__, reverse=True)
        best = sorted(judged.values(), reverse=True)
        ideal = sum(grade * discount for grade, discount in zip(best, discounts, strict=False))
        dcg = sum(judged.get(name, 0) * discount for name, discount in zip(ranked, discounts, strict=False))
        ndcg.append(dcg / ideal if ideal else 0.0)
        rr.append(next((1 / rank for rank, name in enumerate(ranked, 1) if judged.get(name, 0) > 0), 0.0))
    return [ndcg, rr]


def walk(run: Run) -> float:
    return sum(sum(scores.values()) for scores in run.values())


def in_order(results: dict[str, dict[str, float]], qrels: Qrels) -> list[list[float]]:
    """Convert pytrec_eval's results to two lists of values, in the order of the queries in `qrels`."""
    return [[results[query][measure] for query in qrels] for measure in ("ndcg_cut_10", "recip_rank")]


def contend(title: str, qrels: Qrels, run: Run, at_least: float | None, scale: harness.Scale) -> None:
    contenders = {
        "rankgain": lambda: rg.from_qrels(qrels, run).evaluate("ndcg@10", "rr"),
        "plain Python sorted loop": partial(plain_loop, qrels, run, 10),
    }
    if pytrec_eval := harness.peer("pytrec_eval"):
        values = partial(in_order, qrels=qrels)
        call = partial(pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate, run)
        contenders["pytrec_eval evaluate(run)"] = harness.Contender(call, values, at_least=at_least)
    contenders["limit: the sum of each dict's scores"] = partial(walk, run)
    harness.hold(title, contenders, scale)


def contend_dropin(
    title: str, qrels: Qrels, run: Run, measures: set[str], at_least: float | None, scale: harness.Scale
) -> None:
    """Compare `rankgain.pytrec_eval` with pytrec_eval on the same queries and measures."""
    modules = {"rankgain.pytrec_eval": dropin, "pytrec_eval": harness.peer("pytrec_eval")}
    contenders: dict[str, Any] = {
        f"{name} evaluate(run)": harness.Contender(
            partial(module.RelevanceEvaluator(qrels, measures).evaluate, run), dict, at_least=at_least
        )
        for name, module in modules.items()
        if module
    }
    contenders["limit: the sum of each dict's scores"] = partial(walk, run)
    harness.hold(title, contenders, scale)


def bench(scale: harness.Scale) -> None:
    many = {"smoke": 20, "usual": 700, "full": 6980}[scale]
    few, documents, judged = (5, 100, 20) if scale == "smoke" else (50, 1000, 200)
    for queries, known, grades, (ordered, scattered, beir, all_trec) in [
        (many, 1, (1,), (12.0, 7.0, 10.0, 6.0)),
        (few, judged, (0, 0, 0, 1, 1, 2, 3), (9.0, None, None, None)),
    ]:
        qrels, run = make(queries, documents, known, grades)
        shape = f"{queries:,} queries × {documents:,}, {known} judged"
        contend(f"dicts, {shape}, in score order", qrels, run, ordered, scale)
        contend(f"dicts, {shape}, shuffled", qrels, shuffled(run), scattered, scale)
        for name, measures, at_least in (("BEIR's measures", BEIR, beir), ("all_trec", {"all_trec"}, all_trec)):
            title = f"pytrec_eval's drop-in, {name}, {shape}"
            contend_dropin(title, qrels, run, measures, at_least, scale)
            if queries == many:
                contend_dropin(f"{title}, shuffled", qrels, shuffled(run), measures, None, scale)
