"""Reference implementation: loop over the queries of a chunk.

A chunk is a tuple made by a Source: (form, start, stop, followed by the data of the form). Rules are a tuple (ties,
single, depth, judged_only, condensed_depth, scored_only, scored_depth); see `rankgain.data.rules`. A `Refused` is
returned as (code, query, position, term), with queries counted from the start of the chunk. The messages are in
`rankgain.errors`.
"""

import math
from typing import Any

from rankgain._codes import COLUMNS, DICTS, LISTS, MATRIX
from rankgain._reference.forms import read_columns, read_dicts, read_lists
from rankgain._reference.matrix import read_matrix
from rankgain._reference.numbers import Refused
from rankgain._reference.program import Program, compute_metrics
from rankgain._reference.query import Query, hit_groups
from rankgain._reference.ranking import RankingRules, find_hits, grade_counts, judge_scored, judged_share, keep
from rankgain.errors import ErrorCode
from rankgain.scalars import NON_RELEVANT, Floats, Ints

__all__ = ["Program", "hits", "metrics_from_hits", "rows", "run"]

_Codes = tuple[int, bool, int, bool, int, bool, int]  # the fields of RankingRules, as a plain tuple
_Chunk = tuple[Any, ...]


def run(
    program: Program, rules: _Codes, chunk: _Chunk, out: Floats, column: int, counts_judged: bool = False
) -> int | ErrorCode:
    """Write the metrics of the queries in a chunk to `out`: one column per query, from `column` on.

    With `counts_judged`, the last row is for the shares of judged documents among the first `share_depth`. Documents
    must then have ids, and unjudged ones must count. Return the number of queries without relevant documents, or the
    first error.
    """

    def write(index, query):
        shares = [query.judged_share] if counts_judged else []
        out[:, column + index] = [*compute_metrics(program, query), *shares]

    return _each(_ranked(program, rules, chunk, counts_judged), write)


def _each(queries, use):
    """Call `use` for each query; return the number of queries without relevant documents, or the first error."""
    index = empty = 0
    try:
        for query in queries:
            use(index, query)
            empty += query.nothing_relevant
            index += 1
    except Refused as refused:
        return refused.in_query(index)
    return empty


def rows(
    program: Program, rules: _Codes, judged: Any, numbers: dict[Any, int], scores: Any, keys: tuple[str, ...], most: int
) -> dict[Any, dict[str, float]] | None:
    """Return None, so that the caller uses `run`. The compiled version is faster than `run` for small runs."""
    return None


READERS = {LISTS: read_lists, DICTS: read_dicts, COLUMNS: read_columns, MATRIX: read_matrix}


def _ranked(program, rules, chunk, counts_judged):
    """Yield the queries of a chunk with their ranked documents and, with `counts_judged`, the shares of judged ones."""
    form, start, stop, *data = chunk
    rules = RankingRules(*rules)
    # With judged_only, documents below the program's depth may move up when unjudged documents are removed. With
    # scored_only, the grades of all returned documents are the judged ones.
    depth = rules.depth if rules.judged_only or rules.scored_only else min(program.depth, rules.depth)
    lowest = 0.0 if rules.scored_only else program.lowest
    lowest = min(lowest, NON_RELEVANT) if rules.judged_only else lowest
    for documents in READERS[form](range(start, stop), *data):
        groups, judged = find_hits(documents, rules, depth, lowest), documents.judged
        returned, groups = keep(len(documents.grades), groups, rules)
        if rules.scored_only:
            every, judged = judge_scored(returned, groups)
            returned = min(returned, rules.scored_depth)
            groups = [group for group in (every if program.lowest < 0.0 else groups) if group.first <= returned]
        share = judged_share(documents, rules, program.share_depth) if counts_judged else math.nan
        yield Query(returned, groups, grade_counts(judged, program.judged_depth), rules.ties, share)


# Metrics with callable gains take two steps, `hits` and `metrics_from_hits`; the callables are called in between.


def hits(
    program: Program,
    rules: _Codes,
    chunk: _Chunk,
    returned: Ints,
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    shares: Floats | None = None,
) -> int | ErrorCode:
    """Store the hits and judged grades of the queries in a chunk in columns, one query after another.

    `shares` receives the share of judged documents of each query, as the last row in `run`.
    """
    offsets[0] = judged_offsets[0] = 0

    def store(index, query):
        returned[index] = query.returned
        rows = [(hit_grade, group.first, group.last) for group in query.groups for hit_grade in group.grades]
        _append(rows, index, offsets, grade, first, last)
        _append(query.judged, index, judged_offsets, judged_grade, judged_count)
        if shares is not None:
            shares[index] = query.judged_share

    return _each(_ranked(program, rules, chunk, shares is not None), store)


def _append(rows, index, offsets, *columns):
    """Append the rows of the query with number `index` to the columns."""
    start = offsets[index]
    stop = offsets[index + 1] = start + len(rows)
    for column, values in zip(columns, zip(*rows, strict=True), strict=False):  # without rows, `zip` yields nothing
        column[start:stop] = values


def metrics_from_hits(
    program: Program,
    ties: int,
    queries: int,
    returned: Ints,
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    callable_gains: list[tuple[Ints, Floats, Floats] | None],
    out: Floats,
    column: int,
) -> int | ErrorCode:
    """Write the metrics of queries whose hits were stored by `hits`, given the gains that the callables returned.

    `callable_gains`: for each term, (offsets, grades, gains), with the grades of each query in descending order, or
    None if the gain of the term is not a callable.
    """

    def stored():
        for index in range(queries):
            groups = hit_groups(_rows(index, offsets, grade, first, last))
            judged = list(_rows(index, judged_offsets, judged_grade, judged_count))
            yield Query(int(returned[index]), groups, judged, ties)

    def write(index, query):
        gain_tables = [None if gains is None else dict(_rows(index, *gains)) for gains in callable_gains]
        out[:, column + index] = compute_metrics(program, query, gain_tables)

    return _each(stored(), write)


def _rows(index, offsets, *columns):
    """Yield the rows of a query that were written by `_append`."""
    rows = slice(*offsets[index : index + 2].tolist())
    return zip(*(column[rows].tolist() for column in columns), strict=True)
