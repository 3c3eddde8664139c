"""The kernels over dicts, ids and bytes, compiled.

The functions of `_reference_readers`, which is their specification, with its bits.
"""

cimport cython
from cpython.bytes cimport PyBytes_AsStringAndSize, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_Next
from cpython.ref cimport PyObject
from libc.float cimport DBL_MAX
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp

from rankgain._codes cimport (
    CHANGED, DOCID, DUPLICATE, FEW_FIELDS, GRADE_TYPE, INFINITE_GRADE, MIXED_IDS, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER,
    OTHER_IDS, SCORE_TYPE, STABLE,
)
from rankgain._ordering cimport Workspace, count_higher, rank_entries, release, reserve

from rankgain._reference_readers import decimal, highest_first, id_kind
from rankgain.scalars import real

cdef extern from "Python.h":
    int PyFloat_CheckExact(PyObject*)
    int PyLong_CheckExact(PyObject*)
    double PyFloat_AsDouble(PyObject*)
    PyObject* PyDict_GetItemWithError(object, object) except? NULL


# dicts

cdef inline int read_number(PyObject* value, double* out, dict holder, Py_ssize_t n, int otherwise) except -1:
    """Write the float64 of a number and return 0; else the code of what is wrong with it.

    `holder`: the dict of n items that is being walked, and may not be changed by the code that a number runs.
    """
    if PyFloat_CheckExact(value):
        out[0] = PyFloat_AsDouble(value)
        return 0
    return read_other_number(<object>value, out, holder, n, otherwise)


cdef int read_other_number(object value, double* out, dict holder, Py_ssize_t n, int otherwise) except -1:
    if PyLong_CheckExact(<PyObject*>value) and -(1 << 53) <= value <= 1 << 53:
        out[0] = <double>value
        return 0
    found = real(value)
    if len(holder) != n:
        return CHANGED
    if found is None:
        return otherwise
    out[0] = found
    return 0


cdef int read_run(dict run, Py_ssize_t n, double* scores, bint* exact, Py_ssize_t* position) except -1:
    """Write the scores in the dict's order; return the code of what is wrong at the position, or 0.

    `exact`: whether all of them are float, so that to read one again is to read the same.
    """
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t at = 0, index = 0
    cdef int code = 0
    with cython.critical_section(run):
        while index < n and PyDict_Next(run, &at, &key, &value):
            position[0] = index
            exact[0] = exact[0] and PyFloat_CheckExact(value)
            code = read_number(value, &scores[index], run, n, SCORE_TYPE)
            if code == 0 and scores[index] != scores[index]:
                code = NAN_SCORE
            if code:
                break
            index += 1
    return CHANGED if code == 0 and index != n else code


