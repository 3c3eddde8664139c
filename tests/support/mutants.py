"""Whether the tests notice faults: mutants of the sources, drawn by a seed, in a copy of the tree.

    python tests/support/mutants.py                      100 of all files, and those of `mutants.toml`
    python tests/support/mutants.py --seed 2 --count 50 WORD ...

The second draws 50 of those whose "file: function: change" holds one of the words: `_compiled/`, `.py:`, `walk.pyx`.

Drawn are operators, comparisons and constants that are changed, bounds of slices and ranges that are moved, arguments
that are swapped, and keyword arguments and statements that are dropped, in all of the package. They stand in one build,
each switched on when it runs (see `places.py`). Each is tested in a process of its own by the tests that reach its
place, the quickest first, until one fails, crashes or takes far too long. One that survives is judged anew, by more of
them and with as many examples as `.ci/run` draws. The pytest that finds out which tests reach what has this file as a
plugin. What the list has, in C headers, is put in alone and compiled anew; that of the backend
"sanitized" by GCC with its sanitizers, for what it reads is seen by nothing else. So the interpreter that runs this has
Cython and setuptools beside the libraries of the tests.

A drawn mutant that survives is a gap in the tests, or makes no difference: it is printed with its lines for a person to
judge. What is drawn depends on the seed and the text of the statement alone: a change of the sources leaves the other
mutants as they were. The status is 1 if one of the list survives.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import places

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src", "rankgain")
DRAWN = {".py", ".pyx", ".pxi", ".pxd"}
PATIENCE = 300  # seconds that the tests of a mutant of the list may take
# How a mutant is judged until it is caught: the examples that are drawn, the seconds that its tests take without it, on
# a machine that may be busy (those beyond are left out), and the seconds that one test may take with it. Most are
# caught by the first few tests, which are sooner collected than all.
ROUNDS = [("mutants", 5.0, 60), ("mutants", 120.0, 60), ("more-mutants", 600.0, 300)]
PASSED, FAILED = 0, 1  # what pytest returns
TESTED = "not checkout and not peers and not spark and not cluster"
SANITIZED = "sanitized"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
COMPILER = '#!/bin/sh\nexec cc "$@" -O0\n'  # behind the flags of setup.py, which take longer
MEMORY = 12 << 30  # bytes of addresses that the tests of a mutant may take
SHOWN = 3  # lines before and after one that survives
# Which mutant of a build acts, and which were come by: both halves and all processes share a file of 32-bit integers,
# the number of the one that acts, then for each whether its place was reached.
HEADER = """
#ifndef RANKGAIN_MUTANTS_H
#define RANKGAIN_MUTANTS_H
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int *rankgain_board;

__attribute__((constructor)) static void rankgain_open_board(void) {
  const char *path = getenv("RANKGAIN_MUTANTS");
  struct stat found;
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0 || fstat(file, &found)) return;
  void *board = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (board != MAP_FAILED) rankgain_board = board;
}

static inline int rankgain_mutant(int number) {
  if (!rankgain_board) return 0;
  rankgain_board[number] = 1;
  return rankgain_board[0] == number;
}
#endif
"""
MODULE = """
import builtins, mmap, os

board = None
if "RANKGAIN_MUTANTS" in os.environ:
    with open(os.environ["RANKGAIN_MUTANTS"], "r+b") as file:
        board = memoryview(mmap.mmap(file.fileno(), 0)).cast("i")

def is_chosen(number):
    if board is None:
        return False
    board[number] = 1
    return board[0] == number

