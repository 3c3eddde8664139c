"""Whether the tests notice faults: the mutants of `mutants.toml`, each put into a copy of the sources and tested alone.

    python tests/support/mutants.py              all of them, in less than an hour
    python tests/support/mutants.py WORD ...     those whose "file: what it does" holds one of the words

A mutant is caught if its tests fail, crash or never end. Those of the compiled half are compiled anew; so the
interpreter that runs this has Cython and setuptools beside the libraries of the tests. Those of the backend "sanitized"
are compiled by GCC with its sanitizers, for what they read is seen by nothing else. Before any mutant is made, all
tests that are to catch one pass. A mutant that survives is a gap in the tests; one that can make no difference does not
belong in the list.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COMPILED = {".pyx", ".pxi", ".pxd", ".h"}
PATIENCE = 300  # seconds that the tests of a mutant may take
PASSED, FAILED = 0, 1  # what pytest returns
SANITIZED = "sanitized"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
COMPILER = '#!/bin/sh\nexec cc "$@" -O0\n'  # behind the flags of setup.py, which take longer


class Mutant(NamedTuple):
    """A fault: a text that stands once in a file, and what stands there instead."""

    file: str
    does: str
    old: str
    new: str
    backend: str
    tests: str

    def __str__(self) -> str:
        return f"{self.file}: {self.does}"


def mutants() -> Iterator[Mutant]:
    """Those of the list. Where one names no tests or backend, its file does."""
    for file, table in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text()).items():
        for does, own in table["mutants"].items():
            yield Mutant(file, does, **{"backend": table["backend"], "tests": table["tests"]} | own)


def file_of(test: str) -> str:
    """A test of the list, with its file's path: the list has only the name, which no other file has."""
    name, *rest = test.split("::")
    (path,) = (ROOT / "tests").rglob(name)
    return "::".join([str(path.relative_to(ROOT / "tests")), *rest])


def source(root: Path, mutant: Mutant) -> Path:
    return root / "src" / "rankgain" / mutant.file


def mutated(text: str, mutant: Mutant) -> str:
    assert text.count(mutant.old) == 1, f"{mutant}: stands {text.count(mutant.old)} times in the file: {mutant.old!r}"
    assert mutant.old != mutant.new, f"{mutant}: is no change"
    return text.replace(mutant.old, mutant.new)


def write(path: Path, text: str) -> None:
    path.write_text(text)
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):  # which is told by the second and the size
        compiled.unlink()


def run(folder: Path, command: list[str], environment: dict[str, str], patience: int | None) -> tuple[int | None, str]:
    """What a command returned, None if it was not waited for any longer, and what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RANKGAIN_", "PYTEST_"))}
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=clean | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""
    return process.returncode, printed


def build(root: Path, backend: str) -> None:
    environment = {"RANKGAIN_EXTENSION": "require", "CC": str(root / "compiler")}
    if backend == SANITIZED:
        environment |= {"CC": "gcc", "CFLAGS": SANITIZERS, "LDFLAGS": SANITIZERS}
    status, printed = run(root, ["setup.py", "-q", "build_ext", "--inplace", "--force"], environment, None)
    if status != 0:
        raise RuntimeError(f"it does not compile\n{printed}")


def runtimes() -> str:
    """The libraries of the sanitizers, which come before the interpreter, for that is not instrumented."""
    found = [["gcc", f"-print-file-name={name}.so"] for name in ("libasan", "libubsan", "libstdc++")]
    return ":".join(subprocess.run(command, capture_output=True, text=True).stdout.strip() for command in found)


def passes(root: Path, backend: str, tests: Iterable[str], patience: int | None) -> bool:
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not checkout"]
    command = ["-m", "pytest", *options, *map(file_of, tests)]
    environment = {"PYTHONPATH": str(root / "src"), "RANKGAIN_BACKEND": backend, "HYPOTHESIS_PROFILE": "mutants"}
    if backend == SANITIZED:
        environment |= {"RANKGAIN_BACKEND": "compiled", "LD_PRELOAD": runtimes(), "PYTHONMALLOC": "malloc"}
        environment["ASAN_OPTIONS"] = "detect_leaks=0:alloc_dealloc_mismatch=0"
    status, printed = run(root / "tests", command, environment, patience)
    if status is not None and status > FAILED:
        raise RuntimeError(f"the tests cannot be run\n{printed}")
    if status == FAILED and patience is None:
        print(printed)
    return status == PASSED


def verdict(root: Path, mutant: Mutant) -> str:
    path = source(root, mutant)
    text = path.read_text()
    write(path, mutated(text, mutant))
    try:
        if path.suffix in COMPILED:
            build(root, mutant.backend)
        return "SURVIVED" if passes(root, mutant.backend, mutant.tests.split(), PATIENCE) else "caught"
    except RuntimeError as error:
        return f"UNUSABLE, {error}"
    finally:
        write(path, text)


def _is_sanitized(mutant: Mutant) -> bool:
    return mutant.backend == SANITIZED


def verdicts(root: Path, chosen: list[Mutant], build_for: str) -> list[str] | None:
    """Which mutants were not caught; None if their tests fail without them."""
    left = []
    build(root, build_for)
    for backend in dict.fromkeys(mutant.backend for mutant in chosen):
        tests = [test for mutant in chosen if mutant.backend == backend for test in mutant.tests.split()]
        if not passes(root, backend, dict.fromkeys(tests), None):
            return None
    for file, own in groupby(chosen, key=lambda mutant: mutant.file):
        for mutant in own:
            start = time.monotonic()
            found = verdict(root, mutant)
            print(f"{time.monotonic() - start:3.0f} s: {mutant}: {found}", flush=True)
            left += [f"{mutant}: {found}"] if found != "caught" else []
        if Path(file).suffix in COMPILED:
            build(root, build_for)  # as it was, for those of other files
    return left


def main(words: list[str]) -> list[str]:
    chosen = [mutant for mutant in mutants() if not words or any(word in str(mutant) for word in words)]
    left = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.so", "__pycache__"))
        (root / "compiler").write_text(COMPILER)
        (root / "compiler").chmod(0o755)
        for mutant in chosen:
            mutated(source(root, mutant).read_text(), mutant)
        for sanitized, some in groupby(sorted(chosen, key=_is_sanitized), key=_is_sanitized):
            found = verdicts(root, list(some), SANITIZED if sanitized else "")
            if found is None:
                return ["without any mutant the tests fail"]
            left += found
    print(f"{len(chosen) - len(left)} of {len(chosen)} mutants caught")
    return left


if __name__ == "__main__":
    sys.exit("\n".join(main(sys.argv[1:])) or 0)
