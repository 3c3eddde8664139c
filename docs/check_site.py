"""Check the built site.

    python docs/check_site.py FOLDER

The script checks that pages load nothing from other servers, formulas are typeset, and images have alternative text. It
also checks that no heading level is skipped, that no initial of a name begins a list, that links within the site are
not broken, and that a few words are in the search index.
"""

import re
import sys
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Documentation"]
INDEXED_WORDS = ["ndcg", "tie", "pytrec_ev"]  # stemmed, as in the search index
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data", "link": "href"}
NOT_LOADED = {"canonical", "next", "prev", "index", "search"}


class Page(HTMLParser):
    """A parsed HTML page with the URLs that it loads, its links, its anchors and its headings."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.headings: list[int] = []
        self.canonical = ""
        self.images_without_text: list[str] = []
        text = path.read_text(encoding="utf-8")
        self.lettered = re.findall(r'<ol class="upperalpha[^>]*>.*?</p>', text, re.DOTALL)
        self.formulas = re.findall(r"<math.*?</math>", text, re.DOTALL)
        self.raw = re.findall(r"\$\$|\\\(|\\\[", re.sub(r"<(script|pre|code|style).*?</\1>", "", text, flags=re.DOTALL))
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        kinds = set(values.get("rel", "").split())
        if tag == "link" and "canonical" in kinds:
            self.canonical = values["href"]
        if LOADED.get(tag) in values and not kinds & NOT_LOADED:
            self.loaded.append(values[LOADED[tag]])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "img" and not values.get("alt"):
            self.images_without_text.append(values["src"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


@cache
def page_of(path: Path) -> Page:
    return Page(path)


def dead(link: str, path: Path) -> bool:
    """Whether a link within the site is broken."""
    file, _, anchor = link.partition("#")
    target = (path.parent / unquote(file)).resolve() if file else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".html" and unquote(anchor) not in page_of(target).anchors


def problems_of(path: Path) -> list[str]:
    page = page_of(path)
    problems = [f"asks another server for {url}" for url in page.loaded if re.match(r"(https?:)?//", url)]
    problems += [f"a formula is not typeset: {formula}" for formula in page.formulas if "\\" in formula]
    problems += [f"a formula is not typeset: {text}" for text in page.raw]
    problems += [f"no text for the picture {name}" for name in page.images_without_text]
    problems += [f"an initial begins a list: {text}" for text in page.lettered]
    if path.name not in ("search.html", "genindex.html", "404.html"):
        steps = zip(page.headings, page.headings[1:], strict=False)
        problems += [
            f"a heading of level {high} is followed by one of level {low}" for high, low in steps if low > high + 1
        ]
        problems += [f"{page.headings.count(1)} headings of level 1"] * (page.headings.count(1) != 1)
        problems += ["no canonical address"] * (not page.canonical.startswith(SITE))
    links = [link for link in page.links if not re.match(r"[a-z]+:|//", link)]
    return problems + [f"leads nowhere: {link}" for link in links if dead(link, path)]


def all_problems(folder: Path) -> list[str]:
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    problems = [f"{path.relative_to(folder)}: {problem}" for path in paths for problem in problems_of(path)]
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    problems += [f"the search does not find {word}" for word in INDEXED_WORDS if word not in index]
    formulas = sum(len(page_of(path).formulas) for path in paths)
    problems += ["no formula is typeset"] * (formulas == 0)
    print(f"{len(paths)} pages, {formulas} formulas")
    return problems


if __name__ == "__main__":
    problems = all_problems(Path(sys.argv[1]).resolve())
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))
