"""Metrics for training, tested without the training libraries."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from support.marks import in_one_case
from support.training import Matrix
from support.training_sets import TRAIN, VALID, evaluated

import rankgain as rg
from rankgain.data import ragged as lists
from rankgain.metrics.metric import TABLE
from rankgain.tools import training

pytestmark = pytest.mark.usefixtures("backend")

SCORES = np.random.default_rng(0).normal(size=len(VALID.labels)).astype(np.float32)
PAIR = VALID.labels, VALID.sizes


def matrix(sizes=VALID.sizes, weights=None):
    return Matrix(VALID.labels, sizes, weights)


def trainer_metrics(metric="ndcg@5", **options):
    return [
        rg.lightgbm_metric(metric, **options),
        rg.xgboost_metric(metric, **options),
        rg.catboost_metric(metric, PAIR, **options),
    ]


def value(metric, scores=SCORES, weights=None):
    """Return the value of a training metric for the scores of VALID."""
    if isinstance(metric, training.LightGBMMetric):
        return metric(VALID.labels, scores, weights, VALID.sizes)[0][1]
    if isinstance(metric, training.XGBoostMetric):
        return metric(scores, matrix(weights=weights))[0][1]
    return metric.get_final_error(*metric.evaluate((scores,), VALID.labels, weights))


def test_constant_model_scores_like_chance():
    labels = np.tile([2.0, 1.0, 0.0, 0.0], 5)  # best documents first, as in many files
    assert rg.lightgbm_metric("rr", ties="stable")(labels, np.zeros(20), None, [4] * 5)[0][1] == 1.0
    chance = (3 / 6 * 1 + 2 / 6 * 1 / 2 + 1 / 6 * 1 / 3) / 1  # two of four documents are relevant
    assert rg.lightgbm_metric("rr")(labels, np.zeros(20), None, [4] * 5)[0][1] == pytest.approx(chance)


def test_query_weight_is_the_mean_of_document_weights():
    expected = evaluated(VALID, SCORES, "ndcg@5", weights=VALID.weights)[0]
    assert expected != evaluated(VALID, SCORES, "ndcg@5")[0]
    spread = np.repeat(VALID.weights, VALID.sizes.astype(np.intp))
    last = np.cumsum(VALID.sizes) - 1
    spread[last] += 0.5  # changes the weights within a query, but not their mean
    spread[last - 1] -= 0.5
    for metric in trainer_metrics():
        assert value(metric, weights=spread) == pytest.approx(expected, rel=1e-12)
        with pytest.raises(ValueError, match=r"there are 3 weights for 25 queries of \d+ documents"):
            value(metric, weights=np.ones(3))
    assert value(rg.xgboost_metric("ndcg@5"), weights=VALID.weights) == expected


def test_a_query_without_documents_has_no_weight():
    metric = rg.lightgbm_metric("rr")
    # LightGBM's weights are per document, although their number equals the number of queries
    assert metric([0, 1, 1], [3, 2, 1], [2.0, 2.0, 3.0], [2, 0, 1])[0][1] == (2 * 0.5 + 3 * 1.0) / 5


def test_names_of_metrics_follow_the_request():
    table = rg.metric("ndcg", k=3, gain={1: 1.5, 2: 7, 3: 8, 4: 9, 5: 9})
    metrics = ["ndcg@10", "mrr", "ndcg:gain=exponential@10", "ndcg_cut.5,10", "dcg ( discount = zipf ) @ 3", table]
    names = [
        "ndcg@10_rankgain",
        "mrr_rankgain",
        "ndcg=gain=exponential@10_rankgain",
        "ndcg_cut_5_rankgain",
        "ndcg_cut_10_rankgain",
        "dcg(discount=zipf)@3_rankgain",
        "ndcg(gain={0=0,1=1.5,2=7,3=8,4=9,5=9})@3_rankgain",
    ]
    both = rg.lightgbm_metric(*metrics), rg.xgboost_metric(*metrics)
    given = both[0](*PAIR[:1], SCORES, None, VALID.sizes), both[1](SCORES, matrix())
    for results in given:
        assert [name for name, *_ in results] == names
        expected = rg.from_scores(VALID.labels, SCORES, group_sizes=VALID.sizes).evaluate(*metrics)
        assert [result[1] for result in results] == list(expected.mean().values())
    assert [type(metric).__name__ for metric in map(rg.catboost_metric, metrics[:2], [PAIR] * 2)] == names[:2]
    assert both[1].__name__ == names[-1]
    assert repr(rg.xgboost_metric("ndcg@10", "rr")) == "<XGBoostMetric: ndcg@10, rr, ties='average'>"


@in_one_case("name", TABLE)
def test_direction_follows_the_metric(name):
    """Higher is better if ranking the best documents first gives a higher value than ranking them last."""
    row = TABLE[name]
    requested = rg.metric(name, max_grade=5) if "max_grade" in row.takes else name
    metric = rg.lightgbm_metric(requested, ties="stable")
    first, last = (metric(VALID.labels, sign * VALID.labels, None, VALID.sizes)[0] for sign in (1, -1))
    assert first[2] is metric.maximize is (row.better >= 0)
    assert first[1] >= last[1] or row.better < 0
    assert (
        rg.catboost_metric(requested, PAIR).is_max_optimal() is rg.xgboost_metric(requested).maximize is metric.maximize
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_copies_of_metrics_are_equal(copied):
    for metric in [
        *trainer_metrics(),
        *trainer_metrics(rg.metric("ndcg", k=3, gain=[0, 5, 6, 7, 8, 9]), ties="worst", threads=2),
    ]:
        other = copied(metric)
        assert repr(other) == repr(metric)
        assert type(other).__name__ == type(metric).__name__
        assert value(other) == value(metric)


def test_labels_are_not_copied(monkeypatch):
    """float32 arrays are passed to the kernels unchanged."""
    taken = []
    in_place = lists.RaggedArray.in_place
    monkeypatch.setattr(lists.RaggedArray, "in_place", lambda self: taken.append(in_place(self)[0]) or in_place(self))
    for metric in trainer_metrics():
        value(metric)
    inputs = VALID.labels, SCORES
    assert len(taken) == 6
    assert all(any(np.shares_memory(values, one) for one in inputs) for values in taken)


# rejected data sets


def test_sets_without_groups_are_rejected():
    class Dataset:
        get_label = get_weight = get_group = staticmethod(lambda: None)

    with pytest.raises(
        ValueError, match=r"lightgbm_metric: the data set has no groups.*lgb\.Dataset\(…, group=sizes\)"
    ):
        rg.lightgbm_metric("rr")(SCORES, Dataset())
    with pytest.raises(TypeError, match=r"lightgbm_metric is for LightGBM.*rankgain\.xgboost_metric"):
        rg.lightgbm_metric("rr")(SCORES, matrix())
    with pytest.raises(TypeError, match=r"xgboost_metric is for XGBoost.*rankgain\.lightgbm_metric"):
        rg.xgboost_metric("rr")(SCORES, Dataset())
    with pytest.raises(ValueError, match=r"no groups.*group= and eval_group= of LGBMRanker\.fit"):
        rg.lightgbm_metric("rr")(VALID.labels, SCORES, None, None)
    with pytest.raises(ValueError, match=r"the DMatrix has no groups.*qid=ids.*set_group\(sizes\)"):
        rg.xgboost_metric("rr")(SCORES, matrix(sizes=[]))
    with pytest.raises(ValueError, match=r"sets\[1\]: the Pool has no groups: pass group_id to it"):
        rg.catboost_metric("rr", PAIR, Pool(VALID, None))


def test_subset_of_queries_is_recognised():
    """The subset may contain queries without documents, and the whole data set may have no groups."""
    whole = SimpleNamespace(get_group=lambda: np.array([2, 0, 3, 1]), used_indices=None, reference=None)
    given = {"get_label": lambda: [0.0, 1.0, 1.0], "get_weight": lambda: None}
    sizes, rows = [2, 0, 1, 0], [0, 1, 5]
    part = SimpleNamespace(get_group=lambda: sizes, used_indices=rows, reference=whole, **given)
    assert rg.lightgbm_metric("rr")([0.1, 0.2, 0.3], part)[0][1] == 2 / 4
    sizes[:], rows[:] = [2, 1], [0, 1, 2]
    with pytest.raises(ValueError, match="this subset splits 1 of its 2 queries, such as query 2"):
        rg.lightgbm_metric("rr")([0.1, 0.2, 0.3], part)
    whole.get_group = lambda: None
    assert rg.lightgbm_metric("rr")([0.1, 0.2, 0.3], part)[0][1] == 1.0


def test_metric_of_an_xgboost_estimator():
    one, each = rg.xgboost_metric("rr"), rg.xgboost_metric("rr", per_query=True)
    assert each(VALID.labels[:4], SCORES[:4]) == rg.from_scores(VALID.labels[:4], SCORES[:4]).evaluate("rr").mean("rr")
    for call in (lambda: one(VALID.labels, SCORES), lambda: each(VALID.labels, SCORES, sample_weight=SCORES)):
        with pytest.raises(TypeError, match=r"XGBoost's estimators pass no groups: use xgb\.train.*per_query=True"):
            call()
    with pytest.raises(ValueError, match="per_query=True is for XGBRanker, which takes one metric, not 2"):
        rg.xgboost_metric("rr", "ndcg", per_query=True)


class Pool:
    def __init__(self, given, query):
        self.get_label, self.get_group_id_hash = (lambda: given.labels), (lambda: query)


def test_sets_of_catboost_are_recognised_by_their_labels():
    other = TRAIN.labels, TRAIN.sizes
    metric = rg.catboost_metric("ndcg@5", other, Pool(VALID, np.uint64(7) * VALID.query), PAIR)
    assert value(metric) == evaluated(VALID, SCORES, "ndcg@5")[0]
    mixed = np.random.default_rng(1).permutation(VALID.labels)
    with pytest.raises(ValueError, match=r"CatBoost has shuffled.*has_time=True, or pass otherwise=0\.0"):
        metric.evaluate([SCORES], mixed, None)
    with pytest.raises(ValueError, match=rf"a set of 5 documents.*\(of {len(TRAIN.labels)}, {len(SCORES)}, \d+ docu"):
        metric.evaluate([SCORES[:5]], VALID.labels[:5], None)
    with pytest.raises(ValueError, match="a document must have one score, not 2"):
        metric.evaluate([SCORES, SCORES], VALID.labels, None)
    metric = rg.catboost_metric("ndcg@5", PAIR, otherwise=np.float32(0.5))
    assert metric.evaluate([SCORES], mixed, None) == (0.5, 1.0)
    with pytest.raises(ValueError, match="the labels of none of the sets passed"):  # a set that was not passed
        metric.evaluate([SCORES[:5]], VALID.labels[:5], None)
    assert value(metric) == evaluated(VALID, SCORES, "ndcg@5")[0]


def test_sets_of_catboost_are_copied():
    labels, sizes = VALID.labels.copy(), VALID.sizes.copy()
    metric = rg.catboost_metric("ndcg@5", (labels, sizes))
    labels[:], sizes[:] = 0, 0
    assert value(metric) == evaluated(VALID, SCORES, "ndcg@5")[0]
