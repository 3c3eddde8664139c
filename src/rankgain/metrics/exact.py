"""Exact sums of float64 values.

Every finite float64 is a multiple of 2⁻¹⁰⁷⁴, so a sum is stored as an integer in units of 2⁻¹⁰⁷⁴. It does not depend on
the order of the values, and therefore not on chunks, threads or partitions.
"""

from __future__ import annotations

import math

import numpy as np

from rankgain.scalars import Floats

UNITS = 1 << 1074  # the number 1.0 in units of 2⁻¹⁰⁷⁴
# The integer that stands for infinity. It exceeds 2^64 times the largest finite float64, which makes every sum and mean
# that includes it overflow.
INFINITE = 1 << (1074 + 1024 + 64)

_BLOCK = 1 << 14  # values per call of `_block`, few enough for its temporary arrays to fit in the cache
_LARGE, _SMALL = 2.0**1000, 2.0**-950  # within these bounds, `_block` neither overflows nor meets subnormal numbers


def exact_sum(values: Floats) -> int:
    """Return the sum of the values that are not NaN, in units of 2⁻¹⁰⁷⁴."""
    defined = values[~np.isnan(values)]
    return sum(_block(defined[start : start + _BLOCK]) for start in range(0, len(defined), _BLOCK))


def _block(rest: Floats) -> int:
    """Return the exact sum of up to 2^16 numbers, in units of 2⁻¹⁰⁷⁴.

    It sums their bits from the top down with ExtractVector (Rump, Ogita, Oishi 2008). Adding and subtracting a power
    of two that is 2^17 times the largest number keeps the bits of each number down to 2^-36 of the largest. These parts
    add up exactly in any order, so each step handles 36 bits.
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
    small = rest[rest.view(np.int64) << 1 != 0]  # compare bits: the CPU may be set to treat subnormal numbers as 0
    return exact + sum(map(_units, small.tolist()))


def _units(value: float) -> int:
    """Convert a number to units of 2⁻¹⁰⁷⁴."""
    if math.isinf(value):
        return INFINITE if value > 0 else -INFINITE
    numerator, denominator = value.as_integer_ratio()
    return numerator * (UNITS // denominator)


def rounded(exact: int) -> float:
    """Round an exact sum to the nearest float64, as `math.fsum` does, or to infinity if it overflows."""
    return _ratio(exact, UNITS)


def rounded_mean(exact: int, count: int) -> float:
    """Return the mean of `count` values, given their exact sum.

    It equals ``math.fsum(values) / count``, or the float64 nearest to the mean if the sum overflows.
    """
    if not count:
        return math.nan
    total = rounded(exact)
    return total / count if math.isfinite(total) else _ratio(exact, count * UNITS)


def _ratio(numerator: int, denominator: int) -> float:
    """Divide two integers and return the nearest float64, or infinity if the quotient overflows."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
