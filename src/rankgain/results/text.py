"""Format tables as aligned text, HTML, Markdown and LaTeX.

Names come from the caller and are escaped, so that they cannot act as markup.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgain.errors import escaped, quoted
from rankgain.metrics.metric import is_share
from rankgain.scalars import check_whole, id_text

_Rows = Sequence[Sequence[object]]  # the first row is the header
_Cells = Collection[tuple[int, int]]  # pairs (row, column); the header is row 0
Marks = Mapping[tuple[int, int], str]  # maps (row, column) to the mark of a cell
Form = Literal["text", "html", "latex", "markdown"]

LONGEST = 100  # maximum number of characters in a name
WIDTH = 118  # maximum number of characters per line
NARROWEST = 16  # minimum width of a column that is wrapped
DECIMALS = 4  # default number of decimal places
MOST_DECIMALS = 15
COLUMN, PAGE = 229.0, 469.0  # widths in points of a column and of a two-column page
SIZES = {r"\small": 1.0, r"\footnotesize": 0.9}  # font sizes, and table widths relative to `\small`
OUTSIDE = 1.25  # tables are wider by this factor outside a float, where font and gaps are larger
GAP = 2  # number of spaces between columns
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
# The columns of the terminal for which text is formatted; None for text that does not depend on it.
_columns: ContextVar[int | None] = ContextVar("columns", default=None)
_LABEL = re.compile(r"[\w:./+-]+", re.ASCII)
_WIDE = re.compile(r"[A-Zmw@+=%]|(?<!\w)-")  # characters about 1.5 times as wide as a digit
_UNSUPPORTED = re.compile(r"[^\x00-\u017f\u2010-\u2026]")  # characters that pdflatex's fonts do not have
UNSUPPORTED = "% Names in other scripts: compile with lualatex, and a font that has them (package fontspec)."
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # a minus sign before a number, which LaTeX would typeset as a hyphen


class Export(NamedTuple):
    """The options of `to_markdown` and `to_latex`."""

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


_DEFAULT = Export()


class Number(NamedTuple):
    """A number in a table, or the two ends of an interval.

    `share` is true for values from 0 to 1, which can be printed in percent. If `nonzero`, a value that would be printed
    as 0 is printed with an exponent, unless the caller chose the number of digits.
    """

    values: tuple[float, ...]
    decimals: int = DECIMALS
    signed: bool = False
    share: bool = False
    nonzero: bool = False

    def text(self, export: Export, between: str = " to ") -> str:
        percent = export.percent and self.share
        default = max(self.decimals - 2, 0) if percent else self.decimals
        decimals, scale = default if export.digits is None else export.digits, 100.0 if percent else 1.0

        def text(value: float) -> str:
            if self.nonzero and export.digits is None and value and not float(fixed(value, decimals)):
                return f"{value:+.1e}"
            return (signed if self.signed else fixed)(value, decimals)

        return between.join(text(scale * value) for value in self.values)

    def __str__(self) -> str:
        return self.text(_DEFAULT)


class Table(NamedTuple):
    """A table to be printed, with its caption and the marks of its cells.

    `below` holds the lines of the caption. The first `names` columns hold names and are left-aligned. `under` holds
    numbers that LaTeX prints below cells, in small type. `other` is the table that LaTeX uses if this one is too wide.
    `left` holds further columns that are left-aligned.
    """

    rows: _Rows
    below: Sequence[str] = ()
    bold: _Cells = ()
    raised: Marks = NO_MARKS  # superscripts
    names: int = 1
    under: Mapping[tuple[int, int], Number] = MappingProxyType({})
    other: Table | None = None
    left: Collection[int] = ()

    def is_left(self, column: int) -> bool:
        return column < self.names or column in self.left


Lines = Sequence[str]
Block = Table | Lines


def number(value: float) -> str:
    """Format a value with four decimal places, as trec_eval does."""
    return fixed(value, DECIMALS)


def fixed(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"


def signed(value: float, decimals: int = DECIMALS) -> str:
    """Format a difference with its sign, or without a sign if it rounds to 0."""
    text = f"{value:+.{decimals}f}"
    return text if float(text) else fixed(0.0, decimals)


def mean_rows(values: Mapping[Any, float]) -> list[list[object]]:
    """Return the rows of a table of means: a header, then one row per metric."""
    rows: list[list[object]] = [["metric", "mean"]]
    rows += ([str(key), Number((value,), share=is_share(key))] for key, value in values.items())
    return rows


def letter_ranges(letters: Iterable[str]) -> str:
    """Join the sorted letters; three or more consecutive letters become a range, as in "abd–g"."""
    runs: list[str] = []
    for letter in sorted(letters):
        if runs and ord(letter) == ord(runs[-1][-1]) + 1:
            runs[-1] += letter
        else:
            runs.append(letter)
    return "".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else run for run in runs)


def printable(value: object) -> str:
    """Escape unprintable characters, and shorten long text by leaving out its middle."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else id_text(value)
    if len(text) > LONGEST:
        from binascii import crc32

        # The checksum distinguishes names that differ only in the middle.
        text = f"{text[: LONGEST // 2]}…{crc32(text.encode('utf-8', 'surrogatepass')):08x}…{text[-LONGEST // 2 :]}"
    return escaped(text)


