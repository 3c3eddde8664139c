"""Refuse sizes of groups that are in the order of pandas' `value_counts`, not in that of the documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgain.errors import quoted
from rankgain.scalars import Ints

_FEWEST = 6  # minimum number of different sizes: six in random order never rise once in 720 times


def refuse_value_counts(sizes: Any) -> None:
    """Refuse a Series called "count" with `_FEWEST` different sizes that never rise, unless its labels rise."""
    if sizes.name != "count" or sizes.dtype.kind not in "iu":
        return
    values = sizes.to_numpy()
    if len(np.unique(values)) < _FEWEST or np.any(values[1:] > values[:-1]) or sizes.index.is_monotonic_increasing:
        return
    raise ValueError(
        "group_sizes is sorted by size, as value_counts() does, not by the order of the documents: write "
        f"{_line_of_sizes(sizes)}, or group_sizes.to_numpy() if the queries are sorted by size, too"
    )


def refuse_other_sizes(sizes: Any, by_size: Ints, by_id: Ints, *, are_contiguous: bool) -> None:
    """Refuse sizes of groups that differ from the numbers of documents by query id.

    `are_contiguous`: whether the documents of each query are.
    """
    if are_contiguous and np.array_equal(by_size[by_size > 0], by_id):
        return
    line = f", or write {_line_of_sizes(sizes)}" if are_contiguous else ""
    raise ValueError(
        f"group_sizes and qid disagree: the queries have {_shown(by_size)} documents by group_sizes, and "
        f"{_shown(by_id)} by qid{'' if are_contiguous else ', in scattered rows'}: leave group_sizes out{line}"
    )


def _shown(sizes: Ints) -> str:
    return ", ".join(map(str, sizes[:3].tolist())) + (", …" if len(sizes) > 3 else "")


def _line_of_sizes(sizes: Any) -> str:
    """Return the line that counts the documents of each query in their order."""
    name = getattr(getattr(sizes, "index", None), "name", None)  # of a Series
    return f"df.groupby({quoted('qid' if name is None else name)}, sort=False).size()"
