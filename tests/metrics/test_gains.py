"""Gains and discounts that are invalid for the grades and ranks to which they are applied."""

import math

import numpy as np
import pytest
from support.evaluating import evaluate_lines, evaluate_qrels, evaluate_ranked, evaluate_scores

import rankgain as rg
from rankgain.metrics.gains import BINARY, EXPONENTIAL, LINEAR, Gain

inf = math.inf
ONE_GRADE = ["rr", rg.metric("ndcg", gain={1: 1})]  # metrics whose gain has an entry only for the grade 1
LISTS = [[1], [1, 3]]


@pytest.mark.parametrize(("gain", "expected"), [
    (LINEAR, [0, 1, 2, 3]),
    (EXPONENTIAL, [0, 1, 3, 7]),
    (BINARY, [0, 1, 1, 1]),
    (Gain.relevant(1.0), [0, 0, 1, 1]),
    (Gain.irrelevant(1.0), [1, 1, 0, 0]),
    (Gain.stop(3.0), [0, 1 / 8, 3 / 8, 7 / 8]),
    (Gain.of({1: 5, 2: 0.5, 3: 2}), [0, 5, 0.5, 2]),
    (Gain.of([1, 2, 4, 8]), [1, 2, 4, 8]),
    (Gain.of(np.square), [0, 1, 4, 9]),
], ids=lambda value: f"{value} {value.level:g}" if isinstance(value, Gain) else "")  # fmt: skip
def test_gains_of_grades_from_0_to_3(backend, gain, expected):
    assert gain.apply(np.arange(4.0)).tolist() == expected


def test_gain_rejects_a_grade_that_has_no_entry(rejects):
    lacks = "gain has no entry for the grade 3.0…add"
    rejects(ValueError, f"relevance: position 2: {lacks}", rg.gain, [0, 2, 3], {1: 1, 2: 3})
    rejects(ValueError, f"relevance: position 2: {lacks}", rg.dcg, [0, 2, 3], gain=[0, 1, 3])
    rejects(ValueError, f"relevance: query 1, position 1: {lacks}", rg.ndcg, LISTS, gain={1: 1})
    rejects(ValueError, f"judged: query 1, position 1: {lacks}", rg.ndcg, [[], []], judged=LISTS, gain={1: 1})
    in_judged = f"judged: query 1, position 1: {lacks}"
    rejects(ValueError, in_judged, evaluate_ranked, [[], []], judged=LISTS, metrics=ONE_GRADE)
    rejects(ValueError, f"relevance: query 1, position 1: {lacks}", evaluate_ranked, LISTS, metrics=ONE_GRADE)
    rejects(ValueError, f"y_true: query 1, position 1: {lacks}", evaluate_scores, LISTS, LISTS, metrics=ONE_GRADE)
    sides = {"q": {"d": 3}}, {"q": {"d": 1}}
    rejects(ValueError, f"qrels: query 'q', document 'd': {lacks}", evaluate_qrels, *sides, metrics=ONE_GRADE)


@pytest.mark.parametrize("grade", [1024, 1e300, 2**62], ids=str)
def test_exponential_gain_rejects_a_large_grade(rejects, grade):
    large = "too large…gain='exponential'…below 1024"
    lists, metrics = [[1], [1, grade]], ["cg", "dcg(gain=exponential)@2"]
    rejects(ValueError, f"relevance: position 1…{large}", rg.gain, [1, grade], "exponential")
    rejects(ValueError, f"relevance: position 1…{large}", rg.dcg, [1, grade], gain="exponential")
    rejects(ValueError, f"judged: query 1, position 1…{large}", rg.idcg, lists, gain="exponential")
    rejects(ValueError, f"relevance: query 1, position 1…{large}", evaluate_ranked, lists, metrics=metrics)


@pytest.mark.usefixtures("own_folder")
def test_exponential_gain_rejects_a_large_grade_of_a_file(rejects):
    message, metrics = "qrels.txt: query 'q'…'d'…too large…gain='exponential'…below 1024", ["dcg(gain=exponential)"]
    rejects(ValueError, message, evaluate_lines, b"q 0 d 1024\n", b"q Q0 d 1 2.5 t\n", metrics=metrics)


