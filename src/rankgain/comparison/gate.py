"""Decide whether a change may be merged, from the runs before and after the change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankgain.comparison.absent import Coverage, of_queries
from rankgain.comparison.difference import (
    STUDENT,
    CorrectedDifference,
    Difference,
    alpha_of,
    alpha_text,
    decimals_for,
    direction,
    in_unit,
    interval_phrase,
    joined,
    log_scale,
    named,
    one_sided,
    p_phrase,
    percent,
    size_text,
    started,
    too_few,
    unit_of,
    unseen,
    unsigned,
)
from rankgain.comparison.guards import (
    FAILED,
    PASSED,
    UNDECIDED,
    Limits,
    Outcome,
    drop_rates,
    losses,
    of_drops,
    of_floors,
    of_losses,
    own_values,
    rate_text,
)
from rankgain.comparison.power import POWER, fewest_signs
from rankgain.comparison.slices import of_groups
from rankgain.comparison.testing import (
    Options,
    Tested,
    check_bounded,
    check_possible,
    pilot_of,
    sample_of,
)
from rankgain.errors import counted, short
from rankgain.metrics.metric import Metric, better, is_share
from rankgain.results.export import finite_or_none
from rankgain.results.text import Block, Form, Number, Printed, Table, printable
from rankgain.scalars import check_whole

WORST = 10  # the number of queries that are listed per metric by default
MOST_WORST = 10_000
# How often a gate fails if a change has no effect, in simulations at level 0.95 with 50 queries and correlated metrics.
FALSE_FAILURES = "measured: 2.6% with 1, 5% to 7% with 3, 7% to 11% with 6"
OF_TEST: Literal["test"] = "test"  # the margin of the test


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
        One sentence per metric, guard, floor, query set or group; those that fail come first.
    rates : list of str
        How often a gate like this one fails if a change has no effect; for corrected values, when the outcome is valid.
    worst : list of Loss
        The queries with the largest losses of each metric, largest first. For a geometric mean, the losses are those of
        the values, not of the logarithms.
    rules : named tuple
        The margin, whether the gate is strict, and the limits by metric (floors, max_drop, max_loss).
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
    rr: change is worse than main by 0.5000 (95% interval -0.5000 to -0.5000, p = 0.0078): failed.
    """

    __module__ = "rankgain"

    def __init__(
        self,
        reasons: Sequence[Outcome],
        rates: Sequence[str],
        worst: Sequence[Loss],
        pairs: Sequence[Difference],
        rules: GateRules,
    ) -> None:
        order = FAILED, UNDECIDED, PASSED
        ordered = sorted(reasons, key=lambda outcome: order.index(outcome[0]))
        self.status = ordered[0][0]
        self.reasons = [text for _, text in ordered]
        self.rates = list(rates)
        self.worst = list(worst)
        self.differences = list(pairs)
        self.rules = rules
        self.run, self.baseline = pairs[0].run, pairs[0].baseline

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
            ``status``, ``baseline``, ``run``, ``level``, ``margin``, ``strict``, ``floors``, ``max_drop`` and
            ``max_loss`` by metric, ``reasons``, ``rates``, ``metrics`` (one dict per metric: means, difference,
            interval, p-values, numbers of queries) and ``worst`` (one dict per loss).

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().gate(worst=1).to_dict()["worst"]
        [{'metric': 'rr', 'query': 0, 'before': 1.0, 'after': 0.5, 'difference': -0.5}]
        """
        return {
            "status": self.status,
            "baseline": self.baseline,
            "run": self.run,
            "level": self.differences[0].level,
            "margin": self.rules.margin,
            "strict": self.rules.strict,
            **{
                name: {str(metric): limit for metric, limit in limits.items()}
                for name, limits in self.rules.limits._asdict().items()
            },
            "reasons": self.reasons,
            "rates": self.rates,
            "metrics": [
                {"metric": str(pair.metric)} | {name: finite_or_none(getattr(pair, name)) for name in FIELDS}
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
        if self.rates:
            yield self.rates


def _numbers(loss: Loss) -> list[object]:
    share = is_share(loss.metric)
    values = [Number((value,), share=share) for value in (loss.before, loss.after)]
    return [*values, Number((loss.difference,), signed=True, share=share)]


class GateRules(NamedTuple):
    """The options of a gate, with the limits of each metric."""

    margin: float | None
    strict: bool
    limits: Limits


FIELDS = (
    *("mean", "baseline_mean", "difference", "low", "high", "p", "not_worse_p", "detectable", "sd"),
    *("queries", "clusters", "better", "same", "worse"),
)


def judge(tests: Tested, coverage: Mapping[str, Coverage], rules: GateRules, groups: Any, worst: int) -> Gate:
    """Decide the outcome of a gate from the tests of one run against one baseline.

    `coverage`: which queries each run answers. `groups`: the group of each query, or None.
    """
    count = check_whole(worst, "worst", 0, MOST_WORST)
    options: Options = tests.options._replace(correction=None, margin=rules.margin, family="metric")
    pairs = single_pairs(tests, options)
    outcomes = [*outcomes_of(tests, (pairs[0].run, pairs[0].baseline), coverage, pairs, rules)]
    outcomes += of_groups(tests, pairs, groups, options) if groups is not None else ()
    rates = [*_rates(tests, pairs, rules, groups is not None), *drop_rates(tests, pairs, rules.limits.max_drop)]
    losing = [loss for pair in pairs for loss in _losses(tests, pair, count)]
    return Gate(outcomes, rates, losing, pairs, rules)


def outcomes_of(
    tests: Tested,
    names: tuple[str, str],
    coverage: Mapping[str, Coverage],
    pairs: Sequence[Difference],
    rules: GateRules,
) -> Iterator[Outcome]:
    """Yield the outcomes of limits, of the queries that the runs answer, and of the tests of the given differences.

    `names`: the run and the baseline.
    """
    run, baseline = (coverage.get(name, Coverage()) for name in names)
    skipped = "skip" in (run.rule, baseline.rule)
    yield from of_drops(tests, pairs, rules.limits.max_drop)
    yield from of_losses(tests, pairs, rules.limits.max_loss)
    yield from of_queries(names, run, baseline)
    yield from of_floors(pairs, rules.limits.floors)
    for pair in pairs:
        yield _of_metric(tests, pair, rules, skipped)


def single_pairs(tests: Tested, options: Options) -> list[Difference]:
    """Return the difference in each metric, tested without correction and with the margin of the gate."""
    if len(tests) != len(tests.options.metrics):
        raise ValueError(
            f"a gate compares one new run with one baseline, and {len(tests.runs)} runs were tested: "
            "compare(truth, {'main': …, 'change': …})"
        )
    check_metrics(options.metrics, options.margin)
    pairs = tests.retested(options)
    check_possible(options.margin, pairs)
    return pairs


def check_metrics(metrics: Iterable[str | Metric], margin: float | None) -> None:
    """Raise ValueError if any of the metrics cannot decide a gate."""
    for metric in metrics:
        if not better(metric):
            raise ValueError(f"{metric!s} cannot decide a gate, since neither higher nor lower is better: leave it out")
        if margin is not None:
            check_bounded(metric)


def _of_metric(tests: Tested, pair: Difference, rules: GateRules, skipped: bool) -> Outcome:
    """Return the outcome for one metric, from the test of the difference.

    The metric passes if no value changed, if the run is shown to be better or, with a margin, if the run is shown not
    to be worse by more than the margin. Otherwise, it fails if the run is shown to be worse. If not, it is undecided,
    or fails if `strict`. `skipped`: whether queries that a run lacks are left out, so that equal values do not mean
    equal files.
    """
    name, run, than = named(pair.metric), printable(pair.run), f"than {printable(pair.baseline)}"
    interval, p = interval_phrase(pair), p_phrase(pair.p)
    if pair.unchanged:
        return PASSED, f"{name}: no value changed{'.' if skipped else '; are the files the same?'}"
    way, size = direction(pair), unsigned(size_text(pair))
    if way > 0:
        return PASSED, f"{name}: {run} is better {than} by {size} ({interval}, {p})."
    if rules.margin is not None and pair.not_worse:
        margin = f"{short(rules.margin)}{log_scale(pair.metric)}"
        within = f"{name}: {run} is not worse {than} by more than {margin} ({interval}, {one_sided(pair)})"
        worse = f", but worse by {size} ({p})" if way < 0 else ""
        return PASSED, f"{within}{worse}. {unseen(pair)}".rstrip()
    if way < 0:
        return FAILED, f"{name}: {run} is worse {than} by {size} ({interval}, {p}): failed."
    text = f"{name}: undecided; {run} differs from {printable(pair.baseline)} by {size_text(pair)} ({interval}, {p})."
    text = " ".join([text, *_why_undecided(tests, pair, rules)])
    return (FAILED, f"{text} Failed: strict.") if rules.strict else (UNDECIDED, text)


def _why_undecided(tests: Tested, pair: Difference, rules: GateRules) -> Iterator[str]:
    """Yield sentences on what the queries could show, and how many queries the margin needs."""
    noun = unit_of(pair)
    units = counted(pair.clusters, noun)
    if too_few(pair):
        guarded = pair.metric in {**rules.limits.max_drop, **rules.limits.max_loss}
        other_guard = "" if isinstance(pair, CorrectedDifference) else " or a max loss"
        advice = "" if guarded else f": set a max drop{other_guard}"
        yield f"{started('', too_few(pair))}, so this test cannot fail{advice}."
    elif not math.isnan(pair.detectable):
        difference = in_unit(pair, pair.detectable)
        true = f"a true difference of {difference:.{decimals_for(difference)}f}"
        yield f"{units} can detect {true} with {percent(POWER)} power."
    if rules.margin is None:
        return
    margin = f"{short(rules.margin)}{log_scale(pair.metric)}"
    yield f"It is not shown to be at most {margin} worse ({one_sided(pair)})."
    if rules.margin:
        needed = pilot_of(tests, pair.metric).queries_needed(rules.margin, alpha_of(pair), POWER)
        if needed > pair.clusters:
            yield f"About {counted(needed, noun)} would be needed for a margin of {margin}."
        else:
            worse = f"looks worse by {unsigned(size_text(pair))}"
            yield f"{units} are enough for a margin of {margin} and a change without effect; this one {worse}."


def _rates(tests: Tested, pairs: Sequence[Difference], rules: GateRules, grouped: bool) -> Iterator[str]:
    """Yield how often the tests of the gate fail if a change has no effect, or which of them cannot fail."""
    alpha, able = alpha_of(pairs[0]), _able(pairs)
    yield from unable(pairs)
    if rules.strict:
        for pair in able:
            rate = _strict_rate(tests, pair, rules.margin)
            often = f"{'at least' if grouped else 'about'} {rate_text(rate)}"
            yield f"Without any effect, {named(pair.metric)} fails in {often} of builds."
    elif able:
        most = "up to " if grouped or rules.margin is not None else ""
        text = f"Without any effect, a metric fails in {most}about {percent(alpha if grouped else alpha / 2)} of builds"
        if grouped:
            text += ", or in more if groups are small and skewed"
        elif len(pairs) > 1 and math.isclose(alpha, 0.05):
            text += f", and any of several metrics in more ({FALSE_FAILURES})"
        yield f"{text}."


def _able(pairs: Sequence[Difference]) -> list[Difference]:
    """Return the differences for which enough queries differ to decide them."""
    least = fewest_signs(alpha_of(pairs[0]))
    return [pair for pair in pairs if pair.method == STUDENT or pair.differing >= least]


def unable(pairs: Sequence[Difference]) -> Iterator[str]:
    """Yield a sentence on the metrics whose test cannot fail."""
    able = _able(pairs)
    if len(able) < len(pairs):
        names = joined([named(pair.metric) for pair in pairs if pair not in able])
        subject = f"{names} cannot" if able else "No metric can"
        units = "labelled queries" if isinstance(pairs[0], CorrectedDifference) else "queries or clusters"
        why = f"since fewer than {fewest_signs(alpha_of(pairs[0]))} {units} differ"
        yield f"{subject} be shown to be worse at {alpha_text(pairs[0].level)}, {why}."


def _strict_rate(tests: Tested, pair: Difference, margin: float | None) -> float:
    """Return how often a strict gate fails if a change has no effect."""
    better = alpha_of(pair) / 2
    power = pilot_of(tests, pair.metric).power(margin, alpha_of(pair)) if margin else better
    return 1.0 - max(power, better)


def _losses(tests: Tested, pair: Difference, count: int) -> Iterator[Loss]:
    """Yield the largest losses of a metric, largest first. Equal losses are in the order of the queries."""
    sample = sample_of(tests, pair.metric)
    after, before, lost = own_values(sample, pair.run), own_values(sample, pair.baseline), losses(sample, pair)
    for row in (-lost).argsort(kind="stable")[:count].tolist():
        if lost[row] > 0:
            difference = float(after[row] - before[row])
            yield Loss(pair.metric, sample.query_ids[row], float(before[row]), float(after[row]), difference)
