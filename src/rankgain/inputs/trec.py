"""`read_trec`: make Rankings from a qrels file and a run file in TREC format."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Unpack

import numpy as np

from rankgain.choices import Duplicates, Missing, ScoreBits, Ties, check_choices
from rankgain.data.columns import ColumnSource
from rankgain.data.files import FileInput, comment_out_first, is_beir, is_standard_input, opened
from rankgain.data.ids import python_ids, row_numbers
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, of_covers, of_ids
from rankgain.data.lines import BEIR_QRELS, QRELS, QRELS_BY_SUBTOPIC, TrecText, read_run, read_tagged_runs
from rankgain.data.rules import check_score_bits, check_ties, rules_of
from rankgain.data.subtopics import of_rows
from rankgain.errors import NoKeywords, quoted, unexpected, without_unknown
from rankgain.rankings import Rankings
from rankgain.results.export import bar_class, read_with_bar
from rankgain.threads import check_threads


@without_unknown
def read_trec(
    qrels: FileInput | Judgments,
    run: FileInput,
    *,
    ties: Ties = "docid",
    missing: Missing = "zero",
    query_ids: Iterable[Hashable] | None = None,
    score_bits: ScoreBits = 64,
    duplicates: Duplicates = "error",
    threads: int = 1,
    progress: bool = False,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from a qrels file and a run file, which are interpreted as in trec_eval.

    Parameters
    ----------
    qrels : path, "-", open binary file, or Judgments
        Lines ``query iteration document grade``, or BEIR's table, recognised by the header ``query-id corpus-id
        score``. Grades may be real numbers; a negative one is pooled but unjudged. ``"-"`` is standard input.
    run : path, "-" or open binary file
        Lines ``query Q0 document rank score tag``. Documents are ordered by score; the rank is ignored. Or MS MARCO's
        three columns, ``query document rank``, recognised by the first line.
    ties : {"docid", "average", "stable", "best", "worst"}, default "docid"
        The order of documents of equal score, as in `from_qrels`. Ids are compared by byte.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that the run lacks are evaluated as empty lists or left out, as in `from_qrels`.
    query_ids : iterable of hashable, optional
        Other names for the queries that are evaluated, one per query. By default, the query ids.
    score_bits : {64, 32}, default 64
        The precision in which scores are compared, as in `Rankings.under`.
    duplicates : {"error", "first"}, default "error"
        Whether a document that is returned twice for a query is an error, or counts once, at its first rank (with
        its highest score).
    threads : int, default 1
        How many threads may share the lines of the run, from 1 to 256; the result does not depend on it.
    progress : bool, default False
        Whether a bar of tqdm shows how much of each file is read; only for paths.

    Returns
    -------
    Rankings
        With the queries in the order of `qrels`. Bytes of ids that are not valid UTF-8 become lone surrogates.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a line has too few or too many fields, a grade or score is not a number, or a document appears twice in a
        query: the message names the file, the line and the field. If a file is damaged, or becomes shorter while it is
        read; if the run file holds several runs, by their tags; if no query is in both files; if both are standard
        input; or if `ties`, `missing`, `score_bits`, `duplicates` or `threads` is not one of the values above.
    TypeError
        If an argument is neither a path nor a binary file, `threads` is not an integer, or `progress` is not a bool.
    ImportError
        If `progress` is True and tqdm is not installed: ``pip install 'rankgain[progress]'``.

    Warns
    -----
    UserWarning
        If, in every query of at least 3 documents, the scores rise with the rank.

    See Also
    --------
    from_qrels : The same from dicts, with the choices for `ties` and `missing` explained.
    judgments : Reads the qrels once for many runs.
    sample : Files to try it on.

    Notes
    -----
    Both files may be compressed with gzip, bzip2, xz or Zstandard (Python 3.14, or pyarrow). Fields are separated by
    white space; blank lines and lines that begin with ``#`` are skipped. Ids are any bytes. Files are read into memory,
    once, so that later changes of a file have no effect, and other rules need no file. A run takes the memory of its
    text and up to 40 bytes per line, or up to 100 while it is read if the lines of its queries are scattered.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels, run = rg.sample()
    >>> result = rg.read_trec(qrels, run).evaluate("ndcg@10", "mrr@10")
    >>> round(result.mean("ndcg@10"), 4)
    0.5314
    """
    if unknown:
        raise unexpected(read_trec, unknown)
    check_ties(ties, ids=True)
    check_choices(missing=missing, duplicates=duplicates)
    if is_standard_input(qrels) and is_standard_input(run):
        raise ValueError("qrels and run cannot both be standard input")
    bar = bar_class(progress)
    if isinstance(qrels, Judgments):
        judgments = judgment_sets(qrels)
    else:
        with read_with_bar(qrels, bar) as file:
            judgments = read_qrels(file, "qrels")
    check_score_bits(score_bits)
    threads = check_threads(threads)
    rules = rules_of(ties, ids=True, score_bits=score_bits)
    with read_with_bar(run, bar) as file:
        columns = read_run(file, threads, duplicates=duplicates)
    return Rankings(ColumnSource(judgments, columns, missing=missing, query_ids=query_ids), rules)


