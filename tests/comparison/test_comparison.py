"""Comparisons of several runs."""

from importlib.util import find_spec

import pytest

import rankgain as rg
from rankgain.metrics import table as definitions

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"a": {"d": 1, "e": 2}, "b": {"d": 1}, "c": {"e": 1}}
RUNS = {
    "good": {"a": {"d": 2.0, "e": 3.0}, "b": {"d": 1.0}, "c": {"d": 2.0, "e": 1.0}},
    "bad": {"a": {"d": 2.0, "f": 3.0, "e": 1.0}, "b": {"d": 1.0}},
    "same": {"a": {"d": 2.0, "e": 3.0}, "b": {"d": 1.0}, "c": {"d": 2.0, "e": 1.0}},
}
METRICS = ("rr", "cg@1")


def evaluation(run, *metrics, **options):
    return rg.from_qrels(QRELS, RUNS[run], **options).evaluate(*(metrics or METRICS))


@pytest.fixture
def comparison():
    return rg.Comparison({name: evaluation(name) for name in RUNS})


def test_comparison_copies_its_dict():
    given = {"good": evaluation("good")}
    comparison = rg.Comparison(given)
    given["bad"] = None
    assert list(comparison) == ["good"]


def test_the_same_queries_are_in_the_order_of_the_first_run():
    values = {"old": {"a": 1.0, "b": 0.0}, "new": {"b": 0.0, "a": 1.0}}
    comparison = rg.compare(values, metrics="score", values=True)
    assert (comparison["new"]["score"] - comparison["old"]["score"]).tolist() == [0.0, 0.0]
    assert comparison.means(weights=[3, 1]) == {"old": {"score": 0.75}, "new": {"score": 0.75}}
    assert rg.compare(values, metrics="score", values=True, queries="common")["new"].query_ids == ["a", "b"]


@pytest.mark.parametrize("queries", ["all", "same", "common"])
def test_a_reordered_evaluation_keeps_counts_weights_and_assumptions(queries):
    frame = {"query_id": ["b", "b", "a"], "doc_id": ["d", "e", "d"]}
    run = {"query_id": ["a", "b", "z"], "doc_id": ["e", "e", "d"], "score": [1.0, 2.0, 3.0]}
    first = rg.from_frames(frame, run).evaluate("gauc", "rr")
    backwards = rg.from_frames({name: column[::-1] for name, column in frame.items()}, run).evaluate("gauc", "rr")
    second = rg.compare({"first": first, "second": backwards}, queries=queries)["second"]
    assert (backwards.query_ids, second.query_ids) == (["a", "b"], ["b", "a"])
    assert second == first
    assert second.counts == backwards.counts == first.counts
    assert second.mean("gauc") == first.mean("gauc")
    assert second.mean(weights=[3, 1]) == first.mean(weights=[3, 1])
    assert second.assumed == backwards.assumed != ()


def test_other_queries_stay_in_their_order():
    first, second = (dict.fromkeys(queries, 1.0) for queries in ("abc", "cbz"))
    comparison = rg.compare({"first": first, "second": second}, metrics="score", values=True)
    assert comparison["second"].query_ids == ["c", "b", "z"]


def test_nan_is_never_the_best():
    nothing = rg.from_ranked([[0]]).evaluate("rr(empty=nan)")
    zero = rg.from_ranked([[0]], judged=[[0, 1]]).evaluate("rr(empty=nan)")
    key = "rr(empty=nan)"
    assert rg.Comparison({"nothing": nothing, "zero": zero}).best(key) == ["zero"]
    assert rg.Comparison({"zero": zero, "nothing": nothing}).best(key) == ["zero"]
    assert rg.Comparison({"one": nothing, "two": nothing}).best(key) == []
    assert "nan\n" in rg.Comparison({"one": nothing, "two": nothing}).table()


def test_table_marks_the_best(comparison, backend):
    expected = (
        "metric    good      bad    same\n"
        "------  ------   ------  ------\n"
        "rr      0.8333*  0.5000  0.8333*\n"
        "cg@1    1.0000*  0.3333  1.0000*\n"
        "\n"
        "*: the best\n"
        "queries evaluated: 3\n"
        "missing from the run: good 0, bad 1 (counted as 0), same 0\n"
        "without judgments: 0\n"
        "nothing relevant: 0\n"
        f"ties: docid   backend: {backend}"
    )
    assert comparison.table() == expected
    assert repr(comparison) == str(comparison) == expected


