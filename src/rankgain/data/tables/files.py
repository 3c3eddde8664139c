"""Read tables from Parquet, Arrow, JSON and delimited text files with pyarrow.

Files are recognised by their content. Only the columns that are used are read. Ids keep the type that they have in the
file; in delimited files, ids are text.
"""

from __future__ import annotations

import csv
import io
import json
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from rankgain.data.column_names import ROW_COLUMNS, default_columns
from rankgain.data.detect import DELIMITERS, is_number
from rankgain.data.files import BLOCK, MARK, File, FileInput, is_standard_input, opened
from rankgain.data.tables.arrow import Stream
from rankgain.data.tables.readers import ListColumn, Reader, content_of, refuse_nested
from rankgain.errors import import_extra, quoted
from rankgain.scalars import Array, Bools

MOST_BLOCK = (1 << 31) - 1  # largest block that pyarrow can parse, in bytes


def read_table(kind: str, head: bytes, source: FileInput, argument: str) -> tuple[str, Any]:
    """Return the name of a file, and the table, dicts or lists in it.

    `kind` is the kind of file, as recognised from `head`, its first bytes.
    """
    with opened(source, argument) as file:
        title = file.name
        if file.is_plain and isinstance(source, (str, os.PathLike)) and not is_standard_input(source):
            contents = _Contents(os.fspath(source))  # pyarrow opens the file itself
        else:
            contents = _Contents(_whole(file))
    if kind == "json":
        return title, _read_json(head, contents, title)
    if kind == "delimited":
        return title, DelimitedFile(contents, title, head)
    return title, (ParquetFile if kind == "parquet" else ArrowFile)(contents, title)


def _whole(file: File) -> bytes:
    parts = []
    while part := file.read(BLOCK):
        parts.append(part)
    return b"".join(parts)


class _Contents:
    """A file for pyarrow to read, given as a path or as bytes in memory."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def open(self) -> Any:
        pa = import_extra("pyarrow", "arrow")
        return pa.BufferReader(self._data) if isinstance(self._data, bytes) else pa.OSFile(os.fsdecode(self._data))

    def bytes(self) -> bytes:
        if isinstance(self._data, bytes):
            return self._data
        with open(self._data, "rb") as file:
            return file.read()


class TableFile(Reader):
    """A table that pyarrow reads from a file. Each column is read when it is first used."""

    form = "table"

    def __init__(self, source: _Contents, title: str) -> None:
        self.title = title
        self._source = source
        self._tables: dict[Any, Any] = {}
        self._streams: dict[Any, Stream] = {}

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:
        ids, numbers = list(ids), list(numbers)
        if any(self.names.count(name) > 1 for name in ids + numbers):
            return  # `Frame` raises an error for repeated column names
        ids, numbers = ([name for name in names if name not in self._tables] for names in (ids, numbers))
        if ids or numbers:
            table = self._read(ids, numbers)
            self._tables |= dict.fromkeys(table.column_names, table)
            self._streams |= dict.fromkeys(table.column_names, Stream(table, self.title))

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        return self._stream(name).column(name, where, nulls=nulls)

    def present(self, name: Any) -> Bools | None:
        return self._stream(name).present(name)

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn | list[Any]:
        self.prepare([name])
        return self._streams[name].lists(name, where, single=single)

    def _stream(self, name: Any) -> Stream:
        self.prepare([], [name])
        return self._streams[name]

    @abstractmethod
    def _read(self, ids: list[Any], numbers: list[Any]) -> Any:
        """Read the columns named in `ids` and `numbers` into a pyarrow table."""

    def _refuse(self, error: Exception) -> NoReturn:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(f"{self.title}: pyarrow cannot read this {self.form}: {reason}") from None

    def _calling(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call a pyarrow function and add the file name to any error that it raises."""
        pa = import_extra("pyarrow", "arrow")
        try:
            return function(*arguments, **keywords)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
                raise
            self._refuse(error)