@pytest.mark.parametrize("row", [
    ("one number per grade", TypeError,
     lambda x: x[1:], lambda x: 1.0, lambda x: None, lambda x: x + 0j, lambda x: x.astype(object),
     lambda x: np.array(["1"] * len(x))),
    ("masked elements", ValueError, lambda x: np.ma.masked_array(x, x > 0)),
])  # fmt: skip
def test_callable_gains_must_return_one_number_per_grade(rejects, row):
    message, error, *gains = row
    for gain in gains:
        rejects(error, f"gain…callable…{message}", rg.dcg, [1], gain=gain)
        metrics = ["rr", rg.metric("ndcg", gain=gain)]
        rejects(error, f"gain…callable…{message}", evaluate_ranked, [2, 1], metrics=metrics)


@pytest.mark.parametrize(("gain", "returned"), [(np.negative, "-2.0"), (lambda x: x + inf, "inf")], ids=["-2.0", "inf"])
def test_callable_gains_must_return_finite_gains(rejects, gain, returned):
    message = f"gain returned {returned} for the grade…finite and not negative"
    rejects(ValueError, f"relevance: position 0: {message}", rg.dcg, [2, 1], gain=gain)
    metrics = [rg.metric("dcg", gain=gain)]
    rejects(ValueError, f"relevance: query 0, position 0: {message}", evaluate_ranked, [2, 1], metrics=metrics)


class Raises:
    """An object that raises an error when used as a number or as a gain."""

    def __float__(self, *grades):
        raise KeyError("what foreign code raises comes out as it is")

    __call__ = __float__


def test_exceptions_of_foreign_code_come_out_as_they_are(rejects):
    bad, good = Raises(), {"q": {"d": 1}}
    message = "what foreign code raises comes out as it is"
    rejects(KeyError, message, rg.dcg, [1, bad])
    rejects(KeyError, message, evaluate_ranked, [[bad], [1]])
    rejects(KeyError, message, evaluate_ranked, [2, 1], metrics=["rr", rg.metric("dcg", gain=bad)])
    rejects(KeyError, message, evaluate_qrels, {"q": {"d": bad}}, good)
    rejects(KeyError, message, evaluate_qrels, good, {"q": {"d": bad}})


def test_sums_of_gains_must_be_finite(rejects):
    rejects(ValueError, "judged: query 1…not finite", rg.idcg, [[1], [1023.9] * 9], gain="exponential")
    rejects(ValueError, "relevance: query 1…not finite", evaluate_ranked, [[1], [1e308] * 9], metrics=["rr", "dcg"])


@pytest.mark.parametrize(
    ("discount", "bounded"), [([1, 1, 0.5], True), ([1, 0.5, 0.6], False), ("log2", True)], ids=str
)
def test_value_above_the_ideal_is_rejected_unless_a_discount_increases(rejects, backend, discount, bounded):
    lists, judged, message = [[1, 1, 2]], [[1, 1, 1]], "query 0: judged lacks grades that the returned list has"
    if bounded:
        rejects(ValueError, message, rg.ndcg, lists, judged=judged, discount=discount)
    else:
        assert rg.ndcg(lists, judged=judged, discount=discount) > 1.0


@pytest.mark.parametrize("discount", [[], [1], [1, 0.5]], ids=len)
def test_discount_rejects_more_ranks_than_it_has(rejects, discount):
    message = f"discount has {len(discount)} ranks, and 3 are needed"
    rejects(ValueError, message, rg.discount, 3, discount)
    lists, message = [[], [1, 2, 0]], f"query 1: {message}…longer discount or a smaller k"
    rejects(ValueError, message, evaluate_ranked, lists, metrics=[rg.metric("dcg", discount=discount)])
    for function in (rg.dcg, rg.idcg, rg.ndcg):
        rejects(ValueError, message, function, lists, discount=discount)
