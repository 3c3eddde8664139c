"""End lists of ids at padding, which fills them up to a common length: NaN, None, "" and −1 at the end of a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgain.data.ids import Ids, are_empty
from rankgain.data.ragged import CHUNK
from rankgain.scalars import Array, Bools, Ints, is_null

IN_LISTS = "ids: only at the end of a list are they padding"  # the end of an error

_LISTS = frozenset((list, tuple))
_INTEGERS, _TEXTS = frozenset((int,)), frozenset((str,))


def without_padding(rows: Any) -> Any:
    """Return rows without the padding at their ends. Rows that are neither lists nor tuples are returned unchanged.

    A matrix is returned unchanged: `unpadded` says where its rows end.
    """
    if type(rows) is not list or not rows:
        return rows
    row_types = {*map(type, rows)}
    if row_types.isdisjoint(_LISTS):
        return rows
    if row_types <= _LISTS:
        lasts = [row[-1] for row in rows if row]
        kinds = {*map(type, lasts)}
        if (kinds <= _INTEGERS and -1 not in lasts) or (kinds <= _TEXTS and "" not in lasts):
            return rows  # no further look at each row
    return [cut(row) if type(row) in _LISTS else row for row in rows]


def cut(row: Any) -> Any:
    """Return a list, a tuple or an array of one dimension without the padding at its end."""
    end = len(row)
    while end and is_padding(row[end - 1]):
        end -= 1
    return row if end == len(row) else row[:end]


def is_padding(value: Any) -> bool:
    """Return whether a value is NaN, None, empty or −1."""
    kind = type(value)
    if kind is int or kind is str:
        return bool(value == -1 if kind is int else not value)
    if isinstance(value, np.generic):
        return is_padding(value.item())
    return value == b"" if kind is bytes else is_null(value)


def padding_of(ids: Array | Ids) -> Bools:
    """Return a mask of the ids in a column that are −1 or empty."""
    if not isinstance(ids, np.ndarray):
        empty = are_empty(ids)
        return np.zeros(len(ids), np.bool_) if empty is None else empty
    return np.equal(ids, -1) if ids.dtype.kind == "i" else np.zeros(len(ids), np.bool_)


def ends_with_nan(array: Array) -> bool:
    """Return whether an array, or a row of a matrix, holds floats and ends with NaN."""
    return array.dtype.kind == "f" and array.size > 0 and bool(np.isnan(array[..., -1]).any())


def whole(array: Array) -> Array:
    """Return floats as integers if all are whole but NaN at the end of an array or of a row, which becomes −1.

    Integers become floats where they are padded with NaN. Other arrays are returned unchanged.
    """
    if array.dtype.kind != "f":
        return array
    nulls = np.isnan(array)
    numbers = array[~nulls]
    if np.any(nulls[..., :-1] & ~nulls[..., 1:]) or np.any((numbers != np.floor(numbers)) | (abs(numbers) > 2**53)):
        return array
    return np.where(nulls, -1, array).astype(np.int64)


def unpadded(matrix: Array) -> tuple[Ints, Ints]:
    """Return the offsets and the ends of the rows of a padded matrix. A row ends at its first negative id."""
    users, columns = matrix.shape
    offsets = np.arange(users + 1, dtype=np.int64) * columns
    sizes = np.full(users, columns, dtype=np.int64)
    for start in range(0, users if columns else 0, step := max(1, CHUNK // max(columns, 1))):
        block = matrix[start : start + step]
        if block.dtype.kind == "i" and block.min() < 0:
            padded = block < 0
            sizes[start : start + step] = np.where(padded.any(axis=1), padded.argmax(axis=1), columns)
    return offsets, offsets[:-1] + sizes
