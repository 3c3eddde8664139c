"""The guards of a gate: limits on what the queries at hand may lose, which are not tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from rankgain.comparison.aligned import Sample
from rankgain.comparison.difference import Difference, interval_phrase, named, value_of
from rankgain.comparison.power import share_below
from rankgain.comparison.testing import Tested, grid_unit, pilot_of, sample_of
from rankgain.errors import counted, quoted, short
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import DECIMALS, MOST_DECIMALS
from rankgain.scalars import Floats, check_number

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
_ROUNDING = 1e-9  # absolute tolerance for the number of queries that a share allows
Outcome = tuple[str, str]  # the status, and a sentence that explains it


class Allowance(NamedTuple):
    """How many queries may lose more than a limit: a number of queries (int) or a share of them (float)."""

    loss: float
    queries: int | float = 0

    def allows(self, count: int, queries: int) -> bool:
        """Return whether so many of the queries may lose more than the limit."""
        most = self.queries * queries + _ROUNDING if isinstance(self.queries, float) else self.queries
        return count <= most

    def __str__(self) -> str:
        if isinstance(self.queries, float):
            return f"{short(round(100 * self.queries, 10))}%"
        return str(self.queries) if self.queries else "none"


class Limits(NamedTuple):
    """The limits of a gate for each metric that has one."""

    floors: Mapping[str | Metric, float]
    max_drop: Mapping[str | Metric, float]
    max_loss: Mapping[str | Metric, Allowance]


def checked_limits(tests: Tested, floors: Any, max_drop: Any, max_loss: Any) -> Limits:
    """Check the limits of a gate. A guard that is not given by metric applies to all metrics."""
    limits = Limits(
        _by_metric(tests, floors or {}, "floors", check_limit),
        _by_metric(tests, max_drop, "max_drop", check_drop),
        _by_metric(tests, max_loss, "max_loss", check_allowance),
    )
    for metric in limits.floors:
        if aggregator(metric) not in (mean, geometric_mean):
            raise ValueError(f"floors: {metric!s} is summed over queries, so its mean has no limit: leave it out")
    return limits


def _by_metric(tests: Tested, given: Any, name: str, check: Callable[[Any, str], Any]) -> dict[str | Metric, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        value = check(given, name)
        return dict.fromkeys(tests.options.metrics, value)
    checked: dict[str | Metric, Any] = {}
    for metric, value in given.items():
        try:
            key = tests.key_of(metric)
        except KeyError as error:
            raise ValueError(f"{name}: {error.args[0]}") from None
        checked[key] = check(value, f"{name}[{metric!r}]")
    return checked


def check_limit(value: Any, name: str) -> float:
    """Return a limit as a float. True and False are not numbers here."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    number = check_number(value, name)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return number


def check_drop(value: Any, name: str) -> float:
    number = check_limit(value, name)
    if number < 0:
        raise ValueError(f"{name} must be at least 0, not {quoted(value)}: it is how much worse the mean may be")
    return number


def check_allowance(value: Any, name: str) -> Allowance:
    """Return how many queries may lose more than a limit: 0.5, (0.5, 2) or (0.5, 0.01)."""
    if not isinstance(value, (tuple, list)):
        return Allowance(check_drop(value, name))
    if len(value) != 2:
        raise ValueError(f"{name} must be a loss, or a loss and the queries that may exceed it, not {quoted(value)}")
    loss, queries = value
    if isinstance(queries, (bool, np.bool_)) or not isinstance(queries, Real):
        raise TypeError(f"{name}: the number of queries must be an int or a share, not {type(queries).__name__}")
    if hasattr(queries, "__index__"):
        count: int | float = int(queries)
        if count < 0:
            raise ValueError(f"{name}: the number of queries must be at least 0, not {quoted(queries)}")
    else:
        count = float(queries)
        if not 0 <= count < 1:
            raise ValueError(
                f"{name}: a share of the queries must be at least 0 and below 1, not {quoted(queries)}: write an int "
                "for a number of queries"
            )
    return Allowance(check_drop(loss, name), count)


# Outcomes


