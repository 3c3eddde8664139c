"""Power: the number of queries that a test needs, and the difference that it detects with the given queries."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from rankgain.errors import quoted
from rankgain.scalars import Floats, Ints, check_number, to_intp

POWER = 0.8  # the usual power: a true difference is detected with this probability
ROUNDING = 1e-12  # of differences, relative to the largest
FEWEST = 8  # queries from which a spread can be estimated


@lru_cache(8)
def quantile(share: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist  # deferred, because the import is slow

    return NormalDist().inv_cdf(share)


def detectable(sd: float, queries: float, alpha: float) -> float:
    """The smallest true difference that a test detects with a power of 0.8; NaN for fewer than 8 queries or no spread.

    It is (z_{1−α/2} + z_0.8) · sd / √(n − z_{1−α/2}² / 2); the last term corrects for the wider tails of t.
    """
    z = quantile(1 - alpha / 2)
    effective = queries - z * z / 2
    if queries < FEWEST or effective <= 0 or not sd:
        return math.nan
    return (z + quantile(POWER)) * sd / math.sqrt(effective)


def queries_needed(sd: float, difference: float, alpha: float, power: float, uneven: float = 1.0) -> int:
    """The number of queries with which a test detects a true difference with this power.

    It is at least the number for which p can be as low as alpha. `uneven`: the factor by which unequal weights raise
    it.
    """
    z = quantile(1 - alpha / 2)
    needed = ((z + quantile(power)) * sd / difference) ** 2 + z * z / 2
    return max(math.ceil(needed * uneven), fewest_signs(alpha))


def fewest_signs(alpha: float) -> int:
    """The number of queries or clusters from which p can be at most alpha: the least n with 2^(1 − n) ≤ alpha."""
    return math.ceil(1 - math.log2(alpha))


def hedges(difference: float, sd: float, queries: float) -> float:
    """g_z: the mean difference divided by the standard deviation, corrected for few queries (Hedges 1981).

    NaN for two queries, for which the correction is 0, and if all differences are equal.
    """
    if queries < 3 or sd == 0.0 or math.isnan(sd):
        return math.nan
    return (1.0 - 3.0 / (4.0 * (queries - 1) - 1.0)) * difference / sd


def skewness(differences: Floats, weights: Floats | None, clusters: Ints | None) -> float:
    """The skewness g₁ of the contributions of queries, or clusters, to the mean difference; 0 if nothing varies."""
    residuals = differences - np.average(differences, weights=weights)
    if weights is not None:
        residuals = residuals * weights
    if clusters is not None:
        residuals = np.bincount(to_intp(clusters), weights=residuals).astype(np.float64)
    variance = float(np.mean(residuals * residuals))
    rounding = ROUNDING * float(np.abs(differences).max())
    return float(np.mean(residuals**3)) / variance**1.5 if variance > rounding**2 else 0.0


def check_power(difference: Any, power: Any) -> tuple[float, float]:
    """The size of the difference, and the power, as numbers in range."""
    size, share = abs(check_number(difference, "difference")), check_number(power, "power")
    if not 0 < size < math.inf:
        raise ValueError(
            f"difference must be finite and not 0, not {quoted(difference)}: give the smallest difference that matters "
            "to you"
        )
    if not 0 < share < 1:
        raise ValueError(f"power must be between 0 and 1, such as 0.8, not {quoted(power)}")
    return size, share
