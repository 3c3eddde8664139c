"""Reference implementation: compute the metrics of one ranked query.

`compute_metrics` computes the terms of a program at all cut-offs. Each family of terms has a function, in `sums`,
`precisions`, `cascade` or this file. Combinations, mostly quotients, turn the values of terms into metrics.
Ranks count from 1.
"""

import math
from bisect import bisect_right
from itertools import groupby
from typing import Any

from rankgain import _codes
from rankgain._codes import UNLIMITED, WORST, KernelTerm
from rankgain._reference import cascade, precisions  # noqa: F401  # imported to register their functions
from rankgain._reference.numbers import Refused
from rankgain._reference.query import TERM_FUNCTIONS, cutoff_term, hit_gains, judged_gains, list_term, require_discounts
from rankgain._reference.sums import (
    all_finite,
    check_ideal,
    over_ideal,
    sum_best,
    sum_returned,
)
from rankgain.scalars import NON_RELEVANT


class Program:
    """The terms to compute for each query, and how to combine their values into metrics.

    A combination is a tuple (kind, value indices, bounded, empty, parameters). The terms read the `judged_depth`
    highest judged grades and the hits of a query down to rank `depth`. Hits are documents with a grade above `lowest`
    and, if `non_relevant` is set, also the documents that are judged not relevant, which bpref counts. `share_depth`
    is the number of leading documents of which `run` can tell how many are judged.
    """

    def __init__(
        self,
        terms: list[Any],
        combinations: list[Any],
        depth: int,
        judged_depth: int,
        lowest: float,
        non_relevant: bool = False,
        share_depth: int = 0,
    ) -> None:
        self.terms = [KernelTerm(*map(_as_list, term)) for term in terms]
        self.gain_tables = [dict(zip(term.grades, term.gains, strict=True)) for term in self.terms]
        self.combinations = combinations
        self.depth, self.judged_depth = depth, judged_depth
        self.lowest = min(lowest, NON_RELEVANT) if non_relevant else lowest
        self.share_depth = share_depth


def _as_list(value):
    return value.tolist() if hasattr(value, "tolist") else value


# Terms with a value per cut-off


@cutoff_term
def ranks(term, gain_table, query):
    """Return the cut-off k or, without a cut-off, the length n of the list; with `flag`, return min(k, n)."""
    shown = (k if k != UNLIMITED and not term.flag else min(query.returned, k) for k in term.cutoffs)
    return list(map(float, shown))


@cutoff_term
def returned_above(term, gain_table, query):
    """Count the documents at ranks ≤ k with a grade above the threshold.

    A tie group that begins at a rank ≤ k counts in full.
    """
    first_ranks = [group.first for group in query.groups for _ in range(group.count_above(term.above))]
    return [float(bisect_right(first_ranks, k)) for k in term.cutoffs]


# Terms with one value for the whole list


@list_term
def judged_above(term, gain_table, query):
    """Count the judged documents with a grade above the threshold.

    If it is the threshold of relevance, the count is R.
    """
    return float(query.count_judged(term.above))


@list_term
def precision_at_relevant(term, gain_table, query):
    """Return the precision at rank `factor` · R, where R is the number of relevant documents."""
    shown = math.floor(term.factor * query.count_judged(term.above) + 0.9)
    (retrieved,) = sum_returned(term, gain_table, query, [max(shown, 1)])
    return retrieved / shown if shown > 0 else 0.0


def _mean_ndcg(term, gain_table, query, cutoffs, count, factor=1.0):
    """Return the sum of nDCG over the cut-offs, divided by `count`; 0 if there are no cut-offs.

    The nDCG at the last cut-off is multiplied by `factor`.
    """
    require_discounts(term, query.returned)
    if not cutoffs:
        return 0.0
    values, ideals = sum_returned(term, gain_table, query, cutoffs), sum_best(term, gain_table, query, cutoffs)
    quotients = [value / ideal if ideal > 0.0 else 0.0 for value, ideal in zip(values, ideals, strict=True)]
    quotients[-1] *= factor
    total = 0.0
    for value in quotients:
        total += value
    return total / count if count else 0.0


