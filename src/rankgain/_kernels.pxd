# What other kernels take from `_kernels`: discounts, the takers of one query, the normaliser.
from libc.float cimport DBL_MAX
from libc.math cimport exp2
from libc.stdint cimport int64_t

from rankgain._ordering cimport doubles

cdef struct Discount:
    const double* table
    int64_t size
    int kind
    double base

cdef double discount_at(int64_t rank, int kind, double base) noexcept nogil


cdef inline double weight(const Discount* discount, int64_t rank) noexcept nogil:
    if rank <= discount.size:
        return discount.table[rank - 1]
    return discount_at(rank, discount.kind, discount.base)


cdef inline Discount discount_of(const double[::1] table, int kind, double base) noexcept nogil:
    cdef Discount discount
    discount.table = doubles(table)
    discount.size = table.shape[0]
    discount.kind = kind
    discount.base = base
    return discount


cdef inline double gain_of(double grade, bint exponential) noexcept nogil:
    return exp2(grade) - 1.0 if exponential else grade


cdef inline bint finite(double value) noexcept nogil:
    return -DBL_MAX <= value <= DBL_MAX


cdef void sum_hits(
    Py_ssize_t start, Py_ssize_t stop, const int64_t* first, const int64_t* last, const double* gain, int ties,
    const Discount* discount, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef void sum_ideal(
    const double* gain, const int64_t* count, Py_ssize_t n, int64_t limit, const Discount* discount,
    const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef void find_relevant(
    Py_ssize_t start, Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double below,
    int ties, double before, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef int quotient(double value, double ideal, double empty, bint bounded, double* out) noexcept nogil
