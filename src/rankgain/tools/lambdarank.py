"""LambdaRank's gradients: how the scores of a ranking model should change to increase nDCG."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from rankgain import _backend
from rankgain._codes import SHORT_DISCOUNT, VECTOR
from rankgain.choices import LambdaDiscount, LambdaTies, Normalization, check_choice
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, to_float64, unmasked
from rankgain.data.rules import GIVEN
from rankgain.errors import InputError, refusal
from rankgain.inputs.scores import beside_scores
from rankgain.metrics.metric import Metric, parse
from rankgain.rankings import Rankings
from rankgain.scalars import Floats, Ints, real
from rankgain.threads import check_threads, run_chunks

DEFAULT_METRIC = "ndcg(gain=exponential)@10"
NORMALIZATIONS: tuple[Normalization, ...] = get_args(Normalization)
LARGEST_SIGMA = 1e100
MOST_SETS = 64  # maximum number of cached sets of labels; a cross-validation has fewer folds
MANY_LABELS = 10_000  # up to this number of labels, copying and hashing them is faster than comparing arrays


def lambdarank(
    y_true: Any,
    y_score: Any,
    *,
    group_sizes: Any = None,
    qid: Any = None,
    mask: Any = None,
    metric: str | Metric = DEFAULT_METRIC,
    sigma: float = 1.0,
    normalize: Normalization | Sequence[Normalization] | None = NORMALIZATIONS,
    discount: LambdaDiscount = "cut",
    ties: LambdaTies = "stable",
    sample_weight: Any = None,
    threads: int = 1,
) -> tuple[Floats, Floats]:
    """Compute the LambdaRank gradient and hessian for each document.

    **The default gain is exponential** (2^grade − 1), as in LightGBM, XGBoost and the papers; everywhere else in
    rankgain it is linear. Write ``metric="ndcg@10"`` for linear gains.

    Parameters
    ----------
    y_true : array_like
        Grades, finite and not negative; large and fractional grades are allowed.
    y_score : array_like
        The scores of the same documents. −inf leaves a document out (its gradient is 0, and it ranks last); +inf and
        NaN are errors. float32 and float64 are used without a copy.
    group_sizes, qid : array_like, optional
        The queries of flat arrays, as in `from_scores`: the number of documents in each query, or the query of each
        document. By default, a 1-D array is one query, and each row of a 2-D array is a query.
    mask : array_like of bool, optional
        True for documents, False for padding, with the shape of `y_score`. The gradient of padding is 0, whatever its
        label and score. By default, every entry is a document.
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        An nDCG with any gain and cut-off, such as ``"ndcg(gain=exponential)@10"`` or a `rankgain.metric`; its discount
        must not rise with the rank. With ``"pairwise@k"``, all pairs have the same weight, as in RankNet and XGBoost's
        ``rank:pairwise``.
    sigma : float, default 1.0
        The steepness of the sigmoid, from 1e-100 to 1e100.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        With ``"score"``, the weight of a pair decreases with the difference of the scores. With ``"query"``, the
        gradients of a query are scaled down logarithmically. Both apply by default, as in LightGBM; neither applies
        with None or ``()``.
    discount : {"cut", "full"}, default "cut"
        The discount of ranks beyond the cut-off. With ``"cut"`` it is 0, and the weight of a pair is the change in
        nDCG@k if the two documents are swapped. With ``"full"`` it is the same as without a cut-off, as in LightGBM and
        XGBoost.
    ties : {"stable", "average"}, default "stable"
        With ``"stable"``, documents of equal score are in input order. With ``"average"``, they share the mean discount
        of their ranks, so that the gradient does not depend on the row order.
    sample_weight : array_like, optional
        One weight per document, with the shape of `y_score`, finite and not negative. Both results are multiplied by
        the weights. By default, all weights are 1.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the number does not change the results.

    Returns
    -------
    gradient, hessian : ndarray of float64
        Arrays with the shape and order of `y_score`; for lists of unequal length, they are concatenated. The gradient
        is that of a loss to be minimised: it is negative if the score of the document should rise.

    Raises
    ------
    ValueError
        If shapes or lengths do not match; if an option is unknown or out of range; if `metric` is not an nDCG with one
        cut-off or its discount rises with the rank; if a grade is negative, infinite or NaN or has no gain,
        or a score is NaN or +inf (the message names the query and the position); or if the reciprocal of an
        ideal is infinite.
    TypeError
        If an argument is not an array or a number, as required.

    See Also
    --------
    LambdaRank : Compute the same gradients faster in training loops.
    lightgbm_objective, xgboost_objective : Create an objective from these gradients.
    lightgbm_metric, xgboost_metric : Create metrics to watch while training.

    Notes
    -----
    Documents have the ranks 1..n by descending score. The sums are over all pairs of ranks a < b with a ≤ k whose gains
    differ; "hi" is the document with the higher gain, and "lo" is the other one::

        Δ = |g_a − g_b| (d_a − d_b) / IDCG@k
        ρ = 1 / (1 + exp(σ (s_hi − s_lo)))
        gradient_hi −= σΔρ,  gradient_lo += σΔρ,  both hessians += σ²Δρ(1 − ρ)

    "score" divides Δ by ``0.01 + |s_a − s_b|``, unless all scores of the query are equal. "query" multiplies a query's
    results by log2(1 + Σ)/Σ, where Σ is twice the sum of all σΔρ. With ``ties="average"``, d is the mean discount of
    the tie group. For two documents of the same group of m documents, the difference of the discounts is the expected
    ``|d_x − d_y| = 2/(m(m − 1)) Σ_x (m + 1 − 2x) d_x``. Pairs are formed down to the end of the group that contains
    rank k. A query with one document, with equal grades, or with no relevant document has zeros.

    Exponentials are computed by rankgain's own function (error below one unit in the last place), so that the compiled
    and the pure Python backend return the same bits. CatBoost's rankers do not accept custom objectives.

    Only nDCG is optimised. In experiments on synthetic data, gradients from the change in reciprocal rank or ERR did
    not beat those from nDCG, even when measured by the same metric, and those from average precision hardly did.

    References
    ----------
    Burges, From RankNet to LambdaRank to LambdaMART: an overview, MSR-TR-2010-82.

    Examples
    --------
    >>> import rankgain as rg
    >>> gradient, hessian = rg.lambdarank([0, 1, 2, 0], [0.3, 0.1, 0.2, 0.9])
    >>> gradient.round(3).tolist()
    [0.462, -0.079, -0.749, 0.365]
    >>> bool(abs(gradient.sum()) < 1e-15)
    True
    """
    gradients = LambdaRank(metric, sigma=sigma, normalize=normalize, discount=discount, ties=ties, threads=threads)
    return gradients(y_true, y_score, group_sizes=group_sizes, qid=qid, mask=mask, sample_weight=sample_weight)


class Targets(NamedTuple):
    """The gains and inverse ideals computed from a set of labels, which are the same in every round of training."""

    gains: Floats
    inverses: Floats  # the reciprocal of each query's ideal DCG; 0 if no document is relevant


class LambdaRank:
    """A faster `lambdarank` for training loops, which parses the metric once and caches gains and ideals.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        As in `lambdarank`. **The default gain is exponential.**
    sigma, normalize, discount, ties, threads
        As in `lambdarank`, with the same defaults.

    Raises
    ------
    ValueError
        If an option is unknown or out of range, or if `metric` is not an nDCG with one cut-off or its discount rises
        with the rank. When called, if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric. When called, if `lambdarank` would raise
        it.

    See Also
    --------
    lambdarank : Compute the gradients once; its notes define them.
    lightgbm_objective, xgboost_objective : Create an objective for one of these libraries.

    Notes
    -----
    Call the object with ``(y_true, y_score, group_sizes=…, qid=…, mask=…, sample_weight=…)``, like `lambdarank`. The
    gains and ideals of the last 64 sets of labels are cached by labels and query sizes; a callable gain is not called
    again for cached labels. The object can be pickled and copied if its metric can; the cache is not copied.

    Examples
    --------
    >>> import rankgain as rg
    >>> gradients = rg.LambdaRank("ndcg@10", ties="average")
    >>> gradient, hessian = gradients([[2, 0, -100]], [[0.1, 0.2, 0.0]], mask=[[True, True, False]])
    >>> gradient.round(3).tolist()
    [[-1.089, 1.089, 0.0]]
    """

    __module__ = "rankgain"

    def __init__(
        self,
        metric: str | Metric = DEFAULT_METRIC,
        *,
        sigma: float = 1.0,
        normalize: Normalization | Sequence[Normalization] | None = NORMALIZATIONS,
        discount: LambdaDiscount = "cut",
        ties: LambdaTies = "stable",
        threads: int = 1,
    ) -> None:
        self.metric, self._pairwise = _metric_of(metric)
        self._ideal = Metric("idcg", self.metric.k, gain=self.metric.gain, discount=self.metric.discount)
        self.sigma = check_sigma(sigma)
        self.normalize = _normalizations(normalize)
        self.discount = check_choice(discount, "discount", get_args(LambdaDiscount))
        self.ties = check_choice(ties, "ties", get_args(LambdaTies))
        self.threads = check_threads(threads)
        self._cached: dict[tuple[str, bytes, bytes], Targets] = {}

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        group_sizes: Any = None,
        qid: Any = None,
        mask: Any = None,
        sample_weight: Any = None,
    ) -> tuple[Floats, Floats]:
        """Compute the gradient and hessian of each document, as `lambdarank` does."""
        labels, scores, names = beside_scores(y_true, y_score, group_sizes, qid)
        total, shape = scores.total, (scores.count, scores.columns) if scores.columns and not scores.single else -1
        weight = None if sample_weight is None else flat_weights(sample_weight, total, "sample_weight")
        labels, scores = unmasked(mask, labels, scores)
        source = ListSource(labels, None, None, range(len(labels)) if names is None else names)
        gradient, hessian = (
            _in_input_order(result, scores.elements, total, weight).reshape(shape)
            for result in self._gradients(source, self._targets_of(source), scores)
        )
        return gradient, hessian

    def _targets_of(self, source: ListSource) -> Targets:
        """Return the gains and inverse ideals from the cache, or compute them."""
        values, offsets = source.grades.ragged(0, len(source.grades))
        cached = self._cached
        if cached and len(values) > MANY_LABELS:  # compare with the latest labels first
            (kind, last_values, last_offsets), targets_of_last = next(reversed(cached.items()))
            last = np.frombuffer(last_values, kind), np.frombuffer(last_offsets, offsets.dtype)
            if all(map(np.array_equal, last, (values, offsets))):
                return targets_of_last
        key = values.dtype.char, values.tobytes(), offsets.tobytes()
        targets = cached.get(key)
        if targets is None:
            targets = self._targets(source)
            recent = list(cached.items())[1 - MOST_SETS :]
            self._cached = dict(recent) | {key: targets}  # do not change the old dict, which other threads may read
        return targets

    def _targets(self, source: ListSource) -> Targets:
        """Compute the gains and the inverse ideal of each query; raise an error for invalid labels."""
        labels, discount = source.grades, self.metric.discount
        ideals = Rankings(source, GIVEN).evaluate(self._ideal, threads=self.threads)[self._ideal]
        gains = self._gains(source)
        ranks = self._discounted_ranks(labels)
        if discount.kind == VECTOR and len(discount.vector) < ranks:
            raise refusal(SHORT_DISCOUNT, "metric", discount.too_short(ranks))
        if self._pairwise:
            return Targets(gains, np.ones(len(ideals)))
        with np.errstate(divide="ignore", over="ignore"):
            inverses = np.where(ideals > 0.0, 1.0 / ideals, 0.0)
        tiny = np.flatnonzero(np.isinf(inverses))
        if len(tiny):
            query = int(tiny[0])
            where = labels.describe(query, name=source.query_name(query))
            raise ValueError(f"{where}: the reciprocal of the ideal is not finite; use larger gains")
        return Targets(gains, inverses)

    def _discounted_ranks(self, lists: RaggedArray) -> int:
        """Return the number of ranks whose discount is needed."""
        return lists.longest if self.discount == "full" else min(self.metric.depth, lists.longest)

    def _gains(self, source: ListSource) -> Floats:
        labels = source.grades
        try:
            return to_float64(self.metric.gain.apply(labels.take(0, len(labels))))
        except InputError as error:
            query = int(np.searchsorted(labels.offsets, error.position, "right")) - 1
            where = labels.describe(query, error.position - int(labels.offsets[query]), source.query_name(query))
            raise refusal(error.code, where, error.detail) from None

    def _gradients(self, source: ListSource, targets: Targets, scores: RaggedArray) -> tuple[Floats, Floats]:
        """Compute the gradient and hessian of all documents, ordered by query."""
        gradient, hessian = np.empty(scores.total), np.empty(scores.total)
        offsets = scores.offsets
        discount = self.metric.discount
        options = (
            discount.table(self._discounted_ranks(scores)),
            discount.kind,
            discount.base,
            self.metric.depth,
            self.sigma,
            self.discount == "full",
            self._pairwise,
            self.ties == "average",
            "score" in self.normalize,
            "query" in self.normalize,
        )

        def work(start: int, stop: int) -> None:
            values, chunk_offsets = scores.ragged(start, stop)
            part = slice(int(offsets[start]), int(offsets[stop]))
            error_code = _backend.lambdas.fill_gradients(
                values.reshape(-1),
                chunk_offsets,
                targets.gains[part],
                targets.inverses[start:stop],
                *options,
                gradient[part],
                hessian[part],
            )
            if error_code is not None:
                code, query, position = error_code
                name = source.query_name(start + query)
                raise refusal(code, scores.describe(start + query, position, name))

        run_chunks(source.chunks(self.threads), work, self.threads)
        return gradient, hessian

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cached": {}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {f'pairwise@{self.metric.k}' if self._pairwise else self.metric}>"


def _in_input_order(result: Floats, order: Ints | None, total: int, weight: Floats | None) -> Floats:
    """Put results in the caller's order, with 0 for padding, and multiply them by the weights."""
    if order is not None:
        result, compact = np.zeros(total), result
        result[order] = compact
    if weight is not None:
        result *= weight
    return result


