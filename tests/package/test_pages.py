"""The examples on the site and in the README run, and all generated and required parts are complete."""

import doctest
import importlib
import re
import sys
import tarfile
import tomllib
from urllib.parse import unquote

import pytest
from support import ROOT
from support.examples import FLAGS, Parser
from support.pages import DOCS, README, blocks, examples, name_of, pages
from support.public_names import public_objects

import rankgain as rg
from rankgain.metrics.table import TABLE
from rankgain.tools import reports

pytestmark = pytest.mark.checkout

PAGES = [README, *pages()]
ADDRESSES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
GENERATED = re.compile(r"^<!-- generated: .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")  # links to files, without the anchor


@pytest.fixture
def generate(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("generate")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
@pytest.mark.usefixtures("backend")
def test_page_examples(page, monkeypatch, tmp_path):
    tests = examples(page, Parser())
    monkeypatch.chdir(tmp_path)  # examples write files to the working directory
    result = doctest.DocTestRunner(optionflags=FLAGS).run(tests)
    assert result.failed == 0
    assert result.attempted == len(tests.examples)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_examples_are_all_found(page):
    """All code blocks with prompts are marked as `pycon`, since blocks in other languages are not run."""
    prompts = [
        first for first, language, text in blocks(page) if language != "pycon" and re.search(r"^\s*>>> ", text, re.M)
    ]
    assert prompts == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_all_code_on_pages_runs(page):
    """Python code on the pages is either run as `pycon` or copied from a file that .ci/deep runs.

    test_downstream.py runs the Numba code.
    """
    generated = GENERATED.findall(page.read_text(encoding="utf-8"))
    shown = [text for _, language, text in blocks(page) if language == "python" and "import numba" not in text]
    assert [text for text in shown if not any(text in part for part in generated)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse prints options differently")
def test_page_has_its_generated_parts(page, generate):
    assert generate.filled(page) == page.read_text(encoding="utf-8"), "run: python docs/generate.py"


def test_module_has_its_generated_part(generate):
    for path in generate.MODULES:
        assert generate.module(path) == path.read_text(encoding="utf-8"), "run: python docs/generate.py"


def test_every_example_is_included_and_says_what_it_needs():
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    for path in (DOCS / "examples").glob("*.py"):
        assert f"<!-- generated: code examples/{path.name} " in text
        assert re.search(r"^needs: \S", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CHANGES.md", *(ROOT / ".github").glob("*.md"), *(ROOT / "bench").rglob("*.md")],
    ids=name_of,
)
def test_links_between_pages_work_in_a_checkout(page):
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    assert [link for link in LINK.findall(text) if not (page.parent / unquote(link)).exists()] == []


def test_readme_on_pypi_has_absolute_links_only(sdist):
    with tarfile.open(sdist) as archive:
        (metadata,) = (member for member in archive.getmembers() if re.fullmatch(r"[^/]+/PKG-INFO", member.name))
        text = archive.extractfile(metadata).read().decode()
    links = re.findall(r"\]\((https?://[^)#]+)", text)
    assert not LINK.search(text)
    assert len(links) == len(LINK.findall(README.read_text(encoding="utf-8")))
    for link in links:
        path = link.removeprefix(ADDRESSES["Documentation"]).replace(".html", ".md")
        tagged = link.removeprefix(f"{ADDRESSES['Repository']}/blob/v{rg.__version__}/")
        assert (DOCS / path).exists() or (ROOT / tagged).exists(), link


def test_each_speed_in_the_readme_has_a_row_on_the_page(generate):
    speed = generate.speed
    rows = {row[2:] for row in speed.ALL}
    assert [row for row in (*speed.FRONT, *speed.DROP_INS) if row[2:] not in rows] == []


def test_pictures_are_those_of_the_figures(monkeypatch, tmp_path):
    """The committed pictures contain the same texts as the pictures that `python docs/pictures.py` draws."""
    monkeypatch.syspath_prepend(DOCS)
    importlib.import_module("pictures").draw(tmp_path)
    for drawn in tmp_path.iterdir():
        committed, new = (
            sorted(re.findall(r"<text[^>]*>([^<]*)", path.read_text(encoding="utf-8")))
            for path in (DOCS / "_static" / drawn.name, drawn)
        )
        assert new
        assert committed == new, drawn.name


def test_api_pages_list_every_public_name():
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    listed = re.findall(r"<!-- api: rankgain\.?([\w.]*): ([\w\s]+) -->", text)
    named = {f"{module}.{name}".lstrip(".") for module, names in listed for name in names.split()}
    public = {name for name, item in public_objects().items() if callable(item)} - {"sklearn.InvalidParameterError"}
    missing = public - named
    assert not missing, "add them to a page in docs/api"


def test_definitions_name_every_parameter():
    page = (DOCS / "definitions.md").read_text(encoding="utf-8")
    named = page.partition("The other parameters are ")[2].partition("\n")[0]
    missing = {name for row in TABLE.values() for name in row.takes if f"`{name}`" not in named}
    assert not missing, "add them to the paragraph on parameters in docs/definitions.md"


def test_every_formula_becomes_tex(generate):
    for row in TABLE.values():
        shown = " ".join(generate.formulas.tex(row.formula))
        assert shown.count("{") == shown.count("}"), row.name
        words = re.sub(r"\\(text|mathrm)\{[^}]*\}|\\[a-z]+", " ", shown)
        assert not re.search(r"[A-Za-z]{2}|[<>Σ·≤−^](?!\{)", words), (row.name, shown)


def test_command_line_has_the_columns_of_compare():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    rows = page.partition("<!-- generated: compare_columns -->")[2].partition("<!-- end -->")[0]
    cells = re.findall(r"^\| (`.+?) \|", rows, re.MULTILINE)
    runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
    header = reports.tests_as_csv(rg.compare(runs, metrics="rr").test(), None, None).splitlines()[0]
    assert ",".join(name for cell in cells for name in re.findall(r"`(\w+)`", cell)) == header


def test_pages_state_the_version():
    assert f"version: {rg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
