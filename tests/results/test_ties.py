"""The effect of ties: the worst, expected and best values in every output format."""

import csv
import io
import json
import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import quick_first
from support.strategies import examples

import rankgain as rg
from rankgain.cli import main
from rankgain.metrics.table import RESIDUAL, TABLE, UNJUDGED

pytestmark = pytest.mark.usefixtures("backend")

# Metrics that do not decrease if judged documents are ranked higher.
MONOTONE = [name for name, row in TABLE.items() if row.combination not in (UNJUDGED, RESIDUAL)]
ORDERS = ("worst", "expected", "best", "docid")


def test_constant_scorer_is_not_perfect():
    grades = np.zeros((5, 40))
    grades[:, -1] = 1
    spread = rg.from_scores(grades, np.ones((5, 40)), ties="best").tie_spread("ndcg@10", "rr", "recall@10")
    means = spread.mean()
    assert means["recall@10"] == {"worst": 0.0, "expected": 0.25, "best": 1.0}
    assert means["rr"]["best"] == 1.0
    assert means["rr"]["expected"] == pytest.approx(sum(1 / rank for rank in range(1, 41)) / 40)
    assert means["ndcg@10"]["expected"] < 0.12
    assert spread.affected("rr") == 5


@examples(0.25)
@given(seed=st.integers(0, 2**32 - 1))
def test_tie_spread_equals_evaluation_under_each_policy(seed):
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 4, (3, 8)), rng.integers(0, 4, (3, 8)) / 4
    rankings = rg.from_scores(labels, scores, ties="stable")
    spread = rankings.tie_spread(*MONOTONE)
    for name in MONOTONE:
        values, sign = spread.to_dict()[0][name], -1 if TABLE[name].better < 0 else 1
        for ties in ("worst", "best", "stable", *(() if TABLE[name].unaveraged else ("average",))):
            value = rankings.under(ties=ties).evaluate(name)[name][0]
            spread_value = values["expected" if ties == "average" else ties]
            assert value == spread_value, f"{name}, ties={ties!r}: {spread_value} in the spread, {value} by evaluate"
        if TABLE[name].unaveraged:
            assert math.isnan(values["expected"]), f"{name}: {values}"
            assert spread.unaveraged[name] == TABLE[name].unaveraged
        for order in (() if TABLE[name].unaveraged else ("expected",)) + (() if TABLE[name].extremes else ("stable",)):
            worst, value, best = (sign * values[one] for one in ("worst", order, "best"))
            within = worst - 1e-12 <= value <= best + 1e-12
            assert within, f"{name}: {order} is outside of worst to best: {values}; see `extremes` of Row"


# An order of tied documents whose value is outside the range from worst to best: (metric, judged grades, scores,
# documents in that order, value).
OUTSIDE = {
    "ap_hits": ("ap_hits@4", {"a": 1, "b": 0, "c": 0, "d": 1}, {"a": 4, "b": 3, "c": 2, "d": 1, "e": 1}, "abced", 1.0),
    "infap": ("infap", {"a": -1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}, "dcba", (0.5 + 2 / 3) / 2),
    "g": ("g", {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 1, "c": 1}, "acb", 0.7321315434523954),
    "q_measure": ("q_measure(rel=2)", {"a": -1, "b": 1, "c": 2}, {"a": 1, "b": 1, "c": 1}, "acb", 0.6),
}
VALUES = {
    "gain": ["exponential", [0, 5, 1, 2]],
    "discount": ["zipf", [1, 0.9, 0.5, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1]],
    "ideal": ["returned"],
    "rel": [2, 0.5],
    "empty": [0.5],
    "beta": [2],
    "p": [0.5],
    "max_grade": [3],
    "recall": [0.3, 1],
    "rounding": ["nearest"],
    "multiple": [0.5, 2],
    "coefficients": [(1, 2, -1, 0)],
    "collection": [20],
}


def each_metric():
    """Yield every metric with each value of each parameter, with and without `rel`, at some cut-offs."""
    for name, row in TABLE.items():
        usual = {"max_grade": 3} if "max_grade" in row.takes else {}
        settings = [{}, *({key: value} for key in row.takes for value in VALUES[key])]
        settings += [{"rel": 2} | options for options in settings if "rel" in row.takes and "rel" not in options]
        for options in settings:
            if name not in OUTSIDE or (name == "q_measure" and options.get("rel", 0) < 1):
                yield from (rg.metric(name, k=k, **usual | options) for k in ([None, 1, 2, 3] if row.cuts else [None]))


