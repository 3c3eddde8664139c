"""The confidence interval of a mean of bounded values: Clopper and Pearson's if all of them are 0 or 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankgain.errors import quoted
from rankgain.scalars import Floats, check_number

STEPS = 200  # the most of a bisection; each halves the interval
TINY = 1e-300


def check_level(level: Any) -> float:
    """The level of an interval."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {quoted(level)}")
    return number


def mean_interval(values: Floats, least: float, most: float, level: float) -> tuple[float, float]:
    """The interval of the mean of values that lie between `least` and `most`.

    The ends are quantiles of randomly weighted means of the values and one more value, `least` for the lower end and
    `most` for the upper one (Gaffke 2005). Their distribution is approximated by the beta distribution of the same mean
    and variance. For values of 0 or 1 this is exact, and the interval is Clopper and Pearson's.
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
    """The quantile of the beta distribution, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low < 1e-12 * high:
            break
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """The beta distribution function, by its continued fraction (Abramowitz & Stegun 26.5.8)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # where the fraction converges slowly
        return 1.0 - beta_share(1.0 - x, b, a)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_factor) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d₁/(1 + d₂/(1 + …)), by Lentz's method."""
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
