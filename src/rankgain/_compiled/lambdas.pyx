"""The compiled gradients of LambdaRank.

`rankgain._reference.lambdas` specifies these functions and returns bit-identical results. Documents are ordered by
`walk`; the loops over pairs are in lambda_loops.h.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.math cimport INFINITY, log2
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from rankgain._codes cimport INFINITE_SCORE, NAN_SCORE, NOT_FINITE
from rankgain._compiled.walk cimport (
    Numbers, Workspace, as_numbers, discount_of, doubles_of, finite, integers, lay_out, longest, open_numbers,
    order_hits, weight, wide_registers, workspace_size,
)

cdef extern from "lambdas.h" nogil:
    enum:
        SUM_LANES
    struct Row:
        double score
        double gain
        double exp
        double discount
        bint by_score
        bint unit
    struct PairLoops:
        void (*exponentials)(const double*, Py_ssize_t, double, double, double*) noexcept nogil
        void (*pairs)(
            const Row*, Py_ssize_t, Py_ssize_t, const double*, const double*, const double*, const double*, double*,
            double*, double*
        ) noexcept nogil
    const PairLoops* pair_loops_baseline
    const PairLoops* pair_loops_avx2

cdef enum:
    SHARED_RANGE = 700  # largest sigma · (range of scores) for which pairs share exponentials; e^-700 is not subnormal
    ARRAYS = 11  # number of arrays that hold one number per document
    ALIGNMENT = 32

cdef struct Documents:
    # The documents of a query. The documents down to rank `depth` are in rank order; the remaining documents are in
    # input order.
    Py_ssize_t n
    Py_ssize_t rows  # number of leading documents that are paired with every lower-ranked document
    int64_t* positions  # positions of the documents in the input
    double* score
    double* gain
    double* exp
    double* discount  # discount at the rank of each document
    double* gradient
    double* hessian
    double* zero
    double* gap  # stored at the start of a tie group: the expected difference of two of its discounts
    double* grade  # `grade`, `first` and `last` are outputs of `order_hits`
    int64_t* first
    int64_t* last


# scratch memory

cdef inline size_t stride_of(Py_ssize_t n) noexcept nogil:
    """Return the length of each array. It includes one extra block, since some loops read beyond the last document."""
    return (<size_t>n // SUM_LANES + 2) * SUM_LANES


cdef size_t lambda_size(Py_ssize_t n) noexcept nogil:
    """Return the bytes of scratch memory for a query of n documents."""
    return workspace_size(n) + ARRAYS * stride_of(n) * sizeof(double) + ALIGNMENT


cdef void lay_out_documents(Documents* documents, Workspace* space, void* block, Py_ssize_t n) noexcept nogil:
    """Lay out the arrays for n documents in a block of `lambda_size(n)` bytes."""
    cdef size_t stride = stride_of(n)
    cdef char* rest = <char*>block + workspace_size(n)
    lay_out(space, block, n)
    documents.score = <double*>(rest + <size_t>(-<Py_ssize_t>rest) % ALIGNMENT)
    documents.gain = documents.score + stride
    documents.exp = documents.gain + stride
    documents.discount = documents.exp + stride
    documents.gradient = documents.discount + stride
    documents.hessian = documents.gradient + stride
    documents.zero = documents.hessian + stride
    documents.grade = documents.gap = documents.zero + stride
    documents.positions = <int64_t*>(documents.grade + stride)
    documents.first = documents.positions + stride
    documents.last = documents.first + stride


# ordering the documents of a query

cdef int score_error(const double* scores, Py_ssize_t n, Py_ssize_t* position) noexcept nogil:
    """Return an error code and its position for the first score that is not finite, or 0."""
    cdef Py_ssize_t index
    cdef bint finite_scores = True
    for index in range(n):
        finite_scores &= scores[index] < INFINITY
    if finite_scores:
        return 0
    for index in range(n):
        if not scores[index] < INFINITY:
            position[0] = index
            return INFINITE_SCORE if scores[index] == INFINITY else NAN_SCORE
    return 0  # no invalid score is left: another thread has overwritten it


cdef inline void add_document(
    Documents* documents, const double* scores, const double* gains, double inverse, Py_ssize_t index
) noexcept nogil:
    """Append a document to those in rank order."""
    cdef Py_ssize_t n = documents.n
    documents.positions[n] = index
    documents.score[n] = scores[index]
    documents.gain[n] = gains[index] * inverse
    documents.n = n + 1


cdef bint order_documents(
    Documents* documents, const double* scores, const double* gains, double inverse, Py_ssize_t n,
    const Lambdas* options, Workspace* space
) noexcept nogil:
    """Collect the documents with finite scores, in rank order down to the depth and in input order below it.

    Return False if another thread modified the scores.
    """
    cdef Numbers numbers
    cdef Py_ssize_t index, depth = n if options.full else <Py_ssize_t>min(<int64_t>n, options.depth)
    cdef double threshold
    as_numbers(&numbers, gains)
    documents.n = 0
    if order_hits(
        scores, &numbers, 0, n, depth, True, True, space, documents.grade, documents.first, documents.last
    ) != depth:
        return False
    for index in range(depth):
        if scores[space.entries[index].index] == -INFINITY:
            break
        add_document(documents, scores, gains, inverse, space.entries[index].index)
    documents.rows = min(documents.n, <Py_ssize_t>min(<int64_t>n, options.depth))
    if depth < n and documents.n == depth:
        threshold = documents.score[depth - 1]
        for index in range(documents.positions[depth - 1] + 1, n):
            if scores[index] == threshold and documents.n < n:
                add_document(documents, scores, gains, inverse, index)
        for index in range(n):
            if -INFINITY < scores[index] < threshold and documents.n < n:
                add_document(documents, scores, gains, inverse, index)
    if options.average:
        threshold = documents.score[documents.rows - 1] if documents.rows else 0.0
        while documents.rows < documents.n and documents.score[documents.rows] == threshold:
            documents.rows += 1
    return True


cdef inline Py_ssize_t stop_of(const Documents* documents, Py_ssize_t start, Py_ssize_t most) noexcept nogil:
    """Return the end of the tie group that starts at index `start`."""
    cdef Py_ssize_t stop = start + 1
    while stop < most and documents.score[stop] == documents.score[start]:
        stop += 1
    return stop


cdef void fill_discounts(Documents* documents, const Lambdas* options) noexcept nogil:
    """Write the discount of each document's rank. If ties are averaged, write the mean discount of the tie group."""
    cdef Py_ssize_t index, start = 0, stop, discounted = documents.n if options.full else documents.rows
    cdef bint counts
    cdef double total
    for index in range(discounted):
        counts = options.full or index < options.depth
        documents.discount[index] = weight(&options.discount, index + 1) if counts else 0.0
    memset(documents.discount + discounted, 0, (documents.n - discounted) * sizeof(double))
    while options.average and start < discounted:
        stop = stop_of(documents, start, discounted)
        documents.gap[start] = discount_gap(documents.discount + start, stop - start)
        total = 0.0
        for index in range(start, stop):
            total += documents.discount[index]
        for index in range(start, stop):
            documents.discount[index] = total / <double>(stop - start)
        start = stop


