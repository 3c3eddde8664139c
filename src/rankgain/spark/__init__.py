"""The same calls on Spark, with the bits of one process: `evaluate`, `summary`, `evaluate_clustered`, `udf`,
`RankingEvaluator`.

Judgments and run are data frames of Spark with a row per document. All rows of a query come together in one of many
buckets, chosen by the hash of its id, and a bucket is one call of rankgain in a Python worker: neither partitions nor
buckets show in the values. Means are made of exact sums (`rankgain.Summary`).

Needs ``pip install 'rankgain[spark]'`` and Java 17 on the driver, and the same rankgain wherever Python workers run.
"""

from typing import TYPE_CHECKING, Any

from rankgain.spark.jobs import evaluate, evaluate_clustered, summary, udf

if TYPE_CHECKING:
    from rankgain.spark.evaluator import RankingEvaluator

__all__ = ["RankingEvaluator", "evaluate", "evaluate_clustered", "summary", "udf"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The evaluator, whose base class is PySpark's, when it is first asked for."""
        if name != "RankingEvaluator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from rankgain.results.export import import_extra

        import_extra("pyspark", "spark")
        from rankgain.spark.evaluator import RankingEvaluator

        globals()[name] = RankingEvaluator
        return RankingEvaluator
