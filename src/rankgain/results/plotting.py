"""Plot curves with matplotlib, without pyplot.

This module is imported only for drawing, since it requires matplotlib.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Protocol

import numpy as np
from matplotlib import figure, rcParams
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from rankgain.metrics.metric import Metric, row_of
from rankgain.results.text import printable
from rankgain.scalars import Floats, Ints

# Colours that colour-blind readers can distinguish (Okabe & Ito 2008), without yellow, which is faint on white paper.
# Dashes distinguish the lines in black and white. There is one dash pattern fewer than there are colours, so a pair of
# colour and dashes repeats as late as possible.
COLOURS = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"
DASHES = "-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)), (0, (4, 1, 1, 1, 1, 1))
PANEL = 4.6, 3.4  # width and height in inches
_WIDEST = 16.0  # maximum width of a figure in inches, unless a single panel is wider
_FEW = 20  # a curve with at most this many cut-offs has markers
LEGEND_COLUMNS = 3
LABEL_WIDTH = 40  # number of characters that fit along the height of a panel
LONGEST_ABBREVIATION = 4  # maximum length of abbreviations such as RR or IDCG; longer names are words


class Line(Protocol):
    """The attributes of a Curve that are needed to draw it."""

    @property
    def metric(self) -> Metric: ...
    @property
    def ks(self) -> Ints: ...
    @property
    def values(self) -> Floats: ...
    def mean(self) -> Floats: ...


class Figure(figure.Figure):
    """A figure that notebooks can show without pyplot."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()


def drawable(value: object) -> str:
    """Escape characters that the fonts lack, since matplotlib would warn and draw boxes instead."""
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in rcParams["font.family"]]
    return "".join(
        char if any(font.get_char_index(ord(char)) for font in fonts) else char.encode("unicode_escape").decode()
        for char in printable(value)
    )


def panels(count: int, size: tuple[float, float] = PANEL) -> list[Axes]:
    """Return the empty panels of a new figure, arranged in rows of similar length.

    `size` is the width and height of a panel in inches.
    """
    width, height = size
    rows = math.ceil(count / max(1, int(_WIDEST // width)))
    columns = math.ceil(count / rows)
    new_figure = Figure(figsize=(width * columns, height * rows), layout=ConstrainedLayoutEngine(wspace=0.06))
    grid = new_figure.subplots(rows, columns, squeeze=False).flatten()
    for unused in grid[count:]:
        unused.remove()
    return list(grid[:count])


def draw(
    curve: Line, axes: Axes, label: str | None = None, per_query: bool = False, band: Floats | None = None
) -> None:
    """Draw the mean of a curve as a line, in the next style of the axes.

    The values of the queries and a band are drawn behind it if requested.
    """
    if not isinstance(axes, Axes):
        raise TypeError(f"axes must be matplotlib Axes, not {type(axes).__name__}")
    drawn = len(axes.lines)
    if not drawn:
        label_axes(axes, curve)
    colour, dashes = COLOURS[drawn % len(COLOURS)], DASHES[drawn % len(DASHES)]
    if per_query:
        lines = np.stack(np.broadcast_arrays(curve.ks, curve.values), axis=-1)
        axes.add_collection(LineCollection(list(lines), colors=colour, linewidths=0.5, alpha=0.2, zorder=1))
    if band is not None:
        low, high = np.where(np.isfinite(band), band, np.nan)
        axes.fill_between(curve.ks, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    marker = "o" if len(curve.ks) <= _FEW else None
    axes.plot(curve.ks, curve.mean(), color=colour, linestyle=dashes, linewidth=1.8, marker=marker, ms=4, label=label)


def label_axes(axes: Axes, curve: Line) -> None:
    """Set the axis labels and limits of a metric's panel."""
    axes.set_xlabel("cut-off k")
    axes.set_ylabel(heading(curve.metric))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.margins(x=0.01)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    if row_of(curve.metric.name).highest == 1.0:
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.update_datalim([(curve.ks[0], 0.0)])  # include 0 in the range of the y axis


def heading(metric: Metric) -> str:
    """Return the conventional name of a metric, with abbreviations in capitals, and its parameters below."""
    name = metric.name
    title = "nDCG" if name == "ndcg" else name.upper() if len(name) <= LONGEST_ABBREVIATION else name
    parameters = re.sub(r",\s*", ", ", str(metric).removeprefix(name))
    return "\n".join([f"mean {title}@k", *wrap(parameters, LABEL_WIDTH, max_lines=2, placeholder=" …")])


def panels_side_by_side(runs: Mapping[str | None, Sequence[Line]]) -> Figure:
    """Return a figure with one panel per metric, one line per run and the legend below the panels."""
    axes = panels(max(map(len, runs.values())))
    for name, curves in runs.items():
        for panel, curve in zip(axes, curves, strict=True):
            draw(curve, panel, None if name is None else drawable(name))
    handles, labels = axes[0].get_legend_handles_labels()
    parent = axes[0].get_figure()
    assert isinstance(parent, Figure)
    if labels:
        columns = min(len(labels), LEGEND_COLUMNS)
        parent.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    return parent
