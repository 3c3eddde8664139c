"""The metric kernels, compiled: gain, discount, the takers of a Batch, and the normaliser.

The functions of `_reference`, which is their specification, with its bits. Every function over buffers is
`noexcept nogil`, takes one pointer a list and allocates nothing; the `def` above it opens the buffers and lets the GIL
go.
"""

from libc.math cimport exp2, log2
from libc.stdint cimport INT64_MAX, int64_t

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, GEOMETRIC, JARVELIN, LARGE_GROUP, LOG2, NOT_FINITE, WORST, ZIPF
from rankgain._ordering cimport doubles, integers

cdef double TOLERANCE = 1e-9
cdef double TINY = 1e-300


# gain and discount

cdef double discount_at(int64_t rank, int kind, double base) noexcept nogil:
    if kind == LOG2:
        return 1.0 / log2(<double>(rank + 1))
    if kind == JARVELIN:
        return 1.0 if rank < base else log2(base) / log2(<double>rank)
    if kind == ZIPF:
        return 1.0 / <double>rank
    if kind == GEOMETRIC:
        return exp2(<double>(rank - 1) * log2(base))
    return 1.0


def fill_discount(int kind, double base, double[::1] out):
    cdef int64_t rank
    with nogil:
        for rank in range(1, out.shape[0] + 1):
            out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(const double[::1] grades, double[::1] out):
    cdef Py_ssize_t index
    with nogil:
        for index in range(grades.shape[0]):
            if grades[index] >= 1024.0:
                break
            out[index] = gain_of(grades[index], True)
        else:
            index = -1
    return index


# takers

cdef inline Py_ssize_t group_stop(const int64_t* first, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t index = start + 1
    while index < stop and first[index] == first[start]:
        index += 1
    return index


cdef void sum_hits(
    Py_ssize_t start, Py_ssize_t stop, const int64_t* first, const int64_t* last, const double* gain, int ties,
    const Discount* discount, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    cdef Py_ssize_t i = start, j, index, done = 0
    cdef int64_t rank, a, b, hits
    cdef double total = 0.0, gains, discounts
    while i < stop and done < n_cutoffs:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        hits = j - i
        while done < n_cutoffs and cutoffs[done] < a:
            out[done] = total
            done += 1
        if ties == AVERAGE and not (hits == b - a + 1 and gain[i] == gain[j - 1]):
            gains = 0.0
            discounts = 0.0
            for index in range(i, j):
                gains += gain[index]
            rank = a
            while rank <= b and done < n_cutoffs:
                discounts += weight(discount, rank)
                while done < n_cutoffs and cutoffs[done] == rank and rank < b:
                    out[done] = total + gains * discounts / <double>(b - a + 1)
                    done += 1
                rank += 1
            total += gains * discounts / <double>(b - a + 1)
        else:
            for index in range(hits):  # at ranks that are there, though another thread changes what they were made of
                rank = max(a, b - hits + 1) + index if ties == WORST else a + index
                while done < n_cutoffs and cutoffs[done] < rank:
                    out[done] = total
                    done += 1
                total += gain[j - 1 - index if ties == WORST else i + index] * weight(discount, rank)
        i = j
    while done < n_cutoffs:
        out[done] = total
        done += 1


cdef inline bint all_finite(const double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(n):
        if not finite(values[index]):
            return False
    return True


cdef struct Cutoffs:
    # Those of one query, which rise, and where its values go.
    const int64_t* ranks
    Py_ssize_t n
    double* out


cdef inline Cutoffs cutoffs_of(
    Py_ssize_t query, const int64_t* ranks, Py_ssize_t n, const int64_t* spans, double* out
) noexcept nogil:
    """All queries have the same, or, with `spans`, each its own."""
    cdef Cutoffs own
    if spans == NULL:
        own.ranks = ranks
        own.n = n
        own.out = out + query * n
    else:
        own.ranks = ranks + spans[query]
        own.n = spans[query + 1] - spans[query]
        own.out = out + spans[query]
    return own


def discounted_sum(
    const int64_t[::1] offsets, const int64_t[::1] first, const int64_t[::1] last, const double[::1] gain, int ties,
    const double[::1] table, int kind, double base, const int64_t[::1] cutoffs, const int64_t[::1] spans,
    double[::1] out
):
    cdef Py_ssize_t query = 0
    cdef Discount discount = discount_of(table, kind, base)
    cdef Cutoffs own
    cdef const int64_t* spanned = integers(spans) if spans is not None else NULL
    cdef int code = 0
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], spanned, &out[0])
            sum_hits(
                offsets[query], offsets[query + 1], integers(first), integers(last), doubles(gain), ties,
                &discount, own.ranks, own.n, own.out,
            )
            if not all_finite(own.out, own.n):
                code = NOT_FINITE
                break
    return (code, query, -1) if code else None


cdef void sum_ideal(
    const double* gain, const int64_t* count, Py_ssize_t n, int64_t limit, const Discount* discount,
    const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    cdef Py_ssize_t index, done = 0
    cdef int64_t rank = 0, stop, until, tabled
    cdef double total = 0.0
    for index in range(n):
        if gain[index] == 0.0 or done == n_cutoffs:
            break
        stop = rank + min(count[index], limit - rank)
        while rank < stop and done < n_cutoffs:
            until = min(stop, cutoffs[done])
            tabled = min(until, discount.size)
            while rank < tabled:
                total += gain[index] * discount.table[rank]
                rank += 1
            while rank < until:
                rank += 1
                total += gain[index] * discount_at(rank, discount.kind, discount.base)
            if rank == cutoffs[done]:
                out[done] = total
                done += 1
    while done < n_cutoffs:
        out[done] = total
        done += 1


def ideal_sum(
    const int64_t[::1] offsets, const double[::1] gain, const int64_t[::1] count, const int64_t[::1] limits,
    const double[::1] table, int kind, double base, const int64_t[::1] cutoffs, const int64_t[::1] spans,
    double[::1] out
):
    cdef Py_ssize_t query = 0
    cdef Discount discount = discount_of(table, kind, base)
    cdef bint limited = limits is not None
    cdef Cutoffs own
    cdef const int64_t* spanned = integers(spans) if spans is not None else NULL
    cdef int code = 0
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], spanned, &out[0])
            sum_ideal(
                doubles(gain) + offsets[query], integers(count) + offsets[query], offsets[query + 1] - offsets[query],
                limits[query] if limited else INT64_MAX, &discount, own.ranks, own.n, own.out,
            )
            if not all_finite(own.out, own.n):
                code = NOT_FINITE
                break
    return (code, query, -1) if code else None


