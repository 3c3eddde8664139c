"""Compute the metrics of judgments by subtopic.

The documents of a query are matched once, with their positions in the judgments in place of grades. The hits are then
read per subtopic, for means over subtopics, or with all subtopics of each document, for metrics of novelty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import AVERAGE, IN_JUDGED, SHORT_DISCOUNT
from rankgain.data.ids import row_numbers, slices_of
from rankgain.data.ragged import offsets_of
from rankgain.data.rules import Rules
from rankgain.data.source import Source
from rankgain.data.subtopics import Covers
from rankgain.errors import BY_SUBTOPIC, InputError, located, quoted, refusal
from rankgain.metrics.discounts import Discount
from rankgain.metrics.metric import Metric, row_of
from rankgain.metrics.program import Hits, Plan, capacity_of, check_averaged, find_in_chunk, metrics_of_hits
from rankgain.metrics.subtopics import MOST_RANKS, NOVELTY, ORDERS
from rankgain.scalars import NON_RELEVANT, Bools, Floats, Ints, to_intp
from rankgain.threads import run_chunks

ROUNDING = 1e-9  # a list beats its ideal only if it is better by more than this share
BITS = 62  # number of subtopics per word of a set
MOST_CACHED = 64  # maximum number of results that are kept with the judgments


def check_by_subtopic(metrics: Iterable[Metric], source: Source, rules: Rules) -> Covers:
    """Return the covers, or raise a ValueError if a metric cannot be computed."""
    covers = source.covers
    for metric in metrics:
        if covers is None:
            needed = f"{metric!s} needs judgments by subtopic"
            if not source.has_ids:
                raise ValueError(f"{needed}, and these rankings have no document ids")
            raise ValueError(f"{needed}: {BY_SUBTOPIC}")
        if rules.ties in ("best", "worst"):
            raise ValueError(f"{metric!s} has no value for ties={rules.ties!r}: {ORDERS}; use ties='average'")
        if rules.scored_only:
            raise ValueError(
                f"{metric!s}: scored_only does not apply to judgments by subtopic: evaluate this metric without it"
            )
        if row_of(metric.name).needs_cutoff and metric.depth > MOST_RANKS:
            limit = "" if metric.k is None else f" of at most {MOST_RANKS}"
            raise ValueError(
                f"{metric!s} needs a cut-off{limit}, since its divisor is a sum over the first k ranks: "
                f"write {metric.name}@10"
            )
    assert covers is not None
    return covers


def fill_by_subtopic(
    plan: Plan, source: Source, rules: Rules, ordinary: Floats, threads: int = 1
) -> tuple[Floats, int, int]:
    """Compute the values of all metrics of a plan, given those of its ordinary metrics.

    Return the values, one row per metric, the number of queries with nothing relevant, and the number of queries in
    which a list beats its ideal.
    """
    covers = check_by_subtopic(plan.by_subtopic, source, rules)
    check_averaged(plan, rules)
    queries = len(source.query_ids)
    numbers = source.judgment_numbers
    out = np.empty((plan.count, queries))
    out[: len(ordinary)] = ordinary
    rows = dict(zip(plan.metrics, out, strict=True))
    novelty = Novelty([metric for metric in plan.by_subtopic if metric.name in NOVELTY], covers, numbers)
    bases = plan.bases
    depth = max(novelty.depth, 1 if bases is None else bases.needs.depth)

    def work(start: int, stop: int) -> None:
        matched = Matched(source, covers, rules, depth, start, stop)
        novelty.add(matched, rules, source, start)
        if bases is not None:
            values = values_by_subtopic(bases, matched, rules, source)
            for metric, base in plan.base_of.items():
                rows[metric][start:stop] = _means(metric, values[bases.metrics.index(base)], matched)

    run_chunks(source.chunks(threads), work, threads)
    capped = novelty.write(rows)
    relevant = offsets_of(covers.best > 0.0)[covers.offsets]
    empty = int(np.count_nonzero(relevant[numbers + 1] == relevant[numbers]))
    out.setflags(write=False)
    return out, empty, capped


class Matched:
    """The hits of queries start … stop − 1 to a depth, with the index of each hit's document in the covers.

    `numbers` has the index of each query among the judged queries.
    """

    def __init__(self, source: Source, covers: Covers, rules: Rules, depth: int, start: int, stop: int) -> None:
        engine, chunk = _backend.walk, source.numbered_chunk(start, stop)
        program = engine.Program([], [], depth, 1, NON_RELEVANT)
        self.hits = hits = find_in_chunk(engine, program, rules.codes, chunk, capacity_of(source, rules, start, stop))
        if hits.error_code is not None:
            code, query, position, _ = hits.error_code
            raise source.refusal(start + query, InputError(code, start + query, position))
        self.covers = covers
        self.start = start
        self.numbers = numbers = source.judgment_numbers[start:stop]
        count = int(hits.offsets[hits.queries])
        self.query = np.repeat(np.arange(hits.queries), to_intp(np.diff(hits.offsets[: hits.queries + 1])))
        self.first, self.last = hits.first[:count], hits.last[:count]
        self.document = covers.document_offsets[numbers][self.query] + hits.grade[:count].astype(np.int64)
        subtopics, self.offsets = slices_of(covers.offsets[numbers], covers.offsets[numbers + 1])
        self.subtopics = row_numbers(subtopics)  # those of all queries of the chunk, one query after another


def values_by_subtopic(bases: Plan, matched: Matched, rules: Rules, source: Source) -> Floats:
    """Return the values of ordinary metrics with each subtopic of each query as a query of its own."""
    covers, hits = matched.covers, matched.hits
    rows, ends = slices_of(covers.starts[matched.document], covers.starts[matched.document + 1])
    rows, hit = row_numbers(rows), np.repeat(np.arange(len(matched.document)), to_intp(np.diff(ends)))
    grade = covers.grades[rows]
    is_hit = grade > bases.needs.lowest
    rows, hit, grade = rows[is_hit], hit[is_hit], grade[is_hit]
    query = matched.query[hit]
    pair = covers.subtopics[rows] - covers.offsets[matched.numbers][query] + matched.offsets[query]
    first, last = matched.first[hit], matched.last[hit]
    # Hits are in rank order; those of a tie group are ordered by grade.
    tied = rules.codes[0] == AVERAGE and bool(np.any(first < last))
    order = np.lexsort((-grade, first, pair)) if tied else np.argsort(pair, kind="stable")
    pairs = len(matched.subtopics)
    offsets, judged_grades, judged_counts = covers.by_subtopic
    judged, judged_offsets = slices_of(offsets[matched.subtopics], offsets[matched.subtopics + 1])
    by_pair = Hits(
        pairs,
        None,
        np.repeat(hits.returned[: hits.queries], to_intp(np.diff(matched.offsets))),
        offsets_of(np.bincount(pair, minlength=pairs)),
        grade[order],
        first[order],
        last[order],
        judged_offsets,
        judged_grades[judged].copy(),
        judged_counts[judged].copy(),
    )
    values = np.empty((bases.count, pairs))
    if pairs:
        program = bases.ready or bases.program(max(source.longest, 1))
        answer = metrics_of_hits(bases, program, rules.codes, by_pair, values, 0)
        if type(answer) is tuple:
            raise _refused(bases, matched, source, answer)
    return values


def _refused(bases: Plan, matched: Matched, source: Source, error_code: tuple[Any, ...]) -> Exception:
    """Return the error for a subtopic of which a metric cannot be computed."""
    code, pair, position, term, *answered = error_code
    query = int(np.searchsorted(matched.offsets, pair, side="right")) - 1
    covers, subtopic = matched.covers, int(matched.subtopics[pair])
    where = f"{source.query_name(matched.start + query)}, subtopic {quoted(covers.names[subtopic])}"
    discount = bases.terms[term][0].discount
    if discount.vector and code & ~IN_JUDGED == SHORT_DISCOUNT:
        return refusal(code, where, discount.too_short(position))
    rows = np.flatnonzero(covers.subtopics == subtopic)
    gain = answered[0] if answered else bases.terms[term][0].gain
    error = located(InputError(code, query, -1, gain=gain), covers.grades[rows][covers.grades[rows] >= 0.0])
    return refusal(code | IN_JUDGED, where, error.detail)


def counting(metric: Metric, matched: Matched) -> Bools:
    """Return which of the subtopics of a chunk count: those with a relevant document, and a weight above 0."""
    covers, subtopics = matched.covers, matched.subtopics
    return (covers.best[subtopics] > metric.above) & (covers.weight[subtopics] > 0.0)


def _means(metric: Metric, values: Floats, matched: Matched) -> Floats:
    """Return the weighted mean over the subtopics that count, for each query of a chunk."""
    covers, counts = matched.covers, counting(metric, matched)
    weights = covers.weight[matched.subtopics]
    offsets = offsets_of(counts)[matched.offsets].tolist()
    values, weights = values[counts], weights[counts]
    if covers.weights is None:
        terms = values.tolist()
        totals: Sequence[float] = np.diff(offsets).tolist()
    else:
        terms = (weights * values).tolist()
        factors = weights.tolist()
        totals = [math.fsum(factors[start:stop]) for start, stop in pairwise(offsets)]
    return np.array(
        [
            math.fsum(terms[start:stop]) / total if stop > start else metric.empty
            for (start, stop), total in zip(pairwise(offsets), totals, strict=True)
        ]
    )


# Metrics of novelty.


class CoverSets(NamedTuple):
    """The subtopics that each document covers, of those that count: document i covers subtopics[starts[i]:starts[i+1]].

    `most` is the largest number of documents of a query that cover a subtopic.
    """

    starts: Ints
    subtopics: Ints
    counts: Bools  # whether a subtopic counts
    most: int


def cover_sets(covers: Covers, above: float) -> CoverSets:
    """Return the subtopics that documents cover by a grade above a threshold."""
    key = "sets", above
    result: CoverSets | None = covers.cache.get(key)
    if result is None:
        is_covered = covers.grades > max(above, NON_RELEVANT)
        if covers.weights is not None:
            is_covered &= covers.weights[covers.subtopics] > 0.0
        subtopics = covers.subtopics[is_covered]
        starts = offsets_of(is_covered)[covers.starts]
        covering = np.bincount(subtopics, minlength=len(covers.names))
        result = CoverSets(starts, subtopics, covering > 0, int(covering.max(initial=0)))
        _remember(covers, key, result)
    return result


def _remember(covers: Covers, key: Any, result: Any) -> None:
    if len(covers.cache) >= MOST_CACHED:
        covers.cache.clear()
    covers.cache[key] = result


class Kinds(NamedTuple):
    """The documents of each query that cover the same subtopics, as kernels read them.

    The kinds of each query start at its offset. A kind covers subtopics[first:last], and its documents, in the order
    in which they are preferred, are members[member_offsets[kind]:member_offsets[kind + 1]].
    """

    offsets: Ints
    first: Ints
    last: Ints
    member_offsets: Ints
    members: Ints


def kinds_of(covers: Covers, sets: CoverSets, *, by_id: bool) -> Kinds:
    """Combine the documents that cover the same subtopics.

    Documents are preferred in the order of the judgments or, with `by_id`, the highest id first.
    """
    documents = np.flatnonzero(np.diff(sets.starts))
    bounds = covers.document_offsets
    query = np.repeat(np.arange(len(bounds) - 1), to_intp(np.diff(bounds)))
    preference = np.arange(len(covers.documents)) - bounds[query]
    if by_id:
        for start, stop in pairwise(bounds.tolist()):
            highest_first = sorted(range(stop - start), key=covers.documents[start:stop].__getitem__, reverse=True)
            preference[start + np.array(highest_first, dtype=np.int64)] = np.arange(stop - start)
    query, preference = query[documents], preference[documents]
    # The subtopics of a document as bits of one or more words, which are equal only for equal sets.
    sizes = np.diff(sets.starts)[documents]
    subtopic = sets.subtopics - np.repeat(covers.offsets[query], to_intp(sizes))
    bits, words = 1 << subtopic % BITS, int(subtopic.max(initial=0)) // BITS + 1
    firsts = to_intp(offsets_of(sizes)[:-1])
    masks = np.array(
        [np.bitwise_or.reduceat(np.where(subtopic // BITS == word, bits, 0), firsts) for word in range(words)]
        if len(firsts)
        else np.empty((1, 0), dtype=np.int64)
    )
    order = np.lexsort((*((preference,) if by_id else ()), *masks, query))  # stable
    documents, query, preference, masks = documents[order], query[order], preference[order], masks[:, order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (np.diff(query) != 0) | np.any(np.diff(masks, axis=1) != 0, axis=0)
    firsts = np.flatnonzero(begins)
    return Kinds(
        offsets_of(np.bincount(query[firsts], minlength=len(bounds) - 1)),
        sets.starts[documents[firsts]],
        sets.starts[documents[firsts] + 1],
        np.append(firsts, len(order)),
        preference,
    )


class NoveltySum(NamedTuple):
    """A sum of discounted gains that several metrics divide in different ways."""

    alpha: float
    above: float
    discount: Discount

    def powers(self, most: int) -> Floats:
        """Return (1 − α)^c for c up to `most`, by repeated multiplication."""
        powers = np.full(most + 1, 1.0 - self.alpha)
        powers[0] = 1.0
        return np.multiply.accumulate(powers)

    def discounts(self, depth: int) -> tuple[int, float, Floats]:
        return self.discount.kind, self.discount.base, self.discount.table(depth)


def sum_of(metric: Metric) -> NoveltySum:
    """Return the sum that a metric of novelty divides."""
    return NoveltySum(metric.alpha, metric.above, NOVELTY[metric.name].discount(metric))


class Novelty:
    """The metrics of novelty of an evaluation: sums are added chunk by chunk, and divided at the end."""

    def __init__(self, metrics: Sequence[Metric], covers: Covers, numbers: Ints) -> None:
        self.metrics = metrics
        self._covers = covers
        self._numbers = numbers
        self._cutoffs: dict[NoveltySum, Ints] = {}
        self._sum_of: dict[Metric, NoveltySum] = {}
        for metric in metrics:
            key = sum_of(metric)
            self._sum_of[metric] = key
            cutoffs = {*self._cutoffs.get(key, np.empty(0, np.int64)).tolist(), metric.depth}
            self._cutoffs[key] = np.array(sorted(cutoffs), dtype=np.int64)
        self.depth = max((metric.depth for metric in metrics), default=1)
        self._sums = {key: np.empty((len(cutoffs), len(numbers))) for key, cutoffs in self._cutoffs.items()}
        self._ideals = {
            metric: self._ideal(key, metric.ideal == "docid")
            for metric, key in self._sum_of.items()
            if NOVELTY[metric.name].normalised
        }

    def _ideal(self, key: NoveltySum, by_id: bool) -> Floats:
        """Return the sum of the ideal list of each judged query at all cut-offs; it is kept with the judgments."""
        covers, cutoffs = self._covers, self._cutoffs[key]
        cached = "ideal", _backend.name, key, by_id, *cutoffs.tolist()
        out: Floats | None = covers.cache.get(cached)
        if out is None:
            sets = cover_sets(covers, key.above)
            kinds = kinds_of(covers, sets, by_id=by_id)
            out = np.empty((len(cutoffs), len(covers.document_offsets) - 1))
            longest = int(np.diff(kinds.member_offsets[kinds.offsets]).max(initial=0))
            _backend.novelty.novelty_ideal(
                *kinds,
                sets.subtopics,
                covers.offsets,
                covers.weight,
                not by_id,
                key.powers(sets.most),
                *key.discounts(min(int(cutoffs[-1]), longest)),
                cutoffs,
                out,
            )
            _remember(covers, cached, out)
        return out

    def add(self, matched: Matched, rules: Rules, source: Source, column: int) -> None:
        """Add the sums of a chunk, to be stored from a column on."""
        covers, hits = self._covers, matched.hits
        for key, cutoffs in self._cutoffs.items():
            sets = cover_sets(covers, key.above)
            longest = int(matched.last.max(initial=1))
            error_code = _backend.novelty.novelty_sum(
                rules.codes[0],
                hits.offsets[: hits.queries + 1],
                matched.document,
                matched.first,
                matched.last,
                sets.starts,
                sets.subtopics,
                covers.offsets[matched.numbers],
                covers.offsets[matched.numbers + 1],
                covers.weight,
                key.powers(sets.most),
                *key.discounts(min(int(cutoffs[-1]), longest)),
                cutoffs,
                self._sums[key],
                column,
            )
            if error_code is not None:
                code, query = error_code[0], matched.start + error_code[1]
                raise source.refusal(query, InputError(code, query))

    def write(self, rows: dict[Metric, Floats]) -> int:
        """Write the values of the metrics; return the number of queries in which a list beats its ideal."""
        capped = np.zeros(len(self._numbers), dtype=np.bool_)
        for metric in self._sum_of:
            sums, divisors = self.sums(metric), self.divisors(metric)
            values = np.divide(sums, divisors, out=np.full(len(sums), metric.empty), where=divisors > 0.0)
            if metric.ideal != "docid":
                capped |= values > 1.0 + ROUNDING
                values = np.minimum(values, 1.0)  # NaN stays NaN
            rows[metric][:] = values
        return int(np.count_nonzero(capped))

    def sums(self, metric: Metric) -> Floats:
        """Return the sum of the list of each query."""
        key = self._sum_of[metric]
        sums: Floats = self._sums[key][np.searchsorted(self._cutoffs[key], metric.depth)]
        return sums

    def divisors(self, metric: Metric) -> Floats:
        """Return what the sum of each query is divided by; 0 if nothing counts."""
        key = self._sum_of[metric]
        if NOVELTY[metric.name].normalised:
            ideals: Floats = self._ideals[metric][np.searchsorted(self._cutoffs[key], metric.depth)]
            return ideals[self._numbers]
        return self._most(metric, key, cover_sets(self._covers, key.above))

    def _most(self, metric: Metric, key: NoveltySum, sets: CoverSets) -> Floats:
        """Return the sum of a list in which each document covers everything, for each query; 0 if nothing counts.

        It is added as the sums of lists are, so that such a list has the value 1 exactly.
        """
        covers, known = self._covers, dict[tuple[float, ...], float]()
        divisors = np.zeros(len(self._numbers))
        for query, number in enumerate(self._numbers.tolist()):
            of_query = slice(covers.offsets[number], covers.offsets[number + 1])
            weights = covers.weight[of_query][sets.counts[of_query]]
            if len(weights):
                by_weight = tuple(sorted(weights.tolist(), reverse=True))
                if by_weight not in known:
                    known[by_weight] = _sum_of_most(metric, key, by_weight)
                divisors[query] = known[by_weight]
        return divisors


def _sum_of_most(metric: Metric, key: NoveltySum, weights: tuple[float, ...]) -> float:
    if metric.name == "nrbp":
        return _added(weights) / (1.0 - (1.0 - metric.alpha) * metric.beta)
    total, power = 0.0, 1.0
    for discount in key.discount.table(metric.depth)[: metric.depth].tolist():
        total += _added(weight * power for weight in weights) * discount
        power *= 1.0 - metric.alpha
    return total


def _added(terms: Iterable[float]) -> float:
    total = 0.0
    for term in terms:
        total += term
    return total
