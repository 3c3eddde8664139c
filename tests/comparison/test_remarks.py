"""Unjudged documents and ties beside a difference; what a pilot says about the number of queries."""

import pickle

import pytest
from support.made_runs import comparison

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {f"q{row}": {f"d{row}": 1, f"n{row}": 0, f"m{row}": 0} for row in range(10)}
JUDGED = {f"q{row}": {f"n{row}": 3.0, f"d{row}": 2.0, f"m{row}": 1.0} for row in range(10)}
UNJUDGED = {f"q{row}": {f"x{row}": 3.0, f"y{row}": 2.0, f"d{row}": 1.0} for row in range(10)}


def test_unjudged_documents():
    tests = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"]).test()
    (warning,) = tests.warnings
    assert warning == (
        "judged@3 is 1.0000 for bm25 and 0.3333 for dense: unjudged documents count as not relevant here. Over judged "
        "documents only, dense scores 0.5000 higher than bm25 in rr@3. If the unjudged documents that either run "
        "returned had any grades up to the highest, the difference would lie between -0.1667 and +0.5000. Judge more "
        "before you decide."
    )
    assert "Warning: judged@3 is 1.0000" in tests.table()
    assert pickle.loads(pickle.dumps(tests)).warnings == tests.warnings


def test_bounds_take_one_ideal_for_both_runs():
    """By which a run that returned no judged document may win."""
    truth = {f"q{row}": {"a": 1, "z": 0} for row in range(8)}
    known, unknown = {query: {"a": 2, "z": 1} for query in truth}, {query: {"u": 2, "v": 1} for query in truth}
    (warning,) = rg.compare(truth, {"A": known, "B": unknown}, ["ndcg@2"]).test().warnings
    full = {query: own | {"u": 1, "v": 1} for query, own in truth.items()}
    found = rg.compare(full, {"A": known, "B": unknown}, ["ndcg@2"]).means()
    assert f"between -1.0000 and {found['B']['ndcg@2'] - found['A']['ndcg@2']:+.4f}. Judge" in warning


def test_warnings_of_many_differences_are_found_and_counted():
    runs = {f"judged{run}": JUDGED for run in range(12)} | {f"not{run}": UNJUDGED for run in range(12)}
    tests = rg.compare(QRELS, runs, ["rr@3"]).test("judged0", flips=99)
    assert len(tests.warnings) == 12
    assert "… and 7 more: see Tests.warnings" in tests.table()
    assert tests.table().count("Warning: judged@3 is") == 5


def test_only_the_queries_that_were_tested_count():
    few = {query: own for query, own in UNJUDGED.items() if query not in ("q0", "q1")}
    whole = rg.compare(QRELS, {"bm25": JUDGED, "dense": few}, ["rr@3"], missing="skip")
    assert "judged@3 is 1.0000 for bm25 and 0.3333 for dense" in whole.test(queries="common").warnings[0]
    weights = {query: int(query < "q5") for query in QRELS}
    assert (
        "judged@3 is 1.0000 for bm25 and 0.3333 for dense" in whole.test(queries="common", weights=weights).warnings[0]
    )


def test_no_bounds_where_ranks_are_not_known():
    (warning,) = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"], ties="average").test().warnings
    assert "the truth may lie between. Judge more before you decide." in warning


POSITIVES = {query: {document: 1 for document, grade in own.items() if grade} for query, own in QRELS.items()}


@pytest.mark.parametrize(
    ("other", "metric"),
    [
        (UNJUDGED, "rr@3"),
        ({query: dict.fromkeys(own, 1.0) for query, own in POSITIVES.items()}, "rr@10"),  # short lists of relevant ones
    ],
)
def test_nothing_is_said_where_only_relevant_documents_are_judged(other, metric):
    assert rg.compare(POSITIVES, {"bm25": JUDGED, "other": other}, [metric]).test().warnings == []


def test_queries_without_documents_are_not_unjudged():
    few = {query: own for query, own in JUDGED.items() if query > "q4"}
    assert rg.compare(QRELS, {"bm25": JUDGED, "few": few}, ["rr@3"]).test().warnings == []
    (warning,) = rg.compare(QRELS, {"few": few, "dense": UNJUDGED}, ["rr@3"]).test().warnings
    assert warning.startswith("judged@3 is 1.0000 for few (without queries for which it returned nothing) and 0.3333 ")


def test_ties():
    tied = {query: dict.fromkeys(own, 1.0) for query, own in JUDGED.items()}
    tests = rg.compare(QRELS, {"bm25": JUDGED, "tied": tied}, ["rr"]).test()
    (warning,) = tests.warnings
    assert warning.startswith(
        "the order of tied documents alone could turn the difference of tied to bm25 in rr: it lies"
    )
    assert warning.endswith("between -0.1667 and +0.5000; see tie_spread.")


def test_ties_where_lower_is_better():
    tied = {query: dict.fromkeys(own, 1.0) for query, own in JUDGED.items()}
    (warning,) = rg.compare(QRELS, {"bm25": JUDGED, "tied": tied}, ["fallout@2"]).test().warnings
    assert warning.endswith("between 0.0000 and +0.5000; see tie_spread.")


def test_a_pickled_comparison_forgets_its_rankings():
    whole = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"])
    assert pickle.loads(pickle.dumps(whole)).test().warnings == []
    assert whole.test().warnings


def test_queries_needed():
    runs = comparison({"a": [0.0] * 20, "b": [0.5, -0.5] * 10})
    sd = runs.test()["ndcg", "b", "a"].sd
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=-sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2, power=0.95) > 34
