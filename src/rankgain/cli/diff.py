"""The command `rankgain diff`."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from rankgain.cli.options import COLUMNS, add_default, add_metric, add_output, argument, pair_of_options, split_limit
from rankgain.cli.reading import check_files, in_options
from rankgain.cli.writing import encoded, write_output
from rankgain.comparison.changes import changes
from rankgain.comparison.similarity import parsed as similarities_of
from rankgain.comparison.similarity import read_runs, similarity
from rankgain.data.writing import write_whole
from rankgain.metrics.similarity import DEFAULT as DEFAULT_SIMILARITIES
from rankgain.scalars import id_text
from rankgain.tools.diff import gate_failures, json_of_diff, text_of_diff

SIMILARITY_COLUMNS = {
    "query": "the queries",
    "doc": "the documents",
    "score": COLUMNS["score"],
    "rank": COLUMNS["rank"],
    "retrieved": "the returned ids, best first, in tables with a row per query",
}


def add(commands: Any) -> None:
    """Add the command."""
    diff = commands.add_parser(
        "diff",
        help="show what changed between two runs, without judgments",
        description="Compare two runs without judgments: how similar they are, which queries changed most, and which "
        "documents entered, left or moved.",
    )
    diff.add_argument("files", nargs="*", metavar="OLD NEW", help="the two run files")
    text = "a metric, with --gate also a floor: 'rbo@10>=0.8'; may be repeated"
    add_metric(diff, _limited_similarity, text, DEFAULT_SIMILARITIES)
    add_default(diff, "-k", 10, "the first k documents are compared one by one", metavar="K")
    add_default(diff, "--worst", 3, "list the N most changed queries", metavar="N")
    diff.add_argument("--qrels", metavar="FILE", help="judgments, to count the judged documents among the changed ones")
    diff.add_argument(
        "--to-judge", metavar="FILE", help="write the unjudged documents to a file of lines query 0 document"
    )
    diff.add_argument("--gate", action="store_true", help="exit status 3 if a mean is below its floor, or if new "
                      "returns nothing for a query for which old does")  # fmt: skip
    add_output(diff, {"json": "JSON"})
    diff.add_argument("--ties", choices=["docid", "stable"], help="the order of equal scores (default: docid)")
    add_default(
        diff, "--missing", "zero", "whether queries only in OLD count 0 or are left out", choices=["zero", "skip"]
    )
    add_default(diff, "--duplicates", "error", "whether a repeated document is an error", choices=["error", "first"])
    for name, text in SIMILARITY_COLUMNS.items():
        diff.add_argument(f"--{name}", action="append", metavar="COLUMN", help=f"{text}; twice: of OLD and of NEW")
    diff.set_defaults(parser=diff, run=_run)


@argument
def _limited_similarity(text: str) -> str:
    metric = re.split("[<>]", text)[0]
    if len(similarities_of([metric])) > 1 and metric != text:
        raise ValueError(f"{text!r}: give one cut-off for a floor")
    return text


def _run(options: argparse.Namespace) -> int:
    if len(options.files) != 2:
        options.parser.error("give the old and the new run file")
    limits = [split_limit(text) for text in options.metric or ()]
    floors = {metric: limit for metric, limit in limits if limit is not None}
    if options.gate and not floors:
        options.parser.error("argument --gate: give a floor, as in -m 'rbo@10>=0.8'")
    if floors and not options.gate:
        options.parser.error(f"argument --metric {next(iter(floors))}>=…: only allowed with argument --gate")
    for name, least in (("k", 1), ("worst", 0)):
        if getattr(options, name) < least:
            options.parser.error(f"argument {'-k' if name == 'k' else '--worst'}: must be {least} or more")
    check_files(options.files, options)
    columns: dict[str, Any] = {}
    for name in SIMILARITY_COLUMNS:
        if names := getattr(options, name):
            columns[name] = pair_of_options(names)
    old, new = options.files
    runs = read_runs(old, new, columns, options.duplicates)
    metrics = [metric for metric, _ in limits] or DEFAULT_SIMILARITIES
    result = similarity(*runs, *metrics, missing=options.missing, ties=options.ties)
    result.assumed = in_options(result.assumed, options)
    changed = changes(*runs, k=options.k, truth=options.qrels, ties=options.ties)
    reasons = gate_failures(result, floors, changed.lost) if options.gate else None
    if options.to_judge is not None:
        lines = (f"{id_text(query)} 0 {document}\n" for query, document in changed.to_judge())
        write_whole(options.to_judge, encoded("".join(lines)))
    is_json = options.form == "json"
    text = json_of_diff(result, changed, reasons) if is_json else text_of_diff(result, changed, options.worst)
    write_output(text, options.output)
    if reasons is None:
        return 0
    print("\n".join(["Gate failed.", *reasons] if reasons else ["Gate passed."]), file=sys.stderr)
    return 3 if reasons else 0
