"""LambdaRank's gradients: how a ranking model's scores ought to move for nDCG to rise."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import SHORT_DISCOUNT, VECTOR
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, to_float64
from rankgain.data.rules import GIVEN
from rankgain.errors import InputError, refusal
from rankgain.inputs.scores import beside_scores
from rankgain.metrics.metric import Metric, parse
from rankgain.rankings import Rankings
from rankgain.scalars import Floats, Ints, real
from rankgain.threads import check_threads, run_chunks

DEFAULT = "ndcg(gain=exponential)@10"
NORMALIZATIONS = "score", "query"
LARGEST_SIGMA = 1e100
MOST_SETS = 64  # of labels whose gains and ideals are kept: more than the folds of a cross-validation


def lambdarank(
    y_true: Any,
    y_score: Any,
    *,
    group_sizes: Any = None,
    qid: Any = None,
    mask: Any = None,
    metric: str | Metric = DEFAULT,
    sigma: float = 1.0,
    normalize: str | Sequence[str] | None = NORMALIZATIONS,
    discount: str = "cut",
    ties: str = "stable",
    sample_weight: Any = None,
    threads: int = 1,
) -> tuple[Floats, Floats]:
    """Compute the gradient and hessian of LambdaRank for each document: what a trainer asks for in each round.

    **The default gain is exponential** (2^grade − 1), as in LightGBM, XGBoost and the papers; everywhere else in
    rankgain it is linear. Write ``metric="ndcg@10"`` for linear gains.

    Parameters
    ----------
    y_true : array_like
        Grades, finite and not negative, of any size and not necessarily whole.
    y_score : array_like
        The scores of the same documents. −inf leaves a document out (its gradient is 0, and it stands last); +inf and
        NaN are refused. float32 and float64 are used as they are.
    group_sizes, qid : array_like, optional
        For flat arrays the queries, as in `from_scores`: the number of documents of each, or the query of each
        document. By default, one query for 1-D arrays, and one per row for 2-D.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `y_score`: padding has no gradient, whatever its label
        and score. By default, every entry is a document.
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        An nDCG with any gain, discount and cut-off: ``"ndcg(gain=exponential)@10"``, `rankgain.metric` …; the
        discount must not rise with the rank. Or ``"pairwise@k"``: all pairs count the same (RankNet, and XGBoost's
        ``rank:pairwise``).
    sigma : float, default 1.0
        The steepness of the sigmoid, from 1e-100 to 1e100.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        ``"score"``: a pair counts less the further apart its scores are. ``"query"``: the gradients of a query are
        scaled down logarithmically. Both by default, as in LightGBM; None or ``()`` for neither.
    discount : {"cut", "full"}, default "cut"
        What ranks beyond the cut-off are worth. ``"cut"``: nothing, so that a pair counts what its swap changes in
        nDCG@k. ``"full"``: their discount all the same, as in LightGBM and XGBoost.
    ties : {"stable", "average"}, default "stable"
        Whether documents of equal score stand in input order, or share the mean discount of their ranks, so that the
        gradient does not depend on the order of the rows.
    sample_weight : array_like, optional
        One weight per document, in the shape of `y_score`, by which both results are multiplied; finite and not
        negative. By default, 1 each.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the results are the same bits with any number.

    Returns
    -------
    gradient, hessian : ndarray of float64
        In the shape and order of `y_score`; for lists of unequal length, flat and one after the other. The gradient is
        that of a loss, to be minimised: negative where a document ought to rise.

    Raises
    ------
    ValueError
        If shapes or lengths do not fit together; if an option is unknown or out of its range; if `metric` is no nDCG
        with one cut-off or its discount rises with the rank; if a grade is negative, infinite or NaN or has no gain,
        or a score is NaN or +inf (the message names the query and the position); or if an ideal is so small that one
        over it is infinite.
    TypeError
        If something is not an array or a number.

    See Also
    --------
    LambdaRank : The same for training loops, in which it is faster.
    lightgbm_objective, xgboost_objective : The same as an objective that trains.
    lightgbm_metric, xgboost_metric : Metrics to watch while training.

    Notes
    -----
    With ranks 1..n by falling score, over the pairs of ranks a < b, a ≤ k, whose gains differ, "hi" the document of
    the higher gain and "lo" the other one::

        Δ = |g_a − g_b| (d_a − d_b) / IDCG@k
        ρ = 1 / (1 + exp(σ (s_hi − s_lo)))
        gradient_hi −= σΔρ,  gradient_lo += σΔρ,  both hessians += σ²Δρ(1 − ρ)

    "score" divides Δ by ``0.01 + |s_a − s_b|``, unless all scores of the query are equal. "query" multiplies a query's
    results by log2(1 + Σ)/Σ, where Σ is twice the sum of all σΔρ. With ``ties="average"``, d is the mean discount of
    the tie group; inside a group of m it is the expected ``|d_x − d_y| = 2/(m(m − 1)) Σ_x (m + 1 − 2x) d_x``, and pairs
    go to the end of the group of rank k. A query of one document, of one grade only, or in which nothing is relevant,
    has zeros.

    Exponentials are computed by rankgain's own function (error below one unit in the last place), so that the compiled
    and the pure Python half return the same bits. CatBoost's rankers take no objective from outside.

    It is not a way to train on another metric: in our experiments with synthetic data, the changes of reciprocal rank
    and ERR did not beat that of nDCG even on their own metric, that of average precision hardly.

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
    asked = LambdaRank(metric, sigma=sigma, normalize=normalize, discount=discount, ties=ties, threads=threads)
    return asked(y_true, y_score, group_sizes=group_sizes, qid=qid, mask=mask, sample_weight=sample_weight)