@contextmanager
def fitted() -> Iterator[None]:
    """Fit tables and lines to the terminal, if standard output is one or COLUMNS is set."""
    token = _columns.set(_terminal_columns())
    try:
        yield
    finally:
        _columns.reset(token)


def _terminal_columns() -> int | None:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal():
        return int(columns) or None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None if sys.stdout.isatty() else None
    except (AttributeError, OSError, ValueError):  # standard output is closed, or not a file
        return None


def display_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum((east_asian_width(letter) in "WF") + 1 for letter in text if category(letter) not in ("Mn", "Me", "Cf"))


def padded(text: str, width: int) -> str:
    """Pad a text with spaces to a width on the terminal."""
    return text + " " * (width - display_width(text))


def text_table(
    rows: _Rows,
    names: int = 1,
    marks: Marks = NO_MARKS,
    *,
    left: Collection[int] = (),
    rule: bool = True,
    breaks: Collection[int] = (),
) -> list[str]:
    """Return the lines of an aligned table, with a rule below the header.

    The first `names` columns and those in `left` are left-aligned, the others right-aligned. `marks` are printed after
    the numbers, in the space between columns, which is made wider if necessary. If the table is too wide for the
    terminal, the text in the last column is wrapped, or the columns of numbers are printed in several parts, if
    possible from one of `breaks` on.
    """
    texts, style = [[printable(cell) for cell in row] for row in rows], Style(names, marks, rule, left)
    lines, columns = aligned(texts, style), _columns.get()
    if columns is None or max(map(display_width, lines)) <= columns:
        return lines
    if names >= len(texts[0]):
        return aligned(_wrapped_last(texts, columns), style)
    return _in_parts(texts, style, columns, breaks)


class Style(NamedTuple):
    names: int = 1
    marks: Marks = NO_MARKS
    rule: bool = True
    left: Collection[int] = ()


def aligned(texts: Sequence[Sequence[str]], style: Style) -> list[str]:
    """Return the lines of an aligned table, one per row and one for the rule, whatever the width of the terminal."""
    names, marks, rule, left = style
    widths = [max(map(display_width, column)) for column in zip(*texts, strict=True)]
    if rule:
        texts = [texts[0], ["-" * width for width in widths], *texts[1:]]
    marked = {(row + (rule and row > 0), column): mark for (row, column), mark in marks.items()}
    gaps = [GAP] * len(widths)
    for (row, column), mark in marked.items():
        if column + 1 < len(widths):
            # A mark may extend into the blanks before the next cell.
            blank = widths[column + 1] - display_width(texts[row][column + 1]) if column + 1 >= names else 0
            gaps[column] = max(gaps[column], len(mark) + GAP - blank)
    lines = [""] * len(texts)
    end = 0
    for column, (width, gap) in enumerate(zip(widths, gaps, strict=True)):
        for row, cells in enumerate(texts):
            cell = padded(cells[column], width) if column < names or column in left else cells[column]
            lines[row] = padded(lines[row], end + width - display_width(cell)) + cell + marked.get((row, column), "")
        end += width + gap
    return [line.rstrip(" ") for line in lines]


