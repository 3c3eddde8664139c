"""The library agrees with the definitions in `textbook.py`, exactly or to within 1e-12 for averaged ties."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import textbook
from support.marks import in_one_case, quick_first
from support.strategies import (
    TIES,
    as_many,
    cutoffs,
    discounts,
    documents,
    empties,
    examples,
    gains,
    grades,
    rels,
    requested_metric,
    requests,
)

import rankgain as rg
from rankgain.metrics.discounts import Discount
from rankgain.metrics.table import TABLE

pytestmark = pytest.mark.usefixtures("backend")

lists = st.lists(grades, max_size=10)
AVERAGED = [name for name, row in TABLE.items() if not row.unaveraged]
# Metrics for which textbook.py computes in the same order as the library, so the results are equal bit for bit.
EXACT = {"cg", "ncg", "dcg", "idcg", "ndcg", "rr", "success", "precision", "recall", "capped_recall", "ap"}
EXACT |= {"ap_capped", "ap_hits", "gm_ap", "r_precision", "iprec", "bpref", "gm_bpref", "infap", "judged"}
EXACT |= {"unjudged", "bin_g", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "num_q"}


def same(ours, theirs):
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


def near(ours, theirs):
    """Return whether two values are equal to within a relative tolerance of 1e-12."""
    return same(ours, theirs) or ours == pytest.approx(theirs, rel=1e-12, abs=1e-300)


def bounded(discount):
    return Discount.of(discount).non_increasing


@given(lists, cutoffs, gains, discounts)
def test_sums_of_one_list(relevance, k, gain, discount):
    assert rg.gain(relevance, gain).tolist() == [textbook.gain(grade, gain) for grade in relevance]
    assert rg.cg(relevance, k=k, gain=gain) == textbook.cg(relevance, None, k, gain)
    assert rg.dcg(relevance, k=k, gain=gain, discount=discount) == textbook.dcg(relevance, None, k, gain, discount)
    ideal = textbook.idcg(relevance, relevance, k, gain, discount)
    assert rg.idcg(relevance, k=k, gain=gain, discount=discount) == ideal


@given(discounts, st.integers(0, 20))
def test_discount(kind, n):
    assert rg.discount(n, kind).tolist() == [textbook.discount(rank, kind) for rank in range(1, n + 1)]


@given(lists, cutoffs, rels)
def test_reciprocal_rank_of_one_list(relevance, k, rel):
    assert rg.reciprocal_rank(relevance, k=k, rel=rel) == textbook.rr(relevance, None, k, rel)


@given(lists, st.lists(grades, max_size=6), cutoffs, gains, discounts, st.booleans(), empties, st.booleans())
def test_ndcg_of_one_list(relevance, more, k, gain, discount, cut, empty, self_judged):
    judged = relevance + more if not self_judged else relevance
    options = {"k": k, "ideal": "returned" if cut else "judged", "empty": empty, "gain": gain, "discount": discount}
    expected = textbook.ndcg(relevance, judged, **options)
    ours = rg.ndcg(relevance, judged=None if self_judged else judged, **options)
    if bounded(discount) and expected > 1:  # greater than 1 only because of rounding
        expected = pytest.approx(1.0, rel=1e-12)
    assert same(ours, expected) or ours == expected


def of_huge_gains(name, parameters, known):
    """Return whether costs and gains are so large that their difference would be lost in rounding.

    test_family.py tests that case.
    """
    return name == "g" and any(textbook.gain(grade, parameters.get("gain", "linear")) > 1e9 for grade in known)


def check_metrics(rankings, queries, ties, drawn):
    """Compare all metrics of one call with textbook.py; `queries` holds a pair (docs, judged) for each query."""
    known = {grade for docs, judged in queries for grade in judged if textbook.is_judged(grade)}
    metrics = [requested_metric(one, known) for one in drawn if ties != "average" or not TABLE[one[0]].unaveraged]
    metrics = [one for one in metrics if not of_huge_gains(*one[1:], known)]
    if not metrics:
        return
    result = rankings.evaluate(*(metric for metric, _, _ in metrics))
    for metric, name, parameters in metrics:
        for value, (docs, judged) in zip(result[metric].tolist(), queries, strict=True):
            expected = textbook.metric(name, docs, judged, ties=ties, **parameters)
            slack = 0.0
            if name in ("rbp_residual", "unjudged"):  # the value is a difference from 1 or from a count
                slack = 1e-14
            elif name == "g":  # the value is a difference between sums of gains
                total = sum(textbook.ideal_gains(judged, parameters.get("gain", "linear")))
                slack = 1e-15 * total
            assert near(value, expected) or abs(value - expected) <= slack, (metric, value, expected)
            # With ties="best" or ties="worst", the terms of bpref for a whole tie group are added in one step.
            if ties == "average" or name not in EXACT or (ties in ("best", "worst") and name.endswith("bpref")):
                continue
            if not (name in ("ndcg", "ncg") and expected > 1):  # greater than 1 only because of rounding
                assert same(value, expected), (metric, value, expected)


some_metrics = st.lists(requests(), min_size=1, max_size=8)


def as_docs(query):
    return [textbook.Doc(i, grade, score) for i, (grade, score) in enumerate(query)]


@examples(3)
@given(st.lists(documents(), min_size=1, max_size=4), st.sampled_from(TIES), some_metrics)
def test_scores_under_every_policy(queries, ties, drawn):
    y_true = [grade for query in queries for grade, _ in query]
    y_score = [score for query in queries for _, score in query]
    rankings = rg.from_scores(y_true, y_score, group_sizes=[len(query) for query in queries], ties=ties)
    docs = [as_docs(query) for query in queries]
    check_metrics(rankings, [(query, [doc.grade for doc in query]) for query in docs], ties, drawn)


@given(documents(most=5, least=1), st.lists(grades, max_size=4), st.sampled_from(TIES), some_metrics)
def test_scores_with_a_judged_set(query, more, ties, drawn):
    docs = as_docs(query)
    judged = [grade for grade, _ in query] + more
    rankings = rg.from_scores([d.grade for d in docs], [d.score for d in docs], judged=judged, ties=ties)
    check_metrics(rankings, [(docs, judged)], ties, drawn)


@examples(2)
@given(st.lists(st.tuples(lists, st.lists(grades, max_size=4)), min_size=1, max_size=4), some_metrics)
def test_relevance_in_rank_order(queries, drawn):
    relevance = [returned for returned, _ in queries]
    judged = [returned + more for returned, more in queries]
    docs = [as_docs([(grade, -position) for position, grade in enumerate(returned)]) for returned in relevance]
    rankings = rg.from_ranked(relevance, judged=judged)
    check_metrics(rankings, list(zip(docs, judged, strict=True)), "stable", drawn)


# Values in qrels: a grade, a negative grade for a pooled but unjudged document, or None for no entry.
known = st.none() | st.integers(-2, 4) | st.floats(0, 4, allow_subnormal=False)
some_ids = st.text("abé😀", min_size=1, max_size=2)
# One query as {document: (grade or None, score or None)}.
qrels_and_run = st.dictionaries(some_ids, st.tuples(known, st.none() | st.integers(0, 2).map(float)), max_size=7)


@examples(3)
@given(st.lists(qrels_and_run, min_size=1, max_size=4), st.sampled_from([*TIES, "docid"]), some_metrics)
def test_qrels_under_every_policy(queries, ties, drawn):
    qrels = {q: {d: g for d, (g, _) in query.items() if g is not None} for q, query in enumerate(queries)}
    run = {q: {d: s for d, (_, s) in query.items() if s is not None} for q, query in enumerate(queries)}
    expected = []
    for q in qrels:
        docs = [textbook.Doc(d, qrels[q].get(d), s) for d, s in run[q].items()]
        expected.append((docs, list(qrels[q].values())))
    check_metrics(rg.from_qrels(qrels, run, ties=ties), expected, ties, drawn)


# Each metric is tested separately, since random draws may leave one out


def random_query(rng, tied):
    """Draw up to `tied` + 2 documents; return them, all judged grades, and the grades of documents not returned."""
    grades = [None, None, -1, 0, 0, 1, 1, 2, 3, 0.5][: rng.integers(3, 11)]
    returned = [grades[i] for i in rng.integers(len(grades), size=rng.integers(1, tied + 3))]
    levels = rng.choice([1, 2, 3])
    docs = [textbook.Doc(f"d{i}", grade, float(rng.integers(levels))) for i, grade in enumerate(returned)]
    left = [grades[i] for i in rng.integers(len(grades), size=rng.integers(0, 4))]
    return docs, [grade for grade in returned + left if grade is not None], left


def as_qrels(queries):
    qrels, run = {}, {}
    for q, (docs, _, left) in enumerate(queries):
        beside = {f"left{i}": grade for i, grade in enumerate(left)}
        qrels[q] = {doc: g for doc, g in ({d.id: d.grade for d in docs} | beside).items() if g is not None}
        run[q] = {d.id: d.score for d in docs}
    return qrels, run


VARIANTS = [{}, {"rel": 2}, {"rel": 0}, {"beta": 2.0}, {"beta": 0.5}, {"p": 0.5}, {"max_grade": 3}, {"recall": 0.4}]
VARIANTS += [{"rounding": "nearest", "recall": 0.25}, {"rounding": "nearest"}, {"multiple": 0.5}, {"multiple": 2.0}]
VARIANTS += [{"gain": "exponential"}, {"gain": "binary"}, {"gain": {0: 0.5, 0.5: 1, 1: 0, 2: 3, 3: 2}}]
VARIANTS += [{"discount": "zipf"}, {"discount": "jarvelin:3"}, {"ideal": "returned"}, {"empty": 1.0}]
VARIANTS += [{"coefficients": (3.0, 0.5, -1.0, 0.25), "collection": 100}]


def variants(name):
    """Return the metric with each of its own parameters, at several cut-offs."""
    row = TABLE[name]
    applicable = [variant for variant in VARIANTS if set(variant) <= set(row.takes)]
    ks = [None, 1, 3, 5, 40] if row.cuts else [None]
    return [(name, variant | ({"k": k} if row.cuts else {})) for variant in applicable for k in ks]


@pytest.mark.hypothesis
@in_one_case("ties", [*TIES, "docid"])
@in_one_case("name", TABLE)
def test_every_metric_with_pooled_and_unjudged_documents(name, ties):
    rng = np.random.default_rng(list(TABLE).index(name))
    queries = [random_query(rng, 3) for _ in range(as_many(30))]
    if ties == "average" and TABLE[name].unaveraged:
        with pytest.raises(ValueError, match=rf"^{name} has no value for ties='average': it .* such as "):
            rg.from_qrels(*as_qrels(queries), ties=ties).evaluate(name)
        return
    rankings = rg.from_qrels(*as_qrels(queries), ties=ties)
    check_metrics(rankings, [query[:2] for query in queries], ties, variants(name))


@pytest.mark.hypothesis
@in_one_case("name", AVERAGED)
def test_averages_by_enumeration(name):
    """The average for ties equals the mean over all orders of the tied documents."""
    rng = np.random.default_rng(1000 + list(TABLE).index(name))
    queries = [random_query(rng, 3) for _ in range(as_many(240))] + [random_query(rng, 5) for _ in range(as_many(10))]
    rankings = rg.from_qrels(*as_qrels(queries), ties="average")
    few = [(name, parameters) for _, parameters in variants(name) if parameters.get("k") in (None, 3)][:6]
    check_metrics(rankings, [query[:2] for query in queries], "average", few)


def exact_err(chances, m, a, k):
    """Return the exact ERR of a tie group of m documents that starts at rank a, averaged over all orders.

    By the hypergeometric distribution, the user passes the first j documents with the mean probability
    Σ_u C(m−h, j−u)/C(m, j)·e_u(1 − q).
    """
    sums = [Fraction(1)]
    for q in chances:
        sums = [x + y * (1 - q) for x, y in zip([*sums, 0], [0, *sums], strict=True)]
    h = len(chances)
    goes_on = [
        sum(
            Fraction(math.comb(m - h, j - u), math.comb(m, j)) * sums[u] for u in range(min(j, h) + 1) if j - u <= m - h
        )
        for j in range(min(m, k - a + 1) + 1)
    ]
    return sum((before - after) / (a + j) for j, (before, after) in enumerate(pairwise(goes_on)))


@pytest.mark.parametrize("k", quick_first([57, 10, 1, 200], 2))
@pytest.mark.parametrize(("m", "h", "before"), [(200, 60, 0), (200, 60, 7), (90, 89, 0), (64, 1, 3), (8, 8, 0)])
def test_err_of_large_groups(m, h, before, k):
    rng = np.random.default_rng(m + h)
    grades = [0] * before + rng.integers(1, 5, h).tolist() + [0] * (m - h)
    scores = np.append(np.arange(before) + 2.0, np.ones(m))
    result = rg.from_scores(grades, scores).evaluate(rg.metric("err", k=k))
    chances = [Fraction(2**grade - 1, 16) for grade in grades if grade]
    expected = float(exact_err(chances, m, before + 1, k))
    assert next(iter(result.values())).tolist() == [pytest.approx(expected, rel=1e-12, abs=0)]


def test_a_perfect_list_is_exactly_one():
    """Tied documents with equal gains are evaluated like untied ones, so a perfect list has a value of exactly 1."""
    names = ["ndcg", "ndcg@2", "ndcg@5", "ncg@5", "nerr@3", "ap", "q_measure", "recall", "capped_recall@5", "f@7"]
    result = rg.from_scores([3, 3, 3, 1, 1, 1, 1], [2, 2, 2, 0.1, 0.1, 0.1, 0.1]).evaluate(*names)
    assert [vector[0] for vector in result.values()] == [1.0] * len(names)
