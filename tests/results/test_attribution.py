"""The attribution of differences to rules is checked against `evaluate` for each rule of each tool."""

import math

import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.results.peers import PEERS

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {
    "q1": {"a": 3, "b": 0, "c": 1, "d": 2},
    "q2": {"a": 0, "b": 0},
    "q3": {"a": 0.5, "b": 2, "e": 1},
    "q4": {"a": 1},
}
RUN = {
    "q1": {"a": 0.5, "b": 0.5, "c": 0.25, "x": 0.75, "d": 0.1},
    "q2": {"a": 1.0, "b": 2.0},
    "q3": {"b": 1.0, "a": 1.0 + 1e-12, "x": 0.5},
}
RULES = ["queries", "judged documents", "definition", "gain", "discount", "ideal", "relevant", "empty"]
RULES += ["ties", "precision of scores"]
SCORED = ["queries", "judged documents"]  # the rules of tools that take arrays
METRICS = {  # a metric of the tool, and the rules that differ for this metric
    "trec_eval-9": ("ap@2", ["queries", "relevant", "precision of scores"]),
    "trec_eval-10": ("iprec", ["definition", "relevant"]),
    "sklearn": ("ndcg@2", [*SCORED, "ties"]),
    "lightgbm": ("ap@2", [*SCORED, "definition", "relevant", "empty", "ties"]),
    "xgboost": ("ndcg@2", [*SCORED, "gain", "empty", "ties", "precision of scores"]),
    "catboost": ("recall@2", [*SCORED, "relevant", "empty", "ties"]),
    "torchmetrics": ("ap@2", [*SCORED, "definition", "ties", "precision of scores"]),
    "ranx": ("f@2", ["relevant", "ties"]),
    "lenskit": ("ndcg@2", ["queries", "gain", "discount", "ties"]),
    "rectools": ("ndcg@2", ["definition", "ties"]),
    "implicit": ("ndcg@2", ["gain", "empty", "ties"]),
    "spark": ("ap@2", ["definition", "ties"]),
    "elasticsearch": ("ndcg@2", ["gain", "ideal", "ties"]),
    "beir": ("capped_recall@2", ["queries", "ties"]),
    "msmarco": ("rr@2", ["relevant", "ties"]),
}


def attribution(metric="ndcg@2", like="lightgbm", run=RUN, given=None):
    return rg.from_qrels(QRELS, run).attribution(metric, like, given=given)


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def test_each_tool_has_a_case():
    """Except for ndeval, whose metrics need judgments by subtopic: see test_subtopic_results.py."""
    assert METRICS.keys() == PEERS.keys() - {"ndeval"}


@in_one_case("like", METRICS)
def test_attribution_ends_at_the_mean_of_the_tool(like):
    metric, rules = METRICS[like]
    result = attribution(metric, like)
    rankings = rg.from_qrels(QRELS, RUN)
    assert [row["rule"] for row in result.rows] == rules == sorted(rules, key=RULES.index)
    assert result.mean == rankings.evaluate(metric).aggregate(metric)
    expected = rankings.evaluate(metric, like=like).aggregate(metric)
    assert result.like_mean == result.rows[-1]["with_above"] == expected
    for row in result.rows:
        assert row["change"] == row["only_this"] - result.mean, row["rule"]
    assert math.fsum(row["adds"] for row in result.rows) == pytest.approx(expected - result.mean, abs=1e-12)
    assert repr(result).startswith(f"{metric}: {result.mean:.4f} by rankgain, {expected:.4f} like {like} (")


ALONE = [  # tool, metric, rule, and the mean with only this rule, evaluated directly
    ("xgboost", "ndcg@2", "gain", lambda r: r.evaluate("ndcg(gain=exponential)@2")),
    ("xgboost", "ndcg@2", "empty", lambda r: r.evaluate("ndcg(empty=1)@2")),
    ("xgboost", "ndcg@2", "ties", lambda r: r.under(ties="stable").evaluate("ndcg@2")),
    ("xgboost", "ndcg@2", "precision of scores", lambda r: r.under(score_bits=32).evaluate("ndcg@2")),
    ("lenskit", "ndcg@2", "discount", lambda r: r.evaluate("ndcg(discount=jarvelin:2)@2")),
    ("lenskit", "ndcg@2", "queries", lambda r: r.under(missing="skip").evaluate("ndcg@2")),
    ("elasticsearch", "ndcg@2", "ideal", lambda r: r.evaluate("ndcg(ideal=returned)@2")),
    ("ranx", "f@2", "relevant", lambda r: r.evaluate("f(rel=1)@2")),
    ("lightgbm", "ap@2", "definition", lambda r: r.evaluate("ap_capped@2")),
    ("sklearn", "ndcg@2", "queries", lambda r: r.under(missing="skip").evaluate("ndcg@2")),
    ("sklearn", "ndcg@2", "judged documents", lambda r: judging_scored().evaluate("ndcg@2")),
]


