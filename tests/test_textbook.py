"""The library against the definitions as `textbook.py` states them: exactly, or to 1e-12 where ties are averaged."""

import math

import numpy as np
import pytest
import textbook
from hypothesis import given
from hypothesis import strategies as st
from strategies import TIES, cutoffs, discounts, documents, empties, gains, grades, rels

import rankgain as rg
from rankgain.discounts import Discount

pytestmark = pytest.mark.usefixtures("backend")

lists = st.lists(grades, max_size=10)


def same(ours, theirs):
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


def near(ours, theirs):
    return same(ours, theirs) or ours == pytest.approx(theirs, rel=1e-12, abs=1e-300)


def bounded(discount):
    return Discount.of(discount).bounded


@given(lists, cutoffs, gains, discounts)
def test_sums_of_one_list(relevance, k, gain, discount):
    assert rg.gain(relevance, gain).tolist() == [textbook.gain(grade, gain) for grade in relevance]
    assert rg.cg(relevance, k=k, gain=gain) == textbook.cg(relevance, k, gain)
    assert rg.dcg(relevance, k=k, gain=gain, discount=discount) == textbook.dcg(relevance, k, gain, discount)
    assert rg.idcg(relevance, k=k, gain=gain, discount=discount) == textbook.idcg(relevance, k, gain, discount)


@given(discounts, st.integers(0, 20))
def test_discount(kind, n):
    assert rg.discount(n, kind).tolist() == [textbook.discount(rank, kind) for rank in range(1, n + 1)]


@given(lists, cutoffs, rels)
def test_reciprocal_rank_of_one_list(relevance, k, rel):
    assert rg.reciprocal_rank(relevance, k=k, rel=rel) == textbook.rr(relevance, k, rel)


@given(lists, st.lists(grades, max_size=6), cutoffs, gains, discounts, st.booleans(), empties, st.booleans())
def test_ndcg_of_one_list(relevance, more, k, gain, discount, cut, empty, own):
    judged = None if own else relevance + more
    ideal = "returned" if cut else "judged"
    options = {"judged": judged, "k": k, "ideal": ideal, "empty": empty}
    expected = textbook.ndcg(relevance, gain_kind=gain, discount_kind=discount, **options)
    if cut and not relevance:
        # The textbook's ideal of an empty list is 0; ours is that of one document, so that only a query in which
        # nothing is relevant is empty.
        one = textbook.idcg(judged or [], 1, gain, discount)
        expected = 0.0 if one else empty
    ours = rg.ndcg(relevance, gain=gain, discount=discount, **options)
    if bounded(discount) and expected > 1:  # the order of additions, not a better list
        expected = pytest.approx(1.0, rel=1e-12)
    assert same(ours, expected) or ours == expected


@given(st.lists(lists, max_size=5), cutoffs, gains)
def test_many_lists_are_each_alone(relevance, k, gain):
    relevance = [*relevance, [1.0]]  # one list of numbers is one query
    assert rg.dcg(relevance, k=k, gain=gain).tolist() == [textbook.dcg(row, k, gain) for row in relevance]
    assert rg.idcg(relevance, k=k, gain=gain).tolist() == [textbook.idcg(row, k, gain) for row in relevance]
    assert rg.ndcg(relevance, k=k, gain=gain).tolist() == [rg.ndcg(row, k=k, gain=gain) for row in relevance]
    assert rg.reciprocal_rank(relevance, k=k).tolist() == [textbook.rr(row, k) for row in relevance]
    assert rg.mrr(relevance, k=k) == math.fsum(textbook.rr(row, k) for row in relevance) / len(relevance)


def ask(k, gain, discount, cut, rel, empty):
    """Metrics by the name that the textbook gives them, with its parameters."""
    gain_discount = {"gain": gain, "discount": discount}
    theirs = {"gain_kind": gain, "discount_kind": discount}
    ideal = "returned" if cut else "judged"
    return {
        rg.metric("cg", k=k, gain=gain): ("cg", {"gain_kind": gain}),
        rg.metric("dcg", k=k, **gain_discount): ("dcg", theirs),
        rg.metric("idcg", k=k, **gain_discount): ("idcg", theirs),
        rg.metric("ndcg", k=k, ideal=ideal, empty=empty, **gain_discount): (
            "ndcg",
            {**theirs, "ideal": ideal, "empty": empty},
        ),
        rg.metric("rr", k=k, rel=rel, empty=empty): ("rr", {"rel": rel, "empty": empty}),
    }


def check_metrics(rankings, queries, ties, asked, ks):
    """Every metric at every cut-off in one call, against the textbook one by one; `queries`: (docs, judged) each."""
    result = rankings.evaluate(*(metric for k in ks for metric in asked[k]))
    for k in ks:
        for metric, (name, parameters) in asked[k].items():
            for value, (docs, judged) in zip(result[metric].tolist(), queries, strict=True):
                expected = textbook.metric(name, docs, judged, ties=ties, k=k, **parameters)
                if (
                    not docs
                    and parameters.get("ideal") == "returned"
                    and any(textbook.gain(grade, parameters["gain_kind"]) for grade in judged)
                ):
                    expected = 0.0
                assert near(value, expected) if ties == "average" else same(value, expected) or near(value, expected)
                if ties != "average" and not (name == "ndcg" and expected > 1):
                    assert same(value, expected)


parameters = st.tuples(gains, discounts, st.booleans(), rels, empties)


