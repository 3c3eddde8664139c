"""What is the overhead of calling a C function of rankgain?"""

from __future__ import annotations

import importlib
import tempfile
from functools import partial
from typing import Any

import harness
import numpy as np
from scores import ALL, make

import rankgain as rg

K = 10


def compiled(folder: str) -> Any:
    """Compile c_loops.pyx and return the module; if that fails, print the reason and return None."""
    try:
        import pyximport

        importlib.import_module("rankgain.capi")
        hooks = pyximport.install(build_dir=folder, setup_args={"include_dirs": [rg.get_include()]})
        try:
            return importlib.import_module("c_loops")
        finally:
            pyximport.uninstall(*hooks)
    except ImportError as error:
        print(f"C functions: skipped ({error})")
        return None


def filling(loop: Any, lists: Any, *arguments: Any, at_most: float | None = None) -> harness.Contender:
    """Return a contender that calls `loop` on all lists and reports the time per list."""
    out = np.full(len(lists), np.nan)
    call = partial(loop, lists, *arguments, out)
    return harness.Contender(call, lambda _: out, at_most=at_most, times=1 / len(lists))


def bench(scale: harness.Scale) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        loops = compiled(folder)
        if not loops:
            return
        for title, documents, at_most in ((f"10 grades, {ALL}", 10, 3.0), ("1 grade", 1, None), ("none", 0, None)):
            lists = make(20 if scale == "smoke" else 1000, documents, ALL)[0].astype(np.float64)
            contenders = {
                "limit: the loop inlined, nothing checked": filling(loops.dcg_inlined, lists, K, rg.discount(K)),
                "rankgain_dcg, cimported": filling(loops.dcg_cimported, lists, K, at_most=at_most),
            }
            harness.hold(f"a call from C, DCG of {title}", contenders, scale)
