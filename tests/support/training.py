"""Arguments that training libraries pass to metrics and objectives, and calls that need no training library."""

import numpy as np

import rankgain as rg

GRADES, SCORES, SIZES = [1, 0, 2, 0, 1], [0.5, 0.25, 0.125, 1.0, 0.5], [3, 2]  # two queries


class FirstColumn:
    """A model with scikit-learn's interface that predicts the first column."""

    def predict(self, X):
        return np.asarray(X, float)[:, 0]


class Matrix:
    """A stand-in for XGBoost's DMatrix with groups and one weight per query."""

    def __init__(self, labels, sizes, weights=None):
        self.labels, self.bounds = labels, np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        self.weights = [] if weights is None else weights

    def get_label(self):
        return self.labels

    def get_weight(self):
        return np.asarray(self.weights, dtype=float)

    def get_uint_info(self, field):
        return self.bounds


def lightgbm_metric(metrics=("ndcg",), labels=GRADES, scores=SCORES, weight=None, group=SIZES, **options):
    return rg.lightgbm_metric(*metrics, **options)(labels, scores, weight, group)


def xgboost_metric(metrics=("ndcg",), labels=GRADES, scores=SCORES, weight=None, sizes=SIZES, **options):
    """Call the metric as `xgboost.train` does or, with `per_query`, as XGBRanker does."""
    call = rg.xgboost_metric(*metrics, **options)
    return call(labels, scores) if "per_query" in options else call(scores, Matrix(labels, sizes, weight))


def catboost_metric(metric="ndcg", sets=((GRADES, SIZES),), labels=GRADES, scores=SCORES, weight=None, **options):
    return rg.catboost_metric(metric, *sets, **options).evaluate([scores], labels, weight)


def lambda_rank(y_true=GRADES, y_score=SCORES, group_sizes=None, qid=None, mask=None, sample_weight=None, **options):
    """Return the gradients of a second call, which finds the labels in the cache."""
    gradients = rg.LambdaRank(**options)
    given = {"group_sizes": group_sizes, "qid": qid, "mask": mask, "sample_weight": sample_weight}
    gradients(y_true, y_score, **given)
    return gradients(y_true, y_score, **given)


def lightgbm_objective(metric="ndcg@2", labels=GRADES, scores=SCORES, weight=None, group=SIZES, **options):
    return rg.lightgbm_objective(metric, **options)(labels, scores, weight, group)


def xgboost_objective(metric="ndcg@2", labels=GRADES, scores=SCORES, weight=None, sizes=SIZES, **options):
    return rg.xgboost_objective(metric, **options)(scores, Matrix(labels, sizes, weight))


def scorer(metric="ndcg", labels=GRADES, scores=SCORES, rows=None, ids=(7, 7, 7, 9, 9), model=None, **options):
    rows = [[score] for score in scores] if rows is None else rows
    return rg.scorer(metric, **options)(model or FirstColumn(), rows, labels, qid=ids)
