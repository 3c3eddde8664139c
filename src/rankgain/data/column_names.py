"""The usual column names, and the error for a table that was passed instead of a matrix."""

from __future__ import annotations

import sys
from collections.abc import Collection, Container, Iterable, Mapping
from typing import Any

# The name of a column; integers are those of tables without a header. A list is one key of several columns.
ColumnName = str | int
QueryKey = ColumnName | list[ColumnName]

# The usual column names for each role, in order of preference. Names that differ only in case and separators (userId,
# query-id) are accepted too, but exact names are preferred.
DEFAULT_COLUMNS = {
    "query": ("query_id", "qid", "q_id", "query", "user_id", "user"),
    "doc": (
        *("doc_id", "docno", "docid", "item_id", "corpus_id", "item"),
        *("movie_id", "product_id", "document_id", "passage_id", "pid", "chunk_id"),
    ),
    "relevance": ("relevance", "label", "rel", "grade", "rating", "weight"),
    "score": ("score", "prediction", "predicted_rating"),
    "rank": ("rank", "position"),
    # The names of pyndeval and ir_datasets come first, that of ir_measures (TREC's field 2) last.
    "subtopic": (
        *("subtopic_id", "subtopic", "nugget_id", "nugget", "aspect_id", "aspect"),
        *("intent_id", "intent", "iteration"),
    ),
}
# The usual column names in tables with one row per query. "relevant" must hold lists or mappings, and "retrieved" must
# hold lists.
ROW_COLUMNS = {
    "query": ("query_id", "qid", "id"),
    "relevant": ("relevant", "relevant_ids", "expected_ids", "reference_context_ids"),
    "retrieved": ("retrieved", "recommended", "retrieved_ids", "recommended_ids", "retrieved_context_ids"),
}
# In tables with one row per query, columns that name the queries if their values are distinct, in order of preference:
# ids of questions, then their texts. Other ids, such as those of traces and sessions, may be new in each run.
NAMES_IF_DISTINCT = (
    *("question_id", "prompt_id", "example_id", "sample_id", "topic_id", "user_id", "uid"),
    *("question", "query", "user_input", "prompt", "input"),
)
SCORES_IF_NUMERIC = {"prediction", "predictedrating"}  # columns of generated text can have these names, too


def key_columns(key: Any) -> list[Any]:
    """Return the columns of a key, which is one column or a list of several."""
    return key if isinstance(key, list) else [key]


def has_columns(names: Container[Any], columns: Mapping[str, QueryKey]) -> bool:
    """Return whether there are all columns that the caller named, by role."""
    return all(column in names for key in columns.values() for column in key_columns(key))


def bare(name: Any) -> str:
    """Return a name in lower case without separators, or "" for a name that is not text."""
    return name.replace("_", "").replace("-", "").lower() if isinstance(name, str) else ""


def _priorities(exact: bool) -> dict[str, tuple[str, int]]:
    """Return the role and the priority of each usual name. The lowest number has the highest priority."""
    priorities: dict[str, tuple[str, int]] = {}
    for role, names in DEFAULT_COLUMNS.items():
        for position, name in enumerate(names):
            priorities.setdefault(name if exact else bare(name), (role, position if exact else len(names) + position))
    return priorities


_EXACT, _SIMILAR = _priorities(exact=True), _priorities(exact=False)


def default_columns(names: Iterable[Any]) -> dict[str, Any]:
    """Map each role to the column with the preferred name, and omit roles without a column."""
    columns: dict[str, Any] = {}
    priorities: dict[str, int] = {}
    for name in names:
        match = _EXACT.get(name) or _SIMILAR.get(bare(name))
        if match and match[1] < priorities.get(match[0], sys.maxsize):
            role, priorities[role] = match
            columns[role] = name
    return columns


RUN_COLUMNS = {"system", "run", "runid", "tag", "model"}  # columns that name the run of a row, without separators


def run_column(names: Iterable[Any], taken: Collection[Any]) -> Any:
    """Return the column that names the run of each row, or None. `taken`: the columns that have other roles."""
    return next((name for name in names if bare(name) in RUN_COLUMNS and name not in taken), None)


