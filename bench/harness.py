"""The benchmark harness: run contenders in turns, compare their answers and times, check targets, write the results.

Import this module before NumPy because it limits every numerical library to one thread.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from importlib import metadata
from itertools import groupby, repeat
from pathlib import Path
from typing import Any, Literal, NamedTuple

if "numpy" in sys.modules:
    raise ImportError("import harness before NumPy, so that its thread settings count")
os.environ.update(
    {
        f"{library}_THREADS": "1"
        for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "VECLIB_MAXIMUM", "POLARS_MAX")
    }
)

import numpy as np

import rankgain as rg
from rankgain import _backend

Scale = Literal["smoke", "usual", "full"]
Clock = Callable[[], float]
PEERS = (
    "sklearn",
    "pytrec_eval",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "torchmetrics",
    "lightgbm",
    "xgboost",
    "catboost",
    "ranx",
    "implicit",
    "Cython",
    "numba",
)
ROUNDS, LONG_ROUNDS = 9, 5  # use LONG_ROUNDS if one round takes more than LONG seconds
LONG = 2.0
TURN = 0.03  # target length of a turn in seconds; short calls are repeated
REST, PATIENCE, PAUSE = 0.3, 600.0, 5.0  # load limit of an idle machine; seconds to wait in all, and between checks
BEGIN, END = "<!-- measured, written by bench/run.py --write -->", "<!-- end of what was measured -->"


class DifferentAnswer(Exception):
    """Raised if the contenders' answers differ, which makes a comparison of their times meaningless."""


class NotAtRest(Exception):
    """Raised if other processes keep the machine busy, which would distort the times."""


def vectors(answer: Any) -> Any:
    """Return the vectors of an Evaluation, or the vector of its only metric; return any other answer unchanged."""
    if not isinstance(answer, Mapping):
        return answer
    results = list(answer.values())
    return results if len(results) > 1 else results[0]


class Contender(NamedTuple):
    """A piece of code to be timed in turns with other contenders.

    `run` is timed. `values` is not timed: it extracts one number per query, or their mean, from the result of `run`.
    The numbers must equal those of the first contender within the relative `tolerance`. If `values` is None, the result
    is not compared, for instance because the contender measures a limit of the machine. `at_least` and `at_most` are
    targets for the ratio of the contender's time to the first contender's time. The measured time is multiplied by
    `times`, which is above 1 if `run` does only a part of the work and below 1 if it repeats the work.
    """

    run: Callable[..., Any]
    values: Callable[[Any], Any] | None = vectors
    at_least: float | None = None
    at_most: float | None = None
    tolerance: float = 1e-12
    times: float = 1.0

    @classmethod
    def of(cls, name: str, given: Contender | Callable[[], Any]) -> Contender:
        """Convert a bare callable to a contender without a target; it is compared unless `name` begins with "limit"."""
        return given if isinstance(given, Contender) else cls(given, None if name.startswith("limit") else vectors)

    def verdict(self, ratio: float) -> tuple[str, bool | None]:
        """Return the target as text, and whether the ratio meets it (None if there is no target)."""
        if self.at_least is not None:
            return f"≥ {self.at_least:.3g}", ratio >= self.at_least
        if self.at_most is not None:
            return f"≤ {self.at_most:.3g}", ratio <= self.at_most
        return "", None


