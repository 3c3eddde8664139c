# Scores and grades to the hits and judged grades of a query: see `_reference/ranking.py`.
from libc.math cimport INFINITY, NAN, nextafter
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from rankgain._codes cimport NAN_GRADE, NAN_SCORE

cdef extern from "simd.h" nogil:
    struct Simd:
        int lanes
        Py_ssize_t few
        Py_ssize_t judged
        Py_ssize_t hits
        int (*tally)(const int64_t*, Py_ssize_t, int64_t*) noexcept nogil
        void (*whole)(const double*, Py_ssize_t, int64_t*) noexcept nogil
        void (*maxima)(const double*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
        Py_ssize_t (*collect)(
            const double*, Py_ssize_t, Py_ssize_t, double, double*, Py_ssize_t*, Py_ssize_t*, Py_ssize_t
        ) noexcept nogil
        void (*count)(const double*, Py_ssize_t, double, int64_t*, int64_t*) noexcept nogil
        double (*kth)(const double*, Py_ssize_t, Py_ssize_t) noexcept nogil
        void (*ranks)(const double*, Py_ssize_t, const double*, Py_ssize_t, int64_t*, int64_t*) noexcept nogil
        bint (*numbers)(const double*, Py_ssize_t) noexcept nogil
        void (*widen)(const float*, Py_ssize_t, double*) noexcept nogil
        void (*sum_steps)(double*, Py_ssize_t, const double*, double*) noexcept nogil
        void (*sum_double)(const double*, const int64_t*, int, Py_ssize_t, const double*, double*) noexcept nogil
        void (*sum_float)(const float*, const int64_t*, int, Py_ssize_t, const double*, double*) noexcept nogil
        void (*sum_int64_t)(const int64_t*, const int64_t*, int, Py_ssize_t, const double*, double*) noexcept nogil
        void (*sum_int32_t)(const int32_t*, const int64_t*, int, Py_ssize_t, const double*, double*) noexcept nogil
        void (*sum_uint8_t)(const uint8_t*, const int64_t*, int, Py_ssize_t, const double*, double*) noexcept nogil
        Py_ssize_t (*near)(
            const void*, Py_ssize_t, int, const void*, Py_ssize_t, int, int64_t*
        ) noexcept nogil
        Py_ssize_t (*place)(const void*, Py_ssize_t, int, int64_t) noexcept nogil
    const Simd* simd_baseline
    const Simd* simd_avx2()

cdef enum:
    SMALL_GRADES = 64  # whole grades below this are counted instead of sorted
    RUN = 16  # up to here entries are sorted by insertion
    SPREAD = 4  # buckets an entry, as long as
    SPREAD_FEW = 4096  # there are no more entries than this
    FEW_KEYS = 48  # up to here entries are compared with all scores
    FEW = 128  # and up to here, with simd for it, if there are no more scores
    FEW_SCORES = 256  # than this
    FEW_RANKS = 144  # places for the ranks of FEW, the last row of simd among them
    SLOTS = 384  # FEW_SCORES and, for those that share the last rank, FEW
    SLOT_WORDS = 6  # that many bits
    PART = 2048  # scores of about so many are ranked together where there are more than SPREAD_FEW entries
    PARTS = 1024  # and up to this number
    PARTED = 1 << 22  # scores are copied into them, up to so many: 12 bytes each, which larger queries must not take
    AHEAD = 32  # scores whose places are asked for together
    BLOCK = 512  # grades that are converted together
    ROOM = 32  # numbers beyond the last document that scratch has: some loops write a few at once
    TALLIES = 256
    TALLY = 64  # slots for distinct grades, half of which may be taken
    MAXIMA = 160  # up to here the k-th is found by counting: 1.3 instead of 1.9 µs at k = 100
    SHORT = 128  # a query of twice as many documents as maxima is cut, for up to so many; else one of 8 k

cdef const Simd* simd = simd_baseline


def use_cpu(str level, /):
    """Choose the level of CPU that the loops are for, None: the best; return which it is, or None if it cannot be."""
    global simd
    if level == "avx2" or level is None:
        if simd_avx2() != NULL:
            simd = simd_avx2()
            return "avx2"
    if level == "baseline" or level is None:
        simd = simd_baseline
        return "baseline"
    return None


use_cpu(None)  # before any call


def lanes():
    """How many float64 the loops take at once: 4, 2, or 1 where no vectors were compiled."""
    return simd.lanes


cdef bint wide_registers() noexcept nogil:
    """Whether the loops are for more than every CPU has."""
    return simd != simd_baseline


# ordering

cdef inline bint before(const Entry* a, const Entry* b, bint stable) noexcept nogil:
    """Highest key first, equal keys by grade or, `stable`, as they came."""
    return a.key > b.key or (not stable and a.key == b.key and a.grade > b.grade)


cdef void insertion_sort(Entry* entries, Py_ssize_t n, bint stable) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Entry entry
    for i in range(1, n):
        entry = entries[i]
        j = i
        while j > 0 and before(&entry, &entries[j - 1], stable):
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef void merge_sort(Entry* entries, Entry* scratch, Py_ssize_t n, bint stable) noexcept nogil:
    """Bottom up, so n log n at the worst."""
    cdef Py_ssize_t start, middle, stop, i, j, out, width = RUN
    cdef Entry* swap
    cdef Entry* source = entries
    cdef Entry* target = scratch
    start = 1
    while start < n and not before(&entries[start], &entries[start - 1], stable):
        start += 1
    if start >= n:  # in order already
        return
    start = 0
    while start < n:
        insertion_sort(entries + start, min(<Py_ssize_t>RUN, n - start), stable)
        start += RUN
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i = start
            j = middle
            for out in range(start, stop):
                if i < middle and (j >= stop or not before(&source[j], &source[i], stable)):
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
        memcpy(entries, source, n * sizeof(Entry))


cdef enum:
    BY_KEY  # the range of the keys in equal parts
    BY_MAGNITUDE  # that of their bits: for keys of very different sizes
    BY_GRADE

cdef struct Buckets:
    # Parts of the range of the entries, the highest first.
    int by
    double top
    double scale
    double last
    bint crowded  # one has so many entries that its place is worth a search


cdef inline double magnitude(double key) noexcept nogil:
    """The bits of a number, which rise with it; 0.0 and −0.0 give the same."""
    cdef int64_t bits
    key += 0.0
    memcpy(&bits, &key, sizeof(bits))
    return <double>(bits ^ ((bits >> 63) & INT64_MAX))


cdef inline Py_ssize_t bucket_of(const Buckets* buckets, double value) noexcept nogil:
    """It never falls as the value falls, for each step here keeps the order; NaN, of 0 × infinity, becomes 0."""
    cdef double at
    if buckets.by == BY_MAGNITUDE:
        value = magnitude(value)
    at = (buckets.top - value) * buckets.scale
    at = at if at > 0.0 else 0.0
    at = at if at < buckets.last else buckets.last
    return <Py_ssize_t>at


cdef void set_range(Buckets* buckets, int by, const Entry* entries, Py_ssize_t m, Py_ssize_t count) noexcept nogil:
    """Part the range of the entries in so many parts; one, in effect, where it cannot be parted."""
    cdef Py_ssize_t index
    cdef double value, low = INFINITY
    buckets.by = by
    buckets.top = -INFINITY
    for index in range(m):
        value = entries[index].grade if by == BY_GRADE else entries[index].key
        if -DBL_MAX <= value <= DBL_MAX:
            buckets.top = max(buckets.top, value)
            low = min(low, value)
    if by == BY_MAGNITUDE:
        buckets.top = magnitude(buckets.top)
        low = magnitude(low)
    buckets.last = <double>(count - 1)
    buckets.scale = <double>count / (buckets.top - low) if buckets.top > low else 0.0
    if not buckets.scale <= DBL_MAX:
        buckets.scale = 0.0


cdef Py_ssize_t fill_buckets(Buckets* buckets, int by, Workspace* space, Py_ssize_t m) noexcept nogil:
    """Part the range of the entries: a few buckets an entry.

    Writes the bucket of each entry and where those of each bucket start; returns how many are in the fullest.
    """
    cdef Entry* entries = space.entries
    cdef int32_t* starts = space.starts
    cdef Py_ssize_t count = m * SPREAD if m <= SPREAD_FEW else m, index, b, size, total = 0, most = 0
    set_range(buckets, by, entries, m, count)
    memset(starts, 0, (count + 1) * sizeof(int32_t))
    for index in range(m):
        b = bucket_of(buckets, entries[index].grade if by == BY_GRADE else entries[index].key)
        space.bucket[index] = <int32_t>b
        starts[b + 1] += 1
    for b in range(count):  # starts[b + 1] becomes where b starts and, when it has been filled, where it ends
        size = starts[b + 1]
        starts[b + 1] = <int32_t>total
        total += size
        most = max(most, size)
    buckets.crowded = most > RUN
    return most


cdef void move_to_buckets(Workspace* space, Py_ssize_t m) noexcept nogil:
    """Bring the entries of each bucket together, in the order in which they come."""
    cdef Py_ssize_t index
    cdef int32_t* end
    cdef Entry* swap
    for index in range(m):
        end = &space.starts[space.bucket[index] + 1]
        space.other[end[0]] = space.entries[index]
        end[0] += 1
    swap = space.entries
    space.entries = space.other
    space.other = swap


cdef Buckets sort_entries(Workspace* space, Py_ssize_t m, bint stable) noexcept nogil:
    """Sort the entries by `before`, and leave where those of each bucket start.

    Linear where the keys are spread or equal, evenly or by magnitude; n log n at the worst.
    """
    cdef Buckets buckets
    cdef Py_ssize_t most = fill_buckets(&buckets, BY_KEY, space, m), b, size
    cdef int by = BY_KEY
    if buckets.crowded and fill_buckets(&buckets, BY_MAGNITUDE, space, m) < most:
        by = BY_MAGNITUDE
    if buckets.crowded and not stable:  # many are tied, so let them stand by grade before they stand by key
        fill_buckets(&buckets, BY_GRADE, space, m)
        move_to_buckets(space, m)
    if buckets.by != by or buckets.crowded:
        fill_buckets(&buckets, by, space, m)
    move_to_buckets(space, m)
    for b in range(<Py_ssize_t>buckets.last + 1 if buckets.crowded else 0):
        size = space.starts[b + 1] - space.starts[b]
        if size > RUN:
            merge_sort(space.entries + space.starts[b], space.other, size, stable)
    insertion_sort(space.entries, m, stable)  # none has far to go
    return buckets


cdef void locate(
    const double* scores, const int32_t* origin, Py_ssize_t n, Py_ssize_t m, const Buckets* buckets, bint stable,
    Workspace* space
) noexcept nogil:
    """Count the scores above each entry and equal to it, at the first entry of each key.

    `stable`: the key of an entry becomes its place in its tie group, for it has done its work; `origin` says where each
    score stands in the input, unless that is NULL: where it stands here. Scores are taken by the
    block, so that memory is asked for many places before the first is looked at.
    """
    cdef Step* steps = space.steps
    cdef Step* step
    cdef int32_t* following = space.bucket  # of the entries of each key, the one that comes next in the input
    cdef const int32_t* starts[AHEAD]
    cdef Step* found[AHEAD]
    cdef Py_ssize_t index, done = 0, block, low, size, half, place
    cdef uint64_t total = 0
    cdef double score
    cdef bint tied
    for index in range(m):
        steps[index].key = space.entries[index].key
        steps[index].tally = 0
        following[index] = <int32_t>index
    steps[m].key = -INFINITY  # after all, for scores that no entry has: what is counted there is of no use
    steps[m].tally = 0
    following[m] = <int32_t>m
    while done < n:
        block = min(n - done, <Py_ssize_t>AHEAD)
        for index in range(block):
            starts[index] = space.starts + bucket_of(buckets, scores[done + index])
            prefetch(starts[index])
        for index in range(block):
            low = starts[index][0]
            if buckets.crowded:
                size = starts[index][1] - low
                if size > RUN and not steps[low].key > scores[done + index]:  # as where many are tied: it is the first
                    size = 0
                while size > RUN:
                    half = size // 2
                    low += half if steps[low + half - 1].key > scores[done + index] else 0
                    size -= half
            found[index] = steps + low
            prefetch(found[index])
        for index in range(block):
            score = scores[done + index]
            step = found[index]
            step += step.key > score  # mostly all there is to do, and no branch; in later buckets keys are lower
            while step.key > score:
                step += 1
            tied = step.key >= score  # it is not above
            if stable and tied:
                low = following[step - steps]
                place = done + index if origin == NULL else <Py_ssize_t>origin[done + index]
                if low < m and space.entries[low].index == place:
                    space.entries[low].key = <double>(step.tally >> 32)
                    following[step - steps] += 1
            step.tally += <uint64_t>1 << (32 * tied)
        done += block
    for index in range(m):
        steps[index].tally += total
        total = <uint32_t>steps[index].tally + (steps[index].tally >> 32)


cdef Py_ssize_t rank_few(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """`rank_entries` of few without sorting: an entry goes where the scores above it leave it, those of a tie group
    after each other."""
    cdef Py_ssize_t index, other, kept = 0, word, at
    cdef Entry* entries = space.entries
    cdef double* keys = space.distinct
    cdef int64_t above[FEW_RANKS]
    cdef int64_t reach[FEW_RANKS]
    cdef uint8_t slots[SLOTS]
    cdef uint64_t taken[SLOT_WORDS]
    cdef uint64_t left
    cdef uint8_t held, swap
    cdef bint moved
    for index in range(m):
        keys[index] = entries[index].key
    simd.ranks(scores, n, keys, m, above, reach)
    memset(taken, 0, sizeof(taken))
    for index in range(m):
        at = <Py_ssize_t>above[index]
        held = <uint8_t>index
        moved = False
        if stable and reach[index] > at + 1:
            for other in range(entries[index].index):
                at += scores[other] == keys[index]
            at = min(at, n)  # though another thread writes to them
            above[index] = at
        while taken[at >> 6] >> (at & 63) & 1:
            moved = moved or (not stable and entries[index].grade > entries[slots[at]].grade)
            if moved:
                swap = slots[at]
                slots[at] = held
                held = swap
            at += 1
        slots[at] = held
        taken[at >> 6] |= <uint64_t>1 << (at & 63)
    for word in range(SLOT_WORDS):
        left = taken[word]
        while left:
            index = slots[64 * word + lowest(left)]
            left &= left - 1
            if above[index] >= depth:
                break
            hit_grade[kept] = entries[index].grade
            hit_first[kept] = above[index] + 1
            hit_last[kept] = above[index] + 1 if stable else reach[index]
            space.other[kept] = entries[index]
            kept += 1
    space.entries = space.other
    space.other = entries
    return kept


cdef Py_ssize_t rank_each(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """`rank_entries`, each compared with all scores."""
    cdef Py_ssize_t index, part = FEW, count
    cdef double keys[FEW_RANKS]
    cdef int64_t above[FEW_RANKS]
    cdef int64_t reach[FEW_RANKS]
    cdef int64_t place, unused
    merge_sort(space.entries, space.other, m, stable)
    for index in range(m):
        if part == FEW:
            count = min(m - index, <Py_ssize_t>FEW)
            for part in range(count):
                keys[part] = space.entries[index + part].key
            simd.ranks(scores, n, keys, count, above, reach)
            part = 0
        place = 0
        if stable and reach[part] > above[part] + 1:
            simd.count(scores, space.entries[index].index, keys[part], &unused, &place)
        if above[part] + place >= depth:
            return index
        hit_grade[index] = space.entries[index].grade
        hit_first[index] = above[part] + place + 1
        hit_last[index] = hit_first[index] if stable else reach[part]
        part += 1
    return m


cdef Py_ssize_t rank_many(
    const double* scores, const int32_t* origin, Py_ssize_t n, Py_ssize_t m, int64_t higher, int64_t depth, bint stable,
    Workspace* space, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """`rank_entries`, `higher` scores above these, in time that rises with n + m."""
    cdef Py_ssize_t index
    cdef int64_t above = 0, equal = 0, place = 0
    cdef Buckets buckets = sort_entries(space, m, stable)
    locate(scores, origin, n, m, &buckets, stable, space)
    for index in range(m):
        if index == 0 or space.steps[index].key != space.steps[index - 1].key:
            above = higher + <uint32_t>space.steps[index].tally
            equal = <int64_t>(space.steps[index].tally >> 32)
        place = <int64_t>space.entries[index].key if stable and equal > 1 else 0
        if above + place >= depth:
            return index
        hit_grade[index] = space.entries[index].grade
        hit_first[index] = above + place + 1
        hit_last[index] = hit_first[index] if stable else above + equal
    return m


cdef Py_ssize_t rank_parts(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """`rank_many`, by parts that the cache holds; −1 if there are none.

    15 instead of 23 ns a document of 10^5, 38 instead of 60 of 10^6, half of them relevant.
    """
    cdef Py_ssize_t count = max(min(n // PART, <Py_ssize_t>PARTS), 1), most = 0, kept = 0
    cdef Py_ssize_t index, part, size, found, start, stop
    cdef int32_t score_at[PARTS]
    cdef int32_t entry_at[PARTS]
    cdef Entry* entries = space.entries
    cdef Workspace own
    cdef Buckets buckets
    cdef int by = BY_KEY
    while True:
        set_range(&buckets, by, entries, m, count)
        memset(score_at, 0, sizeof(score_at))
        for index in range(n):
            score_at[bucket_of(&buckets, scores[index])] += 1
        most = 0
        for part in range(count):
            most = max(most, <Py_ssize_t>score_at[part])
        if most <= 16 * (n // count):
            break
        if by == BY_MAGNITUDE or buckets.scale == 0.0:
            return -1
        by = BY_MAGNITUDE
    memset(entry_at, 0, sizeof(entry_at))
    for index in range(m):
        entry_at[bucket_of(&buckets, entries[index].key)] += 1
    starts_of(score_at, count)
    starts_of(entry_at, count)
    for index in range(n):
        part = bucket_of(&buckets, scores[index])
        if score_at[part] < n:  # always, unless another thread writes to the scores
            space.parted[score_at[part]] = scores[index]
            if stable:
                space.origin[score_at[part]] = <int32_t>index
            score_at[part] += 1
    for index in range(m):
        part = bucket_of(&buckets, entries[index].key)
        space.other[entry_at[part]] = entries[index]
        entry_at[part] += 1
    own = space[0]
    for part in range(count):  # what was where each starts is where it ends
        start = score_at[part - 1] if part else 0
        stop = entry_at[part - 1] if part else 0
        size = entry_at[part] - stop
        if start >= depth:
            break
        if size == 0:
            continue
        own.entries = space.other + stop
        own.other = entries + stop
        found = rank_many(
            space.parted + start, space.origin + start if stable else NULL, score_at[part] - start, size, start, depth,
            stable, &own, hit_grade + kept, hit_first + kept, hit_last + kept,
        )
        if own.entries != entries + stop:
            memcpy(entries + stop, own.entries, size * sizeof(Entry))
        kept += found
        if found < size:
            break
    return kept


cdef inline void starts_of(int32_t* sizes, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t index
    cdef int32_t size, total = 0
    for index in range(count):
        size = sizes[index]
        sizes[index] = total
        total += size


cdef Py_ssize_t rank_entries(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Give m entries, in input order, the first and last rank of their tie group among n scores.

    Nothing but the entries is sorted: the other documents are only counted above them. Writes the hits that start at
    rank ≤ depth, returns their number, and leaves the entries in the same order. Equals `find` of the reference.
    """
    cdef Py_ssize_t found
    if n > INT32_MAX or m <= FEW_KEYS or (m <= simd.few and n <= FEW_SCORES):
        if n <= FEW_SCORES:
            return rank_few(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
        return rank_each(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
    if m > SPREAD_FEW and n <= PARTED and 4 * m > n:
        found = rank_parts(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
        if found >= 0:
            return found
    return rank_many(scores, NULL, n, m, 0, depth, stable, space, hit_grade, hit_first, hit_last)


cdef double kth_highest(const double* scores, Py_ssize_t n, Py_ssize_t k, double* heap) noexcept nogil:
    """The k-th highest of n ≥ k scores."""
    cdef Py_ssize_t index, parent, child
    cdef double score, kth = INFINITY
    cdef int64_t above
    if n <= RUN:  # the lowest that fewer than k are above; without a branch on the data
        for index in range(n):
            score = scores[index]
            above = 0
            for child in range(n):
                above += scores[child] > score
            kth = min(kth, score if above < k else INFINITY)
        return kth
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


cdef inline Py_ssize_t stride_for(Py_ssize_t k) noexcept nogil:
    """Of how many parts the k-th highest maximum is near the k-th highest score."""
    return (3 * k // 2 + 15) // 16 * 16


cdef double bound_of(const double* scores, Py_ssize_t n, Py_ssize_t k, Workspace* space) noexcept nogil:
    """A lower bound of the k-th highest of n scores, near it where n is much larger than k.

    The highest scores of `stride` parts of the list are those of different documents.
    """
    cdef Py_ssize_t stride = stride_for(k)
    simd.maxima(scores, n, stride, space.distinct)
    if stride <= MAXIMA:
        return simd.kth(space.distinct, stride, k)
    return kth_highest(space.distinct, stride, k, space.distinct + stride)


cdef Py_ssize_t cut(
    const double* scores, Py_ssize_t n, int64_t depth, bint whole, Workspace* space, double* edge
) noexcept nogil:
    """Copy the scores that can be among the `depth` highest, and their places; return how many, −1 if one is NaN.

    Unless `whole`, of a large tie group at that depth none is copied, but its score is the edge; else that is NaN.
    """
    cdef Py_ssize_t k = <Py_ssize_t>depth, count = 0, capacity = min(n, 16 * k + 256), at = 0
    cdef double bound = bound_of(scores, min(n, 128 * (k + 16)), k, space)
    cdef bint above = False  # what has been copied, and is to be, is above the bound, not at it
    edge[0] = NAN
    while True:
        at = simd.collect(
            scores, at, n, nextafter(bound, INFINITY) if above else bound, space.near, space.place, &count, capacity,
        )
        if not simd.numbers(space.near, count):
            return -1
        if at == n:
            if above:
                count = keep(space, count, bound, True)
                edge[0] = bound if count < k else NAN
            return count
        above = False
        bound = max(bound, bound_of(space.near, count, k, space))
        count = keep(space, count, bound, False)
        if 2 * count > capacity:  # many are equal to the bound
            if not whole and 64 * count > at and bound < DBL_MAX:  # fewer are sooner copied than counted
                above = True
                count = keep(space, count, bound, True)
            if 2 * count > capacity:
                capacity = min(n, 2 * capacity)


cdef Py_ssize_t keep(Workspace* space, Py_ssize_t count, double bound, bint above) noexcept nogil:
    """Keep, of what a cut copied, the scores that are not below the bound, or `above` it."""
    cdef Py_ssize_t index, kept = 0
    for index in range(count):
        space.near[kept] = space.near[index]
        space.place[kept] = space.place[index]
        kept += space.near[index] > bound if above else space.near[index] >= bound
    return kept


cdef struct Tally:
    # How many numbers there are of each grade, and which: 0 in the first slot, others by the hash of their bits.
    int64_t counts[TALLIES]  # four of each, for the same number may not be written again at once
    uint64_t bits[TALLY]
    int distinct


cdef inline bint tally_one(Tally* tally, uint64_t bits, Py_ssize_t index) noexcept nogil:
    """Count one more; False where there are too many grades."""
    cdef int slot = <int>((bits * <uint64_t>0x9E3779B97F4A7C15) >> 58)
    while tally.bits[slot] != bits:
        if tally.bits[slot] == 0 and slot:
            if tally.distinct == TALLY // 2:
                return False
            tally.bits[slot] = bits
            tally.distinct += 1
        else:
            slot = (slot + 1) % TALLY
    tally.counts[4 * slot + index % 4] += 1
    return True


cdef int64_t pop_highest(Tally* tally, double* grade) noexcept nogil:
    """Take out the highest grade, and how many there are; 0 if none is left but 0."""
    cdef int slot, best = 0
    cdef double each
    grade[0] = 0.0
    for slot in range(1, TALLY):
        memcpy(&each, &tally.bits[slot], sizeof(each))
        if each > grade[0]:
            best = slot
            grade[0] = each
    tally.bits[best] = 0
    return (
        tally.counts[4 * best] + tally.counts[4 * best + 1] + tally.counts[4 * best + 2] + tally.counts[4 * best + 3]
    ) if best else 0


cdef inline bint tally_tied(
    const double* scores, const number_t* grades, Py_ssize_t n, double score, Tally* tally, int64_t* tied
) noexcept nogil:
    """Count the hits of a tie group by grade, all others as 0, and its documents; False: too many grades."""
    cdef Py_ssize_t index
    cdef double grade
    cdef uint64_t bits
    cdef bint member
    for index in range(n):
        member = scores[index] == score
        grade = <double>grades[index]
        memcpy(&bits, &grade, sizeof(bits))
        if not tally_one(tally, bits & -<uint64_t>(member & (grade > 0.0)), index):  # no branch on the data
            return False
        tied[0] += member
    return True


cdef Py_ssize_t write_tied(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, double score, int64_t above,
    Py_ssize_t capacity, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Write the hits of a tie group, which stand by grade: so they are counted, not sorted (3 instead of 17 to 60 ns a
    document). Return how many, −1 and nothing written if there are too many grades. Equals `find` of the reference."""
    cdef Tally tally
    cdef bint done
    cdef int64_t tied = 0, last, count
    cdef Py_ssize_t written = 0, stop, index
    cdef double grade
    memset(&tally, 0, sizeof(tally))
    if grades.kind == FLOAT64:
        done = tally_tied(scores, <const double*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == FLOAT32:
        done = tally_tied(scores, <const float*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == INT64:
        done = tally_tied(scores, <const int64_t*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == INT32:
        done = tally_tied(scores, <const int32_t*>grades.view.buf + start, n, score, &tally, &tied)
    else:
        done = tally_tied(scores, <const uint8_t*>grades.view.buf + start, n, score, &tally, &tied)
    if not done:
        return -1
    last = min(above + tied, <int64_t>n)
    count = pop_highest(&tally, &grade)
    while count:
        stop = <Py_ssize_t>min(written + count, <int64_t>capacity)  # another thread may write to the scores
        for index in range(written, stop):
            hit_grade[index] = grade
            hit_first[index] = above + 1
            hit_last[index] = last
        written = stop
        count = pop_highest(&tally, &grade)
    return written


# grades and hits

def grade_error(grades, const int64_t[::1] offsets, /):
    cdef Py_ssize_t query = 0, position = 0
    cdef int code = 0
    cdef Numbers numbers
    open_numbers(&numbers, grades)
    with nogil:
        for query in range(offsets.shape[0] - 1):
            code = number_error(&numbers, offsets[query], offsets[query + 1] - offsets[query], &position)
            if code:
                break
    close_numbers(&numbers)
    return (code, query, position) if code else None


cdef int number_error(const Numbers* grades, int64_t start, Py_ssize_t n, Py_ssize_t* position) noexcept nogil:
    cdef double scratch[BLOCK]
    cdef Py_ssize_t done = 0, size
    cdef int code
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK)
        code = first_error(doubles_of(grades, start + done, size, scratch), size, 1, False, position)
        if code:
            position[0] += done
            return code
        done += size
    return 0


cdef Py_ssize_t order_hits(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, int64_t depth, bint zeros, bint stable,
    Workspace* space, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Write the hits of one query and return their number, −1 if a score is NaN.

    With `zeros` or `stable` the entries are left in their order. The scores may stand in `space.scores`.
    """
    cdef Py_ssize_t m, near, index
    cdef double edge
    if depth > n // 8 and (depth > n or 2 * stride_for(<Py_ssize_t>depth) > min(n, SHORT)):
        if not simd.numbers(scores, n):
            return -1
        m = entries_of(scores, grades, start, n, zeros, space)
        return rank_entries(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
    near = cut(scores, n, depth, zeros or stable, space, &edge)
    if near < 0:
        return -1
    m = entries_near(grades, start, near, zeros, space)
    m = rank_entries(space.near, near, m, depth, stable, space, hit_grade, hit_first, hit_last)
    if edge == edge:
        index = write_tied(
            scores, grades, start, n, edge, near, n - m, hit_grade + m, hit_first + m, hit_last + m
        )
        if index >= 0:
            return m + index
        near = 0
        simd.collect(scores, 0, n, edge, space.near, space.place, &near, n)
        m = entries_near(grades, start, near, zeros, space)
        m = rank_entries(space.near, near, m, depth, stable, space, hit_grade, hit_first, hit_last)
    for index in range(m):  # as the caller counts them
        space.entries[index].index = space.place[space.entries[index].index]
    return m


cdef inline Py_ssize_t gather(
    const number_t* grades, Py_ssize_t n, bint zeros, Entry* entries
) noexcept nogil:
    """The places of the documents that can be hits, in input order, without a branch on the data."""
    cdef Py_ssize_t index, m = 0
    for index in range(n):
        entries[m].index = index
        m += zeros | (grades[index] > 0)
    return m


cdef Py_ssize_t entries_of(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, bint zeros, Workspace* space
) noexcept nogil:
    """The documents that can be hits, in input order."""
    cdef Entry* entries = space.entries
    cdef Py_ssize_t index, m
    if grades.kind == FLOAT64:
        m = gather(<const double*>grades.view.buf + start, n, zeros, entries)
    elif grades.kind == FLOAT32:
        m = gather(<const float*>grades.view.buf + start, n, zeros, entries)
    elif grades.kind == INT64:
        m = gather(<const int64_t*>grades.view.buf + start, n, zeros, entries)
    elif grades.kind == INT32:
        m = gather(<const int32_t*>grades.view.buf + start, n, zeros, entries)
    else:
        m = gather(<const uint8_t*>grades.view.buf + start, n, zeros, entries)
    for index in range(m):
        entries[index].key = scores[entries[index].index]
        entries[index].grade = number_at(grades, start + entries[index].index)
    return m


cdef Py_ssize_t entries_near(
    const Numbers* grades, int64_t start, Py_ssize_t near, bint zeros, Workspace* space
) noexcept nogil:
    """Those among the documents that a cut left, which are numbered anew."""
    cdef Py_ssize_t index, m = 0
    cdef double grade
    for index in range(near):
        grade = number_at(grades, start + space.place[index])
        space.entries[m].key = space.near[index]
        space.entries[m].grade = grade
        space.entries[m].index = index
        m += zeros | (grade > 0.0)
    return m


cdef bint count_usual(const Numbers* grades, int64_t start, Py_ssize_t n, int64_t* counts) noexcept nogil:
    """How many grades there are of 0 to 7; False where there are others."""
    cdef int64_t integers[BLOCK]
    cdef double scratch[BLOCK]
    cdef Py_ssize_t done = 0, size
    memset(counts, 0, 8 * sizeof(int64_t))
    if grades.kind == INT64:
        return simd.tally(<const int64_t*>grades.view.buf + start, n, counts)
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK)
        simd.whole(doubles_of(grades, start + done, size, scratch), size, integers)
        if not simd.tally(integers, size, counts):
            return False
        done += size
    return True


cdef int count_numbers(
    const Numbers* grades, int64_t start, Py_ssize_t n, int64_t depth, Workspace* space,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil:
    """`count_grades` of numbers of any type: the usual grades, whole and below 8, and few others, by quicker ways."""
    cdef int64_t counts[8]
    if count_usual(grades, start, n, counts):
        written[0] = write_counts(counts, 8, depth, out_grade, out_count)
        return 0
    if n > BLOCK and count_few(grades, start, n, depth, out_grade, out_count, written):
        return 0
    return count_grades(
        doubles_of(grades, start, n, space.scores), n, depth, space.entries, space.other,
        out_grade, out_count, written, position,
    )


cdef bint count_few(
    const Numbers* grades, int64_t start, Py_ssize_t n, int64_t left,
    double* out_grade, int64_t* out_count, Py_ssize_t* written
) noexcept nogil:
    """`count_grades` where there are few distinct ones, which need not be copied for it; False where there are not, or
    one is no grade."""
    cdef Tally tally
    cdef double scratch[BLOCK]
    cdef const double* block
    cdef double grade
    cdef uint64_t bits
    cdef int64_t count
    cdef Py_ssize_t done = 0, size, index
    memset(&tally, 0, sizeof(tally))
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK)
        block = doubles_of(grades, start + done, size, scratch)
        for index in range(size):
            grade = block[index] + 0.0  # −0.0 as 0.0
            memcpy(&bits, &grade, sizeof(bits))
            if not sound(grade) or not tally_one(&tally, bits, index):
                return False
        done += size
    written[0] = 0
    left = min(left, <int64_t>n)
    while left:
        count = pop_highest(&tally, &grade)
        out_grade[written[0]] = grade
        out_count[written[0]] = min(count, left) if count else left  # the rest is 0
        left -= out_count[written[0]]
        written[0] += 1
    return True


cdef Py_ssize_t write_counts(
    const int64_t* counts, int n, int64_t left, double* out_grade, int64_t* out_count
) noexcept nogil:
    """The `left` highest of the grades that were counted; the number of distinct ones."""
    cdef Py_ssize_t written = 0
    cdef int grade
    for grade in range(n - 1, -1, -1):
        if counts[grade] and left:
            out_grade[written] = grade
            out_count[written] = min(counts[grade], left)
            left -= out_count[written]
            written += 1
    return written


cdef int count_grades(
    const double* grades, Py_ssize_t n, int64_t depth, Entry* entries, Entry* scratch,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil:
    """The `depth` highest grades as distinct grades, highest first, with the number of each."""
    cdef int64_t counts[SMALL_GRADES]
    cdef int64_t left = min(depth, <int64_t>n)
    cdef Py_ssize_t index, m = 0
    cdef double grade, floor = 0.0
    cdef int small
    memset(counts, 0, sizeof(counts))
    for index in range(n):
        grade = grades[index]
        if not sound(grade):
            position[0] = index
            return grade_code(grade)
        if grade < SMALL_GRADES:
            small = <int>grade
            if small == grade:
                counts[small] += 1
                continue
        m += 1
    if m == 0:
        written[0] = write_counts(counts, SMALL_GRADES, depth, out_grade, out_count)
        return 0
    written[0] = 0
    if left < n // 4:
        floor = kth_highest(grades, n, <Py_ssize_t>left, <double*>scratch)
    m = 0
    for index in range(n):
        if grades[index] >= floor and grades[index] > 0.0:
            entries[m].key = grades[index]
            m += 1
    merge_sort(entries, scratch, m, True)
    for index in range(<Py_ssize_t>min(<int64_t>m, left)):
        if written[0] and out_grade[written[0] - 1] == entries[index].key:
            out_count[written[0] - 1] += 1
        else:
            out_grade[written[0]] = entries[index].key
            out_count[written[0]] = 1
            written[0] += 1
    if left > m:  # the rest is 0
        out_grade[written[0]] = 0.0
        out_count[written[0]] = left - m
        written[0] += 1
    return 0