def _metric_of(metric: Any) -> tuple[Metric, bool]:
    """Return the nDCG metric and whether "pairwise@k" was requested, for which the gains are the grades."""
    pairwise = re.fullmatch(r"(?i)\s*pairwise\s*(@.*)?", metric) if isinstance(metric, str) else None
    records = [record for _, record in parse("ndcg" + (pairwise[1] or "") if pairwise else metric)]
    if len(records) > 1 or records[0].name != "ndcg":
        raise ValueError(f"metric must be an nDCG with one cut-off, or 'pairwise@k', not {metric!r}")
    if not records[0].discount.non_increasing:
        raise ValueError("metric: the discount must not rise with the rank, or a swap would have a negative weight")
    return records[0], pairwise is not None


def check_sigma(sigma: Any) -> float:
    value = None if isinstance(sigma, (bool, np.bool_)) else real(sigma, math.inf)
    if value is None:
        raise TypeError(f"sigma must be a number, not {type(sigma).__name__}")
    if not 1.0 / LARGEST_SIGMA <= value <= LARGEST_SIGMA:
        raise ValueError(f"sigma must be above 0 and finite, from 1e-100 to 1e100, not {value!r}")
    return value


def _normalizations(normalize: Any) -> tuple[str, ...]:
    names = () if normalize is None else (normalize,) if isinstance(normalize, str) else normalize
    if not isinstance(names, (tuple, list, set, frozenset)):
        raise TypeError(f"normalize must be 'score', 'query', a sequence of these, or None, not {normalize!r}")
    for name in names:
        check_choice(name, "normalize", NORMALIZATIONS)
    return tuple(names)


def flat_weights(weights: Any, count: int, name: str, unit: str = "documents") -> Floats:
    """Return weights as a flat array; raise an error unless there are `count` finite weights that are not negative."""
    lists = RaggedArray.of(weights, name)
    values = lists.take(0, len(lists))
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} weights, and there are {count} {unit}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if len(bad):
        position = int(bad[0])
        raise ValueError(f"{name}: position {position}: {values[position]}; weights must be finite and not negative")
    return values
