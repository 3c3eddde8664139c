"""Evaluate a matrix of scores (users × items) with sparse judgments."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from rankgain import _backend
from rankgain._codes import MATRIX
from rankgain.data.documents import Documents, documents_of_ids
from rankgain.data.ids import ids_of
from rankgain.data.judgments import JudgmentSets, JudgmentSource
from rankgain.data.ragged import CHUNK, offsets_of
from rankgain.data.rules import Rules
from rankgain.data.source import Chunk
from rankgain.data.sparse import SparseRows
from rankgain.errors import InputError, refusal
from rankgain.scalars import Array, Ints

READ = 8  # number of scores that can be read in the time needed to sort one document


class MatrixSource(JudgmentSource):
    """Rows of scores, with one column per document. Documents are judged, unjudged, or excluded."""

    part = True  # a matrix without rows is allowed and has an empty result
    has_non_relevant = False  # every document that is not stored in the sparse judgments counts as not relevant

    def __init__(
        self,
        judgments: JudgmentSets,
        judged: SparseRows,
        scores: Array,
        excluded: SparseRows,
        query_ids: Iterable[Hashable] | None,
        *,
        single: bool = False,
    ) -> None:
        """`judged`: the columns of the judged documents, including excluded ones.

        `single`: whether scores are compared as float32.
        """
        self._given = judgments, judged, scores, excluded, query_ids
        judgments, judged, self.excluded_judgments = without_excluded(judgments, judged, excluded)
        super().__init__(judgments, "y_score", judgments.query_ids, None, None, query_ids)
        self._judged, self._scores, self._excluded = judged, scores, excluded
        in_place = scores.dtype in (np.float64, np.float32) and scores.dtype.isnative and scores.flags.aligned
        in_place = in_place and (scores.shape[1] < 2 or scores.strides[1] == scores.itemsize)
        # The type to which blocks of rows are converted, or None if kernels read the scores without conversion.
        self._converted: Any = None if in_place else np.float32 if scores.dtype.itemsize <= 2 else np.float64
        if single and scores.dtype != np.float32:
            self._converted = np.float32
        if self._converted is not None:
            self.most = CHUNK // READ

    def under(self, rules: Rules) -> Self:
        return type(self)(*self._given, single=rules.score_bits == 32)

    def non_empty(self) -> Self:
        present = np.flatnonzero(self.sizes)
        if len(present) == len(self):
            return self
        judgments, judged, scores, excluded, _ = self._given
        rows, offsets = judgments.rows(present)
        part = JudgmentSets(judgments.name, [self.query_ids[query] for query in present.tolist()])
        part.with_columns(offsets, judgments.grades[rows], ids=ids_of(judged.columns[rows]))
        source = type(self)(part, judged.rows(present), scores[present], excluded.rows(present), None)
        return source

    @property
    def sizes(self) -> Ints:
        sizes: Ints = self._scores.shape[1] - np.diff(self._excluded.offsets)
        return sizes

    @property
    def loads(self) -> Ints:
        return self.sizes // READ + self.judged_sizes

    def chunk_of(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        (offsets, columns), (excluded_offsets, excluded), grades = self._judged, self._excluded, judgments.grades
        if self._converted is None:
            return MATRIX, start, stop, self._scores, offsets, columns, grades, excluded_offsets, excluded
        rows, bounds = self._rows(start, stop), slice(start, stop + 1)
        return MATRIX, 0, stop - start, rows, offsets[bounds], columns, grades, excluded_offsets[bounds], excluded

    def _rows(self, start: int, stop: int) -> Array:
        """Return rows of scores in the form that kernels read."""
        with np.errstate(all="ignore"):
            return np.require(self._scores[start:stop], self._converted, ("C", "A"))

    def documents(self, query: int, rules: Rules) -> Documents:
        columns = np.delete(np.arange(self._scores.shape[1]), self._excluded.of_row(query))
        scores = self._rows(query, query + 1)[0, columns].tolist()
        return documents_of_ids(rules, columns.tolist(), scores, self._judgments.of_query(query))

    def run_refusal(self, query: int, error: InputError) -> Exception:
        return refusal(error.code, f"y_score: {self.query_name(query)}, column {error.position}")


def without_excluded(
    judgments: JudgmentSets, judged: SparseRows, excluded: SparseRows
) -> tuple[JudgmentSets, SparseRows, int]:
    """Return the judgments without excluded columns, the columns of these judgments, and the number removed."""
    marks = np.zeros(len(judged.columns), dtype=np.uint8)
    count = _backend.columns.mark_common(*judged, *excluded, marks)
    if not count:
        return judgments, judged, 0
    remaining = marks == 0
    columns, offsets = judged.columns[remaining], offsets_of(remaining)[judged.offsets]
    part = JudgmentSets(judgments.name, judgments.query_ids)
    part.with_columns(offsets, judgments.grades[remaining], ids=ids_of(columns))
    return part, SparseRows(offsets, columns), count
