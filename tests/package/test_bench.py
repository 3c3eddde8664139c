"""The benches run on small data and agree; their harness refuses answers that differ and writes what it found."""

import os
import re
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
        "ranked",
        "groups",
        "dicts",
        "files",
        "pandas",
        "users",
        "start",
        "growth",
        "load",
    ):
        assert title in result.stdout
    assert "a call from C" in result.stdout or "C functions: skipped" in result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no variable names the compiler")
def test_without_a_compiler_the_bench_that_needs_one_is_left_out():
    result = run(BENCH / "c_calls.py", "--smoke", CC="no-such-compiler")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "C functions: skipped" in result.stdout
    assert "a call from C" not in result.stdout


@pytest.mark.skipif(not (find_spec("ir_measures") and find_spec("pandas")), reason="without ir_measures")
def test_the_provider_of_ir_measures_gives_its_numbers():
    result = run(BENCH / "clients" / "before_after.py", "--smoke", "ir_measures")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "golden c, frames, means: equal answers" in result.stdout


def test_every_file_of_the_clients_stands_in_their_page():
    folder = BENCH / "clients"
    page = (folder / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in folder.iterdir() if path.suffix in (".py", ".patch")]
    assert [name for name in files if f"`{name}`" not in page] == []


def test_every_bench_stands_in_the_list_and_in_the_page():
    files = {path.stem for path in BENCH.glob("*.py")} - {"contest", "run"}
    files -= {"before", "batches", "spark"}  # which want another build, a disk, Java
    assert set(re.findall(r'^    "(\w+)",$', (BENCH / "run.py").read_text(), re.MULTILINE)) == files
    page = (BENCH / "README.md").read_text(encoding="utf-8")
    assert {name for name in files if f"| `{name}.py` |" in page} == files


def test_a_different_answer_is_refused():
    code = """
import contest
def bench(scale):
    contenders = {"ours": contest.Contender(lambda: 1.0), "theirs": contest.Contender(lambda: 1.0 + 1e-9)}
    contest.hold("sum", contenders, scale)
raise SystemExit(contest.main(None, bench, scale="smoke"))
"""
    result = run("-c", code)
    assert result.returncode == 1
    assert "sum: theirs gives 1.0000000010000001, and the first 1" in result.stderr


def test_what_was_measured_is_written(tmp_path):
    page = tmp_path / "page.md"
    code = """
import sys, time
from pathlib import Path
import contest
slowly = lambda: time.sleep(0.002)
contenders = {
    "rankgain": contest.Contender(slowly, None),
    "a peer": contest.Contender(lambda: None, None, at_least=0.5),
    "rankgain, other": contest.Contender(lambda: None, None, at_most=0.5),
    "limit: none": contest.Contender(lambda: None, None),
}
contest.hold("sleeping", contenders, "usual")
contest.allowed("memory", "rankgain", 3_000_000, 2_000_000)
contest.note("a note")
contest.write(Path(sys.argv[1]), "the command")
"""
    begin, end = "<!-- measured, written by bench/run.py --write -->", "<!-- end of what was measured -->"
    page.write_text(f"before\n{begin}\nof old\n{end}\nafter\n", encoding="utf-8")
    result = run("-c", code, page)
    assert result.returncode == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{begin}\n")
    assert text.endswith(f"{end}\nafter\n")
    assert "of old" not in text
    assert "`the command`: Python" in text
    lines = text.splitlines()
    peer, other, limit, memory = [
        next(line for line in lines if f"| {name} |" in line)
        for name in ("a peer", "rankgain, other", "limit: none", "3 MB")
    ]
    assert "**" in peer
    assert peer.endswith("| ≥ 0.5: **missed** |")
    assert other.endswith("| ≤ 0.5: met |")
    assert limit.endswith("|  |")
    assert memory.endswith("| ≤ 2 MB: **missed** |")
    assert "1 of 3 targets are met." in lines
    assert [line for line in lines if line.startswith("- ")] == [
        next(x for x in lines if x.startswith("- sleeping: a peer"))
    ]
    assert "```text\na note\n```" in text


def test_a_target_can_be_a_difference():
    code = """
import time, contest
contenders = {
    "limit: a millisecond": contest.Contender(lambda: time.sleep(0.001), None),
    "too long": contest.Contender(lambda: time.sleep(0.006), None, beside=0.001),
    "short enough": contest.Contender(lambda: time.sleep(0.006), None, beside=0.5),
}
contest.hold("sleeping", contenders, "usual", calls=2)
"""
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    too_long, short_enough = result.stdout.splitlines()[-2:]
    assert re.search(r"more, ≤ 1 ms: missed$", too_long)
    assert re.search(r"more, ≤ 500 ms: met$", short_enough)


def test_a_page_without_its_comments_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    result = run("-c", "import sys, contest; contest.write(contest.Path(sys.argv[1]), '')", page)
    assert "lacks the comments" in result.stderr
    assert page.read_text() == "nothing\n"


def test_the_peak_of_memory_is_seen():
    code = """
from contextlib import contextmanager
import memory
import numpy as np

@contextmanager
def hoard(scale):
    yield lambda: {"sum": np.ones(10_000_000).sum()}, 1

memory.CASES["hoard"] = hoard
print(memory.measure("hoard", "usual")[0] if memory.PEAK.exists() else 80_000_000)
"""
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    assert 79e6 < int(result.stdout) < 84e6
