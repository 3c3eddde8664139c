"""Metrics that LightGBM, XGBoost and CatBoost compute after each round of training.

None of these libraries is imported; their data sets are recognised by their methods.
"""

from __future__ import annotations

import math
import re
from typing import Any, Self

import numpy as np

from rankgain.choices import ScoreTies
from rankgain.data.ragged import flat_numbers, offsets_of, to_float64
from rankgain.data.rules import check_ties
from rankgain.inputs.scores import rankings_of_scores
from rankgain.metrics.metric import Metric, better, parse_quality, refuse_by_subtopic
from rankgain.metrics.table import TABLE
from rankgain.rankings import sizes_of
from rankgain.scalars import Array, Floats, Ints, real, to_intp
from rankgain.threads import check_threads
from rankgain.tools.boosters import check_no_dataset, of_lightgbm, of_xgboost

# A suffix distinguishes our metrics from built-in metrics of the same name. It cannot be a prefix, since XGBoost
# decides by the beginning of the name whether higher values are better.
SUFFIX = "_rankgain"


def lightgbm_metric(
    *metrics: str | Metric, ties: ScoreTies = "average", threads: int = 1, partial_queries: bool = False
) -> LightGBMMetric:
    """Create metrics that LightGBM computes after each round of training.

    Parameters
    ----------
    *metrics : str or Metric
        What to compute, as in `Rankings.evaluate`: ``"ndcg@10"``, ``"ndcg(gain=exponential)@10"``, ``"mrr"``,
        `rankgain.metric` … In the logs, names end in ``_rankgain``, since LightGBM has a built-in ``ndcg@10``.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score, as in `from_scores`. Under LightGBM's rule, "stable", a constant
        model gets the value of the file order.
    threads : int, default 1
        How many threads may share the queries, as in `Rankings.evaluate`.
    partial_queries : bool, default False
        Whether to allow a subset of a Dataset that lacks some documents of its queries. By default, such a subset is an
        error: ``lightgbm.cv`` splits the rows in this way unless the objective is a built-in one for ranking.

    Returns
    -------
    callable
        A function for the parameter `feval` of ``train`` and ``cv`` or the parameter `eval_metric` of estimators. It
        can be copied and pickled if the metrics can.

    Raises
    ------
    ValueError
        If there is no metric, one is unknown, or two would have the same name in the logs; if `ties` is unknown; or if
        `threads` is out of range. When called, if the data set has no groups, if a subset of a Dataset splits queries
        and `partial_queries` is false, or if `from_scores` or `Rankings.evaluate` would raise it.
    TypeError
        If a metric does not take a parameter that is given, or `threads` is not an integer. When called, if the
        data set is XGBoost's DMatrix, or if `from_scores` or `Rankings.evaluate` would raise it.

    See Also
    --------
    xgboost_metric, catboost_metric : Create metrics for other libraries.

    Notes
    -----
    The queries are the groups of each data set. The weight of a query is the mean weight of its documents, as in
    LightGBM's built-in metrics.

    Examples
    --------
    >>> import rankgain as rg
    >>> metric = rg.lightgbm_metric("ndcg@2", "mrr")

    Pass it as ``lgb.train(…, feval=metric)`` or ``LGBMRanker().fit(…, eval_metric=metric)``, which call it like this:

    >>> metric([0, 1, 1, 0], [0.3, 0.1, 0.9, 0.9], None, [2, 2])
    [('ndcg@2_rankgain', 0.7231973151785931, True), ('mrr_rankgain', 0.625, True)]
    """
    return LightGBMMetric(metrics, ties, threads, partial_queries)


