"""Confidence intervals for means of bounded values.

If all values are 0 or 1, the interval is that of Clopper and Pearson.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankgain.errors import quoted, short
from rankgain.metrics.aggregators import LEAST, geometric_mean, logarithms, total
from rankgain.metrics.metric import Metric, Score, aggregator, highest_value, parse, row_of, weighing
from rankgain.results.gaffke import lower_bound
from rankgain.scalars import Floats, check_number

STEPS = 200  # maximum number of bisection steps
TINY = 1e-300
TOLERANCE = 1e-9  # relative tolerance; only rounding errors may make a value exceed the bound
SIDES = {"lowest": "lower", "highest": "upper"}
WORDS = {"lowest": "smallest", "highest": "largest"}


def check_level(level: Any) -> float:
    """Return the level of an interval as a float; raise a ValueError if it is not between 0 and 1."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {quoted(level)}")
    return number


def interval_of(
    values: Floats, key: str | Metric, level: float, lowest: float | None = None, highest: float | None = None
) -> tuple[float, float]:
    """Return the confidence interval for a metric's mean over queries; its ends are NaN if no query counts.

    `key` is the metric's key in a result. `lowest` and `highest` are the bounds of a query's value, for metrics without
    them. Queries whose value is NaN do not count.
    """
    _check_mean(key)
    least, most = _checked_bounds(key, lowest, highest)
    counted = values[~np.isnan(values)]
    if not len(counted):
        return math.nan, math.nan
    tolerance = TOLERANCE * max(abs(least), abs(most))
    for name, value in (("lowest", float(counted.min())), ("highest", float(counted.max()))):
        if not least - tolerance <= value <= most + tolerance:
            raise ValueError(
                f"{name}: a query has the value {value!r} of {key!s}, which is not from {short(least)} to "
                f"{short(most)}: give a bound that no query can exceed"
            )
    counted = np.clip(counted, least, most)
    if aggregator(key) is not geometric_mean:
        return mean_interval(counted, least, most, level)
    low, high = mean_interval(logarithms(counted), math.log2(max(least, LEAST)), math.log2(most), level)
    return math.exp2(low), math.exp2(high)


def bounds_of(key: str | Metric) -> tuple[float, float]:
    """Return the bounds of a query's value by definition, infinite if there are none, given the metric's key."""
    if isinstance(key, Score):
        return -math.inf, math.inf
    ((_, metric),) = parse(key)
    row = row_of(metric.name)
    empty = metric.empty if "empty" in row.takes and not math.isnan(metric.empty) else 0.0
    return min(row.lowest, empty), max(highest_value(metric), empty)


def is_bounded(key: str | Metric) -> bool:
    """Return whether a metric's values have an upper bound by definition, given the metric's key in a result."""
    return math.isfinite(bounds_of(key)[1])


def _check_mean(key: str | Metric) -> None:
    """Raise a ValueError if the metric has no interval."""
    if aggregator(key) is total:
        raise ValueError(f"{key!s} is a count, which is summed over queries: only means have such an interval")
    if weighing(key):
        raise ValueError(f"{key!s} is a mean weighted by {weighing(key)}: there is no interval for it")


def _checked_bounds(key: str | Metric, lowest: float | None, highest: float | None) -> tuple[float, float]:
    """Return the bounds of a query's value: those that are given, else those by definition."""
    given = {"lowest": lowest, "highest": highest}
    bounds = dict(zip(given, bounds_of(key), strict=True))
    missing = [name for name, bound in bounds.items() if given[name] is None and math.isinf(bound)]
    if missing:
        sides, words = " or ".join(SIDES[name] for name in missing), " and ".join(WORDS[name] for name in missing)
        arguments = " and ".join(f"{name}=" for name in missing)
        raise ValueError(f"{key!s} has no {sides} bound: give {arguments}, the {words} value that a query can have")
    for name, value in given.items():
        if value is not None:
            bounds[name] = check_number(value, name)
            if not math.isfinite(bounds[name]):
                raise ValueError(f"{name} must be finite, not {value!r}")
    least, most = bounds.values()
    if not least < most:
        if highest is None:
            raise ValueError(f"lowest must be below {short(most)}, not {lowest!r}")
        raise ValueError(f"highest must be above {short(least)}, not {highest!r}")
    return least, most


def mean_interval(values: Floats, least: float, most: float, level: float) -> tuple[float, float]:
    """Return the confidence interval for the mean of values that lie between `least` and `most`."""
    if most <= least:
        return least, most
    scaled, share = (values - least) / (most - least), (1.0 - level) / 2
    low, high = lower_bound(scaled, share), 1.0 - lower_bound(1.0 - scaled, share)
    return least + low * (most - least), least + high * (most - least)


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