def trec_by_tag(
    judgments: Judgments,
    runs: FileInput,
    *,
    ties: Ties = "docid",
    missing: Missing = "zero",
    score_bits: ScoreBits = 64,
    duplicates: Duplicates = "error",
    threads: int = 1,
    progress: bool = False,
) -> dict[str, Rankings]:
    """Make Rankings of each run in a file, by the tags of its lines."""
    rules = rules_of(ties, ids=True, score_bits=score_bits)
    check_choices(missing=missing, duplicates=duplicates)
    sets = judgment_sets(judgments)
    with read_with_bar(runs, bar_class(progress)) as file:
        columns_by_tag = read_tagged_runs(file, threads, duplicates)
    return {
        tag: Rankings(ColumnSource(sets, columns, missing=missing, query_ids=None), rules)
        for tag, columns in columns_by_tag.items()
    }


_SPACE = b"\xff"  # replaces the spaces in tab-separated ids; this byte never occurs in UTF-8
_TWO_TABS = rb"(?m)^[^\t\n]*\t[^\t\n]*\t[^\t\n]*$"  # a line with three tab-separated fields


def _without_spaces(line: re.Match[bytes]) -> bytes:
    """Replace the spaces within the fields of a line, so that the scan reads each field as a single word."""
    return re.sub(rb"(?<=\S) +(?=\S)", lambda spaces: _SPACE * len(spaces[0]), line[0])


def read_qrels_by_subtopic(source: FileInput, argument: str) -> JudgmentSets:
    """Read judgments by subtopic from a qrels file, whose second field is the subtopic."""
    with opened(source, argument) as file:
        file.check_format()
        if is_beir(file):
            raise ValueError(
                f"{file.name} is BEIR's table, which has no field of subtopics: give lines "
                f"'{QRELS_BY_SUBTOPIC.fields}', or leave out subtopic="
            )
        text, error = file.text()
    lines = TrecText(text, QRELS_BY_SUBTOPIC, file.name)
    if error is not None:
        raise error
    # Read as documents, the subtopics have the same rows.
    of_subtopics = TrecText(text, QRELS_BY_SUBTOPIC._replace(document=1), file.name)
    groups = lines.groups
    rows, offsets = groups.rows(np.arange(len(groups)))
    documents, subtopics = (python_ids(ids.take(rows), "str") for ids in (lines.documents, of_subtopics.documents))

    def where(row: int) -> str:
        line = lines.line_of(int(row_numbers(rows)[row])) + 1
        return f"{file.name}: line {line}, subtopic {quoted(subtopics[row])}, document {quoted(documents[row])}"

    covers = of_rows(groups.names, offsets, documents, subtopics, lines.values[rows], where, f"{file.name}: field 2")
    return of_covers(file.name, groups.names, covers)


def read_qrels(source: FileInput, argument: str = "qrels") -> JudgmentSets:
    """Read the judgments from a qrels file."""
    with opened(source, argument) as file:
        file.check_format()
        form = BEIR_QRELS if is_beir(file) else QRELS
        text, error = file.text()
    has_spaces = False
    if form is BEIR_QRELS:
        has_spaces = b" " in text and _SPACE not in text
        text = bytearray(re.sub(_TWO_TABS, _without_spaces, text) if has_spaces else text)
        comment_out_first(text)
    lines = TrecText(text, form, file.name, space=_SPACE if has_spaces else b"")
    if error is not None:
        raise error
    judgments = of_ids(file.name, lines.groups, lines.documents, lines.values)
    if judgments.error_code is not None:  # the scan would have raised any other error, so a document is repeated
        _, query, position = judgments.error_code
        rows, _ = lines.groups.rows(np.array([query]))
        raise lines.repeated(int(row_numbers(rows)[position]))
    return judgments
