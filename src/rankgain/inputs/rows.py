"""`from_rows`: make Rankings from a table with one row per query and lists of ids in its columns."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from rankgain.choices import Duplicates, Missing, Validate, check_choices
from rankgain.data.advice.list_texts import EXAMINED, refuse_list_texts
from rankgain.data.advice.several_ids import refuse_several_ids
from rankgain.data.advice.zeros import IdRows, id_rows, remarks_on_zero_ids
from rankgain.data.column_names import (
    NAMES_IF_DISTINCT,
    ROW_COLUMNS,
    ColumnName,
    QueryKey,
    bare,
    check_roles,
    key_columns,
)
from rankgain.data.columns import ColumnSource, RunColumns
from rankgain.data.given import recognise
from rankgain.data.groups import QueryRows
from rankgain.data.id_lists import checked, column_of_rows, judgments_of
from rankgain.data.ids import begins_with_bracket, python_ids
from rankgain.data.judgments import JudgmentSets, of_ids
from rankgain.data.padding import without_padding
from rankgain.data.rules import GIVEN
from rankgain.data.tables.frame import Frame
from rankgain.data.tables.readers import ListColumn
from rankgain.errors import NoKeywords, quoted, unexpected, without_unknown
from rankgain.rankings import Rankings

# Columns with these names hold texts in some tools and ids in others. Error messages suggest them, but they are never
# used by default.
_UNSURE = {
    "relevant": ("ground_truth", "ground_truths", "reference", "reference_contexts", "expected", "relevant_docs"),
    "retrieved": ("contexts", "retrieved_contexts", "predictions", "prediction", "response", "results"),
}


@without_unknown
def from_rows(
    table: Any,
    *,
    query: QueryKey | None = None,
    relevant: ColumnName | None = None,
    retrieved: ColumnName | None = None,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from a table that has one row per query and lists of ids in its columns.

    Question sets for evaluating RAG, and tables from MLflow and from Hugging Face's datasets, have this form.

    Parameters
    ----------
    table : frame, records, or path
        As in `from_frames`: a data frame, a mapping of columns, a list of mappings, or the path of a parquet, Arrow or
        JSON file. A file of JSON lines has an object per line.
    query : str, int or list of them, optional
        The column of query ids, which must be distinct, or the columns of one key; the queries are then tuples. By
        default, the first that exists of query_id, qid and id, or else the first whose values are distinct of
        question_id, prompt_id, example_id, sample_id, topic_id, user_id, uid, question, query, user_input, prompt and
        input. Without one, queries are numbered from 0; if another column may name them, `Evaluation.assumed` says so.
    relevant : str or int, optional
        The column of relevant documents: a list of ids, one id, or a mapping from id to grade, in Arrow a map or a
        struct, whose nulls mean absent. A query in which it is null is left out and counted as ``unjudged``; with an
        empty list it is evaluated and counted as ``empty``. By default, the first of relevant, relevant_ids,
        expected_ids and reference_context_ids that holds lists or mappings.
    retrieved : str or int, optional
        The column of returned ids, best first. Null or absent: the query is missing, see `missing`. By default, the
        first of retrieved, recommended, retrieved_ids, recommended_ids and retrieved_context_ids that holds lists.
    missing : {"zero", "skip"}, default "zero"
        Whether queries without returned documents are evaluated as empty lists, hence 0, or left out.
    validate : {"judged", "full"}, default "judged"
        Which documents a query may not return twice: relevant ones, or any.
    duplicates : {"error", "first"}, default "error"
        Whether a document that is returned twice is an error, or counts once, at its first rank.
    query_ids : iterable of hashable, optional
        Other names for the queries that are evaluated, one per query.

    Returns
    -------
    Rankings
        With the queries in the order of the rows.

    Raises
    ------
    ValueError
        If a column does not exist (the message lists those that do), a query id repeats or is null, ids are of
        different types, a file cannot be parsed, or `missing`, `validate` or `duplicates` is unknown. In
        `Rankings.evaluate`, if a relevant document is returned or listed twice, or a grade is not finite.
    TypeError
        If `table` is not a table, or a column holds anything but ids.
    OSError
        If a file cannot be read.
    ImportError
        If a file is to be read and pyarrow is not installed: ``pip install 'rankgain[arrow]'``.

    See Also
    --------
    from_recommendations : The same from lists.
    from_frames : Tables with one row per document.

    Examples
    --------
    >>> import rankgain as rg
    >>> questions = [
    ...     {"id": "refund", "relevant": ["terms-4", "terms-5"], "retrieved": ["faq-2", "terms-4", "news-7"]},
    ...     {"id": "hours", "relevant": ["contact-1"], "retrieved": ["contact-1"]},
    ... ]
    >>> rg.from_rows(questions).evaluate("success@1", "recall@3").mean()
    {'success@1': 0.5, 'recall@3': 0.75}
    """
    if unknown:
        raise unexpected(from_rows, unknown)
    check_choices(missing=missing, validate=validate, duplicates=duplicates)
    frame = recognise(table, "table", is_table=True).frame
    truth, run = _need(frame, "relevant", relevant), _need(frame, "retrieved", retrieved)
    names = _find(frame, "query", query)
    named = {"query": query, "relevant": relevant, "retrieved": retrieved}
    check_roles({"query": names, "relevant": truth, "retrieved": run}, named, frame.argument)
    candidates = [] if names is not None else _with_ids(frame, NAMES_IF_DISTINCT, (truth, run))
    frame.prepare(list(dict.fromkeys([truth, run, *(candidates if names is None else key_columns(names))])))
    if names is not None:
        queries: list[Any] | None = _query_names(frame, names)
    else:
        queries = next((ids for name in candidates if (ids := _if_distinct(frame, name)) is not None), None)
    judgments = _judgments(frame, truth, queries)
    if queries is None:
        judgments.assumed += _numbered(frame, candidates, (truth, run))
    groups, ids = _columns(frame, run, queries)
    returned = RunColumns(frame.where(run), groups, ids, None, check_all=validate == "full", duplicates=duplicates)
    source = ColumnSource(judgments, returned, missing=missing, query_ids=query_ids)
    refuse_several_ids(source, truth, run)
    judged = id_rows(judgments, are_ordered=frame.content(truth) == "lists")
    source.assumed += remarks_on_zero_ids(judged, IdRows(returned.name, ids, groups.firsts, groups.lasts))
    return Rankings(source, GIVEN)