cdef void find_relevant(
    Py_ssize_t start, Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double below,
    int ties, double before, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    """Write the value at each cut-off; `before`: that of those before the first relevant hit."""
    cdef Py_ssize_t i = start, j, index, done = 0
    cdef int64_t a = 1, b = 1, rank, size, step, relevant = 0
    cdef double value = 0.0, p
    while i < stop:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        for index in range(i, j):
            relevant += grade[index] > below
        if relevant:
            break
        i = j
    size = b - a + 1
    rank = b - relevant + 1 if ties == WORST else a
    while done < n_cutoffs and (not relevant or cutoffs[done] < rank):
        out[done] = before
        done += 1
    if ties == AVERAGE:
        p = <double>relevant / <double>size
        step = 1
        while step <= size - relevant + 1 and done < n_cutoffs:
            value += p / <double>(a - 1 + step)
            while done < n_cutoffs and cutoffs[done] == a - 1 + step:
                out[done] = value
                done += 1
            if step < size:
                p = p * <double>(size - step - relevant + 1) / <double>(size - step)
            step += 1
    else:
        value = 1.0 / <double>rank
    while done < n_cutoffs:
        out[done] = value
        done += 1


def first_relevant(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    const int64_t[::1] judged_offsets, const double[::1] judged_grade, double below, int ties, double empty,
    const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query, n_cutoffs = cutoffs.shape[0]
    cdef bint judged
    if offsets.shape[0] < 2 or n_cutoffs == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            judged = judged_offsets[query] < judged_offsets[query + 1]
            judged = judged and judged_grade[judged_offsets[query]] > below
            find_relevant(
                offsets[query], offsets[query + 1], doubles(grade), integers(first), integers(last), below, ties,
                0.0 if judged else empty, &cutoffs[0], n_cutoffs, &out[0] + query * n_cutoffs,
            )
    return None


cdef inline void reach(
    Cutoffs* own, Py_ssize_t* done, int64_t rank, double value
) noexcept nogil:
    """Write the value at the cut-offs before a rank."""
    while done[0] < own.n and own.ranks[done[0]] < rank:
        own.out[done[0]] = value
        done[0] += 1


cdef inline void fill_rest(Cutoffs* own, Py_ssize_t done, double value) noexcept nogil:
    """Write the value at the cut-offs that are left."""
    while done < own.n:
        own.out[done] = value
        done += 1


def any_relevant(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    const int64_t[::1] judged_offsets, const double[::1] judged_grade, double below, int ties, double empty,
    const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query, i, j, index, done
    cdef int64_t size, step, relevant
    cdef double p, found, before
    cdef bint judged
    cdef Cutoffs own
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], NULL, &out[0])
            judged = judged_offsets[query] < judged_offsets[query + 1]
            judged = judged and judged_grade[judged_offsets[query]] > below
            before = 0.0 if judged else empty
            done = 0
            relevant = 0
            i = offsets[query]
            while i < offsets[query + 1]:
                j = group_stop(&first[0], i, offsets[query + 1])
                for index in range(i, j):
                    relevant += grade[index] > below
                if relevant:
                    break
                i = j
            if relevant and ties == AVERAGE:
                size = last[i] - first[i] + 1
                p = <double>relevant / <double>size
                found = 0.0
                step = 1
                while step <= size - relevant and done < own.n:
                    found = min(found + p, 1.0)
                    reach(&own, &done, first[i] - 1 + step, before)
                    before = found
                    p = p * <double>(size - step - relevant + 1) / <double>(size - step)
                    step += 1
                reach(&own, &done, last[i] - relevant + 1, before)
                before = 1.0
            elif relevant:
                reach(&own, &done, last[i] - relevant + 1 if ties == WORST else first[i], before)
                before = 1.0
            fill_rest(&own, done, before)
    return None


cdef struct Rising:
    # The sum of gains, highest first, up to a rank that never falls; see the reference's `_rising`.
    const double* gain
    const int64_t* count
    Py_ssize_t index
    Py_ssize_t stop
    int64_t rank
    int64_t used
    double total
    double lowest
    double beyond


cdef inline Rising rising(
    const int64_t[::1] offsets, Py_ssize_t query, const double[::1] gain, const int64_t[::1] count, double lowest,
    double beyond
) noexcept nogil:
    cdef Rising ideal
    ideal.gain = doubles(gain)
    ideal.count = integers(count)
    ideal.index = offsets[query]
    ideal.stop = offsets[query + 1]
    ideal.rank = 0
    ideal.used = 0
    ideal.total = 0.0
    ideal.lowest = lowest
    ideal.beyond = beyond
    return ideal


cdef double rise(Rising* ideal, int64_t rank) noexcept nogil:
    cdef int64_t step
    cdef double gain
    while ideal.rank < rank:
        if ideal.index == ideal.stop or ideal.gain[ideal.index] == 0.0:
            ideal.total += <double>(rank - ideal.rank) * ideal.beyond
            ideal.rank = rank
            break
        gain = ideal.gain[ideal.index]
        step = min(rank - ideal.rank, ideal.count[ideal.index] - ideal.used)
        ideal.total += <double>step * max(gain, ideal.lowest)
        ideal.rank += step
        ideal.used += step
        if ideal.used == ideal.count[ideal.index]:
            ideal.index += 1
            ideal.used = 0
    return ideal.total


cdef inline double share_at(int64_t relevant, double beta, double gained, Rising* ideal, int64_t rank) noexcept nogil:
    if beta != 0.0:
        return (<double>relevant + beta * gained) / (<double>rank + beta * rise(ideal, rank))
    return <double>relevant / <double>rank


cdef void sum_precisions(
    Py_ssize_t start, Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double below,
    int ties, double beta, Rising* ideal, Cutoffs* own
) noexcept nogil:
    cdef Py_ssize_t i = start, j, index, k, done = 0
    cdef int64_t a, b, m, h, found = 0, step, rank
    cdef double total = 0.0, gained = 0.0, group, relevant, share, value, at
    while i < stop and done < own.n:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        m = b - a + 1
        if ties == AVERAGE and not (j - i == m and grade[i] == grade[j - 1]):
            group = 0.0
            relevant = 0.0
            h = 0
            for index in range(i, j):
                group += max(grade[index], 0.0)
                if grade[index] > below:
                    h += 1
                    relevant += grade[index]
            step = 0
            while h and step < m and done < own.n:
                reach(own, &done, a + step, total)
                share = <double>step / <double>(m - 1) if m > 1 else 0.0
                value = <double>h / <double>m * (<double>(found + 1) + <double>(h - 1) * share)
                at = <double>(a + step)
                if beta != 0.0:
                    value += beta * (gained * <double>h + relevant + (<double>h * group - relevant) * share) / <double>m
                    at = <double>(a + step) + beta * rise(ideal, a + step)
                total += value / at
                step += 1
            found += h
            gained += group
        else:
            for k in range(j - i):
                index = j - 1 - k if ties == WORST else i + k
                rank = max(a, b - (j - i) + 1) + k if ties == WORST else a + k
                gained += max(grade[index], 0.0)
                if grade[index] > below:
                    reach(own, &done, rank, total)
                    found += 1
                    total += share_at(found, beta, gained, ideal, rank)
        i = j
    fill_rest(own, done, total)


def precision_sum(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    double below, int ties, double beta, const int64_t[::1] judged_offsets, const double[::1] judged_grade,
    const int64_t[::1] judged_count, const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query
    cdef Cutoffs own
    cdef Rising ideal
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], NULL, &out[0])
            ideal = rising(judged_offsets, query, judged_grade, judged_count, 0.0, 0.0)
            sum_precisions(
                offsets[query], offsets[query + 1], doubles(grade), integers(first), integers(last), below, ties,
                beta, &ideal, &own,
            )
    return None


