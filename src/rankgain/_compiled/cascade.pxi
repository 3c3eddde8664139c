# ERR, which models a reader who stops at a satisfying document, and the ideal ERR. See `_reference/cascade.py`.
from libc.stdint cimport int64_t

from rankgain._codes cimport AVERAGE, LARGE_GROUP, WORST

cdef double NEGLIGIBLE = 1e-17
cdef double FAINT = 1e-40
cdef Py_ssize_t MOST = 4096

cdef struct Survival:
    # The probability that the reader continues after j documents of a tie group; see `_stopping` in
    # `_reference/cascade.py`.
    double* means
    double* drops
    double* chances
    Py_ssize_t n  # number of entries in each array
    double stopping
    int64_t h
    int64_t m
    int64_t j


cdef bint survive(
    Survival* survival, const double* stop, Py_ssize_t h, int64_t m, int64_t most, double* scratch, Py_ssize_t capacity
) noexcept nogil:
    """Initialise the survival probabilities of a tie group; return False if more than MOST terms are needed."""
    cdef double* means = scratch
    cdef double* drops = scratch + 2 * capacity
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
    survival.chances = scratch + capacity
    survival.n = n
    survival.h = h
    survival.m = m
    survival.j = 0
    survival.chances[0] = 1.0
    for u in range(1, n):
        survival.chances[u] = 0.0
    return True


cdef double after_next(Survival* survival) noexcept nogil:
    """Advance by one rank: set `stopping` for it, and return the chance of going on after the whole group of hits."""
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
    Py_ssize_t stop, const int64_t* first, const int64_t* last, const double* chance, int ties, double* scratch,
    Py_ssize_t capacity, Cutoffs* cutoffs
) noexcept nogil:
    """Write ERR at each cut-off. `chance` is the stop probability of each hit, highest first within a tie group. Return
    0, or LARGE_GROUP if `scratch` is too small."""
    cdef Py_ssize_t i = 0, j, k, index, h, emitted = 0
    cdef int64_t a, b, rank, depth
    cdef double total = 0.0, going_on = 1.0, after
    cdef Survival survival
    while i < stop and emitted < cutoffs.n:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        h = 0
        while i + h < j and chance[i + h] > 0.0:
            h += 1
        if ties == AVERAGE and h and not (h == b - a + 1 and chance[i] == chance[j - 1]):
            depth = cutoffs.ranks[cutoffs.n - 1] - a + 1
            if not survive(&survival, chance + i, h, b - a + 1, depth, scratch, capacity):
                return LARGE_GROUP
            rank = a
            while rank <= b and emitted < cutoffs.n:
                emit_before(cutoffs, &emitted, rank, total)
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
                emit_before(cutoffs, &emitted, rank, total)
                total += going_on * chance[index] / <double>rank
                going_on *= 1.0 - chance[index]
        i = j
    fill_rest(cutoffs, emitted, total)
    return 0


cdef void sum_ideal_cascade(const double* stop, const int64_t* count, Py_ssize_t n, Cutoffs* cutoffs) noexcept nogil:
    """Write the ERR of the ideal list at each cut-off. `stop`: the distinct stop probabilities, highest first."""
    cdef Py_ssize_t index = 0, emitted = 0
    cdef int64_t rank = 0, until
    cdef double total = 0.0, going_on = 1.0
    while index < n and stop[index] != 0.0 and going_on != 0.0 and emitted < cutoffs.n:
        until = rank + count[index]
        while rank < until and going_on != 0.0 and emitted < cutoffs.n:
            rank += 1
            emit_before(cutoffs, &emitted, rank, total)
            total += going_on * stop[index] / <double>rank
            going_on *= 1.0 - stop[index]
        index += 1
    fill_rest(cutoffs, emitted, total)
