"""Read tables from Parquet, Arrow, JSON and delimited text files with pyarrow.

Files are recognised by their content. Only the columns that are used are read. Ids keep the type that they have in the
file; in delimited files, ids are text.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from rankgain.data.advice.layouts import DECIMAL_COMMA, format_advice, layout_advice
from rankgain.data.column_names import ROW_COLUMNS, default_columns
from rankgain.data.detect import DELIMITERS
from rankgain.data.files import BLOCK, MARK, FileInput, is_standard_input, opened
from rankgain.data.tables.arrow import Stream
from rankgain.data.tables.readers import ListColumn, Reader, content_of
from rankgain.data.tables.records import Records
from rankgain.errors import import_extra, quoted
from rankgain.scalars import Array, Bools, decimal

MOST_BLOCK = (1 << 31) - 1  # largest block that pyarrow can parse, in bytes


def read_table(kind: str, head: bytes, source: FileInput, argument: str) -> tuple[str, Any]:
    """Return the name of a file, and the table, dicts or lists in it.

    `kind` is the kind of file, as recognised from `head`, its first bytes.
    """
    with opened(source, argument) as file:
        title: str = file.name
        data: Any = source
        if not file.is_plain or not isinstance(source, (str, os.PathLike)) or is_standard_input(source):
            data = b"".join(iter(lambda: file.read(BLOCK), b""))  # otherwise, pyarrow opens the file itself
    if kind == "json":
        return title, _read_json(head, data, title)
    if kind == "delimited":
        return title, DelimitedFile(data, title, head)
    return title, TypedFile(data, title, kind)


class TableFile(Reader):
    """A table that pyarrow reads from a file. Each column is read when it is first used.

    `data`: the path of the file, or its contents as bytes.
    """

    form = "table"

    def __init__(self, data: Any, title: str) -> None:
        self.title = title
        self._data = data
        self._tables: dict[Any, Any] = {}
        self._readers: dict[Any, Reader] = {}

    def rows_of(self, argument: str) -> str:
        return "rows"

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:
        ids, numbers = list(ids), list(numbers)
        if any(self.names.count(name) > 1 for name in ids + numbers):
            return  # `Frame` raises an error for repeated column names
        ids, numbers = ([name for name in names if name not in self._readers] for names in (ids, numbers))
        if ids or numbers:
            pa = import_extra("pyarrow", "arrow")
            with self._named_errors(pa):
                table = self._read(pa, ids, numbers)
            self._tables |= dict.fromkeys(table.column_names, table)
            self._readers |= dict.fromkeys(table.column_names, Stream(table, self.title))

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        return self._reader(name).column(name, where, nulls=nulls)

    def present(self, name: Any) -> Bools | None:
        return self._reader(name).present(name)

    def lists(self, name: Any, where: str, *, single: bool = False) -> ListColumn | list[Any]:
        self.prepare([name])
        return self._readers[name].lists(name, where, single=single)

    def _reader(self, name: Any) -> Reader:
        self.prepare([], [name])
        return self._readers[name]

    @abstractmethod
    def _read(self, pa: Any, ids: list[Any], numbers: list[Any]) -> Any:
        """Read the columns named in `ids` and `numbers` into a pyarrow table."""

    def _open(self, pa: Any) -> Any:
        return pa.BufferReader(self._data) if isinstance(self._data, bytes) else pa.OSFile(os.fsdecode(self._data))

    @contextmanager
    def _named_errors(self, pa: Any) -> Iterator[None]:
        """Add the name of the file to errors of pyarrow."""
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
                raise
            reason = str(error).partition("\n")[0].rstrip(".")
            raise ValueError(f"{self.title}: pyarrow cannot read this {self.form}: {reason}") from None


class TypedFile(TableFile):
    """A Parquet or Arrow file, whose schema gives the names and types of the columns."""

    def __init__(self, data: Any, title: str, kind: str) -> None:
        super().__init__(data, title)
        self.form = "parquet file" if kind == "parquet" else "Arrow file"
        pa, ds = import_extra("pyarrow", "arrow"), import_extra("pyarrow.dataset", "arrow")
        with self._named_errors(pa):
            self._form = ds.ParquetFileFormat() if kind == "parquet" else ds.IpcFileFormat()
            self._schema = self._form.inspect(self._open(pa))
        self.names = list(self._schema.names)

    def content(self, name: Any) -> str:
        return Stream(self._schema.empty_table(), self.title).content(name)

    def is_numeric(self, name: Any) -> bool:
        types = import_extra("pyarrow", "arrow").types
        kind = self._schema.field(name).type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))

    def _read(self, pa: Any, ids: list[Any], numbers: list[Any]) -> Any:
        return self._form.make_fragment(self._open(pa)).to_table(columns=[*ids, *numbers])


def _header(line: bytes, delimiter: str, title: str) -> list[str]:
    """Return the names of the columns from the first line of delimited text."""
    try:
        names = next(csv.reader([line.decode("utf-8", "replace").rstrip("\r")], delimiter=delimiter))
    except csv.Error as error:
        names, reason = [], f"the names of the columns cannot be read: {error}"
    else:
        reason = ""
    if not default_columns(names):
        reason = layout_advice(title, line, of_run=True, is_first=True) or reason
    if reason:
        raise ValueError(f"{title}: line 1: {reason}")
    return names


def _in_blocks(pa: Any, read: Callable[[int], Any]) -> Any:
    """Return the table from `read(block)`, increasing the size of the blocks until the longest row fits in one."""
    block = 1 << 20
    while True:
        try:
            return read(block)
        except pa.ArrowException as error:
            if "straddling" not in str(error) or block == MOST_BLOCK:
                raise
            block = min(block * 4, MOST_BLOCK)


class DelimitedFile(TableFile):
    """CSV or other delimited text with a header line. pyarrow reads text; ids remain unchanged."""

    form = "delimited file"
    text_ids = True

    def __init__(self, data: Any, title: str, head: bytes) -> None:
        super().__init__(data, title)
        line = next(line for line in head.split(b"\n") if line.strip())
        if advice := format_advice(head):
            raise ValueError(f"{title} is {advice}")
        self._delimiter = max(DELIMITERS, key=line.count).decode()
        self.names = _header(line, self._delimiter, title)
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

    def _read(self, pa: Any, ids: list[Any], numbers: list[Any]) -> Any:
        names = dict.fromkeys([*ids, *numbers])
        if self._is_empty:
            return pa.table({name: pa.array([], pa.string() if name in ids else pa.float64()) for name in names})
        table = self._texts(pa, list(names))
        columns = {name: self._numbers(pa, name, table[name]) if name in numbers else table[name] for name in names}
        return pa.table(columns)

    def _texts(self, pa: Any, names: list[Any], *, threads: bool = True) -> Any:
        """Read columns as text. Raise an error for the first row that is invalid."""
        pc = import_extra("pyarrow.csv", "arrow")
        invalid: list[Any] = []

        def stop(row: Any) -> str:
            invalid.append(row)
            return "error"

        parsing = pc.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=stop)
        converting = pc.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=names,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        )
        try:
            return _in_blocks(
                pa,
                lambda block: pc.read_csv(
                    self._open(pa), pc.ReadOptions(use_threads=threads, block_size=block), parsing, converting
                ),
            )
        except pa.ArrowException as error:
            if "UTF8" in str(error):
                raise ValueError(f"{self.title}: the text is not UTF-8; convert it, for instance with iconv") from None
            if not invalid:
                raise
        if threads:  # only one thread counts the rows
            return self._texts(pa, names, threads=False)
        row = invalid[0]
        raise ValueError(
            f"{self.title}: row {row.number - 2}: it has {row.actual_columns} fields, and the header has "
            f"{row.expected_columns}: {quoted(row.text)}"
        )

    def _numbers(self, pa: Any, name: Any, texts: Any) -> Any:
        """Convert a column of text to numbers, as Python reads them."""
        try:
            return texts.cast(pa.float64())
        except pa.ArrowInvalid:
            numbers = texts.to_pylist()
        for row, text in enumerate(numbers):
            if text is not None:
                numbers[row] = decimal(text.encode())
                if numbers[row] is None:
                    advice = f"; {DECIMAL_COMMA}" if re.fullmatch(r"-?\d+,\d+", text) else ""
                    raise ValueError(
                        f"{self.title}: column {name!r}, row {row}: {quoted(text)} is not a number{advice}"
                    )
        return pa.array(numbers, pa.float64())


class JsonLines(TableFile):
    """A file with one JSON object per line.

    pyarrow reads columns of one type. Everything else is read as `Records`: objects as values, columns that only later
    lines have, and lines that pyarrow does not accept, so that `Frame` finds what is wrong with them.
    """

    form = "JSON file"

    def __init__(self, data: Any, title: str, records: list[Any]) -> None:
        super().__init__(data, title)
        self._records: Records | None = None
        self._first: dict[str, Any] = {}  # the first value of each column that is neither null nor an empty list
        for record in records:
            for name, value in record.items() if isinstance(record, dict) else ():
                if self._first.get(name) in (None, []):
                    self._first[name] = value
        self.names = list(self._first)

    def _all(self) -> Records:
        if self._records is None:
            self._records = Records(_lines(self._data, self.title), self.title)
        return self._records

    def values_of_lines(self) -> Any:
        rows = self._all().rows
        return rows[0] if len(rows) == 1 else list(rows)

    def complete(self) -> bool:
        known = len(self.names)
        self._all().complete()
        self.names = self._all().names
        return len(self.names) > known

    def is_numeric(self, name: Any) -> bool | None:
        return None if self._records else isinstance(self._first[name], (int, float))

    def content(self, name: Any) -> str:
        return self._records.content(name) if self._records else content_of([self._first[name]])

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:
        ids, numbers = list(ids), list(numbers)
        if any(isinstance(self._first.get(name), dict) for name in ids):
            self._all()  # pyarrow would add the keys from all rows to every mapping
        if self._records is None:
            super().prepare(ids, numbers)
        if self._records is not None:
            self._readers |= dict.fromkeys(ids + numbers, self._records)

    def _read(self, pa: Any, ids: list[Any], numbers: list[Any]) -> Any:
        pj = import_extra("pyarrow.json", "arrow")
        types = [(name, _arrow_type(pa, self._first[name])) for name in ids] + [
            (name, pa.float64()) for name in numbers
        ]
        options = pj.ParseOptions(explicit_schema=pa.schema(types), unexpected_field_behavior="ignore")
        try:
            return _in_blocks(pa, lambda block: pj.read_json(self._open(pa), pj.ReadOptions(block_size=block), options))
        except pa.ArrowException:
            self._all()
            return pa.table({})


def _lines(data: Any, title: str) -> list[Any]:
    """Return the values in the lines of a file, parsed with the json module."""
    rows = []
    for number, line in enumerate(io.BytesIO(_text(data))):
        if line.strip():
            rows.append(_parsed(line, f"{title}: line {number + 1}", "column"))
    return rows


class _Repeating(dict[str, Any]):
    """A JSON object that has a key twice, of which only the last value is left."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.key, self.position = next((key, at) for at, key in enumerate(keys) if key in keys[:at])


