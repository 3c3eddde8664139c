"""The families of terms: what a Program computes for each query. A metric combines the values of one or more terms.

Terms are hashable; one that several metrics share is computed once, at all cut-offs. A term of whole lists has
one cut-off, which it ignores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rankgain import _codes
from rankgain._codes import UNLIMITED
from rankgain.metrics.discounts import NO_DISCOUNT, Discount
from rankgain.metrics.gains import Gain
from rankgain.scalars import NON_RELEVANT

POOLED = -math.inf
UP_TO_CUTOFF = 0  # a placeholder for the deepest cut-off


class Needs(NamedTuple):
    """The parts of a query that terms read.

    `depth`: the deepest rank; `judged_depth`: the number of highest judged grades; `lowest`: the grade above which
    documents are hits: 0, `NON_RELEVANT` for all judged documents, or `POOLED` to include negative grades;
    `non_relevant`: whether the term counts documents that are judged not relevant. Such documents must be hits, unless
    all returned documents are judged, so that ranks count them.
    """

    depth: int = 1
    judged_depth: int = 1
    lowest: float = 0.0
    non_relevant: bool = False

    def at(self, cutoff: int) -> Needs:
        """Replace `UP_TO_CUTOFF` by the deepest cut-off."""
        return self._replace(depth=self.depth or cutoff, judged_depth=self.judged_depth or cutoff)

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.depth, other.depth),
            max(self.judged_depth, other.judged_depth),
            min(self.lowest, other.lowest),
            self.non_relevant or other.non_relevant,
        )


class Term(NamedTuple):
    """One quantity at several cut-offs: its family (see `_codes`) and its parameters.

    `rankgain._codes.KernelTerm` defines `factor`, `flag` and `level` for each family.
    """

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

    `returned`: cut at the length of the returned list.
    """
    return Term(_codes.IDEAL_SUM, Needs(1, _judged_depth(gain)), gain, discount, flag=returned)


def first_relevant(above: float, empty: float) -> Term:
    """1 / the rank of the first returned document with a grade above `above`."""
    return Term(_codes.FIRST_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def any_relevant(above: float, empty: float) -> Term:
    """1 if a document with a grade above `above` was returned."""
    return Term(_codes.ANY_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def hits_above(above: float) -> Term:
    """How many returned documents have a grade above `above`; under averaged ties, the expected number."""
    return discounted_sum(Gain.relevant(above), NO_DISCOUNT)


def hits_not_above(above: float) -> Term:
    """How many returned documents are judged with a grade not above `above`; fewer are better."""
    return discounted_sum(Gain.irrelevant(above), NO_DISCOUNT)


def ranks(*, returned: bool = False) -> Term:
    """The cut-off or, without one, the length of the list; with `returned`, at most that length."""
    return Term(_codes.RANKS, Needs(), flag=returned)


def judged_above(above: float) -> Term:
    """How many judged documents have a grade above `above`."""
    return Term(_codes.JUDGED_ABOVE, Needs(1, UNLIMITED), above=above)


def returned_above(above: float) -> Term:
    """How many returned documents have a grade above `above`; a tie group that begins by the cut-off counts in full."""
    return Term(_codes.RETURNED_ABOVE, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above)


def precision_at_relevant(above: float, multiple: float) -> Term:
    """The precision at rank `multiple` times R, the number of relevant judged documents."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.PRECISION_AT_RELEVANT, needs, Gain.relevant(above), above=above, factor=multiple)


def precision_sum(above: float, beta: float = 0.0) -> Term:
    """The sum of the precisions at the ranks of relevant documents; with `beta`, blended with gains (Q-measure)."""
    needs = Needs(UP_TO_CUTOFF, UP_TO_CUTOFF if beta else 1, min(above, 0.0))
    return Term(_codes.PRECISION_SUM, needs, above=above, factor=beta)


def preference_sum(above: float) -> Term:
    """The sum over relevant returned documents of the share of judged non-relevant ones ranked below (bpref)."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0), non_relevant=True)
    return Term(_codes.PREFERENCE_SUM, needs, above=above, level=NON_RELEVANT)


def inferred_sum(above: float) -> Term:
    """The sum of the inferred precisions at the ranks of relevant documents (infAP)."""
    return Term(_codes.INFERRED_SUM, Needs(UNLIMITED, 1, POOLED), above=above)


def interpolated(above: float, points: tuple[float, ...], *, up: bool) -> Term:
    """The mean of the interpolated precisions at recall points in ascending order."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.INTERPOLATED, needs, above=above, flag=up, points=points)


def cost_sum(gain: Gain) -> Term:
    """The sum of the gains, each divided by the logarithm of the ideal gain missed so far (G of trec_eval)."""
    return Term(_codes.COST_SUM, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain)


def cascade(max_grade: float) -> Term:
    """The expected reciprocal rank at which a reader stops (ERR)."""
    return Term(_codes.CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def ideal_cascade(max_grade: float) -> Term:
    """ERR over the judged documents."""
    return Term(_codes.IDEAL_CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def grade_levels(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG at the ranks where the ideal gain falls, and at the end of a longer list (Rndcg)."""
    return Term(_codes.GRADE_LEVELS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def relevant_ranks(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG at the ranks of all judged documents with a gain (ndcg_rel of trec_eval)."""
    return Term(_codes.RELEVANT_RANKS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def pairs(above: float, empty: float) -> Term:
    """The share of pairs of a relevant and another returned document in which the relevant one comes first (AUC)."""
    return Term(_codes.PAIRS, Needs(UNLIMITED, 1, min(above, 0.0)), above=above, empty=empty)


def _lowest(gain: Gain) -> float:
    return NON_RELEVANT if gain.counts_zeros() else 0.0


def _judged_depth(gain: Gain) -> int:
    """All grades, unless the gain is monotone, so that the highest grades have the highest gains."""
    return UP_TO_CUTOFF if gain.monotone else UNLIMITED
