"""The sentences about the tests of a comparison. Each must be complete without the table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.comparison.aligned import Aligned
from rankgain.comparison.difference import (
    EXACT,
    RANDOM,
    STUDENT,
    Difference,
    alpha_of,
    decided_alone,
    direction,
    joined,
    number_word,
    percent,
    places_of,
    signed,
    subject,
)
from rankgain.comparison.significance import EXACT_BY_DEFAULT, EXACT_REQUESTED, effective
from rankgain.comparison.testing import (
    BH,
    HOLM,
    MAX_T,
    SIMULTANEOUS,
    Options,
    Tested,
    differences_of,
    sample_of,
    too_coarse,
)
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import printable

FEW_QUERIES = 50  # with fewer, rare large differences may not have been observed
MOST_SEARCHED = 20  # maximum of differences that are searched for a single decisive query
MOST_ALONE = 5  # differences decided alone that each get a sentence; more share one
MOST_NAMES = 40  # names in a sentence; the rest are counted
# The factor by which p can rise if a query is left out. Of the sign vectors that are as extreme as the new sum, half
# are as extreme as the old sum if the query is added, so p at most doubles. The rest allows for corrections and
# clusters.
MOST_RISE = 4


def title(tests: Tested) -> str:
    """Which runs were compared, and on how many queries."""
    clusters = {pair.clusters for pair in tests.values() if pair.clusters != pair.queries}
    within = f" in {counted(max(clusters), 'cluster')}" if clusters else ""
    queries = f"{_queries(tests)}{within}, paired"
    baseline = baseline_of(tests)
    if baseline is None:
        return f"{len(tests.runs)} runs, all pairs: {queries}"
    runs = list(dict.fromkeys(run for _, run, _ in tests))
    compared = printable(runs[0]) if len(runs) == 1 else f"{len(runs)} runs"
    return f"{compared} compared with {printable(baseline)}: {queries}"


def _queries(tests: Tested) -> str:
    """How many queries were tested: a range if the number differs between metrics."""
    fewest = min(pair.queries for pair in tests.values())
    return f"{fewest} to {tests.queries} queries" if fewest < tests.queries else counted(tests.queries, "query")


def baseline_of(tests: Tested) -> str | None:
    """The run that all others are compared with; None if all pairs of runs are compared."""
    bases = {baseline for _, _, baseline in tests}
    return bases.pop() if len(bases) == 1 and (tests.options.baseline is not None or is_pair(tests)) else None


def is_corrected(tests: Tested) -> bool:
    """Whether p-values are corrected for other comparisons."""
    return tests.options.correction is not None and any(pair.comparisons > 1 for pair in tests.values())


def rest(count: int, most: int, what: str) -> list[str]:
    """A line that counts the items beyond the first `most`, if there are any."""
    return [f"… and {count - most} more{what}"] if count > most else []


def is_pair(tests: Tested) -> bool:
    """Whether exactly two runs are compared."""
    return len({key[1:] for key in tests}) == 1


# Verdicts


def verdicts(tests: Tested) -> Iterator[str]:
    """Yield the verdict of each difference between two runs; for more runs, sentences for each metric."""
    if is_pair(tests):
        yield from (pair.verdict() for pair in tests.values())
        return
    for metric in tests.options.metrics:
        pairs = [pair for key, pair in tests.items() if key[0] == metric]
        head = printable(subject(metric))
        baseline = baseline_of(tests)
        yield f"{head}: {_ranking(tests, metric) if baseline is None else _against(baseline, pairs)}"
        yield from _alone(head, pairs)
        if tests.options.margin is not None and better(metric):
            yield from _by_margin(head, short(tests.options.margin), baseline, pairs)


def _against(baseline: str, pairs: Sequence[Difference]) -> str:
    base = printable(baseline)
    if not better(pairs[0].metric):
        return f"neither higher nor lower is better, so there is no verdict on how the others compare with {base}."
    equal = [pair for pair in pairs if pair.same == pair.queries]
    groups = [
        (f"better than {base}", [pair for pair in pairs if direction(pair) > 0]),
        (f"worse than {base}", [pair for pair in pairs if direction(pair) < 0]),
        (f"not decided against {base}", [pair for pair in pairs if not direction(pair) and pair not in equal]),
        (f"the same as {base} for every query", equal),
    ]
    parts = [f"{label}: {_listed([pair.run for pair in group])}" for label, group in groups if group]
    return ". ".join(part[:1].upper() + part[1:] if position else part for position, part in enumerate(parts)) + "."


def _ranking(tests: Tested, metric: str | Metric) -> str:
    best = tied_with_best(tests, metric)
    if not best:
        return "neither higher nor lower is better, so there is no verdict."
    means = means_of(tests, metric)
    leaders = [name for name in best if means[name] == means[best[0]]]
    others = [name for name in best if name not in leaders]
    names = joined([printable(name) for name in leaders])
    if len(leaders) == len(means):
        return "all runs have the same mean."
    if len(best) == 1:
        return f"{names} is better than every other run."
    has, them = ("has", "it") if len(leaders) == 1 else ("have", "at least one of them")
    return f"{names} {has} the best mean" + (f"; not told apart from {them}: {_listed(others)}." if others else ".")


def _alone(head: str, pairs: Sequence[Difference]) -> Iterator[str]:
    """Name the differences that are decided without the correction for several comparisons, but not with it."""
    alone = [pair for pair in pairs if decided_alone(pair) and not pair.decided]
    if len(alone) <= MOST_ALONE:
        yield from (pair.verdict() for pair in alone)
    else:
        names = _listed([f"{pair.run} against {pair.baseline}" for pair in alone])
        yield f"{head}: decided alone, but not among {pairs[0].comparisons} comparisons: {names}."


def _by_margin(head: str, margin: str, baseline: str | None, pairs: Sequence[Difference]) -> Iterator[str]:
    than = "" if baseline is None else f" than {printable(baseline)}"
    if all(math.isnan(pair.not_worse_p) for pair in pairs):
        yield f"{head}: the margin {margin} is not tested: the metric has no upper bound."
        return
    for shown in (True, False):
        group = [pair for pair in pairs if pair.not_worse == shown]
        names = _listed([pair.run if baseline is not None else f"{pair.run} than {pair.baseline}" for pair in group])
        if group and shown:
            yield f"{head}: not worse{than} by more than {margin}: {names}."
        elif group:
            yield f"{head}: not shown to be at most {margin} worse{than}: {names}."


def tied_with_best(tests: Tested, metric: str | Metric) -> list[str]:
    """The runs with the best mean, and runs whose difference from these is not decided; empty if neither is better."""
    means = means_of(tests, metric)
    way = better(tests.key_of(metric))
    if not way:
        return []
    ordered = sorted(means, key=lambda name: -way * means[name])
    leaders = [name for name in ordered if means[name] == means[ordered[0]]]
    decided = {frozenset(key[1:]) for key, pair in tests.items() if key[0] == metric and pair.decided}
    return [name for name in ordered if any(frozenset((name, leader)) not in decided for leader in leaders)]


def means_of(tests: Tested, metric: str | Metric) -> dict[str, float]:
    """The mean of each run over the queries that were tested."""
    tested = [pair for key, pair in tests.items() if key[0] == tests.key_of(metric)]
    pairs = [((pair.baseline, pair.baseline_mean), (pair.run, pair.mean)) for pair in tested]
    return dict(pair for both in pairs for pair in both)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:MOST_NAMES]))
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


# The methods section of a paper


def methods(tests: Tested) -> str:
    """The test, statistic, flips, seed, correction, family and version."""
    options, some = tests.options, next(iter(tests.values()))
    clusters = max(pair.clusters for pair in tests.values())
    signs = f" in {clusters} clusters (one sign per cluster)" if clusters < tests.queries else ""
    weighted = any(sample_of(tests, metric).weights is not None for metric in options.metrics)
    mean = "weighted mean" if weighted else "mean"
    test = "t-test" if options.method == STUDENT else "sign-flip randomization test"
    first = f"Two-sided paired {test} of the {mean} difference over {_queries(tests)}{signs}{_how(tests)}"
    interval = "Student's t" if options.method == STUDENT else "inverting the test"
    if options.intervals == SIMULTANEOUS and some.comparisons > 1:
        interval += f", simultaneous ({'single-step max-T' if options.correction == MAX_T else 'Bonferroni'})"
    return (
        f"{first};\n{percent(options.level)} intervals by {interval}; {_corrected(tests, some.comparisons)}"
        f"{_margin(options, some.comparisons)}; rankgain {_backend.VERSION}."
    )


def _how(tests: Tested) -> str:
    """How p was computed, and which random flips were used."""
    used = {pair.method for pair in tests.values()}
    some = max(tests.values(), key=lambda pair: pair.flips)
    flips = f"{some.flips:,} random flips, seed {tests.options.seed}"
    if used == {EXACT} and not some.flips:
        return ", exact (all sign vectors)"
    if used == {EXACT}:
        rest = "intervals and max-T" if tests.options.correction == MAX_T and some.comparisons > 1 else "intervals"
        return f", p exact (all sign vectors), {rest} from {flips}, where they cannot be counted"
    if used == {EXACT, RANDOM}:
        units = "clusters" if any(pair.clusters < tests.queries for pair in tests.values()) else "queries"
        return f", p exact if at most {_most(tests.options)} {units} differ, all other p and the intervals from {flips}"
    return f", {flips}" if used == {RANDOM} else ""


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
    step = "single-step" if options.intervals == SIMULTANEOUS else "step-down"
    correction = {
        MAX_T: f"max-T, {step}, family-wise",
        HOLM: "Holm, family-wise",
        BH: "Benjamini-Hochberg: false discovery rate, not family-wise",
    }[options.correction or ""]
    return f"{comparisons} comparisons {of} ({correction})"


def _margin(options: Options, comparisons: int) -> str:
    if options.margin is None:
        return ""
    alpha = short(round(options.alpha / 2, 12))
    corrected = ", corrected by Holm" if options.correction is not None and comparisons > 1 else ""
    return f"; one-sided tests of the margin {short(options.margin)} at {alpha}{corrected}"


# Notes


def notes(tests: Tested) -> Iterator[str]:
    """Yield notes on how to read the numbers."""
    yield from _about_the_test(tests)
    yield from _about_the_family(tests)
    yield from _about_the_queries(tests)
    if tests.missing:
        yield tests.missing
    fewest = min(pair.queries for pair in tests.values())
    if fewest == tests.queries:
        yield f"queries evaluated: {fewest}, left out: {tests.left_out}"
    else:
        left_out = f"{tests.left_out + fewest - tests.queries} to {tests.left_out}"
        yield f"queries evaluated, by metric: {fewest} to {tests.queries}, left out: {left_out}"


def _about_the_test(tests: Tested) -> Iterator[str]:
    options = tests.options
    clustered = any(pair.clusters != pair.queries for pair in tests.values())
    if options.method == STUDENT:
        yield "p: Student's paired t-test; two-sided"
        yield "interval: the differences that the same test does not reject"
    else:
        random = any(pair.flips for pair in tests.values())
        units = "clusters" if clustered else "queries"
        yield (
            f"p: sign-flip randomization, exact for {_most(options)} or fewer {units} that differ, else "
            f"{options.flips:,} flips, seed {options.seed}; two-sided"
        )
        seeds = "; the last digit varies with the seed" if random else ""
        yield f"interval: the differences that the same test does not reject{seeds}"
        yield (
            "both are exact if differences are symmetric about their mean; otherwise approximate, better with more "
            "queries"
        )
    if clustered:
        yield "queries of one cluster share one sign, since they are not independent of each other"
    for metric in options.metrics:
        weights = sample_of(tests, metric).weights
        if weights is not None:
            many = f"{effective(weights):.1f} of equal weight"
            yield f"{printable(metric)}: queries are weighted, and carry as much information as {many}"
    if any(aggregator(metric) is geometric_mean for metric in options.metrics):
        yield "for a geometric mean, the mean logarithm (base 2) is tested"


def _about_the_family(tests: Tested) -> Iterator[str]:
    options, count = tests.options, next(iter(tests.values())).comparisons
    metrics = len(options.metrics)
    if metrics > 1 and options.family == "metric":
        yield (
            f"{number_word(metrics)} metrics, tested separately: not corrected for that; decide by the metric you "
            "named first"
        )
    if count == 1:
        return
    if options.correction is None:
        yield f"{count} comparisons: not corrected"
    else:
        yield f"adjusted: for the {_family(options, count)}"
    if options.intervals != SIMULTANEOUS:
        yield "intervals are not adjusted: one may exclude 0 although its difference is not decided"
    elif options.correction == MAX_T:
        yield "intervals are simultaneous (single-step max-T), and exclude 0 exactly if the difference is decided"
    else:
        yield "intervals are simultaneous (Bonferroni): one may contain 0 although its difference is decided"
    coarse = too_coarse(options, count)
    if coarse and any(pair.flips for pair in tests.values()):
        yield coarse


def _about_the_queries(tests: Tested) -> Iterator[str]:
    if min(pair.clusters for pair in tests.values()) < FEW_QUERIES:
        yield "with few queries, rare large differences may be missing"
    if len(tests) <= MOST_SEARCHED:
        yield from influences(tests)
    else:
        yield f"with more than {MOST_SEARCHED} differences, decisive queries are not searched"
    yield (
        "the interval is for other queries like these, on this collection and these judgments; not for retraining "
        "with other seeds"
    )


def influences(tests: Tested) -> Iterator[str]:
    """Name the query without which a decided difference would not be decided, or have the other sign."""
    without: dict[tuple[Any, Any], Tested | None] = {}  # by metric and query: one test serves all pairs of a family
    for key, pair in tests.items():
        sample = sample_of(tests, key[0])
        if not pair.decided or not pair.difference or len(sample.values) < 3:
            continue
        contributions = sample.differences(*key[1:]) * math.copysign(1.0, pair.difference)
        if sample.weights is not None:
            contributions = contributions * sample.weights
        query = sample.query_ids[int(np.argmax(contributions))]
        if MOST_RISE * pair.adjusted <= alpha_of(pair) and contributions.sum() > contributions.max():
            continue
        same = key[0] if tests.options.family == "metric" else None, query
        if same not in without:
            without[same] = _without(tests, key[0], query)
        rest = without[same]
        if rest is not None and not (rest[key].decided and rest[key].difference * pair.difference > 0):
            places = places_of(pair)
            undecided = "" if rest[key].decided else ", and it would not be decided"
            yield (
                f"{printable(subject(pair.metric))}: without query {printable(query)} the difference of "
                f"{printable(pair.run)} to {printable(pair.baseline)} would be {signed(rest[key].difference, places)}, "
                f"not {signed(pair.difference, places)}{undecided}"
            )


def _without(tests: Tested, metric: str | Metric, query: Any) -> Tested | None:
    """The family of a metric tested again without a query; None if one cluster is left."""
    options = tests.options
    metrics = options.metrics if options.family == "all" else (metric,)
    samples = {}
    for key in metrics:
        sample = sample_of(tests, key)
        samples[key] = sample.only(np.array([other != query for other in sample.query_ids]))
    clusters = samples[metric].clusters
    if clusters is not None and len(set(clusters.tolist())) < 2:
        return None
    method = RANDOM if options.method == EXACT else options.method  # exact for few queries only, which is fast
    options = options._replace(method=method, metrics=metrics, margin=None)
    rest = Aligned(samples[metric].query_ids, samples, 0)
    return Tested(differences_of(rest, options), rest, options)
