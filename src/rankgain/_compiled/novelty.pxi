# The sums of novelty: α-DCG, ERR-IA and NRBP, and those of their ideal lists. See `_reference/novelty.py`.
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from rankgain._codes cimport AVERAGE, LARGE_GROUP


cdef struct Subtopics:
    # What documents or kinds cover, with a weight for each subtopic, and (1 − α)^c for each c.
    const int64_t* covered
    const double* weights
    const double* powers
    Py_ssize_t n_powers
    int64_t* seen  # for each subtopic of the query, the number of documents above that cover it
    int64_t first  # the first subtopic of the query
    double* terms  # scratch, for the terms of a gain


cdef double add_terms(double* terms, Py_ssize_t n) noexcept nogil:
    """Sort the terms of a gain in descending order, which they are in mostly, and add them up."""
    cdef Py_ssize_t index, place
    cdef double term, total = 0.0
    for index in range(1, n):
        term = terms[index]
        place = index
        while place > 0 and terms[place - 1] < term:
            terms[place] = terms[place - 1]
            place -= 1
        terms[place] = term
    for index in range(n):
        total += terms[index]
    return total


cdef double gain_of_set(const Subtopics* subtopics, int64_t first, int64_t last) noexcept nogil:
    """Return the gain of a document that covers covered[first:last]."""
    cdef int64_t index, subtopic
    for index in range(first, last):
        subtopic = subtopics.covered[index]
        subtopics.terms[index - first] = (
            subtopics.weights[subtopic] * subtopics.powers[subtopics.seen[subtopic - subtopics.first]]
        )
    return add_terms(subtopics.terms, <Py_ssize_t>(last - first))


cdef void count_set(Subtopics* subtopics, int64_t first, int64_t last, int64_t step) noexcept nogil:
    """Add `step` to how often each subtopic of a document, covered[first … last − 1], was seen."""
    cdef int64_t index
    for index in range(first, last):
        subtopics.seen[subtopics.covered[index] - subtopics.first] += step


cdef struct TiedSubtopic:
    # A subtopic that h documents of a tie group cover, with its hypergeometric probabilities.
    int64_t subtopic
    int64_t h
    Py_ssize_t length  # how many powers matter
    double* chances


cdef struct TieScratch:
    int64_t* covering  # for each subtopic of the query, how many documents of the group cover it; 0 between groups
    TiedSubtopic* tied
    double* chances


