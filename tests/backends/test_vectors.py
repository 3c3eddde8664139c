"""What depends on the compiler stands in one header, and each of its branches gives the loops the same bits."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout

PACKAGE = ROOT / "src" / "rankgain"
VECTORS = PACKAGE / "_compiled" / "vectors.h"
SOURCES = sorted(path for kind in ("h", "pyx", "pxd", "pxi") for path in PACKAGE.rglob(f"*.{kind}"))
GNU = r"__attribute|__builtin|__extension__|__asm|\basm\b|\b(?:__)?typeof|vector_size|ext_vector|_Pragma|pragma GCC"
ASKS = r"\b(__GNUC__|__clang__|_MSC_VER|__x86_64__|__SSE\w*|__AVX\w*|_M_\w+|__ARM_NEON|__aarch64__|__BYTE_ORDER__)\b"
BRANCHES = {"plain C": 0, "x86": 1, "NEON": 2}
LANES = {"plain C": ["lanes 1"], "x86": ["lanes 1 2", "lanes 1 2 4"], "NEON": ["lanes 1 2"]}


def test_only_vectors_h_depends_on_the_compiler():
    found = {
        f"{path.name}: {match[0]}"
        for path in SOURCES
        for match in re.finditer(f"{GNU}|{ASKS}", path.read_text(encoding="utf-8"))
        if path != VECTORS
    }
    assert found == set()


def test_vectors_h_has_a_branch_for_msvc():
    """Whose functions are MSVC's own; what GNU has stands where GCC or Clang compiles."""
    gnu = "#if defined(__GNUC__) || defined(__clang__)"
    branches: list[str] = []
    msvc = ""
    for line in re.sub(r"/\*.*?\*/", "", VECTORS.read_text(encoding="utf-8"), flags=re.DOTALL).splitlines():
        if line.startswith("#if"):
            branches.append(line)
        elif line.startswith("#el"):
            branches[-1] = line
        elif line.startswith("#endif"):
            branches.pop()
        elif not any(branch == gnu or "__ORDER_BIG_ENDIAN__" in branch for branch in branches):
            msvc += line + "\n"
    assert re.findall(GNU, msvc) == []
    assert [name for name in ("__forceinline", "_BitScanForward64", "__cpuidex", "_xgetbv") if name not in msvc] == []


def test_every_branch_of_vectors_h_gives_the_same_bits(tmp_path):
    """Those that run here; `.ci/deep compilers` has the others."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "needs a C compiler"
    own = {"x86_64": "x86", "amd64": "x86", "aarch64": "NEON", "arm64": "NEON"}.get(platform.machine().lower())
    printed = {}
    for branch, number in BRANCHES.items():
        if branch not in ("plain C", own):
            continue
        program = tmp_path / f"loops-{number}"
        folders = [f"-I{folder}" for folder in (VECTORS.parent, PACKAGE / "include")]
        options = ["-O1", "-Wall", "-Werror", "-ffp-contract=off", f"-DVECTORS={number}", *folders]
        source = Path(__file__).with_name("loops.c")
        subprocess.run([compiler, *options, str(source), "-o", str(program), "-lm"], check=True)
        run = subprocess.run([program], capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{branch}: {run.stdout}"
        lanes, printed[branch] = run.stdout.splitlines()
        assert lanes in LANES[branch]
    assert len(set(printed.values())) == 1, printed
