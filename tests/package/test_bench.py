"""The benchmarks run on small data and give equal answers; their harness rejects answers that differ."""

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
    # The harness must be imported before NumPy, so it runs in a new process.
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
    assert int(re.search(r"^(\d+) answers compared$", result.stdout, re.MULTILINE)[1]) > 200
    assert "a call from C" in result.stdout or "C functions: skipped" in result.stdout


def test_simulations_of_comparisons_run():
    result = run(BENCH / "run.py", "--smoke", "comparison", "gate")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Curve.interval that misses: AP, skewed" in result.stdout
    assert "false findings of max-T" in result.stdout


@pytest.mark.skipif(not (find_spec("ir_measures") and find_spec("pandas")), reason="without ir_measures")
def test_provider_of_ir_measures_gives_its_values():
    result = run(BENCH / "clients" / "compare.py", "--smoke", "ir_measures")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "nDCG@10, frames, golden c: equal answers" in result.stdout


def test_page_of_clients_names_every_file():
    folder = BENCH / "clients"
    page = (folder / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in folder.iterdir() if path.suffix in (".py", ".patch")]
    assert [name for name in files if f"`{name}`" not in page] == []


def test_page_of_benches_names_every_bench():
    files = {path.stem for path in BENCH.glob("*.py")} - {"harness", "against", "run"}
    result = run("-c", "import run; print(*run.BENCHES)")
    assert set(result.stdout.split()) == files


def test_bench_rejects_different_answers():
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


REST = """
import harness
harness.PATIENCE, harness.PAUSE = {patience}, 0.0
loads = iter({loads})
harness.os.getloadavg = lambda: (next(loads), 0.0, 0.0)
def bench(scale):
    print("load of the bench", next(loads))
    harness.hold("sum", {{"ours": lambda: 1.0}}, scale, turn=1e-6)
status = harness.main(bench, bench, scale="usual", rest={rest})
print(harness.conditions())
print(*(row.cells for row in harness.ROWS), sep="\\n")
raise SystemExit(status)
"""


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="without load averages")
def test_bench_waits_until_the_machine_is_at_rest():
    result = run("-c", REST.format(patience=600.0, loads=[0.9, 0.3, 0.29, 1.0, 0.5, 0.2, 2.0], rest=True))
    assert result.returncode == 0, result.stderr
    assert "load of the bench 1.0\n" in result.stdout
    assert "load of the bench 2.0\n" in result.stdout
    assert "load below 0.3 before each bench" in result.stdout
    assert "(load" not in result.stdout


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="without load averages")
def test_bench_gives_up_if_the_machine_stays_busy():
    result = run("-c", REST.format(patience=-1.0, loads=[0.9], rest=True))
    assert result.returncode == 1
    assert "the load is 0.9 after" in result.stderr
    assert "measure with --busy" in result.stderr
    assert "load of the bench" not in result.stdout


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="without load averages")
def test_bench_on_a_busy_machine_shows_the_load_of_each_case():
    result = run("-c", REST.format(patience=600.0, loads=[9.0, 9.0, 3.25, 9.0, 4.5, 5.0], rest=False))
    assert result.returncode == 0, result.stderr
    # Each load appears twice: in the printed text and in the text for the page.
    assert result.stdout.count("(load 3.2)") == result.stdout.count("(load 4.5)") == 2


def test_bench_compares_another_build(tmp_path):
    """A build is compared with itself, with a build that gives other answers, and with a build that does nothing."""
    result = run(BENCH / "run.py", "--smoke", "--against", ROOT / "src", "recommendations")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "50 users, ids that are int: rankgain, lists against sets: equal answers" in result.stdout
    assert "more than 1.05 of the time before: 0" in result.stdout
    (tmp_path / "rankgain").mkdir()
    (tmp_path / "rankgain" / "__init__.py").write_text("")
    result = run(BENCH / "run.py", "--smoke", "--against", tmp_path, "recommendations")
    assert result.returncode == 0
    assert "recommendations: the build there cannot do all of it" in result.stderr