class TypedFile(TableFile):
    """A table file with a schema that gives the names and types of the columns."""

    def _set_schema(self, schema: Any) -> None:
        self.schema = schema
        self.names = list(schema.names)

    def content(self, name: Any) -> str:
        pa = import_extra("pyarrow", "arrow")
        empty = pa.table([pa.array([], self.schema.field(name).type)], names=[name])
        return Stream(empty, self.title).content(name)

    def is_numeric(self, name: Any) -> bool:
        types = import_extra("pyarrow", "arrow").types
        kind = self.schema.field(name).type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


class ParquetFile(TypedFile):
    form = "parquet file"

    def __init__(self, source: _Contents, title: str) -> None:
        super().__init__(source, title)
        self._set_schema(self._open().schema_arrow)

    def _open(self) -> Any:
        return self._calling(import_extra("pyarrow.parquet", "arrow").ParquetFile, self._source.open())

    def _read(self, ids: list[Any], numbers: list[Any]) -> Any:
        return self._calling(self._open().read, columns=[*ids, *numbers])


class ArrowFile(TypedFile):
    form = "Arrow file"

    def __init__(self, source: _Contents, title: str) -> None:
        super().__init__(source, title)
        self._set_schema(self._open().schema)

    def _open(self, **options: Any) -> Any:
        return self._calling(import_extra("pyarrow", "arrow").ipc.open_file, self._source.open(), **options)

    def _read(self, ids: list[Any], numbers: list[Any]) -> Any:
        fields = [self.names.index(name) for name in (*ids, *numbers)]
        options = import_extra("pyarrow", "arrow").ipc.IpcReadOptions(included_fields=sorted(set(fields)))
        return self._calling(self._open(options=options).read_all)


class TextFile(TableFile):
    """A text file that contains a table. pyarrow parses it in blocks of whole rows."""

    def _parse(self, read: Callable[[int], Any], explain: Callable[[], None]) -> Any:
        """Return the table from `read(block)`, increasing the block size until the longest row fits.

        `explain` raises the error for the first invalid row, if it can identify one.
        """
        pa = import_extra("pyarrow", "arrow")
        block = 1 << 20
        while True:
            try:
                return read(block)
            except pa.ArrowException as error:
                if "straddling" in str(error) and block < MOST_BLOCK:
                    block = min(block * 4, MOST_BLOCK)
                    continue
                explain()
                self._refuse(error)


