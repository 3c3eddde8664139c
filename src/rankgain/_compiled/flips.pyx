"""The compiled sums over sign flips. Tables hold the sums of all subsets of eight queries, so each byte of signs takes
only one look-up.

`rankgain._reference.flips` specifies these functions and returns bit-identical results.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc

from rankgain._compiled.walk cimport wide_registers

cdef extern from "flips.h":
    enum:
        FLIPS_AT_ONCE
        TABLE_NUMBERS
        WIDEST

    struct FlipLoops:
        void (*exceed)(
            const Flips*, Py_ssize_t, const double*, const double*, const double*, Py_ssize_t, Py_ssize_t, int64_t*,
            int64_t*
        ) noexcept nogil

    struct Flips:
        const double* sums
        const double* flipped
        Py_ssize_t stride
        Py_ssize_t count
        const int64_t* left
        const int64_t* right
        const double* total
        double queries, whole

    const FlipLoops* flip_loops_baseline
    const FlipLoops* flip_loops_avx2
    void flip_sums(
        const FlipLoops*, const double*, Py_ssize_t, Py_ssize_t, uint64_t, Py_ssize_t, Py_ssize_t, double*, double*,
        Py_ssize_t, uint64_t*, double*, double*
    ) noexcept nogil
    double flip_bound(const FlipLoops*, const Flips*, Py_ssize_t, double, Py_ssize_t, double*) noexcept nogil

cdef enum:
    LINE = 64  # size of a cache line and of a table entry, in bytes


cdef const FlipLoops* loops() noexcept nogil:
    """Return the loops for the best CPU level, or for the one that RANKGAIN_CPU names."""
    return flip_loops_avx2 if wide_registers() else flip_loops_baseline


def sums(
    const double[:, ::1] values, uint64_t seed, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out,
    double[::1] flipped, /
):
    """See the function of the same name in `rankgain._reference.flips`."""
    cdef Py_ssize_t queries = values.shape[0], columns = values.shape[1]
    if queries == 0 or columns == 0 or stop <= start:
        return
    cdef Py_ssize_t numbers = FLIPS_AT_ONCE * ((columns + WIDEST - 1) // WIDEST * WIDEST)
    cdef char* block = <char*>malloc((FLIPS_AT_ONCE + TABLE_NUMBERS + numbers) * sizeof(double) + LINE)
    if block == NULL:
        raise MemoryError
    cdef double* tables = <double*>(block + (LINE - <size_t>block % LINE))
    cdef double* scratch = tables + TABLE_NUMBERS
    with nogil:
        flip_sums(
            loops(), &values[0, 0], queries, columns, seed, start, stop, &out[0, 0], &flipped[0], flipped.shape[0],
            <uint64_t*>(scratch + numbers), tables, scratch
        )
    free(block)


def exceed(
    const double[:, ::1] sums, const int64_t[::1] left, const int64_t[::1] right, const double[::1] totals,
    double queries, const double[::1] reached, const double[::1] scales, const double[::1] limits, Py_ssize_t start,
    Py_ssize_t stop, int64_t[::1] counts, int64_t[::1] joint, /
):
    """See the function of the same name in `rankgain._reference.flips`."""
    cdef Py_ssize_t pairs = left.shape[0]
    if pairs == 0 or stop <= start:
        return
    cdef Flips flips
    flips.sums, flips.flipped, flips.stride, flips.count = &sums[0, 0], NULL, sums.shape[1], sums.shape[1]
    flips.left, flips.right, flips.total, flips.queries = &left[0], &right[0], &totals[0], queries
    flips.whole = 0.0  # `whole` is only needed for means
    with nogil:
        loops().exceed(
            &flips, pairs, &reached[0], &scales[0], &limits[0], start, stop, &counts[0], &joint[0]
        )


def bounds(
    const double[:, ::1] sums, const double[::1] flipped, const int64_t[::1] left, const int64_t[::1] right,
    const double[::1] totals, double queries, double whole, Py_ssize_t rank, Py_ssize_t start, Py_ssize_t stop,
    double[::1] low, double[::1] high, /
):
    """See the function of the same name in `rankgain._reference.flips`."""
    cdef Py_ssize_t pair
    if stop <= start or sums.shape[1] == 0:
        return
    cdef double* means = <double*>malloc((2 * sums.shape[1] + 1) * sizeof(double))  # the last entry is padding
    if means == NULL:
        raise MemoryError
    cdef Flips flips
    flips.sums, flips.flipped, flips.stride, flips.count = &sums[0, 0], &flipped[0], sums.shape[1], sums.shape[1]
    flips.left, flips.right, flips.total, flips.queries = &left[0], &right[0], &totals[0], queries
    flips.whole = whole
    with nogil:
        for pair in range(start, stop):
            low[pair] = flip_bound(loops(), &flips, pair, 1.0, rank, means)
            high[pair] = -flip_bound(loops(), &flips, pair, -1.0, rank, means)
    free(means)
