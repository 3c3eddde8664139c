"""`ndcg_score` and `dcg_score` in place of scikit-learn's: change the import, and get the same numbers, faster.

Signatures, defaults, accepted input, the classes of the errors and the values (to 1e-12) are those of scikit-learn
1.9.1, which is not imported. The differences, with scikit-learn's behaviour in brackets:

- unsigned scores are compared by value (negated modulo 2**n, so that a score of 0 comes first);
- boolean scores are always accepted (a TypeError of NumPy, unless ties are ignored);
- ``log_base=1``, which is not the base of a logarithm, is an InvalidParameterError (a score of 0);
- a sum of gains beyond float64 is a ValueError (a score of inf or NaN);
- rows of unequal shape raise a ValueError with that message (sometimes an IndexError of NumPy);
- masked elements are a ValueError (the values under the mask count);
- grades may be Decimal, Fraction or integers of any size, or a frame of sparse columns; such numbers become float64,
  and tie if they are then equal (only scores may be);
- None in a list is NaN, hence a ValueError (a TypeError); timedelta64 is a TypeError (accepted as scores).

For exponential gains, queries of unequal length or one document, and other rules for ties, see `rankgain.from_scores`;
for scikit-learn's searches and cross-validations, `rankgain.scorer`.
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

EXACT = 1 << 53  # integers up to this are exact in float64
FEW = 1 << 14  # up to this many documents, sorting is faster than finding ties
FEW_ROWS = 16  # rows in a sample, from which the frequency of ties is estimated


class InvalidParameterError(ValueError, TypeError):
    """An argument of the wrong type or out of range; both a ValueError and a TypeError, as in scikit-learn."""


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean normalised DCG over rows of documents, as scikit-learn does: linear gain, ties averaged.

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
        Whether tied documents share the value of their ranks (False), or are in the order (True) of
        ``np.argsort(y_score)[:, ::-1]``, which is not stable and should not be relied on.

    Returns
    -------
    float
        From 0 to 1; a query without a grade above 0 counts as 0.

    Raises
    ------
    InvalidParameterError
        If a parameter is of the wrong type or out of range.
    ValueError
        If a value is NaN, infinite or masked, a grade is negative, the shapes or lengths do not match, or a
        query has only one document.
    TypeError
        If an array cannot be read or is not of numbers.

    See Also
    --------
    rankgain.ndcg : From grades in rank order.
    rankgain.from_scores : With other gains and ties, and queries of unequal length.
    dcg_score : The sum that is not normalised.

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
    """Compute the mean DCG over rows of documents, as scikit-learn does: linear gain, ties averaged.

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
        Whether tied documents are in the order of NumPy's sort, as in `ndcg_score`.

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
        If an array cannot be read or is not of numbers.

    See Also
    --------
    rankgain.dcg : From grades in rank order.
    rankgain.from_scores : With other gains and ties, and queries of unequal length.
    ndcg_score : The same divided by the ideal.

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
    """The mean over the rows of two NumPy matrices; None: use the general path, which reports errors."""
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
    """The nDCG of each row of two matrices of numbers."""
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
    """The DCG of each row of two matrices of numbers."""
    if y_true.min() >= 0:
        return _each(dcg, y_true, y_score, k, ignore_ties) * math.log2(log_base)
    # DCG is linear in the gains, with averaged ties or in a fixed order: the DCG of the positive grades minus the DCG
    # of the absolute values of the negative ones.
    gains = y_true.astype(np.float64)
    above, below = (_each(dcg, np.maximum(part, 0.0), y_score, k, ignore_ties) for part in (gains, -gains))
    return (above - below) * math.log2(log_base)


def _each(function: Callable[..., Any], grades: Array, scores: Array, k: Any, ignore_ties: bool) -> Floats:
    """The metric, `rankgain.dcg` or `ndcg`, of each row."""
    k = None if k is None else min(int(k), LARGEST_CUTOFF)  # True is 1, as in scikit-learn
    record, exact = metric(function.__name__, k=k), _exact(scores)
    if not ignore_ties:
        return rankings_of_scores(grades, exact).evaluate(record)[record]
    if scores.size < FEW or _affected_by_ties(grades[:FEW_ROWS], exact[:FEW_ROWS], record)[1].mean() > 0.5:
        return _sorted(function, grades, scores, k)
    best, affected = _affected_by_ties(grades, exact, record)
    values, rows = best.copy(), np.flatnonzero(affected)
    if len(rows):
        values[rows] = _sorted(function, grades[rows], scores[rows], k)
    return values


def _affected_by_ties(grades: Array, scores: Array, record: Metric) -> tuple[Floats, Bools]:
    """The highest value of each row over the orders of tied documents, and whether that value depends on the order."""
    best, worst = (rankings_of_scores(grades, scores, ties=ties).evaluate(record)[record] for ties in ("best", "worst"))
    return best, best != worst


def _sorted(function: Callable[..., Any], grades: Array, scores: Array, k: int | None) -> Floats:
    """The metric of each row in the order of NumPy's sort, which is not stable, so that only NumPy can reproduce it."""
    ranked = np.take_along_axis(grades, np.argsort(scores)[:, ::-1][:, :k], axis=1)
    values: Floats = function(ranked, k=k, judged=grades) if function is ndcg else function(ranked, k=k)
    return values


def _exact(scores: Array) -> Array:
    """The scores or, if float64 would make different scores equal, the rank of each among the distinct values."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if (kind in "iu" and size == 8 and (scores.max() > EXACT or scores.min() < -EXACT)) or (kind == "f" and size > 8):
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
    """Both as arrays of finite numbers with equally many rows."""
    grades, scores = _numbers(y_true, "y_true"), _numbers(y_score, "y_score")
    lengths = [len(array) for array in (grades, scores, sample_weight) if array is not None]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {lengths}, of y_true, y_score and, if given, "
            "sample_weight; there must be one per query in each"
        )
    return grades, scores


def _numbers(value: Any, name: str) -> Array:
    """The value as an array of finite numbers, of one or two dimensions, none of them empty."""
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
            numbers(array, name)  # raises an error with the position
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
    """Refuse NaN and infinity. A finite sum shows that there are none; an infinite sum may also be an overflow."""
    if array.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    for marks, text in ((np.isnan(array), "NaN"), (np.isinf(array), "infinity")):
        if marks.any():
            raise ValueError(f"Input {name} contains {text}, at {_first_index(marks)}; all numbers must be finite")


def _first_index(marks: Array) -> list[int]:
    """The index of the first True."""
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
