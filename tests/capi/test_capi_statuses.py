"""The C functions return the right status for wrong calls and invalid data, and write only to their outputs."""

import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.c_functions import FUNCTIONS, HEADER, NO_CUTOFF, C, call
from support.marks import in_one_case

from rankgain import capi
from rankgain.capi import (
    RANKGAIN_ABOVE_IDEAL,
    RANKGAIN_AVERAGE,
    RANKGAIN_BAD_CUTOFF,
    RANKGAIN_BAD_DISCOUNT,
    RANKGAIN_BAD_LENGTH,
    RANKGAIN_BAD_OPTION,
    RANKGAIN_BEST,
    RANKGAIN_BY_SCORE_AND_QUERY,
    RANKGAIN_DELTA_CUT,
    RANKGAIN_DELTA_FULL,
    RANKGAIN_DELTA_ONE,
    RANKGAIN_EXPONENTIAL,
    RANKGAIN_INFINITE_GRADE,
    RANKGAIN_INFINITE_SCORE,
    RANKGAIN_JARVELIN,
    RANKGAIN_JUDGED,
    RANKGAIN_LARGE_GRADE,
    RANKGAIN_LINEAR,
    RANKGAIN_LOG2,
    RANKGAIN_NAN_GRADE,
    RANKGAIN_NAN_SCORE,
    RANKGAIN_NEGATIVE_GRADE,
    RANKGAIN_NOT_FINITE,
    RANKGAIN_NOT_NORMALIZED,
    RANKGAIN_NULL_POINTER,
    RANKGAIN_RETURNED,
    RANKGAIN_SHORT_DISCOUNT,
    RANKGAIN_STABLE,
    RANKGAIN_WORST,
    RANKGAIN_ZIPF,
)

# The values of all option constants, which precede the statuses in the header.
OPTIONS = [int(number) for number in re.findall(r"RANKGAIN_\w+ = (\d+)", HEADER[: HEADER.index("RANKGAIN_OK")])]
LOWEST, HIGHEST = -sys.maxsize - 1, sys.maxsize
STATUSES = [int(status) for status in re.findall(r"= (-?\d+)", re.search(r"\{\s*RANKGAIN_OK[^}]*", HEADER)[0])]
COMPUTING = sorted(name for name in FUNCTIONS if not name.endswith(("message", "scratch_size")))
GRADIENTS = [name for name in COMPUTING if "lambda" in name]
# The arguments of a valid call, by parameter name.
VALID = {
    "grades": [1.0, 0.0, 2.0],
    "relevance": [1.0, 0.0, 2.0],
    "judged": [2.0, 3.0, 2.0],
    "offsets": [0, 2, 3],
    "judged_offsets": [0, 2, 3],
    "scores": [0.5, 0.5, 0.25],
    "labels": [1.0, 0.0, 2.0],
    "gains": [1.0, 0.0, 2.0],
    "inverse_ideal": 0.5,
    "inverse_ideals": [0.5, 0.25],
}


def valid_call(name, **changes):
    length = {"discount": {"n": 3, "kind": RANKGAIN_ZIPF}, "gain": {"kind": RANKGAIN_EXPONENTIAL}}.get(name, {})
    return length | {key: value for key, value in VALID.items() if key in FUNCTIONS[name].parameters} | changes


def having(*parameters):
    return [name for name in COMPUTING if any(parameter in FUNCTIONS[name].parameters for parameter in parameters)]


def refused(answer, status):
    """Return whether the result has this status, with each value set to NaN and each document index set to -1."""
    result_status, *outputs = answer
    return result_status == status and all(np.isnan(output).all() or np.equal(output, -1).all() for output in outputs)


# the messages of statuses


def message(status):
    return C["message"](status).decode("ascii")


def test_each_status_has_a_different_message():
    words = [message(status) for status in STATUSES]
    assert len(set(words)) == len(words)
    assert all(len(sentence.split()) >= 3 for sentence in words)


