"""What `mutants.py` has pytest do in place of running all tests once: a plugin.

It records which mutants' places each test reaches; or it judges mutants, each in a fork of its own, so that nothing is
imported or collected anew, by the tests that reach it.
"""

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.rankgain_mutants import board

SURVIVED, CAUGHT = 0, 1
MEMORY = 4 << 30  # bytes that a mutant may take beyond what pytest has
TASK: dict[str, Any] = json.loads(Path(os.environ["RANKGAIN_MUTANTS_TASK"]).read_text())
BOARD = board(os.environ["RANKGAIN_MUTANTS"])


def reached() -> list[int]:
    return [number for number in range(1, len(BOARD)) if BOARD[number]]


def clear() -> None:
    BOARD[1:] = memoryview(bytes(BOARD[1:].nbytes)).cast("i")


def run(session: pytest.Session, items: list[pytest.Item], patience: dict[str, float]) -> int:
    """Run tests until one fails. One that takes much longer than it should ends the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for item, following in pairwise([*items, None]):
        assert item is not None
        signal.alarm(10 + int(20 * patience.get(item.nodeid, 1.0)))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return CAUGHT
    return SURVIVED


def record(session: pytest.Session) -> Iterator[tuple[str, float, bool, list[int]]]:
    """Of each test how long it takes, whether it passes, and the places that it reaches; of none, those before any."""
    yield "", 0.0, True, reached()
    items = session.items[TASK["share"] :: TASK["shares"]]  # what takes long stands side by side
    for item, following in pairwise([*items, None]):
        assert item is not None
        clear()
        before, start = session.testsfailed, time.perf_counter()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        yield item.nodeid, time.perf_counter() - start, session.testsfailed == before, reached()


def forked(session: pytest.Session, number: int, items: list[pytest.Item], patience: dict[str, float]) -> bool:
    """Whether a mutant survives these tests."""
    child = os.fork()
    if not child:
        status = CAUGHT
        try:
            os.setpgid(0, 0)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            BOARD[0] = number
            status = run(session, items, patience)
        finally:
            sys.stdout.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    BOARD[0] = 0
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests have started, if they were cut short
    return os.waitstatus_to_exitcode(status) == SURVIVED


def judge(session: pytest.Session) -> Iterator[tuple[int, bool]]:
    items = {item.nodeid: item for item in session.items}
    for number, tests in TASK["mutants"].items():
        own = [items[test] for test in tests if test in items]
        if TASK["fork"]:
            yield int(number), forked(session, int(number), own, TASK["seconds"])
        else:
            yield int(number), run(session, own, TASK["seconds"]) == SURVIVED


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    if session.testsfailed:
        raise session.Interrupted("tests cannot be collected")
    with open(TASK["result"], "w") as out:
        for line in record(session) if "share" in TASK else judge(session):
            print(json.dumps(line), file=out, flush=True)
    return True
