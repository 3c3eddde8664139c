"""Short training runs with XGBoost, compared with its own metric, which it logs with six digits."""

import numpy as np
import pytest
import xgboost as xgb
from support.training_sets import EXPONENTIAL, ROUNDS, TRAIN, VALID, Recording, evaluated, make

import rankgain as rg

pytestmark = [pytest.mark.usefixtures("backend"), pytest.mark.peers]

LOGGED = {"rtol": 0, "atol": 5.1e-7}
PARAMETERS = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "max_depth": 2, "nthread": 1, "seed": 1, "eta": 0.3}


def matrix(given, weighted=False):
    return xgb.DMatrix(
        given.features, given.labels, qid=given.query, weight=given.weights if weighted else None, nthread=1
    )


def train(metric, weighted=False, rounds=ROUNDS, **options):
    """Train a model, and return it with the logged values by set and metric."""
    sets = {"train": matrix(TRAIN, weighted), "valid": matrix(VALID, weighted)}
    logged = {}
    evals = [(data, name) for name, data in sets.items()]
    model = xgb.train(
        PARAMETERS,
        sets["train"],
        rounds,
        evals=evals,
        custom_metric=metric,
        evals_result=logged,
        verbose_eval=False,
        **options,
    )
    return model, logged


def test_each_round_equals_our_evaluation():
    metrics = ["ndcg@5", "mrr", rg.metric("ndcg", k=3, gain=[0, 1, 2, 4, 8, 16])]
    recording = Recording(rg.xgboost_metric(*metrics))
    model, logged = train(recording)
    for name, given in ("train", TRAIN), ("valid", VALID):
        calls = recording.calls[len(given.labels)]
        assert len(calls) == ROUNDS
        assert all(scores.dtype == np.float32 for scores, _ in calls)
        expected = np.array([evaluated(given, scores, *metrics) for scores, _ in calls])
        assert [[value for _, value in results] for _, results in calls] == expected.tolist()
        results = [logged[name][metric] for metric, _ in calls[0][1]]
        np.testing.assert_allclose(np.transpose(results), expected, **LOGGED)
        assert len({*expected[:, 0]}) > 1
    np.testing.assert_array_equal(calls[-1][0], model.predict(matrix(VALID)))


def test_weighted_ndcg_equals_that_of_xgboost():
    _, logged = train(rg.xgboost_metric(EXPONENTIAL, ties="stable"), weighted=True)
    for values in logged.values():
        np.testing.assert_allclose(values[f"{EXPONENTIAL}_rankgain"], values["ndcg@5"], **LOGGED)


@pytest.mark.parametrize("metric", ["ndcg@5", "mrr"])
def test_early_stopping_takes_the_metric(metric):
    """XGBoost does not know that higher values of "mrr" are better, so `maximize` must be passed."""
    ours = rg.xgboost_metric(metric)
    model, logged = train(ours, rounds=200, early_stopping_rounds=4, maximize=ours.maximize)
    values = logged["valid"][f"{metric}_rankgain"]
    assert len(values) < 200
    assert model.best_iteration == int(np.argmax(values))
    assert max(values) > values[0]


def test_name_marks_the_direction():
    model, logged = train(rg.xgboost_metric("ndcg@5"), rounds=200, early_stopping_rounds=4)
    assert model.best_iteration == int(np.argmax(logged["valid"]["ndcg@5_rankgain"]))


def test_metric_works_in_cross_validation():
    ours = rg.xgboost_metric(EXPONENTIAL, ties="stable")
    result = xgb.cv(PARAMETERS, matrix(TRAIN), 3, nfold=3, custom_metric=ours, as_pandas=False)
    expected = result["test-ndcg@5-mean"]
    np.testing.assert_allclose(result[f"test-{EXPONENTIAL}_rankgain-mean"], expected, rtol=0, atol=1e-6)


def ranked(metric, valid, **options):
    """Return what XGBRanker logs, and its scores after the last round."""
    ranker = xgb.XGBRanker(n_estimators=5, max_depth=2, n_jobs=1, eval_metric=metric, **options)
    sets = [(valid.features, valid.labels)]
    ranker.fit(TRAIN.features, TRAIN.labels, qid=TRAIN.query, eval_set=sets, eval_qid=[valid.query], verbose=False)
    return ranker.evals_result()["validation_0"], ranker.predict(valid.features)


def test_estimator_takes_the_metric():
    """XGBRanker's mean weights queries by their length, so it equals ours only if all queries are equally long."""
    equal = make(4, longest=6, shortest=6)
    metric = rg.xgboost_metric("mrr", per_query=True)
    logged, scores = ranked([metric, "ndcg@5"], equal)
    np.testing.assert_allclose(logged["mrr_rankgain"][-1], evaluated(equal, scores, "mrr")[0], **LOGGED)

    given = make(5, shortest=1)
    logged, scores = ranked(metric, given)
    each = rg.from_scores(given.labels, scores, group_sizes=given.sizes).evaluate("mrr")["mrr"].copy()
    each[given.sizes == 1] = 1.0
    np.testing.assert_allclose(logged["mrr_rankgain"][-1], np.average(each, weights=given.sizes), **LOGGED)


def test_estimator_can_be_cloned():
    base = pytest.importorskip("sklearn.base")
    ranker = base.clone(xgb.XGBRanker(eval_metric=rg.xgboost_metric("mrr", per_query=True)))
    assert repr(ranker.eval_metric) == "<XGBoostMetric: mrr, ties='average'>"


def test_data_without_groups_is_rejected():
    data = xgb.DMatrix(TRAIN.features, TRAIN.labels)
    with pytest.raises(ValueError, match="the DMatrix has no groups"):
        xgb.train({"nthread": 1}, data, 1, evals=[(data, "train")], custom_metric=rg.xgboost_metric("rr"))
    with pytest.raises(TypeError, match="estimators pass no groups"):
        ranked(rg.xgboost_metric("rr"), VALID)
