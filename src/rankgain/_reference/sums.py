"""Reference implementation of discounts, DCG, IDCG, reciprocal rank, success, and the ratio to the ideal.

A discount is given as (table, kind, base). The table covers the first ranks; discounts beyond it are computed from the
kind and base.

Gain, discount, CG and DCG are defined by Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; the exponential gain by Burges et
al., ICML 2005; the reciprocal rank by Voorhees, TREC-8, 1999; averages over ties by McSherry & Najork, ECIR 2008.
"""

import math

from rankgain import _codes
from rankgain._codes import AVERAGE, BEST, GEOMETRIC, IRRELEVANT, JARVELIN, LOG2, UNLIMITED, WORST, ZIPF
from rankgain._reference.numbers import INFINITE_FROM, Refused
from rankgain._reference.query import (
    at_cutoffs,
    before_first_relevant,
    cutoff_term,
    exponential_gain,
    hit_gains,
    in_best_order,
    judged_gains,
    ranked_values,
    require_discounts,
)
from rankgain.scalars import Floats

TOLERANCE = 1e-9  # relative tolerance: rounding errors may raise a value above the ideal
_TINY = 1e-300  # absolute tolerance, for subnormal numbers


# Gains and discounts


def discount_at(rank, kind, base):
    if kind == LOG2:
        return 1.0 / math.log2(rank + 1)
    if kind == JARVELIN:
        return 1.0 if rank < base else math.log2(base) / math.log2(rank)
    if kind == ZIPF:
        return 1.0 / rank
    if kind == GEOMETRIC:
        return math.exp2((rank - 1) * math.log2(base)) if base else float(rank == 1)
    return 1.0


def fill_discount(kind: int, base: float, out: Floats) -> None:
    for rank in range(1, len(out) + 1):
        out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(grades: Floats, out: Floats) -> int:
    """Write 2^r − 1 for each grade r to `out`; return the index of the first grade that is too large, or −1."""
    for index, grade in enumerate(memoryview(grades)):
        if grade >= INFINITE_FROM:
            return index
        out[index] = exponential_gain(grade)
    return -1


def discounts(table, kind, base):
    size = len(table)
    return lambda rank: table[rank - 1] if rank <= size else discount_at(rank, kind, base)


# Discounted sums of gains
def all_finite(values):
    if not all(map(math.isfinite, values)):
        raise Refused(_codes.NOT_FINITE)
    return values


def sum_returned(term, gain_table, query, cutoffs):
    """Return DCG@k for each cut-off k: the sum of g(r_i)·d(i) over the ranks i ≤ k, added in rank order from +0.0.

    CG is DCG with d(i) = 1. Precision and RBP are computed as DCG with g = 1 for relevant documents.

    Under AVERAGE, a tie group of m documents with t ranks within the cut-off adds G·S/m. G is the sum of the gains of
    the group, highest first, and S is the sum of the discounts of the t ranks (McSherry & Najork 2008, eq. 3). If all m
    documents have the same gain, they are added one by one, as in the ideal, so that the nDCG of a perfect list is
    exactly 1.
    """
    discount = discounts(term.discount_table, term.kind, term.base)
    # With the gain IRRELEVANT, documents with a gain come last in the best order, so BEST and WORST are swapped.
    ties = {BEST: WORST, WORST: BEST}.get(query.ties, query.ties) if term.gain == IRRELEVANT else query.ties

    def running():
        total = 0.0
        for group, gains in hit_gains(term, gain_table, query, cutoffs[-1]):
            if ties == AVERAGE and not group.all_equal(gains):
                gained = discounted = 0.0
                for gain in gains:
                    gained += gain
                for rank in range(group.first, group.last + 1):
                    discounted += discount(rank)
                    yield rank, total + gained * discounted / group.size
                total += gained * discounted / group.size
            else:
                for rank, gain in ranked_values(group, gains, ties):
                    total += gain * discount(rank)
                    yield rank, total

    return all_finite(at_cutoffs(cutoffs, running()))


