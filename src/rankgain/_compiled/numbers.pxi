# Numbers of the types that callers hold, scratch, and what is wrong with a grade.
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.float cimport DBL_MAX
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from rankgain._codes cimport INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE


cdef int open_numbers(Numbers* numbers, object array) except -1:
    """Look at the buffer of an array, which is of one of the types above; `close_numbers` lets it go."""
    cdef const char* at
    cdef char form
    PyObject_GetBuffer(array, &numbers.view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    at = numbers.view.format
    form = at[1] if at[1] else at[0]  # what stands before it says whose order that is: the machine's
    if form == b"d":
        numbers.kind = FLOAT64
    elif form == b"f":
        numbers.kind = FLOAT32
    elif form == b"B":
        numbers.kind = UINT8
    else:  # int, long or long long
        numbers.kind = INT64 if numbers.view.itemsize == 8 else INT32
    return 0


cdef void close_numbers(Numbers* numbers) noexcept:
    PyBuffer_Release(&numbers.view)


cdef inline double number_at(const Numbers* numbers, int64_t index) noexcept nogil:
    if numbers.kind == FLOAT64:
        return (<const double*>numbers.view.buf)[index]
    if numbers.kind == INT64:
        return <double>(<const int64_t*>numbers.view.buf)[index]
    if numbers.kind == FLOAT32:
        return (<const float*>numbers.view.buf)[index]
    if numbers.kind == INT32:
        return (<const int32_t*>numbers.view.buf)[index]
    return (<const uint8_t*>numbers.view.buf)[index]


cdef inline void widen(const number_t* numbers, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(n):
        out[index] = <double>numbers[index]


cdef const double* doubles_of(const Numbers* numbers, int64_t start, Py_ssize_t n, double* scratch) noexcept nogil:
    """The numbers as float64, where they stand or copied into the scratch."""
    if numbers.kind == FLOAT64:
        return <const double*>numbers.view.buf + start
    if numbers.kind == FLOAT32:
        simd.widen(<const float*>numbers.view.buf + start, n, scratch)
    elif numbers.kind == INT64:
        widen(<const int64_t*>numbers.view.buf + start, n, scratch)
    elif numbers.kind == INT32:
        widen(<const int32_t*>numbers.view.buf + start, n, scratch)
    else:
        widen(<const uint8_t*>numbers.view.buf + start, n, scratch)
    return scratch


# scratch

cdef size_t workspace_size(Py_ssize_t n) noexcept nogil:
    """The bytes of scratch for a query of n documents, after which any number may stand."""
    cdef size_t per_document = 2 * sizeof(Entry) + sizeof(Step) + 6 * sizeof(double) + 3 * sizeof(int32_t)
    cdef size_t size = (<size_t>n + ROOM) * per_document
    size += SPREAD * <size_t>min(n, <Py_ssize_t>SPREAD_FEW) * sizeof(int32_t)
    return size + -size % sizeof(double)


cdef void lay_out(Workspace* space, void* block, Py_ssize_t n) noexcept nogil:
    """Part a block of so many bytes, aligned as any number must be."""
    cdef size_t length = <size_t>n + ROOM
    space.block = block
    space.entries = <Entry*>block
    space.other = space.entries + length
    space.steps = <Step*>(space.other + length)
    space.distinct = <double*>(space.steps + length)
    space.scores = space.distinct + length
    space.near = space.scores + length
    space.place = <Py_ssize_t*>(space.near + length)
    space.counts = <int64_t*>(space.place + length)
    space.parted = <double*>(space.counts + length)
    space.bucket = <int32_t*>(space.parted + length)
    space.origin = space.bucket + length
    space.starts = space.origin + length


cdef int reserve(Workspace* space, Py_ssize_t n) except -1:
    """Scratch for a query of n documents, in one block; what is not used takes no memory."""
    cdef void* block = malloc(workspace_size(n))
    if block == NULL:
        raise MemoryError
    lay_out(space, block, n)
    return 0


cdef void release(Workspace* space) noexcept nogil:
    free(space.block)


cdef Py_ssize_t longest(const int64_t* offsets, Py_ssize_t queries) noexcept nogil:
    cdef Py_ssize_t query, most = 0
    for query in range(queries):
        most = max(most, <Py_ssize_t>(offsets[query + 1] - offsets[query]))
    return most


# grades

cdef inline bint sound(double grade) noexcept nogil:
    return grade >= 0.0 and grade <= DBL_MAX  # false for NaN


cdef int grade_code(double grade) noexcept nogil:
    if grade != grade:
        return NAN_GRADE
    return NEGATIVE_GRADE if -DBL_MAX <= grade <= DBL_MAX else INFINITE_GRADE


cdef int first_error(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, Py_ssize_t* position
) noexcept nogil:
    cdef Py_ssize_t index
    cdef double grade
    for index in range(n):
        grade = grades[index * stride]
        if not sound(grade) or (exponential and grade >= 1024.0):
            position[0] = index
            return LARGE_GRADE if sound(grade) else grade_code(grade)
    return 0
