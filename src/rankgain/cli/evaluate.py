"""The command `rankgain eval`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from rankgain.cli.options import add_given, add_level, add_shared, argument, metric_name
from rankgain.cli.reading import check_files, check_rules, named_rankings
from rankgain.cli.writing import write_output
from rankgain.comparison.comparison import Comparison
from rankgain.metrics.metric import MetricKey
from rankgain.results.intervals import bounds_of
from rankgain.results.peers import PEERS, peer_of
from rankgain.tools.reports import FORMATS, SPREADS, WITH_INTERVALS, EvaluationIntervals, worst_queries
from rankgain.tools.sample import sample


def add(commands: Any) -> None:
    """Add the command."""
    evaluate = commands.add_parser(
        "eval",
        help="evaluate runs against qrels",
        description="Evaluate runs against qrels, TREC files or parquet, CSV and JSON files, which are recognised by "
        "their content. Several runs are shown side by side, the best marked.",
        epilog="`rankgain metrics` lists all metrics. Parameters: -m 'ndcg(gain=exponential)@10'",
    )
    evaluate.add_argument(
        "files",
        nargs="*",
        metavar="QRELS RUN",
        help="the qrels file and one or more run files, or one table that holds both; -: standard input",
    )
    evaluate.add_argument("--sample", action="store_true", help="evaluate the qrels and run that ship with rankgain")
    forms = {
        "json": "JSON instead of a table",
        "csv": "comma-separated values in full precision: run, metrics; with --per-query: run, query, metrics",
        "trec": "trec_eval's lines: metric, query or all, value; with several runs, each begins with a line runid",
    }
    add_shared(evaluate, forms, metric_name)
    evaluate.add_argument(
        "--like", type=_peer, metavar="TOOL", help=f"follow the rules of another tool: {', '.join(PEERS)}"
    )
    add_given(evaluate)
    evaluate.add_argument(
        "--tie-spread",
        action="store_true",
        help="show the worst, expected and best value over the orders of tied documents",
    )
    evaluate.add_argument("--interval", action="store_true", help="show a confidence interval of each mean, of one run")
    add_level(evaluate, "--interval")
    for name, word, example in (("lowest", "smallest", "utility"), ("highest", "largest", "dcg")):
        text = f"for --interval: the {word} value of a metric without such a bound, as {example}"
        evaluate.add_argument(f"--{name}", type=float, metavar="X", help=text)
    evaluate.add_argument("--per-query", action="store_true", help="one row per query (and run)")
    evaluate.add_argument("--worst", type=int, metavar="N", help="list the N worst queries of each metric (and run)")
    evaluate.set_defaults(parser=evaluate, run=_run)


@argument
def _peer(text: str) -> str:
    return peer_of(text).name


def _run(options: argparse.Namespace) -> None:
    if options.sample == bool(options.files):
        options.parser.error("give a qrels file and a run file, one table that holds both, or --sample")
    files = sample() if options.sample else options.files
    check_files(files, options)
    check_rules(options)
    if options.interval:
        _check_interval(files, options)
    for name in ("lowest", "highest"):
        if getattr(options, name) is not None and not options.interval:
            options.parser.error(f"argument --{name}: only allowed with argument --interval")
    if options.tie_spread and options.given is not None:
        options.parser.error("argument --tie-spread: not allowed with argument --given")
    if options.worst is not None:
        _check_worst(options)
    runs = named_rankings(files, options)
    if options.tie_spread:
        spreads = {name: run.tie_spread(*options.metric, threads=options.threads) for name, run in runs}
        text = SPREADS[options.form](spreads, options.per_query)
    else:
        rules = {name: getattr(options, name) for name in ("like", "given", "threads")}
        results = {name: run.evaluate(*options.metric, **rules) for name, run in runs}
        if options.interval:
            (result,) = results.values()
            ends = {key: result.interval(key, options.level, **_missing_bounds(key, options)) for key in result}
            text = WITH_INTERVALS[options.form](Comparison(results), False, EvaluationIntervals(options.level, ends))
        elif options.worst is not None:
            text = worst_queries(results, options.worst)
        else:
            text = FORMATS[options.form](Comparison(results), options.per_query)
    write_output(text, options.output)


def _check_worst(options: argparse.Namespace) -> None:
    for name in ("tie_spread", "interval", "per_query"):
        if getattr(options, name):
            options.parser.error(f"argument --worst: not allowed with argument --{name.replace('_', '-')}")
    if options.form != "text":
        options.parser.error(f"argument --worst: not allowed with argument --{options.form}")
    if options.worst < 1:
        options.parser.error(f"argument --worst: must be 1 or more, not {options.worst}")


def _missing_bounds(key: MetricKey, options: argparse.Namespace) -> dict[str, float | None]:
    """Return the bounds of --lowest and --highest that a metric lacks."""
    given = {"lowest": options.lowest, "highest": options.highest}
    return {name: given[name] for name, bound in zip(given, bounds_of(key), strict=True) if math.isinf(bound)}


def _check_interval(files: Sequence[str], options: argparse.Namespace) -> None:
    if len(files) > 2 or options.run_column is not None:
        options.parser.error("argument --interval: needs one run; for several, see rankgain compare")
    for name in ("tie_spread", "per_query"):
        if getattr(options, name):
            options.parser.error(f"argument --interval: not allowed with argument --{name.replace('_', '-')}")
    if options.form not in WITH_INTERVALS:
        options.parser.error(f"argument --interval: not allowed with argument --{options.form}")
