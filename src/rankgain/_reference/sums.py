"""The specification: gain and discount, the sums of both, the first relevant document, the ratio to the ideal.

A discount is (table, kind, base): the table holds the first ranks, and what lies beyond it is computed by kind.

Sources: gain, discount, CG and DCG: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exponential gain: Burges et al.,
ICML 2005; reciprocal rank: Voorhees, TREC-8, 1999; averages over ties: McSherry & Najork, ECIR 2008.
"""

import math

from rankgain import _codes
from rankgain._codes import AVERAGE, BEST, GEOMETRIC, IRRELEVANT, JARVELIN, LOG2, UNLIMITED, WORST, ZIPF
from rankgain._reference.numbers import Refused
from rankgain._reference.query import at_cutoffs, before_found, hit_gains, judged_gains, require_ranks, resolved
from rankgain.scalars import Floats

# DCG may exceed the ideal by what the order of additions does to the last bits, and by no more.
TOLERANCE = 1e-9
TINY = 1e-300  # … and what rounding does to subnormal numbers


# gain and discount


def discount_at(rank, kind, base):
    if kind == LOG2:
        return 1.0 / math.log2(rank + 1)
    if kind == JARVELIN:
        return 1.0 if rank < base else math.log2(base) / math.log2(rank)
    if kind == ZIPF:
        return 1.0 / rank
    if kind == GEOMETRIC:
        return math.exp2((rank - 1) * math.log2(base))
    return 1.0


def fill_discount(kind: int, base: float, out: Floats) -> None:
    for rank in range(1, len(out) + 1):
        out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(grades: Floats, out: Floats) -> int:
    """2^r − 1 for each grade; return the index of the first that is too large, or −1."""
    for index, grade in enumerate(memoryview(grades)):
        if grade >= 1024.0:
            return index
        out[index] = math.exp2(grade) - 1.0
    return -1


def discounts(table, kind, base):
    size = len(table)
    return lambda rank: table[rank - 1] if rank <= size else discount_at(rank, kind, base)


def gain_of(grade, exponential):
    return math.exp2(grade) - 1.0 if exponential else grade


# sums


def all_finite(values):
    if not all(map(math.isfinite, values)):
        raise Refused(_codes.NOT_FINITE, -1)
    return values


def sum_returned(term, table, query, cutoffs):
    """Σ g·d over the hits, in rank order; gains inside a tie group stand highest first.

    A tie group under AVERAGE adds G·S/m: G the sum of its gains, S the sum of its discounts up to the cut-off, m its
    documents (McSherry & Najork 2008, eq. 3). Where all its documents have one gain it is not tied at all.
    """
    gain = hit_gains(term, table, query, cutoffs[-1])
    discount = discounts(term.table, term.kind, term.base)
    # The fewer documents that are not relevant, the better.
    ties = {BEST: WORST, WORST: BEST}.get(query.ties, query.ties) if term.gain == IRRELEVANT else query.ties

    def running():
        total = 0.0
        for i, j in query.groups(len(gain)):
            a, b = query.first[i], query.last[i]
            size, hits = b - a + 1, j - i
            if ties == AVERAGE and not (hits == size and gain[i] == gain[j - 1]):
                gains = discounted = 0.0
                for index in range(i, j):
                    gains += gain[index]
                for rank in range(a, b + 1):
                    discounted += discount(rank)
                    yield rank, total + gains * discounted / size
                total += gains * discounted / size
            else:
                for rank, index in resolved(i, j, a, b, ties):
                    total += gain[index] * discount(rank)
                    yield rank, total

    return all_finite(at_cutoffs(cutoffs, running()))


def sum_best(term, table, query, cutoffs):
    """Σ g·d over the judged gains, highest first; `flag`: to no more ranks than the list has.

    Then the ideal of an empty list is that of one document: a list that returned nothing earns 0.
    """
    gains = judged_gains(term, table, query)
    discount = discounts(term.table, term.kind, term.base)
    limit = max(query.returned, 1) if term.flag and term.family == _codes.IDEAL_SUM else UNLIMITED
    require_ranks(term, min(query.judged_above(-math.inf), limit, cutoffs[-1]))

    def running():
        total = 0.0
        rank = 0
        for gain, count in gains:
            if gain == 0.0:
                return
            for _ in range(min(count, limit - rank)):
                rank += 1
                total += gain * discount(rank)
                yield rank, total

    return all_finite(at_cutoffs(cutoffs, running()))


def discounted_sum(term, table, query):
    require_ranks(term, min(query.returned, term.cutoffs[-1]))
    return sum_returned(term, table, query, term.cutoffs)


def ideal_sum(term, table, query):
    return sum_best(term, table, query, term.cutoffs)


def first_relevant(term, table, query):
    """1 / rank of the first relevant hit.

    A tie group of m documents, h of them relevant, that starts at rank a gives under AVERAGE
    Σ_{j ≤ min(t, m−h+1)} p_j/(a−1+j), p₁ = h/m, p_{j+1} = p_j·(m−j−h+1)/(m−j) (McSherry & Najork 2008, section 2.4).
    """

    def running():
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            size = b - a + 1
            relevant = sum(grade > term.above for grade in query.grade[i:j])
            if not relevant:
                continue
            if query.ties == AVERAGE:
                value, p = 0.0, relevant / size
                for step in range(1, size - relevant + 2):
                    value += p / (a - 1 + step)
                    yield a - 1 + step, value
                    p = p * (size - step - relevant + 1) / (size - step) if step < size else 0.0
            else:
                rank = b - relevant + 1 if query.ties == WORST else a
                yield rank, 1.0 / rank
            return

    return at_cutoffs(term.cutoffs, running(), before_found(term, query))


def any_relevant(term, table, query):
    """1 from the first relevant hit on, else 0.

    Under AVERAGE 1 − the chance that no tie group shows one: Π_{j<t} (m−h−j)/(m−j) of each group of m documents, h of
    them relevant, t of them before the cut-off (DESIGN's table; derived here).
    """

    def running():
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            size = b - a + 1
            relevant = sum(grade > term.above for grade in query.grade[i:j])
            if relevant and query.ties == AVERAGE:
                p, found = relevant / size, 0.0
                for step in range(1, size - relevant + 1):
                    found = min(found + p, 1.0)
                    yield a - 1 + step, found
                    p = p * (size - step - relevant + 1) / (size - step)
                yield b - relevant + 1, 1.0
                return
            if relevant:
                yield b - relevant + 1 if query.ties == WORST else a, 1.0
                return

    return at_cutoffs(term.cutoffs, running(), before_found(term, query))


# the ratio to the ideal


def finite(total):
    return total if math.isfinite(total) else (_codes.NOT_FINITE, 0, -1)


def quotient(value, ideal, empty, bounded):
    """value / ideal, `empty` where the ideal is 0; `bounded`: a value above its ideal is an error."""
    if bounded and value > ideal:
        return 1.0 if value <= ideal * (1.0 + TOLERANCE) + TINY else (_codes.ABOVE_IDEAL, 0, -1)
    return finite(value / ideal) if ideal != 0.0 else empty
