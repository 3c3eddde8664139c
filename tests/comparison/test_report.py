"""The report is a single file of limited size, without external resources, in which names appear as plain text."""

import datetime
import html
import os
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.made_runs import HOSTILE, comparison, hostile

import rankgain as rg
from rankgain.comparison.report import _template

pytestmark = pytest.mark.usefixtures("backend")


def page(tmp_path, runs, tests=None, groups=None):
    path = tmp_path / "report.html"
    runs.report(path, tests, groups=groups)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def of_hostile_names(tmp_path_factory):
    runs, labels = hostile()
    tests = runs.test(HOSTILE[1], flips=99)
    return page(tmp_path_factory.mktemp("page"), runs, tests, runs.groups(labels, HOSTILE[1], flips=99))


def test_report_escapes_names(of_hostile_names):
    assert of_hostile_names.count("<script") == 1
    assert "onerror=document" not in re.sub(r"&lt;.*?&gt;", "", of_hostile_names)
    assert "<img" not in of_hostile_names
    assert "onload=document.title=&#39;gone&#39;&gt;" in of_hostile_names
    assert "{{7*7}}" in of_hostile_names
    for letter in ("\u2028", "\u202e", "\0", "\x1b", "\ud800"):
        assert letter not in of_hostile_names
    assert "x" * 1000 not in of_hostile_names