@given(st.lists(documents(), min_size=1, max_size=4), st.sampled_from(TIES), parameters, st.lists(cutoffs, min_size=1))
def test_scores_under_every_policy(queries, ties, drawn, ks):
    asked = {k: ask(k, *drawn) for k in ks}
    docs = [[textbook.Doc(i, grade, score) for i, (grade, score) in enumerate(query)] for query in queries]
    y_true = [grade for query in queries for grade, _ in query]
    y_score = [score for query in queries for _, score in query]
    rankings = rg.from_scores(y_true, y_score, group_sizes=[len(query) for query in queries], ties=ties)
    check_metrics(rankings, [(query, [doc.grade for doc in query]) for query in docs], ties, asked, ks)


@given(documents(most=5, least=1), st.lists(grades, max_size=4), st.sampled_from(TIES), parameters, cutoffs)
def test_scores_with_a_judged_set(query, more, ties, drawn, k):
    docs = [textbook.Doc(i, grade, score) for i, (grade, score) in enumerate(query)]
    judged = [grade for grade, _ in query] + more
    rankings = rg.from_scores([d.grade for d in docs], [d.score for d in docs], judged=judged, ties=ties)
    check_metrics(rankings, [(docs, judged)], ties, {k: ask(k, *drawn)}, [k])


# What qrels hold: a grade, a negative one for pooled but unjudged, or nothing.
known = st.none() | st.integers(-2, 4) | st.floats(0, 4, allow_subnormal=False)
some_ids = st.text("abé😀", min_size=1, max_size=2)


@st.composite
def qrels_and_run(draw):
    """A query: {document: (grade or None, score or None)}."""
    drawn = draw(st.dictionaries(some_ids, st.tuples(known, st.none() | st.integers(0, 2).map(float)), max_size=7))
    return drawn


@given(st.lists(qrels_and_run(), min_size=1, max_size=4), st.sampled_from([*TIES, "docid"]), parameters, cutoffs)
def test_qrels_under_every_policy(queries, ties, drawn, k):
    qrels = {q: {d: g for d, (g, _) in query.items() if g is not None} for q, query in enumerate(queries)}
    run = {q: {d: s for d, (_, s) in query.items() if s is not None} for q, query in enumerate(queries)}
    expected = []
    for q in qrels:
        docs = [textbook.Doc(d, qrels[q].get(d), s) for d, s in run[q].items()]
        expected.append((docs, list(qrels[q].values())))
    check_metrics(rg.from_qrels(qrels, run, ties=ties), expected, ties, {k: ask(k, *drawn)}, [k])


def test_a_group_astride_the_cut_off():
    """Two of four tied documents fall inside k: each of the six pairs is as likely."""
    result = rg.from_scores([0, 3, 1, 0, 2], [9, 5, 5, 5, 5]).evaluate("dcg@3", "rr@3")
    docs = [textbook.Doc(i, g, s) for i, (g, s) in enumerate(zip([0, 3, 1, 0, 2], [9, 5, 5, 5, 5], strict=True))]
    assert result["dcg@3"][0] == pytest.approx(textbook.metric("dcg", docs, ties="average", k=3), rel=1e-12)
    assert result["rr@3"][0] == pytest.approx(textbook.metric("rr", docs, ties="average", k=3), rel=1e-12)


@pytest.mark.parametrize("ties", [*TIES, "docid"])
@pytest.mark.parametrize("k", range(1, 10))
def test_every_cut_off_alone(k, ties):
    """Each rank of each tie group is once the last that counts, and nothing else asks for more depth."""
    documents = {"a": (1, 7), "f": (0, 7), "b": (2, 7), "g": (3, 5), "c": (0, 3), "e": (1, 3), "d": (4, 3), "h": (1, 3)}
    docs = [textbook.Doc(document, grade, score) for document, (grade, score) in documents.items()]
    forms = [rg.from_qrels({"q": {d.id: d.grade for d in docs}}, {"q": {d.id: d.score for d in docs}}, ties=ties)]
    if ties != "docid":
        forms.append(rg.from_scores([d.grade for d in docs], [d.score for d in docs], ties=ties))
    for rankings in forms:
        for name, rel in (("dcg", None), ("ndcg", None), ("rr", None), ("rr", 2), ("rr", 4)):
            metric = rg.metric(name, k=k, rel=rel)
            expected = textbook.metric(name, docs, ties=ties, k=k, rel=rel)
            assert rankings.evaluate(metric)[metric][0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 8, None])
def test_one_group_of_all_documents(k):
    grades = [0, 3, 1, 0, 2, 1, 0, 0]
    docs = [textbook.Doc(i, grade, 1.0) for i, grade in enumerate(grades)]
    metrics = rg.metric("ndcg", k=k), rg.metric("rr", k=k)
    result = rg.from_scores(grades, np.ones(8)).evaluate(*metrics)
    for metric in metrics:
        assert result[metric][0] == pytest.approx(textbook.metric(metric.name, docs, ties="average", k=k), rel=1e-12)


def test_a_perfect_list_is_exactly_one():
    """Tied documents of one gain are not tied at all, so no rounding shows."""
    result = rg.from_scores([3, 3, 3, 1, 1, 1, 1], [2, 2, 2, 0.1, 0.1, 0.1, 0.1]).evaluate("ndcg", "ndcg@2", "ndcg@5")
    assert [vector[0] for vector in result.values()] == [1.0, 1.0, 1.0]
