"""The command `rankgain trec_eval`, which takes trec_eval's options and prints exactly what trec_eval prints.

Errors are printed on standard error, as are notes on known defects of trec_eval that the output reproduces. Options,
order, arithmetic and statuses follow trec_eval.c, meas_*.c, and the output of releases 9.0.8 and 10.0-rc3.
"""

from __future__ import annotations

import getopt
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.choices import Missing
from rankgain.data.columns import ColumnSource, RunColumns
from rankgain.data.judgments import JudgmentSets
from rankgain.data.lines import read_run
from rankgain.data.rules import rules_of
from rankgain.errors import escaped
from rankgain.inputs.trec import read_qrels
from rankgain.metrics.parameters import LARGEST_CUTOFF
from rankgain.rankings import Rankings, sizes_of
from rankgain.scalars import Floats
from rankgain.tools.trec_measures import (
    Gains,
    TrecMeasure,
    TrecOptions,
    Vector,
    columns,
    measures,
    nicknames,
    summary_value,
    values,
)
from rankgain.tools.wording import in_shell

RELEASES = {9: "9.0.8", 10: "10.0-rc3"}

# The same exit statuses as in trec_eval, except that for a repeated document the status is UNREADABLE instead of 4.
WRONG_CALL, UNREADABLE, NOT_CALCULATED, NOTHING_IN_COMMON = 1, 2, 4, 7

USAGE = """\
usage: rankgain trec_eval [-q] [-c] [-n] [-J] [-l num] [-M num] [-N num] [-m measure[.params]]...
                          [--release 9|10] qrels run
"""

# The letter, the name and argument, and the help text of each option. Options without help are not supported.
OPTIONS = (
    ("-h", "help", "print this and exit"),
    ("-v", "version", "print the version and exit"),
    ("-q", "query_eval_wanted", "print the values of each query before the summary"),
    ("-n", "nosummary", "print no summary"),
    ("-c", "complete_rel_info_wanted", "average over all queries of the qrels; those that the run lacks count as 0"),
    ("-l", "level_for_rel num", "the lowest grade that is relevant (default: 1); gains do not depend on it"),
    ("-M", "Max_retrieved_per_topic num", "evaluate only the first num documents of each query"),
    ("-J", "Judged_docs_only", "remove unjudged documents from the run"),
    ("-N", "Number_docs_in_coll num", "the number of documents in the collection, for utility (default: 0)"),
    ("-m", "measure measure[.params]", "a measure, or several by a nickname; may be repeated (default: official)"),
    ("", "release 9|10", "the release to follow; 9 compares scores in 32 bits (default: 10)"),
    ("-D", "Debug_level num", ""),
    ("-R", "Rel_info_format format", ""),
    ("-T", "Results_format format", ""),
    ("-o", "Output_old_results_format", ""),
    ("-Z", "Zscore file", ""),
)
HELP = """
Evaluate a TREC run against TREC qrels: the options, the measures and the output are those of trec_eval.
Either file may be compressed (gzip, bzip2, xz, Zstandard), or - for standard input.
"""
_FORMATS = {"-R": "qrels", "-T": "trec_results"}


class Quit(Exception):
    """Raised to end the command early with an exit status and an error message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def main(arguments: Sequence[str]) -> tuple[int, str]:
    """Run the command, and return its exit status and its standard output."""
    try:
        options, files = _parsed(arguments)
        given = {option for option, _ in options}
        call = _call(options)
        if "-h" in given:
            return 0, _help(call)
        if "-v" in given:  # trec_eval prints this on standard error
            print(f"trec_eval version {RELEASES[call.options.release]} ({_version()})", file=sys.stderr)
            return 0, ""
        if len(files) != 2 or files == ["-", "-"]:
            raise Quit(WRONG_CALL, f"give a qrels file and a run file; one of them may be -\n{USAGE}")
        return 0, _evaluated(call, *files)
    except Quit as end:
        print(f"rankgain trec_eval: error: {in_shell(str(end).rstrip())}", file=sys.stderr)
        return end.status, ""


def _evaluated(call: Call, qrels: str, run: str) -> str:
    rankings, judgments, tag = _read(call, qrels, run)
    table = _table(call, rankings, tag)
    for note in _notes(call, rankings.left_out["missing"], judgments.grades, table):
        _note(note)
    queries = _of_queries(table, call.options.release) if call.per_query else ()
    return "".join([*queries, *(_of_all(table) if call.summary else ())])


def _version() -> str:
    return f"rankgain {_backend.VERSION}, backend: {_backend.name}"


# Command-line arguments


class Call(NamedTuple):
    """The settings that result from the command-line options."""

    options: TrecOptions
    columns: list[TrecMeasure]
    per_query: bool
    summary: bool
    complete: bool
    judged_only: bool
    depth: int | None


def _parsed(arguments: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Split the arguments into options, named by letter, and files; options may follow files, as in GNU getopt."""
    letters = "".join(letter[1:] + ":" * (" " in name) for letter, name, _ in OPTIONS if letter)
    names = [re.sub(" .*", "=", name) for _, name, _ in OPTIONS]
    try:
        options, files = getopt.gnu_getopt(list(arguments), letters, names)
    except getopt.GetoptError as error:
        raise Quit(WRONG_CALL, f"{error.msg}\n{USAGE}") from None
    letter_of = {f"--{name.split()[0]}": letter for letter, name, _ in OPTIONS if letter}
    return [(letter_of.get(option, option), value) for option, value in options], files


