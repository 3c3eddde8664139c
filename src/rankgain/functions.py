"""Metric functions that take relevance in rank order. They return a float for one list, or an array for many lists.

For short lists, a single kernel call is enough. The kernel returns None if the general path must be used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never, TypeVar

import numpy as np

from rankgain import _backend
from rankgain._codes import IN_JUDGED, LISTS, LONGEST_LIST, UNLIMITED, VECTOR
from rankgain.choices import Ideal, check_choices
from rankgain.data.arrays import warn_of_column
from rankgain.data.ragged import CHUNK, RaggedArray, check_judged, numbers, to_float64, unmasked
from rankgain.errors import InputError, refusal
from rankgain.metrics.aggregators import mean
from rankgain.metrics.discounts import NO_DISCOUNT, Discount, DiscountKind
from rankgain.metrics.gains import Gain, GainKind
from rankgain.metrics.parameters import check_empty, check_rel, cut_off, highest_irrelevant
from rankgain.scalars import Floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Concatenate, ParamSpec, Protocol, overload

    from numpy.typing import ArrayLike

    from rankgain.metrics.metric import Metric

    # Types that let type checkers distinguish one list from many lists. As in NumPy's annotations, an array type whose
    # shape is Never matches only arrays of unknown shape.
    _AnyShape = np.ndarray[tuple[Never, Never, Never, Never], np.dtype[Any]]
    _Number = float | np.integer[Any] | np.floating[Any]
    _OneList = Sequence[_Number] | np.ndarray[tuple[int], np.dtype[Any]]
    _ManyLists = Sequence[Sequence[_Number] | np.ndarray[Any, Any]] | np.ndarray[tuple[int, int], np.dtype[Any]]
    _P = ParamSpec("_P")

    class _OneOrMany(Protocol[_P]):
        @overload
        def __call__(self, relevance: _AnyShape, *args: _P.args, **named: _P.kwargs) -> float | Floats: ...
        @overload
        def __call__(self, relevance: _OneList, *args: _P.args, **named: _P.kwargs) -> float: ...
        @overload
        def __call__(self, relevance: _ManyLists, *args: _P.args, **named: _P.kwargs) -> Floats: ...
        @overload
        def __call__(self, relevance: ArrayLike, *args: _P.args, **named: _P.kwargs) -> float | Floats: ...

    class _OneOrManyJudged(Protocol[_P]):
        @overload
        def __call__(self, judged: _AnyShape, *args: _P.args, **named: _P.kwargs) -> float | Floats: ...
        @overload
        def __call__(self, judged: _OneList, *args: _P.args, **named: _P.kwargs) -> float: ...
        @overload
        def __call__(self, judged: _ManyLists, *args: _P.args, **named: _P.kwargs) -> Floats: ...
        @overload
        def __call__(self, judged: ArrayLike, *args: _P.args, **named: _P.kwargs) -> float | Floats: ...


MOST_SETTINGS = 128
_FIXED = str, int, float, np.number, type, type(None), Discount  # immutable types, safe to use in cache keys
_settings_cache: dict[tuple[Any, ...], _Settings] = {}
_metrics_cache: dict[tuple[Any, ...], Metric] = {}
_Value = TypeVar("_Value")


class _Settings:
    """The validated keyword arguments of a function, and the kernel that computes it, if there is one."""

    __slots__ = ("discount", "empty", "gain", "ideal", "k", "kernel", "ranks", "rel")

    def __init__(self, k: Any, gain: Any, discount: Any, ideal: Any, empty: Any, rel: Any = None) -> None:
        self.k = cut_off(k)
        self.gain = Gain.of(gain)
        self.discount = Discount.of(discount)
        check_choices(ideal=ideal)
        self.ideal = ideal
        self.empty = check_empty(empty)
        self.rel = check_rel(rel)
        self.kernel: _backend.lists.ListFunctions | None = None
        if self.gain.in_kernel and self.discount.kind != VECTOR:
            self.make_kernel(LONGEST_LIST)

    def make_kernel(self, ranks: int) -> _backend.lists.ListFunctions:
        """Create the kernel for lists of up to `ranks` documents, and return it."""
        weights = self.discount
        table = weights.table(min(self.k, ranks))
        above = highest_irrelevant(self.rel)
        self.ranks = ranks
        self.kernel = _backend.lists.ListFunctions(
            self.gain.exponential,
            table,
            weights.kind,
            weights.base,
            self.k,
            self.ideal == "returned",
            self.empty,
            above,
        )
        return self.kernel


def _settings(k: Any, gain: Any, discount: Any, ideal: Any = "judged", empty: Any = 0.0) -> _Settings:
    """Return the settings. They are validated once and then cached, which makes calls with short lists fast."""
    try:
        # The types are part of the key because True equals 1 but is not a valid k.
        return _settings_cache[k, gain, discount, ideal, empty, type(k), type(empty)]
    except Exception:  # the key is not cached yet, or it is not hashable
        pass
    key = k, gain, discount, ideal, empty, type(k), type(empty)
    return _remember(_settings_cache, key, _Settings(k, gain, discount, ideal, empty))


def _settings_of_rr(k: Any, rel: Any) -> _Settings:
    """Return the settings for the reciprocal rank, from the cache if possible."""
    try:
        return _settings_cache[k, rel, type(k), type(rel)]
    except Exception:
        pass
    key = k, rel, type(k), type(rel)
    return _remember(_settings_cache, key, _Settings(k, "linear", NO_DISCOUNT, "judged", 0.0, rel))


def _remember(cache: dict[tuple[Any, ...], _Value], key: tuple[Any, ...], value: _Value) -> _Value:
    """Cache the value if every part of the key is immutable, and return the value."""
    if all(isinstance(part, _FIXED) for part in key):
        if len(cache) >= MOST_SETTINGS:
            cache.clear()
        cache[key] = value
    return value


def _one_or_many(function: Callable[Concatenate[Any, _P], float | Floats]) -> _OneOrMany[_P]:
    """Return the function unchanged, but typed with overloads for one list and for many lists."""
    return function  # type: ignore[return-value]


def _one_or_many_judged(function: Callable[Concatenate[Any, _P], float | Floats]) -> _OneOrManyJudged[_P]:
    """Like `_one_or_many`, for functions whose first parameter is `judged`."""
    return function  # type: ignore[return-value]


def _misplaced(function: str, metric: str) -> TypeError:
    """Return the error for a second positional argument, which usually holds scores."""
    drop_in = f" or rankgain.sklearn.{metric}_score(y_true, y_score)" if metric in ("ndcg", "dcg") else ""
    return TypeError(
        f"{function}() takes relevance in rank order, and everything else by keyword (k=10 …); for labels and scores, "
        f"use rankgain.from_scores(y_true, y_score).evaluate({metric!r}){drop_in}"
    )


def gain(relevance: ArrayLike, kind: GainKind = "linear") -> Floats:
    """Compute the gains of documents from their grades.

    Parameters
    ----------
    relevance : array_like
        Grades, finite and not negative, of any shape. Any real dtype; computed in float64.
    kind : {"linear", "exponential", "binary"}, mapping, sequence or callable, default "linear"
        How a grade r becomes a gain, which must be finite and not negative.

        - ``"linear"``: r.
        - ``"exponential"``: 2**r - 1, for r < 1024.
        - ``"binary"``: 1 for r > 0, else 0.
        - A mapping from grade to gain, or a sequence indexed by grade. Every grade must have an entry, except grade 0,
          which has the gain 0 if it is absent.
        - A callable that takes a float64 array of grades and returns an array of the gains, of the same shape. In
          evaluations, by functions or by `Rankings.evaluate`, it is called once per query with the distinct grades,
          highest first.

    Returns
    -------
    ndarray of float64
        The gains, in the shape of `relevance`.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, or at least 1024 with ``kind="exponential"``; if a mapping or sequence
        has no entry for a grade; if a gain is not finite or is negative; if `kind` is an unknown name; or if
        `relevance` holds lists of unequal length.
    TypeError
        If a grade is not a number, if `kind` is of none of the types above, or if a callable returns anything but one
        number for each grade.

    See Also
    --------
    discount : The weight of a rank.
    cg : The sum of the gains.
    dcg : The sum of gain times discount.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    C. Burges et al., "Learning to rank using gradient descent", ICML 2005 (exponential gain).

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.gain([0, 1, 2, 3], "exponential").tolist()
    [0.0, 1.0, 3.0, 7.0]
    >>> rg.gain([2, 0, 1], {1: 3, 2: 7}).tolist()
    [7.0, 0.0, 3.0]
    """
    grades = numbers(relevance, "relevance")
    if isinstance(grades, list):
        raise ValueError("relevance must be an array or lists of equal length here, not lists of unequal length")
    flat = to_float64(grades).reshape(-1)
    lists = RaggedArray("relevance", None, values=flat, single=True)
    error_code = _backend.lists.grade_error(flat, lists.offsets)
    if error_code is not None:
        raise _refusal(InputError(*error_code), lists)
    try:
        gains = Gain.of(kind).apply(flat)
    except InputError as error:
        raise _refusal(error, lists) from None
    return gains.reshape(grades.shape).copy()


def discount(n: int, kind: DiscountKind = "log2") -> Floats:
    """Compute the discounts for ranks 1 to n.

    Parameters
    ----------
    n : int
        The number of ranks, 0 or more.
    kind : str or sequence of float, default "log2"
        How much a document at rank i counts.

        - ``"log2"``: 1 / log2(i + 1).
        - ``"jarvelin:b"``, with a base b > 1 (``"jarvelin"``: b = 2): 1 for i < b, else 1 / log_b(i).
        - ``"zipf"``: 1 / i.
        - A sequence or 1-D array of at least n discounts by rank, finite and not negative.

    Returns
    -------
    ndarray of float64, shape (n,)
        The discounts, from rank 1 on.

    Raises
    ------
    ValueError
        If `n` is negative or too large for memory; if `kind` is an unknown name or a base is not above 1; if a discount
        of a sequence is NaN, infinite or negative; or if the sequence has fewer than `n` entries.
    TypeError
        If `n` is not an integer, or `kind` is neither a string nor a sequence of numbers.

    See Also
    --------
    gain : The gain of a grade.
    dcg : The sum of gain times discount.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002 (jarvelin).

    C. Burges et al., "Learning to rank using gradient descent", ICML 2005 (log2).

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.discount(4).round(4).tolist()
    [1.0, 0.6309, 0.5, 0.4307]
    >>> rg.discount(4, "jarvelin:2").round(4).tolist()
    [1.0, 1.0, 0.6309, 0.5]
    """
    if isinstance(n, (bool, np.bool_, np.ndarray)) or not hasattr(n, "__index__"):
        raise TypeError(f"n must be an integer, not {type(n).__name__}")
    ranks = int(n)
    if not 0 <= ranks < 1 << 48:
        raise ValueError(f"n must be 0 or more, and no more than fits in memory, not {ranks}")
    weights = Discount.of(kind)
    if weights.kind == VECTOR:
        if ranks > len(weights.vector):
            raise ValueError(weights.too_short(ranks))
        return np.array(weights.vector[:ranks])
    out = np.empty(ranks)
    _backend.sums.fill_discount(weights.kind, weights.base, out)
    return out


@_one_or_many
def cg(
    relevance: Any, *scores: Never, k: int | None = None, gain: GainKind = "linear", mask: ArrayLike | None = None
) -> float | Floats:
    """Compute the cumulative gain: the sum of the gains down to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths, for
        many queries.
    k : int, optional
        The cut-off, a positive integer: grades beyond rank `k` are not read. By default, the whole list counts.
    gain : str, mapping, sequence or callable, default "linear"
        How a grade becomes a gain; see `rankgain.gain`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float or ndarray of float64, shape (queries,)
        A float for one query, one value per query for many. At least 0; an empty list has 0.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, or has no gain; if the sum is not finite; if `k` is not positive; if
        `relevance` has more than two dimensions; or if `mask` has another shape. The message names the query and the
        position.
    TypeError
        If a grade is not a number, `k` is not an integer, `gain` is of no type that `rankgain.gain` takes, or `mask`
        does not hold booleans.

    See Also
    --------
    dcg : The same sum with discounts.
    gain : The gain of a grade.

    Notes
    -----
    With the gain g and the grades r_1, r_2, … in rank order::

        CG@k = Σ g(r_i),  i ≤ k

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.cg([3, 2, 3, 0, 1, 2], k=3)
    8.0
    >>> rg.cg([[3, 2], [0, 1, 1]]).tolist()
    [5.0, 2.0]
    """
    if scores:
        raise _misplaced("cg", "cg")
    settings = _settings(k, gain, NO_DISCOUNT)
    value = None if settings.kernel is None or mask is not None else settings.kernel.dcg(relevance)
    return _of_lists("cg", relevance, None, settings, mask) if value is None else value


@_one_or_many
def dcg(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the discounted cumulative gain: the sum of the discounted gains down to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths, for
        many queries.
    k : int, optional
        The cut-off, a positive integer: grades beyond rank `k` are not read. By default, the whole list counts.
    gain : str, mapping, sequence or callable, default "linear"
        How a grade becomes a gain; see `rankgain.gain`.
    discount : str or sequence of float, default "log2"
        How much a rank counts; see `rankgain.discount`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float or ndarray of float64, shape (queries,)
        A float for one query, one value per query for many. At least 0; an empty list has 0.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, or has no gain; if the sum is not finite; if `k` is not positive; if
        `discount` is unknown or has fewer entries than there are ranks to count; if `relevance` has more than two
        dimensions; or if `mask` has another shape. The message names the query and the position.
    TypeError
        If a grade is not a number, `k` is not an integer, or `gain` or `discount` is of a type that `rankgain.gain` or
        `rankgain.discount` does not take; or if `mask` does not hold booleans.

    See Also
    --------
    ndcg : DCG divided by the DCG of the ideal order.
    idcg : The DCG of the ideal order.
    cg : The same sum without discounts.

    Notes
    -----
    With the gain g, the discount d and the grades r_1, r_2, … in rank order::

        DCG@k = Σ g(r_i) · d(i),  i ≤ k

    By default, g(r) = r and d(i) = 1 / log2(i + 1). With ``gain="exponential"``, it is the DCG of Burges et al. Using
    the natural logarithm instead of log2 would scale DCG, but leave nDCG unchanged.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    C. Burges et al., "Learning to rank using gradient descent", ICML 2005 (exponential gain).

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.dcg([3, 2, 3, 0, 1, 2], k=3), 4)
    5.7619
    >>> rg.dcg([[3, 2, 3], [0, 1, 2]], gain="exponential").round(4).tolist()
    [12.3928, 2.1309]
    """
    if scores:
        raise _misplaced("dcg", "dcg")
    settings = _settings(k, gain, discount)
    value = None if settings.kernel is None or mask is not None else settings.kernel.dcg(relevance)
    return _of_lists("dcg", relevance, None, settings, mask) if value is None else value


