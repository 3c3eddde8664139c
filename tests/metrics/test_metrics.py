"""Metrics requested as strings or records, the keys of the result, and invalid requests."""

import copy
import math
import pickle

import numpy as np
import pytest

import rankgain as rg
from rankgain import functions
from rankgain.metrics import discounts
from rankgain.metrics.metric import parse

pytestmark = pytest.mark.usefixtures("backend")


def one(text):
    ((key, metric),) = parse(text)
    assert key == text
    return metric


def test_metric_records_compare_by_value_and_have_a_short_repr():
    assert rg.metric("mrr", k=np.int64(3)) == rg.metric("rr", k=3)
    assert hash(rg.metric("ndcg", gain={1: 3})) == hash(rg.metric("ndcg", gain={1.0: 3.0}))
    assert rg.metric("ndcg", gain=[0, 1, 5]) == rg.metric("ndcg", gain={0: 0, 1: 1, 2: 5})
    assert (
        str(rg.metric("ndcg", k=10, gain="exponential", ideal="returned")) == "ndcg(gain=exponential,ideal=returned)@10"
    )
    assert str(rg.metric("dcg", discount="jarvelin:2.5")) == "dcg(discount=jarvelin:2.5)"
    for text in ("ndcg(gain=exponential,discount=zipf,empty=1)@3", "rr(rel=2,empty=nan)@10", "cg"):
        assert str(one(text)) == text


def test_result_keys_are_the_strings_as_given():
    record = rg.metric("ndcg", k=2, gain={1: 3, 2: 7})
    result = rg.from_ranked([[2, 1, 0], [0, 0, 1]]).evaluate("RR@10", "mrr@10", record, "ndcg_cut.1,2")
    assert list(result) == ["RR@10", "mrr@10", record, "ndcg_cut_1", "ndcg_cut_2"]
    assert np.shares_memory(result["RR@10"], result["mrr@10"])  # both names share one vector
    assert result[record].tolist() == [1.0, 0.0]
    with pytest.raises(KeyError, match=r"rr@10 was not evaluated; there are: RR@10, mrr@10"):
        result["rr@10"]


def test_mean_of_no_queries_is_nan():
    assert math.isnan(rg.from_ranked([0, 0]).evaluate("ndcg(empty=nan)").mean("ndcg(empty=nan)"))
    assert math.isnan(rg.mrr(np.empty((0, 3))))


def test_empty_does_not_reward_missing_queries():
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1.0}}
    result = rg.from_qrels(qrels, run).evaluate("ndcg(ideal=returned,empty=1)", "rr(empty=1)")
    assert [vector.tolist() for vector in result.values()] == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("other", ["cg@3", "mrr", "ndcg"])
def test_value_does_not_depend_on_the_other_metrics(other):
    late = rg.from_ranked([0, 0, 1], judged=[0, 0, 0])
    assert math.isnan(late.evaluate("rr(empty=nan)@2")["rr(empty=nan)@2"][0])
    if other != "ndcg":  # `ndcg` rejects a judged set that lacks returned grades
        assert math.isnan(late.evaluate("rr(empty=nan)@2", other)["rr(empty=nan)@2"][0])
    # A grade beyond the cut-off is not read, even if it has no gain.
    first = rg.from_ranked([1, 2000])
    assert first.evaluate("dcg(gain=exponential)@1", other)["dcg(gain=exponential)@1"].tolist() == [1.0]
    table = rg.metric("dcg", k=1, gain={1: 3})
    assert first.evaluate(table, other)[table].tolist() == [3.0]


def test_gain_is_not_called_for_absent_grades():
    inverse = rg.metric("dcg", gain=lambda grades: 1 / grades)
    assert rg.from_ranked([[1, 2]]).evaluate(inverse)[inverse].tolist() == [rg.dcg([1, 0.5])]


def test_changed_gain_mapping_is_read_again():
    class Table(dict):
        __hash__ = object.__hash__

    table = Table({1: 3})
    assert rg.dcg([1], gain=table) == 3.0
    table[1] = 100
    assert rg.dcg([1], gain=table) == 100.0


def test_result_is_never_minus_zero():
    assert math.copysign(1, rg.ndcg([0], empty=-0.0)) == 1.0
    assert rg.metric("rr", empty=-0.0) == rg.metric("rr")


def test_metric_record_is_frozen():
    record = rg.metric("ndcg", k=10, gain={1: 3}, discount="zipf", ideal="returned", empty=math.nan)
    for same in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), record.at(5).at(10)):
        assert same == record
        assert hash(same) == hash(record)
    assert record.at(None) == rg.metric("ndcg", gain={1: 3}, discount="zipf", ideal="returned", empty=math.nan)
    assert repr(rg.metric("rr", k=3, rel=2)) == "<Metric rr(rel=2)@3>"
    with pytest.raises(AttributeError, match="'k' cannot be set"):
        record.k = 5
    with pytest.raises(AttributeError, match="'k' cannot be set"):
        del record.k


def test_cached_settings_differ_by_type():
    """A value that equals a valid setting may still be invalid, and mutable settings are validated in every call."""
    for function in (rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.reciprocal_rank):
        for k in (1, np.int64(1), 1):
            assert function([1, 2], k=k) == function([1, 2], k=1)
        for k in (True, 1.0, np.True_, np.float64(1)):
            with pytest.raises(TypeError, match="k must be a positive integer"):
                function([1, 2], k=k)
    assert rg.ndcg([0], empty=0) == rg.ndcg([0], empty=0.0) == 0.0
    for empty in (False, np.False_, 0j):
        with pytest.raises(TypeError, match="empty must be a number"):
            rg.ndcg([0], empty=empty)
    assert rg.reciprocal_rank([1], rel=1) == 1.0
    with pytest.raises(TypeError, match="rel must be a number"):
        rg.reciprocal_rank([1], rel=True)
    gain, discount = [0, 1], [1.0]
    for factor in (1, 2, 3):
        gain[1] = discount[0] = factor
        assert rg.dcg([1], gain=gain) == rg.dcg([1], discount=discount) == factor
    for k in range(1, 2 * functions.MOST_SETTINGS):
        assert rg.cg([1, 1, 1], k=k) == min(k, 3)
        assert rg.recall([1, 0], k=k) == 1.0
    assert len(functions._settings_cache) <= functions.MOST_SETTINGS
    assert len(functions._metrics_cache) <= functions.MOST_SETTINGS


@pytest.mark.parametrize("function", [rg.precision, rg.recall, rg.average_precision, rg.hit_rate])
def test_returned_arrays_belong_to_the_caller(function):
    assert type(function([1, 0, 1])) is float
    values = function(np.array([[1, 0, 1], [0, 0, 2]]))
    assert values.dtype == np.float64
    values[0] = 7  # the array is writable


def test_subnormal_tied_gains_do_not_exceed_the_ideal():
    result = rg.from_scores([[5e-324] * 9 + [0]], [[0.0] * 10]).evaluate("ndcg")
    assert 0 <= result["ndcg"][0] <= 1


def test_tables_of_discounts_are_bounded_in_number(backend):
    rankings = rg.from_ranked([[1, 0, 2]])
    for step in range(3 * discounts.MOST_TABLES):
        rankings.evaluate(f"dcg(discount=jarvelin:{2 + step / 8})")
        assert len(discounts._tables) <= discounts.MOST_TABLES
    assert rankings.evaluate("dcg").mean("dcg") == rg.dcg([1, 0, 2])
