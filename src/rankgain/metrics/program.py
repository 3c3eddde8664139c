"""Turn metrics into programs for the engine, and evaluate sources with them.

A Plan turns metrics into terms, each with all its cut-offs, and one combination per metric. Plans for metrics that are
requested by name are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend, _codes
from rankgain._codes import IN_JUDGED, UNLIMITED, KernelTerm
from rankgain.data.rules import Rules
from rankgain.data.source import Source
from rankgain.errors import InputError
from rankgain.metrics.discounts import LONGEST_TABLE
from rankgain.metrics.families import Needs, Term
from rankgain.metrics.gains import Gain
from rankgain.metrics.metric import Metric, parse_quality, row_of
from rankgain.metrics.subtopics import BASES, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE
from rankgain.scalars import Floats, Ints
from rankgain.threads import run_chunks

MOST_PLANS = 256
SHORTEST_TABLE = 1024
SHARE_DEPTH = 10  # number of leading documents of which the judged ones are counted if no metric has a cut-off
_plan_cache: dict[tuple[Any, ...], Plan] = {}

Requests = tuple[str | Metric, ...]


class Plan:
    """A set of metrics and the program that computes them on the current backend.

    The metrics that need judgments by subtopic, `by_subtopic`, must be last, and the program does not compute them.
    `base_of` maps means over subtopics to the metrics whose means they are, and `bases` is the plan of the latter.
    `rows` holds (key, row) pairs. A key is the position of the request or, if the request has several cut-offs, the
    text of one of them. `weighing` maps the names of metrics that weight queries to their rows. `share_depth` is the
    number of leading documents of which the judged ones are counted.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        rows: Sequence[tuple[int | str, int]] = (),
        weighing: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.metrics = metrics
        self.count = len(metrics)
        self.by_subtopic = [metric for metric in metrics if metric.name in SUBTOPIC_TABLE]
        self.n_computed = len(metrics) - len(self.by_subtopic)  # the number of metrics that the program computes
        metrics = metrics[: self.n_computed]
        self.base_of = {metric: base_of(metric) for metric in self.by_subtopic if metric.name in BASES}
        self.bases: Plan | None = Plan([*dict.fromkeys(self.base_of.values())]) if self.base_of else None
        self.rows = rows
        self.weighing = weighing
        # The name of a metric with relevant and other documents whose lowest relevant grade was not given, or None.
        self.without_rel = next((each.name for each in self.metrics if takes_rel(each) and each.rel is None), None)
        self.share_depth = max((metric.k for metric in self.metrics if metric.k is not None), default=SHARE_DEPTH)
        self.single = rows == [(0, 0)]
        self.unaveraged = next((metric for metric in self.metrics if row_of(metric.name).unaveraged), None)
        depths: dict[Term, set[int]] = {}
        terms_of = [TABLE[metric.name].terms(metric) for metric in metrics]
        for metric, terms in zip(metrics, terms_of, strict=True):
            for term in terms:
                depths.setdefault(term, set()).add(metric.depth)
        self.terms = [(term, np.array(sorted(cutoffs), dtype=np.int64)) for term, cutoffs in depths.items()]
        numbers: dict[tuple[Term, int], int] = {}
        for term, cutoffs in self.terms:
            for cutoff in cutoffs.tolist():
                numbers[term, cutoff] = len(numbers)
        self._combinations = [
            _combination(metric, tuple(numbers[term, metric.depth] for term in terms))
            for metric, terms in zip(metrics, terms_of, strict=True)
        ]
        self.needs = Needs()
        for term, cutoffs in self.terms:
            self.needs |= term.needs.at(int(cutoffs[-1]))
        self.has_callable_gain = any(term.gain is not None and term.gain.function is not None for term, _ in self.terms)
        self.reusable: bool = not self.has_callable_gain and (self.bases is None or self.bases.reusable)
        self.engine = _backend.walk
        self.run = self.engine.run
        self.backend = _backend.name
        # The deepest rank in a discount table; discounts of deeper ranks are computed one by one.
        self._deepest = min(max(self.needs.depth, self.needs.judged_depth), LONGEST_TABLE)
        self._table_length = 0
        self._program: Any = None
        # The program to reuse, or None if its discount tables depend on the lengths of the lists.
        self.ready = self.program(0) if self._deepest <= SHORTEST_TABLE else None

    @property
    def longest_tabled_list(self) -> int:
        """The length of the longest list that the discount tables cover."""
        return UNLIMITED if self.ready is not None else self._table_length

    def program(self, longest: int) -> Any:
        """Return the program, with discount tables for lists of up to `longest` documents."""
        ranks = min(longest, self._deepest)
        if ranks > self._table_length or self._program is None:
            self._table_length = min(self._deepest, max(SHORTEST_TABLE, 1 << max(ranks - 1, 0).bit_length()))
            terms = [_term(term, cutoffs, self._table_length) for term, cutoffs in self.terms]
            self._program = self.engine.Program(terms, self._combinations, *self.needs, self.share_depth)
        return self._program

    def vectors(self, requests: Requests, out: Floats) -> dict[str | Metric, Floats]:
        """Return the computed values as a dict from each requested metric to its row."""
        if self.single:
            return {requests[0]: out[0]}
        vectors: dict[str | Metric, Floats] = {}
        for key, row in self.rows:
            vectors[requests[key] if isinstance(key, int) else key] = out[row]
        return vectors

    def weights(self, out: Floats) -> dict[str, Floats]:
        """Return the query weights as a dict, keyed by the names of the metrics that provide them."""
        return {name: out[row] for name, row in self.weighing.items()}


