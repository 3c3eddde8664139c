"""The families of metrics: what each needs of a Batch, and the taker of the backend that computes it.

A family is hashable: metrics that share one are computed in one pass, all their cut-offs together.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from rankgain import _backend
from rankgain._codes import UNLIMITED
from rankgain.batch import Batch, Needs
from rankgain.discounts import Discount
from rankgain.errors import check
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
        return Needs(depth, judged_depth=1, zeros=self.gain.counts_zeros())

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        deepest = int(cutoffs[-1])
        self.discount.require(np.minimum(batch.returned, deepest))
        out = np.empty(len(batch) * len(cutoffs))
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
                out,
            )
        )
        return out.reshape(len(batch), len(cutoffs))


class IdealSum(NamedTuple):
    """The sum of gain times discount over the judged documents, highest gain first."""

    gain: Gain
    discount: Discount
    returned: bool

    def needs(self, depth: int) -> Needs:
        # The grades that are highest have the highest gains only where the gain rises with the grade.
        return Needs(1, judged_depth=depth if self.gain.in_kernel else UNLIMITED)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        deepest = int(cutoffs[-1])
        gains, counts = batch.judged_gains(self.gain)
        # The ideal of an empty list is that of one document: a list that returned nothing earns 0.
        limits = np.maximum(batch.returned, 1) if self.returned else None
        ranks = batch.judged_sizes()
        ranks = ranks if limits is None else np.minimum(limits, ranks)
        self.discount.require(np.minimum(ranks, deepest))
        out = np.empty(len(batch) * len(cutoffs))
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
                out,
            )
        )
        return out.reshape(len(batch), len(cutoffs))


class FirstRelevant(NamedTuple):
    """The reciprocal rank of the first returned document of a grade above `below`."""

    below: float
    empty: float

    def needs(self, depth: int) -> Needs:
        return Needs(depth, judged_depth=1, zeros=self.below < 0.0)

    def take(self, batch: Batch, cutoffs: Ints) -> Floats:
        out = np.empty(len(batch) * len(cutoffs))
        _backend.kernels.first_relevant(
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
