"""The families of metrics: what a Program takes of each query. A metric is a figure made of one term or several.

Terms are hashable, and metrics that share one have it computed once, at all their cut-offs. One that looks at whole
lists is asked at one cut-off, which it does not look at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rankgain import _codes
from rankgain._codes import UNLIMITED
from rankgain.metrics.discounts import NO_DISCOUNT, Discount
from rankgain.metrics.gains import Gain
from rankgain.metrics.parameters import highest_irrelevant

NON_RELEVANT = highest_irrelevant(0.0)
POOLED = -math.inf
UP_TO_CUTOFF = 0  # in place of a depth: that of the deepest cut-off


class Needs(NamedTuple):
    """What terms ask of a query.

    `depth`: the deepest rank they look at; `judged_depth`: how many of the highest judged grades; `lowest`: the grade
    above which documents are hits: 0, `NON_RELEVANT` for all that are judged, `POOLED` for negative ones too.
    """

    depth: int = 1
    judged_depth: int = 1
    lowest: float = 0.0

    def at(self, cutoff: int) -> Needs:
        """With the deepest cut-off."""
        return self._replace(depth=self.depth or cutoff, judged_depth=self.judged_depth or cutoff)

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.depth, other.depth), max(self.judged_depth, other.judged_depth), min(self.lowest, other.lowest)
        )


class Term(NamedTuple):
    """One quantity at several cut-offs: its family (see `_codes`) and what it is computed with."""

    family: int
    needs: Needs
    gain: Gain | None = None
    discount: Discount = NO_DISCOUNT
    above: float = 0.0
    empty: float = 0.0
    factor: float = 0.0
    flag: bool = False
    level: float = 0.0
    points: tuple[float, ...] = ()


def discounted_sum(gain: Gain, discount: Discount) -> Term:
    """The sum of gain times discount over the returned documents."""
    return Term(_codes.DISCOUNTED_SUM, Needs(UP_TO_CUTOFF, 1, _lowest(gain)), gain, discount)


def ideal_sum(gain: Gain, discount: Discount, *, returned: bool = False) -> Term:
    """The sum of gain times discount over the judged documents, highest gain first.

    `returned`: over no more ranks than the list has.
    """
    return Term(_codes.IDEAL_SUM, Needs(1, _judged_depth(gain)), gain, discount, flag=returned)


def first_relevant(above: float, empty: float) -> Term:
    """1 / the rank of the first returned document of a grade above `above`."""
    return Term(_codes.FIRST_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def any_relevant(above: float, empty: float) -> Term:
    """1 if a document of a grade above `above` was returned."""
    return Term(_codes.ANY_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def hits_above(above: float) -> Term:
    """How many returned documents have a grade above `above`; under averaged ties the number that is expected."""
    return discounted_sum(Gain.relevant(above), NO_DISCOUNT)


def hits_not_above(above: float) -> Term:
    """How many returned documents are judged and have no grade above `above`; fewer are better."""
    return discounted_sum(Gain.irrelevant(above), NO_DISCOUNT)


def ranks(*, returned: bool = False) -> Term:
    """The cut-off, or the length of the list where there is none; `returned`: never more than that length."""
    return Term(_codes.RANKS, Needs(), flag=returned)


def judged_above(above: float) -> Term:
    """How many judged documents have a grade above `above`."""
    return Term(_codes.JUDGED_ABOVE, Needs(1, UNLIMITED), above=above)


def returned_above(above: float) -> Term:
    """How many returned documents have a grade above `above`, all of a tie group that begins by the cut-off."""
    return Term(_codes.RETURNED_ABOVE, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above)


def precision_at_relevant(above: float, multiple: float) -> Term:
    """The number of relevant returned documents up to a rank of `multiple` times those that are judged (R), by rank."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.PRECISION_AT_RELEVANT, needs, Gain.relevant(above), above=above, factor=multiple)


def precision_sum(above: float, beta: float = 0.0) -> Term:
    """The precisions at the ranks of relevant documents; with `beta` they are blended with gains (Q-measure)."""
    needs = Needs(UP_TO_CUTOFF, UP_TO_CUTOFF if beta else 1, min(above, 0.0))
    return Term(_codes.PRECISION_SUM, needs, above=above, factor=beta)


def preference_sum(above: float) -> Term:
    """For each relevant returned document the share of judged non-relevant ones that it stands above (bpref)."""
    needs = Needs(UNLIMITED, UNLIMITED, NON_RELEVANT)
    return Term(_codes.PREFERENCE_SUM, needs, above=above, level=NON_RELEVANT)


def inferred_sum(above: float) -> Term:
    """The inferred precisions at the ranks of relevant documents (infAP)."""
    return Term(_codes.INFERRED_SUM, Needs(UNLIMITED, 1, POOLED), above=above)


def interpolated(above: float, points: tuple[float, ...], *, up: bool) -> Term:
    """The mean of the interpolated precisions at recall points, which rise."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.INTERPOLATED, needs, above=above, flag=up, points=points)


def cost_sum(gain: Gain) -> Term:
    """The gains, each divided by the logarithm of what the ranks so far could have held more (G of trec_eval)."""
    return Term(_codes.COST_SUM, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain)


def cascade(max_grade: float) -> Term:
    """The expected reciprocal of the rank at which a reader stops (ERR)."""
    return Term(_codes.CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def ideal_cascade(max_grade: float) -> Term:
    """ERR over the judged documents."""
    return Term(_codes.IDEAL_CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def grade_levels(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG at the ranks where the ideal gain falls, and at the end of a longer list (Rndcg)."""
    return Term(_codes.GRADE_LEVELS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def relevant_ranks(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG over all judged documents with a gain (ndcg_rel of trec_eval)."""
    return Term(_codes.RELEVANT_RANKS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def pairs(above: float, empty: float) -> Term:
    """The share of pairs of a relevant and another returned document in which the relevant one comes first (AUC)."""
    return Term(_codes.PAIRS, Needs(UNLIMITED, 1, min(above, 0.0)), above=above, empty=empty)


def _lowest(gain: Gain) -> float:
    return NON_RELEVANT if gain.counts_zeros() else 0.0


def _judged_depth(gain: Gain) -> int:
    """The grades that are highest have the highest gains only where the gain rises with the grade."""
    return UP_TO_CUTOFF if gain.monotone else UNLIMITED
