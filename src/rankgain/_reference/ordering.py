"""The specification: lists of grades, in rank order or beside scores, to hits and judged grades, in plain Python."""

from ctypes import c_float
from itertools import groupby

from rankgain._codes import IN_JUDGED, NAN_SCORE, STABLE
from rankgain._reference.numbers import Refused, first_error, grade_code, list_of
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


def find_in_lists(chunk, number, rules, judged_depth, depth, lowest):
    """The length of a list, its hits, and the judged grades, which are its own unless they stand beside it.

    Of a score and a grade that are no good the one that comes first is refused.
    """
    grades, offsets, columns, scores, judged, judged_offsets, judged_columns = chunk
    own = list_of(grades, offsets, columns, number)
    keys = None if scores is None else list_of(scores, offsets, columns, number)
    for position, grade in enumerate(own):
        if keys is not None and keys[position] != keys[position]:
            raise Refused(NAN_SCORE, position)
        code = grade_code(grade)
        if code:
            raise Refused(code, position)
    if keys is None:
        hits = [(grade, rank, rank) for rank, grade in enumerate(own[: min(depth, len(own))], 1) if grade > lowest]
    else:
        keys = [c_float(score).value for score in keys] if rules.single else keys
        order = sorted(range(len(own)), key=lambda index: -keys[index])
        in_order = [keys[index] for index in order], [own[index] for index in order]
        hits = place(*in_order, depth, lowest, rules.ties == STABLE)
    known = own if judged is None else list_of(judged, judged_offsets, judged_columns, number)
    for position, grade in enumerate(known if judged is not None else ()):
        code = grade_code(grade)
        if code:
            raise Refused(code + IN_JUDGED, position)
    return len(own), hits, count_grades(known, judged_depth)


def place(scores, grades, depth, lowest, resolved):
    """(grade, first, last) for each hit of one query, whose documents come highest score first.

    A hit has a grade above `lowest`, not None. `resolved`: ties stand in the order given, each document on its own. A
    group that starts at or before the depth is carried whole, and inside it hits stand by grade, highest first.
    """
    found, rank = [], 1
    for _, group in groupby(range(len(scores)), key=lambda index: index if resolved else scores[index]):
        if rank > depth:
            break
        members = [grades[index] for index in group]
        last = rank + len(members) - 1
        hits = [grade for grade in members if grade is not None and grade > lowest]
        found += [(grade, rank, last) for grade in sorted(hits, reverse=True)]
        rank = last + 1
    return found


def count_grades(grades, depth):
    """The `depth` highest of the grades, −0.0 as 0.0: distinct, highest first, with the number of each."""
    highest = sorted((grade + 0.0 for grade in grades), reverse=True)[: min(depth, len(grades))]
    return [(grade, len(list(same))) for grade, same in groupby(highest)]
