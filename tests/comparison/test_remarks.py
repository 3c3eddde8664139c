"""Unjudged documents and ties beside a difference; what a pilot says about the number of queries."""

import pickle

import numpy as np
import pytest
from support.made_runs import comparison

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {f"q{row}": {f"d{row}": 1, f"n{row}": 0, f"m{row}": 0} for row in range(10)}
JUDGED = {f"q{row}": {f"n{row}": 3.0, f"d{row}": 2.0, f"m{row}": 1.0} for row in range(10)}
UNJUDGED = {f"q{row}": {f"x{row}": 3.0, f"y{row}": 2.0, f"d{row}": 1.0} for row in range(10)}


def test_unjudged_documents():
    tests = rg.compare({"bm25": JUDGED, "dense": UNJUDGED}, QRELS, ["rr@3"]).test()
    (warning,) = tests.warnings
    assert warning == (
        "judged@3 is 1.0000 for bm25 and 0.3333 for dense: unjudged documents count as not relevant here. Over judged "
        "documents only, dense scores 0.5000 higher in rr@3; the truth may lie between. With all of them taken as "
        "relevant (of the highest grade) or as not, in either run, the difference lies between -0.1667 and +0.5000. "
        "Judge more before you decide."
    )
    assert "warning: judged@3 is 1.0000" in tests.table()
    assert pickle.loads(pickle.dumps(tests)).warnings == tests.warnings


def test_bounds_are_those_of_both_extremes():
    """By qrels in which every document of a run is judged."""
    random = np.random.default_rng(0)
    names = [f"d{number}" for number in range(30)]
    qrels = {
        f"q{query}": {name: int(random.integers(-1, 4)) for name in random.choice(names, 12, replace=False)}
        for query in range(12)
    }
    runs = {
        "a": {query: {name: float(random.random()) for name in own} for query, own in qrels.items()},
        "b": {query: dict(zip(names, random.random(30).tolist(), strict=True)) for query in qrels},
    }
    for metric in ("ndcg@5", "ap", "precision@3", "rr"):
        k = 3 if metric.endswith("3") else 5 if metric.endswith("5") else None
        ends = {}
        for name, run in runs.items():
            full = {query: {d: grade for d, grade in own.items() if grade >= 0} for query, own in qrels.items()}
            for query, own in run.items():
                for document in sorted(own, key=own.get, reverse=True)[:k]:
                    full[query].setdefault(document, 3)
            values = [rg.from_qrels(truth, run).evaluate(metric).mean(metric) for truth in (qrels, full)]
            ends[name] = min(values), max(values)
        found = rg.compare(runs, qrels, metric).test().warnings
        low, high = ends["b"][0] - ends["a"][1], ends["b"][1] - ends["a"][0]
        assert f"the difference lies between {low:+.4f} and {high:+.4f}. Judge more" in found[0]


def test_only_the_queries_that_were_tested_count():
    few = {query: own for query, own in UNJUDGED.items() if query not in ("q0", "q1")}
    whole = rg.compare({"bm25": JUDGED, "dense": few}, QRELS, ["rr@3"], missing="skip")
    assert "judged@3 is 1.0000 for bm25 and 0.3333 for dense" in whole.test(queries="common").warnings[0]
    weights = {query: int(query < "q5") for query in QRELS}
    assert (
        "judged@3 is 1.0000 for bm25 and 0.3333 for dense" in whole.test(queries="common", weights=weights).warnings[0]
    )


def test_no_bounds_where_ranks_are_not_known():
    (warning,) = rg.compare({"bm25": JUDGED, "dense": UNJUDGED}, QRELS, ["rr@3"], ties="average").test().warnings
    assert "the truth may lie between. Judge more before you decide." in warning


def test_nothing_is_said_where_only_relevant_documents_are_judged():
    positives = {query: {document: 1 for document, grade in own.items() if grade} for query, own in QRELS.items()}
    assert rg.compare({"bm25": JUDGED, "dense": UNJUDGED}, positives, ["rr@3"]).test().warnings == []


def test_ties():
    tied = {query: dict.fromkeys(own, 1.0) for query, own in JUDGED.items()}
    tests = rg.compare({"bm25": JUDGED, "tied": tied}, QRELS, ["rr"]).test()
    (warning,) = tests.warnings
    assert warning.startswith(
        "the order of tied documents alone could turn the difference of tied to bm25 in rr: it lies"
    )
    assert warning.endswith("between -0.1667 and +0.5000; see tie_spread.")


def test_a_pickled_comparison_forgets_its_rankings():
    whole = rg.compare({"bm25": JUDGED, "dense": UNJUDGED}, QRELS, ["rr@3"])
    assert pickle.loads(pickle.dumps(whole)).test().warnings == []
    assert whole.test().warnings


def test_queries_needed():
    runs = comparison({"a": [0.0] * 20, "b": [0.5, -0.5] * 10})
    sd = runs.test()["ndcg", "b", "a"].sd
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=-sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2, power=0.95) > 34


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"difference": 0},
            ValueError,
            "^difference must be finite and not 0, not 0: name the one",
        ),
        ({"difference": "x"}, TypeError, "^difference must be a number, not str$"),
        ({"difference": 0.1, "power": 1}, ValueError, "^power must be between 0 and 1, such as 0.8, not 1$"),
        ({"difference": 0.1, "level": 2}, ValueError, "^level must be between 0 and 1"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        comparison({"a": [0.0] * 20, "b": [0.5, -0.5] * 10}).queries_needed("ndcg", "b", "a", **options)
