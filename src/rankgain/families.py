"""The families of metrics: what each needs of a Batch, and the taker of the backend that computes it.

A family is hashable: metrics that share one are computed in one pass, all their cut-offs together. A family that has no
cut-off is asked at one, which it does not look at.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from rankgain import _backend
from rankgain._codes import NOT_FINITE, UNLIMITED
from rankgain.batch import NON_RELEVANT, POOLED, Batch, Needs
from rankgain.discounts import NO_DISCOUNT, Discount
from rankgain.errors import Offence, check
from rankgain.gains import Gain
from rankgain.lists import Floats, Ints


class Family(Protocol):
    """What computes a quantity at several cut-offs."""

    def needs(self, depth: int) -> Needs:
        """What a Batch must hold, for a deepest cut-off of `depth`."""

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        """One value a query (rows) and cut-off (columns, rising); raises Offence."""

    def __hash__(self) -> int: ...


class DiscountedSum(NamedTuple):
    """The sum of gain times discount over the returned documents."""

    gain: Gain
    discount: Discount

    def needs(self, depth: int) -> Needs:
        return Needs(depth, judged_depth=1, below=NON_RELEVANT if self.gain.counts_zeros() else 0.0)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        self.discount.require(np.minimum(batch.returned, int(cutoffs[-1])))
        return self.at(batch, cutoffs, None).reshape(len(batch), len(cutoffs))

    def at(self, batch: Batch, cutoffs: Ints, spans: Ints | None) -> Floats:
        """The sums at cut-offs that all queries share, or, with the `spans` (offsets) of each, at its own."""
        deepest = int(cutoffs.max(initial=1))
        out = np.empty(len(batch) * len(cutoffs) if spans is None else len(cutoffs))
        check(
            _backend.kernels.discounted_sum(
                batch.hit_offsets,
                batch.hit_first,
                batch.hit_last,
                batch.hit_gains(self.gain, deepest),
                batch.ties,
                self.discount.table(min(deepest, batch.longest)),
                self.discount.kind,
                self.discount.base,
                cutoffs,
                spans,
                out,
            )
        )
        return out


class IdealSum(NamedTuple):
    """The sum of gain times discount over the judged documents, highest gain first."""

    gain: Gain
    discount: Discount
    returned: bool = False

    def needs(self, depth: int) -> Needs:
        # The grades that are highest have the highest gains only where the gain rises with the grade.
        return Needs(1, judged_depth=depth if self.gain.rises else UNLIMITED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        return self.at(batch, cutoffs, None).reshape(len(batch), len(cutoffs))

    def at(self, batch: Batch, cutoffs: Ints, spans: Ints | None) -> Floats:
        """As `DiscountedSum.at`."""
        deepest = int(cutoffs.max(initial=1))
        gains, counts = batch.judged_gains(self.gain)
        # The ideal of an empty list is that of one document: a list that returned nothing earns 0.
        limits = np.maximum(batch.returned, 1) if self.returned else None
        ranks = batch.judged_sizes()
        ranks = ranks if limits is None else np.minimum(limits, ranks)
        self.discount.require(np.minimum(ranks, deepest))
        out = np.empty(len(batch) * len(cutoffs) if spans is None else len(cutoffs))
        check(
            _backend.kernels.ideal_sum(
                batch.judged_offsets,
                gains,
                counts,
                limits,
                self.discount.table(min(deepest, int(ranks.max(initial=1)))),
                self.discount.kind,
                self.discount.base,
                cutoffs,
                spans,
                out,
            )
        )
        return out


class FirstRelevant(NamedTuple):
    """What the first returned document of a grade above `below` is worth: 1 / its rank, or, `success`, 1."""

    below: float
    empty: float
    success: bool = False

    def needs(self, depth: int) -> Needs:
        return Needs(depth, judged_depth=1, below=min(self.below, 0.0))

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch) * len(cutoffs))
        take = _backend.kernels.any_relevant if self.success else _backend.kernels.first_relevant
        take(
            batch.hit_offsets,
            batch.hit_grade,
            batch.hit_first,
            batch.hit_last,
            batch.judged_offsets,
            batch.judged_grade,
            self.below,
            batch.ties,
            self.empty,
            cutoffs,
            out,
        )
        return out.reshape(len(batch), len(cutoffs))


def hits_above(below: float) -> DiscountedSum:
    """How many returned documents have a grade above `below`; under averaged ties the number that is expected."""
    return DiscountedSum(Gain.relevant(below), NO_DISCOUNT)


class Ranks(NamedTuple):
    """The cut-off, or the length of the list where there is none; `returned`: never more than that length."""

    returned: bool = False

    def needs(self, depth: int) -> Needs:
        return Needs()

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        unlimited = cutoffs == UNLIMITED
        ranks = np.minimum(batch.returned[:, None], cutoffs)
        return np.where(unlimited | self.returned, ranks, cutoffs).astype(np.float64)


class JudgedAbove(NamedTuple):
    """How many judged documents have a grade above `below`."""

    below: float

    def needs(self, depth: int) -> Needs:
        return Needs(judged_depth=UNLIMITED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        return _of_lists(batch.judged_above(self.below), cutoffs)


class PrecisionAtRelevant(NamedTuple):
    """The number of relevant returned documents up to a rank of `multiple` times those that are judged (R), by rank."""

    below: float
    multiple: float

    def needs(self, depth: int) -> Needs:
        return hits_above(self.below).needs(UNLIMITED) | JudgedAbove(self.below).needs(depth)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        ranks = np.floor(self.multiple * batch.judged_above(self.below) + 0.9).astype(np.int64)
        hits = hits_above(self.below).at(batch, np.maximum(ranks, 1), np.arange(len(batch) + 1))
        return _of_lists(np.divide(hits, ranks, out=np.zeros(len(batch)), where=ranks > 0), cutoffs)


class PrecisionSum(NamedTuple):
    """The precisions at the ranks of relevant documents; with `beta` they are blended with gains (Q-measure)."""

    below: float
    beta: float = 0.0

    def needs(self, depth: int) -> Needs:
        return Needs(depth, judged_depth=depth if self.beta else 1, below=min(self.below, 0.0))

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch) * len(cutoffs))
        _backend.kernels.precision_sum(
            batch.hit_offsets,
            batch.hit_grade,
            batch.hit_first,
            batch.hit_last,
            self.below,
            batch.ties,
            self.beta,
            batch.judged_offsets,
            batch.judged_grade,
            batch.judged_count,
            cutoffs,
            out,
        )
        values = out.reshape(len(batch), len(cutoffs))
        if self.beta:  # gains may be of any size
            refuse_first(NOT_FINITE, ~np.isfinite(values).all(axis=1))
        return values


class PreferenceSum(NamedTuple):
    """For each relevant returned document the share of judged non-relevant ones that it stands above (bpref)."""

    below: float

    def needs(self, depth: int) -> Needs:
        return Needs(UNLIMITED, UNLIMITED, NON_RELEVANT)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch))
        relevant = batch.judged_above(self.below)
        _backend.kernels.preference_sum(
            batch.hit_offsets,
            batch.hit_grade,
            batch.hit_first,
            batch.hit_last,
            self.below,
            batch.ties,
            relevant,
            batch.judged_above(NON_RELEVANT) - relevant,
            out,
        )
        return _of_lists(out, cutoffs)


class InferredSum(NamedTuple):
    """The inferred precisions at the ranks of relevant documents (infAP)."""

    below: float

    def needs(self, depth: int) -> Needs:
        return Needs(UNLIMITED, 1, POOLED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch))
        _backend.kernels.inferred_sum(
            batch.hit_offsets, batch.hit_grade, batch.hit_first, batch.hit_last, self.below, batch.ties, out
        )
        return _of_lists(out, cutoffs)


class Interpolated(NamedTuple):
    """The mean of the interpolated precisions at recall points, which rise."""

    below: float
    points: tuple[float, ...]
    up: bool

    def needs(self, depth: int) -> Needs:
        return Needs(UNLIMITED, UNLIMITED, min(self.below, 0.0))

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch) * len(self.points))
        _backend.kernels.interpolated(
            batch.hit_offsets,
            batch.hit_grade,
            batch.hit_first,
            batch.hit_last,
            self.below,
            batch.ties,
            batch.judged_above(self.below),
            np.array(self.points),
            self.up,
            out,
        )
        total = np.zeros(len(batch))
        for column in out.reshape(len(batch), len(self.points)).T:
            total += column
        return _of_lists(total / len(self.points), cutoffs)


class CostSum(NamedTuple):
    """The gains, each divided by the logarithm of what the ranks so far could have held more (G of trec_eval)."""

    gain: Gain

    def needs(self, depth: int) -> Needs:
        return DiscountedSum(self.gain, NO_DISCOUNT).needs(UNLIMITED) | Needs(judged_depth=UNLIMITED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch))
        check(
            _backend.kernels.cost_sum(
                batch.hit_offsets,
                batch.hit_first,
                batch.hit_last,
                batch.hit_gains(self.gain, UNLIMITED),
                batch.ties,
                batch.judged_offsets,
                *batch.judged_gains(self.gain),
                out,
            )
        )
        return _of_lists(out, cutoffs)


class Cascade(NamedTuple):
    """The expected reciprocal of the rank at which a reader stops (ERR); `ideal`: over the judged documents."""

    max_grade: float
    ideal: bool = False

    def needs(self, depth: int) -> Needs:
        return Needs(depth, judged_depth=depth)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch) * len(cutoffs))
        stop = Gain.stop(self.max_grade)
        chances, counts = batch.judged_gains(stop)  # whether or not it was returned, a grade is one of the scale
        if self.ideal:
            _backend.kernels.ideal_cascade(batch.judged_offsets, chances, counts, cutoffs, out)
        else:
            most = int(np.diff(batch.hit_offsets).max(initial=0))
            fault = _backend.kernels.cascade(
                batch.hit_offsets,
                batch.hit_first,
                batch.hit_last,
                batch.hit_gains(stop, int(cutoffs[-1])),
                batch.ties,
                np.empty(3 * (most + 1)),
                cutoffs,
                out,
            )
            check(fault)
        return out.reshape(len(batch), len(cutoffs))


class GradeLevels(NamedTuple):
    """The mean of nDCG at the ranks where the ideal gain falls, and at the end of a longer list (Rndcg of trec_eval).

    The end counts where the list has at least two more documents than have a gain.
    """

    gain: Gain
    discount: Discount

    def needs(self, depth: int) -> Needs:
        sums = DiscountedSum(self.gain, self.discount), IdealSum(self.gain, self.discount)
        return sums[0].needs(UNLIMITED) | sums[1].needs(UNLIMITED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        gains, counts = batch.judged_gains(self.gain)
        query = np.repeat(np.arange(len(batch)), np.diff(batch.judged_offsets))
        ends = np.append(0, np.cumsum(np.where(gains > 0.0, counts, 0)))
        start, stop = ends[batch.judged_offsets[:-1]], ends[batch.judged_offsets[1:]]
        falls = gains > 0.0
        falls[:-1] &= (gains[:-1] != gains[1:]) | (query[:-1] != query[1:])
        levels = np.bincount(query[falls], minlength=len(batch))
        longer = (levels > 0) & (batch.returned > stop - start + 1)
        ranks = np.insert((ends[1:] - start[query])[falls], np.cumsum(levels)[longer], UNLIMITED)
        terms = levels + longer
        return _of_lists(_mean_ndcg(self, batch, ranks, np.append(0, np.cumsum(terms)), terms), cutoffs)


class RelevantRanks(NamedTuple):
    """The mean of nDCG over all judged documents with a gain, at their ranks or, not returned, at the end of the list
    (ndcg_rel of trec_eval).
    """

    gain: Gain
    discount: Discount

    def needs(self, depth: int) -> Needs:
        return GradeLevels(self.gain, self.discount).needs(depth)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        gains, counts = batch.judged_gains(self.gain)
        worth = np.append(0, np.cumsum(np.where(gains > 0.0, counts, 0)))[batch.judged_offsets]
        ranks, found = batch.ranks_of(batch.hit_gains(self.gain, UNLIMITED) > 0.0)
        total, hits = np.diff(worth), np.diff(found)
        ranks = np.insert(ranks, found[1:], UNLIMITED)
        ends = found[1:] + np.arange(len(batch))
        factors = np.ones(len(ranks))
        factors[ends] = total - hits
        return _of_lists(_mean_ndcg(self, batch, ranks, np.append(0, ends + 1), total, factors), cutoffs)


def _mean_ndcg(
    family: GradeLevels | RelevantRanks,
    batch: Batch,
    ranks: Any,
    spans: Any,
    terms: Ints,
    factors: Floats | None = None,
) -> Floats:
    """Σ factor · nDCG at the ranks of each query, divided by the number of terms; 0 where there are none."""
    family.discount.require(batch.returned)
    ranks, spans = np.array(ranks, dtype=np.int64), np.array(spans, dtype=np.int64)
    values = DiscountedSum(family.gain, family.discount).at(batch, ranks, spans)
    ideals = IdealSum(family.gain, family.discount).at(batch, ranks, spans)
    quotients = np.divide(values, ideals, out=np.zeros(len(ranks)), where=ideals > 0.0)
    quotients = quotients if factors is None else quotients * factors
    totals = np.zeros(len(batch))
    np.add.at(totals, np.repeat(np.arange(len(batch)), np.diff(spans)), quotients)
    return np.divide(totals, terms, out=np.zeros(len(batch)), where=terms > 0)


def refuse_first(code: int, bad: Any) -> None:
    """Raise the Offence of the first query that is marked."""
    if bad.any():
        raise Offence(code, int(bad.argmax()))


def _of_lists(values: Any, cutoffs: Ints) -> Floats:
    """The same value at all cut-offs."""
    return np.repeat(np.asarray(values, dtype=np.float64)[:, None], len(cutoffs), axis=1)
