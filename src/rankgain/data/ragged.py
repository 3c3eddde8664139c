"""Lists of numbers, one list per query. They are checked once and converted one chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankgain.data.arrays import array_of, check_unmasked, is_array, is_rows
from rankgain.data.column_names import refuse_table
from rankgain.errors import remedy_for, too_large
from rankgain.scalars import Array, Bools, Floats, Ints, real

# The number of documents per chunk: large enough to make the cost per chunk negligible, and small enough for the cache.
CHUNK = 1 << 18

# The dtypes of scores and grades that kernels read; other dtypes become float64. The dict maps each dtype to the usual
# object for it, because equal dtypes can have different names in the buffer protocol, such as "<f" for ctypes' float.
NATIVE = {dtype: dtype for dtype in map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.uint8))}


_FLOAT64, _, _INT64, _, _ = NATIVE
_PLAIN_NUMBERS = frozenset((int, float))
_CONTIGUOUS_ALIGNED = 0x101  # bit mask for `ndarray.flags.num`

# numbers, offsets of the lists, and their common length if there are no offsets
NumberLists = tuple[Array, Ints | None, int]


class RaggedArray:
    """One or more lists of numbers: the rows of a matrix, separate arrays, or slices of a flat array.

    The caller's arrays are not copied. For kernels, `part` converts a range of lists to one contiguous array.
    """

    __slots__ = ("_mask", "_offsets", "_parts", "_values", "columns", "count", "name", "native", "order", "single")

    def __init__(
        self,
        name: str,
        offsets: Ints | None,
        values: Array | None = None,
        parts: list[Array] | None = None,
        order: Array | None = None,
        single: bool = False,
    ) -> None:
        """`offsets`: where each list starts in the flat values or in the parts; None for a single list or a matrix.

        `order`: the position of each number in the values, if the lists are not contiguous there. `single`: whether
        the input was a single list.
        """
        self.name = name
        self.single = single
        self._offsets = offsets
        self._values = values
        self._parts = parts
        self.order = order
        # which documents of the caller's lists a mask left, the order of these lists, and where they started
        self._mask: tuple[Bools, Array | None, Ints] | None = None
        self.native = False  # whether kernels can read the values in place
        if values is not None and order is None and values.flags.num & _CONTIGUOUS_ALIGNED == _CONTIGUOUS_ALIGNED:
            kind = values.dtype
            self.native = kind is _FLOAT64 or kind is _INT64 or kind in NATIVE
        if offsets is not None:
            self.count, self.columns = len(offsets) - 1, 0
        elif values is not None:
            self.count, self.columns = (1, len(values)) if single else values.shape

    @classmethod
    def of(cls, value: Any, name: str) -> RaggedArray:
        """Read a single list of numbers (1-D) or several lists.

        Several lists are a 2-D array, or a list, a tuple or an array of 1-D lists of any lengths.
        """
        if type(value) is np.ndarray and 0 < (dimensions := value.ndim) <= 2:
            kind = value.dtype
            if kind is _FLOAT64 or kind is _INT64 or kind in NATIVE:
                return cls(name, None, value, None, None, dimensions == 1)
        array = numbers(value, name)
        if isinstance(array, list):
            parts = [_part(row, name, query) for query, row in enumerate(array)]
            return cls(name, offsets_of([len(part) for part in parts]), None, parts)
        if array.ndim == 1 or array.ndim == 2:
            return cls(name, None, array, None, None, array.ndim == 1)
        squeezed = "; .squeeze(-1) drops the last" if array.shape[-1:] == (1,) else ""
        raise ValueError(f"{name} must have 1 or 2 dimensions, not {array.ndim}{squeezed}")

    def __len__(self) -> int:
        return self.count

    @property
    def offsets(self) -> Ints:
        if self._offsets is None:
            self._offsets = np.arange(self.count + 1, dtype=np.int64) * self.columns
        return self._offsets

    @property
    def total(self) -> int:
        """The total length of all lists."""
        return int(self._offsets[-1]) if self._offsets is not None else self.count * self.columns

    @property
    def kind(self) -> str:
        """The kind of the dtype: "b", "i", "u" or "f"."""
        return np.result_type(np.bool_, *(self._parts or [])).kind if self._values is None else self._values.dtype.kind

    @property
    def matrix(self) -> Array | None:
        """The rows, if they are those of a matrix."""
        return self._values if self.columns and not self.single else None

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return self.columns if self.columns or self._offsets is None else int(self.sizes.max(initial=0))

    def part(self, start: int, stop: int) -> NumberLists:
        """Return the elements of lists `start` to `stop` − 1 in an array that kernels read, and offsets from 0."""
        numbers = self._numbers(start, stop)
        if not self.native:
            numbers = contiguous(numbers, native=True)
        if self.columns:
            return numbers, None, self.columns
        offsets = self.offsets[start : stop + 1]
        return numbers, offsets - offsets[0] if start else offsets, 0

    def ragged(self, start: int, stop: int) -> tuple[Array, Ints]:
        """Like `part`, but the offsets are never None."""
        numbers, offsets, columns = self.part(start, stop)
        if offsets is None:
            offsets = np.arange(0, (stop - start) * columns + 1, columns, dtype=np.int64)
        return numbers, offsets

    def in_place(self) -> NumberLists:
        """Return all lists without copying them. The lists must be `native`."""
        assert self._values is not None
        return self._values, None if self.columns else self.offsets, self.columns

    def cut(self, depth: int) -> RaggedArray:
        """Truncate the lists to the given depth."""
        if depth >= self.longest:
            return self
        parts = [self._numbers(query, query + 1).reshape(-1)[:depth] for query in range(len(self))]
        return RaggedArray(self.name, offsets_of(list(map(len, parts))), parts=parts, single=self.single)

    def non_empty(self) -> RaggedArray:
        """Keep only the lists that are not empty."""
        present = np.append(self.sizes > 0, True)
        parts = None if self._parts is None else [part for part in self._parts if len(part)]
        lists = RaggedArray(self.name, self.offsets[present], self._values, parts, self.order, self.single)
        if self._mask is not None:
            flags, order, offsets = self._mask
            lists._mask = flags, order, offsets[present]
        return lists

    @property
    def elements(self) -> Ints | None:
        """The position of each number in the caller's flat array, or None if the lists are contiguous there."""
        if self._mask is None:
            return self.order
        flags, order, _ = self._mask
        return np.flatnonzero(flags) if order is None else order[flags]

    def positions(self, query: int) -> list[int]:
        """Return the positions of a query's numbers in the list that was given, which a mask may have shortened."""
        first, last = self.offsets[query], self.offsets[query + 1]
        if self._mask is None:
            return list(range(last - first))
        flags, _, offsets = self._mask
        positions: list[int] = (np.flatnonzero(flags)[first:last] - offsets[query]).tolist()
        return positions

    def take(self, start: int, stop: int) -> Floats:
        """Return lists start … stop − 1 as float64, one after another."""
        return to_float64(self._numbers(start, stop)).reshape(-1)

    def _numbers(self, start: int, stop: int) -> Array:
        """Return the numbers in a range of lists, in the caller's dtype."""
        if self._values is None:
            return np.concatenate([np.empty(0), *(self._parts or [])[start:stop]])
        if self._values.ndim == 2:
            return self._values[start:stop]
        first, last = self.offsets[start], self.offsets[stop]
        if self.order is not None:
            return self._values[self.order[first:last]]
        return self._values[first:last]

    def describe(self, query: int, position: int = -1, name: str = "") -> str:
        """Return the beginning of an error: the argument, the query and, unless it is −1, the position."""
        words = [] if self.single and not name else [name or f"query {query}"]
        words += [] if position < 0 else [self._where(position, query)]
        return f"{self.name}: {', '.join(words)}" if words else self.name

    def _where(self, position: int, query: int) -> str:
        """Return the position within the query and, if the caller's array is flat, the position in the array."""
        elements = self.elements
        if self._values is None or self._values.ndim == 2 or (len(self) == 1 and elements is None):
            return f"position {position}"
        index = int(self.offsets[query]) + position
        return f"position {position} (element {index if elements is None else int(elements[index])})"


