"""Columns of query and document ids: integers, text, dictionary codes, or several chunks.

A column refers to the caller's data. `take` converts some of the rows to the three buffers that kernels read, so that
only one chunk is converted at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, groupby, islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankgain import _backend, _codes
from rankgain.data.ragged import offsets_of
from rankgain.errors import ErrorCode, InputError, refusal
from rankgain.scalars import Array, Bools, Bytes, Ints, id_kind, to_intp

Rows = slice | Ints
Column = Any  # anything that can be indexed with Rows, such as an array or a ChunkedArray

NONE = np.empty(0, dtype=np.int64)
_NATIVE = frozenset((np.dtype(np.int32), np.dtype(np.int64)))


class Keys(NamedTuple):
    """Ids in the form that kernels read. Text id i consists of bytes starts[i] … ends[i] − 1 of the data.

    Integer ids have no starts and ends, and the data are the ids, as int64 or int32.
    """

    data: Array
    starts: Ints
    ends: Ints

    def buffers(self) -> tuple[Bytes, Ints, Ints]:
        """Return the buffers passed to kernels, which recognise int32 by the size of the data."""
        return self.data.view(np.uint8), self.starts, self.ends

    def wide(self) -> tuple[int, Bytes, Ints, Ints]:
        """Return the item size of integers in bytes (0 for text), followed by the buffers."""
        return 0 if self.data.dtype == np.uint8 else self.data.itemsize, *self.buffers()


class Ids(Protocol):
    """A column of ids.

    `kind`: "str", "bytes", "int", or "" for an empty column. `in_place`: the whole column if kernels can read it
    without a copy, otherwise None.
    """

    @property
    def kind(self) -> str: ...
    @property
    def in_place(self) -> Keys | None: ...
    def __len__(self) -> int: ...
    def take(self, rows: Rows) -> Keys: ...


class NumberIds:
    """Ids that are integers."""

    kind = "int"

    def __init__(self, values: Array) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @property
    def in_place(self) -> Keys | None:
        values = self._values
        native = values.dtype in _NATIVE and values.flags.c_contiguous and values.flags.aligned
        return Keys(values, NONE, NONE) if native and len(values) < 1 << 31 else None

    def take(self, rows: Rows) -> Keys:
        dtype = np.int32 if self._values.dtype == np.int32 else np.int64
        return Keys(np.require(self._values[rows], dtype, ("C", "A")), NONE, NONE)


class TextIds:
    """Ids that are text (in UTF-8) or bytes. Each id is a slice of the data. `where` names the column in errors."""

    def __init__(self, data: Bytes, starts: Array, ends: Array, kind: str, where: str = "the ids") -> None:
        self._where = where
        self.kind = kind if len(starts) else ""
        self._data = data
        self._starts = starts
        self._ends = ends

    def __len__(self) -> int:
        return len(self._starts)

    in_place = None  # `take` must check the offsets

    def take(self, rows: Rows) -> Keys:
        starts = np.require(self._starts[rows], np.int64, ("C", "A"))
        ends = np.require(self._ends[rows], np.int64, ("C", "A"))
        if len(starts) and (starts.min() < 0 or ends.max() > len(self._data) or np.any(starts > ends)):
            raise broken(self._where, "offsets point outside its data")
        return Keys(self._data, starts, ends)


class StringViewIds:
    """Ids stored as Arrow string views: each view has 16 bytes, with a short text or a pointer to a long text."""

    in_place = None

    def __init__(self, views: Bytes, buffers: list[Bytes], kind: str, where: str) -> None:
        self._where = where
        self.kind = kind if len(views) else ""
        self._views = views.reshape(-1, 16)
        self._buffers = buffers

    def __len__(self) -> int:
        return len(self._views)

    def take(self, rows: Rows) -> Keys:
        views = self._views[rows]
        sizes = views.view(np.int32)[:, 0]
        starts, ends = np.empty(len(sizes), dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
        data = np.empty(int(np.abs(sizes, dtype=np.int64).sum()), dtype=np.uint8)
        if _backend.columns.copy_views(views.reshape(-1), self._buffers, data, starts, ends) is not None:
            raise broken(self._where, "views point outside its buffers")
        return Keys(data, starts, ends)


class ObjectIds:
    """Ids stored as Python objects. They must be all str or all bytes, which `take` checks.

    `where` names the column in errors. `may_be_empty`: whether an empty text is an id.
    """

    in_place = None
    may_be_empty = True

    def __init__(self, values: Array, where: str) -> None:
        kind = id_kind(values[0]) if len(values) else None
        self.kind = "bytes" if kind is bytes else "str" if len(values) else ""
        self._values = values
        self._where = where

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: Rows) -> Keys:
        try:
            values = self._values[rows].tolist()
            keys = _packed([values], self.kind, len(values))
            if not self.may_be_empty and (empty := np.equal(keys.starts, keys.ends)).any():
                raise InputError(_codes.EMPTY_ID, 0, int(empty.argmax()))
            return keys
        except InputError as error:
            row = (rows.start or 0) + error.position if isinstance(rows, slice) else int(rows[error.position])
            raise refusal(error.code, f"{self._where}, row {row}", error.detail) from None


class DictionaryIds:
    """Ids stored as indices into a dictionary of ids, as in Arrow dictionaries and pandas categories."""

    in_place = None

    def __init__(self, codes: Column, dictionary: Ids, where: str) -> None:
        self.where = where
        self.kind = dictionary.kind if len(codes) else ""
        self.codes = codes
        self.dictionary = dictionary

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Rows) -> Keys:
        codes = np.asarray(self.codes[rows])
        check_codes(codes, len(self.dictionary), self.where)
        return pick(self._keys, codes)

    @cached_property
    def _keys(self) -> Keys:
        return self.dictionary.take(slice(None))


class ChunkedArray:
    """Several arrays that are indexed as one, such as the chunks of a column in a frame.

    A slice is read from the parts that contain it. The first time that an array of rows is read, the parts are joined.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self._ends = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def first_rows(self) -> list[int]:
        """The first row of each part."""
        first_rows: list[int] = self._ends[:-1].tolist()
        return first_rows

    def pieces(self, rows: slice) -> list[tuple[Any, slice]]:
        """Return the parts that overlap a slice of rows, each with the corresponding slice of its own rows."""
        start, stop, _ = rows.indices(len(self))
        return [
            (part, slice(max(start - first, 0), min(stop - first, len(part))))
            for part, first in zip(self.parts, self.first_rows, strict=True)
            if start < first + len(part) and first < stop
        ]

    def __getitem__(self, rows: Rows) -> Array:
        if not isinstance(rows, slice):
            joined: Array = self._joined[rows]
            return joined
        pieces = [part[part_rows] for part, part_rows in self.pieces(rows)]
        return pieces[0] if len(pieces) == 1 else np.concatenate([*pieces, *(part[:0] for part in self.parts)])

    @cached_property
    def _joined(self) -> Any:
        return self[:]


