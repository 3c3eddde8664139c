"""`judgments`: prepare judgments in any form once, to evaluate many runs."""

from __future__ import annotations

from typing import Any, Unpack

from rankgain.data.given import recognise
from rankgain.data.id_lists import judgments_of, relevant_lists
from rankgain.data.judgments import Judgments, warn_of_negative_grades
from rankgain.errors import NoKeywords, unexpected, without_unknown
from rankgain.inputs.frames import of_frame
from rankgain.inputs.trec import read_qrels


@without_unknown
def judgments(
    truth: Any,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    **unknown: Unpack[NoKeywords],
) -> Judgments:
    """Read, validate and sort judgments once, for use with any number of runs in any form.

    Parameters
    ----------
    truth : path, "-", open binary file, frame, mapping, list, or sparse matrix
        A file of qrels, recognised by its content (see `read_trec` and `from_frames`; ``"-"`` is standard input); a
        data frame or records (see `from_frames`); a mapping from query to a mapping from document to grade, or to a set
        or list of relevant ids; a list of such values; or a scipy sparse matrix of users × items.
    query, doc, relevance : str, optional
        The columns of a frame, as in `from_frames`. If one is given, or if its keys are usual column names, a
        mapping is taken as a mapping from names to columns.

    Returns
    -------
    Judgments
        Accepted in place of the truth by `from_qrels`, `from_frames`, `from_recommendations`, `read_trec` and
        `compare`. Document ids keep their type, and a run must use the same type.

    Raises
    ------
    OSError
        If a file cannot be read.
    ImportError
        If a file needs pyarrow, which is not installed: ``pip install 'rankgain[arrow]'``.
    ValueError
        If a grade is not finite, a query has a document twice, a column does not exist, or a line of a file cannot be
        read.
    TypeError
        If `truth` is of none of the types above, a column is named but `truth` is not a table, a grade is not a number,
        or an id is of a type that cannot be used.

    Warns
    -----
    UserWarning
        If a grade is negative, other than -1 and -2.

    See Also
    --------
    compare : Evaluates several runs against the same judgments.
    from_qrels, from_frames, from_recommendations, read_trec : Accept the result.

    Notes
    -----
    The contents are copied, so later changes to a dict or an array have no effect. They are checked here, whereas the
    constructors of Rankings leave these checks to `Rankings.evaluate`.

    Examples
    --------
    >>> import rankgain as rg
    >>> truth = rg.judgments({"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}})
    >>> truth
    <Judgments of 2 queries, 4 documents>
    >>> for run in ({"q1": {"d1": 0.9, "d2": 1.4}}, {"q1": {"d1": 1.0}, "q2": {"d7": 1.0}}):
    ...     round(rg.from_qrels(truth, run).evaluate("ndcg").mean("ndcg"), 4)
    0.2398
    0.8801
    """
    if unknown:
        raise unexpected(judgments, unknown)
    named = {"query": query, "doc": doc, "relevance": relevance}
    columns = {name: column for name, column in named.items() if column is not None}
    given = recognise(truth, "truth", columns, is_truth=True, is_table=bool(columns))
    if columns and given.kind != "table":
        raise TypeError(f"{next(iter(columns))}= names a column, and truth is not a table: leave it out")
    if given.kind == "trec":
        return Judgments(read_qrels(given.data, given.argument).check())
    if given.kind == "table":
        sets = of_frame(given.frame, query, doc, relevance)
    else:
        sets = judgments_of(given.name, relevant_lists(given.data, given.name))
    sets.check()
    if given.kind not in ("trec", "judgments"):
        warn_of_negative_grades(sets)
    return Judgments(sets)
