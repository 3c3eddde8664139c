"""How much time and memory do large inputs take, such as 2^31 documents, 10^6 users or files larger than memory?

The memory is the peak beyond the input. By default, the data are a hundredth of the full size; `--full` selects the
full size. Each case runs in a separate process.
"""

from __future__ import annotations

import ctypes
import gc
import gzip
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
import harness
import numpy as np
import recommendations

import rankgain as rg

PARTS = {"smoke": 10_000, "usual": 100, "full": 1}  # the full size is divided by this number
STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
BASE, EACH = 64_000_000, 16  # bytes allowed for an evaluation, plus bytes per document of the longest query


class Call(NamedTuple):
    """A call to measure; `count` is the number of documents that it evaluates."""

    name: str
    count: int
    run: Callable[[], Any]
    check: Callable[[Any], list[tuple[Any, Any]]] = lambda answer: []  # parts of the answer with their expected values
    mapped: bool = False  # whether the input is in memory-mapped files
    most: int | None = None  # the limit in bytes on memory beyond the input


Calls = Iterator[Call]


def status(field: str) -> int:
    match = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    assert match
    return int(match[1]) * 1024


class Watch(threading.Thread):
    """A thread that samples the anonymous memory of the process and keeps the maximum; mapped files do not count."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.done = 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.005):
            self.most = max(self.most, status("RssAnon"))


def measure(run: Callable[[], Any], mapped: bool = False) -> tuple[Any, float, float, int, int]:
    """Return the answer, wall time, CPU time, bytes in use before the call, and peak bytes beyond those."""
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # return memory freed after making the input
    watch, before = Watch(), status("RssAnon")
    PEAK.write_text("5")
    if mapped:
        watch.start()
    start, worked = time.perf_counter(), time.process_time()
    answer = run()
    wall, cpu = time.perf_counter() - start, time.process_time() - worked
    watch.done.set()
    return answer, wall, cpu, before, max((watch.most if mapped else status("VmHWM") - status("RssFile")) - before, 0)


def row_of(call: Call) -> harness.Row:
    """Measure a call, check its answer, and return the row for the table."""
    answer, wall, cpu, before, size = measure(call.run, call.mapped)
    for part, expected in call.check(answer):
        if not np.allclose(part, expected, rtol=1e-12, atol=0):
            raise harness.DifferentAnswer(f"{call.name}: {part} is found, and there must be {expected}")
    speed = f"{harness.duration(wall)}, CPU {harness.duration(cpu)}, {call.count / wall / 1e6:.3g} M a second"
    figure = f"{speed}, {harness.megabytes(size)} beyond {harness.megabytes(before)}"
    target = ("", None) if call.most is None else (f"≤ {harness.megabytes(call.most)} beyond", size <= call.most)
    return harness.Row("", call.name, figure, None, "", *target)


def evaluate(grades: Any, values: Any, sizes: Any, metric: str) -> Any:
    return rg.from_scores(grades, values, group_sizes=sizes).evaluate(metric)


PART = 1_000_000  # documents generated at a time
MEAN = 1000  # mean number of documents per query


def part_of(seed: int) -> tuple[Any, Any, Any]:
    """Make group sizes (1 to 2 · MEAN − 1), grades and scores; about one document in ten has a grade from 1 to 4."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2 * MEAN, PART // MEAN)
    sizes[1::2] = 2 * MEAN - sizes[::2]
    drawn = rng.integers(0, 40, PART, dtype=np.uint8)
    return sizes, (drawn + 1) * (drawn < 4), rng.random(PART, dtype=np.float32)


def ndcg(grades: Any, values: Any, k: int) -> float:
    """Compute nDCG from its definition; in a tie group, every rank has the mean gain of the tied documents."""
    order = np.argsort(-values)
    gains, values = grades[order].astype(float), values[order]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    discounts = 1 / np.log2(np.arange(2, len(gains) + 2))
    discounts[k:] = 0
    tied = np.diff(np.append(starts, len(gains)))
    dcg = (np.add.reduceat(gains, starts) / tied) @ np.add.reduceat(discounts, starts)
    gains.sort()
    ideal = gains[::-1] @ discounts
    return float(dcg / ideal) if ideal else 0.0


