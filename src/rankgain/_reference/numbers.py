"""The specification: numbers, and how what is wrong with a query is refused."""

from rankgain._codes import IN_JUDGED, INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE

LARGE = 1024.0  # from this grade on the exponential gain is not finite


class Refused(Exception):
    """An error in a query: (code, position), the position −1 if there is none."""

    def in_judged(self):
        """The same error among the judged grades."""
        code, position = self.args
        return Refused(code + IN_JUDGED, position)


def check_grade(grade, position, limit=float("inf")):
    """Grades are finite and not negative; those of the exponential gain are below a limit."""
    if not 0.0 <= grade < limit:
        if grade != grade:
            raise Refused(NAN_GRADE, position)
        if grade in (float("inf"), float("-inf")):
            raise Refused(INFINITE_GRADE, position)
        raise Refused(NEGATIVE_GRADE if grade < 0.0 else LARGE_GRADE, position)


def list_of(values, offsets, columns, number):
    """The numbers of a query as floats: a slice between offsets or, if these are None, a row of so many columns."""
    start, stop = (number * columns, number * columns + columns) if offsets is None else offsets[number : number + 2]
    return list(map(float, values.reshape(-1)[start:stop].tolist()))
