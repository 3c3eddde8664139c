"""What do large inputs take: 2^31 documents, one query of 10^8, 20 million lines, 10^6 users, files beyond memory?

Time, and memory at its peak beyond the input. Usually a hundredth of it, `--full` all; each in a process of its own.
"""

from __future__ import annotations

import ctypes
import gc
import gzip
import os
import re
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dicts
import files
import groups
import harness
import numpy as np
import scores

import rankgain as rg

PARTS = {"smoke": 10_000, "usual": 100, "full": 1}  # of the data, one part is taken
STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
BASE, EACH = 64_000_000, 16  # bytes that evaluating may take, and so many more per document of the longest query
HEAD = ("", "wall", "CPU", "a second", "input", "beyond it", "load")


class Finding(NamedTuple):
    cells: tuple[str, ...]  # under HEAD
    size: int  # bytes beyond the input at the peak
    most: int | None = None  # that they may be


def status(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    assert found
    return int(found[1]) * 1024


class Watch(threading.Thread):
    """The most memory of its own that the process holds, looked at again and again: maps of files do not count."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.done = 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.005):
            self.most = max(self.most, status("RssAnon"))


def measure(
    what: str, count: int, run: Callable[[], Any], *, mapped: bool = False, longest: int | None = None
) -> tuple[Finding, Any]:
    """Time and memory of one call, which evaluates so many documents; and its answer."""
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what making the input left behind
    watch, before = Watch(), status("RssAnon")
    PEAK.write_text("5")
    if mapped:
        watch.start()
    start, worked = time.perf_counter(), time.process_time()
    answer = run()
    wall, cpu = time.perf_counter() - start, time.process_time() - worked
    watch.done.set()
    size = max((watch.most if mapped else status("VmHWM") - status("RssFile")) - before, 0)
    times = harness.duration(wall), harness.duration(cpu), f"{count / wall / 1e6:.3g} M"
    cells = what, *times, harness.megabytes(before), harness.megabytes(size), f"{os.getloadavg()[0]:.1f}"
    return Finding(cells, size, None if longest is None else BASE + EACH * longest), answer


def check(what: str, found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    if not np.allclose(found, expected, rtol=tolerance, atol=0):
        raise harness.DifferentAnswer(f"{what}: {found} is found, and there must be {expected}")


def evaluate(metric: str, grades: Any, values: Any, sizes: Any = None) -> Any:
    return rg.from_scores(grades, values, group_sizes=sizes).evaluate(metric)


# what others measure by time: how much memory it takes


def usual(scale: harness.Scale, folder: Path) -> Iterator[Finding]:
    smoke = scale == "smoke"
    queries = {"smoke": 5, "usual": 700, "full": 6980}[scale]
    metrics = "ndcg@10", "ndcg"
    grades, values = scores.make(20 if smoke else 10, 100 if smoke else 1_000_000)
    sizes, labels, estimates = groups.make(50 if smoke else 30_000, "float64")
    qrels, run = dicts.make(queries, 100 if smoke else 1000, 20, (0, 1, 2))
    paths = files.write(folder, qrels, run)
    calls: dict[str, tuple[int, Callable[[], Any]]] = {
        "dense": (grades.shape[1], lambda: rg.from_scores(grades, values)),
        "groups": (int(sizes.max()), lambda: rg.from_scores(labels, estimates, group_sizes=sizes)),
        "dicts": (1000, lambda: rg.from_qrels(qrels, run)),
        "files": (1000, lambda: rg.read_trec(*paths)),
    }
    evaluate("ndcg@10", grades[:2], values[:2])  # what is imported and made once
    for name, (longest, rankings) in calls.items():
        title = f"peak memory, {name}, longest query of {longest:,}"
        yield measure(title, 1, partial(lambda make: make().evaluate(*metrics), rankings), longest=longest)[0]


# scores


PART = 1_000_000  # documents that are made together
MEAN = 1000  # documents of a query


def part_of(seed: int) -> tuple[Any, Any, Any]:
    """The sizes, from 1 to 2 · MEAN − 1, grades and scores of a part; one document in ten has a grade of 1 to 4."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2 * MEAN, PART // MEAN)
    sizes[1::2] = 2 * MEAN - sizes[::2]
    drawn = rng.integers(0, 40, PART, dtype=np.uint8)
    return sizes, (drawn + 1) * (drawn < 4), rng.random(PART, dtype=np.float32)


def ndcg(grades: Any, values: Any, k: int) -> float:
    """As the definition says it: in a tie group every document has the mean of the gains and of the discounts."""
    order = np.argsort(-values)
    gains, values = grades[order].astype(float), values[order]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    discounts = 1 / np.log2(np.arange(2, len(gains) + 2))
    discounts[k:] = 0
    tied = np.diff(np.append(starts, len(gains)))
    found = (np.add.reduceat(gains, starts) / tied) @ np.add.reduceat(discounts, starts)
    gains.sort()
    ideal = gains[::-1] @ discounts
    return float(found / ideal) if ideal else 0.0


def check_parts(name: str, result: Any, parts: int) -> None:
    """Of each part the first query, of the last part all, as the definition says it."""
    each = PART // MEAN
    for seed in range(parts):
        sizes, grades, values = part_of(seed)
        ends = np.cumsum(sizes)
        for query in range(each if seed == parts - 1 else 1):
            own = slice(ends[query] - sizes[query], ends[query])
            check(name, result["ndcg@10"][seed * each + query], ndcg(grades[own], values[own], 10))


def by_chunks(scale: harness.Scale, _: Path) -> Iterator[Finding]:
    """The loop of somebody who makes or loads a part at a time."""
    parts = max(1000 // PARTS[scale], 1)

    def run() -> Any:
        results = []
        for seed in range(parts):
            sizes, grades, values = part_of(seed)
            results.append(evaluate("ndcg@10", grades, values, sizes))
        return results[0].merge(*results[1:])

    title = f"{parts * PART:,} documents in {parts * PART // MEAN:,} queries, chunks of {PART:,}"
    finding, result = measure(f"{title} made, ndcg@10, merged", parts * PART, run)
    yield finding
    check_parts("chunks", result, parts)
    yield measure(f"{title} made and no more", parts * PART, lambda: deque(map(part_of, range(parts)), maxlen=1))[0]


def flat(scale: harness.Scale, folder: Path) -> Iterator[Finding]:
    """All at once, from files that are mapped."""
    parts, lengths = max(1000 // PARTS[scale], 1), []
    with (folder / "grades").open("wb") as grades, (folder / "scores").open("wb") as values:
        for seed in range(parts):
            some = part_of(seed)
            lengths.append(some[0])
            grades.write(some[1])
            values.write(some[2])
    sizes = np.concatenate(lengths)
    y_true = np.memmap(folder / "grades", dtype=np.uint8, mode="r")
    y_score = np.memmap(folder / "scores", dtype=np.float32, mode="r")
    for metric in ("ndcg", "ndcg@10"):
        name = f"{parts * PART:,} documents in {len(sizes):,} queries, flat and mapped, {metric}"
        finding, result = measure(name, parts * PART, partial(evaluate, metric, y_true, y_score, sizes), mapped=True)
        yield finding
    check_parts("flat", result, parts)


def one_query(scale: harness.Scale, _: Path) -> Iterator[Finding]:
    n = 100_000_000 // PARTS[scale]
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 40, n, dtype=np.uint8)
    grades = (drawn + np.uint8(1)) * (drawn < 4)
    del drawn
    for ties in ("no ties", "1000 different scores"):
        values = rng.random(n) if ties == "no ties" else rng.integers(0, 1000, n, np.int16).astype(np.float64)
        for metric, k in ("ndcg@10", 10), ("ndcg", n):
            name = f"one query of {n:,} documents, {ties}, {metric}"
            run = partial(evaluate, metric, grades, values)
            finding, result = measure(name, n, run)
            yield finding
            check(name, result[metric][0], ndcg(grades, values, k), 1e-9)
            del run
        del values


# ids whose ranks are known


def judged_ranks(queries: int) -> Any:
    """For each query the ranks of 20 documents, rising, the first ones near the top and the last far below."""
    return np.cumsum(np.random.default_rng(1).integers(1, 2 + 2 ** (np.arange(20) // 2), (queries, 20)), axis=1)


def check_ranked(name: str, result: Any, ranks: Any, grades: Any, k: int, returned: int) -> None:
    """nDCG at k and reciprocal rank, by the ranks that the documents were given."""
    discounts = 1 / np.log2(ranks + 1)
    ideal = -np.sort(-grades, axis=1)[:, :k] @ (1 / np.log2(np.arange(2, min(k, 20) + 2)))
    dcg = np.sum(grades * discounts * (ranks <= min(k, returned)), axis=1)
    check(name, result[f"ndcg@{k}"], np.divide(dcg, ideal, out=np.zeros(len(dcg)), where=ideal > 0))
    first = np.min(np.where((grades > 0) & (ranks <= returned), ranks, np.inf), axis=1)
    check(name, result["rr"], 1 / first)


LINES = 1000  # of a query


def document(query: int, rank: int) -> int:
    """Another for each rank of a query."""
    return (query * 7919 + rank * 104_729) % 8_841_823


def write_run(path: Path, places: Iterator[list[int]]) -> None:
    """A line for each place: of the queries one after the other, all of their ranks."""
    ends = [f" {rank} {25 - 0.0173 * rank:.4f} made\n" for rank in range(1, LINES + 1)]
    with path.open("w") as file:
        for some in places:
            pairs = (divmod(place, LINES) for place in some)
            file.writelines(f"{query} Q0 D{document(query, rank + 1)}{ends[rank]}" for query, rank in pairs)


def trec_files(scale: harness.Scale, folder: Path) -> Iterator[Finding]:
    queries = max(20_000 // PARTS[scale], 2)
    ranks = judged_ranks(queries)
    grades = np.random.default_rng(2).integers(0, 4, ranks.shape)
    qrels, run, zipped = folder / "qrels", folder / "run", folder / "run.gz"
    with qrels.open("w") as file:
        for query, (own, its) in enumerate(zip(ranks.tolist(), grades.tolist(), strict=True)):
            pairs = zip(own, its, strict=True)
            file.writelines(f"{query} 0 D{document(query, rank)} {grade}\n" for rank, grade in pairs)

    def found(how: str, path: Path) -> Finding:
        size = harness.megabytes(path.stat().st_size)
        name = f"a run of {queries * LINES:,} lines{how}, {size}; {20 * queries:,} judged, ndcg@10 and rr"
        finding, result = measure(name, queries * LINES, lambda: rg.read_trec(qrels, path).evaluate("ndcg@10", "rr"))
        check_ranked(name, result, ranks, grades, 10, LINES)
        return finding

    starts = range(0, queries * LINES, PART)
    write_run(run, (list(range(start, min(start + PART, queries * LINES))) for start in starts))
    yield found("", run)
    with run.open("rb") as plain, gzip.open(zipped, "wb", compresslevel=1) as file:
        shutil.copyfileobj(plain, file, 1 << 20)
    yield found(", gzip", zipped)
    zipped.unlink()
    order = np.random.default_rng(3).permutation(np.arange(queries * LINES, dtype=np.int32))
    write_run(run, (order[start : start + PART].tolist() for start in starts))
    del order
    yield found(", shuffled", run)


ITEMS = 49_999  # a prime: the multiples of a number below it are all different


def users(how: str, scale: harness.Scale, _: Path) -> Iterator[Finding]:
    """A matrix of recommended ids against held-out ones."""
    count, shown = 1_000_000 // PARTS[scale], 100
    rng = np.random.default_rng(1)
    begins, steps = rng.integers(0, ITEMS, (count, 1)), rng.integers(1, ITEMS, (count, 1))
    ranks = judged_ranks(count)
    held_out = ((begins + steps * ranks) % ITEMS).astype(np.int32)
    matrix = np.empty((count, shown), dtype=np.int32)
    for start in range(0, count, 10_000):
        some = slice(start, start + 10_000)
        matrix[some] = (begins[some] + steps[some] * np.arange(1, shown + 1)) % ITEMS
    del begins, steps
    names: Any = None
    relevant: Any
    if how == "sets":
        relevant = list(map(set, map(np.ndarray.tolist, held_out)))
    elif how == "dicts by user":
        relevant = {f"user {user}": dict.fromkeys(own.tolist(), 1) for user, own in enumerate(held_out)}
        names = list(relevant)
    else:
        scipy: Any = harness.library("scipy.sparse")
        if not scipy:
            return
        held = np.ones(ranks.size, np.int8), held_out.reshape(-1), np.arange(0, ranks.size + 1, ranks.shape[1])
        relevant = scipy.csr_matrix(held, shape=(count, ITEMS))
    for dtype in (np.int32, np.int64) if how == "a sparse matrix" else (np.int32,):
        matrix = matrix.astype(dtype, copy=False)
        name = f"{count:,} users × {shown} of {ITEMS:,} items, {matrix.dtype} against {how}, ndcg@100 and rr"

        def run(matrix: Any = matrix) -> Any:
            return rg.from_recommendations(matrix, relevant, query_ids=names).evaluate("ndcg@100", "rr")

        finding, result = measure(name, matrix.size, run)
        yield finding
        check_ranked(name, result, ranks, np.ones(ranks.shape), 100, shown)


# files of Parquet


def batches(scale: harness.Scale, folder: Path) -> Iterator[Finding]:
    """A data set beyond memory, 8 bytes a row and more on the disk, read a batch at a time."""
    arrow: Any = harness.library("pyarrow")
    if not arrow:
        return
    import pyarrow.dataset
    import pyarrow.parquet

    from rankgain.batches import summarize_batches

    rng, parts = np.random.default_rng(0), max(100 // PARTS[scale], 1)
    for number in range(parts):
        row = np.arange(number * PART, (number + 1) * PART)
        relevance = arrow.array(rng.integers(0, 4, PART, dtype=np.int8), mask=rng.random(PART) < 0.8)
        columns = {"query_id": row // 100, "doc_id": row % 100 * 7919, "relevance": relevance}
        table = arrow.table(columns | {"score": rng.random(PART, dtype=np.float32)})
        pyarrow.parquet.write_table(table, folder / f"{number:05}.parquet")
    parquet = pyarrow.dataset.dataset(folder)
    name = f"{parts * PART:,} rows of {parts} Parquet files, {parts * PART // 100:,} queries, ndcg@10 and ap"
    finding, result = measure(
        name,
        parts * PART,
        lambda: summarize_batches(parquet.to_batches(batch_readahead=2, fragment_readahead=1), "ndcg@10", "ap"),
    )
    yield finding
    check(name, result.counts["queries"], parts * PART // 100)


# places that 32 bits do not hold

WIDE = 1024  # documents of a query


class Lines:
    """So many empty lines, and another after them, as a file."""

    def __init__(self, empty: int, last: bytes) -> None:
        self._empty, self._last = empty, last
        self.seek(0)

    def read(self, size: int) -> bytes:
        start, self._at = self._at, min(self._at + size, self._empty + 1)
        return b"\n" * (min(self._at, self._empty) - start) + self._last * (self._at > max(start, self._empty))

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0

    def seek(self, at: int) -> None:
        self._at = at


def beyond(scale: harness.Scale, folder: Path) -> Iterator[Finding]:
    """More than 2^31 documents, of which only the last count: files with nothing else in them take no space."""
    queries = 2**31 // PARTS[scale] // WIDE + 1
    shape = queries, WIDE
    documents = queries * WIDE
    grades = np.memmap(folder / "grades", np.uint8, "w+", shape=shape)
    values = np.memmap(folder / "scores", np.float32, "w+", shape=shape)
    grades[-1, -1] = 3
    values[-1, -1] = 1
    sizes = np.full(queries, WIDE)

    def found(how: str, rankings: Callable[[], Any], rr: float) -> Finding:
        name = f"{documents:,} documents, all but one of grade 0, {how}, ndcg and rr"
        finding, result = measure(name, documents, lambda: rankings().evaluate("ndcg", "rr"), mapped=True)
        check(name, [result["rr"].sum(), result["rr"][-1]], [rr, rr])
        check(name, [result["ndcg"].sum(), result["ndcg"][-1]], [1 / np.log2(1 + 1 / rr)] * 2)
        return finding

    yield found("in rank order", lambda: rg.from_ranked(grades), 1 / WIDE)
    flat = partial(rg.from_scores, grades.reshape(-1), values.reshape(-1), group_sizes=sizes)
    yield found("flat with scores", flat, 1)
    values[-1, -1] = 0
    yield found("flat with scores that are all tied", partial(flat, ties="stable"), 1 / WIDE)
    del values, flat
    sparse: Any = harness.library("scipy.sparse")
    if sparse:
        items = np.memmap(folder / "items", np.int32, "w+", shape=shape)
        items[-1] = np.arange(WIDE)
        relevant = sparse.csr_matrix(([1], ([queries - 1], [WIDE - 1])), shape=shape)
        yield found("as recommendations", lambda: rg.from_recommendations(items, relevant), 1 / WIDE)
    qrels = folder / "qrels"
    qrels.write_text("q1 0 d1 1\n")

    def refused() -> str:
        try:
            return str(rg.read_trec(qrels, Lines(documents, b"q1 Q0 d1 1 high made\n")))
        except ValueError as error:
            return str(error)

    finding, said = measure(f"{documents:,} empty lines before a wrong one", documents, refused, mapped=True)
    yield finding
    if f"line {documents + 1}," not in said:
        raise harness.DifferentAnswer(f"{documents + 1} is the wrong line: {said}")


CASES: dict[str, Callable[[harness.Scale, Path], Iterator[Finding]]] = {
    "usual": usual,
    "chunks": by_chunks,
    "flat": flat,
    "query": one_query,
    "files": trec_files,
    "sparse": partial(users, "a sparse matrix"),
    "sets": partial(users, "sets"),
    "dicts": partial(users, "dicts by user"),
    "batches": batches,
    "beyond": beyond,
}


def case(name: str, scale: harness.Scale) -> list[Finding]:
    """What is found, with a folder that is removed."""
    with tempfile.TemporaryDirectory() as folder:
        return list(CASES[name](scale, Path(folder)))


def bench(scale: harness.Scale, only: str | None = None) -> None:
    if not PEAK.exists():
        harness.note("large: skipped, for this system does not tell the peak of memory")
        return
    for name in [only] if only else CASES:
        found = [Finding(*finding) for finding in harness.apart(case, name, scale)]
        if scale == "smoke":
            print(f"large, {name}: equal answers from {len(found)}")
            continue
        for finding in found:
            if finding.most:
                harness.allowed(finding.cells[0], "rankgain", finding.size, finding.most)
        rows = [HEAD, *(finding.cells for finding in found if not finding.most)]
        if rows[1:]:
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            harness.note("\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows))
