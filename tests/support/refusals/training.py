"""What gradients and what trainers call refuse."""

import math

import numpy as np

import rankgain as rg
from support.cases import HUGE, Case, refused
from support.public_calls import GRADES, SCORES

nan, inf = math.nan, math.inf
ARRAYS = "lambdarank LambdaRank"
METRICS = "lightgbm_metric xgboost_metric"
GRADIENTS = f"{ARRAYS} lightgbm_objective xgboost_objective"


def changed(values, place, value):
    return [*values[:place], value, *values[place + 1 :]]


def of_options():
    """Of gradients, beside the metric."""
    outside = [0, -1.0, 9.9e-101, 1.1e100, nan, inf, HUGE, 10**5000]
    yield from refused(
        GRADIENTS, "sigma", outside, ValueError, "sigma must be above 0 and finite, from 1e-100 to 1e100"
    )
    yield from refused(GRADIENTS, "sigma", ["1", None, True, np.True_, 1j, [1]], TypeError, "sigma must be a number")
    yield from refused(GRADIENTS, "discount", ["log2", None, ["cut"]], ValueError, "discount must be 'cut' or 'full'")
    yield from refused(GRADIENTS, "ties", ["best", None, 1], ValueError, "ties must be 'stable' or 'average'")
    yield from refused(
        GRADIENTS, "normalize", ["scores", ["query", "x"]], ValueError, "normalize must be 'score' or 'query'"
    )
    yield from refused(
        GRADIENTS, "normalize", [1, {"score": 1}], TypeError, "normalize must be 'score', 'query', a sequence"
    )
    for call in GRADIENTS.split():
        names = ("y_true", "y_score") if "ambda" in call else ("labels", "scores")
        for name, good in zip(names, ([1, 0, 2, 0, 1], [0.5, 0.25, 0.125, 1.0, 0.5]), strict=True):
            bad = [*good[:2], nan, *good[3:]]
            yield from refused(call, name, [bad, np.array(bad, "f4")], ValueError, "position 2 | NaN")
    short = [1.0] * 4
    for call, name, message in [
        ("lambdarank", "sample_weight", "sample_weight has 4 weights, and there are 5 documents"),
        ("lightgbm_objective", "weight", "weight has 4 weights, and there are 5 documents"),
        ("xgboost_objective", "weight", "weight has 4 weights, and there are 2 queries"),
    ]:
        yield from refused(call, name, [short], ValueError, message)
        bad = [[1.0, value, 1.0, 1.0, 1.0][: 2 if "queries" in message else 5] for value in (nan, inf, -1.0, -inf)]
        yield from refused(call, name, bad, ValueError, f"{name}: position 1 | finite and not negative")


def of_metrics():
    """What gradients cannot follow, whatever the documents are, or with these grades."""
    for metric, error, message in [
        ("rr", ValueError, "metric must be an nDCG"),
        ("ndcg_cut.5,10", ValueError, "one cut-off"),
        ("pairwise@0", ValueError, "k must be a positive integer"),
        (3, TypeError, "a metric is a string"),
        (rg.metric("ndcg", discount=[0.5, 1, 1, 1, 1]), ValueError, "must not rise with the rank"),
        (rg.metric("ndcg", discount=[1.0]), ValueError, "discount has 1 ranks | longer discount"),
        (rg.metric("ndcg", gain={1: 1}), ValueError, "y_true: query 0, position 2 | 2.0"),
        (rg.metric("ndcg", gain={1: 5e-324, 2: 5e-324}), ValueError, "is not finite"),
    ]:
        yield from refused(GRADIENTS, "metric", [metric], error, message)
    short = rg.metric("ndcg", k=2, discount=[1, 0.5])
    yield from refused(GRADIENTS, "metric", [short], ValueError, "discount has 2 ranks | are needed", discount="full")
    table = {"group_sizes": [2, 3], "metric": rg.metric("ndcg", gain={1: 1, 2: 1})}
    message = "y_true: query 1, position 2 (element 4): | 3.0"
    yield from refused(ARRAYS, "y_true", [changed(GRADES, 4, 3)], ValueError, message, **table)
    table["metric"] = rg.metric("ndcg", k=1, gain={1: 1, 2: 1})  # whose ideal lacks the grade
    message = "y_true: query 1, position 2 (element 4): | 0.5"
    yield from refused(ARRAYS, "y_true", [changed(GRADES, 4, 0.5)], ValueError, message, **table)
    # worth something else beside those of other queries
    table["metric"] = rg.metric("ndcg", gain=lambda grades: grades - 3.0 * (grades > 1) * (len(grades) > 3))
    message = "y_true: query 1, position 0 (element 2): | gain"
    yield from refused(ARRAYS, "y_true", [[0, 1, 2, 0, 1]], ValueError, message, **table)


