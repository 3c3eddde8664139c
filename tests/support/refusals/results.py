"""What is refused of Rankings and of results: rules, limits, curves, spreads, means, parts, summaries, comparisons."""

import json
import math
from fractions import Fraction
from importlib.util import find_spec

import numpy as np

import rankgain as rg
from support.cases import Case, refused
from support.public_calls import COLUMNS, METRICS, QRELS, RUN

nan, inf = math.nan, math.inf
TWO = {"qrels": {"a": {"d": 1}, "b": {"d": 1}}, "run": {"a": {"d": 1}, "b": {"d": 1}}, "metrics": ["rr"]}
SUMMARY = {
    "summary": 1,
    "metrics": {"rr": {"aggregator": "mean", "count": 1, "sum": "0x1"}},
    "counts": {"queries": 1, "missing": 0, "unjudged": 0, "empty": 0},
    "ties": None,
    "missing": None,
    "like": None,
    "backend": "python",
    "versions": ["0.1.0"],
}


def rows():
    yield from refused("explain", "metric", ["ndcg@x"], ValueError, "k must be a positive integer")
    message = "stands for 9 metrics: explain one, such as ndcg_cut_5"
    yield from refused("explain", "metric", ["ndcg_cut"], ValueError, message)
    yield from refused("explain", "like", ["ranks", ("sklearn", "solr")], ValueError, "unknown tool")
    yield from refused("explain", "like", [[]], ValueError, "like is empty")
    for metrics, like, error, message in PRESETS:
        scored = {"sides": ([[0, 1]], [[0.1, 0.2]]), "metrics": metrics}
        yield from refused("evaluate", "like", [like], error, message, **scored)
    yield from refused("Rankings.evaluate", "metrics", [[]], ValueError, "no metric was requested", like="sklearn")
    message = "like='ranx': hits of ranx is a count: write cg(gain=binary)@k without like, or success@k"
    for hits in ("hits", "hits@10", "Hits@10"):
        yield from refused("explain", "like", ["ranx"], ValueError, message, metric=hits)
        yield from refused("evaluate", "like", ["ranx"], ValueError, message, metrics=[hits])
    if find_spec("matplotlib"):
        yield from of_plots()
    yield from of_forms()
    yield from of_rankings()
    yield from of_curves()
    yield from of_evaluations()
    yield from of_summaries()
    yield from of_comparisons()


PRESETS = [
    (["ndcg"], "solr", ValueError, "like='solr': unknown tool; there are: trec_eval-9, | , msmarco, rankgain"),
    (["ndcg"], 9, TypeError, "like must be the name of a tool, not int 9"),
    (["err"], "sklearn", ValueError, "rankgain knows no err of scikit-learn; it knows ndcg, ndcg@k, dcg, dcg@k"),
    (["rbp"], "ranx", ValueError, "rankgain knows no rbp of ranx; it knows | r_precision; rbp sums raw grades"),
    (["rr@10"], "trec_eval-9", ValueError, "rankgain knows no rr@k of trec_eval 9.0.8 and pytrec_eval"),
    (["ndcg"], "rectools", ValueError, "rankgain knows no ndcg of RecTools; it knows ndcg@k, ap@k"),
    (["ndcg(empty=1)@3"], "rectools", TypeError, "NDCG(k) is rankgain's dcg: dcg does not take empty"),
    (["ndcg"], "trec_eval-9", ValueError, "like='trec_eval-9': ties='docid' needs document ids, and bare scores have"),
    (["nonsense"], "sklearn", ValueError, "unknown metric 'nonsense'"),
]
SWAPPED = "a list of ids, best first, not {}: are the arguments swapped? Write from_recommendations(relevant, rec"
PAIRS = "of (id, score) pairs, best first, pass the ids: [id for id, _ in pairs]"

EITHER = [  # labels and scores, or ids
    ([1, 0], [2, 1]),
    ([[1, 0]], [[2, 1]]),
    ([[1, 0], [1]], [[2, 1], [3]]),
    (np.array([[1, 0]]), np.array([[2, 1]])),
    ([np.array([1, 0])], [np.array([2, 1])]),
    ([[1.0, 0.0]], [[2, 1]]),
    ([True, False], [2, 1]),
    ([[1, 0]], [[]]),
]
UNNAMED = {"hits": {"hits": [{"_id": "d1", "_score": 2.0}, {"_score": 1.0}]}}


