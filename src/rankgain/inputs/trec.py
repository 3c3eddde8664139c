"""TREC files: qrels and a run as text."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable

from rankgain import _backend, _codes
from rankgain.errors import refusal
from rankgain.inputs.qrels import Matched
from rankgain.rankings import Rankings, check_missing, check_ties

Table = dict[bytes, dict[bytes, float]]


def read_trec(
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from a qrels file and a run file, as trec_eval reads them.

    Parameters
    ----------
    qrels : path
        Lines ``query iteration document grade``, fields apart by white space. Grades may be real.
    run : path
        Lines ``query Q0 document rank score tag``; the rank is not looked at, the score orders.
    ties, missing, query_ids
        As in `from_qrels`; ids are compared by byte.

    Returns
    -------
    Rankings
        The queries in the order of the qrels file.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        For a line with too few fields (or, in qrels, too many), a grade or a score that is no number, a document that
        stands in a query twice: the file, the line and the field are named. If no query is in both files.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels, run = rg.sample()
    >>> result = rg.read_trec(qrels, run).evaluate("ndcg@10", "mrr@10")
    >>> round(result.mean("ndcg@10"), 4)
    0.5314
    """
    check_ties(ties, ids=True)
    check_missing(missing)
    for name, path in (("qrels", qrels), ("run", run)):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{name} must be a path, not {type(path).__name__}")
    truth, ranked = read_qrels(qrels), read_run(run)
    names = os.fspath(qrels), os.fspath(run)
    return Matched(truth, ranked, ties=ties, missing=missing, query_ids=query_ids, names=names, show=decoded)


def read_qrels(path: str | os.PathLike[str]) -> Table:
    """{query: {document: grade}}, ids as bytes."""
    table: Table = {}
    data = _bytes(path)
    _check(_backend.readers.scan_qrels(data, table), data, os.fspath(path), _QRELS_FIELDS)
    return table


def read_run(path: str | os.PathLike[str]) -> Table:
    """{query: {document: score}}, ids as bytes."""
    table: Table = {}
    data = _bytes(path)
    _check(_backend.readers.scan_run(data, table), data, os.fspath(path), _RUN_FIELDS)
    return table


def _bytes(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


_QRELS_FIELDS = "4 fields (query, iteration, document, grade)"
_RUN_FIELDS = "6 fields (query, Q0, document, rank, score, tag)"


def _check(fault: tuple[int, int, int] | None, data: bytes, path: str, fields: str) -> None:
    """Raise what a scan found wrong; it counts lines and fields from 0, people from 1."""
    if fault is None:
        return
    code, line, field = fault
    if code == _codes.FEW_FIELDS:
        raise refusal(code, f"{path}: line {line + 1}", f"{field} fields, and there must be {fields}")
    text = decoded(data.split(b"\n")[line].split()[field])
    raise refusal(code, f"{path}: line {line + 1}, field {field + 1}", repr(text))


def decoded(identifier: bytes) -> str:
    """An id of a file as text; bytes that are not UTF-8 become lone surrogates, and so lose nothing."""
    return identifier.decode("utf-8", "surrogateescape")
