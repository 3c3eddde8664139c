"""The documents that two judges have judged for the same queries, found in columns of ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain.data.groups import NumberedIds
from rankgain.data.ids import ChunkedIds, Ids, Keys, column_of, pick, python_ids, row_numbers
from rankgain.data.judgments import Judgments, JudgmentSets, types
from rankgain.data.ragged import offsets_of
from rankgain.errors import counted, quoted
from rankgain.scalars import Bools, Floats, Ints, to_intp

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
    judged = [_judged(side, rows) for side, rows in zip(sides, numbers, strict=True)]
    rows = _common_rows(*((keys, side.ids.kind, query) for side, (query, keys, _) in zip(sides, judged, strict=True)))
    if not len(rows[0]):
        reason = types(first.documents, second.documents, names)
        raise ValueError(
            f"{names[0]} and {names[1]} judge {counted(len(shared), 'query')} in common, but no document of them"
            f"{reason and ': ' + reason}"
        )
    (query, keys, grades), (_, _, other_grades) = judged
    present, query = np.unique(query[rows[0]], return_inverse=True)
    totals = [int(np.count_nonzero(side.grades >= 0.0)) for side in sides]
    return JudgedPairs(
        [shared[number] for number in present.tolist()],
        query.astype(np.int64),
        column_of(pick(keys, rows[0]), sides[0].ids.kind),
        (grades[rows[0]], other_grades[rows[1]]),
        (totals[0] - len(query), totals[1] - len(query)),
        (len(sides[0]) - len(shared), len(sides[1]) - len(shared)),
        sides,
        (numbers[0][present], numbers[1][present]),
    )


def _type(side: JudgmentSets) -> type:
    return int if side.ids.kind == "int" else str


def _judged(side: JudgmentSets, queries: Ints) -> tuple[Ints, Keys, Floats]:
    """Return the query, the id and the grade of each document of the given queries that is judged."""
    rows, offsets = side.rows(queries)
    query = np.repeat(np.arange(len(queries)), to_intp(np.diff(offsets)))
    grades = side.grades[rows]
    judged: Bools = grades >= 0.0
    return query[judged], side.ids.take(row_numbers(rows)[judged]), grades[judged]


def _common_rows(first: tuple[Keys, str, Ints], second: tuple[Keys, str, Ints]) -> tuple[Ints, Ints]:
    """Return the rows of the documents that two sides share, in the order of the first side."""
    (keys, kind, query), (other_keys, other_kind, other_query) = first, second
    if kind != other_kind:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    joined = ChunkedIds([column_of(keys, kind), column_of(other_keys, kind)]).take(slice(None))
    documents = _numbers(joined, kind)
    pairs = np.concatenate([query, other_query]) * (int(documents.max(initial=0)) + 1) + documents
    _, rows, other_rows = np.intersect1d(
        pairs[: len(query)], pairs[len(query) :], assume_unique=True, return_indices=True
    )
    order = np.argsort(rows)
    return rows[order], other_rows[order]


def _numbers(keys: Keys, kind: str) -> Ints:
    """Return a number for each id, the same for equal ids."""
    if kind == "int":
        return np.unique(keys.data, return_inverse=True)[1].astype(np.int64)
    numbers, rows = NumberedIds(kind).add(keys)
    return np.repeat(numbers, to_intp(np.diff(rows, append=len(keys.starts))))
