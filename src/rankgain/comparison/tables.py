"""The tables of tests: one row per difference, and the matrix for papers with one row per run."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence

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
from rankgain.comparison.sentences import baseline_of, is_corrected, is_pair, leaders_of, means_of, rest
from rankgain.comparison.testing import Tested
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.text import Form, Table, number, printable

MOST_LETTERS = 15  # maximum of runs with letters; more would be hard to read


def differences(tests: Tested, form: Form, most: int) -> Table:
    """One row per difference and, with a baseline and several runs, one row per metric for the baseline."""
    shown, baseline, corrected = list(tests.values())[:most], baseline_of(tests), is_corrected(tests)
    first = ["run", "mean"] if baseline is not None else ["run", "minus", "mean", "mean"]
    if is_pair(tests):
        first = [shown[0].baseline, shown[0].run]
    level = f"{percent(tests.options.level)} interval"
    rows = [["metric", *first, "difference", level, "p", *["adjusted"] * corrected, "better/same/worse"]]
    best: set[tuple[int, int]] = set()
    leaders = {metric: leaders_of(tests, metric) for metric in tests.options.metrics}

    def add(pair: Difference, names: Sequence[str], runs: Sequence[str], cells: Sequence[str]) -> None:
        """Add a row with these names, and the means of these runs."""
        means = {pair.run: pair.mean, pair.baseline: pair.baseline_mean}
        best.update((len(rows), 1 + len(names) + i) for i, run in enumerate(runs) if run in leaders[pair.metric])
        rows.append([subject(pair.metric), *names, *(number(means[run]) for run in runs), *cells])

    for pair, above in zip(shown, [None, *shown], strict=False):
        cells = _cells(pair, corrected)
        if is_pair(tests):
            add(pair, [], [pair.baseline, pair.run], cells)
        elif baseline is None:
            add(pair, [pair.run, pair.baseline], [pair.run, pair.baseline], cells)
        else:
            if above is None or pair.metric != above.metric:
                add(pair, [baseline], [baseline], [""] * len(cells))
            add(pair, [pair.run], [pair.run], cells)
    below = rest(len(tests), most, ": columns() and the CSV and JSON forms have all")
    if any(better(metric) < 0 for metric in tests.options.metrics):  # otherwise the mark is obvious
        below.append(_about_best(tests, form))
    return Table(rows, below, best, names=1 if is_pair(tests) else 3 - (baseline is not None))


def without_repeats(table: Table) -> Table:
    """The table with the first cell of a row empty if it is that of the row before."""
    head, *body = table.rows
    cells = [head]
    for row, above in zip(body, [head, *body], strict=False):
        cells.append(["", *row[1:]] if row[0] == above[0] else row)
    return table._replace(rows=cells)


def _cells(pair: Difference, corrected: bool) -> list[str]:
    return [
        signed(pair.difference, places_of(pair)),
        ends_of(pair),
        p_text(pair.p),
        *([p_text(pair.adjusted)] if corrected else []),
        f"{pair.better}/{pair.same}/{pair.worse}",
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
        means, leaders = means_of(tests, metric), leaders_of(tests, metric)
        for row, run in enumerate(shown, 1):
            rows[row].append(number(math.exp2(means[run]) if geometric[column - 2] else means[run]))
            if run in leaders:
                best.add((row, column))
            if lettered:
                beaten[row, column] = "".join(sorted(letters.get(other, "") for other in _beaten(tests, metric, run)))
    below = rest(len(runs), len(shown), " runs: matrix() has all")
    return Table(rows, [*below, *_caption(tests, form, lettered)], best, beaten, names=2)


def _caption(tests: Tested, form: Form, lettered: bool) -> Iterator[str]:
    """Yield lines that explain the marks of the matrix, or why there are none."""
    undirected = [printable(metric) for metric in tests.options.metrics if not better(metric)]
    if len(undirected) < len(tests.options.metrics):
        yield _about_best(tests, form)
        if lettered:
            p = f"{'adjusted p' if is_corrected(tests) else 'p'} ≤ {alpha_text(tests.options.level)}"
            yield f"Letters at a mean name the runs that this run is better than ({p})"
        else:
            yield f"No letters, which name at most {MOST_LETTERS} runs: columns() has the differences"
    if undirected and form == "latex":  # the other forms have it as a verdict
        yield f"{joined(undirected)}: neither higher nor lower is better"


def _about_best(tests: Tested, form: Form) -> str:
    lower = [printable(metric) for metric in tests.options.metrics if better(metric) < 0]
    lowest = f" (lower is better: {joined(lower)})" if lower else ""
    return f"Best mean of each metric {'marked *' if form == 'text' else 'in bold'}{lowest}"


def _beaten(tests: Tested, metric: str | Metric, run: str) -> list[str]:
    pairs = [pair for key, pair in tests.items() if key[0] == metric and run in key[1:]]
    beaten = [pair.baseline for pair in pairs if pair.run == run and direction(pair) > 0]
    return beaten + [pair.run for pair in pairs if pair.baseline == run and direction(pair) < 0]
