"""The specification: what is computed of one query: terms, then figures made of them, in plain Python.

The engine has two halves. One finds the hits of a query and its judged grades, whatever form they came in (`walk`, and
for each form the module of its name); the other, `figure_query` here, makes of them first terms, each at its cut-offs,
and of these figures, one number per metric. The compiled half does the same, with the same bits. Ranks count from 1.
What is wrong with the input ends as `Refused`, which the walk returns as (code, query, position, term); `errors` words
it. What terms are due to, their functions say.
"""

import math
from bisect import bisect_right
from itertools import groupby
from typing import Any

from rankgain import _codes
from rankgain._codes import UNLIMITED, WORST
from rankgain._reference.cascade import cascade, ideal_cascade
from rankgain._reference.numbers import Refused
from rankgain._reference.precisions import cost_sum, inferred_sum, interpolated, pairs, precision_sum, preference_sum
from rankgain._reference.query import Term, hit_gains, judged_gains, require_ranks
from rankgain._reference.sums import (
    TOLERANCE,
    all_finite,
    any_relevant,
    discounted_sum,
    first_relevant,
    ideal_sum,
    quotient,
    sum_best,
    sum_returned,
)


class Program:
    """What to compute of each query: terms, and figures (how, places of values, bounded, empty, parameters).

    Hits are looked for to the `depth`, those with grades above `lowest`, and of the judged grades the `judged_depth`
    highest.
    """

    def __init__(self, terms: list[Any], figures: list[Any], depth: int, judged_depth: int, lowest: float) -> None:
        self.terms = [Term(*map(_plain, term)) for term in terms]
        self.tables = [dict(zip(term.grades, term.gains, strict=True)) for term in self.terms]
        self.figures = figures
        self.depth, self.judged_depth, self.lowest = depth, judged_depth, lowest


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


# terms: a query to a value per cut-off


def ranks(term, table, query):
    """The cut-off, or the length of the list where there is none; `flag`: never more than that length."""
    shown = (k if k != UNLIMITED and not term.flag else min(query.returned, k) for k in term.cutoffs)
    return list(map(float, shown))


def returned_above(term, table, query):
    """How many hits have a grade above another, all of a tie group that begins by the cut-off."""
    ranks = [first for grade, first in zip(query.grade, query.first, strict=True) if grade > term.above]
    return [float(bisect_right(ranks, k)) for k in term.cutoffs]


# terms that look at whole lists: a query to one value


def judged_above(term, table, query):
    return float(query.judged_above(term.above))


def precision_at_relevant(term, table, query):
    """The share of relevant hits among as many ranks as `factor` times the relevant documents that are judged (R)."""
    shown = math.floor(term.factor * query.judged_above(term.above) + 0.9)
    (hits,) = sum_returned(term, table, query, [max(shown, 1)])
    return hits / shown if shown > 0 else 0.0


def _mean_ndcg(term, table, query, shown, terms, factor=1.0):
    """Σ nDCG at ranks, the last times a factor, divided by the number of terms; 0 where there are none."""
    require_ranks(term, query.returned)
    if not shown:
        return 0.0
    values, ideals = sum_returned(term, table, query, shown), sum_best(term, table, query, shown)
    quotients = [value / ideal if ideal > 0.0 else 0.0 for value, ideal in zip(values, ideals, strict=True)]
    quotients[-1] *= factor
    total = 0.0
    for value in quotients:
        total += value
    return total / terms if terms else 0.0


def grade_levels(term, table, query):
    """The mean of nDCG at the ranks where the ideal gain falls, and at the end of a longer list (Rndcg of trec_eval).

    The end counts where the list has at least two more documents than have a gain.
    """
    shown, rank = [], 0
    for _, same in groupby((pair for pair in judged_gains(term, table, query) if pair[0] > 0.0), lambda pair: pair[0]):
        rank += sum(count for _, count in same)
        shown.append(rank)
    _check_ideal(sum(gain > 0.0 for gain in hit_gains(term, table, query, UNLIMITED)), rank)
    if shown and query.returned > rank + 1:
        shown.append(UNLIMITED)
    return _mean_ndcg(term, table, query, shown, len(shown))


def relevant_ranks(term, table, query):
    """The mean of nDCG over all judged documents with a gain, at their ranks or, not returned, without a cut-off
    (ndcg_rel of trec_eval).

    In a tie group, which is to be best or worst for them, they take the first or the last ranks.
    """
    total = sum(count for gain, count in judged_gains(term, table, query) if gain > 0.0)
    gains, shown = hit_gains(term, table, query, UNLIMITED), []
    for i, j in query.groups():
        size = sum(gain > 0.0 for gain in gains[i:j])
        lowest = query.last[i] - size + 1 if query.ties == WORST else query.first[i]
        shown += range(lowest, lowest + size)
    _check_ideal(len(shown), total)
    return _mean_ndcg(term, table, query, [*shown, UNLIMITED], total, total - len(shown))


