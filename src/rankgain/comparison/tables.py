"""The tables of a comparison's tests: a row per difference, and the one for papers, a row per run."""

from __future__ import annotations

import math
import string
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rankgain.comparison.difference import Difference, direction, joined, p_text, places_of, signed
from rankgain.comparison.sentences import baseline_of, is_pair, means_of
from rankgain.comparison.testing import Tested
from rankgain.errors import short
from rankgain.metrics.metric import Metric, better
from rankgain.results.text import number, printable

MOST_LETTERS = 15  # runs that letters tell apart at a glance


def rows(tests: Tested, most: int | None = None) -> list[list[str]]:
    """A header, then a row for each difference; with a baseline and several runs, one for the baseline too."""
    level = f"{short(round(100 * tests.options.level, 10))}% interval"
    shown = list(tests.values())[:most]
    tail = ["better/same/worse", "effect"]
    if is_pair(tests):
        run, baseline = shown[0].run, shown[0].baseline
        head = ["metric", baseline, run, "difference", level, "p", *tail]
        return [head, *([str(its.metric), number(its.baseline_mean), *_cells(its, False)] for its in shown)]
    corrected = any(its.comparisons > 1 for its in shown) and tests.options.correction is not None
    columns = ["difference", level, "p", *(["adjusted"] if corrected else []), *tail]
    if tests.options.baseline is None:
        head = ["metric", "run", "minus", *columns]
        return [head, *([str(its.metric), its.run, its.baseline, *_cells(its, corrected)[1:]] for its in shown)]
    table = [["metric", "run", "mean", *columns]]
    for its in shown:
        if [str(its.metric), its.baseline] not in [row[:2] for row in table]:
            table.append([str(its.metric), its.baseline, number(its.baseline_mean), *[""] * len(columns)])
        table.append([str(its.metric), its.run, *_cells(its, corrected)])
    return table


def _cells(its: Difference, corrected: bool) -> list[str]:
    return [
        number(its.mean),
        signed(its.difference, places_of(its)),
        ends_of(its),
        p_text(its.p),
        *([p_text(its.adjusted)] if corrected else []),
        f"{its.better}/{its.same}/{its.worse}",
        "-" if math.isnan(its.effect) else f"{its.effect:+.2f}",
    ]


def ends_of(its: Difference) -> str:
    """The interval as it stands in a table."""
    if math.isinf(its.low) or math.isinf(its.high):
        return "no interval"
    return f"{signed(its.low, places_of(its))} to {signed(its.high, places_of(its))}"


class Matrix(NamedTuple):
    """A row per run and a column per metric: the best means, and by cell the letters of the runs that are beaten."""

    rows: list[list[str]]
    best: set[tuple[int, int]]
    beaten: Mapping[tuple[int, int], str]
    below: list[str]


def matrix(tests: Tested, runs: Sequence[str], most: int | None = None) -> Matrix:
    """Of the first so many runs; their letters are those of all."""
    baseline = baseline_of(tests)
    lettered = baseline is not None or len(runs) <= MOST_LETTERS
    letters = dict(zip(runs, string.ascii_lowercase, strict=False)) if baseline is None else {baseline: "a"}
    shown = list(runs[:most])
    table = [["", "run", *map(str, tests.options.metrics)]]
    table += [[letters.get(run, "") if lettered else "", run] for run in shown]
    best, beaten = set(), {}
    for column, metric in enumerate(tests.options.metrics, 2):
        means = means_of(tests, metric)
        highest = max(better(metric) * mean for mean in means.values())
        for row, run in enumerate(shown, 1):
            table[row].append(number(means[run]))
            if better(metric) and better(metric) * means[run] == highest:
                best.add((row, column))
            if lettered:
                beaten[row, column] = "".join(sorted(letters.get(other, "") for other in _beaten(tests, metric, run)))
    aimless = [metric for metric in tests.options.metrics if not better(metric)]
    below = []
    if len(aimless) < len(tests.options.metrics):
        below.append("best mean of each metric in bold")
    if aimless:
        below.append(f"{joined([printable(metric) for metric in aimless])}: neither higher nor lower is better")
    if lettered and len(aimless) < len(tests.options.metrics):
        below.append("letters at a mean name the runs that this run is better than" + _corrected(tests))
    return Matrix(table, best, beaten, below)


def _beaten(tests: Tested, metric: str | Metric, run: str) -> list[str]:
    own = [its for key, its in tests.items() if key[0] == metric and run in key[1:]]
    won = [its.baseline for its in own if its.run == run and direction(its) > 0]
    return won + [its.run for its in own if its.baseline == run and direction(its) < 0]


def _corrected(tests: Tested) -> str:
    some = next(iter(tests.values()))
    word = "adjusted p" if some.comparisons > 1 and tests.options.correction is not None else "p"
    return f" ({word} ≤ {short(round(1 - some.level, 12))})"


def text_rows(table: Matrix) -> list[list[str]]:
    """The cells as text: a star at the best, and letters in columns."""
    widths = [
        max((len(table.beaten.get((row, column), "")) for row in range(len(table.rows))), default=0)
        for column in range(len(table.rows[0]))
    ]
    shown = [table.rows[0]]
    for row, cells in enumerate(table.rows[1:], 1):
        marks = ["*" if (row, column) in table.best else " " for column in range(len(cells))]
        raised = [table.beaten.get((row, column), "").ljust(width) for column, width in enumerate(widths)]
        shown.append([*cells[:2], *(f"{cells[c]}{marks[c]}{raised[c]}" for c in range(2, len(cells)))])
    return shown


# Letters for all pairs


def letters_of(runs: Sequence[str], told_apart: Collection[frozenset[str]]) -> dict[str, str]:
    """The letters of each run, such that two runs share one exactly where they are not told apart (Piepho 2004).

    Each letter is a set of runs that are not told apart from each other, as large as it can be made. There is one for
    each pair that no earlier letter holds, so that they are few where runs stand in the order of their means.
    """
    groups: list[list[str]] = []
    for run in runs:
        alike = [other for other in runs if frozenset((run, other)) not in told_apart]
        # The farthest first: what lies between is mostly not told apart from either.
        for other in reversed(alike):
            if any(run in group and other in group for group in groups):
                continue
            group = list(dict.fromkeys((run, other)))
            for third in alike:
                if third not in group and all(frozenset((third, own)) not in told_apart for own in group):
                    group.append(third)
            groups.append(group)
    return {run: "".join(_letter(place) for place, group in enumerate(groups) if run in group) for run in runs}


def _letter(place: int) -> str:
    """a … z, then a1 … z1, a2 and so on."""
    turn, own = divmod(place, len(string.ascii_lowercase))
    return string.ascii_lowercase[own] + (str(turn) if turn else "")
