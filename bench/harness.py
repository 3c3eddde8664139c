"""The harness: contenders in turns, their answers compared, medians and ratios, targets, and where they are written.

Import it before NumPy: it holds every numerical library to one thread.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import re
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
ROUNDS, LONG_ROUNDS = 9, 5  # the fewer where a round takes more than LONG seconds
LONG = 2.0
TURN = 0.03  # seconds: a contender is called again and again until its turn lasts about so long
BEGIN, END = "<!-- measured, written by bench/run.py --write -->", "<!-- end of what was measured -->"


class DifferentAnswer(Exception):
    """Contenders that do not compute the same thing must not be compared by time."""


def vectors(answer: Any) -> Any:
    """Of an Evaluation its vectors, or that of its one metric; anything else as it is."""
    if not isinstance(answer, Mapping):
        return answer
    found = list(answer.values())
    return found if len(found) > 1 else found[0]


class Contender(NamedTuple):
    """One that takes turns with others.

    `run` is timed; `values` makes one number per query of what it returned, or their mean, and is not timed. None: it
    computes something else, as a limit of the machine does. They must equal the first contender's to a relative
    `tolerance`. The target is how many times the first contender's time it has to take `at_least`, or may `at_most`;
    how many seconds more than that a call may take `beside` it; or how many seconds it may take, `within`. A run that
    is a part of the work, since all of it would take too long, counts as many `times`.
    """

    run: Callable[[], Any]
    values: Callable[[Any], Any] | None = vectors
    at_least: float | None = None
    at_most: float | None = None
    tolerance: float = 1e-12
    beside: float | None = None
    within: float | None = None
    times: float = 1.0

    @classmethod
    def of(cls, name: str, given: Contender | Callable[[], Any]) -> Contender:
        """A mere callable has no target, and computes the same as the first unless its name says that it is a limit."""
        return given if isinstance(given, Contender) else cls(given, None if name.startswith("limit") else vectors)

    def verdict(self, seconds: float, ratio: float, more: float) -> tuple[str, bool | None]:
        """The target, and whether it is met."""
        if self.within is not None:
            return f"≤ {duration(self.within)}", seconds <= self.within
        if self.at_least is not None:
            return f"≥ {self.at_least:g}", ratio >= self.at_least
        if self.at_most is not None:
            return f"≤ {self.at_most:g}", ratio <= self.at_most
        if self.beside is not None:
            return f"{duration(more)} more, ≤ {duration(self.beside)}", more <= self.beside
        return "", None


class Row(NamedTuple):
    """What was found about one contender; `ratio` is of the first one's time, or of what is allowed."""

    title: str
    name: str
    figure: str
    ratio: float | None = None
    spread: str = ""
    target: str = ""
    met: bool | None = None

    @property
    def won_by_peer(self) -> bool:
        return self.ratio is not None and self.ratio < 1 and not self.name.startswith(("rankgain", "limit"))

    @property
    def cells(self) -> tuple[str, str, str, str]:
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        verdict = {None: "", True: f"{self.target}: met", False: f"{self.target}: missed"}[self.met]
        return self.name, self.figure, f"{ratio} {self.spread}".rstrip(), verdict

    @property
    def marked(self) -> tuple[str, str, str, str]:
        """The cells, with what is to be noticed in bold."""
        name, figure, ratio, verdict = self.cells
        return name, figure, f"**{ratio}**" if self.won_by_peer else ratio, verdict.replace("missed", "**missed**")


ROWS: list[Row] = []
NOTES: list[str] = []


def peer(module: str) -> Any:
    """The module of a peer; None if it is not installed (the line of conditions says so) or if builds are compared."""
    return None if _channel else library(module)


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
    calls: int = 1,
    clock: Clock = time.perf_counter,
) -> dict[str, Any]:
    """Print a table of the contenders' times, and return the last answer of each.

    After a warm-up they take turns, A B C A B C …; a ratio is the median over rounds of time / the first one's time in
    the same round. Every answer must equal the first one, before a time is printed. A run is so many `calls`, and what
    is printed is the time of one, by a clock of wall time or, for what is over in microseconds, of CPU time.
    """
    contenders = {name: Contender.of(name, given) for name, given in contenders.items()}
    if _channel:
        own = {name: contender for name, contender in contenders.items() if name.startswith("rankgain")}
        return {name: serve(f"{title}: {name}", contender.run, contender.values) for name, contender in own.items()}
    names = list(contenders)
    first = _values(contenders[names[0]], contenders[names[0]].run())

    def check(name: str, answer: Any) -> None:
        if contenders[name].values is not None:
            _compare(title, name, _values(contenders[name], answer), first, contenders[name].tolerance)

    runs = {name: contender.run for name, contender in contenders.items()}
    times, answers = take_turns(runs, check, 0.0 if scale == "smoke" else turn, clock)
    if scale == "smoke":
        compared = sum(contender.values is not None for contender in contenders.values())
        print(f"{title}: equal answers from {compared}" if compared else f"{title}: run")
        return answers
    judge(title, contenders, times, calls)
    return answers


