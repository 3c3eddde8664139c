"""The specification: the numbers of lists, the checks of grades, and the error of a query."""

from rankgain._codes import IN_JUDGED, INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NEGATIVE_GRADE

LARGE = 1024.0  # from this grade on the exponential gain is not finite


class Refused(Exception):
    """An error in a query: (code, position, number of the term), −1 if it concerns no position or no term."""

    def __init__(self, code, position=-1, term=-1):
        super().__init__(code, position, term)

    def in_judged(self):
        """The same error, with the code for judged grades."""
        code, position, _ = self.args
        return Refused(code + IN_JUDGED, position)

    def in_term(self, term):
        code, position, _ = self.args
        return Refused(code, position, term)

    def in_query(self, query):
        """The error as a kernel returns it: (code, query, position, term)."""
        code, position, term = self.args
        return code, query, position, term


def check_grade(grade, position, limit=float("inf")):
    """Refuse a grade that is negative, not finite, or not below the limit of the exponential gain."""
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
    """The numbers of a query as floats: a slice between offsets or, if these are None, a row of a matrix."""
    start, stop = (number * columns, number * columns + columns) if offsets is None else offsets[number : number + 2]
    return list(map(float, values.reshape(-1)[start:stop].tolist()))
