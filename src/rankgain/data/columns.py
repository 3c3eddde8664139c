"""Runs stored in columns: each row has a document id and, optionally, a score."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import Any, Self

import numpy as np

from rankgain import _backend
from rankgain._codes import COLUMNS, DUPLICATE, NAN_SCORE
from rankgain.choices import Duplicates, Missing
from rankgain.data.advice.zeros import ZERO_ADVICE
from rankgain.data.documents import Documents, documents_of_ids
from rankgain.data.groups import QueryRows
from rankgain.data.ids import NONE, Column, Ids, equal_rows, ids_of, python_ids, row_numbers
from rankgain.data.judgments import REPEATED, JudgmentSets, JudgmentSource, conversion
from rankgain.data.ragged import CHUNK, offsets_of, to_float64
from rankgain.data.rules import Rules
from rankgain.data.source import Chunk, chunks_of
from rankgain.errors import InputError, quoted, refusal
from rankgain.scalars import Array, Ints, id_kind, to_intp


def first_of_each(groups: QueryRows, documents: Ids, scores: Column | None) -> QueryRows:
    """Remove repeated documents from each query: keep only the first row with the document's highest score."""
    sizes = groups.sizes(np.arange(len(groups)))
    kept_sizes, chunks = np.zeros_like(sizes), []
    for start, stop in chunks_of(sizes, CHUNK):
        rows, offsets = groups.rows(np.arange(start, stop))
        chunk_scores = None if scores is None else to_float64(scores[rows])
        marks = np.zeros(offsets[-1], dtype=np.uint8)
        keys = documents.take(rows)
        _backend.columns.mark_firsts(*keys.buffers(), offsets, chunk_scores, marks, kept_sizes[start:stop])
        chunks.append((rows, marks.view(np.bool_)))
    if np.array_equal(kept_sizes, sizes):
        return groups
    offsets = offsets_of(kept_sizes)
    order = np.concatenate([row_numbers(rows)[is_first] for rows, is_first in chunks])
    return QueryRows(groups.names, offsets[:-1], offsets[1:], order)


def without_own_ids(groups: QueryRows, documents: Ids, names: Mapping[int, Any]) -> QueryRows:
    """Remove from each query the document that has the id of the query. `names`: the id of each query, by index."""
    own: list[Ints] = []
    kind = {"int": int, "str": str, "bytes": bytes}.get(documents.kind)
    numbers = np.array([row for row, name in names.items() if row >= 0 and id_kind(name) is kind], dtype=np.int64)
    for start, stop in chunks_of(groups.sizes(numbers), CHUNK):
        rows, offsets = groups.rows(numbers[start:stop])
        query = np.repeat(np.arange(stop - start), to_intp(np.diff(offsets)))
        ids = ids_of([names[number] for number in numbers[start:stop].tolist()]).take(slice(None))
        own.append(row_numbers(rows)[equal_rows(documents.take(rows), ids, query)])
    others = np.ones(len(documents), dtype=np.bool_)
    others[np.concatenate([NONE, *own])] = False
    rows, offsets = groups.rows(np.arange(len(groups)))
    remaining = others[rows]
    offsets = offsets_of(remaining)[offsets]
    return QueryRows(groups.names, offsets[:-1], offsets[1:], row_numbers(rows)[remaining])


class NegatedRanks:
    """Ranks converted to scores, so that higher is better."""

    def __init__(self, ranks: Column) -> None:
        self._ranks = ranks

    def __getitem__(self, rows: Any) -> Array:
        return -to_float64(self._ranks[rows])


def nan_rank(where: str) -> ValueError:
    return ValueError(f"{where}: the rank is NaN; leave out documents without a rank")


def check_kinds(judgments: JudgmentSets, name: str, kind: str, column: str | None = None) -> None:
    """Refuse document ids whose type differs from that of the judgments, because they can never match."""
    kinds = judgments.ids.kind, kind
    if "" not in kinds and kinds[0] != kinds[1]:
        advice = conversion(kinds, (judgments.name, name), (judgments.column, column)) or "; convert them to one type"
        raise ValueError(f"the document ids are {kinds[0]} in {judgments.name} and {kinds[1]} in {name}{advice}")


