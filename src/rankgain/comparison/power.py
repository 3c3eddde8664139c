"""Power analysis: how many queries a test needs, and how small a difference it detects with the given queries."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from rankgain.errors import quoted
from rankgain.scalars import Floats, Ints, check_number, to_intp

POWER = 0.8  # the usual power: the probability of detecting a true difference
_ROUNDING = 1e-12  # rounding error of a difference, relative to the largest difference
_FEWEST = 8  # minimum number of queries from which a spread is estimated


@lru_cache(8)
def quantile(share: float) -> float:
    """Return a quantile of the standard normal distribution."""
    from statistics import NormalDist  # deferred, because the import is slow

    return NormalDist().inv_cdf(share)


def share_below(limit: float) -> float:
    """Return the share of the standard normal distribution below a limit."""
    return math.erfc(-limit / math.sqrt(2.0)) / 2.0


def detectable(sd: float, queries: float, alpha: float) -> float:
    """Return the smallest true difference that a test detects with a power of 0.8.

    It is (z_{1−α/2} + z_0.8) · sd / √(n − z_{1−α/2}² / 2); the last term corrects for the wider tails of t. The result
    is NaN if there are fewer than 8 queries or if the spread is 0.
    """
    z = quantile(1 - alpha / 2)
    effective = queries - z * z / 2
    if queries < _FEWEST or effective <= 0 or not sd:
        return math.nan
    return (z + quantile(POWER)) * sd / math.sqrt(effective)


def queries_needed(sd: float, difference: float, alpha: float, power: float, uneven: float = 1.0) -> int:
    """Return the number of queries that a test needs to detect a true difference with the given power.

    It is at least the smallest number with which p can be as low as alpha. `uneven`: the factor by which unequal
    weights raise the number.
    """
    z = quantile(1 - alpha / 2)
    needed = ((z + quantile(power)) * sd / difference) ** 2 + z * z / 2
    return max(math.ceil(needed * uneven), fewest_signs(alpha))


def fewest_signs(alpha: float) -> int:
    """Return the smallest number n of queries or clusters with which p can be at most alpha: 2^(1 − n) ≤ alpha."""
    return math.ceil(1 - math.log2(alpha))


def hedges(difference: float, sd: float, queries: float) -> float:
    """Return g_z, the mean difference divided by the standard deviation, corrected for few queries (Hedges 1981).

    The result is NaN if there are only two queries, because the correction would be 0, or if all differences are equal.
    """
    if queries < 3 or sd == 0.0 or math.isnan(sd):
        return math.nan
    return (1.0 - 3.0 / (4.0 * (queries - 1) - 1.0)) * difference / sd


def skewness(differences: Floats, weights: Floats | None, clusters: Ints | None) -> float:
    """Return the skewness g₁ of the contributions to the mean difference, or 0 if all contributions are equal.

    The contributions are those of the queries or, if there are clusters, of the clusters.
    """
    residuals = differences - np.average(differences, weights=weights)
    if weights is not None:
        residuals = residuals * weights
    if clusters is not None:
        residuals = np.bincount(to_intp(clusters), weights=residuals).astype(np.float64)
    variance = float(np.mean(residuals * residuals))
    rounding = _ROUNDING * float(np.abs(differences).max())
    return float(np.mean(residuals**3)) / variance**1.5 if variance > rounding**2 else 0.0


def check_size(value: Any, name: str) -> float:
    """Check a difference or a margin, and return its absolute value."""
    size = abs(check_number(value, name))
    if not 0 < size < math.inf:
        raise ValueError(
            f"{name} must be finite and not 0, not {quoted(value)}: give the smallest difference that matters to you"
        )
    return size


def check_power(power: Any) -> float:
    share = check_number(power, "power")
    if not 0 < share < 1:
        raise ValueError(f"power must be between 0 and 1, such as 0.8, not {quoted(power)}")
    return share
