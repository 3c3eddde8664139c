# Compute the ranks of judged columns in rows of scores, where each column is a document.
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from rankgain._codes cimport NAN_SCORE

cdef enum:
    REGISTER = 8  # maximum number of values per register; arrays accessed by registers are padded by this number
    STRIP = 128  # maximum number of scores per strip, which has a peak for every 16 scores
    NEAR = 1 << 12  # maximum number of scores that are copied from a row

cdef struct Matrix:
    const char* scores
    Py_ssize_t stride  # bytes from one row to the next
    Py_ssize_t columns
    bint single  # whether the scores are float32 rather than float64
    const int64_t* offsets  # offsets of the judged columns of each row
    const int32_t* judged
    const double* grades
    const int64_t* excluded_offsets
    const int32_t* excluded

cdef struct MatrixScratch:
    RowScratch row
    double* keys  # distinct scores of judged columns, in descending order
    int64_t* above
    int64_t* not_below
    double* allowed  # scores of all allowed columns; used for rows with more than MOST_KEYS keys
    void* block


cdef int prepare_matrix(
    MatrixScratch* scratch, const Matrix* matrix, Py_ssize_t judged, Py_ssize_t excluded
) except -1:
    """Allocate scratch memory for the longest row of a chunk in one block. Pages that are never written take no
    memory."""
    cdef Py_ssize_t keys = judged + REGISTER, peaks = matrix.columns // 16 + STRIP
    cdef Py_ssize_t allowed = matrix.columns if judged > MOST_KEYS else 0
    cdef RowScratch* row = &scratch.row
    scratch.block = malloc(
        (6 * keys + excluded + REGISTER + peaks + NEAR + allowed) * sizeof(double)
    )
    if scratch.block == NULL:
        raise MemoryError
    scratch.keys = <double*>scratch.block
    scratch.above = <int64_t*>(scratch.keys + keys)
    scratch.not_below = scratch.above + keys
    row.above = scratch.not_below + keys
    row.not_below = row.above + keys
    row.keys = row.not_below + keys
    row.excluded = <double*>row.keys + keys
    row.peaks = <double*>row.excluded + excluded + REGISTER
    row.near = <double*>row.peaks + peaks
    row.capacity = NEAR
    scratch.allowed = <double*>row.near + NEAR
    return 0


cdef inline double score_at(const Matrix* matrix, const char* row, Py_ssize_t column) noexcept nogil:
    """Return the score in a column, or NaN if the column is outside the row because another thread has changed it."""
    if column < 0 or column >= matrix.columns:
        return NAN
    return (<const float*>row)[column] if matrix.single else (<const double*>row)[column]


cdef Py_ssize_t allowed_scores(
    const Matrix* matrix, const char* row, const RowScratch* excluded, double* allowed
) noexcept nogil:
    """Copy the scores of allowed columns; return the first column whose score is NaN, or −1."""
    cdef Py_ssize_t column, written = 0, x = 0
    for column in range(matrix.columns):
        while x < excluded.n_excluded and excluded.columns[x] < column:
            x += 1
        if x < excluded.n_excluded and excluded.columns[x] == column:
            continue
        if score_at(matrix, row, column) != score_at(matrix, row, column):
            return column
        if allowed != NULL:
            allowed[written] = score_at(matrix, row, column)
            written += 1
    return -1


cdef int64_t equal_before(
    const Matrix* matrix, const char* row, const RowScratch* excluded, double key, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t* x
) noexcept nogil:
    """Count the allowed columns from `start` to `stop` − 1 with a given score. `x` is the index of the next excluded
    column."""
    cdef int64_t equal = (simd.equal_float if matrix.single else simd.equal_double)(row, start, stop, key)
    while x[0] < excluded.n_excluded and excluded.columns[x[0]] < stop:
        equal -= score_at(matrix, row, excluded.columns[x[0]]) == key
        x[0] += 1
    return equal


