# Kernels that process columns of text or integer ids, with one id per row: see `_reference/columns.py`.
from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from rankgain._compiled.ids cimport (
    Keys, bytes_of, compare_ids, hash_bytes, id_number, index_ids, keys_from, same, slot_number, slot_of, slot_value,
)
from rankgain._codes cimport DOCID, DUPLICATE, NAN_SCORE, STABLE


# hashing and comparing ids

cdef inline Keys keys_of(
    const unsigned char[::1] data, const int64_t[::1] starts, const int64_t[::1] ends, Py_ssize_t n
) noexcept nogil:
    """View the ids of n rows: text from `starts` to `ends`, or integers of 4 or 8 bytes, told apart by the size of
    `data`."""
    cdef Keys keys
    keys.data = &data[0] if data.shape[0] else NULL
    keys.starts = &starts[0] if starts.shape[0] else NULL
    keys.ends = &ends[0] if ends.shape[0] else NULL
    keys.width = 4 if data.shape[0] == 4 * n else 8
    return keys


cdef inline uint64_t hash_of(const Keys* keys, Py_ssize_t row) noexcept nogil:
    """Return the hash of a text id. The seed is drawn once per process."""
    cdef Py_ssize_t length
    cdef const unsigned char* at = bytes_of(keys, row, &length)
    return hash_bytes(at, length, SEED)


cdef struct Chains:
    # The rows of one query, distributed over buckets by a short hash of the id. heads[bucket] is 1 + the last row of
    # the bucket, and before[i] is 1 + the row that precedes row start + i in the bucket. Row numbers increase from
    # query to query, so heads left over from earlier queries are recognised as stale and need not be cleared. Clearing
    # them would take a quarter of the time for lists of 100.
    uint32_t* heads
    uint32_t* before
    int shift


cdef uint64_t FACTOR = SEED | 1


cdef inline uint64_t spread(int64_t number) noexcept nogil:
    """Hash an integer; the upper bits are well mixed."""
    return <uint64_t>number * FACTOR


cdef inline uint64_t chain_of(const Keys* keys, Py_ssize_t row, int shift) noexcept nogil:
    """Return the bucket of an id. Text is hashed, and `shift` keeps the upper bits."""
    return (spread(id_number(keys, row)) if keys.starts == NULL else hash_of(keys, row)) >> shift


cdef inline int hash_bits(Py_ssize_t n) noexcept nogil:
    """Return the number of hash bits for n ids. Most buckets stay empty, and the table for a short list fits in the L1
    cache."""
    cdef int n_bits = 12
    while <Py_ssize_t>1 << n_bits < 8 * n:
        n_bits += 1
    return n_bits


cdef bint make_chains(Chains* chains, Py_ssize_t n) noexcept nogil:
    """Allocate chains for n ids; return False if memory is exhausted."""
    chains.heads = <uint32_t*>calloc(<Py_ssize_t>1 << hash_bits(n), sizeof(uint32_t))
    chains.before = <uint32_t*>malloc((n + 1) * sizeof(uint32_t))
    return chains.heads != NULL and chains.before != NULL


cdef void free_chains(Chains* chains) noexcept nogil:
    """Free the arrays; they may be NULL."""
    free(chains.heads)
    free(chains.before)


cdef Py_ssize_t seek(
    const Chains* chains, Py_ssize_t head, const Keys* members, Py_ssize_t start, const Keys* keys, Py_ssize_t row
) noexcept nogil:
    """Follow a chain and return the row that has the same id as `row`, or −1 if there is none. Heads up to `start` are
    stale."""
    while head > start:
        if same(members, head - 1, keys, row):
            return head - 1
        head = chains.before[head - 1 - start]
    return -1


cdef inline bint link(
    Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t row, uint64_t bucket
) noexcept nogil:
    """Add a row to the chain of its bucket; return whether the chain already contained its id."""
    cdef Py_ssize_t head = chains.heads[bucket]
    chains.heads[bucket] = <uint32_t>(row + 1)
    chains.before[row - start] = <uint32_t>head
    return head > start and seek(chains, head, keys, start, keys, row) >= 0


