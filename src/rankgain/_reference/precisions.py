"""Reference implementation of metrics that count relevant documents down the list.

These are average precision, the Q-measure, bpref, AUC, infAP, interpolated precision and G.
"""

import math

from rankgain import _codes
from rankgain._codes import AVERAGE, BEST, UNLIMITED, WORST
from rankgain._reference.numbers import Refused
from rankgain._reference.query import (
    at_cutoffs,
    before_first_relevant,
    cutoff_term,
    hit_gains,
    judged_gains,
    list_term,
    ranked_grades,
    ranked_values,
)
from rankgain._reference.sums import TOLERANCE, all_finite


def _ideal_gain(judged, lowest=0.0, beyond=0.0):
    """Return a function that computes the ideal cumulated gain down to a rank.

    It must be called with ascending ranks. A gain below `lowest` counts as `lowest`; each rank after the last gain
    above 0 adds `beyond`.
    """
    done = index = used = 0  # ranks summed so far; index of the current gain; documents with that gain summed
    total = 0.0

    def at(rank):
        nonlocal done, index, used, total
        while done < rank:
            if index == len(judged) or judged[index][0] == 0.0:
                total += (rank - done) * beyond
                done = rank
                break
            gain, count = judged[index]
            step = min(rank - done, count - used)
            total += step * max(gain, lowest)
            done, used = done + step, used + step
            if used == count:
                index, used = index + 1, 0
        return total

    return at


@cutoff_term
def precision_sum(term, gain_table, query):
    """Return the dividend of average precision or Q-measure. The divisor is R, the number of relevant documents.

    It is the sum of (c + β·CG) / (rank + β·ICG) over the relevant documents. Here c is the number of relevant documents
    down to the rank, and CG and ICG are sums of grades. AP (Buckley & Voorhees 2000) has β = 0, so the sum is a sum of
    precisions. The Q-measure (Sakai 2004) has β > 0.

    Under AVERAGE, a tie group of m documents, of which h are relevant, adds
    Σ_j (h/m)·(c + 1 + (h−1)·((j−1)/(m−1))) / (a−1+j), where a is the first rank and c counts the relevant documents
    above the group. The j-th document is relevant with probability h/m. If it is, the expected number of relevant
    documents above it in the group is (h−1)·((j−1)/(m−1)) (McSherry & Najork 2008, section 2.3). If β > 0, the expected
    CG at the j-th document, given that it is relevant, is also needed. Multiplied by h/m, it is
    (C·h + G₁ + (h·G − G₁)·((j−1)/(m−1))) / m, where C is the gain before the group, G the gain of the group, and G₁ the
    gain of the relevant documents in the group (derived here).

    If all m documents have the same grade, they are added one by one. Relevant documents of different grades are
    averaged as a tie even for AP, so the last bits of AP may depend on the grades.
    """
    beta, ideal = term.factor, _ideal_gain(query.judged)

    def running():
        total = gained = 0.0
        c = 0  # number of relevant documents above the group
        for group in query.groups:
            grades, m = group.grades, group.size
            if query.ties == AVERAGE and not group.all_equal(grades):
                group_gain = relevant_gain = 0.0
                h = 0
                for grade in grades:
                    group_gain += max(grade, 0.0)
                    if grade > term.above:
                        h += 1
                        relevant_gain += grade
                for step in range(m if h else 0):  # `step` is j − 1
                    share = step / (m - 1)
                    rank = group.first + step
                    value = h / m * (c + 1 + (h - 1) * share)
                    if beta:
                        value += beta * (gained * h + relevant_gain + (h * group_gain - relevant_gain) * share) / m
                    total += value / (rank + beta * ideal(rank) if beta else rank)
                    yield rank, total
                c += h
                gained += group_gain
                continue
            for rank, grade in ranked_values(group, grades, query.ties):
                gained += max(grade, 0.0)
                if grade > term.above:
                    c += 1
                    total += (c + beta * gained) / (rank + beta * ideal(rank)) if beta else c / rank
                    yield rank, total

    values = at_cutoffs(term.cutoffs, running())
    return all_finite(values) if beta else values  # sums of large gains may overflow


