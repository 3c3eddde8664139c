"""Importing rankgain loads only the modules that most calls need; other modules are loaded on first use."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rankgain as rg

# Modules that are slow to load or rarely needed. If NumPy has already loaded a module, it costs nothing more. `inspect`
# is not listed, since Cython's modules load it for the limited API and newer releases of NumPy load it too.
HEAVY = {
    "argparse",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "decimal",
    "difflib",
    "fractions",
    "gzip",
    "html",
}
HEAVY |= {"importlib.util", "json", "lzma", "multiprocessing", "numpy.ma", "numpy.typing", "random", "shutil", "socket"}
HEAVY |= {"statistics", "subprocess", "tempfile", "unittest", "zipfile", "zlib"}
PARTS = "dicts", "columns", "lines", "walk"
LATER = {*rg._LATER.values(), "_compiled.lines"} | {f"_reference.{part}" for part in PARTS}


def loaded(code):
    """Return the modules that the code loads in a fresh interpreter in addition to the modules that NumPy loads."""
    program = f"import sys, numpy; before = set(sys.modules)\n{code}\nimport json; print(json.dumps(after))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("choice", ["auto", "python"])
def test_import_loads_listed_modules_only(choice, monkeypatch):
    """All packages are loaded, since importing from a package while another thread loads it may raise a KeyError.

    This happens up to Python 3.14.
    """
    monkeypatch.setenv("RANKGAIN_BACKEND", choice)
    modules = loaded("import rankgain; after = sorted({*sys.modules} - before)")
    assert "rankgain.functions" in modules
    assert not modules & HEAVY
    assert not modules & {f"rankgain.{name}" for name in LATER}
    packages = {f"rankgain.{file.parent.name}" for file in Path(rg.__file__).parent.glob("*/__init__.py")}
    assert packages - modules <= {"rankgain._compiled", "rankgain.cli", "rankgain.spark"}


def test_first_calls_load_no_modules():
    calls = "rankgain.ndcg([1, 2]); rankgain.reciprocal_rank(numpy.array([[1, 2]]), k=1)"
    program = f"import rankgain; before = {{*sys.modules}}; {calls}; after = sorted({{*sys.modules}} - before)"
    # The first call loads only the Python backend, and only if that backend is used.
    assert loaded(program) <= {
        *(f"rankgain._reference.{name}" for name in ("lists", "numbers", "query", "sums")),
        "array",
        "bisect",
        "_bisect",
    }
    calls = "rankgain.from_scores([[1, 0]], [[0.5, 1]]).evaluate('ndcg@2', 'mrr')"
    modules = loaded(f"import rankgain; {calls}; after = sorted({{*sys.modules}} - before)")
    assert "rankgain.results.evaluation" in modules
    assert not modules & HEAVY


FOREIGN = {"torch", "pandas", "scipy", "sklearn", "matplotlib", "lightgbm", "xgboost", "catboost"}
SERVING = """
import rankgain.sklearn
class Model:
    def predict(self, X):
        return [0.1, 0.2]
rankgain.sklearn.ndcg_score([[1, 0]], [[1, 2]])
rankgain.scorer()(Model(), None, [0, 1], qid=[1, 1])
rankgain.lightgbm_metric("rr"), rankgain.xgboost_metric, rankgain.catboost_metric
after = sorted({*sys.modules})
"""


def test_import_loads_no_optional_package():
    """Even the functions that support other libraries import those libraries only when they are first called."""
    assert not loaded(SERVING) & FOREIGN


def test_dir_lists_public_names():
    used = "rankgain.compare({'q': {'d': 1}}, {'a': {'q': {'d': 1}}}, ['rr']); rankgain.rankings; rankgain.results"
    assert loaded(f"import rankgain; {used}; after = dir(rankgain)") == set(rg.__all__)
    public = "import rankgain.sklearn, rankgain.pytrec_eval, rankgain.cli; after = dir(rankgain)"
    assert loaded(public) == {*rg.__all__, "pytrec_eval", "sklearn"}


def test_every_public_name_can_be_imported():
    code = "before = {*dir(rankgain)}; from rankgain import *; after = sorted({*dir()} & {*rankgain.__all__} & before)"
    assert loaded(f"import rankgain; {code}") == set(rg.__all__)
    assert {"ndcg", "Metric", "__version__"} <= set(rg.__all__)
    assert "sys" not in rg.__all__
    for name in rg.__all__:
        assert getattr(rg, name) is getattr(rg, name)
    with pytest.raises(AttributeError, match="module 'rankgain' has no attribute 'nonsense'"):
        _ = rg.nonsense


def test_type_checkers_see_the_public_names():
    tree = ast.parse(Path(rg.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    names = {name.name: node.module.removeprefix("rankgain.") for node in block.body for name in node.names}
    assert names == rg._LATER


SUB_INTERPRETER = """
import rankgain
try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), '''
try:
    import rankgain
except ImportError as error:
    print(error, flush=True)
''')
"""


def test_second_interpreter_of_a_process_is_rejected(backend, monkeypatch):
    monkeypatch.setenv("RANKGAIN_BACKEND", backend)
    done = subprocess.run([sys.executable, "-c", SUB_INTERPRETER], capture_output=True, text=True, check=True)
    if backend == "compiled":
        assert "only one interpreter per process" in done.stdout
        assert "use threads or processes" in done.stdout
    else:
        warned = "does not properly support sub-interpreters" in done.stderr  # NumPy 2.0 and 2.1 only warn
        assert warned or done.stdout  # the message comes from NumPy
