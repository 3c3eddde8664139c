"""Tables to be read by people: aligned text, HTML, Markdown and LaTeX.

Names come from the caller, so they are escaped and cannot act as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from rankgain.errors import escaped

Rows = Sequence[Sequence[object]]  # the first is the header
Cells = Collection[tuple[int, int]]  # (row, column), the header being row 0
Marks = Mapping[tuple[int, int], str]  # text by cell
Form = Literal["text", "html", "latex", "markdown"]

LONGEST = 100  # maximum of characters in a name
WIDTH = 118  # maximum of characters per line
GAP = 2  # spaces between columns
NO_MARKS: Marks = MappingProxyType({})
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
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
    ord("|"): r"\textbar{}",
    ord("≤"): r"$\leq$",
    ord("…"): r"\dots{}",
}
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # the minus of a number, which LaTeX would set as a hyphen


class Table(NamedTuple):
    """A table to be read by people.

    `below`: the lines of the caption; `names`: the number of columns with names, which are left-aligned.
    """

    rows: Rows
    below: Sequence[str] = ()
    bold: Cells = ()
    raised: Marks = NO_MARKS  # superscripts
    names: int = 1


Lines = Sequence[str]
Block = Table | Lines


def number(value: float) -> str:
    """A value to four places, as trec_eval prints it."""
    return f"{value:.4f}"


def mean_rows(values: Mapping[Any, float]) -> list[list[str]]:
    """The cells of a table with one number per metric."""
    return [["metric", "mean"], *([str(key), number(value)] for key, value in values.items())]


def printable(value: object) -> str:
    """Escape unprintable characters, and shorten a long text in the middle."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    if len(text) > LONGEST:
        from binascii import crc32

        # A checksum distinguishes names that differ in the middle.
        text = f"{text[: LONGEST // 2]}…{crc32(text.encode('utf-8', 'surrogatepass')):08x}…{text[-LONGEST // 2 :]}"
    return escaped(text)


def text_table(rows: Rows, names: int = 1, marks: Marks = NO_MARKS) -> list[str]:
    """Aligned lines with a rule below the first; the first `names` columns are left-aligned, numbers right-aligned.

    `marks` by cell follow the number, in the space between columns, which is wider where they need it.
    """
    texts = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    texts.insert(1, ["-" * width for width in widths])
    marked = {(row + (row > 0), column): mark for (row, column), mark in marks.items()}  # after the rule
    gaps = [GAP] * len(widths)
    for (row, column), mark in marked.items():
        if column + 1 < len(widths):
            blank = widths[column + 1] - len(texts[row][column + 1])
            gaps[column] = max(gaps[column], len(mark) + GAP - blank)
    return [
        "".join(
            (cell.ljust(width) if column < names else cell.rjust(width)) + marked.get((row, column), "").ljust(gap)
            for column, (cell, width, gap) in enumerate(zip(cells, widths, gaps, strict=True))
        ).rstrip(" ")
        for row, cells in enumerate(texts)
    ]


def wrapped(line: str) -> list[str]:
    """The line, broken where it is too long; continuation lines are indented."""
    import textwrap  # imported only to print

    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def marks_of(table: Table) -> Marks:
    """The marks of cells in plain text: a star for bold ones, and superscripts aligned after it."""
    cells = {*table.bold, *(cell for cell, letters in table.raised.items() if letters)}
    return {cell: ("*" if cell in table.bold else " ") + table.raised.get(cell, "") for cell in cells}


