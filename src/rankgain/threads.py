"""Process chunks of queries on several threads, which run in parallel while compiled code releases the GIL."""

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
    """Return the results of `work` for all chunks, in order; if chunks fail, raise the error of the first of them.

    Chunks are started in order, and none is started after an error. All chunks before the first failed chunk are
    therefore completed.
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
    for helper in helpers:  # helpers that have not started yet are no longer needed
        helper.cancel() or helper.result()
    try:
        if errors:
            raise errors[min(errors)]
    finally:
        errors.clear()  # break the reference cycle between error and frame, which would keep the arrays alive
    return [results[number] for number in range(len(results))]


def _executor() -> Any:
    global _pool
    pool = _pool
    if pool is None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        # If two threads each create a pool at the same time, one pool is lost, and ends when its work is done.
        pool = _pool = ThreadPoolExecutor(MOST, thread_name_prefix="rankgain")
    return pool


def _forget() -> None:
    """Discard the thread pool, since a forked process does not inherit the threads of its parent."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
