"""Summaries of evaluations: exact sums and counts, which can be merged in any order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, overload

import numpy as np

from rankgain.choices import Missing, PeerOrOwn, Ties, check_choices
from rankgain.data.rules import check_ties
from rankgain.errors import counted
from rankgain.metrics.aggregators import logarithms
from rankgain.metrics.exact import exact_sum, rounded, rounded_mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.text import Block, Form, Table, Tables, mean_rows, number
from rankgain.scalars import Floats

COUNTS = "queries", "missing", "unjudged", "empty", "excluded", "capped", "own_ids"
SIMILARITY_COUNTS = "queries", "only_in_old", "only_in_new", "both_empty", "fewer_in_new", "more_in_new"
UNUSUAL = {  # counts that are shown only if they are not 0, in words
    "excluded": "judged documents in excluded columns",
    "capped": "with a list that beats the greedy ideal",
    "own_ids": "hits with the id of their query",
}
RULES = "ties", "missing", "like"
_FORMAT = 1  # version of the JSON format


def counts_of_part(queries: int, labels: tuple[str, ...] = COUNTS) -> tuple[int | None, ...]:
    """Return the counts of a part of a result, or of other values, of which only the number of queries is known."""
    return queries, *[None] * len(labels[1:])


class Sums(NamedTuple):
    """The sums from which the mean or another aggregate of a metric is computed.

    `counted` is the number of values that are not NaN. `exact` is their exact sum; for a weighted mean, it is the sum
    of the values times the weights. `second` is the sum of the logarithms for a geometric mean, the sum of the weights
    for a weighted mean, and 0 for other aggregators.
    """

    aggregator: str
    counted: int
    exact: int
    second: int

    def plus(self, other: Sums) -> Sums:
        counted, exact = self.counted + other.counted, self.exact + other.exact
        return Sums(self.aggregator, counted, exact, self.second + other.second)

    @property
    def mean(self) -> float:
        if self.aggregator == "weighted_mean":
            return rounded(self.exact) / rounded(self.second) if self.second else math.nan
        return rounded_mean(self.exact, self.counted)

    @property
    def mean_on_scale(self) -> float:
        """The mean of the values or, for a geometric mean, of their logarithms."""
        return rounded_mean(self.second, self.counted) if self.aggregator == "geometric_mean" else self.mean

    @property
    def aggregate(self) -> float:
        if self.aggregator == "total":
            return rounded(self.exact)
        return math.exp2(self.mean_on_scale) if self.aggregator == "geometric_mean" else self.mean


# For each aggregator, the JSON key of the second sum that it needs, or None.
SECOND = {"mean": None, "weighted_mean": "weights", "total": None, "geometric_mean": "sum_log2"}
LARGEST = 2.0**930  # limit on the product of a value and a weight: the sum of 2^64 such products is finite


def sums_of(key: str | Metric, values: Floats, weights: Floats | None) -> Sums:
    """Return the sums of a metric. `weights` has one weight per query, or is None if all weights are equal."""
    how, defined = aggregator(key).__name__, ~np.isnan(values)
    count = int(np.count_nonzero(defined))
    if weights is None:
        return Sums(how, count, exact_sum(values), exact_sum(logarithms(values)) if how == "geometric_mean" else 0)
    with np.errstate(over="ignore", invalid="ignore"):
        products = weights[defined] * values[defined]
    if not np.all(np.abs(products) <= LARGEST):
        raise ValueError(f"{key}: a value times its weight is beyond {LARGEST:.0e}, and the sum may overflow")
    return Sums(f"weighted_{how}", count, exact_sum(products), exact_sum(weights[defined]))


class Counted(Tables):
    """Base class of `Evaluation` and `Summary`, with the counts and rules that they share."""

    __slots__ = ()
    _counts: tuple[int | None, ...]
    _labels: tuple[str, ...]
    ties: Ties | None
    missing: Missing | None
    like: PeerOrOwn | None
    backend: str

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of evaluated queries, missing queries, unjudged queries and queries without relevant documents.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 0]]).evaluate("rr").counts
        {'queries': 2, 'missing': 0, 'unjudged': 0, 'empty': 1}
        """
        known = {name: count for name, count in zip(self._labels, self._counts, strict=True) if count is not None}
        return {name: count for name, count in known.items() if count or name not in UNUSUAL}

    def _check_rules(self, other: Counted, name: str) -> None:
        for rule in RULES:
            first, second = getattr(self, rule), getattr(other, rule)
            if first != second:
                raise ValueError(f"{name} has {rule}={second!r}, the first has {first!r}: evaluate by the same rules")

    def _merged(self, *others: Counted) -> tuple[tuple[int | None, ...], str]:
        """Return the sums of the counts that are known for all parts, and the names of the backends."""
        parts = [self, *others]
        counts = zip(*(part._counts for part in parts), strict=True)
        backends = {name for part in parts for name in part.backend.split("+")}
        added = tuple(None if None in each else sum(filter(None, each)) for each in counts)
        return added, "+".join(sorted(backends))

    def _head(self) -> str:
        rules = [counted(self.counts["queries"], "query")]
        rules += [f"{name}={rule!r}" for name in RULES if (rule := getattr(self, name))]
        names = {name: UNUSUAL.get(name, name.replace("_", " ")) for name in self._labels[1:]}
        special = [f"{count} {names[name]}" for name, count in self.counts.items() if count and name in names]
        return f"{', '.join(rules)}, backend={self.backend!r}{'; ' * bool(special)}{', '.join(special)}"

    def _printed(self, values: Mapping[Any, float], remarks: Iterable[str] = ()) -> str:
        width = max((len(str(name)) for name in values), default=0)
        means = (f"{key!s:<{width}}  {number(value)}" for key, value in values.items())
        return "\n".join([f"<{type(self).__name__}: {self._head()}>", *remarks, *means])


