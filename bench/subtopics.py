"""How much CPU time do α-nDCG@10 and subtopic recall take, compared with pyndeval and with plain nDCG@10?

Judgments are prepared beforehand. The first run of judgments computes the ideal lists, which further runs share; only
the rows named "a further run" leave them out. pyndeval prepares its evaluator in each call.
"""

from __future__ import annotations

import sys
import time
from operator import itemgetter
from typing import Any, NamedTuple

import harness
import numpy as np

import rankgain as rg
from rankgain.data.judgments import judgment_sets

METRICS = "alpha_ndcg@10", "strecall@10"


class Data(NamedTuple):
    """Judgments by subtopic, the same with the highest grade of each document, and a run, as dicts."""

    truth: dict[str, dict[str, dict[str, int]]]
    plain: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]


def make(queries: int, subtopics: int, documents: int, *, shared: bool) -> Data:
    """Return queries with `documents` returned, half of them judged. `shared`: whether queries share subtopic ids."""
    rng = np.random.default_rng(queries)
    truth, run = {}, {}
    for query in range(queries):
        names = [f"d{number:07}" for number in rng.choice(10**6, documents, replace=False)]
        covers = rng.random((subtopics, documents // 2)) < 0.25
        truth[f"q{query}"] = {
            f"{s}" if shared else f"q{query}_{s}": {
                name: int(cover) for name, cover in zip(names, covers[s].tolist(), strict=False)
            }
            for s in range(subtopics)
        }
        run[f"q{query}"] = dict(zip(rng.permutation(names).tolist(), rng.random(documents).tolist(), strict=True))
    plain = {
        query: {name: max(grades[name] for grades in of_query.values()) for name in next(iter(of_query.values()))}
        for query, of_query in truth.items()
    }
    return Data(truth, plain, run)


def ours(truth: rg.Judgments, run: Any, *metrics: str, first: bool = True, **options: Any) -> Any:
    covers = judgment_sets(truth).covers
    if first and covers is not None:
        covers.cache.clear()
    return rg.from_qrels(truth, run).evaluate(*metrics, **options)


def theirs(pyndeval: Any, qrels: list[Any], run: list[Any]) -> Any:
    evaluator = pyndeval.RelevanceEvaluator(qrels, ["alpha-nDCG@10", "strec@10"])
    return list(evaluator.evaluate(run).values())


def case(title: str, data: Data, at_least: float, scale: harness.Scale) -> None:
    truth, plain = rg.judgments(data.truth, subtopic=True), rg.judgments(data.plain)
    contenders: dict[str, Any] = {
        "rankgain": harness.Contender(lambda: ours(truth, data.run, *METRICS), itemgetter("strecall@10")),
        "rankgain, like ndeval": harness.Contender(
            lambda: ours(truth, data.run, *METRICS, like="ndeval"), itemgetter("strecall@10")
        ),
        "rankgain, judgments from dicts": harness.Contender(
            lambda: ours(rg.judgments(data.truth, subtopic=True), data.run, *METRICS), itemgetter("strecall@10")
        ),
    }
    pyndeval: Any = harness.peer("pyndeval")
    if pyndeval:
        qrels = [
            pyndeval.SubtopicQrel(query, s, name, grade)
            for query, of_query in data.truth.items()
            for s, grades in of_query.items()
            for name, grade in grades.items()
        ]
        run = [pyndeval.ScoredDoc(query, *pair) for query, scores in data.run.items() for pair in scores.items()]
        contenders["pyndeval"] = harness.Contender(
            lambda: theirs(pyndeval, qrels, run),
            lambda answer: [values["strec@10"] for values in answer],
            at_least=at_least,
        )
        expected = [values["alpha-nDCG@10"] for values in theirs(pyndeval, qrels, run)]
        values = ours(truth, data.run, *METRICS, like="ndeval")["alpha_ndcg@10"]
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    harness.hold(title, contenders, scale, clock=time.process_time)
    harness.hold(
        f"{title}, beside plain judgments",
        {
            "rankgain, ndcg@10": harness.Contender(lambda: ours(plain, data.run, "ndcg@10"), None),
            "rankgain, alpha_ndcg@10": harness.Contender(lambda: ours(truth, data.run, "alpha_ndcg@10"), None),
            "rankgain, alpha_ndcg@10, a further run": harness.Contender(
                lambda: ours(truth, data.run, "alpha_ndcg@10", first=False), None, at_most=4
            ),
            "rankgain, strecall@10": harness.Contender(lambda: ours(truth, data.run, "strecall@10"), None, at_most=4),
        },
        scale,
        clock=time.process_time,
    )


def bench(scale: harness.Scale) -> None:
    most = 10 if scale == "smoke" else 10**6
    for queries, subtopics, documents, shared, at_least in (
        (200, 5, 100, True, 10),
        (672, 3, 50, False, 40),
        (50, 10, 1000, True, 10),
    ):
        title = f"{queries} queries, {subtopics} subtopics{' each of its own' * (not shared)}, {documents} documents"
        case(title, make(min(queries, most), subtopics, documents, shared=shared), at_least, scale)


if __name__ == "__main__":
    sys.exit(harness.main(bench, scale=harness.options(__doc__).parse_args().scale))
