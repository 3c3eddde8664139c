"""The C functions return the same bits as the Python functions, or the status for the error that Python raises."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies
from support.c_functions import NO_CUTOFF, C, call
from support.marks import in_one_case, quick_first
from support.shapes import LABELS, SHAPES

import rankgain as rg
from rankgain import _codes, capi, errors

GAINS = ["linear", "exponential"]
NAMED = [(capi.RANKGAIN_LOG2, "log2"), (capi.RANKGAIN_JARVELIN, "jarvelin:{base}"), (capi.RANKGAIN_ZIPF, "zipf")]
IDEALS = {capi.RANKGAIN_JUDGED: "judged", capi.RANKGAIN_RETURNED: "returned"}
TIES = {name: getattr(capi, f"RANKGAIN_{name.upper()}") for name in ("average", "best", "worst", "stable")}
SHORT_DISCOUNT = -5
# Maps the text of each Python error to the status in C.
WORDS = {errors._TEXTS[code][1]: code for code in range(1, _codes.ABOVE_IDEAL + 1)}
WORDS["; give a longer discount or a smaller k"] = SHORT_DISCOUNT


def python(function, *args, **options):
    """Return the expected result of a C function: (0, value), or (status, NaN) if Python raises an error."""
    try:
        return 0, function(*args, **options)
    except ValueError as error:
        return next(status for text, status in WORDS.items() if str(error).endswith(text)), math.nan


def same(actual, expected):
    return repr(tuple(actual)) == repr(tuple(expected))  # NaN equals NaN, but −0.0 differs from 0.0


def equals_python(name, expected, **arguments):
    """Return whether C and Python agree; if there are several errors, they may report different ones.

    C reports an error in the discount first, and then one in the returned grades. Python reports an error in the judged
    grades first, and one in the discount last.
    """
    result = call(name, **arguments)
    if not result[0] or result[0] == expected[0] or not expected[0]:
        return same(result, expected)
    options = arguments | {"discount": [1.0] * 100}
    single_faults = [(name, options)]  # calls without the error that C reported
    if name == "ndcg":
        judged = {"judged": arguments["judged"], "stride": arguments["judged_stride"]}
        single_faults.append(("idcg", judged | {option: options[option] for option in ("k", "gain", "discount")}))
    return any(same(call(other, **given), expected) for other, given in single_faults)


# strategies for arguments, in the forms that C and Python accept

grades = st.lists(strategies.grades, max_size=8)
faults = st.sampled_from([math.nan, math.inf, -math.inf, -1.0, 1023.0, 1024.0, 1e307, 1.7e308])
grades_with_faults = st.one_of(grades, grades, grades, st.lists(strategies.grades | faults, max_size=8))
strides = st.sampled_from([1, 1, 2, 3, -1, -2, 0])
cutoffs = st.sampled_from([NO_CUTOFF, NO_CUTOFF - 1, 2**40]) | st.integers(1, 12)
rels = st.sampled_from([math.nan, 0.0, -0.0, -2.5, 0.5, 1.0, 2.0, 5e-324])


def depth(k):
    """Return the cut-off for Python, which accepts at most 2**48."""
    return None if k > 2**48 else k


def threshold(rel):
    return None if math.isnan(rel) else rel


def repeated(values, stride):
    """Return the list that C reads: with stride 0, the first number is repeated."""
    return values if stride else values[:1] * len(values)


@st.composite
def discounts(draw, most):
    """Draw a discount, as passed to C and to Python; occasionally it is one rank too short."""
    kind = draw(st.none() | strategies.discounts)
    if kind is None:
        return None, "log2"
    ranks = max(0, most + draw(st.sampled_from([0, 1, 5, -1])))
    if isinstance(kind, str):
        vector = rg.discount(ranks, kind).tolist()
        return vector, kind if ranks >= most else vector
    return kind[:ranks], kind[:ranks]


# gain and discount


@given(grades_with_faults, st.sampled_from([0, 1]))
def test_gain_equals_python(backend, values, kind):
    """Gains before the first invalid grade are written, and NaN is written from there on."""
    n_valid = next((n for n in range(len(values)) if python(rg.gain, values[: n + 1], GAINS[kind])[0]), len(values))
    expected, _ = python(rg.gain, values[: n_valid + 1], GAINS[kind])
    status, gains = call("gain", kind=kind, grades=values)
    in_place = np.array(values, float)  # `gains` may be the same array as `grades`
    assert status == C["gain"](kind, in_place.ctypes.data, len(in_place), in_place.ctypes.data) == expected
    assert same(gains, in_place.tolist())
    assert same(in_place[:n_valid].tolist(), rg.gain(values[:n_valid], GAINS[kind]).tolist())
    assert np.isnan(in_place[n_valid:]).all()


@given(st.integers(0, 40), st.sampled_from(NAMED), st.floats(1.0001, 1e6))
def test_discount_equals_python(backend, n, kind, base):
    status, discounts = call("discount", kind=kind[0], base=base, n=n)
    assert status == 0
    assert same(discounts, rg.discount(n, kind[1].format(base=base)).tolist())


@pytest.mark.slow
def test_discount_of_deep_ranks(backend):
    """Discounts agree beyond the precomputed table, for ranks below and above the base of the logarithm."""
    n = 66_000
    for kind, name in NAMED:
        assert call("discount", kind=kind, base=65537.0, n=n)[1] == rg.discount(n, name.format(base=65537)).tolist()


# functions of one list


@given(st.data(), grades_with_faults, strides, cutoffs, st.sampled_from([0, 1]))
def test_sums_equal_python(backend, data, values, stride, k, gain):
    values = repeated(values, stride)
    discount, kind = data.draw(discounts(len(values)))
    arguments = {"stride": stride, "k": k, "gain": gain}
    options = {"k": depth(k), "gain": GAINS[gain]}
    assert same(call("cg", relevance=values, **arguments), python(rg.cg, values, **options))
    arguments, options = arguments | {"discount": discount}, options | {"discount": kind}
    assert equals_python("dcg", python(rg.dcg, values, **options), relevance=values, **arguments)
    assert equals_python("idcg", python(rg.idcg, values, **options), judged=values, **arguments)


@given(
    st.data(),
    grades_with_faults,
    st.none() | grades_with_faults,
    strides,
    strides,
    cutoffs,
    st.sampled_from([0, 1]),
    st.sampled_from(list(IDEALS)),
    strategies.empties,
)
def test_ndcg_equals_python(backend, data, values, judged, stride, judged_stride, k, gain, ideal, empty):
    values = repeated(values, stride)
    judged = repeated(values if judged is None else judged, judged_stride)
    discount, kind = data.draw(discounts(max(len(values), len(judged))))
    options = {"k": depth(k), "gain": GAINS[gain], "ideal": IDEALS[ideal], "discount": kind, "empty": empty}
    assert equals_python(
        "ndcg",
        python(rg.ndcg, values, judged=judged, **options),
        relevance=values,
        stride=stride,
        judged=judged,
        judged_stride=judged_stride,
        k=k,
        gain=gain,
        ideal=ideal,
        discount=discount,
        empty=empty,
    )


@given(grades, st.permutations(range(8)), cutoffs, st.sampled_from([0, 1]), strategies.empties)
def test_ndcg_without_judged_uses_the_list_as_judged(backend, values, order, k, gain, empty):
    """Judged grades are given in another order, so their sums may round differently, but no nDCG exceeds 1."""
    judged = [values[position] for position in order if position < len(values)]
    result = call("ndcg", relevance=values, judged=judged, k=k, gain=gain, empty=empty)
    assert same(result, python(rg.ndcg, values, k=depth(k), gain=GAINS[gain], empty=empty))


@given(grades_with_faults, strides, cutoffs, rels)
def test_reciprocal_rank(backend, values, stride, k, rel):
    values = repeated(values, stride)
    result = call("reciprocal_rank", relevance=values, stride=stride, k=k, rel=rel)
    assert same(result, python(rg.reciprocal_rank, values, k=depth(k), rel=threshold(rel)))


@pytest.mark.parametrize("n", quick_first([0, 1, 65, 1025, 70_000], 4))
@in_one_case("k", [1, 64, 65_537, NO_CUTOFF])
def test_long_lists_equal_python(backend, n, k):
    """The functions agree on lists too long for scratch on the stack, for the fast path, or for the discount table."""
    values = np.random.default_rng(n).integers(0, 6, n).astype(float)
    for stride in (1, -2):
        arguments, options = {"stride": stride, "k": k}, {"k": depth(k)}
        assert same(call("dcg", relevance=values, **arguments), python(rg.dcg, values, **options))
        assert same(call("idcg", judged=values, **arguments), python(rg.idcg, values, **options))
        arguments |= {"judged_stride": 3}
        assert same(call("ndcg", relevance=values, judged=values, **arguments), python(rg.ndcg, values, **options))
        rel = float(values.max(initial=0.0))
        result = call("reciprocal_rank", relevance=values, stride=stride, k=k, rel=rel)
        assert same(result, python(rg.reciprocal_rank, values, rel=rel, **options))


# functions of many lists


@st.composite
def ragged(draw, queries):
    """Draw lists, and return them with their concatenation and offsets.

    Sometimes unused numbers precede the first list.
    """
    lists = [draw(grades_with_faults) for _ in range(queries)]
    ahead = draw(st.integers(0, 3))
    offsets = [ahead, *(ahead + sum(map(len, lists[: query + 1])) for query in range(queries))]
    return lists, [math.nan] * ahead + [grade for one in lists for grade in one], offsets


def each(name, lists, **options):
    """Return the expected result of a function of many lists: the first error status, or 0, and all values."""
    results = [call(name, **one, **options) for one in lists]
    return next((status for status, _ in results if status), 0), [value for _, value in results]


@given(
    st.data(), st.integers(0, 10), cutoffs, st.sampled_from([0, 1]), st.sampled_from(list(IDEALS)), strategies.empties
)
def test_many_lists_equal_python(data, queries, k, gain, ideal, empty):
    lists, values, offsets = data.draw(ragged(queries))
    judged, judged_values, judged_offsets = data.draw(st.just((lists, values, offsets)) | ragged(queries))
    single_lists = [{"relevance": one} for one in lists]
    arguments = {"relevance": values, "offsets": offsets, "k": k}
    for rel in (math.nan, 2.0):
        expected = each("reciprocal_rank", single_lists, k=k, rel=rel)
        assert same(call("reciprocal_rank_lists", rel=rel, **arguments), expected)
    assert same(call("cg_lists", gain=gain, **arguments), each("cg", single_lists, k=k, gain=gain))
    discount, _ = data.draw(discounts(max(map(len, lists + judged), default=0)))
    options = {"k": k, "gain": gain, "discount": discount}
    assert same(call("dcg_lists", **arguments | options), each("dcg", single_lists, **options))
    result = call("idcg_lists", judged=values, offsets=offsets, **options)
    assert same(result, each("idcg", [{"judged": one} for one in lists], **options))
    options |= {"ideal": ideal, "empty": empty}
    result = call("ndcg_lists", judged=judged_values, judged_offsets=judged_offsets, **arguments | options)
    pairs = [{"relevance": one, "judged": other} for one, other in zip(lists, judged, strict=True)]
    assert same(result, each("ndcg", pairs, **options))


@pytest.mark.slow
def test_lists_without_a_value_do_not_affect_others():
    """A few lists with invalid grades do not affect the values of hundreds of other lists."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 60, 700) * (rng.random(700) < 0.9)
    offsets = np.append(0, np.cumsum(sizes))
    values = rng.integers(0, 4, offsets[-1]) / 2
    values[rng.integers(0, len(values), 5)] = [math.nan, math.inf, -1.0, 1e308, 2000.0]
    lists = np.split(values, offsets[1:-1])
    for k, gain in ((NO_CUTOFF, 0), (7, 0), (7, 1)):
        arguments = {"k": k, "gain": gain}
        result = call("dcg_lists", relevance=values, offsets=offsets, **arguments)
        assert same(result, each("dcg", [{"relevance": one} for one in lists], **arguments))
        result = call(
            "ndcg_lists", relevance=values, offsets=offsets, judged=values, judged_offsets=offsets, **arguments
        )
        assert same(result, each("ndcg", [{"relevance": one, "judged": one} for one in lists], **arguments))


