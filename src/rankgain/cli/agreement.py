"""The command `rankgain agreement`."""

from __future__ import annotations

import argparse
from typing import Any

from rankgain.cli.options import (
    COLUMNS,
    DEFAULT_METRICS,
    add_choice,
    add_columns,
    add_level,
    add_metric,
    add_output,
    add_ties,
    metric_name,
)
from rankgain.cli.reading import check_files, column_options, in_options, run_names
from rankgain.cli.writing import write_output
from rankgain.comparison.agreement import agreement
from rankgain.tools.reports import OF_AGREEMENT


def add(commands: Any) -> None:
    """Add the command."""
    agree = commands.add_parser(
        "agreement",
        help="compare two judges: do their labels agree, and would the same runs win?",
        description="Compare the judgments of people and of a language model, or of any two judges: Cohen's kappa of "
        "their labels with intervals and, with two runs or more, whether both judges decide the same differences.",
    )
    agree.add_argument(
        "files", nargs="*", metavar="FIRST SECOND RUN", help="two qrels files, and any number of run files"
    )
    add_metric(agree, metric_name, "a metric for the runs; may be repeated", DEFAULT_METRICS)
    agree.add_argument("--names", nargs=2, default=("human", "llm"), help="the two judges (default: human llm)")
    agree.add_argument(
        "--threshold",
        type=_thresholds,
        default=1.0,
        metavar="X[,Y]",
        help="the lowest relevant grade, or that of each judge if their scales differ (default: 1)",
    )
    add_choice(agree, "pairs", "both", "evaluate runs with documents judged by both, or with all of each")
    add_level(agree)
    add_ties(agree)
    add_columns(agree, COLUMNS)
    add_output(agree, {"json": "JSON", "csv": "a row for each number", "markdown": "Markdown tables"})
    agree.set_defaults(parser=agree, run=_run)


def _thresholds(text: str) -> Any:
    """Read one threshold, or a pair separated by a comma."""
    try:
        numbers = [*map(float, text.split(","))]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a grade, or two with a comma between, not {text!r}") from None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _run(options: argparse.Namespace) -> None:
    if len(options.files) < 2:
        options.parser.error("give two qrels files, and the runs to compare by both")
    check_files(options.files, options)
    first, second, *paths = options.files
    result = agreement(
        first,
        second,
        dict(zip(run_names(paths), paths, strict=True)) or None,
        options.metric,
        names=tuple(options.names),
        threshold=options.threshold,
        pairs=options.pairs,
        level=options.level,
        **({"ties": options.ties} if options.ties else {}),
        **column_options(options),
    )
    result.assumed = in_options(result.assumed, options)
    write_output(OF_AGREEMENT[options.form](result), options.output)