def sum_best(term, gain_table, query, cutoffs):
    """Return IDCG@k for each cut-off k: the DCG of the judged documents in the best order.

    With `flag` (ideal="returned"), the ideal list is cut off at the length of the returned list, but never before rank
    1, so that an empty list has the value 0.
    """
    gains = in_best_order(judged_gains(term, gain_table, query))
    discount = discounts(term.discount_table, term.kind, term.base)
    limit = max(query.returned, 1) if term.flag else UNLIMITED
    require_discounts(term, min(query.count_judged(-math.inf), limit, cutoffs[-1]))

    def running():
        total = 0.0
        for rank, gain in gains:
            if gain == 0.0 or rank > limit:
                return
            total += gain * discount(rank)
            yield rank, total

    return all_finite(at_cutoffs(cutoffs, running()))


@cutoff_term
def discounted_sum(term, gain_table, query):
    """Return the DCG of the returned documents."""
    require_discounts(term, min(query.returned, term.cutoffs[-1]))
    return sum_returned(term, gain_table, query, term.cutoffs)


@cutoff_term
def ideal_sum(term, gain_table, query):
    """Return the DCG of the judged documents in the best order."""
    return sum_best(term, gain_table, query, term.cutoffs)


def _first_relevant_ranks(term, query):
    """Yield the possible ranks of the first relevant document with their probabilities, in rank order.

    Under AVERAGE, let a tie group at the ranks a … a+m−1 contain h relevant documents. For j up to m−h+1, the
    probability of rank a−1+j is p_j, where p₁ = h/m and p_{j+1} = p_j·(m−j−h+1)/(m−j) (McSherry & Najork 2008,
    section 2.4).
    """
    for group in query.groups:
        m, h = group.size, group.count_above(term.above)
        if h and query.ties == AVERAGE:
            p = h / m
            for j in range(1, m - h + 2):
                yield group.first - 1 + j, p
                p = p * (m - j - h + 1) / (m - j) if j < m else 0.0
            return
        if h:
            yield group.last - h + 1 if query.ties == WORST else group.first, 1.0
            return


@cutoff_term
def first_relevant(term, gain_table, query):
    """Return RR@k: 1 / rank of the first relevant document if that rank is at most k, else 0.

    Under AVERAGE, it is the sum of p_j / rank over the possible ranks of this document up to k.
    """

    def running():
        value = 0.0
        for rank, p in _first_relevant_ranks(term, query):
            value += p / rank
            yield rank, value

    return at_cutoffs(term.cutoffs, running(), before_first_relevant(term, query))


@cutoff_term
def any_relevant(term, gain_table, query):
    """Return success@k: 1 if any document at a rank ≤ k is relevant, else 0.

    Under AVERAGE, it is Σ_j p_j, the probability that at least one of the first t documents of the group is relevant.
    This equals 1 − Π_{j<t} (m−h−j)/(m−j) (derived here).
    """

    def running():
        value = 0.0
        for rank, p in _first_relevant_ranks(term, query):
            value = min(value + p, 1.0)
            yield rank, value
        if value:
            yield rank, 1.0  # 1, without rounding, from the last possible rank of the first relevant document on

    return at_cutoffs(term.cutoffs, running(), before_first_relevant(term, query))


# Ratio to the ideal


def check_ideal(value, ideal):
    """Raise Refused if a value exceeds the ideal, which means that `judged` lacks grades of returned documents."""
    if value > ideal * (1.0 + TOLERANCE) + _TINY:
        raise Refused(_codes.ABOVE_IDEAL)


def over_ideal(value, ideal, empty, bounded):
    """Return value / ideal, or `empty` if the ideal is 0.

    With `bounded`, a value above the ideal is refused. If it exceeds the ideal only by rounding errors, return 1.0.
    """
    if bounded and value > ideal:
        check_ideal(value, ideal)
        return 1.0
    return all_finite([value / ideal])[0] if ideal != 0.0 else empty
