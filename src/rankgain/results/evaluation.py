"""The result of an evaluation: the values of each metric, one per query."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any, overload

import numpy as np

from rankgain._backend import VERSION
from rankgain.choices import Missing, Naming, PeerOrOwn, Ties, check_choices
from rankgain.data.arrays import objects_of
from rankgain.data.source import check_query_ids
from rankgain.errors import quoted
from rankgain.metrics.aggregators import check_weights, mean, scaled
from rankgain.metrics.metric import Metric, MetricKey, aggregator, better, stored_key, weighing
from rankgain.metrics.parameters import cut_off
from rankgain.results.export import Frames
from rankgain.results.summary import COUNTS, UNUSUAL, Counted, Summary, check_same_metrics, counts_of_part, sums_of
from rankgain.results.text import Block, Form, Table, mean_rows, printable
from rankgain.scalars import Floats, Ints

MISSING = "missing from the run"
MOST_MISSING = 20  # maximum number of runs whose missing queries are reported
AS_GIVEN = "the values are as given"  # for values computed by another tool, not from rankings


class Evaluation(Frames, Counted, Mapping[MetricKey, Floats]):
    """A mapping from each metric, as requested, to a vector with one value per query.

    Created by `Rankings.evaluate`. The vectors are float64 arrays in the order of `query_ids`. ``len(result)`` is the
    number of metrics.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the vectors.
    ties : {"average", "stable", "docid", "best", "worst"} or None
        The rule for documents of equal score; see `Rankings`.
    missing : {"zero", "skip"} or None
        The rule for judged queries without a ranking; see `Rankings`.
    like : str or None
        The tool whose rules were followed; see `Rankings.evaluate`.
    backend : str
        What computed the values: ``"compiled"``, ``"python"``, or, after `merge`, ``"compiled+python"``.
    counts : dict of str to int
        ``queries``: how many were evaluated; ``missing``: how many judged queries have no ranking (`missing` says how
        they were treated); ``unjudged``: how many rankings were left out because their query has no judgments;
        ``empty``: how many of the evaluated queries have nothing relevant; ``excluded``, unless it is 0: how many
        judged documents were left out, since they are in columns that the caller excluded (see `from_scores`);
        ``capped``, unless it is 0: in how many queries a list beats the greedy ideal of a metric of novelty;
        ``own_ids``, unless it is 0: how many hits with the id of their query ``like="beir"`` removed. After `subset`,
        only ``queries`` is known.
    assumed : tuple of str
        What was assumed about the input, in words: that each row of qrels without relevance counts as 1, or that every
        rating counts as relevant.
    judged_share : float or None
        The mean share of judged documents among the first k of each list that is not empty.

    Notes
    -----
    Two Evaluations are equal if their metrics, values (NaN equals NaN), `query_ids`, `ties`, `missing` and `like` are
    equal; the backend does not matter. Like dicts, they are not hashable.
    """

    __module__ = "rankgain"
    _index = "query_id"

    def __init__(
        self,
        values: dict[MetricKey, Floats],
        query_ids: Sequence[Any],
        ties: Ties | None,
        missing: Missing | None,
        like: PeerOrOwn | None,
        backend: str,
        counts: tuple[int | None, ...],
        weights: dict[str, Floats] | None = None,
        assumed: tuple[str, ...] = (),
        labels: tuple[str, ...] = COUNTS,
        judged: tuple[int, Floats] | None = None,
    ) -> None:
        """`weights` holds the values of metrics that weight queries, by name. `labels` names the counts. `judged` is
        a depth and, for each query, the share of judged documents among as many leading ones."""
        self._values = values
        self.query_ids = query_ids
        self.ties = ties
        self.missing = missing
        self.like = like
        self.backend = backend
        self._counts = counts
        self._labels = labels
        self._weights = weights
        self.assumed = assumed
        self._judged = judged

    @property
    def judged_share(self) -> float | None:
        """The mean share of judged documents among the first k of each list that is not empty.

        k is the deepest cut-off of the metrics, or 10 if there is none. The share is that of ``judged@k``. It is None
        if it is unknown or tells nothing: if documents have no ids or are columns of a matrix; if no document is judged
        to be not relevant, since all others then count as not relevant; if unjudged documents were removed
        (`Rankings.limited`); if no query returned documents; or for one of the parts of `merge`. Queries in which tied
        documents cannot be ordered do not count.

        Examples
        --------
        >>> import rankgain as rg
        >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
        >>> result = rg.evaluate(qrels, {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 1.0}}, "ndcg@10")
        >>> result.judged_share
        0.75
        >>> result
        <Evaluation: 2 queries, ties='docid', missing='zero', backend='...'>
        ndcg@10  1.0000
        judged@10: 0.75 of the documents, in lists that are not empty
        """
        if self._judged is None:
            return None
        share = mean(self._judged[1])
        return None if math.isnan(share) else share

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        rules = (self.ties, self.missing, self.like) == (other.ties, other.missing, other.like)
        return (
            rules
            and self.keys() == other.keys()
            and same_ids(self.query_ids, other.query_ids)
            and all(np.array_equal(vector, other[key], equal_nan=True) for key, vector in self.items())
        )

    def __getitem__(self, metric: str | Metric) -> Floats:
        try:
            return self._values[metric]
        except KeyError:
            raise KeyError(f"{metric} was not evaluated; there are: {', '.join(map(str, self._values))}") from None

    def __iter__(self) -> Iterator[MetricKey]:
        return iter(self._values)

    def values(self) -> ValuesView[Floats]:
        """Return a view of the vectors, one per metric.

        Returns
        -------
        ValuesView[Floats]
            One value per query in each vector, in the order of ``query_ids``.

        Examples
        --------
        >>> import rankgain as rg
        >>> [vector.tolist() for vector in rg.from_ranked([[0, 1], [1, 0]]).evaluate("rr", "hits@1").values()]
        [[0.5, 1.0], [0.0, 1.0]]
        """
        return self._values.values()  # the inherited view calls `__getitem__` for each metric

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def mean(self, metric: str | Metric, *, weights: Any = None) -> float: ...
    @overload
    def mean(self, metric: None = None, *, weights: Any = None) -> dict[MetricKey, float]: ...
    def mean(self, metric: str | Metric | None = None, *, weights: Any = None) -> float | dict[MetricKey, float]:
        """Compute the mean of one metric, or of every metric, over queries.

        Parameters
        ----------
        metric : str or Metric, optional
            A metric that was evaluated, as requested. By default, each of them.
        weights : array_like or mapping, optional
            How much each query counts: one number per query, in the order of `query_ids`, or a mapping by query id,
            which may hold other queries as well. Finite, not negative, not all 0. By default, all queries count the
            same.

        Returns
        -------
        float or dict of metric to float
            A float if a metric is given, else a dict with one entry per metric. NaN where no query counts.

        Raises
        ------
        KeyError
            If `metric` was not evaluated.
        ValueError
            If there is not one weight per query, if a query has no weight, or if a weight is NaN,
            infinite or negative, or all of them are 0.
        TypeError
            If `weights` is neither a sequence nor a mapping, or a weight is not a number.

        See Also
        --------
        aggregate : Uses the aggregator in the definition of each metric.

        Notes
        -----
        Queries whose value is NaN do not count. The mean of the n other values uses correctly rounded sums::

            math.fsum(values) / n    or    math.fsum(weights · values) / math.fsum(weights)

        It therefore does not depend on chunks, threads or merging. In the mean of ``gauc``, a query is weighted by the
        number of returned documents.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]], query_ids=["frequent", "rare"]).evaluate("rr")
        >>> result.mean("rr")
        0.75
        >>> result.mean("rr", weights={"frequent": 3, "rare": 1})
        0.875
        """
        given = check_weights(weights, self.query_ids)
        if metric is None:
            return {key: mean(vector, self._query_weights(key, given)) for key, vector in self.items()}
        return mean(self[metric], self._query_weights(metric, given))

    def _query_weights(self, metric: str | Metric, weights: Floats | None) -> Floats | None:
        """Return the weight of each query: the caller's weight times the weight that the metric gives it."""
        weighed_by = weighing(metric) if self._weights else ""
        if not weighed_by or self._weights is None:
            return weights
        row_weights = self._weights[weighed_by]
        if weights is None:
            return row_weights
        with np.errstate(over="ignore"):
            products = row_weights * weights
        if np.all(np.isfinite(products)):
            return products
        return row_weights * scaled(weights)

    @overload
    def aggregate(self, metric: str | Metric, *, weights: Any = None) -> float: ...
    @overload
    def aggregate(self, metric: None = None, *, weights: Any = None) -> dict[MetricKey, float]: ...
    def aggregate(self, metric: str | Metric | None = None, *, weights: Any = None) -> float | dict[MetricKey, float]:
        """Compute one number per metric with the aggregator in the metric's definition.

        Parameters
        ----------
        metric : str or Metric, optional
            A metric that was evaluated, as requested. By default, each of them.
        weights : array_like or mapping, optional
            How much each query counts, as in `mean`.

        Returns
        -------
        float or dict of metric to float
            NaN where no query counts, 0 for sums.

        Raises
        ------
        ValueError
            If there is not one weight per query, if a query has no weight, or if a weight is NaN,
            infinite or negative, or all of them are 0.
        TypeError
            If `weights` is neither a sequence nor a mapping, or a weight is not a number.

        See Also
        --------
        mean : The arithmetic mean of any metric.
        explain : Names the aggregator of a metric.

        Notes
        -----
        The values of most metrics are averaged. Counts (``num_ret``, ``num_rel``, ``num_rel_ret``,
        ``num_nonrel_judged_ret``, ``num_q``) are summed, and ``gm_ap`` and ``gm_bpref`` use the geometric mean::

            exp(Σ log(max(value, 0.00001)) / n)

        Queries whose value is NaN do not count.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "num_ret", "gm_ap")
        >>> {metric: round(value, 4) for metric, value in result.aggregate().items()}
        {'rr': 0.75, 'num_ret': 4.0, 'gm_ap': 0.7071}
        >>> {metric: round(value, 4) for metric, value in result.mean().items()}
        {'rr': 0.75, 'num_ret': 2.0, 'gm_ap': 0.75}
        """
        given = check_weights(weights, self.query_ids)
        if metric is None:
            return {key: aggregator(key)(vector, self._query_weights(key, given)) for key, vector in self.items()}
        return aggregator(metric)(self[metric], self._query_weights(metric, given))

    def interval(
        self,
        metric: str | Metric,
        level: float = 0.95,
        *,
        lowest: float | None = None,
        highest: float | None = None,
        weights: Any = None,
        clusters: Any = None,
    ) -> tuple[float, float]:
        """Compute a confidence interval for the mean of a metric over the population of queries.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as requested.
        level : float, default 0.95
            How often such an interval contains the true mean, between 0 and 1.
        lowest, highest : float, optional
            The smallest and the largest value that a query can have, for metrics without such bounds: ``utility`` and
            values from other tools need both, and sums such as ``dcg`` need `highest`. By default, 0 and 1 for metrics
            with values from 0 to 1.
        weights : array_like or mapping, optional
            How much each query counts, as in `mean`.
        clusters : array_like or mapping, optional
            The cluster of each query, such as its user or its topic: one label per query, in the order of `query_ids`,
            or a mapping by query id. Clusters are independent; queries of the same cluster need not be. By default,
            each query is a cluster.

        Returns
        -------
        low, high : float
            The ends of the interval for the mean or, for ``gm_ap`` and ``gm_bpref``, the geometric mean; NaN if no
            query counts. Queries whose value is NaN do not count.

        Raises
        ------
        KeyError
            If `metric` was not evaluated.
        ValueError
            If `level` is not between 0 and 1; if the metric is a count; if it lacks a bound that is not given, or a
            value exceeds a bound; if `lowest` is not below `highest`; if `mean` would refuse the weights; or if a query
            has no cluster.
        TypeError
            If `level`, `lowest` or `highest` is not a number; or if `weights` or `clusters` is neither a sequence nor a
            mapping.

        Warns
        -----
        UserWarning
            If weights or clusters are so uneven that they carry as much information as fewer than 6 of equal weight.

        See Also
        --------
        Comparison.test : Tests whether two runs differ; two intervals cannot show that, since queries are paired.
        Curve.interval : The method, with its source.

        Notes
        -----
        With weights or clusters, the interval is for a ratio of means. Its ends are Gaffke's bounds of the clusters'
        weighted means; the added cluster has the weight Σw² / Σw. The coverage is measured, not proved: in simulations
        with 5 to 50 clusters, at least 96.9% of the 95% intervals contained the true mean, except where a few clusters
        are very large and a sample may lack them.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[0, 0, 1], [1, 0, 0]] * 6).evaluate("rr", "dcg")
        >>> [round(end, 2) for end in result.interval("rr")]
        [0.43, 0.86]
        >>> [round(end, 2) for end in result.interval("dcg", highest=1)]
        [0.52, 0.89]

        Two queries each of six users:

        >>> [round(end, 2) for end in result.interval("rr", clusters=list("abcdefabcdef"))]
        [0.31, 0.92]
        """
        # These modules are imported only when needed.
        from rankgain.results.intervals import check_level, interval_of
        from rankgain.results.labels import codes_of, labels_of

        values = self[metric]
        key = stored_key(metric, self)
        factors = self._query_weights(key, check_weights(weights, self.query_ids))
        codes = None
        if clusters is not None:
            codes = codes_of(labels_of(clusters, self.query_ids, "clusters", "cluster")[1])
        return interval_of(values, key, check_level(level), lowest, highest, factors, codes)

    def worst(self, metric: str | Metric, n: int = 10) -> list[tuple[Any, float]]:
        """Return the queries with the worst values of a metric.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as requested.
        n : int, default 10
            The greatest number of queries; positive.

        Returns
        -------
        list of (query, value)
            The lowest values first, or the highest if lower is better; equal values in the order of `query_ids`.
            Queries whose value is NaN are left out.

        Raises
        ------
        KeyError
            If `metric` was not evaluated.
        ValueError
            If `n` is not positive.
        TypeError
            If `n` is not an integer.

        See Also
        --------
        Rankings.calculation : How the value of one of these queries is calculated.
        Comparison.per_query : The queries in the order of the difference between two runs.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1], [0, 0]], query_ids=["a", "b", "c"]).evaluate("rr")
        >>> result.worst("rr", n=2)
        [('c', 0.0), ('b', 0.5)]
        """
        values, most = self[metric], cut_off(n, "n")
        key = stored_key(metric, self)
        order = np.argsort(values if better(key) >= 0 else -values, kind="stable")
        rows = order[: min(most, int(np.count_nonzero(~np.isnan(values))))].tolist()
        return [(self.query_ids[row], float(values[row])) for row in rows]

    def merge(self, *others: Evaluation) -> Evaluation:
        """Combine this Evaluation with Evaluations of other queries, as if all queries had been evaluated at once.

        Parameters
        ----------
        *others : Evaluation
            Evaluations of the same metrics by the same rules, for other queries.

        Returns
        -------
        Evaluation
            The queries of this Evaluation come first, then those of the others in order. Queries with positions instead
            of ids are renumbered. Counts are added up; the backend is ``"compiled+python"`` if both were used.

        Raises
        ------
        TypeError
            If an argument is not an Evaluation.
        ValueError
            If metrics, `ties`, `missing` or `like` differ, if a query occurs in more than one of them, or if queries
            have ids in one and positions in another.

        See Also
        --------
        Comparison : Evaluations of the same queries by several runs.

        Examples
        --------
        >>> import rankgain as rg
        >>> parts = [rg.from_ranked(part).evaluate("rr") for part in ([[1, 0], [0, 1]], [[0, 0]])]
        >>> merged = parts[0].merge(parts[1])
        >>> merged.query_ids, merged["rr"].tolist(), merged.mean("rr")
        (range(0, 3), [1.0, 0.5, 0.0], 0.5)
        """
        if not isinstance(self, Evaluation):
            raise TypeError("merge is a method of an Evaluation: parts[0].merge(*parts[1:])")
        for position, other in enumerate(others):
            if not isinstance(other, Evaluation):
                each = "; pass them one by one: merge(*parts)" if isinstance(other, (list, tuple)) else ""
                raise TypeError(f"others[{position}] must be an Evaluation, not {type(other).__name__}{each}")
            check_same_metrics(self, other, f"others[{position}]")
            self._check_rules(other, f"others[{position}]")
        parts = [self, *others]
        merged = {key: np.concatenate([part[key] for part in parts]) for key in self}
        for vector in merged.values():
            vector.flags.writeable = False
        counts, backend = self._merged(*others)
        weights = {
            name: np.concatenate([(part._weights or {})[name] for part in parts]) for name in self._weights or ()
        }
        assumed = tuple(dict.fromkeys(remark for part in parts for remark in part.assumed))
        depths, shares = zip(*(part._judged or (0, np.empty(0)) for part in parts), strict=True)
        return Evaluation(
            merged,
            _merged_ids(parts),
            self.ties,
            self.missing,
            self.like,
            backend,
            counts,
            weights,
            assumed,
            self._labels,
            (depths[0], np.concatenate(shares)) if all(depths) else None,
        )

    def subset(self, queries: Any) -> Evaluation:
        """Return an Evaluation of only some of the queries.

        Parameters
        ----------
        queries : array_like of bool, or iterable of ids
            A mask with one boolean per query, in the order of `query_ids`; or ids of queries, in the order that the
            result should have.

        Returns
        -------
        Evaluation
            With only ``queries`` in `counts`, since the other counts are unknown. Positional ids do not change.

        Raises
        ------
        KeyError
            If an id was not evaluated.
        ValueError
            If a mask has another length, or an id is given twice.
        TypeError
            If `queries` is neither a mask nor an iterable of ids.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1], [0, 0]], query_ids=["a", "b", "c"]).evaluate("rr")
        >>> result.subset(["c", "a"])["rr"].tolist(), result.subset(result["rr"] > 0).query_ids
        ([0.0, 1.0], ['a', 'b'])
        """
        items = objects_of(queries, "queries")
        if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
            raise TypeError(f"queries must be a mask or ids of queries, not {type(queries).__name__}")
        selected = list(items)
        if selected and all(isinstance(item, (bool, np.bool_)) for item in selected):
            if len(selected) != len(self.query_ids):
                raise ValueError(f"queries is a mask of {len(selected)}, and there are {len(self.query_ids)} queries")
            rows = np.flatnonzero(selected)
        else:
            row_of = {query: row for row, query in enumerate(self.query_ids)}
            unknown = next((query for query in selected if query not in row_of), None)
            if unknown is not None:
                raise KeyError(f"query {quoted(unknown)} was not evaluated")
            rows = np.array([row_of[query] for query in selected], dtype=np.int64)
        return self._at(rows, counts_of_part(len(rows), self._labels))

    def _at(self, rows: Ints, counts: tuple[int | None, ...]) -> Evaluation:
        """Return the values of the queries in some rows, in this order."""
        ids = check_query_ids([self.query_ids[row] for row in rows.tolist()], len(rows))
        values = {key: vector[rows] for key, vector in self.items()}
        for vector in values.values():
            vector.flags.writeable = False
        weights = None if self._weights is None else {name: vector[rows] for name, vector in self._weights.items()}
        rules = self.ties, self.missing, self.like, self.backend
        judged = None if self._judged is None else (self._judged[0], self._judged[1][rows])
        return Evaluation(values, ids, *rules, counts, weights, self.assumed, self._labels, judged)

    def summary(self) -> Summary:
        """Return a small Summary of exact means and counts; Summaries can be merged in any order.

        Returns
        -------
        Summary
            With the means of `mean` and the numbers of `aggregate`, bit for bit.

        Raises
        ------
        ValueError
            If two different metrics have the same name, such as two with gains that are both a ``lambda``; or if, in a
            metric that weights queries, a value times the weight is so large that sums may overflow, as with
            ``empty=1e300``.

        See Also
        --------
        merge : Keeps the values, in order.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr").summary()
        <Summary: 2 queries, backend='...'>
        rr  0.7500
        """
        if len({*map(str, self)}) < len(self):
            self.columns()  # raises an error if two metrics have the same name
        sums = {str(key): sums_of(key, vector, self._query_weights(key, None)) for key, vector in self.items()}
        records = {str(key): key for key in self if not isinstance(key, str)}
        rules = self.ties, self.missing, self.like
        return Summary(sums, self._counts, *rules, self.backend, (VERSION,), records, self._labels)

    def flat(self, names: Naming = "asked", *, weights: Any = None) -> dict[str, float]:
        """Return the result of `aggregate` with metric names as keys, for MLflow, W&B, TensorBoard and other loggers.

        Parameters
        ----------
        names : {"asked", "safe"}, default "asked"
            The names of the metrics: as requested, or with only letters, digits and ``_``, which all loggers accept.
            MLflow refuses the ``@`` of ``ndcg@10``, which becomes ``ndcg_at_10``.
        weights : array_like or mapping, optional
            How much each query counts, as in `mean`.

        Returns
        -------
        dict of str to float
            One entry per metric, in the order requested.

        Raises
        ------
        ValueError
            If `names` is unknown, if two metrics have the same name, or if `mean` would refuse the weights.
        TypeError
            If `weights` is neither a sequence nor a mapping, or a weight is not a number.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[2, 0, 1]]).evaluate("rr", "cg(gain=exponential)@2").flat(names="safe")
        {'rr': 1.0, 'cg_gain_exponential_at_2': 3.0}
        """
        check_choices(names=names)
        flat: dict[str, float] = {}
        for key, value in self.aggregate(weights=weights).items():
            name = safe_name(str(key)) if names == "safe" else str(key)
            if name in flat:
                raise ValueError(f"two metrics have the name {quoted(name)}: evaluate them separately")
            flat[name] = value
        return flat

    def _tables(self, form: Form) -> list[Block]:
        return [Table(mean_rows(self.aggregate())), notes({"": self}) if form == "html" else ()]

    def to_dict(self) -> dict[Any, dict[MetricKey, float]]:
        """Return the values as nested dicts by query and then by metric, like those of pytrec_eval.

        Returns
        -------
        dict of dict
            ``{query: {metric: value}}``, with Python floats.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", "cg").to_dict()
        {'a': {'rr': 1.0, 'cg': 1.0}, 'b': {'rr': 0.5, 'cg': 1.0}}
        """
        rows = zip(*(vector.tolist() for vector in self.values()), strict=True)
        return {query: dict(zip(self, row, strict=True)) for query, row in zip(self.query_ids, rows, strict=True)}

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns of a data frame as a dict.

        Returns
        -------
        dict of str to sequence
            ``query_id``, then each metric by its text, as a float64 array.

        Raises
        ------
        ValueError
            If two different metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_ranked([[1, 0]]).evaluate("rr", rg.metric("cg", k=1)).columns())
        ['query_id', 'rr', 'cg@1']
        """
        columns: dict[str, Sequence[Any] | Floats] = {"query_id": self.query_ids}
        for key, vector in self.items():
            # a string and a Metric of the same name are the same metric; two Metrics are not, even if their values are
            differs = str(key) in columns and str(key) not in self._values
            if differs or not np.array_equal(columns.setdefault(str(key), vector), vector, equal_nan=True):
                raise ValueError(
                    f"two metrics are both called {key!s}, and a frame needs distinct names: evaluate them separately"
                )
        return columns

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the values, metrics, counts and rules to a parquet file, which `from_table` reads.

        Parameters
        ----------
        path : str or path-like
            The file, which is written completely or not at all. An existing file is replaced.

        Raises
        ------
        ImportError
            If pyarrow is not installed: ``pip install 'rankgain[arrow]'``.
        ValueError
            If query ids are not all text, all integers of 64 bits, or all floats; if the gain or the discount of a
            metric cannot be written as text; or if two different metrics have the same name.
        OSError
            If the file cannot be written.

        See Also
        --------
        to_arrow : The values as a table.
        summary : Exact means and counts, as JSON.

        Notes
        -----
        The columns are those of `columns`. If a metric weights queries (``gauc``), its weights are another column, and
        so are the shares of judged documents if they are known. The rest is JSON in the metadata of the file. Other
        programs can read the columns. Unlike pickles, such files can be read by later releases.

        Examples
        --------
        >>> import os, tempfile
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", "ndcg@10")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.to_parquet(os.path.join(folder, "main.parquet"))
        ...     rg.Evaluation.from_table(os.path.join(folder, "main.parquet")) == result
        True
        """
        from rankgain.results.stored import Stored, write  # imported only when needed

        self.columns()  # raises an error if two metrics have the same name
        rules = self.ties, self.missing, self.like
        counts, weights, labels = self._counts, self._weights, self._labels
        state = self._values, self.query_ids, *rules, self.backend, counts, weights, self.assumed, labels, self._judged
        write(Stored(*state), path)

    @staticmethod
    def from_table(table: Any) -> Evaluation:
        """Read an Evaluation that `to_parquet` wrote.

        Parameters
        ----------
        table : str, path-like or pyarrow.Table
            The file, or a table that was read from it, perhaps with only some of its rows. The metadata of the table
            must be kept, which data frames of pandas and polars do not do.

        Returns
        -------
        Evaluation
            Equal to the original one, with the same counts. If rows are missing, only ``queries`` is in `counts`, as
            after `subset`.

        Raises
        ------
        ImportError
            If pyarrow is not installed: ``pip install 'rankgain[arrow]'``.
        ValueError
            If the table was not written by `to_parquet`, or lost its metadata.
        TypeError
            If `table` is neither a path nor a table of Arrow.
        OSError
            If the file cannot be read.

        See Also
        --------
        compare : Accepts values from other tools, with ``values=True``.

        Examples
        --------
        >>> import os, tempfile
        >>> import pyarrow.parquet
        >>> import rankgain as rg
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "main.parquet")
        ...     rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr").to_parquet(path)
        ...     table = pyarrow.parquet.read_table(path)
        >>> rg.Evaluation.from_table(table.slice(1)).to_dict()
        {'b': {'rr': 0.5}}
        """
        from rankgain.results.stored import read  # imported only when needed

        return Evaluation(*read(table))

    def __repr__(self) -> str:
        return "\n".join([self._printed(self.aggregate(), self.assumed), *shares_judged({"": self})])


