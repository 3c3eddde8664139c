"""Evaluation on Spark, with the same bits as one process: `evaluate`, `summary`, `evaluate_clustered`, `udf`,
`RankingEvaluator`.

Judgments and run are Spark data frames with one row per document. The hash of the query id assigns all rows of a query
to one of many buckets, and each bucket is evaluated by one call of rankgain in a Python worker: values depend neither
on partitions nor on buckets. Means are computed from exact sums (`rankgain.Summary`).

Needs ``pip install 'rankgain[spark]'`` and Java 17 on the driver, and the same rankgain on each machine with workers.
"""

from typing import TYPE_CHECKING, Any

from rankgain.spark.jobs import evaluate, evaluate_clustered, summary, udf

if TYPE_CHECKING:
    from rankgain.spark.evaluator import RankingEvaluator

__all__ = ["RankingEvaluator", "evaluate", "evaluate_clustered", "summary", "udf"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import the evaluator, whose base class is PySpark's, on first use."""
        if name != "RankingEvaluator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from rankgain.errors import import_extra

        import_extra("pyspark", "spark")
        from rankgain.spark.evaluator import RankingEvaluator

        globals()[name] = RankingEvaluator
        return RankingEvaluator
