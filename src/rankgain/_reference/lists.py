"""The specification: the functions on relevance in rank order, which needs no order: one list, or each of many."""

from array import array
from typing import Any

from numpy import asarray, ndarray

from rankgain._codes import IN_JUDGED, LONGEST_LIST
from rankgain._reference.numbers import first_error, list_of
from rankgain._reference.sums import discounts, finite, gain_of, quotient
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats


def _dcg(grades, exponential, discount, depth):
    """Σ g(r_i)·d(i) over i ≤ depth; with the discount UNIT this is CG."""
    grades = grades[: min(depth, len(grades))]
    error_code = first_error(grades, exponential)
    if error_code:
        return error_code
    total = 0.0
    for rank, grade in enumerate(grades, 1):
        total += gain_of(grade, exponential) * discount(rank)
    return finite(total)


def _idcg(grades, exponential, discount, depth):
    """The DCG of the grades, highest first."""
    return first_error(grades, exponential) or _dcg(sorted(grades, reverse=True), exponential, discount, depth)


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


def _rr(grades, depth, above):
    """1 / rank of the first grade above `above` if that rank ≤ depth, else 0."""
    grades = grades[: min(depth, len(grades))]
    return first_error(grades) or next((1.0 / rank for rank, grade in enumerate(grades, 1) if grade > above), 0.0)


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


Answer = float | Floats | None


class ListFunctions:
    """The functions on one list, with their settings."""

    def __init__(
        self,
        exponential: bool,
        table: Floats,
        kind: int,
        base: float,
        depth: int,
        returned: bool,
        empty: float,
        above: float,
        /,
    ) -> None:
        self._sum = exponential, discounts(memoryview(table), kind, base), depth
        self._depth, self._returned, self._empty, self._above = depth, returned, empty, above

    def dcg(self, grades: Any, /) -> Answer:
        return self._answer(grades, self._dcg)

    def idcg(self, grades: Any, /) -> Answer:
        return self._answer(grades, self._idcg)

    def ndcg(self, grades: Any, /) -> Answer:
        return self._answer(grades, self._ndcg)

    def rr(self, grades: Any, /) -> Answer:
        return self._answer(grades, self._rr)

    def _dcg(self, grades, judged=None):
        return _dcg(grades, *self._sum)

    def _idcg(self, grades, judged=None):
        return _idcg(grades, *self._sum)

    def _ndcg(self, grades, judged=None):
        return _ndcg(grades, judged, *self._sum, self._returned, True, self._empty)

    def _rr(self, grades, judged=None):
        return _rr(grades, self._depth, self._above)

    def _answer(self, grades, value):
        """The value of a list, or of each of many; None for what takes the long way: that says what is not sound."""
        if type(grades) in (list, tuple) and grades and type(grades[0]) in (list, tuple, ndarray):
            values = [_value(value, own) for own in grades]
            return None if None in values else asarray(values)
        return _value(value, grades)

    def fill(self, wanted: str, given: tuple[Any, ...], out: Floats, /) -> ErrorCode:
        """The value of each list of a chunk, of numbers of any type; or what is wrong."""
        _, start, stop, grades, offsets, columns, _, judged, judged_offsets, judged_columns = given
        value = getattr(self, f"_{wanted}")
        for number in range(start, stop):
            truth = None if judged is None else list_of(judged, judged_offsets, judged_columns, number)
            result = value(list_of(grades, offsets, columns, number), truth)
            if type(result) is tuple:
                return result[0], number - start, result[2], -1
            out[number - start] = result
        return None


def _value(value, grades):
    grades = _opened(grades)
    result = None if grades is None else value(grades)
    return None if type(result) is tuple else result
