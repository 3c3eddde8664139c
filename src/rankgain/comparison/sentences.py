"""Sentences about the tests of a comparison. Each sentence must be understandable without the table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rankgain import _backend
from rankgain.comparison.difference import (
    EXACT,
    NOT_EQUAL,
    RANDOM,
    STUDENT,
    Difference,
    about_margin,
    alpha_text,
    decimals_of,
    direction,
    is_inconclusive,
    joined,
    named,
    only_decided_alone,
    percent,
    result_of,
    started,
    subject,
    too_few,
    unit_of,
    unseen,
    untested,
)
from rankgain.comparison.power import POWER
from rankgain.comparison.remarks import MOST_SEARCHED
from rankgain.comparison.significance import EXACT_BY_DEFAULT, EXACT_REQUESTED
from rankgain.comparison.testing import BH, HOLM, MAX_T, SIMULTANEOUS, Options, Tested, sample_of, too_coarse
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import effective, geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import printable

FEW_QUERIES = 50  # with fewer queries, rare large differences may be missing from the sample
MOST_SENTENCES = 6  # if there are more differences, they are summarized per metric
_MOST_NAMES = 20  # maximum number of names in a sentence; further names are only counted
MANY_NOT_EQUAL = "Inconclusive differences do not show that runs are equal."
CORRECTION_NAMES = {MAX_T: "max-T", HOLM: "Holm", BH: "Benjamini-Hochberg: false discovery rate"}


def title(tests: Tested) -> str:
    """Say which runs were compared, and on how many queries."""
    queries = f"{_queries_and_clusters(tests)}, paired"
    baselines = baselines_of(tests)
    if not baselines:
        return f"{len(tests.runs)} runs, all pairs: {queries}"
    runs = list(dict.fromkeys(run for _, run, _ in tests))
    compared = printable(runs[0]) if len(runs) == 1 else f"{len(runs)} runs"
    return f"{compared} compared with {joined([printable(name) for name in baselines])}: {queries}"


def _queries_and_clusters(tests: Tested) -> str:
    clusters = {pair.clusters for pair in tests.values() if pair.clusters != pair.queries}
    return tests.queries_phrase() + (f" in {counted(max(clusters), 'cluster')}" if clusters else "")


def _left_out(tests: Tested) -> str:
    """Say how many queries were not tested, as a range if the number differs between metrics."""
    fewest = min(pair.queries for pair in tests.values())
    least = tests.left_out + fewest - tests.queries
    return f"{least} to {tests.left_out}" if least < tests.left_out else str(tests.left_out)


def baseline_of(tests: Tested) -> str | None:
    """Return the baseline, or None if there are several baselines or if all pairs of runs are compared."""
    baselines = baselines_of(tests)
    return baselines[0] if len(baselines) == 1 else None


def baselines_of(tests: Tested) -> list[str]:
    """Return the baselines, or an empty list if all pairs of runs are compared."""
    baselines = list(dict.fromkeys(baseline for _, _, baseline in tests))
    return baselines if tests.options.baseline is not None or is_pair(tests) else []


def comparisons_of(tests: Tested) -> int:
    """Return the number of comparisons in each family."""
    return next(iter(tests.values())).comparisons


def is_corrected(tests: Tested) -> bool:
    """Return whether p-values are corrected for multiple comparisons."""
    return tests.options.correction is not None and any(pair.comparisons > 1 for pair in tests.values())


def rest(count: int, most: int, what: str) -> list[str]:
    """Return one line that counts the items beyond the first `most`, or no line if there are none."""
    return [f"… and {count - most} more{what}"] if count > most else []


def is_pair(tests: Tested) -> bool:
    """Return whether exactly two runs are compared."""
    return len({key[1:] for key in tests}) == 1


def is_matrix(tests: Tested) -> bool:
    """Return whether the matrix is printed, as it is when all pairs of more than three runs are compared."""
    return not baselines_of(tests) and len(tests.runs) > 3


# Verdicts


def verdicts(tests: Tested) -> list[str]:
    """Return one sentence per difference, decided ones first, or lines per metric if there are many differences."""
    metrics = tests.options.metrics
    if not has_few(tests):
        lines = [line for metric in metrics for line in _of_metric(tests, metric)]
        return [*lines, MANY_NOT_EQUAL] if any(map(is_inconclusive, tests.values())) else lines
    pairs = sorted(tests.values(), key=is_inconclusive)
    lines = [f"{result_of(pair)} {tests.caveat(pair)}".rstrip() for pair in pairs]
    inconclusive = sum(map(is_inconclusive, pairs))
    if inconclusive == 1:
        lines[-1] += f" {NOT_EQUAL}"
    lines += [line for pair in tests.values() for line in about_margin(pair, f"{named(pair.metric)}: ")]
    return [*lines, MANY_NOT_EQUAL] if inconclusive > 1 else lines


def has_few(tests: Tested) -> bool:
    """Return whether each difference gets its own sentence."""
    return is_pair(tests) or len(tests) <= MOST_SENTENCES


def _of_metric(tests: Tested, metric: str | Metric) -> Iterator[str]:
    """For each baseline, or for all pairs, yield a line about the differences in a metric and one about the margin."""
    name, lower = printable(subject(metric)), " (lower is better)" if better(metric) < 0 else ""
    if not better(metric):
        yield f"{name}: neither higher nor lower is better, so there is no verdict."
        return
    baselines: list[str | None] = [*baselines_of(tests)] or [None]
    pairs = [pair for key, pair in tests.items() if key[0] == metric]
    for baseline in baselines:
        against = f" vs {printable(baseline)}" if len(baselines) > 1 else ""
        some = [pair for pair in pairs if baseline in (None, pair.baseline)]
        yield from _against_one(tests, metric, f"{name}{against}{lower}: ", baseline, some)


def _against_one(
    tests: Tested, metric: str | Metric, head: str, baseline: str | None, pairs: Sequence[Difference]
) -> Iterator[str]:
    margin = tests.options.margin
    sentences = _ranking(tests, metric) if baseline is None else _against(baseline, pairs)
    few = [pair for pair in pairs if is_inconclusive(pair) and too_few(pair)]
    label = f"Too few queries differ for a decision at {alpha_text(tests.options.level)}"
    too_few_differ = [f"{label}."] if len(few) == len(pairs) else _sentences(baseline, {label: few})
    caveats = dict.fromkeys(caveat for pair in pairs if (caveat := tests.caveat(pair)))
    yield head + " ".join([*sentences, *too_few_differ, *caveats])
    if margin is not None:
        yield head + " ".join(_on_margin(margin, baseline, pairs))


def _sentences(baseline: str | None, groups: Mapping[str, Sequence[Difference]]) -> list[str]:
    """For each nonempty group, return a sentence with its label and its runs or, without a baseline, its run pairs."""
    names = {
        label: [pair.run if baseline is not None else f"{pair.run} vs {pair.baseline}" for pair in group]
        for label, group in groups.items()
    }
    parts = [f"{label}: {_listed(runs)}." for label, runs in names.items() if runs]
    return parts[:1] + [started("", part) for part in parts[1:]]


def _against(baseline: str, pairs: Sequence[Difference]) -> list[str]:
    base = printable(baseline)
    groups = {
        f"better than {base}": [pair for pair in pairs if direction(pair) > 0],
        f"worse than {base}": [pair for pair in pairs if direction(pair) < 0],
        f"the same as {base} for every query": [pair for pair in pairs if pair.unchanged],
        "inconclusive": list(filter(is_inconclusive, pairs)),
    }
    return _sentences(baseline, groups)


def _ranking(tests: Tested, metric: str | Metric) -> list[str]:
    best, leaders = tied_with_best(tests, metric), leaders_of(tests, metric)
    others = [name for name in best if name not in leaders]
    names = joined([printable(name) for name in leaders])
    if len(leaders) == len(tests.runs):
        return ["all runs have the same mean."]
    if len(best) == 1:
        return [f"{names} is better than every other run."]
    has, leader = ("has", names) if len(leaders) == 1 else ("have", "at least one of them")
    inconclusive = [f"Inconclusive: {_listed(others)} vs {leader}."] if others else []
    return [f"{names} {has} the best mean.", *inconclusive]


def _on_margin(margin: float, baseline: str | None, pairs: Sequence[Difference]) -> list[str]:
    if all(math.isnan(pair.not_worse_p) for pair in pairs):
        return [untested(margin)]
    than, size = "" if baseline is None else f" than {printable(baseline)}", short(margin)
    not_worse = [pair for pair in pairs if pair.not_worse]
    groups = {
        f"less than {size} apart": [pair for pair in pairs if pair.equivalent],
        f"not shown to be at most {size} worse{than}": [pair for pair in pairs if not pair.not_worse],
    }
    shown = _sentences(baseline, {f"not worse{than} by more than {size}": not_worse} | groups)
    return shown[:1] + [unseen(pair) for pair in not_worse[:1] if unseen(pair)] + shown[1:]


def tied_with_best(tests: Tested, metric: str | Metric) -> list[str]:
    """Return the runs with the best mean, and runs whose difference from at least one of them is not decided.

    The list is empty if neither higher nor lower is better.
    """
    means, leaders = means_of(tests, metric), leaders_of(tests, metric)
    ordered = sorted(means, key=lambda name: -better(tests.key_of(metric)) * means[name])
    decided = {frozenset(key[1:]) for key, pair in tests.items() if key[0] == metric and pair.decided}
    return [name for name in ordered if any(frozenset((name, leader)) not in decided for leader in leaders)]


def leaders_of(tests: Tested, metric: str | Metric) -> list[str]:
    """Return the runs with the best mean, or an empty list if neither higher nor lower is better."""
    way = better(tests.key_of(metric))
    means = {name: way * mean for name, mean in means_of(tests, metric).items()}
    best = max(means.values())
    return [name for name, mean in means.items() if mean == best] if way else []


def means_of(tests: Tested, metric: str | Metric) -> dict[str, float]:
    """Return the mean of each run over the queries that were tested."""
    tested = [pair for key, pair in tests.items() if key[0] == tests.key_of(metric)]
    pairs = [((pair.baseline, pair.baseline_mean), (pair.run, pair.mean)) for pair in tested]
    return dict(pair for both in pairs for pair in both)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:_MOST_NAMES]))
    return shown + (f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else "")


# The methods section of a paper


def methods(tests: Tested) -> str:
    """Describe the test, statistic, flips, seed, correction, family and version."""
    options, some = tests.options, next(iter(tests.values()))
    clusters = max(pair.clusters for pair in tests.values())
    signs = f" in {clusters} clusters (one sign per cluster)" if clusters < tests.queries else ""
    weighted = any(sample_of(tests, metric).weights is not None for metric in options.metrics)
    mean = "weighted mean" if weighted else "mean"
    test = "t-test" if options.method == STUDENT else "sign-flip randomization test"
    first = f"Two-sided paired {test} of the {mean} difference over {tests.queries_phrase()}{signs}{_how(tests)}"
    interval = "Student's t" if options.method == STUDENT else "inverting the test"
    if options.intervals == SIMULTANEOUS and some.comparisons > 1:
        interval += f", simultaneous ({'single-step max-T' if options.correction == MAX_T else 'Bonferroni'})"
    return (
        f"{first};\n{percent(options.level)} intervals by {interval}; {_corrected(tests, some.comparisons)}"
        f"{_margin(tests)}; rankgain {_backend.VERSION}."
    )


def _how(tests: Tested) -> str:
    """Say how p was computed, and which random flips were used."""
    used = {pair.method for pair in tests.values()}
    some = max(tests.values(), key=lambda pair: pair.flips)
    flips = f"{some.flips:,} random flips, seed {tests.options.seed}"
    if used == {EXACT} and not some.flips:
        return ", exact (all sign vectors)"
    if used == {EXACT}:
        return f", p exact (all sign vectors), {_from_flips(tests)} from {flips}, where they cannot be counted"
    if used == {RANDOM} and not some.flips:  # corrected values, for which no p is exact
        return ", all sign vectors"
    if used == {EXACT, RANDOM}:
        units = "clusters" if any(pair.clusters < tests.queries for pair in tests.values()) else "queries"
        return f", p exact if at most {_most(tests.options)} {units} differ, all other p and the intervals from {flips}"
    return f", {flips}" if used == {RANDOM} else ""


def _from_flips(tests: Tested) -> str:
    """Name the results that are computed from random flips even if p is exact."""
    return "intervals and max-T" if tests.options.correction == MAX_T and comparisons_of(tests) > 1 else "intervals"


def _most(options: Options) -> int:
    return EXACT_REQUESTED if options.method == EXACT else EXACT_BY_DEFAULT


def _corrected(tests: Tested, comparisons: int) -> str:
    if comparisons == 1:
        return "one comparison, no correction" if len(tests) == 1 else "each metric tested separately"
    if tests.options.correction is None:
        return f"{comparisons} comparisons, not corrected"
    return f"corrected for the {_family(tests.options, comparisons)}"


def _family(options: Options, comparisons: int) -> str:
    of = "of all metrics" if options.family == "all" else "of each metric"
    step = {MAX_T: ", single-step" if options.intervals == SIMULTANEOUS else ", step-down"}
    correction = CORRECTION_NAMES[options.correction or ""] + step.get(options.correction or "", "")
    return f"{comparisons} comparisons {of} ({correction}, {'not ' if options.correction == BH else ''}family-wise)"


def _margin(tests: Tested) -> str:
    """Name the tests of the margin that were made, which metrics without an upper bound do not have."""
    metrics = list(dict.fromkeys(pair.metric for pair in tests.values() if not math.isnan(pair.not_worse_p)))
    if tests.options.margin is None or not metrics:
        return ""
    alpha = short(round(tests.options.alpha / 2, 12))
    some = len(metrics) < len(tests.options.metrics)
    of = f" in {joined([printable(metric) for metric in metrics])}" if some else ""
    corrected = ", corrected by Holm" if any(pair.correction for pair in tests.values()) else ""
    return f"; one-sided tests of the margin {short(tests.options.margin)}{of} at {alpha}{corrected}"


# The lines below the verdicts


def summary_lines(tests: Tested) -> list[str]:
    """Return a line about the method and the queries, followed by lines about limitations of the conclusions."""
    return [_method_line(tests), *tests.of_input, *_limits(tests)]


def _method_line(tests: Tested) -> str:
    queries = [_queries_and_clusters(tests)]
    if any(sample_of(tests, metric).weights is not None for metric in tests.options.metrics):
        queries.append("weighted")
    if _left_out(tests) != "0":
        queries.append(f"{_left_out(tests)} left out")
    if tests.missing:
        queries.append(tests.missing)
    return f"{_method(tests)}{_adjustment(tests)}; {', '.join(queries)}."


def _method(tests: Tested) -> str:
    if tests.options.method == STUDENT:
        return "Student's paired t-test"
    flips = max(pair.flips for pair in tests.values())
    drawn = f"{flips:,}, seed {tests.options.seed}" if flips else "all"
    methods = {pair.method for pair in tests.values()}
    if methods == {EXACT}:
        return f"Sign flips (p exact; {_from_flips(tests)} from {drawn})" if flips else "Sign flips (all, exact)"
    return f"Sign flips ({drawn}{'; p exact where few differ' if EXACT in methods else ''})"


def _adjustment(tests: Tested) -> str:
    """Return a phrase that says what p is adjusted for."""
    options, count = tests.options, comparisons_of(tests)
    separate = len(options.metrics) > 1 and options.family == "metric"
    if count == 1:
        return ", metrics tested separately" if separate else ""
    comparisons = f"{count} comparisons{' of each metric' if separate else ''}"
    if options.correction is None:
        return f", not adjusted for {comparisons}"
    simultaneous = ", simultaneous intervals" if options.intervals == SIMULTANEOUS else ""
    return f", adjusted for {comparisons} ({CORRECTION_NAMES[options.correction]}{simultaneous})"


def _limits(tests: Tested) -> Iterator[str]:
    alone = sum(map(only_decided_alone, tests.values()))
    if alone and tests.options.intervals != SIMULTANEOUS and not is_matrix(tests):
        yield f"Intervals are not adjusted: 0 lies outside those of {counted(alone, 'inconclusive difference')}."
    coarse = too_coarse(tests.options, comparisons_of(tests))
    if coarse and any(pair.flips for pair in tests.values()):
        yield f"{started('', coarse)}."
    if min(pair.clusters for pair in tests.values()) < FEW_QUERIES:
        yield "With few queries, rare large differences may be missing."


# Notes


def details(tests: Tested) -> Iterator[str]:
    """Yield notes that appear in neither the summary nor the description of the methods."""
    options, pairs = tests.options, list(tests.values())
    if options.method != STUDENT:
        yield tests.assumption
    if any(pair.flips for pair in pairs):
        yield "The last digit of p, and of the ends of the interval, varies with the seed."
    yield from _about_the_queries(tests)
    if len(options.metrics) > 1 and options.family == "metric":
        yield "The metrics are tested separately, without correction for that; decide by the metric you named first."
    alone = list(filter(only_decided_alone, pairs))
    if alone and not has_few(tests):
        names = _listed([f"{pair.run} vs {pair.baseline} in {pair.metric}" for pair in alone])
        yield f"Decided alone, but not among {comparisons_of(tests)} comparisons: {names}."
    if options.intervals == SIMULTANEOUS and options.correction != MAX_T and comparisons_of(tests) > 1:
        yield "Intervals by Bonferroni may contain 0 although the difference is decided."
    if has_few(tests):
        yield from (line for pair in pairs for line in _power(pair))
    yield from dict.fromkeys(unseen(pair) for pair in pairs if pair.not_worse and unseen(pair))
    if len(pairs) > MOST_SEARCHED:
        yield f"With more than {MOST_SEARCHED} differences, decisive queries are not searched."
    yield (
        "The interval is for other queries like these, on this collection and these judgments; not for retraining "
        "with other seeds."
    )


def _about_the_queries(tests: Tested) -> Iterator[str]:
    if any(pair.clusters != pair.queries for pair in tests.values()):
        yield "Queries of one cluster share one sign, since they are not independent of each other."
    for metric in tests.options.metrics:
        weights = sample_of(tests, metric).weights
        if weights is not None:
            many = f"{effective(weights):.1f} of equal weight"
            yield f"{printable(metric)}: queries are weighted, and carry as much information as {many}."
    if any(aggregator(metric) is geometric_mean for metric in tests.options.metrics):
        yield "For a geometric mean, the mean logarithm (base 2) is tested."


def _power(pair: Difference) -> Iterator[str]:
    if is_inconclusive(pair) and not math.isnan(pair.detectable):
        units = counted(pair.clusters, f"such {unit_of(pair)}")
        yield (
            f"{printable(subject(pair.metric))}, {printable(pair.run)} vs {printable(pair.baseline)}: a new test with "
            f"{units} would detect a true difference of {pair.detectable:.{decimals_of(pair)}f} with {percent(POWER)} "
            "power (uncorrected)."
        )
