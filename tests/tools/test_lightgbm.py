"""Short training runs with LightGBM, compared with its own metric."""

import lightgbm as lgb
import numpy as np
import pytest
from support.training_sets import EXPONENTIAL, ROUNDS, TRAIN, VALID, Recording, evaluated, make

import rankgain as rg

pytestmark = [pytest.mark.usefixtures("backend"), pytest.mark.peers]

PARAMETERS = {"objective": "lambdarank", "eval_at": [5], "verbose": -1, "num_leaves": 5, "num_threads": 1, "seed": 1}
PARAMETERS |= {"min_data_in_leaf": 5, "learning_rate": 0.3}


def dataset(given, weighted=False, **options):
    weights = np.repeat(given.weights, given.sizes) if weighted else None
    return lgb.Dataset(given.features, given.labels, group=given.sizes, weight=weights, **options)


def train(feval, callbacks=(), weighted=False, rounds=ROUNDS, **parameters):
    """Train a model, and return it with the logged values by set and metric."""
    train = dataset(TRAIN, weighted)
    sets = [train, dataset(VALID, weighted, reference=train)]
    logged = {}
    callbacks = [lgb.record_evaluation(logged), *callbacks]
    model = lgb.train(
        PARAMETERS | parameters,
        train,
        rounds,
        valid_sets=sets,
        valid_names=["train", "valid"],
        feval=feval,
        callbacks=callbacks,
    )
    return model, logged


def test_each_round_equals_our_evaluation():
    metrics = ["ndcg@5", "mrr", rg.metric("dcg", k=3, discount="zipf")]
    recording = Recording(rg.lightgbm_metric(*metrics))
    model, logged = train([recording, rg.lightgbm_metric("rr", ties="worst")])
    for name, given in ("train", TRAIN), ("valid", VALID):
        calls = recording.calls[len(given.labels)]
        assert len(calls) == ROUNDS
        expected = np.array([evaluated(given, scores, *metrics) for scores, _ in calls])
        for metric, column in zip(metrics, expected.T, strict=True):
            assert logged[name][f"{metric}_rankgain"] == column.tolist()
            assert len({*column}) > 1
        worst = [evaluated(given, scores, "rr", ties="worst")[0] for scores, _ in calls]
        assert logged[name]["rr_rankgain"] == worst
    np.testing.assert_allclose(calls[-1][0], model.predict(VALID.features), rtol=1e-9)


def test_weighted_ndcg_equals_that_of_lightgbm():
    _, logged = train(rg.lightgbm_metric(EXPONENTIAL, ties="stable"), weighted=True)
    for values in logged.values():
        theirs, ours = values["ndcg@5"], values[f"{EXPONENTIAL}_rankgain"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)  # LightGBM adds weights in float32


def test_early_stopping_takes_the_metric():
    stop = lgb.early_stopping(3, first_metric_only=True, verbose=False)
    model, logged = train(rg.lightgbm_metric("ndcg@5", "rr"), [stop], rounds=200, metric="none")
    values = logged["valid"]["ndcg@5_rankgain"]
    assert len(values) == model.best_iteration + 3 < 200
    assert model.best_iteration == 1 + int(np.argmax(values))
    assert model.best_score["valid"]["ndcg@5_rankgain"] == max(values)


def test_metric_works_in_cross_validation():
    result = lgb.cv(PARAMETERS, dataset(TRAIN), 3, nfold=3, feval=rg.lightgbm_metric(EXPONENTIAL, ties="stable"))
    np.testing.assert_allclose(result[f"valid {EXPONENTIAL}_rankgain-mean"], result["valid ndcg@5-mean"], rtol=1e-12)


def test_estimator_takes_the_metric():
    ranker = lgb.LGBMRanker(
        n_estimators=200, num_leaves=5, min_child_samples=5, learning_rate=0.3, verbose=-1, n_jobs=1
    )
    valid = make(3, shortest=1)  # includes queries with one document
    ranker.fit(
        TRAIN.features,
        TRAIN.labels,
        group=TRAIN.sizes,
        eval_X=(TRAIN.features, valid.features),
        eval_y=(TRAIN.labels, valid.labels),
        eval_group=[TRAIN.sizes, valid.sizes],
        eval_names=["train", "valid"],
        eval_metric=[rg.lightgbm_metric("ndcg@5", "mrr"), rg.lightgbm_metric(EXPONENTIAL, ties="stable")],
        eval_at=[5],
        callbacks=[lgb.early_stopping(20, verbose=False)],
    )
    best = ranker.best_iteration_
    logged = ranker.evals_result_
    for name, given in ("train", TRAIN), ("valid", valid):
        expected = evaluated(given, ranker.predict(given.features, num_iteration=best), "ndcg@5", "mrr")
        results = [logged[name][f"{metric}_rankgain"][best - 1] for metric in ("ndcg@5", "mrr")]
        assert results == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(logged[name][f"{EXPONENTIAL}_rankgain"], logged[name]["ndcg@5"], rtol=1e-12)


def test_data_without_groups_is_rejected():
    data = lgb.Dataset(TRAIN.features, TRAIN.labels)
    with pytest.raises(ValueError, match="the data set has no groups"):
        lgb.train(PARAMETERS | {"objective": "l2"}, data, 1, valid_sets=[data], feval=rg.lightgbm_metric("rr"))
