"""How long does nDCG without a cut-off take of a matrix of scores, ties averaged?"""

from __future__ import annotations

import sys
from functools import partial

import contest
import numpy as np
from dense_scores import ALL, PLAIN, TIED, make, numpy_argsort, ours, torch_topk

# queries x documents: how many times as long NumPy's argsort and its sort of the scores alone shall take
SHAPES = {(10_000, 100): (4, None), (1000, 1000): (3, 1), (100, 10_000): (5, 1), (10, 1_000_000): (6, 1)}
SLOW = 10_000  # documents from which on scikit-learn is left out


def contend(queries: int, documents: int, variant: str, scale: contest.Scale) -> None:
    grades, scores = make(queries, documents, variant)
    argsort, sort = SHAPES.get((queries, documents), (None, None)) if variant == PLAIN else (None, None)
    contenders = {"rankgain": ours(grades, scores, "ndcg")}
    if documents < SLOW and (metrics := contest.peer("sklearn.metrics")):
        contenders["scikit-learn ndcg_score"] = contest.Contender(partial(metrics.ndcg_score, grades, scores))
    if variant != TIED:
        run = partial(numpy_argsort, grades, scores, None)
        contenders["NumPy argsort and take_along_axis"] = contest.Contender(run, at_least=argsort)
        if torch := contest.peer("torch"):
            run = partial(torch_topk, torch, torch.from_numpy(grades), torch.from_numpy(scores), None)
            contenders["torch topk and gather"] = contest.Contender(run)
    contenders["limit: np.sort of the scores alone"] = contest.Contender(partial(np.sort, scores), None, at_least=sort)
    contenders["limit: reading as many bytes"] = contest.reading(grades.nbytes + scores.nbytes)
    contest.hold(f"{queries:,} × {documents:,}, ndcg, {variant}", contenders, scale)


def bench(scale: contest.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
        for variant in (PLAIN, ALL, TIED):
            contend(queries, documents, variant, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
