"""Plots of tests. Imported only to draw, since it needs matplotlib; pyplot is not used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap

from matplotlib.axes import Axes

from rankgain.comparison.aligned import Sample
from rankgain.comparison.difference import Difference, drawn_ends, subject
from rankgain.comparison.testing import Key, Tested, sample_of
from rankgain.results.plotting import COLOURS, PANEL, Figure, drawable, panels
from rankgain.results.text import printable

KINDS = "intervals", "scatter"
MOST_PANELS = 6
MOST_POINTS = 2000
MOST_INTERVALS = 60
WRAPPED = 40  # characters per line of a name
LINE, LETTER = 0.3, 0.085  # inches
GREY = "#8A8A8A"


def name_of(value: object) -> str:
    """The full name for an axis, wrapped."""
    return "\n".join(wrap(drawable(value), WRAPPED, break_on_hyphens=False))


def draw(tests: Tested, kind: str, keys: Sequence[Key]) -> Figure:
    """One panel per key; for intervals, one per metric."""
    if kind == "intervals":
        metrics = list(dict.fromkeys(metric for metric, _, _ in keys))[:MOST_PANELS]
        axes = panels(len(metrics))
        for panel, metric in zip(axes, metrics, strict=True):
            intervals(panel, [pair for key, pair in tests.items() if key[0] == metric])
    else:
        axes = panels(len(keys[:MOST_PANELS]))
        for panel, key in zip(axes, keys, strict=False):
            scatter(tests[key], sample_of(tests, key[0]), panel)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        for text in (panel.title, panel.xaxis.label, panel.yaxis.label, *panel.get_yticklabels()):
            text.set_parse_math(False)
    figure = axes[0].get_figure()
    assert isinstance(figure, Figure)
    if kind == "intervals":
        names = [[label.get_text() for label in panel.get_yticklabels()] for panel in axes]
        lines = max(sum(name.count("\n") + 1 for name in labels) for labels in names)
        widest = max(len(line) for labels in names for name in labels for line in name.split("\n"))
        figure.set_figheight(1.2 + LINE * max(lines, 2))
        figure.set_figwidth(len(axes) * (PANEL[0] + LETTER * widest))
    return figure


def intervals(axes: Axes, pairs: Sequence[Difference]) -> None:
    """Draw the intervals in rows, in grey if the difference is not decided."""
    shown = pairs[:MOST_INTERVALS]
    for row, pair in enumerate(shown):
        colour = COLOURS[0] if pair.decided else GREY
        axes.plot(drawn_ends(pair), [row, row], color=colour, linewidth=2)
        axes.plot([pair.difference], [row], "o", color=colour, markersize=5)
    several = len({pair.baseline for pair in pairs}) > 1
    names = [name_of(f"{printable(pair.run)} − {printable(pair.baseline)}" if several else pair.run) for pair in shown]
    axes.set_yticks(range(len(shown)), names)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.axvline(0.0, color="0.5", linewidth=0.8)
    more = f" ({len(pairs) - len(shown)} more)" if len(pairs) > len(shown) else ""
    against = "difference" if several else f"difference to {name_of(pairs[0].baseline)}"
    axes.set_xlabel(f"{name_of(subject(pairs[0].metric))}: {against}{more}")


def scatter(pair: Difference, sample: Sample, axes: Axes) -> None:
    """Draw one point per query, or per n-th query if there are many, and the diagonal."""
    across, up = sample.of(pair.baseline), sample.of(pair.run)
    step = math.ceil(len(across) / MOST_POINTS)
    axes.plot(across[::step], up[::step], "o", color=COLOURS[0], alpha=0.4, markersize=4, markeredgewidth=0)
    ends = [min(across.min(), up.min()), max(across.max(), up.max())]
    axes.plot(ends, ends, color="0.5", linewidth=0.8)
    axes.set_xlabel(
        f"{name_of(subject(pair.metric))}: {name_of(pair.baseline)}" + (f" (every {step}th query)" if step > 1 else "")
    )
    axes.set_ylabel(name_of(pair.run))
