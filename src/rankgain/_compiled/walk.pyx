"""The compiled engine, which finds the hits of each query in a chunk and computes the metrics from them.

Each included file implements the module with the same name in `rankgain._reference`, which is the specification, and
returns bit-identical results. Functions that process buffers are `noexcept nogil`, take one pointer per list and
allocate nothing. The `def` function that calls them opens the buffers, reserves scratch memory and releases the GIL,
except for single lists and dicts.

All these files form a single module, because calls across modules are not inlined. `walk.pxd` declares the names that
other modules cimport.
"""

import os

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release
from cpython.exc cimport PyErr_Clear
from libc.float cimport DBL_MIN
from libc.math cimport isnan
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from rankgain._codes cimport COLUMNS, DICTS, IN_JUDGED, LISTS, MATRIX, NAN_SCORE, STABLE

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")  # random, so attackers cannot choose ids that collide

include "numbers.pxi"
include "ranking.pxi"
include "sums.pxi"
include "precisions.pxi"
include "cascade.pxi"
include "novelty.pxi"
include "query.pxi"
include "program.pxi"
include "dicts.pxi"
include "columns.pxi"
include "matrix.pxi"

cdef enum:
    MOST_VIEWS = 16

cdef double NON_RELEVANT = -DBL_MIN  # all judged documents have grades above this value


cdef struct Rules:
    int ties
    bint single  # whether scores are compared in float32 precision
    int64_t depth  # number of leading documents of each ranking that are evaluated
    bint judged_only  # whether unjudged documents are removed
    int64_t condensed_depth  # number of leading documents that are evaluated after unjudged documents have been removed
    bint scored_only  # whether the documents that are left are the judged ones
    int64_t scored_depth  # number of leading documents that are evaluated of those

cdef struct Lists:
    # Lists of grades, in rank order or with scores. The judged grades may be given separately.
    Numbers grades
    Numbers scores
    Numbers judged
    const int64_t* offsets  # if NULL, each list has `columns` grades
    const int64_t* judged_offsets
    Py_ssize_t columns
    Py_ssize_t judged_columns
    bint scored
    bint beside

cdef struct Chunk:
    int form
    Py_ssize_t start
    Py_ssize_t stop
    Lists lists
    Columns columns
    Matrix matrix
    Py_buffer views[MOST_VIEWS]
    int n_views
    Py_ssize_t documents  # upper bound on the documents that a query orders
    Py_ssize_t returned  # number of documents in the longest query
    Py_ssize_t judged  # number of documents in the largest judged set


cdef Rules rules_of(tuple given) except *:
    """Read the rules from the tuple that `Rules` of `data/rules.py` is."""
    cdef Rules rules
    (
        rules.ties, rules.single, rules.depth, rules.judged_only, rules.condensed_depth, rules.scored_only,
        rules.scored_depth,
    ) = given
    return rules


# opening buffers

cdef const void* view_buffer(Chunk* chunk, object array) except? NULL:
    """Return the address of an array, or NULL if it is None or empty. `release_views` releases the buffer."""
    if array is None:
        return NULL
    if PyObject_GetBuffer(array, &chunk.views[chunk.n_views], PyBUF_C_CONTIGUOUS):
        PyErr_Clear()
        raise BufferError
    chunk.n_views += 1
    return chunk.views[chunk.n_views - 1].buf if chunk.views[chunk.n_views - 1].len else NULL


cdef int view_numbers(Chunk* chunk, Numbers* numbers, object array) except -1:
    """Open an array of any dtype; `release_views` releases its buffer."""
    open_numbers(numbers, array)
    chunk.views[chunk.n_views] = numbers.view
    chunk.n_views += 1
    return 0


cdef void release_views(Chunk* chunk) noexcept:
    """Release the buffers opened so far, also after an error."""
    cdef int index
    for index in range(chunk.n_views):
        PyBuffer_Release(&chunk.views[index])


cdef Keys view_keys(Chunk* chunk, object data, object starts, object ends, Py_ssize_t width) except *:
    """Open the arrays of ids. `width` is the number of bytes per integer id, or 0 for text ids."""
    cdef Keys keys
    keys.data = <const unsigned char*>view_buffer(chunk, data)
    keys.starts = <const int64_t*>view_buffer(chunk, starts)
    keys.ends = <const int64_t*>view_buffer(chunk, ends)
    keys.width = width
    return keys


