"""The ordering of long lists on every level of CPU: equal to the reference, whatever the scores look like."""

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankgain import _backend, _reference_ordering
from rankgain._codes import UNLIMITED
from rankgain.batch import Hits

pytestmark = pytest.mark.both


@pytest.fixture(params=["baseline", "avx2"])
def ordering(request):
    kernels = import_module("rankgain._kernels")
    if kernels.use_cpu(request.param) is None:
        kernels = _reference_ordering  # a CPU without that level has nothing to compare
    yield kernels
    _backend.ordering.use_cpu(None)


def organ_pipe(rng, n):
    return np.minimum(np.arange(n), np.arange(n)[::-1]).astype(float)


SHAPES = {
    "random": lambda rng, n: rng.random(n),
    "equal": lambda rng, n: np.full(n, 0.5),
    "a third tied": lambda rng, n: np.where(rng.random(n) < 1 / 3, np.round(rng.random(n), 1), rng.random(n)),
    "few values": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "rising": lambda rng, n: np.arange(n, dtype=float),
    "falling": lambda rng, n: -np.arange(n, dtype=float),
    "organ pipe": organ_pipe,
    "padded": lambda rng, n: np.where(rng.random(n) < 0.7, -np.inf, rng.random(n)),
    "both infinities": lambda rng, n: rng.choice([np.inf, -np.inf, 0.0, -0.0, 1.0], n),
    "one far away": lambda rng, n: np.append(rng.random(n - 1), 1e300),
    "wider than a double": lambda rng, n: rng.choice([1.7e308, -1.7e308, 0.0], n) * rng.random(n),
    "subnormal": lambda rng, n: rng.integers(0, 50, n) * 5e-324,
    "heavy tail": lambda rng, n: rng.random(n) ** -30.0,
    "subnormal of both signs": lambda rng, n: rng.integers(0, 50, n) * rng.choice([5e-324, -5e-324], n),
}
LABELS = {
    "a tenth": lambda rng, n: rng.integers(1, 5, n) * (rng.random(n) < 0.1),
    "all": lambda rng, n: rng.integers(1, 5, n),
    "none": lambda rng, n: np.zeros(n),
    "up to 63": lambda rng, n: rng.integers(0, 64, n),
    "large": lambda rng, n: rng.integers(0, 200, n),
    "halves": lambda rng, n: rng.integers(0, 9, n) / 2,
}
TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]


def hits(ordering, scores, grades, offsets, depth, zeros, stable):
    room = Hits(len(offsets) - 1, len(grades))
    assert not ordering.hits_scored(
        scores, grades, offsets, depth, zeros, stable, room.offsets, room.grade, room.first, room.last
    )
    count = room.offsets[-1]
    return room.offsets.tolist(), *(part[:count].tolist() for part in (room.grade, room.first, room.last))


def judged(ordering, grades, offsets, depth):
    found = np.empty(len(offsets), np.int64), np.empty(len(grades)), np.empty(len(grades), np.int64)
    assert not ordering.judged_grades(grades, offsets, depth, *found)
    count = found[0][-1]
    return found[0].tolist(), found[1][:count].tolist(), found[2][:count].tolist()


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 130) | st.integers(0, 1500), min_size=1, max_size=3),
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.sampled_from(sorted(LABELS)),
    st.sampled_from(TYPES),
    st.integers(1, 200) | st.just(UNLIMITED),
    st.booleans(),
    st.booleans(),
)
def test_equals_the_reference(ordering, seed, sizes, shape, score_type, labels, grade_type, depth, zeros, stable):
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(sizes))
    with np.errstate(all="ignore"):
        scores = np.concatenate([SHAPES[shape](rng, n)[:n] for n in sizes if n] or [np.empty(0)]).astype(score_type)
    scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf) if scores.dtype.kind == "f" else scores
    grades = LABELS[labels](rng, len(scores)).astype(grade_type)
    arguments = scores, grades, offsets, depth, zeros, stable
    assert hits(ordering, *arguments) == hits(_reference_ordering, *arguments)
    assert judged(ordering, grades, offsets, depth) == judged(_reference_ordering, grades, offsets, depth)


