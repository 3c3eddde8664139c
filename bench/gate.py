"""How often does a gate fail or pass on simulated changes whose true effect is known?

Each row shows the observed rate and the rate that docs/statistics.md or docs/how-to/continuous-integration.md states;
they may differ by two points and by what chance exceeds in about 1 of 10,000 such simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import numpy as np

import rankgain as rg

FLIPS = 999
Errs = Callable[[int], bool]  # seed -> whether the gate erred
# False "not worse" in percent where the true loss equals the margin, by the share of queries that do not differ.
EQUAL = 1.0, 0.9, 0.7, 0.5, 0.3, 0.0
MARGINS: dict[tuple[int, float], tuple[float, ...]] = {
    (30, 0.02): (0, 0, 0.2, 9, 27, 22),
    (50, 0.02): (0, 0, 3, 21, 30, 25),
    (100, 0.02): (0, 7, 12, 14, 11, 11),
    (150, 0.02): (0, 5, 4, 5, 5, 5),
    (184, 0.02): (3, 2, 2, 4, 2, 3),
    (200, 0.02): (2, 3, 2, 3, 2, 2),
    (300, 0.02): (2, 2, 3, 4, 2, 2),
    (30, 0.05): (0, 0, 13, 20, 22, 19),
    (50, 0.05): (0, 7, 7, 8, 9, 6),
    (200, 0.05): (4, 3, 3, 3, 3, 2),
}
# Failures of `max_drop=0.02` in percent where nothing changed, with a standard deviation of 0.2.
DROPS = {20: 33, 50: 24, 200: 7, 1000: 0.1}


def tested(differences: Any, seed: int, **options: Any) -> rg.Tests:
    """Test runs whose differences are given, with values far from the bounds of the metric."""
    columns = np.atleast_2d(differences)
    ids = range(columns.shape[1])
    metrics = [f"ndcg@{number + 1}" for number in range(len(columns))]
    runs = {"main": np.zeros_like(columns) + 0.95, "change": columns + 0.95}
    counts = (len(ids), *[0] * 6)
    results = {
        name: rg.Evaluation(dict(zip(metrics, values, strict=True)), ids, None, None, None, rg.backend, counts)
        for name, values in runs.items()
    }
    return rg.Comparison(results).test(flips=FLIPS, seed=seed, **options)


def rate_of(errs: Errs, cases: int) -> float:
    return sum(errs(seed) for seed in range(cases)) / cases


def show(title: str, label: str, errs: Errs, cases: int, low: float, high: float | None = None) -> None:
    """Print an observed rate, and whether it is near the stated range in percent."""
    low, high, rate = low / 100, (low if high is None else high) / 100, rate_of(errs, cases)
    chance = 3.9 * math.sqrt(max(high * (1 - high), 0.001) / cases)
    stated = f"{100 * low:g}%" if low == high else f"{100 * low:g}% to {100 * high:g}%"
    met = low - 0.02 - chance <= rate <= high + 0.02 + chance
    harness.show([harness.Row(title, label, f"{100 * rate:.1f}%", None, f"({cases:,} cases)", stated, met)])


def with_failures(queries: int, margin: float, equal: float, seed: int) -> Any:
    """Draw differences of which a share `margin` lose 1; of the others, a share is 0 and the rest nearly so."""
    random = np.random.default_rng(seed)
    small = np.where(random.random(queries) < equal, 0.0, random.normal(0, 0.05, queries))
    return np.where(random.random(queries) < margin, -1.0, small)


def is_not_worse(queries: int, margin: float, equal: float, seed: int) -> bool:
    (pair,) = tested(with_failures(queries, margin, equal, seed), seed, margin=margin).values()
    return pair.not_worse


def drops(queries: int, seed: int) -> bool:
    differences = np.random.default_rng(seed).normal(0, 0.2, queries)
    reasons = tested(differences, seed).gate(max_drop=0.02, worst=0).reasons
    return any("more than max_drop" in reason for reason in reasons)


def fails_in_a_group(draw: Callable[[Any, int], Any], groups: int, size: int, seed: int) -> bool:
    differences = draw(np.random.default_rng(seed), groups * size)
    reasons = tested(differences, seed).gate(groups=np.repeat(np.arange(groups), size).tolist(), worst=0).reasons
    return any("group" in reason and reason.endswith("failed.") for reason in reasons)


def fails_in_any(metrics: int, shared: float, seed: int) -> bool:
    """Test metrics whose differences have the correlation `shared`."""
    random = np.random.default_rng(seed)
    noise = math.sqrt(shared) * random.normal(size=50) + math.sqrt(1 - shared) * random.normal(size=(metrics, 50))
    return not tested(0.1 * noise, seed).gate(worst=0).passed


def symmetric(random: Any, queries: int) -> Any:
    return random.normal(0, 0.2, queries)


def skewed(random: Any, queries: int) -> Any:
    return random.exponential(0.1, queries) - 0.1


def few_large_gains(random: Any, queries: int) -> Any:
    return np.where(random.random(queries) < 0.1, 0.45, -0.05)


def small_effects(ties: float, sd: float, queries: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(0, sd, queries) * (random.random(queries) >= ties)


def is_shown(margin: float, ties: float, sd: float, queries: int, seed: int) -> bool:
    (pair,) = tested(small_effects(ties, sd, queries, seed), seed, margin=margin).values()
    return pair.not_worse


def needed(margin: float, ties: float, sd: float) -> int:
    """Return the number of queries for a margin, by a pilot of many queries."""
    differences = small_effects(ties, sd, 400, 0)
    pilot = tested(differences - differences.mean(), 0)
    return pilot_needed(pilot, margin)


def pilot_needed(tests: rg.Tests, margin: float) -> int:
    from rankgain.comparison.testing import pilot_of

    return pilot_of(tests, tests.options.metrics[0]).queries_needed(margin, 0.05, 0.8)


def fails_strictly(margin: float | None, sd: float, queries: int, seed: int) -> bool:
    tests = tested(small_effects(0.0, sd, queries, seed), seed)
    return not tests.gate(margin=margin, strict=True, worst=0).passed


def bench(scale: harness.Scale) -> None:
    cases = {"smoke": 3, "usual": 1000, "full": 4000}[scale]
    for (queries, margin), rates in MARGINS.items():
        for equal, rate in zip(EQUAL, rates, strict=True):
            title = f"false 'not worse by more than {margin}', {queries} queries"
            show(title, f"{equal:g} equal", partial(is_not_worse, queries, margin, equal), cases, rate)
    for ties, rate in {0.0: 26, 0.5: 55, 0.9: 61}.items():
        title = "power of a margin of 0.05, 50 queries, sd 0.2"
        show(title, f"{ties:g} equal", partial(is_shown, 0.05, ties, 0.2, 50), cases, rate)
    for margin, ties, sd in ((0.05, 0.0, 0.2), (0.05, 0.5, 0.2), (0.02, 0.0, 0.1)):
        queries = needed(margin, ties, sd)
        title = f"power with the queries needed for {margin}, sd {sd}"
        show(title, f"{ties:g} equal: {queries}", partial(is_shown, margin, ties, sd, queries), cases, 70, 90)
    for queries, rate in DROPS.items():
        show("max_drop=0.02 fails, sd 0.2", f"{queries} queries", partial(drops, queries), cases, rate)
    for size, rare in {8: 96, 20: 56, 50: 17}.items():
        title = "a group fails, 6 groups"
        show(title, f"{size} queries each", partial(fails_in_a_group, symmetric, 6, size), cases, 1.9, 3.0)
        skew = partial(fails_in_a_group, skewed, 6, size)
        show(f"{title}, skewed", f"{size} queries each", skew, cases, 9, 27)
        gains = partial(fails_in_a_group, few_large_gains, 6, size)
        show(f"{title}, few large gains", f"{size} queries each", gains, cases, rare)
    for metrics, low, high in ((1, 2.5, 2.5), (3, 5, 7), (6, 7, 11)):
        for shared in (0.5, 0.8):
            title = f"any of {metrics} metrics fails, 50 queries"
            show(title, f"correlation {shared}", partial(fails_in_any, metrics, shared), cases, low, high)
    show("strict fails, 50 queries, sd 0.2", "no margin", partial(fails_strictly, None, 0.2, 50), cases, 97.5)
    show("strict fails, 50 queries, sd 0.2", "margin 0.05", partial(fails_strictly, 0.05, 0.2, 50), cases, 74)
