"""How often do tests find a difference between two systems that are equal on average over trainings?

needs: numpy
"""

# -- simulation --
import numpy as np

import rankgain as rg

SEEDS = 8


def decisions(queries: int, seed: int) -> list[bool]:
    """Simulate 8 trainings of two systems, and return which tests decide: one training, the mean, seeds, and both."""
    random = np.random.default_rng(seed)
    strengths = random.normal(0, 0.07, (2, queries, 1))  # each system is better on some queries
    trainings = random.normal(0, 0.014, (2, 1, SEEDS))  # each training shifts all queries a little
    values = 0.5 + strengths + trainings  # no difference on average
    one, mean = tested(values[:, :, 0]), tested(values.mean(axis=2))
    by_seed = tested(values.reshape(2, -1), clusters=list(range(SEEDS)) * queries)
    return [one, mean, by_seed, mean and by_seed]


def tested(values, **options) -> bool:
    runs = {name: dict(enumerate(run)) for name, run in zip("ab", values.tolist(), strict=True)}
    tests = rg.compare(runs, metrics="score", values=True).test(flips=999, **options)
    return tests["score", "b", "a"].decided


# -- end --

EXPECTED = {50: (0.253, 0.078, 0.324, 0.078), 2000: (0.818, 0.528, 0.055, 0.055)}
for queries, expected in EXPECTED.items():
    rates = np.mean([decisions(queries, seed) for seed in range(200)], axis=0)
    print(queries, rates.round(3).tolist())
    assert np.all(np.abs(rates - expected) < 0.1), rates
