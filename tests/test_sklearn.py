"""Compare rankgain.sklearn with scikit-learn: its test suite, its values, its errors and its defects."""

import inspect
import os
import re
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as theirs
from sklearn.metrics import _ranking as their_parts
from support import TESTS
from support.marks import in_one_case, quick_first
from support.memory import measured

from rankgain import sklearn as ours

pytestmark = pytest.mark.usefixtures("backend", "few")

NAMES = "ndcg_score", "dcg_score"
PEERS_TESTS = "sklearn.metrics.tests.test_ranking", "sklearn.metrics.tests.test_common"
PEERS_TESTS += ("sklearn.tests.test_public_functions",)
TRUE, SCORE = [[3, 0, 2, 1], [0, 0, 1, 4]], [[0.5, 1.0, 0.5, 0.25], [2.0, 3.0, 3.0, -1.0]]


@pytest.fixture
def few(monkeypatch):
    """Treat matrices of more than 64 documents as large, to test the code for large matrices."""
    monkeypatch.setattr(ours, "FEW_DOCUMENTS", 64)


@pytest.mark.peers
def test_tests_of_scikit_learn_pass(backend, tmp_path):
    ini = tmp_path / "pytest.ini"
    ini.write_text("[pytest]\n")
    settings = os.environ | {"RANKGAIN_BACKEND": backend, "PYTEST_ADDOPTS": ""}
    settings["PYTHONPATH"] = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ini), "-p", "support.peer_sklearn"]
    command += ["-p", "no:cacheprovider", "-k", "dcg", "--pyargs", *PEERS_TESTS]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert int(passed[1]) >= 25, done.stdout


@pytest.mark.parametrize("name", [*NAMES, "_ndcg_sample_scores", "_dcg_sample_scores"])
def test_signatures_equal_scikit_learn(name):
    def shape(module):
        return [(p.name, p.kind, p.default) for p in inspect.signature(getattr(module, name)).parameters.values()]

    assert shape(ours) == shape(their_parts)


# values

FLOATS, INTS = ("f8", "f4", "f2", "g", ">f8"), ("i8", "i4", "i2", "i1", ">i4")
UNSIGNED = "u8", "u4", "u2", "u1", "?"


@st.composite
def matrices(draw, negative, dtypes=FLOATS + INTS):
    """Draw grades and scores with many ties, in all dtypes and memory orders."""
    shape = draw(st.integers(1, 5)), draw(st.sampled_from([2, 3, 7, 15, 16, 17, 40, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grades = rng.integers(draw(st.integers(-3, 0)) if negative else 0, draw(st.integers(1, 5)), shape)
    grades = grades * (rng.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])))
    grades = grades + (0.0, 0.25)[draw(st.booleans()) and not negative]
    scores = rng.integers(0, draw(st.sampled_from([1, 2, 5, 20, 100])), shape)
    order = draw(st.sampled_from("CF"))
    grades = grades.astype(draw(st.sampled_from(FLOATS + INTS + (() if negative else UNSIGNED))), order=order)
    scores = scores.astype(draw(st.sampled_from(dtypes)), order=draw(st.sampled_from("CF")))
    if scores.dtype.kind == "f" and draw(st.booleans()):
        scores = (scores - rng.random((1, shape[1])).astype(scores.dtype).round(1)) / 3
    if draw(st.booleans()):
        scores = np.repeat(scores, 2, axis=1)[:, ::2]
    return grades, scores


def close(grades):
    return {"rel": 1e-12, "abs": 1e-12 * float(np.abs(grades.astype(np.float64)).sum(axis=1).max())}


cutoffs = st.none() | st.integers(1, 140) | st.sampled_from([np.int32(3), True, 10**30])


