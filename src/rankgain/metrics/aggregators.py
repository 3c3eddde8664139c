"""Functions that aggregate the per-query values of a metric into one number.

Each row of the table of metrics names one of these aggregators.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from rankgain.metrics.exact import exact_sum, rounded_mean
from rankgain.scalars import Floats, real

Aggregator = Callable[[Floats, Floats | None], float]

MANY = 1000  # above this length, `exact_sum` is faster than `math.fsum`: 10^5 values take 0.6 ms instead of 2.4 ms

_FAINT = 2.0**-900  # weights below this number are scaled up
FEWEST_EFFECTIVE = 6  # minimum number of queries of equal weight that can show a difference at the 0.05 level


def mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the mean of the values that are not NaN.

    Its sums are correctly rounded, so it does not depend on chunks or threads.
    """
    defined = ~np.isnan(values)
    if weights is None and len(values) > MANY and not np.isinf(values).any():
        return rounded_mean(exact_sum(values), int(np.count_nonzero(defined)))
    terms = values[defined].tolist()
    if weights is None:
        try:
            return math.fsum(terms) / len(terms) if terms else math.nan
        except OverflowError:
            return rounded_mean(exact_sum(values), len(terms))
    largest = float(weights.max(initial=0.0, where=defined))
    if not largest:
        return math.nan
    if largest < _FAINT:  # products with tiny weights lose bits; scaling by a power of two is exact
        weights = scaled(np.where(defined, weights, 0.0))
    factors = weights[defined].tolist()
    try:
        weighted_mean = math.fsum(map(operator.mul, factors, terms)) / math.fsum(factors)
    except OverflowError:
        weighted_mean = math.inf
    if math.isfinite(weighted_mean):
        return weighted_mean
    # A sum overflowed, so divide each term by the sum of the weights before adding them up.
    factors = scaled(weights[defined]).tolist()
    total_weight = math.fsum(factors)
    return math.fsum(factor * term / total_weight for factor, term in zip(factors, terms, strict=True))


def scaled(weights: Floats) -> Floats:
    """Scale the weights by a power of two that brings the largest into [0.5, 1); only their ratios matter."""
    factors: Floats = np.ldexp(weights, -math.frexp(float(weights.max()))[1])
    return factors


def effective(weights: Floats) -> float:
    """Return the effective number of queries with these weights (Kish 1965)."""
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled * scaled).sum())


def total(values: Floats, weights: Floats | None = None) -> float:
    """Return the sum of the values that are not NaN; with weights, it is a weighted sum."""
    defined = ~np.isnan(values)
    factors = [1.0] * len(values) if weights is None else weights[defined].tolist()
    try:
        return math.fsum(map(operator.mul, factors, values[defined].tolist()))
    except OverflowError:
        return math.inf


LEAST = 1e-5  # in a geometric mean, lower values are raised to this one, as in trec_eval


def geometric_mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the geometric mean of the values that are not NaN; values below `LEAST` count as `LEAST`."""
    return math.exp2(mean(logarithms(values), weights))


def logarithms(values: Floats) -> Floats:
    """Return the base-2 logarithms of the values; values below `LEAST` count as `LEAST`, and NaN stays NaN."""
    logs = [math.nan if math.isnan(value) else math.log2(max(value, LEAST)) for value in values.tolist()]
    return np.array(logs, dtype=np.float64)


def check_weights(weights: Any, query_ids: Sequence[Any]) -> Floats | None:
    """Return the weights as an array with one finite, non-negative number per query; None stays None."""
    if weights is None:
        return None
    ordered = _in_order(weights, query_ids)
    if len(ordered) != len(query_ids):
        raise ValueError(
            f"weights has {len(ordered)} numbers, and there are {len(query_ids)} queries: "
            "give one per query, in the order of query_ids, or a mapping by query id"
        )
    checked = np.array([_weight(*item) for item in zip(ordered, range(len(ordered)), query_ids, strict=True)])
    if len(checked) and not checked.any():
        raise ValueError("weights are all 0: give at least one query a positive weight")
    return checked


def _in_order(weights: Any, query_ids: Sequence[Any]) -> list[Any]:
    if isinstance(weights, Mapping):
        for query in query_ids:
            if query not in weights:
                raise ValueError(f"weights: query {query!r} has no weight; give it one, or 0 to leave it out")
        return [weights[query] for query in query_ids]
    unordered = isinstance(weights, (str, bytes, Set)) or (isinstance(weights, np.ndarray) and weights.ndim == 0)
    if unordered or not isinstance(weights, Iterable):
        raise TypeError(
            f"weights must hold one number per query, or be a mapping by query id, not {type(weights).__name__}"
        )
    return list(weights)


def _weight(value: Any, position: int, query: Any) -> float:
    number = real(value, math.inf)
    where = f"weights: position {position}, query {query!r}"
    if number is None:
        raise TypeError(f"{where}: a weight must be a number, not {type(value).__name__}")
    if not 0 <= number < math.inf:
        raise ValueError(f"{where}: a weight must be finite and not negative, not {number!r}")
    return number
