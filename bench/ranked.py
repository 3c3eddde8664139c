"""How long do DCG at 10 and nDCG take of a matrix of relevance that is ranked already?"""

from __future__ import annotations

import sys
from functools import partial

import harness
import numpy as np
from scores import Floats, discounts, make

import rankgain as rg

SHAPES = [(10_000, 100), (1000, 1000)]


def contend(queries: int, documents: int, scale: harness.Scale) -> None:
    relevance, _ = make(queries, documents)
    top, whole = discounts(documents, 10), discounts(documents, None)
    shape = f"ranked, {queries:,} × {documents:,}"
    contenders = {
        "rankgain dcg(relevance, k=10)": harness.Contender(partial(rg.dcg, relevance, k=10)),
        "NumPy relevance[:, :10] @ discounts": harness.Contender(lambda: relevance[:, :10] @ top, at_least=1),
        "limit: reading as many bytes": harness.reading(relevance[:, :10].nbytes),
    }
    harness.hold(f"{shape}, dcg@10", contenders, scale)

    def sort_and_dot() -> Floats:
        return (relevance @ whole) / (-np.sort(-relevance, axis=1) @ whole)

    contenders = {
        "rankgain ndcg(relevance)": harness.Contender(partial(rg.ndcg, relevance)),
        "NumPy sort and dot": harness.Contender(sort_and_dot, at_least=3),
        "limit: reading as many bytes": harness.reading(relevance.nbytes),
    }
    harness.hold(f"{shape}, ndcg", contenders, scale)


def bench(scale: harness.Scale) -> None:
    for queries, documents in [(20, 100)] if scale == "smoke" else SHAPES:
        contend(queries, documents, scale)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__, bench))
