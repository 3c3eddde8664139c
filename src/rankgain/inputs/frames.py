"""`from_frames`: make Rankings from qrels and a run in data frames, or from a single frame with labels and scores."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from rankgain.choices import Duplicates, Missing, Ties, Validate, check_choices
from rankgain.data.advice.ranks import remarks_on_ranks, remarks_on_scores, warn_of_ranks
from rankgain.data.advice.several_ids import refuse_several_ids
from rankgain.data.advice.several_runs import refuse_several_runs
from rankgain.data.advice.swapped import pairs_in_columns, pairs_in_lists, remark_if_swapped
from rankgain.data.column_names import ColumnName, QueryKey, bare, check_roles, common_column, names_ranks, run_column
from rankgain.data.columns import ColumnSource, NegatedRanks, RunColumns, nan_rank
from rankgain.data.given import recognise
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Ids, decoded, python_ids, row_numbers
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, of_covers, of_ids, warn_of_negative_grades
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, to_float64
from rankgain.data.rules import Rules, rules_of
from rankgain.data.source import check_query_ids
from rankgain.data.subtopics import of_rows
from rankgain.data.tables.frame import Frame
from rankgain.errors import BY_SUBTOPIC, NoKeywords, quoted, unexpected, warn, without_unknown
from rankgain.rankings import Rankings
from rankgain.scalars import Bools

_Pair = tuple[QueryKey | None, QueryKey | None]
ColumnNames = QueryKey | _Pair | None


@without_unknown
def from_frames(
    qrels_df: Any,
    run_df: Any = None,
    *,
    query: ColumnNames = None,
    doc: ColumnNames = None,
    relevance: ColumnName | None = None,
    score: ColumnName | None = None,
    rank: ColumnName | None = None,
    ties: Ties | None = None,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from the columns of data frames.

    A frame is one of pandas, polars or pyarrow, any other object with the Arrow C stream (``__arrow_c_stream__``), a
    mapping from names to columns, a list of records (mappings), an iterable of named tuples like those of ir_measures
    (Qrel, ScoredDoc), or the path of a parquet, Arrow, CSV or JSON file, which pyarrow reads. Rows may be in any
    order. No intermediate dict is built.

    Parameters
    ----------
    qrels_df : frame, or Judgments
        One row per judged document: query, document and relevance, any finite number (negative: pooled but unjudged).
    run_df : frame, optional
        One row per returned document: query, document and score (or rank). By default, `qrels_df` holds the scores as
        well, label and score side by side, as learning-to-rank data and logs do; documents then need no ids. If they
        have ids, the label is null in rows that were only returned, and the score in rows that are only judged.
    query, doc : str or int, or a tuple of two; query also list, optional
        The columns of query ids and document ids: text, bytes, integers or categories of them. Integers are the names
        of columns in frames without a header. A tuple names the columns in `qrels_df` and in `run_df`. A list has the
        columns of one key, ``query=["session", "type"]``; each query is then a tuple. By default, the first that exists
        of query_id, qid, q_id, query, user_id and user; of doc_id, docno, docid, item_id, corpus_id, item, movie_id,
        product_id, document_id, passage_id, pid and chunk_id; then of the same names in other spellings: case, ``_``
        and ``-`` do not matter (``userId``, ``query-id``). The levels of a pandas index are columns too.
    relevance : str or int, optional
        The column of grades. By default, the first that exists of relevance, label, rel, grade, rating and weight. If
        there is none, and no scores either, each row counts as 1, and `Evaluation.assumed` says so, with a warning if
        another column may hold grades.
    score, rank : str or int, optional
        The column of scores, where higher is better, or of ranks, where lower is better; only one of the two may be
        named. By default, the first that exists of score, and prediction and predicted_rating if they hold numbers;
        else of rank and position.
    ties : {"docid", "average", "stable", "best", "worst"}, optional
        The order of documents of equal score, as in `from_qrels`. By default ``"docid"`` (integers are compared
        numerically, text by code point), or ``"average"`` where documents have no ids.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that the run lacks are evaluated as empty lists or left out, as in `from_qrels`.
    validate : {"judged", "full"}, default "judged"
        Which documents a query of the run may not return twice: judged ones, or any.
    duplicates : {"error", "first"}, default "error"
        Whether a document that a query returns twice is an error, or counts once, with its highest score.
    query_ids : iterable of hashable, optional
        Other names for the queries that are evaluated, one per query. By default, the query ids.

    Returns
    -------
    Rankings
        With the queries in the order in which they first appear in `qrels_df`.

    Raises
    ------
    ValueError
        If a file cannot be parsed; if a column does not exist (the message lists those that do) or has nulls; if both
        `score` and `rank` are given; if a column would have two roles of which only one is named; if a document of a
        query stands under two values of a column system, run, run_id, tag or model; if the ids of the two sides are of
        different types, or no query is in both; or if `ties`, `missing`, `validate` or `duplicates` is unknown. In
        `Rankings.evaluate`, if a score is NaN, a grade is not finite, or a query has a document twice.
    OSError
        If a file cannot be read.
    ImportError
        If a file is to be read and pyarrow is not installed: ``pip install 'rankgain[arrow]'``.
    TypeError
        If an argument is not a frame, if a column holds values of a type that cannot be used, or if `qrels_df` is
        Judgments and `run_df` is not given.

    Warns
    -----
    UserWarning
        If `score` is a column called rank, ranking or position that holds the ranks of each query; if, in every query
        of at least 3 documents, the scores rise with the column of ranks beside them; if there is no
        column of relevance, but another one may hold grades;
        or if a grade is negative, other than -1 and -2.

    See Also
    --------
    from_qrels : The same from dicts, with the choices for `ties` and `missing` explained.
    from_scores : Labels and scores as arrays.
    judgments : Prepares the qrels once for many runs.

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
    if unknown:
        raise unexpected(from_frames, unknown)
    queries, docs = pair_of(query, "query"), pair_of(doc, "doc")
    check_choices(missing=missing, validate=validate, duplicates=duplicates)
    truth = recognise(qrels_df, "qrels_df", is_table=True)
    if truth.kind == "judgments" and run_df is None:
        raise TypeError("qrels_df is Judgments, which have no scores: give run_df")
    options = _Options(validate == "full", duplicates)
    if run_df is None:
        for argument, pair in (("query", queries), ("doc", docs)):
            _check_one_table(truth.frame, argument, pair)
        if truth.frame.find("doc", docs[0]) is None:
            return side_by_side(truth.frame, queries[0], relevance, score, rank, ties, query_ids)
        sides = _both_sides(truth.frame, queries[0], docs[0], relevance, score, rank, options)
    else:
        run = recognise(run_df, "run_df", is_table=True)
        if truth.kind == "judgments":
            judgments = judgment_sets(truth.data)
        else:
            _check_swapped(truth.frame, run.frame, relevance, score, rank)
            check_pair(truth.frame, run.frame, queries)
            queries, remark_on_queries = _common(truth.frame, run.frame, "query", queries)
            docs, remark_on_docs = _common(truth.frame, run.frame, "doc", docs)
            assumed = remark_on_queries + remark_on_docs
            judgments = of_frame(truth.frame, queries[0], docs[0], relevance)
            judgments.assumed = assumed + judgments.assumed
            warn_of_negative_grades(judgments)
        sides = _against(judgments, run.frame, queries[1], docs[1], score, rank, options)
    rules = rules_of("docid" if ties is None else ties, ids=True)
    source = ColumnSource(*sides, missing=missing, query_ids=query_ids)
    refuse_several_ids(source, run_column=sides[1].column)
    return Rankings(source, rules)


class _Options(NamedTuple):
    """How to handle repeated documents in a run."""

    check_all: bool
    duplicates: Duplicates


def _against(
    judgments: JudgmentSets,
    frame: Frame,
    query: QueryKey | None,
    doc: QueryKey | None,
    score: ColumnName | None,
    rank: ColumnName | None,
    options: _Options,
) -> tuple[JudgmentSets, RunColumns]:
    """Read the run from a frame, and return it together with the judgments."""
    named = {"query": query, "doc": doc, "score": score, "rank": rank}
    ((_, run),) = _runs_against(judgments, frame, named, options).items()
    return judgments, run


def frames_by_run(
    judgments: Judgments,
    table: Any,
    run: ColumnName,
    *,
    query: QueryKey | None = None,
    doc: QueryKey | None = None,
    score: ColumnName | None = None,
    rank: ColumnName | None = None,
    ties: Ties | None = None,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
) -> dict[str, Rankings]:
    """Make Rankings of each run in a table, given the column that names the run of each row."""
    check_choices(missing=missing, validate=validate, duplicates=duplicates)
    rules = rules_of("docid" if ties is None else ties, ids=True)
    named = {"query": query, "doc": doc, "score": score, "rank": rank, "run": run}
    sets = judgment_sets(judgments)
    runs = _runs_against(sets, recognise(table, "runs").frame, named, _Options(validate == "full", duplicates))
    return {
        name: Rankings(ColumnSource(sets, columns, missing=missing, query_ids=None), rules)
        for name, columns in runs.items()
    }


def _runs_against(
    judgments: JudgmentSets, frame: Frame, named: Mapping[str, Any], options: _Options
) -> dict[str, RunColumns]:
    """Read the runs in a frame whose ids are compared with those of judgments. `named`: as in `runs_of_frame`."""
    columns = columns_of_run(frame, named)
    _check_prepared(judgments, frame, named, columns)
    untyped = frame.text_ids and not judgments.text_ids
    like = judgments.query_ids[0] if untyped and len(judgments) else None
    integers = untyped and judgments.ids.kind == "int"
    runs = runs_of_frame(frame, named, columns, like, integers, **options._asdict())
    order = columns.get("score", columns.get("rank", ""))
    for run in runs.values():
        pairs, call = pairs_in_columns(judgments, run.groups, run.scores), "from_frames(qrels_df, run_df)"
        run.assumed += remark_if_swapped(pairs, judgments.name, frame.where(order), call)
    return runs


def columns_of_run(frame: Frame, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a run by role, given those that the caller named."""
    query, doc = (frame.need(role, named.get(role)) for role in ("query", "doc"))
    order, is_rank = _order(frame, named.get("score"), named.get("rank"))
    columns = {"query": query, "doc": doc, "rank" if is_rank else "score": order}
    if named.get("run") is not None:
        columns["run"] = frame.find("run", named["run"])
    check_roles(columns, named, frame.argument)
    return columns


