"""A run in columns: ids and scores by row, the rows of each query found once, whatever order they stand in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.batch import Hits, Needs
from rankgain.errors import Fault, Offence, refusal
from rankgain.ids import Column, Ids, Keys, Rows, objects_of, pick, stretches
from rankgain.lists import Floats, Ints, offsets_of, to_float64
from rankgain.rankings import CHUNK, TIES
from rankgain.truth import EARLIER, Judged, Judgments


class Groups:
    """The queries of a table, in the order of their first appearance, and the rows of each."""

    def __init__(self, names: Sequence[Any], firsts: Ints, lasts: Ints, order: Ints | None = None) -> None:
        """Rows first … last − 1, or, where the rows of a query lie apart, places in an `order` of them."""
        self.names = names
        self.firsts = firsts
        self.lasts = lasts
        self._order = order

    @classmethod
    def of(cls, queries: Ids, begins: Ints | None = None, count: int = 0) -> Groups:
        """By the id of each row, or of each run of rows: `begins` says where those begin, `count` how many rows are."""
        names: dict[Any, int] = {}
        codes, rows = [], []
        last = -1
        for start in range(0, len(queries), CHUNK):
            code = _number(queries.take(slice(start, start + CHUNK)), queries.kind, names)
            changes = np.flatnonzero(np.diff(code, prepend=last))
            codes.append(code[changes])
            rows.append(changes + start)
            last = int(code[-1])
        if not codes:
            return cls([], np.empty(0, np.int64), np.empty(0, np.int64))
        number, row = np.concatenate(codes), np.concatenate(rows)
        row = row if begins is None else begins[row]
        ends = np.append(row[1:], len(queries) if begins is None else count)
        if len(row) == len(names):
            return cls(list(names), row, ends)
        sizes = np.bincount(number, weights=ends - row, minlength=len(names)).astype(np.int64)
        offsets = offsets_of(sizes)
        # NumPy sorts 16 bits by counting
        each = np.repeat(number.astype(np.uint16 if len(names) <= 1 << 16 else np.int64), ends - row)
        return cls(list(names), offsets[:-1], offsets[1:], np.argsort(each, kind="stable"))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        return {name: number for number, name in enumerate(self.names)}

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """The rows of queries, one query after the other, and their offsets; −1 is a query of no rows."""
        some = queries >= 0
        if not len(self):
            return slice(0, 0), np.zeros(len(queries) + 1, dtype=np.int64)
        rows, offsets = stretches(self.firsts[queries] * some, self.lasts[queries] * some)
        return (rows if self._order is None else self._order[rows]), offsets

    def sizes(self, queries: Ints) -> Ints:
        return (self.lasts[queries] - self.firsts[queries]) * (queries >= 0) if len(self) else np.zeros_like(queries)


def _number(keys: Keys, kind: str, names: dict[Any, int]) -> Ints:
    """The number of each id by first appearance; `names` takes those that are new."""
    count = len(keys.starts) if len(keys.starts) else len(keys.data) // 8
    own, firsts = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    different = _backend.columns.number_ids(*keys, own, firsts)
    known = [names.setdefault(name, len(names)) for name in objects_of(pick(keys, firsts[:different]), kind)]
    return np.array(known, dtype=np.int64)[own]


class Table:
    """A run: the documents of each row, with their scores or, where there are none, in rank order."""

    def __init__(self, name: str, groups: Groups, documents: Ids, scores: Column | None, *, whole: bool = False) -> None:
        """`whole`: any document that stands twice in a query is an offence, not only judged ones."""
        self.name = name
        self.groups = groups
        self.documents = documents
        self.scores = scores
        self.whole = whole

    def hits(
        self, queries: Ints, truth: Judgments, truth_rows: Rows, offsets: Ints, needs: Needs, ties: int
    ) -> tuple[Hits, Fault]:
        """The hits of queries (−1: not in the run) among judged rows, and what was found wrong."""
        rows, run_offsets = self.groups.rows(queries)
        grades = truth.grades[truth_rows]
        hits = Hits(len(queries), len(grades))
        fault = _backend.columns.hits_in_columns(
            *truth.ids.take(truth_rows),
            offsets,
            grades,
            *self.documents.take(rows),
            run_offsets,
            np.empty(0) if self.scores is None else to_float64(self.scores[rows]),
            self.scores is None,
            needs.depth,
            needs.zeros,
            ties,
            self.whole,
            hits.offsets,
            hits.grade,
            hits.first,
            hits.last,
        )
        return hits, fault

    def check_ids(self, truth: Judgments) -> None:
        """Refuse ids that can never be found, for they are of another type than the truth's."""
        kinds = truth.ids.kind, self.documents.kind
        if "" not in kinds and kinds[0] != kinds[1]:
            raise ValueError(
                f"the document ids are {kinds[0]} in {truth.name} and {kinds[1]} in {self.name}: make them of one type"
            )


class Tabled(Judged):
    """A run in columns."""

    def __init__(
        self, truth: Judgments, run: Table, *, ties: str | None, missing: str, query_ids: Iterable[Hashable] | None
    ) -> None:
        super().__init__(truth, run.name, run.groups.numbers, ties=ties, missing=missing, query_ids=query_ids)
        run.check_ids(truth)
        self._run = run
        numbers = run.groups.numbers
        self._numbers = np.array([numbers.get(truth.query_ids[q], -1) for q in self._queries.tolist()], dtype=np.int64)

    @property
    def sizes(self) -> Ints:
        return self._run.groups.sizes(self._numbers)

    def hits(self, start: int, stop: int, rows: Rows, offsets: Ints, grades: Floats, needs: Needs) -> tuple[Hits, Fault]:
        ties = TIES[self.ties or "stable"]
        return self._run.hits(self._numbers[start:stop], self._truth, rows, offsets, needs, ties)

    def run_refusal(self, query: int, offence: Offence) -> Exception:
        rows, _ = self._run.groups.rows(self._numbers[query : query + 1])
        rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        row = rows[offence.position : offence.position + 1]
        document = objects_of(self._run.documents.take(row), self._run.documents.kind)[0]
        where = f"{self._run_name}: {self.query_name(query)}, document {document!r} (row {int(row[0])})"
        return refusal(offence.code, where, EARLIER)
