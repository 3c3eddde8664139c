"""One number of any type."""

from __future__ import annotations

from numbers import Complex, Real
from typing import Any


def real(value: Any) -> float | None:
    """The float64 of a real number (NumPy's, Decimal, Fraction …); None for anything else, and what overflows.

    Text is no number, however it reads; nor is a complex number, or an array's masked element.
    """
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (str, bytes, bytearray)) or hasattr(value, "mask"):
        return None
    if isinstance(value, Complex) and not isinstance(value, Real):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
