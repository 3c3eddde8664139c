"""The specification: gain, discount, the takers of a Batch, and the normaliser, in plain Python.

This module and the compiled `_kernels` (and so `_reference_doors` and `_doors`, `_reference_ordering` and `_ordering`
and so on) have the same functions with the same positional arguments and return the same
bits. Arguments are one-dimensional buffers; ragged lists are values with int64 offsets, the list of query q being
`values[offsets[q]:offsets[q + 1]]`. A discount is (table, kind, base): the table holds the first ranks, and what lies
beyond it is computed by kind. Ranks count from 1. What is wrong with the input comes back as an offence,
(code, query, position), never as an exception; `errors` words it.

Sources: gain, discount, CG and DCG: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exponential gain: Burges et al.,
ICML 2005; reciprocal rank: Voorhees, TREC-8, 1999; averages over ties: McSherry & Najork, ECIR 2008. What the other
families are due to, their functions say.
"""

import math
from itertools import groupby

from rankgain._codes import ABOVE_IDEAL, AVERAGE, GEOMETRIC, JARVELIN, LARGE_GROUP, LOG2, NOT_FINITE, WORST, ZIPF

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


def fill_discount(kind, base, out):
    for rank in range(1, len(out) + 1):
        out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(grades, out):
    """2^r − 1 for each grade; return the index of the first that is too large, or −1."""
    for index, grade in enumerate(memoryview(grades)):
        if grade >= 1024.0:
            return index
        out[index] = math.exp2(grade) - 1.0
    return -1


def discounts(table, kind, base):
    table = memoryview(table)
    return lambda rank: table[rank - 1] if rank <= len(table) else discount_at(rank, kind, base)


def gain_of(grade, exponential):
    return math.exp2(grade) - 1.0 if exponential else grade


# takers: a Batch to one value a query and cut-off, out[query * len(cutoffs) + cutoff], cut-offs ascending


def _at_cutoffs(running, cutoffs, out, start, value=0.0):
    """Read a running value, given as (rank, value from this rank on), at each cut-off; `value`: that before them."""
    done = 0
    for rank, following in running:
        while done < len(cutoffs) and cutoffs[done] < rank:
            out[start + done] = value
            done += 1
        if done == len(cutoffs):
            return
        value = following
    for index in range(done, len(cutoffs)):
        out[start + index] = value


def _tie_groups(start, stop, first):
    """Yield the (start, stop) of each run of hits that begin at the same rank."""
    for _, group in groupby(range(start, stop), key=lambda index: first[index]):
        members = list(group)
        yield members[0], members[-1] + 1


def _resolved(start, stop, first, last, ties):
    """Yield (rank, hit) for the hits of a tie group whose order is known.

    Those of the highest gain come first, or last under WORST; documents that are no hits take the other end.
    """
    if ties == WORST:
        return enumerate(range(stop - 1, start - 1, -1), last - (stop - start) + 1)
    return enumerate(range(start, stop), first)


def _spans(queries, cutoffs, spans):
    """The cut-offs of each query, and where its values go: all queries have the same, or, with `spans`, their own."""
    for query in range(queries):
        start, stop = (0, len(cutoffs)) if spans is None else (spans[query], spans[query + 1])
        yield query, cutoffs[start:stop], query * len(cutoffs) if spans is None else start


def _not_finite(out, query, start, count):
    return None if all(map(math.isfinite, out[start : start + count])) else (NOT_FINITE, query, -1)


def discounted_sum(offsets, first, last, gain, ties, table, kind, base, cutoffs, spans, out):
    """Σ g·d over the hits, in rank order; gains inside a tie group stand highest first.

    `spans`: offsets of the cut-offs, where each query has its own; `out` then stands beside them.

    A tie group under AVERAGE adds G·S/m: G the sum of its gains, S the sum of its discounts up to the cut-off, m its
    documents (McSherry & Najork 2008, eq. 3). Where all its documents have one gain it is not tied at all.
    """
    offsets, first, last, gain, cutoffs, out = map(memoryview, (offsets, first, last, gain, cutoffs, out))
    discount = discounts(table, kind, base)

    def running(start, stop):
        total = 0.0
        for i, j in _tie_groups(start, stop, first):
            a, b = first[i], last[i]
            size, hits = b - a + 1, j - i
            if ties == AVERAGE and not (hits == size and gain[i] == gain[j - 1]):
                gains = discounts = 0.0
                for index in range(i, j):
                    gains += gain[index]
                for rank in range(a, b + 1):
                    discounts += discount(rank)
                    yield rank, total + gains * discounts / size
                total += gains * discounts / size
            else:
                for rank, index in _resolved(i, j, a, b, ties):
                    total += gain[index] * discount(rank)
                    yield rank, total

    for query, own, start in _spans(len(offsets) - 1, cutoffs, spans):
        _at_cutoffs(running(offsets[query], offsets[query + 1]), own, out, start)
        fault = _not_finite(out, query, start, len(own))
        if fault:
            return fault
    return None


