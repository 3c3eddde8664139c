"""The evaluator works with PySpark's own model selection tools."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.regression import LinearRegression
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder, TrainValidationSplit

import rankgain as rg
from rankgain.spark import RankingEvaluator

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


def long_rows(queries=24, seed=2):
    """Return labels, a feature that predicts them, a feature that does not, and folds that do not split queries."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), 12)
    label = rng.integers(0, 4, len(query)).astype(float)
    return {
        "query_id": query,
        "doc_id": np.tile(np.arange(12), queries),
        "label": label,
        "good": label + rng.normal(0, 2, len(query)),
        "bad": rng.normal(0, 1, len(query)),
        "fold": (query % 2).astype(np.int32),
    }


@pytest.fixture(scope="module")
def rows():
    return long_rows()


@pytest.fixture(scope="module")
def frame(spark, rows):
    return spark.createDataFrame(pa.table(rows)).repartition(3).cache()


@pytest.mark.parametrize(("doc", "ties"), [("", ""), ("doc_id", ""), ("doc_id", "best")])
def test_evaluator_gives_the_bits_of_one_process(frame, rows, doc, ties):
    rounded = frame.withColumn("prediction", frame.good.cast("int").cast("double"))
    columns = rows | {"score": np.trunc(rows["good"])}
    if not doc:
        columns = {name: columns[name] for name in ("query_id", "label", "score")}
    expected = rg.from_frames(columns, columns if doc else None, **({"ties": ties} if ties else {})).evaluate(
        "ndcg@5", "gm_ap"
    )
    for metric, value in expected.aggregate().items():
        evaluator = RankingEvaluator(metricName=metric, docCol=doc, ties=ties, buckets=5)
        assert evaluator.evaluate(rounded) == value
        assert evaluator.evaluate(rounded, {evaluator.buckets: 2}) == value


def assembled(frame):
    return VectorAssembler(inputCols=["good"], outputCol="features").transform(frame)


def search():
    """Return an estimator and two settings: one predicts the labels, the other predicts the same value everywhere."""
    model = LinearRegression(featuresCol="features", labelCol="label", elasticNetParam=1.0)
    return model, ParamGridBuilder().addGrid(model.regParam, [0.0, 100.0]).build()


def test_evaluator_works_in_a_cross_validator(frame, rows):
    model, grid = search()
    evaluator = RankingEvaluator(metricName="ndcg@5")
    fitted = CrossValidator(
        estimator=model, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, foldCol="fold"
    ).fit(assembled(frame))
    assert fitted.bestModel.getRegParam() == 0.0
    # With equal predictions, the value of each fold is the mean over all orders, since folds do not split queries.
    same = [
        rg.from_frames(
            {
                "query_id": rows["query_id"][rows["fold"] == fold],
                "label": rows["label"][rows["fold"] == fold],
                "score": np.zeros(int(np.sum(rows["fold"] == fold))),
            }
        )
        .evaluate("ndcg@5")
        .mean("ndcg@5")
        for fold in (0, 1)
    ]
    assert fitted.avgMetrics[1] == pytest.approx(np.mean(same), rel=1e-12)
    assert fitted.avgMetrics[0] > fitted.avgMetrics[1]


def test_evaluator_works_in_a_train_validation_split(frame):
    model, grid = search()
    evaluator = RankingEvaluator(metricName="ndcg@5")
    fitted = TrainValidationSplit(
        estimator=model, estimatorParamMaps=grid, evaluator=evaluator, trainRatio=0.5, seed=1
    ).fit(assembled(frame))
    assert fitted.bestModel.getRegParam() == 0.0
    assert fitted.validationMetrics[0] > fitted.validationMetrics[1]


def test_evaluator_states_the_direction_of_the_metric():
    assert RankingEvaluator().isLargerBetter() is True
    assert RankingEvaluator(metricName="rbp_residual").isLargerBetter() is False
    with pytest.raises(ValueError, match="num_rel does not say whether a model is good"):
        RankingEvaluator(metricName="num_rel").isLargerBetter()


def test_evaluator_can_be_saved_and_copied(spark, frame, tmp_path):
    evaluator = RankingEvaluator(metricName="rr", predictionCol="good")
    path = str(tmp_path / "evaluator")
    evaluator.save(path)
    again = RankingEvaluator.load(path)
    assert type(again) is RankingEvaluator
    assert again.evaluate(frame) == evaluator.copy().evaluate(frame) == evaluator.evaluate(frame)
    assert evaluator.setParams(metricName="ap").getOrDefault("metricName") == "ap"


def test_evaluator_rejects_parameters(spark, frame):
    with pytest.raises(ValueError, match="did you mean 'ndcg'"):
        RankingEvaluator(metricName="ndgc", predictionCol="good").evaluate(frame)
    with pytest.raises(ValueError, match="dataset has no column 'prediction'; there are: query_id"):
        RankingEvaluator().evaluate(frame)
    with pytest.raises(ValueError, match="dataset is empty: there is no query to evaluate"):
        RankingEvaluator(predictionCol="good").evaluate(frame.limit(0))
    with pytest.raises(ValueError, match="ties='stable' is input order"):
        RankingEvaluator(predictionCol="good", ties="stable").evaluate(frame)


@pytest.mark.parametrize("doc", ["", "doc_id"])
@pytest.mark.parametrize(
    ("name", "expression", "message"),
    [
        (
            "prediction",
            "double('nan')",
            "query 3: column 'prediction' is NaN; drop such rows, as ALS.*\"drop\".* does$",
        ),
        ("prediction", "null", "query 3: column 'prediction' is null; drop such rows, as ALS"),
        ("label", "double('nan')", "query 3: column 'label' is NaN; drop such rows$"),
        ("label", "null", "query 3: column 'label' is null; drop such rows$"),
        ("query_id", "null", "query None: column 'query_id' is null; drop such rows$"),
    ],
)
def test_evaluator_of_null_columns(frame, doc, name, expression, message):
    """Nulls are rejected, for example in the predictions of ALS for unknown users."""
    some = frame.withColumnRenamed("good", "prediction")
    some = some.selectExpr(
        *(column for column in some.columns if column != name),
        f"case when query_id in (3, 5) then {expression} else {name} end as {name}",
    )
    with pytest.raises(ValueError, match=f"^dataset: {message}"):
        RankingEvaluator(docCol=doc, buckets=1).evaluate(some)


def test_evaluator_names_the_column_of_invalid_grades(frame):
    some = frame.selectExpr("query_id", "good", "-1.0 - label as stars")
    with pytest.raises(ValueError, match=r"^dataset: column 'stars': query \d+.*negative"):
        RankingEvaluator(labelCol="stars", predictionCol="good").evaluate(some)
