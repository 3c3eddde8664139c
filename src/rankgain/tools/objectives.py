"""LambdaRank objectives for LightGBM and XGBoost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from rankgain.choices import LambdaDiscount, LambdaTies, Normalization
from rankgain.metrics.metric import Metric
from rankgain.scalars import Floats, to_intp
from rankgain.tools.boosters import check_lightgbm_parameters, check_no_dataset, of_lightgbm, of_xgboost
from rankgain.tools.lambdarank import DEFAULT_METRIC, NORMALIZATIONS, LambdaRank, flat_weights


def lightgbm_objective(
    metric: str | Metric = DEFAULT_METRIC,
    *,
    sigma: float = 1.0,
    normalize: Normalization | Sequence[Normalization] | None = NORMALIZATIONS,
    discount: LambdaDiscount = "full",
    ties: LambdaTies = "stable",
    threads: int = 1,
    partial_queries: bool = False,
) -> LightGBMObjective:
    """Create a LambdaRank objective for LightGBM's ``LGBMRanker``, ``train`` and ``cv``.

    **The default gain is exponential**, and the other defaults are LightGBM's: the built-in ``lambdarank``
    with ``lambdarank_truncation_level=10`` trains almost the same model (it tabulates the sigmoid and sums in
    float32). Labels may be large or fractional, and groups may exceed 10,000 documents. Weights, one
    per document, multiply gradient and hessian, as in LightGBM's built-in objective.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        As in `lambdarank`; the cut-off is LightGBM's ``lambdarank_truncation_level``.
    sigma : float, default 1.0
        The steepness of the sigmoid, like LightGBM's ``sigmoid``.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        As in `lambdarank`. LightGBM's ``lambdarank_norm`` applies both or neither.
    discount : {"full", "cut"}, default "full"
        As in `lambdarank`. LightGBM uses ``"full"``; ``"cut"`` is the true change in nDCG@k.
    ties : {"stable", "average"}, default "stable"
        As in `lambdarank`. LightGBM uses ``"stable"``, with which the first round depends on the row order.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the number does not change the results.
    partial_queries : bool, default False
        Whether to allow a subset of a Dataset that lacks some documents of its queries. By default, such a subset is an
        error: ``lightgbm.cv`` splits the rows in this way for all objectives except the built-in ones.

    Returns
    -------
    callable
        A function of (scores, Dataset) or (labels, scores, weight, group) that returns gradient and hessian. It can be
        copied and pickled if the metric can.

    Raises
    ------
    ValueError
        If an option is unknown or out of range. When called: if the data have no groups; if a subset of a Dataset
        splits queries and `partial_queries` is false; if the Dataset has ``position`` or ``bagging_by_query`` is true,
        which LightGBM does not support for callables; if weights are not one per document, finite and not negative; or
        if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric. When called, if the data set is XGBoost's
        DMatrix.

    Warns
    -----
    UserWarning
        If LightGBM's parameters include ``label_gain``, ``sigmoid``, ``lambdarank_truncation_level`` or
        ``lambdarank_norm``, which only the built-in objective reads. Use `metric`, `sigma` and `normalize` instead.

    See Also
    --------
    lambdarank : Compute the gradients directly.
    lightgbm_metric : Create metrics to watch while training.

    Notes
    -----
    LightGBM tabulates the sigmoid, which rounds score differences by up to 4.8e-5 / sigma, and sums in float32. Over 50
    rounds, the gradients differed by up to 2.5e-5 of the norm; with an exact sigmoid, by less than 1e-6.

    The gains and ideals are cached, as in `LambdaRank`.

    Examples
    --------
    >>> import rankgain as rg
    >>> objective = rg.lightgbm_objective("ndcg(gain=exponential)@10")

    Pass it as ``lgb.train({"objective": objective, …}, data)`` or ``LGBMRanker(objective=objective)``, which call it as
    below. ``lgb.cv`` also needs ``folds=GroupKFold(5)``, since it splits rows otherwise.

    >>> gradient, hessian = objective([0, 1, 1, 0], [0.3, 0.1, 0.9, 0.9], None, [2, 2])
    >>> gradient.round(3).tolist()
    [0.776, -0.776, -0.227, 0.227]
    """
    lambdarank = LambdaRank(metric, sigma=sigma, normalize=normalize, discount=discount, ties=ties, threads=threads)
    return LightGBMObjective(lambdarank, partial_queries)


def xgboost_objective(
    metric: str | Metric = "ndcg(gain=exponential)@32",
    *,
    sigma: float = 1.0,
    normalize: Normalization | Sequence[Normalization] | None = NORMALIZATIONS,
    discount: LambdaDiscount = "full",
    ties: LambdaTies = "stable",
    threads: int = 1,
) -> XGBoostObjective:
    """Create a LambdaRank objective for XGBoost's ``train`` and ``cv``.

    **The default gain is exponential**, and the other defaults are XGBoost's: they train the same model as
    ``rank:ndcg``. As in XGBoost, hessians are twice those of `lambdarank`, and the weights, one per query, are divided
    by their mean. Labels may be large or fractional.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@32"
        As in `lambdarank`. The cut-off is XGBoost's ``lambdarank_num_pair_per_sample`` for the pair method "topk",
        whose default is 32. ``"pairwise@32"`` corresponds to ``rank:pairwise``.
    sigma : float, default 1.0
        The steepness of the sigmoid, which is always 1 in XGBoost's own objectives.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        As in `lambdarank`. XGBoost's parameters are ``lambdarank_score_normalization`` and
        ``lambdarank_normalization``.
    discount : {"full", "cut"}, default "full"
        As in `lambdarank`. XGBoost uses ``"full"``; ``"cut"`` is the true change in nDCG@k.
    ties : {"stable", "average"}, default "stable"
        As in `lambdarank`. XGBoost uses ``"stable"``.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the number does not change the results.

    Returns
    -------
    callable
        A function of (scores, DMatrix) that returns gradient and hessian, to be passed as ``obj``. It can be copied and
        pickled if the metric can. XGBRanker does not accept custom objectives; use ``xgboost.train``.

    Raises
    ------
    ValueError
        If an option is unknown or out of range. When called: if the DMatrix has no groups, if its weights
        are not one per query, finite and not negative, or if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric. When called, if the data set is not a
        DMatrix.

    See Also
    --------
    lambdarank : Compute the gradients directly.
    xgboost_metric : Create metrics to watch while training.

    Notes
    -----
    The gains and ideals are cached, as in `LambdaRank`.

    Examples
    --------
    >>> import rankgain as rg
    >>> objective = rg.xgboost_objective("ndcg(gain=exponential)@10", normalize="query")

    Pass it as ``xgb.train(parameters, data, obj=objective)``.

    >>> objective
    <XGBoostObjective: ndcg(gain=exponential)@10>
    """
    return XGBoostObjective(
        LambdaRank(metric, sigma=sigma, normalize=normalize, discount=discount, ties=ties, threads=threads)
    )


class _Objective:
    def __init__(self, lambdarank: LambdaRank) -> None:
        self.lambdarank = lambdarank

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the object itself: LightGBM copies its parameters, and a copy would lose the cache."""
        return self

    def __repr__(self) -> str:
        return repr(self.lambdarank).replace(LambdaRank.__name__, type(self).__name__, 1)


