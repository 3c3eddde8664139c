"""Run chunks of queries on several threads; they run in parallel where kernels release the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from rankgain.scalars import check_whole

T = TypeVar("T")

MOST = 256
_pool: Any = None  # created on first use


def check_threads(threads: Any) -> int:
    return check_whole(threads, "threads", 1, MOST)


def run_chunks(chunks: Iterable[tuple[int, int]], work: Callable[[int, int], T], threads: int) -> list[T]:
    """Return the result of `work` for each chunk, in order; if several fail, raise the error of the first chunk.

    Chunks start in order and none starts after an error, so all chunks before the one that failed are completed.
    """
    waiting = deque(enumerate(chunks))
    results: dict[int, T] = {}
    errors: dict[int, BaseException] = {}

    def share() -> None:
        while not errors:
            try:
                number, chunk = waiting.popleft()
            except IndexError:
                return
            try:
                results[number] = work(*chunk)
            except BaseException as error:
                errors[number] = error

    helpers = [_executor().submit(share) for _ in range(min(threads, len(waiting)) - 1)]
    share()
    for helper in helpers:  # those that have not started are no longer needed
        helper.cancel() or helper.result()
    try:
        if errors:
            raise errors[min(errors)]
    finally:
        errors.clear()  # break the reference cycle of error and frame, which would keep the chunk's arrays alive
    return [results[number] for number in range(len(results))]


def begun(work: Callable[[], T], threads: int) -> Callable[[], T]:
    """Start `work` on another thread, if there are several; return a function that waits for or computes the result."""
    if threads == 1:
        return work
    helper = _executor().submit(work)
    return lambda: work() if helper.cancel() else helper.result()


def _executor() -> Any:
    global _pool
    pool = _pool
    if pool is None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        # If two threads create a pool at the same time, the unreferenced one ends when its work is done.
        pool = _pool = ThreadPoolExecutor(MOST, thread_name_prefix="rankgain")
    return pool


def _forget() -> None:
    """Drop the pool: a forked process does not inherit the threads of the parent."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
