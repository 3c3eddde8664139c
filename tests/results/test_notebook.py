"""What notebooks show: HTML of results and records, reprs of one line, and records that compare equal once pickled."""

import html
import math
import pickle
import re
import sys

import pytest

import rankgain as rg
from rankgain.comparison.difference import Difference

RUNS = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
TESTS = rg.compare(RUNS, metrics="rr").test()
DIFFERENCE = TESTS["rr", "b", "a"]
QRELS, RUN = {"q1": {"d1": 2, "d3": 1}}, {"q1": {"d2": 1.0, "d1": 0.5}}


def test_counts_of_an_evaluation_are_a_paragraph():
    """A caption would be as narrow as the table of two columns."""
    result = rg.from_qrels(QRELS, RUN).evaluate("rr")
    for shown, line in ((result, "queries evaluated: 1<br>"), (result.summary(), "1 query")):
        page = shown._repr_html_()
        assert "<caption" not in page
        assert re.search(r"</table>\n<p>(.*)</p>$", page)[1].count(line) == 1


def test_columns_of_documents_are_left_aligned():
    calculation = rg.from_qrels(QRELS, RUN).calculation("ndcg@10", "q1")
    head = calculation._repr_html_().partition("</thead>")[0]
    sides = [(name, side) for side, name in re.findall(r"text-align: (\w+)\"><bdi>(\w+)", head)]
    assert {name for name, side in sides if side == "left"} == {"document", "ideal"}
    assert "|---:|:---|---:|" in calculation.to_markdown()
    assert r"\begin{tabular}{rlrrrrrrlrrr}" in calculation.to_latex()
    assert '<th scope="row"' not in calculation._repr_html_()


@pytest.mark.parametrize("like", [None, "lightgbm", ("lightgbm", "sklearn")])
def test_explanation_lists_rules_by_tool(like):
    explanation = rg.explain("ndcg@10", like=like)
    head, *rows = re.findall(r"<tr>(.*)</tr>", explanation._repr_html_())
    assert re.findall(r">([^<]*)</th>", head) == ["ndcg@10", *explanation.facts]
    different = explanation.differences() if len(explanation.facts) > 1 else {}
    assert [re.search(r">([^<]*)<", row)[1] for row in rows][: len(different)] == [*different]
    assert [row.startswith("<th") for row in rows] == [True] * len(different) + [False] * (len(rows) - len(different))
    for facts in explanation.facts.values():
        for label, text in facts.items():
            (row,) = (row for row in rows if f">{label}<" in row)
            assert html.escape(text).replace("\n", "<br>") in row


@pytest.mark.needs("matplotlib")
def test_curve_is_a_picture():
    curve = rg.from_ranked([[0, 1]] * 3).curve("rr", [1, 2])
    assert re.fullmatch(
        r'<img alt="&lt;Curve of rr[^"]*" src="data:image/png;base64,iVBOR[\w/+=]+">', curve._repr_html_()
    )


def test_curve_is_text_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "rankgain.results.plotting", raising=False)
    curve = rg.from_ranked([[0, 1]] * 3).curve("rr", [1, 2])
    assert curve._repr_html_() == (
        "<pre>&lt;Curve of rr at 2 cut-offs, 3 queries: mean 0.0000 @1 … 0.5000 @2&gt;</pre>"
    )


def test_metric_is_shown_in_one_line():
    metric = rg.metric("ndcg", k=10, gain="exponential")
    assert repr(metric) == "<Metric ndcg(gain=exponential)@10>"
    assert metric._repr_html_() == "<code>ndcg(gain=exponential)@10</code>: normalised DCG: DCG / IDCG"
    assert "&lt;lambda&gt;" in rg.metric("ndcg", gain=lambda grades: grades)._repr_html_()


def test_difference_is_shown_in_one_line():
    assert repr(DIFFERENCE) == "<Difference rr: b is better than a by +0.5000 (95% +0.5000 to +0.5000)>"
    page = DIFFERENCE._repr_html_()
    cells = re.findall(r'right">(?:<bdi>)?([^<]*)<', page)
    assert cells == [
        *("a", "b", "difference", "95% interval", "p"),
        *("0.5000", "1.0000"),
        "+0.5000",
        "+0.5000 to +0.5000",
        "0.0078",
    ]
    assert page.endswith(f"<p>{DIFFERENCE.verdict()}</p>")
    hostile = DIFFERENCE._replace(run="<script>")
    assert "<script>" not in hostile._repr_html_()


def test_pickled_records_compare_equal():
    """A margin that is not given is NaN, and a copy of NaN is another object."""
    copy = pickle.loads(pickle.dumps(DIFFERENCE))
    assert math.isnan(copy.margin)
    assert tuple(copy) != tuple(DIFFERENCE)
    assert (copy == DIFFERENCE, copy != DIFFERENCE, hash(copy) == hash(DIFFERENCE)) == (True, False, True)
    assert pickle.loads(pickle.dumps(TESTS)) == TESTS
    for name in Difference._fields:
        value = getattr(DIFFERENCE, name)
        other = DIFFERENCE._replace(**{name: f"{value}?" if isinstance(value, str) else 17})
        assert (other == DIFFERENCE, other != DIFFERENCE) == (False, True)
    assert DIFFERENCE != "rr"
