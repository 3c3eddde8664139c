"""The specification: every kernel over lines of TREC files, in plain Python. The compiled half is `_lines`.

What is wrong comes back as (code, line, field), both from 0.
"""

from rankgain._codes import FEW_FIELDS, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER


def decimal(field):
    """The number as `float()` reads it, but without underscores; else None."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def scan_run(data, document_start, document_end, value, runs, totals):
    """Read lines `query Q0 document rank score tag`: where each document stands, and its score.

    `runs` takes five numbers for each run of rows with one query: its first row, where the query's id starts and ends,
    where its first line starts, and which line that is. `totals` takes the numbers of rows, runs and lines. A line
    that is blank or begins with # is none.
    """
    return _scan(data, document_start, document_end, value, runs, totals, 6, None, 4)


def scan_qrels(data, document_start, document_end, value, runs, totals):
    """Read lines `query iteration document grade`, as `scan_run` does."""
    return _scan(data, document_start, document_end, value, runs, totals, 4, 4, 3)


def _scan(data, document_start, document_end, value, runs, totals, least, most, value_field):
    data = bytes(data)
    rows = count = 0
    at = 0
    before = None
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            if len(fields) < least or (most is not None and len(fields) > most):
                return FEW_FIELDS, number, len(fields)
            found = decimal(fields[value_field])
            if found is None:
                return NOT_A_NUMBER, number, value_field
            if found != found:
                return (NAN_SCORE if most is None else NAN_GRADE), number, value_field
            if most is not None and found in (float("inf"), float("-inf")):
                return INFINITE_GRADE, number, value_field
            starts = []
            end = 0
            for field in fields[:3]:
                starts.append(line.index(field, end))
                end = starts[-1] + len(field)
            if fields[0] != before:
                query = at + starts[0]
                runs[5 * count : 5 * count + 5] = (rows, query, query + len(fields[0]), at, number)
                before = fields[0]
                count += 1
            document_start[rows] = at + starts[2]
            document_end[rows] = document_start[rows] + len(fields[2])
            value[rows] = found
            rows += 1
        at += len(line) + 1
    totals[0], totals[1], totals[2] = rows, count, len(lines)
    return None
