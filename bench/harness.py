"""The harness: contenders in turns, their answers compared, medians and ratios, targets, and where they are written.

Import it before NumPy: it holds every numerical library to one thread.
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
ROUNDS, LONG_ROUNDS = 9, 5  # LONG_ROUNDS if a round takes more than LONG seconds
LONG = 2.0
TURN = 0.03  # seconds: a contender is called repeatedly until its turn lasts about this long
REST, PATIENCE, PAUSE = 0.3, 600.0, 5.0  # the load of a machine at rest; seconds to wait for it, and between two looks
BEGIN, END = "<!-- measured, written by bench/run.py --write -->", "<!-- end of what was measured -->"


class DifferentAnswer(Exception):
    """The contenders' answers differ, so that their times must not be compared."""


class NotAtRest(Exception):
    """Other processes keep the machine busy, so that times would be too long."""


def vectors(answer: Any) -> Any:
    """The vectors of an Evaluation, or the vector of its only metric; other answers unchanged."""
    if not isinstance(answer, Mapping):
        return answer
    results = list(answer.values())
    return results if len(results) > 1 else results[0]


class Contender(NamedTuple):
    """One that takes turns with others.

    `run` is timed; `values` takes one number per query out of what it returned, or their mean, and is not timed. None:
    it computes something else, as a limit of the machine does. They must equal the first contender's to the
    `tolerance`. The target is how many times the first contender's time it has to take `at_least`, or may `at_most`. A
    run that is a part of the work, since all of it would take too long, counts as many `times`; one that does it again
    and again counts as a fraction.
    """

    run: Callable[..., Any]
    values: Callable[[Any], Any] | None = vectors
    at_least: float | None = None
    at_most: float | None = None
    tolerance: float = 1e-12
    times: float = 1.0

    @classmethod
    def of(cls, name: str, given: Contender | Callable[[], Any]) -> Contender:
        """A bare callable has no target; its answer must equal the first one's, unless its name begins with "limit"."""
        return given if isinstance(given, Contender) else cls(given, None if name.startswith("limit") else vectors)

    def verdict(self, ratio: float) -> tuple[str, bool | None]:
        """The target, and whether it is met."""
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
        """The cells of the table; peers that win and missed targets are bold."""
        ratio = self.spread if self.ratio is None else f"{self.ratio:.3g} {self.spread}".rstrip()
        if self.ratio is not None and self.ratio < 1 and not self.name.startswith(("rankgain", "limit", "now")):
            ratio = f"**{ratio}**"
        verdict = {None: "", True: f"{self.target}: met", False: f"{self.target}: **missed**"}[self.met]
        return self.name, self.figure, ratio, verdict


ROWS: list[Row] = []
# Set if another process compares (`against`): reports a contender to that process and runs its turns.
serve: Callable[[str, Contender], Any] | None = None
at_rest = False  # whether each bench waited for a machine at rest; if not, each case shows the load


def peer(module: str) -> Any:
    """The module of a peer; None if it is not installed (the line of conditions says so) or if builds are compared."""
    return None if serve else library(module)


def library(module: str) -> Any:
    """A module that the bench itself needs, for what it hands over; None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        return None


def reading(size: int) -> Contender:
    """The limit that the memory sets: NumPy's sum over so many bytes."""
    return Contender(np.ones(max(size // 8, 1)).sum, None)


def hold(
    title: str,
    contenders: Mapping[str, Contender | Callable[[], Any]],
    scale: Scale,
    *,
    turn: float = TURN,
    clock: Clock | None = time.perf_counter,
) -> dict[str, Any]:
    """Print a table of the contenders' times, and return the last answer of each.

    After a warm-up they take turns, A B C A B C …; a ratio is the median over rounds of time / the first one's time in
    the same round. Every answer must equal the first one, before a time is printed. The clock is one of wall time or,
    for what is over in microseconds, of CPU time; without one a run takes the number of calls, and tells its seconds.
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

    times, answers = take_turns(contenders, check, 0.0 if scale == "smoke" else turn, clock)
    if scale == "smoke":
        compared = sum(contender.values is not None for contender in contenders.values())
        print(f"{title}: equal answers from {compared}" if compared else f"{title}: run", flush=True)
    else:
        judge(title, contenders, times)
    return answers


def judge(title: str, contenders: Mapping[str, Contender], times: Mapping[str, list[float]]) -> None:
    """Print a table of the times that the contenders took in each round."""
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
    """Seconds of each in each round, and the last answers; without a turn's length each runs but once."""
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
    """How many calls make a turn, seconds a call, and the answer."""
    calls = 1
    while True:
        seconds, answer = take_turn(run, calls, clock)
        if seconds * calls >= least / 2:
            return calls, seconds, answer
        calls *= 2


def take_turn(run: Callable[..., Any], calls: int, clock: Clock | None) -> tuple[float, Any]:
    """Seconds a call, and the last answer."""
    if clock is None:
        seconds, answer = run(calls)
        return seconds, answer
    start = clock()
    for _ in repeat(None, calls):
        answer = run()
    return (clock() - start) / calls, answer


def numbers(answer: Any, where: str = "") -> dict[str, float]:
    """All numbers of an answer, keyed by their position in it."""
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
    """Check that the numbers equal those of the first contender, or that a single number equals their mean."""
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
    """The output of a process that may write byte code and choose its number of threads."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_THREADS") and name != "PYTHONDONTWRITEBYTECODE"
    }
    arguments = list(map(str, command))
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a bench in a new process; arguments and result are passed as JSON."""
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
    """Print the bytes that each contender takes; the limits apply to ratios to the first contender."""
    base, rows = next(iter(sizes.values())), []
    for name, size in sizes.items():
        compared = (
            (size / base, "", *Contender(int, at_least=at_least, at_most=at_most).verdict(size / base)) if rows else ()
        )
        rows.append(Row(title, name, megabytes(size), *compared))
    show(rows)


def show(rows: list[Row]) -> None:
    """Print a table of the rows of one title, and store them for the page."""
    ROWS.extend(rows)
    lines = [(rows[0].title, "median", "times the first (rounds)", "target"), *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print()
    for name, figure, ratio, target in lines:
        line = f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {ratio:<{widths[2]}}  {target}"
        print(line.rstrip(), flush=True)


def write(page: Path, command: str) -> None:
    """Write the measurements between two comments of a page."""
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
    """A table with a row per case and, in each cell, a line per contender."""
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
    """The versions and the machine, in one line."""
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    distributions = metadata.packages_distributions()
    for module in PEERS:
        packages = distributions.get(module)
        versions.append(
            f"{packages[0]} {metadata.version(packages[0])}" if packages else f"{module} (not installed, skipped)"
        )
    versions.append(trec_eval_release())
    current = f"below {REST} before each bench" if at_rest else f"{load():.1f}"
    machine = f"{_cpu()}, {os.cpu_count()} cores, load {current}, one thread unless said"
    return f"{', '.join(versions)}; {machine}; rankgain {rg.__version__}, backend {rg.backend} ({_backend.cpu})"


def trec_eval_release() -> str:
    """The release of trec_eval's program, if it is on the path."""
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
    """The system's load average over the last minute; NaN on systems without one."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def load_beside() -> str:
    """The load, to show beside a time; nothing if each bench waited for a machine at rest."""
    return "" if at_rest else f"(load {load():.1f})"


def wait_for_rest() -> None:
    """Wait until the machine is at rest; NotAtRest is raised if it takes too long."""
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
    """Run benches, each on a machine at rest if requested; 1 if an answer differs or the machine is not at rest."""
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
    return status