_NONE = np.empty(0)


def _term(term: Term, cutoffs: Ints, longest: int) -> KernelTerm:
    """Convert a term to the form that the engine expects."""
    gain, discount = term.gain, term.discount
    table: Sequence[tuple[float, float]] = gain.table if gain is not None and gain.kind == "table" else ()
    pairs = np.array(sorted(table, reverse=True), dtype=np.float64).reshape(-1, 2)
    ranks = discount.table(min(int(cutoffs[-1]), longest)) if discount.kind != _codes.UNIT else _NONE
    return KernelTerm(
        family=term.family,
        gain=_codes.NO_GAIN if gain is None else gain.code,
        level=term.level if gain is None else gain.level,
        grades=pairs[:, 0].copy(),
        gains=pairs[:, 1].copy(),
        above=term.above,
        empty=term.empty,
        factor=term.factor,
        flag=term.flag,
        kind=discount.kind,
        base=discount.base,
        discount_table=ranks,
        cutoffs=cutoffs,
        points=np.array(term.points),
    )


def _combination(metric: Metric, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the combination of a metric in the form that the engine expects."""
    combination = TABLE[metric.name].combination
    return (
        combination.kind,
        numbers,
        combination.bounded and metric.discount.non_increasing,
        metric.empty,
        combination.parameters(metric),
    )


def takes_rel(metric: Metric) -> bool:
    """Return whether the metric is about relevant documents, and `rel` says which these are."""
    return "rel" in row_of(metric.name).takes


def base_of(metric: Metric) -> Metric:
    """Return the metric whose mean over subtopics a metric is."""
    base = BASES[metric.name]
    takes = row_of(base).takes
    parameters = {name: getattr(metric, name) for name in row_of(metric.name).takes if name in takes}
    return Metric(base, metric.k, **parameters)


def planned(requests: Requests) -> Plan:
    """Return the plan for the requested metrics."""
    key = _backend.name, requests
    try:
        return _plan_cache[key]
    except (KeyError, TypeError):  # the key is not cached yet or not hashable
        pass
    by_key: dict[int | str, Metric] = {}
    for position, request in enumerate(requests):
        by_key |= {position if name is request else str(name): metric for name, metric in parse_quality(request)}
    metrics = dict.fromkeys(by_key.values())
    weights = [Metric(name) for metric in metrics if (name := row_of(metric.name).weights)]
    in_order = sorted({**metrics, **dict.fromkeys(weights)}, key=lambda metric: metric.name in SUBTOPIC_TABLE)
    rows = {metric: row for row, metric in enumerate(in_order)}
    if not rows:
        raise ValueError(f"no metric was requested; there are: {', '.join(TABLE)}")
    weighing = {metric.name: rows[metric] for metric in weights}
    plan = Plan(list(rows), [(name, rows[metric]) for name, metric in by_key.items()], weighing)
    if plan.reusable:
        if len(_plan_cache) >= MOST_PLANS:
            _plan_cache.clear()
        names = tuple(str(item) if isinstance(item, str) else item for item in requests)
        _plan_cache[_backend.name, names] = plan
    return plan


def fill(
    plan: Plan, source: Source, rules: Rules, threads: int = 1, bar: Any = None, counts_judged: bool = False
) -> tuple[Floats, int]:
    """Compute the values of metrics, one row per metric, and count the queries with nothing relevant.

    `bar` is a tqdm progress bar that advances by the number of queries in each chunk. With `counts_judged`, a last row
    has the share of judged documents of each query; documents must then have ids.
    """
    if plan.unaveraged is not None:
        check_averaged(plan, rules)
    out = np.empty((plan.n_computed + counts_judged, len(source.query_ids)))
    if not len(out):
        return out, 0
    program = plan.ready or plan.program(source.longest)
    chunks = source.chunks(threads)
    if threads > 1 or bar is not None:
        work = partial(_walk, plan, program, source, rules, out, counts_judged)
        empty = sum(run_chunks(chunks, work if bar is None else partial(_advancing, bar, work), threads))
    else:
        empty = 0
        for start, stop in chunks:
            empty += _walk(plan, program, source, rules, out, counts_judged, start, stop)
    if source.first_invalid_query is not None:
        raise copy_of(source.first_invalid_query[1])
    out.setflags(False)  # type: ignore[call-arg]  # make it read-only; passing a keyword takes twice as long
    return out, empty


def check_averaged(plan: Plan, rules: Rules) -> None:
    """Raise a ValueError if ties are averaged and a metric of the plan has no expected value."""
    if rules.ties == "average" and plan.unaveraged is not None:
        raise ValueError(
            f"{plan.unaveraged} has no value for ties='average': {row_of(plan.unaveraged.name).unaveraged}; order ties "
            "another way, such as rankings.under(ties='stable')"
        )


def copy_of(error: Exception) -> Exception:
    """Return a copy of an error without its traceback, which would keep the source alive."""
    return type(error)(*error.args)


def _walk(
    plan: Plan, program: Any, source: Source, rules: Rules, out: Floats, counts_judged: bool, start: int, stop: int
) -> int:
    """Fill ``out[:, start:stop]`` and return the number of its queries with nothing relevant."""
    chunk = source.chunk(start, stop)
    if plan.has_callable_gain:
        capacity = capacity_of(source, rules, start, stop)
        result = _run_with_callables(plan, program, rules.codes, chunk, capacity, out, counts_judged, start)
    else:
        result = plan.run(program, rules.codes, chunk, out, start, counts_judged)
    if type(result) is tuple:
        raise refused(plan, source, start, result)
    return result  # type: ignore[no-any-return]


def _advancing(bar: Any, work: Callable[[int, int], int], start: int, stop: int) -> int:
    empty = work(start, stop)
    with bar.get_lock():
        bar.update(stop - start)
    return empty


def refused(plan: Plan, source: Source, start: int, error_code: tuple[Any, ...]) -> Exception:
    """Convert an error code from the engine to an exception that uses the caller's names."""
    code, query, position, number, *rest = error_code
    term = plan.terms[number][0] if number >= 0 else None
    bare, detail, gain = code & ~IN_JUDGED, "", None
    if bare == _codes.SHORT_DISCOUNT and term is not None:
        detail = term.discount.too_short(position)
        position = -1
    elif term is not None and bare in _OF_GAINS:
        gain = rest[0] if rest else term.gain
    return source.refusal(start + query, InputError(code, start + query, position, detail, gain=gain))


_OF_GAINS = {_codes.LARGE_GRADE, _codes.MISSING_GAIN, _codes.BAD_GAIN, _codes.ABOVE_MAX_GRADE}


# Callable gains.


class Hits(NamedTuple):
    """The hits and judged grades of a chunk of queries, up to the first query with an error."""

    queries: int
    error_code: tuple[int, ...] | None
    returned: Ints
    offsets: Ints
    grade: Floats
    first: Ints
    last: Ints
    judged_offsets: Ints
    judged_grade: Floats
    judged_count: Ints


def capacity_of(source: Source, rules: Rules, start: int, stop: int) -> tuple[int, int]:
    """Return upper bounds on the numbers of hits and of judged grades in queries start … stop − 1, under the rules."""
    hits, judged = source.capacity(start, stop)
    if not rules.scored_only:
        return hits, judged
    returned = int(source.sizes[start:stop].sum())
    return max(hits, returned), max(judged, returned)


def find_in_chunk(
    engine: Any, program: Any, codes: Any, chunk: Any, capacity: tuple[int, int], shares: Floats | None = None
) -> Hits:
    """Find the hits of the queries in a chunk, and their shares of judged documents."""
    queries = chunk[2] - chunk[1]
    arrays = (
        *(np.empty(size, dtype=np.int64) for size in (queries, queries + 1)),
        np.empty(capacity[0] + 1),
        *(np.empty(size + 1, dtype=np.int64) for size in (capacity[0], capacity[0], queries)),
        np.empty(capacity[1] + 1),
        np.empty(capacity[1] + 1, dtype=np.int64),
    )
    answer = engine.hits(program, codes, chunk, *arrays, shares)
    error_code = answer if type(answer) is tuple else None
    return Hits(queries if error_code is None else error_code[1], error_code, *arrays)


class QueryHits(NamedTuple):
    """The hits and judged grades that a plan uses for one query, and the values of its callable gains."""

    returned: int
    hits: list[tuple[float, int, int]]
    judged: list[tuple[float, int]]
    gain_tables: list[dict[float, float] | None]


def hits_of_query(plan: Plan, source: Source, rules: Rules, query: int) -> QueryHits:
    """Return the hits and grades that `evaluate` uses for one query.

    An error in the judgments of an earlier query is raised too, since judgments are valid only up to the first error.
    No other query of the run is read.
    """
    check_averaged(plan, rules)
    if source.first_invalid_query is not None and source.first_invalid_query[0] <= query:
        raise copy_of(source.first_invalid_query[1])
    program = plan.ready or plan.program(source.longest)
    capacity = capacity_of(source, rules, query, query + 1)
    hits = find_in_chunk(plan.engine, program, rules.codes, source.chunk(query, query + 1), capacity)
    if hits.error_code is not None:
        raise refused(plan, source, query, hits.error_code)
    tables: list[dict[float, float] | None] = []
    for term, cutoffs in plan.terms:
        if term.gain is None or term.gain.function is None:
            tables.append(None)
            continue
        grades = _grades(hits, 0, term.needs.at(int(cutoffs[-1])))
        tables.append(dict(zip(grades.tolist(), term.gain.called(grades).tolist(), strict=True)))
    rows, judged = int(hits.offsets[1]), int(hits.judged_offsets[1])
    columns = hits.grade, hits.first, hits.last
    return QueryHits(
        int(hits.returned[0]),
        list(zip(*(column[:rows].tolist() for column in columns), strict=True)),
        list(zip(hits.judged_grade[:judged].tolist(), hits.judged_count[:judged].tolist(), strict=True)),
        tables,
    )


def parts_of_query(
    plan: Plan,
    source: Source,
    rules: Rules,
    query: int,
    used: QueryHits,
    cutoffs: Iterable[int],
    grades: Iterable[float],
    shared_ranks: list[tuple[int, int]],
) -> _backend.parts.Parts:
    """Return the intermediate results for a plan's only metric and one query, with terms at further cut-offs.

    See `_reference.parts`.
    """
    engine, (metric,) = _backend.parts, plan.metrics
    ks = np.array(sorted({*(k for k in cutoffs if k < metric.depth), metric.depth}), dtype=np.int64)
    longest = used.returned + sum(count for _, count in used.judged)
    terms = [_term(term, ks, longest) for term, _ in plan.terms]
    # For each term, the index of its value at the last cut-off.
    last = {term: (row + 1) * len(ks) - 1 for row, (term, _) in enumerate(plan.terms)}
    combination = _combination(metric, tuple(last[term] for term in TABLE[metric.name].terms(metric)))
    program = engine.Program(terms, [combination], *plan.needs)
    result = engine.parts(program, rules.codes[0], *used, list(grades), shared_ranks)
    if isinstance(result, engine.Parts):
        return result
    assert result is not None
    table = used.gain_tables[result[3]] if result[3] >= 0 else None
    answer = () if table is None else (_gain_from_results(np.array([*table]), np.array([*table.values()])),)
    raise refused(plan, source, query, (*result, *answer))


def chunk_hits(source: Source, rules: Rules, depth: int, lowest: float, judged_depth: int = 1) -> Iterator[Hits]:
    """Yield the hits and the judged grades of each chunk of queries.

    Hits are the documents down to rank `depth` with a grade above `lowest`.
    """
    engine = _backend.walk
    program = engine.Program([], [], depth, judged_depth, lowest)
    for start, stop in source.chunks():
        hits = find_in_chunk(
            engine, program, rules.codes, source.chunk(start, stop), capacity_of(source, rules, start, stop)
        )
        if hits.error_code is not None:
            code, query, position, _ = hits.error_code
            raise source.refusal(start + query, InputError(code, start + query, position))
        yield hits


def _gain_from_results(grades: Floats, gains: Floats) -> Gain:
    """Return a gain that holds the recorded results of a callable, to find the grade with an invalid result."""
    known = dict(zip(grades.tolist(), gains.tolist(), strict=True))
    return Gain("callable", function=lambda queried: [known.get(grade, 0.0) for grade in queried.tolist()])


def _run_with_callables(
    plan: Plan,
    program: Any,
    codes: Any,
    chunk: Any,
    capacity: tuple[int, int],
    out: Floats,
    counts_judged: bool,
    start: int,
) -> Any:
    """Compute metrics with callable gains: find all hits, call the gains for each query, then compute the metrics.

    A callable receives the distinct grades of a query that the term uses, highest first, so its results do not depend
    on chunks or threads. It is not called for an invalid query or for later queries.
    """
    shares = out[-1, start : start + chunk[2] - chunk[1]] if counts_judged else None
    hits = find_in_chunk(plan.engine, program, codes, chunk, capacity, shares)
    return metrics_of_hits(plan, program, codes, hits, out[:-1] if counts_judged else out, start)


def metrics_of_hits(plan: Plan, program: Any, codes: Any, hits: Hits, out: Floats, start: int) -> Any:
    """Compute metrics from hits; return the number of queries with nothing relevant, or an error code."""
    tables: list[list[tuple[Floats, Floats]] | None] = [
        [] if term.gain is not None and term.gain.function is not None else None for term, _ in plan.terms
    ]
    errors: list[BaseException] = []
    done = 0
    try:
        for done in range(hits.queries):
            for (term, cutoffs), table in zip(plan.terms, tables, strict=True):
                if table is not None and term.gain is not None:
                    grades = _grades(hits, done, term.needs.at(int(cutoffs[-1])))
                    table.append((grades, term.gain.called(grades)))
        done = hits.queries
    except Exception as raised:
        errors.append(raised)
    gains = [None if table is None else _joined(table[:done]) for table in tables]
    result = plan.engine.metrics_from_hits(program, codes[0], done, *hits[2:], gains, out, start)
    if type(result) is tuple:
        table = tables[result[3]] if result[3] >= 0 else None
        return result if table is None else (*result, _gain_from_results(*table[result[1]]))
    if errors:
        raise errors.pop()  # pop the error to avoid a reference cycle through its traceback
    return result if hits.error_code is None else hits.error_code


def _grades(hits: Hits, query: int, needs: Needs) -> Floats:
    """Return the distinct grades that a term uses for a query, highest first."""
    of_query = slice(*hits.offsets[query : query + 2].tolist())
    judged = slice(*hits.judged_offsets[query : query + 2].tolist())
    returned_grades = hits.grade[of_query][hits.first[of_query] <= needs.depth]
    judged_grades = hits.judged_grade[judged] if needs.judged_depth > 1 else hits.judged_grade[:0]
    return np.unique(np.concatenate([returned_grades[returned_grades >= 0.0], judged_grades]))[::-1].copy()


def _joined(table: list[tuple[Floats, Floats]]) -> tuple[Ints, Floats, Floats]:
    """Concatenate the gain tables of several queries."""
    offsets = np.zeros(len(table) + 1, dtype=np.int64)
    np.cumsum([len(grades) for grades, _ in table], out=offsets[1:])
    grades, gains = (np.concatenate([np.empty(0), *(pair[side] for pair in table)]) for side in (0, 1))
    return offsets, grades, gains
