"""Decide whether a change may be merged, from the runs before and after the change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rankgain.comparison.difference import Difference, alpha_of, decimals_of, ends_of, has_interval, p_phrase, percent
from rankgain.comparison.power import POWER, queries_needed
from rankgain.comparison.testing import Options, Tested, aligned_of, differences_of, sample_of
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.metric import Metric, MetricKey, aggregator, better, is_share
from rankgain.results.export import finite_or_none
from rankgain.results.intervals import is_bounded
from rankgain.results.text import Block, Form, Number, Printed, Table, printable, signed
from rankgain.scalars import check_number, check_whole

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
WORST = 10  # the number of queries that are listed per metric by default
MOST_WORST = 10_000
# How often a gate fails if a change has no effect, in simulations at level 0.95 with 50 queries and correlated metrics.
FALSE_FAILURES = "2.6% with 1 metric, 5.1% with 3, 6.9% with 6"


class Loss(NamedTuple):
    """A query for which a metric became worse.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    query : object
        The id of the query.
    before, after, difference : float
        The values of the baseline and of the new run, and the second minus the first.

    See Also
    --------
    Gate : Lists the largest losses of each metric.
    """

    metric: str | Metric
    query: Any
    before: float
    after: float
    difference: float


class Gate(Printed):
    """The outcome of a gate, as returned by `Tests.gate`.

    Printed, it is one line per reason, and the largest losses.

    Attributes
    ----------
    status : {"passed", "failed", "undecided"}
        ``"failed"`` if any metric fails; otherwise ``"undecided"`` if any metric is undecided.
    passed : bool
        Whether the change may be merged: False only if `status` is ``"failed"``.
    reasons : list of str
        One sentence per metric, query set or floor; those that fail come first.
    worst : list of Loss
        The queries with the largest losses of each metric, largest first.
    baseline, run : str
        The names of the run before and of the run after the change.
    differences : list of Difference
        The tests of the metrics, without correction.

    See Also
    --------
    Tests.gate : The rules of the gate.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}
    >>> gate = rg.compare(runs, metrics="rr").test().gate(worst=1)
    >>> gate.status
    'failed'
    >>> print(gate.reasons[0])
    rr: change is worse than main by 0.5000 (p = 0.0078): failed.
    """

    __module__ = "rankgain"

    def __init__(
        self,
        status: str,
        reasons: Sequence[str],
        worst: Sequence[Loss],
        differences: Sequence[Difference],
        floors: Mapping[MetricKey, float],
        margin: float | None,
    ) -> None:
        self.status = status
        self.reasons = list(reasons)
        self.worst = list(worst)
        self.differences = list(differences)
        self.floors = dict(floors)
        self.margin = margin
        self.run, self.baseline = differences[0].run, differences[0].baseline

    @property
    def passed(self) -> bool:
        """Whether the change may be merged. An undecided gate also passes.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().gate().passed
        True
        """
        return self.status != FAILED

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as a dict that can be written as JSON. NaN and infinities become None.

        Returns
        -------
        dict
            ``status``, ``baseline``, ``run``, ``margin``, ``floors`` by metric, ``reasons``, ``metrics`` (one dict per
            metric: means, difference, interval, p) and ``worst`` (one dict per loss).

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().gate(worst=1).to_dict()["worst"]
        [{'metric': 'rr', 'query': 0, 'before': 1.0, 'after': 0.5, 'difference': -0.5}]
        """
        fields = "mean", "baseline_mean", "difference", "low", "high", "p", "detectable", "better", "same", "worse"
        return {
            "status": self.status,
            "baseline": self.baseline,
            "run": self.run,
            "margin": self.margin,
            "floors": {str(metric): floor for metric, floor in self.floors.items()},
            "reasons": self.reasons,
            "metrics": [
                {"metric": str(pair.metric)} | {name: finite_or_none(getattr(pair, name)) for name in fields}
                for pair in self.differences
            ],
            "worst": [loss._asdict() | {"metric": str(loss.metric)} for loss in self.worst],
        }

    def verdict(self) -> str:
        """State the outcome in one line.

        Returns
        -------
        str
            The status and the runs.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().gate().verdict()
        'Gate passed: change compared with main.'
        """
        return f"Gate {self.status}: {printable(self.run)} compared with {printable(self.baseline)}."

    def _tables(self, form: Form) -> Iterator[Block]:
        yield [self.verdict()]
        yield self.reasons
        if self.worst:
            head = ["largest losses", "query", self.baseline, self.run, "difference"]
            rows = [[str(loss.metric), str(loss.query), *_numbers(loss)] for loss in self.worst]
            yield Table([head, *rows], names=2)
        alpha = 1.0 - self.differences[0].level
        rate = f"Without any effect, a metric fails in about {percent(alpha / 2)} of builds"
        measured = f" (measured: {FALSE_FAILURES})" if math.isclose(alpha, 0.05) else ""
        yield [f"{rate}{measured}."]


