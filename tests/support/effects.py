"""Compare results for the fixture `check_option`."""

import math

from support.rejections import plain

UNCHANGED = object()  # the expected value if an option, such as `threads`, must not change the result


def is_close(result, expected):
    """Return whether all numbers in the two results agree to a relative tolerance of 1e-12."""
    if isinstance(result, dict):
        return [*result] == [*expected] and all(is_close(result[name], expected[name]) for name in result)
    if isinstance(result, list):
        return len(result) == len(expected) and all(map(is_close, result, expected))
    if isinstance(result, float):
        return math.isclose(result, expected, rel_tol=1e-12, abs_tol=1e-300) or repr(result) == repr(float(expected))
    return result == expected


def result_or_error(call):
    """Return the result as plain lists and numbers, or the text of the exception if the call raises."""
    try:
        return plain(call())
    except (ValueError, TypeError, OSError) as error:
        return f"{type(error).__name__}: {error}"
