"""What hypothesis draws: grades, scores with many ties, and every parameter of the metrics."""

from hypothesis import strategies as st

from rankgain._codes import UNLIMITED

TIES = ["average", "stable", "best", "worst"]

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
    """A gain that falls with the grade, and gives grade 0 something."""
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
    """(grade, score) of the documents of one query, with ties of up to `most` documents."""
    return draw(st.lists(st.tuples(grades, scores), min_size=least, max_size=most))