cdef double discount_gap(const double* discounts, Py_ssize_t m) noexcept nogil:
    """Return the expected difference between the discounts of two of m tied documents."""
    cdef Py_ssize_t rank
    cdef double total = 0.0
    if m == 1:
        return 0.0
    for rank in range(1, m + 1):
        total += <double>(m + 1 - 2 * rank) * discounts[rank - 1]
    return 2.0 * total / (<double>m * <double>(m - 1))


# computing gradients

cdef inline double add_pairs(
    Documents* documents, Row* row, double discount, const double* discounts, Py_ssize_t index, Py_ssize_t start,
    Py_ssize_t stop, const PairLoops* loops
) noexcept nogil:
    """Pair the document at `index` with the documents from `start` to `stop`; return the sum of the absolute pair
    gradients."""
    cdef double sums[3]
    row.discount = discount
    loops.pairs(
        row, start, stop, documents.score, documents.gain, documents.exp, discounts, documents.gradient,
        documents.hessian, sums,
    )
    documents.gradient[index] -= sums[0]
    documents.hessian[index] += sums[1]
    return sums[2]


cdef double add_all_pairs(Documents* documents, const Lambdas* options) noexcept nogil:
    """Write gradients and hessians without the factor sigma; return the sum of the absolute pair gradients."""
    cdef const PairLoops* loops = pair_loops_avx2 if wide_registers() else pair_loops_baseline
    cdef Py_ssize_t n = documents.n, most = <Py_ssize_t>stride_of(n), index, group = 0
    cdef double low = documents.score[0], high = documents.score[0], gap = 0.0, total = 0.0
    cdef bint shared
    cdef Row row
    for index in range(n):
        low = min(low, documents.score[index])
    for index in range(n, most):  # padding, because the loops read whole blocks
        documents.score[index] = low
        documents.gain[index] = documents.discount[index] = documents.exp[index] = 0.0
    memset(documents.gradient, 0, most * sizeof(double))
    memset(documents.hessian, 0, most * sizeof(double))
    shared = options.sigma * (high - low) <= SHARED_RANGE
    loops.exponentials(documents.score, n, high, options.sigma, documents.exp)
    row.by_score = options.by_score and low < high
    row.unit = options.unit
    if options.average:
        memset(documents.zero, 0, most * sizeof(double))
    for index in range(documents.rows):
        row.score = documents.score[index]
        row.gain = documents.gain[index]
        row.exp = documents.exp[index]
        if not shared:
            row.exp = 1.0
            loops.exponentials(
                documents.score + index + 1, n - index - 1, row.score, options.sigma, documents.exp + index + 1
            )
        if options.average and index == group:
            group = stop_of(documents, index, documents.rows)
            gap = documents.gap[index]
        if index + 1 < group:
            total += add_pairs(documents, &row, gap, documents.zero, index, index + 1, group, loops)
        total += add_pairs(
            documents, &row, documents.discount[index], documents.discount, index, max(index + 1, group), n, loops
        )
    return total


