# The declarations that `lines`, `lambdas` and `capi` cimport from `walk`.
from cpython.buffer cimport Py_buffer
from libc.float cimport DBL_MAX
from libc.math cimport exp2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

# Declarations for `numbers` and `ranking`: scratch memory, arrays of any dtype, and the ordering of documents.

cdef extern from "vectors.h" nogil:
    void prefetch(const void* address)
    int lowest_set_bit(uint64_t bits)
    uint64_t little(const unsigned char* at)  # loads eight bytes as a little-endian integer

cdef enum:
    FLOAT64
    FLOAT32
    INT64
    INT32
    UINT8

ctypedef fused number_t:
    double
    float
    int64_t
    int32_t
    uint8_t

cdef struct Numbers:
    # A buffer of float64, float32, int64, int32 or uint8 values; see `open_numbers`.
    Py_buffer view
    int kind

cdef struct Entry:
    # A document that can be a hit, with its sort key, grade and input position.
    double key
    double grade
    Py_ssize_t index

cdef struct Step:
    # A sorted key. The lower 32 bits of `tally` count the scores above the key, and the upper 32 bits count the scores
    # equal to it.
    double key
    uint64_t tally

cdef struct Workspace:
    # Scratch memory for the longest query of a call; see `reserve`.
    void* block
    Entry* entries
    Entry* other
    Step* steps
    double* distinct
    double* scores
    double* near
    Py_ssize_t* position
    int64_t* counts
    int32_t* bucket
    int32_t* starts
    double* parted
    int32_t* origin

cdef inline Py_ssize_t count_higher(const double* descending, Py_ssize_t n, double value) noexcept nogil:
    """Return how many of n > 0 numbers in descending order are above a value, by binary search without branches."""
    cdef Py_ssize_t low = 0, half
    while n > 1:
        half = n // 2
        low += half if descending[low + half - 1] > value else 0
        n -= half
    return low + (descending[low] > value)


ctypedef bint (*before_t)(const void* context, int64_t some, int64_t other) noexcept nogil


cdef inline void sort_rows(
    int64_t* rows, int64_t* scratch, Py_ssize_t n, before_t before, const void* context
) noexcept nogil:
    """Sort row numbers with a comparison function by stable bottom-up merge sort."""
    cdef Py_ssize_t width = 1, low, middle, stop, i, j, out
    while width < n:
        low = 0
        while low < n:
            middle = min(low + width, n)
            stop = min(low + 2 * width, n)
            i = low
            j = middle
            for out in range(low, stop):
                if i < middle and (j >= stop or not before(context, rows[j], rows[i])):
                    scratch[out] = rows[i]
                    i += 1
                else:
                    scratch[out] = rows[j]
                    j += 1
            low = stop
        memcpy(rows, scratch, n * sizeof(int64_t))
        width *= 2


cdef inline const double* doubles(const double[::1] view) noexcept nogil:
    return &view[0] if view.shape[0] else NULL


cdef inline const int64_t* integers(const int64_t[::1] view) noexcept nogil:
    return &view[0] if view.shape[0] else NULL


cdef inline void as_numbers(Numbers* numbers, const double* values) noexcept nogil:
    """Wrap a C array as Numbers, without a buffer that must be closed."""
    numbers.view.buf = <void*>values
    numbers.kind = FLOAT64


cdef int open_numbers(Numbers* numbers, object array) except -1
cdef void close_numbers(Numbers* numbers) noexcept
cdef const double* doubles_of(const Numbers* numbers, int64_t start, Py_ssize_t n, double* scratch) noexcept nogil
cdef Py_ssize_t longest(const int64_t* offsets, Py_ssize_t queries) noexcept nogil
cdef int first_error(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, Py_ssize_t* position
) noexcept nogil
cdef size_t workspace_size(Py_ssize_t n) noexcept nogil
cdef void lay_out(Workspace* space, void* block, Py_ssize_t n) noexcept nogil
cdef int reserve(Workspace* space, Py_ssize_t n) except -1
cdef void release(Workspace* space) noexcept nogil

cdef Py_ssize_t rank_entries(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil

cdef Py_ssize_t order_hits(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, int64_t depth, bint zeros, bint stable,
    Workspace* space, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil

cdef int count_numbers(
    const Numbers* grades, int64_t start, Py_ssize_t n, int64_t depth, Workspace* space,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil

cdef bint wide_registers() noexcept nogil


# Declarations for `sums`: discounts, sums over one query, and the ratio to the ideal.

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
    Py_ssize_t n, const int64_t* first, const int64_t* last, const double* gain, int ties,
    const Discount* discount, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef void sum_ideal(
    const double* gain, const int64_t* count, Py_ssize_t n, int64_t limit, const Discount* discount,
    const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef void find_first_relevant(
    Py_ssize_t n, const double* grade, const int64_t* first, const int64_t* last, double above, int ties, double before,
    bint reciprocal, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil

cdef int quotient(double value, double ideal, double empty, bint bounded, double* out) noexcept nogil


# Declarations for `lists`: functions on a single list, and sums of many lists.

cdef struct Result:
    # A value, or an error code and the position of the invalid grade.
    double value
    int code
    Py_ssize_t position

cdef inline int64_t ideal_depth(int64_t depth, Py_ssize_t n, bint returned) noexcept nogil:
    # The ideal of an empty list is that of one document, so the value is 0 instead of 0 / 0.
    return min(depth, max(<int64_t>n, 1)) if returned else depth


cdef Result checked_dcg(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, const Discount* discount
) noexcept nogil


cdef inline Result dcg_one(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, const Discount* discount, int64_t depth
) noexcept nogil:
    """Return the DCG like `checked_dcg`, but without branches if gains are linear and discounts are tabulated."""
    cdef Result result
    cdef Py_ssize_t index
    cdef int64_t bits, signs = 0
    n = <Py_ssize_t>min(<int64_t>n, depth)
    result.position = -1
    result.value = 0.0
    result.code = 0
    if not exponential and n <= discount.size:
        for index in range(n):
            memcpy(&bits, &grades[index * stride], sizeof(bits))  # compilers vectorise OR only for integers
            signs |= bits
            result.value += grades[index * stride] * discount.table[index]
        if signs >= 0 and finite(result.value):  # true only if no grade is negative, infinite or NaN
            return result
    return checked_dcg(grades, n, stride, exponential, discount)


cdef Result idcg_one(
    const Numbers* grades, int64_t start, Py_ssize_t n, bint exponential, const Discount* discount, int64_t depth,
    Workspace* space
) noexcept nogil

cdef Result rr_one(const double* grades, Py_ssize_t n, Py_ssize_t stride, int64_t depth, double above) noexcept nogil

cdef void sum_each(
    const number_t* grades, const int64_t* offsets, Py_ssize_t queries, const Discount* discount, int64_t depth,
    double* out
) noexcept nogil