cdef bint same_sets(
    const int64_t* covered, const int64_t* starts, const int64_t* document, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Return whether the documents of hits start … stop − 1 cover the same subtopics."""
    cdef Py_ssize_t hit
    cdef int64_t size = starts[document[start] + 1] - starts[document[start]], index
    for hit in range(start + 1, stop):
        if starts[document[hit] + 1] - starts[document[hit]] != size:
            return False
        for index in range(size):
            if covered[starts[document[hit]] + index] != covered[starts[document[start]] + index]:
                return False
    return True


cdef Py_ssize_t tied_subtopics(
    Subtopics* subtopics, TieScratch* scratch, const int64_t* starts, const int64_t* document, Py_ssize_t start,
    Py_ssize_t stop
) noexcept nogil:
    """Collect the subtopics that a tie group covers; return their number, or −1 if too many powers matter."""
    cdef Py_ssize_t hit, n = 0, index
    cdef int64_t row, subtopic
    cdef double* chances = scratch.chances
    cdef TiedSubtopic* tied
    cdef bint too_large = False
    for hit in range(start, stop):
        for row in range(starts[document[hit]], starts[document[hit] + 1]):
            subtopic = subtopics.covered[row]
            if scratch.covering[subtopic - subtopics.first] == 0:
                scratch.tied[n].subtopic = subtopic
                n += 1
            scratch.covering[subtopic - subtopics.first] += 1
    for index in range(n):
        tied = &scratch.tied[index]
        tied.h = scratch.covering[tied.subtopic - subtopics.first]
        scratch.covering[tied.subtopic - subtopics.first] = 0
        tied.length = 1
        while tied.length < tied.h and subtopics.powers[tied.length] >= FAINT:
            tied.length += 1
        too_large |= tied.length > MOST
        tied.chances = chances
        tied.chances[0] = 1.0
        for row in range(1, tied.length):
            tied.chances[row] = 0.0
        chances += tied.length
    return -1 if too_large and subtopics.powers[subtopics.n_powers - 1] != 1.0 else n


cdef double expected_gain(
    const Subtopics* subtopics, TiedSubtopic* tied, Py_ssize_t n, int64_t m, int64_t above
) noexcept nogil:
    """Return the expected gain of the document of a tie group that has `above` documents of the group above it."""
    cdef Py_ssize_t index
    cdef int64_t u, c
    cdef double left = <double>(m - above), expected
    cdef double* chance
    for index in range(n):
        if subtopics.powers[subtopics.n_powers - 1] == 1.0:
            subtopics.terms[index] = subtopics.weights[tied[index].subtopic] * (<double>tied[index].h / <double>m)
            continue
        chance = tied[index].chances
        c = subtopics.seen[tied[index].subtopic - subtopics.first]
        expected = 0.0
        for u in range(min(above, <int64_t>tied[index].length - 1) + 1):
            expected += chance[u] * (<double>(tied[index].h - u) / left) * subtopics.powers[c + u]
        subtopics.terms[index] = subtopics.weights[tied[index].subtopic] * expected
        for u in range(min(above + 1, <int64_t>tied[index].length - 1), 0, -1):
            chance[u] = (
                chance[u] * (<double>(m - above - tied[index].h + u) / left)
                + chance[u - 1] * (<double>(tied[index].h - u + 1) / left)
            )
        chance[0] *= <double>(m - above - tied[index].h) / left
    return add_terms(subtopics.terms, n)


cdef int sum_novelty(
    Py_ssize_t start, Py_ssize_t stop, const int64_t* document, const int64_t* first, const int64_t* last,
    const int64_t* starts, int ties, Subtopics* subtopics, TieScratch* scratch, const Discount* discount,
    Cutoffs* cutoffs
) noexcept nogil:
    """Sum the discounted gains of hits start … stop − 1; return 0 or an error code."""
    cdef Py_ssize_t i = start, j, hit, n, emitted = 0
    cdef int64_t rank, depth = cutoffs.ranks[cutoffs.n - 1], above
    cdef double total = 0.0
    while i < stop and first[i] <= depth:
        j = i + 1
        while j < stop and first[j] == first[i]:
            j += 1
        if ties == AVERAGE and not (
            j - i == last[i] - first[i] + 1 and same_sets(subtopics.covered, starts, document, i, j)
        ):
            n = tied_subtopics(subtopics, scratch, starts, document, i, j)
            if n < 0:
                return LARGE_GROUP
            for above in range(min(last[i] - first[i] + 1, depth - first[i] + 1)):
                rank = first[i] + above
                emit_before(cutoffs, &emitted, rank, total)
                total += (
                    expected_gain(subtopics, scratch.tied, n, last[i] - first[i] + 1, above) * weight(discount, rank)
                )
            for hit in range(i, j):
                count_set(subtopics, starts[document[hit]], starts[document[hit] + 1], 1)
        else:
            for hit in range(i, j):
                rank = first[i] + (hit - i)
                emit_before(cutoffs, &emitted, rank, total)
                total += (
                    gain_of_set(subtopics, starts[document[hit]], starts[document[hit] + 1]) * weight(discount, rank)
                )
                count_set(subtopics, starts[document[hit]], starts[document[hit] + 1], 1)
        i = j
    fill_rest(cutoffs, emitted, total)
    return 0


def novelty_sum(
    int ties, const int64_t[::1] offsets, const int64_t[::1] document, const int64_t[::1] first,
    const int64_t[::1] last, const int64_t[::1] starts, const int64_t[::1] subtopics,
    const int64_t[::1] first_subtopic, const int64_t[::1] last_subtopic, const double[::1] weights,
    const double[::1] powers, int kind, double base, const double[::1] table, const int64_t[::1] cutoffs,
    double[:, ::1] out, Py_ssize_t column, /
):
    cdef Py_ssize_t query, queries = offsets.shape[0] - 1, index, hit, most = 0, rows = 0, n
    cdef int code = 0
    cdef Discount discount = discount_of(table, kind, base)
    cdef Subtopics given
    cdef TieScratch scratch
    cdef Cutoffs at
    cdef void* block
    if queries <= 0:
        return None
    for query in range(queries):
        most = max(most, <Py_ssize_t>(last_subtopic[query] - first_subtopic[query]))
        n = 0
        for hit in range(offsets[query], offsets[query + 1]):
            n += <Py_ssize_t>(starts[document[hit] + 1] - starts[document[hit]])
        rows = max(rows, n)
    n = cutoffs.shape[0]
    block = malloc((3 * most + rows + n + 5) * sizeof(double) + (most + 1) * sizeof(TiedSubtopic))
    if block == NULL:
        raise MemoryError
    given.covered = integers(subtopics)
    given.weights = doubles(weights)
    given.powers = doubles(powers)
    given.n_powers = powers.shape[0]
    given.terms = <double*>block
    given.seen = <int64_t*>(given.terms + most + 1)
    scratch.covering = given.seen + most + 1
    scratch.chances = <double*>(scratch.covering + most + 1)
    at.out = scratch.chances + rows + 1
    scratch.tied = <TiedSubtopic*>(at.out + n + 1)
    at.ranks = integers(cutoffs)
    at.n = n
    with nogil:
        for query in range(queries):
            given.first = first_subtopic[query]
            for index in range(most):
                given.seen[index] = scratch.covering[index] = 0
            code = sum_novelty(
                offsets[query], offsets[query + 1], integers(document), integers(first), integers(last),
                integers(starts), ties, &given, &scratch, &discount, &at,
            )
            if code:
                break
            for index in range(n):
                out[index, column + query] = at.out[index]
    free(block)
    return (code, query, -1) if code else None


# the ideal list

cdef enum:
    LEVELS = 3  # number of distinct gains that are compared one by one

cdef struct Kinds:
    # The kinds of documents of one query: what each covers, and its remaining documents, in the preferred order.
    Py_ssize_t n
    const int64_t* first
    const int64_t* last
    const int64_t* members
    int64_t* next  # for each kind, its next document in `members`
    const int64_t* member_offsets
    double* gain


cdef struct Runs:
    # Distinct gains in descending order, with the number of documents that have each.
    double* gain
    int64_t* count
    Py_ssize_t n


cdef void insert(Runs* runs, double gain, int64_t count) noexcept nogil:
    """Insert a gain in its place, or add to the count of an equal one."""
    cdef Py_ssize_t low = 0, high = runs.n, middle
    while low < high:
        middle = (low + high) // 2
        if runs.gain[middle] > gain:
            low = middle + 1
        else:
            high = middle
    if low < runs.n and runs.gain[low] == gain:
        runs.count[low] += count
        return
    for middle in range(runs.n, low, -1):
        runs.gain[middle] = runs.gain[middle - 1]
        runs.count[middle] = runs.count[middle - 1]
    runs.gain[low] = gain
    runs.count[low] = count
    runs.n += 1


cdef int compare_runs(const Runs* some, const Runs* other) noexcept nogil:
    """Compare the gains of equally many documents lexicographically; return 1, 0 or −1."""
    cdef Py_ssize_t index
    for index in range(min(some.n, other.n)):
        if some.gain[index] != other.gain[index]:
            return 1 if some.gain[index] > other.gain[index] else -1
        if some.count[index] != other.count[index]:
            return 1 if some.count[index] > other.count[index] else -1
    return 0


cdef void gains_after(Subtopics* subtopics, const Kinds* kinds, Py_ssize_t chosen, Runs* runs) noexcept nogil:
    """Collect the gains of all other documents after the next one of a kind."""
    cdef Py_ssize_t kind
    cdef int64_t count
    count_set(subtopics, kinds.first[chosen], kinds.last[chosen], 1)
    runs.n = 0
    for kind in range(kinds.n):
        count = kinds.member_offsets[kind + 1] - kinds.next[kind] - (kind == chosen)
        if count > 0:
            insert(runs, gain_of_set(subtopics, kinds.first[kind], kinds.last[kind]), count)
    count_set(subtopics, kinds.first[chosen], kinds.last[chosen], -1)


cdef void next_gain_after(
    Subtopics* subtopics, const Kinds* kinds, Py_ssize_t chosen, double below, double* highest, int64_t* count
) noexcept nogil:
    """Find the highest gain below a limit after the next document of a kind, and how many documents have it.

    The kind has the highest gain. Gains only fall, so that most kinds need not be looked at: those whose gain is
    already lower. Other kinds with the highest gain come first, since they are likely to keep a high one.
    """
    cdef double limit = kinds.gain[chosen], gain
    cdef Py_ssize_t kind, lower
    cdef int64_t n
    highest[0] = 0.0
    count[0] = 0
    count_set(subtopics, kinds.first[chosen], kinds.last[chosen], 1)
    for lower in range(2):
        for kind in range(kinds.n):
            if (kinds.gain[kind] < limit) != lower or kinds.gain[kind] < highest[0]:
                continue
            n = kinds.member_offsets[kind + 1] - kinds.next[kind] - (kind == chosen)
            if n > 0:
                gain = gain_of_set(subtopics, kinds.first[kind], kinds.last[kind])
                if highest[0] < gain < below:
                    highest[0] = gain
                    count[0] = 0
                if gain == highest[0]:
                    count[0] += n
    count_set(subtopics, kinds.first[chosen], kinds.last[chosen], -1)


cdef int compare_after(
    Subtopics* subtopics, const Kinds* kinds, Py_ssize_t kind, Py_ssize_t other, Runs* runs, Runs* other_runs
) noexcept nogil:
    """Compare the gains of all other documents after one of two kinds; return 1, 0 or −1.

    The highest ones mostly suffice; all are sorted only if LEVELS of them are equal.
    """
    cdef double below = INFINITY, gain, other_gain
    cdef int64_t count, other_count
    cdef int level
    for level in range(LEVELS):
        next_gain_after(subtopics, kinds, kind, below, &gain, &count)
        next_gain_after(subtopics, kinds, other, below, &other_gain, &other_count)
        if gain != other_gain:
            return 1 if gain > other_gain else -1
        if gain == 0.0:
            return 0
        if count != other_count:
            return 1 if count > other_count else -1
        below = gain
    gains_after(subtopics, kinds, kind, runs)
    gains_after(subtopics, kinds, other, other_runs)
    return compare_runs(runs, other_runs)


cdef Py_ssize_t choose(
    Subtopics* subtopics, const Kinds* kinds, bint ahead, Runs* runs, Runs* other_runs
) noexcept nogil:
    """Return the kind of the next document of the ideal list, or −1 if no gain is left."""
    cdef Py_ssize_t kind, chosen = -1
    cdef int order
    for kind in range(kinds.n):
        if kinds.next[kind] == kinds.member_offsets[kind + 1]:
            kinds.gain[kind] = 0.0
            continue
        kinds.gain[kind] = gain_of_set(subtopics, kinds.first[kind], kinds.last[kind])
        if chosen < 0 or kinds.gain[kind] > kinds.gain[chosen]:
            chosen = kind
    if chosen < 0 or kinds.gain[chosen] == 0.0:
        return -1
    for kind in range(chosen + 1, kinds.n):
        if kinds.gain[kind] == kinds.gain[chosen]:
            order = compare_after(subtopics, kinds, kind, chosen, runs, other_runs) if ahead else 0
            if order > 0 or (order == 0 and kinds.members[kinds.next[kind]] < kinds.members[kinds.next[chosen]]):
                chosen = kind
    return chosen


cdef void sum_ideal_novelty(
    Subtopics* subtopics, Kinds* kinds, bint ahead, Runs* runs, Runs* other_runs, const Discount* discount,
    Cutoffs* cutoffs
) noexcept nogil:
    """Write the sum of the greedy ideal at each cut-off. `subtopics.seen` must be zero, and counts the ideal after."""
    cdef Py_ssize_t chosen, emitted = 0
    cdef int64_t rank = 1
    cdef double total = 0.0
    while rank <= cutoffs.ranks[cutoffs.n - 1]:
        chosen = choose(subtopics, kinds, ahead, runs, other_runs)
        if chosen < 0:
            break
        emit_before(cutoffs, &emitted, rank, total)
        total += kinds.gain[chosen] * weight(discount, rank)
        count_set(subtopics, kinds.first[chosen], kinds.last[chosen], 1)
        kinds.next[chosen] += 1
        rank += 1
    fill_rest(cutoffs, emitted, total)


def novelty_ideal(
    const int64_t[::1] offsets, const int64_t[::1] first, const int64_t[::1] last,
    const int64_t[::1] member_offsets, const int64_t[::1] members, const int64_t[::1] subtopics,
    const int64_t[::1] subtopic_offsets, const double[::1] weights, bint ahead, const double[::1] powers, int kind,
    double base, const double[::1] table, const int64_t[::1] cutoffs, double[:, ::1] out, /
):
    cdef Py_ssize_t query, queries = offsets.shape[0] - 1, index, n = cutoffs.shape[0]
    cdef Py_ssize_t most = longest(integers(subtopic_offsets), queries)
    cdef Py_ssize_t most_kinds = longest(integers(offsets), queries)
    cdef Discount discount = discount_of(table, kind, base)
    cdef Subtopics given
    cdef Kinds kinds
    cdef Runs runs, other_runs
    cdef Cutoffs at
    cdef void* block = malloc((2 * most + 6 * most_kinds + n + 9) * sizeof(double))
    if block == NULL:
        raise MemoryError
    given.covered = integers(subtopics)
    given.weights = doubles(weights)
    given.powers = doubles(powers)
    given.n_powers = powers.shape[0]
    given.terms = <double*>block
    given.seen = <int64_t*>(given.terms + most + 1)
    kinds.gain = <double*>(given.seen + most + 1)
    kinds.next = <int64_t*>(kinds.gain + most_kinds + 1)
    other_runs.gain = <double*>(kinds.next + most_kinds + 1)
    other_runs.count = <int64_t*>(other_runs.gain + most_kinds + 1)
    runs.gain = <double*>(other_runs.count + most_kinds + 1)
    runs.count = <int64_t*>(runs.gain + most_kinds + 1)
    at.out = <double*>(runs.count + most_kinds + 1)
    at.ranks = integers(cutoffs)
    at.n = n
    kinds.members = integers(members)
    with nogil:
        for query in range(queries):
            given.first = subtopic_offsets[query]
            for index in range(most):
                given.seen[index] = 0
            kinds.n = <Py_ssize_t>(offsets[query + 1] - offsets[query])
            kinds.first = integers(first) + offsets[query]
            kinds.last = integers(last) + offsets[query]
            kinds.member_offsets = integers(member_offsets) + offsets[query]
            for index in range(kinds.n):
                kinds.next[index] = kinds.member_offsets[index]
            sum_ideal_novelty(&given, &kinds, ahead, &runs, &other_runs, &discount, &at)
            for index in range(n):
                out[index, query] = at.out[index]
    free(block)
