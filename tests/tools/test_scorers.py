"""The scorer in scikit-learn, with and without metadata routing."""

import pickle

import numpy as np
import pandas
import polars
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import check_scoring, ndcg_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from support.marks import in_one_case

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

METRIC = "ndcg(gain=exponential)@3"


@pytest.fixture(autouse=True)
def settings():
    with sklearn.config_context(enable_metadata_routing=False):
        yield


@pytest.fixture
def routing(settings):
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    """Return features, grades and query ids for 12 queries.

    The rows of a query are not adjacent, and one query has a single document.
    """
    rng = np.random.default_rng(5)
    qid = rng.permutation(np.append(rng.integers(0, 11, 119), 11))
    X = rng.normal(size=(120, 4))
    y = np.clip(np.round(X @ [1, 0.5, 0, 0] + rng.normal(size=120)), 0, 3).astype(int)
    return X, y, qid


def by_hand(estimator, X, y, qid, cv, metric=METRIC, scores=lambda model, X: model.predict(X)):
    """Return the mean metric of each fold, evaluated query by query."""
    means = []
    for train, test in cv.split(X, y, qid):
        model = clone(estimator).fit(X[train], y[train])
        given = scores(model, X[test])
        lists = [(y[test][qid[test] == query], given[qid[test] == query]) for query in np.unique(qid[test])]
        values = [rg.from_scores(*pair).evaluate(metric)[metric][0] for pair in lists]
        means.append(np.mean(values))
    return pytest.approx(means, rel=1e-12)


# with metadata routing


@pytest.mark.peers
@pytest.mark.usefixtures("routing")
def test_scorer_in_cross_validation_with_routing(data):
    X, y, qid = data
    expected = by_hand(Ridge(), X, y, qid, GroupKFold(3))
    scorer = rg.scorer(METRIC).set_score_request(qid="groups")
    scores = cross_val_score(Ridge(), X, y, scoring=scorer, cv=GroupKFold(3), params={"groups": qid})
    assert scores == expected
    both = {"qid": qid, "groups": qid}  # "groups" is for the splitter, and "qid" is for the scorer
    assert cross_val_score(Ridge(), X, y, scoring=rg.scorer(METRIC), cv=GroupKFold(3), params=both) == expected
    several = {"ndcg": rg.scorer(METRIC), "mrr": rg.scorer("mrr"), "r2": "r2"}
    result = cross_validate(
        Ridge(), X, y, scoring=several, cv=GroupKFold(3), params=both, return_train_score=True, n_jobs=2
    )
    assert result["test_ndcg"] == expected
    assert result["test_mrr"] == by_hand(Ridge(), X, y, qid, GroupKFold(3), "mrr")
    assert result["train_ndcg"].shape == (3,)


@pytest.mark.usefixtures("routing")
def test_scorer_in_grid_search_with_routing(data):
    X, y, qid = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 1000.0]},
        scoring=rg.scorer(METRIC).set_score_request(qid="groups"),
        cv=GroupKFold(3),
    )
    fitted = clone(search).fit(X, y, groups=qid)
    for index, alpha in enumerate([0.1, 1000.0]):
        expected = by_hand(make_pipeline(StandardScaler(), Ridge(alpha=alpha)), X, y, qid, GroupKFold(3))
        assert [fitted.cv_results_[f"split{fold}_test_score"][index] for fold in range(3)] == expected
    assert "set_score_request(qid='groups')" in repr(search)
    assert fitted.score(X, y, groups=qid) == rg.scorer(METRIC)(fitted, X, y, qid=qid)


class Ranker(RegressorMixin, BaseEstimator):
    """A ranker whose `fit` takes query ids, like the rankers of XGBoost and LightGBM."""

    def fit(self, X, y, qid=None):
        self.n_groups_ = len(np.unique(qid))
        self.model_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        assert self.n_groups_ > 1
        return self.model_.predict(X)


@pytest.mark.usefixtures("routing")
def test_scorer_of_a_ranker_fitted_with_groups(data):
    X, y, qid = data
    ranker = Ranker().set_fit_request(qid=True)
    scores = cross_val_score(
        ranker, X, y, scoring=rg.scorer(METRIC), cv=GroupKFold(3), params={"qid": qid, "groups": qid}
    )
    assert scores == by_hand(Ridge(), X, y, qid, GroupKFold(3))