def check_same_metrics(first: Collection[Any], other: Collection[Any], name: str) -> None:
    """Raise an error unless two results have the same metrics."""
    for key in [*first, *other]:
        if (key in first) != (key in other):
            which = "lacks" if key in first else "has"
            raise ValueError(f"{name} {which} the metric {key!s}, unlike the first: evaluate the same metrics")


class Summary(Counted):
    """Means and counts without the values of individual queries, as returned by `Evaluation.summary`.

    The sum of each metric is stored without rounding, as an integer. Summaries of parts can therefore be merged in any
    order and grouping: the means are always those of one Evaluation of all queries, bit for bit.

    Attributes
    ----------
    metrics : tuple of str
        The metrics, as requested.
    counts : dict of str to int
        As in `Evaluation`. A count is left out if it is unknown for one of the parts, such as a part from
        `Evaluation.subset`.
    ties, missing, like : str or None
        The rules that the numbers follow; see `Rankings`.
    backend : str
        What computed the values: "compiled", "python", or "compiled+python" if both were used.
    versions : tuple of str
        The releases of rankgain that computed the values, sorted.

    See Also
    --------
    Evaluation.merge : Merge evaluations, with their values.

    Notes
    -----
    Every finite float64 is an integer times 2⁻¹⁰⁷⁴; the sum S of n values is stored in that unit. To compute ``mean``,
    S·2⁻¹⁰⁷⁴ is rounded once, which gives ``math.fsum(values)``, and divided by n. If that sum is too large for float64,
    S·2⁻¹⁰⁷⁴/n is rounded once instead. Metrics that weight queries (``gauc``) have two sums. The first is the sum of
    the weights times the values, in which the products are rounded, as in ``math.fsum(weights · values)``. The second
    is the sum of the weights. The mean is the ratio of the two sums.

    Geometric means (``gm_ap``, ``gm_bpref``) use ``math.log2`` and ``math.exp2``, which C libraries round differently:
    results from machines with different C libraries may differ in the last bits.

    Examples
    --------
    >>> import rankgain as rg
    >>> parts = [rg.from_ranked(part).evaluate("rr").summary() for part in ([[1, 0], [0, 1]], [[0, 0]])]
    >>> merged = parts[0].merge(parts[1])
    >>> merged.mean("rr"), merged.counts["queries"]
    (0.5, 3)
    >>> merged == parts[1].merge(parts[0]) == rg.Summary.from_json(merged.to_json())
    True
    """

    __module__ = "rankgain"
    __slots__ = "_counts", "_labels", "_records", "_sums", "backend", "like", "missing", "ties", "versions"

    def __init__(
        self,
        sums: Mapping[str, Sums],
        counts: Iterable[int | None],
        ties: Ties | None,
        missing: Missing | None,
        like: PeerOrOwn | None,
        backend: str,
        versions: tuple[str, ...],
        records: Mapping[str, Metric] = MappingProxyType({}),
        labels: tuple[str, ...] = COUNTS,
    ) -> None:
        """Create a Summary; `records` maps the names of metrics to Metric objects that were passed by the caller.

        `labels` names the counts.
        """
        self._sums = dict(sums)
        self._records = dict(records)
        self._counts = tuple(counts)
        self._labels = labels
        self.ties = ties
        self.missing = missing
        self.like = like
        self.backend = backend
        self.versions = versions

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, as requested.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0]]).evaluate("rr", "cg@1").summary().metrics
        ('rr', 'cg@1')
        """
        return tuple(self._sums)

    def _of(self, metric: str | Metric) -> Sums:
        try:
            return self._sums[str(metric)]
        except KeyError:
            raise KeyError(f"{metric} was not evaluated; there are: {', '.join(self._sums)}") from None

    @overload
    def mean(self, metric: str | Metric) -> float: ...
    @overload
    def mean(self, metric: None = None) -> dict[str, float]: ...
    def mean(self, metric: str | Metric | None = None) -> float | dict[str, float]:
        """Return the mean of one metric, or a dict of the means of all metrics; NaN values are ignored.

        Parameters
        ----------
        metric : str or Metric, optional
            A metric that was evaluated, as requested. By default, each of them.

        Returns
        -------
        float, or dict of str to float
            The same as `Evaluation.mean` over all the queries, bit for bit; NaN if all values are NaN.

        Raises
        ------
        KeyError
            If the metric was not evaluated.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg").summary().mean()
        {'rr': 0.75, 'cg': 1.0}
        """
        if metric is None:
            return {key: sums.mean for key, sums in self._sums.items()}
        return self._of(metric).mean

    def aggregate(self) -> dict[str, float]:
        """Return one number per metric, computed by the metric's aggregator, which is the mean for most metrics.

        Returns
        -------
        dict of str to float
            The same as `Evaluation.aggregate` over all the queries.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [1, 1]]).evaluate("rr", "num_rel").summary().aggregate()
        {'rr': 1.0, 'num_rel': 3.0}
        """
        return {key: sums.aggregate for key, sums in self._sums.items()}

    def interval(
        self,
        metric: str | Metric,
        level: float = 0.95,
        *,
        lowest: float | None = None,
        highest: float | None = None,
    ) -> tuple[float, float]:
        """Compute a confidence interval for the mean of a metric over the population of queries, from its sum alone.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as requested.
        level : float, default 0.95
            How often such an interval contains the true mean, between 0 and 1.
        lowest, highest : float, optional
            The smallest and the largest value that a query can have, as in `Evaluation.interval`. Metrics with a gain
            that is a callable need both after `from_json`.

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
            If `level` is not between 0 and 1; if the metric is a count or a weighted mean (``gauc``); if it lacks a
            bound that is not given, or the mean exceeds a bound; or if `lowest` is not below `highest`.
        TypeError
            If `level`, `lowest` or `highest` is not a number.

        See Also
        --------
        Evaluation.interval : A narrower interval, computed from all values.

        Notes
        -----
        This is Clopper and Pearson's interval, with the sum of the values, as shares of the range, in place of the
        number of hits. If all values are 0 or 1, it is the same as `Evaluation.interval`. Otherwise it is wider,
        usually by a factor of 1.5 to 4, since it allows for any spread that the values may have.

        References
        ----------
        Clopper & Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika
        1934.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[0, 0, 1], [1, 0, 0]] * 6).evaluate("rr")
        >>> [round(end, 2) for end in result.summary().interval("rr")]
        [0.35, 0.9]
        >>> [round(end, 2) for end in result.interval("rr")]
        [0.43, 0.86]
        """
        from rankgain.results.intervals import check_level, interval_of_sum  # imported only when needed

        sums, key = self._of(metric), str(metric)
        bounds = check_level(level), lowest, highest
        return interval_of_sum(sums.mean_on_scale, sums.counted, sums.aggregator, self._records.get(key, key), *bounds)

    def merge(self, *others: Summary) -> Summary:
        """Combine this Summary with Summaries of other queries.

        Parameters
        ----------
        *others : Summary
            Summaries of other queries, with the same metrics and rules.

        Returns
        -------
        Summary
            The Summary of all queries, which does not depend on the order or the grouping of the parts.

        Raises
        ------
        TypeError
            If an argument is not a Summary.
        ValueError
            If the metrics, their aggregators, `ties`, `missing` or `like` differ; or if two different metrics have the
            same name, such as two metrics whose gains are different ``lambda`` functions. Metrics of a Summary from
            JSON are compared by name only.

        See Also
        --------
        Evaluation.merge : Refuses queries that are in several parts.

        Notes
        -----
        A Summary does not hold the ids of queries, so `merge` cannot see repeated queries. A query that is in several
        parts counts several times.

        Examples
        --------
        >>> import rankgain as rg
        >>> part = rg.from_ranked([[0, 1]]).evaluate("rr").summary()
        >>> part.merge(part, part).counts["queries"]
        3
        """
        sums, records = self._sums, self._records
        for position, other in enumerate(others):
            if not isinstance(other, Summary):
                raise TypeError(f"others[{position}] must be a Summary, not {type(other).__name__}")
            name = f"others[{position}]"
            check_same_metrics(sums, other._sums, name)
            for key, total in sums.items():
                first, second = total.aggregator, other._sums[key].aggregator
                if first != second:
                    raise ValueError(f"{name} has the {second} of {key}, the first the {first}: use the same release")
                record = other._records.get(key)
                if record is not None and records.get(key, record) != record:
                    raise ValueError(f"{name} has another metric of the name {key}: give functions different names")
            self._check_rules(other, name)
            sums = {key: total.plus(other._sums[key]) for key, total in sums.items()}
            records = other._records | records
        versions = tuple(sorted({version for part in (self, *others) for version in part.versions}))
        counts, backend = self._merged(*others)
        return Summary(sums, counts, self.ties, self.missing, self.like, backend, versions, records, self._labels)

    def to_json(self) -> str:
        """Return the summary as JSON.

        Returns
        -------
        str
            A JSON object. The sums are hexadecimal strings, in units of 2⁻¹⁰⁷⁴, because many JSON parsers round
            integers above 2⁵³.

        See Also
        --------
        from_json : Read the JSON.

        Examples
        --------
        >>> import json
        >>> import rankgain as rg
        >>> content = json.loads(rg.from_ranked([[0, 1]]).evaluate("rr").summary().to_json())
        >>> int(content["metrics"]["rr"]["sum"], 16) / 2**1074
        0.5
        """
        import json

        metrics = {}
        for key, sums in self._sums.items():
            metrics[key] = {"aggregator": sums.aggregator, "count": sums.counted, "sum": hex(sums.exact)}
            if second := SECOND[sums.aggregator]:
                metrics[key][second] = hex(sums.second)
        rules = {name: getattr(self, name) for name in RULES}
        computed_by = {"backend": self.backend, "versions": list(self.versions)}
        return json.dumps({"summary": _FORMAT, "metrics": metrics, "counts": self.counts, **rules, **computed_by})

    @classmethod
    def from_json(cls, text: str | bytes) -> Summary:
        """Create a Summary from the JSON that `to_json` returned.

        Parameters
        ----------
        text : str or bytes
            The JSON that `to_json` returned.

        Returns
        -------
        Summary
            A Summary that equals the original one.

        Raises
        ------
        ValueError
            If the text is not the JSON of a Summary; the message says what is wrong with it.

        Examples
        --------
        >>> import rankgain as rg
        >>> summary = rg.from_ranked([[0, 1]]).evaluate("rr").summary()
        >>> rg.Summary.from_json(summary.to_json()) == summary
        True
        """
        import json

        try:
            content = json.loads(text)
            if content["summary"] != _FORMAT:
                raise ValueError(f"format {content['summary']!r}, and this release reads {_FORMAT}")
            labels, counts, rules = counts_and_rules(content)
            sums = {key: _read(key, item, counts[0] or 0) for key, item in content["metrics"].items()}
            versions = tuple(map(str, content["versions"]))
            return cls(sums, counts, *rules, str(content["backend"]), versions, labels=labels)
        except KeyError as error:
            raise ValueError(f"this is not the JSON of a Summary: it lacks {error}") from None
        except RecursionError:
            raise ValueError("this is not the JSON of a Summary: it is nested too deeply") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is not the JSON of a Summary: {error}") from None

    def _state(self) -> tuple[Any, ...]:
        return self._sums, self._counts, self.ties, self.missing, self.like, self.backend, self.versions

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Summary) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return self._printed(self.aggregate())

    def _tables(self, form: Form) -> list[Block]:
        return [Table(mean_rows(self.aggregate())), [self._head()] if form == "html" else ()]


def _read(key: str, item: Mapping[str, Any], queries: int) -> Sums:
    """Read the sums of a metric from its JSON object, and check them."""
    how = item["aggregator"]
    if how not in SECOND:
        raise ValueError(f"unknown aggregator {how!r}")
    second = SECOND[how]
    sums = Sums(how, _natural(item["count"]), int(item["sum"], 16), int(item[second], 16) if second else 0)
    if sums.counted > queries:
        raise ValueError(f"{key} has values of {counted(sums.counted, 'query')}, and there are {queries}")
    if not sums.counted and (sums.exact or sums.second):
        raise ValueError(f"{key} has a sum without values")
    if second == "weights" and sums.second < 0:
        raise ValueError(f"{key} has negative weights")
    return sums


def counts_and_rules(
    content: Mapping[str, Any],
) -> tuple[tuple[str, ...], tuple[int | None, ...], tuple[Any, Any, Any]]:
    """Read the counts, with their labels, and the rules of a result from its JSON object, and check them."""
    known = {name: _natural(count) for name, count in content["counts"].items()}
    unusual = (known.get(name, 0 if "empty" in known else None) for name in UNUSUAL)
    ties, missing, like = (content[name] for name in RULES)
    _check_rules(ties, missing, like)
    _check_counts(known, missing)
    if not known.keys().isdisjoint(SIMILARITY_COUNTS[1:]):
        return SIMILARITY_COUNTS, tuple(map(known.get, SIMILARITY_COUNTS)), (ties, missing, like)
    return COUNTS, (known["queries"], *map(known.get, COUNTS[1:4]), *unusual), (ties, missing, like)


def _check_rules(ties: Any, missing: Any, like: Any) -> None:
    from rankgain.results.peers import peer_of  # imported here since it is rarely needed

    if ties is not None:
        check_ties(ties, ids=True)
    if missing is not None:
        check_choices(missing=missing)
    peer_of(like)


def _check_counts(counts: Mapping[str, int], missing: str | None) -> None:
    """Raise an error if a count exceeds the number of queries, which includes missing queries if missing="zero"."""
    for name in ("missing", "empty") if missing == "zero" else ("empty",):
        if counts.get(name, 0) > counts["queries"]:
            raise ValueError(f"{counts[name]} {name} queries, of {counts['queries']}")
    if missing is None and (counts.get("missing") or counts.get("unjudged")):
        raise ValueError("missing and unjudged queries, but no rule for missing queries")


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"a count must be an integer of at least 0, not {value!r}")
    return value
