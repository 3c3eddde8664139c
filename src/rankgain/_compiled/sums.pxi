# Gains, discounts, their sums, the first relevant document, and the ratio to the ideal: see `_reference/sums.py`.
from libc.math cimport exp2, log2
from libc.stdint cimport INT64_MAX, int64_t

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, GEOMETRIC, JARVELIN, LOG2, NOT_FINITE, WORST, ZIPF

cdef double TOLERANCE = 1e-9
cdef double TINY = 1e-300


# computing gains and discounts

cdef double discount_at(int64_t rank, int kind, double base) noexcept nogil:
    """Compute the discount of a rank, from 1 on."""
    if kind == LOG2:
        return 1.0 / log2(<double>(rank + 1))
    if kind == JARVELIN:
        return 1.0 if rank < base else log2(base) / log2(<double>rank)
    if kind == ZIPF:
        return 1.0 / <double>rank
    if kind == GEOMETRIC:
        return exp2(<double>(rank - 1) * log2(base)) if base != 0.0 else <double>(rank == 1)
    return 1.0


def fill_discount(int kind, double base, double[::1] out, /):
    """Write the discounts of ranks 1 to n."""
    cdef int64_t rank
    with nogil:
        for rank in range(1, out.shape[0] + 1):
            out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(const double[::1] grades, double[::1] out, /):
    """Write 2^r − 1 for each grade; return the index of the first grade that is too large, or −1."""
    cdef Py_ssize_t index
    with nogil:
        for index in range(grades.shape[0]):
            if grades[index] >= 1024.0:
                break
            out[index] = gain_of(grades[index], True)
        else:
            index = -1
    return index


# sums over the hits of a query and over its judged grades

