"""Confidence intervals for means of bounded values.

If all values are 0 or 1, the interval is that of Clopper and Pearson.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankgain.errors import quoted, short
from rankgain.metrics.aggregators import LEAST, geometric_mean, logarithms, total
from rankgain.metrics.metric import Metric, Score, parse, row_of
from rankgain.scalars import Floats, check_number

STEPS = 200  # maximum number of bisection steps
TINY = 1e-300
TOLERANCE = 1e-9  # relative tolerance; only rounding errors may make a value exceed the bound


def check_level(level: Any) -> float:
    """Return the level of an interval as a float; raise a ValueError if it is not between 0 and 1."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {quoted(level)}")
    return number


def interval_of(values: Floats, key: str | Metric, level: float, highest: float | None = None) -> tuple[float, float]:
    """Return the confidence interval for a metric's mean over queries; its ends are NaN if no query counts.

    `key` is the metric's key in a result. `highest` is the bound of a query's value, for metrics without one. Queries
    whose value is NaN do not count.
    """
    ((_, metric),) = parse(key)
    row = row_of(metric.name)
    least, most = _bounds(key, metric, highest)
    counted = values[~np.isnan(values)]
    if not len(counted):
        return math.nan, math.nan
    for value in (float(counted.min()), float(counted.max())):
        if not least - TOLERANCE <= value <= most * (1.0 + TOLERANCE):
            raise ValueError(
                f"highest: a query has the value {value!r} of {key!s}, which is not from {short(least)} to "
                f"{short(most)}: give a bound that no query can exceed"
            )
    counted = np.clip(counted, least, most)
    if row.aggregator is not geometric_mean:
        return mean_interval(counted, least, most, level)
    low, high = mean_interval(logarithms(counted), math.log2(max(least, LEAST)), math.log2(most), level)
    return math.exp2(low), math.exp2(high)


def is_bounded(key: str | Metric) -> bool:
    """Return whether a metric's values have an upper bound by definition, given the metric's key in a result."""
    ((_, metric),) = parse(key)
    return not isinstance(key, Score) and math.isfinite(row_of(metric.name).highest)


def _bounds(key: str | Metric, metric: Metric, highest: float | None) -> tuple[float, float]:
    """Return the bounds of a query's value; raise a ValueError if the metric has no interval."""
    row = row_of(metric.name)
    if row.aggregator is total:
        raise ValueError(f"{key!s} is a count, which is summed over queries: only means have such an interval")
    if row.weights:
        raise ValueError(f"{key!s} is a mean weighted by {row.weights}: there is no interval for it")
    most = row.highest
    if highest is not None:
        most = check_number(highest, "highest")
        if not 0.0 < most < math.inf:
            raise ValueError(f"highest must be finite and above 0, not {highest!r}")
    elif not is_bounded(key):
        raise ValueError(f"{key!s} has no upper bound: give highest=, the largest value that a query can have")
    empty = metric.empty if "empty" in row.takes and not math.isnan(metric.empty) else 0.0
    return min(0.0, empty), max(most, empty)


def mean_interval(values: Floats, least: float, most: float, level: float) -> tuple[float, float]:
    """Return the confidence interval for the mean of values that lie between `least` and `most`.

    The ends are quantiles of randomly weighted means of the values and one more value, `least` for the lower end and
    `most` for the upper one (Gaffke 2005). The distribution of these means is approximated by the beta distribution of
    the same mean and variance. For values of 0 or 1 this is exact, and the interval is Clopper and Pearson's.
    """
    if most <= least:
        return least, most
    scaled = (values - least) / (most - least)
    low = _quantile(np.append(scaled, 0.0), (1.0 - level) / 2)
    high = _quantile(np.append(scaled, 1.0), (1.0 + level) / 2)
    return least + low * (most - least), least + high * (most - least)


def _quantile(values: Floats, share: float) -> float:
    centre = float(values.mean())
    variance = float(np.square(values - centre).mean()) / (len(values) + 1)
    if variance == 0.0:
        return centre
    size = centre * (1.0 - centre) / variance - 1.0
    return beta_quantile(share, centre * size, (1.0 - centre) * size)


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return a quantile of the beta distribution, computed by bisection."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low < 1e-12 * high:
            break
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """Return the cumulative distribution function of the beta distribution at x.

    It is computed as a continued fraction (Abramowitz & Stegun 26.5.8).
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # here the fraction converges slowly, so use the symmetry
        return 1.0 - beta_share(1.0 - x, b, a)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_factor) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction 1 + d₁/(1 + d₂/(1 + …)) by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, 100_000):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + term * d or TINY)
        c = 1.0 + term / c or TINY
        value *= c * d
        if abs(c * d - 1.0) < 1e-14:
            break
    return value