def of_documents():
    sizes = {"group_sizes": [2, 3]}
    for labels, message in [
        (changed(GRADES, 3, -1), "y_true: query 1, position 1 (element 3): | negative"),
        (changed(GRADES, 0, nan), "y_true: query 0, position 0 | NaN"),
        (changed(GRADES, 4, inf), "y_true: query 1, position 2 | infinite"),
        (changed(GRADES, 4, 1024), "y_true: query 1, position 2 | below 1024"),
    ]:
        yield from refused(ARRAYS, "y_true", [labels], ValueError, message, **sizes)
    for scores, message, queries in [
        (changed(SCORES, 3, nan), "y_score: query 1, position 1 (element 3) | NaN", sizes),
        (changed(SCORES, 3, inf), "y_score: query 1, position 1 | only -inf", sizes),
        (changed(SCORES, 3, inf), "y_score: query 'b', position 1", {"qid": list("aabbb")}),
        (SCORES[:4], "5 documents, and y_score has 4", {}),
    ]:
        yield from refused(ARRAYS, "y_score", [scores], ValueError, message, **queries)
    yield from refused(ARRAYS, "y_score", [list("abcde")], TypeError, "y_score: position 0: must be a number")
    yield from refused(ARRAYS, "group_sizes", [[2, 2]], ValueError, "add up to 4")
    yield from refused(ARRAYS, "group_sizes", [[2, 3]], ValueError, "not both", qid=list("aabbb"))
    padded = {"y_true": [[1, 0], [1, -100]], "y_score": [[0.1, 0.2], [0.1, 0.2]]}
    yield from refused(ARRAYS, "mask", [None], ValueError, "y_true: query 1, position 1: | mask=labels >= 0", **padded)
    yield from refused(ARRAYS, "mask", [[True, False]], ValueError, "mask must have the shape of y_true", **padded)
    yield from refused(ARRAYS, "mask", [[1, 0, 1, 0, 1]], TypeError, "mask must hold booleans")


def of_trainers():
    """What trainers call between rounds: the metric, the sets of CatBoost, the documents."""
    message = "did you mean 'ndcg@10'"
    yield from refused(METRICS, "metrics", [["ndgc@10"]], ValueError, message)
    yield from refused("catboost_metric", "metric", ["ndgc@10"], ValueError, message)
    yield from refused(f"{METRICS} catboost_metric", "ties", ["docid"], ValueError, "ties='docid' needs document ids")
    yield from refused(METRICS, "metrics", [()], ValueError, "no metric was requested")
    message = "two metrics would both be logged as 'ndcg@5_rankgain'"
    yield from refused(METRICS, "metrics", [["ndcg@5", "ndcg @5"]], ValueError, message)
    message = "CatBoost takes one metric, but 'ndcg_cut.5,10' stands for 2"
    yield from refused("catboost_metric", "metric", ["ndcg_cut.5,10"], ValueError, message)
    for sets, error, message in [
        ([], ValueError, "CatBoost passes no groups: pass each set | (labels, group_sizes)"),
        ([np.array([1, 0])], TypeError, "sets[0] must be a Pool or a pair (labels, group_sizes), not ndarray"),
        ([([1], [1]), ([1, 0], [3])], ValueError, "sets[1]: group_sizes add up to 3, but there are 2 labels"),
        ([([1, 0], [2]), ([1, 0], [1, 1])], ValueError, "sets[1] has the labels of an earlier set"),
    ]:
        yield from refused("catboost_metric", "sets", [sets], error, message)
    message = "otherwise must be None or a finite number"
    yield from refused("catboost_metric", "otherwise", [nan, inf, "0"], ValueError, message)
    message = "y_true: query 1, position 0 (element 3): | negative"
    yield from refused(METRICS, "labels", [changed(GRADES, 3, -1)], ValueError, message)
    yield from refused(METRICS, "scores", [[nan] * 5], ValueError, "y_score: query 0, position 0 | NaN")
    message = "y_score must have 1 dimension with group_sizes="
    yield from refused(METRICS, "scores", [np.ones((5, 2))], ValueError, message)


def of_scorers():
    yield Case(TypeError, "one metric, not 2: pass a dict", rg.scorer, "ndcg@10", "mrr", qid=0)
    yield from refused("scorer", "metric", ["nonsense"], ValueError, "unknown metric 'nonsense'")
    yield from refused("scorer", "metric", ["ndcg_cut.5,10"], ValueError, "one metric, not 2: pass a dict")
    yield from refused("scorer", "metric", [None], TypeError, "a metric is a string")
    message = "qid must be a column of X | not {}"
    yield from refused("scorer", "qid", [[1, 1, 2], True], TypeError, message)
    yield from refused("scorer", "ties", ["docid"], ValueError, "needs document ids")
    yield from refused("scorer", "ties", ["no"], ValueError, "ties must be one of")
    yield from refused("scorer", "scores", [[0.5, 0.25, nan, 1.0, 0.5]], ValueError, "y_score | NaN")
    yield from refused("scorer", "ids", [[7, 7, 9]], ValueError, "qid | 5 documents")


def rows():
    for section in (of_options, of_metrics, of_documents, of_trainers, of_scorers):
        yield from section()