def runs_of_frame(
    frame: Frame,
    named: Mapping[str, Any],
    columns: Mapping[str, Any],
    like: Any,
    integer_documents: bool,
    *,
    check_all: bool,
    duplicates: Duplicates,
) -> dict[str, RunColumns]:
    """Read the runs in a frame by name. Without a column of runs, there is one, called "".

    `named`: the columns that the caller named, by role. `columns`: those that `columns_of_run` returned. `like`: a
    query of the other side, and `integer_documents`: whether its documents are integers, as which text from an untyped
    file is then read.
    """
    query, doc, order, *of_runs = columns.values()
    frame.prepare([query, doc, *of_runs], [order])
    queries = frame.queries(query, like)
    documents = frame.documents(doc, as_integers=integer_documents)
    if of_runs:
        rows = _rows_by_run(frame, of_runs[0])
    else:
        _refuse_several_runs(frame, columns, queries, documents)
        rows = {"": None}
    scores = _scores(frame, order, "rank" in columns)
    runs = {}
    for name, mask in rows.items():
        groups = queries.where(mask)
        remarks = _remarks_on_order(frame, columns, named.get("score"), groups, scores)
        rules: dict[str, Any] = {"column": doc, "assumed": remarks, "check_all": check_all, "duplicates": duplicates}
        runs[name] = RunColumns(frame.argument, groups, documents, scores, **rules)
    return runs