class DelimitedFile(TextFile):
    """CSV or other delimited text with a header line. Ids are read as text, unchanged."""

    form = "delimited file"
    text_ids = True

    def __init__(self, source: _Contents, title: str, head: bytes) -> None:
        super().__init__(source, title)
        line = next(line for line in head.split(b"\n") if line.strip())
        self._delimiter = max(DELIMITERS, key=line.count).decode()
        self.names = next(csv.reader([line.decode("utf-8", "replace").rstrip("\r")], delimiter=self._delimiter))
        self._is_empty = not head.partition(line)[2].strip()
        if not default_columns(self.names):
            self.remark = "; is the first line data? Then add a header with the names of the columns"

    def content(self, name: Any) -> str:
        return "ids"

    def lists(self, name: Any, where: str, *, single: bool = False) -> NoReturn:
        raise TypeError(f"{where} holds text: a delimited file has no lists; write parquet or JSON lines")

    def integers(self, name: Any) -> Array | None:
        pa = import_extra("pyarrow", "arrow")
        column = self._tables[name][name]
        try:
            numbers = column.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        if column.null_count or not numbers.cast(pa.string()).equals(column):
            return None
        integers: Array = numbers.to_numpy()
        return integers

    def _read(self, ids: list[Any], numbers: list[Any]) -> Any:
        pa, pc = import_extra("pyarrow", "arrow"), import_extra("pyarrow.csv", "arrow")
        types = dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
        if self._is_empty:
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        return self._parse(
            lambda block: self._csv(pc, block, types), lambda: self._explain(dict.fromkeys(types, pa.string()), numbers)
        )

    def _csv(self, pc: Any, block: int, types: Mapping[Any, Any], *, threads: bool = True, handler: Any = None) -> Any:
        return pc.read_csv(
            self._source.open(),
            read_options=pc.ReadOptions(block_size=block, use_threads=threads),
            parse_options=pc.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=handler
            ),
            convert_options=pc.ConvertOptions(
                column_types=types,
                include_columns=[*types],
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    def _explain(self, texts: Mapping[Any, Any], numbers: Iterable[Any]) -> None:
        """Raise the error for the first invalid row, if there is one."""
        pa, pc = import_extra("pyarrow", "arrow"), import_extra("pyarrow.csv", "arrow")
        invalid: list[Any] = []

        def stop(row: Any) -> str:
            invalid.append(row)
            return "error"

        try:
            table = self._csv(pc, 1 << 24, texts, threads=False, handler=stop)
        except pa.ArrowException as error:
            if invalid:
                row = invalid[0]
                where = "" if row.number is None else f" row {row.number - 2}:"
                raise ValueError(
                    f"{self.title}:{where} it has {row.actual_columns} fields, and the header has "
                    f"{row.expected_columns}: {quoted(row.text)}"
                ) from None
            if "UTF8" in str(error):
                raise ValueError(f"{self.title}: the text is not UTF-8; convert it, for instance with iconv") from None
            return
        for name in numbers:
            for row, text in enumerate(table[name].to_pylist()):
                if text is not None and not is_number(text.encode()):
                    raise ValueError(f"{self.title}: column {name!r}, row {row}: {quoted(text)} is not a number")


class JsonLines(TextFile):
    """A file with one JSON object per line. Columns have the types of their JSON values."""

    form = "JSON file"

    def __init__(self, source: _Contents, title: str, records: list[dict[str, Any]]) -> None:
        super().__init__(source, title)
        self._completed = False
        self._kinds: dict[str, Any] = {}
        self._add(records)

    def _add(self, records: Iterable[Any]) -> None:
        """For each key in the records, store the first value that is neither null nor an empty list."""
        kinds = self._kinds
        for record in records:
            if isinstance(record, dict):
                for name, value in record.items():
                    if kinds.get(name) in (None, []):
                        kinds[name] = value
        self.names = list(kinds)

    def complete(self) -> bool:
        known = len(self.names)
        if not self._completed:
            self._completed = True
            self._add(self.records())
        return len(self.names) > known

    def is_numeric(self, name: Any) -> bool:
        return isinstance(self._kinds[name], (int, float))

    def content(self, name: Any) -> str:
        return content_of([self._kinds[name]])

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn | list[Any]:
        if self.content(name) == "mappings":  # pyarrow would add the keys from all rows to every mapping
            return [record.get(name) for record in self.records()]
        return super().lists(name, where, single=single)

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:
        ids = list(ids)
        for name in ids:
            value = self._kinds[name]
            if isinstance(value, list) and value:
                refuse_nested(f"{self.title}: column {name!r}", value[0])
        super().prepare([name for name in ids if self.content(name) != "mappings"], numbers)

    def records(self) -> list[Any]:
        """Return all records, parsed with the json module."""
        rows = []
        for number, line in enumerate(io.BytesIO(self._source.bytes().removeprefix(MARK))):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except ValueError as error:
                    raise ValueError(f"{self.title}: line {number + 1} is not valid JSON: {error}") from None
        return rows

    def _read(self, ids: list[Any], numbers: list[Any]) -> Any:
        pa, pj = import_extra("pyarrow", "arrow"), import_extra("pyarrow.json", "arrow")
        for name in numbers:
            if self._kinds[name] is not None and not self.is_numeric(name):
                kind = type(self._kinds[name]).__name__
                raise TypeError(f"{self.title}: column {name!r} holds {kind}, and must hold numbers")
        schema = pa.schema(
            [(name, _arrow_type(pa, self._kinds[name])) for name in ids] + [(name, pa.float64()) for name in numbers]
        )
        options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        return self._parse(
            lambda block: pj.read_json(self._source.open(), pj.ReadOptions(block_size=block), options),
            lambda: self._explain([*ids, *numbers], numbers),
        )

    def _explain(self, names: Iterable[str], numbers: Iterable[str]) -> None:
        """Raise the error for the first invalid line, if there is one."""
        numeric, first = {*numbers}, dict.fromkeys(names)
        for row, record in enumerate(self.records()):
            if not isinstance(record, dict):
                raise ValueError(f"{self.title}: row {row} must be an object, not {quoted(record)}")
            for name in first:
                where, value = f"{self.title}: column {name!r}, row {row}", record.get(name)
                kind = _json_kind(value)
                if name in numeric and kind not in ("integers", "numbers", "null"):
                    raise ValueError(f"{where}: {quoted(value)} is not a number")
                if kind == "null" or name in numeric:
                    continue
                if kind == "integers" and isinstance(value, int) and not -(2**63) <= value < 2**63:
                    raise ValueError(f"{where}: {value} does not fit in a signed 64-bit integer; write ids as text")
                first[name] = first[name] or kind
                if kind != first[name]:
                    raise ValueError(f"{where}: {quoted(value)}: earlier rows hold {first[name]}; write one type")


def _json_kind(value: Any) -> str:
    """Describe the type of a JSON value in words. For a list, describe the type of its items."""
    if isinstance(value, list):
        kinds = dict.fromkeys(map(_json_kind, value))
        return f"lists of {'mixed ' if len(kinds) > 1 else ''}{next(iter(kinds), 'text')}"
    if value is None:
        return "null"
    names = {bool: "booleans", int: "integers", float: "numbers", str: "text", dict: "objects"}
    return names[type(value)]


def _arrow_type(pa: Any, value: Any) -> Any:
    """Return the Arrow type for a JSON value."""
    if isinstance(value, list):
        return pa.list_(_arrow_type(pa, value[0] if value else None))
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, (int, float)):
        return pa.int64() if isinstance(value, int) else pa.float64()
    return pa.string()


