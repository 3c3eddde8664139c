"""Tables to be read by people: aligned text, HTML, Markdown and LaTeX.

Names come from the caller, so they are escaped and cannot act as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgain.errors import escaped, quoted
from rankgain.metrics.metric import is_share
from rankgain.scalars import check_whole

Rows = Sequence[Sequence[object]]  # the first is the header
Cells = Collection[tuple[int, int]]  # (row, column), the header being row 0
Marks = Mapping[tuple[int, int], str]  # text by cell
Form = Literal["text", "html", "latex", "markdown"]

LONGEST = 100  # maximum of characters in a name
WIDTH = 118  # maximum of characters per line
DECIMALS = 4  # decimal places by default
MOST_DECIMALS = 15
COLUMN, PAGE = 229.0, 469.0  # points: the widths of a column and of a page with two columns
SIZES = {r"\small": 1.0, r"\footnotesize": 0.9}  # of letters, and the width of a table compared with `\small`
OUTSIDE = 1.25  # how much wider a table is outside a float, which sets it smaller and closer
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
    ord("–"): "--",
}
_LABEL = re.compile(r"[\w:./+-]+", re.ASCII)
_WIDE = re.compile(r"[A-Zmw@+=%]|(?<!\w)-")  # letters that are half as wide again as digits
_UNSUPPORTED = re.compile(r"[^\x00-\u017f\u2010-\u2026]")  # letters that pdflatex has no fonts for
UNSUPPORTED = "% Names in other scripts: compile with lualatex, and a font that has them (package fontspec)."
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # the minus of a number, which LaTeX would set as a hyphen


class Export(NamedTuple):
    """The options of Markdown and LaTeX."""

    digits: int | None = None
    percent: bool = False
    caption: str | None = None
    label: str | None = None


def check_export(digits: Any, percent: Any, caption: Any, label: Any) -> Export:
    for name, text in (("caption", caption), ("label", label)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be text or None, not {type(text).__name__}")
    if label is not None and not _LABEL.fullmatch(label):
        raise ValueError(f"label must consist of ASCII letters, digits and any of : . / + - _, not {quoted(label)}")
    if not isinstance(percent, (bool, np.bool_)):
        raise TypeError(f"percent must be True or False, not {quoted(percent)}")
    checked = None if digits is None else check_whole(digits, "digits", 0, MOST_DECIMALS)
    return Export(checked, bool(percent), caption, label)


DEFAULT = Export()


class Number(NamedTuple):
    """A number in a cell, or the ends of an interval; `share`: whether the range is 0 to 1, so percent applies."""

    values: tuple[float, ...]
    decimals: int = DECIMALS
    signed: bool = False
    share: bool = False

    def text(self, export: Export, between: str = " to ") -> str:
        percent = export.percent and self.share
        default = max(self.decimals - 2, 0) if percent else self.decimals
        decimals, scale = default if export.digits is None else export.digits, 100.0 if percent else 1.0
        return between.join((signed if self.signed else fixed)(scale * value, decimals) for value in self.values)

    def __str__(self) -> str:
        return self.text(DEFAULT)


class Table(NamedTuple):
    """A table to be read by people.

    `below`: the lines of the caption; `names`: the number of columns with names, which are left-aligned; `under`: small
    cells below others, in LaTeX; `other`: the alternative in LaTeX if this table is too wide.
    """

    rows: Rows
    below: Sequence[str] = ()
    bold: Cells = ()
    raised: Marks = NO_MARKS  # superscripts
    names: int = 1
    under: Mapping[tuple[int, int], Number] = MappingProxyType({})
    other: Table | None = None


Lines = Sequence[str]
Block = Table | Lines


def number(value: float) -> str:
    """A value to four places, as trec_eval prints it."""
    return fixed(value, DECIMALS)


def fixed(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"


def signed(value: float, decimals: int = DECIMALS) -> str:
    """A difference with its sign, unless it is printed as 0."""
    text = f"{value:+.{decimals}f}"
    return text if float(text) else fixed(0.0, decimals)


def mean_rows(values: Mapping[Any, float]) -> list[list[object]]:
    """The cells of a table with one number per metric."""
    rows: list[list[object]] = [["metric", "mean"]]
    rows += ([str(key), Number((value,), share=is_share(key))] for key, value in values.items())
    return rows


def letter_ranges(letters: Iterable[str]) -> str:
    """The letters in order, three or more consecutive ones as a range: "abd–g"."""
    runs: list[str] = []
    for letter in sorted(letters):
        if runs and ord(letter) == ord(runs[-1][-1]) + 1:
            runs[-1] += letter
        else:
            runs.append(letter)
    return "".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else run for run in runs)


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


def _markup(
    table: Table, escape: Callable[[str], str], bold: str, raised: str, export: Export = DEFAULT, between: str = " to "
) -> list[list[str]]:
    """The cells as markup: escaped, with the patterns for bold text and for text with a superscript applied."""
    rows = []
    for row, cells in enumerate(table.rows):
        texts = []
        for column, value in enumerate(cells):
            text = escape(value.text(export, between) if isinstance(value, Number) else printable(value))
            text = bold.format(text) if (row, column) in table.bold else text
            letters = table.raised.get((row, column))
            texts.append(raised.format(text, escape(letters)) if letters else text)
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


def _markdown_table(table: Table, export: Export) -> list[str]:
    """A GitHub table, with the caption and an anchor above, and a paragraph for each line below."""
    rows = _markup(table, _markdown, "**{}**", "{}<sup>{}</sup>", export)
    head, *body = (f"| {' | '.join(cells)} |" for cells in rows)
    rule = f"|{':---|' * table.names}{'---:|' * (len(table.rows[0]) - table.names)}"
    anchor = f'<a id="{export.label}"></a>' if export.label else ""
    title = anchor + _markdown(" ".join((export.caption or "").split()))
    return [*([title, ""] if title else []), head, rule, *body, *_markdown_lines(_notes(table, export))]


def _markdown_lines(lines: Sequence[str]) -> list[str]:
    return [f"\n{_markdown(line)}" for line in lines]


def _join_blocks(
    blocks: Iterable[Block], table: Callable[[Table, Export], Lines], lines: Callable[[Lines], Lines], export: Export
) -> str:
    """The text of the blocks, with an empty line between them; caption and label are those of the first table."""
    parts, tables = [], 0
    for block in blocks:
        if not isinstance(block, Table):
            parts.append(lines(block))
            continue
        tables += 1
        label = export.label and f"{export.label}-{tables}"
        parts.append(table(block, export if tables == 1 else export._replace(caption=None, label=label)))
    return "\n".join("\n".join([*part, ""]) for part in parts if part)


def _notes(table: Table, export: Export) -> Lines:
    """The lines below the table, after one on percent if it applies."""
    scaled = export.percent and any(isinstance(cell, Number) and cell.share for row in table.rows for cell in row)
    return [*["Values of metrics from 0 to 1 are in percent"] * scaled, *table.below]


def _latex(text: str) -> str:
    return _MINUS.sub("$-$", text.translate(_LATEX))


def _latex_width(table: Table, export: Export) -> float:
    """The width in points of a table in `\\small`, estimated from the number of characters."""
    sizes = [
        [4.6 * len(text) + 2.3 * len(_WIDE.findall(text)) for text in row]
        for row in _markup(table, str, "{}", "{}", export, ", ")
    ]
    for (row, column), letters in table.raised.items():
        sizes[row][column] += 0.0 if table.under else 3.8 * len(letters)
    for (row, column), ends in table.under.items():
        sizes[row][column] = max(sizes[row][column], 3.8 * len(ends.text(export, ", ")))
    return sum((6.0 + max(column) for column in zip(*sizes, strict=True)), 0.0)


def _fitting(table: Table, export: Export) -> tuple[Table, float]:
    """The table or its alternative, the first that fits a column, or else a page; and its width."""
    tables = [table] if table.other is None else [table, table.other]
    widths = [_latex_width(each, export) for each in tables]
    for limit in (COLUMN, PAGE, min(widths)):
        for each, width in zip(tables, widths, strict=True):
            if width <= limit:
                return each, width
    return table, min(widths)


def _latex_table(table: Table, export: Export) -> list[str]:
    """A table with the rules of booktabs: a float if it has a caption or a label, or is wider than a column.

    Superscripts are in a separate column, without space before it, so that the numbers are aligned. In a table with
    small cells below others, numbers are centred, and superscripts take no space.
    """
    table, width = _fitting(table, export)
    pairs = {column for (_, column), letters in table.raised.items() if letters and not table.under}
    sides = ["c" if table.under else "r@{}l" if column in pairs else "r" for column in range(len(table.rows[0]))]
    inline = table._replace(raised={cell: letters for cell, letters in table.raised.items() if not cell[0]})
    head, *body = _markup(inline, _latex, r"\textbf{{{}}}", r"{}\textsuperscript{{{}}}", export, ", ")
    for column in pairs:
        head[column] = rf"\multicolumn{{2}}{{r}}{{{head[column]}}}"
    lines = []
    for row, cells in enumerate(body, 1):
        for column in range(table.names, len(cells)):
            letters = table.raised.get((row, column))
            raised = rf"\textsuperscript{{{_latex(letters)}}}" if letters else ""
            if column in pairs:
                cells[column] += f" & {raised}".rstrip()
            elif raised:
                cells[column] += rf"\rlap{{{raised}}}"
        lines.append(" & ".join(cells) + r" \\")
        small = [table.under.get((row, column)) for column in range(len(cells))]
        if any(small):
            texts = [rf"\scriptsize {_latex(ends.text(export, ', '))}" if ends else "" for ends in small]
            lines.append(" & ".join(texts) + r" \\[2pt]")
    start = [rf"\begin{{tabular}}{{{'l' * table.names}{''.join(sides[table.names :])}}}", r"\toprule"]
    whole = [*start, " & ".join(head) + r" \\", r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]
    notes = [*([" ".join(export.caption.split())] if export.caption else []), *_notes(table, export)]
    if not (notes or export.label or width * OUTSIDE > COLUMN):
        return whole
    caption = " ".join(f"{_latex(line).removesuffix('.')}." for line in notes)
    name = "table*" if width > COLUMN else "table"
    size = next((size for size, share in SIZES.items() if width * share <= PAGE), r"\scriptsize")
    return [
        rf"\begin{{{name}}}",
        r"\centering",
        *([rf"\caption{{{caption}}}"] if notes else []),
        *([rf"\label{{{export.label}}}"] if export.label else []),
        rf"\smallskip{size}",
        r"\setlength{\tabcolsep}{3pt}",
        *whole,
        rf"\end{{{name}}}",
    ]


def _latex_comments(lines: Lines) -> Lines:
    return [f"% {_latex(line)}" for line in lines]


def markdown_of(blocks: Iterable[Block], export: Export) -> str:
    return _join_blocks(blocks, _markdown_table, _markdown_lines, export)


def latex_of(blocks: Iterable[Block], export: Export) -> str:
    text = _join_blocks(blocks, _latex_table, _latex_comments, export)
    return f"{UNSUPPORTED}\n{text}" if _UNSUPPORTED.search(text) else text


class Tables:
    """Results that print as tables, for papers and notebooks."""

    __slots__ = ()

    def _tables(self, form: Form) -> Iterable[Block]:
        raise NotImplementedError

    def to_markdown(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the printed tables in Markdown (GitHub's).

        Parameters
        ----------
        digits : int, optional
            The number of decimal places of means and differences in the tables, 0 to 15. By default 4 (in percent, 2),
            and more for small differences.
        percent : bool, default False
            Whether to multiply the values of metrics from 0 to 1 by 100 in the tables; sentences and other values do
            not change.
        caption : str, optional
            The first line above the first table, as plain text: special characters are escaped.
        label : str, optional
            The id of an anchor above the first table; above the following tables it ends with ``-2``, ``-3`` and so on.

        Returns
        -------
        str
            The tables, each followed by notes. The best values of several runs are in bold.

        Raises
        ------
        TypeError
            If an option has another type.
        ValueError
            If `digits` is out of range, or `label` contains other characters than ASCII letters, digits and ``:./+-_``.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.from_ranked([[0, 1]]).evaluate("rr", "cg@1").to_markdown(digits=2))
        | metric | mean |
        |:---|---:|
        | rr | 0.50 |
        | cg@1 | 0.00 |
        <BLANKLINE>
        """
        return markdown_of(self._tables("markdown"), check_export(digits, percent, caption, label))

    def to_latex(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the printed tables in LaTeX, for the package booktabs.

        A table that is wider than a column of 229 pt, by an estimate, is set across both columns (``table*``).

        Parameters
        ----------
        digits : int, optional
            The number of decimal places of means and differences in the tables, 0 to 15. By default 4 (in percent, 2),
            and more for small differences.
        percent : bool, default False
            Whether to multiply the values of metrics from 0 to 1 by 100 in the tables; sentences and other values do
            not change.
        caption : str, optional
            The first sentence of the caption of the first table, as plain text: special characters are escaped.
        label : str, optional
            The ``\label`` of the first table; that of the following tables ends with ``-2``, ``-3`` and so on.

        Returns
        -------
        str
            The tables; one with notes, caption or label is a float. The best values of several runs are in bold. Names
            in other than Latin letters compile with lualatex and a font that has them; a comment above the first table
            says so.

        Raises
        ------
        TypeError
            If an option has another type.
        ValueError
            If `digits` is out of range, or `label` contains other characters than ASCII letters, digits and ``:./+-_``.

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
        return latex_of(self._tables("latex"), check_export(digits, percent, caption, label))

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
