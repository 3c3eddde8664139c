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
    """Return the rows, their queries and the query numbers, or the error."""
    data = np.array(bytearray(data), dtype=np.uint8)  # ends exactly at the end of the allocation
    *buffers, totals = read_lines.BlockBuffers().of(len(data) // form.min_bytes + 1)
    fields = form.n_fields, form.document, form.value, form.grades
    error = _backend.lines.scan((data, *buffers), totals, *fields)
    if error is not None:
        return error
    rows, count, lines = totals.tolist()
    starts, ends, values, _, runs = buffers
    runs = runs[: 5 * count]
    text = Keys(data, runs[1::5].copy(), runs[2::5].copy())
    return starts[:rows], ends[:rows], values[:rows], runs, lines, NumberedIds("str").add(text)
