"""The rows of the table of refusals, a file per subject."""

from importlib import import_module
from importlib.util import find_spec

SUBJECTS = {  # and what they need
    "columns": ("pandas", "polars", "pyarrow", "scipy"),
}


def all_rows():
    for subject, needs in SUBJECTS.items():
        if all(map(find_spec, needs)):
            yield from import_module(f"support.refusals.{subject}").rows()