cdef inline double preference(int64_t above, int64_t relevant, int64_t most) noexcept nogil:
    return 1.0 - <double>min(above, relevant) / <double>most if most else 1.0


def preference_sum(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    double below, int ties, const int64_t[::1] relevant, const int64_t[::1] non_relevant, double[::1] out
):
    cdef Py_ssize_t query, i, j, index
    cdef int64_t r, most, h, z, above, number
    cdef double total, own
    with nogil:
        for query in range(offsets.shape[0] - 1):
            r = relevant[query]
            most = min(r, non_relevant[query])
            total = 0.0
            above = 0
            i = offsets[query]
            while i < offsets[query + 1]:
                j = group_stop(&first[0], i, offsets[query + 1])
                h = 0
                z = 0
                for index in range(i, j):
                    h += grade[index] > below
                    z += 0.0 <= grade[index] <= below
                if h and ties == AVERAGE:
                    own = 0.0
                    for number in range(above, above + z + 1):
                        own += preference(number, r, most)
                    total += <double>h * own / <double>(z + 1)
                elif h:
                    total += <double>h * preference(above + z if ties == WORST else above, r, most)
                above += z
                i = j
            out[query] = total
    return None


cdef struct Walk:
    # The hits of a query one by one, in an order that is known; see the reference's `_resolved`.
    const int64_t* first
    const int64_t* last
    Py_ssize_t next
    Py_ssize_t stop
    Py_ssize_t start  # of the group
    Py_ssize_t end
    int ties
    int64_t rank
    Py_ssize_t index


