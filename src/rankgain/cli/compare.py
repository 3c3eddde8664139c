"""The command `rankgain compare`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rankgain.choices import CHOICES, Correction
from rankgain.cli.options import add_choice, add_default, add_level, add_shared, metric_name, path, split_limit
from rankgain.cli.reading import check_files, check_rules, default_metrics, extra, named_rankings, run_names
from rankgain.cli.writing import write_output
from rankgain.comparison.aligned import QUERIES
from rankgain.comparison.comparison import Comparison, comparison_of
from rankgain.comparison.corrected_tests import INVALID
from rankgain.comparison.difference import RANDOM
from rankgain.comparison.evidence import Evidence
from rankgain.comparison.gate import WORST, Gate, check_metrics
from rankgain.comparison.guards import check_allowance, check_drop
from rankgain.comparison.testing import MAX_T, SINGLE, check_baselines
from rankgain.comparison.truths import OWN_TRUTHS, SameTruth
from rankgain.data.files import opened
from rankgain.data.given import recognise
from rankgain.data.writing import write_whole
from rankgain.inputs.rows import has_rows_by_query
from rankgain.results.evaluation import Evaluation
from rankgain.results.text import check_export
from rankgain.scalars import id_text
from rankgain.tools.reports import COMPARED, CORRECTED, further_notes


def add(commands: Any) -> None:
    """Add the command."""
    compare = commands.add_parser(
        "compare",
        help="test which run is better, by how much, and whether the difference may be chance",
        description="Compare runs by a paired sign-flip randomization test: each with the first one, or with "
        "--baseline. The test is exact if few queries differ.",
    )
    compare.add_argument(
        "files",
        nargs="*",
        metavar="QRELS RUN RUN",
        help="the qrels file and two or more run files, or tables with a row per query that hold both",
    )
    forms = {
        "json": "JSON",
        "csv": "comma-separated values in full precision, a row for each difference",
        "markdown": "a Markdown table",
        "latex": "a LaTeX table",
    }
    add_shared(compare, forms, _limited_metric)
    baseline = "the run to compare the others with (default: the first); may be repeated"
    compare.add_argument("--baseline", metavar="NAME", action="append", help=baseline)
    compare.add_argument("--all-pairs", action="store_true", help="compare all pairs of runs")
    compare.add_argument(
        "--human",
        type=path,
        metavar="FILE",
        help="QRELS are by a language model: correct it by human judgments of a random sample of the queries, and test "
        "the corrected means",
    )
    compare.add_argument("--verbose", action="store_true", help="also print how to read the numbers")
    compare.add_argument("--groups", metavar="FILE", help="also test by group: a file with lines of query, tab, group")
    compare.add_argument(
        "--weights", metavar="FILE", help="weights of queries: a file with lines of query, tab, weight"
    )
    compare.add_argument(
        "--clusters", metavar="FILE", help="flip queries of a cluster together: lines of query, tab, cluster"
    )
    compare.add_argument(
        "--margin", type=float, metavar="X", help="test non-inferiority: the loss that is still acceptable"
    )
    add_choice(compare, "correction", MAX_T, "how to correct for several comparisons", "none")
    add_choice(compare, "family", "metric", "correct over the runs of each metric, or over all tests")
    add_choice(compare, "intervals", SINGLE, "intervals that each hold at the level, or all together")
    add_choice(compare, "method", RANDOM, "sign flips, all sign vectors, or Student's t, which needs SciPy")
    add_level(compare)
    add_default(compare, "--flips", 99_999, "the number of random flips", metavar="N")
    add_default(compare, "--seed", 0, "the seed of the flips", metavar="N")
    different = "with --missing skip, if runs have different queries: refuse, or use the common ones"
    add_default(compare, "--queries", "same", different, choices=QUERIES)
    judged = "of tables with a row per query: refuse different truths of a query, or take each run's own"
    add_choice(compare, "truths", "same", judged)
    compare.add_argument(
        "--report", type=path, metavar="FILE", help="also write a self-contained HTML page (needs Jinja2)"
    )
    papers = compare.add_argument_group("tables for papers, with --markdown or --latex")
    papers.add_argument("--digits", type=int, metavar="N", help="decimal places of means and differences (default: 4)")
    papers.add_argument("--percent", action="store_true", help="multiply the values of metrics from 0 to 1 by 100")
    papers.add_argument("--caption", metavar="TEXT", help="the caption of the first table")
    papers.add_argument("--label", metavar="TEXT", help="its label, or in Markdown the id of an anchor")
    papers.add_argument(
        "--part", choices=CHOICES["part"], help="the table for papers or that of the differences (default: all)"
    )
    gate = compare.add_argument_group("a gate for builds: exit status 3 if the second run is worse than the first")
    gate.add_argument(
        "--gate",
        action="store_true",
        help="decide whether RUN 2 may replace RUN 1: by any -m, where -m 'ndcg@10>=0.4' also sets a floor; with "
        "--margin X, a metric also passes if it is shown not to be worse by more than X; with --groups, a group that "
        "is worse fails",
    )
    gate.add_argument("--strict", action="store_true", help="fail if the gate is undecided")
    gate.add_argument(
        "--max-drop", type=_drop, metavar="X", help="fail if the mean over these queries is worse by more"
    )
    gate.add_argument(
        "--max-loss",
        type=_allowance,
        metavar="X[:N|:N%]",
        help="fail if any query (more than N queries, or N%% of them) loses more than X",
    )
    gate.add_argument(
        "--worst", type=int, metavar="N", help=f"list N queries with the largest losses (default: {WORST})"
    )
    compare.set_defaults(parser=compare, run=_run, sample=False, like=None, tie_spread=False)


def _limited_metric(text: str) -> str:
    """Check an argument that is a metric, or a metric with a limit for its mean, such as ndcg@10>=0.4."""
    metric, _ = split_limit(text)
    metric_name(metric)
    return text


def _drop(text: str) -> float:
    try:
        return check_drop(float(text), "the limit")
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of 0 or more, such as 0.02, not {text!r}") from None


def _allowance(text: str) -> Any:
    """Read 0.5, 0.5:2 or 0.5:1% as a loss, and how many queries may lose more."""
    loss, colon, queries = text.partition(":")
    try:
        share = queries.endswith("%")
        allowed = (float(queries[:-1]) / 100 if share else int(queries)) if colon else 0
        check_allowance((float(loss), allowed), "the limit")
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: write the largest loss, and how many queries may lose more, such as 0.5, 0.5:2 or 0.5:1%"
        ) from None
    return float(loss), allowed


def _run(options: argparse.Namespace) -> int:
    options.with_truth = _hold_truth(options)
    paths = options.files if options.with_truth else options.files[1:]
    if len(paths) < (2 if options.run_column is None else 1):
        options.parser.error(
            "give a qrels file and two or more run files, a file of several runs and --run, or two tables with a row "
            "per query"
        )
    floors = _check_gate(options)
    if options.all_pairs and options.baseline is not None:
        options.parser.error("argument --all-pairs: not allowed with argument --baseline")
    if options.run_column is None:
        _check_runs(run_names(paths), options)
    if options.verbose and options.form != "text":
        options.parser.error(f"argument --verbose: not allowed with argument --{options.form}")
    exports = _exports(options)
    _check_human(options)
    check_files([*options.files, *([options.human] if options.human else [])], options)
    check_rules(options)
    if options.report is not None:
        extra("jinja2", "report", "--report")
    if options.method == "t":
        extra("scipy.special", "stats", "--method t")
    results, evidence = {}, {}
    same = SameTruth(options.metric, "--truths own")
    for name, rankings in named_rankings(options.files, options):
        results[name] = rankings.evaluate(*options.metric, threads=options.threads)
        if options.with_truth and options.truths == "own":
            results[name].assumed += (OWN_TRUTHS,)
        elif options.with_truth:
            same.check(name, rankings)
        report = options.report is not None
        evidence[name] = Evidence(rankings).release(results[name], options.threads, report=report)
    if options.run_column is not None:
        _check_runs([*results], options)
    comparison = comparison_of(results, evidence)
    baseline = None if options.all_pairs else options.baseline or next(iter(results))
    correction: Correction | None = None if options.correction == "none" else options.correction
    if options.human is not None:
        return _corrected(comparison, baseline, correction, floors, options)
    shared = {name: getattr(options, name) for name in ("level", "flips", "seed", "queries", "threads")}
    shared["weights"] = None if options.weights is None else _by_query(read_weights(options.weights), results)
    clusters = None if options.clusters is None else read_labels(options.clusters, "cluster")
    shared["clusters"] = _by_query(clusters, results)
    of_tests = {name: getattr(options, name) for name in ("margin", "family", "intervals", "method")}
    tests = comparison.test(baseline, correction=correction, **shared, **of_tests)
    groups = gate = labels = None
    if options.groups is not None:
        labels = _by_query(read_labels(options.groups), results)
        groups = comparison.groups(labels, baseline, **shared)
    if options.gate:
        worst = WORST if options.worst is None else options.worst
        guards = {"max_drop": options.max_drop, "max_loss": options.max_loss}
        gate = tests.gate(strict=options.strict, floors=floors, **guards, groups=labels, worst=worst)
    if options.report is not None:
        from rankgain.comparison.report import page_of  # imported only here, since it needs Jinja2

        qrels = None if options.with_truth else os.path.basename(options.files[0])
        command = shown_command(options.arguments)
        page = page_of(tests, groups, comparison, evidence, qrels=qrels, command=command, gate=gate)
        write_whole(options.report, page.encode("utf-8"))
    text = COMPARED[options.form](tests, groups, gate, **exports)
    write_output(f"{text}\n{further_notes(tests, groups)}" if options.verbose else text, options.output)
    return 0 if gate is None else _announced(gate)


def _check_human(options: argparse.Namespace) -> None:
    """Refuse what is not valid for corrected values, with the reason."""
    if options.human is None:
        return
    for name, reason in INVALID.items():
        if getattr(options, name) != options.parser.get_default(name):
            options.parser.error(f"argument --{name.replace('_', '-')}: not allowed with argument --human: {reason}")
    for name in ("judged_only", "report"):
        if getattr(options, name):
            reason = "not allowed with argument --human"
            options.parser.error(f"argument --{name.replace('_', '-')}: {reason}")
    if options.with_truth:
        options.parser.error("argument --human: give the judgments and the runs in separate files")
    if "-" in options.files[1:]:
        options.parser.error("argument --human: standard input cannot be read once for each judge: give a file")


def _corrected(
    llm: Comparison,
    baseline: Any,
    correction: Correction | None,
    floors: Mapping[str, float],
    options: argparse.Namespace,
) -> int:
    """Correct a comparison by the human judgments of --human, test the corrected means, and write the result."""
    results, evidence = {}, {}
    for name, rankings in named_rankings([options.human, *options.files[1:]], options):
        results[name] = rankings.evaluate(*options.metric, threads=options.threads)
        evidence[name] = Evidence(rankings).release(results[name], options.threads, report=False)
    corrected = llm.corrected_by(comparison_of(results, evidence), level=options.level)
    chosen = {name: getattr(options, name) for name in ("flips", "seed", "threads")}
    tests = corrected.test(baseline, correction=correction, **chosen)
    limits = {"strict": options.strict, "floors": floors, "max_drop": options.max_drop}
    gate = tests.gate(**limits) if options.gate else None
    text = CORRECTED[options.form](corrected, tests, gate, **_exports(options))
    write_output(f"{text}\n{further_notes(tests, None)}" if options.verbose else text, options.output)
    return 0 if gate is None else _announced(gate)


def _hold_truth(options: argparse.Namespace) -> bool:
    """Return whether each file is a table with a row per query, which holds the judgments and a run."""
    if options.relevant is not None or options.retrieved is not None:
        return True
    if len(options.files) < 2 or not os.path.isfile(options.files[0]):
        return False
    given = recognise(options.files[0], "table", is_truth=True, is_table=True)
    return given.kind == "table" and has_rows_by_query(given.frame)


def _exports(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options for tables in papers, as keyword arguments of the functions that write the output."""
    names = "digits", "percent", "caption", "label", "part"
    given = {name: getattr(options, name) for name in names if getattr(options, name) not in (None, False)}
    if given and options.form not in ("markdown", "latex"):
        options.parser.error(f"argument --{next(iter(given))}: only allowed with argument --markdown or --latex")
    try:
        check_export(options.digits, options.percent, options.caption, options.label)
    except ValueError as error:
        options.parser.error(f"argument --{error}")
    return given


