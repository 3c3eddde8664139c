"""Compute the tests of a comparison: check options, choose pairs and families, and return a record per difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from rankgain.choices import CHOICES, Correction, Family, Intervals, Method, TestedQueries, check_choices
from rankgain.comparison.aligned import Aligned, Sample, align, same_weights
from rankgain.comparison.difference import EXACT, RANDOM, STUDENT, Difference
from rankgain.comparison.margins import Pilot, largest_difference, value_range
from rankgain.comparison.power import detectable, hedges
from rankgain.comparison.significance import (
    ENUMERATED,
    EXACT_BY_DEFAULT,
    EXACT_REQUESTED,
    MOST_FLIPS,
    SUBSETS,
    SUBSETS_REQUESTED,
    DifferenceColumns,
    Flips,
    Subsets,
    benjamini_hochberg,
    clustered_spreads,
    countable,
    exact_p,
    facts,
    holm,
    largest_p,
    not_zero,
    ratios,
    spreads,
    student,
    threshold,
    unit_exponent,
)
from rankgain.errors import counted, quoted
from rankgain.metrics.aggregators import effective, geometric_mean, mean
from rankgain.metrics.metric import Metric, MetricKey, aggregator, better, highest_value
from rankgain.results.evaluation import Evaluation
from rankgain.results.intervals import check_level, is_bounded
from rankgain.scalars import Array, Floats, Ints, check_number, check_whole
from rankgain.threads import check_threads

MAX_T: Final = "max-t"
HOLM: Final = "holm"
BH: Final = "bh"
SINGLE: Final = "single"
SIMULTANEOUS: Final = "simultaneous"
FINE = 10  # minimum ratio of the significance level of one comparison to the smallest p possible with random flips


class Options(NamedTuple):
    """The options of a test; see `Comparison.test`."""

    baseline: str | tuple[str, ...] | None
    metrics: tuple[str | Metric, ...]
    method: Method
    correction: Correction | None
    family: Family
    intervals: Intervals
    level: float
    margin: float | None
    flips: int
    seed: int
    queries: TestedQueries
    threads: int

    @property
    def alpha(self) -> float:
        return 1.0 - self.level


Key = tuple[MetricKey, str, str]
OneSided = Callable[[int, float, float, float], float]  # (pair, margin, sign, loss of the added row) -> p


class Tested(Mapping[Key, Difference]):
    """A mapping from (metric, run, baseline) to `Difference`, with the options and samples of the test."""

    # What makes p by sign flips right.
    assumption = "Exact if differences are symmetric about their mean; otherwise approximate, better with more queries."

    def __init__(
        self, differences: Mapping[Key, Difference], aligned: Aligned, options: Options, missing: str = ""
    ) -> None:
        self._differences = dict(differences)
        self._aligned = aligned
        self.options = options
        self.missing = missing  # a phrase about the queries that each run lacks; empty if unknown
        # What was assumed about the input of the runs, in words, and the share of judged documents.
        self.of_input: Sequence[str] = ()
        self.runs = next(iter(aligned.samples.values())).runs
        numbers = [len(sample.values) for sample in aligned.samples.values()]
        self.queries = max(numbers)
        self.left_out = aligned.left_out + len(aligned.query_ids) - min(numbers)

    def __getitem__(self, key: Key) -> Difference:
        try:
            return self._differences[key]
        except KeyError:
            example = f", such as {next(iter(self._differences))!r}" if self._differences else ""
            raise KeyError(f"{key!r} was not tested: a key is (metric, run, baseline){example}") from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._differences)

    def __len__(self) -> int:
        return len(self._differences)

    def queries_phrase(self) -> str:
        """Say how many queries were tested, as a range if the number differs between metrics."""
        fewest = min(pair.queries for pair in self.values())
        return f"{fewest} to {self.queries} queries" if fewest < self.queries else counted(self.queries, "query")

    def retested(self, options: Options) -> list[Difference]:
        """Test the same values with other options."""
        return list(differences_of(self._aligned, options).values())

    def caveat(self, pair: Difference) -> str:
        """Return a sentence to add to each sentence about a difference, or an empty string."""
        return ""

    def key_of(self, metric: str | Metric) -> str | Metric:
        """Return the metric as it appears in the keys."""
        for key in self.options.metrics:
            if key == metric:
                return key
        raise KeyError(f"{metric} was not tested; there are: {', '.join(map(str, self.options.metrics))}")


def adjusted_for(p: Floats, joint: Floats, correction: Correction | None) -> Floats:
    """Correct p-values for several comparisons. `joint`: those of max-T, of which no p may be larger."""
    if correction == MAX_T:
        adjusted: Floats = np.maximum(joint, p)
        return adjusted
    return holm(p) if correction == HOLM else benjamini_hochberg(p) if correction == BH else p


def aligned_of(tests: Tested) -> Aligned:
    """Return the values that were tested."""
    return tests._aligned


def sample_of(tests: Tested, metric: str | Metric) -> Sample:
    """Return the tested values of a metric."""
    return tests._aligned.samples[metric]


def check_baselines(runs: Sequence[str], given: Any) -> str | tuple[str, ...] | None:
    """Check and return the baseline; several baselines become a tuple in the given order."""
    if given is None:
        return None
    names = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(dict.fromkeys(given))
    for name in names:
        if name not in runs:
            raise ValueError(f"baseline: there is no run {name!r}; there are: {', '.join(runs)}")
    if not names:
        raise ValueError("baseline is empty: name at least one run, or None for the default")
    if len(names) == len(runs):
        raise ValueError("baseline: all runs are baselines, which leaves none to compare: leave baseline out")
    return tuple(names) if len(names) > 1 else names[0]


def check(runs: Sequence[str], given: Options) -> Options:
    """Check the caller's options and return the options to use."""
    if len(runs) < 2:
        raise ValueError("there is one run: a test needs two or more")
    check_choices(method=given.method, family=given.family, intervals=given.intervals)
    correction = given.correction
    if correction is not None and correction not in CHOICES["correction"]:
        choices = ", ".join(map(repr, CHOICES["correction"]))
        raise ValueError(f"correction must be one of {choices} or None, not {correction!r}")
    options = given._replace(
        correction=HOLM if given.method == STUDENT and correction == MAX_T else correction,  # max-T needs flips
        margin=None if given.margin is None else check_margin(given.margin),
        level=check_level(given.level),
        flips=check_whole(given.flips, "flips", 1, MOST_FLIPS),
        seed=check_whole(given.seed, "seed", 0, 2**64 - 1),
        threads=check_threads(given.threads),
    )
    if options.method != STUDENT and threshold(options.alpha, options.flips + 1, random=True) < 1:
        raise ValueError(
            f"flips={options.flips} cannot show anything at level={options.level}: "
            f"needs flips={math.ceil(1 / options.alpha - 1e-9) - 1} or more"
        )
    return options