cdef inline Walk walk_of(
    const int64_t[::1] offsets, Py_ssize_t query, const int64_t[::1] first, const int64_t[::1] last, int ties
) noexcept nogil:
    cdef Walk walk
    walk.first = integers(first)
    walk.last = integers(last)
    walk.next = walk.start = walk.end = offsets[query]
    walk.stop = offsets[query + 1]
    walk.ties = ties
    walk.rank = walk.index = 0
    return walk


cdef inline bint advance(Walk* walk) noexcept nogil:
    """Go to the next hit; False where there is none."""
    if walk.next == walk.stop:
        return False
    if walk.next == walk.end:
        walk.start = walk.next
        walk.end = group_stop(walk.first, walk.next, walk.stop)
    if walk.ties == WORST:
        walk.index = walk.end - 1 - (walk.next - walk.start)
        walk.rank = walk.last[walk.start] - (walk.end - walk.start) + 1 + (walk.next - walk.start)
    else:
        walk.index = walk.next
        walk.rank = walk.first[walk.start] + (walk.next - walk.start)
    walk.next += 1
    return True


cdef double EPSILON = 0.00001


def inferred_sum(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    double below, int ties, double[::1] out
):
    cdef Py_ssize_t query
    cdef int64_t pooled, judged, found
    cdef double total, share, above, rank
    cdef Walk walk
    with nogil:
        for query in range(offsets.shape[0] - 1):
            total = 0.0
            pooled = judged = found = 0
            walk = walk_of(offsets, query, first, last, ties)
            while advance(&walk):
                if grade[walk.index] > below:
                    rank = <double>walk.rank
                    above = <double>(walk.rank - 1)
                    if walk.rank > 1:
                        share = (<double>found + EPSILON) / (<double>judged + 2.0 * EPSILON)
                        total += 1.0 / rank + above / rank * (<double>pooled / above) * share
                    else:
                        total += 1.0
                    found += 1
                pooled += 1
                judged += grade[walk.index] >= 0.0
            out[query] = total
    return None