def ideal_sum(offsets, gain, count, limits, table, kind, base, cutoffs, spans, out):
    """Σ g·d over the judged gains, highest first; `limits`: ranks of each query at the most, None: no limit.

    `spans`: as in `discounted_sum`.
    """
    offsets, gain, count, cutoffs, out = map(memoryview, (offsets, gain, count, cutoffs, out))
    discount = discounts(table, kind, base)

    def running(start, stop, limit):
        total = 0.0
        rank = 0
        for index in range(start, stop):
            if gain[index] == 0.0:
                return
            for _ in range(min(count[index], limit - rank)):
                rank += 1
                total += gain[index] * discount(rank)
                yield rank, total

    for query, own, place in _spans(len(offsets) - 1, cutoffs, spans):
        start, stop = offsets[query], offsets[query + 1]
        limit = sum(count[start:stop]) if limits is None else limits[query]
        _at_cutoffs(running(start, stop, limit), own, out, place)
        fault = _not_finite(out, query, place, len(own))
        if fault:
            return fault
    return None


def first_relevant(offsets, grade, first, last, judged_offsets, judged_grade, below, ties, empty, cutoffs, out):
    """1 / rank of the first hit with a grade above `below`; `empty` where none is found and none is judged.

    A tie group of m documents, h of them relevant, that starts at rank a gives under AVERAGE
    Σ_{j ≤ min(t, m−h+1)} p_j/(a−1+j), p₁ = h/m, p_{j+1} = p_j·(m−j−h+1)/(m−j) (McSherry & Najork 2008, section 2.4).
    """
    offsets, grade, first, last, cutoffs, out = map(memoryview, (offsets, grade, first, last, cutoffs, out))

    def running(start, stop):
        for i, j in _tie_groups(start, stop, first):
            a, b = first[i], last[i]
            size = b - a + 1
            relevant = sum(grade[index] > below for index in range(i, j))
            if not relevant:
                continue
            if ties == AVERAGE:
                value, p = 0.0, relevant / size
                for step in range(1, size - relevant + 2):
                    value += p / (a - 1 + step)
                    yield a - 1 + step, value
                    p = p * (size - step - relevant + 1) / (size - step) if step < size else 0.0
            else:
                rank = b - relevant + 1 if ties == WORST else a
                yield rank, 1.0 / rank
            return

    for query in range(len(offsets) - 1):
        best = judged_offsets[query]
        judged = best < judged_offsets[query + 1] and judged_grade[best] > below
        ranks = running(offsets[query], offsets[query + 1])
        _at_cutoffs(ranks, cutoffs, out, query * len(cutoffs), 0.0 if judged else empty)
    return None


def any_relevant(offsets, grade, first, last, judged_offsets, judged_grade, below, ties, empty, cutoffs, out):
    """1 from the first hit with a grade above `below` on, else 0; `empty` where none is found and none is judged.

    Under AVERAGE 1 − the chance that no tie group shows one: Π_{j<t} (m−h−j)/(m−j) of each group of m documents, h of
    them relevant, t of them before the cut-off (DESIGN's table; derived here).
    """
    offsets, grade, first, last, cutoffs, out = map(memoryview, (offsets, grade, first, last, cutoffs, out))

    def running(start, stop):
        for i, j in _tie_groups(start, stop, first):
            a, b = first[i], last[i]
            size = b - a + 1
            relevant = sum(grade[index] > below for index in range(i, j))
            if relevant and ties == AVERAGE:
                p, found = relevant / size, 0.0
                for step in range(1, size - relevant + 1):
                    found = min(found + p, 1.0)
                    yield a - 1 + step, found
                    p = p * (size - step - relevant + 1) / (size - step)
                yield b - relevant + 1, 1.0
                return
            if relevant:
                yield b - relevant + 1 if ties == WORST else a, 1.0
                return

    for query in range(len(offsets) - 1):
        best = judged_offsets[query]
        judged = best < judged_offsets[query + 1] and judged_grade[best] > below
        ranks = running(offsets[query], offsets[query + 1])
        _at_cutoffs(ranks, cutoffs, out, query * len(cutoffs), 0.0 if judged else empty)
    return None


