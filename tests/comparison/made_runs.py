"""Comparisons made of numbers, without rankings."""

import rankgain as rg


def evaluation(values, ids=None, metric="ndcg"):
    """An Evaluation of one metric by the values of its queries, or of several by a dict."""
    vectors = values if isinstance(values, dict) else {metric: values}
    queries = len(next(iter(vectors.values())))
    result = rg.from_ranked([[1]] * queries, query_ids=ids).evaluate("cg")
    state = vars(result)
    import numpy as np

    held = {key: np.array(vector, dtype=np.float64) for key, vector in vectors.items()}
    return rg.Evaluation(held, result.query_ids, None, None, None, state["backend"], (queries, 0, 0, 0))


def comparison(runs, ids=None, metric="ndcg"):
    """A Comparison of {run: values}, or of {run: {metric: values}}."""
    return rg.Comparison({name: evaluation(values, ids, metric) for name, values in runs.items()})


def against_nothing(differences, metric="cg"):
    """Two runs, of which the first is 0 for every query."""
    return comparison({"zero": [0.0] * len(differences), "run": list(differences)}, metric=metric)
