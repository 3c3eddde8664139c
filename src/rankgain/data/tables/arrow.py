"""Read columns from any object that exports an Arrow C stream (polars, pyarrow, DuckDB …), without pyarrow.

Buffers are read in place. The structures are defined by the Arrow C data interface and the Arrow C stream interface,
https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankgain import _codes
from rankgain.data.ids import (
    NONE,
    DictionaryIds,
    Ids,
    StringViewIds,
    TextIds,
    are_empty,
    broken,
    check_codes,
    ids_of,
    join,
)
from rankgain.data.padding import IN_LISTS, padding_of
from rankgain.data.ragged import ends_without, offsets_of
from rankgain.data.tables.readers import ListColumn, Reader, refuse_nested
from rankgain.errors import refusal
from rankgain.scalars import Array, Bools, Bytes, Ints

LISTS = {"+l": "i4", "+L": "i8", "+vl": "i4", "+vL": "i8", "+m": "i4"}  # maps Arrow's list formats to offset types
Dictionaries = dict[tuple[int, ...], Array | Ids]  # dictionaries by the addresses of their buffers
MOST_DICTIONARIES = 8  # number of dictionaries that a cache keeps

_NUMBERS = dict(zip("cCsSiIlLefg", "bBhHiIqQefd", strict=True))  # maps Arrow's formats to NumPy's type codes


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

# This is a separate function object, because argument types set on `ctypes.pythonapi.PyCapsule_GetPointer` would apply
# to the whole process.
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Owned:
    """A structure filled by another library. It is released when this object is garbage-collected."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure

    def __del__(self) -> None:
        if self.structure.release:
            self.structure.release(ctypes.byref(self.structure))


class _Memory:
    """Memory that NumPy reads in place. An array made from this object keeps `owner` alive."""

    def __init__(self, address: int, size: int, owner: _Owned) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, True), "shape": (size,), "typestr": "|u1", "version": 3}


