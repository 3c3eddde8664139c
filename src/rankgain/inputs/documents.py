"""Read a run in any form as documents alone, to compare it with another run without judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rankgain.choices import Duplicates, Ties
from rankgain.data.column_names import ROW_COLUMNS
from rankgain.data.columns import ColumnSource, NegatedRanks, RunColumns
from rankgain.data.dicts import DictSource, refuse_empty_ids
from rankgain.data.given import Given, recognise
from rankgain.data.groups import QueryRows
from rankgain.data.id_lists import ID_TYPES, checked, column_of_rows, id_lists_of, refuse_scores, runs_of_tuples
from rankgain.data.ids import column_of
from rankgain.data.judgments import JudgmentSets, JudgmentSource, as_dict
from rankgain.data.lines import read_run
from rankgain.data.padding import cut
from rankgain.data.ragged import offsets_of, to_float64
from rankgain.data.rules import GIVEN, Rules, rules_of
from rankgain.data.series import by_query
from rankgain.errors import quoted
from rankgain.inputs.frames import columns_of_run, runs_of_frame
from rankgain.inputs.rows import has_rows_by_query, run_of_rows
from rankgain.rankings import Rankings
from rankgain.scalars import Bools, Floats, Ints, id_kind

_DEMAND = "hold lists of ids, best first, or be a mapping to those"
_FORMS = "give a mapping from query to {document: score} or to ids in rank order, a data frame, or a file"


class RunDocuments:
    """A run: the documents of each query, with scores or in rank order.

    Attributes
    ----------
    name : str
        What errors call the run: a file or the argument.
    queries : sequence
        The queries; a range if they have no names.
    is_scored : bool
        Whether documents have scores, which may be tied.
    has_similarities : bool
        Whether the scores can be compared with a threshold: they are not ranks.
    """

    def __init__(self, name: str, run: RunColumns | Mapping[Any, Any], *, is_scored: bool, text_ids: bool = False):
        self.name = name
        self._run = run
        self.is_scored = is_scored
        self._text_ids = text_ids
        self.queries: Sequence[Any] = run.groups.names if isinstance(run, RunColumns) else list(run)
        ranks = isinstance(run, RunColumns) and isinstance(run.scores, NegatedRanks)
        self.has_similarities = is_scored and not ranks

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was assumed about the run, in words."""
        return self._run.assumed if isinstance(self._run, RunColumns) else ()

    def rules(self, ties: Ties) -> Rules:
        return rules_of(ties, ids=True) if self.is_scored else GIVEN

    def as_judgments(self) -> JudgmentSets:
        """Return the documents as judgments whose grade is the row, counted from 1.

        The hits of a run against them are the documents that it shares, and say in which rows these are.
        """
        sets, run = JudgmentSets(self.name, self.queries), self._run
        if isinstance(run, RunColumns):
            rows, offsets = run.groups.rows(np.arange(len(run.groups)))
            ids = column_of(run.documents.take(rows), run.documents.kind)
            sets = sets.with_columns(offsets, _numbered(offsets), ids=ids)
            sets.error_code = None  # a repeated document is reported where the run is ranked
        else:
            documents = list(map(as_dict, run.values()))
            offsets = offsets_of(list(map(len, documents)))
            sets = sets.with_columns(offsets, _numbered(offsets), documents=list(chain.from_iterable(documents)))
        sets.called, sets.text_ids = self.name, self._text_ids
        sets.column = run.column if isinstance(run, RunColumns) else None
        return sets

    def against(self, judgments: JudgmentSets) -> JudgmentSource:
        """Return the source that matches the run with the documents of a run."""
        if isinstance(self._run, RunColumns):
            return ColumnSource(judgments, self._run, missing="zero", query_ids=None)
        return DictSource(judgments, self._run, "zero", name=self.name)

    def scores(self, queries: Sequence[Any]) -> list[Floats]:
        """Return the scores of the given queries."""
        run = self._run
        if isinstance(run, RunColumns):
            rows, offsets = run.groups.rows(run.groups.find(queries))
            assert run.scores is not None
            return np.split(to_float64(run.scores[rows]), offsets[1:-1])
        by_query = (run.get(query) or {} for query in queries)
        return [np.array([float(score) for score in scores.values()]) for scores in by_query]

    def has(self, queries: Sequence[Any]) -> Bools:
        """Return which of the queries the run has."""
        names = self.queries if isinstance(self.queries, range) else set(self.queries)
        return np.fromiter((query in names for query in queries), np.bool_, len(queries))

    @property
    def document_kind(self) -> type | None:
        """The type of document ids; None if there are none or they are neither text nor integers."""
        run = self._run
        if isinstance(run, RunColumns):
            return {"int": int, "str": str, "bytes": bytes}.get(run.documents.kind)
        first = next(chain.from_iterable(run.values()), None)
        return None if first is None else id_kind(first)


