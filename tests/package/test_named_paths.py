"""Every path and every test named in the scripts of `.ci` and in CONTRIBUTING exists."""

import re
from itertools import product

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout

FOLDERS = "tests", "bench", "docs", "src", ".ci", ".github"
PATH = re.compile(rf"(?<![\w/.$\"}}-])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w{{}},./-]*[\w}}]")


def expanded(path):
    """Expand braces like a shell: a_{b,c}.py becomes a_b.py and a_c.py."""
    parts = re.split(r"\{([^}]*)\}", path)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(choice) for choice in product(*choices)]


@pytest.mark.parametrize("name", [".ci/run", ".ci/deep", ".github/CONTRIBUTING.md"])
def test_paths_that_a_script_names_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = {path for match in PATH.findall(text) for path in expanded(match)}
    assert len(paths) > 3
    missing = sorted(path for path in paths if "_build" not in path and not (ROOT / path).exists())
    assert not missing, f"{name} names paths that do not exist: {', '.join(missing)}"


def test_left_out_tests_exist():
    """If a test were renamed, it would no longer be excluded, and its CI step would fail hours later."""
    text = (ROOT / ".ci" / "deep").read_text(encoding="utf-8")
    names = {name for option in re.findall(r'-k "not ([\w ]+)"', text) for name in option.split(" and not ")}
    assert len(names) > 3
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    defined = re.compile(r"def test_\w+|params=\[.*\]")
    everything = " ".join(match for text in tests for match in defined.findall(text))
    missing = sorted(name for name in names if name not in everything)
    assert not missing, f".ci/deep leaves out tests that do not exist: {', '.join(missing)}"