@given(matrices(negative=False), cutoffs, st.booleans(), st.data())
def test_ndcg_score_equals_scikit_learn(matrices, k, ignore_ties, data):
    grades, scores = matrices
    weights = data.draw(st.none() | st.lists(st.floats(0.125, 4), min_size=len(grades), max_size=len(grades)))
    options = {"k": k, "sample_weight": weights, "ignore_ties": ignore_ties}
    expected = theirs.ndcg_score(grades, scores, **options)
    value = ours.ndcg_score(grades, scores, **options)
    assert type(value) is float
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-15)
    each = their_parts._ndcg_sample_scores(grades, scores, k, ignore_ties)
    assert ours._ndcg_sample_scores(grades, scores, k, ignore_ties) == pytest.approx(each, rel=1e-12, abs=1e-15)


bases = st.sampled_from([2, 10, np.e, 0.5, np.float32(3), np.int64(7), Fraction(5, 2), 1.0001, 1e300, 1e-300])


@given(matrices(negative=True), cutoffs, bases, st.booleans(), st.data())
def test_dcg_score_equals_scikit_learn(matrices, k, base, ignore_ties, data):
    grades, scores = matrices
    weights = data.draw(st.none() | st.lists(st.integers(1, 4), min_size=len(grades), max_size=len(grades)))
    options = {"k": k, "sample_weight": weights, "ignore_ties": ignore_ties}
    # NumPy's logarithm does not accept a Fraction, and it returns float32 for float32 input.
    known = float(base) if isinstance(base, (Fraction, np.float32)) else base
    tolerance = close(grades)
    tolerance["abs"] *= abs(np.log2(float(base)))
    expected = theirs.dcg_score(grades, scores, log_base=known, **options)
    assert ours.dcg_score(grades, scores, log_base=base, **options) == pytest.approx(expected, **tolerance)
    each = their_parts._dcg_sample_scores(grades, scores, k, known, ignore_ties)
    assert ours._dcg_sample_scores(grades, scores, k, base, ignore_ties) == pytest.approx(each, **tolerance)


@given(matrices(negative=False, dtypes=UNSIGNED), cutoffs, st.booleans())
def test_unsigned_and_boolean_scores_equal_scikit_learn(matrices, k, ignore_ties):
    grades, scores = matrices
    signed = scores if ignore_ties else scores.astype(np.int64)  # scikit-learn mishandles unsigned scores
    expected = theirs.ndcg_score(grades, signed, k=k, ignore_ties=ignore_ties)
    assert ours.ndcg_score(grades, scores, k=k, ignore_ties=ignore_ties) == pytest.approx(expected, rel=1e-12)


@in_one_case("name", NAMES)
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize(
    "scores",
    [
        np.array([[2**53, 2**53 + 1, 2**53]]),
        np.array([[-(2**53) - 1, -(2**53), -(2**62)]]),
        np.array([[1.0, np.nextafter(np.longdouble(1), 2), 1.0]], dtype="g"),
    ],
)
def test_scores_equal_in_float64_are_tied(name, ignore_ties, scores):
    expected = getattr(theirs, name)([[0, 3, 1]], scores, ignore_ties=ignore_ties)
    assert getattr(ours, name)([[0, 3, 1]], scores, ignore_ties=ignore_ties) == pytest.approx(expected, rel=1e-12)


def test_large_unsigned_scores_are_ordered():
    scores = np.array([[2**63, 2**63 + 1]], dtype=np.uint64)
    assert ours.ndcg_score([[0, 1]], scores) == 1.0


