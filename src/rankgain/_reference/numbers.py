"""Reference implementation: read lists of numbers, check grades, and represent the error in a query."""

from rankgain._codes import IN_JUDGED, INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE

INFINITE_FROM = 1024.0  # this grade and all higher ones have an infinite exponential gain


class Refused(Exception):
    """An error in a query: its code, position and term. The position or term is −1 if the error does not have one."""

    def __init__(self, code, position=-1, term=-1):
        super().__init__(code, position, term)

    def in_judged(self):
        """Return this error with the code that is used for judged grades."""
        code, position, _ = self.args
        return Refused(code + IN_JUDGED, position)

    def in_term(self, term):
        code, position, _ = self.args
        return Refused(code, position, term)

    def in_query(self, query):
        """Return the error in the form that kernels use: (code, query, position, term)."""
        code, position, term = self.args
        return code, query, position, term


def check_grade(grade, position, limit=float("inf")):
    """Raise Refused if a grade is negative, not finite, or at least `limit`."""
    if not 0.0 <= grade < limit:
        if grade != grade:
            raise Refused(NAN_GRADE, position)
        if grade in (float("inf"), float("-inf")):
            raise Refused(INFINITE_GRADE, position)
        raise Refused(NEGATIVE_GRADE if grade < 0.0 else LARGE_GRADE, position)


def check_grades(grades, limit=float("inf")):
    for position, grade in enumerate(grades):
        check_grade(grade, position, limit)


def list_of(values, offsets, columns, number):
    """Return the numbers of a query as floats: a slice between two offsets or, without offsets, a row of a matrix."""
    start, stop = (number * columns, number * columns + columns) if offsets is None else offsets[number : number + 2]
    return list(map(float, values.reshape(-1)[start:stop].tolist()))
