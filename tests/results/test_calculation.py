"""The calculation of one query's value agrees with `evaluate` in every form and is printed as expected."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.marks import in_one_case
from support.sides import qrels_lines, run_lines
from support.strategies import requested_metric, requests

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")

GRADES = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


def printed(rankings, metric, query=0, **options):
    return repr(rankings.calculation(metric, query, **options)).splitlines()


# Worked examples from the five sources of this project


def test_calculation_prints_real_valued_grades_by_id():
    assert printed(rg.from_recommendations([GRADES], [["A", "B", "C"]]), "ndcg@10") == [
        "ndcg@10 of query 0: 0.7655 / 1.3472 = 0.5682",
        "rank  document  grade  gain  discount  product     sum  ideal  grade  product     sum",
        "   1  A           0.1   0.1    1.0000   0.1000  0.1000  C        0.7   0.7000  0.7000",
        "   2  B           0.5   0.5    0.6309   0.3155  0.4155  B        0.5   0.3155  1.0155",
        "   3  C           0.7   0.7    0.5000   0.3500  0.7655  D        0.5   0.2500  1.2655",
        "   4                                                    A        0.1   0.0431  1.3085",
        "   5                                                    E        0.1   0.0387  1.3472",
        "not returned: D (0.5), E (0.1). The list has 3 of 10 documents.",
    ]


def test_calculation_prints_implicit_feedback():
    assert printed(rg.from_recommendations([{3, 4}], [[6, 3, 8, 4, 5]]), "ndcg@5") == [
        "ndcg@5 of query 0: 1.0616 / 1.6309 = 0.6509",
        "rank  document  grade  gain  discount  product     sum  ideal  grade  product     sum",
        "   1  6             –     0    1.0000   0.0000  0.0000  3          1   1.0000  1.0000",
        "   2  3             1     1    0.6309   0.6309  0.6309  4          1   0.6309  1.6309",
        "   3  8             –     0    0.5000   0.0000  0.6309",
        "   4  4             1     1    0.4307   0.4307  1.0616",
        "   5  5             –     0    0.3869   0.0000  1.0616",
        "unjudged: 3 of the first 5 documents; without unjudged documents the value is 1.0000.",
    ]


def test_calculation_prints_positions_where_documents_have_no_ids():
    assert printed(rg.from_ranked([3, 2, 3, 0, 1, 2]), "ndcg@3") == [
        "ndcg@3 of query 0: 5.7619 / 5.8928 = 0.9778",
        "rank  position  grade  gain  discount  product     sum  ideal  grade  product     sum",
        "   1         0      3     3    1.0000   3.0000  3.0000  0          3   3.0000  3.0000",
        "   2         1      2     2    0.6309   1.2619  4.2619  2          3   1.8928  4.8928",
        "   3         2      3     3    0.5000   1.5000  5.7619  1          2   1.0000  5.8928",
        "beyond rank 3: position 4 (1) at rank 5, position 5 (2) at rank 6; without a cut-off the value is 0.9608.",
    ]


def test_calculation_prints_estimates_against_ratings_with_exponential_gain():
    ratings = np.array([3, 4, 5, 1, 2, 3, 4, 5, 5, 4], dtype=float)
    rankings = rg.from_scores(ratings, ratings + np.tile([-0.5, 0.5], 5), ties="stable")
    calculation = rankings.calculation("ndcg(gain=exponential)@5", 0)
    assert calculation.dividend == pytest.approx(75.11771171236516, rel=1e-12)
    assert calculation.divisor == pytest.approx(78.3217628403342, rel=1e-12)
    assert [row["position"] for row in calculation.rows] == [7, 1, 2, 8, 9]
    assert [row["score"] for row in calculation.rows] == [5.5, 4.5, 4.5, 4.5, 4.5]
    assert [row["gain"] for row in calculation.rows] == [31.0, 15.0, 31.0, 31.0, 15.0]
    assert "tied: the value is" in calculation.notes[-1]


def test_calculation_prints_the_rank_of_the_first_relevant_document():
    assert printed(rg.from_ranked([[0, 0, 1], [0, 1, 0]]), "mrr", 1) == [
        "mrr of query 1: 0.5000",
        "rank  position  grade  relevant    adds     sum",
        "   1         0      0         0  0.0000  0.0000",
        "   2         1      1         1  0.5000  0.5000",
        "   3         2      0         0  0.0000  0.5000",
        "formula: 1 / i for the first i ≤ k with rel(i) = 1; 0 if there is none",
    ]


# Ties

TIED = [0, 2, 1, 1, 0], [0.2, 0.9, 0.9, 0.9, 0.1]


def test_tied_documents_show_shared_ranks_and_their_mean_discount():
    lines = printed(rg.from_scores(*TIED), "dcg@2")
    assert lines == [
        "dcg@2 of query 0: 2.1746",
        "rank  position  score  grade  gain  discount  product     sum",
        " 1–3         1    0.9      2     2    0.5436   1.0873",
        " 1–3         2    0.9      1     1    0.5436   0.5436",
        " 1–3         3    0.9      1     1    0.5436   0.5436  2.1746",
        "tied: the value is 1.6309 in the worst order of the tied documents, and 2.6309 in the best.",
    ]


def test_average_precision_has_one_row_per_tie_group():
    (group, *others) = rg.from_scores(*TIED).calculation("ap(rel=2)", 0).rows
    assert group == {
        "rank": 1,
        "last_rank": 3,
        "position": [1, 2, 3],
        "score": 0.9,
        "grade": [2.0, 1.0, 1.0],
        "relevant": [1.0, 0.0, 0.0],
        "adds": pytest.approx((1 + 1 / 2 + 1 / 3) / 3),
        "sum": pytest.approx((1 + 1 / 2 + 1 / 3) / 3),
    }
    assert [row["adds"] for row in others] == [0.0, 0.0]


@pytest.mark.parametrize(("ties", "positions"), [("best", [1, 2, 3, 0, 4]), ("worst", [2, 3, 1, 0, 4])])
def test_ordered_ties_show_their_order(ties, positions):
    rows = rg.from_scores(*TIED, ties=ties).calculation("ndcg", 0).rows
    assert [row["position"] for row in rows] == positions
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]


def test_fallout_puts_relevant_documents_first_in_its_best_order():
    rows = rg.from_scores([0, 1], [0.5, 0.5], ties="best").calculation("fallout@1", 0).rows
    assert [(row["position"], row["not relevant"]) for row in rows] == [(1, 0.0)]


def test_a_large_tie_group_shows_the_documents_with_gains_and_the_exact_sum():
    grades = np.zeros(1000)
    grades[-3:] = 1
    calculation = rg.from_scores(grades, np.ones(1000)).calculation("dcg@10", 0)
    assert len(calculation.rows) == 100
    assert [row["position"] for row in calculation.rows[:3]] == [997, 998, 999]
    assert calculation.rows[-1]["sum"] == calculation.value


# Every form of input, metric and tie policy


def forms_of(ties, folder, drawn):
    """Yield rankings of the drawn pairs (grade or None, score or None) in each form that can represent them."""
    query = {f"d{position}": pair for position, pair in enumerate(drawn)}
    qrels = {"q": {name: grade for name, (grade, _) in query.items() if grade is not None}, "r": {"x": 1}}
    run = {"q": {name: score for name, (_, score) in query.items() if score is not None}, "r": {"x": 1.0}}
    yield rg.from_qrels(qrels, run, ties=ties)
    rows = [[(q, d, value) for q, documents in side.items() for d, value in documents.items()] for side in (qrels, run)]
    frames = [
        pd.DataFrame(side, columns=["query_id", "doc_id", name])
        for side, name in zip(rows, ("relevance", "score"), strict=True)
    ]
    yield rg.from_frames(*frames, ties=ties)
    (folder / "qrels").write_bytes(qrels_lines(qrels))
    (folder / "run").write_bytes(run_lines(run))
    yield rg.read_trec(folder / "qrels", folder / "run", ties=ties)
    yield rg.read_trec(folder / "qrels", io.BytesIO((folder / "run").read_bytes()), ties=ties)
    if ties == "docid":
        best_first = {q: sorted(scores, key=lambda d: (scores[d], d), reverse=True) for q, scores in run.items()}
        yield rg.from_recommendations(qrels, best_first)
        return
    listed = [(max(grade or 0, 0), score) for grade, score in drawn if score is not None]
    labels, scores = ([pair[part] for pair in listed] for part in (0, 1))
    yield rg.from_scores([labels, [1]], [scores, [1.0]], ties=ties, query_ids=["q", "r"])
    judged = [[*labels, *(max(grade, 0) for grade, score in drawn if score is None and grade is not None)], [1]]
    yield rg.from_scores([labels, [1]], [scores, [1.0]], judged=judged, ties=ties, query_ids=["q", "r"])


def outcome(function):
    try:
        return function()
    except ValueError as error:
        return str(error)


def check(rankings, metric):
    """Check that the calculation of query q adds up to the value of `evaluate`, bit for bit."""
    value = outcome(lambda: float(rankings.evaluate(metric)[metric][0]))
    calculation = outcome(lambda: rankings.calculation(metric, "q", limit=30))
    if isinstance(value, str):
        assert calculation == value
        return
    np.testing.assert_array_equal(calculation.value, value)
    if calculation.divisor:  # otherwise, no document is relevant
        assert value in (calculation.dividend / calculation.divisor, 1.0)
    assert repr(calculation)
    assert calculation._repr_html_()
    assert len(calculation.to_pandas()) == max(len(calculation.rows), len(calculation.ideal))
    if not calculation.rows or "term" not in calculation.rows[0]:
        check_sums(calculation, rankings.ties == "average", metric)


DIVIDENDS = {  # dividends that are not the sum over ranks
    "f": lambda metric, hits: (1.0 + metric.beta * metric.beta) * hits,
    "set_ap": lambda metric, hits: hits * hits,
}


def check_sums(calculation, averaged, metric):
    """Check that the dividend is the sum over the rows and that the divisor is the sum over the ideal ranking."""
    within = [row for row in calculation.rows if row["rank"] <= metric.depth]
    if within:
        nothing_relevant = metric.name in ("rr", "success") and not within[-1]["sum"]
        dividend = DIVIDENDS.get(metric.name, lambda metric, value: value)(metric, within[-1]["sum"])
        if metric.name != "unjudged":  # its dividend and its rows count different documents
            assert dividend == (0.0 if nothing_relevant else calculation.dividend)
        if nothing_relevant:
            assert calculation.value in (0.0, metric.empty) or math.isnan(metric.empty)
    total = 0.0
    for row in within:
        if "product" in row:
            (quantity,) = {"gain", "relevant", "judged", "not relevant"} & row.keys()
            assert row["product"] == row[quantity] * row["discount"]
            total += row["product"]
            assert averaged or row["sum"] == total
    total = 0.0
    for row in calculation.ideal:
        total += row["product"] if "product" in row else row["adds"]
        assert row["sum"] == (total if "product" in row else pytest.approx(total, rel=1e-12))
    if calculation.ideal:
        assert calculation.ideal[-1]["sum"] == (calculation.divisor or calculation.dividend)


drawn_documents = st.lists(
    st.tuples(
        st.none() | st.sampled_from([-1, 0, 0, 1, 2, 3, 0.5]),
        st.none() | st.integers(0, 3).map(float) | st.sampled_from([0.1, float("inf")]),
    ),
    max_size=8,
)


@given(drawn_documents, requests(), st.sampled_from(["average", "stable", "docid", "best", "worst"]))
def test_calculation_adds_up_to_the_value_of_evaluate(tmp_path_factory, drawn, request_of_metric, ties):
    folder = tmp_path_factory.mktemp("forms")
    known = {max(grade, 0) for grade, _ in drawn if grade is not None} | {0, 1}
    metric, _, _ = requested_metric(request_of_metric, known)
    for rankings in forms_of(ties, folder, [*drawn, (0, None)]):
        check(rankings, metric)


# Options and errors

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}}


def calculation(metric="ndcg@10", query="q1", qrels=QRELS, run=RUN, rules=None, **options):
    return rg.from_qrels(qrels, run, **(rules or {})).calculation(metric, query, **options)


LONG = QRELS | {"query-11": {}}
REFUSED = [
    ("query 'query-12' is not … evaluated; did you mean 'query-11'?", ValueError, {"query": "query-12", "qrels": LONG}),
    ("query None is not among the 2 queries evaluated; there are: 'q1', 'q2'", ValueError, {"query": None}),
    ("query 'q2' is not among the 1 query evaluated", ValueError, {"query": "q2", "rules": {"missing": "skip"}}),
    ("ndcg_cut.5,10 stands for 2 metrics: give one, such as ndcg_cut_5", ValueError, {"metric": "ndcg_cut.5,10"}),
    ("limit must be a positive integer or None, not 0", ValueError, {"limit": 0}),
    ("limit", TypeError, {"limit": 2.5}),
    ("like='rnx': unknown tool (did you mean 'ranx'?)", ValueError, {"like": "rnx"}),
    ("like='sklearn': rankgain knows no rr of scikit-learn", ValueError, {"metric": "rr", "like": "sklearn"}),
    ("infap has no value for ties='average'", ValueError, {"metric": "infap", "rules": {"ties": "average"}}),
    (
        "qrels: query 'q1', document 'd1': gain has no entry for the grade 2.0",
        ValueError,
        {"metric": rg.metric("ndcg", gain={1: 1})},
    ),
    ("run: query 'q1', document 'd1': the score is NaN", ValueError, {"run": {"q1": {"d1": math.nan}}}),
    ("qrels: query 'q1', document 'd1': the grade is NaN", ValueError, {"qrels": {"q1": {"d1": math.nan}}}),
]


@in_one_case(("message", "error", "given"), REFUSED)
def test_calculation_refuses(rejects, message, error, given):
    rejects(error, message, calculation, **given)


def test_errors_of_other_queries_do_not_matter():
    run = {"q1": RUN["q1"], "q2": {"d7": math.nan}}
    assert calculation(run=run).value == calculation().value


def test_a_query_that_the_run_lacks_has_an_empty_list_and_its_ideal():
    result = calculation(query="q2")
    assert (result.value, result.rows, result.dividend) == (0.0, [], 0.0)
    assert [row["document"] for row in result.ideal] == ["d7"]
    assert result.notes == ["not returned: d7 (1). The list has 0 of 10 documents."]
    assert "0.0000 / 1.0000 = 0.0000" in repr(result)


def test_a_query_without_a_relevant_document_has_the_value_of_empty():
    for metric, value in (("ndcg", 0.0), ("ndcg(empty=1)", 1.0), ("rr(empty=0.5)", 0.5), ("ap", 0.0), ("bpref", 0.0)):
        result = calculation(metric, qrels={"q1": {"d2": 0}})
        assert result.value == value
        assert all(row.get("sum", 0.0) == 0.0 for row in result.rows if "term" not in row)
    assert "nothing relevant: 1.0000" in repr(calculation("ndcg(empty=1)", qrels={"q1": {"d2": 0}}))


@pytest.mark.parametrize(
    ("metric", "returned", "judged", "equation"),
    [
        ("ap_hits(empty=1)", [0, 0], [0, 1], "0 / 0, nothing relevant returned: 0.0000"),
        ("ap_hits(empty=1)", [], [0, 1], "0 / 0, nothing returned: 0.0000"),
        ("ap_hits(empty=1)", [0, 0], [0, 0], "0 / 0, nothing relevant: 1.0000"),
        ("precision", [], [1], "0 / 0, nothing returned: 0.0000"),
        ("capped_recall(empty=1)", [], [1], "0 / 0, nothing returned: 0.0000"),
        ("capped_recall(empty=1)@2", [], [1], "0 / 1 = 0.0000"),
        ("capped_recall(empty=1)", [], [0], "0 / 0, nothing relevant: 1.0000"),
    ],
)
def test_a_divisor_of_0_is_explained(metric, returned, judged, equation):
    rankings = rg.from_ranked([returned], judged=[judged])
    assert printed(rankings, metric)[0] == f"{metric} of query 0: {equation}"
    assert rankings.evaluate(metric)[metric] == float(equation.split()[-1])


SPARSE = sparse.csr_matrix(np.array([[0, 0, 0, 1], [0, 1, 1, 0]]))


@pytest.mark.parametrize(
    ("given", "positions"),
    [
        ({"mask": [[False, True, True, True], [True, False, False, True]]}, [[3, 2, 1], [0, 3]]),
        ({"exclude": SPARSE}, [[2, 1, 0], [0, 3]]),
    ],
)
def test_positions_are_columns_of_the_input(given, positions):
    labels, scores = [[0, 1, 0, 1], [1, 0, 1, 0]], [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
    rankings = rg.from_scores(labels, scores, **given)
    for query, expected in enumerate(positions):
        calculation = rankings.calculation("ndcg", query)
        assert [row["position"] for row in calculation.rows] == expected
        assert all(labels[query][row["position"]] > 0 for row in calculation.ideal)


def test_positions_in_flat_groups_count_from_the_start_of_the_group():
    mask, sizes = [True, True, False, True, True, True], [2, 4]
    rankings = rg.from_scores([0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], group_sizes=sizes, mask=mask)
    assert [row["position"] for row in rankings.calculation("rr", 1).rows] == [3, 2, 1]


def test_limit_shows_more_ranks_and_fewer():
    run = {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0, "d9": 1.0}}
    assert [row["rank"] for row in calculation("ndcg@2", run=run).rows] == [1, 2]
    more = calculation("ndcg@2", run=run, limit=4)
    assert [row["sum"] for row in more.rows] == [2.0, 2.0, None, None]
    assert [row["gain"] for row in more.rows] == [2.0, 0.0, None, None]
    assert more.value == calculation("ndcg@2", run=run).value
    fewer = calculation("ndcg@3", run=run, limit=1)
    assert len(fewer.rows) == len(fewer.ideal) == 1
    assert fewer.notes[-1] == "The ranks after 1 are not shown; a higher limit shows more."
    assert calculation("ndcg@2", run=run).notes == [
        "beyond rank 2: d3 (1) at rank 3; without a cut-off the value is 0.9502."
    ]


def test_a_document_that_is_pooled_and_one_that_is_unjudged_differ():
    result = calculation(qrels={"q1": {"d1": 1, "d2": -1}})
    assert [(row["document"], row["grade"]) for row in result.rows] == [("d2", -1.0), ("d1", 1.0), ("d9", None)]
    assert result.notes[-1] == ("unjudged: 2 of the first 3 documents; without unjudged documents the value is 1.0000.")
    assert [line.split()[4] for line in repr(result).splitlines()[2:4]] == ["0", "1"]


def test_judged_lists_show_the_grades_of_the_ideal_only():
    result = rg.from_ranked([1, 0], judged=[3, 1, 0]).calculation("ndcg@2", 0)
    assert [[*row] for row in result.ideal] == [["grade", "product", "sum"]] * 2
    assert "ideal grade" in repr(result)


def test_callable_gains_are_called_for_this_query_alone():
    seen = []

    def gain(grades):
        seen.append(grades.tolist())
        return 10.0 * grades

    rankings = rg.from_ranked([[1, 0], [3, 2]])
    seen.clear()
    result = rankings.calculation(rg.metric("ndcg", gain=gain), 0)
    assert [row["gain"] for row in result.rows] == [10.0, 0.0]
    assert {grade for grades in seen for grade in grades} <= {0.0, 1.0}


def test_a_grade_for_which_a_gain_is_not_called_adds_nothing():
    result = rg.from_ranked([0, 1]).calculation(rg.metric("dcg", gain=lambda grades: 2 * grades), 0)
    assert [(row["gain"], row["product"]) for row in result.rows] == [(0.0, 0.0), (2.0, 2.0 * rg.discount(2)[1])]


def test_tied_documents_without_a_hit_may_have_ids_of_mixed_types():
    run = {"q1": {"d1": 2.0, "x": 1.0, 7: 1.0}}
    assert [row["document"] for row in calculation(run=run).rows] == ["d1", "x", 7]


def test_the_ideal_of_the_returned_list_is_cut_at_its_length():
    result = calculation("ndcg(ideal=returned)", run={"q1": {"d3": 1.0}})
    assert [row["document"] for row in result.ideal] == ["d1"]
    assert result.divisor == 2.0


def test_a_tie_that_costs_nothing_is_not_stated():
    assert calculation("ndcg", run={"q1": {"d1": 2.0, "x": 1.0, "y": 1.0}}).notes == [
        "not returned: d3 (1).",
        "unjudged: 2 of the first 3 documents; without unjudged documents the value is 0.7602.",
    ]


def test_rules_of_rankings_apply():
    rankings = rg.from_qrels(QRELS, RUN)
    assert [row["document"] for row in rankings.limited(judged_only=True).calculation("ndcg", "q1").rows] == [
        "d2",
        "d1",
    ]
    assert [row["document"] for row in rankings.limited(depth=1).calculation("ndcg", "q1").rows] == ["d2"]
    both = rankings.limited(judged_only=True).limited(depth=1).calculation("ndcg", "q1")
    assert [row["document"] for row in both.rows] == ["d2"]
    scores = rg.from_qrels({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0 + 1e-12}}, ties="average")
    assert [row["last_rank"] for row in scores.under(score_bits=32).calculation("ndcg", "q").rows] == [2, 2]


def test_like_follows_the_rules_of_a_tool():
    rankings = rg.from_scores([1, 2, 0], [0.5, 0.5, 0.1])
    result = rankings.calculation("ndcg@2", 0, like="lightgbm")
    assert result.value == rankings.evaluate("ndcg@2", like="lightgbm")["ndcg@2"][0]
    assert [(row["rank"], row["position"], row["gain"]) for row in result.rows] == [(1, 0, 1.0), (2, 1, 3.0)]
    assert repr(result).startswith("ndcg@2 of query 0, like lightgbm: ")


@pytest.mark.parametrize("metric", ["gm_ap", "gauc", "gm_bpref", "num_ret", "num_q", "utility", "set_ap"])
def test_metrics_with_other_aggregators_have_a_value_per_query(metric):
    rankings = rg.from_qrels(QRELS, RUN)
    assert rankings.calculation(metric, "q1").value == rankings.evaluate(metric)[metric][0]


def test_files_are_read_again_and_standard_input_is_not(tmp_path):
    tied = {"q1": {"d1": 1.0, "d2": 1.0, "d9": 0.5, "d3": 0.2}}
    (tmp_path / "qrels").write_bytes(qrels_lines(QRELS))
    (tmp_path / "run").write_bytes(run_lines(tied))
    result = rg.read_trec(tmp_path / "qrels", tmp_path / "run").calculation("ndcg@3", "q1")
    assert result.to_dict() == rg.from_qrels(QRELS, tied).calculation("ndcg@3", "q1").to_dict()
    once = rg.read_trec(tmp_path / "qrels", io.BytesIO(run_lines(tied))).calculation("ndcg@3", "q1")
    assert once.to_dict() == result.to_dict()


def test_documents_of_a_matrix_are_its_columns():
    truth, excluded = sparse.csr_array([[0, 1, 0, 2]]), sparse.csr_array([[0, 0, 1, 0]])
    rankings = rg.from_scores(truth, np.array([[0.1, 0.9, 0.5, 0.8]]), exclude=excluded, ties="stable")
    result = rankings.calculation("ndcg", 0)
    assert [(row["document"], row["grade"]) for row in result.rows] == [(1, 1.0), (3, 2.0), (0, None)]
    assert result.value == rankings.evaluate("ndcg")["ndcg"][0]


def test_scattered_lines_and_ids_that_are_not_utf8_are_shown(tmp_path):
    (tmp_path / "qrels").write_bytes(b"q 0 \xff 1\nr 0 a 1\n")
    (tmp_path / "run").write_bytes(
        b"q 0 a 1 1 t\nr 0 a 1 1 t\nq 0 \xff 2 1 t\nr 0 \xc3\xa9 1 1 t\nq 0 \xf0\x90\x80\x80 1 1 t\n"
    )
    rows = rg.read_trec(tmp_path / "qrels", tmp_path / "run").calculation("ndcg", "q").rows
    assert [row["document"] for row in rows] == ["\udcff", "\U00010000", "a"]


@pytest.mark.needs("polars", "pyarrow")
def test_calculation_leaves_in_each_form():
    result = calculation("ndcg@2")
    frame = result.to_pandas()
    assert frame["document"].tolist() == ["d2", "d1"]
    assert frame["ideal_document"].tolist() == ["d1", "d3"]
    assert result.to_markdown().startswith("\nndcg@2 of query q1") or "| rank |" in result.to_markdown()
    assert "<table>" in result._repr_html_()
    assert result.to_dict()["metric"] == "ndcg@2"
    ragged = calculation(query="q2", run=RUN).to_polars()
    assert ragged["ideal_document"].to_list() == ["d7"]
    assert calculation(run={"q1": {"d1": 1.0}}).to_arrow()["document"].to_pylist() == ["d1", None]


# The command line


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_bytes(qrels_lines(QRELS | {"q3": {"d2": 0}}))
    (tmp_path / "run").write_bytes(run_lines(RUN | {"q3": {"d2": 1.0}}))
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


def shell(capsys, *arguments, status=0):
    assert main(["explain", *arguments]) == status
    return "".join(capsys.readouterr())


def test_explain_shows_the_calculation_of_a_query(capsys, files):
    expected = rg.read_trec(*files).calculation("ndcg@2", "q1")
    assert shell(capsys, "ndcg@2", *files, "--query-id", "q1") == f"{expected!r}\n"
    limited = rg.read_trec(*files).calculation("ndcg@2", "q1", limit=1)
    assert shell(capsys, "ndcg@2", "--limit", "1", *files, "--query-id", "q1") == f"{limited!r}\n"
    stable = rg.read_trec(*files, ties="stable").calculation("ndcg@2", "q1", like="ranx")
    assert shell(capsys, "ndcg@2", *files, "--query-id", "q1", "--like", "ranx") == f"{stable!r}\n"


def test_explain_reads_the_sample(capsys):
    rankings = rg.read_trec(*rg.sample())
    expected = rankings.calculation("ndcg@2", "compress-a-file")
    assert shell(capsys, "ndcg@2", "--sample", "--query-id", "compress-a-file") == f"{expected!r}\n"
    assert shell(capsys, "ndcg@2", "--sample", "--like", "ranx") == f"{rankings.attribution('ndcg@2', 'ranx')!r}\n"


def test_explain_chooses_the_lowest_value_of_queries_with_a_chance(capsys, files):
    text = shell(capsys, "ndcg@2", *files)
    assert text.startswith("ndcg@2 of query q1: ")  # q2 has no list, and q3 has no relevant documents
    assert text.endswith("\nthe lowest value of 1 query with a relevant document and a list; see --query-id\n")
    text = shell(capsys, "fallout@2", *files)
    assert "the highest value of 1 query" in text
    text = shell(capsys, "rr(rel=9)", *files, status=1)
    assert text == "rankgain: error: no query has both a relevant document and a list; choose one by --query-id\n"


def test_explain_chooses_the_first_of_equal_values(capsys, tmp_path):
    qrels = {query: {"a": 1} for query in ("q2", "q1", "q0")}
    (tmp_path / "qrels").write_bytes(qrels_lines(qrels))
    (tmp_path / "run").write_bytes(run_lines({"q2": {"a": 1.0}, "q1": {"b": 1.0}, "q0": {"b": 1.0}}))
    assert shell(capsys, "rr", str(tmp_path / "qrels"), str(tmp_path / "run")).startswith("rr of query q1: 0.0000")


def test_explain_shows_which_rule_makes_the_difference(capsys, files):
    for like in ("ranx", "ndcg(gain=exponential)@2"):
        expected = rg.read_trec(*files).attribution("ndcg@2", like)
        assert shell(capsys, "ndcg@2", *files, "--like", like) == f"{expected!r}\n"
    assert "rankgain and dcg@3 differ in" in shell(capsys, "ndcg@2", "--like", "dcg@3")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query-id", "q9"], "query 'q9' is not among the 3 queries evaluated; there are: 'q1', 'q2', 'q3'"),
        (["--query-id", "q1", "--limit", "0"], "limit must be a positive integer, not 0"),
        (["--query-id", "q1", "--ties", "average"], None),
    ],
)
def test_explain_refuses_what_calculation_refuses(capsys, files, arguments, message):
    text = shell(capsys, "ndcg@2", *files, *arguments, status=0 if message is None else 1)
    assert message is None or text == f"rankgain: error: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query-id", "q1"], "arguments --query-id and --limit: give a qrels file and a run file, or --sample"),
        (["qrels", "run", "--sample"], "argument --sample: not allowed with files"),
        (["qrels", "run", "more"], "give a qrels file and a run file, or one table that holds both, and at most one"),
        (
            ["qrels", "run", "--like", "ranx", "--like", "beir"],
            "give a qrels file and a run file, or one table that holds both, and at most one --like",
        ),
        (["--like", "rnx"], "argument --like: unknown tool 'rnx' (did you mean 'ranx'?)"),
        (["qrels", "run", "--query-id", "q", "--like", "ranx", "--ties", "best"], "--ties: not allowed with"),
    ],
)
def test_explain_reports_usage_errors(capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(["explain", "ndcg@2", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.needs("pyarrow")
def test_explain_reads_tables_with_the_columns_of_eval(capsys, tmp_path):
    qrels = pd.DataFrame({"user": [1, 1, 2], "thing": [7, 8, 7], "stars": [2, 1, 1]})
    run = pd.DataFrame({"user": [1, 1, 2], "thing": [8, 9, 9], "value": [0.5, 0.7, 0.1]})
    paths = [str(tmp_path / name) for name in ("qrels.csv", "run.csv", "both.csv")]
    both = qrels.merge(run, on=["user", "thing"], how="inner")
    for frame, path in zip((qrels, run, both), paths, strict=True):
        frame.to_csv(path, index=False)
    columns = ["--query", "user", "--doc", "thing", "--relevance", "stars", "--score", "value"]
    expected = rg.from_frames(qrels, run, query="user", doc="thing", relevance="stars", score="value")
    shown = shell(capsys, "ndcg@2", *paths[:2], *columns, "--query-id", "1")
    assert shown == f"{expected.calculation('ndcg@2', 1)!r}\n"
    assert "8 " in shown.splitlines()[3]
    table = shell(capsys, "ndcg@2", paths[2], *columns, "--query-id", "1")
    assert table.startswith("ndcg@2 of query 1: 1.0000 / 1.0000 = 1.0000")


# Options, on both backends


def of_calculation(name):
    def function(**options):
        return getattr(rg.from_qrels(QRELS, RUN).calculation("ndcg@3", "q1", **options), name)

    return function


@pytest.mark.options("Rankings.calculation", "like", "limit")
def test_calculation_options(check_option):
    stable = rg.from_qrels(QRELS, RUN).evaluate("ndcg@3", like="lightgbm")["ndcg@3"][0]
    check_option(of_calculation("value"), "like", "lightgbm", float(stable))
    check_option(lambda **options: len(of_calculation("rows")(**options)), "limit", 2, 2)


def test_documents_that_were_not_returned_are_named():
    """They are named for each metric of relevant documents, also without a cut-off, but not for those of others."""
    qrels, run = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1, "e": 0}}, {"q1": {"c": 3.0, "a": 2.0}}
    for metric in ("mrr", "recall", "recall@1", "ap", "ndcg@2", "r_precision", "bpref"):
        notes = calculation(metric, qrels=qrels, run=run, query="q1").notes
        assert any(note.startswith("not returned: b (2), d (1).") for note in notes), metric
    for metric in ("fallout", "judged@5"):
        assert not any("not returned" in note for note in calculation(metric, qrels=qrels, run=run, query="q1").notes)
    many = {"q1": {f"d{i}": 1 for i in range(60)}}
    (note,) = [note for note in calculation("rr", qrels=many, run=run, query="q1").notes if "not returned" in note]
    assert note.startswith("not returned: d0 (1), d1 (1)")
    assert note.endswith("d49 (1) and 10 more.")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("ids", ["abxc", [1, 2, 9, 3]])
def test_columns_of_tied_and_untied_rows_have_one_type(ids):
    """Tied documents of a metric like RR share a row, with their values as text, and so do those of other rows then."""
    a, b, x, c = ids
    run = {"q": {a: 3.0, b: 1.0, x: 1.0, c: 0.5}}
    rankings = rg.from_qrels({"q": {a: 2, b: 1, c: 0}}, run, ties="average")
    tied = rankings.calculation("rr", "q").columns()
    assert tied["document"] == [f"{a}", f"{b}, {x}", f"{c}"]
    assert (tied["grade"], tied["relevant"]) == (["2", "1, –", "0"], ["1", "1, 0", "0"])
    assert [tied["rank"].tolist(), tied["last_rank"].tolist()] == [[1.0, 2.0, 4.0], [1.0, 3.0, 4.0]]
    untied = rankings.under(ties="stable").calculation("rr", "q").columns()
    assert untied["document"] == [*ids]
    assert untied["grade"].dtype == untied["relevant"].dtype == np.float64
    assert np.isnan(untied["grade"][2])
    gains = rankings.calculation("ndcg@4", "q").columns()  # each tied document has a row
    assert gains["document"] == [*ids]
    assert gains["grade"].dtype == np.float64
