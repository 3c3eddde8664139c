"""The command `rankgain explain`."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from rankgain.cli.options import add_given, add_reading, argument, metric_name
from rankgain.cli.reading import check_files, check_rules, named_rankings
from rankgain.cli.writing import show
from rankgain.errors import counted
from rankgain.metrics.metric import parse, row_of
from rankgain.rankings import Rankings
from rankgain.results.peers import OWN, PEERS, explain, reference_of
from rankgain.results.text import below_table
from rankgain.scalars import id_text
from rankgain.tools.sample import sample

# What the readers of files look up, and this command does not offer.
UNUSED = {"tie_spread": False, "judged_only": False, "run_column": None, "form": "text", "output": None}


def add(commands: Any) -> None:
    """Add the command."""
    explain = commands.add_parser(
        "explain",
        help="explain the rules behind a metric",
        description="Print the formula, gain, discount, ideal and rules for ties, empty and missing queries of a "
        "metric, in rankgain or in another tool, or how two tools differ. With files, show how the value of a query is "
        "calculated; with --like and no --query-id, which rule makes the difference to the tool.",
    )
    explain.add_argument("metric", type=metric_name, metavar="METRIC", help="a metric, such as ndcg@10")
    explain.add_argument(
        "files", nargs="*", metavar="QRELS RUN", help="the qrels file and the run file, or one table that holds both"
    )
    explain.add_argument("--sample", action="store_true", help="use the qrels and run that ship with rankgain")
    explain.add_argument(
        "--query-id", metavar="ID", help="the query (default: that with the lowest value, of those with a chance)"
    )
    explain.add_argument("--limit", type=int, metavar="N", help="how many ranks to show (default: k, or 100)")
    add_reading(explain)
    explain.add_argument(
        "--like",
        action="append",
        type=_reference,
        metavar="TOOL",
        help=f"a tool: {', '.join((*PEERS, OWN.name))}, or a metric; twice to compare two (default: {OWN.name})",
    )
    add_given(explain)
    explain.set_defaults(parser=explain, run=_run, **UNUSED)


@argument
def _reference(text: str) -> str:
    return reference_of(text).name


def _run(options: argparse.Namespace) -> None:
    metric, tools = options.metric, options.like or []
    if options.sample and options.files:
        options.parser.error("argument --sample: not allowed with files")
    files = sample() if options.sample else options.files
    if not files:
        if options.query_id is not None or options.limit is not None:
            options.parser.error("arguments --query-id and --limit: give a qrels file and a run file, or --sample")
        show(f"{explain(metric, tools or None, given=options.given)}\n")
        return
    if len(files) > 2 or len(tools) > 1:
        options.parser.error("give a qrels file and a run file, or one table that holds both, and at most one --like")
    calculates = options.query_id is not None or not tools
    options.metric, options.like = [metric], tools[0] if tools and calculates else None
    check_files(files, options)
    check_rules(options)
    ((_, rankings),) = named_rankings(files, options)
    if not calculates:
        show(f"{rankings.attribution(metric, tools[0], given=options.given)}\n")
        return
    query, note = (options.query_id, "") if options.query_id is not None else _lowest_query(rankings, metric)
    # The argument is text, but query ids may be integers.
    query = next((known for known in rankings.query_ids if id_text(known) == query), query)
    shown = {name: getattr(options, name) for name in ("like", "given", "limit")}
    show(f"{rankings.calculation(metric, query, **shown)}\n{note}")


def _lowest_query(rankings: Rankings, metric: str) -> tuple[str, str]:
    """Return the query with the worst value of a metric, and a note on this choice.

    Queries without a relevant document, or with an empty list, are not considered.
    """
    ((key, record),) = parse(metric)
    relevant = f"num_rel(rel={record.rel})" if record.rel is not None else "num_rel"
    result = rankings.evaluate(metric, relevant, "num_ret")
    chance = (result[relevant] > 0) & (result["num_ret"] > 0) & ~np.isnan(result[key])
    if not chance.any():
        raise ValueError("no query has both a relevant document and a list; choose one by --query-id")
    direction = -1.0 if row_of(record.name).better < 0 else 1.0
    query = rankings.query_ids[int(np.argmin(np.where(chance, direction * result[key], np.inf)))]
    lowest = "lowest" if direction > 0 else "highest"
    queries = counted(int(chance.sum()), "query")
    note = f"the {lowest} value of {queries} with a relevant document and a list; see --query-id"
    return id_text(query), "\n".join([*below_table([note]), ""])