cdef Py_ssize_t write_ranks(
    const Matrix* matrix, const char* row, Py_ssize_t keys, int64_t depth, bint stable, MatrixScratch* scratch,
    const Entry* entries, Py_ssize_t m, Query* query
) noexcept nogil:
    """Write the hits among the entries with the first `keys` keys. If `stable` is set, each hit gets its own rank, down
    to the depth.

    Ranks are clamped to the length of the list, since the scores may change concurrently.
    """
    cdef Py_ssize_t index = 0, key, start, n_hits = 0, stop, done, x
    cdef int64_t first, last, before
    for key in range(keys):
        start = index
        while index < m and entries[index].key == scratch.keys[key]:
            index += 1
        first = max(min(scratch.above[key] + 1, query.returned - (index - start) + 1), <int64_t>1)
        last = max(min(scratch.not_below[key], query.returned), first + (index - start) - 1)
        before = done = x = 0
        for stop in range(start, index):
            query.grade[n_hits] = entries[stop].grade
            query.first[n_hits] = first
            query.last[n_hits] = last
            if stable:
                if last > first:
                    before += equal_before(
                        matrix, row, &scratch.row, scratch.keys[key], done, entries[stop].index, &x
                    )
                    done = entries[stop].index
                query.first[n_hits] = query.last[n_hits] = min(first + before, last)
                if query.first[n_hits] > depth:
                    break
            n_hits += 1
    return n_hits


cdef Py_ssize_t excluded_before(const RowScratch* excluded, Py_ssize_t column) noexcept nogil:
    """Count the excluded columns before a given column by binary search."""
    cdef Py_ssize_t low = 0, high = excluded.n_excluded, middle
    while low < high:
        middle = (low + high) // 2
        if excluded.columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


cdef int find_in_matrix(
    const Matrix* matrix, Py_ssize_t number, int64_t depth, double lowest, bint stable, MatrixScratch* scratch,
    Workspace* space, Query* query, Py_ssize_t* position
) noexcept nogil:
    """Find the hits of a query in a row of scores; return NAN_SCORE and the column of the first NaN, or 0."""
    cdef const char* row = matrix.scores + number * matrix.stride
    cdef Entry* entries = space.entries
    cdef Py_ssize_t index, m = 0, keys = 0, left_out = 0
    cdef bint nan
    scratch.row.columns = matrix.excluded + matrix.excluded_offsets[number]
    scratch.row.n_excluded = matrix.excluded_offsets[number + 1] - matrix.excluded_offsets[number]
    query.n = 0
    query.returned = matrix.columns - scratch.row.n_excluded
    # The row is scanned before the judged columns are read, so that their scores are already in the cache.
    nan = (simd.scan_float if matrix.single else simd.scan_double)(row, matrix.columns, depth, &scratch.row)
    for index in range(matrix.offsets[number], matrix.offsets[number + 1]):
        if matrix.grades[index] > lowest:
            entries[m].key = score_at(matrix, row, matrix.judged[index])
            entries[m].grade = matrix.grades[index]
            entries[m].index = matrix.judged[index]
            m += 1
    merge_sort(entries, space.other, m, stable)
    for index in range(m):
        if keys == 0 or entries[index].key != scratch.keys[keys - 1]:
            scratch.keys[keys] = entries[index].key
            keys += 1
    keys = (simd.rank_float if matrix.single else simd.rank_double)(
        row, matrix.columns, scratch.keys, keys, depth, &scratch.row, scratch.above, scratch.not_below
    )
    if nan or keys < 0:  # a NaN may be in an excluded column
        position[0] = allowed_scores(matrix, row, &scratch.row, scratch.allowed if keys < 0 else NULL)
        if position[0] >= 0:
            return NAN_SCORE
    if keys >= 0:
        query.n = write_ranks(matrix, row, keys, depth, stable, scratch, entries, m, query)
        return 0
    for index in range(m):
        entries[index].index -= excluded_before(&scratch.row, entries[index].index)
    query.n = rank_many(
        scratch.allowed, NULL, <Py_ssize_t>query.returned, m, 0, depth, stable, space, query.grade, query.first,
        query.last,
    )
    return 0


def mark_common(
    const int64_t[::1] offsets, const int32_t[::1] columns, const int64_t[::1] other_offsets, const int32_t[::1] others,
    unsigned char[::1] marks, /
):
    """Set marks[i] to whether the other matrix stores columns[i] in the same row; return the number of such columns.
    The columns of each row are in increasing order."""
    cdef Py_ssize_t row, index, other, count = 0
    with nogil:
        for row in range(offsets.shape[0] - 1):
            other = other_offsets[row]
            for index in range(offsets[row], offsets[row + 1]):
                while other < other_offsets[row + 1] and others[other] < columns[index]:
                    other += 1
                marks[index] = other < other_offsets[row + 1] and others[other] == columns[index]
                count += marks[index]
    return count
