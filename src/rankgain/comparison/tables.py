"""The tables of tests: one row per difference, and the matrix for papers with one row per run."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator

from rankgain.comparison.difference import (
    Difference,
    alpha_text,
    direction,
    ends_of,
    joined,
    p_text,
    percent,
    places_of,
    signed,
    subject,
)
from rankgain.comparison.sentences import baseline_of, is_corrected, is_pair, means_of, rest
from rankgain.comparison.testing import Tested
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import Form, Table, number, printable

MOST_LETTERS = 15  # maximum of runs with letters; more would be hard to read


def differences(tests: Tested, most: int) -> Table:
    """One row per difference and, with a baseline and several runs, one row per metric for the baseline."""
    shown = list(tests.values())[:most]
    below = rest(len(tests), most, ": columns() and the CSV and JSON forms have all")
    corrected = is_corrected(tests)
    tail = [
        "difference",
        f"{percent(tests.options.level)} interval",
        "p",
        *(["adjusted"] if corrected else []),
        "better/same/worse",
        "effect",
    ]
    if is_pair(tests):
        rows = [["metric", shown[0].baseline, shown[0].run, *tail]]
        for pair in shown:
            means = number(pair.baseline_mean), number(pair.mean)
            rows.append([subject(pair.metric), *means, *_cells(pair, corrected)])
        return Table(rows, below, names=1)
    if baseline_of(tests) is None:
        rows = [["metric", "run", "minus", *tail]]
        rows += [[subject(pair.metric), pair.run, pair.baseline, *_cells(pair, corrected)] for pair in shown]
        return Table(rows, below, names=3)
    rows = [["metric", "run", "mean", *tail]]
    for pair in shown:
        if len(rows) == 1 or rows[-1][0] != subject(pair.metric):
            rows.append([subject(pair.metric), pair.baseline, number(pair.baseline_mean), *[""] * len(tail)])
        rows.append([subject(pair.metric), pair.run, number(pair.mean), *_cells(pair, corrected)])
    return Table(rows, below, names=2)


def _cells(pair: Difference, corrected: bool) -> list[str]:
    return [
        signed(pair.difference, places_of(pair)),
        ends_of(pair),
        p_text(pair.p),
        *([p_text(pair.adjusted)] if corrected else []),
        f"{pair.better}/{pair.same}/{pair.worse}",
        "-" if math.isnan(pair.effect) else f"{pair.effect:+.2f}",
    ]


def matrix(tests: Tested, form: Form, most: int | None = None) -> Table:
    """One row per run, at most `most`, and one column per metric; letters take all runs into account."""
    runs, metrics, baseline = tests.runs, tests.options.metrics, baseline_of(tests)
    lettered = baseline is not None or len(runs) <= MOST_LETTERS
    letters = dict(zip(runs, string.ascii_lowercase, strict=False)) if baseline is None else {baseline: "a"}
    shown = list(runs[:most])
    geometric = [aggregator(metric) is geometric_mean for metric in metrics]
    heads = [str(metric) if logs else subject(metric) for metric, logs in zip(metrics, geometric, strict=True)]
    rows = [["", "run", *heads]]
    rows += [[letters.get(run, "") if lettered else "", run] for run in shown]
    best, beaten = set(), {}
    for column, metric in enumerate(metrics, 2):
        means = means_of(tests, metric)
        highest = max(better(metric) * mean for mean in means.values())
        for row, run in enumerate(shown, 1):
            rows[row].append(number(math.exp2(means[run]) if geometric[column - 2] else means[run]))
            if better(metric) and better(metric) * means[run] == highest:
                best.add((row, column))
            if lettered:
                beaten[row, column] = "".join(sorted(letters.get(other, "") for other in _beaten(tests, metric, run)))
    below = rest(len(runs), len(shown), " runs: matrix() has all")
    return Table(rows, [*below, *_caption(tests, form, lettered)], best, beaten, names=2)


def _caption(tests: Tested, form: Form, lettered: bool) -> Iterator[str]:
    """Yield lines that explain the marks of the matrix, or why there are none."""
    undirected = [printable(metric) for metric in tests.options.metrics if not better(metric)]
    if len(undirected) < len(tests.options.metrics):
        yield f"Best mean of each metric {'marked *' if form == 'text' else 'in bold'}"
        if lettered:
            p = f"{'adjusted p' if is_corrected(tests) else 'p'} ≤ {alpha_text(tests.options.level)}"
            yield f"Letters at a mean name the runs that this run is better than ({p})"
        else:
            yield f"No letters, which name at most {MOST_LETTERS} runs: the differences say which run is better"
    if undirected:
        yield f"{joined(undirected)}: neither higher nor lower is better"


def _beaten(tests: Tested, metric: str | Metric, run: str) -> list[str]:
    pairs = [pair for key, pair in tests.items() if key[0] == metric and run in key[1:]]
    beaten = [pair.baseline for pair in pairs if pair.run == run and direction(pair) > 0]
    return beaten + [pair.run for pair in pairs if pair.baseline == run and direction(pair) < 0]