def of_floors(pairs: Sequence[Difference], floors: Mapping[str | Metric, float]) -> Iterator[Outcome]:
    for pair in pairs:
        if pair.metric in floors:
            floor, name = floors[pair.metric], named(pair.metric)
            value = value_of(pair.metric, pair.mean)
            if value * better(pair.metric) >= floor * better(pair.metric):
                yield PASSED, f"{name}: the mean {value:.4f} meets the limit {short(floor)}."
            else:
                way = "below" if better(pair.metric) > 0 else "above"
                yield FAILED, f"{name}: the mean {value!r} is {way} the limit {short(floor)}: failed."


def of_drops(tests: Tested, pairs: Sequence[Difference], drops: Mapping[str | Metric, float]) -> Iterator[Outcome]:
    """Yield the outcome of `max_drop`, which compares the means of the tested queries."""
    for pair in pairs:
        if pair.metric not in drops:
            continue
        limit, sample = drops[pair.metric], sample_of(tests, pair.metric)
        baseline, run = (value_of(pair.metric, each) for each in (pair.baseline_mean, pair.mean))
        loss = (baseline - run) * better(pair.metric)
        way = f"is {'worse' if loss > 0 else 'better'} by {_text(abs(loss), limit)}" if loss else "is the same"
        if loss > limit + grid_unit(sample):
            how, status, end = "more than", FAILED, ": failed."
        else:
            how, status, end = "within", PASSED, "."
        allowed = f"{how} the max drop of {short(limit)}"
        yield status, f"{named(pair.metric)}: the mean {way}, {allowed} ({interval_phrase(pair)}){end}"


def of_losses(
    tests: Tested, pairs: Sequence[Difference], allowed: Mapping[str | Metric, Allowance]
) -> Iterator[Outcome]:
    """Yield the outcome of `max_loss`, which counts the tested queries that lose more than a limit."""
    for pair in pairs:
        if pair.metric not in allowed:
            continue
        limit, sample = allowed[pair.metric], sample_of(tests, pair.metric)
        count = int(np.count_nonzero(losses(sample, pair) > limit.loss + grid_unit(sample)))
        lose = "loses" if count == 1 else "lose"
        many = f"{count} of {counted(pair.queries, 'query')}" if count else "no query"
        text = f"{named(pair.metric)}: {many} {lose if count else 'loses'} more than {short(limit.loss)}"
        text += f" (allowed: {limit})" if count else ""
        yield (PASSED, f"{text}.") if limit.allows(count, pair.queries) else (FAILED, f"{text}: failed.")


def losses(sample: Sample, pair: Difference) -> Floats:
    """Return how much each query loses, in the metric's own unit; gains are negative."""
    after, before = own_values(sample, pair.run), own_values(sample, pair.baseline)
    return (before - after) * better(pair.metric)


def own_values(sample: Sample, run: str) -> Floats:
    """Return the values of a run, and not the logarithms for a geometric mean."""
    values = sample.of(run)
    return np.exp2(values) if aggregator(sample.record) is geometric_mean else values


def drop_rates(tests: Tested, pairs: Sequence[Difference], drops: Mapping[str | Metric, float]) -> Iterator[str]:
    """Yield how often `max_drop` fails in a build without any effect."""
    for pair in pairs:
        if pair.metric in drops:
            error, limit = pilot_of(tests, pair.metric).error, drops[pair.metric]
            if aggregator(pair.metric) is geometric_mean:  # the logarithms are tested
                rest = value_of(pair.metric, pair.baseline_mean) - limit
                limit = pair.baseline_mean - math.log2(rest) if rest > 0 else math.inf
            if error > 0:
                rate, drop = rate_text(share_below(-limit / error)), short(drops[pair.metric])
                yield (
                    f"Without any effect, {named(pair.metric)} loses more than the max drop of {drop} in about {rate} "
                    "of builds."
                )


def rate_text(rate: float) -> str:
    """Return a rate in percent, with a decimal place if it is below 10%."""
    return f"{100 * rate:.{0 if rate >= 0.1 else 1}f}%"


def _text(value: float, limit: float) -> str:
    """Return a number with as many decimal places as distinguish it from a limit."""
    for decimals in range(DECIMALS, MOST_DECIMALS):
        if float(f"{value:.{decimals}f}") != limit or value == limit:
            break
    return f"{value:.{decimals}f}"