cdef int open_chunk(Chunk* chunk, tuple given) except -1:
    """Open the buffers of a chunk. The caller must release them with `release_views`, even if an exception is
    raised."""
    cdef Py_ssize_t n
    chunk.form = given[0]
    chunk.start = given[1]
    chunk.stop = given[2]
    n = chunk.stop - chunk.start
    if chunk.form == LISTS:
        (
            _, _, _, grades, offsets, chunk.lists.columns, scores, judged, judged_offsets, chunk.lists.judged_columns,
        ) = given
        view_numbers(chunk, &chunk.lists.grades, grades)
        chunk.lists.offsets = <const int64_t*>view_buffer(chunk, offsets)
        chunk.lists.scored = scores is not None
        if scores is not None:
            view_numbers(chunk, &chunk.lists.scores, scores)
        chunk.lists.beside = judged is not None
        if judged is not None:
            view_numbers(chunk, &chunk.lists.judged, judged)
        chunk.lists.judged_offsets = <const int64_t*>view_buffer(chunk, judged_offsets)
        chunk.documents = longest_list(chunk.lists.offsets, chunk.start, n, chunk.lists.columns)
        chunk.judged = chunk.documents
        if chunk.lists.beside:
            chunk.judged = longest_list(chunk.lists.judged_offsets, chunk.start, n, chunk.lists.judged_columns)
    elif chunk.form == COLUMNS:
        open_columns(chunk, given)
    else:
        open_matrix(chunk, given)
    chunk.returned = chunk.matrix.columns if chunk.form == MATRIX else chunk.documents
    return 0


cdef int open_columns(Chunk* chunk, tuple given) except -1:
    """Open the columns of a chunk, in the order of `read_columns` in the reference; set the sizes of its longest
    query."""
    cdef Columns* columns = &chunk.columns
    (
        _, _, _, truth_width, truth_data, truth_starts, truth_ends, truth_first, truth_last, grades, run_width,
        run_data, run_starts, run_ends, run_first, run_last, scores, columns.whole,
    ) = given
    columns.truth = view_keys(chunk, truth_data, truth_starts, truth_ends, truth_width)
    columns.truth_first = <const int64_t*>view_buffer(chunk, truth_first)
    columns.truth_last = <const int64_t*>view_buffer(chunk, truth_last)
    columns.grades = <const double*>view_buffer(chunk, grades)
    columns.run = view_keys(chunk, run_data, run_starts, run_ends, run_width)
    columns.run_first = <const int64_t*>view_buffer(chunk, run_first)
    columns.run_last = <const int64_t*>view_buffer(chunk, run_last)
    columns.scores = <const double*>view_buffer(chunk, scores)
    chunk.documents = longest_range(columns.run_first, columns.run_last, chunk.start, chunk.stop)
    chunk.judged = longest_range(columns.truth_first, columns.truth_last, chunk.start, chunk.stop)
    return 0


cdef int open_matrix(Chunk* chunk, tuple given) except -1:
    """Open the matrices of a chunk. Rows of scores may have any stride, but their columns are contiguous."""
    cdef Matrix* matrix = &chunk.matrix
    cdef Py_buffer* rows = &chunk.views[0]
    _, _, _, scores, offsets, judged, grades, excluded_offsets, excluded = given
    PyObject_GetBuffer(scores, rows, PyBUF_STRIDES)
    chunk.n_views = 1
    matrix.scores = <const char*>rows.buf
    matrix.stride = rows.strides[0]
    matrix.columns = rows.shape[1]
    matrix.single = rows.itemsize == sizeof(float)
    matrix.offsets = <const int64_t*>view_buffer(chunk, offsets)
    matrix.judged = <const int32_t*>view_buffer(chunk, judged)
    matrix.grades = <const double*>view_buffer(chunk, grades)
    matrix.excluded_offsets = <const int64_t*>view_buffer(chunk, excluded_offsets)
    matrix.excluded = <const int32_t*>view_buffer(chunk, excluded)
    chunk.judged = longest(matrix.offsets + chunk.start, chunk.stop - chunk.start)
    chunk.documents = chunk.judged  # all other documents are only counted, which needs no scratch memory
    return 0


