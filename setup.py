"""The compiled half: which extensions there are, how they are compiled, and what if they cannot be.

RANKGAIN_EXTENSION=auto     compile if it can be done, else install the pure-Python half alone (the default)
                   require  a failure to compile is a failure to install
                   skip     do not try; the wheel is py3-none-any
RANKGAIN_DEBUG=1            bounds checks, initialisation checks and C assertions on, optimisation off
SOURCE_DATE_EPOCH           the date of every file in an sdist or wheel: with it, the same sources give the same bytes
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

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.sdist import sdist

MODE = os.environ.get("RANKGAIN_EXTENSION", "auto")
if MODE not in ("auto", "require", "skip"):
    sys.exit(f"RANKGAIN_EXTENSION must be auto, require or skip, not {MODE!r}")
DEBUG = os.environ.get("RANKGAIN_DEBUG") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
WINDOWS = sys.platform == "win32"
# The limited API does not exist on free-threaded builds before 3.15, nor in Cython for later ones.
ABI3 = sys.implementation.name == "cpython" and not FREE_THREADED
LIMITED = [("Py_LIMITED_API", "0x030B0000")] if ABI3 else []

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "cdivision": not DEBUG,
    "freethreading_compatible": True,
    "binding": False,  # builtin functions: called sooner, and a tenth of a wheel less
    "embedsignature": True,
    "embedsignature.format": "clinic",  # for them the signature stands in the text
}
# A small wheel: nothing here throws, so there are no tables for what does; functions stand where they fit, and those
# of Python are called through one table. With -O3 the modules weigh 52 kB more and take 0 to 9 % less time, 25 % less
# where many are ordered. Loops stay as they are written: those that vectors make quicker are written with them
# (simd_loops.h); to let the compiler do so gains nothing that can be measured. Functions and loops are aligned: else
# any change moves them all, and where a loop falls decides over a tenth of its time (1000 x 1000 scores in full).
SMALL = ["-O3", "-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
SMALL += ["-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-unroll-loops"]
if sys.platform == "linux":
    SMALL += ["-fno-plt", "-falign-functions=64", "-falign-loops=32"]
# The same bits on every machine and in plain Python: no fused multiply-add, no reordering.
UNIX_FLAGS = ["-ffp-contract=off", *(["-O0", "-g3", "-UNDEBUG"] if DEBUG else SMALL)]
GLUE = [] if DEBUG or WINDOWS else ["-Os"]  # there is no loop to make quicker
FLAGS = ["/fp:precise", "/Od" if DEBUG else "/O2"] if WINDOWS else UNIX_FLAGS


def shared_code(path: Path) -> Path:
    """Write the C code that all modules share, which Cython would otherwise repeat in each: half the wheel's size.

    Unchanged code is not written again, so that its module is not recompiled.
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
    # PyPy and others run the pure half faster than they would cross into C.
    if MODE == "skip" or (MODE == "auto" and sys.implementation.name != "cpython"):
        return []
    from Cython.Build import cythonize

    package = Path("src/rankgain")
    common = shared_code(Path("build/cython/src/rankgain/_compiled/_cyutility.c"))
    # cythonize() tracks .pxi and .pxd files, and the headers that they name, but not the headers those include.
    headers = sorted(str(path) for path in package.rglob("*.h"))
    sources = {f"rankgain.{path.stem}": path for path in package.glob("*.pyx")}
    sources |= {f"rankgain._compiled.{path.stem}": path for path in [*package.glob("_compiled/*.pyx"), common]}
    modules = [
        Extension(
            name,
            [str(source)],
            depends=headers,
            include_dirs=[str(package / "_compiled"), str(package / "include")],
            libraries=[] if WINDOWS else ["m"],  # unnamed, libm's symbols would stay unversioned
            extra_compile_args=[*FLAGS, *(GLUE if source == common else [])],
            extra_link_args=["-s"] if sys.platform == "linux" and not DEBUG else [],  # no table of symbols
            define_macros=[("CYTHON_COMPRESS_STRINGS", "0"), *LIMITED],  # a wheel compresses them better
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
    for module in modules:  # cythonize() forgets `optional`
        module.optional = MODE == "auto"
    return modules


def mode_of(executable: bool | int) -> int:
    return 0o755 if executable else 0o644


def readme() -> str:
    """README.md for PyPI, with absolute links: to pages of docs on the site, to other files at the tag."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    tag = f"{project['urls']['Repository']}/blob/v{project['version']}/"

    def absolute(link: re.Match[str]) -> str:
        if not link["path"].startswith("docs/"):
            return f"]({tag}{link['path']})"
        page = re.sub(r"\.md(?=#|$)", ".html", link["path"].removeprefix("docs/"))
        return f"]({project['urls']['Documentation']}{page})"

    return re.sub(r"\]\((?!\w+:|#)(?P<path>[^)]+)\)", absolute, Path("README.md").read_text(encoding="utf-8"))


class WholeSdist(sdist):
    """All sources and tests with what they read, whatever this build compiles; nothing that was built."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        found = {str(path) for folder in ("src", "tests") for path in Path(folder).rglob("*.*") if path.is_file()}
        built = {name for name in found if re.search(r"\.(so|pyd|pyc)$|\.egg-info", name)}
        super().make_release_tree(base_dir, sorted((found - built).union(files)))

    def make_archive(self, base_name: str, format: str, root_dir=None, base_dir=None, owner=None, group=None) -> str:
        """Without what depends on who packs it, where and when."""
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
    """A wheel in which nothing was compiled says so in its tag; and one's umask does not show."""

    def get_tag(self) -> tuple[str, str, str]:
        built = [path for path in self.get_finalized_command("build_ext").get_outputs() if Path(path).exists()]
        if not built:
            self.root_is_pure, self.py_limited_api = True, False
        return super().get_tag()

    def write_wheelfile(self, wheelfile_base: str, **about: str) -> None:
        """The last of its files, after which all get the modes that they have for everybody."""
        super().write_wheelfile(wheelfile_base, **about)
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(mode_of(path.is_dir() or path.suffix == ".so"))


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=extensions(),
    cmdclass={"bdist_wheel": HonestWheel, "sdist": WholeSdist},
    options={"build_ext": {"parallel": True}} | ({"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {}),
)
