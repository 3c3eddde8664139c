"""Short training runs with CatBoost, compared with its own metric."""

import catboost
import numpy as np
import pytest
from sklearn.base import clone
from support.training_sets import EXPONENTIAL, ROUNDS, TRAIN, VALID, evaluated, make

import rankgain as rg

pytestmark = [pytest.mark.usefixtures("backend"), pytest.mark.peers]

PARAMETERS = {"loss_function": "QueryRMSE", "depth": 2, "learning_rate": 0.3, "thread_count": 1, "verbose": False}
PARAMETERS |= {"allow_writing_files": False, "random_seed": 1}
PAIRS = [(given.labels, given.sizes) for given in (TRAIN, VALID)]


def pool(given, weighted=False, first=0, **options):
    features, query = options.pop("features", given.features), first + given.query
    weights = np.repeat(given.weights, given.sizes) if weighted else None
    return catboost.Pool(features, given.labels, group_id=query, group_weight=weights, **options)


def train(metric, sets=(TRAIN, VALID), rounds=ROUNDS, weighted=False, **parameters):
    """Train a model, and return it with the logged values by set and metric."""
    pools = [pool(given, weighted) for given in sets]
    model = catboost.CatBoost(PARAMETERS | {"iterations": rounds, "eval_metric": metric} | parameters)
    model.fit(pools[0], eval_set=pools[1:])
    return model, model.get_evals_result()


@pytest.mark.parametrize("loss", ["QueryRMSE", "YetiRank", "RMSE"])
@pytest.mark.parametrize("metric", ["ndcg@5", "mrr", rg.metric("ndcg", k=3, gain=[0, 1, 2, 4, 8, 16])])
def test_each_round_equals_our_evaluation(metric, loss):
    third = make(6)
    sets = {"learn": TRAIN, "validation_0": VALID, "validation_1": third}
    ours = rg.catboost_metric(metric, *map(pool, sets.values()))
    model, logged = train(ours, sets.values(), loss_function=loss, use_best_model=False)
    for name, given in sets.items():
        staged = model.staged_predict(pool(given))
        expected = [evaluated(given, scores, metric)[0] for scores in staged]
        np.testing.assert_allclose(logged[name][ours.names[0]], expected, rtol=1e-12)
        assert len({*expected}) > 1


@pytest.mark.parametrize(("ours", "theirs"), [("ndcg@5", "Base"), (EXPONENTIAL, "Exp")])
def test_weighted_ndcg_equals_that_of_catboost(ours, theirs):
    """CatBoost sorts tied documents by label in ascending order."""
    theirs = f"NDCG:top=5;type={theirs}"
    metric = rg.catboost_metric(ours, *PAIRS, ties="worst")
    _, logged = train(metric, weighted=True, custom_metric=[f"{theirs};hints=skip_train~false"])
    for name in "learn", "validation":
        theirs = next(values for key, values in logged[name].items() if key.startswith("NDCG"))
        np.testing.assert_allclose(logged[name][f"{ours}_rankgain"], theirs, rtol=1e-9)


def test_early_stopping_takes_the_metric():
    model, logged = train(rg.catboost_metric("mrr", *PAIRS), rounds=200, early_stopping_rounds=4)
    values = logged["validation"]["mrr_rankgain"]
    assert len(values) < 200
    assert model.best_iteration_ == int(np.argmax(values))
    assert model.best_score_["validation"]["mrr_rankgain"] == max(values)


def test_estimator_takes_the_metric():
    metric = rg.catboost_metric("ndcg@5", *PAIRS)
    ranker = clone(catboost.CatBoostRanker(**PARAMETERS, iterations=5, eval_metric=metric))
    ranker.fit(
        TRAIN.features, TRAIN.labels, group_id=TRAIN.query, eval_set=pool(VALID), use_best_model=False, verbose=False
    )
    expected = evaluated(VALID, ranker.predict(VALID.features), "ndcg@5")[0]
    assert ranker.evals_result_["validation"]["ndcg@5_rankgain"][-1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("how", ["categories", "ordered"])
def test_shuffled_training_set_is_recognised(how):
    categories = (TRAIN.features[:, 0] > 0).astype(int).astype(str)
    mixed = np.column_stack([categories, TRAIN.features[:, 1:].astype(object)])
    data = pool(TRAIN, features=mixed, cat_features=[0]) if how == "categories" else pool(TRAIN)
    parameters = PARAMETERS | {"iterations": 3, "boosting_type": "Plain" if how == "categories" else "Ordered"}
    parameters["one_hot_max_size"] = 1

    def fit(**options):
        model = catboost.CatBoost(parameters | options)
        return model.fit(data)

    with pytest.raises(catboost.CatBoostError, match="CatBoost has shuffled the documents of the training set"):
        fit(eval_metric=rg.catboost_metric("mrr", data))
    model = fit(eval_metric=rg.catboost_metric("mrr", data), has_time=True)
    assert 0.1 < model.evals_result_["learn"]["mrr_rankgain"][-1] < 1
    model = fit(eval_metric=rg.catboost_metric("mrr", data, otherwise=0.0))
    assert model.evals_result_["learn"]["mrr_rankgain"] == [0.0] * 3


def test_sets_without_groups_are_rejected():
    with pytest.raises(ValueError, match=r"sets\[0\]: the Pool has no groups: pass group_id to it"):
        rg.catboost_metric("rr", catboost.Pool(TRAIN.features, TRAIN.labels))
    with pytest.raises(catboost.CatBoostError, match=rf"a set of {len(TRAIN.labels)} documents has the labels of none"):
        train(rg.catboost_metric("rr", PAIRS[1]))
