"""Where faults can be put into the sources, and how many of them stand in one text, each switched on when it runs.

A place is a range of the text that is an expression, or whole statements. It is found by tokens alone, as Python and
Cython share them: an expression is what stands between two delimiters, brackets or keywords that no operator binds
across them. So

    while index < stop and first[index] == first[start]:

becomes, with a mutant that is the 7th,

    while ((index <= stop and first[index] == first[start]) if rankgain_mutant(7) else (index < stop and ...)):
"""

import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

CONDITION, VALUE, STATEMENTS = "condition", "value", "statements"
SWAPPED = [("<", "<="), (">", ">="), ("==", "!="), ("+", "-"), ("&", "|"), ("<<", ">>"), ("+=", "-="), ("&=", "|=")]
SWAPPED += [("and", "or"), ("True", "False"), ("break", "continue")]
CHANGES = {one: other for pair in SWAPPED for one, other in (pair, pair[::-1])}
CHANGES |= {"*": "+", "/": "*", "//": "*", "%": "+", "**": "*", "*=": "+=", "/=": "*="}
CHANGES |= {"is": "is not", "in": "not in", "not": ""}
DROPPED = "pass"
NEAR = 150  # characters of a line that are shown on either side of a change
KEYWORDS = {"if", "elif", "else", "while", "for", "return", "yield", "lambda", "assert", "raise", "from", "with", "as"}
KEYWORDS |= {"del", "except", "import", "cimport", "cdef", "pass", "break", "continue"}
DELIMITERS = {",", ":", "=", ":=", "->", ";", "@", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "|=", "&=", "^="}
DELIMITERS |= {"<<=", ">>="}
ASSIGNED = {one for one in DELIMITERS if one.endswith("=") and one != ":="}
OPEN, CLOSE = set("([{"), set(")]}")
OPERATORS = {"and", "or", "not", "in", "is"}
NOT_DROPPED = {"import", "from", "cimport", "global", "nonlocal", "cdef", "ctypedef", "pass", "@", "include"}
DECLARED = re.compile(r"(cdef|ctypedef|cpdef)\b.*\b(extern|struct|enum|union|fused)\b|ctypedef\b")
DEFINED = re.compile(r"(?:async )?(?:def|class|cdef|cpdef)\b[^(=]*?(\w+)\s*(?:\[[^\]]*\])?[(:]")
UNORDERED = {"min", "max", "minimum", "maximum"}  # whose arguments are not swapped
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class Token(NamedTuple):
    text: str
    start: int
    stop: int
    kind: int


class Line(NamedTuple):
    """A logical line: its tokens, how far it is indented, and what it is in."""

    tokens: list[Token]
    indent: int
    function: str  # with its classes; empty outside of functions
    declares: bool  # that is, it stands among the members of a struct or an enum

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def stop(self) -> int:
        return self.tokens[-1].stop

    @property
    def opens(self) -> bool:
        """Whether a block follows."""
        return self.tokens[-1].text == ":"


class Segment(NamedTuple):
    """The tokens of a line between two delimiters, and the delimiter before them."""

    first: int
    last: int
    after: str
    kind: str


class Edit(NamedTuple):
    """A range of a text, what stands there instead, and what it is a part of: a value, a condition, statements.

    Of a condition only the truth is looked at: without the GIL an integer or a comparison would have no type of C.
    """

    start: int
    stop: int
    new: str
    place: tuple[int, int]
    kind: str

    def instead(self, text: str) -> str:
        return text[self.place[0] : self.start] + self.new + text[self.stop : self.place[1]]


def tokens_of(text: str) -> Iterator[Token]:
    starts = [0, *(end.end() for end in re.finditer("\n", text)), len(text)]
    in_string = 0  # from Python 3.12 on f-strings have tokens of their own
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        start, stop = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        in_string += name == "FSTRING_START"
        if not in_string or name in ("FSTRING_START", "FSTRING_END"):
            yield Token(token.string, start, stop, tokenize.STRING if in_string else token.type)
        in_string -= name == "FSTRING_END"


