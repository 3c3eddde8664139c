"""Read the columns of pandas frames, mappings of arrays, and anything that exports an Arrow C stream.

This module does not import any library that the caller has not imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankgain import _codes
from rankgain.data.advice.foreign import all_numeric_texts, container_advice
from rankgain.data.advice.list_texts import EXAMINED, refuse_list_texts
from rankgain.data.arrays import vector_of
from rankgain.data.column_names import (
    DEFAULT_COLUMNS,
    ROW_COLUMNS,
    SCORES_IF_NUMERIC,
    ColumnName,
    QueryKey,
    bare,
    check_spelling,
    default_columns,
    is_pandas,
    key_columns,
)
from rankgain.data.groups import QueryRows
from rankgain.data.ids import (
    ChunkedArray,
    ChunkedIds,
    DictionaryIds,
    Ids,
    ObjectIds,
    StringViewIds,
    TextIds,
    begins_with_bracket,
    ids_of,
    python_ids,
    refuse_empty,
)
from rankgain.data.ragged import flat_numbers
from rankgain.data.tables.readers import ListColumn, Reader, content_of, refuse_nested
from rankgain.data.tables.records import Records
from rankgain.errors import InputError, refusal
from rankgain.scalars import Array, Bools, id_kind, without_none

# Parts of column names, in order of preference. The error for a missing column suggests an existing column whose name
# contains one of these parts.
_NAME_PARTS = {
    "query": ("query", "question", "qid", "user", "customer", "session", "topic", "search"),
    "doc": ("doc", "item", "movie", "product", "passage", "chunk", "article", "track", "book", "asin", "page", "url"),
    "relevance": ("rel", "grade", "label", "rating", "gain", "judg", "target", "click"),
    "score": ("score", "pred", "sim", "prob", "logit", "bm25"),
    "rank": ("rank", "position"),
    "subtopic": ("topic", "nugget", "aspect", "intent", "facet", "fact", "iter"),
}


class Frame:
    """A table whose columns are selected by the names that the caller gives or, by default, by usual names."""

    def __init__(self, frame: Any, argument: str) -> None:
        self._reader = _reader(frame, argument)
        self.argument = self._reader.title or argument
        self.text_ids = self._reader.text_ids
        self._set_defaults()

    def _set_defaults(self) -> None:
        self._defaults = default_columns(self.names)
        score = self._defaults.get("score", "")
        if score and bare(score) in SCORES_IF_NUMERIC and not self.is_numeric(score):
            del self._defaults["score"]

    @property
    def names(self) -> list[Any]:
        return self._reader.names

    def prepare(self, ids: Iterable[Any], numbers: Iterable[Any] = ()) -> None:
        """If the table is a file, read the given columns of ids and numbers in one pass."""
        self._reader.prepare([column for key in ids for column in key_columns(key)], numbers)

    def complete(self) -> None:
        """Look for columns that only later rows have, as is possible in records and JSON lines."""
        if self._reader.complete():
            self._set_defaults()

    def find(self, role: str, name: QueryKey | None) -> Any:
        """Return the column name for a role, or None if the caller named none and no column has a usual name.

        Queries may be named by a key of several columns, a list.
        """
        if name is None:
            column = self._defaults.get(role)
            if column is not None:
                check_spelling(self.names, column, self.argument)
            return column
        if isinstance(name, list) and (role != "query" or not name or len(set(name)) < len(name)):
            one = "a list of different columns" if role == "query" else "the name of one column"
            raise TypeError(f"{role} must be {one}, not {name!r}")
        if any(column not in self.names for column in key_columns(name)):
            self.complete()
        for column in key_columns(name):
            if column not in self.names:
                is_key = isinstance(column, tuple) and all(part in self.names for part in column)
                hint = f"; for one key of several columns, write {role}={list(column)!r}" if is_key else ""
                raise ValueError(f"{self.argument} has no column {column!r}; there are: {self.listed()}{hint}")
        return name[0] if isinstance(name, list) and len(name) == 1 else name

    def need(self, role: str, name: QueryKey | None, advice: str = "") -> Any:
        """Return the column name for a role, or raise an error that ends with `advice` if there is no such column."""
        column = self.find(role, name)
        if column is None:
            self.complete()
            column = self.find(role, name)
        if column is None:
            if role == "doc":
                self._refuse_rows_by_query()
            expected = ", ".join(DEFAULT_COLUMNS[role])
            if role == "score":
                expected += f", or {', '.join(DEFAULT_COLUMNS['rank'])}"
            raise ValueError(
                f"{self.argument} has no {role} column (expected {expected}; found {self.listed()}): "
                f"pass {advice or self._suggestion(role)}"
            )
        return column

    def _refuse_rows_by_query(self) -> None:
        """Refuse a table without documents whose rows hold lists, one of several tables with a row per query."""
        query = self._defaults.get("query")
        lists = [name for name in self.names if self._holds_lists(name)]
        if query is None or not lists:
            return
        usual = {name for names in ROW_COLUMNS.values() for name in names}
        column = next((name for name in lists if name in usual), lists[0])
        line = self._reader.by_query(query, column, self.argument)
        raise ValueError(
            f"{self.argument} has a row per query, and lists in {', '.join(map(repr, lists))}: pass the ids by query, "
            f"{line}, and those of the other side, too"
        )

    def _holds_lists(self, name: Any) -> bool:
        try:
            return self.content(name) in ("lists", "mappings")
        except (TypeError, ValueError):  # the column cannot be read
            return False

    def _suggestion(self, role: str) -> str:
        """Return the keyword for a role, with the name of a plausible column if there is one: "doc='asin'"."""
        others = [name for name in self.names if isinstance(name, str) and name not in self._defaults.values()]
        for keyword in (role, "rank") if role == "score" else (role,):
            for part in _NAME_PARTS[keyword]:
                for name in others:
                    if part in bare(name):
                        return f"{keyword}={name!r}"
        if self.names and all(isinstance(name, int) for name in self.names):
            return f"the number of the column, such as {role}={self.names[0]}"
        if role != "score":
            return f"{role}="
        numbered = (
            ""
            if (query := self._defaults.get("query")) is None
            else (
                f"; if the rows of each query are in rank order, write run_df['rank'] = "
                f"run_df.groupby({query!r}).cumcount() + 1"
            )
        )
        return f"score= or, if lower is better, rank={numbered}"

    def is_numeric(self, name: ColumnName) -> bool:
        """Return whether a column holds numbers."""
        numeric = self._reader.is_numeric(name)
        if numeric is None:
            try:
                self.numbers(name)
            except (TypeError, ValueError):
                return False
        return numeric is not False

    def listed(self) -> str:
        return f"{', '.join(map(str, self.names)) or 'none'}{self._reader.remark}"

    def ids(self, name: ColumnName, *, as_integers: bool = False) -> Ids:
        """Return the ids in a column.

        `as_integers`: whether to convert text from an untyped file to integers if this is lossless.
        """
        self.prepare([name])
        integers = self._reader.integers(name) if as_integers else None
        ids = self.texts(name) if integers is None else _as_ids(integers, self.where(name))
        refuse_empty(ids, self.where(name))
        return ids

    def texts(self, name: ColumnName) -> Ids:
        """Return the texts or integers in a column. Unlike ids, texts may be empty."""
        self.prepare([name])
        return _as_ids(self._read(name), self.where(name))

    def queries(self, key: QueryKey, like: Any = None) -> QueryRows:
        """Return the rows of each query. A key of several columns gives queries that are tuples.

        `like`: a query of the other side. Text from an untyped file becomes integers where that query has integers.
        """
        self.prepare([key])
        if not isinstance(key, list):
            return QueryRows.of(self.ids(key, as_integers=id_kind(like) is int))
        parts = like if isinstance(like, tuple) and len(like) == len(key) else [None] * len(key)
        return QueryRows.joint([self.queries(column, part) for column, part in zip(key, parts, strict=True)])

    def documents(self, name: ColumnName, *, as_integers: bool = False) -> Ids:
        """Return the ids in a column of documents. Unlike `ids`, refuse texts that represent lists."""
        ids = self.ids(name, as_integers=as_integers)
        if ids.kind == "str" and begins_with_bracket(ids):
            texts = python_ids(ids.take(slice(0, EXAMINED)), "str")
            refuse_list_texts(texts, f"{self.where(name)}, which must have a row per document,")
        return ids

    def numbers(self, name: ColumnName, *, nulls: bool = False) -> Any:
        """Return the numbers in a column. `nulls`: whether nulls become an arbitrary number instead of an error."""
        self.prepare([], [name])
        try:
            return _as_numbers(self._read(name, nulls=nulls), self.where(name))
        except TypeError:
            present = None if nulls else self._reader.present(name)
            if present is None:
                self._refuse_texts(name)
                raise
            raise refusal(_codes.NULL_ID, f"{self.where(name)}, row {int(present.argmin())}") from None

    def _refuse_texts(self, name: ColumnName) -> None:
        """Refuse numbers that are texts in records, such as those of `csv.DictReader`."""
        if isinstance(self._reader, Records) and all_numeric_texts(self._reader.values(name, "")):
            record = f"row | {{{name!r}: float(row[{name!r}])}}"
            raise TypeError(f"{self.where(name)} holds numbers as text: write [{record} for row in {self.argument}]")

    def content(self, name: ColumnName) -> str:
        """Return the kind of values in a column: "lists", "mappings", "ids" or "other"."""
        check_once(self.names, name, self.argument)
        return self._reader.content(name)

    def lists(self, name: ColumnName, *, single: bool = False) -> ListColumn | list[Any]:
        """Return the lists of ids in a column, with None for null.

        `single`: whether a row may hold a mapping or a single id instead of a list.
        """
        check_once(self.names, name, self.argument)
        where = self.where(name)
        column = self._reader.lists(name, where, single=single)
        if isinstance(column, ListColumn):
            return column._replace(ids=_as_ids(column.ids, where))
        for row in column:
            if isinstance(row, (list, tuple)) and len(row):
                refuse_nested(where, row[0])
                break
        return column

    def present(self, name: ColumnName) -> Bools | None:
        """Return a mask of the rows in which a column is not null, or None if no row is null."""
        check_once(self.names, name, self.argument)
        self.prepare([], [name])
        return self._reader.present(name)

    def where(self, name: QueryKey) -> str:
        return f"{self.argument}: column {name!r}"

    def _read(self, name: ColumnName, *, nulls: bool = False) -> Any:
        check_once(self.names, name, self.argument)
        return self._reader.column(name, self.where(name), nulls=nulls)


def check_once(names: Sequence[Any], name: ColumnName, argument: str) -> None:
    if names.count(name) > 1:
        raise ValueError(f"{argument} has {names.count(name)} columns called {name!r}; rename all but one")


def _reader(frame: Any, argument: str) -> Reader:
    if isinstance(frame, Reader):
        return frame
    if is_pandas(frame):
        return _PandasReader(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        from rankgain.data.tables.arrow import Stream

        return Stream(frame, argument)
    if isinstance(frame, Mapping):
        return _MappingReader(frame, argument)
    advice = "; collect() it first" if hasattr(frame, "collect") else container_advice(frame)
    if isinstance(frame, (str, os.PathLike)) or hasattr(frame, "read"):
        advice = "; for TREC files there is rankgain.read_trec(qrels, run)"
    raise TypeError(
        f"{argument} must be a pandas, polars or Arrow table, or a mapping of columns, not "
        f"{type(frame).__name__}{advice}"
    )


def _as_numbers(column: Any, where: str) -> Any:
    """Return the column as numbers."""
    if not len(column):
        return np.empty(0)
    if isinstance(column, (list, tuple)) or (isinstance(column, np.ndarray) and column.dtype.kind in "biufO"):
        return flat_numbers(column, where)
    if isinstance(column, ChunkedArray) and not isinstance(column, ChunkedIds):
        return column
    raise TypeError(f"{where} must hold numbers; {_number_advice(column)}")


def _number_advice(column: Any) -> str:
    """Say how to convert a column to numbers, judging by its first value."""
    if not isinstance(column, (ChunkedIds, DictionaryIds, ObjectIds, TextIds, StringViewIds)) or column.kind != "str":
        return "cast it, for instance to float64"
    try:
        first = python_ids(column.take(slice(0, 1)), "str")[0]
    except ValueError:  # the column is invalid
        return "cast it, for instance to float64"
    try:
        float(first)
    except ValueError:
        return f"map the names of grades to numbers, as by .map({{{first!r}: 3, ...}}) in pandas"
    return "cast it, for instance to float64"


def _as_ids(column: Any, where: str) -> Ids:
    """Return the column as ids."""
    if isinstance(column, (list, tuple)):
        column = np.fromiter(column, dtype=object, count=len(column))
    if isinstance(column, np.ndarray):
        return _ids_in(column, where, 0)
    if isinstance(column, ChunkedArray) and not isinstance(column, ChunkedIds):
        return ChunkedIds(
            [_ids_in(part, where, row) for part, row in zip(column.parts, column.first_rows, strict=True)]
        )
    ids: Ids = column
    return ids


def _ids_in(array: Array, where: str, row: int) -> Ids:
    """Return the ids in an array. `row`: the row of the column that corresponds to the first entry."""
    if not len(array):
        return ids_of([])
    if array.dtype.kind in "fcbmM":
        advice = (
            "; integers among nulls become floats: drop the nulls and cast to int64" if array.dtype.kind == "f" else ""
        )
        raise TypeError(f"{where} holds {array.dtype}, and ids must be text or integers{advice}")
    if array.dtype.kind == "O" and id_kind(array[0]) in (str, bytes):
        return ObjectIds(array, where)
    try:
        return ids_of(array)
    except InputError as error:
        raise refusal(error.code, f"{where}, row {row + error.position}", error.detail) from None


class _MappingReader(Reader):
    """A mapping from column names to arrays or lists."""

    def __init__(self, columns: Mapping[str, Any], argument: str) -> None:
        self.names = list(columns)
        self._columns = columns
        self._argument = argument
        self._sizes: dict[Any, int] = {}

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        column = self._columns[name]
        if nulls and (present := self.present(name)) is not None:
            column = [value if valid else 0.0 for value, valid in zip(column, present, strict=True)]
        if not isinstance(column, (list, tuple)):
            column = vector_of(column, where, "a list or an array of 1 dimension")
        self._sizes[name] = len(column)
        if len(set(self._sizes.values())) > 1:
            raise ValueError(f"{self._argument}: the columns are of different lengths: {self._sizes}")
        return column

    def present(self, name: Any) -> Bools | None:
        return without_none(self._columns[name])


class _PandasReader(Reader):
    """A pandas frame, whose index levels are columns too.

    NumPy columns are read in place, and Arrow columns through the C stream.
    """

    def __init__(self, frame: Any) -> None:
        index, self._columns = frame.index, [*frame.columns]
        levels = index.names
        self.names = [*self._columns, *(name for name in levels if name is not None and name not in self._columns)]
        if None in levels and (len(levels) > 1 or index.dtype.kind not in "iu"):  # not pandas' default index
            self.remark = "; its index has no name: frame.rename_axis(...) gives it one"
        self._frame = frame

    def column(self, name: Any, where: str, *, nulls: bool = False) -> Any:
        column = self._series(name)
        if not nulls or not column.isna().any():
            return _of_pandas(column, where)
        try:
            return column.to_numpy(np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise TypeError(f"{where} must hold numbers; cast it, for instance to float64") from None

    def present(self, name: Any) -> Bools | None:
        nulls: Bools = np.asarray(self._series(name).isna())
        return ~nulls if nulls.any() else None

    def content(self, name: Any) -> str:
        column = self._series(name)
        if type(column.dtype).__name__ == "ArrowDtype":
            return _stream_of(column, name).content("")
        return content_of(self.lists(name, ""))

    def lists(self, name: Any, where: str, *, single: bool = False) -> Any:
        column = self._series(name)
        if type(column.dtype).__name__ == "ArrowDtype":
            return _stream_of(column, where).lists("", where, single=single)
        pairs = zip(column.tolist(), np.asarray(column.isna()).tolist(), strict=True)
        return [None if null else value for value, null in pairs]

    def _series(self, name: Any) -> Any:
        """Return the column as a Series, or the index level as an Index."""
        return self._frame[name] if name in self._columns else self._frame.index.get_level_values(name)


def _of_pandas(column: Any, where: str) -> Any:
    """Return the column stored in a Series or an Index."""
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        codes = column.array.codes
        _refuse_nulls(codes < 0, where)
        inside = f"{where}, categories"
        return DictionaryIds(codes, _as_ids(_of_pandas(column.array.categories, inside), inside), where)
    if kind == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow":
        return _stream_of(column, where).column("", where)
    if not isinstance(dtype, np.dtype):
        _refuse_nulls(column.isna(), where)
    return column.to_numpy()


def _stream_of(column: Any, where: str) -> Reader:
    """Return the Arrow stream of a pandas Series with an Arrow dtype."""
    from rankgain.data.tables.arrow import Stream

    return Stream(column.array.__arrow_array__(), where)


def _refuse_nulls(nulls: Sequence[bool] | Array, where: str) -> None:
    rows = np.flatnonzero(nulls)
    if len(rows):
        raise refusal(_codes.NULL_ID, f"{where}, row {int(rows[0])}")