def of_forms():
    """Of truth and a run in any form."""
    beside_scores = np.array([[5, 6]]), np.array([[0.5, 0.25]])  # as implicit's recommend() returns ids
    for sides, error, message in [
        ((QRELS,), TypeError, "needs truth and a run"),
        ((QRELS, RUN), TypeError, "no metric was requested: rankgain.evaluate(truth, run, 'ndcg@10')"),
        ((QRELS, "ndcg@10"), TypeError, "no metric was requested: rankgain.evaluate(truth, run, 'ndcg@10')"),
        ((COLUMNS, "ndcg@10"), TypeError, "no metric was requested: rankgain.from_frames(frame).evaluate('ndcg@10')"),
        (({"u": ["a"]}, {"u": {"a"}}, "ndcg"), TypeError, f"recommended: query 'u': must be {SWAPPED.format('set')}"),
        (({"u": ["a"]}, {"u": {"a": 1}, "v": ["a"]}, "ndcg"), TypeError, SWAPPED.format("dict")),
        (({"u": {"a"}}, {"u": [("a", 0.9), ("b", 0.1)]}, "ndcg"), ValueError, f"tuple in recommended; {PAIRS}"),
        (([{"a"}], [[("a", 0.9), ("b", 0.1)]], "ndcg"), ValueError, f"tuple in recommended; {PAIRS}"),
        ((QRELS, rg.from_qrels(QRELS, RUN), "mrr"), TypeError, "call their method evaluate"),
        *(
            ((truth, beside_scores, "mrr"), TypeError, "pair of ids and scores: give the ids alone, recommended[0]")
            for truth in ({0: [5]}, {0: {5: 1}}, [{5}], rg.judgments([{5}]))
        ),
        *(((*sides, "ndcg"), TypeError, "from_scores( | from_recommendations( | from_ranked(") for sides in EITHER),
        (([], [], "rr"), ValueError, "relevant is empty"),
        (([[1, 0]], [], "rr"), ValueError, "recommended has 0 users"),
        (([], [[1, 0]], "rr"), ValueError, "relevant has 0"),
        (({"q": {"d1": 1}}, {"q": UNNAMED}, "rr"), ValueError, "run: query 'q', hit 1: it has no _id"),
        (([[5]], beside_scores, "mrr"), TypeError, "run is a pair of ids and scores: give the ids alone, run[0]"),
        (("no such file", "nor this one", "ngcd@10"), ValueError, "unknown metric 'ngcd@10'"),
    ]:
        yield from refused("evaluate", "sides", [sides], error, message, metrics=())
    yield from refused("from_qrels", "run", [{"q": UNNAMED}], ValueError, "run: query 'q', hit 1: it has no _id")


def of_rankings():
    """Rules that rankings cannot have; `make` is what they are made of."""
    ranked, scored = (rg.from_ranked, [1, 0]), (rg.from_scores, [1, 0], [1, 0])
    chosen = rg.from_recommendations, {1}, [1, 2]
    named = {"q": {"d": 1}, "r": {"d": 1}}, {"q": {"d": 1}}
    for make, rules, message in [
        (ranked, {"ties": "stable"}, "in rank order, without scores"),
        (ranked, {"score_bits": 32}, "in rank order, without scores"),
        (ranked, {"missing": "skip"}, "do not record which queries the run lacks"),
        (chosen, {"ties": "best"}, "in rank order, without scores"),
        (scored, {"ties": "docid"}, "needs document ids, and bare scores have none"),
        (scored, {"ties": "random"}, "ties must be one of"),
        (scored, {"missing": "zero"}, "do not record which queries the run lacks"),
        (scored, {"score_bits": 16}, "score_bits must be 64 or 32, not 16"),
        ((rg.from_qrels, QRELS, RUN), {"missing": "leave"}, "missing must be 'zero' or 'skip'"),
    ]:
        ((name, rule),) = rules.items()
        yield from refused("Rankings.under", name, [rule], ValueError, message, make=make)
    only = lambda *sides: rg.from_qrels(*sides, query_ids=["n"], missing="skip")  # noqa: E731
    message = "query_ids named only the queries that the run has"
    yield from refused("Rankings.under", "missing", ["zero"], ValueError, message, make=(only, *named))
    calls = "Rankings.evaluate evaluate read_trec Rankings.tie_spread lambdarank LambdaRank lightgbm_objective"
    calls += " xgboost_objective lightgbm_metric xgboost_metric catboost_metric"
    for threads in (0, -1, 257):
        yield from refused(calls, "threads", [threads], ValueError, f"threads must be from 1 to 256, not {threads}")
    numbers = [True, 2.0, 1.5, Fraction(2), "2", None]
    yield from refused(calls, "threads", numbers, TypeError, "threads must be an integer, not {}")
    message = "tie_spread: these rankings were given in rank order, without scores"
    yield from refused("Rankings.tie_spread", "metrics", [["rr"]], ValueError, message, make=ranked)
    yield from refused("Rankings.tie_spread", "metrics", [[]], ValueError, "no metric was requested")
    yield from refused("Rankings.tie_spread", "metrics", [["nonsense"]], ValueError, "unknown metric 'nonsense'")
    yield from refused("TieSpread.affected", "metric", ["rr@77"], KeyError, "rr@77 was not evaluated")


