"""The command line interface, with commands such as `rankgain eval QRELS RUN -m ndcg@10`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.choices import CHOICES
from rankgain.comparison.agreement import PAIRS, agreement
from rankgain.comparison.aligned import QUERIES
from rankgain.comparison.changes import changes
from rankgain.comparison.comparison import Comparison, comparison_of
from rankgain.comparison.difference import RANDOM
from rankgain.comparison.evidence import Evidence
from rankgain.comparison.gate import WORST, Gate, check_metrics
from rankgain.comparison.guards import check_allowance, check_drop
from rankgain.comparison.outcome import PARTS
from rankgain.comparison.similarity import parsed as similarities_of
from rankgain.comparison.similarity import read_runs, similarity
from rankgain.comparison.testing import CORRECTIONS, FAMILIES, INTERVALS, MAX_T, METHODS, SINGLE, check_baselines
from rankgain.comparison.truths import OWN_TRUTHS, SameTruth
from rankgain.data.given import recognise
from rankgain.data.rules import TIES
from rankgain.data.writing import check_writable, write_whole
from rankgain.errors import escaped, import_extra, nearest
from rankgain.inputs.any import columns_by_side, prepared, rankings_of, rankings_of_table
from rankgain.inputs.rows import has_rows_by_query
from rankgain.metrics.metric import MetricKey, better, parse, row_of
from rankgain.metrics.similarity import DEFAULT as DEFAULT_SIMILARITIES
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import NOVELTY, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE
from rankgain.rankings import Rankings
from rankgain.results.intervals import bounds_of
from rankgain.results.peers import OWN, PEERS, common_rules, explain, peer_of, reference_of
from rankgain.results.text import check_export, text_table
from rankgain.threads import MOST, check_threads
from rankgain.tools.diff import gate_failures, json_of_diff, text_of_diff
from rankgain.tools.reports import (
    COMPARED,
    FORMATS,
    OF_AGREEMENT,
    SPREADS,
    WITH_INTERVALS,
    Intervals,
    further_notes,
    worst_queries,
)
from rankgain.tools.sample import sample

DEFAULT_METRICS = ("ndcg@10", "mrr@10")
SUBTOPIC_METRICS = ("alpha_ndcg@10", "strecall@10")  # the defaults with --subtopics

# Inputs that are larger than this number of bytes get a progress bar.
LARGE = 32 << 20


def command() -> int:
    """Run `main` in a process that Ctrl-C ends at once, without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # false if the shell set SIGINT to be ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The status is 0 for success, 1 for invalid input, 2 for a usage error and 3 for a gate that failed. The command
    `trec_eval` returns the statuses of trec_eval.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # standard error is closed, so `print` would write errors to standard output
        with contextlib.redirect_stderr(io.StringIO()):
            return _status(given)
    return _status(given)


def _status(given: list[str]) -> int:
    options = None
    try:
        if given[:1] == ["trec_eval"]:  # this command parses its own options
            from rankgain.tools import trec_eval  # imported only here, since it is rarely needed

            status, text = trec_eval.main(given[1:])
            _print(text)
            return status
        options = _options(given)
        options.arguments = given
        return options.run(options) or 0
    except BrokenPipeError:  # the reader has closed the pipe
        pass
    except (ValueError, TypeError, ImportError) as error:
        return _fail(str(error) if options is None else options.parser.in_options(str(error), given))
    except OSError as error:
        return _fail(f"{escaped(str(error.filename or 'standard output'))}: {error.strerror}")
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    options, rest = _parser().parse_known_args(arguments)
    unknown = [argument for argument in rest if argument != "-" and argument.startswith("-")]
    if unknown or (rest and options.files is None):
        options.parser.error(f"unrecognized arguments: {' '.join(rest)}{options.parser.nearest(unknown)}")
    if rest:
        options.files += rest  # files that were given after an option
    return options


def _fail(message: str) -> int:
    print(f"rankgain: error: {message}", file=sys.stderr)
    return 1


# matches ties='stable' and rankings.under(ties='stable')
_KEYWORD = r"(?P<call>\b[\w.]+\()?\b(?P<name>\w+)='(?P<value>[\w-]+)'(?(call)\))"


class _Parser(argparse.ArgumentParser):
    """An argument parser that suggests the nearest option or choice in its error messages.

    It also reports a full disk when it prints its help.
    """

    def nearest(self, unknown: Sequence[str]) -> str:
        """Return a hint with the option that is most similar to an unknown one, or "" if none is similar."""
        near = (nearest(argument.partition("=")[0], self._option_string_actions) for argument in unknown)
        return next((f"; did you mean {option}?" for option in near if option), "")

    def in_options(self, message: str, given: Sequence[str]) -> str:
        """Replace Python keyword arguments in a message with the options, except in text that the user gave."""

        def option(keyword: re.Match[str]) -> str:
            known = f"--{keyword['name']}" in self._option_string_actions
            known = known and not any(keyword[0] in argument for argument in given)
            return f"--{keyword['name']} {keyword['value']}" if known else keyword[0]

        message = re.sub(_KEYWORD, option, message)
        return re.sub(r"\b([a-z]+)=(?=[\s,;:)]|$)", lambda name: self._option(name[1]) or name[0], message)

    def _option(self, name: str) -> str:
        """Return the option with the name of a keyword argument, or "" if there is none."""
        return f"--{name}" if f"--{name}" in self._option_string_actions else ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = nearest(str(value), map(str, action.choices or ()))
            error.message += f"; did you mean {near!r}?" if near else ""
            raise

    def print_help(self, file: Any = None) -> None:
        _print(self.format_help())


