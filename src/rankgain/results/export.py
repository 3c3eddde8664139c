"""Results as the frames of other libraries, which are imported only on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rankgain.scalars import Floats

# Ids and names are sequences, values vectors.
Columns = Mapping[str, Sequence[Any] | Floats]


def import_extra(module: str, extra: str) -> Any:
    """An optional module; if it is missing, the error says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # it is installed, but one of its own imports fails
            raise
        raise ImportError(f"{module} is not installed: pip install 'rankgain[{extra}]'") from None


def to_pandas(columns: Columns, index: str | None = None) -> Any:
    """A pandas DataFrame of the columns; `index` names the one that is its index."""
    pandas = import_extra("pandas", "pandas")
    held = {name: _pandas_column(pandas, column) for name, column in columns.items()}
    if index is None:
        return pandas.DataFrame(held)
    labels = held.pop(index).rename(index)
    return pandas.DataFrame(held, index=labels)


def _pandas_column(pandas: Any, column: Sequence[Any] | Floats) -> Any:
    """Floats as they are; anything else as an Index, which leaves tuples whole."""
    if isinstance(column, np.ndarray):
        return column
    # A column of text cannot hold text that is not UTF-8.
    kind = None if all(_is_unicode(value) for value in column) else object
    return pandas.Index(column, dtype=kind, tupleize_cols=False)


def to_polars(columns: Columns) -> Any:
    """A polars DataFrame of the columns."""
    polars = import_extra("polars", "polars")
    return polars.DataFrame({name: _of_one_type(column) for name, column in columns.items()})


def to_arrow(columns: Columns) -> Any:
    """A pyarrow Table of the columns."""
    pyarrow = import_extra("pyarrow", "arrow")
    return pyarrow.table({name: pyarrow.array(_of_one_type(column)) for name, column in columns.items()})


def _of_one_type(column: Sequence[Any] | Floats) -> Any:
    """Integers of 64 bits as such; any other ids as text."""
    if isinstance(column, np.ndarray):
        return column
    if all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in column) and len(column):
        bounds = np.iinfo(np.int64)
        if bounds.min <= min(column) and max(column) <= bounds.max:
            return np.array(column, dtype=np.int64)
    return [_as_text(value) for value in column]


def _as_text(value: Any) -> str:
    """Bytes that are not UTF-8, from files or as lone surrogates, become a backslash and digits."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _is_unicode(value: Any) -> bool:
    return not isinstance(value, str) or not any("\ud800" <= letter <= "\udfff" for letter in value)
