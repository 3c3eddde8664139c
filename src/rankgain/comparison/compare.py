"""The function `compare`, which evaluates several runs in any form."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Set
from functools import partial
from numbers import Number
from typing import Any, Literal, Never, Unpack, overload

import numpy as np

from rankgain import _backend
from rankgain.choices import Missing, Queries, Ties, Truths, check_choice, check_choices
from rankgain.comparison.aligned import QUERIES, on_common_queries
from rankgain.comparison.comparison import Comparison, comparison_of
from rankgain.comparison.evidence import Evidence
from rankgain.comparison.truths import OWN_TRUTHS, SameTruth
from rankgain.data.answers import hits_of, run_of_answers
from rankgain.data.column_names import ColumnName
from rankgain.data.given import Given, is_file, is_stream, recognise
from rankgain.data.other_tools import is_of_ranx
from rankgain.errors import quoted
from rankgain.inputs.any import COLUMN_ROLES, InputRules, columns_by_side, rankings_by_run, rankings_of, typed_as
from rankgain.inputs.frames import check_pair, pair_of
from rankgain.inputs.judgments import judgments
from rankgain.metrics.metric import Metric, Score, parse
from rankgain.rankings import Rankings
from rankgain.results.evaluation import AS_GIVEN, Evaluation
from rankgain.results.export import counting_bar
from rankgain.results.summary import counts_of_part
from rankgain.scalars import check_number

USUAL_METRICS = "ndcg@10", "mrr@10"


Requested = str | Metric | Iterable[str | Metric] | None


@overload
def compare(
    truth: Any,
    runs: Mapping[str, Any],
    metrics: Requested = None,
    *,
    judged_only: bool = False,
    queries: Queries = "all",
    truths: Truths = "same",
    progress: bool = False,
    **rules: Unpack[InputRules],
) -> Comparison: ...
@overload
def compare(
    truth: Any,
    runs: Any,
    metrics: Requested = None,
    *,
    run: ColumnName,
    judged_only: bool = False,
    queries: Queries = "all",
    progress: bool = False,
    **rules: Unpack[InputRules],
) -> Comparison: ...
@overload
def compare(
    runs: Mapping[str, Rankings | Evaluation],
    /,
    *,
    metrics: Requested = None,
    queries: Queries = "all",
    truths: Truths = "same",
    progress: bool = False,
) -> Comparison: ...
@overload
def compare(
    *,
    runs: Mapping[str, Rankings | Evaluation],
    metrics: Requested = None,
    queries: Queries = "all",
    truths: Truths = "same",
    progress: bool = False,
) -> Comparison: ...
@overload
def compare(
    runs: Mapping[str, Mapping[Any, float]],
    /,
    *,
    values: Literal[True],
    metrics: str,
    higher_is_better: bool | None = True,
    queries: Queries = "all",
) -> Comparison: ...
@overload
def compare(
    *,
    runs: Mapping[str, Mapping[Any, float]],
    values: Literal[True],
    metrics: str,
    higher_is_better: bool | None = True,
    queries: Queries = "all",
) -> Comparison: ...
def compare(
    truth: Any = None,
    runs: Any = None,
    metrics: Requested = None,
    *more: Never,
    ties: Ties | None = None,
    missing: Missing = "zero",
    judged_only: bool = False,
    queries: Queries = "all",
    values: bool = False,
    higher_is_better: bool | None = True,
    truths: Truths = "same",
    run: ColumnName | None = None,
    progress: bool = False,
    **rules: Any,
) -> Comparison:
    """Evaluate several runs against the same judgments, which are read only once.

    Parameters
    ----------
    truth : truth, optional
        Anything that `judgments` accepts or returns. If all runs are Rankings, Evaluations or values, leave it out:
        the first argument is then `runs`.
    runs : mapping of str to run, or None
        The runs by name, each in any form: a dict of dicts of scores (see `from_qrels`), a data frame (`from_frames`),
        recommended ids (`from_recommendations`), a matrix of scores if `truth` is sparse (`from_scores`), the path of a
        file or an open one (see `evaluate`), the objects of other tools that `evaluate` accepts, Rankings, which
        include their judgments, or Evaluations. If `values`, dicts from query id to a value that was computed
        elsewhere. Or a list of ranx's Runs with distinct names; or one table or file of several runs, see `run`.
    metrics : str, Metric or iterable of them, optional
        What to compute, as in `Rankings.evaluate`. By default, ndcg@10 and mrr@10, or the metrics of the Evaluations
        if there are any. If `values`, the name of the values, which is required.
    ties : {"docid", "average", "stable", "best", "worst"}, optional
        The order of documents of equal score, as in `from_qrels`, for the runs that have scores. By default
        ``"docid"``.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that a run lacks are evaluated as empty lists or left out, as in `from_qrels`. Not for `values`.
    judged_only : bool, default False
        Whether unjudged documents are removed from the runs, as in `Rankings.limited`. Not for `values` or Evaluations.
    queries : {"all", "same", "common"}, default "all"
        Which queries to keep if the runs have different ones. ``"all"``: those of each run; then the table marks no
        best values. ``"same"``: raise an error. ``"common"``: those that all runs have, in the order of the first run.
    values : bool, default False
        Whether the runs are values by query instead of rankings.
    higher_is_better : bool or None, default True
        Whether higher values are better, or lower ones; None: neither. Only for `values`.
    truths : {"same", "own"}, default "same"
        For Rankings, which include their truth: whether it must be the same in all runs for each query (the documents
        with grades above 0, or all grades if a metric distinguishes judged documents that are not relevant), or each
        run is evaluated by its own, as for chunks of different sizes or two judges; `Evaluation.assumed` then says so.
        Grades in rank order (`from_ranked`) and Evaluations are not compared; scores (`from_scores`) as multisets of
        grades.
    run : str or int, optional
        The column that names the run of each row, if `runs` is one table with the rows of several runs; ``"tag"`` for a
        TREC file, whose lines end with the tag of their run. Names that are integers become text.
    progress : bool, default False
        Whether a bar of tqdm shows how many runs are done.
    **rules : any
        Other keyword arguments of the constructor for the form of the runs, such as the column names for `from_frames`:
        ``query``, ``doc``, ``relevance``, ``score``. They apply to all runs that are not Rankings.

    Returns
    -------
    Comparison
        A mapping from the name of each run to its Evaluation; printed, a table with the best values marked.

    Raises
    ------
    ValueError
        If `judgments`, the constructor for the form of a run or `Rankings.evaluate` would raise it (the message names
        the run); if `truth` is not given and a run needs it, or it is given with `values`; if `metrics` are given with
        Evaluations; if a value is infinite; if `runs` is empty; if `queries` or `truths` is unknown; if two Rankings
        have different truths for a query and `truths` is ``"same"``; if there is no column `run`; or if `queries`
        is ``"same"`` and the runs have different queries, or ``"common"`` and they have none in common.
    TypeError
        If `runs` is not a mapping from str to runs or, with `run`, a table or TREC file, if it is given before `truth`,
        if several metrics are not given as one list, if there are rules and all runs are Rankings or Evaluations, if a
        value is not a number, or if one of these calls would raise it.
    OSError
        If a file cannot be read.
    ImportError
        If `progress` and tqdm is not installed: ``pip install 'rankgain[progress]'``; or if pyarrow is needed for a
        file and not installed: ``pip install 'rankgain[arrow]'``.

    See Also
    --------
    Comparison : The result, with its tables and frames.
    judgments : Reads the judgments once for many calls.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
    >>> bm25 = {"q1": {"d2": 1.4, "d1": 0.9}, "q2": {"d7": 2.0}}
    >>> dense = {"q1": {"d1": 0.8, "d3": 0.7}, "q2": {"d5": 0.6}}
    >>> comparison = rg.compare(qrels, {"bm25": bm25, "dense": dense}, ["ndcg@10", "mrr@10"])
    >>> print(comparison)
    metric     bm25    dense
    -------  ------   ------
    ndcg@10  0.7398*  0.5000
    mrr@10   0.7500*  0.5000
    <BLANKLINE>
    *: the best
    ...

    Two runs in one table:

    >>> table = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [1, 2], "system": ["bm25", "dense"]}
    >>> rg.compare({"q1": {"d1": 1}}, table, ["recall@1"], run="system").means()
    {'bm25': {'recall@1': 1.0}, 'dense': {'recall@1': 0.0}}

    Values that were computed elsewhere, one per query:

    >>> mine, yours = {"q1": 0.5, "q2": 0.75}, {"q1": 0.5, "q2": 0.25}
    >>> rg.compare({"mine": mine, "yours": yours}, metrics="my score", values=True).best("my score")
    ['mine']
    """
    if more:
        listed = ", ".join(repr(str(metric)) for metric in (metrics, *more))
        raise TypeError(f"compare takes its metrics as one list: compare(truth, runs, [{listed}])")
    if "qrels" in rules:
        raise TypeError("compare() got an unexpected keyword argument 'qrels': write compare(truth, runs, metrics)")
    check_choice(queries, "queries", ("all", *QUERIES))
    check_choices(truths=truths)
    if runs is None:  # the only argument is the mapping of runs
        truth, runs = None, truth
    if run is not None:
        if truth is None or values:
            raise TypeError(f"run={run!r} takes truth and a table of runs: write compare(truth, table, run={run!r})")
        of_runs = {"ties": ties, "missing": missing}
        runs = rankings_by_run(truth, runs, run, {name: rule for name, rule in of_runs.items() if rule}, **rules)
        truth, rules = None, {}
    runs = _by_name(runs)
    _check_order(truth, runs)
    if not isinstance(runs, Mapping) or isinstance(runs, Evaluation):
        kind = type(runs).__name__
        raise TypeError(f"runs must be a mapping from name to run, not {kind}; name them: {{'a': first, 'b': second}}")
    evidence: dict[str, Evidence] = {}
    if values:
        if truth is not None or rules or ties is not None or missing != "zero" or judged_only:
            raise ValueError("values=True: values take no truth, rules, ties, missing or judged_only: leave them out")
        results = _given(runs, metrics, higher_is_better)
    else:
        _check_names(truth, runs)
        unread = sum(not isinstance(run, Evaluation) for run in runs.values())
        with counting_bar(progress, unread, "runs") as bar:
            results = _evaluated(runs, truth, metrics, ties, missing, judged_only, truths, rules, evidence, bar)
    lacks: dict[str, list[Any]] = {}
    if queries != "all" and results:
        results, _, lacks = on_common_queries(results, queries)
    again = None
    if truth is not None and not any(isinstance(run, (Rankings, Evaluation)) for run in runs.values()):
        given = {"ties": ties, "missing": missing, "judged_only": judged_only, **rules}
        again = partial(_by_other_judge, runs, [*next(iter(results.values()))], given)
    return comparison_of(results, evidence, lacks, again)


def _by_other_judge(runs: Mapping[str, Any], metrics: Requested, given: Mapping[str, Any], truth: Any) -> Comparison:
    """Evaluate the runs of a comparison with the judgments of another judge."""
    if given["judged_only"]:
        raise ValueError("human: unjudged documents were removed from the runs: compare without judged_only")
    for name, run in runs.items():
        if is_stream(run):
            raise ValueError(f"run {name!r}: an open file cannot be read once for each judge: give its path")
    try:
        return compare(truth, runs, metrics, **given)
    except (ValueError, TypeError) as error:
        raise (ValueError if isinstance(error, ValueError) else TypeError)(f"human: {error}") from error


def _evaluated(
    runs: Mapping[str, Any],
    truth: Any,
    metrics: Requested,
    ties: Ties | None,
    missing: Missing,
    judged_only: bool,
    truths: Truths,
    rules: Mapping[str, Any],
    evidence: dict[str, Evidence],
    bar: Any,
) -> dict[str, Evaluation]:
    """Evaluate each run, and add what warnings need of it to `evidence`. Runs read from files are not kept.

    `bar`: a progress bar, or None.
    """
    evaluated = [list(run) for run in runs.values() if isinstance(run, Evaluation)]
    if evaluated and metrics is not None:
        raise ValueError(
            "metrics: the runs are Evaluations, whose metrics are compared: leave metrics out, or choose some in "
            "test(metrics=...)"
        )
    if evaluated and judged_only:
        raise ValueError("judged_only: some runs are Evaluations: evaluate those with judged_only=True")
    chosen = (evaluated[0] if evaluated else USUAL_METRICS) if metrics is None else metrics
    requested = [chosen] if isinstance(chosen, (str, Metric)) else list(chosen)
    for metric in requested:  # reject misspelt metrics before reading input
        list(parse(metric))
    if rules and all(isinstance(run, (Rankings, Evaluation)) for run in runs.values()):
        raise TypeError(f"the runs are Rankings or Evaluations, which take no {', '.join(rules)}: leave it out")
    of_truth, of_runs = columns_by_side(rules)
    # Column names apply to the truth and to the runs only if they are tables.
    given = {name: _recognised(name, run, of_runs) for name, run in runs.items()}
    some_table = any(run.kind == "table" for run in given.values() if isinstance(run, Given))
    truth_is_table = False
    if truth is not None:
        truth = recognise(truth, "truth", of_truth, is_truth=True)
        truth_is_table = truth.kind == "table"
    if truth_is_table and isinstance(rules.get("query"), tuple):
        for run in given.values():
            if isinstance(run, Given) and run.kind == "table":
                check_pair(truth.frame, run.frame, pair_of(rules["query"], "query"))
    if truth_is_table and not some_table:
        of_runs = {name: column for name, column in of_runs.items() if name not in ("query", "doc")}
    of_runs = {name: value for name, value in rules.items() if name not in COLUMN_ROLES} | of_runs
    of_missing: dict[str, Any] = {} if missing == "zero" else {"missing": missing}  # some forms do not take `missing`
    if truth is not None and truth.kind != "judgments":
        if some_table and not truth_is_table:
            of_truth = {name: column for name, column in of_truth.items() if name == "relevance"}
        truth = typed_as(given.values(), judgments(truth, **of_truth), of_runs)
    results = {}
    same = SameTruth(requested, "truths='own'") if truths == "same" else None
    for name, run in given.items():
        if isinstance(run, Evaluation):
            results[name] = run
            continue
        try:
            if not isinstance(run, Rankings):
                if truth is None:
                    raise ValueError("no truth was given, which only Rankings include: write compare(truth, runs)")
                run = rankings_of(
                    truth, run, {"ties": ties} if ties else {}, unused=some_table, **of_missing, **of_runs
                )
            run = run if judged_only is False else run.limited(judged_only=judged_only)
            results[name] = run.evaluate(*requested)
            if truths == "own":
                results[name].assumed += (OWN_TRUTHS,)
            evidence[name] = Evidence(run)
            if is_file(runs[name]):
                evidence[name].release(results[name])
        except (ValueError, TypeError) as error:
            raise _of_run(name, error) from error
        if same is not None:
            same.check(f"run {name!r}", run)
        if bar is not None:
            bar.update()
    return results


def _recognised(name: str, run: Any, columns: Mapping[str, Any]) -> Any:
    """Return what a run is, unless it was made by rankgain."""
    if isinstance(run, (Rankings, Evaluation)):
        return run
    try:
        return recognise(run, "run", columns)
    except (ValueError, TypeError) as error:
        raise _of_run(name, error) from error


def _of_run(name: str, error: Exception) -> Exception:
    """Return an error with the name of the run in front, in place of the argument."""
    kind = ValueError if isinstance(error, ValueError) else TypeError
    return kind(f"run {name!r}: {str(error).removeprefix('run: ')}")


def _by_name(runs: Any) -> Any:
    """Convert a list of ranx's Runs to a mapping if their names differ; return anything else unchanged."""
    if isinstance(runs, (list, tuple)) and all(map(is_of_ranx, runs)):
        named = {run.name: run for run in runs if isinstance(run.name, str)}
        return named if len(named) == len(runs) else runs
    return runs


