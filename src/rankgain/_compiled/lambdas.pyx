"""LambdaRank's gradients, compiled.

The functions of `rankgain._reference.lambdas`, which are their specification, with their bits. The order of the
documents is that of `walk`; the loops over pairs stand in lambda_loops.h.
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
        double worth
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
    WIDEST = 700  # sigma times the range of the scores, up to which exponentials are shared: e^-700 has all its bits
    ARRAYS = 11  # of one number a document
    ALIGNMENT = 32

cdef struct Documents:
    # Those of a query in the order of their ranks, or as far as these matter.
    Py_ssize_t n
    Py_ssize_t rows  # how many of them are to be paired with all behind them
    int64_t* place  # in the input
    double* score
    double* gain
    double* exp
    double* worth  # the discount of the rank
    double* gradient
    double* hessian
    double* zero
    double* spread  # of the discounts in a tie group, where it begins
    # for `order_hits`
    double* grade
    int64_t* first
    int64_t* last


# scratch

cdef inline size_t stride_of(Py_ssize_t n) noexcept nogil:
    """Numbers an array has: whole blocks, and one more, for some loops go over the last document."""
    return (<size_t>n // SUM_LANES + 2) * SUM_LANES


cdef size_t lambda_size(Py_ssize_t n) noexcept nogil:
    return workspace_size(n) + ARRAYS * stride_of(n) * sizeof(double) + ALIGNMENT


cdef void part(Documents* documents, Workspace* space, void* block, Py_ssize_t n) noexcept nogil:
    cdef size_t stride = stride_of(n)
    cdef char* rest = <char*>block + workspace_size(n)
    lay_out(space, block, n)
    documents.score = <double*>(rest + <size_t>(-<Py_ssize_t>rest) % ALIGNMENT)
    documents.gain = documents.score + stride
    documents.exp = documents.gain + stride
    documents.worth = documents.exp + stride
    documents.gradient = documents.worth + stride
    documents.hessian = documents.gradient + stride
    documents.zero = documents.hessian + stride
    documents.grade = documents.spread = documents.zero + stride
    documents.place = <int64_t*>(documents.grade + stride)
    documents.first = documents.place + stride
    documents.last = documents.first + stride


# order

cdef int score_error(const double* scores, Py_ssize_t n, Py_ssize_t* position) noexcept nogil:
    cdef Py_ssize_t index
    cdef bint sound = True
    for index in range(n):
        sound &= scores[index] < INFINITY
    if sound:
        return 0
    for index in range(n):
        if not scores[index] < INFINITY:
            position[0] = index
            return INFINITE_SCORE if scores[index] == INFINITY else NAN_SCORE
    return 0  # another thread has written over it


cdef inline void add_document(
    Documents* documents, const double* scores, const double* gains, double inverse, Py_ssize_t index
) noexcept nogil:
    cdef Py_ssize_t n = documents.n
    documents.place[n] = index
    documents.score[n] = scores[index]
    documents.gain[n] = gains[index] * inverse
    documents.n = n + 1


cdef bint arrange(
    Documents* documents, const double* scores, const double* gains, double inverse, Py_ssize_t n,
    const Lambdas* options, Workspace* space
) noexcept nogil:
    """Those of finite score: the first by rank, the others by rank if they have a discount, else in input order."""
    cdef Numbers numbers
    cdef Py_ssize_t index, depth = n if options.full else <Py_ssize_t>min(<int64_t>n, options.depth)
    cdef double edge
    as_numbers(&numbers, gains)
    documents.n = 0
    if order_hits(
        scores, &numbers, 0, n, depth, True, True, space, documents.grade, documents.first, documents.last
    ) != depth:
        return False  # another thread has written over the scores
    for index in range(depth):
        if scores[space.entries[index].index] == -INFINITY:
            break
        add_document(documents, scores, gains, inverse, space.entries[index].index)
    documents.rows = min(documents.n, <Py_ssize_t>min(<int64_t>n, options.depth))
    if depth < n and documents.n == depth:
        edge = documents.score[depth - 1]
        for index in range(documents.place[depth - 1] + 1, n):
            if scores[index] == edge and documents.n < n:
                add_document(documents, scores, gains, inverse, index)
        for index in range(n):
            if -INFINITY < scores[index] < edge and documents.n < n:
                add_document(documents, scores, gains, inverse, index)
    if options.average:
        edge = documents.score[documents.rows - 1] if documents.rows else 0.0
        while documents.rows < documents.n and documents.score[documents.rows] == edge:
            documents.rows += 1
    return True


cdef inline Py_ssize_t stop_of(const Documents* documents, Py_ssize_t start, Py_ssize_t most) noexcept nogil:
    """Where the tie group ends that begins there."""
    cdef Py_ssize_t stop = start + 1
    while stop < most and documents.score[stop] == documents.score[start]:
        stop += 1
    return stop


cdef void weigh(Documents* documents, const Lambdas* options) noexcept nogil:
    """The discount of each rank; averaged, the mean of those of the tie group."""
    cdef Py_ssize_t index, start = 0, stop, reach = documents.n if options.full else documents.rows
    cdef double total
    for index in range(reach):
        documents.worth[index] = weight(&options.discount, index + 1) if options.full or index < options.depth else 0.0
    memset(documents.worth + reach, 0, (documents.n - reach) * sizeof(double))
    while options.average and start < reach:
        stop = stop_of(documents, start, reach)
        documents.spread[start] = spread_of(documents.worth + start, stop - start)
        total = 0.0
        for index in range(start, stop):
            total += documents.worth[index]
        for index in range(start, stop):
            documents.worth[index] = total / <double>(stop - start)
        start = stop


cdef double spread_of(const double* worths, Py_ssize_t m) noexcept nogil:
    """The expected difference of the discounts of two of m tied documents."""
    cdef Py_ssize_t rank
    cdef double total = 0.0
    if m == 1:
        return 0.0
    for rank in range(1, m + 1):
        total += <double>(m + 1 - 2 * rank) * worths[rank - 1]
    return 2.0 * total / (<double>m * <double>(m - 1))


# gradients

cdef inline double pair_up(
    Documents* documents, Row* row, double worth, const double* worths, Py_ssize_t index, Py_ssize_t start,
    Py_ssize_t stop, const PairLoops* loops
) noexcept nogil:
    """The document at `index` with those from `start`: return the sum of the sizes of the gradients."""
    cdef double sums[3]
    row.worth = worth
    loops.pairs(
        row, start, stop, documents.score, documents.gain, documents.exp, worths, documents.gradient,
        documents.hessian, sums,
    )
    documents.gradient[index] -= sums[0]
    documents.hessian[index] += sums[1]
    return sums[2]


cdef double pair_all(Documents* documents, const Lambdas* options) noexcept nogil:
    """Write gradients and hessians, not times sigma, and return the sum of the sizes of the gradients."""
    cdef const PairLoops* loops = pair_loops_avx2 if wide_registers() else pair_loops_baseline
    cdef Py_ssize_t n = documents.n, most = <Py_ssize_t>stride_of(n), index, group = 0
    cdef double low = documents.score[0], high = documents.score[0], spread = 0.0, total = 0.0
    cdef bint shared
    cdef Row row
    for index in range(n):
        low = min(low, documents.score[index])
    for index in range(n, most):  # what blocks read behind the last
        documents.score[index] = low
        documents.gain[index] = documents.worth[index] = documents.exp[index] = 0.0
    memset(documents.gradient, 0, most * sizeof(double))
    memset(documents.hessian, 0, most * sizeof(double))
    shared = options.sigma * (high - low) <= WIDEST
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
            spread = documents.spread[index]
        if index + 1 < group:
            total += pair_up(documents, &row, spread, documents.zero, index, index + 1, group, loops)
        total += pair_up(
            documents, &row, documents.worth[index], documents.worth, index, max(index + 1, group), n, loops
        )
    return total


cdef int lambda_query(
    const Numbers* scores, int64_t start, Py_ssize_t n, const double* gains, double inverse, const Lambdas* options,
    void* block, double* gradient, double* hessian, Py_ssize_t* position
) noexcept nogil:
    """Write the gradient and the hessian of one query; or return what is wrong with which score."""
    cdef Documents documents
    cdef Workspace space
    cdef const double* score
    cdef double total, factor = options.sigma
    cdef Py_ssize_t index
    cdef int code
    position[0] = -1
    if n == 0:
        return 0
    part(&documents, &space, block, n)
    score = doubles_of(scores, start, n, space.scores)
    code = score_error(score, n, position)
    if code:
        return code
    memset(gradient, 0, n * sizeof(double))
    memset(hessian, 0, n * sizeof(double))
    if n < 2 or inverse == 0.0:
        return 0
    if not arrange(&documents, score, gains, inverse, n, options, &space) or documents.n < 2:
        return 0
    weigh(&documents, options)
    total = 2.0 * options.sigma * pair_all(&documents, options)
    if not finite(total):
        return NOT_FINITE
    if options.by_query and total > 0.0:
        factor = options.sigma * (log2(1.0 + total) / total)
    for index in range(documents.n):
        gradient[documents.place[index]] = documents.gradient[index] * factor
        hessian[documents.place[index]] = documents.hessian[index] * (options.sigma * factor)
    return 0


def fill(
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
    """e^x of each x <= 0, of whole blocks; for tests."""
    cdef const PairLoops* loops = pair_loops_avx2 if wide_registers() else pair_loops_baseline
    cdef Py_ssize_t n = min(exponents.shape[0], out.shape[0]) // SUM_LANES * SUM_LANES
    if n:
        with nogil:
            loops.exponentials(&exponents[0], n, 0.0, 1.0, &out[0])
