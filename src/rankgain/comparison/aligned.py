"""Align the values of several runs by query, in one matrix per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple, get_args

import numpy as np

from rankgain.choices import TestedQueries, check_choice
from rankgain.errors import counted
from rankgain.metrics.aggregators import LEAST, check_weights, geometric_mean, scaled
from rankgain.metrics.metric import Metric, Score, aggregator, parse
from rankgain.results.evaluation import Evaluation, in_order, same_ids, weights_of
from rankgain.results.labels import codes_of, labels_of
from rankgain.scalars import Bools, Floats, Ints

QUERIES = get_args(TestedQueries)
NOISE = 2.0**-36  # values of other tools that differ by less, relative to the larger one, differ by rounding


class Sample(NamedTuple):
    """The values of one metric, in a matrix with a row for each query that counts and a column for each run.

    `record`: the parsed metric. `weights`: the weight of each query, or None if all weights are equal. `clusters`: the
    number of the cluster that each query belongs to, or None if there are no clusters. The queries of a cluster share
    one sign.
    """

    record: Metric
    runs: list[str]
    query_ids: Sequence[Any]
    values: Floats
    weights: Floats | None = None
    clusters: Ints | None = None

    def of(self, run: str) -> Floats:
        """Return the values of a run."""
        column: Floats = self.values[:, self.runs.index(run)]
        return column

    def differences(self, run: str, baseline: str) -> Floats:
        """Return the values of a run minus those of the baseline."""
        return self.of(run) - self.of(baseline)

    def ranked(self, run: str, baseline: str) -> list[tuple[Any, float]]:
        """Return a pair (query id, difference) for each query, highest difference first."""
        values = self.differences(run, baseline)
        return [(self.query_ids[row], float(values[row])) for row in np.argsort(-values, kind="stable").tolist()]

    def only(self, mask: Bools) -> Sample:
        """Return a Sample with only the queries that are selected by a mask."""
        if mask.all():
            return self
        return Sample(
            self.record,
            self.runs,
            list(compress(self.query_ids, mask.tolist())),
            self.values[mask],
            None if self.weights is None else self.weights[mask],
            None if self.clusters is None else self.clusters[mask],
        )


class Aligned(NamedTuple):
    """A sample for each metric, with the queries that all runs have.

    `lacks`: for each run, the other queries that it lacks and another run has.
    """

    query_ids: Sequence[Any]
    samples: dict[str | Metric, Sample]
    lacks: Mapping[str, Sequence[Any]]

    @property
    def left_out(self) -> int:
        """The number of queries that not all runs have."""
        return count_lacked(self.lacks)


def align(
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[str | Metric],
    queries: TestedQueries,
    weights: Any = None,
    clusters: Any = None,
) -> Aligned:
    """Align the values of several runs by query.

    If the runs have different queries, raise ValueError unless `queries` is "common". `weights` and `clusters` are for
    the queries of the first run.
    """
    check_choice(queries, "queries", QUERIES)
    first = next(iter(evaluations.values())).query_ids
    factors = check_weights(weights, first)
    codes = None if clusters is None else codes_of(labels_of(clusters, first, "clusters", "cluster")[1])
    evaluations, rows, lacks = on_common_queries(evaluations, queries)
    ids = next(iter(evaluations.values())).query_ids
    factors = None if factors is None else scaled(factors[rows])  # squares must not vanish or overflow
    codes = None if codes is None else codes[rows]
    samples = {}
    for metric in metrics:
        matrix = np.column_stack([result[metric] for result in evaluations.values()])
        ((_, record),) = parse(metric)
        sample = Sample(record, list(evaluations), ids, matrix, _weights(evaluations, metric, factors), codes)
        samples[metric] = _counted(sample, metric, queries)
    return Aligned(ids, samples, lacks)


def count_lacked(lacks: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of queries that any of the runs lacks."""
    return len(set[Any]().union(*lacks.values()))


def _weights(evaluations: Mapping[str, Evaluation], metric: str | Metric, factors: Floats | None) -> Floats | None:
    """Return the weight of each query: the caller's factor times the weight of the query in the mean of the metric."""
    by_run = {name: weights_of(result, metric) for name, result in evaluations.items()}
    run, first = next(iter(by_run.items()))
    for name, weights in by_run.items():
        if not same_weights(weights, first):
            raise ValueError(
                f"{metric!s}: the runs {run!r} and {name!r} weigh queries differently, and the difference of such "
                "means is no mean of differences: test the metric that it is a mean of"
            )
    if first is None or factors is None:
        return factors if first is None else first
    return first * factors


