"""Faster replacements for scikit-learn's `ndcg_score` and `dcg_score`; only the import needs to be changed.

Signatures, defaults, accepted input, exception classes and values (within 1e-12) are those of scikit-learn 1.9.1, which
is not imported. These are the differences, with scikit-learn's behaviour in parentheses:

- unsigned scores are compared by value (negated modulo 2**n, so that a score of 0 comes first);
- boolean scores are always accepted (a TypeError of NumPy, unless ties are ignored);
- ``log_base=1``, which is not the base of a logarithm, raises an InvalidParameterError (the result is 0);
- a sum of gains that is too large for float64 raises a ValueError (the result is inf or NaN);
- rows of unequal shape raise a ValueError that says so (NumPy sometimes raises an IndexError);
- masked elements raise a ValueError (the values under the mask are used);
- grades may be Decimal, Fraction or integers of any size, or a data frame with sparse columns (only scores may be);
  these numbers are converted to float64, and are tied if they are equal as float64;
- None in a list is read as NaN and raises a ValueError (a TypeError); scores of timedelta64 raise a TypeError (they are
  accepted).

See `rankgain.from_scores` for exponential gains, queries of unequal length or with one document, and other rules for
ties. See `rankgain.scorer` for scikit-learn's searches and cross-validations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain.data.arrays import array_of, check_unmasked
from rankgain.data.ragged import NATIVE, numbers
from rankgain.functions import dcg, ndcg
from rankgain.inputs.scores import rankings_of_scores
from rankgain.metrics.metric import Metric, metric
from rankgain.metrics.parameters import LARGEST_CUTOFF
from rankgain.scalars import Array, Bools, Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["InvalidParameterError", "dcg_score", "ndcg_score"]

_EXACT = 1 << 53  # integers up to this limit are exact in float64
FEW_DOCUMENTS = 1 << 14  # below this number of documents, sorting is faster than finding ties
FEW_ROWS = 16  # number of rows from which the frequency of ties is estimated


class InvalidParameterError(ValueError, TypeError):
    """Exception raised for an argument of the wrong type or out of range, as in scikit-learn."""


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean nDCG over queries, with linear gains and averaged ties, as in scikit-learn.

    Parameters
    ----------
    y_true : array_like of shape (queries, documents)
        Grades, finite and not negative, at least two per query.
    y_score : array_like of shape (queries, documents)
        Scores, finite; higher is better.
    k : int, optional
        The cut-off: only the documents at ranks 1 to k count. By default, all count.
    sample_weight : array_like of shape (queries,), optional
        The weight of each query in the mean. By default, all weights are equal.
    ignore_ties : bool, default False
        If False, tied documents share the value of their ranks. If True, they are in the order of
        ``np.argsort(y_score)[:, ::-1]``, which is not stable and should not be relied on.

    Returns
    -------
    float
        The mean over queries, from 0 to 1. A query without a grade above 0 has the value 0.

    Raises
    ------
    InvalidParameterError
        If a parameter is of the wrong type or out of range.
    ValueError
        If a value is NaN, infinite or masked, a grade is negative, the shapes or lengths do not match, or a
        query has only one document.
    TypeError
        If an argument cannot be converted to an array of numbers.

    See Also
    --------
    rankgain.ndcg : Compute nDCG from grades in rank order.
    rankgain.from_scores : Support other gains and rules for ties, and queries of unequal length.
    dcg_score : Compute DCG, which is not normalised.

    Examples
    --------
    >>> from rankgain.sklearn import ndcg_score
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    0.6957
    >>> ndcg_score([[10, 0, 0, 1, 5]], [[1, 0, 0, 0, 1]], k=1)  # 10 or 5, of 10 at best
    0.75
    """
    if sample_weight is None and ignore_ties is False:
        mean = _mean_of_matrices("ndcg", y_true, y_score, k)
        if mean is not None:
            return mean
    _check_parameters("ndcg_score", y_true, y_score, k, sample_weight, ignore_ties)
    grades, scores = _checked(y_true, y_score, sample_weight)
    if grades.ndim == 2 and grades.shape[1] == 1:
        raise ValueError(
            "Computing NDCG is only meaningful when there is more than 1 document. Got 1 instead. "
            "rankgain.ndcg and rankgain.from_scores take queries of one document."
        )
    _check_shape(grades, scores)
    return _mean(_ndcg_sample_scores(grades, scores, k, ignore_ties), sample_weight)


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean DCG over queries, with linear gains and averaged ties, as in scikit-learn.

    Parameters
    ----------
    y_true : array_like of shape (queries, documents)
        Grades, finite, at least two per query; negative grades lower the sum.
    y_score : array_like of shape (queries, documents)
        Scores, finite; higher is better.
    k : int, optional
        The cut-off: only the documents at ranks 1 to k count. By default, all count.
    log_base : float, default 2
        The base b of the discount 1 / log_b(rank + 1), above 0 and not 1.
    sample_weight : array_like of shape (queries,), optional
        The weight of each query in the mean. By default, all weights are equal.
    ignore_ties : bool, default False
        Whether to leave tied documents in the order of NumPy's sort, as in `ndcg_score`.

    Returns
    -------
    float
        The mean over queries; negative only if there are negative grades.

    Raises
    ------
    InvalidParameterError
        If a parameter is of the wrong type or out of range.
    ValueError
        If a value is NaN or infinite, the shapes or lengths do not match, or a query has only one document.
    TypeError
        If an argument cannot be converted to an array of numbers.

    See Also
    --------
    rankgain.dcg : Compute DCG from grades in rank order.
    rankgain.from_scores : Support other gains and rules for ties, and queries of unequal length.
    ndcg_score : Compute DCG divided by the DCG of the ideal ranking.

    Examples
    --------
    >>> from rankgain.sklearn import dcg_score
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    9.4995
    >>> dcg_score([[3, -1]], [[0.5, 0.5]], k=1)
    1.0
    """
    if sample_weight is None and ignore_ties is False and type(log_base) is int and log_base == 2:
        mean = _mean_of_matrices("dcg", y_true, y_score, k)
        if mean is not None:
            return mean
    _check_parameters("dcg_score", y_true, y_score, k, sample_weight, ignore_ties, log_base)
    grades, scores = _checked(y_true, y_score, sample_weight)
    _check_shape(grades, scores)
    return _mean(_dcg_sample_scores(grades, scores, k, log_base, ignore_ties), sample_weight)


_PLAIN_SCORES = frozenset(map(np.dtype, (np.float64, np.float32)))


def _mean_of_matrices(name: str, y_true: Any, y_score: Any, k: Any) -> float | None:
    """Return the mean over the rows of two NumPy matrices, or None if the inputs need the general code path."""
    if type(y_true) is not np.ndarray or type(y_score) is not np.ndarray or (k is not None and type(k) is not int):
        return None
    if y_true.dtype not in NATIVE or y_score.dtype not in _PLAIN_SCORES or (shape := y_true.shape) != y_score.shape:
        return None
    if len(shape) != 2 or shape[1] < 2 or not shape[0] or not np.logical_and.reduce(np.isfinite(y_score), axis=None):
        return None
    request = name if k is None else f"{name}@{min(k, LARGEST_CUTOFF)}"
    try:
        values = rankings_of_scores(y_true, y_score).evaluate(request)[request]
    except ValueError:
        return None
    return float(values[0] if shape[0] == 1 else np.add.reduce(values) / shape[0])


def _ndcg_sample_scores(y_true: Array, y_score: Array, k: int | None = None, ignore_ties: bool = False) -> Floats:
    """Return the nDCG of each row."""
    try:
        return _each(ndcg, y_true, y_score, k, ignore_ties)
    except ValueError:
        if y_true.min() < 0:
            index = _first_index(y_true < 0)
            raise ValueError(f"ndcg_score should not be used on negative y_true values, as at {index}") from None
        raise


def _dcg_sample_scores(
    y_true: Array, y_score: Array, k: int | None = None, log_base: float = 2, ignore_ties: bool = False
) -> Floats:
    """Return the DCG of each row."""
    if y_true.min() >= 0:
        return _each(dcg, y_true, y_score, k, ignore_ties) * math.log2(log_base)
    # DCG is linear in the gains if ties are averaged or the order is fixed. Therefore, compute it for the positive
    # grades, and subtract the DCG of the absolute values of the negative grades.
    gains = y_true.astype(np.float64)
    above, below = (_each(dcg, np.maximum(part, 0.0), y_score, k, ignore_ties) for part in (gains, -gains))
    return (above - below) * math.log2(log_base)


def _each(function: Callable[..., Any], grades: Array, scores: Array, k: Any, ignore_ties: bool) -> Floats:
    """Return the DCG or nDCG of each row; `function` is `rankgain.dcg` or `rankgain.ndcg`."""
    k = None if k is None else min(int(k), LARGEST_CUTOFF)  # k=True means 1, as in scikit-learn
    record, exact = metric(function.__name__, k=k), _exact(scores)
    if not ignore_ties:
        return rankings_of_scores(grades, exact).evaluate(record)[record]
    if scores.size < FEW_DOCUMENTS or _affected_by_ties(grades[:FEW_ROWS], exact[:FEW_ROWS], record)[1].mean() > 0.5:
        return _sorted(function, grades, scores, k)
    best, affected = _affected_by_ties(grades, exact, record)
    values, rows = best.copy(), np.flatnonzero(affected)
    if len(rows):
        values[rows] = _sorted(function, grades[rows], scores[rows], k)
    return values


def _affected_by_ties(grades: Array, scores: Array, record: Metric) -> tuple[Floats, Bools]:
    """Return the highest value of each row over all orders of tied documents, and whether the value depends on ties."""
    best, worst = (rankings_of_scores(grades, scores, ties=ties).evaluate(record)[record] for ties in ("best", "worst"))
    return best, best != worst


def _sorted(function: Callable[..., Any], grades: Array, scores: Array, k: int | None) -> Floats:
    """Return the metric of each row in NumPy's sort order, which is unstable, so that only NumPy can reproduce it."""
    ranked = np.take_along_axis(grades, np.argsort(scores)[:, ::-1][:, :k], axis=1)
    values: Floats = function(ranked, k=k, judged=grades) if function is ndcg else function(ranked, k=k)
    return values


