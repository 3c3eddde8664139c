"""Warnings about input that is probably a mistake: swapped arguments, and grades in a column that is not read."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.pytrec_eval import RelevanceEvaluator
from rankgain.sklearn import dcg_score, ndcg_score

pytestmark = pytest.mark.usefixtures("backend")

LABELS = np.array([0, 1, 2, 0, 1, 1, 2, 0, 0, 0])
SCORES = np.array([0.37, 0.91, 0.12, 0.55, 0.48, 0.33, 0.21, 0.83, 0.61, 0.95])
SIZES, QID = [5, 5], ["b", "a"] * 5
SWAPPED = "looks like scores (fractions, all different) and {} like grades (small integers): if they are swapped, truth"


def warnings_of(call, *args, **options):
    """Return the warning messages of a call, after checking that all of them point to this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **options)
    assert {(warning.category, warning.filename) for warning in caught} <= {(UserWarning, __file__)}
    return [str(warning.message) for warning in caught]


def remarks_of(call, *args, **options):
    """Return what the result assumes, after checking that there is no warning."""
    results = []
    assert warnings_of(lambda: results.append(call(*args, **options))) == []
    result = results[0].evaluate("rr") if isinstance(results[0], rg.Rankings) else results[0]
    return [remark for remark in result.assumed if "looks like scores" in remark]


FORMS = {
    "1-D": (lambda side: side, {}),
    "2-D": (lambda side: side.reshape(2, 5), {}),
    "lists": (lambda side: [side[:4].tolist(), side[4:].tolist()], {}),
    "list": (np.ndarray.tolist, {}),
    "sizes": (lambda side: side, {"group_sizes": SIZES}),
    "qid": (lambda side: side, {"qid": QID}),
    "mask": (lambda side: side, {"mask": [*[True] * 9, False]}),
}


@pytest.mark.parametrize("form", FORMS)
@in_one_case("kind", [np.int64, np.int32, np.uint8, np.bool_])
def test_from_scores_remarks_on_swapped_arguments(form, kind):
    make, options = FORMS[form]
    labels, scores = make(LABELS.astype(kind)), make(SCORES)
    (message,) = remarks_of(rg.from_scores, scores, labels, **options)
    assert message.startswith(f"y_true {SWAPPED.format('y_score')} comes first, from_scores(y_true, y_score)")
    assert remarks_of(rg.from_scores, scores, make(LABELS.astype(float)), **options) == []
    assert remarks_of(rg.from_scores, labels, scores, **options) == []


FRACTIONS = SCORES[:5].tolist()
PLAUSIBLE = {
    "grades in quarters": ([0.5, 4.5, 3.25, 1.0, 2.0], [3, 1, 1, 2, 0]),
    "means of annotators": ([2 / 3, 7 / 3, 2 / 3, 1.0, 2.0], [3, 1, 1, 2, 0]),
    "counts of a popularity baseline": (FRACTIONS, [3, 250, 3, 7, 9]),
    "an order": (FRACTIONS, [5, 4, 3, 2, 1]),
    "a short list": ([0.1, 0.5, 0.7, 0.2], [1, 1, 0, 0]),
    "equal scores": (FRACTIONS, [1, 1, 1, 1, 1]),
    "negative scores": (FRACTIONS, [-1, 0, -1, 0, 0]),
    "whole grades": ([0.0, 1.0, 2.0, 3.0, 4.0], [1, 2, 1, 0, 0]),
    "whole scores as floats": (FRACTIONS, [3.0, 1.0, 1.0, 0.0, 0.0]),
    "one query of two": ([FRACTIONS, [0.5, 0.5, 0.1, 0.2, 0.3]], [[1, 0, 1, 0, 0]] * 2),
    "one order of two": ([FRACTIONS] * 2, [[1, 0, 1, 0, 0], [1, 2, 3, 4, 5]]),
}


@pytest.mark.parametrize("sides", PLAUSIBLE.values(), ids=PLAUSIBLE)
def test_no_constructor_remarks_on_plausible_scores(sides):
    assert remarks_of(rg.from_scores, *sides) == []
    assert remarks_of(rg.from_scores, [], []) == []
    labels, scores = (by_document(side if np.ndim(side) == 2 else [side]) for side in sides)
    assert remarks_of(rg.from_qrels, labels, scores) == []
    assert remarks_of(rg.from_frames, framed(labels), framed(scores), relevance="value", score="value") == []


def test_queries_that_do_not_count_do_not_prevent_the_remark():
    """Short queries and queries in which all scores are equal do not prevent the remark."""
    labels, scores = [[0.3], SCORES[:5].tolist(), FRACTIONS], [[1], LABELS[:5].tolist(), [0] * 5]
    assert len(remarks_of(rg.from_scores, labels, scores)) == 1
    labels, scores = by_document(labels), by_document(scores)
    assert len(remarks_of(rg.from_qrels, labels, scores)) == 1
    assert len(remarks_of(rg.from_frames, framed(labels), framed(scores), relevance="value", score="value")) == 1


