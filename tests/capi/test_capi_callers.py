"""Call the C functions through Numba, cffi, SciPy and ctypes, skipping libraries that are not installed."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from support.c_functions import SIGNATURES, STRUCTURE, capsule_pointer, prototype

import rankgain as rg
from rankgain import capi

LIBRARIES = {name: import_module(name) for name in ("numba", "cffi", "scipy") if find_spec(name)}


def with_ctypes():
    """Return a function that computes the nDCG of each row with `rankgain_ndcg_from_scores_f64`."""
    function = prototype(SIGNATURES["rankgain_ndcg_from_scores_f64"])(capi.address("rankgain_ndcg_from_scores_f64"))
    size = prototype(SIGNATURES["rankgain_scratch_size"])(capi.address("rankgain_scratch_size"))

    def rows(scores, labels, k, values):
        scratch = ctypes.create_string_buffer(size(scores.shape[1], k))
        for row in range(len(scores)):
            at = scores[row].ctypes.data, scores.shape[1], 1, labels[row].ctypes.data, 1
            function(*at, k, capi.RANKGAIN_AVERAGE, 0, None, 0, 0.0, scratch, values[row:].ctypes.data)

    return rows


def with_cffi():
    ffi = LIBRARIES["cffi"].FFI()
    ffi.cdef(f"typedef struct {{{STRUCTURE}}} rankgain_api;")
    api = ffi.cast("rankgain_api *", capsule_pointer(capi._C_API))
    assert ffi.sizeof("rankgain_api") == api.struct_size
    function = ffi.cast(ffi.typeof(api.ndcg_from_scores_f64), capi.address("rankgain_ndcg_from_scores_f64"))
    assert function == api.ndcg_from_scores_f64

    def rows(scores, labels, k, values):
        scratch = ffi.new("char[]", api.scratch_size(scores.shape[1], k))
        for row in range(len(scores)):
            starts = [ffi.cast("double *", ffi.from_buffer(array[row:])) for array in (scores, labels, values)]
            n = scores.shape[1]
            function(starts[0], n, 1, starts[1], 1, k, capi.RANKGAIN_AVERAGE, 0, ffi.NULL, 0, 0.0, scratch, starts[2])

    return rows


def with_numba():
    address = import_module("numba.extending").get_cython_function_address
    # Addresses are passed as integers, because Numba has no null pointers.
    function, size = (
        prototype(SIGNATURES[name], ctypes.c_size_t)(address("rankgain.capi", name))
        for name in ("rankgain_ndcg_from_scores_f64", "rankgain_scratch_size")
    )

    average = capi.RANKGAIN_AVERAGE

    @LIBRARIES["numba"].njit(nogil=True)
    def rows(scores, labels, k, values):
        n = scores.shape[1]
        scratch = np.empty(size(n, k), np.uint8)
        for row in range(len(scores)):
            at, beside, out = scores[row].ctypes.data, labels[row].ctypes.data, values[row:].ctypes.data
            function(at, n, 1, beside, 1, k, average, 0, 0, 0, 0.0, scratch.ctypes.data, out)

    return rows


CALLERS = {"ctypes": with_ctypes, "cffi": with_cffi, "numba": with_numba}
installed = [caller for name, caller in CALLERS.items() if name in (*LIBRARIES, "ctypes")]


@pytest.mark.parametrize("caller", installed)
def test_c_functions_run_in_several_threads(caller):
    rows = caller()
    rng = np.random.default_rng(5)
    scores, labels = rng.integers(0, 20, (400, 50)).astype(float), rng.integers(0, 4, (400, 50)).astype(float)
    values = np.zeros((4, 400))
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(rows, scores, labels, 10, row_values) for row_values in values]:
            done.result()
    expected = rg.from_scores(labels, scores).evaluate("ndcg@10")["ndcg@10"]
    np.testing.assert_array_equal(values, [expected] * 4)


if "scipy" in LIBRARIES:

    def test_scipy_low_level_callable_accepts_every_signature():
        from_cython = LIBRARIES["scipy"].LowLevelCallable.from_cython
        assert {name: from_cython(capi, name).signature for name in SIGNATURES} == SIGNATURES