# functions of scores

WIDTHS = {"f64": np.float64, "f32": np.float32}


@pytest.fixture(params=WIDTHS)
def width(request):
    return request.param


def sorted_by_python(scores, labels, k, ties):
    """Return the order of the documents, and the first and last rank of each document's tie group."""
    key = {"best": lambda i: (-scores[i], -labels[i]), "worst": lambda i: (-scores[i], labels[i])}
    order = sorted(range(len(scores)), key=key.get(ties, lambda i: -scores[i]))[:k]
    if ties != "average":
        ranks = list(range(1, len(order) + 1))
        return order, ranks, ranks
    falling = np.sort(np.negative(scores) + 0.0)
    keys = np.negative(np.asarray(scores)[order]) + 0.0
    return order, (np.searchsorted(falling, keys) + 1).tolist(), np.searchsorted(falling, keys, side="right").tolist()


def check_order(width, scores, labels, k, ties, **strides):
    scores = np.asarray(scores, WIDTHS[width]).astype(float)
    result = call(f"order_{width}", scores=scores, labels=labels, k=k, ties=TIES[ties], **strides)
    assert result == (0, *sorted_by_python(scores.tolist(), labels, k, ties))
    if ties in ("average", "stable"):
        alone = call(f"order_{width}", scores=scores, labels=None, k=k, ties=TIES[ties], first=None, **strides)
        assert alone == (0, result[1], result[3])
    else:
        alone = call(
            f"order_{width}", scores=scores, labels=labels, k=k, ties=TIES[ties], first=None, last=None, **strides
        )
        assert alone == (0, result[1])