def chosen_metrics(metrics: Any, known: Sequence[str | Metric]) -> tuple[str | Metric, ...]:
    """Return the metrics to test, in the form in which they were evaluated."""
    if metrics is None:
        return tuple(known)
    requested = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    for metric in requested:
        if metric not in known:
            raise ValueError(f"metrics: {metric!s} was not evaluated; there are: {', '.join(map(str, known))}")
    if not requested:
        raise ValueError("metrics is empty: name at least one, or None for all")
    return tuple(known[known.index(metric)] for metric in dict.fromkeys(requested))


def check_margin(value: Any) -> float:
    margin = check_number(value, "margin")
    if not 0 <= margin < math.inf:
        raise ValueError(
            f"margin must be finite and at least 0, not {quoted(value)}: it is how much worse is still good enough"
        )
    return margin


def check_bounded(metric: str | Metric) -> None:
    """Raise ValueError if no margin can be tested, because the metric has no upper bound."""
    if not is_bounded(metric):
        raise ValueError(f"margin: {metric!s} has no upper bound, so no margin can be tested: leave either out")


def check_possible(margin: float | None, pairs: Iterable[Difference]) -> None:
    """Raise ValueError if a baseline cannot lose more than the margin, since every change would pass."""
    for pair in pairs:
        lowest, highest = value_range(pair.metric)
        if not margin or not better(pair.metric) or math.isinf(highest):
            continue
        loss = pair.baseline_mean - lowest if better(pair.metric) > 0 else highest - pair.baseline_mean
        if margin >= loss:
            logs = " (log2)" if aggregator(pair.metric) is geometric_mean else ""
            raise ValueError(
                f"margin must be below {loss:.4f}{logs}, the most that {pair.metric!s} of {pair.baseline!r} can lose, "
                f"not {quoted(margin)}: write 0.02 for '2 points'"
            )