builtins.rankgain_mutant = is_chosen
"""
DECLARATION = '\ncdef extern from "rankgain_mutants.h":\n    bint rankgain_mutant(int number) noexcept nogil\n'


class Mutant(NamedTuple):
    """A fault: where it stands and what it does; of those of the list the texts, and what tests it."""

    file: str
    does: str
    edit: places.Edit | None = None
    old: str = ""
    new: str = ""
    backend: str = ""
    tests: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.does}"

    def shown(self) -> str:
        """Its lines, before and after, with some around them."""
        if self.edit is None:
            return f"    {self.old}  →  {self.new}"
        text = source(self.file)
        changed = text[: self.edit.start] + self.edit.new + text[self.edit.stop :]
        return "\n".join(unified_diff(text.splitlines(), changed.splitlines(), self.file, lineterm="", n=SHOWN))


@cache
def source(file: str) -> str:
    return (ROOT / PACKAGE / file).read_text()


def listed() -> Iterator[Mutant]:
    """Those of the list. Where one names no tests or backend, its file does."""
    for file, table in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text()).items():
        for does, own in table["mutants"].items():
            named = {"backend": table.get("backend", ""), "tests": table.get("tests", "")} | own
            text, old = source(file), own["old"]
            assert text.count(old) == 1, f"{file}: {does}: stands {text.count(old)} times in the file: {old!r}"
            assert old != own["new"], f"{file}: {does}: is no change"
            yield Mutant(file, does, **named)


@cache
def candidates() -> list[Mutant]:
    """All that can be drawn; those of one name are one after the other."""
    files = sorted(path for path in (ROOT / PACKAGE).rglob("*.*") if path.suffix in DRAWN)
    names = [str(path.relative_to(ROOT / PACKAGE)) for path in files if "spark" not in path.parts]
    return [
        Mutant(file, f"{line.function or 'module'}: {places.described(source(file), line, edit)}", edit)
        for file in names
        for line, edit in places.edits(source(file), not file.endswith(".py"))
    ]


def drawn(seed: str, count: int, words: list[str]) -> list[Mutant]:
    seen, lots = Counter[str](), []
    for mutant in candidates():
        seen[str(mutant)] += 1
        if is_asked(mutant, words):
            lot = hashlib.sha256(f"{seed} {seen[str(mutant)]} {mutant}".encode()).digest()
            lots.append((lot, mutant))
    edits: dict[str, list[places.Edit]] = defaultdict(list)
    found: list[Mutant] = []
    for _, mutant in sorted(lots, key=lambda pair: pair[0]):
        if len(found) == count:
            break
        if places.fit([*edits[mutant.file], mutant.edit]):
            edits[mutant.file].append(mutant.edit)
            found.append(mutant)
    return found


def is_asked(mutant: Mutant, words: list[str]) -> bool:
    return not words or any(word in str(mutant) for word in words)


def clean() -> dict[str, str]:
    """The environment without settings of ours or of pytest."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("RANKGAIN_", "PYTEST_"))}


def run(folder: Path, command: list[str], environment: dict[str, str], patience: int | None) -> tuple[int | None, str]:
    """What a command returned, None if it was not waited for any longer, and what it printed."""
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=clean() | environment,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(patience)
        except subprocess.TimeoutExpired:
            status = None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        printed.seek(0)
        return status, printed.read().decode(errors="replace")


def copied(folder: str, name: str) -> Path:
    root = Path(folder, name)
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.so", "__pycache__"))
    (root / "compiler").write_text(COMPILER)
    (root / "compiler").chmod(0o755)
    return root


def build(root: Path, backend: str) -> None:
    environment = {"RANKGAIN_EXTENSION": "require", "CC": str(root / "compiler")}
    if backend == SANITIZED:
        environment |= {"CC": "gcc", "CFLAGS": SANITIZERS, "LDFLAGS": SANITIZERS}
    status, printed = run(root, ["setup.py", "-q", "build_ext", "--inplace", "--force"], environment, None)
    if status != 0:
        raise RuntimeError(f"it does not compile\n{printed}")