def _check_runs(names: Sequence[str], options: argparse.Namespace) -> None:
    """Refuse a single run, a baseline that is none of the runs, and a gate of other than two runs."""
    if len(names) < 2:
        options.parser.error(f"argument --run: {options.run_column} names a single run, {names[0]!r}: give two or more")
    if options.gate and len(names) != 2:
        options.parser.error("argument --gate: give a qrels file, the run before and the run after the change")
    try:
        check_baselines(names, options.baseline)
    except ValueError as error:
        options.parser.error(f"argument --{error}")


def _check_gate(options: argparse.Namespace) -> dict[str, float]:
    """Refuse invalid gates, and options of gates without --gate; return the floor of each metric that has one."""
    limits = [split_limit(text) for text in options.metric or ()]
    options.metric = [metric for metric, _ in limits] or None
    floors: dict[str, float] = {}
    for metric, limit in limits:
        if limit is None:
            continue
        if metric in floors:
            options.parser.error(
                f"argument --metric: {metric} has two limits, {floors[metric]:g} and {limit:g}: give one"
            )
        floors[metric] = limit
    if not options.gate:
        given = {
            name: getattr(options, name) not in (None, False) for name in ("strict", "max_drop", "max_loss", "worst")
        }
        for name, present in [*given.items(), ("metric", bool(floors))]:
            if present:
                detail = f" {next(iter(floors))}>=…" if name == "metric" else ""
                options.parser.error(f"argument --{name.replace('_', '-')}{detail}: only allowed with argument --gate")
        return {}
    if options.all_pairs:
        options.parser.error("argument --all-pairs: not allowed with argument --gate")
    if options.form not in ("text", "json", "markdown"):
        options.parser.error(f"argument --{options.form}: not allowed with argument --gate")
    if options.worst is not None and options.worst < 0:
        options.parser.error(f"argument --worst: must be 0 or more, not {options.worst}")
    try:
        check_metrics(options.metric or default_metrics(options), options.margin)
    except ValueError as error:
        options.parser.error(str(error))
    return floors


