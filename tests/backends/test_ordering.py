"""Long lists are ordered as in the reference at every CPU level, whatever the distribution of the scores."""

import os
import platform
import re
import subprocess
import sys
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import TESTS
from support.engine import found_in_lists
from support.marks import quick_first
from support.shapes import LABELS, SHAPES

import rankgain as rg
from rankgain._codes import NAN_SCORE, UNLIMITED
from rankgain._reference import walk as _reference_walk
from rankgain._reference.lists import grade_error
from rankgain.scalars import NON_RELEVANT

pytestmark = pytest.mark.both


@pytest.fixture(params=["baseline", "avx2"])
def compiled(request):
    kernels = import_module("rankgain._compiled.walk")
    # if the CPU lacks this level, the reference is compared with itself
    yield _reference_walk if kernels.use_cpu(request.param) is None else kernels
    kernels.use_cpu(None)


def check_equal(compiled, *arguments, **options):
    """Check that the compiled code and the reference find the same hits, or else name the first value that differs."""
    result, expected = (found_in_lists(engine, *arguments, **options) for engine in (compiled, _reference_walk))
    for name in result if type(result) is type(expected) is dict else ():
        for position, (value, other) in enumerate(zip(result[name], expected[name], strict=False)):
            assert value == other, f"{name} {position}: compiled {value}, reference {other}, with {options}"
    assert result == expected, options


TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]


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
def test_order_equals_the_reference(compiled, seed, sizes, shape, score_type, labels, grade_type, depth, zeros, stable):
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(sizes))
    with np.errstate(all="ignore"):
        scores = np.concatenate([SHAPES[shape](rng, n)[:n] for n in sizes if n] or [np.empty(0)]).astype(score_type)
    scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf) if scores.dtype.kind == "f" else scores
    grades = LABELS[labels](rng, len(scores)).astype(grade_type)
    options = {"depth": depth, "judged_depth": depth, "lowest": NON_RELEVANT if zeros else 0.0}
    check_equal(compiled, grades, scores, offsets, ties="stable" if stable else "average", **options)


@given(st.integers(1, 1500), st.integers(0, 1499), st.sampled_from([1, 10, 150, UNLIMITED]), st.booleans())
def test_finds_the_first_nan(compiled, n, position, depth, again):
    scores, position = np.random.default_rng(n).random(n), position % n
    scores[position] = np.nan
    if again:
        scores[position:] = np.nan
    arguments = np.ones(n), scores, np.array([0, n])
    result = found_in_lists(compiled, *arguments, depth=depth)
    assert result == found_in_lists(_reference_walk, *arguments, depth=depth) == (NAN_SCORE, 0, position, -1)