@given(strategies.documents(most=10), strides, strides, cutoffs, st.sampled_from(list(TIES)))
def test_order_equals_the_reference(width, documents, stride, labels_stride, k, ties):
    labels = repeated([float(grade) for grade, _ in documents], labels_stride)
    scores = repeated([score for _, score in documents], stride)
    check_order(width, scores, labels, k, ties, stride=stride, labels_stride=labels_stride)


@st.composite
def long_lists(draw):
    """Draw scores, labels and a cut-off, with many or few hits; the cut-off may be early, late or absent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([1, 2, 33, 64, 129, 300, 1500, 3000]))
    with np.errstate(all="ignore"):
        scores = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n)[:n]
    scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)
    labels = LABELS[draw(st.sampled_from(sorted(LABELS)))](rng, n).astype(float)
    return scores, labels, draw(st.sampled_from([1, 10, max(1, n // 8), n, NO_CUTOFF]))


@pytest.fixture(autouse=True)
def ignore_overflow():
    with np.errstate(over="ignore"):  # when float64 scores are converted to float32
        yield


@given(long_lists(), st.sampled_from(list(TIES)))
def test_order_of_long_lists(cpu, width, documents, ties):
    scores, labels, k = documents
    check_order(width, scores, labels.tolist(), k, ties)


def check_from_scores(width, scores, labels, k, ties, gain, discount, rel, empty, **strides):
    discount, kind = discount
    scores = np.asarray(scores, WIDTHS[width])
    rankings = rg.from_scores(np.asarray(labels, float), scores, ties=ties)
    sums = {"k": depth(k), "gain": GAINS[gain], "discount": kind}
    metrics = {
        "dcg": rg.metric("dcg", **sums),
        "ndcg": rg.metric("ndcg", empty=empty, **sums),
        "reciprocal_rank": rg.metric("rr", k=depth(k), rel=threshold(rel), empty=empty),
    }
    arguments = {"scores": scores, "labels": labels, "k": k, "ties": TIES[ties], "empty": empty, "rel": rel}
    arguments |= {"gain": gain, "discount": discount} | strides
    for name, metric in metrics.items():
        result = call(f"{name}_from_scores_{width}", **arguments)
        expected = python(lambda metric: float(rankings.evaluate(metric)[metric][0]), metric)
        if expected[0]:  # if there are several errors, C and Python may report different ones
            assert result[0]
            assert math.isnan(result[1])
        else:
            assert same(result, expected)


@given(
    st.data(),
    strategies.documents(most=10),
    st.lists(st.tuples(st.integers(0, 9), faults, st.sampled_from([0.0, math.nan])), max_size=1),
    strides,
    strides,
    cutoffs,
    st.sampled_from(list(TIES)),
    st.sampled_from([0, 1]),
    rels,
    strategies.empties,
)
def test_from_scores_equals_python(
    backend, width, data, documents, fault, stride, labels_stride, k, ties, gain, rel, empty
):
    documents[:] = [*documents[: fault[0][0]], fault[0][1:], *documents[fault[0][0] :]] if fault else documents
    labels = repeated([float(grade) for grade, _ in documents], labels_stride)
    scores = repeated([score for _, score in documents], stride)
    discount = data.draw(discounts(len(documents)))
    strides = {"stride": stride, "labels_stride": labels_stride}
    check_from_scores(width, scores, labels, k, ties, gain, discount, rel, empty, **strides)


@given(long_lists(), st.sampled_from(list(TIES)), st.sampled_from([0, 1]), rels)
def test_from_scores_of_long_lists(backend, cpu, width, documents, ties, gain, rel):
    scores, labels, k = documents
    check_from_scores(width, scores, labels, k, ties, gain, (None, "log2"), rel, 0.25)


def test_without_the_compiled_backend():
    """The C functions work even if RANKGAIN_BACKEND selects plain Python."""
    code = """
import ctypes, sys
from rankgain import backend, capi
n, size = 200, 1 << 20
numbers = (ctypes.c_double * n)(*[i * 7919 % 200 for i in range(n)])
scratch, value = ctypes.create_string_buffer(size), ctypes.c_double()
length = ctypes.c_ssize_t
ndcg = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, length, length, ctypes.c_void_p, length, length,
    *[ctypes.c_int] * 2, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_double, *[ctypes.c_void_p] * 2)
function = ndcg(capi.address("rankgain_ndcg_from_scores_f64"))
status = function(numbers, n, 1, numbers, 1, 10, capi.RANKGAIN_AVERAGE, 0, None, 0, 0.0, scratch, ctypes.byref(value))
print(backend, status, value.value)
"""
    for environment in ({"RANKGAIN_BACKEND": "python"}, {"RANKGAIN_CPU": "baseline"}):
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split()[1:] == ["0", "1.0"]