@given(st.integers(-(2**31), 2**31 - 1).filter(lambda status: status not in STATUSES))
def test_unknown_status_has_a_message(status):
    assert message(status) not in [message(known) for known in STATUSES]
    assert len(message(status).split()) >= 3


# wrong calls


@in_one_case("name", COMPUTING)
def test_valid_calls_return_status_0(name):
    assert call(name, **valid_call(name))[0] == 0


NOWHERE = {"gradient": None, "hessian": None}  # without valid offsets, the length of these outputs is unknown
RANGES = [
    ("kind", ["gain"], RANKGAIN_LINEAR, RANKGAIN_EXPONENTIAL),
    ("kind", ["discount"], RANKGAIN_LOG2, RANKGAIN_ZIPF),
    ("gain", having("gain"), RANKGAIN_LINEAR, RANKGAIN_EXPONENTIAL),
    ("ideal", having("ideal"), RANKGAIN_JUDGED, RANKGAIN_RETURNED),
    ("ties", having("ties"), RANKGAIN_AVERAGE, RANKGAIN_STABLE),
    ("delta", GRADIENTS, RANKGAIN_DELTA_CUT, RANKGAIN_DELTA_ONE),
    ("normalize", GRADIENTS, RANKGAIN_NOT_NORMALIZED, RANKGAIN_BY_SCORE_AND_QUERY),
]
WRONG = [  # the status, the wrong argument and its values, and the functions that return the status
    (RANKGAIN_BAD_LENGTH, "n", [-1, LOWEST], having("n")),
    (RANKGAIN_BAD_LENGTH, "n_judged", [-1, LOWEST], having("n_judged")),
    (RANKGAIN_BAD_LENGTH, "queries", [-1, LOWEST], having("queries")),
    (RANKGAIN_BAD_LENGTH, "offsets", [[1, 0, 3], [0, 3, 2], [-1, 0, 3]], having("offsets")),
    (RANKGAIN_BAD_LENGTH, "judged_offsets", [[1, 0, 3], [0, 3, 2], [-1, 0, 3]], having("judged_offsets")),
    (RANKGAIN_BAD_CUTOFF, "k", [0, -1, LOWEST], having("k")),
    *(
        (
            RANKGAIN_BAD_OPTION,
            option,
            {first - 1, last + 1, -(2**31), 2**31 - 1, -1, *OPTIONS} - {*range(first, last + 1)},
            names,
        )
        for option, names, first, last in RANGES
    ),
    (RANKGAIN_BAD_OPTION, "ties", [RANKGAIN_BEST, RANKGAIN_WORST], GRADIENTS),
    (RANKGAIN_BAD_OPTION, "rel", [math.inf, -math.inf], having("rel")),
    (RANKGAIN_BAD_OPTION, "empty", [math.inf, -math.inf], having("empty")),
    (RANKGAIN_BAD_OPTION, "base", [1.0, 0.5, math.inf, math.nan], ["discount"]),
    (RANKGAIN_BAD_OPTION, "sigma", [0.0, -1.0, math.nan, math.inf, 1e101], GRADIENTS),
    (RANKGAIN_BAD_OPTION, "inverse_ideal", [math.nan, -1.0, math.inf], having("inverse_ideal")),
]


@in_one_case(("status", "parameter", "values", "names"), WRONG)
def test_invalid_options_have_their_status(status, parameter, values, names):
    assert names
    beside = {"base": {"kind": RANKGAIN_JARVELIN}, "queries": NOWHERE, "offsets": NOWHERE}.get(parameter, {})
    for name in names:
        for value in values:
            assert refused(call(name, **valid_call(name, **beside | {parameter: value})), status)


def test_options_that_a_function_does_not_read_are_not_checked():
    for base in (1.0, -1.0, math.nan):
        assert call("discount", kind=RANKGAIN_LOG2, base=base, n=2) == (0, [1.0, 1.0 / math.log2(3)])


