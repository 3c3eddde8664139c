# Compute the metrics of one query: first terms, then combinations of terms. See `_reference/program.py`.
from libc.math cimport floor
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport calloc, free

from rankgain._codes cimport (
    ABOVE_IDEAL, ANY_RELEVANT, CALLABLE, AS_IS, BEST, BIASED, BOUNDED_MEAN, BY_CAPPED, BY_HITS, BY_RELEVANT, CASCADE,
    COST_SUM, DISCOUNTED_SUM, FALLOUT, FILLED, FIRST_RELEVANT, F_MEASURE, GRADE_LEVELS, IDEAL_CASCADE,
    IDEAL_SUM, INFERRED_SUM, INTERPOLATED, IRRELEVANT, JUDGED_ABOVE, NOT_FINITE, ONE, PAIRS, PRECISION_AT_RELEVANT,
    PRECISION_SUM, PREFERENCE_SUM, QUOTIENT, RANKS, RATIO, RELEVANT_RANKS, RESIDUAL, RETURNED_ABOVE, SET_AP,
    SHORT_DISCOUNT, UNJUDGED, UTILITY, VECTOR, WORST,
)

cdef enum:
    MAX_VALUES = 4  # maximum number of values that a combination takes
    MAX_PARAMETERS = 5
    LONG_QUERY = 1 << 20  # number of documents above which Ctrl-C is checked between terms
    INTERRUPTED = -1  # not an error code; means that an exception has been set

cdef extern from "Python.h":
    int check_signals "PyErr_CheckSignals"() noexcept


cdef struct Combination:
    int kind
    bint bounded
    double empty
    Py_ssize_t value_indices[MAX_VALUES]
    Py_ssize_t last  # the last of the value indices
    double parameters[MAX_PARAMETERS]

cdef struct Steps:
    Term* terms
    Py_ssize_t n_terms
    Combination* combinations
    Py_ssize_t n_combinations
    Py_ssize_t n_values
    Py_ssize_t most_points
    int64_t depth  # the deepest rank that any term reads
    int64_t judged_depth  # number of highest judged grades that the terms read
    double lowest  # documents with grades above this value are hits
    bint non_relevant  # whether all judged documents are hits, unless every returned document is judged
    int64_t share_depth  # number of leading documents of which the judged ones can be counted


cdef class Program:
    """The terms of metrics and their combinations: see `rankgain.metrics.program`. A program is immutable and shared by
    threads."""

    cdef Steps steps
    cdef list views  # keeps alive the arrays that the terms point to

    def __cinit__(
        self, list terms, list combinations, int64_t depth, int64_t judged_depth, double lowest,
        bint non_relevant=False, int64_t share_depth=0, /
    ):
        cdef Py_ssize_t index
        self.views = []
        self.steps.n_terms = len(terms)
        self.steps.n_combinations = len(combinations)
        self.steps.depth = depth
        self.steps.judged_depth = judged_depth
        self.steps.lowest = lowest
        self.steps.non_relevant = non_relevant
        self.steps.share_depth = share_depth
        self.steps.terms = <Term*>calloc(self.steps.n_terms + 1, sizeof(Term))
        self.steps.combinations = <Combination*>calloc(self.steps.n_combinations + 1, sizeof(Combination))
        if self.steps.terms == NULL or self.steps.combinations == NULL:
            raise MemoryError
        for index in range(self.steps.n_terms):
            self.read_term(&self.steps.terms[index], terms[index])
        for index in range(self.steps.n_combinations):
            self.read_combination(&self.steps.combinations[index], combinations[index])

    def __dealloc__(self):
        free(self.steps.terms)
        free(self.steps.combinations)

    cdef int read_term(self, Term* term, object given) except -1:
        """Fill a term from a KernelTerm, whose arrays are kept in `views`; terms must be read in their order."""
        cdef const double[::1] grades, gains, table, points
        cdef const int64_t[::1] cutoffs
        grades, gains, table = given.grades, given.gains, given.discount_table
        cutoffs, points = given.cutoffs, given.points
        self.views.append((grades, gains, table, cutoffs, points))
        term.family = given.family
        term.gain = given.gain
        term.level = given.level
        term.above = given.above
        term.empty = given.empty
        term.factor = given.factor
        term.flag = given.flag
        term.discount.kind = given.kind
        term.discount.base = given.base
        term.table.grades = doubles(grades)
        term.table.gains = doubles(gains)
        term.table.n = grades.shape[0]
        term.discount.table = doubles(table)
        term.discount.size = table.shape[0]
        term.cutoffs = integers(cutoffs)
        term.n = cutoffs.shape[0]
        term.first_value = self.steps.n_values
        term.points = doubles(points)
        term.n_points = points.shape[0]
        self.steps.n_values += term.n
        self.steps.most_points = max(self.steps.most_points, term.n_points)
        return 0

    cdef int read_combination(self, Combination* combination, tuple given) except -1:
        """Fill a combination, which must have been zeroed, from (kind, value indices, bounded, empty, parameters)."""
        cdef Py_ssize_t index
        combination.kind, value_indices, combination.bounded, combination.empty, parameters = given
        for index in range(len(value_indices)):
            combination.value_indices[index] = combination.last = value_indices[index]
        for index in range(len(parameters)):
            combination.parameters[index] = parameters[index]
        return 0


