"""Names that others chose, as text in tables, pages and files: none of them may act where it is read."""

from __future__ import annotations

import unicodedata

LONGEST = 200  # characters of a name in a table

# Control and format characters, surrogates, and separators of lines: they move the cursor, turn the direction of
# writing, or begin another line.
_UNSHOWN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "#$%&_"},
}


def printable(value: object) -> str:
    """The text in characters that are seen; others as their escapes, and the middle of a long one left out."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}…{text[-half:]}"
    return "".join(_escaped(letter) if unicodedata.category(letter) in _UNSHOWN else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")


def markdown(text: str) -> str:
    """What `printable` gave, as text in Markdown."""
    plain = text.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{letter}" if letter in "|`*_[]$" else letter for letter in plain)


def latex(text: str) -> str:
    """What `printable` gave, as text in LaTeX."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def csv_cell(value: object) -> str:
    """A field that a spreadsheet takes for text: what begins as a formula gets an apostrophe before it."""
    text = printable(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
