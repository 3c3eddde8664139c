"""A run in columns: ids and scores by row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from rankgain import _backend
from rankgain._codes import COLUMNS
from rankgain.choices import Duplicates, Missing, Validate
from rankgain.data.dicts import highest
from rankgain.data.groups import Groups
from rankgain.data.ids import Column, Ids, python_ids
from rankgain.data.judgments import EARLIER, JudgmentSets, JudgmentSource, common_queries
from rankgain.data.ragged import CHUNK, offsets_of, to_float64
from rankgain.data.rules import Rules
from rankgain.data.source import Chunk, chunks_of
from rankgain.errors import InputError, quoted, refusal
from rankgain.scalars import Ints


def check_validate(validate: Validate) -> Validate:
    if not isinstance(validate, str) or validate not in ("judged", "full"):
        raise ValueError(f"validate must be 'judged' or 'full', not {validate!r}")
    return validate


def check_duplicates(duplicates: Duplicates) -> Duplicates:
    if not isinstance(duplicates, str) or duplicates not in ("error", "first"):
        raise ValueError(f"duplicates must be 'error' or 'first', not {duplicates!r}")
    return duplicates


def first_of_each(groups: Groups, documents: Ids, scores: Column | None) -> Groups:
    """The rows without documents that stood higher in the same query: with a higher score, else earlier."""
    sizes = groups.sizes(np.arange(len(groups)))
    kept_sizes, kept = np.zeros_like(sizes), []
    for start, stop in chunks_of(sizes, CHUNK):
        rows, offsets = groups.rows(np.arange(start, stop))
        own = None if scores is None else to_float64(scores[rows])
        marks = np.zeros(offsets[-1], dtype=np.uint8)
        keys = documents.take(rows)
        _backend.columns.mark_firsts(*keys.buffers(), offsets, own, marks, kept_sizes[start:stop])
        kept.append((rows, marks.view(np.bool_)))
    if np.array_equal(kept_sizes, sizes):
        return groups
    offsets = offsets_of(kept_sizes)
    places = [
        np.arange(rows.start, rows.stop)[first] if isinstance(rows, slice) else rows[first] for rows, first in kept
    ]
    return Groups(groups.names, offsets[:-1], offsets[1:], np.concatenate(places))


def check_kinds(judgments: JudgmentSets, name: str, kind: str) -> None:
    """Refuse ids that can never match, since they are of another type than those of the judgments."""
    kinds = judgments.ids.kind, kind
    if "" not in kinds and kinds[0] != kinds[1]:
        raise ValueError(
            f"the document ids are {kinds[0]} in {judgments.name} and {kinds[1]} in {name}: convert them to one type"
        )


class Table:
    """A run: the documents of each row, with their scores or, where there are none, in rank order."""

    def __init__(
        self,
        name: str,
        groups: Groups,
        documents: Ids,
        scores: Column | None,
        *,
        whole: bool = False,
        duplicates: Duplicates = "error",
    ) -> None:
        """`whole`: any document that occurs twice in a query is an error, not only judged ones. `duplicates`: whether
        such a document is an error, or counts once, where it is first.
        """
        self.name = name
        self.groups = first_of_each(groups, documents, scores) if duplicates == "first" else groups
        self.documents = documents
        self.scores = scores
        self.whole = whole


def _readable(scores: Column) -> bool:
    """Whether kernels read them as they are."""
    return type(scores) is np.ndarray and scores.dtype == np.float64 and to_float64(scores) is scores


class ColumnSource(JudgmentSource):
    """A run in columns."""

    def __init__(
        self, judgments: JudgmentSets, run: Table, *, missing: Missing, query_ids: Iterable[Hashable] | None
    ) -> None:
        common = common_queries(judgments.query_ids, run.groups.known)
        super().__init__(judgments, run.name, run.groups.known, common, missing, query_ids)
        check_kinds(judgments, run.name, run.documents.kind)
        self._run = run
        places = run.groups.find(judgments.query_ids)  # of the judged queries in the run
        self._places = places if self._numbers is None else places[self._numbers]
        self._sizes = run.groups.sizes(self._places)

    def under_missing(self, missing: Missing) -> Self:
        return type(self)(self._judgments, self._run, missing=missing, query_ids=self._names_under(missing))

    @property
    def sizes(self) -> Ints:
        return self._sizes

    @property
    def loads(self) -> Ints:
        # Of a list in rank order nothing is held, and a long one only read in passing.
        returned = self._sizes if self._run.scores is not None else self._sizes // 8
        return returned + self.judged_sizes

    def chunk(self, start: int, stop: int) -> Chunk:
        judged = self._judged_rows(start, stop)
        return COLUMNS, 0, stop - start, *judged, *self._run_rows(start, stop), self._run.whole

    def _judged_rows(self, start: int, stop: int) -> Chunk:
        """The ids of judged documents, the first and last row of each query among them, and the grades."""
        whole = self._judgments.ids.whole
        if whole is not None:
            numbers, offsets = self._numbers_of(start, stop), self._judgments.offsets
            return *whole.wide(), offsets[numbers], offsets[numbers + 1], self._judgments.grades
        rows, offsets, grades = self.judged(start, stop)
        return *self._judgments.ids.take(rows).wide(), offsets[:-1], offsets[1:], grades

    def _run_rows(self, start: int, stop: int) -> Chunk:
        """The ids of returned documents, with scores; data that kernels can read are not copied."""
        run, places = self._run, self._places[start:stop]
        whole = None if run.groups.apart or run.whole else run.documents.whole
        if whole is not None and (run.scores is None or _readable(run.scores)):
            there = places >= 0
            return *whole.wide(), run.groups.firsts[places] * there, run.groups.lasts[places] * there, run.scores
        rows, offsets = run.groups.rows(places)
        scores = None if run.scores is None else to_float64(run.scores[rows])
        return *run.documents.take(rows).wide(), offsets[:-1], offsets[1:], scores

    def first(self, query: int, rules: Rules) -> Any:
        run = self._run
        rows, offsets = run.groups.rows(self._places[query : query + 1])
        rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        if not offsets[-1]:
            return None
        rows = rows if run.scores is not None else rows[:1]
        documents = python_ids(run.documents.take(rows), run.documents.kind)
        scores = [0.0] if run.scores is None else to_float64(run.scores[rows]).tolist()
        return highest(dict(zip(documents, scores, strict=True)), rules)

    def run_refusal(self, query: int, error: InputError) -> Exception:
        rows, _ = self._run.groups.rows(self._places[query : query + 1])
        rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        row = rows[error.position : error.position + 1]
        document = python_ids(self._run.documents.take(row), self._run.documents.kind)[0]
        place = f"position {error.position}" if self._run.scores is None else f"row {int(row[0])}"
        where = f"{self._run_name}: {self.query_name(query)}, document {quoted(document)}"
        return refusal(error.code, where if self.part else f"{where} ({place})", EARLIER)


class PartSource(ColumnSource):
    """Some queries of larger data, whose rows no longer stand where the caller has them."""

    part = True
