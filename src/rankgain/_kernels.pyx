"""The metric kernels, compiled: gain, discount, the takers of a Batch, and the doors for one list.

The functions of `_reference`, which is their specification, with its bits. Every function over buffers is
`noexcept nogil`, takes one pointer a list and allocates nothing; the `def` above it opens the buffers, reserves
scratch and lets the GIL go.
"""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release
from cpython.exc cimport PyErr_Clear
from cpython.list cimport PyList_GetItemRef
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.tuple cimport PyTuple_GetItem
from libc.float cimport DBL_MAX
from libc.math cimport NAN, exp2, log2
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from rankgain._codes cimport ABOVE_IDEAL, AVERAGE, IN_JUDGED, JARVELIN, LOG2, LONGEST_LIST, NOT_FINITE, WORST, ZIPF
from rankgain._ordering cimport (
    FLOAT32, FLOAT64, INT32, INT64, Entry, Numbers, Workspace, close_numbers, count_grades, count_numbers, doubles,
    doubles_of, first_fault, integers, longest, number_t, open_numbers, prefetch, release, reserve,
)

cdef extern from "Python.h":
    int PyObject_GetBuffer(object array, Py_buffer* view, int flags)  # −1 and an exception set, for whom it calls

cdef object ndarray
from numpy import ndarray

cdef enum:
    SHORT_LIST = 64  # up to here a one-list door works in scratch on the stack

cdef int64_t MOST_WHOLE = <int64_t>1 << 53  # beyond it a float64 may not be the integer
cdef double TOLERANCE = 1e-9
cdef double TINY = 1e-300


# gain and discount

cdef struct Discount:
    const double* table
    int64_t size
    int kind
    double base


cdef double discount_at(int64_t rank, int kind, double base) noexcept nogil:
    if kind == LOG2:
        return 1.0 / log2(<double>(rank + 1))
    if kind == JARVELIN:
        return 1.0 if rank < base else log2(base) / log2(<double>rank)
    if kind == ZIPF:
        return 1.0 / <double>rank
    return 1.0


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


def fill_discount(int kind, double base, double[::1] out):
    cdef int64_t rank
    with nogil:
        for rank in range(1, out.shape[0] + 1):
            out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(const double[::1] grades, double[::1] out):
    cdef Py_ssize_t index
    with nogil:
        for index in range(grades.shape[0]):
            if grades[index] >= 1024.0:
                break
            out[index] = exp2(grades[index]) - 1.0
        else:
            index = -1
    return index


cdef inline bint finite(double value) noexcept nogil:
    return -DBL_MAX <= value <= DBL_MAX


# takers

