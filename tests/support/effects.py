"""The results that the fixture `check_option` compares."""

import math

from support.rejections import plain

UNCHANGED = object()  # the expected value where an option must change nothing, as with threads


def is_close(result, expected):
    """Whether the results are equal to 1e-12, number by number."""
    if isinstance(result, dict):
        return [*result] == [*expected] and all(is_close(result[name], expected[name]) for name in result)
    if isinstance(result, list):
        return len(result) == len(expected) and all(map(is_close, result, expected))
    if isinstance(result, float):
        return math.isclose(result, expected, rel_tol=1e-12, abs_tol=1e-300) or repr(result) == repr(float(expected))
    return result == expected


def result_or_error(call):
    """Plain lists and numbers, or the text of what is raised instead."""
    try:
        return plain(call())
    except (ValueError, TypeError, OSError) as error:
        return f"{type(error).__name__}: {error}"
