"""The documents that two judges have judged for the same queries, found in columns of ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.data.columns import PartSource, RunColumns
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Ids, column_of, python_ids
from rankgain.data.judgments import Judgments, JudgmentSets, types
from rankgain.data.ragged import offsets_of
from rankgain.data.rules import GIVEN
from rankgain.errors import counted, quoted
from rankgain.metrics.program import chunk_hits
from rankgain.scalars import NON_RELEVANT, Floats, Ints, to_intp

Names = tuple[str, str]


def check_names(names: Any) -> Names:
    """Return the names of two judges; raise an error if they are not two different texts."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be two texts, such as ('human', 'llm'), not {quoted(names)}")
    if len(names) != 2 or len({*names}) != 2 or not all(names):
        raise ValueError(f"names must be two different texts, such as ('human', 'llm'), not {quoted(names)}")
    return names[0], names[1]


class JudgedPairs(NamedTuple):
    """The documents judged by both judges, in the order of the first, and their grades.

    `query`: the number of each document's query in `query_ids`, which has the queries with such a document. `only`: how
    many documents only the first and only the second judged, in all queries; `queries_only`: the same of queries.
    `sides`: the judgments of both, `numbers`: the rows of `query_ids` in them.
    """

    query_ids: Sequence[Any]
    query: Ints
    documents: Ids
    grades: tuple[Floats, Floats]
    only: tuple[int, int]
    queries_only: tuple[int, int]
    sides: tuple[JudgmentSets, JudgmentSets]
    numbers: tuple[Ints, Ints]

    def common(self, side: int) -> Judgments:
        """Return the judgments of one side, but only of documents that both have judged."""
        offsets = offsets_of(np.bincount(to_intp(self.query), minlength=len(self.query_ids)))
        return self._judgments(side, offsets, self.grades[side], self.documents)

    def own(self, side: int) -> Judgments:
        """Return all judgments of one side for the queries in which both have judged a document."""
        sets = self.sides[side]
        rows, offsets = sets.rows(self.numbers[side])
        return self._judgments(side, offsets, sets.grades[rows], column_of(sets.ids.take(rows), sets.ids.kind))

    def has_more(self, side: int) -> bool:
        """Return whether one side has judged further documents of these queries."""
        rows, _ = self.sides[side].rows(self.numbers[side])
        return int(np.count_nonzero(self.sides[side].grades[rows] >= 0.0)) > len(self.query)

    def _judgments(self, side: int, offsets: Ints, grades: Floats, documents: Ids) -> Judgments:
        sets = JudgmentSets(self.sides[side].name, self.query_ids)
        sets.text_ids = all(each.text_ids for each in self.sides)
        return Judgments(sets.with_columns(offsets, grades, ids=documents))

    def document_ids(self, rows: Ints) -> list[Any]:
        """Return the documents in the given rows as Python objects."""
        return python_ids(self.documents.take(rows), self.documents.kind)


def judged_pairs(first: JudgmentSets, second: JudgmentSets, names: Names) -> JudgedPairs:
    """Find the documents that both judges have judged; raise ValueError if there is none."""
    sides = first.matching(second.query_ids, _type(second)), second.matching(first.query_ids, _type(first))
    shared = [query for query in sides[0].query_ids if query in sides[1].numbers]
    if not shared:
        reason = types(first.query_ids, second.query_ids, names)
        raise ValueError(f"{names[0]} and {names[1]} have no query in common{reason and ': ' + reason}")
    numbers = [np.array([side.numbers[query] for query in shared], dtype=np.int64) for side in sides]
    rows, offsets = sides[0].rows(numbers[0])
    documents, grades = column_of(sides[0].ids.take(rows), sides[0].ids.kind), sides[0].grades[rows]
    other_rows = _rows_of_documents(documents, offsets, sides[1], numbers[1])
    chosen = np.flatnonzero((other_rows >= 0) & (grades >= 0.0))
    chosen = chosen[sides[1].grades[other_rows[chosen]] >= 0.0]
    if not len(chosen):
        reason = types(first.documents, second.documents, names)
        raise ValueError(
            f"{names[0]} and {names[1]} judge {counted(len(shared), 'query')} in common, but no document of them"
            f"{reason and ': ' + reason}"
        )
    query = np.repeat(np.arange(len(shared)), to_intp(np.diff(offsets)))[chosen]
    present, query = np.unique(query, return_inverse=True)
    totals = [int(np.count_nonzero(side.grades >= 0.0)) for side in sides]
    return JudgedPairs(
        [shared[number] for number in present.tolist()],
        query.astype(np.int64),
        column_of(documents.take(chosen), documents.kind),
        (grades[chosen], sides[1].grades[other_rows[chosen]]),
        (totals[0] - len(query), totals[1] - len(query)),
        (len(sides[0]) - len(shared), len(sides[1]) - len(shared)),
        sides,
        (numbers[0][present], numbers[1][present]),
    )


def _type(side: JudgmentSets) -> type:
    return int if side.ids.kind == "int" else str


def _rows_of_documents(documents: Ids, offsets: Ints, other: JudgmentSets, numbers: Ints) -> Ints:
    """Return the row in which the other judge has each document of the same query, or −1.

    They are matched as a run and its judgments are: each document has its row in place of a grade, and the documents of
    the other judge are returned in their order.
    """
    result = np.full(int(offsets[-1]), -1, dtype=np.int64)
    if documents.kind != other.ids.kind:
        return result
    sets = JudgmentSets("first", range(len(numbers)))
    sets.offsets, sets.ids, sets.grades = offsets, documents, np.arange(1.0, len(result) + 1.0)
    starts = other.offsets[numbers]
    groups = QueryRows(range(len(numbers)), starts, other.offsets[numbers + 1])
    source = PartSource(sets, RunColumns("second", groups, other.ids, None), missing="zero", query_ids=None)
    done = 0
    for hits in chunk_hits(source, GIVEN, UNLIMITED, NON_RELEVANT):
        count = int(hits.offsets[hits.queries])
        sizes = np.diff(hits.offsets[: hits.queries + 1])
        firsts = np.repeat(starts[done : done + hits.queries], to_intp(sizes))
        result[to_intp(hits.grade[:count]) - 1] = firsts + hits.first[:count] - 1
        done += hits.queries
    return result