@_one_or_many_judged
def idcg(
    judged: Any,
    *,
    k: int | None = None,
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the ideal DCG: the highest DCG that the judged documents of a query can have.

    Parameters
    ----------
    judged : array_like
        The grades of all judged documents, in any order, finite and not negative: 1-D for one query; 2-D, or a list of
        lists of any lengths, for many queries.
    k : int, optional
        The cut-off, a positive integer: the ideal list ends at rank `k`. All of `judged` is read nevertheless. By
        default, all judged documents count.
    gain : str, mapping, sequence or callable, default "linear"
        How a grade becomes a gain; see `rankgain.gain`.
    discount : str or sequence of float, default "log2"
        How much a rank counts; see `rankgain.discount`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `judged`. By default, every entry is a document.

    Returns
    -------
    float or ndarray of float64, shape (queries,)
        A float for one query, one value per query for many. At least 0; 0 if no document has a gain.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, or has no gain; if the sum is not finite; if `k` is not positive; if
        `discount` is unknown or has fewer entries than there are ranks to count; if `judged` has more than two
        dimensions; or if `mask` has another shape. The message names the query and the position.
    TypeError
        If a grade is not a number, `k` is not an integer, or `gain` or `discount` is of a type that `rankgain.gain` or
        `rankgain.discount` does not take; or if `mask` does not hold booleans.

    See Also
    --------
    dcg : The DCG of a list in the order given.
    ndcg : DCG divided by this ideal.

    Notes
    -----
    With the judged documents J of a query, their gains g_1 ≥ g_2 ≥ … and the discount d::

        IDCG@k = Σ g_i · d(i),  i ≤ min(k, |J|)

    With a discount that rises with the rank, such as ``[0.1, 1]``, another order may have a higher DCG.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.idcg([3, 2, 2, 1], k=4), 4)
    5.6925

    The order of the grades does not matter; each query has a separate ideal:

    >>> rg.idcg([[1, 2, 2, 3], [0, 1]]).round(4).tolist()
    [5.6925, 1.0]
    """
    settings = _settings(k, gain, discount)
    value = None if settings.kernel is None or mask is not None else settings.kernel.idcg(judged)
    return _of_lists("idcg", judged, None, settings, mask) if value is None else value


@_one_or_many
def ndcg(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: ArrayLike | None = None,
    ideal: Ideal = "judged",
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    empty: float = 0.0,
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the normalised DCG: DCG divided by the ideal DCG.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths, for
        many queries.
    k : int, optional
        The cut-off of both sums, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not: 1-D for one query, else one
        list per query. The ideal is computed from them. By default, the returned list is assumed to contain all of
        them; if documents with a gain were not returned, the value is then too high.
    ideal : {"judged", "returned"}, default "judged"
        Whether the ideal list runs to min(k, number of judged documents), or is cut at the length of the returned list
        as well.
    gain : str, mapping, sequence or callable, default "linear"
        How a grade becomes a gain; see `rankgain.gain`.
    discount : str or sequence of float, default "log2"
        How much a rank counts; see `rankgain.discount`.
    empty : float, default 0.0
        The value of a query whose ideal DCG is 0. NaN leaves such queries out of means.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float or ndarray of float64, shape (queries,)
        A float for one query, one value per query for many. In [0, 1] (or `empty`), unless the discount rises with the
        rank.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, or has no gain; if a sum is not finite; if `judged` lacks grades that
        were returned, so that DCG exceeds the ideal; if `judged` and `relevance` have different numbers of queries; if
        `k` is not positive; if `ideal` or `discount` is unknown; if `discount` has fewer entries than there are ranks
        to count; if `empty` is infinite; if an array has more than two dimensions; or if `mask` has another shape. The
        message names the query and the position.
    TypeError
        If a grade or `empty` is not a number, `k` is not an integer, or `gain` or `discount` is of a type that
        `rankgain.gain` or `rankgain.discount` does not take.

    See Also
    --------
    mean_ndcg : The mean over queries.
    dcg : The numerator.
    idcg : The denominator.
    from_scores : The same from scores and labels, with a choice for ties.

    Notes
    -----
    ::

        nDCG@k = DCG@k / IDCG@k

    See `dcg` and `idcg`. All grades of `relevance` are read, even beyond rank `k`, since the ideal depends on them; if
    `judged` is given, those beyond `k` are not read.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.ndcg([3, 2, 3, 0, 1, 2], k=3), 4)
    0.9778
    >>> round(rg.ndcg([3, 1, 2, 2, 1], k=5, judged=[3, 3, 2, 2, 1, 1, 0]), 4)
    0.8233
    >>> rg.ndcg([[0, 1], [2, 1]]).round(4).tolist()
    [0.6309, 1.0]
    """
    if scores:
        raise _misplaced("ndcg", "ndcg")
    settings = _settings(k, gain, discount, ideal, empty)
    value = (
        None if settings.kernel is None or judged is not None or mask is not None else settings.kernel.ndcg(relevance)
    )
    return _of_lists("ndcg", relevance, judged, settings, mask) if value is None else value


