"""A Spark session for tests marked `spark`: run `pytest -n 0 -m spark` with PySpark and Java 17."""

import os
import sys

import pytest

os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise, workers run the first python3 on PATH


@pytest.fixture(scope="session")
def spark():
    """Start a session with two threads in which a job fails after a task has failed four times."""
    from support.sessions import session

    with session("local[2,4]") as started:
        yield started
