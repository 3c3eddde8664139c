"""Shared by the tests: `textbook` defines the metrics, `strategies` draws, `calls` calls each public function.

Run a tool of this folder by its path: `python tests/support/metric_table.py`.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