def judging_scored():
    """Return the rankings with labels of the returned documents; q4 is missing from the run and still counts 0."""
    labels = {query: {doc: QRELS[query].get(doc, 0) for doc in RUN.get(query, {})} for query in QRELS}
    return rg.from_qrels(labels, RUN)


@in_one_case(("like", "metric", "rule", "directly"), ALONE)
def test_a_row_changes_only_its_rule(like, metric, rule, directly):
    rankings = rg.from_qrels(QRELS, RUN)
    (row,) = (row for row in rankings.attribution(metric, like).rows if row["rule"] == rule)
    result = directly(rankings)
    (values,), before = result.values(), rankings.evaluate(metric)
    assert row["only_this"] == result.aggregate()[next(iter(result))]
    assert row["counted"] == len(values)
    after = dict(zip(result.query_ids, values.tolist(), strict=True))
    first = dict(zip(before.query_ids, before[metric].tolist(), strict=True))
    assert row["changed"] == sum(first[query] != after.get(query) for query in first)


def test_queries_that_no_longer_count_are_changes():
    rows = {row["rule"]: row for row in attribution("ndcg@2", "implicit").rows}
    assert (rows["empty"]["changed"], rows["empty"]["counted"]) == (1, 3)  # q2 has no relevant documents
    rows = {row["rule"]: row for row in attribution("ndcg@2", "lenskit").rows}
    assert (rows["queries"]["changed"], rows["queries"]["counted"]) == (1, 3)  # q4 is missing from the run


def test_query_without_values_counts_as_unchanged():
    (row,) = attribution("ndcg(empty=nan)@2", "sklearn", given="files").rows
    assert (row["rule"], row["changed"], row["counted"]) == ("ties", 1, 3)


def test_a_change_of_scale_is_one_row():
    (definition, _) = attribution("ndcg@2", "rectools").rows
    assert definition["rankgain"].startswith("DCG / IDCG; ")
    assert "g(r) = 1 for r > 0, else 0; d(i) by rank: 0.6131, 0.3869" in definition["like"]
    assert abs(definition["change"]) < 0.5


def test_a_metric_without_an_expected_value_changes_with_the_ties():
    rankings = rg.from_scores([[0, 1, 1]], [[0.5, 0.5, 0.2]])
    rows = rankings.attribution("ap@2", "torchmetrics").rows
    assert [row["rule"] for row in rows] == ["definition", "precision of scores"]
    assert rows[0]["rankgain"].endswith("; average")
    assert rows[-1]["with_above"] == rankings.evaluate("ap@2", like="torchmetrics").mean("ap@2")


def test_rules_are_in_the_words_of_the_tool():
    rows = {row["rule"]: row for row in attribution("ndcg@2", "ranx").rows}
    assert rows["ties"]["like"] == "undefined, by an unstable sort; rankgain uses input order"
    assert rows["ties"]["rankgain"] == "docid"


def test_tool_that_takes_arrays_may_be_given_files():
    result = attribution("ndcg@2", "sklearn", given="files")
    assert [row["rule"] for row in result.rows] == ["ties"]
    rankings = rg.from_qrels(QRELS, RUN)
    assert result.like_mean == rankings.evaluate("ndcg@2", like="sklearn", given="files").mean("ndcg@2")
    scored = rankings.limited(scored_only=True)
    assert [row["rule"] for row in scored.attribution("ndcg@2", "sklearn").rows] == ["ties"]
    assert [row["rule"] for row in scored.attribution("ndcg@2", "sklearn", given="files").rows] == ["ties"]
    rows = rankings.attribution("ndcg@2", "ndcg@3", given="scored").rows
    assert [row["rule"] for row in rows] == ["queries", "judged documents", "definition"]


def test_ranked_labels_have_no_rows_of_judged_documents_unless_limited():
    rankings = rg.from_scores([[0, 1, 2], [1, 0, 0]], [[3, 2, 1], [1, 2, 3]], ties="stable")
    assert [row["rule"] for row in rankings.attribution("ndcg@2", "lightgbm").rows] == ["gain", "empty"]
    cut = rankings.limited(depth=2)
    result = cut.attribution("ndcg@2", "lightgbm")
    assert [row["rule"] for row in result.rows] == ["queries", "judged documents", "gain", "empty"]
    handed = rg.from_scores([[0, 1], [0, 0]], [[3, 2], [3, 2]], ties="stable")
    assert result.like_mean == handed.evaluate("ndcg@2", like="lightgbm").mean("ndcg@2")


