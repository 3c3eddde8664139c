"""An application that PyInstaller freezes into one file with the hook in rankgain/tools/pyinstaller."""

import ast
import sys
from itertools import chain
from pathlib import Path

import pytest
from support.wheels import run

pytestmark = [pytest.mark.slow, pytest.mark.checkout, pytest.mark.needs("PyInstaller")]

APPLICATION = """
import rankgain as rg
import rankgain.batches, rankgain.capi, rankgain.cli, rankgain.pytrec_eval, rankgain.sklearn

print(rg.backend, rg.read_trec(*rg.sample()).evaluate("ndcg@10").mean("ndcg@10"))
"""
# Files that the application does not need: files for `python -m`, C compilers and type checkers, integrations with
# frameworks that it does not import, and Python modules that are replaced by extension modules of the same name.
NOT_FROZEN = {
    *("__main__.py", "torchmetrics.py", "tools/pyinstaller/__init__.py", "tools/pyinstaller/hook-rankgain.py"),
    *("spark/__init__.py", "spark/evaluator.py", "spark/jobs.py", "spark/workers.py"),
    *("__init__.pxd", "capi.pxd", "capi.pyi", "capi.py", "include/rankgain.h", "py.typed"),
}


@pytest.fixture(scope="module")
def folder(compiled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that has the application in dist/ and PyInstaller's lists of its contents in build/."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "application.py").write_text(APPLICATION)
    command = sys.executable, "-m", "PyInstaller", "--onefile", "application.py"
    result = run(*command, cwd=folder, PYTHONPATH=compiled)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("backend", ["compiled", "python"])
def test_frozen_application_evaluates_with_each_backend(folder: Path, backend: str) -> None:
    result = run(folder / "dist" / "application", cwd=folder, RANKGAIN_BACKEND=backend)
    assert result.stdout == f"{backend} 0.5313759453608279\n", result.stderr


def test_frozen_application_has_all_modules_and_data(folder: Path, compiled: Path) -> None:
    package = compiled / "rankgain"
    files = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    lists = [ast.literal_eval((folder / f"build/application/{name}-00.toc").read_text()) for name in ("PYZ", "PKG")]
    entries = chain.from_iterable(part for part in chain(*lists) if isinstance(part, list))
    missing = files - {Path(source) for _, source, _ in entries}
    assert {path.relative_to(package).as_posix() for path in missing} == NOT_FROZEN