@list_term
def preference_sum(term, gain_table, query):
    """Return the dividend of bpref. The divisor is R, the number of relevant documents.

    It is the sum of 1 − min(n, R) / min(N, R) over the relevant documents. N is the number of documents that are judged
    not relevant, and n is the number of these above the relevant document. If N = 0, each relevant document adds 1. The
    definition is that of trec_eval (Buckley & Voorhees 2004).

    Under AVERAGE, let a tie group contain h relevant documents and z documents that are judged not relevant. It adds
    h / (z + 1) times the sum of the terms for all n from the count before the group to the count after it, since all
    these values of n are equally likely (derived here).
    """
    relevant = query.count_judged(term.above)
    most = min(relevant, query.count_judged(term.level) - relevant)

    def preference(n):
        return 1.0 - min(n, relevant) / most if most else 1.0

    total, n = 0.0, 0
    for group in query.groups:
        h = group.count_above(term.above)
        z = sum(0.0 <= grade <= term.above for grade in group.grades)
        if h and query.ties == AVERAGE:
            over_orders = 0.0
            for above in range(n, n + z + 1):
                over_orders += preference(above)
            total += h * over_orders / (z + 1)
        elif h:
            total += h * preference(n + z if query.ties == WORST else n)
        n += z
    return total


@list_term
def pairs(term, gain_table, query):
    """Return the AUC: the share of pairs of a relevant and a non-relevant document that are ranked correctly.

    All returned documents that are not relevant count as non-relevant, judged or not. Under AVERAGE, a tied pair counts
    half, which is its expected value (Fawcett 2006, section 7). If there is no pair, the value is `empty`, or 0 if
    there are judged relevant documents but none was returned.
    """
    relevant = sum(group.count_above(term.above) for group in query.groups)
    others = query.returned - relevant
    if not relevant:
        return before_first_relevant(term, query)
    if not others:
        return term.empty
    total, relevant_so_far = 0.0, 0
    for group in query.groups:
        h = group.count_above(term.above)
        tied = group.size - h
        relevant_so_far += h
        below = others - (group.last - relevant_so_far)
        total += h * (below + {BEST: tied, WORST: 0}.get(query.ties, tied / 2))
    return total / (relevant * others)


EPSILON = 0.00001  # the smoothing constant of infAP in trec_eval


@list_term
def inferred_sum(term, gain_table, query):
    """Return the dividend of infAP: the sum of the inferred precisions at the ranks of the relevant documents.

    The divisor is the number of relevant documents. The definition is that of trec_eval (Yilmaz & Aslam 2006). The
    inferred precision at rank r is 1/r + (r−1)/r · (share of pooled documents among those above) · (share of relevant
    documents among the judged ones above). A negative grade means pooled but not judged. There is no formula for
    AVERAGE.
    """
    total, judged, relevant = 0.0, 0, 0
    for pooled, (rank, grade) in enumerate(ranked_grades(query)):
        if grade > term.above:
            above = rank - 1
            if above:
                share = (relevant + EPSILON) / (judged + 2.0 * EPSILON)
                total += 1.0 / rank + above / rank * (pooled / above) * share
            else:
                total += 1.0
            relevant += 1
        judged += grade >= 0.0
    return total


@list_term
def interpolated(term, gain_table, query):
    """Return the mean of the interpolated precisions at several recall points.

    The interpolated precision at recall x is the highest precision at any rank with at least x·R relevant documents
    down to that rank. With `flag`, x·R is rounded to int(x·R + 0.9), as in trec_eval up to release 9; otherwise to the
    nearest integer, as in release 10. There is no formula for AVERAGE.
    """
    relevant = query.count_judged(term.above)
    ranks = [rank for rank, grade in ranked_grades(query) if grade > term.above]
    total = 0.0
    for point in term.points:
        needed = int(point * relevant + (0.9 if term.flag else 0.5))
        total += max((count / rank for count, rank in enumerate(ranks, 1) if count >= needed), default=0.0)
    return total / len(term.points)


@list_term
def cost_sum(term, gain_table, query):
    """Return the sum of gain / log2(2 + cost − CG) over the documents with a gain (G and binG in trec_eval).

    The cost of a rank is the ideal gain down to that rank, where each document counts at least 1. CG includes the gain
    of the document at the rank. There is no formula for AVERAGE.
    """
    returned = hit_gains(term, gain_table, query, UNLIMITED)
    cost = _ideal_gain(judged_gains(term, gain_table, query), 1.0, 1.0)
    total = gained = 0.0
    for group, gains in returned:
        for rank, gain in ranked_values(group, gains, query.ties):
            if gain == 0.0:
                continue
            gained += gain
            missed = cost(rank) - gained
            if missed < -TOLERANCE * gained:  # no list gains more than the ideal list, apart from rounding
                raise Refused(_codes.ABOVE_IDEAL)
            total += gain / math.log2(2.0 + max(missed, 0.0))
    return all_finite([total])[0]