@pytest.mark.usefixtures("routing")
def test_scorer_takes_routed_queries_on_request_only(data):
    X, y, qid = data
    for request in (False, None):
        scorer = rg.scorer(METRIC).set_score_request(qid=request)
        with pytest.raises((ValueError, TypeError), match="qid"):
            cross_val_score(Ridge(), X, y, scoring=scorer, params={"qid": qid}, error_score="raise")
    column = rg.scorer(METRIC, qid=lambda X: qid[: len(X)])
    with pytest.raises(TypeError, match="qid"):  # a scorer that computes the ids does not request them
        cross_val_score(Ridge(), X, y, scoring=column, params={"qid": qid}, error_score="raise")
    with pytest.raises(ValueError, match="qid must be True, False, None or a name, not 'no name'"):
        column.set_score_request(qid="no name")


# without metadata routing


def tables(X, qid):
    """Yield (rows, column) pairs with the rows in different containers and the column that holds the query ids."""
    rows = np.insert(X, 2, qid, axis=1)
    names = list("abqcd")
    yield rows, 2
    yield rows, -3
    yield pandas.DataFrame(rows, columns=names, index=range(7, 7 + len(rows))), "q"
    yield pandas.DataFrame(rows, columns=names), 2
    yield polars.DataFrame(rows, schema=names), "q"
    yield polars.DataFrame(rows, schema=names), 2
    yield sparse.csr_array(rows), 2
    yield sparse.coo_array(rows), 2
    yield rows.tolist(), 2
    yield rows, lambda X: np.asarray(X)[:, 2]


def test_scorer_reads_queries_from_a_column(data):
    X, y, qid = data
    model = Ridge().fit(np.insert(X, 2, qid, axis=1), y)
    expected = rg.scorer(METRIC)(model, np.insert(X, 2, qid, axis=1), y, qid=qid)
    for rows, column in tables(X, qid):
        names = getattr(rows, "columns", None) is not None
        fitted = Ridge().fit(rows, y) if names else model
        assert rg.scorer(METRIC, qid=column)(fitted, rows, y) == pytest.approx(expected, rel=1e-12)
    assert expected != pytest.approx(
        rg.scorer(METRIC, qid=lambda X: np.zeros(len(X)))(model, np.insert(X, 2, qid, 1), y)
    )


@pytest.mark.peers
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scorer_in_searches_without_routing(data, n_jobs):
    X, y, qid = data
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(q=qid)

    model = make_pipeline(StandardScaler(), Ridge())
    for kind, many in ((GridSearchCV, {}), (RandomizedSearchCV, {"n_iter": 2, "random_state": 0})):
        search = kind(
            model,
            {"ridge__alpha": [0.1, 1000.0]},
            scoring=rg.scorer(METRIC, qid="q"),
            cv=GroupKFold(3),
            n_jobs=n_jobs,
            error_score="raise",
            **many,
        )
        search.fit(frame, y, groups=qid)
        best = by_hand(search.best_estimator_, frame.to_numpy(), y, qid, GroupKFold(3))
        best_index = search.best_index_
        assert [search.cv_results_[f"split{fold}_test_score"][best_index] for fold in range(3)] == best
        assert search.score(frame, y) == rg.scorer(METRIC, qid="q")(search, frame, y)


def test_weights_of_rows_go_to_the_model_alone(data):
    X, y, qid = data
    rows = np.insert(X, 0, qid, axis=1)
    scoring = {"ndcg": rg.scorer(METRIC, qid=0), "r2": "r2"}
    for scorers, refit in ((scoring, "ndcg"), (scoring["ndcg"], True)):
        search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorers, refit=refit, cv=GroupKFold(2))
        with pytest.warns(UserWarning, match="does not support sample_weight"):
            search.fit(rows, y, groups=qid, sample_weight=np.ones(len(y)))


