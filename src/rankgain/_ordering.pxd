# What `_kernels` and `_readers` take from `_ordering`: scratch, and the ordering of the documents of one query.
from libc.stdint cimport int64_t

ctypedef fused score_t:
    double
    float

cdef struct Entry:
    # A document that can be a hit: what it is ordered by, its grade, and where it stands in the input.
    double key
    double grade
    Py_ssize_t index

cdef struct Workspace:
    # Scratch for the longest query of a call; see `reserve`.
    void* block
    Entry* entries
    Entry* spare
    double* distinct
    int64_t* above
    int64_t* equal
    Py_ssize_t* next

cdef inline Py_ssize_t count_higher(const double* falling, Py_ssize_t n, double value) noexcept nogil:
    """How many of n > 0 falling numbers are higher than the value: a search without a branch on the data."""
    cdef Py_ssize_t low = 0, half
    while n > 1:
        half = n // 2
        low += half if falling[low + half - 1] > value else 0
        n -= half
    return low + (falling[low] > value)


cdef inline const double* doubles(const double[::1] view) noexcept nogil:
    return &view[0] if view.shape[0] else NULL


cdef inline const int64_t* integers(const int64_t[::1] view) noexcept nogil:
    return &view[0] if view.shape[0] else NULL


cdef Py_ssize_t longest(const int64_t* offsets, Py_ssize_t queries) noexcept nogil
cdef int first_fault(const double* grades, Py_ssize_t n, bint exponential, Py_ssize_t* position) noexcept nogil
cdef int reserve(Workspace* space, Py_ssize_t n) except -1
cdef void release(Workspace* space) noexcept nogil

cdef Py_ssize_t rank_entries(
    const score_t* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil

cdef int count_grades(
    const double* grades, Py_ssize_t n, int64_t depth, Entry* entries, Entry* spare,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil
