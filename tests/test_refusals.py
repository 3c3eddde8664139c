"""What is refused, and in which words: a row per (call, argument, bad value, message), on each backend.

The rows stand in `support/refusals`, a file per subject. A refusal has the very type that its row names, its text has
all parts of the message, both backends say the same, and no argument is changed.
"""

import pytest
from support.cases import check_each, table
from support.refusals import all_rows


@pytest.mark.usefixtures("own_folder")
@table(all_rows())
def test_refused(on_both, cases):
    compiled, *python = on_both(lambda: check_each(cases))
    assert python in ([], [compiled])