class Row(NamedTuple):
    """A measurement of one contender; `ratio` is relative to the first contender."""

    title: str
    name: str
    figure: str
    ratio: float | None = None
    spread: str = ""
    target: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells of the table row; missed targets, and the ratios of faster peers, are bold."""
        ratio = self.spread if self.ratio is None else f"{self.ratio:.3g} {self.spread}".rstrip()
        if self.ratio is not None and self.ratio < 1 and not self.name.startswith(("rankgain", "limit", "now")):
            ratio = f"**{ratio}**"
        verdict = {None: "", True: f"{self.target}: met", False: f"{self.target}: **missed**"}[self.met]
        return self.name, self.figure, ratio, verdict


ROWS: list[Row] = []
# In a comparison of two builds, this function reports a contender to the comparing process and runs its turns.
serve: Callable[[str, Contender], Any] | None = None
answers_compared = 0  # by this process
at_rest = False  # whether each bench waited until the machine was idle; if not, each case shows the load


def peer(module: str) -> Any:
    """Import the module of a peer; return None if it is not installed or if two builds of rankgain are compared."""
    return None if serve else library(module)


def library(module: str) -> Any:
    """Import a module that the bench itself needs, for instance to make inputs; return None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        return None


def reading(size: int) -> Contender:
    """Return a contender that sums `size` bytes with NumPy; its time is a lower limit set by memory bandwidth."""
    return Contender(np.ones(max(size // 8, 1)).sum, None)


def hold(
    title: str,
    contenders: Mapping[str, Contender | Callable[[], Any]],
    scale: Scale,
    *,
    turn: float = TURN,
    clock: Clock | None = time.perf_counter,
) -> dict[str, Any]:
    """Print a table of the contenders' times, and return the last answer of each contender.

    After a warm-up, the contenders take turns: A B C A B C … In each round, a contender's time is divided by that of
    the first contender; the table shows the median of these ratios. Before any time is printed, every answer must equal
    the first one. `clock` measures wall time or, for calls that take microseconds, CPU time. If it is None, `run` takes
    the number of calls and returns the seconds per call and the answer.
    """
    contenders = {name: Contender.of(name, given) for name, given in contenders.items()}
    if serve:
        return {name: serve(f"{title}: {name}", one) for name, one in contenders.items() if name.startswith("rankgain")}
    first: tuple[str, dict[str, float]] | None = None

    def check(name: str, answer: Any) -> None:
        nonlocal first
        if values := contenders[name].values:
            named_numbers = name, numbers(values(answer))
            first = first or named_numbers
            compare(title, named_numbers, first, contenders[name].tolerance)

    global answers_compared
    times, answers = take_turns(contenders, check, 0.0 if scale == "smoke" else turn, clock)
    compared = sum(contender.values is not None for contender in contenders.values())
    answers_compared += compared
    if scale == "smoke":
        print(f"{title}: equal answers from {compared}" if compared else f"{title}: run", flush=True)
    else:
        judge(title, contenders, times)
    return answers


def judge(title: str, contenders: Mapping[str, Contender], times: Mapping[str, list[float]]) -> None:
    """Print the median time of each contender, its ratio to the first contender, and whether it meets its target."""
    rows: list[Row] = []
    base = next(iter(times.values()))
    for name, contender in contenders.items():
        ratios = [seconds / first for seconds, first in zip(times[name], base, strict=True)]
        ratio, spread = statistics.median(ratios), f"({min(ratios):.3g} to {max(ratios):.3g})"
        compared = (ratio, spread, *contender.verdict(ratio)) if rows else (None, load_beside())
        rows.append(Row(title, name, duration(statistics.median(times[name])), *compared))
    show(rows)


def take_turns(
    contenders: Mapping[str, Contender], check: Callable[[str, Any], None], turn: float, clock: Clock | None
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Return each contender's seconds in each round, and its last answer; if `turn` is 0, call each only once."""
    calls, answers, took = {}, {}, 0.0
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for name, contender in contenders.items():
        calls[name], seconds, answers[name] = _warm_up(contender.run, turn, clock)
        took += calls[name] * seconds
        check(name, answers[name])
    for _ in range((LONG_ROUNDS if took > LONG else ROUNDS) if turn else 0):
        for name, contender in contenders.items():
            gc.collect()
            seconds, answers[name] = take_turn(contender.run, calls[name], clock)
            check(name, answers[name])
            times[name].append(seconds * contender.times)
    return times, answers


def _warm_up(run: Callable[..., Any], least: float, clock: Clock | None) -> tuple[int, float, Any]:
    """Return the number of calls that make up a turn, the seconds per call, and the answer."""
    calls = 1
    while True:
        seconds, answer = take_turn(run, calls, clock)
        if seconds * calls >= least / 2:
            return calls, seconds, answer
        calls *= 2


def take_turn(run: Callable[..., Any], calls: int, clock: Clock | None) -> tuple[float, Any]:
    """Call `run` repeatedly; return the seconds per call and the last answer."""
    if clock is None:
        seconds, answer = run(calls)
        return seconds, answer
    start = clock()
    for _ in repeat(None, calls):
        answer = run()
    return (clock() - start) / calls, answer


def numbers(answer: Any, where: str = "") -> dict[str, float]:
    """Return all numbers in an answer, keyed by their position."""
    if not isinstance(answer, (Mapping, list, tuple)):
        answer = np.asarray(answer).tolist()
    if not isinstance(answer, (Mapping, list, tuple)):
        return {where: float(answer)}
    pairs = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
    parts = (numbers(part, f"{where}, {key}" if where else f"{key}") for key, part in pairs)
    return {key: number for part in parts for key, number in part.items()}


def compare(
    title: str, answer: tuple[str, dict[str, float]], first: tuple[str, dict[str, float]], tolerance: float
) -> None:
    """Check that an answer's numbers equal those of the first contender, or that its only number equals their mean."""
    (name, values), (other, expected) = answer, first
    if [*values] == [""]:
        expected = {"": statistics.fmean(expected.values())}
    if odd := values.keys() ^ expected.keys():
        raise DifferentAnswer(f"{title}: {name} or {other} alone has numbers at {', '.join(sorted(odd)[:5])}")
    for where, number in values.items():
        both_nan = math.isnan(number) and math.isnan(expected[where])
        if not both_nan and not math.isclose(number, expected[where], rel_tol=tolerance):
            label = f"{title}, {where}" if where else title
            raise DifferentAnswer(f"{label}: {name} gives {number!r}, {other} {expected[where]!r}")


def process(*command: str | Path) -> str:
    """Run a command, without limits on its threads or on writing byte code, and return its output."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_THREADS") and name != "PYTHONDONTWRITEBYTECODE"
    }
    arguments = list(map(str, command))
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a bench in a new process; the arguments and the result are passed as JSON."""
    module, name = function.__module__, function.__name__
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import {module}; "
        f"print(json.dumps({module}.{name}(*json.loads(sys.argv[1]))))"
    )
    try:
        return json.loads(process(sys.executable, "-c", code, json.dumps(arguments)).splitlines()[-1])
    except subprocess.CalledProcessError as error:  # the process has printed the reason
        raise DifferentAnswer(f"{module}.{name} of {arguments}: status {error.returncode}") from None


def weigh(title: str, sizes: Mapping[str, int], at_least: float | None = None, at_most: float | None = None) -> None:
    """Print the memory that each contender needs; `at_least` and `at_most` limit its ratio to the first contender's."""
    base, rows = next(iter(sizes.values())), []
    for name, size in sizes.items():
        compared = (
            (size / base, "", *Contender(int, at_least=at_least, at_most=at_most).verdict(size / base)) if rows else ()
        )
        rows.append(Row(title, name, megabytes(size), *compared))
    show(rows)


def show(rows: list[Row]) -> None:
    """Print rows with the same title as a table, and keep them for the results page."""
    ROWS.extend(rows)
    lines = [(rows[0].title, "median", "times the first (rounds)", "target"), *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print()
    for name, figure, ratio, target in lines:
        line = f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {ratio:<{widths[2]}}  {target}"
        print(line.rstrip(), flush=True)


def write(page: Path, command: str) -> None:
    """Replace the text between the markers BEGIN and END in a page with the measurements."""
    parts = [f"{date.today()}, `{command}`: {conditions()}.", _table()]
    targets = [row.met for row in ROWS if row.met is not None]
    parts.append(f"{sum(targets)} of {len(targets)} targets are met.")
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", re.DOTALL)
    new, count = pattern.subn(lambda _: "\n" + "\n\n".join(parts) + "\n\n", text)
    if count != 1:
        raise ValueError(f"{page} lacks the comments {BEGIN} and {END}")
    page.write_text(new, encoding="utf-8")


def _table() -> str:
    """Return a Markdown table with a row per case; each cell has a line per contender."""
    lines = ["| case | contender | median | times the first (rounds) | target |", "|---|---|---|---|---|"]
    for title, rows in groupby(ROWS, key=lambda row: row.title):
        columns = zip(*(row.cells for row in rows), strict=True)
        lines.append(f"| {title} | {' | '.join(map('<br>'.join, columns))} |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} µs" if seconds >= 1e-6 else f"{seconds * 1e9:.3g} ns"


def megabytes(size: float) -> str:
    return f"{size / 1e6:.3g} MB"


def conditions() -> str:
    """Describe the versions and the machine in one line."""
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    distributions = metadata.packages_distributions()
    for module in PEERS:
        packages = distributions.get(module)
        versions.append(
            f"{packages[0]} {metadata.version(packages[0])}" if packages else f"{module} (not installed, skipped)"
        )
    versions.append(trec_eval_release())
    current = f"below {REST} before each bench" if at_rest else f"{load():.1f}"
    machine = f"{_cpu()}, {os.cpu_count()} cores, load {current}, one thread unless stated otherwise"
    return f"{', '.join(versions)}; {machine}; rankgain {rg.__version__}, backend {rg.backend} ({_backend.cpu})"


def trec_eval_release() -> str:
    """Return the release of the trec_eval program, or a note that it is not on the PATH."""
    program = shutil.which("trec_eval")
    if program is None:
        return "trec_eval's program (not on the path, skipped)"
    answer = subprocess.run([program, "-v"], capture_output=True, text=True)
    release = re.search(r"version (\S+)", answer.stdout + answer.stderr)
    return f"trec_eval {release[1] if release else 'of an unknown release'}"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def load() -> float:
    """Return the system's load average over the last minute, or NaN if the system does not report one."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def load_beside() -> str:
    """Return the load to show beside a time, or an empty string if each bench waited until the machine was idle."""
    return "" if at_rest else f"(load {load():.1f})"


def wait_for_rest() -> None:
    """Wait until the machine is idle; raise NotAtRest if that takes too long."""
    until = time.monotonic() + PATIENCE
    while (current := load()) >= REST:
        if time.monotonic() > until:
            raise NotAtRest(
                f"the load is {current:.1f} after {PATIENCE / 60:.0f} minutes, not below {REST}: end other processes, "
                "or measure with --busy"
            )
        time.sleep(PAUSE)


def options(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--smoke", dest="scale", action="store_const", const="smoke", help="small data, once, no times")
    size.add_argument("--usual", dest="scale", action="store_const", const="usual", help=argparse.SUPPRESS)
    size.add_argument("--full", dest="scale", action="store_const", const="full", help="all of the data of each bench")
    parser.set_defaults(scale="usual")
    return parser


def main(*benches: Callable[[Scale], None], scale: Scale, rest: bool = False) -> int:
    """Run benches, each on an idle machine if `rest` is True.

    Return 1 if an answer differs or the machine stays busy, else 0.
    """
    global at_rest
    at_rest = rest
    print(f"{date.today()}: {conditions()}", flush=True)
    status = 0
    for bench in benches:
        try:
            if at_rest:
                wait_for_rest()
            bench(scale)
        except DifferentAnswer as error:
            print(error, file=sys.stderr)
            status = 1
        except NotAtRest as error:
            print(error, file=sys.stderr)
            return 1
    print(f"{answers_compared} answers compared")
    return status
