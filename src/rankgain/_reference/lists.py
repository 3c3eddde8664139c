"""Reference implementation of DCG, IDCG, nDCG and RR for one or more lists of grades in rank order."""

from array import array
from typing import Any

from numpy import asarray, ndarray

from rankgain._codes import LONGEST_LIST
from rankgain._reference.numbers import INFINITE_FROM, Refused, check_grades, list_of
from rankgain._reference.query import exponential_gain
from rankgain._reference.sums import all_finite, discounts, over_ideal
from rankgain.errors import ErrorCode
from rankgain.scalars import Array, Floats, Ints

Answer = float | Floats | None


class ListFunctions:
    """Functions that compute metrics of lists of grades, with settings that are fixed at construction.

    `dcg`, `idcg`, `ndcg` and `rr` return None for input that is long, invalid or of an unsupported type. The caller
    then takes the general path, which reports errors.
    """

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
        self._exponential, self._limit = exponential, INFINITE_FROM if exponential else float("inf")
        self._discount = discounts(memoryview(table), kind, base)
        self._depth, self._returned, self._empty, self._above = depth, returned, empty, above

    def dcg(self, grades: Any, /) -> Answer:
        return _answer(self._dcg, grades)

    def idcg(self, grades: Any, /) -> Answer:
        return _answer(self._idcg, grades)

    def ndcg(self, grades: Any, /) -> Answer:
        return _answer(self._ndcg, grades)

    def rr(self, grades: Any, /) -> Answer:
        return _answer(self._rr, grades)

    def _dcg(self, grades):
        """Return DCG, the sum of g(r_i)·d(i) over the ranks i ≤ k. With the discount UNIT, it is CG."""
        return self._sum(grades, self._depth)

    def _idcg(self, grades):
        """Return the DCG of the grades in descending order."""
        return self._ideal(grades, self._depth)

    def _ndcg(self, grades, judged=None):
        """Return DCG / IDCG. The ideal list has the grades in `judged` or, by default, those of the list itself.

        With `returned`, the ideal is also cut off at the length of the list, but never before rank 1, so that an empty
        list has the value 0.
        """
        dcg = self._sum(grades, self._depth)
        depth = min(self._depth, max(len(grades), 1)) if self._returned else self._depth
        try:
            ideal = self._ideal(grades if judged is None else judged, depth)
        except Refused as refused:
            raise (refused if judged is None else refused.in_judged()) from None
        return over_ideal(dcg, ideal, self._empty, True)

    def _rr(self, grades):
        """Return 1 / rank of the first relevant document if that rank is at most k, else 0."""
        grades = grades[: min(self._depth, len(grades))]
        check_grades(grades)
        return next((1.0 / rank for rank, grade in enumerate(grades, 1) if grade > self._above), 0.0)

    def _ideal(self, grades, depth):
        check_grades(grades, self._limit)
        return self._sum(sorted(grades, reverse=True), depth)

    def _sum(self, grades, depth):
        grades = grades[: min(depth, len(grades))]
        check_grades(grades, self._limit)
        total = 0.0
        for rank, grade in enumerate(grades, 1):
            total += (exponential_gain(grade) if self._exponential else grade) * self._discount(rank)
        return all_finite([total])[0]

    def fill(self, name: str, given: tuple[Any, ...], out: Floats, /) -> ErrorCode:
        """Write the value of each list in a chunk to `out`; return the first error or None.

        Only nDCG takes judged grades.
        """
        _, start, stop, *columns = given
        returned, judged = columns[:3], columns[4:]
        function = getattr(self, f"_{name}")
        for query in range(start, stop):
            lists = [list_of(*side, query) for side in (returned, judged) if side[0] is not None]
            try:
                out[query - start] = function(*lists)
            except Refused as refused:
                return refused.in_query(query - start)
        return None


def _answer(function, grades):
    """Return the value for one list, or an array with a value for each of several lists."""
    if type(grades) in (list, tuple) and grades and type(grades[0]) in (list, tuple, ndarray):
        values = [_value(function, row) for row in grades]
        return None if None in values else asarray(values)
    return _value(function, grades)


def _value(function, grades):
    if type(grades) is ndarray:
        readable = grades.ndim == 1 and grades.dtype.char in "dfbBhHiIlLqQ?" and grades.dtype.isnative
    else:
        readable = type(grades) in (list, tuple) and all(
            isinstance(grade, float) or (type(grade) is int and abs(grade) <= 2**53) for grade in grades
        )
    if not readable or len(grades) > LONGEST_LIST:
        return None
    try:
        return function(array("d", grades))
    except Refused:
        return None


def grade_error(grades: Array, offsets: Ints) -> ErrorCode:
    """Return the error for the first invalid grade in any of the lists, or None."""
    grades, offsets = memoryview(grades), memoryview(offsets)
    for query in range(len(offsets) - 1):
        try:
            check_grades(grades[offsets[query] : offsets[query + 1]])
        except Refused as refused:
            return refused.in_query(query)[:3]
    return None
