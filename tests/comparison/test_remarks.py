"""Warnings about unjudged documents and ties, and the number of queries estimated from a pilot."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison
from support.marks import in_one_case

import rankgain as rg
from rankgain.comparison.evidence import WITHOUT_UNJUDGED
from rankgain.comparison.power import skewness
from rankgain.data import lines as lines_of_files
from rankgain.data.columns import RunColumns
from rankgain.metrics.table import TABLE

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {f"q{row}": {f"d{row}": 1, f"n{row}": 0, f"m{row}": 0} for row in range(10)}
JUDGED = {f"q{row}": {f"n{row}": 3.0, f"d{row}": 2.0, f"m{row}": 1.0} for row in range(10)}
UNJUDGED = {f"q{row}": {f"x{row}": 3.0, f"y{row}": 2.0, f"d{row}": 1.0} for row in range(10)}


def test_unjudged_documents_are_remarked():
    tests = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"]).test()
    (warning,) = tests.warnings
    finding = "judged@3 0.3333 vs 1.0000; judged only +0.5000; at most -0.1667 to +0.5000"
    meaning = (
        "uch documents count as not relevant. 'judged only' is the difference without them, 'at most' its range over "
        "all grades they may have. Without these judgments the size is unknown. Judge more before you decide."
    )
    assert warning == f"unjudged: rr@3, dense vs bm25: {finding}. S{meaning}"
    *_, table, meanings = tests.table().split("\n\n")
    assert table.splitlines()[2] == f"unjudged  rr@3    dense vs bm25  {finding}"
    assert " ".join(meanings.split()) == f"unjudged: s{meaning}"
    assert pickle.loads(pickle.dumps(tests)).warnings == tests.warnings


def test_bounds_take_one_ideal_for_both_runs():
    """Both runs share one ideal ranking, so a run that returned no judged document may still win."""
    truth = {f"q{row}": {"a": 1, "z": 0} for row in range(8)}
    known, unknown = {query: {"a": 2, "z": 1} for query in truth}, {query: {"u": 2, "v": 1} for query in truth}
    (warning,) = rg.compare(truth, {"A": known, "B": unknown}, ["ndcg@2"]).test().warnings
    full = {query: grades | {"u": 1, "v": 1} for query, grades in truth.items()}
    means = rg.compare(full, {"A": known, "B": unknown}, ["ndcg@2"]).means()
    assert f"; at most -1.0000 to {means['B']['ndcg@2'] - means['A']['ndcg@2']:+.4f}. Such" in warning
    assert warning.endswith("Judge more before you decide.")


def test_more_judgments_are_advised_only_where_they_could_turn_the_difference():
    """The first of the two runs has too few unjudged documents to reverse the difference."""
    good = {query: {f"d{query[1:]}": 3.0, f"n{query[1:]}": 2.0, f"m{query[1:]}": 1.0} for query in QRELS}
    few = JUDGED | {"q0": UNJUDGED["q0"]}
    near, far = rg.compare(QRELS, {"good": good, "few": few, "none": UNJUDGED}, ["rr@3"]).test("good").warnings
    assert "few vs good: judged@3 0.9333 vs 1.0000; judged only -0.4500; at most -0.5167 to -0.4500." in near
    assert near.endswith("Without these judgments the size is unknown.")
    assert "at most -0.6667 to 0.0000" in far
    assert far.endswith("Without these judgments the size is unknown. Judge more before you decide.")
    both = rg.compare(QRELS, {"good": good, "few": few, "none": UNJUDGED}, ["rr@3"]).test("good")
    assert "Judge more before you decide on none vs good in rr@3." in " ".join(both.table().split())


def test_warnings_of_many_differences_are_found_and_counted():
    runs = {f"judged{run}": JUDGED for run in range(12)} | {f"not{run}": UNJUDGED for run in range(12)}
    tests = rg.compare(QRELS, runs, ["rr@3"]).test("judged0", flips=99)
    assert len(tests.warnings) == 12
    assert "… and 2 more warnings" in tests.table()
    assert tests.table().count("judged@3 0.3333 vs 1.0000") == 10


def test_only_the_queries_that_were_tested_count():
    few = {query: grades for query, grades in UNJUDGED.items() if query not in ("q0", "q1")}
    whole = rg.compare(QRELS, {"bm25": JUDGED, "dense": few}, ["rr@3"], missing="skip")
    assert "judged@3 0.3333 vs 1.0000" in whole.test(queries="common").warnings[0]
    weights = {query: int(query < "q5") for query in QRELS}
    few, judged = whole.test(queries="common", weights=weights).warnings
    assert "judged@3 0.3333 vs 1.0000" in judged
    assert few == (
        "weights: rr@3: as much information as 3.0 queries. With fewer than 6 queries of equal weight, p and interval "
        "are not reliable."
    )


def test_no_bounds_where_ranks_are_not_known():
    (warning,) = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"], ties="average").test().warnings
    assert "judged only +0.5000. Such" in warning
    assert warning.endswith("Without these judgments the size is unknown.")


POSITIVES = {query: {document: 1 for document, grade in grades.items() if grade} for query, grades in QRELS.items()}


@pytest.mark.parametrize(
    ("other", "metric"),
    [
        (UNJUDGED, "rr@3"),
        (
            {query: dict.fromkeys(grades, 1.0) for query, grades in POSITIVES.items()},
            "rr@10",
        ),  # short lists of relevant documents
    ],
)
def test_no_remark_where_only_relevant_documents_are_judged(other, metric):
    assert rg.compare(POSITIVES, {"bm25": JUDGED, "other": other}, [metric]).test().warnings == []


@in_one_case("name", sorted(set(TABLE) - {"infap"}))  # infAP estimates from pooled documents only
def test_unjudged_documents_are_a_warning_only_where_they_count_as_not_relevant(name):
    """An unjudged document counts as not relevant if grade 0 gives the same value but other documents do not."""
    random = np.random.default_rng(0)
    run, other = (
        {f"q{row}": {f"d{doc}": random.random() for doc in range(first, first + 12)} for row in range(20)}
        for first in (0, 7)
    )
    judged = {query: {f"d{doc}": int(random.integers(0, 3)) for doc in range(8)} for query in run}
    irrelevant = {query: dict.fromkeys(documents, 0) | judged[query] for query, documents in run.items()}
    value, as_irrelevant, of_other = (
        rg.from_qrels(qrels, documents).evaluate(name)[name].tolist()
        for qrels, documents in ((judged, run), (irrelevant, run), (judged, other))
    )
    count = value == as_irrelevant and value != of_other
    assert (name not in WITHOUT_UNJUDGED) == count


def test_metrics_that_do_not_count_unjudged_documents_have_no_warning():
    metrics = ["rr@3", "bpref", "unjudged@3", "judged@3", "num_ret"]
    (warning,) = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, metrics).test().warnings
    assert warning.startswith("unjudged: rr@3, dense vs bm25: ")


@pytest.mark.parametrize("sign", [1, -1])
@in_one_case(("queries", "options", "warned"), [
    (40, {}, True),
    (28, {}, False),  # too few queries to tell
    (40, {"clusters": [row // 2 for row in range(40)]}, False),  # too few clusters
    (80, {"clusters": [row // 2 for row in range(80)]}, True),
    (40, {"weights": [1.0] * 40}, True),
])  # fmt: skip
def test_skewed_differences_that_are_decided_against_the_largest(sign, queries, options, warned):
    """Of every 20 differences, 19 have one sign, and the other is larger and has the opposite sign."""
    random = np.random.default_rng(0)
    differences = -0.1 - 0.02 * random.random(queries)
    differences[::20] = 0.5
    tests = against_nothing(sign * differences, metric="ap").test(**options, flips=999)
    assert tests["ap", "run", "zero"].decided
    expected = f"skewed: ap, run vs zero: skewness {'+' if sign > 0 else '-'}"
    assert [warning[: len(expected)] for warning in tests.warnings] == [expected] * warned
    decided_by_them = against_nothing(-sign * (differences - 0.3), metric="ap").test(**options, flips=999)
    assert decided_by_them["ap", "run", "zero"].decided
    undecided = against_nothing(sign * (differences + 0.09), metric="ap").test(**options, flips=999)
    assert not undecided["ap", "run", "zero"].decided
    assert undecided.warnings == []


def test_skewed_differences_are_named_only_if_one_points_the_other_way():
    """Of every 20 losses, one is 0 and has the largest deviation, and points the same way until it is a gain."""
    random = np.random.default_rng(0)
    for largest, warned in ((-0.0001, False), (0.0001, True)):
        differences = -0.1 - 0.02 * random.random(40)
        differences[::20] = largest
        tests = against_nothing(differences, metric="ap").test(flips=999)
        assert tests["ap", "run", "zero"].decided
        assert any(warning.startswith("skewed") for warning in tests.warnings) == warned


def test_skewness_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(0).random(30) ** 3
    assert skewness(values, None, None) == pytest.approx(stats.skew(values))
    assert skewness(values, np.full(30, 0.5), np.arange(30)) == pytest.approx(stats.skew(values))
    pairs = values.reshape(15, 2).sum(axis=1)
    assert skewness(values, None, np.arange(30) // 2) == pytest.approx(stats.skew(pairs))
    assert skewness(np.full(30, 0.25), None, None) == 0.0
    for queries in range(30, 60):  # differences that are equal except for rounding
        assert skewness(np.full(queries, 1 / 3 - 0.5), None, None) == 0.0
    weights = np.arange(1.0, 31.0)
    contributions = weights * (values - np.average(values, weights=weights))
    assert skewness(values, weights, None) == pytest.approx(stats.skew(contributions))


def test_weights_that_leave_fewer_than_six_queries():
    differences = np.linspace(0.1, 0.2, 40)
    few, many = (
        against_nothing(differences, metric="ap").test(weights=weights, flips=99)
        for weights in ([1e6, *[1.0] * 39], [1.0, 2.0] * 20)
    )
    assert few.warnings == [
        "weights: ap: as much information as 1.0 queries. With fewer than 6 queries of equal weight, p and interval "
        "are not reliable."
    ]
    assert "\nweights  ap            as much information as 1.0 queries\n" in few.table()
    assert many.warnings == []


def test_missing_queries_of_each_run_are_stated(tmp_path):
    pytest.importorskip("jinja2")
    few = {query: grades for query, grades in JUDGED.items() if query > "q3"}
    whole = rg.compare(QRELS, {"bm25": JUDGED, "few": few}, ["rr@3"])
    assert "missing from the run: bm25 0, few 4 (counted as 0)" in str(whole)
    tests = whole.test()
    line = "Sign flips (all, exact); 10 queries, missing: few 4 (counted as 0)."
    assert line in tests.notes()
    assert line in tests.table().splitlines()
    assert pickle.loads(pickle.dumps(tests)).missing == tests.missing == "missing: few 4 (counted as 0)"
    whole.report(tmp_path / "page.html", tests)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count(line) == 1
    skipped = rg.compare(QRELS, {"bm25": JUDGED, "few": few}, ["rr@3"], missing="skip").test(queries="common")
    assert skipped.missing == "missing: few 4 (left out)"
    many = rg.compare(QRELS, {f"few{run}": few for run in range(22)}, ["rr@3"]).test("few0", flips=99)
    assert many.missing.startswith("missing: few0 4, few1 4, ")
    assert many.missing.endswith(", few19 4, 2 more runs (counted as 0)")
    assert rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"]).test().missing == "none missing"
    assert (
        rg.compare(runs={"a": {"q": 1.0, "r": 1}, "b": {"q": 0.5, "r": 0}}, metrics="s", values=True).test().missing
        == ""
    )


def test_queries_without_documents_are_not_unjudged():
    few = {query: grades for query, grades in JUDGED.items() if query > "q4"}
    assert rg.compare(QRELS, {"bm25": JUDGED, "few": few}, ["rr@3"]).test().warnings == []
    (warning,) = rg.compare(QRELS, {"few": few, "dense": UNJUDGED}, ["rr@3"]).test().warnings
    assert warning.startswith("unjudged: rr@3, dense vs few: judged@3 0.3333 vs 1.0000 of nonempty lists; judged only ")


def test_ties_that_decide_are_remarked():
    tied = {query: dict.fromkeys(grades, 1.0) for query, grades in JUDGED.items()}
    tests = rg.compare(QRELS, {"bm25": JUDGED, "tied": tied}, ["rr"]).test()
    (warning,) = tests.warnings
    assert warning == (
        "ties: rr, tied vs bm25: -0.1667 to +0.5000. The order of tied documents alone could turn the difference; the "
        "tie spread shows by how much."
    )


def test_ties_of_a_metric_where_lower_is_better_are_remarked():
    tied = {query: dict.fromkeys(grades, 1.0) for query, grades in JUDGED.items()}
    (warning,) = rg.compare(QRELS, {"bm25": JUDGED, "tied": tied}, ["fallout@2"]).test().warnings
    assert warning.startswith("ties: fallout@2, tied vs bm25: 0.0000 to +0.5000. ")


@pytest.mark.parametrize("metrics", [["rr@3"], ["rr", "fallout@2", "ndcg@2", "judged@2"]])
@pytest.mark.parametrize("tied", [False, True])
def test_warnings_about_files_need_no_rankings(tmp_path, monkeypatch, metrics, tied):
    """What warnings need is computed before the next file is read, and the columns of a run are released."""
    runs, alive = {"bm25": JUDGED, "dense": UNJUDGED, "other": JUDGED | {"q1": UNJUDGED["q1"]}}, []
    if tied:
        runs = {name: {query: dict.fromkeys(run[query], 1.0) for query in run} for name, run in runs.items()}
    for name, run in runs.items():
        lines = [f"{query} Q0 {doc} 1 {score} t\n" for query, scores in run.items() for doc, score in scores.items()]
        (tmp_path / name).write_text("".join(lines))
    expected = rg.compare(QRELS, runs, metrics).test()

    class Counted(RunColumns):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            alive.append(weakref.ref(self))

    monkeypatch.setattr(lines_of_files, "RunColumns", Counted)
    comparison = rg.compare(QRELS, {name: tmp_path / name for name in runs}, metrics)
    gc.collect()
    assert len(alive) == 3
    assert not any(columns() for columns in alive)
    tests = comparison.test()
    assert tests.warnings == expected.warnings
    assert tests.warnings or not tied


def test_a_pickled_comparison_forgets_its_rankings():
    whole = rg.compare(QRELS, {"bm25": JUDGED, "dense": UNJUDGED}, ["rr@3"])
    assert pickle.loads(pickle.dumps(whole)).test().warnings == []
    assert whole.test().warnings


def test_queries_needed_are_remarked():
    runs = comparison({"a": [0.0] * 20, "b": [0.5, -0.5] * 10})
    sd = runs.test()["ndcg", "b", "a"].sd
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=-sd / 2) == 34
    assert runs.queries_needed("ndcg", "b", "a", difference=sd / 2, power=0.95) > 34