cdef int lambda_query(
    const Numbers* scores, int64_t start, Py_ssize_t n, const double* gains, double inverse, const Lambdas* options,
    void* block, double* gradient, double* hessian, Py_ssize_t* position
) noexcept nogil:
    """Write the gradients and hessians of one query. Return 0 on success; if a score is invalid, set `position` and
    return an error code."""
    cdef Documents documents
    cdef Workspace space
    cdef const double* score
    cdef double total, factor = options.sigma
    cdef Py_ssize_t index
    cdef int code
    position[0] = -1
    if n == 0:
        return 0
    lay_out_documents(&documents, &space, block, n)
    score = doubles_of(scores, start, n, space.scores)
    code = score_error(score, n, position)
    if code:
        return code
    memset(gradient, 0, n * sizeof(double))
    memset(hessian, 0, n * sizeof(double))
    if n < 2 or inverse == 0.0:
        return 0
    if not order_documents(&documents, score, gains, inverse, n, options, &space) or documents.n < 2:
        return 0
    fill_discounts(&documents, options)
    total = 2.0 * options.sigma * add_all_pairs(&documents, options)
    if not finite(total):
        return NOT_FINITE
    if options.by_query and total > 0.0:
        factor = options.sigma * (log2(1.0 + total) / total)
    for index in range(documents.n):
        gradient[documents.positions[index]] = documents.gradient[index] * factor
        hessian[documents.positions[index]] = documents.hessian[index] * (options.sigma * factor)
    return 0


def fill_gradients(
    scores, const int64_t[::1] offsets, const double[::1] gains, const double[::1] inverses, const double[::1] table,
    int kind, double base, int64_t depth, double sigma, bint full, bint unit, bint average, bint by_score,
    bint by_query, double[::1] gradient, double[::1] hessian, /
):
    cdef Py_ssize_t query = 0, queries = offsets.shape[0] - 1, position
    cdef Lambdas options
    cdef Numbers numbers
    cdef int code = 0
    cdef void* block
    if gains.shape[0] == 0:
        return None
    options.depth = depth
    options.sigma = sigma
    options.full = full
    options.unit = unit
    options.average = average
    options.by_score = by_score
    options.by_query = by_query
    options.discount = discount_of(table, kind, base)
    block = malloc(lambda_size(longest(integers(offsets), queries)))
    if block == NULL:
        raise MemoryError
    try:
        open_numbers(&numbers, scores)
        with nogil:
            for query in range(queries):
                code = lambda_query(
                    &numbers, offsets[query], <Py_ssize_t>(offsets[query + 1] - offsets[query]),
                    &gains[0] + offsets[query], inverses[query], &options, block, &gradient[0] + offsets[query],
                    &hessian[0] + offsets[query], &position,
                )
                if code:
                    break
        PyBuffer_Release(&numbers.view)
    finally:
        free(block)
    return (code, query, position) if code else None


def exponential(const double[::1] exponents, double[::1] out, /):
    """Write e^x for each x <= 0 in whole blocks of the array. This function exists for tests."""
    cdef const PairLoops* loops = pair_loops_avx2 if wide_registers() else pair_loops_baseline
    cdef Py_ssize_t n = min(exponents.shape[0], out.shape[0]) // SUM_LANES * SUM_LANES
    if n:
        with nogil:
            loops.exponentials(&exponents[0], n, 0.0, 1.0, &out[0])