def xgboost_metric(
    *metrics: str | Metric, ties: ScoreTies = "average", threads: int = 1, per_query: bool = False
) -> XGBoostMetric:
    """Create metrics that XGBoost computes after each round of training.

    Parameters
    ----------
    *metrics : str or Metric
        What to compute, as in `Rankings.evaluate`. In the logs, names end in ``_rankgain`` and contain no spaces or
        colons, which XGBoost would misread.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score, as in `from_scores`; XGBoost's rule is "stable".
    threads : int, default 1
        How many threads may share the queries, as in `Rankings.evaluate`.
    per_query : bool, default False
        Whether the metric is for ``XGBRanker(eval_metric=…)``, which calls a single metric once per query; see Notes.

    Returns
    -------
    callable
        A function for the parameter `custom_metric` of ``train`` and ``cv``. It can be copied and pickled if the
        metrics can. Pass its attribute `maximize` as XGBoost's parameter of the same name: otherwise, early stopping
        minimises a metric whose name does not begin with ndcg, map, pre or auc.

    Raises
    ------
    ValueError
        If there is no metric, one is unknown, or two would have the same name in the logs; if `per_query` is true and
        there is more than one; if `ties` is unknown; or if `threads` is out of range. When called, if the DMatrix has
        no groups, or if `from_scores` or `Rankings.evaluate` would raise it.
    TypeError
        If a metric does not take a parameter that is given, or `threads` is not an integer. When called, if an
        estimator calls it and `per_query` is false, or if `from_scores` or `Rankings.evaluate` would raise it.

    See Also
    --------
    lightgbm_metric, catboost_metric : Create metrics for other libraries.

    Notes
    -----
    The queries are the groups of each DMatrix, and the weights are those of the DMatrix, one per query. If there is one
    weight per document, as for objectives other than ranking, the weight of a query is the mean over its documents.

    With `per_query`, XGBoost itself computes the logged number. It counts each query with one document as 1, ignores
    weights, and **averages by number of documents**, so that the result is the mean over queries only if all queries
    have equally many documents. This is also slow: about 0.2 ms per query. Prefer ``train``. Early stopping of
    XGBRanker minimises a metric whose name does not begin with ndcg, map, pre or auc; therefore, pass
    ``callbacks=[xgboost.callback.EarlyStopping(rounds, maximize=True)]``.

    Examples
    --------
    >>> import rankgain as rg
    >>> metric = rg.xgboost_metric("ndcg@2", "mrr")

    Pass it as ``xgb.train(…, custom_metric=metric, maximize=metric.maximize)``.

    >>> metric.maximize
    True
    >>> rg.xgboost_metric("mrr", per_query=True)([0, 1, 1], [0.3, 0.1, 0.2])
    0.5
    """
    return XGBoostMetric(metrics, ties, threads, per_query)


def catboost_metric(
    metric: str | Metric, *sets: Any, ties: ScoreTies = "average", threads: int = 1, otherwise: float | None = None
) -> CatBoostMetric:
    """Create a metric that CatBoost computes after each round of training.

    Parameters
    ----------
    metric : str or Metric
        What to compute, as in `Rankings.evaluate`. It must be a single metric, since CatBoost accepts only one. In the
        logs, the name ends in ``_rankgain``.
    *sets : catboost.Pool, or pair of array_like
        The training set and each evaluation set: a Pool with group_id, or a pair (labels, group_sizes) in the order of
        the queries.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score, as in `from_scores`; CatBoost's rule is "worst".
    threads : int, default 1
        How many threads may share the queries, as in `Rankings.evaluate`.
    otherwise : float, optional
        The value that is logged for a set that CatBoost has shuffled. By default, such a set is an error. The value
        must be finite, since CatBoost cannot log NaN.

    Returns
    -------
    object
        An object for the parameter `eval_metric`, with the methods that CatBoost calls. It can be copied and pickled if
        the metric can.

    Raises
    ------
    ValueError
        If the metric is unknown or has several cut-offs; if there are no sets, a Pool has no groups, group sizes do not
        add up to the labels, or two sets have the same labels but different groups; if `otherwise` is not finite; if
        `ties` is unknown; or if `threads` is out of range. When called, if CatBoost has shuffled the set, or if no
        set with these labels was given, or if `from_scores` or `Rankings.evaluate` would raise it.
    TypeError
        If the metric does not take a parameter that is given, a set is neither a Pool nor a pair, or `threads` is not
        an integer. When called, if `from_scores` or `Rankings.evaluate` would raise it.

    See Also
    --------
    lightgbm_metric, xgboost_metric : Create metrics for other libraries.

    Notes
    -----
    CatBoost passes scores, labels and weights to a metric, but no groups. The groups must therefore be given here, and
    a set is recognised by its labels. CatBoost shuffles the training set if it has categorical features or if boosting
    is ordered. The queries are then unknown, and training ends with an error that names two remedies:
    ``has_time=True``, which keeps the order, and `otherwise`. Evaluation sets are never shuffled.

    The weight of a query is the mean weight of its documents; with ``group_weight`` this is also CatBoost's rule.

    Examples
    --------
    >>> import numpy as np
    >>> import rankgain as rg
    >>> metric = rg.catboost_metric("ndcg@2", ([0, 1, 2, 0], [2, 2]), ([1, 0], [2]))

    Pass it as ``CatBoostRanker(eval_metric=metric)``, which calls it like this:

    >>> metric.evaluate([np.array([0.3, 0.1, 0.9, 0.1])], np.array([0, 1, 2, 0]), None)
    (0.8154648767857288, 1.0)
    """
    return _named(CatBoostMetric(metric, sets, ties, threads, otherwise).__dict__)


