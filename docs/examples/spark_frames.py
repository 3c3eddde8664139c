"""Evaluate Spark data frames of judgments and runs, cross-validate by query, and evaluate columns of arrays.

needs: pyspark[sql]>=4 pandas pyarrow
"""

import numpy as np
import pandas as pd
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.regression import LinearRegression
from pyspark.ml.tuning import ParamGridBuilder
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", 2)
spark.conf.set("spark.sql.parquet.compression.codec", "gzip")  # gzip needs no native library
rng = np.random.default_rng(0)
number = np.arange(600)
table = pd.DataFrame({"query_id": [f"q{n // 20}" for n in number], "doc_id": [f"d{n}" for n in number]})
table["relevance"] = rng.integers(0, 4, 600)
table["score"] = table.relevance + rng.normal(size=600)
spark.createDataFrame(table[["query_id", "doc_id", "relevance"]]).write.parquet("qrels/")
spark.createDataFrame(table[["query_id", "doc_id", "score"]]).write.parquet("run/")
table.assign(iteration=0)[["query_id", "iteration", "doc_id", "relevance"]].to_csv(
    "qrels.txt", sep=" ", header=False, index=False
)

# -- frames --
from rankgain.batches import BatchOptions
from rankgain.spark import evaluate, summary

qrels = spark.read.parquet("qrels/")  # columns query_id, doc_id, relevance
run = spark.read.parquet("run/")  # columns query_id, doc_id, score

evaluate(qrels, run, "ndcg(gain=exponential)@10", "ap")  # a lazy data frame with one row per query
summary(qrels, run, "ndcg@10", options=BatchOptions(missing="skip"))  # a Summary with means and counts
# -- checked --
import rankgain as rg

here = rg.from_frames(table[["query_id", "doc_id", "relevance"]], table[["query_id", "doc_id", "score"]])
assert summary(qrels, run, "ndcg@10").mean("ndcg@10") == here.evaluate("ndcg@10").mean("ndcg@10")
assert evaluate(qrels, run, "ndcg(gain=exponential)@10", "ap").count() == 30
# -- clustered --
import rankgain as rg
from rankgain.spark import evaluate_clustered

run = run.repartition("query_id").sortWithinPartitions("query_id")  # or read files that were written in this order
evaluate_clustered(rg.judgments("qrels.txt"), run, "mrr")
# -- checked --
values = {row.query_id: row.mrr for row in evaluate_clustered(rg.judgments("qrels.txt"), run, "mrr").collect()}
ours = here.evaluate("mrr")
assert values == dict(zip(ours.query_ids, ours["mrr"].tolist(), strict=True))

rows = table.assign(label=table.relevance.astype(float), noise=rng.normal(size=600))
rows = VectorAssembler(inputCols=["score", "noise"], outputCol="features").transform(spark.createDataFrame(rows))
model = LinearRegression()
grid = ParamGridBuilder().addGrid(model.regParam, [0.0, 100.0]).build()
# -- selection --
from pyspark.ml.tuning import CrossValidator

from rankgain.spark import RankingEvaluator

evaluator = RankingEvaluator(metricName="ndcg@10", queryCol="query_id", labelCol="label")
rows = rows.selectExpr("*", "cast(pmod(xxhash64(query_id), 3) as int) fold")
validator = CrossValidator(estimator=model, estimatorParamMaps=grid, evaluator=evaluator, numFolds=3, foldCol="fold")
best = validator.fit(rows).bestModel
# -- checked --
assert evaluator.isLargerBetter()
assert evaluator.evaluate(best.transform(rows)) > 0.8

frame = spark.createDataFrame(
    [([3.0, 0.0, 1.0], ["a", "b", "c"], ["a", "c"], [3.0, 1.0])],
    "relevance array<double>, prediction array<string>, label array<string>, grades array<double>",
)
# -- arrays --
import pandas as pd
from pyspark.sql.functions import pandas_udf


@pandas_udf("double")
def of_relevance(relevance: pd.Series) -> pd.Series:
    return pd.Series(rg.from_ranked(relevance.tolist()).evaluate("ndcg@10")["ndcg@10"])


@pandas_udf("double")
def of_ids(prediction: pd.Series, label: pd.Series) -> pd.Series:
    rankings = rg.from_recommendations(label.tolist(), prediction.tolist())
    return pd.Series(rankings.evaluate("ndcg@10")["ndcg@10"])


@pandas_udf("double")
def of_grades(prediction: pd.Series, label: pd.Series, grades: pd.Series) -> pd.Series:
    relevant = [dict(zip(*pair, strict=True)) for pair in zip(label, grades, strict=True)]
    return pd.Series(rg.from_recommendations(relevant, prediction.tolist()).evaluate("ndcg@10")["ndcg@10"])


frame.select(of_relevance("relevance"))  # relevance in rank order
frame.select(of_ids("prediction", "label"))  # documents in rank order, and the relevant documents
frame.select(of_grades("prediction", "label", "grades"))  # with the grades of the relevant documents
# -- end --

expected = rg.ndcg([3.0, 0.0, 1.0], k=10)
assert frame.select(of_relevance("relevance")).first()[0] == expected
assert frame.select(of_ids("prediction", "label")).first()[0] == rg.ndcg([1, 0, 1], k=10)
assert frame.select(of_grades("prediction", "label", "grades")).first()[0] == expected
spark.stop()
