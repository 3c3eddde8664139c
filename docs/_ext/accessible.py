"""Add labels for screen readers to the theme's buttons. Each label includes the visible text of the button, if any."""

import re
from pathlib import Path

from sphinx.application import Sphinx

CHANGES = (
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="its pages">'),
    (r'(<button[^>]*search-button-field[^>]* aria-label="Search)"', r'\1 Ctrl+K"'),
)


def name_buttons(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        before = text = page.read_text(encoding="utf-8")
        for pattern, change in CHANGES:
            text = re.sub(pattern, change, text)
        if text != before:
            page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", name_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
