"""A comparison of several runs that were evaluated with the same metrics."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain.choices import Correction, Family, Intervals, Method, TestedQueries
from rankgain.comparison.aligned import count_lacked, in_one_order
from rankgain.data.writing import write_whole
from rankgain.errors import counted
from rankgain.metrics.metric import Metric, MetricKey, Score, better, is_share, parse_quality, stored_key
from rankgain.results.evaluation import AS_GIVEN, Evaluation, assumptions, missing_queries, notes, shares_judged
from rankgain.results.export import Frames
from rankgain.results.summary import check_same_metrics
from rankgain.results.text import Block, Form, Number, Printed, Table
from rankgain.scalars import Floats

if TYPE_CHECKING:
    import pandas

    from rankgain.comparison.absent import Coverage
    from rankgain.comparison.corrected import Corrected
    from rankgain.comparison.evidence import Evidence
    from rankgain.comparison.gate import Gate
    from rankgain.comparison.groups import Groups
    from rankgain.comparison.outcome import Tests

STAR = "*: the best"


class Comparison(Frames, Printed, Mapping[str, Evaluation]):
    """The evaluations of several runs with the same metrics, as a mapping from run name to Evaluation.

    Made by `compare`. Printed, it is a table with one row per metric and one column per run, in which the best value of
    each row is marked ``*``. Notes on the queries and the rules follow; if the runs differ in one, the note has the
    value of each run. Nothing is marked if there is only one run, or if the runs were evaluated on different queries.
    Values are compared in full precision, not as printed.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        At least one, all with the same metrics; metrics are ordered as in the first run. An Evaluation that has the
        queries of the first run is brought into their order.

    Raises
    ------
    TypeError
        If `evaluations` is not a mapping of str to Evaluation.
    ValueError
        If there is no run, if a run has other metrics than the first, or if they are similarities of two runs.

    See Also
    --------
    compare : Evaluates runs in any form.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"bm25": [[0, 1], [1, 0]], "dense": [[1, 0], [1, 0]]}
    >>> comparison = rg.Comparison({name: rg.from_ranked(run).evaluate("rr") for name, run in runs.items()})
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
        self._evidence: Mapping[str, Evidence] = {}
        self._empty: Mapping[str, list[Any]] = {}  # the queries for which a run returned nothing, if it was pickled
        self._lacks: Mapping[str, Sequence[Any]] = {}  # the queries that were left out because a run lacks them
        self._again: Callable[[Any], Comparison] | None = None  # evaluates the same runs with other judgments
        for name, evaluation in self._evaluations.items():
            if not isinstance(name, str):
                raise TypeError(f"evaluations: the name of a run must be a str, not {type(name).__name__} {name!r}")
            if not isinstance(evaluation, Evaluation):
                kind = type(evaluation).__name__
                raise TypeError(f"evaluations: run {name!r}: must be an Evaluation, not {kind}")
        first = next(iter(self._evaluations.values()))
        for key in first:
            if not isinstance(key, Score):  # values of other tools may have any name
                list(parse_quality(key))
        for name, evaluation in self._evaluations.items():
            check_same_metrics(first, evaluation, f"evaluations: run {name!r}")
        self._evaluations = in_one_order(self._evaluations)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the rankings, which may contain whole collections."""
        from rankgain.comparison.absent import empty_queries

        empty = {**self._empty, **empty_queries(self._evidence)}
        return vars(self) | {"_evidence": {}, "_again": None, "_empty": empty}

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
    def metrics(self) -> list[MetricKey]:
        """The metrics, as requested, in the order of the first run.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr", "cg")}).metrics
        ['rr', 'cg']
        """
        return list(next(iter(self.values())))

    def means(self, *, weights: Any = None) -> dict[str, dict[MetricKey, float]]:
        """Compute the mean of each metric for each run.

        Parameters
        ----------
        weights : array_like or mapping, optional
            How much each query counts, as in `Evaluation.mean`, for all runs; a sequence is in the order of the first
            run's queries.

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

    def aggregate(self, *, weights: Any = None) -> dict[str, dict[MetricKey, float]]:
        """Compute the numbers that the table shows, with the aggregator in the definition of each metric.

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

    def _ordered(self, values: dict[MetricKey, float]) -> dict[MetricKey, float]:
        return {key: values[key] for key in self.metrics}

    def best(self, metric: str | Metric) -> list[str]:
        """Return the names of the runs with the best value of a metric.

        Parameters
        ----------
        metric : str or Metric
            A metric that was evaluated, as requested.

        Returns
        -------
        list of str
            The runs with the highest value, or with the lowest if lower is better, as for `unjudged`. Empty if all
            values are NaN, if neither is better, as for `num_ret`, or if the runs were evaluated on different queries:
            a run that skipped the hard ones is not the best.

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
        metric = stored_key(metric, self.metrics)
        values = {name: result.aggregate(metric) for name, result in self.items()}
        numbers = [value for value in values.values() if not math.isnan(value)]
        direction = better(metric)
        if not numbers or not direction or not same_queries(self):
            return []
        best = max(numbers) if direction > 0 else min(numbers)
        return [name for name, value in values.items() if value == best]

    def _tables(self, form: Form) -> Iterator[Block]:
        means = self.aggregate()
        rows: list[list[object]] = [["metric", *self]]
        for key in self.metrics:
            rows.append([str(key), *(Number((values[key],), share=is_share(key)) for values in means.values())])
        column_of = {name: column for column, name in enumerate(self, 1)}
        best = {(row, column_of[name]) for row, key in enumerate(self.metrics, 1) for name in self.best(key)}
        table = Table(rows, bold=best if len(self) > 1 else ())
        columns = zip(["run", *self], *rows[1:], strict=True)
        other = Table([*columns], bold={(column, row) for row, column in table.bold})
        yield table._replace(other=other)
        if form in ("text", "html"):  # in HTML, the best values are in bold
            yield [*(line for line in legend(self) if form == "text" or line != STAR), *notes(self)]

    def to_dict(self) -> dict[str, dict[Any, dict[MetricKey, float]]]:
        """Return the values of all metrics for each query of each run.

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

    def to_pandas(self, *, wide: bool = False) -> pandas.DataFrame:
        """Return the values as a pandas DataFrame.

        Parameters
        ----------
        wide : bool, default False
            Whether each run has separate columns instead of rows.

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
        frame = super().to_pandas()
        if not wide:
            return frame
        queries = list(dict.fromkeys(query for result in self.values() for query in result.query_ids))
        columns = [(str(key), name) for key in self.metrics for name in self]
        wide_frame = frame.pivot(index="query_id", columns="run")
        wide_frame = wide_frame.reindex(index=queries, columns=columns)
        return wide_frame.rename_axis(index="query_id", columns=["metric", "run"])

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns for a data frame as a dict, with the runs one after another.

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

    def test(
        self,
        baseline: str | Iterable[str] | None = None,
        *,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        method: Method = "randomization",
        correction: Correction | None = "max-t",
        family: Family = "metric",
        intervals: Intervals = "single",
        level: float = 0.95,
        margin: float | None = None,
        flips: int = 99_999,
        seed: int = 0,
        weights: Any = None,
        clusters: Any = None,
        queries: TestedQueries = "same",
        threads: int = 1,
    ) -> Tests:
        """Test which run is better, and by how much, with a paired sign-flip randomization test.

        For each query, a random sign decides whether the values of the two runs are exchanged; all runs, metrics
        and pairs share the signs. p is the share of flips for which the difference of the means is at least as large as
        the observed one. The same flips give the interval, which contains exactly the differences that the test does
        not reject. They are also used to correct for several comparisons and to test non-inferiority. If few queries
        differ, all sign vectors are enumerated instead.

        Parameters
        ----------
        baseline : str or iterable of str, optional
            The run with which each other run is compared, or several: each of the remaining runs is compared with each
            of them, and p is corrected for all these comparisons. By default, the second of two runs is compared with
            the first, and of more runs all pairs are compared, the later minus the earlier.
        metrics : str, Metric or iterable of them, optional
            Some of the metrics that were evaluated. By default, all of them.
        method : {"randomization", "exact", "t"}, default "randomization"
            How p is computed. ``"randomization"``: from all sign vectors if at most 24 queries differ (by more than
            rounding), else from random flips. ``"exact"``: from all sign vectors; an error if more than 44 queries
            differ. ``"t"``: by Student's paired t-test, with SciPy (``pip install 'rankgain[stats]'``).
        correction : {"max-t", "holm", "bh"} or None, default "max-t"
            How p is corrected for the comparisons of a family. ``"max-t"``: by step-down max-T (Westfall & Young 1993)
            with the same flips, which uses the dependence between comparisons; with ``method="t"``, Holm's correction
            is used instead. ``"holm"``: by Holm's correction. ``"bh"``: by the correction of Benjamini and Hochberg,
            which bounds the false discovery rate, but not the chance of any false finding. None: not at all. A single
            comparison is never corrected.
        family : {"metric", "all"}, default "metric"
            The comparisons to correct for: all pairs of each metric, or all pairs of all metrics.
        intervals : {"single", "simultaneous"}, default "single"
            Whether the level applies to each interval, or to all intervals of a family together. With max-T,
            simultaneous intervals come from the same flips, and p is corrected in a single step, so that an interval
            excludes 0 if and only if the difference is decided. With other corrections they are Bonferroni's, and may
            contain 0 although the difference is decided.
        level : float, default 0.95
            The level of the intervals, between 0 and 1. A difference is decided if its (corrected) p is at most
            1 − level.
        margin : float, optional
            How much worse than the baseline a run may be and still be good enough, at least 0 and below the most that
            the baseline can lose (write 0.02 for 2 points). If it is given, also test whether a run is not worse by
            more than the margin, with a one-sided p at (1 − level) / 2. If p is corrected, Holm's correction is applied
            to the one-sided p. By default, and for metrics without an upper bound, this is not tested. For a geometric
            mean, the margin is a difference of logarithms (base 2).
        flips : int, default 99_999
            How many random flips, from 1 to 10^8.
        seed : int, default 0
            The seed of the flips, from 0 to 2^64 − 1. The same seed gives the same bits on every machine, whatever the
            backend and the number of threads.
        weights : array_like or mapping, optional
            How much each query counts, in the order of `Evaluation.query_ids` of the first run or by query id; finite
            and not negative. Queries of weight 0 are left out. By default, weights are equal, except for metrics whose
            mean is weighted, such as ``gauc``.
        clusters : mapping, sequence or column of a frame, optional
            The cluster of each query, by its id or in the order of `Evaluation.query_ids` of the first run. Queries of
            one cluster are not independent of each other (those of one user, variants of one topic), so they share one
            sign. By default, each query has a separate sign.
        queries : {"same", "common"}, default "same"
            ``"same"``: an error if runs have different queries; ``"common"``: test the queries that all runs have.
        threads : int, default 1
            How many threads may share the work, from 1 to 256.

        Returns
        -------
        Tests
            A mapping from (metric, run, baseline) to a `Difference`; printed, a table with verdicts and notes.

        Raises
        ------
        ValueError
            If there is only one run or only one cluster, or fewer than 2 queries; if runs have different queries, or
            one has a value (not NaN) where another has none; if a run, metric or option is unknown or out of range; if
            a baseline cannot lose more than the margin; if there are too few flips for the level; if
            ``method="exact"`` and too many queries differ; if ``method="t"`` and there are weights or clusters; if a
            query has no weight or no cluster; or if one family spans metrics that weigh queries differently.
        TypeError
            If an option that must be a number is not one, or `weights` or `clusters` do not have one value per query.
        ImportError
            If ``method="t"`` and SciPy is not installed.

        See Also
        --------
        Comparison.groups : The differences in groups of queries.
        Comparison.queries_needed : How many queries a difference of some size needs.
        Comparison.best : The best mean, without a test.

        Notes
        -----
        Let S be the sum of the differences d of the n queries, F_b the sum of the K_b differences that flip b flips,
        and T_b = S − 2 F_b. Then ``p = (1 + #{b : |T_b| ≥ |S|}) / (flips + 1)``. The ends of the interval are order
        statistics of the means F_b / K_b and (S − F_b) / (n − K_b) (Hartigan 1969). Values are rounded to a fine grid
        on which sums are integers below 2^53, so equal sums compare equal, and the bits do not depend on the order of
        additions. With weights, each d is multiplied by its weight, K_b is the total weight of the flipped queries, and
        n is that of all queries. A cluster counts as one difference, the sum of the differences of its queries, with
        their total weight.

        The margin is tested by the same flips, and once more with an added query, and the larger p counts. The loss of
        that query is z² times the largest possible difference, where z is the share of queries that do not differ, or
        the largest loss observed if that is larger. If no query differs, p is (1 − margin)^n, where the margin is a
        share of the largest possible difference. Flips alone would overlook rare failures that the sample does not
        contain. The added query cannot make up for all of them; if the sample can miss failures that exceed the margin,
        the verdict says so.

        The interval applies to other queries like these, with this collection and these judgments. It does not apply to
        models that are trained again with other seeds.

        Random flips need 8 · flips · (runs + 1) bytes, however many pairs there are. Metrics are tested one after
        another; with ``family="all"``, this memory is needed for all metrics at once. In addition, the values of a
        metric are copied about three times.

        The test is exact if differences are symmetric about their mean. Otherwise it is approximate, and improves with
        the number of queries. Some methods are left out on purpose. The Wilcoxon and sign tests test medians and, if
        differences are skewed, reject true hypotheses about means ever more often as queries are added. Bootstrap tests
        reject too often with fewer than about 50 queries. One-sided tests are replaced by `margin`. Stars and relative
        improvements say less than a p-value and an interval.

        References
        ----------
        Smucker, Allan & Carterette, A comparison of statistical significance tests for information retrieval
        evaluation, CIKM 2007. Boytsov, Belova & Westfall, Deciding on an adjustment for multiplicity in IR experiments,
        SIGIR 2013. Phipson & Smyth, Permutation p-values should never be zero, 2010.

        Examples
        --------
        >>> import rankgain as rg
        >>> queries = 12
        >>> runs = {
        ...     "bm25": rg.from_ranked([[0, 1, 1]] * queries),
        ...     "dense": rg.from_ranked([[1, 0, 1]] * (queries - 1) + [[0, 0, 1]]),
        ... }
        >>> tests = rg.compare(runs, metrics=["rr"]).test(baseline="bm25")
        >>> print(tests["rr", "dense", "bm25"].verdict())
        rr: dense is better than bm25 by +... (95% +... to +0.5000).
        """
        from rankgain.comparison.outcome import Tests
        from rankgain.comparison.testing import (
            Options,
            check,
            check_baselines,
            chosen_metrics,
            compute,
        )  # imported only here, since most comparisons are not tested

        tested = chosen_metrics(metrics, self.metrics)
        baselines = check_baselines(list(self), baseline)
        given = (baselines, tested, method, correction, family, intervals, level, margin, flips, seed, queries, threads)
        options = check(list(self), Options(*given))
        differences, aligned = compute(self, options, weights, clusters)
        coverage = coverage_of(self, aligned.lacks)
        aligned = aligned._replace(lacks={name: each.lacks for name, each in coverage.items()})
        tests = Tests(differences, aligned, options, self._evidence, missing_queries(self), coverage)
        tests.of_input = [*(remark for remark in assumptions(self) if remark != AS_GIVEN), *shares_judged(self)]
        return tests

    def groups(
        self,
        by: Any,
        baseline: str | Iterable[str] | None = None,
        *,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        level: float = 0.95,
        flips: int = 99_999,
        seed: int = 0,
        weights: Any = None,
        clusters: Any = None,
        queries: TestedQueries = "same",
        threads: int = 1,
    ) -> Groups:
        """Test the difference in each group of queries, and whether the groups differ from each other.

        The difference over all queries is the weighted mean of the differences in the groups. It can hide that one
        group accounts for it, that a group differs in the opposite direction, or that the mean of the groups' means (as
        data sets are often averaged) has the opposite sign.

        Parameters
        ----------
        by : mapping, sequence or column of a frame
            The group of each query: by its id, or in the order of `Evaluation.query_ids` of the first run. If it is a
            column, its name is the name of the grouping.
        baseline : str or iterable of str, optional
            The runs with which the others are compared, as in `test`.
        metrics : str, Metric or iterable of them, optional
            Some of the metrics that were evaluated. By default, all of them.
        level, flips, seed, weights, clusters : optional, with the defaults of `test`
            As in `test`; the seed is also that of the permutations of labels.
        queries : {"same", "common"}, default "same"
            As in `test`.
        threads : int, default 1
            As in `test`.

        Returns
        -------
        Groups
            Printed, a table per metric and pair, and whether the groups differ (see `Groups.differ_p`). p is not
            corrected for the number of groups.

        Raises
        ------
        ValueError
            If a query has no group (None and NaN do not count as groups), the number of labels is not that of the
            queries, all queries of a group are in one cluster, or `test` would raise it.
        TypeError
            If `by` does not contain labels, or `test` would raise it.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {
        ...     "bm25": rg.from_ranked([[1, 0]] * 8 + [[0, 0, 1]] * 8),
        ...     "dense": rg.from_ranked([[0, 1]] * 8 + [[0, 1, 0]] * 8),
        ... }
        >>> print(rg.compare(runs, metrics=["rr"]).groups(["keyword"] * 8 + ["question"] * 8, "bm25"))
        dense compared with bm25, rr, by group
        <BLANKLINE>
        group          queries  difference        95% interval       p
        -------------  -------  ----------  ------------------  ------
        keyword              8     -0.5000  -0.5000 to -0.5000  0.0078
        question             8     +0.1667  +0.1667 to +0.1667  0.0078
        mean of means              -0.1667  -0.3519 to +0.0185  0.0929
        all                 16     -0.1667  -0.3519 to +0.0185  0.0929
        <BLANKLINE>
        The groups differ (p = 0.0004): one mean over all of them hides that dense is better than bm25 for question.
        ...
        """
        from rankgain.comparison.groups import Groups
        from rankgain.results.labels import labels_of

        first = next(iter(self.values())).query_ids
        name, labels = labels_of(by, first, "by", "group")
        overall = self.test(
            baseline,
            metrics=metrics,
            correction=None,
            level=level,
            flips=flips,
            seed=seed,
            weights=weights,
            clusters=clusters,
            queries=queries,
            threads=threads,
        )
        return Groups(overall, name, dict(zip(first, labels, strict=True)))

    def per_query(self, metric: str | Metric, run: str, baseline: str) -> list[tuple[Any, float]]:
        """Return the difference between two runs for each query, highest difference first.

        Parameters
        ----------
        metric, run, baseline : str
            A metric that was evaluated, as requested (it may be a Metric), and the names of two runs.

        Returns
        -------
        list of tuple
            The id of each query, and the value of the run minus that of the baseline. Queries without a value (NaN) in
            either run are left out.

        Raises
        ------
        KeyError
            If the metric was not evaluated, or a run is unknown.
        ValueError
            If the two runs have different queries, or only one of them has a value (not NaN) for a query.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1], [1, 0]]), "b": rg.from_ranked([[1, 0], [1, 0]])}
        >>> rg.compare(runs, metrics="rr").per_query("rr", "b", "a")
        [(0, 0.5), (1, 0.0)]
        """
        from rankgain.comparison.aligned import align

        chosen = {name: self[name] for name in (baseline, run)}
        return align(chosen, [stored_key(metric, self.metrics)], "same").samples[metric].ranked(run, baseline)

    def report(
        self,
        path: str | os.PathLike[str],
        tests: Tests | None = None,
        *,
        groups: Groups | None = None,
        gate: Gate | None = None,
        title: str | None = None,
        qrels: str | None = None,
    ) -> None:
        """Write a self-contained HTML page with verdicts, tables, pictures, definitions and versions.

        The page needs no network, fits narrow screens, and can be printed. If the runs have document ids (which runs
        from TREC files do not), it also shows what each run ranked first for the queries that differ most. The file is
        written whole or not at all.

        Parameters
        ----------
        path : str or path
            The file to write.
        tests : Tests, optional
            What `test` returned. By default, what it returns without options.
        groups : Groups, optional
            What `groups` returned. By default, none are shown.
        gate : Gate, optional
            What `Tests.gate` returned; its verdict and reasons stand at the top. By default, there are none.
        title : str, optional
            The title of the page. By default, the names or the number of the runs compared.
        qrels : str, optional
            The name of the judgments, for the page. By default, none.

        Raises
        ------
        ImportError
            If Jinja2 is not installed: ``pip install 'rankgain[report]'``.
        ValueError
            If `tests` is not given and `test` would raise it, or if `tests` are those of corrected values.
        OSError
            If the file cannot be written whole.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").report("report.html")  # doctest: +SKIP
        """
        from rankgain.comparison.report import page_of

        page = page_of(self.test() if tests is None else tests, groups, self, self._evidence, title, qrels, gate=gate)
        write_whole(os.fspath(path), page.encode("utf-8"))

    def corrected_by(self, human: Any, *, names: tuple[str, str] = ("human", "llm"), level: float = 0.95) -> Corrected:
        """Correct the means by the judgments of people for some of the queries: prediction-powered inference (PPI).

        The runs were judged for all queries by a cheap judge, such as a language model (LLM-as-a-judge), and for a
        random sample of the queries by a better one. The result estimates the means that the better judge would give
        over all queries. It is about as precise as more human judgments would be if the judges agree on which queries
        are hard, and hardly less precise than human judgments alone if they do not.

        Parameters
        ----------
        human : truth or Comparison
            The judgments of people, in any form that `judgments` accepts or returns, for at least 10 of the queries: a
            random sample, with all documents that the runs return. Or the Comparison of the same runs by them, which is
            needed if the runs were Rankings or Evaluations.
        names : tuple of str, default ("human", "llm")
            How the output names the judge of few queries and the judge of all.
        level : float, default 0.95
            The level of confidence intervals; differences are decided at 1 − level.

        Returns
        -------
        Corrected
            The corrected means, with `Corrected.test` for the differences.

        Raises
        ------
        ValueError
            If fewer than 10 queries have judgments and values by both; if a query with human judgments is not judged by
            the other judge; if the Comparison has other runs or metrics; if a metric is not an unweighted mean, or has
            no upper bound; if people judged less of what a run returns by a tenth or more; if unjudged documents were
            removed from the runs; if `names` are not two different texts or `level` is not between 0 and 1; or if
            `compare` would raise it.
        TypeError
            If judgments are given, and the runs were Rankings or Evaluations or were pickled; if `names` is of another
            type; or if `compare` would raise it.

        See Also
        --------
        agreement : Whether the two judges agree.
        changes : Its `to_judge` lists the documents to judge next.

        Notes
        -----
        For each run, the corrected value of a labelled query is v = h + λ·(L − l) + (n/N)·λ̄·Σ(l' − L): h and l are its
        values by the two judges, L the second judge's mean of all N queries, and λ the least-squares slope of h on l
        over the other labelled queries, cut to 0 … 1, with the mean λ̄. The sum is over the query and its share of the
        queries without labels, which are assigned to the n labelled ones at random (always the same way). The mean of
        v is the estimate; the last term has the mean 0, and gives v the spread of the estimate. This is the regression
        estimator of survey sampling, and PPI++ without its bias in the slope. The interval is that of Student's t, also
        with one query more at v̄ ± the larger of λ̄·(share of queries with h = l)² and (share of the commonest h −
        λ̄l)², times the range of the metric.

        References
        ----------
        Cochran, Sampling techniques, 1977, chapter 7. Angelopoulos, Duchi & Zrnic, PPI++: efficient prediction-powered
        inference, 2023 (arXiv:2311.01453). Oosterhuis et al., Reliable confidence intervals for information retrieval
        evaluation using generative AI, KDD 2024 (arXiv:2407.02464).

        Examples
        --------
        >>> import rankgain as rg
        >>> llm = {f"q{i:02}": {"a": 1, "b": i % 4 // 3} for i in range(60)}
        >>> human = {f"q{i:02}": {"a": 1, "b": i % 5 // 4} for i in range(0, 60, 3)}
        >>> runs = {"bm25": {q: {"a": 1, "b": 2} for q in llm}, "dense": {q: {"a": 2, "b": 1} for q in llm}}
        >>> print(rg.compare(llm, runs, "precision@1").corrected_by(human))
        precision@1 as estimated for human judges: 20 of 60 queries have human judgments
        ...
        """
        # These are imported only here, since most comparisons are not corrected.
        from rankgain.comparison.corrected import Judged, check_correctable, corrected_by
        from rankgain.comparison.judged_pairs import check_names
        from rankgain.results.intervals import check_level

        names, level = check_names(names), check_level(level)
        check_correctable(self.metrics)
        if isinstance(human, Comparison):
            few = human
        elif self._again is not None:
            few = self._again(human)
        else:
            raise TypeError(
                "human: the runs of this comparison are not at hand, or include their judgments: give a Comparison of "
                f"the same runs, compare({names[0]}, runs, metrics)"
            )
        judges = Judged(names[0], few, few._evidence), Judged(names[1], self, self._evidence)
        return corrected_by(judges, level, coverage_of(self, {}))

    def queries_needed(
        self,
        metric: str | Metric,
        run: str,
        baseline: str,
        difference: float | None = None,
        *,
        margin: float | None = None,
        power: float = 0.8,
        level: float = 0.95,
        weights: Any = None,
        clusters: Any = None,
    ) -> int:
        """Compute the number of queries needed to detect a difference, or to show a margin, with these as a pilot.

        Parameters
        ----------
        metric, run, baseline : str
            A metric that was evaluated, as requested (it may be a Metric), and the names of two runs.
        difference : float, optional
            The smallest true difference that matters to you, of either sign. Do not use the observed difference, which
            would merely restate p.
        margin : float, optional
            Instead of a difference: the margin within which a change without any effect is to be shown, as in `test`.
        power : float, default 0.8
            The probability of detecting the difference, or of showing the margin, between 0 and 1.
        level, weights, clusters : optional, with the defaults of `test`
            As in `test`.

        Returns
        -------
        int
            The number of queries with weights like those of the pilot or, if there are clusters, the number of clusters
            as large as those of the pilot. It is at least the number that can show a difference at this level.

        Raises
        ------
        KeyError
            If the metric was not evaluated, or a run is unknown.
        ValueError
            If not exactly one of `difference` and `margin` is given, or if it is 0 or not finite; if there is a margin
            and the metric has no upper bound; if `power` or `level` is not between 0 and 1; or if `test` would raise
            it.
        TypeError
            If `difference`, `margin`, `power` or `level` is not a number.

        See Also
        --------
        Difference : Its field ``detectable`` is the difference that this number of queries detects.

        Notes
        -----
        For a difference, n = ((z_{1−α/2} + z_power) · sd / difference)² + z_{1−α/2}² / 2. For a margin, n is the
        smallest number with n·m − (e − m) − z_power·sd·√n ≥ z_{1−α/2}·√(n·(sd² + m²) + (e − m)²). Here, m is the margin
        and e is the loss of the query that the test of a margin adds, and all quantities are shares of the largest
        possible difference. If no query differs, n is the smallest number with (1 − m)^n ≤ α/2.

        The spread of a pilot is only an estimate: 95% of pilots of 20 queries give 0.47 to 1.73 times the number
        needed, and 95% of pilots of 50 queries give 0.64 to 1.43 times that number.

        Examples
        --------
        >>> import rankgain as rg
        >>> pilot = [[0, 1], [1, 0]] * 10, [[1, 0], [0, 1]] * 5 + [[1, 0]] * 10
        >>> runs = {"a": rg.from_ranked(pilot[0]), "b": rg.from_ranked(pilot[1])}
        >>> rg.compare(runs, metrics="rr").queries_needed("rr", "b", "a", difference=0.05)
        570
        >>> rg.compare(runs, metrics="rr").queries_needed("rr", "b", "a", margin=0.05)
        593
        """
        from rankgain.comparison.power import check_power, check_size, queries_needed
        from rankgain.comparison.testing import check_bounded, pilot_of
        from rankgain.results.intervals import check_level

        metric = stored_key(metric, self.metrics)
        if (difference is None) == (margin is None):
            raise ValueError("give either the difference to detect or the margin to show: difference=… or margin=…")
        name, given = ("margin", margin) if difference is None else ("difference", difference)
        size, share = check_size(given, name), check_power(power)
        alpha = 1.0 - check_level(level)
        if margin is not None:
            check_bounded(metric)
        chosen = Comparison({name: self[name] for name in (baseline, run)})
        tests = chosen.test(metrics=metric, flips=99, level=0.9, margin=margin, weights=weights, clusters=clusters)
        pilot = pilot_of(tests, metric)
        if margin is not None:
            return pilot.queries_needed(size, alpha, share)
        return queries_needed(pilot.sd, size, alpha, share, pilot.uneven)


