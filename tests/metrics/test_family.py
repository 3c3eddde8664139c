"""Metrics in unusual cases: several metrics in one call, huge and tiny grades, and large tie groups."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import textbook
from support.differences import bits
from support.marks import in_one_case, quick_first
from support.strategies import TIES, requested_metric, requests

import rankgain as rg
from rankgain.metrics.gains import Gain
from rankgain.metrics.table import TABLE

pytestmark = pytest.mark.usefixtures("backend")


QRELS = {"q1": {"a": 3, "b": 0, "c": 1, "d": -1, "e": 0, "f": 2, "g": 1}, "q2": {"a": 0, "x": 1, "y": -2}}
RUN = {"q1": dict.fromkeys("abcxyg", 1.0) | {"d": 2.0, "e": 0.0}, "q2": {"a": 1.0, "x": 1.0, "z": 1.0, "y": 1.0}}


@given(st.sampled_from([*TIES, "docid"]), st.lists(requests(), min_size=2, max_size=6))
def test_metric_has_the_same_bits_beside_other_metrics(ties, drawn):
    """A value does not change if other metrics in the call need more hits, deeper lists or more judged documents."""
    known = {grade for documents in QRELS.values() for grade in documents.values() if grade >= 0}
    metrics = [requested_metric(one, known)[0] for one in drawn if ties != "average" or not TABLE[one[0]].unaveraged]
    rankings = rg.from_qrels(QRELS, RUN, ties=ties)
    together = rankings.evaluate(*metrics, "infap" if ties != "average" else "judged", "bpref")
    for metric in metrics:
        assert bits(together[metric]) == bits(rankings.evaluate(metric)[metric]), str(metric)


def test_ndcg_rel_counts_the_rank_of_a_gain_behind_tied_documents():
    rankings = rg.from_scores([1, 0], [0.0, 0.0], ties="worst")
    discount = 1.0 / math.log2(3.0)
    for metrics in (["ndcg_rel"], ["ndcg_rel", "judged"]):
        (value,) = rankings.evaluate(*metrics)["ndcg_rel"]
        assert value == discount, f"{metrics}, ties='worst': ndcg_rel {value}, the discount of rank 2 {discount}"


# Grades of any size


@pytest.mark.parametrize(
    "relevance", [[1e15], [1e17], [1e308], [3e17, 1e17, 7e17], [0.1e17, 0.7e17, 0.3e17, 1e17, 0.9e17], [1e200] * 7]
)
def test_g_of_huge_gains(relevance):
    """A perfect list has the value 1 even if its gains are so large that adding 2 does not change them."""
    best = sorted(relevance, reverse=True)
    assert rg.from_ranked(best).evaluate("g")["g"].tolist() == [pytest.approx(1.0, rel=1e-12)]
    assert 0.0 < rg.from_ranked(relevance).evaluate("g")["g"][0] <= 1.0


def test_g_of_a_large_exponential_gain():
    assert rg.from_ranked([64]).evaluate("g(gain=exponential)")["g(gain=exponential)"].tolist() == [1.0]


HUGE = [[1e308], [1e308, 1e308], [1.7e308, 0, 3, 1.7e308], [5e307] * 4, [1e308] * 20, [1, 1e300]]
SMALL = [[5e-324], [0, 5e-324], [5e-324, 0, 1], [2e-308, 5e-324, 0], [1e-300] * 3]
EXTREMES = [rg.metric(name) for name in TABLE if "max_grade" not in TABLE[name].takes]
EXTREMES += [rg.metric("q_measure", beta=5), rg.metric("q_measure", beta=1e6), rg.metric("f", beta=1e6)]
EXTREMES += [rg.metric("dcg", discount="zipf"), rg.metric("ndcg", k=2), rg.metric("ndcg_rel", gain="binary")]


@in_one_case("metric", EXTREMES)
def test_grades_of_any_size(metric):
    """Each value is finite and within its bounds; otherwise, an error says what is too large."""
    for relevance, ties in product(HUGE + SMALL, [None, "average", "best", "worst"]):
        rankings = rg.from_ranked([[1], relevance])
        if ties is not None:
            if ties == "average" and TABLE[metric.name].unaveraged:
                continue
            rankings = rg.from_scores([[1], relevance], [[0.0], [0.0] * len(relevance)], ties=ties)
        try:
            value = rankings.evaluate(metric)[metric][1]
        except ValueError as error:
            assert "query 1: the sum of the gains, or its ratio to the ideal, is not finite; use " in str(error)  # noqa: PT017
            assert max(relevance) > 1e300
        else:
            lowest = -math.inf if metric.name == "utility" else 0.0
            assert lowest <= value <= TABLE[metric.name].highest, relevance
            assert math.isfinite(value)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9, 0.95, 0.99])
def test_rbp_plus_residual_is_at_most_1(p):
    for n in (1, 20, 400, 3000):
        rbp, residual = rg.metric("rbp", p=p), rg.metric("rbp_residual", p=p)
        for rankings in (rg.from_ranked([1] * n), rg.from_scores([1] * n, [0] * n)):
            result = rankings.evaluate(rbp, residual)
            assert 0.0 <= result[rbp][0] <= 1.0
            assert 0.0 <= result[residual][0] <= 1.0
            assert result[residual][0] == pytest.approx(p**n, abs=1e-14)


# Probabilities that are small compared with 1


@pytest.mark.parametrize("max_grade", [10, 30, 53.5, 54, 100, 1000])
def test_err_of_small_stop_probabilities(max_grade):
    """For small q, 1 − q rounds to 1; the sum must not lose the terms in q."""
    err, nerr = rg.metric("err", max_grade=max_grade), rg.metric("nerr", max_grade=max_grade)
    result = rg.from_scores([[1, 0], [1, 1]], [[0, 0], [0, 0]]).evaluate(err, nerr)
    q = 1 / math.exp2(max_grade)
    expected = [3 / 4 * q, q + (1 - q) * q / 2]
    assert result[err].tolist() == pytest.approx(expected, rel=1e-12, abs=0)
    assert result[nerr].tolist() == pytest.approx([3 / 4, 1], rel=1e-12)
    six = rg.from_scores([0, 0, 0, 0, 0, 1], [0] * 6).evaluate(nerr)
    assert six[nerr].tolist() == pytest.approx([math.fsum(1 / rank for rank in range(1, 7)) / 6], rel=1e-12)


@pytest.mark.parametrize("n", quick_first([10, 1000, 100_000, 1_000_000], 2))
def test_metrics_of_one_relevant_document_in_a_large_tie_group(n):
    relevance = np.zeros(n)
    relevance[777 % n] = 4
    harmonic = math.fsum(1 / rank for rank in range(1, n + 1))
    expected = {
        "ap": harmonic / n,
        "rr": harmonic / n,
        "err": 15 / 16 * harmonic / n,
        "nerr": harmonic / n,
        "bpref": 1 / n,  # 1 if the relevant document comes first, 0 otherwise
        "success@1": 1 / n,
        "success@3": 3 / n,
        "success": 1.0,
        "recall@10": 10 / n,
        "q_measure(beta=0)": harmonic / n,
        "rbp": (1 - 0.9**n) / n,
    }
    result = rg.from_scores(relevance, np.zeros(n)).evaluate(*expected)
    assert result.to_dict()[0] == pytest.approx(expected, rel=1e-11, abs=0)


@pytest.mark.slow
def test_err_of_a_large_tie_group_with_small_stop_probabilities():
    """ERR is fast to compute even if thousands of documents are needed to stop the reader."""
    rng = np.random.default_rng(0)
    relevance = rng.integers(1, 3, 3000)
    result = rg.from_scores(relevance, np.zeros(3000)).evaluate("err(max_grade=12)", "err(max_grade=12)@10")
    stop = float(np.mean(np.exp2(relevance) - 1)) / 2**12
    for k, value in ((3000, result["err(max_grade=12)"][0]), (10, result["err(max_grade=12)@10"][0])):
        about = math.fsum(stop * (1 - stop) ** (rank - 1) / rank for rank in range(1, k + 1))
        assert value == pytest.approx(about, rel=1e-3)


def test_rising_discount_may_give_more_than_the_ideal(backend):
    metric = rg.metric("ndcg_rel", discount=[0.5, 1.0])
    assert rg.from_ranked([[0, 2]]).evaluate(metric).mean(metric) == 2.0
    assert rg.ndcg([1.0, 3.0], discount=[0.5, 1.0]) == 3.5 / 2.5


def test_a_rank_whose_ideal_is_zero_adds_nothing(backend):
    """The discount of rank 1 is 0, so nDCG at rank 1 is 0/0; at the second relevant document, nDCG is 0.5/1."""
    metric = rg.metric("ndcg_rel", discount=[0.0, 1.0, 0.5])
    assert rg.from_ranked([[2, 0, 1]]).evaluate(metric).mean(metric) == (0.0 + 0.5) / 2


# Grades above the maximum grade of ERR


def test_stop_probability_of_err(backend):
    """The stop probabilities agree with Chapelle et al. 2009, eq. 4."""
    assert Gain.stop(4.0).apply(np.array([0.0, 1, 4])).tolist() == [0, 1 / 16, 15 / 16]


# No relevant documents, no returned documents, and cut-offs beyond the end of the list


@in_one_case("name", TABLE)
def test_values_of_queries_without_relevant_or_returned_documents(name):
    queries = {"nothing judged": ([], []), "nothing relevant": ([0, 0], [0, 0, 0]), "nothing returned": ([], [2, 0])}
    relevance, judged_sets = ([query[part] for query in queries.values()] for part in (0, 1))
    rankings = rg.from_ranked(relevance, judged=judged_sets)
    for empty in (0.0, 0.25, 1.0, math.nan) if "empty" in TABLE[name].takes else (None,):
        parameters = {} if empty is None else {"empty": empty}
        metric = rg.metric(name, **parameters)
        for value, (query, (returned, judged)) in zip(rankings.evaluate(metric)[metric], queries.items(), strict=True):
            docs = [textbook.Doc(rank, grade, -rank) for rank, grade in enumerate(returned)]
            expected = textbook.metric(name, docs, judged, ties="stable", **parameters)
            assert value == pytest.approx(expected, nan_ok=True, rel=1e-12, abs=0), (
                f"{metric}, {query}: {value}, by the textbook {expected}"
            )


@pytest.mark.parametrize("ties", [*TIES, "docid"])
def test_cutoff_beyond_the_lists_changes_only_metrics_that_divide_by_k(ties):
    by_k = {"precision", "f", "capped_recall", "ap_capped", "unjudged"}
    rankings = rg.from_qrels(QRELS, RUN, ties=ties)
    for name, row in TABLE.items():
        if not row.cuts or (ties == "average" and row.unaveraged):
            continue
        cutoffs = (None, 8, 10**6, 2**47, 2**48)
        metrics = [rg.metric(name, k=k) for k in cutoffs]
        values = {k: rankings.evaluate(m)[m].tolist() for k, m in zip(cutoffs, metrics, strict=True)}
        if name not in by_k:
            for k, value in values.items():
                advice = "if the metric divides by k, add it to by_k in this test"
                assert value == values[None], f"{name}@{k}, ties={ties!r}: {value}, without k {values[None]}: {advice}"
        elif name in ("capped_recall", "ap_capped"):
            assert values[2**48] == values[2**47], f"{name}, ties={ties!r}: {values}"


@pytest.mark.slow
def test_ties_of_a_hundred_thousand_documents(backend):
    """Large tie groups are evaluated in less than quadratic time and without enumerating orders."""
    rng = np.random.default_rng(3)
    n = 100_000
    relevance = np.where(rng.random(n) < 0.01, rng.integers(1, 5, n), 0)
    metrics = [name for name, row in TABLE.items() if not row.unaveraged]
    cut = [f"{name}@10" for name in metrics if TABLE[name].cuts]
    result = rg.from_scores(relevance, np.zeros(n)).evaluate(*metrics, *cut)
    h, r = int(np.count_nonzero(relevance)), np.count_nonzero(relevance) / n
    assert result["precision@10"][0] == pytest.approx(r, rel=1e-12)
    assert result["bpref"][0] == pytest.approx(
        math.fsum(1 - min(u, h) / h for u in range(n - h + 1)) / (n - h + 1), rel=1e-12
    )
    missed = math.prod((n - h - j) / (n - j) for j in range(10))
    assert result["success@10"][0] == pytest.approx(1 - missed, rel=1e-12)
    # In a large tie group, each document stops the reader with almost the mean probability; the first document stops
    # the reader with exactly the mean probability.
    stop = float(np.mean((np.exp2(relevance) - 1) / 16))
    about = math.fsum(stop * (1 - stop) ** (rank - 1) / rank for rank in range(1, 20_000))
    assert result["err"][0] == pytest.approx(about, rel=1e-3)


def test_success_is_at_most_1():
    """Success never exceeds 1, although it is a sum of probabilities that are rounded individually."""
    rankings = rg.from_scores([1] * 39 + [0] * 55, [0] * 94)
    result = rankings.evaluate(*(f"success@{k}" for k in range(1, 95)))
    values = [result[f"success@{k}"][0] for k in range(1, 95)]
    assert values == sorted(values)
    assert values[-1] == 1.0


@pytest.mark.slow
def test_err_of_a_tie_group_beyond_the_limit_is_rejected():
    """If many stop probabilities are near 0, the reader's probability of continuing never becomes small."""
    rankings = rg.from_scores([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    assert rankings.evaluate(rg.metric("err", max_grade=20)).mean() != {}
    grades = np.tile([1, 2, 0], 5000)
    many = rg.from_scores(grades, np.zeros(len(grades)))
    assert 0.0 < many.evaluate("err")["err"][0] < 1.0
    with pytest.raises(ValueError, match=r"query 0: there are too many relevant documents of equal score .* max_grade"):
        many.evaluate(rg.metric("err", max_grade=20))


def test_a_sum_of_counts_may_overflow():
    result = rg.from_ranked([[1, 1], [1], [1]]).evaluate("num_rel")
    assert result.aggregate(weights=[1e308] * 3) == {"num_rel": math.inf}