def parts_of_scores(scale: harness.Scale, folder: Path) -> Calls:
    """Yield calls that generate and evaluate the data one part at a time, and calls on memory-mapped files."""
    parts = max(1000 // PARTS[scale], 1)
    title = f"{parts * PART:,} documents in {parts * PART // MEAN:,} queries"

    def chunks() -> Any:
        results = []
        for sizes, grades, values in map(part_of, range(parts)):
            results.append(evaluate(grades, values, sizes, "ndcg@10"))
        return results[0].merge(*results[1:])

    def check(metric: str, k: int, result: Any) -> list[tuple[Any, Any]]:
        """Return the values of the queries in the last part, with the expected values."""
        sizes, *columns = part_of(parts - 1)
        queries = zip(*(np.split(column, np.cumsum(sizes)[:-1]) for column in columns), strict=True)
        return [(result[metric][-len(sizes) :], [ndcg(*query, k) for query in queries])]

    name = f"{title}, generated in chunks of {PART:,}"
    yield Call(f"{name}, ndcg@10, merged", parts * PART, chunks, partial(check, "ndcg@10", 10))
    yield Call(f"{name}, not evaluated", parts * PART, lambda: deque(map(part_of, range(parts)), maxlen=1))
    lengths = []
    with (folder / "grades").open("wb") as grades, (folder / "scores").open("wb") as values:
        for sizes, *columns in map(part_of, range(parts)):
            lengths.append(sizes)
            grades.write(columns[0])
            values.write(columns[1])
    columns = [np.memmap(folder / "grades", np.uint8, "r"), np.memmap(folder / "scores", np.float32, "r")]
    sizes = np.concatenate(lengths)
    for metric, k in ("ndcg", PART), ("ndcg@10", 10):
        name = f"{title}, flat and mapped, {metric}"
        run = partial(evaluate, *columns, sizes, metric)
        yield Call(name, parts * PART, run, partial(check, metric, k), mapped=True, most=BASE + EACH * 2 * MEAN)


def one_query(scale: harness.Scale, _: Path) -> Calls:
    n = 100_000_000 // PARTS[scale]
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 40, n, dtype=np.uint8)
    grades = (drawn + np.uint8(1)) * (drawn < 4)
    del drawn
    for ties in ("no ties", "1000 different scores"):
        values = rng.random(n) if ties == "no ties" else rng.integers(0, 1000, n, np.int16).astype(np.float64)
        for metric, k in ("ndcg@10", 10), ("ndcg", n):
            name = f"one query of {n:,} documents, {ties}, {metric}"
            run = partial(evaluate, grades, values, None, metric)
            check = partial(lambda values, k, result: [(*result.values(), ndcg(grades, values, k))], values, k)
            yield Call(name, n, run, check, most=BASE + EACH * n)


def qrels_and_run(scale: harness.Scale, _: Path) -> Calls:
    queries = {"smoke": 5, "usual": 700, "full": 6980}[scale]
    qrels, run = dicts.make(queries, 1000, 20, (0, 1, 2))
    name = f"qrels and run in dicts, {queries:,} queries × 1,000, ndcg@10 and rr"
    expected = dicts.plain_loop(qrels, run, 10)
    call = partial(rg.evaluate, qrels, run, "ndcg@10", "rr")
    yield Call(name, 1000 * queries, call, partial(in_order, expected), most=BASE + EACH * 1000)


def in_order(expected: list[Any], result: Any) -> list[tuple[Any, Any]]:
    return list(zip(result.values(), expected, strict=True))


