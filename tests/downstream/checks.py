"""Checks that the installed example packages must pass; test_downstream.py runs them in a new process."""

import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from time import monotonic

import numpy as np

import rankgain as rg

RANDOM = np.random.default_rng(7)
SIZES = np.array([0, 1, 2, 40, 7, *RANDOM.integers(1, 60, 400)])
OFFSETS = np.concatenate(([0], np.cumsum(SIZES)))
LABELS = RANDOM.integers(0, 4, OFFSETS[-1]).astype(np.float64)
SCORES = (RANDOM.integers(-20, 20, OFFSETS[-1]) / 8).astype(np.float32)  # many scores are tied


def refusal(kind: type[Exception], call: Callable, *arguments: object) -> str:
    try:
        call(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"{arguments} went through")


def threads_agree(call: Callable[[], np.ndarray]) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: call(), range(40))
    expected = call()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def lets_go_of_the_gil(call: Callable[[], object]) -> None:
    """Check that `call` releases the GIL, so that a third thread runs while two threads are in `call`."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # seconds
    limit = monotonic() + 20  # reached only if the threads are not interrupted
    interrupted = []
    stop = []

    def work() -> None:
        while not stop and monotonic() < limit:
            call()
        interrupted.append(bool(stop))

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    stop.append(True)
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert interrupted == [True, True]


def epoch_ndcg() -> None:
    from epoch_ndcg import ndcg

    rankings = rg.from_scores(LABELS, SCORES, group_sizes=SIZES, ties="average")
    for k in (1, 3, 10, 1000):
        expected = rankings.evaluate(f"ndcg@{k}")[f"ndcg@{k}"]
        for threads in (1, 2, 5):
            np.testing.assert_array_equal(ndcg(SCORES, LABELS, OFFSETS, k, threads), expected)
    np.testing.assert_array_equal(ndcg(SCORES, LABELS, OFFSETS), rankings.evaluate("ndcg@10")["ndcg@10"])
    assert ndcg(SCORES, LABELS, OFFSETS[:1]).size == ndcg(SCORES, LABELS, OFFSETS[:0]).size == 0

    threads_agree(lambda: ndcg(SCORES, LABELS, OFFSETS, 10, 2))
    lets_go_of_the_gil(lambda: ndcg(SCORES, LABELS, OFFSETS, 10, 2))

    bad = SCORES.copy()
    bad[OFFSETS[3] + 5] = np.nan
    assert refusal(ValueError, ndcg, bad, LABELS, OFFSETS, 10, 2).startswith("query 3: ")
    assert "NaN" in refusal(ValueError, ndcg, bad, LABELS, OFFSETS)
    assert refusal(ValueError, ndcg, SCORES, -LABELS, OFFSETS[3:5]).startswith("query 0: ")
    assert refusal(ValueError, ndcg, SCORES, LABELS, OFFSETS, 0) == "k and threads must be 1 or more"
    for wrong in ([0, 3, 2], [-1, 2], [0, SCORES.size + 1]):
        assert "does not lie within" in refusal(ValueError, ndcg, SCORES, LABELS, np.array(wrong))


def row_metrics() -> None:
    from row_metrics import rr_and_dcg

    grades = LABELS[: LABELS.size // 30 * 30].reshape(-1, 30)
    grades[3] = 0

    def call(*k: int) -> np.ndarray:
        values = np.full((len(grades), 2), -1.0)
        rr_and_dcg(grades, values, *k)
        return values

    for k in (1, 3, 30, 1000):
        expected = [rg.reciprocal_rank(grades, k=k), rg.dcg(grades, k=k)]
        np.testing.assert_array_equal(call(k).T, expected)
    np.testing.assert_array_equal(call().T, [rg.reciprocal_rank(grades), rg.dcg(grades)])
    rr_and_dcg(np.empty((0, 5)), np.empty((0, 2)))

    values = np.empty((len(grades), 2))
    threads_agree(call)
    lets_go_of_the_gil(lambda: rr_and_dcg(grades, values))  # no NumPy call, which might release the GIL as well

    bad = grades.copy()
    bad[2, 4] = -1
    assert refusal(ValueError, rr_and_dcg, bad, values).startswith("row 2: ")
    assert refusal(ValueError, rr_and_dcg, grades, values, 0).startswith("row 0: ")
    assert "two columns" in refusal(ValueError, rr_and_dcg, grades, values[:1])
    for wrong in (LABELS, grades.astype(np.float32)):
        assert "matrix of float64" in refusal(TypeError, rr_and_dcg, wrong, values)
    refusal(TypeError, rr_and_dcg, [[1, 2]], values)
    refusal(ValueError, rr_and_dcg, grades.T, values)  # not contiguous
    values.flags.writeable = False
    refusal(ValueError, rr_and_dcg, grades, values)


def lambdamart() -> None:
    from lambdamart import lambdas

    few = OFFSETS[:14]
    scores, labels = SCORES[: few[-1]].astype(np.float64), LABELS[: few[-1]]
    np.testing.assert_array_equal(lambdas(scores, labels, few), lambdas(scores, labels, few, k=10))
    np.testing.assert_array_equal(lambdas(scores, labels, list(few)), lambdas(scores.astype(np.float32), labels, few))

    for k in (1, 3, 10, 1000):
        metric = f"ndcg(gain=exponential)@{k}"
        expected = rg.lambdarank(LABELS, SCORES, group_sizes=SIZES, metric=metric, normalize=None)
        np.testing.assert_allclose(lambdas(SCORES, LABELS, OFFSETS, k), expected, rtol=1e-12, atol=1e-14)

    descending = np.arange(6.0)[::-1]
    gradients, hessians = lambdas(descending, [2, 2, 2, 0, 2, 1], [0, 6], k=3)
    assert (gradients[3:] != 0).tolist() == [True, False, True]  # swapping two documents below k changes nothing
    assert (hessians >= 0).all()
    assert not lambdas(descending, [0, 0, 0, 0, 0, 0], [0, 6]).any()

    doubles = SCORES.astype(np.float64)
    threads_agree(lambda: lambdas(doubles, LABELS, OFFSETS))
    lets_go_of_the_gil(lambda: lambdas(doubles, LABELS, OFFSETS))

    assert "NaN" in refusal(ValueError, lambdas, [0.0, math.nan], [1, 0], [0, 2])
    assert refusal(ValueError, lambdas, [0.0, 1.0], [1, -1], [0, 2])
    assert refusal(ValueError, lambdas, [0.0, 1.0], [1, 0], [0, 2], 0)
    assert "differ in length" in refusal(ValueError, lambdas, [0.0, 1.0], [1], [0, 2])
    for wrong in ([0, 3], [-1, 2], [0, 2, 1]):
        assert "do not fit" in refusal(ValueError, lambdas, [0.0, 1.0], [1, 0], wrong)


def two_doors() -> None:
    from two_doors import addresses, dcg

    from rankgain import capi

    assert set(addresses()) == {capi.address("rankgain_dcg")}
    grades = np.array([3.0, 2, 3, 0, 1, 2])
    for each in (grades, grades[::-1], grades[::2]):
        assert dcg(each) == (0, rg.dcg(each), rg.dcg(each, k=3, gain="exponential"))
