"""`rankgain.evaluate` accepts truth and a run in any two forms in a single call."""

import io
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from support.marks import in_one_case
from support.sides import columns, qrels_lines, run_lines

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0}}
EXPECTED = rg.from_qrels(QRELS, RUN).evaluate("ndcg@10", "mrr")


TRUTHS = {
    "dicts": lambda: QRELS,
    "judgments": lambda: rg.judgments(QRELS),
    "columns": lambda: columns(QRELS),
    "pandas": lambda: pd.DataFrame(columns(QRELS)),
    "polars": lambda: pl.DataFrame(columns(QRELS)),
    "file": lambda: io.BytesIO(qrels_lines(QRELS)),
}
RUNS = {
    "dicts": lambda: RUN,
    "columns": lambda: columns(RUN, value="score"),
    "pandas": lambda: pd.DataFrame(columns(RUN, value="score")),
    "polars": lambda: pl.DataFrame(columns(RUN, value="score")),
    "ids": lambda: {query: sorted(scores, key=scores.get, reverse=True) for query, scores in RUN.items()},
    "file": lambda: io.BytesIO(run_lines(RUN)),
}


@pytest.mark.parametrize("truth", TRUTHS)
@in_one_case("run", RUNS)
def test_evaluate_equals_the_constructor_of_any_two_forms(truth, run):
    result = rg.evaluate(TRUTHS[truth](), RUNS[run](), "ndcg@10", "mrr")
    assert result.query_ids == EXPECTED.query_ids
    for metric in EXPECTED:
        assert result[metric].tolist() == EXPECTED[metric].tolist()


def test_metrics_by_position_and_in_a_list():
    for result in (
        rg.evaluate(QRELS, RUN, "ndcg@10", "mrr"),
        rg.evaluate(QRELS, RUN, ["ndcg@10", "mrr"]),
        rg.evaluate("ndcg@10", "mrr", truth=QRELS, run=RUN),
        rg.evaluate(["ndcg@10", "mrr"], run=RUN, truth=QRELS),
        rg.evaluate(QRELS, "ndcg@10", "mrr", run=RUN),
        rg.from_qrels(QRELS, RUN).evaluate(["ndcg@10", "mrr"]),
    ):
        assert result.mean() == EXPECTED.mean()


def test_lists_of_fractions_are_scores():
    expected = rg.from_scores([[0, 1, 2]], [[0.3, 1, 0.1]]).evaluate("ndcg")["ndcg"].tolist()
    objects = np.array([[0.3, 1, 0.1]], object)
    for run in ([[0.3, 1, 0.1]], np.array([[0.3, 1, 0.1]]), [np.array([0.3, 1, 0.1])], objects):
        assert rg.evaluate([[0, 1, 2]], run, "ndcg")["ndcg"].tolist() == expected


def test_ids_are_recognised_beside_values_other_than_labels():
    matrix = np.array([[6, 3, 8], [1, 2, -1]])
    expected = [0.5, 0.0]
    assert rg.evaluate([{3}, {9}], matrix, "mrr")["mrr"].tolist() == expected
    assert rg.evaluate([{3: 1.0}, {9: 2}], matrix, "mrr")["mrr"].tolist() == expected
    relevant = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [3, 9])), shape=(2, 10))
    assert rg.evaluate(relevant, matrix, "mrr")["mrr"].tolist() == expected
    assert rg.evaluate([["c"], ["i"]], [["f", "c"], ["a"]], "mrr")["mrr"].tolist() == expected


def test_frame_with_a_column_called_read_is_a_frame():
    qrels = pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [1], "read": [0]})
    run = pd.DataFrame({"qid": ["q", "q"], "docno": ["e", "d"], "score": [2.0, 1.0], "read": [0, 1]})
    assert rg.evaluate(qrels, run, "rr").mean("rr") == rg.from_frames(qrels, run).evaluate("rr").mean("rr") == 0.5


def test_rows_of_scores_are_recognised_beside_scores():
    rows = [np.array([2, 1]), np.array([0.2, 0.9])]
    for run in (rows, tuple(rows)):
        assert rg.evaluate([[0, 1], [0, 1]], run, "mrr")["mrr"].tolist() == [0.5, 1.0]
    labels = [[np.int64(0), np.int64(1)]] * 2  # NumPy scalars in lists are accepted as labels
    assert rg.evaluate(labels, rows, "mrr")["mrr"].tolist() == [0.5, 1.0]


def test_help_shows_truth_and_run_first():
    assert [*signature(rg.evaluate).parameters][:3] == ["truth", "run", "metrics"]


def test_one_row_of_a_sparse_matrix_is_the_truth_of_one_list():
    relevant = sparse.csr_array([[0, 1, 1]])
    for row in (relevant, sparse.csr_matrix(relevant), relevant[0]):
        assert rg.from_recommendations(row, [0, 2]).evaluate("rr")["rr"].tolist() == [0.5]


HOLES = {"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}  # x is unjudged


def test_evaluate_removes_unjudged_documents(check_option, rejects):
    check_option(lambda **options: rg.evaluate(*HOLES, "rr", **options).mean("rr"), "judged_only", True, 1 / 2)
    table = {"query_id": ["q"] * 3, "doc_id": ["x", "b", "a"], "relevance": [None, 0, 1], "score": [3.0, 2.0, 1.0]}
    assert rg.evaluate(table, "rr", judged_only=True).mean("rr") == 1 / 2
    rejects(TypeError, "judged_only must be True or False, not 'yes'", rg.evaluate, *HOLES, "rr", judged_only="yes")


@pytest.mark.options("evaluate", "judged_only")
@pytest.mark.options("compare", "judged_only")
def test_judged_only_of_one_call_equals_limited_rankings(backend):
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "a": 2.0}}
    expected = rg.from_qrels(qrels, run).limited(judged_only=True).evaluate("rr")["rr"].tolist()
    assert expected == [1.0]
    for judged_only in (True, False):
        value = expected if judged_only else [0.5]
        assert rg.evaluate(qrels, run, "rr", judged_only=judged_only)["rr"].tolist() == value
        assert rg.compare(qrels, {"a": run}, "rr", judged_only=judged_only)["a"]["rr"].tolist() == value
