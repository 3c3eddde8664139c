"""One number, or one id, of any type."""

from __future__ import annotations

from numbers import Complex, Integral, Real
from typing import Any

import numpy as np

from rankgain._codes import ID_TYPE, NULL_ID

# Types whose numbers are read without running code of the caller's: besides float and int, those of NumPy.
PLAIN = frozenset({bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")})


def real(value: Any) -> float | None:
    """The float64 of a real number (NumPy's, Decimal, Fraction …); None for anything else, and what overflows.

    Text is no number, however it reads; nor is a complex number, an array, or an array's masked element.
    """
    if isinstance(value, float) or type(value) in PLAIN:
        return float(value)
    if isinstance(value, (str, bytes, bytearray)) or hasattr(value, "mask"):
        return None
    if getattr(value, "ndim", 0):  # NumPy takes an array of one element for a number, at times with a warning
        return None
    if isinstance(value, Complex) and not isinstance(value, Real):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def short(value: Any) -> str:
    """A number as people write it, and in full: 2 for 2.0; anything else as its text."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def id_kind(identifier: Any) -> type:
    """What an id can be compared with: one of str, bytes, int, or its own type."""
    for kind, base in ((str, str), (bytes, bytes), (Integral, int)):
        if isinstance(identifier, kind):
            return base
    return type(identifier)


def id_fault(value: Any, position: int) -> tuple[int, int, int]:
    """The offence of an id that is null, or of a kind that cannot stand there."""
    null = value is None or type(value).__name__ in ("NAType", "NaTType") or (type(value) is float and value != value)
    return NULL_ID if null else ID_TYPE, 0, position
