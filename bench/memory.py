"""How much memory does evaluating take at its peak, above what is given and what is returned?"""

from __future__ import annotations

import ctypes
import gc
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import contest
import dense_scores
import dicts
import files
import groups

import rankgain as rg

BASE, EACH = 64_000_000, 16  # bytes: as many at most, and so many a document of the longest query
STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
Case = tuple[Callable[[], Any], int]  # what evaluates, and the documents of the longest query


@contextmanager
def dense(scale: contest.Scale) -> Iterator[Case]:
    queries, documents = (20, 100) if scale == "smoke" else (10, 1_000_000)
    grades, scores = dense_scores.make(queries, documents)
    yield lambda: rg.from_scores(grades, scores).evaluate("ndcg@10", "ndcg"), documents


@contextmanager
def ragged(scale: contest.Scale) -> Iterator[Case]:
    sizes, grades, scores = groups.make(50 if scale == "smoke" else 30_000, "float64")
    yield lambda: rg.from_scores(grades, scores, group_sizes=sizes).evaluate("ndcg@10", "ndcg"), int(sizes.max())


@contextmanager
def from_dicts(scale: contest.Scale) -> Iterator[Case]:
    queries, documents, judged = {"smoke": (5, 100, 20), "usual": (700, 1000, 50), "full": (6980, 1000, 50)}[scale]
    qrels, run = dicts.make(queries, documents, judged, (0, 1, 2))
    yield lambda: rg.from_qrels(qrels, run).evaluate("ndcg@10", "ndcg"), documents


@contextmanager
def from_files(scale: contest.Scale) -> Iterator[Case]:
    queries, documents, judged = {"smoke": (5, 100, 10), "usual": (700, 1000, 50), "full": (6980, 1000, 50)}[scale]
    with tempfile.TemporaryDirectory() as folder:
        paths = files.write(Path(folder), *dicts.make(queries, documents, judged, (0, 1, 2)))
        yield lambda: rg.read_trec(*paths).evaluate("ndcg@10", "ndcg"), documents


CASES = {"dense": dense, "groups": ragged, "dicts": from_dicts, "files": from_files}


def measure(name: str, scale: contest.Scale) -> tuple[int, int]:
    """The bytes above inputs and results, and the documents of the longest query; in a process of its own."""
    with CASES[name]("smoke") as (run, _):
        run()  # what is imported and made once
    with CASES[name](scale) as (run, longest):
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what making the input left behind
        PEAK.write_text("5")
        before = status("VmRSS")
        answer = run()
        return status("VmHWM") - before - sum(vector.nbytes for vector in answer.values()), longest


def status(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    assert found
    return int(found[1]) * 1024


def bench(scale: contest.Scale) -> None:
    if not PEAK.exists():
        contest.note("memory: skipped, for this system does not tell the peak")
        return
    for name in CASES:
        size, longest = map(int, contest.process(sys.executable, __file__, name, scale).split())
        contest.allowed(f"peak memory, {name}, longest query of {longest:,}", "rankgain", size, BASE + EACH * longest)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in CASES:
        print(*measure(sys.argv[1], sys.argv[2]))  # type: ignore[arg-type]
    else:
        sys.exit(contest.main(__doc__, bench))
