"""How many queries a test needs, and what it can find with those that there are."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from rankgain.scalars import real

# Of the usual test: a true difference is found four times in five.
POWER = 0.8
FEWEST = 8  # queries that tell a spread


@lru_cache(8)
def quantile(share: float) -> float:
    """Of the standard normal distribution."""
    from statistics import NormalDist  # which takes long to import

    return NormalDist().inv_cdf(share)


def detectable(sd: float, queries: float, alpha: float, power: float = POWER) -> float:
    """The true difference that so many queries of a spread find with so much power; NaN for fewer than 8 queries.

    It is (z_{1−α/2} + z_power) · sd / √(n − z_{1−α/2}² / 2), whose last term makes up for t's wider tails.
    """
    z = quantile(1 - alpha / 2)
    effective = queries - z * z / 2
    if queries < FEWEST or effective <= 0:
        return math.nan
    return (z + quantile(power)) * sd / math.sqrt(effective)


def queries_needed(sd: float, difference: float, alpha: float, power: float, uneven: float = 1.0) -> int:
    """How many queries of a spread find a true difference with so much power; at least as many as can show any.

    `uneven`: how many queries of different weights tell as much as one.
    """
    z = quantile(1 - alpha / 2)
    fewest = math.ceil(1 - math.log2(alpha))  # 2^(1 − n) ≤ α
    needed = ((z + quantile(power)) * sd / difference) ** 2 + z * z / 2
    return max(math.ceil(needed * uneven), fewest)


def hedges(difference: float, sd: float, queries: float) -> float:
    """g_z: the mean difference by the standard deviation of the differences, corrected for few queries (Hedges 1981).

    NaN for two queries, for which the correction is 0, and where all differences are equal.
    """
    if queries < 3 or sd == 0.0 or math.isnan(sd):
        return math.nan
    return (1.0 - 3.0 / (4.0 * (queries - 1) - 1.0)) * difference / sd


def check_power(difference: Any, power: Any) -> tuple[float, float]:
    """The size of the difference that is to be found, and how often."""
    wanted, share = real(difference), real(power)
    if wanted is None or share is None:
        name, value = ("difference", difference) if wanted is None else ("power", power)
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not 0 < abs(wanted) < math.inf:
        raise ValueError(f"difference must be finite and not 0, not {difference!r}: name the one that matters to you")
    if not 0 < share < 1:
        raise ValueError(f"power must be between 0 and 1, such as 0.8, not {power!r}")
    return abs(wanted), share
