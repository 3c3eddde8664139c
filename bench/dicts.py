"""How long do nDCG at 10 and reciprocal rank take of a run and qrels in dicts?"""

from __future__ import annotations

import random
import sys
from functools import partial
from math import log2
from typing import Any

import contest

import rankgain as rg

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
MEASURES = {"ndcg_cut.10", "recip_rank"}


def make(queries: int, documents: int, judged: int, grades: tuple[int, ...]) -> tuple[Qrels, Run]:
    """A run in score order; four judged documents in five were returned, the early ranks more often than the late.

    Scores are multiples of 2 ** -16 below 16, all different in a query: exact, and so different, in float32 too, which
    is what pytrec_eval compares.
    """
    rng = random.Random(20240229)
    qrels: Qrels = {}
    run: Run = {}
    for query in range(queries):
        numbers = rng.sample(range(1, 8_841_824), documents + judged)
        scores = sorted(rng.sample(range(1, 2**20), documents), reverse=True)
        run[f"{query}"] = {f"D{number}": score / 2**16 for number, score in zip(numbers, scores, strict=False)}
        judgments: dict[str, int] = {}
        while len(judgments) < judged:
            place = int(documents * rng.random() ** 3) if rng.random() < 0.8 else rng.randrange(documents, len(numbers))
            judgments[f"D{numbers[place]}"] = rng.choice(grades)
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
    """pytrec_eval's answer as two vectors in the order of the qrels."""
    return [[results[query][measure] for query in qrels] for measure in ("ndcg_cut_10", "recip_rank")]


def contend(title: str, qrels: Qrels, run: Run, at_least: float | None, scale: contest.Scale) -> None:
    contenders = {
        "rankgain": contest.Contender(
            lambda: rg.from_qrels(qrels, run).evaluate("ndcg@10", "rr"), lambda answer: list(answer.values())
        ),
        "plain Python sorted loop": contest.Contender(partial(plain_loop, qrels, run, 10)),
    }
    pytrec_eval: Any = contest.peer("pytrec_eval")
    if pytrec_eval:
        values = partial(in_order, qrels=qrels)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
        contenders |= {
            "pytrec_eval evaluate(run)": contest.Contender(partial(evaluator.evaluate, run), values, at_least=at_least),
            "pytrec_eval RelevanceEvaluator(qrels).evaluate(run)": contest.Contender(
                lambda: pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run), values
            ),
        }
    contenders["limit: the sum of each dict's scores"] = contest.Contender(partial(walk, run), None)
    contest.hold(title, contenders, scale)


def bench(scale: contest.Scale) -> None:
    many = {"smoke": 20, "usual": 700, "full": 6980}[scale]
    few, documents, judged = (5, 100, 20) if scale == "smoke" else (50, 1000, 200)
    for queries, known, grades, targets in [
        (many, 1, (1,), (12.0, 7.0)),
        (few, judged, (0, 0, 0, 1, 1, 2, 3), (9.0, None)),
    ]:
        qrels, run = make(queries, documents, known, grades)
        shape = f"dicts, {queries:,} queries × {documents:,}, {known} judged"
        contend(f"{shape}, in score order", qrels, run, targets[0], scale)
        contend(f"{shape}, shuffled", qrels, shuffled(run), targets[1], scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
