"""`precision`, `recall`, `average_precision` and `hit_rate`, and what names that are no functions say."""

import numpy as np
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

FUNCTIONS = ["precision", "recall", "average_precision", "hit_rate"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_the_callers(name):
    function = getattr(rg, name)
    assert type(function([1, 0, 1])) is float
    values = function(np.array([[1, 0, 1], [0, 0, 2]]))
    assert values.dtype == np.float64
    values[0] = 7  # writable
    assert function(np.empty((0, 3))).tolist() == []


def test_settings_are_remembered_within_bounds():
    for k in range(1, 400):
        rg.recall([1, 0], k=k)
    assert rg.recall([1, 0, 1], k=1.0 and 1) == 0.5
    assert len(rg.functions._kept_metrics) <= rg.functions.MOST_SETTINGS


@pytest.mark.parametrize(
    "name",
    ["cg", "dcg", "ndcg", "reciprocal_rank", "mean_ndcg", "mrr", *FUNCTIONS],
)
def test_labels_and_scores_point_to_from_scores(name):
    with pytest.raises(
        TypeError, match=rf"{name}\(\) takes relevance in rank order.*rankgain\.from_scores\(y_true, y_score\)"
    ):
        getattr(rg, name)([0, 1], [0.2, 0.9])


def test_labels_and_scores_point_to_the_drop_in():
    with pytest.raises(TypeError, match=r"rankgain\.sklearn\.ndcg_score\(y_true, y_score\)"):
        rg.ndcg([0, 1], [0.2, 0.9])


def test_other_metrics_say_how_to_ask_for_them():
    with pytest.raises(AttributeError, match=r"the drop-in for scikit-learn is rankgain\.sklearn\.ndcg_score"):
        rg.ndcg_score  # noqa: B018
    with pytest.raises(AttributeError, match=r"rankgain\.evaluate\(truth, run, 'ndcg@10'\)"):
        rg.ndcg_at_k  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is a metric.*rankgain\.evaluate\(truth, run, 'err@10'\)") as caught:
        _ = rg.err
    assert caught.value.name == "err"
    with pytest.raises(AttributeError, match=r"evaluate\('bpref'\)"):
        _ = rg.bpref
    for name in ("nothing", "_private", "__path_of_nothing__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(rg, name)
    assert not hasattr(rg, "map")