def _parsed(text: bytes, where: str, key: str) -> Any:
    """Parse JSON. Refuse an object that has a key twice, because the parser would drop its first value.

    `key`: what the keys are called, if the value is an object.
    """
    repeating: list[_Repeating] = []

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            record = _Repeating(pairs)
            repeating.append(record)
        return record

    try:
        value = json.loads(text, object_pairs_hook=read)
    except ValueError as error:
        raise ValueError(f"{where} is not valid JSON: {error}") from None
    if repeating:
        inside, record = next(_repeating(value, "", key), ("", repeating[0]))
        raise ValueError(
            f"{where}{inside}: position {record.position}: the key {quoted(record.key)} repeats an earlier one"
        )
    return value


def _repeating(value: Any, where: str, key: str) -> Iterator[tuple[str, _Repeating]]:
    """Yield the objects inside a value that have a key twice, and where they are."""
    if isinstance(value, _Repeating):
        yield where, value
    if isinstance(value, list):
        for row, item in enumerate(value):
            yield from _repeating(item, f"{where}: row {row}", "column")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _repeating(item, f"{where}: {key} {quoted(name)}", "key")


def _text(data: Any) -> bytes:
    """Return the text of a file without its byte-order mark."""
    if not isinstance(data, bytes):
        with open(data, "rb") as file:
            data = file.read()
    return bytes(data).removeprefix(MARK)


def _arrow_type(pa: Any, value: Any) -> Any:
    """Return the Arrow type for a JSON value."""
    if isinstance(value, list):
        return pa.list_(_arrow_type(pa, value[0] if value else None))
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, (int, float)):
        return pa.int64() if isinstance(value, int) else pa.float64()
    return pa.string()


def _read_json(head: bytes, data: Any, title: str) -> Any:
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
        return JsonLines(data, title, records)
    return _of_document(_parsed(_text(data), title, "query"), title)


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
