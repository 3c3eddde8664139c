"""Write the generated parts of pages and modules, such as lists of metrics and tools: python docs/generate.py

In a page, `<!-- generated: NAME ARGUMENT ... -->` begins a generated part and `<!-- end -->` ends it. The function NAME
in `PARTS` returns the text between them. A test checks that all generated parts are up to date.
"""

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from textwrap import fill, indent
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import formulas
import peers
import speed
from support import metric_table, textbook
from support.pages import DOCS, README, pages

from rankgain.comparison.difference import Difference
from rankgain.data.column_names import DEFAULT_COLUMNS, ROW_COLUMNS
from rankgain.metrics.aggregators import geometric_mean, mean, total
from rankgain.metrics.parameters import PARAMETERS
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import NOVELTY, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE, Row
from rankgain.results.peers import ALIASES, PEERS

PART = re.compile(r"^(?P<head><!-- generated: (?P<asked>[^\n]+) -->\n).*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
OVER_QUERIES = {mean: "the mean", geometric_mean: "the geometric mean", total: "the sum"}
LANGUAGES = {
    ".build": "meson",
    ".c": "c",
    ".cff": "yaml",
    ".cpp": "cpp",
    ".py": "python",
    ".pyx": "cython",
    ".toml": "toml",
    ".txt": "cmake",
}


def table(*rows: Iterable[str]) -> str:
    head, *others = ([text.replace("|", r"\|") for text in row] for row in rows)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *others))


def contents(folder: Path, *names: str) -> str:
    """List links to pages, with the titles of the pages as link text; the site also shows them in its menus."""
    return "\n".join(f"- [{title(folder / f'{name}.md')}]({name}.md)" for name in names)