@list_term
def grade_levels(term, gain_table, query):
    """Return the mean of nDCG at the ranks where the gain in the ideal ranking falls (Rndcg in trec_eval).

    The end of the list counts as another such rank if the list has at least two documents more than there are judged
    documents with a gain.
    """
    cutoffs, rank = [], 0
    with_gain = (pair for pair in judged_gains(term, gain_table, query) if pair[0] > 0.0)
    for _, same in groupby(with_gain, lambda pair: pair[0]):
        rank += sum(count for _, count in same)
        cutoffs.append(rank)
    check_ideal(sum(gain > 0.0 for _, gains in hit_gains(term, gain_table, query, UNLIMITED) for gain in gains), rank)
    if cutoffs and query.returned > rank + 1:
        cutoffs.append(UNLIMITED)
    return _mean_ndcg(term, gain_table, query, cutoffs, len(cutoffs))


@list_term
def relevant_ranks(term, gain_table, query):
    """Return the mean of nDCG at the ranks of all judged documents with a gain (ndcg_rel in trec_eval).

    A document that was not returned counts with the nDCG without a cut-off. Within a tie group, the documents with a
    gain take the first ranks or, under WORST, the last ranks.
    """
    total = sum(count for gain, count in judged_gains(term, gain_table, query) if gain > 0.0)
    ranks_of_relevant = []
    for group, gains in hit_gains(term, gain_table, query, UNLIMITED):
        size = sum(gain > 0.0 for gain in gains)
        first = group.last - size + 1 if query.ties == WORST else group.first
        ranks_of_relevant += range(first, first + size)
    missing = total - len(ranks_of_relevant)
    check_ideal(len(ranks_of_relevant), total)
    return _mean_ndcg(term, gain_table, query, [*ranks_of_relevant, UNLIMITED], total, missing)


# Combinations compute the value of a metric from the values of its terms.
#
# The arguments of a combination are the values of the terms, in the order of the metric's row in
# `rankgain.metrics.table`, followed by the parameters. `relevant` is R, the number of judged relevant documents;
# `retrieved` is the number of relevant documents at ranks ≤ k; `shown` is k, and `returned` is n, both computed by
# `ranks`. The last value of most combinations is `retrieved`, which `_combine` compares with R; it is named _ if the
# formula does not use it.


def _fallout(value, judged, relevant):
    """Return the dividend and divisor of fallout.

    They are the numbers of returned documents and of all documents that are judged not relevant.
    """
    check_ideal(value, judged - relevant)
    return value, judged - relevant


# functions that return the dividend and divisor of a metric; `_combine` handles RATIO (nDCG, nCG, nERR) separately
QUOTIENTS = {
    # precision = retrieved / k
    _codes.QUOTIENT: lambda value, total: (value, total),
    # recall = retrieved / R; the divisor of AP, bpref and infAP is also R
    _codes.BY_RELEVANT: lambda value, relevant, _: (value, relevant),
    # capped recall = retrieved / min(k, R); capped AP has the same divisor
    _codes.BY_CAPPED: lambda value, relevant, shown, _: (value, min(relevant, shown)),
    # AP divided by the number of relevant documents at ranks ≤ k
    _codes.BY_HITS: lambda value, relevant, retrieved: (value, retrieved),
    # F = (1 + β²)·P·C / (β²·P + C) = (1 + β²)·retrieved / (β²·R + k), where P is precision and C is recall
    _codes.F_MEASURE: lambda retrieved, relevant, shown, _, beta: (
        (1.0 + beta * beta) * retrieved,
        beta * beta * relevant + shown,
    ),
    # unjudged = (returned − judged) / k
    _codes.UNJUDGED: lambda judged, returned, shown: (returned - judged, shown),
    # set AP = P·C, where P is the precision and C the recall of the whole list
    _codes.SET_AP: lambda retrieved, relevant, returned, _: (retrieved * retrieved, returned * relevant),
    _codes.FALLOUT: _fallout,
}