def _check_order(truth: Any, runs: Any) -> None:
    """Raise TypeError if the runs were given before the truth.

    A mapping of runs is recognised because it is nested one level deeper than the truth.
    """
    if _depth(truth) <= _depth(runs):
        return
    if all(isinstance(run, (Rankings, Evaluation)) for run in truth.values()):
        raise TypeError("the runs are Rankings or Evaluations, which need no truth: write compare(runs, metrics=...)")
    raise TypeError("the runs are given before the truth: write compare(truth, runs, metrics)")


def _check_names(truth: Any, runs: Mapping[str, Any]) -> None:
    """Raise TypeError if `runs` is a single run, so that its keys are queries instead of names of runs."""
    name, run = next(iter(runs.items()), (None, None))
    is_query = isinstance(run, Mapping) or (isinstance(truth, Mapping) and name in truth)
    if is_query and isinstance(run, (Mapping, list, tuple)) and len(run) and not _is_run(run):
        raise TypeError(f"runs: {quoted(name)} is not a run but a query: name the run, compare(truth, {{'a': run}})")


def _depth(value: Any) -> int:
    """Return 2 for a mapping to runs, 1 for a mapping to text that is not a file path, and 0 for anything else."""
    if not isinstance(value, Mapping) or not value or recognise(value, "runs").kind == "table":
        return 0
    first = next(iter(value.values()))
    return 1 + os.path.exists(first) if isinstance(first, (str, os.PathLike)) else 2 * _is_run(first)


