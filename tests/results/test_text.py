"""Aligned tables keep their columns whatever the marks."""

import pytest

from rankgain.results.text import text_table

ROWS = [["run", "mean", "other"], ["a", "0.5", "0.25"], ["bc", "0.75", "0.1"], ["d", "0.5", "10.125"]]


@pytest.mark.parametrize(
    "marks", [{}, {(1, 1): "*"}, {(1, 1): "*abcdef"}, {(3, 1): " abc", (1, 1): " abcd"}, {(2, 2): " ab"}]
)
def test_columns_do_not_shift_where_marks_are_longer_than_the_gap(marks):
    head, _, *body = text_table(ROWS, marks=marks)
    end = head.index("other") + len("other")
    for row, (line, cells) in enumerate(zip(body, ROWS[1:], strict=True), 1):
        assert line[:end].endswith(cells[2])
        mark = marks.get((row, 1), "")
        assert f"{cells[1]}{mark}  " in line
        assert line[end:] == marks.get((row, 2), "")
