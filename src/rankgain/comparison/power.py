"""How many queries a test needs, and what it can find with those that there are."""

from __future__ import annotations

import math

# Of the usual test: a true difference is found four times in five.
POWER = 0.8
FEWEST = 8  # queries that tell a spread


def quantile(share: float) -> float:
    """Of the standard normal distribution."""
    from statistics import NormalDist  # which takes long to import

    return NormalDist().inv_cdf(share)


def detectable(sd: float, queries: int, alpha: float, power: float = POWER) -> float:
    """The true difference that so many queries of a spread find with so much power; NaN for fewer than 8 queries.

    It is (z_{1−α/2} + z_power) · sd / √(n − z_{1−α/2}² / 2), whose last term makes up for t's wider tails.
    """
    z = quantile(1 - alpha / 2)
    effective = queries - z * z / 2
    if queries < FEWEST or effective <= 0:
        return math.nan
    return (z + quantile(power)) * sd / math.sqrt(effective)


def queries_needed(sd: float, difference: float, alpha: float, power: float) -> int:
    """How many queries of a spread find a true difference with so much power; at least as many as can show any."""
    z = quantile(1 - alpha / 2)
    fewest = math.ceil(1 - math.log2(alpha))  # 2^(1 − n) ≤ α
    needed = ((z + quantile(power)) * sd / difference) ** 2 + z * z / 2
    return max(math.ceil(needed), fewest)


def hedges(difference: float, sd: float, queries: int) -> float:
    """g_z: the mean difference by the standard deviation of the differences, corrected for few queries (Hedges 1981).

    NaN for two queries, for which the correction is 0, and where all differences are equal.
    """
    if queries < 3 or sd == 0.0:
        return math.nan
    return (1.0 - 3.0 / (4.0 * (queries - 1) - 1.0)) * difference / sd
