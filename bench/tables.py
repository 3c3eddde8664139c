"""How long does it take to evaluate table files and records, compared with only reading them with pyarrow?"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np

import rankgain as rg

NAMES = ["query_id", "doc_id"]


def rows_of(queries: int, documents: int, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make the columns of qrels with one document per query, and of a run with a passage for each returned document."""
    rng = np.random.default_rng(20240229)
    query = np.repeat(np.arange(1_000_000, 1_000_000 + queries), documents)
    document = rng.integers(0, 8_841_823, (queries, documents))
    document = (document + np.arange(documents) * 8_841_823).reshape(-1)  # distinct within each query
    judged = np.arange(queries) * documents + rng.integers(0, documents, queries)
    run = {"query_id": query, "doc_id": document, "score": rng.random(len(query))}
    qrels = {"query_id": query[judged], "doc_id": document[judged], "relevance": np.ones(queries)}
    if kind == "text":
        for side in (qrels, run):
            side["query_id"] = [str(number) for number in side["query_id"].tolist()]
            side["doc_id"] = [f"D{number:09d}" for number in side["doc_id"].tolist()]
    run["passage"] = ["a passage of some length, which no metric reads"] * len(query)
    return qrels, run


def read(qrels: str, run: str) -> tuple[Any, Any]:
    """Read only the needed columns with pyarrow."""
    parquet = harness.library("pyarrow.parquet")
    return (
        parquet.read_table(qrels, columns=[*NAMES, "relevance"]),
        parquet.read_table(run, columns=[*NAMES, "score"]),
    )


def peak(what: str, qrels: str, run: str) -> int:
    """Read or evaluate two files, and return the peak memory of this process in bytes."""
    if what == "read":
        tables = read(qrels, run)
        assert len(tables) == 2
    else:
        rg.evaluate(qrels, run, "ndcg@10")
    # The maximum that getrusage reports can include the memory of the parent process.
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024


def parquet_files(folder: Path, scale: harness.Scale) -> None:
    pyarrow, parquet = harness.library("pyarrow"), harness.library("pyarrow.parquet")
    queries = {"smoke": 20, "usual": 20_000, "full": 20_000}[scale]

    def contend(kind: str) -> None:
        paths = [str(folder / name) for name in (f"qrels-{kind}.parquet", f"run-{kind}.parquet")]
        for path, columns in zip(paths, rows_of(queries, 100, kind), strict=True):
            parquet.write_table(pyarrow.table(columns), path)
        title = f"parquet, {kind} ids, {queries * 100:,} rows, {queries:,} queries, ndcg@10"
        harness.hold(
            title,
            {
                "rankgain from_frames, of pyarrow's tables": lambda: rg.from_frames(*read(*paths)).evaluate("ndcg@10"),
                "rankgain evaluate, of paths": harness.Contender(lambda: rg.evaluate(*paths, "ndcg@10"), at_most=1.15),
            },
            scale,
            clock=time.process_time,
        )
        if kind == "text" and scale != "smoke" and not harness.serve and sys.platform == "linux":
            sizes = {"pyarrow, these columns": harness.in_process(peak, "read", *paths)}
            sizes["rankgain evaluate, of paths"] = harness.in_process(peak, "evaluate", *paths)
            harness.weigh(f"{title}, most memory", sizes, at_most=1.2)

    for kind in ("int", "text"):
        contend(kind)


def json_lines(folder: Path, scale: harness.Scale) -> None:
    reader = harness.library("pyarrow.json")
    questions = {"smoke": 50, "usual": 100_000, "full": 100_000}[scale]
    rng = np.random.default_rng(1)
    path = str(folder / "questions.jsonl")
    with open(path, "w") as file:
        for number in range(questions):
            ids = [f"passage-{each}" for each in rng.choice(1_000_000, 20, replace=False).tolist()]
            relevant = [ids[int(rng.integers(20))], "passage-x"]
            file.write(json.dumps({"id": f"q{number}", "relevant": relevant, "retrieved": ids}) + "\n")
    harness.hold(
        f"JSON lines, {questions:,} questions × 20 ids, ndcg@10",
        {
            "limit: pyarrow's own read": harness.Contender(lambda: reader.read_json(path), None),
            "rankgain evaluate, of the path": harness.Contender(lambda: rg.evaluate(path, "ndcg@10"), at_most=1.7),
        },
        scale,
        clock=time.process_time,
    )


def listed(column: Any) -> list[Any]:
    """Convert a column to a list of Python objects."""
    return column.tolist() if isinstance(column, np.ndarray) else column


def records(scale: harness.Scale) -> None:
    pyarrow = harness.library("pyarrow")
    queries = {"smoke": 20, "usual": 1000, "full": 1000}[scale]

    def contend(kind: str) -> None:
        qrels, run = (
            [dict(zip(columns, row, strict=True)) for row in zip(*map(listed, columns.values()), strict=True)]
            for columns in rows_of(queries, 100, kind)
        )
        harness.hold(
            f"records, {kind} ids, {len(run):,}, ndcg@10",
            {
                "limit: pyarrow.Table.from_pylist": harness.Contender(lambda: pyarrow.Table.from_pylist(run), None),
                "rankgain evaluate": harness.Contender(lambda: rg.evaluate(qrels, run, "ndcg@10"), at_most=2),
            },
            scale,
            clock=time.process_time,
        )

    for kind in ("int", "text"):
        contend(kind)


def bench(scale: harness.Scale) -> None:
    if not harness.library("pyarrow"):
        return
    with tempfile.TemporaryDirectory() as name:
        parquet_files(Path(name), scale)
        json_lines(Path(name), scale)
    records(scale)
