"""A self-contained HTML page about a comparison: it needs no network, fits every width, and prints.

Names of queries, runs and groups are untrusted: the template escapes them, a policy in the page allows no other script
than that of the page, and invisible characters are written as escapes.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.comparison import sentences, tables
from rankgain.comparison.difference import (
    Difference,
    drawn_ends,
    ends_of,
    has_interval,
    p_text,
    percent,
    places_of,
    signed,
    subject,
)
from rankgain.comparison.groups import Groups, blocks_of
from rankgain.comparison.outcome import Tests, warnings_of
from rankgain.comparison.testing import Key, sample_of
from rankgain.errors import counted, import_extra
from rankgain.metrics.metric import Metric, Score
from rankgain.rankings import Rankings, first_documents
from rankgain.results.peers import explain
from rankgain.results.text import html_of, html_table, number, printable

if TYPE_CHECKING:
    from rankgain.results.evaluation import Evaluation

MOST_ROWS = 500  # rows of a table; the rest are counted
MOST_CHANGED = 5  # queries shown at each end of the differences
MOST_PAIRS = 6  # pairs whose queries are shown
MOST_OPEN = 40  # differences of a metric; the table of more is collapsed
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8A8A8A"
WIDTH, HEIGHT = 400.0, 100.0  # units of a picture
MOST_BARS = 200  # bars per picture
EDGE = 8.0  # space for dots at the ends

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "descending" : "ascending");
      const text = (row) => row.cells[column].textContent;
      const key = (row) => text(row).match(/^\\s*<?\\s*([+-]?\\d+(?:\\.\\d+)?)/)?.[1] ?? text(row);
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => {
        const one = key(a), other = key(b), difference = Number(one) - Number(other);
        const order = Number.isNaN(difference) ? one.localeCompare(other) : difference;
        return rising ? -order : order;
      });
      body.append(...rows);
    });
  });
}
"""

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 0 auto;
  padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem; }