class Targets(NamedTuple):
    """What the labels of a data set are worth: the same in every round."""

    gains: Floats
    inverses: Floats  # one over the ideal of each query, 0 where nothing is relevant


class LambdaRank:
    """The gradients of `lambdarank` for a training loop: it parses the metric once and keeps what labels are worth.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        As in `lambdarank`. **The default gain is exponential.**
    sigma, normalize, discount, ties, threads
        As in `lambdarank`, with its defaults.

    Raises
    ------
    ValueError
        If an option is unknown or out of its range, or if `metric` is no nDCG with one cut-off or its discount rises
        with the rank. When it is called, if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric. When it is called, if `lambdarank` would
        raise it.

    See Also
    --------
    lambdarank : The definition, and a call without an object.
    lightgbm_objective, xgboost_objective : The objectives of these libraries.

    Notes
    -----
    Call it with ``(y_true, y_score, group_sizes=…, qid=…, mask=…, sample_weight=…)``, as `lambdarank`. The gains and
    ideals of the last 64 sets of labels are kept, and found again by the labels and the sizes of the queries; a gain
    that is a callable is not called again for them. It can be pickled and copied if the metric can, without these sets.

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
        metric: str | Metric = DEFAULT,
        *,
        sigma: float = 1.0,
        normalize: str | Sequence[str] | None = NORMALIZATIONS,
        discount: str = "cut",
        ties: str = "stable",
        threads: int = 1,
    ) -> None:
        self.metric, self._pairwise = _metric_of(metric)
        self._ideal = Metric("idcg", self.metric.k, gain=self.metric.gain, discount=self.metric.discount)
        self.sigma = check_sigma(sigma)
        self.normalize = _normalizations(normalize)
        self.discount = check_choice(discount, "discount", ("cut", "full"))
        self.ties = check_choice(ties, "ties", ("stable", "average"))
        self.threads = check_threads(threads)
        self._kept: dict[tuple[str, bytes, bytes], Targets] = {}

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
        weight = None if sample_weight is None else check_weights(sample_weight, total, "sample_weight")
        if mask is not None:
            labels, scores = labels.unmasked(mask), scores.unmasked(mask)
        source = ListSource(labels, None, None, range(len(labels)) if names is None else names)
        gradient, hessian = (
            _placed(result, scores.order, total, weight).reshape(shape)
            for result in self._gradients(source, self._targets_of(source), scores)
        )
        return gradient, hessian

    def _targets_of(self, source: ListSource) -> Targets:
        """What the labels are worth, kept from an earlier round or computed."""
        values, offsets = source.grades.ragged(0, len(source.grades))
        key = values.dtype.char, values.tobytes(), offsets.tobytes()
        targets = self._kept.get(key)
        if targets is None:
            targets = self._targets(source)
            last = list(self._kept.items())[1 - MOST_SETS :]
            self._kept = dict(last) | {key: targets}  # a new dict: other threads may read the old one
        return targets

    def _targets(self, source: ListSource) -> Targets:
        """What the labels of each query are worth; refuses those that cannot be used."""
        labels, discount = source.grades, self.metric.discount
        ideals = Rankings(source, GIVEN).evaluate(self._ideal, threads=self.threads)[self._ideal]
        gains = self._gains(source)
        deepest = self._reach(labels)
        if discount.kind == VECTOR and len(discount.vector) < deepest:
            short = f"the discount has {len(discount.vector)} ranks, and {deepest} are needed"
            raise refusal(SHORT_DISCOUNT, "metric", short)
        if self._pairwise:
            return Targets(gains, np.ones(len(ideals)))
        with np.errstate(divide="ignore", over="ignore"):
            inverses = np.where(ideals > 0.0, 1.0 / ideals, 0.0)
        tiny = np.flatnonzero(np.isinf(inverses))
        if len(tiny):
            query = int(tiny[0])
            where = labels.place(query, name=source.query_name(query))
            raise ValueError(f"{where}: one over the ideal is not finite; use larger gains")
        return Targets(gains, inverses)

    def _reach(self, lists: RaggedArray) -> int:
        """How many ranks have a discount."""
        return lists.longest if self.discount == "full" else min(self.metric.depth, lists.longest)

    def _gains(self, source: ListSource) -> Floats:
        labels = source.grades
        try:
            return to_float64(self.metric.gain.of_grades(labels.take(0, len(labels))))
        except InputError as error:
            query = int(np.searchsorted(labels.offsets, error.position, "right")) - 1
            where = labels.place(query, error.position - int(labels.offsets[query]), source.query_name(query))
            raise refusal(error.code, where, error.detail) from None

    def _gradients(self, source: ListSource, targets: Targets, scores: RaggedArray) -> tuple[Floats, Floats]:
        """Gradient and hessian of all documents, query by query."""
        gradient, hessian = np.empty(scores.total), np.empty(scores.total)
        offsets = scores.offsets
        discount = self.metric.discount
        asked = (
            discount.table(self._reach(scores)),
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
            held, own = scores.ragged(start, stop)
            part = slice(int(offsets[start]), int(offsets[stop]))
            error_code = _backend.lambdas.fill(
                held.reshape(-1),
                own,
                targets.gains[part],
                targets.inverses[start:stop],
                *asked,
                gradient[part],
                hessian[part],
            )
            if error_code is not None:
                code, query, position = error_code
                name = source.query_name(start + query)
                raise refusal(code, scores.place(start + query, position, name))

        run_chunks(source.chunks(self.threads), work, self.threads)
        return gradient, hessian

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {f'pairwise@{self.metric.k}' if self._pairwise else self.metric}>"


def _placed(result: Floats, order: Ints | None, total: int, weight: Floats | None) -> Floats:
    """The results of documents where the caller has them, times their weights; 0 for padding."""
    if order is not None:
        result, compact = np.zeros(total), result
        result[order] = compact
    if weight is not None:
        result *= weight
    return result


def _metric_of(metric: Any) -> tuple[Metric, bool]:
    """The nDCG; of pairwise, that whose gains are the grades."""
    pairwise = re.fullmatch(r"(?i)\s*pairwise\s*(@.*)?", metric) if isinstance(metric, str) else None
    records = [record for _, record in parse("ndcg" + (pairwise[1] or "") if pairwise else metric)]
    if len(records) > 1 or records[0].name != "ndcg":
        raise ValueError(f"metric must be an nDCG with one cut-off, or 'pairwise@k', not {metric!r}")
    if not records[0].discount.non_increasing:
        raise ValueError("metric: the discount rises with the rank; it must not, for a swap would be worth less than 0")
    return records[0], pairwise is not None


def check_sigma(sigma: Any) -> float:
    value = None if isinstance(sigma, (bool, np.bool_)) else real(sigma, math.inf)
    if value is None:
        raise TypeError(f"sigma must be a number, not {type(sigma).__name__}")
    if not 1.0 / LARGEST_SIGMA <= value <= LARGEST_SIGMA:
        raise ValueError(f"sigma must be above 0 and finite, from 1e-100 to 1e100, not {value!r}")
    return value


def _normalizations(normalize: Any) -> tuple[str, ...]:
    asked = () if normalize is None else (normalize,) if isinstance(normalize, str) else normalize
    if not isinstance(asked, (tuple, list, set, frozenset)):
        raise TypeError(f"normalize must be 'score', 'query', a sequence of these, or None, not {normalize!r}")
    for each in asked:
        check_choice(each, "normalize", NORMALIZATIONS)
    return tuple(asked)


def check_choice(choice: Any, name: str, choices: tuple[str, ...]) -> str:
    if not isinstance(choice, str) or choice not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, not {choice!r}")
    return choice


def check_weights(weights: Any, count: int, name: str, unit: str = "documents") -> Floats:
    """One weight for each, finite and not negative."""
    lists = RaggedArray.of(weights, name)
    held = lists.take(0, len(lists))
    if len(held) != count:
        raise ValueError(f"{name} has {len(held)} weights, and there are {count} {unit}")
    bad = np.flatnonzero(~(np.isfinite(held) & (held >= 0.0)))
    if len(bad):
        position = int(bad[0])
        raise ValueError(f"{name}: position {position}: {held[position]!r}; weights must be finite and not negative")
    return held
