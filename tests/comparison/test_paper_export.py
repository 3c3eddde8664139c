"""Options of `to_markdown` and `to_latex` on every class that has them, and the layout of LaTeX tables."""

import re
from functools import cache

import numpy as np
import pytest
from support.made_runs import comparison

import rankgain as rg
from rankgain.results.text import letter_ranges

pytestmark = pytest.mark.usefixtures("backend")

NAMES = ["bm25", "dense", "rerank", "splade", "colbert", "rm3", "qld", "tct", "ance", "docT5", "unicoil", "fusion"]
METRICS = ["ndcg@10", "mrr@10", "ap", "recall@100", "p@10", "rr", "recall@1000", "ndcg@20"]


def runs_of(runs=3, metrics=4, step=0.03):
    random = np.random.default_rng(0)
    base = random.random(40) * 0.5
    return comparison(
        {
            name: {metric: base + step * number + random.normal(0, 0.1, 40) for metric in METRICS[:metrics]}
            for number, name in enumerate(NAMES[:runs])
        }
    )


KINDS = "Comparison", "Tests", "Groups", "Gate", "Evaluation", "Summary", "TieSpread", "Attribution"


@cache
def exporters(backend):
    """Return an object of each class whose export takes digits, percent, caption and label."""
    tested = runs_of(2, 1, step=0.3)
    lists = rg.from_scores([[0, 1]], [[0.5, 0.5]])
    objects = (
        *(tested, tested.test(flips=999), tested.groups(["x"] * 20 + ["y"] * 20)),
        *(tested.test("dense", flips=999).gate(), lists.evaluate("rr"), lists.evaluate("rr").summary()),
        *(lists.tie_spread("rr"), rg.from_ranked([[2, 1], [0, 2]]).attribution("ndcg", like="lightgbm")),
    )
    assert tuple(type(each).__name__ for each in objects) == KINDS
    return dict(zip(KINDS, objects, strict=True))


@pytest.mark.parametrize("method", ["to_markdown", "to_latex"])
@pytest.mark.parametrize("kind", KINDS)
def test_exporters_take_digits_percent_caption_and_label(backend, kind, method):
    export = getattr(exporters(backend)[kind], method)
    assert re.search(r"\d\.\d{4}", export())
    assert re.search(r"\d\.\d{2}\b", export(digits=2))
    assert re.search(r"\b\d{2}\.\d(?!\d)", export(digits=1, percent=True))
    assert re.search(r"\b\d{2}\.\d\d(?!\d)", export(percent=True))
    assert "Values of metrics from 0 to 1 are in percent" in export(percent=True)
    named = export(caption="nDCG & co: 5%", label="tab:main")
    caption = "nDCG &amp; co: 5%" if method == "to_markdown" else "\\caption{nDCG \\& co: 5\\%."
    label = '<a id="tab:main"></a>' if method == "to_markdown" else "\\label{tab:main}"
    assert named.count(caption) == named.count(label) == 1


@pytest.mark.parametrize("method", ["to_markdown", "to_latex"])
@pytest.mark.parametrize(
    ("message", "error", "options"),
    [
        ("digits must be from 0 to 15, not 16", ValueError, {"digits": 16}),
        ("digits must be an integer, not float", TypeError, {"digits": 2.0}),
        ("percent must be True or False, not 'yes'", TypeError, {"percent": "yes"}),
        ("caption must be text or None, not int", TypeError, {"caption": 1}),
        ("label must be text or None, not bytes", TypeError, {"label": b"x"}),
        ("label must consist of ASCII letters, digits and any of : . / + - _, not 'a b'", ValueError, {"label": "a b"}),
    ],
)
def test_exporters_refuse_wrong_options(backend, method, message, error, options):
    for result in exporters(backend).values():
        with pytest.raises(error, match=re.escape(message)):
            getattr(result, method)(**options)


@pytest.mark.parametrize("baseline", [None, "bm25"])
@pytest.mark.parametrize("method", ["to_markdown", "to_latex"])
def test_one_part_of_the_tests_is_exported(method, baseline):
    export = getattr(runs_of().test(baseline, flips=999), method)
    matrix, differences = (export(part=part, label="t") for part in ("matrix", "differences"))
    assert "Letters at a mean" in matrix
    assert "difference &" not in matrix
    assert "better/same/worse |" not in matrix
    assert "Letters at a mean" not in differences
    assert matrix in export(label="t")
    assert differences.replace("{t}", "{t-2}").replace('"t"', '"t-2"').strip() in export(label="t")
    with pytest.raises(ValueError, match="part must be"):
        export(part="letters")


def test_percent_leaves_counts_and_logarithms():
    tested = comparison({name: {"num_ret": [1, 2.0], "gm_map": [0.5, 0.25]} for name in "ab"})
    assert "| num\\_ret | 3.0000 | 3.0000 |" in tested.to_markdown(percent=True)
    tested = comparison(
        {name: {"gm_map": np.linspace(*ends, 20)} for name, ends in {"a": (0.2, 0.4), "b": (0.3, 0.4)}.items()}
    )
    assert re.search(r"\| a \| 2\d\.\d\d \|", tested.test().to_markdown(percent=True, part="matrix"))
    differences = {tested.test().to_markdown(percent=percent, part="differences") for percent in (True, False)}
    assert len(differences) == 1