def of_plots():
    ranked = rg.from_ranked([[1, 0]])
    yield from refused("plot", "rankings", [[[1, 0]]], TypeError, "rankings must be a Rankings, not list")
    message = "rankings['b'] must be a Rankings, not Evaluation"
    yield from refused("plot", "rankings", [{"b": ranked.evaluate("dcg")}], TypeError, message)
    yield from refused("plot", "rankings", [{}], ValueError, "rankings is empty")
    yield from refused("plot", "metrics", [[]], ValueError, "metrics is empty")
    yield from refused("plot", "metrics", ["ndcg@5"], ValueError, "ndcg@5 has a cut-off")
    yield from refused("plot", "ks", [[]], ValueError, "ks is empty")
    yield from refused("Curve.plot", "axes", [5], TypeError, "axes must be")


def of_curves():
    for error, message, metric, ks in [
        (ValueError, "ndcg@5 has a cut-off; request 'ndcg' without one, and give the cut-offs as ks", "ndcg@5", [1]),
        (ValueError, "ndcg@5 has a cut-off", rg.metric("ndcg", k=5), [1]),
        (ValueError, "ndcg_cut has a cut-off; request 'ndcg'", "ndcg_cut", [1]),
        (TypeError, "a metric is a string or", None, [1]),
        (ValueError, "ks is empty", "ndcg", []),
        (ValueError, "ks: position 1: must be a positive integer, not 0", "ndcg", [1, 0]),
        (ValueError, "ks: position 0: must be a positive integer, not -3", "ndcg", np.array([-3, 1])),
        (TypeError, "ks: position 2: must be a positive integer, not None", "ndcg", [1, 2, None]),
        (TypeError, "ks: position 0: must be a positive integer, not 1.0", "ndcg", [1.0]),
        (TypeError, "ks: position 0: must be a positive integer, not True", "ndcg", [True]),
        (TypeError, "ks: position 0: must be a positive integer, not '1'", "ndcg", ["1"]),
        (TypeError, "ks must hold cut-offs, positive integers, not int", "ndcg", 10),
        (TypeError, "ks must hold cut-offs, positive integers, not str", "ndcg", "10"),
        (TypeError, "ks must hold cut-offs, positive integers, not ndarray", "ndcg", np.array(10)),
    ]:
        yield from refused("Rankings.curve", "ks", [ks], error, message, metric=metric)
    for option, value, error, message in [
        ("level", 95, ValueError, "level must be between 0 and 1, such as 0.95, not 95"),
        ("level", 10**400, ValueError, "level must be between 0 and 1, such as 0.95, not 1000"),
        ("level", nan, ValueError, "level must be between 0 and 1"),
        ("level", "x", TypeError, "level must be a number, not str"),
    ]:
        yield from refused("Curve.interval", option, [value], error, message)


