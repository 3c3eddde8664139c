"""Reference implementation of a query, which holds its ranked documents and their gains."""

import math
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rankgain import _codes
from rankgain._codes import CALLABLE, IRRELEVANT, TABLE, VECTOR, WORST
from rankgain._reference.numbers import INFINITE_FROM, Refused

NOT_MONOTONE = (IRRELEVANT, TABLE, CALLABLE)  # kinds of gain that may decrease as the grade increases


class HitGroup(NamedTuple):
    """Documents with equal scores, which share the ranks from `first` to `last` in an unknown order.

    `grades` has the grades of the hits in the group (see `ranking.find_hits`) in descending order; other documents
    count only in `size`. A document whose rank is known is a group of one.
    """

    first: int
    last: int
    grades: list[float]

    @property
    def size(self):
        return self.last - self.first + 1

    def all_equal(self, values):
        """Return whether all documents in the group have the same value, in which case their order does not matter.

        `values`: the values of the hits, sorted.
        """
        return len(values) == self.size and values[0] == values[-1]

    def count_above(self, above):
        """Count the documents with a grade higher than `above`."""
        return sum(grade > above for grade in self.grades)


class Query(NamedTuple):
    """A query with its ranked documents.

    `returned`: the number of returned documents; `groups`: the tie groups with hits, in rank order; `judged`: pairs of
    a judged grade and its number of documents, highest grade first; `ties`: the policy for equal scores;
    `judged_share`: see `ranking.judged_share`.
    """

    returned: int
    groups: list[HitGroup]
    judged: list[tuple[float, int]]
    ties: int
    judged_share: float = math.nan

    def count_judged(self, above):
        """Count the judged documents with a grade higher than `above`."""
        return sum(count for grade, count in self.judged if grade > above)

    @property
    def nothing_relevant(self):
        return not self.judged or not self.judged[0][0] > 0.0


def hit_groups(hits):
    """Combine hits into tie groups. The hits are given as (grade, first rank, last rank), in rank order."""
    by_ranks = groupby(hits, itemgetter(1, 2))
    return [HitGroup(first, last, [grade for grade, _, _ in members]) for (first, last), members in by_ranks]


# Gains of documents


def require_discounts(term, ranks):
    """Raise Refused if a vector of discounts has fewer than `ranks` values."""
    if term.kind == VECTOR and ranks > len(term.discount_table):
        raise Refused(_codes.SHORT_DISCOUNT, ranks)


def exponential_gain(grade):
    return math.exp2(grade) - 1.0


def gain_by(term, gain_table, grade):
    """Return the gain of a grade. A negative grade means pooled but unjudged, and has the gain 0."""
    if grade < 0.0:
        return 0.0
    if term.gain == _codes.LINEAR:
        return grade
    if term.gain == _codes.RELEVANT:
        return 1.0 if grade > term.level else 0.0
    if term.gain == _codes.IRRELEVANT:
        return 1.0 if grade <= term.level else 0.0
    if term.gain == _codes.EXPONENTIAL:
        if grade >= INFINITE_FROM:
            raise Refused(_codes.LARGE_GRADE)
        return exponential_gain(grade)
    if term.gain == _codes.STOP:  # (2^r − 1) / 2^max
        if grade > term.level:
            raise Refused(_codes.ABOVE_MAX_GRADE)
        return exponential_gain(grade) / (exponential_gain(term.level) + 1.0)  # 2^max is rounded as in `Gain.apply`
    gain = gain_table.get(grade)
    if gain is None:
        raise Refused(_codes.MISSING_GAIN)
    if not 0.0 <= gain < math.inf:
        raise Refused(_codes.BAD_GAIN)
    return gain


def hit_gains(term, gain_table, query, depth):
    """Return the tie groups that start within the top `depth` ranks, each with the gains of its hits, highest first."""
    groups = [group for group in query.groups if group.first <= depth]
    if term.gain == _codes.LINEAR and not any(group.grades[-1] < 0.0 for group in groups):
        return [(group, group.grades) for group in groups]
    gains = [[gain_by(term, gain_table, grade) for grade in group.grades] for group in groups]
    if term.gain in NOT_MONOTONE:
        for group_gains in gains:
            group_gains.sort(reverse=True)
    return list(zip(groups, gains, strict=True))


def judged_gains(term, gain_table, query):
    """Return a pair (gain, number of documents) for each judged grade, highest gain first."""
    if term.gain == _codes.LINEAR:
        return query.judged
    try:
        gains = [(gain_by(term, gain_table, grade), count) for grade, count in query.judged]
    except Refused as refused:
        raise refused.in_judged() from None
    return sorted(gains, key=lambda pair: -pair[0]) if term.gain in NOT_MONOTONE else gains


# Ranks of documents


def in_best_order(gains):
    """Yield (rank, gain) for the judged documents in the best order, given pairs (gain, number of documents)."""
    return enumerate((gain for gain, count in gains for _ in range(count)), 1)


def ranked_values(group, values, ties):
    """Yield (rank, value) for each hit in a tie group, under a policy that orders tied documents.

    The values, highest first, take the first ranks or, under WORST, the last ranks in reverse order. Documents that are
    not hits take the remaining ranks.
    """
    if ties == WORST:
        return enumerate(reversed(values), group.last - len(values) + 1)
    return enumerate(values, group.first)


def ranked_grades(query):
    """Yield (rank, grade) for each hit of a query, under a policy that orders tied documents."""
    for group in query.groups:
        yield from ranked_values(group, group.grades, query.ties)


TERM_FUNCTIONS = {}  # family code: (function that computes the term, whether the term has a value per cut-off)


def cutoff_term(function):
    """Register a function that computes a family of terms with one value per cut-off.

    The name of the function in capitals is the name of the family code.
    """
    TERM_FUNCTIONS[getattr(_codes, function.__name__.upper())] = function, True
    return function


def list_term(function):
    """Register a function that computes a family of terms with one value for the whole list."""
    TERM_FUNCTIONS[getattr(_codes, function.__name__.upper())] = function, False
    return function


def at_cutoffs(cutoffs, running, value=0.0):
    """Return the value of a running total at each cut-off. Cut-offs must be in ascending order.

    `running` yields pairs (rank, value from this rank on) in rank order; `value` is the value before the first such
    rank. For the pairs (2, 0.5) and (5, 0.7), the values at the cut-offs 1, 2 and 4 are 0.0, 0.5 and 0.5. `running` is
    consumed only up to the last cut-off.
    """
    values = []
    for rank, following in running:
        while len(values) < len(cutoffs) and cutoffs[len(values)] < rank:
            values.append(value)
        if len(values) == len(cutoffs):
            return values
        value = following
    return values + [value] * (len(cutoffs) - len(values))


def before_first_relevant(term, query):
    """Return the value at ranks above the first relevant document: 0, or `empty` if no judged document is relevant."""
    return 0.0 if query.judged and query.judged[0][0] > term.above else term.empty