@_one_or_many
def reciprocal_rank(
    relevance: Any, *scores: Never, k: int | None = None, rel: float | None = None, mask: ArrayLike | None = None
) -> float | Floats:
    """Compute the reciprocal rank: 1 divided by the rank of the first relevant document.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths, for
        many queries.
    k : int, optional
        The cut-off, a positive integer: grades beyond rank `k` are not read. By default, the whole list counts.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float or ndarray of float64, shape (queries,)
        A float for one query, one value per query for many. In [0, 1]; 0 if no document down to rank `k` is relevant.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative; if `k` is not positive; if `rel` is not finite; if `relevance` has
        more than two dimensions; or if `mask` has another shape. The message names the query and the position.
    TypeError
        If a grade or `rel` is not a number, `k` is not an integer, or `mask` does not hold booleans.

    See Also
    --------
    mrr : The mean over queries.

    Notes
    -----
    ::

        RR@k = 1 / i,  i the rank of the first relevant document, if i ≤ k; else 0

    References
    ----------
    E. M. Voorhees, "The TREC-8 question answering track report", TREC-8, 1999.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.reciprocal_rank([0, 0, 1])
    0.3333333333333333
    >>> rg.reciprocal_rank([[0, 1, 3], [0, 1, 1]], rel=2).round(4).tolist()
    [0.3333, 0.0]
    """
    if scores:
        raise _misplaced("reciprocal_rank", "rr")
    settings = _settings_of_rr(k, rel)
    value = None if settings.kernel is None or mask is not None else settings.kernel.rr(relevance)
    return _of_lists("rr", relevance, None, settings, mask) if value is None else value