@example(1500, 740, np.nan, np.float64)  # a position in the second block of the list
@example(1500, 1499, -1, np.int32)
@given(st.integers(1, 1500), st.integers(0, 1499), st.sampled_from([-1, np.nan, np.inf, -0.5]), st.sampled_from(TYPES))
def test_finds_the_first_invalid_grade(compiled, n, position, fault, dtype):
    if np.dtype(dtype).kind != "f":
        fault = -1
    if dtype == np.uint8:
        return
    grades = np.random.default_rng(n).integers(0, 9, n).astype(dtype)
    grades[position % n] = fault
    offsets = np.array([0, n // 2, n])
    expected = grade_error(grades, offsets)
    assert expected
    assert import_module("rankgain._compiled.walk").grade_error(grades, offsets) == expected
    for scores in (None, np.ones(n)):
        assert found_in_lists(compiled, grades, scores, offsets, judged_depth=10) == (*expected, -1)


@pytest.mark.parametrize("depth", quick_first([10, 1, 150]))
@pytest.mark.parametrize("shape", ["random", "rising", "falling", "organ pipe", "few values"])
def test_order_of_few_ranks_of_a_long_list(compiled, shape, depth):
    """The order is correct even if the threshold is badly estimated from the first scores, as for rising scores."""
    rng = np.random.default_rng(depth)
    n = 60_000
    scores, grades = SHAPES[shape](rng, n), (rng.random(n) < 0.3).astype(float)
    # All these ranks have hits, so that a missing last rank is noticed.
    grades[np.argsort(-scores, kind="stable")[:depth]] = 1.0
    check_equal(compiled, grades, scores, np.array([0, n]), depth=depth, lowest=0.0)


@pytest.mark.parametrize("n", range(301, 309))
def test_order_of_few_hits_in_a_large_tie_group(compiled, n):
    """Each hit is preceded by enough equal scores to fill several vector registers and part of another."""
    grades = (np.arange(n) % 43 > 40).astype(float)
    check_equal(compiled, grades, np.zeros(n), np.array([0, n]), ties="stable", lowest=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize(
    ("shape", "n"),
    [
        *dict.fromkeys(["random", "a third tied", "one far away", "padded", "subnormal of both signs"], 30_000).items(),
        # Splitting by scores, or by the bits of the scores, leaves most documents in one part.
        ("nine of ten tied", 80_000),
    ],
)
def test_order_of_more_relevant_documents_than_the_small_table_holds(compiled, shape, n, ties):
    rng = np.random.default_rng(7)
    check_equal(compiled, rng.integers(0, 3, n), SHAPES[shape](rng, n), np.array([0, n]), ties=ties, lowest=0.0)


EDGES = {
    "one value": lambda n: np.ones(n),
    "more above behind": lambda n: np.where(np.arange(n) % (n // 12) == n // 12 - 1, 2.0, 1.0),
    "every second is finite": lambda n: np.where(np.arange(n) % 2, np.arange(n) * 0.7 % 1, -np.inf),
    "hardly any is finite": lambda n: np.where(np.arange(n) % 2000 == 7, 1.0, -np.inf),
    "infinite": lambda n: np.where(np.arange(n) % 3, np.inf, 0.0),
    "few among many below": lambda n: np.where(np.arange(n) % 80 == 7, 1.0, np.arange(n) / -n),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("dtype", quick_first(TYPES))
@pytest.mark.parametrize("levels", quick_first([5, 2, 200]))
@pytest.mark.parametrize("ties", quick_first(["average", "stable"]))
def test_order_of_a_large_tie_group_at_the_depth(compiled, edge, dtype, levels, ties):
    """Hits in the tie group at the depth are counted by grade, or sorted if there are too many grades."""
    rng = np.random.default_rng(levels)
    n = 40_000
    scores, grades = EDGES[edge](n), (rng.integers(0, levels, n) * (rng.random(n) < 0.4)).astype(dtype)
    for depth, lowest in ((10, 0.0), (100, 0.0), (10, NON_RELEVANT)):
        check_equal(compiled, grades, scores, np.array([0, 7, n]), ties=ties, depth=depth, lowest=lowest)


@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize(
    ("n", "hits", "depth"), quick_first([(300, 40, 150), (120, 30, 20), (250, 100, 90), (30_000, 20_000, 9_000)], 3)
)
def test_hits_beyond_the_depth(compiled, n, hits, depth, ties):
    """Every ranking method handles hits beyond the depth, even if no scores were cut off before."""
    rng = np.random.default_rng(n)
    for scores in (rng.random(n), rng.integers(0, n // 3, n).astype(float)):
        for ended in range(depth, depth + 3):
            check_equal(
                compiled,
                (np.arange(n) < hits).astype(float),
                scores,
                np.array([0, n]),
                ties=ties,
                depth=ended,
                lowest=0.0,
            )


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=TESTS,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
def test_order_reads_no_uninitialised_scratch():
    """Scores without a hit are sorted after all hits, even if newly allocated memory is not filled with zeros."""
    code = """
import numpy as np, rankgain._compiled.walk as kernels
from support.engine import found_in_lists
n, m = 60, 52
grades, scores = np.repeat([1.0, 0.0], [m, n - m]), -np.arange(n, dtype=float)
scores[m:] = -np.inf
for ties in ("average", "stable"):
    found = found_in_lists(kernels, grades, scores, np.array([0, n]), depth=1000, lowest=0.0, ties=ties)
    print(found["first"] == list(range(1, m + 1)))
"""
    for fill in ("85", "1", "165"):
        assert run(code, MALLOC_PERTURB_=fill) == ("True\nTrue", "")


@pytest.mark.parametrize("dtype", quick_first(TYPES))
@pytest.mark.parametrize(
    "sizes", quick_first([[4, 0, 4, 4] * 5, [1] * 3, [9] * 40, [3, 300, 7, 5] * 9, range(1, 60)], 2)
)
def test_order_of_many_lists_equals_that_of_each(compiled, sizes, dtype):
    """Lists that are evaluated together have the same values and raise the same errors as when evaluated one by one.

    Some lists contain an unusually large grade, an invalid grade, or an integer that float64 cannot represent.
    """
    rng = np.random.default_rng(11)
    lists = [rng.integers(0, 8, size).astype(dtype) for size in sizes]
    check_each_alone(lists)
    for odd, position in product((77, 2**53 + 1, -1), (0, 2, -1)):
        changed = [relevance.copy() for relevance in lists]
        broken = changed[len(lists) * 2 // 3]
        with np.errstate(all="ignore"):
            broken[position % max(len(broken), 1) :][:1] = np.array([odd]).astype(dtype)
        check_each_alone(changed)


def check_each_alone(lists):
    """Check that lists evaluated together have the same values as alone; one list is too long for the fast path."""
    lists = [np.zeros(1100, lists[0].dtype), *lists]
    judged = [np.append(relevance, [7, 6, 1, 0]).astype(relevance.dtype) for relevance in lists]
    settings = [{}, {"k": 3}, {"gain": "exponential"}, {"k": 3, "discount": [1.0, 0.5, 0.25]}]
    calls = [*product([rg.dcg, rg.idcg, rg.ndcg], settings), *product([rg.reciprocal_rank], settings[:2])]
    for function, options in [*calls, (rg.ndcg, {"k": 9, "ideal": "returned", "judged": judged})]:
        alone = []
        try:
            for query, relevance in enumerate(lists):
                of_query = {"judged": judged[query]} if "judged" in options else {}
                alone.append(function(relevance, **options | of_query))
        except ValueError as error:
            reason = re.escape(str(error).rpartition(": ")[2])
            with pytest.raises(ValueError, match=rf"query {len(alone)}\b.*{reason}$"):
                function(lists, **options)
        else:
            assert function(lists, **options).tolist() == alone


def test_loops_use_vector_instructions():
    """Every compiler, including MSVC in the Windows job, compiles the loops to vector instructions."""
    code = "from rankgain import _backend; from rankgain._compiled import walk; print(_backend.cpu, walk.lanes())"
    lanes = 2 if platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64") else 1
    assert run(code, RANKGAIN_CPU="baseline")[0] == f"baseline {lanes}"
    assert run(code, RANKGAIN_CPU="")[0] in (f"baseline {lanes}", "avx2 4")


def test_environment_rejects_unknown_cpu_levels():
    printed = run("import rankgain", RANKGAIN_CPU="avx512")[1]
    assert printed.rstrip().endswith("RANKGAIN_CPU must be baseline, or avx2 on a CPU that has it, not 'avx512'")
