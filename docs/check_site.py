"""Check the built site.

    python docs/check_site.py FOLDER

Nothing is loaded from another server; formulas are typeset; pictures have a text; levels of headings follow each other;
links within the site lead to a page or an anchor; the search index has the words of the metrics.
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
SOUGHT = ["ndcg", "tie", "pytrec_ev"]  # as the index of the search has them, without their endings
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data", "link": "href"}
NOT_LOADED = {"canonical", "next", "prev", "index", "search"}


class Page(HTMLParser):
    """What a page loads, where its links lead, and what can be pointed at on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.headings: list[int] = []
        self.canonical = ""
        self.untold: list[str] = []
        text = path.read_text(encoding="utf-8")
        self.formulas = re.findall(r"<math.*?</math>", text, re.DOTALL)
        self.raw = re.findall(r"\$\$|\\\(|\\\[", re.sub(r"<(script|pre|code|style).*?</\1>", "", text, flags=re.DOTALL))
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attributes}
        self.anchors |= {held[name] for name in ("id", "name") if name in held}
        kinds = set(held.get("rel", "").split())
        if tag == "link" and "canonical" in kinds:
            self.canonical = held["href"]
        if LOADED.get(tag) in held and not kinds & NOT_LOADED:
            self.loaded.append(held[LOADED[tag]])
        if tag == "a" and "href" in held:
            self.links.append(held["href"])
        if tag == "img" and not held.get("alt"):
            self.untold.append(held["src"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


@cache
def page_of(path: Path) -> Page:
    return Page(path)


def dead(link: str, path: Path) -> bool:
    """Whether a link within the site leads nowhere."""
    file, _, anchor = link.partition("#")
    target = (path.parent / unquote(file)).resolve() if file else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".html" and unquote(anchor) not in page_of(target).anchors


def faults_of(path: Path) -> list[str]:
    page = page_of(path)
    said = [f"asks another server for {url}" for url in page.loaded if re.match(r"(https?:)?//", url)]
    said += [f"a formula is not typeset: {formula}" for formula in page.formulas if "\\" in formula]
    said += [f"a formula is not typeset: {text}" for text in page.raw]
    said += [f"no text for the picture {name}" for name in page.untold]
    if path.name not in ("search.html", "genindex.html", "404.html"):
        steps = zip(page.headings, page.headings[1:], strict=False)
        said += [
            f"a heading of level {high} is followed by one of level {low}" for high, low in steps if low > high + 1
        ]
        said += [f"{page.headings.count(1)} headings of level 1"] * (page.headings.count(1) != 1)
        said += ["no canonical address"] * (not page.canonical.startswith(SITE))
    links = [link for link in page.links if not re.match(r"[a-z]+:|//", link)]
    return said + [f"leads nowhere: {link}" for link in links if dead(link, path)]


def faults(folder: Path) -> list[str]:
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    said = [f"{path.relative_to(folder)}: {fault}" for path in paths for fault in faults_of(path)]
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    said += [f"the search does not find {word}" for word in SOUGHT if word not in index]
    formulas = sum(len(page_of(path).formulas) for path in paths)
    said += ["no formula is typeset"] * (formulas == 0)
    print(f"{len(paths)} pages, {formulas} formulas")
    return said


if __name__ == "__main__":
    found = faults(Path(sys.argv[1]).resolve())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
