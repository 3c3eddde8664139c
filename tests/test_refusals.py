"""What is refused, and in which words: a row per (call, argument, bad value, message), on each backend.

The rows stand in `support/refusals`, a file per subject. A refusal has the very type that its row names, its text has
all parts of the message, both backends say the same, and no argument is changed.
"""

from contextlib import chdir
from importlib import import_module
from importlib.util import find_spec

import pytest
from support.cases import check_each, table

SUBJECTS = {  # and what they need
    "parameters": (),
    "metrics": (),
    "lists": (),
    "documents": (),
    "columns": ("pandas", "polars", "pyarrow", "scipy"),
    "training": ("sklearn",),
}
ROWS = [
    case
    for subject, needs in SUBJECTS.items()
    if all(map(find_spec, needs))
    for case in import_module(f"support.refusals.{subject}").rows()
]


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    with chdir(tmp_path_factory.mktemp("files")):
        yield


@table(ROWS)
def test_refused(on_both, cases):
    compiled, *python = on_both(lambda: check_each(cases))
    assert python in ([], [compiled])
