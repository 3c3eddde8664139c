"""Progress bars of tqdm count what is done and change nothing else."""

import sys
from contextlib import contextmanager
from importlib.util import find_spec
from threading import RLock
from types import SimpleNamespace

import numpy as np
import pytest
from support.marks import quick_first
from support.sides import qrels_lines, run_lines

import rankgain as rg
from rankgain import cli
from rankgain.data import source

QUERIES = 60
QRELS = {f"q{number}": {"d": 1} for number in range(5)}
RUN = {f"q{number}": {"e": 2.0, "d": 1.0} for number in range(5)}


class Bar:
    """The part of tqdm's interface that rankgain uses."""

    def __init__(self, total, unit):
        self.total, self.unit, self.steps, self.closed = total, unit, [], False
        self.lock = RLock()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True

    def get_lock(self):
        return self.lock

    def update(self, count=1):
        self.steps.append(count)


@pytest.fixture
def bars(monkeypatch):
    created = []

    def tqdm(total, unit):
        created.append(Bar(total, unit))
        return created[-1]

    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=tqdm))
    return created


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("threads", "like"), quick_first([(1, None), (3, None), (1, "ranx"), (3, "ranx")]))
def test_bar_counts_evaluated_queries(bars, monkeypatch, threads, like):
    monkeypatch.setattr(source, "CHUNK", 400)
    rng = np.random.default_rng(0)
    rankings = rg.from_scores(rng.integers(0, 3, (QUERIES, 20)), rng.random((QUERIES, 20)))
    expected = rankings.evaluate("ndcg@5", "ap", like=like)
    assert not bars
    assert rankings.evaluate("ndcg@5", "ap", like=like, threads=threads, progress=True) == expected
    (bar,) = bars
    assert (bar.total, bar.unit, bar.closed, sum(bar.steps)) == (QUERIES, " queries", True, QUERIES)
    assert len(bar.steps) > 1


def test_evaluate_shows_a_bar(bars):
    assert rg.evaluate(QRELS, RUN, "rr", progress=True) == rg.evaluate(QRELS, RUN, "rr")
    assert [(bar.total, sum(bar.steps)) for bar in bars] == [(5, 5)]


def test_compare_shows_a_bar_per_run(bars):
    runs = {"one": RUN, "other": {"q0": {"d": 1.0}}}
    assert dict(rg.compare(QRELS, runs, ["rr"], progress=True)) == dict(rg.compare(QRELS, runs, ["rr"]))
    assert [(bar.total, bar.unit, bar.closed, bar.steps) for bar in bars] == [(2, " runs", True, [1, 1])]


def test_a_bar_is_closed_where_a_run_fails(bars):
    with pytest.raises(ValueError, match="run 'other': "):
        rg.compare(QRELS, {"one": RUN, "other": {"q0": {"d": float("nan")}}}, progress=True)
    assert [(bar.closed, bar.steps) for bar in bars] == [(True, [1])]


if find_spec("pyarrow"):  # without pyarrow, the test is not collected

    def test_batches_show_a_bar(bars):
        import pyarrow as pa

        from rankgain.batches import BatchOptions, summarize_batches

        rows = pa.table({"qid": [1, 1, 2, 3], "label": [0, 1, 1, 1], "score": [1.0, 2.0, 3.0, 4.0]})
        assert summarize_batches(rows, "rr", options=BatchOptions(rows=2), progress=True) == summarize_batches(
            rows, "rr"
        )
        assert [(bar.total, bar.closed, bar.steps) for bar in bars] == [(None, True, [2, 1])]


def test_progress_without_tqdm_names_the_extra(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"tqdm is not installed: pip install 'rankgain\[progress\]'"):
        rg.evaluate(QRELS, RUN, "rr", progress=True)
    path = tmp_path / "qrels.txt"
    path.write_text("q 0 d 1\n")
    assert cli.main(["eval", str(path), str(tmp_path / "run.txt"), "--progress"]) == 1
    assert "error: --progress: tqdm is not installed: pip install 'rankgain[progress]'" in capsys.readouterr().err


@pytest.mark.skipif(find_spec("tqdm") is None, reason="tqdm is not installed")
@pytest.mark.parametrize("command", ["eval", "compare"])
def test_command_line_shows_a_bar(command, tmp_path, capsys):
    names = ["qrels.txt", "one.txt", "other.txt"]
    (tmp_path / names[0]).write_text("q 0 d 1\np 0 d 1\n")
    for name in names[1:]:
        (tmp_path / name).write_text("q Q0 d 1 1 t\np Q0 d 1 1 t\n")
    files = [str(tmp_path / name) for name in names]
    assert cli.main([command, *files]) == 0
    quiet = capsys.readouterr()
    assert cli.main([command, *files, "--progress"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, quiet.err) == (quiet.out, "")
    assert all(f"{name}: " in shown.err for name in names)


@pytest.mark.usefixtures("backend")
def test_trec_files_show_the_bytes_that_are_read(monkeypatch, tmp_path):
    """Python and the command line show a bar for each file and one for the queries."""
    shown = {}

    class Reading:
        @staticmethod
        @contextmanager
        def wrapattr(file, method, total, desc, **options):
            read = getattr(file, method)

            def counted(size):
                data = read(size)
                shown[desc] = shown.get(desc, 0) + len(data)
                return data

            yield SimpleNamespace(read=counted, name=file.name, seekable=file.seekable, tell=file.tell, seek=file.seek)
            assert shown[desc] >= total

        def __new__(cls, total, unit):
            return Bar(total, unit)

    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Reading))
    (tmp_path / "qrels").write_bytes(qrels_lines(QRELS))
    (tmp_path / "run").write_bytes(run_lines(RUN))
    paths = tmp_path / "qrels", tmp_path / "run"
    assert rg.read_trec(*paths, progress=True).evaluate("rr").mean("rr") == 0.5
    assert {*shown} == {"qrels", "run"}
    shown.clear()
    assert rg.evaluate(*paths, "rr", progress=True).mean("rr") == 0.5
    assert {*shown} == {"qrels", "run"}
    shown.clear()
    assert rg.evaluate(paths[0], RUN, "rr", progress=True).mean("rr") == 0.5
    assert {*shown} == {"qrels"}
    shown.clear()
    assert rg.read_trec(*paths).under(ties="stable").evaluate("rr").mean("rr") == 0.5
    assert not shown


@pytest.mark.usefixtures("backend")
def test_progress_of_read_trec_is_a_flag(rejects):
    rejects(TypeError, "progress must be True or False, not 1", rg.read_trec, *rg.sample(), progress=1)