def _rows_by_run(frame: Frame, column: ColumnName) -> dict[str, Bools | None]:
    """Return a mask of the rows of each run, by the text of its name."""
    groups = frame.queries(column)
    if not len(groups):
        raise ValueError(f"{frame.argument} has no rows, and so no runs")
    names, run_of = [decoded(name) if isinstance(name, bytes) else str(name) for name in groups.names], groups.by_row()
    return {name: run_of == number for number, name in enumerate(names)}


def _both_sides(
    frame: Frame,
    query: QueryKey | None,
    doc: QueryKey | None,
    relevance: ColumnName | None,
    score: ColumnName | None,
    rank: ColumnName | None,
    options: _Options,
) -> tuple[JudgmentSets, RunColumns]:
    """Read both the judgments and the run from one frame.

    Rows without a grade belong only to the run; rows without a score belong only to the judgments.
    """
    named = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    query, doc = frame.need("query", query), frame.need("doc", doc)
    label, (order, is_rank) = frame.need("relevance", relevance), _order(frame, score, rank)
    columns = {"query": query, "doc": doc, "relevance": label, "rank" if is_rank else "score": order}
    check_roles(columns, named, frame.argument)
    frame.prepare([query, doc], [label, order])
    judged, returned = frame.present(label), frame.present(order)
    for name, mask, reason in ((label, judged, "no document is judged"), (order, returned, "no document is returned")):
        if mask is not None and len(mask) and not mask.any():
            raise ValueError(f"{frame.where(name)} holds only nulls, so {reason}")
    if judged is not None and returned is not None and not np.all(present := judged | returned):
        row = int(np.argmin(present))
        raise ValueError(f"{frame.argument}: row {row}: both {label!r} and {order!r} are null; drop such rows")
    groups, documents = frame.queries(query), frame.documents(columns["doc"])
    _refuse_several_runs(frame, columns, groups, documents)
    judgments = of_ids(frame.argument, groups.where(judged), documents, frame.numbers(label, nulls=True))
    warn_of_negative_grades(judgments)
    scores, groups = _scores(frame, order, is_rank, nulls=True), groups.where(returned)
    remarks = _remarks_on_order(frame, columns, score, groups, scores)
    pairs = pairs_in_columns(judgments, groups, scores)
    remarks += remark_if_swapped(pairs, judgments.name, frame.where(order), BY_COLUMN)
    return judgments, RunColumns(frame.argument, groups, documents, scores, assumed=remarks, **options._asdict())