def unmasked(mask: Any, *arrays: RaggedArray) -> tuple[RaggedArray, ...]:
    """Keep only the documents for which a mask is True, in arrays of the same shape; None keeps all documents."""
    if mask is None:
        return arrays
    lists, marks = arrays[0], RaggedArray.of(mask, "mask")
    parts: list[Any] = [marks._values] if marks._parts is None else marks._parts
    for part in parts:
        if part.dtype != np.bool_ and part.size:
            raise TypeError(f"mask must hold booleans, True for a document, not {part.dtype}: pass mask=(mask != 0)")
    flat = lists._values is not None and lists._values.ndim == 1  # the mask for flat values is also flat
    if marks.total != lists.total or (not flat and not np.array_equal(marks.sizes, lists.sizes)):
        raise ValueError(f"mask must have the shape of {lists.name}: one boolean for each document")
    flags = marks._numbers(0, len(marks)).astype(np.bool_, copy=False).reshape(-1)
    if lists.order is not None:
        flags = flags[lists.order]
    if lists.columns:
        offsets = offsets_of(np.count_nonzero(flags.reshape(-1, lists.columns), axis=1))
    else:
        offsets = offsets_of(flags)[lists.offsets]
    return tuple(_where(array, flags, offsets) for array in arrays)


def _where(array: RaggedArray, flags: Bools, offsets: Ints) -> RaggedArray:
    values = array._numbers(0, len(array)).reshape(-1)[flags]
    result = RaggedArray(array.name, offsets, values=values, single=array.single)
    result._mask = flags, array.order, array.offsets
    return result