class _Metrics:
    """Base class of the metrics for all three libraries, with the names that are logged."""

    def __init__(self, metrics: tuple[str | Metric, ...], ties: ScoreTies, threads: int) -> None:
        refuse_by_subtopic(metrics, "a callback of training")
        self.metrics = dict(pair for metric in metrics for pair in parse_quality(metric))
        self.names = [re.sub(r"\s", "", str(key)).replace(":", "=") + SUFFIX for key in self.metrics]
        self.ties = check_ties(ties, ids=False)
        self.threads = check_threads(threads)
        if not self.names:
            raise ValueError(f"no metric was requested; there are: {', '.join(TABLE)}")
        if len(set(self.names)) < len(self.names):
            repeated = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(f"two metrics would both be logged as {repeated!r}: choose one of them")

    @property
    def maximize(self) -> bool:
        """Whether higher values are better for the last metric, which early stopping uses."""
        return better(list(self.metrics.values())[-1]) >= 0

    def values(self, y_true: Any, y_score: Any, group_sizes: Any, weights: Any) -> list[float]:
        """Compute one number per metric. `weights` has one weight per document, or is None or empty."""
        rankings = rankings_of_scores(y_true, y_score, group_sizes, ties=self.ties)
        result = rankings.evaluate(*self.metrics, threads=self.threads)
        return list(result.aggregate(weights=self.query_weights(weights, sizes_of(rankings))).values())

    def query_weights(self, weights: Any, sizes: Ints) -> Floats | None:
        """Return the weight of each query, which is the mean weight of its documents, or None without weights."""
        if weights is None or not len(weights):
            return None
        weights = to_float64(flat_numbers(weights, "weight"))
        if len(weights) != sizes.sum():
            raise ValueError(f"there are {len(weights)} weights for {len(sizes)} queries of {sizes.sum()} documents")
        nonempty = sizes > 0
        means = np.zeros(len(sizes))
        means[nonempty] = np.add.reduceat(weights, to_intp(offsets_of(sizes)[:-1][nonempty])) / sizes[nonempty]
        return means

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the object itself, as scikit-learn's `clone` requires for CatBoost's estimators."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(map(str, self.metrics))}, ties={self.ties!r}>"