def pairs_of(runs: Sequence[str], baseline: str | tuple[str, ...] | None) -> list[tuple[int, int]]:
    """Return the pairs (run, baseline), as positions.

    Each other run is paired with each baseline. Without a baseline, each run is paired with all earlier runs.
    """
    if baseline is not None:
        bases = [list(runs).index(name) for name in ([baseline] if isinstance(baseline, str) else baseline)]
        return [(run, base) for base in bases for run in range(len(runs)) if run not in bases]
    return [(run, base) for base in range(len(runs)) for run in range(base + 1, len(runs))]


def compute(
    evaluations: Mapping[str, Evaluation], options: Options, weights: Any = None, clusters: Any = None
) -> tuple[dict[Any, Difference], Aligned]:
    """Return a mapping from (metric, run, baseline) to the difference, and the aligned values."""
    if options.method == STUDENT and (weights is not None or clusters is not None):
        name = "clusters" if weights is None else "weights"
        raise ValueError(f"{name}: method='t' takes none: choose method='randomization', or leave {name} out")
    aligned = align(evaluations, options.metrics, options.queries, weights, clusters)
    if options.method == STUDENT:
        for metric, sample in aligned.samples.items():
            if sample.weights is not None:
                raise ValueError(
                    f"{metric!s} weighs queries, and method='t' takes no weights: choose method='randomization', or "
                    "other metrics"
                )
    if options.family == "all":
        aligned = aligned._replace(samples=_of_one_family(aligned.samples))
    differences = differences_of(aligned, options)
    check_possible(options.margin, differences.values())
    return differences, aligned


def differences_of(aligned: Aligned, options: Options) -> dict[Key, Difference]:
    """Compute the differences from aligned values."""
    families = [aligned.samples]
    if options.family == "metric":  # testing one metric at a time needs less memory
        families = [{metric: sample} for metric, sample in aligned.samples.items()]
    return {
        (pair.metric, pair.run, pair.baseline): pair
        for samples in families
        for pair in _Family(samples, options).differences()
    }


def _of_one_family(samples: Mapping[str | Metric, Sample]) -> dict[str | Metric, Sample]:
    """Restrict the samples to the queries that count for all metrics."""
    known = set.intersection(*(set(sample.query_ids) for sample in samples.values()))
    common = {
        metric: sample.only(np.array([query in known for query in sample.query_ids], dtype=bool))
        for metric, sample in samples.items()
    }
    first = next(iter(common))
    for metric, sample in common.items():
        if not same_weights(sample.weights, common[first].weights):
            raise ValueError(
                f"family='all': {metric!s} and {first!s} weigh queries differently: test them separately, "
                "with family='metric'"
            )
    return common


