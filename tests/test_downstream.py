"""rankgain called from other people's compiled code: three small packages, built as their authors would, from the
outside: in isolation, against the wheel, and against headers of other versions."""

import re
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from wheels import ROOT, build, install, python, refusal

pytestmark = pytest.mark.checkout

DOWNSTREAM = ROOT / "tests" / "downstream"
PACKAGES = ["epoch_ndcg", "row_metrics", "lambdamart", "two_doors"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HEADER = (ROOT / "src" / "rankgain" / "include" / "rankgain.h").read_text()
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
PYTHON_H = ["-isystem", sysconfig.get_path("include")]


def isolated(tree: Path, wheel: Path, folder: Path) -> Path:
    """The wheel of a package, built where only what it requires is there, and no rankgain but this wheel."""
    shutil.copytree(tree, folder / "tree")
    constraint = folder / "constraint.txt"
    constraint.write_text(f"rankgain @ {wheel.as_uri()}\n")
    return build("wheel", folder / "tree", folder / "wheel", PIP_CONSTRAINT=str(constraint))


@pytest.fixture(scope="session")
def downstream(compiled_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which rankgain and the packages are installed."""

    def wheel(name: str) -> Path:
        return isolated(DOWNSTREAM / name, compiled_wheel, tmp_path_factory.mktemp(name))

    with ThreadPoolExecutor(2) as pool:
        wheels = list(pool.map(wheel, PACKAGES))
    return install(tmp_path_factory.mktemp("downstream") / "installed", compiled_wheel, *wheels)


def compile_row_metrics(header: str, folder: Path) -> str:
    """The statement that imports row_metrics, compiled with this text as rankgain.h."""
    (folder / "rankgain.h").write_text(header)
    built = folder / f"row_metrics{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = DOWNSTREAM / "row_metrics" / "row_metrics.c"
    linker = sysconfig.get_config_var("LDSHARED").split()
    subprocess.run([*linker, "-fPIC", *PYTHON_H, f"-I{folder}", source, "-o", built], check=True)
    return f"import sys; sys.path.insert(0, {str(folder)!r}); import row_metrics"


def check(name: str) -> str:
    return f"import sys; sys.path.append({str(DOWNSTREAM)!r}); import checks; checks.{name}()"


@pytest.mark.parametrize("name", PACKAGES)
def test_package(downstream: Path, name: str) -> None:
    assert python(downstream, f"{check(name)}; print('checked')") == ["checked"]


@pytest.mark.parametrize("standard", ["c99", "c17", "c++11", "c++17"])
@pytest.mark.parametrize("macro", ["PLAIN", "Py_LIMITED_API=0x030B0000", "RANKGAIN_NO_PYTHON"])
def test_header_gives_no_warning(standard: str, macro: str, tmp_path: Path) -> None:
    language = "c++" if "++" in standard else "c"
    source = "#include <rankgain.h>\n#include <rankgain.h>\nstatic const rankgain_api *api;\nint main(void) { "
    if macro == "RANKGAIN_NO_PYTHON":
        source += "return api && api->message(RANKGAIN_OK) == 0; }\n"
    else:
        source += "api = rankgain_import(); return api == 0; }\n"
    header = ROOT / "src" / "rankgain" / "include"
    python_h = [] if macro == "RANKGAIN_NO_PYTHON" else PYTHON_H
    command = ["cc", "-x", language, f"-std={standard}", *STRICT, f"-D{macro}", *python_h, "-I", header]
    subprocess.run([*command, "-fsyntax-only", "-"], input=source, text=True, check=True)


def test_c_package_gives_no_warning() -> None:
    source = DOWNSTREAM / "row_metrics" / "row_metrics.c"
    header = ROOT / "src" / "rankgain" / "include"
    subprocess.run(["cc", "-std=c99", *STRICT, *PYTHON_H, "-I", header, "-fsyntax-only", source], check=True)


def test_older_header_works(compiled: Path, tmp_path: Path) -> None:
    """Compiled when the structure was shorter."""
    older, members = re.subn(
        r"  int \(\*reciprocal_rank_from_scores_f64\)\([^{}]*\} rankgain_api;", "} rankgain_api;", HEADER
    )
    assert members == 1
    code = compile_row_metrics(older, tmp_path)
    assert python(compiled, f"{code}; {check('row_metrics')}; print(row_metrics.__file__)")[0].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("pattern", "other", "told"),
    [
        (r"\} rankgain_api;", "  int (*newer)(void);\n} rankgain_api;", "upgrade rankgain"),
        (r"(#define RANKGAIN_ABI_VERSION) \d+", r"\1 77", "compiled for version 77 of rankgain's C functions"),
    ],
    ids=["newer", "broken"],
)
def test_other_header_is_refused(compiled: Path, tmp_path: Path, pattern: str, other: str, told: str) -> None:
    header, count = re.subn(pattern, other, HEADER)
    assert count == 1
    text = refusal(compiled, compile_row_metrics(header, tmp_path))
    assert text.startswith("ImportError")
    assert told in text


@pytest.mark.parametrize("pure_wheel", [{"RANKGAIN_EXTENSION": "skip"}], ids=["skip"], indirect=True)
def test_nothing_is_compiled(pure: Path, tmp_path: Path) -> None:
    text = refusal(pure, compile_row_metrics(HEADER, tmp_path))
    assert text.startswith("ImportError")
    assert "compiled" in text


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("language", "name", "count"),
    [
        ("cython", "epoch_ndcg/epoch_ndcg.pyx", 1),
        ("toml", "epoch_ndcg/pyproject.toml", 1),
        ("c", "row_metrics/row_metrics.c", 2),
        ("cpp", "lambdamart/lambdamart.cpp", 1),
    ],
)
def test_readme_shows_these_files(language: str, name: str, count: int) -> None:
    source = (DOWNSTREAM / name).read_text()
    shown = blocks(language)
    assert len(shown) == count
    assert all(f"\n{block}\n" in f"\n{source}\n" for block in shown)
    assert language not in ("cython", "toml") or shown == [source]  # as a whole


def test_readme_shows_the_setup() -> None:
    assert (DOWNSTREAM / "row_metrics" / "setup.py").read_text() in blocks("python")


if find_spec("numba"):

    def test_numba_as_the_readme_shows_it(compiled: Path) -> None:
        (example,) = (block for block in blocks("python") if "import numba" in block)
        call = "values, failed = rr_of_rows(np.array([[0.0, 0, 1], [0, 2, 1], [1, -1, 0]]), 10)"
        assert python(compiled, f"{example}{call}; print(values, failed)") == ["[0.33333333 0.5               nan] 1"]
