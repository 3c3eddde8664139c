"""Recognise ratings, of which metrics with relevant and other documents take even the lowest as relevant."""

from __future__ import annotations

import math

import numpy as np

from rankgain.scalars import Array

FEWEST_RATINGS = 200  # minimum number of grades, because fewer can be distributed as ratings are by chance
MOST_RATINGS = 1 << 16  # maximum number of grades that are examined
_HEAD = 256  # number of grades that are examined first, since a grade of 0 is usually among them
_FEWEST_LEVELS = 4
_SCALES = ((1.0, 5.0), (0.5, 5.0), (1.0, 10.0))  # the lowest and the highest rating


def lowest_good_rating(grades: Array) -> tuple[float, float, float] | None:
    """Return the ends of the scale that ratings fill, and a rating from which on they are good; None for other grades.

    Ratings are halves on a scale that begins above 0, and good ones are at least twice as frequent as bad ones. Grades
    of relevance and counts begin at 0 or are mostly low, and ranks are evenly spread.
    """
    if len(grades) < FEWEST_RATINGS or not np.all((grades[:_HEAD] >= 0.5) & (grades[:_HEAD] <= 10.0)):
        return None
    halves = 2.0 * grades[:MOST_RATINGS]
    ends = float(halves.min()) / 2.0, float(halves.max()) / 2.0
    if ends not in _SCALES or np.any(halves != np.floor(halves)):
        return None
    counts = np.bincount(halves.astype(np.intp))
    middle = sum(ends)  # in halves
    good, bad = counts[math.floor(middle) + 1 :].sum(), counts[: math.ceil(middle)].sum()
    if np.count_nonzero(counts) < _FEWEST_LEVELS or good < 2 * bad:
        return None
    return *ends, 0.8 * ends[1]


def remark_on_ratings(grades: Array, name: str) -> tuple[str, ...]:
    """Return a remark if grades are ratings, all of which count as relevant.

    `name`: the name of a metric that has a parameter for the lowest relevant grade.
    """
    scale = lowest_good_rating(grades)
    if scale is None:
        return ()
    low, high, good = scale
    return (
        f"the grades look like ratings from {low:g} to {high:g}, and every rating counts as relevant; rel={good:g} "
        f"counts those from {good:g} on, as in {name}(rel={good:g})",
    )
