"""Lists of numbers, one a query, as the caller holds them: looked at once, converted a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankgain.arrays import Array, array_of, check_unmasked, is_array, is_rows
from rankgain.scalars import real

# Documents in a chunk: enough to make the cost of a chunk vanish, few enough to stay in the cache.
CHUNK = 1 << 18

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

# What kernels read as it is, scores and grades; all else becomes float64. To itself: a type that is equal to one of
# them may say so in other words to those who read the buffer ("<f" is what ctypes makes of float).
NATIVE = {dtype: dtype for dtype in map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.uint8))}


class Lists:
    """One list of numbers or many: rows of a matrix, arrays of their own, or stretches of a flat array.

    The caller's arrays are kept as they are; `take` gives any run of queries as one contiguous array with offsets.
    """

    __slots__ = ("_order", "_parts", "_values", "name", "offsets", "single")

    def __init__(
        self,
        name: str,
        offsets: Ints,
        *,
        values: Array | None = None,
        parts: list[Array] | None = None,
        order: Array | None = None,
        single: bool = False,
    ) -> None:
        self.name = name
        self.offsets = offsets
        self.single = single
        self._values = values
        self._parts = parts
        self._order = order

    @classmethod
    def of(cls, value: Any, name: str) -> Lists:
        """One list of numbers (1-D), or many (2-D, or a list, a tuple or an array of 1-D lists of any lengths)."""
        array = numbers(value, name)
        if isinstance(array, list):
            parts = [_part(row, name, query) for query, row in enumerate(array)]
            return cls(name, offsets_of([len(part) for part in parts]), parts=parts)
        if array.ndim == 1:
            return cls(name, offsets_of([len(array)]), values=array, single=True)
        if array.ndim == 2:
            offsets = np.arange(array.shape[0] + 1, dtype=np.int64) * array.shape[1]
            return cls(name, offsets, values=array)
        raise ValueError(f"{name} must have 1 or 2 dimensions, not {array.ndim}")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        if self._values is not None and self._values.ndim == 2:
            return int(self._values.shape[1])
        return int(self.sizes.max(initial=0))

    @property
    def native(self) -> bool:
        """Whether kernels read the numbers where they are held."""
        held = self._values
        if held is None or self._order is not None or held.dtype not in NATIVE:
            return False
        return held.flags.c_contiguous and held.flags.aligned

    def take(self, start: int, stop: int, *, native: bool = False) -> tuple[Array, Ints]:
        """The lists start … stop − 1 as contiguous numbers with offsets from 0.

        They are float64 or, `native`, of any type that kernels read.
        """
        offsets = self.offsets[start : stop + 1]
        offsets = offsets - offsets[0] if start else offsets
        return contiguous(self._held(start, stop), native=native).reshape(-1), offsets

    def _held(self, start: int, stop: int) -> Array:
        """The numbers of a run of lists as they are held."""
        first, last = self.offsets[start], self.offsets[stop]
        if self._values is None:
            return np.concatenate([np.empty(0), *(self._parts or [])[start:stop]])
        if self._values.ndim == 2:
            return self._values[start:stop]
        if self._order is not None:
            return self._values[self._order[first:last]]
        return self._values[first:last]

    def where(self, position: int, query: int) -> str:
        """The position in words: within the query, and in the caller's array where that is a flat one."""
        if self._values is None or self._values.ndim == 2 or len(self) == 1:
            return f"position {position}"
        index = int(self.offsets[query]) + position
        return f"position {position} (element {index if self._order is None else int(self._order[index])})"


def check_judged(judged: Any, lists: Lists) -> Lists | None:
    """The judged grades as one list for each of the lists."""
    if judged is None:
        return None
    truth = Lists.of(judged, "judged")
    if len(truth) != len(lists):
        raise ValueError(
            f"judged has {len(truth)} lists, and {lists.name} has {len(lists)}: give one list of judged grades a query"
        )
    return truth


def cut(values: Array, offsets: Ints, depth: int) -> tuple[Array, Ints]:
    """Ragged lists without what lies beyond the depth."""
    sizes = np.diff(offsets)
    if not len(values) or depth >= sizes.max():
        return values, offsets
    ranks = np.arange(len(values)) - np.repeat(offsets[:-1], sizes)
    return values[ranks < depth], offsets_of(np.minimum(sizes, depth))


def offsets_of(sizes: Iterable[int] | Ints) -> Ints:
    sizes = np.asarray(sizes, dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def flat_numbers(value: Any, name: str) -> Array:
    """One array of numbers in one dimension."""
    array = numbers(value, name)
    if isinstance(array, list) or array.ndim != 1:
        shape = "lists of unequal length" if isinstance(array, list) else f"{array.ndim} dimensions"
        raise ValueError(f"{name} must have 1 dimension here, not {shape}")
    return array


def numbers(value: Any, name: str) -> Array | list[Any]:
    """The value as an array of real numbers; or a list of its rows, where each must be looked at by itself."""
    for row in value if isinstance(value, (list, tuple)) else [value]:
        check_unmasked(row, name)
    array = array_of(value, name)
    if array is None:
        return list(value)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "O" and array.ndim == 0:
        raise TypeError(f"{name} must be a list, a tuple or an array of numbers, not {type(value).__name__}")
    if array.dtype.kind == "O" and array.size and is_rows(array.flat[0]):
        return list(value if isinstance(value, (list, tuple)) else array)
    if array.dtype.kind == "O" or isinstance(value, (list, tuple)):
        # A list that mixes numbers and text came back as text: what is not a number has a place in the list.
        held = array if array.dtype.kind == "O" else np.array(value, dtype=object)
        return _floats(held, name)
    raise TypeError(f"{name} must hold real numbers, not {array.dtype}")


def _part(row: Any, name: str, query: int) -> Array:
    name = f"{name}: query {query}"
    if isinstance(row, (list, tuple)) or is_array(row):
        return flat_numbers(row, name)
    raise TypeError(f"{name}: must be a list, a tuple or an array of numbers, not {type(row).__name__}")


def _floats(array: Array, name: str) -> Floats:
    """float64 from Python objects, one by one: integers without bound, fractions, decimals."""
    result = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        number = real(value)
        if number is None:
            query = f": query {index[0]}" if len(index) > 1 else ""
            where = f"{name}{query}: position {index[-1]}"
            if type(value) is int:
                raise ValueError(f"{where}: the number is too large for float64")
            raise TypeError(f"{where}: must be a number, not {type(value).__name__}")
        result[index] = number
    return result


def to_float64(array: Array) -> Floats:
    """The numbers as contiguous float64; what overflows becomes infinite, and is refused as such elsewhere."""
    return contiguous(array, native=False)


def single(array: Array, bits: int) -> Array:
    """The numbers with the precision of float32 where that is asked for; what overflows becomes infinite."""
    if bits == 64:
        return array
    with np.errstate(all="ignore"):
        return to_float64(array).astype(np.float32)


def contiguous(array: Array, *, native: bool) -> Array:
    """The numbers side by side, as float64 or, `native`, of any type that kernels read; themselves if they are so."""
    dtype = NATIVE.get(array.dtype, np.float64) if native else np.float64
    with np.errstate(all="ignore"):
        return np.require(array, dtype, ("C", "A"))
