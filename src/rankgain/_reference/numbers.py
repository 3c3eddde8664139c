"""The specification: numbers, what is wrong with a grade, and how a kernel refuses it, in plain Python."""

import math

from rankgain._codes import INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE


class Refused(Exception):
    """What is wrong with a query: (code, position)."""


def grade_code(grade, exponential=False):
    """The code of what is wrong with a grade, or 0."""
    if grade != grade:
        return NAN_GRADE
    if math.isinf(grade):
        return INFINITE_GRADE
    if grade < 0.0:
        return NEGATIVE_GRADE
    return LARGE_GRADE if exponential and grade >= 1024.0 else 0


def first_error(grades, exponential=False):
    for position, grade in enumerate(grades):
        code = grade_code(grade, exponential)
        if code:
            return code, 0, position
    return None


def list_of(values, offsets, columns, number):
    """The numbers of a query, as float; without offsets they stand in rows of so many columns."""
    start, stop = (number * columns, number * columns + columns) if offsets is None else offsets[number : number + 2]
    return list(map(float, values.reshape(-1)[start:stop].tolist()))