def _rising(start, stop, gain, count, lowest=0.0, beyond=0.0):
    """A function of the rank, which must not fall: the sum of the gains, highest first, to that rank.

    A gain below `lowest` counts as that; ranks after the last gain above 0 count as `beyond`.
    """
    gain, count = memoryview(gain), memoryview(count)
    state = [0, start, 0, 0.0]  # rank, the gain that comes next, how many of it were counted, sum

    def at(rank):
        done, index, used, total = state
        while done < rank:
            if index == stop or gain[index] == 0.0:
                total += (rank - done) * beyond
                done = rank
                break
            step = min(rank - done, count[index] - used)
            total += step * max(gain[index], lowest)
            done, used = done + step, used + step
            if used == count[index]:
                index, used = index + 1, 0
        state[:] = done, index, used, total
        return total

    return at


def precision_sum(
    offsets, grade, first, last, below, ties, beta, judged_offsets, judged_grade, judged_count, cutoffs, out
):
    """Σ over the relevant hits of (c + β·CG) / (rank + β·ICG), c the number of relevant ones up to and with the hit.

    With β = 0 that is the sum of average precision (Buckley & Voorhees 2000), otherwise that of the Q-measure (Sakai
    2004), whose CG and ICG are sums of grades. A tie group of m documents, h of them relevant, gives under AVERAGE
    Σ_j (h/m)·(c + 1 + (j−1)(h−1)/(m−1)) / (a−1+j) (McSherry & Najork 2008, section 2.3); with β the CG at its j-th
    document, where that is relevant, is (C·h + G₁ + (j−1)·(h·G − G₁)/(m−1)) / m: C the gain before the group, G that of
    the group, G₁ that of its relevant documents (derived here).
    """
    offsets, grade, first, last, cutoffs, out = map(memoryview, (offsets, grade, first, last, cutoffs, out))

    def running(start, stop, ideal):
        total = gained = 0.0
        found = 0
        for i, j in _tie_groups(start, stop, first):
            a, b = first[i], last[i]
            m = b - a + 1
            if ties == AVERAGE and not (j - i == m and grade[i] == grade[j - 1]):
                own = own_relevant = 0.0
                h = 0
                for index in range(i, j):
                    own += max(grade[index], 0.0)
                    if grade[index] > below:
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
            for rank, index in _resolved(i, j, a, b, ties):
                gained += max(grade[index], 0.0)
                if grade[index] > below:
                    found += 1
                    total += (found + beta * gained) / (rank + beta * ideal(rank)) if beta else found / rank
                    yield rank, total

    for query in range(len(offsets) - 1):
        ideal = _rising(judged_offsets[query], judged_offsets[query + 1], judged_grade, judged_count)
        ranks = running(offsets[query], offsets[query + 1], ideal)
        _at_cutoffs(ranks, cutoffs, out, query * len(cutoffs))
    return None


def preference_sum(offsets, grade, first, last, below, ties, relevant, non_relevant, out):
    """Σ over the relevant hits of 1 − min(n, R) / min(N, R), n the judged non-relevant ones above (bpref: Buckley &
    Voorhees 2004, as trec_eval computes it); 1 where N = 0.

    A tie group with h relevant and z judged non-relevant documents gives under AVERAGE h / (z + 1) times the sum of
    these for n from that before the group to that after it (derived here).
    """
    offsets, grade, first, last, out = map(memoryview, (offsets, grade, first, last, out))
    relevant, non_relevant = memoryview(relevant), memoryview(non_relevant)
    for query in range(len(offsets) - 1):
        r, most = relevant[query], min(relevant[query], non_relevant[query])

        def preference(above, r=r, most=most):
            return 1.0 - min(above, r) / most if most else 1.0

        total, above = 0.0, 0
        for i, j in _tie_groups(offsets[query], offsets[query + 1], first):
            h = sum(grade[index] > below for index in range(i, j))
            z = sum(0.0 <= grade[index] <= below for index in range(i, j))
            if h and ties == AVERAGE:
                own = 0.0
                for number in range(above, above + z + 1):
                    own += preference(number)
                total += h * own / (z + 1)
            elif h:
                total += h * preference(above + z if ties == WORST else above)
            above += z
        out[query] = total
    return None