@cache
def lines_of(text: str) -> list[Line]:
    lines: list[Line] = []
    headers: list[tuple[int, str]] = []
    held: list[Token] = []
    for token in tokens_of(text):
        if token.kind in SKIPPED:
            continue
        if token.kind != tokenize.NEWLINE:
            held.append(token)
            continue
        if not held:
            continue
        start = held[0].start
        indent = start - text.rfind("\n", 0, start) - 1
        while headers and headers[-1][0] >= indent:
            headers.pop()
        inside = [header for _, header in headers]
        names = [DEFINED.match(header) for header in inside]
        is_function = any(re.match(r"(async )?(def|cdef|cpdef)\b(?! class)", header) for header in inside)
        function = ".".join(name[1] for name in names if name) if is_function else ""
        lines.append(Line(held, indent, function, any(DECLARED.match(header) for header in inside)))
        if held[-1].text == ":":
            headers.append((indent, text[start : held[-1].stop]))
        held = []
    return lines


def is_prefix(tokens: list[Token], index: int) -> bool:
    """Whether an operator there has nothing to its left."""
    if index == 0:
        return True
    before = tokens[index - 1]
    if before.kind in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING):
        return before.text in KEYWORDS | OPERATORS
    return before.text not in CLOSE


def segments(tokens: list[Token]) -> dict[int, Segment]:
    """Of each token the segment that it is in; delimiters are in none."""
    found: dict[int, Segment] = {}
    levels: list[tuple[list[int], str]] = [([], "")]
    targets: list[bool] = [False]

    def close(after: str) -> None:
        members, before = levels.pop()
        is_logical = any(tokens[index].text in ("and", "or", "not") for index in members)
        kind = CONDITION if is_logical or before in ("if", "elif", "while") else VALUE
        for index in members:
            found[index] = Segment(members[0], members[-1], before, kind)
        levels.append(([], after))

    for index, token in enumerate(tokens):
        text = token.text
        if text in OPEN:
            levels[-1][0].append(index)
            levels.append(([], text))
            targets.append(False)
        elif text in CLOSE and len(levels) > 1:
            close("")
            levels.pop()
            targets.pop()
            levels[-1][0].append(index)
        elif (
            text in DELIMITERS
            or (token.kind == tokenize.NAME and text in KEYWORDS)
            or (text == "in" and targets[-1])
            or (text in ("*", "**") and is_prefix(tokens, index))
        ):
            close(text)
            targets[-1] = text == "for" or (targets[-1] and text != "in")
        else:
            levels[-1][0].append(index)
    close("")
    return found


def inert(tokens: list[Token]) -> set[int]:
    """Tokens of types in casts, of addresses and of pointers, which look like operators."""
    found: set[int] = set()
    for index, token in enumerate(tokens):
        if token.text == "<" and is_prefix(tokens, index):
            end = next(other for other in range(index, len(tokens)) if tokens[other].text == ">")
            found.update(range(index, end + 1))
        is_address = token.text == "&" and is_prefix(tokens, index)
        is_pointer = token.text == "*" and (
            not tokens[index + 1 :] or tokens[index + 1].text in {*CLOSE, ",", ">", "*"}
        )
        if is_address or is_pointer:
            found.add(index)
    return found


def changed(token: Token) -> list[str]:
    if token.kind == tokenize.NUMBER:
        try:
            number = float(token.text) if re.search(r"[.e]", token.text) else int(token.text)
        except ValueError:
            return []
        return [repr(number + 1), *([repr(number - 1)] if number >= 1 else [])]
    return [CHANGES[token.text]] if token.kind in (tokenize.OP, tokenize.NAME) and token.text in CHANGES else []


