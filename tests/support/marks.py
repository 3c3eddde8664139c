"""Which parameters of a test the quick suite takes, and which stand in one case together."""

import functools
import inspect

import pytest


def quick_first(values, quick=1):
    """Parameters for `pytest.mark.parametrize`: the first few for the quick suite, the others marked slow."""
    sets = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*own, marks=[pytest.mark.slow] * (place >= quick)) for place, own in enumerate(sets)]


def in_one_case(names, values):
    """As `pytest.mark.parametrize`, with one case for all values: where there are many, and each takes a moment."""
    names = (names,) if isinstance(names, str) else names

    def decorate(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def with_each(**others):
            for value in values:
                given = dict(zip(names, value if len(names) > 1 else (value,), strict=True))
                try:
                    test(**others, **given)
                except Exception as error:
                    error.add_note(f"with {given}")
                    raise

        kept = [parameter for name, parameter in signature.parameters.items() if name not in names]
        with_each.__signature__ = signature.replace(parameters=kept)
        return with_each

    return decorate
