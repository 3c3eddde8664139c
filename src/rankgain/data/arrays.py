"""Convert tensors, Series, buffers and other arrays to NumPy arrays; no other module does."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from rankgain.errors import warn
from rankgain.scalars import Array

_CPU = 1  # DLPack's code for main memory, kDLCPU
_PLAIN_IDS = frozenset((str, bytes, int))
_NARROW_FLOATS = "bfloat16", "float8", "float4"  # NumPy has no such types


def array_of(value: Any, name: str) -> Array | None:
    """The value as an array, without a copy if possible; None for lists of unequal length.

    NumPy is tried first, which reads lists, buffers and anything with ``__array__``; then DLPack.
    Raises a TypeError that says what to write if an array cannot be read.
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
    """The value as an array of one dimension; `demand` is the expected form, as errors word it."""
    check_unmasked(value, name)
    array = array_of(value, name) if is_array(value) else None
    if array is None:
        raise TypeError(f"{name}: must be {demand}, not {type(value).__name__}")
    if array.ndim != 1:
        raise ValueError(f"{name}: must be {demand}, not an array of {array.ndim} dimensions")
    return array


def check_unmasked(value: Any, name: str) -> None:
    ma = sys.modules.get("numpy.ma")  # NumPy imports it when it is first used
    masked = ma and getattr(ma, "MaskedArray", None)  # missing while another thread imports it
    if ma and masked and isinstance(value, masked) and ma.is_masked(value):
        raise ValueError(f"{name} has masked elements; fill or drop them first")


def objects_of(value: Any, name: str) -> Any:
    """The items of an array or a column as Python objects, so that equal ids compare equal; other values unchanged."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(value, method):
            try:
                return getattr(value, method)()
            except Exception as error:
                raise TypeError(f"{name}: {_obstacles(value, error)}") from None
    array = array_of(value, name) if is_array(value) else None
    return value if array is None else array.tolist()


def check_id(identifier: Any, where: str) -> None:
    """Refuse invalid ids: unhashable objects, tensors, None, and values not equal to themselves such as NaN and NA."""
    if type(identifier) in _PLAIN_IDS:
        return
    if not isinstance(identifier, Hashable) or hasattr(identifier, "__dlpack__"):
        raise TypeError(f"{where}: an id must be hashable and not an array, not {type(identifier).__name__}")
    if identifier is None or is_missing(identifier):
        raise ValueError(f"{where}: the id is {'None' if identifier is None else 'NaN or missing'}")


def is_missing(identifier: Any) -> bool:
    """Whether the value is NaN, NaT or pandas' NA, which do not equal themselves."""
    try:
        return bool(identifier != identifier)
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value; a signalling NaN of decimals raises
        return True


def is_array(value: Any) -> bool:
    """Whether NumPy can read the value as an array. False for text, and for bytes although they have a buffer."""
    if isinstance(value, bytes):
        return False
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__") or _is_buffer(value)


def is_rows(value: Any) -> bool:
    """Whether the value is a list, a tuple, or an array other than a single number."""
    return isinstance(value, (list, tuple)) or (is_array(value) and getattr(value, "ndim", 1) != 0)


def _is_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except (BufferError, TypeError, ValueError):  # a released memoryview raises ValueError
        return False
    return True


def _check_items(items: list[Any] | tuple[Any, ...], name: str) -> None:
    """Raise an error for the first array of a list that cannot be read."""
    for index, item in enumerate(items):
        if is_array(item):
            array_of(item, f"{name}: {'query' if is_rows(item) else 'position'} {index}")


def _from_dlpack(value: Any, name: str, error: Exception | None = None) -> Array:
    """The array that the value exports by DLPack; `error`: the earlier error of NumPy."""
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
    except Exception:  # a device that DLPack does not know
        return False


def warn_of_column(value: Any, name: str, advice: str) -> None:
    """Warn about the shape (n, 1), which is read as n queries of one document: models with one logit return it."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1 < shape[0]:
        warn(f"{name} has the shape {tuple(shape)}, which is {shape[0]} queries of one document each; {advice}")
