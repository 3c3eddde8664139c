"""Refuse a table that holds the rows of several runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankgain import _backend
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Ids, python_ids, row_numbers
from rankgain.errors import quoted
from rankgain.scalars import Ints


def refuse_several_runs(table: str, column: str, runs: QueryRows, groups: QueryRows, documents: Ids) -> None:
    """Refuse a table in which a document of a query stands under two names of runs.

    Several names alone say nothing: a fused run, shards and the arms of an experiment have them, too. `runs`: the rows
    of each name in the column.
    """
    if len(runs) < 2:
        return
    run_of = runs.by_row()
    for query, numbers in _queries_with_repeats(groups, documents):
        seen: dict[object, int] = {}
        for document, run in zip(
            python_ids(documents.take(numbers), documents.kind), run_of[numbers].tolist(), strict=True
        ):
            if seen.setdefault(document, run) != run:
                first, second = quoted(runs.names[seen[document]]), quoted(runs.names[run])
                raise ValueError(
                    f"{table} holds several runs: query {quoted(query)}, document {quoted(document)} stands "
                    f"under {first} and {second} in column {column!r}; to compare them, write rankgain.compare(truth, "
                    f"run_df, metrics, run={column!r})"
                )


def _queries_with_repeats(groups: QueryRows, documents: Ids) -> Iterator[tuple[object, Ints]]:
    """Yield the name and the rows of each query in which a document appears twice."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    keys, query = documents.take(rows).buffers(), 0
    while (error_code := _backend.columns.repeated(*keys, offsets[query:])) is not None:
        query += error_code[1] + 1
        yield groups.names[query - 1], row_numbers(groups.rows(np.array([query - 1]))[0])
