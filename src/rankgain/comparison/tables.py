"""Tables of test results: one with a row per difference, and a matrix for papers with a row per run."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence

from rankgain.comparison.difference import (
    Difference,
    alpha_text,
    difference_cells,
    direction,
    ends_number,
    has_interval,
    in_percent,
    joined,
    p_text,
    percent,
    subject,
)
from rankgain.comparison.sentences import baseline_of, baselines_of, is_corrected, is_pair, leaders_of, means_of, rest
from rankgain.comparison.testing import Tested
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better, is_share
from rankgain.results.text import Form, Number, Table, letter_ranges, printable

MOST_LETTERS = 15  # maximum number of runs that get letters; more letters would be hard to read
ELSEWHERE = "the CSV and JSON forms have"  # what a table that was cut leaves out


def differences(tests: Tested, form: Form, most: int) -> Table:
    """Return a table with one row per difference.

    If several runs are compared with one baseline, each metric also has a row for the baseline, except in LaTeX.
    """
    shown, baseline, corrected = list(tests.values())[:most], baseline_of(tests), is_corrected(tests)
    latex = form == "latex"  # LaTeX tables omit the means, which are in the table for papers
    names = [] if is_pair(tests) else ["run"] if baseline is not None else ["run", "minus"]
    first = [*names, *([] if latex else ["mean"] * max(len(names), 1))]
    if is_pair(tests) and not latex:
        first = [shown[0].baseline, shown[0].run]
    level = f"{percent(tests.options.level)} interval"
    counts = "b/s/w" if latex else "better/same/worse"
    rows: list[list[object]] = [["metric", *first, "difference", level, "p", *["adjusted"] * corrected, counts]]
    best: set[tuple[int, int]] = set()
    leaders = {metric: leaders_of(tests, metric) for metric in tests.options.metrics}

    def add(pair: Difference, names: Sequence[str], runs: Sequence[str], cells: Sequence[object]) -> None:
        """Add a row with these names, the means of these runs, and the cells."""
        means, runs = {pair.run: pair.mean, pair.baseline: pair.baseline_mean}, [] if latex else runs
        best.update((len(rows), 1 + len(names) + i) for i, run in enumerate(runs) if run in leaders[pair.metric])
        values = (Number((means[run],), share=in_percent(pair.metric)) for run in runs)
        rows.append([subject(pair.metric), *names, *values, *cells])

    for pair, above in zip(shown, [None, *shown], strict=False):
        cells = _cells(pair, corrected)
        if is_pair(tests):
            add(pair, [], [pair.baseline, pair.run], cells)
        elif baseline is None:
            add(pair, [pair.run, pair.baseline], [pair.run, pair.baseline], cells)
        else:
            if not latex and (above is None or pair.metric != above.metric):
                add(pair, [baseline], [baseline], [""] * len(cells))
            add(pair, [pair.run], [pair.run], cells)
    below = rest(len(tests), most, "" if latex else f": {ELSEWHERE} all")
    if latex:
        below.append("b/s/w: the numbers of queries that are better, the same and worse")
    elif any(better(metric) < 0 for metric in tests.options.metrics):  # otherwise the highest mean is best, or none is
        below.append(_about_best(tests, form))
    return Table(rows, below, best, names=1 if is_pair(tests) else 3 - (baseline is not None))


def without_repeats(table: Table) -> Table:
    """Return the table with the first cell of each row left blank if it repeats the cell above."""
    head, *body = table.rows
    cells = [head]
    for row, above in zip(body, [head, *body], strict=False):
        cells.append(["", *row[1:]] if row[0] == above[0] else row)
    return table._replace(rows=cells)


def _cells(pair: Difference, corrected: bool) -> list[object]:
    return [
        *difference_cells(pair),
        p_text(pair.p),
        *([p_text(pair.adjusted)] if corrected else []),
        f"{pair.better}/{pair.same}/{pair.worse}",
    ]


def matrix(tests: Tested, form: Form, most: int | None = None) -> Table:
    """Return a table with one row per run and one column per metric.

    At most `most` runs have a row, but the letters refer to all runs.
    """
    runs, metrics, lettering = tests.runs, tests.options.metrics, baselines_of(tests) or tests.runs
    lettered = len(lettering) <= MOST_LETTERS
    letters = dict(zip(lettering, string.ascii_lowercase, strict=False))
    shown = list(runs[:most])
    geometric = [aggregator(metric) is geometric_mean for metric in metrics]
    heads = [str(metric) if logs else subject(metric) for metric, logs in zip(metrics, geometric, strict=True)]
    rows: list[list[object]] = [["", "run", *heads]]
    rows += [[letters.get(run, "") if lettered else "", run] for run in shown]
    best, beaten = set(), {}
    for column, metric in enumerate(metrics, 2):
        means, leaders = means_of(tests, metric), leaders_of(tests, metric)
        for row, run in enumerate(shown, 1):
            value = math.exp2(means[run]) if geometric[column - 2] else means[run]
            rows[row].append(Number((value,), share=is_share(metric)))
            if run in leaders:
                best.add((row, column))
            if lettered:
                beaten[row, column] = letter_ranges(
                    "".join(letters.get(other, "") for other in _beaten(tests, metric, run))
                )
    below = rest(len(runs), len(shown), " runs" if form == "latex" else f" runs: {ELSEWHERE} all")
    return Table(rows, [*below, *_caption(tests, form, lettered)], best, beaten, names=2)


def by_metric(table: Table) -> Table:
    """Return the matrix with a row per metric and a column per run."""
    (_, _, *heads), *body = table.rows
    columns = zip(heads, *(cells for _, _, *cells in body), strict=True)
    rows = [["metric", *(run for _, run, *_ in body)], *columns]
    raised = {(0, column): str(letter) for column, (letter, *_) in enumerate(body, 1) if letter}
    raised |= {(column - 1, row): letters for (row, column), letters in table.raised.items()}
    return Table(rows, table.below, {(column - 1, row) for row, column in table.bold}, raised, other=table)


def compact(tests: Tested, table: Table) -> Table:
    """Return the matrix with a row per metric and a column per run, for LaTeX.

    If there is one baseline, the intervals of the differences are added below the means.
    """
    _, *body = table.rows
    below, under = list(table.below), {}
    if baseline_of(tests) is not None:
        position = {run: column for column, (_, run, *_) in enumerate(body, 1)}
        for pair in tests.values():
            if pair.run in position and has_interval(pair) and aggregator(pair.metric) is not geometric_mean:
                under[tests.options.metrics.index(pair.metric) + 1, position[pair.run]] = ends_number(pair)
        below.append(
            f"Below a mean: the {percent(tests.options.level)} interval of the difference from {baseline_of(tests)}"
        )
    return by_metric(table)._replace(below=below, under=under)


def _caption(tests: Tested, form: Form, lettered: bool) -> Iterator[str]:
    """Yield lines that explain the marks in the matrix, or why it has none."""
    undirected = [printable(metric) for metric in tests.options.metrics if not better(metric)]
    if len(undirected) < len(tests.options.metrics):
        yield _about_best(tests, form)
        if lettered:
            p = f"{'adjusted p' if is_corrected(tests) else 'p'} ≤ {alpha_text(tests.options.level)}"
            yield f"Letters at a mean name the runs that this run is better than ({p})"
        else:
            where = "" if form == "latex" else f": {ELSEWHERE} the differences"
            yield f"No letters, which name at most {MOST_LETTERS} runs{where}"
    if undirected and form == "latex":  # in the other forms, a verdict says this
        yield f"{joined(undirected)}: neither higher nor lower is better"


def _about_best(tests: Tested, form: Form) -> str:
    lower = [printable(metric) for metric in tests.options.metrics if better(metric) < 0]
    lowest = f" (lower is better: {joined(lower)})" if lower else ""
    return f"Best mean of each metric {'marked *' if form == 'text' else 'in bold'}{lowest}"


def _beaten(tests: Tested, metric: str | Metric, run: str) -> list[str]:
    pairs = [pair for key, pair in tests.items() if key[0] == metric and run in key[1:]]
    beaten = [pair.baseline for pair in pairs if pair.run == run and direction(pair) > 0]
    return beaten + [pair.run for pair in pairs if pair.baseline == run and direction(pair) < 0]
