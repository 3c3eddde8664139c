"""Public records are pickled under the names that users know."""

import pickle
import pickletools

import numpy as np
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.pytrec_eval import RelevanceEvaluator

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}}
METRICS = [
    rg.metric("ndcg", k=10, gain="exponential", discount="jarvelin:2.5"),
    rg.metric("ndcg", k=3, gain={1: 3, 2: 7}, discount=[1, 0.5, 0.25]),
    rg.metric("rr", rel=2),
]
RECORDS = {
    "Metric": lambda: METRICS,
    "Evaluation": lambda: rg.from_qrels(QRELS, RUN).evaluate("ndcg@10", rg.metric("rr", k=5)),
    "Curve": lambda: rg.from_ranked([[3, 0, 1], [0, 1, 2]]).curve("ndcg", [1, 2]),
    "Attribution": lambda: rg.from_ranked([[3, 0, 1]]).attribution("ndcg", "lightgbm"),
    "Calculation": lambda: rg.from_ranked([3, 0, 1]).calculation("ndcg", 0),
    "TieSpread": lambda: rg.from_scores([[0, 1], [1, 0]], [[0.5] * 2] * 2).tie_spread("rr"),
    "Comparison": lambda: rg.compare(QRELS, {"a": RUN, "b": RUN}, ["ndcg@10"]),
    "Explanation": lambda: rg.explain("ndcg@10"),
    "Judgments": lambda: rg.judgments(QRELS),
    "RelevanceEvaluator": lambda: RelevanceEvaluator(QRELS, {"ndcg_cut.10", "map"}),
}


def content(name, record):
    """Return the content of a record for comparison with its unpickled copy."""
    if name == "Metric":
        return record
    if name == "Judgments":
        return record.query_ids, rg.from_qrels(record, RUN).evaluate("ndcg")["ndcg"].tolist()
    if name == "RelevanceEvaluator":
        return record.evaluate(RUN)
    text = repr(record)
    if name == "Evaluation":
        return text, record.to_dict(), record.counts, record.mean()
    if name == "Curve":
        return text, record.values.tolist(), record.query_ids
    return text, getattr(record, "to_dict", dict)()


@in_one_case("name", RECORDS)
def test_pickles_use_public_names(name):
    pickled = pickle.dumps(RECORDS[name](), 4)
    assert content(name, pickle.loads(pickled)) == content(name, RECORDS[name]())
    texts = {text for _, text, _ in pickletools.genops(pickled) if isinstance(text, str)}
    assert {text for text in texts if text.startswith("rankgain")} <= {"rankgain", "rankgain.pytrec_eval"}


def test_rankings_can_be_pickled():
    assert rg.Rankings.__module__ == "rankgain"
    scores = rg.from_scores(np.array([[0, 1], [2, 0]]), np.array([[0.5, 0.1], [0.5, 0.5]]))
    for rankings in (scores, rg.from_qrels(QRELS, RUN), rg.from_recommendations([{2}], [[1, 2]]).limited(depth=1)):
        again = pickle.loads(pickle.dumps(rankings))
        assert repr(again) == repr(rankings)
        assert again.evaluate("ndcg", "num_ret").to_dict() == rankings.evaluate("ndcg", "num_ret").to_dict()