FORMS = {
    "lists": (TRUE, SCORE),
    "tuples": (tuple(map(tuple, TRUE)), tuple(map(tuple, SCORE))),
    "lists of arrays": ([np.array(row) for row in TRUE], [np.array(row) for row in SCORE]),
    "objects": (np.array(TRUE, dtype=object), np.array(SCORE, dtype=object)),
    "texts in an object array": (np.array(TRUE).astype(str).astype(object), SCORE),
    "decimals": (TRUE, [[Decimal(score) for score in row] for row in SCORE]),
    "integers of any size": (TRUE, [[int(4 * score) * 10**30 for score in row] for row in SCORE]),
    "pandas": (pandas.DataFrame(TRUE), pandas.DataFrame(SCORE)),
    "pandas, nullable": (pandas.DataFrame(TRUE, dtype="Int64"), pandas.DataFrame(SCORE, dtype="Float64")),
    "pandas, mixed": (pandas.DataFrame(TRUE).astype({1: bool}), SCORE),
    "pandas, categories": (pandas.DataFrame(TRUE, dtype="category"), SCORE),
    "polars": (polars.DataFrame(TRUE, orient="row"), polars.DataFrame(SCORE, orient="row")),
    "no mask": (np.ma.array(TRUE), np.ma.array(SCORE)),
}


@pytest.mark.parametrize("name", quick_first(NAMES))
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_array_likes_equal_scikit_learn(name, form, ignore_ties):
    for weights in (
        None,
        [1, 3],
        (0.5, 2),
        np.array([2, 1], "f4"),
        pandas.Series([1, 2]),
        polars.Series([3, 1]),
        [-1, 4],
    ):
        options = {"sample_weight": weights, "ignore_ties": ignore_ties}
        expected = getattr(theirs, name)(*FORMS[form], **options)
        assert getattr(ours, name)(*FORMS[form], **options) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_inputs_are_neither_copied_nor_changed(backend):
    queries = {"compiled": 5000, "python": 20}[backend]
    rng = np.random.default_rng(0)
    for dtype in ("f8", "f4", "i8", "i4"):
        grades = rng.integers(0, 3, (queries, 1000)).astype(dtype)
        scores = rng.permuted(np.tile(np.arange(1000), (queries, 1)), axis=1).astype(dtype)
        grades.flags.writeable = scores.flags.writeable = False
        ours.ndcg_score(grades, scores, k=10)
        for call, ignore_ties in product((ours.ndcg_score, ours.dcg_score), (False, True)):
            _, peak = measured(partial(call, grades, scores, k=10, ignore_ties=ignore_ties))
            if backend == "compiled":
                assert peak < 14e6 < grades.nbytes  # the memory for one chunk, whatever the size of the matrix


# errors

A, B = [[1, 2, 0]], [[0.1, 0.2, 0.3]]
WRONG = {
    "one dimension": ([0, 1], [0.1, 0.2]),
    "one column": ([[0], [1]], [[0.1], [0.2]]),
    "three dimensions": (np.zeros((2, 2, 2)), np.zeros((2, 2, 2))),
    "no dimension": (np.array(1.0), np.array(1.0)),
    "nothing": ([], []),
    "no rows": (np.empty((0, 3)), np.empty((0, 3))),
    "no columns": (np.empty((3, 0)), np.empty((3, 0))),
    "None in an array": (np.array([[None, 1]]), [[1, 2]]),
    "text": ([["1", "2"]], [[1, 2]]),
    "bytes": ([[1, 2]], [[b"1", b"2"]]),
    "words in an object array": (np.array([["a", 1]], dtype=object), [[1, 2]]),
    "complex grades": ([[1j, 2]], [[1, 2]]),
    "complex scores": ([[1, 2]], [[1j, 2]]),
    "dates": (np.array([["2020-01-01", "2020-01-02"]], "M8[D]"), [[1, 2]]),
    "NaN": ([[np.nan, 1]], [[1, 2]]),
    "infinity": ([[np.inf, 1]], [[1, 2]]),
    "NaN score": ([[0, 1]], [[np.nan, 2]]),
    "infinite score": ([[0, 1]], [[-np.inf, 2]]),
    "infinite float32 score": ([[0, 1]], np.array([[-np.inf, 2]], "f4")),
    "both infinities": ([[0, 1]], [[-np.inf, np.inf]]),
    "NA": (pandas.DataFrame([[1, None]], dtype="Int64"), [[1, 2]]),
    "NA score": ([[1, 2]], pandas.DataFrame([[1, None]], dtype="Float64")),
    "sparse": (sparse.csr_array([[0, 1]]), [[1, 2]]),
    "sparse scores": ([[0, 1]], sparse.coo_matrix([[0, 1]])),
    "np.matrix": (np.asmatrix([[1, 2]]), [[1, 2]]),
    "unequal rows": ([[1, 2], [1]], [[1, 2], [1]]),
    "unequal row numbers": ([[1, 2]], [[1, 2], [2, 3]]),
    "fewer columns": ([[1, 2, 3]], [[1, 2]]),
    "one column of scores": ([[1, 2], [2, 3]], [[1], [2]]),
    "numbers": (1, 2),
    "a text": ("ab", "cd"),
    "None": (None, None),
    "a generator": ((row for row in A), B),
    "a set": ({1, 2}, {1, 2}),
    "a dict": ({1: 2}, {1: 2}),
    "a record": (np.zeros((1, 2), dtype=[("a", int)]), [[1, 2]]),
    "a memoryview": (memoryview(np.array(A)), B),
}
OPTIONS = [{"k": k} for k in (0, -1, 1.0, 2.5, np.True_, "1", [1], np.nan)]
OPTIONS += [{"ignore_ties": value} for value in (1, 0, None, "yes", np.int8(1))]
OPTIONS += [
    {"sample_weight": value}
    for value in ([1, 2], 1, "a", [0], [[1]], ["a"], [None], [Decimal(1)], np.array(1), sparse.csr_array([[1]]), [])
]
BASES = [{"log_base": value} for value in (0, -1, np.inf, np.nan, "2", None, 1j, [2], np.array(2), Decimal(2))]


