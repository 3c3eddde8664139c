"""Resolve the links of the 404 page against the site's root, because servers show the page at any missing URL."""

from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx


def from_the_root(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if pagename == "404":
        root = urlsplit(app.config.html_baseurl).path
        context["metatags"] = f'<base href="{root}" />\n<meta name="robots" content="noindex" />{context["metatags"]}'


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", from_the_root)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
