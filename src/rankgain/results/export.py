"""Convert results to data frames of other libraries, which are imported on demand."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain.errors import import_extra
from rankgain.scalars import Floats, id_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Columns of ids and names are sequences; columns of values are arrays of floats.
Columns = Mapping[Any, Sequence[Any] | Floats]


def bar_class(progress: bool) -> Any:
    """Return the class tqdm, or None if `progress` is False."""
    if not isinstance(progress, (bool, np.bool_)):
        raise TypeError(f"progress must be True or False, not {progress!r}")
    return import_extra("tqdm.auto", "progress").tqdm if progress else None


def counting_bar(progress: bool, total: int | None, unit: str) -> Any:
    """Return a context manager that yields a tqdm progress bar, or None if `progress` is False."""
    bar = bar_class(progress)
    return nullcontext() if bar is None else bar(total=total, unit=f" {unit}")


@contextmanager
def read_with_bar(source: Any, bar: Any) -> Iterator[Any]:
    """Yield the source; if it is a path and a bar is shown, yield the open file and advance the bar as it is read."""
    if bar is None or not isinstance(source, (str, os.PathLike)) or not os.path.isfile(source):
        yield source
        return
    # tqdm would set this divisor only once the bar is shown.
    settings = {"desc": os.path.basename(source), "leave": False, "unit": "B", "unit_scale": True, "unit_divisor": 1024}
    with (
        open(source, "rb") as file,
        bar.wrapattr(file, "read", total=os.path.getsize(source), **settings) as wrapped,
    ):
        yield wrapped


class Frames:
    """Base class for results with columns, which can be converted to data frames of other libraries."""

    __slots__ = ()
    _index: str | None = None  # the column that becomes the index in pandas
    _across: str | None = None  # the name that pandas shows for the column axis

    if TYPE_CHECKING:

        def columns(self) -> Columns: ...

    def to_pandas(self) -> pandas.DataFrame:
        """Return the `columns` as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            With one row per value of the columns. If it has one row per query, ``query_id`` is the index.

        Raises
        ------
        ImportError
            If pandas is not installed: ``pip install 'rankgain[pandas]'``.
        ValueError
            If two different metrics have the same name, such as two with gains that are both a ``lambda``.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", "cg").to_pandas()
                   rr   cg
        query_id
        a         1.0  1.0
        b         0.5  1.0
        """
        pd = import_extra("pandas", "pandas")
        columns = {name: _pandas_column(pd, column) for name, column in self.columns().items()}
        labels = None if self._index is None else columns.pop(self._index).rename(self._index)
        frame: pandas.DataFrame = pd.DataFrame(columns, index=labels).rename_axis(columns=self._across)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return the `columns` as a polars DataFrame.

        Returns
        -------
        polars.DataFrame
            Ids that are not all 64-bit integers or all floats become text; bytes that are not valid UTF-8 are escaped.

        Raises
        ------
        ImportError, ValueError
            If polars is not installed (``pip install 'rankgain[polars]'``), or two metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg").to_polars().columns
        ['query_id', 'rr', 'cg']
        """
        pl = import_extra("polars", "polars")
        columns = {str(name): _of_one_type(column) for name, column in self.columns().items()}
        frame: polars.DataFrame = pl.DataFrame(columns)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """Return the `columns` as a pyarrow Table.

        Returns
        -------
        pyarrow.Table
            With ids as in `to_polars`.

        Raises
        ------
        ImportError, ValueError
            If pyarrow is not installed (``pip install 'rankgain[arrow]'``), or two metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg").to_arrow().column_names
        ['query_id', 'rr', 'cg']
        """
        pa = import_extra("pyarrow", "arrow")
        columns = {str(name): pa.array(_of_one_type(column)) for name, column in self.columns().items()}
        table: pyarrow.Table = pa.table(columns)
        return table


def _pandas_column(pandas: Any, column: Sequence[Any] | Floats) -> Any:
    """Return arrays unchanged; convert other columns to an Index, which leaves tuples as they are."""
    if isinstance(column, np.ndarray):
        return column
    # Text columns in pandas hold only valid UTF-8.
    kind = None if all(is_unicode(value) for value in column) else object
    return pandas.Index(column, dtype=kind, tupleize_cols=False)


def _of_one_type(column: Sequence[Any] | Floats) -> Any:
    """Return the column with values of one type: 64-bit integers, floats or, for other ids, text."""
    if isinstance(column, np.ndarray) or not len(column):
        return column
    if all(isinstance(value, float) for value in column):
        return np.array(column, dtype=np.float64)
    if all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in column):
        bounds = np.iinfo(np.int64)
        if bounds.min <= min(column) and max(column) <= bounds.max:
            return np.array(column, dtype=np.int64)
    return [None if value is None else _as_text(value) for value in column]


def _as_text(value: Any) -> str:
    """Convert a value to text; invalid UTF-8 and lone surrogates are escaped with backslashes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return id_text(value).encode("utf-8", "backslashreplace").decode("utf-8")


def is_unicode(value: Any) -> bool:
    """Return whether a value is not a text with lone surrogates, which UTF-8 cannot encode."""
    return not isinstance(value, str) or not any("\ud800" <= letter <= "\udfff" for letter in value)


def finite_or_none(value: Any) -> Any:
    """Replace NaN and infinities with None, since JSON and CSV have no numbers for them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
