"""The ordering kernels, compiled: scores and grades to the hits and judged grades of a Batch.

The functions of `_reference_ordering`, which is their specification, with its bits. Every function over buffers is
`noexcept nogil`, takes one pointer a list and allocates nothing; the `def` above it opens the buffers, reserves
scratch and lets the GIL go.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from rankgain._codes cimport INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NAN_SCORE, NEGATIVE_GRADE

cdef enum:
    SMALL_GRADES = 64  # whole grades below this are counted instead of sorted
    RUN = 16  # the runs that the merge sort begins with


# scratch

cdef int reserve(Workspace* space, Py_ssize_t n) except -1:
    """Scratch for a query of n documents, in one block."""
    cdef size_t entries = sizeof(Entry) * <size_t>n
    cdef size_t numbers = 8 * <size_t>n
    space.block = malloc(2 * entries + 3 * numbers + sizeof(Py_ssize_t) * <size_t>n + 1)
    if space.block == NULL:
        raise MemoryError
    cdef char* at = <char*>space.block
    space.entries = <Entry*>at
    space.spare = <Entry*>(at + entries)
    space.distinct = <double*>(at + 2 * entries)
    space.above = <int64_t*>(at + 2 * entries + numbers)
    space.equal = <int64_t*>(at + 2 * entries + 2 * numbers)
    space.next = <Py_ssize_t*>(at + 2 * entries + 3 * numbers)
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


cdef int fault(double grade) noexcept nogil:
    if grade != grade:
        return NAN_GRADE
    return NEGATIVE_GRADE if -DBL_MAX <= grade <= DBL_MAX else INFINITE_GRADE


cdef int first_fault(const double* grades, Py_ssize_t n, bint exponential, Py_ssize_t* position) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(n):
        if not sound(grades[index]) or (exponential and grades[index] >= 1024.0):
            position[0] = index
            return LARGE_GRADE if sound(grades[index]) else fault(grades[index])
    return 0


# ordering

cdef inline bint before(const Entry* a, const Entry* b) noexcept nogil:
    return a.key > b.key or (a.key == b.key and a.grade > b.grade)


cdef void sort_entries(Entry* entries, Entry* spare, Py_ssize_t n, bint stable) noexcept nogil:
    """Highest key first, equal keys by grade or, `stable`, as they came.

    A bottom-up merge sort, so n log n at the worst.
    """
    cdef Py_ssize_t start, middle, stop, i, j, out, width = RUN
    cdef Entry entry
    cdef Entry* swap
    cdef Entry* source = entries
    cdef Entry* target = spare
    start = 0
    while start < n:
        stop = min(start + width, n)
        for i in range(start + 1, stop):
            entry = entries[i]
            j = i
            while j > start and (entry.key > entries[j - 1].key if stable else before(&entry, &entries[j - 1])):
                entries[j] = entries[j - 1]
                j -= 1
            entries[j] = entry
        start = stop
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i = start
            j = middle
            for out in range(start, stop):
                if i < middle and (j >= stop or not (
                    source[j].key > source[i].key if stable else before(&source[j], &source[i])
                )):
                    target[out] = source[i]
                    i += 1
                else:
                    target[out] = source[j]
                    j += 1
            start = stop
        swap = source
        source = target
        target = swap
        width *= 2
    if source != entries:
        for i in range(n):
            entries[i] = source[i]


cdef double threshold(const score_t* scores, Py_ssize_t n, int64_t depth, double* heap) noexcept nogil:
    """The depth-th highest score, so that nobody looks at what lies below; −inf where looking at all costs less."""
    cdef Py_ssize_t index, parent, child, k
    cdef double score
    if depth >= n // 4:
        return -INFINITY
    k = <Py_ssize_t>depth
    for index in range(k):  # a heap with the lowest on top
        score = scores[index]
        child = index
        while child and heap[(child - 1) // 2] > score:
            heap[child] = heap[(child - 1) // 2]
            child = (child - 1) // 2
        heap[child] = score
    for index in range(k, n):
        score = scores[index]
        if score <= heap[0]:
            continue
        parent = 0
        child = 1
        while child < k:
            if child + 1 < k and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= score:
                break
            heap[parent] = heap[child]
            parent = child
            child = 2 * parent + 1
        heap[parent] = score
    return heap[0]


cdef Py_ssize_t rank_entries(
    const score_t* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Give m entries, in input order, the first and last rank of their tie group among n scores.

    Nothing but the entries is sorted: the other documents are only counted above them. Writes the hits that start at
    rank ≤ depth, returns their number, and leaves the entries in the same order. Equals `_reference.place`.
    """
    cdef Entry* entries = space.entries
    cdef double* distinct = space.distinct
    cdef Py_ssize_t index, low, length, kept = 0, d = 0
    cdef int64_t rank = 1
    cdef double score
    if m == 0:
        return 0
    sort_entries(entries, space.spare, m, stable)
    for index in range(m):
        if index == 0 or entries[index].key != distinct[d - 1]:
            distinct[d] = entries[index].key
            space.next[d] = index
            d += 1
    memset(space.above, 0, d * sizeof(int64_t))
    memset(space.equal, 0, d * sizeof(int64_t))
    for index in range(n):
        score = scores[index]
        if score < distinct[d - 1]:
            continue
        low = count_higher(distinct, d, score)
        if distinct[low] != score:
            space.above[low] += 1
            continue
        if stable and space.next[low] < m and entries[space.next[low]].index == index:
            entries[space.next[low]].key = <double>space.equal[low]  # its place in the group; the key has done its work
            space.next[low] += 1
        space.equal[low] += 1
    index = 0
    for low in range(d):
        rank += space.above[low]
        length = space.next[low] if stable else (space.next[low + 1] if low + 1 < d else m)
        while index < length:
            hit_first[kept] = rank + <int64_t>entries[index].key if stable else rank
            hit_last[kept] = hit_first[kept] if stable else rank + space.equal[low] - 1
            if hit_first[kept] > depth:
                return kept
            hit_grade[kept] = entries[index].grade
            kept += 1
            index += 1
        rank += space.equal[low]
    return kept


