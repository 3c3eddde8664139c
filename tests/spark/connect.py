"""A Spark Connect client without its own JVM, which test_connect.py runs in a separate process."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from support.sessions import by_query, frames

import rankgain as rg
import rankgain.spark

METRICS = "ndcg@5", "ap", "gauc"


def refused(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    assert type(spark).__module__.startswith("pyspark.sql.connect")
    qrels, run, *tables = frames(spark)
    result = rg.from_frames(*tables).evaluate(*METRICS)
    rows = zip(*(vector.tolist() for vector in result.values()), strict=True)
    values = dict(zip(result.query_ids, rows, strict=True))
    assert rankgain.spark.summary(qrels, run, *METRICS) == result.summary()
    assert by_query(rankgain.spark.evaluate(qrels, run, *METRICS)) == values
    together = run.repartition(3, "query_id").sortWithinPartitions("query_id")
    for truth in (qrels, rg.judgments(tables[0])):
        assert by_query(rankgain.spark.evaluate_clustered(truth, together, *METRICS)) == values
    labels = spark.createDataFrame([(1, 2.0, 0.3), (1, 0.0, 0.9)], "query_id int, label double, prediction double")
    assert rankgain.spark.RankingEvaluator(metricName="rr").evaluate(labels) == 0.5
    nan = run.unionByName(spark.createDataFrame([(1, 77, float("nan"))], run.schema))
    wrong = "ValueError: run: query 1, document 77: the score is NaN; use -inf for a document that must come last"
    assert refused(lambda: rankgain.spark.summary(qrels, nan, "rr")) == wrong
    spark.stop()
    print("the same")
