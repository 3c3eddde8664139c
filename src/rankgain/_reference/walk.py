"""The specification: the walk over the queries of a chunk, whatever form it came in, in plain Python.

A chunk is (form, start, stop, what the form holds …), a tuple that a Source makes; rules are (ties, single, depth,
judged_only, kept): see `rankgain.data.rules`. What is wrong comes back as (code, query, position, term), the query
counted from the start of the chunk, the term −1 where none is concerned.
"""

from typing import Any, NamedTuple

from rankgain._codes import COLUMNS, DICTS, LISTS, UNLIMITED
from rankgain._reference.columns import find_in_columns
from rankgain._reference.dicts import find_in_dicts
from rankgain._reference.numbers import Refused
from rankgain._reference.ordering import count_grades, find_in_lists
from rankgain._reference.program import Program, figure_query
from rankgain._reference.query import Query
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats, Ints

__all__ = ["Program", "figure", "hits", "rows", "run"]

Codes = tuple[int, bool, int, bool, int]  # rules as kernels take them
Chunk = tuple[Any, ...]

NON_RELEVANT = -2.2250738585072014e-308  # hits with grades above it are all that are judged


class Rules(NamedTuple):
    """How the documents of a query are ordered, and which of them count."""

    ties: int
    single: bool
    depth: int
    judged_only: bool
    kept: int


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
    for index, query in enumerate(_found(program, rules, chunk)):
        if type(query) is tuple:
            return query
        values = figure_query(program, query)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        write(index, values)
        empty += _is_empty(query)
    return empty


def _is_empty(query):
    return not query.judged or not query.judged[0][0] > 0.0


def _found(program, rules, chunk):
    """Yield what is found of each query of a chunk, and at last, if need be, an error code."""
    form, start, stop, *held = chunk
    rules = Rules(*rules)
    find = {LISTS: find_in_lists, DICTS: find_in_dicts, COLUMNS: find_in_columns}.get(form, find_in_places)
    # where documents are taken out, others move up
    depth = rules.depth if rules.judged_only else min(program.depth, rules.depth)
    lowest = min(program.lowest, NON_RELEVANT) if rules.judged_only else program.lowest
    held = held if form != DICTS else [*held, [len(run) for run in held[-1][start:stop]], start]
    for number in range(start, stop):
        try:
            returned, hits, judged = find(held, number, rules, program.judged_depth, depth, lowest)
        except Refused as refused:
            yield refused.args[0], number - start, refused.args[1], -1
            return
        yield Query(*limited(rules, returned, hits), judged, rules.ties)


def find_in_places(chunk, number, rules, judged_depth, depth, lowest):
    """The hits of a query whose places are known, as those of files are."""
    offsets, grade, first, last, returned, truth_offsets, truth = chunk
    held = range(offsets[number], offsets[number + 1])
    hits = [(float(grade[i]), int(first[i]), int(last[i])) for i in held if first[i] <= depth and grade[i] > lowest]
    judged = [one for one in truth[truth_offsets[number] : truth_offsets[number + 1]].tolist() if one >= 0.0]
    return int(returned[number]), hits, count_grades(judged, judged_depth)


def limited(rules, returned, hits):
    """The length and the hits of a list of which only some documents count; those below what is taken out move up."""
    if rules.depth == UNLIMITED and not rules.judged_only:
        return returned, hits
    returned, hits = min(returned, rules.depth), [hit for hit in hits if hit[1] <= rules.depth]
    if not rules.judged_only:
        return returned, hits
    left, judged = [], [hit for hit in hits if hit[0] >= 0.0]
    for grade, first, _ in judged:
        start = next(place for place, hit in enumerate(judged) if hit[1] == first) + 1
        left.append((grade, start, start + sum(hit[1] == first for hit in judged) - 1))
    return min(len(left), rules.kept), [hit for hit in left if hit[1] <= rules.kept]


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
    for index, query in enumerate(_found(program, rules, chunk)):
        if type(query) is tuple:
            return query
        start, stop = offsets[index], offsets[index] + len(query.grade)
        returned[index], offsets[index + 1] = query.returned, stop
        grade[start:stop], first[start:stop], last[start:stop] = query.grade, query.first, query.last
        start, stop = judged_offsets[index], judged_offsets[index] + len(query.judged)
        judged_offsets[index + 1] = stop
        judged_grade[start:stop] = [own for own, _ in query.judged]
        judged_count[start:stop] = [count for _, count in query.judged]
        empty += _is_empty(query)
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
        query = Query(int(returned[index]), list(held), known, ties)
        tables = [None if one is None else _table(*one, index) for one in asked]
        values = figure_query(program, query, tables)
        if type(values) is tuple:
            return values[0], index, *values[1:]
        out[:, column + index] = values
        empty += _is_empty(query)
    return empty


def _table(offsets: Any, grades: Any, gains: Any, query: int) -> dict[float, float]:
    own = slice(*offsets[query : query + 2].tolist())
    return dict(zip(grades[own].tolist(), gains[own].tolist(), strict=True))