def _wrapped_last(texts: list[list[str]], columns: int) -> list[list[str]]:
    """Wrap the text in the last column, with further rows whose other cells are empty."""
    import textwrap

    *others, _ = zip(*texts, strict=True)
    width = columns - sum(GAP + max(map(display_width, column)) for column in others)
    rows = []
    for *cells, last in texts:
        lines = textwrap.wrap(last, max(width, NARROWEST), break_long_words=False, break_on_hyphens=False) or [""]
        rows += [[*cells, lines[0]], *([*[""] * len(cells), line] for line in lines[1:])]
    return rows


def _in_parts(rows: Sequence[Sequence[str]], style: Style, columns: int, breaks: Collection[int]) -> list[str]:
    """Print as many columns of numbers as fit beside the names, or beside the first column, then the others."""
    count, first = len(rows[0]), max(style.names, 1)
    lines: list[str] = []
    start = first
    while start < count:
        for end in sorted(range(start + 1, count + 1), key=lambda end: (end not in (count, *breaks), -end)):
            part = _part(rows, style, [*range(first), *range(start, end)])
            if max(map(display_width, part)) <= columns:
                break
        lines += ["", *part] if lines else part
        start = end
    return lines


def _part(rows: Sequence[Sequence[str]], style: Style, columns: list[int]) -> list[str]:
    marks = {(row, columns.index(column)): mark for (row, column), mark in style.marks.items() if column in columns}
    left = [columns.index(column) for column in style.left if column in columns]
    part = [[row[column] for column in columns] for row in rows]
    while len(part) > 1 and not any(part[-1][max(style.names, 1) :]):  # the columns of a part may be shorter
        part.pop()
    return aligned(part, style._replace(marks=marks, left=left))


