"""The C functions of gradients: the bits of `rg.lambdarank`, and a status for all that is wrong."""

import math
from itertools import pairwise

import numpy as np
import pytest
from support.c_functions import FUNCTIONS, NO_CUTOFF, C, call

import rankgain as rg
from rankgain import capi

ONE, MANY = [[f"lambda_ndcg_{lists}{width}" for width in ("f64", "f32")] for lists in ("", "lists_")]
ALL = [*ONE, *MANY]
DELTAS = {"cut": capi.RANKGAIN_DELTA_CUT, "full": capi.RANKGAIN_DELTA_FULL}
TIES = {"stable": capi.RANKGAIN_STABLE, "average": capi.RANKGAIN_AVERAGE}
NOWHERE = {"gradient": None, "hessian": None}
NORMALIZATIONS = [(), ("score",), ("query",), ("score", "query")]  # in the order of their numbers
SOUND = {"scores": [0.5, 0.5, 0.25], "gains": [1.0, 0.0, 2.0], "inverse_ideal": 0.5, "k": 2}
SOUND |= {"offsets": [0, 2, 3], "inverse_ideals": [0.5, 0.25]}


def sound(name, **changes):
    return {held: value for held, value in SOUND.items() if held in FUNCTIONS[name].parameters} | changes


def refused(answer, status):
    found, *outputs = answer
    return found == status and len(outputs) == 2 and all(np.isnan(held).all() for held in outputs)


@pytest.mark.parametrize("width", ["f64", "f32"])
@pytest.mark.parametrize("normalize", range(4))
def test_the_bits_of_python(backend, width, normalize):
    rng = np.random.default_rng(normalize)
    for case in range(24):
        sizes = rng.integers(0, 12, 4)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        labels, scores = rng.integers(0, 3, offsets[-1]), rng.integers(-4, 4, offsets[-1]) / 4
        k, sigma = int(rng.integers(1, 12)), float(rng.choice([0.5, 1.0]))
        discount, ties = ("cut", "full")[case % 2], ("stable", "average")[case // 2 % 2]
        metric = rg.metric("ndcg", k=k, gain="exponential")
        asked = {"metric": metric, "sigma": sigma, "discount": discount, "ties": ties}
        expected = rg.lambdarank(labels, scores, group_sizes=sizes, normalize=NORMALIZATIONS[normalize], **asked)
        ideals = [rg.idcg(labels[a:b], k=k, gain="exponential") for a, b in pairwise(offsets)]
        inverses = [1 / ideal if ideal else 0.0 for ideal in ideals]
        options = {"k": k, "sigma": sigma, "delta": DELTAS[discount], "ties": TIES[ties]}
        options |= {"normalize": capi.RANKGAIN_NOT_NORMALIZED + normalize, "gains": rg.gain(labels, "exponential")}
        options |= {"discount": [None, rg.discount(12).tolist()][case % 3 == 0]}
        found = call(f"lambda_ndcg_lists_{width}", scores=scores, offsets=offsets, inverse_ideals=inverses, **options)
        assert found == (0, *(result.tolist() for result in expected))
        for query in range(4):
            part = slice(*offsets[query : query + 2])
            own = options | {"gains": options["gains"][part], "inverse_ideal": inverses[query]}
            found = call(f"lambda_ndcg_{width}", scores=scores[part], **own)
            assert found == (0, *(result[part].tolist() for result in expected))


@pytest.mark.parametrize("name", ONE)
def test_every_pair_counts_one(backend, name):
    expected = rg.lambdarank([1, 0, 2], SOUND["scores"], metric="pairwise@2", normalize=None)
    options = {"delta": capi.RANKGAIN_DELTA_ONE, "ties": capi.RANKGAIN_STABLE, "inverse_ideal": 1.0}
    for discount in (None, [], [0.5, 1.0]):  # which is not looked at
        assert call(name, **sound(name, discount=discount, **options)) == (0, *(held.tolist() for held in expected))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"n": -1, "queries": -1} | NOWHERE, capi.RANKGAIN_BAD_LENGTH),
        ({"k": 0}, capi.RANKGAIN_BAD_CUTOFF),
        *(({option: 9}, capi.RANKGAIN_BAD_OPTION) for option in ("delta", "ties", "normalize")),
        ({"ties": capi.RANKGAIN_BEST}, capi.RANKGAIN_BAD_OPTION),
        ({"ties": capi.RANKGAIN_WORST}, capi.RANKGAIN_BAD_OPTION),
        ({"ties": capi.RANKGAIN_WORST, "delta": 67}, capi.RANKGAIN_BAD_OPTION),
        ({"delta": 67}, capi.RANKGAIN_BAD_OPTION),
        ({"normalize": 84}, capi.RANKGAIN_BAD_OPTION),
        *(({"sigma": sigma}, capi.RANKGAIN_BAD_OPTION) for sigma in (0.0, -1.0, math.nan, math.inf, 1e101)),
        ({"discount": [1.0]}, capi.RANKGAIN_SHORT_DISCOUNT),
        ({"discount": [1.0, 0.5], "delta": capi.RANKGAIN_DELTA_FULL, "offsets": [0, 0, 3]}, -5),
        ({"discount": [0.5, 1.0]}, capi.RANKGAIN_BAD_DISCOUNT),
        ({"discount": [0.5, math.nan]}, capi.RANKGAIN_BAD_DISCOUNT),
        ({"discount": None, "n_discount": 3}, capi.RANKGAIN_NULL_POINTER),
    ],
    ids=str,
)
def test_wrong_calls(name, changes, status):
    answer = call(name, **sound(name, **changes))
    assert answer[0] == status
    assert "n" in changes or refused(answer, status)


