"""Confidence intervals for means of bounded values.

If all values are 0 or 1, the interval is that of Clopper and Pearson.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankgain.errors import quoted, short, warn
from rankgain.metrics.aggregators import (
    FEWEST_EFFECTIVE,
    LEAST,
    effective,
    geometric_mean,
    logarithms,
    scaled,
    total,
)
from rankgain.metrics.metric import Metric, Score, aggregator, highest_value, parse, row_of
from rankgain.results.gaffke import lower_bound
from rankgain.scalars import Floats, Ints, check_number

STEPS = 200  # maximum number of bisection steps
TINY = 1e-300
_TOLERANCE = 1e-9  # relative tolerance; only rounding errors may make a value exceed the bound
GEOMETRIC = geometric_mean.__name__
SIDES = {"lowest": "lower", "highest": "upper"}
WORDS = {"lowest": "smallest", "highest": "largest"}


def check_level(level: Any) -> float:
    """Return the level of an interval as a float; raise a ValueError if it is not between 0 and 1."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {quoted(level)}")
    return number


def interval_of(
    values: Floats,
    key: str | Metric,
    level: float,
    lowest: float | None = None,
    highest: float | None = None,
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> tuple[float, float]:
    """Return the confidence interval for a metric's mean over queries; its ends are NaN if no query counts.

    `key` is the metric's key in a result. `lowest` and `highest` are the bounds of a query's value, for metrics without
    them. `weights` and `clusters` have the weight and the cluster number of each query. Queries whose value is NaN, or
    whose weight is 0, do not count.
    """
    how = aggregator(key).__name__
    bounds = least, most = _checked_bounds(key, how, lowest, highest)
    counts = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0.0)
    counted = values[counts]
    if not len(counted):
        return math.nan, math.nan
    _check_within(bounds, "lowest", f"a query has the value {float(counted.min())!r} of {key!s}", float(counted.min()))
    _check_within(bounds, "highest", f"a query has the value {float(counted.max())!r} of {key!s}", float(counted.max()))
    counted = np.clip(counted, least, most)
    weights = None if weights is None else scaled(weights[counts])
    if how == GEOMETRIC:
        counted, (least, most) = logarithms(counted), _logarithmic(bounds)
    if clusters is not None:
        counted, weights = _clustered(counted, weights, clusters[counts])
    if weights is not None and effective(weights) < FEWEST_EFFECTIVE:
        unit = "queries" if clusters is None else "clusters"
        warn(
            f"interval of {key!s}: there are as few as {effective(weights):.1f} {unit} of equal weight; with fewer "
            f"than {FEWEST_EFFECTIVE}, the interval may miss the true mean more often than its level says"
        )
    low, high = mean_interval(counted, least, most, level, weights)
    return (math.exp2(low), math.exp2(high)) if how == GEOMETRIC else (low, high)


def interval_of_sum(
    mean: float,
    count: int,
    how: str,
    key: str | Metric,
    level: float,
    lowest: float | None = None,
    highest: float | None = None,
) -> tuple[float, float]:
    """Return the confidence interval for a metric's mean, if only the mean and the number of values are known.

    `how` is the name of the metric's aggregator. For a geometric mean, `mean` is the mean of the logarithms.
    """
    if how == "weighted_mean":
        raise ValueError(f"{key!s} is a weighted mean, whose interval needs all values: use Evaluation.interval")
    bounds = least, most = _checked_bounds(key, how, lowest, highest)
    if not count:
        return math.nan, math.nan
    value = math.exp2(mean) if how == GEOMETRIC else mean
    for name in ("lowest", "highest"):
        _check_within(bounds, name, f"the mean of {key!s} is {value!r}", value)
    if how == GEOMETRIC:
        least, most = _logarithmic(bounds)
    hits = count * min(max((mean - least) / (most - least), 0.0), 1.0)
    low = beta_quantile((1.0 - level) / 2, hits, count - hits + 1.0) if hits > 0.0 else 0.0
    high = beta_quantile((1.0 + level) / 2, hits + 1.0, count - hits) if hits < count else 1.0
    low, high = least + low * (most - least), least + high * (most - least)
    return (math.exp2(low), math.exp2(high)) if how == GEOMETRIC else (low, high)


def _logarithmic(bounds: tuple[float, float]) -> tuple[float, float]:
    return math.log2(max(bounds[0], LEAST)), math.log2(max(bounds[1], LEAST))


def _check_within(bounds: tuple[float, float], name: str, statement: str, value: float) -> None:
    """Raise a ValueError that names the argument and begins with the statement if a value is not within the bounds."""
    least, most = bounds
    tolerance = _TOLERANCE * max(abs(least), abs(most))
    if (value < least - tolerance) if name == "lowest" else (value > most + tolerance):
        raise ValueError(
            f"{name}: {statement}, which is not from {short(least)} to {short(most)}: give a bound that no query can "
            "exceed"
        )


def _clustered(values: Floats, weights: Floats | None, clusters: Ints) -> tuple[Floats, Floats]:
    """Return the mean and the weight of each cluster."""
    weights = np.ones(len(values)) if weights is None else weights
    _, cluster_of = np.unique(clusters, return_inverse=True)
    totals = np.bincount(cluster_of, weights=weights).astype(np.float64)
    means: Floats = np.bincount(cluster_of, weights=weights * values) / totals
    return means, totals


def bounds_of(key: str | Metric) -> tuple[float, float]:
    """Return the bounds of a query's value by definition, infinite if there are none, given the metric's key."""
    try:
        ((_, metric),) = parse(key)
    except ValueError:  # the key comes from a Summary: values from other tools, or a gain that a text cannot name
        return -math.inf, math.inf
    if isinstance(key, Score):
        return -math.inf, math.inf
    row = row_of(metric.name)
    empty = metric.empty if "empty" in row.takes and not math.isnan(metric.empty) else 0.0
    return min(row.lowest, empty), max(highest_value(metric), empty)


def is_bounded(key: str | Metric) -> bool:
    """Return whether a metric's values have an upper bound by definition, given the metric's key in a result."""
    return math.isfinite(bounds_of(key)[1])


def _checked_bounds(key: str | Metric, how: str, lowest: float | None, highest: float | None) -> tuple[float, float]:
    """Return the bounds of a query's value: those that are given, else those by definition."""
    if how == total.__name__:
        raise ValueError(f"{key!s} is a count, which is summed over queries: only means have such an interval")
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


def mean_interval(
    values: Floats, least: float, most: float, level: float, weights: Floats | None = None
) -> tuple[float, float]:
    """Return the confidence interval for the mean of values that lie between `least` and `most`."""
    if most <= least:
        return least, most
    shares, error = np.clip((values - least) / (most - least), 0.0, 1.0), (1.0 - level) / 2
    low, high = lower_bound(shares, error, weights), 1.0 - lower_bound(1.0 - shares, error, weights)
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


def student_quantile(level: float, degrees: float) -> float:
    """Return the t for which Student's distribution has the share `level` between −t and t."""
    x = beta_quantile(1.0 - level, degrees / 2, 0.5)
    return math.sqrt(degrees * (1.0 - x) / x)


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