# makers

def grade_fault(const double[::1] grades, const int64_t[::1] offsets):
    cdef Py_ssize_t query = 0, position = 0
    cdef int code = 0
    with nogil:
        for query in range(offsets.shape[0] - 1):
            code = first_fault(
                doubles(grades) + offsets[query], offsets[query + 1] - offsets[query], False, &position
            )
            if code:
                break
    return (code, query, position) if code else None


def hits_ranked(
    const double[::1] grades, const int64_t[::1] offsets, int64_t depth, bint zeros,
    int64_t[::1] hit_offsets, double[::1] hit_grade, int64_t[::1] hit_rank
):
    cdef Py_ssize_t query = 0, position = 0, count = 0, index, n
    cdef const double* ranking
    cdef int code = 0
    with nogil:
        hit_offsets[0] = 0
        for query in range(offsets.shape[0] - 1):
            ranking = doubles(grades) + offsets[query]
            n = offsets[query + 1] - offsets[query]
            code = first_fault(ranking, n, False, &position)
            if code:
                break
            for index in range(<Py_ssize_t>min(<int64_t>n, depth)):
                if ranking[index] > 0.0 or zeros:
                    hit_grade[count] = ranking[index]
                    hit_rank[count] = index + 1
                    count += 1
            hit_offsets[query + 1] = count
    return (code, query, position) if code else None


def hits_scored_f64(
    const double[::1] scores, const double[::1] grades, const int64_t[::1] offsets, int64_t depth, bint zeros,
    bint stable, int64_t[::1] hit_offsets, double[::1] hit_grade, int64_t[::1] hit_first, int64_t[::1] hit_last
):
    return hits_scored(
        &scores[0] if scores.shape[0] else NULL, grades, offsets, depth, zeros, stable,
        hit_offsets, hit_grade, hit_first, hit_last,
    )


def hits_scored_f32(
    const float[::1] scores, const double[::1] grades, const int64_t[::1] offsets, int64_t depth, bint zeros,
    bint stable, int64_t[::1] hit_offsets, double[::1] hit_grade, int64_t[::1] hit_first, int64_t[::1] hit_last
):
    return hits_scored(
        &scores[0] if scores.shape[0] else NULL, grades, offsets, depth, zeros, stable,
        hit_offsets, hit_grade, hit_first, hit_last,
    )


