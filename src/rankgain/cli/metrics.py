"""The command `rankgain metrics`."""

from __future__ import annotations

import argparse
from typing import Any

from rankgain.cli.options import metric_name
from rankgain.cli.writing import show
from rankgain.metrics.metric import parse, row_of
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import NOVELTY, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE
from rankgain.results.peers import explain
from rankgain.results.text import below_table, text_table

_BY_SUBTOPIC = "The novelty metrics, strecall and NAME_ia, the mean of NAME over subtopics, need judgments by subtopic."


_OF_TWO_RUNS = "The last six compare two runs without judgments: rankgain diff OLD NEW."


def add(commands: Any) -> None:
    """Add the command."""
    metrics = commands.add_parser(
        "metrics",
        help="list the metrics with their parameters and other names, or explain one",
        description="List the metrics with their parameters and other names, or explain one of them.",
    )
    metrics.add_argument("metric", nargs="?", type=metric_name, metavar="NAME", help="a metric, by any of its names")
    metrics.set_defaults(parser=metrics, run=_run, files=None)


def _run(options: argparse.Namespace) -> None:
    if options.metric is None:
        rows = [["metric", "parameters", "other names"]]
        of_subtopics = (SUBTOPIC_TABLE[name] for name in (*NOVELTY, "strecall"))
        for row in (*TABLE.values(), *of_subtopics, *SIMILARITY_TABLE.values()):
            rows.append([f"{row.name}{'@k' * row.cuts}", ", ".join(row.takes), ", ".join(row.aliases)])
        notes = _BY_SUBTOPIC, _OF_TWO_RUNS, "rankgain metrics NAME: explain one of them", ""
        show("\n".join([*text_table(rows, names=3), "", *below_table(notes)]))
        return
    metrics = list(parse(options.metric))
    row = row_of(metrics[0][1].name)
    facts = {
        "parameters": ", ".join([*("@k",) * row.cuts, *row.takes]) or "none",
        "other names": ", ".join(row.aliases) or "none",
        "source": row.source,
    }
    show("\n".join([f"{row.name}: {row.title}", *(f"{name}: {fact}" for name, fact in facts.items()), ""]))
    if len(metrics) > 1:
        show(f"\n{options.metric} stands for {', '.join(str(key) for key, _ in metrics)}\n")
        return
    show(f"\n{explain(options.metric)}\n")
