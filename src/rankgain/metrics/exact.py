"""Sums without rounding: an integer in units of 2⁻¹⁰⁷⁴, of which every float64 is a whole number.

Such sums do not depend on the order of the values, and so not on chunks, threads or partitions.
"""

from __future__ import annotations

import math

import numpy as np

from rankgain.scalars import Floats

UNITS = 1 << 1074  # in 1.0
# An infinite value counts as more than 2^64 of the largest finite ones, so that every sum and mean it is in overflows.
INFINITE = 1 << (1074 + 1024 + 64)

_BLOCK = 1 << 16  # fits in the cache
_LARGE, _SMALL = 2.0**1000, 2.0**-950  # between these no step below overflows or meets a subnormal number


def exact_sum(values: Floats) -> int:
    """The sum of the values that are not NaN, in units of 2⁻¹⁰⁷⁴."""
    counted = values[~np.isnan(values)]
    return sum(_block(counted[start : start + _BLOCK]) for start in range(0, len(counted), _BLOCK))


def _block(rest: Floats) -> int:
    """The sum of up to 2^16 numbers, from their upper bits down (Rump, Ogita, Oishi 2008: ExtractVector).

    Beside a power of two that is 2^17 times the largest of them a number keeps its bits down to 2^-36 of the largest:
    these add up exactly in any order, and so 36 bits are gone through at a time.
    """
    found = 0
    top = float(np.abs(rest).max())
    if top >= _LARGE:
        large = np.abs(rest) >= _LARGE
        found = sum(map(_units, rest[large].tolist()))
        rest = np.where(large, 0.0, rest)
        top = float(np.abs(rest).max())
    while top >= _SMALL:
        beside = math.ldexp(1.0, math.frexp(top)[1] + 17)
        upper = (rest + beside) - beside
        found += _units(float(upper.sum()))
        rest = rest - upper
        top = float(np.abs(rest).max())
    small = rest[rest.view(np.int64) << 1 != 0]  # by their bits: a CPU that is told to may take such for 0
    return found + sum(map(_units, small.tolist()))


def _units(value: float) -> int:
    """A number in units of 2⁻¹⁰⁷⁴."""
    if math.isinf(value):
        return INFINITE if value > 0 else -INFINITE
    numerator, denominator = value.as_integer_ratio()
    return numerator * (UNITS // denominator)


def rounded(exact: int) -> float:
    """An exact sum as the nearest float64, as `math.fsum` gives it; infinite where that overflows."""
    return _ratio(exact, UNITS)


def rounded_mean(exact: int, count: int) -> float:
    """The mean of so many values: ``math.fsum(values) / count``, or the nearest float64 if the sum overflows."""
    if not count:
        return math.nan
    total = rounded(exact)
    return total / count if math.isfinite(total) else _ratio(exact, count * UNITS)


def _ratio(numerator: int, denominator: int) -> float:
    """The nearest float64, which Python's division of integers gives."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
