"""Format the output of the command line for runs, tie spreads and tests; every result ends with a newline."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.comparison.agreement import Agreement
from rankgain.comparison.comparison import Comparison, legend
from rankgain.comparison.corrected import Corrected
from rankgain.comparison.gate import Gate
from rankgain.comparison.groups import Groups
from rankgain.comparison.outcome import Tests
from rankgain.comparison.sentences import details
from rankgain.comparison.testing import Key
from rankgain.results.evaluation import Evaluation, notes
from rankgain.results.export import finite_or_none
from rankgain.results.text import below_table, mean_rows, number, printable, text_of, text_table
from rankgain.results.ties import TieSpread, number_or_dash
from rankgain.scalars import id_text


def _lines(table: list[str], below: list[str]) -> str:
    return "\n".join([*table, "", *below_table(below), ""])


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps({**content, "version": _backend.VERSION}, indent=2, allow_nan=False) + "\n"


def _json_of_runs(objects: Mapping[str, dict[str, Any]]) -> str:
    """Format the results of runs as JSON. The results of several runs are put under "runs", by name."""
    return _json(next(iter(objects.values())) if len(objects) == 1 else {"runs": objects})


def _csv(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Format rows as comma-separated values (RFC 4180) in full precision; NaN and None are empty fields."""
    out = io.StringIO()
    csv.writer(out).writerows([head, *(map(finite_or_none, row) for row in rows)])
    return out.getvalue()


def _by_text(values: Any) -> Any:
    """Convert the keys of nested mappings to text, and NaN and infinite values to None."""
    if isinstance(values, Mapping):
        return {id_text(key): _by_text(value) for key, value in values.items()}
    return finite_or_none(values)


def _rows(values: Mapping[Any, Any], *keys: str) -> Iterator[list[Any]]:
    """Yield a row for each innermost mapping, with the keys that lead to it, followed by its values."""
    for key, inner in values.items():
        if any(isinstance(value, Mapping) for value in inner.values()):
            yield from _rows(inner, *keys, id_text(key))
        else:
            yield [*keys, id_text(key), *inner.values()]


# Output for runs


def worst_queries(results: Mapping[str, Evaluation], n: int) -> str:
    """Format the n worst queries of each metric as tables, one per run and metric."""
    tables = []
    for name, result in results.items():
        run = f" of {printable(name)}" if len(results) > 1 else ""
        for metric in result:
            rows = [[printable(query), number(value)] for query, value in result.worst(metric, n)]
            tables += [*text_table([["query", f"{metric!s}{run}"], *rows]), ""]
    return "\n".join([*tables, "rankgain explain METRIC QRELS RUN --query-id ID: why a query has its value", ""])


class EvaluationIntervals(NamedTuple):
    """The confidence intervals for the mean of each metric of a run."""

    level: float
    ends: Mapping[Any, tuple[float, float]]


def as_text(runs: Comparison, per_query: bool, intervals: EvaluationIntervals | None = None) -> str:
    """Format the results of runs as an aligned table, followed by notes on the numbers.

    For one run, there is one row per metric; with `per_query`, there is one row per query and one column per metric.
    For several runs, the table is that of `Comparison.table`; with `per_query`, there is one row per query and run.
    `intervals` may only be given for a single run.
    """
    if len(runs) > 1 and not per_query:
        return runs.table() + "\n"
    (result, *others) = runs.values()
    rows: list[list[object]]
    if others:
        rows = [["query", "run", *map(str, runs.metrics)], *_rows_of_all(runs)]
        return _lines(text_table(rows, names=2), [*legend(runs), *notes(runs)])
    means = result.aggregate()
    if per_query:
        rows = [["query", *map(str, means)]]
        rows += [[id_text(query), *map(number, values.values())] for query, values in result.to_dict().items()]
        rows += [["mean", *map(number, means.values())]]
    else:
        rows = mean_rows(means)
    below = notes(runs)
    if intervals is not None:
        share = f"{100 * intervals.level:g}% interval"
        ends = [
            share,
            *("-" if math.isnan(low) else f"{low:.4f} to {high:.4f}" for low, high in intervals.ends.values()),
        ]
        rows = [[*row, end] for row, end in zip(rows, ends, strict=True)]
        counts = {str(key): int(np.count_nonzero(~np.isnan(vector))) for key, vector in result.items()}
        same = len({*counts.values()}) == 1
        counted = str(next(iter(counts.values()))) if same else ", ".join(f"{key} {n}" for key, n in counts.items())
        below = [f"interval: of the mean over queries like these; queries that count: {counted}", *below]
    return _lines(text_table(rows), below)


