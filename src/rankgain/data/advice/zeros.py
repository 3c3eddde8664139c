"""Remark on rows that end with 0 where 0 may be padding: in ids, or in labels and scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgain.data.ids import Ids
from rankgain.data.judgments import JudgmentSets
from rankgain.data.ragged import RaggedArray, ends_without, offsets_of
from rankgain.scalars import Array, Ints

_FEWEST = 20  # minimum number of rows
ZERO_ADVICE = "; if 0 is padding, pass [id for id in row if id != 0] of each row"


class IdRows(NamedTuple):
    """Lists of ids in a column: row i has ids firsts[i] … lasts[i] − 1.

    `name`: the argument. `are_ordered`: whether the ids of a row are in the order in which they were given.
    """

    name: str
    ids: Ids
    firsts: Ints
    lasts: Ints
    are_ordered: bool = True


def id_rows(judgments: JudgmentSets, *, are_ordered: bool) -> IdRows:
    """Return the ids of judgments. `are_ordered`: whether they were lists."""
    return IdRows(judgments.name, judgments.ids, judgments.offsets[:-1], judgments.offsets[1:], are_ordered)


def remarks_on_zero_ids(relevant: IdRows, recommended: IdRows) -> tuple[str, ...]:
    """Return a remark if 0 ends most rows of a side, at least one of them twice, and is no id of either side."""
    sides = relevant, recommended
    padded = next((side for side in sides if _mostly_ends_with_zero(side)), None)
    if padded is None:
        return ()
    counts = {side.name: count for side in sides if (count := _zeros_at_ends(side)) is not None}
    if len(counts) < 2 or max(int(count.max(initial=0)) for count in counts.values()) < 2:
        return ()
    count = counts[padded.name]
    return (
        f"{padded.name}: 0 is the last id of {np.count_nonzero(count)} of {len(count)} rows and no other id"
        f"{ZERO_ADVICE}",
    )


def _integers(side: IdRows) -> Array:
    return side.ids.take(slice(None)).data


def _mostly_ends_with_zero(side: IdRows) -> bool:
    if len(side.firsts) < _FEWEST or side.ids.kind != "int" or not side.are_ordered:
        return False
    filled = side.lasts[side.lasts > side.firsts]
    return 2 * int(np.count_nonzero(_integers(side)[filled - 1] == 0)) > len(side.firsts)


def _zeros_at_ends(side: IdRows) -> Ints | None:
    """Return the number of zeros at the end of each row, or None if 0 is an id: in another place, or alone."""
    zeros = _integers(side) == 0 if side.ids.kind == "int" else np.zeros(len(side.ids), np.bool_)
    ends = ends_without(zeros, side.firsts, side.lasts) if side.are_ordered else side.lasts
    before, counts = offsets_of(zeros), side.lasts - ends
    alone = (counts == 1) & (ends == side.firsts)
    return None if np.any(before[ends] > before[side.firsts]) or alone.any() else counts


def remarks_on_zero_scores(labels: RaggedArray, scores: RaggedArray) -> tuple[str, ...]:
    """Return a remark if most rows of a matrix end with the label and the score 0 after negative scores.

    At least one row must end so twice, and no other score may be 0.
    """
    grades, values = labels.matrix, scores.matrix
    if grades is None or values is None or len(values) < _FEWEST or not values.size:
        return ()
    if 2 * np.count_nonzero((values[:, -1] == 0) & (grades[:, -1] == 0)) <= len(values):
        return ()
    zeros = values == 0
    sizes = zeros.sum(axis=1)
    at_end = np.where(zeros.all(axis=1), sizes, zeros[:, ::-1].argmin(axis=1))
    if sizes.max() < 2 or np.any(at_end < sizes) or np.any(grades[zeros] != 0):
        return ()
    if 2 * np.count_nonzero((at_end > 0) & (values < 0).any(axis=1)) <= len(values):
        return ()
    return (
        f"{scores.name}: {np.count_nonzero(at_end)} of {len(values)} rows end with 0, above negative scores and beside "
        f"the label 0, and no other score is 0: if it is padding, pass mask=np.asarray({scores.name}) != 0",
    )
