"""Generators of scores and labels with different distributions, for tests of sorting."""

import numpy as np


def organ_pipe(rng, n):
    return np.minimum(np.arange(n), np.arange(n)[::-1]).astype(float)


SHAPES = {
    "random": lambda rng, n: rng.random(n),
    "equal": lambda rng, n: np.full(n, 0.5),
    "a third tied": lambda rng, n: np.where(rng.random(n) < 1 / 3, np.round(rng.random(n), 1), rng.random(n)),
    "nine of ten tied": lambda rng, n: np.where(rng.random(n) < 0.9, 0.5, rng.random(n)),
    "few values": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "rising": lambda rng, n: np.arange(n, dtype=float),
    "falling": lambda rng, n: -np.arange(n, dtype=float),
    "organ pipe": organ_pipe,
    "padded": lambda rng, n: np.where(rng.random(n) < 0.7, -np.inf, rng.random(n)),
    "both infinities": lambda rng, n: rng.choice([np.inf, -np.inf, 0.0, -0.0, 1.0], n),
    "one far away": lambda rng, n: np.append(rng.random(n - 1), 1e300),
    "wider than a double": lambda rng, n: rng.choice([1.7e308, -1.7e308, 0.0], n) * rng.random(n),
    "subnormal": lambda rng, n: rng.integers(0, 50, n) * 5e-324,
    "heavy tail": lambda rng, n: rng.random(n) ** -30.0,
    "subnormal of both signs": lambda rng, n: rng.integers(0, 50, n) * rng.choice([5e-324, -5e-324], n),
}
LABELS = {
    "a tenth": lambda rng, n: rng.integers(1, 5, n) * (rng.random(n) < 0.1),
    "all": lambda rng, n: rng.integers(1, 5, n),
    "none": lambda rng, n: np.zeros(n),
    "up to 63": lambda rng, n: rng.integers(0, 64, n),
    "large": lambda rng, n: rng.integers(0, 200, n),
    "halves": lambda rng, n: rng.integers(0, 9, n) / 2,
}
