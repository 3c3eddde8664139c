"""Compare two processes that run the same work with different packages: check the answers, then measure CPU time.

`run.py --against FOLDER` compares another build of rankgain with this one. `clients/compare.py` compares a released
tool with the same tool using rankgain. Each process reports a piece of work and its answer (see `begin_to_serve`), and
then repeats the work as often as requested. The processes take turns.
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
    """Reserve standard output for messages; return a function that reports an answer and times calls on request."""
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
    """Return the CPU time of this process and its finished children, in seconds."""
    resource = harness.library("resource")
    return time.process_time() + (sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) if resource else 0.0)


class Worker:
    """A separate process that runs a script and repeats the script's work on request."""

    def __init__(self, script: Path, *arguments: str, folder: Path | None = None) -> None:
        """Start the script. Packages in `folder` take precedence over the installed ones."""
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
        """Return the next message from the process, or None if it has ended."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        self._ended = not line
        return json.loads(line) if line else None

    def ask(self, calls: int) -> Any:
        """Request `calls` calls and return the seconds per call; if `calls` is 0, return the next piece of work."""
        self._process.stdin.write(f"{calls}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        return self.hear()

    def take_turn(self, values: Any, calls: int) -> tuple[float, Any]:
        """Request `calls` calls; return the seconds per call and `values`, the answer that was reported earlier."""
        return self.ask(calls), values

    @property
    def failed(self) -> bool:
        """Whether the process ended with an error."""
        return self._ended and self._process.wait() != 0


def pit(before: Worker, now: Worker, scale: harness.Scale, tolerance: float = 0.0) -> None:
    """Compare the answers and the times of two processes for each piece of work."""
    jobs = before.hear(), now.hear()
    while all(jobs):
        (title, was), (current_title, values) = (job.values() for job in jobs)
        if title != current_title:
            raise harness.DifferentAnswer(f"{current_title} now, {title} before")
        contenders = {
            "before": harness.Contender(partial(before.take_turn, was), was and dict),
            "now": harness.Contender(partial(now.take_turn, values), values and dict, tolerance=tolerance),
        }
        harness.hold(title, contenders, scale, clock=None)
        jobs = before.ask(0), now.ask(0)
