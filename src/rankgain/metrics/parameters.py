"""The parameters of metrics and functions: their default values, checks and parsers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.choices import CHOICES, check_choice
from rankgain.errors import quoted
from rankgain.metrics.discounts import LOGARITHMIC, Discount
from rankgain.metrics.gains import LINEAR, Gain
from rankgain.scalars import NON_RELEVANT, real

LARGEST_CUTOFF = 2**48  # greater than the length of any list; float64 and every kernel can represent it


def cut_off(k: Any, name: str = "k") -> int:
    """Return the deepest rank that counts: k, or `UNLIMITED` if k is None."""
    if k is None:
        return UNLIMITED
    try:
        if isinstance(k, (bool, np.bool_)):
            raise TypeError
        depth = operator.index(k)
    except TypeError:
        raise TypeError(f"{name} must be a positive integer or None, not {type(k).__name__} {k!r}") from None
    if depth < 1:
        raise ValueError(f"{name} must be a positive integer or None, not {depth}")
    if depth > LARGEST_CUTOFF:
        raise ValueError(
            f"{name} must be at most 2**48, not {quoted(depth)}: leave it out, or pass None, for all ranks"
        )
    return depth


def highest_irrelevant(rel: float | None) -> float:
    """Return the number above which a grade is relevant; for `rel` 0, it is not subnormal (see `NON_RELEVANT`)."""
    if rel is None:
        return 0.0
    return NON_RELEVANT if rel <= 0.0 else math.nextafter(rel, 0.0)


def check_rel(rel: Any) -> float | None:
    return None if rel is None else _number("rel", rel, finite=True)


def check_empty(empty: Any) -> float:
    value = _number("empty", empty, finite=False)
    return math.nan if math.isnan(value) else value + 0.0  # −0.0 becomes 0.0, which prints without a sign


def one_of(name: str) -> Callable[[Any], str]:
    """Return a function that checks that a value is one of the choices for the parameter `name`."""
    return partial(check_choice, name=name, choices=CHOICES[name])


def within(
    name: str, lowest: float, highest: float = math.inf, *, inclusive: bool = True, below: bool = False
) -> Callable[[Any], float]:
    """Return a function that checks that a value is a finite number within bounds.

    The bounds themselves are allowed if `inclusive`; with `below`, only the lower one is.
    """
    limit = f"from {lowest:g} to {highest:g}" if math.isfinite(highest) else f"at least {lowest:g}"
    limit = f"from {lowest:g} to below {highest:g}" if below else limit
    limit = limit if inclusive else f"above {lowest:g} and below {highest:g}"

    def checked(value: Any) -> float:
        number = _number(name, value, finite=True)
        within_bounds = lowest <= number <= highest if inclusive else lowest < number < highest
        if not within_bounds or (below and number == highest):
            raise ValueError(f"{name} must be {limit}, not {number!r}")
        return number + 0.0  # −0.0 becomes 0.0, which prints without a sign

    return checked


def check_coefficients(coefficients: Any) -> tuple[float, ...]:
    if isinstance(coefficients, (str, bytes, Set, Mapping)) or not isinstance(coefficients, Iterable):
        raise TypeError(f"coefficients must be 4 numbers, not {type(coefficients).__name__}")
    numbers = tuple(_number("coefficients", number, finite=True) for number in coefficients)
    if len(numbers) != 4:
        raise ValueError(f"coefficients must be 4 numbers, not {len(numbers)}")
    return numbers


def _number(name: str, value: Any, finite: bool) -> float:
    number = None if isinstance(value, (bool, np.bool_, np.ndarray)) else real(value, math.inf)
    if number is None:
        raise TypeError(f"{name} must be a number, not {value!r}")
    if math.isinf(number) or (finite and math.isnan(number)):
        raise ValueError(f"{name} must be {'finite' if finite else 'finite or NaN'}, not {number!r}")
    return number


class Parameter(NamedTuple):
    """A parameter of metrics: its default value, a function that checks it, and one that parses it from text."""

    default: Any
    check: Callable[[Any], Any]
    read: Callable[[str], Any] = str.lower


def _real(text: str) -> float:
    return float(text.replace("_", "x"))


def _reals(text: str) -> list[float]:
    return [_real(part) for part in text.split("/")]


PARAMETERS = {
    "gain": Parameter(LINEAR, Gain.of),
    "discount": Parameter(LOGARITHMIC, Discount.of),
    "ideal": Parameter("judged", one_of("ideal")),
    "rel": Parameter(None, check_rel, _real),
    "empty": Parameter(0.0, check_empty, _real),
    "beta": Parameter(1.0, within("beta", 0.0, 1e6), _real),
    "p": Parameter(0.9, within("p", 0.0, 1.0, inclusive=False), _real),
    "max_grade": Parameter(4.0, within("max_grade", 0.0, 1024.0, inclusive=False), _real),
    "recall": Parameter(0.0, within("recall", 0.0, 1.0), _real),
    "rounding": Parameter("up", one_of("rounding")),
    "multiple": Parameter(1.0, within("multiple", 0.0, 1e6, inclusive=False), _real),
    "coefficients": Parameter((1.0, -1.0, 0.0, 0.0), check_coefficients, _reals),
    "collection": Parameter(0.0, within("collection", 0.0), _real),
    "alpha": Parameter(0.5, within("alpha", 0.0, 1.0), _real),
    "tolerance": Parameter(0.0, within("tolerance", 0.0), _real),
    "scores": Parameter("old", one_of("scores")),
}


class Parameters:
    """The values of all parameters of a metric; parameters that it does not take have their default values."""

    __slots__ = tuple(PARAMETERS)

    gain: Gain
    discount: Discount
    ideal: str
    rel: float | None
    empty: float
    beta: float
    p: float
    max_grade: float
    recall: float
    rounding: str
    multiple: float
    coefficients: tuple[float, ...]
    collection: float
    alpha: float
    tolerance: float
    scores: str

    @property
    def above(self) -> float:
        """The number above which a grade is relevant."""
        return highest_irrelevant(self.rel)