def of_evaluations():
    """Of two queries, a and b, whose reciprocal ranks are 1."""
    for weights, error, message in [
        ([1], ValueError, "weights has 1 numbers, and there are 2 queries: give one per query"),
        ([[1, 2], [3, 4]], TypeError, "weights: position 0, query 'a': a weight must be a number, not list"),
        ([1, "2"], TypeError, "weights: position 1, query 'b': a weight must be a number, not str"),
        ([1, -1], ValueError, "weights: position 1, query 'b': a weight must be finite and not negative, not -1.0"),
        ([1, nan], ValueError, "position 1, query 'b': | not nan"),
        ([inf, 1], ValueError, "position 0, query 'a': | not inf"),
        ([0, 0], ValueError, "weights are all 0: give at least one query a positive weight"),
        ({"a": 1}, ValueError, "weights: query 'b' has no weight; give it one, or 0 to leave it out"),
        ({"a": 1, "b": None}, TypeError, "position 1, query 'b': a weight must be a number, not NoneType"),
        (3, TypeError, "weights must hold one number per query, or be a mapping by query id, not int"),
        (np.array(3), TypeError, "weights must hold one number per query, | not ndarray"),
        ("12", TypeError, "weights must hold one number per query, | not str"),
        ({1, 2}, TypeError, "weights must hold one number per query, | not set"),
    ]:
        calls = "Evaluation.mean Evaluation.aggregate Evaluation.flat"
        yield from refused(calls, "weights", [weights], error, message, **TWO)
        sides = {"runs": {"one": TWO["run"]}, "qrels": TWO["qrels"]}
        yield from refused("Comparison.means Comparison.aggregate", "weights", [weights], error, message, **sides)
    yield from refused(
        "Evaluation.mean Evaluation.aggregate Summary.mean",
        "metric",
        ["ap"],
        KeyError,
        "ap was not evaluated; there are: rr",
        **TWO,
    )
    yield from refused("Evaluation.flat", "names", ["x", None], ValueError, "names must be 'asked' or 'safe'", **TWO)

    def scored(asked=("rr",), names=None, ties="docid", missing="zero"):
        return rg.from_qrels({"x": {"d": 1}}, {"x": {"d": 1}}, ties=ties, query_ids=names, missing=missing).evaluate(
            *asked
        )

    alone = rg.from_ranked([[1]]).evaluate("rr")
    for other, error, message in [
        ({"rr": [1.0]}, TypeError, "others[0] must be an Evaluation, not dict"),
        ([scored(["rr"])], TypeError, "others[0] must be an Evaluation, not list; pass them one by one: merge(*parts)"),
        (scored(["cg"]), ValueError, "others[0] lacks the metric rr, unlike the first"),
        (scored(["rr", "cg"]), ValueError, "others[0] has the metric cg, unlike the first"),
        (scored(ties="stable"), ValueError, "others[0] has ties='stable', the first has 'docid'"),
        (scored(missing="skip"), ValueError, "others[0] has missing='skip', the first has 'zero'"),
        (scored(names=["a"]), ValueError, "others: query 'a' is in 2 of the evaluations"),
        (alone, ValueError, "others[0] has ties=None, the first has 'docid'"),
    ]:
        yield from refused("Evaluation.merge", "other", [other], error, message, **TWO)
    message = "others: some queries have ids and some only positions: give query_ids"
    yield from refused("Evaluation.merge", "other", [alone], ValueError, message, of=named_and_ranked)
    for queries, error, message in [
        (["x"], KeyError, "query 'x' was not evaluated"),
        (["a", "a"], ValueError, "repeats an earlier id"),
        ([True], ValueError, "a mask of 1, and there are 2"),
        ("ab", TypeError, "a mask or ids"),
        (7, TypeError, "a mask or ids"),
    ]:
        yield from refused("Evaluation.subset", "queries", [queries], error, message, **TWO)
    alike = [rg.metric("dcg", gain=gain) for gain in (lambda grades: grades, lambda grades: grades * 2)]
    yield from refused("Summary.mean", "metrics", [alike], ValueError, "two metrics are both called")


def named_and_ranked():
    return rg.from_ranked([[1]], query_ids=["a"]).evaluate("rr")


