"""The contents of the sdist and the wheels, and the behaviour of installed wheels, including damaged ones."""

import os
import re
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
from support import ROOT
from support.marks import FREE_THREADED
from support.release import LARGEST
from support.wheels import LITTER, build_wheel, python, refusal

pytestmark = pytest.mark.checkout

BINARY = ".pyd" if sys.platform == "win32" else ".abi3.so"
if FREE_THREADED:
    BINARY = sysconfig.get_config_var("EXT_SUFFIX")

NDCG = "print(rankgain.ndcg([3, 2, 3, 0, 1, 2], k=3))"
NDCG_VALUE = "0.9777813616305049"
SAMPLE = "import sys; from rankgain.cli import main; sys.argv[1:] = ['eval', '--sample']; sys.exit(main())"
WORKS = f"print(rankgain.backend)\n{NDCG}\n{SAMPLE}"
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}


def files(*folders: str) -> set[str]:
    """Return the files of the checkout in these folders, without caches and build files."""
    paths = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    litter = {path for path in paths if any(fnmatch(part, pattern) for part in path.parts for pattern in LITTER)}
    return {path.as_posix() for path in paths if path not in litter}


def members(wheel: Path) -> tuple[set[str], set[str]]:
    """Return the names of the files in the package, and the names of the metadata files without their folder."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name for name in names if name.startswith("rankgain/")}
    return package, {name.partition(".dist-info/")[2] for name in names - package}


# Files needed to call the C functions.
HEADERS = {"rankgain/__init__.pxd", "rankgain/capi.pxd", "rankgain/include/rankgain.h"}


def shipped() -> set[str]:
    """Return the source files in every wheel: Python modules, type information, schemas and sample data."""
    sources = {Path(name).relative_to("src/rankgain") for name in files("src")}
    return {
        f"rankgain/{path.as_posix()}"
        for path in sources
        if path.suffix in {".py", ".pyi", ".json"} or path.name == "py.typed" or path.parts[0] == "sample"
    }


def test_sdist_has_every_source_and_nothing_generated(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    top = {"pyproject.toml", "setup.py", "LICENSE", "README.md", "CHANGES.md", "CITATION.cff"}
    assert files("src", "tests") | top <= names
    assert {name for name in names if name.startswith("src/rankgain/")} == files("src")
    assert not [name for name in names if name.startswith("build/")]


def test_compiled_wheel_contains_expected_files_only(compiled_wheel: Path) -> None:
    package, metadata = members(compiled_wheel)
    modules = {name.removeprefix("src/").removesuffix(".pyx") for name in files("src") if name.endswith(".pyx")}
    assert modules
    modules.add("rankgain/_compiled/_cyutility")  # shared by all compiled modules
    assert package == shipped() | HEADERS | {module + BINARY for module in modules}
    assert metadata == METADATA
    assert compiled_wheel.stat().st_size < LARGEST


def test_compiled_wheel_tag(compiled_wheel: Path) -> None:
    tag = f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}t" if FREE_THREADED else "cp311-abi3"
    assert re.fullmatch(rf"rankgain-[\d.]+-{tag}-(?!any)\w+\.whl", compiled_wheel.name)


def test_pure_wheel_reports_the_python_backend(pure_wheel: Path) -> None:
    package, metadata = members(pure_wheel)
    assert package == shipped()
    assert metadata == METADATA
    assert pure_wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(pure_wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        assert "Root-Is-Purelib: true" in archive.read(name).decode()


def test_require_without_a_compiler_fails(sdist: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="/bin/false"):
        build_wheel(sdist, tmp_path, RANKGAIN_EXTENSION="require", CC="/bin/false")


@pytest.mark.parametrize(("choice", "got"), [("auto", "compiled"), ("compiled", "compiled"), ("python", "python")])
def test_compiled_wheel_works(compiled: Path, choice: str, got: str) -> None:
    backend, value, *sample = python(compiled, WORKS, RANKGAIN_BACKEND=choice)
    assert (backend, value) == (got, NDCG_VALUE)
    assert "ndcg" in "\n".join(sample)


@pytest.mark.parametrize("choice", ["auto", "python"])
def test_pure_wheel_works(pure: Path, choice: str) -> None:
    backend, value, *sample = python(pure, WORKS, RANKGAIN_BACKEND=choice)
    assert (backend, value) == ("python", NDCG_VALUE)
    assert "ndcg" in "\n".join(sample)


def test_pure_wheel_works_as_a_zip_file(pure_wheel: Path) -> None:
    """The sample files are extracted only once and remain available while the process runs."""
    code = "import os\nprint(rankgain.sample() == rankgain.sample(), *map(os.path.isfile, rankgain.sample()))"
    paths = "print(*rankgain.sample())"
    *lines, files = python(pure_wheel, f"{WORKS.replace('sys.exit', '')}\n{code}\n{paths}")
    assert lines[:2] == ["python", NDCG_VALUE]
    assert lines[-1] == "True True True"
    assert not any(map(os.path.exists, files.split()))


def test_forced_compiled_backend_is_rejected_where_it_is_missing(pure: Path) -> None:
    text = refusal(pure, RANKGAIN_BACKEND="compiled")
    assert text.startswith("ImportError")
    assert "RANKGAIN_EXTENSION=require" in text


@pytest.mark.parametrize("code", ["import rankgain.capi", "import rankgain; rankgain.get_include()"])
def test_missing_c_functions_raise_import_error(pure: Path, code: str) -> None:
    text = refusal(pure, code)
    assert text.startswith("ImportError")
    assert "RANKGAIN_EXTENSION=require" in text


def test_broken_extension_raises(compiled: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(compiled, tmp_path / "broken")
    binaries = [*broken.glob(f"rankgain/**/*{BINARY}")]
    assert binaries
    # modules that are loaded on first use
    later = {name: f"from rankgain._backend import {name}" for name in ("lines", "flips", "lambdas")}
    later["capi"] = "import rankgain.capi"
    for binary in binaries:
        whole = binary.read_bytes()
        binary.write_bytes(b"not a library")
        for choice in ("auto", "compiled"):
            name = binary.name.removesuffix(BINARY)
            text = refusal(broken, later.get(name, "import rankgain"), RANKGAIN_BACKEND=choice)
            assert text.startswith("ImportError")
            assert binary.name in text
            assert name == "capi" or "RANKGAIN_BACKEND=python" in text  # the Python backend has no C functions
        assert python(broken, NDCG, RANKGAIN_BACKEND="python") == [NDCG_VALUE]
        binary.write_bytes(whole)


def test_unknown_backend_is_refused(compiled: Path) -> None:
    text = refusal(compiled, RANKGAIN_BACKEND="fortran")
    assert all(word in text for word in ("RANKGAIN_BACKEND", "fortran", "auto", "compiled", "python"))
