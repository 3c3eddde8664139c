"""Helpers for the tests: `textbook` defines the metrics, `strategies` draws data, `calls` calls public functions.

Run a tool in this folder by its path: `python tests/support/metric_table.py`.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