def trec_files(scale: harness.Scale, folder: Path) -> Calls:
    queries, expected = max(20_000 // PARTS[scale], 2), ([], [])

    def parts() -> Iterator[tuple[dicts.Qrels, dicts.Run]]:
        for first in range(0, queries, 100):
            qrels, run = dicts.make(min(100, queries - first), 1000, 20, (0, 1, 2, 3), first)
            for values, more in zip(expected, dicts.plain_loop(qrels, run, 10), strict=True):
                values += more
            yield qrels, run

    qrels, run = files.write(folder, parts())

    text = run.stat().st_size

    def call(how: str, path: Path, per_line: int = 40) -> Call:
        size = harness.megabytes(path.stat().st_size)
        name = f"a run of {queries * 1000:,} lines{how}, {size}; {20 * queries:,} judged, ndcg@10 and rr"
        read = partial(lambda path: rg.read_trec(qrels, path).evaluate("ndcg@10", "rr"), path)
        return Call(
            name, queries * 1000, read, partial(in_order, expected), most=BASE + text + per_line * queries * 1000
        )

    yield call("", run)
    zipped = folder / "run.gz"
    with run.open("rb") as plain, gzip.open(zipped, "wb", compresslevel=1) as file:
        shutil.copyfileobj(plain, file, 1 << 20)
    yield call(", gzip", zipped)
    zipped.unlink()
    files.scatter(run)
    yield call(", shuffled", run, per_line=100)


def users(how: str, scale: harness.Scale, _: Path) -> Calls:
    """Yield calls that evaluate a matrix of recommended ids against the users' held-out ids."""
    count, items = 1_000_000 // PARTS[scale], 50_000
    matrix, held_out = recommendations.make(count, items, 100, 20)
    expected = recommendations.numpy_loop(matrix, held_out)
    names: Any = None
    relevant: Any
    if how == "sets":
        relevant = [set(ids.tolist()) for ids in held_out]
    elif how == "dicts by user":
        relevant = {f"user {user}": dict.fromkeys(ids.tolist(), 1) for user, ids in enumerate(held_out)}
        names = list(relevant)
    else:
        relevant = recommendations.sparse_of(held_out, items)
    for dtype in (np.int32, np.int64) if how == "a sparse matrix" else (np.int32,):
        matrix = matrix.astype(dtype, copy=False)
        name = f"{count:,} users × 100 of {items:,} items, {matrix.dtype} against {how}, ndcg@100 and rr"

        def run(matrix: Any = matrix) -> Any:
            rankings = rg.from_recommendations(relevant=relevant, recommended=matrix, query_ids=names)
            return rankings.evaluate(*recommendations.METRICS)

        if relevant is not None:
            yield Call(name, matrix.size, run, partial(in_order, expected))


# Parquet files


def batches(scale: harness.Scale, folder: Path) -> Calls:
    """Yield a call that reads Parquet files batch by batch, as for a data set that is larger than memory."""
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

    def run() -> Any:
        return summarize_batches(parquet.to_batches(batch_readahead=2, fragment_readahead=1), "ndcg@10", "ap")

    yield Call(name, parts * PART, run, lambda result: [(result.counts["queries"], parts * PART // 100)])


# positions that do not fit in 32 bits

WIDE = 1024  # documents per query


def beyond(scale: harness.Scale, folder: Path) -> Calls:
    """Yield calls on more than 2^31 documents. All but the last are zero, so the sparse files take little space."""
    queries = 2**31 // PARTS[scale] // WIDE + 1
    shape = queries, WIDE
    documents = queries * WIDE
    grades = np.memmap(folder / "grades", np.uint8, "w+", shape=shape)
    values = np.memmap(folder / "scores", np.float32, "w+", shape=shape)
    grades[-1, -1] = 3
    values[-1, -1] = 1
    sizes = np.full(queries, WIDE)

    def call(how: str, rankings: Callable[[], Any], rr: float) -> Call:
        def check(result: Any) -> list[tuple[Any, Any]]:
            expected = {"rr": rr, "ndcg": 1 / np.log2(1 + 1 / rr)}
            return [([values.sum(), values[-1]], expected[metric]) for metric, values in result.items()]

        name = f"{documents:,} documents, all but one of grade 0, {how}, ndcg and rr"
        return Call(name, documents, lambda: rankings().evaluate("ndcg", "rr"), check, mapped=True)

    yield call("in rank order", lambda: rg.from_ranked(grades), 1 / WIDE)
    flat = partial(rg.from_scores, grades.reshape(-1), values.reshape(-1), group_sizes=sizes)
    yield call("flat with scores", flat, 1)
    values[-1, -1] = 0
    yield call("flat with scores that are all tied", partial(flat, ties="stable"), 1 / WIDE)
    del values, flat
    sparse: Any = harness.library("scipy.sparse")
    if sparse:
        items = np.memmap(folder / "items", np.int32, "w+", shape=shape)
        items[-1] = np.arange(WIDE)
        relevant = sparse.csr_matrix(([1], ([queries - 1], [WIDE - 1])), shape=shape)
        yield call(
            "as recommendations", lambda: rg.from_recommendations(relevant=relevant, recommended=items), 1 / WIDE
        )


CASES: dict[str, Callable[[harness.Scale, Path], Calls]] = {
    "scores": parts_of_scores,
    "query": one_query,
    "qrels": qrels_and_run,
    "files": trec_files,
    "sparse": partial(users, "a sparse matrix"),
    "sets": partial(users, "sets"),
    "dicts": partial(users, "dicts by user"),
    "batches": batches,
    "beyond": beyond,
}


def case(name: str, scale: harness.Scale) -> list[harness.Row]:
    """Measure all calls of a case in a temporary folder, and return their rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [row_of(call)._replace(title=f"large, {name}") for call in CASES[name](scale, Path(folder))]


def bench(scale: harness.Scale, only: str | None = None) -> None:
    if not PEAK.exists():
        print("large: skipped, for this system does not tell the peak of memory")
        return
    for name in [only] if only else CASES:
        rows = [
            harness.Row(*row)._replace(spread=harness.load_beside()) for row in harness.in_process(case, name, scale)
        ]
        if scale == "smoke":
            print(f"large, {name}: equal answers from {len(rows)}")
        elif rows:
            harness.show(rows)