def _is_run(value: Any) -> bool:
    """Return whether a value holds more than the documents of one query."""
    if isinstance(value, Mapping):
        first = next(iter(value.values()), None)
    elif isinstance(value, (list, tuple)):
        first = next(iter(value), None)
    else:
        return not isinstance(value, (bytes, Number, Set)) and getattr(value, "ndim", 2) == 2
    is_row = isinstance(first, (list, tuple, Mapping, Set)) or getattr(first, "ndim", 0) > 0
    return is_row or hits_of(first) is not None or run_of_answers(value, "run") is not None


def _given(runs: Mapping[str, Any], metrics: Any, higher_is_better: bool | None) -> dict[str, Evaluation]:
    """Make Evaluations from values that were computed elsewhere."""
    if not isinstance(metrics, str):
        raise ValueError("values=True: name the values: metrics='my score'")
    if higher_is_better is not None and not isinstance(higher_is_better, bool):
        raise TypeError(f"higher_is_better must be True, False or None, not {higher_is_better!r}")
    score, results = Score.of(metrics, higher_is_better), {}
    for name, run in runs.items():
        if not isinstance(run, Mapping):
            raise TypeError(
                f"run {name!r}: values=True: must be a mapping from query to value, not {type(run).__name__}"
            )
        vector = np.empty(len(run))
        for row, (query, value) in enumerate(run.items()):
            vector[row] = check_number(value, f"run {name!r}: query {query!r}: a value")
            if math.isinf(vector[row]):
                raise ValueError(f"run {name!r}: query {query!r}: the value is infinite: it has no mean")
        counts = counts_of_part(len(run))
        results[name] = Evaluation(
            {score: vector}, list(run), None, None, None, _backend.name, counts, None, (AS_GIVEN,)
        )
    return results
