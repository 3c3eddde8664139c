"""Draw the pictures of the documentation as SVG files in docs/_static.

    python docs/pictures.py

The numbers come from bench/README.md, and from applying rankgain to examples on the pages. A test redraws the pictures
and compares their text.
"""

import re
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import matplotlib
import speed
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import rankgain as rg

DOCS = Path(__file__).parent
OURS, THEIRS, PALE = "#0b5394", "#a64d00", "#666666"
STYLE = {
    "svg.hashsalt": "rankgain",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # keep labels legible on top of lines
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


def plain(value: float, _: object = None) -> str:
    return f"{value:g}"


def by_length() -> Figure:
    """Plot the time of nDCG@10 per million scores against the number of documents per query."""
    points_by_contender: dict[str, list[tuple[int, float]]] = {}
    size = None
    for title, contender, time, *_ in speed.page_rows(speed.BENCHES, 5):
        size = re.fullmatch(r"([\d,]+) × ([\d,]+), ndcg@10, one document in ten relevant", title) if title else size
        if size and not contender.startswith("limit"):
            queries, documents = (int(number.replace(",", "")) for number in size.groups())
            number, unit = time.split()
            seconds = float(number) * UNITS[unit] / (queries * documents / 1e6)
            points_by_contender.setdefault(contender, []).append((documents, seconds * 1e3))
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    label_height = 0.0
    for contender, points in sorted(points_by_contender.items(), key=lambda item: item[1][-1][1]):
        documents, last = points[-1]
        label_height = max(last, 1.4 * label_height)  # keep labels from overlapping
        ours = contender == "rankgain"
        axes.loglog(
            *zip(*points, strict=True),
            marker="o",
            color=OURS if ours else None,
            lw=3 if ours else 1.5,
            ls="-" if ours else "--",
        )
        axes.annotate(
            contender,
            (documents, label_height),
            (8, 0),
            textcoords="offset points",
            va="center",
            color=OURS if ours else "black",
        )
    axes.set(xlabel="documents per query", ylabel="milliseconds per million scores", xlim=(80, 1.3e6))
    axes.set_xticks([100, 1000, 10_000, 1_000_000], ["100", "1,000", "10,000", "1,000,000"])
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    return figure


def peers() -> Figure:
    """Plot the speed-ups in the README's table. The picture is narrow enough for a phone."""
    cases = speed.measured()
    figure = Figure(figsize=(4.2, 0.5 * len(speed.FRONT) + 0.7), layout="constrained")
    axes = figure.add_subplot()
    for y, row in enumerate(speed.FRONT):
        _, ratio = speed.times(row, cases)
        faster = ratio > 1
        color = OURS if faster else THEIRS
        axes.plot([1, ratio], [y, y], color=color, lw=1.5)
        axes.plot(ratio, y, marker="o" if faster else "D", color=color)
        side = {"xytext": (-7, 0), "ha": "right"} if ratio > 30 or not faster else {"xytext": (7, 0), "ha": "left"}
        name = f"{row.other} {speed.short(ratio)}"
        axes.annotate(name, (ratio, y), textcoords="offset points", va="center", color=color, bbox=LABEL, **side)
        axes.text(0.1, y - 0.42, row.work.replace("`", ""), fontsize=9, va="center", bbox=LABEL)
    axes.axvline(1, color=PALE, lw=1, zorder=0)
    axes.set(xscale="log", xlim=(0.1, 1000), ylim=(len(speed.FRONT) - 0.5, -0.8), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.set_xlabel("the other tool's time / rankgain's time")
    return figure


def discounted_gain() -> Figure:
    """Plot the gain and the discounted gain at each rank of the example list in the first tutorial."""
    grades = [3, 2, 3, 0, 1, 2]
    ranks, gains = range(1, len(grades) + 1), rg.gain(grades)
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.bar(ranks, gains, color="#cfdcec", label="gain: the grade")
    bars = axes.bar(ranks, gains * rg.discount(len(grades)), color=OURS, label="gain × discount: what DCG adds up")
    axes.bar_label(bars, fmt="%.2f", padding=2)
    axes.set(xlabel="rank", ylim=(0, 3.6), yticks=range(4))
    axes.legend(frameon=False, loc="upper right")
    return figure


def dcg_and_ndcg() -> Figure:
    """Plot DCG and nDCG at each cut-off for two short lists and three kinds of ideal ranking."""
    judged, ks = [3, 3, 2, 2, 1, 1, 0], range(1, 8)  # the grades of documents A to G
    lists = {"A, E, C, D, F": ([3, 1, 2, 2, 1], OURS), "A, B, C, G, E": ([3, 3, 2, 0, 1], THEIRS)}
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    for name, (grades, color) in lists.items():
        left.plot(ks, [rg.dcg(grades, k=k) for k in ks], marker="o", color=color, label=name)
        right.plot(ks, [rg.ndcg(grades, k=k, judged=judged) for k in ks], marker="o", color=color, label=name)
    left.plot(ks, [rg.idcg(judged, k=k) for k in ks], color=PALE, linestyle="--", label="ideal")
    first, _ = lists["A, E, C, D, F"]
    cut = [rg.ndcg(first, k=k, judged=judged, ideal="returned") for k in ks]
    right.plot(ks, cut, color=OURS, linestyle=":", label="A, E, C, D, F: ideal cut at its 5 documents")
    self_ideal = [rg.ndcg(first, k=k) for k in ks]
    right.plot(ks, self_ideal, color=OURS, linestyle="--", label="A, E, C, D, F: ideal of its own grades")
    left.set(title="DCG", xlabel="cut-off k", ylim=(0, 8.5))
    right.set(title="nDCG", xlabel="cut-off k", ylim=(0.6, 1.02))
    left.legend(frameon=False, loc="upper left")
    right.legend(frameon=False, loc="lower right", fontsize=8)
    return figure


def incomplete() -> Figure:
    """Plot what can be computed from incomplete judgments in the simulation of a how-to guide."""
    simulation = run_path(str(DOCS / "examples" / "incomplete_judgments.py"))
    (truth, *_), *lost = (simulation["ON_THE_PAGE"][name] for name in ("truth", "at_random", "by_pool"))
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    titles = "lost at random", "lost by a pool without the system"
    for axes, title, (as_is, condensed, low, high, *_) in zip(panels, titles, lost, strict=True):
        axes.axvline(truth, color=PALE, linestyle="--", lw=1)
        axes.plot([low, high], [0, 0], color=PALE, lw=6, solid_capstyle="butt", alpha=0.5)
        for y, value, color in ((2, as_is, OURS), (1, condensed, THEIRS)):
            axes.plot(value, y, marker="o", color=color)
            axes.annotate(
                f"{value:.3f}", (value, y), xytext=(0, 6), textcoords="offset points", ha="center", color=color
            )
        axes.annotate(
            f"{low:.3f} to {high:.3f}", ((low + high) / 2, 0), xytext=(0, 6), textcoords="offset points", ha="center"
        )
        axes.set(title=title, xlabel="ndcg@10", xlim=(0.5, 1), ylim=(-0.5, 2.7))
    panels[0].set_yticks([2, 1, 0], ["as it is", "condensed lists", "bounds"])
    panels[0].text(truth, -0.42, " truth", color=PALE, fontsize=9)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "by-length": by_length,
    "peers": peers,
    "discounted-gain": discounted_gain,
    "dcg-and-ndcg": dcg_and_ndcg,
    "incomplete": incomplete,
}


def draw(folder: Path) -> None:
    with matplotlib.rc_context(STYLE):
        for name, picture in PICTURES.items():
            picture().savefig(folder / f"{name}.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    draw(DOCS / "_static")
