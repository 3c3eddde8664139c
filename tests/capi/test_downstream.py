"""Packages with compiled code that call rankgain, built as their authors would build them.

They are built in isolation against the wheel and run where only wheels are installed. Other tests combine them with a
different version of rankgain.
"""

import platform
import re
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from support import ROOT
from support.pages import DOCS, blocks
from support.wheels import build, install, python, refusal

pytestmark = pytest.mark.checkout

DOWNSTREAM = ROOT / "tests" / "downstream"
PACKAGES = ["epoch_ndcg", "row_metrics", "lambdamart", "two_doors"]
INCLUDE = ROOT / "src" / "rankgain" / "include"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
PYTHON_H = ["-isystem", sysconfig.get_path("include")]


def read(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def changed(pattern: str, other: str) -> str:
    """Return the text of rankgain.h with one passage changed."""
    header, count = re.subn(pattern, other, read("src", "rankgain", "include", "rankgain.h"))
    assert count == 1
    return header


def build_isolated(tree: Path, rankgain: Path, folder: Path) -> Path:
    """Return the wheel of a package, built with only its requirements and this wheel of rankgain."""
    shutil.copytree(tree, folder / "tree")
    constraint = folder / "constraint.txt"
    constraint.write_text(f"rankgain @ {rankgain.as_uri()}\n")
    return build("wheel", folder / "tree", folder / "wheel", PIP_CONSTRAINT=str(constraint))


@pytest.fixture(scope="session")
def downstream(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which rankgain and the packages are installed."""

    def wheel(name: str) -> Path:
        return build_isolated(DOWNSTREAM / name, compiled_wheel, tmp_path_factory.mktemp(name))

    with ThreadPoolExecutor(2) as pool:
        wheels = list(pool.map(wheel, PACKAGES))
    return install(tmp_path_factory.mktemp("downstream") / "installed", compiled_wheel, *wheels)


@pytest.mark.parametrize("system", ["meson", "cmake"])
def test_package_is_built_by_other_systems(compiled_wheel: Path, tmp_path: Path, system: str) -> None:
    """The build follows docs/c.md, and `rankgain --include` gives the folder of the header."""
    tree = tmp_path / "row_metrics"
    shutil.copytree(DOWNSTREAM / f"with_{system}", tree)
    shutil.copy(DOWNSTREAM / "row_metrics" / "row_metrics.c", tree)
    wheel = build_isolated(tree, compiled_wheel, tmp_path / "built")
    installed = install(tmp_path / "installed", compiled_wheel, wheel)
    assert python(installed, f"{check('row_metrics')}; print('checked')") == ["checked"]


def row_metrics(header: str, folder: Path) -> str:
    """Compile row_metrics with this text as rankgain.h, and return Python code that imports the module."""
    (folder / "rankgain.h").write_text(header, encoding="utf-8")
    source = DOWNSTREAM / "row_metrics" / "row_metrics.c"
    module = folder / f"row_metrics{sysconfig.get_config_var('EXT_SUFFIX')}"
    shared = [*sysconfig.get_config_var("LDSHARED").split(), "-fPIC"]
    subprocess.run([*shared, "-std=c99", *STRICT, *PYTHON_H, "-I", folder, source, "-o", module], check=True)
    return f"import sys; sys.path.insert(0, {str(folder)!r}); import row_metrics"


def check(name: str) -> str:
    return f"import sys; sys.path.append({str(DOWNSTREAM)!r}); import checks; checks.{name}()"


@pytest.mark.parametrize("name", PACKAGES)
def test_built_package_computes_the_values(downstream: Path, name: str) -> None:
    assert python(downstream, f"{check(name)}; print('checked')") == ["checked"]


USER = """
#include <rankgain.h>
ptrdiff_t bytes(const rankgain_api *api);
ptrdiff_t bytes(const rankgain_api *api) { return api->scratch_size(10, RANKGAIN_NO_CUTOFF); }
#ifndef RANKGAIN_NO_PYTHON
const rankgain_api *(*door)(void) = rankgain_import;
#endif
"""


@pytest.mark.parametrize("standard", ["c99", "c++11", "c++17"])
@pytest.mark.parametrize(
    "options",
    [PYTHON_H, [*PYTHON_H, "-DPy_LIMITED_API=0x030B0000"], ["-DRANKGAIN_NO_PYTHON"]],
    ids=["python", "limited", "none"],
)
def test_header_compiles_without_warnings(standard: str, options: list[str]) -> None:
    language = "c++" if "++" in standard else "c"
    command = ["cc", "-fsyntax-only", "-x", language, f"-std={standard}", *STRICT, *options, "-I", INCLUDE, "-"]
    subprocess.run(command, input=USER, text=True, check=True)


def test_older_header_works(compiled: Path, tmp_path: Path) -> None:
    older = changed(r"  int \(\*reciprocal_rank_from_scores_f64\)[^{}]*(?=\} rankgain_api;)", "")
    code = f"{row_metrics(older, tmp_path)}; {check('row_metrics')}; print(row_metrics.__file__)"
    assert python(compiled, code)[0].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("pattern", "other", "message"),
    [
        (r"(?=\} rankgain_api;)", "int (*newer)(void);\n", "upgrade rankgain"),
        (r"(?<=#define RANKGAIN_ABI_VERSION )\d+", "77", "compiled for version 77 of rankgain's C functions"),
    ],
    ids=["newer", "other version"],
)
def test_other_header_is_refused(compiled: Path, tmp_path: Path, pattern: str, other: str, message: str) -> None:
    text = refusal(compiled, row_metrics(changed(pattern, other), tmp_path))
    assert text.startswith("ImportError")
    assert message in text


@pytest.mark.parametrize("pure_wheel", [{"RANKGAIN_EXTENSION": "skip"}], ids=["skip"], indirect=True)
@pytest.mark.parametrize("name", PACKAGES)
def test_pure_rankgain_is_refused_by_compiled_packages(pure: Path, downstream: Path, name: str) -> None:
    text = refusal(pure, f"import sys; sys.path.append({str(downstream)!r}); import {name}")
    assert text.startswith("ImportError")
    assert "no compiled extension" in text


if find_spec("numba"):

    def test_page_example_of_numba_runs(compiled: Path) -> None:
        (example,) = (text for _, _, text in blocks(DOCS / "c.md") if "import numba" in text)
        call = "values, failed = rr_of_rows(np.array([[0.0, 0, 1], [0, 2, 1], [1, -1, 0]]), 10)"
        lines = python(compiled, f"{example}{call}; print(*values, failed)")
        assert lines == ["0.3333333333333333 0.5 nan 1"]


FLUSH = """
#include <xmmintrin.h>
void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""
VALUES = """
import ctypes
import rankgain as rg
from rankgain import capi

def values():
    grades, value = (ctypes.c_double * 3)(0, 0, 1), ctypes.c_double()
    length, number = ctypes.c_ssize_t, ctypes.c_double
    rr = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, length, length, length, number, ctypes.c_void_p)
    found = []
    for rel in (None, 0.0, 1.0):
        found += [rg.reciprocal_rank([0, 0, 1], rel=rel), *rg.reciprocal_rank([[0, 0, 1]], rel=rel)]
        found += [*rg.from_scores([[0, 0, 1]], [[3, 2, 1]]).evaluate(m := rg.metric("rr", rel=rel))[m]]
        rel = float("nan") if rel is None else rel
        rr(capi.address("rankgain_reciprocal_rank"))(grades, 3, 1, 3, rel, ctypes.byref(value))
        found.append(value.value)
    return found

before = values()
ctypes.CDLL(LIBRARY).flush()
assert values() == before, (before, values())
print(5e-324 * 1.0, before[0], before[4])
"""

if platform.machine() in ("x86_64", "AMD64"):

    @pytest.mark.parametrize("backend", ["compiled", "python"])
    def test_subnormal_numbers_survive_flush_to_zero(downstream: Path, tmp_path: Path, backend: str) -> None:
        """Values stay correct if the CPU flushes subnormal numbers to zero, as after `torch.set_flush_denormal`.

        Libraries linked with -ffast-math by GCC up to version 12 have the same effect.
        """
        (tmp_path / "flush.c").write_text(FLUSH)
        compiler = sysconfig.get_config_var("CC").split()
        subprocess.run([*compiler, "-shared", "-fPIC", "flush.c", "-o", "flush.so"], cwd=tmp_path, check=True)
        code = VALUES.replace("LIBRARY", repr(str(tmp_path / "flush.so")))
        assert python(downstream, code, RANKGAIN_BACKEND=backend) == ["0.0 0.3333333333333333 1.0"]
