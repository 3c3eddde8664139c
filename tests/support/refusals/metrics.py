"""What metrics refuse of what they meet: judged sets that lack something, grades without a gain, sums that overflow."""

import math

import numpy as np

import rankgain as rg
from rankgain.metrics.table import TABLE
from support.cases import refused

# Metrics that do not depend on the judged set, or on it alone; fall-out, of documents judged not relevant.
OF_THE_LIST = {"cg", "dcg", "rr", "success", "precision", "rbp", "rbp_residual", "err", "judged", "unjudged"}
OF_THE_LIST |= {"num_ret", "num_rel_ret", "num_nonrel_judged_ret", "num_q", "auc", "gauc", "fallout", "idcg", "num_rel"}
BY_IDEAL = {"ncg", "ndcg", "nerr", "g"}  # refuse more than the ideal, the others more relevant documents than judged
LACKING = "judged lacks grades that the returned list has"


def of_judged(metrics, message, relevance, judged, error=ValueError):
    yield from refused(
        "from_ranked", "metrics", [[metric] for metric in metrics], error, message, relevance=relevance, judged=judged
    )


def rows():
    by_judged = [name for name in TABLE if name not in OF_THE_LIST]
    for judged in ([[1], [3]], [[1], [1]]):
        yield from of_judged(by_judged, f"query 1: {LACKING}", [[1], [3, 3]], judged)
    by_number = [name for name in by_judged if name not in BY_IDEAL]
    far_down = [[0] * 30 + [1, 1]]  # however little they add to the value
    for judged in ([[1, 0]], [[0]]):
        yield from of_judged(by_number, f"query 0: {LACKING}", far_down, judged)
    yield from of_judged(["ndcg_rel", "r_ndcg"], f"query 1: {LACKING}", [[1], [3]], [[1], [2]])
    yield from of_judged(["fallout"], LACKING, [[0, 0, 1]], [[0, 1]])
    tied = {"y_true": far_down, "y_score": [[0.5] * 32], "judged": [[1]]}
    averaged = [[name] for name in by_number if not TABLE[name].unaveraged]
    yield from refused("from_scores", "metrics", averaged, ValueError, f"query 0: {LACKING}", **tied)

    for call in ("recall", "average_precision"):
        yield from refused(call, "judged", [[1], [1, 0]], ValueError, LACKING, relevance=[1, 1, 1])

    # grades without a gain, in either place; and above the scale
    for gain, told in (("exponential", "too large for gain='exponential'"), ({1: 1}, "no entry for")):
        metrics = [rg.metric(name, gain=gain) for name in ("ndcg", "ndcg_rel", "r_ndcg", "g", "ncg", "idcg")]
        yield from of_judged(metrics, f"judged: query 1, position 1 | {told}", [[1], [1]], [[1], [1, 2000]])
    told = "relevance: query 0, position 1 | gain has no entry for the grade 5.0"
    metrics = [rg.metric(name, gain={1: 1}) for name in ("cg", "dcg", "ndcg", "ndcg_rel", "r_ndcg", "g")]
    yield from of_judged(metrics, told, [[1, 5]], [[1, 1]])
    metrics = [rg.metric("ndcg", gain={1: 2}), rg.metric("ndcg", k=2, gain={1: 2, 3: 4})]
    yield from of_judged(metrics, "relevance: query 0, position 0: gain has no entry for the grade 2.0", [[2, 1]], None)
    yield from of_judged(
        metrics, "judged: query 0, position 1: gain has no entry for the grade 0.5", [[1, 0]], [[1, 0.5]]
    )
    scale = ["err", "err@1", "nerr", "nerr@1"]
    told = "and max_grade is 4; give a larger max_grade"
    place = "relevance: query 1, position 2: the grade is 5"
    yield from of_judged(scale, f"{place}, {told}", [[1, 4], [0, 3, 5, 9]], None)
    yield from of_judged(scale, f"judged: query 0, position 2: the grade is 6, {told}", [[1]], [[1, 2, 6]])
    each = [[metric] for metric in scale]
    place = "y_true: query 1, position 0: the grade is 4.5"
    sides = {"y_true": [[1, 4], [4.5, 3]], "y_score": [[1, 1], [1, 1]]}
    yield from refused("from_scores", "metrics", each, ValueError, f"{place}, {told}", **sides)
    place = "qrels: query 'b', document 'y': the grade is 5"
    sides = {"qrels": {"a": {"x": 4}, "b": {"w": -1, "x": 1, "y": 5}}, "run": {"a": {"x": 1.0}, "b": {"x": 1.0}}}
    yield from refused("from_qrels Rankings.under", "metrics", each, ValueError, f"{place}, {told}", **sides)
    limits = {"depth": 1, "judged_only": True}
    yield from refused("Rankings.limited", "metrics", each, ValueError, f"{place}, {told}", **sides, **limits)

    # discounts that are too short, and values that are not finite
    short = [rg.metric(name, discount=[1.0, 0.5]) for name in ("dcg", "ndcg", "ndcg_rel", "r_ndcg")]
    told = "query 1: discount has 2 ranks, and | are needed; give a longer"
    yield from of_judged(short, told, [[1, 1], [1, 0, 0, 1, 0]], [[1, 1], [1, 1]])
    short = [rg.metric("ndcg", discount=[1.0, 0.5, 0.25])]  # each judged document needs a rank
    yield from of_judged(short, "discount has 3 ranks, and 4 are needed", [[1, 1, 1]], [[1] * 4])
    for coefficients, query in [((1e308, 0, 0, 0), 1), ((1e308, 0, 0, 1e308), 0), ((-1e308, -1e308, 0, 0), 1)]:
        metrics = [rg.metric("utility", coefficients=coefficients, collection=10)]
        yield from of_judged(metrics, f"query {query}: the sum of the gains", [[1], [1, 1, 1, 0, 0, 0]], None)

    # parameters of metrics
    yield from refused(
        "metric", "gain", ["exponential"], TypeError, "bpref does not take gain; it takes rel, empty", name="bpref"
    )
    yield from refused(
        "metric", "coefficients", [{1, 2, 3, 4}], TypeError, "coefficients must be 4 numbers, not set", name="utility"
    )
    told = "metric('ndcg', k=10); evaluate and others take | {}"
    for name in ("ndcg@10", "ndcg(gain=exponential)@10"):
        yield from refused("metric", "name", [name], ValueError, told.replace("{}", repr(name)))
    told = "unknown tool (did you mean 'xgboost'?); there are: trec_eval-9 | pytrec_eval for trec_eval-9"
    yield from refused("Rankings.evaluate evaluate", "like", ["xgbost"], ValueError, told)
    unfinished = [nan_gain, np.negative]
    yield from refused(
        "from_ranked",
        "metrics",
        [[rg.metric("cg", gain=gain)] for gain in unfinished],
        ValueError,
        "relevance: query 0, position 0: gain returned",
    )

    # limits
    yield from refused("Rankings.limited", "depth", [0, -1], ValueError, "depth must be a positive integer")
    yield from refused("Rankings.limited", "depth", [1.5, "3", True], TypeError, "depth must be a positive integer")
    for limits in ({"depth": 1}, {"judged_only": True}):  # what they leave out is looked at
        for side, bad, message in [("run", math.nan, "score is NaN"), ("qrels", math.inf, "grade is infinite")]:
            held = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0, "b": bad}}
            told = f"{side}: query 'r', document 'b': the {message}"
            yield from refused("Rankings.limited", side, [held], ValueError, told, **limits)


def nan_gain(grades):
    return grades * math.nan
