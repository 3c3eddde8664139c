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


def wide_case(seed):
    """Return a random case in whose rows few scores matter at the cut-off.

    The kernels read such rows in strips of 32, 64 or 128 scores. High scores, judged columns, excluded columns with NaN
    and ties are therefore at the edges of strips and of rows, and each row begins with high scores, which are read by
    mistake if the row before it is left.
    """
    rng = np.random.default_rng(seed)
    columns = int(rng.choice([1000, 1024, 1100, 3001, 9000, 70_000], p=[0.2, 0.1, 0.2, 0.25, 0.2, 0.05]))
    columns += int(rng.integers(0, 40))
    users, many = (
        6 if columns < 9000 else 2,
        rng.random() < 0.25,
    )  # many: too many judged scores to compare each with all
    scores = np.array(
        [_wide_row(rng, columns, columns // 3 if many else rng.choice([1, 30, 10**6])) for _ in range(users)]
    )
    edges = np.arange(0, columns, 32)[:, None] + [-1, 0, 1]
    edges = np.unique(np.append(edges, np.arange(columns - 20, columns)).clip(0, columns - 1))
    test, train = [], []
    for row in scores:
        high = np.argsort(-row, kind="stable")[: 900 if many else rng.choice([20, 200, 900])]
        near = rng.choice(high, 600 if many else rng.choice([3, len(high) // 2]), replace=False)
        judged = np.unique(np.concatenate([near, rng.choice(edges, 10), rng.integers(0, columns, 10)]))
        test.append({int(column): float(rng.choice([-1, 0, 1, 1, 2])) for column in judged})
        excluded = np.unique(np.concatenate([rng.choice(high, 5), rng.choice(edges, rng.choice([2, 60]))]))
        train.append({int(column): 1.0 for column in excluded})
        row[excluded[rng.random(len(excluded)) < 0.3]] = rng.choice([np.nan, np.inf])
    scores = scores.astype(rng.choice(["f4", "f8"]))
    k = 6000 if many else int(rng.choice([1, 2, 5, 20, 50, 300]))
    return Case(csr(test, columns), scores, csr(train, columns), k)


def _wide_row(rng, columns, levels):
    row = rng.integers(0, levels, columns) / 4.0
    high = rng.integers(levels - levels // 20, levels + 1, 12) / 4.0
    row[:6], row[-6:] = high[:6], high[6:]
    return row


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
    """Compute nDCG, recall and the reciprocal rank at k with ties "stable", "best" or "worst"."""
    ndcg, recall, rr = [], [], []
    for user, scores in enumerate(np.asarray(case.scores, dtype=float)):
        grades = np.maximum(_dense_row(case.test, user), 0.0)
        allowed = np.setdiff1d(np.arange(len(scores)), case.train.indices[slice(*case.train.indptr[user : user + 2])])
        grades = grades[allowed]
        sign = {"stable": 0, "best": -1, "worst": 1}[ties]
        gains = grades[np.lexsort((sign * grades, -scores[allowed]))].tolist()
        ideal = sorted(grades.tolist(), reverse=True)
        relevant = [rank for rank, gain in enumerate(gains[: case.k], 1) if gain > 0]
        best = _dcg(ideal[: case.k])
        ndcg.append(_dcg(gains[: case.k]) / best if best else 0.0)
        number = sum(gain > 0 for gain in ideal)
        recall.append(len(relevant) / number if number else 0.0)
        rr.append(1 / relevant[0] if relevant else 0.0)
    return ndcg, recall, rr


def _dense_row(matrix, user):
    return matrix[user : user + 1].toarray()[0]


def _dcg(gains):
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        total += gain * (1.0 / math.log2(rank + 1))
    return total