def names_ranks(name: Any) -> bool:
    """Return whether a column is called like one of ranks."""
    return bare(name) in ("rank", "ranking", "position")


def check_spelling(names: Iterable[Any], column: Any, argument: str) -> None:
    """Refuse a default column that another one equals up to case and separators, unless its spelling is exact."""
    if column in _EXACT:
        return
    others = [name for name in names if bare(name) == bare(column) and name != column]
    if others:
        role = _SIMILAR[bare(column)][0]
        raise ValueError(
            f"{argument} has the columns {column!r} and {others[0]!r}, which differ only in case and separators: name "
            f"one of them, {role}={column!r} or {role}={others[0]!r}"
        )


def check_roles(columns: Mapping[str, Any], named: Mapping[str, Any], argument: str) -> None:
    """Refuse a column with two roles of which the caller named only one. `columns`: the column of each role."""
    role_of: dict[Any, str] = {}
    for role, column in ((role, column) for role, key in columns.items() for column in key_columns(key)):
        other = role_of.setdefault(column, role)
        if other != role and (named.get(role) is None or named.get(other) is None):
            given, missing = (other, role) if named.get(role) is None else (role, other)
            raise ValueError(
                f"{argument}: {given}={column!r} names the column that would also be the {missing}: name that with "
                f"{missing}=, or name {column!r} for both if that is meant"
            )


def common_column(columns: tuple[Any, Any], names: tuple[Iterable[Any], Iterable[Any]]) -> tuple[Any, Any] | None:
    """Return the columns of two frames that have one name, if exactly one frame prefers a column that the other lacks.

    `columns`: the columns that the frames prefer, of one role. `names`: all columns of each frame.
    """
    if bare(columns[0]) == bare(columns[1]):
        return None
    spelled = [{bare(name): name for name in reversed([*of_frame])} for of_frame in names]
    lacks = [bare(columns[side]) not in spelled[1 - side] for side in (0, 1)]
    if lacks[0] == lacks[1]:
        return None
    side = lacks.index(False)  # the frame whose preferred column both have
    pair = [columns[side], spelled[1 - side][bare(columns[side])]]
    return (pair[0], pair[1]) if side == 0 else (pair[1], pair[0])


def has_usual_columns(names: Mapping[Any, Any]) -> bool:
    """Return whether any key is a usual name of a column, of rows per document or of rows per query."""
    by_query = {name for names in ROW_COLUMNS.values() for name in names}
    return bool(default_columns(names) or not by_query.isdisjoint(names))


def is_pandas(value: Any) -> bool:
    frame = getattr(sys.modules.get("pandas"), "DataFrame", None)  # missing while another thread imports pandas
    return frame is not None and isinstance(value, frame)


def is_series(value: Any) -> bool:
    """Return whether the value is a pandas Series."""
    series = getattr(sys.modules.get("pandas"), "Series", None)
    return series is not None and isinstance(value, series)


USUAL_NAMES = frozenset(
    [
        *(*_EXACT, *_SIMILAR, "userId", "itemId", "queryId", "docId"),
        *("details", "failures", "requests", "judgmentRatings"),  # of search engines; their values may be mappings, too
    ]
)


def refuse_table(value: Any, name: str) -> None:
    """Refuse a table with one row per document, which would be read as a matrix or as a mapping from keys to lists."""
    if type(value) is dict or isinstance(value, Mapping):
        if USUAL_NAMES.isdisjoint(value):
            return
        names: Iterable[Any] = value
    elif is_pandas(value) or hasattr(value, "__arrow_c_stream__"):
        columns = getattr(value, "column_names", None)  # in pyarrow, `columns` are arrays
        names = getattr(value, "columns", ()) if columns is None else columns
    else:
        return
    columns = default_columns(names)
    if {"query", "doc"} <= columns.keys():
        raise TypeError(
            f"{name} is a table with the columns {columns['query']!r} and {columns['doc']!r}: "
            "write from_frames(qrels_df, run_df), or evaluate(qrels_df, run_df, ...)"
        )
