"""Build the extension modules; without a C compiler, only the pure-Python modules are installed.

Environment variables:

RANKGAIN_EXTENSION=auto     compile if possible, else install only the pure-Python modules (the default)
                   require  fail to install if compilation fails
                   skip     do not compile; the wheel is py3-none-any
RANKGAIN_DEBUG=1            enable bounds checks, initialisation checks and C assertions; disable optimisation
SOURCE_DATE_EPOCH           the date of all files in an sdist or wheel; if it is set, builds are reproducible
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
from pathlib import Path

import setuptools
from setuptools import Extension, setup
from setuptools.command.sdist import sdist

if int(setuptools.__version__.partition(".")[0]) < 77:  # reads `license` of pyproject.toml, and has bdist_wheel
    sys.exit(f"rankgain needs setuptools 77 or later, not {setuptools.__version__}: pip install 'setuptools>=77'")

from setuptools.command.bdist_wheel import bdist_wheel

MODE = os.environ.get("RANKGAIN_EXTENSION", "auto")
if MODE not in ("auto", "require", "skip"):
    sys.exit(f"RANKGAIN_EXTENSION must be auto, require or skip, not {MODE!r}")
DEBUG = os.environ.get("RANKGAIN_DEBUG") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
WINDOWS = sys.platform == "win32"
# Free-threaded builds have no limited API before Python 3.15, and Cython cannot use it on later versions yet.
ABI3 = sys.implementation.name == "cpython" and not FREE_THREADED
LIMITED = [("Py_LIMITED_API", "0x030B0000")] if ABI3 else []

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "cdivision": not DEBUG,
    "freethreading_compatible": True,
    "binding": False,  # make builtin functions: calls are faster, and the wheel is a tenth smaller
    "embedsignature": True,
    "embedsignature.format": "clinic",  # inspect.signature() reads the docstrings of builtin functions
}
# Unwind tables are not needed because the code throws no C++ exceptions. Automatic vectorisation and unrolling are off:
# loops that benefit from SIMD use it explicitly (simd_loops.h), and vectorising others showed no measurable gain.
# Functions and loops are aligned because alignment changes the time of a loop by up to a tenth (measured on 1000 x 1000
# scores). Without alignment, any edit could shift the timings of unrelated code.
SMALL = ["-O2", "-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
SMALL += ["-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-unroll-loops"]
if sys.platform == "linux":
    SMALL += ["-fno-plt", "-falign-functions=64", "-falign-loops=32"]
# Disable fused multiply-add, so that results are bit-identical on every machine and in plain Python.
UNIX_FLAGS = ["-ffp-contract=off", *(["-O0", "-g3", "-UNDEBUG"] if DEBUG else SMALL)]
# In the engine, -O3 saves up to 9 % of the time, and 25 % when ordering many documents. Elsewhere it would save at most
# 3 % of the instructions, and add 6 kB to the wheel. The shared utility code has no hot loop.
LEVELS = {} if DEBUG or WINDOWS else {"walk": ["-O3"], "_cyutility": ["-Os"]}
FLAGS = ["/fp:precise", "/Od" if DEBUG else "/O2"] if WINDOWS else UNIX_FLAGS


def shared_code(path: Path) -> Path:
    """Write the utility C code that Cython would otherwise repeat in each module, doubling the size of the wheel.

    If the file would not change, it is left alone, which avoids recompiling it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, path.name)
        cython = [sys.executable, "-m", "cython", "-X", "freethreading_compatible=True", f"--generate-shared={new}"]
        subprocess.run(cython, check=True)
        if not path.exists() or path.read_bytes() != new.read_bytes():
            shutil.copyfile(new, path)
    return path


