"""The output of `rankgain diff`: what changed between two runs, and which queries and documents to look at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgain.comparison.changes import KINDS, Change, Changes
from rankgain.errors import counted
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import finite_or_none
from rankgain.results.text import Style, aligned, fixed, number, printable, text_table

_FEW = 3  # number of documents of a kind that are named for a query, and of those to judge next


def gate_failures(result: Evaluation, floors: Mapping[str, float], lost: Sequence[Any]) -> list[str]:
    """Return why a gate fails, or nothing if it passes: means below their floors, and queries that lost everything."""
    reasons = [
        f"{metric}: the mean is {number(result.mean(metric))}, below {floor:g}"
        for metric, floor in floors.items()
        if not result.mean(metric) >= floor
    ]
    if lost:
        some = ", ".join(map(printable, lost[:_FEW])) + (f" and {len(lost) - _FEW} more" if len(lost) > _FEW else "")
        reasons.append(f"new returns nothing for {counted(len(lost), 'query')} for which old does: {some}")
    return reasons


def text_of_diff(result: Evaluation, changes: Changes, worst: int) -> str:
    """Return the means, the changes and the most changed queries as text."""
    counts = result.counts
    treated = "counted as 0" if result.missing == "zero" else "left out"
    added = " (left out: new to the set, or old returned nothing)" * (counts["only_in_new"] > 0)
    lines = [
        f"{counted(counts['queries'], 'query')}; ties: {result.ties or 'in the order given'}; only in old: "
        f"{counts['only_in_old']}{f' ({treated})' * (counts['only_in_old'] > 0)}, only in new: "
        f"{counts['only_in_new']}{added}",
        *result.assumed,
        *text_table(_means(result)),
        "",
        *text_table(changes.summary()),
    ]
    for name, word in (("fewer_in_new", "fewer"), ("more_in_new", "more")):
        if counts[name]:
            lines.append(f"{word} documents in new: {counted(counts[name], 'query')}")
    lines += _most_changed(result, changes, worst)
    unjudged = sorted((row for row in changes if row.grade is None), key=lambda row: -row.weight)[:_FEW]
    if unjudged:
        each = (
            f"{printable(row.doc_id)} for {printable(row.query_id)} "
            f"({'rank ' + str(row.new_rank) if row.new_rank else 'no longer returned'}, weight {fixed(row.weight, 3)})"
            for row in unjudged
        )
        lines += ["", f"judge next: {', '.join(each)}"]
    return "\n".join([*lines, ""])


def _means(result: Evaluation) -> list[list[object]]:
    rows: list[list[object]] = [["metric", "mean", "95% interval", "lowest"]]
    for metric, values in result.items():
        low, high = result.interval(metric)
        lowest = float(values.min()) if len(values) else float("nan")
        rows.append([str(metric), number(result.mean(metric)), f"{number(low)} to {number(high)}", number(lowest)])
    return rows


def _order(result: Evaluation) -> list[int]:
    """Return the queries in order of similarity, the least similar first."""
    order = np.lexsort([*result.values()][::-1])
    return [row for row in order.tolist() if any(values[row] < 1.0 for values in result.values())]


def _most_changed(result: Evaluation, changes: Changes, worst: int) -> Iterator[str]:
    rows = _order(result)[:worst]
    if not rows:
        return
    by_query: dict[Any, list[Change]] = {}
    for change in changes:
        by_query.setdefault(change.query_id, []).append(change)
    table = [["most changed", *map(str, result)]]
    for row in rows:
        table.append([printable(result.query_ids[row]), *(number(values[row]) for values in result.values())])
    head, rule, *lines = aligned(table, Style())
    yield from ("", head, rule)
    for row, line in zip(rows, lines, strict=True):
        yield line
        for words in _in_words(by_query.get(result.query_ids[row], [])):
            yield f"  {words}"


def _in_words(rows: Sequence[Change]) -> Iterator[str]:
    for kind in KINDS:
        each = sorted((row for row in rows if row.change == kind), key=lambda row: -row.weight)
        shown = [f"{printable(row.doc_id)} ({_ranks(row)})" for row in each[:_FEW]]
        if shown:
            yield f"{kind}: {', '.join(shown)}" + (f" and {len(each) - _FEW} more" if len(each) > _FEW else "")


def _ranks(row: Change) -> str:
    ranks = [str(rank) for rank in (row.old_rank, row.new_rank) if rank is not None]
    return " → ".join(ranks)


def json_of_diff(result: Evaluation, changes: Changes, reasons: Sequence[str] | None) -> str:
    """Return the result as JSON; `reasons` says why a gate failed, and is None without a gate."""
    content: dict[str, Any] = {
        "counts": result.counts,
        "ties": result.ties,
        "missing": result.missing,
        "assumed": list(result.assumed),
        "metrics": {
            str(metric): {"mean": finite_or_none(result.mean(metric)), "interval": list(result.interval(metric))}
            for metric in result
        },
        "queries": {str(query): values for query, values in result.to_dict().items()},
        "changes": [row._asdict() for row in changes],
    }
    if reasons is not None:
        content["gate"] = {"passed": not reasons, "reasons": list(reasons)}
    return json.dumps(content, default=str) + "\n"