class _Family:
    """One family of comparisons: all pairs of runs, for one metric or for all metrics."""

    def __init__(self, samples: Mapping[str | Metric, Sample], options: Options) -> None:
        (metric, sample), *_ = samples.items()
        self.samples, self.options = samples, options
        self.pairs = pairs_of(sample.runs, options.baseline)
        self.keys = [(key, run, base) for key in samples for run, base in self.pairs]
        self.queries = len(sample.values)
        if self.queries < 2:
            raise ValueError(
                f"{metric!s}: a test needs at least 2 queries that have a value in all runs, and there is "
                f"{'one' if self.queries else 'none'}"
            )
        self.count = len(self.keys)
        self.weights = sample.weights
        self.by_query, units = columns_of(samples, self.pairs)
        self.columns, self.units = self.by_query, units
        if self.weights is not None or sample.clusters is not None:
            self.columns, self.units = columns_of(samples, self.pairs, sample.weights, sample.clusters)
        self.signs = len(self.columns.values)
        if self.signs < 2:
            raise ValueError("clusters: all queries are in one cluster, and a test needs at least 2")
        self.facts = facts(self.columns)
        self.sds = spreads(self.by_query, self.weights) * units
        self.errors = self.sds if self.signs == self.queries else clustered_spreads(self.columns) * self.units
        self.alone = self.count == 1 or options.correction is None
        self.means = {key: [mean(vector, self.weights) for vector in each.values.T] for key, each in samples.items()}

    def differences(self) -> Iterator[Difference]:
        tested = self._by_t() if self.options.method == STUDENT else self._by_flips()
        for end, none in (("low", -np.inf), ("high", np.inf)):  # without nonzero differences, there is no interval
            tested[end] = np.where(self.facts.nonzero > 0, tested[end] * self.units + 0.0, none)
        for number, values in enumerate(zip(*(column.tolist() for column in tested.values()), strict=True)):
            yield self._difference(number, dict(zip(tested, values, strict=True)))

    def _difference(self, number: int, tested: Mapping[str, Any]) -> Difference:
        """Return the record of a pair. `tested`: the fields that depend on the method."""
        (metric, run, base), options = self.keys[number], self.options
        values, names = self.samples[metric].values, self.samples[metric].runs
        lower_is_better = better(self.samples[metric].record) < 0
        mean, baseline_mean = self.means[metric][run], self.means[metric][base]
        # Sums that are equal on the grid can differ only by rounding errors.
        difference = mean - baseline_mean if abs(self.facts.totals[number]) > self.columns.slack else 0.0
        differ = not_zero(self.by_query.differences(number, number + 1)[0])
        higher = int(np.count_nonzero(differ & (values[:, run] > values[:, base])))
        lower = int(np.count_nonzero(differ)) - higher
        sd = float(self.sds[number])
        # The effective number of queries, and the number of independent units (queries or clusters).
        effective_queries = float(self.queries) if self.weights is None else effective(self.weights)
        units = effective_queries if self.signs == self.queries else float(self.signs)
        return Difference(
            metric=metric,
            run=names[run],
            baseline=names[base],
            mean=mean,
            baseline_mean=baseline_mean,
            difference=difference,
            level=options.level,
            better=lower if lower_is_better else higher,
            same=self.queries - higher - lower,
            worse=higher if lower_is_better else lower,
            effect=hedges(difference, sd, effective_queries),
            sd=sd,
            queries=self.queries,
            detectable=detectable(float(self.errors[number]), units, options.alpha),
            margin=math.nan if options.margin is None else options.margin,
            comparisons=self.count,
            clusters=self.signs,
            differing=int(self.facts.nonzero[number]),
            correction="" if self.alone or options.correction is None else options.correction,
            **tested,
        )

    @property
    def _alpha(self) -> float:
        """The error rate of each interval: alpha or, for simultaneous intervals without max-T, alpha / comparisons."""
        options = self.options
        shared = options.intervals == SIMULTANEOUS and options.correction != MAX_T
        return options.alpha / self.count if shared else options.alpha

    # Tests by sign flips

    def _by_flips(self) -> dict[str, Array]:
        """Compute the fields that depend on the method.

        They are computed from all sign vectors of a pair if there are few, and otherwise from random flips. p can be
        exact even if the interval is not, because p depends only on the signs of nonzero differences, and the interval
        depends on the signs of all rows. With simultaneous max-T intervals, each interval depends on all pairs and is
        computed from flips.
        """
        columns, observed, options = self.columns, self.facts, self.options
        exact, subsets = self._enumerate()
        max_t = options.correction == MAX_T and self.count > 1
        single_step = max_t and options.intervals == SIMULTANEOUS
        flips = None
        if max_t or None in subsets:
            flips = Flips(columns, options.flips, options.seed, options.threads)
        drawn = 0 if flips is None or not flips.extra else flips.count

        low, high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        from_flips = np.array([single_step or each is None for each in subsets])
        for number, each in enumerate(subsets):
            if each is not None and not single_step:
                low[number], high[number] = each.bound(1.0, self._alpha), -each.bound(-1.0, self._alpha)
        p = joint_p = exact
        if flips is not None:
            counts, joint_counts = self._counts(flips, max_t and not single_step)
            allowed = np.full(self.count, threshold(self._alpha, flips.total, bool(flips.extra)))
            if single_step:
                joint_counts, allowed = self._in_one_step(flips)
            p, joint_p = np.where(np.isnan(exact), counts / flips.total, exact), joint_counts / flips.total
            pairs = np.flatnonzero(from_flips & (observed.nonzero > 0))
            low[pairs], high[pairs] = flips.bounds(columns.of(pairs), observed.totals[pairs], allowed[pairs])
        adjusted = self._adjusted(p, joint_p)
        low, high = self._reconcile(adjusted if single_step else p, low, high, drawn)

        def one_sided(number: int, margin: float, sign: float, extra: float) -> float:
            # Adding a row with weight w and difference −extra adds (margin − extra) · w to the sum.
            weight, slack = columns.whole / self.signs, columns.slack
            limits = slack, slack + (extra - margin) * weight
            each = subsets[number]
            if each is None:
                assert flips is not None
                pair = int(columns.left[number]), int(columns.right[number]), float(observed.totals[number])
                without, added = flips.shares_below(*pair, margin, sign, limits)
            else:
                without, added = each.shares_below(margin, sign, limits)
            return max(without, (without + added) / 2)

        method = np.where(np.isnan(exact) & (drawn > 0), RANDOM, EXACT)
        fields = {"p": p, "adjusted": adjusted, "low": low, "high": high, "method": method}
        return fields | {"flips": np.full(self.count, drawn)} | self._margins(one_sided)

    def _in_one_step(self, flips: Flips) -> tuple[Ints, Ints]:
        """Return two counts of sign vectors for each pair, as required by single-step max-T.

        The first counts the sign vectors whose largest statistic is at least that of the pair, and gives p. The second
        is the number of sign vectors that the interval allows; with this number, the interval contains 0 if and only if
        the pair is not decided.
        """
        columns, observed = self.columns, self.facts
        largest = np.sort(flips.largest(columns, observed))
        joint_counts = flips.extra + flips.count - np.searchsorted(largest, flips.limits(observed))
        most = threshold(self._alpha, flips.total, bool(flips.extra)) - flips.extra
        critical = largest[max(flips.count - 1 - most, 0)]  # larger statistics are rejected
        # Count only statistics that are larger by more than rounding errors.
        sizes = ratios(critical, observed.scales) + 3.0 * flips.slack
        allowed, _ = flips.exceeded(columns, observed, joint=False, sizes=sizes)
        return joint_counts, allowed

    def _enumerate(self) -> tuple[Floats, list[Subsets | None]]:
        """Return the exact p and all subsets of each pair, or NaN and None where flips must be used instead.

        With at most ENUMERATED rows, the flips are all sign vectors, so that all entries are NaN and None.
        """
        requested = self.options.method == EXACT
        unit = "queries" if self.signs == self.queries else "clusters"
        most, most_subsets = (EXACT_REQUESTED, SUBSETS_REQUESTED) if requested else (EXACT_BY_DEFAULT, SUBSETS)
        p = np.full(self.count, math.nan)
        subsets: list[Subsets | None] = [None] * self.count
        for number, nonzero in enumerate(self.facts.nonzero.tolist()):
            if requested and nonzero > most:
                raise ValueError(
                    f"method='exact': {self._named(number)} differ in {nonzero} {unit}, and all sign vectors can be "
                    f"enumerated for at most {most}: choose method='randomization'"
                )
            if nonzero <= most and self.signs > ENUMERATED:
                differences = self.columns.differences(number, number + 1)[0]
                p[number] = exact_p(differences, self.columns.sizes)
                if countable(nonzero, self.columns, most_subsets):
                    subsets[number] = Subsets(differences, self.columns)
        return p, subsets

    def _named(self, number: int) -> str:
        metric, run, base = self.keys[number]
        names = self.samples[metric].runs
        return f"{metric!s}: {names[run]!r} and {names[base]!r}"

    def _counts(self, flips: Flips, joint: bool) -> tuple[Ints, Ints]:
        """For each pair, count the flips at least as extreme as the observation, also jointly for step-down max-T.

        The joint count of a pair also includes flips in which a pair with a smaller statistic is as extreme as the
        observation of this pair.
        """
        if not joint:
            return flips.exceeded(self.columns, self.facts, joint=False)
        order = np.argsort(-ratios(np.abs(self.facts.totals), self.facts.norms), kind="stable")
        single, any_of = flips.exceeded(self.columns.of(order), self.facts.of(order), joint=True)
        counts, joint_counts = np.empty_like(single), np.empty_like(any_of)
        counts[order], joint_counts[order] = single, np.maximum.accumulate(any_of)
        return counts, joint_counts

    def _adjusted(self, p: Floats, joint: Floats) -> Floats:
        if self.alone:
            return p
        joint = np.where(self.facts.norms > 0, joint, 1.0)
        return adjusted_for(p, joint, self.options.correction)

    def _reconcile(self, p: Floats, low: Floats, high: Floats, drawn: int) -> tuple[Floats, Floats]:
        """Move interval ends to 0, or to one unit beyond 0, where an interval estimated from flips contradicts p."""
        unit = self.columns.slack / self.columns.whole
        decided, positive = p <= largest_p(self._alpha, drawn), self.facts.totals > 0
        wrong = (low <= 0.0) & (high >= 0.0)
        low = np.where(decided, np.where(wrong & positive, unit, low), np.minimum(low, 0.0))
        return low, np.where(decided, np.where(wrong & ~positive, -unit, high), np.maximum(high, 0.0))

    def _margins(self, one_sided: OneSided) -> dict[str, Array]:
        """Return the one-sided p-values of each pair for non-inferiority and equivalence.

        The null hypotheses are "worse by at least the margin" and "apart by at least the margin". Sign flips use only
        the queries that differ. If few queries differ, a sample can easily miss rare queries that are much worse.
        Therefore, the test is repeated with an additional row (see `_added_loss`), and the larger p counts. If no row
        differs, p is the probability of this outcome if a share margin / largest of the queries were worse by the
        largest possible difference. p is NaN if there is no largest possible difference, or no better direction.
        """
        sides = np.full((2, self.count), math.nan)
        margin, lower = self.options.margin, np.array([better(self.samples[key].record) < 0 for key, _, _ in self.keys])
        for number, (metric, _, _) in enumerate(self.keys):
            largest = largest_difference(metric)
            if margin is None or math.isinf(largest) or not better(metric):
                continue
            if not self.facts.nonzero[number]:
                sides[:, number] = max(1.0 - margin / largest, 0.0) ** self.signs
                continue
            in_units = margin / self.units[number]
            sides[:, number] = [
                one_sided(number, in_units, sign, self._added_loss(number, sign)) for sign in (1.0, -1.0)
            ]
        not_worse, equivalent = np.where(lower, sides[1], sides[0]), sides.max(axis=0)
        if not self.alone:
            tested = ~np.isnan(not_worse)
            not_worse[tested], equivalent[tested] = holm(not_worse[tested]), holm(equivalent[tested])
        return {"not_worse_p": not_worse, "equivalent_p": equivalent}

    def _added_loss(self, number: int, sign: float) -> float:
        """Return the loss of the row that the test of a margin adds, in units of the grid.

        It is z² times the largest possible difference, where z is the share of rows that do not differ, or the largest
        loss of a row if that is larger. If the sign is −1, gains count as losses.
        """
        (metric, _, _), columns = self.keys[number], self.columns
        rows = sign * columns.differences(number, number + 1)[0]
        possible = float(self.facts.equal[number]) ** 2 * largest_difference(metric) / float(self.units[number])
        return max(possible, -float(rows.min()) * self.signs / columns.whole)

    def pilot(self) -> Pilot:
        """Return what the only pair of the family says about a test of other queries."""
        ((metric, _, _),), unit, bounded = self.keys, float(self.units[0]), is_bounded(self.keys[0][0])
        added = self._added_loss(0, better(metric) or 1) * unit if bounded else math.nan
        uneven = 1.0
        if self.weights is not None and self.signs == self.queries:
            uneven = self.queries / effective(self.weights)
        return Pilot(float(self.errors[0]), added, largest_difference(metric), self.signs, uneven)

    # Tests by Student's t

    def _by_t(self) -> dict[str, Array]:
        special, count = student(), self.queries
        means, errors = self.facts.totals / count, self.sds / self.units / math.sqrt(count)
        half = float(special.stdtrit(count - 1, 1 - self._alpha / 2))

        def below(distances: Floats, errors: Floats, freedom: int) -> Floats:
            """Return the probability of smaller values under Student's t distribution; 0 or 1 if nothing varies."""
            scaled = np.divide(distances, errors, out=np.where(distances < 0, -np.inf, np.inf), where=errors > 0)
            tails: Floats = special.stdtr(freedom, scaled)
            return tails

        def one_sided(number: int, margin: float, sign: float, extra: float) -> float:
            mean, error = sign * means[number], errors[number]
            squares = error**2 * count * (count - 1) + (mean + extra) ** 2 * count / (count + 1)
            more = (count * mean - extra) / (count + 1), math.sqrt(squares / (count + 1) / count)
            p = [
                below(np.array([-(centre + margin)]), np.array([spread]), freedom)
                for centre, spread, freedom in ((mean, error, count - 1), (*more, count))
            ]
            return float(max(p)[0])

        p = np.minimum(2 * below(-np.abs(means), errors, count - 1), 1.0)
        low, high = means - half * errors, means + half * errors
        fields = {"p": p, "adjusted": self._adjusted(p, p), "low": low, "high": high}
        same = {"method": np.full(self.count, STUDENT), "flips": np.zeros(self.count, dtype=np.int64)}
        return fields | same | self._margins(one_sided)


