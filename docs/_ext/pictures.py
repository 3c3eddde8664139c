"""Pictures that are drawn while the site is built, from what stands on its pages and in the page of the benches."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "_build" / "pictures"  # pages name it: _build/pictures/NAME.svg
OURS, THEIRS, PALE = "#0b5394", "#a64d00", "#666666"
STYLE = {
    "svg.hashsalt": "rankgain",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


def rows(page: Path, columns: int) -> Iterator[list[str]]:
    """The rows of the tables of a page that have so many columns, without markup."""
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.replace("**", "").strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield cells


def plain(value: float, _: object = None) -> str:
    return f"{value:g}"


def by_length() -> Figure:
    """The time of nDCG@10 of 10^6 or 10^7 scores, per million, by the length of the lists."""
    found: dict[str, list[tuple[int, float]]] = {}
    size = None
    for title, contender, time, *_ in rows(DOCS.parent / "bench" / "README.md", 5):
        size = re.fullmatch(r"([\d,]+) × ([\d,]+), ndcg@10, one document in ten relevant", title) if title else size
        if size and not contender.startswith("limit"):
            queries, documents = (int(number.replace(",", "")) for number in size.groups())
            number, unit = time.split()
            seconds = float(number) * UNITS[unit] / (queries * documents / 1e6)
            found.setdefault(contender, []).append((documents, seconds * 1e3))
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for contender, points in found.items():
        ours = contender == "rankgain"
        axes.loglog(
            *zip(*points, strict=True),
            marker="o",
            color=OURS if ours else None,
            lw=3 if ours else 1.5,
            ls="-" if ours else "--",
        )
        axes.annotate(
            contender, points[-1], (6, 0), textcoords="offset points", va="center", color=OURS if ours else "black"
        )
    axes.set(xlabel="documents per query", ylabel="milliseconds per million scores", xlim=(80, 6e7))
    axes.set_xticks([100, 1000, 10_000, 1_000_000], ["100", "1,000", "10,000", "1,000,000"])
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    return figure


def peers() -> Figure:
    """Each row of the table of the page on speed: how many times longer the peers take."""
    found = [(work, times) for work, peer, times in rows(DOCS / "speed.md", 3) if re.match(r"[\d.]", times)]
    figure = Figure(figsize=(7, 0.22 * len(found) + 0.8), layout="constrained")
    axes = figure.add_subplot()
    for place, (_, times) in enumerate(found):
        for number in map(float, times.split(";")):
            axes.plot(number, place, marker="o" if number > 1 else "D", color=OURS if number > 1 else THEIRS)
    axes.axvline(1, color=PALE, lw=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.set(xlabel="the peer's time / rankgain's time", ylim=(len(found) - 0.5, -0.5))
    names = [re.sub(r"[`*]", "", work) or "″" for work, _ in found]
    axes.set_yticks(range(len(found)), [name if len(name) < 52 else name[:50] + " …" for name in names], fontsize=7.5)
    axes.grid(axis="y", color="#dddddd", lw=0.5)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {"by_length": by_length, "peers": peers}


def draw(app: Sphinx) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for name, picture in PICTURES.items():
            picture().savefig(FOLDER / f"{name}.svg", facecolor="white", metadata={"Date": None})


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
