"""TREC files: qrels and a run as text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from rankgain.data.files import FileInput, is_standard_input, opened
from rankgain.data.ids import TextIds
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, of_ids
from rankgain.data.lines import QRELS, Block, TrecSource, read_run, stamp_of, whole_text
from rankgain.data.rules import check_missing, check_score_bits, check_ties, rules_of
from rankgain.rankings import Rankings
from rankgain.threads import check_threads


def read_trec(
    qrels: FileInput | Judgments,
    run: FileInput,
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
    score_bits: int = 64,
    threads: int = 1,
) -> Rankings:
    """Rankings from a qrels file and a run file, as trec_eval reads them.

    Both may be compressed with gzip. Fields stand apart by white space; blank lines and lines that begin with ``#`` are
    passed over. Ids are any bytes. The run is read once, in blocks: memory does not grow with its size where the lines
    of each query stand together. Where they do not, it is read twice, and a line takes 8 bytes.
    Comments and tags may be as long as they like; ids of more than 1 MB (2**20 bytes) are refused.

    Parameters
    ----------
    qrels : path, "-", open binary file, or Judgments
        Lines ``query iteration document grade``. Grades may be real; below 0: pooled but unjudged. "-" is standard
        input.
    run : path, "-" or open binary file
        Lines ``query Q0 document rank score tag``; the rank is not looked at, the score orders.
    ties, missing, query_ids
        As in `from_qrels`; ids are compared by byte.
    score_bits : {64, 32}
        As in `Rankings.under`.
    threads : int
        How many threads may share the work, from 1 to 256; the result is the same with any number. With more than one,
        a block of the run is parsed while the one before it is matched with the qrels; more than two gain nothing more.

    Returns
    -------
    Rankings
        The queries in the order of the qrels. Ids that are not UTF-8 hold their bytes as lone surrogates.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        For a line with too few or too many fields, a grade or a score that is no number, a document that
        stands in a query twice: the file, the line and the field are named. For a file that is damaged, or that
        becomes shorter while it is read. If no query is on both sides.

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
    if is_standard_input(qrels) and is_standard_input(run):
        raise ValueError("qrels and run cannot both be standard input")
    judgments = judgment_sets(qrels) if isinstance(qrels, Judgments) else read_qrels(qrels, "qrels")
    check_score_bits(score_bits)
    threads = check_threads(threads)
    rules = rules_of(ties, ids=True, score_bits=score_bits)
    found = stamp_of(run)
    name, places = read_run(run, judgments, ties, score_bits, threads)
    return Rankings(TrecSource(judgments, name, places, found, rules, missing=missing, query_ids=query_ids), rules)


def read_qrels(source: FileInput, argument: str = "qrels") -> JudgmentSets:
    """The judgments in a qrels file."""
    with opened(source, argument) as file:
        block = Block(whole_text(file, QRELS), 0, QRELS, file.name)
    groups = block.groups()
    judgments = of_ids(file.name, groups, TextIds(block.bytes, block.starts, block.ends, "str"), block.values)
    if judgments.error_code is not None:  # a scan refuses all but documents that stand twice
        rows, offsets = groups.rows(np.arange(len(groups)))
        place = int(offsets[judgments.error_code[1]]) + judgments.error_code[2]
        raise block.repeated(place + rows.start if isinstance(rows, slice) else int(rows[place]))
    return judgments