def _numbered(offsets: Ints) -> Floats:
    return np.arange(1.0, int(offsets[-1]) + 1.0)


def documents_of(
    value: Any,
    argument: str,
    columns: Mapping[str, Any],
    duplicates: Duplicates = "error",
    other: RunDocuments | None = None,
) -> RunDocuments:
    """Read a run in any form that `evaluate` takes.

    `columns`: the columns that the caller named, by role. `other`: the run that was read before, whose types of ids the
    text of an untyped file is converted to.
    """
    if isinstance(value, RunDocuments):  # it was read before
        return value
    if isinstance(value, Rankings):
        raise TypeError(f"{argument} is Rankings, which hold judgments too: give the run alone")
    given = recognise(value, argument, columns, is_table=_is_table(value, columns))
    if given.kind == "judgments":
        raise TypeError(f"{argument} is Judgments, which are no run: {_FORMS}")
    if columns and given.kind != "table":
        raise TypeError(f"{next(iter(columns))}= names a column, and {argument} is not a table: leave it out")
    if given.kind == "dicts":
        for query, scores in given.data.items():
            if not isinstance(scores, Mapping):
                raise TypeError(f"{argument}: query {quoted(query)}: must be a mapping by document")
        refuse_empty_ids(given.data, given.data.values(), given.name)
        return RunDocuments(given.name, given.data, is_scored=True)
    if given.kind == "trec":
        run = read_run(given.data, argument=argument, duplicates=duplicates)
        return RunDocuments(run.name, run, is_scored=True)
    if given.kind == "table":
        return _of_table(given, columns, duplicates, other)
    return _of_lists(given, duplicates)


def _is_table(value: Any, columns: Mapping[str, Any]) -> bool:
    """Return whether a value certainly is a table: records, or columns of which one has lists of ids."""
    if isinstance(value, Mapping):
        return "retrieved" in columns or not value.keys().isdisjoint(ROW_COLUMNS["retrieved"])
    return isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], Mapping)


def _of_table(
    given: Given, columns: Mapping[str, Any], duplicates: Duplicates, other: RunDocuments | None
) -> RunDocuments:
    frame = given.frame
    if "retrieved" in columns or ("doc" not in columns and has_rows_by_query(frame)):
        run = run_of_rows(frame, columns.get("query"), columns.get("retrieved"), duplicates)
        return RunDocuments(run.name, run, is_scored=False)
    of_text = other is None or not frame.text_ids or other._text_ids
    like, doc = (None, None) if of_text or other is None else (next(iter(other.queries), None), other.document_kind)
    used = columns_of_run(frame, columns)
    (run,) = runs_of_frame(
        frame, columns, used, like, doc is int, check_all=duplicates == "error", duplicates=duplicates
    ).values()
    return RunDocuments(run.name, run, is_scored=True, text_ids=frame.text_ids)


def _of_lists(given: Given, duplicates: Duplicates) -> RunDocuments:
    """Read lists of ids in rank order."""
    value, name = given.data, given.name
    if given.kind == "sparse" or given.values == "fractions":
        refuse_scores(value, name) if isinstance(value, tuple) else None
        raise TypeError(f"{name} holds scores without ids: {_FORMS}")
    form = by_query(value, name).form if given.kind == "series" else given.form
    users, rows = id_lists_of(*form, _DEMAND)
    if type(users) is range and len(rows) and isinstance(rows[0], ID_TYPES):
        users, rows = range(1), [cut(rows)]  # the list of a single query
    rows = checked(name, users, rows, (list, tuple), "a list of ids, best first")
    if type(rows) is list and isinstance(next(chain.from_iterable(rows), ()), tuple) and any(map(len, rows)):
        return RunDocuments(name, runs_of_tuples(name, users, rows, None, duplicates), is_scored=False)
    ids, firsts, lasts = column_of_rows(name, users, rows)
    groups = QueryRows(users, firsts, lasts)
    run = RunColumns(name, groups, ids, None, check_all=duplicates == "error", duplicates=duplicates)
    return RunDocuments(name, run, is_scored=False)


def check_pairing(old: RunDocuments, new: RunDocuments) -> None:
    """Refuse two runs whose queries are paired by position on one side only, or whose ids can never match."""
    by_position = [isinstance(run.queries, range) for run in (old, new)]
    if by_position == [True, True] and len(old.queries) != len(new.queries):
        raise ValueError(f"old has {len(old.queries)} queries without names, and new has {len(new.queries)}")
    if by_position[0] != by_position[1]:
        named, positional = ("old", "new") if by_position[1] else ("new", "old")
        raise ValueError(f"{named} has names of queries and {positional} has none: give a mapping from query to ids")
