"""Calls that are refused, and calls that only look odd: what the tables of cases are made of."""

import re
from collections import defaultdict

import numpy as np
import pytest

from support.public_calls import PUBLIC
from support.rejections import SHORT, outcome, plain, snapshot

SAME = object()  # the expected value of an option that must change nothing
HUGE = 10**400  # an int that is no float64
GOOD = {"q": {"d": 1}}


class Case:
    """A call, and what must come of it: a value, or an exception of this very type whose text holds all the parts."""

    def __init__(self, expected, parts, function, *args, **options):
        self.expected, self.parts = expected, parts.split(" | ")
        self.name, self.function, self.args, self.options = function.__name__, function, args, options

    def __call__(self):
        return self.function(*self.args, **self.options)

    def __str__(self):
        given = [*map(SHORT.repr, self.args), *(f"{name}={SHORT.repr(self.options[name])}" for name in self.options)]
        return f"{self.function.__name__}({re.sub(r'( object)? at 0x[0-9a-fA-F]+', '', ', '.join(given))[:150]})"


def refused(calls, argument, values, error, message, **given):
    """Rows of the table of refusals: each of these calls refuses the argument for each of these values.

    ``calls`` are names of `PUBLIC`, which has the other arguments; ``given`` are further ones. The message has all
    parts of ``message``, which " | " separates; ``{}`` stands for the type of the value.
    """
    for call in calls.split():
        function, good = PUBLIC[call]
        for value in values:
            parts = message.format(type(value).__name__) if "{}" in message else message
            case = Case(error, parts, function, **{**good, **given, argument: value})
            case.name = call
            yield case


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


def works(expected, function, *args, **options):
    return Case(expected, "", function, *args, **options)


def named(name, function):
    function.__name__ = name
    return function


def passing(parameter, function, *args, **options):
    """The function as one of this parameter alone."""
    return named(f"{function.__name__} {parameter}", lambda value: function(*args, **options, **{parameter: value}))


def each(rows, part, *functions):
    """A case for each value of each row (exception, parts, *values) in each function; {} is the type of the value."""
    for expected, parts, *values in rows:
        for value in values:
            for function in functions:
                yield Case(expected, f"{part} | {parts.format(type(value).__name__)}", function, value)


def by_name(cases):
    """A parameter for the cases of each call, with its name."""
    found = defaultdict(list)
    for case in cases:
        found[case.name].append(case)
    return [pytest.param(own, id=name) for name, own in found.items()]


def table(cases):
    """A test of the cases of each call, named after it."""
    return pytest.mark.parametrize("cases", by_name(cases))


def vectors_or_error(call):
    """The vectors of an Evaluation by metric, or the type and the text of what is raised instead."""
    try:
        return {name: vector.tolist() for name, vector in call().items()}
    except Exception as error:
        return type(error), str(error)


def is_due(case, kind, text):
    if isinstance(case.expected, type) and issubclass(case.expected, Exception):
        return kind is case.expected and all(part in text for part in case.parts)
    return (kind, text) == ("no error", repr(case.expected))


def check_each(cases):
    """Make each call and return the outcomes. Fails with all whose outcome is not due."""
    outcomes, faults = [], []
    for case in cases:
        given = [*case.args, *case.options.values()]
        before = snapshot(given)
        outcomes.append(outcome(case))
        if not is_due(case, *outcomes[-1]):
            faults.append(f"{case}: {outcomes[-1]}, not {case.expected} {case.parts}")
        if snapshot(given) != before:
            faults.append(f"{case}: what was given has changed")
    assert not faults, "\n".join(faults)
    return outcomes


def masked(*mask):
    return np.ma.masked_array(np.arange(1.0, len(mask) + 1), mask)
