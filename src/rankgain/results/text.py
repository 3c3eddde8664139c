"""Tables as people read them: aligned text and HTML."""

from __future__ import annotations

from collections.abc import Container, Sequence

Rows = Sequence[Sequence[str]]


def number(value: float) -> str:
    """A value to four places, as trec_eval prints it."""
    return f"{value:.4f}"


def text_table(rows: Rows, names: int = 1) -> list[str]:
    """Aligned lines with a rule below the first; the first `names` columns are left-aligned, numbers right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column < names else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip(" ")
        for row in rows
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def html_table(rows: Rows, notes: Sequence[str], bold: Container[tuple[int, int]] = ()) -> str:
    """A table of the rows, of which the first is the header; `bold`: (row, column) of cells, the header being row 0."""
    import html  # imported only for notebooks: it loads every HTML entity

    def cell(row: int, column: int, text: str) -> str:
        text = html.escape(text)
        if (row, column) in bold:
            text = f"<b>{text}</b>"
        if column == 0:
            return f'<th style="text-align: left">{text}</th>'
        tag = "td" if row else "th"
        return f'<{tag} style="text-align: right">{text}</{tag}>'

    lines = ["".join(cell(row, column, text) for column, text in enumerate(cells)) for row, cells in enumerate(rows)]
    head, *body = (f"<tr>{line}</tr>" for line in lines)
    caption = (
        f'<caption style="caption-side: bottom; text-align: left">{"<br>".join(map(html.escape, notes))}</caption>'
    )
    return "\n".join(["<table>", caption, f"<thead>{head}</thead>", "<tbody>", *body, "</tbody>", "</table>"])