def mean_ndcg(
    relevance: ArrayLike,
    *scores: Never,
    k: int | None = None,
    judged: ArrayLike | None = None,
    ideal: Ideal = "judged",
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    empty: float = 0.0,
    mask: ArrayLike | None = None,
) -> float:
    """Compute the mean of the normalised DCG over all queries.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 2-D, or a list of lists of any lengths, one list per query; 1-D
        is one query.
    k : int, optional
        The cut-off of both sums, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not. By default, the returned lists
        are assumed to contain all of them; see `ndcg`.
    ideal : {"judged", "returned"}, default "judged"
        Whether the ideal list runs to min(k, number of judged documents), or is cut at the length of the returned list
        as well.
    gain : str, mapping, sequence or callable, default "linear"
        How a grade becomes a gain; see `rankgain.gain`.
    discount : str or sequence of float, default "log2"
        How much a rank counts; see `rankgain.discount`.
    empty : float, default 0.0
        The value of a query whose ideal DCG is 0. NaN leaves such queries out of the mean.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float
        In [0, 1], unless the discount rises with the rank. NaN if no query counts.

    Raises
    ------
    ValueError, TypeError
        If `ndcg` would raise it for one of the queries.

    Warns
    -----
    UserWarning
        If an array has the shape (n, 1): these are n queries of one document each.

    See Also
    --------
    ndcg : One value per query.
    Evaluation.mean : The mean of any metric, with weights.

    Notes
    -----
    The mean is ``math.fsum(values) / n`` over the n queries whose nDCG is not NaN::

        mean nDCG@k = (1 / n) · Σ DCG@k / IDCG@k

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.mean_ndcg([[0, 1], [2, 1]]), 4)
    0.8155

    A query without relevant documents counts as 0 or, with ``empty=nan``, is left out:

    >>> rg.mean_ndcg([[1, 0], [0, 0]]), rg.mean_ndcg([[1, 0], [0, 0]], empty=float("nan"))
    (0.5, 1.0)
    """
    if scores:
        raise _misplaced("mean_ndcg", "ndcg")
    return _mean(
        relevance,
        ndcg(relevance, k=k, judged=judged, ideal=ideal, gain=gain, discount=discount, empty=empty, mask=mask),
    )


