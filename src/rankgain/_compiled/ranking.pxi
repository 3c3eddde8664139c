# Compute the hits and judged grades of a query from scores and grades: see `_reference/ranking.py`.
from libc.math cimport INFINITY, NAN, isnan, nextafter
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from rankgain._codes cimport NAN_GRADE, NAN_SCORE

cdef extern from "simd.h" nogil:
    enum: MOST_KEYS
    struct RowScratch:
        const int32_t* columns
        Py_ssize_t n_excluded
        void* keys
        void* excluded
        void* peaks
        void* near
        Py_ssize_t capacity
        Py_ssize_t n_peaks
        int64_t* above
        int64_t* not_below
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
        Py_ssize_t (*position_of)(const void*, Py_ssize_t, int, int64_t) noexcept nogil
        bint (*scan_float)(const void*, Py_ssize_t, int64_t, RowScratch*) noexcept nogil
        bint (*scan_double)(const void*, Py_ssize_t, int64_t, RowScratch*) noexcept nogil
        Py_ssize_t (*rank_float)(
            const void*, Py_ssize_t, const double*, Py_ssize_t, int64_t, RowScratch*, int64_t*, int64_t*
        ) noexcept nogil
        Py_ssize_t (*rank_double)(
            const void*, Py_ssize_t, const double*, Py_ssize_t, int64_t, RowScratch*, int64_t*, int64_t*
        ) noexcept nogil
        int64_t (*equal_float)(const void*, Py_ssize_t, Py_ssize_t, double) noexcept nogil
        int64_t (*equal_double)(const void*, Py_ssize_t, Py_ssize_t, double) noexcept nogil
    const Simd* simd_baseline
    const Simd* simd_avx2()

cdef enum:
    # Each threshold was set by timing the alternative methods on x86-64 at every SIMD level. The results never depend
    # on the thresholds.
    SMALL_GRADES = 64  # integer grades below this value are counted instead of sorted
    INSERTION_SORT_MAX = 16  # maximum number of entries that are sorted by insertion
    BUCKETS_PER_ENTRY = 4  # number of buckets per entry for up to SPARSE_BUCKETS_MAX entries, otherwise 1
    SPARSE_BUCKETS_MAX = 4096  # maximum number of entries that get several buckets each
    COMPARE_MAX = 48  # maximum number of entries that are compared with every score instead of being sorted
    SIMD_COMPARE_MAX = 128  # like COMPARE_MAX, for short lists at SIMD levels that allow it (`Simd.few`)
    SLOT_SCORES_MAX = 256  # maximum number of scores for which entries are placed into slots instead of being sorted
    RANKS_SIZE = 144  # space for SIMD_COMPARE_MAX ranks and the padding of the last SIMD row
    SLOTS = 384  # SLOT_SCORES_MAX slots, plus SIMD_COMPARE_MAX slots for entries that share the last rank
    SLOT_WORDS = 6  # number of 64-bit words that hold one bit per slot
    PARTITION_SCORES = 2048  # target number of scores per partition, so that its entries and scores fit in the L1 cache
    PARTITIONS_MAX = 1024
    PARTITIONED_MAX = 1 << 22  # maximum number of scores to partition, which copies 12 bytes per score
    PREFETCH_SCORES = 32  # number of scores whose buckets are prefetched before the first bucket is read
    BLOCK_GRADES = 512  # number of grades that are converted to float64 at a time
    PADDING = 32  # scratch entries after the last document, since some loops write several entries at once
    TALLY_COUNTS = 256  # four counters per slot
    TALLY_SLOTS = 64  # number of hash slots for distinct grades; at most half of them are filled
    COUNTED_MAXIMA_MAX = 160  # limit for finding the k-th of the maxima by counting (1.3 instead of 1.9 µs at k = 100)
    FEW_KEYS = 4  # maximum number of keys that are compared with all scores to see if they are among the highest
    SHORT_STRIDE = 128  # limit for 2·stride, above which a list is cut to its top k only if it has 8·k documents

cdef const Simd* simd = simd_baseline


def use_cpu(str level, /):
    """Select the CPU level of the loops; None selects the best level. Return the selected level, or None if the CPU
    lacks it."""
    global simd
    if level == "avx2" or level is None:
        if simd_avx2() != NULL:
            simd = simd_avx2()
            return "avx2"
    if level == "baseline" or level is None:
        simd = simd_baseline
        return "baseline"
    return None


use_cpu(None)  # selects the loops before any function is called


