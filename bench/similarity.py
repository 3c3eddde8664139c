"""How much CPU time does the similarity of two runs take, compared with sorting and RBO packages, and from files?

The two runs are dicts of scores. The packages take lists, so their part includes sorting both runs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

import harness
import numpy as np

import rankgain as rg

Run = dict[str, dict[str, float]]


def make(queries: int, documents: int, seed: int) -> Run:
    """Return a run in which each query has `documents` of three times as many."""
    rng = np.random.default_rng(seed)
    names = np.array([f"d{number}" for number in range(3 * documents)])
    return {
        f"q{query}": dict(zip(rng.permutation(names)[:documents].tolist(), rng.random(documents).tolist(), strict=True))
        for query in range(queries)
    }


def ordered(run: Run) -> list[list[str]]:
    return [sorted(scores, key=scores.__getitem__, reverse=True) for scores in run.values()]


def extrapolated(rbo: Any, old: Run, new: Run) -> list[float]:
    return [rbo.RankingSimilarity(*lists).rbo_ext(p=0.9) for lists in zip(ordered(old), ordered(new), strict=True)]


def lines(run: Run, form: str) -> str:
    return "".join(form.format(query, d, score) for query, scores in run.items() for d, score in scores.items())


def case(queries: int, documents: int, scale: harness.Scale) -> None:
    title = f"{queries} queries, {documents} documents"
    old, new = make(queries, documents, 1), make(queries, documents, 2)
    contenders: dict[str, Any] = {
        "rankgain": harness.Contender(lambda: rg.similarity(old, new, "rbo_ext"), itemgetter("rbo_ext"))
    }
    rbo: Any = harness.peer("rbo")
    if rbo:
        contenders["rbo"] = harness.Contender(lambda: extrapolated(rbo, old, new), lambda values: values, at_least=5)
    harness.hold(title, contenders, scale, clock=time.process_time)
    complete: dict[str, Any] = {
        "rankgain, rbo": harness.Contender(lambda: rg.similarity(old, new, "rbo"), itemgetter("rbo"))
    }
    overlap: Any = harness.peer("ranked_overlap")
    if overlap:
        complete["ranked-overlap"] = harness.Contender(
            lambda: [overlap.rbo(*lists, p=0.9) for lists in zip(ordered(old), ordered(new), strict=True)],
            lambda values: values,
            at_least=3,
        )
    harness.hold(f"{title}, complete lists", complete, scale, clock=time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("old.txt", "new.txt", "qrels.txt")]
        forms = "{} Q0 {} 0 {} t\n", "{} Q0 {} 0 {} t\n", "{} 0 {} {:.0f}\n"
        for path, run, form in zip(paths, (old, new, old), forms, strict=True):
            Path(path).write_text(lines(run, form))
        harness.hold(
            f"{title}, from TREC files",
            {
                "rankgain, ndcg@10": harness.Contender(lambda: rg.evaluate(paths[2], paths[1], "ndcg@10"), None),
                "rankgain, rbo@10": harness.Contender(
                    lambda: rg.similarity(paths[0], paths[1], "rbo@10"), None, at_most=2.5
                ),
            },
            scale,
            clock=time.process_time,
        )


def bench(scale: harness.Scale) -> None:
    for documents in (100, 1000):
        case(20 if scale == "smoke" else 1000, documents, scale)


if __name__ == "__main__":
    sys.exit(harness.main(bench, scale=harness.options(__doc__).parse_args().scale))
