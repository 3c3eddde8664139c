"""A multithreaded evaluation that other processes import by name."""

import numpy as np

import rankgain as rg
from rankgain.data import source

QUERIES = 120


def scores(seed=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 40, QUERIES)
    n = int(sizes.sum())
    return rng.integers(0, 4, n), rng.integers(0, 9, n).astype(float), sizes


def from_scores():
    grades, keys, sizes = scores()
    return rg.from_scores(grades, keys, group_sizes=sizes)


def evaluated(_):
    source.CHUNK = 64
    return from_scores().evaluate("ndcg", threads=4)["ndcg"].tobytes()
