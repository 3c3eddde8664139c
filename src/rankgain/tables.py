"""A run in columns: ids and scores by row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from rankgain import _backend
from rankgain.batch import Hits, Needs
from rankgain.errors import Fault, Offence, refusal
from rankgain.groups import Groups
from rankgain.ids import Column, Ids, Keys, Rows, python_ids
from rankgain.lists import Floats, Ints, single, to_float64
from rankgain.rankings import TIES
from rankgain.truth import EARLIER, Judged, Judgments


def check_validate(validate: str) -> str:
    if not isinstance(validate, str) or validate not in ("judged", "full"):
        raise ValueError(f"validate must be 'judged' or 'full', not {validate!r}")
    return validate


def check_kinds(truth: Judgments, name: str, kind: str) -> None:
    """Refuse ids that can never be found, for they are of another type than the truth's."""
    kinds = truth.ids.kind, kind
    if "" not in kinds and kinds[0] != kinds[1]:
        raise ValueError(
            f"the document ids are {kinds[0]} in {truth.name} and {kinds[1]} in {name}: make them of one type"
        )


class Table:
    """A run: the documents of each row, with their scores or, where there are none, in rank order."""

    def __init__(
        self, name: str, groups: Groups, documents: Ids, scores: Column | None, *, whole: bool = False
    ) -> None:
        """`whole`: any document that stands twice in a query is an offence, not only judged ones."""
        self.name = name
        self.groups = groups
        self.documents = documents
        self.scores = scores
        self.whole = whole

    def hits(
        self, queries: Ints, judged: Keys, offsets: Ints, grades: Floats, needs: Needs, ties: int, bits: int
    ) -> tuple[Hits, Fault]:
        """The hits of queries (−1: not in the run) among what is judged of each, and what was found wrong."""
        rows, run_offsets = self.groups.rows(queries)
        hits = Hits(len(queries), len(grades))
        fault = _backend.columns.hits_in_columns(
            *judged.buffers(),
            offsets,
            grades,
            *self.documents.take(rows).buffers(),
            run_offsets,
            np.empty(0) if self.scores is None else to_float64(single(self.scores[rows], bits)),
            self.scores is None,
            needs.depth,
            needs.below,
            ties,
            self.whole,
            hits.offsets,
            hits.grade,
            hits.first,
            hits.last,
        )
        return hits, fault


class Tabled(Judged):
    """A run in columns."""

    def __init__(
        self, truth: Judgments, run: Table, *, ties: str | None, missing: str, query_ids: Iterable[Hashable] | None
    ) -> None:
        self._run = run
        super().__init__(truth, run.name, run.groups.known, ties=ties, missing=missing, query_ids=query_ids)

    def choose(self, missing: str, query_ids: Iterable[Hashable] | None) -> None:
        super().choose(missing, query_ids)
        check_kinds(self._truth, self._run.name, self._run.documents.kind)
        self._numbers = self._run.groups.find(self._truth.query_ids)[self._queries]
        self._sizes = self._run.groups.sizes(self._numbers)

    @property
    def loads(self) -> Ints:
        # Of a list in rank order nothing is held, and a long one only read in passing.
        returned = self.sizes if self._run.scores is not None else self.sizes // 8
        return returned + self.judged_sizes

    def returned(self, start: int, stop: int) -> Ints:
        return self._sizes[start:stop]

    def hits(
        self, start: int, stop: int, rows: Rows, offsets: Ints, grades: Floats, needs: Needs
    ) -> tuple[Hits, Fault]:
        ties = TIES[self.ties or "stable"]
        numbers, judged = self._numbers[start:stop], self._truth.ids.take(rows)
        return self._run.hits(numbers, judged, offsets, grades, needs, ties, self.score_bits)

    def run_refusal(self, query: int, offence: Offence) -> Exception:
        rows, _ = self._run.groups.rows(self._numbers[query : query + 1])
        rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        row = rows[offence.position : offence.position + 1]
        document = python_ids(self._run.documents.take(row), self._run.documents.kind)[0]
        place = f"position {offence.position}" if self._run.scores is None else f"row {int(row[0])}"
        where = f"{self._run_name}: {self.query_name(query)}, document {document!r} ({place})"
        return refusal(offence.code, where, EARLIER)
