"""Expand comments in the pages into tables of contents and API documentation.

`<!-- contents: NAME ... -->` becomes a hidden table of contents, which adds the named pages to the menus.
`<!-- api: MODULE: NAME ... -->` becomes a list of the names, followed by their docstrings.
"""

import inspect
import re
from importlib import import_module
from typing import Any, get_overloads

from sphinx.application import Sphinx

API = re.compile(r"^<!-- api: (?P<module>[\w.]+): (?P<names>[\w\s]+) -->$", re.MULTILINE)
INITIAL = re.compile(r"^\s*(?=[A-Z]\. )")
CONTENTS = re.compile(r"^<!-- (?:generated: )?contents:? (?P<names>.+) -->$", re.MULTILINE)


def contents(match: re.Match[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *match["names"].split(), "```", "", match[0]])


def api(match: re.Match[str]) -> str:
    """Return a directive that lists the names and then shows the documentation of each."""
    module, names = import_module(match["module"]), match["names"].split()
    lines = [f".. currentmodule:: {module.__name__}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in names]
    for name in names:
        kind = "class" if isinstance(getattr(module, name), type) else "function"
        lines += ["", f".. auto{kind}:: {name}"]
        lines += ["   :members:", "   :inherited-members: Mapping, tuple"] * (kind == "class")
    return "\n".join(["```{eval-rst}", *lines, "```"])


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = API.sub(api, CONTENTS.sub(contents, source[0]))


def as_called(app: Sphinx, what: str, name: str, found: Any, options: Any, shown: str, returns: str) -> Any:
    """Return the signature to show: the first overload of a function, without annotations.

    Arguments that exist only to raise an error (`*scores`) are left out.
    """
    if overloads := get_overloads(found) if what == "function" else ():
        signature = inspect.signature(overloads[0])
        plain = [part.replace(annotation=part.empty) for part in signature.parameters.values()]
        shown = str(inspect.Signature(plain)).replace(", /", "")
    return (shown and shown.replace("*scores", "*")), returns


def keep_initials(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Escape initials at the start of a line ("K. Järvelin"), which would begin a list with letters."""
    lines[:] = [INITIAL.sub(r"\g<0>\\", line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", fill)
    app.connect("autodoc-process-signature", as_called)
    app.connect("autodoc-process-docstring", keep_initials, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