def title(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    included = re.match(r"```\{include\} (\S+)", text)
    return title(page.parent / included[1]) if included else re.search("^# (.+)$", text, re.MULTILINE)[1]


def code(path: str, *sections: str) -> str:
    """Return a file as a code block, or only the named sections; a line such as `# -- data --` begins a section."""
    text = (DOCS / path).read_text(encoding="utf-8")
    parts = [re.search(rf"^# -- {name} --\n(.*?)(?=^# --|\Z)", text, re.MULTILINE | re.DOTALL)[1] for name in sections]
    shown = "\n\n".join(part.strip("\n") for part in parts or [text])
    return f"```{LANGUAGES[Path(path).suffix]}\n{shown}\n```"


def requested(row: Row) -> str:
    return f"`{row.name}" + ("@k`" if row.cuts else "`")


def metrics() -> str:
    """Return a table of all metrics."""
    rows = [("metric", "what it is", "range")]
    rows += [(f"[{requested(row)}](#{row.name})", row.title, values(row)) for row in TABLE.values()]
    return table(*rows)


def values(row: Row) -> str:
    if "coefficients" in row.takes:
        return "any number"
    return "0 and more" if row.highest == float("inf") else f"0 to {row.highest:g}"


def parameter(name: str) -> str:
    default = PARAMETERS[name].default
    shown = {"gain": "linear", "discount": "log2", "rel": "grade > 0"}.get(name)
    if shown is None:
        shown = "/".join(f"{part:g}" for part in default) if isinstance(default, tuple) else str(default)
    return f"`{name}` ({shown.removesuffix('.0')})"


def by_subtopic() -> str:
    """Return a table of the metrics of judgments by subtopic, except for means over subtopics."""
    return table_of(SUBTOPIC_TABLE[name] for name in ("strecall", *NOVELTY))


def of_two_runs() -> str:
    """Return a table of the metrics that compare two runs without judgments."""
    return table_of(SIMILARITY_TABLE.values())


def table_of(metrics: Iterable[Row]) -> str:
    """Return a table of metrics with their formulas."""
    rows = [("metric", "what it is", "formula", "parameters", "other names", "source")]
    for row in metrics:
        own = {name: row.parameters[name].default for name in row.takes}
        parameters = ", ".join(f"`{name}` ({'grade > 0' if value is None else value})" for name, value in own.items())
        names = ", ".join(f"`{alias}`" for alias in row.aliases if not alias.endswith("_ia"))
        rows.append((requested(row), row.title, row.formula, parameters, names, row.source))
    return table(*rows)


def over_queries(row: Row) -> str:
    return OVER_QUERIES[row.aggregator] + (", weighted by the number of returned documents" if row.weights else "")


def definition(row: Row) -> str:
    facts = {
        "Ask for": requested(row) + "".join(f", `{alias}`" for alias in row.aliases),
        "Parameters": ", ".join(map(parameter, row.takes)),
        "`empty` is the value of": f"a query with {row.empty_if}" if "empty" in row.takes else "",
        "Range": values(row),
        "Over queries": over_queries(row),
        "Tied documents, averaged": f"refused: {row.unaveraged}"
        if row.unaveraged
        else "[in closed form](ties.md#averages)",
        "Tied documents, worst and best": f"not always the extremes over all orders: {row.extremes}"
        if row.extremes
        else "",
        "Source": row.source,
    }
    lines = "\n".join(f"- {name}: {fact}" for name, fact in facts.items() if fact)
    shown = "\n\n".join(f"```math\n{part}\n```" for part in formulas.tex(row.formula))
    title = row.title[0].upper() + row.title[1:]
    remark = f"{row.remark[0].upper()}{row.remark[1:]}.\n\n" if row.remark else ""
    code = folded("In plain Python", textbook.definition(row.name))
    return f"### {row.name}\n\n{title}.\n\n{shown}\n\n{remark}{lines}\n\n{code}\n"


def folded(summary: str, *functions: Callable[..., Any]) -> str:
    """Return the source of functions from `tests/support/textbook.py` as a collapsible code block."""
    code = "\n\n".join(inspect.getsource(function) for function in functions)
    return f"<details><summary>{summary}</summary>\n\n```python\n{code}```\n\n</details>\n"


def definitions() -> str:
    """Describe each metric: its formula, names, parameters, range and source, and its code in textbook.py."""
    return "\n".join(map(definition, TABLE.values()))


def helpers() -> str:
    """Return the source of the helper functions in textbook.py that precede the last metric."""
    metrics = set(map(textbook.definition, TABLE))
    last = max(metric.__code__.co_firstlineno for metric in metrics)
    helpers = {value for value in vars(textbook).values() if inspect.isfunction(value)} - metrics
    helpers = {function for function in helpers if inspect.getmodule(function) is textbook}
    lines = {function.__code__.co_firstlineno: function for function in helpers}
    shared = [lines[line] for line in sorted(lines) if line < last]
    return folded(", ".join(function.__name__ for function in shared), *shared)


def unaveraged() -> str:
    rows = [(f"[`{row.name}`](definitions.md#{row.name})", row.unaveraged) for row in TABLE.values()]
    return table(("metric", "why there is no average"), *(row for row in rows if row[1]))


def extremes() -> str:
    rows = [(f"[`{row.name}`](definitions.md#{row.name})", row.extremes) for row in TABLE.values()]
    return table(("metric", "why another order can be beyond worst or best"), *(row for row in rows if row[1]))


def printed(*arguments: str) -> str:
    command = [sys.executable, "-m", "rankgain", *arguments]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def command_line() -> str:
    """Return the --help output of each command."""
    helps = {"rankgain": printed("--help")}
    for name in re.findall(r"^    (\w+)", helps["rankgain"], re.MULTILINE):
        helps[f"rankgain {name}"] = printed(name, "--help")
    return "\n".join(f"### `{name} --help`\n\n```text\n{text}```\n" for name, text in helps.items())


def classes(path: str) -> str:
    """List a module's public classes. It is parsed, not imported, because its requirements may not be installed."""
    tree = ast.parse((DOCS / path).read_text(encoding="utf-8"))
    public = next(ast.literal_eval(node.value) for node in tree.body if "__all__" in ast.unparse(node).split())
    docstrings = {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)}
    rows = [(f"`{name}`", docstrings[name].partition("\n")[0]) for name in public if name in docstrings]
    return table(("class", "what it is"), *rows)


def compare_columns() -> str:
    """Describe the columns of `rankgain compare --csv`, using the docstring of Difference."""
    attributes = inspect.getdoc(Difference).partition("----------\n")[2].partition("\n\n")[0]
    rows = [("column", "type", "meaning")]
    for names, kind, text in re.findall(r"^(\S.*) : (.+)\n((?:    .+\n?)+)", attributes, re.MULTILINE):
        rows.append((", ".join(f"`{name}`" for name in names.split(", ")), kind, " ".join(text.split())))
    return table(*rows)