cdef int read_truth(
    dict truth, Py_ssize_t n, bint zeros, double[::1] grades, Py_ssize_t* count, list documents, Workspace* space,
    Py_ssize_t* position
) except -1:
    """Append the judged grades, and gather the documents that are hits wherever they are returned."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t at = 0, index = 0
    cdef double grade
    cdef int code = 0
    with cython.critical_section(truth):
        while index < n and PyDict_Next(truth, &at, &key, &value):
            position[0] = index
            document = <object>key  # held: reading a number may run foreign code
            code = read_number(value, &grade, truth, n, GRADE_TYPE)
            if code == 0 and not -DBL_MAX <= grade <= DBL_MAX:
                code = NAN_GRADE if grade != grade else INFINITE_GRADE
            if code:
                break
            if grade >= 0.0:
                grades[count[0]] = grade
                count[0] += 1
                if grade > 0.0 or zeros:
                    space.spare[len(documents)].grade = grade
                    documents.append(document)
            index += 1
    return CHANGED if code == 0 and index != n else code


cdef Py_ssize_t find_documents(list documents, dict run, Workspace* space) except -1:
    """Look the few judged documents up among the many returned, never the other way round.

    Less than −1: the code, negative, of what is wrong.
    """
    cdef PyObject* value
    cdef Py_ssize_t index, m = 0
    with cython.critical_section(run):
        for index in range(len(documents)):
            value = PyDict_GetItemWithError(run, documents[index])
            if value != NULL:
                if not PyFloat_CheckExact(value):
                    return -CHANGED  # all were float when they were read
                space.entries[m].key = PyFloat_AsDouble(value)
                space.entries[m].grade = space.spare[index].grade
                space.entries[m].index = index
                m += 1
    return m


cdef Py_ssize_t break_ties(
    list documents, dict run, const double* scores, Py_ssize_t n, Py_ssize_t kept, int64_t depth, bint by_id,
    Workspace* space, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) except -1:
    """Give each hit of a tie group a rank of its own, in the dict's order or by id; return how many are left.

    Less than −1: the code, negative, of what is wrong.
    """
    cdef Py_ssize_t index, low, start, stop, d = 0, written = 0
    for index in range(kept):
        if hit_last[index] > hit_first[index] and (d == 0 or space.entries[index].key != space.distinct[d - 1]):
            space.distinct[d] = space.entries[index].key
            d += 1
    if d == 0:
        return kept
    groups = [[] for _ in range(d)]
    for index, document in enumerate(list(run)):
        if index == n:
            return -CHANGED
        low = count_higher(space.distinct, d, scores[index])
        if low < d and scores[index] == space.distinct[low]:
            (<list>groups[low]).append(document)
    d = 0
    start = 0
    while start < kept:
        stop = start + 1
        if hit_last[start] > hit_first[start]:
            while stop < kept and hit_first[stop] == hit_first[start]:
                stop += 1
            group = highest_first(groups[d]) if by_id else groups[d]
            d += 1
            if group is None:
                return -MIXED_IDS
            places = {document: place for place, document in enumerate(group)}
            ranked = []
            for index in range(start, stop):
                place = places.get(documents[space.entries[index].index])
                if place is None:
                    return -CHANGED
                ranked.append((hit_first[start] + <int64_t>place, hit_grade[index]))
            ranked.sort()
        else:
            ranked = [(hit_first[start], hit_grade[start])]
        for rank, grade in ranked:
            if rank <= depth:
                hit_first[written] = hit_last[written] = rank
                hit_grade[written] = grade
                written += 1
        start = stop
    return written


def hits_matched(
    list truths, list runs, int64_t depth, bint zeros, int ties, int64_t[::1] hit_offsets, double[::1] hit_grade,
    int64_t[::1] hit_first, int64_t[::1] hit_last, int64_t[::1] grade_offsets, double[::1] grades_out
):
    cdef Py_ssize_t query, index, n, n_truth, m, kept, longest = 0, count = 0, judged = 0, position = -1
    cdef Workspace space
    cdef double* scores = NULL
    cdef double* grade_at
    cdef int64_t* first_at
    cdef int64_t* last_at
    cdef dict truth, run
    cdef list documents
    cdef bint exact
    cdef int code
    sizes = [(len(truth), len(run)) for truth, run in zip(truths, runs, strict=True)]
    for n_truth, n in sizes:
        longest = max(longest, n_truth, n)
    hit_offsets[0] = grade_offsets[0] = 0
    reserve(&space, longest)
    try:
        scores = <double*>malloc(longest * sizeof(double) + 1)
        if scores == NULL:
            raise MemoryError
        for query in range(len(truths)):
            truth = truths[query]
            run = runs[query]
            n = sizes[query][1]
            n_truth = sizes[query][0]
            if judged + n_truth > grades_out.shape[0] or len(run) != n or len(truth) != n_truth:
                return CHANGED, query, -1
            documents = []
            code = read_truth(truth, n_truth, zeros, grades_out, &judged, documents, &space, &position)
            exact = True
            code = code or read_run(run, n, scores, &exact, &position)
            if code:
                return code, query, -1 if code == CHANGED else position
            grade_offsets[query + 1] = judged
            if not exact:
                run = {document: scores[index] for index, document in enumerate(list(run)) if index < n}
            m = find_documents(documents, run, &space) if documents else 0
            if m < 0 or len(run) != n or len(truth) != n_truth:  # comparing ids may run foreign code
                return CHANGED, query, -1
            if m:
                grade_at = &hit_grade[0] + count
                first_at = &hit_first[0] + count
                last_at = &hit_last[0] + count
                kept = rank_entries(scores, n, m, depth, False, &space, grade_at, first_at, last_at)
                if ties == DOCID or ties == STABLE:
                    kept = break_ties(
                        documents, run, scores, n, kept, depth, ties == DOCID, &space, grade_at, first_at, last_at
                    )
                    if kept < 0:
                        return -kept, query, -1
                count += kept
            elif n and n_truth and id_kind(next(iter(truth))) is not id_kind(next(iter(run))):
                if truth.keys().isdisjoint(run):
                    return OTHER_IDS, query, -1
            hit_offsets[query + 1] = count
        return None
    finally:
        release(&space)
        free(scores)


# files

cdef enum:
    FIELDS = 6  # the last field that anybody reads is the sixth

cdef double POWERS[23]
POWERS[:] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]


cdef inline bint is_space(char c) noexcept nogil:
    return c == 32 or (9 <= c <= 13)  # what bytes.split() takes for white space


cdef bint read_decimal(const char* at, const char* end, double* out) noexcept nogil:
    """Plain decimals of up to 15 digits, exactly: a whole number below 2**53 and one division are both exact.

    Equals `float()`; everything else is left to it.
    """
    cdef int64_t whole = 0
    cdef int digits = 0, decimals = -1
    cdef bint negative = at < end and at[0] == c'-'
    at += negative
    while at < end:
        if c'0' <= at[0] <= c'9':
            whole = 10 * whole + (at[0] - c'0')
            digits += 1
            if digits > 15:
                return False
            decimals += decimals >= 0
        elif at[0] == c'.' and decimals < 0:
            decimals = 0
        else:
            return False
        at += 1
    if digits == 0:
        return False
    out[0] = <double>whole / POWERS[decimals] if decimals > 0 else <double>whole
    if negative:
        out[0] = -out[0]
    return True


def scan_run(bytes data, dict table):
    return scan(data, table, 6, -1, 4)


def scan_qrels(bytes data, dict table):
    return scan(data, table, 4, 4, 3)


cdef object scan(bytes data, dict table, int least, int most, int value_field):
    cdef char* at
    cdef char* line_end
    cdef char* end
    cdef char* starts[FIELDS]
    cdef char* ends[FIELDS]
    cdef char* last_query = NULL
    cdef Py_ssize_t last_length = 0, length, line = -1, fields, size
    cdef double value
    cdef dict documents = None
    PyBytes_AsStringAndSize(data, &at, &size)
    end = at + size
    while at < end:
        line += 1
        line_end = <char*>memchr(at, c'\n', end - at)
        if line_end == NULL:
            line_end = end
        fields = 0
        while True:
            while at < line_end and is_space(at[0]):
                at += 1
            if at == line_end:
                break
            if fields < FIELDS:
                starts[fields] = at
            while at < line_end and not is_space(at[0]):
                at += 1
            if fields < FIELDS:
                ends[fields] = at
            fields += 1
        at = line_end + 1
        if fields == 0:
            continue
        if fields < least or (most >= 0 and fields > most):
            return FEW_FIELDS, line, fields
        if not read_decimal(starts[value_field], ends[value_field], &value):
            found = decimal(PyBytes_FromStringAndSize(starts[value_field], ends[value_field] - starts[value_field]))
            if found is None:
                return NOT_A_NUMBER, line, value_field
            value = found
            if value != value:
                return NAN_SCORE if most < 0 else NAN_GRADE, line, value_field
            if most >= 0 and not -DBL_MAX <= value <= DBL_MAX:
                return INFINITE_GRADE, line, value_field
        length = ends[0] - starts[0]
        if documents is None or length != last_length or memcmp(starts[0], last_query, length):
            last_query = starts[0]
            last_length = length
            documents = table.setdefault(PyBytes_FromStringAndSize(last_query, length), {})
        size = len(documents)
        documents[PyBytes_FromStringAndSize(starts[2], ends[2] - starts[2])] = value
        if len(documents) == size:
            return DUPLICATE, line, 2
    return None