def _numbers(loss: Loss) -> list[object]:
    share = is_share(loss.metric)
    values = [Number((value,), share=share) for value in (loss.before, loss.after)]
    return [*values, Number((loss.difference,), signed=True, share=share)]


def judge(
    tests: Tested,
    lacking: Callable[[], Sequence[Any]],
    margin: float | None,
    strict: bool,
    floors: Mapping[MetricKey, float],
    worst: int,
) -> Gate:
    """Decide the outcome of a gate from the tests of one run against one baseline.

    `lacking`: a function that returns the queries for which the baseline returned documents and the run did not.
    """
    pairs = _single_pairs(tests, margin)
    limits = _checked_floors(floors, tests)
    count = check_whole(worst, "worst", 0, MOST_WORST)
    outcomes = [*_of_queries(pairs[0], lacking()), *_of_floors(pairs, limits)]
    outcomes += [_of_metric(pair, margin, strict) for pair in pairs]
    order = FAILED, UNDECIDED, PASSED
    outcomes.sort(key=lambda outcome: order.index(outcome[0]))
    losses = [loss for pair in pairs for loss in _losses(tests, pair, count)]
    return Gate(outcomes[0][0], [text for _, text in outcomes], losses, pairs, limits, margin)


def _single_pairs(tests: Tested, margin: float | None) -> list[Difference]:
    """Return the difference in each metric, tested without correction and with the margin of the gate."""
    if len(tests) != len(tests.options.metrics):
        raise ValueError(
            f"a gate compares one new run with one baseline, and {len(tests.runs)} runs were tested: "
            "compare(truth, {'main': …, 'change': …})"
        )
    check_metrics(tests.options.metrics, margin)
    options: Options = tests.options._replace(correction=None, margin=margin, family="metric")
    return list(differences_of(aligned_of(tests), options).values())


def check_metrics(metrics: Iterable[str | Metric], margin: float | None) -> None:
    """Raise ValueError if any of the metrics cannot decide a gate."""
    for metric in metrics:
        if not better(metric):
            raise ValueError(f"{metric!s} cannot decide a gate, since neither higher nor lower is better: leave it out")
        if margin is not None and not is_bounded(metric):
            raise ValueError(f"margin: {metric!s} has no upper bound, so no margin can be tested: leave either out")


Outcome = tuple[str, str]  # the status, and a sentence that explains it


