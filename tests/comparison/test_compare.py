"""`compare` accepts runs of any form together with ground truth of any form."""

import io
import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from support.marks import in_one_case
from support.rejections import outcome

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}, "q3": {"d1": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q3": {"d4": 2.0, "d1": 1.0}}
RANKED = {query: sorted(documents, key=documents.get, reverse=True) for query, documents in RUN.items()}
METRICS = ["ndcg@2", "mrr", rg.metric("dcg", gain="exponential")]


def rows(table, *names):
    pairs = [(query, document, value) for query, documents in table.items() for document, value in documents.items()]
    return dict(zip(names, map(list, zip(*pairs, strict=True)), strict=True))


def text(table, form):
    lines = [
        form.format(query, document, value)
        for query, documents in table.items()
        for document, value in documents.items()
    ]
    return io.BytesIO("".join(lines).encode())


def runs():
    """Return the same run in every supported form, as new objects."""
    return {
        "dicts": RUN,
        "lists": RANKED,
        "frame": rows(RUN, "query_id", "doc_id", "score"),
        "file": text(RUN, "{} Q0 {} 0 {} t\n"),
        "rankings": rg.from_qrels(QRELS, RUN),
    }


TRUTHS = {
    "dicts": lambda: QRELS,
    "frame": lambda: rows(QRELS, "query_id", "doc_id", "relevance"),
    "file": lambda: text(QRELS, "{} 0 {} {}\n"),
    "judgments": lambda: rg.judgments(QRELS),
}


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_compare_accepts_every_form_of_run(truth, missing):
    expected = rg.from_qrels(QRELS, RUN, missing=missing).evaluate(*METRICS)
    others = {name: run for name, run in runs().items() if name != "rankings" or missing == "zero"}
    comparison = rg.compare(TRUTHS[truth](), others, METRICS, missing=missing)
    assert list(comparison) == list(others)
    for name, result in comparison.items():
        assert result.to_dict() == expected.to_dict(), name
        assert result.counts == expected.counts, name
        assert result.missing == missing


def test_compare_reads_the_truth_once():
    class Once(io.BytesIO):
        def read(self, size=-1):
            assert not self.closed
            return super().read(size)

    truth = Once(text(QRELS, "{} 0 {} {}\n").getvalue())
    comparison = rg.compare(truth, {"a": RUN, "b": RUN})
    assert comparison.metrics == ["ndcg@10", "mrr@10"]
    assert comparison["a"].to_dict() == comparison["b"].to_dict()


SOME = {"a": {"q1": {"d1": 1.0, "x": 2.0}, "q2": {"d1": 1.0}}, "b": {"q3": {"d1": 1.0}, "q2": {"x": 1.0, "d1": 0.5}}}
OF_ALL = {query: {"d1": 1} for query in ("q1", "q2", "q3")}


def test_compare_by_common_queries(backend):
    comparison = rg.compare(OF_ALL, SOME, "rr", missing="skip", queries="common")
    assert {name: list(result.query_ids) for name, result in comparison.items()} == {"a": ["q2"], "b": ["q2"]}
    assert comparison.best("rr") == ["a"]
    assert "left out, since not all runs have them: 2 queries" in comparison.table()
    again = pickle.loads(pickle.dumps(comparison))
    assert "left out, since not all runs have them: 2 queries" in again.table()
    assert "left out, since not all runs have them: 2 queries" in again._repr_html_()
    two = {name: run | {"q4": {"d1": 1.0}} for name, run in SOME.items()}
    tests = rg.compare(OF_ALL | {"q4": {"d1": 1}}, two, "rr", missing="skip", queries="common").test()
    assert (tests.queries, tests.left_out) == (2, 2)
    whole = rg.compare(OF_ALL, SOME, "rr", missing="skip")
    assert {name: list(result.query_ids) for name, result in whole.items()} == {"a": ["q1", "q2"], "b": ["q2", "q3"]}
    for queries in ("same", "common"):
        zero = rg.compare(OF_ALL, SOME, "rr", queries=queries)
        assert zero == rg.compare(OF_ALL, SOME, "rr")
        assert "left out" not in zero.table()


WATCHED = {"user": [1, 1, 2], "film": [7, 8, 7], "stars": [5, 1, 4]}
GUESSES = {"user": [1, 1, 2], "movie": [8, 7, 7], "guess": [0.9, 0.4, 0.8]}
NAMES = {"doc": ("film", "movie"), "relevance": "stars", "score": "guess"}


def test_compare_reads_columns_by_name():
    expected = rg.from_frames(WATCHED, GUESSES, **NAMES).evaluate("ndcg@10")
    assert rg.compare(WATCHED, {"a": GUESSES}, "ndcg@10", **NAMES)["a"] == expected
    assert rg.evaluate(WATCHED, GUESSES, "ndcg@10", **NAMES) == expected
    truth = rg.judgments(WATCHED, doc="film", relevance="stars")
    assert rg.compare(truth, {"a": GUESSES}, "ndcg@10", doc="movie", score="guess")["a"] == expected


def test_values_of_other_tools_that_differ_by_rounding_are_equal():
    """Sums of the same numbers in another order differ by about 1e-16, and those of single precision are rounded."""
    random = np.random.default_rng(0)
    values = 100 * random.random(20)
    noise = 1 + 1e-12 * random.random((3, 20))
    runs = {name: dict(enumerate(values * factor)) for name, factor in zip("abc", noise, strict=True)}
    runs["d"] = dict(enumerate(values * 1.001))
    tests = rg.compare(runs, values=True, metrics="score").test()
    for key, pair in tests.items():
        assert pair.same == (0 if "d" in key else 20)
    assert "the same value for every query" in tests["score", "c", "b"].verdict()
    small = {name: dict.fromkeys(range(8), value) for name, value in (("a", 1e-30), ("b", 2e-30))}
    assert rg.compare(small, values=True, metrics="score").test()["score", "b", "a"].better == 8


def test_compare_accepts_values_of_other_tools():
    """Values from other tools are compared like Evaluations with the same values, without remarks about judgments."""
    values = {"a": {f"q{row}": 0.1 * row for row in range(8)}, "b": {f"q{row}": 0.1 * row + 0.25 for row in range(8)}}
    runs = rg.compare(values, metrics="my score", values=True)
    tests = runs.test()
    assert tests["my score", "b", "a"].p == 2 / 2**8
    assert tests.verdicts()[0].startswith("my score: b is better than a by +0.2500")
    assert runs.best("my score") == ["b"]
    assert runs.per_query("my score", "b", "a")[0][1] == pytest.approx(0.25)
    assert runs.queries_needed("my score", "b", "a", difference=0.1) == 6
    assert runs.test(metrics="my score").tied_with_best("my score") == ["b"]
    assert runs.groups(list("xxxxyyyy")).overall["my score", "b", "a"].p == 2 / 2**8
    for word in ("judgments", "relevant", "missing", "ties"):
        assert word not in runs.table()
    assert "the values are as given" in runs.table()
    assert pickle.loads(pickle.dumps(runs)).test()["my score", "b", "a"].p == 2 / 2**8
    lower = rg.compare(values, metrics="seconds", values=True, higher_is_better=False)
    assert lower.best("seconds") == ["a"]
    assert "b is worse than a by 0.2500" in lower.test().verdicts()[0]
    neither = rg.compare(values, metrics="length", values=True, higher_is_better=None)
    assert neither.best("length") == []
    assert "neither higher nor lower is better" in neither.test().verdicts()[0]
    some = {"a": values["a"], "b": {"q3": 1.0, "q1": 2.0}}
    assert rg.compare(some, metrics="s", values=True, queries="common").test().queries == 2


def test_report_of_values_of_other_tools(tmp_path):
    pytest.importorskip("jinja2")
    runs = rg.compare({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 0.0}}, metrics="my score", values=True)
    runs.report(tmp_path / "page.html")
    assert "my score: the values that were given" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_compare_accepts_evaluations():
    """Evaluations are compared by their own metrics; runs of other forms are evaluated with the same metrics."""
    runs_by_name = {"one": RUN, "other": {"q1": {"d1": 1.0}}}
    evaluations = {name: rg.from_qrels(QRELS, run).evaluate("rr", "recall@2") for name, run in runs_by_name.items()}
    runs = rg.compare(evaluations)
    assert runs.metrics == ["rr", "recall@2"]
    assert dict(runs) == evaluations
    mixed = rg.compare(QRELS, {"one": evaluations["one"], "other": runs_by_name["other"]})
    assert mixed["other"] == evaluations["other"]
    with pytest.raises(ValueError, match=r"^metrics: the runs are Evaluations, whose metrics are compared: leave"):
        rg.compare(evaluations, metrics="rr")