def test_best_is_decided_by_unrounded_values():
    rows = {"less": 0.5, "more": 0.5 + 2**-52}
    comparison = rg.Comparison({name: rg.from_ranked([value]).evaluate("cg") for name, value in rows.items()})
    assert comparison.best("cg") == ["more"]
    assert "0.5000  0.5000*" in comparison.table()


def test_table_notes_different_rules():
    table = rg.Comparison({"one": evaluation("good"), "two": evaluation("good", ties="stable")}).table()
    assert "ties: one docid, two stable   backend: " in table


def test_table_names_the_aggregator(comparison, monkeypatch):
    row = definitions.TABLE["rr"]
    lowest = row._replace(aggregator=lambda values, weights: -float(min(values)))
    monkeypatch.setitem(definitions.TABLE, "rr", lowest)
    assert comparison.aggregate()["good"] == {"rr": -0.5, "cg@1": 1.0}
    assert comparison.best("rr") == ["bad"]
    assert "-0.5000  -0.0000*  -0.5000" in comparison.table()


@pytest.mark.parametrize(("metric", "best"), [("unjudged@1", ["one"]), ("num_ret", []), ("num_q", []), ("rr", ["one"])])
def test_best_may_be_the_lowest_or_none(metric, best):
    runs = {"one": {"q": {"d": 2, "x": 1}}, "two": {"q": {"d": 1, "x": 2}}}
    assert rg.compare({"q": {"d": 1}}, runs, [metric]).best(metric) == best


def test_html_contains_the_table(comparison):
    page = comparison._repr_html_()
    assert '<td style="text-align: right"><b>0.8333</b></td><td style="text-align: right">0.5000</td>' in page
    assert page.count("<b>") == 4
    assert "missing from the run: good 0, bad 1 (counted as 0), same 0<br>" in page
    hostile = rg.Comparison({"<script>&": evaluation("good"), "b": evaluation("bad")})._repr_html_()
    assert "<script>" not in hostile
    assert '<th scope="col" style="text-align: right"><bdi>&lt;script&gt;&amp;</bdi></th>' in hostile
    assert "&lt;script&gt;&amp; 0, b 1" in hostile


NEEDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


@pytest.mark.parametrize("library", [name for name, module in NEEDS.items() if find_spec(module)])
def test_frame_has_a_row_per_query_and_run(library):
    """The frame has a row for each query of each run, whatever the order of the metrics in a run."""
    comparison = rg.Comparison(
        {
            "good": evaluation("good", missing="skip"),
            "bad": evaluation("bad", *reversed(METRICS), missing="skip"),
            "\udce9": rg.from_ranked([[0, 1]]).evaluate(*METRICS),
        }
    )
    frame = getattr(comparison, f"to_{library}")()
    columns = {
        "pandas": lambda: frame.to_dict("list"),
        "polars": lambda: frame.to_dict(as_series=False),
        "arrow": lambda: frame.to_pydict(),
    }[library]()
    pandas = library == "pandas"
    assert columns == {
        "run": ["good"] * 3 + ["bad"] * 2 + ["\udce9" if pandas else "\\udce9"],
        "query_id": ["a", "b", "c", "a", "b", 0 if pandas else "0"],
        "rr": [1.0, 1.0, 0.5, 0.5, 1.0, 0.5],
        "cg@1": [2.0, 1.0, 0.0, 0.0, 1.0, 0.0],
    }
    assert list(columns) == ["run", "query_id", "rr", "cg@1"]


def test_table_marks_no_best_where_queries_differ():
    """A run that skips the hard queries is not marked as the best."""
    runs = {name: evaluation(name, missing="skip") for name in RUNS}
    comparison = rg.Comparison(runs)
    assert comparison.best("rr") == []
    table = comparison.table()
    assert "*" not in table
    assert "\nno best is marked: the runs answered different queries\nqueries evaluated: good 3, bad 2, same 3" in table
    page = comparison._repr_html_()
    assert "<b>" not in page
    assert "no best is marked" in page
    turned = rg.from_qrels(dict(reversed(QRELS.items())), RUNS["bad"]).evaluate(*METRICS)
    assert rg.Comparison({"good": evaluation("good"), "turned": turned}).best("rr") == ["good"]
