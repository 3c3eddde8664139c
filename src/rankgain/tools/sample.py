"""The paths of the sample files that are installed with the package."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from functools import cache


def sample() -> tuple[str, str]:
    """Return the paths of a small qrels file and a small run file for experiments.

    Returns
    -------
    qrels, run : str
        The paths. The queries are twelve programming tasks. The run was made by BM25, which searched the docstrings of
        Python's standard library. See the README.md in the same folder.

    See Also
    --------
    read_trec : Read the files.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels, run = rg.sample()
    >>> rg.read_trec(qrels, run)
    <Rankings of 12 queries, 151 documents, ties='docid', missing='zero'>
    """
    return _paths()


@cache
def _paths() -> tuple[str, str]:
    """Return the paths of the files; if the package is in a zip file, they are copies that exist until Python exits."""
    from importlib.resources import as_file, files

    copies = ExitStack()
    atexit.register(copies.close)
    folder = files("rankgain") / "sample"
    qrels, run = (os.fspath(copies.enter_context(as_file(folder / name))) for name in ("qrels.txt", "run.txt"))
    return qrels, run
