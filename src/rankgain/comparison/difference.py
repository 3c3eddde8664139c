"""The difference between two runs in one metric, and the sentences that state it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from rankgain.comparison.margins import largest_difference, missed_share
from rankgain.comparison.power import fewest_signs
from rankgain.comparison.significance import largest_p
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import geometric_mean, mean
from rankgain.metrics.metric import Metric, aggregator, better, is_share
from rankgain.results.text import DECIMALS, MOST_DECIMALS, Number, Table, html_of, number, printable, signed

EXACT: Final = "exact"
RANDOM: Final = "randomization"
STUDENT: Final = "t"
LEAST_P = 1e-4  # p-values below this are printed with "<"
NOT_EQUAL = "This does not show that they are equal."


class Difference(NamedTuple):
    """The difference between a run and a baseline in one metric, as tested by `Comparison.test`.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    run, baseline : str
        The names of the two runs.
    mean, baseline_mean, difference : float
        The means of the two runs over the tested queries, and the first mean minus the second. The difference is 0 if
        the means differ by no more than rounding.
    low, high : float
        The ends of the closed interval of differences that the same test does not reject. Infinite if there is no
        interval: with too few queries for the level, or if no query (or no sum of a cluster) differs.
    level : float
        The level of the interval; a difference is decided if p is at most 1 − level.
    p, adjusted : float
        The two-sided p-value, and the p-value corrected for the other comparisons of the family.
    better, same, worse : int
        The numbers of queries for which the value of the run is better, equal or worse. If the metric has no direction,
        higher counts as better.
    effect : float
        The mean difference divided by the standard deviation of the differences, corrected for few queries (g_z; not
        Cohen's d of runs). NaN for two queries, and if all differences are equal.
    sd : float
        The standard deviation of the differences.
    queries : int
        How many queries were tested.
    detectable : float
        The true difference that a new test with as many queries (or clusters) of this spread would detect with a power
        of 80%; NaN for fewer than 8 queries, and if nothing varies.
    method : {"exact", "randomization", "t"}
        How p was computed.
    flips : int
        The number of random flips from which p, the interval or the correction was computed; 0 if none.
    not_worse_p, equivalent_p : float
        One-sided p-values against the hypotheses that the run is worse by at least the margin, and that the runs differ
        by at least the margin. If p is corrected, they have Holm's correction over the family. They are NaN without a
        margin, and for metrics without an upper bound.
    margin : float
        The margin; NaN if none was given.
    comparisons : int
        How many comparisons are in the family.
    clusters : int
        The number of clusters, each with one sign; without clusters, the number of queries.
    differing : int
        How many clusters or queries differ by more than rounding.
    correction : str
        How p is corrected: ``"max-t"``, ``"holm"`` or ``"bh"``; empty if it is not.

    See Also
    --------
    Comparison.test : The test, with its definition.
    Tests : The differences of a comparison.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
    >>> tests = rg.compare(runs, metrics="rr").test()
    >>> tests["rr", "b", "a"].p
    0.0078125
    """

    metric: str | Metric
    run: str
    baseline: str
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    level: float
    p: float
    adjusted: float
    better: int
    same: int
    worse: int
    effect: float
    sd: float
    queries: int
    detectable: float
    method: str
    flips: int
    not_worse_p: float
    equivalent_p: float
    margin: float
    comparisons: int
    clusters: int
    differing: int
    correction: str

    def __eq__(self, other: object) -> bool:
        """Compare all fields; NaN equals NaN."""
        if not isinstance(other, Difference):
            return NotImplemented
        return all(one == two or (one != one and two != two) for one, two in zip(self, other, strict=True))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(None if value != value else value for value in self))

    @property
    def decided(self) -> bool:
        """Whether the adjusted p-value is at most 1 − level.

        False does not show that the runs are equal.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test()["rr", "b", "a"].decided
        True
        """
        return self.adjusted <= largest_p(alpha_of(self), self.flips)

    @property
    def unchanged(self) -> bool:
        """Whether no query is better or worse.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[0, 1]] * 8)}
        >>> rg.compare(runs, metrics="rr").test()["rr", "b", "a"].unchanged
        True
        """
        return not (self.better or self.worse)

    @property
    def not_worse(self) -> bool:
        """Whether the test shows that the run is not worse by more than the margin; False without a margin.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test(margin=0.02)["rr", "b", "a"].not_worse
        True
        """
        return 2 * self.not_worse_p <= largest_p(alpha_of(self), self.flips)

    @property
    def equivalent(self) -> bool:
        """Whether the test shows that the runs differ by less than the margin; False without a margin.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test(margin=0.02)["rr", "b", "a"].equivalent
        False
        """
        return 2 * self.equivalent_p <= largest_p(alpha_of(self), self.flips)

    def verdict(self) -> str:
        """State what the test shows about the two runs; "inconclusive" never means that they are equal.

        Returns
        -------
        str
            One or two sentences, and another one about the margin if one was given.

        See Also
        --------
        Tests.verdicts : The sentences of all differences.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> print(rg.compare(runs, metrics="rr").test()["rr", "b", "a"].verdict())
        rr: b is better than a by +0.5000 (95% +0.5000 to +0.5000).
        """
        not_equal = [NOT_EQUAL] if is_inconclusive(self) else []
        return " ".join([result_of(self), *not_equal, *about_margin(self, "")])

    def __repr__(self) -> str:
        return f"<Difference {result_of(self).removesuffix('.')}>"

    def _repr_html_(self) -> str:
        means = (number(value_of(self.metric, mean)) for mean in (self.baseline_mean, self.mean))
        interval = range_text(self) if has_interval(self) else "no interval"
        row = [named(self.metric), *means, size_text(self), interval, p_text(self.adjusted)]
        rows = [["metric", self.baseline, self.run, "difference", f"{percent(self.level)} interval", "p"], row]
        return html_of([Table(rows), [self.verdict()]])


Difference.__module__ = "rankgain"


class CorrectedDifference(Difference):
    """A difference of corrected values, as tested by `Corrected.test`.

    The means, the difference, p and the interval are those of the corrected values. ``queries`` is the number of
    labelled queries, ``differing`` how many of them have a difference by either judge. ``better``, ``same`` and
    ``worse`` count all queries, by the judge of few queries where it sees a difference, otherwise by the judge of all.
    ``effect`` and ``sd`` are NaN.
    """

    __slots__ = ()


# Sentences about a difference


def is_inconclusive(pair: Difference) -> bool:
    """Return whether the test leaves open which of the two runs is better."""
    return better(pair.metric) != 0 and direction(pair) == 0 and not pair.unchanged


def result_of(pair: Difference) -> str:
    """Return a sentence on what the test shows about the difference."""
    head, run, baseline = f"{named(pair.metric)}: ", printable(pair.run), printable(pair.baseline)
    if pair.unchanged:
        return f"{head}{run} and {baseline} have the same value for every query."
    if is_inconclusive(pair):
        return f"{head}inconclusive for {run} vs {baseline}; {_why_inconclusive(pair)}."
    difference = size_text(pair)
    interval = f"{percent(pair.level)} {range_text(pair)}" if has_interval(pair) else "no interval"
    if not better(pair.metric):
        return f"{head}{run} vs {baseline}: {difference} ({interval}); neither higher nor lower is better."
    lower = "; lower is better" if better(pair.metric) < 0 else ""
    word, size = ("better", difference) if direction(pair) > 0 else ("worse", unsigned(difference))
    return f"{head}{run} is {word} than {baseline} by {size} ({interval}{lower})."


def _why_inconclusive(pair: Difference) -> str:
    """Return the differences that the test does not reject, or the reason why it cannot decide."""
    if only_decided_alone(pair):
        adjusted = f"adjusted {p_phrase(pair.adjusted)}"
        return f"decided alone ({p_phrase(pair.p)}), not among {pair.comparisons} comparisons ({adjusted})"
    if too_few(pair) or not has_interval(pair):
        return too_few(pair) or f"{p_phrase(pair.adjusted)}, no interval"
    return f"differences from {range_text(pair)} fit these queries"


def too_few(pair: Difference) -> str:
    """Return a statement that too few queries differ or that there are too few clusters; if not, an empty string."""
    least, by_query = fewest_signs(alpha_of(pair)), pair.clusters == pair.queries
    if isinstance(pair, CorrectedDifference):
        only = f"only {pair.differing} of the {pair.queries} labelled queries differ"
        return only if pair.differing < least and not pair.unchanged else ""
    if pair.method == STUDENT:
        return ""
    if pair.clusters < least and not by_query:
        few = f"{number_word(pair.clusters)} clusters"
    elif 0 < pair.differing < least:
        one, many = ("query", "queries") if by_query else ("cluster", "clusters")
        few = f"one {one} that differs" if pair.differing == 1 else f"{number_word(pair.differing)} {many} that differ"
    else:
        return ""
    return f"{few} cannot show a difference at {alpha_text(pair.level)}"


def about_margin(pair: Difference, head: str) -> list[str]:
    """Return sentences on the test of the margin. There are none if there is no margin, or no better direction.

    `head`: the metric and a colon, if the sentence names the metric.
    """
    if math.isnan(pair.margin) or not better(pair.metric):
        return []
    run, baseline, margin = printable(pair.run), printable(pair.baseline), short(pair.margin)
    if math.isnan(pair.not_worse_p):
        return [started(head, untested(pair.margin))]
    scale = log_scale(pair.metric)
    p = f"{one_sided(pair)}; {pair.better + pair.worse} of {pair.queries} queries differ"
    if not pair.not_worse:
        return [started(head, f"it is not shown that {run} is at most {margin}{scale} worse than {baseline} ({p}).")]
    equivalence = f", and they are less than {margin} apart" if pair.equivalent else ""
    shown = f"{head}{run} is not worse than {baseline} by more than {margin}{scale} ({p}){equivalence}."
    return [f"{shown} {unseen(pair)}".rstrip()]


def one_sided(pair: Difference) -> str:
    """Return the one-sided p of the margin for a sentence."""
    return f"{'adjusted ' if pair.correction else ''}one-sided {p_phrase(pair.not_worse_p)}"


def unseen(pair: Difference) -> str:
    """Return a sentence on the failures that the queries can miss, if these exceed the margin; else an empty string."""
    share = missed_share(pair.margin, largest_difference(pair.metric), pair.clusters, pair.level)
    if not share:
        return ""
    units = counted(pair.clusters, unit_of(pair))
    return (
        f"With {units}, a total failure of up to {100 * share:.1f}% of all queries can go unseen, which alone exceeds "
        "the margin."
    )


def untested(margin: float) -> str:
    """Return the sentence on the margin for a metric without an upper bound."""
    return f"the margin {short(margin)} is not tested: the metric has no upper bound."


def started(head: str, sentence: str) -> str:
    """Put the head before the sentence or, if the head is empty, capitalise the sentence."""
    return head + sentence if head else sentence[0].upper() + sentence[1:]


# Parts of sentences and tables


def subject(metric: str | Metric) -> str:
    """Return the metric as text. If it is not aggregated by the mean, add which mean is tested."""
    if aggregator(metric) is mean:
        return str(metric)
    return f"{metric} ({'mean log2' if aggregator(metric) is geometric_mean else 'mean'})"


def named(metric: str | Metric) -> str:
    """Return the metric for a sentence, in which a geometric mean has its own unit."""
    return printable(str(metric) if aggregator(metric) is geometric_mean else subject(metric))


def unit_of(pair: Difference) -> str:
    """Return the noun for what has one sign in the test."""
    if isinstance(pair, CorrectedDifference):
        return "labelled query"
    return "query" if pair.clusters == pair.queries else "cluster"


def log_scale(metric: str | Metric) -> str:
    """Return the unit of a margin, which is a difference of logarithms for a geometric mean; else an empty string."""
    return " (log2)" if aggregator(metric) is geometric_mean else ""


def in_unit(pair: Difference, difference: float) -> float:
    """Return a difference in the metric's own unit, in which a geometric mean differs from that of the baseline."""
    if aggregator(pair.metric) is not geometric_mean:
        return difference
    return math.exp2(pair.baseline_mean) * math.expm1(difference * math.log(2.0))


