"""The values of several runs for the same queries, beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain.metrics.aggregators import LEAST, geometric_mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.evaluation import Evaluation
from rankgain.scalars import Bools, Floats

QUERIES = "same", "common"


class Aligned(NamedTuple):
    """Of each metric a matrix, queries × runs, of the queries that have a value in all runs.

    `left_out`: how many queries some runs lack; `rows`: which of the `query_ids` count for a metric, None for all.
    """

    runs: list[str]
    query_ids: Sequence[Any]
    values: dict[str | Metric, Floats]
    rows: dict[str | Metric, Bools | None]
    left_out: int

    def ids(self, metric: str | Metric) -> Sequence[Any]:
        """The queries of the rows of a metric."""
        kept = self.rows[metric]
        if kept is None:
            return self.query_ids
        return [query for query, keep in zip(self.query_ids, kept.tolist(), strict=True) if keep]


def align(evaluations: Mapping[str, Evaluation], metrics: Sequence[str | Metric], queries: str) -> Aligned:
    """Raises ValueError where runs have other queries, unless only the common ones are asked for."""
    if queries not in QUERIES:
        raise ValueError(f"queries must be 'same' or 'common', not {queries!r}")
    order, left_out = _common(evaluations, queries)
    first = next(iter(evaluations.values()))
    ids = first.query_ids if order is None else list(next(iter(order.values())))
    values, rows = {}, {}
    for metric in metrics:
        vectors = [
            result[metric] if order is None else result[metric][list(order[name].values())]
            for name, result in evaluations.items()
        ]
        matrix = np.column_stack(vectors)
        values[metric], rows[metric] = _counted(matrix, metric, list(evaluations), ids, queries)
    return Aligned(list(evaluations), ids, values, rows, left_out)


def _common(evaluations: Mapping[str, Evaluation], queries: str) -> tuple[dict[str, dict[Any, int]] | None, int]:
    """The rows of the common queries in each run, in the order of the first; None where all runs are alike."""
    (first, result), *others = evaluations.items()
    if all(_alike(result.query_ids, other.query_ids) for _, other in others):
        return None, 0
    places = {name: {query: row for row, query in enumerate(run.query_ids)} for name, run in evaluations.items()}
    common = [query for query in places[first] if all(query in own for own in places.values())]
    left_out = len({query for own in places.values() for query in own}) - len(common)
    if left_out and queries == "same":
        _refuse(places, first)
    if not common:
        raise ValueError("queries: the runs have no query in common")
    return {name: {query: own[query] for query in common} for name, own in places.items()}, left_out


def _alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return one is other or (len(one) == len(other) and list(one) == list(other))


def _refuse(places: Mapping[str, Mapping[Any, int]], first: str) -> None:
    for name, _own in places.items():
        for has, lacks in ((first, name), (name, first)):
            missing = [query for query in places[has] if query not in places[lacks]]
            if missing:
                many = "1 query" if len(missing) == 1 else f"{len(missing)} queries"
                raise ValueError(
                    f"run {lacks!r} lacks {many} that {has!r} has (first: {missing[0]!r}): evaluate with "
                    "missing='zero', or test(queries='common')"
                )


def _counted(
    matrix: Floats, metric: str | Metric, runs: Sequence[str], ids: Sequence[Any], queries: str
) -> tuple[Floats, Bools | None]:
    """Without the queries that have no value (NaN): in all runs, or, of the common ones, in any."""
    absent = np.isnan(matrix)
    if not absent.any():
        return _tested(matrix, metric, runs, ids), None
    some: Bools = np.logical_or.reduce(absent, axis=1)
    apart = some & ~absent.all(axis=1)
    if queries == "same" and apart.any():
        row = int(np.flatnonzero(apart)[0])
        lacks, has = runs[int(np.argmax(absent[row]))], runs[int(np.argmin(absent[row]))]
        raise ValueError(
            f"{metric!s}: run {lacks!r} has no value (NaN) for query {ids[row]!r}, and run {has!r} has one: evaluate "
            "with empty=0, or test(queries='common')"
        )
    kept_ids = [query for query, gone in zip(ids, some.tolist(), strict=True) if not gone]
    return _tested(matrix[~some], metric, runs, kept_ids), ~some


def _tested(matrix: Floats, metric: str | Metric, runs: Sequence[str], ids: Sequence[Any]) -> Floats:
    """The numbers whose mean is tested: of a geometric mean the logarithms."""
    if not np.isfinite(matrix).all():
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(matrix)))
        raise ValueError(f"{metric!s}: run {runs[column]!r}, query {ids[row]!r}: the value is infinite: it has no mean")
    if aggregator(metric) is geometric_mean:
        return np.log2(np.maximum(matrix, LEAST))
    return matrix
