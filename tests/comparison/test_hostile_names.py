"""Names of runs, queries and groups are treated as plain text in every output format."""

import csv
import io
import json
import unicodedata

import pytest
from support.made_runs import HOSTILE, hostile
from support.marks import in_one_case

from rankgain.results.text import printable
from rankgain.tools.reports import COMPARED

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(scope="module")
def tested():
    runs, labels = hostile()
    return runs.test(HOSTILE[0], flips=99), runs.groups(labels, HOSTILE[0], flips=99)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_invisible_characters_are_escaped(tested, form):
    text = COMPARED[form](*tested, None)
    shown = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert shown <= {"\n", "\r"}
    assert "x" * 300 not in text
    text.encode("utf-8")


def test_markdown_keeps_its_columns(tested):
    for line in COMPARED["markdown"](*tested, None).splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") in (4, 6, 9), line
        assert "<script" not in line
        assert "<img" not in line


def test_latex_escapes_commands_in_names(tested):
    text = COMPARED["latex"](*tested, None)
    assert "\\input" not in text
    assert "\\textbackslash{}input\\{x\\}" in text
    assert "\\$a\\$ and \\$b" in text


def test_csv_has_no_formulas(tested):
    rows = list(csv.reader(io.StringIO(COMPARED["csv"](*tested, None))))
    runs = {row[rows[0].index("run")] for row in rows[1:]}
    assert "'=cmd|' /C calc'!A0" in runs
    assert not any(name.startswith(("=", "+", "@")) for name in runs)


def test_json_contains_unchanged_names(tested):
    result = json.loads(COMPARED["json"](*tested, None))
    assert {row["run"] for row in result["differences"]} == {*HOSTILE[1:]}


@in_one_case("name", HOSTILE)
def test_text_output_is_printable(name):
    shown = printable(name)
    assert len(shown) < 1300
    assert shown.isprintable()


def test_html_escapes_names(tested):
    for result in tested:
        page = result._repr_html_()
        assert "<script" not in page
        assert "<img" not in page
        assert "<svg" not in page
