"""The `rankgain_ndcg` example in the documentation of the C functions compiles and runs unchanged."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.pages import DOCS, blocks

import rankgain as rg

pytestmark = pytest.mark.checkout

SETUP = """
from setuptools import Extension, setup
from Cython.Build import cythonize
setup(name="one", ext_modules=cythonize([Extension("one_list", ["one_list.pyx"])], include_path=[{path!r}]))
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one_list")
    (source,) = (text for _, language, text in blocks(DOCS / "c.md") if language == "pyx")
    (folder / "one_list.pyx").write_text(source, encoding="utf-8")
    (folder / "setup.py").write_text(SETUP.format(path=str(Path(rg.__file__).parent.parent)))
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = (built_module for built_module in folder.glob("one_list*") if built_module.suffix in (".so", ".pyd"))
    spec = importlib.util.spec_from_file_location("one_list", path)
    built_module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(built_module)
    return built_module


def test_page_example_prints_the_value_of_python(module):
    lists = [([3, 1, 2, 2, 1], [3, 3, 2, 2, 1, 1, 0]), ([0, 1], [1]), ([], [1]), ([], []), ([1], [1])]
    for relevance, judged in lists:
        for k in (1, 5, 100):
            arrays = np.array(relevance, dtype=float), np.array(judged, dtype=float)
            assert module.ndcg_of_one(*arrays, k) == rg.ndcg(relevance, k=k, judged=judged)


def test_page_example_prints_the_error_message(module):
    with pytest.raises(ValueError, match="grade is NaN"):
        module.ndcg_of_one(np.array([np.nan]), np.array([1.0]), 5)
    with pytest.raises(ValueError, match="k"):
        module.ndcg_of_one(np.array([1.0]), np.array([1.0]), 0)