def interpolated(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    double below, int ties, const int64_t[::1] relevant, const double[::1] points, bint up, double[::1] out
):
    cdef Py_ssize_t query, place, n = points.shape[0]
    cdef int64_t found
    cdef double precision
    cdef Walk walk
    if offsets.shape[0] < 2 or n == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            for place in range(n):
                out[query * n + place] = 0.0
            found = 0
            walk = walk_of(offsets, query, first, last, ties)
            while advance(&walk):
                if grade[walk.index] > below:
                    found += 1
                    precision = <double>found / <double>walk.rank
                    for place in range(n):  # points rise, so those that need more documents come last
                        if <int64_t>(points[place] * <double>relevant[query] + (0.9 if up else 0.5)) > found:
                            break
                        if out[query * n + place] < precision:
                            out[query * n + place] = precision
    return None


def cost_sum(
    const int64_t[::1] offsets, const int64_t[::1] first, const int64_t[::1] last, const double[::1] gain, int ties,
    const int64_t[::1] judged_offsets, const double[::1] judged_gain, const int64_t[::1] judged_count,
    double[::1] out
):
    cdef Py_ssize_t query = 0
    cdef double total, gained, missed
    cdef Rising cost
    cdef Walk walk
    cdef int code = 0
    with nogil:
        for query in range(offsets.shape[0] - 1):
            cost = rising(judged_offsets, query, judged_gain, judged_count, 1.0, 1.0)
            walk = walk_of(offsets, query, first, last, ties)
            total = 0.0
            gained = 0.0
            while advance(&walk):
                if gain[walk.index] != 0.0:
                    gained += gain[walk.index]
                    missed = rise(&cost, walk.rank) - gained
                    if missed < -TOLERANCE * gained:
                        code = ABOVE_IDEAL
                        break
                    total += gain[walk.index] / log2(2.0 + max(missed, 0.0))
            out[query] = total
            if not code and not finite(total):
                code = NOT_FINITE
            if code:
                break
    return (code, query, -1) if code else None


cdef double NEGLIGIBLE = 1e-17
cdef double FAINT = 1e-40
cdef Py_ssize_t MOST = 4096

cdef struct Survival:
    # The chance to go on after some of a group's documents; see the reference's `_stopping`.
    double* means
    double* drops
    double* chances
    Py_ssize_t n  # of each
    double stopping
    int64_t h
    int64_t m
    int64_t j


cdef bint survive(
    Survival* survival, const double* stop, Py_ssize_t h, int64_t m, int64_t most, double* scratch, Py_ssize_t room
) noexcept nogil:
    """False where there are more chances than are looked at together."""
    cdef double* means = scratch
    cdef double* drops = scratch + 2 * room
    cdef double q
    cdef Py_ssize_t size, u, n = 1
    means[0] = 1.0
    drops[0] = 0.0
    for size in range(h):
        if n == size + 1 <= most:
            means[n] = 0.0
            drops[n] = 0.0
            n += 1
        q = stop[h - 1 - size]
        for u in range(n - 1, -1, -1):
            drops[u] = (<double>max(size - u, <Py_ssize_t>0) * drops[u] + q * means[u]) / <double>(size + 1)
            if u:
                drops[u] += <double>u * (1.0 - q) * drops[u - 1] / <double>(size + 1)
                means[u] = (
                    <double>(size + 1 - u) * means[u] + <double>u * (1.0 - q) * means[u - 1]
                ) / <double>(size + 1)
        while means[n - 1] < FAINT:
            n -= 1
        if n > MOST:
            return False
    survival.means = means
    survival.drops = drops
    survival.chances = scratch + room
    survival.n = n
    survival.h = h
    survival.m = m
    survival.j = 0
    survival.chances[0] = 1.0
    for u in range(1, n):
        survival.chances[u] = 0.0
    return True