class ChunkedIds(ChunkedArray):
    """Several columns of ids that are indexed as one."""

    in_place = None

    @property
    def kind(self) -> str:
        return next((part.kind for part in self.parts if part.kind), "")

    def take(self, rows: Rows) -> Keys:
        if not isinstance(rows, slice):
            keys: Keys = self._joined.take(rows)
            return keys
        pieces = [part.take(part_rows) for part, part_rows in self.pieces(rows)]
        if len(pieces) == 1:
            only: Keys = pieces[0]
            return only
        data = np.concatenate([keys.data for keys in pieces]) if pieces else np.empty(0, np.uint8)
        if self.kind == "int":
            return Keys(data, NONE, NONE)
        begins = np.cumsum([0, *(len(keys.data) for keys in pieces)])
        starts, ends = (
            np.concatenate([NONE, *(keys[field] + begin for keys, begin in zip(pieces, begins, strict=False))])
            for field in (1, 2)
        )
        return Keys(data, starts, ends)

    @cached_property
    def _joined(self) -> Any:
        return column_of(self.take(slice(None)), self.kind)


def begins_with_bracket(ids: Ids) -> bool:
    """Return whether the first id is text that begins with a bracket, without converting the column."""
    while isinstance(ids, ChunkedIds):
        ids = next((part for part in ids.parts if len(part)), NumberIds(NONE))
    if isinstance(ids, DictionaryIds):
        ids = ids.dictionary
    if not len(ids):
        return False
    if isinstance(ids, ObjectIds):
        return bool(ids._values[0][:1] in ("[", "{", "("))
    if isinstance(ids, StringViewIds):  # a view has the length in 4 bytes, followed by the text
        return bool(ids._views[0, 4] in b"[{(")
    if isinstance(ids, TextIds):
        start = int(ids._starts[0])
        return 0 <= start < len(ids._data) and bool(ids._data[start] in b"[{(")
    return False