cdef object hits_scored(
    const score_t* scores, const double[::1] grades, const int64_t[::1] offsets, int64_t depth, bint zeros,
    bint stable, int64_t[::1] hit_offsets, double[::1] hit_grade, int64_t[::1] hit_first, int64_t[::1] hit_last
):
    cdef Py_ssize_t query = 0, position = 0, count = 0, n
    cdef int64_t start
    cdef int code = 0
    cdef Workspace space
    if grades.shape[0] == 0:
        hit_offsets[:] = 0
        return None
    reserve(&space, longest(integers(offsets), offsets.shape[0] - 1))
    with nogil:
        hit_offsets[0] = 0
        for query in range(offsets.shape[0] - 1):
            start = offsets[query]
            n = offsets[query + 1] - start
            code = score_fault(scores + start, doubles(grades) + start, n, &position)
            if code:
                break
            # A query of no documents at the end has no place of its own in the buffers.
            if n:
                count += rank_entries(
                    scores + start, n, candidates(scores + start, doubles(grades) + start, n, depth, zeros, &space),
                    depth, stable, &space, &hit_grade[0] + count, &hit_first[0] + count, &hit_last[0] + count,
                )
            hit_offsets[query + 1] = count
        release(&space)
    return (code, query, position) if code else None


cdef int score_fault(
    const score_t* scores, const double* grades, Py_ssize_t n, Py_ssize_t* position
) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(n):
        if scores[index] != scores[index] or not sound(grades[index]):
            position[0] = index
            return NAN_SCORE if scores[index] != scores[index] else fault(grades[index])
    return 0


cdef Py_ssize_t candidates(
    const score_t* scores, const double* grades, Py_ssize_t n, int64_t depth, bint zeros, Workspace* space
) noexcept nogil:
    """Gather the documents that can be hits within the depth, in input order."""
    cdef double floor = threshold(scores, n, depth, space.distinct)
    cdef Py_ssize_t index, m = 0
    for index in range(n):
        if scores[index] >= floor and (grades[index] > 0.0 or zeros):
            space.entries[m].key = scores[index]
            space.entries[m].grade = grades[index]
            space.entries[m].index = index
            m += 1
    return m


def judged_grades(
    const double[::1] grades, const int64_t[::1] offsets, int64_t depth,
    int64_t[::1] judged_offsets, double[::1] judged_grade, int64_t[::1] judged_count
):
    cdef Py_ssize_t query = 0, position = 0, count = 0, written, n
    cdef int code = 0
    cdef Workspace space
    if grades.shape[0] == 0:
        judged_offsets[:] = 0
        return None
    reserve(&space, longest(integers(offsets), offsets.shape[0] - 1))
    with nogil:
        judged_offsets[0] = 0
        for query in range(offsets.shape[0] - 1):
            n = offsets[query + 1] - offsets[query]
            if n:
                code = count_grades(
                    doubles(grades) + offsets[query], n, depth, space.entries, space.spare,
                    &judged_grade[0] + count, &judged_count[0] + count, &written, &position,
                )
                if code:
                    break
                count += written
            judged_offsets[query + 1] = count
        release(&space)
    return (code, query, position) if code else None


cdef int count_grades(
    const double* grades, Py_ssize_t n, int64_t depth, Entry* entries, Entry* spare,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil:
    """The `depth` highest grades as distinct grades, highest first, with the number of each."""
    cdef int64_t counts[SMALL_GRADES]
    cdef int64_t left = min(depth, <int64_t>n)
    cdef Py_ssize_t index, m = 0
    cdef double grade, floor
    cdef int small
    memset(counts, 0, sizeof(counts))
    for index in range(n):
        grade = grades[index]
        if not sound(grade):
            position[0] = index
            return fault(grade)
        if grade < SMALL_GRADES:
            small = <int>grade
            if small == grade:
                counts[small] += 1
                continue
        m += 1
    written[0] = 0
    if m == 0:
        for small in range(SMALL_GRADES - 1, -1, -1):
            if counts[small] and left:
                out_grade[written[0]] = small
                out_count[written[0]] = min(counts[small], left)
                left -= out_count[written[0]]
                written[0] += 1
        return 0
    floor = threshold(grades, n, depth, <double*>spare)
    m = 0
    for index in range(n):
        if grades[index] >= floor:
            entries[m].key = grades[index]
            m += 1
    sort_entries(entries, spare, m, True)
    for index in range(<Py_ssize_t>min(<int64_t>m, left)):
        if written[0] and out_grade[written[0] - 1] == entries[index].key:
            out_count[written[0] - 1] += 1
        else:
            out_grade[written[0]] = entries[index].key
            out_count[written[0]] = 1
            written[0] += 1
    return 0