class _Print(argparse.Action):
    """An action that prints the result of a function and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        _print(f"{self.const()}\n")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="rankgain", description="Ranking metrics from qrels and runs.")
    parser.add_argument("--version", action=_Print, nargs=0, const=_version, help="show the version and the backend")
    parser.add_argument("--include", action=_Print, nargs=0, const=_include, help="show the folder of rankgain.h")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
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
    _add_shared(evaluate, forms, _metric)
    evaluate.add_argument(
        "--like", type=_peer, metavar="TOOL", help=f"follow the rules of another tool: {', '.join(PEERS)}"
    )
    _add_given(evaluate)
    evaluate.add_argument(
        "--tie-spread",
        action="store_true",
        help="show the worst, expected and best value over the orders of tied documents",
    )
    evaluate.add_argument("--interval", action="store_true", help="show a confidence interval of each mean, of one run")
    _add(evaluate, "--level", 0.95, "the confidence level of --interval", metavar="X")
    for name, word, example in (("lowest", "smallest", "utility"), ("highest", "largest", "dcg")):
        text = f"for --interval: the {word} value of a metric without such a bound, as {example}"
        evaluate.add_argument(f"--{name}", type=float, metavar="X", help=text)
    evaluate.add_argument("--per-query", action="store_true", help="one row per query (and run)")
    evaluate.add_argument("--worst", type=int, metavar="N", help="list the N worst queries of each metric (and run)")
    evaluate.set_defaults(parser=evaluate, run=_run)
    _add_compare(commands)
    _add_diff(commands)
    _add_agreement(commands)
    _add_explain(commands)
    _add_metrics(commands)
    commands.add_parser("trec_eval", add_help=False, help="evaluate a run with trec_eval's options and output")
    return parser


def _add(command: argparse.ArgumentParser, name: str, default: Any, text: str, **settings: Any) -> None:
    """Add an option, and state its default in the help text."""
    command.add_argument(name, type=type(default), default=default, help=f"{text} (default: {default})", **settings)


def _add_shared(command: argparse.ArgumentParser, forms: Mapping[str, str], metric: Callable[[str], str]) -> None:
    """Add the options that `eval` and `compare` share.

    `forms`: the output forms other than text, with their help texts.
    """
    command.add_argument(
        "-m",
        "--metric",
        action="append",
        type=metric,
        metavar="METRIC",
        help="a metric, such as ndcg@10; may be repeated (default: " + ", ".join(DEFAULT_METRICS) + ")",
    )
    _add_reading(command)
    command.add_argument("-J", "--judged-only", action="store_true", help="remove unjudged documents from the runs")
    group = command.add_mutually_exclusive_group()
    for form, text in forms.items():
        group.add_argument(f"--{form}", dest="form", action="store_const", const=form, default="text", help=text)
    command.add_argument(
        "-o",
        "--output",
        type=_path,
        metavar="FILE",
        help="write to FILE instead of standard output; an error leaves no partial file",
    )


def _add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that control how files are read and interpreted."""
    command.add_argument("--ties", choices=TIES, help="how to order equal scores (default: docid)")
    command.add_argument(
        "--missing",
        choices=CHOICES["missing"],
        help="count queries that the run lacks as 0, or leave them out (default: zero)",
    )
    twice = "if a run has a document twice for a query: refuse it, or count its highest score"
    _add(command, "--duplicates", "error", twice, choices=CHOICES["duplicates"])
    command.add_argument(
        "--threads",
        type=_threads,
        default=1,
        metavar="N",
        help="the number of threads that may share the work (default: 1; 0: one per core)",
    )
    command.add_argument(
        "--progress",
        action="store_true",
        help="show how much of each file is read (needs tqdm); by default, of large files on a terminal",
    )
    command.add_argument(
        "--subtopics",
        action="store_true",
        help="the judgments are by subtopic: field 2 of QRELS, or a column of a table (see --subtopic)",
    )
    _add_columns(command, COLUMNS | COLUMNS_OF_LISTS).add_argument(
        "--subtopic",
        metavar="COLUMN",
        help="the subtopics, in the qrels; implies --subtopics (default: by usual names)",
    )


