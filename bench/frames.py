"""How long do nDCG@10 and reciprocal rank take from data frames, compared with building dicts for `from_qrels`?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import numpy as np

import rankgain as rg

Columns = dict[str, Any]


def make(queries: int, documents: int, kind: str) -> tuple[Columns, Columns]:
    """Make the columns of qrels and a run; the qrels judge one document per query, with the queries in random order."""
    rng = np.random.default_rng(20240229)
    query = np.repeat(np.arange(1_000_000, 1_000_000 + queries), documents)
    document = np.concatenate([rng.choice(8_841_823, documents, replace=False) for _ in range(queries)])
    positions = rng.permutation(queries) * documents + rng.integers(0, documents, queries)
    run = {"query_id": query, "doc_id": document, "score": rng.random(len(query))}
    qrels = {"query_id": query[positions], "doc_id": document[positions], "relevance": np.ones(queries, dtype=np.int64)}
    if kind == "text":
        for side in (qrels, run):
            side["query_id"] = [str(number) for number in side["query_id"].tolist()]
            side["doc_id"] = [f"D{number:07d}" for number in side["doc_id"].tolist()]
    return qrels, run


def scattered(run: Columns) -> Columns:
    order = np.random.default_rng(1).permutation(len(run["score"]))
    return {name: np.asarray(column)[order] for name, column in run.items()}


def dict_of(frame: Any, value: str) -> dict[Any, dict[Any, float]]:
    table: dict[Any, dict[Any, float]] = {}
    columns = (frame[name] for name in (*NAMES, value))
    lists = (column.to_pylist() if hasattr(column, "to_pylist") else column.to_list() for column in columns)
    for query, document, number in zip(*lists, strict=True):
        table.setdefault(query, {})[document] = number
    return table


NAMES = ("query_id", "doc_id")


def contend(title: str, qrels: Any, run: Any, scale: harness.Scale) -> None:
    def from_dicts() -> Any:
        return rg.from_qrels(dict_of(qrels, "relevance"), dict_of(run, "score")).evaluate("ndcg@10", "rr")

    contenders = {
        "rankgain": lambda: rg.from_frames(qrels, run).evaluate("ndcg@10", "rr"),
        "rankgain from_qrels, making the dicts": from_dicts,
    }
    harness.hold(title, contenders, scale)


def makers() -> dict[str, Callable[[Columns], Any]]:
    """Return the functions that build a data frame from columns, keyed by library."""
    makers: dict[str, Callable[[Columns], Any]] = {}
    pandas, polars, pyarrow = map(harness.library, ("pandas", "polars", "pyarrow"))
    if pandas:
        makers["pandas"] = pandas.DataFrame
        makers["pandas, objects"] = lambda columns: pandas.DataFrame(columns).astype(dict.fromkeys(NAMES, object))
        makers["pandas, categories"] = lambda columns: pandas.DataFrame(columns).astype(
            dict.fromkeys(NAMES, "category")
        )
    if polars:
        makers["polars"] = polars.DataFrame
    if pyarrow:
        makers["pyarrow"] = pyarrow.table
    return makers


def bench(scale: harness.Scale) -> None:
    queries = {"smoke": 20, "usual": 700, "full": 6980}[scale]
    for kind in ("text", "int"):
        qrels, run = make(queries, 1000, kind)
        for library, maker in makers().items():
            if kind == "int" and "," in library:
                continue
            title = f"{library}, {kind} ids, {queries:,} queries × 1000"
            contend(title, maker(qrels), maker(run), scale)
            if library == "pyarrow":
                contend(f"{title}, rows scattered", maker(qrels), maker(scattered(run)), scale)