# functions that compute terms

cdef int sum_returned(
    const Term* term, const GainTable* table, Query* query, bint pooled, const int64_t* cutoffs, Py_ssize_t n_cutoffs,
    double* values
) noexcept nogil:
    """Compute the sum of gain times discount over the hits."""
    cdef const double* gain
    cdef Py_ssize_t n
    cdef int code = hit_gains(term, table, query, cutoffs[n_cutoffs - 1], pooled, &gain, &n), ties = query.ties
    if code:
        return code
    if term.gain == IRRELEVANT:  # fewer non-relevant documents are better, so BEST and WORST are swapped
        ties = BEST if ties == WORST else WORST if ties == BEST else ties
    sum_hits(n, query.first, query.last, gain, ties, &term.discount, cutoffs, n_cutoffs, values)
    return 0 if all_finite(values, n_cutoffs) else NOT_FINITE


cdef int sum_best(
    const Term* term, const GainTable* table, Query* query, const int64_t* cutoffs, Py_ssize_t n_cutoffs,
    double* values, int64_t* position
) noexcept nogil:
    """Compute the sum of gain times discount over the judged documents, in descending order of gain."""
    cdef const double* gain
    cdef const int64_t* count
    cdef int64_t limit = INT64_MAX, needed
    cdef int code = judged_gains(term, table, query, &gain, &count)
    if code:
        return code
    if term.flag and term.family == IDEAL_SUM:  # the ideal of an empty list is that of one document
        limit = max(query.returned, 1)
    if term.discount.kind == VECTOR:
        needed = min(min(judged_size(query), limit), cutoffs[n_cutoffs - 1])
        if lacks(&term.discount, needed):
            position[0] = needed
            return SHORT_DISCOUNT
    sum_ideal(gain, count, query.n_judged, limit, &term.discount, cutoffs, n_cutoffs, values)
    return 0 if all_finite(values, n_cutoffs) else NOT_FINITE


cdef Py_ssize_t grade_levels(
    const double* gain, const int64_t* count, const Query* query, int64_t* ranks, double* terms
) noexcept nogil:
    """Write the ranks at which the ideal gain falls. Also write the end of the list if the list has at least two more
    documents than there are documents with a gain. Return the number of ranks."""
    cdef Py_ssize_t index, n = 0
    cdef int64_t rank = 0
    for index in range(query.n_judged):
        if gain[index] > 0.0:
            rank += count[index]
            if index + 1 == query.n_judged or gain[index] != gain[index + 1]:
                ranks[n] = rank
                n += 1
    if n and query.returned > rank + 1:
        ranks[n] = INT64_MAX
        n += 1
    terms[0] = <double>n
    return n