class LightGBMObjective(_Objective):
    def __init__(self, lambdarank: LambdaRank, partial_queries: bool) -> None:
        super().__init__(lambdarank)
        self.partial_queries = partial_queries

    # LightGBM inspects the number of parameters. Its estimators pass all four arguments.
    def __call__(self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None) -> tuple[Floats, Floats]:
        """Return gradient and hessian; `lightgbm.train` passes (scores, Dataset)."""
        check_lightgbm_parameters("lightgbm_objective", y_score)
        labels, scores, weight, sizes = of_lightgbm(
            "lightgbm_objective", y_true, y_score, weight, group, self.partial_queries
        )
        return self.lambdarank(labels, scores, group_sizes=sizes, sample_weight=weight)


class XGBoostObjective(_Objective):
    def __call__(self, y_score: Any, data: Any) -> tuple[Floats, Floats]:
        check_no_dataset("xgboost_objective", data)
        if not hasattr(data, "get_uint_info"):
            raise TypeError("xgboost_objective: XGBoost's estimators pass no groups: use xgb.train(…, obj=objective)")
        sizes = of_xgboost("xgboost_objective", data)
        gradient, hessian = self.lambdarank(data.get_label(), y_score, group_sizes=sizes)
        hessian *= 2.0
        weight = data.get_weight()
        if len(weight):
            weights = flat_weights(weight, len(sizes), "weight", "queries")
            if weights.any():
                weights = weights * (len(weights) / weights.sum())
            document_weights = np.repeat(weights, to_intp(sizes))
            gradient *= document_weights
            hessian *= document_weights
        return gradient, hessian