def _exact(scores: Array) -> Array:
    """Return the scores, or the ranks of the distinct scores if float64 may be unable to distinguish them."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if (kind in "iu" and size == 8 and (scores.max() > _EXACT or scores.min() < -_EXACT)) or (kind == "f" and size > 8):
        return np.unique(scores, return_inverse=True)[1].reshape(scores.shape)
    return scores


def _mean(values: Floats, sample_weight: Any) -> float:
    try:
        return float(np.average(values, weights=sample_weight))
    except OverflowError:
        raise ValueError("sample_weight: a number is too large for float64") from None


def _check_parameters(
    function: str, y_true: Any, y_score: Any, k: Any, sample_weight: Any, ignore_ties: Any, log_base: Any = 2
) -> None:
    rank: Any = k if isinstance(k, Integral) else 0
    base: Any = log_base if isinstance(log_base, Real) else 0
    rules = (
        ("y_true", y_true, _is_array_like(y_true), "a dense array or a list"),
        ("y_score", y_score, _is_array_like(y_score), "a dense array or a list"),
        ("k", k, k is None or rank >= 1, "an integer of 1 or more, or None"),
        ("log_base", log_base, 0 < base < math.inf and base != 1, "a finite number above 0 other than 1"),
        ("sample_weight", sample_weight, sample_weight is None or _is_array_like(sample_weight), "an array or None"),
        ("ignore_ties", ignore_ties, isinstance(ignore_ties, (bool, np.bool_)), "True or False"),
    )
    for name, value, holds, demand in rules:
        if not holds:
            raise InvalidParameterError(
                f"The {name!r} parameter of {function} must be {demand}. Got {value!r} instead."
            )


def _is_array_like(value: Any) -> bool:
    if hasattr(value, "tocsr") or np.isscalar(value):
        return False
    return any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))


def _checked(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Convert grades and scores to arrays of finite numbers, and check that they have equally many rows."""
    grades, scores = _numbers(y_true, "y_true"), _numbers(y_score, "y_score")
    lengths = [len(array) for array in (grades, scores, sample_weight) if array is not None]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {lengths}, of y_true, y_score and, if given, "
            "sample_weight; there must be one per query in each"
        )
    return grades, scores


