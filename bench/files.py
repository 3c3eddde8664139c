"""How long does it take from two TREC files to nDCG at 10 and reciprocal rank?"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import contest
from dicts import MEASURES, in_order, make

import rankgain as rg


def bench(scale: contest.Scale) -> None:
    queries, documents, judged = (5, 100, 10) if scale == "smoke" else (200, 1000, 50)
    qrels, run = make(queries, documents, judged, (0, 0, 0, 1, 1, 2, 3))
    with tempfile.TemporaryDirectory() as folder:
        qrels_path, run_path = Path(folder, "qrels.txt"), Path(folder, "run.txt")
        with qrels_path.open("w") as file:
            for query, judgements in qrels.items():
                file.writelines(f"{query} 0 {name} {grade}\n" for name, grade in judgements.items())
        with run_path.open("w") as file:
            for query, scores in run.items():
                ranked = enumerate(scores.items(), 1)
                file.writelines(f"{query} Q0 {name} {rank} {score!r} made\n" for rank, (name, score) in ranked)
        contenders = {
            'rankgain read_trec(…).evaluate("ndcg@10", "rr")': contest.Contender(
                lambda: rg.read_trec(qrels_path, run_path).evaluate("ndcg@10", "rr"),
                lambda answer: list(answer.values()),
            )
        }
        pytrec_eval: Any = contest.peer("pytrec_eval")
        if pytrec_eval:

            def parse_and_evaluate() -> dict[str, dict[str, float]]:
                with qrels_path.open() as judged_lines, run_path.open() as run_lines:
                    truth, ranked = pytrec_eval.parse_qrel(judged_lines), pytrec_eval.parse_run(run_lines)
                results: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(truth, MEASURES).evaluate(ranked)
                return results

            contenders["pytrec_eval parse_qrel, parse_run, evaluate"] = contest.Contender(
                parse_and_evaluate, lambda answer: in_order(answer, qrels)
            )
        contest.hold(f"files of {queries} queries x {documents} lines, {judged} judged", contenders, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
