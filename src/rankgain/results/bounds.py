"""Bounds on the values of a metric, over all possible judgments of the unjudged documents at the ranks that count.

Both bounds of a query are values that such judgments give. Judged documents keep their grades, and documents that were
not returned stay unjudged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, offsets_of
from rankgain.data.rules import GIVEN, Rules
from rankgain.data.source import Source
from rankgain.errors import short
from rankgain.metrics.aggregators import mean
from rankgain.metrics.metric import Metric
from rankgain.metrics.program import Hits, chunk_hits, fill, planned
from rankgain.metrics.subtopics import SUBTOPIC_TABLE
from rankgain.results.export import Columns, Frames
from rankgain.results.text import number
from rankgain.scalars import NON_RELEVANT, Bools, Floats, Ints, to_intp

# Metrics whose value never falls if the grade of a document at a rank that counts rises.
MONOTONE = "cg", "dcg", "rbp", "rr", "success", "precision", "recall", "capped_recall", "f", "err", "ncg"
PROGRESS = 1e-14  # smaller improvements of a quotient are rounding errors


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bounds(Frames):
    """The least and the greatest value of each query, created by `Rankings.bounds`; prints the means.

    Attributes
    ----------
    metric : Metric
        The metric.
    values, low, high : ndarray of float64, shape (queries,)
        The values with the given judgments, and their bounds. Read-only.
    query_ids : sequence
        The queries, in the order of the arrays.
    highest : float
        The highest grade that an unjudged document may have: the highest judged one of all queries.
    """

    __module__ = "rankgain"
    _index = "query_id"
    metric: Metric
    values: Floats
    low: Floats
    high: Floats
    query_ids: Sequence[Any]
    highest: float

    def mean(self) -> tuple[float, float, float]:
        """Return the mean value, and the means of the least and of the greatest values.

        Returns
        -------
        value, low, high : float
            NaN if there are no queries.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_qrels({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}).bounds("rr").mean()
        (0.5, 0.5, 1.0)
        """
        return mean(self.values), mean(self.low), mean(self.high)

    def columns(self) -> Columns:
        """Return the columns of a data frame with one row per query.

        Returns
        -------
        dict of str to sequence
            ``query_id``, then ``value``, ``low`` and ``high`` as float64 arrays.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_qrels({"q": {"a": 1}}, {"q": {"a": 1.0}}).bounds("rr").columns())
        ['query_id', 'value', 'low', 'high']
        """
        return {"query_id": self.query_ids, "value": self.values, "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        value, low, high = map(number, self.mean())
        ranks = "returned documents" if self.metric.k is None else f"first {self.metric.k}"
        return (
            f"{self.metric}: {value}; {low} to {high} if the unjudged of the {ranks} may have any grade up to "
            f"{short(self.highest)}; relevant documents outside them are not considered"
        )


class Slots(NamedTuple):
    """The ranks that count, as one slot per rank and query, one query after another.

    `query`, `rank`: those of each slot. `judged`: whether the document is judged; `grade`: its grade, or 0. `offsets`:
    where the slots of each query begin.
    """

    query: Ints
    rank: Ints
    judged: Bools
    grade: Floats
    offsets: Ints


class _Truth(NamedTuple):
    """The judged grades of all queries of a chunk, with the query and the number of documents of each."""

    query: Ints
    grade: Floats
    documents: Ints


def slots_of(hits: Hits, depth: int) -> Slots:
    returned = np.minimum(hits.returned, depth)
    offsets = offsets_of(returned)
    query = np.repeat(np.arange(hits.queries), to_intp(returned))
    rank = np.arange(offsets[-1]) - offsets[query] + 1
    n_hits = int(hits.offsets[-1])
    query_of_hit = np.repeat(np.arange(hits.queries), to_intp(np.diff(hits.offsets)))
    within = hits.first[:n_hits] <= returned[query_of_hit]
    slot = (offsets[query_of_hit] + hits.first[:n_hits] - 1)[within]
    judged, grade = np.zeros(len(query), np.bool_), np.zeros(len(query))
    judged[slot], grade[slot] = True, hits.grade[:n_hits][within]
    return Slots(query, rank, judged, grade, offsets)


def truth_of(hits: Hits) -> _Truth:
    n = int(hits.judged_offsets[-1])
    query = np.repeat(np.arange(hits.queries), to_intp(np.diff(hits.judged_offsets)))
    return _Truth(query, hits.judged_grade[:n], hits.judged_count[:n])


def bounds_over_judgments(metric: Metric, source: Source, rules: Rules) -> Bounds:
    """Compute the bounds of a metric."""
    _check(metric, rules)
    out, _ = fill(planned((metric,)), source, rules)
    chunks = list(chunk_hits(source, rules, UNLIMITED, NON_RELEVANT, UNLIMITED))
    highest = max(
        (float(chunk.judged_grade[: chunk.judged_offsets[-1]].max(initial=0.0)) for chunk in chunks), default=0
    )
    highest = highest or 1.0
    ends = [_ends(metric, chunk, highest) for chunk in chunks]
    low, high = (np.concatenate([np.empty(0), *(pair[end] for pair in ends)]) for end in (0, 1))
    low = out[0] if metric.name in MONOTONE else np.minimum(low, out[0])
    bounds = Bounds(metric, out[0], low, np.maximum(high, out[0]), source.query_ids, highest)
    for vector in (bounds.low, bounds.high):
        vector.flags.writeable = False
    return bounds


def _check(metric: Metric, rules: Rules) -> None:
    """Raise a ValueError if no bounds are known that judgments can reach."""
    if rules.ties not in (None, "stable", "docid"):
        raise ValueError(
            f"bounds: with ties={rules.ties!r}, the ranks of unjudged documents are unknown; order ties another way, "
            "such as rankings.under(ties='stable')"
        )
    if metric.name in SUBTOPIC_TABLE:
        raise ValueError(f"bounds: {metric} depends on subtopics, and those of an unjudged document are unknown")
    known = f"bounds are known for {', '.join((*MONOTONE, 'ndcg', 'ap'))}"
    if metric.name not in (*MONOTONE, "ndcg", "ap"):
        raise ValueError(f"bounds: {metric} may fall or rise with the grade of an unjudged document; {known}")
    if metric.above < 0.0:
        raise ValueError(f"bounds: {metric} counts each judged document as relevant, whatever its grade; leave out rel")
    if metric.empty != 0.0:
        raise ValueError(f"bounds: {metric} has another value where nothing is relevant; write empty=0")
    if metric.gain.kind not in ("linear", "exponential", "relevant"):
        raise ValueError(f"bounds: the gain of {metric} may fall if a grade rises; write gain=linear or exponential")
    if metric.name == "ndcg" and not (metric.ideal == "judged" and metric.discount.non_increasing):
        raise ValueError(f"bounds: {metric} needs ideal=judged and a discount that does not rise with the rank")
    if metric.name == "ncg" and metric.ideal != "judged":
        raise ValueError(f"bounds: {metric} needs ideal=judged")


def _ends(metric: Metric, hits: Hits, highest: float) -> tuple[Floats, Floats]:
    """Return the least and the greatest values of the queries in a chunk."""
    slots, truth = slots_of(hits, metric.depth), truth_of(hits)
    if metric.name == "ndcg":
        return _of_ndcg(metric, slots, truth, hits.queries, highest)
    if metric.name == "ap":
        return _of_ap(metric, slots, truth, hits.queries, highest)
    high = _of_best(metric, slots, truth, hits.queries, highest)
    return high, high


def _of_best(metric: Metric, slots: Slots, truth: _Truth, queries: int, highest: float) -> Floats:
    """Return the values if all unjudged documents have the highest grade."""
    grades = np.where(slots.judged, slots.grade, highest)
    query = np.concatenate([np.repeat(truth.query, to_intp(truth.documents)), slots.query[~slots.judged]])
    judged = np.concatenate([np.repeat(truth.grade, to_intp(truth.documents)), grades[~slots.judged]])
    order = np.argsort(query, kind="stable")
    lists = RaggedArray("grades", slots.offsets, values=grades)
    beside = RaggedArray("judged", offsets_of(np.bincount(query, minlength=queries)), values=judged[order])
    out, _ = fill(planned((metric,)), ListSource(lists, None, beside, range(queries)), GIVEN)
    values: Floats = out[0]
    return values


def _padded(slots: Slots, queries: int, values: Floats) -> Floats:
    """Return a matrix with a row per query: the values of its unjudged documents in rank order, then NaN."""
    query = slots.query[~slots.judged]
    sizes = np.bincount(query, minlength=queries)
    matrix = np.full((queries, int(sizes.max(initial=0))), np.nan)
    matrix[query, np.arange(len(query)) - offsets_of(sizes)[query]] = values[~slots.judged]
    return matrix


def _last_first(matrix: Floats) -> Floats:
    """Reverse the numbers of each row, which come before its NaN."""
    sizes = np.count_nonzero(~np.isnan(matrix), axis=1)[:, None]
    columns = np.arange(matrix.shape[1])
    reversed_rows = np.take_along_axis(matrix, np.maximum(sizes - 1 - columns, 0), axis=1)
    return np.where(columns < sizes, reversed_rows, np.nan)


def _sums(terms: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, … terms of each row; NaN beyond the terms of a row."""
    return np.concatenate([np.zeros((len(terms), 1)), np.cumsum(terms, axis=1)], axis=1)


