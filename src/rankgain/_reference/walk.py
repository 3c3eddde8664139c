"""The specification: the walk over the queries of a chunk, whatever form it came in, in plain Python.

A chunk is (form, start, stop, what the form holds …), a tuple that a Source makes; rules are (ties, single, depth,
judged_only, kept): see `rankgain.data.rules`. What is wrong comes back as (code, query, position, term), the query
counted from the start of the chunk, the term −1 where none is concerned.
"""

from typing import Any

from rankgain._codes import COLUMNS, DICTS, LISTS
from rankgain._reference.forms import read_columns, read_dicts, read_lists
from rankgain._reference.numbers import Refused
from rankgain._reference.program import Program, figure_query
from rankgain._reference.query import Query, tie_groups
from rankgain._reference.ranking import NON_RELEVANT, Rules, count_grades, find, keep
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats, Ints

__all__ = ["Program", "figure", "hits", "rows", "run"]

Codes = tuple[int, bool, int, bool, int]  # rules as kernels take them
Chunk = tuple[Any, ...]


def run(program: Program, rules: Codes, chunk: Chunk, out: Floats, column: int) -> int | ErrorCode:
    """Write the metrics of each query of a chunk, from a column of `out` on; how many have nothing relevant."""

    def write(index, values):
        out[:, column + index] = values

    return _walk(program, rules, chunk, write)


def rows(
    program: Program,
    rules: Codes,
    judged: Any,
    numbers: dict[Any, int],
    scores: Any,
    keys: tuple[str, ...],
    most: int,
) -> dict[Any, dict[str, float]] | None:
    """The metrics of each query of a dict of runs that is judged, as dicts by keys; `numbers`: those of the truth.

    None for what takes the long way: no dicts, nothing in common, more documents in all than `most`, or an error code.
    """
    if type(scores) is not dict or {*map(type, scores.values())} != {dict}:
        return None
    runs = {query: run for query, run in scores.items() if query in numbers}
    if not runs or sum(map(len, runs.values())) > most:
        return None
    found = []
    chunk = DICTS, 0, len(runs), judged, [numbers[query] for query in runs], list(runs.values())
    error_code = _walk(program, rules, chunk, lambda index, values: found.append(dict(zip(keys, values, strict=True))))
    return None if type(error_code) is tuple else dict(zip(runs, found, strict=True))


def _walk(program, rules, chunk, write):
    empty = 0
    for index, query in enumerate(_ranked(program, rules, chunk)):
        if type(query) is tuple:
            return query
        values = figure_query(program, query)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        write(index, values)
        empty += query.nothing_relevant
    return empty


READERS = {LISTS: read_lists, DICTS: read_dicts, COLUMNS: read_columns}


def _ranked(program, rules, chunk):
    """Yield each query of a chunk, ranked, and at last, if need be, an error code."""
    form, start, stop, *held = chunk
    rules = Rules(*rules)
    # Where documents are left out, others move up.
    depth = rules.depth if rules.judged_only else min(program.depth, rules.depth)
    lowest = min(program.lowest, NON_RELEVANT) if rules.judged_only else program.lowest
    if form == DICTS:
        held += [[len(run) for run in held[-1][start:stop]], start]
    for number in range(start, stop):
        try:
            if form in READERS:
                documents = READERS[form](held, number, lowest)
                returned, judged = len(documents.grades), documents.judged
                groups = find(documents, rules, depth, lowest)
            else:
                returned, groups, judged = _found_in_file(held, number, depth, lowest)
        except Refused as refused:
            yield refused.args[0], number - start, refused.args[1], -1
            return
        yield Query(*keep(returned, groups, rules), count_grades(judged, program.judged_depth), rules.ties)


def _found_in_file(chunk, number, depth, lowest):
    """A query of a file, whose documents were ranked while it was read: see `rankgain._reference.lines`."""
    offsets, grade, first, last, returned, judged_offsets, judged = chunk
    rows = range(offsets[number], offsets[number + 1])
    hits = [(float(grade[i]), int(first[i]), int(last[i])) for i in rows if first[i] <= depth and grade[i] > lowest]
    known = judged[judged_offsets[number] : judged_offsets[number + 1]].tolist()
    return int(returned[number]), tie_groups(hits), [grade for grade in known if grade >= 0.0]


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
    """Keep the hits and judged grades of each query of a chunk, one after the other."""
    offsets[:1] = judged_offsets[:1] = 0
    empty = 0
    for index, query in enumerate(_ranked(program, rules, chunk)):
        if type(query) is tuple:
            return query
        rows = [(own, group.first, group.last) for group in query.groups for own in group.grades]
        start, stop = offsets[index], offsets[index] + len(rows)
        returned[index], offsets[index + 1] = query.returned, stop
        if rows:
            grade[start:stop], first[start:stop], last[start:stop] = zip(*rows, strict=True)
        start, stop = judged_offsets[index], judged_offsets[index] + len(query.judged)
        judged_offsets[index + 1] = stop
        judged_grade[start:stop] = [own for own, _ in query.judged]
        judged_count[start:stop] = [count for _, count in query.judged]
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
    asked: list[tuple[Ints, Floats, Floats] | None],
    out: Floats,
    column: int,
) -> int | ErrorCode:
    """Write the metrics of queries whose hits were kept, given the gains that callables gave.

    `asked`: for each term (offsets, grades, gains), the grades of a query falling; None where none was asked.
    """
    empty = 0
    for index in range(queries):
        own, judged = (slice(*bounds[index : index + 2].tolist()) for bounds in (offsets, judged_offsets))
        held = zip(grade[own].tolist(), first[own].tolist(), last[own].tolist(), strict=True)
        known = list(zip(judged_grade[judged].tolist(), judged_count[judged].tolist(), strict=True))
        query = Query(int(returned[index]), tie_groups(held), known, ties)
        tables = [None if one is None else _table(*one, index) for one in asked]
        values = figure_query(program, query, tables)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        out[:, column + index] = values
        empty += query.nothing_relevant
    return empty


def _table(offsets: Any, grades: Any, gains: Any, query: int) -> dict[float, float]:
    own = slice(*offsets[query : query + 2].tolist())
    return dict(zip(grades[own].tolist(), gains[own].tolist(), strict=True))
