"""A session of Spark for the tests that are marked so: `pytest -m spark`, with PySpark and Java 17.

Without PySpark nothing here is collected; without the mark in `-m` it is deselected, for a session takes long.
"""

import os
import sys
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]

os.environ["PYSPARK_PYTHON"] = sys.executable  # else the first python3 of PATH, with whatever is installed there


def pytest_collection_modifyitems(config, items):
    asked = config.option.markexpr or ""
    left_out = [
        item
        for item in items
        if any(item.get_closest_marker(mark) and mark not in asked for mark in ("spark", "cluster"))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def spark():
    """Two threads, and a task may fail three times before the job does."""
    from sessions import session

    with session("local[2,4]") as made:
        yield made