def value_of(metric: str | Metric, mean: float) -> float:
    """Return a mean in the metric's own unit, which for a geometric mean is not that of the logarithms."""
    return math.exp2(mean) if aggregator(metric) is geometric_mean else mean


def size_text(pair: Difference) -> str:
    """Return the signed difference for a sentence, in the metric's own unit."""
    difference = in_unit(pair, pair.difference)
    return signed(difference, decimals_for(difference))


def unsigned(number: str) -> str:
    return number.lstrip("+-")


def range_text(pair: Difference) -> str:
    """Return the ends of the interval for a sentence, in the metric's own unit."""
    ends = in_unit(pair, pair.low), in_unit(pair, pair.high)
    return str(_number(ends, decimals_for(in_unit(pair, pair.difference))))


def interval_phrase(pair: Difference) -> str:
    """Return the interval for a sentence, or "no interval"."""
    return f"{percent(pair.level)} interval {range_text(pair)}" if has_interval(pair) else "no interval"


def alpha_of(pair: Difference) -> float:
    """Return the significance level, which is 1 minus the level of the interval."""
    return 1.0 - pair.level


def decided_alone(pair: Difference) -> bool:
    """Return whether the uncorrected p-value is at most 1 − level."""
    return pair.p <= largest_p(alpha_of(pair), pair.flips)