def _numbers(value: Any, name: str) -> Array:
    """Convert an argument to a non-empty array of finite numbers with one or two dimensions."""
    if isinstance(value, np.matrix):
        raise TypeError(f"{name}: np.matrix is not supported; give np.asarray of it")
    check_unmasked(value, name)
    array = array_of(value, name)
    if array is None:
        raise ValueError(f"{name} has rows of unequal length; rankgain.from_scores takes such lists")
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array with one row per query, not one value")
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except OverflowError:
            numbers(array, name)  # raises an error that names the position
            raise
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(f"{name} must hold numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        kind = TypeError if array.dtype.kind in "mM" else ValueError
        raise kind(f"{name} must hold real numbers, not {array.dtype}")
    if array.ndim > 2 or 0 in array.shape:
        raise ValueError(f"{name} must have one row per query and one column per document, not the shape {array.shape}")
    _check_finite(array, name)
    return array


def _check_finite(array: Array, name: str) -> None:
    """Raise an error for NaN or infinity. If the sum is finite there is neither; an infinite sum may be an overflow."""
    if array.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    for marks, text in ((np.isnan(array), "NaN"), (np.isinf(array), "infinity")):
        if marks.any():
            raise ValueError(f"Input {name} contains {text}, at {_first_index(marks)}; all numbers must be finite")


def _first_index(marks: Array) -> list[int]:
    """Return the index of the first True."""
    index: list[int] = np.argwhere(marks)[0].tolist()
    return index


def _check_shape(grades: Array, scores: Array) -> None:
    if grades.ndim < 2 or grades.shape[1] < 2:
        raise ValueError(
            f"y_true must have one row per query with at least two documents each, and has the shape {grades.shape}; "
            "rankgain.from_scores takes one query, and queries of one document"
        )
    if grades.shape != scores.shape:
        raise ValueError(f"y_true has the shape {grades.shape}, and y_score has {scores.shape}: they must be the same")