def extensions() -> list[Extension]:
    # On PyPy and other interpreters, calling C code would be slower than running the pure-Python code.
    if MODE == "skip" or (MODE == "auto" and sys.implementation.name != "cpython"):
        return []
    from Cython.Build import cythonize

    package = Path("src/rankgain")
    common = shared_code(Path("build/cython/src/rankgain/_compiled/_cyutility.c"))
    # cythonize() tracks .pxi and .pxd files and the headers named in them, but not headers included by those headers.
    headers = sorted(str(path) for path in package.rglob("*.h"))
    sources = {f"rankgain.{path.stem}": path for path in package.glob("*.pyx")}
    sources |= {f"rankgain._compiled.{path.stem}": path for path in [*package.glob("_compiled/*.pyx"), common]}
    modules = [
        Extension(
            name,
            [str(source)],
            depends=headers,
            include_dirs=[str(package / "_compiled"), str(package / "include")],
            libraries=[] if WINDOWS else ["m"],  # link libm so that its symbols are versioned
            extra_compile_args=[*FLAGS, *LEVELS.get(source.stem, [])],
            extra_link_args=["-s"] if sys.platform == "linux" and not DEBUG else [],  # strip the symbol table
            define_macros=[("CYTHON_COMPRESS_STRINGS", "0"), *LIMITED],  # compressing the wheel is more effective
            py_limited_api=ABI3,
        )
        for name, source in sorted(sources.items())
    ]
    modules = cythonize(
        modules,
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name="rankgain._compiled._cyutility",
    )
    for module in modules:  # cythonize() does not keep `optional`
        module.optional = MODE == "auto"
    return modules


def mode_of(executable: bool | int) -> int:
    return 0o755 if executable else 0o644


def readme() -> str:
    """Return README.md for PyPI with absolute links to the site, or to the tagged sources for files outside docs."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    tag = f"{project['urls']['Repository']}/blob/v{project['version']}/"

    def absolute(link: re.Match[str]) -> str:
        if not link["path"].startswith("docs/"):
            return f"]({tag}{link['path']})"
        page = re.sub(r"\.md(?=#|$)", ".html", link["path"].removeprefix("docs/"))
        return f"]({project['urls']['Documentation']}{page})"

    return re.sub(r"\]\((?!\w+:|#)(?P<path>[^)]+)\)", absolute, Path("README.md").read_text(encoding="utf-8"))


class WholeSdist(sdist):
    """Make an sdist with all sources, tests and data files but no build output, whether or not modules are compiled."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        paths = {str(path) for folder in ("src", "tests") for path in Path(folder).rglob("*.*") if path.is_file()}
        built = {name for name in paths if re.search(r"\.(so|pyd|pyc)$|\.egg-info", name)}
        super().make_release_tree(base_dir, sorted((paths - built).union(files, ["CHANGES.md", "CITATION.cff"])))

    def make_archive(self, base_name: str, format: str, root_dir=None, base_dir=None, owner=None, group=None) -> str:
        """Write a reproducible archive that does not depend on the user, group, umask or time of the build."""
        date = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

        def impersonal(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.mtime, entry.mode = date, mode_of(entry.isdir() or entry.mode & 0o100)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            return entry

        name = f"{base_name}.tar.gz"
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=date) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            archive.add(base_dir, filter=impersonal)
        return name


class HonestWheel(bdist_wheel):
    """Make a wheel; if nothing was compiled, tag it py3-none-any and leave out the headers.

    File modes do not depend on the umask. An editable wheel holds no package, and is written before anything is
    compiled: it remains as setuptools makes it.
    """

    def is_editable(self) -> bool:
        return "editable_wheel" in self.distribution.command_obj

    def get_tag(self) -> tuple[str, str, str]:
        built = [path for path in self.get_finalized_command("build_ext").get_outputs() if Path(path).exists()]
        if not built and not self.is_editable():
            self.root_is_pure, self.py_limited_api = True, False
        return super().get_tag()

    def write_wheelfile(self, wheelfile_base: str, **about: str) -> None:
        """Write the WHEEL file, remove the headers if nothing was compiled, and set the modes of all files."""
        super().write_wheelfile(wheelfile_base, **about)
        if self.is_editable():
            return
        if self.root_is_pure:
            package = Path(self.bdist_dir, "rankgain")
            shutil.rmtree(package / "include")
            for path in package.glob("*.pxd"):
                path.unlink()
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(mode_of(path.is_dir() or path.suffix == ".so"))


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=extensions(),
    cmdclass={"bdist_wheel": HonestWheel, "sdist": WholeSdist},
    options={"build_ext": {"parallel": True}} | ({"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {}),
)
