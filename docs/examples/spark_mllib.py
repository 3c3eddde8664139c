"""Compare Spark MLlib's metrics with rankgain's, and evaluate the partitions of an RDD and an Arrow table.

needs: pyspark[sql]>=4 pandas pyarrow
"""

# -- metrics --
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

import rankgain as rg

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
pairs = [([1, 6, 2, 7, 8], [1, 2, 3, 4, 5]), ([4, 1, 5, 6, 2], [1, 2, 3]), ([1, 2, 3], [])]

metrics = RankingMetrics(spark.sparkContext.parallelize(pairs))
theirs = [metrics.ndcgAt(3), metrics.meanAveragePrecision, metrics.meanAveragePrecisionAt(2), metrics.precisionAt(5)]

rankings = rg.from_recommendations([set(taken) for _, taken in pairs], [found for found, _ in pairs])
ours = rankings.evaluate("ndcg@3", "map", "ap_capped@2", "precision@5").mean()
assert all(abs(a - b) < 1e-12 for a, b in zip(theirs, ours.values(), strict=True))


# -- partitions --
def evaluated(part):
    rows = list(part)
    if rows:
        found, taken = zip(*rows, strict=True)
        yield rg.from_recommendations([set(ids) for ids in taken], list(found)).evaluate("ndcg@3")


first, *others = spark.sparkContext.parallelize(pairs, 2).mapPartitions(evaluated).collect()
assert first.merge(*others).mean("ndcg@3") == ours["ndcg@3"]
# -- arrow --
scored = spark.createDataFrame(
    [(1, "a", 1, 0.9), (1, "b", 0, 0.8), (2, "c", 1, 0.3), (2, "d", 0, 0.7)],
    "query int, doc string, label int, score double",
)
print(rg.from_frames(scored.toArrow(), query="query").evaluate("ndcg").mean("ndcg"))
# -- end --

assert round(rg.from_frames(scored.toArrow(), query="query").evaluate("ndcg").mean("ndcg"), 4) == 0.8155
spark.stop()