EPSILON = 0.00001  # of infAP, as in trec_eval


def inferred_sum(offsets, grade, first, last, below, ties, out):
    """Σ over the relevant hits of their inferred precision (infAP: Yilmaz & Aslam 2006, as trec_eval computes it).

    At rank r that is 1/r + (r−1)/r · (share of pooled documents above) · (share of relevant ones among the judged
    above). A negative grade is pooled but not judged. The order is known.
    """
    offsets, grade, first, last, out = map(memoryview, (offsets, grade, first, last, out))
    for query in range(len(offsets) - 1):
        total, pooled, judged, found = 0.0, 0, 0, 0
        for i, j in _tie_groups(offsets[query], offsets[query + 1], first):
            for rank, index in _resolved(i, j, first[i], last[i], ties):
                if grade[index] > below:
                    above = rank - 1
                    if above:
                        share = (found + EPSILON) / (judged + 2.0 * EPSILON)
                        total += 1.0 / rank + above / rank * (pooled / above) * share
                    else:
                        total += 1.0
                    found += 1
                pooled += 1
                judged += grade[index] >= 0.0
        out[query] = total
    return None


def interpolated(offsets, grade, first, last, below, ties, relevant, points, up, out):
    """For each recall point x, which rise, the highest precision at a rank where at least x·R documents were found.

    x·R becomes a number of documents by int(x·R + 0.9), `up`, as in trec_eval to release 9, or else by rounding, as in
    release 10. The order is known.
    """
    offsets, grade, first, last, points, out = map(memoryview, (offsets, grade, first, last, points, out))
    relevant = memoryview(relevant)
    for query in range(len(offsets) - 1):
        ranks = [
            rank
            for i, j in _tie_groups(offsets[query], offsets[query + 1], first)
            for rank, index in _resolved(i, j, first[i], last[i], ties)
            if grade[index] > below
        ]
        for place, point in enumerate(points, query * len(points)):
            needed = int(point * relevant[query] + (0.9 if up else 0.5))
            precisions = [found / rank for found, rank in enumerate(ranks, 1) if found >= needed]
            out[place] = max(precisions, default=0.0)
    return None


def cost_sum(offsets, first, last, gain, ties, judged_offsets, judged_gain, judged_count, out):
    """Σ gain / log2(2 + cost − gain so far) over the hits (G and binG of trec_eval).

    The cost of a rank is the ideal gain at it, or 1 where that is less; both sums run up to and with the hit. The order
    is known.
    """
    offsets, first, last, gain, out = map(memoryview, (offsets, first, last, gain, out))
    for query in range(len(offsets) - 1):
        cost = _rising(judged_offsets[query], judged_offsets[query + 1], judged_gain, judged_count, 1.0, 1.0)
        total = gained = 0.0
        for i, j in _tie_groups(offsets[query], offsets[query + 1], first):
            for rank, index in _resolved(i, j, first[i], last[i], ties):
                if gain[index] != 0.0:
                    gained += gain[index]
                    missed = cost(rank) - gained
                    if missed < -TOLERANCE * gained:  # no list gains more than the ideal one, but for rounding
                        return ABOVE_IDEAL, query, -1
                    total += gain[index] / math.log2(2.0 + max(missed, 0.0))
        out[query] = total
        fault = _not_finite(out, query, query, 1)
        if fault:
            return fault
    return None


NEGLIGIBLE = 1e-17  # less than half of the last bit of what it would be added to
FAINT = 1e-40  # a chance so small that no sum shows it
MOST = 4096  # chances that are looked at together: what takes more would take minutes


class _Large(Exception):
    """A tie group has more of them."""


