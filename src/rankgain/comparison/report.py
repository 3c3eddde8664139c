"""One page about a comparison that stands by itself: it opens without a network, and prints.

Names that others chose (of queries, runs, groups) are text wherever they stand: the template escapes them, a policy in
the page allows no script but its own, and what is not seen is written as an escape.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgain import _backend
from rankgain.comparison import sentences, tables
from rankgain.comparison.groups import Groups, blocks_of
from rankgain.comparison.outcome import Tests, aligned_of
from rankgain.comparison.sentences import LOOKED_AT
from rankgain.comparison.testing import Key
from rankgain.metrics.metric import Metric
from rankgain.rankings import Rankings, first_documents
from rankgain.results.peers import explain
from rankgain.results.text import printable

if TYPE_CHECKING:
    from rankgain.results.evaluation import Evaluation

MOST_ROWS = 500  # of a table in the page; the rest is counted
MOST_CHANGED = 15  # queries at either end
MOST_PAIRS = 6  # of which queries and pictures are shown

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
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
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 70rem; margin: 0 auto;
  padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.5rem 0; }
th, td { padding: 0.2rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, td.name { text-align: left; }
th button { font: inherit; font-weight: 600; border: 0; background: none; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
.warning { border-left: 4px solid #D55E00; padding-left: 0.7rem; }
.notes, pre { color: #444; font-size: 0.9rem; }
pre { white-space: pre-wrap; }
h1, h2, h3, pre, li, p { overflow-wrap: anywhere; }
figure { margin: 0.5rem 0; } svg { max-width: 100%; height: auto; }
@media print { body { max-width: none; padding: 0; } th button { cursor: auto; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } .scroll { overflow: visible; } }
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
<style>{{ style }}</style>
</head>
<body>
{% macro table(rows, keys, more) %}
<div class="scroll"><table class="sortable">
<thead><tr>
{% for cell in rows[0] %}<th scope="col"><button type="button">{{ cell }}</button></th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows[1:] %}<tr>
{% for cell in row %}<td data-key="{{ keys(cell) }}"><bdi>{{ cell }}</bdi></td>{% endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% if more %}<p>{{ more }}</p>{% endif %}
{% endmacro %}
<h1>{{ title }}</h1>
<ul>{% for line in verdicts %}<li>{{ line }}</li>{% endfor %}</ul>
{% for line in warnings %}<p class="warning">Warning: {{ line }}</p>{% endfor %}
<h2>Differences</h2>
{{ table(rows, key, more) }}
{% if letters %}<h2>Which runs are told apart</h2>
<p>Means; runs that share a letter are not told apart.</p>
{{ table(letters, key, more_runs) }}
{% endif %}
{% for figure in figures %}<h2>{{ figure.title }}</h2>
{% for drawing in figure.drawings %}<figure>{{ drawing }}</figure>{% endfor %}
{% endfor %}
{% for block in groups %}<h2>{{ block.title }}</h2>
{{ table(block.rows, key, "") }}
<ul>{% for line in block.said %}<li>{{ line }}</li>{% endfor %}</ul>
{% endfor %}
<h2>Queries that differ most</h2>
{% for block in changed %}<h3>{{ block.title }}</h3>
{{ table(block.rows, key, block.more) }}
{% endfor %}
<h2>How to read this</h2>
<ul class="notes">{% for line in notes %}<li>{{ line }}</li>{% endfor %}</ul>
<p>For a paper: {{ methods }}</p>
<h2>Definitions</h2>
{% for text in definitions %}<pre>{{ text }}</pre>{% endfor %}
<h2>Versions</h2>
<p class="notes">rankgain {{ version }}, NumPy {{ numpy }}, backend {{ backend }}</p>
{% if command %}<p>The command: <code>{{ command }}</code></p>{% endif %}
<script>{{ script }}</script>
</body>
</html>
"""


def page_of(
    tests: Tests,
    groups: Groups | None,
    evaluations: Mapping[str, Evaluation],
    rankings: Mapping[str, Rankings],
    command: str | None = None,
) -> str:
    """The page as text; `rankings`: of those runs that have them.

    Raises
    ------
    ImportError
        Without Jinja2 and matplotlib: ``pip install 'rankgain[report]'``.
    """
    try:
        jinja2 = import_module("jinja2")
        markup = import_module("markupsafe").Markup
        pictures = _Pictures(markup)
    except ImportError as error:
        raise ImportError(f"a report needs Jinja2 and matplotlib ({error}): pip install 'rankgain[report]'") from None
    import numpy as np

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    keys = list(tests)[:MOST_PAIRS]
    more, more_runs = len(tests) - MOST_ROWS, len(tests.runs) - MOST_ROWS
    own_hash = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    text: str = environment.from_string(TEMPLATE).render(
        title=sentences.title(tests, aligned_of(tests)),
        style=markup(STYLE),
        script=markup(SCRIPT),
        hash=own_hash,
        verdicts=tests.verdicts()[:MOST_ROWS],
        warnings=tests.warnings,
        rows=_printed(tables.rows(tests, MOST_ROWS)),
        more=f"… and {more} more: the CSV and JSON forms have all" if more > 0 else "",
        letters=_printed(tests.matrix()),
        more_runs=f"… and {more_runs} more" if more_runs > 0 else "",
        key=_sort_key,
        figures=list(_figures(tests, pictures, keys)),
        groups=[
            {"title": title, "rows": _printed(rows), "said": said}
            for title, rows, said in (blocks_of(groups) if groups else ())
        ],
        changed=[_changed(tests, key, rankings) for key in keys],
        notes=tests.notes(),
        methods=tests.methods(),
        definitions=list(_definitions(tests.options.metrics, evaluations)),
        version=_backend.VERSION,
        numpy=np.__version__,
        backend=_backend.name,
        command="" if command is None else printable(command),
    )
    return text


