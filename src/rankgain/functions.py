"""The functions on relevance in rank order: one list to a float, many lists to one value each.

One list takes the shortest way there is: to a buffer, through a kernel of the backend, out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from rankgain import _backend
from rankgain._codes import IN_JUDGED, LISTS, LONGEST_LIST, SHORT_DISCOUNT, VECTOR
from rankgain.data.ragged import CHUNK, RaggedArray, check_judged, numbers, to_float64
from rankgain.errors import InputError, refusal
from rankgain.metrics.aggregators import mean
from rankgain.metrics.discounts import NO_DISCOUNT, Discount, DiscountKind
from rankgain.metrics.gains import Gain, GainKind
from rankgain.metrics.parameters import check_empty, check_ideal, check_rel, cut_off, highest_irrelevant
from rankgain.scalars import Floats

if TYPE_CHECKING:
    from rankgain.data.lists import ListSource
    from rankgain.metrics.metric import Metric

MOST_SETTINGS = 128
_FIXED = str, int, float, np.number, type, type(None), Discount  # kinds of settings that cannot change
_kept: dict[tuple[Any, ...], _Settings] = {}
_kept_metrics: dict[tuple[Any, ...], Metric] = {}


class _Settings:
    """The keyword arguments of a function, checked, and the kernel for single lists, if kernels compute the gains."""

    __slots__ = ("discount", "empty", "gain", "ideal", "k", "kernel", "ranks", "rel")

    def __init__(self, k: Any, gain: Any, discount: Any, ideal: Any, empty: Any, rel: Any = None) -> None:
        self.k = cut_off(k)
        self.gain = Gain.of(gain)
        self.discount = Discount.of(discount)
        self.ideal = check_ideal(ideal)
        self.empty = check_empty(empty)
        self.rel = check_rel(rel)
        self.kernel: _backend.lists.ListFunctions | None = None
        if self.gain.in_kernel and self.discount.kind != VECTOR:
            self.make_kernel(LONGEST_LIST)

    def make_kernel(self, ranks: int) -> _backend.lists.ListFunctions:
        """The functions on lists of so many documents."""
        kept = self.discount
        table = kept.table(min(self.k, ranks))
        above = highest_irrelevant(self.rel)
        self.ranks = ranks
        self.kernel = _backend.lists.ListFunctions(
            self.gain.exponential, table, kept.kind, kept.base, self.k, self.ideal == "returned", self.empty, above
        )
        return self.kernel


def _settings(k: Any, gain: Any, discount: Any, ideal: Any = "judged", empty: Any = 0.0) -> _Settings:
    """Checked once and remembered, so that a small call does not spend its time on them."""
    try:
        return _kept[k, gain, discount, ideal, empty, type(k), type(empty)]  # True is no k, though it equals 1
    except Exception:  # not asked for yet, or nothing to remember by
        pass
    return _made((k, gain, discount, ideal, empty, type(k), type(empty)), k, gain, discount, ideal, empty)


def _settings_of_rr(k: Any, rel: Any) -> _Settings:
    """Those of a reciprocal rank, remembered likewise."""
    try:
        return _kept[k, rel, type(k), type(rel)]
    except Exception:
        pass
    return _made((k, rel, type(k), type(rel)), k, "linear", NO_DISCOUNT, "judged", 0.0, rel)


def _made(key: tuple[Any, ...], *asked: Any) -> _Settings:
    settings = _Settings(*asked)
    if all(isinstance(part, _FIXED) for part in key):  # what may change is looked at anew
        if len(_kept) >= MOST_SETTINGS:
            _kept.clear()
        _kept[key] = settings
    return settings


def _misplaced(function: str, metric: str) -> TypeError:
    """What to say of a second argument, which is keyword-only here: most often scores, beside labels."""
    drop_in = f" or rankgain.sklearn.{metric}_score(y_true, y_score)" if metric in ("ndcg", "dcg") else ""
    return TypeError(
        f"{function}() takes one list of relevance in rank order, and the rest by keyword (k=10 …); for scores beside "
        f"labels there is rankgain.from_scores(y_true, y_score).evaluate({metric!r}){drop_in}"
    )


def gain(relevance: Any, kind: GainKind = "linear") -> Floats:
    """What documents of these grades are worth.

    Parameters
    ----------
    relevance : array_like
        Grades, finite and not negative, of any shape.
    kind : str, mapping, sequence or callable
        ``"linear"``: r. ``"exponential"``: 2**r - 1, for r < 1024. A mapping from grade to gain, or a sequence indexed
        by grade: a grade that it lacks is an error (grade 0 may be absent and gives 0). A callable: given a float64
        array of grades, it returns their gains. Gains must be finite and not negative. Where queries are evaluated, by
        functions as by `Rankings.evaluate`, it is given the distinct grades of one query at a time, highest first.

    Returns
    -------
    ndarray of float64
        The gains, in the shape of `relevance`.

    Raises
    ------
    ValueError, TypeError
        For what is no grade, or has no gain.

    References
    ----------
    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002. Exponential: Burges
    et al., Learning to rank using gradient descent, ICML 2005.

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
        raise ValueError("relevance must have one shape here, not lists of unequal length")
    flat = to_float64(grades).reshape(-1)
    lists = RaggedArray("relevance", None, values=flat, single=True)
    error_code = _backend.ordering.grade_error(flat, lists.offsets)
    if error_code is not None:
        raise _refusal(InputError(*error_code), lists)
    try:
        gains = Gain.of(kind).of_grades(flat)
    except InputError as error:
        raise _refusal(error, lists) from None
    return gains.reshape(grades.shape).copy()