# pointers


def pointers(name):
    return [parameter for parameter, kind in FUNCTIONS[name].parameters.items() if kind.endswith("*")]


MAY_BE_NULL = {"discount", "first", "last"}
NEEDED = [(name, parameter) for name in COMPUTING for parameter in pointers(name) if parameter not in MAY_BE_NULL]
LENGTHS = {"n": 3, "n_judged": 3, "queries": 2, "n_discount": 0}
NOTHING = {"n": 0, "n_judged": 0, "queries": 0, "n_discount": 0}


@in_one_case(("name", "pointer"), NEEDED)
def test_null_pointers_have_their_status(name, pointer):
    ties = RANKGAIN_STABLE if name in GRADIENTS else RANKGAIN_BEST
    beside = NOWHERE if name in GRADIENTS and name in having("offsets") else {}
    arguments = valid_call(name, ties=ties, first=None, last=None, **beside) | LENGTHS | {pointer: None}
    assert refused(call(name, **arguments), RANKGAIN_NULL_POINTER)


@in_one_case("name", COMPUTING)
def test_null_pointers_are_reported_before_other_errors(name):
    options = dict.fromkeys(("gain", "kind", "ties", "ideal", "delta", "normalize"), 9)
    wrong = options | {"k": 0, "rel": math.inf} | dict.fromkeys(pointers(name))
    for length in (-1, 3, HIGHEST):
        assert call(name, **wrong, **dict.fromkeys(LENGTHS, length))[0] < 0
    if name not in ("gain", "discount"):
        # nothing is read, whatever the stated length
        assert call(name, **dict.fromkeys(pointers(name)), **LENGTHS | {"n": HIGHEST, "queries": HIGHEST}) == (
            RANKGAIN_NULL_POINTER,
        )


@in_one_case("name", COMPUTING)
def test_pointers_of_length_0_may_be_null(name):
    status, *outputs = call(
        name, **valid_call(name) | NOTHING | {key: None for key in pointers(name) if key != "value"}
    )
    assert status == 0
    assert outputs in ([], [0.0])


def test_null_output_is_reported_before_an_invalid_base():
    assert call("discount", kind=RANKGAIN_JARVELIN, base=0.5, n=3, discounts=None) == (RANKGAIN_NULL_POINTER,)


def test_null_output_is_reported():
    for name in having("value"):
        assert call(name, **NOTHING | dict.fromkeys(pointers(name))) == (RANKGAIN_NULL_POINTER,)


@pytest.mark.parametrize("name", having("empty"))
def test_empty_lists_have_no_status(name):
    """Queries without documents give the value of `empty` and no error."""
    empty = {
        parameter: None
        for parameter in pointers(name)
        if parameter not in ("offsets", "judged_offsets", "value", "values")
    }
    lengths = {"n": 0, "n_judged": 0, "n_discount": 0}
    if name.endswith("_lists"):
        lengths |= {"offsets": [0, 0, 0], "judged_offsets": [0, 0, 0]}
    for value in (0.0, -0.0, 1.0):
        expected = [value, value] if name.endswith("_lists") else value
        result = call(name, empty=value, **empty, **lengths)
        assert result == (0, expected)
        assert "-0.0" not in repr(result)


def test_empty_judged_set_has_no_status():
    """Without an ideal ranking, no scratch is needed."""
    arguments = {"judged": None, "scratch": None, "n_judged": 0, "empty": 0.25}
    assert call("ndcg", relevance=[0.0, 0.0], **arguments) == (0, 0.25)
    assert call("ndcg", relevance=[0.0, 1.0], **arguments)[0] == RANKGAIN_ABOVE_IDEAL


@pytest.mark.parametrize("name", having("order"))
def test_order_by_scores_does_not_check_labels(name):
    for ties, status in ((RANKGAIN_AVERAGE, 0), (RANKGAIN_STABLE, 0), (RANKGAIN_BEST, -4), (RANKGAIN_WORST, -4)):
        assert call(name, **valid_call(name, labels=None, ties=ties))[0] == status