def column_names() -> str:
    """List the recognised column names by role."""
    rows = [(role, ", ".join(f"`{name}`" for name in names)) for role, names in DEFAULT_COLUMNS.items()]
    lists = [
        (f"{role}, in a row per query", ", ".join(f"`{name}`" for name in names)) for role, names in ROW_COLUMNS.items()
    ]
    return table(("column", "recognised names, best first"), *rows, *lists)


def installed() -> str:
    """List the extras in pyproject.toml and the packages that each installs."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [("extra", "what it installs")]
    for name, needed in project["optional-dependencies"].items():
        names = [re.split(r"[<>=;\[ ]", requirement)[0] for requirement in needed]
        rows.append((f"`{name}`", ", ".join(key for key, _ in groupby(names))))
    return table(*rows)


PARTS: dict[str, Callable[..., str]] = {
    "by_subtopic": by_subtopic,
    "classes": classes,
    "code": code,
    "command_line": command_line,
    "column_names": column_names,
    "compare_columns": compare_columns,
    "definitions": definitions,
    "extremes": extremes,
    "helpers": helpers,
    "installed": installed,
    "metrics": metrics,
    "of_two_runs": of_two_runs,
    "speed.conditions": speed.conditions,
    "speed.contests": speed.contests,
    "speed.torch_classes": speed.torch_classes,
    "unaveraged": unaveraged,
    "where_we_differ": peers.page,
}


def filled(page: Path) -> str:
    """Return the text of a page with its generated parts updated."""
    parts = PARTS | {"contents": partial(contents, page.parent)}

    def part(match: re.Match[str]) -> str:
        name, *arguments = match["asked"].split()
        return f"{match['head']}\n{parts[name](*arguments).strip()}\n\n<!-- end -->"

    return PART.sub(part, page.read_text(encoding="utf-8"))


SOURCES = DOCS.parent / "src" / "rankgain"


def lists_of_metrics(source: str) -> tuple[str, int]:
    """Update the lists of metrics in the docstring of `rankgain.metric`."""
    first, last = "    Which metrics take which parameter::\n", 'refused under ``ties="average"``::\n\n'
    lists = indent(metric_table.lists(), "    ")
    return re.subn(rf"{re.escape(first)}(?s:.*?){re.escape(last)}(?:        [^\n]+\n)+", lambda _: lists, source)


def tools_in_docstring(source: str) -> tuple[str, int]:
    """Update the list of tools for `like` in the docstring of `Rankings.evaluate`."""
    *names, last = (f'``"{name}"``' for name in PEERS)
    sentence = f"The tool whose rules to follow: {', '.join(names)} or {last}."
    lines = fill(sentence, 120, initial_indent=" " * 12, subsequent_indent=" " * 12, break_on_hyphens=False)
    return re.subn(r" {12}The tool whose rules to follow: ``[^.]+``\.", lambda _: lines, source)


def tools_in_choices(source: str) -> tuple[str, int]:
    """Update the names of the tools in choices.py, the module of argument types."""
    names, aliases = (indent("".join(f'"{name}",\n' for name in tools), "    ") for tools in (PEERS, ALIASES))
    return re.subn(r'(?<=\nPeer = Literal\[\n)( +"(?s:.*?))( +#[^\n]+\n)( +"[^]]+)', rf"{names}\g<2>{aliases}", source)


MODULES = {
    SOURCES / "metrics" / "metric.py": lists_of_metrics,
    SOURCES / "rankings.py": tools_in_docstring,
    SOURCES / "choices.py": tools_in_choices,
}


def module(path: Path) -> str:
    """Return the source of a module with its generated part updated."""
    text, count = MODULES[path](path.read_text(encoding="utf-8"))
    assert count == 1, f"{path}: the generated part was not recognised"
    return text


if __name__ == "__main__":
    for path in MODULES:
        path.write_text(module(path), encoding="utf-8")
    for page in (README, *pages()):
        page.write_text(filled(page), encoding="utf-8")
