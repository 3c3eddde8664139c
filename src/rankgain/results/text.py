"""Tables as people read them: aligned text and HTML."""

from __future__ import annotations

import re
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


def markdown_table(rows: Rows, bold: Container[tuple[int, int]] = ()) -> str:
    """A Markdown table of the rows, of which the first is the header; `bold` as in `html_table`."""
    lines = []
    for row, cells in enumerate(rows):
        texts = [_MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())) for text in cells]
        texts = [f"**{text}**" if (row, column) in bold else text for column, text in enumerate(texts)]
        lines.append(f"| {' | '.join(texts)} |")
        lines += [f"|:---|{'---:|' * (len(cells) - 1)}"] if row == 0 else []
    return "\n".join(lines) + "\n"


def latex_table(rows: Rows, bold: Container[tuple[int, int]] = ()) -> str:
    """A LaTeX table of the rows, with the rules of the package booktabs; `bold` as in `html_table`."""
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(rows[0]) - 1)}}}", r"\toprule"]
    for row, cells in enumerate(rows):
        texts = ["".join(_LATEX.get(letter, letter) for letter in " ".join(text.split())) for text in cells]
        texts = [rf"\textbf{{{text}}}" if (row, column) in bold else text for column, text in enumerate(texts)]
        lines += [" & ".join(texts) + r" \\", *([r"\midrule"] if row == 0 else [])]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


_MARKDOWN = re.compile(r"[\\|`*_\[\]<>&$]")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "{}#$%&_"},
}
