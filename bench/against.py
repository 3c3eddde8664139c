"""Two processes that do the same with something in place of something else take turns: equal answers, and CPU time.

`run.py --against FOLDER` pits another build of rankgain against this one, `clients/compare.py` a tool as it was
released against the tool with rankgain inside. Each process says what it does and what it found (`harness.serve`), and
then does it as often as it is told to.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness

TURN = 0.05  # seconds, about
TURNS = 7


class Worker:
    """A script in a process of its own, which serves."""

    def __init__(self, script: Path, *arguments: str, folder: Path | None = None) -> None:
        """The packages in the folder take the place of those that are installed."""
        environment = os.environ | ({} if folder is None else {"PYTHONPATH": str(folder.resolve())})
        command = [sys.executable, str(script), "--work", *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def hear(self) -> Any:
        """The next message; None if there is no more."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        self._ended = not line
        return json.loads(line) if line else None

    def ask(self, calls: int) -> Any:
        """Seconds per call; or, of no calls, what it does next."""
        self._process.stdin.write(f"{calls}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        return self.hear()

    @property
    def failed(self) -> bool:
        """Whether it ended too early."""
        return self._ended and self._process.wait() != 0


def pit(before: Worker, now: Worker, scale: harness.Scale, tolerance: float = 0.0) -> Iterator[tuple[str, float]]:
    """Of each thing that both do its title, and the median over turns of the time now by the time before."""
    was, found = before.hear(), now.hear()
    while was and found:
        title = found["title"]
        if title != was["title"]:
            raise harness.DifferentAnswer(f"{title} now, {was['title']} before")
        check(title, was["values"], found["values"], tolerance)
        if scale == "smoke":
            print(f"{title}: equal answers", flush=True)
        else:
            calls = max(1, int(TURN / max(now.ask(1), 1e-9)))
            turns = [(before.ask(calls), now.ask(calls)) for _ in range(TURNS)]
            ratios = [after / first for first, after in turns]
            times = [harness.duration(statistics.median(side)) for side in zip(*turns, strict=True)]
            ratio, spread = statistics.median(ratios), f"({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"{title}: {times[0]} before, {times[1]} now, {ratio:.3g} {spread}", flush=True)
            yield title, ratio
        was, found = before.ask(0), now.ask(0)


def check(title: str, was: dict[str, float], found: dict[str, float], tolerance: float) -> None:
    """Equal numbers in equal places; NaN where NaN is."""
    if was.keys() != found.keys():
        raise harness.DifferentAnswer(f"{title}: {sorted(was.keys() ^ found.keys())[:5]} on one side only")
    for where, before in was.items():
        now = found[where]
        if math.isnan(before) != math.isnan(now) or abs(before - now) > tolerance:
            raise harness.DifferentAnswer(f"{title}, {where}: {before!r} before, {now!r} now")