UNJUDGED = {**RUN, "y": {"a": 1.0}, "z": {"a": 0.5}}


@pytest.mark.parametrize(
    ("like", "metric", "text"),
    [
        ("lightgbm", "ndcg@2", "handed over with labels 0 they count 1 each and the mean is {mean}"),
        ("sklearn", "dcg@2", "handed over with labels 0 they count 0 each and the mean is {mean}"),
        ("lightgbm", "ndcg(empty=nan)@2", "handed over with labels 0 they do not count"),
    ],
)
def test_queries_without_judgments_have_a_row(like, metric, text):
    """The stated mean is that of the tool's rules for the run with labels of 0 in these queries."""
    result = attribution(metric, like, UNJUDGED)
    row = result.rows[1]
    handed = rg.from_qrels({**QRELS, "y": {}, "z": {}}, UNJUDGED).evaluate(metric, like=like).mean(metric)
    start = "not applied: 2 queries of the run have no judgments; "
    assert row["like"] == start + text.format(mean=f"{handed:.4f}")
    assert (row["rule"], row["change"], row["adds"], row["changed"]) == ("queries", 0.0, 0.0, 0)
    assert row["with_above"] == result.rows[0]["with_above"]
    assert not any("not applied" in row["like"] for row in attribution(metric, like, UNJUDGED, "files").rows)
    fallout = attribution("fallout@2", "torchmetrics", {**RUN, "z": {"a": 0.5}}).rows[1]["like"]
    assert fallout == "not applied: 1 query of the run has no judgments"  # its value depends on the length of the list


def test_no_rule_differs():
    result = attribution("ndcg@2", "rankgain")
    assert result.rows == []
    assert result.mean == result.like_mean
    assert repr(result).splitlines()[1] == "No rule differs for this metric."


@pytest.mark.parametrize("like", ["ndcg(gain=exponential)@3", rg.metric("ndcg", gain="exponential", k=3)])
def test_like_takes_a_metric(like):
    result = attribution("ndcg@2", like)
    assert [(row["rule"], row["rankgain"], row["like"]) for row in result.rows] == [
        ("definition", "k = 2", "k = 3"),
        ("gain", "g(r) = r", "g(r) = 2^r − 1"),
    ]
    assert result.like_mean == rg.from_qrels(QRELS, RUN).evaluate(like).mean(like)
    explanation = rg.explain("ndcg@2", like=like)
    assert explanation.differences()["gain"] == {
        "rankgain": "g(r) = r",
        "ndcg(gain=exponential)@3": "g(r) = 2^r − 1",
    }


def test_rankings_in_rank_order_have_no_rows_of_ties_and_missing_queries():
    result = rg.from_ranked([[2, 1], [0, 2]]).attribution("ndcg@2", "lightgbm")
    assert [row["rule"] for row in result.rows] == ["gain", "empty"]


@pytest.mark.needs("pandas")
def test_attribution_leaves_in_each_form():
    result = attribution()
    assert result.to_pandas()["rule"].tolist() == ["queries", "judged documents", "gain", "empty", "ties"]
    assert result.to_dict()["rows"] == result.rows
    assert "| gain | g(r) = r | g(r) = 2^r − 1 |" in result.to_markdown()
    assert "<table>" in result._repr_html_()
    assert max(map(len, repr(attribution("ndcg@2", "elasticsearch")).splitlines())) <= 118


REFUSED = [
    ("like='rnx': unknown tool (did you mean 'ranx'?)", ValueError, {"like": "rnx"}),
    ("like must be the name of a tool, not int 3", TypeError, {"like": 3}),
    ("like=ndcg_cut.5,10 stands for 2 metrics: give one of them", ValueError, {"like": "ndcg_cut.5,10"}),
    ("ndcg_cut.5,10 stands for 2 metrics: give one", ValueError, {"metric": "ndcg_cut.5,10", "like": "trec_eval"}),
    ("like='sklearn': rankgain knows no rr of scikit-learn", ValueError, {"metric": "rr", "like": "sklearn"}),
    ("like='lenskit': queries of the run without judgments", ValueError, {"like": "lenskit", "run": {**RUN, "z": {}}}),
    ("given must be 'files' or 'scored', not 'arrays'", ValueError, {"like": "sklearn", "given": "arrays"}),
    (
        "given='scored': ranx is handed the whole truth: leave given out",
        ValueError,
        {"like": "ranx", "given": "scored"},
    ),
    ("run: query 'q1', document 'a': the score is NaN", ValueError, {"run": {"q1": {"a": math.nan}}}),
]


@pytest.mark.parametrize(("message", "error", "given"), REFUSED)
def test_attribution_refuses(rejects, message, error, given):
    rejects(error, message, attribution, **given)