def of_frame(frame: Frame, query: QueryKey | None, doc: QueryKey | None, relevance: ColumnName | None) -> JudgmentSets:
    """Read the judgments from a frame."""
    named = {"query": query, "doc": doc, "relevance": relevance}
    query, column = frame.need("query", query), frame.need("doc", doc)
    grades = frame.find("relevance", relevance)
    scores = next(filter(None, (frame.find(role, None) for role in ("score", "rank"))), None)
    if bare(scores) == "position":
        scores = None  # in click logs, this column holds the position at which an item was shown
    if grades is None and scores == "score" and column in BEIR:
        grades = "score"  # BEIR calls its column of grades "score"
    if grades is None and scores is not None:
        frame.need("relevance", None, f"relevance=, as relevance={scores!r} if those are grades")
    columns = {"query": query, "doc": column} | ({} if grades is None else {"relevance": grades})
    check_roles(columns, named, frame.argument)
    frame.prepare([query, column], [] if grades is None else [grades])
    groups, documents = frame.queries(query), frame.documents(column)
    numbers = np.ones(len(documents)) if grades is None else frame.numbers(grades)
    judgments = of_ids(frame.argument, groups, documents, numbers)
    if judgments.error_code is not None:
        _, number, position = judgments.error_code
        judgments.error_row = int(row_numbers(groups.rows(np.array([number]))[0])[position])
        subtopic = frame.find("subtopic", None)
        if subtopic is not None:
            judgments.hint = f"; if column {subtopic!r} holds subtopics, write {BY_SUBTOPIC}"
    judgments.text_ids = frame.text_ids
    judgments.column = column
    judgments.defaults = {role: (columns[role], tuple(frame.names)) for role in ("query", "doc") if named[role] is None}
    if grades is not None:
        return judgments
    others = [name for name in frame.names if name not in (query, column)]
    hint = f" (its other columns: {', '.join(map(str, others))}; relevance= chooses one of them)" if others else ""
    judgments.assumed = (f"{frame.argument} has no column of relevance: each row counts as 1{hint}",)
    numeric = next((name for name in others if _may_be_grades(frame, name)), None)
    if numeric is not None:
        warn(f"{judgments.assumed[0]}. If {numeric!r} has the grades, write relevance={numeric!r}, else leave it out")
    return judgments


def by_subtopic_of_frame(
    frame: Frame, query: QueryKey | None, doc: QueryKey | None, relevance: ColumnName | None, subtopic: str | None
) -> JudgmentSets:
    """Read judgments by subtopic from a frame. `subtopic`: its column, or None for the first usual one."""
    query, column, of_subtopics = frame.need("query", query), frame.need("doc", doc), frame.need("subtopic", subtopic)
    grade = frame.find("relevance", relevance)
    frame.prepare([query, column, of_subtopics], [] if grade is None else [grade])
    groups = frame.queries(query)
    rows, offsets = groups.rows(np.arange(len(groups)))
    documents, subtopics = (
        python_ids(ids.take(rows), ids.kind) for ids in (frame.documents(column), frame.texts(of_subtopics))
    )
    grades = np.ones(len(documents)) if grade is None else to_float64(frame.numbers(grade)[rows])

    def where(row: int) -> str:
        position = f"row {int(row_numbers(rows)[row])}"
        return f"{frame.argument}: {position}, subtopic {quoted(subtopics[row])}, document {quoted(documents[row])}"

    field = frame.where(of_subtopics)
    sets = of_covers(
        frame.argument, groups.names, of_rows(groups.names, offsets, documents, subtopics, grades, where, field)
    )
    sets.text_ids, sets.column = frame.text_ids, column
    if grade is None:
        sets.assumed = (f"{frame.argument} has no column of relevance: each row counts as 1",)
    return sets


