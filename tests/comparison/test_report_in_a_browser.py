"""In Chromium, the page raises no error, makes no request, sorts its tables, and treats names as plain text."""

import numpy as np
import pytest
from support.browser import Page
from support.made_runs import HOSTILE, comparison, hostile

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("width", [390, 1280])
def test_report_sorts_and_runs_no_names_in_a_browser(tmp_path, width):
    runs, labels = hostile()
    path = tmp_path / "report.html"
    runs.report(path, runs.test(HOSTILE[1], flips=99), groups=runs.groups(labels, HOSTILE[1], flips=99))
    page = Page(path, width)
    try:
        assert page.errors() == []
        assert page.requests() == []
        assert "gone" not in page.run("document.title").replace("document.title='gone'", "")
        assert page.run("document.documentElement.scrollWidth") <= width
        # No table is cut off, and the numbers are visible.
        inside = (
            "[...document.querySelectorAll('table.wide td')].every(cell => cell.getBoundingClientRect().right <= {})"
        )
        assert page.run(inside.format(width))
        numbers = (
            "[...document.querySelectorAll('table.wide td:not(.name, .picture)')].every(cell => cell.offsetWidth > 30)"
        )
        assert page.run(numbers)
        column = "[...document.querySelector('table.sortable').tBodies[0].rows].map(row => row.cells[3].textContent)"
        click = "document.querySelector('table.sortable').tHead.rows[0].cells[3].querySelector('button').click()"
        page.run(click)
        rising = [float(value) for value in page.run(column) if value]
        assert rising
        assert rising == sorted(rising)
        page.run(click)
        falling = [float(value) for value in page.run(column) if value]
        assert falling == sorted(rising, reverse=True)
        assert page.errors() == []
    finally:
        page.close()


LINES_OF_NUMBERS = """
[...document.querySelectorAll("td:not(.name, .picture)")].filter((cell) => {
  const range = document.createRange();
  return [...cell.childNodes].some((node) => {
    range.selectNodeContents(node);
    return node.nodeType === Node.TEXT_NODE && new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
  });
}).length
"""


def of_many_runs():
    random = np.random.default_rng(0)
    metrics = ["ndcg(gain=exponential)@20", "ap", *(f"p@{k}" for k in range(1, 7))]
    return comparison({f"r{run}": {metric: random.random(40) for metric in metrics} for run in range(12)})


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_report_breaks_no_number_and_fits(tmp_path, width):
    runs = of_many_runs()
    runs.report(tmp_path / "report.html", runs.test(flips=99), groups=runs.groups(list("ab") * 20, flips=99))
    page = Page(tmp_path / "report.html", width)
    try:
        page.run("document.querySelectorAll('details').forEach((block) => { block.open = true; })")
        assert page.run("document.querySelectorAll('td').length") > 1000
        assert page.run(LINES_OF_NUMBERS) == 0
        assert page.run("document.documentElement.scrollWidth") <= width
    finally:
        page.close()


def test_report_prints_folded_tables(tmp_path):
    runs = of_many_runs()
    runs.report(tmp_path / "report.html", runs.test(flips=99))
    page = Page(tmp_path / "report.html")
    visible = "[...document.querySelectorAll('details table')].filter((table) => table.checkVisibility()).length"
    try:
        assert page.run("document.querySelectorAll('details table').length") == 8 + 1 + 8
        page.call("Emulation.setEmulatedMedia", media="screen")
        assert page.run(visible) == 0
        page.call("Emulation.setEmulatedMedia", media="print")
        assert page.run(visible) == 8 + 1 + 8
    finally:
        page.close()


def test_report_is_dark_on_a_dark_screen_and_light_on_paper(tmp_path):
    runs = of_many_runs()
    runs.report(tmp_path / "report.html", runs.test(flips=99))
    luminance = "getComputedStyle(document.body)['{}'].match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0)"
    paper, ink = map(luminance.format, ("backgroundColor", "color"))
    for dark in (False, True):
        page = Page(tmp_path / "report.html", dark=dark)
        try:
            assert (page.run(paper) < page.run(ink)) is dark
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            page.call("Emulation.setEmulatedMedia", media="print", features=[scheme])
            assert page.run(paper) > page.run(ink)
        finally:
            page.close()
