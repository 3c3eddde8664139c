# Metrics that count relevant documents from rank to rank, such as AP and bpref: see `_reference/precisions.py`.
from libc.math cimport log2
from libc.stdint cimport int64_t

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, BEST, NOT_FINITE, WORST


cdef struct RunningIdeal:
    # The cumulative ideal gain up to each rank. Ranks must be requested in ascending order. See `_ideal_gain` in
    # `_reference/precisions.py`.
    const double* gain
    const int64_t* count
    Py_ssize_t index
    Py_ssize_t stop
    int64_t rank
    int64_t used
    double total
    double lowest
    double beyond


cdef inline RunningIdeal start_running_ideal(
    Py_ssize_t n, const double* gain, const int64_t* count, double lowest, double beyond
) noexcept nogil:
    """Return the state before rank 1. Gains are distinct, highest first; each counts at least `lowest`, and each rank
    after the last positive gain counts `beyond`."""
    cdef RunningIdeal ideal
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


cdef double ideal_up_to(RunningIdeal* ideal, int64_t rank) noexcept nogil:
    """Advance to a rank, and return the cumulative ideal gain. Ranks never decrease from call to call."""
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


cdef inline double share_at(
    int64_t relevant, double beta, double gained, RunningIdeal* ideal, int64_t rank
) noexcept nogil:
    """Return the precision at a rank, blended with the gains if beta is not 0."""
    if beta != 0.0:
        return (<double>relevant + beta * gained) / (<double>rank + beta * ideal_up_to(ideal, rank))
    return <double>relevant / <double>rank


cdef void sum_precisions(
    Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    double beta, RunningIdeal* ideal, Cutoffs* cutoffs
) noexcept nogil:
    """Write the sum of precisions (AP, or Q-measure with beta > 0) at each cut-off. Hits are in order of rank, and in
    descending order of grade within a tie group."""
    cdef Py_ssize_t i = 0, j, index, k, emitted = 0
    cdef int64_t a, b, m, h, n_relevant = 0, step, rank
    cdef double total = 0.0, gained = 0.0, group, relevant, share, value, at
    while i < stop and emitted < cutoffs.n:
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
            while h and step < m and emitted < cutoffs.n:
                emit_before(cutoffs, &emitted, a + step, total)
                share = <double>step / <double>(m - 1)
                value = <double>h / <double>m * (<double>(n_relevant + 1) + <double>(h - 1) * share)
                at = <double>(a + step)
                if beta != 0.0:
                    value += beta * (gained * <double>h + relevant + (<double>h * group - relevant) * share) / <double>m
                    at = <double>(a + step) + beta * ideal_up_to(ideal, a + step)
                total += value / at
                step += 1
            n_relevant += h
            gained += group
        else:
            for k in range(j - i):
                index = j - 1 - k if ties == WORST else i + k
                rank = max(a, b - (j - i) + 1) + k if ties == WORST else a + k
                gained += max(grade[index], 0.0)
                if grade[index] > above:
                    emit_before(cutoffs, &emitted, rank, total)
                    n_relevant += 1
                    total += share_at(n_relevant, beta, gained, ideal, rank)
        i = j
    fill_rest(cutoffs, emitted, total)


cdef inline double preference(int64_t higher, int64_t relevant, int64_t most) noexcept nogil:
    """Return what bpref adds for a relevant document with `higher` non-relevant documents above it."""
    return 1.0 - <double>min(higher, relevant) / <double>most if most else 1.0


cdef double sum_preferences(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t relevant, int64_t non_relevant, bint graded
) noexcept nogil:
    """Sum the preferences of bpref. If `graded` is set, every returned document is judged, and the number of
    non-relevant documents follows from the ranks."""
    cdef Py_ssize_t i = 0, j, index
    cdef int64_t most = min(relevant, non_relevant), h, z, higher = 0, n_relevant = 0, number
    cdef double total = 0.0, preferences
    while i < n:
        j = group_stop(first, i, n)
        h = 0
        z = 0
        for index in range(i, j):
            h += grade[index] > above
            z += 0.0 <= grade[index] <= above
        if graded:
            higher = first[i] - 1 - n_relevant
            z = last[i] - first[i] + 1 - h
        if h and ties == AVERAGE:
            preferences = 0.0
            for number in range(higher, higher + z + 1):
                preferences += preference(number, relevant, most)
            total += <double>h * preferences / <double>(z + 1)
        elif h:
            total += <double>h * preference(higher + z if ties == WORST else higher, relevant, most)
        higher += z
        n_relevant += h
        i = j
    return total