# Numeric columns with these names do not hold grades.
_NO_GRADES = r"(?i).*(id|time|timestamp|date|year|index|iter|iteration|position)|unnamed.*"


def _may_be_grades(frame: Frame, name: Any) -> bool:
    """Return whether a column holds at least two different numbers and its name does not suggest times or ids."""
    if not isinstance(name, str) or re.fullmatch(_NO_GRADES, name):
        return False
    try:
        values = to_float64(frame.numbers(name)[:])
    except (TypeError, ValueError):  # the values are not numbers
        return False
    return bool(np.any(values != values[:1]))


BEIR = "corpus-id", "corpus_id"


def _check_swapped(
    judgments: Frame, run: Frame, relevance: ColumnName | None, score: ColumnName | None, rank: ColumnName | None
) -> None:
    """Raise a ValueError if the qrels have scores or ranks but no grades, and the run has neither scores nor ranks."""
    if relevance is not None or score is not None or rank is not None:
        return
    ordered = [frame.find("score", None) or frame.find("rank", None) for frame in (judgments, run)]
    if ordered[0] is not None and ordered[1] is None and judgments.find("relevance", None) is None:
        raise ValueError(
            f"{judgments.argument} has scores or ranks and {run.argument} has none: are they swapped? "
            "qrels come first, then the run"
        )


BY_COLUMN = "relevance= names the column of grades, and score= that of scores"


def side_by_side(
    frame: Frame,
    query: QueryKey | None,
    relevance: ColumnName | None,
    score: ColumnName | None,
    rank: ColumnName | None,
    ties: Ties | None,
    query_ids: Iterable[Hashable] | None,
) -> Rankings:
    """Make Rankings from a frame that holds labels and scores, but no document ids."""
    rules = rules_of("average" if ties is None else ties, ids=False)
    named = {"query": query, "relevance": relevance, "score": score, "rank": rank}
    query, label = frame.need("query", query), frame.need("relevance", relevance)
    order, is_rank = _order(frame, score, rank)
    columns = {"query": query, "relevance": label, "rank" if is_rank else "score": order}
    check_roles(columns, named, frame.argument)
    frame.prepare([query], [label, order])
    groups = frame.queries(query)
    scores = _scores(frame, order, is_rank)
    remarks = _remarks_on_order(frame, columns, score, groups, scores)
    if is_rank and len(missing := np.flatnonzero(np.isnan(scores[:]))):
        raise nan_rank(f"{frame.where(order)}, row {int(missing[0])}")
    labels = frame.where(label), frame.numbers(label)[:]
    return label_lists(groups, labels, (frame.where(order), scores[:]), rules, query_ids, remarks)