def _utility(retrieved, relevant, returned, _, a, b, c, d, collection):
    """Return the utility, a weighted sum of the numbers of true and false positives and negatives.

    The weights a, b, c and d are those of relevant documents that were returned, other documents that were returned,
    relevant documents that were not returned, and other documents that were not returned.
    """
    others = collection + retrieved - returned - relevant
    value = a * retrieved + b * (returned - retrieved) + c * (relevant - retrieved) + d * others
    return all_finite([value])[0]


SUMS = {
    # CG, DCG and counts: the metric is the value of the term
    _codes.AS_IS: lambda value: value,
    _codes.FILLED: lambda value, relevant, _: value,
    # Rndcg and ndcg_rel: the term is a mean of ratios to the ideal
    _codes.BOUNDED_MEAN: lambda value, relevant: value,
    # the metric is 1 for every query
    _codes.ONE: lambda _: 1.0,
    # RBP = (1 − p)·Σ rel(i)·p^(i−1)
    _codes.BIASED: lambda total, p: min((1.0 - p) * total, 1.0),
    # residual of RBP: the most that unjudged documents and ranks beyond the list could add
    _codes.RESIDUAL: lambda total, p: max(1.0 - (1.0 - p) * total, 0.0),
    _codes.UTILITY: _utility,
}

# combinations whose second value is R; if R is 0, the metric is `empty`
OF_RELEVANT = {_codes.BY_RELEVANT, _codes.BY_CAPPED, _codes.BY_HITS, _codes.F_MEASURE, _codes.SET_AP}
OF_RELEVANT |= {_codes.FILLED, _codes.BOUNDED_MEAN}


def _combine(kind, indices, bounded, empty, parameters, values):
    operands = [values[index] for index in indices]
    if kind == _codes.RATIO:
        return over_ideal(*operands, empty, bounded)
    if kind == _codes.BOUNDED_MEAN and bounded:
        check_ideal(operands[0], 1.0)
    elif bounded:
        # Each relevant document adds at most 1 to the first value, and at most R relevant documents can be returned.
        check_ideal(max(operands[0], operands[-1]), operands[1])
    if kind in OF_RELEVANT and operands[1] == 0.0:
        return empty
    if kind in SUMS:
        return SUMS[kind](*operands, *parameters)
    dividend, divisor = QUOTIENTS[kind](*operands, *parameters)
    if divisor == 0.0:
        return 0.0 if kind in OF_RELEVANT else empty
    return dividend / divisor


def compute_metrics(program, query, gain_tables=None):
    """Return the metrics of a query.

    `gain_tables`: for each term, a dict from grade to the gain that the callable returned; None if the gain of the term
    is not a callable.
    """
    return combine_terms(program, compute_terms(program, query, gain_tables))


def compute_terms(program, query, gain_tables=None):
    """Return the values of all terms of a query in one list, with each term at all cut-offs."""
    values = []
    for number, term in enumerate(program.terms):
        called = None if gain_tables is None else gain_tables[number]
        gain_table = program.gain_tables[number] if called is None else called
        try:
            function, per_cutoff = TERM_FUNCTIONS[term.family]
            result = function(term, gain_table, query)
            values += result if per_cutoff else [result] * len(term.cutoffs)
        except Refused as refused:
            raise refused.in_term(number) from None
    return values


def combine_terms(program, values):
    return [_combine(*combination, values) for combination in program.combinations]


def quotient_of(kind, indices, bounded, empty, parameters, values):
    """Return the dividend and divisor of a quotient; for a sum, the value of the first term and None.

    The divisor is 0 if no document is relevant.
    """
    operands = [values[index] for index in indices]
    if kind == _codes.RATIO:
        return operands[0], operands[1]
    if kind not in QUOTIENTS:
        return operands[0], None
    dividend, divisor = QUOTIENTS[kind](*operands, *parameters)
    return dividend, 0.0 if kind in OF_RELEVANT and operands[1] == 0.0 else divisor