# The options that name the columns of table files, with their help texts.
COLUMNS = {
    "query": "the queries, in both tables; twice: in the qrels, then in the runs",
    "doc": "the documents, in both tables; twice: in the qrels, then in the runs",
    "relevance": "the grades",
    "score": "the scores, where higher is better",
    "rank": "the ranks, where lower is better",
}
SIMILARITY_COLUMNS = {
    "query": "the queries",
    "doc": "the documents",
    "score": COLUMNS["score"],
    "rank": COLUMNS["rank"],
    "retrieved": "the returned ids, best first, in tables with a row per query",
}
COLUMNS_OF_LISTS = {
    "relevant": "the relevant ids, in one table with a row per query",
    "retrieved": "the returned ids, best first, in one table with a row per query",
}


def _add_columns(command: argparse.ArgumentParser, columns: Mapping[str, str]) -> Any:
    group = command.add_argument_group("columns of parquet, CSV and JSON files")
    for name, text in columns.items():
        action = "append" if name in ("query", "doc") else "store"
        group.add_argument(f"--{name}", action=action, metavar="COLUMN", help=f"{text} (default: by usual names)")
    return group


def _add_compare(commands: Any) -> None:
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
    _add_shared(compare, forms, _limited_metric)
    baseline = "the run to compare the others with (default: the first); may be repeated"
    compare.add_argument("--baseline", metavar="NAME", action="append", help=baseline)
    compare.add_argument("--all-pairs", action="store_true", help="compare all pairs of runs")
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
    corrections = *CORRECTIONS, "none"
    _add(compare, "--correction", MAX_T, "how to correct for several comparisons", choices=corrections)
    _add(compare, "--family", "metric", "correct over the runs of each metric, or over all tests", choices=FAMILIES)
    _add(compare, "--intervals", SINGLE, "intervals that each hold at the level, or all together", choices=INTERVALS)
    _add(
        compare, "--method", RANDOM, "sign flips, all sign vectors, or Student's t, which needs SciPy", choices=METHODS
    )
    _add(compare, "--level", 0.95, "the confidence level of intervals", metavar="X")
    _add(compare, "--flips", 99_999, "the number of random flips", metavar="N")
    _add(compare, "--seed", 0, "the seed of the flips", metavar="N")
    different = "with --missing skip, if runs have different queries: refuse, or use the common ones"
    _add(compare, "--queries", "same", different, choices=QUERIES)
    judged = "of tables with a row per query: refuse different truths of a query, or take each run's own"
    _add(compare, "--truths", "same", judged, choices=CHOICES["truths"])
    compare.add_argument(
        "--report", type=_path, metavar="FILE", help="also write a self-contained HTML page (needs Jinja2)"
    )
    papers = compare.add_argument_group("tables for papers, with --markdown or --latex")
    papers.add_argument("--digits", type=int, metavar="N", help="decimal places of means and differences (default: 4)")
    papers.add_argument("--percent", action="store_true", help="multiply the values of metrics from 0 to 1 by 100")
    papers.add_argument("--caption", metavar="TEXT", help="the caption of the first table")
    papers.add_argument("--label", metavar="TEXT", help="its label, or in Markdown the id of an anchor")
    papers.add_argument("--part", choices=PARTS, help="the table for papers or that of the differences (default: all)")
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
    compare.set_defaults(parser=compare, run=_compare, sample=False, like=None, tie_spread=False)


def _add_diff(commands: Any) -> None:
    diff = commands.add_parser(
        "diff",
        help="show what changed between two runs, without judgments",
        description="Compare two runs without judgments: how similar they are, which queries changed most, and which "
        "documents entered, left or moved.",
    )
    diff.add_argument("files", nargs="*", metavar="OLD NEW", help="the two run files")
    metrics = ", ".join(DEFAULT_SIMILARITIES)
    diff.add_argument(
        "-m", "--metric", action="append", type=_limited_similarity, metavar="METRIC",
        help=f"what to compute, may be repeated (default: {metrics}); with --gate also a floor: 'rbo@10>=0.8'",
    )  # fmt: skip
    _add(diff, "-k", 10, "the first k documents are compared one by one", metavar="K")
    _add(diff, "--worst", 3, "list the N most changed queries", metavar="N")
    diff.add_argument("--qrels", metavar="FILE", help="judgments, to count the judged documents among the changed ones")
    diff.add_argument(
        "--to-judge", metavar="FILE", help="write the unjudged documents to a file of lines query 0 document"
    )
    diff.add_argument("--gate", action="store_true", help="exit status 3 if a mean is below its floor, or if new "
                      "returns nothing for a query for which old does")  # fmt: skip
    diff.add_argument("--json", action="store_const", dest="form", const="json", default="text", help="JSON")
    diff.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of standard output")
    diff.add_argument("--ties", choices=["docid", "stable"], help="the order of equal scores (default: docid)")
    _add(diff, "--missing", "zero", "whether queries only in OLD count 0 or are left out", choices=["zero", "skip"])
    _add(diff, "--duplicates", "error", "whether a repeated document is an error", choices=["error", "first"])
    for name, text in SIMILARITY_COLUMNS.items():
        diff.add_argument(f"--{name}", action="append", metavar="COLUMN", help=f"{text}; twice: of OLD and of NEW")
    diff.set_defaults(parser=diff, run=_diff)


