"""Convert formulas to MathML when the site is built, so pages need no scripts or network access to show them."""

from collections.abc import Iterator
from html import escape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
MATHML = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", MATHML)
BRACKETS = {"(": 1, ")": -1}
OPERATORS = {*"=+/", "\N{MINUS SIGN}", "\N{MIDDLE DOT}"}


def typeset(node: nodes.Element, display: str) -> str:
    text = node.astext()
    found = convert(text, display=display)
    if "\\" in found:  # the converter leaves unknown commands unchanged
        logger.warning("a formula is not typeset: %s", text, location=node)
    return found


def inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(typeset(node, "inline"))
    raise nodes.SkipNode


def lines(math: str) -> Iterator[str]:
    """Divide a formula where a line may end, since MathML does not wrap: at prose, commas, spaces and operators."""
    part: list[ElementTree.Element] = []
    depth = 0

    def formula() -> Iterator[str]:
        if part:
            row = ElementTree.Element(f"{{{MATHML}}}math", displaystyle="true")
            row.extend(part)
            part.clear()
            yield ElementTree.tostring(row, encoding="unicode")

    for child in ElementTree.fromstring(math)[0]:
        kind, text = child.tag.removeprefix(f"{{{MATHML}}}"), child.text or ""
        depth += BRACKETS.get(text, 0)
        if kind == "mtext" and not depth:
            yield from formula()
            yield escape(text.replace("\N{NO-BREAK SPACE}", " "))
        elif (kind == "mspace" or text == ",") and not depth:
            part.append(child)
            yield from formula()
            yield " "
        else:
            if text in OPERATORS and part and not depth:
                yield from formula()
                child.set("form", "infix")  # not a sign, although it begins a line
            part.append(child)
    yield from formula()


def block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="formula">{"<wbr>".join(lines(typeset(node, "block")))}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