def test_scorer_of_folds_with_one_query(data):
    X, y, qid = data
    rows = np.insert(X, 0, qid, axis=1)
    scores = cross_val_score(
        Ridge(), rows, y, scoring=rg.scorer("ndcg@10", qid=0), cv=LeaveOneGroupOut(), groups=qid, error_score="raise"
    )
    assert scores == by_hand(Ridge(), rows, y, qid, LeaveOneGroupOut(), "ndcg@10")
    assert scores[-1] in (0.0, 1.0)  # the fold of the query with one document
    whole = rg.scorer("ndcg", qid=lambda X: ["all"] * len(X))(Ridge().fit(X, y), X, y)
    assert whole == pytest.approx(ndcg_score([y], [Ridge().fit(X, y).predict(X)]), rel=1e-12)


# classifiers


@pytest.mark.peers
def test_scorer_of_classifiers(data):
    X, y, qid = data
    binary, cv = (y > 1).astype(int), GroupKFold(2)
    rows = np.insert(X, 0, qid, axis=1)
    scorer = rg.scorer("ndcg", qid=0)

    def check(model, y, scores, scorer=scorer):
        results = cross_val_score(model, rows, y, scoring=scorer, cv=cv, groups=qid, error_score="raise")
        assert results == by_hand(model, rows, y, qid, cv, "ndcg", scores)

    check(LogisticRegression(), binary, lambda model, X: model.predict_proba(X)[:, 1])
    check(LogisticRegression(), 2 * binary + 1, lambda model, X: model.predict_proba(X)[:, 1])
    check(LogisticRegression(), binary > 0, lambda model, X: model.predict_proba(X)[:, 1])
    check(LogisticRegression(max_iter=1000), y, lambda model, X: model.predict_proba(X) @ model.classes_)
    check(SVC(), binary, lambda model, X: model.decision_function(X))  # SVC has no `predict_proba`
    check(make_pipeline(StandardScaler(), SVC()), binary, lambda model, X: model.decision_function(X))
    labels = rg.scorer("ndcg", qid=0, response_method="predict")
    check(LogisticRegression(max_iter=1000), y, lambda model, X: model.predict(X), labels)
    margins = rg.scorer("ndcg", qid=0, response_method=["decision_function", "predict"])
    check(LogisticRegression(), binary, lambda model, X: model.decision_function(X), margins)
    check(Ridge(), binary, lambda model, X: model.predict(X), margins)


class Fixed:
    """A model with constant predictions."""

    def __init__(self, **given):
        for name, value in given.items():
            setattr(self, name, lambda X, value=value: value)


def test_scorer_of_other_models():
    y, qid = [0, 1, 2], [7, 7, 7]
    score = rg.scorer("ndcg@1")
    assert score(Fixed(predict=[0.1, 0.2, 0.3]), None, y, qid=qid) == 1.0
    assert score(Fixed(predict=polars.Series([0.1, 0.4, 0.3])), None, y, qid=qid) == 0.5
    assert score(Fixed(predict_proba=[[0.2, 0.8, 0], [0.1, 0.9, 0], [0.8, 0, 0.2]]), None, y, qid=qid) == 0.5
    assert score(Fixed(predict_proba=[0.1, 0.2, 0.3]), None, y, qid=qid) == 1.0


# rejected arguments


MODEL = Fixed(predict=[0.1, 0.2, 0.3])


@in_one_case(
    ("model", "y", "qid", "error", "text"),
    [
        (MODEL, [0, 1, 2], [1, 1], ValueError, r"qid has the shape \(2,\), and y_score has 3 documents"),
        (MODEL, [0, 1, 2], np.ones((3, 1)), ValueError, r"qid has the shape \(3, 1\)"),
        (MODEL, [0, 1], [1, 1, 2], ValueError, "y_true has 2 documents, and y_score has 3"),
        (MODEL, [0, 1, -2], [1, 1, 2], ValueError, "y_true: query 2, position 0 .*: the grade is negative"),
        (MODEL, [0, 1, 2], [1, np.nan, 2], ValueError, "qid: position 1: the id is NaN"),
        (Fixed(predict=[0.1, np.nan, 0.3]), [0, 1, 2], [1, 1, 1], ValueError, "y_score: query 1, position 1"),
        (Fixed(predict=[[0.1], [0.2], [0.3]]), [0, 1, 2], [1] * 3, ValueError, r"predict returned the shape \(3, 1\)"),
        (Fixed(decision_function=np.eye(3)), [0, 1, 2], [1] * 3, ValueError, "as 'predict_proba'"),
        (Fixed(predict_proba=[[[1]], [[1], [2]]]), [0, 1, 2], [1] * 3, ValueError, "proba returned rows of unequal"),
        (object(), [0, 1, 2], [1] * 3, TypeError, "object has none of the methods predict_proba, decision_function, p"),
    ],
)
def test_scorer_rejects_data(model, y, qid, error, text):
    with pytest.raises(error, match=text):
        rg.scorer("ndcg")(model, None, y, qid=qid)


