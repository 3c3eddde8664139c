"""Hypothesis strategies for grades, for scores with many ties, and for all parameters of the metrics."""

from hypothesis import settings
from hypothesis import strategies as st

import rankgain as rg
from rankgain._codes import UNLIMITED
from rankgain.metrics.table import TABLE

TIES = ["average", "stable", "best", "worst"]


def examples(factor):
    """Return settings with `factor` times the number of examples in the current profile."""
    return settings(max_examples=max(1, round(factor * settings().max_examples)))


def as_many(number):
    """Scale a number of random cases with the current profile: `number` is that of a profile of 100 examples."""
    return max(1, number * settings().max_examples // 100)


grades = st.one_of(
    st.integers(0, 4),
    st.integers(0, 4),
    st.floats(0, 8, allow_subnormal=False),
    st.sampled_from([0.5, 64.0, 100.0, 1e-3]),
)
scores = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(allow_nan=False, width=32),
    st.sampled_from([0.0, -0.0, float("inf"), float("-inf")]),
)
cutoffs = st.none() | st.integers(1, 12)
depths = st.integers(1, 12) | st.just(UNLIMITED)


def double(grade):
    return 2.0 * grade


def fall(grade):
    """Return a gain that decreases with the grade and is not 0 for grade 0."""
    return 1.0 / (1.0 + grade)


named_gains = st.sampled_from(["linear", "exponential"])
gains = named_gains | st.sampled_from([double, fall])
discounts = st.sampled_from(
    ["log2", "zipf", "jarvelin", "jarvelin:10", "jarvelin:2.5", [1.0] * 3 + [0.5] * 17, [0.5, 1.0, 0.0, 2.0] * 5]
)
empties = st.sampled_from([0.0, 1.0, float("nan")])
rels = st.sampled_from([None, 0, 0.5, 1, 2])


@st.composite
def documents(draw, most=6, least=0):
    """Draw the (grade, score) pairs of up to `most` documents of one query."""
    return draw(st.lists(st.tuples(grades, scores), min_size=least, max_size=most))


# Strategies for all parameters of the metrics. `requested_metric` replaces "table" with a table of gains by grade.
PARAMETERS = {
    "gain": gains | st.sampled_from(["binary", "table"]),
    "discount": discounts,
    "ideal": st.sampled_from(["judged", "returned"]),
    "rel": rels,
    "empty": empties,
    "beta": st.sampled_from([0, 0.5, 1, 2, 3.7]),
    "p": st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.99]),
    "max_grade": st.sampled_from([4, 4.5, 10, 1000]),
    "recall": st.sampled_from([0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.7, 0.9, 1]),
    "rounding": st.sampled_from(["up", "nearest"]),
    "multiple": st.sampled_from([0.05, 0.2, 0.5, 1, 1.4, 2, 7]),
    "coefficients": st.sampled_from([(1.0, -1.0, 0.0, 0.0), (2.0, -0.25, -1.0, 0.125), (0.0, 0.0, 0.1, 3.0)]),
    "collection": st.sampled_from([0, 30, 1e6]),
}


@st.composite
def requests(draw, names=tuple(TABLE)):
    """Draw the name of a metric and values for some of its parameters."""
    row = TABLE[draw(st.sampled_from(names))]
    drawn = {name: draw(PARAMETERS[name]) for name in row.takes if draw(st.booleans())}
    if row.cuts:
        drawn["k"] = draw(cutoffs)
    return row.name, drawn


def requested_metric(drawn, known):
    """Return the metric, its name and its parameters.

    A gain table gets an entry for each known grade, and `max_grade` becomes at least the highest known grade.
    """
    name, parameters = drawn
    parameters = dict(parameters)
    if parameters.get("gain") == "table":
        parameters["gain"] = {grade: 0.75 * (index * 7 % 5) for index, grade in enumerate(sorted(known), start=1)}
    highest = max(known, default=0)
    if "max_grade" in TABLE[name].takes and parameters.get("max_grade", 4.0) < highest:
        parameters["max_grade"] = float(highest)
    return rg.metric(name, **parameters), name, parameters
