"""Two processes that do the same with something in place of something else take turns: equal answers, and CPU time.

`run.py --against FOLDER` pits another build of rankgain against this one, `clients/compare.py` a tool as it was
released against the tool with rankgain inside. Each process says what it does and what it found (`begin_to_serve`), and
then does it as often as it is told to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness


def begin_to_serve() -> Callable[[str, harness.Contender], Any]:
    """From here on only the process that compares is told what is done and found: by what is returned."""
    channel, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115 (until the end)

    def say(message: Any) -> None:
        print(json.dumps(message), file=channel, flush=True)

    def serve(title: str, contender: harness.Contender) -> Any:
        answer = contender.run()
        say({"title": title, "values": contender.values and harness.numbers(contender.values(answer))})
        while calls := int(sys.stdin.readline() or 0):
            say(harness.take_turn(contender.run, calls, cpu_time)[0])
        return answer

    harness.serve = serve
    return serve


def cpu_time() -> float:
    """Of this process and of those that it waited for."""
    resource = harness.library("resource")
    return time.process_time() + (sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) if resource else 0.0)


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

    def take_turn(self, values: Any, calls: int) -> tuple[float, Any]:
        """Seconds per call, and the answer, which is known."""
        return self.ask(calls), values

    @property
    def failed(self) -> bool:
        """Whether it ended too early."""
        return self._ended and self._process.wait() != 0


def pit(before: Worker, now: Worker, scale: harness.Scale, tolerance: float = 0.0) -> None:
    """Each thing that both do, as often as the harness wants it."""
    jobs = before.hear(), now.hear()
    while all(jobs):
        (title, was), (found, values) = (job.values() for job in jobs)
        if title != found:
            raise harness.DifferentAnswer(f"{found} now, {title} before")
        contenders = {
            "before": harness.Contender(partial(before.take_turn, was), was and dict),
            "now": harness.Contender(partial(now.take_turn, values), values and dict, tolerance=tolerance),
        }
        harness.hold(title, contenders, scale, clock=None)
        jobs = before.ask(0), now.ask(0)
