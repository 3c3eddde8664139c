"""Comparisons of runs that hold their own truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

TRUTH = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"d": 1.0}}
MESSAGE = (
    "query {}: run 'old' and run 'new' have different {}: evaluate all runs against the same truth, or "
    "pass truths='own'"
)
RELEVANT = "relevant documents or grades"


def frame(truth, columns=("query_id", "doc_id", "relevance")):
    rows = [(query, document, grade) for query, grades in truth.items() for document, grade in grades.items()]
    return pd.DataFrame(rows, columns=[*columns])


def rows(truth):
    return {
        "id": [*truth],
        "relevant": [*truth.values()],
        "retrieved": [["b", "a"], ["d"]],
    }


FORMS = {
    "dicts": lambda truth: rg.from_qrels(truth, RUN),
    "frames": lambda truth: rg.from_frames(frame(truth), frame(RUN, ("query_id", "doc_id", "score"))),
    "recommendations": lambda truth: rg.from_recommendations(truth, {query: [*run] for query, run in RUN.items()}),
    "mappings by row": lambda truth: rg.from_rows(pd.DataFrame(rows(truth)).to_dict("records")),
}
OTHERS = {
    "another document": {"q1": {"a": 2, "x": 1}, "q2": {"d": 1}},
    "one more": {"q1": {"a": 2, "b": 1, "x": 1}, "q2": {"d": 1}},
    "another grade": {"q1": {"a": 1, "b": 1}, "q2": {"d": 1}},
    "binary": {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"d": 1}},
}


@pytest.mark.options("compare", "truths")
@pytest.mark.parametrize("first", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("second", FORMS.values(), ids=FORMS)
def test_truths_that_differ_are_an_error(first, second, rejects):
    for other in OTHERS.values():
        runs = {"old": first(TRUTH), "new": second(other)}
        rejects(ValueError, MESSAGE.format("'q1'", RELEVANT), rg.compare, runs, metrics="ndcg")
    comparison = rg.compare(runs, metrics="ndcg", truths="own")
    assert "each run by its own truth" in comparison.table()
    assert "each run by its own truth" in comparison.test().table()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_order_and_documents_of_grade_0_do_not_matter(form, rejects):
    same = {"q2": {"d": 1, "z": 0}, "q1": {"y": 0, "b": 1, "a": 2, "w": -1}, "q3": {"d": 1}}
    runs = {"old": rg.from_qrels(TRUTH, RUN), "new": rg.from_qrels(same, RUN)}
    assert "own truth" not in rg.compare(runs, metrics="ndcg").table()
    for metric in ("bpref", "judged@5", "num_nonrel_judged_ret", rg.metric("ndcg", gain={0: 1, 1: 2, 2: 3})):
        rejects(ValueError, MESSAGE.format("'q1'", "judgments"), rg.compare, runs, metrics=[metric])


def test_numbered_rows_are_compared_too(rejects):
    tables = [{"relevant": [["a"], [text]], "retrieved": [["a"], ["b"]]} for text in "bc"]
    runs = dict(zip(("old", "new"), map(rg.from_rows, tables), strict=True))
    rejects(ValueError, MESSAGE.format("1", RELEVANT), rg.compare, runs, metrics="rr")
    lists = {
        name: rg.from_recommendations([["a"], [text]], [["a"], ["b"]]) for name, text in (("old", "b"), ("new", "c"))
    }
    rejects(ValueError, MESSAGE.format("1", RELEVANT), rg.compare, lists, metrics="rr")


def test_grades_beside_scores_are_compared_as_multisets(rejects):
    def run(grades, **options):
        return rg.from_scores([grades, [1, 0]], [[0.1, 0.2, 0.3], [0.1, 0.2]], **options)

    runs = {"old": run([0, 1, 2]), "new": run([2, 0, 1])}
    assert rg.compare(runs, metrics="ndcg").best("ndcg") == ["old"]
    runs["new"] = run([2, 0, 2])
    rejects(ValueError, MESSAGE.format("0", RELEVANT), rg.compare, runs, metrics="ndcg")
    runs = {"old": run([0, 1, 2], judged=[[2, 1], [1]]), "new": run([0, 1, 0], judged=[[1, 2, 0], [1]])}
    assert rg.compare(runs, metrics="ndcg").best("ndcg") == ["old"]
    lists = {name: rg.from_ranked([ranked]) for name, ranked in (("old", [1, 0]), ("new", [1, 1]))}
    assert rg.compare(lists, metrics="rr").best("rr") == ["old", "new"]


def test_a_sparse_truth_is_compared(rejects):
    scores = np.array([[0.3, 0.2, 0.1]])
    runs = {name: rg.from_scores(csr_array([row]), scores) for name, row in (("old", [0, 1, 0]), ("new", [1, 0, 0]))}
    rejects(ValueError, MESSAGE.format("0", RELEVANT), rg.compare, runs, metrics="rr")


def test_ids_of_different_types_are_not_compared():
    of_text = rg.from_qrels({"q": {"1": 2, "2": 1}}, {"q": {"1": 1.0}})
    of_integers = rg.from_qrels({"q": {1: 1, 2: 2}}, {"q": {1: 1.0}})
    assert rg.compare({"text": of_text, "integers": of_integers}, metrics="rr").best("rr") == ["text", "integers"]


def test_a_run_without_rankings_is_compared_with_the_truth_of_others(rejects):
    runs = {"old": RUN, "new": rg.from_qrels(OTHERS["binary"], RUN)}
    rejects(ValueError, MESSAGE.format("'q1'", RELEVANT), rg.compare, TRUTH, runs, "ndcg")
    rejects(ValueError, "truths must be 'same' or 'own', not 'any'", rg.compare, TRUTH, runs, "ndcg", truths="any")