def run_of_rows(
    frame: Frame, query: QueryKey | None, retrieved: ColumnName | None, duplicates: Duplicates
) -> RunColumns:
    """Read a run from a frame with one row per query. All repeated documents are looked for."""
    run, names = _need(frame, "retrieved", retrieved), _find(frame, "query", query)
    frame.prepare([run] if names is None else [names, run])
    groups, ids = _columns(frame, run, None if names is None else _query_names(frame, names))
    return RunColumns(frame.where(run), groups, ids, None, check_all=True, duplicates=duplicates)


def has_rows_by_query(frame: Frame) -> bool:
    """Return whether a table has a commonly named column of returned id lists, and has no column of document ids."""
    if frame.find("doc", None) is not None:
        return False
    if _find(frame, "retrieved", None) is None:
        frame.complete()  # the first record may lack the column
    return frame.find("doc", None) is None and _find(frame, "retrieved", None) is not None


def _find(frame: Frame, role: str, name: QueryKey | None) -> Any:
    """Return the column for a role: the one the caller named, or the first with a common name and usable values."""
    if name is not None:
        return frame.find(role, name)
    kinds = {"query": ("ids",), "relevant": ("lists", "mappings"), "retrieved": ("lists",)}[role]
    return next((column for column in _named(frame, ROW_COLUMNS[role]) if frame.content(column) in kinds), None)


def _named(frame: Frame, usual: Sequence[str]) -> list[Any]:
    """Return the columns with usual names, in the order of these. Exact names come before other spellings."""
    by_name = {bare(column): column for column in reversed(frame.names)} | {column: column for column in frame.names}
    return list(dict.fromkeys(by_name[name] for name in (*usual, *map(bare, usual)) if name in by_name))


def _with_ids(frame: Frame, usual: Sequence[str], others: Sequence[str]) -> list[Any]:
    """Return the columns with usual names that hold ids, except for columns in other roles."""
    return [name for name in _named(frame, usual) if name not in others and _holds_ids(frame, name)]


def _holds_ids(frame: Frame, name: Any) -> bool:
    return frame.names.count(name) == 1 and frame.content(name) == "ids"


def _need(frame: Frame, role: str, name: ColumnName | None) -> Any:
    column = _find(frame, role, name)
    if column is None:
        frame.complete()
        column = _find(frame, role, name)
    if column is not None:
        return column
    others = [other for other in frame.names if other in (*_UNSURE[role], *ROW_COLUMNS[role])]
    advice = f"pass {role}={others[0]!r} if it holds ids" if others else f"pass {role}="
    if others and role == "retrieved" and frame.content(others[0]) != "lists":
        advice = f"{others[0]!r} holds no lists: write a list of ids per query"
    raise ValueError(
        f"{frame.argument} has no column of {role} ids in lists (expected {', '.join(ROW_COLUMNS[role])}; found "
        f"{frame.listed()}): {advice}"
    )


