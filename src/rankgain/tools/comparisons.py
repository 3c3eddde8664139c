"""What the command line prints of the tests of a comparison, each form as one text that ends its last line."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from rankgain import _backend
from rankgain.comparison.groups import Groups
from rankgain.comparison.tests import Tests
from rankgain.results.text import printable


def read_groups(path: str) -> dict[str, str]:
    """The groups of queries from a file: query, tab, group in each line.

    Raises
    ------
    ValueError
        For a line without a tab, and for a query that has two groups.
    OSError
        If the file cannot be read.
    """
    found: dict[str, str] = {}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\r\n")
            if not text:
                continue
            query, tab, label = text.partition("\t")
            if not tab:
                raise ValueError(f"{path}:{number}: a line must be query, tab, group, not {text[:80]!r}")
            if found.setdefault(query, label) != label:
                raise ValueError(f"{path}:{number}: query {query!r} has two groups, {found[query]!r} and {label!r}")
    return found


def as_text(tests: Tests, groups: Groups | None) -> str:
    """The table with verdicts and notes, then those of the groups."""
    return "\n\n".join([tests.table(), *([groups.table()] if groups else [])]) + "\n"


def as_json(tests: Tests, groups: Groups | None) -> str:
    """One JSON object: the differences with their verdicts, what was asked for, warnings and notes.

    NaN and infinite values are null.
    """
    options = tests.options._asdict() | {"metrics": [str(metric) for metric in tests.options.metrics]}
    content: dict[str, Any] = {
        "differences": _objects(tests),
        "verdicts": tests.verdicts(),
        "warnings": tests.warnings,
        "notes": tests.notes(),
        "methods": tests.methods().replace("\n", " "),
        "options": options,
    }
    if groups is not None:
        content["groups"] = {str(label): _objects(own) for label, own in groups.tests.items()}
        content["groups_differ"] = [
            {"metric": str(key[0]), "run": key[1], "baseline": key[2], "p": _finite(groups.differ_p(*key))}
            | {"mean_of_means": groups.mean_of_means(*key), "verdicts": groups.verdicts(*key)}
            for key in groups.overall
        ]
    return json.dumps(content | {"version": _backend.VERSION}, indent=2, allow_nan=False) + "\n"


def _objects(tests: Tests) -> list[dict[str, Any]]:
    return [
        {name: _finite(value) for name, value in its._asdict().items()}
        | {"metric": str(its.metric), "decided": its.decided, "verdict": its.verdict()}
        for its in tests.values()
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_csv(tests: Tests, groups: Groups | None) -> str:
    """A row for each difference, in full precision; with groups the first column is the group, empty for all queries.

    What would be a formula in a spreadsheet gets an apostrophe before it.
    """
    out = io.StringIO()
    write = csv.writer(out).writerow
    columns = tests.columns()
    write([*(["group"] if groups else []), *columns])
    parts = [(None, tests), *(groups.tests.items() if groups else ())]
    for label, own in parts:
        for row in zip(*own.columns().values(), strict=True):
            first = [] if groups is None else ["" if label is None else _field(printable(label))]
            write([*first, *map(_field, row)])
    return out.getvalue()


def _field(value: Any) -> Any:
    if not isinstance(value, str):
        return "" if isinstance(value, float) and not math.isfinite(value) else value
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def as_markdown(tests: Tests, groups: Groups | None) -> str:
    """Tables in Markdown."""
    return "\n".join([tests.to_markdown(), *([groups.to_markdown()] if groups else [])])


def as_latex(tests: Tests, groups: Groups | None) -> str:
    """Tables in LaTeX."""
    return "\n".join([tests.to_latex(), *([groups.to_latex()] if groups else [])])


COMPARED = {"text": as_text, "json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
