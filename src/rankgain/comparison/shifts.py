"""How two judges differ on runs: pairs decided alike, order, mean shift, and runs that one of the judges shifts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankgain.comparison.coefficients import tau_b
from rankgain.comparison.compare import compare
from rankgain.comparison.difference import Difference
from rankgain.comparison.outcome import Tests
from rankgain.comparison.testing import sample_of
from rankgain.metrics.metric import Metric, better
from rankgain.scalars import Bools, Floats

FEWEST_RANKED = 5  # with fewer runs, a judge that guesses often has tau-b 1
FEWEST_ON_A_LINE = 4  # the number of runs, among them the one that is compared with the line through the others
ZERO = "zero"


class Shift(NamedTuple):
    """How much higher the second judge's mean is than the first's: of a run, or averaged over the runs.

    Attributes
    ----------
    run : str
        The name of the run; empty for the average over the runs.
    difference, low, high : float
        The mean difference, and its interval, which is for each run alone.
    decided : bool
        Whether the difference is decided; for runs, p is corrected for their number.
    """

    run: str
    difference: float
    low: float
    high: float
    decided: bool


class ShiftedRun(NamedTuple):
    """A run that the second judge shifts against the other runs.

    Attributes
    ----------
    run : str
        The name of the run.
    shift, others : float
        The second judge's mean minus the first's, of the run and averaged over the others. Runs that were named before
        are not among the others.
    apart, adjusted : float
        The first minus the second, and its p-value, corrected by max-T for the number of runs.
    beyond : bool or None
        Whether the shift is also decided to differ from what the means of the other runs and their shifts let expect.
        None if fewer than 3 other runs are left, which do not tell.
    """

    run: str
    shift: float
    others: float
    apart: float
    adjusted: float
    beyond: bool | None


class RunAgreement(NamedTuple):
    """Whether two judges agree on runs in one metric.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    runs, pairs, queries : int
        The numbers of runs, pairs of runs and queries.
    best : list of str
        The first judge's best run, or runs if the means are equal.
    ranks : list of int
        The ranks of these runs by the second judge.
    tau_b : float
        Kendall's tau-b of the means; NaN for fewer than 5 runs.
    alike, only_first, only_second, opposite : list of tuple
        The pairs (run, baseline) that both judges decide alike, only one of them decides, or both decide in opposite
        directions.
    shift : Shift
        The mean difference between the judges, averaged over the runs.
    shifts : list of Shift
        The same for each run.
    shifted : list of ShiftedRun
        The runs that the second judge shifts against the others.
    """

    metric: str | Metric
    runs: int
    pairs: int
    queries: int
    best: list[str]
    ranks: list[int]
    tau_b: float
    alike: list[tuple[str, str]]
    only_first: list[tuple[str, str]]
    only_second: list[tuple[str, str]]
    opposite: list[tuple[str, str]]
    shift: Shift
    shifts: list[Shift]
    shifted: list[ShiftedRun]


def run_agreement(metric: str | Metric, tests: tuple[Tests, Tests]) -> RunAgreement:
    """Compare the tests of the same runs by two judges."""
    samples = [sample_of(each, metric) for each in tests]
    first, second = (sample.values for sample in samples)
    runs, means = samples[0].runs, [first.mean(axis=0), second.mean(axis=0)]
    scores = [better(metric) * mean for mean in means]
    best = np.flatnonzero(scores[0] == scores[0].max()).tolist()
    ranks = sorted(1 + int(np.count_nonzero(scores[1] > scores[1][run])) for run in best)
    level = tests[0].options.level
    keys = [key for key in tests[0] if key[0] == metric]
    verdicts = [(key[1:], _sign(tests[0][key]), _sign(tests[1][key])) for key in keys]
    shifts = second - first
    return RunAgreement(
        metric,
        len(runs),
        len(keys),
        len(first),
        [runs[run] for run in best],
        ranks,
        tau_b(means[0], means[1]) if len(runs) >= FEWEST_RANKED else np.nan,
        [pair for pair, one, other in verdicts if one and one == other],
        [pair for pair, one, other in verdicts if one and not other],
        [pair for pair, one, other in verdicts if other and not one],
        [pair for pair, one, other in verdicts if one * other < 0],
        _shift("", _tested(shifts.mean(axis=1, keepdims=True), level)[0]),
        [_shift(run, pair) for run, pair in zip(runs, _tested(shifts, level), strict=True)],
        _shifted_runs(runs, shifts, sum(means) / 2, level),
    )


def most_frequent(pairs: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Return the run that is in most of the pairs, and in how many."""
    return Counter(run for pair in pairs for run in pair).most_common(1)[0]


def _sign(pair: Difference) -> int:
    return int(np.sign(pair.difference)) * pair.decided


def _shift(run: str, pair: Difference) -> Shift:
    return Shift(run, pair.difference, pair.low, pair.high, pair.decided)


def _tested(columns: Floats, level: float) -> list[Difference]:
    """Test whether the mean of each column is 0, with p corrected by max-T over the columns."""
    names = [*map(str, range(columns.shape[1]))]
    values = {name: dict(enumerate(column.tolist())) for name, column in zip(names, columns.T, strict=True)}
    zeros = dict.fromkeys(range(len(columns)), 0.0)
    tests = compare({**values, ZERO: zeros}, metrics="shift", values=True).test(ZERO, level=level)
    return list(tests.values())


def _shifted_runs(runs: Sequence[str], shifts: Floats, means: Floats, level: float) -> list[ShiftedRun]:
    """Name the runs whose shift differs from that of the others, the clearest first, each time among the runs left.

    Without leaving out the runs that were named before, the others would look shifted the other way.
    """
    named: list[ShiftedRun] = []
    left = list(range(len(runs)))
    while len(left) > 2 or (len(left) == 2 and not named):
        tested = _tested(_from_others(shifts[:, left]), level)
        number = min(range(len(left)), key=lambda number: (tested[number].adjusted, -abs(tested[number].difference)))
        pair, run = tested[number], left[number]
        if not pair.decided:
            break
        beyond = None
        if len(left) >= FEWEST_ON_A_LINE:
            other = _tested(_from_line(shifts[:, left], means[left]), level)[number]
            beyond = other.decided and other.difference * pair.difference > 0
        shift = float(shifts[:, run].mean())
        named.append(ShiftedRun(runs[run], shift, shift - pair.difference, pair.difference, pair.adjusted, beyond))
        left.remove(run)
    return named


def _from_others(shifts: Floats) -> Floats:
    """Return the shift of each run minus the mean shift of the other runs, by query."""
    others: Floats = (shifts.sum(axis=1, keepdims=True) - shifts) / (shifts.shape[1] - 1)
    return shifts - others


def _from_line(shifts: Floats, means: Floats) -> Floats:
    """Return the shift of each run minus that on the least-squares line through the others' means and shifts, by query.

    A judge that is lenient or errs at random pulls all means together, so that the shift depends on the mean.
    """
    result = np.empty_like(shifts)
    for run in range(len(means)):
        others: Bools = np.arange(len(means)) != run
        centred = means[others] - means[others].mean()
        squares = float((centred**2).sum())
        slope = centred * ((means[run] - means[others].mean()) / squares) if squares > 0.0 else 0.0
        result[:, run] = shifts[:, run] - shifts[:, others] @ (1.0 / others.sum() + slope)
    return result