def _call(options: list[tuple[str, str]]) -> Call:
    last = dict(options)
    for option, value in options:
        if option in ("-D", "-o", "-Z") or value != _FORMATS.get(option, value):
            raise Quit(WRONG_CALL, f"{option} {value}".rstrip() + " is an option of trec_eval that rankgain lacks")
    release = last.get("--release", "10")
    if release not in ("9", "10"):
        raise Quit(WRONG_CALL, f"--release must be 9 or 10, not {release!r}")
    settings = TrecOptions(int(release), _whole("-l", last.get("-l", "1"), 0), _whole("-N", last.get("-N", "0"), 0))
    return Call(
        settings,
        _columns([value for option, value in options if option == "-m"] or ["official"], settings),
        "-q" in last,
        "-n" not in last,
        "-c" in last,
        "-J" in last,
        min(_whole("-M", last["-M"], 1), LARGEST_CUTOFF) if "-M" in last else None,
    )


def _whole(option: str, text: str, lowest: int) -> int:
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text) or int(text) < lowest:
        raise Quit(WRONG_CALL, f"{option} must be an integer of at least {lowest}, not {text!r}")
    return int(text)


def _columns(requests: list[str], options: TrecOptions) -> list[TrecMeasure]:
    """Return the requested columns. Like trec_eval, use only the first parameters that are given for a measure."""
    first: dict[str, str] = {}
    for text in requests:
        name, dot, _ = text.partition(".")
        if dot and first.setdefault(name, text) != text:
            _note(f"-m {text}: trec_eval uses only the first parameters of a measure: {first[name]}")
    known = {*measures(options.release), *nicknames(options.release)}
    try:
        return columns([text for text in requests if text in first.values() or "." not in text], options)
    except ValueError as error:
        named = all(text.partition(".")[0] in known for text in requests)
        raise Quit(UNREADABLE if named else WRONG_CALL, str(error)) from None


def _help(call: Call) -> str:
    shown = [(f"{letter and letter + ',':3} --{name}", text) for letter, name, text in OPTIONS if text]
    options = "".join(f"  {option:<33}  {text}\n" for option, text in shown)
    names = " ".join(measures(call.options.release))
    nicks = " ".join(nicknames(call.options.release))
    return f"{USAGE}{HELP}\n{options}\nMeasures: {names}\nNicknames: {nicks}\n"


def _note(text: str) -> None:
    print(f"rankgain trec_eval: note: {text}", file=sys.stderr)


# Input files


def _tag_of(run: RunColumns) -> str:
    """Return the name of the run: the sixth field of the last line that has six fields and is not a comment."""
    end = run.documents.take(slice(0, 0)).data[-_LONGEST:].tobytes()
    lines = [line.split() for line in end.splitlines() if not line.startswith(b"#")]
    return next((line[5].decode("utf-8", "surrogateescape") for line in reversed(lines) if len(line) > 5), "")


_LONGEST = 1 << 16  # number of bytes to keep at the end of a run; they must include the last line


def _read(call: Call, qrels: str, run: str) -> tuple[Rankings, JudgmentSets, str]:
    """Read the files, and return the rankings, the judgments and the name of the run."""
    try:
        judgments = read_qrels(qrels, "qrels").check()
        columns = read_run(run, compares_tags=False)  # as trec_eval, which looks neither at ranks nor at tags
    except OSError as error:
        raise Quit(UNREADABLE, f"{escaped(str(error.filename or qrels))}: {error.strerror}") from None
    except ValueError as error:
        message = str(error).replace("duplicates='first'", "`rankgain eval --duplicates first`")
        raise Quit(UNREADABLE, message) from None
    if not {*columns.groups.names} & {*judgments.query_ids}:
        raise Quit(NOTHING_IN_COMMON, f"{judgments.name} and {columns.name} have no query in common")
    missing: Missing = "zero" if call.complete else "skip"
    rules = rules_of("docid", ids=True, score_bits=32 if call.options.release == 9 else 64)
    source = ColumnSource(judgments, columns, missing=missing, query_ids=None)
    return Rankings(source, rules), judgments, _tag_of(columns)