def of_summaries():
    for change, message in [
        ({"summary": 2}, "format 2, and this release reads 1"),
        ({"metrics": {"rr": {"aggregator": "median", "count": 1, "sum": "0x1"}}}, "unknown aggregator 'median'"),
        (
            {"metrics": {"rr": {"aggregator": "mean", "count": -1, "sum": "0x1"}}},
            "a count must be an integer of at least 0",
        ),
        ({"metrics": {"rr": {"aggregator": "mean", "count": 1, "sum": "x"}}}, "invalid literal"),
        ({"metrics": {"rr": {"aggregator": "mean", "count": 1}}}, "it lacks 'sum'"),
        ({"counts": {"queries": 1.0}}, "a count must be an integer of at least 0, not 1.0"),
        ({"counts": {}}, "it lacks 'queries'"),
        (
            {"metrics": {"rr": {"aggregator": "mean", "count": 2, "sum": "0x1"}}},
            "rr has values of 2 queries, and there",
        ),
        ({"metrics": {"rr": {"aggregator": "mean", "count": 0, "sum": "0x1"}}}, "rr has a sum without values"),
        (
            {"metrics": {"m": {"aggregator": "geometric_mean", "count": 0, "sum": "0x0", "sum_log2": "0x1"}}},
            "m has a sum",
        ),
        (
            {"metrics": {"m": {"aggregator": "weighted_mean", "count": 1, "sum": "0x1", "weights": "-0x1"}}},
            "negative weights",
        ),
        ({"counts": {"queries": 1, "empty": 2}}, "2 empty queries, of 1"),
        ({"counts": {"queries": 1, "missing": 2}, "missing": "zero"}, "2 missing queries, of 1"),
        ({"counts": {"queries": 1, "missing": 2}}, "missing and unjudged queries, but no rule"),
        ({"counts": {"queries": 1, "unjudged": 2}}, "missing and unjudged queries, but no rule"),
        ({"ties": 3}, "ties must be one of 'average', 'stable', 'docid', 'best', 'worst', not 3"),
        ({"ties": "banana"}, "ties must be one of 'average', 'stable', 'docid', 'best', 'worst', not 'banana'"),
        ({"missing": "banana"}, "missing must be 'zero' or 'skip', not 'banana'"),
        ({"like": "banana"}, "like='banana': unknown tool"),
        ({"like": 3}, "like must be the name of a tool, not int 3"),
        ({"versions": 3}, "not iterable"),
    ]:
        text = json.dumps(SUMMARY | change)
        yield from refused(
            "Summary.from_json", "text", [text], ValueError, f"this is not the JSON of a Summary: | {message}"
        )
    texts = ["", "[]", "3", "null", b"{}", "{", "[" * 100_000]
    yield from refused("Summary.from_json", "text", texts, ValueError, "this is not the JSON of a Summary")
    other = rg.from_qrels(TWO["qrels"], TWO["run"])
    yield from refused("Summary.merge", "other", ["x"], TypeError, "others[0] must be a Summary, not str", **TWO)
    message = "others[0] lacks the metric rr"
    yield from refused("Summary.merge", "other", [other.evaluate("ap").summary()], ValueError, message, **TWO)
    average = other.under(ties="average").evaluate("rr").summary()
    message = "others[0] has ties='average', the first has 'docid'"
    yield from refused("Summary.merge", "other", [average], ValueError, message, **TWO)
    held = json.loads(other.evaluate("rr").summary().to_json())
    held["metrics"]["rr"]["aggregator"] = "total"
    total = rg.Summary.from_json(json.dumps(held))
    message = "others[0] has the total of rr, the first the mean"
    yield from refused("Summary.merge", "other", [total], ValueError, message, **TWO)
    yield Case(TypeError, "parts[0].merge(*parts[1:])", rg.Evaluation.merge, [rg.from_ranked([[1]]).evaluate("rr")])


def of_comparisons():
    result = rg.from_qrels(QRELS, RUN).evaluate(*METRICS)
    yield from refused("Comparison", "evaluations", [{"one": result, "other": None}], TypeError, "other")
    yield from refused("Comparison.best", "metric", ["rr@77"], KeyError, "rr@77")
    yield from refused("compare", "runs", [{"good": RUN, "bad": {"q": {"a": nan}}}], ValueError, "run 'bad': | NaN")
    yield from refused("compare", "runs", [[RUN]], TypeError, "runs must be a mapping from name to run, not list")
    yield from refused("compare", "runs", [result], TypeError, "not Evaluation; name them: {'a': first, 'b': second}")
    yield from refused("compare", "queries", ["each", None], ValueError, "queries must be 'all' or 'same' or 'common'")
    yield from refused("Metric.at", "k", [0, -1], ValueError, "k must be a positive integer")
    yield from refused("Metric.at", "k", [2.5, "3", True], TypeError, "k must be a positive integer")