def discount(n: int, kind: DiscountKind = "log2") -> Floats:
    """What the ranks 1 … n are worth.

    Parameters
    ----------
    n : int
        The number of ranks, 0 or more.
    kind : str or sequence
        ``"log2"``: 1 / log2(i + 1). ``"jarvelin:b"``, of a base b > 1 (``"jarvelin"``: 2): 1 for i < b, else
        1 / log_b(i). ``"zipf"``: 1 / i. A vector by rank, finite and not negative.

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    ValueError, TypeError
        For a discount that there is not, or a vector of fewer than n ranks.

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002 (jarvelin); Burges et al., ICML 2005 (log2).

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
    kept = Discount.of(kind)
    if kept.kind == VECTOR:
        if ranks > len(kept.vector):
            raise ValueError(f"discount holds {len(kept.vector)} ranks, and {ranks} are asked for")
        return np.array(kept.vector[:ranks])
    out = np.empty(ranks)
    _backend.sums.fill_discount(kept.kind, kept.base, out)
    return out


def cg(
    relevance: Any, *scores: Never, k: int | None = None, gain: GainKind = "linear", mask: Any = None
) -> float | Floats:
    """Cumulative gain: the sum of the gains to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list. Grades beyond it are not looked at.
    gain : str, mapping, sequence or callable
        See `rankgain.gain`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.cg([3, 2, 3, 0, 1, 2], k=3)
    8.0
    """
    if scores:
        raise _misplaced("cg", "cg")
    settings = _settings(k, gain, NO_DISCOUNT)
    value = None if settings.kernel is None or mask is not None else settings.kernel.dcg(relevance)
    return _of_lists("cg", relevance, None, settings, mask) if value is None else value


def dcg(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    mask: Any = None,
) -> float | Floats:
    """Discounted cumulative gain: the sum of gain times discount to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list. Grades beyond it are not looked at.
    gain : str, mapping, sequence or callable
        See `rankgain.gain`.
    discount : str or sequence
        See `rankgain.discount`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.dcg([3, 2, 3, 0, 1, 2], k=3), 4)
    5.7619
    """
    if scores:
        raise _misplaced("dcg", "dcg")
    settings = _settings(k, gain, discount)
    value = None if settings.kernel is None or mask is not None else settings.kernel.dcg(relevance)
    return _of_lists("dcg", relevance, None, settings, mask) if value is None else value


def idcg(
    judged: Any, *, k: int | None = None, gain: GainKind = "linear", discount: DiscountKind = "log2", mask: Any = None
) -> float | Floats:
    """Ideal DCG: the DCG of the judged grades, highest gain first.

    Parameters
    ----------
    judged : array_like
        The grades of all judged documents, in any order, finite and not negative: 1-D for one query; 2-D, or a list
        of lists, for many.
    k, gain, discount
        As in `dcg`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `judged`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.idcg([3, 2, 2, 1], k=4), 4)
    5.6925
    """
    settings = _settings(k, gain, discount)
    value = None if settings.kernel is None or mask is not None else settings.kernel.idcg(judged)
    return _of_lists("idcg", judged, None, settings, mask) if value is None else value


def ndcg(
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    ideal: str = "judged",
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    empty: float = 0.0,
    mask: Any = None,
) -> float | Floats:
    """Normalised DCG: DCG / ideal DCG.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off of both; None: the whole lists.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not: the ideal comes from them.
        None: the returned list holds them all. To leave out what was not returned inflates the value.
    ideal : {"judged", "returned"}
        Whether the ideal runs to min(k, judged documents), or is also cut at the length of the returned list.
    gain, discount
        As in `dcg`.
    empty : float
        The value where nothing is relevant (the ideal is 0); NaN leaves the query out of means.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1], with a discount that never rises.

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named. Also where `judged` lacks grades that were returned.

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20(4), 2002.

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


