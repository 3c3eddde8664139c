# What counts relevant documents down a list: average precision, Q-measure, bpref, infAP, interpolated precision, G.
# See `_reference/precisions.py`.
from libc.math cimport log2
from libc.stdint cimport int64_t

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, BEST, NOT_FINITE, WORST


cdef struct Rising:
    # The sum of gains, highest first, up to a rank that never falls; see `_ideal_gain` of the reference.
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
    Py_ssize_t n, const double* gain, const int64_t* count, double lowest, double beyond
) noexcept nogil:
    cdef Rising ideal
    ideal.gain = gain
    ideal.count = count
    ideal.index = 0
    ideal.stop = n
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
    Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    double beta, Rising* ideal, Cutoffs* cutoffs
) noexcept nogil:
    cdef Py_ssize_t i = 0, j, index, k, done = 0
    cdef int64_t a, b, m, h, found = 0, step, rank
    cdef double total = 0.0, gained = 0.0, group, relevant, share, value, at
    while i < stop and done < cutoffs.n:
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
                if grade[index] > above:
                    h += 1
                    relevant += grade[index]
            step = 0
            while h and step < m and done < cutoffs.n:
                reach(cutoffs, &done, a + step, total)
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
                if grade[index] > above:
                    reach(cutoffs, &done, rank, total)
                    found += 1
                    total += share_at(found, beta, gained, ideal, rank)
        i = j
    fill_rest(cutoffs, done, total)


cdef inline double preference(int64_t higher, int64_t relevant, int64_t most) noexcept nogil:
    return 1.0 - <double>min(higher, relevant) / <double>most if most else 1.0


cdef double sum_preferences(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t relevant, int64_t non_relevant, bint graded
) noexcept nogil:
    """`graded`: all returned documents are judged, so that ranks count those that are not relevant."""
    cdef Py_ssize_t i = 0, j, index
    cdef int64_t most = min(relevant, non_relevant), h, z, higher = 0, found = 0, number
    cdef double total = 0.0, preferences
    while i < n:
        j = group_stop(first, i, n)
        h = 0
        z = 0
        for index in range(i, j):
            h += grade[index] > above
            z += 0.0 <= grade[index] <= above
        if graded:
            higher = first[i] - 1 - found
            z = last[i] - first[i] + 1 - h
        if h and ties == AVERAGE:
            preferences = 0.0
            for number in range(higher, higher + z + 1):
                preferences += preference(number, relevant, most)
            total += <double>h * preferences / <double>(z + 1)
        elif h:
            total += <double>h * preference(higher + z if ties == WORST else higher, relevant, most)
        higher += z
        found += h
        i = j
    return total


cdef double share_of_pairs(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t returned, double missed, double empty
) noexcept nogil:
    cdef Py_ssize_t i = 0, j, index
    cdef int64_t relevant = 0, found = 0, others, h, tied, after
    cdef double total = 0.0
    for index in range(n):
        relevant += grade[index] > above
    others = returned - relevant
    if relevant == 0:
        return missed
    if others == 0:
        return empty
    while i < n:
        j = group_stop(first, i, n)
        h = 0
        for index in range(i, j):
            h += grade[index] > above
        tied = last[i] - first[i] + 1 - h
        found += h
        after = others - (last[i] - found)
        if ties == BEST:
            total += <double>h * <double>(after + tied)
        elif ties == WORST:
            total += <double>h * <double>after
        else:
            total += <double>h * (<double>after + <double>tied / 2.0)
        i = j
    return total / (<double>relevant * <double>others)


cdef struct Walk:
    # The hits of a query one by one, in an order that is known; the reference asks its tie groups for them.
    const int64_t* first
    const int64_t* last
    Py_ssize_t next
    Py_ssize_t stop
    Py_ssize_t start  # of the group
    Py_ssize_t end
    int ties
    int64_t rank
    Py_ssize_t index


cdef inline Walk walk_of(Py_ssize_t n, const int64_t* first, const int64_t* last, int ties) noexcept nogil:
    cdef Walk walk
    walk.first = first
    walk.last = last
    walk.next = walk.start = walk.end = 0
    walk.stop = n
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


cdef double sum_inferred(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties
) noexcept nogil:
    cdef int64_t pooled = 0, judged = 0, found = 0
    cdef double total = 0.0, share, higher, rank
    cdef Walk walk = walk_of(n, first, last, ties)
    while advance(&walk):
        if grade[walk.index] > above:
            rank = <double>walk.rank
            higher = <double>(walk.rank - 1)
            if walk.rank > 1:
                share = (<double>found + EPSILON) / (<double>judged + 2.0 * EPSILON)
                total += 1.0 / rank + higher / rank * (<double>pooled / higher) * share
            else:
                total += 1.0
            found += 1
        pooled += 1
        judged += grade[walk.index] >= 0.0
    return total


cdef double mean_interpolated(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t relevant, const double* points, Py_ssize_t n_points, bint up, double* best
) noexcept nogil:
    """`best`: scratch for a number a point."""
    cdef Py_ssize_t place
    cdef int64_t found = 0
    cdef double precision, total = 0.0
    cdef Walk walk = walk_of(n, first, last, ties)
    for place in range(n_points):
        best[place] = 0.0
    while advance(&walk):
        if grade[walk.index] > above:
            found += 1
            precision = <double>found / <double>walk.rank
            for place in range(n_points):  # points rise, so those that need more documents come last
                if <int64_t>(points[place] * <double>relevant + (0.9 if up else 0.5)) > found:
                    break
                best[place] = max(best[place], precision)
    for place in range(n_points):
        total += best[place]
    return total / <double>n_points


cdef int sum_costs(
    Py_ssize_t n, const int64_t* first, const int64_t* last, const double* gain, int ties, Rising* cost, double* out
) noexcept nogil:
    cdef double total = 0.0, gained = 0.0, missed
    cdef Walk walk = walk_of(n, first, last, ties)
    while advance(&walk):
        if gain[walk.index] != 0.0:
            gained += gain[walk.index]
            missed = rise(cost, walk.rank) - gained
            if missed < -TOLERANCE * gained:
                return ABOVE_IDEAL
            total += gain[walk.index] / log2(2.0 + max(missed, 0.0))
    out[0] = total
    return 0 if finite(total) else NOT_FINITE