def coverage_of(runs: Comparison, lacks: Mapping[str, Sequence[Any]]) -> dict[str, Coverage]:
    """Return which queries each run answers.

    `lacks`: for each run, the queries that are not tested since it lacks them.
    """
    from rankgain.comparison.absent import Coverage

    absent = {name: [*runs._lacks.get(name, ()), *lacks.get(name, ())] for name in runs}
    return {
        name: Coverage(absent[name], result.counts.get("missing"), result.missing, runs._empty.get(name))
        for name, result in runs.items()
    }


def same_queries(runs: Comparison) -> bool:
    """Return whether the runs were evaluated on the same queries, in any order, so that their means are comparable."""
    first, *others = (result.query_ids for result in runs.values())
    return all(ids == first or set(ids) == set(first) for ids in others)


def legend(runs: Comparison) -> list[str]:
    """Return lines that explain the marks of a table, or why there are none, and count the queries left out."""
    if len(runs) == 1:
        return []
    left_out = count_lacked(runs._lacks)
    return [
        STAR if same_queries(runs) else "no best is marked: the runs answered different queries",
        *([f"left out, since not all runs have them: {counted(left_out, 'query')}"] if left_out else []),
    ]


def comparison_of(
    evaluations: Mapping[str, Evaluation],
    evidence: Mapping[str, Evidence],
    lacks: Mapping[str, Sequence[Any]] | None = None,
    again: Callable[[Any], Comparison] | None = None,
) -> Comparison:
    """Return a Comparison with what warnings about unjudged documents and ties need of each run.

    `lacks`: for each run, the queries that it lacks and that were therefore left out. `again`: evaluates the same runs
    with other judgments.
    """
    comparison = Comparison(evaluations)
    comparison._evidence, comparison._lacks, comparison._again = dict(evidence), lacks or {}, again
    return comparison