def raised(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError, ZeroDivisionError, IndexError)) as caught:
            call(*arguments, **options)
    return caught.value


def check_same_error(name, *arguments, **options):
    """Check that handlers for scikit-learn's error also catch ours."""
    expected = raised(getattr(theirs, name), *arguments, **options)
    error = raised(getattr(ours, name), *arguments, **options)
    for kind in (ValueError, TypeError, ZeroDivisionError):
        assert isinstance(error, kind) or not isinstance(expected, kind), (expected, error)
    if type(expected).__name__ == "InvalidParameterError":
        assert type(error) is ours.InvalidParameterError
        start = str(expected).partition("must be")[0]
        assert str(error).startswith(f"{start}must be ")
    return str(error)


@in_one_case("case", WRONG)
def test_errors_equal_scikit_learn(case):
    for name in NAMES:
        for ignore_ties in (False, True):
            check_same_error(name, *WRONG[case], ignore_ties=ignore_ties)


@in_one_case("name", NAMES)
@in_one_case("options", OPTIONS)
def test_parameter_errors_equal_scikit_learn(name, options):
    check_same_error(name, A, B, **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_beyond_float64_is_named(name):
    with pytest.raises(ValueError, match="sample_weight: a number is too large for float64"):
        getattr(ours, name)(A, B, sample_weight=[10**400])


@pytest.mark.parametrize("options", BASES, ids=str)
def test_invalid_log_base_is_rejected(options):
    check_same_error("dcg_score", A, B, **options)


@pytest.mark.parametrize("ignore_ties", [False, True])
def test_negative_grades(ignore_ties):
    message = check_same_error("ndcg_score", [[0, 1, 2], [0, 1, -1]], [[1, 2, 3]] * 2, ignore_ties=ignore_ties)
    assert "negative y_true values" in message
    assert "[1, 2]" in message


def test_messages_name_row_and_column():
    with pytest.raises(ValueError, match=r"Input y_score contains NaN, at \[1, 0\]"):
        ours.ndcg_score([[0, 1]] * 2, [[0.0, 1.0], [np.nan, 0.0]])
    with pytest.raises(ValueError, match=r"y_true has the shape \(1, 3\), and y_score has \(1, 2\)"):
        ours.dcg_score([[0, 1, 2]], [[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"shape \(2,\); rankgain.from_scores takes"):
        ours.dcg_score([0, 1], [1, 2])


# Deliberate differences from scikit-learn. If its behaviour changes, these tests and the list in the docstring must be
# updated.


def test_unsigned_scores_are_compared_as_they_are():
    scores = np.array([[0, 1, 2]], dtype=np.uint8)
    assert theirs.dcg_score([[1, 0, 0]], scores, k=1) == 1.0  # scikit-learn ranks the score 0 first
    assert ours.dcg_score([[1, 0, 0]], scores, k=1) == 0.0


def test_boolean_scores_are_accepted():
    scores = np.array([[False, True]])
    assert isinstance(raised(theirs.ndcg_score, [[0, 1]], scores), TypeError)
    assert ours.ndcg_score([[0, 1]], scores) == 1.0


def test_log_base_1_is_rejected():
    with pytest.warns(RuntimeWarning):
        assert theirs.dcg_score(A, B, log_base=1) == 0.0
    with pytest.raises(ours.InvalidParameterError, match="The 'log_base' parameter of dcg_score must be"):
        ours.dcg_score(A, B, log_base=1)


@pytest.mark.parametrize("ignore_ties", [False, True])
def test_sums_beyond_float64_are_rejected(ignore_ties):
    huge = [[1e308, 1e308, 1e308]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not np.isfinite(theirs.dcg_score(huge, B, ignore_ties=ignore_ties))
        assert not np.isfinite(theirs.ndcg_score(huge, B, ignore_ties=ignore_ties))
    for name in NAMES:
        with pytest.raises(ValueError, match="query 0: the sum of the gains"):
            getattr(ours, name)(huge, B, ignore_ties=ignore_ties)


@pytest.mark.parametrize("scores", [[[1, 2, 3], [1, 2, 3]], [1, 2]])
def test_more_columns_of_scores_are_rejected(scores):
    grades = [[1, 2], [2, 3]]
    assert isinstance(raised(theirs.ndcg_score, grades, scores, ignore_ties=True), IndexError)
    assert isinstance(raised(ours.ndcg_score, grades, scores, ignore_ties=True), ValueError)


def test_masked_elements_are_rejected():
    masked = np.ma.array([[1, 2]], mask=[[0, 1]])
    assert theirs.ndcg_score(masked, [[2, 1]]) == theirs.ndcg_score(masked.data, [[2, 1]])
    with pytest.raises(ValueError, match="y_true has masked elements"):
        ours.ndcg_score(masked, [[2, 1]])


def test_grades_of_other_types_are_accepted():
    assert isinstance(raised(theirs.ndcg_score, [[Decimal(1), Decimal(2)]], [[1, 2]]), ValueError)
    assert ours.ndcg_score([[Decimal(1), Fraction(2)]], [[1, 2]]) == 1.0
    columns = pandas.DataFrame({"a": pandas.arrays.SparseArray([0]), "b": pandas.arrays.SparseArray([1])})
    assert isinstance(raised(theirs.ndcg_score, columns, [[1, 2]]), TypeError)
    assert ours.ndcg_score(columns, [[1, 2]]) == 1.0
    assert isinstance(raised(theirs.ndcg_score, [[None, 1]], [[1, 2]]), TypeError)
    assert isinstance(raised(ours.ndcg_score, [[None, 1]], [[1, 2]]), ValueError)
    seconds = np.array([[1, 2]], "m8[s]")
    assert theirs.ndcg_score([[1, 2]], seconds) == 1.0
    assert isinstance(raised(ours.ndcg_score, [[1, 2]], seconds), TypeError)


def test_integers_beyond_float64_are_rejected():
    with pytest.raises(ValueError, match="y_true: query 1: position 0: the number is too large for float64"):
        ours.ndcg_score([[1, 0], [10**400, 0]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="y_score: query 0: position 1: the number is too large for float64"):
        ours.dcg_score([[1, 0]], [[1, -(10**400)]])