class LightGBMMetric(_Metrics):
    def __init__(self, metrics: tuple[str | Metric, ...], ties: ScoreTies, threads: int, partial_queries: bool) -> None:
        super().__init__(metrics, ties, threads)
        self.partial_queries = partial_queries

    # LightGBM inspects the number of parameters. Its estimators pass all four arguments.
    def __call__(
        self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Return (name, value, higher is better) for each metric; `lightgbm.train` passes (scores, Dataset)."""
        labels, scores, weight, sizes = of_lightgbm(
            "lightgbm_metric", y_true, y_score, weight, group, self.partial_queries
        )
        values = self.values(labels, scores, sizes, weight)
        return [
            (name, value, better(metric) >= 0)
            for name, value, metric in zip(self.names, values, self.metrics.values(), strict=True)
        ]


class XGBoostMetric(_Metrics):
    def __init__(self, metrics: tuple[str | Metric, ...], ties: ScoreTies, threads: int, per_query: bool) -> None:
        super().__init__(metrics, ties, threads)
        if per_query and len(self.names) > 1:
            raise ValueError(f"per_query=True is for XGBRanker, which takes one metric, not {len(self.names)}")
        self.per_query = per_query
        self.__name__ = self.names[-1]  # the name that XGBRanker logs

    def __call__(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> list[tuple[str, float]] | float:
        """Return (name, value) for each metric, or a single value; `xgboost.train` passes (scores, DMatrix)."""
        check_no_dataset("xgboost_metric", y_score)
        if hasattr(y_score, "get_uint_info"):
            sizes = of_xgboost("xgboost_metric", y_score)
            values = self.values(y_score.get_label(), y_true, sizes, y_score.get_weight())
            return list(zip(self.names, values, strict=True))
        if not self.per_query or sample_weight is not None:
            raise TypeError(
                "xgboost_metric: XGBoost's estimators pass no groups: use xgb.train(…, custom_metric=…), or, for "
                "XGBRanker only, rankgain.xgboost_metric(…, per_query=True): see its docstring"
            )
        return self.values(y_true, y_score, [len(y_score)], ())[0]

    def query_weights(self, weights: Any, sizes: Ints) -> Floats | None:
        return to_float64(weights) if len(weights) == len(sizes) else super().query_weights(weights, sizes)


class CatBoostMetric(_Metrics):
    no_jit = True  # otherwise, CatBoost tries to compile the methods with Numba, and warns if that fails

    def __init__(
        self, metric: str | Metric, sets: tuple[Any, ...], ties: ScoreTies, threads: int, otherwise: float | None
    ) -> None:
        super().__init__((metric,), ties, threads)
        if len(self.names) > 1:
            raise ValueError(f"CatBoost takes one metric, but {metric!r} stands for {len(self.names)}")
        if not sets:
            raise ValueError(
                "catboost_metric: CatBoost passes no groups: pass each set, including the training set, as a Pool "
                "with group_id or as a pair (labels, group_sizes)"
            )
        self.otherwise = None if otherwise is None else real(otherwise)
        if otherwise is not None and (self.otherwise is None or not math.isfinite(self.otherwise)):
            raise ValueError(f"otherwise must be None or a finite number, which is all CatBoost can log: {otherwise!r}")
        self.sets = [_labels_and_sizes(data, f"sets[{position}]") for position, data in enumerate(sets)]
        for position, (labels, sizes) in enumerate(self.sets):
            earlier_sizes = self._find(labels)
            if earlier_sizes is not None and not np.array_equal(earlier_sizes, sizes):
                raise ValueError(f"sets[{position}] has the labels of an earlier set but other groups: pass only one")

    def is_max_optimal(self) -> bool:
        return self.maximize

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        if len(approxes) != 1:
            raise ValueError(f"catboost_metric: a document must have one score, not {len(approxes)}")
        sizes = self._find(target)
        if sizes is not None:
            return self.values(target, approxes[0], sizes, weight)[0], 1.0
        if self.otherwise is None or not self._shuffled(target):
            raise ValueError(f"catboost_metric: {self._unknown_set(target)}")
        return self.otherwise, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        return error / weight

    def _find(self, target: Any) -> Array | None:
        """Return the group sizes of the set that has these labels, or None if there is no such set."""
        return next((sizes for labels, sizes in self.sets if np.array_equal(labels, target)), None)

    def _shuffled(self, target: Any) -> bool:
        """Return whether the labels are those of one of the sets, in any order."""
        ordered = np.sort(target)
        return any(np.array_equal(np.sort(labels), ordered) for labels, _ in self.sets)

    def _unknown_set(self, target: Any) -> str:
        """Return the error message for labels of a set that was not passed to `catboost_metric`."""
        if self._shuffled(target):
            return (
                "CatBoost has shuffled the documents of the training set, so its queries are unknown: train with "
                "has_time=True, or pass otherwise=0.0, the value to log for that set"
            )
        return (
            f"a set of {len(target)} documents has the labels of none of the sets passed "
            f"(of {', '.join(str(len(labels)) for labels, _ in self.sets)} documents): pass each set"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__dict__,)


def _named(state: dict[str, Any]) -> CatBoostMetric:
    """Create a CatBoostMetric whose class is named after the metric, since CatBoost logs the class name."""
    kind = type(state["names"][0], (CatBoostMetric,), {})
    metric: CatBoostMetric = object.__new__(kind)
    metric.__dict__.update(state)
    return metric


def _labels_and_sizes(data: Any, name: str) -> tuple[Array, Array]:
    """Return the labels of a set in the type in which CatBoost will pass them, and the group sizes."""
    if hasattr(data, "get_group_id_hash"):
        labels, ids = flat_numbers(data.get_label(), name), data.get_group_id_hash()
        if ids is None:
            raise ValueError(f"{name}: the Pool has no groups: pass group_id to it")
        starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
        return labels.astype(np.float32), np.diff(np.append(starts, len(ids)))
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise TypeError(f"{name} must be a Pool or a pair (labels, group_sizes), not {type(data).__name__}")
    labels, sizes = flat_numbers(data[0], f"{name}: labels"), flat_numbers(data[1], f"{name}: group_sizes")
    if sizes.sum() != len(labels):
        raise ValueError(f"{name}: group_sizes add up to {sizes.sum()}, but there are {len(labels)} labels")
    return labels.astype(np.float32), sizes.copy()
