"""What is left of an evaluation when its values are not kept: exact sums and counts, which merge in any order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, overload

import numpy as np

from rankgain.metrics.aggregators import logarithms
from rankgain.metrics.exact import exact_sum, rounded, rounded_mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.text import html_table, number
from rankgain.scalars import Floats

COUNTS = "queries", "missing", "unjudged", "empty"
FORMAT = 1  # of the JSON


class Sums(NamedTuple):
    """Of one metric: how many values are not NaN, their exact sum, and that of their logarithms for geometric means."""

    aggregator: str
    counted: int
    exact: int
    logarithms: int

    def plus(self, other: Sums) -> Sums:
        exact, logarithmic = self.exact + other.exact, self.logarithms + other.logarithms
        return Sums(self.aggregator, self.counted + other.counted, exact, logarithmic)

    @property
    def mean(self) -> float:
        return rounded_mean(self.exact, self.counted)

    @property
    def aggregate(self) -> float:
        if self.aggregator == "total":
            return rounded(self.exact)
        if self.aggregator == "mean":
            return self.mean
        return math.exp2(rounded_mean(self.logarithms, self.counted))


def sums_of(asked: str | Metric, values: Floats) -> Sums:
    """The sums of a metric, by its key in a result."""
    how = aggregator(asked).__name__
    count = len(values) - int(np.count_nonzero(np.isnan(values)))
    return Sums(how, count, exact_sum(values), exact_sum(logarithms(values)) if how == "geometric_mean" else 0)


class Summary:
    """Means and counts of any number of queries, without their values; made by `Evaluation.summary`.

    Of each metric the sum is kept without rounding, as an integer. So summaries of parts merge in any order and by any
    grouping to the same one, bit by bit, and its means are those of one Evaluation of all the queries.

    Attributes
    ----------
    metrics : tuple of str
        The metrics, as they were asked for.
    counts : dict of str to int
        As in `Evaluation`.
    ties, missing, like : str or None
        The rules that the numbers follow; see `Rankings`.
    backend : str
        What computed them: "compiled", "python", or "compiled+python" where both were at work.
    versions : tuple of str
        The releases of rankgain that computed them, in order.

    See Also
    --------
    Evaluation.merge : which keeps the values as well.

    Notes
    -----
    Every float64 is an integer times 2⁻¹⁰⁷⁴; the sum S of n values is kept in that unit. ``mean`` is S·2⁻¹⁰⁷⁴ rounded
    once, which is ``math.fsum(values)``, divided by n. If that sum is beyond float64, it is S·2⁻¹⁰⁷⁴/n rounded once.

    Geometric means (``gm_ap``, ``gm_bpref``) are made of ``math.log2`` of the values and of ``math.exp2``, which C
    libraries round in different ways: parts from machines with different ones may differ in the last bits.

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
    __slots__ = "_counts", "_sums", "backend", "like", "missing", "ties", "versions"

    def __init__(
        self,
        sums: Mapping[str, Sums],
        counts: Iterable[int],
        ties: str | None,
        missing: str | None,
        like: str | None,
        backend: str,
        versions: tuple[str, ...],
    ) -> None:
        self._sums = dict(sums)
        self._counts = tuple(counts)
        self.ties = ties
        self.missing = missing
        self.like = like
        self.backend = backend
        self.versions = versions

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, as they were asked for."""
        return tuple(self._sums)

    @property
    def counts(self) -> dict[str, int]:
        """How many queries are of each kind: see `Evaluation`."""
        return dict(zip(COUNTS, self._counts, strict=True))

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
        """The mean over queries of one metric, or of each as a dict; queries whose value is NaN do not count.

        Parameters
        ----------
        metric : str or Metric, optional
            One of those that were evaluated, as it was asked for; None: each of them.

        Returns
        -------
        float, or dict of str to float
            The same bits as `Evaluation.mean` of all the queries; NaN where no query counts.

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
        """One number per metric, by the aggregator that the metric's definition names: for most of them the mean.

        Returns
        -------
        dict of str to float
            As `Evaluation.aggregate` of all the queries.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [1, 1]]).evaluate("rr", "num_rel").summary().aggregate()
        {'rr': 1.0, 'num_rel': 3.0}
        """
        return {key: sums.aggregate for key, sums in self._sums.items()}

    def merge(self, *others: Summary) -> Summary:
        """One Summary of the queries of this one and of others.

        Parameters
        ----------
        *others : Summary
            Of the same metrics by the same rules, for other queries. That they are other queries cannot be checked.

        Returns
        -------
        Summary
            The same whatever the order and the grouping of the parts.

        Raises
        ------
        TypeError
            If something is no Summary.
        ValueError
            If metrics, ties, missing or like differ.

        Examples
        --------
        >>> import rankgain as rg
        >>> part = rg.from_ranked([[0, 1]]).evaluate("rr").summary()
        >>> part.merge(part, part).counts["queries"]
        3
        """
        sums, counts = self._sums, self._counts
        backends, versions = {*self.backend.split("+")}, {*self.versions}
        for position, other in enumerate(others):
            if not isinstance(other, Summary):
                raise TypeError(f"others[{position}] must be a Summary, not {type(other).__name__}")
            self._check_same_rules(other, f"others[{position}]")
            sums = {key: held.plus(other._sums[key]) for key, held in sums.items()}
            counts = tuple(map(sum, zip(counts, other._counts, strict=True)))
            backends |= {*other.backend.split("+")}
            versions |= {*other.versions}
        backend, ordered = "+".join(sorted(backends)), tuple(sorted(versions))
        return Summary(sums, counts, self.ties, self.missing, self.like, backend, ordered)

    def _check_same_rules(self, other: Summary, place: str) -> None:
        for key in [*self._sums, *other._sums]:
            if (key in self._sums) != (key in other._sums):
                which = "lacks" if key in self._sums else "has"
                raise ValueError(f"{place} {which} the metric {key}, unlike the first: evaluate the same metrics")
        for rule in ("ties", "missing", "like"):
            first, its = getattr(self, rule), getattr(other, rule)
            if first != its:
                raise ValueError(f"{place} has {rule}={its!r}, and the first has {first!r}: evaluate by the same rules")

    def to_json(self) -> str:
        """The summary as JSON.

        Returns
        -------
        str
            An object with the sums as hexadecimal strings, in units of 2⁻¹⁰⁷⁴, since many readers of JSON round
            integers beyond 2⁵³.

        See Also
        --------
        from_json : which reads it.

        Examples
        --------
        >>> import json
        >>> import rankgain as rg
        >>> held = json.loads(rg.from_ranked([[0, 1]]).evaluate("rr").summary().to_json())
        >>> int(held["metrics"]["rr"]["sum"], 16) / 2**1074
        0.5
        """
        import json

        metrics = {}
        for key, sums in self._sums.items():
            metrics[key] = {"aggregator": sums.aggregator, "count": sums.counted, "sum": hex(sums.exact)}
            if sums.aggregator == "geometric_mean":
                metrics[key]["sum_log2"] = hex(sums.logarithms)
        rules = {"ties": self.ties, "missing": self.missing, "like": self.like}
        made = {"backend": self.backend, "versions": list(self.versions)}
        return json.dumps({"summary": FORMAT, "metrics": metrics, "counts": self.counts, **rules, **made})

    @classmethod
    def from_json(cls, text: str | bytes) -> Summary:
        """The summary that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            What `to_json` returned.

        Returns
        -------
        Summary

        Raises
        ------
        ValueError
            If it is no such JSON; what is wrong is named.

        Examples
        --------
        >>> import rankgain as rg
        >>> summary = rg.from_ranked([[0, 1]]).evaluate("rr").summary()
        >>> rg.Summary.from_json(summary.to_json()) == summary
        True
        """
        import json

        try:
            held = json.loads(text)
            if held["summary"] != FORMAT:
                raise ValueError(f"format {held['summary']!r}, and this release reads {FORMAT}")
            sums = {key: _read(own) for key, own in held["metrics"].items()}
            counts = [_natural(held["counts"][name]) for name in COUNTS]
            ties, missing, like = (held[name] for name in ("ties", "missing", "like"))
            if not all(rule is None or isinstance(rule, str) for rule in (ties, missing, like)):
                raise ValueError("ties, missing and like must be strings or null")
            versions = tuple(map(str, held["versions"]))
            return cls(sums, counts, ties, missing, like, str(held["backend"]), versions)
        except KeyError as error:
            raise ValueError(f"this is no Summary: there is no {error}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is no Summary: {error}") from None

    def _state(self) -> tuple[Any, ...]:
        return self._sums, self._counts, self.ties, self.missing, self.like, self.backend, self.versions

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Summary) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary.from_json, (self.to_json(),)

    def _head(self) -> str:
        rules = [f"{self._counts[0]} queries"]
        rules += [f"{name}={held!r}" for name in ("ties", "missing", "like") if (held := getattr(self, name))]
        special = [f"{count} {name}" for name, count in self.counts.items() if count and name != "queries"]
        return f"{', '.join(rules)}, backend={self.backend!r}{'; ' * bool(special)}{', '.join(special)}"

    def __repr__(self) -> str:
        width = max(map(len, self._sums), default=0)
        means = (f"{key:<{width}}  {number(value)}" for key, value in self.aggregate().items())
        return "\n".join([f"<Summary: {self._head()}>", *means])

    def _repr_html_(self) -> str:
        rows = [["metric", "mean"], *([key, number(value)] for key, value in self.aggregate().items())]
        return html_table(rows, [self._head()])


def _read(held: Mapping[str, Any]) -> Sums:
    """The sums of a metric in JSON."""
    how = held["aggregator"]
    if how not in ("mean", "total", "geometric_mean"):
        raise ValueError(f"there is no aggregator {how!r}")
    logarithmic = int(held["sum_log2"], 16) if how == "geometric_mean" else 0
    return Sums(how, _natural(held["count"]), int(held["sum"], 16), logarithmic)


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"a count must be an integer from 0, not {value!r}")
    return value