def reciprocal_rank(
    relevance: Any, *scores: Never, k: int | None = None, rel: float | None = None, mask: Any = None
) -> float | Floats:
    """1 / rank of the first relevant document, 0 where there is none to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list. Grades beyond it are not looked at.
    rel : float, optional
        The lowest grade that is relevant; None: any above 0.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    References
    ----------
    Voorhees, The TREC-8 question answering track report, 1999.

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
    relevance: Any,
    *scores: Never,
    k: int | None = None,
    judged: Any = None,
    ideal: str = "judged",
    gain: GainKind = "linear",
    discount: DiscountKind = "log2",
    empty: float = 0.0,
    mask: Any = None,
) -> float:
    """The mean of `ndcg` over queries; those whose value is NaN do not count, and without any it is NaN.

    Parameters, errors and source are those of `ndcg`.

    Returns
    -------
    float

    Examples
    --------
    >>> import rankgain as rg
    >>> round(rg.mean_ndcg([[0, 1], [2, 1]]), 4)
    0.8155
    """
    if scores:
        raise _misplaced("mean_ndcg", "ndcg")
    return _mean(ndcg(relevance, k=k, judged=judged, ideal=ideal, gain=gain, discount=discount, empty=empty, mask=mask))


def mrr(relevance: Any, *scores: Never, k: int | None = None, rel: float | None = None, mask: Any = None) -> float:
    """Mean reciprocal rank: the mean of `reciprocal_rank` over queries; NaN where there is no query.

    Parameters, errors and source are those of `reciprocal_rank`.

    Returns
    -------
    float

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.mrr([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    0.611111111111111
    """
    if scores:
        raise _misplaced("mrr", "mrr")
    return _mean(reciprocal_rank(relevance, k=k, rel=rel, mask=mask))


def precision(
    relevance: Any, *scores: Never, k: int | None = None, judged: Any = None, rel: float | None = None, mask: Any = None
) -> float | Floats:
    """The share of relevant documents among the first k; without k, among those returned.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list.
    judged : array_like, optional
        The grades of all judged documents, as the other functions take them; nothing here depends on them.
    rel : float, optional
        The lowest grade that is relevant; None: any above 0.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    See Also
    --------
    average_precision, recall
    Rankings.evaluate : the metric ``"precision@10"`` of any other form of input.

    Notes
    -----
    With a cut-off it divides by k, however few documents were returned.

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


def recall(
    relevance: Any, *scores: Never, k: int | None = None, judged: Any = None, rel: float | None = None, mask: Any = None
) -> float | Floats:
    """The share of the relevant documents that were returned to rank k.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not. None: the returned list
        holds them all. To leave out what was not returned inflates the value.
    rel : float, optional
        The lowest grade that is relevant; None: any above 0.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named. Also where `judged` lacks grades that were returned.

    See Also
    --------
    precision
    Rankings.evaluate : the metric ``"recall@10"`` of any other form of input.

    Notes
    -----
    0 where nothing is relevant.

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


def average_precision(
    relevance: Any, *scores: Never, k: int | None = None, judged: Any = None, rel: float | None = None, mask: Any = None
) -> float | Floats:
    """The mean over relevant documents of the precision at their ranks to k; its mean over queries is MAP.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not. None: the returned list
        holds them all. To leave out what was not returned inflates the value.
    rel : float, optional
        The lowest grade that is relevant; None: any above 0.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named. Also where `judged` lacks grades that were returned.

    See Also
    --------
    precision
    Rankings.evaluate : the metric ``"ap@10"`` of any other form of input.

    Notes
    -----
    The sum of the precisions at the ranks of relevant documents, divided by R, how many are relevant; 0 where nothing
    is. Other divisors are the metrics ``"ap_capped"`` and ``"ap_hits"``.

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


def hit_rate(
    relevance: Any, *scores: Never, k: int | None = None, judged: Any = None, rel: float | None = None, mask: Any = None
) -> float | Floats:
    """1 where a relevant document was returned to rank k, else 0; its mean over queries is the hit rate.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists, for many.
    k : int, optional
        The cut-off; None: the whole list.
    judged : array_like, optional
        The grades of all judged documents, as the other functions take them; nothing here depends on them.
    rel : float, optional
        The lowest grade that is relevant; None: any above 0.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.

    Returns
    -------
    float, or ndarray of float64, shape (queries,)
        In [0, 1].

    Raises
    ------
    ValueError, TypeError
        The argument, the query and the position are named.

    See Also
    --------
    reciprocal_rank
    Rankings.evaluate : the metric ``"success@10"``, or ``"hit_rate@10"``, of any other form of input.

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


def _mean(values: float | Floats) -> float:
    return mean(np.atleast_1d(values))


def _of_lists(name: str, relevance: Any, judged: Any, settings: _Settings, mask: Any) -> float | Floats:
    """The metric of one list or of each of many, whatever holds them."""
    lists = RaggedArray.of(relevance, "judged" if name == "idcg" else "relevance").unmasked(mask)
    truth = None if judged is None else check_judged(judged, lists)
    if settings.kernel is None:
        out = _evaluated(name, lists, truth, settings)
    else:
        out = _filled("dcg" if name == "cg" else name, lists, truth, settings)
    return float(out[0]) if lists.single else out


def _filled(name: str, lists: RaggedArray, truth: RaggedArray | None, settings: _Settings) -> Floats:
    """The metric of each list, so many at once as are to be converted together."""
    longest = max(lists.longest, 0 if truth is None else truth.longest)
    kernel = settings.kernel
    if kernel is None or min(longest, settings.k) > settings.ranks:
        kernel = settings.make_kernel(longest)
    out = np.empty(len(lists))
    whole = lists.native and (truth is None or truth.native)
    step = max(1, len(lists) if whole else CHUNK // max(1, longest))
    for start in range(0, len(lists), step):
        stop = min(start + step, len(lists))
        grades = lists.ragged(start, stop)
        known = (None, None) if truth is None else truth.ragged(start, stop)
        chunk = LISTS, 0, stop - start, grades[0], grades[1], 0, None, *known, 0
        error_code = kernel.fill(name, chunk, out[start:stop])
        if error_code is not None:
            code, query, position, _ = error_code
            held = truth if code & IN_JUDGED and truth is not None else lists
            raise _refusal(InputError(code, start + query, position), held)
    return out


def _evaluated(name: str, lists: RaggedArray, truth: RaggedArray | None, settings: _Settings) -> Floats:
    """The same by the engine, for gains that a mapping or a callable gives, and discounts in a vector."""
    from rankgain.data.lists import ListSource
    from rankgain.data.rules import GIVEN
    from rankgain.metrics.metric import Metric
    from rankgain.metrics.program import fill, planned

    parameters: dict[str, Any] = {"gain": settings.gain}
    if name != "cg":
        parameters["discount"] = settings.discount
    if name == "ndcg":
        parameters |= {"ideal": settings.ideal, "empty": settings.empty}
    if name in ("cg", "dcg") or truth is not None:  # what lies beyond the cut-off is not looked at
        lists = lists.cut(settings.k)
    metric = Metric(name, settings.k, **parameters)
    source = ListSource(lists, None, truth, range(len(lists)), refuse=partial(_first_error, metric))
    out, _ = fill(planned((metric,)), source, GIVEN)
    values: Floats = out[0].copy()
    return values


def _of_relevant(name: str, relevance: Any, judged: Any, k: Any, rel: Any, mask: Any) -> float | Floats:
    """A metric of relevant documents, by the engine."""
    from rankgain.data.lists import ListSource
    from rankgain.data.rules import GIVEN
    from rankgain.metrics.program import fill, planned

    lists = RaggedArray.of(relevance, "relevance").unmasked(mask)
    truth = None if judged is None else check_judged(judged, lists)
    plan = planned((_metric_of_relevant(name, k, rel),))
    out, _ = fill(plan, ListSource(lists, None, truth, range(len(lists)), refuse=_refuse), GIVEN)
    if lists.single:
        return float(out[0, 0])
    values: Floats = out[0].copy()
    return values


def _metric_of_relevant(name: str, k: Any, rel: Any) -> Metric:
    """The metric, remembered as settings are."""
    key = name, k, rel, type(k), type(rel)
    try:
        return _kept_metrics[key]
    except Exception:  # not asked for yet, or nothing to remember by
        pass
    from rankgain.metrics.metric import Metric

    metric = Metric(name, k) if rel is None else Metric(name, k, rel=rel)
    if all(isinstance(part, _FIXED) for part in key):
        if len(_kept_metrics) >= MOST_SETTINGS:
            _kept_metrics.clear()
        _kept_metrics[key] = metric
    return metric


def _refuse(source: ListSource, query: int, held: RaggedArray, error: InputError) -> Exception:
    return _refusal(InputError(error.code, query, error.position, error.detail), held)


def _first_error(metric: Metric, source: ListSource, query: int, held: RaggedArray, error: InputError) -> Exception:
    """Of what is wrong with a query, a discount that is too short before any grade.

    And of grades the first that is no good in any way, be it one without a gain.
    """
    size, known = source.sizes_of(query)
    known = min(known, max(size, 1)) if metric.ideal == "returned" else known
    vector, needed = metric.discount.vector, max(min(ranks, metric.depth) for ranks in (size, known))
    if metric.discount.kind == VECTOR and needed > len(vector):
        needed = min(size, metric.depth) if min(size, metric.depth) > len(vector) else needed
        detail = f"discount holds {len(vector)} ranks, and {needed} are needed"
        return _refusal(InputError(SHORT_DISCOUNT, query, -1, detail), source.grades)
    if error.position > 0 and metric.gain.function is None:
        error_code = metric.gain.first_error(held.take(query, query + 1)[: error.position])
        error = error if error_code is None else InputError(error_code[0], query, *error_code[1:])
    return _refusal(error, held)


def _refusal(error: InputError, held: RaggedArray) -> Exception:
    return refusal(error.code, held.place(error.query, error.position), error.detail)
