# Read arrays of any dtype as float64, allocate scratch memory, and check grades.
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.float cimport DBL_MAX
from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from rankgain._codes cimport INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE


cdef int open_numbers(Numbers* numbers, object array) except -1:
    """Open the buffer of an array with a supported dtype; `close_numbers` releases the buffer."""
    cdef const char* at
    cdef char form
    PyObject_GetBuffer(array, &numbers.view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    at = numbers.view.format
    form = at[1] if at[1] else at[0]  # skip the byte-order prefix, since all arrays here have native byte order
    if form == b"d":
        numbers.kind = FLOAT64
    elif form == b"f":
        numbers.kind = FLOAT32
    elif form == b"B":
        numbers.kind = UINT8
    else:  # format of a C int, long or long long
        numbers.kind = INT64 if numbers.view.itemsize == 8 else INT32
    return 0


cdef void close_numbers(Numbers* numbers) noexcept:
    """Release the buffer."""
    PyBuffer_Release(&numbers.view)


cdef inline double number_at(const Numbers* numbers, int64_t index) noexcept nogil:
    """Return one number as float64."""
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
    """Convert n numbers to float64."""
    cdef Py_ssize_t index
    for index in range(n):
        out[index] = <double>numbers[index]


cdef const double* doubles_of(const Numbers* numbers, int64_t start, Py_ssize_t n, double* scratch) noexcept nogil:
    """Return a pointer to the numbers as float64. Numbers of any other type are first converted into `scratch`."""
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


# allocating scratch memory

cdef size_t workspace_size(Py_ssize_t n) noexcept nogil:
    """Return the scratch size in bytes for a query of n documents. It is a multiple of the size of a double."""
    cdef size_t per_document = 2 * sizeof(Entry) + sizeof(Step) + 6 * sizeof(double) + 3 * sizeof(int32_t)
    cdef size_t size = (<size_t>n + PADDING) * per_document
    size += BUCKETS_PER_ENTRY * <size_t>min(n, <Py_ssize_t>SPARSE_BUCKETS_MAX) * sizeof(int32_t)
    return size + -size % sizeof(double)


cdef void lay_out(Workspace* space, void* block, Py_ssize_t n) noexcept nogil:
    """Lay out the arrays of a workspace in a block of `workspace_size(n)` bytes, aligned for float64."""
    cdef size_t length = <size_t>n + PADDING
    space.block = block
    space.entries = <Entry*>block
    space.other = space.entries + length
    space.steps = <Step*>(space.other + length)
    space.distinct = <double*>(space.steps + length)
    space.scores = space.distinct + length
    space.near = space.scores + length
    space.position = <Py_ssize_t*>(space.near + length)
    space.counts = <int64_t*>(space.position + length)
    space.parted = <double*>(space.counts + length)
    space.bucket = <int32_t*>(space.parted + length)
    space.origin = space.bucket + length
    space.starts = space.origin + length


cdef int reserve(Workspace* space, Py_ssize_t n) except -1:
    """Allocate scratch memory for a query of n documents in one block. Pages that are never written take no memory."""
    cdef void* block = malloc(workspace_size(n))
    if block == NULL:
        raise MemoryError
    lay_out(space, block, n)
    return 0


cdef void release(Workspace* space) noexcept nogil:
    """Free the block that `reserve` allocated."""
    free(space.block)


cdef Py_ssize_t longest(const int64_t* offsets, Py_ssize_t queries) noexcept nogil:
    """Return the length of the longest query, or 0 if there is none."""
    cdef Py_ssize_t query, most = 0
    for query in range(queries):
        most = max(most, <Py_ssize_t>(offsets[query + 1] - offsets[query]))
    return most


# checking grades

cdef inline bint is_grade(double grade) noexcept nogil:
    """Return whether a grade of a list is finite and not negative."""
    return grade >= 0.0 and grade <= DBL_MAX  # false for NaN


cdef int grade_code(double grade) noexcept nogil:
    """Return the error code of a grade for which `is_grade` is false."""
    if isnan(grade):
        return NAN_GRADE
    return NEGATIVE_GRADE if -DBL_MAX <= grade <= DBL_MAX else INFINITE_GRADE


cdef int first_error(
    const double* grades, Py_ssize_t n, Py_ssize_t stride, bint exponential, Py_ssize_t* position
) noexcept nogil:
    """Return the error code of the first invalid grade and set `position`, or return 0 and leave it."""
    cdef Py_ssize_t index
    cdef double grade
    for index in range(n):
        grade = grades[index * stride]
        if not is_grade(grade) or (exponential and grade >= 1024.0):
            position[0] = index
            return LARGE_GRADE if is_grade(grade) else grade_code(grade)
    return 0
