"""Metrics and peers by the names that people write."""

import math

import pytest

import rankgain as rg
from rankgain.metrics import metric as names
from rankgain.metrics.metric import parse
from rankgain.metrics.table import TABLE

RANKINGS = rg.from_ranked([[0, 1, 2, 0, 1], [0, 0]])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ndcg", "ndcg"),
        (" NDCG @10 ", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_10", "ndcg@10"),
        ("ndcg_at_10", "ndcg@10"),
        ("nDCG_At_10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("NDCG_cut_10", "ndcg@10"),
        ("ndcg(k=5)", "ndcg@5"),
        ("ndcg()", "ndcg"),
        (f"ndcg@{2**2000}", rg.metric("ndcg", k=2**2000)),
        ("ndcg_10(gain=exponential)", "ndcg(gain=exponential)@10"),
        ("ndcg(gain=exponential)@10", rg.metric("ndcg", k=10, gain="exponential")),
        ("ndcg:gain=exponential@10", rg.metric("ndcg", k=10, gain="exponential")),
        ("ndcg( gain = Exponential , ideal=returned )@5", rg.metric("ndcg", k=5, gain="exponential", ideal="returned")),
        ("ndcg(empty=nan)", rg.metric("ndcg", empty=math.nan)),
        ("dcg(discount=jarvelin:10)@3", rg.metric("dcg", k=3, discount="jarvelin:10")),
        ("dcg:discount=jarvelin:10@3", rg.metric("dcg", k=3, discount="jarvelin:10")),
        ("ideal_dcg@2", "idcg@2"),
        ("mrr(rel=2)@10", rg.metric("rr", rel=2, k=10)),
        ("recip_rank", "rr"),
        ("reciprocal_rank@3", "rr@3"),
        ("mrr_10", "rr@10"),
        ("mean_reciprocal_rank@10", "rr@10"),
        ("hitrate@10", "success@10"),
        ("HitRate@10", "success@10"),
        ("hit-rate@10", "success@10"),
        ("HR@10", "success@10"),
        ("hr_at_10", "success@10"),
        ("recall_10", "recall@10"),
        ("f1_10", "f@10"),
        ("MAP", "ap"),
        ("map_at_10", "ap@10"),
        ("mean_average_precision@10", "ap@10"),
        ("Average-Precision@3", "ap@3"),
        ("R-Prec", "r_precision"),
        ("precision_at_5", "precision@5"),
        ("P_5", "precision@5"),
        ("rbp_resid_5", "rbp_residual@5"),
        ("11pt_avg", "iprec_mean"),
    ],
)
def test_names_as_people_write_them(written, meant):
    ((key, record),) = parse(written)
    assert key == written
    assert meant in (record, str(record))
    assert RANKINGS.evaluate(written)[written].tobytes() == RANKINGS.evaluate(meant)[meant].tobytes()


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("ndcg@1,3", ["ndcg@1", "ndcg@3"]),
        ("ndcg@1, 3", ["ndcg@1", "ndcg@3"]),
        ("ndcg_1,3", ["ndcg_1", "ndcg_3"]),
        ("ndcg_at_1,3", ["ndcg_at_1", "ndcg_at_3"]),
        ("ndcg(gain=exponential)@1,3", ["ndcg(gain=exponential)@1", "ndcg(gain=exponential)@3"]),
        ("f:beta=1@1,3", ["f:beta=1@1", "f:beta=1@3"]),
        ("P@5,5", ["P@5"]),
        ("ndcg_cut.5,10", ["ndcg_cut_5", "ndcg_cut_10"]),
        ("ndcg_cut", [f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
    ],
)
def test_several_cutoffs(written, keys):
    result = RANKINGS.evaluate(written)
    assert list(result) == keys
    for key in keys:
        assert result[key].tolist() == RANKINGS.evaluate(key)[key].tolist()
        assert result.mean(key) == RANKINGS.evaluate(written).aggregate()[key]


def test_no_two_metrics_share_a_name_however_it_is_written():
    held = {}
    for row in TABLE.values():
        for name in (row.name, *row.aliases):
            assert held.setdefault(names._bare(name), row) is row


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("pytrec_eval", "trec_eval-9"),
        ("trec_eval", "trec_eval-10"),
        ("scikit-learn", "sklearn"),
        ("Scikit Learn", "sklearn"),
        ("TREC_EVAL-9", "trec_eval-9"),
        ("MS MARCO", "msmarco"),
        ("LightGBM", "lightgbm"),
    ],
)
def test_peers_as_people_write_them(written, name):
    run = rg.from_qrels({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.5, "c": 0.5}})
    metric = "rr@10" if name == "msmarco" else "ndcg@10"
    assert run.evaluate(metric, like=written).like == name
    assert str(rg.explain(metric, like=written)) == str(rg.explain(metric, like=name))


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
    assert "it is a module: write `from rankgain import sklearn`" in rg._unknown("sklearn")
    for name in ("nothing", "_private", "__path_of_nothing__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(rg, name)
    assert not hasattr(rg, "map")
