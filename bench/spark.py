"""rankgain on Spark, beside what PySpark has and beside a shuffle that only counts: CPU of all processes, in turns.

    pip install 'rankgain[spark]' && python bench/spark.py [--queries 198000] [--rounds 5] [--buckets 10 200]

It wants Java 17. Each contender reads the same Parquet files and is warmed up once. PySpark's nDCG is binary, whatever
relevance it is given, so rankgain's is asked for with gain=binary and the values are compared. The peak of the
largest Python worker is printed too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import rankgain as rg
import rankgain.spark
from rankgain.batches import Columns

os.environ["PYSPARK_PYTHON"] = sys.executable
DOCUMENTS, JUDGED = 100, 10
TICK = os.sysconf("SC_CLK_TCK")
NAME = "ndcg(gain=binary)@10"


def tree() -> dict[int, tuple[str, float, int]]:
    """Of this process and all below it the name, its own CPU seconds, and the peak MB."""
    found, parents = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            head, _, rest = (folder / "stat").read_text().rpartition(")")
            status = (folder / "status").read_text()
        except OSError:
            continue
        fields = rest.split()
        peak = [int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith("VmHWM")]
        parents[int(folder.name)] = int(fields[1])
        found[int(folder.name)] = head.partition("(")[2], sum(map(int, fields[11:13])) / TICK, *(peak or [0])
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return {pid: found[pid] for pid in ours if pid in found}


class Watch(threading.Thread):
    """What all processes took, those that have ended as well: Spark ends Python workers as it likes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen, self.done = tree(), threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.2):
            self.seen |= tree()

    def seconds(self) -> float:
        self.seen |= tree()
        return sum(seconds for _, seconds, _ in self.seen.values())

    def largest(self) -> int:
        """The peak of the largest Python worker."""
        return max(
            peak for pid, (name, _, peak) in self.seen.items() if pid != os.getpid() and name.startswith("python")
        )


def write(folder: Path, queries: int, documents: int, judged: int, together: bool = False) -> None:
    """Eight files a side: a part of each query's rows, or, `together`, all rows of an eighth of the queries.

    One in ten documents that are judged is not returned.
    """
    rng = np.random.default_rng(1)
    query = np.arange(queries)
    first = rng.integers(0, 10**9, queries)
    returned = first + 7919 * np.arange(documents)[:, None]
    places = (rng.integers(0, documents, queries) + np.arange(judged)[:, None] * (documents // judged)) % documents
    known = np.where(rng.random(places.shape) < 0.1, -1 - places, 7919 * places + first)
    columns = {
        "run": (returned, "score", rng.random(returned.shape)),
        "qrels": (known, "relevance", rng.integers(1, 4, known.shape, dtype=np.int32)),
    }
    for side, (ids, name, values) in columns.items():
        (folder / side).mkdir()
        for part in range(8):
            own = np.s_[:, part::8] if together else np.s_[part::8]
            held = np.broadcast_to(query, ids.shape)[own].ravel()
            table = pa.table({"query_id": held, "doc_id": ids[own].ravel(), name: values[own].ravel()})
            pa.parquet.write_table(table, folder / side / f"{part}.parquet")


def contenders(qrels, run, buckets, bytes_per_batch, alone):
    from pyspark.ml.evaluation import RankingEvaluator
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as F

    def lists():
        order = F.sort_array(F.collect_list(F.struct("score", "doc_id")), asc=False)
        returned = run.groupBy("query_id").agg(order["doc_id"].alias("prediction"))
        return returned.join(qrels.groupBy("query_id").agg(F.collect_list("doc_id").alias("label")), "query_id")

    def theirs():
        doubles = lists().selectExpr(
            "cast(prediction as array<double>) prediction", "cast(label as array<double>) label"
        )
        return RankingEvaluator(metricName="ndcgAtK", k=10).evaluate(doubles)

    def documented():
        return RankingMetrics(lists().rdd.map(lambda row: (row.prediction, row.label))).ndcgAt(10)

    def ours(count, size=None):
        key = "spark.sql.execution.arrow.maxBytesPerBatch"
        run.sparkSession.conf.unset(key) if size is None else run.sparkSession.conf.set(key, size)
        return rankgain.spark.summary(qrels, run, NAME, buckets=count).mean(NAME)

    def counted():
        job = rankgain.spark.jobs.Job.of(qrels, run, Columns(), None)

        def count(some, others):
            return pa.table({"rows": [len(some) + len(others)]})

        job.cogrouped(count, "rows long").groupBy().sum().collect()

    return {
        "a shuffle that counts": counted,
        "rankgain": partial(ours, None),
        **{f"rankgain, {count} buckets": partial(ours, count) for count in buckets},
        **{f"rankgain, {size:,} bytes a batch": partial(ours, None, size) for size in bytes_per_batch},
        **({} if alone else {"RankingEvaluator": theirs, "RankingMetrics": documented}),
    }


def session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    for name, value in {"log.level": "OFF", "ui.enabled": "false", "ui.showConsoleProgress": "false"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def times(folder: Path, arguments: argparse.Namespace) -> None:
    queries, rounds = arguments.queries, arguments.rounds
    write(folder, queries, DOCUMENTS, JUDGED, arguments.together)
    spark = session()
    qrels, run = (spark.read.parquet(str(folder / side)) for side in ("qrels", "run"))
    taken: dict[str, list[float]] = {}
    watch = Watch()
    watch.start()
    for turn in range(rounds + 1):
        values = {}
        for name, call in contenders(qrels, run, arguments.buckets, arguments.bytes_per_batch, arguments.alone).items():
            before, start = watch.seconds(), time.monotonic()
            values[name] = call()
            used = watch.seconds() - before
            if turn:
                taken.setdefault(name, []).append(used)
            print(f"round {turn}: {name}: {used:.1f} s CPU, {time.monotonic() - start:.1f} s wall", flush=True)
        wrong = {name: value for name, value in values.items() if value and abs(value / values["rankgain"] - 1) > 1e-12}
        assert not wrong, values
    watch.done.set()
    spark.stop()
    print(f"the largest Python worker held {watch.largest()} MB")
    medians = {name: statistics.median(each) for name, each in taken.items()}
    rows, load = queries * (DOCUMENTS + JUDGED), os.getloadavg()[0]
    print(f"{rows:,} rows, {queries:,} queries, median CPU of {rounds}, load {load:.0f}")
    for name, seconds in medians.items():
        print(f"  {name:<24} {seconds:7.1f} s   rankgain takes {medians['rankgain'] / seconds:.2f} of it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--together", action="store_true", help="all rows of a query in one file")
    parser.add_argument("--buckets", type=int, nargs="*", default=[], help="numbers of buckets beside the default")
    parser.add_argument(
        "--bytes-per-batch", type=int, nargs="*", default=[], help="sizes of Arrow batches beside Spark's default"
    )
    parser.add_argument("--alone", action="store_true", help="without what PySpark has")
    arguments = parser.parse_args()
    print(f"rankgain {rg.__version__} ({rg.backend})", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        times(Path(temporary), arguments)
