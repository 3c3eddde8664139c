"""Arrays of other libraries are read like NumPy arrays, without a copy; unreadable ones raise a one-sentence error.

Each kind of array is a function from a NumPy array. Libraries that are installed are tested themselves; the stubs show
what any other array of that kind must provide.
"""

import array
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from support.marks import in_one_case, quick_first
from support.rejections import plain

import rankgain as rg
from rankgain.data.arrays import array_of
from rankgain.data.ragged import RaggedArray

LIBRARIES = {name: import_module(name) for name in ("pandas", "polars", "pyarrow", "torch") if find_spec(name)}


class Dlpack:
    """An array that supports only DLPack, like those of libraries without NumPy support."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldDlpack(Dlpack):
    """An array with the original version of the DLPack protocol."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class Sequential(Dlpack):
    """An array with DLPack whose items have the same type, so that NumPy reads it as a list of unknown objects."""

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        if index >= len(self.array):
            raise IndexError
        return Sequential(self.array[index])


class Arrayed:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class BareArrayed(Arrayed):
    """An array whose `__array__` method takes no arguments."""

    def __array__(self):
        return self.array


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return Dlpack(array)


ANY_SHAPE = {
    "dlpack": Dlpack,
    "old dlpack": OldDlpack,
    "sequential dlpack": Sequential,
    "array": Arrayed,
    "bare array": BareArrayed,
    "memoryview": memoryview,
    "ctypes": np.ctypeslib.as_ctypes,  # ctypes names its types differently from NumPy
}
FLAT = {"array.array": lambda values: array.array(values.dtype.char, values.tolist())}
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # older versions of NumPy do not export read-only arrays
    ANY_SHAPE["read-only dlpack"] = read_only
if "torch" in LIBRARIES:
    ANY_SHAPE["torch"] = lambda values: LIBRARIES["torch"].from_numpy(values.copy())
if "pandas" in LIBRARIES:
    FLAT["pandas"] = lambda values: LIBRARIES["pandas"].Series(values, index=range(5, 5 + len(values)))
    FLAT["pandas nullable"] = lambda values: LIBRARIES["pandas"].Series(
        values.tolist(), dtype=values.dtype.name.title()
    )
    ANY_SHAPE["pandas frame"] = lambda values: (LIBRARIES["pandas"].DataFrame if values.ndim > 1 else FLAT["pandas"])(
        values
    )
if "polars" in LIBRARIES:
    FLAT["polars"] = lambda values: LIBRARIES["polars"].Series(values)
if "pyarrow" in LIBRARIES:
    FLAT["pyarrow"] = lambda values: LIBRARIES["pyarrow"].array(values)
    FLAT["pyarrow chunked"] = lambda values: LIBRARIES["pyarrow"].chunked_array([values[:1], values[1:]])
FLAT |= ANY_SHAPE

flat = pytest.mark.parametrize("make", FLAT.values(), ids=list(FLAT))
dtypes = in_one_case("dtype", ["f4", "f8", "i4", "i8"])


def scored(*args, **options):
    return rg.from_scores(*args, **options).evaluate("ndcg", "dcg@2", "rr")


TAKERS = {  # functions by argument name
    "relevance": rg.ndcg,
    "relevance ": lambda value: rg.dcg(value, k=2, gain="exponential"),
    "relevance  ": lambda value: rg.from_ranked(value).evaluate("ndcg", "rr"),
    "judged": lambda value: rg.ndcg(value, judged=value),
    "judged ": lambda value: rg.from_ranked(value, judged=value).evaluate("ndcg"),
    "y_true": lambda value: scored(value, value),
    "y_score": lambda value: scored(value, value, ties="worst"),
}
GRADES = np.array([1, 0, 3, 2, 2])


@dtypes
@pytest.mark.parametrize(
    ("make", "numbers"),
    [*((make, GRADES) for make in FLAT.values()), *((make, [[1, 0, 3], [0, 1, 2]]) for make in ANY_SHAPE.values())],
    ids=[*FLAT, *(f"matrix, {kind}" for kind in ANY_SHAPE)],
)
def test_arrays_of_any_library_equal_lists(backend, make, numbers, dtype):
    numbers = np.array(numbers, dtype=dtype)
    for taker in TAKERS.values():
        assert plain(taker(make(numbers))) == plain(taker(numbers.tolist()))
    assert rg.gain(make(numbers)).tolist() == numbers.tolist()


@flat
@dtypes
@in_one_case("shell", [list, tuple])
@pytest.mark.parametrize("sizes", quick_first([[3, 2], [2, 2], [5, 1, 4]]))
def test_lists_of_arrays_equal_lists_of_lists(backend, make, dtype, shell, sizes):
    numbers = [GRADES[:size].astype(dtype) for size in sizes]
    lists = [part.tolist() for part in numbers]
    for taker in TAKERS.values():
        expected = plain(taker(lists))
        assert plain(taker(shell(map(make, numbers)))) == expected
        assert plain(taker(shell([make(numbers[0]), *lists[1:]]))) == expected