class Build:
    """One build of many mutants, and the workers that test them."""

    def __init__(self, root: Path, mutants: list[Mutant], jobs: int):
        self.root, self.jobs = root, jobs
        self.mutants = dict(enumerate(mutants, 1))
        self.seconds: dict[str, float] = {}
        self.reaching: dict[int, list[str]] = defaultdict(list)
        self.at_import: list[int] = []

    def make(self) -> None:
        """Put all mutants into the copy, and compile it without those that Cython refuses."""
        package = self.root / PACKAGE
        (package / "_compiled" / "rankgain_mutants.h").write_text(HEADER)
        (package.parent / "rankgain_mutants.py").write_text(MODULE)
        (self.root / "tests" / "package" / "test_mutants.py").unlink()
        declaring = {str(path.relative_to(package)) for path in package.rglob("*.p[xy][dx]")}
        self.write({"__init__.py", *declaring, *(mutant.file for mutant in self.mutants.values())})
        while refused := self.refused():
            print(f"not compiled: {', '.join(str(self.mutants.pop(number)) for number in refused)}", flush=True)
            self.write(refused.values())

    def write(self, files: Iterable[str]) -> None:
        for file in set(files):
            own = [(number, mutant.edit) for number, mutant in self.mutants.items() if mutant.file == file]
            path = self.root / PACKAGE / file
            declared = path.suffix == ".pxd" or (path.suffix == ".pyx" and not path.with_suffix(".pxd").exists())
            text = places.switched(source(file), own) + DECLARATION * declared
            if file == "__init__.py":
                text = re.sub(
                    r"^(?=import |from (?!__future__))", "import rankgain_mutants\n", text, count=1, flags=re.M
                )
            path.write_text(text)

    def refused(self) -> dict[int, str]:
        """Build it; of what Cython refuses the numbers, each with its file: the nearest to each line that it names."""
        try:
            build(self.root, "")
        except RuntimeError as error:
            found: dict[int, str] = {}
            for name, line in re.findall(rf"{PACKAGE}/(\S+\.p[xy][xdi]):(\d+):\d+:", str(error)):
                lines = (self.root / PACKAGE / name).read_text().splitlines()
                numbers = [[int(number) for number in re.findall(r"rankgain_mutant\((\d+)\)", one)] for one in lines]
                at = int(line) - 1
                before, after = (next(filter(None, near), []) for near in (numbers[at::-1], numbers[at:]))
                found |= dict.fromkeys(numbers[at] or before + after, name)
            if not found:
                raise
            return found
        return {}

    def pytest(self, name: str, chosen: int, profile: str, *options: str) -> subprocess.Popen[bytes]:
        """A pytest in which one mutant acts, or none."""
        folder = self.root / name
        folder.mkdir()
        (folder / "board").write_bytes(chosen.to_bytes(4, sys.byteorder) + bytes(4 * max(self.mutants)))
        environment = {
            "PYTHONPATH": f"{self.root / 'src'}:{self.root / 'tests'}",
            "HYPOTHESIS_PROFILE": profile,
            "RANKGAIN_MUTANTS": str(folder / "board"),
            "TMPDIR": str(folder),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", TESTED, *options]
        with (folder / "printed").open("wb") as out:
            return subprocess.Popen(
                command,
                cwd=self.root,
                env=clean() | environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            )

    def record(self) -> None:
        """Find out which tests reach which place."""
        shares = range(self.jobs)
        options = [f"--recorded={self.root}/record-{share}/{share}-{self.jobs}" for share in shares]
        workers = [
            self.pytest(f"record-{share}", 0, "mutants", "-p", "support.mutants", option)
            for share, option in zip(shares, options, strict=True)
        ]
        for worker, option in zip(workers, options, strict=True):
            worker.wait()
            result = Path(option.partition("=")[2])
            if not result.exists():
                raise RuntimeError(f"the tests cannot be run\n{(result.parent / 'printed').read_text()[-5000:]}")
            (_, _, _, self.at_import), *tests = map(json.loads, result.read_text().splitlines())
            for test, seconds, passes, reached in tests:
                self.seconds[test] = seconds
                for number in reached if passes else ():
                    self.reaching[number].append(test)
                if not passes:
                    print(f"without any mutant {test} fails: it is left out")
        if self.pytest("collect", 0, "mutants", "--collect-only", self.listed("all", self.seconds)).wait() != PASSED:
            raise RuntimeError("the tests cannot be collected by their names")

    def listed(self, name: str, tests: Iterable[str]) -> str:
        """A file of tests, as pytest takes it."""
        file = self.root / f"{name}.txt"
        file.write_text("\n".join(tests))
        return f"@{file}"

    def tests_of(self, number: int, enough: float) -> list[str]:
        """Those that reach its place; if it acts while the package is imported, that of any in its file, else all.

        Each function's quickest case comes first, as long as they take no more than enough.
        """
        found = set(self.reaching[number])
        if number in self.at_import:
            file = self.mutants[number].file
            found.update(*(self.reaching[other] for other, mutant in self.mutants.items() if mutant.file == file))
            found = found or set(self.seconds)
        cases, ranked = Counter[str](), []
        for test in sorted(found, key=self.seconds.__getitem__):
            function = test.partition("[")[0]
            ranked.append((cases[function], self.seconds[test], test))
            cases[function] += 1
        total, chosen = 0.0, list[str]()
        for _, seconds, test in sorted(ranked):
            total += seconds
            if total <= enough or not chosen:
                chosen.append(test)
        return chosen

    def judged(self) -> Iterator[tuple[Mutant, str]]:
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from zip(self.mutants.values(), pool.map(self.verdict, self.mutants), strict=True)

    def verdict(self, number: int) -> str:
        tests: list[str] = []
        for turn, (profile, enough, most) in enumerate(ROUNDS):
            tests = self.tests_of(number, enough)
            name = f"{number}-{turn}"
            if tests and not self.survives(name, number, profile, tests, most, PATIENCE + 10 * enough):
                return "caught"
        return f"SURVIVED {len(tests)} tests"

    def survives(self, name: str, number: int, profile: str, tests: list[str], most: int, patience: float) -> bool:
        limits = [f"--override-ini=faulthandler_{what}" for what in (f"timeout={most}", "exit_on_timeout=true")]
        worker = self.pytest(name, number, profile, "-x", *limits, self.listed(name, tests))
        survived = False
        with suppress(subprocess.TimeoutExpired):
            survived = worker.wait(patience) == PASSED
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)  # what the tests have started, if they were cut short
        return survived