def _limited_similarity(text: str) -> str:
    try:
        metric = re.split("[<>]", text)[0]
        if len(similarities_of([metric])) > 1 and metric != text:
            raise ValueError(f"{text!r}: give one cut-off for a floor")
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _diff(options: argparse.Namespace) -> int:
    if len(options.files) != 2:
        options.parser.error("give the old and the new run file")
    limits = [_split_limit(text) for text in options.metric or ()]
    floors = {metric: limit for metric, limit in limits if limit is not None}
    if options.gate and not floors:
        options.parser.error("argument --gate: give a floor, as in -m 'rbo@10>=0.8'")
    if floors and not options.gate:
        options.parser.error(f"argument --metric {next(iter(floors))}>=…: only allowed with argument --gate")
    for name, least in (("k", 1), ("worst", 0)):
        if getattr(options, name) < least:
            options.parser.error(f"argument {'-k' if name == 'k' else '--worst'}: must be {least} or more")
    _check_files(options.files, options)
    columns: dict[str, Any] = {}
    for name in SIMILARITY_COLUMNS:
        if names := getattr(options, name):
            columns[name] = names[0] if len(names) == 1 else tuple(names)
    old, new = options.files
    runs = read_runs(old, new, columns, options.duplicates)
    metrics = [metric for metric, _ in limits] or DEFAULT_SIMILARITIES
    result = similarity(*runs, *metrics, missing=options.missing, ties=options.ties)
    changed = changes(*runs, k=options.k, truth=options.qrels, ties=options.ties)
    reasons = gate_failures(result, floors, changed.lost) if options.gate else None
    if options.to_judge is not None:
        lines = (f"{query} 0 {document}\n" for query, document in changed.to_judge())
        write_whole(options.to_judge, encoded("".join(lines)))
    is_json = options.form == "json"
    text = json_of_diff(result, changed, reasons) if is_json else text_of_diff(result, changed, options.worst)
    _write(text, options.output)
    if reasons is None:
        return 0
    print("\n".join(["Gate failed.", *reasons] if reasons else ["Gate passed."]), file=sys.stderr)
    return 3 if reasons else 0


def _add_agreement(commands: Any) -> None:
    agree = commands.add_parser(
        "agreement",
        help="compare two judges: do their labels agree, and would the same runs win?",
        description="Compare the judgments of people and of a language model, or of any two judges: Cohen's kappa of "
        "their labels with intervals and, with two runs or more, whether both judges decide the same differences.",
    )
    agree.add_argument(
        "files", nargs="*", metavar="FIRST SECOND RUN", help="two qrels files, and any number of run files"
    )
    agree.add_argument(
        "-m",
        "--metric",
        action="append",
        type=_metric,
        metavar="METRIC",
        help="a metric for the runs; may be repeated (default: " + ", ".join(DEFAULT_METRICS) + ")",
    )
    agree.add_argument("--names", nargs=2, default=("human", "llm"), help="the two judges (default: human llm)")
    agree.add_argument(
        "--threshold",
        type=_thresholds,
        default=1.0,
        metavar="X[,Y]",
        help="the lowest relevant grade, or that of each judge if their scales differ (default: 1)",
    )
    _add(agree, "--pairs", "both", "evaluate runs with documents judged by both, or with all of each", choices=PAIRS)
    _add(agree, "--level", 0.95, "the confidence level of intervals", metavar="X")
    agree.add_argument("--ties", choices=TIES, help="how to order equal scores (default: docid)")
    _add_columns(agree, COLUMNS)
    group = agree.add_mutually_exclusive_group()
    for form, text in {"json": "JSON", "csv": "a row for each number", "markdown": "Markdown tables"}.items():
        group.add_argument(f"--{form}", dest="form", action="store_const", const=form, default="text", help=text)
    agree.add_argument("-o", "--output", type=_path, metavar="FILE", help="write to FILE instead of standard output")
    agree.set_defaults(parser=agree, run=_agreement)


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser(
        "explain",
        help="explain the rules behind a metric",
        description="Print the formula, gain, discount, ideal and rules for ties, empty and missing queries of a "
        "metric, in rankgain or in another tool, or how two tools differ. With files, show how the value of a query is "
        "calculated; with --like and no --query-id, which rule makes the difference to the tool.",
    )
    explain.add_argument("metric", type=_metric, metavar="METRIC", help="a metric, such as ndcg@10")
    explain.add_argument(
        "files", nargs="*", metavar="QRELS RUN", help="the qrels file and the run file, or one table that holds both"
    )
    explain.add_argument("--sample", action="store_true", help="use the qrels and run that ship with rankgain")
    explain.add_argument(
        "--query-id", metavar="ID", help="the query (default: that with the lowest value, of those with a chance)"
    )
    explain.add_argument("--limit", type=int, metavar="N", help="how many ranks to show (default: k, or 100)")
    _add_reading(explain)
    explain.add_argument(
        "--like",
        action="append",
        type=_reference,
        metavar="TOOL",
        help=f"a tool: {', '.join((*PEERS, OWN.name))}, or a metric; twice to compare two (default: {OWN.name})",
    )
    _add_given(explain)
    explain.set_defaults(parser=explain, run=_explain, tie_spread=False, form="text", output=None)


