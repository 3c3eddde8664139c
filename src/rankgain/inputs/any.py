"""`evaluate`: choose the constructor that fits the judgments and the run, then evaluate the run."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, get_overloads, overload

from rankgain.choices import Handed, Peer, RuleChoices
from rankgain.data.advice.foreign import is_plain_number
from rankgain.data.column_names import ColumnName, has_columns, has_usual_columns
from rankgain.data.files import is_standard_input
from rankgain.data.given import Given, recognise
from rankgain.data.id_lists import refuse_scores
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.errors import escaped, unexpected
from rankgain.inputs.frames import ColumnNames, check_pair, columns_of_run, frames_by_run, from_frames, pair_of
from rankgain.inputs.judgments import judgments
from rankgain.inputs.qrels import from_qrels
from rankgain.inputs.recommendations import from_recommendations
from rankgain.inputs.rows import from_rows, has_rows_by_query
from rankgain.inputs.scores import from_scores
from rankgain.inputs.trec import read_trec, trec_by_tag
from rankgain.metrics.metric import Metric, each_of, parse
from rankgain.metrics.program import planned
from rankgain.rankings import Rankings
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import bar_class, read_with_bar
from rankgain.scalars import id_kind, size_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EMPTY: Mapping[str, Any] = {}
_Requested = str | Metric | Iterable[str | Metric]
Result = TypeVar("Result")

AMBIGUOUS = (
    "truth and run both hold numbers, which may be labels and scores, relevant and recommended ids, or grades in rank "
    "order; use rankgain.from_scores(labels, scores), rankgain.from_recommendations(relevant, recommended) or "
    "rankgain.from_ranked(grades), then .evaluate(...)"
)


class InputRules(RuleChoices, total=False):
    """The keyword arguments of the constructors that `evaluate` and `compare` call."""

    query_ids: Iterable[Hashable] | None
    query: ColumnNames
    doc: ColumnNames
    relevance: ColumnName | None
    score: ColumnName | None
    rank: ColumnName | None
    relevant: ColumnName | None
    retrieved: ColumnName | None
    group_sizes: ArrayLike | None
    qid: ArrayLike | Sequence[Hashable] | None
    judged: ArrayLike | None
    mask: ArrayLike | None
    exclude: Any


@overload
def evaluate(
    truth: Any,
    run: Any,
    /,
    *metrics: _Requested,
    threads: int = 1,
    like: Peer | None = None,
    given: Handed | None = None,
    judged_only: bool = False,
    progress: bool = False,
    **rules: Unpack[InputRules],
) -> Evaluation: ...
@overload
def evaluate(
    *metrics: _Requested,
    truth: Any,
    run: Any,
    threads: int = 1,
    like: Peer | None = None,
    given: Handed | None = None,
    judged_only: bool = False,
    progress: bool = False,
    **rules: Unpack[InputRules],
) -> Evaluation: ...
def evaluate(
    *metrics: Any,
    truth: Any = None,
    run: Any = None,
    threads: int = 1,
    like: Peer | None = None,
    given: Handed | None = None,
    judged_only: bool = False,
    progress: bool = False,
    **rules: Any,
) -> Evaluation:
    """Evaluate a run against judgments in a single call, accepting both in any supported form.

    Write ``evaluate(truth, run, "ndcg@10")``, or ``evaluate(table, "ndcg@10")`` if one table holds both: a row per
    document, with a grade and a score, or a row per query, with lists of ids.

    It calls the constructor for the form of the run, then `Rankings.evaluate`. Files are recognised by their content:
    TREC files (see `read_trec`), parquet, Arrow, CSV and JSON (`from_frames`).

    Parameters
    ----------
    truth : any, optional
        Anything that `judgments` accepts, or its result; labels if the run is scores. Required, by position or keyword.
        Or one table that holds the run, too, as `from_frames` and `from_rows` read it.
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
    given : {"files", "scored"}, optional
        What the tool is handed, as in `Rankings.evaluate`.
    judged_only : bool, default False
        Whether unjudged documents are removed, as in `Rankings.limited`.
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
        If truth, run or metrics are not given, if `judged_only` is not a bool, if the constructor does not take a rule,
        or if both are arrays or lists of whole numbers, which may be ids as well as labels and scores: the error names
        the constructors.
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
    >>> rows = [{"query": "q1", "relevant": ["a"], "retrieved": ["b", "a"]}]
    >>> rg.evaluate(rows, "mrr").mean("mrr")
    0.5
    """
    arguments = list(metrics)
    options: dict[str, Any] = {"threads": threads, "like": like, "given": given, "progress": progress}
    if truth is None and arguments:
        truth = arguments.pop(0)
    if run is None and truth is not None and arguments and _are_metrics(arguments):
        return _limited(rankings_of_table(truth, **rules), judged_only).evaluate(*arguments, **options)
    if run is None and arguments:
        run = arguments.pop(0)
    if truth is None or run is None:
        others = f", not {', '.join(f'{name}=' for name in rules)}" if rules else ""
        raise TypeError(f"evaluate needs truth and a run{others}: rankgain.evaluate(truth, run, 'ndcg@10')")
    requests = each_of(arguments)
    if not requests:
        if keywords := rules.keys() & {"metric", "metrics"}:
            raise unexpected(evaluate, dict.fromkeys(keywords))
        _refuse_misspelt(truth, run, rules)
        raise TypeError("no metric was requested: rankgain.evaluate(truth, run, 'ndcg@10')")
    planned(requests)  # reject misspelt metric names before reading any input
    rankings = rankings_of(truth, run, progress=progress, **rules)
    return _limited(rankings, judged_only).evaluate(*requests, **options)


# Show only the signature of the most common call.
evaluate.__signature__ = signature(get_overloads(evaluate)[0])  # type: ignore[attr-defined]


def _limited(rankings: Rankings, judged_only: bool) -> Rankings:
    return rankings if judged_only is False else rankings.limited(judged_only=judged_only)


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


def _is_one_table(given: Given, rules: Mapping[str, Any]) -> bool:
    """Return whether a value is a table; a mapping has columns with usual names, or those that the rules name."""
    if given.kind != "table" or not isinstance(given.data, Mapping) or has_usual_columns(given.data):
        return given.kind == "table"
    columns = {name: rule for name, rule in rules.items() if name in COLUMN_ROLES | OF_LISTS and rule is not None}
    return bool(columns) and has_columns(given.data, columns)


def _refuse_misspelt(truth: Any, run: Any, rules: Mapping[str, Any]) -> None:
    """Refuse a misspelt metric beside a single table, where a run would stand."""
    names = run if isinstance(run, (list, tuple)) else (run,)
    may_be_metrics = all(isinstance(name, str) and not re.search(_OF_PATHS, name) for name in names)
    if may_be_metrics and _is_one_table(recognise(truth, "table", is_truth=True, is_table=True), rules):
        planned(tuple(names))


_OF_PATHS = r"[/\\]|\.[A-Za-z]\w*$"  # a separator or a suffix


def rankings_of_table(table: Any, optional: Mapping[str, Any] = EMPTY, /, **rules: Any) -> Rankings:
    """Make Rankings from a table that holds both truth and run, with one row per document or one row per query.

    `optional` holds rules that apply only if the constructor takes them.
    """
    given = recognise(table, "table", is_truth=True, is_table=True)
    if given.kind == "trec":
        name = escaped(os.fsdecode(given.data)) if isinstance(given.data, (str, os.PathLike)) else "the file"
        raise ValueError(f"{name} is a TREC file, which holds qrels or a run: give both files")
    if not _is_one_table(given, rules):
        raise TypeError("evaluate needs truth and a run: rankgain.evaluate(truth, run, 'ndcg@10')")
    by_query = not rules.keys().isdisjoint(OF_LISTS) or (rules.get("doc") is None and has_rows_by_query(given.frame))
    return _call(from_rows if by_query else from_frames, (given,), optional, rules)


def _call(
    constructor: Callable[..., Result], sides: Iterable[Any], optional: Mapping[str, Any], rules: dict[str, Any]
) -> Result:
    """Call a constructor with all `rules`, and with those `optional` rules that it takes."""
    taken = {name: rule for name, rule in optional.items() if name in (constructor.__kwdefaults__ or ())}
    return constructor(*sides, **taken, **rules)


def rankings_of(
    truth: Any,
    run: Any,
    optional: Mapping[str, Any] = EMPTY,
    *,
    unused: bool = False,
    progress: bool = False,
    **rules: Any,
) -> Rankings:
    """Make Rankings from truth and a run, using the constructor that fits the form of the run.

    `optional` holds rules that apply only if the constructor takes them. `unused` says whether a named column may be
    absent from both sides. `progress` says whether progress bars are shown while TREC files are read.
    """
    if isinstance(truth, Rankings) or isinstance(run, Rankings):
        raise TypeError("Rankings contain their judgments: call their method evaluate")
    if is_standard_input(truth) and is_standard_input(run):
        raise ValueError("truth and run cannot both be standard input")
    of_truth: dict[str, Any] = {}
    of_run: dict[str, Any] = {}
    if not COLUMN_ROLES.isdisjoint(rules):
        of_truth, of_run = columns_by_side(rules)
        rules = {name: value for name, value in rules.items() if name not in COLUMN_ROLES}
    truth = recognise(truth, "truth", of_truth, is_truth=True)
    run = recognise(run, "run", of_run)
    if truth.kind == run.kind == "keyed":
        _refuse_one_query(truth.data, run.data)
    if run.kind == "judgments":
        raise TypeError("run is Judgments, which are truth: truth comes first, evaluate(truth, run, ...)")
    if not unused and (of_truth or of_run):
        _check_used(of_truth, of_run, truth.kind == "table", run.kind == "table")
    if run.kind == "dicts" and truth.kind in ("dicts", "judgments"):
        return _call(from_qrels, (truth, run), optional, rules)
    if run.kind == truth.kind == "table":
        pairs = {name: (of_truth.get(name), of_run.get(name)) for name in ("query", "doc")}
        return _call(from_frames, (truth, run), optional, rules | of_truth | of_run | pairs)
    if run.kind in ("lists", "array", "series"):
        return _of_lists(truth, run, of_truth, optional, rules, progress)
    truth = prepared(truth, of_truth, progress)
    if run.kind == "dicts":
        return _call(from_qrels, (truth, run), optional, rules)
    if run.kind == "table":
        return _call(from_frames, (truth, run), optional, rules | of_run)
    if run.kind == "trec":
        return _call(read_trec, (truth, run.data), optional, rules | {"progress": progress})
    return _call(from_recommendations, (truth, run), optional, rules)


def rankings_by_run(
    truth: Any,
    runs: Any,
    run: Any,
    optional: Mapping[str, Any] = EMPTY,
    *,
    progress: bool = False,
    **rules: Any,
) -> dict[str, Rankings]:
    """Make Rankings of each run in one table, by the column `run`, or in one TREC file, by its tags.

    `optional`: as for `rankings_of`.
    """
    if isinstance(run, bool) or not isinstance(run, (str, int)):
        raise TypeError(f"run must be the name of a column of the table of runs, or 'tag' for a TREC file, not {run!r}")
    of_truth, of_run = columns_by_side(rules)
    pair = pair_of(rules.get("query"), "query")
    rules = {name: value for name, value in rules.items() if name not in COLUMN_ROLES}
    given = recognise(runs, "runs", of_run or {"run": run})
    if given.kind not in ("table", "trec"):
        raise TypeError(
            f"run={run!r} names the runs in one table or TREC file, not in {type(given.data).__name__}: leave it out "
            "if the runs have names already, as in {'a': first, 'b': second}"
        )
    if given.kind == "trec" and run != "tag":
        raise ValueError(f"run={run!r}: the lines of a TREC file name their run in the tag: write run='tag'")
    truth = recognise(truth, "truth", of_truth, is_truth=True)
    _check_used(of_truth, of_run, truth.kind == "table", given.kind == "table")
    if truth.kind == given.kind == "table":
        check_pair(truth.frame, given.frame, pair)
    judged = truth.data if truth.kind == "judgments" else prepared(truth, of_truth, progress)
    if given.kind == "table":
        return _call(frames_by_run, (judged, given, run), optional, rules | of_run)
    return _call(trec_by_tag, (judged, given.data), optional, rules | {"progress": progress})


def _refuse_one_query(truth: Mapping[Any, Any], run: Mapping[Any, Any]) -> None:
    """Refuse the grades and the scores of one query, which are not keyed by query."""
    if all(is_plain_number(next(iter(side.values()), None)) for side in (truth, run)):
        raise TypeError(
            "truth and run are mappings from document to number; they must be keyed by query: for a single query, "
            "write evaluate({'q': truth}, {'q': run}, ...)"
        )


def _of_lists(
    truth: Given,
    run: Given,
    of_truth: Mapping[str, Any],
    optional: Mapping[str, Any],
    rules: dict[str, Any],
    progress: bool,
) -> Rankings:
    """Make Rankings from a run without keys, which holds scores or recommended ids."""
    if run.values == "fractions" and truth.has_columns and run.kind != "lists":
        return _call(from_scores, (truth.data, run.data), optional, rules)
    if run.values == "fractions" and truth.values != "ids":  # document ids are never fractions
        if isinstance(run.data, tuple) and getattr(run.data[0], "ndim", 1) == 2:  # the run is a pair of matrices
            refuse_scores(run.data, run.argument)
        return _call(from_scores, (truth.data, run.data), EMPTY, rules)
    if run.values in _NUMBERS and truth.values in _NUMBERS:
        raise TypeError(AMBIGUOUS)
    relevant = prepared(truth, of_truth, progress) if truth.kind in ("table", "trec") else truth
    if run.unnamed and rules.get("query_ids") is None and _has_names(relevant):
        raise ValueError(
            f"the queries of truth have names, and those of run have none: write dict(zip(queries, {run.unnamed})), "
            "with the queries in the order of the answers"
        )
    return _call(from_recommendations, (relevant, run), optional, rules)


def _has_names(relevant: Given | Judgments) -> bool:
    """Return whether relevant ids are given by the names of queries, not by position."""
    given = recognise(relevant, "truth")
    return given.kind in ("dicts", "keyed") or (given.kind == "judgments" and type(given.data.query_ids) is not range)


def prepared(truth: Given, of_truth: Mapping[str, Any], progress: bool, subtopic: bool | str = False) -> Judgments:
    """Prepare truth in another form than the run."""
    if truth.kind != "trec":
        return judgments(truth, subtopic=subtopic, **(of_truth if truth.kind == "table" else EMPTY))
    with read_with_bar(truth.data, bar_class(progress)) as file:
        return judgments(Given("trec", file, truth.argument), subtopic=subtopic)


def typed_as(runs: Iterable[Any], judged: Judgments, columns: Mapping[str, Any]) -> Judgments:
    """Return judgments from a file without types with integers for ids, if those of all typed runs are integers.

    Runs from files without types follow the judgments, so that all runs name their queries alike.
    """
    given, sets = [run for run in runs if isinstance(run, Given)], judgment_sets(judged)
    if not sets.text_ids or len(given) < 2 or any(run.kind == "trec" for run in given):
        return judged
    kinds: dict[tuple[type, type], Any] = {}
    for run in given:
        with contextlib.suppress(TypeError, ValueError):  # raised again, with the name of the run, when it is read
            if run.kind == "table" and not run.frame.text_ids:
                names = columns_of_run(run.frame, columns)
                documents: type = int if run.frame.documents(names["doc"]).kind == "int" else str
                query = next(iter(run.frame.queries(names["query"]).names), "")
            elif run.kind in ("dicts", "keyed"):
                ids = next(filter(size_of, run.data.values()), ())
                documents, query = id_kind(next(iter(ids), "")), next(iter(run.data), "")
            else:
                continue
            kinds[id_kind(query), documents] = query
    if len(kinds) != 1:
        return judged
    (((_, documents), query),) = kinds.items()
    return Judgments(sets.matching([query], documents))


COLUMN_ROLES = {"query", "doc", "relevance", "score", "rank"}
OF_LISTS = {"relevant", "retrieved"}


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


_NUMBERS = {"integers", "fractions"}
