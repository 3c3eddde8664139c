"""Check the site in the folder SITE_FOLDER with a headless Chromium.

At the width of a phone and of a desktop, in light and dark mode, nothing is wider than the screen or its table cell,
nothing fails, and nothing is requested from other machines. On a phone, only blocks of code scroll sideways, and each
block of code that is cut off shows its scrollbar. axe, the script in the file AXE_SCRIPT, finds no violations, and the
search shows the expected pages first.
"""

import functools
import http.server
import os
import threading
import time
import tomllib
from pathlib import Path

import pytest
from support import ROOT
from support.browser import Page

pytestmark = [pytest.mark.slow, pytest.mark.checkout]

FOLDER = Path(os.environ["SITE_FOLDER"]).resolve()
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Documentation"]
BASE = SITE.split("/", 3)[3]
PAGES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html") if "_static" not in path.parts)
# axe checks WCAG 2.1 AA and best practices: contrast, keyboard access, headings, landmarks and image descriptions.
AXE = """
axe.run({resultTypes: ["violations"]}).then(found => found.violations.flatMap(rule =>
  rule.nodes.map(node => `${rule.id}: ${node.target}: ${node.failureSummary.split("\\n").slice(1).join("; ")}`)))
"""

BEYOND_CELLS = """
[...document.querySelectorAll(".bd-article td")].filter(cell => [...cell.querySelectorAll("code")].some(
  code => code.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1))
  .map(cell => `wider than its cell: ${cell.textContent}`)
"""

SCROLLED_SIDEWAYS = """
[...document.querySelectorAll("body *")].filter(box => !box.closest("pre") && box.checkVisibility() && box.clientWidth
  && box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX))
  .map(box => `scrolls sideways: ${box.tagName} ${box.className}, ${box.scrollWidth} in ${box.clientWidth}`)
"""

CUT_WITHOUT_SCROLLBAR = """
[...document.querySelectorAll(".bd-article pre")].filter(box => box.scrollWidth > box.clientWidth
  && box.offsetHeight - box.clientHeight - 2 * box.clientTop < 6)
  .map(box => `cut off without a scrollbar: ${box.textContent.slice(0, 60)}`)
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serve the folder under the path at which the site will be published."""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(f"/{BASE.rstrip('/')}"))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def root():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(FOLDER)))
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/{BASE}"
    server.shutdown()
    serving.join()
    server.server_close()


def failures(page):
    """Return the logged errors and warnings."""
    kinds = {"error", "warning", "assert"}
    return [
        event["params"]
        for event in page.errors()
        if event["method"] != "Runtime.consoleAPICalled" or event["params"]["type"] in kinds
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_every_page_has_no_error_and_no_barrier(root, width, dark):
    browser = Page(f"{root}index.html", width, dark, overlay=True)
    script = Path(os.environ["AXE_SCRIPT"]).read_text(encoding="utf-8")
    faults = {}
    try:
        for name in PAGES:
            browser.visit(root + name)
            time.sleep(0.1)  # let scripts finish after the page has loaded
            faults[name] = [
                *failures(browser),
                *(url for url in browser.requests() if not url.startswith(root)),
                *browser.run(f"{script}; {AXE}"),
                *browser.run(BEYOND_CELLS),
                *browser.run(CUT_WITHOUT_SCROLLBAR),
                *(browser.run(SCROLLED_SIDEWAYS) if width == 375 else ()),
            ]
            wide = browser.run("document.documentElement.scrollWidth")
            faults[name] += [f"{wide} wide"] * (wide > width)
    finally:
        browser.close()
    assert {name: messages for name, messages in faults.items() if messages} == {}


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("ndcg", "api/functions"),
        ("ndcg ties", "ties"),
        ("ties", "ties"),
        ("pytrec_eval", "api/pytrec_eval"),
        ("compare runs", "how-to/compare"),
    ],
)
def test_search_shows_the_page_first(root, query, page):
    browser = Page(f"{root}search.html?q={query.replace(' ', '+')}")
    links = "document.querySelectorAll('#search-results li a')"
    first = f"[...{links}].slice(0, 1).map(link => new URL(link.href).pathname)"
    try:
        until = time.monotonic() + 20
        while not (shown := browser.run(first)) and time.monotonic() < until:
            time.sleep(0.2)
        assert shown == [f"/{BASE}{page}.html"]
    finally:
        browser.close()


def test_names_leave_three_quarters_of_a_phone_to_the_definitions(root):
    browser = Page(f"{root}definitions.html", 375, overlay=True)
    try:
        table = "document.querySelector('#all-metrics table')"
        assert browser.run(f"{table}.rows[0].cells[0].offsetWidth") <= 0.25 * browser.run(f"{table}.offsetWidth")
    finally:
        browser.close()


def test_first_page_shows_a_picture_and_a_feature_before_its_links(root):
    browser = Page(f"{root}index.html", 1280)
    try:
        assert browser.run("document.querySelector('.bd-article img').getBoundingClientRect().bottom") < 1000
        assert browser.run("document.querySelector('.bd-article h2').getBoundingClientRect().bottom") < 1000
        links = "[...document.querySelectorAll('.bd-article a:not(.headerlink)')]"
        before = f"{links}.filter(link => link.compareDocumentPosition(document.querySelector('.bd-article h2')) & 4)"
        assert 0 < browser.run(f"{before}.length") < 6
        assert browser.run("document.querySelector('.bd-article pre').innerText.trim()") == "pip install rankgain"
    finally:
        browser.close()


def test_keyboard_reaches_the_controls(root):
    """The first stop of the Tab key leads to the main content, and blocks of code that scroll can be reached."""
    browser = Page(f"{root}how-to/compare.html", 375)
    try:
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        assert browser.run("document.activeElement.textContent.trim()") == "Skip to main content"
        wide = "[...document.querySelectorAll('.bd-article pre')].filter(one => one.scrollWidth > one.clientWidth)"
        assert browser.run(f"{wide}.length") > 0
        assert browser.run(f"{wide}.every(one => one.tabIndex === 0)")
    finally:
        browser.close()
