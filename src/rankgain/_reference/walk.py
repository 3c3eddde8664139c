"""The specification: from query to query of a chunk.

A chunk is (form, start, stop, the data of the form …), a tuple that a Source makes; rules are (ties, single, depth,
judged_only, kept): see `rankgain.data.rules`. Errors are returned as (code, query, position, term), the query counted
from the start of the chunk, the term −1 if the error concerns none.
"""

from typing import Any

from rankgain._codes import COLUMNS, DICTS, LISTS
from rankgain._reference.forms import read_columns, read_dicts, read_lists
from rankgain._reference.numbers import Refused
from rankgain._reference.program import Program, figure_query
from rankgain._reference.query import Query, tie_groups
from rankgain._reference.ranking import RankingRules, count_grades, find, keep
from rankgain.errors import ErrorCode
from rankgain.scalars import NON_RELEVANT, Floats, Ints

__all__ = ["Program", "figure", "hits", "rows", "run"]

Codes = tuple[int, bool, int, bool, int]  # rules as kernels take them
Chunk = tuple[Any, ...]


def run(program: Program, rules: Codes, chunk: Chunk, out: Floats, column: int) -> int | ErrorCode:
    """Write the metrics of each query of a chunk, from a column of `out` on; return how many have nothing relevant."""
    empty = 0
    for index, query in enumerate(_ranked(program, rules, chunk)):
        if type(query) is tuple:
            return query
        values = figure_query(program, query)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        out[:, column + index] = values
        empty += query.nothing_relevant
    return empty


def rows(
    program: Program, rules: Codes, judged: Any, numbers: dict[Any, int], scores: Any, keys: tuple[str, ...], most: int
) -> dict[Any, dict[str, float]] | None:
    """None: use `run`. The compiled half has a shorter path for runs of at most so many documents."""
    return None


READERS = {LISTS: read_lists, DICTS: read_dicts, COLUMNS: read_columns}


def _ranked(program, rules, chunk):
    """Yield each query of a chunk, ranked, up to the first with an error, of which the error code is yielded."""
    form, start, stop, *data = chunk
    rules = RankingRules(*rules)
    # If documents are left out, others move up.
    depth = rules.depth if rules.judged_only else min(program.depth, rules.depth)
    lowest = min(program.lowest, NON_RELEVANT) if rules.judged_only else program.lowest
    if form in READERS:
        queries = (
            (len(documents.grades), find(documents, rules, depth, lowest), documents.judged)
            for documents in READERS[form](range(start, stop), lowest, *data)
        )
    else:
        queries = _ranked_in_file(range(start, stop), depth, lowest, *data)
    index = 0
    try:
        for returned, groups, judged in queries:
            yield Query(*keep(returned, groups, rules), count_grades(judged, program.judged_depth), rules.ties)
            index += 1
    except Refused as refused:
        code, position = refused.args
        yield code, index, position, -1


def _ranked_in_file(queries, depth, lowest, offsets, grade, first, last, returned, judged_offsets, judged):
    """The queries of a file, whose documents were ranked while it was read: see `rankgain._reference.lines`."""
    for query in queries:
        rows = range(offsets[query], offsets[query + 1])
        hits = [(float(grade[i]), int(first[i]), int(last[i])) for i in rows if first[i] <= depth and grade[i] > lowest]
        grades = judged[judged_offsets[query] : judged_offsets[query + 1]].tolist()
        yield int(returned[query]), tie_groups(hits), [grade for grade in grades if grade >= 0.0]


# In two steps, between which callable gains are called


def hits(
    program: Program,
    rules: Codes,
    chunk: Chunk,
    returned: Ints,
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
) -> int | ErrorCode:
    """Keep the hits and the judged grades of each query of a chunk, one query after the other."""
    offsets[:1] = judged_offsets[:1] = 0
    empty = 0
    for index, query in enumerate(_ranked(program, rules, chunk)):
        if type(query) is tuple:
            return query
        rows = [(hit_grade, group.first, group.last) for group in query.groups for hit_grade in group.grades]
        start, stop = offsets[index], offsets[index] + len(rows)
        returned[index], offsets[index + 1] = query.returned, stop
        if rows:
            grade[start:stop], first[start:stop], last[start:stop] = zip(*rows, strict=True)
        start, stop = judged_offsets[index], judged_offsets[index] + len(query.judged)
        judged_offsets[index + 1] = stop
        if query.judged:
            judged_grade[start:stop], judged_count[start:stop] = zip(*query.judged, strict=True)
        empty += query.nothing_relevant
    return empty


def figure(
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
    answers: list[tuple[Ints, Floats, Floats] | None],
    out: Floats,
    column: int,
) -> int | ErrorCode:
    """Write the metrics of queries whose hits were kept, given the gains that callables returned.

    `answers`: for each term (offsets, grades, gains), the grades of a query in falling order; None if its gain is not
    a callable.
    """
    empty = 0
    for index in range(queries):
        hits, judged = (slice(*bounds[index : index + 2].tolist()) for bounds in (offsets, judged_offsets))
        groups = tie_groups(zip(grade[hits].tolist(), first[hits].tolist(), last[hits].tolist(), strict=True))
        judged_grades = list(zip(judged_grade[judged].tolist(), judged_count[judged].tolist(), strict=True))
        gain_tables = [None if answer is None else _gain_table(*answer, index) for answer in answers]
        query = Query(int(returned[index]), groups, judged_grades, ties)
        values = figure_query(program, query, gain_tables)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        out[:, column + index] = values
        empty += query.nothing_relevant
    return empty


def _gain_table(offsets: Any, grades: Any, gains: Any, query: int) -> dict[float, float]:
    of_query = slice(*offsets[query : query + 2].tolist())
    return dict(zip(grades[of_query].tolist(), gains[of_query].tolist(), strict=True))
