"""How long does rankgain on Spark take, compared with PySpark's own evaluators and with a shuffle that only counts?

    pip install 'rankgain[spark]' && python bench/run.py spark

This needs Java 17. All contenders read the same Parquet files. PySpark's nDCG always uses binary gains, so rankgain's
nDCG is computed with gain=binary.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np

QUERIES = {"smoke": 200, "usual": 20_000, "full": 180_000}
DOCUMENTS, JUDGED = 100, 10
TICK = os.sysconf("SC_CLK_TCK")
NAME = "ndcg(gain=binary)@10"


def tree() -> dict[int, float]:
    """Return the CPU seconds of this process and of each of its descendants, keyed by process id."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid], seconds[pid] = int(fields[1]), sum(map(int, fields[11:13])) / TICK
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return {pid: seconds[pid] for pid in ours & seconds.keys()}


class Watch(threading.Thread):
    """A thread that tracks the CPU time of all descendant processes, including Python workers that Spark has ended."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen, self.done = tree(), threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.2):
            self.seen |= tree()

    def seconds(self) -> float:
        self.seen |= tree()
        return sum(self.seen.values())


def write(folder: Path, queries: int) -> None:
    """Write the qrels and the run, each to eight Parquet files; about one judged document in ten is not returned."""
    import pyarrow.parquet

    rng = np.random.default_rng(1)
    first = rng.integers(0, 10**9, queries)
    returned = first + 7919 * np.arange(DOCUMENTS)[:, None]
    positions = (rng.integers(0, DOCUMENTS, queries) + np.arange(JUDGED)[:, None] * (DOCUMENTS // JUDGED)) % DOCUMENTS
    known = np.where(rng.random(positions.shape) < 0.1, -1 - positions, 7919 * positions + first)
    columns = {
        "run": (returned, "score", rng.random(returned.shape)),
        "qrels": (known, "relevance", rng.integers(1, 4, known.shape, dtype=np.int32)),
    }
    for side, (ids, name, values) in columns.items():
        (folder / side).mkdir()
        query = np.broadcast_to(np.arange(queries), ids.shape)
        for part in range(8):
            columns = {"query_id": query[part::8], "doc_id": ids[part::8], name: values[part::8]}
            table = pyarrow.table({column: array.ravel() for column, array in columns.items()})
            pyarrow.parquet.write_table(table, folder / side / f"{part}.parquet")


def ours(qrels: Any, run: Any) -> float:
    import rankgain.spark

    return float(rankgain.spark.summary(qrels, run, NAME).mean(NAME))


def shuffle(qrels: Any, run: Any) -> None:
    """Run the same cogroup as rankgain, with workers that only count rows."""
    import pyarrow

    import rankgain.spark
    from rankgain.batches import BatchOptions

    def count(some: Any, others: Any) -> Any:
        return pyarrow.table({"rows": [len(some) + len(others)]})

    both, _ = rankgain.spark.jobs.cogrouped(qrels, run, BatchOptions(), None)
    both.applyInArrow(count, "rows long").groupBy().sum().collect()


def theirs(qrels: Any, run: Any) -> dict[str, Callable[[], float]]:
    """Return calls of PySpark's two evaluators, on arrays made by `collect_list`."""
    from pyspark.ml.evaluation import RankingEvaluator
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as F

    def lists() -> Any:
        order = F.sort_array(F.collect_list(F.struct("score", "doc_id")), asc=False)
        returned = run.groupBy("query_id").agg(order["doc_id"].alias("prediction"))
        return returned.join(qrels.groupBy("query_id").agg(F.collect_list("doc_id").alias("label")), "query_id")

    def evaluator() -> float:
        doubles = (f"cast({name} as array<double>) {name}" for name in ("prediction", "label"))
        return float(RankingEvaluator(metricName="ndcgAtK", k=10).evaluate(lists().selectExpr(*doubles)))

    def metrics() -> float:
        return float(RankingMetrics(lists().rdd.map(lambda row: (row.prediction, row.label))).ndcgAt(10))

    return {"RankingEvaluator": evaluator, "RankingMetrics": metrics}


def session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    for name, value in {"log.level": "OFF", "ui.enabled": "false", "ui.showConsoleProgress": "false"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def bench(scale: harness.Scale) -> None:
    if not harness.library("pyspark"):
        print("spark: left out without PySpark")
        return
    queries, watch = QUERIES[scale], Watch()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), queries)
        spark = session()
        qrels, run = (spark.read.parquet(str(Path(name, side))) for side in ("qrels", "run"))
        watch.start()
        contenders = {"rankgain": partial(ours, qrels, run)} | theirs(qrels, run)
        contenders["limit: a shuffle that counts"] = partial(shuffle, qrels, run)
        title = f"Spark, {queries * (DOCUMENTS + JUDGED):,} rows, {queries:,} queries"
        harness.hold(title, contenders, scale, clock=watch.seconds)
        watch.done.set()
        spark.stop()
