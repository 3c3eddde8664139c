"""The specification: lists of grades, in rank order or beside scores, to hits and judged grades, in plain Python."""

from rankgain._reference.numbers import first_error
from rankgain.errors import ErrorCode
from rankgain.scalars import Array, Ints


def use_cpu(level: str | None) -> str | None:
    """The level of CPU that the loops are for: plain Python has none."""
    return None


def lanes() -> int:
    """How many float64 a loop takes at once."""
    return 1


def grade_error(grades: Array, offsets: Ints) -> ErrorCode:
    """The first error among the grades, or None."""
    grades, offsets = memoryview(grades), memoryview(offsets)
    for query in range(len(offsets) - 1):
        error_code = first_error(grades[offsets[query] : offsets[query + 1]])
        if error_code:
            return error_code[0], query, error_code[2]
    return None