cdef Py_ssize_t relevant_ranks(
    const double* gain, Py_ssize_t n_hits, const Query* query, int64_t* ranks
) noexcept nogil:
    """Write the ranks of the hits that have a gain. They take the first ranks of a tie group or, under WORST, the last
    ranks."""
    cdef Py_ssize_t index = 0, stop, group, n = 0, member
    while index < n_hits:
        stop = group_stop(query.first, index, n_hits)
        group = 0
        for member in range(index, stop):
            group += gain[member] > 0.0
        for member in range(group):
            ranks[n] = (query.last[index] - group + 1 if query.ties == WORST else query.first[index]) + member
            n += 1
        index = stop
    return n


cdef int mean_ndcg(
    const Term* term, const GainTable* table, Query* query, bint pooled, double* value, int64_t* position
) noexcept nogil:
    """Compute the mean nDCG over the ranks of the documents with a gain, or over the ranks at which the ideal gain
    falls."""
    cdef const double* gain
    cdef const int64_t* count
    cdef int64_t* ranks = <int64_t*>query.scratch
    cdef double* sums = query.scratch + query.capacity
    cdef double* ideals = sums + query.capacity
    cdef double total = 0.0, terms = 0.0, quotient
    cdef Py_ssize_t n = 0, index, hits
    cdef int64_t n_with_gain = 0, returned = 0
    cdef int code = judged_gains(term, table, query, &gain, &count)
    if code:
        return code
    value[0] = 0.0
    if term.family == GRADE_LEVELS:
        n = grade_levels(gain, count, query, ranks, &terms)
    for index in range(query.n_judged):
        if gain[index] > 0.0:
            n_with_gain += count[index]
    code = hit_gains(term, table, query, INT64_MAX, pooled, &gain, &hits)
    if code:
        return code
    for index in range(hits):
        returned += gain[index] > 0.0
    if returned > n_with_gain:
        return ABOVE_IDEAL
    if term.family == RELEVANT_RANKS:
        n = relevant_ranks(gain, hits, query, ranks)
        terms = <double>n_with_gain
        n_with_gain -= n
        ranks[n] = INT64_MAX
        n += 1
    if lacks(&term.discount, query.returned):
        position[0] = query.returned
        return SHORT_DISCOUNT
    if n == 0:
        return 0
    code = sum_returned(term, table, query, pooled, ranks, n, sums)
    if code == 0:
        code = sum_best(term, table, query, ranks, n, ideals, position)
    if code:
        return code
    for index in range(n):
        quotient = sums[index] / ideals[index] if ideals[index] > 0.0 else 0.0
        if term.family == RELEVANT_RANKS and index == n - 1:
            quotient *= <double>n_with_gain
        total += quotient
    if terms > 0.0:
        value[0] = total / terms
    return 0


cdef inline void fill(const Term* term, double value, double* values) noexcept nogil:
    """Write the same value at all cut-offs."""
    cdef Py_ssize_t index
    for index in range(term.n):
        values[index] = value


cdef int precision_at_relevant(const Term* term, Query* query, bint pooled, double* value) noexcept nogil:
    """Write precision at rank R or a multiple of it. `pooled`: whether grades of hits may be negative."""
    cdef int64_t ranks = <int64_t>floor(term.factor * <double>judged_above(query, term.above) + 0.9)
    cdef int64_t depth = max(ranks, 1)
    cdef int code = sum_returned(term, &term.table, query, pooled, &depth, 1, value)
    value[0] = value[0] / <double>ranks if ranks > 0 else 0.0
    return code


cdef inline double value_before_first_relevant(const Term* term, const Query* query) noexcept nogil:
    """Return the value at cut-offs before the first relevant document, which is `empty` if no judged document is
    relevant."""
    return 0.0 if query.n_judged > 0 and query.judged_grade[0] > term.above else term.empty


