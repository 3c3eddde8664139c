"""The kernels over dicts and the objects in them, compiled.

The functions of `_reference_readers`, which is their specification, with its bits.
"""

cimport cython
from cpython.bytes cimport PyBytes_AsStringAndSize, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_Next
from cpython.ref cimport PyObject
from libc.float cimport DBL_MAX
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from rankgain._codes cimport (
    CHANGED, DOCID, GRADE_TYPE, INFINITE_GRADE, LARGE_ID, LONE_SURROGATE, MIXED_IDS, NAN_GRADE, NAN_SCORE, OTHER_IDS,
    SCORE_TYPE, STABLE,
)
from rankgain._ordering cimport (
    Workspace, count_higher, doubles, integers, longest, rank_entries, release, reserve,
)

from rankgain._reference_readers import _encoded, highest_first
from rankgain.scalars import id_fault, id_kind, real

cdef extern from "Python.h":
    int PyFloat_CheckExact(PyObject*)
    int PyLong_CheckExact(PyObject*)
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    double PyFloat_AsDouble(PyObject*)
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*)
    void PyErr_Clear()


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
    dict truth, Py_ssize_t n, double[::1] grades, list documents, Py_ssize_t* position
) except -1:
    """Append the documents and their grades; the code of what is wrong at the position, or 0."""
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
            grades[len(documents)] = grade
            documents.append(document)
            index += 1
    return CHANGED if code == 0 and index != n else code


def read_judged(list truths, list documents, double[::1] grades, int64_t[::1] offsets):
    cdef Py_ssize_t query, n, position = -1
    cdef int code = 0
    cdef dict truth
    sizes = [len(truth) for truth in truths]
    offsets[0] = 0
    for query in range(len(truths)):
        offsets[query + 1] = offsets[query]
        if code:
            continue
        truth = truths[query]
        n = sizes[query]
        if len(truth) != n or len(documents) + n > grades.shape[0]:
            code = CHANGED
        else:
            code = read_truth(truth, n, grades, documents, &position)
        if code:
            fault = code, query, -1 if code == CHANGED else position
        else:
            offsets[query + 1] = len(documents)
    return fault if code else None


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


cdef list hit_documents(
    list documents, Py_ssize_t start, Py_ssize_t stop, const double* grades, bint zeros, Workspace* space
):
    """The judged documents that are hits wherever they are returned; their grades go into the spare entries."""
    cdef Py_ssize_t index
    cdef list found = []
    for index in range(start, stop):
        if grades[index] > 0.0 or (zeros and grades[index] == 0.0):
            space.spare[len(found)].grade = grades[index]
            found.append(documents[index])
    return found


def hits_matched(
    list documents, const int64_t[::1] truth_offsets, const double[::1] grades, list runs, int64_t depth, bint zeros,
    int ties, int64_t[::1] hit_offsets, double[::1] hit_grade, int64_t[::1] hit_first, int64_t[::1] hit_last
):
    cdef Py_ssize_t query, index, n, start, stop, m, kept, most, count = 0, position = -1
    cdef Workspace space
    cdef double* scores = NULL
    cdef double* grade_at
    cdef int64_t* first_at
    cdef int64_t* last_at
    cdef dict run
    cdef list sought
    cdef bint exact
    cdef int code
    sizes = [len(run) for run in runs]
    most = max(longest(integers(truth_offsets), truth_offsets.shape[0] - 1), max(sizes, default=0))
    hit_offsets[0] = 0
    reserve(&space, most)
    try:
        scores = <double*>malloc(most * sizeof(double) + 1)
        if scores == NULL:
            raise MemoryError
        for query in range(len(runs)):
            run = runs[query]
            n = sizes[query]
            if len(run) != n:
                return CHANGED, query, -1
            exact = True
            code = read_run(run, n, scores, &exact, &position)
            if code:
                return code, query, -1 if code == CHANGED else position
            if not exact:
                run = {document: scores[index] for index, document in enumerate(list(run)) if index < n}
            start = truth_offsets[query]
            stop = truth_offsets[query + 1]
            sought = hit_documents(documents, start, stop, doubles(grades), zeros, &space)
            m = find_documents(sought, run, &space) if sought else 0
            if m < 0 or len(run) != n:  # comparing ids may run foreign code
                return CHANGED, query, -1
            if m:
                grade_at = &hit_grade[0] + count
                first_at = &hit_first[0] + count
                last_at = &hit_last[0] + count
                kept = rank_entries(scores, n, m, depth, False, &space, grade_at, first_at, last_at)
                if ties == DOCID or ties == STABLE:
                    kept = break_ties(
                        sought, run, scores, n, kept, depth, ties == DOCID, &space, grade_at, first_at, last_at
                    )
                    if kept < 0:
                        return -kept, query, -1
                count += kept
            elif n and start < stop and id_kind(documents[start]) is not id_kind(next(iter(run))):
                if run.keys().isdisjoint(documents[start:stop]):
                    return OTHER_IDS, query, -1
            hit_offsets[query + 1] = count
        return None
    finally:
        release(&space)
        free(scores)


# ids

def pack_integers(list values, int64_t[::1] numbers):
    cdef Py_ssize_t position
    cdef int overflow = 0
    for position in range(len(values)):
        value = values[position]
        if not PyLong_CheckExact(<PyObject*>value):
            if id_kind(value) is not int:
                return id_fault(value, position)
            value = int(value)
        numbers[position] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return LARGE_ID, 0, position
    return None


cdef struct Text:
    char* data
    Py_ssize_t size
    Py_ssize_t room


cdef inline int append(Text* text, const char* data, Py_ssize_t size) except -1:
    cdef char* grown
    if text.size + size > text.room:
        text.room = max(2 * text.room, text.size + size)
        grown = <char*>realloc(text.data, text.room)
        if grown == NULL:
            raise MemoryError
        text.data = grown
    memcpy(text.data + text.size, data, size)
    text.size += size
    return 0


def pack_ids(list values, bint text, int64_t[::1] ends):
    cdef Py_ssize_t position = 0, size = 0
    cdef const char* data
    cdef char* held
    cdef Text packed
    packed.size = 0
    packed.room = 16 * len(values) + 16
    packed.data = <char*>malloc(packed.room)
    try:
        if packed.data == NULL:
            raise MemoryError
        for position in range(len(values)):
            value = values[position]
            if text and isinstance(value, str):
                data = PyUnicode_AsUTF8AndSize(value, &size)
                if data == NULL:
                    PyErr_Clear()
                    value = _encoded(value)
                    if value is None:
                        return b"", (LONE_SURROGATE, 0, position)
                    PyBytes_AsStringAndSize(value, &held, &size)
                    data = held
            elif not text and isinstance(value, bytes):
                PyBytes_AsStringAndSize(value, &held, &size)
                data = held
            else:
                return b"", id_fault(value, position)
            append(&packed, data, size)
            ends[position] = packed.size
        return PyBytes_FromStringAndSize(packed.data, packed.size), None
    finally:
        free(packed.data)