def judge(title: str, contenders: Mapping[str, Contender], times: Mapping[str, list[float]], calls: int = 1) -> None:
    """Print a table of the times that the contenders took in each round."""
    rows: list[Row] = []
    base = next(iter(times.values()))
    for name, contender in contenders.items():
        seconds = [its * contender.times for its in times[name]]
        ratios = [its / first for its, first in zip(seconds, base, strict=True)]
        ratio, spread = statistics.median(ratios), f"({min(ratios):.3g} to {max(ratios):.3g})"
        more = statistics.median(its - first for its, first in zip(seconds, base, strict=True)) / calls
        middle = statistics.median(seconds) / calls
        compared = (ratio, spread) if rows else (None, "")
        rows.append(Row(title, name, duration(middle), *compared, *contender.verdict(middle, ratio, more)))
    show(rows)


def take_turns(
    runs: Mapping[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    turn: float = TURN,
    clock: Clock = time.perf_counter,
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds a call of each in each round, and the last answers; without a turn's length each runs but once."""
    calls, answers, took = {}, {}, 0.0
    times: dict[str, list[float]] = {name: [] for name in runs}
    for name, run in runs.items():
        calls[name], seconds, answers[name] = _warm_up(run, turn, clock)
        took += calls[name] * seconds
        check(name, answers[name])
    for _ in range((LONG_ROUNDS if took > LONG else ROUNDS) if turn else 0):
        for name, run in runs.items():
            gc.collect()
            seconds, answers[name] = _turn(run, calls[name], clock)
            check(name, answers[name])
            times[name].append(seconds)
    return times, answers


def _warm_up(run: Callable[[], Any], least: float, clock: Clock) -> tuple[int, float, Any]:
    """How many calls make a turn, seconds a call, and the answer."""
    calls = 1
    while True:
        seconds, answer = _turn(run, calls, clock)
        if seconds * calls >= least / 2:
            return calls, seconds, answer
        calls *= 2


def _turn(run: Callable[[], Any], calls: int, clock: Clock) -> tuple[float, Any]:
    """Seconds a call, and the last answer."""
    start = clock()
    for _ in repeat(None, calls):
        answer = run()
    return (clock() - start) / calls, answer


def grow(title: str, points: Mapping[int, Callable[[], Any]], scale: Scale) -> None:
    """Seconds per call by how much there is of something, and on log axes the slope of the larger half, as a note."""
    if _channel:
        for size, run in points.items():
            serve(f"{title}: {size:,}", run, None)
        return
    times, _ = take_turns(points, lambda size, answer: None, 0.0 if scale == "smoke" else TURN)
    if scale == "smoke":
        print(f"{title}: run")
        return
    medians = {size: statistics.median(its) for size, its in times.items()}
    larger = min(len(medians) // 2, len(medians) - 2)
    x, y = (np.log([*values][larger:]) for values in (medians, medians.values()))
    slope = float(np.polyfit(x, y, 1)[0])
    note(f"{title}: slope {slope:.2f} ({', '.join(f'{size:,}: {duration(its)}' for size, its in medians.items())})")


_channel: Any = None  # to the process that compares builds, where one does


def begin_to_serve() -> None:
    """What is said goes to the other process, and nothing else does."""
    global _channel
    _channel, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115 (until the end)


def serve(title: str, run: Callable[[], Any], values: Callable[[Any], Any] | None) -> Any:
    """Tell the other process what is done and found, and take the CPU time of as many calls as it asks for."""
    answer = run()
    _say({"title": title, "values": _numbers(values(answer)) if values else {}})
    while calls := int(sys.stdin.readline() or 0):
        _say(_turn(run, calls, _cpu_time)[0])
    return answer


def _say(message: Any) -> None:
    print(json.dumps(message), file=_channel, flush=True)


def _numbers(answer: Any, path: str = "values") -> dict[str, float]:
    """All numbers of an answer, by where in it they stand."""
    if isinstance(answer, np.ndarray):
        answer = answer.tolist()
    if not isinstance(answer, (Mapping, list, tuple)):
        return {path: float(np.float64(answer))}
    pairs = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
    return {where: its for key, part in pairs for where, its in _numbers(part, f"{path}, {key}").items()}


def _cpu_time() -> float:
    """Of this process and of those that it waited for."""
    resource = library("resource")
    return time.process_time() + (sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) if resource else 0.0)


def _values(contender: Contender, answer: Any) -> Any:
    return None if contender.values is None else np.asarray(contender.values(answer), dtype=np.float64)


def _compare(title: str, name: str, values: Any, first: Any, tolerance: float) -> None:
    expected = np.mean(first) if values.ndim == 0 else first
    if values.shape != np.shape(expected):
        raise DifferentAnswer(f"{title}: {name} gives {values.shape} values, and there must be {np.shape(expected)}")
    if not np.allclose(values, expected, rtol=tolerance, atol=0):
        worst = np.argmax(np.abs(values - expected))
        theirs, ours = values.flat[worst], np.ravel(expected)[worst]
        raise DifferentAnswer(f"{title}: {name} gives {theirs:.17g}, and the first {ours:.17g}")


def process(*command: str | Path) -> str:
    """What a process prints, with byte code and with as many threads as it likes."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_THREADS") and name != "PYTHONDONTWRITEBYTECODE"
    }
    arguments = list(map(str, command))
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, env=kept).stdout


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a bench returns in a process of its own; both ways as JSON."""
    module, name = function.__module__, function.__name__
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import {module}; "
        f"print(json.dumps({module}.{name}(*json.loads(sys.argv[1]))))"
    )
    try:
        return json.loads(process(sys.executable, "-c", code, json.dumps(arguments)).splitlines()[-1])
    except subprocess.CalledProcessError as error:  # which has said why
        raise DifferentAnswer(f"{module}.{name} of {arguments}: status {error.returncode}") from None


def allowed(title: str, name: str, size: int, most: int) -> None:
    """Print how many bytes something takes, and whether it may."""
    show([Row(title, name, megabytes(size), size / most, target=f"≤ {megabytes(most)}", met=size <= most)])


def show(rows: list[Row]) -> None:
    """Print a table of what was found under one title, and keep it for the page."""
    ROWS.extend(rows)
    lines = [(rows[0].title, "median", "times the first (rounds)", "target"), *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print()
    for name, figure, ratio, target in lines:
        line = f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {ratio:<{widths[2]}}  {target}"
        print(line.rstrip(), flush=True)


def note(text: str) -> None:
    """Print something that is no contest, and keep it for the page."""
    NOTES.append(text)
    print(f"\n{text}", flush=True)


def write(page: Path, command: str) -> None:
    """Put what was found in the place of what stands between two comments of a page."""
    parts = [f"{date.today()}, `{command}`: {conditions()}.", _table()]
    targets = [row.met for row in ROWS if row.met is not None]
    parts.append(f"{sum(targets)} of {len(targets)} targets are met.")
    won = [f"- {row.title}: {row.name}, {row.ratio:.2g}" for row in ROWS if row.won_by_peer]
    parts.append("\n".join(["Where a peer wins (its time as a multiple of rankgain's):", "", *(won or ["- nowhere"])]))
    parts += ["\n".join(["```text", *NOTES, "```"])] if NOTES else []
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", re.DOTALL)
    new, found = pattern.subn(lambda _: "\n" + "\n\n".join(parts) + "\n\n", text)
    if found != 1:
        raise ValueError(f"{page} lacks the comments {BEGIN} and {END}")
    page.write_text(new, encoding="utf-8")


def _table() -> str:
    """A row per case, in whose cells each contender has a line."""
    lines = ["| case | contender | median | times the first (rounds) | target |", "|---|---|---|---|---|"]
    for title, rows in groupby(ROWS, key=lambda row: row.title):
        columns = zip(*(row.marked for row in rows), strict=True)
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
    """What the figures hold for, in one line."""
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    distributions = metadata.packages_distributions()
    for module in PEERS:
        its = distributions.get(module)
        versions.append(f"{its[0]} {metadata.version(its[0])}" if its else f"{module} (not installed, skipped)")
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    machine = f"{_cpu()}, {os.cpu_count()} cores{load}, one thread unless said"
    return f"{', '.join(versions)}; {machine}; rankgain {rg.__version__}, backend {rg.backend} ({_backend.cpu})"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def options(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--smoke", dest="scale", action="store_const", const="smoke", help="small data, once, no times")
    size.add_argument("--usual", dest="scale", action="store_const", const="usual", help=argparse.SUPPRESS)
    size.add_argument("--full", dest="scale", action="store_const", const="full", help="all of the data of each bench")
    parser.set_defaults(scale="usual")
    return parser


def main(*benches: Callable[[Scale], None], scale: Scale) -> int:
    """Run benches; 1 if an answer differs."""
    print(f"{date.today()}: {conditions()}", flush=True)
    status = 0
    for bench in benches:
        try:
            bench(scale)
        except DifferentAnswer as error:
            print(error, file=sys.stderr)
            status = 1
    return status
