"""Evaluation on Spark, with exactly the same results as in a single process.

Judgments and run are Spark data frames with one row per document. All rows of a query are assigned to one of many
buckets by the hash of the query id, and each bucket is evaluated by one call of rankgain in a Python worker. The values
therefore do not depend on partitions or buckets. Means are computed from exact sums (`rankgain.Summary`).

The driver needs ``pip install 'rankgain[spark]'`` and Java 17. Each machine with workers needs the same release of
rankgain.
"""

from typing import TYPE_CHECKING, Any

from rankgain.spark.jobs import evaluate, evaluate_clustered, summary

if TYPE_CHECKING:
    from rankgain.spark.evaluator import RankingEvaluator

__all__ = ["RankingEvaluator", "evaluate", "evaluate_clustered", "summary"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import `RankingEvaluator` on first use, since its base class requires PySpark."""
        if name != "RankingEvaluator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from rankgain.errors import import_extra

        import_extra("pyspark", "spark")
        from rankgain.spark.evaluator import RankingEvaluator

        globals()[name] = RankingEvaluator
        return RankingEvaluator