def _add_given(command: argparse.ArgumentParser) -> None:
    text = "what a tool is handed: the whole truth, or labels of the scored documents (default: as by its users)"
    command.add_argument("--given", choices=CHOICES["given"], help=text)


def _include() -> str:
    folder: str = import_module("rankgain").get_include()
    return folder


def _version() -> str:
    note = ""
    if _backend.name == "python":
        forced = os.environ.get("RANKGAIN_BACKEND") == "python"
        note = ", by RANKGAIN_BACKEND" if forced else ": no compiled extension is installed; same numbers, slower"
    return f"rankgain {_backend.VERSION} (backend: {_backend.name}{note})"


def _metric(text: str) -> str:
    try:
        list(parse(text))
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _limited_metric(text: str) -> str:
    """Check an argument that is a metric, or a metric with a limit for its mean, such as ndcg@10>=0.4."""
    metric, _ = _split_limit(text)
    _metric(metric)
    return text


def _split_limit(text: str) -> tuple[str, float | None]:
    """Split `metric>=0.4` into the metric and the limit for its mean. The limit is None if there is none."""
    metric, sign, limit = re.fullmatch(r"(.*?)(?:([<>]=?)(.*))?", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if sign is None:
        return text, None
    _metric(metric)
    expected = "<=" if better(metric) < 0 else ">="
    try:
        value = float(limit)
    except ValueError:
        value = math.nan
    if sign != expected or not math.isfinite(value):
        raise argparse.ArgumentTypeError(
            f"{text!r}: write a limit as {metric}{expected}NUMBER, such as {metric}{expected}0.4"
        )
    return metric, value


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


def _thresholds(text: str) -> Any:
    """Read one threshold, or a pair separated by a comma."""
    try:
        numbers = [*map(float, text.split(","))]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a grade, or two with a comma between, not {text!r}") from None
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _peer(text: str) -> str:
    try:
        return peer_of(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _reference(text: str) -> str:
    try:
        return reference_of(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _path(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return text


def _threads(text: str) -> int:
    try:
        return check_threads(int(text) or min(_cores(), MOST))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _add_metrics(commands: Any) -> None:
    metrics = commands.add_parser(
        "metrics",
        help="list the metrics with their parameters and other names, or explain one",
        description="List the metrics with their parameters and other names, or explain one of them.",
    )
    metrics.add_argument("metric", nargs="?", type=_metric, metavar="NAME", help="a metric, by any of its names")
    metrics.set_defaults(parser=metrics, run=_metrics, files=None)


_BY_SUBTOPIC = "The novelty metrics, strecall and NAME_ia, the mean of NAME over subtopics, need judgments by subtopic."
_OF_TWO_RUNS = "The last six compare two runs without judgments: rankgain diff OLD NEW."


def _metrics(options: argparse.Namespace) -> None:
    if options.metric is None:
        rows = [["metric", "parameters", "other names"]]
        of_subtopics = (SUBTOPIC_TABLE[name] for name in (*NOVELTY, "strecall"))
        for row in (*TABLE.values(), *of_subtopics, *SIMILARITY_TABLE.values()):
            rows.append([f"{row.name}{'@k' * row.cuts}", ", ".join(row.takes), ", ".join(row.aliases)])
        notes = _BY_SUBTOPIC, _OF_TWO_RUNS, "rankgain metrics NAME: explain one of them", ""
        _print("\n".join([*text_table(rows, names=3), "", *notes]))
        return
    metrics = list(parse(options.metric))
    row = row_of(metrics[0][1].name)
    facts = {
        "parameters": ", ".join([*("@k",) * row.cuts, *row.takes]) or "none",
        "other names": ", ".join(row.aliases) or "none",
        "source": row.source,
    }
    _print("\n".join([f"{row.name}: {row.title}", *(f"{name}: {fact}" for name, fact in facts.items()), ""]))
    if len(metrics) > 1:
        _print(f"\n{options.metric} stands for {', '.join(str(key) for key, _ in metrics)}\n")
        return
    _print(f"\n{explain(options.metric)}\n")


def _explain(options: argparse.Namespace) -> None:
    metric, tools = options.metric, options.like or []
    if options.sample and options.files:
        options.parser.error("argument --sample: not allowed with files")
    files = sample() if options.sample else options.files
    if not files:
        if options.query_id is not None or options.limit is not None:
            options.parser.error("arguments --query-id and --limit: give a qrels file and a run file, or --sample")
        _print(f"{explain(metric, tools or None, given=options.given)}\n")
        return
    if len(files) > 2 or len(tools) > 1:
        options.parser.error("give a qrels file and a run file, or one table that holds both, and at most one --like")
    calculates = options.query_id is not None or not tools
    options.metric, options.like = [metric], tools[0] if tools and calculates else None
    _check_files(files, options)
    _check_rules(options)
    ((_, rankings),) = _rankings(files, options)
    if not calculates:
        _print(f"{rankings.attribution(metric, tools[0], given=options.given)}\n")
        return
    query, note = (options.query_id, "") if options.query_id is not None else _lowest_query(rankings, metric)
    # The argument is text, but query ids may be integers.
    query = next((known for known in rankings.query_ids if str(known) == query), query)
    shown = {name: getattr(options, name) for name in ("like", "given", "limit")}
    _print(f"{rankings.calculation(metric, query, **shown)}\n{note}")


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
    note = f"the {lowest} value of {chance.sum()} queries with a relevant document and a list; see --query-id\n"
    return str(query), note


def _compare(options: argparse.Namespace) -> int:
    options.with_truth = _hold_truth(options)
    paths = options.files if options.with_truth else options.files[1:]
    if len(paths) < 2:
        options.parser.error("give a qrels file and two or more run files, or two tables with a row per query")
    floors = _check_gate(options, len(paths))
    if options.all_pairs and options.baseline is not None:
        options.parser.error("argument --all-pairs: not allowed with argument --baseline")
    names = run_names(paths)
    try:
        check_baselines(names, options.baseline)
    except ValueError as error:
        options.parser.error(f"argument --{error}")
    if options.verbose and options.form != "text":
        options.parser.error(f"argument --verbose: not allowed with argument --{options.form}")
    exports = _exports(options)
    _check_files(options.files, options)
    _check_rules(options)
    if options.report is not None:
        extra("jinja2", "report", "--report")
    if options.method == "t":
        extra("scipy.special", "stats", "--method t")
    results, evidence = {}, {}
    same = SameTruth(options.metric, "--truths own")
    for name, rankings in _limited(_rankings(options.files, options), options):
        results[name] = rankings.evaluate(*options.metric, threads=options.threads)
        if options.with_truth and options.truths == "own":
            results[name].assumed += (OWN_TRUTHS,)
        elif options.with_truth:
            same.check(name, rankings)
        report = options.report is not None
        evidence[name] = Evidence(rankings).release(results[name], options.threads, report=report)
    comparison = comparison_of(results, evidence)
    baseline = None if options.all_pairs else options.baseline or names[0]
    shared = {name: getattr(options, name) for name in ("level", "flips", "seed", "queries", "threads")}
    shared["weights"] = None if options.weights is None else read_weights(options.weights)
    shared["clusters"] = None if options.clusters is None else read_labels(options.clusters, "cluster")
    of_tests = {name: getattr(options, name) for name in ("margin", "family", "intervals", "method")}
    correction = None if options.correction == "none" else options.correction
    tests = comparison.test(baseline, correction=correction, **shared, **of_tests)
    groups = gate = labels = None
    if options.groups is not None:
        labels = read_labels(options.groups)
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
    _write(f"{text}\n{further_notes(tests, groups)}" if options.verbose else text, options.output)
    return 0 if gate is None else _announced(gate)


def _agreement(options: argparse.Namespace) -> None:
    if len(options.files) < 2:
        options.parser.error("give two qrels files, and the runs to compare by both")
    _check_files(options.files, options)
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
        **_columns(options),
    )
    _write(OF_AGREEMENT[options.form](result), options.output)


def _hold_truth(options: argparse.Namespace) -> bool:
    """Return whether each file is a table with a row per query, which holds the judgments and a run."""
    if options.relevant is not None or options.retrieved is not None:
        return True
    if len(options.files) != 2 or not all(map(os.path.isfile, options.files)):
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


def _check_gate(options: argparse.Namespace, runs: int) -> dict[str, float]:
    """Refuse invalid gates, and options of gates without --gate; return the floor of each metric that has one."""
    limits = [_split_limit(text) for text in options.metric or ()]
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
    if runs != 2:
        options.parser.error("argument --gate: give a qrels file, the run before and the run after the change")
    if options.all_pairs:
        options.parser.error("argument --all-pairs: not allowed with argument --gate")
    if options.form not in ("text", "json", "markdown"):
        options.parser.error(f"argument --{options.form}: not allowed with argument --gate")
    if options.worst is not None and options.worst < 0:
        options.parser.error(f"argument --worst: must be 0 or more, not {options.worst}")
    try:
        check_metrics(options.metric or _default_metrics(options), options.margin)
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


def _check_files(files: Sequence[str], options: argparse.Namespace) -> None:
    """Refuse input files that are given twice or would be overwritten, and metric names where files are expected."""
    targets = [(name, getattr(options, name, None)) for name in ("output", "report", "to_judge")]
    for path in set(files):
        if files.count(path) > 1:
            options.parser.error(f"{path} is given twice")
        if not os.path.lexists(path):
            with contextlib.suppress(argparse.ArgumentTypeError):
                _metric(path)
                text = f"there is no file {path}; to evaluate this metric too, repeat the option: -m {path}"
                options.parser.error(text)
        for name, target in targets:
            if target is not None and path != "-" and _same_file(path, target):
                options.parser.error(f"--{name} {target} is one of the inputs, and would be overwritten")
    for _, target in targets:
        if target is not None:
            check_writable(target)


def _run(options: argparse.Namespace) -> None:
    if options.sample == bool(options.files):
        options.parser.error("give a qrels file and a run file, one table that holds both, or --sample")
    files = sample() if options.sample else options.files
    _check_files(files, options)
    _check_rules(options)
    if options.interval:
        _check_interval(files, options)
    for name in ("lowest", "highest"):
        if getattr(options, name) is not None and not options.interval:
            options.parser.error(f"argument --{name}: only allowed with argument --interval")
    if options.tie_spread and options.given is not None:
        options.parser.error("argument --tie-spread: not allowed with argument --given")
    if options.worst is not None:
        _check_worst(options)
    runs = _limited(_rankings(files, options), options)
    if options.tie_spread:
        spreads = {name: run.tie_spread(*options.metric, threads=options.threads) for name, run in runs}
        text = SPREADS[options.form](spreads, options.per_query)
    else:
        rules = {name: getattr(options, name) for name in ("like", "given", "threads")}
        results = {name: run.evaluate(*options.metric, **rules) for name, run in runs}
        if options.interval:
            (result,) = results.values()
            ends = {key: result.interval(key, options.level, **_missing_bounds(key, options)) for key in result}
            text = WITH_INTERVALS[options.form](Comparison(results), False, Intervals(options.level, ends))
        elif options.worst is not None:
            text = worst_queries(results, options.worst)
        else:
            text = FORMATS[options.form](Comparison(results), options.per_query)
    _write(text, options.output)


def _check_worst(options: argparse.Namespace) -> None:
    for name in ("tie_spread", "interval", "per_query"):
        if getattr(options, name):
            options.parser.error(f"argument --worst: not allowed with argument --{name.replace('_', '-')}")
    if options.form != "text":
        options.parser.error(f"argument --worst: not allowed with argument --{options.form}")
    if options.worst < 1:
        options.parser.error(f"argument --worst: must be 1 or more, not {options.worst}")


def _limited(runs: Iterator[tuple[str, Rankings]], options: argparse.Namespace) -> Iterator[tuple[str, Rankings]]:
    """Remove unjudged documents if the options say so."""
    for name, rankings in runs:
        yield name, rankings.limited(judged_only=True) if options.judged_only else rankings


def _missing_bounds(key: MetricKey, options: argparse.Namespace) -> dict[str, float | None]:
    """Return the bounds of --lowest and --highest that a metric lacks."""
    given = {"lowest": options.lowest, "highest": options.highest}
    return {name: given[name] for name, bound in zip(given, bounds_of(key), strict=True) if math.isinf(bound)}


def _check_interval(files: Sequence[str], options: argparse.Namespace) -> None:
    if len(files) > 2:
        options.parser.error("argument --interval: needs one run; for several, see rankgain compare")
    for name in ("tie_spread", "per_query"):
        if getattr(options, name):
            options.parser.error(f"argument --interval: not allowed with argument --{name.replace('_', '-')}")
    if options.form not in WITH_INTERVALS:
        options.parser.error(f"argument --interval: not allowed with argument --{options.form}")


def _same_file(one: str, other: str) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


# Reading files


def _check_rules(options: argparse.Namespace) -> None:
    """Refuse contradictory options, and set the rules for reading runs."""
    options.metric = options.metric or _default_metrics(options)
    ties, missing, options.score_bits = "docid", "zero", 64
    if options.like is not None:
        for name in ("ties", "missing", "tie_spread"):
            if getattr(options, name):
                options.parser.error(f"argument --{name.replace('_', '-')}: not allowed with argument --like")
        _, rules = common_rules(options.metric, options.like)
        ties, missing = rules.ties or ties, rules.missing or missing
        options.score_bits = rules.score_bits or 64
    if options.tie_spread and options.form not in SPREADS:
        options.parser.error(f"argument --tie-spread: not allowed with argument --{options.form}")
    options.chosen_ties = options.ties is not None
    options.ties, options.missing = options.ties or ties, options.missing or missing


def _default_metrics(options: argparse.Namespace) -> Sequence[str]:
    """Return the default metrics that a tool supports with a common set of rules."""
    like = options.like
    if options.subtopics or options.subtopic:
        return SUBTOPIC_METRICS
    if like is None:
        return DEFAULT_METRICS
    supported: list[str] = []
    for name in DEFAULT_METRICS:
        with contextlib.suppress(ValueError):
            common_rules([*supported, name], like)
            supported.append(name)
    return supported or DEFAULT_METRICS


def _rankings(files: Sequence[str], options: argparse.Namespace) -> Iterator[tuple[str, Rankings]]:
    """Yield the name and the Rankings of each run. A TREC run is read only when the caller asks for it."""
    columns, progress = _columns(options), progress_bar(files, options.progress) is not None
    of_truth, of_run = columns_by_side(columns)
    given = [
        recognise(path, "run" if index else "truth", of_run if index else of_truth, is_truth=not index)
        for index, path in enumerate(files)
    ]
    if columns and all(each.kind == "trec" for each in given):
        options.parser.error(f"argument --{next(iter(columns))}: names a column of a table, and TREC files have none")
    rules = {name: getattr(options, name) for name in ("ties", "missing", "duplicates", "score_bits", "threads")}
    subtopic = options.subtopic or options.subtopics
    if len(files) == 1 or getattr(options, "with_truth", False):
        if subtopic:
            options.parser.error("argument --subtopics: give a file of qrels and one of each run")
        if not options.chosen_ties:
            del rules["ties"]  # the default depends on whether documents have ids
        for name, table in zip(run_names(files), given, strict=True):
            if table.kind == "trec":
                options.parser.error("give a qrels file and a run file, one table that holds both, or --sample")
            yield name, rankings_of_table(table, rules, **columns)
        return
    judged = prepared(given[0], of_truth if given[0].kind == "table" else {}, progress, subtopic)
    for name, run in zip(run_names(files[1:]), given[1:], strict=True):
        of_table = of_run if run.kind == "table" else {}
        rankings = rankings_of(judged, run, rules, progress=progress, **of_table)
        yield name, rankings if rankings.ties is None else rankings.under(score_bits=options.score_bits)


def _columns(options: argparse.Namespace) -> dict[str, Any]:
    """Return the column names that were given as options. A pair has a name for the qrels and one for the runs."""
    given = {name: getattr(options, name, None) for name in (*COLUMNS, *COLUMNS_OF_LISTS)}
    columns: dict[str, Any] = {name: column for name, column in given.items() if column is not None}
    for name, names in columns.items():
        if isinstance(names, list):
            if len(names) > 2:
                options.parser.error(f"argument --{name}: give it once, or twice: for the qrels and for the runs")
            columns[name] = names[0] if len(names) == 1 else tuple(names)
    lists = [name for name in COLUMNS_OF_LISTS if name in columns]
    if lists and len(options.files) > 1 and options.command != "compare":
        options.parser.error(f"argument --{lists[0]}: names a column of lists in one table with a row per query")
    return columns


def read_labels(path: str, unit: str = "group") -> dict[str, str]:
    """Read the group, cluster or weight of each query from a file with a query, a tab and a label in each line."""
    labels: dict[str, str] = {}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\r\n")
            if not text:
                continue
            query, tab, label = text.partition("\t")
            if not tab:
                raise ValueError(f"{path}:{number}: a line must be query, tab, {unit}, not {text[:80]!r}")
            if labels.setdefault(query, label) != label:
                raise ValueError(f"{path}:{number}: query {query!r} has two {unit}s, {labels[query]!r} and {label!r}")
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


def run_names(paths: Sequence[str]) -> list[str]:
    """Return the names of the runs: file names without extensions, or paths where these names are not unique."""
    short = [_short_name(path) for path in paths]
    names = [path if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]
    return names if len(set(names)) == len(names) else list(paths)


def _short_name(path: str) -> str:
    if path == "-":
        return "stdin"
    name = os.path.basename(path).removesuffix(".gz")
    return os.path.splitext(name)[0] or path


def progress_bar(paths: Sequence[str], always: bool = False) -> Any:
    """Return the class tqdm if a progress bar should be shown, else None.

    Without `always`, a bar is shown if standard error is a terminal, the input is large, and tqdm is installed.
    """
    if always:
        return extra("tqdm", "progress", "--progress").tqdm
    large = sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) > LARGE
    if not large or sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        return import_module("tqdm").tqdm
    except ImportError:
        return None


def extra(module: str, name: str, option: str) -> Any:
    """Import the module that an option needs. If it is missing, raise a ValueError that names the extra to install."""
    try:
        return import_extra(module, name)
    except ImportError as error:
        raise ValueError(f"{option}: {error}") from None


# Writing output


def encoded(text: str) -> bytes:
    """Encode text as UTF-8. Ids that were not valid UTF-8 become the bytes that were read."""
    return text.encode("utf-8", "surrogateescape")


def _write(text: str, output: str | None) -> None:
    if output is None:
        _print(text)
    else:
        write_whole(output, encoded(text))


def _print(text: str) -> None:
    """Write the whole text to standard output, or raise OSError.

    The bytes are the same as in a file, in any locale. Python's buffer is bypassed because, after an error, it would be
    flushed at exit and fail again. Without a buffer (`python -u`), a disk that is almost full may take only part of the
    text, which `print` does not notice.
    """
    out = sys.stdout
    if out is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if not isinstance(out, io.TextIOWrapper):
        print(text, end="", flush=True)
        return
    out.flush()
    file: Any = getattr(out.buffer, "raw", out.buffer)
    data, written = memoryview(encoded(text)), 0
    while written < len(data):
        written += file.write(data[written:]) or 0


if __name__ == "__main__":
    sys.exit(command())
