"""What does a call of a C function cost beside its work, and what are two threads of a compiled loop worth?"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import harness
import numpy as np
import numpy.typing as npt
from scores import ALL, PLAIN, make

import rankgain as rg

SOURCE = Path(__file__).with_name("c_loops.pyx")
OPENMP = ["/openmp"] if sys.platform == "win32" else ["-fopenmp"]
K = 10
BESIDE = 5e-9  # seconds of a call that may be more than those of its work
BUSY = 0.5  # seconds of a turn, which lasts at least half of it


def build(source: Path, options: list[str]) -> Path:
    """Compile an extension beside its source as its author would, against the rankgain that is imported."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    extension = Extension(
        source.stem,
        [str(source)],
        include_dirs=[rg.get_include()],
        extra_compile_args=options,
        extra_link_args=[] if sys.platform == "win32" else options,
    )
    packages = str(Path(rg.__file__).parents[1])
    distribution = Distribution({"ext_modules": cythonize([extension], include_path=[packages], quiet=True)})
    command: Any = distribution.get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(source.parent)
    distribution.run_command("build_ext")
    return Path(command.get_ext_fullpath(source.stem))


def compiled(folder: Path) -> tuple[ModuleType | None, bool]:
    """The loops, and whether their threads are; None, and a note, where they cannot be compiled."""
    try:
        import Cython  # noqa: F401
        from setuptools.errors import BaseError, CCompilerError

        importlib.import_module("rankgain.capi")
    except ImportError as error:
        harness.note(f"C functions: skipped ({error})")
        return None, False
    probe = folder / "probe.pyx"
    probe.write_text("")
    source = Path(shutil.copy(SOURCE, folder))
    for options in (OPENMP, []):
        try:
            build(probe, options)
        except (BaseError, CCompilerError) as error:
            reason = error
            continue
        specification: Any = importlib.util.spec_from_file_location(source.stem, build(source, options))
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module, bool(options)
    harness.note(f"C functions: skipped, for nothing can be compiled here ({reason})")
    return None, False


def numba_dcg() -> Any:
    """The loop through Numba, which takes pointers as numbers; None where it is not installed."""
    numba = harness.peer("numba")
    if numba is None:
        return None
    from numba.extending import get_cython_function_address

    number = ctypes.c_ssize_t
    signature = ctypes.CFUNCTYPE(ctypes.c_int, *[number] * 4, ctypes.c_int, *[number] * 3)
    rankgain_dcg = signature(get_cython_function_address("rankgain.capi", "rankgain_dcg"))

    @numba.njit
    def loop(lists, k, out):  # type: ignore[no-untyped-def]
        queries, n = lists.shape
        for query in range(queries):
            rankgain_dcg(lists.ctypes.data + 8 * n * query, n, 1, k, 0, 0, 0, out.ctypes.data + 8 * query)

    loop(np.ones((1, 1)), K, np.empty(1))  # so that its compilation is not taken for the warm-up
    return loop


def filling(queries: int, loop: Any, *arguments: Any, beside: float | None = None) -> harness.Contender:
    """One that writes the values of the queries behind its arguments."""
    out = np.full(queries, np.nan)
    return harness.Contender(partial(loop, *arguments, out), lambda _: out, beside=beside)


def calls_beside_work(loops: Any, queries: int, scale: harness.Scale) -> None:
    discount = rg.discount(K)
    through_numba = numba_dcg()
    work = {f"10 grades, {PLAIN}": (10, PLAIN), f"10 grades, {ALL}": (10, ALL), "1 grade": (1, ALL), "none": (0, ALL)}
    for title, (documents, variant) in work.items():
        lists = make(queries, documents, variant)[0].astype(np.float64)
        contenders = {
            "limit: the loop inlined, nothing checked": filling(queries, loops.dcg_inlined, lists, K, discount),
            "rankgain_dcg, cimported": filling(queries, loops.dcg_cimported, lists, K, beside=BESIDE),
            "dcg of the structure in rankgain.h": filling(queries, loops.dcg_by_structure, lists, K, beside=BESIDE),
        }
        if through_numba:
            contenders["rankgain_dcg, through Numba"] = filling(queries, through_numba, lists, K)
        harness.hold(f"a call from C, DCG of {title}", contenders, scale, calls=queries)


def one_by_one(function: Any, lists: list[list[int]]) -> list[float]:
    return [function(grades, k=K) for grades in lists]


def calls_from_python(loops: Any, queries: int, scale: harness.Scale) -> None:
    for documents in (10, 100):
        labels, _ = make(queries, documents)
        lists, of_python = labels.astype(np.float64), labels.tolist()
        for name, loop, function in (("nDCG", loops.ndcg, rg.ndcg), ("RR", loops.reciprocal_rank, rg.reciprocal_rank)):
            contenders = {
                "rankgain, the C function": filling(queries, loop, lists, K),
                "rankgain, the Python function of a list": partial(one_by_one, function, of_python),
            }
            harness.hold(f"a call, {name}@{K} of {documents} grades, {PLAIN}", contenders, scale, calls=queries)


def two_threads(loops: Any, parallel: bool, queries: int, scale: harness.Scale) -> None:
    labels, scores = make(queries, 100)
    rankings = rg.from_scores(labels, scores)
    labels = labels.astype(np.float64)
    half = queries // 2

    def halves(out: npt.NDArray[np.float64]) -> None:
        parts = slice(half), slice(half, None)
        list(pool.map(lambda part: loops.ndcg_from_scores(labels[part], scores[part], K, 1, out[part]), parts))

    def evaluate(threads: int) -> Any:
        return rankings.evaluate(f"ndcg@{K}", threads=threads)[f"ndcg@{K}"]

    with ThreadPoolExecutor(2) as pool:
        loop = loops.ndcg_from_scores
        contenders = {
            "rankgain, the C function, two threads of prange": filling(queries, loop, labels, scores, K, 2),
            "one thread": filling(queries, loop, labels, scores, K, 1)._replace(at_least=1.7 if parallel else None),
            "rankgain, the C function, two threads of Python": filling(queries, halves),
            "rankgain, evaluate, threads=2": partial(evaluate, 2),
            "rankgain, evaluate, threads=1": partial(evaluate, 1),
        }
        title = f"{queries:,} × 100, ndcg@{K} of scores in C, kept busy"
        harness.hold(title, contenders, scale, turn=BUSY, calls=queries)


def bench(scale: harness.Scale) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        loops, parallel = compiled(Path(folder))
        if loops is None:
            return
        queries = 20 if scale == "smoke" else 1000
        calls_beside_work(loops, queries, scale)
        calls_from_python(loops, queries, scale)
        two_threads(loops, parallel, 10 * queries, scale)
