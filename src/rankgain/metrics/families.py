"""Terms: the quantities that a Program computes for each query.

A metric combines the values of one or more terms. Each function below returns a term of one family. Terms are hashable;
a term that several metrics share is computed once, at all cut-offs. A term for whole lists has one cut-off, which it
ignores.
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
UP_TO_CUTOFF = 0  # placeholder for the deepest cut-off


class Needs(NamedTuple):
    """The parts of a query that a term reads.

    `depth` is the deepest rank. `judged_depth` is the number of judged grades, starting with the highest. `lowest` is
    the grade above which documents are hits: 0, `NON_RELEVANT` for all judged documents, or `POOLED` to include
    negative grades. `non_relevant` says whether the term counts documents that are judged not relevant. They must then
    be hits; only if all returned documents are judged can they be counted from the ranks alone.
    """

    depth: int = 1
    judged_depth: int = 1
    lowest: float = 0.0
    non_relevant: bool = False

    def at(self, cutoff: int) -> Needs:
        """Replace `UP_TO_CUTOFF` with the deepest cut-off."""
        return self._replace(depth=self.depth or cutoff, judged_depth=self.judged_depth or cutoff)

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.depth, other.depth),
            max(self.judged_depth, other.judged_depth),
            min(self.lowest, other.lowest),
            self.non_relevant or other.non_relevant,
        )


class Term(NamedTuple):
    """A quantity to compute for each query, given by its family (see `_codes`) and its parameters.

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
    """The sum of gain times discount over the ideal ranking of the judged documents.

    With `returned`, the ideal ranking is cut at the length of the returned list.
    """
    return Term(_codes.IDEAL_SUM, Needs(1, _judged_depth(gain)), gain, discount, flag=returned)


def first_relevant(above: float, empty: float) -> Term:
    """The reciprocal rank of the first returned document with a grade above `above`."""
    return Term(_codes.FIRST_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def any_relevant(above: float, empty: float) -> Term:
    """1 if any returned document has a grade above `above`, else 0."""
    return Term(_codes.ANY_RELEVANT, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above, empty=empty)


def hits_above(above: float) -> Term:
    """The number of returned documents with a grade above `above`, or the expected number if ties are averaged."""
    return discounted_sum(Gain.relevant(above), NO_DISCOUNT)


def hits_not_above(above: float) -> Term:
    """The number of returned documents that are judged and have a grade of at most `above`."""
    return discounted_sum(Gain.irrelevant(above), NO_DISCOUNT)


def ranks(*, returned: bool = False) -> Term:
    """The cut-off, or the length of the returned list if there is no cut-off.

    With `returned`, the value is at most the length of the list.
    """
    return Term(_codes.RANKS, Needs(), flag=returned)


def judged_above(above: float) -> Term:
    """The number of judged documents with a grade above `above`."""
    return Term(_codes.JUDGED_ABOVE, Needs(1, UNLIMITED), above=above)


def returned_above(above: float) -> Term:
    """The number of returned documents with a grade above `above`.

    A tie group that begins at the cut-off or earlier counts in full.
    """
    return Term(_codes.RETURNED_ABOVE, Needs(UP_TO_CUTOFF, 1, min(above, 0.0)), above=above)


def precision_at_relevant(above: float, multiple: float) -> Term:
    """The precision at rank `multiple` · R, where R is the number of relevant judged documents."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.PRECISION_AT_RELEVANT, needs, Gain.relevant(above), above=above, factor=multiple)


def precision_sum(above: float, beta: float = 0.0) -> Term:
    """The sum of the precisions at the ranks of relevant documents.

    If `beta` is not 0, the precisions are blended with gains, as in the Q-measure.
    """
    needs = Needs(UP_TO_CUTOFF, UP_TO_CUTOFF if beta else 1, min(above, 0.0))
    return Term(_codes.PRECISION_SUM, needs, above=above, factor=beta)


def preference_sum(above: float) -> Term:
    """The sum over relevant documents in the definition of bpref.

    Each relevant returned document adds 1 − min(n, R) / min(N, R), where n of the N documents that are judged not
    relevant are ranked above it.
    """
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0), non_relevant=True)
    return Term(_codes.PREFERENCE_SUM, needs, above=above, level=NON_RELEVANT)


def inferred_sum(above: float) -> Term:
    """The sum of the inferred precisions at the ranks of relevant documents, for infAP."""
    return Term(_codes.INFERRED_SUM, Needs(UNLIMITED, 1, POOLED), above=above)


def interpolated(above: float, points: tuple[float, ...], *, up: bool) -> Term:
    """The mean of the interpolated precisions at the recall points, which must be in ascending order."""
    needs = Needs(UNLIMITED, UNLIMITED, min(above, 0.0))
    return Term(_codes.INTERPOLATED, needs, above=above, flag=up, points=points)


def cost_sum(gain: Gain) -> Term:
    """The sum of the gains, each divided by the logarithm of the ideal gain missed so far, as in trec_eval's G."""
    return Term(_codes.COST_SUM, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain)


def cascade(max_grade: float) -> Term:
    """The expected reciprocal of the rank at which a reader stops (ERR)."""
    return Term(_codes.CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def ideal_cascade(max_grade: float) -> Term:
    """The ERR of the ideal ranking of the judged documents."""
    return Term(_codes.IDEAL_CASCADE, Needs(UP_TO_CUTOFF, UP_TO_CUTOFF), Gain.stop(max_grade))


def grade_levels(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG over the ranks where the ideal gain decreases, for trec_eval's Rndcg.

    The last rank of the returned list is included if it exceeds the number of judged documents with a gain by at
    least 2.
    """
    return Term(_codes.GRADE_LEVELS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def relevant_ranks(gain: Gain, discount: Discount) -> Term:
    """The mean of nDCG over the ranks of all judged documents with a gain, for trec_eval's ndcg_rel."""
    return Term(_codes.RELEVANT_RANKS, Needs(UNLIMITED, UNLIMITED, _lowest(gain)), gain, discount)


def pairs(above: float, empty: float) -> Term:
    """The area under the ROC curve (AUC) of the returned documents.

    It is the share of pairs, each of a relevant and a non-relevant document, in which the relevant one comes first.
    """
    return Term(_codes.PAIRS, Needs(UNLIMITED, 1, min(above, 0.0)), above=above, empty=empty)


def _lowest(gain: Gain) -> float:
    return NON_RELEVANT if gain.counts_zeros() else 0.0


def _judged_depth(gain: Gain) -> int:
    """Return how many of the highest judged grades the ideal ranking needs: all, unless the gain is monotone."""
    return UP_TO_CUTOFF if gain.monotone else UNLIMITED