# nDCG is the sum over layers of gain, each between two levels. Within a layer, a document counts in full or not at all,
# and a document that counts in a layer counts in all lower ones.


def _of_ndcg(metric: Metric, slots: Slots, truth: _Truth, queries: int, highest: float) -> tuple[Floats, Floats]:
    discounts = metric.discount.to_cutoff(int(slots.rank.max(initial=0)), metric.depth)[slots.rank - 1]
    first_ranks = _padded(slots, queries, discounts)
    gains, judged_gains = metric.gain.apply(slots.grade), metric.gain.apply(truth.grade)
    (top,) = metric.gain.apply(np.array([highest])).tolist()
    levels = np.unique(np.append(judged_gains, top))
    levels = levels[levels > 0.0]
    counts = [
        np.bincount(truth.query, truth.documents * (judged_gains >= level), queries).astype(np.int64)
        for level in levels
    ]
    most = max((int(count.max(initial=0)) for count in counts), default=0) + first_ranks.shape[1]
    ideal_sums = np.append(0.0, np.cumsum(metric.discount.to_cutoff(most, metric.depth)))
    added_ranks = np.arange(first_ranks.shape[1] + 1)
    ideals = [ideal_sums[count[:, None] + added_ranks] for count in counts]
    widths = np.diff(levels, prepend=0.0)
    sums = [np.bincount(slots.query, discounts * (slots.judged & (gains >= level)), queries) for level in levels]
    ends = []
    for sign, chosen in ((-1.0, _last_first(first_ranks)), (1.0, first_ranks)):
        added = np.nan_to_num(_sums(chosen), copy=False, nan=-sign * np.inf)  # no query has more than its documents
        gained = [width * (total[:, None] + added) for width, total in zip(widths, sums, strict=True)]
        possible = [width * ideal for width, ideal in zip(widths, ideals, strict=True)]
        ends.append(sign * _largest_quotients([sign * each for each in gained], possible))
    return ends[0], ends[1]


