"""XGBoost models trained with our gradients, compared with models trained with its own objectives."""

import pickle
from itertools import product

import numpy as np
import pytest
import xgboost as xgb
from support.training_sets import TRAIN, VALID, make

import rankgain as rg

ROUNDS = 50
LARGE = make(5, queries=40, longest=60, shortest=20)
PARAMETERS = {"max_depth": 4, "eta": 0.1, "nthread": 1, "base_score": 0.5, "tree_method": "exact"}
NORMALIZATIONS = [("score", "query"), ("query",), ()]
CASES = [*product(NORMALIZATIONS, [8, 32])]

pytestmark = pytest.mark.peers


def matrix(given, weighted=False):
    return xgb.DMatrix(given.features, given.labels, qid=given.query, weight=given.weights if weighted else None)


def built_in(given, objective, k, normalize, rounds=ROUNDS, weighted=False, **options):
    settings = {
        "objective": objective,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": k,
        "lambdarank_score_normalization": "score" in normalize,
        "lambdarank_normalization": "query" in normalize,
    }
    return xgb.train(PARAMETERS | settings | options, matrix(given, weighted), rounds).predict(matrix(VALID))


def ours(given, objective, rounds=ROUNDS, weighted=False):
    return xgb.train(PARAMETERS, matrix(given, weighted), rounds, obj=objective).predict(matrix(VALID))


@pytest.mark.parametrize(("normalize", "k"), CASES)
@pytest.mark.parametrize(("name", "metric"), [("ndcg", "ndcg(gain=exponential)"), ("pairwise", "pairwise")])
def test_objective_trains_like_that_of_xgboost(backend, name, metric, normalize, k):
    """XGBoost's float32 sums and sigmoid limit the agreement after 50 rounds."""
    given, rounds = (LARGE, ROUNDS) if backend == "compiled" else (TRAIN, 5)
    expected = built_in(given, f"rank:{name}", k, normalize, rounds)
    result = ours(given, rg.xgboost_objective(f"{metric}@{k}", normalize=normalize), rounds)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_objective_with_linear_gain_and_query_weights(backend):
    expected = built_in(TRAIN, "rank:ndcg", 10, ("score", "query"), 8, weighted=True, ndcg_exp_gain=False)
    result = ours(TRAIN, rg.xgboost_objective("ndcg@10"), 8, weighted=True)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    assert not np.allclose(ours(TRAIN, rg.xgboost_objective("ndcg@10"), 8), result)


def test_objective_has_the_defaults_of_xgboost(backend):
    expected = xgb.train(PARAMETERS | {"objective": "rank:ndcg"}, matrix(TRAIN), 5).predict(matrix(VALID))
    objective = pickle.loads(pickle.dumps(rg.xgboost_objective()))
    np.testing.assert_allclose(ours(TRAIN, objective, 5), expected, rtol=1e-5, atol=1e-6)


def test_objective_works_in_cross_validation(backend):
    settings = {"obj": rg.xgboost_objective(), "custom_metric": rg.xgboost_metric("ndcg@5")}
    result = xgb.cv(PARAMETERS, matrix(TRAIN), 4, nfold=3, as_pandas=False, **settings)
    assert result["test-ndcg@5_rankgain-mean"][-1] > 0.7


def test_options_of_lightgbm_are_rejected(backend):
    for settings in ({"obj": rg.lightgbm_objective()}, {"custom_metric": rg.lightgbm_metric("ndcg")}):
        with pytest.raises(TypeError, match=r"is for LightGBM; for XGBoost use rankgain\.xgboost_(objective|metric)"):
            xgb.train(PARAMETERS, matrix(TRAIN), 1, evals=[(matrix(VALID), "valid")], **settings)


def test_objective_accepts_labels_that_xgboost_rejects(backend):
    given = TRAIN._replace(labels=TRAIN.labels + np.where(TRAIN.labels > 0, 31.5, 0).astype(np.float32))
    with pytest.raises(xgb.core.XGBoostError):
        built_in(given, "rank:ndcg", 10, ("score", "query"), 1)
    scores = xgb.train(PARAMETERS, matrix(given), 8, obj=rg.xgboost_objective()).predict(matrix(TRAIN))
    assert rg.from_scores(TRAIN.labels, scores, group_sizes=TRAIN.sizes).evaluate("ndcg@5").mean("ndcg@5") > 0.8
