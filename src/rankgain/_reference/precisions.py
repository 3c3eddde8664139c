"""The specification: what counts relevant documents down a list: average precision, Q-measure, bpref, infAP,
interpolated precision, G; in plain Python.
"""

import math

from rankgain import _codes
from rankgain._codes import AVERAGE, BEST, UNLIMITED, WORST
from rankgain._reference.numbers import Refused
from rankgain._reference.query import at_cutoffs, before_found, hit_gains, in_order, judged_gains, resolved
from rankgain._reference.sums import TOLERANCE, all_finite


def _rising(judged, lowest=0.0, beyond=0.0):
    """A function of the rank, which must not fall: the sum of the gains, highest first, to that rank.

    A gain below `lowest` counts as that; ranks after the last gain above 0 count as `beyond`.
    """
    state = [0, 0, 0, 0.0]  # rank, the gain that comes next, how many of it were counted, sum

    def at(rank):
        done, index, used, total = state
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
        state[:] = done, index, used, total
        return total

    return at


def precision_sum(term, table, query):
    """Σ over the relevant hits of (c + β·CG) / (rank + β·ICG), c the number of relevant ones up to and with the hit.

    With β = 0 that is the sum of average precision (Buckley & Voorhees 2000), otherwise that of the Q-measure (Sakai
    2004), whose CG and ICG are sums of grades. A tie group of m documents, h of them relevant, gives under AVERAGE
    Σ_j (h/m)·(c + 1 + (j−1)(h−1)/(m−1)) / (a−1+j) (McSherry & Najork 2008, section 2.3); with β the CG at its j-th
    document, where that is relevant, is (C·h + G₁ + (j−1)·(h·G − G₁)/(m−1)) / m: C the gain before the group, G that of
    the group, G₁ that of its relevant documents (derived here).
    """
    beta, above, grade, ideal = term.factor, term.above, query.grade, _rising(query.judged)

    def running():
        total = gained = 0.0
        found = 0
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            m = b - a + 1
            if query.ties == AVERAGE and not (j - i == m and grade[i] == grade[j - 1]):
                own = own_relevant = 0.0
                h = 0
                for index in range(i, j):
                    own += max(grade[index], 0.0)
                    if grade[index] > above:
                        h += 1
                        own_relevant += grade[index]
                for step in range(m if h else 0):
                    share = step / (m - 1)
                    value = h / m * (found + 1 + (h - 1) * share)
                    if beta:
                        value += beta * (gained * h + own_relevant + (h * own - own_relevant) * share) / m
                    total += value / (a + step + beta * ideal(a + step) if beta else a + step)
                    yield a + step, total
                found += h
                gained += own
                continue
            for rank, index in resolved(i, j, a, b, query.ties):
                gained += max(grade[index], 0.0)
                if grade[index] > above:
                    found += 1
                    total += (found + beta * gained) / (rank + beta * ideal(rank)) if beta else found / rank
                    yield rank, total

    values = at_cutoffs(term.cutoffs, running())
    return all_finite(values) if beta else values  # gains may be of any size


def preference_sum(term, table, query):
    """Σ over the relevant hits of 1 − min(n, R) / min(N, R), n the judged non-relevant ones above (bpref: Buckley &
    Voorhees 2004, as trec_eval computes it); 1 where N = 0.

    A tie group with h relevant and z judged non-relevant documents gives under AVERAGE h / (z + 1) times the sum of
    these for n from that before the group to that after it (derived here).
    """
    relevant = query.judged_above(term.above)
    most = min(relevant, query.judged_above(term.level) - relevant)

    def preference(above):
        return 1.0 - min(above, relevant) / most if most else 1.0

    total, above = 0.0, 0
    for i, j in query.groups():
        h = sum(grade > term.above for grade in query.grade[i:j])
        z = sum(0.0 <= grade <= term.above for grade in query.grade[i:j])
        if h and query.ties == AVERAGE:
            own = 0.0
            for number in range(above, above + z + 1):
                own += preference(number)
            total += h * own / (z + 1)
        elif h:
            total += h * preference(above + z if query.ties == WORST else above)
        above += z
    return total


EPSILON = 0.00001  # of infAP, as in trec_eval


def pairs(term, table, query):
    """The share of the pairs of a relevant and another returned document in which the relevant one comes first.

    A tied pair counts half under AVERAGE, which is its expected value (Fawcett 2006, section 7). Where no relevant
    document was returned though one is judged, it is 0; without any other document it is `empty`.
    """
    relevant = sum(grade > term.above for grade in query.grade)
    others = query.returned - relevant
    if not relevant:
        return before_found(term, query)
    if not others:
        return term.empty
    total, found = 0.0, 0
    for i, j in query.groups():
        h = sum(grade > term.above for grade in query.grade[i:j])
        tied = query.last[i] - query.first[i] + 1 - h
        found += h
        after = others - (query.last[i] - found)
        total += h * (after + {BEST: tied, WORST: 0}.get(query.ties, tied / 2))
    return total / (relevant * others)


def inferred_sum(term, table, query):
    """Σ over the relevant hits of their inferred precision (infAP: Yilmaz & Aslam 2006, as trec_eval computes it).

    At rank r that is 1/r + (r−1)/r · (share of pooled documents above) · (share of relevant ones among the judged
    above). A negative grade is pooled but not judged. The order is known.
    """
    total, judged, found = 0.0, 0, 0
    for pooled, (rank, index) in enumerate(in_order(query)):
        if query.grade[index] > term.above:
            above = rank - 1
            if above:
                share = (found + EPSILON) / (judged + 2.0 * EPSILON)
                total += 1.0 / rank + above / rank * (pooled / above) * share
            else:
                total += 1.0
            found += 1
        judged += query.grade[index] >= 0.0
    return total


def interpolated(term, table, query):
    """For each recall point x, which rise, the highest precision at a rank where at least x·R documents were found;
    the mean of these.

    x·R becomes a number of documents by int(x·R + 0.9), `flag`, as in trec_eval to release 9, or else by rounding, as
    in release 10. The order is known.
    """
    relevant = query.judged_above(term.above)
    found = [rank for rank, index in in_order(query) if query.grade[index] > term.above]
    total = 0.0
    for point in term.points:
        needed = int(point * relevant + (0.9 if term.flag else 0.5))
        total += max((count / rank for count, rank in enumerate(found, 1) if count >= needed), default=0.0)
    return total / len(term.points)


def cost_sum(term, table, query):
    """Σ gain / log2(2 + cost − gain so far) over the hits (G and binG of trec_eval).

    The cost of a rank is the ideal gain at it, or 1 where that is less; both sums run up to and with the hit. The order
    is known.
    """
    gain = hit_gains(term, table, query, UNLIMITED)
    cost = _rising(judged_gains(term, table, query), 1.0, 1.0)
    total = gained = 0.0
    for rank, index in in_order(query):
        if gain[index] != 0.0:
            gained += gain[index]
            missed = cost(rank) - gained
            if missed < -TOLERANCE * gained:  # no list gains more than the ideal one, but for rounding
                raise Refused(_codes.ABOVE_IDEAL, -1)
            total += gain[index] / math.log2(2.0 + max(missed, 0.0))
    return all_finite([total])[0]
