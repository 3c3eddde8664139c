# One ranked query, and the gains of its hits and judged grades: see `_reference/query.py`.
from libc.float cimport DBL_MAX
from libc.math cimport exp2
from libc.stdint cimport int64_t

from rankgain._codes cimport (
    ABOVE_MAX_GRADE, AVERAGE, BAD_GAIN, DOCID, EXPONENTIAL, IN_JUDGED, IRRELEVANT, LARGE_GRADE, LINEAR, MISSING_GAIN,
    RELEVANT, STOP, TABLE, VECTOR, WORST,
)

cdef struct GainTable:
    # A table of gains by grade; the grades are in descending order.
    const double* grades
    const double* gains
    Py_ssize_t n

cdef struct Term:
    int family
    int gain
    double level  # the parameter of the gains RELEVANT, IRRELEVANT and STOP; see `Gain`
    GainTable table  # the gains by grade if the gain is TABLE
    double above  # the grade above which documents are relevant
    double empty
    double factor
    bint flag
    Discount discount
    const int64_t* cutoffs
    Py_ssize_t n
    Py_ssize_t first_value  # the index in `Query.values` of the first of n values
    const double* points
    Py_ssize_t n_points

cdef struct Query:
    # The hits of a query, its judged grades, and scratch memory for the terms.
    int64_t returned
    # whether every returned document is judged, so that non-relevant documents can be counted from the ranks
    bint graded
    int64_t share_depth  # number of leading documents of which the judged ones are counted; 0 if they are not
    double judged_share  # their share; NaN if there are no documents, negative if `recounted` must be called
    int ties
    Py_ssize_t n
    double* grade
    int64_t* first
    int64_t* last
    Py_ssize_t n_judged
    double* judged_grade
    int64_t* judged_count
    double* gain
    double* judged_gain
    int64_t* gain_count
    double* values
    double* scratch
    Py_ssize_t capacity  # `scratch` has 4·capacity doubles plus padding
    const GainTable* callable_gains  # one table per term, used only for terms with a callable gain


# computing gains

cdef int look_up(const GainTable* table, double grade, double* gain) noexcept nogil:
    """Look up the gain of a grade in a table; return an error code, or 0 on success."""
    cdef Py_ssize_t at
    if table.n == 0:
        return MISSING_GAIN
    at = count_higher(table.grades, table.n, grade)
    if at == table.n or table.grades[at] != grade:
        return MISSING_GAIN
    gain[0] = table.gains[at]
    return 0 if 0.0 <= gain[0] <= DBL_MAX else BAD_GAIN


cdef int fill_gains(
    const Term* term, const GainTable* table, const double* grade, Py_ssize_t n, double* gain
) noexcept nogil:
    """Write the gain of each grade. A negative grade marks an unjudged document, whose gain is 0."""
    cdef Py_ssize_t index
    cdef double whole
    cdef int code
    if term.gain == LINEAR:
        for index in range(n):
            gain[index] = grade[index] if grade[index] >= 0.0 else 0.0
    elif term.gain == RELEVANT:
        for index in range(n):
            gain[index] = 1.0 if grade[index] >= 0.0 and grade[index] > term.level else 0.0
    elif term.gain == IRRELEVANT:
        for index in range(n):
            gain[index] = 1.0 if 0.0 <= grade[index] <= term.level else 0.0
    elif term.gain == EXPONENTIAL:
        for index in range(n):
            if grade[index] >= 1024.0:
                return LARGE_GRADE
            gain[index] = gain_of(grade[index], True) if grade[index] >= 0.0 else 0.0
    elif term.gain == STOP:
        whole = exp2(term.level) - 1.0 + 1.0
        for index in range(n):
            if grade[index] > term.level:
                return ABOVE_MAX_GRADE
            gain[index] = gain_of(grade[index], True) / whole if grade[index] >= 0.0 else 0.0
    else:
        for index in range(n):
            gain[index] = 0.0
            code = look_up(table, grade[index], &gain[index]) if grade[index] >= 0.0 else 0
            if code:
                return code
    return 0


cdef inline bint by_table(const Term* term) noexcept nogil:
    """Return whether a higher grade may have a lower gain."""
    return term.gain >= TABLE


cdef void count_judged_hits(
    const double* scores, Py_ssize_t n, Py_ssize_t n_others, Workspace* space, Query* query
) noexcept nogil:
    """Set the share of judged documents among the first `share_depth` of n documents, once the hits have ranks. The
    keys of the other judged documents are in `query.scratch`."""
    cdef Py_ssize_t index = 0, k = <Py_ssize_t>min(<int64_t>n, query.share_depth), count
    if n == 0:
        query.judged_share = NAN
        return
    query.judged_share = -1.0
    count = count_within(scores, n, k, query.scratch, n_others, space)
    if count < 0:
        return
    while index < query.n and query.first[index] <= k:
        if query.last[index] > k:
            return
        count += query.grade[index] >= 0.0
        index += 1
    query.judged_share = <double>count / <double>k


