"""Small data sets for learning to rank, and our evaluation of predictions for them."""

from typing import NamedTuple

import numpy as np

import rankgain as rg

ROUNDS = 12
# No query of these sets is empty, since libraries treat empty queries differently.
EXPONENTIAL = "ndcg(gain=exponential)@5"


class Set(NamedTuple):
    features: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray  # one per query

    @property
    def query(self):
        return np.repeat(np.arange(len(self.sizes)), self.sizes.astype(np.intp))


def make(seed, queries=60, longest=12, shortest=2):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(shortest, longest + 1, queries)
    features = rng.normal(size=(sizes.sum(), 4)).astype(np.float32)
    noisy = features[:, 0] + features[:, 1] * features[:, 2] + rng.normal(scale=0.7, size=len(features))
    labels = np.clip(np.round(noisy + 1), 0, 4).astype(np.float32)
    labels[np.cumsum(sizes) - 1] += 1.0
    return Set(features, labels, sizes, rng.integers(1, 4, queries).astype(np.float32))


TRAIN, VALID = make(1), make(2, queries=25)


def evaluated(given, scores, *metrics, ties="average", weights=None):
    """Return the mean of each metric."""
    result = rg.from_scores(given.labels, scores, group_sizes=given.sizes, ties=ties).evaluate(*metrics)
    return [result.mean(metric, weights=weights) for metric in metrics]


class Recording:
    """A metric that records, for each data set, the scores and the results of its calls."""

    def __init__(self, metric):
        self.metric = metric
        self.calls = {}

    def __call__(self, scores, data):
        given = self.metric(scores, data)
        self.calls.setdefault(len(scores), []).append((scores.copy(), given))
        return given
