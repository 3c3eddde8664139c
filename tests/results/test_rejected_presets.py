"""Tools and metrics that `evaluate` and `explain` reject for the argument `like`."""

import pytest

import rankgain as rg

SCORED, MATCHED = rg.from_scores([[0, 1]], [[0.1, 0.2]]), rg.from_qrels({"q": {"a": 1}}, {"q": {"a": 0.5}})


@pytest.mark.parametrize("row", [
    ("like='solr': unknown tool; there are: trec_eval-9,…, ndeval, rankgain", ValueError, "ndcg", "solr"),
    ("unknown tool (did you mean 'xgboost'?); there are: trec_eval-9…pytrec_eval for trec_eval-9", ValueError,
     "ndcg", "xgbost"),
    ("like must be the name of a tool, not int 9", TypeError, "ndcg", 9),
    ("rankgain knows no err of scikit-learn; it knows ndcg, ndcg@k, dcg, dcg@k", ValueError, "err", "sklearn"),
    ("rankgain knows no rbp of ranx; it knows…r_precision. ranx's rbp sums raw grades", ValueError, "rbp", "ranx"),
    ("rankgain knows no rr@k of trec_eval 9.0.8 and pytrec_eval", ValueError, "rr@10", "trec_eval-9"),
    ("rankgain knows no ndcg of RecTools; it knows ndcg@k, ap@k", ValueError, "ndcg", "rectools"),
    ("NDCG(k) is rankgain's dcg: dcg does not take empty", TypeError, "ndcg(empty=1)@3", "rectools"),
    ("like='trec_eval-9': ties='docid' needs document ids, and bare scores have", ValueError, "ndcg", "trec_eval-9"),
    ("unknown metric 'nonsense'", ValueError, "nonsense", "sklearn"),
])  # fmt: skip
def test_evaluate_rejects_a_tool_or_its_metric(rejects, row):
    message, error, metric, like = row
    rejects(error, message, SCORED.evaluate, metric, like=like)
    rejects(error, message, rg.evaluate, [[0, 1]], [[0.1, 0.2]], metric, like=like)


def test_evaluate_like_a_tool_needs_a_metric(rejects):
    rejects(ValueError, "no metric was requested", SCORED.evaluate, like="sklearn")


@pytest.mark.parametrize("metric", ["hits", "hits@10", "Hits@10"])
def test_hits_of_ranx_are_answered_by_the_metric_to_write(rejects, metric):
    message = "like='ranx': hits of ranx is a count: write cg(gain=binary)@k without like, or success@k"
    rejects(ValueError, message, rg.explain, metric, like="ranx")
    rejects(ValueError, message, MATCHED.evaluate, metric, like="ranx")


@pytest.mark.parametrize("row", [
    ("k must be a positive integer", "ndcg@x", None),
    ("stands for 9 metrics: give one, such as ndcg_cut_5", "ndcg_cut", None),
    ("unknown tool", "ndcg@5", "ranks"),
    ("unknown tool", "ndcg@5", ("sklearn", "solr")),
    ("like is empty", "ndcg@5", []),
])  # fmt: skip
def test_explain_rejects_a_metric_or_a_tool(rejects, row):
    message, metric, like = row
    rejects(ValueError, message, rg.explain, metric, like=like)