def text_of(blocks: Iterable[Block]) -> str:
    """Aligned tables and wrapped lines, with an empty line between blocks."""
    parts = [
        [*text_table(block.rows, block.names, marks_of(block)), *block.below]
        if isinstance(block, Table)
        else [part for line in block for part in wrapped(line)]
        for block in blocks
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _markup(table: Table, escape: Callable[[str], str], bold: str, raised: str) -> list[list[str]]:
    """The cells as markup: escaped, with the patterns for bold text and for text with a superscript applied."""
    rows = []
    for row, cells in enumerate(table.rows):
        texts = []
        for column, value in enumerate(cells):
            text = escape(printable(value))
            text = bold.format(text) if (row, column) in table.bold else text
            letters = table.raised.get((row, column))
            texts.append(raised.format(text, letters) if letters else text)
        rows.append(texts)
    return rows


def html_table(table: Table, kind: str = "") -> str:
    """A table with the caption below; `kind`: the CSS class."""
    import html  # imported only for notebooks and reports: it loads every HTML entity

    def line(row: int, cells: list[str]) -> str:
        scope, names, count = "row" if row else "col", table.names, len(cells)
        sides = ["left"] * names + ["right"] * (count - names)
        heads = names if row else count
        texts = [
            f'<th scope="{scope}" style="text-align: {side}"><bdi>{text}</bdi></th>'
            if column < heads
            else f'<td style="text-align: {side}">{text}</td>'
            for column, (text, side) in enumerate(zip(cells, sides, strict=True))
        ]
        return f"<tr>{''.join(texts)}</tr>"

    rows = _markup(table, html.escape, "<b>{}</b>", "{}<sup>{}</sup>")
    head, *body = (line(row, cells) for row, cells in enumerate(rows))
    below = "<br>".join(map(html.escape, table.below))
    caption = f'<caption style="caption-side: bottom; text-align: left">{below}</caption>' if below else ""
    start = f'<table class="{kind}">' if kind else "<table>"
    return "\n".join([start, caption, f"<thead>{head}</thead>", "<tbody>", *body, "</tbody>", "</table>"])


def html_of(blocks: Iterable[Block]) -> str:
    """Tables, and a paragraph for each block of lines."""
    import html

    return "\n".join(
        html_table(block) if isinstance(block, Table) else f"<p>{'<br>'.join(map(html.escape, block))}</p>"
        for block in blocks
        if block
    )


def _markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


def _markdown_table(table: Table) -> list[str]:
    """A GitHub table, with a paragraph for each line of the caption."""
    head, *body = (f"| {' | '.join(cells)} |" for cells in _markup(table, _markdown, "**{}**", "{}<sup>{}</sup>"))
    rule = f"|{':---|' * table.names}{'---:|' * (len(table.rows[0]) - table.names)}"
    return [head, rule, *body, *_markdown_lines(table.below)]


def _markdown_lines(lines: Sequence[str]) -> list[str]:
    return [f"\n{_markdown(line)}" for line in lines]


def _join_blocks(blocks: Iterable[Block], table: Callable[[Table], Lines], lines: Callable[[Lines], Lines]) -> str:
    """The text of the blocks, with an empty line between them."""
    parts = [table(block) if isinstance(block, Table) else lines(block) for block in blocks]
    return "\n".join("\n".join([*part, ""]) for part in parts if part)


def _latex(text: str) -> str:
    return _MINUS.sub("$-$", text.translate(_LATEX))


def _latex_table(table: Table) -> list[str]:
    """A table with the rules of booktabs, and a caption if it has lines below.

    Superscripts are in a separate column, without space before it, so that the numbers are aligned.
    """
    pairs = {column for (_, column), letters in table.raised.items() if letters}
    columns = ["r@{}l" if column in pairs else "r" for column in range(table.names, len(table.rows[0]))]
    head, *body = _markup(table, _latex, r"\textbf{{{}}}", r"{} & \textsuperscript{{{}}}")
    for column in pairs:
        head[column] = rf"\multicolumn{{2}}{{r}}{{{head[column]}}}"
        for row, cells in enumerate(body, 1):
            cells[column] += "" if table.raised.get((row, column)) else " &"
    first, *lines = (" & ".join(cells) + r" \\" for cells in [head, *body])
    start = [rf"\begin{{tabular}}{{{'l' * table.names}{''.join(columns)}}}", r"\toprule", first, r"\midrule"]
    whole = [*start, *lines, r"\bottomrule", r"\end{tabular}"]
    if not table.below:
        return whole
    caption = " ".join(f"{_latex(line).removesuffix('.')}." for line in table.below)
    return [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", *whole, r"\end{table}"]


def _latex_comments(lines: Lines) -> Lines:
    return [f"% {_latex(line)}" for line in lines]


class Tables:
    """Results that print as tables, for papers and notebooks."""

    __slots__ = ()

    def _tables(self, form: Form) -> Iterable[Block]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return the printed tables in Markdown (GitHub's).

        Returns
        -------
        str
            The tables, each followed by notes. The best values of several runs are in bold.

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
        return _join_blocks(self._tables("markdown"), _markdown_table, _markdown_lines)

    def to_latex(self) -> str:
        r"""Return the printed tables in LaTeX, for the package booktabs.

        Returns
        -------
        str
            The tables; one with notes is a float with a caption. The best values of several runs are in bold.

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
        return _join_blocks(self._tables("latex"), _latex_table, _latex_comments)

    def _repr_html_(self) -> str:
        return html_of(self._tables("html"))


class Printed(Tables):
    """Results that print as tables."""

    __slots__ = ()

    def table(self) -> str:
        """Return the printed text: aligned tables with notes.

        Returns
        -------
        str
            The tables, each followed by the findings and by notes about the numbers.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).table().splitlines()[2])
        rr      0.5000
        """
        return text_of(self._tables("text"))

    def __repr__(self) -> str:
        return self.table()
