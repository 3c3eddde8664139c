"""The harness: contenders in turns, their answers compared, medians and ratios.

Import it before NumPy: it holds every numerical library to one thread.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from importlib import metadata
from itertools import repeat
from pathlib import Path
from typing import Any, Literal, NamedTuple

if "numpy" in sys.modules:
    raise ImportError("import contest before NumPy, so that its thread settings count")
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
)

import numpy as np

import rankgain as rg

Scale = Literal["smoke", "usual", "full"]
PEERS = {"sklearn": "scikit-learn", "pytrec_eval": "pytrec-eval-terrier"}
PEERS |= {name: name for name in ("scipy", "pandas", "polars", "pyarrow", "implicit")}
ROUNDS = 9
TURN = 0.03  # seconds: a contender is called again and again until its turn lasts about so long


class DifferentAnswer(Exception):
    """Contenders that do not compute the same thing must not be compared by time."""


class Contender(NamedTuple):
    """`run` is timed; `values` makes one number a query of what it returned, or their mean, and is not timed."""

    run: Callable[[], Any]
    values: Callable[[Any], Any] = lambda answer: answer


def peer(module: str) -> Any:
    """The module of a peer, or None where it is not installed: the line of conditions names it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        return None


def hold(title: str, contenders: Mapping[str, Contender], scale: Scale, *, tolerance: float = 1e-12) -> None:
    """Print a table of the contenders' times; the first of them is rankgain.

    After a warm-up they take turns, A B C A B C …; a ratio is the median over rounds of time / rankgain's time in the
    same round. Every answer must equal rankgain's first one, to a relative `tolerance`, before a time is printed.
    """
    names = list(contenders)
    first, calls = None, {}
    for name, contender in contenders.items():
        calls[name], answer = _warm_up(contender.run, 0.0 if scale == "smoke" else TURN)
        values = np.asarray(contender.values(answer), dtype=np.float64)
        first = values if first is None else first
        _compare(title, name, values, first, tolerance)
    if scale == "smoke":
        print(f"{title}: equal answers from {len(names)}")
        return
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            gc.collect()
            seconds, answer = _turn(contender.run, calls[name])
            _compare(title, name, np.asarray(contender.values(answer), dtype=np.float64), first, tolerance)
            times[name].append(seconds)
    width = max(map(len, [title, *names]))
    print(f"\n{title:<{width}}  {'median':>10}  times rankgain's  (rounds)")
    for name in names:
        ratios = [mine / ours for mine, ours in zip(times[name], times[names[0]], strict=True)]
        spread = f"({min(ratios):.3g} to {max(ratios):.3g})" if name != names[0] else ""
        middle = _time(statistics.median(times[name]))
        row = f"{name:<{width}}  {middle:>10}  {statistics.median(ratios):>16.3g}  {spread}"
        print(row.rstrip(), flush=True)


def _warm_up(run: Callable[[], Any], least: float) -> tuple[int, Any]:
    """How many calls make a turn."""
    calls = 1
    while True:
        seconds, answer = _turn(run, calls)
        if seconds * calls >= least / 2:
            return calls, answer
        calls *= 2


def _turn(run: Callable[[], Any], calls: int) -> tuple[float, Any]:
    """Seconds a call, and the last answer."""
    start = time.perf_counter()
    for _ in repeat(None, calls):
        answer = run()
    return (time.perf_counter() - start) / calls, answer


def _compare(title: str, name: str, values: Any, first: Any, tolerance: float) -> None:
    expected = np.mean(first) if values.ndim == 0 else first
    if values.shape != np.shape(expected):
        raise DifferentAnswer(f"{title}: {name} gives {values.shape} values, and there must be {np.shape(expected)}")
    if not np.allclose(values, expected, rtol=tolerance, atol=0):
        worst = np.argmax(np.abs(values - expected))
        theirs, ours = values.flat[worst], np.ravel(expected)[worst]
        raise DifferentAnswer(f"{title}: {name} gives {theirs:.17g}, and rankgain {ours:.17g}")


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def conditions() -> str:
    """What the figures hold for, in one line."""
    versions = [f"Python {platform.python_version()}", f"numpy {np.__version__}"]
    for distribution in PEERS.values():
        try:
            versions.append(f"{distribution} {metadata.version(distribution)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{distribution} (not installed, skipped)")
    machine = f"{_cpu()}, {os.cpu_count()} cores, one thread"
    return f"{', '.join(versions)}; {machine}; {date.today()}; rankgain {rg.__version__}, backend {rg.backend}"


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
    size.add_argument("--full", dest="scale", action="store_const", const="full", help="all of the data of each bench")
    parser.set_defaults(scale="usual")
    return parser


def main(description: str | None, *benches: Callable[[Scale], None], scale: Scale | None = None) -> int:
    """Run benches; 1 if an answer differs."""
    scale = scale or options(description).parse_args().scale
    print(conditions(), flush=True)
    status = 0
    for bench in benches:
        try:
            bench(scale)
        except DifferentAnswer as error:
            print(error, file=sys.stderr)
            status = 1
    return status
