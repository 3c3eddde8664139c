"""The page in Chromium: no error, no request, sorting works, and no name acts."""

import pytest
from support.browser import Page
from support.made_runs import HOSTILE, hostile

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
        # Nothing of a table is cut, and numbers are seen.
        inside = (
            "[...document.querySelectorAll('table.wide td')].every(cell => cell.getBoundingClientRect().right <= {})"
        )
        assert page.run(inside.format(width))
        numbers = "[...document.querySelectorAll('table.wide td.number')].every(cell => cell.offsetWidth > 30)"
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
