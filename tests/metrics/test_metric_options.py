"""Each metric agrees with textbook.py for each of its parameters, given in a record or in a string."""

import math

import pytest
from support import textbook
from support.evaluating import evaluate_qrels

import rankgain as rg
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
BESIDE = {  # values of other options with which the tested option has an effect
    ("iprec", "rounding"): {"recall": 0.3},
    ("utility", "collection"): {"coefficients": (1.0, -1.0, 0.0, 0.5)},
}
# The grades of each query in run order (None: not judged), then the grades of judged documents that were not returned.
RUN = [[0, 1, None, 3, 0.5, -1, 2], [0, 0, None], [2, 1], [1, 0, 0, 1, 0, 1], []]
LEFT = [[2, 0, 1, 3], [], [0, 3], [0, 1], [1]]
QRELS = {
    query: {f"d{index}": grade for index, grade in enumerate([*row, *LEFT[query]]) if grade is not None}
    for query, row in enumerate(RUN)
}
SCORES = {query: {f"d{index}": -float(index) for index in range(len(row))} for query, row in enumerate(RUN)}


def expected(name, **parameters):
    """Return the value for each query as defined in textbook.py."""
    return [textbook.definition(name)(row, [*QRELS[query].values()], **parameters) for query, row in enumerate(RUN)]


def evaluate_metric(name, **parameters):
    return rg.from_qrels(QRELS, SCORES).evaluate(rg.metric(name, **parameters))


def written(name, parameters):
    """Return the metric as a string."""
    inner = ",".join(f"{option}={value}" for option, value in parameters.items() if option != "k")
    return name + (f"({inner})" if inner else "") + (f"@{parameters['k']}" if "k" in parameters else "")


PAIRS = [(name, option) for name, row in TABLE.items() for option in [*row.takes, *(["k"] if row.cuts else [])]]


@pytest.mark.parametrize(
    ("name", "option"), [pytest.param(*pair, marks=pytest.mark.options("metric", pair[1])) for pair in PAIRS]
)
def test_metric_applies_a_parameter(check_option, name, option):
    beside = BESIDE.get((name, option), {})
    usual = expected(name, **beside)
    for value in VALUES[option]:
        values = expected(name, **beside, **{option: value})
        if repr(values) == repr(usual):
            continue
        check_option(evaluate_metric, option, value, [values], name, **beside)
        if isinstance(value, (int, float, str)) and "coefficients" not in beside:
            metric = written(name, {option: value, **beside})
            check_option(evaluate_qrels, "metrics", [metric], [values], QRELS, SCORES)