def _of_metric(pair: Difference, margin: float | None, strict: bool) -> Outcome:
    """Return the outcome for one metric, from the test of the difference.

    The metric passes if no value changed. With a margin, it passes if the run is shown not to be worse by more than the
    margin. Without one, it passes if the run is shown to be better. It fails if the run is shown to be worse. Otherwise
    it is undecided, or fails if `strict`.
    """
    run, baseline = printable(pair.run), printable(pair.baseline)
    name = printable(str(pair.metric))
    if pair.same == pair.queries:
        return PASSED, f"{name}: no value changed; are the files the same?"
    gained = pair.difference * better(pair.metric)
    decimals = decimals_of(pair)
    size = f"{abs(pair.difference):.{decimals}f}"
    interval = f"{percent(pair.level)} interval {ends_of(pair)}, " if has_interval(pair) else ""
    p = p_phrase(pair.p)
    shown = f"{interval}{p}"
    if margin is not None and pair.not_worse:
        return PASSED, f"{name}: {run} is not worse than {baseline} by more than {short(margin)} ({shown})."
    if pair.decided and gained < 0:
        return FAILED, f"{name}: {run} is worse than {baseline} by {size} ({p}): failed."
    if pair.decided and gained > 0 and margin is None:
        return PASSED, f"{name}: {run} is better than {baseline} by {size} ({shown})."
    status = FAILED if strict else UNDECIDED
    text = f"{name}: undecided; {run} differs from {baseline} by {signed(pair.difference, decimals)} ({shown})."
    if margin is not None:
        text += f" It is not shown to be at most {short(margin)} worse."
    if not math.isnan(pair.detectable):
        text += (
            f" {counted(pair.queries, 'query')} can detect a true difference of {pair.detectable:.{decimals}f} "
            f"with {percent(POWER)} power."
        )
    if margin and pair.sd > 0:
        needed = queries_needed(pair.sd, margin, alpha_of(pair), POWER)
        text += f" About {counted(needed, 'query')} would be needed for a margin of {short(margin)}."
    return status, text + (" Failed: strict." if strict else "")


def _of_queries(pair: Difference, lacking: Sequence[Any]) -> Iterator[Outcome]:
    if lacking:
        named = ", ".join(printable(query) for query in lacking[:WORST])
        more = f" and {len(lacking) - WORST} more" if len(lacking) > WORST else ""
        yield (
            FAILED,
            f"{printable(pair.run)} returns nothing for {counted(len(lacking), 'query')} that "
            f"{printable(pair.baseline)} has: {named}{more}: failed.",
        )


def _of_floors(pairs: Sequence[Difference], floors: Mapping[MetricKey, float]) -> Iterator[Outcome]:
    for pair in pairs:
        if pair.metric in floors:
            floor, name = floors[pair.metric], printable(str(pair.metric))
            value = 2.0**pair.mean if aggregator(pair.metric) is geometric_mean else pair.mean
            if value * better(pair.metric) >= floor * better(pair.metric):
                yield PASSED, f"{name}: the mean {value:.4f} meets the limit {short(floor)}."
            else:
                way = "below" if better(pair.metric) > 0 else "above"
                yield FAILED, f"{name}: the mean {value!r} is {way} the limit {short(floor)}: failed."


def _checked_floors(floors: Mapping[MetricKey, float], tests: Tested) -> dict[MetricKey, float]:
    limits = {}
    for metric, floor in floors.items():
        try:
            key = tests.key_of(metric)
        except KeyError as error:
            raise ValueError(f"floors: {error.args[0]}") from None
        if aggregator(key) not in (mean, geometric_mean):
            raise ValueError(f"floors: {key!s} is summed over queries, so its mean has no limit: leave it out")
        limits[key] = check_number(floor, f"floors[{metric!r}]")
        if not math.isfinite(limits[key]):
            raise ValueError(f"floors: the limit of {metric!s} must be finite, not {floor!r}")
    return limits


def _losses(tests: Tested, pair: Difference, count: int) -> Iterator[Loss]:
    """Yield the largest losses of a metric, largest first. Equal losses are in the order of the queries."""
    sample = sample_of(tests, pair.metric)
    after, before = sample.of(pair.run), sample.of(pair.baseline)
    gains = (after - before) * better(pair.metric)
    for row in gains.argsort(kind="stable")[:count].tolist():
        if gains[row] < 0:
            difference = float(after[row] - before[row])
            yield Loss(pair.metric, sample.query_ids[row], float(before[row]), float(after[row]), difference)