def may_differ(line: Line, segment: Segment, index: int, compiled: bool) -> bool:
    """Whether what stands there is evaluated: it is no type."""
    first = line.tokens[0].text
    before = [token.text for token in line.tokens[:index]]
    if first in ("import", "from", "cimport", "ctypedef", "include", "global", "nonlocal") or line.declares:
        return False
    if line.tokens[index].text in "|&" and not line.function:
        return False  # a type's alias
    if compiled and first in ("def", "cpdef", "cdef") and (line.opens or "=" not in before or not line.function):
        return False
    if compiled and (not line.function or ("range" in before and segment.after == "," and before[-1] == "-")):
        return False  # the step of a loop is constant
    own = [token.text for token in line.tokens[segment.first : segment.last + 1]]
    if compiled and any(name.endswith("_t") and following == "is" for name, following in pairwise(own)):
        return False  # decided when it is compiled, for each type
    if first in ("def", "class", "async"):
        return segment.after == "="
    return not (segment.after == ":" and not line.opens and before.count(":") == 1 and line.tokens[1].text == ":")


def edits(text: str, compiled: bool) -> Iterator[tuple[Line, Edit]]:
    """All that can be drawn: operators, comparisons, constants changed, statements dropped."""
    for line in lines_of(text):
        tokens, first = line.tokens, line.tokens[0]
        whole = (line.start, line.stop)
        is_statement = bool(line.function) and not line.declares and not line.opens and first.text not in NOT_DROPPED
        left_out, own = inert(tokens), segments(tokens)
        for index, token in enumerate(tokens):
            pair = [other.text for other in tokens[max(index - 1, 0) : index + 1]]
            if index in left_out or pair in (["not", "in"], ["is", "not"]):
                continue
            for new in changed(token):
                if index not in own:
                    if is_statement and token.text in {"break", "continue", *DELIMITERS}:
                        yield line, Edit(token.start, token.stop, new, whole, STATEMENTS)
                elif may_differ(line, own[index], index, compiled):
                    stop = token.stop
                    if token.text == "is" and tokens[index + 1].text == "not":
                        new, stop = "is", tokens[index + 1].stop
                    yield line, edit_within(line, own[index], token.start, stop, new)
        for bracket, parts in bracketed(tokens):
            if bracket not in left_out and may_differ(line, own[bracket], bracket, compiled):
                yield from ((line, edit) for edit in edits_of_parts(text, line, own, bracket, parts))
        if is_statement and first.kind != tokenize.STRING:
            yield line, Edit(*whole, DROPPED, whole, STATEMENTS)


def edit_within(line: Line, segment: Segment, start: int, stop: int, new: str) -> Edit:
    place = (line.tokens[segment.first].start, line.tokens[segment.last].stop)
    return Edit(start, stop, new, place, STATEMENTS if place == (line.start, line.stop) else segment.kind)


def bracketed(tokens: list[Token]) -> Iterator[tuple[int, list[range]]]:
    """The opening bracket of each call and slice, and the tokens of each argument or bound."""
    levels: list[list[int]] = []  # the bracket, then what divides its parts
    for index, token in enumerate(tokens):
        if token.text in OPEN:
            levels.append([index])
        elif token.text in CLOSE and levels:
            cuts = levels.pop()
            inside = {tokens[cut].text for cut in cuts[1:]}
            if cuts[0] and not is_prefix(tokens, cuts[0]) and inside <= ({","} if token.text == ")" else {",", ":"}):
                yield cuts[0], [range(start + 1, stop) for start, stop in pairwise([*cuts, index]) if start + 1 < stop]
        elif token.text in (",", ":", "lambda", "for") and levels:
            levels[-1].append(index)


