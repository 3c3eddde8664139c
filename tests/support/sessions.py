"""Spark sessions and data for tests."""

from contextlib import contextmanager

import numpy as np

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # for a fast start
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
QUERIES = 40


@contextmanager
def session(master, **settings):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("rankgain")
    for name, value in (QUIET | settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def rows(kind="long", queries=QUERIES, seed=5):
    """Return the rows of qrels and a run. Some queries are missing on one side, and one has no relevant documents."""
    rng = np.random.default_rng(seed)
    named = (lambda number: f"é{number:04}") if kind == "string" else int
    qrels, run = [], []
    for query in range(queries):
        if query % 7:
            grades = [0] * 8 if query == 8 else rng.integers(-1, 4, 8).tolist()
            for doc, grade in zip(rng.permutation(20)[:8], grades, strict=True):
                qrels.append((named(query), named(doc), grade))
        if query % 5:
            for doc in rng.permutation(20)[: rng.integers(1, 20)]:
                run.append((named(query), named(doc), float(rng.integers(0, 6))))
    return qrels, run


def columns(rows, *names):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def frames(spark, kind="long", **more):
    """Return the rows as shuffled and repartitioned Spark tables, and as columns for `from_frames`."""
    qrels, run = rows(kind, **more)
    rng = np.random.default_rng(9)
    tables = []
    for side, value in ((qrels, "relevance int"), (run, "score double")):
        order = [side[index] for index in rng.permutation(len(side))]
        tables.append(spark.createDataFrame(order, f"query_id {kind}, doc_id {kind}, {value}").repartition(3))
    local = columns(qrels, "query_id", "doc_id", "relevance"), columns(run, "query_id", "doc_id", "score")
    return *tables, *local


def by_query(frame):
    """Return the rows of an evaluated frame by query."""
    return {row[0]: tuple(row)[1:] for row in frame.collect()}
