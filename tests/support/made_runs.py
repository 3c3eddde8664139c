"""Comparisons built from numbers, without rankings."""

import rankgain as rg


def evaluation(values, ids=None, metric="ndcg"):
    """An Evaluation of one metric by the values of its queries, or of several by a dict."""
    vectors = values if isinstance(values, dict) else {metric: values}
    queries = len(next(iter(vectors.values())))
    result = rg.from_ranked([[1]] * queries, query_ids=ids).evaluate("cg")
    state = vars(result)
    import numpy as np

    values_by_metric = {key: np.array(vector, dtype=np.float64) for key, vector in vectors.items()}
    return rg.Evaluation(values_by_metric, result.query_ids, None, None, None, state["backend"], (queries, 0, 0, 0, 0))


def comparison(runs, ids=None, metric="ndcg"):
    """A Comparison of {run: values}, or of {run: {metric: values}}."""
    return rg.Comparison({name: evaluation(values, ids, metric) for name, values in runs.items()})


def against_nothing(differences, metric="cg"):
    """Two runs, of which the first is 0 for every query."""
    return comparison({"zero": [0.0] * len(differences), "run": list(differences)}, metric=metric)


# Names that break output that does not escape them: HTML, attributes, templates, comments, lines of text, writing
# direction, C strings, encodings, terminals, spreadsheets, Markdown, LaTeX and mathematics; and a very long name.
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
    """A comparison whose runs and queries have such names, and the groups of its queries."""
    import numpy as np

    random = np.random.default_rng(0)
    ids = [*HOSTILE, *(f"q{row}" for row in range(15))]
    runs = {name: random.random(len(ids)) for name in HOSTILE}
    return comparison(runs, ids), [HOSTILE[row % 2 + 1] for row in range(len(ids))]