def _rows_of_all(runs: Comparison) -> Iterator[list[object]]:
    """Yield one row per query and run, in order of first appearance, then the means, with a star after the best."""
    values = runs.to_dict()
    for query in dict.fromkeys(query for result in runs.values() for query in result.query_ids):
        for name in runs:
            if query in values[name]:
                yield [id_text(query), name, *(f"{number(value)} " for value in values[name][query].values())]
    best = {key: runs.best(key) for key in runs.metrics}
    for name, means in runs.aggregate().items():
        yield ["mean", name, *(number(value) + ("*" if name in best[key] else " ") for key, value in means.items())]


def as_json(runs: Comparison, per_query: bool, intervals: EvaluationIntervals | None = None) -> str:
    """Format the results of runs as one JSON object.

    NaN becomes null. Bytes of an id that are not valid UTF-8 are escaped as lone surrogates.
    """
    return _json_of_runs({name: _object(result, per_query, intervals) for name, result in runs.items()})


def _object(result: Evaluation, per_query: bool, intervals: EvaluationIntervals | None) -> dict[str, Any]:
    content = {"mean": _by_text(result.aggregate()), **_facts(result)}
    if intervals is not None:
        content["level"] = intervals.level
        for index, name in enumerate(_ENDS):
            content[name] = _by_text({key: ends[index] for key, ends in intervals.ends.items()})
    if result.like is not None:
        content["like"] = result.like
    if result.assumed:
        content["assumed"] = list(result.assumed)
    if result.judged_share is not None:
        content["judged_share"] = result.judged_share
    if per_query:
        content["queries"] = _by_text(result.to_dict())
    return content


def _facts(result: Evaluation) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("counts", "ties", "missing", "backend")}


_ENDS = "low", "high"


def as_csv(runs: Comparison, per_query: bool, intervals: EvaluationIntervals | None = None) -> str:
    """Format the results of runs as CSV, with one row per run or, with `per_query`, one row per query and run.

    The columns are the run, with `per_query` the query, and the metrics, whatever the number of runs. With `per_query`,
    there is no row for the means. NaN is an empty field. With intervals, each metric is followed by ``metric low`` and
    ``metric high``.
    """
    if intervals is not None:
        ((name, result),) = runs.items()
        columns: dict[str, Any] = {"run": name}
        for key, ends in intervals.ends.items():
            columns |= {
                str(key): result.aggregate(key),
                **{f"{key!s} {end}": value for end, value in zip(_ENDS, ends, strict=True)},
            }
        return _csv([*columns], [[*columns.values()]])
    rows = _rows(runs.to_dict() if per_query else runs.aggregate())
    return _csv(["run", *(["query"] if per_query else []), *map(str, runs.metrics)], rows)


def as_trec(runs: Comparison, per_query: bool) -> str:
    """Format the results of runs like trec_eval, in three columns: the metric, the query or ``all``, and the value.

    With `per_query`, the values of the queries precede the means. With several runs, each run has a block that begins
    with trec_eval's ``runid`` line.
    """
    lines = []
    for name, result in runs.items():
        lines += [f"{'runid':<22}\tall\t{name}"] if len(runs) > 1 else []
        rows = [*(result.to_dict().items() if per_query else ()), ("all", result.aggregate())]
        lines += [
            f"{key!s:<22}\t{id_text(query)}\t{value:6.4f}" for query, values in rows for key, value in values.items()
        ]
    return "\n".join([*lines, ""])


WITH_INTERVALS = {"text": as_text, "json": as_json, "csv": as_csv}
FORMATS = {"text": as_text, "json": as_json, "csv": as_csv, "trec": as_trec}


# Output for tie spreads


