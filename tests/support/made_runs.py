"""Build evaluations and comparisons from given values, without rankings."""

import rankgain as rg
from rankgain import _backend


def evaluation(values, ids=None, metric="ndcg"):
    """Return an Evaluation with the given values of one metric, or with the values of several metrics in a dict."""
    import numpy as np

    vectors = values if isinstance(values, dict) else {metric: values}
    values_by_metric = {key: np.array(vector, dtype=np.float64) for key, vector in vectors.items()}
    queries = len(next(iter(vectors.values())))
    query_ids = rg.from_ranked([[1]] * queries, query_ids=ids).query_ids
    return rg.Evaluation(values_by_metric, query_ids, None, None, None, _backend.name, (queries, *[0] * 6))


def comparison(runs, ids=None, metric="ndcg"):
    """Return a Comparison from {run: values} or {run: {metric: values}}."""
    return rg.Comparison({name: evaluation(values, ids, metric) for name, values in runs.items()})


def against_nothing(differences, metric="cg"):
    """Return a Comparison of a run whose values are all 0 and a run whose values are `differences`."""
    return comparison({"zero": [0.0] * len(differences), "run": list(differences)}, metric=metric)


def against_best(differences, metric="ndcg"):
    """Return a Comparison of a run whose values are all 1 and a run that differs from it by `differences`."""
    return comparison({"best": [1.0] * len(differences), "run": [1.0 + each for each in differences]}, metric=metric)


# Names that would break HTML, templates, C strings, terminals, spreadsheets, Markdown or LaTeX if they were not
# escaped. The last name is very long.
HOSTILE = (
    "</script><script>document.title='gone'</script>",
    "\"><img src=x onerror=document.title='gone'>",
    "<svg onload=document.title='gone'>",
    "{{7*7}}",
    "<!--",
    "one\u2028two",
    "\u202etxet",
    "nul\0nul",
    "lone \ud800",
    "\x1b[31mred\x07",
    "=cmd|' /C calc'!A0",
    "a|b",
    "_ % \\input{x} #$&~^",
    "$a$ and $b",
    "x" * 10_000,
)


def hostile():
    """Return a comparison whose runs and queries have hostile names, and the groups of its queries."""
    import numpy as np

    random = np.random.default_rng(0)
    ids = [*HOSTILE, *(f"q{row}" for row in range(15))]
    runs = {name: random.random(len(ids)) for name in HOSTILE}
    return comparison(runs, ids), [HOSTILE[row % 2 + 1] for row in range(len(ids))]