def test_scorer_rejects_classes_other_than_grades():
    model = Fixed(predict_proba=[[0.5, 0.5]] * 3)
    for classes, text in ((["bad", "good"], "classes_, which must be grades"), ([0, 1, 2], "classes_ has 3")):
        model.classes_ = classes
        with pytest.raises((TypeError, ValueError), match=text):
            rg.scorer("ndcg")(model, None, [0, 1, 2], qid=[1, 1, 1])


@pytest.mark.parametrize("X", [np.eye(3), pandas.DataFrame(np.eye(3)), polars.DataFrame(np.eye(3)), np.eye(3).tolist()])
@pytest.mark.parametrize("column", ["query", 3])
def test_scorer_rejects_a_missing_column(X, column):
    with pytest.raises(ValueError, match=f"qid: {type(X).__name__} X has no column {column!r}"):
        rg.scorer("ndcg", qid=column)(MODEL, X, [0, 1, 2])


# repr and pickling


def first(X):
    return X[:, 0]


SCORERS = {
    "scorer('ndcg@10')": rg.scorer(),
    "scorer('rr')": rg.scorer("mrr"),
    "scorer('ndcg(gain={0: 0, 1: 3})@2', qid='q')": rg.scorer(rg.metric("ndcg", k=2, gain={1: 3}), qid="q"),
    "scorer('ndcg@10', qid=first, response_method='predict', ties='worst')": rg.scorer(
        qid=first, response_method="predict", ties="worst"
    ),
    "scorer('ndcg@10').set_score_request(qid='groups')": rg.scorer().set_score_request(qid="groups"),
    "scorer('ndcg@10', qid=1).set_score_request(qid=True)": rg.scorer(qid=1).set_score_request(qid=True),
}


@pytest.mark.parametrize("text", SCORERS)
def test_scorer_has_a_repr_and_can_be_pickled(text):
    assert repr(SCORERS[text]) == text
    for again in (pickle.loads(pickle.dumps(SCORERS[text])), clone(SCORERS[text], safe=False)):
        assert repr(again) == text
        assert again(MODEL, np.eye(3), [0, 1, 1], qid=[1, 1, 1]) == SCORERS[text](MODEL, None, [0, 1, 1], qid=[1, 1, 1])
    assert check_scoring(Ridge(), scoring=SCORERS[text]) is SCORERS[text]


def test_scorer_leaves_out_queries_without_a_value():
    qid = [1, 1, 2]
    model = Fixed(predict=[0.1, 0.2, 0.3])
    assert rg.scorer("ndcg")(model, None, [0, 1, 0], qid=qid) == 0.5
    assert rg.scorer("ndcg(empty=nan)")(model, None, [0, 1, 0], qid=qid) == 1.0


def test_error_score_of_scikit_learn_applies(data):
    X, y, _ = data
    with pytest.warns(UserWarning, match="the grade is negative") as caught:
        scores = cross_val_score(DummyRegressor(), X, y - 10, scoring=rg.scorer(METRIC, qid=lambda X: X[:, 0]), cv=2)
    assert np.isnan(scores).all()
    assert not any(issubclass(warning.category, FitFailedWarning) for warning in caught)


def test_scorer_rejects_metrics_where_lower_is_better():
    with pytest.raises(ValueError, match=r"lower values of .* are better"):
        rg.scorer("unjudged@5")
    assert rg.scorer("ndcg@5", qid=np.int64(3)).qid == 3