def lanes():
    """Return how many float64 values fit in a SIMD register: 4, 2, or 1 if the loops were compiled without SIMD."""
    return simd.lanes


cdef bint wide_registers() noexcept nogil:
    """Return whether the loops use more than the baseline instruction set."""
    return simd != simd_baseline


# ordering documents

cdef inline bint before(const Entry* a, const Entry* b, bint stable) noexcept nogil:
    """Return whether entry `a` sorts before entry `b`. Entries are in descending order of keys and, for equal keys, of
    grades. If `stable` is set, entries with equal keys stay in input order."""
    return a.key > b.key or (not stable and a.key == b.key and a.grade > b.grade)


cdef void insertion_sort(Entry* entries, Py_ssize_t n, bint stable) noexcept nogil:
    """Sort entries by `before`. Linear if they are nearly sorted."""
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
    """Sort entries by bottom-up merge sort in O(n log n). Return early if the entries are already sorted."""
    cdef Py_ssize_t start, middle, stop, i, j, out, width = INSERTION_SORT_MAX
    cdef Entry* swap
    cdef Entry* source = entries
    cdef Entry* target = scratch
    start = 1
    while start < n and not before(&entries[start], &entries[start - 1], stable):
        start += 1
    if start >= n:
        return
    start = 0
    while start < n:
        insertion_sort(entries + start, min(<Py_ssize_t>INSERTION_SORT_MAX, n - start), stable)
        start += INSERTION_SORT_MAX
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
    BY_KEY  # buckets are equal intervals of the keys
    BY_MAGNITUDE  # buckets are equal intervals of the keys' bit patterns, for keys of very different magnitudes
    BY_GRADE

cdef struct Buckets:
    # Intervals that partition the range of the entries, in descending order.
    int by
    double top
    double scale
    double last
    bint crowded  # whether a bucket has too many entries for a linear scan


cdef inline double magnitude(double key) noexcept nogil:
    """Map a number to a number derived from its bit pattern. The mapping is increasing, and 0.0 and −0.0 give the same
    result."""
    cdef int64_t bits
    key += 0.0
    memcpy(&bits, &key, sizeof(bits))
    return <double>(bits ^ ((bits >> 63) & INT64_MAX))


cdef inline Py_ssize_t bucket_of(const Buckets* buckets, double value) noexcept nogil:
    """Return the bucket of a value. A lower value never gets an earlier bucket. If the computation gives NaN (0 ×
    infinity), the bucket is 0."""
    cdef double at
    if buckets.by == BY_MAGNITUDE:
        value = magnitude(value)
    at = (buckets.top - value) * buckets.scale
    at = at if at > 0.0 else 0.0
    at = at if at < buckets.last else buckets.last
    return <Py_ssize_t>at


cdef void set_range(Buckets* buckets, int by, const Entry* entries, Py_ssize_t m, Py_ssize_t count) noexcept nogil:
    """Divide the range of the entries into `count` buckets. If the range cannot be divided, all values get bucket 0."""
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
    """Assign the entries to buckets; return the size of the fullest bucket.

    Write the bucket of each entry and the start offset of each bucket.
    """
    cdef Entry* entries = space.entries
    cdef int32_t* starts = space.starts
    cdef Py_ssize_t count = m * BUCKETS_PER_ENTRY if m <= SPARSE_BUCKETS_MAX else m, index, b, size, total = 0, most = 0
    set_range(buckets, by, entries, m, count)
    memset(starts, 0, (count + 1) * sizeof(int32_t))
    for index in range(m):
        b = bucket_of(buckets, entries[index].grade if by == BY_GRADE else entries[index].key)
        space.bucket[index] = <int32_t>b
        starts[b + 1] += 1
    # starts[b + 1] becomes the start of bucket b; once the bucket is filled, it is the end of bucket b
    for b in range(count):
        size = starts[b + 1]
        starts[b + 1] = <int32_t>total
        total += size
        most = max(most, size)
    buckets.crowded = most > INSERTION_SORT_MAX
    return most


