"""What a C function says to a wrong call or unsound data, and that it touches nothing that it was not given."""

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

# The numbers of all options, which stand before the statuses.
OPTIONS = [int(number) for number in re.findall(r"RANKGAIN_\w+ = (\d+)", HEADER[: HEADER.index("RANKGAIN_OK")])]
LOWEST, HIGHEST = -sys.maxsize - 1, sys.maxsize
STATUSES = [int(status) for status in re.findall(r"= (-?\d+)", re.search(r"\{\s*RANKGAIN_OK[^}]*", HEADER)[0])]
COMPUTING = sorted(name for name in FUNCTIONS if not name.endswith(("message", "scratch_size")))
GRADIENTS = [name for name in COMPUTING if "lambda" in name]
# A sound call: by the names of parameters.
SOUND = {
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


def sound(name, **changes):
    length = {"discount": {"n": 3, "kind": RANKGAIN_ZIPF}, "gain": {"kind": RANKGAIN_EXPONENTIAL}}.get(name, {})
    return length | {held: value for held, value in SOUND.items() if held in FUNCTIONS[name].parameters} | changes


def having(*parameters):
    return [name for name in COMPUTING if any(held in FUNCTIONS[name].parameters for held in parameters)]


def refused(answer, status):
    """Whether it has the status, and NaN for each value that there would have been, or -1 for each document."""
    found, *outputs = answer
    return found == status and all(np.isnan(held).all() or np.equal(held, -1).all() for held in outputs)


# what a status means


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


@pytest.mark.parametrize("name", COMPUTING)
def test_valid_calls_return_status_0(name):
    assert call(name, **sound(name))[0] == 0


NOWHERE = {"gradient": None, "hessian": None}  # without sound offsets their length is unknown
RANGES = [
    ("kind", ["gain"], RANKGAIN_LINEAR, RANKGAIN_EXPONENTIAL),
    ("kind", ["discount"], RANKGAIN_LOG2, RANKGAIN_ZIPF),
    ("gain", having("gain"), RANKGAIN_LINEAR, RANKGAIN_EXPONENTIAL),
    ("ideal", having("ideal"), RANKGAIN_JUDGED, RANKGAIN_RETURNED),
    ("ties", having("ties"), RANKGAIN_AVERAGE, RANKGAIN_STABLE),
    ("delta", GRADIENTS, RANKGAIN_DELTA_CUT, RANKGAIN_DELTA_ONE),
    ("normalize", GRADIENTS, RANKGAIN_NOT_NORMALIZED, RANKGAIN_BY_SCORE_AND_QUERY),
]
WRONG = [  # what is wrong, and in which functions
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
            assert refused(call(name, **sound(name, **beside | {parameter: value})), status)


def test_options_that_a_function_does_not_read_are_not_checked():
    for base in (1.0, -1.0, math.nan):
        assert call("discount", kind=RANKGAIN_LOG2, base=base, n=2) == (0, [1.0, 1.0 / math.log2(3)])


# pointers


def pointers(name):
    return [held for held, kind in FUNCTIONS[name].parameters.items() if kind.endswith("*")]


MAY_BE_NULL = {"discount", "first", "last"}
NEEDED = [(name, held) for name in COMPUTING for held in pointers(name) if held not in MAY_BE_NULL]
LENGTHS = {"n": 3, "n_judged": 3, "queries": 2, "n_discount": 0}
NOTHING = {"n": 0, "n_judged": 0, "queries": 0, "n_discount": 0}


@in_one_case(("name", "pointer"), NEEDED)
def test_null_pointers_have_their_status(name, pointer):
    ties = RANKGAIN_STABLE if name in GRADIENTS else RANKGAIN_BEST
    beside = NOWHERE if name in GRADIENTS and name in having("offsets") else {}
    asked = sound(name, ties=ties, first=None, last=None, **beside) | LENGTHS | {pointer: None}
    assert refused(call(name, **asked), RANKGAIN_NULL_POINTER)


@pytest.mark.parametrize("name", COMPUTING)
def test_null_pointers_are_reported_before_other_errors(name):
    options = dict.fromkeys(("gain", "kind", "ties", "ideal", "delta", "normalize"), 9)
    wrong = options | {"k": 0, "rel": math.inf} | dict.fromkeys(pointers(name))
    for length in (-1, 3, HIGHEST):
        assert call(name, **wrong, **dict.fromkeys(LENGTHS, length))[0] < 0
    if name not in ("gain", "discount"):
        # However long it is said to be, there is nothing to read.
        assert call(name, **dict.fromkeys(pointers(name)), **LENGTHS | {"n": HIGHEST, "queries": HIGHEST}) == (
            RANKGAIN_NULL_POINTER,
        )


@pytest.mark.parametrize("name", COMPUTING)
def test_pointers_of_length_0_may_be_null(name):
    status, *outputs = call(name, **sound(name) | NOTHING | {held: None for held in pointers(name) if held != "value"})
    assert status == 0
    assert outputs in ([], [0.0])


def test_null_output_is_reported_before_an_invalid_base():
    assert call("discount", kind=RANKGAIN_JARVELIN, base=0.5, n=3, discounts=None) == (RANKGAIN_NULL_POINTER,)


def test_null_output_is_reported():
    for name in having("value"):
        assert call(name, **NOTHING | dict.fromkeys(pointers(name))) == (RANKGAIN_NULL_POINTER,)


@pytest.mark.parametrize("name", having("empty"))
def test_empty_lists_have_no_status(name):
    """Some queries, and no document of any."""
    empty = {held: None for held in pointers(name) if held not in ("offsets", "judged_offsets", "value", "values")}
    lengths = {"n": 0, "n_judged": 0, "n_discount": 0}
    if name.endswith("_lists"):
        lengths |= {"offsets": [0, 0, 0], "judged_offsets": [0, 0, 0]}
    for value in (0.0, -0.0, 1.0):
        expected = [value, value] if name.endswith("_lists") else value
        found = call(name, empty=value, **empty, **lengths)
        assert found == (0, expected)
        assert "-0.0" not in repr(found)


def test_empty_judged_set_has_no_status():
    """Then there is no ideal, and nothing to work in."""
    asked = {"judged": None, "scratch": None, "n_judged": 0, "empty": 0.25}
    assert call("ndcg", relevance=[0.0, 0.0], **asked) == (0, 0.25)
    assert call("ndcg", relevance=[0.0, 1.0], **asked)[0] == RANKGAIN_ABOVE_IDEAL


@pytest.mark.parametrize("name", having("order"))
def test_order_by_scores_does_not_check_labels(name):
    for ties, status in ((RANKGAIN_AVERAGE, 0), (RANKGAIN_STABLE, 0), (RANKGAIN_BEST, -4), (RANKGAIN_WORST, -4)):
        assert call(name, **sound(name, labels=None, ties=ties))[0] == status


def test_discounts_that_are_too_short():
    for name in having("discount"):
        for k, discount, status in (
            (NO_CUTOFF, [1.0, 0.5, 0.5], 0),
            (2, [1.0, 0.5], 0),
            (NO_CUTOFF, [1.0], RANKGAIN_SHORT_DISCOUNT),
            (2, [1.0], RANKGAIN_SHORT_DISCOUNT),
            (1, [], RANKGAIN_SHORT_DISCOUNT),
        ):
            answer = call(name, **sound(name, k=k, discount=discount))
            assert answer[0] == status
            assert np.isnan(answer[1]).flat[0] == bool(status)
        assert refused(call(name, **sound(name, discount=[1.0] * 3, n_discount=-1)), RANKGAIN_BAD_LENGTH)
        # That it is NULL is what chooses the logarithm, and a length beside it a slip.
        assert refused(call(name, **sound(name, discount=None, n_discount=3)), RANKGAIN_NULL_POINTER)


@pytest.mark.parametrize("fault", [math.nan, math.inf, -math.inf, -5e-324])
def test_missing_discounts_are_reported(fault):
    """Whatever gain they meet; those of ranks that do not count are not looked at."""
    for name in sorted({*having("discount")} - {*GRADIENTS}):
        for place in range(3):
            discount = [1.0] * place + [fault] + [1.0] * (3 - place)
            answer = call(name, **sound(name, discount=discount))
            if name in having("offsets"):  # of two lists, with two documents and with one
                status, values = answer
                assert status == (RANKGAIN_BAD_DISCOUNT if place < 2 else 0)
                assert np.isnan(values).tolist() == [place < 2, place < 1]
            else:
                assert refused(answer, RANKGAIN_BAD_DISCOUNT)
            assert call(name, **sound(name, discount=discount, k=max(1, place)))[0] == (0 if place else answer[0])


def test_discounts_of_the_ideal():
    """They are for the longer of both lists; but an ideal that is cut at the list needs no more than that has."""
    long, short = [1.0, 1.0, 0.0], [1.0]
    for relevance, judged, ideal, enough in (
        (long, long, RANKGAIN_JUDGED, 3),
        (long, [2.0], RANKGAIN_JUDGED, 3),
        (short, long, RANKGAIN_JUDGED, 3),
        (short, long, RANKGAIN_RETURNED, 1),
        ([], long, RANKGAIN_RETURNED, 1),
    ):
        asked = {"relevance": relevance, "judged": judged, "ideal": ideal}
        assert call("ndcg", discount=[0.5] * enough, **asked)[0] == 0
        answer = call("ndcg", discount=[0.5] * (enough - 1), **asked)
        assert refused(answer, RANKGAIN_SHORT_DISCOUNT)


# unsound data

FAULTS = {
    RANKGAIN_NAN_GRADE: math.nan,
    RANKGAIN_INFINITE_GRADE: math.inf,
    RANKGAIN_NEGATIVE_GRADE: -5e-324,
    RANKGAIN_LARGE_GRADE: 1024.0,
}
GRADES = [(name, held) for held in ("relevance", "judged", "labels") for name in having(held)]


@in_one_case("status", FAULTS)
@pytest.mark.parametrize(("name", "held"), [pair for pair in GRADES if pair[0] not in having("offsets")])
def test_invalid_grades_have_their_status(name, held, status):
    """Wherever the fault is; but grades in rank order are read to the cut-off, and no further."""
    for place in range(3):
        grades = [*SOUND[held][:place], FAULTS[status], *SOUND[held][place + 1 :]]
        k = 1 if held == "relevance" else NO_CUTOFF
        asked = sound(name, k=k, ties=RANKGAIN_WORST, gain=RANKGAIN_EXPONENTIAL)
        answer = call(name, **asked | {held: grades})
        legal = status == RANKGAIN_LARGE_GRADE and "gain" not in FUNCTIONS[name].parameters
        if legal or (held == "relevance" and place):
            assert answer[0] == 0
        else:
            assert refused(answer, status)


def test_large_labels_below_the_cutoff_are_accepted():
    """They count for the ideal wherever they are, and for the sum to the cut-off, as in Python."""
    asked = {"scores": [3.0, 2.0, 1.0], "labels": [1.0, 0.0, 1024.0], "k": 1, "gain": RANKGAIN_EXPONENTIAL}
    for width in ("f64", "f32"):
        assert call(f"dcg_from_scores_{width}", **asked) == (0, 1.0)
        assert refused(call(f"dcg_from_scores_{width}", **asked | {"k": 3}), RANKGAIN_LARGE_GRADE)
        assert refused(call(f"ndcg_from_scores_{width}", **asked), RANKGAIN_LARGE_GRADE)


@pytest.mark.parametrize("ties", range(RANKGAIN_AVERAGE, RANKGAIN_STABLE + 1))
def test_invalid_scores_have_their_status(ties):
    for name in sorted({*having("scores")} - {*GRADIENTS}):
        for place in range(3):
            scores = [*SOUND["scores"][:place], math.nan, *SOUND["scores"][place + 1 :]]
            assert refused(call(name, **sound(name, k=1, ties=ties, scores=scores)), RANKGAIN_NAN_SCORE)
            for score in (math.inf, -math.inf):
                scores[place] = score
                assert call(name, **sound(name, k=1, ties=ties, scores=scores))[0] == 0


def test_sums_that_are_not_finite():
    huge = dict.fromkeys(("relevance", "judged", "labels"), [1.7e308] * 3)
    for name in sorted(set(having("gain")) - {"order_f64", "order_f32"}):
        changes = {held: value for held, value in huge.items() if held in FUNCTIONS[name].parameters}
        status, found = call(name, **sound(name, **changes))
        assert status == RANKGAIN_NOT_FINITE
        assert np.isnan(found).tolist() == ([True, False] if name.endswith("_lists") else True)


def test_judged_that_lacks_grades_has_its_status():
    for name in having("judged"):
        if name.startswith("ndcg"):
            asked = sound(name, relevance=[3.0, 3.0, 0.0], judged=[3.0, 1.0, 1.0])
            status, found = call(name, **asked)
            assert status == RANKGAIN_ABOVE_IDEAL
            assert np.isnan(found).tolist() == ([True, False] if name.endswith("_lists") else True)
            # Where the discount rises some order is above the ideal, and none is refused.
            assert call(name, **asked | {"discount": [0.5, 1.0, 1.0]})[0] == 0


# gradients


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("place", range(3))
def test_invalid_data_of_gradients_has_its_status(name, place):
    """The other lists have their gradients; -inf masks a document."""
    for held, value, status in (
        ("scores", math.nan, RANKGAIN_NAN_SCORE),
        ("scores", math.inf, RANKGAIN_INFINITE_SCORE),
        ("gains", math.nan, RANKGAIN_NAN_GRADE),
        ("gains", math.inf, RANKGAIN_INFINITE_GRADE),
        ("gains", -1.0, RANKGAIN_NEGATIVE_GRADE),
    ):
        values = [*SOUND[held][:place], value, *SOUND[held][place + 1 :]]
        found, *outputs = call(name, **sound(name, **{held: values}))
        wrong = [place < 2, place < 2, place == 2] if name in having("offsets") else [True] * 3
        assert found == status
        assert all(np.isnan(output).tolist() == wrong for output in outputs)
    masked = [*SOUND["scores"][:place], -math.inf, *SOUND["scores"][place + 1 :]]
    found, gradient, hessian = call(name, **sound(name, scores=masked))
    assert (found, gradient[place], hessian[place]) == (0, 0.0, 0.0)


def test_discounts_of_gradients():
    """Which must not rise, and reach the last rank where those beyond the cut-off have theirs."""
    for name in GRADIENTS:
        for discount in ([0.5, 1.0], [0.5, math.nan]):
            assert refused(call(name, **sound(name, k=2, discount=discount)), RANKGAIN_BAD_DISCOUNT)
        full = sound(name, k=2, delta=RANKGAIN_DELTA_FULL, offsets=[0, 0, 3], discount=[1.0, 0.5])
        assert refused(call(name, **full), RANKGAIN_SHORT_DISCOUNT)


def test_inverse_ideals():
    for name in having("inverse_ideal"):
        fault = sound(name, inverse_ideal=math.nan, gains=[1.0, math.nan, 0.0])
        assert refused(call(name, **fault), RANKGAIN_NAN_GRADE)
        assert call(name, **sound(name, inverse_ideal=0.0)) == (0, [0.0] * 3, [0.0] * 3)
        huge = sound(name, gains=[1e308, 0.0, 1.0], inverse_ideal=1e308)
        assert refused(call(name, **huge), RANKGAIN_NOT_FINITE)
    for name in having("inverse_ideals"):
        status, gradient, _ = call(name, **sound(name, inverse_ideals=[math.nan, 1.0]))
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
        assert size >= max(n, less)  # more than a byte a document, or it went round
        assert (less == -1) == (min(n, fewer) < 0 or min(k, earlier) < 1)


@pytest.mark.parametrize("k", [1, 10, HIGHEST])
def test_scratch_size_of_impossible_lists_is_0(k):
    for n in (HIGHEST, HIGHEST - 1, HIGHEST // 8, HIGHEST // 16):
        assert C["scratch_size"](n, k) == -1
    for n in (0, 1, 10_000_000):
        assert C["scratch_size"](n, k) >= 0


@in_one_case("shift", range(64))
def test_scratch_at_any_address(shift):
    """Every function that takes scratch; `call` looks at what is round it."""
    for name in having("scratch"):
        for ties in range(RANKGAIN_AVERAGE, RANKGAIN_STABLE + 1):
            asked = sound(name, ties=ties, k=2)
            assert repr(call(name, shift=shift, **asked)) == repr(call(name, **asked))


# further promises


def test_negative_zeros_are_zeros():
    """-0.0 is no negative grade, and the sum of many is 0.0."""
    for name in ("cg", "dcg", "idcg"):
        status, value = call(name, **{"judged" if name == "idcg" else "relevance": [-0.0, -0.0]})
        assert (status, math.copysign(1.0, value)) == (0, 1.0)


def test_address_of_an_unknown_function_is_rejected():
    for name in ("", "dcg", "rankgain_dgc", "rankgain_import"):
        with pytest.raises(ValueError, match=r"rankgain_dcg\b.*rankgain_ndcg\b"):
            capi.address(name)
