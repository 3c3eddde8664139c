"""Rows of the tables of options."""

from collections import defaultdict

import pytest

from support.public_calls import PUBLIC
from support.rejections import SHORT, plain

SAME = object()  # the expected value of an option that must change nothing


class Option:
    """A row of the table of options: what a call gives with one option at a value that matters."""

    def __init__(self, call, option, value, expected, **given):
        self.name, self.option, self.value, self.expected = call, option, value, expected
        self.function, good = PUBLIC[call]
        self.given = {**good, **given}

    def __str__(self):
        given = "".join(f", {name}={SHORT.repr(value)}" for name, value in self.given.items())
        return f"{self.name}({self.option}={SHORT.repr(self.value)}{given})"

    def with_it(self):
        return plain(self.function(**{**self.given, self.option: self.value}))

    def without_it(self):
        """The same without the option, or the error that it is."""
        try:
            return plain(self.function(**self.given))
        except (ValueError, TypeError, OSError) as error:
            return str(error)


def by_name(cases):
    """A parameter for the cases of each call, with its name."""
    found = defaultdict(list)
    for case in cases:
        found[case.name].append(case)
    return [pytest.param(own, id=name) for name, own in found.items()]
