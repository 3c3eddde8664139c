"""The benches run on small data and agree; their harness refuses answers that differ and writes what it found."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout

BENCH = ROOT / "bench"


def run(*command, **more):
    # The harness must be imported before NumPy, hence not here.
    settings = os.environ | {"PYTHONPATH": os.pathsep.join([str(BENCH), os.environ.get("PYTHONPATH", "")])}
    settings |= {"PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "default"} | more
    return subprocess.run(
        [sys.executable, *map(str, command)], env=settings, capture_output=True, text=True, encoding="utf-8"
    )


def test_every_bench_runs_on_small_data():
    result = run(BENCH / "run.py", "--smoke")
    assert result.returncode == 0, result.stdout + result.stderr
    for title in (
        "20 × 100, ndcg@10, one",
        "ranked, 20 × 100, dcg@10",
        "groups",
        "dicts",
        "files",
        "pandas",
        "users",
        "start of a process",
        "documents of a query",
        "large, scores",
    ):
        assert title in result.stdout
    assert "a call from C" in result.stdout or "C functions: skipped" in result.stdout


def test_the_simulations_of_comparisons_run():
    result = run(BENCH / "run.py", "--smoke", "comparison")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Curve.interval that misses: AP, skewed" in result.stdout
    assert "false findings of max-T" in result.stdout


@pytest.mark.skipif(not (find_spec("ir_measures") and find_spec("pandas")), reason="without ir_measures")
def test_the_provider_of_ir_measures_gives_its_numbers():
    result = run(BENCH / "clients" / "compare.py", "--smoke", "ir_measures")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "nDCG@10, frames, golden c: equal answers" in result.stdout


def test_every_file_of_the_clients_stands_in_their_page():
    folder = BENCH / "clients"
    page = (folder / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in folder.iterdir() if path.suffix in (".py", ".patch")]
    assert [name for name in files if f"`{name}`" not in page] == []


def test_every_bench_stands_in_the_page():
    files = {path.stem for path in BENCH.glob("*.py")} - {"harness", "against", "run"}
    result = run("-c", "import run; print(*run.BENCHES)")
    assert set(result.stdout.split()) == files


def test_a_different_answer_is_refused():
    code = """
import harness
def bench(scale):
    contenders = {"ours": harness.Contender(lambda: 1.0), "theirs": harness.Contender(lambda: 1.0 + 1e-9)}
    harness.hold("sum", contenders, scale)
raise SystemExit(harness.main(bench, scale="smoke"))
"""
    result = run("-c", code)
    assert result.returncode == 1
    assert "sum: theirs gives 1.000000001, ours 1.0" in result.stderr


def test_what_was_measured_is_written(tmp_path):
    page = tmp_path / "page.md"
    code = """
import sys, time
from pathlib import Path
import harness
slowly = lambda: time.sleep(0.002)
contenders = {
    "rankgain": harness.Contender(slowly, None),
    "a peer": harness.Contender(lambda: None, None, at_least=0.5),
    "rankgain, other": harness.Contender(lambda: None, None, at_most=0.5),
    "limit: none": harness.Contender(lambda: None, None),
}
harness.hold("sleeping", contenders, "usual")
harness.weigh("memory", {"rankgain": 3_000_000, "a peer": 2_000_000}, at_least=1)
harness.write(Path(sys.argv[1]), "the command")
"""
    begin, end = "<!-- measured, written by bench/run.py --write -->", "<!-- end of what was measured -->"
    page.write_text(f"before\n{begin}\nof old\n{end}\nafter\n", encoding="utf-8")
    result = run("-c", code, page)
    assert result.returncode == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{begin}\n")
    assert text.endswith(f"{end}\nafter\n")
    assert "of old" not in text
    lines = text.splitlines()
    cells = {
        title: row.split(" | ") for title in ("sleeping", "memory") for row in lines if row.startswith(f"| {title} |")
    }
    _, names, _, ratios, targets = (cell.split("<br>") for cell in cells["sleeping"])
    assert names == ["rankgain", "a peer", "rankgain, other", "limit: none"]
    assert [ratio.startswith("**") for ratio in ratios] == [False, True, False, False]
    assert targets == ["", "≥ 0.5: **missed**", "≤ 0.5: met", " |"]
    assert cells["memory"][1:3] == ["rankgain<br>a peer", "3 MB<br>2 MB"]
    assert cells["memory"][3:] == ["<br>**0.667**", "<br>≥ 1: **missed** |"]
    assert "1 of 3 targets are met." in lines


def test_a_page_without_its_comments_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    result = run("-c", "import sys, harness; harness.write(harness.Path(sys.argv[1]), '')", page)
    assert "lacks the comments" in result.stderr
    assert page.read_text() == "nothing\n"


def test_the_peak_of_memory_is_seen():
    code = """
import time
import large
import numpy as np

hoard = lambda: [np.ones(10_000_000), time.sleep(0.1)]  # so long that a busy machine sees it too
for mapped in (False, True) if large.PEAK.exists() else ():
    print(large.measure(hoard, mapped)[-1])
"""
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    assert all(79e6 < int(size) < 84e6 for size in result.stdout.split())


ANSWERS = """
import sys
import against, harness
against.begin_to_serve()
value = float(sys.argv[-1])
harness.hold("one", {"rankgain": harness.Contender(lambda: [[value, float("nan")]], lambda answer: answer)}, "smoke")
harness.hold("two", {"rankgain": harness.Contender(lambda: 1.0, None), "peer": lambda: 0.0}, "smoke")
"""


@pytest.mark.parametrize(
    ("first", "second", "scale", "said"),
    [
        ("0.5", "0.5", "smoke", ["one: rankgain: equal answers from 2", "two: rankgain: run"]),
        ("0.5", "0.5", "usual", ["", "one: rankgain ", "before ", "now ", "", "two: rankgain ", "before ", "now "]),
        ("0.5", "0.5000001", "smoke", ["one: rankgain, 0, 0: now gives 0.5000001, before 0.5"]),
    ],
)
def test_two_processes_take_turns_at_equal_answers(tmp_path, first, second, scale, said):
    script = tmp_path / "script.py"
    script.write_text(ANSWERS)
    code = """
import against, sys
from pathlib import Path
workers = [against.Worker(Path(sys.argv[1]), value) for value in sys.argv[2:4]]
try:
    against.pit(*workers, sys.argv[4])
except against.harness.DifferentAnswer as error:
    print(error)
"""
    result = run("-c", code, script, first, second, scale)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))


def test_another_build_is_compared(tmp_path):
    """This one with itself, then with one that gives another answer, and one that can do nothing."""
    result = run(BENCH / "run.py", "--smoke", "--against", ROOT / "src", "recommendations")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "50 users, ids that are int: rankgain, lists against sets: equal answers" in result.stdout
    assert "more than 1.05 of the time before: 0" in result.stdout
    (tmp_path / "rankgain").mkdir()
    (tmp_path / "rankgain" / "__init__.py").write_text("")
    result = run(BENCH / "run.py", "--smoke", "--against", tmp_path, "recommendations")
    assert result.returncode == 0
    assert "recommendations: the build there cannot do all of it" in result.stderr
