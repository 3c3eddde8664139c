"""Convert the formulas in the table of metrics from plain text to TeX."""

import re

# TeX commands for symbols and functions, and the names that are set in an upright font.
SYMBOLS = {
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "·": r"\cdot ",
    "≤": r"\le ",
    "−": "-",
    "…": r"\dots ",
    "β": r"\beta ",
    "ε": r"\varepsilon ",
}
FUNCTIONS = {"min": r"\min", "log2": r"\log_2", "int": r"\mathrm{int}"}
NAMES = [
    "rel",
    "prec",
    r"above(?=\()",
    "nDCG",
    "IDCG",
    "DCG",
    "ICG",
    "CG",
    "ERR",
    "max_grade",
    "multiple",
    "recall",
    "collection",
]
TOKEN = re.compile(
    rf"(?P<name>\b(?:{'|'.join([*NAMES, *FUNCTIONS])})\b)"
    r"|(?P<prose>\ba(?= [a-z]{2})|[A-Za-z]{2,}(?![\w(])|:)"
    r"|(?P<subscript>[a-z]_[a-z])"
    r"|(?P<power>\^\((?P<inside>[^)]*)\)|\^(?P<exponent>\w+)|²)"
    r"|(?P<symbol>[ΣΠ·≤−…βε])"
    r"|(?P<other>.)",
    re.DOTALL,
)
BOUND = re.compile(r"(?P<body>Σ.*?), (?P<inner>[ij] < )?(?P<bound>[ij] ≤ \w)(?=,| over|$)")


def _token(match: re.Match[str]) -> str:
    text = match[0]
    if match["name"]:
        return FUNCTIONS.get(text) or r"\mathrm{" + text.replace("_", r"\_") + "}"
    if match["prose"]:
        return f"<{text}>"
    if match["power"]:
        return "^{" + _tokens(match["inside"] or match["exponent"] or "2") + "}"
    if match["symbol"]:
        return SYMBOLS[text]
    return {"<": r"\lt "}.get(text, text)


def _tokens(text: str) -> str:
    result = TOKEN.sub(_token, text)
    result = re.sub(r">(,?) <", r"\1 ", result)  # join adjacent words into one \text
    result = re.sub(r" <", "< ", re.sub(r"> (?=\S)", " >", result))  # move spaces around \text{...} into it
    return result.replace("<", r"\text{").replace(">", "}")


def _bounded(match: re.Match[str]) -> str:
    """Put the bound of a sum below the sum sign, and the bound of a product inside it below the product sign."""
    body = match["body"]
    bound = rf"\sum_{{{_tokens(match['bound'])}}}"
    if match["inner"]:
        body = body.replace("Π", "\2", 1)
    text = _tokens(body[1:].lstrip()).replace("\2", rf"\prod_{{{_tokens(match['inner'] or '')}i}}")
    return f"\1{bound} {text}\1"


def _sums(text: str) -> str:
    parts = BOUND.sub(_bounded, text).split("\1")
    return "".join(part if index % 2 else _tokens(part) for index, part in enumerate(parts))


def _clause(text: str) -> str:
    head, equals, rest = text.rpartition(" = ") if re.match(r"[A-Za-z(){}_]+ = ", text) else ("", "", text)
    above, divided, below = rest.partition(", / ")
    if divided:
        below, bracket, note = below.partition(" (without k: / ")
        rest = rf"\frac{{{_sums(above)}}}{{{_sums(below)}}}"
        if bracket:
            rest += rf"\quad\text{{(without }}k\text{{: divided by }}{_sums(note[:-1])}\text{{)}}"
    else:
        rest = _sums(rest)
    return f"{_tokens(head)} = {rest}" if equals else rest


def tex(formula: str) -> list[str]:
    """Convert each part of a formula to TeX; the parts are separated by semicolons."""
    return [_clause(part) for part in formula.split("; ")]