AT_CUTOFFS = {
    _codes.DISCOUNTED_SUM: discounted_sum,
    _codes.IDEAL_SUM: ideal_sum,
    _codes.FIRST_RELEVANT: first_relevant,
    _codes.ANY_RELEVANT: any_relevant,
    _codes.RANKS: ranks,
    _codes.RETURNED_ABOVE: returned_above,
    _codes.PRECISION_SUM: precision_sum,
    _codes.CASCADE: cascade,
    _codes.IDEAL_CASCADE: ideal_cascade,
}
OF_WHOLE_LISTS = {
    _codes.JUDGED_ABOVE: judged_above,
    _codes.PRECISION_AT_RELEVANT: precision_at_relevant,
    _codes.PREFERENCE_SUM: preference_sum,
    _codes.INFERRED_SUM: inferred_sum,
    _codes.INTERPOLATED: interpolated,
    _codes.COST_SUM: cost_sum,
    _codes.GRADE_LEVELS: grade_levels,
    _codes.RELEVANT_RANKS: relevant_ranks,
    _codes.PAIRS: pairs,
}


# figures: the values of terms to that of a metric


def _over(value, total, empty=0.0):
    return value / total if total != 0.0 else empty


def _check_ideal(value, most):
    """Refuse more than the ideal: the judged documents lack what was returned."""
    if value > most * (1.0 + TOLERANCE):
        raise Refused(_codes.ABOVE_IDEAL, -1)


def _ratio(empty, bounded, own, value, ideal):
    result = quotient(value, ideal, empty, bounded)
    if type(result) is tuple:
        raise Refused(result[0], -1)
    return result


def _by_relevant(empty, bounded, own, value, relevant, hits):
    return _over(value, relevant, empty)


def _by_capped(empty, bounded, own, value, relevant, shown, hits):
    return _over(value, min(relevant, shown)) if relevant > 0.0 else empty


def _by_hits(empty, bounded, own, value, relevant, hits):
    return _over(value, hits) if relevant > 0.0 else empty


def _filled(empty, bounded, own, value, relevant, hits):
    return value if relevant > 0.0 else empty


def _bounded_mean(empty, bounded, own, value, relevant):
    if bounded:
        _check_ideal(value, 1.0)
    return value if relevant > 0.0 else empty


def _f_measure(empty, bounded, own, hits, relevant, shown, _):
    """(1 + β²)·P·R / (β²·P + R), P and R having the same hits above them."""
    square = own[0] * own[0]
    return _over((1.0 + square) * hits, square * relevant + shown) if relevant > 0.0 else empty


def _set_ap(empty, bounded, own, hits, relevant, returned, _):
    return _over(hits * hits, returned * relevant) if relevant > 0.0 else empty


def _fallout(empty, bounded, own, returned, judged, relevant):
    """What is judged and not relevant: the share of it that was returned."""
    whole = judged - relevant
    _check_ideal(returned, whole)
    return _over(returned, whole, empty)


def _utility(empty, bounded, own, hits, relevant, returned, _):
    a, b, c, d, collection = own
    rest = collection + hits - returned - relevant
    value = a * hits + b * (returned - hits) + c * (relevant - hits) + d * rest
    return all_finite([value])[0]


FIGURES = {
    _codes.BY_RELEVANT: _by_relevant,
    _codes.BY_CAPPED: _by_capped,
    _codes.BY_HITS: _by_hits,
    _codes.FILLED: _filled,
    _codes.F_MEASURE: _f_measure,
    _codes.SET_AP: _set_ap,
    _codes.UTILITY: _utility,
    _codes.AS_IS: lambda empty, bounded, own, value: value,
    _codes.RATIO: _ratio,
    _codes.QUOTIENT: lambda empty, bounded, own, value, total: _over(value, total, empty),
    _codes.BOUNDED_MEAN: _bounded_mean,
    _codes.BIASED: lambda empty, bounded, own, total: min((1.0 - own[0]) * total, 1.0),
    _codes.RESIDUAL: lambda empty, bounded, own, total: max(1.0 - (1.0 - own[0]) * total, 0.0),
    _codes.UNJUDGED: lambda empty, bounded, own, judged, returned, shown: _over(returned - judged, shown),
    _codes.ONE: lambda empty, bounded, own, value: 1.0,
    _codes.FALLOUT: _fallout,
}


def _figure(how, places, bounded, empty, own, values):
    found = [values[place] for place in places]
    if bounded and how not in (_codes.RATIO, _codes.BOUNDED_MEAN):
        # A relevant document adds 1 at the most, and no more of them can be returned (the last value) than are judged.
        _check_ideal(max(found[0], found[-1]), found[1])
    return FIGURES[how](empty, bounded, own, *found)


def figure_query(program, query, asked=None):
    """The metrics of a query, or (code, position, number of the term or −1).

    `asked`: for each term the gains by grade that a callable gave, None where none was asked.
    """
    values, number = [], -1
    try:
        for number, term in enumerate(program.terms):
            table = program.tables[number] if asked is None or asked[number] is None else asked[number]
            if term.family in AT_CUTOFFS:
                values += AT_CUTOFFS[term.family](term, table, query)
            else:
                values += [OF_WHOLE_LISTS[term.family](term, table, query)] * len(term.cutoffs)
        number = -1
        return [_figure(*figure, values) for figure in program.figures]
    except Refused as refused:
        return *refused.args, number
