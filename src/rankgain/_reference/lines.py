"""Reference implementation of the kernels that process lines of TREC files, compiled in `_compiled/lines.pyx`.

Errors are returned as (code, line, field), both counted from 0.
"""

from typing import Any

from rankgain._codes import FEW_FIELDS, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER
from rankgain.errors import ErrorCode
from rankgain.scalars import Bytes, decimal

# The buffers to fill: starts, ends, values, hashes and runs.
Buffers = tuple[Any, ...]


def scan(
    data: Bytes,
    start: int,
    stop: int,
    buffers: Buffers,
    field_count: int,
    document_field: int,
    value_field: int,
    grades: bool,
) -> tuple[int, int, ErrorCode]:
    """Parse lines of `field_count` fields, and find the query, the document and the score or grade of each line.

    The lines are bytes start … stop − 1 of the data, and the query is the first field. Each row has the start and the
    end of its document, its score or grade, and the hash of its document (valid within this process). A run consists
    of consecutive rows of the same query; `runs` has three numbers for each: the first row, and the start and the end
    of the query id. Return the numbers of rows and of runs, and the first error. Blank lines and lines that begin with
    # are skipped.
    """
    document_start, document_end, value, hashes, runs = buffers
    rows = run_count = 0
    line_start = start
    previous_query = None
    lines = bytes(data[start:stop]).split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            if len(fields) != field_count:
                return 0, 0, (FEW_FIELDS, number, len(fields))
            number_read = decimal(fields[value_field])
            if number_read is None:
                return 0, 0, (NOT_A_NUMBER, number, value_field)
            if number_read != number_read:
                return 0, 0, (NAN_GRADE if grades else NAN_SCORE, number, value_field)
            if grades and number_read in (float("inf"), float("-inf")):
                return 0, 0, (INFINITE_GRADE, number, value_field)
            starts = []
            end = 0
            for field in fields[: document_field + 1]:
                starts.append(line.index(field, end))
                end = starts[-1] + len(field)
            if fields[0] != previous_query:
                query = line_start + starts[0]
                runs[3 * run_count : 3 * run_count + 3] = rows, query, query + len(fields[0])
                previous_query = fields[0]
                run_count += 1
            document = fields[document_field]
            document_start[rows] = line_start + starts[document_field]
            document_end[rows] = document_start[rows] + len(document)
            value[rows] = number_read
            hashes[rows] = hash(document)
            rows += 1
        line_start += len(line) + 1
    return rows, run_count, None