cdef double share_of_pairs(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t returned, double missed, double empty
) noexcept nogil:
    """Return the AUC over all returned documents; a hit below `above` and an unjudged document count alike. `missed`:
    the value if nothing relevant was returned; `empty`: the value if everything was."""
    cdef Py_ssize_t i = 0, j, index
    cdef int64_t relevant = 0, n_relevant = 0, others, h, tied, after
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
        n_relevant += h
        after = others - (last[i] - n_relevant)
        if ties == BEST:
            total += <double>h * <double>(after + tied)
        elif ties == WORST:
            total += <double>h * <double>after
        else:
            total += <double>h * (<double>after + <double>tied / 2.0)
        i = j
    return total / (<double>relevant * <double>others)


cdef struct HitCursor:
    # A cursor that visits the hits of a query one rank at a time, under a policy that orders tied documents.
    const int64_t* first
    const int64_t* last
    Py_ssize_t next
    Py_ssize_t stop
    Py_ssize_t start  # the first hit of the current tie group
    Py_ssize_t end
    int ties
    int64_t rank
    Py_ssize_t index


cdef inline HitCursor hit_cursor(Py_ssize_t n, const int64_t* first, const int64_t* last, int ties) noexcept nogil:
    """Return a cursor before the first hit."""
    cdef HitCursor cursor
    cursor.first = first
    cursor.last = last
    cursor.next = cursor.start = cursor.end = 0
    cursor.stop = n
    cursor.ties = ties
    cursor.rank = cursor.index = 0
    return cursor


cdef inline bint advance(HitCursor* cursor) noexcept nogil:
    """Advance to the next hit; return False at the end."""
    if cursor.next == cursor.stop:
        return False
    if cursor.next == cursor.end:
        cursor.start = cursor.next
        cursor.end = group_stop(cursor.first, cursor.next, cursor.stop)
    if cursor.ties == WORST:
        cursor.index = cursor.end - 1 - (cursor.next - cursor.start)
        cursor.rank = cursor.last[cursor.start] - (cursor.end - cursor.start) + 1 + (cursor.next - cursor.start)
    else:
        cursor.index = cursor.next
        cursor.rank = cursor.first[cursor.start] + (cursor.next - cursor.start)
    cursor.next += 1
    return True


cdef double EPSILON = 0.00001


cdef double sum_inferred(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties
) noexcept nogil:
    """Return the sum of inferred precisions (infAP). Pooled documents are hits with a negative grade."""
    cdef int64_t pooled = 0, judged = 0, n_relevant = 0
    cdef double total = 0.0, share, higher, rank
    cdef HitCursor cursor = hit_cursor(n, first, last, ties)
    while advance(&cursor):
        if grade[cursor.index] > above:
            rank = <double>cursor.rank
            higher = <double>(cursor.rank - 1)
            if cursor.rank > 1:
                share = (<double>n_relevant + EPSILON) / (<double>judged + 2.0 * EPSILON)
                total += 1.0 / rank + higher / rank * (<double>pooled / higher) * share
            else:
                total += 1.0
            n_relevant += 1
        pooled += 1
        judged += grade[cursor.index] >= 0.0
    return total


cdef double mean_interpolated(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties,
    int64_t relevant, const double* points, Py_ssize_t n_points, bint up, double* best
) noexcept nogil:
    """Return the average of the interpolated precisions. `best` is scratch memory with one double per recall point."""
    cdef Py_ssize_t point
    cdef int64_t n_relevant = 0
    cdef double precision, total = 0.0
    cdef HitCursor cursor = hit_cursor(n, first, last, ties)
    for point in range(n_points):
        best[point] = 0.0
    while advance(&cursor):
        if grade[cursor.index] > above:
            n_relevant += 1
            precision = <double>n_relevant / <double>cursor.rank
            # recall points are in ascending order, so later points need more relevant documents
            for point in range(n_points):
                if <int64_t>(points[point] * <double>relevant + (0.9 if up else 0.5)) > n_relevant:
                    break
                best[point] = max(best[point], precision)
    for point in range(n_points):
        total += best[point]
    return total / <double>n_points


cdef int sum_costs(
    Py_ssize_t n, const int64_t* first, const int64_t* last, const double* gain, int ties, RunningIdeal* cost,
    double* out
) noexcept nogil:
    """Write the sum of gains divided by a logarithm of the ideal gain missed (G); return 0 or an error code. `cost`
    starts at rank 1, and is advanced."""
    cdef double total = 0.0, gained = 0.0, missed
    cdef HitCursor cursor = hit_cursor(n, first, last, ties)
    while advance(&cursor):
        if gain[cursor.index] != 0.0:
            gained += gain[cursor.index]
            missed = ideal_up_to(cost, cursor.rank) - gained
            if missed < -TOLERANCE * gained:
                return ABOVE_IDEAL
            total += gain[cursor.index] / log2(2.0 + max(missed, 0.0))
    out[0] = total
    return 0 if finite(total) else NOT_FINITE
