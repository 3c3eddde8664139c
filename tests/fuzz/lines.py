"""Fuzz the scanner of run and qrels files directly, with buffers sized for one block of a file."""

import numpy as np

from rankgain import _backend
from rankgain.data import lines as read_lines
from rankgain.data.groups import NumberedIds
from rankgain.data.ids import Keys

FORMS = read_lines.RUN, read_lines.QRELS, read_lines.MSMARCO_RUN, read_lines.BEIR_QRELS


def call(draw):
    data = draw.rest()
    return lambda: [scan(form, data) for form in FORMS]


def scan(form, data):
    """Return the rows, the runs of rows and the query numbers, or the error."""
    data = np.array(bytearray(data), dtype=np.uint8)  # ends exactly at the end of the allocation
    lines = data.tobytes().count(b"\n") + 1
    columns, runs = read_lines.columns_for(lines), np.empty(3 * lines, dtype=np.int64)
    fields = form.n_fields, form.document, form.value, form.grades
    n_rows, n_runs, error_code = _backend.lines.scan(data, 0, len(data), (*columns, runs), *fields)
    if error_code is not None:
        return error_code
    starts, ends, values, _ = (column[:n_rows] for column in columns)
    runs = runs[: 3 * n_runs]
    return starts, ends, values, runs, NumberedIds("str").add(Keys(data, runs[1::3].copy(), runs[2::3].copy()))
