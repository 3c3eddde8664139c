"""The specification: relevance in rank order to values, without a Batch; one list by a Door, many in one call.

The compiled half is `_doors`; the contract is that of `_reference`.
"""

from array import array

from numpy import ndarray

from rankgain._codes import IN_JUDGED, LONGEST_LIST
from rankgain._reference import discounts, finite, gain_of, quotient
from rankgain._reference_ordering import first_fault


def _dcg(grades, exponential, discount, depth):
    """Σ g(r_i)·d(i) over i ≤ depth; with the discount UNIT this is CG."""
    grades = grades[: min(depth, len(grades))]
    fault = first_fault(grades, exponential)
    if fault:
        return fault
    total = 0.0
    for rank, grade in enumerate(grades, 1):
        total += gain_of(grade, exponential) * discount(rank)
    return finite(total)


def _idcg(grades, exponential, discount, depth):
    """The DCG of the grades, highest first."""
    return first_fault(grades, exponential) or _dcg(sorted(grades, reverse=True), exponential, discount, depth)


def _ndcg(grades, judged, exponential, discount, depth, returned, bounded, empty):
    """DCG / IDCG; `judged` None: the list itself; `returned`: the ideal is cut at the list's length as well.

    Then the ideal of an empty list is that of one document: a list that returned nothing earns 0.
    """
    dcg = _dcg(grades, exponential, discount, depth)
    if type(dcg) is tuple:
        return dcg
    ideal_depth = min(depth, max(len(grades), 1)) if returned else depth
    ideal = _idcg(grades if judged is None else judged, exponential, discount, ideal_depth)
    if type(ideal) is tuple:
        return ideal if judged is None else (ideal[0] + IN_JUDGED, *ideal[1:])
    return quotient(dcg, ideal, empty, bounded)


def _rr(grades, depth, below):
    """1 / rank of the first grade above `below` if that rank ≤ depth, else 0."""
    grades = grades[: min(depth, len(grades))]
    return first_fault(grades) or next((1.0 / rank for rank, grade in enumerate(grades, 1) if grade > below), 0.0)


# one short list or tuple of float and int, or array of numbers, as C has them; None for anything else: the long way
# takes it, and says what is wrong


def _opened(grades):
    if type(grades) is ndarray:
        plain = grades.ndim == 1 and grades.dtype.char in "dfbBhHiIlLqQ?" and grades.dtype.isnative
    else:
        plain = type(grades) in (list, tuple) and all(
            isinstance(grade, float) or (type(grade) is int and abs(grade) <= 2**53) for grade in grades
        )
    return array("d", grades) if plain and len(grades) <= LONGEST_LIST else None


class Door:
    """The functions on one list, with their settings."""

    def __init__(self, exponential, table, kind, base, depth, empty, below):
        self._sum = exponential, discounts(table, kind, base), depth
        self._depth, self._empty, self._below = depth, empty, below

    def dcg(self, grades, /):
        return _answer(_dcg, grades, *self._sum)

    def idcg(self, grades, /):
        return _answer(_idcg, grades, *self._sum)

    def ndcg(self, grades, /):
        return _answer(_ndcg, grades, None, *self._sum, False, True, self._empty)

    def rr(self, grades, /):
        return _answer(_rr, grades, self._depth, self._below)


def _answer(value, grades, *arguments):
    grades = _opened(grades)
    result = None if grades is None else value(grades, *arguments)
    return None if type(result) is tuple else result


# many lists, of numbers of any type


def _each(offsets, out, value):
    """Fill out[q] with value(q) for each list, up to the first offence."""
    for query in range(len(offsets) - 1):
        result = value(query)
        if type(result) is tuple:
            return result[0], query, result[2]
        out[query] = result
    return None


def _list(grades, offsets, query):
    return [float(grade) for grade in memoryview(grades)[offsets[query] : offsets[query + 1]]]


def dcg_lists(grades, offsets, exponential, table, kind, base, depth, out):
    discount = discounts(table, kind, base)
    return _each(offsets, out, lambda query: _dcg(_list(grades, offsets, query), exponential, discount, depth))


def idcg_lists(grades, offsets, exponential, table, kind, base, depth, out):
    discount = discounts(table, kind, base)
    return _each(offsets, out, lambda query: _idcg(_list(grades, offsets, query), exponential, discount, depth))


def ndcg_lists(
    grades, offsets, judged, judged_offsets, exponential, table, kind, base, depth, returned, bounded, empty, out
):
    discount = discounts(table, kind, base)

    def value(query):
        truth = None if judged is None else _list(judged, judged_offsets, query)
        own = _list(grades, offsets, query)
        return _ndcg(own, truth, exponential, discount, depth, returned, bounded, empty)

    return _each(offsets, out, value)


def rr_lists(grades, offsets, depth, below, out):
    return _each(offsets, out, lambda query: _rr(_list(grades, offsets, query), depth, below))