class Stream(Reader):
    """The record batches of a stream. A stream of arrays without names is read as a table with one unnamed column.

    `dictionaries`: a cache of dictionaries that other streams may share.
    """

    def __init__(self, holder: Any, where: str, dictionaries: Dictionaries | None = None) -> None:
        self._where = where
        self._to_rows = "to_dicts()" if hasattr(holder, "to_dicts") else "to_pylist()"  # in polars and pyarrow
        capsule = holder.__arrow_c_stream__()
        try:
            stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
        except ValueError:
            raise TypeError(
                f"{where}: __arrow_c_stream__ returned {type(capsule).__name__}, which is not an Arrow stream"
            ) from None
        if not stream.release:
            raise ValueError(f"{where}: the Arrow stream has been read already; create it again")
        self._schema = _Owned(_Schema())
        self._check(stream, stream.get_schema(stream, self._schema.structure))
        self._batches: list[_Owned] = []
        self._dictionaries: Dictionaries = {} if dictionaries is None else dictionaries
        while True:
            batch = _Owned(_Array())
            self._check(stream, stream.get_next(stream, batch.structure))
            if not batch.structure.release:
                break
            self._batches.append(batch)
        schema = self._schema.structure
        self._bare = schema.format != b"+s"
        children = [] if self._bare else [schema.children[i].contents for i in range(schema.n_children)]
        self.names = [(child.name or b"").decode() for child in children]

    def rows_of(self, argument: str) -> str:
        return f"{argument}.{self._to_rows}"

    def _check(self, stream: Any, status: int) -> None:
        if status:
            message = (stream.get_last_error(stream) or b"no reason given").decode(errors="replace")
            raise ValueError(f"{self._where}: the Arrow stream failed: {message}")

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        """Return an array of numbers or a column of ids. `where` names the column in errors."""
        parts = [part.read(self._dictionaries, nulls=nulls) for part in self._parts(name, where)]
        parts = [part for part in parts if len(part)] or parts[:1]
        return join(parts) if parts else np.empty(0)

    def present(self, name: Any) -> Bools | None:
        masks = [part.present() for part in self._parts(name, f"{self._where}: column {name!r}")]
        mask = np.concatenate([np.empty(0, np.bool_), *masks])
        return None if mask.all() else mask

    def content(self, name: Any) -> str:
        schema = self._schema.structure
        schema = schema if self._bare else schema.children[self.names.index(name)].contents
        form = schema.format.decode()
        if form in ("+m", "+s"):
            return "mappings"
        if form in LISTS or form.startswith("+w:"):
            return "lists"
        is_id = bool(schema.dictionary) or form in ("u", "U", "z", "Z", "vu", "vz") or form in _NUMBERS
        return "ids" if is_id and form not in "efg" else "other"

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn:
        kind = self.content(name)
        if kind != "lists" and not single:
            raise TypeError(f"{where} must hold lists of ids")
        if kind == "other":
            raise TypeError(f"{where} must hold ids, lists of ids or mappings from id to grade")
        parts, count = [], 0
        for part in self._parts(name, where):
            part_lists = part.lists(self._dictionaries)
            parts.append(part_lists._replace(firsts=part_lists.firsts + count, lasts=part_lists.lasts + count))
            count += len(part_lists.ids)
        if not parts:
            return ListColumn(np.empty(0, np.bool_), NONE, NONE, np.empty(0))
        present, firsts, lasts = (np.concatenate([part[field] for part in parts]) for field in range(3))
        ids = [part.ids for part in parts if len(part.ids)] or [parts[0].ids]
        grades = None
        if parts[0].grades is not None:
            grades = np.concatenate([np.asarray(part.grades, np.float64) for part in parts])
        return ListColumn(present, firsts, lasts, join(ids), grades)

    def _parts(self, name: Any, where: str) -> Iterator[_Part]:
        """Yield the part of the column in each batch."""
        row = 0
        index = 0 if self._bare else self.names.index(name)
        for batch in self._batches:
            schema, array, start = self._schema.structure, batch.structure, batch.structure.offset
            length = array.length
            if not self._bare:
                _Part(schema, array, start, length, batch, where, row).refuse_nulls()
                schema, array = schema.children[index].contents, array.children[index].contents
                if start + length > array.length:
                    raise broken(where, "length is less than that of its batch")
                start += array.offset
            yield _Part(schema, array, start, length, batch, where, row)
            row += length


