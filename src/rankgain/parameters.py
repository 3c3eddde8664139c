"""The keyword arguments of functions and metrics, checked."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.scalars import real


def cut_off(k: Any) -> int:
    """The deepest rank that counts: k, or the largest there is for None or more than that."""
    if k is None:
        return UNLIMITED
    try:
        if isinstance(k, (bool, np.bool_)):
            raise TypeError
        depth = operator.index(k)
    except TypeError:
        raise TypeError(f"k must be a positive integer or None, not {type(k).__name__} {k!r}") from None
    if depth < 1:
        raise ValueError(f"k must be a positive integer or None, not {depth}")
    return min(depth, UNLIMITED)


def highest_irrelevant(rel: float | None) -> float:
    """The number above which a grade is relevant, never subnormal: a CPU that is told to may take such for 0."""
    if rel is None:
        return 0.0
    return -sys.float_info.min if rel <= 0.0 else math.nextafter(rel, 0.0)


def check_rel(rel: Any) -> float | None:
    return None if rel is None else _number("rel", rel, finite=True)


def check_empty(empty: Any) -> float:
    value = _number("empty", empty, finite=False)
    return math.nan if math.isnan(value) else value + 0.0  # −0.0 would show


def check_ideal(ideal: Any) -> str:
    if not isinstance(ideal, str) or ideal not in ("judged", "returned"):
        raise ValueError(f"ideal must be 'judged' or 'returned', not {ideal!r}")
    return str(ideal)


def _number(name: str, value: Any, finite: bool) -> float:
    number = None if isinstance(value, (bool, np.bool_, np.ndarray)) else real(value)
    if number is None:
        raise TypeError(f"{name} must be a number, not {value!r}")
    if math.isinf(number) or (finite and math.isnan(number)):
        raise ValueError(f"{name} must be {'finite' if finite else 'finite or NaN'}, not {number!r}")
    return number
