"""Sphinx configuration of the site, which is built offline, with warnings as errors.

python -m sphinx -W --keep-going -b html docs docs/_build/html
"""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "tests")]
_project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = _project["name"]
author = _project["authors"][0]["name"]
copyright = author
version = release = _project["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",  # this extension and the next three are in docs/_ext
    "contents",
    "accessible",
    "not_found",
]
exclude_patterns = ["_build", "_ext", "_static"]
templates_path: list[str] = []
default_role = "py:obj"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]  # GitHub also typesets fenced math blocks

autosummary_generate = False
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # the docstrings describe the types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
trim_doctest_flags = True

html_baseurl = _project["urls"]["Documentation"]
html_theme = "pydata_sphinx_theme"
html_title = f"{project} {version}"
html_static_path = ["_static"]
html_favicon = "_static/mark.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "404": []}  # these pages have no subpages to list
html_theme_options = {
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "github_url": _project["urls"]["Repository"],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}


def setup(app):
    """Show links to the previous and next page only in the tutorials, which are read in order."""

    def order(app, pagename, templatename, context, doctree):
        context["theme_show_prev_next"] = pagename.startswith("tutorials/")

    app.connect("html-page-context", order)
