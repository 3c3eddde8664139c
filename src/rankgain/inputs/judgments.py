"""`judgments`: prepare judgments in any form once, to evaluate many runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from rankgain.data.column_names import ColumnName, QueryKey
from rankgain.data.given import Given, recognise
from rankgain.data.id_lists import judgments_of, relevant_lists
from rankgain.data.judgments import Judgments, JudgmentSets, of_covers, warn_of_negative_grades
from rankgain.data.subtopics import covers_of_dicts, weighted
from rankgain.errors import NoKeywords, unexpected, without_unknown
from rankgain.inputs.frames import by_subtopic_of_frame, of_frame
from rankgain.inputs.trec import read_qrels, read_qrels_by_subtopic


@without_unknown
def judgments(
    truth: Any,
    *,
    query: QueryKey | None = None,
    doc: ColumnName | None = None,
    relevance: ColumnName | None = None,
    subtopic: bool | str = False,
    weights: Mapping[Any, Mapping[Any, float]] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Judgments:
    """Read, validate and sort judgments once, for use with any number of runs in any form.

    Parameters
    ----------
    truth : path, "-", open binary file, frame, mapping, list, or sparse matrix
        A file of qrels, recognised by its content (see `read_trec` and `from_frames`; ``"-"`` is standard input); a
        data frame or records (see `from_frames`); a mapping from query to a mapping from document to grade, or to a set
        or list of relevant ids; a list of such values; the requests of Elasticsearch's ``_rank_eval`` or a judgment
        list of OpenSearch, whose ratings are the grades; or a scipy sparse matrix of users × items.
    query, doc, relevance : str, int or, for query, list, optional
        The columns of a frame, as in `from_frames`. If one is given, or if its keys are usual column names, a
        mapping is taken as a mapping from names to columns.
    subtopic : bool or str, default False
        Whether documents are judged for each subtopic (nugget, aspect, intent) of their query. `truth` is then
        ``{query: {subtopic: {document: grade}}}``; lines ``query subtopic document grade``; or a frame with a column of
        subtopics, which a str names. With True, it is the first that exists of subtopic_id, subtopic, nugget_id,
        nugget, aspect_id, aspect, intent_id, intent and iteration. Metrics without subtopics use the highest grade of a
        document.
    weights : mapping of mappings, optional
        The weight of each subtopic, ``{query: {subtopic: weight}}``, finite and not negative; 0 leaves a subtopic out.
        By default, all weigh 1.

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
        If a grade is not finite, a query has a document twice (for the same subtopic, if there are subtopics), a column
        does not exist, or a line of a file cannot be read; or if a weight is negative, NaN or infinite, names an
        unknown query or subtopic, or is lacking for a subtopic with a relevant document, or if all of a query are 0.
    TypeError
        If `truth` is of none of the types above, a column is named but `truth` is not a table, a grade is not a number,
        or an id is of a type that cannot be used; if `subtopic` is given and `truth` holds lists or sets of ids, or has
        no subtopics; or if `weights` is given without `subtopic`.

    Warns
    -----
    UserWarning
        If a grade is negative, other than -1 and -2; or if the column or field of subtopics holds the same value for
        all queries.

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

    By subtopic, with a document that is judged for two of them:

    >>> nuggets = rg.judgments({"q1": {"who": {"d1": 1}, "when": {"d1": 1, "d2": 1}}}, subtopic=True)
    >>> rg.from_qrels(nuggets, {"q1": {"d2": 2.0, "d1": 1.0}}).evaluate("strecall@1", "ndcg_ia@2").mean("strecall@1")
    0.5
    """
    if unknown:
        raise unexpected(judgments, unknown)
    if weights is not None and subtopic is False:
        raise TypeError("weights= are those of subtopics: give subtopic=True, too")
    if not isinstance(subtopic, (bool, str)):
        raise TypeError(f"subtopic must be True or the name of a column, not {subtopic!r}")
    of_subtopics = subtopic if isinstance(subtopic, str) else None
    named = {"query": query, "doc": doc, "relevance": relevance, "subtopic": of_subtopics}
    columns = {name: column for name, column in named.items() if column is not None}
    given = recognise(truth, "truth", columns, is_truth=True, is_table=bool(columns))
    if columns and given.kind != "table":
        raise TypeError(f"{next(iter(columns))}= names a column, and truth is not a table: leave it out")
    if subtopic is not False:
        sets = _by_subtopic(given, query, doc, relevance, of_subtopics)
        if weights is not None and sets.covers is not None:
            sets.covers = weighted(sets.covers, sets.query_ids, weights)
        warn_of_negative_grades(sets)
        return Judgments(sets.check())
    if given.kind == "trec":
        return Judgments(read_qrels(given.data, given.argument).check())
    if given.kind == "table":
        sets = of_frame(given.frame, query, doc, relevance)
    else:
        sets = judgments_of(given.name, relevant_lists(*given.form))
        if given.kind == "series":
            sets.index = given.data.index
    sets.check()
    if given.kind not in ("trec", "judgments"):
        warn_of_negative_grades(sets)
    return Judgments(sets)


def _by_subtopic(
    given: Given, query: QueryKey | None, doc: ColumnName | None, relevance: ColumnName | None, subtopic: str | None
) -> JudgmentSets:
    if given.kind == "trec":
        return read_qrels_by_subtopic(given.data, given.argument)
    if given.kind == "table":
        return by_subtopic_of_frame(given.frame, query, doc, relevance, subtopic)
    if given.kind in ("dicts", "keyed"):
        return of_covers(given.name, *covers_of_dicts(given.data, given.name))
    if given.kind == "judgments":
        raise TypeError("truth is Judgments already: give what they were made from, and subtopic=True")
    raise TypeError(
        f"judgments by subtopic are {{query: {{subtopic: {{document: grade}}}}}}, a table or lines of TREC, not "
        f"{type(given.data).__name__}"
    )