cdef Py_ssize_t longest_range(
    const int64_t* first, const int64_t* last, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Return the size of the largest range."""
    cdef Py_ssize_t number, most = 0
    for number in range(start, stop):
        most = max(most, <Py_ssize_t>(last[number] - first[number]))
    return most


cdef inline Py_ssize_t longest_list(
    const int64_t* offsets, Py_ssize_t start, Py_ssize_t n, Py_ssize_t columns
) noexcept nogil:
    """Return the length of the longest of n lists; `offsets` is NULL if each has `columns` entries."""
    return longest(offsets + start, n) if offsets != NULL else columns


# scratch memory

cdef struct QueryMemory:
    Workspace space
    Query query
    void* block


cdef int reserve_memory(
    QueryMemory* memory, const Steps* steps, int ties, Py_ssize_t documents, Py_ssize_t hits, Py_ssize_t judged
) except -1:
    """Allocate scratch memory for the longest query of a chunk in one block. Pages that are never written take no
    memory."""
    cdef Py_ssize_t most = max(max(documents, hits), judged) + 2
    cdef size_t size = workspace_size(most)
    cdef Py_ssize_t numbers = 4 * (hits + 1) + 4 * (judged + 1) + 3 * most + steps.n_values + steps.most_points
    cdef size_t whole = size + numbers * sizeof(double)
    cdef Query* query = &memory.query
    memory.block = malloc(whole)
    if memory.block == NULL:
        raise MemoryError(f"a query of {most - 2} documents is ordered in {whole >> 20} MiB, which are not free")
    lay_out(&memory.space, memory.block, most)
    query.grade = <double*>(<char*>memory.block + size)
    query.first = <int64_t*>(query.grade + hits + 1)
    query.last = query.first + hits + 1
    query.gain = <double*>(query.last + hits + 1)
    query.judged_grade = query.gain + hits + 1
    query.judged_count = <int64_t*>(query.judged_grade + judged + 1)
    query.judged_gain = <double*>(query.judged_count + judged + 1)
    query.gain_count = <int64_t*>(query.judged_gain + judged + 1)
    query.values = <double*>(query.gain_count + judged + 1)
    query.scratch = query.values + steps.n_values
    query.capacity = most
    query.graded = False
    query.share_depth = 0
    query.judged_share = NAN
    query.ties = ties
    query.callable_gains = NULL
    return 0


# finding the hits of each query

cdef inline int64_t start_of(const int64_t* offsets, Py_ssize_t columns, Py_ssize_t number) noexcept nogil:
    """Return the offset of a list; `offsets` is NULL if each has `columns` entries."""
    return offsets[number] if offsets != NULL else <int64_t>number * columns


cdef Py_ssize_t first_nan(const double* scores, Py_ssize_t n) noexcept nogil:
    """Return the position of the first NaN, or n if there is none."""
    cdef Py_ssize_t index = 0
    while index < n and not isnan(scores[index]):
        index += 1
    return index


cdef int find_in_lists(
    const Lists* lists, Py_ssize_t number, const Steps* steps, const Rules* rules, int64_t depth, double lowest,
    Workspace* space, Query* query, Py_ssize_t* position
) noexcept nogil:
    """Find the hits of a query in lists. Grades are counted first, so they are already in the cache when the hits are
    collected."""
    cdef int64_t start = start_of(lists.offsets, lists.columns, number)
    cdef Py_ssize_t n = <Py_ssize_t>(start_of(lists.offsets, lists.columns, number + 1) - start), nan
    cdef const double* scores = NULL
    cdef int code
    query.returned = n
    query.n = query.n_judged = 0
    if lists.beside:
        code = number_error(&lists.grades, start, n, position)
    else:
        code = count_numbers(
            &lists.grades, start, n, steps.judged_depth, space, query.judged_grade, query.judged_count,
            &query.n_judged, position,
        ) if n else 0
    if lists.scored and n:
        scores = doubles_of(&lists.scores, start, n, space.scores)
        if rules.single:
            if scores != space.scores:
                memcpy(space.scores, scores, n * sizeof(double))
            narrow(space.scores, n)
            scores = space.scores
    if code:
        if scores != NULL:  # report the invalid score or the invalid grade, whichever comes first
            nan = first_nan(scores, position[0] + 1)
            if nan <= position[0]:
                position[0] = nan
                return NAN_SCORE
        return code
    if scores != NULL:
        query.n = order_hits(
            scores, &lists.grades, start, n, depth, lowest < 0.0, rules.ties == STABLE, space, query.grade,
            query.first, query.last,
        )
        if query.n < 0:
            position[0] = min(first_nan(scores, n), n - 1)  # clamped, since another thread may have overwritten the NaN
            query.n = 0
            return NAN_SCORE
    elif n:
        query.n = ranked_hits(&lists.grades, start, <Py_ssize_t>min(<int64_t>n, depth), lowest < 0.0, query)
    if lists.beside:
        start = start_of(lists.judged_offsets, lists.judged_columns, number)
        n = <Py_ssize_t>(start_of(lists.judged_offsets, lists.judged_columns, number + 1) - start)
        code = count_numbers(
            &lists.judged, start, n, steps.judged_depth, space, query.judged_grade, query.judged_count,
            &query.n_judged, position,
        ) if n else 0
        return code + IN_JUDGED if code else 0
    return 0


cdef Py_ssize_t ranked_hits(
    const Numbers* grades, int64_t start, Py_ssize_t n, bint zeros, Query* query
) noexcept nogil:
    """Write the hits of a list that is in rank order; return the number of hits."""
    cdef Py_ssize_t index, n_hits = 0
    cdef double grade
    for index in range(n):
        grade = number_at(grades, start + index)
        query.grade[n_hits] = grade
        query.first[n_hits] = query.last[n_hits] = index + 1
        n_hits += zeros | (grade > 0.0)
    return n_hits


cdef void count_judged(
    const double* grades, Py_ssize_t n, int64_t depth, Workspace* space, Query* query
) noexcept nogil:
    """Count the judged grades of a query. All grades are finite. Negative grades mark documents that were pooled but
    not judged."""
    cdef Numbers numbers
    cdef Py_ssize_t index, n_judged = 0, position = 0
    cdef bint alike = n > 0 and grades[0] >= 0.0
    for index in range(n):
        alike &= grades[index] == grades[0]
    if alike:  # for example, binary judgments that list only relevant documents
        query.judged_grade[0] = grades[0] + 0.0
        query.judged_count[0] = min(<int64_t>n, depth)
        query.n_judged = 1
        return
    for index in range(n):
        query.judged_gain[n_judged] = grades[index]
        n_judged += grades[index] >= 0.0
    query.n_judged = 0
    if n_judged:
        as_numbers(&numbers, query.judged_gain)
        count_numbers(
            &numbers, 0, n_judged, depth, space, query.judged_grade, query.judged_count, &query.n_judged, &position
        )


cdef void limit(const Rules* rules, Query* query) noexcept nogil:
    """Drop the documents that are not evaluated. If unjudged documents are removed, the documents below them move
    up."""
    cdef Py_ssize_t index = 0, stop, n_left = 0, start, member
    query.returned = min(query.returned, rules.depth)
    query.n = within(query, rules.depth)
    if not rules.judged_only:
        return
    while index < query.n:
        stop = group_stop(query.first, index, query.n)
        start = n_left
        for member in range(index, stop):
            if query.grade[member] >= 0.0:
                query.grade[n_left] = query.grade[member]
                n_left += 1
        for member in range(start, n_left):  # ranks in the list without unjudged documents
            query.first[member] = start + 1
            query.last[member] = n_left
        index = stop
    query.n = n_left
    query.returned = min(<int64_t>n_left, rules.condensed_depth)
    query.n = within(query, rules.condensed_depth)


cdef void include_unjudged(Query* query) noexcept nogil:
    """Make all returned documents hits; the further ones have grade 0. Those without a hit of the same score are tied
    only with each other, so each gets its own rank."""
    cdef Py_ssize_t start, stop = query.n, member
    cdef int64_t rank = query.returned, first
    query.n = <Py_ssize_t>query.returned
    while rank:  # from the last rank to the first, so that no hit is overwritten before it has moved
        if stop == 0 or query.last[stop - 1] < rank:
            rank -= 1
            query.grade[rank] = 0.0
            query.first[rank] = query.last[rank] = rank + 1
            continue
        first = query.first[stop - 1]
        start = stop
        while start > 0 and query.first[start - 1] == first:
            start -= 1
        memmove(query.grade + first - 1, query.grade + start, (stop - start) * sizeof(double))
        for member in range(first - 1 + stop - start, rank):
            query.grade[member] = 0.0
        for member in range(first - 1, rank):
            query.first[member] = first
            query.last[member] = rank
        rank = first - 1
        stop = start


cdef void judge_scored(const Rules* rules, const Steps* steps, Workspace* space, Query* query) noexcept nogil:
    """Make the returned documents the judged ones. Those that are not hits have grade 0, and become hits only if
    the terms need such documents."""
    cdef int64_t others = query.returned - query.n, left
    count_judged(query.grade, query.n, steps.judged_depth, space, query)
    left = min(others, steps.judged_depth - judged_size(query))
    if left > 0:
        query.judged_grade[query.n_judged] = 0.0
        query.judged_count[query.n_judged] = left
        query.n_judged += 1
    if others and (steps.lowest < 0.0 or (steps.non_relevant and not query.graded)):
        include_unjudged(query)
    query.returned = min(query.returned, rules.scored_depth)
    query.n = within(query, query.returned)


cdef int find(
    const Chunk* chunk, Py_ssize_t number, const Steps* steps, const Rules* rules, int64_t depth, double lowest,
    Scratch* scratch, MatrixScratch* of_matrix, QueryMemory* memory, Py_ssize_t* position
) noexcept nogil:
    """Find the hits and judged grades of a query. Return 0 on success; otherwise, set `position` and return an error
    code."""
    cdef Query* query = &memory.query
    cdef int64_t start
    cdef int code = 0
    position[0] = -1
    if chunk.form == LISTS:
        code = find_in_lists(
            &chunk.lists, number, steps, rules, depth, lowest, &memory.space, query, position
        )
    elif chunk.form == COLUMNS:
        code = find_in_columns(
            &chunk.columns, number, depth, lowest, rules.ties, rules.single, scratch, query, position
        )
        start = chunk.columns.truth_first[number]
        if code == 0:
            count_judged(
                chunk.columns.grades + start, chunk.columns.truth_last[number] - start, steps.judged_depth,
                &memory.space, query,
            )
    else:
        code = find_in_matrix(
            &chunk.matrix, number, depth, lowest, rules.ties == STABLE, of_matrix, &memory.space, query, position
        )
        start = chunk.matrix.offsets[number]
        if code == 0:
            count_judged(
                chunk.matrix.grades + start, chunk.matrix.offsets[number + 1] - start, steps.judged_depth,
                &memory.space, query,
            )
    if code == 0 and (rules.depth < INT64_MAX or rules.judged_only or rules.scored_only):
        limit(rules, query)
        if rules.scored_only:
            judge_scored(rules, steps, &memory.space, query)
    return code


cdef inline int64_t depth_under(const Rules* rules, int64_t depth) noexcept nogil:
    """Return the depth down to which hits are needed. If unjudged documents are removed, documents below them move
    up. If the scored documents are the judged ones, all of them are needed."""
    return rules.depth if rules.judged_only or rules.scored_only else min(depth, rules.depth)


cdef inline double lowest_grade_under(const Rules* rules, const Steps* steps, bint graded) noexcept nogil:
    """Return the grade above which documents are hits: as the terms need, or all judged ones if the rules count them.
    If the scored documents are the judged ones, the others are added later, with grade 0."""
    if rules.judged_only or (steps.non_relevant and not graded and not rules.scored_only):
        return min(0.0 if rules.scored_only else steps.lowest, NON_RELEVANT)
    return 0.0 if rules.scored_only else steps.lowest


# writing the output of each query

cdef struct HitBuffers:
    # The output of a walk over queries: the values of metrics or, if `out` is NULL, the hits and judged grades; and the
    # shares of judged documents, unless `shares` is NULL.
    double* shares
    double* out
    Py_ssize_t stride
    int64_t* returned
    int64_t* offsets
    double* grade
    int64_t* first
    int64_t* last
    int64_t* judged_offsets
    double* judged_grade
    int64_t* judged_count


cdef void store_hits(const HitBuffers* output, Py_ssize_t index, const Query* query) noexcept nogil:
    """Append the hits and the judged grades of a query to the output, whose offsets are set up to this query."""
    cdef int64_t at = output.offsets[index], judged = output.judged_offsets[index]
    output.returned[index] = query.returned
    memcpy(output.grade + at, query.grade, query.n * sizeof(double))
    memcpy(output.first + at, query.first, query.n * sizeof(int64_t))
    memcpy(output.last + at, query.last, query.n * sizeof(int64_t))
    memcpy(output.judged_grade + judged, query.judged_grade, query.n_judged * sizeof(double))
    memcpy(output.judged_count + judged, query.judged_count, query.n_judged * sizeof(int64_t))
    output.offsets[index + 1] = at + query.n
    output.judged_offsets[index + 1] = judged + query.n_judged


cdef struct Error:
    # An error code with the query, the position and the term where it occurred; the term is −1 if no term failed.
    int code
    Py_ssize_t query
    int64_t position
    Py_ssize_t term


cdef int raised(const Error* error) except INTERRUPTED:
    """Return the error code. If a signal interrupted the walk over queries, raise the pending exception."""
    return error.code


cdef object answer(const Error* error, Py_ssize_t empty):
    """Return the number of queries without relevant documents or, on an error, (code, query, position, term)."""
    if raised(error):
        return error.code, error.query, error.position, error.term
    return empty


cdef inline bint is_empty(const Query* query) noexcept nogil:
    """Return whether no judged document is relevant (judged grades are in descending order)."""
    return query.n_judged == 0 or not query.judged_grade[0] > 0.0


cdef inline int64_t share_depth(const Steps* steps, const Rules* rules, const HitBuffers* output) noexcept nogil:
    """Return the number of leading documents of which the judged ones are counted, or 0."""
    return min(steps.share_depth, rules.depth) if output.shares != NULL else 0


cdef inline int use(
    const Steps* steps, Py_ssize_t index, Query* query, const HitBuffers* output, Error* error
) noexcept nogil:
    """Compute the metrics of a query, or store its hits if there is no array for metrics."""
    if output.out == NULL:
        store_hits(output, index, query)
        return 0
    return compute_metrics(steps, query, output.out + index, output.stride, &error.position, &error.term)


cdef Py_ssize_t walk_buffers(
    const Chunk* chunk, const Steps* steps, const Rules* rules, Scratch* scratch, MatrixScratch* of_matrix,
    QueryMemory* memory, const HitBuffers* output, Error* error
) noexcept nogil:
    """Process the hits of each query in a chunk; return the number of queries without relevant documents."""
    cdef Py_ssize_t index, empty = 0, position = -1
    cdef int64_t depth
    cdef double lowest
    memory.query.graded = (chunk.form == LISTS or rules.scored_only) and output.out != NULL
    memory.query.share_depth = share_depth(steps, rules, output)
    depth = depth_under(rules, max(steps.depth, memory.query.share_depth))
    lowest = lowest_grade_under(rules, steps, memory.query.graded)
    for index in range(chunk.stop - chunk.start):
        error.query = index
        error.term = -1
        error.code = find(
            chunk, chunk.start + index, steps, rules, depth, lowest, scratch, of_matrix, memory, &position
        )
        error.position = position
        if error.code == 0:
            error.position = -1
            error.code = use(steps, index, &memory.query, output, error)
        if error.code:
            break
        empty += is_empty(&memory.query)
        if output.shares != NULL:
            output.shares[index] = memory.query.judged_share
            if memory.query.judged_share < 0.0:
                if chunk.form == COLUMNS:
                    unchain_query(&chunk.columns, chunk.start + index, scratch)
                output.shares[index] = recounted(
                    find(
                        chunk, chunk.start + index, steps, rules, memory.query.share_depth, NON_RELEVANT, scratch,
                        of_matrix, memory, &position,
                    ),
                    &memory.query,
                )
    return empty


cdef object run_buffers(Program program, const Rules* rules, tuple given, const HitBuffers* output):
    """Process a chunk of arrays without the GIL; return as `answer` does. All memory and buffers are released."""
    cdef Chunk chunk
    cdef Scratch scratch
    cdef MatrixScratch of_matrix
    cdef QueryMemory memory
    cdef Error error
    cdef Py_ssize_t empty = 0, hits, judged
    error.code = 0
    memory.block = of_matrix.block = NULL
    chunk.n_views = 0
    try:
        open_chunk(&chunk, given)
        hits = chunk.judged if chunk.form == COLUMNS else chunk.documents
        judged = chunk.judged
        if rules.scored_only:
            hits = judged = max(judged, chunk.returned)
        reserve_memory(&memory, &program.steps, rules.ties, chunk.documents, hits, judged)
        if chunk.form == COLUMNS:
            prepare(
                &scratch, &memory.space, memory.query.scratch, chunk.columns.whole, chunk.judged, chunk.documents
            )
        elif chunk.form == MATRIX:
            prepare_matrix(
                &of_matrix, &chunk.matrix, chunk.judged,
                longest(chunk.matrix.excluded_offsets + chunk.start, chunk.stop - chunk.start),
            )
        with nogil:
            empty = walk_buffers(&chunk, &program.steps, rules, &scratch, &of_matrix, &memory, output, &error)
            if chunk.form == COLUMNS:
                dispose(&scratch)
        return answer(&error, empty)
    finally:
        free(of_matrix.block)
        free(memory.block)
        release_views(&chunk)


cdef struct Reader:
    # Scratch memory for runs that are dicts.
    QueryMemory memory
    PyObject** values
    double* scores


cdef int make_reader(
    Reader* reader, const Steps* steps, const Rules* rules, Py_ssize_t documents, Py_ssize_t judged, bint computes
) except -1:
    """Allocate scratch memory for runs of up to `documents` entries; `close_reader` frees it. `computes`: whether
    metrics are computed, not hits stored."""
    cdef Py_ssize_t hits = max(documents, judged) if rules.scored_only else judged
    reserve_memory(&reader.memory, steps, rules.ties, documents, hits, hits)
    reader.memory.query.graded = rules.scored_only and computes
    reader.values = <PyObject**>malloc(documents * (sizeof(PyObject*) + sizeof(double)) + 1)
    if reader.values == NULL:
        raise MemoryError
    reader.scores = <double*>(reader.values + documents)
    return 0


cdef void close_reader(Reader* reader) noexcept:
    """Free what `make_reader` allocated."""
    free(reader.values)
    free(reader.memory.block)


cdef int find_in_run(
    const Rules* rules, JudgmentDicts judged, Py_ssize_t number, object run, Py_ssize_t n, int64_t depth,
    int64_t needed, double lowest, Reader* reader, Py_ssize_t* position
) except -1:
    """Find the hits of a query whose run is a dict of n documents; return an error code, or 0 on success."""
    cdef Py_ssize_t start = judged.offsets[number]
    return find_in_dict(
        judged.documents, judged.grades + start, start, judged.offsets[number + 1], run, n, depth, needed, lowest,
        rules.ties, rules.single, reader.values, reader.scores, &reader.memory.space, &reader.memory.query, position,
    )


cdef int walk_dict(
    const Steps* steps, const Rules* rules, JudgmentDicts judged, Py_ssize_t number, object run, Py_ssize_t n,
    Reader* reader, Py_ssize_t index, const HitBuffers* output, Error* error
) except INTERRUPTED:
    """Process one query whose run is a dict of n documents; return an error code, or 0 on success."""
    cdef Query* query = &reader.memory.query
    cdef Py_ssize_t start = judged.offsets[number], position = -1
    error.query = index
    error.term = -1
    query.share_depth = share_depth(steps, rules, output)
    error.code = find_in_run(
        rules, judged, number, run, n, depth_under(rules, max(steps.depth, query.share_depth)),
        depth_under(rules, steps.depth), lowest_grade_under(rules, steps, False), reader, &position,
    )
    error.position = position
    if error.code == 0:
        count_judged(
            judged.grades + start, judged.offsets[number + 1] - start, steps.judged_depth, &reader.memory.space, query
        )
        limit(rules, query)
        if rules.scored_only:
            judge_scored(rules, steps, &reader.memory.space, query)
        error.position = -1
        error.code = use(steps, index, query, output, error)
    if error.code == 0 and output.shares != NULL:
        output.shares[index] = query.judged_share
        if query.judged_share < 0.0:
            output.shares[index] = recounted(
                find_in_run(rules, judged, number, run, n, query.share_depth, 0, NON_RELEVANT, reader, &position),
                query,
            )
    return error.code


cdef object run_dicts(Program program, const Rules* rules, tuple given, const HitBuffers* output):
    """Do the work of `walk_buffers` for runs that are dicts, which requires the GIL."""
    cdef const Steps* steps = &program.steps
    cdef Py_ssize_t index, number, start, queries, judged_size = 0, documents = 0, empty = 0
    cdef list runs, sizes, numbers
    cdef JudgmentDicts judged
    cdef Reader reader
    cdef Error error
    _, start, queries, judged, numbers, runs = given
    queries -= start
    error.code = 0
    reader.memory.block = NULL
    reader.values = NULL
    try:
        sizes = [len(runs[index]) for index in range(start, start + queries)]
        for index in range(queries):
            number = <Py_ssize_t>numbers[start + index] if numbers is not None else start + index
            judged_size = max(judged_size, <Py_ssize_t>(judged.offsets[number + 1] - judged.offsets[number]))
            documents = max(documents, <Py_ssize_t>sizes[index])
        make_reader(&reader, steps, rules, documents, judged_size, output.out != NULL)
        for index in range(queries):
            number = <Py_ssize_t>numbers[start + index] if numbers is not None else start + index
            if walk_dict(
                steps, rules, judged, number, runs[start + index], sizes[index], &reader, index, output, &error
            ):
                break
            empty += is_empty(&reader.memory.query)
        return answer(&error, empty)
    finally:
        close_reader(&reader)


def rows(
    Program program, tuple rules, JudgmentDicts judged, dict numbers, object scores, tuple keys, Py_ssize_t most, /,
):
    cdef const Steps* steps = &program.steps
    cdef Rules parsed_rules = rules_of(rules)
    cdef Py_ssize_t number, n, index, judged_size = 0, documents = 0, total = 0, done = 0
    cdef PyObject* entry
    cdef list queries, runs, sizes
    cdef dict result, row
    cdef Reader reader
    cdef Error error
    cdef HitBuffers output
    if type(scores) is not dict:
        return None
    queries = []
    runs = []
    sizes = []
    for query, run in (<dict>scores).items():
        if type(run) is not dict:
            return None
        entry = PyDict_GetItemWithError(numbers, query)
        if entry == NULL:
            continue
        number = <object>entry
        n = len(<dict>run)
        total += n
        judged_size = max(judged_size, <Py_ssize_t>(judged.offsets[number + 1] - judged.offsets[number]))
        documents = max(documents, n)
        queries.append((query, number))
        runs.append(run)
        sizes.append(n)
    if total > most or not queries:
        return None
    reader.memory.block = NULL
    reader.values = NULL
    output.out = output.shares = NULL
    output.stride = 1
    result = {}
    try:
        make_reader(&reader, steps, &parsed_rules, documents, judged_size, True)
        output.out = <double*>malloc((steps.n_combinations + 1) * sizeof(double))
        if output.out == NULL:
            raise MemoryError
        for query, number in queries:
            if walk_dict(steps, &parsed_rules, judged, number, runs[done], sizes[done], &reader, 0, &output, &error):
                return None
            row = {}
            for index in range(steps.n_combinations):
                row[keys[index]] = output.out[index]
            result[query] = row
            done += 1
        return result
    finally:
        free(output.out)
        close_reader(&reader)


cdef object run_chunk(Program program, tuple rules, tuple chunk, const HitBuffers* output):
    """Process a chunk of any form; return as `answer` does."""
    cdef Rules parsed_rules = rules_of(rules)
    if chunk[0] == DICTS:
        return run_dicts(program, &parsed_rules, chunk, output)
    return run_buffers(program, &parsed_rules, chunk, output)


def run(Program program, tuple rules, tuple chunk, out, Py_ssize_t column, bint counts_judged=False, /):
    """Write the metrics of each query of a chunk to `out`, from a column on, and the shares of judged documents to its
    last row if `counts_judged` is set; return as `answer` does."""
    cdef HitBuffers output
    cdef Py_buffer view
    cdef Py_ssize_t n_rows = program.steps.n_combinations + counts_judged
    if PyObject_GetBuffer(out, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE):
        PyErr_Clear()
        raise BufferError
    try:
        output.out = <double*>view.buf + column
        output.stride = view.len // <Py_ssize_t>sizeof(double) // max(n_rows, 1)
        output.shares = output.out + (n_rows - 1) * output.stride if counts_judged else NULL
        return run_chunk(program, rules, chunk, &output)
    finally:
        PyBuffer_Release(&view)


def hits(
    Program program, tuple rules, tuple chunk, int64_t[::1] returned, int64_t[::1] offsets, double[::1] grade,
    int64_t[::1] first, int64_t[::1] last, int64_t[::1] judged_offsets, double[::1] judged_grade,
    int64_t[::1] judged_count, double[::1] shares=None, /
):
    """Write the hits and judged grades of each query of a chunk, and the shares of judged documents; return as `answer`
    does. The arrays have room for all."""
    cdef HitBuffers output
    output.shares = NULL if shares is None or shares.shape[0] == 0 else &shares[0]
    offsets[0] = judged_offsets[0] = 0
    if returned.shape[0] == 0:
        return 0
    output.out = NULL
    output.returned = &returned[0]
    output.offsets = &offsets[0]
    output.grade = &grade[0]
    output.first = &first[0]
    output.last = &last[0]
    output.judged_offsets = &judged_offsets[0]
    output.judged_grade = &judged_grade[0]
    output.judged_count = &judged_count[0]
    return run_chunk(program, rules, chunk, &output)


def metrics_from_hits(
    Program program, int ties, Py_ssize_t queries, const int64_t[::1] returned, const int64_t[::1] offsets,
    double[::1] grade, int64_t[::1] first, int64_t[::1] last, const int64_t[::1] judged_offsets,
    double[::1] judged_grade, int64_t[::1] judged_count, list callable_gains, double[:, ::1] out, Py_ssize_t column, /
):
    cdef const Steps* steps = &program.steps
    cdef GainTable* tables = NULL
    cdef const int64_t[::1] starts
    cdef const double[::1] grades, gains
    cdef Py_ssize_t index, term, empty = 0
    cdef Query* query
    cdef QueryMemory memory
    cdef Error error
    error.code = 0
    memory.block = NULL
    query = &memory.query
    try:
        reserve_memory(
            &memory, steps, ties, 0, longest(integers(offsets), queries), longest(integers(judged_offsets), queries)
        )
        tables = <GainTable*>calloc(steps.n_terms + 1, sizeof(GainTable))
        if tables == NULL:
            raise MemoryError
        query.callable_gains = tables
        for index in range(queries):
            query.returned = returned[index]
            query.n = <Py_ssize_t>(offsets[index + 1] - offsets[index])
            query.n_judged = <Py_ssize_t>(judged_offsets[index + 1] - judged_offsets[index])
            if query.n:
                query.grade = &grade[offsets[index]]
                query.first = &first[offsets[index]]
                query.last = &last[offsets[index]]
            if query.n_judged:
                query.judged_grade = &judged_grade[judged_offsets[index]]
                query.judged_count = &judged_count[judged_offsets[index]]
            for term in range(steps.n_terms):
                if callable_gains[term] is not None:
                    starts, grades, gains = callable_gains[term]
                    tables[term].grades = doubles(grades) + starts[index]
                    tables[term].gains = doubles(gains) + starts[index]
                    tables[term].n = <Py_ssize_t>(starts[index + 1] - starts[index])
            error.query = index
            error.term = error.position = -1
            error.code = compute_metrics(
                steps, query, &out[0, column + index], out.shape[1], &error.position, &error.term
            )
            if error.code:
                break
            empty += is_empty(query)
        return answer(&error, empty)
    finally:
        free(tables)
        free(memory.block)


include "lists.pxi"
