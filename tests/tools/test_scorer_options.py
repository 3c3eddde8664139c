"""Options of the scorer: query ids from a column or a function, ties, and methods of the model."""

import numpy as np
import pytest
from support.small_rankings import metrics_of_scores
from support.training import GRADES, scorer

import rankgain as rg

TIED = [0.5, 0.25, 0.5, 1.0, 1.0]
QUERIES = (7, 7, 7, 9, 9)


def mean_rr(scores=TIED, ties="average"):
    values = metrics_of_scores([GRADES[:3], GRADES[3:]], [scores[:3], scores[3:]], ties=ties)[2]
    return sum(values) / 2


class Graded:
    """A classifier of the grades 0, 1 and 2 whose predicted labels carry no information."""

    classes_ = np.array([0, 1, 2])

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        share = np.clip(np.asarray(X, float)[:, :1], 0, 1)  # the expected grade is 2 * share
        return np.hstack([1 - share, 0 * share, share])


@pytest.mark.options("scorer", "ties")
def test_scorer_orders_by_a_tie_policy(check_option):
    for ties in ("stable", "best", "worst"):
        if mean_rr(ties=ties) != mean_rr():
            for ids in (QUERIES, np.array(list("aaabb"))):
                check_option(scorer, "ties", ties, mean_rr(ties=ties), metric="rr", scores=TIED, ids=ids)


@pytest.mark.options("scorer", "qid")
def test_scorer_takes_ids_from_a_column(check_option):
    rows = [[score, query] for score, query in zip(TIED, QUERIES, strict=True)]
    for form in (list, np.array):
        for qid in (1, -1, np.int64(1), lambda X: np.asarray(X)[:, 1]):
            check_option(scorer, "qid", qid, mean_rr(), metric="rr", rows=form(rows), ids=None)


@pytest.mark.options("scorer", "response_method")
def test_scorer_calls_a_method_of_the_model(check_option):
    rows = [[score, query] for score, query in zip(TIED, QUERIES, strict=True)]
    for method in ("predict", ["decision_function", "predict"]):
        values = mean_rr([0.0] * 5)
        check_option(scorer, "response_method", method, values, rows=rows, model=Graded(), metric="rr")


@pytest.mark.options("scorer", "metric")
def test_scorer_takes_a_metric(check_option):
    for metric in ("rr", rg.metric("rr")):
        check_option(scorer, "metric", metric, mean_rr(), scores=TIED)