def mrr(
    relevance: ArrayLike, *scores: Never, k: int | None = None, rel: float | None = None, mask: ArrayLike | None = None
) -> float:
    """Compute the mean reciprocal rank: the reciprocal rank of the first relevant document, averaged over all queries.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 2-D, or a list of lists of any lengths, one list per query; 1-D
        is one query.
    k : int, optional
        The cut-off, a positive integer: grades beyond rank `k` are not read. By default, the whole lists count.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float
        In [0, 1]; a query without a relevant document down to rank `k` counts as 0. NaN if there are no queries.

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative; if `k` is not positive; if `rel` is not finite; if `relevance` has
        more than two dimensions; or if `mask` has another shape. The message names the query and the position.
    TypeError
        If a grade or `rel` is not a number, `k` is not an integer, or `mask` does not hold booleans.

    Warns
    -----
    UserWarning
        If an array has the shape (n, 1): these are n queries of one document each.

    See Also
    --------
    reciprocal_rank : One value per query.
    Evaluation.mean : The mean of any metric, with weights.

    Notes
    -----
    With n queries, where i_q is the rank of the first relevant document of query q::

        MRR@k = (1 / n) · Σ 1 / i_q,  over the queries with i_q ≤ k

    The mean is ``math.fsum(values) / n``, so it does not depend on the order of the queries.

    References
    ----------
    E. M. Voorhees, "The TREC-8 question answering track report", TREC-8, 1999.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.mrr([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    0.611111111111111
    >>> rg.mrr([[0, 0, 1], [0, 1, 0], [1, 0, 0]], k=2)
    0.5
    """
    if scores:
        raise _misplaced("mrr", "mrr")
    return _mean(relevance, reciprocal_rank(relevance, k=k, rel=rel, mask=mask))


