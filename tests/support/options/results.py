"""Options of what is made of results: means, subsets, comparisons."""

import numpy as np
from support.cases import Option
from support.options.inputs import QRELS, RUN

# Of the queries q, r and s, whose reciprocal ranks are 1/4, 1 and 0, and which have 5, 2 and 0 documents.
WEIGHTS = [3.0, 0.0, 1.0]
KEYED = {"q": 3, "r": 0, "s": 1}


def rows():
    given = {"qrels": QRELS, "run": RUN, "metrics": ["rr", "num_ret"]}
    runs = {"one": RUN, "other": {"q": {"x": 2.0, "a": 1.0}}}
    for weights in (WEIGHTS, np.array(WEIGHTS, "f4"), KEYED, KEYED | {"another": 9}):
        for call in ("Evaluation.mean", "Evaluation.aggregate"):
            counted = 15 / 4 if call == "Evaluation.mean" else 15.0
            yield Option(call, "weights", weights, {"rr": 3 / 16, "num_ret": counted}, **given)
            yield Option(call, "weights", weights, 3 / 16, metric="rr", **given)
        yield Option("Evaluation.flat", "weights", weights, {"rr": 3 / 16, "num_ret": 15.0}, **given)
        for call in ("Comparison.means", "Comparison.aggregate"):
            due = {"one": {"rr": 3 / 16}, "other": {"rr": 3 / 8}}
            yield Option(call, "weights", weights, due, runs=runs, qrels=QRELS)
    short = {"qrels": {"q": {"a": 1}}, "run": {"q": {"b": 1}}, "metrics": ["ndcg@2"]}
    yield Option("Evaluation.flat", "names", "safe", {"ndcg_at_2": 0.0}, **short)
    for call in ("Evaluation.mean", "Evaluation.aggregate", "Summary.mean"):
        yield Option(call, "metric", "rr", 5 / 12, **given)
    yield Option("Evaluation.aggregate", "metric", "num_ret", 7.0, **given)
    for queries, kept in [
        (["s", "q"], [0.0, 1 / 4]), ([True, False, True], [1 / 4, 0.0]), (np.array([False, True, False]), [1.0]),
    ]:  # fmt: skip
        yield Option("Evaluation.subset", "queries", queries, [kept], qrels=QRELS, run=RUN, metrics=["rr"])

    tied = {"one": {"q": {"b": 1.0, "a": 1.0}}, "other": {"q": {"a": 1.0, "c": 1.0}}}
    for ties, one, other in [("average", 3 / 4, 3 / 4), ("stable", 1 / 2, 1.0), ("best", 1.0, 1.0)]:
        due = {"one": {"rr": one}, "other": {"rr": other}}
        yield Option("compare", "ties", ties, due, runs=tied, truth={"q": {"a": 1}})
    found, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    due = {"one": {"rr": 1.0}, "other": {"rr": 1.0}}
    yield Option("compare", "missing", "skip", due, runs={"one": found, "other": found}, truth=judged)
    runs = {"one": {**found, "r": {"b": 1.0}}, "other": found}
    yield Option("compare", "queries", "common", due, runs=runs, truth=judged, missing="skip")
