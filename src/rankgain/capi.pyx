"""C functions for use by compiled code in C, C++, Cython or Numba.

They are declared in `rankgain.h` (in the folder `rankgain.get_include()`), which documents each of them, and in
`capi.pxd`. There are three ways to find their addresses: `__pyx_capi__`, for Cython,
`numba.extending.get_cython_function_address` and `scipy.LowLevelCallable.from_cython`; the capsule `_C_API`, for the
header; and the function `address`, for ctypes and cffi. The constants in the header are attributes of this module.

The computations are in `_compiled`, in `lists`, `sums` and `ranking`; this file checks arguments and forwards them.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_New
from libc.float cimport DBL_MAX, DBL_MIN
from libc.math cimport NAN, isinf, isnan, nextafter
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from rankgain._codes cimport AVERAGE, LOG2, STABLE, UNIT, VECTOR
from rankgain._compiled.lambdas cimport Lambdas, lambda_query, lambda_size
from rankgain._compiled.walk cimport (
    FLOAT32, FLOAT64, Discount, Numbers, Result, Workspace, as_numbers, dcg_one, discount_at, find_first_relevant,
    finite, first_error, gain_of, ideal_depth, idcg_one, lay_out, order_hits, quotient, rr_one, sum_each, sum_hits,
    workspace_size,
)

cdef extern from "rankgain.h":
    const uint32_t RANKGAIN_ABI_VERSION
    ctypedef struct rankgain_api:
        uint32_t abi_version
        uint32_t struct_size
        void* message  # the first of the function pointers, which are in the order of FUNCTIONS

cdef extern from *:
    """
    /* Offsets are passed on as 64-bit integers. */
    typedef char rankgain_is_for_64_bits[sizeof(Py_ssize_t) == 8 ? 1 : -1];
    """

cdef enum:
    RANKS = 65536  # the number of ranks with precomputed discounts
    ALIGNMENT = 16

# The largest number of documents. The size of the scratch memory for them fits in Py_ssize_t.
cdef Py_ssize_t MOST = RANKGAIN_NO_CUTOFF // 512

# Filled once, when the module is imported.
cdef double[RANKS] logarithms
cdef rankgain_api table


# Messages for status codes

cdef const char* rankgain_message(int status) noexcept nogil:
    if status == RANKGAIN_OK:
        return "all is well"
    if status == RANKGAIN_NAN_GRADE:
        return "a grade is NaN; grades must be finite numbers"
    if status == RANKGAIN_INFINITE_GRADE:
        return "a grade is infinite; grades must be finite numbers"
    if status == RANKGAIN_NEGATIVE_GRADE:
        return "a grade is negative; give 0 to documents that are not relevant"
    if status == RANKGAIN_LARGE_GRADE:
        return "a grade is too large for the exponential gain, which needs grades below 1024"
    if status == RANKGAIN_NAN_SCORE:
        return "a score is NaN; use -inf for a document that must come last"
    if status == RANKGAIN_NOT_FINITE:
        return "the sum of the gains, or its ratio to the ideal, is not finite; use smaller gains"
    if status == RANKGAIN_ABOVE_IDEAL:
        return "judged lacks grades that the returned list has (DCG exceeds the ideal)"
    if status == RANKGAIN_INFINITE_SCORE:
        return "a score is infinite, so its gradient is undefined; only -inf is allowed"
    if status == RANKGAIN_BAD_LENGTH:
        return "a length is negative or too large, or offsets are negative or fall"
    if status == RANKGAIN_BAD_CUTOFF:
        return "the cut-off k must be 1 or more; RANKGAIN_NO_CUTOFF stands for the whole list"
    if status == RANKGAIN_BAD_OPTION:
        return (
            "gain, discount, ideal, ties, delta or normalize is none of the constants, base is not above 1, rel or "
            "empty is infinite, sigma is not above 0, or inverse_ideal is negative or not finite"
        )
    if status == RANKGAIN_NULL_POINTER:
        return "a pointer is NULL though there is something to read or to write"
    if status == RANKGAIN_SHORT_DISCOUNT:
        return "the discount has fewer numbers than there are ranks to k"
    if status == RANKGAIN_BAD_DISCOUNT:
        return (
            "a discount is negative, infinite or NaN, or rises; discounts must be finite and not negative, and for "
            "gradients must not rise"
        )
    return "no status of this rankgain"


cdef inline int write_result(double* value, Result result) noexcept nogil:
    """Write the value, or NaN if there is an error; return the status."""
    value[0] = NAN if result.code else result.value
    return result.code


cdef inline int refuse(int status, double* values, Py_ssize_t n) noexcept nogil:
    """Set all values to NaN after an invalid call; return the status."""
    cdef Py_ssize_t index
    for index in range(n if values != NULL else 0):
        values[index] = NAN
    return status


# Argument checks

cdef inline int check_pointer(const void* pointer, Py_ssize_t needed) noexcept nogil:
    return RANKGAIN_NULL_POINTER if pointer == NULL and needed else RANKGAIN_OK


cdef inline int check_option(int option, int least, int most) noexcept nogil:
    return RANKGAIN_OK if least <= option <= most else RANKGAIN_BAD_OPTION


cdef inline int check_gain(int gain) noexcept nogil:
    return check_option(gain, RANKGAIN_LINEAR, RANKGAIN_EXPONENTIAL)


cdef inline int check_list(const void* numbers, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    if n < 0:
        return RANKGAIN_BAD_LENGTH
    if k < 1:
        return RANKGAIN_BAD_CUTOFF
    return check_pointer(numbers, n)


cdef inline int open_discount(
    Discount* opened, const double* discount, Py_ssize_t n_discount, Py_ssize_t ranks
) noexcept nogil:
    """Check the first `ranks` values of the caller's discount, and store it in `opened`.

    If the caller's discount is NULL, store the logarithmic discount.
    """
    cdef Py_ssize_t index
    cdef bint valid = True
    opened.kind = VECTOR
    opened.table = discount
    opened.size = n_discount
    opened.base = 0.0
    if n_discount < 0:
        return RANKGAIN_BAD_LENGTH
    if discount != NULL:
        for index in range(min(n_discount, ranks)):
            valid &= 0.0 <= discount[index] <= DBL_MAX
        return RANKGAIN_SHORT_DISCOUNT if n_discount < ranks else RANKGAIN_OK if valid else RANKGAIN_BAD_DISCOUNT
    opened.kind = LOG2
    opened.table = logarithms
    opened.size = RANKS
    return check_pointer(NULL, n_discount)


cdef bint never_rises(const Discount* discount) noexcept nogil:
    """Return whether the discount never rises, in which case no order of the documents exceeds the ideal."""
    cdef int64_t rank
    for rank in range(1, discount.size if discount.kind == VECTOR else 0):
        if not discount.table[rank] <= discount.table[rank - 1]:
            return False
    return True


cdef inline int ratio(
    double value, Result ideal, double empty, const Discount* discount, double* out
) noexcept nogil:
    """Write value / ideal. If the discount never rises, a value above the ideal is an error."""
    if ideal.code == 0:
        ideal.code = quotient(
            value, ideal.value, empty, value > ideal.value and never_rises(discount), &ideal.value
        )
    return write_result(out, ideal)


cdef inline int check_empty(double* empty) noexcept nogil:
    empty[0] += 0.0  # turn −0.0 into 0.0, which prints without a sign
    return RANKGAIN_BAD_OPTION if isinf(empty[0]) else RANKGAIN_OK


cdef inline int check_rel(double* rel) noexcept nogil:
    """Replace `rel` by the number above which grades are relevant (see `parameters.highest_irrelevant`)."""
    if isinf(rel[0]):
        return RANKGAIN_BAD_OPTION
    rel[0] = 0.0 if isnan(rel[0]) else -DBL_MIN if rel[0] <= 0.0 else nextafter(rel[0], 0.0)
    return RANKGAIN_OK


# Scratch memory

cdef Py_ssize_t rankgain_scratch_size(Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    if n < 0 or k < 1 or n > MOST:
        return -1
    return workspace_size(n) + 2 * n * sizeof(double) + 2 * n * sizeof(int64_t) + ALIGNMENT


cdef inline char* aligned(void* scratch) noexcept nogil:
    return <char*>scratch + <size_t>(-<Py_ssize_t>scratch) % ALIGNMENT


ctypedef fused real_t:
    double
    float


cdef inline const double* contiguous(
    const real_t* numbers, Py_ssize_t stride, Py_ssize_t n, double* scratch
) noexcept nogil:
    """Return the numbers as contiguous float64. Copy them into `scratch` unless they already are."""
    cdef Py_ssize_t index
    if real_t is double and stride == 1:
        return numbers
    for index in range(n):
        scratch[index] = numbers[index * stride]
    return scratch


# Gains and discounts

cdef int rankgain_gain(int kind, const double* grades, Py_ssize_t n, double* gains) noexcept nogil:
    cdef Py_ssize_t index, n_valid = n
    cdef int status = check_gain(kind) or check_list(grades, n, 1) or check_pointer(gains, n)
    if status:
        return refuse(status, gains, n)
    status = first_error(grades, n, 1, kind, &n_valid)
    for index in range(n_valid):
        gains[index] = gain_of(grades[index], kind)
    return refuse(status, gains + n_valid, n - n_valid) if status else RANKGAIN_OK


cdef int rankgain_discount(int kind, double base, Py_ssize_t n, double* discounts) noexcept nogil:
    cdef Py_ssize_t index
    cdef int status = check_option(kind, RANKGAIN_LOG2, RANKGAIN_ZIPF) or check_list(discounts, n, 1)
    if kind == RANKGAIN_JARVELIN and not (1.0 < base and finite(base)):
        status = status or RANKGAIN_BAD_OPTION
    if status:
        return refuse(status, discounts, n)
    kind = kind - RANKGAIN_LOG2 + LOG2
    for index in range(n):
        discounts[index] = logarithms[index] if kind == LOG2 and index < RANKS else discount_at(index + 1, kind, base)
    return RANKGAIN_OK


# Functions for one list

cdef int rankgain_cg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, double* value
) noexcept nogil:
    cdef Discount none
    cdef int status = check_list(relevance, n, k) or check_gain(gain) or check_pointer(value, 1)
    none.kind = UNIT
    none.table = NULL
    none.size = 0
    none.base = 0.0
    return refuse(status, value, 1) if status else write_result(value, dcg_one(relevance, n, stride, gain, &none, k))


cdef int rankgain_dcg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, const double* discount,
    Py_ssize_t n_discount, double* value
) noexcept nogil:
    cdef Discount opened
    cdef int status = check_list(relevance, n, k) or check_gain(gain) or check_pointer(value, 1)
    status = status or open_discount(&opened, discount, n_discount, min(n, k))
    return refuse(status, value, 1) if status else write_result(value, dcg_one(relevance, n, stride, gain, &opened, k))


cdef int rankgain_idcg(
    const double* judged, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, const double* discount,
    Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil:
    cdef Discount opened
    cdef int status = check_list(judged, n, k) or check_gain(gain) or check_pointer(value, 1)
    status = status or check_pointer(scratch, n) or open_discount(&opened, discount, n_discount, min(n, k))
    if status:
        return refuse(status, value, 1)
    return write_result(value, ideal_of(judged, n, stride, gain, &opened, k, scratch))


cdef Result ideal_of(
    const double* judged, Py_ssize_t n, Py_ssize_t stride, bint exponential, const Discount* discount, int64_t depth,
    void* scratch
) noexcept nogil:
    cdef Result ideal
    cdef Numbers numbers
    cdef Workspace space
    ideal.value = 0.0
    ideal.code = RANKGAIN_OK
    ideal.position = -1
    if n:  # scratch may be NULL for an empty list
        lay_out(&space, aligned(scratch), n)
        as_numbers(&numbers, contiguous(judged, stride, n, space.scores))
        ideal = idcg_one(&numbers, 0, n, exponential, discount, depth, &space)
    return ideal


cdef int rankgain_ndcg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, const double* judged, Py_ssize_t n_judged,
    Py_ssize_t judged_stride, Py_ssize_t k, int gain, int ideal, const double* discount, Py_ssize_t n_discount,
    double empty, void* scratch, double* value
) noexcept nogil:
    cdef Discount opened
    cdef Result dcg
    cdef Py_ssize_t depth = ideal_depth(k, n, ideal == RANKGAIN_RETURNED)
    cdef int status = check_list(relevance, n, k) or check_list(judged, n_judged, k) or check_gain(gain)
    status = status or check_option(ideal, RANKGAIN_JUDGED, RANKGAIN_RETURNED) or check_empty(&empty)
    status = status or check_pointer(value, 1) or check_pointer(scratch, n_judged)
    status = status or open_discount(&opened, discount, n_discount, max(min(n, k), min(n_judged, depth)))
    if status:
        return refuse(status, value, 1)
    dcg = dcg_one(relevance, n, stride, gain, &opened, k)
    if dcg.code:
        return write_result(value, dcg)
    return ratio(
        dcg.value, ideal_of(judged, n_judged, judged_stride, gain, &opened, depth, scratch), empty, &opened, value
    )


cdef int rankgain_reciprocal_rank(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, double rel, double* value
) noexcept nogil:
    cdef int status = check_list(relevance, n, k) or check_pointer(value, 1) or check_rel(&rel)
    return refuse(status, value, 1) if status else write_result(value, rr_one(relevance, n, stride, k, rel))


# Functions for many lists

cdef int check_lists(
    const double* grades, const Py_ssize_t* offsets, Py_ssize_t queries, const double* values
) noexcept nogil:
    cdef Py_ssize_t query
    cdef int status = check_list(values, queries, 1) or check_pointer(offsets, queries)
    if status or queries == 0:
        return status
    for query in range(queries):
        if offsets[query] < 0 or offsets[query + 1] < offsets[query]:
            return RANKGAIN_BAD_LENGTH
    return check_pointer(grades, offsets[queries])


cdef int rankgain_cg_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain, double* values
) noexcept nogil:
    cdef Py_ssize_t query
    cdef int query_status, status = check_lists(relevance, offsets, queries, values)
    if status:
        return refuse(status, values, queries)
    for query in range(queries):
        query_status = rankgain_cg(
            relevance + offsets[query], offsets[query + 1] - offsets[query], 1, k, gain, values + query
        )
        status = status or query_status
    return status


cdef int rankgain_dcg_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain,
    const double* discount, Py_ssize_t n_discount, double* values
) noexcept nogil:
    cdef Py_ssize_t query, longest = 0
    cdef Discount opened
    cdef int query_status, status = check_lists(relevance, offsets, queries, values)
    refuse(status, values, queries)  # NaN marks the values that are not computed yet
    if status:
        return status
    for query in range(queries):
        longest = max(longest, offsets[query + 1] - offsets[query])
    if gain == RANKGAIN_LINEAR and longest and check_list(relevance, longest, k) == 0:
        if open_discount(&opened, discount, n_discount, min(longest, k)) == 0:
            # This is faster than the loop below, since it sums several lists at once.
            sum_each(relevance, <const int64_t*>offsets, queries, &opened, k, values)
    for query in range(queries):
        if not finite(values[query]):  # not computed yet or invalid
            query_status = rankgain_dcg(
                relevance + offsets[query], offsets[query + 1] - offsets[query], 1, k, gain, discount, n_discount,
                values + query,
            )
            status = status or query_status
    return status


cdef int rankgain_idcg_lists(
    const double* judged, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain,
    const double* discount, Py_ssize_t n_discount, void* scratch, double* values
) noexcept nogil:
    cdef Py_ssize_t query
    cdef int query_status, status = check_lists(judged, offsets, queries, values)
    if status:
        return refuse(status, values, queries)
    for query in range(queries):
        query_status = rankgain_idcg(
            judged + offsets[query], offsets[query + 1] - offsets[query], 1, k, gain, discount, n_discount, scratch,
            values + query,
        )
        status = status or query_status
    return status


cdef int rankgain_ndcg_lists(
    const double* relevance, const Py_ssize_t* offsets, const double* judged, const Py_ssize_t* judged_offsets,
    Py_ssize_t queries, Py_ssize_t k, int gain, int ideal, const double* discount, Py_ssize_t n_discount,
    double empty, void* scratch, double* values
) noexcept nogil:
    cdef Py_ssize_t query
    cdef int query_status, status = check_lists(relevance, offsets, queries, values)
    status = status or check_lists(judged, judged_offsets, queries, values)
    if status:
        return refuse(status, values, queries)
    for query in range(queries):
        query_status = rankgain_ndcg(
            relevance + offsets[query], offsets[query + 1] - offsets[query], 1,
            judged + judged_offsets[query], judged_offsets[query + 1] - judged_offsets[query], 1,
            k, gain, ideal, discount, n_discount, empty, scratch, values + query,
        )
        status = status or query_status
    return status


cdef int rankgain_reciprocal_rank_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, double rel, double* values
) noexcept nogil:
    cdef Py_ssize_t query
    cdef int query_status, status = check_lists(relevance, offsets, queries, values)
    if status:
        return refuse(status, values, queries)
    for query in range(queries):
        query_status = rankgain_reciprocal_rank(
            relevance + offsets[query], offsets[query + 1] - offsets[query], 1, k, rel, values + query
        )
        status = status or query_status
    return status


# Functions that take scores

cdef struct Query:
    # The documents of one query, the options, and memory for the hits.
    const double* scores
    Numbers labels
    Py_ssize_t n
    int64_t k
    int ties
    bint exponential
    Discount discount
    Workspace space
    double* float_labels
    double* grade
    int64_t* first
    int64_t* last


cdef int open_query(
    Query* query, const void* scores, int kind, Py_ssize_t n, Py_ssize_t stride, const double* labels,
    Py_ssize_t labels_stride, Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount,
    void* scratch
) noexcept nogil:
    """Check the arguments, divide the scratch memory, and make the scores and labels contiguous.

    `kind`: the type of the scores.
    """
    cdef char* block = aligned(scratch)
    cdef int status = check_list(scores, n, k) or check_pointer(labels, n) or check_pointer(scratch, n)
    status = status or check_option(ties, RANKGAIN_AVERAGE, RANKGAIN_STABLE) or check_gain(gain)
    status = status or open_discount(&query.discount, discount, n_discount, min(n, k))
    if status:
        return status
    query.n = n
    query.k = k
    query.ties = ties - RANKGAIN_AVERAGE + AVERAGE
    query.exponential = gain
    if n == 0:  # scratch may be NULL
        memset(&query.space, 0, sizeof(Workspace))
        as_numbers(&query.labels, NULL)
        query.float_labels = NULL
        return RANKGAIN_OK
    lay_out(&query.space, block, n)
    query.float_labels = <double*>(block + workspace_size(n))
    query.grade = query.float_labels + n
    query.first = <int64_t*>(query.grade + n)
    query.last = query.first + n
    as_numbers(&query.labels, contiguous(labels, labels_stride, n, query.float_labels))
    if kind == FLOAT32:
        query.scores = contiguous(<const float*>scores, stride, n, query.space.scores)
    else:
        query.scores = contiguous(<const double*>scores, stride, n, query.space.scores)
    return RANKGAIN_OK


cdef inline Py_ssize_t order_query(Query* query, bint zeros) noexcept nogil:
    """Write the hits of the query or, with `zeros`, all documents; return their number, or −1 if a score is NaN."""
    return 0 if query.n == 0 else order_hits(
        query.scores, &query.labels, 0, query.n, query.k, zeros, query.ties == STABLE, &query.space,
        query.grade, query.first, query.last,
    )


cdef int order_scores(
    const void* scores, int kind, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, void* scratch, Py_ssize_t* order, Py_ssize_t* first, Py_ssize_t* last
) noexcept nogil:
    cdef Query query
    cdef Py_ssize_t index, position
    cdef bint by_grade = ties == RANKGAIN_BEST or ties == RANKGAIN_WORST
    cdef double nothing = 0.0
    cdef int status
    if not by_grade:  # give all documents the same grade, so that documents with equal scores stay in input order
        labels = &nothing
        labels_stride = 0
    status = check_pointer(order, n) or open_query(
        &query, scores, kind, n, stride, labels, labels_stride, k, ties, RANKGAIN_LINEAR, NULL, 0, scratch
    )
    status = status or first_error(labels, n, labels_stride, False, &position)
    if ties == RANKGAIN_WORST and status == 0:
        for index in range(n):
            query.float_labels[index] = -labels[index * labels_stride]
        as_numbers(&query.labels, query.float_labels)
    if status == 0 and order_query(&query, True) < 0:
        status = RANKGAIN_NAN_SCORE
    for index in range(min(n, k) if order != NULL else 0):
        order[index] = -1 if status else query.space.entries[index].index
        if first != NULL:
            first[index] = -1 if status else query.first[index] if ties == RANKGAIN_AVERAGE else index + 1
        if last != NULL:
            last[index] = -1 if status else query.last[index] if ties == RANKGAIN_AVERAGE else index + 1
    return status


cdef Result dcg_of_query(Query* query) noexcept nogil:
    cdef Result dcg
    cdef Py_ssize_t hits = order_query(query, False), index
    dcg.value = 0.0
    dcg.code = RANKGAIN_NAN_SCORE if hits < 0 else first_error(
        query.grade, hits, 1, query.exponential, &dcg.position
    )
    if dcg.code == 0:
        for index in range(hits):
            query.grade[index] = gain_of(query.grade[index], query.exponential)
        sum_hits(hits, query.first, query.last, query.grade, query.ties, &query.discount, &query.k, 1, &dcg.value)
        dcg.code = RANKGAIN_OK if finite(dcg.value) else RANKGAIN_NOT_FINITE
    return dcg


cdef int measure_dcg(Query* query, double* value) noexcept nogil:
    cdef Result dcg
    dcg.code = first_error(<const double*>query.labels.view.buf, query.n, 1, False, &dcg.position)
    return write_result(value, dcg if dcg.code else dcg_of_query(query))


cdef int measure_ndcg(Query* query, double empty, double* value) noexcept nogil:
    cdef Result dcg = dcg_of_query(query)
    if dcg.code:
        return write_result(value, dcg)
    return ratio(
        dcg.value,
        idcg_one(&query.labels, 0, query.n, query.exponential, &query.discount, query.k, &query.space),
        empty, &query.discount, value,
    )


cdef int measure_rr(Query* query, double above, double empty, double* value) noexcept nogil:
    cdef const double* labels = <const double*>query.labels.view.buf
    cdef Py_ssize_t hits, index
    cdef Result rr
    rr.code = first_error(labels, query.n, 1, False, &rr.position)
    if rr.code == 0:
        for index in range(query.n):
            if labels[index] > above:
                empty = 0.0
                break
        hits = order_query(query, above < 0.0)
        if hits < 0:
            rr.code = RANKGAIN_NAN_SCORE
        else:
            find_first_relevant(
                hits, query.grade, query.first, query.last, above, query.ties, empty, True, &query.k, 1,
                &rr.value,
            )
    return write_result(value, rr)


cdef int rankgain_order_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, void* scratch, Py_ssize_t* order, Py_ssize_t* first, Py_ssize_t* last
) noexcept nogil:
    return order_scores(scores, FLOAT64, n, stride, labels, labels_stride, k, ties, scratch, order, first, last)


cdef int rankgain_order_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, void* scratch, Py_ssize_t* order, Py_ssize_t* first, Py_ssize_t* last
) noexcept nogil:
    return order_scores(scores, FLOAT32, n, stride, labels, labels_stride, k, ties, scratch, order, first, last)


cdef int rankgain_dcg_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or open_query(
        &query, scores, FLOAT64, n, stride, labels, labels_stride, k, ties, gain, discount, n_discount, scratch
    )
    return refuse(status, value, 1) if status else measure_dcg(&query, value)


cdef int rankgain_dcg_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or open_query(
        &query, scores, FLOAT32, n, stride, labels, labels_stride, k, ties, gain, discount, n_discount, scratch
    )
    return refuse(status, value, 1) if status else measure_dcg(&query, value)


cdef int rankgain_ndcg_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, double empty, void* scratch,
    double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or check_empty(&empty) or open_query(
        &query, scores, FLOAT64, n, stride, labels, labels_stride, k, ties, gain, discount, n_discount, scratch
    )
    return refuse(status, value, 1) if status else measure_ndcg(&query, empty, value)


cdef int rankgain_ndcg_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, double empty, void* scratch,
    double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or check_empty(&empty) or open_query(
        &query, scores, FLOAT32, n, stride, labels, labels_stride, k, ties, gain, discount, n_discount, scratch
    )
    return refuse(status, value, 1) if status else measure_ndcg(&query, empty, value)


cdef int rankgain_reciprocal_rank_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, double rel, double empty, void* scratch, double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or check_rel(&rel) or check_empty(&empty) or open_query(
        &query, scores, FLOAT64, n, stride, labels, labels_stride, k, ties, RANKGAIN_LINEAR, NULL, 0, scratch
    )
    return refuse(status, value, 1) if status else measure_rr(&query, rel, empty, value)


cdef int rankgain_reciprocal_rank_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, double rel, double empty, void* scratch, double* value
) noexcept nogil:
    cdef Query query
    cdef int status = check_pointer(value, 1) or check_rel(&rel) or check_empty(&empty) or open_query(
        &query, scores, FLOAT32, n, stride, labels, labels_stride, k, ties, RANKGAIN_LINEAR, NULL, 0, scratch
    )
    return refuse(status, value, 1) if status else measure_rr(&query, rel, empty, value)


# Gradients of nDCG

cdef Py_ssize_t rankgain_lambda_scratch_size(Py_ssize_t n) noexcept nogil:
    return -1 if n < 0 or n > MOST else <Py_ssize_t>lambda_size(n) + ALIGNMENT


cdef int open_lambdas(
    Lambdas* options, Py_ssize_t n, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma,
    int delta, int ties, int normalize
) noexcept nogil:
    """Check and store the options for lists of up to n documents."""
    cdef Py_ssize_t rank, ranks = n if delta == RANKGAIN_DELTA_FULL else min(n, k)
    cdef int status = check_option(delta, RANKGAIN_DELTA_CUT, RANKGAIN_DELTA_ONE)
    status = status or check_option(normalize, RANKGAIN_NOT_NORMALIZED, RANKGAIN_BY_SCORE_AND_QUERY)
    if ties != RANKGAIN_AVERAGE and ties != RANKGAIN_STABLE or not 1e-100 <= sigma <= 1e100:
        status = status or RANKGAIN_BAD_OPTION
    if delta == RANKGAIN_DELTA_ONE:
        ranks = 0
    status = status or open_discount(&options.discount, discount, n_discount, ranks)
    if status:
        return status
    for rank in range(1, ranks if discount != NULL else 0):
        if discount[rank] > discount[rank - 1]:
            return RANKGAIN_BAD_DISCOUNT
    if delta == RANKGAIN_DELTA_ONE and discount != NULL:  # do not read the discount, which was not checked
        options.discount.kind = UNIT
        options.discount.size = 0
    options.depth = k
    options.sigma = sigma
    options.full = delta == RANKGAIN_DELTA_FULL
    options.unit = delta == RANKGAIN_DELTA_ONE
    options.average = ties == RANKGAIN_AVERAGE
    options.by_score = (normalize - RANKGAIN_NOT_NORMALIZED) & 1
    options.by_query = (normalize - RANKGAIN_NOT_NORMALIZED) >> 1
    return RANKGAIN_OK


cdef int write_lambdas(
    const Numbers* scores, int64_t start, Py_ssize_t n, const double* gains, double inverse,
    const Lambdas* options, void* scratch, double* gradient, double* hessian
) noexcept nogil:
    """Write the gradients of one query. All arguments except the data have already been checked."""
    cdef Py_ssize_t position
    cdef int status = first_error(gains, n, 1, False, &position)
    if not 0.0 <= inverse <= DBL_MAX:
        status = status or RANKGAIN_BAD_OPTION
    status = status or lambda_query(
        scores, start, n, gains, inverse, options, aligned(scratch), gradient, hessian, &position
    )
    if status:
        refuse(status, gradient, n)
        refuse(status, hessian, n)
    return status


cdef int lambdas_of(
    const void* scores, int kind, Py_ssize_t n, const double* gains, double inverse_ideal, Py_ssize_t k,
    const double* discount, Py_ssize_t n_discount, double sigma, int delta, int ties, int normalize, void* scratch,
    double* gradient, double* hessian
) noexcept nogil:
    cdef Numbers numbers
    cdef Lambdas options
    cdef int status = check_list(scores, n, k) or check_pointer(gains, n) or check_pointer(scratch, n)
    status = status or check_pointer(gradient, n) or check_pointer(hessian, n)
    status = status or open_lambdas(&options, n, k, discount, n_discount, sigma, delta, ties, normalize)
    if status:
        refuse(status, gradient, n)
        return refuse(status, hessian, n)
    as_numbers(&numbers, <const double*>scores)
    numbers.kind = kind
    return write_lambdas(&numbers, 0, n, gains, inverse_ideal, &options, scratch, gradient, hessian)


cdef int lambdas_of_lists(
    const void* scores, int kind, const Py_ssize_t* offsets, Py_ssize_t queries, const double* gains,
    const double* inverse_ideals, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma, int delta,
    int ties, int normalize, void* scratch, double* gradient, double* hessian
) noexcept nogil:
    cdef Numbers numbers
    cdef Lambdas options
    cdef Py_ssize_t query, start, n, longest = 0
    cdef int query_status, status = check_lists(gains, offsets, queries, inverse_ideals)
    if status or queries == 0:
        return status
    n = offsets[queries]
    status = check_list(scores, n, k) or check_pointer(scratch, n)
    status = status or check_pointer(gradient, n) or check_pointer(hessian, n)
    for query in range(queries):
        longest = max(longest, offsets[query + 1] - offsets[query])
    status = status or open_lambdas(&options, longest, k, discount, n_discount, sigma, delta, ties, normalize)
    start = offsets[0]
    if status:
        refuse(status, gradient + start if gradient != NULL else NULL, n - start)
        return refuse(status, hessian + start if hessian != NULL else NULL, n - start)
    as_numbers(&numbers, <const double*>scores)
    numbers.kind = kind
    for query in range(queries):
        start = offsets[query]
        query_status = write_lambdas(
            &numbers, start, offsets[query + 1] - start, gains + start, inverse_ideals[query], &options, scratch,
            gradient + start, hessian + start,
        )
        status = status or query_status
    return status


cdef int rankgain_lambda_ndcg_f64(
    const double* scores, Py_ssize_t n, const double* gains, double inverse_ideal, Py_ssize_t k, const double* discount,
    Py_ssize_t n_discount, double sigma, int delta, int ties, int normalize, void* scratch, double* gradient,
    double* hessian
) noexcept nogil:
    return lambdas_of(
        scores, FLOAT64, n, gains, inverse_ideal, k, discount, n_discount, sigma, delta, ties, normalize, scratch,
        gradient, hessian,
    )


cdef int rankgain_lambda_ndcg_f32(
    const float* scores, Py_ssize_t n, const double* gains, double inverse_ideal, Py_ssize_t k, const double* discount,
    Py_ssize_t n_discount, double sigma, int delta, int ties, int normalize, void* scratch, double* gradient,
    double* hessian
) noexcept nogil:
    return lambdas_of(
        scores, FLOAT32, n, gains, inverse_ideal, k, discount, n_discount, sigma, delta, ties, normalize, scratch,
        gradient, hessian,
    )


cdef int rankgain_lambda_ndcg_lists_f64(
    const double* scores, const Py_ssize_t* offsets, Py_ssize_t queries, const double* gains,
    const double* inverse_ideals, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma, int delta,
    int ties, int normalize, void* scratch, double* gradient, double* hessian
) noexcept nogil:
    return lambdas_of_lists(
        scores, FLOAT64, offsets, queries, gains, inverse_ideals, k, discount, n_discount, sigma, delta, ties,
        normalize, scratch, gradient, hessian,
    )


cdef int rankgain_lambda_ndcg_lists_f32(
    const float* scores, const Py_ssize_t* offsets, Py_ssize_t queries, const double* gains,
    const double* inverse_ideals, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma, int delta,
    int ties, int normalize, void* scratch, double* gradient, double* hessian
) noexcept nogil:
    return lambdas_of_lists(
        scores, FLOAT32, offsets, queries, gains, inverse_ideals, k, discount, n_discount, sigma, delta, ties,
        normalize, scratch, gradient, hessian,
    )


# Addresses of the C functions

def address(str name not None):
    """Return the address of a C function, for ctypes and cffi.

    Parameters
    ----------
    name : str
        The name in `capi.pxd`, such as "rankgain_dcg".

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such function.

    Examples
    --------
    >>> import ctypes
    >>> from rankgain import capi
    >>> message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)(capi.address("rankgain_message"))
    >>> message(capi.RANKGAIN_NAN_SCORE).decode()
    'a score is NaN; use -inf for a document that must come last'
    """
    functions = globals()["__pyx_capi__"]
    if name not in functions:
        raise ValueError(f"name must be one of {', '.join(functions)}, not {name!r}")
    capsule = functions[name]
    return <size_t>PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


def fill():
    """Fill the table of precomputed discounts and the struct of function pointers."""
    cdef Py_ssize_t rank, index
    cdef void** functions = <void**>&table.message
    for rank in range(RANKS):
        logarithms[rank] = discount_at(rank + 1, LOG2, 0.0)
    table.abi_version = RANKGAIN_ABI_VERSION
    table.struct_size = sizeof(rankgain_api)
    for index, name in enumerate(FUNCTIONS.split()):
        functions[index] = <void*><size_t>address("rankgain_" + name)


# in the order of the struct in rankgain.h
cdef str FUNCTIONS = (
    "message scratch_size gain discount cg dcg idcg ndcg reciprocal_rank "
    "cg_lists dcg_lists idcg_lists ndcg_lists reciprocal_rank_lists order_f64 order_f32 "
    "dcg_from_scores_f64 dcg_from_scores_f32 ndcg_from_scores_f64 ndcg_from_scores_f32 "
    "reciprocal_rank_from_scores_f64 reciprocal_rank_from_scores_f32 "
    "lambda_scratch_size lambda_ndcg_f64 lambda_ndcg_f32 lambda_ndcg_lists_f64 lambda_ndcg_lists_f32"
)
fill()
del fill
globals()["RANKGAIN_NO_CUTOFF"] = RANKGAIN_NO_CUTOFF
_C_API = PyCapsule_New(&table, "rankgain.capi._C_API", NULL)
