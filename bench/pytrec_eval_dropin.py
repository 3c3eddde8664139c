"""How long does the drop-in for pytrec_eval take, and pytrec_eval, for the same dicts of values?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import contest
import dicts

from rankgain import pytrec_eval

CUTOFFS = "1,3,5,10,100,1000"
ASKED = {
    "BEIR's measures": ({f"{measure}.{CUTOFFS}" for measure in ("map_cut", "ndcg_cut", "recall", "P")}, 10.0),
    "all_trec": ({"all_trec"}, 6.0),
}


def listed(results: dict[str, dict[str, float]]) -> list[list[float]]:
    return [list(values.values()) for values in results.values()]


def contend(
    title: str, qrels: dicts.Qrels, run: dicts.Run, measures: set[str], at_least: float | None, scale: contest.Scale
) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures)
    contenders = {"rankgain.pytrec_eval evaluate(run)": contest.Contender(partial(evaluator.evaluate, run), listed)}
    peer: Any = contest.peer("pytrec_eval")
    if peer:
        theirs = peer.RelevanceEvaluator(qrels, measures)
        contenders |= {
            "pytrec_eval evaluate(run)": contest.Contender(partial(theirs.evaluate, run), listed, at_least=at_least)
        }
    contenders["limit: the sum of each dict's scores"] = contest.Contender(partial(dicts.walk, run), None)
    answers = contest.hold(title, contenders, scale)
    kinds = [[(query, [*values]) for query, values in answers[name].items()] for name in contenders if "eval" in name]
    if any(names != kinds[0] for names in kinds):
        raise contest.DifferentAnswer(f"{title}: the queries or the measures differ, or their order")


def bench(scale: contest.Scale) -> None:
    many = {"smoke": 20, "usual": 700, "full": 6980}[scale]
    few, documents, judged = (5, 100, 20) if scale == "smoke" else (50, 1000, 200)
    shapes = [(many, 1, (1,), True), (few, judged, (0, 0, 0, 1, 1, 2, 3), False)]
    for queries, known, grades, targets in shapes:
        qrels, run = dicts.make(queries, documents, known, grades)
        shape = f"{queries:,} queries × {documents:,}, {known} judged"
        for name, (measures, at_least) in ASKED.items():
            title = f"pytrec_eval's drop-in, {name}, {shape}"
            contend(title, qrels, run, measures, at_least if targets else None, scale)
            if targets:
                contend(f"{title}, shuffled", qrels, dicts.shuffled(run), measures, None, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
