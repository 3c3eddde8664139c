"""Sums without rounding: integers in units of 2⁻¹⁰⁷⁴, of which every float64 is a multiple.

They do not depend on the order of the values, hence not on chunks, threads or partitions.
"""

from __future__ import annotations

import math

import numpy as np

from rankgain.scalars import Floats

UNITS = 1 << 1074  # units per 1.0
# An infinite value counts as more than 2^64 times the largest finite one, so that every sum and mean with it overflows.
INFINITE = 1 << (1074 + 1024 + 64)

_BLOCK = 1 << 14  # numbers; with the temporary arrays of `_block`, they fit in the cache
_LARGE, _SMALL = 2.0**1000, 2.0**-950  # between these, no step of `_block` overflows or meets a subnormal number


def exact_sum(values: Floats) -> int:
    """The sum of the values that are not NaN, in units of 2⁻¹⁰⁷⁴."""
    defined = values[~np.isnan(values)]
    return sum(_block(defined[start : start + _BLOCK]) for start in range(0, len(defined), _BLOCK))


def _block(rest: Floats) -> int:
    """The sum of up to 2^16 numbers, from their upper bits down (Rump, Ogita, Oishi 2008: ExtractVector).

    Adding and subtracting a power of two that is 2^17 times the largest number keeps the bits of each number down to
    2^-36 of the largest. These parts add up exactly in any order, so each step handles 36 bits.
    """
    exact = 0
    top = float(np.abs(rest).max())
    if top >= _LARGE:
        large = np.abs(rest) >= _LARGE
        exact = sum(map(_units, rest[large].tolist()))
        rest = np.where(large, 0.0, rest)
        top = float(np.abs(rest).max())
    while top >= _SMALL:
        splitter = math.ldexp(1.0, math.frexp(top)[1] + 17)
        upper = (rest + splitter) - splitter
        exact += _units(float(upper.sum()))
        rest = rest - upper
        top = float(np.abs(rest).max())
    small = rest[rest.view(np.int64) << 1 != 0]  # compare bits: a CPU may be set to treat subnormal numbers as 0
    return exact + sum(map(_units, small.tolist()))


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
    """The mean of `count` values: ``math.fsum(values) / count``, or the nearest float64 if the sum overflows."""
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
