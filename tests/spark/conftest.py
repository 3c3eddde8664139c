"""A session of Spark for the tests that are marked so: `pytest -n 0 -m spark`, with PySpark and Java 17."""

import os
import sys

import pytest

os.environ["PYSPARK_PYTHON"] = sys.executable  # else the first python3 of PATH, with whatever is installed there


@pytest.fixture(scope="session")
def spark():
    """Two threads, and a task may fail three times before the job does."""
    from support.sessions import session

    with session("local[2,4]") as started:
        yield started
