"""Evaluation through Spark Connect, where another process holds the data frames."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster


def test_spark_connect_gives_the_bits_of_one_process():
    script = Path(__file__).with_name("connect.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("the same\n")