class _Part:
    """The part of a column in one batch."""

    def __init__(self, schema: Any, array: Any, start: int, length: int, owner: _Owned, where: str, row: int) -> None:
        self.format = schema.format.decode()
        self.schema, self.array, self.owner = schema, array, owner
        self.start, self.length = start, length
        self.where, self.row = where, row

    def read(self, dictionaries: Dictionaries, *, nulls: bool = False) -> Array | Ids:
        """Return the values.

        `dictionaries`: a cache of the dictionaries, which batches can share. `nulls`: whether nulls become an arbitrary
        number instead of an error.
        """
        if not self.length:
            return np.empty(0)
        if nulls and self.format == "n":
            return np.zeros(self.length)
        if not nulls:
            self.refuse_nulls()
        if self.schema.dictionary:
            return self._coded(dictionaries)
        if self.format in _NUMBERS:
            return self._numbers()
        if self.format == "b":
            return self._bits(1).view(np.bool_)
        if self.format in ("u", "z", "U", "Z"):
            return self._text()
        if self.format in ("vu", "vz"):
            return self._views()
        if self.format.startswith("w:"):
            width = int(self.format[2:])
            starts = np.arange(self.length) * width
            data = self._buffer(1, (self.start + self.length) * width)[self.start * width :]
            return TextIds(data, starts, starts + width, "bytes", self.where)
        raise TypeError(f"{self.where} is of Arrow's type {self.format!r}, which is neither numbers nor text; cast it")

    def refuse_nulls(self) -> None:
        if self._lacks_nulls:
            return
        present = self.present()
        if not present.all():
            raise refusal(_codes.NULL_ID, f"{self.where}, row {self.row + int(present.argmin())}")

    @property
    def _lacks_nulls(self) -> bool:
        """Whether the column declares that no value is null."""
        array = self.array
        return self.format != "n" and (array.null_count == 0 or not array.n_buffers or not array.buffers[0])

    def present(self) -> Bools:
        """Return a mask of the rows that are not null."""
        if self.format == "n":
            return np.zeros(self.length, np.bool_)
        if self._lacks_nulls:
            return np.ones(self.length, np.bool_)
        return self._bits(0).view(np.bool_)

    def lists(self, dictionaries: Dictionaries) -> ListColumn:
        """Read a column that has lists of ids, maps or structs from ids to grades, or single ids."""
        present = self.present()
        if not present.any() or (self.format == "+s" and not self.schema.n_children):
            rows = np.zeros(self.length, np.int64)
            return ListColumn(present, rows, rows, np.empty(0), np.empty(0) if self.format in ("+m", "+s") else None)
        if self.format == "+s":
            return self._structs(present)
        if self.schema.n_children == 0 or self.schema.dictionary:
            rows = np.arange(self.length)
            ids = self.read(dictionaries, nulls=True)
            return ListColumn(present, rows, ends_without(padding_of(ids), rows, rows + 1), ids)
        firsts, lasts = (np.where(present, bounds, 0) for bounds in self._bounds())
        schema, array = self.schema.children[0].contents, self.array.children[0].contents
        if np.any((firsts < 0) | (lasts < firsts) | (lasts > array.length)):
            raise broken(self.where, "offsets point outside its data")
        filled = present & (lasts > firsts)
        first, last = (int(firsts[filled].min()), int(lasts[filled].max())) if filled.any() else (0, 0)
        items = _Part(schema, array, array.offset + first, last - first, self.owner, self.where, self.row)
        firsts, lasts = (np.where(filled, bounds - first, 0) for bounds in (firsts, lasts))
        if self.format == "+m":
            keys, values = (items.child(index) for index in (0, 1))
            self._refuse_items(_codes.NULL_ID, ~values.present(), firsts, lasts)
            grades = values.read(dictionaries, nulls=True)
            if not isinstance(grades, np.ndarray):
                raise TypeError(f"{self.where} must hold numbers as the values of its maps")
            return ListColumn(present, firsts, lasts, keys.read(dictionaries), grades)
        if items.format.startswith("+"):
            refuse_nested(self.where, {} if items.format in ("+s", "+m") else [])
        nulls = ~items.present()
        if nulls.all():
            return ListColumn(present, np.zeros_like(firsts), np.zeros_like(firsts), np.empty(0))
        ids = items.read(dictionaries, nulls=True)
        lasts = ends_without(nulls | padding_of(ids), firsts, lasts)
        self._refuse_items(_codes.NULL_ID, nulls, firsts, lasts)
        if not isinstance(ids, np.ndarray) and (empty := are_empty(ids)) is not None:
            self._refuse_items(_codes.EMPTY_ID, empty, firsts, lasts)
        return ListColumn(present, firsts, lasts, ids)

    def child(self, index: int) -> _Part:
        """Return one field of a column of structs."""
        array = self.array.children[index].contents
        start = array.offset + self.start
        return _Part(self.schema.children[index].contents, array, start, self.length, self.owner, self.where, self.row)

    def _bounds(self) -> tuple[Ints, Ints]:
        """Return where the list of each row begins and ends among the items."""
        if self.format.startswith("+w:"):
            size = int(self.format[3:])
            firsts = np.arange(self.start, self.start + self.length) * size
            return firsts, firsts + size
        dtype = np.dtype(LISTS[self.format])
        views = self.format in ("+vl", "+vL")
        stop = self.start + self.length + (not views)
        bounds = self._buffer(1, stop * dtype.itemsize).view(dtype)[self.start :].astype(np.int64)
        if not views:
            return bounds[:-1], bounds[1:]
        return bounds, bounds + self._buffer(2, stop * dtype.itemsize).view(dtype)[self.start :]

    def _refuse_items(self, code: int, invalid: Bools, firsts: Ints, lasts: Ints) -> None:
        if invalid.any():
            before = offsets_of(invalid)
            rows = np.flatnonzero(before[lasts] > before[firsts])
            if len(rows):
                row = int(rows[0])
                position = int(invalid[firsts[row] : lasts[row]].argmax())
                raise refusal(code, f"{self.where}, row {self.row + row}, position {position}", IN_LISTS)

    def _structs(self, present: Bools) -> ListColumn:
        """Convert structs to mappings from field names to grades, leaving out null fields."""
        names = [(self.schema.children[index].contents.name or b"").decode() for index in range(self.schema.n_children)]
        fields = [self.child(index) for index in range(len(names))]
        for name, field in zip(names, fields, strict=True):
            if field.format not in (*_NUMBERS, "n"):
                raise TypeError(f"{self.where} must hold grades by id, and the field {name!r} holds no numbers")
        given = np.stack([field.present() for field in fields], axis=1) & present[:, None]
        values = np.stack([np.asarray(field.read({}, nulls=True), np.float64) for field in fields], axis=1)
        ids = ids_of([names[field] for field in np.nonzero(given)[1].tolist()])
        offsets = offsets_of(given.sum(axis=1))
        return ListColumn(present, offsets[:-1], offsets[1:], ids, values[given])

    def _buffer(self, index: int, stop: int, start: int = 0) -> Bytes:
        """Return bytes start … stop − 1 of a buffer."""
        address = self.array.buffers[index]
        if not address or not 0 <= start < stop:
            return np.empty(0, dtype=np.uint8)
        return np.asarray(_Memory(address + start, stop - start, self.owner))

    def _bits(self, index: int) -> Bytes:
        first = self.start // 8
        packed = self._buffer(index, (self.start + self.length + 7) // 8)[first:]
        return np.unpackbits(packed, bitorder="little")[self.start - 8 * first :][: self.length]

    def _numbers(self) -> Array:
        dtype = np.dtype(_NUMBERS[self.format])
        return self._buffer(1, (self.start + self.length) * dtype.itemsize).view(dtype)[self.start :]

    def _text(self) -> Ids:
        dtype = np.dtype(np.int32 if self.format in "uz" else np.int64)
        offsets = self._buffer(1, (self.start + self.length + 1) * dtype.itemsize).view(dtype)[self.start :]
        # Batches may be slices of one array. Restrict each batch to its part of the data, because joining the batches
        # copies their data.
        first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
        if first:
            offsets = np.subtract(offsets, first, dtype=np.int64)
        data = self._buffer(2, last, first)
        return TextIds(data, offsets[:-1], offsets[1:], _kind(self.format), self.where)

    def _views(self) -> Ids:
        count = self.array.n_buffers - 3
        sizes = self._buffer(self.array.n_buffers - 1, 8 * count).view(np.int64).tolist()
        views = self._buffer(1, 16 * (self.start + self.length))[16 * self.start :]
        return StringViewIds(
            views, [self._buffer(2 + i, size) for i, size in enumerate(sizes)], _kind(self.format), self.where
        )

    def _coded(self, dictionaries: Dictionaries) -> Array | Ids:
        values = self.array.dictionary.contents
        schema = self.schema.dictionary.contents
        key = values.offset, values.length, *(values.buffers[i] or 0 for i in range(values.n_buffers))
        if key not in dictionaries:
            where = f"{self.where}, categories"
            entries = _Part(schema, values, values.offset, values.length, self.owner, where, 0).read(dictionaries)
            integers = isinstance(entries, np.ndarray) and entries.dtype.kind in "iu"
            if len(dictionaries) == MOST_DICTIONARIES:  # each batch of an engine may have its own
                dictionaries.clear()
            dictionaries[key] = ids_of(entries) if integers else entries
        dictionary = dictionaries[key]
        codes = self._numbers()
        if isinstance(dictionary, np.ndarray):
            check_codes(codes, len(dictionary), self.where)
            return dictionary[codes]
        return DictionaryIds(codes, dictionary, self.where)


def _kind(form: str) -> str:
    return "str" if form in ("u", "U", "vu") else "bytes"
