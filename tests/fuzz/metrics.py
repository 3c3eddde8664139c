"""Draw any metric of the table, with valid and invalid parameters."""

import numpy as np

import rankgain as rg
from rankgain.metrics.table import TABLE

NAN, INF = float("nan"), float("inf")
CUTS = [None, None, 1, 1, 2, 2, 3, 4, 5, 7, 10, 65, 1000]
BAD_CUTS = [0, -1, True, 2.5, "3", 2**70]


def double(grades):
    return 2.0 * grades


def fall(grades):
    """A gain that decreases with the grade and is positive for grade 0."""
    return 1.0 / (1.0 + grades)


def signs(grades):
    """A gain that distinguishes −0.0 from 0.0."""
    return np.copysign(1.0, grades) + 2.0


# The usual and the odd values of each parameter.
VALUES = {
    "gain": (["linear", "exponential", "binary", {1: 3, 2: 7, 3: 7}, [0.25, 1, 0, 4, 1e308], double, fall, signs],
             ["none", {1: NAN}, [-1.0], {}, 3, str, lambda grades: grades[:1]]),
    "discount": (["log2", "zipf", "jarvelin", "jarvelin:10", "jarvelin:2.5", [1.0] * 3 + [0.5] * 17, [0.5, 0.0, 2.0]],
                 ["log", "jarvelin:1", "jarvelin:", [], [NAN], [-1.0], 1, [1e308] * 9, [5e-324] * 9]),
    "ideal": (["judged", "returned"], ["best", None, 1]),
    "rel": ([None, 0, 0.5, 1, 2], [-1, 5e-324, -0.0, NAN, INF, 1e308, "1"]),
    "empty": ([0.0, 1.0, NAN, -0.0], [INF, 5e-324, -1e308, "0"]),
    "beta": ([0, 0.5, 1, 2, 3.7], [-1, NAN, 1e6, 1e7, 5e-324]),
    "p": ([0.1, 0.5, 0.8, 0.9, 0.99], [0, 1, 5e-324, 1 - 2**-53, NAN]),
    "max_grade": ([4, 4.5, 10, 1000], [0, 1, 5e-324, 1023.9, 1024, NAN]),
    "recall": ([0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.7, 0.9, 1], [-0.0, -1, 1.1, 5e-324, NAN]),
    "rounding": (["up", "nearest"], ["down", 1]),
    "multiple": ([0.05, 0.2, 0.5, 1, 1.4, 2, 7], [0, 5e-324, 1e6, 999999.5, NAN]),
    "coefficients": ([(1.0, -1.0, 0.0, 0.0), (2.0, -0.25, -1.0, 0.125)], [(1,), (NAN,) * 4, (1e308,) * 4, 1, "1111"]),
    "collection": ([0, 30, 1e6], [-1, 1e308, 5e-324, INF]),
}  # fmt: skip


def value(draw, parameter):
    return draw.mostly(CUTS, BAD_CUTS) if parameter == "k" else draw.mostly(*VALUES[parameter])


def parameters(draw, names):
    """Draw values for some of the named parameters."""
    return {name: value(draw, name) for name in names if draw.below(3) == 0}


def draw_metrics(draw, ties):
    """Return a function that creates a few metrics supported by the tie policy; their parameters may be rejected."""

    def one(draw):
        row = draw.of(rows)
        return row.name, parameters(draw, ("k",) * row.cuts + row.takes)

    rows = [row for row in TABLE.values() if ties != "average" or not row.unaveraged]
    drawn = [one(draw), *draw.many(one, 2)]
    return lambda: [rg.metric(name, **given) for name, given in drawn]


def vectors_of(rankings, metrics):
    result = rankings.evaluate(*metrics())
    return dict(result), result.counts, list(result.query_ids)