def file_of(test: str) -> str:
    """A test of the list, with its file's path: the list has only the name, which no other file has."""
    name, *rest = test.split("::")
    (path,) = (ROOT / "tests").rglob(name)
    return "::".join([str(path.relative_to(ROOT / "tests")), *rest])


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


def judged_alone(root: Path, mutant: Mutant) -> str:
    path = root / PACKAGE / mutant.file
    path.write_text(source(mutant.file).replace(mutant.old, mutant.new))
    try:
        build(root, mutant.backend)
        return "SURVIVED" if passes(root, mutant.backend, mutant.tests.split(), PATIENCE) else "caught"
    except RuntimeError as error:
        return f"UNUSABLE, {error}"
    finally:
        path.write_text(source(mutant.file))


def verdicts_together(root: Path, mutants: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    one = Build(root, mutants, os.cpu_count() or 1)
    start = time.monotonic()
    one.make()
    print(f"{time.monotonic() - start:4.0f} s: one build of {len(mutants)} mutants", flush=True)
    one.record()
    print(f"{time.monotonic() - start:4.0f} s: what {len(one.seconds)} tests reach", flush=True)
    yield from one.judged()


def verdicts_alone(root: Path, mutants: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Of those that stand in a header or a declaration, and those that only the sanitizers see."""
    for kind in (SANITIZED, ""):
        own = [mutant for mutant in mutants if (mutant.backend == SANITIZED) == bool(kind)]
        if own:
            build(root, kind)
        for backend in dict.fromkeys(mutant.backend for mutant in own):
            tests = [test for mutant in own if mutant.backend == backend for test in mutant.tests.split()]
            if not passes(root, backend, dict.fromkeys(tests), None):
                raise RuntimeError("without any mutant the tests fail")
        for mutant in own:
            yield mutant, judged_alone(root, mutant)


# what pytest does if this is its plugin: it says which places each test reaches


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--recorded", type=Path, help="a file called by the share of the tests, and of how many")


class Recorder:
    """Of each test how long it takes, whether it passes, and the places that it reaches; of none, those before any."""

    def __init__(self, file: Path) -> None:
        import rankgain_mutants

        self.board, self.file = rankgain_mutants.board, file

    def write(self, test: str, seconds: float, passes: bool) -> None:
        reached = [number for number in range(1, len(self.board)) if self.board[number]]
        with self.file.open("a") as out:
            print(json.dumps([test, seconds, passes, reached]), file=out)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        share, shares = map(int, self.file.name.split("-"))
        items[:] = items[share::shares]  # what takes long stands side by side
        self.write("", 0.0, True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.board[1:] = memoryview(bytes(self.board[1:].nbytes)).cast("i")
        before, start = item.session.testsfailed, time.perf_counter()
        result = yield
        self.write(item.nodeid, time.perf_counter() - start, item.session.testsfailed == before)
        return result


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(config.getoption("recorded")))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args()
    both = (
        (verdicts_together, drawn(asked.seed, asked.count, asked.words)),
        (verdicts_alone, [mutant for mutant in listed() if is_asked(mutant, asked.words)]),
    )
    verdicts, start = {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for way, mutants in both:
            for mutant, found in way(copied(folder, way.__name__), mutants) if mutants else ():
                verdicts[mutant] = found
                if found != "caught":
                    print(f"{mutant}: {found}\n{mutant.shown()}", flush=True)
            print(f"{time.monotonic() - start:4.0f} s: {way.__name__}", flush=True)
    caught = sum(found == "caught" for found in verdicts.values())
    print(f"{caught} of {len(verdicts)} mutants caught")
    return int(any(found != "caught" and not mutant.edit for mutant, found in verdicts.items()))


if __name__ == "__main__":
    sys.exit(main())