# Output


class _Table(NamedTuple):
    """The values to be printed, one vector per column, with the queries in byte order.

    `returned` says for each query whether the run has it. `relevant` holds the values whose sum is printed as num_rel.
    """

    queries: list[str]
    returned: list[bool]
    columns: list[tuple[TrecMeasure, Vector]]
    relevant: Vector


def _table(call: Call, rankings: Rankings, tag: str) -> _Table:
    part = rankings
    if call.depth is not None or call.judged_only:
        part = rankings.limited(depth=call.depth, judged_only=call.judged_only)
    kinds = {"both", *["query"] * call.per_query, *["summary"] * call.summary}
    shown = [column for column in call.columns if column.measure.shown in kinds]
    # With -c, trec_eval's sum of num_rel counts all grades of at least 1, whatever level -l sets.
    relevant = columns(["num_rel"], call.options._replace(level=1 if call.complete else call.options.level))
    try:
        vectors = values([*shown, *relevant], part, run_id=tag, undefined=call.judged_only)
    except ValueError as error:
        raise Quit(NOT_CALCULATED, str(error)) from None
    names = [query.encode("utf-8", "surrogateescape") for query in rankings.query_ids]
    order = sorted(range(len(names)), key=names.__getitem__)
    returned = (sizes_of(rankings) > 0).tolist()
    queries, returned, *ordered, counted = (
        [vector[number] for number in order] for vector in (rankings.query_ids, returned, *vectors)
    )
    return _Table(queries, returned, list(zip(shown, ordered, strict=True)), counted)


def _of_queries(table: _Table, release: int) -> Iterator[str]:
    """Yield the lines of each query; release 9 prints no lines for queries that the run lacks."""
    shown = [(column, vector) for column, vector in table.columns if column.measure.shown != "summary"]
    names = [f"{column.printed:<22}\t" for column, _ in shown]
    texts = [[_text(column, value) for value in vector] for column, vector in shown]
    for query, returned, *row in zip(table.queries, table.returned, *texts, strict=True):
        if returned or release > 9:
            yield "".join([f"{name}{query}\t{text}\n" for name, text in zip(names, row, strict=True)])


def _of_all(table: _Table) -> Iterator[str]:
    for column, vector in table.columns:
        if column.measure.shown != "query":
            value = summary_value(column, table.relevant if column.measure.name == "num_rel" else vector)
            yield f"{column.printed:<22}\tall\t{_text(column, value)}\n"


def _text(column: TrecMeasure, value: float | str) -> str:
    if isinstance(value, str):
        return f"'{value}'" if column.measure.shown == "query" else value
    if value != value:  # the result of 0 / 0, to which x86 gives a minus sign
        return "  -nan"
    return f"{value:.0f}" if column.measure.counts else f"{value:6.4f}"


# Defects of trec_eval that the output reproduces


def _notes(call: Call, missing: int, grades: Floats, table: _Table) -> Iterator[str]:
    """Yield notes on known defects of trec_eval's output; `missing` is the number of queries that the run lacks."""
    if missing and call.options.release == 10 and not call.complete:
        yield (
            f"the run lacks {missing} of the queries of the qrels, which are left out; trec_eval 10 ends there with "
            "status 4; -c counts them as 0"
        )
    if np.any(grades != np.floor(grades)):
        yield "the qrels hold grades with a fraction, which counts here; trec_eval cuts it off"
    if call.judged_only and any(value != value for _, vector in table.columns for value in vector):
        yield "iprec_at_recall and 11pt_avg are 0 / 0 for queries of which -J left nothing, and so are their means"
    for column, vector in table.columns:
        name, key = column.measure.name, column.printed
        if name == "num_rel" and call.summary and vector != table.relevant:
            yield "num_rel: with -c the sum over all queries counts all grades from 1 on, whatever -l says"
        if name == "rbp":
            yield (
                f"{key}: gains are divided by the highest of each query, with bounds that trec_eval 10 never sets; "
                "the published RBP counts relevant documents: rankgain eval -m rbp"
            )
        if column.measure.kind == "gains" and _has_small_steps(column, grades):
            yield f"{key}: some gains differ by less than 1, and trec_eval does not order them"


def _has_small_steps(column: TrecMeasure, grades: Floats) -> bool:
    """Return whether any two different gains of a column differ by less than 1."""
    gain = column.formula.metrics[0].gain.function
    if not isinstance(gain, Gains):
        return False
    named = [float(level) for level, _ in gain.pairs]
    return bool(np.any(np.diff(np.unique(gain(np.append(grades[grades >= 0.0], [0.0, *named])))) < 1.0))