@pytest.mark.parametrize("name", ALL)
def test_null_pointers(name):
    pointers = [held for held, kind in FUNCTIONS[name].parameters.items() if kind.endswith("*") and held != "discount"]
    lengths = {"n": 3, "queries": 2, "n_discount": 0}
    for pointer in pointers:
        if pointer == "offsets":  # nor does anybody know how many results there would be
            lengths |= NOWHERE
        assert call(name, **sound(name) | lengths | {pointer: None})[0] == capi.RANKGAIN_NULL_POINTER
    nothing = {"n": 0, "queries": 0, "n_discount": 0}
    assert call(name, **sound(name) | nothing | dict.fromkeys(pointers)) == (0,)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("place", range(3))
def test_unsound_data(name, place):
    for held, value, status in (
        ("scores", math.nan, capi.RANKGAIN_NAN_SCORE),
        ("scores", math.inf, capi.RANKGAIN_INFINITE_SCORE),
        ("gains", math.nan, capi.RANKGAIN_NAN_GRADE),
        ("gains", math.inf, capi.RANKGAIN_INFINITE_GRADE),
        ("gains", -1.0, capi.RANKGAIN_NEGATIVE_GRADE),
    ):
        values = [*SOUND[held][:place], value, *SOUND[held][place + 1 :]]
        found, *outputs = call(name, **sound(name, **{held: values}))
        wrong = [True] * 3 if name in ONE else [place < 2, place < 2, place == 2]
        assert found == status
        assert all(np.isnan(output).tolist() == wrong for output in outputs)
    masked = [*SOUND["scores"][:place], -math.inf, *SOUND["scores"][place + 1 :]]
    found, gradient, hessian = call(name, **sound(name, scores=masked))
    assert (found, gradient[place], hessian[place]) == (0, 0.0, 0.0)


def test_inverse_ideals():
    for inverse in (math.nan, -1.0, math.inf):
        for name in ONE:
            assert refused(call(name, **sound(name, inverse_ideal=inverse)), capi.RANKGAIN_BAD_OPTION)
            both = sound(name, inverse_ideal=inverse, gains=[1.0, math.nan, 0.0])
            assert refused(call(name, **both), capi.RANKGAIN_NAN_GRADE)
    for name in MANY:
        status, gradient, _ = call(name, **sound(name, inverse_ideals=[math.nan, 1.0]))
        assert status == capi.RANKGAIN_BAD_OPTION
        assert np.isnan(gradient).tolist() == [True, True, False]
    for name in ONE:
        assert call(name, **sound(name, inverse_ideal=0.0)) == (0, [0.0] * 3, [0.0] * 3)
        huge = sound(name, gains=[1e308, 0.0, 1.0], inverse_ideal=1e308)
        assert refused(call(name, **huge), capi.RANKGAIN_NOT_FINITE)


def test_offsets():
    for offsets in ([1, 0, 3], [0, 3, 2], [-1, 0, 3]):
        for name in MANY:
            assert call(name, **sound(name, offsets=offsets), **NOWHERE)[0] == capi.RANKGAIN_BAD_LENGTH


def test_scratch_size():
    size = C["lambda_scratch_size"]
    assert [size(n) for n in (-1, NO_CUTOFF, NO_CUTOFF // 16)] == [-1, -1, -1]
    assert 0 < size(0) < size(1) < size(10_000_000)


@pytest.mark.parametrize("shift", range(0, 64, 3))
def test_scratch_at_any_address(shift):
    for name in ALL:
        for ties in TIES.values():
            assert call(name, shift=shift, **sound(name, ties=ties)) == call(name, **sound(name, ties=ties))
