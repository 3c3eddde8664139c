"""The command line interface, with commands such as `rankgain eval QRELS RUN -m ndcg@10`."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from rankgain import _backend
from rankgain.cli.writing import show
from rankgain.errors import escaped
from rankgain.results.text import fitted
from rankgain.tools.wording import in_shell, warnings_in_shell

if TYPE_CHECKING:
    from rankgain.cli.parser import Parser


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
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]

    def reword(message: str) -> str:
        return in_shell(message) if options is None else options.parser.in_options(message, given)

    options = None
    try:
        with warnings_in_shell(reword):
            if given[:1] == ["trec_eval"]:  # this command parses its own options
                from rankgain.tools import trec_eval

                status, text = trec_eval.main(given[1:])
                show(text)
                return status
            options = _options(given)
            options.arguments = given
            with fitted() if getattr(options, "output", None) is None else contextlib.nullcontext():
                return options.run(options) or 0
    except BrokenPipeError:  # the reader has closed the pipe
        pass
    except (ValueError, TypeError, ImportError) as error:
        return _fail(reword(str(error)))
    except OSError as error:
        return _fail(f"{escaped(str(error.filename or 'standard output'))}: {error.strerror}")
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.command is None:
        message = parser.unrecognized(rest) if rest else "give a command"
        parser.exit(2, f"{parser.format_help()}\nrankgain: error: {message}\n")
    if any(argument.startswith("-") and argument != "-" for argument in rest) or (rest and options.files is None):
        options.parser.error(options.parser.unrecognized(rest))
    if rest:
        options.files += rest  # files that were given after an option
    return options


def _fail(message: str) -> int:
    print(f"rankgain: error: {message}", file=sys.stderr)
    return 1


def _parser() -> Parser:
    # imported only here, because these take half as long to import as `trec_eval` takes to evaluate a short run
    from rankgain.cli import agreement, compare, completion, diff, evaluate, explain, metrics
    from rankgain.cli.parser import Parser, Print

    epilog = "rankgain help COMMAND: the options of a command"
    parser = Parser(prog="rankgain", description="Ranking metrics from qrels and runs.", epilog=epilog)
    parser.add_argument("--version", action=Print, nargs=0, const=_version, help="show the version and the backend")
    parser.add_argument("--include", action=Print, nargs=0, const=_include, help="show the folder of rankgain.h")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for each in (evaluate, compare, diff, agreement, explain, metrics, completion):
        each.add(commands)
    as_trec_eval = "evaluate a run with trec_eval's options and output"
    commands.add_parser("trec_eval", add_help=False, help=as_trec_eval).set_defaults(parser=parser, files=None)
    parser.set_defaults(root=parser, commands=commands.choices)  # for `completion`
    return parser


def _include() -> str:
    folder: str = import_module("rankgain").get_include()
    return folder


def _version() -> str:
    note = ""
    if _backend.name == "python":
        forced = os.environ.get("RANKGAIN_BACKEND") == "python"
        note = ", by RANKGAIN_BACKEND" if forced else ": no compiled extension is installed; same numbers, slower"
    return f"rankgain {_backend.VERSION} (backend: {_backend.name}{note})"