cdef Py_ssize_t chain(Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Add rows to the chains; return the position of the first repeated id, or −1."""
    cdef Py_ssize_t row, repeat = -1
    chains.shift = 64 - hash_bits(n)
    for row in range(start, start + n):
        if link(chains, keys, start, row, chain_of(keys, row, chains.shift)) and repeat < 0:
            repeat = row - start
    return repeat


cdef void chain_unique(Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Add rows with unique ids to the chains, without looking for repeated ids."""
    cdef Py_ssize_t row
    cdef uint64_t bucket
    chains.shift = 64 - hash_bits(n)
    for row in range(start, start + n):
        bucket = chain_of(keys, row, chains.shift)
        chains.before[row - start] = chains.heads[bucket]
        chains.heads[bucket] = <uint32_t>(row + 1)


cdef void unchain(Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Empty the buckets of rows, so that they can be added again: heads of rows up to `start` are stale, but not
    theirs."""
    cdef Py_ssize_t row
    chains.shift = 64 - hash_bits(n)
    for row in range(start, start + n):
        chains.heads[chain_of(keys, row, chains.shift)] = 0


ctypedef fused integer_t:
    int32_t
    int64_t


cdef inline Py_ssize_t filter_numbers(
    const Chains* chains, uint32_t chain_start, const integer_t* numbers, Py_ssize_t n, int64_t* out
) noexcept nogil:
    """Write the positions whose bucket is not empty, and return their number. `out` needs room for n + 1 positions."""
    cdef const uint32_t* heads = chains.heads
    cdef int shift = chains.shift
    cdef uint64_t factor = FACTOR
    cdef Py_ssize_t index = 0, count = 0, four = n - n % 4
    while index < four:  # unrolled, which reduces the instructions per document from 9 to 7
        out[count] = index
        count += heads[<uint64_t>numbers[index] * factor >> shift] > chain_start
        out[count] = index + 1
        count += heads[<uint64_t>numbers[index + 1] * factor >> shift] > chain_start
        out[count] = index + 2
        count += heads[<uint64_t>numbers[index + 2] * factor >> shift] > chain_start
        out[count] = index + 3
        count += heads[<uint64_t>numbers[index + 3] * factor >> shift] > chain_start
        index += 4
    while index < n:
        out[count] = index
        count += heads[<uint64_t>numbers[index] * factor >> shift] > chain_start
        index += 1
    return count


cdef Py_ssize_t filter_rows(
    const Chains* chains, uint32_t chain_start, const Keys* keys, Py_ssize_t start, Py_ssize_t n, int64_t* out
) noexcept nogil:
    """Write the positions of the rows whose bucket is not empty, without branches; return the number of positions.

    `chain_start` is the first row in the chains; heads up to `chain_start` are stale.
    """
    cdef Py_ssize_t index, count = 0
    if keys.starts == NULL and keys.width == 4:
        return filter_numbers(chains, chain_start, <const int32_t*>keys.data + start, n, out)
    if keys.starts == NULL:
        return filter_numbers(chains, chain_start, <const int64_t*>keys.data + start, n, out)
    for index in range(n):
        out[count] = index
        count += chains.heads[chain_of(keys, start + index, chains.shift)] > chain_start
    return count


def number_ids(
    const unsigned char[::1] data, const int64_t[::1] starts, const int64_t[::1] ends, unsigned char[::1] names,
    int64_t[::1] bounds, int64_t[::1] slots, Py_ssize_t known, int64_t[::1] rows, int64_t[::1] numbers, /
):
    """Number text ids, a run of equal ids at a time, from `known` on. Leave new ids in `names` and `bounds`, and the
    first row and the number of each run in `rows` and `numbers`. Return the rows read, which are fewer if `names` or
    `bounds` is full, the number of runs, and the number of ids known."""
    cdef Py_ssize_t row = 0, length, runs = 0, n = starts.shape[0]
    cdef uint64_t hashed, mask = slots.shape[0] - 2
    cdef uint64_t* slot
    cdef uint64_t* table = <uint64_t*>&slots[1]
    cdef const unsigned char* at
    cdef Keys keys = keys_of(data, starts, ends, n)
    cdef Keys ids = Keys(&names[0], &bounds[0], &bounds[1], 0)
    with nogil:
        if slots[0] == 0:
            index_ids(table, mask, &ids, known, SEED)
        for row in range(n):
            if row and same(&keys, row, &keys, row - 1):
                continue
            at = bytes_of(&keys, row, &length)
            hashed = hash_bytes(at, length, SEED)
            slot = slot_of(table, mask, hashed, &ids, at, length)
            if slot[0] == 0:
                if known == bounds.shape[0] - 1 or bounds[known] + length > names.shape[0]:
                    break
                if length:  # for an empty id, `at` may be NULL
                    memcpy(&names[bounds[known]], at, length)
                bounds[known + 1] = bounds[known] + length
                slot[0] = slot_value(hashed, known)
                known += 1
            rows[runs] = row
            numbers[runs] = slot_number(slot[0])
            runs += 1
        else:
            row = n
        slots[0] = known
    return row, runs, known


cdef struct Numbered:
    # A slot of a hash table of integer ids. It stores the id and 1 + the number assigned to the id; a free slot stores
    # 0 as the number. A table that stores only numbers, like that of `slot_of`, takes 1.7 times as long for 500,000 ids
    # in 5 million shuffled rows.
    int64_t id
    int64_t number


cdef inline Numbered* integer_slot(Numbered* slots, uint64_t mask, int shift, int64_t identifier) noexcept nogil:
    """Return the slot that holds an id, or the free slot where the id can be inserted."""
    cdef uint64_t at = spread(identifier) >> shift
    while slots[at].number and slots[at].id != identifier:
        at = (at + 1) & mask
    return &slots[at]


cdef Py_ssize_t number_runs(
    const Keys* keys, Py_ssize_t n, int32_t* numbers, int64_t* firsts, int64_t* sizes, bint* scattered
) noexcept nogil:
    """Number the ids of rows; return the number of distinct ids, or −1 if memory is exhausted.

    The table grows with the number of ids. As long as the rows of each id are contiguous, only the start and length of
    each run are recorded. Once an id recurs, `scattered` is set and `numbers` is written.
    """
    cdef int shift = 64 - 10
    cdef Py_ssize_t row, number, start = 0, stop = 0, count = 0, size = 1 << 10
    cdef int64_t identifier
    cdef Numbered* slot
    cdef Numbered* slots = <Numbered*>calloc(size, sizeof(Numbered))
    while stop < n and slots != NULL:
        start, identifier = stop, id_number(keys, stop)
        while stop < n and id_number(keys, stop) == identifier:
            stop += 1
        slot = integer_slot(slots, size - 1, shift, identifier)
        if slot.number == 0:
            firsts[count], sizes[count] = start, 0
            count += 1
            slot.id, slot.number = identifier, count
        elif not scattered[0]:
            scattered[0] = True
            for number in range(count):
                for row in range(firsts[number], firsts[number] + sizes[number]):
                    numbers[row] = <int32_t>number
        number = slot.number - 1
        sizes[number] += stop - start
        if scattered[0]:
            for row in range(start, stop):
                numbers[row] = <int32_t>number
        if 2 * count > size:
            free(slots)
            size, shift = 2 * size, shift - 1
            slots = <Numbered*>calloc(size, sizeof(Numbered))
            if slots != NULL:
                fill_slots(slots, size - 1, shift, keys, firsts, count)
    free(slots)
    return count if slots != NULL else -1


cdef void fill_slots(
    Numbered* slots, uint64_t mask, int shift, const Keys* keys, const int64_t* firsts, Py_ssize_t count
) noexcept nogil:
    """Enter the first `count` numbered ids into an empty hash table of mask + 1 slots."""
    cdef Py_ssize_t number
    cdef Numbered* slot
    for number in range(count):
        slot = integer_slot(slots, mask, shift, id_number(keys, firsts[number]))
        slot.id, slot.number = id_number(keys, firsts[number]), number + 1


def number_integers(
    const unsigned char[::1] data, Py_ssize_t n, int32_t[::1] numbers, int64_t[::1] firsts, int64_t[::1] sizes, /
):
    """Number integer ids by first occurrence. Leave the number of each row, and the first row and the size of each id;
    return the number of ids, and whether rows of an id are apart."""
    cdef const int64_t[::1] none = firsts[:0]
    cdef Keys keys = keys_of(data, none, none, n)
    cdef Py_ssize_t count
    cdef bint scattered = False
    if n == 0:
        return 0, False
    with nogil:
        count = number_runs(&keys, n, &numbers[0], &firsts[0], &sizes[0], &scattered)
    if count < 0:
        raise MemoryError
    return count, scattered


def order_rows(const int32_t[::1] numbers, int64_t[::1] begins, int64_t[::1] order, /):
    """Write the rows by number, in input order. `begins` holds the start of each number, and afterwards its end."""
    cdef Py_ssize_t row
    cdef int32_t number
    with nogil:
        for row in range(numbers.shape[0]):
            number = numbers[row]
            order[begins[number]] = row
            begins[number] += 1


def copy_views(
    const unsigned char[::1] views, list buffers, unsigned char[::1] data, int64_t[::1] starts, int64_t[::1] ends, /
):
    """Copy the ids of an Arrow string-view array to `data`, and write the bounds of each id."""
    cdef Py_ssize_t row, source, written = 0, n = starts.shape[0]
    cdef Py_ssize_t n_buffers = len(buffers)
    cdef int32_t fields[4]
    cdef const unsigned char[::1] buffer
    cdef const unsigned char** at = <const unsigned char**>calloc(n_buffers + 1, sizeof(void*))
    cdef Py_ssize_t* sizes = <Py_ssize_t*>calloc(n_buffers + 1, sizeof(Py_ssize_t))
    cdef Py_ssize_t broken = -1
    try:
        if at == NULL or sizes == NULL:
            raise MemoryError
        for source in range(n_buffers):
            buffer = buffers[source]
            at[source] = &buffer[0] if buffer.shape[0] else NULL
            sizes[source] = buffer.shape[0]
        with nogil:
            for row in range(n):
                memcpy(fields, &views[16 * row], 16)
                starts[row] = written
                if 0 <= fields[0] <= 12:
                    if fields[0]:
                        memcpy(&data[written], &views[16 * row + 4], fields[0])
                elif (
                    fields[0] < 0 or not 0 <= fields[2] < n_buffers or fields[3] < 0
                    or <Py_ssize_t>fields[3] + fields[0] > sizes[fields[2]]
                ):
                    broken = row
                    break
                else:
                    memcpy(&data[written], at[fields[2]] + fields[3], fields[0])
                written += fields[0]
                ends[row] = written
    finally:
        free(at)
        free(sizes)
    return None if broken < 0 else broken


# matching returned documents with judged documents

cdef struct Scratch:
    Workspace* ordering
    Chains truth
    Chains run
    unsigned char* seen  # for each judged row, whether its document was returned
    double* marks  # for each row, the grade of the document if it is a hit, otherwise −inf
    int64_t* members  # the rows of the documents in tie groups
    int64_t* sorting
    int64_t* next_slots  # for each tie group, the index in `members` where its next row is stored
    Py_ssize_t candidates  # number of returned documents that were looked up for the last query
    double* others  # keys of the judged documents of the last query that were returned and are not hits
    Py_ssize_t n_others


cdef int prepare(
    Scratch* scratch, Workspace* ordering, double* others, bint whole, Py_ssize_t n_truth, Py_ssize_t n
) except -1:
    """Allocate scratch memory for queries of up to n_truth judged and n returned documents; `dispose` frees it.
    `others` has room for n_truth keys. `whole`: whether repeats of unjudged documents are looked for, too."""
    cdef Py_ssize_t row
    cdef bint allocated = make_chains(&scratch.truth, n_truth) & make_chains(&scratch.run, n if whole else 0)
    scratch.ordering = ordering
    scratch.others = others
    scratch.candidates = 0
    scratch.seen = <unsigned char*>malloc(n_truth + 1)
    scratch.marks = <double*>malloc((n + 1) * sizeof(double))
    scratch.members = <int64_t*>malloc(3 * (n + 1) * sizeof(int64_t))
    if not allocated or scratch.seen == NULL or scratch.marks == NULL or scratch.members == NULL:
        dispose(scratch)
        raise MemoryError
    scratch.sorting = scratch.members + n + 1
    scratch.next_slots = scratch.sorting + n + 1
    for row in range(n):
        scratch.marks[row] = -INFINITY
    return 0


cdef void dispose(Scratch* scratch) noexcept nogil:
    """Free what `prepare` allocated."""
    free_chains(&scratch.truth)
    free_chains(&scratch.run)
    free(scratch.seen)
    free(scratch.marks)
    free(scratch.members)


cdef Py_ssize_t first_repeat(Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """Return the position of the first repeated id, or −1. Integers in ascending order are checked without chains."""
    cdef Py_ssize_t row = start
    cdef int64_t last = 0, number
    if keys.starts != NULL:
        return chain(chains, keys, start, n)
    while row < start + n:
        number = id_number(keys, row)
        if row > start and number <= last:
            return chain(chains, keys, start, n)
        last = number
        row += 1
    return -1


def repeated(
    const unsigned char[::1] data, const int64_t[::1] starts, const int64_t[::1] ends, const int64_t[::1] offsets, /
):
    """Return (DUPLICATE, query, position) for the first id that repeats an earlier one of its query, or None."""
    cdef Py_ssize_t query = 0, queries = offsets.shape[0] - 1, position = -1
    cdef Keys keys = keys_of(data, starts, ends, offsets[queries])
    cdef Chains chains
    if not make_chains(&chains, longest(integers(offsets), queries)):
        free_chains(&chains)
        raise MemoryError
    with nogil:
        for query in range(queries):
            position = first_repeat(&chains, &keys, offsets[query], <Py_ssize_t>(offsets[query + 1] - offsets[query]))
            if position >= 0:
                break
        free_chains(&chains)
    return None if position < 0 else (DUPLICATE, query, position)


cdef int64_t mark_firsts_of(
    Chains* chains, const Keys* keys, Py_ssize_t start, Py_ssize_t n, const double* scores, unsigned char* marks
) noexcept nogil:
    """Mark one row for each distinct id of a query: the row with the highest score, or the first such row if scores are
    tied. Return the number of marked rows."""
    cdef Py_ssize_t row, earlier, head
    cdef int64_t count = n
    cdef uint64_t bucket
    chains.shift = 64 - hash_bits(n)
    for row in range(start, start + n):
        bucket = chain_of(keys, row, chains.shift)
        head = chains.heads[bucket]
        earlier = seek(chains, head, keys, start, keys, row) if head > start else -1
        if earlier >= 0:
            count -= 1
            if scores == NULL or not (
                scores[row] > scores[earlier] or (scores[earlier] == scores[earlier] and scores[row] != scores[row])
            ):
                continue
            marks[earlier] = 0
        marks[row] = 1
        chains.before[row - start] = <uint32_t>head
        chains.heads[bucket] = <uint32_t>(row + 1)
    return count


def mark_firsts(
    const unsigned char[::1] data, const int64_t[::1] starts, const int64_t[::1] ends, const int64_t[::1] offsets,
    const double[::1] scores, unsigned char[::1] marks, int64_t[::1] sizes, /
):
    """Set marks[row] to 1 for the row that is kept of each distinct id of a query, see `mark_firsts_of`, and
    sizes[query] to their number. Marks are 0 before. `scores`: one per row, or None to keep the first row of each
    id."""
    cdef Py_ssize_t query, queries = offsets.shape[0] - 1
    cdef Keys keys = keys_of(data, starts, ends, offsets[queries])
    cdef const double* row_scores = NULL
    cdef Chains chains
    if offsets[queries] == 0:
        return
    if scores is not None:
        row_scores = &scores[0]
    if not make_chains(&chains, longest(integers(offsets), queries)):
        free_chains(&chains)
        raise MemoryError
    with nogil:
        for query in range(queries):
            sizes[query] = mark_firsts_of(
                &chains, &keys, offsets[query], <Py_ssize_t>(offsets[query + 1] - offsets[query]), row_scores, &marks[0]
            )
        free_chains(&chains)


cdef inline void add_entry(
    Scratch* scratch, Py_ssize_t* m, double grade, double above, const double* scores, Py_ssize_t index
) noexcept nogil:
    """Add a judged document to the entries if it is a hit, otherwise its key to the others. Without scores, the
    negative rank is the sort key."""
    cdef Entry* entry = &scratch.ordering.entries[m[0]]
    cdef double key = -<double>(index + 1) if scores == NULL else scores[index]
    if grade > above:
        entry.key = key
        entry.grade = grade
        entry.index = index
        m[0] += 1
    elif grade >= 0.0:
        scratch.others[scratch.n_others] = key
        scratch.n_others += 1


cdef inline Py_ssize_t seek_number(
    const Chains* chains, const Keys* members, Py_ssize_t start, int64_t number
) noexcept nogil:
    """Return the row of an integer id, or −1; like `seek`, but starting from the id's bucket."""
    cdef Py_ssize_t row = <Py_ssize_t>chains.heads[spread(number) >> chains.shift] - 1
    while row >= start and id_number(members, row) != number:
        row = <Py_ssize_t>chains.before[row - start] - 1
    return row if row >= start else -1


cdef int match_run(
    const Keys* truth, Py_ssize_t truth_start, Py_ssize_t n_truth, const double* grades, const Keys* run,
    Py_ssize_t start, Py_ssize_t n, const double* scores, double above, bint whole, Scratch* scratch, Py_ssize_t* m,
    Py_ssize_t* position
) noexcept nogil:
    """Collect the hits among the returned documents in input order. Return 0 on success; otherwise, set `position` and
    return an error code.

    For most documents, only one bucket is read, and this bucket is empty. If only a few integers are judged, SIMD
    instructions compare all pairs and no chains are built; the result must equal that of `_match`. With AVX2, a query
    with 100 documents, 20 of them judged, takes 115 instead of 205 ns if no judged document is returned, and 190
    instead of 250 ns if 5 are. With many hits, comparing all pairs is slower, so it is not tried after a query with
    many candidates.
    """
    cdef Chains* chains = &scratch.truth
    cdef int64_t* candidates = scratch.sorting
    cdef Py_ssize_t index, row, count = 0
    cdef bint numbers = truth.starts == NULL and run.starts == NULL
    cdef bint few = False
    cdef Py_ssize_t n_valid = n if scores == NULL else 0
    m[0] = scratch.n_others = 0
    while n_valid < n and not isnan(scores[n_valid]):
        n_valid += 1
    if whole:
        position[0] = first_repeat(&scratch.run, run, start, n_valid)
        if position[0] >= 0:
            return DUPLICATE
    if numbers and scratch.candidates <= simd.hits and n_truth <= simd.judged:
        count = simd.near(
            run.data + run.width * start, n_valid, <int>run.width, truth.data + truth.width * truth_start, n_truth,
            <int>truth.width, candidates,
        )
        few = count <= simd.hits
        if not few:
            chain_unique(chains, truth, truth_start, n_truth)  # ids in `truth` are unique: see `repeated`
    elif n_truth:
        chain_unique(chains, truth, truth_start, n_truth)
        count = filter_rows(chains, <uint32_t>truth_start, run, start, n_valid, candidates)
    scratch.candidates = count
    if count:
        memset(scratch.seen, 0, n_truth)
    for index in range(count):
        position[0] = candidates[index]
        row = start + position[0]
        if few:
            row = simd.position_of(
                truth.data + truth.width * truth_start, n_truth, <int>truth.width, id_number(run, row)
            )
            row += truth_start if row >= 0 else 0
        elif numbers:
            row = seek_number(chains, truth, truth_start, id_number(run, row))
        else:
            row = seek(chains, chains.heads[chain_of(run, row, chains.shift)], truth, truth_start, run, row)
        if row < 0:
            continue
        if scratch.seen[row - truth_start]:
            return DUPLICATE
        scratch.seen[row - truth_start] = 1
        add_entry(scratch, m, grades[row], above, scores, position[0])
    position[0] = n_valid
    return NAN_SCORE if n_valid < n else 0


cdef bint higher_of(const void* keys, int64_t row, int64_t other) noexcept nogil:
    """Return whether `row` ranks before `other`. Higher ids rank first."""
    return compare_ids(<const Keys*>keys, row, <const Keys*>keys, other) > 0


cdef Py_ssize_t break_ties(
    const Keys* run, Py_ssize_t start, Py_ssize_t n, const double* scores, Py_ssize_t n_hits, int64_t depth,
    Scratch* scratch, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Break ties by id: give each hit of a tie group a distinct rank; return the number of remaining hits.

    The result is the same as after sorting each tie group that contains a hit. One pass over the scores collects the
    members of these groups. If another thread modifies the scores meanwhile, the result is meaningless, but no access
    is out of bounds.
    """
    cdef double* keys = scratch.ordering.distinct
    cdef int64_t* next_slots = scratch.next_slots
    cdef Keys ids = keys_from(run, start)
    cdef Py_ssize_t index, row, group, size, low, d = 0, first = 0, written = 0
    cdef int64_t rank
    cdef double score
    for index in range(n_hits):
        if hit_last[index] > hit_first[index] and (d == 0 or scratch.ordering.entries[index].key != keys[d - 1]):
            keys[d] = scratch.ordering.entries[index].key
            next_slots[d] = first
            first += <Py_ssize_t>(hit_last[index] - hit_first[index] + 1)
            d += 1
    if d == 0 or first > n:
        return n_hits
    memset(scratch.members, 0, first * sizeof(int64_t))
    for index in range(n):
        score = scores[index]
        if score >= keys[d - 1]:
            low = count_higher(keys, d, score)
            if score == keys[low]:
                scratch.members[next_slots[low]] = index
                next_slots[low] += 1
    for index in range(n_hits):
        scratch.marks[scratch.ordering.entries[index].index] = scratch.ordering.entries[index].grade
    index = 0
    group = 0
    first = 0
    while index < n_hits:
        rank = hit_first[index]
        size = <Py_ssize_t>(hit_last[index] - rank + 1)
        if size == 1:
            hit_grade[written] = hit_grade[index]
            hit_first[written] = hit_last[written] = rank
            written += 1
            index += 1
            continue
        while index < n_hits and hit_first[index] == rank:
            index += 1
        sort_rows(scratch.members + first, scratch.sorting, size, higher_of, &ids)
        for row in range(first, first + size):
            if scratch.marks[scratch.members[row]] > -INFINITY and rank <= depth and written < index:
                hit_grade[written] = scratch.marks[scratch.members[row]]
                hit_first[written] = hit_last[written] = rank
                written += 1
            rank += 1
        first += size
        group += 1
    for index in range(n_hits):
        scratch.marks[scratch.ordering.entries[index].index] = -INFINITY
    return written


cdef Py_ssize_t hits_in_rank_order(
    Py_ssize_t m, int64_t depth, Scratch* scratch, double* hit_grade, int64_t* hit_first, int64_t* hit_last
) noexcept nogil:
    """Write the hits of a query whose documents are given in rank order; return the number of hits."""
    cdef Py_ssize_t index
    for index in range(m):
        if scratch.ordering.entries[index].index >= depth:
            return index
        hit_grade[index] = scratch.ordering.entries[index].grade
        hit_first[index] = hit_last[index] = scratch.ordering.entries[index].index + 1
    return m


cdef struct Columns:
    # The ids and grades of judged documents, the ids and scores of returned documents, and the range of rows of each
    # query. There are no scores if the documents are given in rank order.
    Keys truth
    const int64_t* truth_first
    const int64_t* truth_last
    const double* grades
    Keys run
    const int64_t* run_first
    const int64_t* run_last
    const double* scores
    bint whole


cdef void unchain_query(const Columns* columns, Py_ssize_t number, Scratch* scratch) noexcept nogil:
    """Let `find_in_columns` be called again for a query, the last one that it was called for without an error."""
    cdef Py_ssize_t start = columns.truth_first[number]
    unchain(&scratch.truth, &columns.truth, start, <Py_ssize_t>columns.truth_last[number] - start)
    if columns.whole:
        start = columns.run_first[number]
        unchain(&scratch.run, &columns.run, start, <Py_ssize_t>columns.run_last[number] - start)


cdef int find_in_columns(
    const Columns* columns, Py_ssize_t number, int64_t depth, double lowest, int ties, bint single, Scratch* scratch,
    Query* query, Py_ssize_t* position
) noexcept nogil:
    """Find the hits of a query whose documents are rows of columns; return an error code, or 0. `prepare` was called,
    and queries are found in the order of their rows."""
    cdef Py_ssize_t truth_start = columns.truth_first[number], start = columns.run_first[number]
    cdef Py_ssize_t n_truth = columns.truth_last[number] - truth_start
    cdef Py_ssize_t n = columns.run_last[number] - start, m = 0
    cdef const double* scores = NULL
    cdef int code
    query.n = 0
    query.returned = n
    if columns.scores != NULL:
        scores = columns.scores + start
        if single:
            memcpy(scratch.ordering.scores, scores, n * sizeof(double))
            narrow(scratch.ordering.scores, n)
            scores = scratch.ordering.scores
    code = match_run(
        &columns.truth, truth_start, n_truth, columns.grades, &columns.run, start, n, scores, lowest, columns.whole,
        scratch, &m, position,
    )
    if code:
        return code
    if m and scores == NULL:
        query.n = hits_in_rank_order(m, depth, scratch, query.grade, query.first, query.last)
    elif m:
        query.n = rank_entries(
            scores, n, m, depth, ties == STABLE, scratch.ordering, query.grade, query.first, query.last
        )
        if ties == DOCID:
            query.n = break_ties(
                &columns.run, start, n, scores, query.n, depth, scratch, query.grade, query.first, query.last
            )
    if query.share_depth:
        count_judged_hits(scores, n, scratch.n_others, scratch.ordering, query)
    return 0
