"""The bytes of a run, and of qrels: scanned as they are, with no more room than a block of a file has."""

import numpy as np

from rankgain import _backend
from rankgain.data import lines as read_lines
from rankgain.data.groups import NumberedIds
from rankgain.data.ids import Keys

FORMS = read_lines.RUN, read_lines.QRELS, read_lines.MSMARCO_RUN, read_lines.BEIR_QRELS


def call(draw):
    data = draw.rest()
    return lambda: [scanned(form, data) for form in FORMS]


def scanned(form, data):
    """The rows, their queries and the numbers of those; or what is wrong."""
    data = np.array(bytearray(data), dtype=np.uint8)  # whose end is the end of what was allocated
    *buffers, totals = read_lines.BlockBuffers().of(len(data) // form.min_bytes + 1)
    fields = form.n_fields, form.document, form.value, form.grades
    fault = _backend.lines.scan((data, *buffers), totals, *fields)
    if fault is not None:
        return fault
    rows, count, lines = totals.tolist()
    starts, ends, values, _, runs = buffers
    runs = runs[: 5 * count]
    text = Keys(data, runs[1::5].copy(), runs[2::5].copy())
    return starts[:rows], ends[:rows], values[:rows], runs, lines, NumberedIds("str").add(text)
