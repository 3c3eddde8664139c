"""The values of several runs for the same queries, as matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from rankgain.errors import counted
from rankgain.metrics.aggregators import LEAST, check_weights, geometric_mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.evaluation import Evaluation, same_ids, weights_of
from rankgain.scalars import Bools, Floats, Ints

QUERIES = "same", "common"


class Aligned(NamedTuple):
    """A matrix per metric, queries × runs, of the queries that have a value in all runs.

    `left_out`: how many queries some run lacks; `rows`: which of the `query_ids` count for a metric, None if all do.
    `weights`: the weights of the `query_ids` by metric; equal for a metric without an entry. `clusters`: the number of
    the cluster of each query, whose queries share one sign; None if each query has its own sign.
    """

    runs: list[str]
    query_ids: Sequence[Any]
    values: dict[str | Metric, Floats]
    rows: dict[str | Metric, Bools | None]
    left_out: int
    weights: Mapping[str | Metric, Floats] = {}
    clusters: Ints | None = None

    def weights_of(self, metric: str | Metric) -> Floats | None:
        """The entries for the rows of a metric."""
        own = self.weights.get(metric)
        return own if own is None or self.rows[metric] is None else own[self.rows[metric]]

    def clusters_of(self, metric: str | Metric) -> Ints | None:
        """The entries for the rows of a metric."""
        own = self.clusters
        return own if own is None or self.rows[metric] is None else own[self.rows[metric]]

    def differences(self, metric: str | Metric, run: str, baseline: str) -> Floats:
        """The values of a run minus those of the baseline."""
        matrix = self.values[metric]
        values: Floats = matrix[:, self.runs.index(run)] - matrix[:, self.runs.index(baseline)]
        return values

    def ranked(self, metric: str | Metric, run: str, baseline: str) -> list[tuple[Any, float]]:
        """The queries with their differences, highest first."""
        values, ids = self.differences(metric, run, baseline), self.ids(metric)
        return [(ids[row], float(values[row])) for row in np.argsort(-values, kind="stable").tolist()]

    def only(self, metric: str | Metric, kept: Bools) -> Aligned:
        """The same, restricted for one metric to some of the `query_ids`."""
        rows = self.rows[metric]
        matrix = self.values[metric][kept if rows is None else kept[rows]]
        own: Bools = kept if rows is None else rows & kept
        return self._replace(values={**self.values, metric: matrix}, rows={**self.rows, metric: own})

    def part(self, chosen: Bools) -> Aligned:
        """The same, restricted to some of the `query_ids`."""
        values, rows = {}, {}
        for metric, matrix in self.values.items():
            kept = self.rows[metric]
            values[metric] = matrix[chosen if kept is None else chosen[kept]]
            rows[metric] = None if kept is None else kept[chosen]
        return self._replace(
            query_ids=[query for query, own in zip(self.query_ids, chosen.tolist(), strict=True) if own],
            values=values,
            rows=rows,
            left_out=0,
            weights={metric: own[chosen] for metric, own in self.weights.items()},
            clusters=None if self.clusters is None else self.clusters[chosen],
        )

    def ids(self, metric: str | Metric) -> Sequence[Any]:
        """The query ids of the rows of a metric."""
        kept = self.rows[metric]
        if kept is None:
            return self.query_ids
        return [query for query, keep in zip(self.query_ids, kept.tolist(), strict=True) if keep]


def align(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str | Metric],
    queries: str,
    weights: Any = None,
    clusters: Any = None,
) -> Aligned:
    """Align the values by query; raise ValueError if runs have different queries, unless `queries` is "common".

    `weights` and `clusters` are the caller's, for the queries of the first run.
    """
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
    aligned = Aligned(list(evaluations), ids, values, rows, left_out)
    given = check_weights(weights, first.query_ids)
    codes = None if clusters is None else codes_of(labels_of(clusters, first.query_ids, "clusters", "cluster")[1])
    if order is not None:  # of the common ones
        places = list(next(iter(order.values())).values())
        given, codes = None if given is None else given[places], None if codes is None else codes[places]
    if codes is not None:
        aligned = aligned._replace(clusters=codes)
    for metric in metrics:
        factors = _factors(evaluations, metric, order, given)
        if factors is not None:
            aligned = aligned._replace(weights={**aligned.weights, metric: factors})
            if not (factors > 0).all():
                aligned = aligned.only(metric, factors > 0)
    return aligned


def _factors(
    evaluations: Mapping[str, Evaluation],
    metric: str | Metric,
    order: Mapping[str, Mapping[Any, int]] | None,
    given: Floats | None,
) -> Floats | None:
    """The weight of each query: the caller's times that of the metric's own mean."""
    found = [weights_of(result, metric) for result in evaluations.values()]
    if order is not None:
        found = [
            own if own is None else own[list(order[name].values())] for name, own in zip(order, found, strict=True)
        ]
    first = found[0]
    for name, own in zip(evaluations, found, strict=True):
        if not same_weights(own, first):
            raise ValueError(
                f"{metric!s}: the runs {next(iter(evaluations))!r} and {name!r} weigh queries differently, and the "
                "difference of such means is no mean of differences: test the metric that it is a mean of"
            )
    if first is None or given is None:
        return given if first is None else first
    return first * given


def same_weights(one: Floats | None, other: Floats | None) -> bool:
    """Whether both weigh queries equally."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)


