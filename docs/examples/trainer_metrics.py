"""Use rankgain's metrics during training in LightGBM, XGBoost and CatBoost.

needs: lightgbm xgboost-cpu catboost scikit-learn pandas
"""

# -- data --
import numpy as np

import rankgain as rg

rng = np.random.default_rng(0)


def made(queries):
    X = rng.normal(size=(queries * 20, 5))
    y = np.clip(np.round(X[:, 0] - X[:, 1] + rng.normal(size=len(X))), 0, 4).astype(int)
    return X, y, np.full(queries, 20), np.repeat(np.arange(queries), 20)


X, y, sizes, qid = made(40)
X2, y2, sizes2, qid2 = made(20)
# -- LightGBM --
import lightgbm as lgb

metric = rg.lightgbm_metric("ndcg@10", "mrr")  # the first one decides when to stop
params = {"objective": "lambdarank", "metric": "None", "verbose": -1}
valid = lgb.Dataset(X2, y2, group=sizes2)
stop = lgb.early_stopping(20, first_metric_only=True, verbose=False)
history = {}
booster = lgb.train(
    params,
    lgb.Dataset(X, y, group=sizes),
    200,
    valid_sets=[valid],
    feval=metric,
    callbacks=[stop, lgb.record_evaluation(history)],
)
print(booster.best_iteration, booster.best_score)

ranker = lgb.LGBMRanker(n_estimators=200, metric="None", verbose=-1)
evaluation = {"eval_X": X2, "eval_y": y2, "eval_group": [sizes2], "eval_metric": metric}
ranker.fit(X, y, group=sizes, **evaluation, callbacks=[stop])
print(ranker.best_iteration_, ranker.evals_result_["valid_0"].keys())
# -- checked --
scores = booster.predict(X2)
expected = rg.from_scores(y2, scores, group_sizes=sizes2).evaluate("ndcg@10").mean("ndcg@10")
assert abs(booster.best_score["valid_0"]["ndcg@10_rankgain"] - expected) < 1e-9
best = int(np.argmax(history["valid_0"]["ndcg@10_rankgain"])) + 1
assert booster.best_iteration == ranker.best_iteration_ == best > 2
assert len(history["valid_0"]["mrr_rankgain"]) == best + 20  # rankgain's ndcg@10 decided, and no other metric
assert [*ranker.evals_result_["valid_0"]] == ["ndcg@10_rankgain", "mrr_rankgain"]
# -- cv --
from sklearn.model_selection import GroupKFold

objective = rg.lightgbm_objective("ndcg@10")
folds = GroupKFold(5).split(X, groups=qid)
found = lgb.cv({"objective": objective, "verbose": -1}, lgb.Dataset(X, y, group=sizes), 20, folds=folds, feval=metric)
print(found["valid ndcg@10_rankgain-mean"][-1])
# -- checked --
assert found["valid ndcg@10_rankgain-mean"][-1] > 0.7
# -- XGBoost --
import xgboost as xgb

metric = rg.xgboost_metric("mrr", "ndcg@10")  # the last one decides when to stop
train, valid = xgb.DMatrix(X, y, qid=qid), xgb.DMatrix(X2, y2, qid=qid2)
params = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
history = {}
model = xgb.train(
    params,
    train,
    200,
    evals=[(valid, "valid")],
    custom_metric=metric,
    maximize=metric.maximize,
    early_stopping_rounds=20,
    evals_result=history,
    verbose_eval=False,
)
print(model.best_iteration, history["valid"].keys())
# -- checked --
assert [*history["valid"]] == ["mrr_rankgain", "ndcg@10_rankgain"]
assert model.best_iteration == int(np.argmax(history["valid"]["ndcg@10_rankgain"]))
assert len(history["valid"]["ndcg@10_rankgain"]) == model.best_iteration + 1 + 20
# -- CatBoost --
from catboost import CatBoostRanker, Pool

train, valid = Pool(X, y, group_id=qid), Pool(X2, y2, group_id=qid2)
metric = rg.catboost_metric("ndcg@10", train, valid)  # one metric, the training set, every evaluation set
model = CatBoostRanker(iterations=20, eval_metric=metric, verbose=False, allow_writing_files=False)
model.fit(train, eval_set=valid)
print(model.get_best_score()["validation"].keys())
# -- search --
import lightgbm as lgb
import pandas as pd
import xgboost as xgb
from sklearn.model_selection import GridSearchCV, GroupKFold

rows = pd.DataFrame(X, columns=list("abcde")).assign(qid=qid)


class Ranker(lgb.LGBMRanker):  # LGBMRanker takes group sizes instead of a column of query ids
    def fit(self, X, y):
        return super().fit(X.drop(columns="qid"), y, group=X["qid"].value_counts(sort=False))

    def predict(self, X, **options):
        return super().predict(X.drop(columns="qid"), **options)


searched = {"scoring": rg.scorer("ndcg@10", qid="qid"), "cv": GroupKFold(4)}
search = GridSearchCV(xgb.XGBRanker(n_estimators=5), {"max_depth": [2, 4]}, **searched)
print(search.fit(rows, y, groups=qid).best_score_)
search = GridSearchCV(Ranker(n_estimators=5, verbose=-1), {"num_leaves": [4, 16]}, **searched)
print(search.fit(rows, y, groups=qid).best_score_)
# -- end --

assert search.best_score_ > 0.7
assert any(name.endswith("_rankgain") for name in model.get_best_score()["validation"])
