"""Warnings of input that is probably not what was meant: swapped arguments, grades in a column that is not read."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

LABELS, SCORES = np.array([0, 1, 2, 0, 1]), np.array([0.37, 0.91, 0.12, 0.55, 0.48])
SIZES, QID = [3, 2], ["b", "a", "b", "a", "b"]
QRELS = {"q": {"a": 1, "b": 0, "c": 1}, "r": {"a": 2}}
RUN = {"q": {"a": 0.37, "b": 0.91, "c": 0.48}, "r": {"a": 0.12}}


def warnings_of(call, *args, **options):
    """The messages, each of which is for a line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **options)
    assert {(own.category, own.filename) for own in caught} <= {(UserWarning, __file__)}
    return [str(own.message) for own in caught]


FORMS = {
    "1-D": (lambda side: side, {}),
    "2-D": (lambda side: side.reshape(1, 5), {}),
    "lists": (lambda side: [side[:3].tolist(), side[3:].tolist()], {}),
    "list": (np.ndarray.tolist, {}),
    "sizes": (lambda side: side, {"group_sizes": SIZES}),
    "qid": (lambda side: side, {"qid": QID}),
    "mask": (lambda side: side, {"mask": [True, True, True, True, False]}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.bool_])
def test_from_scores_warns_of_swapped_arguments(form, kind):
    make, options = FORMS[form]
    labels, scores = make(LABELS.astype(kind)), make(SCORES)
    (message,) = warnings_of(rg.from_scores, scores, labels, **options)
    assert "y_true has fractions and y_score whole numbers: are they swapped?" in message
    assert message.endswith("give y_score as floats")
    assert warnings_of(rg.from_scores, scores, make(LABELS.astype(float)), **options) == []
    assert warnings_of(rg.from_scores, labels, scores, **options) == []


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([0.5, 4.5, 3.25], [3, 1, 1]),  # ratings in halves and quarters
        ([0.37, 0.91, 0.12], [3, 250, 3]),  # counts, of a popularity baseline
        ([0.37, 0.91, 0.12], [3, 2, 1]),  # an order
        ([0.37, 0.91, 0.12], [0, 0, 0]),  # none
        ([0.37, 0.91, 0.12], [-1, 0, -1]),
        ([0.0, 1.0, 2.0], [1, 2, 1]),
        ([0.37, 0.91, 0.12], [3.0, 1.0, 1.0]),
        ([], []),
    ],
)
def test_from_scores_does_not_warn_of_plausible_arguments(labels, scores):
    assert warnings_of(rg.from_scores, labels, scores) == []


def test_evaluate_warns_of_swapped_dicts():
    (message,) = warnings_of(rg.evaluate, RUN, QRELS, "ndcg")
    assert "truth has fractions and run whole numbers: are they swapped?" in message
    assert message.endswith("give the scores as floats")
    assert warnings_of(rg.evaluate, QRELS, RUN, "ndcg") == []
    assert warnings_of(rg.evaluate, rg.judgments(RUN), QRELS, "ndcg") == []
    floats = {query: {document: float(grade) for document, grade in grades.items()} for query, grades in QRELS.items()}
    assert warnings_of(rg.evaluate, RUN, floats, "ndcg") == []
    assert warnings_of(rg.evaluate, floats, QRELS, "ndcg") == []
    assert warnings_of(rg.evaluate, {"q": {}, "r": {"a": 0.5}}, QRELS, "ndcg") == []


LIBRARIES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}
IDS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"]}
SCORED = {**IDS, "score": [0.5, 0.25, 1.0]}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("values", [[1, 0, 2], [0.5, 1.5, 0.5], [1, 0, 1]])
def test_frames_warn_of_a_column_that_may_hold_grades(library, values):
    make = LIBRARIES[library]
    graded, run = make({**IDS, "stars": values}), make(SCORED)
    for call, name in [
        (lambda **options: rg.from_frames(graded, run, **options), "qrels_df"),
        (lambda **options: rg.judgments(graded, **options), "truth"),
        (lambda **options: rg.evaluate(graded, run, "ndcg", **options), "qrels_df"),
        (lambda **options: rg.compare(graded, {"a": run, "b": run}, "ndcg", **options), "truth"),
    ]:
        (message,) = warnings_of(call)
        assert message.startswith(f"{name} has no column of relevance: each row counts as 1")
        assert message.endswith("If 'stars' has the grades, write relevance='stars', else leave it out")
        assert warnings_of(call, relevance="stars") == []


@pytest.mark.parametrize(
    "others",
    [
        {"source": [1, 1, 1]},
        {"title": ["x", "y", "z"]},
        {"timestamp": [1, 2, 3], "session_id": [4, 5, 6], "Unnamed: 0": [0, 1, 2], "event_time": [1.0, 2.0, 3.0]},
        {"rating": [1, 0, 2], "clicks": [5, 6, 7]},
        {},
    ],
)
@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_do_not_warn_of_other_columns(library, others):
    make = LIBRARIES[library]
    assert warnings_of(rg.from_frames, make({**IDS, **others}), make(SCORED)) == []
