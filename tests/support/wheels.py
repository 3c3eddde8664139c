"""Fixtures that build the sdist and wheels of this checkout and install them as users do.

BUILT_FOLDER is set by `.ci/run` to the folder of the sdist and the compiled wheel that it has built from this checkout.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from support import ROOT

LITTER = (".*", "__pycache__", "build", "dist", "*.egg-info", "*.so", "*.pyd")


def run(*command: object, cwd: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command with the given environment variables, after removing all RANKGAIN_* and PYTHON* variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RANKGAIN_", "PYTHON"))}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {key: str(value) for key, value in settings.items()},
        capture_output=True,
        text=True,
    )


def build(kind: str, tree: Path, out: Path, **settings: str) -> Path:
    result = run(sys.executable, "-m", "build", f"--{kind}", "--outdir", out, tree, cwd=tree.parent, **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    (built,) = out.iterdir()
    return built


def build_wheel(sdist: Path, folder: Path, **settings: str) -> Path:
    """Build a wheel from a freshly unpacked sdist, because a wheel would include files left by an earlier build."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return build("wheel", tree, folder / "wheel", **settings)


def install(folder: Path, *wheels: Path) -> Path:
    result = run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder, *wheels, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


def python(installed: Path, code: str, **settings: str) -> list[str]:
    """Run code in a new process in an empty folder, using the given installation, and return the printed lines."""
    empty = installed.with_name(installed.name + "-empty")
    empty.mkdir(exist_ok=True)
    code = f"import rankgain\nassert rankgain.__file__.startswith({str(installed)!r}), rankgain.__file__\n{code}"
    result = run(sys.executable, "-c", code, cwd=empty, PYTHONPATH=installed, **settings)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def refusal(installed: Path, statement: str = "import rankgain", **settings: str) -> str:
    """Return the type, message and cause of the exception that the statement raises."""
    code = f"try:\n    {statement}\nexcept Exception as error:\n    print(type(error).__name__, error, error.__cause__)"
    result = run(sys.executable, "-c", code, cwd=installed, PYTHONPATH=installed, **settings)
    assert result.returncode == 0, result.stderr
    assert result.stdout, "the import went through"
    return result.stdout


def already_built(pattern: str) -> Path | None:
    """Return the file with this pattern in BUILT_FOLDER, or None if the variable is not set."""
    folder = os.environ.get("BUILT_FOLDER")
    if not folder:
        return None
    (built,) = Path(folder).glob(pattern)
    return built


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if built := already_built("*.tar.gz"):
        return built
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*LITTER))
    return build("sdist", folder / "tree", folder / "out")


@pytest.fixture(scope="session")
def compiled_wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("rankgain._compiled.walk") is None:
        pytest.skip("the rankgain under test was installed without a compiler")
    if built := already_built("*.whl"):
        return built
    return build_wheel(sdist, tmp_path_factory.mktemp("compiled"), RANKGAIN_EXTENSION="require")


@pytest.fixture(scope="session", params=[{"RANKGAIN_EXTENSION": "skip"}, {"CC": "/bin/false"}], ids=["skip", "auto"])
def pure_wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return build_wheel(sdist, tmp_path_factory.mktemp("pure"), **request.param)


@pytest.fixture(scope="session")
def compiled(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("installed") / "compiled", compiled_wheel)


@pytest.fixture(scope="session")
def pure(pure_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("installed") / "pure", pure_wheel)
