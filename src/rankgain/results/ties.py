"""Tie sensitivity: how the values of metrics depend on the order of tied documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgain.choices import Ties
from rankgain.metrics.metric import Metric, MetricKey, is_share, parse, row_of
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import Frames
from rankgain.results.text import Form, Number, Table, Tables, below_table, fitted, number, text_table
from rankgain.scalars import Floats

_Values = dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class TieSpread(Frames, Tables):
    """The values of metrics for several orders of tied documents, as returned by `Rankings.tie_spread`.

    Attributes
    ----------
    worst, best : Evaluation
        The values with tied documents in ascending or descending order of gain, or of grade for metrics that only
        distinguish relevant documents; for fall-out, the judged non-relevant documents come first or last. These
        values are the extremes over all orders, except for ap_hits, infap, g, q_measure with `rel`, and any metric
        whose discount rises with the rank; `notes` gives the reasons.
    expected : Evaluation or None
        The expected values over all orders, for the metrics that have one; None if no metric has one.
    own : Evaluation or None
        The values under the rankings' rule for ties, for the metrics that the rule allows; None if it allows none.
    ties : {"average", "stable", "docid", "best", "worst"}
        The rankings' rule for ties.
    unaveraged : mapping of metric to str
        The metrics that have no expected value, and the reason for each.
    """

    __module__ = "rankgain"
    worst: Evaluation
    expected: Evaluation | None
    best: Evaluation
    own: Evaluation | None
    ties: Ties
    unaveraged: Mapping[MetricKey, str]

    @property
    def metrics(self) -> list[MetricKey]:
        """The metrics, as requested.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([0, 1], [0.5, 0.5]).tie_spread("rr", "ap").metrics
        ['rr', 'ap']
        """
        return list(self.worst)

    @property
    def evaluations(self) -> dict[str, Evaluation | None]:
        """The evaluations by column name: worst, expected, best and, if different, the rankings' own rule for ties.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_scores([0, 1], [0.5, 0.5], ties="stable").tie_spread("rr").evaluations)
        ['worst', 'expected', 'best', 'stable']
        """
        columns = {"worst": self.worst, "expected": self.expected, "best": self.best}
        return columns | ({} if self.ties in ("worst", "average", "best") else {self.ties: self.own})

    def affected(self, metric: str | Metric) -> int:
        """Count the queries whose worst and best values differ.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as requested.

        Returns
        -------
        int
            From 0 to the number of queries. Relative differences up to 1e-9 are taken for rounding errors.

        Raises
        ------
        KeyError
            If the metric was not evaluated.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([[0, 1], [0, 1]], [[0.5, 0.5], [0.1, 0.9]]).tie_spread("rr").affected("rr")
        1
        """
        worst, best = self.worst[metric], self.best[metric]
        # Ignore rounding differences, which come from the order of additions.
        return int(np.count_nonzero(~np.isclose(worst, best, rtol=1e-9, atol=0.0, equal_nan=True)))

    def mean(self) -> dict[MetricKey, _Values]:
        """Return one number per metric and order of ties, computed by the metric's aggregator.

        Returns
        -------
        dict of dict
            ``{metric: {order: value}}``; NaN if the metric has no expected value.

        See Also
        --------
        Evaluation.aggregate : The aggregators.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([0, 1], [0.5, 0.5], ties="stable").tie_spread("rr").mean()
        {'rr': {'worst': 0.5, 'expected': 0.75, 'best': 1.0, 'stable': 0.5}}
        """
        means = {name: {} if result is None else result.aggregate() for name, result in self.evaluations.items()}
        return {key: {name: values.get(key, math.nan) for name, values in means.items()} for key in self.metrics}

    def to_dict(self) -> dict[Any, dict[MetricKey, _Values]]:
        """Return the values of all queries as nested dicts.

        Returns
        -------
        dict of dict
            ``{query: {metric: {order: value}}}``.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([[0, 1]], [[0.5, 0.5]], query_ids=["a"]).tie_spread("rr").to_dict()
        {'a': {'rr': {'worst': 0.5, 'expected': 0.75, 'best': 1.0}}}
        """
        columns = {key: {name: vector.tolist() for name, vector in self._vectors(key).items()} for key in self.metrics}
        return {
            query: {key: {name: values[row] for name, values in orders.items()} for key, orders in columns.items()}
            for row, query in enumerate(self.worst.query_ids)
        }

    def _vectors(self, metric: str | Metric) -> dict[str, Floats]:
        absent = np.full(len(self.worst.query_ids), math.nan)
        return {
            name: absent if result is None or metric not in result else result[metric]
            for name, result in self.evaluations.items()
        }

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns of a data frame with one row per query and metric, grouped by metric.

        Returns
        -------
        dict of str to sequence
            ``query_id``, ``metric``, then one float64 array per order of ties.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_scores([0, 1], [0.5, 0.5], ties="stable").tie_spread("rr").columns())
        ['query_id', 'metric', 'worst', 'expected', 'best', 'stable']
        """
        queries = list(self.worst.query_ids)
        vectors = [self._vectors(key) for key in self.metrics]
        columns: dict[str, Sequence[Any] | Floats] = {
            "query_id": queries * len(self.metrics),
            "metric": [str(key) for key in self.metrics for _ in queries],
        }
        return columns | {name: np.concatenate([by_order[name] for by_order in vectors]) for name in self.evaluations}

    def rows(self) -> list[list[str]]:
        """Return the rows of the table as text; the first row is the header.

        Returns
        -------
        list of list of str
            The header, then one row per metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([0, 1], [0.5, 0.5]).tie_spread("rr").rows()[1]
        ['rr', '0.5000', '0.7500', '1.0000', '1 of 1']
        """
        return [[str(cell) for cell in row] for row in self._rows()]

    def _rows(self) -> list[list[object]]:
        queries = len(self.worst.query_ids)
        rows: list[list[object]] = [["metric", *self.evaluations, "affected by ties"]]
        for key, means in self.mean().items():
            cells = ["-" if math.isnan(value) else Number((value,), share=is_share(key)) for value in means.values()]
            rows.append([str(key), *cells, f"{self.affected(key)} of {queries}"])
        return rows

    def notes(self) -> list[str]:
        """Return notes on metrics that have no expected value, or whose extreme values may differ from worst and best.

        Returns
        -------
        list of str
            Each note has the name of the metric and the reason.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_scores([0, 1], [0.5, 0.5]).tie_spread("infap").notes()
        ['infap has no expected value: it depends on ...', 'infap: worst and best need not be the extremes: ...']
        """
        lines = [f"{key!s} has no expected value: {reason}" for key, reason in self.unaveraged.items()]
        records = (pair for request in self.metrics for pair in parse(request))
        reasons = {str(key): row_of(record.name).extremes for key, record in records}
        return lines + [
            f"{key}: worst and best need not be the extremes: {reason}" for key, reason in reasons.items() if reason
        ]

    @fitted()
    def __repr__(self) -> str:
        below = below_table(self.notes())
        return "\n".join([*text_table(self.rows()), *([""] if below else []), *below])

    def _tables(self, form: Form) -> list[Table]:
        return [Table(self._rows(), self.notes())]


def number_or_dash(value: float) -> str:
    return "-" if math.isnan(value) else number(value)