@given(st.integers(1, 1500), st.integers(0, 1499), st.sampled_from([1, 10, 150, UNLIMITED]), st.booleans())
def test_finds_the_first_nan(ordering, n, position, depth, again):
    scores, position = np.random.default_rng(n).random(n), position % n
    scores[position] = np.nan
    if again:
        scores[position:] = np.nan
    room = Hits(1, n)
    offsets, grades = np.array([0, n]), np.ones(n)
    arguments = scores, grades, offsets, depth, False, False, room.offsets, room.grade, room.first, room.last
    assert ordering.hits_scored(*arguments) == _reference_ordering.hits_scored(*arguments)


@example(1500, 740, np.nan, np.float64)  # in the second block of a list
@example(1500, 1499, -1, np.int32)
@given(st.integers(1, 1500), st.integers(0, 1499), st.sampled_from([-1, np.nan, np.inf, -0.5]), st.sampled_from(TYPES))
def test_finds_the_first_fault_of_a_grade(ordering, n, position, fault, dtype):
    if np.dtype(dtype).kind != "f":
        fault = -1
    if dtype == np.uint8:
        return
    grades = np.random.default_rng(n).integers(0, 9, n).astype(dtype)
    grades[position % n] = fault
    offsets = np.array([0, n // 2, n])
    found = np.empty(3, np.int64), np.empty(n), np.empty(n, np.int64)
    expected = _reference_ordering.grade_fault(grades, offsets)
    assert expected
    assert ordering.grade_fault(grades, offsets) == expected
    assert ordering.judged_grades(grades, offsets, 10, *found) == expected


@pytest.mark.parametrize("depth", [1, 10, 150])
@pytest.mark.parametrize("shape", ["random", "rising", "falling", "organ pipe", "few values"])
def test_long_lists_of_which_little_is_wanted(ordering, shape, depth):
    """The first scores say where the highest begin, and in those that rise they say it wrongly."""
    rng = np.random.default_rng(depth)
    n = 60_000
    scores, grades = SHAPES[shape](rng, n), (rng.random(n) < 0.3).astype(float)
    arguments = scores, grades, np.array([0, n]), depth, False, False
    assert hits(ordering, *arguments) == hits(_reference_ordering, *arguments)


def test_more_relevant_than_fit_in_a_small_table(ordering):
    rng = np.random.default_rng(7)
    n = 30_000
    offsets = np.array([0, n])
    for stable in (False, True):
        for shape in ("random", "a third tied", "one far away", "padded", "subnormal of both signs"):
            arguments = SHAPES[shape](rng, n), rng.integers(0, 3, n), offsets, UNLIMITED, False, stable
            assert hits(ordering, *arguments) == hits(_reference_ordering, *arguments)


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip(), done.stderr


def test_nothing_is_read_that_was_not_written():
    """Scores that no hit has end after all the hits; fresh memory is not 0 here, as it mostly is by chance."""
    code = """
import numpy as np, rankgain._kernels as ordering
n, m = 60, 52
grades, scores = np.repeat([1.0, 0.0], [m, n - m]), -np.arange(n, dtype=float)
scores[m:] = -np.inf
room = np.zeros(2, np.int64), np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
for stable in (False, True):
    ordering.hits_scored(scores, grades, np.array([0, n]), 1000, False, stable, *room)
    print(room[2][:m].tolist() == list(range(1, m + 1)))
"""
    for fill in ("85", "1", "165"):
        assert run(code, MALLOC_PERTURB_=fill) == ("True\nTrue", "")


def test_level_is_chosen_by_the_environment():
    code = "from rankgain import _backend; print(_backend.cpu)"
    assert run(code, RANKGAIN_CPU="baseline")[0] == "baseline"
    assert run(code, RANKGAIN_CPU="")[0] in ("baseline", "avx2")
    assert (
        run(code, RANKGAIN_CPU="avx512")[1]
        .rstrip()
        .endswith("RANKGAIN_CPU must be baseline, or avx2 on a CPU that has it, not 'avx512'")
    )
