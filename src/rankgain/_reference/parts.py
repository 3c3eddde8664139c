"""The terms, gains and discounts from which a metric is computed for one query, for `Rankings.calculation`.

Both backends use this module as `_backend.parts`. No compiled version is needed, since it would compute the same bits.
"""

from typing import Any, NamedTuple

from rankgain._codes import NO_GAIN
from rankgain._reference.numbers import Refused
from rankgain._reference.program import Program, combine_terms, compute_terms, quotient_of
from rankgain._reference.query import Query, gain_by, hit_groups
from rankgain._reference.sums import discounts
from rankgain.errors import ErrorCode

__all__ = ["Parts", "Program", "parts"]


class Parts(NamedTuple):
    """The value of a metric for one query, and the numbers from which it is computed.

    `divisor`: None if the value is a sum. `terms`: the values of each term by cut-off. `gains`: the gain of each grade
    in the first term. For a term without gains, it is 1 for relevant grades and 0 for others; for a grade without a
    gain, it is None. `discounts`: the mean discount of documents that share ranks; ranks beyond the cut-off count as 0.
    """

    value: float
    dividend: float
    divisor: float | None
    terms: list[dict[int, float]]
    gains: dict[float, float | None]
    discounts: list[float]


def parts(
    program: Program,
    ties: int,
    returned: int,
    hits: list[tuple[float, int, int]],
    judged: list[tuple[float, int]],
    gain_tables: list[dict[float, float] | None],
    grades: list[float],
    shared_ranks: list[tuple[int, int]],
) -> Parts | ErrorCode:
    """Return the `Parts` of the only metric in a program, or the error in the query.

    `hits`: (grade, first rank, last rank); `judged`: (grade, number of documents);
    `gain_tables`: as in `compute_metrics`.
    """
    query = Query(returned, hit_groups(hits), judged, ties)
    try:
        values = compute_terms(program, query, gain_tables)
        (value,) = combine_terms(program, values)
    except Refused as refused:
        return refused.in_query(0)
    dividend, divisor = quotient_of(*program.combinations[0], values)
    rest = iter(values)
    terms = [{cutoff: next(rest) for cutoff in term.cutoffs} for term in program.terms]
    first, gain_table = program.terms[0], dict(program.gain_tables[0])
    # A callable is called for each term, with different grades, so the gains of all terms are combined.
    for called in filter(None, gain_tables):
        gain_table |= called
    gains = {grade: _gain(first, gain_table, grade) for grade in grades}
    shares = [_mean_discount(first, *ranks) for ranks in shared_ranks]
    return Parts(value, dividend, divisor, terms, gains, shares)


def _gain(term: Any, gain_table: dict[float, float], grade: float) -> float | None:
    if term.gain == NO_GAIN:
        return float(grade > term.above)
    try:
        return gain_by(term, gain_table, grade)
    except Refused:  # not passed to the callable: the grade is 0 or beyond the cut-off
        return None if grade else 0.0


def _mean_discount(term: Any, first: int, last: int) -> float:
    """Return the mean discount of tied ranks, as in `sums.sum_returned`. Ranks beyond the cut-off count as 0."""
    discount = discounts(term.discount_table, term.kind, term.base)
    total = 0.0
    for rank in range(first, min(last, term.cutoffs[-1]) + 1):
        total += discount(rank)
    return total / (last - first + 1)