def _announced(gate: Gate) -> int:
    """Print the verdict of a gate to standard error, so that logs show it with --output; return the exit status."""
    print("\n".join([gate.verdict(), *gate.reasons]), file=sys.stderr)
    return 0 if gate.passed else 3


def shown_command(arguments: Sequence[str]) -> str:
    """Return the command to show in a report: quoted for a shell, with file names instead of paths."""
    import shlex

    return shlex.join(["rankgain", *(os.path.basename(part) or part for part in arguments)])


def _by_query(labels: Mapping[str, Any] | None, results: Mapping[str, Evaluation]) -> dict[Any, Any] | None:
    """Return what a file says about queries by the ids of the queries, which may be keys of several columns."""
    if labels is None:
        return None
    texts = {id_text(query): query for result in results.values() for query in result.query_ids}
    return {texts.get(text, text): label for text, label in labels.items()}


def read_labels(path: str, unit: str = "group") -> dict[str, str]:
    """Read the group, cluster or weight of each query from a file with a query, a tab and a label in each line."""
    labels: dict[str, str] = {}
    with opened(path, unit) as file:
        text, error = file.text()
    for number, line in enumerate(text.decode("utf-8", "surrogateescape").split("\n"), 1):
        query, tab, label = line.rstrip("\r").partition("\t")
        if not (tab or query):
            continue
        if not tab:
            raise ValueError(f"{path}:{number}: a line must be query, tab, {unit}, not {query[:80]!r}")
        if labels.setdefault(query, label) != label:
            raise ValueError(f"{path}:{number}: query {query!r} has two {unit}s, {labels[query]!r} and {label!r}")
    if error is not None:
        raise error
    return labels


def read_weights(path: str) -> dict[str, float]:
    """Read the weight of each query from a file with a query, a tab and a weight in each line."""
    weights = {}
    for query, text in read_labels(path, "weight").items():
        try:
            weights[query] = float(text)
        except ValueError:
            raise ValueError(f"{path}: query {query!r}: a weight must be a number, not {text!r}") from None
    return weights
