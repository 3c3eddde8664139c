"""Padded batches: `mask=` says which entries are documents."""

import numpy as np
import pytest

import rankgain as rg
from rankgain.data import source

pytestmark = pytest.mark.usefixtures("backend")

LABELS = np.array([[0, 2, 1, -100], [1, 0, -100, -100], [3, -1, 1, 0], [-100, -100, -100, -100]])
SCORES = np.array([[0.2, 0.9, 0.3, 0.0], [0.1, 0.7, 0.0, 9.0], [0.3, 0.2, 0.3, 0.1], [0.0, 0.1, 0.2, 0.3]])
MASK = LABELS >= 0
ROWS = [row[mask].tolist() for row, mask in zip(LABELS, MASK, strict=True)]
SCORED = [row[mask].tolist() for row, mask in zip(SCORES, MASK, strict=True)]
METRICS = "ndcg@2", "ndcg", "rr", "ap", "recall@1", "num_ret"


def vectors(rankings):
    return {metric: vector.tolist() for metric, vector in rankings.evaluate(*METRICS).items()}


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("ties", ["average", "stable", "best"])
def test_scores(dtype, ties):
    expected = vectors(rg.from_scores(ROWS, SCORED, ties=ties))
    labels, scores = LABELS.astype(dtype), np.where(MASK, SCORES, np.nan)
    assert vectors(rg.from_scores(labels, scores, mask=MASK, ties=ties)) == expected
    wide = np.asfortranarray(labels), np.repeat(scores, 2, axis=1)[:, ::2]
    assert vectors(rg.from_scores(*wide, mask=MASK.tolist(), ties=ties)) == expected
    lists = [[*row, -1] for row in ROWS], [[*row, 0.0] for row in SCORED]
    marks = [[True] * len(row) + [False] for row in ROWS]
    assert vectors(rg.from_scores(*lists, mask=marks, ties=ties)) == expected
    assert labels.min() == -100


def test_flat_arrays():
    flat = LABELS.ravel(), SCORES.ravel()
    qid = np.repeat([7, 8, 9, 10], 4)
    mixed = np.random.default_rng(0).permutation(16)
    mixed = mixed[np.argsort(mixed % 4, kind="stable")]  # each query's own order stays
    held = rg.from_scores(flat[0][mixed], flat[1][mixed], qid=qid[mixed], mask=MASK.ravel()[mixed], ties="best")
    best = rg.from_scores(ROWS, SCORED, ties="best").evaluate("ndcg")["ndcg"].tolist()
    found = held.evaluate("ndcg")
    assert [found["ndcg"].tolist()[found.query_ids.index(query)] for query in (7, 8, 9, 10)] == best


def test_many_queries_and_threads(monkeypatch):
    monkeypatch.setattr(source, "CHUNK", 2000)
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(-1, 4, (300, 60)), rng.random((300, 60), np.float32)
    mask = labels >= 0
    held = rg.from_scores(labels, scores, mask=mask).evaluate("ndcg@10", threads=2)["ndcg@10"]
    rows = [labels[q][mask[q]] for q in range(300)], [scores[q][mask[q]] for q in range(300)]
    assert np.array_equal(held, rg.from_scores(*rows).evaluate("ndcg@10")["ndcg@10"])
