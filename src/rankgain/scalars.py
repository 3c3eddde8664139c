"""Conversion of numbers and ids of any type, and of dicts of these; both backends use these functions."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np

from rankgain._codes import CHANGED, GRADE_TYPE, ID_TYPE, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NULL_ID, SCORE_TYPE
from rankgain.errors import changed

# Arrays as in numpy.typing, which takes long to import.
Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Int32s = np.ndarray[Any, np.dtype[np.int32]]
Intps = np.ndarray[Any, np.dtype[np.intp]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# Documents with grades above this are judged: the highest normal number below 0, since a CPU may be set to flush
# subnormal numbers to 0.
NON_RELEVANT = -sys.float_info.min

# Types whose numbers can be read without running the caller's code: float, int and NumPy's.
PLAIN = frozenset({bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")})


def real(value: Any, beyond: float | None = None) -> float | None:
    """A real number (NumPy's, Decimal, Fraction …) as float64; `beyond` if it is too large; else None.

    Text, complex numbers, arrays and masked elements are not real numbers.
    """
    if isinstance(value, float) or type(value) in PLAIN:
        return float(value)
    if isinstance(value, (str, bytes, bytearray)) or hasattr(value, "mask"):
        return None
    if getattr(value, "ndim", 0):  # NumPy converts an array of one element to a number, at times with a warning
        return None
    if isinstance(value, Complex) and not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return beyond
    except (TypeError, ValueError):
        return None


def to_intp(integers: Array) -> Intps:
    """The integers as NumPy's index type, 32 bits wide on 32-bit systems and in WebAssembly.

    `repeat`, `reduceat` and `bincount` refuse wider counts and indices.
    """
    return integers.astype(np.intp, copy=False)


def check_number(value: Any, name: str) -> float:
    """The real number, infinite if it is too large for float64; `name`: the argument."""
    number = real(value, math.inf)
    if number is None:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return number


def check_whole(value: Any, name: str, least: int, most: int) -> int:
    """The integer, which must be in range; `name`: the argument."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {int(value)}")
    return int(value)


def splitmix64(z: Any) -> Any:
    """Mix uint64 counters to random words, by the function of SplitMix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_BUILTIN = frozenset((dict, list, tuple, set, frozenset, range))


def size_of(items: Any) -> int:
    """The number of items; items of a caller's class are counted, since `__len__` may be wrong."""
    if type(items) in _BUILTIN:
        return len(items)
    return dict.__len__(items) if isinstance(items, dict) else sum(1 for _ in items)


def listed(items: Any) -> list[Any]:
    """The items as a list. Unlike `list(items)`, this does not allocate memory by the `__len__` of a caller's class."""
    return list(iter(items))


def paired(mapping: Mapping[Any, Any], name: str) -> tuple[list[Any], list[Any]]:
    """The keys and values of a mapping, from one pass, so that each value belongs to its key."""
    if type(mapping) is dict:
        mapping = mapping.copy()  # one step, which no other thread interrupts
        return list(mapping), list(mapping.values())
    try:
        pairs = listed(mapping.items())
    except RuntimeError as error:
        raise changed(error, name) from None
    return [key for key, _ in pairs], [value for _, value in pairs]


def id_kind(identifier: Any) -> type:
    """The type of ids that this id can equal: str, bytes, int, or the type of the id."""
    for kind, base in ((str, str), (bytes, bytes), (Integral, int)):
        if isinstance(identifier, kind):
            return base
    return type(identifier)


def id_error(value: Any, position: int) -> tuple[int, int, int]:
    """The error for an id that is null or of an unsupported type."""
    return NULL_ID if is_null(value) else ID_TYPE, 0, position


def is_null(identifier: Any) -> bool:
    """Whether the id is None, NaN, or the NA or NaT of pandas."""
    if identifier is None or type(identifier).__name__ in ("NAType", "NaTType"):
        return True
    return type(identifier) is float and identifier != identifier


def decimal(field: bytes) -> float | None:
    """The number as `float()` reads it, but without underscores; None if the field is not a number."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def encoded(text: str) -> bytes | None:
    """Encode an id as UTF-8 with surrogateescape; None if it cannot be encoded."""
    try:
        return str.encode(text)
    except UnicodeEncodeError:
        pass
    try:
        data = str.encode(text, "utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return data if data.decode("utf-8", "surrogateescape") == text else None


def read_truth(truth: dict[Any, Any], size: int, documents: list[Any], grades: list[float]) -> tuple[int, int] | None:
    """Append the documents of a dict to `documents`, and their grades to `grades`; return an error (code, position),
    or None.
    """
    if len(truth) != size:
        return CHANGED, -1
    for position, (document, value) in enumerate(list(truth.items())):
        if document is None or (type(document) is float and document != document):
            return NULL_ID, position
        grade = real(value)
        if len(truth) != size:  # reading a number may run the caller's code
            return CHANGED, -1
        if grade is None:
            return GRADE_TYPE, position
        if grade != grade:
            return NAN_GRADE, position
        if grade in (float("inf"), float("-inf")):
            return INFINITE_GRADE, position
        grades.append(grade)
        documents.append(document)
    return None


def read_scores(run: dict[Any, Any], size: int) -> dict[Any, float] | tuple[int, int]:
    """The scores by document, or the (code, position) of an error."""
    scores: dict[Any, float] = {}
    for position, (document, value) in enumerate(list(run.items())):
        score = real(value)
        if len(run) != size:
            return CHANGED, -1
        if score is None:
            return SCORE_TYPE, position
        if score != score:
            return NAN_SCORE, position
        scores[document] = score
    return scores


def without_none(column: Any) -> Bools | None:
    """A mask of the rows of a list or object array that are not None; None if all rows are."""
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        return None
    if not isinstance(column, (list, tuple, np.ndarray)):
        return None
    mask = np.fromiter((value is not None for value in column), np.bool_, len(column))
    return None if mask.all() else mask