def label_lists(
    groups: QueryRows,
    labels: tuple[str, Any],
    scores: tuple[str, Any],
    rules: Rules,
    query_ids: Iterable[Hashable] | None,
    assumed: tuple[str, ...] = (),
) -> Rankings:
    """Make Rankings from named columns of labels and scores."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    order = None if isinstance(rows, slice) else rows
    label_rows, score_rows = (
        RaggedArray(name, offsets, values=values, order=order) for name, values in (labels, scores)
    )
    if score_rows.kind != "f":
        pairs = pairs_in_lists(label_rows, score_rows)
        assumed += remark_if_swapped(pairs, label_rows.name, score_rows.name, BY_COLUMN)
    names = check_query_ids(groups.names if query_ids is None else query_ids, len(groups))
    source = ListSource(label_rows, score_rows, None, names)
    source.assumed = assumed
    return Rankings(source, rules)


def _order(frame: Frame, score: ColumnName | None, rank: ColumnName | None) -> tuple[Any, bool]:
    """Return the name of the column that orders the documents, and whether it holds ranks."""
    if score is not None and rank is not None:
        raise ValueError("give score or rank, not both")
    ranks = None if frame.find("score", score) is not None and rank is None else frame.find("rank", rank)
    return (frame.need("score", score), False) if ranks is None else (ranks, True)


def _scores(frame: Frame, name: str, is_rank: bool, *, nulls: bool = False) -> Any:
    """Return the scores that order the documents, where higher is better. Ranks are negated."""
    numbers = frame.numbers(name, nulls=nulls)
    return NegatedRanks(numbers) if is_rank else numbers


def _common(judgments: Frame, run: Frame, role: str, named: _Pair) -> tuple[_Pair, tuple[str, ...]]:
    """Return the columns of a role in two frames, and a remark if not both are the ones that the frames prefer."""
    if named != (None, None):
        return named, ()
    columns = judgments.find(role, None), run.find(role, None)
    common = None if None in columns else common_column(columns, (judgments.names, run.names))
    if common is None:
        return named, ()
    side = int(common[0] == columns[0])  # the frame whose preferred column the other lacks
    frames = judgments, run
    return common, (
        f"the {role} column is {common[side]!r}, since {frames[1 - side].argument} has no {columns[side]!r} as "
        f"{frames[side].argument} has; {role}= takes other columns",
    )


def _check_prepared(judgments: JudgmentSets, run: Frame, named: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    """Refuse prepared judgments that were read by another column than the one that both tables have."""
    for role, (column, names) in judgments.defaults.items():
        if named[role] is None:
            common = common_column((column, columns[role]), (names, run.names))
            if common is not None and common[0] != column:
                raise ValueError(
                    f"{judgments.name} was read by the {role} column {column!r}, which {run.argument} lacks; both have "
                    f"{common[1]!r}: name it, {role}={common[0]!r}"
                )


def _refuse_several_runs(frame: Frame, columns: Mapping[str, str], groups: QueryRows, documents: Ids) -> None:
    """Refuse a frame that holds several runs, if a column names the run of each row."""
    name = run_column(frame.names, columns.values())
    if name is not None:
        try:
            runs = QueryRows.of(frame.texts(name))
        except (TypeError, ValueError):  # numbers or nulls, which name no runs
            return
        refuse_several_runs(frame.argument, name, runs, groups, documents)


def _remarks_on_order(
    frame: Frame, columns: Mapping[str, Any], score: ColumnName | None, groups: QueryRows, scores: Any
) -> tuple[str, ...]:
    """Return what a result has to say about the scores that order the documents.

    `columns`: the columns by role. `score`: the column of scores that the caller named.
    """
    if "score" not in columns:
        return ()
    if score is not None and names_ranks(score):
        warn_of_ranks(score, groups, scores)
    remarks = remarks_on_scores(groups, scores)
    rank = frame.find("rank", None)
    if rank is None or rank in columns.values():
        return remarks
    try:
        ranks = frame.numbers(rank)
    except (TypeError, ValueError):  # the column holds something else
        return remarks
    return remarks + remarks_on_ranks(groups, scores, ranks, (columns["score"], rank))


def pair_of(names: ColumnNames, argument: str, sides: tuple[str, str] = ("qrels_df", "run_df")) -> _Pair:
    """Return the names of a column on both sides, which by default are the qrels and the run."""
    pair = names if isinstance(names, tuple) else (names, names)
    kinds = (str, int, np.integer, list) if argument == "query" else (str, int, np.integer)
    if len(pair) == 2 and all(name is None or isinstance(name, kinds) for name in pair):
        return pair
    several = ", a list of those of one key" if argument == "query" else ""
    raise TypeError(
        f"{argument} must be the name of a column{several}, or a pair of names in {' and '.join(sides)}, not {names!r}"
    )


def check_pair(judgments: Frame, run: Frame, pair: _Pair) -> None:
    """Refuse a pair of columns for the queries if both frames have both, since one key of the two may be meant."""
    if type(pair[0]) is list or pair[0] == pair[1]:
        return
    if all(name in frame.names for name in pair for frame in (judgments, run)):
        raise ValueError(
            f"query={pair!r} names a column of {judgments.argument} and one of {run.argument}, which both have both "
            f"columns: for one key of the two, write query={[*pair]!r}; if the pair is meant, leave out {pair[1]!r} in "
            f"{judgments.argument}"
        )


def _check_one_table(frame: Frame, argument: str, pair: _Pair) -> None:
    """Refuse a pair of columns that one frame has, which holds both sides."""
    if pair[0] != pair[1] and all(name in frame.names for name in pair):
        key = f", or the list {[*pair]!r} for one key of both" if argument == "query" else ""
        raise ValueError(
            f"{argument}={pair!r} names columns of two tables, and {frame.argument} is one: name one column{key}"
        )
