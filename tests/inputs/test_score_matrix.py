"""A matrix of scores (users × items) together with a sparse matrix of held-out items."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support import textbook
from support.marks import in_one_case
from support.score_matrices import as_dicts, by_loop, csr, random_case, wide_case
from support.strategies import examples

import rankgain as rg
from rankgain.data import source

SCORES = np.array([[0.9, 0.8, 0.7, 0.6, 0.5], [0.1, 0.5, 0.5, 0.2, 0.5]], dtype=np.float32)
TEST = csr([{1: 1, 3: 2}, {1: 1, 2: -1}], 5)
TRAIN = csr([{0: 5, 3: 0}, {4: 1}], 5)
METRICS = [
    *("ndcg@1", "ndcg@3", "ndcg", "ndcg(gain=exponential)@20", "ndcg(discount=zipf)", "idcg@3", "cg@20", "dcg"),
    *("precision@3", "recall@2", "recall", "f@3", "rr", "rr@2", "rr(rel=2)", "success@3", "map", "map@3", "rprec"),
    *("bpref", "auc", "gauc", "err@5", "q", "rbp", "unjudged@3", "fallout", "num_ret", "num_rel", "num_rel_ret"),
]


def values(result):
    return {str(metric): vector.tolist() for metric, vector in result.items()}


@pytest.mark.usefixtures("backend")
def test_from_scores_of_sparse_truth_known_values():
    result = rg.from_scores(TEST, SCORES, exclude=TRAIN).evaluate("rr", "recall@2", "num_ret", "num_rel", "success@1")
    # User 0 keeps columns 1, 2 and 4, and the held-out column 1 is ranked first. For user 1, columns 1 and 2 share the
    # first two ranks.
    assert values(result) == {
        "rr": [1.0, 0.75],
        "recall@2": [1.0, 1.0],
        "num_ret": [3.0, 4.0],
        "num_rel": [1.0, 1.0],
        "success@1": [1.0, 0.5],
    }
    assert result.counts == {"queries": 2, "missing": 0, "unjudged": 0, "empty": 0, "excluded": 1}
    assert "; 1 judged documents in excluded columns" in repr(result)
    without = rg.from_scores(TEST, SCORES).evaluate("rr", "num_ret")
    assert values(without) == {"rr": [0.5, 0.6111111111111112], "num_ret": [5.0, 5.0]}
    assert "excluded" not in without.counts


# If all metrics have a cut-off, as in these tests, the kernels look for the highest scores only.


def metrics_at(k):
    return f"ndcg@{k}", f"recall@{k}", f"rr@{k}"


def check_by_loop(result, case, ties):
    for name, vector, expected in zip(metrics_at(case.k), result.values(), by_loop(case, ties), strict=True):
        shape = f"{name}, {case.scores.shape} of {case.scores.dtype}, ties={ties}"
        np.testing.assert_allclose(vector, expected, rtol=1e-12, err_msg=shape)


@pytest.mark.parametrize("drawn", [random_case, wide_case])
@given(seed=st.integers(0, 2**32), ties=st.sampled_from(["stable", "best", "worst"]))
def test_from_scores_of_sparse_truth_equals_a_loop(on_both, drawn, seed, ties):
    case = drawn(seed)
    rankings = rg.from_scores(case.test, case.scores, exclude=case.train, ties=ties)
    for result in on_both(lambda: rankings.evaluate(*metrics_at(case.k))):
        check_by_loop(result, case, ties)


@pytest.mark.needs("rankgain._compiled.walk")
@pytest.mark.usefixtures("cpu")
@examples(2)
@given(seed=st.integers(0, 2**32), ties=st.sampled_from(["stable", "best", "worst"]))
def test_levels_of_cpu_rank_wide_rows(seed, ties):
    case = wide_case(seed)
    result = rg.from_scores(case.test, case.scores, exclude=case.train, ties=ties).evaluate(*metrics_at(case.k))
    check_by_loop(result, case, ties)


@pytest.mark.both
@given(seed=st.integers(0, 2**32))
def test_averages_over_ties_of_wide_rows_agree(on_both, seed):
    case = wide_case(seed)
    rankings = rg.from_scores(case.test, case.scores, exclude=case.train)
    compiled, python = on_both(lambda: values(rankings.evaluate(*metrics_at(case.k), f"success@{case.k}")))
    assert compiled == python


@pytest.mark.usefixtures("cpu")
@in_one_case("dtype", ["f4", "f8"])
@in_one_case("columns", [1000, 1024, 1025, 1031])
def test_nan_in_any_part_of_a_wide_row_is_refused(dtype, columns):
    scores = np.arange(2.0 * columns).reshape(2, columns).astype(dtype)
    truth = csr([{0: 1}, {7: 1}], columns)
    for column in {0, 31, 32, 63, 64, 127, 128, 991, 992, *range(columns - 9, columns)}:
        scores[1, column] = np.nan
        with pytest.raises(ValueError, match=f"^y_score: query 1, column {column}: the score is NaN"):
            rg.from_scores(truth, scores).evaluate("rr@3")
        scores[1, column] = column


@given(seed=st.integers(0, 2**32), ties=st.sampled_from(["average", "stable", "best", "worst"]), data=st.data())
def test_from_scores_of_sparse_truth_has_the_bits_of_from_qrels(on_both, seed, ties, data):
    case = random_case(seed)
    rankings = rg.from_scores(case.test, case.scores, exclude=case.train, ties=ties)
    expected = rg.from_qrels(*as_dicts(case), ties=ties)
    if data.draw(st.booleans()):
        rankings, expected = (each.under(score_bits=32) for each in (rankings, expected))
    limits = data.draw(st.sampled_from([{}, {"judged_only": True}, {"depth": 3}, {"depth": 3, "judged_only": True}]))
    if ties == "stable" or "depth" not in limits:
        rankings, expected = rankings.limited(**limits), expected.limited(**limits)
    metrics = [*METRICS, rg.metric("ndcg", k=case.k, gain=lambda grades: grades + 1)]
    for one, other in zip(
        on_both(lambda: rankings.evaluate(*metrics)), on_both(lambda: expected.evaluate(*metrics)), strict=True
    ):
        assert values(one) == values(other)
        assert one.counts["empty"] == other.counts["empty"]


@pytest.mark.needs("rankgain._compiled.walk")
@pytest.mark.usefixtures("cpu")
@given(seed=st.integers(0, 2**32))
def test_levels_of_cpu_find_the_same_ranks(seed):
    case = random_case(seed)
    rankings = rg.from_scores(case.test, case.scores, exclude=case.train)
    expected = rg.from_qrels(*as_dicts(case), ties="average")
    names = f"ndcg@{case.k}", "ndcg", "rr", "auc"
    assert values(rankings.evaluate(*names)) == values(expected.evaluate(*names))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("ties", ["average", "stable", "best", "worst"])
def test_from_scores_of_sparse_truth_equals_the_textbook(ties):
    scores = np.array([[2.0, 2.0, 1.0, 3.0, 2.0, 0.0]])
    test, train = csr([{0: 0.0, 1: 2.0, 3: -1.0, 5: 1.0}], 6), csr([{2: 1}], 6)
    documents = [
        textbook.Doc(c, test.toarray()[0, c] if c in test.indices else None, scores[0, c]) for c in (0, 1, 3, 4, 5)
    ]
    result = rg.from_scores(test, scores, exclude=train, ties=ties).evaluate("ndcg@2", "rr", "recall@2", "unjudged@3")
    for name, parameters in (("ndcg", {"k": 2}), ("rr", {}), ("recall", {"k": 2}), ("unjudged", {"k": 3})):
        expected = textbook.metric(name, documents, [0.0, 2.0, 1.0], ties=ties, **parameters)
        ((_, vector),) = ((key, vector) for key, vector in result.items() if key.split("@")[0] == name)
        np.testing.assert_allclose(vector, [expected], rtol=1e-12, err_msg=name)


@pytest.mark.usefixtures("backend")
def test_dense_labels_differ_only_where_unjudged_is_not_zero():
    dense = np.maximum(TEST.toarray(), 0)
    same, other = ["ndcg@3", "rr", "recall@2", "map", "auc", "num_ret"], ["unjudged@3", "fallout", "bpref"]
    one, two = (rg.from_scores(truth, SCORES, exclude=TRAIN).evaluate(*same, *other) for truth in (TEST, dense))
    assert {name: values(one)[name] for name in same} == {name: values(two)[name] for name in same}
    assert all(values(one)[name] != values(two)[name] for name in other)
    masked = rg.from_scores(dense, SCORES, mask=(csr([{0: 1, 3: 1}, {4: 1}], 5).toarray() == 0))
    assert masked.evaluate(*same, *other) == two


@pytest.mark.usefixtures("backend")
def test_many_held_out_items_of_a_wide_row():
    rng = np.random.default_rng(5)
    for scores in (rng.standard_normal((1, 9000)), *(rng.integers(0, most, (1, 9000)) * 1.0 for most in (1, 40, 3000))):
        test, train = ((sparse.random_array((1, 9000), density=share, format="csr", rng=rng)) for share in (0.3, 0.1))
        case = random_case(0)._replace(test=test, scores=scores, train=train, k=2000)
        for ties in ("stable", "average"):
            rankings = rg.from_scores(test, scores, exclude=train, ties=ties)
            expected = rg.from_qrels(*as_dicts(case), ties=ties)
            names = "ndcg@2000", "ndcg@5", "ndcg", "auc", "rr"
            assert values(rankings.evaluate(*names)) == values(expected.evaluate(*names))


@pytest.mark.usefixtures("backend")
def test_threads_and_parts_merge_to_the_same_evaluation(monkeypatch):
    monkeypatch.setattr(source, "CHUNK", 256)
    monkeypatch.setattr(source, "SMALLEST_CHUNK", 64)
    rng = np.random.default_rng(3)
    scores = rng.standard_normal((90, 300)).astype(np.float32)
    test, train = (sparse.random_array(scores.shape, density=share, format="csr", rng=rng) for share in (0.02, 0.1))
    whole = rg.from_scores(test, scores, exclude=train).evaluate("ndcg@10", "rr@10")
    assert rg.from_scores(test, scores, exclude=train).evaluate("ndcg@10", "rr@10", threads=3) == whole
    parts = [
        rg.from_scores(test[rows], scores[rows], exclude=train[rows]).evaluate("ndcg@10", "rr@10")
        for rows in (slice(0, 40), slice(40, 41), slice(41, 90))
    ]
    merged = parts[0].merge(*parts[1:])
    assert merged == whole
    assert merged.counts == whole.counts
    assert whole.counts["excluded"] > 0
    summary = parts[0].summary().merge(*(part.summary() for part in parts[1:]))
    assert summary.counts == whole.counts
    assert rg.Summary.from_json(summary.to_json()) == summary
    assert "judged documents in excluded columns" in repr(summary)


@pytest.mark.usefixtures("backend")
def test_evaluate_and_compare_take_a_sparse_truth():
    expected = rg.from_scores(TEST, SCORES, exclude=TRAIN, ties="stable").evaluate("ndcg@10", "rr")
    for truth in (TEST, rg.judgments(TEST), pickle.loads(pickle.dumps(rg.judgments(TEST)))):
        assert rg.from_scores(truth, SCORES, exclude=TRAIN, ties="stable").evaluate("ndcg@10", "rr") == expected
        assert rg.evaluate(truth, SCORES, "ndcg@10", "rr", exclude=TRAIN, ties="stable") == expected
        compared = rg.compare(truth, {"a": SCORES}, ["ndcg@10", "rr"], exclude=TRAIN, ties="stable")
        assert compared["a"] == expected
    ids = np.array([[1, 3], [2, 0]])
    assert rg.evaluate(TEST, ids, "rr") == rg.from_recommendations(TEST, ids).evaluate("rr")


@pytest.mark.usefixtures("backend")
def test_scores_of_other_types_and_lists():
    expected = rg.from_scores(TEST, SCORES).evaluate("ndcg", "rr")
    for scores in (SCORES.tolist(), SCORES.astype(np.float16), (SCORES * 10).astype(np.int64), SCORES.astype(">f4")):
        assert rg.from_scores(TEST, scores).evaluate("ndcg", "rr") == expected
    large = np.array([[2.0**53, 2.0**53 + 2, 16777217, 16777216, 0]] * 2)
    double, single = (rg.from_scores(TEST, large).under(score_bits=bits).evaluate("rr") for bits in (64, 32))
    assert double["rr"].tolist() != single["rr"].tolist()


@pytest.mark.usefixtures("backend")
def test_users_without_truth_or_columns():
    result = rg.from_scores(csr([{}, {0: 1}, {0: 1}], 2), np.ones((3, 2)), exclude=csr([{}, {0: 1}, {0: 1, 1: 1}], 2))
    evaluated = result.evaluate("ndcg@5", "num_ret")
    assert values(evaluated) == {"ndcg@5": [0.0, 0.0, 0.0], "num_ret": [2.0, 1.0, 0.0]}
    assert evaluated.counts == {"queries": 3, "missing": 0, "unjudged": 0, "empty": 3, "excluded": 2}
    for shape in ((0, 4), (3, 0)):
        empty = sparse.csr_array(shape)
        assert (
            rg.from_scores(empty, np.ones(shape), exclude=empty).evaluate("ndcg@5")["ndcg@5"].tolist()
            == [0.0] * shape[0]
        )


class Csr:
    """A sparse matrix from another library, in CSR format."""

    format = "csr"
    shape = TEST.shape
    indptr, indices, data = TEST.indptr.astype(np.int64), TEST.indices.astype(np.int64), TEST.data


@pytest.mark.usefixtures("backend")
def test_scipy_is_not_required_and_ids_name_the_users():
    expected = rg.from_scores(TEST, SCORES, exclude=TEST).evaluate("num_ret")
    assert rg.from_scores(Csr(), SCORES, exclude=Csr()).evaluate("num_ret") == expected
    named = rg.from_scores(Csr(), SCORES, query_ids=["ann", "bob"])
    assert named.evaluate("rr").to_dict() == {"ann": {"rr": 0.5}, "bob": {"rr": 0.6111111111111112}}


def test_nan_is_refused_unless_its_column_is_excluded(rejects):
    nan = SCORES.copy()
    nan[1, 4] = np.nan
    rows = csr([{0: 1}, {}], 5)
    for metric in ("ndcg@1", "auc"):  # scores of users without truth are checked too
        evaluate = lambda **options: rg.from_scores(rows, nan, **options).evaluate(metric)  # noqa: B023, E731
        rejects(ValueError, "y_score: query 1, column 4: the score is NaN", evaluate)
        rejects(ValueError, "y_score: query 1, column 4: the score is NaN", evaluate, exclude=csr([{}, {3: 1}], 5))
        assert len(evaluate(exclude=TRAIN)) == 1


CSR = "must be a sparse matrix in CSR format, not"
REFUSED = [
    (f"y_true {CSR} CSC: pass y_true.tocsr()", TypeError, {"y_true": TEST.tocsc()}),
    (f"y_true {CSR} COO: pass y_true.tocsr(), … sum_duplicates()", TypeError, {"y_true": TEST.tocoo()}),
    (f"exclude {CSR} CSC: pass exclude.tocsr()", TypeError, {"exclude": TEST.tocsc()}),
    (f"exclude {CSR} CSC: pass exclude.tocsr()", TypeError, {"y_true": TEST.toarray(), "exclude": TEST.tocsc()}),
    ("exclude must be a sparse matrix … not ndarray … mask=~matrix", TypeError, {"exclude": SCORES > 0}),
    ("y_true has the shape (2, 5), and y_score has (2, 4)", ValueError, {"y_score": SCORES[:, 1:]}),
    ("exclude has the shape (1, 5), and y_score has (2, 5)", ValueError, {"exclude": TRAIN[:1]}),
    (
        "y_score must have 2 dimensions beside a sparse y_true, not 1: pass y_score[None]",
        ValueError,
        {"y_score": SCORES[0]},
    ),
    ("y_score must have 2 dimensions", ValueError, {"y_score": SCORES[None]}),
    (
        "y_score must be a dense matrix … swapped? labels come first, from_scores(y_true, y_score)",
        TypeError,
        {"y_score": TEST},
    ),
    ("y_score must be a matrix of real numbers … not <U1", TypeError, {"y_score": [["a"] * 5] * 2}),
    ("y_score must be a matrix of real numbers … not list", TypeError, {"y_score": [[1.0], [2.0, 3.0]]}),
    ("group_sizes: … write from_scores(y_true, y_score, exclude=...)", TypeError, {"group_sizes": [1, 1]}),
    ("qid: … query_ids=", TypeError, {"qid": [1, 1]}),
    ("mask: … exclude=", TypeError, {"mask": SCORES > 0}),
    ("judged: … all judged items", TypeError, {"judged": [[1], [1]]}),
    ("Judgments were not made from a sparse matrix", TypeError, {"y_true": rg.judgments({0: {1: 1}})}),
    ("ties='docid' needs document ids", ValueError, {"ties": "docid"}),
    ("query_ids has 1 ids", ValueError, {"query_ids": ["a"]}),
    ("give exclude or mask, not both", ValueError, {"y_true": SCORES, "exclude": TRAIN, "mask": SCORES > 0}),
    ("exclude needs a matrix of scores", ValueError, {"y_true": [1], "y_score": [1.0], "exclude": TRAIN}),
    (
        "exclude needs a matrix of scores",
        ValueError,
        {"y_true": [[1], [1, 0]], "y_score": [[1.0], [1, 2]], "exclude": TRAIN},
    ),
    ("exclude needs a matrix of scores", ValueError, {"y_true": [1], "y_score": [1.0], "qid": [1], "exclude": TRAIN}),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0][:40])
def test_from_scores_rejects(rejects, row):
    message, error, options = row
    rejects(error, message, rg.from_scores, **({"y_true": TEST, "y_score": SCORES} | options))


def test_from_scores_rejects_unsorted_repeated_and_broken_columns(rejects):
    for name in ("y_true", "exclude"):
        for indices, message in (
            ([3, 1, 2, 0], f"{name}: query 0: the columns are not in increasing order: call {name}.sort_indices()"),
            ([1, 3, 2, 2], f"{name}: query 1: column 2 is stored twice: call {name}.sum_duplicates()"),
            ([1, 3, 2, 5], f"{name} is a broken sparse matrix: its indices point outside its 5 columns"),
            ([1, 3, -1, 2], f"{name} is a broken sparse matrix"),
        ):
            matrix = Csr()
            matrix.indices = np.array(indices)
            sides = {"y_true": TEST, "y_score": SCORES, name: matrix}
            rejects(ValueError, message, rg.from_scores, **sides)


def test_invalid_grades_are_refused_by_column(rejects):
    for value, message in ((np.nan, "the grade is NaN"), (np.inf, "infinite")):
        test = csr([{1: 1}, {2: value}], 5)
        where = f"y_true: query 1, document 2: … {message}"
        rejects(ValueError, where, lambda test=test: rg.from_scores(test, SCORES).evaluate("ndcg"))
    text = csr([{1: 1}, {2: 1}], 5).astype(complex)
    rejects(TypeError, "y_true must hold real numbers, not complex128", rg.from_scores, text, SCORES)