def refuse_empty(ids: Ids, where: str, row: int = 0) -> None:
    """Refuse a column in which an id is an empty text; `ObjectIds` are checked when they are converted.

    `row`: the row of the first id.
    """
    if isinstance(ids, ChunkedIds):
        for part, first in zip(ids.parts, ids.first_rows, strict=True):
            refuse_empty(part, where, row + first)
    elif isinstance(ids, ObjectIds):
        ids.may_be_empty = False
    elif (empty := are_empty(ids)) is not None and empty.any():
        raise refusal(_codes.EMPTY_ID, f"{where}, row {row + int(empty.argmax())}")


def are_empty(ids: Ids) -> Bools | None:
    """Return a mask of the ids that are empty texts, or None if the ids are integers."""
    if isinstance(ids, ChunkedIds):
        masks = [np.zeros(len(part), np.bool_) if (mask := are_empty(part)) is None else mask for part in ids.parts]
        return np.concatenate(masks)
    if isinstance(ids, DictionaryIds):
        empty = are_empty(ids.dictionary)
        return None if empty is None or not empty.any() else np.asarray(ids.codes[:]) == empty.argmax()
    if isinstance(ids, StringViewIds):
        return np.equal(ids._views.view(np.int32)[:, 0], 0)
    return np.equal(ids._starts, ids._ends) if isinstance(ids, TextIds) else None


def check_codes(codes: Array, size: int, where: str) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < size:
        raise broken(where, "codes point outside its dictionary")


def broken(where: str, reason: str) -> ValueError:
    """Return the error for a column whose buffers contradict each other."""
    return ValueError(f"{where} is broken: its {reason}; create the column again")


def column_of(keys: Keys, kind: str) -> Ids:
    """Convert the ids returned by `take` to a column."""
    return NumberIds(keys.data) if kind == "int" else TextIds(*keys, kind)


def join(parts: list[Any]) -> Any:
    """Join parts, which are either all arrays or all columns of ids, into one column."""
    if any(isinstance(part, DictionaryIds) for part in parts):
        runs = groupby(parts, lambda part: id(getattr(part, "dictionary", part)))
        parts = [_same_dictionary([*run]) for _, run in runs]
    if len(parts) == 1:
        return parts[0]
    return ChunkedArray(parts) if isinstance(parts[0], np.ndarray) else ChunkedIds(parts)


def _same_dictionary(parts: list[DictionaryIds]) -> DictionaryIds:
    """Join parts that share a dictionary."""
    if len(parts) == 1:
        return parts[0]
    return DictionaryIds(ChunkedArray([part.codes for part in parts]), parts[0].dictionary, parts[0].where)


def pick(keys: Keys, rows: Ints) -> Keys:
    """Return the ids in the given rows."""
    if len(keys.starts):
        return Keys(keys.data, keys.starts[rows], keys.ends[rows])
    return Keys(keys.data[rows], NONE, NONE)


def equal_rows(keys: Keys, others: Keys, rows: Ints) -> Ints:
    """Return the positions of the ids that equal another id, which is in the given row of `others`."""
    if not len(keys.starts):
        return np.flatnonzero(keys.data == others.data[rows])
    sizes = keys.ends - keys.starts
    equal = np.flatnonzero(sizes == (others.ends - others.starts)[rows])
    for at in range(int(sizes[equal].max(initial=0))):  # few ids are left after the first bytes
        inside = at < sizes[equal]
        ours, theirs = (np.where(inside, starts + at, 0) for starts in (keys.starts[equal], others.starts[rows[equal]]))
        equal = equal[~inside | (keys.data[ours] == others.data[theirs])]
    return equal