@_one_or_many
def precision(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    rel: float | None = None,
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the precision: the fraction of the first k documents that are relevant.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths,
        one per query.
    k : int, optional
        The cut-off, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents, accepted as in other functions; the value does not depend on them.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, if `k` is less than 1, if `judged` does not have one list per query,
        or if `mask` has another shape.
    TypeError
        If a grade, `k` or `rel` is not a number, if `mask` does not hold booleans, or if scores are given as a second
        argument.

    See Also
    --------
    average_precision : The mean of the precisions at the ranks of relevant documents.
    recall : The share of relevant documents that were returned.
    Rankings.evaluate : the metric ``"precision@10"`` for any other form of input.

    Notes
    -----
    With a cut-off, the divisor is k, even if fewer documents were returned.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.precision([1, 0, 1, 0], k=3)
    0.6666666666666666
    >>> rg.precision([[1, 0], [1, 1]], k=4).tolist()
    [0.25, 0.5]
    """
    if scores:
        raise _misplaced("precision", "precision")
    return _of_relevant("precision", relevance, judged, k, rel, mask)


@_one_or_many
def recall(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    rel: float | None = None,
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the recall: the fraction of all relevant documents that are among the first k documents.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths,
        one per query.
    k : int, optional
        The cut-off, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not. By default, the
        returned list is assumed to contain all of them, which inflates the value if relevant documents are missing.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, if `k` is less than 1, if `judged` does not have one list per query or
        lacks relevant documents that were returned, or if `mask` has another shape.
    TypeError
        If a grade, `k` or `rel` is not a number, if `mask` does not hold booleans, or if scores are given as a second
        argument.

    See Also
    --------
    precision : The share of returned documents that are relevant.
    Rankings.evaluate : the metric ``"recall@10"`` for any other form of input.

    Notes
    -----
    The value is 0 if nothing is relevant.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.recall([1, 0, 1, 0], k=2, judged=[1, 1, 1, 1, 0, 0])
    0.25
    >>> rg.recall([[2, 0, 1], [0, 1, 1]], k=1).tolist()
    [0.5, 0.0]
    """
    if scores:
        raise _misplaced("recall", "recall")
    return _of_relevant("recall", relevance, judged, k, rel, mask)


@_one_or_many
def average_precision(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    rel: float | None = None,
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the average precision: the mean of the precisions at the ranks of the relevant documents.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths,
        one per query.
    k : int, optional
        The cut-off, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not. By default, the
        returned list is assumed to contain all of them, which inflates the value if relevant documents are missing.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, if `k` is less than 1, if `judged` does not have one list per query or
        lacks relevant documents that were returned, or if `mask` has another shape.
    TypeError
        If a grade, `k` or `rel` is not a number, if `mask` does not hold booleans, or if scores are given as a second
        argument.

    See Also
    --------
    precision : The share of returned documents that are relevant.
    Rankings.evaluate : the metric ``"ap@10"`` for any other form of input.

    Notes
    -----
    The sum of the precisions at the ranks of relevant documents is divided by R, the number of relevant documents; the
    value is 0 if nothing is relevant. The metrics ``"ap_capped"`` and ``"ap_hits"`` have other divisors.

    References
    ----------
    Buckley & Voorhees, Evaluating evaluation measure stability, SIGIR 2000.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.average_precision([1, 0, 1, 0])
    0.8333333333333333
    >>> rg.average_precision([[2, 0, 1], [0, 0, 1]], rel=2).tolist()
    [1.0, 0.0]
    """
    if scores:
        raise _misplaced("average_precision", "average_precision")
    return _of_relevant("average_precision", relevance, judged, k, rel, mask)


@_one_or_many
def hit_rate(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    rel: float | None = None,
    mask: ArrayLike | None = None,
) -> float | Floats:
    """Compute the hit rate: 1 if at least one of the first k documents is relevant, else 0.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths,
        one per query.
    k : int, optional
        The cut-off, a positive integer. By default, the whole lists count.
    judged : array_like, optional
        The grades of all judged documents, accepted as in other functions; the value does not depend on them.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError
        If a grade is NaN, infinite or negative, if `k` is less than 1, if `judged` does not have one list per query,
        or if `mask` has another shape.
    TypeError
        If a grade, `k` or `rel` is not a number, if `mask` does not hold booleans, or if scores are given as a second
        argument.

    See Also
    --------
    reciprocal_rank : 1 / rank of the first relevant document.
    Rankings.evaluate : the metric ``"success@10"``, or ``"hit_rate@10"``, for any other form of input.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.hit_rate([0, 0, 1], k=2)
    0.0
    >>> rg.hit_rate([[0, 0, 1], [0, 1, 0]], k=2).tolist()
    [0.0, 1.0]
    """
    if scores:
        raise _misplaced("hit_rate", "hit_rate")
    return _of_relevant("success", relevance, judged, k, rel, mask)


def _mean(relevance: Any, values: float | Floats) -> float:
    warn_of_column(relevance, "relevance", "for one query give relevance.squeeze(-1)")
    return mean(np.atleast_1d(values))


def _of_lists(name: str, relevance: Any, judged: Any, settings: _Settings, mask: Any) -> float | Floats:
    """Compute a metric for one list, or for each of many lists."""
    (lists,) = unmasked(mask, RaggedArray.of(relevance, "judged" if name == "idcg" else "relevance"))
    judgments = None if judged is None else check_judged(judged, lists)
    if settings.kernel is None:
        out = _evaluated(name, lists, judgments, settings)
    else:
        out = _filled("dcg" if name == "cg" else name, lists, judgments, settings)
    return float(out[0]) if lists.single else out


def _filled(name: str, lists: RaggedArray, judgments: RaggedArray | None, settings: _Settings) -> Floats:
    """Compute a metric for each list, processing the lists in chunks."""
    longest = max(lists.longest, 0 if judgments is None else judgments.longest)
    kernel = settings.kernel
    if kernel is None or min(longest, settings.k) > settings.ranks:
        kernel = settings.make_kernel(longest)
    out = np.empty(len(lists))
    native = lists.native and (judgments is None or judgments.native)
    step = max(1, len(lists) if native else CHUNK // max(1, longest))
    for start in range(0, len(lists), step):
        stop = min(start + step, len(lists))
        grades = lists.ragged(start, stop)
        judged = (None, None) if judgments is None else judgments.ragged(start, stop)
        chunk = LISTS, 0, stop - start, grades[0], grades[1], 0, None, *judged, 0
        error_code = kernel.fill(name, chunk, out[start:stop])
        if error_code is not None:
            code, query, position, _ = error_code
            refused = judgments if code & IN_JUDGED and judgments is not None else lists
            raise _refusal(InputError(code, start + query, position), refused)
    return out


def _evaluated(name: str, lists: RaggedArray, judgments: RaggedArray | None, settings: _Settings) -> Floats:
    """Compute a metric for each list with the engine, which supports any gain and discount."""
    from rankgain.metrics.metric import Metric

    parameters: dict[str, Any] = {"gain": settings.gain}
    if name != "cg":
        parameters["discount"] = settings.discount
    if name == "ndcg":
        parameters |= {"ideal": settings.ideal, "empty": settings.empty}
    if name in ("cg", "dcg") or judgments is not None:  # grades beyond the cut-off are not read
        lists = lists.cut(settings.k)
    metric = Metric(name, None if settings.k == UNLIMITED else settings.k, **parameters)
    return _by_engine(metric, lists, judgments)


def _of_relevant(name: str, relevance: Any, judged: Any, k: Any, rel: Any, mask: Any) -> float | Floats:
    """Compute a metric such as precision or recall for one list, or for each of many lists."""
    (lists,) = unmasked(mask, RaggedArray.of(relevance, "relevance"))
    judgments = None if judged is None else check_judged(judged, lists)
    out = _by_engine(_metric_of_relevant(name, k, rel), lists, judgments)
    return float(out[0]) if lists.single else out


def _by_engine(metric: Metric, lists: RaggedArray, judgments: RaggedArray | None) -> Floats:
    from rankgain.data.lists import ListSource
    from rankgain.data.rules import GIVEN
    from rankgain.metrics.program import fill, planned

    gain = metric.gain if metric.gain.function is None else None  # a callable gain must not be called twice
    source = ListSource(lists, None, judgments, range(len(lists)), named=False, gain=gain)
    out, _ = fill(planned((metric,)), source, GIVEN)
    values: Floats = out[0].copy()  # the caller must be able to write to the result
    return values


def _metric_of_relevant(name: str, k: Any, rel: Any) -> Metric:
    """Return the metric, which is cached in the same way as the settings."""
    key = name, k, rel, type(k), type(rel)
    try:
        return _metrics_cache[key]
    except Exception:  # the key is not cached yet, or it is not hashable
        pass
    from rankgain.metrics.metric import Metric

    return _remember(_metrics_cache, key, Metric(name, k) if rel is None else Metric(name, k, rel=rel))


def _refusal(error: InputError, lists: RaggedArray) -> Exception:
    return refusal(error.code, lists.describe(error.query, error.position), error.detail)
