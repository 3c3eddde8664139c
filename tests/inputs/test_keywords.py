"""Keyword arguments from other tools: the error of each constructor names the argument to use instead."""

import pytest

import rankgain as rg

QRELS, RUN = {"q": {"d": 1}}, {"q": {"d": 1.0}}


def rankings_evaluate(*metrics, **options):
    return rg.from_qrels(QRELS, RUN).evaluate(*metrics, **options)


CALLS = {  # valid positional arguments for each function
    rg.from_ranked: [[1, 0]],
    rg.from_scores: [[1, 0], [2, 1]],
    rg.from_qrels: [QRELS, RUN],
    rg.from_frames: [{}, {}],
    rg.from_recommendations: [[["a"]], [["a"]]],
    rg.read_trec: ["qrels.txt", "run.txt"],
    rg.judgments: [QRELS],
    rg.evaluate: [QRELS, RUN, "rr"],
    rankings_evaluate: ["rr"],
    rg.compare: [QRELS, {"one": RUN}, "rr"],
    rg.metric: ["ndcg"],
}
EVERY = [call for call in CALLS if call not in (rg.judgments, rg.compare, rg.metric)]
PER_QUERY = "write qid= (an id per document) or group_sizes= (documents per query)"
KEYWORDS = [
    ("the cut-off belongs to the metric, as in evaluate(..., 'ndcg", EVERY, "k", "cutoff", "top_k", "at_k"),
    ("it belongs to the metric, as in evaluate(..., 'ndcg(gain=exponential)", EVERY, "gain", "rel"),
    ("write k=", [rg.metric], "cutoff", "top_k"),
    (PER_QUERY, [rg.from_scores], "groups", "group", "query", "indexes"),
    ("write group_sizes=", [rg.from_scores], "lengths"),
    ("write query=", [rg.from_frames, rg.judgments], "query_col", "qid", "col_user", "user_column"),
    ("write doc=", [rg.from_frames, rg.judgments], "doc_col", "item"),
    ("write relevance=", [rg.from_frames, rg.judgments], "label_col", "rating"),
    ("write score=", [rg.from_frames], "score_col", "prediction"),
    ("write rank=", [rg.from_frames], "rank_col"),
    ("write threads=", [rg.read_trec, rankings_evaluate], "n_jobs"),
    ("write ties=", [rg.from_scores, rg.from_qrels], "ignore_ties"),
    ("write missing='zero' or missing='skip'", [rg.from_qrels], "make_comparable"),
    ("pass it to evaluate, as in .evaluate('ndcg@10', like=...)", [rg.from_qrels, rg.from_scores, rg.compare], "like"),
    ("pass it to evaluate, as in .evaluate('ndcg@10', progress=...)", [rg.from_qrels, rg.from_scores], "progress"),
    ("metrics are positional, as in evaluate(..., 'ndcg@10', 'mrr')", [rg.from_qrels], "measures"),
    ("it takes ties, missing, query_ids", [rg.from_qrels, rg.evaluate], "surprise"),
    ("it takes judged, mask, query_ids", [rg.from_ranked], "ties"),
]


@pytest.mark.parametrize("row", KEYWORDS)
def test_unknown_keyword_is_answered_by_the_one_to_write(rejects, row):
    advice, calls, *keywords = row
    for call in calls:
        for keyword in keywords:
            message = f"() got an unexpected keyword argument {keyword!r}: {advice}"
            rejects(TypeError, message, call, *CALLS[call], **{keyword: 10})


@pytest.mark.parametrize("keyword", ["metric", "metrics"])
def test_evaluate_rejects_metrics_as_a_keyword(rejects, keyword):
    message = f"evaluate() got an unexpected keyword argument {keyword!r}: metrics are positional, as in evaluate(..., "
    rejects(TypeError, message, rg.evaluate, QRELS, RUN, **{keyword: ["rr"]})