def test_discounts_that_are_too_short():
    for name in having("discount"):
        for k, discount, status in (
            (NO_CUTOFF, [1.0, 0.5, 0.5], 0),
            (2, [1.0, 0.5], 0),
            (NO_CUTOFF, [1.0], RANKGAIN_SHORT_DISCOUNT),
            (2, [1.0], RANKGAIN_SHORT_DISCOUNT),
            (1, [], RANKGAIN_SHORT_DISCOUNT),
        ):
            answer = call(name, **valid_call(name, k=k, discount=discount))
            assert answer[0] == status
            assert np.isnan(answer[1]).flat[0] == bool(status)
        assert refused(call(name, **valid_call(name, discount=[1.0] * 3, n_discount=-1)), RANKGAIN_BAD_LENGTH)
        # NULL selects the logarithmic discount, so a length given with NULL is an error.
        assert refused(call(name, **valid_call(name, discount=None, n_discount=3)), RANKGAIN_NULL_POINTER)


@pytest.mark.parametrize("fault", [math.nan, math.inf, -math.inf, -5e-324])
def test_missing_discounts_are_reported(fault):
    """An invalid discount is reported, whatever the gain, unless its rank is beyond the cut-off."""
    for name in sorted({*having("discount")} - {*GRADIENTS}):
        for position in range(3):
            discount = [1.0] * position + [fault] + [1.0] * (3 - position)
            answer = call(name, **valid_call(name, discount=discount))
            if name in having("offsets"):  # the first list has two documents, the second has one
                status, values = answer
                assert status == (RANKGAIN_BAD_DISCOUNT if position < 2 else 0)
                assert np.isnan(values).tolist() == [position < 2, position < 1]
            else:
                assert refused(answer, RANKGAIN_BAD_DISCOUNT)
            assert call(name, **valid_call(name, discount=discount, k=max(1, position)))[0] == (
                0 if position else answer[0]
            )


def test_discounts_of_the_ideal():
    """The discount must cover the list and its ideal ranking, unless the ideal is cut to the length of the list."""
    long, short = [1.0, 1.0, 0.0], [1.0]
    for relevance, judged, ideal, enough in (
        (long, long, RANKGAIN_JUDGED, 3),
        (long, [2.0], RANKGAIN_JUDGED, 3),
        (short, long, RANKGAIN_JUDGED, 3),
        (short, long, RANKGAIN_RETURNED, 1),
        ([], long, RANKGAIN_RETURNED, 1),
    ):
        arguments = {"relevance": relevance, "judged": judged, "ideal": ideal}
        assert call("ndcg", discount=[0.5] * enough, **arguments)[0] == 0
        answer = call("ndcg", discount=[0.5] * (enough - 1), **arguments)
        assert refused(answer, RANKGAIN_SHORT_DISCOUNT)


# invalid data

FAULTS = {
    RANKGAIN_NAN_GRADE: math.nan,
    RANKGAIN_INFINITE_GRADE: math.inf,
    RANKGAIN_NEGATIVE_GRADE: -5e-324,
    RANKGAIN_LARGE_GRADE: 1024.0,
}
GRADES = [(name, parameter) for parameter in ("relevance", "judged", "labels") for name in having(parameter)]


@in_one_case("status", FAULTS)
@pytest.mark.parametrize(("name", "parameter"), [pair for pair in GRADES if pair[0] not in having("offsets")])
def test_invalid_grades_have_their_status(name, parameter, status):
    """Grades are checked at every position, except that grades in rank order are read only down to the cut-off."""
    for position in range(3):
        grades = [*VALID[parameter][:position], FAULTS[status], *VALID[parameter][position + 1 :]]
        k = 1 if parameter == "relevance" else NO_CUTOFF
        arguments = valid_call(name, k=k, ties=RANKGAIN_WORST, gain=RANKGAIN_EXPONENTIAL)
        answer = call(name, **arguments | {parameter: grades})
        legal = status == RANKGAIN_LARGE_GRADE and "gain" not in FUNCTIONS[name].parameters
        if legal or (parameter == "relevance" and position):
            assert answer[0] == 0
        else:
            assert refused(answer, status)


