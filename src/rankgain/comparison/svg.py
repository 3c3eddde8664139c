"""The small pictures of a page, as inline SVG without names, so that no name is ever cut off."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rankgain.comparison.difference import Difference
from rankgain.results.text import printable

MOST_BARS = 200  # with more queries, each bar is the mean of neighbours
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8A8A8A"
WIDTH, HEIGHT, ROW = 400.0, 100.0, 24.0
EDGE = 8.0  # space for dots at the ends


def scale(own: Iterable[Difference]) -> float:
    """The largest absolute end of the intervals."""
    ends = [abs(end) for pair in own for end in (pair.low, pair.high, pair.difference) if math.isfinite(end)]
    return max(ends) or 1.0


def interval(pair: Difference, largest: float) -> str:
    """A dot with its interval: blue and filled if the difference is decided, else grey and hollow."""

    def across(value: float) -> float:
        return round(WIDTH / 2 + value / largest * (WIDTH / 2 - EDGE), 2)

    low, high = (end if math.isfinite(end) else pair.difference for end in (pair.low, pair.high))
    colour, middle, centre = (BLUE if pair.decided else GREY), ROW / 2, across(pair.difference)
    dot = 'stroke-width="{}" stroke-linecap="round"'
    lines = [
        _line((WIDTH / 2, WIDTH / 2), (0.0, ROW), "#666", 'stroke-dasharray="3 3"'),
        _line((across(low), across(high)), (middle, middle), colour, 'stroke-width="2"'),
        _line((centre, centre), (middle, middle), colour, dot.format(9)),
    ]
    if not pair.decided:
        lines.append(_line((centre, centre), (middle, middle), "#fff", dot.format(5)))
    return _drawing(ROW, 'aria-hidden="true"', lines)


def _line(x: tuple[float, float], y: tuple[float, float], colour: str, attributes: str = "") -> str:
    """A line between two points, whose width on screen does not depend on the scale of the drawing."""
    return (
        f'<line x1="{x[0]:g}" x2="{x[1]:g}" y1="{y[0]:g}" y2="{y[1]:g}" stroke="{colour}" {attributes}'
        ' vector-effect="non-scaling-stroke"/>'
    )


def _drawing(height: float, attributes: str, parts: Iterable[str]) -> str:
    box = f'viewBox="0 0 {WIDTH:g} {height:g}" preserveAspectRatio="none"'
    return f"<svg {box} {attributes}>{''.join(parts)}</svg>"


def per_bar(queries: int) -> int:
    return math.ceil(queries / MOST_BARS)


def bars(pair: Difference, pairs: Sequence[tuple[Any, float]]) -> str:
    """Sorted bars of the queries with tooltips, the mean, and its interval as a band."""
    step = per_bar(len(pairs))
    parts = [pairs[first : first + step] for first in range(0, len(pairs), step)]
    heights = [math.fsum(value for _, value in part) / len(part) for part in parts]
    top, bottom = (pick(0.0, *heights, pair.difference) for pick in (max, min))
    span = (top - bottom) or 1.0

    def down(value: float) -> float:
        return round((top - min(max(value, bottom), top)) / span * HEIGHT, 2)

    wide = WIDTH / len(parts)
    shown = []
    if math.isfinite(pair.low) and math.isfinite(pair.high):
        band = down(pair.low) - down(pair.high)
        shown.append(f'<rect x="0" width="{WIDTH:g}" y="{down(pair.high)}" height="{band:.2f}" fill="#ddd"/>')
    for place, (part, height) in enumerate(zip(parts, heights, strict=True)):
        name = printable(part[0][0]) if step == 1 else f"{len(part)} queries from {printable(part[0][0])}"
        first, last = sorted((down(height), down(0.0)))
        shown.append(
            f'<rect x="{place * wide:.2f}" width="{0.9 * wide:.2f}" y="{first}" height="{last - first:.2f}"'
            f' fill="{BLUE if height > 0 else ORANGE}"><title>{html.escape(name)}: {height:+.4f}</title></rect>'
        )
    for value, colour in ((0.0, "#666"), (pair.difference, "#000")):
        shown.append(_line((0.0, WIDTH), (down(value), down(value)), colour))
    return _drawing(HEIGHT, 'role="img" aria-label="sorted bars"', shown)