def _largest_quotients(gained: list[Floats], possible: list[Floats]) -> Floats:
    """Return, per query, the largest Σ gained / Σ possible over the layers, lowest first.

    Column m is for m documents in a layer, and no layer has more than the layer below it. This is Dinkelbach's method
    (1967): q is the largest quotient if and only if no choice has a numerator above q times its denominator. Queries
    whose quotient no longer rises are left out of the further steps.
    """
    # Most often, documents count in all layers or in none. Where nothing is relevant, the quotient is 0.
    quotients = np.zeros_like(gained[0])
    np.divide(sum(gained), bottom := sum(possible), out=quotients, where=bottom > 0.0)
    largest: Floats = quotients.max(axis=1)
    rows = np.arange(len(largest))
    while len(rows):
        top, bottom = _best_choice(gained, possible, largest[rows])
        quotient = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0.0)
        rises = quotient > largest[rows] + PROGRESS
        largest[rows] = np.maximum(quotient, largest[rows])
        if not rises.all():
            rows, gained, possible = rows[rises], [each[rises] for each in gained], [each[rises] for each in possible]
    return largest


def _best_choice(gained: list[Floats], possible: list[Floats], quotient: Floats) -> tuple[Floats, Floats]:
    """Return Σ gained and Σ possible of the choice with the largest Σ gained − quotient · Σ possible, per query."""
    best = np.zeros_like(gained[0])  # of the layers so far, if the next has m documents
    tables = []
    for gain, ideal in zip(reversed(gained), reversed(possible), strict=True):
        values = ideal * -quotient[:, None]
        values += gain
        values += best
        best = np.maximum.accumulate(values, axis=1, out=values)
        tables.append(best)
    query, documents = np.arange(len(quotient)), np.full(len(quotient), best.shape[1] - 1)
    chosen = []
    for table in reversed(tables):  # the first maximum within the documents of the layer below
        documents = np.argmax(table == table[query, documents][:, None], axis=1)
        chosen.append(documents)
    chosen.reverse()
    top, bottom = (
        sum(each[query, documents] for each, documents in zip(reversed(layers), chosen, strict=True))
        for layers in (gained, possible)
    )
    return top, bottom


# AP is least if the last of the unjudged documents are the relevant ones, and greatest if the first ones are.


def _of_ap(metric: Metric, slots: Slots, truth: _Truth, queries: int, highest: float) -> tuple[Floats, Floats]:
    relevant = slots.judged & (slots.grade > metric.above)
    inverse = 1.0 / slots.rank
    total = np.append(0, np.cumsum(relevant))
    above = (total[:-1] - total[slots.offsets[slots.query]]).astype(np.float64)
    whole = np.append(0.0, np.cumsum(relevant * inverse))
    below = whole[slots.offsets[slots.query + 1]] - whole[1:]
    judged = np.bincount(slots.query, relevant * (above + 1.0) * inverse, queries)
    known = np.bincount(truth.query, truth.documents * (truth.grade > metric.above), queries)
    inverses, alone = (
        _padded(slots, queries, each) for each in (inverse, (above + 1.0) * inverse + below)
    )  # what a document adds if it is the only one that becomes relevant
    if highest <= metric.above:
        inverses, alone = inverses[:, :0], alone[:, :0]
    first = alone + inverses * np.arange(inverses.shape[1])  # earlier ones raise the precision at its rank
    last_inverses = _last_first(inverses)
    last = _last_first(alone) + _sums(last_inverses)[:, :-1]  # it raises the precision at the later ones
    sums = [judged[:, None] + _sums(each) for each in (last, first)]
    divisors = known[:, None] + np.arange(inverses.shape[1] + 1.0)
    low, high = (np.divide(each, divisors, out=np.zeros_like(each), where=divisors > 0.0) for each in sums)
    return np.nanmin(low, axis=1), np.nanmax(high, axis=1)