def test_large_labels_below_the_cutoff_are_accepted():
    """All labels count for the ideal ranking, but only labels down to the cut-off count for the sum, as in Python."""
    arguments = {"scores": [3.0, 2.0, 1.0], "labels": [1.0, 0.0, 1024.0], "k": 1, "gain": RANKGAIN_EXPONENTIAL}
    for width in ("f64", "f32"):
        assert call(f"dcg_from_scores_{width}", **arguments) == (0, 1.0)
        assert refused(call(f"dcg_from_scores_{width}", **arguments | {"k": 3}), RANKGAIN_LARGE_GRADE)
        assert refused(call(f"ndcg_from_scores_{width}", **arguments), RANKGAIN_LARGE_GRADE)


@pytest.mark.parametrize("ties", range(RANKGAIN_AVERAGE, RANKGAIN_STABLE + 1))
def test_invalid_scores_have_their_status(ties):
    for name in sorted({*having("scores")} - {*GRADIENTS}):
        for position in range(3):
            scores = [*VALID["scores"][:position], math.nan, *VALID["scores"][position + 1 :]]
            assert refused(call(name, **valid_call(name, k=1, ties=ties, scores=scores)), RANKGAIN_NAN_SCORE)
            for score in (math.inf, -math.inf):
                scores[position] = score
                assert call(name, **valid_call(name, k=1, ties=ties, scores=scores))[0] == 0


def test_sums_that_are_not_finite():
    huge = dict.fromkeys(("relevance", "judged", "labels"), [1.7e308] * 3)
    for name in sorted(set(having("gain")) - {"order_f64", "order_f32"}):
        changes = {parameter: value for parameter, value in huge.items() if parameter in FUNCTIONS[name].parameters}
        status, values = call(name, **valid_call(name, **changes))
        assert status == RANKGAIN_NOT_FINITE
        assert np.isnan(values).tolist() == ([True, False] if name.endswith("_lists") else True)


def test_judged_that_lacks_grades_has_its_status():
    for name in having("judged"):
        if name.startswith("ndcg"):
            arguments = valid_call(name, relevance=[3.0, 3.0, 0.0], judged=[3.0, 1.0, 1.0])
            status, values = call(name, **arguments)
            assert status == RANKGAIN_ABOVE_IDEAL
            assert np.isnan(values).tolist() == ([True, False] if name.endswith("_lists") else True)
            # With rising discounts, some orders exceed the ideal ranking, but none is rejected.
            assert call(name, **arguments | {"discount": [0.5, 1.0, 1.0]})[0] == 0


# gradients


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("position", range(3))
def test_invalid_data_of_gradients_has_its_status(name, position):
    """An error in one list does not affect the gradients of other lists; a score of -inf masks a document."""
    for parameter, value, status in (
        ("scores", math.nan, RANKGAIN_NAN_SCORE),
        ("scores", math.inf, RANKGAIN_INFINITE_SCORE),
        ("gains", math.nan, RANKGAIN_NAN_GRADE),
        ("gains", math.inf, RANKGAIN_INFINITE_GRADE),
        ("gains", -1.0, RANKGAIN_NEGATIVE_GRADE),
    ):
        values = [*VALID[parameter][:position], value, *VALID[parameter][position + 1 :]]
        result_status, *outputs = call(name, **valid_call(name, **{parameter: values}))
        wrong = [position < 2, position < 2, position == 2] if name in having("offsets") else [True] * 3
        assert result_status == status
        assert all(np.isnan(output).tolist() == wrong for output in outputs)
    masked = [*VALID["scores"][:position], -math.inf, *VALID["scores"][position + 1 :]]
    result_status, gradient, hessian = call(name, **valid_call(name, scores=masked))
    assert (result_status, gradient[position], hessian[position]) == (0, 0.0, 0.0)


