"""Parameters of metrics: each of each metric, in a record and in a string, over judged lists of equal score and not."""

import math

from support import textbook
from support.cases import Option

from rankgain.metrics.table import TABLE

VALUES = {
    "gain": ["exponential", "binary", {0.5: 1, 1: 1, 2: 7, 3: 8}, lambda grades: grades * grades],
    "discount": ["zipf", "jarvelin:2", [1.0, 0.75, 0.5, 0.5, 0.25] + [0.125] * 8],
    "ideal": ["returned"],
    "rel": [2, 0, 0.75],
    "empty": [1.0, 0.25, math.nan],
    "beta": [0, 2, 0.5],
    "p": [0.5, 0.99],
    "max_grade": [3, 10],
    "recall": [0.5, 1],
    "rounding": ["nearest"],
    "multiple": [0.5, 2],
    "coefficients": [(2.0, -0.25, -1.0, 0.125)],
    "collection": [30],
    "k": [1, 2, 3],
}
BESIDE = {  # a value at which the other option matters
    ("iprec", "rounding"): {"recall": 0.3},
    ("utility", "collection"): {"coefficients": (1.0, -1.0, 0.0, 0.5)},
}
# The grades of each query in the order of the run, which has no ties; None: not judged. And those not returned.
RUN = [[0, 1, None, 3, 0.5, -1, 2], [0, 0, None], [2, 1], [1, 0, 0, 1, 0, 1], []]
LEFT = [[2, 0, 1, 3], [], [0, 3], [0, 1], [1]]
QRELS = {
    query: {f"d{place}": grade for place, grade in enumerate([*row, *LEFT[query]]) if grade is not None}
    for query, row in enumerate(RUN)
}
SCORES = {query: {f"d{place}": -float(place) for place in range(len(row))} for query, row in enumerate(RUN)}


def expected(name, **parameters):
    """By the textbook, query by query."""
    return [textbook.definition(name)(row, [*QRELS[query].values()], **parameters) for query, row in enumerate(RUN)]


def written(name, parameters):
    """The metric as a string."""
    own = ",".join(f"{option}={value}" for option, value in parameters.items() if option != "k")
    return name + (f"({own})" if own else "") + (f"@{parameters['k']}" if "k" in parameters else "")


def rows():
    given = {"qrels": QRELS, "run": SCORES}
    for name, row in TABLE.items():
        for option in [*row.takes, *(["k"] if row.cuts else [])]:
            beside = BESIDE.get((name, option), {})
            usual = expected(name, **beside)
            for value in VALUES[option]:
                due = expected(name, **beside, **{option: value})
                if repr(due) == repr(usual):
                    continue
                yield Option("metric", option, value, [due], name=name, **given, **beside)
                if isinstance(value, (int, float, str)) and "coefficients" not in beside:
                    asked = [written(name, {option: value, **beside})]
                    yield Option("from_qrels", "metrics", asked, [due], **given)