cdef int compute_term(
    const Term* term, const GainTable* table, Query* query, bint pooled, int64_t* position
) noexcept nogil:
    """Write the values of a term at all cut-offs; return an error code or 0."""
    cdef double* values = query.values + term.first_value
    cdef const double* gain
    cdef const int64_t* count
    cdef double value = 0.0
    cdef int64_t relevant, needed
    cdef Py_ssize_t index, n
    cdef int code = 0
    cdef Cutoffs cutoffs
    cdef RunningIdeal ideal
    cutoffs.ranks = term.cutoffs
    cutoffs.n = term.n
    cutoffs.out = values
    if term.family == DISCOUNTED_SUM:
        needed = min(query.returned, term.cutoffs[term.n - 1])
        if lacks(&term.discount, needed):
            position[0] = needed
            return SHORT_DISCOUNT
        return sum_returned(term, table, query, pooled, term.cutoffs, term.n, values)
    if term.family == IDEAL_SUM:
        return sum_best(term, table, query, term.cutoffs, term.n, values, position)
    if term.family == RANKS:
        for index in range(term.n):
            if term.flag or term.cutoffs[index] == INT64_MAX:
                values[index] = <double>min(query.returned, term.cutoffs[index])
            else:
                values[index] = <double>term.cutoffs[index]
        return 0
    if term.family == RETURNED_ABOVE:
        n = 0
        for index in range(term.n):
            while n < query.n and query.first[n] <= term.cutoffs[index]:
                value += query.grade[n] > term.above
                n += 1
            values[index] = value
        return 0
    if term.family == FIRST_RELEVANT or term.family == ANY_RELEVANT:
        find_first_relevant(
            query.n, query.grade, query.first, query.last, term.above, query.ties,
            value_before_first_relevant(term, query), term.family == FIRST_RELEVANT, term.cutoffs, term.n, values,
        )
        return 0
    if term.family == PRECISION_SUM:
        ideal = start_running_ideal(query.n_judged, query.judged_grade, query.judged_count, 0.0, 0.0)
        sum_precisions(
            query.n, query.grade, query.first, query.last, term.above, query.ties, term.factor, &ideal, &cutoffs
        )
        return 0 if term.factor == 0.0 or all_finite(values, term.n) else NOT_FINITE
    if term.family == CASCADE or term.family == IDEAL_CASCADE:
        code = judged_gains(term, table, query, &gain, &count)  # also checks that every judged grade is on the scale
        if code == 0 and term.family == IDEAL_CASCADE:
            sum_ideal_cascade(gain, count, query.n_judged, &cutoffs)
        elif code == 0:
            code = hit_gains(term, table, query, term.cutoffs[term.n - 1], pooled, &gain, &n)
            if code == 0:
                code = sum_cascade(
                    n, query.first, query.last, gain, query.ties, query.scratch, query.capacity, &cutoffs
                )
        return code
    # The remaining families of terms ignore cut-offs.
    if term.family == JUDGED_ABOVE:
        value = <double>judged_above(query, term.above)
    elif term.family == PRECISION_AT_RELEVANT:
        code = precision_at_relevant(term, query, pooled, &value)
    elif term.family == PREFERENCE_SUM:
        relevant = judged_above(query, term.above)
        value = sum_preferences(
            query.n, query.grade, query.first, query.last, term.above, query.ties, relevant,
            judged_above(query, term.level) - relevant, query.graded,
        )
    elif term.family == INFERRED_SUM:
        value = sum_inferred(query.n, query.grade, query.first, query.last, term.above, query.ties)
    elif term.family == INTERPOLATED:
        value = mean_interpolated(
            query.n, query.grade, query.first, query.last, term.above, query.ties, judged_above(query, term.above),
            term.points, term.n_points, term.flag, query.scratch,
        )
    elif term.family == PAIRS:
        value = share_of_pairs(
            query.n, query.grade, query.first, query.last, term.above, query.ties, query.returned,
            value_before_first_relevant(term, query), term.empty,
        )
    elif term.family == COST_SUM:
        code = hit_gains(term, table, query, INT64_MAX, pooled, &gain, &n)
        if code == 0:
            code = compute_cost(term, table, query, gain, n, &value)
    else:
        code = mean_ndcg(term, table, query, pooled, &value, position)
    fill(term, value, values)
    return code


cdef int compute_cost(
    const Term* term, const GainTable* table, Query* query, const double* hit_gain, Py_ssize_t n, double* value
) noexcept nogil:
    """Write G or binary G of a query; `hit_gain` has the gains of its n hits. Return 0 or an error code."""
    cdef const double* gain
    cdef const int64_t* count
    cdef RunningIdeal cost
    cdef int code = judged_gains(term, table, query, &gain, &count)
    if code:
        return code
    cost = start_running_ideal(query.n_judged, gain, count, 1.0, 1.0)
    return sum_costs(n, query.first, query.last, hit_gain, query.ties, &cost, value)