def only_decided_alone(pair: Difference) -> bool:
    """Return whether the difference is decided without a correction for the other comparisons, but not with it."""
    return decided_alone(pair) and not pair.decided


def direction(pair: Difference) -> int:
    """Return 1 if the run is better, −1 if it is worse, and 0 if this is not decided or the metric has no direction."""
    if not pair.decided or pair.difference == 0.0:
        return 0
    return better(pair.metric) * (1 if pair.difference > 0 else -1)


def joined(names: Sequence[str]) -> str:
    """Join names for a sentence, as in "a", "a and b", or "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def p_text(p: float) -> str:
    """Return a p-value with four decimal places, for a table."""
    return f"<{LEAST_P:.{DECIMALS}f}" if p < LEAST_P else f"{p:.{DECIMALS}f}"


def p_phrase(p: float) -> str:
    """Return a p-value for a sentence, such as p = 0.0123."""
    return f"p < {LEAST_P:.{DECIMALS}f}" if p < LEAST_P else f"p = {p:.{DECIMALS}f}"


def percent(level: float) -> str:
    return f"{short(round(100 * level, 10))}%"


def alpha_text(level: float) -> str:
    return short(round(1 - level, 12))


def has_interval(pair: Difference) -> bool:
    return math.isfinite(pair.low) and math.isfinite(pair.high)


def drawn_ends(pair: Difference) -> tuple[float, float]:
    """Return the ends of the interval for a plot. Without an interval, both are the difference itself."""
    return (pair.low, pair.high) if has_interval(pair) else (pair.difference, pair.difference)


def ends_of(pair: Difference) -> str:
    """Return the ends of the interval as text."""
    if not has_interval(pair):
        return "no interval"
    return str(ends_number(pair))


def ends_number(pair: Difference) -> Number:
    """Return the ends of the interval for a table."""
    return _number((pair.low, pair.high), decimals_of(pair), in_percent(pair.metric))


def _number(ends: tuple[float, float], decimals: int, share: bool = False) -> Number:
    """Return the ends of an interval. An end is not printed as 0 if the interval does not contain 0."""
    return Number(ends, decimals, signed=True, share=share, nonzero=ends[0] > 0 or ends[1] < 0)


def difference_cells(pair: Difference) -> list[object]:
    """Return the table cells for the difference and its interval."""
    difference = ends_number(pair)._replace(values=(pair.difference,))
    return [difference, ends_number(pair) if has_interval(pair) else ends_of(pair)]


def in_percent(metric: str | Metric) -> bool:
    """Return whether differences may be printed in percent, which is not the case for differences of logarithms."""
    return is_share(metric) and aggregator(metric) is mean


def decimals_of(pair: Difference) -> int:
    """Return the number of decimal places to print, which is four, or more for a small difference."""
    return decimals_for(pair.difference)


def decimals_for(difference: float) -> int:
    size = abs(difference)
    return DECIMALS if not size else min(max(DECIMALS, 1 - math.floor(math.log10(size))), MOST_DECIMALS)


def number_word(count: int) -> str:
    words = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"
    return words[count] if count < len(words) else str(count)
