"""If there are several errors, the error for the first query and position is raised."""

import math

import numpy as np
import pytest
from support.evaluating import evaluate_qrels, evaluate_ranked, evaluate_scores

import rankgain as rg

nan, inf = math.nan, math.inf
GOOD = {"q": {"d": 1}}
ONE_GRADE = ["rr", rg.metric("dcg", gain={1: 1})]  # this gain has an entry only for the grade 1
ONES, FALLING = [[1, 1]] * 6, [[2, 1]] * 6
LACKING = [[1, 1], [1, 1], [1], [1, 1], [1, 1], [1, 1]]  # judged grades; one is missing in query 2


@pytest.mark.parametrize(
    ("query", "message"), [(5, "y_true: query 2: judged lacks"), (2, "y_score: query 2, position 1"), (1, "query 1")]
)
def test_invalid_scores_before_judged_that_lacks_grades(rejects, query, message):
    scores = [*FALLING[:query], [1, nan], *FALLING[query + 1 :]]
    rejects(ValueError, message, evaluate_scores, ONES, scores, judged=LACKING)


@pytest.mark.parametrize("function", [evaluate_ranked, rg.ndcg])
def test_errors_in_judged_and_relevance(rejects, function):
    rejects(ValueError, "query 2: judged lacks", function, [*ONES[:5], [nan, 1]], judged=LACKING)
    rejects(ValueError, "judged: query 1, position 0", function, ONES, judged=[[1, 1], [-1], *LACKING[2:]])
    rejects(ValueError, "relevance: query 0, position 1", function, [[1, nan]], judged=[[nan]])


def test_missing_gains(rejects):
    rejects(ValueError, "position 1", rg.dcg, [1, 7, nan], gain={1: 1})
    rejects(ValueError, "position 0", evaluate_scores, [3, 7], [1, 2], metrics=ONE_GRADE)
    sides = {"q": {"b": 1, "c": 2, "d": 3}}, GOOD
    rejects(ValueError, "document 'c'", evaluate_qrels, *sides, metrics=ONE_GRADE)
    rejects(ValueError, "query 1, position 1: gain has no", evaluate_ranked, [[1], [1, 7], [nan]], metrics=ONE_GRADE)


def test_all_terms_before_any_value(rejects):
    """The error for a gain that is too large takes precedence over the error for an incomplete judged set."""
    metrics, message = ["ndcg", "dcg(gain=exponential)"], "query 0, position 0…too large"
    for order in (metrics, metrics[::-1]):
        rejects(ValueError, message, evaluate_ranked, [[2000, 3]], judged=[[1]], metrics=order)


def test_errors_of_sums_before_the_contents_of_later_queries(rejects):
    metrics = ["cg", "dcg(gain=exponential)"]
    rejects(ValueError, "query 1…too large", evaluate_ranked, [[1], [1025], [nan]], metrics=metrics)
    rejects(ValueError, "query 1: discount has", rg.ndcg, [[1], [2, 1], [nan]], discount=[1])
    rejects(ValueError, "query 1…not finite", rg.cg, [[1], [1e308] * 2, [nan]])


def test_labels_and_scores(rejects):
    rejects(ValueError, "y_true: query 0, position 0", evaluate_scores, [[inf, 1]], [[1, nan]])
    rejects(ValueError, "y_score: query 0, position 0", evaluate_scores, [[1, -1]], [[nan, 1]])
    labels, qid = [1, -1, nan, 1], [5, 6, 5, 6]
    rejects(ValueError, "y_true: query 5…element 2", evaluate_scores, labels, range(4), qid=qid)


def test_qrels_and_run(rejects):
    sides = {"q": {"a": 1, "b": None, "c": nan}}, {"q": {"a": nan}}
    rejects(TypeError, "qrels…document 'b'", evaluate_qrels, *sides)
    rejects(ValueError, "run: query 'q'…'a'", evaluate_qrels, {"q": {"a": 1}, "r": {"a": None}}, {"q": {"a": nan}})
    rejects(TypeError, "qrels: query 'q'…'a'", evaluate_qrels, {"q": {"a": ""}, "r": {"a": 1}}, {"r": {"a": nan}})


@pytest.fixture
def several_chunks(monkeypatch):
    """Let `grid` and the runs below have several chunks."""
    for module in ("functions", "data.source"):
        monkeypatch.setattr(f"rankgain.{module}.CHUNK", 600)


def grid(*changes):
    """Return a matrix of ones for 70 queries (three chunks) after applying `changes` of (query, position, number)."""
    numbers = np.ones((70, 20))
    for query, position, value in changes:
        numbers[query, position] = value
    return numbers


@pytest.mark.usefixtures("several_chunks")
@pytest.mark.parametrize("function", [rg.cg, rg.ndcg, rg.mrr, evaluate_ranked])
def test_several_chunks_of_relevance(rejects, function):
    numbers = grid((40, 13, nan), (40, 4, -1), (69, 0, inf))
    for relevance in (numbers, [*numbers]):
        rejects(ValueError, "query 40, position 4", function, relevance)


@pytest.mark.usefixtures("several_chunks")
@pytest.mark.parametrize(
    ("query", "message"), [(69, "query 35: judged lacks"), (34, "query 34, position 3…NaN")], ids=["69", "34"]
)
def test_several_chunks_with_judged(rejects, query, message):
    judged = [np.ones(3 if row == 35 else 20) for row in range(70)]
    for function in (rg.ndcg, evaluate_ranked):
        rejects(ValueError, message, function, grid((query, 3, nan)), judged=judged)


@pytest.mark.usefixtures("several_chunks")
def test_several_chunks_with_gaps_in_a_gain(rejects):
    numbers = grid((40, 19, 7), (69, 0, nan))
    rejects(ValueError, "query 40, position 19…gain", rg.dcg, numbers, gain={1: 1})
    rejects(ValueError, "query 40, position 19…gain", evaluate_ranked, numbers, metrics=ONE_GRADE)


@pytest.mark.usefixtures("several_chunks")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_several_chunks_of_scores(rejects, dtype):
    sides = grid((40, 9, nan), (69, 0, -1)), grid((40, 8, nan), (39, 0, -inf), (1, 1, inf))
    rejects(ValueError, "y_score: query 40, position 8", evaluate_scores, *(side.astype(dtype) for side in sides))
    flat, columns = [side.ravel() for side in sides], np.tile(np.arange(20), 70)
    rejects(ValueError, "query 40, position 8 (element 808)", evaluate_scores, *flat, group_sizes=[20] * 70)
    rejects(ValueError, "y_true: query 0, position 69 (element 1380)", evaluate_scores, *flat, qid=columns)


@pytest.mark.usefixtures("several_chunks")
@pytest.mark.parametrize(
    ("in_run", "in_qrels", "error", "message"),
    [(1, 2, ValueError, "run: query 1, document 9"), (2, 1, TypeError, "qrels: query 1")],
    ids=["run", "qrels"],
)
def test_several_chunks_of_dicts(rejects, in_run, in_qrels, error, message):
    qrels, run = ({query: dict.fromkeys(range(n), 1) for query in range(3)} for n in (9, 330))
    run[in_run][9], qrels[in_qrels][8] = nan, "x"
    rejects(error, message, evaluate_qrels, qrels, run)
