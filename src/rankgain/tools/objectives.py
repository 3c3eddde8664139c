"""LambdaRank as an objective of LightGBM and XGBoost.

Neither of them is imported: what they hand over is known by its methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from rankgain.data.ragged import RaggedArray, flat_numbers
from rankgain.inputs.scores import beside_scores
from rankgain.metrics.metric import Metric
from rankgain.scalars import Array, Floats, Ints
from rankgain.tools.lambdarank import DEFAULT, NORMALIZATIONS, LambdaRank, Targets, check_weights

MOST_SETS = 8  # of training data, whose gains and ideals are kept: more than the folds of the usual cross-validation


def lightgbm_objective(
    metric: str | Metric = DEFAULT,
    *,
    sigma: float = 1.0,
    normalize: str | Sequence[str] | None = NORMALIZATIONS,
    discount: str = "full",
    ties: str = "stable",
    threads: int = 1,
) -> LightGBMObjective:
    """Make LambdaRank's objective for LightGBM: for ``train`` and ``cv`` (in their parameters) and for LGBMRanker.

    **The default gain is exponential**, and the other defaults are LightGBM's, too: its ``lambdarank`` with
    ``lambdarank_truncation_level=10`` gives almost the same model (its sigmoid comes from a table, and its sums are
    float32). Labels may be fractions and of any size, and groups longer than 10,000 documents. Weights, one for
    each document, multiply its gradient and hessian, as in LightGBM's own objective.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@10"
        As in `lambdarank`; the cut-off is LightGBM's ``lambdarank_truncation_level``.
    sigma : float, default 1.0
        The steepness of the sigmoid: LightGBM's ``sigmoid``.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        As in `lambdarank`. LightGBM's ``lambdarank_norm`` is both or neither.
    discount : {"full", "cut"}, default "full"
        As in `lambdarank`. LightGBM's is ``"full"``; ``"cut"`` is the true change of nDCG@k.
    ties : {"stable", "average"}, default "stable"
        As in `lambdarank`. LightGBM's is ``"stable"``, by which the first round depends on the order of the rows.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the results are the same bits with any number.

    Returns
    -------
    callable
        Called with (scores, Dataset), or with (labels, scores, weight, group), it returns gradient and hessian. It can
        be copied and pickled if the metric can.

    Raises
    ------
    ValueError
        If an option is unknown or out of its range. When it is called: if the data have no groups, if weights are not
        one per document, finite and not negative, or if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric.

    See Also
    --------
    lambdarank : The definition.
    lightgbm_metric : Metrics to watch while training.

    Notes
    -----
    LightGBM reads its sigmoid from a table, in which scores are up to 4.8e-5 / sigma closer than they are, and adds in
    float32. Its gradients differ from these by up to 2.5e-5 of their norm, over 50 rounds; with an exact sigmoid in its
    place, by less than 1e-6.

    What labels are worth is kept for up to 8 training sets, which are known again by their labels and groups.

    Examples
    --------
    >>> import rankgain as rg
    >>> objective = rg.lightgbm_objective("ndcg(gain=exponential)@10")

    It stands in ``lgb.train({"objective": objective, …}, data)`` or ``LGBMRanker(objective=objective)``, which calls
    it so:

    >>> gradient, hessian = objective([0, 1, 1, 0], [0.3, 0.1, 0.9, 0.9], None, [2, 2])
    >>> gradient.round(3).tolist()
    [0.776, -0.776, -0.227, 0.227]
    """
    return LightGBMObjective(metric, sigma, normalize, discount, ties, threads)


def xgboost_objective(
    metric: str | Metric = "ndcg(gain=exponential)@32",
    *,
    sigma: float = 1.0,
    normalize: str | Sequence[str] | None = NORMALIZATIONS,
    discount: str = "full",
    ties: str = "stable",
    threads: int = 1,
) -> XGBoostObjective:
    """Make LambdaRank's objective for XGBoost: the ``obj`` of ``xgboost.train`` and ``cv``.

    **The default gain is exponential**, and the other defaults are XGBoost's, too: they give the model of
    ``rank:ndcg``. As there, hessians are twice those of `lambdarank`, and the weights, one for each query, are
    divided by their mean. Labels may be fractions and of any size.

    Parameters
    ----------
    metric : str or Metric, default "ndcg(gain=exponential)@32"
        As in `lambdarank`; the cut-off is XGBoost's ``lambdarank_num_pair_per_sample`` with the pair method "topk",
        which is 32 by default. ``"pairwise@32"`` is its ``rank:pairwise``.
    sigma : float, default 1.0
        The steepness of the sigmoid. XGBoost's is always 1.
    normalize : sequence of {"score", "query"}, str or None, default ("score", "query")
        As in `lambdarank`: XGBoost's ``lambdarank_score_normalization`` and ``lambdarank_normalization``.
    discount : {"full", "cut"}, default "full"
        As in `lambdarank`. XGBoost's is ``"full"``; ``"cut"`` is the true change of nDCG@k.
    ties : {"stable", "average"}, default "stable"
        As in `lambdarank`. XGBoost's is ``"stable"``.
    threads : int, default 1
        How many threads may share the queries, from 1 to 256; the results are the same bits with any number.

    Returns
    -------
    callable
        Called with (scores, DMatrix), it returns gradient and hessian. It can be copied and pickled if the metric can.
        XGBRanker takes no objective from outside; use ``xgboost.train``.

    Raises
    ------
    ValueError
        If an option is unknown or out of its range. When it is called: if the DMatrix has no groups, if its weights
        are not one per query, finite and not negative, or if `lambdarank` would raise it.
    TypeError
        If `sigma` or `threads` is not a number, or `metric` is not a metric. When it is called: if it is not given a
        DMatrix.

    See Also
    --------
    lambdarank : The definition.
    xgboost_metric : Metrics to watch while training.

    Notes
    -----
    What labels are worth is kept for up to 8 training sets, which are known again by their labels and groups.

    Examples
    --------
    >>> import rankgain as rg
    >>> objective = rg.xgboost_objective("ndcg(gain=exponential)@10", normalize="query")

    It stands in ``xgb.train(parameters, data, obj=objective)``.

    >>> objective
    <XGBoostObjective: ndcg(gain=exponential)@10>
    """
    return XGBoostObjective(metric, sigma, normalize, discount, ties, threads)


class _Objective(LambdaRank):
    """Gradients round by round, of data sets whose targets are kept."""

    def __init__(self, *asked: Any) -> None:
        super().__init__(*asked)
        self._kept: tuple[tuple[Array, Targets], ...] = ()

    def of_set(self, y_true: Any, y_score: Any, group_sizes: Any) -> tuple[Floats, Floats]:
        given = flat_numbers(y_true, "y_true")
        labels, scores, _, _ = beside_scores(given, y_score, group_sizes, None)
        return self.gradients(self._targets_of(given, labels.offsets), scores)

    def _targets_of(self, labels: Array, offsets: Ints) -> Targets:
        for known, targets in self._kept:
            if np.array_equal(known, labels) and np.array_equal(targets.source.grades.offsets, offsets):
                return targets
        labels = labels.copy()  # the caller may write over them
        targets = self.targets(RaggedArray("y_true", offsets, values=labels))
        self._kept = ((labels, targets), *self._kept[: MOST_SETS - 1])
        return targets

    def __deepcopy__(self, memo: Any) -> Self:
        """Itself, as nothing that is asked changes: LightGBM copies its parameters, and would forget what is kept."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": ()}


