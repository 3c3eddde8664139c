"""The scorer with splits that divide queries, and without query ids."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(12), 5)
X = np.column_stack([RNG.normal(size=(60, 2)), QID])
Y = RNG.integers(0, 4, 60)
CUT = "the split divides queries, such as .*GroupKFold"


def scorers():
    return rg.scorer("ndcg@5", qid=2), rg.scorer("ndcg@5", qid=lambda rows: rows[:, 2])


@pytest.mark.parametrize("cv", [KFold(7), KFold(4, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0)])
def test_split_that_cuts_queries_warns(cv):
    for scorer in scorers():
        with pytest.warns(UserWarning, match=CUT):
            assert np.isfinite(cross_val_score(Ridge(), X, Y, scoring=scorer, cv=cv)).all()
    with pytest.warns(UserWarning, match=CUT):
        GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer, cv=cv).fit(X, Y)
    with pytest.warns(UserWarning, match=CUT):
        cross_validate(Ridge(), X, Y, scoring={"a": scorer, "b": "r2"}, cv=cv, return_train_score=True)


class Masks(KFold):
    """A KFold that yields boolean masks instead of row numbers."""

    def split(self, X, y=None, groups=None):
        for parts in super().split(X, y, groups):
            yield tuple(np.isin(np.arange(len(X)), rows) for rows in parts)


def test_split_given_as_masks_warns():
    scorer = rg.scorer("ndcg@5", qid=2)
    with pytest.warns(UserWarning, match=r"such as \d+, of which"):
        cross_val_score(Ridge(), X, Y, scoring=scorer, cv=Masks(7))
    assert np.isfinite(cross_val_score(Ridge(), X, Y, scoring=scorer, cv=Masks(6))).all()


@pytest.mark.slow
def test_split_in_other_processes_warns():
    """joblib passes the warning filters on, so the warning is raised as an error and scikit-learn reports it."""
    with pytest.raises(UserWarning, match=r"(?s)Scoring failed.*the split divides queries"):
        cross_val_score(Ridge(), X, Y, scoring=rg.scorer("ndcg@5", qid=2), cv=KFold(7), n_jobs=2)


@pytest.mark.parametrize("cv", [GroupKFold(4), LeaveOneGroupOut(), KFold(6), KFold(12)])
def test_split_by_query_does_not_warn(cv):
    groups = None if isinstance(cv, KFold) else QID
    for scorer in scorers():
        scores = cross_val_score(Ridge(), X, Y, scoring=scorer, cv=cv, groups=groups)
        assert np.isfinite(scores).all()
        GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer, cv=cv).fit(X, Y, groups=groups)
    frame = pd.DataFrame(X, columns=["a", "b", "query"])
    assert cross_val_score(Ridge(), frame, Y, scoring=rg.scorer("ndcg@5", qid="query"), cv=cv, groups=groups).shape


def test_routed_ids():
    with sklearn.config_context(enable_metadata_routing=True):
        for name in ("qid", "groups"):
            scorer = rg.scorer("ndcg@5").set_score_request(qid=True if name == "qid" else name)
            with pytest.warns(UserWarning, match=CUT):
                cross_val_score(Ridge(), X, Y, scoring=scorer, cv=KFold(7), params={name: QID})
        scorer = rg.scorer("ndcg@5").set_score_request(qid="groups")
        cross_val_score(Ridge(), X, Y, scoring=scorer, cv=GroupKFold(4), params={"groups": QID})


@pytest.mark.parametrize("error_score", [np.nan, "raise", 0.0])
def test_missing_ids_raise_instead_of_nan_scores(error_score):
    scorer = rg.scorer("ndcg@5")
    for call in (
        lambda: cross_val_score(Ridge(), X, Y, scoring=scorer, cv=KFold(3), error_score=error_score),
        lambda: cross_validate(Ridge(), X, Y, scoring={"n": scorer}, cv=KFold(3), error_score=error_score),
        lambda: cross_validate(Ridge(), X, Y, scoring=scorer, cv=KFold(3), error_score=error_score),
        lambda: GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer, error_score=error_score).fit(X, Y),
    ):
        with pytest.raises(TypeError, match=r"^qid: scorer\('ndcg@5'\) does not know which query each row belongs to"):
            call()


@pytest.mark.parametrize("make", [np.asarray, lambda rows: pd.DataFrame(rows, columns=["a", "b", "c"])])
def test_missing_column_raises_instead_of_nan_scores(make):
    scorer, rows = rg.scorer("ndcg@5", qid="wrong"), make(X)
    message = r"^qid: ndarray X has no column 'wrong'"
    if make is not np.asarray:
        message = r"^qid: DataFrame X has no column 'wrong' .*; there are: a, b, c$"
    for call in (
        lambda: cross_val_score(Ridge(), rows, Y, scoring=scorer, cv=KFold(3)),
        lambda: GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer).fit(rows, Y),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match=message):
        scorer(Ridge().fit(rows, Y), rows, Y)


def test_scorer_called_by_hand_does_not_warn():
    model = Ridge().fit(X, Y)
    scorer = rg.scorer("ndcg@5")
    assert scorer(model, X[3:7], Y[3:7], qid=QID[3:7]) > 0  # deliberately a part of the data
    assert rg.scorer("ndcg@5", qid=2)(model, X[3:7], Y[3:7]) > 0