@flat
def test_sizes_and_ids_may_be_arrays_of_any_library(backend, make):
    grades, scores, sizes = make(GRADES), make(GRADES.astype("f4")), make(np.array([3, 2]))
    expected = plain(scored(GRADES, GRADES, group_sizes=[3, 2]))
    assert plain(scored(grades, scores, group_sizes=sizes)) == expected
    assert plain(scored(grades, scores, qid=make(np.array([7, 7, 7, 4, 4])))) == expected
    rankings = rg.from_scores(grades, scores, qid=make(np.array([7, 4, 7, 4, 4])))
    assert rankings.query_ids == [7, 4]
    assert plain(rankings.evaluate("ndcg")) == plain(scored(GRADES, GRADES, qid=[7, 4, 7, 4, 4]))[:1]
    assert rg.from_ranked([[1], [0]], query_ids=make(np.array([7, 4]))).query_ids == [7, 4]


@flat
def test_discounts_and_gains_may_be_arrays_of_any_library(backend, make):
    weights = np.array([1.0, 0.75, 0.5, 0.25, 0.0])
    assert rg.dcg(GRADES, discount=make(weights)) == rg.dcg(GRADES, discount=weights.tolist())
    assert rg.discount(3, make(weights)).tolist() == [1.0, 0.75, 0.5]
    assert rg.metric("dcg", discount=make(weights)) == rg.metric("dcg", discount=weights.tolist())
    assert rg.dcg(GRADES, gain=lambda grades: make(2 * grades)) == 2 * rg.dcg(GRADES)


@pytest.mark.parametrize("kind", ["array", *(kind for kind in FLAT if kind.split()[-1] in (*LIBRARIES, "chunked"))])
def test_columns_of_text_are_ids(kind):
    make = np.asarray if kind in ("array", "torch") else FLAT[kind]
    text = np.array(["b", "a", "b"], dtype=object)
    assert rg.from_scores([1, 0, 1], [3, 2, 1], qid=make(text)).query_ids == ["b", "a"]
    assert rg.from_ranked([[1], [0]], query_ids=make(text[:2])).query_ids == ["b", "a"]


def columns_of_lists():
    lists = [[3, 1, 2], [1]], [[3, 1], [1, 2]]
    ragged = np.empty(2, dtype=object)
    ragged[:] = lists[0]
    yield ragged, lists[0]
    if "polars" in LIBRARIES:
        yield from ((LIBRARIES["polars"].Series(rows), rows) for rows in lists)
    if "pyarrow" in LIBRARIES:
        yield from ((LIBRARIES["pyarrow"].array(rows), rows) for rows in lists)
    if "pandas" in LIBRARIES:
        yield from ((LIBRARIES["pandas"].Series(rows, index=[8, 9]), rows) for rows in lists)


@pytest.mark.parametrize(("column", "rows"), list(columns_of_lists()))
def test_columns_of_lists_are_lists(backend, column, rows):
    for taker in TAKERS.values():
        assert plain(taker(column)) == plain(taker(rows))


@pytest.mark.parametrize("kind", sorted(set(FLAT) - {"pyarrow chunked"}))  # chunked arrays are not contiguous in memory
@dtypes
def test_arrays_are_not_copied(kind, dtype):
    foreign = FLAT[kind](GRADES.astype(dtype))
    viewed = array_of(foreign, "numbers")
    assert viewed.dtype == dtype
    assert np.shares_memory(viewed, array_of(foreign, "numbers"))
    if dtype == "f8":
        taken = RaggedArray.of(foreign, "numbers").take(0, 1)
        assert np.shares_memory(taken, viewed)


class Refuses:
    """An array that neither NumPy nor DLPack can read."""

    dtype = "int64"
    requires_grad = False
    device_type = 1

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("bare words.\nof the library")

    def __dlpack__(self, **options):
        raise BufferError("other bare words")

    def __dlpack_device__(self):
        if not self.device_type:
            raise ValueError("no such device")
        return self.device_type, 0

    def tolist(self):
        raise NotImplementedError("bare words")


class DlpackRefuses(Dlpack):
    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **options):
        raise self.error

    def __dlpack_device__(self):
        return 2, 0


REFUSING = {  # the type as named in the error, the advice in the error, and the array
    "grad": ("the Refuses requires grad", "(.detach())", Refuses(requires_grad=True)),
    "device": ("the Refuses is not in the CPU's memory", "(.cpu())", Refuses(device_type=2)),
    "no device": ("the Refuses is not in the CPU's memory", "(.cpu())", Refuses(device_type=None)),
    "bfloat16": ("the Refuses holds torch.bfloat16", "(.float())", Refuses(dtype="torch.bfloat16")),
    "all": (
        "the Refuses requires grad and is not in",
        "(.detach().cpu().float())",
        Refuses(requires_grad=True, device_type=2, dtype="torch.float8_e5m2"),
    ),
    "unknown": ("the Refuses cannot be read (bare words)", "a NumPy array or a list", Refuses()),
    "dlpack device": ("the DlpackRefuses is not in", "(.cpu())", DlpackRefuses(BufferError("bare words"))),
    "dlpack error": ("the DlpackRefuses is not in", "(.cpu())", DlpackRefuses(KeyError("bare words"))),
}
if "torch" in LIBRARIES:
    torch = LIBRARIES["torch"]
    ones = torch.ones(2)
    REFUSING |= {
        "torch grad": ("the Tensor requires grad", "(.detach())", ones.clone().requires_grad_()),
        "torch device": ("the Tensor is not in the CPU's memory", "(.cpu())", ones.to("meta")),
        "torch bfloat16": ("the Tensor holds torch.bfloat16", "(.float())", ones.bfloat16()),
        "torch float8": ("the Tensor holds torch.float8", "(.float())", ones.to(torch.float8_e4m3fn)),
        "torch both": ("the Tensor requires grad and holds", "(.detach().float())", ones.bfloat16().requires_grad_()),
        "torch parameter": ("the Parameter requires grad", "(.detach())", torch.nn.Parameter(ones)),
        "torch sparse": ("the Tensor cannot be read (can't convert Sparse", "a NumPy array", ones.to_sparse()),
    }
