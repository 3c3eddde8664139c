"""Random score matrices with sparse judgments, and their metrics computed by a plain Python loop."""

import math
from collections import namedtuple

import numpy as np
from scipy import sparse

Case = namedtuple("Case", "test scores train k")


def csr(rows, columns):
    """Build a CSR array from a list of rows, each a dict that maps columns to values."""
    offsets = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in sorted(row)], dtype=np.int32)
    values = np.array([row[column] for row in rows for column in sorted(row)], dtype=float)
    return sparse.csr_array((values, indices, offsets), shape=(len(rows), columns))


def random_case(seed):
    """Return a random case. Cases have ties, −inf, NaN in excluded columns, empty rows and various memory layouts."""
    rng = np.random.default_rng(seed)
    users, columns = int(rng.integers(1, 5)), int(rng.choice([1, 3, 9, 40, 150, 700], p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1]))
    dtype = rng.choice(["f2", "f4", "f4", "f8", "f8"])
    scores = _scores(rng, (users, columns)).astype(dtype)
    shares = rng.choice([0.0, 0.02, 0.2, 0.6, 1.0], size=(2, users), p=[0.1, 0.3, 0.3, 0.2, 0.1])
    test, train = (
        [{int(c): 1.0 for c in np.flatnonzero(rng.random(columns) < share)} for share in each] for each in shares
    )
    if rng.random() < 0.7:
        test = [{column: float(rng.choice([-1, 0, 1, 1, 2, 0.5])) for column in row} for row in test]
    if rng.random() < 0.3:
        for user, row in enumerate(train):
            scores[user, [*row]] = rng.choice([np.nan, np.inf])
    return Case(csr(test, columns), _laid_out(rng, scores), csr(train, columns), int(rng.choice([1, 2, 5, 20, 1000])))


def _scores(rng, shape):
    kind = rng.integers(5)
    if kind == 0:
        return rng.integers(0, 4, shape) * 1.0
    if kind == 1:
        return rng.standard_normal(shape)
    if kind == 2:
        return np.where(rng.random(shape) < 0.5, -np.inf, rng.integers(-2, 9, shape))
    if kind == 3:
        return np.zeros(shape) * rng.choice([1, -1], size=shape)
    return np.floor(rng.standard_normal(shape) * 20) / 4


def _laid_out(rng, scores):
    """Return the matrix in a random memory layout."""
    kind = rng.integers(6)
    if kind == 0:
        return np.concatenate([scores[:, :1], scores], axis=1)[:, 1:]
    if kind == 1:
        return scores[::-1].copy()[::-1]
    if kind == 2:
        return np.asfortranarray(scores)
    if kind == 3:
        return np.repeat(scores, 2, axis=1)[:, ::2]
    return np.repeat(scores, 2, axis=0)[::2] if kind == 4 else scores


def as_dicts(case):
    """Return the qrels and the run of a case as dicts, with one document per allowed column."""
    qrels, run = {}, {}
    for user in range(len(case.scores)):
        judged, excluded = (
            dict(
                zip(
                    m.indices[m.indptr[user] : m.indptr[user + 1]].tolist(),
                    m.data[m.indptr[user] : m.indptr[user + 1]].tolist(),
                    strict=True,
                )
            )
            for m in (case.test, case.train)
        )
        allowed = [column for column in range(case.scores.shape[1]) if column not in excluded]
        qrels[user] = {column: grade for column, grade in judged.items() if column not in excluded}
        run[user] = {column: float(case.scores[user, column]) for column in allowed}
    return qrels, run


def by_loop(case, ties):
    """Compute nDCG at k, recall at k and the reciprocal rank with ties "stable", "best" or "worst"."""
    ndcg, recall, rr = [], [], []
    qrels, run = as_dicts(case)
    for user, scores in run.items():
        grades = {column: max(grade, 0.0) for column, grade in qrels[user].items()}
        sign = {"stable": 0, "best": -1, "worst": 1}[ties]
        order = sorted(scores, key=lambda column: (-scores[column], sign * grades.get(column, 0.0)))
        gains = [grades.get(column, 0.0) for column in order]
        ideal = sorted(grades.values(), reverse=True)
        relevant = [rank for rank, gain in enumerate(gains, 1) if gain > 0]
        best = _dcg(ideal[: case.k])
        ndcg.append(_dcg(gains[: case.k]) / best if best else 0.0)
        number = sum(gain > 0 for gain in ideal)
        recall.append(sum(rank <= case.k for rank in relevant) / number if number else 0.0)
        rr.append(1 / relevant[0] if relevant else 0.0)
    return ndcg, recall, rr


def _dcg(gains):
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        total += gain * (1.0 / math.log2(rank + 1))
    return total