class RunColumns:
    """A run with one document per row. The documents either have scores or are in rank order."""

    def __init__(
        self,
        name: str,
        groups: QueryRows,
        documents: Ids,
        scores: Column | None,
        *,
        check_all: bool = False,
        duplicates: Duplicates = "error",
        column: str | None = None,
        assumed: tuple[str, ...] = (),
    ) -> None:
        """`check_all`: whether every document that a query returns twice is an error, or only a judged one.

        `duplicates`: whether a repeated document is an error, or counts once, at its first rank. `column`: the name of
        the document column, if the run is a table. `assumed`: assumptions about the run, in words.
        """
        self.name = name
        self.groups = first_of_each(groups, documents, scores) if duplicates == "first" else groups
        self.documents = documents
        self.scores = scores
        self.check_all = check_all
        self.column = column
        self.assumed = assumed


def _bytes_of(identifier: str) -> bytes:
    """Return the bytes of a text id, by which ties are broken."""
    return identifier.encode("utf-8", "surrogateescape")


def _native(scores: Column) -> bool:
    """Return whether kernels can read these scores without a conversion."""
    return type(scores) is np.ndarray and scores.dtype == np.float64 and to_float64(scores) is scores


class ColumnSource(JudgmentSource):
    """A run stored in columns, together with its judgments."""

    may_have_other_ids = True

    def __init__(
        self, judgments: JudgmentSets, run: RunColumns, *, missing: Missing, query_ids: Iterable[Hashable] | None
    ) -> None:
        judgments = judgments.matching(run.groups.names, int if run.documents.kind == "int" else str)
        if missing == "skip" and len(run.groups) < len(judgments):  # often one of many judged queries
            rows = zip(map(judgments.numbers.get, run.groups.names), range(len(run.groups)), strict=True)
            pairs = sorted((number, row) for number, row in rows if number is not None)
            common, in_run = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        else:
            numbers = run.groups.find(judgments.query_ids)  # the index of each judged query in the run, or −1
            common = np.flatnonzero(numbers >= 0)
            in_run = numbers[common] if missing == "skip" else numbers
        super().__init__(judgments, run.name, run.groups.names, common, missing, query_ids)
        check_kinds(judgments, run.name, run.documents.kind, run.column)
        self.assumed += run.assumed
        self._run = run
        self._run_numbers = in_run
        self._sizes = run.groups.sizes(self._run_numbers)

    def under_missing(self, missing: Missing) -> Self:
        return type(self)(self._judgments, self._run, missing=missing, query_ids=self._names_under(missing))

    def non_empty(self) -> Self:
        run = copy(self._run)
        run.groups = run.groups.non_empty()
        return type(self)(self._judgments, run, missing="skip", query_ids=self._names_non_empty())

    def without_own_ids(self) -> Self:
        run = copy(self._run)
        keys, names = self._keys_and_ids()
        ids = dict(zip(run.groups.find(keys).tolist(), names, strict=False))
        run.groups = without_own_ids(run.groups, run.documents, ids)
        removed = int(self._sizes.sum() - run.groups.sizes(self._run_numbers).sum())
        if not removed:
            return self
        given = self.query_ids if self._named else None
        source = type(self)(self._judgments, run, missing=self.missing or "zero", query_ids=given)
        source.own_ids = removed
        return source

    @property
    def sizes(self) -> Ints:
        return self._sizes

    @property
    def loads(self) -> Ints:
        # Documents in rank order need no sorting, only look-ups, which take about an eighth of the time.
        returned = self._sizes if self._run.scores is not None else self._sizes // 8
        return returned + self.judged_sizes

    def chunk_of(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        judged = self._judged_rows(judgments, start, stop)
        return COLUMNS, 0, stop - start, *judged, *self._run_rows(start, stop), self._run.check_all

    def _judged_rows(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        """Return the ids of the judged documents, the bounds of each query's rows, and the grades."""
        keys = judgments.ids.in_place
        if keys is not None:
            numbers, offsets = self._numbers_of(start, stop), judgments.offsets
            return *keys.wide(), offsets[numbers], offsets[numbers + 1], judgments.grades
        rows, offsets = judgments.rows(self._numbers_of(start, stop))
        return *judgments.ids.take(rows).wide(), offsets[:-1], offsets[1:], judgments.grades[rows]

    def _run_rows(self, start: int, stop: int) -> Chunk:
        """Return the ids of the returned documents, the bounds of each query's rows, and the scores.

        The data are not copied if kernels can read them in place.
        """
        run, numbers = self._run, self._run_numbers[start:stop]
        keys = None if run.groups.scattered or run.check_all else run.documents.in_place
        if keys is not None and (run.scores is None or _native(run.scores)):
            in_run = numbers >= 0
            return *keys.wide(), run.groups.firsts[numbers] * in_run, run.groups.lasts[numbers] * in_run, run.scores
        rows, offsets = run.groups.rows(numbers)
        scores = None if run.scores is None else to_float64(run.scores[rows])
        return *run.documents.take(rows).wide(), offsets[:-1], offsets[1:], scores

    def documents_of(self, query: int) -> list[Any]:
        documents = self._run.documents
        return python_ids(documents.take(self._rows_of(query)), documents.kind)

    @property
    def may_have_one_document(self) -> tuple[bool, bool]:
        return len(self._judgments.grades) <= len(self._judgments), bool(self._sizes[:1] <= 1)

    def documents(self, query: int, rules: Rules) -> Documents:
        run = self._run
        rows = self._rows_of(query)
        kind = run.documents.kind
        ids = python_ids(run.documents.take(rows), kind)
        scores = None if run.scores is None else to_float64(run.scores[rows]).tolist()
        keys = list(map(_bytes_of, ids)) if kind == "str" else None
        return documents_of_ids(rules, ids, scores, self._judgments.of_query(self._number(query)), keys)

    def first_documents(self, queries: Sequence[int], rules: Rules) -> Iterator[Any]:
        if self._run.scores is None or rules.judged_only:
            yield from super().first_documents(queries, rules)
            return
        kind = self._run.documents.kind
        key = _bytes_of if kind == "str" else None
        for start, stop in chunks_of(self._sizes[[*queries]], CHUNK):
            rows, counts = self._first_rows(self._run_numbers[[*queries[start:stop]]], self._run.scores, rules)
            ids = iter(python_ids(self._run.documents.take(rows), kind))
            for tied in (list(islice(ids, count)) for count in counts.tolist()):
                yield max(tied, key=key, default=None) if rules.ties == "docid" else next(iter(tied), None)

    def _first_rows(self, numbers: Ints, scores: Column, rules: Rules) -> tuple[Ints, Ints]:
        """Return the rows with the highest score of each query, and their number for each query."""
        rows, offsets = self._run.groups.rows(numbers)
        values, sizes = to_float64(scores[rows]), np.diff(offsets)
        if rules.score_bits == 32:
            with np.errstate(over="ignore"):  # scores too large for float32 become infinite
                values = values.astype(np.float32)
        begins = to_intp(offsets[:-1][sizes > 0])
        highest = np.maximum.reduceat(values, begins) if len(begins) else values
        is_first = values == np.repeat(highest, to_intp(sizes[sizes > 0]))
        return row_numbers(rows)[is_first], np.diff(offsets_of(is_first)[offsets])

    def _rows_of(self, query: int) -> Ints:
        """Return the row numbers of a query in the run."""
        return row_numbers(self._run.groups.rows(self._run_numbers[query : query + 1])[0])

    def run_refusal(self, query: int, error: InputError) -> Exception:
        row = self._rows_of(query)[error.position : error.position + 1]
        document = python_ids(self._run.documents.take(row), self._run.documents.kind)[0]
        position = f"position {error.position}" if self._run.scores is None else f"row {int(row[0])}"
        where = f"{self._run_name}: {self.query_name(query)}, document {quoted(document)}"
        where = where if self.part else f"{where} ({position})"
        if error.code == NAN_SCORE and isinstance(self._run.scores, NegatedRanks):
            return nan_rank(where)
        refused = refusal(error.code, where, REPEATED)
        is_padding = document == 0 and self._run.scores is None and error.code == DUPLICATE
        return type(refused)(f"{refused}{ZERO_ADVICE}") if is_padding else refused


class PartSource(ColumnSource):
    """Some of the queries of a larger run. Errors omit row numbers, which would not match the caller's data."""

    part = True
    may_have_other_ids = False