def python_ids(keys: Keys, kind: str) -> list[Any]:
    """Return the ids as Python objects. In text, invalid UTF-8 bytes become lone surrogates, so nothing is lost."""
    if kind in ("int", ""):
        return keys.data.tolist() if kind else []
    data = keys.data.data
    ids = [data[start:end].tobytes() for start, end in zip(keys.starts.tolist(), keys.ends.tolist(), strict=True)]
    return ids if kind == "bytes" else [decoded(identifier) for identifier in ids]


def decoded(identifier: bytes) -> str:
    return identifier.decode("utf-8", "surrogateescape")


def ids_of(values: Any) -> Ids:
    """Return a column of the ids in an array or a list, which must be all str, all bytes or all integers.

    If an id is null, of another type, or not valid text, raise InputError with its position.
    """
    return ids_of_rows([values], len(values))


def ids_of_rows(rows: list[Any], count: int) -> Ids:
    """Like `ids_of`, but join several arrays or lists of ids into one column of `count` ids."""
    arrays = {issubclass(kind, np.ndarray) for kind in {*map(type, rows)}}
    if True in arrays:
        joined = np.concatenate(rows) if arrays == {True} and len(rows) > 1 else rows[0]
        if arrays == {True} and joined.dtype.kind in "iu":  # NumPy concatenates int64 and uint64 as floats
            return _of_integers(joined)
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    kind = id_kind(next(chain.from_iterable(rows), ""))
    if kind is int:
        numbers = np.empty(count, dtype=np.int64)
        _check(_backend.dicts.pack_integers(rows, numbers), rows)
        return _of_integers(numbers)
    text = "bytes" if kind is bytes else "str"
    return TextIds(*_packed(rows, text, count), text)


def _packed(rows: list[Any], kind: str, count: int) -> Keys:
    offsets = np.zeros(count + 1, dtype=np.int64)
    data, error_code = _backend.dicts.pack_ids(rows, kind == "str", offsets[1:])
    _check(error_code, rows)
    return Keys(np.frombuffer(data, dtype=np.uint8), offsets[:-1], offsets[1:])


def _check(error_code: ErrorCode, rows: list[Any]) -> None:
    if error_code is None:
        return
    code, query, position = error_code
    value = next(islice(chain.from_iterable(rows), position, None), None)
    detail = repr(value) if code == _codes.LONE_SURROGATE else type(value).__name__ if code == _codes.ID_TYPE else ""
    raise InputError(code, query, position, detail)


def _of_integers(values: Array) -> Ids:
    if values.dtype == np.uint64 and len(values) and int(values.max()) >= 1 << 63:
        raise InputError(_codes.LARGE_ID, 0, int(values.argmax()))
    return NumberIds(values) if len(values) else TextIds(np.empty(0, np.uint8), NONE, NONE, "")


def rows_of(firsts: Ints, lasts: Ints, queries: Ints) -> tuple[Rows, Ints]:
    """Apply `slices_of` to some of the queries. The index −1 stands for a query without rows."""
    if not len(firsts):
        return slice(0, 0), np.zeros(len(queries) + 1, dtype=np.int64)
    first = int(queries[0]) if len(queries) else 0
    if first >= 0 and np.array_equal(queries, np.arange(first, first + len(queries))):
        contiguous = slice(first, first + len(queries))
        return slices_of(firsts[contiguous], lasts[contiguous])
    has_rows = queries >= 0
    return slices_of(firsts[queries] * has_rows, lasts[queries] * has_rows)


def row_numbers(rows: Rows) -> Ints:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def slices_of(firsts: Ints, lasts: Ints) -> tuple[Rows, Ints]:
    """Return rows first … last − 1 of each query, one query after another, and the offsets of the queries.

    The rows are a slice if they are contiguous, otherwise an array.
    """
    sizes = lasts - firsts
    offsets = offsets_of(sizes)
    for queries in slice(None), sizes > 0:  # ignore the bounds of queries without rows
        begins, ends = firsts[queries], lasts[queries]
        if np.array_equal(begins[1:], ends[:-1]):
            return slice(*(int(begins[0]), int(ends[-1])) if len(begins) else (0, 0)), offsets
    return np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1][queries], to_intp(sizes[queries])), offsets
