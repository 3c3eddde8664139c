"""Bounds over possible judgments are the extremes of an enumeration of these judgments."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import in_one_case
from support.strategies import examples

import rankgain as rg
from rankgain.results.bounds import MONOTONE

pytestmark = pytest.mark.usefixtures("backend")

NAMES = [*MONOTONE, "ndcg", "ap"]
METRICS = [f"{name}{at}" for name in NAMES for at in ("", "@1", "@3")]
METRICS = ["capped_recall@2" if name == "capped_recall" else name for name in METRICS]
METRICS += [
    "ndcg(gain=exponential)@3",
    "ndcg(discount=zipf)@3",
    "ap(rel=2)@3",
    "recall(rel=2)",
    "dcg(gain=exponential)",
]
METRICS = [*dict.fromkeys(METRICS)]

grades = st.sampled_from([None, None, -1, 0, 1, 2, 3])


@st.composite
def queries(draw):
    """Draw the grades of one or two lists of up to 4 documents, and those of documents that were not returned."""
    qrels, run = {}, {}
    for query in "pq"[: draw(st.integers(1, 2))]:
        returned = draw(st.lists(grades, max_size=4))
        missed = draw(st.lists(st.sampled_from([0, 1, 3]), max_size=2))
        qrels[query] = {f"d{i}": grade for i, grade in enumerate(returned) if grade is not None}
        qrels[query] |= {f"m{i}": grade for i, grade in enumerate(missed)}
        run[query] = {f"d{i}": -float(i) for i in range(len(returned))}
    return qrels, run


def enumerated(qrels, run, metrics, k):
    """Return the extremes of each query over all grades of its unjudged documents among the first k."""
    highest = max([grade for row in qrels.values() for grade in row.values() if grade > 0], default=1)
    extremes = []
    for query, scores in run.items():
        unjudged = [doc for doc in list(scores)[:k] if qrels[query].get(doc, -1) < 0]
        filled = [
            {**qrels[query], **dict(zip(unjudged, chosen, strict=True))}
            for chosen in product(range(int(highest) + 1), repeat=len(unjudged))
        ]
        names = range(len(filled))
        result = rg.from_qrels(dict(zip(names, filled, strict=True)), dict.fromkeys(names, scores)).evaluate(metrics)
        extremes.append({metric: (result[metric].min(), result[metric].max()) for metric in metrics})
    return {
        metric: [list(end) for end in zip(*(query[metric] for query in extremes), strict=True)] for metric in metrics
    }


BY_CUT_OFF = {k: [metric for metric in METRICS if (metric.partition("@")[2] or "4") == str(k)] for k in (1, 2, 3, 4)}


@examples(1)
@given(queries())
def test_bounds_are_the_extremes_over_all_judgments(data):
    qrels, run = data
    rankings = rg.from_qrels(qrels, run, ties="stable")
    for k, metrics in BY_CUT_OFF.items():
        for metric, (low, high) in enumerated(qrels, run, metrics, k).items():
            bounds = rankings.bounds(metric)
            assert bounds.low.tolist() == pytest.approx(low, abs=1e-12), metric
            assert bounds.high.tolist() == pytest.approx(high, abs=1e-12), metric
            assert bounds.values.tolist() == rankings.evaluate(metric)[metric].tolist()
            assert np.all(bounds.low <= bounds.values)
            assert np.all(bounds.values <= bounds.high)


def test_bounds_by_hand():
    """The unjudged document at rank 2 may have the grade 0, 1 or 2; for AP, the divisor then rises to 2."""
    rankings = rg.from_qrels({"q": {"a": 2, "b": 0}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}})
    log3 = 1 / math.log2(3)
    bounds = rankings.bounds("ndcg@10")
    assert bounds.mean() == pytest.approx((0.5, 0.5, (2 * log3 + 2 / 2) / (2 + 2 * log3)))
    assert rankings.bounds("ap").mean() == pytest.approx((1 / 3, 1 / 3, (1 / 2 + 2 / 3) / 2))
    late = rg.from_qrels({"q": {"a": 2}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.0}})
    assert late.bounds("ap").mean() == pytest.approx((1.0, (1 + 2 / 3) / 2, 1.0))  # only y is relevant
    assert late.bounds("ndcg").low.item() == pytest.approx((1 + 1 / 2) / (1 + log3))
    assert late.bounds("ndcg@1").mean() == (1.0, 1.0, 1.0)
    assert str(bounds) == (
        "ndcg@10: 0.5000; 0.5000 to 0.6934 if the unjudged of the first 10 may have any grade up to 2; relevant "
        "documents outside them are not considered"
    )
    assert "0.3333 to 0.5833 if the unjudged of the returned documents may" in str(rankings.bounds("ap"))
    assert (bounds.highest, str(bounds.metric), list(bounds.query_ids)) == (2.0, "ndcg@10", ["q"])


def test_bounds_of_queries_without_lists_or_unjudged_documents():
    qrels, run = {"p": {"a": 1}, "q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    rankings = rg.from_qrels(qrels, run)
    for metric in METRICS:
        bounds = rankings.bounds(metric)
        assert bounds.low[0] == bounds.high[0] == 0.0
        condensed = rankings.limited(judged_only=True).bounds(metric)
        assert condensed.low.tolist() == condensed.high.tolist() == condensed.values.tolist()
    assert rg.from_qrels({"q": {}}, {"q": {"x": 1.0, "y": 0.5}}).bounds("ndcg@2").mean() == (0.0, 0.0, 1.0)
    assert rg.from_ranked([[0, 1]], judged=[[0, 1, 1]]).bounds("ap").mean() == (0.25, 0.25, 0.25)


@pytest.mark.needs("pandas")
def test_bounds_leave_as_frames():
    frame = rg.from_qrels({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}).bounds("rr").to_pandas()
    assert frame.loc["q"].tolist() == [0.5, 0.5, 1.0]


@in_one_case(
    ("metric", "message"),
    [
        ("bpref", "bounds: bpref may fall or rise with the grade of an unjudged document; bounds are known for cg,"),
        ("ap_capped@5", "bounds: ap_capped@5 may fall or rise"),
        ("rr(rel=0)", "bounds: rr(rel=0)* counts each judged document as relevant"),
        ("ndcg(empty=1)", "write empty=0"),
        ("ap(empty=nan)", "write empty=0"),
        (rg.metric("dcg", gain={1: 2, 2: 1}), "may fall if a grade rises"),
        ("ndcg(ideal=returned)@5", "needs ideal=judged"),
        ("ndcg_cut.5,10", "stands for 2 metrics"),
        ("nonsense", "unknown metric 'nonsense'"),
    ],
)
def test_bounds_reject_metrics(rejects, metric, message):
    rankings = rg.from_qrels({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}})
    rejects(ValueError, message.replace("*", "…"), rankings.bounds, metric)


def test_bounds_reject_undecided_ties(rejects):
    for ties in ("average", "best", "worst"):
        rankings = rg.from_qrels({"q": {"a": 1}}, {"q": {"a": 1.0}}, ties=ties)
        rejects(ValueError, f"bounds: with ties='{ties}', the ranks of unjudged", rankings.bounds, "ndcg")
