"""Run the first stage of the engine, which finds the hits, and convert its output to lists."""

import numpy as np

from rankgain import _backend
from rankgain._codes import LISTS, UNLIMITED
from rankgain.data.lines import columns_for
from rankgain.data.rules import Rules
from rankgain.metrics.families import POOLED
from rankgain.metrics.program import find_in_chunk
from rankgain.rankings import parts_of


def plain(hits_found):
    """Convert the hits to lists, or return the error code and the position of the first invalid query."""
    if hits_found.error_code is not None:
        return hits_found.error_code
    hits, judged = int(hits_found.offsets[hits_found.queries]), int(hits_found.judged_offsets[hits_found.queries])
    sizes = {"grade": hits, "first": hits, "last": hits, "judged_grade": judged, "judged_count": judged}
    return {name: getattr(hits_found, name)[: sizes.get(name)].tolist() for name in hits_found._fields[2:]}


def found_in(engine, chunk, room, *, depth=UNLIMITED, judged_depth=UNLIMITED, lowest=POOLED, rules=None):
    """Return the hits and the judged grades of a chunk."""
    program = engine.Program([], [], depth, judged_depth, lowest)
    return plain(find_in_chunk(engine, program, rules or Rules("average").codes, chunk, room))


def found_in_lists(engine, grades, scores, offsets, *, ties="average", **options):
    """Return the hits in flat arrays of grades. Without scores, the grades must be in rank order."""
    chunk = LISTS, 0, len(offsets) - 1, grades, offsets, 0, scores, None, None, 0
    return found_in(engine, chunk, (len(grades), len(grades)), rules=Rules(ties).codes, **options)


def found_in_rankings(engine, rankings, **options):
    """Return the hits of all queries before the first invalid one, where the engine stops reading."""
    source, rules = parts_of(rankings)
    queries = len(rankings) if source.first_invalid_query is None else source.first_invalid_query[0]
    return found_in(engine, source.chunk(0, queries), source.capacity(0, queries), rules=rules.codes, **options)


def scanned(form, data):
    """Scan the data; return the error, or the columns of the rows and the runs of rows."""
    data = np.frombuffer(data, dtype=np.uint8)
    columns, runs = columns_for(len(data) + 1), np.empty(3 * len(data) + 3, dtype=np.int64)
    fields = form.n_fields, form.document, form.value, form.grades
    n_rows, n_runs, error_code = _backend.lines.scan(data, 0, len(data), (*columns, runs), *fields)
    if error_code is not None:
        return error_code
    return repr([column[:n_rows].tolist() for column in columns[:3]] + [runs[: 3 * n_runs].tolist()])