def _printed(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[printable(cell) for cell in row] for row in rows]


def _sort_key(cell: str) -> str:
    """What a cell is sorted by: its first number, if it has one; else its text."""
    found = re.match(r"\s*<?\s*([+-]?\d+(?:\.\d+)?)", cell)
    return found[1] if found else cell


def _definitions(metrics: Sequence[str | Metric], evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    like = next(iter(evaluations.values())).like
    for metric in metrics:
        try:
            yield repr(explain(metric, like))
        except ValueError:  # a peer's that it does not explain
            yield printable(metric)


def _changed(tests: Tests, key: Key, rankings: Mapping[str, Rankings]) -> dict[str, Any]:
    """The queries at either end of the differences, with the values of both runs, and what they ranked first."""
    metric, run, baseline = key
    pairs = aligned_of(tests).ranked(*key)
    ends = pairs if len(pairs) <= 2 * MOST_CHANGED else [*pairs[:MOST_CHANGED], *pairs[-MOST_CHANGED:]]
    aligned = aligned_of(tests)
    places = {query: row for row, query in enumerate(aligned.ids(metric))}
    values = [aligned.values[metric][:, aligned.runs.index(name)] for name in (baseline, run)]
    held = {name: first_documents(rankings[name], dict(ends)) for name in (baseline, run) if name in rankings}
    first = {name: documents for name, documents in held.items() if documents}
    heads = [f"{printable(name)} ranked first" for name in first]
    rows = [["query", printable(baseline), printable(run), "difference", *heads]]
    for query, difference in ends:
        own = [f"{vector[places[query]]:.4f}" for vector in values]
        documents = [printable(found[query]) if query in found else "" for found in first.values()]
        rows.append([printable(query), *own, f"{difference:+.4f}", *documents])
    left = len(pairs) - len(ends)
    title = f"{printable(metric)}: {printable(run)} less {printable(baseline)}"
    return {"title": title, "rows": rows, "more": f"… and {left} queries between" if left else ""}


def _figures(tests: Tests, pictures: _Pictures, keys: Sequence[Key]) -> Iterator[dict[str, Any]]:
    metrics = tests.options.metrics[:MOST_PAIRS]
    forests = [pictures.of(tests, "intervals", [key for key in tests if key[0] == metric]) for metric in metrics]
    yield {"title": "Intervals", "drawings": forests}
    drawings = [pictures.of(tests, "differences", [key]) for key in keys]
    yield {"title": "Differences of the queries", "drawings": drawings}
    if len(tests) <= LOOKED_AT:
        yield {"title": "Run against run", "drawings": [pictures.of(tests, "scatter", [key]) for key in keys]}


class _Pictures:
    """Figures as SVG within the page, each with ids of its own."""

    def __init__(self, markup: Any) -> None:
        from rankgain.comparison import plotting

        self._plotting, self._markup, self._count = plotting, markup, 0

    def of(self, tests: Tests, kind: str, keys: Sequence[Key]) -> Any:
        context = import_module("matplotlib").rc_context
        self._count += 1
        out = io.StringIO()
        with context({"svg.hashsalt": f"rankgain{self._count}", "svg.fonttype": "none", "svg.id": None}):
            figure = self._plotting.draw(tests, aligned_of(tests), kind, keys)
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        text = out.getvalue()
        text = text[text.index("<svg") :]
        if kind == "differences":
            text = self._with_titles(text, tests, keys[0])
        # What every figure calls alike would be twice in the page.
        text = re.sub(
            r'id="((?:figure|axes|patch|matplotlib|line2d|text|xtick|ytick|Poly|Line|Path|leg)\w*\.?\w*)"',
            rf'id="p{self._count}-\1"',
            text,
        )
        return self._markup(text)

    def _with_titles(self, text: str, tests: Tests, key: Key) -> str:
        """A title for each bar, which a pointer that rests on it shows."""
        pairs = aligned_of(tests).ranked(*key)

        def titled(found: re.Match[str]) -> str:
            query, value = pairs[int(found[1])]
            return f'<g id="p{self._count}-{found[1]}"><title>{html.escape(printable(query))}: {value:+.4f}</title>'

        return re.sub(r'<g id="rankgain-bar-(\d+)">', titled, text)
