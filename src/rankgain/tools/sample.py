"""The sample files that ship with the package."""

from __future__ import annotations

import os


def sample() -> tuple[str, str]:
    """Return the paths of a small qrels file and a small run file, for trying things out.

    Returns
    -------
    qrels, run : str
        The paths. The queries are twelve tasks of a programmer; BM25 searched the docstrings of Python's standard
        library for them. See the README.md in the same folder.

    See Also
    --------
    read_trec : Reads them.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels, run = rg.sample()
    >>> rg.read_trec(qrels, run)
    <Rankings of 12 queries, 151 documents, ties='docid', missing='zero'>
    """
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "sample")
    return os.path.join(folder, "qrels.txt"), os.path.join(folder, "run.txt")
