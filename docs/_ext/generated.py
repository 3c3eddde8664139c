"""Parts of pages that are made while the site is built: `<!-- generated: NAME -->` stands for what NAME gives here.

`<!-- pages: NAME ... -->` is a table of contents, and
`<!-- api: MODULE: NAME ... -->` stands for what the docstrings of these names say.
"""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, get_overloads

import formulas
import where_we_differ
from sphinx.application import Sphinx
from support import textbook

from rankgain.metrics.aggregators import geometric_mean, mean, total
from rankgain.metrics.parameters import PARAMETERS
from rankgain.metrics.table import TABLE, Row

API = re.compile(r"^<!-- api: (?P<module>[\w.]+): (?P<names>[\w\s]+) -->$", re.MULTILINE)
PAGES = re.compile(r"^<!-- pages: (?P<names>[^>]+) -->$", re.MULTILINE)
PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
OVER_QUERIES = {mean: "the mean", geometric_mean: "the geometric mean", total: "the sum"}


def cell(text: str) -> str:
    return text.replace("|", r"\|")


def table(*rows: tuple[str, ...]) -> str:
    head, *others = rows
    return "\n".join("| " + " | ".join(map(cell, row)) + " |" for row in (head, ("---",) * len(head), *others))


def asked(row: Row) -> str:
    return f"`{row.name}" + ("@k`" if row.cuts else "`")


def metrics() -> str:
    """All metrics at a glance."""
    rows = [("metric", "what it is", "range")]
    rows += [(f"[{asked(row)}](#{row.name})", row.title, values(row)) for row in TABLE.values()]
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


def over_queries(row: Row) -> str:
    return OVER_QUERIES[row.aggregator] + (", weighted by the documents returned" if row.weights else "")


def definition(row: Row) -> str:
    facts = {
        "Ask for": asked(row) + "".join(f", `{alias}`" for alias in row.aliases),
        "Parameters": ", ".join(map(parameter, row.takes)),
        "`empty` is the value of": f"a query with {row.empty_if}" if "empty" in row.takes else "",
        "Range": values(row),
        "Over queries": over_queries(row),
        "Tied documents, averaged": f"refused: {row.unaveraged}"
        if row.unaveraged
        else "[in closed form](ties.md#averages)",
        "Source": row.source,
    }
    lines = "\n".join(f"- {name}: {fact}" for name, fact in facts.items() if fact)
    shown = "\n\n".join(f"$$\n{part}\n$$" for part in formulas.tex(row.formula))
    title = row.title[0].upper() + row.title[1:]
    remark = f"{row.remark[0].upper()}{row.remark[1:]}.\n\n" if row.remark else ""
    code = folded("In plain Python", textbook.METRICS[row.name])
    return f"### {row.name}\n\n{title}.\n\n{shown}\n\n{remark}{lines}\n\n{code}\n"


def folded(summary: str, *functions: Callable[..., Any]) -> str:
    """The source of functions of `tests/support/textbook.py`, against which both backends are tested."""
    code = "\n\n".join(inspect.getsource(function) for function in functions)
    return f"<details><summary>{summary}</summary>\n\n```python\n{code}```\n\n</details>\n"


def definitions() -> str:
    """Each metric: its formula, names, parameters, range and source, and its code in the textbook."""
    return "\n".join(map(definition, TABLE.values()))


def helpers() -> str:
    """What the functions of the textbook have in common."""
    used = textbook.is_judged, textbook.is_relevant, textbook.gain, textbook.discount, textbook.added
    return folded("is_judged, is_relevant, gain, discount, added", *used, textbook.discounted_sum, textbook.ideal_gains)


def unaveraged() -> str:
    rows = [(f"[`{row.name}`](definitions.md#{row.name})", row.unaveraged) for row in TABLE.values()]
    return table(("metric", "why there is no average"), *(row for row in rows if row[1]))


def printed(*arguments: str) -> str:
    command = [sys.executable, "-m", "rankgain", *arguments]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def command_line() -> str:
    """What each command prints for --help."""
    helps = {"rankgain": printed("--help")}
    for name in re.findall(r"^    (\w+)", helps["rankgain"], re.MULTILINE):
        helps[f"rankgain {name}"] = printed(name, "--help")
    return "\n".join(f"### `{name} --help`\n\n```text\n{text}```\n" for name, text in helps.items())


def installed() -> str:
    """The extras, as pyproject.toml has them."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [("extra", "what it installs")]
    for name, needed in project["optional-dependencies"].items():
        names = [re.split(r"[<>=;\[ ]", requirement)[0] for requirement in needed]
        rows.append((f"`{name}`", ", ".join(key for key, _ in groupby(names))))
    return table(*rows)


def api(match: re.Match[str]) -> str:
    """A list of names, then what the docstring of each says."""
    module, names = import_module(match["module"]), match["names"].split()
    lines = [f".. currentmodule:: {module.__name__}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in names]
    for name in names:
        kind = "class" if isinstance(getattr(module, name), type) else "function"
        lines += ["", f".. auto{kind}:: {name}"]
        lines += ["   :members:", "   :inherited-members: Mapping, tuple"] * (kind == "class")
    return "\n".join(["```{eval-rst}", *lines, "```"])


PARTS: dict[str, Callable[[], str]] = {
    "metrics": metrics,
    "definitions": definitions,
    "helpers": helpers,
    "unaveraged": unaveraged,
    "command_line": command_line,
    "installed": installed,
    "where_we_differ": where_we_differ.page,
}


def pages(asked: str, docname: str, found: set[str]) -> str:
    """A table of contents of the pages that exist, in this order; `*` stands for all others of the folder."""
    folder = docname.rpartition("/")[0]
    near = sorted({name for name in found if name.rpartition("/")[0] == folder} - {docname})
    names = [f"{folder}/{name}" if folder else name for name in asked.split()]
    chosen = [name for name in names if name in found]
    if "*" in asked.split():
        chosen += [name for name in near if name not in chosen]
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *(f"/{name}" for name in chosen), "```"])


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = PAGES.sub(lambda match: pages(match["names"], docname, app.env.found_docs), source[0])
    source[0] = API.sub(api, source[0])
    source[0] = PLACE.sub(lambda match: PARTS[match[1]](), source[0])


def as_called(app: Sphinx, what: str, name: str, found: Any, options: Any, shown: str, returns: str) -> Any:
    """The signature as people call it: the first overload, without arguments that are there only to be refused."""
    if overloads := get_overloads(found) if what == "function" else ():
        signature = inspect.signature(overloads[0])
        plain = [part.replace(annotation=part.empty) for part in signature.parameters.values()]
        shown = str(inspect.Signature(plain)).replace(", /", "")
    return (shown and shown.replace("*scores", "*")), returns


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", fill)
    app.connect("autodoc-process-signature", as_called)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