def by_document(rows):
    return {f"q{row}": {f"d{column}": value for column, value in enumerate(values)} for row, values in enumerate(rows)}


def framed(by_query):
    rows = [(query, document, value) for query, documents in by_query.items() for document, value in documents.items()]
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return dict(zip(("query_id", "doc_id", "value"), map(list, columns), strict=True))


GRADED, SCORED_RUN = by_document(LABELS.reshape(2, 5).tolist()), by_document(SCORES.reshape(2, 5).tolist())


def test_from_qrels_and_evaluate_remark_on_swapped_dicts():
    for name, call in [("qrels", rg.from_qrels), ("truth", lambda *sides: rg.evaluate(*sides, "ndcg"))]:
        (message,) = remarks_of(call, SCORED_RUN, GRADED)
        assert message.startswith(f"{name} {SWAPPED.format('run')} comes first, from_qrels(qrels, run)")
        assert len(remarks_of(call, rg.judgments(SCORED_RUN), GRADED)) == 1
        assert remarks_of(call, GRADED, SCORED_RUN) == []
        floats = {
            query: {document: float(grade) for document, grade in grades.items()} for query, grades in GRADED.items()
        }
        assert remarks_of(call, SCORED_RUN, floats) == []
        assert remarks_of(call, floats, GRADED) == []
        assert remarks_of(call, GRADED, {"q0": {}, "q1": {"d0": 1}}) == []


def test_from_frames_remarks_on_swapped_frames_and_columns():
    graded, scored = framed(GRADED), framed(SCORED_RUN)
    names = {"relevance": "value", "score": "value"}
    (message,) = remarks_of(rg.from_frames, scored, graded, **names)
    assert message.startswith(
        "qrels_df " + SWAPPED.format("run_df: column 'value'") + " comes first, from_frames(qrels_df, run_df)"
    )
    assert remarks_of(rg.from_frames, graded, scored, **names) == []
    both = {**graded, "label": graded["value"], "score": scored["value"]}
    names = {"relevance": "score", "score": "label"}
    for ids in (["doc_id"], []):
        log = {name: both[name] for name in ("query_id", *ids, "label", "score")}
        (message,) = remarks_of(rg.from_frames, log, **names)
        assert "relevance= names the column of grades, and score= that of scores" in message
        assert remarks_of(rg.from_frames, log) == []


@pytest.mark.parametrize("held_out", [[[*range(10)]] * 20, [[user] for user in range(20)]])
def test_lists_of_ids_say_nothing_of_swapped_arguments(held_out):
    recommended = [[*range(user % 10 + 1)] for user in range(20)]
    for sides in ((held_out, recommended), (recommended, held_out)):
        result = rg.from_recommendations(*sides)
        assert warnings_of(result.evaluate, "rr") == []
        assert result.evaluate("rr").assumed == ()


def test_drop_ins_do_not_warn_of_swapped_arguments():
    labels, scores = LABELS.reshape(2, 5), SCORES.reshape(2, 5)
    for function in (ndcg_score, dcg_score):
        assert warnings_of(function, scores, labels) == []
        assert warnings_of(function, scores, labels, ignore_ties=True) == []
    evaluator = RelevanceEvaluator(
        {query: dict.fromkeys(documents, 1) for query, documents in GRADED.items()}, {"ndcg"}
    )
    assert warnings_of(evaluator.evaluate, GRADED) == []
    model = SimpleNamespace(predict=lambda rows: LABELS)
    assert warnings_of(rg.scorer("ndcg", response_method="predict"), model, LABELS[:, None], SCORES, qid=QID) == []


LIBRARIES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}
IDS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"]}
SCORED = {**IDS, "score": [0.5, 0.25, 1.0]}


@in_one_case("library", LIBRARIES)
@pytest.mark.parametrize("values", [[1, 0, 2], [0.5, 1.5, 0.5], [1, 0, 1]])
def test_frames_warn_of_a_column_that_may_hold_grades(library, values):
    make = LIBRARIES[library]
    graded, run = make({**IDS, "stars": values}), make(SCORED)
    for call, name in [
        (lambda **options: rg.from_frames(graded, run, **options), "qrels_df"),
        (lambda **options: rg.judgments(graded, **options), "truth"),
        (lambda **options: rg.evaluate(graded, run, "ndcg", **options), "truth"),
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
@in_one_case("library", LIBRARIES)
def test_frames_do_not_warn_of_other_columns(library, others):
    make = LIBRARIES[library]
    assert warnings_of(rg.from_frames, make({**IDS, **others}), make(SCORED)) == []
