"""Convert tensors, Series, buffers and other arrays to NumPy arrays."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from rankgain.errors import warn
from rankgain.scalars import Array

_CPU = 1  # DLPack's device type for main memory, kDLCPU
_PLAIN_IDS = frozenset((str, bytes, int))
_NARROW_FLOATS = "bfloat16", "float8", "float4"  # NumPy lacks these types


def array_of(value: Any, name: str) -> Array | None:
    """Return the value as an array, without a copy if possible, or None for lists of unequal length.

    NumPy is tried first, because it reads lists, buffers and anything with ``__array__``; DLPack is tried next. If an
    array cannot be read, raise a TypeError that says what to write instead.
    """
    try:
        array = np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(value, (list, tuple)):
            if not isinstance(error, ValueError):  # a ValueError means lists of unequal length
                _check_items(value, name)
            return None
        return _from_dlpack(value, name, error)
    if array.dtype.kind == "O" and hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return _from_dlpack(value, name)
    return array


def vector_of(value: Any, name: str, demand: str) -> Array:
    """Return the value as a one-dimensional array. `demand`: the expected form, as worded in errors."""
    check_unmasked(value, name)
    array = array_of(value, name) if is_array(value) else None
    if array is None:
        raise TypeError(f"{name}: must be {demand}, not {type(value).__name__}")
    if array.ndim != 1:
        raise ValueError(f"{name}: must be {demand}, not an array of {array.ndim} dimensions")
    return array


def check_unmasked(value: Any, name: str) -> None:
    ma = sys.modules.get("numpy.ma")  # NumPy imports this module on first use
    masked = ma and getattr(ma, "MaskedArray", None)  # missing while another thread imports the module
    if ma and masked and isinstance(value, masked) and ma.is_masked(value):
        raise ValueError(f"{name} has masked elements; fill or drop them first")


def objects_of(value: Any, name: str) -> Any:
    """Convert an array or a column to a list of Python objects, so that equal ids compare equal.

    Return other values unchanged.
    """
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(value, method):
            try:
                return getattr(value, method)()
            except Exception as error:
                raise TypeError(f"{name}: {_obstacles(value, error)}") from None
    array = array_of(value, name) if is_array(value) else None
    return value if array is None else array.tolist()


def check_id(identifier: Any, where: str) -> None:
    """Refuse invalid ids: unhashable objects, tensors, empty texts, None, and missing values such as NaN and NA."""
    if type(identifier) in _PLAIN_IDS:
        if not identifier and type(identifier) is not int:
            raise ValueError(f"{where}: the id is an empty text")
        return
    if not isinstance(identifier, Hashable) or hasattr(identifier, "__dlpack__"):
        advice = "; write id.item()" if hasattr(identifier, "__dlpack__") and hasattr(identifier, "item") else ""
        raise TypeError(f"{where}: an id must be hashable and not an array, not {type(identifier).__name__}{advice}")
    if identifier is None or is_missing(identifier):
        raise ValueError(f"{where}: the id is {'None' if identifier is None else 'NaN or missing'}")


def is_missing(identifier: Any) -> bool:
    """Return whether the value is NaN, NaT or pandas' NA, which are not equal to themselves."""
    try:
        return bool(identifier != identifier)
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value; comparing a signalling NaN raises an error
        return True


def is_array(value: Any) -> bool:
    """Return whether NumPy can read the value as an array.

    The result is False for text, and also for bytes, although they have a buffer.
    """
    if isinstance(value, bytes):
        return False
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__") or _is_buffer(value)


def is_rows(value: Any) -> bool:
    """Return whether the value is a list, a tuple, or an array with at least one dimension."""
    return isinstance(value, (list, tuple)) or (is_array(value) and getattr(value, "ndim", 1) != 0)


def _is_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except (BufferError, TypeError, ValueError):  # a released memoryview causes a ValueError
        return False
    return True


def _check_items(items: list[Any] | tuple[Any, ...], name: str) -> None:
    """Raise an error for the first array in a list that cannot be read."""
    for index, item in enumerate(items):
        if is_array(item):
            array_of(item, f"{name}: {'query' if is_rows(item) else 'position'} {index}")


def _from_dlpack(value: Any, name: str, error: Exception | None = None) -> Array:
    """Return the array that the value exports through DLPack. `error`: NumPy's error, if NumPy was tried first."""
    try:
        return np.from_dlpack(value)
    except Exception as refusal:
        raise TypeError(f"{name}: {_obstacles(value, error or refusal)}") from None


def _obstacles(value: Any, error: Exception) -> str:
    """Explain why the value cannot be read, and name the calls that convert it."""
    dtype = str(getattr(value, "dtype", ""))
    obstacles = [
        ("requires grad", ".detach()", getattr(value, "requires_grad", False) is True),
        ("is not in the CPU's memory", ".cpu()", not _on_cpu(value)),
        (f"holds {dtype}, which NumPy lacks", ".float()", any(kind in dtype for kind in _NARROW_FLOATS)),
    ]
    reasons = " and ".join(reason for reason, _, applies in obstacles if applies)
    calls = "".join(call for _, call, applies in obstacles if applies)
    kind = type(value).__name__
    if not calls:
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        return f"the {kind} cannot be read ({reason}); give a NumPy array or a list"
    return f"the {kind} {reasons}; give a copy that can be read ({calls}), or a NumPy array"


def _on_cpu(value: Any) -> bool:
    try:
        return not hasattr(value, "__dlpack_device__") or bool(value.__dlpack_device__()[0] == _CPU)
    except Exception:  # DLPack does not know this device
        return False


def warn_of_column(value: Any, name: str, advice: str) -> None:
    """Warn about an array of shape (n, 1), as returned by models with one logit.

    It is read as n queries with one document each.
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1 < shape[0]:
        warn(f"{name} has the shape {tuple(shape)}, which is {shape[0]} queries of one document each; {advice}")
