"""The parser of the command line, whose messages suggest what to write."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from rankgain.cli.writing import show
from rankgain.errors import nearest
from rankgain.tools.wording import in_shell

# matches query=['session', 'type'], one key, and query=('user', 'account'), a pair
_KEY = r"\bquery=(?P<open>[\[(])(?P<names>'[^']*'(?:, '[^']*')*)[\])]"


def _key_options(match: re.Match[str]) -> str:
    names = re.findall(r"'([^']*)'", match["names"])
    return " ".join(f"--query {name}" for name in ([",".join(names)] if match["open"] == "[" else names))


# matches ties='stable', flips=19 and rankings.under(ties='stable')
_KEYWORD = (
    r"(?P<call>\b[\w.]+\((?:\w+, )*)?\b(?P<name>\w+)=(?:'(?P<text>[\w-]+)'|(?P<number>\d+(?:\.\d+)?\b))(?(call)\))"
)


class Parser(argparse.ArgumentParser):
    """An argument parser that suggests the nearest option or choice in its error messages.

    It prints one line of usage before an error, and reports a full disk when it prints its help.
    """

    def error(self, message: str) -> NoReturn:
        positional = "".join(f" {action.metavar or action.dest.upper()}" for action in self._get_positional_actions())
        self.exit(2, f"usage: {self.prog} [options]{positional}\n{self.prog}: error: {message}\n")

    def unrecognized(self, arguments: Sequence[str]) -> str:
        """Return the error for unknown arguments, with the option that is most similar to one of them, if any."""
        options = {option.lstrip("-"): option for option in self._option_string_actions}
        unknown = (argument.partition("=")[0].lstrip("-") for argument in arguments if argument.startswith("-"))
        near = next(
            (f"; did you mean {options[name]}?" for name in (nearest(each, options) for each in unknown) if name), ""
        )
        return f"unrecognized arguments: {' '.join(arguments)}{near}"

    def in_options(self, message: str, given: Sequence[str]) -> str:
        """Replace Python in a message by what a shell has: keyword arguments, except in text that the user gave."""

        def option(keyword: re.Match[str]) -> str:
            known = f"--{keyword['name']}" in self._option_string_actions
            known = known and not any(keyword[0] in argument for argument in given)
            return f"--{keyword['name']} {keyword['text'] or keyword['number']}" if known else keyword[0]

        message = re.sub(_KEY, _key_options, re.sub(_KEYWORD, option, in_shell(message)))
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
        show(self.format_help())


class Print(argparse.Action):
    """An action that prints the result of a function and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        show(f"{self.const()}\n")
        parser.exit()
