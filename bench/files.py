"""How long does it take from two TREC files to nDCG at 10 and reciprocal rank?"""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import contest
from dicts import MEASURES, Qrels, Run, in_order, make

import rankgain as rg


def lines_of(run: Run) -> list[str]:
    return [
        f"{query} Q0 {name} {rank} {score:.6f} made\n"
        for query, scores in run.items()
        for rank, (name, score) in enumerate(scores.items(), 1)
    ]


def contend(title: str, qrels: Qrels, qrels_path: Path, run_path: Path, scale: contest.Scale) -> None:
    contenders = {
        'rankgain read_trec(…).evaluate("ndcg@10", "rr")': contest.Contender(
            lambda: rg.read_trec(qrels_path, run_path).evaluate("ndcg@10", "rr"),
            lambda answer: list(answer.values()),
        )
    }
    pytrec_eval: Any = contest.peer("pytrec_eval")
    if pytrec_eval:

        def parse_and_evaluate() -> dict[str, dict[str, float]]:
            opener: Any = gzip.open if run_path.suffix == ".gz" else open
            with qrels_path.open() as judged_lines, opener(run_path, "rt") as run_lines:
                truth, ranked = pytrec_eval.parse_qrel(judged_lines), pytrec_eval.parse_run(run_lines)
            results: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(truth, MEASURES).evaluate(ranked)
            return results

        contenders["pytrec_eval parse_qrel, parse_run, evaluate"] = contest.Contender(
            parse_and_evaluate, lambda answer: in_order(answer, qrels)
        )
    contest.hold(title, contenders, scale)


def bench(scale: contest.Scale) -> None:
    queries, documents, judged = (5, 100, 10) if scale == "smoke" else (200, 1000, 50)
    qrels, run = make(queries, documents, judged, (0, 0, 0, 1, 1, 2, 3))
    lines = lines_of(run)
    with tempfile.TemporaryDirectory() as folder:
        qrels_path, run_path = Path(folder, "qrels.txt"), Path(folder, "run.txt")
        with qrels_path.open("w") as file:
            for query, judgements in qrels.items():
                file.writelines(f"{query} 0 {name} {grade}\n" for name, grade in judgements.items())
        title = f"files of {queries} queries x {documents} lines, {judged} judged"
        run_path.write_text("".join(lines))
        contend(title, qrels, qrels_path, run_path, scale)
        zipped = Path(folder, "run.gz")
        zipped.write_bytes(gzip.compress(run_path.read_bytes()))
        contend(f"{title}, gzip", qrels, qrels_path, zipped, scale)
        run_path.write_text("".join(random.Random(1).sample(lines, len(lines))))
        contend(f"{title}, lines scattered", qrels, qrels_path, run_path, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
