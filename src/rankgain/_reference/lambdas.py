"""Reference implementation of LambdaRank's gradients in pure Python.

The gradients follow sections 4 and 7 of Burges, "From RankNet to LambdaRank to LambdaMART: an overview",
MSR-TR-2010-82. The two normalisations are those of LightGBM and XGBoost. The averages over ties are derived here.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from rankgain._codes import INFINITE_SCORE, NAN_SCORE, NOT_FINITE
from rankgain._reference.numbers import Refused
from rankgain._reference.sums import discounts
from rankgain.errors import ErrorCode
from rankgain.scalars import Array, Floats, Ints

LANES = 4  # number of partial sums per row, as in SIMD registers: the pair (row, other) is added to sum other % 4
_WIDEST = 700.0  # largest σ · (range of scores) for which all pairs share exponentials; e^−700 is not subnormal
LOWEST = -708.0
FURTHEST = 1e300

INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")
LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # has so few bits that the multiples computed here are exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_ROUNDING = 1.5 * 2.0**52  # adding this constant rounds any number of magnitude below 2^51 to an integer
_TERMS = [1.0 / math.factorial(term) for term in range(13, 1, -1)]


def exp(x):
    """Return e^x for x ≤ 0, or 0 below −708. The error is less than one unit in the last place.

    The Taylor series around the nearest multiple of ln 2 needs only additions and multiplications, so both backends
    return the same bits.
    """
    if not x >= LOWEST:
        return 0.0
    multiple = (x * INVERSE_LN2 + _ROUNDING) - _ROUNDING
    rest = (x - multiple * LN2_HIGH) - multiple * LN2_LOW
    total = _TERMS[0]
    for coefficient in _TERMS[1:]:
        total = total * rest + coefficient
    return math.ldexp((total * (rest * rest) + rest) + 1.0, int(multiple))


def exponential(exponents: Floats, out: Floats) -> None:
    for index, x in enumerate(exponents[: len(out)].tolist()):
        out[index] = exp(x)


class Settings(NamedTuple):
    """The options of `rankgain.lambdarank`.

    With `full`, ranks beyond the depth also have a discount. With `unit`, every pair has weight 1 instead of the change
    in the metric. With `average`, documents with equal scores share the mean discount of their ranks. `by_score` and
    `by_query` select the normalisations.
    """

    discount: Callable[[int], float]
    depth: int
    sigma: float
    full: bool
    unit: bool
    average: bool
    by_score: bool
    by_query: bool


def fill_gradients(
    scores: Array,
    offsets: Ints,
    gains: Floats,
    inverses: Floats,
    table: Floats,
    kind: int,
    base: float,
    depth: int,
    sigma: float,
    full: bool,
    unit: bool,
    average: bool,
    by_score: bool,
    by_query: bool,
    gradient: Floats,
    hessian: Floats,
    /,
) -> ErrorCode:
    """Compute the gradient and hessian of each document in several queries. Return the error for the first invalid
    score, if any.

    `inverses` contains 1 / ideal for each query, or 0 if no document of the query is relevant.
    """
    discount = discounts(memoryview(table), kind, base)
    settings = Settings(discount, depth, sigma, full, unit, average, by_score, by_query)
    for query in range(len(offsets) - 1):
        start, stop = int(offsets[query]), int(offsets[query + 1])
        try:
            query_scores = list(map(float, scores[start:stop].tolist()))
            gradient[start:stop], hessian[start:stop] = _query(
                query_scores, gains[start:stop].tolist(), float(inverses[query]), settings
            )
        except Refused as refused:
            return refused.in_query(query)[:3]
    return None


def _query(scores, gains, inverse, settings):
    _check(scores)
    sigma = settings.sigma
    gradient, hessian = [0.0] * len(scores), [0.0] * len(scores)
    finite = [index for index, score in enumerate(scores) if score > -math.inf]
    if inverse == 0.0 or len(finite) < 2:
        return gradient, hessian
    order = sorted(finite, key=lambda index: -scores[index])
    pull, curvature, total = _pulls(
        [scores[index] for index in order], [gains[index] * inverse for index in order], order, settings
    )
    total = 2.0 * sigma * total
    if not math.isfinite(total):
        raise Refused(NOT_FINITE)
    factor = sigma * (math.log2(1.0 + total) / total) if settings.by_query and total > 0.0 else sigma
    for index, first, second in zip(order, pull, curvature, strict=True):
        gradient[index] = first * factor
        hessian[index] = second * (sigma * factor)
    return gradient, hessian


def _check(scores):
    for position, score in enumerate(scores):
        if score != score:
            raise Refused(NAN_SCORE, position)
        if score == math.inf:
            raise Refused(INFINITE_SCORE, position)


def _groups(scores):
    """Return the bounds (start, stop) of the tie group of each document."""
    groups, start = [], 0
    for stop in range(1, len(scores) + 1):
        if stop == len(scores) or scores[stop] != scores[start]:
            groups += [(start, stop)] * (stop - start)
            start = stop
    return groups


def _spread(worths):
    """Return the expected difference of two discounts among m tied documents: 2/(m(m−1))·Σ_x (m + 1 − 2x)·d_x."""
    m = len(worths)
    if m == 1:
        return 0.0
    total = 0.0
    for rank, worth in enumerate(worths, 1):
        total += float(m + 1 - 2 * rank) * worth
    return 2.0 * total / (float(m) * float(m - 1))


def _mean(worths):
    total = 0.0
    for worth in worths:
        total += worth
    return total / float(len(worths))


def _pair(ordered, swap, score_gap, power, other_power):
    """Return three numbers for a pair of documents: Δ·ρ with the sign of Δ, |Δ|·ρ·(1 − ρ), and |Δ|·ρ.

    Δ is `swap` divided by `score_gap`, where `swap` is the change in the metric if the two documents are swapped. Let s
    be the score of the document with the higher gain, and s′ the other score; then ρ = 1 / (1 + e^{σ(s − s′)}). It is
    computed from the powers e^{σs} of both documents. `ordered` states whether the first document has the higher gain.
    """
    inverse = 1.0 / ((power + other_power) * score_gap)
    lower, higher = (other_power, power) if ordered else (power, other_power)
    change = swap * (lower * inverse)
    size = change if ordered else -change
    return change, size * (higher * inverse * score_gap), size


def _pulls(scores, gains, positions, settings):
    """Return the gradients divided by σ, the hessians divided by σ², and half the sum of the absolute pair gradients.

    The documents must be in descending order of score. At least one document of a pair is among the first `depth` ranks
    or, with `average`, in the tie group of the last of these ranks. Unless `full` is set, lower documents have a
    discount of 0 and are in input order.
    """
    discount, depth, sigma, full, unit, average, by_score, _ = settings
    n = len(scores)
    groups = _groups(scores)
    rows = min(n, depth)
    if average:
        rows = groups[rows - 1][1]
    if not full:
        group_end = groups[rows - 1][1]  # documents that are tied with the last row are not reordered
        order = [*range(group_end), *sorted(range(group_end, n), key=positions.__getitem__)]
        positions[:] = [positions[index] for index in order]
        scores, gains = ([values[index] for index in order] for values in (scores, gains))
    discounted = n if full else rows
    worths = [discount(rank + 1) if full or rank < depth else 0.0 for rank in range(discounted)]
    worths += [0.0] * (n - discounted)
    means = [
        _mean(worths[slice(*groups[rank])]) if average and rank < discounted else worths[rank] for rank in range(n)
    ]
    pull, curvature, total = [0.0] * n, [0.0] * n, 0.0
    low, high = min(scores), scores[0]
    shared = sigma * (high - low) <= _WIDEST
    exps = [exp((score - high) * sigma) for score in scores] if shared else None
    for row in range(rows):
        behind = groups[row][1] if average else row + 1
        powers = exps or [1.0] * row + [exp((score - scores[row]) * sigma) for score in scores[row:]]
        parts = [(range(row + 1, behind), _spread(worths[slice(*groups[row])]), [0.0] * n)] if behind > row + 1 else []
        for others, worth, against in [*parts, (range(behind, n), means[row], means)]:
            sums = [[0.0] * LANES for _ in range(3)]
            for other in others:
                gap = gains[row] - gains[other]
                score_gap = min(0.01 + (scores[row] - scores[other]), FURTHEST) if by_score and low < high else 1.0
                swap = float((gap > 0.0) - (gap < 0.0)) if unit else gap * (worth - against[other])
                addends = _pair(gap > 0.0, swap, score_gap, powers[row], powers[other])
                pull[other] += addends[0]
                curvature[other] += addends[1]
                for lanes, addend in zip(sums, addends, strict=True):
                    lanes[other % LANES] += addend
            first, second, third = ((a + b) + (c + d) for a, b, c, d in sums)
            pull[row] -= first
            curvature[row] += second
            total += third
    return pull, curvature, total
