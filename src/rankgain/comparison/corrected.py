"""Means and differences of a cheap judge, corrected by few judgments of a better one (prediction-powered inference)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.choices import Correction
from rankgain.comparison.absent import Coverage
from rankgain.comparison.aligned import Sample, align
from rankgain.comparison.corrected_tests import INVALID, METHOD, CorrectedTests, Labelled, assumed, judges_of, refuse
from rankgain.comparison.difference import percent
from rankgain.comparison.estimates import LEAST_LABELLED, Estimate, estimated
from rankgain.comparison.evidence import WITHOUT_UNJUDGED, Evidence, shares_of
from rankgain.comparison.outcome import Tests
from rankgain.comparison.power import POWER, check_power, check_size, fewest_signs, quantile
from rankgain.comparison.remarks import NOTABLE
from rankgain.comparison.testing import MAX_T, Options, check, check_baselines, chosen_metrics
from rankgain.data.judgments import types
from rankgain.errors import counted, quoted
from rankgain.metrics.aggregators import mean
from rankgain.metrics.metric import Metric, MetricKey, Score, aggregator, is_share, stored_key
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import Frames
from rankgain.results.intervals import is_bounded
from rankgain.results.text import Block, Form, Number, Printed, Table, printable
from rankgain.scalars import Floats

LACKING = 0.1  # from this lack of judged documents on, no correction is made


class CorrectedMean(NamedTuple):
    """The mean of a run in one metric, as estimated for the judge of few queries.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    run : str
        The name of the run.
    llm, human : float
        The mean over all queries by the judge of all, and that over the labelled queries by the judge of few.
    corrected, low, high : float
        The estimate, and its confidence interval. The estimate may lie beyond the bounds of the metric.
    slope : float
        How much one point by the judge of all counts, from 0 to 1.
    correlation : float
        The correlation of the two judges' values for the labelled queries; NaN if either is constant.
    judged_llm, judged_human : float
        The share of returned documents that each has judged for the labelled queries; NaN if unknown.
    """

    metric: str | Metric
    run: str
    llm: float
    human: float
    corrected: float
    low: float
    high: float
    slope: float
    correlation: float
    judged_llm: float
    judged_human: float


class Corrected(Frames, Printed):
    """Means by a judge of all queries, corrected by a judge of few: prediction-powered inference (PPI).

    Computed by `Comparison.corrected_by`. Printed, it is a table for each metric: the mean of each run by either judge
    alone, the corrected mean, and its confidence interval.

    Attributes
    ----------
    names : tuple of str
        The names of the judge of few queries and of the judge of all.
    runs : list of str
        The names of the runs.
    metrics : list of str or Metric
        The metrics, as requested.
    labelled, queries : int
        How many queries are judged by both, and how many by the judge of all. If these differ between metrics, the
        largest numbers.
    level : float
        The level of the confidence intervals.
    means : list of CorrectedMean
        The mean of each run in each metric.

    See Also
    --------
    Comparison.corrected_by : Computes it.
    agreement : Whether the two judges agree at all.

    Examples
    --------
    >>> import rankgain as rg
    >>> llm = {f"q{i}": {"a": i % 3 % 2, "b": 1} for i in range(40)}
    >>> human = {f"q{i}": {"a": i % 3 % 2, "b": i % 2} for i in range(0, 40, 3)}
    >>> runs = {"up": {q: {"a": 2, "b": 1} for q in llm}, "down": {q: {"a": 1, "b": 2} for q in llm}}
    >>> corrected = rg.compare(llm, runs, "precision@1").corrected_by(human)
    >>> [f"{each.run}: {each.llm:.2f}, {each.human:.2f}, {each.corrected:.2f}" for each in corrected.means]
    ['up: 0.33, 0.00, 0.00', 'down: 1.00, 0.50, 0.50']
    """

    __module__ = "rankgain"

    def __init__(
        self,
        estimates: Mapping[MetricKey, Estimate],
        labelled: Labelled,
        level: float,
        evidence: Mapping[str, Evidence],
        coverage: Mapping[str, Coverage],
        query_ids: Sequence[Any],
    ) -> None:
        self._estimates = dict(estimates)
        self._labelled = labelled
        self._evidence = evidence
        self._coverage = coverage
        self._query_ids = query_ids
        self.names = labelled.names
        self.level = level
        first = next(iter(self._estimates.values()))
        self.runs = first.runs
        self.metrics = list(self._estimates)
        self.labelled = max(each.labelled for each in self._estimates.values())
        self.queries = max(each.queries for each in self._estimates.values())
        self.means = [mean for each in self._estimates.values() for mean in self._means(each)]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the rankings."""
        return vars(self) | {"_evidence": {}}

    def _means(self, estimate: Estimate) -> Iterator[CorrectedMean]:
        metric = estimate.metric
        for number, run in enumerate(estimate.runs):
            _, first, second = self._labelled.shares.get((metric, run), (None, math.nan, math.nan))
            columns = estimate.every, estimate.first, estimate.values
            llm, human, corrected = (mean(np.ascontiguousarray(column[:, number])) for column in columns)
            low, high = estimate.interval(number, self.level)
            slope, correlation = float(estimate.slopes[number]), estimate.correlation(number)
            yield CorrectedMean(metric, run, llm, human, corrected, low, high, slope, correlation, second, first)

    def test(
        self,
        baseline: str | Iterable[str] | None = None,
        *,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        correction: Correction | None = MAX_T,
        flips: int = 99_999,
        seed: int = 0,
        threads: int = 1,
        **invalid: Any,
    ) -> Tests:
        """Test which run is better as estimated for the judge of few queries, and by how much.

        Parameters
        ----------
        baseline : str or iterable of str, optional
            The runs with which the others are compared, as in `Comparison.test`.
        metrics : str, Metric or iterable of them, optional
            Some of the metrics. By default, all of them.
        correction : {"max-t", "holm", "bh"} or None, default "max-t"
            How p is corrected for several comparisons, as in `Comparison.test`.
        flips, seed, threads : optional, with the defaults of `Comparison.test`
            As in `Comparison.test`.
        **invalid : never
            Other options of `Comparison.test`, such as `margin`, are not valid on corrected values.

        Returns
        -------
        Tests
            The differences. ``better``, ``same`` and ``worse`` count all queries, by the judge of few where it sees a
            difference, otherwise by the judge of all; ``differing`` counts the labelled queries on which either judge
            sees one. `Tests.gate` takes `strict`, `floors` and `max_drop`.

        Raises
        ------
        ValueError
            If an option is given that is not valid on corrected values, or `Comparison.test` would raise it.
        TypeError
            If an option is unknown, or `Comparison.test` would raise it.

        Notes
        -----
        Sign flips of the corrected values, of which no two are equal. So the test is made again with one query more,
        whose difference is the mean less z² times the largest possible difference; z is the share of labelled queries
        on which neither judge sees a difference. The larger p counts, and the interval contains those with one query
        more on either side. If c labelled queries differ, p is at least 2^(1 − c).

        Examples
        --------
        >>> import rankgain as rg
        >>> llm = {f"q{i}": {"a": 1, "b": i % 4 // 3} for i in range(60)}
        >>> human = {f"q{i}": {"a": 1, "b": i % 5 // 4} for i in range(0, 60, 3)}
        >>> runs = {"b first": {q: {"a": 1, "b": 2} for q in llm}, "a first": {q: {"a": 2, "b": 1} for q in llm}}
        >>> corrected = rg.compare(llm, runs, "precision@1").corrected_by(human)
        >>> print(corrected.test()["precision@1", "a first", "b first"].verdict())
        precision@1: a first is better than b first by +0.8050 (95% +0.6033 to +1.0000).
        """
        for name in invalid:
            if name in INVALID:
                refuse(name)
            raise TypeError(f"test() got an unexpected keyword argument {name!r}")
        chosen = chosen_metrics(metrics, self.metrics)
        given = Options(
            baseline=check_baselines(self.runs, baseline),
            metrics=chosen,
            method="randomization",
            correction=correction,
            family="metric",
            intervals="single",
            level=self.level,
            margin=None,
            flips=flips,
            seed=seed,
            queries="same",
            threads=threads,
        )
        options = check(self.runs, given)
        return CorrectedTests(self._estimates, options, self._evidence, self._coverage, self._labelled, self._query_ids)

    def queries_needed(
        self, metric: str | Metric, run: str, baseline: str, difference: float, *, power: float = POWER
    ) -> int:
        """Compute the number of labelled queries needed to detect a difference, with these as a pilot.

        Parameters
        ----------
        metric, run, baseline : str
            A metric that was evaluated, as requested (it may be a Metric), and the names of two runs.
        difference : float
            The smallest true difference that matters to you, of either sign.
        power : float, default 0.8
            The probability of detecting the difference, between 0 and 1.

        Returns
        -------
        int
            The number of queries to be judged by the judge of few, a random sample of those of the judge of all. If
            there are not so many, the latter must judge more, too.

        Raises
        ------
        KeyError
            If the metric was not evaluated, or a run is unknown.
        ValueError
            If the queries of the judge of all are too few, however many of them are labelled; if the difference is 0 or
            not finite; or if `power` is not between 0 and 1.
        TypeError
            If `difference` or `power` is not a number.

        Notes
        -----
        n = var(h − λl) / ((difference / (z_{1−α/2} + z_power))² − var(λl) / N), of the differences between the runs; h
        and l are the values by the two judges, λ the slope of each run, and N the number of all queries. Where few
        queries differ, more are needed.

        Examples
        --------
        >>> import rankgain as rg
        >>> llm = {f"q{i}": {"a": 1, "b": i % 4 // 3} for i in range(60)}
        >>> human = {f"q{i}": {"a": 1, "b": i % 5 // 4} for i in range(0, 60, 3)}
        >>> runs = {"b first": {q: {"a": 1, "b": 2} for q in llm}, "a first": {q: {"a": 2, "b": 1} for q in llm}}
        >>> corrected = rg.compare(llm, runs, "precision@1").corrected_by(human)
        >>> corrected.queries_needed("precision@1", "a first", "b first", 0.2)
        34
        """
        key = stored_key(metric, self.metrics)
        for name in (run, baseline):
            if name not in self.runs:
                raise KeyError(f"unknown run {name!r}; there are: {', '.join(self.runs)}")
        size, share = check_size(difference, "difference"), check_power(power)
        estimate, alpha = self._estimates[key], 1.0 - self.level
        first, second, every = estimate.of_difference(run, baseline)
        room = (size / (quantile(1 - alpha / 2) + quantile(share))) ** 2 - float(every.var(ddof=1)) / len(every)
        if room <= 0.0:
            raise ValueError(
                f"difference: not with {len(every)} queries judged by {printable(self.names[1])}: their own spread is "
                "too large"
            )
        return max(math.ceil(float((first - second).var(ddof=1)) / room), fewest_signs(alpha), LEAST_LABELLED)

    def methods(self) -> str:
        """Describe the method for a paper: the numbers of queries, the estimator, the intervals and the version.

        Returns
        -------
        str
            One line.

        Examples
        --------
        >>> import rankgain as rg
        >>> llm = {f"q{i}": {"a": i % 2} for i in range(20)}
        >>> runs = {"a": {q: {"a": 1} for q in llm}}
        >>> print(rg.compare(llm, runs, "rr").corrected_by({q: llm[q] for q in list(llm)[:10]}).methods())
        Means as estimated for human judges from 10 of 20 queries: prediction-powered (...); 95% intervals by ...
        """
        queries = f"{self.labelled} of {self.queries} queries"
        return (
            f"Means as estimated for {judges_of(self.names[0])[0]} from {queries}: {METHOD}; {percent(self.level)} "
            f"intervals by Student's t, also with one query more; rankgain {_backend.VERSION}."
        )

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns for a data frame as a dict, with one row per metric and run.

        Returns
        -------
        dict of str to sequence
            The fields of `CorrectedMean`; metrics are given as text.

        Examples
        --------
        >>> import rankgain as rg
        >>> llm = {f"q{i}": {"a": i % 2} for i in range(20)}
        >>> corrected = rg.compare(llm, {"a": {q: {"a": 1} for q in llm}}, "rr").corrected_by(llm)
        >>> corrected.columns()["corrected"].tolist()
        [0.5]
        """
        numbers = {name: np.array([getattr(each, name) for each in self.means]) for name in CorrectedMean._fields[2:]}
        return {
            "metric": [str(each.metric) for each in self.means],
            "run": [each.run for each in self.means],
            **numbers,
        }

    def _tables(self, form: Form) -> Iterator[Block]:
        for metric, estimate in self._estimates.items():
            yield [self._title(metric, estimate)]
            yield self._table(metric, estimate)
            weights = [] if estimate.is_complete else [self._weights(estimate)]
            caveat = self._labelled.caveat(metric, self.runs)
            yield [*weights, *([caveat] if caveat else [])]
        yield [*assumed(list(self._estimates.values()), self.names)]

    def _title(self, metric: MetricKey, estimate: Estimate) -> str:
        judges, judgments = judges_of(self.names[0])
        if estimate.is_complete:
            return f"{metric!s} by {judges}: all {estimate.queries} queries have {judgments}"
        number = f"{estimate.labelled} of {estimate.queries} queries"
        return f"{metric!s} as estimated for {judges}: {number} have {judgments}"

    def _table(self, metric: MetricKey, estimate: Estimate) -> Table:
        one, other = self.names
        of_metric = [each for each in self.means if each.metric == metric]
        lacking = any(self._labelled.lack(metric, run) >= NOTABLE for run in self.runs)
        head = ["run", f"{other} alone", f"{one} alone", "corrected", f"{percent(self.level)} interval"]
        rows: list[list[object]] = [[*head, *([f"judged by {one}", f"by {other}"] if lacking else [])]]
        for each in of_metric:
            numbers = [(each.llm,), (each.human,), (each.corrected,), (each.low, each.high)]
            shares = [f"{share:.2f}" for share in (each.judged_human, each.judged_llm)] if lacking else []
            rows.append([each.run, *(Number(values, share=is_share(metric)) for values in numbers), *shares])
        return Table(rows, [])

    def _weights(self, estimate: Estimate) -> str:
        each = [f"{printable(run)} {slope:.2f}" for run, slope in zip(self.runs, estimate.slopes.tolist(), strict=True)]
        average = f"{float(estimate.slopes.mean()):.2f}"
        listed = f"{average} ({', '.join(each)})" if len(each) > 1 else average
        return f"One point by {printable(self.names[1])} counts {listed}."


class Judged(NamedTuple):
    """The same runs, evaluated by one judge.

    `evidence`: the runs that may be evaluated with other metrics.
    """

    judge: str
    evaluations: Mapping[str, Evaluation]
    evidence: Mapping[str, Evidence]

    @property
    def metrics(self) -> list[MetricKey]:
        return [*next(iter(self.evaluations.values()))]

    def known_values(self, run: str, metric: Metric, query_ids: Sequence[Any]) -> Floats | None:
        """Return the values of a metric for some queries, even if it was not requested; None if it is unknown."""
        result = self.evaluations[run]
        if metric not in result:
            if run not in self.evidence:
                return None
            result = self.evidence[run].evaluation(metric)
        return result.subset(query_ids)[metric]


def corrected_by(judges: tuple[Judged, Judged], level: float, coverage: Mapping[str, Coverage]) -> Corrected:
    """Correct the values by a judge of all queries, the second, by those of a judge of few."""
    few, llm = judges
    _check_same(few, llm)
    labelled, every = (align(each.evaluations, llm.metrics, "same") for each in (few, llm))
    names = few.judge, llm.judge
    _check_queries(labelled.query_ids, every.query_ids, names)
    estimates = {
        metric: _estimate(metric, labelled.samples[metric], every.samples[metric], {*labelled.query_ids}, names)
        for metric in llm.metrics
    }
    shares = dict(_shares(estimates.values(), few, llm))
    judged = Labelled(names, shares)
    for metric, run in shares:
        if judged.lack(metric, run) >= LACKING:
            _refuse_partial(judged, metric, run)
    return Corrected(estimates, judged, level, llm.evidence, coverage, labelled.query_ids)


def check_correctable(metrics: Iterable[MetricKey]) -> None:
    """Raise ValueError if the mean of a metric cannot be corrected."""
    for metric in metrics:
        if isinstance(metric, Score):
            raise ValueError(f"{metric!s} was computed elsewhere, so its bounds, which a correction needs, are unknown")
        if aggregator(metric) is not mean:
            raise ValueError(f"{metric!s} is not the mean over queries, and only means can be corrected: leave it out")
        if not is_bounded(metric):
            raise ValueError(f"{metric!s} has no upper bound, which a correction needs: leave it out")


def _check_same(few: Judged, llm: Judged) -> None:
    """Raise ValueError if the runs or metrics of the judges differ."""
    for has, lacks in ((few, llm), (llm, few)):
        sides = ("run", [*has.evaluations], [*lacks.evaluations]), ("metric", has.metrics, lacks.metrics)
        for kind, there, known in sides:
            extra = [each for each in there if each not in known]
            if extra:
                raise ValueError(
                    f"human: the {kind} {quoted(str(extra[0]))} is evaluated by {has.judge} and not by {lacks.judge}: "
                    "compare the same runs with the same metrics"
                )


def _check_queries(labelled: Sequence[Any], every: Sequence[Any], names: tuple[str, str]) -> None:
    one, other = names
    known = {*every}
    absent = [query for query in labelled if query not in known]
    if absent:
        reason = types(labelled, every, names) if len(absent) == len(labelled) else ""
        raise ValueError(
            f"human: {counted(len(absent), 'query')} judged by {one} {'is' if len(absent) == 1 else 'are'} not judged "
            f"by {other} (first: {quoted(absent[0])}){reason and ': ' + reason}"
        )


def _estimate(metric: MetricKey, first: Sample, second: Sample, labelled: set[Any], names: tuple[str, str]) -> Estimate:
    """Correct the values of a metric. A query without a value (NaN) by either judge is left out for both."""
    if second.weights is not None or first.weights is not None:
        raise ValueError(f"{metric!s} weighs queries, and only unweighted means can be corrected: leave it out")
    has_first = {*first.query_ids}
    second = second.only(np.array([query in has_first or query not in labelled for query in second.query_ids], bool))
    row_of = {query: row for row, query in enumerate(second.query_ids)}
    first = first.only(np.array([query in row_of for query in first.query_ids], bool))
    if len(first.values) < LEAST_LABELLED:
        raise ValueError(
            f"human: {counted(len(first.values), 'query')} judged by both {names[0]} and {names[1]} "
            f"{'has' if len(first.values) == 1 else 'have'} a value of {metric!s}, and a correction needs "
            f"{LEAST_LABELLED}: judge more, or compare by {names[0]} alone"
        )
    rows = np.array([row_of[query] for query in first.query_ids], dtype=np.int64)
    return estimated(metric, first, second, rows, first.query_ids, second.values)


def _shares(
    estimates: Iterable[Estimate], few: Judged, llm: Judged
) -> Iterator[tuple[tuple[MetricKey, str], tuple[Metric, float, float]]]:
    """Yield how much of what each run returns is judged, for the metrics that depend on it, where this is known."""
    for estimate in estimates:
        if estimate.record.name in WITHOUT_UNJUDGED:
            continue
        share = shares_of(estimate.record)[0]
        for run in estimate.runs:
            first, second = (each.known_values(run, share, estimate.query_ids) for each in (few, llm))
            if first is not None and second is not None:
                yield (estimate.metric, run), (share, mean(first), mean(second))


def _refuse_partial(judged: Labelled, metric: MetricKey, run: str) -> None:
    """Raise ValueError because documents are judged by the judge of all queries only."""
    share, _, _ = judged.shares[metric, run]
    one, other = judged.names
    k = "" if share.k is None else f", k={share.k}"
    raise ValueError(
        f"human: {judged.statement(metric, run)}, for the labelled queries, so {one} has not judged what {other} has: "
        f"judge the documents of changes(another run, {run!r}{k}, truth={one}).to_judge() first, and give documents "
        "that are not relevant the grade 0"
    )