# combining terms into metrics

cdef inline double over(double value, double total, double empty) noexcept nogil:
    """Return value / total, or `empty` if the total is 0."""
    return value / total if total != 0.0 else empty


cdef int combine_terms(const Combination* combination, const double* values, double* out) noexcept nogil:
    """Combine the values of terms into the value of a metric; return an error code or 0."""
    cdef double a = values[combination.value_indices[0]], b = values[combination.value_indices[1]]
    cdef double c = values[combination.value_indices[2]], square
    cdef const double* parameters = combination.parameters
    if combination.kind == AS_IS:
        out[0] = a
        return 0
    if combination.kind == RATIO:
        return quotient(a, b, combination.empty, combination.bounded, out)
    if combination.kind == FALLOUT:
        b -= c
        out[0] = over(a, b, combination.empty)
        return ABOVE_IDEAL if a > b * (1.0 + TOLERANCE) else 0
    if combination.kind == BOUNDED_MEAN:
        if combination.bounded and a > 1.0 + TOLERANCE:
            return ABOVE_IDEAL
    elif combination.bounded and max(a, values[combination.last]) > b * (1.0 + TOLERANCE):
        return ABOVE_IDEAL  # a relevant document adds at most 1; the last value counts those returned
    if combination.kind == QUOTIENT or combination.kind == BY_RELEVANT:
        out[0] = over(a, b, combination.empty)
    elif combination.kind == BIASED:
        out[0] = min((1.0 - parameters[0]) * a, 1.0)
    elif combination.kind == RESIDUAL:
        out[0] = max(1.0 - (1.0 - parameters[0]) * a, 0.0)
    elif combination.kind == UNJUDGED:
        out[0] = over(b - a, c, 0.0)
    elif combination.kind == UTILITY:
        out[0] = (
            parameters[0] * a + parameters[1] * (c - a) + parameters[2] * (b - a)
            + parameters[3] * (parameters[4] + a - c - b)
        )
        return 0 if finite(out[0]) else NOT_FINITE
    elif combination.kind == ONE:
        out[0] = 1.0
    elif b <= 0.0:  # no judged document is relevant
        out[0] = combination.empty
    elif combination.kind == BY_CAPPED:
        out[0] = over(a, min(b, c), 0.0)
    elif combination.kind == BY_HITS:
        out[0] = over(a, c, 0.0)
    elif combination.kind == F_MEASURE:
        square = parameters[0] * parameters[0]
        out[0] = over((1.0 + square) * a, square * b + c, 0.0)
    elif combination.kind == SET_AP:
        out[0] = over(a * a, c * b, 0.0)
    else:  # for FILLED and BOUNDED_MEAN
        out[0] = a
    return 0


cdef bint interrupted() noexcept with gil:
    """Return whether a signal handler raised an exception. Handlers run only on the main thread."""
    return check_signals() != 0


cdef int compute_metrics(
    const Steps* steps, Query* query, double* out, Py_ssize_t stride, int64_t* position, Py_ssize_t* number
) noexcept nogil:
    """Compute the metrics of a query from its hits and judged grades, and write the values `stride` doubles apart.

    Return an error code, or 0. On an error, `number` is the index of the term that failed, or −1 if a combination
    failed.
    """
    cdef Py_ssize_t index
    cdef const Term* term
    cdef int code
    cdef bint pooled = steps.lowest < 0.0 or steps.non_relevant, long_query = query.n + query.n_judged > LONG_QUERY
    for index in range(steps.n_terms):
        if long_query and interrupted():
            return INTERRUPTED
        term = &steps.terms[index]
        code = compute_term(
            term, &query.callable_gains[index] if term.gain == CALLABLE else &term.table, query, pooled, position
        )
        if code:
            number[0] = index
            return code
    number[0] = -1
    for index in range(steps.n_combinations):
        code = combine_terms(&steps.combinations[index], query.values, out + index * stride)
        if code:
            return code
    return 0