def _read_json(head: bytes, source: _Contents, title: str) -> Any:
    """Return the table in a file of JSON lines, or the dicts or lists in a JSON document."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    try:
        first = json.loads(lines[0])
    except ValueError:
        first = None
    if isinstance(first, dict) and (len(lines) > 1 or _is_record(first)):
        records = [first]
        for line in lines[1:1000]:
            with suppress(ValueError):  # `head` may end in the middle of a line
                records.append(json.loads(line))
        return JsonLines(source, title, records)
    try:
        document = json.loads(source.bytes().removeprefix(MARK))
    except ValueError as error:
        raise ValueError(f"{title} is not valid JSON: {error}") from None
    return _of_document(document, title)


def _is_record(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a table row, i.e. has a scalar value or the lists of a single query."""
    if any(not isinstance(item, (dict, list)) for item in value.values()):
        return True
    retrieved = [value[name] for name in ROW_COLUMNS["retrieved"] if name in value]
    flat = any(isinstance(ids, list) and not any(isinstance(item, list) for item in ids) for ids in retrieved)
    return flat and not value.keys().isdisjoint(ROW_COLUMNS["relevant"])


def _of_document(document: Any, title: str) -> Any:
    """Check that a JSON document holds records, dicts or lists, and return it."""
    if isinstance(document, list):
        if not document:
            raise ValueError(f"{title} is an empty list")
        return document
    if not isinstance(document, dict) or not document:
        raise ValueError(f"{title} must hold records, or documents by query; it is {quoted(document)}")
    if {"query", "doc"} <= default_columns(document).keys() and all(
        isinstance(each, dict) for each in document.values()
    ):
        raise ValueError(
            f"{title} holds a table by column; write it by row: frame.to_json(path, orient='records', lines=True)"
        )
    return document