def test_summaries_of_callable_gains_and_other_tools_are_exported():
    gain = rg.metric("ndcg", gain=lambda grade: grade + 1.0)
    result = rg.from_ranked([[1, 0]]).evaluate(gain, rg.metric("dcg", gain=lambda grade: grade))
    lines = result.summary().to_markdown(percent=True).splitlines()
    assert [line.split(" | ")[-1] for line in lines[2:4]] == ["100.00 |", "1.0000 |"]
    scores = {"a": {"q1": 0.5, "q2": 0.25}, "b": {"q1": 0.5, "q2": 0.5}}
    other = rg.compare(scores, metrics="BLEU", values=True)
    assert "0.3750" in other["a"].summary().to_markdown(percent=True)
    assert "0.3750" in other.to_latex(percent=True)


@pytest.mark.parametrize(
    ("runs", "metrics", "baseline", "floats", "head"),
    [
        (3, 4, "bm25", ["table", "table*"], "metric & bm25\\textsuperscript{a} & dense & rerank"),
        (3, 4, None, ["table", "table*"], "metric & "),
        (12, 8, "bm25", ["table*", "table*"], " & run & "),
        (12, 8, None, ["table*", "table*"], " & run & "),
        (2, 1, None, ["table", "table*"], "metric & bm25\\textsuperscript{a} & dense"),
        (5, 3, "bm25", ["table", "table*"], " & run & "),
    ],
)
def test_latex_layout_depends_on_the_width(runs, metrics, baseline, floats, head):
    """None of these tables is overfull if compiled with columns of 229 pt."""
    text = runs_of(runs, metrics).test(baseline, flips=999).to_latex(digits=3)
    assert re.findall(r"\\begin\{(table\*?)\}", text) == floats
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    first = text.split("\\toprule\n")[1]
    assert first.startswith(head)
    has_intervals = first.split("\\bottomrule")[0].count("\\scriptsize") > 0
    assert has_intervals == head.startswith("metric & bm25")


def test_intervals_are_below_the_means_of_runs_compared_with_the_baseline():
    tests = runs_of().test("bm25", flips=999)
    lines = tests.to_latex(digits=3, part="matrix").splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("ap & "))
    pair = tests["ap", "dense", "bm25"]
    assert f"ap & {pair.baseline_mean:.3f} & {pair.mean:.3f}" in lines[row]
    low, high = (f"{end:+.3f}".replace("-", "$-$") for end in (pair.low, pair.high))
    assert lines[row + 1].startswith(f" &  & \\scriptsize {low}, {high} & \\scriptsize ")


def test_wide_comparisons_are_floats_across_columns():
    assert runs_of(3, 4).to_latex().startswith("\\begin{tabular}")
    assert runs_of(5, 3).to_latex().startswith("\\begin{table}")
    assert runs_of(12, 8).to_latex().startswith("\\begin{table*}")
    many = comparison({f"r{run}": {"rr": [0.5] * 3} for run in range(40)})
    assert "run & rr" in many.to_latex()


def test_three_or_more_consecutive_letters_are_a_range():
    base = np.random.default_rng(0).random(30) * 0.1
    tests = comparison({name: base + position for position, name in enumerate("vwxyz")}, metric="cg").test(flips=999)
    assert [row[2].split("*")[-1] for row in tests.matrix()][4:] == [tests.matrix()[4][2], "a–d"]
    assert "\\textsuperscript{a--d}" in tests.to_latex()
    assert "<sup>a–d</sup>" in tests.to_markdown()


@pytest.mark.parametrize(("name", "expected"), [("bm25", False), ("Müller", False), ("検索", True), ("поиск", True)])
def test_latex_names_the_engine_for_other_scripts(name, expected):
    text = rg.Comparison({name: rg.from_ranked([[1]]).evaluate("rr")}).to_latex()
    assert text.startswith("% Names in other scripts: compile with lualatex") == expected
    assert name in text


@pytest.mark.parametrize(
    ("length", "size"), [(10, "\\small"), (20, "\\small"), (24, "\\footnotesize"), (40, "\\scriptsize")]
)
def test_letters_are_smaller_in_tables_wider_than_a_page(length, size):
    """The font size depends on the number of letters in the names of the runs."""
    values = {letter * length: np.random.default_rng(0).random(20) for letter in "xyz"}
    text = comparison(values).test(flips=99).to_latex(digits=2, part="differences")
    assert text.split("\\smallskip")[1].split("\n")[0] == size


@pytest.mark.parametrize(("letters", "ranges"), [("", ""), ("ba", "ab"), ("cab", "a–c"), ("abdefh", "abd–fh")])
def test_letter_ranges_join_three_or_more_consecutive_letters(letters, ranges):
    assert letter_ranges(letters) == ranges
