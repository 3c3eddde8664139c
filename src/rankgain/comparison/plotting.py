"""Plots of test results. This module needs matplotlib, and is therefore imported only when something is drawn.

pyplot is not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from textwrap import wrap

from matplotlib.axes import Axes

from rankgain.comparison.aligned import Sample
from rankgain.comparison.difference import Difference, drawn_ends, subject
from rankgain.comparison.testing import Key, Tested, sample_of
from rankgain.results.plotting import COLOURS, PANEL, Figure, drawable, panels
from rankgain.results.text import printable

MOST_PANELS = 6
MOST_POINTS = 2000
MOST_INTERVALS = 60
_WRAPPED = 32  # maximum number of characters per line in an axis label
LINE, LETTER = 0.3, 0.085  # height of a line and width of a letter, in inches
GREY = "#8A8A8A"


def name_of(*values: object) -> str:
    """Return the full names for an axis label, wrapped onto several lines."""
    return "\n".join(wrap(": ".join(map(drawable, values)), _WRAPPED))


def draw_tests(tests: Tested, kind: str, keys: Sequence[Key]) -> Figure:
    """Draw one panel per (metric, run, baseline) or, for intervals, one panel per metric."""
    if kind == "intervals":
        metrics = list(dict.fromkeys(metric for metric, _, _ in keys))[:MOST_PANELS]
        rows = [[pair for key, pair in tests.items() if key[0] == metric] for metric in metrics]
        names = [interval_names(pairs) for pairs in rows]
        lines = max(sum(name.count("\n") + 1 for name in of_panel) for of_panel in names)
        widest = max(len(line) for of_panel in names for name in of_panel for line in name.split("\n"))
        axes = panels(len(metrics), (PANEL[0] + LETTER * widest, 1.2 + LINE * max(lines, 2)))
        for panel, pairs, of_panel in zip(axes, rows, names, strict=True):
            intervals(panel, pairs, of_panel)
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
    return figure


def _several(pairs: Sequence[Difference]) -> bool:
    """Return whether the pairs have more than one baseline."""
    return len({pair.baseline for pair in pairs}) > 1


def interval_names(pairs: Sequence[Difference]) -> list[str]:
    """Return the name of the run in each row, with the baseline if there are several baselines."""
    full = _several(pairs)
    names = (f"{printable(pair.run)} − {printable(pair.baseline)}" if full else pair.run for pair in pairs)
    return [name_of(name) for name in islice(names, MOST_INTERVALS)]


def intervals(axes: Axes, pairs: Sequence[Difference], names: Sequence[str]) -> None:
    """Draw one labelled interval per row, in grey if the difference is not decided."""
    for row, pair in enumerate(pairs[: len(names)]):
        colour = COLOURS[0] if pair.decided else GREY
        axes.plot(drawn_ends(pair), [row, row], color=colour, linewidth=2)
        axes.plot([pair.difference], [row], "o", color=colour, markersize=5)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(0.0, color="0.5", linewidth=0.8)
    more = f" ({len(pairs) - len(names)} more)" if len(pairs) > len(names) else ""
    against = "difference" if _several(pairs) else f"difference to {printable(pairs[0].baseline)}"
    axes.set_xlabel(f"{name_of(subject(pairs[0].metric), against)}{more}")


def scatter(pair: Difference, sample: Sample, axes: Axes) -> None:
    """Draw the diagonal and one point per query, or only every n-th query if there are many."""
    across, up = sample.of(pair.baseline), sample.of(pair.run)
    step = math.ceil(len(across) / MOST_POINTS)
    axes.plot(across[::step], up[::step], "o", color=COLOURS[0], alpha=0.4, markersize=4, markeredgewidth=0)
    ends = [min(across.min(), up.min()), max(across.max(), up.max())]
    axes.plot(ends, ends, color="0.5", linewidth=0.8)
    few = f" (every {step}th query)" if step > 1 else ""
    axes.set_xlabel(f"{name_of(subject(pair.metric), pair.baseline)}{few}")
    axes.set_ylabel(name_of(pair.run))
