# What `capi` takes from `_doors`: the functions on one list, and the sums of many.
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from rankgain._kernels cimport Discount, finite
from rankgain._ordering cimport Numbers, Workspace, number_t

cdef struct Result:
    # A value, or what is wrong with which grade.
    double value
    int code
    Py_ssize_t position

cdef inline int64_t ideal_depth(int64_t depth, Py_ssize_t n, bint returned) noexcept nogil:
    # the ideal of an empty list is that of one document: a list that returned nothing earns 0
    return min(depth, max(<int64_t>n, 1)) if returned else depth


cdef Result checked_dcg(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, const Discount* discount
) noexcept nogil


cdef inline Result dcg_one(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, const Discount* discount, int64_t depth
) noexcept nogil:
    """The sum of `checked_dcg`, without a branch where the gains are the grades and a table has the discount."""
    cdef Result result
    cdef Py_ssize_t index
    cdef int64_t bits, signs = 0
    n = <Py_ssize_t>min(<int64_t>n, depth)
    result.position = -1
    result.value = 0.0
    result.code = 0
    if not exponential and n <= discount.size:
        for index in range(n):
            memcpy(&bits, &grades[index * stride], sizeof(bits))  # as integers, for only these are ORed two at once
            signs |= bits
            result.value += grades[index * stride] * discount.table[index]
        if signs >= 0 and finite(result.value):  # so that no grade is negative, infinite or NaN
            return result
    return checked_dcg(grades, n, stride, exponential, discount)


cdef Result idcg_one(
    const Numbers* grades, int64_t start, Py_ssize_t n, bint exponential, const Discount* discount, int64_t depth,
    Workspace* space
) noexcept nogil

cdef Result rr_one(const double* grades, Py_ssize_t n, Py_ssize_t stride, int64_t depth, double below) noexcept nogil

cdef void sum_each(
    const number_t* grades, const int64_t* offsets, Py_ssize_t queries, const Discount* discount, int64_t depth,
    double* out
) noexcept nogil