cdef inline Py_ssize_t group_stop(const int64_t* first, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t index = start + 1
    while index < stop and first[index] == first[start]:
        index += 1
    return index


cdef void sum_hits(
    Py_ssize_t start, Py_ssize_t stop, const int64_t* first, const int64_t* last, const double* gain, int ties,
    const Discount* discount, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    cdef Py_ssize_t i = start, j, index, done = 0
    cdef int64_t rank, a, b, hits
    cdef double total = 0.0, gains, discounts
    while i < stop and done < n_cutoffs:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        hits = j - i
        while done < n_cutoffs and cutoffs[done] < a:
            out[done] = total
            done += 1
        if ties == AVERAGE and not (hits == b - a + 1 and gain[i] == gain[j - 1]):
            gains = 0.0
            discounts = 0.0
            for index in range(i, j):
                gains += gain[index]
            rank = a
            while rank <= b and done < n_cutoffs:
                discounts += weight(discount, rank)
                while done < n_cutoffs and cutoffs[done] == rank and rank < b:
                    out[done] = total + gains * discounts / <double>(b - a + 1)
                    done += 1
                rank += 1
            total += gains * discounts / <double>(b - a + 1)
        else:
            for index in range(hits):
                rank = b - hits + 1 + index if ties == WORST else a + index
                while done < n_cutoffs and cutoffs[done] < rank:
                    out[done] = total
                    done += 1
                total += gain[j - 1 - index if ties == WORST else i + index] * weight(discount, rank)
        i = j
    while done < n_cutoffs:
        out[done] = total
        done += 1


cdef inline bint all_finite(const double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(n):
        if not finite(values[index]):
            return False
    return True


def discounted_sum(
    const int64_t[::1] offsets, const int64_t[::1] first, const int64_t[::1] last, const double[::1] gain, int ties,
    const double[::1] table, int kind, double base, const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query = 0, n_cutoffs = cutoffs.shape[0]
    cdef Discount discount = discount_of(table, kind, base)
    cdef double* at
    cdef int code = 0
    if offsets.shape[0] < 2 or n_cutoffs == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            at = &out[0] + query * n_cutoffs
            sum_hits(
                offsets[query], offsets[query + 1], integers(first), integers(last), doubles(gain), ties,
                &discount, &cutoffs[0], n_cutoffs, at,
            )
            if not all_finite(at, n_cutoffs):
                code = NOT_FINITE
                break
    return (code, query, -1) if code else None


cdef void sum_ideal(
    const double* gain, const int64_t* count, Py_ssize_t n, int64_t limit, const Discount* discount,
    const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    cdef Py_ssize_t index, done = 0
    cdef int64_t rank = 0, stop, until, tabled
    cdef double total = 0.0
    for index in range(n):
        if gain[index] == 0.0 or done == n_cutoffs:
            break
        stop = rank + min(count[index], limit - rank)
        while rank < stop and done < n_cutoffs:
            until = min(stop, cutoffs[done])
            tabled = min(until, discount.size)
            while rank < tabled:
                total += gain[index] * discount.table[rank]
                rank += 1
            while rank < until:
                rank += 1
                total += gain[index] * discount_at(rank, discount.kind, discount.base)
            if rank == cutoffs[done]:
                out[done] = total
                done += 1
    while done < n_cutoffs:
        out[done] = total
        done += 1


def ideal_sum(
    const int64_t[::1] offsets, const double[::1] gain, const int64_t[::1] count, const int64_t[::1] limits,
    const double[::1] table, int kind, double base, const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query = 0, n_cutoffs = cutoffs.shape[0]
    cdef Discount discount = discount_of(table, kind, base)
    cdef bint limited = limits is not None
    cdef double* at
    cdef int code = 0
    if offsets.shape[0] < 2 or n_cutoffs == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            at = &out[0] + query * n_cutoffs
            sum_ideal(
                doubles(gain) + offsets[query], integers(count) + offsets[query], offsets[query + 1] - offsets[query],
                limits[query] if limited else INT64_MAX, &discount, &cutoffs[0], n_cutoffs, at,
            )
            if not all_finite(at, n_cutoffs):
                code = NOT_FINITE
                break
    return (code, query, -1) if code else None


cdef void find_relevant(
    Py_ssize_t start, Py_ssize_t stop, const double* grade, const int64_t* first, const int64_t* last, double rel,
    int ties, double before, const int64_t* cutoffs, Py_ssize_t n_cutoffs, double* out
) noexcept nogil:
    """Write the value at each cut-off; `before`: that of those before the first relevant hit."""
    cdef Py_ssize_t i = start, j, index, done = 0
    cdef int64_t a = 1, b = 1, rank, size, step, relevant = 0
    cdef double value = 0.0, p
    while i < stop:
        a = first[i]
        b = last[i]
        j = group_stop(first, i, stop) if b > a else i + 1
        for index in range(i, j):
            relevant += grade[index] >= rel
        if relevant:
            break
        i = j
    size = b - a + 1
    rank = b - relevant + 1 if ties == WORST else a
    while done < n_cutoffs and (not relevant or cutoffs[done] < rank):
        out[done] = before
        done += 1
    if ties == AVERAGE:
        p = <double>relevant / <double>size
        step = 1
        while step <= size - relevant + 1 and done < n_cutoffs:
            value += p / <double>(a - 1 + step)
            while done < n_cutoffs and cutoffs[done] == a - 1 + step:
                out[done] = value
                done += 1
            if step < size:
                p = p * <double>(size - step - relevant + 1) / <double>(size - step)
            step += 1
    else:
        value = 1.0 / <double>rank
    while done < n_cutoffs:
        out[done] = value
        done += 1


def first_relevant(
    const int64_t[::1] offsets, const double[::1] grade, const int64_t[::1] first, const int64_t[::1] last,
    const int64_t[::1] judged_offsets, const double[::1] judged_grade, double rel, int ties, double empty,
    const int64_t[::1] cutoffs, double[::1] out
):
    cdef Py_ssize_t query, n_cutoffs = cutoffs.shape[0]
    cdef bint judged
    if offsets.shape[0] < 2 or n_cutoffs == 0:
        return None
    with nogil:
        for query in range(offsets.shape[0] - 1):
            judged = judged_offsets[query] < judged_offsets[query + 1]
            judged = judged and judged_grade[judged_offsets[query]] >= rel
            find_relevant(
                offsets[query], offsets[query + 1], doubles(grade), integers(first), integers(last), rel, ties,
                0.0 if judged else empty, &cutoffs[0], n_cutoffs, &out[0] + query * n_cutoffs,
            )
    return None


# normaliser

cdef int quotient(double value, double ideal, double empty, bint bounded, double* out) noexcept nogil:
    if bounded and value > ideal:
        out[0] = 1.0
        return 0 if value <= ideal * (1.0 + TOLERANCE) + TINY else ABOVE_IDEAL
    out[0] = empty
    if ideal != 0.0:
        out[0] = value / ideal
        if not finite(out[0]):
            return NOT_FINITE
    return 0


def normalise(const double[::1] values, const double[::1] ideals, double empty, bint bounded, double[::1] out):
    cdef Py_ssize_t query = 0
    cdef int code = 0
    with nogil:
        for query in range(values.shape[0]):
            code = quotient(values[query], ideals[query], empty, bounded, &out[query])
            if code:
                break
    return (code, query, -1) if code else None


# one-list doors; they keep the GIL, and so are for lists too short to gain by letting it go

cdef struct Result:
    # What a door returns: a value, or what is wrong and where.
    double value
    int code
    Py_ssize_t position


cdef Result dcg_one(
    const double* grades, Py_ssize_t n, bint exponential, const Discount* discount, int64_t depth
) noexcept nogil:
    cdef Result result
    cdef Py_ssize_t index
    cdef double gain
    n = <Py_ssize_t>min(<int64_t>n, depth)
    result.position = -1
    result.value = 0.0
    result.code = first_fault(grades, n, exponential, &result.position)
    if result.code == 0:
        for index in range(n):
            if grades[index] != 0.0:  # which has no gain, and most have none
                gain = exp2(grades[index]) - 1.0 if exponential else grades[index]
                result.value += gain * weight(discount, index + 1)
        if not finite(result.value):
            result.code = NOT_FINITE
    return result


cdef Result idcg_one(
    const double* grades, Py_ssize_t n, bint exponential, const Discount* discount, int64_t depth, Workspace* space
) noexcept nogil:
    cdef Result result
    cdef Py_ssize_t index, written = 0
    result.position = -1
    result.value = 0.0
    result.code = first_fault(grades, n, True, &result.position) if exponential else 0
    if result.code == 0:
        result.code = count_grades(
            grades, n, depth, space.entries, space.spare, space.distinct, space.counts, &written, &result.position
        )
    if result.code == 0:
        if exponential:
            for index in range(written):
                space.distinct[index] = exp2(space.distinct[index]) - 1.0
        sum_ideal(space.distinct, space.counts, written, INT64_MAX, discount, &depth, 1, &result.value)
        if not finite(result.value):
            result.code = NOT_FINITE
    return result


cdef Result ndcg_one(
    const double* grades, Py_ssize_t n, const double* judged, Py_ssize_t n_judged, bint exponential,
    const Discount* discount, int64_t depth, bint returned, bint bounded, double empty, bint own, Workspace* space
) noexcept nogil:
    cdef Result result = dcg_one(grades, n, exponential, discount, depth)
    cdef double value = result.value
    if result.code:
        return result
    if returned:  # the ideal of an empty list is that of one document: a list that returned nothing earns 0
        depth = min(depth, max(<int64_t>n, 1))
    result = idcg_one(judged, n_judged, exponential, discount, depth, space)
    if result.code:
        result.code += 0 if own else IN_JUDGED
        return result
    result.code = quotient(value, result.value, empty, bounded, &result.value)
    return result


cdef Result rr_one(const double* grades, Py_ssize_t n, int64_t depth, double rel) noexcept nogil:
    cdef Result result
    cdef Py_ssize_t index
    n = <Py_ssize_t>min(<int64_t>n, depth)
    result.position = -1
    result.value = 0.0
    result.code = first_fault(grades, n, False, &result.position)
    if result.code == 0:
        for index in range(n):
            if grades[index] >= rel:
                result.value = 1.0 / <double>(index + 1)
                break
    return result


cdef inline object answer(Result result):
    return None if result.code else result.value


cdef struct List:
    # One list of numbers and the scratch for its ideal; on the stack where it is short.
    double* values
    Py_ssize_t n
    Workspace space
    void* block
    double short_values[SHORT_LIST]
    Entry short_entries[2 * SHORT_LIST]
    double short_distinct[SHORT_LIST]
    int64_t short_counts[SHORT_LIST]


cdef int reserve_list(List* one, Py_ssize_t n, bint scratch) except -1:
    """Room for n numbers and, where they are to be ordered, scratch; `close_list` gives it back."""
    one.n = n
    one.block = NULL
    one.space.block = NULL
    if n <= SHORT_LIST:
        one.values = one.short_values
        one.space.entries = one.short_entries
        one.space.spare = one.short_entries + SHORT_LIST
        one.space.distinct = one.short_distinct
        one.space.counts = one.short_counts
        return 0
    one.block = malloc(n * sizeof(double))
    if one.block == NULL:
        raise MemoryError
    one.values = <double*>one.block
    if scratch:
        try:
            reserve(&one.space, n)
        except MemoryError:
            close_list(one)
            raise
    return 0


cdef void close_list(List* one) noexcept nogil:
    release(&one.space)
    free(one.block)


cdef bint open_list(List* one, object grades, bint scratch) except -1:
    """Copy the numbers of a list, a tuple or an array; False, and nothing to close, for what takes the long way."""
    if type(grades) is list or type(grades) is tuple:
        if len(grades) > LONGEST_LIST:
            return False
        reserve_list(one, len(grades), scratch)
        if read_objects(one, grades):
            return True
        close_list(one)
        return False
    return type(grades) is ndarray and open_array(one, grades, scratch)


cdef bint read_objects(List* one, object grades) noexcept:
    cdef Py_ssize_t index
    cdef int64_t whole
    cdef int overflow
    cdef bint listed = type(grades) is list
    try:
        for index in range(one.n):
            if listed:
                number = PyList_GetItemRef(grades, index)  # checked, for another thread may shorten the list
            else:
                number = <object>PyTuple_GetItem(grades, index)
            if type(number) is int:
                whole = PyLong_AsLongLongAndOverflow(number, &overflow)
                if overflow or not -MOST_WHOLE <= whole <= MOST_WHOLE:
                    return False
                one.values[index] = <double>whole
            elif isinstance(number, float):
                one.values[index] = number
            else:
                return False
    except IndexError:
        return False
    return True


cdef bint open_array(List* one, object array, bint scratch) except -1:
    cdef Py_buffer view
    cdef bint read = False
    if PyObject_GetBuffer(array, &view, PyBUF_FORMAT | PyBUF_STRIDES):
        PyErr_Clear()  # no numbers, and the long way says so
        return False
    try:
        if view.ndim == 1 and view.shape[0] <= LONGEST_LIST:
            reserve_list(one, view.shape[0], scratch)
            read = read_buffer(one.values, &view)
            if not read:
                close_list(one)
    finally:
        PyBuffer_Release(&view)
    return read


cdef bint read_buffer(double* values, const Py_buffer* view) noexcept nogil:
    """Widen the numbers of a buffer; False where they are not aligned, or not of the widths and order of C."""
    cdef const char* at = <const char*>view.buf
    cdef Py_ssize_t n = view.shape[0], step = view.strides[0], index
    cdef char form = view.format[0]
    if form == 0 or view.format[1] or (<size_t>at | <size_t>step) % <size_t>view.itemsize:
        return False
    if form == b"d":
        widen(<const double*>at, step, n, values)
    elif form == b"f":
        widen(<const float*>at, step, n, values)
    elif form == b"?":
        for index in range(n):
            values[index] = at[index * step] != 0
    elif form == b"B":
        widen(<const unsigned char*>at, step, n, values)
    elif form == b"b":
        widen(<const signed char*>at, step, n, values)
    elif form == b"h":
        widen(<const short*>at, step, n, values)
    elif form == b"H":
        widen(<const unsigned short*>at, step, n, values)
    elif form == b"i":
        widen(<const int*>at, step, n, values)
    elif form == b"I":
        widen(<const unsigned int*>at, step, n, values)
    elif form == b"l":
        widen(<const long*>at, step, n, values)
    elif form == b"L":
        widen(<const unsigned long*>at, step, n, values)
    elif form == b"q":
        widen(<const long long*>at, step, n, values)
    elif form == b"Q":
        widen(<const unsigned long long*>at, step, n, values)
    else:
        return False
    return True


ctypedef fused element_t:
    double
    float
    unsigned char
    signed char
    short
    unsigned short
    int
    unsigned int
    long
    unsigned long
    long long
    unsigned long long


cdef inline void widen(const element_t* first, Py_ssize_t step, Py_ssize_t n, double* values) noexcept nogil:
    """Read n numbers that stand `step` bytes apart."""
    cdef Py_ssize_t index
    for index in range(n):
        values[index] = <double>(<const element_t*>(<const char*>first + index * step))[0]


@cython.auto_pickle(False)
@cython.binding(False)  # calls of such methods cost least
@cython.embedsignature(True)
@cython.embedsignature.format("clinic")
cdef class Door:
    """The functions on one list, with their settings."""

    cdef Discount discount
    cdef const double[::1] table  # what the discount points to
    cdef bint exponential
    cdef int64_t depth
    cdef double empty
    cdef double rel

    def __cinit__(
        self, bint exponential, const double[::1] table, int kind, double base, int64_t depth, double empty, double rel
    ):
        self.table = table
        self.discount = discount_of(table, kind, base)
        self.exponential = exponential
        self.depth = depth
        self.empty = empty
        self.rel = rel

    def dcg(self, grades, /):
        cdef List one
        cdef Result result
        if not open_list(&one, grades, False):
            return None
        result = dcg_one(one.values, one.n, self.exponential, &self.discount, self.depth)
        close_list(&one)
        return answer(result)

    def idcg(self, grades, /):
        cdef List one
        cdef Result result
        if not open_list(&one, grades, True):
            return None
        result = idcg_one(one.values, one.n, self.exponential, &self.discount, self.depth, &one.space)
        close_list(&one)
        return answer(result)

    def ndcg(self, grades, /):
        cdef List one
        cdef Result result
        if not open_list(&one, grades, True):
            return None
        result = ndcg_one(
            one.values, one.n, one.values, one.n, self.exponential, &self.discount, self.depth, False, True,
            self.empty, True, &one.space,
        )
        close_list(&one)
        return answer(result)

    def rr(self, grades, /):
        cdef List one
        cdef Result result
        if not open_list(&one, grades, False):
            return None
        result = rr_one(one.values, one.n, self.depth, self.rel)
        close_list(&one)
        return answer(result)


# many lists, of numbers of any type

cdef inline double sum_tail(
    const number_t* grades, Py_ssize_t start, Py_ssize_t stop, const Discount* discount, double total
) noexcept nogil:
    """Go on with the sum of a list; NaN where a grade is negative."""
    cdef Py_ssize_t index
    for index in range(start, stop):
        total += <double>grades[index] * weight(discount, index + 1)
        if grades[index] < 0:
            return NAN
    return total


cdef void sum_each(
    const number_t* grades, const int64_t* offsets, Py_ssize_t queries, const Discount* discount, int64_t depth,
    double* out
) noexcept nogil:
    """The DCG of each list with linear gain; NaN, or infinite, where a grade is no grade.

    Each sum waits for its own additions, so four lists are summed at once: each in the order of its ranks, as ever.
    """
    cdef const number_t* a
    cdef const number_t* b
    cdef const number_t* c
    cdef const number_t* d
    cdef const double* table = discount.table
    cdef Py_ssize_t query = 0, index, n, stop
    cdef double w, x, y, z
    cdef bint negative
    while query < queries:
        n = 0
        if query + 4 <= queries:
            n = <Py_ssize_t>min(depth, discount.size)
            for index in range(query, query + 4):
                n = min(n, <Py_ssize_t>(offsets[index + 1] - offsets[index]))
        for index in range(query + 8, min(query + 12, queries)):  # of long rows only the first few are summed
            prefetch(grades + offsets[index])
            prefetch(grades + offsets[index] + min(n, 8) - 1)
        if n:
            a = grades + offsets[query]
            b = grades + offsets[query + 1]
            c = grades + offsets[query + 2]
            d = grades + offsets[query + 3]
            w = x = y = z = 0.0
            negative = False
            for index in range(n):
                w += <double>a[index] * table[index]
                x += <double>b[index] * table[index]
                y += <double>c[index] * table[index]
                z += <double>d[index] * table[index]
                negative |= (a[index] < 0) | (b[index] < 0) | (c[index] < 0) | (d[index] < 0)
            out[query] = NAN if negative else w
            out[query + 1] = NAN if negative else x
            out[query + 2] = NAN if negative else y
            out[query + 3] = NAN if negative else z
        for index in range(query, min(query + 4, queries)):
            stop = <Py_ssize_t>min(offsets[index + 1] - offsets[index], depth)
            if stop > n or n == 0:
                out[index] = sum_tail(grades + offsets[index], n, stop, discount, out[index] if n else 0.0)
        query += 4


cdef int sum_lists(
    const Numbers* grades, const int64_t* offsets, Py_ssize_t queries, bint exponential, const Discount* discount,
    int64_t depth, Workspace* space, double* out, Py_ssize_t* query, Py_ssize_t* position
) noexcept nogil:
    """The DCG of each list; or the code of what is wrong, at the query and the position."""
    cdef Py_ssize_t n
    cdef Result result
    if not exponential:
        if grades.kind == FLOAT64:
            sum_each(<const double*>grades.view.buf, offsets, queries, discount, depth, out)
        elif grades.kind == FLOAT32:
            sum_each(<const float*>grades.view.buf, offsets, queries, discount, depth, out)
        elif grades.kind == INT64:
            sum_each(<const int64_t*>grades.view.buf, offsets, queries, discount, depth, out)
        elif grades.kind == INT32:
            sum_each(<const int32_t*>grades.view.buf, offsets, queries, discount, depth, out)
        else:
            sum_each(<const uint8_t*>grades.view.buf, offsets, queries, discount, depth, out)
    for query[0] in range(queries):
        if exponential or not finite(out[query[0]]):
            n = <Py_ssize_t>min(offsets[query[0] + 1] - offsets[query[0]], depth)
            result = dcg_one(
                doubles_of(grades, offsets[query[0]], n, space.scores), n, exponential, discount, depth
            )
            if result.code:
                position[0] = result.position
                return result.code
            out[query[0]] = result.value
    return 0


cdef Result ideal_of(
    const Numbers* grades, int64_t start, Py_ssize_t n, bint exponential, const Discount* discount, int64_t depth,
    Workspace* space
) noexcept nogil:
    """`idcg_one` of numbers of any type."""
    cdef Result result
    cdef Py_ssize_t index, written = 0
    result.position = -1
    result.value = 0.0
    result.code = count_numbers(
        grades, start, n, depth, space, space.distinct, space.counts, &written, &result.position
    )
    if exponential and (result.code or (written and space.distinct[0] >= 1024.0)):
        result.code = first_fault(doubles_of(grades, start, n, space.scores), n, True, &result.position)
    if result.code == 0:
        if exponential:
            for index in range(written):
                space.distinct[index] = exp2(space.distinct[index]) - 1.0
        sum_ideal(space.distinct, space.counts, written, INT64_MAX, discount, &depth, 1, &result.value)
        if not finite(result.value):
            result.code = NOT_FINITE
    return result


def dcg_lists(
    grades, const int64_t[::1] offsets, bint exponential, const double[::1] table, int kind, double base,
    int64_t depth, double[::1] out
):
    cdef Discount discount = discount_of(table, kind, base)
    cdef Py_ssize_t query = 0, position = -1
    cdef Numbers numbers
    cdef Workspace space
    cdef int code = 0
    if out.shape[0] == 0:
        return None
    reserve(&space, longest(integers(offsets), out.shape[0]))
    open_numbers(&numbers, grades)
    with nogil:
        code = sum_lists(
            &numbers, integers(offsets), out.shape[0], exponential, &discount, depth, &space, &out[0], &query,
            &position,
        )
        release(&space)
    close_numbers(&numbers)
    return (code, query, position) if code else None


def idcg_lists(
    grades, const int64_t[::1] offsets, bint exponential, const double[::1] table, int kind, double base,
    int64_t depth, double[::1] out
):
    cdef Discount discount = discount_of(table, kind, base)
    cdef Py_ssize_t query = 0
    cdef Numbers numbers
    cdef Workspace space
    cdef Result result
    result.code = 0
    reserve(&space, longest(integers(offsets), out.shape[0]))
    open_numbers(&numbers, grades)
    with nogil:
        for query in range(out.shape[0]):
            result = ideal_of(
                &numbers, offsets[query], offsets[query + 1] - offsets[query], exponential, &discount, depth, &space
            )
            if result.code:
                break
            out[query] = result.value
        release(&space)
    close_numbers(&numbers)
    return (result.code, query, result.position) if result.code else None


def ndcg_lists(
    grades, const int64_t[::1] offsets, judged, const int64_t[::1] judged_offsets, bint exponential,
    const double[::1] table, int kind, double base, int64_t depth, bint returned, bint bounded, double empty,
    double[::1] out
):
    cdef Discount discount = discount_of(table, kind, base)
    cdef bint own = judged is None
    cdef const int64_t* starts = integers(offsets) if own else integers(judged_offsets)
    cdef Py_ssize_t query = 0, position = -1
    cdef Numbers numbers, truth
    cdef Workspace space
    cdef Result result
    cdef int code = 0
    if out.shape[0] == 0:
        return None
    reserve(&space, max(longest(integers(offsets), out.shape[0]), longest(starts, out.shape[0])))
    open_numbers(&numbers, grades)
    open_numbers(&truth, grades if own else judged)
    with nogil:
        code = sum_lists(
            &numbers, integers(offsets), out.shape[0], exponential, &discount, depth, &space, &out[0], &query,
            &position,
        )
        for query in range(0 if code else out.shape[0]):
            result = ideal_of(
                &truth, starts[query], starts[query + 1] - starts[query], exponential, &discount,
                # the ideal of an empty list is that of one document: a list that returned nothing earns 0
                min(depth, max(offsets[query + 1] - offsets[query], 1)) if returned else depth, &space,
            )
            code = result.code
            position = result.position
            if code:
                code += 0 if own else IN_JUDGED
                break
            code = quotient(out[query], result.value, empty, bounded, &out[query])
            if code:
                break
        release(&space)
    close_numbers(&numbers)
    close_numbers(&truth)
    return (code, query, position) if code else None


def rr_lists(grades, const int64_t[::1] offsets, int64_t depth, double rel, double[::1] out):
    cdef Py_ssize_t query = 0, n
    cdef Numbers numbers
    cdef Workspace space
    cdef Result result
    result.code = 0
    reserve(&space, longest(integers(offsets), out.shape[0]))
    open_numbers(&numbers, grades)
    with nogil:
        for query in range(out.shape[0]):
            n = <Py_ssize_t>min(offsets[query + 1] - offsets[query], depth)
            result = rr_one(doubles_of(&numbers, offsets[query], n, space.scores), n, depth, rel)
            if result.code:
                break
            out[query] = result.value
        release(&space)
    close_numbers(&numbers)
    return (result.code, query, result.position) if result.code else None