@pytest.mark.parametrize("cases", quick_first([20, 60]))
def test_best_and_worst_are_the_extremes_over_all_orders(backend, cases):
    """The best and worst values are the extremes over all orders of graded, pooled and unjudged documents."""
    rng, metrics = np.random.default_rng(0), [*each_metric()]
    lower = [TABLE[metric.name].better < 0 for metric in metrics]
    for _ in range(cases if backend == "compiled" else cases // 5):
        documents = [*"abcde"[: rng.integers(2, 6)]]
        grades = {document: int(rng.integers(-2, 4)) for document in [*documents, *"xyz"[: rng.integers(0, 4)]]}
        judged = {document: grade for document, grade in grades.items() if grade > -2} | {"w": 1}
        scores = {document: float(rng.integers(0, 2)) for document in documents}
        groups = [[document for document in documents if scores[document] == score] for score in (1.0, 0.0)]
        orders = [[*first, *rest] for first, rest in product(*map(permutations, groups))]
        runs = {
            str(number): {doc: -float(rank) for rank, doc in enumerate(order)} for number, order in enumerate(orders)
        }
        every = rg.from_qrels(dict.fromkeys(runs, judged), runs).evaluate(*metrics)
        spread = rg.from_qrels({"q": judged}, {"q": scores}).tie_spread(*metrics)
        for metric, low in zip(metrics, lower, strict=True):
            expected = sorted([every[metric].min(), every[metric].max()], reverse=low)
            for ties, value, extreme in zip(("worst", "best"), (spread.worst, spread.best), expected, strict=True):
                assert value[metric][0] == pytest.approx(extreme, rel=1e-12, abs=1e-15), (
                    f"{metric}, ties={ties!r}: {value[metric][0]}, over all orders {extreme}; judged={judged}, "
                    f"run={scores}: if the metric has other extremes, give the reason in `extremes` of its row, and "
                    "add such an order to OUTSIDE"
                )


@pytest.mark.parametrize("name", OUTSIDE)
def test_order_outside_of_worst_and_best(name):
    metric, judged, scores, order, value = OUTSIDE[name]
    run = {document: -rank for rank, document in enumerate(order)}
    assert sorted(order, key=scores.get, reverse=True) == [*order], "the order breaks ties only"
    assert rg.from_qrels({"q": judged}, {"q": run}).evaluate(metric).mean(metric) == pytest.approx(value, rel=1e-4)
    spread = rg.from_qrels({"q": judged}, {"q": scores}).tie_spread(metric)
    means = spread.mean()[metric]
    assert not means["worst"] - 1e-9 <= value <= means["best"] + 1e-9, means
    assert f"{metric}: worst and best need not be the extremes: {TABLE[name].extremes}" in spread.notes()


def test_rows_name_every_metric_with_other_extremes():
    others = {name for name, row in TABLE.items() if row.extremes}
    assert others == {*OUTSIDE}, "OUTSIDE needs an order for each metric with `extremes` in its row"


def test_fall_out_of_tied_documents():
    """If an unjudged document and one judged not relevant are tied at rank 1, the worst value is the higher one."""
    spread = rg.from_qrels({"q": {"a": 0, "b": 1}}, {"q": {"x": 1.0, "a": 1.0, "b": 0.5}}).tie_spread("fallout@1")
    assert spread.mean()["fallout@1"] == {"worst": 1.0, "expected": 0.5, "best": 0.0, "docid": 0.0}


def test_tie_spread_without_ties_is_zero():
    spread = rg.from_scores([[0, 1, 2]], [[0.1, 0.2, 0.3]]).tie_spread("ndcg", "rr(empty=nan)")
    assert [spread.affected(key) for key in spread.metrics] == [0, 0]
    assert spread.ties == "average"
    assert spread.own is spread.expected


def test_queries_without_a_value_are_not_affected_by_ties():
    spread = rg.from_scores([[0, 0], [0, 1]], [[1, 1], [1, 1]]).tie_spread("rr(empty=nan)")
    assert spread.affected("rr(empty=nan)") == 1


@pytest.mark.parametrize("ties", ["average", "worst", "best", "stable"])
def test_tie_spread_includes_the_policy_of_the_rankings(ties):
    spread = rg.from_scores([[0, 1]], [[1, 1]], ties=ties).tie_spread("rr")
    assert spread.own.ties == ties
    assert list(spread.evaluations) == ["worst", "expected", "best", *["stable"] * (ties == "stable")]


def test_tie_spread_of_metrics_without_an_expected_value():
    rankings = rg.from_scores([[0, 1]], [[1, 1]])
    spread = rankings.tie_spread("infap", "rr")
    assert list(spread.expected) == ["rr"]
    assert spread.mean()["infap"]["worst"] < spread.mean()["infap"]["best"]
    assert math.isnan(spread.mean()["infap"]["expected"])
    assert "infap   0.5000         -  1.0000" in repr(spread)
    assert "infap has no expected value: it depends on the rank" in repr(spread)
    alone = rankings.tie_spread("infap")
    assert alone.expected is None
    assert "affected by ties" in alone._repr_html_()


def test_tie_spread_is_frozen():
    spread = rg.from_scores([[0, 1]], [[1, 1]]).tie_spread("rr")
    with pytest.raises(AttributeError):
        spread.ties = "worst"


# The command line


@pytest.fixture
def files(tmp_path):
    texts = {
        "qrels": "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n",
        "run": "q1 0 a 1 1 t\nq1 0 b 2 1 t\nq2 0 c 1 1 t\n",
        "other": "q1 0 b 1 2 t\nq1 0 a 2 1 t\nq2 0 x 1 1 t\nq2 0 c 1 1 t\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in texts]


def printed(capsys, *arguments):
    assert main(["eval", *arguments, "--tie-spread"]) == 0
    return capsys.readouterr().out


def test_command_ties_prints_text(files, capsys, backend):
    assert printed(capsys, *files[:2], "-m", "rr", "-m", "infap") == (
        "metric   worst  expected    best   docid  affected by ties\n"
        "------  ------  --------  ------  ------  ----------------\n"
        "rr      0.7500    0.8750  1.0000  0.7500            1 of 2\n"
        "infap   0.7500         -  1.0000  0.7500            1 of 2\n"
        "\n"
        "infap has no expected value: it depends on the rank of each document of a tie group, not only on how many "
        "are relevant\n"
        "infap: worst and best need not be the extremes: pooled documents above a relevant one raise its inferred "
        "precision\n"
        "queries evaluated: 2\n"
        "missing from the run: 0\n"
        "without judgments: 0\n"
        "nothing relevant: 0\n"
        f"backend: {backend}\n"
    )
    assert [line.split() for line in printed(capsys, *files, "-m", "rr").splitlines()[2:4]] == [
        ["run", "rr", "0.7500", "0.8750", "1.0000", "0.7500", "1", "of", "2"],
        ["other", "rr", "0.5000", "0.6250", "0.7500", "0.5000", "1", "of", "2"],
    ]
    per_query = printed(capsys, *files[:2], "-m", "rr", "--per-query").splitlines()
    assert per_query[0].split() == ["query", "metric", *ORDERS]
    assert per_query[2].split() == ["q1", "rr", "0.5000", "0.7500", "1.0000", "0.5000"]
    several = printed(capsys, *files, "-m", "rr", "--per-query").splitlines()
    assert several[0].split() == ["run", "query", "metric", *ORDERS]
    assert several[5].split() == ["other", "q2", "rr", "0.5000", "0.7500", "1.0000", "0.5000"]


def test_command_ties_prints_json(files, capsys, backend):
    output = json.loads(printed(capsys, *files[:2], "-m", "rr", "-m", "infap", "--json", "--per-query"))
    assert output["tie_spread"]["rr"] == {"worst": 0.75, "expected": 0.875, "best": 1.0, "docid": 0.75}
    assert output["tie_spread"]["infap"]["expected"] is None
    assert output["affected_by_ties"] == {"rr": 1, "infap": 1}
    assert output["queries"]["q1"]["rr"] == {"worst": 0.5, "expected": 0.75, "best": 1.0, "docid": 0.5}
    assert (output["ties"], output["missing"], output["backend"]) == ("docid", "zero", backend)
    assert json.loads(printed(capsys, *files, "--json"))["runs"].keys() == {"run", "other"}


def test_command_ties_prints_csv(files, capsys):
    rows = list(csv.reader(io.StringIO(printed(capsys, *files, "-m", "rr", "-m", "infap", "--csv"))))
    assert rows[:2] == [["run", "metric", *ORDERS], ["run", "rr", "0.75", "0.875", "1.0", "0.75"]]
    assert rows[2][3] == ""
    rows = list(csv.reader(io.StringIO(printed(capsys, *files, "-m", "rr", "--csv", "--per-query"))))
    assert rows[0] == ["run", "query", "metric", *ORDERS]
    assert rows[1] == ["run", "q1", "rr", "0.5", "0.75", "1.0", "0.5"]
    assert len(rows) == 5


def test_tie_spread_ignores_rounding_errors():
    assert rg.from_scores([0.1, 0.2, 0.3], [0, 0, 0]).tie_spread("cg").affected("cg") == 0


def test_command_ties_uses_the_metrics_of_a_tool(capsys):
    for peer, names in (("lightgbm", ["ndcg@10"]), ("msmarco", ["mrr@10"]), ("ranx", ["ndcg@10", "mrr@10"])):
        assert main(["eval", "--sample", "--like", peer]) == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2 : 2 + len(names)]] == names


def test_command_ties_reads_a_run_of_32_bits_once(capsys, monkeypatch):
    """The run is read only once, so it can come from standard input."""
    qrels, run = rg.sample()
    with open(run, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert main(["eval", qrels, "-", "--like", "trec_eval-9", "-m", "ndcg"]) == 0
    assert "ndcg" in capsys.readouterr().out