def test_report_allows_its_script_only(of_hostile_names):
    import base64
    import hashlib

    (script,) = re.findall(r"<script>(.*?)</script>", of_hostile_names, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', of_hostile_names, re.DOTALL)
    assert (
        policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';".replace("+", "&#43;"))
        or digest in policy
    )
    assert not re.findall(r'(?:src|href)="(?!#|data:)', re.sub(r"&lt;.*?&gt;", "", of_hostile_names))


def test_report_pictures_are_complete_and_contain_no_names(tmp_path):
    random = np.random.default_rng(0)
    runs = comparison({"a": random.random(30), "b": random.random(30), "$a$ $": random.random(30)})
    text = page(tmp_path, runs)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 3 + 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert "$a$" not in "".join(drawings)
    assert "<title>0: " in text


def test_report_states_runs_metrics_and_test(tmp_path):
    random = np.random.default_rng(0)
    names = "splade-v3-distil-run2", "bm25+rm3-fb=10", "c", "d"
    runs = comparison({name: {"ndcg": random.random(50), "ap": random.random(50)} for name in names})
    path = tmp_path / "report.html"
    runs.report(path, runs.test(flips=99), title="Four <runs>", qrels="robust04.txt")
    text = path.read_text(encoding="utf-8")
    assert "<title>Four &lt;runs&gt;</title>" in text
    for line in (
        '<p class="caption">4 runs, all pairs: 50 queries, paired</p>',
        "Runs: splade-v3-distil-run2, bm25+rm3-fb=10, c, d<br>",
        "Judgments: robust04.txt<br>",
        "Metrics: ndcg, ap<br>",
        f"{datetime.date.today().year}, rankgain {rg.__version__}, ",
    ):
        assert line in text


def test_report_begins_with_verdicts_then_warnings(tmp_path):
    qrels = {query: grades | {"n": 0} for query, grades in QRELS.items()}
    runs = {"a": {query: [*grades, "n"] for query, grades in QRELS.items()}, "b": {key: ["x", "y"] for key in QRELS}}
    compared = rg.compare(qrels, runs, "rr@2")
    tests = compared.test(flips=99)
    text = html.unescape(page(tmp_path, compared, tests))
    (verdict,) = tests.verdicts()
    order = [text.index(part) for part in ("</h1>", verdict, 'class="warning', "<h2>Means", "<h2>About this page")]
    assert order == sorted(order)


def test_report_prints_the_whole_command(tmp_path):
    from rankgain.comparison.report import page_of

    runs = comparison({"a": [0.1, 0.2], "b": [0.2, 0.3]})
    command = f"rankgain compare qrels.txt {' '.join(f'run{number}.txt' for number in range(40))} -m 'ndcg<b>\u202e'"
    text = page_of(runs.test(), None, runs, {}, command=command)
    assert f"Command: {command}".replace("\u202e", r"\u202e") in html.unescape(text)
    assert "ndcg<b>" not in text


def captions(text):
    """Return the captions of the figures, which name the compared runs."""
    return [html.unescape(title) for title in re.findall(r'<figcaption class="caption"><bdi>(.*?)</bdi>', text)]


def of_means(means, metrics=("ndcg", "ap"), queries=30):
    """Return runs with these means, with the order of the runs reversed for every second metric."""
    noise = np.random.default_rng(0).normal(size=(len(means), queries)) / 100
    rows = {name: mean + noise[row] - noise[row].mean() for row, (name, mean) in enumerate(means.items())}
    return comparison(
        {
            name: {metric: 1 - row if turn % 2 else row for turn, metric in enumerate(metrics)}
            for name, row in rows.items()
        }
    )


def test_report_draws_the_queries_of_the_best_run_and_the_baseline(tmp_path):
    runs = of_means({"a": 0.3, "b": 0.5, "c": 0.7, "d": 0.4, "e": 0.6})
    text = page(tmp_path, runs, runs.test("b", flips=99))
    assert captions(text) == ["ndcg: c minus b", "ap: a minus b"]
    assert "2 of 8 differences are drawn: for each metric, the best other run and b." in text
    # If the baseline is the best run, the best of the other runs is drawn.
    text = page(tmp_path, runs, runs.test("c", flips=99))
    assert captions(text) == ["ndcg: e minus c", "ap: a minus c"]
    text = page(tmp_path, runs, runs.test(flips=99))
    assert captions(text) == ["ndcg: e minus c", "ap: d minus a"]
    assert "2 of 20 differences are drawn: for each metric, the two runs with the best means." in text


def test_report_draws_the_run_with_the_lowest_mean_where_lower_is_better(tmp_path):
    qrels = {query: grades | {"n": 0} for query, grades in QRELS.items()}
    orders = {"good": ["d", "n", "x"], "fair": ["n", "d", "x"], "poor": ["n", "x", "y"], "bad": ["x", "y", "z"]}
    runs = {
        name: {query: [f"d{query[1:]}" if part == "d" else part for part in order] for query in QRELS}
        for name, order in orders.items()
    }
    text = page(tmp_path, rg.compare(qrels, runs, ["rr", "unjudged@3"]))
    assert captions(text) == ["rr: fair minus good", "unjudged@3: fair minus good"]


@pytest.mark.parametrize(("names", "metrics"), [("abc", 2), ("abcd", 1), ("ab", 6)])
def test_report_draws_all_queries_of_few_differences(tmp_path, names, metrics):
    runs = of_means({name: ord(name) / 200 for name in names}, [f"p@{k}" for k in range(1, metrics + 1)])
    text = page(tmp_path, runs, runs.test(flips=99))
    assert len(captions(text)) == 6
    assert "differences are drawn" not in text


def test_report_draws_the_queries_of_twelve_metrics(tmp_path):
    runs = of_means({"a": 0.3, "b": 0.5}, [f"p@{k}" for k in range(1, 15)])
    text = page(tmp_path, runs, runs.test(flips=99))
    assert captions(text) == [f"p@{k}: b minus a" for k in range(1, 13)]
    assert "12 of 14 differences are drawn: for each of the first 12 metrics, the best other run and a." in text


def forests(text):
    """Map the title of each table of differences to its number of rows."""
    tables = re.findall(r'<table class="wide"><caption><bdi>(.*?)</bdi>.*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    return {title: rows.count("<tr>") for title, rows in tables}


@pytest.mark.parametrize(("runs", "folded"), [(9, False), (10, True)])
def test_report_folds_all_metrics_alike(tmp_path, runs, folded):
    compared = of_means({f"r{run}": run / 20 for run in range(runs)})
    text = page(tmp_path, compared, compared.test(flips=99))
    pairs = runs * (runs - 1) // 2
    assert forests(text) == {"ndcg": pairs, "ap": pairs}
    assert [f"<summary>{pairs} differences in {metric}</summary>" in text for metric in ("ndcg", "ap")] == [folded] * 2


def test_report_lists_whole_metrics_and_names_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("rankgain.comparison.report.MOST_REPORT_ROWS", 20)
    compared = of_means({name: ord(name) / 200 for name in "abcd"}, ["ndcg", "ap", "rr", "p@1", "p@2"])
    text = page(tmp_path, compared, compared.test(flips=99))
    assert forests(text) == {"ndcg": 6, "ap": 6, "rr": 6}
    assert "Not listed: p@1, p@2." in text
    assert "… and 12 more: the CSV and JSON forms have all" in text
    (numbers,) = re.findall(r'<table class="sortable">.*?</table>', text, re.DOTALL)
    assert numbers.count("<tr>") == 1 + 18


def test_report_lists_the_best_run_of_each_metric_with_too_many_differences(tmp_path, monkeypatch):
    monkeypatch.setattr("rankgain.comparison.report.MOST_REPORT_ROWS", 5)
    compared = of_means({name: ord(name) / 200 for name in "abcd"})
    text = page(tmp_path, compared, compared.test(flips=99))
    assert forests(text) == {"ndcg": 3}
    for run in "abc":
        assert f"<bdi>d</bdi> minus <bdi>{run}</bdi>" in text
    assert "Of each metric, only the differences of the run with the best mean are listed. Not listed: ap." in text
    assert "… and 12 more: the CSV and JSON forms have all" in text
    assert "All numbers" not in text


def test_report_counts_warnings_beyond_the_first(tmp_path):
    judged = {query: [document, "n"] for query, grades in QRELS.items() for document in grades}
    runs = {"judged": judged} | {f"not{run}": {query: ["x", "y"] for query in QRELS} for run in range(12)}
    qrels = {query: grades | {"n": 0} for query, grades in QRELS.items()}
    compared = rg.compare(qrels, runs, "rr@2")
    text = page(tmp_path, compared, compared.test("judged", flips=99))
    assert text.count("judged@2 0.0000 vs 1.0000; judged only") == 10
    assert "… and 2 more warnings" in text


def test_report_shows_the_queries_that_differ_most(tmp_path):
    values = [0.5] * 20 + [0.9, 0.1]
    text = page(tmp_path, comparison({"a": [0.5] * 22, "b": values}))
    (table,) = re.findall(r"<details open>\s*(<summary>.*?)</details>", text, re.DOTALL)
    assert "20 other queries, of which 20 have the same value in both runs." in table
    assert re.findall(r"[+-][\d.]+", table) == ["+0.4000", "-0.4000"]


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "queries"), [(100, 50), (2, 200_000)])
def test_report_of_a_large_comparison_stays_small(tmp_path, runs, queries):
    random = np.random.default_rng(0)
    compared = comparison({f"run{run}": random.random(queries) for run in range(runs)})
    tests = compared.test(flips=999)
    text = page(tmp_path, compared, tests)
    assert len(text) < 5_000_000
    assert ("… and 4950 more" in text) == (runs == 100)
    assert list(forests(text).values()) == [runs - 1]
    assert len(tests.table().splitlines()) < 130
    assert len(tests.plot("intervals").axes) == 1
    assert len(tests.plot("scatter").axes) == min(6, len(tests))