def pilot_of(tests: Tested, metric: str | Metric) -> Pilot:
    """Return what the test of a run against a baseline says about a test of other queries."""
    return _Family({metric: sample_of(tests, metric)}, tests.options).pilot()


def columns_of(
    samples: Mapping[str | Metric, Sample],
    pairs: Sequence[tuple[int, int]],
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> tuple[DifferenceColumns, Floats]:
    """Convert the values of several metrics to columns on a grid; return the columns and the grid unit of each pair.

    Weights are scaled by a power of two to at most 1, and rounded to integers on a separate grid.
    """
    parts: list[Floats] = []
    left, right, units = [], [], []
    on_grid: Floats | None = None
    grid = 0
    if weights is not None:
        weights = np.ldexp(weights, -(math.frexp(float(weights.max()) * (1 - 2.0**-53))[1]))
        grid = unit_exponent(1.0, len(weights), bounded=True) - 1
        on_grid = np.maximum(np.rint(np.ldexp(weights, -grid)), 1.0)
    for sample in samples.values():
        runs = len(sample.runs)
        differences = sample.values[:, 1:] - sample.values[:, :1]
        exponent = _grid_exponent(sample)
        offset = len(parts) * (runs - 1)
        parts.append(np.rint(np.ldexp(differences if weights is None else differences * weights[:, None], -exponent)))
        for run, base in pairs:
            left.append(offset + base - 1 if base else -1)
            right.append(offset + run - 1 if run else -1)
            units.append(math.ldexp(1.0, exponent - grid))
    together = np.ascontiguousarray(np.concatenate(parts, axis=1))
    columns = DifferenceColumns(together, np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), on_grid)
    return columns if clusters is None else _clustered(columns, clusters), np.array(units)


