"""The result of an evaluation: the values of each metric, one per query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from rankgain._backend import VERSION
from rankgain.metrics.aggregators import check_weights, mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results import export as exports
from rankgain.results.summary import COUNTS, Summary, sums_of
from rankgain.results.text import html_table, number
from rankgain.scalars import Floats


class Evaluation(Mapping[str | Metric, Floats]):
    """The values of metrics: a mapping from each, as it was asked for, to a float64 vector, one value a query.

    Attributes
    ----------
    query_ids : sequence
        The queries in the order of the vectors.
    ties, missing : str or None
        The rules that the numbers follow; see `Rankings`.
    like : str or None
        The peer whose rules were asked for; see `Rankings.evaluate`.
    backend : str
        What computed them: "compiled" or "python".
    counts : dict of str to int
        ``queries``: how many were evaluated; ``missing``: how many of the judged ones have no ranking (see the
        attribute of that name for what became of them); ``unjudged``: how many rankings were left out because their
        query has no judgements; ``empty``: how many of the evaluated queries have nothing relevant.
    """

    __module__ = "rankgain"

    def __init__(
        self,
        values: dict[str | Metric, Floats],
        query_ids: Sequence[Any],
        ties: str | None,
        missing: str | None,
        like: str | None,
        backend: str,
        counts: tuple[int, int, int, int],
    ) -> None:
        self._values = values
        self.query_ids = query_ids
        self.ties = ties
        self.missing = missing
        self.like = like
        self.backend = backend
        self._counts = counts

    @property
    def counts(self) -> dict[str, int]:
        """How many queries are of each kind: see above.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 0]]).evaluate("rr").counts
        {'queries': 2, 'missing': 0, 'unjudged': 0, 'empty': 1}
        """
        return dict(zip(COUNTS, self._counts, strict=True))

    def __setstate__(self, state: dict[str, Any]) -> None:
        counts = state.pop("counts", None)  # of release 0.1
        vars(self).update(state if counts is None else state | {"_counts": tuple(counts.values())})

    def __getitem__(self, metric: str | Metric) -> Floats:
        try:
            return self._values[metric]
        except KeyError:
            raise KeyError(f"{metric} was not evaluated; there are: {', '.join(map(str, self._values))}") from None

    def __iter__(self) -> Iterator[str | Metric]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def mean(self, metric: str | Metric, *, weights: Any = None) -> float: ...
    @overload
    def mean(self, metric: None = None, *, weights: Any = None) -> dict[str | Metric, float]: ...
    def mean(self, metric: str | Metric | None = None, *, weights: Any = None) -> float | dict[str | Metric, float]:
        """The mean over queries of one metric, or of each as a dict; queries whose value is NaN do not count.

        It is ``math.fsum(values) / n``, or ``math.fsum(weights * values) / math.fsum(weights)``, and NaN where no
        query counts.

        Parameters
        ----------
        metric : str or Metric, optional
            One of those that were evaluated, as it was asked for; None: each of them.
        weights : array_like or mapping, optional
            How much a query counts: one number each in the order of `query_ids`, or a mapping by query id (which may
            hold other queries as well). Finite, not negative, not all 0. None: all the same.

        Returns
        -------
        float, or dict of metric to float

        Raises
        ------
        KeyError
            If the metric was not evaluated.
        ValueError, TypeError
            For weights that are too many, too few or no such numbers: the position and the query are named.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]], query_ids=["frequent", "rare"]).evaluate("rr")
        >>> result.mean("rr")
        0.75
        >>> result.mean("rr", weights={"frequent": 3, "rare": 1})
        0.875
        """
        factors = check_weights(weights, self.query_ids)
        if metric is None:
            return {key: mean(vector, factors) for key, vector in self.items()}
        return mean(self[metric], factors)

    def aggregate(self, *, weights: Any = None) -> dict[str | Metric, float]:
        """One number a metric, by the aggregator that the metric's definition names: for most of them the mean.

        Parameters
        ----------
        weights : array_like or mapping, optional
            As in `mean`.

        Returns
        -------
        dict of metric to float

        Raises
        ------
        ValueError, TypeError
            As in `mean`.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg").aggregate()
        {'rr': 0.75, 'cg': 1.0}
        """
        factors = check_weights(weights, self.query_ids)
        return {key: aggregator(key)(vector, factors) for key, vector in self.items()}

    def merge(self, *others: Evaluation) -> Evaluation:
        """One Evaluation of the queries of this one and of others, in order: as if all were evaluated at once.

        Parameters
        ----------
        *others : Evaluation
            Of the same metrics by the same rules, for other queries. Queries that have no names but positions are
            numbered anew.

        Returns
        -------
        Evaluation
            Its counts are the sums; its backend is "compiled+python" where both were at work.

        Raises
        ------
        TypeError
            If something is no Evaluation.
        ValueError
            If metrics, ties, missing or like differ, if a query has a value in two of them, or if the queries have
            names in one and positions in another.

        Examples
        --------
        >>> import rankgain as rg
        >>> parts = [rg.from_ranked(part).evaluate("rr") for part in ([[1, 0], [0, 1]], [[0, 0]])]
        >>> merged = parts[0].merge(parts[1])
        >>> merged.query_ids, merged["rr"].tolist(), merged.mean("rr")
        (range(0, 3), [1.0, 0.5, 0.0], 0.5)
        """
        for position, other in enumerate(others):
            if not isinstance(other, Evaluation):
                raise TypeError(f"others[{position}] must be an Evaluation, not {type(other).__name__}")
            self._check_same_rules(other, f"others[{position}]")
        parts = [self, *others]
        merged = {key: np.concatenate([part[key] for part in parts]) for key in self}
        for vector in merged.values():
            vector.flags.writeable = False
        backend = "+".join(sorted({name for part in parts for name in part.backend.split("+")}))
        queries, missing, unjudged, empty = (sum(part.counts[name] for part in parts) for name in COUNTS)
        counts = queries, missing, unjudged, empty
        return Evaluation(merged, _merged_ids(parts), self.ties, self.missing, self.like, backend, counts)

    def _check_same_rules(self, other: Evaluation, place: str) -> None:
        for key in [*self, *other]:
            if (key in self) != (key in other):
                which = "lacks" if key in self else "has"
                raise ValueError(f"{place} {which} the metric {key!s}, unlike the first: evaluate the same metrics")
        for rule in ("ties", "missing", "like"):
            first, its = getattr(self, rule), getattr(other, rule)
            if first != its:
                raise ValueError(f"{place} has {rule}={its!r}, and the first has {first!r}: evaluate by the same rules")

    def summary(self) -> Summary:
        """Means and counts without the values: small, exact, and to be merged in any order.

        Returns
        -------
        Summary

        Raises
        ------
        ValueError
            If two metrics that differ have the same name, as those of two gains that are both a ``lambda``.

        See Also
        --------
        merge : which keeps the values, in order.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr").summary()
        <Summary: 2 queries, backend='...'>
        rr  0.7500
        """
        if len({*map(str, self)}) < len(self):
            self.columns()  # refuses a name that stands for two
        sums = {str(key): sums_of(key, vector) for key, vector in self.items()}
        return Summary(sums, self._counts, self.ties, self.missing, self.like, self.backend, (VERSION,))

    def to_dict(self) -> dict[Any, dict[str | Metric, float]]:
        """The values by query, then by metric as asked: the shape in which pytrec_eval returns them.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", "cg").to_dict()
        {'a': {'rr': 1.0, 'cg': 1.0}, 'b': {'rr': 0.5, 'cg': 1.0}}
        """
        rows = zip(*(vector.tolist() for vector in self.values()), strict=True)
        return {query: dict(zip(self, row, strict=True)) for query, row in zip(self.query_ids, rows, strict=True)}

    def to_pandas(self) -> Any:
        """A pandas DataFrame: the index ``query_id``, and a float64 column a metric.

        Raises
        ------
        ImportError
            Without pandas: ``pip install 'rankgain[pandas]'``.
        ValueError
            If two metrics that differ have the same name, as those of two gains that are both a ``lambda``.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", "cg")
        >>> result.to_pandas()
                   rr   cg
        query_id
        a         1.0  1.0
        b         0.5  1.0
        """
        return exports.to_pandas(self.columns(), index="query_id")

    def to_polars(self) -> Any:
        """A polars DataFrame: the column ``query_id``, then a float64 column a metric.

        Ids that are not all integers of 64 bits stand there as text; what is not UTF-8 in them is escaped.

        Raises
        ------
        ImportError
            Without polars: ``pip install 'rankgain[polars]'``.
        ValueError
            As in `to_pandas`.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg")
        >>> result.to_polars().columns
        ['query_id', 'rr', 'cg']
        """
        return exports.to_polars(self.columns())

    def to_arrow(self) -> Any:
        """A pyarrow Table: the column ``query_id``, then a float64 column a metric; ids as in `to_polars`.

        Raises
        ------
        ImportError
            Without pyarrow: ``pip install 'rankgain[arrow]'``.
        ValueError
            As in `to_pandas`.

        Examples
        --------
        >>> import rankgain as rg
        >>> result = rg.from_ranked([[1, 0], [0, 1]]).evaluate("rr", "cg")
        >>> result.to_arrow().column_names
        ['query_id', 'rr', 'cg']
        """
        return exports.to_arrow(self.columns())

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """The columns of a frame by name: ``query_id``, then each metric by its text.

        Raises
        ------
        ValueError
            If two metrics that differ have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_ranked([[1, 0]]).evaluate("rr", rg.metric("cg", k=1)).columns())
        ['query_id', 'rr', 'cg@1']
        """
        columns: dict[str, Sequence[Any] | Floats] = {"query_id": self.query_ids}
        for key, vector in self.items():
            if not np.array_equal(columns.setdefault(str(key), vector), vector, equal_nan=True):
                raise ValueError(f"two metrics are both called {key!s}, and a frame needs names: evaluate them apart")
        return columns

    def __repr__(self) -> str:
        rules = [f"{len(self.query_ids)} queries"]
        rules += [] if self.ties is None else [f"ties={self.ties!r}"]
        rules += [] if self.missing is None else [f"missing={self.missing!r}"]
        rules += [] if self.like is None else [f"like={self.like!r}"]
        special = [f"{count} {name}" for name, count in self.counts.items() if count and name != "queries"]
        head = f"<Evaluation: {', '.join(rules)}, backend={self.backend!r}{'; ' * bool(special)}{', '.join(special)}>"
        width = max((len(str(name)) for name in self), default=0)
        return "\n".join([head, *(f"{key!s:<{width}}  {number(value)}" for key, value in self.aggregate().items())])

    def _repr_html_(self) -> str:
        rows = [["metric", "mean"], *([str(key), number(value)] for key, value in self.aggregate().items())]
        return html_table(rows, notes({"": self}))


def _merged_ids(parts: Sequence[Evaluation]) -> Sequence[Any]:
    """The ids of all parts, each once; positions are counted on."""
    positional = {isinstance(part.query_ids, range) for part in parts}
    if positional == {True}:
        return range(sum(len(part.query_ids) for part in parts))
    if len(positional) > 1:
        raise ValueError("others: some queries have names and some only positions: give query_ids to all or none")
    ids = [query for part in parts for query in part.query_ids]
    for query, count in Counter(ids).items():
        if count > 1:
            raise ValueError(f"others: query {query!r} is in {count} of the evaluations: merge those of other queries")
    return ids


def notes(results: Mapping[str, Evaluation]) -> list[str]:
    """What to know about the numbers, a line each; where the results differ, the value of each by its name."""
    known = {name: _known(result) for name, result in results.items()}
    first = next(iter(known.values()))
    lines = []
    for label in first:
        values = {name: facts[label] for name, facts in known.items()}
        each = ", ".join(f"{name} {value}" for name, value in values.items())
        lines.append(f"{label}: {first[label] if len(set(values.values())) == 1 else each}")
    return [*lines[:-2], "   ".join(lines[-2:])]


def _known(result: Evaluation) -> dict[str, str]:
    missing, unjudged = result.counts["missing"], result.counts["unjudged"]
    treated = "counted as 0" if result.missing == "zero" else "left out"
    return {
        "queries evaluated": f"{result.counts['queries']}",
        "missing from the run": f"{missing}" + (f" ({treated})" if missing else ""),
        "without judgements": f"{unjudged}" + (" (left out)" if unjudged else ""),
        "nothing relevant": f"{result.counts['empty']}",
        "ties": (result.ties or "in the order given") + (f" (like {result.like})" if result.like else ""),
        "backend": result.backend,
    }