def labels_of(by: Any, query_ids: Sequence[Any], argument: str, unit: str) -> tuple[str, list[Any]]:
    """The name of a grouping of the queries, and the label of each query."""
    name = getattr(by, "name", None)
    called = name if isinstance(name, str) and name else unit
    if isinstance(by, Mapping):
        missing = [query for query in query_ids if query not in by]
        if missing:
            many = "1 query has" if len(missing) == 1 else f"{len(missing)} queries have"
            raise ValueError(f"{argument}: {many} no {unit} (first: {missing[0]!r}): give each one a label")
        return called, [by[query] for query in query_ids]
    if isinstance(by, (str, bytes, Set)) or not isinstance(by, Iterable):
        raise TypeError(
            f"{argument} must be a mapping from query to {unit}, or hold one label per query, not {type(by).__name__}"
        )
    labels = list(by)
    if len(labels) != len(query_ids):
        raise ValueError(
            f"{argument} has {len(labels)} labels, and there are {len(query_ids)} queries: give one per query, in the "
            "order of query_ids, or a mapping by query id"
        )
    return called, labels


def codes_of(labels: Iterable[Any]) -> Ints:
    """The labels numbered, in the order in which they first appear."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def common_queries(evaluations: Mapping[str, Evaluation], queries: str) -> tuple[list[Any] | None, int]:
    """The queries that all runs have, in the order of the first, and the number of other queries.

    None if all runs have the same queries in the same order. Raises ValueError if no query is common, and if runs have
    different queries, unless `queries` is "common".
    """
    order, left_out = _common(evaluations, queries)
    return None if order is None else list(next(iter(order.values()))), left_out


def _common(evaluations: Mapping[str, Evaluation], queries: str) -> tuple[dict[str, dict[Any, int]] | None, int]:
    """The rows of the common queries in each run, in the order of the first; None if all runs have the same order."""
    (first, result), *others = evaluations.items()
    if all(same_ids(result.query_ids, other.query_ids) for _, other in others):
        return None, 0
    places = {name: {query: row for row, query in enumerate(run.query_ids)} for name, run in evaluations.items()}
    common = [query for query in places[first] if all(query in own for own in places.values())]
    left_out = len({query for own in places.values() for query in own}) - len(common)
    if left_out and queries == "same":
        _refuse(places, first)
    if not common:
        raise ValueError("queries: the runs have no query in common")
    return {name: {query: own[query] for query in common} for name, own in places.items()}, left_out


def _refuse(places: Mapping[str, Mapping[Any, int]], first: str) -> None:
    for name in places:
        for has, lacks in ((first, name), (name, first)):
            missing = [query for query in places[has] if query not in places[lacks]]
            if missing:
                raise ValueError(
                    f"run {lacks!r} lacks {counted(len(missing), 'query')} that {has!r} has (first: {missing[0]!r}): "
                    "evaluate rankings with missing='zero', or take queries='common'"
                )


def _counted(
    matrix: Floats, metric: str | Metric, runs: Sequence[str], ids: Sequence[Any], queries: str
) -> tuple[Floats, Bools | None]:
    """The matrix without the queries that have no value (NaN) in all runs, or, of common queries, in any run."""
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
            "rankings with empty=0, or test(queries='common')"
        )
    kept_ids = [query for query, gone in zip(ids, some.tolist(), strict=True) if not gone]
    return _tested(matrix[~some], metric, runs, kept_ids), ~some


def _tested(matrix: Floats, metric: str | Metric, runs: Sequence[str], ids: Sequence[Any]) -> Floats:
    """The numbers whose mean is tested: for a geometric mean, the logarithms."""
    if not np.isfinite(matrix).all():
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(matrix)))
        raise ValueError(f"{metric!s}: run {runs[column]!r}, query {ids[row]!r}: the value is infinite: it has no mean")
    if aggregator(metric) is geometric_mean:
        return np.log2(np.maximum(matrix, LEAST))
    return matrix
