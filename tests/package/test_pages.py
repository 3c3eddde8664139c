"""The site and the README: their examples run as they stand, and what they must say they say."""

import doctest
import importlib
import re
import tomllib

import pytest
from support import ROOT
from support.examples import FLAGS, Parser
from support.pages import DOCS, README, blocks, examples, name_of, pages

import rankgain as rg
from rankgain.metrics.table import TABLE
from rankgain.results.presets import OWN, PEERS

pytestmark = pytest.mark.checkout

PAGES = [README, *pages()]
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Documentation"]


def extension(name, monkeypatch):
    """A module of those that make pages; Sphinx is only needed by others."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module(name)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
@pytest.mark.usefixtures("backend")
def test_page_examples(page):
    held = examples(page, Parser())
    result = doctest.DocTestRunner(optionflags=FLAGS).run(held)
    assert result.failed == 0
    assert result.attempted == len(held.examples)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_examples_are_all_found(page):
    """No block with prompts has another language, which would not be run."""
    prompts = [
        first for first, language, text in blocks(page) if language != "pycon" and re.search(r"^\s*>>> ", text, re.M)
    ]
    assert prompts == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_page_shows_no_code_that_is_not_run(page):
    """Python is run as `pycon`, or included from a file that `heavy` of .ci/deep runs."""
    # test_downstream.py runs what c.md shows.
    assert name_of(page) == "docs/c.md" or [first for first, language, _ in blocks(page) if language == "python"] == []


def test_every_example_is_included_and_says_what_it_needs():
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    for path in (DOCS / "examples").glob("*.py"):
        assert f"/examples/{path.name}\n" in text
        assert re.search(r"^needs: \S", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


def test_readme_is_one_screen():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 220
    relative = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith((SITE, "#"))]
    assert relative == []  # the page of the wheel is this one
    assert not re.search(r"\$\$|\\frac|\\sum", text)


def test_readme_leads_to_pages():
    for link in re.findall(rf"\]\({re.escape(SITE)}([^)#]*)", README.read_text(encoding="utf-8")):
        source = link.removesuffix(".html") + ".md"
        if not link.startswith("_images/"):
            assert link == "" or (DOCS / source).exists(), link


def test_readme_rows_of_speed_are_those_of_the_page():
    speed = (DOCS / "speed.md").read_text(encoding="utf-8")
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if re.search(r"\| [\d.*; ]+ \|$", line)]
    assert len(rows) >= 6
    assert [row for row in rows if row not in speed] == []


def test_every_public_name_stands_in_the_api():
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    named = {name for _, names in re.findall(r"<!-- api: ([\w.]+): ([\w\s]+) -->", text) for name in names.split()}
    assert set(rg.__all__) - {"__version__", "backend"} - named == set()


def test_every_formula_becomes_tex(monkeypatch):
    tex = extension("formulas", monkeypatch).tex
    for row in TABLE.values():
        shown = " ".join(tex(row.formula))
        assert shown.count("{") == shown.count("}"), row.name
        words = re.sub(r"\\(text|mathrm)\{[^}]*\}|\\[a-z]+", " ", shown)
        assert not re.search(r"[A-Za-z]{2}|[<>Σ·≤−^](?!\{)", words), (row.name, shown)


def test_where_we_differ_has_every_peer(monkeypatch):
    page = extension("where_we_differ", monkeypatch).page()
    for peer in (OWN, *PEERS.values()):
        assert f"\n| `{peer.name}` | " in page
    assert all(peer.notes for peer in PEERS.values())


def test_the_version_stands_in_these_places_too():
    switcher = (DOCS / "_static" / "switcher.json").read_text(encoding="utf-8")
    assert f'"version": "{rg.__version__}"' in switcher
    assert f"version: {rg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    ["README.md", "CITATION.cff", "docs/_static/switcher.json", ".github/SECURITY.md", ".github/workflows/docs.yml"],
)
def test_the_address_is_the_same_everywhere(name):
    addresses = re.findall(r"https://[\w.-]*github\.io/[\w-]*/?", (ROOT / name).read_text(encoding="utf-8"))
    assert {*addresses} == {SITE}