cdef inline Py_ssize_t group_stop(const int64_t* first, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Return the end of the tie group that starts at `start`."""
    cdef Py_ssize_t index = start + 1
    while index < stop and first[index] == first[start]:
        index += 1
    return index


cdef void sum_hits(
    Py_ssize_t n, const int64_t* first, const int64_t* last, const double* gain, int ties,
    const Discount* discount, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    """Write the sum of gain times discount at each cut-off. Hits are in order of rank and, within a tie group, of gain,
    highest first; cut-offs are ascending."""
    cdef Py_ssize_t i = 0, j, index, emitted = 0
    cdef int64_t rank, a, b, hits
    cdef double total = 0.0, gains, discounts
    while i < n and emitted < n_cutoffs:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, n) if b > a else i + 1
        hits = j - i
        while emitted < n_cutoffs and cutoffs[emitted] < a:
            out[emitted] = total
            emitted += 1
        if ties == AVERAGE and not (hits == b - a + 1 and gain[i] == gain[j - 1]):
            gains = 0.0
            discounts = 0.0
            for index in range(i, j):
                gains += gain[index]
            rank = a
            while rank <= b and emitted < n_cutoffs:
                discounts += weight(discount, rank)
                while emitted < n_cutoffs and cutoffs[emitted] == rank and rank < b:
                    out[emitted] = total + gains * discounts / <double>(b - a + 1)
                    emitted += 1
                rank += 1
            total += gains * discounts / <double>(b - a + 1)
        else:
            for index in range(hits):  # ranks are clamped, since another thread may change the input
                rank = max(a, b - hits + 1) + index if ties == WORST else a + index
                while emitted < n_cutoffs and cutoffs[emitted] < rank:
                    out[emitted] = total
                    emitted += 1
                total += gain[j - 1 - index if ties == WORST else i + index] * weight(discount, rank)
        i = j
    while emitted < n_cutoffs:
        out[emitted] = total
        emitted += 1


cdef inline bint all_finite(const double* values, Py_ssize_t n) noexcept nogil:
    """Return whether no value is NaN or infinite."""
    cdef Py_ssize_t index
    for index in range(n):
        if not finite(values[index]):
            return False
    return True


cdef void sum_ideal(
    const double* gain, const int64_t* count, Py_ssize_t n, int64_t limit, const Discount* discount,
    const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    """Write the ideal sum at each cut-off, over at most `limit` documents. Gains are distinct, highest first, and
    `count` says how many documents have each."""
    cdef Py_ssize_t index, emitted = 0
    cdef int64_t rank = 0, stop, until, tabled
    cdef double total = 0.0
    for index in range(n):
        if gain[index] == 0.0 or emitted == n_cutoffs:
            break
        stop = rank + min(count[index], limit - rank)
        while rank < stop and emitted < n_cutoffs:
            until = min(stop, cutoffs[emitted])
            tabled = min(until, discount.size)
            while rank < tabled:
                total += gain[index] * discount.table[rank]
                rank += 1
            while rank < until:
                rank += 1
                total += gain[index] * discount_at(rank, discount.kind, discount.base)
            if rank == cutoffs[emitted]:
                out[emitted] = total
                emitted += 1
    while emitted < n_cutoffs:
        out[emitted] = total
        emitted += 1


cdef void find_first_relevant(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties, double before,
    bint reciprocal, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    """Write the value of the first relevant hit at each cut-off: 1 / rank if `reciprocal` is set, otherwise 1.

    `before` is the value at cut-offs before the first relevant hit.
    """
    cdef Py_ssize_t i = 0, j, index, emitted = 0
    cdef int64_t a = 1, b = 1, rank, size, step, relevant = 0
    cdef double value = 0.0, p
    while i < n:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, n) if b > a else i + 1
        for index in range(i, j):
            relevant += grade[index] > above
        if relevant:
            break
        i = j
    size = b - a + 1
    rank = b - relevant + 1 if ties == WORST else a
    while emitted < n_cutoffs and (not relevant or cutoffs[emitted] < rank):
        out[emitted] = before
        emitted += 1
    if ties == AVERAGE:
        p = <double>relevant / <double>size
        step = 1
        while step <= size - relevant + 1 and emitted < n_cutoffs:
            if reciprocal:
                value += p / <double>(a - 1 + step)
            else:
                value = min(value + p, 1.0) if step <= size - relevant else 1.0
            while emitted < n_cutoffs and cutoffs[emitted] == a - 1 + step:
                out[emitted] = value
                emitted += 1
            if step < size:
                p = p * <double>(size - step - relevant + 1) / <double>(size - step)
            step += 1
    else:
        value = 1.0 / <double>rank if reciprocal else 1.0
    while emitted < n_cutoffs:
        out[emitted] = value
        emitted += 1


cdef struct Cutoffs:
    # Cut-offs in ascending order, and the array for the value at each cut-off.
    const int64_t* ranks
    Py_ssize_t n
    double* out


cdef inline void emit_before(
    Cutoffs* cutoffs, Py_ssize_t* emitted, int64_t rank, double value
) noexcept nogil:
    """Write a value at each remaining cut-off that is less than a rank."""
    while emitted[0] < cutoffs.n and cutoffs.ranks[emitted[0]] < rank:
        cutoffs.out[emitted[0]] = value
        emitted[0] += 1


cdef inline void fill_rest(Cutoffs* cutoffs, Py_ssize_t emitted, double value) noexcept nogil:
    """Write a value at all remaining cut-offs."""
    while emitted < cutoffs.n:
        cutoffs.out[emitted] = value
        emitted += 1


# dividing a value by its ideal

cdef int quotient(double value, double ideal, double empty, bint bounded, double* out) noexcept nogil:
    """Write value / ideal, or `empty` if the ideal is 0; return 0 or an error code. `bounded`: whether a value above
    the ideal by more than rounding is an error."""
    if bounded and value > ideal:
        out[0] = 1.0
        return 0 if value <= ideal * (1.0 + TOLERANCE) + TINY else ABOVE_IDEAL
    out[0] = empty
    if ideal != 0.0:
        out[0] = value / ideal
        if not finite(out[0]):
            return NOT_FINITE
    return 0