PAIRS = {"q": [("a", 1)]}, {"a": {"q": [("b", 1), ("a", 1)]}}


def ordered(tmp_path):
    """Return named runs in every form, and the ground truth in every form."""
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 d1 0 1 t\n")
    by_name = {name: {"a": run} for name, run in runs().items() if name != "rankings"} | {
        "path": {"a": str(path)},
        "matrix": {"a": np.array([[1, 2], [3, 4]])},
        "lists by position": {"a": [["d1"], ["d2"]]},
        "responses": {"a": {"q1": {"hits": {"hits": []}}}},
        "records": {"a": iter([])},
    }
    truths = {name: make() for name, make in TRUTHS.items()} | {
        "first query without documents": {"q0": {}, **QRELS},
        "sets": {"q1": {"d1"}},
        "lists": {"q1": ["d1"], "q2": []},
        "one id per query": {"q1": "d1"},
        "one number per query": {"q1": 1},
        "arrays": {"q1": np.array([1, 2])},
        "path": "qrels.txt",
        "list of sets": [{"d1"}],
        "sparse matrix": sparse.csr_array([[1, 0]]),
    }
    return by_name, truths


def test_runs_before_truth_are_refused(tmp_path):
    """Runs by name are recognized because they are nested one level deeper than the ground truth."""
    by_name, truths = ordered(tmp_path)
    for (form, given), (of_truth, truth) in product(by_name.items(), truths.items()):
        with pytest.raises(TypeError) as error:
            rg.compare(given, truth, "rr")
        expected = "the runs are given before the truth: write compare(truth, runs, metrics)"
        assert str(error.value) == expected, (form, of_truth)


