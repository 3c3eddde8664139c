"""A self-contained HTML page about a comparison. It needs no network, fits any screen width, and can be printed.

Names of queries, runs and groups are untrusted. The template escapes them, a content security policy allows only the
page's own script, and invisible characters are written as escapes.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain.comparison import sentences, tables
from rankgain.comparison.corrected_tests import CorrectedTests
from rankgain.comparison.difference import (
    Difference,
    decimals_of,
    drawn_ends,
    ends_of,
    has_interval,
    joined,
    p_text,
    percent,
    subject,
)
from rankgain.comparison.gate import Gate
from rankgain.comparison.groups import Groups, blocks_of
from rankgain.comparison.outcome import Tests, warnings_of
from rankgain.comparison.testing import Key, sample_of
from rankgain.errors import counted, escaped, import_extra
from rankgain.metrics.metric import Metric, Score, better
from rankgain.results.peers import explain
from rankgain.results.text import Table, html_of, html_table, number, printable, signed

if TYPE_CHECKING:
    from rankgain.comparison.evidence import Evidence
    from rankgain.results.evaluation import Evaluation

MOST_REPORT_ROWS = 1000  # maximum number of differences to list (for complete metrics only), and of runs to list
MOST_CHANGED = 5  # number of queries shown at each end of the sorted differences
MOST_PAIRS = 6  # if there are more differences, the queries are drawn only for selected pairs of each metric
MOST_DRAWN = 12  # maximum number of metrics whose values are plotted by query
MOST_OPEN = 40  # if any metric has more differences, the tables of all metrics are collapsed
WIDTH, HEIGHT = 400.0, 100.0  # size of a picture, in SVG units
MOST_BARS = 200  # maximum number of bars per picture
EDGE = 8.0  # margin for dots at both ends

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
:root { color-scheme: light dark; --page: #fff; --text: #1a1a1a; --note: #444; --rule: #ddd; --zero: #666;
  --mean: #000; --grey: #8a8a8a; --blue: #0072b2; --orange: #d55e00; }
@media screen and (prefers-color-scheme: dark) { :root { --page: #14181c; --text: #e4e6e8; --note: #b4b9be;
  --rule: #3c4248; --zero: #9a9fa4; --mean: #fff; --blue: #56b4e9; --orange: #e69f00; } }
@media print { :root { color-scheme: light; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 60rem;
  margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.3rem 0; }
caption { text-align: left; } .wide caption { font-weight: 600; padding-top: 0.5rem; }
th, td { padding: 0.15rem 0.5rem; text-align: right; border-bottom: 1px solid var(--rule); vertical-align: top; }
td { white-space: nowrap; }
th.name, td.name { text-align: left; min-width: 5rem; } td.name, td bdi { white-space: normal; }
.wide th, .scroll th { overflow-wrap: normal; }
.scroll th bdi { display: inline-block; max-width: 14rem; overflow-wrap: break-word; }
.warning th bdi { max-width: 30rem; } .warning tbody th:last-child bdi { min-width: 12rem; } sup { line-height: 0; }
tbody th { font-weight: 400; }
td small { color: var(--note); display: block; } .wide td small { display: inline-block; min-width: 11em; }
th small { font-weight: 400; float: left; } th small + small { float: right; }
.wide { width: 100%; table-layout: fixed; } .wide .name { width: 30%; } .wide .p { width: 11%; }
.picture { padding: 0.15rem 0; }
td.picture svg { display: block; width: 100%; height: 1.5rem; }
path { stroke: var(--grey); stroke-width: 2; vector-effect: non-scaling-stroke; }
path.decided { stroke: var(--blue); } path.mean { stroke: var(--mean); stroke-width: 1; }
path.zero { stroke: var(--zero); stroke-width: 1; stroke-dasharray: 3 3; }
rect.higher { fill: var(--blue); } rect.lower { fill: var(--orange); } rect.band { fill: var(--rule); }
path.dot { stroke-width: 9; stroke-linecap: round; }
path.hole { stroke: var(--page); stroke-width: 5; stroke-linecap: round; }
th button { font: inherit; font-weight: 600; border: 0; background: none; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
.warning { border-left: 4px solid var(--orange); padding-left: 0.7rem; }
.notes, .caption, pre { color: var(--note); font-size: 0.85rem; margin: 0.2rem 0; }
pre { white-space: pre-wrap; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.5rem 1.5rem; }
figure { margin: 0; } figure svg { display: block; width: 100%; height: 7rem; }
@media (max-width: 30rem) { body { padding: 0.5rem; } ul { padding-left: 1.2rem; }
  .scroll th bdi { max-width: 9rem; } .warning table { font-size: 0.8rem; }
  .warning tbody th:last-child bdi { min-width: 8rem; max-width: 10rem; }
  th, td { padding: 0.15rem 0.25rem; }
  .picture, .legend { display: none; } .wide .name { width: auto; } .wide .p { width: 22%; }
  .wide td small { display: block; min-width: 0; } }
@media print { :root { font-size: 11px; } body { max-width: none; padding: 0; font-size: 1rem; }
  h2, caption, summary { break-after: avoid; } figure, tr { break-inside: avoid; } .scroll { overflow: visible; }
  figure svg { height: 5rem; } details::details-content { content-visibility: visible; } summary { list-style: none; }
  td.picture svg { height: 1rem; } th, td { padding: 0 0.3rem; }
  .sortable { font-size: 0.85em; } }
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
{% macro interval(pair, ends) %}
<svg viewBox="0 0 400 24" preserveAspectRatio="none" aria-hidden="true"><path class="zero" d="M200 0V24"/>
{%- set colour = " decided" if pair.decided else "" -%}
<path class="line{{ colour }}" d="M{{ ends[0] }} 12H{{ ends[2] }}"/>
{#- #}<path class="dot{{ colour }}" d="M{{ ends[1] }} 12h0"/>
{%- if not pair.decided %}<path class="hole" d="M{{ ends[1] }} 12h0"/>{% endif %}</svg>
{%- endmacro %}
{% macro bars(picture) %}
<svg viewBox="0 0 400 100" preserveAspectRatio="none" role="img" aria-label="sorted bars">
{% for box in picture.boxes %}
<rect x="{{ box.x }}" width="{{ box.width }}" y="{{ box.y }}" height="{{ box.height }}" class="{{ box.kind }}">
{%- if box.title %}<title>{{ box.title }}</title>{% endif %}</rect>
{% endfor %}
<path class="mean" d="M0 {{ picture.zero }}H400M0 {{ picture.mean }}H400"/></svg>
{%- endmacro %}
{% macro changes(block) %}
<div class="scroll"><table><thead><tr>
{% for cell in block.heads %}<th scope="col"{% if loop.first %} class="name"{% endif %}><bdi>{{ cell }}</bdi></th>
{% endfor %}</tr></thead>
<tbody>{% for query, sides, difference in block.rows %}<tr><td class="name"><bdi>{{ query }}</bdi></td>
{% for value, document in sides %}<td>{{ value }}
{% if document %}<small><bdi>{{ document }}</bdi></small>{% endif %}</td>{% endfor %}
<td>{{ difference }}</td></tr>
{% endfor %}</tbody></table></div>
<p class="caption">{{ block.more }}</p>
{% endmacro %}
<h1><bdi>{{ title }}</bdi></h1>
{% if title != heading %}<p class="caption">{{ heading }}</p>{% endif %}
{% if gate %}<p class="gate"><strong>{{ gate[0] }}</strong></p>
<ul>{% for line in gate[1:] %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
<ul>{% for line in verdicts %}<li>{{ line }}</li>{% endfor %}</ul>
{% if warnings %}<div class="warning scroll">{{ warnings | safe }}</div>{% endif %}
<h2>Means</h2>
<div class="scroll">{{ html_table(means._replace(below=()), "means") | safe }}</div>
<p class="caption">{{ means.below | join(". ") }}.</p>
<h2>Differences</h2>
{% set first = "the run" if baseline else "the first run" %}
<p class="caption legend">Dot: the difference of the means, to the right of the dashed line where {{ first }} has the
higher mean; line: its {{ level }} interval. Blue and filled: decided; grey and hollow: not decided.</p>
{% if left_out %}<p class="caption">{{ left_out }}</p>{% endif %}
{% for block in forests %}{% if folded %}<details><summary>{{ block.summary }}</summary>{% endif %}
<table class="wide"><caption><bdi>{{ block.title }}</bdi></caption>
<thead><tr><th scope="col" class="name">{{ "run" if baseline else "runs" }}</th>
<th scope="col" class="picture"><small>{{ block.low }}</small><small>{{ block.high }}</small></th>
<th scope="col">difference, {{ level }} interval</th>
{#- #}<th scope="col" class="p">{{ "adjusted p" if corrected else "p" }}</th></tr></thead>
<tbody>{% for pair, ends in block.rows %}<tr>
<td class="name"><bdi>{{ printable(pair.run) }}</bdi>
{%- if not baseline %} minus <bdi>{{ printable(pair.baseline) }}</bdi>{% endif %}</td>
<td class="picture">{{ interval(pair, ends) }}</td>
<td>{{ signed(pair.difference, decimals_of(pair)) }} <small>{{ ends_of(pair) }}</small></td>
{#- #}<td>{{ p_text(pair.adjusted if corrected else pair.p) }}</td></tr>
{% endfor %}</tbody></table>{% if folded %}</details>{% endif %}
{% endfor %}
{% if numbers.below %}<p class="caption">{{ numbers.below | join(". ") }}</p>{% endif %}
{% if numbers.rows | length > 1 %}<details><summary>All numbers (sortable)</summary><div class="scroll">
{#- #}{{ html_table(numbers._replace(below=()), "sortable") | safe }}</div></details>{% endif %}
<h2>Queries</h2>
<p class="caption">Each bar is a query, the highest difference first; blue: the first run has the higher value,
orange: the lower one.
Line: the mean; grey band: its {{ level }} interval. {{ choice }}</p>
<div class="pictures">{% for figure in figures %}<figure>{{ bars(figure.picture) }}
<figcaption class="caption"><bdi>{{ figure.title }}</bdi>: {{ figure.range }}</figcaption></figure>
{% endfor %}</div>
{% for block in changed %}<details{% if loop.length == 1 %} open{% endif %}>
<summary><bdi>{{ block.title }}</bdi></summary>{{ changes(block) }}</details>
{% endfor %}
{% for title, table, verdicts in groups_shown %}<h2><bdi>{{ title }}</bdi></h2>
<div class="scroll">{{ html_table(table, "sortable") | safe }}</div>
{% if gate %}<p class="gate"><strong>{{ gate[0] }}</strong></p>
<ul>{% for line in gate[1:] %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
<ul>{% for line in verdicts %}<li>{{ line }}</li>{% endfor %}</ul>
{% endfor %}
{% if groups %}<ul class="notes">{% for line in groups.notes() %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
<h2>How to read this</h2>
<ul class="notes">{% for line in notes %}<li>{{ line }}</li>{% endfor %}</ul>
<p class="notes">For a paper: {{ tests.methods() }}</p>
<details><summary>Definitions</summary>{% for text in definitions %}<pre>{{ text }}</pre>{% endfor %}</details>
<h2>About this page</h2>
<p class="notes">{% for line in about %}{{ line }}<br>{% endfor %}</p>
<script>{{ script | safe }}</script>
</body>
</html>
"""