def spread_as_text(runs: Mapping[str, TieSpread], per_query: bool) -> str:
    """Format tie spreads as an aligned table with one column per order of tied documents.

    For each run, there is one row per metric; with `per_query`, there is one row per query and metric.
    """
    several = len(runs) > 1
    rows: list[list[str]] = []
    absent = dict.fromkeys(note for spread in runs.values() for note in spread.notes())
    for name, spread in runs.items():
        head, *body = spread.rows()
        if per_query:
            head = ["query", *head[:-1]]
            body = [[query, key, *map(number_or_dash, values)] for query, key, *values in _rows(spread.to_dict())]
        rows += [["run", *head] if several else head] if not rows else []
        rows += [[name, *row] if several else row for row in body]
    # Omit the note on the rule for ties, since the columns are named after the rules.
    worst = {name: spread.worst for name, spread in runs.items()}
    below = [line.removeprefix("ties: worst   ") for line in notes(worst)]
    return _lines(text_table(rows, names=1 + several + per_query), [*absent, *below])


def spread_as_json(runs: Mapping[str, TieSpread], per_query: bool) -> str:
    """Format tie spreads as JSON; each metric has one value per order of tied documents."""
    return _json_of_runs({name: _object_of_spread(spread, per_query) for name, spread in runs.items()})


def _object_of_spread(spread: TieSpread, per_query: bool) -> dict[str, Any]:
    content = {
        "tie_spread": _by_text(spread.mean()),
        "affected_by_ties": {str(key): spread.affected(key) for key in spread.metrics},
        **_facts(spread.worst),
        "ties": spread.ties,
    }
    if per_query:
        content["queries"] = _by_text(spread.to_dict())
    return content


def spread_as_csv(runs: Mapping[str, TieSpread], per_query: bool) -> str:
    """Format tie spreads as CSV, with one row per run and metric or, with `per_query`, per run, query and metric."""
    rows = _rows({name: spread.to_dict() if per_query else spread.mean() for name, spread in runs.items()})
    orders = next(iter(runs.values())).evaluations
    return _csv(["run", *(["query"] if per_query else []), "metric", *orders], rows)


SPREADS = {"text": spread_as_text, "json": spread_as_json, "csv": spread_as_csv}


# Output for the tests of a comparison


def _tables(method: str, between: str, end: str = "") -> Callable[..., str]:
    """Return a function that formats the tests, the groups and the gate by calling the given method of each.

    All options are passed to the tests, but only the options on number formats to the groups and the gate.
    """

    def text(tests: Tests, groups: Groups | None, gate: Gate | None, **options: Any) -> str:
        numbers = {name: value for name, value in options.items() if name in ("digits", "percent")}
        parts = (gate, numbers), (tests, options), (groups, numbers)
        return between.join(getattr(part, method)(**given) for part, given in parts if part is not None) + end

    return text


def further_notes(tests: Tests, groups: Groups | None) -> str:
    """Return the notes that are not part of the text output."""
    notes = [*details(tests), *(groups.notes()[-1:] if groups is not None else []), tests.methods().replace("\n", " ")]
    return text_of([notes]) + "\n"


def tests_as_json(tests: Tests, groups: Groups | None, gate: Gate | None) -> str:
    """Format the tests as one JSON object, with all differences, verdicts, warnings, notes and options.

    The groups and the gate are included if they are given. NaN and infinite values become null.
    """
    options = tests.options._asdict() | {"metrics": [str(metric) for metric in tests.options.metrics]}
    content: dict[str, Any] = {
        "differences": _objects_of_tests(tests),
        "verdicts": tests.verdicts(),
        "warnings": tests.warnings,
        "notes": tests.notes(),
        "methods": tests.methods().replace("\n", " "),
        "options": options,
    }
    if gate is not None:
        content["gate"] = gate.to_dict()
    if groups is not None:
        content["groups"] = {str(label): _objects_of_tests(part) for label, part in groups.tests.items()}
        content["groups_differ"] = [
            {"metric": str(key[0]), "run": key[1], "baseline": key[2], "p": finite_or_none(groups.differ_p(*key))}
            | _of_means(groups, key)
            | {"verdicts": groups.verdicts(*key)}
            for key in groups.overall
        ]
    return _json(content)