h3 { font-size: 1rem; margin: 0.8rem 0 0.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.3rem 0; }
caption { text-align: left; font-weight: 600; padding-top: 0.5rem; }
th, td { padding: 0.15rem 0.5rem; text-align: right; border-bottom: 1px solid #ddd; vertical-align: top; }
th.name, td.name { text-align: left; min-width: 5rem; }
table.means th { overflow-wrap: normal; } sup { line-height: 0; }
tbody th { font-weight: 400; }
td small { color: #444; display: block; }
th small { font-weight: 400; float: left; } th small + small { float: right; }
td.number, td.number small { white-space: nowrap; overflow-wrap: normal; }
.picture { width: 40%; min-width: 4rem; padding: 0.15rem 0; }
td.picture svg { display: block; width: 100%; height: 1.5rem; }
table.wide { width: 100%; } table.wide th, .warning th { overflow-wrap: normal; }
th button { font: inherit; font-weight: 600; border: 0; background: none; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
.warning { border-left: 4px solid #D55E00; padding-left: 0.7rem; }
.notes, .about, .caption, pre { color: #444; font-size: 0.85rem; margin: 0.2rem 0; }
pre { white-space: pre-wrap; }
.pictures { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
figure { margin: 0; flex: 1 1 15rem; max-width: 30rem; } figure svg { width: 100%; height: 7rem; }
@media (max-width: 30rem) { body { padding: 0.5rem; } th, td { padding: 0.15rem 0.25rem; }
  .picture, .legend { display: none; } }
@media print { :root { font-size: 11px; } body { max-width: none; padding: 0; font-size: 1rem; }
  h2, h3, caption { break-after: avoid; } figure, tr { break-inside: avoid; } .scroll { overflow: visible; }
  figure { flex-basis: 30%; } figure svg { height: 5rem; } details:not([open]) { display: none; }
  th button { cursor: auto; } }
"""

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{{ hash }}';
 style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
{% macro line(x, to_x, y, to_y, colour, width=none, round=false, dashed=false) %}
<line x1="{{ x }}" x2="{{ to_x }}" y1="{{ y }}" y2="{{ to_y }}" stroke="{{ colour }}"
{%- if width %} stroke-width="{{ width }}"{% endif %}
{%- if round %} stroke-linecap="round"{% endif %}
{%- if dashed %} stroke-dasharray="3 3"{% endif %} vector-effect="non-scaling-stroke"/>
{% endmacro %}
{% macro interval(picture) %}
<svg viewBox="0 0 400 24" preserveAspectRatio="none" aria-hidden="true">
{{ line(200, 200, 0, 24, "#666", dashed=true) }}{{ line(picture.low, picture.high, 12, 12, picture.colour, 2) -}}
{{ line(picture.centre, picture.centre, 12, 12, picture.colour, 9, round=true) }}
{%- if picture.hollow %}{{ line(picture.centre, picture.centre, 12, 12, "#fff", 5, round=true) }}{% endif %}</svg>
{%- endmacro %}
{% macro bars(picture) %}
<svg viewBox="0 0 400 100" preserveAspectRatio="none" role="img" aria-label="sorted bars">
{% for box in picture.boxes %}
<rect x="{{ box.x }}" width="{{ box.width }}" y="{{ box.y }}" height="{{ box.height }}" fill="{{ box.colour }}">
{%- if box.title %}<title>{{ box.title }}</title>{% endif %}</rect>
{% endfor %}
{{ line(0, 400, picture.zero, picture.zero, "#666") }}{{ line(0, 400, picture.mean, picture.mean, "#000") }}</svg>
{%- endmacro %}
{% macro changes(block) %}
<table><thead><tr>
{% for cell in block.heads %}<th scope="col"{% if loop.first %} class="name"{% endif %}><bdi>{{ cell }}</bdi></th>
{% endfor %}</tr></thead>
<tbody>{% for query, sides, difference in block.rows %}<tr><td class="name"><bdi>{{ query }}</bdi></td>
{% for value, document in sides %}<td>{{ value }}
{% if document %}<small><bdi>{{ document }}</bdi></small>{% endif %}</td>{% endfor %}
<td class="number">{{ difference }}</td></tr>
{% endfor %}</tbody></table>
<p class="caption">{{ block.more }}</p>
{% endmacro %}
<h1><bdi>{{ title }}</bdi></h1>
<p class="about">{% for line in about %}{{ line }}<br>{% endfor %}</p>
<ul>{% for line in verdicts %}<li>{{ line }}</li>{% endfor %}</ul>
{% if warnings %}<div class="warning scroll">{{ warnings | safe }}</div>{% endif %}
<h2>Means</h2>
<div class="scroll">{{ html_table(means._replace(below=()), "means") | safe }}</div>
<p class="caption">{{ means.below | join(". ") }}.</p>
<h2>Differences</h2>
{% set first = "the run" if baseline else "the first run" %}
<p class="caption legend">Dot: the difference of the means, to the right of the dashed line where {{ first }} has the
higher mean; line: its {{ level }} interval. Blue and filled: decided; grey and hollow: not decided.</p>
{% for block in forests %}{% if block.folded %}<details><summary>{{ block.folded }}</summary>{% endif %}
<table class="wide"><caption><bdi>{{ block.title }}</bdi></caption>
<thead><tr><th scope="col" class="name">{{ "run" if baseline else "runs" }}</th>
<th scope="col" class="picture"><small>{{ block.low }}</small><small>{{ block.high }}</small></th>
<th scope="col">difference<br>{{ level }} interval</th>
{#- #}<th scope="col">{{ "adjusted p" if corrected else "p" }}</th></tr></thead>
<tbody>{% for pair, picture in block.rows %}<tr>
<td class="name"><bdi>{{ printable(pair.run) }}</bdi>
{%- if not baseline %} minus <bdi>{{ printable(pair.baseline) }}</bdi>{% endif %}</td>
<td class="picture">{{ interval(picture) }}</td>
<td class="number">{{ signed(pair.difference, places_of(pair)) }}<small>{{ ends_of(pair) }}</small></td>
{#- #}<td class="number">{{ p_text(pair.adjusted if corrected else pair.p) }}</td></tr>
{% endfor %}</tbody></table>{% if block.folded %}</details>{% endif %}
{% endfor %}
{% if numbers.below %}<p class="caption">{{ numbers.below | join }}</p>{% endif %}
<details><summary>All numbers, to sort</summary><div class="scroll">
{#- #}{{ html_table(numbers._replace(below=()), "sortable") | safe }}</div></details>
<h2>Queries</h2>
<p class="caption">Each bar is a query, the highest difference first; blue: the first run has the higher value,
orange: the lower one.
Line: the mean; grey band: its {{ level }} interval.{% if not_drawn %} {{ not_drawn }}{% endif %}</p>
<div class="pictures">{% for figure in figures %}<figure>{{ bars(figure.picture) }}
<figcaption class="caption"><bdi>{{ figure.title }}</bdi>: {{ figure.range }}</figcaption></figure>
{% endfor %}</div>
{% for block in changed %}
{% if loop.first %}<h3><bdi>{{ block.title }}</bdi></h3>{{ changes(block) }}
{% else %}<details><summary><bdi>{{ block.title }}</bdi></summary>{{ changes(block) }}</details>{% endif %}
{% endfor %}
{% for title, table, verdicts in groups_shown %}<h2><bdi>{{ title }}</bdi></h2>
<div class="scroll">{{ html_table(table, "sortable") | safe }}</div>
<ul>{% for line in verdicts %}<li>{{ line }}</li>{% endfor %}</ul>
{% endfor %}
{% if groups %}<ul class="notes">{% for line in groups.notes() %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
<h2>How to read this</h2>
<ul class="notes">{% for line in notes %}<li>{{ line }}</li>{% endfor %}</ul>
<p class="notes">For a paper: {{ tests.methods() }}</p>
<details><summary>Definitions</summary>{% for text in definitions %}<pre>{{ text }}</pre>{% endfor %}</details>
<script>{{ script | safe }}</script>
</body>
</html>
"""


def page_of(
    tests: Tests,
    groups: Groups | None,
    evaluations: Mapping[str, Evaluation],
    rankings: Mapping[str, Rankings],
    title: str | None = None,
    qrels: str | None = None,
    command: str | None = None,
) -> str:
    """The page as text; `rankings`: by run, if known."""
    jinja2 = import_extra("jinja2", "report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    functions = (ends_of, html_table, p_text, places_of, printable, signed)
    environment.globals |= {function.__name__: function for function in functions}
    own_title = sentences.title(tests)
    # the first differences of each metric, of the first metrics
    metrics = tests.options.metrics[:MOST_PAIRS]
    each = MOST_PAIRS // len(metrics)
    keys = [first for metric in metrics for first in [key for key in tests if key[0] == metric][:each]]
    shown = list(tests.values())[:MOST_ROWS]
    text: str = environment.from_string(TEMPLATE).render(
        title=printable(own_title if title is None else title),
        about=[*([] if title is None else [own_title]), *_about(tests, evaluations, qrels, command)],
        style=STYLE,
        script=SCRIPT,
        hash=base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode(),
        tests=tests,
        verdicts=[*tests.verdicts()[:MOST_ROWS], *sentences.summary(tests)],
        warnings=html_of(warnings_of(tests)),
        notes=list(sentences.details(tests)),
        means=tables.matrix(tests, "html", MOST_ROWS),
        numbers=tables.differences(tests, "html", MOST_ROWS),
        baseline=sentences.baseline_of(tests) is not None,
        corrected=sentences.is_corrected(tests),
        level=percent(tests.options.level),
        forests=[
            _forest(tests, [pair for pair in shown if pair.metric == metric])
            for metric in dict.fromkeys(pair.metric for pair in shown)
        ],
        figures=[_bars(tests, key) for key in keys],
        not_drawn=f"{len(keys)} of {len(tests)} differences are drawn." if len(keys) < len(tests) else "",
        changed=[_changed(tests, key, rankings) for key in keys],
        groups=groups,
        groups_shown=[] if groups is None else list(blocks_of(groups)),
        definitions=list(_definitions(tests.options.metrics, evaluations)),
    )
    return text


def _about(
    tests: Tests, evaluations: Mapping[str, Evaluation], qrels: str | None, command: str | None
) -> Iterator[str]:
    """Yield lines on what was compared, when, and with which version."""
    names = [printable(name) for name in evaluations]
    yield f"Runs: {', '.join([*names[:MOST_ROWS], *sentences.rest(len(names), MOST_ROWS, ' runs')])}"
    if qrels is not None:
        yield f"Judgments: {printable(qrels)}"
    yield f"Metrics: {', '.join(printable(metric) for metric in tests.options.metrics)}"
    day = datetime.date.today()
    yield f"{day.day} {day:%B %Y}, rankgain {_backend.VERSION}, NumPy {np.__version__}, backend {_backend.name}"
    if command is not None:
        yield f"Command: {printable(command)}"


def _definitions(metrics: Sequence[str | Metric], evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    like = next(iter(evaluations.values())).like
    for metric in metrics:
        if isinstance(metric, Score):
            yield f"{printable(metric)}: the values that were given"
        else:
            yield repr(explain(metric, like))


def _forest(tests: Tests, pairs: Sequence[Difference]) -> dict[str, Any]:
    """The differences of a metric on one scale, as rows."""
    baseline = sentences.baseline_of(tests)
    scale = max(abs(end) for pair in pairs for end in (*drawn_ends(pair), pair.difference)) or 1.0
    against = "" if baseline is None else f": difference to {printable(baseline)}"
    name = printable(subject(pairs[0].metric))
    count = f"{counted(len(pairs), 'difference')} in {name}"
    return {
        "title": f"{name}{against}",
        "low": signed(-scale),
        "high": signed(scale),
        "rows": [(pair, _interval(pair, scale)) for pair in pairs],
        "folded": count if len(pairs) > MOST_OPEN else "",
    }


def _interval(pair: Difference, scale: float) -> dict[str, Any]:
    """The horizontal positions of the ends of an interval and of the dot, with the colour."""

    def across(value: float) -> float:
        return round(WIDTH / 2 + value / scale * (WIDTH / 2 - EDGE), 2)

    low, high = map(across, drawn_ends(pair))
    colour = BLUE if pair.decided else GREY
    return {"low": low, "high": high, "centre": across(pair.difference), "colour": colour, "hollow": not pair.decided}


def _named(key: Key) -> str:
    metric, run, baseline = key
    return f"{printable(subject(metric))}: {printable(run)} minus {printable(baseline)}"


class Bar(NamedTuple):
    """Queries with similar differences: the first query, the number of queries, and the mean difference."""

    query: Any
    queries: int
    height: float


def bars_of(ranked: Sequence[tuple[Any, float]]) -> list[Bar]:
    """One bar per query; if there are many, neighbours share a bar."""
    step = math.ceil(len(ranked) / MOST_BARS)
    parts = [ranked[first : first + step] for first in range(0, len(ranked), step)]
    return [Bar(part[0][0], len(part), math.fsum(value for _, value in part) / len(part)) for part in parts]


def _bars(tests: Tests, key: Key) -> dict[str, Any]:
    """Sorted bars of the queries with tooltips, the mean, and the interval of the mean as a band."""
    pair, pairs = tests[key], sample_of(tests, key[0]).ranked(*key[1:])
    bars = bars_of(pairs)
    top, bottom = (pick(0.0, pair.difference, *(bar.height for bar in bars)) for pick in (max, min))

    def down(value: float) -> float:
        return round((top - min(max(value, bottom), top)) / ((top - bottom) or 1.0) * HEIGHT, 2)

    def box(x: float, width: float, ends: tuple[float, float], colour: str, title: str = "") -> dict[str, Any]:
        y, below = sorted(map(down, ends))
        sizes = {"x": f"{x:.2f}", "width": f"{width:.2f}", "y": y, "height": f"{below - y:.2f}"}
        return {**sizes, "colour": colour, "title": title}

    wide, boxes = WIDTH / len(bars), []
    if has_interval(pair):
        boxes.append(box(0.0, WIDTH, (pair.low, pair.high), "#ddd"))
    for position, (query, queries, height) in enumerate(bars):
        name = printable(query) if bars[0].queries == 1 else f"{queries} queries from {printable(query)}"
        colour = BLUE if height > 0 else ORANGE
        boxes.append(box(position * wide, 0.9 * wide, (0.0, height), colour, f"{name}: {height:+.4f}"))
    several = f", {bars[0].queries} to a bar" if bars[0].queries > 1 else ""
    return {
        "picture": {"boxes": boxes, "zero": down(0.0), "mean": down(pair.difference)},
        "title": _named(key),
        "range": f"{signed(pairs[-1][1])} to {signed(pairs[0][1])}{several}",
    }


def _changed(tests: Tests, key: Key, rankings: Mapping[str, Rankings]) -> dict[str, Any]:
    """The queries with the largest differences, with the values of both runs and the first document of each."""
    metric, run, baseline = key
    sample = sample_of(tests, metric)
    pairs = sample.ranked(run, baseline)
    more, less = [pair for pair in pairs if pair[1] > 0], [pair for pair in pairs if pair[1] < 0]
    ends = [*more[:MOST_CHANGED], *less[-MOST_CHANGED:]]
    values = {name: dict(zip(sample.query_ids, sample.of(name).tolist(), strict=True)) for name in (baseline, run)}
    first = {name: first_documents(rankings[name], dict(ends)) if name in rankings else {} for name in values}

    def side(name: str, query: Any) -> tuple[str, str]:
        return number(values[name][query]), printable(first[name][query]) if query in first[name] else ""

    rows = [
        (printable(query), [side(name, query) for name in values], f"{difference:+.4f}") for query, difference in ends
    ]
    below = " Below a value: the document that the run ranked first." if any(first.values()) else ""
    alike = len(pairs) - len(more) - len(less)
    between = f"{counted(len(pairs) - len(ends), 'other query')}, of which {alike} have the same value in both runs."
    return {
        "title": f"Queries that differ most, {_named(key)}",
        "heads": ["query", printable(baseline), printable(run), "difference"],
        "rows": rows,
        "more": between + below,
    }
