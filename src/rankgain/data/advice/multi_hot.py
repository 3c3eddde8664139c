"""Refuse relevant items that are given as 0s and 1s, one per item of the catalogue, where ids are expected."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_multi_hot(rows: Any, name: str) -> None:
    """Refuse rows of 0s and 1s. No other valid input is refused: a list of ids repeats none of them."""
    first = next(iter(rows), ())
    if type(first) in _ROWS and len(first) > 2 and _is_multi_hot(first):
        raise TypeError(
            f"{name} holds a 0 or 1 for each item, not ids: pass the positions of the 1s, [np.flatnonzero(row) for row "
            f"in {name}], or their ids, [np.asarray(ids)[np.flatnonzero(row)].tolist() for row in {name}]"
        )


_ROWS = frozenset((list, tuple, np.ndarray))


def _is_multi_hot(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.dtype.kind in "biuf" and bool(np.all((row == 0) | (row == 1)))
    return all(isinstance(value, (int, float)) and value in (0, 1) for value in row)
