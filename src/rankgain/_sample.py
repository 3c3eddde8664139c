"""The sample pair that ships with the package."""

from __future__ import annotations

from pathlib import Path


def sample() -> tuple[Path, Path]:
    """The paths of a small qrels file and a small run file, to try things on.

    Twelve tasks of a programmer, searched by BM25 in the docstrings of Python's standard library; see the README.md
    beside the files.

    Examples
    --------
    >>> import rankgain as rg
    >>> [path.name for path in rg.sample()]
    ['qrels.txt', 'run.txt']
    """
    folder = Path(__file__).parent / "sample"
    return folder / "qrels.txt", folder / "run.txt"
