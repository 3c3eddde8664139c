"""Several runs beside each other."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgain.choices import Missing, Ties
from rankgain.data.dataframes import is_frame
from rankgain.data.judgments import Judgments
from rankgain.inputs.frames import from_frames
from rankgain.inputs.judgments import judgments
from rankgain.inputs.qrels import from_qrels
from rankgain.inputs.recommendations import from_recommendations
from rankgain.inputs.trec import read_trec
from rankgain.metrics.metric import Metric, better, parse
from rankgain.rankings import Rankings
from rankgain.results import export as exports
from rankgain.results.evaluation import Evaluation, notes
from rankgain.results.text import html_table, latex_table, markdown_table, number, text_table
from rankgain.scalars import Floats


class Comparison(Mapping[str, Evaluation]):
    """The evaluations of several runs by the same metrics: a mapping from the name of a run to its Evaluation.

    Made by `compare`. Printed, it is a table with one row per metric and one column per run.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        At least one, all of the same metrics, in any order; that of the first run is kept.

    Raises
    ------
    TypeError
        If `evaluations` is not a mapping of str to Evaluation.
    ValueError
        If there is no run, or a run has other metrics than the first.

    See Also
    --------
    compare : Evaluates runs in any form.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"bm25": [[0, 1], [1, 0]], "dense": [[1, 0], [1, 0]]}
    >>> comparison = rg.Comparison({name: rg.from_ranked(run).evaluate("rr", "cg") for name, run in runs.items()})
    >>> print(comparison)
    metric     bm25    dense
    ------  -------  -------
    rr      0.7500   1.0000*
    cg      1.0000*  1.0000*
    <BLANKLINE>
    *: the best
    queries evaluated: 2
    missing from the run: 0
    without judgments: 0
    nothing relevant: 0
    ties: in the order given   backend: ...
    >>> comparison.best("rr")
    ['dense']
    >>> comparison["bm25"]["rr"].tolist()
    [0.5, 1.0]
    """

    __module__ = "rankgain"

    def __init__(self, evaluations: Mapping[str, Evaluation]) -> None:
        if not isinstance(evaluations, Mapping):
            raise TypeError(f"evaluations must be a mapping of str to Evaluation, not {type(evaluations).__name__}")
        if not evaluations:
            raise ValueError("evaluations is empty: give at least one run")
        self._evaluations = dict(evaluations)
        for name, evaluation in self._evaluations.items():
            if not isinstance(name, str):
                raise TypeError(f"evaluations: the name of a run must be a str, not {type(name).__name__} {name!r}")
            if not isinstance(evaluation, Evaluation):
                kind = type(evaluation).__name__
                raise TypeError(f"evaluations: run {name!r}: must be an Evaluation, not {kind}")
        first, *others = self._evaluations
        for name in others:
            for key in [*self[first], *self[name]]:
                if (key in self[first]) != (key in self[name]):
                    has, lacks = (first, name) if key in self[first] else (name, first)
                    raise ValueError(
                        f"evaluations: run {name!r}: the metric {key!s} is in run {has!r} and not in run {lacks!r}: "
                        "evaluate the same metrics"
                    )

    def __getitem__(self, run: str) -> Evaluation:
        try:
            return self._evaluations[run]
        except KeyError:
            raise KeyError(f"unknown run {run!r}; there are: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    @property
    def metrics(self) -> list[str | Metric]:
        """The metrics, as they were asked for, in the order of the first run.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr", "cg")}).metrics
        ['rr', 'cg']
        """
        return list(next(iter(self.values())))

    def means(self, *, weights: Any = None) -> dict[str, dict[str | Metric, float]]:
        """Compute the mean of each metric for each run.

        Parameters
        ----------
        weights : array_like or mapping, optional
            How much each query counts, as in `Evaluation.mean`, for all runs.

        Returns
        -------
        dict of dict
            ``{run: {metric: value}}``.

        Raises
        ------
        ValueError, TypeError
            If `Evaluation.mean` would raise it for a run.

        See Also
        --------
        aggregate : The numbers that the table shows.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]]), "b": rg.from_ranked([[1, 0]])}
        >>> rg.Comparison({name: run.evaluate("rr") for name, run in runs.items()}).means()
        {'a': {'rr': 0.5}, 'b': {'rr': 1.0}}
        """
        return {name: self._ordered(result.mean(weights=weights)) for name, result in self.items()}

    def aggregate(self, *, weights: Any = None) -> dict[str, dict[str | Metric, float]]:
        """Compute the numbers of the table, by the aggregator that the definition of each metric names.

        Parameters
        ----------
        weights : array_like or mapping, optional
            How much each query counts, as in `Evaluation.mean`, for all runs.

        Returns
        -------
        dict of dict
            ``{run: {metric: value}}``.

        Raises
        ------
        ValueError, TypeError
            If `Evaluation.aggregate` would raise it for a run.

        See Also
        --------
        Evaluation.aggregate : The aggregators.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1], [1, 0]]).evaluate("rr")}).aggregate()
        {'mine': {'rr': 0.75}}
        """
        return {name: self._ordered(result.aggregate(weights=weights)) for name, result in self.items()}

    def _ordered(self, values: dict[str | Metric, float]) -> dict[str | Metric, float]:
        return {key: values[key] for key in self.metrics}

    def best(self, metric: str | Metric) -> list[str]:
        """Return the run with the best value of a metric, or all runs that share it.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as it was asked for.

        Returns
        -------
        list of str
            The names of the runs with the highest value, or with the lowest where lower is better, as for `unjudged`.
            Empty if all values are NaN, if neither is better, as for `num_ret`, or if the runs were evaluated on
            different queries: a run that skipped the hard ones is not the best.

        Raises
        ------
        KeyError
            If the metric was not evaluated.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]]), "b": rg.from_ranked([[1, 0]])}
        >>> rg.Comparison({name: run.evaluate("rr") for name, run in runs.items()}).best("rr")
        ['b']
        """
        if metric not in self.metrics:
            raise KeyError(f"{metric} was not evaluated; there are: {', '.join(map(str, self.metrics))}")
        if not same_queries(self):
            return []
        return _best(metric, {name: result.aggregate(metric) for name, result in self.items()})

    def table(self) -> str:
        """Return an aligned text table, one row per metric and one column per run, the best of each row marked ``*``.

        Returns
        -------
        str
            The table and, below it, notes on the queries and the rules; a note in which runs differ has the value of
            each. If there is only one run, or if the runs were evaluated on different queries,
            nothing is marked. Values are compared in full, not as they are printed.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).table().splitlines()[2])
        rr      0.5000
        """
        rows = [
            [str(key), *(number(value) + ("*" if best else " ") for value, best in row)] for key, row in self._marked()
        ]
        return "\n".join([*text_table([["metric", *self], *rows]), "", *legend(self), *notes(self)])

    def _marked(self) -> Iterator[tuple[str | Metric, list[tuple[float, bool]]]]:
        """Each metric with the value of every run, and whether it is to be marked as the best."""
        aggregates, comparable = self.aggregate(), same_queries(self)
        for key in self.metrics:
            values = {name: own[key] for name, own in aggregates.items()}
            best = _best(key, values) if len(self) > 1 and comparable else []
            yield key, [(value, name in best) for name, value in values.items()]

    def to_dict(self) -> dict[str, dict[Any, dict[str | Metric, float]]]:
        """Return the values of every query of every run.

        Returns
        -------
        dict of dict
            ``{run: {query: {metric: value}}}``.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1]], query_ids=["a"]).evaluate("rr")}).to_dict()
        {'mine': {'a': {'rr': 0.5}}}
        """
        return {name: result.to_dict() for name, result in self.items()}

    def to_pandas(self, *, wide: bool = False) -> Any:
        """Return the values as a pandas DataFrame.

        Parameters
        ----------
        wide : bool, default False
            Whether the runs stand side by side instead of one below the other.

        Returns
        -------
        pandas.DataFrame
            With one row per query and run, and the columns ``run``, ``query_id``, then one per metric. For the means,
            ``frame.groupby("run").mean(numeric_only=True)`` or ``pandas.DataFrame(comparison.means())``. If `wide`,
            with one row per query, the index ``query_id``, and one column per metric and run, NaN where a run lacks the
            query: ``frame["ndcg@10"]`` has one column per run.

        Raises
        ------
        ImportError
            If pandas is not installed: ``pip install 'rankgain[pandas]'``.
        ValueError
            If two different metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]]), "b": rg.from_ranked([[1, 0]])}
        >>> rg.Comparison({name: run.evaluate("rr") for name, run in runs.items()}).to_pandas()
          run  query_id   rr
        0   a         0  0.5
        1   b         0  1.0
        """
        frame = exports.to_pandas(self.columns())
        if not wide:
            return frame
        queries = list(dict.fromkeys(query for result in self.values() for query in result.query_ids))
        columns = [(str(key), name) for key in self.metrics for name in self]
        beside = frame.pivot(index="query_id", columns="run")
        return beside.reindex(index=queries, columns=columns).rename_axis(index="query_id", columns=["metric", "run"])

    def to_markdown(self) -> str:
        """Return a Markdown table, one row per metric and one column per run, the best of each row in bold.

        Returns
        -------
        str
            The table. Nothing is in bold where `table` marks nothing.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]]), "b": rg.from_ranked([[1, 0]])}
        >>> print(rg.Comparison({name: run.evaluate("rr") for name, run in runs.items()}).to_markdown())
        | metric | a | b |
        |:---|---:|---:|
        | rr | 0.5000 | **1.0000** |
        <BLANKLINE>
        """
        return markdown_table(*self._cells())

    def to_latex(self) -> str:
        r"""Return a LaTeX table for the package booktabs, with the cells of `to_markdown`.

        Returns
        -------
        str
            The table. Nothing is in bold where `table` marks nothing.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).to_latex().splitlines()[4])
        rr & 0.5000 \\
        """
        return latex_table(*self._cells())

    def _cells(self) -> tuple[list[list[str]], set[tuple[int, int]]]:
        """The table's rows, the first the header, and the places of the best values."""
        marked = list(self._marked())
        rows = [[str(key), *(number(value) for value, _ in row)] for key, row in marked]
        bold = {(r, c) for r, (_, row) in enumerate(marked, 1) for c, (_, best) in enumerate(row, 1) if best}
        return [["metric", *self], *rows], bold

    def to_polars(self) -> Any:
        """Return the values as a polars DataFrame.

        Returns
        -------
        polars.DataFrame
            With the columns of `to_pandas`; ids as in `Evaluation.to_polars`.

        Raises
        ------
        ImportError
            If polars is not installed: ``pip install 'rankgain[polars]'``.
        ValueError
            If two different metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).to_polars().rows()
        [('mine', 0, 0.5)]
        """
        return exports.to_polars(self.columns())

    def to_arrow(self) -> Any:
        """Return the values as a pyarrow Table.

        Returns
        -------
        pyarrow.Table
            With the columns of `to_pandas`; ids as in `Evaluation.to_polars`.

        Raises
        ------
        ImportError
            If pyarrow is not installed: ``pip install 'rankgain[arrow]'``.
        ValueError
            If two different metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).to_arrow().to_pylist()
        [{'run': 'mine', 'query_id': 0, 'rr': 0.5}]
        """
        return exports.to_arrow(self.columns())

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns of a frame by name, one run after another.

        Returns
        -------
        dict of str to sequence
            ``run``, ``query_id``, then each metric by its text, as a float64 array.

        Raises
        ------
        ValueError
            If two different metrics have the same name.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]]), "b": rg.from_ranked([[1, 0]])}
        >>> columns = rg.Comparison({name: run.evaluate("rr") for name, run in runs.items()}).columns()
        >>> columns["run"], columns["query_id"], columns["rr"].tolist()
        (['a', 'b'], [0, 0], [0.5, 1.0])
        """
        parts = [result.columns() for result in self.values()]
        columns: dict[str, Sequence[Any] | Floats] = {
            "run": [name for name, result in self.items() for _ in result.query_ids],
            "query_id": [query for result in self.values() for query in result.query_ids],
        }
        return columns | {str(key): np.concatenate([part[str(key)] for part in parts]) for key in self.metrics}

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        rows, bold = self._cells()
        caveat = [] if same_queries(self) else legend(self)
        return html_table(rows, [*caveat, *notes(self)], bold)


def same_queries(runs: Comparison) -> bool:
    """Whether the runs were evaluated on the same queries, in whatever order: else no mean is better than another."""
    first, *others = (result.query_ids for result in runs.values())
    return all(own == first or set(own) == set(first) for own in others)


def legend(runs: Comparison) -> list[str]:
    """What the marks of a table say, or why there are none."""
    if len(runs) == 1:
        return []
    return ["*: the best"] if same_queries(runs) else ["no best is marked: the runs answered different queries"]


def _best(metric: str | Metric, values: Mapping[str, float]) -> list[str]:
    """The names of the runs with the best value; none if all are NaN, or if neither direction is better."""
    numbers = [value for value in values.values() if not math.isnan(value)]
    direction = better(metric)
    if not numbers or not direction:
        return []
    best = max(numbers) if direction > 0 else min(numbers)
    return [name for name, value in values.items() if value == best]


def compare(
    runs: Mapping[str, Any],
    qrels: Any = None,
    metrics: str | Metric | Iterable[str | Metric] = ("ndcg@10", "mrr@10"),
    *,
    ties: Ties | None = None,
    missing: Missing = "zero",
) -> Comparison:
    """Evaluate several runs against the same judgments, which are read once.

    Parameters
    ----------
    runs : mapping of str to run
        The runs by name, each in any form: a dict of dicts of scores (see `from_qrels`), a data frame (`from_frames`),
        recommended ids (`from_recommendations`), the path of a TREC file or an open one (`read_trec`), or Rankings,
        which have their judgments with them.
    qrels : truth, optional
        Anything that `judgments` accepts or returns. By default, all runs must be Rankings.
    metrics : str, Metric or iterable of them, default ("ndcg@10", "mrr@10")
        What to compute, as in `Rankings.evaluate`.
    ties : {"docid", "average", "stable", "best", "worst"}, optional
        The order of documents of equal score, as in `from_qrels`, for the runs that have scores. By default
        ``"docid"``.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that a run lacks are evaluated as empty lists or left out, as in `from_qrels`.

    Returns
    -------
    Comparison
        A mapping from the name of each run to its Evaluation; printed, a table with the best values marked.

    Raises
    ------
    ValueError
        If `judgments`, the constructor for the form of a run or `Rankings.evaluate` would raise it (the message names
        the run); if `qrels` is not given and a run is not Rankings; or if `runs` is empty.
    TypeError
        If `runs` is not a mapping from str to runs, or one of these calls would raise it.
    OSError
        If a file cannot be read.

    See Also
    --------
    Comparison : The result, with its tables and frames.
    judgments : Reads the judgments once for many calls.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
    >>> bm25 = {"q1": {"d2": 1.4, "d1": 0.9}, "q2": {"d7": 2.0}}
    >>> dense = {"q1": {"d1": 0.8, "d3": 0.7}, "q2": {"d5": 0.6}}
    >>> comparison = rg.compare({"bm25": bm25, "dense": dense}, qrels, ["ndcg@10", "mrr@10"])
    >>> print(comparison)
    metric      bm25    dense
    -------  -------  -------
    ndcg@10  0.7398*  0.5000
    mrr@10   0.7500*  0.5000
    <BLANKLINE>
    *: the best
    ...
    """
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a mapping from name to run, not {type(runs).__name__}")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    for metric in asked:  # a typing error is found before anything is read
        list(parse(metric))
    truth = None if qrels is None else judgments(qrels)
    results = {}
    for name, run in runs.items():
        try:
            results[name] = _rankings(run, truth, ties, missing).evaluate(*asked)
        except (ValueError, TypeError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"run {name!r}: {error}") from error
    return Comparison(results)


def _rankings(run: Any, truth: Judgments | None, ties: Ties | None, missing: Missing) -> Rankings:
    """The Rankings of a run in any form."""
    if isinstance(run, Rankings):
        return run
    if truth is None:
        raise ValueError("qrels is not given, and only Rankings have judgments of their own")
    if isinstance(run, (str, os.PathLike)) or hasattr(run, "read"):
        return read_trec(truth, run, ties=ties or "docid", missing=missing)
    if is_frame(run):
        return from_frames(truth, run, ties=ties, missing=missing)
    if isinstance(run, Mapping) and all(isinstance(documents, Mapping) for documents in run.values()):
        return from_qrels(truth, run, ties=ties or "docid", missing=missing)
    return from_recommendations(run, truth, missing=missing)
