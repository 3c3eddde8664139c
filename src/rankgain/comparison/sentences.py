"""What is said about the tests of a comparison. Each sentence is to be true and complete without the table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.comparison.difference import (
    EXACT,
    RANDOM,
    STUDENT,
    Difference,
    decided_alone,
    direction,
    joined,
    number_word,
    percent,
    places_of,
    signed,
)
from rankgain.comparison.significance import ENUMERATED, EXACT_ASKED, Flips, effective, exact_p, facts, rejected
from rankgain.comparison.significance import EXACT as EXACT_BY_DEFAULT
from rankgain.comparison.testing import (
    BH,
    HOLM,
    MAX_T,
    SIMULTANEOUS,
    Key,
    Options,
    Tested,
    aligned_of,
    columns_of,
    too_coarse,
)
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import printable
from rankgain.scalars import Array, Floats

FEW_QUERIES = 50  # below which rare large differences may not have been seen
LOOKED_AT = 20  # differences that are searched for single queries that decide
MOST_ALONE = 5  # differences that are decided alone, each with a sentence of its own
MOST_NAMES = 40  # in a sentence; the rest is counted
ROUNDING = 1e-12


def title(tests: Tested) -> str:
    """What was compared with what."""
    clusters = {its.clusters for its in tests.values() if its.clusters != its.queries}
    within = f" in {counted(max(clusters), 'cluster')}" if clusters else ""
    queries = f"{counted(tests.queries, 'query')}{within}, paired"
    baseline = baseline_of(tests)
    if baseline is None:
        return f"{len(aligned_of(tests).runs)} runs, all pairs: {queries}"
    runs = list(dict.fromkeys(run for _, run, _ in tests))
    compared = printable(runs[0]) if len(runs) == 1 else f"{len(runs)} runs"
    return f"{compared} compared with {printable(baseline)}: {queries}"


def baseline_of(tests: Tested) -> str | None:
    """The run that all others are compared with; None for all pairs of several runs."""
    bases = {baseline for _, _, baseline in tests}
    return bases.pop() if len(bases) == 1 and (tests.options.baseline is not None or is_pair(tests)) else None


def is_corrected(tests: Tested) -> bool:
    """Whether p-values are corrected for other comparisons."""
    return tests.options.correction is not None and any(its.comparisons > 1 for its in tests.values())


def rest(count: int, most: int, what: str) -> list[str]:
    """A line for what is not shown, if there is more than is shown at most."""
    return [f"… and {count - most} more{what}"] if count > most else []


def is_pair(tests: Tested) -> bool:
    """Whether two runs are compared, and no more."""
    return len({key[1:] for key in tests}) == 1


# Verdicts


def verdicts(tests: Tested) -> Iterator[str]:
    """The sentence of each difference between two runs; of more runs one per metric, and what needs one of its own."""
    if is_pair(tests):
        yield from (its.verdict() for its in tests.values())
        return
    for metric in tests.options.metrics:
        own = [its for key, its in tests.items() if key[0] == metric]
        head = printable(metric)
        baseline = baseline_of(tests)
        yield f"{head}: {_ranking(tests, metric) if baseline is None else _against(baseline, own)}"
        yield from _alone(head, own)
        if tests.options.margin is not None and better(metric):
            yield from _by_margin(head, short(tests.options.margin), baseline, own)


def _against(baseline: str, own: Sequence[Difference]) -> str:
    base = printable(baseline)
    if not better(own[0].metric):
        return f"neither higher nor lower is better, so there is no verdict on how the others compare with {base}."
    equal = [its for its in own if its.same == its.queries]
    groups = [
        (f"better than {base}", [its for its in own if direction(its) > 0]),
        (f"worse than {base}", [its for its in own if direction(its) < 0]),
        (f"not decided against {base}", [its for its in own if not direction(its) and its not in equal]),
        (f"the same as {base} for every query", equal),
    ]
    parts = [f"{label}: {_listed([its.run for its in held])}" for label, held in groups if held]
    return ". ".join(part[:1].upper() + part[1:] if place else part for place, part in enumerate(parts)) + "."


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


def _alone(head: str, own: Sequence[Difference]) -> Iterator[str]:
    """The differences that would be decided if nothing else had been compared."""
    found = [its for its in own if decided_alone(its) and not its.decided]
    if len(found) <= MOST_ALONE:
        yield from (its.verdict() for its in found)
    else:
        pairs = _listed([f"{its.run} against {its.baseline}" for its in found])
        yield f"{head}: decided alone, but not among {own[0].comparisons} comparisons: {pairs}."


def _by_margin(head: str, margin: str, baseline: str | None, own: Sequence[Difference]) -> Iterator[str]:
    than = "" if baseline is None else f" than {printable(baseline)}"
    for shown in (True, False):
        held = [its for its in own if its.not_worse == shown]
        names = _listed([its.run if baseline is not None else f"{its.run} than {its.baseline}" for its in held])
        if held and shown:
            yield f"{head}: not worse{than} by more than {margin}: {names}."
        elif held:
            yield f"{head}: not shown to be at most {margin} worse{than}: {names}."


def tied_with_best(tests: Tested, metric: str | Metric) -> list[str]:
    """The run with the best mean, and those that the test does not tell from it; none if no direction is better."""
    means = means_of(tests, metric)
    way = better(tests.key_of(metric))
    if not way:
        return []
    ordered = sorted(means, key=lambda name: -way * means[name])
    leaders = [name for name in ordered if means[name] == means[ordered[0]]]
    apart = told_apart(tests, metric)
    return [name for name in ordered if any(frozenset((name, leader)) not in apart for leader in leaders)]


def told_apart(tests: Tested, metric: str | Metric) -> set[frozenset[str]]:
    """The pairs of runs whose difference is decided."""
    return {frozenset(key[1:]) for key, its in tests.items() if key[0] == metric and its.decided}


def means_of(tests: Tested, metric: str | Metric) -> dict[str, float]:
    """The mean of each run over the queries that were tested."""
    own = [its for key, its in tests.items() if key[0] == tests.key_of(metric)]
    pairs = [((its.baseline, its.baseline_mean), (its.run, its.mean)) for its in own]
    return dict(pair for both in pairs for pair in both)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:MOST_NAMES]))
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


# The methods section of a paper


def methods(tests: Tested) -> str:
    """Test, statistic, flips, seed, correction, family and version."""
    options, some = tests.options, next(iter(tests.values()))
    clusters = max(its.clusters for its in tests.values())
    signs = f" in {clusters} clusters (one sign per cluster)" if clusters < tests.queries else ""
    mean = "weighted mean" if aligned_of(tests).weights else "mean"
    test = "t-test" if options.method == STUDENT else "sign-flip randomization test"
    first = f"Two-sided paired {test} of the {mean} difference over {tests.queries} queries{signs}{_how(tests)}"
    interval = "Student's t" if options.method == STUDENT else "inverting the test"
    if options.intervals == SIMULTANEOUS and some.comparisons > 1:
        interval += f", simultaneous ({_simultaneous(options)})"
    return (
        f"{first};\n{percent(options.level)} intervals by {interval}; {_corrected(tests, some.comparisons)}; rankgain "
        f"{_backend.VERSION}."
    )


def _how(tests: Tested) -> str:
    """How p was found, and what random flips stand behind."""
    used = {its.method for its in tests.values()}
    some = max(tests.values(), key=lambda its: its.flips)
    flips = f"{some.flips:,} random flips, seed {tests.options.seed}"
    if used == {EXACT} and not some.flips:
        return ", exact (all sign vectors)"
    if used == {EXACT}:
        rest = "intervals and max-T" if _by_max_t(tests.options, some.comparisons) else "intervals"
        return f", p exact (all sign vectors), {rest} from {flips}, where they cannot be counted"
    if used == {EXACT, RANDOM}:
        return f", p exact where up to {_most(tests.options)} differ, all else from {flips}"
    return f", {flips}" if used == {RANDOM} else ""


def _by_max_t(options: Options, comparisons: int) -> bool:
    return options.correction == MAX_T and comparisons > 1


def _most(options: Options) -> int:
    return EXACT_ASKED if options.method == EXACT else EXACT_BY_DEFAULT


def _simultaneous(options: Options) -> str:
    return "single-step max-T" if options.correction == MAX_T else "Bonferroni"


def _correction(options: Options) -> str:
    step = "single-step" if options.intervals == SIMULTANEOUS else "step-down"
    return {
        MAX_T: f"max-T, {step}, family-wise",
        HOLM: "Holm, family-wise",
        BH: "Benjamini-Hochberg: false discovery rate, not family-wise",
    }[options.correction or ""]


def _corrected(tests: Tested, comparisons: int) -> str:
    if comparisons == 1:
        return "one comparison, no correction" if len(tests) == 1 else "each metric tested separately"
    if tests.options.correction is None:
        return f"{comparisons} comparisons, not corrected"
    return f"corrected for the {_family(tests.options, comparisons)}"


def _family(options: Options, comparisons: int) -> str:
    of = "of all metrics" if options.family == "all" else "of each metric"
    return f"{comparisons} comparisons {of} ({_correction(options)})"


# Notes


def notes(tests: Tested, backend: str) -> Iterator[str]:
    """What to know about the numbers."""
    yield from _about_the_test(tests)
    yield from _about_the_family(tests)
    yield from _about_the_queries(tests)
    yield f"queries evaluated: {tests.queries}, left out: {tests.left_out}, backend: {backend}"


def _about_the_test(tests: Tested) -> Iterator[str]:
    options = tests.options
    if options.method == STUDENT:
        yield "p: Student's paired t-test; two-sided"
        yield "interval: the differences that the same test does not reject"
    else:
        random = any(its.flips for its in tests.values())
        yield (
            f"p: sign-flip randomization, exact for {_most(options)} or fewer queries that differ, else "
            f"{options.flips:,} flips, seed {options.seed}; two-sided"
        )
        seeds = "; the last digit varies with the seed" if random else ""
        yield f"interval: the differences that the same test does not reject{seeds}"
        yield (
            "both are exact if differences are symmetric about their mean; otherwise approximate, better with more "
            "queries"
        )
    if any(its.clusters != its.queries for its in tests.values()):
        yield "queries of one cluster have one sign together, since they are not independent of each other"
    for metric in options.metrics:
        weights = aligned_of(tests).weights_of(metric)
        if weights is not None:
            many = f"{effective(weights):.1f} of equal weight"
            yield f"{printable(metric)}: queries are weighted, and tell as much as {many}"
    if any(aggregator(metric) is geometric_mean for metric in options.metrics):
        yield "of a geometric mean the mean logarithm (base 2) is tested"


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
        yield "intervals are not adjusted: that of a difference which is not decided may leave out 0"
    elif options.correction == MAX_T:
        yield "intervals are simultaneous (single-step max-T), and leave out 0 where a difference is decided"
    else:
        yield "intervals are simultaneous (Bonferroni): that of a decided difference may hold 0"
    coarse = too_coarse(options, count)
    if coarse:
        yield coarse


def _about_the_queries(tests: Tested) -> Iterator[str]:
    if max(its.clusters for its in tests.values()) < FEW_QUERIES:
        yield "with few queries, rare large differences may be missing"
    if len(tests) <= LOOKED_AT:
        yield from filter(None, (influence(tests, key) for key in tests))
    else:
        yield f"of more than {LOOKED_AT} differences, none was searched for a single query that decides"
    yield (
        "the interval is for other queries like these, on this collection and these judgments; not for retraining "
        "with other seeds"
    )


def influence(tests: Tested, key: Key) -> str | None:
    """The single query that decides: without it, the difference changes its sign or the verdict."""
    metric, run, baseline = key
    held = tests[key]
    aligned = aligned_of(tests)
    values = aligned.differences(*key)
    if len(values) < 3 or not held.difference:
        return None
    sign = math.copysign(1.0, held.difference)
    weights = aligned.weights_of(metric)
    # The query that speaks most for the difference, and the one that speaks most against it.
    for row in dict.fromkeys((int(np.argmax(sign * values)), int(np.argmin(sign * values)))):
        rest = float(np.average(np.delete(values, row), weights=_without(weights, row)))
        turned = sign * rest <= float(np.abs(values).max()) * ROUNDING
        if turned or (held.comparisons == 1 and _decided_without(tests, key, row) != held.decided):
            query, places = aligned.ids(metric)[row], places_of(held)
            what = "" if turned else ", and it would be " + ("not decided" if held.decided else "decided")
            return (
                f"{printable(metric)}: without query {printable(query)} the difference of {printable(run)} to "
                f"{printable(baseline)} would be {signed(rest, places)}, not "
                f"{signed(held.difference, places)}{what}"
            )
    return None


def _decided_without(tests: Tested, key: Key, row: int) -> bool:
    """Whether the test of one pair decides without a query."""
    metric, run, baseline = key
    options, aligned = tests.options, aligned_of(tests)
    if options.method == STUDENT:
        return tests[key].decided
    pair: Floats = aligned.values[metric][:, [aligned.runs.index(baseline), aligned.runs.index(run)]]
    weights, clusters = aligned.weights_of(metric), aligned.clusters_of(metric)
    columns, _ = columns_of(
        {metric: np.delete(pair, row, axis=0)}, [metric], [(1, 0)], _without(weights, row), _without(clusters, row)
    )
    own = facts(columns)
    if own.nonzero[0] <= EXACT_BY_DEFAULT and len(columns.values) > ENUMERATED:
        return rejected(exact_p(columns.differences(0, 1)[0], columns.sizes), options.alpha, 0)
    flips = Flips(columns, options.flips, options.seed, options.threads)
    counts, _ = flips.exceeded(columns, own, joint=False)
    return rejected(float(counts[0]) / flips.total, options.alpha, flips.total)


def _without(numbers: Array | None, row: int) -> Any:
    return None if numbers is None else np.delete(numbers, row)