def test_truth_before_runs_is_never_refused_for_its_order(tmp_path):
    by_name, truths = ordered(tmp_path)
    for given, truth in [*product(by_name.values(), truths.values()), PAIRS]:
        assert "before the truth" not in str(outcome(lambda truth=truth, given=given: rg.compare(truth, given, "rr")))
    assert rg.compare(*PAIRS, "rr")["a"]["rr"].tolist() == [0.5]


class Run:
    """A stand-in for the Run class of ranx."""

    __module__ = "ranx.data_structures.run"

    def __init__(self, run, name=None):
        self.run, self.name = run, name

    def to_dict(self):
        return self.run


def test_a_list_of_named_runs_of_ranx():
    other = {"q1": {"d1": 1.0}}
    expected = rg.compare(QRELS, {"bm25": RUN, "dense": other}, "rr")
    assert rg.compare(QRELS, [Run(RUN, "bm25"), Run(other, "dense")], "rr") == expected
    for names in ((None, "dense"), ("dense", "dense")):
        with pytest.raises(TypeError, match=r"not list; name them: \{'a': first, 'b': second\}$"):
            rg.compare(QRELS, [Run(RUN, names[0]), Run(other, names[1])], "rr")


ALONE = rg.from_qrels(QRELS, RUN)
REFUSED = [
    ("'qrels': write compare(truth, runs, metrics)", TypeError, [{"a": RUN}], {"qrels": QRELS, "metrics": "rr"}),
    ("multiple values for argument 'truth'", TypeError, [{"a": RUN}], {"truth": QRELS}),
    ("need no truth: write compare(runs, metrics=...)", TypeError, [{"a": ALONE}, "rr"], {}),
    ("need no truth: write compare(runs, metrics=...)", TypeError, [{"a": ALONE}, QRELS], {}),
    ("runs must be a mapping from name to run, not Judgments", TypeError, [QRELS, rg.judgments(QRELS)], {}),
    ("runs: 'q1' is not a run but a query: name the run", TypeError, [QRELS, RUN], {}),
    ("runs: 'q1' is not a run but a query: name the run", TypeError, [QRELS, RUN, RUN], {}),
    ("runs: 'q1' is not a run but a query: name the run", TypeError, [QRELS, RANKED, "rr"], {}),
    ("runs: 'q1' is not a run but a query: name the run", TypeError, [rg.judgments(QRELS), RUN], {}),
    ("not Rankings; name them: {'a': first, 'b': second}", TypeError, [QRELS, ALONE], {}),
    ("not str; name them: {'a': first, 'b': second}", TypeError, ["qrels.txt", "run.txt"], {}),
    ("run 'a': no truth was given … write compare(truth, runs)", ValueError, [{"a": RUN}], {"metrics": "rr"}),
    ("as one list: compare(truth, runs, ['rr', 'ndcg'])", TypeError, [QRELS, {"a": RUN}, "rr", "ndcg"], {}),
]


@in_one_case(("message", "error", "sides", "keywords"), REFUSED)
def test_error_of_another_order_names_the_call_to_write(rejects, message, error, sides, keywords):
    rejects(error, message, rg.compare, *sides, **keywords)


def test_compare_removes_unjudged_documents(check_option, rejects):
    qrels, runs = {"q": {"a": 1, "b": 0}}, {"one": {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}, "two": {"q": {"a": 1.0}}}

    def means(**options):
        comparison = rg.compare(qrels, runs, "rr", **options)
        return [evaluation.mean("rr") for evaluation in comparison.values()]

    check_option(means, "judged_only", True, [1 / 2, 1.0])
    evaluated = {"one": rg.evaluate(qrels, runs["one"], "rr")}
    rejects(ValueError, "judged_only: some runs are Evaluations", rg.compare, evaluated, judged_only=True)
    given = {"values": True, "metrics": "mine", "judged_only": True}
    rejects(
        ValueError, "values take no truth, rules, ties, missing or judged_only", rg.compare, {"a": {"q": 1}}, **given
    )
    rejects(TypeError, "judged_only must be True or False", rg.compare, qrels, runs, judged_only="yes")
