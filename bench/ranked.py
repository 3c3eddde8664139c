"""How long do DCG at 10 and nDCG take of a matrix of relevance that is ranked already?"""

from __future__ import annotations

import sys
from functools import partial

import contest
import numpy as np
from dense_scores import Floats, Grades, discounts, make

import rankgain as rg

SHAPES = [(10_000, 100), (1000, 1000)]


def numpy_dcg(relevance: Grades, discount: Floats) -> Floats:
    return relevance[:, : len(discount)] @ discount


def numpy_ndcg(relevance: Grades, discount: Floats) -> Floats:
    return (relevance @ discount) / (-np.sort(-relevance, axis=1) @ discount)


def contend(queries: int, documents: int, scale: contest.Scale) -> None:
    relevance, _ = make(queries, documents)
    shape = f"ranked, {queries:,} × {documents:,}"
    run = partial(numpy_dcg, relevance, discounts(documents, 10))
    top = {
        "rankgain dcg(relevance, k=10)": contest.Contender(partial(rg.dcg, relevance, k=10)),
        "NumPy relevance[:, :10] @ discounts": contest.Contender(run, at_least=1),
        "limit: reading as many bytes": contest.reading(relevance[:, :10].nbytes),
    }
    contest.hold(f"{shape}, dcg@10", top, scale)
    run = partial(numpy_ndcg, relevance, discounts(documents, None))
    full = {
        "rankgain ndcg(relevance)": contest.Contender(partial(rg.ndcg, relevance)),
        "NumPy sort and dot": contest.Contender(run, at_least=3),
        "limit: reading as many bytes": contest.reading(relevance.nbytes),
    }
    contest.hold(f"{shape}, ndcg", full, scale)


def bench(scale: contest.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
        contend(queries, documents, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
