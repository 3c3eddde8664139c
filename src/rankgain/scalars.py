"""Convert numbers and ids of any type, and dicts that map ids to numbers, for both backends."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np

from rankgain._codes import CHANGED, GRADE_TYPE, ID_TYPE, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NULL_ID, SCORE_TYPE
from rankgain.errors import changed

# Array types like those of numpy.typing, which is slow to import.
Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Int32s = np.ndarray[Any, np.dtype[np.int32]]
Intps = np.ndarray[Any, np.dtype[np.intp]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# Threshold just below 0, which a grade of 0 exceeds. It is the largest negative normal number, since CPUs may flush
# subnormal numbers to 0.
NON_RELEVANT = -sys.float_info.min

# Number types that can be converted without running user code: bool, float, int and NumPy's scalar types.
PLAIN = frozenset({bool, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")})

# Types of ids that are certainly no tensors. Tensors are hashed by identity, so that equal ones never match.
PLAIN_IDS = PLAIN | {int, float, str, bytes, tuple, type(None), np.str_, np.bytes_}


def real(value: Any, beyond: float | None = None) -> float | None:
    """Convert a real number of any type to float; return `beyond` if it is too large, and None for other objects.

    Text, complex numbers, arrays and masked elements are not real numbers.
    """
    if isinstance(value, float) or type(value) in PLAIN:
        return float(value)
    if isinstance(value, (str, bytes, bytearray)) or hasattr(value, "mask"):
        return None
    if getattr(value, "ndim", 0):  # float() would accept an array with one element
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
    """Convert integers to NumPy's index type, which has 32 bits on 32-bit systems and in WebAssembly.

    `repeat`, `reduceat` and `bincount` do not accept wider integers.
    """
    return integers.astype(np.intp, copy=False)


def check_number(value: Any, name: str) -> float:
    """Return the argument `name` as a float, which is infinite if the number is too large for float64."""
    number = real(value, math.inf)
    if number is None:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return number


def check_whole(value: Any, name: str, least: int, most: int) -> int:
    """Return the argument `name` as an int, or raise an error if it is not an integer from `least` to `most`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {int(value)}")
    return int(value)


def splitmix64(z: Any) -> Any:
    """Turn uint64 counters into random words with SplitMix64's mixing function (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_BUILTIN = frozenset((dict, list, tuple, set, frozenset, range))


def size_of(items: Any) -> int:
    """Return the number of items without calling the `__len__` method of user-defined classes, which may be wrong."""
    if type(items) in _BUILTIN:
        return len(items)
    return dict.__len__(items) if isinstance(items, dict) else sum(1 for _ in items)


def listed(items: Any) -> list[Any]:
    """Return the items as a list. Unlike `list(items)`, do not allocate memory according to `__len__`."""
    return list(iter(items))


def paired(mapping: Mapping[Any, Any], name: str) -> tuple[list[Any], list[Any]]:
    """Return the keys and values of a mapping, read in a single pass so that they match."""
    if type(mapping) is dict:
        mapping = mapping.copy()  # atomic: no other thread can interrupt it
        return [*mapping], [*mapping.values()]
    try:
        pairs = listed(mapping.items())
    except RuntimeError as error:
        raise changed(error, name) from None
    return [key for key, _ in pairs], [value for _, value in pairs]


def id_kind(identifier: Any) -> type:
    """Return the common type of all ids that can equal this id: str, bytes, int or the id's own type."""
    for kind, base in ((str, str), (bytes, bytes), (Integral, int)):
        if isinstance(identifier, kind):
            return base
    return type(identifier)


def id_text(identifier: Any) -> str:
    """Return an id as text; the parts of a key of several columns are joined by commas."""
    return ",".join(map(id_text, identifier)) if type(identifier) is tuple else str(identifier)


def id_error(value: Any, position: int) -> tuple[int, int, int]:
    """Return the error for an id that is null or has an unsupported type."""
    return NULL_ID if is_null(value) else ID_TYPE, 0, position


def is_null(identifier: Any) -> bool:
    """Return whether an id is None, NaN, or pandas' NA or NaT."""
    if identifier is None or type(identifier).__name__ in ("NAType", "NaTType"):
        return True
    return type(identifier) is float and identifier != identifier


def decimal(field: bytes) -> float | None:
    """Parse a number like `float()`, but without underscores; return None if the field is not a number."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def encoded_id(text: str) -> bytes | None:
    """Encode an id as UTF-8 with surrogateescape; return None if it cannot be encoded."""
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
    """Append the keys of a dict to `documents` and its values to `grades`.

    Return None, or the (code, position) of an error.
    """
    if len(truth) != size:
        return CHANGED, -1
    for position, (document, value) in enumerate(list(truth.items())):
        if document is None or (type(document) is float and document != document):
            return NULL_ID, position
        if type(document) not in PLAIN_IDS and hasattr(document, "__dlpack__"):
            return ID_TYPE, position
        grade = real(value)
        if len(truth) != size:  # converting a number may run user code
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
    """Return a dict of the scores by document, or the (code, position) of an error."""
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
    """Return a mask that is False for rows that are None, or return None if no row is None."""
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        return None
    if not isinstance(column, (list, tuple, np.ndarray)):
        return None
    mask = np.fromiter((value is not None for value in column), np.bool_, len(column))
    return None if mask.all() else mask
