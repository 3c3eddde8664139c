"""`evaluate`: choose the constructor that fits the judgments and the run, then evaluate the run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from inspect import signature
from typing import Any, get_overloads, overload

from rankgain.choices import Peer
from rankgain.data.arrays import is_array
from rankgain.data.contents import contents
from rankgain.data.files import is_standard_input
from rankgain.data.forms import content, form_of
from rankgain.data.id_lists import refuse_scores
from rankgain.data.judgments import Judgments
from rankgain.data.tables.frame import Frame
from rankgain.errors import escaped, unexpected
from rankgain.inputs.frames import from_frames, pair_of
from rankgain.inputs.judgments import prepared
from rankgain.inputs.matrix import is_sparse_truth
from rankgain.inputs.qrels import from_qrels
from rankgain.inputs.recommendations import from_recommendations
from rankgain.inputs.rows import from_rows, has_rows_by_query, is_mapping_of_columns
from rankgain.inputs.scores import from_scores
from rankgain.inputs.trec import read_trec
from rankgain.metrics.metric import Metric, each_of, parse
from rankgain.rankings import Rankings
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import bar_class, shown

EMPTY: Mapping[str, Any] = {}
Requested = str | Metric | Iterable[str | Metric]

AMBIGUOUS = (
    "truth and run both hold numbers, which may be labels and scores, relevant and recommended ids, or grades in rank "
    "order; use rankgain.from_scores(labels, scores), rankgain.from_recommendations(relevant, recommended) or "
    "rankgain.from_ranked(grades), then .evaluate(...)"
)


@overload
def evaluate(
    truth: Any,
    run: Any,
    /,
    *metrics: Requested,
    threads: int = 1,
    like: Peer | None = None,
    progress: bool = False,
    **rules: Any,
) -> Evaluation: ...
@overload
def evaluate(
    *metrics: Requested,
    truth: Any,
    run: Any,
    threads: int = 1,
    like: Peer | None = None,
    progress: bool = False,
    **rules: Any,
) -> Evaluation: ...
def evaluate(
    *metrics: Any,
    truth: Any = None,
    run: Any = None,
    threads: int = 1,
    like: Peer | None = None,
    progress: bool = False,
    **rules: Any,
) -> Evaluation:
    """Evaluate a run against judgments in a single call, accepting both in any supported form.

    It calls the constructor for the form of the run, then `Rankings.evaluate`. Files are recognised by their content:
    TREC files (see `read_trec`), parquet, Arrow, CSV and JSON (`from_frames`).

    Parameters
    ----------
    truth : any, optional
        Anything that `judgments` accepts, or its result; labels if the run is scores. Required, by position or keyword.
    run : any, optional
        A dict of dicts of scores (see `from_qrels`), a data frame or records (`from_frames`), recommended ids
        (`from_recommendations`), a path or an open file, or fractional scores beside labels or a sparse matrix of users
        × items (`from_scores`). Required, by position or keyword.
    *metrics : str, Metric or iterable of them
        As in `Rankings.evaluate`; at least one.
    threads : int, default 1
        How many threads may share the queries, as in `Rankings.evaluate`.
    like : str, optional
        The tool whose rules to follow, as in `Rankings.evaluate`.
    progress : bool, default False
        Whether bars of tqdm are shown: how much of each TREC file is read, and as in `Rankings.evaluate`.
    **rules : any
        The keyword arguments of that constructor: ``ties``, ``missing``, ``query_ids`` …

    Returns
    -------
    Evaluation
        One vector per metric, one value per query.

    Raises
    ------
    TypeError
        If truth, run or metrics are not given, if the constructor does not take a rule, or if both are arrays or lists
        of whole numbers, which may be ids as well as labels and scores: the error names the constructors.
    ValueError
        If the constructor or `Rankings.evaluate` raises it.
    OSError
        If a file cannot be read.
    ImportError
        If `progress` is True and tqdm is not installed: ``pip install 'rankgain[progress]'``; or if pyarrow is needed
        for a file and not installed: ``pip install 'rankgain[arrow]'``.

    See Also
    --------
    compare : Evaluate several runs against one truth.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
    >>> run = {"q1": {"d2": 1.4, "d1": 0.9}, "q2": {"d7": 2.0}}
    >>> rg.evaluate(qrels, run, "ndcg@10", "mrr").mean("mrr")
    0.75
    >>> rg.evaluate([{"a"}, {"b", "c"}], [["b", "a"], ["c"]], ["recall@1", "mrr"]).mean()
    {'recall@1': 0.25, 'mrr': 0.75}
    >>> rg.evaluate("ndcg@10", truth=[[0, 2, 1]], run=[[0.2, 0.9, 0.1]])["ndcg@10"].round(4).tolist()
    [0.9502]
    """
    given = list(metrics)
    if truth is None and given:
        truth = given.pop(0)
    if run is None and truth is not None and given and _are_metrics(given):
        return rankings_of_table(truth, **rules).evaluate(*given, threads=threads, like=like, progress=progress)
    if run is None and given:
        run = given.pop(0)
    if truth is None or run is None:
        others = f", not {', '.join(f'{name}=' for name in rules)}" if rules else ""
        raise TypeError(f"evaluate needs truth and a run{others}: rankgain.evaluate(truth, run, 'ndcg@10')")
    requests = each_of(given)
    if not requests:
        if keywords := rules.keys() & {"metric", "metrics"}:
            raise unexpected(evaluate, dict.fromkeys(keywords))
        raise TypeError("no metric was requested: rankgain.evaluate(truth, run, 'ndcg@10')")
    for metric in requests:  # reject misspelt metric names before reading any input
        list(parse(metric))
    rankings = rankings_of(truth, run, progress=progress, **rules)
    return rankings.evaluate(*requests, threads=threads, like=like, progress=progress)


# Show only the signature of the most common call.
evaluate.__signature__ = signature(get_overloads(evaluate)[0])  # type: ignore[attr-defined]


def _are_metrics(requests: list[Any]) -> bool:
    """Return whether the arguments after truth begin with a metric rather than a run.

    A string is a metric if it can be parsed as a metric name and no file has that path.
    """
    first = requests[0]
    if isinstance(first, (list, tuple)) and first and len(requests) == 1:
        return all(isinstance(request, (str, Metric)) for request in first) and _are_metrics([first[0]])
    if not isinstance(first, str):
        return isinstance(first, Metric)
    try:
        list(parse(first))
    except (ValueError, TypeError):
        return False
    return not os.path.lexists(first)


def rankings_of_table(table: Any, scored: Mapping[str, Any] = EMPTY, /, **rules: Any) -> Rankings:
    """Make Rankings from a table that holds both truth and run, with one row per document or one row per query.

    `scored` holds rules that apply only to tables with scores, i.e. to those with one row per document.
    """
    table = contents(table, "table", beir=True, by_query=True)
    form = form_of(table, "table")
    if form == "file":
        name = escaped(os.fsdecode(table)) if isinstance(table, (str, os.PathLike)) else "the file"
        raise ValueError(f"{name} is a TREC file, which holds qrels or a run: give both files")
    if form != "frame" and not (form == "lists" and is_mapping_of_columns(table)):
        raise TypeError("evaluate needs truth and a run: rankgain.evaluate(truth, run, 'ndcg@10')")
    if not rules.keys().isdisjoint(("relevant", "retrieved")) or (
        rules.get("doc") is None and has_rows_by_query(Frame(table, "table"))
    ):
        return from_rows(table, **rules)
    return from_frames(table, **rules, **scored)


def rankings_of(
    truth: Any,
    run: Any,
    scored: Mapping[str, Any] = EMPTY,
    *,
    unused: bool = False,
    progress: bool = False,
    **rules: Any,
) -> Rankings:
    """Make Rankings from truth and a run, using the constructor that fits the form of the run.

    `scored` holds rules that apply only to constructors that take scores. `unused` says whether a named column may be
    absent from both sides. `progress` says whether progress bars are shown while TREC files are read.
    """
    if isinstance(truth, Rankings) or isinstance(run, Rankings):
        raise TypeError("Rankings contain their judgments: call their method evaluate")
    if isinstance(run, Judgments):
        raise TypeError("run is Judgments, which are truth: truth comes first, evaluate(truth, run, ...)")
    if is_standard_input(truth) and is_standard_input(run):
        raise ValueError("truth and run cannot both be standard input")
    of_truth: dict[str, Any]
    of_run: dict[str, Any]
    if COLUMNS.isdisjoint(rules):
        of_truth, of_run = {}, {}
    else:
        of_truth, of_run = columns_by_side(rules)
        rules = {name: value for name, value in rules.items() if name not in COLUMNS}
    truth = contents(truth, "truth", of_truth.get("query"), of_truth.get("doc"), beir=True)
    run = contents(run, "run", of_run.get("query"), of_run.get("doc"))
    form = form_of(run, "run", named=of_run.values())
    truth_form = "" if isinstance(truth, Judgments) else form_of(truth, "truth", named=of_truth.values())
    if not unused:
        _check_used(of_truth, of_run, truth_form == "frame", form == "frame")
    if is_sparse_truth(truth) and is_array(run) and content(run) == "fractions":
        return from_scores(truth, run, **rules, **scored)
    if form == "lists" and (kind := content(run)) in NUMBERS:
        if kind == "fractions" and not _holds_ids(truth):  # document ids are never fractions
            if isinstance(run, tuple) and getattr(run[0], "ndim", 1) == 2:  # the run is a pair of matrices
                refuse_scores(run, "run")
            return from_scores(truth, run, **rules)
        if content(truth) in NUMBERS:
            raise TypeError(AMBIGUOUS)
    if form == truth_form == "frame":
        pairs = {name: (of_truth.get(name), of_run.get(name)) for name in ("query", "doc")}
        return from_frames(truth, run, **(of_truth | of_run | pairs), **rules, **scored)
    if (
        truth_form and truth_form != form and (truth_form, form) != ("dicts", "lists")
    ):  # otherwise, the constructor of the form reads `truth`
        with shown(truth, bar_class(progress) if truth_form == "file" else None) as source:
            truth = prepared(source, truth_form, **(of_truth if truth_form == "frame" else EMPTY))
    if form == "lists":
        return from_recommendations(truth, run, **rules)
    if form == "frame":
        return from_frames(truth, run, **of_run, **rules, **scored)
    if form == "file":
        return read_trec(truth, run, progress=progress, **rules, **scored)
    return from_qrels(truth, run, **rules, **scored)


COLUMNS = {"query", "doc", "relevance", "score", "rank"}


def columns_by_side(rules: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the column names into those for truth and those for the run.

    A single name for the query column or the document column applies to both sides.
    """
    pairs = {name: pair_of(rules.get(name), name) for name in ("query", "doc")}
    of_truth = {"query": pairs["query"][0], "doc": pairs["doc"][0], "relevance": rules.get("relevance")}
    of_run = {
        "query": pairs["query"][1],
        "doc": pairs["doc"][1],
        "score": rules.get("score"),
        "rank": rules.get("rank"),
    }
    return (
        {name: column for name, column in of_truth.items() if column is not None},
        {name: column for name, column in of_run.items() if column is not None},
    )


def _check_used(
    of_truth: Mapping[str, Any], of_run: Mapping[str, Any], truth_is_frame: bool, run_is_frame: bool
) -> None:
    """Raise a TypeError if a column is named for a side that is not a table."""
    unread = [] if run_is_frame else [*of_run]
    if not truth_is_frame:
        unread += of_truth
    for name in unread:
        if name in ("query", "doc"):
            if not (truth_is_frame or run_is_frame):
                raise TypeError(f"{name}= names a column, and neither truth nor the run is a table: leave it out")
        else:
            side = "truth" if name == "relevance" else "the run"
            raise TypeError(f"{name}= names a column of {side}, which is not a table: leave it out")


NUMBERS = {"whole numbers", "fractions"}


def _holds_ids(truth: Any) -> bool:
    """Return whether truth holds document ids for each query, rather than labels."""
    if isinstance(truth, (list, tuple)):
        return any(isinstance(documents, (Set, Mapping)) for documents in truth)
    return isinstance(truth, (Judgments, Mapping)) or hasattr(truth, "tocsr")
