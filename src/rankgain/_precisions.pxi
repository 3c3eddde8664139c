# The takers that count relevant documents as they go down a list: average precision, Q-measure, bpref, infAP,
# interpolated precision, G. See `_reference`.
from libc.math cimport log2
from libc.stdint cimport int64_t

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, NOT_FINITE, WORST


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
                share = <double>step / <double>(m - 1)
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
    const int64_t[::1] judged_count, const int64_t[::1] cutoffs, double[::1] out, /
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
    double below, int ties, const int64_t[::1] relevant, const int64_t[::1] non_relevant, double[::1] out, /
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
    double below, int ties, double[::1] out, /
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
    double below, int ties, const int64_t[::1] relevant, const double[::1] points, bint up, double[::1] out, /
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
    double[::1] out, /
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