def _grid_exponent(sample: Sample) -> int:
    """Return the base-2 logarithm of the grid unit. That of a bounded metric does not depend on the runs compared."""
    largest = float(np.abs(sample.values[:, 1:] - sample.values[:, :1]).max())
    bounded = highest_value(sample.record) == 1.0 and largest <= 1.0
    return unit_exponent(largest, len(sample.values), bounded)


def grid_unit(sample: Sample) -> float:
    """Return the unit of the grid, which is the largest rounding error of a difference."""
    return math.ldexp(1.0, _grid_exponent(sample))


def _clustered(columns: DifferenceColumns, clusters: Ints) -> DifferenceColumns:
    """Sum the rows of each cluster; return the columns unchanged if each cluster has one query."""
    numbers, cluster_of = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(cluster_of).astype(np.float64)
    if len(numbers) == len(clusters):
        return columns
    values = np.zeros((len(numbers), columns.values.shape[1]))
    np.add.at(values, cluster_of, columns.values)
    weights = sizes if columns.weights is None else np.bincount(cluster_of, weights=columns.weights).astype(np.float64)
    return columns._replace(values=values, weights=weights, sizes=sizes)


def too_coarse(options: Options, comparisons: int) -> str | None:
    """Return a note if the smallest p possible with random flips is not well below the level of one comparison."""
    shares = options.correction in (HOLM, BH) or (options.correction is None and options.intervals == SIMULTANEOUS)
    if options.method == STUDENT or comparisons < 2 or not shares:
        return None
    if comparisons / (options.flips + 1) <= options.alpha / FINE:
        return None
    return f"too few flips for {comparisons} comparisons: needs {math.ceil(comparisons * FINE / options.alpha)}"