NUMBERS = {
    "relevance": [rg.ndcg, rg.mrr, rg.gain, rg.from_ranked],
    "judged": [rg.idcg, lambda value: rg.ndcg([1, 0], judged=value), lambda value: rg.from_ranked([1], judged=value)],
    "y_true": [lambda value: rg.from_scores(value, [1, 2])],
    "y_score": [lambda value: rg.from_scores([1, 2], value)],
}
BESIDE = {
    "group_sizes": lambda value: rg.from_scores([1, 2], [1, 2], group_sizes=value),
    "qid": lambda value: rg.from_scores([1, 2], [1, 2], qid=value),
    "discount": lambda value: rg.dcg([1, 0], discount=value),
    "gain: the result of the callable": lambda value: rg.dcg([1, 0], gain=lambda grades: value),
    "query_ids": lambda value: rg.from_ranked([[1], [0]], query_ids=value),
}


def refusal(call, value):
    with pytest.raises(TypeError) as caught:
        call(value)
    assert caught.type is TypeError
    return str(caught.value)


def check_refusal(call, value, begin):
    text = refusal(call, value)
    assert text[: len(begin)] == begin
    return text


@pytest.mark.parametrize(("kind", "remedy", "value"), REFUSING.values(), ids=list(REFUSING))
def test_unreadable_arrays_are_rejected_with_a_remedy(backend, kind, remedy, value):
    for name, calls in {**NUMBERS, **{name: [call] for name, call in BESIDE.items()}}.items():
        for call in calls:
            text = check_refusal(call, value, f"{name}: {kind}")
            assert remedy in text
            assert "\n" not in text


@pytest.mark.parametrize(("kind", "remedy", "value"), REFUSING.values(), ids=list(REFUSING))
def test_lists_of_unreadable_arrays_are_rejected(backend, kind, remedy, value):
    for name, call in (("relevance", rg.mrr), ("relevance", rg.from_ranked), ("judged", rg.idcg)):
        for rows in ([[1, 0], value], ([1.0], value), (np.ones(2), value)):
            check_refusal(call, rows, f"{name}: query 1: {kind}")
    check_refusal(rg.ndcg, [value], f"relevance: query 0: {kind}")
    check_refusal(rg.ndcg, [[1], [value]], "relevance: query 1: ")


if "torch" in LIBRARIES:

    def test_single_tensors_are_numbers(backend):
        two = [torch.tensor(3.0), torch.tensor(2.0, requires_grad=True)]
        assert rg.dcg([two[0], 2.0]) == rg.dcg([3.0, 2.0])
        for rows in (two, [3.0, two[1]]):
            check_refusal(rg.ndcg, rows, "relevance: position 1: the Tensor requires grad")
        check_refusal(rg.ndcg, [[1.0], two], "relevance: query 1: position 1: the Tensor requires grad")

    def test_tensors_are_rejected_as_ids():
        ids = list(torch.tensor([1, 1, 2]))
        assert refusal(lambda qid: rg.from_scores([1, 2, 3], [1, 2, 3], qid=qid), ids).startswith("qid: position 0: an")
        text = refusal(lambda ids: rg.from_ranked([[1], [2], [3]], query_ids=ids), ids)
        assert text == "query_ids: position 0: an id must be hashable and not an array, not Tensor"


if "pandas" in LIBRARIES:

    def test_dates_stay_dates():
        dates = LIBRARIES["pandas"].date_range("2020-01-01", periods=2)
        assert rg.from_ranked([[1], [0]], query_ids=dates.as_unit("ns").to_series()).query_ids == list(dates)


def test_memory_errors_are_raised_unchanged():
    class Huge(Arrayed):
        def __array__(self, dtype=None, copy=None):
            raise MemoryError

    with pytest.raises(MemoryError):
        rg.ndcg(Huge(None))


def test_released_buffer_is_rejected(backend):
    view = memoryview(np.ones(2))
    view.release()
    assert refusal(rg.ndcg, view) == "relevance must be a list, a tuple or an array of numbers, not memoryview"
    assert refusal(rg.ndcg, [[1, 2], view]).startswith("relevance: query 1: must be a list, a tuple or an array")
