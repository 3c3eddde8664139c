"""What the tests share: `textbook` states the metrics, `strategies` draws, `calls` has a call of each public function.

Run a tool of this folder by its path: `python tests/support/metric_table.py`.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