cdef void move_to_buckets(Workspace* space, Py_ssize_t m) noexcept nogil:
    """Group the entries by bucket, and keep the input order within each bucket."""
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
    """Sort the entries by `before`; `space.starts` then holds the start of each bucket.

    This takes linear time if the keys or their magnitudes are evenly spread or equal, and O(n log n) in the worst case.
    """
    cdef Buckets buckets
    cdef Py_ssize_t most = fill_buckets(&buckets, BY_KEY, space, m), b, size
    cdef int by = BY_KEY
    if buckets.crowded and fill_buckets(&buckets, BY_MAGNITUDE, space, m) < most:
        by = BY_MAGNITUDE
    if buckets.crowded and not stable:  # many ties: sort by grade first, then by key
        fill_buckets(&buckets, BY_GRADE, space, m)
        move_to_buckets(space, m)
    if buckets.by != by or buckets.crowded:
        fill_buckets(&buckets, by, space, m)
    move_to_buckets(space, m)
    for b in range(<Py_ssize_t>buckets.last + 1 if buckets.crowded else 0):
        size = space.starts[b + 1] - space.starts[b]
        if size > INSERTION_SORT_MAX:
            merge_sort(space.entries + space.starts[b], space.other, size, stable)
    insertion_sort(space.entries, m, stable)  # fast, since the entries are nearly sorted
    return buckets


cdef void locate(
    const double* scores, const int32_t* origin, Py_ssize_t n, Py_ssize_t m, const Buckets* buckets, bint stable,
    Workspace* space
) noexcept nogil:
    """For the first entry with each key, count the scores above the key and those equal to it.

    If `stable` is set, the key of an entry, which is no longer needed, is replaced by its position within the tie
    group. `origin` holds the input position of each score; if it is NULL, the position is the index. Scores are
    processed in blocks, and the memory for a block is prefetched before its first score is looked up.
    """
    cdef Step* steps = space.steps
    cdef Step* step
    cdef int32_t* following = space.bucket  # for each key, the next entry in input order
    cdef const int32_t* starts[PREFETCH_SCORES]
    cdef Step* matches[PREFETCH_SCORES]
    cdef Py_ssize_t index, start = 0, block, low, size, half, position
    cdef uint64_t total = 0
    cdef double score
    cdef bint tied
    for index in range(m):
        steps[index].key = space.entries[index].key
        steps[index].tally = 0
        following[index] = <int32_t>index
    steps[m].key = -INFINITY  # sentinel for scores below all entries; its counts are ignored
    steps[m].tally = 0
    following[m] = <int32_t>m
    while start < n:
        block = min(n - start, <Py_ssize_t>PREFETCH_SCORES)
        for index in range(block):
            starts[index] = space.starts + bucket_of(buckets, scores[start + index])
            prefetch(starts[index])
        for index in range(block):
            low = starts[index][0]
            if buckets.crowded:
                size = starts[index][1] - low
                if size > INSERTION_SORT_MAX and not steps[low].key > scores[start + index]:
                    size = 0  # the first entry matches, which is common with many ties
                while size > INSERTION_SORT_MAX:
                    half = size // 2
                    low += half if steps[low + half - 1].key > scores[start + index] else 0
                    size -= half
            matches[index] = steps + low
            prefetch(matches[index])
        for index in range(block):
            score = scores[start + index]
            step = matches[index]
            step += step.key > score  # one branch-free step is usually sufficient; the keys of later buckets are lower
            while step.key > score:
                step += 1
            tied = step.key >= score  # equal, because the key is not above the score
            if stable and tied:
                low = following[step - steps]
                position = start + index if origin == NULL else <Py_ssize_t>origin[start + index]
                if low < m and space.entries[low].index == position:
                    space.entries[low].key = <double>(step.tally >> 32)
                    following[step - steps] += 1
            step.tally += <uint64_t>1 << (32 * tied)
        start += block
    for index in range(m):
        steps[index].tally += total
        total = <uint32_t>steps[index].tally + (steps[index].tally >> 32)