def wrapped(line: str) -> list[str]:
    """Break a long line into several lines, and indent all but the first."""
    import textwrap  # imported here since only printing needs it

    return textwrap.wrap(
        line, line_width(WIDTH), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def line_width(most: int) -> int:
    """Return the maximum number of characters per line, which is less than `most` on a narrow terminal."""
    return min(_columns.get() or most, most)


def below_table(lines: Iterable[str]) -> list[str]:
    """Return the lines below a table, wrapped if they are fitted to a terminal."""
    return [part for line in lines for part in (wrapped(line) or [""] if _columns.get() else [line])]


def marks_of(table: Table) -> Marks:
    """Return the marks of cells in plain text. A mark is a star (if bold) or a space, followed by the superscripts."""
    cells = {*table.bold, *(cell for cell, letters in table.raised.items() if letters)}
    return {cell: ("*" if cell in table.bold else " ") + table.raised.get(cell, "") for cell in cells}


def text_of(blocks: Iterable[Block]) -> str:
    """Return the blocks as plain text: aligned tables and wrapped lines, separated by empty lines."""
    parts = [
        [*text_table(block.rows, block.names, marks_of(block)), *below_table(block.below)]
        if isinstance(block, Table)
        else [part for line in block for part in wrapped(line)]
        for block in blocks
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _markup(
    table: Table, escape: Callable[[str], str], bold: str, raised: str, export: Export = _DEFAULT, between: str = " to "
) -> list[list[str]]:
    """Return the escaped cells, formatted with the patterns `bold` and `raised` (for superscripts)."""
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
    """Return a table as HTML, with the caption below it and with the CSS class `kind`."""
    import html  # imported here since it loads the table of all HTML entities

    def line(row: int, cells: list[str]) -> str:
        scope, heads = ("row", table.names) if row else ("col", len(cells))
        sides = ["left" if table.is_left(column) else "right" for column in range(len(cells))]
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
    """Return the blocks as HTML; a block of lines becomes a paragraph."""
    import html

    return "\n".join(
        html_table(block) if isinstance(block, Table) else f"<p>{'<br>'.join(map(html.escape, block))}</p>"
        for block in blocks
        if block
    )


def _markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


def _markdown_table(table: Table, export: Export) -> list[str]:
    """Return a table in GitHub's Markdown, with an anchor and the caption above it, and its notes below it."""
    rows = _markup(table, _markdown, "**{}**", "{}<sup>{}</sup>", export)
    head, *body = (f"| {' | '.join(cells)} |" for cells in rows)
    rule = "".join(["|", *(":---|" if table.is_left(column) else "---:|" for column in range(len(table.rows[0])))])
    anchor = f'<a id="{export.label}"></a>' if export.label else ""
    title = anchor + _markdown(" ".join((export.caption or "").split()))
    return [*([title, ""] if title else []), head, rule, *body, *_markdown_lines(_notes(table, export))]


def _markdown_lines(lines: Sequence[str]) -> list[str]:
    return [f"\n{_markdown(line)}" for line in lines]


def _join_blocks(
    blocks: Iterable[Block], table: Callable[[Table, Export], Lines], lines: Callable[[Lines], Lines], export: Export
) -> str:
    """Join the blocks with empty lines. Only the first table has the caption; later labels end with a number."""
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
    """Return the lines below a table; if it has values in percent, the first line says so."""
    scaled = export.percent and any(isinstance(cell, Number) and cell.share for row in table.rows for cell in row)
    return [*["Values of metrics from 0 to 1 are in percent"] * scaled, *table.below]


def _latex(text: str) -> str:
    return _MINUS.sub("$-$", text.translate(_LATEX))


def _latex_width(table: Table, export: Export) -> float:
    """Estimate the width in points of a table set in `\\small` from the number of characters."""
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
    """Return the table or its alternative, depending on which one fits, and its width.

    The first one that fits in a column is chosen, else the first one that fits on a page, else the narrower one.
    """
    tables = [table] if table.other is None else [table, table.other]
    widths = [_latex_width(each, export) for each in tables]
    for limit in (COLUMN, PAGE, min(widths)):
        for each, width in zip(tables, widths, strict=True):
            if width <= limit:
                return each, width
    return table, min(widths)


def _latex_table(table: Table, export: Export) -> list[str]:
    """Return a table in LaTeX, as a float if it has a caption or a label, or is wider than a column.

    Superscripts are in a column of their own, with no space before it, so that the numbers are aligned. If there are
    numbers in small type below the cells, all numbers are centred, and superscripts take up no space.
    """
    table, width = _fitting(table, export)
    pairs = {column for (_, column), letters in table.raised.items() if letters and not table.under}
    sides = [
        "l" if table.is_left(column) else "c" if table.under else "r@{}l" if column in pairs else "r"
        for column in range(len(table.rows[0]))
    ]
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
    start = [rf"\begin{{tabular}}{{{''.join(sides)}}}", r"\toprule"]
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
    """Base class of results that can be exported as tables."""

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
        """Return the tables in GitHub's Markdown.

        Parameters
        ----------
        digits : int, optional
            The number of decimal places of means and differences in the tables, from 0 to 15. The default is 4, or 2
            for values in percent, and more for small differences.
        percent : bool, default False
            Whether the tables give values in percent, for metrics whose values are from 0 to 1. Sentences and other
            values do not change.
        caption : str, optional
            A line of plain text above the first table. Special characters are escaped.
        label : str, optional
            The id of an anchor above the first table. ``-2``, ``-3`` and so on are appended for the following tables.

        Returns
        -------
        str
            The tables, each followed by notes. The best values of several runs are in bold.

        Raises
        ------
        TypeError
            If an option is of the wrong type.
        ValueError
            If `digits` is out of range, or `label` contains characters other than ASCII letters, digits and ``:./+-_``.

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
        r"""Return the tables in LaTeX, for the booktabs package.

        A table whose estimated width exceeds a column of 229 pt is set across both columns (``table*``).

        Parameters
        ----------
        digits, percent : optional, with the defaults of `to_markdown`
            As in `to_markdown`.
        caption : str, optional
            Plain text with which the caption of the first table begins. Special characters are escaped.
        label : str, optional
            The ``\label`` of the first table. ``-2``, ``-3`` and so on are appended for the following tables.

        Returns
        -------
        str
            The tables. A table with notes, a caption or a label is a float. The best values of several runs are in
            bold. If names contain non-Latin letters, compile with lualatex and a font that has these letters; a
            comment above the first table says so.

        Raises
        ------
        TypeError, ValueError
            If `to_markdown` would raise it.

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
    """Base class of results that are printed as tables."""

    __slots__ = ()

    def table(self) -> str:
        """Return the tables and notes as plain text.

        Returns
        -------
        str
            The tables. Each is followed by the findings and by notes on the numbers.

        Examples
        --------
        >>> import rankgain as rg
        >>> print(rg.Comparison({"mine": rg.from_ranked([[0, 1]]).evaluate("rr")}).table().splitlines()[2])
        rr      0.5000
        """
        return text_of(self._tables("text"))

    @fitted()
    def __repr__(self) -> str:
        return self.table()