def test_discounts_of_gradients():
    """Discounts must not rise, and must cover all ranks if documents beyond the cut-off have a discount."""
    for name in GRADIENTS:
        for discount in ([0.5, 1.0], [0.5, math.nan]):
            assert refused(call(name, **valid_call(name, k=2, discount=discount)), RANKGAIN_BAD_DISCOUNT)
        full = valid_call(name, k=2, delta=RANKGAIN_DELTA_FULL, offsets=[0, 0, 3], discount=[1.0, 0.5])
        assert refused(call(name, **full), RANKGAIN_SHORT_DISCOUNT)


def test_inverse_ideals():
    for name in having("inverse_ideal"):
        fault = valid_call(name, inverse_ideal=math.nan, gains=[1.0, math.nan, 0.0])
        assert refused(call(name, **fault), RANKGAIN_NAN_GRADE)
        assert call(name, **valid_call(name, inverse_ideal=0.0)) == (0, [0.0] * 3, [0.0] * 3)
        huge = valid_call(name, gains=[1e308, 0.0, 1.0], inverse_ideal=1e308)
        assert refused(call(name, **huge), RANKGAIN_NOT_FINITE)
    for name in having("inverse_ideals"):
        status, gradient, _ = call(name, **valid_call(name, inverse_ideals=[math.nan, 1.0]))
        assert status == RANKGAIN_BAD_OPTION
        assert np.isnan(gradient).tolist() == [True, True, False]


# scratch


@given(*[st.integers(-1, 3000) | st.integers(LOWEST, HIGHEST)] * 4)
def test_scratch_is_enough_for_shorter_lists_and_earlier_cut_offs(n, fewer, k, earlier):
    size = C["scratch_size"](n, k)
    less = C["scratch_size"](min(n, fewer), min(k, earlier))
    if n < 0 or k < 1:
        assert size == -1
    elif size != -1:
        assert size >= max(n, less)  # one byte per document or more; a smaller size would mean an overflow
        assert (less == -1) == (min(n, fewer) < 0 or min(k, earlier) < 1)


@pytest.mark.parametrize("k", [1, 10, HIGHEST])
def test_scratch_size_of_impossible_lists_is_0(k):
    for n in (HIGHEST, HIGHEST - 1, HIGHEST // 8, HIGHEST // 16):
        assert C["scratch_size"](n, k) == -1
    for n in (0, 1, 10_000_000):
        assert C["scratch_size"](n, k) >= 0


@in_one_case("ties", range(RANKGAIN_AVERAGE, RANKGAIN_STABLE + 1))
def test_scratch_at_any_address(ties):
    """Every function accepts scratch at any address; `call` checks the memory around the scratch."""
    for name in having("scratch"):
        arguments = valid_call(name, ties=ties, k=2)
        expected = repr(call(name, **arguments))
        for shift in range(64):
            assert repr(call(name, shift=shift, **arguments)) == expected, (name, shift)


# further promises


def test_negative_zeros_are_zeros():
    """-0.0 is not a negative grade, and a sum of negative zeros is 0.0."""
    for name in ("cg", "dcg", "idcg"):
        status, value = call(name, **{"judged" if name == "idcg" else "relevance": [-0.0, -0.0]})
        assert (status, math.copysign(1.0, value)) == (0, 1.0)


def test_address_of_an_unknown_function_is_rejected():
    for name in ("", "dcg", "rankgain_dgc", "rankgain_import"):
        with pytest.raises(ValueError, match=r"rankgain_dcg\b.*rankgain_ndcg\b"):
            capi.address(name)
