"""Store Evaluations as parquet files, and read them.

The table has the columns of `Evaluation.columns`, a column per metric that weights queries, and the shares of judged
documents if they are known. Everything else is JSON in the metadata of the table's schema, under the key `KEY`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain._backend import VERSION
from rankgain.choices import Missing, PeerOrOwn, Ties
from rankgain.data.source import check_query_ids
from rankgain.data.writing import write_whole
from rankgain.errors import import_extra, quoted
from rankgain.metrics.metric import Metric, MetricKey, Score, better, parse
from rankgain.results.export import is_unicode
from rankgain.results.summary import RULES, counts_and_rules, counts_of_part
from rankgain.scalars import Floats

KEY = b"rankgain"
FORMAT = 1  # version of the metadata
IDS = "query_id"
WEIGHT = "weight: "  # begins the names of the columns of weights
SHARES = "judged share"  # the name of the column of shares of judged documents
LARGEST_ID = 2**63
WRITTEN = "written by Evaluation.to_parquet"


class Stored(NamedTuple):
    """The state of an Evaluation: the arguments of its constructor, in order."""

    values: dict[MetricKey, Floats]
    query_ids: Sequence[Any]
    ties: Ties | None
    missing: Missing | None
    like: PeerOrOwn | None
    backend: str
    counts: tuple[int | None, ...]
    weights: dict[str, Floats] | None
    assumed: tuple[str, ...]
    labels: tuple[str, ...]
    judged: tuple[int, Floats] | None


def write(result: Stored, path: str | os.PathLike[str]) -> None:
    """Write an Evaluation to a parquet file, completely or not at all."""
    pyarrow, parquet = import_extra("pyarrow", "arrow"), import_extra("pyarrow.parquet", "arrow")
    weights = result.weights or {}
    columns = {IDS: pyarrow.array(_stored_ids(result.query_ids))}
    columns |= {str(key): vector for key, vector in result.values.items()}
    columns |= {WEIGHT + name: vector for name, vector in weights.items()}
    content = {
        "evaluation": FORMAT,
        "positions": isinstance(result.query_ids, range),
        "metrics": [_stored_metric(key) for key in result.values],
        "weights": list(weights),
        "counts": {name: count for name, count in zip(result.labels, result.counts, strict=True) if count is not None},
        **{name: getattr(result, name) for name in RULES},
        "backend": result.backend,
        "assumed": list(result.assumed),
        "version": VERSION,
    }
    if result.judged is not None:
        content["share_depth"], columns[SHARES] = result.judged
    table = pyarrow.table(columns).replace_schema_metadata({KEY: json.dumps(content)})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    write_whole(os.fspath(path), buffer.getvalue())


def _stored_ids(ids: Sequence[Any]) -> Any:
    """Return the ids as a list of one type that Arrow stores unchanged, or raise a ValueError."""
    if isinstance(ids, range):
        return np.arange(ids.start, ids.stop, ids.step, dtype=np.int64)
    kinds = {type(query) for query in ids}
    for query in ids:
        if type(query) is int and -LARGEST_ID <= query < LARGEST_ID:
            continue
        if not isinstance(query, float) and not (type(query) is str and is_unicode(query)):
            raise ValueError(
                f"query {quoted(query)}: a parquet file stores ids that are text, integers of 64 bits or floats: "
                "evaluate with other query_ids"
            )
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"query_ids are {names}, and a column of a parquet file has one type: evaluate with one type")
    return list(ids)


def _stored_metric(key: MetricKey) -> dict[str, Any]:
    name = str(key)
    if isinstance(key, Score):
        return {"name": name, "better": better(key)}
    if isinstance(key, Metric):
        try:
            named = [metric for _, metric in parse(name)] == [key]
        except ValueError:
            named = False
        if not named:
            raise ValueError(
                f"{name}: a file stores metrics as text, and no text names this gain or discount: evaluate it "
                "separately"
            )
    return {"name": name, "record": isinstance(key, Metric)}


def read(table: Any) -> Stored:
    """Read an Evaluation from a path, or from an Arrow table that was read from such a file."""
    title, arrow = _arrow_table(table)
    metadata = (arrow.schema.metadata or {}).get(KEY)
    if metadata is None:
        raise ValueError(
            f"{title} was not {WRITTEN}, or lost its metadata, as in pandas: pass the path, or a pyarrow.Table; for "
            "values of other tools, write compare(runs, metrics=..., values=True)"
        )
    try:
        return _read(arrow, json.loads(metadata))
    except KeyError as error:
        raise ValueError(f"{title} was not {WRITTEN}: it lacks {error}") from None
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{title} was not {WRITTEN}: {error}") from None


def _arrow_table(table: Any) -> tuple[str, Any]:
    """Return a title for errors, and the table."""
    pyarrow = import_extra("pyarrow", "arrow")
    if isinstance(table, (str, os.PathLike)):
        title = f"table: {os.fspath(table)}"
        with open(table, "rb") as file:
            try:
                return title, import_extra("pyarrow.parquet", "arrow").ParquetFile(file).read()
            except pyarrow.ArrowException as error:
                raise ValueError(f"{title} is not a parquet file: {error}") from None
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"table must be a path or a pyarrow.Table, not {type(table).__name__}")
    return "table", pyarrow.table(table)


def _read(arrow: Any, content: Mapping[str, Any]) -> Stored:
    if content["evaluation"] != FORMAT:
        raise ValueError(f"format {content['evaluation']!r}, and this release reads {FORMAT}")
    labels, counts, rules = counts_and_rules(content)
    if arrow.num_rows != counts[0]:  # a part of the rows, as in `Evaluation.subset`
        counts = counts_of_part(arrow.num_rows, labels)
    ids = check_query_ids(arrow.column(IDS).to_pylist(), arrow.num_rows, IDS)
    if content["positions"] and list(ids) == list(range(first := ids[0] if len(ids) else 0, first + len(ids))):
        ids = range(first, first + len(ids))
    values = {_metric_of(item): _vector(arrow, item["name"]) for item in content["metrics"]}
    weights = {str(name): _vector(arrow, WEIGHT + name) for name in content["weights"]}
    backend, assumed = str(content["backend"]), tuple(map(str, content["assumed"]))
    depth = content.get("share_depth")
    judged = None if depth is None else (int(depth), _vector(arrow, SHARES))
    return Stored(values, ids, *rules, backend, counts, weights or None, assumed, labels, judged)


def _metric_of(item: Mapping[str, Any]) -> MetricKey:
    name = str(item["name"])
    if "better" in item:
        return Score.of(name, {1: True, -1: False, 0: None}[item["better"]])
    ((_, record),) = parse(name)
    return record if item["record"] else name


def _vector(arrow: Any, name: str) -> Floats:
    column = arrow.column(name)
    if column.null_count or str(column.type) != "double":
        raise ValueError(f"column {quoted(name)} must hold float64 values without nulls")
    vector: Floats = column.to_numpy().copy()
    vector.flags.writeable = False
    return vector
