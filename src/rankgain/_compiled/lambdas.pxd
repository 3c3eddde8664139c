# The declarations that `capi` cimports from `lambdas`.
from libc.stdint cimport int64_t

from rankgain._compiled.walk cimport Discount, Numbers

cdef struct Lambdas:
    # The options of LambdaRank; see `Settings` in `_reference/lambdas.py`.
    int64_t depth
    double sigma
    bint full  # whether ranks beyond the cut-off also have a discount
    bint unit  # whether every pair has weight 1
    bint average
    bint by_score
    bint by_query
    Discount discount

cdef size_t lambda_size(Py_ssize_t n) noexcept nogil

cdef int lambda_query(
    const Numbers* scores, int64_t start, Py_ssize_t n, const double* gains, double inverse, const Lambdas* options,
    void* block, double* gradient, double* hessian, Py_ssize_t* position
) noexcept nogil
