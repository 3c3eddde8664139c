"""What the tests share: `textbook` states the metrics, `strategies` draws, `calls` and `cases` hold calls to make.

Whatever is run by hand is run by its path: `python tests/support/mutants.py`.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
