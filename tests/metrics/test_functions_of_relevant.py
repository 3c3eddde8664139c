"""`precision`, `recall`, `average_precision` and `hit_rate`, and what names that are no functions say."""

import numpy as np
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

FUNCTIONS = {"precision": "precision", "recall": "recall", "average_precision": "ap", "hit_rate": "success"}
LISTS = [[3, 0, 1, 0, 2], [0, 0], [], [0, 1, 1, 1], [2]]
JUDGED = [[3, 1, 2, 2, 0, 0], [1, 0], [1], [1, 1, 1, 1, 0], [2, 2]]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("k", [None, 1, 3, 10, np.int64(3)])
@pytest.mark.parametrize("rel", [None, 1, 2.0])
@pytest.mark.parametrize("judged", [None, JUDGED])
def test_as_evaluate(name, k, rel, judged):
    metric = rg.metric(FUNCTIONS[name], k=k, rel=rel)
    expected = rg.from_ranked(LISTS, judged=judged).evaluate(metric)[metric].tolist()
    assert getattr(rg, name)(LISTS, k=k, rel=rel, judged=judged).tolist() == expected
    for own, (query, relevance) in zip(expected, enumerate(LISTS), strict=True):
        known = None if judged is None else judged[query]
        one = getattr(rg, name)(relevance, k=k, rel=rel, judged=known)
        assert type(one) is float
        assert one == own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forms(name):
    function, rows = getattr(rg, name), [[1, 0, 1], [0, 0, 2]]
    expected = function(rows).tolist()
    for form in (np.array(rows), np.array(rows, dtype=np.float32), [np.array(row) for row in rows], tuple(rows)):
        values = function(form)
        assert values.dtype == np.float64
        assert values.tolist() == expected
        values[0] = 7  # its own, and writable
    assert function(np.empty((0, 3))).tolist() == []


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("relevance", "options", "message"),
    [
        ([1, -1], {}, "relevance: position 1: the grade is negative"),
        ([[1], [0, float("nan")]], {}, "relevance: query 1, position 1: the grade is NaN"),
        ([1], {"k": 0}, "k must be a positive integer"),
        ([1], {"k": True}, "k must be a positive integer"),
        ([1], {"rel": "high"}, "rel must be a number"),
        ([1], {"judged": [[1], [1]]}, "judged has 2 lists, and relevance has 1"),
        ("text", {}, "relevance must hold real numbers"),
    ],
)
def test_refusals(name, relevance, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(rg, name)(relevance, **options)


@pytest.mark.parametrize("name", ["recall", "average_precision"])
def test_judged_that_lacks_what_was_returned(name):
    with pytest.raises(ValueError, match="judged lacks grades"):
        getattr(rg, name)([1, 1, 1], judged=[1])


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
    with pytest.raises(TypeError, match=rf"{name}\(\) takes one list .*rankgain\.from_scores\(y_true, y_score\)"):
        getattr(rg, name)([0, 1], [0.2, 0.9])


def test_labels_and_scores_point_to_the_drop_in():
    with pytest.raises(TypeError, match=r"rankgain\.sklearn\.ndcg_score\(y_true, y_score\)"):
        rg.ndcg([0, 1], [0.2, 0.9])


def test_other_metrics_say_how_to_ask_for_them():
    with pytest.raises(AttributeError, match=r"that of scikit-learn is rankgain\.sklearn\.ndcg_score"):
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
