"""Tables for people: aligned text, HTML, Markdown and LaTeX.

Names in them come from outside, so they are escaped: none may act as markup.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankgain.errors import escaped

Rows = Sequence[Sequence[object]]  # the first is the header
Cells = Container[tuple[int, int]]  # (row, column), the header being row 0

Raised = Mapping[tuple[int, int], str]  # superscripts by cell
NONE: Raised = {}

LONGEST = 100  # characters of a name
_MARKDOWN = {
    **{ord(letter): f"\\{letter}" for letter in "\\|`*_[]$"},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}
_LATEX = {
    **{ord(letter): f"\\{letter}" for letter in "{}#$%&_"},
    ord("\\"): r"\textbackslash{}",
    ord("~"): r"\textasciitilde{}",
    ord("^"): r"\textasciicircum{}",
}


def number(value: float) -> str:
    """A value to four places, as trec_eval prints it."""
    return f"{value:.4f}"


def mean_rows(values: Mapping[Any, float]) -> list[list[str]]:
    """The cells of a table with one number per metric."""
    return [["metric", "mean"], *([str(key), number(value)] for key, value in values.items())]


def printable(value: object) -> str:
    """The text in printable characters, others escaped, and the middle of a long text left out."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    if len(text) > LONGEST:
        from binascii import crc32

        # A checksum distinguishes names that differ in the middle.
        text = f"{text[: LONGEST // 2]}…{crc32(text.encode('utf-8', 'surrogatepass')):08x}…{text[-LONGEST // 2 :]}"
    return escaped(text)


def text_table(rows: Rows, names: int = 1) -> list[str]:
    """Aligned lines with a rule below the first; the first `names` columns are left-aligned, numbers right-aligned."""
    texts = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column < names else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip(" ")
        for row in texts
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def html_table(rows: Rows, below: Sequence[str] = (), bold: Cells = (), raised: Raised = NONE, names: int = 1) -> str:
    """A table with lines below it."""
    import html  # imported only for notebooks: it loads every HTML entity

    def cell(row: int, column: int, value: object) -> str:
        text = html.escape(printable(value))
        if (row, column) in bold:
            text = f"<b>{text}</b>"
        if raised.get((row, column)):
            text += f"<sup>{html.escape(raised[row, column])}</sup>"
        if column < names:
            return f'<th style="text-align: left">{text}</th>'
        tag = "td" if row else "th"
        return f'<{tag} style="text-align: right">{text}</{tag}>'

    lines = ["".join(cell(row, column, text) for column, text in enumerate(cells)) for row, cells in enumerate(rows)]
    head, *body = (f"<tr>{line}</tr>" for line in lines)
    caption = (
        f'<caption style="caption-side: bottom; text-align: left">{"<br>".join(map(html.escape, below))}</caption>'
    )
    return "\n".join(["<table>", caption, f"<thead>{head}</thead>", "<tbody>", *body, "</tbody>", "</table>"])


def markdown_table(
    rows: Rows, below: Sequence[str] = (), bold: Cells = (), raised: Raised = NONE, names: int = 1
) -> str:
    """A Markdown table (GitHub's), with paragraphs below it; `names`: columns of text, which are set to the left."""
    lines = []
    for row, cells in enumerate(rows):
        texts = [printable(cell).translate(_MARKDOWN) for cell in cells]
        texts = [f"**{text}**" if (row, column) in bold else text for column, text in enumerate(texts)]
        texts = [
            f"{text}<sup>{raised[row, column]}</sup>" if raised.get((row, column)) else text
            for column, text in enumerate(texts)
        ]
        lines.append(f"| {' | '.join(texts)} |")
        lines += [f"|{':---|' * names}{'---:|' * (len(cells) - names)}"] if row == 0 else []
    return "\n".join([*lines, *(f"\n{line.translate(_MARKDOWN)}" for line in below), ""])


def latex_table(rows: Rows, below: Sequence[str] = (), bold: Cells = (), raised: Raised = NONE, names: int = 1) -> str:
    """A LaTeX table with the rules of the package booktabs, and comments below it."""
    lines = [rf"\begin{{tabular}}{{{'l' * names}{'r' * (len(rows[0]) - names)}}}", r"\toprule"]
    for row, cells in enumerate(rows):
        texts = [printable(cell).translate(_LATEX) for cell in cells]
        texts = [rf"\textbf{{{text}}}" if (row, column) in bold else text for column, text in enumerate(texts)]
        texts = [
            f"{text}$^{{{raised[row, column]}}}$" if raised.get((row, column)) else text
            for column, text in enumerate(texts)
        ]
        lines += [" & ".join(texts) + r" \\", *([r"\midrule"] if row == 0 else [])]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {line.translate(_LATEX)}" for line in below), ""])


Form = Literal["html", "latex", "markdown"]


class Table(NamedTuple):
    """A table for people: its cells, the header first, lines below it, the cells in bold, superscripts by cell, and how
    many columns hold names."""

    rows: Rows
    below: Sequence[str] = ()
    bold: Cells = ()
    raised: Raised = NONE
    names: int = 1


class Tables:
    """Results that print as tables, for papers and notebooks."""

    __slots__ = ()

    def _tables(self, form: Form) -> Iterable[Table]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return the printed tables in Markdown (GitHub's).

        Returns
        -------
        str
            The tables, each with its notes below. The best values of several runs are in bold.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.from_ranked([[0, 1]]).evaluate("rr", "cg@1").to_markdown())
        | metric | mean |
        |:---|---:|
        | rr | 0.5000 |
        | cg@1 | 0.0000 |
        <BLANKLINE>
        """
        return "\n".join(markdown_table(*table) for table in self._tables("markdown"))

    def to_latex(self) -> str:
        r"""Return the printed tables in LaTeX, for the package booktabs.

        Returns
        -------
        str
            The tables, each with its notes as comments below. The best values of several runs are in bold.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.from_ranked([[0, 1]]).evaluate("rr", "cg@1").to_latex())
        \begin{tabular}{lr}
        \toprule
        metric & mean \\
        \midrule
        rr & 0.5000 \\
        cg@1 & 0.0000 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        return "\n".join(latex_table(*table) for table in self._tables("latex"))

    def _repr_html_(self) -> str:
        return "\n".join(html_table(*table) for table in self._tables("html"))
