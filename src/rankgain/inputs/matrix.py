"""Prepare a users × items matrix of scores and a sparse matrix of grades for `from_scores`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rankgain.data.arrays import array_of, check_unmasked
from rankgain.data.id_lists import of_csr
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets
from rankgain.data.matrix import MatrixSource
from rankgain.data.sparse import SparseRows, check_format, check_shape, is_sparse, offsets_and_columns, rising
from rankgain.scalars import Array, Bools, to_intp

ORDER = "labels come first, from_scores(y_true, y_score)"


def matrix_source(y_true: Any, y_score: Any, exclude: Any, query_ids: Iterable[Hashable] | None) -> MatrixSource:
    """Make a source from a sparse matrix of grades and a dense matrix of scores."""
    judgments, scores = _judgments_of(y_true), _scores_of(y_score)
    check_shape((len(judgments), judgments.columns), "y_true", scores.shape)
    columns = judgments.ids.take(slice(None)).data if len(judgments.grades) else np.empty(0, np.int32)
    judged = rising(judgments.offsets, columns, "y_true", judgments.query_ids)
    return MatrixSource(judgments, judged, scores, excluded_of(exclude, scores.shape), query_ids)


def _scores_of(y_score: Any) -> Array:
    if is_sparse(y_score):
        raise TypeError(f"y_score must be a dense matrix, not a sparse one: are they swapped? {ORDER}; else .toarray()")
    check_unmasked(y_score, "y_score")
    scores = array_of(y_score, "y_score")
    if scores is None or scores.dtype.kind not in "biuf":
        kind = type(y_score).__name__ if scores is None else scores.dtype
        raise TypeError(f"y_score must be a matrix of real numbers beside a sparse y_true, not {kind}")
    if scores.ndim != 2:
        remedy = ": pass y_score[None] for one user" if scores.ndim == 1 else ""
        raise ValueError(f"y_score must have 2 dimensions beside a sparse y_true, not {scores.ndim}{remedy}")
    return scores


def _judgments_of(y_true: Any) -> JudgmentSets:
    if not isinstance(y_true, Judgments):
        check_format(y_true, "y_true")
        return of_csr(y_true, "y_true")
    judgments = judgment_sets(y_true)
    if judgments.columns is None:
        raise TypeError(
            "y_true: these Judgments were not made from a sparse matrix, so documents are not columns of y_score: pass "
            "rankgain.judgments(matrix), or use from_qrels or from_recommendations"
        )
    return judgments


def excluded_of(exclude: Any, shape: tuple[int, ...]) -> SparseRows:
    """Return the excluded columns of each row of scores. If `exclude` is None, no columns are excluded."""
    if exclude is None:
        return SparseRows(np.zeros(shape[0] + 1, np.int64), np.empty(0, np.int32))
    if not is_sparse(exclude):
        raise TypeError(
            "exclude must be a sparse matrix in CSR format, whose stored entries are left out, not "
            f"{type(exclude).__name__}; of a boolean matrix, pass mask=~matrix with dense labels"
        )
    check_format(exclude, "exclude")
    check_shape(exclude.shape, "exclude", shape)
    return rising(*offsets_and_columns(exclude, "exclude"), "exclude", range(shape[0]))


def mask_of(exclude: Any, shape: tuple[int, int]) -> Bools:
    """Return a mask of the given shape that is False in the excluded columns of each row."""
    mask = np.ones(shape, dtype=np.bool_)
    excluded = excluded_of(exclude, shape)
    mask[np.repeat(np.arange(shape[0]), to_intp(np.diff(excluded.offsets))), excluded.columns] = False
    return mask
