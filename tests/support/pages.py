"""The pages of the site, the README, and the examples in them.

`python tests/support/pages.py` prints the number of examples on each page.
"""

import doctest
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"
# The start or end of a fenced code block, which may be indented.
FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(\S*)")


def pages() -> list[Path]:
    """Return all pages whose text is in `docs`."""
    return sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS.parent).as_posix()


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Return the fenced code blocks of a page as (number of the first line, language, text) tuples."""
    result, closing, language, first, lines = [], "", "", 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if closing:
            if fence and fence[1].startswith(closing) and not fence[2]:
                result.append((first, language, "".join(f"{text}\n" for text in lines)))
                closing = ""
            else:
                lines.append(line)
        elif fence:
            closing, language, first, lines = fence[1], fence[2], number + 1, []
    assert not closing, f"{page}: a fence is not closed"
    return result


def examples(page: Path, parser: doctest.DocTestParser) -> doctest.DocTest:
    """Return the examples in the `pycon` blocks of a page as one doctest that keeps the line numbers."""
    lines = [""] * (len(page.read_text(encoding="utf-8").splitlines()) + 1)
    for first, language, text in blocks(page):
        if language == "pycon":
            lines[first - 1 : first - 1 + text.count("\n")] = text.splitlines()
    return parser.get_doctest("\n".join(lines), {}, name_of(page), str(page), 0)


def main() -> None:
    total = 0
    for page in [README, *pages()]:
        number = len(examples(page, doctest.DocTestParser()).examples)
        total += number
        print(f"{number:4} {name_of(page)}")
    print(f"{total:4} examples on {len(pages())} pages and README.md")


if __name__ == "__main__":
    main()
