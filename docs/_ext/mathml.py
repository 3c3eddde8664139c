"""Convert formulas to MathML when the site is built, so pages need no scripts or network access to show them."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def typeset(node: nodes.Element, display: str) -> str:
    text = node.astext()
    found = convert(text, display=display)
    if "\\" in found:  # the converter leaves unknown commands unchanged
        logger.warning("a formula is not typeset: %s", text, location=node)
    return found


def inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(typeset(node, "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="formula" tabindex="0">{typeset(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
