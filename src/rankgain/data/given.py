"""Recognise what a caller gave: the only place that decides which form an argument has.

Constructors, `evaluate`, `compare`, `judgments` and the command line call `recognise` and ask its record. Whatever they
then read, they read from `data`, and errors begin with `name`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np

from rankgain import _backend
from rankgain._codes import OTHER_FORM
from rankgain.data.advice.foreign import refuse_foreign_mapping, refuse_foreign_rows
from rankgain.data.advice.layouts import format_advice
from rankgain.data.answers import ANSWER_FIELDS, FILE_FIELDS, run_of_answers
from rankgain.data.arrays import array_of, is_array
from rankgain.data.column_names import USUAL_NAMES, default_columns, has_columns, is_pandas, is_series
from rankgain.data.detect import file_kind
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.data.other_tools import columns_of_tuples, is_of_ranx, is_tuple_record
from rankgain.data.ratings import RATING_FIELDS, judgments_of_ratings
from rankgain.data.sparse import is_sparse
from rankgain.data.tables.frame import Frame
from rankgain.data.tables.readers import Reader
from rankgain.data.tables.records import Records
from rankgain.errors import changed, quoted

Kind = Literal["judgments", "dicts", "keyed", "table", "trec", "sparse", "series", "array", "lists", "other"]
Values = Literal["ids", "integers", "fractions", "nothing", "other"]

MOST_NAMES = 256  # the keys of a larger mapping are queries, not column names
# The forms in which `from_recommendations` reads exact types without a record, which takes 3 % of a call for one query.
EXACT_TYPES: Mapping[type, Kind] = {
    list: "lists",
    tuple: "lists",
    dict: "keyed",
    set: "other",
    np.ndarray: "array",
    Judgments: "judgments",
}
_ANSWER_FIELDS = tuple(ANSWER_FIELDS)
_NO_COLUMNS: Mapping[str, Any] = {}


class Given:
    """What a caller gave as one argument, recognised before its contents are read.

    `kind`:

    - "judgments": prepared Judgments
    - "dicts": a mapping from query to a mapping from document to a number
    - "keyed": any other mapping, from query to ids
    - "table": a data frame, a mapping of columns, records, or a file of these
    - "trec": a TREC file, or a file that `read_trec` refuses
    - "sparse": a sparse matrix
    - "series": a pandas Series
    - "array": anything else that NumPy can read as an array
    - "lists": a list or tuple, of numbers, of ids, or with one item per query
    - "other": anything else, which every reader refuses

    `data`: the value itself or, for a table file or an object of another tool, what it holds. `argument`: the name of
    the parameter. `name`: the place that errors name, which is the table file or, without one, the argument. `assumed`:
    what was assumed about the data, in words. `unnamed`: the expression for the answers of a search engine that do not
    name their queries, or "".
    """

    unnamed = ""

    def __init__(self, kind: Kind, data: Any, argument: str, assumed: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.data = data
        self.argument = self.name = argument
        self.assumed = assumed

    @cached_property
    def frame(self) -> Frame:
        """The data as a table. A TypeError is raised if they are none."""
        is_records = self.kind == "table" and type(self.data) is list
        return Frame(Records(self.data, self.name) if is_records else self.data, self.argument)

    @cached_property
    def values(self) -> Values:
        """The values of an array or of lists; "ids" if they are certainly ids, "other" if it cannot be told."""
        if self.kind in ("judgments", "dicts", "keyed", "sparse"):
            return "ids"
        return _values_of(self.data)

    @property
    def form(self) -> tuple[Kind, Any, str]:
        """The kind, the data and the name."""
        return self.kind, self.data, self.name

    @property
    def has_labels(self) -> bool:
        """Whether the rows have the labels of pandas."""
        return self.kind == "series" or (self.kind == "table" and is_pandas(self.data))

    @property
    def has_columns(self) -> bool:
        """Whether documents are columns of a sparse matrix, or of one from which the judgments were made."""
        return self.kind == "sparse" or (self.kind == "judgments" and judgment_sets(self.data).columns is not None)


def recognise(
    value: Any,
    argument: str,
    columns: Mapping[str, Any] = _NO_COLUMNS,
    *,
    is_truth: bool = False,
    is_table: bool = False,
    opens: bool = True,
) -> Given:
    """Return what a value is. A value that was recognised before is returned unchanged.

    Parameters
    ----------
    columns : mapping
        The columns that the caller named for this argument, by role. A mapping that has all of them is a table, unless
        it holds mappings.
    is_truth : bool
        Whether a file with the header of BEIR's qrels is a TREC file.
    is_table : bool
        Whether the value must be a table, so that mappings and records are tables whatever their names.
    opens : bool
        Whether a file is opened to recognise it. Otherwise, every file counts as a TREC file.
    """
    kind = type(value)
    if kind is dict:
        if not signs_in(value) & OTHER_FORM:
            return Given("dicts", value, argument)
    elif isinstance(value, Given):
        return value
    elif kind is list:
        if _is_plain(value):
            return Given("lists", value, argument)
    elif kind is np.ndarray or kind is Judgments:
        return Given(EXACT_TYPES[kind], value, argument)
    elif not is_pandas(value) and is_file(value):  # `getattr` on a frame is slow, because it searches the columns
        format_, head, source = file_kind(value, argument, beir=is_truth) if opens else (None, b"", value)
        if format_ is None:
            if is_table and (advice := format_advice(head)):
                raise ValueError(f"{argument} is {advice}")
            return Given("trec", source, argument)
        from rankgain.data.tables.files import read_table  # deferred, to keep `import rankgain` fast

        title, data = read_table(format_, head, source, argument)
        given = _recognise(data, title, columns, is_table, _side(argument, is_truth))
        given.argument = argument
        return given
    return _recognise(value, argument, columns, is_table, _side(argument, is_truth))


def _side(argument: str, is_truth: bool) -> str:
    """Return which side an argument is: "truth", "run" or, if it may be both, ""."""
    return "truth" if is_truth or argument == "qrels" else "run" if argument in ("run", "old", "new") else ""


def signs_in(value: dict[Any, Any]) -> int:
    """Return the signs that a dict is no dict of dicts, or that something may be wrong with it (see `_codes`)."""
    # A table has two columns, so the kernel compares keys with names of columns only if there are several.
    return _backend.dicts.signs_of(value, USUAL_NAMES, _ANSWER_FIELDS)


def has_documents(series: Any) -> bool:
    """Return whether a Series holds a number for each pair of a query and a document."""
    return series.index.nlevels == 2 and series.dtype.kind in "biuf"


def is_file(value: Any) -> bool:
    """Return whether a value is a path or an open file."""
    return isinstance(value, (str, os.PathLike)) or callable(getattr(value, "read", None))


def is_stream(value: Any) -> bool:
    """Return whether a value is an open file or standard input, which can be read only once."""
    if isinstance(value, str):
        return value == "-"
    return is_file(value) and not isinstance(value, os.PathLike)


def _recognise(value: Any, name: str, columns: Mapping[str, Any], is_table: bool, side: str) -> Given:
    """Return what a value other than a file is. `name`: the place that errors name. `side`: "run", "truth" or ""."""
    if isinstance(value, Reader) or is_pandas(value):
        may_be_of_engine = isinstance(value, Reader) and side and not columns and not _FIELDS.isdisjoint(value.names)
        lines = value.values_of_lines() if may_be_of_engine else None
        given = None if lines is None else _of_engine(lines, name, side)
        return given or Given("table", value, name)
    may_be_of_engine = side and not columns and (side == "run" or not is_table) and not _is_plain(value)
    if may_be_of_engine and (given := _of_engine(value, name, side)) is not None:
        return given
    if isinstance(value, Mapping):
        return _of_mapping(value, name, columns, is_table)
    if isinstance(value, (list, tuple)):
        return _of_list(value, name, columns, is_table)
    if is_series(value):
        if not ((side or is_table) and has_documents(value)):
            return Given("series", value, name)
        values = value.name if value.name is not None else "relevance" if side == "truth" else "score"
        return Given("table", value.to_frame(values), name)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "collect"):
        is_column = hasattr(value, "__array__") and (hasattr(value, "dtype") or hasattr(value, "type"))
        return Given("array" if is_column else "table", value, name)
    if is_of_ranx(value):
        return Given("dicts", value.to_dict(), name)
    if is_sparse(value):
        return Given("sparse", value, name)
    if isinstance(value, Iterator):
        items = list(value)
        if not items:
            raise ValueError(
                f"{name} is an iterator without items: an iterator can be read only once, so make a list first, "
                f"{name} = list(...), and pass that"
            )
        return _of_list(items, name, columns, is_table)
    return Given("array" if is_array(value) else "other", value, name)


def _is_plain(value: Any) -> bool:
    """Return whether a value begins with an id or a number, or with a list or a set of those, as most lists do."""
    first = value[0] if type(value) is list and value else value
    return type(first[0] if type(first) is list and first else first) in _PLAIN_ITEMS


def _of_engine(value: Any, name: str, side: str) -> Given | None:
    """Return the run in answers of search engines, or the judgments in their ratings; None if a value is neither."""
    if side == "truth":
        judged = judgments_of_ratings(value, name)
        return None if judged is None else Given("dicts", judged, name)
    if (answers := run_of_answers(value, name)) is None:
        return None
    given = Given("lists" if answers.unnamed else "dicts", answers.run, name, answers.assumed)
    given.values, given.unnamed = "ids", answers.unnamed
    return given


def _of_mapping(value: Mapping[Any, Any], name: str, columns: Mapping[str, Any], is_table: bool) -> Given:
    try:
        if {"query", "doc"} <= default_columns(islice(value, MOST_NAMES)).keys():
            return Given("table", value, name)
        if all(issubclass(kind, Mapping) for kind in {*map(type, value.values())}):
            return Given("dicts", value, name)
    except RuntimeError as error:
        raise changed(error, name) from None
    refuse_foreign_mapping(value, name)
    is_table = is_table or bool(columns and has_columns(value, columns))
    return Given("table" if is_table else "keyed", value, name)


def _of_list(value: Any, name: str, columns: Mapping[str, Any], is_table: bool) -> Given:
    first = next(iter(value), None)
    if isinstance(first, Mapping):
        is_table = is_table or _is_record(first, name, columns)
        return Given("table" if is_table else "lists", list(value) if is_table else value, name)
    if is_tuple_record(first):
        return Given("table", columns_of_tuples(value), name)
    if type(first) not in _PLAIN_ROWS:
        refuse_foreign_rows(first, name, default_columns(getattr(first, "_fields", ())))
    return Given("lists", value, name)


_PLAIN_ITEMS = frozenset((str, int, float, set))
_PLAIN_ROWS = frozenset((list, set, str, int, float))


def _is_record(first: Mapping[Any, Any], name: str, columns: Mapping[str, Any]) -> bool:
    """Return whether the first of several mappings is a row with a query and a document, not the grades of a query."""
    usual, named = default_columns(first), {role: columns[role] for role in ("query", "doc") if role in columns}
    if has_columns(first, named) and all(role in usual or role in named for role in ("query", "doc")):
        return True
    values = first.values()
    if "query" in usual and any(isinstance(value, (list, tuple, Set)) for value in values):
        return True  # a row per query, about which the table says what to write
    if any(isinstance(value, (str, bytes)) for value in values):
        raise TypeError(
            f"{name}: row 0 has the keys {', '.join(map(quoted, first))}, which are no columns of queries and "
            "documents: name these with query= and doc="
        )
    return False


_FIELDS = FILE_FIELDS.union(RATING_FIELDS)  # of files that are no tables
_PRECEDENCE: tuple[Values, ...] = ("ids", "other", "fractions", "integers")
_BY_DTYPE: Mapping[str, Values] = {"f": "fractions", "i": "integers", "u": "integers", "b": "integers"}


def _values_of(value: Any) -> Values:
    if isinstance(value, (list, tuple)):
        kinds = {_values_of(item) for item in value}
        return next((kind for kind in _PRECEDENCE if kind in kinds), "integers" if value else "nothing")
    if isinstance(value, float):
        return "nothing" if value != value else "fractions"  # NaN pads lists of ids, too
    if isinstance(value, int):
        return "integers"
    if isinstance(value, (Set, Mapping)):
        return "ids"
    array = array_of(value, "run") if is_array(value) else None
    if array is None or array.dtype.kind == "O":
        return "other" if array is None else _values_of(array.tolist())
    return _BY_DTYPE.get(array.dtype.kind, "other")
