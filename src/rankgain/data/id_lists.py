"""Lists of ids per user, recommended or relevant, from matrices, lists and mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from rankgain import _codes
from rankgain.data.arrays import array_of, check_unmasked, is_array, vector_of
from rankgain.data.ids import Ids, ids_of_rows
from rankgain.data.ragged import CHUNK, offsets_of
from rankgain.errors import InputError, quoted, refusal
from rankgain.scalars import Array, Ints, listed, paired

# The users (a range if they have no names) and their ids: a list of rows, or a matrix of integers.
IdLists = tuple[Sequence[Any], Any]


def id_lists_of(value: Any, name: str, demand: str) -> IdLists:
    """The users and their lists of ids; `demand` says in errors what is expected."""
    if type(value) is list:
        return range(len(value)), value
    if isinstance(value, (list, tuple)):
        rows: Any = listed(value)
        refuse_scores(rows, name)
    elif isinstance(value, (dict, Mapping)):
        return paired(value, name)
    else:
        check_unmasked(value, name)
        rows = array_of(value, name) if is_array(value) else None
        if rows is None or rows.ndim == 0:
            raise TypeError(f"{name} must {demand}, not {type(value).__name__}")
        if rows.ndim > 2:
            raise ValueError(f"{name} must have 1 or 2 dimensions, not {rows.ndim}")
        if rows.size and rows.dtype.kind not in "iuOUS":
            raise TypeError(f"{name} must {demand}, not ndarray of {rows.dtype}")
        rows = rows if rows.size and rows.dtype.kind in "iu" else rows.tolist()
    return range(len(rows)), rows


def checked(name: str, lists: IdLists, kinds: tuple[type, ...], demand: str) -> IdLists:
    """The lists with each row as one of the kinds, which are built-in types, or as an array of 1 dimension."""
    users, rows = lists
    row_types = {*map(type, rows)} if type(rows) is list else set()
    if row_types <= {*kinds} or (row_types == {np.ndarray} and {row.ndim for row in rows} == {1}):
        return lists
    if set not in kinds:
        for user, row in zip(users, rows, strict=True):
            if isinstance(row, (Set, Mapping)):
                raise TypeError(
                    f"{name}: query {quoted(user)}: must be {demand}, not {type(row).__name__}: are the arguments "
                    "swapped? Write from_recommendations(recommended, relevant), evaluate(relevant, recommended, ...)"
                )
    return users, [
        listed(row) if isinstance(row, kinds) else vector_of(row, f"{name}: query {quoted(user)}", demand)
        for user, row in zip(users, rows, strict=True)
    ]


def read(name: str, rows: Any) -> tuple[Ids, Ints, Ints]:
    """The ids of all users as one column; the offsets of the users, and where the ids of each end.

    Raises InputError with the number of the user and the position among the user's ids.
    """
    if isinstance(rows, np.ndarray):
        offsets, lasts = _unpadded(rows)
        rows = [rows.reshape(-1)]
    else:
        offsets = offsets_of(list(map(len, rows)))
        lasts = offsets[1:]
    try:
        return ids_of_rows(rows, int(offsets[-1])), offsets, lasts
    except InputError as error:
        if error.code == _codes.CHANGED:
            raise ValueError(f"{name}: a list of ids was changed while it was read") from None
        user = int(np.searchsorted(offsets, error.position, side="right")) - 1
        raise InputError(error.code, user, error.position - int(offsets[user]), error.detail) from None


def list_refusal(name: str, users: Sequence[Any], error: InputError) -> Exception:
    """The exception for an error of `read`."""
    return refusal(error.code, f"{name}: query {quoted(users[error.query])}, position {error.position}", error.detail)


def refuse_scores(rows: Sequence[Any], name: str) -> None:
    """Refuse a pair of ids and scores, which implicit's recommend() and torch.topk return."""
    if len(rows) == 2 and all(map(is_array, rows)):
        arrays = [array_of(row, name) for row in rows]
        kinds = [array is not None and array.dtype.kind for array in arrays]
        shapes = {None if array is None else array.shape for array in arrays}
        if "f" in kinds and not {"i", "u"}.isdisjoint(kinds) and len(shapes) == 1:
            raise TypeError(f"{name} is a pair of ids and scores: give the ids alone, {name}[{1 - kinds.index('f')}]")


def _unpadded(matrix: Array) -> tuple[Ints, Ints]:
    """Where each row starts, and where it ends: at its first negative id."""
    users, columns = matrix.shape
    offsets = np.arange(users + 1, dtype=np.int64) * columns
    sizes = np.full(users, columns, dtype=np.int64)
    for start in range(0, users if columns else 0, step := max(1, CHUNK // max(columns, 1))):
        block = matrix[start : start + step]
        if block.dtype.kind == "i" and block.min() < 0:
            padded = block < 0
            sizes[start : start + step] = np.where(padded.any(axis=1), padded.argmax(axis=1), columns)
    return offsets, offsets[:-1] + sizes
