"""The specification: gain, discount, the takers of a Batch, and the normaliser, in plain Python.

This module and the compiled `_kernels` (and so `_reference_doors` and `_doors`, `_reference_ordering` and `_ordering`
and so on) have the same functions with the same positional arguments and return the same
bits. Arguments are one-dimensional buffers; ragged lists are values with int64 offsets, the list of query q being
`values[offsets[q]:offsets[q + 1]]`. A discount is (table, kind, base): the table holds the first ranks, and what lies
beyond it is computed by kind. Ranks count from 1. What is wrong with the input comes back as an offence,
(code, query, position), never as an exception; `errors` words it.

Sources: gain, discount, CG and DCG: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exponential gain: Burges et al.,
ICML 2005; reciprocal rank: Voorhees, TREC-8, 1999; averages over ties: McSherry & Najork, ECIR 2008.
"""

import math
from itertools import groupby

from rankgain._codes import ABOVE_IDEAL, AVERAGE, JARVELIN, LOG2, NOT_FINITE, WORST, ZIPF

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


def _offence_in(out, queries, cutoffs):
    for query in range(queries):
        if not all(math.isfinite(value) for value in out[query * cutoffs : (query + 1) * cutoffs]):
            return NOT_FINITE, query, -1
    return None


def discounted_sum(offsets, first, last, gain, ties, table, kind, base, cutoffs, out):
    """Σ g·d over the hits, in rank order; gains inside a tie group stand highest first.

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
                # Highest gain first, or last under WORST; documents that are no hits take the other end.
                worst = ties == WORST
                ordered = range(j - 1, i - 1, -1) if worst else range(i, j)
                for rank, index in enumerate(ordered, b - hits + 1 if worst else a):
                    total += gain[index] * discount(rank)
                    yield rank, total

    for query in range(len(offsets) - 1):
        _at_cutoffs(running(offsets[query], offsets[query + 1]), cutoffs, out, query * len(cutoffs))
    return _offence_in(out, len(offsets) - 1, len(cutoffs))


def ideal_sum(offsets, gain, count, limits, table, kind, base, cutoffs, out):
    """Σ g·d over the judged gains, highest first; `limits`: ranks of each query at the most, None: no limit."""
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

    for query in range(len(offsets) - 1):
        start, stop = offsets[query], offsets[query + 1]
        limit = sum(count[start:stop]) if limits is None else limits[query]
        _at_cutoffs(running(start, stop, limit), cutoffs, out, query * len(cutoffs))
    return _offence_in(out, len(offsets) - 1, len(cutoffs))


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