cdef double recounted(int code, const Query* query) noexcept nogil:
    """Return the share of judged documents if these are the hits of a query, down to the depth of the share; NaN if
    `code` is an error, or if ids that cannot be ordered are tied at that depth. The result equals that of
    `judged_share` in `_reference/ranking.py`."""
    cdef int64_t k = min(query.returned, query.share_depth), judged, within_k, size
    cdef Py_ssize_t index = 0, stop
    cdef double total = 0.0
    if code:
        return NAN
    while index < query.n and query.first[index] <= k:
        stop = group_stop(query.first, index, query.n)
        judged = stop - index
        size = query.last[index] - query.first[index] + 1
        within_k = min(k, query.last[index]) - query.first[index] + 1
        if query.ties == AVERAGE:
            total += <double>(judged * within_k) / <double>size
        elif query.ties == DOCID and within_k < size:
            return NAN
        elif query.ties == WORST:
            total += <double>max(<int64_t>0, within_k - (size - judged))
        else:
            total += <double>min(judged, within_k)
        index = stop
    return total / <double>k


cdef Py_ssize_t within(const Query* query, int64_t depth) noexcept nogil:
    """Return the number of hits whose tie group starts within the top `depth` ranks. Only other terms need the rest."""
    cdef Py_ssize_t low = 0, high = query.n, middle
    if high == 0 or query.first[high - 1] <= depth:
        return high
    while low < high:
        middle = (low + high) // 2
        if query.first[middle] <= depth:
            low = middle + 1
        else:
            high = middle
    return low


cdef void put_ones_first(const Query* query, Py_ssize_t n) noexcept nogil:
    """Move the gains equal to 1 to the front of their tie group."""
    cdef Py_ssize_t index, ones = 0
    for index in range(n):
        if index and query.first[index] != query.first[index - 1]:
            ones = index
        if query.gain[index] == 1.0:
            query.gain[index] = 0.0
            query.gain[ones] = 1.0
            ones += 1


cdef int hit_gains(
    const Term* term, const GainTable* table, Query* query, int64_t depth, bint pooled, const double** gain,
    Py_ssize_t* n
) noexcept nogil:
    """Compute the gains of the hits down to rank `depth`, in descending order within each tie group. Return an error
    code, or 0 on success."""
    cdef Py_ssize_t index, other
    cdef double value
    cdef int code
    n[0] = within(query, depth)
    gain[0] = query.grade
    if term.gain == LINEAR and not pooled:
        return 0
    gain[0] = query.gain
    code = fill_gains(term, table, query.grade, n[0], query.gain)
    if code == 0 and term.gain == IRRELEVANT:
        put_ones_first(query, n[0])
    if code == 0 and by_table(term):
        for index in range(1, n[0]):
            value = query.gain[index]
            other = index
            while other and query.first[other - 1] == query.first[index] and query.gain[other - 1] < value:
                query.gain[other] = query.gain[other - 1]
                other -= 1
            query.gain[other] = value
    return code


cdef int judged_gains(
    const Term* term, const GainTable* table, Query* query, const double** gain, const int64_t** count
) noexcept nogil:
    """Compute the gains of the judged grades in descending order, and the count of each gain. Return an error code, or
    0 on success."""
    cdef Py_ssize_t index, other
    cdef double value
    cdef int64_t number
    cdef int code
    gain[0] = query.judged_grade
    count[0] = query.judged_count
    if term.gain == LINEAR:
        return 0
    gain[0] = query.judged_gain
    code = fill_gains(term, table, query.judged_grade, query.n_judged, query.judged_gain)
    if code == 0 and by_table(term):
        for index in range(query.n_judged):
            value = query.judged_gain[index]
            number = query.judged_count[index]
            other = index
            while other and query.judged_gain[other - 1] < value:
                query.judged_gain[other] = query.judged_gain[other - 1]
                query.gain_count[other] = query.gain_count[other - 1]
                other -= 1
            query.judged_gain[other] = value
            query.gain_count[other] = number
        count[0] = query.gain_count
    return code + IN_JUDGED if code else 0


# discounts and judged documents

cdef inline bint lacks(const Discount* discount, int64_t ranks) noexcept nogil:
    """Return whether the discounts are a vector with fewer entries than there are ranks."""
    return discount.kind == VECTOR and ranks > discount.size


cdef int64_t judged_size(const Query* query) noexcept nogil:
    """Return the number of judged documents, from the counts of the distinct grades."""
    cdef Py_ssize_t index
    cdef int64_t size = 0
    for index in range(query.n_judged):
        size += query.judged_count[index]
    return size


cdef int64_t judged_above(const Query* query, double above) noexcept nogil:
    """Return the number of judged documents with a grade above `above`."""
    cdef Py_ssize_t index
    cdef int64_t size = 0
    for index in range(query.n_judged):
        if query.judged_grade[index] > above:
            size += query.judged_count[index]
    return size
