"""The options that several commands have, and how their arguments are read."""

from __future__ import annotations

import argparse
import functools
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rankgain.choices import CHOICES
from rankgain.data.rules import TIES
from rankgain.metrics.metric import better, parse
from rankgain.threads import MOST, check_threads
from rankgain.tools.wording import in_shell

_T = TypeVar("_T")

DEFAULT_METRICS = ("ndcg@10", "mrr@10")

# The options that name the columns of table files, with their help texts.
COLUMNS = {
    "query": "the queries, in both tables; twice: in the qrels, then in the runs; A,B: a key of two columns",
    "doc": "the documents, in both tables; twice: in the qrels, then in the runs",
    "relevance": "the grades",
    "score": "the scores, where higher is better",
    "rank": "the ranks, where lower is better",
}
COLUMNS_OF_LISTS = {
    "relevant": "the relevant ids, in one table with a row per query",
    "retrieved": "the returned ids, best first, in one table with a row per query",
}


def argument(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """Let the message of an error reach the user as that of the option whose argument is read."""

    @functools.wraps(read)
    def checked(text: str) -> _T:
        try:
            return read(text)
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentTypeError(in_shell(str(error))) from None

    return checked


@argument
def metric_name(text: str) -> str:
    """Check the name of a metric."""
    list(parse(text))
    return text


def split_limit(text: str) -> tuple[str, float | None]:
    """Split `metric>=0.4` into the metric and the limit for its mean. The limit is None if there is none."""
    metric, sign, limit = re.fullmatch(r"(.*?)(?:([<>]=?)(.*))?", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if sign is None:
        return text, None
    metric_name(metric)
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


def path(text: str) -> str:
    """Refuse an empty path."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return text


@argument
def threads(text: str) -> int:
    """Read a number of threads; 0 stands for the number of cores."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, not {text!r}") from None
    return check_threads(number or min(cores(), MOST))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_default(command: argparse.ArgumentParser, name: str, default: Any, text: str, **settings: Any) -> None:
    """Add an option, and state its default in the help text."""
    command.add_argument(name, type=type(default), default=default, help=f"{text} (default: {default})", **settings)


def add_choice(command: argparse.ArgumentParser, name: str, default: str, text: str, *more: str) -> None:
    """Add an option with the values that an argument of this name has in Python, and `more`."""
    add_default(command, f"--{name}", default, text, choices=(*CHOICES[name], *more))


def add_metric(
    command: argparse.ArgumentParser, read: Callable[[str], str], text: str, defaults: Iterable[str]
) -> None:
    """Add the option for metrics, which may be repeated."""
    text += f" (default: {', '.join(defaults)})"
    command.add_argument("-m", "--metric", action="append", type=read, metavar="METRIC", help=text)


def add_ties(command: argparse.ArgumentParser) -> None:
    """Add the option for the order of tied documents."""
    command.add_argument("--ties", choices=TIES, help="how to order equal scores (default: docid)")


def add_shared(command: argparse.ArgumentParser, forms: Mapping[str, str], read: Callable[[str], str]) -> None:
    """Add the options that `eval` and `compare` share."""
    add_metric(command, read, "a metric, such as ndcg@10; may be repeated", DEFAULT_METRICS)
    add_reading(command)
    several = "the column that names the run of each row, in a table of several runs; tag: of a TREC file"
    command.add_argument("--run", dest="run_column", metavar="COLUMN", help=several)
    command.add_argument("-J", "--judged-only", action="store_true", help="remove unjudged documents from the runs")
    add_output(command, forms)


def add_output(command: argparse.ArgumentParser, forms: Mapping[str, str]) -> None:
    """Add the options for the output and its form: text, or one of `forms`, given with their help texts."""
    group = command.add_mutually_exclusive_group()
    for form, text in forms.items():
        group.add_argument(f"--{form}", dest="form", action="store_const", const=form, default="text", help=text)
    text = "write to FILE instead of standard output; an error leaves no partial file"
    command.add_argument("-o", "--output", type=path, metavar="FILE", help=text)


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that control how files are read and interpreted."""
    add_ties(command)
    command.add_argument(
        "--missing",
        choices=CHOICES["missing"],
        help="count queries that the run lacks as 0, or leave them out (default: zero)",
    )
    twice = "if a run has a document twice for a query: refuse it, or count its highest score"
    add_choice(command, "duplicates", "error", twice)
    command.add_argument(
        "--threads",
        type=threads,
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
    add_columns(command, COLUMNS | COLUMNS_OF_LISTS).add_argument(
        "--subtopic",
        metavar="COLUMN",
        help="the subtopics, in the qrels; implies --subtopics (default: by usual names)",
    )


def add_columns(command: argparse.ArgumentParser, columns: Mapping[str, str]) -> Any:
    """Add an option for each column, and return their group."""
    group = command.add_argument_group("columns of parquet, CSV and JSON files")
    for name, text in columns.items():
        action = "append" if name in ("query", "doc") else "store"
        group.add_argument(f"--{name}", action=action, metavar="COLUMN", help=f"{text} (default: by usual names)")
    return group


def pair_of_options(names: Sequence[str]) -> Any:
    """Return the columns of an option, once or twice, each with commas between the columns of a key."""
    keys = [name.split(",") if "," in name else name for name in names]
    return keys[0] if len(keys) == 1 else tuple(keys)


def add_given(command: argparse.ArgumentParser) -> None:
    """Add the option for what a tool is handed."""
    text = "what a tool is handed: the whole truth, or labels of the scored documents (default: as by its users)"
    command.add_argument("--given", choices=CHOICES["given"], help=text)


def add_level(command: argparse.ArgumentParser, intervals: str = "intervals") -> None:
    """Add the option for the confidence level."""
    add_default(command, "--level", 0.95, f"the confidence level of {intervals}", metavar="X")
