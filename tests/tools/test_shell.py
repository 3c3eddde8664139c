"""The commands `rankgain metrics`, `--threads 0` and `python -m rankgain`, and the warnings of `install`."""

import subprocess
import sys
import warnings
from types import ModuleType

import pytest

import rankgain as rg
from rankgain import pytrec_eval as ours
from rankgain.cli import main, options
from rankgain.inputs import trec
from rankgain.metrics.table import TABLE


def printed(capsys, *arguments, status=0):
    if status:
        with pytest.raises(SystemExit, match=str(status)):
            main(arguments)
    else:
        assert main(arguments) == 0
    out, err = capsys.readouterr()
    return err if status else out


def test_command_metrics_lists_metrics(capsys):
    out = printed(capsys, "metrics")
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    for row in TABLE.values():
        line = lines[row.name + "@k" * row.cuts]
        assert all(word in line for word in (*row.takes, *row.aliases))


@pytest.mark.parametrize("name", ["success", "HR", "hit_rate@10"])
def test_command_metrics_explains_one_metric(capsys, name):
    out = printed(capsys, "metrics", name)
    assert out.startswith("success: success, or hit rate")
    assert "other names: hit_rate, hit, hits, hr" in out
    assert "1 if rel(i) = 1" in out


def test_command_metrics_rejects_an_unknown_metric(capsys):
    assert "did you mean 'ndcg'?" in printed(capsys, "metrics", "ngcd", status=2)
    assert "ndcg_cut stands for ndcg_cut_5, ndcg_cut_10, " in printed(capsys, "metrics", "ndcg_cut")
    assert "unrecognized arguments: two" in printed(capsys, "metrics", "ndcg", "two", status=2)


def test_threads_0_uses_all_cores(capsys, monkeypatch):
    seen = []
    reading = trec.read_run
    monkeypatch.setattr(trec, "read_run", lambda run, threads, **k: seen.append(threads) or reading(run, 1, **k))
    expected = printed(capsys, "eval", "--sample", "--csv")
    for threads in ("0", "3"):
        assert printed(capsys, "eval", "--sample", "--csv", "--threads", threads) == expected
    assert seen == [1, options.cores(), 3]
    assert options.cores() >= 1
    monkeypatch.setattr(options, "cores", lambda: 5000)
    printed(capsys, "eval", "--sample", "--threads", "0")
    assert seen[-1] == 256
    for wrong in ("-1", "257"):
        assert "threads must be from 1 to 256" in printed(capsys, "eval", "--sample", "--threads", wrong, status=2)
    assert "argument --threads: " in printed(capsys, "eval", "--sample", "--threads", "x", status=2)


def test_python_m_rankgain_is_the_command():
    command = [sys.executable, "-m", "rankgain"]
    out = subprocess.run([*command, "eval", "--sample", "--csv"], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "run,ndcg@10,mrr@10"
    wrong = subprocess.run([*command, "eval"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("usage: rankgain eval")


@pytest.fixture
def other(monkeypatch):
    """A fake pytrec_eval that two modules have already imported. A third module does not use it."""
    module = ModuleType("pytrec_eval")
    module.RelevanceEvaluator = type("RelevanceEvaluator", (), {"__module__": "pytrec_eval"})
    clients = {name: ModuleType(name) for name in ("client.evaluation", "client.whole", "client.rest")}
    clients["client.whole"].pytrec_eval = module
    clients["client.evaluation"].RelevanceEvaluator = module.RelevanceEvaluator
    clients["client.rest"].name = "pytrec_eval"
    for name, value in {"pytrec_eval": module, **clients}.items():
        monkeypatch.setitem(sys.modules, name, value)
    for name, value in list(sys.modules.items()):  # modules imported by the tests themselves
        if name.partition(".")[0] not in ("pytrec_eval", "client") and vars(value).get("pytrec_eval") is module:
            raise AssertionError(name)
    return module


def test_install_names_modules_that_imported_the_peer(other):
    with pytest.warns(UserWarning, match=r"and client\.evaluation, client\.whole keep it: call install\(\)") as warned:
        ours.install()
    assert warned[0].filename == __file__
    assert sys.modules["pytrec_eval"] is ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.install()  # pytrec_eval is already ours, so nothing warns


def test_install_is_silent_without_earlier_imports(other):
    for name in ("client.evaluation", "client.whole"):
        vars(sys.modules[name]).pop("pytrec_eval", None)
        vars(sys.modules[name]).pop("RelevanceEvaluator", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.install()
    assert rg.backend
