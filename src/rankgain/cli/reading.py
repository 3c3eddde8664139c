"""Reading the files of a command under its options."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from rankgain.cli.options import COLUMNS, COLUMNS_OF_LISTS, DEFAULT_METRICS, metric_name, pair_of_options
from rankgain.data.compression import SUFFIXES
from rankgain.data.given import recognise
from rankgain.data.writing import check_writable
from rankgain.errors import import_extra
from rankgain.inputs.any import columns_by_side, prepared, rankings_by_run, rankings_of, rankings_of_table, typed_as
from rankgain.inputs.frames import check_pair
from rankgain.rankings import Rankings, parts_of
from rankgain.results.peers import common_rules
from rankgain.tools.reports import SPREADS

SUBTOPIC_METRICS = ("alpha_ndcg@10", "strecall@10")  # the defaults with --subtopics

# Inputs that are larger than this number of bytes get a progress bar.
LARGE = 32 << 20


def check_files(files: Sequence[str], options: argparse.Namespace) -> None:
    """Refuse input files that are given twice or would be overwritten, and metric names where files are expected."""
    targets = [(name, getattr(options, name, None)) for name in ("output", "report", "to_judge")]
    for path in set(files):
        if files.count(path) > 1:
            options.parser.error(f"{path} is given twice")
        if not os.path.lexists(path):
            with contextlib.suppress(argparse.ArgumentTypeError):
                metric_name(path)
                text = f"there is no file {path}; to evaluate this metric too, repeat the option: -m {path}"
                options.parser.error(text)
        for name, target in targets:
            if target is not None and path != "-" and _same_file(path, target):
                options.parser.error(f"--{name} {target} is one of the inputs, and would be overwritten")
    for _, target in targets:
        if target is not None:
            check_writable(target)


def _same_file(one: str, other: str) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_rules(options: argparse.Namespace) -> None:
    """Refuse contradictory options, and set the rules for reading runs."""
    options.metric = options.metric or default_metrics(options)
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


def default_metrics(options: argparse.Namespace) -> Sequence[str]:
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


def named_rankings(files: Sequence[str], options: argparse.Namespace) -> Iterator[tuple[str, Rankings]]:
    """Yield the name and the Rankings of each run. A TREC run is read only when the caller asks for it."""
    columns, progress = column_options(options), progress_bar(files, options.progress) is not None
    of_truth, of_run = columns_by_side(columns)
    given = [
        recognise(path, "run" if index else "truth", of_run if index else of_truth, is_truth=not index)
        for index, path in enumerate(files)
    ]
    if columns and all(each.kind == "trec" for each in given):
        options.parser.error(f"argument --{next(iter(columns))}: names a column of a table, and TREC files have none")
    if isinstance(columns.get("query"), tuple):
        frames = [each.frame for each in given if each.kind == "table"]
        for frame in frames[1:] if given[0].kind == "table" else ():
            check_pair(frames[0], frame, columns["query"])
    rules = {name: getattr(options, name) for name in ("ties", "missing", "duplicates", "score_bits", "threads")}
    subtopic = options.subtopic or options.subtopics
    if len(files) == 1 or getattr(options, "with_truth", False):
        for name, given_option in (("subtopics", subtopic), ("run", options.run_column)):
            if given_option:
                options.parser.error(f"argument --{name}: give a file of qrels and one of each run")
        if not options.chosen_ties:
            del rules["ties"]  # the default depends on whether documents have ids
        for name, table in zip(run_names(files), given, strict=True):
            if table.kind == "trec":
                options.parser.error("give a qrels file and a run file, one table that holds both, or --sample")
            yield name, _ready(rankings_of_table(table, rules, **columns), options)
        return
    judged = prepared(given[0], of_truth if given[0].kind == "table" else {}, progress, subtopic)
    judged = typed_as(given[1:], judged, of_run)
    seen: set[str] = set()
    for name, run in zip(run_names(files[1:]), given[1:], strict=True):
        of_table = of_run if run.kind == "table" else {}
        if options.run_column is None:
            runs = {name: rankings_of(judged, run, rules, progress=progress, **of_table)}
        else:
            runs = rankings_by_run(judged, run, options.run_column, rules, progress=progress, **of_table)
        for named, rankings in runs.items():
            if named in seen:
                raise ValueError(f"two files have a run called {named!r}")
            seen.add(named)
            rankings = rankings if rankings.ties is None else rankings.under(score_bits=options.score_bits)
            yield named, _ready(rankings, options)


def _ready(rankings: Rankings, options: argparse.Namespace) -> Rankings:
    """Put what was assumed about the files in words for a shell; remove unjudged documents if the options say so."""
    source, _ = parts_of(rankings)
    source.assumed = in_options(source.assumed, options)
    return rankings.limited(judged_only=True) if options.judged_only else rankings


def in_options(remarks: Sequence[str], options: argparse.Namespace) -> tuple[str, ...]:
    """Put remarks in words for a shell."""
    return tuple(options.parser.in_options(remark, options.arguments) for remark in remarks)


def column_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the column names that were given as options. A pair has a name for the qrels and one for the runs."""
    given = {name: getattr(options, name, None) for name in (*COLUMNS, *COLUMNS_OF_LISTS)}
    columns: dict[str, Any] = {name: column for name, column in given.items() if column is not None}
    for name, names in columns.items():
        if isinstance(names, list):
            if len(names) > 2:
                options.parser.error(f"argument --{name}: give it once, or twice: for the qrels and for the runs")
            columns[name] = pair_of_options(names)
    lists = [name for name in COLUMNS_OF_LISTS if name in columns]
    if lists and len(options.files) > 1 and options.command != "compare":
        options.parser.error(f"argument --{lists[0]}: names a column of lists in one table with a row per query")
    return columns


def run_names(paths: Sequence[str]) -> list[str]:
    """Return the names of the runs: file names without extensions, or paths where these names are not unique."""
    short = [_short_name(path) for path in paths]
    names = [path if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]
    return names if len(set(names)) == len(names) else list(paths)


def _short_name(path: str) -> str:
    if path == "-":
        return "stdin"
    name = os.path.basename(path)
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
    return os.path.splitext(name.removesuffix(suffix))[0] or path


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
