"""Helpers to parametrize tests, and marks for tests that need the GIL."""

import functools
import inspect
import sys
import sysconfig

import pytest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

freed_at_once = pytest.mark.skipif(
    FREE_THREADED, reason="without a GIL, what another thread made may wait for it or for the collector"
)
freed_at_all = pytest.mark.skipif(
    FREE_THREADED and sys.version_info < (3, 14),
    reason="Python 3.13 without a GIL keeps classes and functions for ever once a thread was started",
)


def quick_first(values, quick=1):
    """Return arguments for `pytest.mark.parametrize`, and mark all of them except the first `quick` as slow."""
    sets = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*values_of_case, marks=[pytest.mark.slow] * (index >= quick))
        for index, values_of_case in enumerate(sets)
    ]


def in_one_case(names, values):
    """Like `pytest.mark.parametrize`, but run all values in a single test case. Use it for many quick cases."""
    names = (names,) if isinstance(names, str) else names
    values = [*values]  # read once, as the test may run on each backend

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

        remaining = [parameter for name, parameter in signature.parameters.items() if name not in names]
        with_each.__signature__ = signature.replace(parameters=remaining)
        return with_each

    return decorate