cdef Py_ssize_t rank_few(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Implement `rank_entries` for at most SLOT_SCORES_MAX scores and SIMD_COMPARE_MAX entries, without sorting. The
    slot of an entry is the number of scores above it, and the entries of a tie group take consecutive slots. `entries`
    and `other` are swapped: only the entries that are hits are left, and the former are in `other`."""
    cdef Py_ssize_t index, other, n_hits = 0, word, slot
    cdef Entry* entries = space.entries
    cdef double* keys = space.distinct
    cdef int64_t above[RANKS_SIZE]
    cdef int64_t last_rank[RANKS_SIZE]
    cdef uint8_t slots[SLOTS]
    cdef uint64_t occupied[SLOT_WORDS]
    cdef uint64_t remaining
    cdef uint8_t current, displaced
    cdef bint displacing
    for index in range(m):
        keys[index] = entries[index].key
    simd.ranks(scores, n, keys, m, above, last_rank)
    memset(occupied, 0, sizeof(occupied))
    for index in range(m):
        slot = <Py_ssize_t>above[index]
        current = <uint8_t>index
        displacing = False
        if stable and last_rank[index] > slot + 1:
            for other in range(entries[index].index):
                slot += scores[other] == keys[index]
            slot = min(slot, n)  # clamped, since another thread may write to the scores
            above[index] = slot
        while occupied[slot >> 6] >> (slot & 63) & 1:
            displacing = displacing or (not stable and entries[index].grade > entries[slots[slot]].grade)
            if displacing:
                displaced = slots[slot]
                slots[slot] = current
                current = displaced
            slot += 1
        slots[slot] = current
        occupied[slot >> 6] |= <uint64_t>1 << (slot & 63)
    for word in range(SLOT_WORDS):
        remaining = occupied[word]
        while remaining:
            index = slots[64 * word + lowest_set_bit(remaining)]
            remaining &= remaining - 1
            if above[index] >= depth:
                break
            hit_grade[n_hits] = entries[index].grade
            hit_first[n_hits] = above[index] + 1
            hit_last[n_hits] = above[index] + 1 if stable else last_rank[index]
            space.other[n_hits] = entries[index]
            n_hits += 1
    space.entries = space.other
    space.other = entries
    return n_hits


cdef Py_ssize_t rank_each(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Implement `rank_entries` for at most COMPARE_MAX entries of a longer list: sort them in place, and compare each
    with all scores."""
    cdef Py_ssize_t index, part = SIMD_COMPARE_MAX, count
    cdef double keys[RANKS_SIZE]
    cdef int64_t above[RANKS_SIZE]
    cdef int64_t last_rank[RANKS_SIZE]
    cdef int64_t tie_offset, unused
    merge_sort(space.entries, space.other, m, stable)
    for index in range(m):
        if part == SIMD_COMPARE_MAX:
            count = min(m - index, <Py_ssize_t>SIMD_COMPARE_MAX)
            for part in range(count):
                keys[part] = space.entries[index + part].key
            simd.ranks(scores, n, keys, count, above, last_rank)
            part = 0
        tie_offset = 0
        if stable and last_rank[part] > above[part] + 1:
            simd.count(scores, space.entries[index].index, keys[part], &unused, &tie_offset)
        if above[part] + tie_offset >= depth:
            return index
        hit_grade[index] = space.entries[index].grade
        hit_first[index] = above[part] + tie_offset + 1
        hit_last[index] = hit_first[index] if stable else last_rank[part]
        part += 1
    return m


cdef Py_ssize_t rank_many(
    const double* scores, const int32_t* origin, Py_ssize_t n, Py_ssize_t m, int64_t higher, int64_t depth, bint stable,
    Workspace* space, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Implement `rank_entries` in time linear in n + m. `higher` is the number of scores that rank above the given
    scores. Sorting swaps `entries` and `other`; if `stable` is set, keys are replaced, see `locate`."""
    cdef Py_ssize_t index
    cdef int64_t above = 0, equal = 0, tie_offset = 0
    cdef Buckets buckets = sort_entries(space, m, stable)
    locate(scores, origin, n, m, &buckets, stable, space)
    for index in range(m):
        if index == 0 or space.steps[index].key != space.steps[index - 1].key:
            above = higher + <uint32_t>space.steps[index].tally
            equal = <int64_t>(space.steps[index].tally >> 32)
        tie_offset = <int64_t>space.entries[index].key if stable and equal > 1 else 0
        if above + tie_offset >= depth:
            return index
        hit_grade[index] = space.entries[index].grade
        hit_first[index] = above + tie_offset + 1
        hit_last[index] = hit_first[index] if stable else above + equal
    return m


cdef Py_ssize_t rank_parts(
    const double* scores, Py_ssize_t n, Py_ssize_t m, int64_t depth, bint stable, Workspace* space,
    double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Implement `rank_many` with partitions that fit in the cache. Return −1 if the scores cannot be partitioned
    evenly.

    If half of the documents are relevant, this takes 15 instead of 23 ns per document for 10^5 documents, and 38
    instead of 60 ns for 10^6.
    """
    cdef Py_ssize_t count = max(min(n // PARTITION_SCORES, <Py_ssize_t>PARTITIONS_MAX), 1), fullest = 0, n_hits = 0
    cdef Py_ssize_t index, part, size, written, start, stop
    cdef int32_t score_at[PARTITIONS_MAX]
    cdef int32_t entry_at[PARTITIONS_MAX]
    cdef Entry* entries = space.entries
    cdef Workspace part_space
    cdef Buckets buckets
    cdef int by = BY_KEY
    while True:
        set_range(&buckets, by, entries, m, count)
        memset(score_at, 0, sizeof(score_at))
        for index in range(n):
            score_at[bucket_of(&buckets, scores[index])] += 1
        fullest = 0
        for part in range(count):
            fullest = max(fullest, <Py_ssize_t>score_at[part])
        if fullest <= 16 * (n // count):
            break
        if by == BY_MAGNITUDE or buckets.scale == 0.0:
            return -1
        by = BY_MAGNITUDE
    memset(entry_at, 0, sizeof(entry_at))
    for index in range(m):
        entry_at[bucket_of(&buckets, entries[index].key)] += 1
    counts_to_offsets(score_at, count)
    counts_to_offsets(entry_at, count)
    for index in range(n):
        part = bucket_of(&buckets, scores[index])
        if score_at[part] < n:  # always true unless another thread writes to the scores
            space.parted[score_at[part]] = scores[index]
            if stable:
                space.origin[score_at[part]] = <int32_t>index
            score_at[part] += 1
    for index in range(m):
        part = bucket_of(&buckets, entries[index].key)
        space.other[entry_at[part]] = entries[index]
        entry_at[part] += 1
    part_space = space[0]
    for part in range(count):  # after the copy, each start offset has become the end offset
        start = score_at[part - 1] if part else 0
        stop = entry_at[part - 1] if part else 0
        size = entry_at[part] - stop
        if start >= depth:
            break
        if size == 0:
            continue
        part_space.entries = space.other + stop
        part_space.other = entries + stop
        written = rank_many(
            space.parted + start, space.origin + start if stable else NULL, score_at[part] - start, size, start, depth,
            stable, &part_space, hit_grade + n_hits, hit_first + n_hits, hit_last + n_hits,
        )
        if part_space.entries != entries + stop:
            memcpy(entries + stop, part_space.entries, size * sizeof(Entry))
        n_hits += written
        if written < size:
            break
    return n_hits


cdef inline void counts_to_offsets(int32_t* sizes, Py_ssize_t count) noexcept nogil:
    """Replace each count by the sum of the counts before it."""
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
    """Compute, for each of m entries, the first and last rank of its tie group among n scores.

    The entries are given in input order. Only entries are sorted; all other documents are just counted. Write the hits
    whose tie group starts within the top `depth` ranks, and return the number of hits. The entries are then ordered
    as the hits are. The result equals that of `find` in `_reference/ranking.py`.
    """
    cdef Py_ssize_t n_hits
    if n > INT32_MAX or m <= COMPARE_MAX or (m <= simd.few and n <= SLOT_SCORES_MAX):
        if n <= SLOT_SCORES_MAX:
            return rank_few(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
        return rank_each(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
    if m > SPARSE_BUCKETS_MAX and n <= PARTITIONED_MAX and 4 * m > n:
        n_hits = rank_parts(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
        if n_hits >= 0:
            return n_hits
    return rank_many(scores, NULL, n, m, 0, depth, stable, space, hit_grade, hit_first, hit_last)


cdef double kth_highest(const double* scores, Py_ssize_t n, Py_ssize_t k, double* heap) noexcept nogil:
    """Return the k-th highest of n ≥ k scores."""
    cdef Py_ssize_t index, parent, child
    cdef double score, kth = INFINITY
    cdef int64_t above
    if n <= INSERTION_SORT_MAX:  # without branches: the lowest score that has fewer than k scores above it
        for index in range(n):
            score = scores[index]
            above = 0
            for child in range(n):
                above += scores[child] > score
            kth = min(kth, score if above < k else INFINITY)
        return kth
    for index in range(k):  # min-heap
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
    """Return a number of parts for which the k-th highest of their maxima is near the k-th highest score."""
    return (3 * k // 2 + 15) // 16 * 16


cdef double bound_of(const double* scores, Py_ssize_t n, Py_ssize_t k, Workspace* space) noexcept nogil:
    """Return a lower bound of the k-th highest of n scores. The bound is tight if n is much larger than k.

    The list is divided into `stride` disjoint parts, and the bound is the k-th highest of the maxima of the parts. At
    least k documents have that score or a higher one.
    """
    cdef Py_ssize_t stride = stride_for(k)
    simd.maxima(scores, n, stride, space.distinct)
    if stride <= COUNTED_MAXIMA_MAX:
        return simd.kth(space.distinct, stride, k)
    return kth_highest(space.distinct, stride, k, space.distinct + stride)


cdef Py_ssize_t count_within(
    const double* scores, Py_ssize_t n, Py_ssize_t k, double* keys, Py_ssize_t m, Workspace* space
) noexcept nogil:
    """Count the keys, which are scores of documents, that are among the k highest of n scores. Return −1 if a tie group
    across the cut-off has a key. Without scores, the keys are negative ranks.

    Most keys are below a bound of the scores and dropped. Nothing is sorted; the k-th score is only looked for if
    comparing each key with all scores would take longer.
    """
    cdef Py_ssize_t index, near = 0, left = 0, count = 0
    cdef int64_t higher = 0, tied = 0
    cdef double bound = -<double>k
    if m == 0 or k == n:
        return m
    if scores != NULL:
        bound = bound_of(scores, n, k, space) if 2 * stride_for(k) <= n else -INFINITY
    for index in range(m):
        keys[left] = keys[index]
        left += keys[index] >= bound
    if scores == NULL:
        return left
    if left <= FEW_KEYS:
        for index in range(left):
            simd.count(scores, n, keys[index], &higher, &tied)
            if higher < k < higher + tied:
                return -1
            count += higher < k
        return count
    simd.collect(scores, 0, n, bound, space.near, space.position, &near, n)
    if near < k:  # another thread has changed the scores
        return 0
    bound = kth_highest(space.near, near, k, space.distinct)
    simd.count(scores, n, bound, &higher, &tied)
    for index in range(left):
        if keys[index] == bound and k < higher + tied:
            return -1
        count += keys[index] >= bound
    return count


cdef Py_ssize_t cut(
    const double* scores, Py_ssize_t n, int64_t depth, bint whole, Workspace* space, double* threshold
) noexcept nogil:
    """Copy the scores that can be among the `depth` highest, and their positions. Return the number of scores copied,
    or −1 if a score is NaN.

    Unless `whole` is set, a large tie group at the cut-off is not copied, and `threshold` is set to the score of that
    group. In all other cases, `threshold` is set to NaN.
    """
    cdef Py_ssize_t k = <Py_ssize_t>depth, count = 0, capacity = min(n, 16 * k + 256), position = 0
    cdef double bound = bound_of(scores, min(n, 128 * (k + 16)), k, space)
    cdef bint above = False  # whether all scores copied so far are strictly above the bound
    threshold[0] = NAN
    while True:
        position = simd.collect(
            scores, position, n, nextafter(bound, INFINITY) if above else bound, space.near, space.position, &count,
            capacity,
        )
        if not simd.numbers(space.near, count):
            return -1
        if position == n:
            if above:
                count = filter_cut(space, count, bound, True)
                threshold[0] = bound if count < k else NAN
            return count
        above = False
        bound = max(bound, bound_of(space.near, count, k, space))
        count = filter_cut(space, count, bound, False)
        if 2 * count > capacity:  # many scores equal the bound
            if not whole and 64 * count > position and bound < DBL_MAX:  # with few ties, copying them is faster
                above = True
                count = filter_cut(space, count, bound, True)
            if 2 * count > capacity:
                capacity = min(n, 2 * capacity)


cdef Py_ssize_t filter_cut(Workspace* space, Py_ssize_t count, double bound, bint above) noexcept nogil:
    """Drop the copied scores below the bound and, if `above` is set, also those equal to it. Return how many scores
    remain."""
    cdef Py_ssize_t index, n_left = 0
    for index in range(count):
        space.near[n_left] = space.near[index]
        space.position[n_left] = space.position[index]
        n_left += space.near[index] > bound if above else space.near[index] >= bound
    return n_left


cdef struct Tally:
    # The count of each distinct grade. Grade 0 has the first slot; all other grades are hashed by their bit patterns.
    int64_t counts[TALLY_COUNTS]  # four counters per slot, used in turn, so that no increment waits for the last one
    uint64_t bits[TALLY_SLOTS]
    int distinct


cdef inline bint tally_one(Tally* tally, uint64_t bits, Py_ssize_t index) noexcept nogil:
    """Count one grade. Return False if there are too many distinct grades."""
    cdef int slot = <int>((bits * <uint64_t>0x9E3779B97F4A7C15) >> 58)
    while tally.bits[slot] != bits:
        if tally.bits[slot] == 0 and slot:
            if tally.distinct == TALLY_SLOTS // 2:
                return False
            tally.bits[slot] = bits
            tally.distinct += 1
        else:
            slot = (slot + 1) % TALLY_SLOTS
    tally.counts[4 * slot + index % 4] += 1
    return True


cdef int64_t pop_highest(Tally* tally, double* grade) noexcept nogil:
    """Remove the highest grade and return its count, or 0 if only grade 0 is left."""
    cdef int slot, best = 0
    cdef double each
    grade[0] = 0.0
    for slot in range(1, TALLY_SLOTS):
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
    """Count the documents of a tie group by grade. Documents that are not hits are counted as grade 0.

    Return False if there are too many distinct grades.
    """
    cdef Py_ssize_t index
    cdef double grade
    cdef uint64_t bits
    cdef bint member
    for index in range(n):
        member = scores[index] == score
        grade = <double>grades[index]
        memcpy(&bits, &grade, sizeof(bits))
        if not tally_one(tally, bits & -<uint64_t>(member & (grade > 0.0)), index):  # branch-free
            return False
        tied[0] += member
    return True


cdef Py_ssize_t write_tied(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, double score, int64_t above,
    Py_ssize_t capacity, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Write the hits of a tie group in descending order of grade, by counting sort.

    Return the number of hits. If there are too many distinct grades, write nothing and return −1. Counting takes 3 ns
    per document; sorting would take 17 to 60 ns. The result equals that of `find` in `_reference/ranking.py`.
    """
    cdef Tally tally
    cdef bint counted
    cdef int64_t tied = 0, last, count
    cdef Py_ssize_t written = 0, stop, index
    cdef double grade
    memset(&tally, 0, sizeof(tally))
    if grades.kind == FLOAT64:
        counted = tally_tied(scores, <const double*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == FLOAT32:
        counted = tally_tied(scores, <const float*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == INT64:
        counted = tally_tied(scores, <const int64_t*>grades.view.buf + start, n, score, &tally, &tied)
    elif grades.kind == INT32:
        counted = tally_tied(scores, <const int32_t*>grades.view.buf + start, n, score, &tally, &tied)
    else:
        counted = tally_tied(scores, <const uint8_t*>grades.view.buf + start, n, score, &tally, &tied)
    if not counted:
        return -1
    last = min(above + tied, <int64_t>n)
    count = pop_highest(&tally, &grade)
    while count:
        stop = <Py_ssize_t>min(written + count, <int64_t>capacity)  # clamped, since the scores may change
        for index in range(written, stop):
            hit_grade[index] = grade
            hit_first[index] = above + 1
            hit_last[index] = last
        written = stop
        count = pop_highest(&tally, &grade)
    return written


# finding hits and counting grades

def grade_error(grades, const int64_t[::1] offsets, /):
    """Return (code, query, position) of the first invalid grade, or None."""
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
    """Return the error code and the position of the first invalid grade among n from `start` on, or 0."""
    cdef double scratch[BLOCK_GRADES]
    cdef Py_ssize_t done = 0, size
    cdef int code
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK_GRADES)
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
    """Write the hits of one query. Return the number of hits, or −1 if a score is NaN.

    If `zeros` or `stable` is set, the entries are left in the order of the hits. `scores` may point to `space.scores`.
    """
    cdef Py_ssize_t m, near, index
    cdef double threshold
    if depth > n // 8 and (depth > n or 2 * stride_for(<Py_ssize_t>depth) > min(n, SHORT_STRIDE)):
        if not simd.numbers(scores, n):
            return -1
        m = entries_of(scores, grades, start, n, zeros, space)
        return rank_entries(scores, n, m, depth, stable, space, hit_grade, hit_first, hit_last)
    near = cut(scores, n, depth, zeros or stable, space, &threshold)
    if near < 0:
        return -1
    m = entries_near(grades, start, near, zeros, space)
    m = rank_entries(space.near, near, m, depth, stable, space, hit_grade, hit_first, hit_last)
    if not isnan(threshold):
        index = write_tied(
            scores, grades, start, n, threshold, near, n - m, hit_grade + m, hit_first + m, hit_last + m
        )
        if index >= 0:
            return m + index
        near = 0
        simd.collect(scores, 0, n, threshold, space.near, space.position, &near, n)
        m = entries_near(grades, start, near, zeros, space)
        m = rank_entries(space.near, near, m, depth, stable, space, hit_grade, hit_first, hit_last)
    for index in range(m):  # the caller expects positions within the query
        space.entries[index].index = space.position[space.entries[index].index]
    return m


cdef inline Py_ssize_t gather(
    const number_t* grades, Py_ssize_t n, bint zeros, Entry* entries
) noexcept nogil:
    """Write the positions of the candidates in input order, without branches. Candidates are documents that can be
    hits."""
    cdef Py_ssize_t index, m = 0
    for index in range(n):
        entries[m].index = index
        m += zeros | (grades[index] > 0)
    return m


cdef Py_ssize_t entries_of(
    const double* scores, const Numbers* grades, int64_t start, Py_ssize_t n, bint zeros, Workspace* space
) noexcept nogil:
    """Write the documents of a query that can be hits, in input order; return their number."""
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
    """Among the scores copied by `cut`, write an entry for each document that can be a hit. Indices are positions in
    the copy."""
    cdef Py_ssize_t index, m = 0
    cdef double grade
    for index in range(near):
        grade = number_at(grades, start + space.position[index])
        space.entries[m].key = space.near[index]
        space.entries[m].grade = grade
        space.entries[m].index = index
        m += zeros | (grade > 0.0)
    return m


cdef bint count_small_integers(const Numbers* grades, int64_t start, Py_ssize_t n, int64_t* counts) noexcept nogil:
    """Count each of the grades 0 to 7. Return False if there is any other grade."""
    cdef int64_t integers[BLOCK_GRADES]
    cdef double scratch[BLOCK_GRADES]
    cdef Py_ssize_t done = 0, size
    memset(counts, 0, 8 * sizeof(int64_t))
    if grades.kind == INT64:
        return simd.tally(<const int64_t*>grades.view.buf + start, n, counts)
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK_GRADES)
        simd.whole(doubles_of(grades, start + done, size, scratch), size, integers)
        if not simd.tally(integers, size, counts):
            return False
        done += size
    return True


cdef int count_numbers(
    const Numbers* grades, int64_t start, Py_ssize_t n, int64_t depth, Workspace* space,
    double* out_grade, int64_t* out_count, Py_ssize_t* written, Py_ssize_t* position
) noexcept nogil:
    """Count grades of any numeric type, with fast paths for integers below 8 and for few distinct grades."""
    cdef int64_t counts[8]
    if count_small_integers(grades, start, n, counts):
        written[0] = write_counts(counts, 8, depth, out_grade, out_count)
        return 0
    if n > BLOCK_GRADES and count_few(grades, start, n, depth, out_grade, out_count, written):
        return 0
    return count_grades(
        doubles_of(grades, start, n, space.scores), n, depth, space.entries, space.other,
        out_grade, out_count, written, position,
    )


cdef bint count_few(
    const Numbers* grades, int64_t start, Py_ssize_t n, int64_t left,
    double* out_grade, int64_t* out_count, Py_ssize_t* written
) noexcept nogil:
    """Count grades without a copy if there are few distinct grades. Return False if there are too many or if a grade is
    invalid."""
    cdef Tally tally
    cdef double scratch[BLOCK_GRADES]
    cdef const double* block
    cdef double grade
    cdef uint64_t bits
    cdef int64_t count
    cdef Py_ssize_t done = 0, size, index
    memset(&tally, 0, sizeof(tally))
    while done < n:
        size = min(n - done, <Py_ssize_t>BLOCK_GRADES)
        block = doubles_of(grades, start + done, size, scratch)
        for index in range(size):
            grade = block[index] + 0.0  # −0.0 becomes 0.0
            memcpy(&bits, &grade, sizeof(bits))
            if not is_grade(grade) or not tally_one(&tally, bits, index):
                return False
        done += size
    written[0] = 0
    left = min(left, <int64_t>n)
    while left:
        count = pop_highest(&tally, &grade)
        out_grade[written[0]] = grade
        out_count[written[0]] = min(count, left) if count else left  # the remaining grades are 0
        left -= out_count[written[0]]
        written[0] += 1
    return True


cdef Py_ssize_t write_counts(
    const int64_t* counts, int n, int64_t left, double* out_grade, int64_t* out_count
) noexcept nogil:
    """Write the `left` highest grades and their counts; return the number of distinct grades."""
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
    """Write the distinct values and the counts of the `depth` highest grades, in descending order."""
    cdef int64_t counts[SMALL_GRADES]
    cdef int64_t left = min(depth, <int64_t>n)
    cdef Py_ssize_t index, m = 0
    cdef double grade, floor = 0.0
    cdef int small
    memset(counts, 0, sizeof(counts))
    for index in range(n):
        grade = grades[index]
        if not is_grade(grade):
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
    if left > m:  # the remaining grades are 0
        out_grade[written[0]] = 0.0
        out_count[written[0]] = left - m
        written[0] += 1
    return 0
