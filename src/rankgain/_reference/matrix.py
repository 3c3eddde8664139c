"""Reference implementation: read the documents of each query from a matrix of scores and sparse judgments."""

from rankgain._codes import NAN_SCORE
from rankgain._reference.forms import without_pooled
from rankgain._reference.numbers import Refused
from rankgain._reference.ranking import QueryDocuments


def read_matrix(queries, scores, judged_offsets, judged, grades, excluded_offsets, excluded):
    """Yield the documents of each query. Their scores are in a row of the matrix, and judged documents have grades.

    The matrix has one column per document. Excluded columns do not count as documents, and none of them is judged. The
    position in an error is the column.
    """
    for query in queries:
        row = scores[query].tolist()
        judged_rows = slice(judged_offsets[query], judged_offsets[query + 1])
        grade_of = dict(zip(judged[judged_rows].tolist(), grades[judged_rows].tolist(), strict=True))
        left_out = {*excluded[excluded_offsets[query] : excluded_offsets[query + 1]].tolist()}
        columns = [column for column in range(len(row)) if column not in left_out]
        for column in columns:
            if row[column] != row[column]:
                raise Refused(NAN_SCORE, column)
        column_grades = [grade_of.get(column) for column in columns]
        yield QueryDocuments(
            columns, [row[column] for column in columns], column_grades, without_pooled(grade_of.values())
        )
