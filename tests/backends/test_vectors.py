"""Every compiler-dependent branch of the header `vectors.h` gives the same bits in all loops."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout

PACKAGE = ROOT / "src" / "rankgain"
VECTORS = PACKAGE / "_compiled" / "vectors.h"
BRANCHES = {"plain C": 0, "x86": 1, "NEON": 2}
LANES = {"plain C": ["lanes 1"], "x86": ["lanes 1 2", "lanes 1 2 4"], "NEON": ["lanes 1 2"]}


def test_every_branch_of_vectors_h_gives_the_same_bits(tmp_path):
    """Test the branches that this machine can run; `.ci/deep compilers` tests the others."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "needs a C compiler"
    native = {"x86_64": "x86", "amd64": "x86", "aarch64": "NEON", "arm64": "NEON"}.get(platform.machine().lower())
    printed = {}
    for branch, number in BRANCHES.items():
        if branch not in ("plain C", native):
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
