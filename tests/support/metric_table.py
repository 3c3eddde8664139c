"""Generate the lists of metrics that `docs/generate.py` writes to the docstring of `rankgain.metric`."""

from textwrap import indent, wrap

from rankgain.metrics.parameters import PARAMETERS
from rankgain.metrics.subtopics import NOVELTY, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE


def names(rows):
    return ", ".join(row.name for row in rows)


def lists():
    """Return lists of the metrics that take each parameter, that have no cut-off, and that have no expected value."""
    rows = [*TABLE.values(), *(SUBTOPIC_TABLE[name] for name in NOVELTY)]
    taken = []
    for name in PARAMETERS:
        takers = names(row for row in rows if name in row.takes)
        taken += wrap(takers, 108, initial_indent=f"    {name:<14}", subsequent_indent=" " * 18)
    parts = ["Which metrics take which parameter::", "\n".join(taken)]
    for title, listed in (
        ("Metrics of whole lists, which have no cut-off::", names(row for row in rows if not row.cuts)),
        (
            'Metrics without an expected value over the orders of tied documents, refused under ``ties="average"``::',
            names(row for row in rows if row.unaveraged),
        ),
    ):
        parts += [title, indent("\n".join(wrap(listed, 104)), "    ")]
    return "\n\n".join(parts) + "\n"