def safe_name(text: str) -> str:
    """Convert text to a name that contains only letters, digits and underscores."""
    text = text.replace("@", "_at_").replace("=-", "=minus_")
    name = re.sub(r"_+", "_", re.sub(r"[^0-9A-Za-z]", "_", text)).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def weights_of(evaluation: Evaluation, metric: str | Metric) -> Floats | None:
    """Return the weight of each query in the mean of a metric, or None if all weights are equal."""
    return evaluation._query_weights(metric, None)


def same_ids(ids: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether both sequences have the same query ids in the same order."""
    return ids == other or list(ids) == list(other)  # ids may be a range, which never equals a list


def in_order(evaluation: Evaluation, query_ids: Sequence[Any]) -> Evaluation:
    """Return an Evaluation with its queries in another order. If they are other queries, return it unchanged."""
    if same_ids(evaluation.query_ids, query_ids) or len(evaluation.query_ids) != len(query_ids):
        return evaluation
    row_of = {query: row for row, query in enumerate(evaluation.query_ids)}
    if not all(query in row_of for query in query_ids):
        return evaluation
    return evaluation._at(np.array([row_of[query] for query in query_ids], dtype=np.int64), evaluation._counts)


def _merged_ids(parts: Sequence[Evaluation]) -> Sequence[Any]:
    """Concatenate the query ids of all parts; renumber positions, and raise a ValueError for duplicate ids."""
    positional = {isinstance(part.query_ids, range) for part in parts}
    if positional == {True}:
        return range(sum(len(part.query_ids) for part in parts))
    if len(positional) > 1:
        raise ValueError("others: some queries have ids and some only positions: give query_ids to all or none")
    ids = [query for part in parts for query in part.query_ids]
    for query, count in Counter(ids).items():
        if count > 1:
            raise ValueError(f"others: query {query!r} is in {count} of the evaluations: merge those of other queries")
    return ids


def notes(results: Mapping[str, Evaluation]) -> list[str]:
    """Return notes about the results, one per line; where the results differ, a note lists each by name."""
    facts_of = {name: _facts(result) for name, result in results.items()}
    first = next(iter(facts_of.values()))
    lines = []
    for label in first:
        values = {name: facts[label] for name, facts in facts_of.items()}
        if "" in values.values():  # unknown for a subset of queries
            continue
        each = ", ".join(f"{printable(name)} {value}" for name, value in values.items())
        lines.append(f"{label}: {first[label] if len(set(values.values())) == 1 else each}")
    last = [line for line in lines if line.startswith(("ties: ", "backend: "))]
    remarks = *assumptions(results), *shares_judged(results)
    return [*(line for line in lines if line not in last), *remarks, "   ".join(last)]


def shares_judged(results: Mapping[str, Evaluation]) -> list[str]:
    """Return a line with the share of judged documents of each run.

    Return no line if the share is unknown for a run, or if all documents are judged.
    """
    shares = {name: share for name, result in results.items() if (share := result.judged_share) is not None}
    (depth, *others) = {result._judged[0] for result in results.values() if result._judged is not None} or {0}
    if len(shares) < len(results) or others or all(share == 1.0 for share in shares.values()):
        return []
    each = [f"{printable(name)} {share:.2f}" if len(shares) > 1 else f"{share:.2f}" for name, share in shares.items()]
    return [f"judged@{depth}: {', '.join(each)} of the documents, in lists that are not empty"]


def assumptions(results: Mapping[str, Evaluation]) -> list[str]:
    """Return what was assumed about the input of any of the results, in words."""
    return list(dict.fromkeys(remark for result in results.values() for remark in result.assumed))


def missing_queries(results: Mapping[str, Evaluation]) -> str:
    """Return a phrase about the queries that each run lacks, or "" if they are unknown."""
    missing = {name: _facts(result)[MISSING].partition(" ") for name, result in results.items()}
    if any(not count for count, _, _ in missing.values()):
        return ""
    runs = [f"{printable(name)} {count}" for name, (count, _, _) in missing.items() if count != "0"]
    treated = " ".join(dict.fromkeys(how for _, _, how in missing.values() if how))
    more = [f"{len(runs) - MOST_MISSING} more runs"] if len(runs) > MOST_MISSING else []
    return f"missing: {', '.join([*runs[:MOST_MISSING], *more])} {treated}" if runs else "none missing"


def _facts(result: Evaluation) -> dict[str, str]:
    missing, unjudged, empty = (result.counts.get(name, "") for name in COUNTS[1:4])
    ties = (result.ties or "in the order given") + (f" (like {result.like})" if result.like else "")
    excluded, capped, own_ids = map(result.counts.get, UNUSUAL)
    treated = "counted as 0" if result.missing == "zero" else "left out"
    return {
        "queries evaluated": f"{result.counts['queries']}",
        MISSING: f"{missing}" + (f" ({treated})" if missing else ""),
        "without judgments": f"{unjudged}" + (" (left out)" if unjudged else ""),
        "nothing relevant": f"{empty}",
        UNUSUAL["excluded"]: f"{excluded} (left out)" if excluded else "",
        UNUSUAL["capped"]: f"{capped} (counted as 1)" if capped else "",
        UNUSUAL["own_ids"]: f"{own_ids} (removed)" if own_ids else "",
        "ties": "" if AS_GIVEN in result.assumed else ties,
        "backend": result.backend,
    }