class LightGBMObjective(_Objective):
    # LightGBM counts the parameters: an estimator hands over all four.
    def __call__(self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None) -> tuple[Floats, Floats]:
        """Called with (scores, Dataset) by `train`."""
        if hasattr(y_score, "get_group"):
            y_score, data = y_true, y_score
            y_true, weight, group = data.get_label(), data.get_weight(), data.get_group()
        if group is None:
            raise ValueError(
                "lightgbm_objective: the data set has no groups, so the documents of a query cannot be told: "
                "give them, lgb.Dataset(…, group=sizes), or group= of LGBMRanker.fit"
            )
        gradient, hessian = self.of_set(y_true, y_score, group)
        if weight is not None:
            weights = check_weights(weight, len(gradient), "weight")
            gradient *= weights
            hessian *= weights
        return gradient, hessian


class XGBoostObjective(_Objective):
    def __call__(self, y_score: Any, data: Any) -> tuple[Floats, Floats]:
        if not hasattr(data, "get_uint_info"):
            raise TypeError(
                "xgboost_objective: XGBoost's estimators hand over no groups: use xgb.train(…, obj=objective)"
            )
        bounds = data.get_uint_info("group_ptr")
        if len(bounds) < 2:
            raise ValueError(
                "xgboost_objective: the DMatrix has no groups, so the documents of a query cannot be told: give "
                "them, xgb.DMatrix(…, qid=ids) or DMatrix.set_group(sizes)"
            )
        sizes = np.diff(bounds.astype(np.int64))
        gradient, hessian = self.of_set(data.get_label(), y_score, sizes)
        hessian *= 2.0
        weight = data.get_weight()
        if len(weight):
            weights = check_weights(weight, len(sizes), "weight", "queries")
            if weights.any():
                weights = weights * (len(weights) / weights.sum())
            each = np.repeat(weights, sizes)
            gradient *= each
            hessian *= each
        return gradient, hessian