cdef double after_next(Survival* survival) noexcept nogil:
    cdef double* chances = survival.chances
    cdef Py_ssize_t u, top = min(<Py_ssize_t>survival.j + 1, survival.n - 1)
    cdef double left = <double>(survival.m - survival.j), total = 0.0
    survival.stopping = 0.0
    for u in range(min(<Py_ssize_t>survival.j, survival.n - 1) + 1):
        survival.stopping += chances[u] * (<double>(survival.h - u) / left) * survival.drops[u]
    for u in range(top, 0, -1):
        chances[u] = (
            chances[u] * (<double>(survival.m - survival.j - survival.h + u) / left)
            + chances[u - 1] * (<double>(survival.h - u + 1) / left)
        )
    chances[0] *= <double>(survival.m - survival.j - survival.h) / left
    for u in range(top + 1):
        total += chances[u] * survival.means[u]
    survival.j += 1
    return total


cdef int sum_cascade(
    Py_ssize_t start, Py_ssize_t stop, const int64_t* first, const int64_t* last, const double* chance, int ties,
    double* scratch, Py_ssize_t room, Cutoffs* own
) noexcept nogil:
    cdef Py_ssize_t i = start, j, k, index, h, done = 0
    cdef int64_t a, b, rank
    cdef double total = 0.0, going_on = 1.0, after
    cdef Survival survival
    while i < stop and done < own.n:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        h = 0
        while i + h < j and chance[i + h] > 0.0:
            h += 1
        if ties == AVERAGE and h and not (h == b - a + 1 and chance[i] == chance[j - 1]):
            if not survive(&survival, chance + i, h, b - a + 1, own.ranks[own.n - 1] - a + 1, scratch, room):
                return LARGE_GROUP
            rank = a
            while rank <= b and done < own.n:
                reach(own, &done, rank, total)
                after = after_next(&survival)
                total += going_on * survival.stopping / <double>rank
                rank += 1
                if going_on * after <= total * NEGLIGIBLE:
                    break
            for index in range(i, i + h):
                going_on *= 1.0 - chance[index]
        else:
            for k in range(j - i):
                index = j - 1 - k if ties == WORST else i + k
                rank = max(a, b - (j - i) + 1) + k if ties == WORST else a + k
                reach(own, &done, rank, total)
                total += going_on * chance[index] / <double>rank
                going_on *= 1.0 - chance[index]
        i = j
    fill_rest(own, done, total)
    return 0


def cascade(
    const int64_t[::1] offsets, const int64_t[::1] first, const int64_t[::1] last, const double[::1] stop, int ties,
    double[::1] scratch, const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query = 0
    cdef int code = 0
    cdef Cutoffs own
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], NULL, &out[0])
            code = sum_cascade(
                offsets[query], offsets[query + 1], integers(first), integers(last), doubles(stop), ties, &scratch[0],
                scratch.shape[0] // 3, &own,
            )
            if code:
                break
    return (code, query, -1) if code else None


def ideal_cascade(
    const int64_t[::1] offsets, const double[::1] stop, const int64_t[::1] count, const int64_t[::1] cutoffs,
    double[::1] out
):
    cdef Py_ssize_t query, index, done
    cdef int64_t rank, until
    cdef double total, going_on
    cdef Cutoffs own
    if offsets.shape[0] < 2 or cutoffs.shape[0] == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            own = cutoffs_of(query, &cutoffs[0], cutoffs.shape[0], NULL, &out[0])
            total = 0.0
            going_on = 1.0
            rank = 0
            done = 0
            index = offsets[query]
            while index < offsets[query + 1] and stop[index] != 0.0 and going_on != 0.0 and done < own.n:
                until = rank + count[index]
                while rank < until and going_on != 0.0 and done < own.n:
                    rank += 1
                    reach(&own, &done, rank, total)
                    total += going_on * stop[index] / <double>rank
                    going_on *= 1.0 - stop[index]
                index += 1
            fill_rest(&own, done, total)
    return None


# normaliser

cdef int quotient(double value, double ideal, double empty, bint bounded, double* out) noexcept nogil:
    if bounded and value > ideal:
        out[0] = 1.0
        return 0 if value <= ideal * (1.0 + TOLERANCE) + TINY else ABOVE_IDEAL
    out[0] = empty
    if ideal != 0.0:
        out[0] = value / ideal
        if not finite(out[0]):
            return NOT_FINITE
    return 0


def normalise(const double[::1] values, const double[::1] ideals, double empty, bint bounded, double[::1] out):
    cdef Py_ssize_t query = 0
    cdef int code = 0
    with nogil:
        for query in range(values.shape[0]):
            code = quotient(values[query], ideals[query], empty, bounded, &out[query])
            if code:
                break
    return (code, query, -1) if code else None
