"""What the command line prints of one or several runs, each form as one text that ends its last line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any

import rankgain
from rankgain.comparison import Comparison
from rankgain.display import notes, number, text_table
from rankgain.evaluation import Evaluation
from rankgain.metrics import Metric

Values = dict[str | Metric, float]


def as_text(runs: Comparison, per_query: bool) -> str:
    """An aligned table, and what to know about the numbers.

    One run: a row a metric, or with `per_query` a row a query and a column a metric. Several: see `Comparison.table`,
    or a row for each query and run.
    """
    if len(runs) > 1 and not per_query:
        return runs.table() + "\n"
    (result, *others) = runs.values()
    if others:
        rows = [["query", "run", *map(str, runs.metrics)], *_rows_of_all(runs)]
        return _lines(text_table(rows, names=2), ["*: the best", *notes(runs)])
    means = result.aggregate()
    if per_query:
        rows = [["query", *map(str, means)]]
        rows += [[str(query), *map(number, values.values())] for query, values in result.to_dict().items()]
        rows += [["mean", *map(number, means.values())]]
    else:
        rows = [["metric", "mean"], *([str(name), number(value)] for name, value in means.items())]
    return _lines(text_table(rows), notes(runs))


def _rows_of_all(runs: Comparison) -> Iterator[list[str]]:
    """The runs of each query below each other, at the end their means with the best marked."""
    for query, name, values in _by_query(runs):
        yield [str(query), name, *(f"{number(value)} " for value in values.values())]
    best = {key: runs.best(key) for key in runs.metrics}
    for name, means in runs.aggregate().items():
        yield ["mean", name, *(number(value) + ("*" if name in best[key] else " ") for key, value in means.items())]


def _by_query(runs: Comparison) -> Iterator[tuple[Any, str, Values]]:
    """Query, run, values: the queries in the order in which they come up; a run that lacks one has no row."""
    values = runs.to_dict()
    for query in dict.fromkeys(query for result in runs.values() for query in result.query_ids):
        for name in runs:
            if query in values[name]:
                yield query, name, values[name][query]


def _lines(table: list[str], below: list[str]) -> str:
    return "\n".join([*table, "", *below, ""])


def as_json(runs: Comparison, per_query: bool) -> str:
    """One JSON object: of one run what there is to know; of several an object each, by name, under "runs".

    NaN is null. What is not UTF-8 in an id is escaped as a lone surrogate.
    """
    objects = {name: _object(result, per_query) for name, result in runs.items()}
    content = next(iter(objects.values())) if len(objects) == 1 else {"runs": objects}
    return json.dumps(content | {"version": rankgain.__version__}, indent=2, allow_nan=False) + "\n"


def _object(result: Evaluation, per_query: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "mean": _finite(result.aggregate()),
        "counts": result.counts,
        "ties": result.ties,
        "missing": result.missing,
        "backend": result.backend,
    }
    if per_query:
        content["queries"] = {str(query): _finite(values) for query, values in result.to_dict().items()}
    return content


def _finite(values: Values) -> dict[str, float | None]:
    return {str(key): None if math.isnan(value) else value for key, value in values.items()}


def as_csv(runs: Comparison, per_query: bool) -> str:
    """Comma-separated values as RFC 4180 has them, in full precision; NaN is an empty field.

    ``run,metric…`` with a row a run, or ``run,query,metric…`` with a row for each query of each run and none for the
    means; the columns do not depend on how many runs there are.
    """
    out = io.StringIO()
    write = csv.writer(out).writerow
    write(["run", *(["query"] if per_query else []), *map(str, runs.metrics)])
    if per_query:
        for name, queries in runs.to_dict().items():
            for query, values in queries.items():
                write([name, str(query), *_finite(values).values()])
    else:
        for name, values in runs.aggregate().items():
            write([name, *_finite(values).values()])
    return out.getvalue()


def as_trec(runs: Comparison, per_query: bool) -> str:
    """trec_eval's three columns: metric, query or ``all``, value; with `per_query` the queries before the means.

    Of several runs each has a block of its own, which begins with trec_eval's line ``runid``.
    """
    lines = []
    for name, result in runs.items():
        lines += [f"{'runid':<22}\tall\t{name}"] if len(runs) > 1 else []
        rows = [*(result.to_dict().items() if per_query else ()), ("all", result.aggregate())]
        lines += [f"{key!s:<22}\t{query}\t{value:6.4f}" for query, values in rows for key, value in values.items()]
    return "\n".join([*lines, ""])


FORMATS = {"text": as_text, "json": as_json, "csv": as_csv, "trec": as_trec}
