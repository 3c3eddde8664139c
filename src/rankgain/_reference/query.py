"""The specification: one query as the engine holds it, and the gains of its hits and judged grades, in plain Python."""

import math
from bisect import bisect_right
from typing import Any, NamedTuple

from rankgain import _codes
from rankgain._codes import IN_JUDGED, VECTOR, WORST
from rankgain._reference.numbers import Refused


class Term(NamedTuple):
    """What is taken of each query at its cut-offs, which rise; see `rankgain.metrics.families`."""

    family: int
    gain: int
    level: float
    grades: Any
    gains: Any
    above: float
    empty: float
    factor: float
    flag: bool
    kind: int
    base: float
    table: Any
    cutoffs: Any
    points: Any


class Query:
    """The hits of a query in rank order, its judged grades, highest first, with the number of each, and its length.

    Each hit has the first and the last rank of its tie group; inside the group hits stand by grade, highest first.
    """

    def __init__(self, returned, hits, judged, ties):
        self.returned = returned
        self.grade = [grade for grade, _, _ in hits]
        self.first = [first for _, first, _ in hits]
        self.last = [last for _, _, last in hits]
        self.judged = judged
        self.ties = ties

    def judged_above(self, above):
        """How many judged documents have a grade above another."""
        return sum(count for grade, count in self.judged if grade > above)

    def groups(self, stop=None):
        """Yield the (start, stop) of each run of hits that begin at the same rank."""
        start, first, stop = 0, self.first, len(self.first) if stop is None else stop
        while start < stop:
            end = start + 1
            while end < stop and first[end] == first[start]:
                end += 1
            yield start, end
            start = end


# gains


def require_ranks(term, ranks):
    """Refuse a vector of discounts that is shorter than the ranks that are needed."""
    if term.kind == VECTOR and ranks > len(term.table):
        raise Refused(_codes.SHORT_DISCOUNT, ranks)


def gain_by(term, table, grade):
    """The gain of a grade; one below 0 is of a document that is not judged, and has none."""
    if grade < 0.0:
        return 0.0
    if term.gain == _codes.LINEAR:
        return grade
    if term.gain == _codes.RELEVANT:
        return 1.0 if grade > term.level else 0.0
    if term.gain == _codes.IRRELEVANT:
        return 1.0 if grade <= term.level else 0.0
    if term.gain == _codes.EXPONENTIAL:
        if grade >= 1024.0:
            raise Refused(_codes.LARGE_GRADE, -1)
        return math.exp2(grade) - 1.0
    if term.gain == _codes.STOP:
        if grade > term.level:
            raise Refused(_codes.ABOVE_MAX_GRADE, -1)
        return (math.exp2(grade) - 1.0) / (math.exp2(term.level) - 1.0 + 1.0)
    gain = table.get(grade)
    if gain is None:
        raise Refused(_codes.MISSING_GAIN, -1)
    if not 0.0 <= gain < math.inf:
        raise Refused(_codes.BAD_GAIN, -1)
    return gain


def hit_gains(term, table, query, depth):
    """The gains of the hits that start at a rank up to the depth; inside a tie group the highest comes first."""
    count = bisect_right(query.first, depth)
    if term.gain == _codes.LINEAR and not (count and min(query.grade) < 0.0):
        return query.grade[:count]
    gains = [gain_by(term, table, grade) for grade in query.grade[:count]]
    if term.gain >= _codes.IRRELEVANT:  # a higher grade need not have the higher gain
        for start, stop in query.groups(count):
            gains[start:stop] = sorted(gains[start:stop], reverse=True)
    return gains


def judged_gains(term, table, query):
    """The gains of the judged grades, highest first, with the number of each."""
    if term.gain == _codes.LINEAR:
        return query.judged
    try:
        gains = [(gain_by(term, table, grade), count) for grade, count in query.judged]
    except Refused as refused:
        code, position = refused.args
        raise Refused(code + IN_JUDGED, position) from None
    return sorted(gains, key=lambda pair: -pair[0]) if term.gain >= _codes.TABLE else gains


def before_found(term, query):
    """The value before a relevant document is found: `empty` where none is judged."""
    return 0.0 if query.judged and query.judged[0][0] > term.above else term.empty


# ranks


def at_cutoffs(cutoffs, running, value=0.0):
    """A running value, given as (rank, value from this rank on), at each cut-off; `value`: that before them."""
    out = []
    for rank, following in running:
        while len(out) < len(cutoffs) and cutoffs[len(out)] < rank:
            out.append(value)
        if len(out) == len(cutoffs):
            return out
        value = following
    return out + [value] * (len(cutoffs) - len(out))


def resolved(start, stop, first, last, ties):
    """Yield (rank, hit) for the hits of a tie group whose order is known.

    Those of the highest gain come first, or last under WORST; documents that are no hits take the other end.
    """
    if ties == WORST:
        return enumerate(range(stop - 1, start - 1, -1), last - (stop - start) + 1)
    return enumerate(range(start, stop), first)


def in_order(query):
    """Yield (rank, hit) for all hits; the order is known."""
    for i, j in query.groups():
        yield from resolved(i, j, query.first[i], query.last[i], query.ties)