@cache
def _template() -> Any:
    """Return the compiled template, which takes longer to compile than to fill."""
    jinja2 = import_extra("jinja2", "report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    functions = (ends_of, html_table, p_text, decimals_of, printable, signed)
    environment.globals |= {function.__name__: function for function in functions}
    return environment.from_string(TEMPLATE)


def page_of(
    tests: Tests,
    groups: Groups | None,
    evaluations: Mapping[str, Evaluation],
    evidence: Mapping[str, Evidence],
    title: str | None = None,
    qrels: str | None = None,
    command: str | None = None,
    gate: Gate | None = None,
) -> str:
    """Return the page as text. `evidence`: the runs whose rankings were evaluated."""
    if isinstance(tests, CorrectedTests):
        raise ValueError(
            "tests: a page shows the values of queries, and corrected ones are not what people would judge"
        )
    heading = sentences.title(tests)
    (listed, left_out), (drawn, choice) = _listed(tests), _drawn(tests)
    pairs = list(chain.from_iterable(listed))
    # Omit the table of numbers if it could list only some of the differences in a metric.
    most = len(pairs) if pairs == list(tests.values())[: len(pairs)] else 0
    text: str = _template().render(
        title=printable(heading if title is None else title),
        heading=heading,
        about=list(_about(tests, evaluations, qrels, command)),
        style=STYLE,
        script=SCRIPT,
        hash=base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode(),
        tests=tests,
        gate=[] if gate is None else [gate.verdict(), *gate.reasons, *gate.rates],
        verdicts=[*tests.verdicts(), *sentences.summary_lines(tests)],
        warnings=html_of(warnings_of(tests)),
        notes=list(sentences.details(tests)),
        means=_means(tests),
        numbers=tables.differences(tests, "html", most),
        baseline=sentences.baseline_of(tests) is not None,
        corrected=sentences.is_corrected(tests),
        level=percent(tests.options.level),
        forests=[_forest(tests, pairs) for pairs in listed],
        folded=max(map(len, listed)) > MOST_OPEN,
        left_out=left_out,
        figures=[_bars(tests, key) for key in drawn],
        choice=choice,
        changed=[_changed(tests, key, evidence) for key in drawn],
        groups=groups,
        groups_shown=[] if groups is None else list(blocks_of(groups)),
        definitions=list(_definitions(tests.options.metrics, evaluations)),
    )
    return text


def _means(tests: Tests) -> Table:
    """Return the table of means, with as few columns as possible, so that it fits a narrow screen."""
    table = tables.matrix(tests, "html", MOST_REPORT_ROWS)
    return tables.by_metric(table) if len(tests.options.metrics) > len(table.rows) - 1 else table


def _about(
    tests: Tests, evaluations: Mapping[str, Evaluation], qrels: str | None, command: str | None
) -> Iterator[str]:
    """Yield lines that say what was compared, when, and with which versions."""
    names = [printable(name) for name in evaluations]
    yield f"Runs: {', '.join([*names[:MOST_REPORT_ROWS], *sentences.rest(len(names), MOST_REPORT_ROWS, ' runs')])}"
    if qrels is not None:
        yield f"Judgments: {printable(qrels)}"
    yield f"Metrics: {', '.join(printable(metric) for metric in tests.options.metrics)}"
    day = datetime.date.today()
    yield f"{day.day} {day:%B %Y}, rankgain {_backend.VERSION}, NumPy {np.__version__}, backend {_backend.name}"
    if command is not None:
        yield f"Command: {escaped(command)}"


def _definitions(metrics: Sequence[str | Metric], evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    like = next(iter(evaluations.values())).like
    for metric in metrics:
        if isinstance(metric, Score):
            yield f"{printable(metric)}: the values that were given"
        else:
            yield repr(explain(metric, like))


def _by_mean(tests: Tests, metric: str | Metric) -> list[str]:
    """Return the runs, best mean first, or highest mean first if neither higher nor lower is better."""
    means = sentences.means_of(tests, metric)
    return sorted(means, key=lambda run: -(better(metric) or 1) * means[run])


def _listed(tests: Tests) -> tuple[list[list[Difference]], str]:
    """Return the differences grouped by metric, for as many metrics as fit, and a sentence about what is left out."""
    pairs: dict[str | Metric, list[Difference]] = {}
    for (metric, _, _), pair in tests.items():
        pairs.setdefault(metric, []).append(pair)
    left_out = ""
    if max(map(len, pairs.values())) > MOST_REPORT_ROWS:
        best = {metric: _by_mean(tests, metric)[0] for metric in pairs}
        pairs = {metric: [pair for pair in pairs[metric] if best[metric] in pair[1:3]] for metric in pairs}
        left_out = "Of each metric, only the differences of the run with the best mean are listed. "
    names = [printable(subject(metric)) for metric in pairs]
    fitting = max(1, sum(end <= MOST_REPORT_ROWS for end in accumulate(map(len, pairs.values()))))
    left_out += f"Not listed: {', '.join(names[fitting:])}." if fitting < len(names) else ""
    return list(pairs.values())[:fitting], left_out


def _drawn(tests: Tests) -> tuple[list[Key], str]:
    """Return the pairs whose queries are drawn, and a sentence about how they were selected."""
    if len(tests) <= MOST_PAIRS:
        return list(tests), ""
    baselines, metrics = sentences.baselines_of(tests), list(dict.fromkeys(metric for metric, _, _ in tests))
    keys = []
    for metric in metrics[:MOST_DRAWN]:
        best, *others = (run for run in _by_mean(tests, metric) if run not in baselines)
        pairs = [{best, other} for other in baselines or others[:1]]
        keys += [key for key in tests if key[0] == metric and {*key[1:]} in pairs]
    of = "each metric" if len(metrics) <= MOST_DRAWN else f"each of the first {MOST_DRAWN} metrics"
    which = "the two runs with the best means"
    if baselines:
        which = f"the best other run and {joined([printable(name) for name in baselines])}"
    return keys, f"{len(keys)} of {len(tests)} differences are drawn: for {of}, {which}."


def _forest(tests: Tests, pairs: Sequence[Difference]) -> dict[str, Any]:
    """Compute the positions of the differences in a metric on a common scale.

    Each row has the positions of the low end of the interval, the difference, and the high end.
    """
    baseline = sentences.baseline_of(tests)
    scale = max(abs(end) for pair in pairs for end in (*drawn_ends(pair), pair.difference)) or 1.0
    against = "" if baseline is None else f": difference to {printable(baseline)}"
    name = printable(subject(pairs[0].metric))

    def across(value: float) -> float:
        return round(WIDTH / 2 + value / scale * (WIDTH / 2 - EDGE), 1)

    def ends(pair: Difference) -> list[float]:
        low, high = drawn_ends(pair)
        return [across(value) for value in (low, pair.difference, high)]

    return {
        "title": f"{name}{against}",
        "low": signed(-scale),
        "high": signed(scale),
        "rows": [(pair, ends(pair)) for pair in pairs],
        "summary": f"{counted(len(pairs), 'difference')} in {name}",
    }


def _named(key: Key) -> str:
    metric, run, baseline = key
    return f"{printable(subject(metric))}: {printable(run)} minus {printable(baseline)}"


class Bar(NamedTuple):
    """A bar for queries with similar differences: the first query, the number of queries, and the mean difference."""

    query: Any
    queries: int
    height: float


def bars_of(ranked: Sequence[tuple[Any, float]]) -> list[Bar]:
    """Return one bar per query; if there are many queries, neighbouring queries share a bar."""
    step = math.ceil(len(ranked) / MOST_BARS)
    parts = [ranked[first : first + step] for first in range(0, len(ranked), step)]
    return [Bar(part[0][0], len(part), math.fsum(value for _, value in part) / len(part)) for part in parts]


def _bars(tests: Tests, key: Key) -> dict[str, Any]:
    """Draw the sorted differences of the queries as bars with tooltips, and show the mean and its interval."""
    pair, pairs = tests[key], sample_of(tests, key[0]).ranked(*key[1:])
    bars = bars_of(pairs)
    top, bottom = (pick(0.0, pair.difference, *(bar.height for bar in bars)) for pick in (max, min))

    def down(value: float) -> float:
        return round((top - min(max(value, bottom), top)) / ((top - bottom) or 1.0) * HEIGHT, 2)

    def box(x: float, width: float, ends: tuple[float, float], kind: str, title: str = "") -> dict[str, Any]:
        y, below = sorted(map(down, ends))
        sizes = {"x": f"{x:.2f}", "width": f"{width:.2f}", "y": y, "height": f"{below - y:.2f}"}
        return {**sizes, "kind": kind, "title": title}

    wide, boxes = WIDTH / len(bars), []
    if has_interval(pair):
        boxes.append(box(0.0, WIDTH, (pair.low, pair.high), "band"))
    for position, (query, queries, height) in enumerate(bars):
        name = printable(query) if bars[0].queries == 1 else f"{queries} queries from {printable(query)}"
        kind = "higher" if height > 0 else "lower"
        boxes.append(box(position * wide, 0.9 * wide, (0.0, height), kind, f"{name}: {height:+.4f}"))
    several = f", {bars[0].queries} to a bar" if bars[0].queries > 1 else ""
    return {
        "picture": {"boxes": boxes, "zero": down(0.0), "mean": down(pair.difference)},
        "title": _named(key),
        "range": f"{signed(pairs[-1][1])} to {signed(pairs[0][1])}{several}",
    }


def _changed(tests: Tests, key: Key, evidence: Mapping[str, Evidence]) -> dict[str, Any]:
    """List the queries with the largest differences, with the values and the first documents of the two runs."""
    metric, run, baseline = key
    sample = sample_of(tests, metric)
    pairs = sample.ranked(run, baseline)
    more, less = [pair for pair in pairs if pair[1] > 0], [pair for pair in pairs if pair[1] < 0]
    ends = [*more[:MOST_CHANGED], *less[-MOST_CHANGED:]]
    values = {name: dict(zip(sample.query_ids, sample.of(name).tolist(), strict=True)) for name in (baseline, run)}
    first = {name: evidence[name].first_documents(dict(ends)) if name in evidence else {} for name in values}

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
