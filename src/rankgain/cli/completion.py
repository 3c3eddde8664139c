"""The command `rankgain completion`, which prints a script that completes commands in a shell."""

from __future__ import annotations

import argparse
from typing import Any

from rankgain.cli.reading import extra
from rankgain.cli.writing import show
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE
from rankgain.results.peers import OWN, PEERS

SHELLS = ("bash", "zsh", "fish")


def add(commands: Any) -> None:
    """Add the command."""
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Print a script that completes commands, options, metrics and tools in a shell; write it once to "
        "the file that the shell reads. It needs shtab, but the completion does not run Python.",
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell")
    completion.set_defaults(parser=completion, run=_run, files=None)


def _run(options: argparse.Namespace) -> None:
    shtab = extra("shtab", "completion", "rankgain completion")
    for name, command in options.commands.items():
        for action in command._actions:  # argparse has no public list of them
            if action.dest == "metric":
                action.choices = [*(SIMILARITY_TABLE if name == "diff" else (*TABLE, *SUBTOPIC_TABLE))]
            elif action.dest == "like":
                action.choices = [*PEERS, *([OWN.name] if name == "explain" else [])]
            elif action.dest in ("files", "qrels") or action.metavar == "FILE":
                action.complete = shtab.FILE
    show(shtab.complete(options.root, options.shell) + "\n")