def _query_names(frame: Frame, name: QueryKey) -> list[Any]:
    """Return the query ids, after checking that they are distinct."""
    columns = [frame.ids(column) for column in key_columns(name)]
    parts = [python_ids(ids.take(slice(None)), ids.kind) for ids in columns]
    names = [*zip(*parts, strict=True)] if isinstance(name, list) else parts[0]
    if len(set(names)) < len(names):
        first: dict[Any, int] = {}
        for row, query in enumerate(names):
            if query in first:
                raise ValueError(
                    f"{frame.where(name)}, row {row}: query {quoted(query)} repeats that of row {first[query]}; "
                    "write one row per query"
                )
            first[query] = row
    return names


def _if_distinct(frame: Frame, name: str) -> list[Any] | None:
    """Return the ids in a column if they are distinct and not null."""
    try:
        ids = frame.ids(name)
        names = python_ids(ids.take(slice(None)), ids.kind)
    except (TypeError, ValueError):  # some are null or no ids
        return None
    return names if len(set(names)) == len(names) else None


_OF_IDS = re.compile(r"(?i:.*[_-]id|u?u?id)|.*[a-z]I[dD]")
# The ids of what is new in each run, which never name a query.
_NEW_IN_EACH_RUN = ("trace", "span", "run", "request", "message", "response", "session", "conversation")


def _numbered(frame: Frame, repeating: Sequence[str], roles: Sequence[str]) -> tuple[str, ...]:
    """Say which column could name the queries, which are numbered."""
    for name in frame.names:
        if name in roles or not isinstance(name, str) or not _OF_IDS.fullmatch(name):
            continue
        may_name = not bare(name).startswith(_NEW_IN_EACH_RUN) and _holds_ids(frame, name)
        if may_name and _if_distinct(frame, name) is not None:
            return (f"{frame.argument}: queries are numbered by row; if {name!r} names them, pass query={name!r}",)
    if repeating:
        return (f"{frame.argument}: queries are numbered by row, since {repeating[0]!r} has repeats or nulls",)
    return ()


class _Columns(NamedTuple):
    groups: QueryRows
    ids: Any


def _columns(frame: Frame, name: str, queries: Sequence[Any] | None) -> _Columns:
    """Return the list of ids for each query. Queries whose list is null are left out."""
    column, where = frame.lists(name), frame.where(name)
    if isinstance(column, ListColumn):
        return _Columns(QueryRows(*column.by_query(queries)), column.ids)
    users, rows = _present(column, queries)
    rows = checked(where, users, without_padding(rows), (list, tuple), "a list of ids, best first")
    ids, firsts, lasts = column_of_rows(where, users, rows)
    return _Columns(QueryRows(users, firsts, lasts), ids)


def _judgments(frame: Frame, name: str, queries: Sequence[Any] | None) -> JudgmentSets:
    """Return the relevant ids or the grades for each query. Queries whose value is null are left out."""
    column, where = frame.lists(name, single=True), frame.where(name)
    if isinstance(column, ListColumn):
        grades = np.ones(len(column.ids)) if column.grades is None else column.grades
        if column.grades is None and column.ids.kind == "str" and begins_with_bracket(column.ids):
            refuse_list_texts(python_ids(column.ids.take(slice(0, EXAMINED)), "str"), where)
        return of_ids(where, QueryRows(*column.by_query(queries)), column.ids, grades)
    users, rows = _present(column, queries)
    if all(isinstance(row, str) for row in rows):
        refuse_list_texts(rows, where)
    rows = [row if isinstance(row, (list, tuple, set, frozenset, np.ndarray, Mapping)) else [row] for row in rows]
    return judgments_of(where, (users, without_padding(rows)))


def _present(column: Sequence[Any], queries: Sequence[Any] | None) -> tuple[Sequence[Any], list[Any]]:
    """Return the queries whose value is not null, together with their values."""
    names = range(len(column)) if queries is None else queries
    if all(row is not None for row in column):
        return names, list(column)
    pairs = [(name, row) for name, row in zip(names, column, strict=True) if row is not None]
    return [name for name, _ in pairs], [row for _, row in pairs]