def same_weights(one: Floats | None, other: Floats | None) -> bool:
    """Return whether two arrays of weights are equal."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)


def in_one_order(evaluations: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Bring each run that has the queries of the first run into the order of the first run."""
    first = next(iter(evaluations.values())).query_ids
    return {name: in_order(evaluation, first) for name, evaluation in evaluations.items()}


def on_common_queries(
    evaluations: Mapping[str, Evaluation], queries: str
) -> tuple[dict[str, Evaluation], Any, dict[str, list[Any]]]:
    """Restrict each run to the queries that all runs have, in the order of the first run.

    Also return the rows of these queries in the first run, and the other queries that each run lacks. Raise ValueError
    if the runs have no query in common, or if they have different queries and `queries` is not "common".
    """
    evaluations = in_one_order(evaluations)
    (first, result), *others = evaluations.items()
    if all(same_ids(result.query_ids, other.query_ids) for _, other in others):
        return evaluations, slice(None), {}
    row_of = {name: {query: row for row, query in enumerate(run.query_ids)} for name, run in evaluations.items()}
    common = [query for query in row_of[first] if all(query in rows for rows in row_of.values())]
    every = dict.fromkeys(query for rows in row_of.values() for query in rows)
    lacks = {name: [query for query in every if query not in rows] for name, rows in row_of.items()}
    if any(lacks.values()) and queries == "same":
        _refuse(row_of, first)
    if not common:
        raise ValueError("queries: the runs have no query in common")
    rows = [row_of[first][query] for query in common]
    return {name: run.subset(common) for name, run in evaluations.items()}, rows, lacks


def _refuse(row_of: Mapping[str, Mapping[Any, int]], first: str) -> None:
    for name in row_of:
        for has, lacks in ((first, name), (name, first)):
            missing = [query for query in row_of[has] if query not in row_of[lacks]]
            if missing:
                raise ValueError(
                    f"run {lacks!r} lacks {counted(len(missing), 'query')} that {has!r} has (first: {missing[0]!r}): "
                    "evaluate rankings with missing='zero', or take queries='common'"
                )


def _counted(sample: Sample, metric: str | Metric, queries: str) -> Sample:
    """Keep only the queries with a value (not NaN) and a positive weight, and return the values whose mean is tested.

    A query for which no run has a value is left out. A query for which only some of the runs have a value is left out
    if `queries` is "common"; otherwise it is an error.
    """
    absent = np.isnan(sample.values)
    if absent.any():
        some: Bools = np.logical_or.reduce(absent, axis=1)
        mixed = some & ~absent.all(axis=1)
        if queries == "same" and mixed.any():
            row = int(np.flatnonzero(mixed)[0])
            lacks, has = sample.runs[int(np.argmax(absent[row]))], sample.runs[int(np.argmin(absent[row]))]
            raise ValueError(
                f"{metric!s}: run {lacks!r} has no value (NaN) for query {sample.query_ids[row]!r}, and run {has!r} "
                "has one: evaluate rankings with empty=0, or test(queries='common')"
            )
        sample = sample.only(~some)
    if not np.isfinite(sample.values).all():
        row, column = np.argwhere(~np.isfinite(sample.values))[0].tolist()
        raise ValueError(
            f"{metric!s}: run {sample.runs[column]!r}, query {sample.query_ids[row]!r}: the value is infinite: it has "
            "no mean"
        )
    if isinstance(metric, Score):
        sample = sample._replace(values=_without_noise(sample.values))
    if aggregator(sample.record) is geometric_mean:
        sample = sample._replace(values=np.log2(np.maximum(sample.values, LEAST)))
    return sample if sample.weights is None else sample.only(sample.weights > 0)


def _without_noise(values: Floats) -> Floats:
    """Return values in which those of a query are equal if they differ only by rounding.

    Other tools may add numbers in another order for each run.
    """
    values = values.copy()
    for run in range(1, values.shape[1]):
        column = values[:, run]
        for other in values.T[:run]:
            close = np.abs(column - other) <= NOISE * np.maximum(np.abs(column), np.abs(other))
            column[close] = other[close]
    return values