def _stopping(stops, m, most):
    """Yield, for the first, second … of m documents in random order, among them some with a stop probability above 0,
    up to the one at `most`, the chance that a reader stops there, and that he goes on: Σ_u P(u of these are among those
    before) · (mean over u of them of Π (1 − q)), for stopping times (mean over the others of q).

    The chances are hypergeometric, the means elementary symmetric sums over their number of terms, and `drops` their
    differences; all come from those before without a subtraction that could lose digits.
    """
    h = len(stops)
    # Of the documents so far the mean of the products of u of them, and what it loses with one more factor.
    means, drops = [1.0], [0.0]
    for size, stop in enumerate(reversed(stops)):
        if len(means) == size + 1 <= most:
            means.append(0.0)
            drops.append(0.0)
        for u in range(len(means) - 1, -1, -1):
            drops[u] = (max(size - u, 0) * drops[u] + stop * means[u]) / (size + 1)
            if u:
                drops[u] += u * (1.0 - stop) * drops[u - 1] / (size + 1)
                means[u] = ((size + 1 - u) * means[u] + u * (1.0 - stop) * means[u - 1]) / (size + 1)
        while means[-1] < FAINT:
            means.pop()
            drops.pop()
        if len(means) > MOST:
            raise _Large
    chances = [1.0] + [0.0] * (len(means) - 1)
    for j in range(most):
        stopping = goes_on = 0.0
        for u in range(min(j, len(means) - 1) + 1):
            stopping += chances[u] * ((h - u) / (m - j)) * drops[u]
        for u in range(min(j + 1, len(means) - 1), 0, -1):
            chances[u] = chances[u] * ((m - j - h + u) / (m - j)) + chances[u - 1] * ((h - u + 1) / (m - j))
        chances[0] *= (m - j - h) / (m - j)
        for u in range(min(j + 1, len(means) - 1) + 1):
            goes_on += chances[u] * means[u]
        yield stopping, goes_on


def cascade(offsets, first, last, stop, ties, scratch, cutoffs, out):
    """Σ over the hits of the chance that the reader stops there, divided by the rank (ERR: Chapelle et al. 2009).

    A tie group gives under AVERAGE survival · Σ_j (V_{j−1} − V_j) / rank, V_j the chance to go on after j of its
    documents (DESIGN's table; derived here). `scratch`, three times 1 + the hits of the longest query, is for the
    compiled half.
    """
    offsets, first, last, stop, cutoffs, out = map(memoryview, (offsets, first, last, stop, cutoffs, out))

    def running(start, stop_at):
        total, survival = 0.0, 1.0
        for i, j in _tie_groups(start, stop_at, first):
            a, b = first[i], last[i]
            stops = [stop[index] for index in range(i, j) if stop[index] > 0.0]
            if ties == AVERAGE and stops and not (len(stops) == b - a + 1 and stops[0] == stops[-1]):
                most = min(b - a + 1, max(cutoffs[-1] - a + 1, 0))
                for rank, (stopping, goes_on) in enumerate(_stopping(stops, b - a + 1, most), a):
                    total += survival * stopping / rank
                    yield rank, total
                    if survival * goes_on <= total * NEGLIGIBLE:
                        break
                for chance in stops:
                    survival *= 1.0 - chance
            else:
                for rank, index in _resolved(i, j, a, b, ties):
                    total += survival * stop[index] / rank
                    survival *= 1.0 - stop[index]
                    yield rank, total

    for query in range(len(offsets) - 1):
        try:
            _at_cutoffs(running(offsets[query], offsets[query + 1]), cutoffs, out, query * len(cutoffs))
        except _Large:
            return LARGE_GROUP, query, -1
    return None


def ideal_cascade(offsets, stop, count, cutoffs, out):
    """The cascade over the judged documents, highest stop probability first."""
    offsets, stop, count, cutoffs, out = map(memoryview, (offsets, stop, count, cutoffs, out))

    def running(start, stop_at):
        total, survival, rank = 0.0, 1.0, 0
        for index in range(start, stop_at):
            for _ in range(count[index]):
                if stop[index] == 0.0 or survival == 0.0:
                    return
                rank += 1
                total += survival * stop[index] / rank
                survival *= 1.0 - stop[index]
                yield rank, total

    for query in range(len(offsets) - 1):
        _at_cutoffs(running(offsets[query], offsets[query + 1]), cutoffs, out, query * len(cutoffs))
    return None


# normaliser


def finite(total):
    return total if math.isfinite(total) else (NOT_FINITE, 0, -1)


def quotient(value, ideal, empty, bounded):
    if bounded and value > ideal:
        return 1.0 if value <= ideal * (1.0 + TOLERANCE) + TINY else (ABOVE_IDEAL, 0, -1)
    return finite(value / ideal) if ideal != 0.0 else empty


def normalise(values, ideals, empty, bounded, out):
    """value / ideal, `empty` where the ideal is 0; `bounded`: a value above its ideal is an offence."""
    for query, (value, ideal) in enumerate(zip(memoryview(values), memoryview(ideals), strict=True)):
        result = quotient(value, ideal, empty, bounded)
        if type(result) is tuple:
            return result[0], query, -1
        out[query] = result
    return None
