"""Helpers for sparse matrices of users × items in CSR format. SciPy is not required."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from rankgain.data.ids import rows_of
from rankgain.errors import quoted
from rankgain.scalars import Array, Int32s, Ints

MOST_COLUMNS = (1 << 31) - 1


class Csr(Protocol):
    """A sparse matrix in CSR format, such as `scipy.sparse.csr_array`."""

    @property
    def shape(self) -> Any: ...
    @property
    def format(self) -> Any: ...
    @property
    def indptr(self) -> Any: ...
    @property
    def indices(self) -> Any: ...
    @property
    def data(self) -> Any: ...


class SparseRows(NamedTuple):
    """The column indices stored in each row, in increasing order.

    Row i has ``columns[offsets[i] : offsets[i + 1]]``.
    """

    offsets: Ints
    columns: Int32s

    def rows(self, rows: Ints) -> SparseRows:
        positions, offsets = rows_of(self.offsets[:-1], self.offsets[1:], rows)
        return SparseRows(offsets, self.columns[positions])

    def of_row(self, row: int) -> Int32s:
        return self.columns[self.offsets[row] : self.offsets[row + 1]]


def is_sparse(value: Any) -> bool:
    return hasattr(value, "tocsr") or hasattr(value, "indptr")


def offsets_and_columns(matrix: Any, name: str) -> tuple[Ints, Array]:
    """Validate a CSR matrix, and return a copy of its row offsets together with its column indices."""
    offsets, columns = np.array(matrix.indptr, dtype=np.int64), np.asarray(matrix.indices)
    most = min(len(columns), len(matrix.data))
    if not len(offsets) or offsets[0] != 0 or offsets[-1] > most or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"{name} is a broken sparse matrix: its indptr points outside its indices and data")
    columns = columns[: offsets[-1]]
    if len(columns) and not 0 <= columns.min() <= columns.max() < matrix.shape[-1]:
        raise ValueError(f"{name} is a broken sparse matrix: its indices point outside its {matrix.shape[-1]} columns")
    return offsets, columns


def check_format(matrix: Any, name: str) -> None:
    """Raise a TypeError if the matrix is not in CSR format."""
    kind = getattr(matrix, "format", None)
    if kind == "csr" and all(hasattr(matrix, part) for part in ("indptr", "indices", "data", "shape")):
        return
    summed = ", which adds up the values of entries that repeat, as sum_duplicates() does" if kind == "coo" else ""
    raise TypeError(
        f"{name} must be a sparse matrix in CSR format, not {str(kind).upper() if kind else type(matrix).__name__}: "
        f"pass {name}.tocsr(){summed}"
    )


def check_shape(shape: Any, name: str, scores_shape: tuple[int, ...]) -> None:
    if tuple(shape) != scores_shape:
        raise ValueError(f"{name} has the shape {tuple(shape)}, and y_score has {scores_shape}: they must be equal")
    if scores_shape[1] > MOST_COLUMNS:
        raise ValueError(f"y_score has {scores_shape[1]} columns, and at most {MOST_COLUMNS} are supported")


def rising(offsets: Ints, columns: Array, name: str, queries: Any) -> SparseRows:
    """Check that the columns of each row are strictly increasing, and return them as int32.

    The columns are copied only if necessary.
    """
    falls = columns[1:] <= columns[:-1]
    ends = offsets[1:-1]
    falls[ends[(ends > 0) & (ends < len(columns))] - 1] = False  # a new row may start at a lower column
    if falls.any():
        row = int(np.searchsorted(offsets, int(np.argmax(falls)), side="right")) - 1
        distinct, counts = np.unique(columns[offsets[row] : offsets[row + 1]], return_counts=True)
        where = f"{name}: query {quoted(queries[row])}"
        if counts.max() > 1:
            column = int(distinct[np.argmax(counts > 1)])
            raise ValueError(
                f"{where}: column {column} is stored twice: call {name}.sum_duplicates(), which adds up its values"
            )
        raise ValueError(f"{where}: the columns are not in increasing order: call {name}.sort_indices() first")
    return SparseRows(offsets, np.require(columns, np.int32, ("C", "A")))
