"""Data frames: qrels and a run as columns, or labels and scores side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rankgain.data.columns import ColumnSource, Table, check_validate
from rankgain.data.dataframes import Frame
from rankgain.data.groups import Groups
from rankgain.data.judgments import Judgments, Truth, of_ids, truth_of
from rankgain.data.lists import ListSource
from rankgain.data.ragged import Lists, to_float64
from rankgain.data.rules import check_missing, rules_of
from rankgain.data.source import check_query_ids
from rankgain.rankings import Rankings
from rankgain.scalars import Array

Names = str | tuple[str | None, str | None] | None


def from_frames(
    qrels_df: Any,
    run_df: Any = None,
    *,
    query: Names = None,
    doc: Names = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    ties: str | None = None,
    missing: str = "zero",
    validate: str = "judged",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from data frames, without a dict on the way.

    A frame is one of pandas, polars or pyarrow, anything else with the Arrow C stream (``__arrow_c_stream__``), or a
    mapping from names to columns. Rows may stand in any order.

    Parameters
    ----------
    qrels_df : frame, or Judgments
        A row a judged document: query, document, relevance (any finite number; below 0: pooled but unjudged).
    run_df : frame, optional
        A row a returned document: query, document, score (or rank). None: `qrels_df` holds the scores as well, label
        and score side by side, as learning-to-rank data and logs do; documents then need no ids.
    query, doc : str or pair of str, optional
        The columns of ids: text, bytes, integers or categories of them. A pair names them in `qrels_df` and `run_df`.
        None: the first that there is of query_id, qid, q_id, query, user_id; of doc_id, docno, docid, item_id.
    relevance : str, optional
        The column of grades; None: relevance, label, rel or grade.
    score, rank : str, optional
        The column of scores, higher is better; or, where there is none, of ranks, lower is better. None: score, rank.
    ties : {"docid", "average", "stable", "best", "worst"}, optional
        As in `from_qrels`; None: "docid", or "average" where documents have no ids. Integers are compared numerically,
        text by code point.
    missing, query_ids
        As in `from_qrels`.
    validate : {"judged", "full"}
        Which documents may not stand twice in a query of the run: judged ones, or any.

    Returns
    -------
    Rankings
        The queries in the order in which they first appear in `qrels_df`.

    Raises
    ------
    ValueError
        For a column that is not there (those there are are named), a null, ids of other types on the two sides, no
        query in common; in `evaluate`, for NaN, and documents that stand twice in a query.
    TypeError
        If something is no frame, or a column holds what it cannot.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d3", "d7"], "relevance": [2, 1, 1]}
    >>> run = {"query_id": ["q1", "q1", "q1"], "doc_id": ["d2", "d1", "d9"], "score": [1.4, 0.9, 0.2]}
    >>> rg.from_frames(qrels, run).evaluate("ndcg@10")["ndcg@10"].round(4).tolist()
    [0.4796, 0.0]

    Label and score side by side:

    >>> log = {"qid": [1, 1, 1, 2, 2], "label": [0, 2, 1, 1, 0], "score": [0.2, 0.9, 0.9, 0.1, 0.7]}
    >>> rg.from_frames(log).evaluate("ndcg")["ndcg"].round(4).tolist()
    [0.9299, 0.6309]
    """
    queries, docs = _pair(query, "query"), _pair(doc, "doc")
    check_missing(missing)
    check_validate(validate)
    truth = truth_of(qrels_df) if isinstance(qrels_df, Judgments) else Frame(qrels_df, "qrels_df")
    if run_df is not None:
        frame = Frame(run_df, "run_df")
    elif isinstance(truth, Truth):
        raise TypeError("qrels_df is Judgments, which hold no scores: give run_df")
    else:
        frame = truth
        if frame.find("doc", docs[0]) is None:
            return side_by_side(frame, queries[0], relevance, score, rank, ties, query_ids)
    rules = rules_of("docid" if ties is None else ties, ids=True)
    if not isinstance(truth, Truth):
        truth = of_frame(truth, queries[0], docs[0], relevance)
    groups = Groups.of(frame.ids(frame.need("query", queries[1])))
    documents = frame.ids(frame.need("doc", docs[1]))
    run = Table(frame.argument, groups, documents, _scores(frame, score, rank)[1], whole=validate == "full")
    return Rankings(ColumnSource(truth, run, missing=missing, query_ids=query_ids), rules)


def of_frame(frame: Frame, query: str | None, doc: str | None, relevance: str | None) -> Truth:
    """The judgments in a frame."""
    groups = Groups.of(frame.ids(frame.need("query", query)))
    documents = frame.ids(frame.need("doc", doc))
    return of_ids(frame.argument, groups, documents, frame.numbers(frame.need("relevance", relevance)))


def side_by_side(
    frame: Frame,
    query: str | None,
    relevance: str | None,
    score: str | None,
    rank: str | None,
    ties: str | None,
    query_ids: Iterable[Hashable] | None,
) -> Rankings:
    """Labels and scores without ids of documents, which may be tied but cannot be told apart."""
    rules = rules_of("average" if ties is None else ties, ids=False)
    groups = Groups.of(frame.ids(frame.need("query", query)))
    rows, offsets = groups.rows(np.arange(len(groups)))
    order = None if isinstance(rows, slice) else rows
    label = frame.need("relevance", relevance)
    labels, scores = (
        Lists(frame.where(name), offsets, values=column[:], order=order)
        for name, column in ((label, frame.numbers(label)), _scores(frame, score, rank))
    )
    names = check_query_ids(groups.names if query_ids is None else query_ids, len(groups))
    return Rankings(ListSource(labels, scores, None, names), rules)


def _scores(frame: Frame, score: str | None, rank: str | None) -> tuple[str, Any]:
    """The column that orders the documents, higher first, and its name."""
    if score is not None and rank is not None:
        raise ValueError("give score or rank, not both")
    ranks = None if frame.find("score", score) is not None and rank is None else frame.find("rank", rank)
    if ranks is not None:
        return ranks, Falling(frame.numbers(ranks))
    scores = frame.need("score", score)
    return scores, frame.numbers(scores)


class Falling:
    """Ranks as scores: a column whose numbers count the other way."""

    def __init__(self, ranks: Any) -> None:
        self._ranks = ranks

    def __getitem__(self, rows: Any) -> Array:
        return -to_float64(self._ranks[rows])


def _pair(names: Names, argument: str) -> tuple[str | None, str | None]:
    if names is None or isinstance(names, str):
        return names, names
    if isinstance(names, tuple) and len(names) == 2:
        return names
    raise TypeError(
        f"{argument} must be the name of a column, or those in qrels_df and run_df as a pair, not {names!r}"
    )