def edits_of_parts(text: str, line: Line, own: dict[int, Segment], bracket: int, parts: list[range]) -> Iterator[Edit]:
    """Keyword arguments dropped, arguments swapped; bounds of a slice or a range moved by one."""
    tokens, segment = line.tokens, own[bracket]
    is_call = tokens[bracket].text == "("
    if not is_call or tokens[bracket - 1].text in ("range", "prange"):
        is_slice = not is_call and any(
            tokens[part.stop].text == ":" or tokens[part.start - 1].text == ":" for part in parts
        )
        for part in parts if is_slice or is_call else ():
            if not any(tokens[index].kind == tokenize.NUMBER for index in part):  # which is changed by itself
                start, stop = tokens[part[0]].start, tokens[part[-1]].stop
                for moved in ("+ 1", "- 1"):
                    yield edit_within(line, own[part[0]], start, stop, f"{text[start:stop]} {moved}")
        return
    if tokens[segment.last + 1 :] and tokens[segment.last + 1].text in ASSIGNED:
        return
    named = [len(part) > 1 and tokens[part[1]].text == "=" for part in parts]
    for index, part in enumerate(parts):
        start, stop = tokens[part[0]].start, tokens[part[-1]].stop
        if named[index]:
            if index:
                start = tokens[parts[index - 1][-1]].stop
            else:
                stop = (
                    tokens[parts[1][0]].start
                    if parts[1:]
                    else tokens[part.stop + (tokens[part.stop].text == ",")].start
                )
            yield edit_within(line, segment, start, stop, "")
        elif index + 1 < len(parts) and not named[index + 1] and tokens[bracket - 1].text not in UNORDERED:
            other = text[tokens[parts[index + 1][0]].start : tokens[parts[index + 1][-1]].stop]
            one, between = text[start:stop], text[stop : tokens[parts[index + 1][0]].start]
            if one != other and not one.startswith("*") and not other.startswith("*"):
                yield edit_within(line, segment, start, tokens[parts[index + 1][-1]].stop, other + between + one)


def described(text: str, line: Line, edit: Edit) -> str:
    """The line with the change in it: `if a {< → <=} b:`. Of a long one what is near."""
    before, after = text[line.start : edit.start], text[edit.stop : line.stop]
    before, after = (re.sub(r"\s+", " ", re.sub(r"(?<!['\"])#[^'\"\n]*\n", "\n", part)) for part in (before, after))
    old = re.sub(r"\s+", " ", text[edit.start : edit.stop])
    return f"{before[-NEAR:]}{{{old} → {edit.new}}}{after[:NEAR]}"


def switched(text: str, numbered: Iterable[tuple[int, Edit]], start: int = 0, stop: int | None = None) -> str:
    """The text with all the mutants in it. Of two places one holds the other, or they do not meet."""
    stop = len(text) if stop is None else stop
    left = sorted(numbered, key=lambda one: (one[1].place[0], -one[1].place[1], one[1].kind != STATEMENTS))
    parts = []
    while left:
        number, edit = left.pop(0)
        inner = [one for one in left if one[1].place[0] < edit.place[1]]
        left = left[len(inner) :]
        parts.append(text[start : edit.place[0]])
        old = switched(text, inner, *edit.place)
        new = edit.instead(text)
        start = edit.place[1]
        if edit.kind == STATEMENTS:
            indent = " " * (edit.place[0] - text.rfind("\n", 0, edit.place[0]) - 1)
            new, old = (textwrap.indent(indent + one if one.strip() else "pass", "    ") for one in (new, old))
            parts.append(f"if rankgain_mutant({number}):\n{new}\n{indent}else:\n{old}")
        elif edit.kind == CONDITION:
            parts.append(f"(rankgain_mutant({number}) and ({new}) or not rankgain_mutant({number}) and ({old}))")
        else:
            parts.append(f"(({new}) if rankgain_mutant({number}) else ({old}))")
    return "".join(parts) + text[start:stop]


def fit(edits: Iterable[Edit]) -> bool:
    """Whether they can stand in one text: of two places one holds the other, or they do not meet."""
    places = sorted({edit.place for edit in edits}, key=lambda place: (place[0], -place[1]))
    ends: list[int] = []
    for start, stop in places:
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and stop > ends[-1]:
            return False
        ends.append(stop)
    return True