def _of_means(groups: Groups, key: Key) -> dict[str, float | None]:
    """Return the mean of the groups' means, with its p-value and its interval."""
    pair = groups.test_of_means(*key)
    ends = {f"mean_of_means_{name}": finite_or_none(getattr(pair, name)) for name in ("p", "low", "high")}
    return {"mean_of_means": groups.mean_of_means(*key), **ends}


def _objects_of_tests(tests: Tests) -> list[dict[str, Any]]:
    return [
        {name: finite_or_none(value) for name, value in difference._asdict().items()}
        | {"metric": str(difference.metric), "decided": difference.decided}
        | {"verdict": f"{difference.verdict()} {tests.caveat(difference)}".rstrip()}
        for difference in tests.values()
    ]


def tests_as_csv(tests: Tests, groups: Groups | None, _: Gate | None) -> str:
    """Format the tests as CSV, with one row per difference.

    With groups, the first column is the name of the group, which is empty for all queries. Text that a spreadsheet
    would treat as a formula gets a leading apostrophe.
    """
    parts = [("", tests), *((str(label), part) for label, part in (groups.tests.items() if groups else ()))]
    rows = (
        [_field(value) for value in ([label, *row] if groups else row)]
        for label, part in parts
        for row in zip(*part.columns().values(), strict=True)
    )
    return _csv([*(["group"] if groups else []), *tests.columns()], rows)


def _field(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


COMPARED: dict[str, Callable[..., str]] = {
    "text": _tables("table", "\n\n", "\n"),
    "json": tests_as_json,
    "csv": tests_as_csv,
    "markdown": _tables("to_markdown", "\n"),
    "latex": _tables("to_latex", "\n"),
}


# Output for corrected means


def _corrected_tables(form: str, method: str, between: str) -> Callable[..., str]:
    """Return a function that formats the corrected means by the given method, before the tests of them."""

    def text(corrected: Corrected, tests: Tests, gate: Gate | None, **options: Any) -> str:
        numbers = {name: value for name, value in options.items() if name in ("digits", "percent")}
        parts = getattr(corrected, method)(**numbers), COMPARED[form](tests, None, gate, **options)
        return between.join(parts)

    return text


def corrected_as_json(corrected: Corrected, tests: Tests, gate: Gate | None) -> str:
    """Format the tests as one JSON object, with the corrected means as "means"."""
    columns = corrected.columns()
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    content = json.loads(tests_as_json(tests, None, gate))
    facts = {"names": corrected.names, "labelled": corrected.labelled, "queries": corrected.queries}
    return _json({**facts, "means": [_by_text(dict(zip(columns, row, strict=True))) for row in rows], **content})


CORRECTED: dict[str, Callable[..., str]] = {
    "text": _corrected_tables("text", "table", "\n\n"),
    "json": corrected_as_json,
    "csv": lambda _, tests, gate: tests_as_csv(tests, None, gate),
    "markdown": _corrected_tables("markdown", "to_markdown", "\n"),
    "latex": _corrected_tables("latex", "to_latex", "\n"),
}


# Output for the agreement of two judges


def agreement_as_json(result: Agreement) -> str:
    """Format an agreement as one JSON object, with the rows of its columns as "numbers"."""
    columns = result.columns()
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return _json(
        {
            "names": result.names,
            "documents": result.pairs,
            "queries": result.queries,
            "only": result.only,
            "grades": result.grades,
            "confusion": result.confusion.tolist(),
            "numbers": [_by_text(dict(zip(columns, row, strict=True))) for row in rows],
            "sentences": result.sentences(),
            "notes": result.notes(),
        }
    )


def agreement_as_csv(result: Agreement) -> str:
    """Format an agreement as CSV, with one row per number."""
    columns = result.columns()
    return _csv([*columns], ([*map(_field, row)] for row in zip(*columns.values(), strict=True)))


OF_AGREEMENT: dict[str, Callable[[Agreement], str]] = {
    "text": lambda result: f"{result.table()}\n",
    "json": agreement_as_json,
    "csv": agreement_as_csv,
    "markdown": Agreement.to_markdown,
}