def test_report_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*report\.html"):
        page(tmp_path, comparison({"a": [0.1, 0.2], "b": [0.2, 0.3]}))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report.html", "old")]


def test_report_without_jinja_names_the_extra(tmp_path, monkeypatch):
    _template.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"jinja2 is not installed: pip install 'rankgain\[report\]'"):
        page(tmp_path, comparison({"a": [0.1, 0.2], "b": [0.2, 0.3]}))


QRELS = {f"q{row}": {f"d{row}": 1} for row in range(8)}


def runs_in(form):
    """Return two runs in the given form; the first ranks d0, d1, … first, and the second ranks x<b>0, x<b>1, … first.

    Ties are broken by the rules of the form.
    """
    import pandas as pd

    one = {f"q{row}": {f"d{row}": 2.0, "w": 1.0} for row in range(8)}
    other = {f"q{row}": {f"x<b>{row}": 0.5, f"d{row}": 0.5, "a": 0.25} for row in range(8)}
    if form == "dicts":
        return {"one": one, "other": other}
    if form == "lists":
        return {
            name: {
                query: sorted(scores, key=lambda d, scores=scores: (scores[d], d), reverse=True)
                for query, scores in run.items()
            }
            for name, run in (("one", one), ("other", other))
        }
    if form == "rankings":
        return {"one": rg.from_qrels(QRELS, one), "other": rg.from_qrels(QRELS, other).limited(depth=2)}
    return {
        name: pd.DataFrame(
            [(query, document, score) for query, scores in run.items() for document, score in scores.items()],
            columns=["query_id", "doc_id", "score"],
        )
        for name, run in (("one", one), ("other", other))
    }


def as_file(path, run):
    lines = (f"{query} Q0 {doc} 1 {score} t\n" for query, scores in run.items() for doc, score in scores.items())
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("form", ["dicts", "lists", "frames", "rankings", "files"])
def test_report_shows_the_first_documents_of_each_run(tmp_path, form):
    runs = runs_in("dicts" if form == "files" else form)
    if form == "files":
        runs = {name: as_file(tmp_path / f"{name}.txt", run) for name, run in runs.items()}
    text = page(tmp_path, rg.compare(QRELS if form != "rankings" else None, runs, "rr"))
    assert "Below a value: the document that the run ranked first." in text
    row = re.search(r"<tr>\s*<td[^>]*><bdi>q3</bdi>.*?</tr>", text, re.DOTALL)[0]
    assert re.findall(r"<td.*?>([\d.+-]+)", row, re.DOTALL) == ["1.0000", "0.5000", "-0.5000"]
    assert re.findall(r"<bdi>(.*?)</bdi>", row) == ["q3", "d3", "x&lt;b&gt;3"]


def test_report_shows_no_documents_without_ids(tmp_path):
    runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
    assert "ranked first" not in page(tmp_path, rg.compare(runs, metrics="rr"))
    few = {"one": {"q0": {}, "q1": {"d1": 1.0}}, "other": {"q0": {"d0": 1.0}}}
    text = page(tmp_path, rg.compare(QRELS, few, "rr"))
    row = re.search(r"<tr>\s*<td[^>]*><bdi>q1</bdi>.*?</tr>", text, re.DOTALL)[0]
    assert re.findall(r"<bdi>(.*?)</bdi>", row) == ["q1", "d1"]
