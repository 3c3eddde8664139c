"""An evaluator for PySpark's CrossValidator and TrainValidationSplit."""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from rankgain.batches import BatchOptions
from rankgain.metrics.metric import better, each_of
from rankgain.spark.jobs import (
    JobRules,
    check_buckets,
    check_workers,
    in_buckets,
    merged,
    of_labelled_buckets,
    select_labels,
)
from rankgain.spark.workers import ROLES


class RankingEvaluator(Evaluator, HasLabelCol, HasPredictionCol, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """PySpark evaluator that computes a ranking metric from a data frame with one row per document.

    Parameters
    ----------
    metricName : str, default "ndcg@10"
        A single metric, as in `rankgain.Rankings.evaluate`.
    queryCol : str, default "query_id"
        The column of query ids.
    labelCol : str, default "label"
        The column of grades.
    predictionCol : str, default "prediction"
        The column of scores.
    docCol : str, default ""
        The column of document ids, which break ties. By default, there is no such column.
    ties : str, default ""
        The order of documents of equal score: "docid", "average", "best" or "worst". By default "docid" if there is a
        `docCol`, else "average".
    buckets : int, default 0
        The number of buckets of queries, as in `evaluate`. By default, the default of `evaluate`.

    Raises
    ------
    ImportError
        If PySpark is not installed: ``pip install 'rankgain[spark]'``.
    ValueError
        In `evaluate`, if `rankgain.spark.summary` would raise it, if a value is null or NaN (such as predictions of ALS
        for new users and items, unless ``coldStartStrategy`` is "drop"), or if there is no row. In
        `isLargerBetter`, if higher values of the metric are neither better nor worse.
    TypeError
        In `evaluate`, if `rankgain.spark.summary` would raise it.
    RuntimeError
        In `evaluate`, if `rankgain.spark.summary` would raise it.

    See Also
    --------
    summary : Evaluate a run and judgments that are in two data frames.

    Notes
    -----
    ``CrossValidator`` and ``TrainValidationSplit`` split rows, not queries, so a metric sees only some of a query's
    documents. For ``CrossValidator``, pass a `foldCol` that is the same for all rows of a query, such as
    ``pmod(hash(query), folds)``. ``TrainValidationSplit`` has no such option; compare only values from the same split.

    Examples
    --------
    >>> from rankgain.spark import RankingEvaluator
    >>> rows = [("q1", 2.0, 0.3), ("q1", 0.0, 0.9), ("q2", 1.0, 0.5)]
    >>> frame = spark.createDataFrame(rows, "query_id string, label double, prediction double")
    >>> round(RankingEvaluator(metricName="ndcg@10").evaluate(frame), 4)
    0.8155
    """

    metricName: Any = Param(Params._dummy(), "metricName", "the metric, as in ndcg@10", TypeConverters.toString)
    queryCol: Any = Param(Params._dummy(), "queryCol", "the column of query ids", TypeConverters.toString)
    docCol: Any = Param(Params._dummy(), "docCol", "the column of document ids; empty: none", TypeConverters.toString)
    ties: Any = Param(
        Params._dummy(), "ties", "the order of equal scores; empty: as in from_frames", TypeConverters.toString
    )
    buckets: Any = Param(
        Params._dummy(), "buckets", "the number of buckets of queries; 0: the default", TypeConverters.toInt
    )

    _input_kwargs: dict[str, Any]

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        metricName: str = "ndcg@10",
        queryCol: str = "query_id",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        docCol: str = "",
        ties: str = "",
        buckets: int = 0,
    ) -> None:
        super().__init__()
        self._setDefault(metricName="ndcg@10", queryCol="query_id", docCol="", ties="", buckets=0)
        self._set(**self._input_kwargs)

    @keyword_only  # type: ignore[untyped-decorator]
    def setParams(
        self,
        *,
        metricName: str = "ndcg@10",
        queryCol: str = "query_id",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        docCol: str = "",
        ties: str = "",
        buckets: int = 0,
    ) -> RankingEvaluator:
        """Set some or all of the parameters.

        Parameters
        ----------
        metricName, queryCol, labelCol, predictionCol, docCol, ties, buckets
            As in the class.

        Returns
        -------
        RankingEvaluator
            The evaluator itself.

        Examples
        --------
        >>> from rankgain.spark import RankingEvaluator
        >>> RankingEvaluator().setParams(metricName="rr").isLargerBetter()
        True
        """
        self._set(**self._input_kwargs)
        return self

    def _value(self, param: Any) -> Any:
        return self.getOrDefault(param) or None

    def _evaluate(self, dataset: Any) -> float:
        options = BatchOptions(ties=self._value(self.ties))
        rules = JobRules(each_of((self.getOrDefault(self.metricName),)), options)
        params = zip(ROLES, (self.queryCol, self.docCol, self.labelCol, self.predictionCol), strict=True)
        names = {role: name for role, param in params if (name := self._value(param))}
        count = check_buckets(self._value(self.buckets), options, dataset)
        grouped = in_buckets(select_labels(dataset, names), count)
        check_workers(dataset.sparkSession)
        states = grouped.applyInArrow(of_labelled_buckets(rules.payload, names), "state string").collect()
        if not states:
            raise ValueError("dataset is empty: there is no query to evaluate")
        return next(iter(merged(rules, (row.state for row in states)).aggregate().values()))

    def isLargerBetter(self) -> bool:
        """Return whether higher values of the metric are better.

        Returns
        -------
        bool

        Raises
        ------
        ValueError
            If higher values are neither better nor worse, as for a count.

        Examples
        --------
        >>> from rankgain.spark import RankingEvaluator
        >>> RankingEvaluator(metricName="ndcg@10").isLargerBetter()
        True
        """
        name = self.getOrDefault(self.metricName)
        sign = better(name)
        if not sign:
            raise ValueError(f"{name} does not say whether a model is good: tune by another metric")
        return sign > 0