def check_judged(judged: Any, lists: RaggedArray) -> RaggedArray | None:
    """Check and return the judged grades, which must have one list for each of `lists`. None is returned as None."""
    if judged is None:
        return None
    judgments = RaggedArray.of(judged, "judged")
    if len(judgments) != len(lists):
        raise ValueError(
            f"judged has {len(judgments)} lists, and {lists.name} has {len(lists)}: give one list of grades per query"
        )
    return judgments


def offsets_of(sizes: Iterable[int] | Ints) -> Ints:
    sizes = np.asarray(sizes, dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def ends_without(padding: Bools, firsts: Ints, lasts: Ints) -> Ints:
    """Return where lists end, which are slices first … last − 1 of a column, if padding at their ends is cut off."""
    if not padding.any():
        return lasts
    # for each row of the column, the number of rows up to the last one before it that is no padding
    rows = np.append(0, np.maximum.accumulate(np.where(padding, 0, np.arange(1, len(padding) + 1))))
    ends: Ints = np.maximum(firsts, rows[lasts])
    return ends


def flat_numbers(value: Any, name: str, where: str = "here") -> Array:
    """Return the value as a one-dimensional array of numbers.

    `where`: the condition under which one dimension is required, as worded in errors.
    """
    array = numbers(value, name)
    if isinstance(array, list) or array.ndim != 1:
        shape = "lists of unequal length" if isinstance(array, list) else f"{array.ndim} dimensions"
        raise ValueError(f"{name} must have 1 dimension {where}, not {shape}")
    return array


def numbers(value: Any, name: str) -> Array | list[Any]:
    """Return the value as an array of real numbers, or as a list of rows if each row must be checked separately."""
    if isinstance(value, (list, tuple)):
        for row in () if _PLAIN_NUMBERS.issuperset(map(type, value)) else value:
            check_unmasked(row, name)
    elif type(value) is not np.ndarray:
        refuse_table(value, name)
        check_unmasked(value, name)
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
        # NumPy converts a list of numbers and text to an array of text, in which the text can no longer be located.
        objects = array if array.dtype.kind == "O" else np.array(value, dtype=object)
        return _floats(objects, name)
    raise TypeError(f"{name} must hold real numbers, not {array.dtype}")


def _part(row: Any, name: str, query: int) -> Array:
    name = f"{name}: query {query}"
    if isinstance(row, (list, tuple)) or is_array(row):
        return flat_numbers(row, name)
    advice = "; write [] if there are none" if row is None else ""
    raise TypeError(f"{name}: must be a list, a tuple or an array of numbers, not {type(row).__name__}{advice}")


def _floats(array: Array, name: str) -> Floats:
    """Convert Python numbers (integers, fractions and decimals) to float64."""
    result = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        number = real(value)
        if number is None:
            query = f": query {index[0]}" if len(index) > 1 else ""
            where = f"{name}{query}: position {index[-1]}"
            if type(value) is int:
                raise too_large(where)
            kind = type(value).__name__
            raise TypeError(f"{where}: must be a number, not {kind}{remedy_for(kind)}")
        result[index] = number
    return result


def to_float64(array: Array) -> Floats:
    """Return the numbers as contiguous float64. Numbers that are too large become infinite, and are refused later."""
    return contiguous(array, native=False)


def contiguous(array: Array, *, native: bool) -> Array:
    """Return the numbers in contiguous memory, as float64 or, with `native`, in any dtype that kernels read."""
    dtype = NATIVE.get(array.dtype, np.float64) if native else np.float64
    with np.errstate(all="ignore"):
        return np.require(array, dtype, ("C", "A"))
